"""The one verb: an equation and some snapshots in, its parameters out."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from hiddenphysics.errors import HiddenPhysicsError, ModelError
from hiddenphysics.learning import Progress, Status
from hiddenphysics.models import MODELS, Bounds, Kernels, Problem, Question
from hiddenphysics.result import Result
from hiddenphysics.snapshots import Snapshots, read

AUTOMATIC = "auto"
IN_ORDER = ("flow", "midpoint")
"""By default the first of these models that applies answers; the next one is the second opinion."""

FAR, LARGE = 4.0, 0.1
"""Estimates of two models disagree when they differ by so many joint deviations, and by that share of their size."""


def identify(
    equation: str,
    data: Any,
    *,
    model: str = "auto",
    kernel: Kernels | None = None,
    fields: Mapping[str, str] | None = None,
    constants: Mapping[str, float] | None = None,
    bounds: Bounds | None = None,
    progress: Callable[[str], None] | bool = False,
) -> Result:
    """Identify the unknown parameters of a PDE from a few snapshots.

    Parameters
    ----------
    equation
        The PDE as text, such as ``"u_t + a*u*u_x - b*u_xx = 0"``. Every symbol that is no field, coordinate,
        function or constant is an unknown parameter.
    data
        `Snapshot`s, `Snapshots`, a path, or anything `hiddenphysics.read` takes.
    model
        The forward model. ``"flow"`` moves the field by the equation itself: exact in the gap, any number of
        snapshots. ``"midpoint"`` takes two snapshots a short time apart, and hidden fields. ``"paper"`` is the method
        of Raissi & Karniadakis (2018). ``"auto"`` is flow where it applies, otherwise midpoint; the result says
        which, and why.
    kernel
        The prior of every latent field, or one for each by name; several in a tuple are added, shortest scale first.
        By default the flow model chooses by evidence, the others take the squared exponential, in two and three
        dimensions on two scales where data see the latent (``"midpoint"``).
    fields
        Equation name -> data name, when they differ or when only some of the data's fields are to be used.
    constants, bounds
        Known numbers, and limits ``(low, high)`` with None for none, by name.
    progress
        Called with a few words at every stage; True prints them to stderr.

    Returns
    -------
    Result
        Print it, or ask its ``parameters``, ``predict``, ``simulate``, ``plot``, ``save``.

    Examples
    --------
    >>> two = [Snapshot(2.0, x0, u0), Snapshot(2.1, x1, u1)]  # doctest: +SKIP
    >>> identify("u_t + a*u*u_x - b*u_xx = 0", two).parameters["b"].interval(0.95)  # doctest: +SKIP
    """
    printed = partial(print, file=sys.stderr, flush=True)
    say = progress if callable(progress) else printed if progress else (lambda stage: None)
    say("reading equation and data")
    check_model(model)
    snapshots = data if isinstance(data, Snapshots) else read(data)
    question = Question.of(
        equation, snapshots, kernels=kernel, fields=fields, constants=constants, bounds=bounds
    )
    if model == AUTOMATIC:
        return _automatic(question, say)
    why_not = MODELS[model].applies(question)
    if why_not:
        others = " or ".join(f"model={name!r}" for name in MODELS if name != model)
        raise ModelError(f"The {model} model does not apply: {why_not} Use {others}.")
    return _answer(question, model, say)


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
    check_model(model)
    snapshots = data if isinstance(data, Snapshots) else read(data)
    question = Question.of(equation, snapshots, kernels=kernel, fields=fields, constants=constants)
    return MODELS[IN_ORDER[0] if model == AUTOMATIC else model].problem(question)


def check_model(model: str) -> None:
    """Refuse a model that nobody has added."""
    if model != AUTOMATIC and model not in MODELS:
        raise ModelError(f"The model {model!r} was asked for; known are {', '.join((AUTOMATIC, *MODELS))}.")


def _answer(question: Question, model: str, say: Progress) -> Result:
    """Ask a model that applies."""
    began = time.perf_counter()
    fit = MODELS[model].learn(question, say)
    return Result.of(question, model, fit, time.perf_counter() - began)


def _automatic(question: Question, say: Progress) -> Result:
    """Ask the first model that applies; where it does not converge, the next one, too.

    The better answer is returned, with a sentence on which it was and how far they agree.
    """
    name, other = IN_ORDER
    why_not = MODELS[name].applies(question)
    if why_not:
        return replace(_answer(question, other, say), reason=f"The {name} model does not apply: {why_not}")
    first = _answer(question, name, say)
    if first.status is Status.CONVERGED:
        return replace(
            first, reason="Every field evolves, so the equation's own flow could carry it: exact in the gap."
        )
    say("asking a second model")
    try:
        second = _answer(question, other, say)
    except HiddenPhysicsError:
        return replace(first, reason="The equation's own flow; no other model takes these data.")
    agreement = _comparison(first, second)
    if first.status.is_bad and second.status is Status.CONVERGED:
        return replace(
            second,
            status=Status.NOT_CONVERGED,
            explanation=f"Two models were asked. The {name} model ended {first.status}: {first.explanation} "
            f"{agreement}",
            reason=f"The {name} model did not end well; these numbers are the {other} model's, for short gaps.",
        )
    return replace(first, reason=f"The equation's own flow. {agreement}")


def _comparison(first: Result, second: Result) -> str:
    """Say whether a second opinion agrees with the first."""
    if Status.FAILED in (first.status, second.status):
        return "The two cannot be compared."
    apart = []
    for name, one in first.parameters.items():
        two = second.parameters[name]
        distance = abs(one.estimate - two.estimate)
        joint = np.hypot(one.std, two.std)
        if distance > FAR * joint and distance > LARGE * max(abs(one.estimate), abs(two.estimate)):
            apart.append(f"{name} {two.estimate:.4g}")
    if apart:
        return f"The {second.model} model disagrees: it finds {', '.join(apart)}."
    return f"The {second.model} model agrees within the uncertainty."
