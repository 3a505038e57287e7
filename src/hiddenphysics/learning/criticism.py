"""Criticism of an equation: what its best fit leaves over should be noise, and noise has no structure.

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

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from itertools import pairwise
from math import erfc, log, sqrt
from typing import Any, NamedTuple

import numpy as np

from hiddenphysics.learning.outliers import far_off

CERTAIN = 1e-3
"""A p-value below which the equation does not hold."""

DOUBTFUL = 0.01
"""A p-value below which deviations grow, until they are those of an equation that does not hold. Of right equations
one in a hundred is that unlucky, and pays with wider ones. Glacier ice, days 60 to 70, in which something else is at
work, said 0.0718 ± 0.0044, `converged` with p = 0.0012; a version before it 0.075 ± 0.023, a misfit with 0.0005."""

MATERIAL = 0.01
"""Structure that is smaller, in parts of what the fields change, is told and is no misfit: recordings of exact numbers
show the last digits of whoever computed them."""

MOVED, FAINT = 0.1, 0.1
"""Part of a parameter by which structure may move it and be no misfit, however small it is beside what the fields
change; a parameter counts as no less than a tenth of its natural size. Nine sensors, five times, heat that also decays
fitted without the decay: the state bends between the sensors, 0.6 % of the change are left over, and D = 0.0100 ±
0.0014 instead of 0.1 can be off by 5 deviations. Exact numbers leave deviations of 1e-4 of a parameter, which no
structure makes that large."""

MOST = 1000.0
"""Largest of these parts that is told: fields that do not change at all would make it infinite."""

FEWEST_PRODUCTS = 8
"""Products of which a sum is worth asking about."""

ALIKE = 0.05
"""A candidate of which less is left, once the equation's own terms have taken what looks like them, is one of them."""

FEWEST_TIMES = 4
"""Times from which on a sensor can be told to have an offset."""


HIGHEST = 4
"""Order of the highest derivative among the terms that an equation may lack."""


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


@dataclass(frozen=True)
class Check:
    """One question to the left-overs.

    Attributes
    ----------
    name
        What was asked.
    p_value
        Chance of an answer like this, were the equation right.
    alike
        Part of the left-over variance that the structure makes up, 0 to 1.
    """

    name: str
    p_value: float
    alike: float


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


@dataclass(frozen=True)
class Criticism:
    """Whether what an equation leaves over is noise.

    Attributes
    ----------
    p_value
        Chance of left-overs with so much structure, were the equation right; 1 where nothing could be asked.
    checks
        What was asked, and the answers.
    missing
        The term that the left-overs look like most, such as ``"u_xxx"``; None where they look like none.
    structure
        Root mean square of the structured part of the left-overs, in deviations of the noise.
    of_change
        The same, in parts of how much the fitted fields change, 1000 at most.
    allowed
        What part of the change a model's own approximations may leave over: no more than that is no misfit.
    moved
        By what part of itself a parameter can be moved, at most, through what is left over: `widening` times its
        deviation.
    far_off
        Values that lie further off than any noise would, were all values like most of them.
    widening
        How many times its stated deviation a parameter can be off at most through what is left over: a coherent error
        with norm s, in deviations of the noise, moves no combination of parameters by more than s of its deviations.
    """

    p_value: float = 1.0
    checks: tuple[Check, ...] = ()
    missing: str | None = None
    structure: float = 0.0
    of_change: float = 0.0
    widening: float = 1.0
    allowed: float = MATERIAL
    far_off: int = 0
    moved: float = 0.0

    @property
    def is_noise(self) -> bool:
        """Whether nothing but noise seems to be left over."""
        return self.p_value >= CERTAIN

    @property
    def speaks_against(self) -> bool:
        """Whether the equation does not hold: structure that is no chance, and no trifle."""
        return self.p_value < CERTAIN and self._is_material

    @property
    def wider(self) -> float:
        """Factor on stated deviations: 1 for noise, all of `widening` where the equation does not hold, and between.

        Structure that is a trifle widens nothing.
        """
        if not (self.p_value < DOUBTFUL and self._is_material):
            return 1.0
        share = min(1.0, log(DOUBTFUL / max(self.p_value, 1e-300)) / log(DOUBTFUL / CERTAIN))
        return float(self.widening**share)

    @property
    def _is_material(self) -> bool:
        return self.of_change > self.allowed or self.moved > MOVED

    def beside(self, estimate: np.ndarray, deviation: np.ndarray, scale: np.ndarray) -> Criticism:
        """Return it beside the parameters, their deviations and natural sizes, (P,) each.

        Those that the data leave open anyway do not count.
        """
        parts = deviation / np.maximum(np.abs(estimate), FAINT * scale)
        known = parts[parts < MOVED]
        return replace(self, moved=float(min(self.widening * np.max(known, initial=0.0), MOST)))

    def plain(self) -> dict[str, Any]:
        """Return it as plain data, ready for JSON; `of_plain` takes it back."""
        return asdict(self) | {
            "checks": [asdict(check) for check in self.checks],
            "sentence": self.sentence(),
        }

    @classmethod
    def of_plain(cls, told: Mapping[str, Any]) -> Criticism:
        """Return what `plain` has told."""
        names = [one.name for one in fields(cls) if one.name in told]
        checks = tuple(Check(**check) for check in told["checks"])
        return cls(**{name: told[name] for name in names} | {"checks": checks})

    def sentence(self) -> str:
        """Say it in words."""
        if not self.checks:
            return "There were too few values to test the equation."
        return self._said() + self._hint()

    def _hint(self) -> str:
        """Point at outliers; an equation that does not hold leaves values far off by itself."""
        if not self.far_off or self.speaks_against:
            return ""
        some = "One value lies" if self.far_off == 1 else f"{self.far_off} values lie"
        return (
            f" {some} far off, as no noise of the others' size would; noise='robust' (--noise robust) leaves such "
            "values out."
        )

    def _said(self) -> str:
        worst = min(self.checks, key=lambda check: check.p_value)
        p = f"p = {self.p_value:.2g}" if self.p_value > 1e-12 else "p < 1e-12"
        if self.is_noise and self.wider > 1:
            return (
                f"It is doubtful whether what the equation leaves over is noise ({p}): {WORDS[worst.name]}. Deviations "
                f"are {self.wider:.2g} times as wide for it."
            )
        if self.is_noise:
            return f"What the equation leaves over looks like noise ({p})."
        looks = f" It looks like {self.missing}: a term like that may be missing." if self.missing else ""
        what = f"{WORDS[worst.name]} ({p}; {self.structure:.2g} of the noise's deviation)"
        if not self.speaks_against:
            small = (
                f"is only {self.of_change:.1g} of what the fields change.{looks}"
                if self.of_change <= MATERIAL
                else "no more than the step in time leaves by itself: a shorter gap, or the flow model, would tell."
            )
            return f"What the equation leaves over has structure, {what}, but {small}"
        return f"The equation does not explain the data: {what}.{looks}"


WORDS: Mapping[str, str] = {
    "neighbours": "what it leaves over is alike at neighbouring points",
    "times": "what it leaves over is alike at neighbouring times",
    "sensors": "sensors are off by the same amount at all times, as --sensor-offsets "
    "(sensors=Sensors(offsets=True)) would allow for",
    "terms": "what it leaves over grows along the time of a window like a term that it does not have",
}
"""What a check finds, in words."""


def candidate_terms(
    name: str, u: np.ndarray, slopes: Mapping[tuple[str, int], np.ndarray], others: Mapping[str, np.ndarray]
) -> dict[str, np.ndarray]:
    """Return terms that an equation of a field may lack, (N,) each.

    Parameters
    ----------
    name, u
        The field, and its values (N,).
    slopes
        (coordinate, order) -> its derivative along that coordinate.
    others
        The other measured fields.
    """
    every = {name: u, f"{name}^2": u**2, f"{name}^3": u**3, "a constant": np.ones_like(u)}
    for (along, order), slope in slopes.items():
        text = f"{name}_{along * order}"
        every[text] = slope
        if order == 1:
            every[f"{name}*{text}"] = u * slope
    return every | dict(others)


def term_scores(
    inverse: np.ndarray, weights: np.ndarray, own: np.ndarray, candidates: Mapping[str, np.ndarray]
) -> dict[str, float]:
    """Return for every candidate its coefficient by generalised least squares, in its standard deviations.

    Values y = B d + g c + ε with the covariance K: the prior of the state stands in it beside the noise, so that what
    the state may take of a term counts for nothing.

    Parameters
    ----------
    inverse, weights
        K⁻¹ (N, N) and K⁻¹y (N,).
    own, candidates
        B (N, P), what the equation's own parameters do, and g (N,) of each candidate.
    """
    size = np.linalg.norm(own, axis=0)
    basis = np.linalg.svd(own / np.where(size > 0, size, 1.0), full_matrices=False)
    B = basis.U[:, ALIKE * basis.S.max(initial=0.0) < basis.S]
    weighted = inverse @ B
    information = B.T @ weighted
    residual = weights - weighted @ np.linalg.solve(information, B.T @ weights)
    scores = {}
    for name, column in candidates.items():
        across, whole = weighted.T @ column, float(column @ (inverse @ column))
        variance = whole - float(across @ np.linalg.solve(information, across))
        if variance > ALIKE**2 * whole > 0:
            scores[name] = float(column @ residual) / np.sqrt(variance)
    return scores


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


def term_label(name: str, field: str, measured: Collection[str]) -> str:
    """Return how a candidate for the equation of a field is called; with one field its name is enough."""
    return f"{name} in the equation of {field}" if len(measured) > 1 else name


def _away(times: Sequence[float]) -> np.ndarray:
    return np.asarray(times) - np.mean(times)


def _change(windows: Sequence[Sequence[LeftOver]]) -> float:
    """Root mean square of how much the fitted fields have changed since a window began, in deviations of the noise."""
    changes = [change for window in windows for stop in window[1:] for change in stop.changes.values()]
    values = np.concatenate(changes) if changes else np.zeros(1)
    return float(np.sqrt(np.mean(values**2)))
