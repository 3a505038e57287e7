"""Checks of what an equation leaves over: where it holds that is noise, and noise has no structure.

Left-overs e of a fit, in standard deviations of the learned noise, are asked four things. Where the equation holds they
are independent, so that products of two of them scatter around 0:

- *neighbours*: e at a point times e at the next point of the same snapshot;
- *times*: e of a sensor times its e at the next time;
- *sensors*: e of a sensor times the sum of all its others: an offset of its own; or, where a model can ask it, the
  evidence for such offsets, of which a state swallows most before anything is left over;
- *terms*: e times what a term that the equation does not have would have left, in the middle of a window nothing,
  towards its ends more and more, with opposite signs.

Their sum is compared with how it would scatter were the same left-overs put in another order, which needs neither the
size of the noise nor its distribution. A fit that follows the noise makes its left-overs smaller and neighbours less
alike: the tests are conservative. The smallest p-value counts, times the number of tests (Bonferroni).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from math import erfc, sqrt
from typing import NamedTuple

import numpy as np

from hiddenphysics.learning.criticism import CERTAIN, DOUBTFUL, MOST, Check, Criticism
from hiddenphysics.learning.missing_terms import ALIKE, term_label
from hiddenphysics.learning.outliers import far_off

FEWEST_PRODUCTS = 8
"""Products of which a sum is worth asking about."""

FEWEST_TIMES = 4
"""Times from which on a sensor can be told to have an offset."""


class LeftOver(NamedTuple):
    """What a fit leaves at one stop of a window.

    Attributes
    ----------
    time, points
        Where: points (N, D).
    values
        Field -> (N,) measured minus fitted, in standard deviations of the noise.
    changes
        Field -> (N,) by how much the fitted field has changed since the window began, in the same units.
    terms
        Field -> term -> (N,) candidates for what its equation may lack, in any units, but over deviations of the noise.
    own
        Field -> (P, N) what its equation has, each parameter's part, in the same way.
    """

    time: float
    points: np.ndarray
    values: Mapping[str, np.ndarray]
    changes: Mapping[str, np.ndarray]
    terms: Mapping[str, Mapping[str, np.ndarray]]
    own: Mapping[str, np.ndarray]


class Coherent(NamedTuple):
    """What a model's own evidence says about an error that is the same all along.

    Attributes
    ----------
    p_value
        Chance of so much evidence for it, were there none.
    square
        Of how large it is, in deviations of the values as the model without it knows them, state and all: it moves no
        combination of parameters by more than its root in deviations.
    """

    p_value: float
    square: float


def criticise(
    windows: Sequence[Sequence[LeftOver]],
    scores: Mapping[str, float] | None = None,
    sensors: Coherent | None = None,
) -> Criticism:
    """Ask all questions to what is left over in all windows.

    Parameters
    ----------
    scores
        Candidate -> its coefficient in standard deviations, where a model knows them (`term_scores`); by default they
        are taken from the left-overs as they are.
    sensors
        What the evidence says about offsets, where a model has asked it; by default the left-overs are asked.
    """
    every = np.concatenate([v for window in windows for stop in window for v in stop.values.values()])
    energy = float(every @ every)
    if not (np.isfinite(energy) and energy > 0):
        return Criticism()
    variance = energy / len(every)
    sums = {
        "neighbours": _total(part for window in windows for stop in window for part in _neighbours(stop)),
        "times": _total(part for window in windows for part in _times(window)),
        "sensors": _total(part for window in windows for part in _sensors(window)),
    }
    checks = [
        Check(name, _beyond(total.score(variance)), total.alike(variance))
        for name, total in sums.items()
        if total.number >= FEWEST_PRODUCTS and not (name == "sensors" and sensors is not None)
    ]
    if sensors is not None:
        checks.append(Check("sensors", sensors.p_value, min(1.0, sensors.square / energy)))
    known = _terms(windows, variance) if scores is None else scores
    terms = {name: abs(score) for name, score in known.items()}
    missing = max(terms, key=lambda name: terms[name], default=None)
    if missing is not None:
        p = min(1.0, len(terms) * 2 * _beyond(terms[missing]))
        checks.append(Check("terms", p, float(min(1.0, terms[missing] ** 2 / len(every)))))
    if not checks:
        return Criticism()
    certain = [check for check in checks if len(checks) * check.p_value < CERTAIN]
    doubtful = [check for check in checks if len(checks) * check.p_value < DOUBTFUL]
    alike = max((check.alike for check in certain or doubtful), default=0.0)
    structure = float(np.sqrt(alike * variance))
    change = _change(windows)
    return Criticism(
        min(1.0, len(checks) * min(check.p_value for check in checks)),
        tuple(checks),
        missing if any(check.name == "terms" for check in certain) else None,
        structure,
        min(structure / change, MOST) if change > 0 else MOST,
        float(np.sqrt(1 + alike * energy)),
        far_off=sum(
            far_off(np.concatenate([stop.values[field] for window in windows for stop in window]))
            for field in windows[0][0].values
        ),
    )


class _Products(NamedTuple):
    """Sum of products of two left-overs each, how many there are, and how many of them count as one (`weight`²)."""

    total: float
    number: int
    squared_weights: float

    def score(self, variance: float) -> float:
        """Return the sum in its standard deviations, were left-overs of this variance independent."""
        return self.total / (variance * np.sqrt(self.squared_weights)) if self.squared_weights > 0 else 0.0

    def alike(self, variance: float) -> float:
        """Return the correlation of the two factors, 0 where it is negative."""
        return float(np.clip(self.total / (variance * max(self.number, 1)), 0.0, 1.0))


def _beyond(score: float) -> float:
    """Probability that a normal number is larger; SciPy's takes a quarter of a second to import."""
    return 0.5 * erfc(score / sqrt(2.0))


def _total(parts: Iterator[_Products]) -> _Products:
    every = list(parts)
    return _Products(
        float(sum(part.total for part in every)),
        sum(part.number for part in every),
        float(sum(part.squared_weights for part in every)),
    )


def _neighbours(stop: LeftOver) -> Iterator[_Products]:
    one, other = _pairs(stop.points)
    for e in stop.values.values():
        yield _Products(float(e[one] @ e[other]), len(one), len(one))


def _pairs(points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return which points are neighbours: along a line the next one, otherwise the nearest; every pair once."""
    if len(points) < 2:
        return np.zeros(0, int), np.zeros(0, int)
    if points.shape[1] == 1:
        order = np.argsort(points[:, 0], kind="stable")
        return order[:-1], order[1:]
    from scipy.spatial import cKDTree  # half a second to import, for planes alone

    sides = np.ptp(points, axis=0)
    scaled = points / np.where(sides > 0, sides, 1.0)
    near = np.asarray(cKDTree(scaled).query(scaled, k=2)[1])
    own = np.arange(len(points))
    nearest = np.where(near[:, 0] == own, near[:, 1], near[:, 0])
    pairs = np.unique(np.sort(np.stack([own, nearest], axis=1), axis=1), axis=0)
    return pairs[:, 0], pairs[:, 1]


def _times(window: Sequence[LeftOver]) -> Iterator[_Products]:
    for one, other in pairwise(window):
        if np.array_equal(one.points, other.points):
            for field, e in one.values.items():
                yield _Products(float(e @ other.values[field]), len(e), len(e))


def _sensors(window: Sequence[LeftOver]) -> Iterator[_Products]:
    """Yield the products of all pairs of times of every sensor, ½ (Σe)² − ½ Σe², each with the weight 2 / times."""
    times = len(window)
    if times < FEWEST_TIMES or not all(np.array_equal(s.points, window[0].points) for s in window):
        return
    for field in window[0].values:
        e = np.stack([stop.values[field] for stop in window])
        products = float(np.sum(e.sum(axis=0) ** 2) - np.sum(e**2)) / times
        sensors = e.shape[1]
        yield _Products(products, sensors * (times - 1), 2 * sensors * (times - 1) / times)


def _terms(windows: Sequence[Sequence[LeftOver]], variance: float) -> dict[str, float]:
    """Return for every candidate the sum of left-overs times what it would have left, in standard deviations.

    Of what it would have left, the equation's own terms have taken what looks like them.
    """
    scores = {}
    for field, candidates in windows[0][0].terms.items():
        stops = [
            (stop, away)
            for window in windows
            for stop, away in zip(window, _away([stop.time for stop in window]), strict=True)
        ]
        e = np.concatenate([stop.values[field] for stop, _ in stops])
        own = np.concatenate([away * stop.own[field] for stop, away in stops], axis=1)
        basis = np.linalg.svd(
            own / np.maximum(np.linalg.norm(own, axis=1), 1e-300)[:, None], full_matrices=False
        )
        rows = basis.Vh[basis.S > ALIKE]
        for name in candidates:
            column = np.concatenate([away * stop.terms[field][name] for stop, away in stops])
            left = column - rows.T @ (rows @ column)
            norm = float(np.linalg.norm(left))
            if norm > ALIKE * np.linalg.norm(column):
                scores[term_label(name, field, windows[0][0].values)] = float(left @ e) / (
                    norm * np.sqrt(variance)
                )
    return scores


def _away(times: Sequence[float]) -> np.ndarray:
    return np.asarray(times) - np.mean(times)


def _change(windows: Sequence[Sequence[LeftOver]]) -> float:
    """Root mean square of how much the fitted fields have changed since a window began, in deviations of the noise."""
    changes = [change for window in windows for stop in window[1:] for change in stop.changes.values()]
    values = np.concatenate(changes) if changes else np.zeros(1)
    return float(np.sqrt(np.mean(values**2)))
