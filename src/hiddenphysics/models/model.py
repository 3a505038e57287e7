"""`Model`: the one door between an equation with data and what is learned from them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hiddenphysics.errors import ModelError
from hiddenphysics.learning import Criticism, Heterogeneity, Posterior, Progress, Stopped, Verdict
from hiddenphysics.models.question import Question
from hiddenphysics.registry import Registry
from hiddenphysics.snapshots import Snapshots

Arrays = dict[str, np.ndarray]
MeanAndStd = tuple[np.ndarray, np.ndarray]


@dataclass(frozen=True)
class Fit:
    """What a model has learned.

    Attributes
    ----------
    values
        Every learned number by name, in natural units: parameters, then the prior's.
    covariance
        Over all of them in this order; positive numbers as logarithms, 0 where none was computed.
    evidence
        Log marginal likelihood at the optimum (of the flow model the restricted one).
    verdict
        How it ended.
    jitter
        What had to be added to a covariance's diagonal to factor it; 0 in the normal case.
    evaluations
        What it cost: evaluations of the likelihood, or rounds.
    learned
        What the model itself needs to predict: the model's own business.
    stopped
        Whether it was told to stop before its end.
    criticism
        Whether what the equation leaves over is noise; None where nobody asked.
    heterogeneity
        Whether several experiments agree on the parameters; None where there is one, or nobody asked.
    posterior
        What may be sampled, in the order of `values`; None where there is nothing.
    needs_chains
        Whether importance weights say that no Gaussian stands for the posterior: it is sampled, asked for or not.
    """

    values: dict[str, float]
    covariance: np.ndarray
    evidence: float
    verdict: Verdict
    jitter: float
    evaluations: int
    learned: Any
    stopped: bool = False
    criticism: Criticism | None = None
    heterogeneity: Heterogeneity | None = None
    posterior: Posterior | None = None
    needs_chains: bool = False


class Model(ABC):
    """A way to see an equation in snapshots: around a point it is linear and Gaussian, y = A z + B d + ε.

    A model is a small object without state, known by name in `MODELS`; whatever it needs is handed to it. The task
    (all that stays the same during a fit), the point (around which it is linearised) and what is learned are each
    model's own types; nobody else looks inside.
    """

    name: str

    @abstractmethod
    def applies(self, question: Question) -> str | None:
        """Return None when the model can be asked, otherwise a sentence that says why not.

        A model that can be asked may still refuse the data when it learns, with an error that says why.
        """

    def hesitates(self, question: Question) -> str | None:
        """Return a sentence where the model applies, and `auto` should still ask the next one; None otherwise."""
        return None

    def rows(self, question: Question) -> int:
        """Return about how many rows the largest matrix of a fit has: as many as values, if nothing else is known."""
        return question.count

    def takes_priors(self) -> bool:
        """Whether the model can learn columns with a prior: errors of sensors, unknown functions."""
        return False

    def function(self, learned: Any, name: str) -> tuple[np.ndarray, np.ndarray, float]:
        """Return mean (n,) and covariance (n, n) of an unknown function's coefficients, and its worth in evidence."""
        raise ModelError(f"The model {self.name!r} learns no unknown functions.")

    def sensors(self, learned: Any) -> dict[str, np.ndarray]:
        """Return what was learned about the sensors, a column each; nothing where no errors were sought."""
        return {}

    def remarks(self, learned: Any) -> dict[str, str]:
        """Return sentences for the printed result by a word: what was learned of sensors, what was done at edges."""
        return {}

    @abstractmethod
    def learn(self, question: Question, say: Progress) -> Fit:
        """Learn the unknowns of a question that the model applies to.

        First guess, smoothing, rounds of `linearise` and `log_density`, verdict.

        `say` is called at every step of a loop, and raises `Stopped` when time is over or someone pressed Ctrl-C. A
        model that has numbers by then returns the best of them with the verdict `unfinished`, and no small deviation
        that was not measured; one that has none lets it pass.
        """

    def finish(self, question: Question, so_far: Any, reason: str) -> Fit:
        """Return the best so far as an answer, with the verdict `unfinished` and infinite deviations.

        Asked when a fit is left while something is compiled: `so_far` is what it has given to `learning.keep`. What is
        done here must not compile for long. A model that keeps nothing is not asked.
        """
        raise Stopped(reason)

    @abstractmethod
    def linearise(self, task: Any, at: Any) -> Any:
        """Return the linear Gaussian model around a point: a function of named or stacked hyper-parameters."""

    @abstractmethod
    def log_density(self, linear: Any, vector: np.ndarray) -> float:
        """Return the log density of the data under a linearised model, at a vector of its unknowns."""

    @abstractmethod
    def predict(self, learned: Any, text: str, points: np.ndarray, t: float) -> MeanAndStd:
        """Return posterior mean and deviation (N,) of a linear operator of the fields at points (N, D) and a time."""

    def part(self, learned: Any, experiment: int) -> Any:
        """Return what was learned of one experiment among several, counted from 0."""
        raise ModelError(f"The model {self.name!r} takes one experiment.")

    @abstractmethod
    def draw(
        self, learned: Any, text: str, points: np.ndarray, t: float, count: int, seed: int
    ) -> np.ndarray:
        """Return draws (count, N) from the joint posterior at points (N, D) and a time."""

    def move(
        self, learned: Any, points: np.ndarray, times: np.ndarray, draws: int, seed: int
    ) -> dict[str, np.ndarray]:
        """Return every field of the state at points (N, D), moved on through times: (T, N), or (draws, T, N)."""
        raise ModelError(
            f"The model {self.name!r} knows the fields between its snapshots only; the flow model moves them on. "
            "Identify with model='flow'."
        )

    def history(
        self, learned: Any, times: np.ndarray, places: Sequence[np.ndarray]
    ) -> list[dict[str, np.ndarray]] | None:
        """Return the mean of every field of the state at points (N, D) of each of increasing times, in one run.

        None where the model has nothing quicker than one prediction after the other.
        """
        return None

    def readings(
        self, learned: Any, times: np.ndarray, places: Sequence[np.ndarray]
    ) -> list[dict[str, np.ndarray]] | None:
        """Return the same of the measured fields as the sensors there tell it, with their errors; see `history`."""
        return self.history(learned, times, places)

    def cramer_rao(
        self, learned: Any, snapshots: Snapshots, noise: Mapping[str, float]
    ) -> dict[str, float] | None:
        """Return the smallest deviation of every parameter that any unbiased estimate could have.

        Were the noise of every field this standard deviation. Empty where it is not finite, or cannot be told for these
        data; None where the model tells no bound at all.
        """
        return None

    def problem(self, question: Question) -> Any:
        """Return the likelihood by name before anything is learned, for those who bring their own inference."""
        raise ModelError(self._nameless)

    def likelihood(self, learned: Any) -> Any:
        """Return the likelihood by name as it was at the end."""
        raise ModelError(self._nameless)

    @property
    def _nameless(self) -> str:
        having = [name for name, model in MODELS.items() if type(model).problem is not Model.problem]
        return (
            f"The model {self.name!r} has no likelihood by name; by name it exists for {', '.join(having)}."
        )

    @abstractmethod
    def pack(self, learned: Any) -> tuple[dict[str, Any], Arrays]:
        """Return JSON-ready data and named arrays from which `unpack` makes the same posterior."""

    @abstractmethod
    def unpack(
        self, question: Question, values: Mapping[str, float], plain: Mapping[str, Any], arrays: Arrays
    ) -> Any:
        """Return what `pack` has packed, given the question and the learned numbers."""

    def check(  # noqa: B027  # a model that brings none is guarded by the loader alone
        self, question: Question, values: Mapping[str, float], plain: Mapping[str, Any], arrays: Arrays
    ) -> None:
        """Refuse with a `DataError` what `pack` never makes of a fit whose numbers can be used.

        Asked before `unpack` where the data come from a file, which may be damaged or somebody else's.
        """


MODELS: Registry[Model] = Registry("model", ModelError)
"""Models by the name a user types; a new one is one file and one line."""
