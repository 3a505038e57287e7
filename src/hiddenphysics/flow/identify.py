"""`fit_flow`: an equation and snapshots in, the fitted flow model out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

import jax.numpy as jnp
import numpy as np

from hiddenphysics.equation import Equation
from hiddenphysics.errors import ModelError
from hiddenphysics.flow.applies import applies
from hiddenphysics.flow.fitted import FlowFit
from hiddenphysics.flow.judge import Evidence, Verdict, judge
from hiddenphysics.flow.motion import MOST_GROWTH, Motion, fastest_growth
from hiddenphysics.flow.moving import split_of
from hiddenphysics.flow.polish import log_determinant_slopes
from hiddenphysics.flow.posterior import covariance_of
from hiddenphysics.flow.prior import Prior
from hiddenphysics.flow.rebox import carry_over
from hiddenphysics.flow.regression import bounds_of_parameters
from hiddenphysics.flow.rounds import FIRST_STEPS, MOST_ROUNDS, Point, Round, Search, run
from hiddenphysics.flow.start import Setting, Start, setting_of, start_of, widened
from hiddenphysics.flow.task import Task, task_of
from hiddenphysics.flow.windows import gap_counts, windows_of
from hiddenphysics.inference.fit import Status
from hiddenphysics.kernels import Kernel
from hiddenphysics.snapshots import Snapshots

Progress = Callable[[str], None]

MOST_BOXES = 8
FALLS = 1e-4
"""Where the noise has come down to what a box carries, the next one carries that much less."""
FACTORS = (1.0, 0.3, 2.0, 0.0)
"""Factors on the regressed parameters to start from."""
SOME_STEPS = 64
"""Steps in time with which these are compared."""
MOST_STARTS = 3
"""Of these, so many are tried when the first searches end badly."""

BAD = (Status.FAILED, Status.NOT_CONVERGED)

QUIET = 1e-6
"""Noise variance, in units of the fields', below which the state is known too well for its volume to matter."""

MOST_POLISHES = 3
WORTH = 0.05
"""Corrections by log|K| below this many standard deviations are not worth another round."""


@dataclass(frozen=True)
class Searched:
    """Where a search ended."""

    search: Search
    last: Round
    rounds: int

    @property
    def evidence(self) -> float:
        """Log restricted likelihood, −∞ where it is not a number."""
        value = -float(self.last.tuned.at.value)
        return value if np.isfinite(value) and np.isfinite(self.last.misfit) else -np.inf


def fit_flow(
    equation: Equation,
    snapshots: Snapshots,
    *,
    kernels: Mapping[str, Kernel] | None = None,
    progress: Callable[[str], None],
) -> FlowFit:
    """Identify the parameters of an equation with its own flow as the model of the snapshots.

    Parameters
    ----------
    equation
        Every field of it needs a time derivative.
    snapshots
        Two or more; the latent lives at the first.
    kernels
        Prior of a field by name; by default the squared exponential or the hyperbolic secant, whichever explains
        the snapshots better.
    progress
        Called with a few words at every stage.
    """
    why_not = applies(equation, snapshots.fields)
    if why_not:
        raise ModelError(f"The flow model does not apply: {why_not} Use model='midpoint' or model='paper'.")
    snapshots.require_at_least(2, "the equation is seen in the change from one to the next")
    tried: list[FlowFit] = []
    for gaps in gap_counts(len(snapshots), max(equation.time_orders.values())):
        tried.append(_fit(task_of(equation, windows_of(snapshots, gaps)), kernels or {}, progress))
        if tried[-1].status in (Status.CONVERGED, Status.WEAKLY_IDENTIFIED, Status.AT_BOUND):
            break
    return max(tried, key=lambda fit: (fit.status not in BAD, np.nan_to_num(fit.evidence, nan=-np.inf)))


def _fit(task: Task, kernels: Mapping[str, Kernel], progress: Progress) -> FlowFit:
    progress("smoothing each snapshot")
    start = start_of(task, kernels)
    task = start.task
    separate = float(sum(one.evidence for one in start.smoothed))
    searched: list[Searched] = []
    for begin, parameters in beginnings(task, start):
        searched.append(_search(task, begin, parameters, progress))
        best = max(searched, key=lambda one: (one.last.settled, one.evidence))
        if best.last.settled and best.evidence >= separate:
            break
    rounds = sum(one.rounds for one in searched)
    progress("correcting for the volume of states")
    polished, covariance = _polish(best, progress)
    verdict = _verdict(task, start, polished, covariance, separate)
    return FlowFit.of(polished.search, polished.last, covariance, verdict, rounds + polished.rounds)


def _cold(task: Task, start: Start) -> Search:
    """Return the search before its first round."""
    limits, none = bounds_of_parameters(task), np.zeros(start.parameters.size)
    return Search(task, start.prior, start.setting, start.scale, limits, task.span / FIRST_STEPS, none)


def beginnings(task: Task, start: Start) -> Iterator[tuple[Start, np.ndarray]]:
    """Yield where searches begin: the best parameters, those in a wider box, then other parameters."""
    points = _starting_points(task, start)
    yield start, points[0]
    wide = widened(start)
    if wide is not None:
        yield wide, _starting_points(task, wide)[0]
    for parameters in points[1:MOST_STARTS]:
        yield start, parameters


def _starting_points(task: Task, start: Start) -> list[np.ndarray]:
    """Return parameters to start from, those that carry the smoothed first snapshots nearest to the others first.

    A regression on steep fields may give an equation that is ill-posed forward in time, such as a negative viscosity:
    its signs turned around, or no motion at all, are better starts then.
    """
    search, z = _cold(task, start), start.z.reshape(len(start.z), -1)
    low, high = search.limits.T
    tried = [factor * start.parameters for factor in FACTORS] + [np.abs(start.parameters)]
    points = list({tuple(np.clip(one, low, high)): None for one in tried})
    path = task.path(task.span / SOME_STEPS)

    def misfit(point: tuple[float, ...]) -> float:
        with np.errstate(over="ignore", invalid="ignore"):
            found = float(np.sum((task.scaled - search.predict(z, np.array(point), path)) ** 2))
        return found if np.isfinite(found) else np.inf

    return [np.array(point) for point in sorted(points, key=misfit)]


def _search(task: Task, start: Start, parameters: np.ndarray, say: Progress) -> Searched:
    """Run rounds, in a new box whenever the prior has left what the old one carries."""
    at = Point(start.z.reshape(len(start.z), -1), parameters, start.theta)
    search, count = _cold(task, start), 0
    for boxes in range(1, MOST_BOXES + 1):
        search, rounds = run(search, at, say, cold=boxes == 1)
        count += len(rounds)
        last = rounds[-1]
        if boxes == MOST_BOXES or search.carried(last.point) or not np.isfinite(last.misfit):
            break
        moved = _rebox(search, last.point)
        if moved is None:
            break
        search, at = moved
    return Searched(search, last, count)


def _rebox(search: Search, at: Point) -> tuple[Search, Point] | None:
    prior: Prior = search.prior
    old = search.setting
    noise = search.noise(at)
    if noise <= 1.01 * old.quietest:
        noise *= FALLS
    new = setting_of(search.task, prior, old.envelopes, search.lengths(at), noise, old.room)
    if new.features == old.features and new.quietest == old.quietest:
        return None
    z = carry_over(search.task, prior, at.theta, at.z, old, new)
    return replace(search, setting=new), Point(z, at.parameters, at.theta)


def _polish(found: Searched, say: Progress) -> tuple[Searched, np.ndarray]:
    """Move to the optimum of the marginal likelihood, in which log|K| counts; return it with the covariance there."""
    search, last, count = found.search, found.last, 0
    information = last.information
    if not np.isfinite(found.evidence):
        return Searched(search, last, 0), np.full_like(information, np.nan)
    if search.noise(last.point) < QUIET:
        return Searched(search, last, 0), covariance_of(information)
    for _ in range(MOST_POLISHES):
        slopes = log_determinant_slopes(search, last)
        information = _with_curvature(last.information, slopes.second)
        shift = covariance_of(information) @ (slopes.first - search.slope)
        if shift @ information @ shift < WORTH**2:
            break
        search = replace(search, slope=slopes.first)
        search, rounds = run(search, last.point, say, most=MOST_ROUNDS // 2)
        last, count = rounds[-1], count + len(rounds)
    return Searched(search, last, count), covariance_of(information)


def _with_curvature(information: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Add the curvature of ½ log|K| to the information where that leaves it positive, never less than half of it."""
    diagonal = np.diagonal(information)
    return information + np.diag(np.clip(second, -0.5 * diagonal, diagonal))


def _verdict(task: Task, start: Start, found: Searched, covariance: np.ndarray, separate: float) -> Verdict:
    parameters = found.last.point.parameters
    return judge(
        Evidence(
            names=task.equation.parameters,
            estimate=parameters,
            covariance=covariance,
            scale=start.scale,
            limits=found.search.limits,
            settled=found.last.settled,
            joint=found.evidence,
            separate=separate,
            tamed=_grows(found.search.setting, task, parameters, finer=1.0),
            unstable=_grows(
                found.search.setting, task, parameters, finer=_data_waves(found.search.setting, task)
            ),
        )
    )


def _grows(setting: Setting, task: Task, parameters: np.ndarray, finer: float) -> bool:
    """Whether some wave, on a grid so much finer than the motion's, would grow by more than the motion lets happen."""
    if split_of(task.equation).coupled:
        return False
    grid = setting.features.grid
    shape = tuple(max(n, 2 * round(0.5 * finer * n)) for n in grid.shape)
    motion = Motion.of(task.equation, replace(setting.features, grid=replace(grid, shape=shape)))
    rate = float(fastest_growth(motion, jnp.asarray(grid.box), jnp.asarray(parameters)))
    return rate * task.span > MOST_GROWTH


def _data_waves(setting: Setting, task: Task) -> float:
    """How much finer the data's points are spaced than the motion's grid, along the finest side."""
    grid = setting.features.grid
    spacing = np.array(grid.lengths) / np.array(grid.shape)
    return float(np.max(spacing / (task.region.extent / task.per_side)))
