"""The default: the flow where it applies, the midpoint where it does not, each as a check of the other."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from hiddenphysics.errors import HiddenPhysicsError
from hiddenphysics.inference.choices import Kernels
from hiddenphysics.inference.fit import Status
from hiddenphysics.result import Result
from hiddenphysics.solving.asked import Asked, Progress
from hiddenphysics.solving.by_flow import identify_by_flow, why_not_flow
from hiddenphysics.solving.linearly import identify_linearly

FAR, LARGE = 4.0, 0.1
"""Estimates of two models disagree when they differ by so many joint deviations, and by that share of their size."""


def automatic(asked: Asked, kernel: Kernels | None, say: Progress) -> Result:
    """Identify with the model that the question allows; the result says which it was, and why.

    A flow that does not converge is followed by the midpoint model, as long as there are as many snapshots as that
    takes, and the better answer is returned with a sentence on how far they agree.
    """
    why_not = why_not_flow(asked)
    if why_not:
        found = identify_linearly(asked, "midpoint", kernel, say)
        return replace(found, reason=f"The flow model does not apply: {why_not}")
    flow = identify_by_flow(asked, kernel, say)
    if flow.status is Status.CONVERGED:
        return replace(
            flow, reason="Every field evolves, so the equation's own flow could carry it: exact in the gap."
        )
    say("asking a second model")
    try:
        second = identify_linearly(asked, "midpoint", None, say)
    except HiddenPhysicsError:
        return replace(flow, reason="The equation's own flow; no other model takes these data.")
    agreement = _comparison(flow, second)
    if flow.status in (Status.FAILED, Status.NOT_CONVERGED) and second.status is Status.CONVERGED:
        return replace(
            second,
            status=Status.NOT_CONVERGED,
            explanation=f"Two models were asked. The flow model ended {flow.status}: {flow.explanation} {agreement}",
            reason="The flow model did not end well; these numbers are the midpoint model's, for short gaps.",
        )
    return replace(flow, reason=f"The equation's own flow. {agreement}")


def _comparison(flow: Result, other: Result) -> str:
    """Say whether the midpoint model's result agrees with the flow's."""
    if other.status is Status.FAILED or flow.status is Status.FAILED:
        return "The two cannot be compared."
    apart = []
    for name, one in flow.parameters.items():
        two = other.parameters[name]
        distance = abs(one.estimate - two.estimate)
        joint = np.hypot(one.std, two.std)
        if distance > FAR * joint and distance > LARGE * max(abs(one.estimate), abs(two.estimate)):
            apart.append(f"{name} {two.estimate:.4g}")
    if apart:
        return f"The midpoint model disagrees: it finds {', '.join(apart)}."
    return "The midpoint model agrees within the uncertainty."
