"""One fit of a whole recording: a weak-form guess, a horizon that grows, windows where chaos asks for them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from scipy.linalg import eigh

from hiddenphysics.equation import Equation
from hiddenphysics.gaussian import covariance_of
from hiddenphysics.learning import Progress, Stopped
from hiddenphysics.models.edges import NOTHING_SAID, Edges
from hiddenphysics.models.flow.answer import answered
from hiddenphysics.models.flow.cuts import best_cut
from hiddenphysics.models.flow.design import MOST_PARAMETERS, MOST_STATE_ROUNDS, explore
from hiddenphysics.models.flow.domain import Domain, domain_of, grows
from hiddenphysics.models.flow.envelope import Envelope
from hiddenphysics.models.flow.findings import unexplained
from hiddenphysics.models.flow.flow_search import MOST_BOXES, other_box
from hiddenphysics.models.flow.flow_task import FlowTask
from hiddenphysics.models.flow.gauss_newton import MOST_ROUNDS, Searched, gone_through, run
from hiddenphysics.models.flow.inputs import Inputs
from hiddenphysics.models.flow.instruments import check_sensors
from hiddenphysics.models.flow.one_round import Point
from hiddenphysics.models.flow.outset import SHORTEST_WINDOW, Outset, outset_of
from hiddenphysics.models.flow.polish import Correction, polish
from hiddenphysics.models.flow.processes import own_lengths
from hiddenphysics.models.flow.program import is_layered
from hiddenphysics.models.flow.smoothed import states
from hiddenphysics.models.flow.windows import Windows
from hiddenphysics.models.model import Fit
from hiddenphysics.models.sensors import Sensors
from hiddenphysics.priors import Kernel
from hiddenphysics.snapshots import Experiments, Snapshots
from hiddenphysics.spectral import groups_of, process_count

MANY_STOPS = 20
"""Snapshots from which on they are a recording; fewer are smoothed one by one."""

FIRST_POINTS = 1024
"""Points of a window's first snapshot that its first state is smoothed from."""

FIRST_HORIZON = 6
"""Stops of a window that are entered first; then twice as many, until all are in."""

TURNED = (1.0, 0.3, 0.0)
"""Factors on the sizes of guessed parameters with which their waves grow without bound."""

NEARLY = 2.5
"""Once so many times the horizon is all of it, the next one is."""

MOST_TANGENT_GROWTH = 30.0
"""A window ends before any wave of its first state has grown by more: beyond, the flow bends within the noise."""

SHORTER = 3
"""Windows of a fit that ends badly become a third as long, down to `SHORTEST_WINDOW` stops."""

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
    dt, rough, horizon = task.longest_step, None, min(FIRST_HORIZON, stops)
    count, ended = 0, None
    while True:
        held = replace(task, frozen=True, horizon=horizon if horizon < stops else None)
        say(f"{len(windows.windows)} window(s), {horizon} of {stops} stops")
        made = run(held, at, dt, say, most=MOST_STATE_ROUNDS, rough=rough)
        ended = gone_through(held, made, count, None if ended is None else ended.last)
        count, last = ended.rounds, ended.last
        at, dt, rough = last.point, last.dt, last.rough
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
    task, at = ended.task, ended.last.point
    for _ in range(MOST_BOXES):
        made = run(task, at, ended.last.dt, say, most=MOST_ROUNDS, rough=ended.last.rough)
        ended = gone_through(task, made, ended.rounds, ended.last)
        moved = None if ended.stopped or ended.last.lost else other_box(task, ended.last, share=1.0)
        if moved is None:
            break
        task, at = moved
    return ended
