"""The box around the data, and its waves: chosen from the lengths that the prior has reached; a state carried over.

Halved or doubled, its constants move no answer by a hundredth of its deviation (`benchmarks.constants`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.fft import next_fast_len

from hiddenphysics.errors import ModelError
from hiddenphysics.gaussian import posterior, reduce
from hiddenphysics.models.flow.envelope import Envelope
from hiddenphysics.models.flow.path import Latent, Program
from hiddenphysics.models.flow.rungs import WAVES_PER_OCTAVE, rising, rung
from hiddenphysics.models.flow.windows import Region, Windows
from hiddenphysics.priors import Prior
from hiddenphysics.spectral import Features, Gauge, Grid

ROOM = {1: 1.5, 2: 1.25}
"""Lengths may move by this factor up and down before the box is chosen anew, on a line and in a plane."""

PADDING = {1: 6.5, 2: 5.0}
"""Padding in lengths, all in all: e^{−6.5²/2} ≈ 1e-9 is left of the correlation around the box's back, e^{−5²/2} ≈ 4e-6
in a plane, where every length of padding costs a row of waves."""

QUIETEST = {1: 1e-12, 2: 1e-8}
"""Smallest noise variance in units of the field's: below it a factorisation has no digits, a plane too many waves."""

FINER = 1.1
"""How many more waves the motion has than the latent: steepening makes shorter ones."""

MOST_FEATURES = 6000
"""Features of one field beyond which the linearised motion no longer fits into memory and patience."""

SHARE = 1e-4
"""Features are left out when their prior variance is below this part of the noise's."""

ALONE = 100
"""Values of a snapshot from which on they tell more of a wave than one value would: the noise counts that much less."""

QUIETER = 30.0
"""The noise variance may fall by this factor before more features are needed."""

FAR = {1: 4.0, 2: 1.0}
"""Padding, in extents of the data, for equations with fractional derivatives: these feel what is far away."""

EXACT = 1e-8
"""Noise variance, relative to the field's, with which the new waves are made to follow the old ones."""

RAMP = 0.5
"""Part of the padding, at most, over which what comes from outside sets in."""

PER_EDGE, MOST_AT_EDGES = 3.0, 256
"""Points of a line's grid over the distance within which what comes from outside sets in, as long as the line has no
more than so many."""

DRIVEN = 0.2
"""Largest length of a state that is driven, in extents of the data. What comes in explains most of it, so that a length
is free to be anything: on the ice it ran to the whole extent, the box to seven of them, and its grid to 0.3 m."""

APART = 0.1
"""Part of a line's box that keeps what comes in at one end apart from what comes in at the other."""

MARGIN = 0.25
"""Part of the old padding, on each side, whose values are carried over."""


@dataclass(frozen=True)
class Entry:
    """Where something comes in from outside: in the padding, finer the nearer the data.

    A weather that changes from one stop to the next does not get far: what it does to the outermost sensor comes from
    as near as sensors stand to each other there. On a line the waves of what comes in are read at places that grow as
    the logarithm of the distance.

    Attributes
    ----------
    region, periods
        Where the data are, and (D,) after which the fields repeat along a side that is not open.
    nearest
        (D, 2) distance of the two outermost points at the low and at the high end of each side.
    """

    region: Region
    periods: tuple[float | None, ...]
    nearest: np.ndarray

    @classmethod
    def of(cls, windows: Windows) -> Entry:
        """Read it from the first snapshot of all; in a plane distances to the next point mean little."""
        region = windows.region
        nearest = np.tile(region.extent[:, None], (1, 2))
        if len(region.extent) == 1:
            x = np.unique(windows.windows[0][0].points[:, 0])
            nearest = np.array([[x[1] - x[0], x[-1] - x[-2]]]) if x.size > 1 else nearest
        return cls(region, windows.periods, nearest)

    def _ramps(self, grid: Grid, side: int) -> tuple[np.ndarray, np.ndarray]:
        """Distances (2,) over which it sets in at both ends of a side, and (2,) the widths of the paddings there."""
        (low, high), region = grid.box[side], self.region
        widths = np.array([region.low[side] - low, high - region.high[side]])
        resolved = PER_EDGE * grid.lengths[side] / grid.shape[side]
        return np.minimum(RAMP * widths, np.maximum(self.nearest[side], resolved)), widths

    def fineness(self, grid: Grid) -> float:
        """Return how many times finer a grid has to be that shows what comes in near the data; 1 in a plane."""
        if len(grid.shape) > 1 or self.periods[0] is not None:
            return 1.0
        wanted = PER_EDGE * grid.lengths[0] / grid.shape[0] / float(self.nearest.min())
        return max(1.0, min(wanted, MOST_AT_EDGES / grid.shape[0]))

    def padding(self, grid: Grid) -> np.ndarray:
        """Return 0 around the data, 1 further out, and a smooth way between; (*shape)."""
        inside = np.ones(grid.shape)
        for d, (axis, period) in enumerate(zip(grid.axes, self.periods, strict=True)):
            if period is not None:
                continue
            below, above = self.region.low[d] - axis, axis - self.region.high[d]
            ramps, _ = self._ramps(grid, d)
            r = np.clip(np.where(below > 0, below / ramps[0], above / ramps[1]), 0.0, 1.0)
            ramp = r**3 * (10 - 15 * r + 6 * r**2)
            inside = inside * (1 - ramp.reshape([-1 if e == d else 1 for e in range(inside.ndim)]))
        return 1 - inside

    def places(self, grid: Grid) -> np.ndarray | None:
        """Return on an open line where waves are read, (n,); None otherwise.

        Beyond the data's high end they take the first half of the box, beyond the low end the second, both by the
        logarithm of the distance.
        """
        if len(grid.shape) > 1 or self.periods[0] is not None:
            return None
        (axis,), (low, high) = grid.axes, grid.box[0]
        ramps, widths = self._ramps(grid, 0)
        below, above = (
            np.log1p(np.maximum(away, 0.0) / ramp) / np.log1p(width / ramp)
            for away, ramp, width in zip(
                (self.region.low[0] - axis, axis - self.region.high[0]), ramps, widths, strict=True
            )
        )
        share = np.where(below > 0, 1 - APART - (0.5 - APART) * below, APART + (0.5 - APART) * above)
        return low + (high - low) * share


@dataclass(frozen=True)
class Domain:
    """A box with its motion, and what the prior's vector may be in it.

    Attributes
    ----------
    program
        The equation on the grid.
    features
        The latent's waves on the box.
    envelopes
        Where each of the F fields is large.
    gauge
        How amplitudes make fields on the grid, with a leading axis W.
    shortest, longest
        (D,) lengths that the box carries.
    quietest
        Noise variance, in units of the fields', down to which its features suffice.
    room
        Padding, in units of the usual one.
    entry
        Where something comes in from outside; None where nothing does.
    """

    program: Program
    features: Features
    envelopes: tuple[Envelope, ...]
    gauge: Gauge
    shortest: np.ndarray
    longest: np.ndarray
    quietest: float
    room: float
    entry: Entry | None = None

    @property
    def ends(self) -> np.ndarray:
        """Ends of the box, (W, D, 2): the same for every window."""
        count = len(self.gauge.envelope)
        return np.broadcast_to(np.array(self.features.grid.box), (count, len(self.shortest), 2))

    def latent(self, z: np.ndarray) -> Latent:
        """Return amplitudes (W, F·K) as the motion takes them."""
        if self.entry is None:
            return Latent(np.asarray(z), self.gauge, self.ends)
        grid = self.features.grid
        padding = np.broadcast_to(self.entry.padding(grid), (len(z), *grid.shape))
        places = self.entry.places(grid)
        if places is not None:
            places = np.broadcast_to(places, (len(z), *places.shape))
        return Latent(np.asarray(z), self.gauge, self.ends, padding, places)

    def with_nothing_outside(self, z: np.ndarray, stops: int) -> np.ndarray:
        """Return amplitudes (W, F·K) of the state with zeros behind them for what comes in at every stop."""
        return np.pad(z, ((0, 0), (0, rung(stops) * self.program.kicks)))

    def columns(self, stops: int) -> np.ndarray | None:
        """Which feature, counted through the processes of the state and of what comes in, every column is.

        None where nothing comes in: then they are the features of the state in order.
        """
        outside = self.program.outside
        if not outside:
            return None
        count, fields = self.features.count, len(self.program.state)
        inside = Features(self.features.grid, outside).indices
        half = len(self.features.indices)
        where = {tuple(index): n for n, index in enumerate(self.features.indices)}
        own = np.array([where[tuple(index)] for index in inside])
        some = np.concatenate([[0], 1 + own, 1 + half + own])
        kicks = np.concatenate([(fields + f) * count + some for f in range(fields)])
        return np.concatenate([np.arange(fields * count), np.tile(kicks, rung(stops))])

    def finer(self, factor: float) -> Domain:
        """Return the same latent with a motion on a grid that many times finer."""
        features = finer(self.features, factor)
        gauge = _gauge(features, self.envelopes)
        program = Program.of(self.program.equation, features, self.program.outside)
        return replace(self, program=program, features=features, gauge=gauge)

    def carries(self, lengths: np.ndarray, extent: np.ndarray, noise: float) -> bool:
        """Whether lengths (F, D) lie clear of the ends of the range, and the noise above its end.

        Lengths that have come to the data's extent (D,), or to what a driven state may have of it, need no larger box:
        none may be longer.
        """
        dimensions = len(extent)
        near = 0.05 * np.log(ROOM[dimensions])
        most = extent * (1.0 if self.entry is None else DRIVEN)
        below = (np.log(self.longest / lengths) > near) | (self.longest > (1 - 1e-9) * most)
        clear = np.all(np.log(lengths / self.shortest) > near) and np.all(below)
        return bool(clear and (noise > 1.01 * self.quietest or self.quietest <= QUIETEST[dimensions]))


def domain_of(
    windows: Windows,
    prior: Prior,
    envelopes: Sequence[Envelope],
    lengths: np.ndarray,
    noise: float,
    room: float = 1.0,
    outside: int = 0,
) -> Domain:
    """Return a box for a prior with about these lengths (F, D), none beyond the data's extent, and this noise.

    With `outside`, something comes in from the padding at every stop, as so many waves along each side.
    """
    region = windows.region
    dimensions = len(region.extent)
    play = ROOM[dimensions]
    # Longer ones would need so much padding that its grid no longer shows what comes in near the data.
    held = np.minimum(lengths, region.extent * (DRIVEN if outside else 1.0) / play)
    shortest, longest = held.min(axis=0) / play, held.max(axis=0) * play
    # Longer ones need more padding, which a side that repeats does not have.
    longest = np.where([period is not None for period in windows.periods], region.extent, longest)
    noise = noise / max(1.0, float(windows.counts.max()) / ALONE)
    decade = 100.0 ** np.floor(np.log(noise / QUIETER) / np.log(100.0))
    quietest = max(decade, QUIETEST[dimensions])
    beyond = FAR[dimensions] if windows.equation.fractional else 0.0
    features = choose(
        windows.box_region, shortest, longest, prior.reach(SHARE * quietest), beyond, room, windows.periods
    )
    features = finer(features, max(one.steepest(features.grid.box) for one in envelopes))
    entry = Entry.of(windows) if outside else None
    if entry is not None:
        features = finer(features, entry.fineness(features.grid))
    gauge = _gauge(features, envelopes)
    waves = tuple(min(outside, w) for w in features.waves) if outside else ()
    program = Program.of(windows.equation, features, waves)
    return Domain(program, features, tuple(envelopes), gauge, shortest, longest, quietest, room, entry)


def _gauge(features: Features, envelopes: Sequence[Envelope]) -> Gauge:
    """Envelopes (W, F, *shape), and where a coordinate is warped the places (W, F, n), at the grid's points."""
    grid = features.grid
    points = np.stack([axis.ravel() for axis in grid.points()], axis=1)
    size = np.stack([one.at(points, np.array(grid.lengths)) for one in envelopes], axis=1)
    places = None
    if any(one.stretch for one in envelopes):
        places = np.stack([one.warped(points, grid.box)[..., 0] for one in envelopes], axis=1)
    return Gauge(size.reshape(*size.shape[:2], *grid.shape), places)


def choose(
    region: Region,
    shortest: np.ndarray,
    longest: np.ndarray,
    reach: float,
    beyond: float = 0.0,
    room: float = 1.0,
    periods: Sequence[float | None] | None = None,
) -> Features:
    """Return features that carry a prior with lengths between `shortest` and `longest` along each side.

    Numbers of waves are taken from a coarse ladder, so that fits of similar data share their compiled code.

    Parameters
    ----------
    region
        Where the data are.
    shortest, longest
        (D,) bounds of the lengths.
    reach
        ωℓ beyond which the prior's spectrum is nothing.
    beyond
        Further padding in extents of the region, for motions that feel what is far away.
    room
        Factor on the usual padding.
    periods
        After which the fields repeat along each side; such a side of the region is the box's, and has no padding.
    """
    box, waves, shape = [], [], []
    sides = zip(region.low, region.high, shortest, longest, periods or [None] * len(shortest), strict=True)
    for low, high, short, long, period in sides:
        padding = beyond * (high - low) + room * PADDING[len(shortest)] * long
        side = high - low + (padding if period is None else 0.0)
        middle = 0.5 * (low + high)
        box.append((float(middle - side / 2), float(middle + side / 2)))
        count = rung(reach / short * side / (2 * np.pi), WAVES_PER_OCTAVE)
        waves.append(count)
        shape.append(2 * int(next_fast_len(math.ceil(FINER * count) + 1)))
    # Counted, not listed: a list of ten thousand by ten thousand waves would be the end of the memory.
    total = float(np.prod([2.0 * w + 1 for w in waves])) * (math.pi / 4 if len(waves) > 1 else 1.0)
    if total > MOST_FEATURES:
        raise ModelError(
            f"Lengths of {', '.join(f'{s:.3g}' for s in shortest)} over a box of "
            f"{' x '.join(f'{b - a:.3g}' for a, b in box)} would need {total:.3g} waves; the flow model stops at "
            f"{MOST_FEATURES}. Choose a smaller region of the data, or model='midpoint'."
        )
    return Features(Grid(tuple(box), tuple(shape)), tuple(waves))


def finer(features: Features, steepest: float) -> Features:
    """Return features with a motion on a finer grid: so many times where a warped coordinate makes waves shorter."""
    factor = rising(steepest)
    shape = tuple(2 * int(next_fast_len(math.ceil(factor * n / 2))) for n in features.grid.shape)
    return Features(Grid(features.grid.box, shape), features.waves) if factor > 1 else features


def carry_over(
    windows: Windows, prior: Prior, theta: np.ndarray, z: np.ndarray, old: Domain, new: Domain
) -> np.ndarray:
    """Amplitudes (W, F·K') in the new box of the fields that z (W, F·K) are in the old one, around the data.

    What comes in from outside is forgotten; the next round finds it again.
    """
    points = _points(windows, old, new)
    fields = len(windows.state)
    amplitudes = z[:, : old.program.features].reshape(len(z), fields, -1)
    level = np.zeros(len(prior.latents))
    spectrum = np.asarray(prior.spectrum(theta, new.features.omega, new.features.measure, level))
    spectrum = spectrum.reshape(len(prior.latents), -1)
    carried = np.empty((len(z), fields, new.features.count))
    for f, size in enumerate(windows.sizes):
        y = np.einsum("wnk,wk->wn", old.envelopes[f].basis(old.features, points), amplitudes[:, f])
        A = new.envelopes[f].basis(new.features, points)
        data = reduce(A, np.zeros((*y.shape, 0)), y, np.asarray(float(y.size)))
        carried[:, f] = np.asarray(posterior(data, spectrum[f], np.asarray(EXACT * size**2))[0])
    return new.with_nothing_outside(carried.reshape(len(z), -1), windows.times.shape[1])


def _points(windows: Windows, old: Domain, new: Domain) -> np.ndarray:
    """Points of the old grid around the data, inside both boxes."""
    grid = np.stack([axis.ravel() for axis in old.features.grid.points()], axis=1)
    region = windows.region
    low, high = region.low.copy(), region.high.copy()
    for d in range(len(low)):
        (a, b), (c, e) = old.features.grid.box[d], new.features.grid.box[d]
        low[d] = max(low[d] - MARGIN * (low[d] - a), c)
        high[d] = min(high[d] + MARGIN * (b - high[d]), e)
    return grid[np.all((grid >= low) & (grid <= high), axis=1)]
