"""The data of a fit as arrays: windows of stops, padded to one shape, in units of each field's size."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import jax.numpy as jnp
import numpy as np

from hiddenphysics.equation import Equation
from hiddenphysics.flow.box import Region
from hiddenphysics.flow.motion import MOST_GROWTH, Path
from hiddenphysics.flow.moving import split_of
from hiddenphysics.snapshots import Snapshots


@dataclass(frozen=True)
class Task:
    """What is to be explained.

    Attributes
    ----------
    equation
        The equation, with its unknown parameters.
    state, measured
        Names of the F fields of the state, and the rows of those with data.
    windows
        Times of the stops of every window, (W, T).
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
    windows: np.ndarray
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
        return float(np.ptp(self.windows, axis=1).max())

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

    def in_units(self, size: float) -> Task:
        """Return the same data with every measured field in units of this size."""
        mine = np.array(self.measured)
        sizes = self.sizes.copy()
        factor = self.sizes[mine, None] / size
        sizes[mine] = size
        errors = None if self.errors is None else self.errors * factor**2
        return replace(self, weights=self.weights * factor, sizes=sizes, errors=errors)

    def path(self, dt: float) -> Path:
        """Return the way through all stops, in steps of about dt."""
        durations = np.diff(self.windows, axis=1, prepend=self.windows[:, :1])
        starts = np.concatenate([self.windows[:, :1], self.windows[:, :-1]], axis=1)
        most = np.full(durations.shape, MOST_GROWTH / max(self.span, 1e-300))
        path = Path(durations, np.zeros(durations.shape, int), starts, self.points, most)
        return Path(*map(jnp.asarray, path)).with_steps(dt)

    def rows(self, fields: np.ndarray) -> np.ndarray:
        """Take values of the state at the stops, (W, …, T, F, N), to weighted rows (W, T·G·N, …)."""
        seen = np.take(fields, self.measured, axis=-2)
        extra = seen.ndim - 4
        weights = self.weights.reshape(self.weights.shape[0], *(1,) * extra, *self.weights.shape[1:])
        flat = (seen * weights).reshape(*seen.shape[: 1 + extra], -1)
        return np.moveaxis(flat, -1, 1)


def task_of(equation: Equation, windows: Sequence[Snapshots]) -> Task:
    """Gather windows; shorter snapshots and shorter windows are padded with points of weight 0."""
    state = split_of(equation).state
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
    sizes = np.array([size[f] if f in size else size[primitive(f)] / span for f in state])
    return Task(
        equation, state, measured, times, points, values, weights, sizes, errors if errors.any() else None
    )


def primitive(rate: str) -> str:
    """Name of the field whose time derivative is called `u_t` or `u_tt`."""
    return rate.removesuffix("t").removesuffix("_") if rate.endswith("_t") else rate.removesuffix("t")
