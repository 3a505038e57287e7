"""One fit of a whole recording: a weak-form guess, a horizon that grows, windows where chaos asks for them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import eigh

from hiddenphysics.equation import Equation
from hiddenphysics.gaussian import covariance_of
from hiddenphysics.learning import Guess, Progress, Stopped, WeakGuess, weak_guess
from hiddenphysics.models.edges import NOTHING_SAID, Edges
from hiddenphysics.models.flow.answer import answered
from hiddenphysics.models.flow.beginning import beginning_of, joined, vector_of
from hiddenphysics.models.flow.border import with_first_sizes, with_groups
from hiddenphysics.models.flow.cuts import best_cut
from hiddenphysics.models.flow.design import MOST_PARAMETERS, MOST_STATE_ROUNDS, explore
from hiddenphysics.models.flow.domain import Domain, domain_of, grows
from hiddenphysics.models.flow.entry import waves_of
from hiddenphysics.models.flow.envelope import Envelope
from hiddenphysics.models.flow.findings import unexplained
from hiddenphysics.models.flow.flow_search import MOST_BOXES, other_box
from hiddenphysics.models.flow.flow_task import FlowTask
from hiddenphysics.models.flow.gauss_newton import MOST_ROUNDS, Searched, gone_through, run
from hiddenphysics.models.flow.grids import GridRecording, common_periods
from hiddenphysics.models.flow.inputs import Inputs
from hiddenphysics.models.flow.instruments import check_sensors
from hiddenphysics.models.flow.one_round import Point
from hiddenphysics.models.flow.polish import Correction, polish
from hiddenphysics.models.flow.processes import has_outside, own_lengths, with_outside
from hiddenphysics.models.flow.program import entering, is_layered
from hiddenphysics.models.flow.smoothed import KERNELS, Smoothed, smooth, states, with_common_noise
from hiddenphysics.models.flow.windows import Windows, gathered, whole
from hiddenphysics.models.model import Fit
from hiddenphysics.models.sensors import Sensors
from hiddenphysics.priors import Kernel, Prior
from hiddenphysics.snapshots import Experiments, Snapshots
from hiddenphysics.spectral import groups_of, process_count

MANY_STOPS = 20
"""Snapshots from which on they are a recording; fewer are smoothed one by one."""

SMOOTHED_STOPS, SMOOTHED_POINTS, SMOOTHED_VALUES = 4, 256, 1024
"""Snapshots, at least, and points of each, at most, that tell the prior's first lengths and the noise; more snapshots
where these are so small that there would be fewer values. Of 256 values of a chaotic field two noises in eight were
found more than 1.3 times too small."""

FIRST_POINTS = 1024
"""Points of a window's first snapshot that its first state is smoothed from."""

MOST_COLUMNS, MOST_LINEAR = 400, 300
"""Columns of what comes into a window, and where the motion is linear and costs no transforms. A factorisation takes
the cube of them, and what a cut forgets is one first state: 240 of them, 30 days of glacier ice, take a second a
round."""

PAIRS = 4
"""Neighbouring snapshots that a first guess is regressed on where there is no weak form."""

CLEAR = 10.0
"""Snapshots tell the parameters when they differ by so many deviations of the noise."""

FIRST_HORIZON = 6
"""Stops of a window that are entered first; then twice as many, until all are in."""

TURNED = (1.0, 0.3, 0.0)
"""Factors on the sizes of guessed parameters with which their waves grow without bound."""

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

WIDER = 2.0
"""A parabola with so many times the variance of the weak form's answer says less than that does."""

NARROWS = 1.7
"""A parabola whose variance falls by more than this factor, in any direction, when its design is as narrow as its own
answer runs over wiggles. Korteweg–de Vries, the variance of λ₂: in nine draws with noise of 10 % it fell by 1.35 at
most, and what it says there is off by 0.9 and 1.2 of its deviations (root mean square); with 50 % it fell by 1.8 and
more in the two that were off by more than two deviations and whose scatter did not give them away. It was chosen on
these draws, and no others have tried it."""


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


def fit_recording(
    equation: Equation,
    experiments: Experiments,
    kernels: Mapping[str, Kernel],
    say: Progress,
    inputs: Inputs | None = None,
    sensors: Sensors | None = None,
    edges: Edges = NOTHING_SAID,
) -> Fit:
    """Fit with windows as long as they can be; where that ends badly, with shorter ones.

    Unless edges are said to be still, something may come in from outside at every stop, along sides that are open.
    """
    outset = outset_of(equation, experiments, kernels, say, inputs, sensors, edges)
    check_sensors(outset.windows)
    fits: list[Fit] = []
    longest = min(max(map(len, experiments)), outset.longest)
    while longest >= SHORTEST_WINDOW or not fits:
        fits.append(_fit(outset, longest, say))
        used = fits[-1].learned.stops.shape[1]
        if not fits[-1].verdict.status.is_bad or fits[-1].stopped:
            break
        longest = min(longest, used) // SHORTER
    return best_cut(fits, outset.names)


def _fit(outset: Outset, longest: int, say: Progress) -> Fit:
    """Let the horizon grow over windows of at most so many stops, search, look around, and say how it went."""
    say("choosing windows")
    ended = _entered(outset, longest, say)
    if not ended.stopped:
        ended = _settled(ended, say)
    task = ended.task
    layered = bool(outset.outside) and is_layered(task.windows.equation)
    if layered and not (task.free or ended.stopped) and task.sees_entering(ended.last):
        ended = _freed(ended, say)
    against = unexplained(outset.noise, max(one.doubt for one in outset.smoothed))
    heavy = outset.noise > HEAVY and len(outset.names) <= MOST_PARAMETERS and not outset.prior.groups
    correct = _explored(outset) if heavy else polish
    return answered(ended, outset.scale_at, say, ended.rounds, against, correct)


def _freed(ended: Searched, say: Progress) -> Searched:
    """Go on with what comes in, and had come in before the first stop, as large as it likes."""
    task, last = ended.task, ended.last
    task = replace(task, domain=task.domain.remembering())
    more = task.domain.program.history * task.domain.program.kicks
    point = last.point._replace(z=np.pad(last.point.z, ((0, 0), (0, more))))
    made = _settled(replace(ended, task=task, last=last._replace(point=point)), say)
    # Told to stop before its first round, it has nothing that belongs to what it was to search.
    return replace(ended, stopped=made.stopped) if made.rounds == ended.rounds else made


def _explored(outset: Outset) -> Correction:
    """Return the correction by a parabola through the evidence, around the weak form's answer where there is one.

    A second design, as wide as the first one's answer, looks closer. Where the evidence is torn by wiggles, narrows
    under the closer look, or says less than the weak form, the weak form's answer stands.
    """

    def correct(ended: Searched, say: Progress) -> tuple[Searched, np.ndarray]:
        centre, covariance = ended.last.point.parameters, covariance_of(ended.last.information)
        if outset.covariance is not None:
            # An optimum may lie in a wiggle, whose place and curvature say nothing: the weak form's answer does.
            centre, covariance = outset.parameters, outset.covariance
        try:
            made = explore(ended.task, ended.last, centre, covariance, say)
            rounds = made.rounds
            if outset.covariance is not None:
                weak = Searched(ended.task, made.first, rounds)
                if made.torn or np.mean(_ratios(made.covariance, outset.covariance)) > WIDER:
                    return weak, outset.covariance
                closer = explore(ended.task, made.last, made.parameters, made.covariance, say)
                rounds += closer.rounds
                if closer.torn or np.max(_ratios(made.covariance, closer.covariance)) > NARROWS:
                    return replace(weak, rounds=rounds), outset.covariance
                made = closer
        except Stopped as stop:
            return replace(ended, stopped=stop.reason), covariance
        return Searched(ended.task, made.last, rounds), made.covariance

    return correct


def _ratios(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Return how many times the variance of another a covariance (P, P) has, (P,) over their common directions."""
    return np.asarray(eigh(one, other, eigvals_only=True))


# ---- before the flow --------------------


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


# ---- windows and their first states --------------------


def _task(outset: Outset, windows: Windows, theta: np.ndarray, parameters: np.ndarray) -> FlowTask:
    flat = Envelope.flat(len(windows.windows), len(windows.equation.coordinates))
    noise = windows.quiet + float(np.exp(theta[-1]))
    envelopes = [flat] * process_count(groups_of(windows.equation))
    lengths = own_lengths(outset.prior, theta)
    domain = domain_of(windows, outset.prior, envelopes, lengths, noise, outside=outset.outside)
    if outset.outside and is_layered(windows.equation) and windows.edges.asks_to_enter:
        domain = domain.remembering()
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
    return domain.begun(every, outset.parameters, windows.times.shape[1])


def _bearable(outset: Outset, windows: Windows) -> np.ndarray:
    """Return the guess (P,), or where its waves grow without bound, signs turned around or less of it.

    Sensors that are off bend a smooth field as no motion does: nine of them, each off by a thirtieth of the field, made
    a diffusivity of 0.095 a guess of −0.073, windows of seven stops, and no end of rounds.
    """
    limits = outset.windows.limits.T
    guess = np.clip(outset.parameters, *limits)
    domain = _task(outset, windows, outset.theta, guess).domain
    tried = [guess, *(np.clip(factor * np.abs(guess), *limits) for factor in TURNED)]
    return next((one for one in tried if not grows(domain, windows, one, finer=1.0)), guess)


def _entered(outset: Outset, longest: int, say: Progress) -> Searched:
    """Let the horizon grow over first windows with the parameters held, and cut where the flow bends too much.

    Six noisy stops alone would send the parameters far away, from where no search comes back: they stay at the guess
    until all stops are in.
    """
    recordings = outset.windows
    probe = recordings.of([snapshots[:longest] for snapshots in recordings.windows])
    parameters = _bearable(outset, probe)
    task = _task(outset, probe, outset.theta, parameters)
    ended, length = _grown(outset, task, parameters, say, probing=True)
    if ended.stopped or length == recordings.times.shape[1]:
        return ended
    task = _task(outset, recordings.cut(max(length - 1, 1)), outset.theta, parameters)
    return _grown(outset, task, parameters, say, probing=False)[0]


def _grown(
    outset: Outset, task: FlowTask, parameters: np.ndarray, say: Progress, *, probing: bool
) -> tuple[Searched, int]:
    """Find the states of all windows, horizon by horizon; return them with the stops that a window may have.

    While probing, windows are left as soon as one of them is known to be too long.
    """
    windows, stops = task.windows, task.windows.times.shape[1]
    at = Point(_first_states(outset, windows, task.domain), task.begun(parameters), outset.theta)
    dt, horizon, count, ended = task.longest_step, min(FIRST_HORIZON, stops), 0, None
    while True:
        held = replace(task, frozen=True, horizon=horizon if horizon < stops else None)
        say(f"{len(windows.windows)} window(s), {horizon} of {stops} stops")
        made = run(held, at, dt, say, most=MOST_STATE_ROUNDS)
        ended = gone_through(held, made, count, None if ended is None else ended.last)
        count, last = ended.rounds, ended.last
        at, dt = last.point, last.dt
        if probing:
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
        moved = None if ended.stopped or ended.last.lost else other_box(task, ended.last, share=1.0)
        if moved is None:
            break
        task, at = moved
        dt = ended.last.dt
    return ended
