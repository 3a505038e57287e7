"""A half space driven from its surface, which nobody measures: coverage of the diffusivity's 95 % interval.

u_t − D u_xx = 0 below a surface whose temperature is a random smooth function of time; nine sensors inside, sixty
profiles, 1 % noise. The field is simulated by finite differences in space and Crank–Nicolson in time, which share
nothing with the spectral code that identifies. `python -m benchmarks.driven --to RESULTS` makes 100 draws.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from scipy.interpolate import CubicSpline
from scipy.linalg import lapack

from benchmarks.cases import (
    Case,
    Row,
    answered,
    arguments,
    as_told,
    counted,
    errors,
    fitted,
    median,
    table,
    write,
)
from hiddenphysics.snapshots import Snapshot, Snapshots

EQUATION = "u_t - D*u_xx = 0"
TRUTH = 0.1
DEPTHS = 0.1 * np.arange(1, 10)
PROFILES, GAP, NOISE = 60, 0.1, 0.01
SINES, PERIODS = 6, (2.0, 12.0)
"""Of the surface: a wave with period P decays over √(DP/π), 0.25 to 0.6 here, so the sensors see all of them."""
BOTTOM, CELLS, STEP, BEFORE = 8.0, 1600, 0.005, 12.0
"""Depth and cells of the grid, its time step, and the time before the first profile.

The bottom is thirteen decay lengths of the slowest wave away. Against the closed form of one wave the error is below
2e-5 of its amplitude (`tests/test_long_benchmarks.py`), a hundredth of the noise.
"""
DRAWS, TOGETHER = 100, 1
"""Draws, and those of one case: processes are kept, so that single draws keep all of them busy to the end."""

Surface = Callable[[np.ndarray], np.ndarray]


class Ground(NamedTuple):
    """What is heated, and how its motion is computed.

    Attributes
    ----------
    bottom, cells
        Depth of the grid, and its cells.
    step, before
        Time step, and the time before the first profile.
    """

    bottom: float = BOTTOM
    cells: int = CELLS
    step: float = STEP
    before: float = BEFORE


def random_surface(seed: int) -> Surface:
    """Return a sum of sines with random amplitudes, periods and phases."""
    rng = np.random.default_rng(seed)
    amplitudes = rng.normal(size=SINES) / np.sqrt(SINES)
    rates = 2 * np.pi / rng.uniform(*PERIODS, SINES)
    phases = rng.uniform(0, 2 * np.pi, SINES)
    return lambda t: np.sin(np.multiply.outer(t, rates) + phases) @ amplitudes


def simulate(
    surface: Surface,
    diffusivity: float,
    times: np.ndarray,
    start: np.ndarray | None = None,
    depths: np.ndarray = DEPTHS,
    ground: Ground = Ground(),  # noqa: B008  (immutable)
) -> np.ndarray:
    """Return u (T, depths) at times that are multiples of the step, by Crank–Nicolson from `start` at −before.

    Second order in both steps: (1 − rδ²/2) uⁿ⁺¹ = (1 + rδ²/2) uⁿ, r = D Δt/Δx²; u is the surface's at depth 0, and 0 at
    the bottom.

    Parameters
    ----------
    start
        The profile at −before on the grid, 0 to the bottom; by default 0.
    depths, ground
        Where sensors are, between the grid's points by cubic splines; and the grid.
    """
    dx = ground.bottom / ground.cells
    r = diffusivity * ground.step / dx**2
    size = ground.cells - 1
    steps = np.rint((times + ground.before) / ground.step).astype(int)
    moments = -ground.before + ground.step * np.arange(steps.max() + 1)
    top = surface(moments)
    u = np.zeros(size) if start is None else start[1:-1].copy()
    # The matrix stays the same: factored once.
    off = np.full(size - 1, -r / 2)
    diagonal, lower, info = lapack.dpttrf(np.full(size, 1 + r), off)
    assert info == 0
    inside = dx * np.arange(1, ground.cells)
    seen: dict[int, np.ndarray] = {}
    wanted = set(steps.tolist())
    for step in range(1, int(steps.max()) + 1):
        right = (1 - r) * u
        right[1:] += r / 2 * u[:-1]
        right[:-1] += r / 2 * u[1:]
        right[0] += r / 2 * (top[step - 1] + top[step])
        u, info = lapack.dpttrs(diagonal, lower, right)
        if step in wanted:
            seen[step] = CubicSpline(inside, u)(depths)
    return np.stack([seen[int(step)] for step in steps])


def profiles(seed: int) -> Snapshots:
    """Return what the sensors tell: noise is 1 % of the spread of all their values."""
    times = GAP * np.arange(PROFILES)
    clean = simulate(random_surface(seed), TRUTH, times)
    noise = NOISE * np.std(clean) * np.random.default_rng(10_000 + seed).standard_normal(clean.shape)
    return Snapshots(Snapshot(t=t, x=DEPTHS, u=u) for t, u in zip(times, clean + noise, strict=True))


def answer(case: Case) -> Row:
    """Fit some draws, the first profiles of each."""
    return {
        "status": "fitted",
        "fits": [
            fitted(EQUATION, profiles(seed)[: case["profiles"]], time_limit=case.get("time_limit"))[1]
            for seed in case["seeds"]
        ],
    }


def report(rows: Sequence[Row]) -> str:
    """Return the table."""
    fits = [fit for row in rows for fit in row.get("fits", [row])]
    head = "draws, error of D % (rms), mean square of errors in sd, largest, covered of 95 %, sd % (median), "
    head += "seconds (median), models, status"
    spreads = [{"sd": 100 * fit["stds"]["D"] / TRUTH} for fit in fits if "stds" in fit]
    line = [
        len(fits),
        *errors(fits, "D", TRUTH),
        median(spreads, "sd"),
        median(fits, "seconds"),
        counted(fit["model"] for fit in fits if "model" in fit),
        counted(fit["status"] for fit in fits),
    ]
    return "## A driven half space\n\n" + table(head.split(", "), [line])


def main(words: Sequence[str] | None = None) -> None:
    """Read the command line, run what is left, write the table."""
    parser = arguments(__doc__)
    parser.add_argument("--draws", type=int)
    parser.add_argument("--profiles", type=int, help=f"use only the first of the {PROFILES}")
    given = parser.parse_args(words)
    if given.case:
        return answered(answer, given.case)
    draws = given.draws or (1 if given.small else DRAWS)
    used = given.profiles or (3 if given.small else PROFILES)
    chosen = (
        {"seeds": list(range(first, min(first + TOGETHER, draws))), "profiles": used}
        for first in range(0, draws, TOGETHER)
    )
    rows = as_told("benchmarks.driven", chosen, given)
    return write(given.to, "driven", report(rows))


if __name__ == "__main__":
    main()
