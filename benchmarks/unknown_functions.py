"""Unknown functions: how much of D(x), with a step and with a wave, and of two reactions f(u) lies within its band.

Fields are simulated by finite differences in space and LSODA in time, which share nothing with the spectral code that
identifies. `python -m benchmarks.unknown_functions --to RESULTS` makes 50 draws of noise and first state of each.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from scipy.integrate import solve_ivp

from benchmarks.cases import (
    TWO_SIDED_95,
    Case,
    Row,
    answered,
    arguments,
    as_told,
    counted,
    fitted,
    median,
    table,
    write,
)
from hiddenphysics.snapshots import Snapshot, Snapshots

NOISE, SPACING = 0.005, 0.06
GRID = np.linspace(-6.0, 6.0, 801)
REACH = 3.0
"""Data lie between −3 and 3; the grid goes on."""
DRAWS = 50
INNER = 0.9
"""Part of the range of the argument in which the band is asked: at its very ends a field has hardly been."""

Function = Callable[[np.ndarray], np.ndarray]


class Problem(NamedTuple):
    """What is identified: the text, the diffusivity and the reaction behind it, the name, and the times."""

    text: str
    diffusivity: Function
    reaction: Function
    name: str
    times: np.ndarray

    @property
    def truth(self) -> Function:
        """The unknown function."""
        return self.diffusivity if self.name == "D" else self.reaction


def _nothing(u: np.ndarray) -> np.ndarray:
    return np.zeros_like(u)


def _few(x: np.ndarray) -> np.ndarray:
    return np.full_like(x, 0.05)


_DIFFUSES, _REACTS = "u_t = d(D(x)*u_x, x)", "u_t = 0.05*u_xx + f(u)"
_OFTEN, _TWICE, _TEN = np.linspace(0.0, 1.0, 6), np.linspace(0.0, 0.5, 2), np.linspace(0.0, 0.9, 10)
PROBLEMS = {
    "step": Problem(_DIFFUSES, lambda x: 0.1 + 0.05 * np.tanh(x / 0.2), _nothing, "D", _OFTEN),
    "wave": Problem(_DIFFUSES, lambda x: 0.1 + 0.05 * np.sin(2 * x), _nothing, "D", _OFTEN),
    "u - u^3, 2": Problem(_REACTS, _few, lambda u: u - u**3, "f", _TWICE),
    "u - u^3, 10": Problem(_REACTS, _few, lambda u: u - u**3, "f", _TEN),
    "Fisher, 2": Problem(_REACTS, _few, lambda u: 2 * u * (1 - u), "f", _TWICE),
    "Fisher, 10": Problem(_REACTS, _few, lambda u: 2 * u * (1 - u), "f", _TEN),
}


def simulate(problem: Problem, begin: np.ndarray) -> np.ndarray:
    """Return u (T, grid): fluxes by central differences between the grid's points, ends that reflect."""
    h = GRID[1] - GRID[0]
    between = problem.diffusivity(0.5 * (GRID[1:] + GRID[:-1]))

    def rate(_: float, u: np.ndarray) -> np.ndarray:
        flux = np.concatenate([[0.0], between * np.diff(u) / h, [0.0]])
        return np.diff(flux) / h + problem.reaction(u)

    times = problem.times
    # Neighbours alone are coupled: LSODA needs a band of the Jacobian.
    return solve_ivp(
        rate,
        (times[0], times[-1]),
        begin,
        t_eval=times,
        method="LSODA",
        lband=1,
        uband=1,
        rtol=1e-8,
        atol=1e-10,
    ).y.T


def snapshots(problem: Problem, seed: int) -> Snapshots:
    """Return what is seen of a random smooth first state, of about 0 to 1."""
    rng = np.random.default_rng(seed)
    begin = np.zeros_like(GRID)
    for centre in np.linspace(-3.5, 3.5, 8):
        begin = begin + rng.uniform(0, 1.1) * np.exp(-((GRID - centre + rng.normal(0, 0.2)) ** 2) / 0.3)
    x = np.arange(-REACH, REACH + 1e-9, SPACING)
    return Snapshots(
        Snapshot(float(t), x, np.interp(x, GRID, u) + NOISE * rng.standard_normal(x.size))
        for t, u in zip(problem.times, simulate(problem, begin), strict=True)
    )


def answer(case: Case) -> Row:
    """Fit one draw; of the band tell how many of fifty points hold the truth, and how wide it is."""
    problem = PROBLEMS[case["problem"]]
    fit, row = fitted(
        problem.text, snapshots(problem, case["seed"]), model="flow", time_limit=case.get("time_limit")
    )
    if fit is None:
        return row
    learned = fit.functions[problem.name]
    low, high = learned.function.low, learned.function.high
    aside = 0.5 * (1 - INNER) * (high - low)
    values = np.linspace(low + aside, high - aside, 50)
    mean, std = learned.mean_and_std(values)
    off = mean - problem.truth(values)
    return row | {
        "covered": float(np.mean(np.abs(off) < TWO_SIDED_95 * std)),
        "error": float(np.sqrt(np.mean(off**2)) / np.ptp(problem.truth(values))),
        "width": float(np.sqrt(np.mean(std**2)) / np.ptp(problem.truth(values))),
        "worth": float(learned.worth),
    }


def report(rows: Sequence[Row]) -> str:
    """Return the table."""
    lines = []
    for name in dict.fromkeys(row["case"]["problem"] for row in rows):
        fits = [row for row in rows if row["case"]["problem"] == name]
        inside = [fit["covered"] for fit in fits if "covered" in fit]
        widths = f"{median(fits, 'error') or 0:.2g}, {median(fits, 'width') or 0:.2g}"
        lines.append([
            name,
            len(fits),
            float(np.mean(inside)) if inside else None,
            widths,
            median(fits, "worth"),
            median(fits, "seconds"),
            counted(fit["status"] for fit in fits),
        ])  # fmt: skip
    columns = [
        "problem", "draws", "points within the 95 % band", "error and sd in parts of the range",
        "worth", "seconds", "status",
    ]  # fmt: skip
    return "## Unknown functions\n\n" + table(columns, lines)


def main(words: Sequence[str] | None = None) -> None:
    """Read the command line, run what is left, write the table."""
    parser = arguments(__doc__)
    parser.add_argument("--draws", type=int)
    parser.add_argument("--problems", nargs="*", choices=list(PROBLEMS))
    given = parser.parse_args(words)
    if given.case:
        return answered(answer, given.case)
    draws = given.draws or (1 if given.small else DRAWS)
    problems = given.problems or (["u - u^3, 2"] if given.small else list(PROBLEMS))
    chosen = [{"problem": problem, "seed": seed} for problem in problems for seed in range(draws)]
    rows = as_told("benchmarks.unknown_functions", chosen, given)
    return write(given.to, "unknown_functions", report(rows))


if __name__ == "__main__":
    main()
