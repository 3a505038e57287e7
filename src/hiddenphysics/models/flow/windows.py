"""The data of a fit as arrays: windows of stops, padded to one shape, in units of each field's size.

A long recording is cut into windows, each with a latent of its own: chaos forgets where it came from.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import jax.numpy as jnp
import numpy as np

from hiddenphysics.equation import Equation
from hiddenphysics.models.flow.path import MOST_GROWTH, Path
from hiddenphysics.snapshots import Snapshot, Snapshots

FEWEST = 4
"""A snapshot with fewer points is not shared between two windows; both take it whole."""


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
class Windows:
    """What is to be explained.

    Attributes
    ----------
    equation
        The equation, with its unknown parameters.
    state, measured
        Names of the F fields of the state, and the rows of those with data.
    times
        Of the stops of every window, (W, T).
    points, values, weights
        (W, T, N, D), (W, T, G, N), (W, T, G, N) for the G measured fields; weights are 1/size of the field, 0 for
        padding.
    errors
        (W, T, G, N) known variances of the values, in units of the field's; None where none is known.
    sizes
        (F,) typical size of every field of the state, (G,) of which have data.
    """

    equation: Equation
    state: tuple[str, ...]
    measured: tuple[int, ...]
    times: np.ndarray
    points: np.ndarray
    values: np.ndarray
    weights: np.ndarray
    sizes: np.ndarray
    errors: np.ndarray | None

    @property
    def region(self) -> Region:
        """Where the data are."""
        return Region.of(self.points.reshape(-1, self.points.shape[-1]))

    @property
    def per_side(self) -> float:
        """Points of the smallest snapshot along one side, were they on a grid."""
        counts = np.count_nonzero(self.weights[:, :, 0], axis=-1)
        fewest = float(np.min(counts[counts > 0]))
        return max(fewest, 2.0) ** (1.0 / self.points.shape[-1])

    @property
    def count(self) -> int:
        """Number of values."""
        return int(np.count_nonzero(self.weights))

    @property
    def span(self) -> float:
        """Longest time from the first to the last stop of a window."""
        return float(np.ptp(self.times, axis=1).max())

    @property
    def scaled(self) -> np.ndarray:
        """Values in units of their field's size, (W, T·G·N)."""
        return np.asarray((self.values * self.weights).reshape(len(self.values), -1))

    @property
    def known(self) -> np.ndarray | None:
        """Known variances of the rows of `scaled`, (W, T·G·N)."""
        return None if self.errors is None else self.errors.reshape(len(self.errors), -1)

    @property
    def quiet(self) -> float:
        """Smallest known variance of a value, in units of the field's: no value is more exact than that."""
        return 0.0 if self.errors is None else float(np.min(self.errors[self.weights > 0]))

    def in_units(self, size: float) -> Windows:
        """Return the same data with every measured field in units of this size."""
        mine = np.array(self.measured)
        sizes = self.sizes.copy()
        factor = self.sizes[mine, None] / size
        sizes[mine] = size
        errors = None if self.errors is None else self.errors * factor**2
        return replace(self, weights=self.weights * factor, sizes=sizes, errors=errors)

    def path(self, dt: float) -> Path:
        """Return the way through all stops, in steps of about dt."""
        durations = np.diff(self.times, axis=1, prepend=self.times[:, :1])
        starts = np.concatenate([self.times[:, :1], self.times[:, :-1]], axis=1)
        most = np.full(durations.shape, MOST_GROWTH / max(self.span, 1e-300))
        path = Path(durations, np.zeros(durations.shape, int), starts, self.points, most)
        return Path(*map(jnp.asarray, path)).with_steps(dt)


def gathered(equation: Equation, windows: Sequence[Snapshots]) -> Windows:
    """Gather windows; shorter snapshots and shorter windows are padded with points of weight 0."""
    state = equation.system.state
    fields = windows[0].fields
    measured = tuple(state.index(f) for f in state if f in fields)
    names = [state[row] for row in measured]
    longest = max(len(s) for window in windows for s in window)
    shape = (len(windows), max(len(window) for window in windows))
    dimensions = len(equation.coordinates)
    points = np.zeros((*shape, longest, dimensions))
    values, weights = np.zeros((*shape, len(names), longest)), np.zeros((*shape, len(names), longest))
    errors = np.zeros_like(values)
    everything = {f: np.concatenate([s[f] for window in windows for s in window]) for f in names}
    size = {f: float(np.std(v)) for f, v in everything.items()}
    largest = max(size.values())
    size = {f: max(s, 1e-3 * largest) for f, s in size.items()}
    for w, window in enumerate(windows):
        for t, snapshot in enumerate(window):
            n = len(snapshot)
            points[w, t, :n] = snapshot.points
            points[w, t, n:] = snapshot.points[:1]
            for g, f in enumerate(names):
                values[w, t, g, :n] = snapshot[f]
                weights[w, t, g, :n] = 1.0 / size[f]
                errors[w, t, g, :n] = (snapshot.stds.get(f, 0.0) / size[f]) ** 2
        # A shorter window waits at its last stop, where nothing more is seen.
        points[w, len(window) :] = points[w, len(window) - 1]
    times = np.stack([np.pad(w.times, (0, shape[1] - len(w)), mode="edge") for w in windows])
    span = float(np.mean(np.diff(times, axis=1))) if shape[1] > 1 else 1.0
    # A time derivative without data is about as large as its field over the time between snapshots.
    sizes = np.array([size[f] if f in size else size[equation.system.source(f)] / span for f in state])
    return Windows(
        equation, state, measured, times, points, values, weights, sizes, errors if errors.any() else None
    )


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

    The snapshot at which one window ends and the next begins is shared: each takes every other point of it, so that no
    value is used twice and the evidence of every cut is that of the same data.
    """
    windows: list[Snapshots] = []
    every = list(snapshots)
    last = len(every) - 1
    for first in range(0, last, gaps):
        end = min(first + gaps, last)
        begins = every[first] if first == 0 else _half(every[first], 1)
        ends = every[end] if end == last else _half(every[end], 0)
        windows.append(Snapshots([begins, *every[first + 1 : end], ends]))
    return windows


def _half(snapshot: Snapshot, which: int) -> Snapshot:
    return snapshot if len(snapshot) < FEWEST else snapshot.take(np.arange(which, len(snapshot), 2))
