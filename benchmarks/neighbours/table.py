"""From single fits to the table: the best setting of each program, quartiles over pairs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchmarks.neighbours.fit import Fit
from benchmarks.neighbours.problems import PROBLEMS

Key = tuple[str, float, str, str, int]
"""Problem, noise, method, form, gap."""

HEADER = (
    "| problem | noise | program | snapshots | values | form | error of each coefficient, % | wrong terms "
    "| seconds | setting |\n"
    "|---|---|---|---|---|---|---|---|---|---|"
)


@dataclass(frozen=True)
class Line:
    """One line of the table: the fits of one program with its best setting, one for each pair or one alone."""

    key: Key
    setting: str
    fits: tuple[Fit, ...]

    @property
    def errors(self) -> NDArray[np.float64]:
        """Relative errors in %, shape (fits that answered, P)."""
        truth = PROBLEMS[self.key[0]].truth
        answered = [fit for fit in self.fits if fit.answered]
        found = np.array([[fit.estimates[p] for p in truth] for fit in answered]).reshape(-1, len(truth))
        exact = np.array(list(truth.values()))
        return np.asarray(100 * np.abs(found - exact) / np.abs(exact))

    @property
    def wrong(self) -> float:
        """Mean number of terms too many or too few."""
        return float(np.mean([len(fit.extra) + len(fit.missing) for fit in self.fits]))

    @property
    def rank(self) -> tuple[float, float]:
        """What is better comes first: fewer wrong terms, then a smaller median of the worst coefficient's error."""
        errors = self.errors
        worst = float(np.median(errors.max(axis=1))) if len(errors) else float("inf")
        return self.wrong, worst if np.isfinite(worst) else float("inf")


def best_lines(fits: Iterable[Fit]) -> list[Line]:
    """Group the fits and keep the best setting of each group: a choice that needs the truth, in every one's favour."""
    groups: dict[Key, dict[str, list[Fit]]] = {}
    for fit in fits:
        key = (fit.job.problem, fit.job.noise, fit.job.method, fit.form, fit.job.gap)
        groups.setdefault(key, {}).setdefault(_family(fit), []).append(fit)
    return [
        min(
            (Line(key, setting, tuple(some)) for setting, some in settings.items()),
            key=lambda line: line.rank,
        )
        for key, settings in sorted(groups.items(), key=lambda item: _order(item[0]))
    ]


def table(fits: Iterable[Fit]) -> str:
    """Return the table in Markdown."""
    return "\n".join([HEADER, *(_row(line) for line in best_lines(fits))])


def _family(fit: Fit) -> str:
    """Return what must be equal to count as one setting; ours and DeepXDE's have one setting each."""
    return fit.setting if fit.job.method.startswith("PySINDy") else fit.job.method


def _order(key: Key) -> tuple[int, float, int, str, str]:
    problem, noise, method, form, gap = key
    return list(PROBLEMS).index(problem), noise, gap, method, form


def _row(line: Line) -> str:
    problem, noise, method, form, gap = line.key
    snapshots = f"2, gap {gap}" if gap else "all"
    cells = [
        problem,
        f"{100 * noise:g} %",
        method,
        snapshots,
        str(line.fits[0].values),
        form,
        _errors(line),
        _wrong(line),
        number(float(np.median([fit.seconds for fit in line.fits]))),
        "; ".join(sorted({fit.setting for fit in line.fits})),
    ]
    return "| " + " | ".join(cells) + " |"


def _errors(line: Line) -> str:
    """Medians and quartiles over pairs, or the one error; how many pairs were without an answer."""
    errors = line.errors
    if not len(errors):
        return f"no answer ({len(line.fits)} pairs)"
    if len(line.fits) == 1:
        return ", ".join(number(error) for error in errors[0])
    low, middle, high = np.quantile(errors, [0.25, 0.5, 0.75], axis=0)
    words = ", ".join(
        f"{number(m)} [{number(a)}–{number(b)}]" for a, m, b in zip(low, middle, high, strict=True)
    )
    silent = len(line.fits) - len(errors)
    return f"{words}; {len(line.fits)} pairs" + (f", {silent} without an answer" if silent else "")


def number(value: float) -> str:
    """Two digits, without an exponent where it is large."""
    return f"{value:.2g}" if abs(value) < 99.5 else f"{value:.0f}"


def _wrong(line: Line) -> str:
    if line.key[3] == "told":
        return "–"
    if len(line.fits) > 1:
        return "none" if not line.wrong else f"{line.wrong:.2g} a pair"
    fit = line.fits[0]
    words = [
        f"{len(terms)} {word}" for terms, word in ((fit.extra, "too many"), (fit.missing, "missing")) if terms
    ]
    return ", ".join(words) or "none"
