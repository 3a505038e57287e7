"""What is known of recordings before the flow is asked: some snapshots smoothed, and the parameters guessed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from hiddenphysics.equation import Equation
from hiddenphysics.gaussian import covariance_of
from hiddenphysics.learning import Guess, Progress, WeakGuess, weak_guess
from hiddenphysics.models.edges import NOTHING_SAID, Edges
from hiddenphysics.models.flow.beginning import beginning_of, joined, vector_of
from hiddenphysics.models.flow.border import with_first_sizes, with_groups
from hiddenphysics.models.flow.entry import waves_of
from hiddenphysics.models.flow.grids import GridRecording, common_periods
from hiddenphysics.models.flow.inputs import Inputs
from hiddenphysics.models.flow.processes import has_outside, with_outside
from hiddenphysics.models.flow.program import entering
from hiddenphysics.models.flow.smoothed import KERNELS, Smoothed, smooth, with_common_noise
from hiddenphysics.models.flow.windows import Windows, gathered, whole
from hiddenphysics.models.sensors import Sensors
from hiddenphysics.priors import Kernel, Prior
from hiddenphysics.snapshots import Experiments, Snapshots

SMOOTHED_STOPS, SMOOTHED_POINTS, SMOOTHED_VALUES = 4, 256, 1024
"""Snapshots, at least, and points of each, at most, that tell the prior's first lengths and the noise; more snapshots
where these are so small that there would be fewer values. Of 256 values of a chaotic field two noises in eight were
found more than 1.3 times too small."""

MOST_COLUMNS, MOST_LINEAR = 400, 300
"""Columns of what comes into a window, and where the motion is linear and costs no transforms. A factorisation takes
the cube of them, and what a cut forgets is one first state: 240 of them, 30 days of glacier ice, take a second a
round."""

PAIRS = 4
"""Neighbouring snapshots that a first guess is regressed on where there is no weak form."""

CLEAR = 10.0
"""Snapshots tell the parameters when they differ by so many deviations of the noise."""

SHORTEST_WINDOW = 4
"""Stops that a window may always have, however much comes in."""


@dataclass(frozen=True)
class Outset:
    """What is known of recordings before the flow is asked.

    Attributes
    ----------
    windows
        The recordings, each whole, in one window.
    smoothed
        Every measured field, in a few snapshots.
    prior, theta
        The prior and its vector.
    guess, covariance
        Of the parameters; the covariance (P, P) is None where the guess comes from smoothed snapshots.
    """

    windows: Windows
    smoothed: list[Smoothed]
    prior: Prior
    theta: np.ndarray
    guess: Guess
    covariance: np.ndarray | None

    @property
    def names(self) -> tuple[str, ...]:
        """Of the parameters."""
        return self.windows.equation.parameters

    @property
    def parameters(self) -> np.ndarray:
        """(P,) guessed parameters."""
        return vector_of(self.windows.equation, self.guess.estimate, 0.0)

    def scale_at(self, parameters: np.ndarray) -> np.ndarray:
        """(P,) natural sizes of the parameters, at an estimate."""
        named = dict(zip(self.names, parameters.tolist(), strict=True))
        return vector_of(self.windows.equation, self.guess.scale_at(named), np.inf)

    @property
    def sized(self) -> Outset:
        """The same with first sizes of unknown functions, from the guess."""
        scale = self.scale_at(self.parameters)
        return replace(self, theta=with_first_sizes(self.prior, self.theta, self.windows, scale))

    @property
    def outside(self) -> int:
        """Waves of what comes in from outside at every stop, 0 where the fields repeat along every side."""
        return waves_of(self.windows.equation) if has_outside(self.prior) else 0

    @property
    def longest(self) -> int:
        """Stops that a window may have: what comes in at each of them is unknown, and followed to its end."""
        if not self.outside:
            return self.windows.times.shape[1]
        system = self.windows.equation.system
        linear = all(rest == 0 for rest in system.rest)
        each = len(system.state) * len(
            entering(self.windows.equation, (self.outside,) * len(self.windows.equation.coordinates))
        )
        return max((MOST_LINEAR if linear else MOST_COLUMNS) // each, SHORTEST_WINDOW)

    @property
    def noise(self) -> float:
        """Variance of the noise, in units of the fields'."""
        return self.windows.quiet + float(np.exp(self.theta[-1]))


def outset_of(
    equation: Equation,
    experiments: Experiments,
    kernels: Mapping[str, Kernel],
    say: Progress,
    inputs: Inputs | None = None,
    sensors: Sensors | None = None,
    edges: Edges = NOTHING_SAID,
) -> Outset:
    """Smooth a few snapshots for the prior, and guess the parameters from all of them."""
    say("looking at the recording")
    grids = [GridRecording.of(run) for run in experiments]
    periods = None if edges.walls else common_periods(grids)
    say("smoothing some snapshots")
    windows = gathered(equation, _some(experiments), periods, edges=edges)
    smoothed = []
    for row, name in enumerate(windows.names):
        offered = (kernels[name],) if name in kernels else KERNELS[len(equation.coordinates)]
        smoothed.append(smooth(windows, row, offered, even=True, say=say))
    windows, smoothed = with_common_noise(windows, smoothed)
    prior, theta = joined(windows, smoothed, kernels)
    if any(edges.enter) and any(period is None for period in windows.periods):
        prior, theta = with_outside(prior, theta)
    every = replace(whole(equation, experiments, periods, sensors, edges), sizes=windows.sizes, inputs=inputs)
    prior, theta = with_groups(prior, theta, every)
    say("guessing the parameters")
    weak = _weak(equation, experiments, grids, periods)
    if weak is not None:
        return Outset(every, smoothed, prior, theta, weak.guess, weak.covariance).sized
    noise = float(np.exp(theta[-1]))
    pairs = [(pair, owner) for owner, own in enumerate(every.windows) for pair in _pairs(own, every, noise)]
    some = replace(every, sensors=None).of([pair for pair, _ in pairs], [owner for _, owner in pairs])
    guess = beginning_of(some, kernels, say).guess
    return Outset(every, smoothed, prior, theta, guess, None).sized


def _some(experiments: Experiments) -> list[Snapshots]:
    """Return a few snapshots of every experiment, some points of each: what tells lengths and noise."""
    points = min(min(len(s) for run in experiments for s in run), SMOOTHED_POINTS)
    stops = -(-max(SMOOTHED_STOPS, -(-SMOOTHED_VALUES // points)) // len(experiments))
    chosen = [
        [run[int(i)] for i in np.linspace(0, len(run) - 1, min(stops, len(run))).round()]
        for run in experiments
    ]
    return [Snapshots(s.sample(SMOOTHED_POINTS, seed=0) for s in some) for some in chosen]


def _pairs(snapshots: Snapshots, windows: Windows, noise: float) -> list[Snapshots]:
    """Return some pairs of snapshots of a run that lie so far apart that they tell the parameters."""
    apart = _apart(snapshots, windows, noise)
    starts = np.unique(np.linspace(0, len(snapshots) - 1 - apart, PAIRS).round().astype(int))
    return [
        Snapshots(s.sample(SMOOTHED_POINTS, seed=0) for s in (snapshots[int(i)], snapshots[int(i) + apart]))
        for i in starts
    ]


def _apart(snapshots: Snapshots, windows: Windows, noise: float) -> int:
    """Return how many stops apart snapshots are that differ by several times the noise, or by much anyway."""
    last = len(snapshots) - 1
    apart = 1
    while apart < last // PAIRS:
        one, other = snapshots[last // 2], snapshots[last // 2 + apart]
        if len(one) != len(other) or not one.has_points_of(other):
            return apart
        change = np.mean([
            np.mean(((other[f] - one[f]) / size) ** 2) for f, size in zip(windows.names, windows.units, strict=True)
        ])  # fmt: skip
        if change > 2 * noise * CLEAR**2:
            return apart
        apart *= 2
    return apart


def _weak(
    equation: Equation,
    experiments: Experiments,
    grids: Sequence[GridRecording | None],
    periods: tuple[float | None, ...] | None,
) -> WeakGuess | None:
    """Return the weak form's guess from the experiments on a grid, each weighted by what it knows; None without any."""
    guesses = []
    for recording, grid in zip(experiments, grids, strict=True):
        if grid is not None:
            periodic = [period is not None for period in periods or (None,) * len(grid.axes)]
            guess = weak_guess(equation.simplest, recording.times, grid.axes, grid.values, periodic=periodic)
            guesses += [] if guess is None else [guess]
    if len(guesses) < 2:
        return guesses[0] if guesses else None
    information = [np.linalg.pinv(guess.covariance) for guess in guesses]
    covariance = covariance_of(np.sum(information, axis=0))
    names = equation.parameters
    estimates = np.array([[guess.guess.estimate[name] for name in names] for guess in guesses])
    estimate = covariance @ np.einsum("epq,eq->p", information, estimates)
    best = guesses[int(np.argmin([np.trace(covariance @ np.linalg.pinv(own)) for own in information]))]
    combined = replace(best.guess, estimate=dict(zip(names, estimate.tolist(), strict=True)))
    return replace(best, guess=combined, covariance=covariance)
