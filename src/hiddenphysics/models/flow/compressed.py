"""Every snapshot compressed once onto the modes that a grid carries: after that nothing depends on its points."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from finufft import nufft1d1, nufft2d1, nufft3d1
from scipy.linalg import eigh, qr

from hiddenphysics.models.flow.instruments import Instruments, kinds_of, numbers_of, places_of
from hiddenphysics.models.flow.rungs import rung
from hiddenphysics.models.flow.windows import Windows
from hiddenphysics.snapshots import Snapshot
from hiddenphysics.spectral import Grid, wave_matrix

CHUNK = 16384
"""Points that are compressed at once: their waves take some tens of megabytes."""

SQUARED = 1e-6
"""Noise variance, in units of the fields', above which normal equations lose nothing that the noise does not hide."""

MOST_ROWS = 2000
"""Rows of a window that may keep known errors of their own: a covariance of that many is factored in a second."""

ACCURATE = 1e-13
"""Relative accuracy of sums over points: far below what noise hides where squares are taken."""

FOLLOWED = 10.0
"""How many times smaller the noise is taken to be of a sensor whose values are the field's at an end of the data: what
is left of it does not count beside that of the others."""

HARDLY = 1e-12
"""Eigenvalues of a Gram matrix, relative to the largest, that are rounding."""


class Seen(NamedTuple):
    """The values at all stops, as rows of matrices on the modes of a grid.

    A snapshot y = E û + ε sees the modes through E; with more values than modes, E = Q R, Qᵀy carries all that any
    state can explain, and of the rest only its length is needed. Values with known errors are weighted before.

    Attributes
    ----------
    waves
        (U, r, 2m) R, or E itself where there are fewer values than modes, for U different sets of points; it acts on
        the real and then the imaginary parts of m modes. The last one is 0: nothing is seen.
    which
        (W, T) the set of points at every stop.
    values
        (W, T, G, r), in units of their fields' sizes.
    scale, fields
        (G,) 1/size of the measured fields, and their rows in the state.
    known
        (W, T, G, r) known variances of rows; None where values have been weighted, or nothing is known.
    rest
        (W, T) sums of squares of the values that no mode can explain.
    count
        (W, T) numbers of values.
    stretch
        Σ log of the weights that values were given: log density of the values less that of the rows.
    weights
        (U, r) of the rows of every set of points.
    instruments
        Which rows were read from which sensor; None where sensors have no errors of their own.
    """

    waves: Any
    which: Any
    values: Any
    scale: Any
    fields: Any
    known: Any
    rest: Any
    count: Any
    stretch: Any
    weights: Any
    instruments: Instruments | None = None

    def rows(self, modes: jax.Array, which: jax.Array) -> jax.Array:
        """Values (…, G·r) that modes (…, F, *modes) make at a stop."""
        flat = modes.reshape(*modes.shape[: modes.ndim - self._axes(modes)], -1)
        parts = jnp.concatenate([flat.real, flat.imag], axis=-1)
        seen = jnp.take(parts, self.fields, axis=-2) * self.scale[:, None]
        made = seen @ self.waves[which].T
        return made.reshape(*made.shape[:-2], -1)

    def _axes(self, modes: jax.Array) -> int:
        """Return how many trailing axes of an array belong to the modes of one field."""
        size, axes = 1, 0
        while size < self.waves.shape[-1] // 2:
            axes += 1
            size *= modes.shape[-axes]
        return axes


def compressed(windows: Windows, grid: Grid, noise: float) -> Seen:
    """Compress all snapshots; `noise` is the variance, in units of the fields', that known errors are weighted by."""
    modes = int(np.prod(grid.modes_shape))
    largest, exact = windows.counts.max(), 2 * modes
    # Errors of sensors belong to rows, which a rotation would mix.
    rows = rung(largest) if largest <= exact or windows.sensors else exact
    count, stops = windows.times.shape
    many = stops * len(windows.measured) * rows > MOST_ROWS
    weighted = windows.known_errors and (largest > exact or many)
    shape = (count, rung(stops), len(windows.measured), rows)
    values, known = np.zeros(shape), np.zeros(shape)
    which = np.full(shape[:2], -1)
    sets: list[np.ndarray] = []
    given: list[np.ndarray] = []
    leaders: list[np.ndarray] = []
    rest, stretch = np.zeros(shape[:2]), 0.0
    for places in _same_points(windows):
        snapshots = [windows.windows[w][t] for w, t in places]
        small = len(snapshots[0]) <= rows
        if small:
            matrix = np.zeros((rows, exact))
            weights = following(windows, snapshots[0].points)
            if weighted:
                weights = weights * _weights(windows, snapshots[0], noise)
            matrix[: len(weights)] = _waves(grid, snapshots[0].points) * weights[:, None]
            stretch += len(snapshots) * len(windows.measured) * float(np.sum(np.log(weights)))
            for (w, t), snapshot in zip(places, snapshots, strict=True):
                values[w, t, :, : len(weights)] = _values(windows, snapshot) * weights
                if not weighted:
                    known[w, t, :, : len(weights)] = _known(windows, snapshot)
        else:
            matrix, made, left, logs = _compress(windows, grid, snapshots, noise, weighted)
            stretch += logs
            weights = np.ones(len(matrix))
            for (w, t), one, alone in zip(places, made, left, strict=True):
                values[w, t], rest[w, t] = one, alone
        for w, t in places:
            which[w, t] = len(sets)
        sets.append(matrix)
        given.append(np.pad(weights, (0, rows - len(weights)), constant_values=1.0))
        leaders.append(snapshots[0].points)
    counts = np.zeros(shape[:2])
    counts[:, :stops] = windows.counts * len(windows.measured)
    # Stops that stand for nothing see nothing.
    nothing = rung(len(sets) + 1)
    which[which < 0] = nothing - 1
    waves = np.zeros((nothing, rows, exact))
    waves[: len(sets)] = sets
    every = np.ones((nothing, rows))
    every[: len(sets)] = given
    return Seen(
        waves,
        which,
        values,
        1.0 / windows.units,
        np.array(windows.measured),
        known if known.any() else None,
        rest,
        counts,
        np.asarray(stretch),
        every,
        _instruments(windows, leaders, waves.shape[:2]),
    )


def following(windows: Windows, points: np.ndarray) -> np.ndarray:
    """(N,) weights of values at points (N, D): those that are the field's at an end count `FOLLOWED` times."""
    at = windows.edges.followed
    return np.where(np.isin(points[:, 0], at), FOLLOWED, 1.0) if at else np.ones(len(points))


def _instruments(
    windows: Windows, points: Sequence[np.ndarray], shape: tuple[int, ...]
) -> Instruments | None:
    """Return which rows (U, r) of sets of points were read from which sensor."""
    kinds = kinds_of(windows)
    if not kinds:
        return None
    places = places_of(windows)
    whose = np.full(shape, -1)
    for number, some in enumerate(points):
        whose[number, : len(some)] = numbers_of(places, some)
    return Instruments(whose, kinds, len(places))


def _same_points(windows: Windows) -> Iterator[list[tuple[int, int]]]:
    """Yield lists of stops (window, stop) whose snapshots have the same points, and no errors of their own."""
    lists: list[list[tuple[int, int]]] = []
    leaders: list[Snapshot] = []
    for w, window in enumerate(windows.windows):
        for t, snapshot in enumerate(window):
            # A recording on a fixed grid has few sets of points, and the last one is the likeliest.
            for at in range(len(leaders) - 1, max(len(leaders) - 4, -1), -1):
                if _alike(leaders[at], snapshot):
                    lists[at].append((w, t))
                    break
            else:
                leaders.append(snapshot)
                lists.append([(w, t)])
    yield from lists


def _alike(one: Snapshot, other: Snapshot) -> bool:
    if one.stds or other.stds or len(one) != len(other):
        return False
    return one.has_points_of(other)


def _waves(grid: Grid, points: np.ndarray) -> np.ndarray:
    """(N, 2m) what real and imaginary parts of m modes make at points."""
    waves = np.asarray(wave_matrix(grid, points, np))
    kept = grid.kept.ravel() > 0
    return np.concatenate([waves.real * kept, -waves.imag * kept], axis=1)


def _values(windows: Windows, snapshot: Snapshot) -> np.ndarray:
    """(G, N) in units of the fields."""
    return np.stack([snapshot[f] / size for f, size in zip(windows.names, windows.units, strict=True)])


def _known(windows: Windows, snapshot: Snapshot) -> np.ndarray:
    """(G, N) known variances in units of the fields."""
    nothing = np.zeros(len(snapshot))
    return np.stack([
        (snapshot.stds.get(f, nothing) / size) ** 2
        for f, size in zip(windows.names, windows.units, strict=True)
    ])  # fmt: skip


def _weights(windows: Windows, snapshot: Snapshot, noise: float) -> np.ndarray:
    """(N,) by which values, with the first field's known errors beside the noise, have the noise's variance."""
    return np.asarray(np.sqrt(noise / (noise + _known(windows, snapshot)[0])))


def _compress(
    windows: Windows, grid: Grid, snapshots: list[Snapshot], noise: float, weighted: bool
) -> tuple[np.ndarray, np.ndarray, np.ndarray, float]:
    """Return R (r, 2m), the values (S, G, r) of S snapshots at the same points, what is left (S,), and Σ log weights.

    Where values have errors of their own these are those of the first field: one R serves all. Several snapshots at the
    same points have none.
    """
    fields = len(windows.measured)
    fold = _Squares(grid) if noise > SQUARED else _Triangle(grid)
    stretch = 0.0
    for pieces in zip(*(s.chunks(CHUNK) for s in snapshots), strict=True):
        y = np.concatenate([_values(windows, piece) for piece in pieces])
        weights = following(windows, pieces[0].points)
        if weighted:
            weights = weights * _weights(windows, pieces[0], noise)
        stretch += len(snapshots) * fields * float(np.sum(np.log(weights)))
        fold.add(pieces[0].points, weights, y)
    R, made, left = fold.result()
    return (
        R,
        made.T.reshape(len(snapshots), fields, -1),
        left.reshape(len(snapshots), fields).sum(axis=1),
        stretch,
    )


class _Triangle:
    """E = Q R and Qᵀy, piece by piece: for values so exact that squares would lose their digits."""

    def __init__(self, grid: Grid) -> None:
        self.grid = grid
        self.columns = 2 * int(np.prod(grid.modes_shape))
        self.triangle = np.zeros(0)

    def add(self, points: np.ndarray, weights: np.ndarray, y: np.ndarray) -> None:
        """Take further points (N, D), with weights (N,) and values (S, N)."""
        rows = np.concatenate([_waves(self.grid, points), y.T], axis=1) * weights[:, None]
        rows = np.concatenate([np.reshape(self.triangle, (-1, rows.shape[1])), rows])
        self.triangle = qr(rows, mode="r", check_finite=False)[0][: rows.shape[1]]

    def result(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return R, Qᵀy (2m, S), and the squares of y that are left (S,)."""
        top, bottom = self.triangle[: self.columns], self.triangle[self.columns :, self.columns :]
        return top[:, : self.columns], top[:, self.columns :], np.sum(bottom**2, axis=0)


class _Squares:
    """The same from EᵀE and Eᵀy: R = Λ^½ Vᵀ with EᵀE = V Λ Vᵀ.

    Products of two waves are waves again, with the sum or the difference of the wavenumbers: all of EᵀE is in the
    amplitudes Σ_n w_n² e^{ik·x_n} of twice as many waves, which a non-uniform Fourier transform gives without a matrix
    of points and waves. Barnett, Magland & af Klinteberg (2019), SIAM J. Sci. Comput. 41, C479.
    """

    def __init__(self, grid: Grid) -> None:
        self.grid = grid
        sides = [
            np.round(np.ravel(k) * length / (2 * np.pi)).astype(int)
            for k, length in zip(grid.wavenumbers, grid.lengths, strict=True)
        ]
        self.indices = np.stack([i.ravel() for i in np.meshgrid(*sides, indexing="ij")], axis=1)
        self.highest = np.abs(self.indices).max(axis=0)
        self.ones: np.ndarray | float = 0.0
        self.mixed: np.ndarray | float = 0.0
        self.own: np.ndarray | float = 0.0

    def add(self, points: np.ndarray, weights: np.ndarray, y: np.ndarray) -> None:
        """Take further points (N, D), with weights (N,) and values (S, N)."""
        low, lengths = np.array([low for low, _ in self.grid.box]), np.array(self.grid.lengths)
        turns = np.remainder(2 * np.pi / lengths * (points - low), 2 * np.pi)
        self.ones = self.ones + amplitudes_at(turns, (weights**2)[None], 2 * self.highest)
        self.mixed = self.mixed + amplitudes_at(turns, weights**2 * y, self.highest)
        self.own = self.own + np.sum((weights * y) ** 2, axis=1)

    def result(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return R, Qᵀy (2m, S), and the squares of y that are left (S,)."""
        size = np.where(self.indices[:, -1] > 0, 2.0, 1.0) * self.grid.kept.ravel()
        k, ones = self.indices, np.asarray(self.ones)[0]
        sums = ones[tuple(np.moveaxis(k[:, None] + k[None] + 2 * self.highest, -1, 0))]
        differences = ones[tuple(np.moveaxis(k[:, None] - k[None] + 2 * self.highest, -1, 0))]
        # Real and imaginary parts of waves: cos a cos b, −cos a sin b and sin a sin b by sums and differences.
        gram = 0.5 * np.block([
            [(sums + differences).real, (differences - sums).imag],
            [-(differences + sums).imag, (differences - sums).real],
        ])  # fmt: skip
        gram *= np.outer(np.tile(size, 2), np.tile(size, 2))
        waves = np.asarray(self.mixed)[:, *(k + self.highest).T] * size
        mixed = np.concatenate([waves.real, -waves.imag], axis=1).T
        values, vectors = eigh(gram, check_finite=False)
        # Combinations of waves that the points hardly see: rounding, where the noise is what it must be here.
        sees = values > HARDLY * values[-1]
        root = np.where(sees, np.sqrt(np.maximum(values, 0.0)), 0.0)
        made = np.where(sees, 1.0 / np.where(sees, root, 1.0), 0.0)[:, None] * (vectors.T @ mixed)
        return root[:, None] * vectors.T, made, np.maximum(self.own - np.sum(made**2, axis=0), 0.0)


def amplitudes_at(turns: np.ndarray, strengths: np.ndarray, highest: np.ndarray) -> np.ndarray:
    """Σ_n s_n e^{ik·θ_n} for |k| up to the highest along each side, (S, 2k+1, …), of angles (N, D) and s (S, N)."""
    transform = {1: nufft1d1, 2: nufft2d1, 3: nufft3d1}[turns.shape[1]]
    modes = tuple(int(2 * n + 1) for n in highest)
    angles = [np.ascontiguousarray(column) for column in turns.T]
    return np.asarray(
        transform(*angles, np.ascontiguousarray(strengths, complex), modes, eps=ACCURATE, isign=1)
    )
