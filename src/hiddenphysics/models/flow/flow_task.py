"""What is searched in: data, prior and box, and one linearised round of state and parameters in them.

Halved or doubled, its constants move no answer by a hundredth of its deviation (`benchmarks.constants`),
unless they say so.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import jax
import numpy as np

from hiddenphysics.gaussian import Belief, Reduced, RestrictedLikelihood, condensed, posterior
from hiddenphysics.models.flow.border import Columns, columns_of, limits_of_groups
from hiddenphysics.models.flow.box import QUIETEST, finer
from hiddenphysics.models.flow.compressed import SQUARED, Seen, compressed
from hiddenphysics.models.flow.domain import Domain
from hiddenphysics.models.flow.inflow import Entering
from hiddenphysics.models.flow.one_round import Point, Round, Solved, solve
from hiddenphysics.models.flow.path import MOST_GROWTH, Path
from hiddenphysics.models.flow.processes import is_outside, levels_of, relative_sizes, sizes_of
from hiddenphysics.models.flow.rungs import rung
from hiddenphysics.models.flow.smoothed import bounds_of
from hiddenphysics.models.flow.sweep import Sweep, sweep
from hiddenphysics.models.flow.windows import Windows
from hiddenphysics.priors import Prior

LEAST_PART = 0.1
"""Smallest part to which a step is relaxed."""

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

ROUGH, TOO_ROUGH = 0.03, 2.0
"""Part of themselves by which derivatives may be off, and how many times as much is too much. A gap of 0.6 of Korteweg
and de Vries' equation without noise takes the state 128 steps; with derivatives in 64, 32, 16, 8 and 4 of their own,
off by 3e-4, 0.0015, 0.009, 0.05 and 0.12, parameters move by 0.002, 0.008, 0.005, 0.02 and 0.07 of their deviations,
deviations by 2e-4, 2e-4, 0.0012, 0.0014 and 0.008 of themselves (19 November 2026)."""

ROUGHER = 8.0
"""How much longer than those of the state the first steps of the derivatives are, and from one round to the next."""

MOST_ROUGH, MOST_IN_A_GAP = 1024, 32
"""Steps of the derivatives in a window, and on average in a gap if those are more, beyond which derivatives are not
followed: hundreds of them take minutes there, and nobody can stop a sweep. A thin film's ran on for five, far beyond
its limit of one. Recordings of Korteweg and de Vries' equation take five in a gap."""

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
        bounds = windows.limits
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

        What comes in at a stop must not be stepped over. In a plane nobody has looked.
        """
        program = self.domain.program
        return self.windows.times.shape[1] >= MANY_GAPS and not (program.outside or program.in_a_plane)

    @property
    def longest_step(self) -> float:
        """Longest step in time: a few of them between the first and the last stop, two in every gap unless one does."""
        gap = float(np.max(np.diff(self.windows.times, axis=1), initial=0.0))
        first = self.windows.span / FIRST_STEPS if len(self.domain.shortest) == 1 else gap
        return max(min(first, gap if self.two_gaps else gap / 2), 1e-300)

    @property
    def longest_rough(self) -> float:
        """Longest step in time of the derivatives: one in every gap."""
        return max(float(np.max(np.diff(self.windows.times, axis=1), initial=0.0)), self.longest_step)

    def path(self, dt: float, rough: float | None = None) -> Path:
        """Return the way through all stops, in steps of at most dt, and of at most `rough` for the derivatives."""
        most = MOST_GROWTH / max(self.windows.span, 1e-300)
        return Path.through(
            self.windows.times,
            dt,
            most,
            self.horizon,
            rough=rough,
            two_gaps=self.two_gaps,
            entering=self._entering,
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

    def sweep(
        self,
        z: np.ndarray,
        parameters: np.ndarray,
        dt: float,
        rough: float | None = None,
        probe: np.ndarray | None = None,
    ) -> Sweep:
        """Linearise around a state and parameters; see `path` for the steps and `probe` for what they are asked."""
        latent, path = self.domain.latent(z), self.path(dt, rough)
        asked = np.zeros(np.shape(latent.z)[-1]) if probe is None else probe
        return sweep(self.domain.program, self.seen, latent, parameters, path, asked, squares=self.squares)

    def probe(self, at: Point) -> np.ndarray:
        """Return a direction (K,) that holds every amplitude of the state alike that the noise lets be seen.

        Signs are any, and the same each time: what derivatives are off by adds up as their squares do.
        """
        program = self.domain.program
        own = program.features - program.means
        each = self.prior_belief(at).spectrum[:own].reshape(program.processes, -1)
        whole = np.maximum(each.sum(axis=1, keepdims=True), 1e-300)
        hidden = self.noise(at) * len(self.windows.times) / self.count
        # In the units of every process; a mean stream is a wave that nothing turns.
        seen = np.sqrt(whole * each / (each + hidden * whole))
        direction = np.zeros(np.shape(at.z)[1])
        direction[:own] = seen.ravel()
        return direction * np.random.default_rng(0).choice([-1.0, 1.0], direction.size)

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

    def round(
        self,
        at: Point,
        dt: float,
        before: Round | None = None,
        *,
        rough: float | None = None,
        turned: float = ROUGH,
        hold: bool = False,
    ) -> Round:
        """Linearise, tune, solve; derivatives go in steps of `rough`, by default some times longer than the state's.

        These are off by `turned` of themselves at most.

        With `hold` only the noise is tuned: far from the truth it has to take what wrong parameters cannot explain,
        or a prior that is free to be anything would. In a plane that is not asked of a state that is near.

        Steps that overshoot and come back, as they do where the noise lets the state bend, are relaxed by what the
        round before has shown: Aitken's rule for vectors (Irons & Tuck, 1969).
        """
        rough = float(np.clip(rough or ROUGHER * dt, dt, self.longest_rough))
        made, rough = self._linearised(at, dt, rough)
        if self.windows.equation.system.straight:
            at = self.with_best_state(at, made)
            made, rough = self._linearised(at, dt, rough)
        misfit = float(np.sqrt(np.asarray(made.misfit) / self.count))
        error = float(made.step_error) / 15
        near = self.domain.program.in_a_plane and misfit**2 < NEARBY * self.noise(at)
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
        off = float(made.turned)
        fine = error <= tolerance or dt <= self.windows.span / MOST_STEPS
        fine = fine and (not off > TOO_ROUGH * turned or rough <= self._shortest_rough(dt))
        next_dt = _next_step(dt, error, tolerance, self.windows.span / MOST_STEPS, self.longest_step, COARSER)
        return Round(
            at,
            goal,
            linear,
            solved,
            whole,
            misfit,
            hold,
            next_dt,
            _next_step(rough, off, turned, self._shortest_rough(next_dt), self.longest_rough, ROUGHER),
            fine,
            float(made.tail),
            np.asarray(made.growth),
            len(self.windows.equation.parameters),
            made.sums,
        )

    def _shortest_rough(self, dt: float) -> float:
        """Shortest step of the derivatives beside steps dt of the state."""
        steps = max(MOST_ROUGH, MOST_IN_A_GAP * self.windows.times.shape[1])
        return max(dt, self.windows.span / steps)

    def _linearised(self, at: Point, dt: float, rough: float) -> tuple[Sweep, float]:
        """Linearise around a point, with steps of the derivatives that tell anything; return both.

        A state that grows against a cube, u − u³, leaves the numbers in long steps.
        """
        probe, shortest = self.probe(at), self._shortest_rough(dt)
        while True:
            made = self.sweep(at.z, at.parameters, dt, rough, probe)
            if made.turned < 1 or rough <= shortest or not np.isfinite(made.misfit):
                return made, rough
            rough = max(rough / 4, shortest)

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
        if self.squares and self.domain.program.in_a_plane and self.seen.known is None and rows > FEW_ROWS:
            made = condensed(linear.data, linear.spectrum(at.theta), rung(CONDENSED * rows))
            small, left = replace(linear, data=made.data), np.asarray(made.left)

            def hidden(theta: np.ndarray) -> bool:
                return bool(left @ np.asarray(linear.spectrum(theta)) < HIDDEN * np.exp(theta[-1]))

            if hidden(np.asarray(at.theta)):
                solved = jax.tree.map(np.asarray, solve(small, at, bounds, self.scale, self.slope))
                if hidden(solved.tuned.theta):
                    return solved
        return jax.tree.map(np.asarray, solve(linear, at, bounds, self.scale, self.slope))


def _next_step(dt: float, error: float, tolerance: float, least: float, most: float, coarser: float) -> float:
    """Return the step in time that the error of this one suggests, for an order of four, within limits."""
    if not np.isfinite(error):
        return float(max(dt / 2, least))
    factor = SAFETY * (tolerance / max(error, 1e-300)) ** 0.25
    wanted = dt * float(np.clip(factor, FINER, coarser))
    # Within these limits a step stays as it is: another one would only move the error of the steps about.
    wanted = dt if error <= tolerance and wanted < COARSER * dt else wanted
    return float(np.clip(wanted, least, max(least, most)))


def _without(data: Reduced, columns: np.ndarray) -> Reduced:
    """Return a linear model to which some of the columns of B say nothing; shapes, and so programs, stay the same."""
    says = np.append(~columns, True) * 1.0
    return data._replace(B=data.B * says[:-1], rest=data.rest * np.outer(says, says))


def _relaxed(before: Round, step: np.ndarray, information: np.ndarray) -> float:
    """Return the part of a step that two steps in a row suggest; the whole of it unless they disagree."""
    change = step - before.step
    size = change @ information @ change
    if not size > 0 or before.step @ information @ step >= 0:
        return 1.0
    return float(np.clip(-before.part * (before.step @ information @ change) / size, LEAST_PART, 1.0))
