"""The one verb: an equation and some snapshots in, its parameters out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from hiddenphysics.errors import ModelError
from hiddenphysics.forward import MODELS
from hiddenphysics.forward.matching import Bounds, match
from hiddenphysics.inference.choices import Kernels
from hiddenphysics.inference.problem import Problem
from hiddenphysics.result import Result
from hiddenphysics.snapshots import Snapshots, read
from hiddenphysics.solving import Asked, automatic, identify_by_flow, identify_linearly, prepared

CHOICES = ("auto", "flow", *reversed(MODELS))
"""Models that a user may ask for."""


def identify(
    equation: str,
    data: Any,
    *,
    model: str = "auto",
    kernel: Kernels | None = None,
    fields: Mapping[str, str] | None = None,
    constants: Mapping[str, float] | None = None,
    bounds: Bounds | None = None,
    progress: Callable[[str], None] | None = None,
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
        Called with a few words at every stage.

    Returns
    -------
    Result
        Print it, or ask its ``parameters``, ``predict``, ``simulate``, ``plot``, ``save``.

    Examples
    --------
    >>> two = [Snapshot(2.0, x0, u0), Snapshot(2.1, x1, u1)]  # doctest: +SKIP
    >>> identify("u_t + a*u*u_x - b*u_xx = 0", two).parameters["b"].interval(0.95)  # doctest: +SKIP
    """
    say = progress or (lambda stage: None)
    say("reading equation and data")
    asked = _ask(equation, data, model, fields, constants, bounds)
    if model == "auto":
        return automatic(asked, kernel, say)
    if model == "flow":
        return identify_by_flow(asked, kernel, say)
    return identify_linearly(asked, model, kernel, say)


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
    asked = _ask(equation, data, model, fields, constants, None)
    if model not in MODELS:
        raise ModelError(
            f"The likelihood of the model {model!r} was asked for; by name it exists for {', '.join(MODELS)}."
        )
    return prepared(asked, model, kernel).likelihood()


def _ask(
    text: str,
    data: Any,
    model: str,
    fields: Mapping[str, str] | None,
    constants: Mapping[str, float] | None,
    bounds: Bounds | None,
) -> Asked:
    """Bring equation and data together, and refuse what no model can use."""
    snapshots = data if isinstance(data, Snapshots) else read(data)
    snapshots.require_at_least(2, "the equation is seen in the change from one to the next")
    if model not in CHOICES:
        raise ModelError(f"The model {model!r} was asked for; known are {', '.join(CHOICES)}.")
    understood, snapshots = match(text, snapshots, fields=fields, constants=constants, bounds=bounds)
    snapshots.require_informative()
    if not understood.parameters:
        raise ModelError(
            "The equation holds no unknown parameter, so there is nothing to identify. Put a name where a number is "
            "sought, as in u_t - b*u_xx = 0."
        )
    return Asked(understood, snapshots)
