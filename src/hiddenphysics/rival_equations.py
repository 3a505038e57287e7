"""Several equations for the same data: which of them the evidence prefers, and whether any of them holds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from hiddenphysics.equation import format_factor
from hiddenphysics.errors import HiddenPhysicsError, ModelError
from hiddenphysics.identification import identify
from hiddenphysics.learning import Status
from hiddenphysics.result import Result
from hiddenphysics.snapshots import read_experiments

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Compared:
    """One equation among others.

    Attributes
    ----------
    equation
        As it was typed.
    result
        Its fit; None where there is none.
    refused
        Why there is none; empty where there is one.
    evidence
        Log evidence, free of units; −∞ where the numbers are not to be used.
    weight
        Probability of this equation, were one of them right and all as likely before.
    """

    equation: str
    result: Result | None
    refused: str
    evidence: float
    weight: float

    @property
    def verdict(self) -> str:
        """The status of the fit, or `refused`."""
        return "refused" if self.result is None else str(self.result.status)


@dataclass(frozen=True)
class Comparison:
    """Equations for the same data, the most probable first."""

    equations: tuple[Compared, ...]

    @property
    def best(self) -> Result:
        """The fit of the most probable equation."""
        result = self.equations[0].result
        if result is None:
            raise ModelError(f"No equation could be fitted: {self.equations[0].refused}")
        return result

    @property
    def sentence(self) -> str:
        """Whether one of them holds, and how clearly it is preferred."""
        usable = [one for one in self.equations if np.isfinite(one.evidence)]
        if not usable:
            return "None of the equations explains the data."
        first = usable[0]
        if first.verdict == Status.MISFIT:
            return f"None of the equations explains the data; the nearest is {first.equation}"
        if len(usable) == 1:
            return f"Only {first.equation} could be used."
        ahead = usable[0].evidence - usable[1].evidence
        return f"{first.equation} is preferred to the next by a factor of {format_factor(ahead)}."

    def to_dataframe(self) -> pd.DataFrame:
        """Return the table: evidence, weight, status and every parameter with its deviation."""
        import pandas as pd

        return pd.DataFrame([_row(one, self.equations[0].evidence) for one in self.equations])

    def plain(self) -> dict[str, Any]:
        """Return it as plain data, ready for JSON."""
        return {
            "sentence": self.sentence,
            "equations": [
                {
                    "equation": one.equation,
                    "evidence": one.evidence if np.isfinite(one.evidence) else None,
                    "weight": one.weight,
                    "status": one.verdict,
                    "refused": one.refused,
                    "result": None if one.result is None else one.result.summary(),
                }
                for one in self.equations
            ],
        }

    def __str__(self) -> str:
        best = self.equations[0].evidence
        lines = [f"{'evidence':>12} {'weight':>8}  {'status':<18} equation"]
        for one in self.equations:
            shown = "" if not np.isfinite(one.evidence) else f"{one.evidence - best:+.1f}"
            text = one.equation if one.result is None else one.result.identified()
            lines.append(f"{shown:>12} {one.weight:>8.3g}  {one.verdict:<18} {text}")
        return "\n".join([*lines, "", self.sentence])


def compare(
    equations: Sequence[str],
    data: Any,
    *,
    model: str = "flow",
    progress: Callable[[str], None] | bool = False,
    **options: Any,
) -> Comparison:
    """Fit several equations to the same data, and let the evidence choose.

    Parameters
    ----------
    equations
        Two or more, each as `identify` takes it; they may have other parameters and other terms, but the same fields.
    data
        As `identify` takes it.
    model
        One model for all: the evidence of one says nothing about that of another.
    progress, options
        As `identify` takes them: a time limit is that of every fit.

    Returns
    -------
    Comparison
        Print it, or ask its ``equations``, ``best``, ``to_dataframe()``.

    Examples
    --------
    >>> compare(["u_t = D*u_xx", "u_t = D*u_xx - k*u"], "sensors.csv").best  # doctest: +SKIP
    """
    if isinstance(equations, str) or len(equations) < 2:
        raise ModelError(
            "Several equations are needed to compare; give a list, such as ['u_t = D*u_xx', 'u_t = D*u_xx - k*u']."
        )
    if model == "auto":
        raise ModelError(
            "Evidences compare only under one model; name it: model='flow', model='midpoint' or model='paper'."
        )
    told = {name: options.pop(name) for name in ("columns", "time_unit", "experiment") if name in options}
    runs = read_experiments(data, **told)
    found: list[tuple[str, Result | None, str]] = []
    for text in equations:
        try:
            found.append((text, identify(text, runs, model=model, progress=progress, **options), ""))
        except HiddenPhysicsError as problem:
            found.append((text, None, str(problem)))
    if all(result is None for _, result, _ in found):
        raise ModelError(f"None of the equations could be fitted. {found[0][0]}: {found[0][2]}")
    evidences = np.array([_evidence(result) for _, result, _ in found])
    weights = np.zeros(len(found))
    if np.isfinite(evidences).any():
        weights = np.exp(evidences - evidences.max())
        weights /= weights.sum()
    rows = [
        Compared(text, result, refused, float(evidence), float(weight))
        for (text, result, refused), evidence, weight in zip(found, evidences, weights, strict=True)
    ]
    return Comparison(tuple(sorted(rows, key=lambda one: -one.evidence)))


def _evidence(result: Result | None) -> float:
    """Log evidence of a fit that reached its optimum, whether or not its equation holds."""
    if result is None or result.status in (Status.FAILED, Status.NOT_CONVERGED):
        return -np.inf
    return result.evidence if np.isfinite(result.evidence) else -np.inf


def _row(one: Compared, best: float) -> dict[str, Any]:
    row: dict[str, Any] = {
        "equation": one.equation,
        "evidence": one.evidence,
        "behind": best - one.evidence,
        "weight": one.weight,
        "status": one.verdict,
    }
    for name, estimate in ({} if one.result is None else one.result.parameters).items():
        row |= {name: estimate.estimate, f"{name}_std": estimate.std}
    return row
