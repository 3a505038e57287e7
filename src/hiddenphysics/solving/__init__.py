"""The ways from a question to a result: by a linear model, by the flow, or by whichever fits."""

from hiddenphysics.solving.asked import Asked
from hiddenphysics.solving.automatic import automatic
from hiddenphysics.solving.by_flow import identify_by_flow
from hiddenphysics.solving.linearly import identify_linearly, prepared

__all__ = ["Asked", "automatic", "identify_by_flow", "identify_linearly", "prepared"]
