"""Where the rounds begin: smoothed snapshots, a box that resolves them, and regressed parameters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np

from hiddenphysics.errors import ModelError
from hiddenphysics.flow.box import LEAST_NOISE, ROOM, choose, finer
from hiddenphysics.flow.envelope import Envelope
from hiddenphysics.flow.features import Features, Gauge
from hiddenphysics.flow.motion import Latent, Motion
from hiddenphysics.flow.noises import with_common_noise
from hiddenphysics.flow.prior import Prior
from hiddenphysics.flow.regression import regress
from hiddenphysics.flow.smooth import KERNELS, Smoothed, smooth, states
from hiddenphysics.flow.task import Task, primitive
from hiddenphysics.kernels import Kernel

SHARE = 1e-4
"""Features are left out when their prior variance is below this part of the noise's."""

QUIETER = 30.0
"""The noise variance may fall by this factor before more features are needed."""

FAR = {1: 4.0, 2: 1.0}
"""Padding, in extents of the data, for equations with fractional derivatives: these feel what is far away."""


MORE_ROOM = 2.0
"""How much more padding a box gets when the search in the usual one ends badly."""


@dataclass(frozen=True)
class Setting:
    """A box with its motion, and what the prior's vector may be in it.

    Attributes
    ----------
    motion
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
    """

    motion: Motion
    features: Features
    envelopes: tuple[Envelope, ...]
    gauge: Gauge
    shortest: np.ndarray
    longest: np.ndarray
    quietest: float
    room: float

    @property
    def ends(self) -> np.ndarray:
        """Ends of the box, (W, D, 2): the same for every window."""
        windows = len(self.gauge.envelope)
        return np.broadcast_to(np.array(self.features.grid.box), (windows, len(self.shortest), 2))

    def latent(self, z: np.ndarray) -> Latent:
        """Return amplitudes (W, F·K) as the motion takes them."""
        return jax.tree.map(jnp.asarray, Latent(z, self.gauge, self.ends))

    def carries(self, lengths: np.ndarray, extent: np.ndarray, noise: float) -> bool:
        """Whether lengths (F, D) lie clear of the ends of the range, and the noise above its end.

        Lengths that have come to the data's extent (D,) need no larger box: none may be longer.
        """
        dimensions = len(extent)
        near = 0.05 * np.log(ROOM[dimensions])
        below = (np.log(self.longest / lengths) > near) | (self.longest > (1 - 1e-9) * extent)
        clear = np.all(np.log(lengths / self.shortest) > near) and np.all(below)
        return bool(clear and (noise > 1.01 * self.quietest or self.quietest <= LEAST_NOISE[dimensions]))


@dataclass(frozen=True)
class Start:
    """Where the rounds begin.

    Attributes
    ----------
    task
        The data, in units in which all fields have the same noise.
    prior, theta
        The prior and its vector.
    setting
        The box.
    z
        States (W, F, K) at the first stop of each window.
    parameters, scale
        (P,) regressed parameters, and their natural scales.
    smoothed
        Each measured field by itself.
    """

    task: Task
    prior: Prior
    setting: Setting
    z: np.ndarray
    parameters: np.ndarray
    scale: np.ndarray
    theta: np.ndarray
    smoothed: tuple[Smoothed, ...]


def setting_of(
    task: Task,
    prior: Prior,
    envelopes: Sequence[Envelope],
    lengths: np.ndarray,
    noise: float,
    room: float = 1.0,
) -> Setting:
    """Return a box for a prior with about these lengths (F, D), none beyond the data's extent, and this noise."""
    region = task.region
    dimensions = len(region.extent)
    play = ROOM[dimensions]
    held = np.minimum(lengths, region.extent / play)
    shortest, longest = held.min(axis=0) / play, held.max(axis=0) * play
    decade = 100.0 ** np.floor(np.log(noise / QUIETER) / np.log(100.0))
    quietest = max(decade, LEAST_NOISE[dimensions])
    beyond = FAR[dimensions] if task.equation.fractional else 0.0
    features = choose(region, shortest, longest, prior.reach(SHARE * quietest), beyond, room)
    features = finer(features, max(one.steepest(features.grid.box) for one in envelopes))
    gauge = _gauge(features, envelopes)
    motion = Motion.of(task.equation, features)
    return Setting(motion, features, tuple(envelopes), gauge, shortest, longest, quietest, room)


def _gauge(features: Features, envelopes: Sequence[Envelope]) -> Gauge:
    """Envelopes (W, F, *shape), and where a coordinate is warped the places (W, F, n), at the grid's points."""
    grid = features.grid
    points = np.stack([axis.ravel() for axis in grid.points()], axis=1)
    size = np.stack([one.at(points, np.array(grid.lengths)) for one in envelopes], axis=1)
    places = None
    if any(one.stretch for one in envelopes):
        places = np.stack([one.warped(points, grid.box)[..., 0] for one in envelopes], axis=1)
    return Gauge(size.reshape(*size.shape[:2], *grid.shape), places)


def start_of(task: Task, kernels: Mapping[str, Kernel]) -> Start:
    """Smooth every measured field, choose the box, and regress; kernels that were not given are chosen by evidence."""
    smoothed = []
    for row, field in enumerate(task.measured):
        given = kernels.get(task.state[field])
        smoothed.append(smooth(task, row, KERNELS[task.points.shape[-1]] if given is None else (given,)))
    task, smoothed = with_common_noise(task, smoothed)
    prior, theta = _joined(task, smoothed, kernels)
    envelopes = [smoothed[task.measured.index(_root(task, row))].envelope for row in range(len(task.state))]
    setting = setting_of(task, prior, envelopes, prior.lengths(theta), task.quiet + float(np.exp(theta[-1])))
    return _begun(setting, task, prior, theta, smoothed)


def _begun(setting: Setting, task: Task, prior: Prior, theta: np.ndarray, smoothed: list[Smoothed]) -> Start:
    """Return the start in a box: states of the smoothed snapshots, and the parameters that these suggest."""
    every = states_of(task, smoothed, setting.features)
    parameters, scale = regress(setting.motion, setting.features, task, every, setting.gauge)
    return Start(task, prior, setting, every[:, 0], parameters, scale, theta, tuple(smoothed))


def widened(start: Start) -> Start | None:
    """Return the start in a box with more room around the data, None where that would be too large.

    What comes in from outside, and what is still outside, must both have their place between the data's two ends.
    """
    old, noise = start.setting, start.task.quiet + float(np.exp(start.theta[-1]))
    try:
        new = setting_of(
            start.task,
            start.prior,
            old.envelopes,
            start.prior.lengths(start.theta),
            noise,
            MORE_ROOM * old.room,
        )
    except ModelError:
        return None
    return _begun(new, start.task, start.prior, start.theta, list(start.smoothed))


def states_of(task: Task, smoothed: list[Smoothed], features: Features) -> np.ndarray:
    """Smoothed states (W, T, F, K) of all fields at all stops; time derivatives without data by differences."""
    every = np.zeros((*task.windows.shape, len(task.state), features.count))
    for row, field in enumerate(task.measured):
        every[:, :, field] = states(task, row, smoothed[row], features)
    for field, of in _rates(task).items():
        for w, times in enumerate(task.windows):
            every[w, :, field] = _time_derivative(every[w, :, of], times)
    return every


def _time_derivative(values: np.ndarray, times: np.ndarray) -> np.ndarray:
    """Differentiate values (T, …) in time, of second order where there are three times."""
    count = 1 + int(np.count_nonzero(np.diff(times)))
    found = np.zeros_like(values)
    if count > 2:
        found[:count] = np.gradient(values[:count], times[:count], axis=0, edge_order=2)
    else:
        found[:count] = np.gradient(values[:count], times[:count], axis=0)
    return found


def _rates(task: Task) -> dict[int, int]:
    """Fields of the state without data, `u_t`, and the rows of those whose time derivatives they are, `u`."""
    absent = [row for row in range(len(task.state)) if row not in task.measured]
    return {row: task.state.index(primitive(task.state[row])) for row in absent}


def _root(task: Task, row: int) -> int:
    while row not in task.measured:
        row = _rates(task)[row]
    return row


def _joined(task: Task, smoothed: list[Smoothed], kernels: Mapping[str, Kernel]) -> tuple[Prior, np.ndarray]:
    """Put the fields' priors together; a time derivative takes its field's, with its own size."""
    by_field = dict(zip(task.measured, smoothed, strict=True))
    numbers: list[np.ndarray] = []
    latents: list[tuple[str, Kernel]] = []
    for row, name in enumerate(task.state):
        one = by_field[row if row in by_field else _root(task, row)]
        latents.append((name, kernels.get(name, one.kernel)))
        numbers.append(one.theta[:-1] + np.append(2 * np.log(task.sizes[row]), np.zeros(one.theta.size - 2)))
    noise = np.log(np.mean([np.exp(one.theta[-1]) for one in smoothed]))
    return Prior(tuple(latents), task.equation.coordinates), np.append(np.concatenate(numbers), noise)
