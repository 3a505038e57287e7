"""A box with its motion, and what the prior's vector may be in it; chosen from the lengths that the prior has reached.

Halved or doubled, its constants move no answer by a hundredth of its deviation (`benchmarks.constants`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial

import jax.numpy as jnp
import numpy as np

from hiddenphysics.equation import parameter
from hiddenphysics.models.flow.box import PADDING, QUIETEST, choose, faintest, finer, highest_waves
from hiddenphysics.models.flow.entry import HISTORY, Entry
from hiddenphysics.models.flow.envelope import Envelope
from hiddenphysics.models.flow.latent import Latent
from hiddenphysics.models.flow.moved_fields import fastest_growth
from hiddenphysics.models.flow.path import MOST_GROWTH
from hiddenphysics.models.flow.processes import is_fine
from hiddenphysics.models.flow.program import Program
from hiddenphysics.models.flow.rungs import rung
from hiddenphysics.models.flow.windows import Windows
from hiddenphysics.priors import Prior
from hiddenphysics.spectral import (
    Driving,
    Features,
    Gauge,
    Grid,
    basis,
    projection,
    seen_through,
    wave_matrix,
)

ROOM = {1: 1.5, 2: 1.25, 3: 1.15}
"""Lengths may move by this factor up and down before the box is chosen anew, on a line and in a plane."""

PER_VALUE, ALWAYS = 2.0, 1500
"""Features in a plane for every value, all processes and snapshots together: no values tell more. So many cost little,
and are always allowed."""

FAR = {1: 4.0, 2: 1.0, 3: 1.0}
"""Padding, in extents of the data, for equations with fractional derivatives: these feel what is far away."""

DRIVEN = {1: 0.2, 2: 1.0, 3: 1.0}
"""Largest length of a state that is driven, in extents of the data, on a line and in a plane. On a line what comes in
explains most of it, so that a length is free to be anything: on the ice it ran to the whole extent, the box to seven of
them, and its grid to 0.3 m."""


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
            needed = highest_waves(prior, lengths, relative, faintest(noise, windows, dimensions)[1])
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
    quietest, nothing = faintest(noise, windows, dimensions)
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


def _gauge(features: Features, envelopes: Sequence[Envelope]) -> Gauge:
    """Envelopes (W, F, *shape), and where a coordinate is warped the places (W, F, n), at the grid's points."""
    grid = features.grid
    points = np.stack([axis.ravel() for axis in grid.points()], axis=1)
    size = np.stack([one.at(points, np.array(grid.lengths)) for one in envelopes], axis=1)
    places = None
    if any(one.stretch for one in envelopes):
        places = np.stack([one.warped(points, grid.box)[..., 0] for one in envelopes], axis=1)
    return Gauge(size.reshape(*size.shape[:2], *grid.shape), places)


def grows(domain: Domain, windows: Windows, parameters: np.ndarray, finer: float) -> bool:
    """Whether some wave, on a grid so much finer than the motion's, would grow by more than the motion lets happen."""
    if windows.equation.system.coupled:
        return False
    grid = domain.features.grid
    shape = tuple(max(n, 2 * round(0.5 * finer * n)) for n in grid.shape)
    program = Program.of(windows.equation, replace(domain.features, grid=replace(grid, shape=shape)))
    rate = float(fastest_growth(program, np.array(grid.box), np.asarray(parameters)))
    return rate * windows.span > MOST_GROWTH
