"""The box around the data, and its waves: chosen from the lengths that the prior has reached; a state carried over.

Halved or doubled, its constants move no answer by a hundredth of its deviation (`benchmarks.constants`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial

import jax.numpy as jnp
import numpy as np

from hiddenphysics.equation import parameter
from hiddenphysics.errors import ModelError
from hiddenphysics.gaussian import posterior, reduce
from hiddenphysics.models.flow.entry import HISTORY, Entry
from hiddenphysics.models.flow.envelope import Envelope
from hiddenphysics.models.flow.path import Latent
from hiddenphysics.models.flow.processes import OUTSIDE, is_fine, levels_of
from hiddenphysics.models.flow.program import Program
from hiddenphysics.models.flow.rungs import WAVES_PER_OCTAVE, rising, rung
from hiddenphysics.models.flow.windows import Region, Windows
from hiddenphysics.priors import Prior
from hiddenphysics.spectral import (
    Driving,
    Features,
    Gauge,
    Grid,
    basis,
    fast_length,
    projection,
    seen_through,
    wave_matrix,
)

ROOM = {1: 1.5, 2: 1.25, 3: 1.15}
"""Lengths may move by this factor up and down before the box is chosen anew, on a line and in a plane."""

PADDING = {1: 6.5, 2: 5.0, 3: 4.0}
"""Padding in lengths, all in all: e^{−6.5²/2} ≈ 1e-9 is left of the correlation around the box's back, e^{−5²/2} ≈ 4e-6
in a plane, where every length of padding costs a row of waves."""

QUIETEST = {1: 1e-12, 2: 1e-8, 3: 1e-6}
"""Smallest noise variance in units of the field's: below it a factorisation has no digits, a plane too many waves."""

FINER = {1: 1.1, 2: 1.25, 3: 1.25}
"""How many more waves the motion has than the latent: steepening makes shorter ones. In a plane, where the latent has
no more waves than the noise lets be seen, the grid's shortest ones are the motion's alone, and tell whether it is fine
enough."""

MOST_FEATURES = 6000
"""Features of one field beyond which the linearised motion no longer fits into memory and patience."""

SHARE = 1e-4
"""Features on a line are left out when their prior variance is below this part of the noise's."""

OMITTED, UNSEEN = 1e-3, 0.1
"""What all features that are left out in a plane have together, in parts of the noise's variance: no more than this,
nor than this part of what the values can tell of that variance. The density of a squared exponential at |ωℓ| = r,
relative to its largest, is what it holds beyond r."""

ALONE = 100
"""Values of a snapshot from which on they tell more of a wave than one value would: the noise counts that much less."""

QUIETER = {1: 30.0, 2: 4.0, 3: 4.0}
"""The noise variance may fall by this factor before more features are needed."""

STEP = 3.0
"""That end of a box's range, in a plane, is a power of this: a noise that moves a little asks for no other box."""

PER_VALUE, ALWAYS = 2.0, 1500
"""Features in a plane for every value, all processes and snapshots together: no values tell more. So many cost little,
and are always allowed."""

FAR = {1: 4.0, 2: 1.0, 3: 1.0}
"""Padding, in extents of the data, for equations with fractional derivatives: these feel what is far away."""

EXACT = 1e-8
"""Noise variance, relative to the field's, with which the new waves are made to follow the old ones."""

DRIVEN = {1: 0.2, 2: 1.0, 3: 1.0}
"""Largest length of a state that is driven, in extents of the data, on a line and in a plane. On a line what comes in
explains most of it, so that a length is free to be anything: on the ice it ran to the whole extent, the box to seven of
them, and its grid to 0.3 m."""

MOST_CARRIED = 2000
"""Values of fields that are tied together, and so carried over all at once: a covariance of them takes a second."""

MARGIN = 0.25
"""Part of the old padding, on each side, whose values are carried over."""


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
        Where each of the R processes is large.
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
    inputs
        Grid -> the known inputs of every window on it; None where the equation has none.
    full
        Whether it has as many waves as the values could tell, and the noise would let more be seen.
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
    inputs: Callable[[Grid], Driving] | None = None
    full: bool = False

    @property
    def ends(self) -> np.ndarray:
        """Ends of the box, (W, D, 2): the same for every window."""
        count = len(self.gauge.envelope)
        return np.broadcast_to(np.array(self.features.grid.box), (count, len(self.shortest), 2))

    @cached_property
    def driving(self) -> Driving | None:
        """The known inputs on this box's grid, with a leading axis W."""
        return None if self.inputs is None else self.inputs(self.features.grid)

    def latent(self, z: np.ndarray) -> Latent:
        """Return amplitudes (W, F·K) as the motion takes them."""
        if self.entry is None:
            return Latent(np.asarray(z), self.gauge, self.ends, driving=self.driving)
        grid = self.features.grid
        padding = np.broadcast_to(self.entry.padding(grid), (len(z), *grid.shape))
        places = self.entry.places(grid)
        if places is not None:
            places = np.broadcast_to(places, (len(z), *places.shape))
        history = self.entry.before(grid, *grid.axes) if self.program.history else None
        if history is not None:
            history = np.broadcast_to(history, (len(z), *history.shape))
        return Latent(np.asarray(z), self.gauge, self.ends, padding, places, self.driving, history)

    def columns(self, stops: int) -> np.ndarray | None:
        """Which feature, counted through the processes of the state and of what comes in, every column is.

        None where nothing comes in: then they are the features of the state in order.
        """
        program, count = self.program, self.features.count
        every = [self.state_columns]
        if program.outside:
            inside = Features(self.features.grid, program.outside).indices
            half = len(self.features.indices)
            where = {tuple(index): n for n, index in enumerate(self.features.indices)}
            own = np.array([where[tuple(index)] for index in inside])
            some = np.concatenate([[0], 1 + own, 1 + half + own])[list(program.entering)]
            at = {row: g for g, group in enumerate(program.groups) for row in group.rows}
            kicks = [(len(program.groups) + at[row]) * count + some for row in range(len(program.state))]
            every += kicks * program.blocks(rung(stops))
        columns = np.concatenate(every)
        return None if np.array_equal(columns, np.arange(len(columns))) else columns

    @property
    def state_columns(self) -> np.ndarray:
        """Which feature, counted through all processes, every column of the state alone is."""
        program, count = self.program, self.features.count
        blocks = len(program.groups) * (2 if program.outside else 1)
        of = [g for g, group in enumerate(program.groups) for _ in range(group.free)]
        every = [block * count + np.arange(count) for block in of]
        return np.concatenate([*every, blocks * count + np.arange(program.means)])

    # ---- amplitudes of processes, and of fields --------------------

    @property
    def field_envelopes(self) -> tuple[Envelope, ...]:
        """Where each of the F fields of the state is large; of fields that are tied together their process tells it."""
        first = np.cumsum([0, *(group.free for group in self.program.groups)])
        flat = Envelope.flat(len(self.gauge.envelope), len(self.shortest))
        own = {
            row: self.envelopes[first[g]] if group.free == len(group.rows) else flat
            for g, group in enumerate(self.program.groups)
            for row in group.rows
        }
        return tuple(own[row] for row in range(len(self.program.state)))

    def begun(self, fields: np.ndarray, parameters: np.ndarray, stops: int) -> np.ndarray:
        """Return amplitudes of the processes that make fields' amplitudes (W, F, K), and nothing from outside."""
        z = fields.reshape(len(fields), -1)
        if self.program.means:
            modes = np.stack([np.asarray(self.features.modes_of(jnp.asarray(one))) for one in fields])
            made = np.einsum("fr...,wf...->wr...", np.conj(self._basis(parameters)), modes)
            z = self._without_envelope(made).reshape(len(fields), -1)
            z = np.concatenate([z, fields[:, self._further_means, 0]], axis=1)
        return np.pad(z, ((0, 0), (0, self.program.blocks(rung(stops)) * self.program.kicks)))

    @property
    def _further_means(self) -> list[int]:
        """Rows of the fields whose means no process has."""
        return [row for group in self.program.groups for row in group.rows[group.free :]]

    def begun_tied(self, z: np.ndarray, stops: int) -> np.ndarray:
        """Return amplitudes of processes that with their envelopes are z (W, R·K + means), and nothing from outside."""
        split = self.program.features - self.program.means
        each = z[:, :split].reshape(len(z), self.program.processes, -1)
        made = np.stack([np.asarray(self.features.modes_of(jnp.asarray(one))) for one in each])
        own = self._without_envelope(made).reshape(len(z), -1)
        more = self.program.blocks(rung(stops)) * self.program.kicks
        return np.pad(np.concatenate([own, z[:, split:]], axis=1), ((0, 0), (0, more)))

    def tied_rows(self, points: np.ndarray, parameters: np.ndarray) -> np.ndarray:
        """Values (F, N, R·K + means) at points of the fields that each feature of a process makes, without envelopes.

        A process Re Σ (a − i b) e^{iθ} makes a field Re Σ β (a − i b) e^{iθ}, β its entry in the basis.
        """
        program, half = self.program, len(self.features.indices)
        shape = self.features.grid.modes_shape
        at = np.ravel_multi_index(
            tuple((self.features.indices % np.array(self.features.grid.shape)).T), shape
        )
        every = self._basis(parameters).reshape(len(program.state), program.processes, -1)
        own, mean = every[..., at], every[..., 0].real
        waves = self.features.at(points)
        cos, sin = waves[:, 1 : half + 1], waves[:, half + 1 :]
        made = np.zeros((len(program.state), len(points), program.features))
        for f, r in np.ndindex(*own.shape[:2]):
            first, beta = r * self.features.count, own[f, r]
            made[f, :, first] = mean[f, r]
            made[f, :, first + 1 : first + 1 + half] = beta.real * cos - beta.imag * sin
            made[f, :, first + 1 + half : first + 1 + 2 * half] = beta.real * sin + beta.imag * cos
        for n, row in enumerate(self._further_means):
            made[row, :, program.features - program.means + n] = 1.0
        return made

    def _without_envelope(self, made: np.ndarray) -> np.ndarray:
        """Return amplitudes (W, R, K) of processes g(x) w + level whose modes are (W, R, *modes); w has no mean."""
        grid, envelope = self.features.grid, np.asarray(self.gauge.envelope)
        sides = tuple(range(-len(self.shortest), 0))
        fields = np.fft.irfftn(made, s=grid.shape, axes=sides, norm="forward")
        level = np.mean(fields / envelope, axis=sides) / np.mean(1.0 / envelope, axis=sides)
        divided = (fields - level.reshape(*level.shape, *(1 for _ in sides))) / envelope
        modes = np.fft.rfftn(divided, axes=sides, norm="forward") * grid.kept
        amplitudes = self.features.amplitudes(modes)
        amplitudes[..., 0] = level
        return amplitudes

    def field_amplitudes(self, z: np.ndarray, parameters: np.ndarray) -> np.ndarray:
        """Return the fields' amplitudes (W, F, K) of states (W, …): the inverse of `begun`."""
        program, count = self.program, self.features.count
        if not program.means:
            return z[:, : program.processes * count].reshape(len(z), program.processes, count)
        return self.features.amplitudes(self._tied_modes(z, parameters))

    def _tied_modes(self, z: np.ndarray, parameters: np.ndarray) -> np.ndarray:
        """Modes (W, F, *modes) of fields, some of them tied together, of states (W, …): those of `Program.state_of`."""
        motion, features = self.program.on(self.features.grid.box)
        made = [
            self.program.state_of(motion, features, Gauge(envelope, None))(
                jnp.asarray(one[: self.program.features]), parameters
            )
            for one, envelope in zip(z, self.gauge.envelope, strict=True)
        ]
        return np.stack([np.asarray(one) for one in made])

    def values_at(self, z: np.ndarray, parameters: np.ndarray, points: np.ndarray) -> np.ndarray:
        """Values (W, F, N) of the fields of states (W, …) at points (N, D)."""
        if self.program.means:
            waves = np.asarray(wave_matrix(self.features.grid, points, np))
            modes = self._tied_modes(z, parameters)
            return np.stack([seen_through(waves, self.features.grid, one, None, np) for one in modes])
        amplitudes = self.field_amplitudes(z, parameters)
        bases = [envelope.basis(self.features, points) for envelope in self.field_envelopes]
        each = [np.einsum("wnk,wk->wn", basis, amplitudes[:, f]) for f, basis in enumerate(bases)]
        values = np.stack(each, axis=1)
        if self.entry is None or not self.program.history:
            return values
        shapes = self.entry.before(self.features.grid, points[:, 0])
        own = z[:, -self.program.history * self.program.kicks :].reshape(len(z), len(shapes), -1, 2)
        return values + np.einsum("whfe,hen->wfn", own, shapes)

    def remembering(self) -> Domain:
        """Return the same box with what had come in before the first stop beside the first state."""
        return replace(self, program=replace(self.program, history=HISTORY))

    def _basis(self, parameters: np.ndarray) -> np.ndarray:
        """(F, R, *modes) how processes make fields; see `basis`."""
        equation, grid = self.program.equation, self.features.grid
        numbers = {parameter(p): v for p, v in zip(equation.parameters, parameters, strict=True)}
        constraints = equation.system.constraints
        through = projection(constraints, grid.wavenumbers, numbers, grid.modes_shape, np)
        return np.asarray(basis(through, self.program.groups, np)) * grid.kept

    def finer(self, factor: float) -> Domain:
        """Return the same latent with a motion on a grid that many times finer."""
        features = finer(self.features, factor)
        gauge = _gauge(features, self.envelopes)
        program = Program.of(self.program.equation, features, self.program.outside, self.program.history)
        return replace(self, program=program, features=features, gauge=gauge)

    def carries(
        self, prior: Prior, lengths: np.ndarray, relative: np.ndarray, windows: Windows, noise: float
    ) -> bool:
        """Whether lengths (L, D) lie clear of the ends of the range, and the noise above its end.

        Lengths that have come to the data's extent (D,), or to what a driven state may have of it, need no larger box:
        none may be longer. In a plane lengths may be short where there is little of them, `relative` (L,): what counts
        are the waves that the noise lets be seen.
        """
        extent = windows.region.extent
        dimensions = len(extent)
        near = 0.05 * np.log(ROOM[dimensions])
        most = extent * (1.0 if self.entry is None else DRIVEN[dimensions])
        below = (np.log(self.longest / lengths) > near) | (self.longest > (1 - 1e-9) * most)
        if dimensions == 1:
            above = np.log(lengths / self.shortest) > near
            if self.entry is not None and self.program.history:
                above = above | (self.shortest < (1 + 1e-9) * self.entry.shortest)
            clear = np.all(above) and np.all(below)
        else:
            needed = highest_waves(prior, lengths, relative, _least(noise, windows, dimensions)[1])
            carried = 2 * np.pi * np.array(self.features.waves) / np.array(self.features.grid.lengths)
            clear = (self.full or np.all(needed < carried)) and np.all(below)
        return bool(clear and (noise > 1.01 * self.quietest or self.quietest <= QUIETEST[dimensions]))


def domain_of(
    windows: Windows,
    prior: Prior,
    envelopes: Sequence[Envelope],
    lengths: np.ndarray,
    noise: float,
    room: float = 1.0,
    outside: int = 0,
    relative: np.ndarray | None = None,
    history: int = 0,
) -> Domain:
    """Return a box for a prior with about these lengths (L, D), none beyond the data's extent, and this noise.

    With `outside`, something comes in from the padding at every stop, as so many waves along each side; and with
    `history`, had come in before the first stop, in so many shapes at each end. `relative` (L,) are the latents'
    variances in units of what they are processes of; 1 by default.
    """
    region = windows.region
    dimensions = len(region.extent)
    play = ROOM[dimensions]
    # Longer ones would need so much padding that its grid no longer shows what comes in near the data.
    held = np.minimum(lengths, region.extent * (DRIVEN[dimensions] if outside else 1.0) / play)
    entry = Entry.of(windows) if outside else None
    if entry is not None and history:
        held = np.maximum(held, play * entry.shortest)
    shortest, longest = held.min(axis=0) / play, held.max(axis=0) * play
    # Longer ones need more padding, which a side that repeats does not have.
    longest = np.where([period is not None for period in windows.periods], region.extent, longest)
    quietest, nothing = _least(noise, windows, dimensions)
    beyond = FAR[dimensions] if windows.equation.fractional else 0.0
    reach, around, finest = prior.reach(nothing), longest, shortest
    if dimensions > 1:
        relative = np.ones(len(held)) if relative is None else relative
        finest = reach / (play * highest_waves(prior, held, relative, nothing))
    if is_fine(prior).any():
        # A stream that fills the data's region needs no padding of its own size: what it does beyond is not seen.
        own = np.max(held[is_fine(prior)], axis=0) * play
        around = np.minimum(longest, np.maximum(own, region.extent.min() / PADDING[dimensions]))
        longest = region.extent
    most = max(PER_VALUE * windows.count, ALWAYS) / len(envelopes) if dimensions > 1 else np.inf
    features = choose(windows.box_region, finest, around, reach, beyond, room, windows.periods, most)
    if windows.walls is not None:
        features = replace(features, mirror=windows.walls.mirror)
    full = bool(
        np.any(np.array(features.waves) < reach / finest * np.array(features.grid.lengths) / (2 * np.pi) - 1)
    )
    steepest = max(one.steepest(features.grid.box) for one in envelopes)
    features = finer(features, max(steepest, windows.inputs.finer(features.grid) if windows.inputs else 1.0))
    if entry is not None:
        features = finer(features, entry.fineness(features.grid))
    gauge = _gauge(features, envelopes)
    waves = tuple(min(outside, w) for w in features.waves) if outside else ()
    program = Program.of(windows.equation, features, waves, history)
    inputs = partial(windows.inputs.driving, windows) if windows.inputs else None
    return Domain(
        program, features, tuple(envelopes), gauge, shortest, longest, quietest, room, entry, inputs, full
    )


def highest_waves(prior: Prior, lengths: np.ndarray, relative: np.ndarray, nothing: float) -> np.ndarray:
    """(D,) wavenumbers beyond which no process of the state has more than `nothing` of its variance left.

    Of lengths (L, D) and variances (L,), in units of what the latents are processes of. What comes from outside has its
    own few waves.
    """
    reaches = [
        0.0 if name.endswith(OUTSIDE) else prior.reach_of(name, nothing / max(size, nothing))
        for (name, _), size in zip(prior.latents, relative, strict=True)
    ]
    return np.max(np.array(reaches)[:, None] / lengths, axis=0)


def _least(noise: float, windows: Windows, dimensions: int) -> tuple[float, float]:
    """Return down to which noise features suffice, and the density, relative to the largest, that is left out."""
    if dimensions == 1:
        noise = noise / max(1.0, float(windows.counts.max()) / ALONE)
        decade = 100.0 ** np.floor(np.log(noise / QUIETER[1]) / np.log(100.0))
        quietest = max(decade, QUIETEST[1])
        return quietest, SHARE * quietest
    steps = np.floor(np.log(noise / QUIETER[dimensions]) / np.log(STEP))
    quietest = max(float(STEP**steps), QUIETEST[dimensions])
    return quietest, quietest * min(OMITTED, UNSEEN / np.sqrt(2 * windows.count))


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
    most: float = np.inf,
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
    most
        Features, about: with more, the highest waves are left out along all sides alike.
    """
    box: list[tuple[float, float]] = []
    wanted: list[float] = []
    sides = zip(region.low, region.high, shortest, longest, periods or [None] * len(shortest), strict=True)
    for low, high, short, long, period in sides:
        padding = beyond * (high - low) + room * PADDING[len(shortest)] * long
        side = high - low + (padding if period is None else 0.0)
        middle = 0.5 * (low + high)
        box.append((float(middle - side / 2), float(middle + side / 2)))
        wanted.append(reach / short * side / (2 * np.pi))
    share = min(1.0, (most / _count(wanted)) ** (1.0 / len(wanted)))
    waves = [rung(share * w, WAVES_PER_OCTAVE[len(wanted)]) for w in wanted]
    shape = [2 * fast_length(math.ceil(FINER[len(wanted)] * w) + 1) for w in waves]
    total = _count(waves)
    if total > MOST_FEATURES:
        raise ModelError(
            f"Lengths of {', '.join(f'{s:.3g}' for s in shortest)} over a box of "
            f"{' x '.join(f'{b - a:.3g}' for a, b in box)} would need {total:.3g} waves; the flow model stops at "
            f"{MOST_FEATURES}. Choose a smaller region of the data, or model='midpoint'."
        )
    return Features(Grid(tuple(box), tuple(shape)), tuple(waves))


def _count(waves: Sequence[float]) -> float:
    """Features of one process, counted, not listed: ten thousand by ten thousand waves would be all of the memory."""
    ellipsoid = {1: 1.0, 2: math.pi / 4, 3: math.pi / 6}[len(waves)]
    return float(np.prod([2.0 * w + 1 for w in waves])) * ellipsoid


def finer(features: Features, steepest: float) -> Features:
    """Return features with a motion on a finer grid: so many times where a warped coordinate makes waves shorter."""
    factor = rising(steepest)
    shape = tuple(2 * fast_length(math.ceil(factor * n / 2)) for n in features.grid.shape)
    return replace(features, grid=Grid(features.grid.box, shape)) if factor > 1 else features


def carry_over(
    windows: Windows,
    prior: Prior,
    theta: np.ndarray,
    z: np.ndarray,
    parameters: np.ndarray,
    old: Domain,
    new: Domain,
) -> np.ndarray:
    """Amplitudes (W, …) in the new box of the fields that z (W, …) are in the old one, around the data.

    What comes in from outside is forgotten; the next round finds it again.
    """
    points = _points(windows, old, new)
    if old.program.means:
        return _carry_tied(windows, prior, theta, z, parameters, old, new, points)
    fields = len(windows.state)
    values = old.values_at(z, parameters, points)
    level = np.zeros(len(prior.blocks))
    spectrum = np.asarray(prior.spectrum(theta, new.features.omega, new.features.measure, level))
    spectrum = spectrum[: len(prior.blocks) * new.features.count].reshape(len(prior.blocks), -1)
    block = {row: g for g, group in enumerate(new.program.groups) for row in group.rows}
    carried = np.empty((len(z), fields, new.features.count))
    for f, size in enumerate(windows.sizes):
        A, y = new.field_envelopes[f].basis(new.features, points), values[:, f]
        data = reduce(A, np.zeros((*y.shape, 0)), y, np.asarray(float(y.size)))
        carried[:, f] = np.asarray(posterior(data, spectrum[block[f]], np.asarray(EXACT * size**2))[0])
    return new.begun(carried, parameters, windows.times.shape[1])


def _carry_tied(
    windows: Windows,
    prior: Prior,
    theta: np.ndarray,
    z: np.ndarray,
    parameters: np.ndarray,
    old: Domain,
    new: Domain,
    points: np.ndarray,
) -> np.ndarray:
    """Carry over fields that are tied together, all at once: each by itself they would not be tied in the new padding.

    What a projection takes away there it takes away around the data, too: clean values of the wake were left 0.027 of
    their size off, ten times as far as before (18 November 2026).
    """
    most = MOST_CARRIED // len(windows.state)
    if len(points) > most:
        points = points[np.sort(np.random.default_rng(0).choice(len(points), most, replace=False))]
    sizes = windows.sizes[:, None]
    A = new.tied_rows(points, parameters)
    A = (A / sizes[..., None]).reshape(-1, A.shape[-1])
    y = (old.values_at(z, parameters, points) / sizes).reshape(len(z), -1)
    spectrum = np.asarray(
        prior.spectrum(theta, new.features.omega, new.features.measure, levels_of(prior, windows))
    )[new.state_columns]
    each = np.broadcast_to(A, (len(z), *A.shape))
    data = reduce(each, np.zeros((*y.shape, 0)), y, np.asarray(float(y.size)))
    made = np.asarray(posterior(data, spectrum, np.asarray(EXACT))[0])
    return new.begun_tied(made, windows.times.shape[1])


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
