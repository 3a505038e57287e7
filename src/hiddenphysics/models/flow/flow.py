"""`FlowModel`: the equation's own motion carries a latent field through all snapshots."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import jax.numpy as jnp
import numpy as np
import sympy

from hiddenphysics.equation import Equation, derivative_symbol, evaluate_by_name, field_name, linear_terms
from hiddenphysics.errors import ModelError
from hiddenphysics.gaussian import RestrictedLikelihood, covariance_of
from hiddenphysics.learning import Progress, Status, Verdict, at_bound, gravest, is_free, undetermined
from hiddenphysics.models.flow.beginning import Beginning, beginning_of, widened
from hiddenphysics.models.flow.domain import Domain, carry_over, domain_of
from hiddenphysics.models.flow.gauss_newton import (
    FIRST_STEPS,
    MOST_ROUNDS,
    Point,
    Round,
    Task,
    log_determinant_slopes,
    run,
)
from hiddenphysics.models.flow.learned import LearnedFlow
from hiddenphysics.models.flow.path import MOST_GROWTH, Program, fastest_growth
from hiddenphysics.models.flow.windows import Windows, gap_counts, gathered, windows_of
from hiddenphysics.models.model import MODELS, Arrays, Fit, MeanAndStd, Model
from hiddenphysics.models.question import Question
from hiddenphysics.operators import Operator
from hiddenphysics.priors import Kernel, Unknowns
from hiddenphysics.snapshots import Snapshots

MOST_DIMENSIONS = 2

MOST_BOXES = 8
FALLS = 1e-4
"""Where the noise has come down to what a box carries, the next one carries that much less."""
FACTORS = (1.0, 0.3, 2.0, 0.0)
"""Factors on the regressed parameters to start from."""
SOME_STEPS = 64
"""Steps in time with which these are compared."""
MORE = 4
"""How many times the usual number of rounds a search gets that explains most, and has not settled."""
MOST_STARTS = 3
"""Of these, so many are tried when the first searches end badly."""

QUIET = 1e-6
"""Noise variance, in units of the fields', below which the state is known too well for its volume to matter."""

MOST_POLISHES = 3
WORTH = 0.05
"""Corrections by log|K| below this many standard deviations are not worth another round."""


@dataclass(frozen=True)
class FlowModel(Model):
    """The latent lives at the first snapshot, as waves on a box somewhat larger than the data.

    The flow is linearised in state and parameters; these come by generalised least squares, the prior by restricted
    likelihood. Exact in the gap, any number of snapshots.
    """

    name: str = "flow"

    def applies(self, question: Question) -> str | None:
        """Return why the flow cannot carry these data."""
        equation, measured = question.equation, question.snapshots.fields
        system = equation.system
        if (
            system.accelerations
            and len(question.snapshots) < 3
            and not set(system.velocities) <= set(measured)
        ):
            return "Of second order in time, the equation needs three snapshots, or the velocity beside."
        if equation.definitions:
            named = ", ".join(equation.definitions)
            return f"{named} is defined by a potential, and the flow model moves fields, not potentials."
        if system.idle:
            named = ", ".join(system.idle)
            return f"The equation gives no time derivative of {named}, so there is nothing to integrate."
        if len(equation.coordinates) > MOST_DIMENSIONS:
            return (
                f"There are {len(equation.coordinates)} coordinates; the flow model's boxes have at most two."
            )
        if not set(measured) & set(equation.evolution):
            return f"None of the fields {', '.join(equation.evolution)} has data."
        hidden = [name for name in equation.evolution if name not in measured]
        if hidden:
            return (
                f"{', '.join(hidden)} has no data, and a whole hidden field cannot be started from nothing."
            )
        return None

    def linearise(self, task: Task, at: Point) -> RestrictedLikelihood:
        """Return the motion, linear around a state and parameters."""
        return task.linearise(at)

    def log_density(self, linear: RestrictedLikelihood, vector: np.ndarray) -> float:
        """Return the log restricted likelihood at the prior's vector."""
        return -float(linear(vector)[0].value)

    def learn(self, question: Question, say: Progress) -> Fit:
        """Fit the whole recording at once; where that ends badly, in windows half as long, and so on."""
        why_not = self.applies(question)
        if why_not:
            raise ModelError(
                f"The flow model does not apply: {why_not} Use model='midpoint' or model='paper'."
            )
        equation, snapshots = question.equation, question.snapshots
        _check_enough(question)
        kernels = _by_field(question)
        tried: list[Fit] = []
        for gaps in gap_counts(len(snapshots), max(equation.time_orders.values())):
            tried.append(_fit(gathered(equation, windows_of(snapshots, gaps)), kernels, say))
            if not tried[-1].verdict.status.is_bad:
                break
        return max(
            tried,
            key=lambda fit: (not fit.verdict.status.is_bad, np.nan_to_num(fit.evidence, nan=-np.inf)),
        )

    def predict(self, learned: LearnedFlow, text: str, points: np.ndarray, t: float) -> MeanAndStd:
        """Return posterior mean and deviation from the first snapshot onwards."""
        operator, offset = _operator(learned, text, points, t)
        mean, std = learned.mean_and_std(operator, points, t)
        return mean + offset, std

    def draw(
        self, learned: LearnedFlow, text: str, points: np.ndarray, t: float, count: int, seed: int
    ) -> np.ndarray:
        """Return draws, each moved by its own parameters; of the fields themselves."""
        state = learned.program.state
        if text not in state:
            raise ModelError(
                f"Draws of {text!r} were asked for; the flow draws {', '.join(state)}. Draw those on a grid, and "
                "combine them."
            )
        return learned.drawn(points, np.array([t]), count, seed)[:, 0, learned.row(text)]

    def move(
        self, learned: LearnedFlow, points: np.ndarray, times: np.ndarray, draws: int, seed: int
    ) -> dict[str, np.ndarray]:
        """Return the mean, or draws, of every field of the state, moved on by the equation itself."""
        moved = learned.drawn(points, times, draws, seed) if draws else learned.moved(points, times)
        return {name: moved[..., row, :] for row, name in enumerate(learned.program.state)}

    def cramer_rao(
        self, learned: LearnedFlow, snapshots: Snapshots, noise: Mapping[str, float]
    ) -> dict[str, float]:
        """Return (BᵀK⁻¹B)⁻¹ with the noise that is asked for; see `LearnedFlow.cramer_rao`."""
        return learned.cramer_rao(snapshots, noise)

    def pack(self, learned: LearnedFlow) -> tuple[dict[str, Any], Arrays]:
        """Return the waves and the belief in them."""
        return learned.pack()

    def unpack(
        self,
        equation: Equation,
        snapshots: Snapshots,
        values: Mapping[str, float],
        plain: Mapping[str, Any],
        arrays: Arrays,
    ) -> LearnedFlow:
        """Return what `pack` has packed."""
        return LearnedFlow.unpack(equation, plain, arrays)


MODELS.add("flow", FlowModel())


# ---- at the door --------------------


def _check_enough(question: Question) -> None:
    fields, coordinates = question.snapshots.fields, question.snapshots.coordinates
    numbers = [f"{f}.{c}" for f in fields for c in ("variance", *coordinates)]
    parameters = question.equation.parameters
    question.require_values(
        [*parameters, *numbers, "noise"],
        f"{', '.join(parameters)}, the noise, and variance and lengths of every field",
    )


def _by_field(question: Question) -> Mapping[str, Kernel]:
    """Return one kernel per field, from what a user gave."""
    given, fields = question.kernels, question.snapshots.fields
    if given is None:
        return {}
    chosen = given if isinstance(given, Mapping) else dict.fromkeys(fields, given)
    unknown = sorted(set(chosen) - set(fields))
    if unknown:
        raise ModelError(f"A kernel was given for {unknown[0]!r}; the fields are {', '.join(fields)}.")
    several = [f for f, one in chosen.items() if not isinstance(one, Kernel) and len(one) != 1]
    if several:
        raise ModelError(
            f"Several kernels were given for {several[0]!r}; the flow model takes one per field. Give one, or none: "
            "then the evidence chooses."
        )
    kernels = {f: one if isinstance(one, Kernel) else one[0] for f, one in chosen.items()}
    for f, one in kernels.items():
        one.check_smooth_enough(question.equation.order, f)
    return kernels


def _operator(
    learned: LearnedFlow, text: str, points: np.ndarray, t: float
) -> tuple[Operator[Any], np.ndarray]:
    """Read a linear expression in the state's fields: an operator with numbers for coefficients, and a constant."""
    equation = learned.equation
    by_atom, constant = linear_terms(text, learned.program.state, equation.coordinates, equation.parameters)
    numbers: dict[str, Any] = dict(zip(equation.parameters, learned.parameters, strict=True)) | {"t": t}
    numbers |= {name: points[:, d] for d, name in enumerate(equation.coordinates)}

    def number(factor: sympy.Expr) -> np.ndarray:
        return np.broadcast_to(evaluate_by_name(factor, numbers, np), (len(points),))

    terms = (
        (field_name(atom), derivative_symbol(atom, equation.coordinates), number(factor))
        for atom, factor in by_atom.items()
    )
    return Operator.collect(terms), number(constant)


# ---- one fit --------------------


@dataclass(frozen=True)
class Searched:
    """Where a search ended."""

    task: Task
    last: Round
    rounds: int

    @property
    def evidence(self) -> float:
        """Log restricted likelihood, −∞ where it is not a number."""
        value = -float(self.last.tuned.at.value)
        return value if np.isfinite(value) and np.isfinite(self.last.misfit) else -np.inf


def _fit(windows: Windows, kernels: Mapping[str, Kernel], say: Progress) -> Fit:
    say("smoothing each snapshot")
    start = beginning_of(windows, kernels)
    windows = start.windows
    separate = float(sum(one.evidence for one in start.smoothed))
    searched: list[Searched] = []
    for begin, parameters in beginnings(windows, start):
        searched.append(_search(windows, begin, parameters, say))
        best = max(searched, key=lambda one: (one.last.settled, one.evidence))
        if best.last.settled and best.evidence >= separate:
            break
    best = _finished(max(searched, key=lambda one: one.evidence), best, say)
    say("correcting for the volume of states")
    polished, covariance = _polish(best, say)
    return Fit(
        values=_values(polished),
        covariance=_widened(covariance, polished.task),
        evidence=-float(polished.last.tuned.at.value),
        verdict=_verdict(start, polished, covariance, separate),
        jitter=0.0,
        evaluations=sum(one.rounds for one in searched) + polished.rounds,
        learned=LearnedFlow.of(polished.task, polished.last, covariance),
    )


def _finished(likeliest: Searched, settled: Searched, say: Progress) -> Searched:
    """Return the search that explains most; one that had not settled by then gets more rounds to do so.

    A breather of sine-Gordon crawled through eighty rounds to the truth, while another start had settled in a false
    valley, a hundred lower in log evidence.
    """
    if likeliest.last.settled or likeliest.evidence <= settled.evidence:
        return settled
    task, made = run(likeliest.task, likeliest.last.point, say, most=MORE * MOST_ROUNDS)
    longer = Searched(task, made[-1], likeliest.rounds + len(made))
    return max(longer, settled, key=lambda one: (one.last.settled, one.evidence))


def _values(ended: Searched) -> dict[str, float]:
    """Every number in natural units; with several measured fields the noise is the mean over the fields."""
    windows = ended.task.windows
    unknowns = Unknowns(windows.equation.parameters, ended.task.prior)
    theta = ended.last.tuned.theta.copy()
    theta[-1] += np.log(np.mean(windows.sizes[list(windows.measured)] ** 2))
    return unknowns.numbers(np.concatenate([ended.last.point.parameters, theta]))


def _widened(covariance: np.ndarray, task: Task) -> np.ndarray:
    """Return the parameters' covariance with zeros for the prior's numbers."""
    whole = np.zeros((len(covariance) + len(task.prior.names),) * 2)
    whole[: len(covariance), : len(covariance)] = covariance
    return whole


def _cold(windows: Windows, start: Beginning) -> Task:
    """Return the task before its first round."""
    bounds = windows.equation.bounds
    limits = np.array([bounds[name] for name in windows.equation.parameters], float)
    none = np.zeros(start.parameters.size)
    return Task(windows, start.prior, start.domain, start.scale, limits, windows.span / FIRST_STEPS, none)


def beginnings(windows: Windows, start: Beginning) -> Iterator[tuple[Beginning, np.ndarray]]:
    """Yield where searches begin: the best parameters, those in a wider box, then other parameters."""
    points = _starting_points(windows, start)
    yield start, points[0]
    wide = widened(start)
    if wide is not None:
        yield wide, _starting_points(windows, wide)[0]
    for parameters in points[1:MOST_STARTS]:
        yield start, parameters


def _starting_points(windows: Windows, start: Beginning) -> list[np.ndarray]:
    """Return parameters to start from, those that carry the smoothed first snapshots nearest to the others first.

    A regression on steep fields may give an equation that is ill-posed forward in time, such as a negative viscosity:
    its signs turned around, or no motion at all, are better starts then.
    """
    task, z = _cold(windows, start), start.z.reshape(len(start.z), -1)
    low, high = task.limits.T
    tried = [factor * start.parameters for factor in FACTORS] + [np.abs(start.parameters), *start.others]
    points = list({tuple(np.clip(one, low, high)): None for one in tried})
    path = windows.path(windows.span / SOME_STEPS)

    def misfit(point: tuple[float, ...]) -> float:
        with np.errstate(over="ignore", invalid="ignore"):
            total = float(np.sum((windows.scaled - task.predict(z, np.array(point), path)) ** 2))
        return total if np.isfinite(total) else np.inf

    return [np.array(point) for point in sorted(points, key=misfit)]


def _search(windows: Windows, start: Beginning, parameters: np.ndarray, say: Progress) -> Searched:
    """Run rounds, in a new box whenever the prior has left what the old one carries."""
    at = Point(start.z.reshape(len(start.z), -1), parameters, start.theta)
    task, count = _cold(windows, start), 0
    for boxes in range(1, MOST_BOXES + 1):
        task, made = run(task, at, say, cold=boxes == 1)
        count += len(made)
        last = made[-1]
        if boxes == MOST_BOXES or task.carried(last.point) or not np.isfinite(last.misfit):
            break
        moved = _rebox(task, last.point)
        if moved is None:
            break
        task, at = moved
    return Searched(task, last, count)


def _rebox(task: Task, at: Point) -> tuple[Task, Point] | None:
    prior, old, noise = task.prior, task.domain, task.noise(at)
    if noise <= 1.01 * old.quietest:
        noise *= FALLS
    new = domain_of(task.windows, prior, old.envelopes, task.lengths(at), noise, old.room)
    if new.features == old.features and new.quietest == old.quietest:
        return None
    z = carry_over(task.windows, prior, at.theta, at.z, old, new)
    return replace(task, domain=new), Point(z, at.parameters, at.theta)


def _polish(ended: Searched, say: Progress) -> tuple[Searched, np.ndarray]:
    """Move to the optimum of the marginal likelihood, in which log|K| counts; return it with the covariance there."""
    task, last, count = ended.task, ended.last, 0
    information = last.information
    if not np.isfinite(ended.evidence):
        return Searched(task, last, 0), np.full_like(information, np.nan)
    if task.noise(last.point) < QUIET:
        return Searched(task, last, 0), covariance_of(information)
    for _ in range(MOST_POLISHES):
        slopes = log_determinant_slopes(task, last)
        information = _with_curvature(last.information, slopes.second)
        shift = covariance_of(information) @ (slopes.first - task.slope)
        if shift @ information @ shift < WORTH**2:
            break
        task = replace(task, slope=slopes.first)
        task, made = run(task, last.point, say, most=MOST_ROUNDS // 2)
        last, count = made[-1], count + len(made)
    return Searched(task, last, count), covariance_of(information)


def _with_curvature(information: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Add the curvature of ½ log|K| to the information where that leaves it positive, never less than half of it."""
    diagonal = np.diagonal(information)
    return information + np.diag(np.clip(second, -0.5 * diagonal, diagonal))


# ---- how it ended --------------------


def _verdict(start: Beginning, ended: Searched, covariance: np.ndarray, separate: float) -> Verdict:
    """Say how it went, the gravest finding first."""
    task, parameters = ended.task, ended.last.point.parameters
    domain, windows, names = task.domain, task.windows, task.windows.equation.parameters
    finite = bool(np.all(np.isfinite(parameters)) and np.isfinite(ended.evidence))
    if not finite:
        return Verdict(
            Status.FAILED, "The motion left the numbers at every start that was tried: the fields overflow."
        )
    return gravest(
        _better_without(ended.evidence, separate),
        _tamed(_grows(domain, windows, parameters, finer=1.0)),
        _unstable(_grows(domain, windows, parameters, finer=_data_waves(domain, windows))),
        undetermined(names, parameters, covariance, start.scale),
        at_bound(names, is_free(parameters, start.scale, task.limits)),
        _unsettled(ended.last.settled),
        otherwise="The rounds settled at an optimum that every parameter has curvature at.",
    )


def _better_without(joint: float, separate: float) -> Verdict | None:
    if joint >= separate:
        return None
    return Verdict(
        Status.NOT_CONVERGED,
        "The snapshots are explained better one by one, without any equation, than together by this one (log "
        f"evidence {separate:.1f} against {joint:.1f}): the equation does not hold for these data, or the search "
        "ended in a false optimum. The numbers are not to be used.",
    )


def _tamed(grows: bool) -> Verdict | None:
    if not grows:
        return None
    return Verdict(
        Status.NOT_CONVERGED,
        "With the estimated parameters the shortest waves grow without bound: the equation is ill-posed forward in "
        "time there, and its flow was held back. Check signs, or give bounds.",
    )


def _unstable(grows: bool) -> Verdict | None:
    if not grows:
        return None
    return Verdict(
        Status.WEAKLY_IDENTIFIED,
        "The estimate is ill-posed for waves as short as the distance between the points, which these smooth data do "
        "not contain: they do not determine the coefficient of the highest derivative. Give it bounds, or use later "
        "snapshots.",
    )


def _unsettled(settled: bool) -> Verdict | None:
    return (
        None if settled else Verdict(Status.NOT_CONVERGED, "The rounds ended before the parameters settled.")
    )


def _grows(domain: Domain, windows: Windows, parameters: np.ndarray, finer: float) -> bool:
    """Whether some wave, on a grid so much finer than the motion's, would grow by more than the motion lets happen."""
    if windows.equation.system.coupled:
        return False
    grid = domain.features.grid
    shape = tuple(max(n, 2 * round(0.5 * finer * n)) for n in grid.shape)
    program = Program.of(windows.equation, replace(domain.features, grid=replace(grid, shape=shape)))
    rate = float(fastest_growth(program, jnp.asarray(grid.box), jnp.asarray(parameters)))
    return rate * windows.span > MOST_GROWTH


def _data_waves(domain: Domain, windows: Windows) -> float:
    """How much finer the data's points are spaced than the motion's grid, along the finest side."""
    grid = domain.features.grid
    spacing = np.array(grid.lengths) / np.array(grid.shape)
    return float(np.max(spacing / (windows.region.extent / windows.per_side)))
