"""Identification by a linear model of one gap: paper or midpoint."""

from __future__ import annotations

import time
from dataclasses import dataclass

import jax.numpy as jnp

from hiddenphysics.equation import Equation
from hiddenphysics.errors import DataError
from hiddenphysics.forward import MODELS, LinearModel
from hiddenphysics.inference.choices import Kernels, smoother_of, with_kernels
from hiddenphysics.inference.data import State, collect
from hiddenphysics.inference.learning import Settled, fit_model
from hiddenphysics.inference.problem import Problem
from hiddenphysics.inference.regression import regress
from hiddenphysics.inference.scales import Scales
from hiddenphysics.inference.smooth import SmoothedField, Smoother
from hiddenphysics.inference.start import Start, start_of
from hiddenphysics.inference.state import first_state
from hiddenphysics.kernels import Kernel
from hiddenphysics.result import Result
from hiddenphysics.result.fields import LinearFields
from hiddenphysics.snapshots import Snapshots
from hiddenphysics.solving.asked import Asked, Progress


@dataclass(frozen=True)
class Prepared:
    """Everything that is known before learning begins."""

    asked: Asked
    linear: LinearModel
    kernels: dict[str, Kernel]
    smoother: Smoother
    state: State

    def likelihood(self) -> Problem:
        """Return the likelihood with the first state in its coefficients."""
        data = collect(self.linear, self.asked.snapshots, self.state)
        return Problem.of(self.linear, self.kernels, data)


def prepared(asked: Asked, model: str, kernel: Kernels | None) -> Prepared:
    """Build the model, choose the priors, and refuse a number of snapshots that the model does not take."""
    linear = MODELS[model](asked.equation, asked.snapshots.fields)
    linear, kernels = with_kernels(linear, [o.field for o in linear.observations], kernel)
    _check_count(linear, asked.equation, asked.snapshots)
    smoother = smoother_of(asked.snapshots, kernels)
    return Prepared(asked, linear, kernels, smoother, first_state(linear, asked.snapshots, smoother))


def identify_linearly(asked: Asked, model: str, kernel: Kernels | None, say: Progress) -> Result:
    """Smooth, regress, learn, and say how it went."""
    began = time.perf_counter()
    task = prepared(asked, model, kernel)
    snapshots = asked.snapshots
    say("compiling, and smoothing each snapshot")
    smoothed = {f: task.smoother(f) for f in snapshots.fields}
    scales = Scales.of(snapshots)
    regression = regress(asked.equation, snapshots, smoothed)

    def begin(likelihood: Problem) -> Start:
        _check_enough(likelihood)
        return start_of(likelihood, scales, smoothed, regression, dict(asked.equation.bounds))

    say("compiling the likelihood")
    found = fit_model(task.linear, task.kernels, snapshots, task.state, begin, say)
    return _result(asked, smoothed, found, time.perf_counter() - began)


def _check_count(linear: LinearModel, equation: Equation, snapshots: Snapshots) -> None:
    """Refuse more or fewer snapshots than the model takes."""
    times, needed = snapshots.times, linear.snapshots
    if len(times) < needed:
        u = next(f for f, order in dict(equation.time_orders).items() if order == 2)
        raise DataError(
            f"{len(times)} snapshots were given; the equation is of second order in time, and {u}_tt is seen in three, "
            f"or in two with the velocity beside. Give one more snapshot, or a column {u}_t."
        )
    if len(times) > needed:
        some = [f"{t:g}" for t in times[:needed]]
        word = "two" if needed == 2 else "three"
        raise DataError(
            f"{len(times)} snapshots were given, from t = {times[0]:g} to {times[-1]:g}; the model {linear.name!r} "
            f"uses exactly {word} here. Choose {word} times: --times {' '.join(some)}, or "
            f"data.at([{', '.join(some)}])."
        )


def _check_enough(task: Problem) -> None:
    if task.size < len(task.names):
        raise DataError(
            f"{task.size} values were given for {len(task.names)} unknowns ({', '.join(task.names)}); at least as "
            "many values as unknowns are needed. Give more points."
        )


def _result(asked: Asked, smoothed: dict[str, SmoothedField], found: Settled, seconds: float) -> Result:
    vector = jnp.asarray(found.fit.optimum.vector)
    values = {name: float(v) for name, v in found.problem.layout.values(vector).items()}
    learned = found.fit
    return Result(
        equation=asked.equation,
        snapshots=asked.snapshots,
        values=values,
        covariance=learned.laplace.covariance,
        evidence=-learned.optimum.value,
        status=learned.status,
        explanation=learned.explanation,
        jitter=learned.jitter,
        evaluations=learned.evaluations,
        seconds=seconds,
        fields=LinearFields(found.problem, values, asked.snapshots, smoothed),
    )
