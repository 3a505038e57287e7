"""The default model on fields that are not the paper's: other starts, shocks, walls, chaos.

`python -m benchmarks.other_fields` simulates each, takes two snapshots at scattered points, clean and with noise,
identifies from a cold start, and prints errors in per cent and in stated standard deviations.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

import hiddenphysics as hp
from hiddenphysics.simulate import simulate

BURGERS = "u_t + a*u*u_x - b*u_xx = 0"
WALLS = "u_t - a*u_xx + b*(u^3 - u) = 0"


@dataclass(frozen=True)
class Case:
    """An equation with its truth, the state at t = 0 on a periodic box, grid points, two times, points per snapshot.

    `field` is its name in the equation, `seen` the part of the box that is measured; all of it by default.
    """

    equation: str
    truth: dict[str, float]
    start: Callable[[np.ndarray], np.ndarray]
    box: tuple[float, float]
    grid: int
    times: tuple[float, float]
    points: int
    field: str = "u"
    seen: tuple[float, float] = (-np.inf, np.inf)


CASES = {
    "Burgers, two waves": Case(
        BURGERS,
        {"a": 1.0, "b": 0.05},
        lambda x: np.sin(x) + 0.5 * np.cos(2 * x + 1),
        (-np.pi, np.pi),
        256,
        (0.5, 0.7),
        80,
    ),
    "Burgers, breaking": Case(
        BURGERS,
        {"a": 1.0, "b": 0.01 / np.pi},
        lambda x: -np.sin(np.pi * x),
        (-1.0, 1.0),
        2048,
        (0.3, 0.4),
        100,
    ),
    "Burgers, shock": Case(
        BURGERS, {"a": 1.0, "b": 0.02}, lambda x: -np.sin(np.pi * x), (-1.0, 1.0), 1024, (0.6, 0.7), 100
    ),
    "Allen–Cahn": Case(
        WALLS,
        {"a": 1e-3, "b": 5.0},
        lambda x: 0.6 * np.cos(np.pi * x) + 0.3 * np.sin(2 * np.pi * x),
        (-1.0, 1.0),
        512,
        (0.1, 0.3),
        100,
    ),
    "KdV, a cosine breaks up": Case(
        "u_t + a*u*u_x + b*u_xxx = 0",
        {"a": 1.0, "b": 0.0025},
        lambda x: np.cos(np.pi * x),
        (-1.0, 1.0),
        256,
        (0.2, 0.3),
        100,
    ),
    # The paper's solitons and gap. On the paper's box, -5 to 5, they have a kink at the edge, which radiates.
    "Schrödinger, no edges": Case(
        "i*h_t + a*h_xx + b*abs(h)^2*h = 0",
        {"a": 0.5, "b": 1.0},
        lambda x: 2.0 / np.cosh(x) + 0j,
        (-20.0, 20.0),
        1024,
        (0.6, 0.6 + np.pi / 500),
        50,
        field="h",
        seen=(-5.0, 5.0),
    ),
    "Fisher": Case(
        "u_t - a*u_xx - b*u*(1 - u) = 0",
        {"a": 1.0, "b": 1.5},
        lambda x: np.exp(-(x**2)),
        (-15.0, 15.0),
        256,
        (1.0, 2.0),
        60,
    ),
    "Kuramoto–Sivashinsky, chaos": Case(
        "u_t + a*u*u_x + b*u_xx + c*u_xxxx = 0",
        {"a": 1.0, "b": 1.0, "c": 1.0},
        lambda x: np.cos(x / 16) * (1 + np.sin(x / 16)) + 0.3 * np.cos(x / 4),
        (0.0, 32 * np.pi),
        512,
        (100.0, 100.5),
        300,
    ),
}
NOISES = (0.0, 0.01)


def fit(case: Case, noise: float, seed: int) -> tuple[hp.Result, float]:
    """Return the result for one draw of points and noise, and the seconds that it took."""
    run = simulate(
        case.equation,
        {case.field: case.start},
        box=case.box,
        shape=case.grid,
        times=[0.0, *case.times],
        parameters=case.truth,
    )
    low, high = case.seen
    pair = hp.read(run)[1:].where(lambda x: (low <= x) & (x <= high))
    # Points and noise come from different streams, or the noise would depend on where it is seen.
    drawn = (pair.with_noise(noise, seed=1000 + seed) if noise else pair).subsample(case.points, seed=seed)
    began = time.perf_counter()
    return hp.identify(case.equation, drawn), time.perf_counter() - began


def line(name: str, noise: float, seed: int) -> str:
    """Fit one case, and return what was found beside the truth."""
    case = CASES[name]
    result, seconds = fit(case, noise, seed)
    errors = []
    for parameter, truth in case.truth.items():
        found = result.parameters[parameter]
        off = found.estimate - truth
        errors.append(f"{parameter} {100 * off / truth:+.4f} % ({off / found.std:+.1f} sd)")
    what = f"{name}, {100 * noise:g} % noise"
    return f"{what:<38} {result.status} {result.model:<8} {', '.join(errors)}  {seconds:.0f} s"


def main() -> None:
    """Print a line for every case and noise."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--cases", nargs="*", default=list(CASES))
    chosen = parser.parse_args()
    for name in chosen.cases:
        for noise in NOISES:
            print(line(name, noise, chosen.seed), flush=True)


if __name__ == "__main__":
    main()
