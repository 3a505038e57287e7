"""Fields that solve their equations exactly, sampled at scattered points: 20 + 20 of them, so that one compiled
likelihood serves all tests of a shape.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

import hiddenphysics as hp
from hiddenphysics.snapshots import Snapshots

Solution = Callable[[float, np.ndarray], np.ndarray]
POINTS = 20


def heat(t: float, x: np.ndarray, b: float = 1.0) -> np.ndarray:
    """u_t = b u_xx."""
    return np.exp(-b * t) * np.sin(x) + 0.5 * np.exp(-4 * b * t) * np.cos(2 * x)


def advection(t: float, x: np.ndarray, a: float = 0.7) -> np.ndarray:
    """u_t + a u_x = 0."""
    return np.sin(x - a * t) + 0.5 * np.cos(2 * (x - a * t))


def pendulum(t: float, x: np.ndarray, a: float = 1.6) -> np.ndarray:
    """u_t + sin(a u) = 0 at every x: tan(a u/2) = tan(a u₀/2) e^{−at}."""
    first = 1.2 * np.sin(x)
    return 2 / a * np.arctan(np.tan(0.5 * a * first) * np.exp(-a * t))


def sampled(solution: Solution, gap: float, noise: float, seed: int) -> Snapshots:
    """Two snapshots at jittered equispaced points of [0, 2π], with white noise of the given standard deviation."""
    random = np.random.default_rng(seed)
    cell = 2 * np.pi / POINTS

    def snapshot(t: float) -> hp.Snapshot:
        x = cell * (np.arange(POINTS) + random.uniform(0.1, 0.9, POINTS))
        return hp.Snapshot(t=t, x=x, u=solution(t, x) + noise * random.standard_normal(POINTS))

    return Snapshots([snapshot(0.0), snapshot(gap)])
