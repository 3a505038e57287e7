"""One fit of a whole recording: a weak-form guess, a horizon that grows, windows where chaos asks for them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from hiddenphysics.equation import Equation
from hiddenphysics.gaussian import covariance_of
from hiddenphysics.learning import Guess, Progress, Stopped, WeakGuess, weak_guess
from hiddenphysics.models.flow.beginning import beginning_of, joined
from hiddenphysics.models.flow.design import MOST_PARAMETERS, MOST_STATE_ROUNDS, explore
from hiddenphysics.models.flow.domain import Domain, domain_of
from hiddenphysics.models.flow.envelope import Envelope
from hiddenphysics.models.flow.flow_fit import (
    MOST_BOXES,
    Correction,
    Searched,
    answered,
    gone_through,
    limits_of,
    other_box,
    polish,
    unexplained,
)
from hiddenphysics.models.flow.gauss_newton import MOST_ROUNDS, FlowTask, Point, run
from hiddenphysics.models.flow.grids import GridRecording
from hiddenphysics.models.flow.path import wave_count
from hiddenphysics.models.flow.smoothed import KERNELS, Smoothed, smooth, states, with_common_noise
from hiddenphysics.models.flow.windows import Windows, gathered, windows_of
from hiddenphysics.models.model import Fit
from hiddenphysics.priors import Kernel, Prior, SquaredExponential
from hiddenphysics.snapshots import Snapshots

MANY_STOPS = 20
"""Snapshots from which on they are a recording; fewer are smoothed one by one."""

SMOOTHED_STOPS, SMOOTHED_POINTS, SMOOTHED_VALUES = 4, 256, 1024
"""Snapshots, at least, and points of each, at most, that tell the prior's first lengths and the noise; more snapshots
where these are so small that there would be fewer values. Of 256 values of a chaotic field two noises in eight were
found more than 1.3 times too small."""

FIRST_POINTS = 1024
"""Points of a window's first snapshot that its first state is smoothed from."""

OUTSIDE, OUTSIDE_SIZE, OUTSIDE_WAVES = ".outside", 0.1, 8
"""Name, first size relative to the field's, and waves along the box of what comes in from outside at every stop. It is
smoothed on its way to the data: more waves do not reach them."""

MOST_COLUMNS, MOST_LINEAR = 400, 1200
"""Columns of what comes into a window, and where the motion is linear and costs no transforms."""

PAIRS = 4
"""Neighbouring snapshots that a first guess is regressed on where there is no weak form."""

CLEAR = 10.0
"""Snapshots tell the parameters when they differ by so many deviations of the noise."""

FIRST_HORIZON = 6
"""Stops of a window that are entered first; then twice as many, until all are in."""

NEARLY = 2.5
"""Once so many times the horizon is all of it, the next one is."""

MOST_TANGENT_GROWTH = 30.0
"""A window ends before any wave of its first state has grown by more: beyond, the flow bends within the noise."""

SHORTEST_WINDOW, SHORTER = 4, 3
"""Windows of a fit that ends badly become a third as long, down to so many stops."""

HEAVY = 0.003
"""Noise variance, in units of the fields', from which on the evidence is asked at points around its optimum. Twenty
times above, it wiggles. Already at 0.01 what the prior takes from a state, times how the flow bends, counts: of
Korteweg–de Vries with noise of 10 % the curvature at the optimum promised 0.09 % of λ₂, six draws lay off by 2.4 times
that, and the evidence at points around it says 0.17 %. At 0.0001 the two agree."""


@dataclass(frozen=True)
class Outset:
    """What is known of a recording before the flow is asked.

    Attributes
    ----------
    windows
        The whole recording, in one window.
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

    def vector(self, numbers: Mapping[str, float]) -> np.ndarray:
        """Return numbers by name in the order of the parameters, (P,)."""
        return np.array([numbers[name] for name in self.names])

    def scale_at(self, parameters: np.ndarray) -> np.ndarray:
        """(P,) natural sizes of the parameters, at an estimate."""
        return self.vector(self.guess.scale_at(dict(zip(self.names, parameters.tolist(), strict=True))))

    @property
    def outside(self) -> int:
        """Waves of what comes in from outside at every stop, 0 where the fields repeat along every side."""
        return 0 if len(self.prior.latents) == len(self.windows.state) else OUTSIDE_WAVES

    @property
    def longest(self) -> int:
        """Stops that a window may have: what comes in at each of them is unknown, and followed to its end."""
        if not self.outside:
            return len(self.windows.windows[0])
        system = self.windows.equation.system
        linear = all(rest == 0 for rest in system.rest)
        each = len(system.state) * wave_count((OUTSIDE_WAVES,) * len(self.windows.equation.coordinates))
        return max((MOST_LINEAR if linear else MOST_COLUMNS) // each, SHORTEST_WINDOW)

    @property
    def noise(self) -> float:
        """Variance of the noise, in units of the fields'."""
        return self.windows.quiet + float(np.exp(self.theta[-1]))


def fit_recording(
    equation: Equation, snapshots: Snapshots, kernels: Mapping[str, Kernel], say: Progress
) -> Fit:
    """Fit with windows as long as they can be; where that ends badly, with shorter ones."""
    outset = outset_of(equation, snapshots, kernels, say)
    fits: list[Fit] = []
    longest = min(len(snapshots), outset.longest)
    while longest >= SHORTEST_WINDOW or not fits:
        fits.append(_fit(outset, longest, say))
        used = len(fits[-1].learned.windows)
        if not fits[-1].verdict.status.is_bad or fits[-1].stopped:
            break
        longest = min(longest, -(-len(snapshots) // used)) // SHORTER
    return max(
        fits, key=lambda fit: (not fit.verdict.status.is_bad, np.nan_to_num(fit.evidence, nan=-np.inf))
    )


def _fit(outset: Outset, longest: int, say: Progress) -> Fit:
    """Let the horizon grow over windows of at most so many stops, search, look around, and say how it went."""
    say("choosing windows")
    ended = _entered(outset, longest, say)
    if not ended.stopped:
        ended = _settled(ended, say)
    against = unexplained(outset.noise, max(one.doubt for one in outset.smoothed))
    correct = _explored(outset) if outset.noise > HEAVY and len(outset.names) <= MOST_PARAMETERS else polish
    return answered(ended, outset.scale_at, say, ended.rounds, against, correct)


def _explored(outset: Outset) -> Correction:
    """Return the correction by a parabola through the evidence, around the weak form's answer where there is one.

    Where the evidence is torn by wiggles, or says less than the weak form, the weak form's answer stands.
    """

    def correct(ended: Searched, say: Progress) -> tuple[Searched, np.ndarray]:
        centre, covariance = ended.last.point.parameters, covariance_of(ended.last.information)
        if outset.covariance is not None:
            # An optimum may lie in a wiggle, whose place and curvature say nothing: the weak form's answer does.
            centre, covariance = outset.vector(outset.guess.estimate), outset.covariance
        try:
            made = explore(ended.task, ended.last, centre, covariance, say)
        except Stopped as stop:
            return replace(ended, stopped=stop.reason), covariance
        if outset.covariance is not None and (made.torn or _wider(made.covariance, outset.covariance)):
            return Searched(ended.task, made.first, made.rounds), outset.covariance
        return Searched(ended.task, made.last, made.rounds), made.covariance

    return correct


def _wider(one: np.ndarray, other: np.ndarray) -> bool:
    """Whether a covariance says clearly less than another: twice the variance, on average over directions."""
    return bool(np.trace(np.linalg.solve(other, one)) > 2 * len(one))


# ---- before the flow --------------------


def outset_of(
    equation: Equation, snapshots: Snapshots, kernels: Mapping[str, Kernel], say: Progress
) -> Outset:
    """Smooth a few snapshots for the prior, and guess the parameters from all of them."""
    say("looking at the recording")
    grid = GridRecording.of(snapshots)
    periods = grid.periods() if grid is not None else None
    say("smoothing some snapshots")
    points = min(min(len(s) for s in snapshots), SMOOTHED_POINTS)
    stops = min(max(SMOOTHED_STOPS, -(-SMOOTHED_VALUES // points)), len(snapshots))
    some = [snapshots[int(i)] for i in np.linspace(0, len(snapshots) - 1, stops).round()]
    windows = gathered(equation, [Snapshots(s.sample(SMOOTHED_POINTS, seed=0) for s in some)], periods)
    smoothed = []
    for row, name in enumerate(windows.names):
        offered = (kernels[name],) if name in kernels else KERNELS[len(equation.coordinates)]
        smoothed.append(smooth(windows, row, offered, even=True, say=say))
    windows, smoothed = with_common_noise(windows, smoothed)
    prior, theta = joined(windows, smoothed, kernels)
    if any(period is None for period in windows.periods):
        prior, theta = _with_outside(prior, theta)
    whole = replace(gathered(equation, [snapshots], periods), sizes=windows.sizes)
    say("guessing the parameters")
    weak = _weak(equation, snapshots, grid, periods)
    if weak is not None:
        return Outset(whole, smoothed, prior, theta, weak.guess, weak.covariance)
    apart = _apart(whole, float(np.exp(theta[-1])))
    starts = np.linspace(0, len(snapshots) - 1 - apart, PAIRS).round().astype(int)
    pairs = [
        Snapshots(s.sample(SMOOTHED_POINTS, seed=0) for s in (snapshots[i], snapshots[i + apart]))
        for i in starts
    ]
    guess = beginning_of(gathered(equation, pairs, periods), kernels, say).guess
    return Outset(whole, smoothed, prior, theta, guess, None)


def _apart(windows: Windows, noise: float) -> int:
    """Return how many stops apart snapshots are that differ by several times the noise, or by much anyway."""
    (snapshots,) = windows.windows
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


def _with_outside(prior: Prior, theta: np.ndarray) -> tuple[Prior, np.ndarray]:
    """Return the prior with a further process for what comes into each field: a tenth of its size, to begin with."""
    latents = tuple((f"{name}{OUTSIDE}", SquaredExponential()) for name, _ in prior.latents)
    numbers = []
    lengths = np.log(prior.lengths(theta))
    for variance, length in zip(theta[prior.is_variance], lengths, strict=True):
        numbers += [variance + np.log(OUTSIDE_SIZE**2), *length]
    joined = Prior((*prior.latents, *latents), prior.coordinates)
    return joined, np.concatenate([theta[:-1], numbers, theta[-1:]])


def _weak(
    equation: Equation,
    snapshots: Snapshots,
    grid: GridRecording | None,
    periods: tuple[float | None, ...] | None,
) -> WeakGuess | None:
    if grid is None or periods is None:
        return None
    return weak_guess(
        equation, snapshots.times, grid.axes, grid.values, periodic=[period is not None for period in periods]
    )


# ---- windows and their first states --------------------


def _task(outset: Outset, windows: Windows, theta: np.ndarray, parameters: np.ndarray) -> FlowTask:
    flat = Envelope.flat(len(windows.windows), len(windows.equation.coordinates))
    noise = windows.quiet + float(np.exp(theta[-1]))
    envelopes = [flat] * len(windows.state)
    lengths = outset.prior.lengths(theta)
    domain = domain_of(windows, outset.prior, envelopes, lengths, noise, outside=outset.outside)
    return FlowTask.of(windows, outset.prior, domain, theta, outset.scale_at(parameters))


def _first_states(outset: Outset, windows: Windows, domain: Domain) -> np.ndarray:
    """Smoothed states (W, F·K) at the first stop of every window; velocities without data begin at 0."""
    first = [Snapshots(s.sample(FIRST_POINTS, seed=0) for s in window[:1]) for window in windows.windows]
    begins = windows.of(first)
    every = np.zeros((len(first), len(windows.state), domain.features.count))
    flat = Envelope.flat(len(first), len(windows.equation.coordinates))
    for row, field in enumerate(windows.measured):
        smoothed = replace(outset.smoothed[row], envelope=flat)
        every[:, field] = states(begins, row, smoothed, domain.features)[:, 0]
    return domain.with_nothing_outside(every.reshape(len(first), -1), windows.times.shape[1])


def _entered(outset: Outset, longest: int, say: Progress) -> Searched:
    """Let the horizon grow over the first window with the parameters held, and cut where the flow bends too much.

    Six noisy stops alone would send the parameters far away, from where no search comes back: they stay at the guess
    until all stops are in.
    """
    parameters = np.clip(outset.vector(outset.guess.estimate), *limits_of(outset.windows).T)
    snapshots = outset.windows.windows[0]
    probe = outset.windows.of([snapshots[:longest]])
    ended, length = _grown(outset, _task(outset, probe, outset.theta, parameters), parameters, say)
    if ended.stopped or length == len(snapshots):
        return ended
    cut = outset.windows.of(windows_of(snapshots, max(length - 1, 1)))
    return _grown(outset, _task(outset, cut, outset.theta, parameters), parameters, say)[0]


def _grown(outset: Outset, task: FlowTask, parameters: np.ndarray, say: Progress) -> tuple[Searched, int]:
    """Find the states of all windows, horizon by horizon; return them with the stops that a window may have.

    A single window is left as soon as it is known to be too long.
    """
    windows, stops = task.windows, task.windows.times.shape[1]
    at = Point(_first_states(outset, windows, task.domain), parameters, outset.theta)
    dt, horizon, count, ended = task.longest_step, min(FIRST_HORIZON, stops), 0, None
    while True:
        held = replace(task, frozen=True, horizon=horizon if horizon < stops else None)
        say(f"{len(windows.windows)} window(s), {horizon} of {stops} stops")
        made = run(held, at, dt, say, most=MOST_STATE_ROUNDS)
        ended = gone_through(held, made, count, None if ended is None else ended.last)
        count, last = ended.rounds, ended.last
        at, dt = last.point, last.dt
        if len(windows.windows) == 1:
            growth = np.max(last.growth, axis=0)[:horizon]
            too_much = np.flatnonzero(~(growth <= MOST_TANGENT_GROWTH))
            if too_much.size:
                return replace(ended, task=task), max(int(too_much[0]), 2)
        if ended.stopped or horizon == stops:
            return replace(ended, task=task), stops
        horizon = 2 * horizon if NEARLY * horizon < stops else stops


def _settled(ended: Searched, say: Progress) -> Searched:
    """Search for states and parameters together, in new boxes where the prior leaves the old one."""
    task, at, dt, count = ended.task, ended.last.point, ended.last.dt, ended.rounds
    for _ in range(MOST_BOXES):
        ended = gone_through(task, run(task, at, dt, say, most=MOST_ROUNDS), count, ended.last)
        count = ended.rounds
        moved = None if ended.stopped or ended.last.lost else other_box(task, ended.last)
        if moved is None:
            break
        task, at = moved
        dt = ended.last.dt
    return ended
