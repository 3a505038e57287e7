"""The data of a fit: windows of stops, in units of each field's size.

A long recording is cut into windows, each with a latent of its own: chaos forgets where it came from.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from hiddenphysics.equation import Equation
from hiddenphysics.models.edges import NOTHING_SAID, Edges
from hiddenphysics.models.flow.rungs import rung
from hiddenphysics.models.flow.walls import Walls
from hiddenphysics.models.sensors import Sensors
from hiddenphysics.snapshots import Experiments, Snapshot, Snapshots

if TYPE_CHECKING:
    from hiddenphysics.models.flow.inputs import Inputs

FEWEST = 4
"""A snapshot with fewer points is not shared between two windows; both take it whole."""

LONG = 8
"""Gaps from which on a window is long: sharing its ends would tell it an eighth more at most."""

NEGLIGIBLE_SIZE = 1e-3
"""A field is taken to be no smaller than this part of the largest one: an imaginary part that is 0 has no size."""


@dataclass(frozen=True)
class Region:
    """Where the data are: (D,) low and high ends."""

    low: np.ndarray
    high: np.ndarray

    @classmethod
    def of(cls, points: np.ndarray) -> Region:
        """Return the smallest region that holds all points (N, D)."""
        return cls(points.min(axis=0), points.max(axis=0))

    @property
    def extent(self) -> np.ndarray:
        """(D,) lengths of the sides."""
        return self.high - self.low


@dataclass(frozen=True)
class Dense:
    """The values of some windows side by side, padded to one shape; for few values.

    Attributes
    ----------
    points, values, weights
        (W, T, N, D), (W, T, G, N), (W, T, G, N) for the G measured fields; weights are 1/size of the field, 0 for
        padding.
    errors
        (W, T, G, N) known variances of the values, in units of the field's; None where none is known.
    """

    points: np.ndarray
    values: np.ndarray
    weights: np.ndarray
    errors: np.ndarray | None


@dataclass(frozen=True)
class Windows:
    """What is to be explained.

    Attributes
    ----------
    equation
        The equation, with its unknown parameters.
    windows
        The snapshots of every window.
    sizes
        (F,) typical size of every field of the state, in units of which values are counted.
    means
        (G,) of the values of every measured field.
    region
        Where all data are.
    quiet
        Smallest known variance of a value, in units of the field's: no value is more exact than that.
    periods
        (D,) after which the fields repeat along each side; None along an open one.
    experiments, owners
        Names of the experiments, and (W,) which of them every window is of.
    inputs
        The known inputs of the equation; None where it has none.
    sensors
        What is wrong with the sensors; None where nothing is.
    edges
        What was said of the ends of a line.
    """

    equation: Equation
    windows: tuple[Snapshots, ...]
    sizes: np.ndarray
    means: np.ndarray
    region: Region
    quiet: float
    periods: tuple[float | None, ...]
    experiments: tuple[str, ...]
    owners: tuple[int, ...]
    inputs: Inputs | None = None
    sensors: Sensors | None = None
    edges: Edges = NOTHING_SAID

    @property
    def walls(self) -> Walls | None:
        """Walls at the ends of a line; None without any."""
        return Walls.of(self.edges.walls)

    @property
    def state(self) -> tuple[str, ...]:
        """Names of the F fields of the state."""
        return self.equation.system.state

    @cached_property
    def measured(self) -> tuple[int, ...]:
        """Rows of the state that have data."""
        return tuple(row for row, f in enumerate(self.state) if f in self.windows[0].fields)

    @cached_property
    def hidden(self) -> tuple[int, ...]:
        """Rows of the state that have no data, and are no time derivative of a field that has."""
        return tuple(
            row
            for row, f in enumerate(self.state)
            if row not in self.measured and self.equation.system.source(f) == f
        )

    @property
    def names(self) -> list[str]:
        """Names of the G measured fields."""
        return [self.state[row] for row in self.measured]

    @property
    def limits(self) -> np.ndarray:
        """(P, 2) bounds of the equation's parameters."""
        bounds = self.equation.bounds
        return np.array([bounds[name] for name in self.equation.parameters], float).reshape(-1, 2)

    @property
    def units(self) -> np.ndarray:
        """(G,) sizes of the measured fields."""
        return self.sizes[list(self.measured)]

    @cached_property
    def times(self) -> np.ndarray:
        """Of the stops of every window, (W, T); a shorter window waits at its last stop."""
        longest = max(len(window) for window in self.windows)
        return np.stack([np.pad(w.times, (0, longest - len(w)), mode="edge") for w in self.windows])

    @cached_property
    def counts(self) -> np.ndarray:
        """(W, T) points of every stop, 0 where there is none."""
        counts = np.zeros(self.times.shape, int)
        for w, window in enumerate(self.windows):
            counts[w, : len(window)] = [len(s) for s in window]
        return counts

    @property
    def per_side(self) -> float:
        """Points of the smallest snapshot along one side, were they on a grid."""
        fewest = float(np.min(self.counts[self.counts > 0]))
        return max(fewest, 2.0) ** (1.0 / len(self.equation.coordinates))

    @property
    def count(self) -> int:
        """Number of values."""
        return int(self.counts.sum()) * len(self.measured)

    @property
    def span(self) -> float:
        """Longest time from the first to the last stop of a window."""
        return float(np.ptp(self.times, axis=1).max())

    @property
    def known_errors(self) -> bool:
        """Whether some values come with a known deviation."""
        return any(s.stds for window in self.windows for s in window)

    @property
    def box_region(self) -> Region:
        """Where the data are, or along a side that repeats all of it; around walls their mirror images, too."""
        if self.walls is not None:
            ends = self.walls.around(float(self.region.low[0]), float(self.region.high[0]))
            return Region(np.array(ends[:1]), np.array(ends[1:]))
        high = [
            low + period if period is not None else end
            for low, end, period in zip(self.region.low, self.region.high, self.periods, strict=True)
        ]
        return Region(self.region.low, np.array(high))

    def in_units(self, size: float) -> Windows:
        """Return the same data with every measured field in units of this size."""
        mine = list(self.measured)
        sizes = self.sizes.copy()
        sizes[mine] = size
        return replace(self, sizes=sizes, quiet=self.quiet * float(np.min(self.units / size)) ** 2)

    def of(self, windows: Sequence[Snapshots], owners: Sequence[int] | None = None) -> Windows:
        """Return other windows, or parts of these, in the same units; without owners each has that of its place."""
        return replace(self, windows=tuple(windows), owners=self.owners if owners is None else tuple(owners))

    def cut(self, gaps: int) -> Windows:
        """Return these windows, each cut into shorter ones of so many gaps."""
        pieces = [
            (piece, owner)
            for w, owner in zip(self.windows, self.owners, strict=True)
            for piece in windows_of(w, gaps)
        ]
        return self.of([piece for piece, _ in pieces], [owner for _, owner in pieces])

    def thinned(self, most: int) -> Windows:
        """Return at most so many points of every snapshot, drawn at random; the same windows where none has more."""
        if self.counts.max() <= most:
            return self
        return self.of([Snapshots(s.sample(most, seed=0) for s in window) for window in self.windows])

    @cached_property
    def dense(self) -> Dense:
        """All values side by side; shorter snapshots are padded with points of weight 0."""
        shape, longest = self.times.shape, rung(self.counts.max())
        names, dimensions = self.names, len(self.equation.coordinates)
        points = np.zeros((*shape, longest, dimensions))
        values, weights = np.zeros((*shape, len(names), longest)), np.zeros((*shape, len(names), longest))
        errors = np.zeros_like(values)
        for w, window in enumerate(self.windows):
            for t, snapshot in enumerate(window):
                n = len(snapshot)
                points[w, t, :n] = snapshot.points
                points[w, t, n:] = snapshot.points[:1]
                for g, (f, size) in enumerate(zip(names, self.units, strict=True)):
                    values[w, t, g, :n] = snapshot[f]
                    weights[w, t, g, :n] = 1.0 / size
                    errors[w, t, g, :n] = (snapshot.stds.get(f, 0.0) / size) ** 2
            points[w, len(window) :] = points[w, len(window) - 1]
        return Dense(points, values, weights, errors if errors.any() else None)


def whole(
    equation: Equation,
    experiments: Experiments,
    periods: Sequence[float | None] | None = None,
    sensors: Sensors | None = None,
    edges: Edges = NOTHING_SAID,
) -> Windows:
    """Gather experiments, each in one window."""
    made = gathered(equation, list(experiments), periods, sensors, edges)
    return replace(made, experiments=experiments.names, owners=tuple(range(len(experiments))))


def gathered(
    equation: Equation,
    windows: Sequence[Snapshots],
    periods: Sequence[float | None] | None = None,
    sensors: Sensors | None = None,
    edges: Edges = NOTHING_SAID,
) -> Windows:
    """Gather windows of one experiment; one pass over the data tells sizes, means and the region.

    Between two walls fields repeat, whatever `periods` says.
    """
    walls = Walls.of(edges.walls)
    if walls is not None:
        periods = (walls.period,)
    state = equation.system.state
    names = [f for f in state if f in windows[0].fields]
    pieces = _Totals(names)
    for window in windows:
        for snapshot in window:
            for piece in snapshot.chunks():
                pieces.add(piece)
    size = pieces.sizes
    largest = max(size.values())
    size = {f: max(s, NEGLIGIBLE_SIZE * largest) for f, s in size.items()}
    gaps = np.concatenate([np.diff(window.times) for window in windows])
    span = float(np.mean(gaps)) if gaps.size else 1.0
    sizes = np.array([_size_of(f, equation, size, span) for f in state])
    least = [pieces.least[f] / size[f] ** 2 for f in names]
    return Windows(
        equation,
        tuple(windows),
        sizes,
        np.array([pieces.means[f] for f in names]),
        Region(pieces.low, pieces.high),
        float(min(least)),
        tuple(periods) if periods is not None else (None,) * len(equation.coordinates),
        ("",),
        (0,) * len(windows),
        sensors=sensors or None,
        edges=edges,
    )


def _size_of(name: str, equation: Equation, sizes: Mapping[str, float], span: float) -> float:
    """Return the size of a field of the state.

    A time derivative without data is about as large as its field over the time between snapshots; a field that is all
    hidden as large as the largest one that is not, until its variance is learned.
    """
    if name in sizes:
        return sizes[name]
    source = equation.system.source(name)
    return max(sizes.values()) if source == name else _size_of(source, equation, sizes, span) / span


class _Totals:
    """Sums over all values, gathered piece by piece around the first value: no digits are lost to a large mean."""

    def __init__(self, names: Sequence[str]) -> None:
        self.names = names
        self.count = 0
        self.low, self.high = np.array(np.inf), np.array(-np.inf)
        self.origin: dict[str, float] = {}
        self.sums, self.squares = dict.fromkeys(names, 0.0), dict.fromkeys(names, 0.0)
        self.least = dict.fromkeys(names, np.inf)

    def add(self, piece: Snapshot) -> None:
        """Take a piece into account."""
        self.count += len(piece)
        self.low = np.minimum(self.low, piece.points.min(axis=0))
        self.high = np.maximum(self.high, piece.points.max(axis=0))
        for f in self.names:
            away = piece[f] - self.origin.setdefault(f, float(piece[f][0]))
            self.sums[f] += float(away.sum())
            self.squares[f] += float(away @ away)
            known = piece.stds.get(f)
            self.least[f] = min(self.least[f], 0.0 if known is None else float(known.min()) ** 2)

    @property
    def means(self) -> dict[str, float]:
        """Of every field."""
        return {f: self.origin[f] + self.sums[f] / self.count for f in self.names}

    @property
    def sizes(self) -> dict[str, float]:
        """Standard deviations of every field."""
        away = {f: self.sums[f] / self.count for f in self.names}
        return {f: float(np.sqrt(max(self.squares[f] / self.count - away[f] ** 2, 0.0))) for f in self.names}


def gap_counts(snapshots: int, fewest: int) -> Iterator[int]:
    """Yield how many gaps a window may have: all of them, then half as many, down to as few as the equation needs.

    An equation of order p in time shows itself in p gaps: the others only tell its initial velocities.
    """
    count = snapshots - 1
    while count > fewest:
        yield count
        count = (count + 1) // 2
    yield min(fewest, snapshots - 1)


def windows_of(snapshots: Snapshots, gaps: int) -> list[Snapshots]:
    """Cut into windows of so many gaps, the last one perhaps shorter.

    No value is used twice, and the evidence of every cut is that of the same data: of short windows the snapshot at
    which one ends and the next begins is shared, each takes every other point of it; long windows, for which a gap
    more or less says nothing, follow one another.
    """
    windows: list[Snapshots] = []
    every = list(snapshots)
    last = len(every) - 1
    if LONG <= gaps < last:
        pieces = -(-len(every) // (gaps + 1))
        return [
            Snapshots(every[part[0] : part[-1] + 1]) for part in np.array_split(np.arange(len(every)), pieces)
        ]
    for first in range(0, last, gaps):
        end = min(first + gaps, last)
        begins = every[first] if first == 0 else _half(every[first], 1)
        ends = every[end] if end == last else _half(every[end], 0)
        windows.append(Snapshots([begins, *every[first + 1 : end], ends]))
    return windows


def _half(snapshot: Snapshot, which: int) -> Snapshot:
    return snapshot if len(snapshot) < FEWEST else snapshot.take(np.arange(which, len(snapshot), 2))
