"""The one verb: an equation and some snapshots in, its parameters out."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

import jax.numpy as jnp

from hiddenphysics.equation import Equation
from hiddenphysics.errors import DataError, ModelError
from hiddenphysics.forward import MODELS
from hiddenphysics.forward.matching import Bounds, match
from hiddenphysics.inference.assemble import Kernels, Smoother, assemble, kernel_of_each, smoother_of
from hiddenphysics.inference.fit import Fit, fit
from hiddenphysics.inference.problem import Problem
from hiddenphysics.inference.regression import regress
from hiddenphysics.inference.scales import Scales
from hiddenphysics.inference.smooth import SmoothedField
from hiddenphysics.inference.start import start_of
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
        The forward model; ``"paper"`` is the method of Raissi & Karniadakis (2018).
    kernel
        The prior of every latent field, or one for each by name; squared exponential by default.
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
    understood, snapshots, smoother, task = _prepare(equation, data, model, kernel, fields, constants, bounds)
    _check_enough(task)
    say("compiling, and smoothing each snapshot")
    smoothed = {f: smoother(f) for f in snapshots.fields}
    scales = Scales.of(snapshots)
    regression = regress(understood, snapshots, smoothed)
    start = start_of(task, scales, smoothed, regression, dict(understood.bounds))
    say("compiling the likelihood")
    learned = fit(task, start, say)
    return _result(understood, snapshots, task, smoothed, learned, time.perf_counter() - began)


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
    return _prepare(equation, data, model, kernel, fields, constants, None)[3]


def _prepare(
    text: str,
    data: Any,
    model: str,
    kernel: Kernels | None,
    fields: Mapping[str, str] | None,
    constants: Mapping[str, float] | None,
    bounds: Bounds | None,
) -> tuple[Equation, Snapshots, Smoother, Problem]:
    snapshots = data if isinstance(data, Snapshots) else read(data)
    _check_two(snapshots)
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
    kernels = kernel_of_each(linear, kernel)
    smoother = smoother_of(snapshots, kernels)
    return understood, snapshots, smoother, assemble(linear, snapshots, kernels, smoother)


def _check_two(snapshots: Snapshots) -> None:
    snapshots.require_at_least(2, "the equation is seen in the change from one to the next")
    if len(snapshots) > 2:
        times = snapshots.times
        two = f"{times[0]:g}", f"{times[1]:g}"
        raise DataError(
            f"{len(snapshots)} snapshots were given, from t = {times[0]:g} to {times[-1]:g}; the model 'paper' uses "
            f"exactly two. Choose two times: --times {' '.join(two)}, or data.at([{', '.join(two)}])."
        )


def _check_enough(task: Problem) -> None:
    if task.size < len(task.names):
        raise DataError(
            f"{task.size} values were given for {len(task.names)} unknowns ({', '.join(task.names)}); at least as "
            "many values as unknowns are needed. Give more points."
        )


def _result(
    equation: Equation,
    snapshots: Snapshots,
    task: Problem,
    smoothed: dict[str, SmoothedField],
    learned: Fit,
    seconds: float,
) -> Result:
    values = task.layout.values(jnp.asarray(learned.optimum.vector))
    return Result(
        equation=equation,
        snapshots=snapshots,
        problem=task,
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
