"""The one verb: an equation and some snapshots in, its parameters out."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from threadpoolctl import ThreadpoolController

from hiddenphysics.compiled_code import make_room
from hiddenphysics.errors import HiddenPhysicsError, ModelError
from hiddenphysics.fit_watch import watched
from hiddenphysics.learning import (
    Status,
    Stopped,
    Watch,
    in_time,
    is_left_computing,
    mixture,
    sample,
)
from hiddenphysics.models import MODELS, Boundary, Bounds, Kernels, Problem, Question, Sensors
from hiddenphysics.result import Chains, Result
from hiddenphysics.snapshots import Experiments, Snapshots, read_experiments

AUTOMATIC = "auto"
IN_ORDER = ("flow", "midpoint")
"""By default the first of these models that applies answers; the next one is the second opinion."""

GAUSSIAN, ROBUST = "gaussian", "robust"
NOISES = (GAUSSIAN, ROBUST, AUTOMATIC)
"""Kinds of noise that a user may name."""
LAPLACE, NUTS = "laplace", "nuts"
INFERENCES = (LAPLACE, NUTS)
"""Ways to an interval that a user may name."""
CHAINS, WARM, DRAWS = 4, 150, 500
"""Chains, and draws of each that tune its step and that are kept: R-hat of a normal posterior is then below 1.01."""

UNASKED = 30.0
"""Seconds for chains that nobody asked for: a fit that takes a second must not take minutes by itself. Burgers' 140
points had theirs in 40 s of one core (18 November 2026)."""

SMALL = 1000
"""Rows of a matrix up to which BLAS has one thread. It gives a matrix of a hundred rows to every core, and lets them
wait for each other in a loop: on cores that others use, too, for the machine's scheduler. A Cholesky factor and a
product beside three programs on two cores, with one thread and with two: 0.3 and 1.5 ms (140 rows), 3 and 170 ms (300),
21 and 620 ms (600), 150 and 230 ms (1200); idle cores would save a third. The demo's second run: 2.6 and 17 s (19
November 2026)."""

MOST_TRIMS, FEWEST_POINTS = 4, 3
"""Fits after the first that outliers may take, and points that every snapshot keeps."""

FAR, LARGE = 4.0, 0.1
"""Estimates of two models disagree when they differ by so many joint deviations, and by that share of their size."""


def identify(
    equation: str,
    data: Any,
    *,
    model: str = "auto",
    kernel: Kernels | None = None,
    columns: Mapping[str, str] | None = None,
    time_unit: str | None = None,
    experiment: str | Sequence[str] | None = None,
    inputs: Mapping[str, Any] | None = None,
    fields: Mapping[str, str] | None = None,
    constants: Mapping[str, float] | None = None,
    bounds: Bounds | None = None,
    sensors: Sensors | None = None,
    boundary: Boundary | None = None,
    noise: str = "gaussian",
    inference: str = "laplace",
    progress: Callable[[str], None] | bool | None = None,
    time_limit: float | None = None,
) -> Result:
    """Identify the unknown parameters of a PDE from a few snapshots.

    Parameters
    ----------
    equation
        The PDE as text, such as ``"u_t + a*u*u_x - b*u_xx = 0"``. Every symbol that is no field, coordinate,
        function or constant is an unknown parameter.
    data
        `Snapshot`s, `Snapshots`, a path, or anything `hiddenphysics.read` takes. A list of such, or a mapping by name,
        or a folder, are several experiments (`hiddenphysics.read_experiments`): they share the parameters, the noise
        and the priors, and each has times, points and fields of its own.
    model
        The forward model. ``"flow"`` moves the field by the equation itself: exact in the gap, any number of
        snapshots, hidden fields that evolve, statements such as ``u_x + v_y = 0``. ``"midpoint"`` takes two snapshots
        a short time apart, hidden fields and potentials. ``"paper"`` is the method of Raissi & Karniadakis (2018).
        ``"auto"`` is flow where it applies, otherwise midpoint; the result says which, and why.
    kernel
        The prior of every latent field, or one for each by name; several in a tuple are added, shortest scale first.
        By default the flow model chooses by evidence, the others take the squared exponential, in two and three
        dimensions on two scales where data see the latent (``"midpoint"``).
    columns, time_unit
        How data are read that are no `Snapshots` yet: which column is which, ``{"x": "position"}``, and the unit in
        which dates become numbers, ``"h"``; see `hiddenphysics.read`.
    experiment
        Column of a table, or several columns, whose values tell experiments apart.
    inputs
        Fields that are known and have no equation of their own (a forcing, a velocity), where they were measured at
        other times and points than the rest: name -> whatever `hiddenphysics.read` takes, for all experiments or, by
        name, for each. An input that was measured with the rest is simply a column of the data.
    fields
        Equation name -> data name, when they differ or when only some of the data's fields are to be used.
    constants, bounds
        Known numbers, and limits ``(low, high)`` with None for none, by name.
    sensors
        Errors of the sensors besides noise, constant over the record, such as
        ``Sensors(offsets=True, position_error=0.05)``; they are learned with the parameters (``"flow"``), and are in
        their intervals.
    boundary
        ``"driven"``: at every snapshot something unknown comes in at open edges, such as the weather; ``"still"``:
        nothing comes in but what is beyond the edges at the first. By default recordings of more than 20 snapshots are
        driven, and shorter ones where nothing else explains them (``"flow"``). Of one end of a line:
        ``{"x=0": "measured"}``, where the field is what the outermost sensor tells, ``"fixed"`` (u = 0) or
        ``"reflecting"`` (u_x = 0), where it goes on as its mirror image and the equation must allow that, ``"driven"``
        or ``"still"``. ``{"x=0": "surface.csv"}``, a table of t and u, or ``{"x=0": (times, values)}``: the field there
        is known, and no sensor need stand there.
    noise
        ``"gaussian"``: of one size for every field. ``"robust"``: a few values may lie far off; they are found by what
        the fit leaves over, the points left out, and the fit is made again until they stay the same. ``"auto"``: robust
        where the evidence speaks for it clearly. The result says how many were left out.
    inference
        ``"laplace"``: intervals from the curvature at the optimum. ``"nuts"``: the parameters and the prior's numbers
        are sampled by four chains of the No-U-Turn sampler, from the exact likelihood of the models of one gap, and
        from the flow's linear model at its optimum; `Result.to_arviz` gives them to ArviZ.
    progress
        By default a line in a notebook or on a terminal shows the stage and the elapsed seconds, and elsewhere nothing
        is said; False says nothing, True prints every stage to stderr. A function is called with each, and again,
        from a thread, where one takes long.
    time_limit
        Seconds after which the best so far is returned, as ``not_converged``; 600 by default, ``float("inf")`` for no
        limit. In the main thread it is kept to within a second, also while something is compiled, elsewhere to within
        a few evaluations and what compiles then. Ctrl-C ends a fit in the same way; pressed twice it raises
        `KeyboardInterrupt`.

    Returns
    -------
    Result
        Print it, or ask its ``parameters``, ``predict``, ``simulate``, ``plot``, ``save``.

    Examples
    --------
    >>> two = [Snapshot(2.0, x0, u0), Snapshot(2.1, x1, u1)]  # doctest: +SKIP
    >>> identify("u_t + a*u*u_x - b*u_xx = 0", two).parameters["b"].interval(0.95)  # doctest: +SKIP
    """
    with watched(progress, time_limit) as watch:
        watch("reading equation and data")
        check_model(model)
        runs = read_experiments(data, columns=columns, time_unit=time_unit, experiment=experiment)
        question = Question.of(
            equation,
            runs,
            inputs={
                name: read_experiments(known, time_unit=time_unit) for name, known in (inputs or {}).items()
            },
            kernels=kernel,
            fields=fields,
            constants=constants,
            bounds=bounds,
            sensors=sensors,
            boundary=boundary,
        )
        check_noise(noise)
        if inference not in INFERENCES:
            raise ModelError(f"inference={inference!r:.40} was given; known are {', '.join(INFERENCES)}.")
        question = replace(question, sampled=inference == NUTS)
        return asked(question, model, watch) if noise == GAUSSIAN else _robust(question, model, noise, watch)


def asked(question: Question, model: str, watch: Watch) -> Result:
    """Ask a model by name, or the automatic choice of one."""
    if model == AUTOMATIC:
        return _automatic(question, watch)
    why_not = _why_not(model, question)
    if why_not:
        others = " or ".join(f"model={name!r}" for name in MODELS if name != model)
        raise ModelError(f"The {model} model does not apply: {why_not} Use {others}.")
    return _answer(question, model, watch)


def problem(
    equation: str,
    data: Any,
    *,
    model: str = "paper",
    kernel: Kernels | None = None,
    columns: Mapping[str, str] | None = None,
    time_unit: str | None = None,
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
    runs = read_experiments(data, columns=columns, time_unit=time_unit)
    question = Question.of(equation, runs, kernels=kernel, fields=fields, constants=constants)
    return MODELS[IN_ORDER[0] if model == AUTOMATIC else model].problem(question)


def check_model(model: str) -> None:
    """Refuse a model that nobody has added."""
    if model != AUTOMATIC and model not in MODELS:
        raise ModelError(f"The model {model!r} was asked for; known are {', '.join((AUTOMATIC, *MODELS))}.")


def check_noise(noise: str) -> None:
    """Refuse a kind of noise that there is not."""
    if noise not in NOISES:
        raise ModelError(f"noise={noise!r:.40} was given; known are {', '.join(NOISES)}.")


def _robust(question: Question, model: str, noise: str, watch: Watch) -> Result:
    """Fit, leave out the points at which a value is likelier far off than not, fit again, until they stay the same."""
    whole = question.experiments
    kept = [[np.ones(len(snapshot), bool) for snapshot in run] for run in whole]
    result = asked(question, model, watch)
    for number in range(1, MOST_TRIMS + 1):
        if result.status.is_bad and result.status is not Status.MISFIT:
            break
        watch(f"looking for outliers, round {number}")
        now = [
            _believed(one, run, always=noise == ROBUST)
            for one, run in zip(result.experiments, whole, strict=True)
        ]
        if watch.stopped or _same_masks(kept, now):
            break
        kept = now
        some = [_without(run, masks, noise) for run, masks in zip(whole, kept, strict=True)]
        trimmed = Experiments(dict(zip(whole.names, some, strict=True)))
        result = asked(replace(question, experiments=trimmed), model, watch)
    return result


def _same_masks(one: list[list[np.ndarray]], other: list[list[np.ndarray]]) -> bool:
    pairs = ((a, b) for x, y in zip(one, other, strict=True) for a, b in zip(x, y, strict=True))
    return all(np.array_equal(a, b) for a, b in pairs)


def _without(run: Snapshots, masks: list[np.ndarray], noise: str) -> Snapshots:
    """Return the points that are believed, with a note on how many are not."""
    left_out = sum(int(np.sum(~mask)) for mask in masks)
    if not left_out:
        return run
    text = (
        f"{left_out} of {sum(map(len, run))} points hold a value far off and were left out (noise={noise!r})"
    )
    return Snapshots((s.take(mask) for s, mask in zip(run, masks, strict=True)), run.provenance.noted(text))


def _believed(result: Result, whole: Snapshots, *, always: bool) -> list[np.ndarray]:
    """Which points (N,) of every snapshot hold no value that is likelier far off than not."""
    kept = [np.ones(len(snapshot), bool) for snapshot in whole]
    for field in whole.fields:
        left = [s[field] - result.mean(field, s.points, s.t) for s in whole]
        found = mixture(np.concatenate(left))
        if not (always or found.is_clear):
            continue
        ends = np.cumsum([len(one) for one in left])[:-1]
        for mask, chance in zip(kept, np.split(found.chance, ends), strict=True):
            mask &= chance < 0.5  # the arrays themselves are changed
            if mask.sum() < FEWEST_POINTS:
                mask[:] = True
    return kept


def _why_not(model: str, question: Question) -> str | None:
    """Return why a model cannot be asked."""
    asked = _with_a_prior(question)
    if asked and not MODELS[model].takes_priors():
        having = ", ".join(name for name, one in MODELS.items() if one.takes_priors())
        return f"{asked} are learned by {having} alone."
    return MODELS[model].applies(question)


def _with_a_prior(question: Question) -> str:
    """Name what is asked for that has a prior of its own; empty where nothing is."""
    if question.sensors:
        return "errors of sensors"
    return "unknown functions" if question.equation.functions else ""


def _answer(question: Question, model: str, watch: Watch) -> Result:
    """Ask a model that applies; when the watch stops it, take what it has."""
    small = MODELS[model].rows(question) <= SMALL
    with ThreadpoolController().limit(limits=1 if small else None, user_api="blas"):
        return _learned(question, model, watch)


def _learned(question: Question, model: str, watch: Watch) -> Result:
    if not is_left_computing():
        make_room()
    began = time.perf_counter()
    asked = MODELS[model]
    fit = in_time(watch, lambda: asked.learn(question, watch), partial(asked.finish, question))
    made = Result.of(question, model, fit, time.perf_counter() - began)
    # Of what the data do not determine chains would tell no more.
    wanted = question.sampled or (fit.needs_chains and made.status is Status.CONVERGED)
    if not wanted or fit.posterior is None or fit.stopped or made.status.is_bad:
        return made
    names = question.equation.parameters
    limits = np.array([question.equation.bounds[name] for name in names], float).reshape(-1, 2)
    density, covariance = fit.posterior.proper(len(names), limits)
    try:
        drawn = sample(
            density,
            fit.posterior.optimum,
            covariance,
            chains=CHAINS,
            warm=WARM,
            draws=DRAWS,
            seed=0,
            check=watch if question.sampled else partial(_within, watch, time.perf_counter() + UNASKED),
        )
    except Stopped as stopped:
        if not question.sampled:
            return replace(made, explanation=f"{made.explanation} {stopped.reason} Chains had not ended.")
        return made.doubted(Status.NOT_CONVERGED, f"{stopped.reason} The chains had not ended.")
    chains = Chains(tuple(names), drawn.draws[:, :, : len(names)])
    if not (question.sampled or chains.agree):
        return replace(made, explanation=f"{made.explanation} {chains.sentence()}")
    own = slice(0, len(names))
    known = fit.posterior.covariance[own, own]
    seconds = time.perf_counter() - began
    if not question.sampled and chains.confirm(fit.posterior.optimum[own], known):
        return replace(made, chains=chains, seconds=seconds)  # a Gaussian does, and has no error of draws
    return replace(made.sampled(chains, made.covariance[own, own] - known), seconds=seconds)


def _within(watch: Watch, end: float, stage: str) -> None:
    """Say the stage, and stop what nobody asked for at its end (`time.perf_counter`)."""
    watch(stage)
    if time.perf_counter() > end:
        raise Stopped(f'Nobody asked for them, so they had {UNASKED:g} s; inference="nuts" gives them more.')


def _automatic(question: Question, watch: Watch) -> Result:
    """Ask the first model that applies; where it does not converge, the next one, too, if there is time.

    The better answer is returned, with a sentence on which it was and how far they agree.
    """
    name, other = IN_ORDER
    why_not = _why_not(name, question)
    if why_not and _with_a_prior(question):
        raise ModelError(
            f"The {name} model alone learns {_with_a_prior(question)}, and does not apply: {why_not}"
        )
    if why_not:
        nor = MODELS[other].applies(question)
        if nor:
            raise ModelError(
                f"The {name} model does not apply: {why_not} Nor does the {other} model: {nor} Fit the experiments one "
                "by one: hiddenphysics.identify_many(equation, experiments), or --each."
            )
        return replace(_answer(question, other, watch), reason=f"The {name} model does not apply: {why_not}")
    hesitation = MODELS[name].hesitates(question)
    if hesitation and not _why_not(other, question):
        return replace(_answer(question, other, watch), reason=hesitation)
    first = _answer(question, name, watch)
    if first.status in (Status.CONVERGED, Status.MISFIT):  # another model has no other equation
        return replace(
            first, reason="Every field evolves, so the equation's own flow could carry it: exact in the gap."
        )
    try:
        if _why_not(other, question):
            return replace(first, reason="The equation's own flow; no other model takes what was asked.")
        second = None if watch.stopped else _second_opinion(question, other, watch)
    except HiddenPhysicsError:
        return replace(first, reason="The equation's own flow; no other model takes these data.")
    if second is None:
        return replace(first, reason="The equation's own flow; no time was left to ask another model.")
    agreement = _comparison(first, second)
    if first.status.is_bad and second.status is Status.CONVERGED:
        why = f"Two models were asked. The {name} model ended {first.status}: {first.explanation} {agreement}"
        return replace(
            second.doubted(Status.NOT_CONVERGED, why),
            reason=f"The {name} model did not end well; these numbers are the {other} model's, for short gaps.",
        )
    return replace(first, reason=f"The equation's own flow. {agreement}")


def _second_opinion(question: Question, model: str, watch: Watch) -> Result | None:
    """Ask another model; None where that was stopped, for half an answer is no opinion."""
    try:
        watch("asking a second model")
        second = _answer(question, model, watch)
    except Stopped:
        return None
    return None if watch.stopped else second


def _comparison(first: Result, second: Result) -> str:
    """Say whether a second opinion agrees with the first; deviations that are not known allow for nothing."""
    if Status.FAILED in (first.status, second.status):
        return "The two cannot be compared."
    apart = []
    for name, one in first.parameters.items():
        two = second.parameters[name]
        distance = abs(one.estimate - two.estimate)
        joint = math.hypot(*(each.std if np.isfinite(each.std) else 0.0 for each in (one, two)))
        if distance > FAR * joint and distance > LARGE * max(abs(one.estimate), abs(two.estimate)):
            apart.append(f"{name} {two.estimate:.4g}")
    if apart:
        return f"The {second.model} model disagrees: it finds {', '.join(apart)}."
    return f"The {second.model} model agrees within the uncertainty."
