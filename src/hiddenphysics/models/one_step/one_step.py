"""`OneStepModel`: what the models of one gap share, whatever their step in time."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import sympy

from hiddenphysics.equation import System, frozen_atoms
from hiddenphysics.errors import DataError, ModelError
from hiddenphysics.learning import (
    MANY,
    Criticism,
    Density,
    Posterior,
    Progress,
    SmoothedField,
    Status,
    Stopped,
    first_guess,
    keep,
    prior_of,
    seen_in,
    silent,
    smoothed_snapshots,
)
from hiddenphysics.loader import finite, mapping, record, text
from hiddenphysics.models.model import Arrays, Fit, MeanAndStd, Model
from hiddenphysics.models.one_step import posterior
from hiddenphysics.models.one_step.best_so_far import BestSoFar
from hiddenphysics.models.one_step.expansion import ExpansionTask, from_a_part, searched
from hiddenphysics.models.one_step.optimum import Judged, judged, stopped_at
from hiddenphysics.models.one_step.places import Place, State, collect, latent_time, place
from hiddenphysics.models.one_step.problem import Problem
from hiddenphysics.models.one_step.remainder import criticised, jets_of
from hiddenphysics.models.one_step.start import smoother_of, start_of, with_kernels
from hiddenphysics.models.one_step.step import OneStep, Quantity, counts_of, derived, with_scales
from hiddenphysics.models.one_step.step_error import moved_by, step_errors
from hiddenphysics.models.question import Question
from hiddenphysics.priors import kernel_from_dict, kernel_to_dict
from hiddenphysics.snapshots import Snapshots

Scheme = Callable[[System, Collection[str]], OneStep]
"""(system, measured fields) -> observations of latent processes: all in which models of one gap differ."""


@dataclass(frozen=True)
class Learned:
    """Fields that one step determines between its snapshots.

    Attributes
    ----------
    problem, values
        The likelihood and the learned numbers.
    snapshots, smoothed
        The data, and each measured field smoothed by itself.
    """

    problem: Problem
    values: Mapping[str, float]
    snapshots: Snapshots
    smoothed: Mapping[str, SmoothedField]


@dataclass(frozen=True)
class Begun:
    """What a search has before it ends: the likelihood of all data, the smoothed fields, and its best so far."""

    problem: Problem
    smoothed: Mapping[str, SmoothedField]
    best: BestSoFar


@dataclass(frozen=True)
class OneStepModel(Model):
    """Two snapshots (of u_tt three) as observations of latent processes at one time, linked by one step.

    Attributes
    ----------
    name
        What a user types.
    scheme
        The step in time.
    """

    name: str
    scheme: Scheme

    def applies(self, question: Question) -> str | None:
        """Return why it cannot be asked: of several experiments; what no step can be made of is refused later."""
        count = len(question.experiments)
        if question.inputs:
            return "Inputs with times and points of their own are for the flow model."
        return f"There are {count} experiments, and it takes one." if count > 1 else None

    def task(self, question: Question, say: Progress = silent) -> ExpansionTask:
        """Build the step, choose the priors, and refuse a number of snapshots that the step does not take."""
        step = self.scheme(question.equation.system, question.snapshots.fields)
        step, kernels = with_kernels(step, [o.field for o in step.observations], question.kernels)
        _check_count(self.name, step, question)
        smoother = smoother_of(question.snapshots, kernels, say)
        first = posterior.first_state(step, question.snapshots, smoother)
        return ExpansionTask(step, kernels, question.snapshots, smoother, first)

    def linearise(self, task: ExpansionTask, at: State) -> Problem:
        """Return the likelihood with a state in its coefficients."""
        return task.linearise(at)

    def log_density(self, linear: Problem, vector: np.ndarray) -> float:
        """Return the log marginal likelihood at an unconstrained vector."""
        return -linear.objective(vector)[0]

    def learn(self, question: Question, say: Progress) -> Fit:
        """Smooth, guess, search, expand, and say how it went; when stopped, return the best so far."""
        task = self.task(question, say)
        say("compiling, and smoothing each snapshot")
        smoothed = {f: task.smoother(f) for f in question.snapshots.fields}
        guess = first_guess(question.equation, smoothed_snapshots(question.snapshots, smoothed))
        say("compiling the likelihood")
        problem = self.linearise(task, task.first)
        question.require_values(problem.names, ", ".join(problem.names))
        start = start_of(problem, question, smoothed, guess)
        many = problem.size > MANY
        so_far = BestSoFar(say, start)
        begun = Begun(problem, smoothed, so_far)
        keep(say, lambda: begun, values={name: guess.estimate[name] for name in question.equation.numbers})
        system = question.equation.system
        jets = cache(lambda: jets_of(question.snapshots, smoothed, system))

        def shift(problem: Problem, vector: np.ndarray, covariance: np.ndarray) -> np.ndarray:
            errors = step_errors(problem, problem.unknowns.numbers(vector), system, jets())
            return np.zeros(vector.size) if errors is None else moved_by(problem, vector, covariance, errors)

        criticism = None
        try:
            reached = from_a_part(task, start, so_far) if many else searched(task, start, 1, so_far)
            end = judged(reached, start, guess, so_far, shift)
            if end.verdict.status is not Status.FAILED:
                say("criticising the equation")
                criticism = criticised(end.problem, end.optimum.vector, end.curvature, system, jets())
                end = end.criticised(criticism)
        except Stopped as stopped:
            return self.finish(question, begun, stopped.reason)
        return _fit(question, smoothed, end, criticism)

    def finish(self, question: Question, so_far: Begun, reason: str) -> Fit:
        """Return the best of a search, or where it starts; nothing is compiled for that."""
        return _fit(question, so_far.smoothed, stopped_at(so_far.best, so_far.problem, reason))

    def predict(self, learned: Learned, text: str, points: np.ndarray, t: float) -> MeanAndStd:
        """Return posterior mean and deviation between the snapshots."""
        quantity, here = self._quantity(learned, text, points, t)
        return posterior.mean_and_std(learned.problem, dict(learned.values), quantity, here)

    def draw(
        self, learned: Learned, text: str, points: np.ndarray, t: float, count: int, seed: int
    ) -> np.ndarray:
        """Return draws from the joint posterior between the snapshots."""
        quantity, here = self._quantity(learned, text, points, t)
        return posterior.draws(learned.problem, dict(learned.values), quantity, here, count, seed)

    def problem(self, question: Question) -> Problem:
        """Return the likelihood with the first state in its coefficients."""
        task = self.task(question)
        return self.linearise(task, task.first)

    def likelihood(self, learned: Learned) -> Problem:
        """Return the likelihood in its last expansion."""
        return learned.problem

    def _quantity(self, learned: Learned, text: str, points: np.ndarray, t: float) -> tuple[Quantity, Place]:
        step, snapshots = learned.problem.step, learned.snapshots
        first, last = snapshots.times[0], snapshots.times[-1]
        if not first <= t <= last:
            raise ModelError(
                f"The time t = {t:g} was asked for; the model {self.name!r} knows the field between its snapshots, "
                f"from t = {first:g} to {last:g}. The model 'flow' knows it later, too."
            )
        time = latent_time(step, snapshots)
        quantity = derived(step, text, at_latent_time=time == t)
        atoms = sorted(frozen_atoms(*quantity.expressions), key=str)
        state = posterior.first_state(step, snapshots, learned.smoothed.__getitem__)
        if step.frozen_snapshot is None:
            state = posterior.posterior_mean(learned.problem, dict(learned.values), state)
        return quantity, place(points, state(atoms, step.frozen_snapshot or 0, points), time - t, time)

    def pack(self, learned: Learned) -> tuple[dict[str, Any], Arrays]:
        """Return kernels and smoothed fields, and the state in the coefficients."""
        plain = {
            "kernels": {latent: kernel_to_dict(k) for latent, k in learned.problem.unknowns.prior.latents},
            "smoothed": {
                f: {"kernel": kernel_to_dict(s.kernel), "values": s.values}
                for f, s in learned.smoothed.items()
            },
        }
        return plain, _state_arrays(learned.problem)

    def unpack(
        self, question: Question, values: Mapping[str, float], plain: Mapping[str, Any], arrays: Arrays
    ) -> Learned:
        """Return what `pack` has packed."""
        equation, snapshots = question.equation, question.snapshots
        kernels = {latent: kernel_from_dict(k) for latent, k in plain["kernels"].items()}
        smoothed = {
            f: SmoothedField(
                prior_of(snapshots, kernel_from_dict(s["kernel"])), s["values"], seen_in(snapshots, f)
            )
            for f, s in plain["smoothed"].items()
        }
        step = with_scales(self.scheme(equation.system, snapshots.fields), counts_of(kernels))
        data = collect(step, snapshots, _state_from(snapshots, arrays))
        return Learned(Problem.of(step, kernels, data), values, snapshots, smoothed)

    def check(
        self, question: Question, values: Mapping[str, float], plain: Mapping[str, Any], arrays: Arrays
    ) -> None:
        """Refuse kernels, states and numbers that do not belong together."""
        _check_packed(question.snapshots, plain, arrays)
        learned = self.unpack(question, values, plain, arrays)
        _check_values(values, learned.problem.names, learned.problem.unknowns.prior.names)
        for field in learned.smoothed.values():
            _check_values(field.values, field.prior.names, field.prior.names)


def _fit(
    question: Question,
    smoothed: Mapping[str, SmoothedField],
    end: Judged,
    criticism: Criticism | None = None,
) -> Fit:
    """Return where a search ended as what is learned."""
    values = end.problem.unknowns.numbers(end.optimum.vector)
    return Fit(
        values=values,
        covariance=end.covariance,
        evidence=end.problem.log_units - end.optimum.value,
        verdict=end.verdict,
        criticism=criticism,
        posterior=Posterior(_log_density_of(end.problem), end.optimum.vector, end.curvature),
        jitter=end.jitter,
        evaluations=end.evaluations,
        learned=Learned(end.problem, values, question.snapshots, smoothed),
    )


def _log_density_of(problem: Problem) -> Density:
    def density(vector: np.ndarray) -> tuple[float, np.ndarray]:
        value, slope = problem.objective(vector)
        return -value, -slope

    return density


def _check_count(name: str, step: OneStep, question: Question) -> None:
    """Refuse more or fewer snapshots than the step takes."""
    times, needed = question.snapshots.times, step.snapshots
    if len(times) < needed:
        u = next(iter(question.equation.system.accelerations))
        raise DataError(
            f"{len(times)} snapshots were given; the equation is of second order in time, and {u}_tt is seen in three, "
            f"or in two with the velocity beside. Give one more snapshot, or a column {u}_t."
        )
    if len(times) > needed:
        some = [f"{t:g}" for t in times[:needed]]
        word = "two" if needed == 2 else "three"
        raise DataError(
            f"{len(times)} snapshots were given, from t = {times[0]:g} to {times[-1]:g}; the model {name!r} "
            f"uses exactly {word} here. Choose {word} times: --times {' '.join(some)}, or "
            f"data.at([{', '.join(some)}])."
        )


def _check_packed(snapshots: Snapshots, plain: Mapping[str, Any], arrays: Arrays) -> None:
    """Refuse plain data and arrays that `pack` never makes; the state is NaN where it is not needed."""
    kernel = record({"kind": text}, {"nu": finite, "period": finite})
    field = record({"kernel": kernel, "values": mapping(finite)})
    record({"kernels": mapping(kernel), "smoothed": mapping(field)})(dict(plain), "what was learned")
    if not set(plain["smoothed"]) <= set(snapshots.fields):
        raise DataError(
            f"Fields were smoothed that the snapshots do not have: {sorted(plain['smoothed'])!s:.100}."
        )
    points = sum(map(len, snapshots))
    for name, array in arrays.items():
        if array.shape != (points,) or array.dtype.kind != "f":
            raise DataError(
                f"The state {name:.60} has the shape {array.shape}; one number for each of {points} points."
            )


def _check_values(values: Mapping[str, float], names: Sequence[str], positive: Sequence[str]) -> None:
    """Refuse numbers of which one is missing, or is not positive and should be."""
    missing = [name for name in names if name not in values]
    wrong = [name for name in positive if name in values and not 0 < values[name] < np.inf]
    if missing or wrong:
        raise DataError(f"The numbers lack {missing!s:.100}, or are not positive: {wrong!s:.100}.")


def _state_arrays(problem: Problem) -> Arrays:
    """Return the state in the coefficients at all points, snapshot after snapshot, NaN where it is not needed."""
    places = problem.data.places
    names = sorted({name for here in places for name in here.frozen})
    unused = [np.full(here.points.shape[0], np.nan) for here in places]
    return {
        name: np.concatenate([here.frozen.get(name, gap) for here, gap in zip(places, unused, strict=True)])
        for name in names
    }


def _state_from(snapshots: Snapshots, values: Arrays) -> State:
    """Return the state that `_state_arrays` wrote."""
    ends = np.cumsum([len(s) for s in snapshots])

    def state(atoms: Sequence[sympy.Expr], snapshot: int, _points: np.ndarray) -> Arrays:
        return {str(a): np.split(values[str(a)], ends[:-1])[snapshot] for a in atoms}

    return state
