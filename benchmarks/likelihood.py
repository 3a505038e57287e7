"""One evaluation of likelihood and gradient, against the same written by hand in NumPy, on one core."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

import hiddenphysics as hp
from benchmarks.plain import PlainProblem


@dataclass(frozen=True)
class Case:
    """An equation u_t + λ₁ u u_x + … with N points in two snapshots of a smooth field."""

    name: str
    equation: str
    linear: tuple[tuple[float, int], ...]
    lam: tuple[float, ...]
    points: tuple[int, int]


BURGERS = Case("Burgers", "u_t + a*u*u_x - b*u_xx = 0", ((-1.0, 2),), (0.9, 0.12), (71, 69))
KS = Case("KS", "u_t + a*u*u_x + b*u_xx + c*u_xxxx = 0", ((1.0, 2), (1.0, 4)), (0.9, 0.8, 0.7), (301, 299))
VARIANCE, LENGTH, NOISE, GAP = 0.8, 1.2, 1e-2, 0.1


def build(case: Case) -> tuple[hp.Problem, PlainProblem, dict[str, float]]:
    """Return the library's problem, the plain one, and the point at which both are evaluated."""
    rng = np.random.default_rng(0)
    width = 0.15 * sum(case.points)
    x0, x1 = (np.sort(rng.uniform(0, width, n)) for n in case.points)
    u0, u1 = np.sin(x0) + 0.3 * np.cos(2 * x0), np.sin(x1 - GAP) + 0.3 * np.cos(2 * x1)
    task = hp.problem(case.equation, [hp.Snapshot(t=0.0, x=x0, u=u0), hp.Snapshot(t=GAP, x=x1, u=u1)])
    values = dict(zip("abc", case.lam, strict=False))
    values |= {"u.variance": VARIANCE, "u.length_x": LENGTH, "noise.variance": NOISE}
    return task, PlainProblem(x0, x1, u0, u1, GAP, case.linear), values


def measure(case: Case, seconds: float = 8.0) -> dict[str, float]:
    """Return milliseconds per evaluation of both, and how far value and gradient disagree."""
    task, plain, values = build(case)
    vector = task.unknowns.vector(values)

    def ours() -> tuple[float, np.ndarray]:
        return task.objective(vector)

    def by_hand() -> tuple[float, np.ndarray]:
        return plain.value_and_gradient(np.array(case.lam), VARIANCE, LENGTH, NOISE)

    (value, gradient), (value_by_hand, gradient_by_hand) = ours(), by_hand()
    times = best_times((ours, by_hand), seconds)
    return {
        "ours_ms": 1e3 * times[0],
        "plain_ms": 1e3 * times[1],
        "value_error": abs(value / value_by_hand - 1),
        "gradient_error": float(np.max(np.abs(gradient / gradient_by_hand - 1))),
    }


def best_times(calls: tuple[Callable[[], object], ...], seconds: float) -> list[float]:
    """Return the quickest of many runs of each; the slower ones were disturbed by other work.

    Each is run many times in a row, as an optimiser does, and the rows are taken in turns, so that both meet the same
    state of the machine.
    """
    best = [math.inf] * len(calls)
    rows = 10
    for _ in range(rows):
        for k, call in enumerate(calls):
            end = time.perf_counter() + seconds / rows / len(calls)
            while True:
                began = time.perf_counter()
                call()
                best[k] = min(best[k], time.perf_counter() - began)
                if time.perf_counter() > end:
                    break
    return best


def report() -> str:
    """Return the table."""
    lines = [
        "likelihood and gradient, one core    N   ours ms  plain NumPy ms   ratio  (value, gradient agree to)"
    ]
    for case in (BURGERS, KS):
        m = measure(case)
        lines.append(
            f"{case.name:<33} {sum(case.points):>4} {m['ours_ms']:9.2f} {m['plain_ms']:15.2f} "
            f"{m['plain_ms'] / m['ours_ms']:7.1f}  ({m['value_error']:.0e}, {m['gradient_error']:.0e})"
        )
    return "\n".join(lines) + "\n"
