"""Rounds of sweep, tune, solve: Gauss–Newton in state and parameters with the prior learned on the way.

Halved or doubled, its constants move no answer by a hundredth of its deviation (`benchmarks.constants`),
unless they say so.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import NamedTuple

import jax
import numpy as np

from hiddenphysics.gaussian import (
    Belief,
    Reduced,
    RestrictedLikelihood,
    condensed,
    covariance_of,
    posterior,
)
from hiddenphysics.learning import Progress, keep
from hiddenphysics.models.flow.acceleration import DEPTH, further
from hiddenphysics.models.flow.border import Columns, columns_of, limits_of_groups
from hiddenphysics.models.flow.compressed import SQUARED, Seen, compressed
from hiddenphysics.models.flow.domain import QUIETEST, Domain, finer
from hiddenphysics.models.flow.one_round import GAINED, Point, Round, Solved, solve
from hiddenphysics.models.flow.path import MOST_GROWTH, Entering, Path
from hiddenphysics.models.flow.processes import is_outside, levels_of, relative_sizes, sizes_of
from hiddenphysics.models.flow.rungs import rung
from hiddenphysics.models.flow.smoothed import bounds_of
from hiddenphysics.models.flow.sweep import Sweep, sweep
from hiddenphysics.models.flow.windows import Windows
from hiddenphysics.priors import Prior

MOST_ROUNDS = 25
"""Two to seven were enough in 16 fits of `benchmarks.answers`; a search that needs more is finished only if it explains
most (`flow_fit`)."""

SHORTEST = 2.0**-7
"""Smallest part of a step that is tried."""

LEAST_PART = 0.1
"""Smallest part to which a step is relaxed."""

PART = 0.1
"""A step has to lower the objective by this part of what it promises."""

ROUNDING = 1e-5
"""Relative accuracy of the objective where the noise is next to nothing."""

STEP_ERROR = 0.05
"""Error of the steps in time that is accepted: its norm over all values, in standard deviations of the noise. No
parameter, in any combination, is moved by more than that many of its deviations."""

NEARBY = 2.0
"""What the first state leaves over, in units of the noise's variance, up to which the prior of a plane is tuned in the
first round already, and a second or two are saved: that is no more than a few wrong parameters make."""

UNEXPLAINED = 0.1
"""Part of the misfit that counts as noise there, as long as that is more."""

LEAST_ERROR, MOST_ERROR, COLD_ERROR = 1e-8, 3e-4, 1e-3
"""Bounds of that error per value in units of the field's size, and what is enough for the first round. With a most of
1e-4 twelve recordings of a scratch assay, whose noise is a fifth, asked for shorter steps and twice as fine a grid,
and rounds of 14 s in place of one (D 1994 and 2008)."""

FINER_GRID, MOST_POINTS = {1: 1.5, 2: 1.4, 3: 1.4}, 20000
"""A grid that is too coarse is made so much finer, rounded up to a power of √2, up to so many points."""

TAIL = 10.0
"""What stands in a grid's shortest waves may exceed the accepted error by so much: those that it lacks hold less."""

NEGLIGIBLE = 1e-5
"""Prior variance, in units of the field's, of a latent that is as good as zero."""

FIRST_STEPS = 4
"""Steps in time between first and last snapshot, to begin with; in a plane two in every gap are enough."""

FREE = 100.0
"""Size of what comes in from outside where it is free, in sizes of the field in the usual time between stops.

A size that is learned would have a say in the parameters: the less a weather has to do for what the outermost sensor
shows, the likelier it is, and how much it has to do depends on the diffusivity. Over 30 days of a twin of glacier ice
(draw 0, truth 0.095) that made it 0.1001 ± 0.0016; free, it is 0.0972 ± 0.0019."""

MANY_GAPS = 20
"""Stops of a window from which on one step in a gap may do, compared with one over two gaps."""

HOPELESS = 10.0
"""How many times more than before a step may leave over, for its steps in time to be made finer: of more, half of the
step is tried. Of u − u³ from two snapshots, draw 5, a step left 1e9 over, and was followed in ever finer steps for a
minute."""

SAFETY, FINER, COARSER = 0.8, 1 / 16, 2.0
"""A new step in time aims at 0.8 of what the error allows, is not smaller than a sixteenth of the old one in one round,
and not larger than twice."""

CONDENSED, FEW_ROWS = 0.6, 300
"""Part of the rows of a plane that a round is solved in where the noise hides the others; fewer rows are not worth it.
Of 1000 values of the wake at 1 % noise the prior moves 430 to 500 by more than 1e-4 of the noise."""

HIDDEN = 5e-3
"""What the prior can do to the rows that are given up, all in all, in parts of the noise's variance: half of it is what
the log evidence is off by. With 2e-3 the wake's parameters moved by a thousandth of their deviations, and the prior was
tuned in a third of the time (18 November 2026)."""

MOST_STEPS = 4096
"""Steps in time of a window, beyond which no state is worth being followed more exactly."""


@dataclass(frozen=True)
class FlowTask:
    """All that stays the same during the rounds in one box.

    Attributes
    ----------
    windows, prior, domain
        The data, the prior, the box.
    seen
        The data, compressed onto the box's modes.
    border
        Which of the P columns beside the state's carry a prior.
    scale, bounds
        Natural sizes of steps (P,) and bounds (P, 2) of the parameters; columns with a prior need no such size, and
        have an infinite one.
    slope
        (P,) ∇(½ log|K|) in the parameters: what the marginal likelihood adds to generalised least squares.
    squares
        Whether there is so much noise that normal equations lose nothing.
    frozen, fixed
        Whether the parameters are held where they are, and whether the prior's vector is.
    given
        Whether the flat parameters are given: prior, state and columns with a prior are found for these as they are.
        Frozen ones stay where they are, too, but there the prior is tuned as if they would follow.
    horizon
        Stops of every window that take part; None for all.
    """

    windows: Windows
    prior: Prior
    domain: Domain
    seen: Seen
    border: Columns
    scale: np.ndarray
    bounds: np.ndarray
    slope: np.ndarray
    squares: bool = False
    frozen: bool = False
    fixed: bool = False
    given: bool = False
    horizon: int | None = None

    @classmethod
    def of(
        cls,
        windows: Windows,
        prior: Prior,
        domain: Domain,
        theta: np.ndarray,
        scale: np.ndarray,
    ) -> FlowTask:
        """Compress the data onto a box, for a prior that has about this vector; `scale` is the equation's numbers'."""
        limits = windows.equation.bounds
        bounds = np.array([limits[name] for name in windows.equation.parameters], float).reshape(-1, 2)
        border = columns_of(windows)
        errors = border.group.size - len(bounds)
        bounds = np.concatenate([bounds, np.tile([-np.inf, np.inf], (errors, 1))])
        scale = np.concatenate([scale[: border.group.size - errors], np.full(errors, np.inf)])
        scale = np.where(border.is_flat, scale, np.inf)
        noise = float(np.exp(theta[-1]))
        seen = compressed(windows, domain.features.grid, noise)
        squares = windows.quiet + noise > SQUARED
        slope = np.zeros(len(bounds))
        return cls(windows, prior, domain, seen, border, scale, bounds, slope, squares)

    @property
    def free(self) -> bool:
        """Whether what comes in from outside, and has come in before the first stop, is as large as it likes."""
        return self.domain.program.history > 0

    @cached_property
    def level(self) -> np.ndarray:
        """Variances of unknown constants; see `levels_of`."""
        return levels_of(self.prior, self.windows)

    @cached_property
    def prior_bounds(self) -> np.ndarray:
        """Bounds (H, 2) of the prior's vector in this box."""
        count = len(self.prior.latents)
        shortest, longest = (np.tile(v, (count, 1)) for v in (self.domain.shortest, self.domain.longest))
        longest = np.minimum(longest, self.windows.region.extent)
        bounds = bounds_of(self.prior, shortest, longest, limits_of_groups(self.windows, self.scale))
        least = QUIETEST[len(self.prior.coordinates)]
        bounds[-1, 0] = np.log(max(self.domain.quietest - self.windows.quiet, least))
        if self.free:
            outside = is_outside(self.prior)
            bounds[np.flatnonzero(self.prior.is_variance)[outside]] = 2 * np.log(FREE)
        bounds[self.prior.is_variance] += 2 * np.log(self.sizes)[:, None]
        return bounds

    def sees_entering(self, last: Round) -> bool:
        """Whether something that comes in from outside is seen above the noise."""
        theta = np.asarray(last.tuned.theta)
        first, spectrum = self.domain.program.features, np.asarray(last.linear.spectrum(theta))
        seen = np.sum(np.asarray(last.linear.data.A)[..., first:] ** 2, axis=1) * spectrum[first:]
        return bool(np.any(seen > np.exp(theta[-1])))

    @property
    def two_gaps(self) -> bool:
        """Whether one step in a gap may do, as there are many.

        What comes in at a stop must not be stepped over, nor a stop where derivatives go the coarse way.
        """
        program = self.domain.program
        return self.windows.times.shape[1] >= MANY_GAPS and not (program.outside or program.coarsely)

    @property
    def longest_step(self) -> float:
        """Longest step in time: a few of them between the first and the last stop, two in every gap unless one does."""
        gap = float(np.max(np.diff(self.windows.times, axis=1), initial=0.0))
        first = self.windows.span / FIRST_STEPS if len(self.domain.shortest) == 1 else gap
        return max(min(first, gap if self.two_gaps else gap / 2), 1e-300)

    def path(self, dt: float) -> Path:
        """Return the way through all stops, in steps of at most dt."""
        most = MOST_GROWTH / max(self.windows.span, 1e-300)
        return Path.through(
            self.windows.times, dt, most, self.horizon, two_gaps=self.two_gaps, entering=self._entering
        )

    @cached_property
    def _entering(self) -> Entering | None:
        """How what comes from outside goes on in time; stops are as many as those of the path."""
        program, times = self.domain.program, self.windows.times
        if not program.outside or program.at_once:
            return None
        return Entering.smoothly(
            np.pad(times, ((0, 0), (0, rung(times.shape[1]) - times.shape[1])), mode="edge")
        )

    @property
    def count(self) -> int:
        """Number of values that take part."""
        return int(self.windows.counts[:, : self.horizon].sum()) * len(self.windows.measured)

    def sweep(self, z: np.ndarray, parameters: np.ndarray, dt: float) -> Sweep:
        """Linearise around a state and parameters."""
        latent, path = self.domain.latent(z), self.path(dt)
        return sweep(self.domain.program, self.seen, latent, parameters, path, squares=self.squares)

    def likelihood(self, data: Reduced, parameters: np.ndarray) -> RestrictedLikelihood:
        """Return a linear model around parameters (P,) as a function of the prior's vector."""
        border = self.border.around(parameters)
        return RestrictedLikelihood.of(
            self.prior, self.domain.features, self.level, data, self.columns, border
        )

    def begun(self, parameters: np.ndarray) -> np.ndarray:
        """Return the equation's parameters with sensors behind them that have no errors yet, (P,)."""
        return np.pad(parameters, (0, self.border.group.size - len(parameters)))

    def named(self, at: Point) -> dict[str, float]:
        """Return the equation's numbers at a point by name."""
        equation = self.windows.equation
        every = zip(equation.parameters, np.asarray(at.parameters).tolist(), strict=False)
        return {name: value for name, value in every if name in equation.numbers}

    def prior_belief(self, at: Point) -> Belief:
        """Return what is believed before the equation was asked: the prior, and the parameters' natural sizes.

        No row of data says anything.
        """
        features, (windows, columns), unknowns = self.domain.features, np.shape(at.z), len(self.bounds)
        every = np.asarray(self.prior.spectrum(at.theta, features.omega, features.measure, self.level))
        return Belief(
            A=np.zeros((windows, 1, columns)),
            B=np.zeros((windows, 1, unknowns)),
            rest=np.zeros((unknowns, unknowns)),
            spectrum=every if self.columns is None else every[self.columns],
            noise=self.noise(at),
            known=np.zeros((windows, 1)),
            covariance=np.diag(self.scale**2),
        )

    @cached_property
    def columns(self) -> np.ndarray | None:
        """Which feature of which process every column is; None where they are the features of the state in order."""
        return self.domain.columns(self.windows.times.shape[1])

    @cached_property
    def sizes(self) -> np.ndarray:
        """(L,) sizes of what the prior's latents are of: fields of the state, and what comes into them."""
        return sizes_of(self.prior, self.windows)

    def carries(self, last: Round) -> bool:
        """Whether the box carries the prior that a round has reached, and its grid the motion.

        A grid that is too coarse promises what no part of a step keeps.
        """
        return self.carried(last.point) and self.resolves(last)

    def resolves(self, last: Round) -> bool:
        """Whether the grid's shortest waves hold next to nothing: the motion makes shorter ones than its first state.

        Those that the grid is too coarse for are missing from the predictions at all points alike: no more than the
        error of the steps in time may be. A grid that could not be finer has to do.
        """
        error = last.tail * np.sqrt(self.count)
        fine = error < TAIL * self.tolerance(last.at, last.misfit, cold=False)
        return bool(
            fine
            or np.prod(finer(self.domain.features, FINER_GRID[len(self.domain.shortest)]).grid.shape)
            > MOST_POINTS
        )

    def carried(self, at: Point) -> bool:
        """Whether the box still carries the prior that the point has reached."""
        relative = self.relative(at)
        return self.domain.carries(self.prior, self.lengths(at), relative, self.windows, self.noise(at))

    def evidence(self, last: Round) -> float:
        """Log restricted likelihood of a round, −∞ where it is not a number.

        Free of units: values count in units of their fields, parameters in their natural sizes.
        """
        units = float(self.seen.stretch) - float(np.sum(np.log(self.scale[self.border.is_flat])))
        value = units - float(last.tuned.at.value)
        return value if np.isfinite(value) and np.isfinite(last.misfit) else -np.inf

    def noise(self, at: Point) -> float:
        """Smallest variance that a value has at a point, in units of the field's."""
        return self.windows.quiet + float(np.exp(at.theta[-1]))

    def lengths(self, at: Point) -> np.ndarray:
        """Lengths (L, D) of the latents; one whose variance has gone to nothing has no say, and takes the shortest.

        What comes in from outside is read at places of its own, and has no say in the box.
        """
        lengths = self.prior.lengths(np.asarray(at.theta))
        says = (self.relative(at) > NEGLIGIBLE) & ~is_outside(self.prior)
        return np.where(says[:, None], lengths, lengths[says].min(axis=0) if says.any() else lengths)

    def relative(self, at: Point) -> np.ndarray:
        """(L,) variances of the latents, in units of what they are processes of."""
        return relative_sizes(self.prior, np.asarray(at.theta), self.windows)

    def tolerance(self, at: Point, misfit: float, *, cold: bool) -> float:
        """Error of the steps in time that is accepted, as a norm over all values.

        They need not be finer than what is still wrong otherwise.
        """
        values = np.sqrt(self.count)
        noise = STEP_ERROR * max(np.sqrt(self.noise(at)), UNEXPLAINED * misfit)
        most = COLD_ERROR if cold else MOST_ERROR
        return float(np.clip(max(noise, most * values if cold else 0.0), LEAST_ERROR * values, most * values))

    def round(self, at: Point, dt: float, before: Round | None = None, *, hold: bool = False) -> Round:
        """Linearise, tune, solve.

        With `hold` only the noise is tuned: far from the truth it has to take what wrong parameters cannot explain,
        or a prior that is free to be anything would. In a plane that is not asked of a state that is near.

        Steps that overshoot and come back, as they do where the noise lets the state bend, are relaxed by what the
        round before has shown: Aitken's rule for vectors (Irons & Tuck, 1969).
        """
        made = self.sweep(at.z, at.parameters, dt)
        if self.windows.equation.system.straight:
            at = self.with_best_state(at, made)
            made = self.sweep(at.z, at.parameters, dt)
        misfit = float(np.sqrt(np.asarray(made.misfit) / self.count))
        error = float(made.step_error) / 15
        near = self.domain.program.coarsely and misfit**2 < NEARBY * self.noise(at)
        hold = hold and (self.frozen or not near)
        tolerance = self.tolerance(at, misfit, cold=hold)
        bounds = self.prior_bounds
        if hold:
            bounds = bounds.copy()
            theta = np.asarray(at.theta)
            last = None if self.fixed else -1
            bounds[:last] = np.clip(theta[:last, None], bounds[:last, :1], bounds[:last, 1:])
        data = _without(made.data, self.border.is_flat) if self.given else made.data
        linear = self.likelihood(data, at.parameters)
        solved = self._solved(linear, at, bounds)
        step = np.zeros_like(solved.step) if self.frozen else solved.step
        step = np.where(self.border.is_flat, 0.0, step) if self.given else step
        information = np.asarray(solved.tuned.at.information)
        whole = 1.0 if before is None or not before.fine else _relaxed(before, step, information)
        parameters = np.clip(at.parameters + whole * step, self.bounds[:, 0], self.bounds[:, 1])
        goal = Point(
            solved.mean - solved.slope @ (parameters - at.parameters), parameters, solved.tuned.theta
        )
        if self.frozen or self.given:
            solved = solved._replace(step=step)
        fine = not error > tolerance or dt <= self.windows.span / MOST_STEPS
        return Round(
            at,
            goal,
            linear,
            solved,
            whole,
            misfit,
            hold,
            self._next_step(dt, error, tolerance),
            fine,
            float(made.tail),
            np.asarray(made.growth),
            len(self.windows.equation.parameters),
        )

    def with_best_state(self, at: Point, made: Sweep) -> Point:
        """Return the point with the state that goes best with its parameters, where the motion is linear in the state.

        How places and diffusivities tell on the data is read off the state: around one that has not followed the
        parameters yet, as what comes in at edges must, the next step is any. A twin of glacier ice went on for twenty
        rounds, in steps of a quarter or from one side to the other.
        """
        linear, theta = self.likelihood(made.data, at.parameters), np.asarray(at.theta)
        return at._replace(z=np.asarray(posterior(linear.data, linear.spectrum(theta), np.exp(theta[-1]))[0]))

    def _solved(self, linear: RestrictedLikelihood, at: Point, bounds: np.ndarray) -> Solved:
        """Solve a linear model: in a plane in as few rows as the noise lets be seen, where these are few."""
        rows = linear.data.A.shape[1]
        if self.squares and self.domain.program.coarsely and self.seen.known is None and rows > FEW_ROWS:
            made = condensed(linear.data, linear.spectrum(at.theta), rung(CONDENSED * rows))
            small, left = replace(linear, data=made.data), np.asarray(made.left)

            def hidden(theta: np.ndarray) -> bool:
                return bool(left @ np.asarray(linear.spectrum(theta)) < HIDDEN * np.exp(theta[-1]))

            if hidden(np.asarray(at.theta)):
                solved = jax.tree.map(np.asarray, solve(small, at, bounds, self.scale, self.slope))
                if hidden(solved.tuned.theta):
                    return solved
        return jax.tree.map(np.asarray, solve(linear, at, bounds, self.scale, self.slope))

    def _next_step(self, dt: float, error: float, tolerance: float) -> float:
        """Return the step in time that the error of this one suggests, for an order of four."""
        if not np.isfinite(error):
            return dt / 2
        factor = SAFETY * (tolerance / max(error, 1e-300)) ** 0.25
        wanted = dt * float(np.clip(factor, FINER, COARSER))
        # Within these limits a step stays as it is: another one would only move the error of the steps about.
        wanted = dt if error <= tolerance and wanted < COARSER * dt else wanted
        return float(np.clip(wanted, self.windows.span / MOST_STEPS, self.longest_step))


def _without(data: Reduced, columns: np.ndarray) -> Reduced:
    """Return a linear model to which some of the columns of B say nothing; shapes, and so programs, stay the same."""
    says = np.append(~columns, True) * 1.0
    return data._replace(B=data.B * says[:-1], rest=data.rest * np.outer(says, says))


class SoFar(NamedTuple):
    """How far a search is: what it would answer now, as plain arrays.

    Attributes
    ----------
    task, at, dt
        What is searched in, where the last round wants to go or where the search begins, and its steps in time.
    belief
        What is believed of state and parameters there.
    evidence, rounds
        Log restricted likelihood, NaN before the first round, and how many there were.
    """

    task: FlowTask
    at: Point
    dt: float
    belief: Belief
    evidence: float = np.nan
    rounds: int = 0

    @classmethod
    def of(cls, task: FlowTask, last: Round, rounds: int) -> SoFar:
        """Return what a round has led to."""
        at = last.point._replace(theta=np.asarray(last.tuned.theta))
        return cls(
            task, at, last.dt, last.belief(covariance_of(last.information)), task.evidence(last), rounds
        )


def _relaxed(before: Round, step: np.ndarray, information: np.ndarray) -> float:
    """Return the part of a step that two steps in a row suggest; the whole of it unless they disagree."""
    change = step - before.step
    size = change @ information @ change
    if not size > 0 or before.step @ information @ step >= 0:
        return 1.0
    return float(np.clip(-before.part * (before.step @ information @ change) / size, LEAST_PART, 1.0))


def run(
    task: FlowTask,
    at: Point,
    dt: float,
    say: Progress,
    most: int = MOST_ROUNDS,
    *,
    cold: bool = False,
    farthest: float = np.inf,
) -> Iterator[Round]:
    """Yield rounds until the parameters settle, the lengths leave what the box carries, or the first misfit is too far.

    A step is judged by the next round: where it has not lowered the objective, with the prior's vector that it was made
    with, half of it is tried. State and parameters go together: far from the truth the state that goes with the old
    parameters may be bent so far that it overflows. From a cold start the prior is held in the first round. Rounds that
    creep are carried on to where they lead (`acceleration`).
    """
    before: Round | None = None
    made: list[Round] = []
    count, share, tried, ahead = 0, 1.0, at, False
    begun = partial(SoFar, task, at, task.longest_step)
    keep(say, lambda: begun(task.prior_belief(at)), task.count, -np.inf, task.named(at))
    while count < most:
        say(f"round {count + 1}")
        now = task.round(tried, dt, before, hold=task.frozen or (cold and before is None))
        hopeless = before is not None and now.misfit > HOPELESS * before.misfit
        dt = dt if hopeless and not now.lost else now.dt
        if before is None and not now.misfit <= farthest:
            yield now
            break
        if not (now.fine or now.lost or hopeless):
            continue
        if before is not None and not _lower(before, now, task.slope) and share > SHORTEST:
            # What rounds together promised is given up first, then the step of the last one, half by half.
            share, ahead, made = (share if ahead else share / 2), False, [before]
            tried = between(before.at, before.point, share)
            continue
        done = task.frozen and now.found
        share, count, before = 1.0, count + 1, now
        keep(say, partial(SoFar.of, task, now, count), task.count, task.evidence(now), task.named(now.point))
        yield now
        if now.lost or now.settled or done or (not now.held and not task.carries(now)):
            break
        made = [*made, now][-DEPTH:]
        farther = further(made, task.bounds)
        ahead, tried = farther is not None, now.point if farther is None else farther


def between(one: Point, other: Point, share: float) -> Point:
    """Return the point at a share of the way, with the other's prior."""
    z = one.z + share * (other.z - one.z)
    return Point(z, one.parameters + share * (other.parameters - one.parameters), other.theta)


def _lower(before: Round, now: Round, slope: np.ndarray) -> bool:
    """Whether a step has lowered the objective by a part of what it promised, up to rounding.

    The slope (P,) of ½ log|K| belongs to it: without that, a correction by more than a deviation would be taken back.

    A bent flow can send a state to and fro around its optimum for ever, each time a little beyond it.
    """
    here, there = float(before.solved.merit), float(now.solved.merit_before)
    there += 2 * float(slope @ (now.at.parameters - before.at.parameters))
    wanted = here - PART * float(before.solved.promised) + ROUNDING * abs(here) + GAINED / 2
    return bool(np.isfinite(there) and there <= wanted)
