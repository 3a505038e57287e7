"""The one verb: an equation and some snapshots in, its parameters out."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import jax.numpy as jnp

from hiddenphysics.equation import Equation
from hiddenphysics.errors import DataError, ModelError
from hiddenphysics.forward import MODELS, LinearModel
from hiddenphysics.forward.matching import Bounds, match
from hiddenphysics.inference.choices import Kernels, smoother_of, with_kernels
from hiddenphysics.inference.data import State, collect
from hiddenphysics.inference.problem import Problem
from hiddenphysics.inference.regression import regress
from hiddenphysics.inference.rounds import Settled, fit_model
from hiddenphysics.inference.scales import Scales
from hiddenphysics.inference.smooth import SmoothedField, Smoother
from hiddenphysics.inference.start import Start, start_of
from hiddenphysics.inference.state import first_state
from hiddenphysics.kernels import Kernel
from hiddenphysics.result import Result
from hiddenphysics.snapshots import Snapshots, read


def identify(
    equation: str,
    data: Any,
    *,
    model: str = "paper",
    kernel: Kernels | None = None,
    fields: Mapping[str, str] | None = None,
    constants: Mapping[str, float] | None = None,
    bounds: Bounds | None = None,
    progress: Callable[[str], None] | None = None,
) -> Result:
    """Identify the unknown parameters of a PDE from two snapshots.

    Parameters
    ----------
    equation
        The PDE as text, such as ``"u_t + a*u*u_x - b*u_xx = 0"``. Every symbol that is no field, coordinate,
        function or constant is an unknown parameter.
    data
        Two `Snapshot`s, `Snapshots`, a path, or anything `hiddenphysics.read` takes.
    model
        The forward model; ``"paper"`` is the method of Raissi & Karniadakis (2018), ``"midpoint"`` is of second order
        in the gap, expands around the posterior mean, and takes equations of second order in time.
    kernel
        The prior of every latent field, or one for each by name; several in a tuple are added, shortest scale first.
        Squared exponential by default, in two and three dimensions on two scales where data see the latent
        (``"midpoint"``).
    fields
        Equation name -> data name, when they differ or when only some of the data's fields are to be used.
    constants, bounds
        Known numbers, and limits ``(low, high)`` with None for none, by name.
    progress
        Called with a few words at every stage.

    Returns
    -------
    Result
        Print it, or ask its ``parameters``, ``predict``, ``plot``, ``save``.

    Examples
    --------
    >>> result = identify("u_t + a*u*u_x - b*u_xx = 0", [Snapshot(2.0, x0, u0), Snapshot(2.1, x1, u1)])  #
    doctest: +SKIP >>> result.parameters["b"].interval(0.95)  # doctest: +SKIP
    """
    began = time.perf_counter()
    say = progress or (lambda stage: None)
    say("reading equation and data")
    task = _prepare(equation, data, model, kernel, fields, constants, bounds)
    say("compiling, and smoothing each snapshot")
    smoothed = {f: task.smoother(f) for f in task.snapshots.fields}
    scales = Scales.of(task.snapshots)
    regression = regress(task.equation, task.snapshots, smoothed)

    def begin(likelihood: Problem) -> Start:
        _check_enough(likelihood)
        return start_of(likelihood, scales, smoothed, regression, dict(task.equation.bounds))

    say("compiling the likelihood")
    found = fit_model(task.linear, task.kernels, task.snapshots, task.state, begin, say)
    return _result(task, smoothed, found, time.perf_counter() - began)


def problem(
    equation: str,
    data: Any,
    *,
    model: str = "paper",
    kernel: Kernels | None = None,
    fields: Mapping[str, str] | None = None,
    constants: Mapping[str, float] | None = None,
) -> Problem:
    """Return the likelihood that `identify` would maximise, by name, for those who bring their own inference.

    Examples
    --------
    >>> task = problem("u_t - b*u_xx = 0", "heat.csv")  # doctest: +SKIP
    >>> task.names  # doctest: +SKIP
    ('b', 'u.variance', 'u.length_x', 'noise.variance')
    """
    task = _prepare(equation, data, model, kernel, fields, constants, None)
    return Problem.of(task.linear, task.kernels, collect(task.linear, task.snapshots, task.state))


@dataclass(frozen=True)
class _Task:
    """Everything that is known before learning begins."""

    equation: Equation
    snapshots: Snapshots
    linear: LinearModel
    kernels: dict[str, Kernel]
    smoother: Smoother
    state: State


def _prepare(
    text: str,
    data: Any,
    model: str,
    kernel: Kernels | None,
    fields: Mapping[str, str] | None,
    constants: Mapping[str, float] | None,
    bounds: Bounds | None,
) -> _Task:
    snapshots = data if isinstance(data, Snapshots) else read(data)
    snapshots.require_at_least(2, "the equation is seen in the change from one to the next")
    if model not in MODELS:
        raise ModelError(f"The model {model!r} was asked for; known are {', '.join(MODELS)}.")
    understood, snapshots = match(text, snapshots, fields=fields, constants=constants, bounds=bounds)
    snapshots.require_informative()
    if not understood.parameters:
        raise ModelError(
            "The equation holds no unknown parameter, so there is nothing to identify. Put a name where a number is "
            "sought, as in u_t - b*u_xx = 0."
        )
    linear = MODELS[model](understood, snapshots.fields)
    linear, kernels = with_kernels(linear, [o.field for o in linear.observations], kernel)
    _check_count(linear, understood, snapshots)
    smoother = smoother_of(snapshots, kernels)
    state = first_state(linear, snapshots, smoother)
    return _Task(understood, snapshots, linear, kernels, smoother, state)


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
        raise DataError(
            f"{len(times)} snapshots were given, from t = {times[0]:g} to {times[-1]:g}; the model {linear.name!r} "
            f"uses exactly {'two' if needed == 2 else 'three'} here. Choose {'two' if needed == 2 else 'three'} times: "
            f"--times {' '.join(some)}, or data.at([{', '.join(some)}])."
        )


def _check_enough(task: Problem) -> None:
    if task.size < len(task.names):
        raise DataError(
            f"{task.size} values were given for {len(task.names)} unknowns ({', '.join(task.names)}); at least as "
            "many values as unknowns are needed. Give more points."
        )


def _result(task: _Task, smoothed: dict[str, SmoothedField], found: Settled, seconds: float) -> Result:
    learned = found.fit
    values = found.problem.layout.values(jnp.asarray(learned.optimum.vector))
    return Result(
        equation=task.equation,
        snapshots=task.snapshots,
        problem=found.problem,
        values={name: float(v) for name, v in values.items()},
        covariance=learned.laplace.covariance,
        evidence=-learned.optimum.value,
        status=learned.status,
        explanation=learned.explanation,
        jitter=learned.jitter,
        evaluations=learned.evaluations,
        seconds=seconds,
        smoothed=smoothed,
    )
