"""What an identification returns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import sympy
from numpy.typing import ArrayLike

from hiddenphysics.equation import Equation, three_digits
from hiddenphysics.errors import ModelError
from hiddenphysics.learning import Criticism, Heterogeneity, Status
from hiddenphysics.models import MODELS, Fit, Problem, Question
from hiddenphysics.priors import NOISE
from hiddenphysics.result.chains import Chains
from hiddenphysics.result.estimate import Estimate
from hiddenphysics.result.function_estimate import FunctionEstimate
from hiddenphysics.result.units import parameter_units
from hiddenphysics.snapshots import Experiments, Snapshots

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

    from hiddenphysics.result.fitted_experiments import FittedExperiments
    from hiddenphysics.result.self_showing import Figure


@dataclass(frozen=True, repr=False)
class Result:
    """Parameters with uncertainty, the identified equation, and the posterior of every field.

    Attributes
    ----------
    equation, runs
        What was asked, and the experiments whose data answered, under the equation's names.
    values
        Every learned number in natural units: parameters, ``u.variance``, ``u.length_x``, …,
        ``noise.variance``.
    covariance
        (P, P) covariance in the order of ``values``; positive numbers as logarithms, 0 where none was computed.
    evidence
        The log marginal likelihood at the optimum (of the flow model the restricted one).
    status, explanation
        ``converged`` or why not, and the same in a sentence.
    jitter
        What had to be added to the covariance's diagonal to factor it; 0 in the normal case.
    evaluations, seconds
        What the fit cost; evaluations are those of the likelihood, or rounds of the flow model.
    model
        Name of the model that answered.
    learned
        The posterior of every field, as that model keeps it: its own business.
    reason
        Why this model was used, where nobody asked for it by name.
    criticism
        Whether what the equation leaves over is noise, with a p-value; None where nobody asked.
    heterogeneity
        Whether several experiments agree on the parameters, with a p-value; None where there is one.
    chains
        Draws of the parameters, where their posterior was sampled (``inference="nuts"``).
    recording
        The whole field on a grid, when it is known; only drawn.
    """

    equation: Equation
    runs: Experiments
    values: dict[str, float]
    covariance: np.ndarray
    evidence: float
    status: Status
    explanation: str
    jitter: float
    evaluations: int
    seconds: float
    model: str
    learned: Any
    reason: str = ""
    criticism: Criticism | None = None
    heterogeneity: Heterogeneity | None = None
    chains: Chains | None = None
    recording: Snapshots | None = None

    @classmethod
    def of(cls, question: Question, model: str, fit: Fit, seconds: float) -> Result:
        """Put together what was asked and what a model has learned."""
        made = cls(
            equation=question.equation,
            runs=question.experiments,
            values=fit.values,
            covariance=fit.covariance,
            evidence=fit.evidence,
            status=fit.verdict.status,
            explanation=fit.verdict.explanation,
            jitter=fit.jitter,
            evaluations=fit.evaluations,
            seconds=seconds,
            model=model,
            learned=fit.learned,
            criticism=fit.criticism,
            heterogeneity=fit.heterogeneity,
        )
        if made.status.is_bad and made.status is not Status.MISFIT:  # whose deviations hold what is left over
            return made.doubted(made.status, made.explanation)
        return made

    def sampled(self, chains: Chains, beyond: np.ndarray) -> Result:
        """Return the result with means and covariance of the parameters from chains, unless these do not agree.

        `beyond` (P, P) is what the covariance holds that no likelihood knows: the error of a step itself.
        """
        own = len(chains.names)
        covariance = self.covariance.copy()
        covariance[:own], covariance[:, :own] = 0.0, 0.0
        covariance[:own, :own] = chains.covariance + beyond
        means = dict(zip(chains.names, chains.draws.mean(axis=(0, 1)).tolist(), strict=True))
        made = replace(self, values=self.values | means, covariance=covariance, chains=chains)
        return made if chains.agree else made.doubted(Status.NOT_CONVERGED, chains.sentence())

    def doubted(self, status: Status, explanation: str) -> Result:
        """Return the same numbers as not to be used: with deviations that do not look as if they were."""
        own = slice(0, len(self.equation.parameters))
        covariance = self.covariance.copy()
        covariance[own], covariance[:, own] = 0.0, 0.0
        covariance[own, own] = np.diag(np.full(len(self.equation.parameters), np.inf))
        return replace(self, status=status, explanation=explanation, covariance=covariance)

    @property
    def snapshots(self) -> Snapshots:
        """The data of the one experiment; of several, ask one of `experiments`."""
        return self.runs.only

    @cached_property
    def experiments(self) -> FittedExperiments:
        """Every experiment by itself, by name or counted from 0: its data, and the posterior of its fields.

        Each is a `Result` with the common parameters, ``fit.experiments["dish 2"].predict("u", x, t=24)``.
        """
        from hiddenphysics.result.fitted_experiments import fitted_experiments

        return fitted_experiments(self)

    @property
    def problem(self) -> Problem:
        """The likelihood, by name (`Problem.negative_log_likelihood`, `Problem.gradient`), of a model of one gap."""
        return MODELS[self.model].likelihood(self.learned)

    @property
    def noise_std(self) -> float:
        """The learned standard deviation of the noise, in the units of the data."""
        return float(np.sqrt(self.values[NOISE]))

    @cached_property
    def parameters(self) -> dict[str, Estimate]:
        """The equation's parameters by name."""
        spread = np.sqrt(np.diagonal(self.covariance))
        stds = dict(zip(self.values, spread.tolist(), strict=True))
        bounds = self.equation.bounds
        return {p: Estimate(self.values[p], stds[p], *bounds[p]) for p in self.equation.numbers}

    @cached_property
    def functions(self) -> dict[str, FunctionEstimate]:
        """The unknown functions of the equation by name, each with `mean_and_std(values)` and `plot()`."""
        model = MODELS[self.model]
        return {
            one.name: FunctionEstimate(one, *model.function(self.learned, one.name))
            for one in self.equation.functions
        }

    @cached_property
    def units(self) -> dict[str, str]:
        """Units of the parameters, of those that can be told from the units of the data (needs pint)."""
        return parameter_units(self.equation, self.runs.units)

    @property
    def sensors(self) -> pd.DataFrame:
        """Errors of the sensors with their deviations, a row for each; empty where none were sought.

        Columns are the coordinates, and for every kind of error such as ``u_offset`` and ``u_offset_std``.
        """
        import pandas as pd

        return pd.DataFrame(MODELS[self.model].sensors(self.learned))

    def predict(
        self, field: str, x: ArrayLike, y: ArrayLike | None = None, z: ArrayLike | None = None, *, t: float
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return posterior mean and standard deviation of a field, without noise, at points (N,).

        The time lies between the snapshots, for the flow model also after them. Fields without data are predicted
        like the others, and so is every linear operator of the fields, such as ``"v_x - u_y"``. What the equation
        does not fix, like the constant in a pressure, comes out as its prior has it.
        """
        return MODELS[self.model].predict(self._own("predict"), field, self._points((x, y, z)), _one_time(t))

    def mean(self, field: str, points: np.ndarray, t: float) -> np.ndarray:
        """Return the posterior mean (N,) of a field at points (N, D) and a time: as `predict`, without deviations.

        Where the model moves fields this takes a tenth of the time.
        """
        try:
            moved = self.move(points, np.array([t]), 0, 0)
        except ModelError:
            moved = {}
        return moved[field][0] if field in moved else self.predict(field, *np.transpose(points), t=t)[0]

    def history(self, field: str, times: np.ndarray, places: Sequence[np.ndarray]) -> list[np.ndarray]:
        """Return the posterior mean of a field at points (N, D) of each of increasing times.

        As `mean` time by time, but a model that moves fields does so once for all of them.
        """
        return self._means(
            MODELS[self.model].history(self._own("predict"), times, places), field, times, places
        )

    def readings(self, field: str, times: np.ndarray, places: Sequence[np.ndarray]) -> list[np.ndarray]:
        """Return what the sensors at points (N, D) of each of increasing times tell of a field's posterior mean.

        That is what data are compared with: with the offsets, gains and places that were learned of the sensors.
        """
        known = MODELS[self.model].readings(self._own("residuals"), times, places)
        return self._means(known, field, times, places)

    def sample(
        self,
        field: str,
        x: ArrayLike,
        y: ArrayLike | None = None,
        z: ArrayLike | None = None,
        *,
        t: float,
        count: int,
        seed: int,
    ) -> np.ndarray:
        """Return draws (count, N) of a field from its joint posterior."""
        points = self._points((x, y, z))
        return MODELS[self.model].draw(self._own("sample"), field, points, _one_time(t), count, seed)

    def simulate(self, times: ArrayLike, *, points: int = 200, draws: int = 0, seed: int = 0) -> xr.Dataset:
        """Move what was found onwards by the identified equation, from the first snapshot (`model="flow"`).

        Parameters
        ----------
        times
            Increasing times, from the first snapshot onwards.
        points
            Grid points along each coordinate, over the region of the data.
        draws, seed
            How many trajectories to draw from the posterior, each with its own state and parameters; with none, the
            posterior mean alone.

        Returns
        -------
        xarray.Dataset
            Each field over (t, x, …); with draws over (draw, t, x, …).
        """
        from hiddenphysics.result.trajectory import simulated

        return simulated(self, np.atleast_1d(np.asarray(times, float)), points, draws, seed)

    def move(self, points: np.ndarray, times: np.ndarray, draws: int, seed: int) -> dict[str, np.ndarray]:
        """Return every field of the state at points (N, D), moved on through times: (T, N), or (draws, T, N)."""
        return MODELS[self.model].move(self._own("simulate"), points, times, draws, seed)

    def cramer_rao(self, noise: Mapping[str, float]) -> dict[str, float] | None:
        """Return the Cramér–Rao bound: how well any unbiased estimate could tell the parameters (`model="flow"`).

        Parameters
        ----------
        noise
            Standard deviation of the noise of every measured field, in its units.

        Returns
        -------
        dict
            Parameter -> standard deviation; empty where it is not finite, or cannot be told for these data. None where
            the model tells no bound.
        """
        return MODELS[self.model].cramer_rao(self.learned, self.runs[0], noise)

    def latex(self) -> str:
        """Return the identified equation in LaTeX, numbers with their uncertainty."""
        return self.equation.render_latex(self._numbers())

    def sympy(self) -> list[sympy.Eq]:
        """Return the identified equations as SymPy, parameters replaced by their estimates."""
        chosen = {self.equation.parameter(p): e.estimate for p, e in self.parameters.items()}
        return [eq.subs(chosen) for eq in self.equation.sympy()]

    def identified(self) -> str:
        """Return the identified equation as text, such as ``u_t + 1.038(14) u u_x - 0.0976(31) u_xx = 0``."""
        return self.equation.render(self._numbers())

    def summary(self) -> dict[str, Any]:
        """Return the answer as plain data, ready for JSON; numbers that are not finite become None."""
        from hiddenphysics.result.printed_result import plain_summary

        return plain_summary(self)

    def __str__(self) -> str:
        from hiddenphysics.result.printed_result import printed

        return printed(self)

    def __repr__(self) -> str:
        return f"<Result, {self.status}: {'; '.join(self.identified().splitlines())}>"

    # ---- in a notebook --------------------

    def _repr_html_(self) -> str:
        from hiddenphysics.result.notebook_view import html_view

        return html_view(self)

    def _repr_latex_(self) -> str:
        from hiddenphysics.result.notebook_view import latex_view

        return latex_view(self)

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(str(self))

    # ---- pictures --------------------

    def plot(self, path: str | Path | None = None, *, overwrite: bool = False) -> Figure:
        """Draw the snapshots with their posterior and the identified equation; write it to `path` if one is given.

        Many snapshots are drawn as an image beside the model's, and some of them by themselves. The figure shows itself
        in a notebook; elsewhere it is an ordinary one of matplotlib's, without pyplot.
        """
        from hiddenphysics.result.pictures import plot_result, written

        return written(plot_result(self), path, overwrite)

    def plot_residuals(self, path: str | Path | None = None, *, overwrite: bool = False) -> Figure:
        """Draw what the model leaves of the data: over space, snapshot by snapshot, and against a normal."""
        from hiddenphysics.result.pictures import written
        from hiddenphysics.result.residual_pictures import plot_residuals

        return written(plot_residuals(self), path, overwrite)

    def plot_parameters(self, path: str | Path | None = None, *, overwrite: bool = False) -> Figure:
        """Draw the parameters' normal distribution: each by itself, and the correlation of every two."""
        from hiddenphysics.result.parameter_pictures import plot_parameters
        from hiddenphysics.result.pictures import written

        return written(plot_parameters(self), path, overwrite)

    # ---- for other libraries --------------------

    def draws(self, n: int, seed: int) -> pd.DataFrame:
        """Return n draws of the parameters, a column each, from their normal distribution cut at the bounds."""
        from hiddenphysics.result.tables import parameter_draws

        return parameter_draws(self, n, seed)

    def residuals(self) -> pd.DataFrame:
        """Return data minus posterior mean, one row per point: t, coordinates, and every measured field.

        Where sensors have errors of their own, the mean is what they tell of it: with their offsets, gains and places.
        """
        from hiddenphysics.result.tables import residual_table

        return residual_table(self)

    def to_dataframe(self) -> pd.DataFrame:
        """Return one row per parameter: ``estimate``, ``std``, ``low95``, ``high95``."""
        from hiddenphysics.result.tables import parameter_table

        return parameter_table(self)

    def to_xarray(self, points: int | None = None) -> xr.Dataset:
        """Return every evolving field with its deviation, ``u`` and ``u_std``, and the parameters.

        Parameters
        ----------
        points
            Grid points along each coordinate, over the region of the data, at the times of the snapshots; by default
            200 in one dimension, 50 in two and 20 in three.

        Returns
        -------
        xarray.Dataset
            Fields over (t, x, …); ``estimate``, ``std`` and ``covariance`` over (parameter, …).
        """
        from hiddenphysics.result.tables import posterior_dataset

        return posterior_dataset(self, points)

    def to_arviz(self, n: int = 1000, seed: int = 0) -> Any:
        """Return n draws of the parameters with the data, for ArviZ (``pip install "hiddenphysics[arviz]"``)."""
        from hiddenphysics.result.tables import arviz_data

        return arviz_data(self, n, seed)

    def save(self, path: str | Path, *, overwrite: bool = False) -> Path:
        """Write everything but the recording as netCDF; `hiddenphysics.load` brings it back in any process."""
        from hiddenphysics.result.files import save

        return save(self, Path(path), overwrite=overwrite)

    def with_recording(self, recording: Snapshots | None) -> Result:
        """Return the same result with the whole field beside it, for pictures."""
        return replace(self, recording=recording)

    def _means(
        self,
        known: list[dict[str, np.ndarray]] | None,
        field: str,
        times: np.ndarray,
        places: Sequence[np.ndarray],
    ) -> list[np.ndarray]:
        """Return a field's means at all times, one by one where the model does not know them already."""
        if known is None or any(field not in one for one in known):
            return [self.mean(field, points, float(t)) for t, points in zip(times, places, strict=True)]
        return [one[field] for one in known]

    def _own(self, asked: str) -> Any:
        """Return what was learned of the one experiment; of several a field has one history in each."""
        if len(self.runs) > 1:
            first = self.runs.names[0]
            raise ModelError(
                f"{len(self.runs)} experiments were fitted together, and each has fields of its own. Say which: "
                f"fit.experiments[{first!r}].{asked}(...), by name or counted from 0."
            )
        return self.learned

    def _numbers(self) -> dict[str, tuple[float, float | None]]:
        return {
            p: (e.estimate, e.std) if np.isfinite(e.std) else (three_digits(e.estimate), None)
            for p, e in self.parameters.items()
        }

    def _points(self, axes: tuple[ArrayLike | None, ...]) -> np.ndarray:
        names = self.equation.coordinates
        try:
            given = [np.asarray(a, float) for a in axes if a is not None]
        except (TypeError, ValueError):
            raise ModelError(f"Coordinates are arrays of numbers, such as {names[0]}=[0.0, 0.5].") from None
        if len(given) != len(names) or any(a.ndim != 1 or a.shape != given[0].shape for a in given):
            raise ModelError(
                f"{len(given)} coordinate arrays of shapes {[a.shape for a in given]} were given; needed are "
                f"{len(names)} ({', '.join(names)}) of one shape (N,)."
            )
        return np.stack(given, axis=1)


def _one_time(t: float) -> float:
    try:
        return float(t)
    except (TypeError, ValueError):
        raise ModelError(
            f"t={t!r:.80} was given; needed is one time, such as t=0.5. For several times ask once for each."
        ) from None
