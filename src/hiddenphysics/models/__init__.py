"""Models: ways to see an equation in snapshots, behind one interface, by name."""

# Each of these adds its model to `MODELS`.
import hiddenphysics.models.flow
import hiddenphysics.models.midpoint
import hiddenphysics.models.paper  # noqa: F401
from hiddenphysics.models.edges import Boundary, Edges
from hiddenphysics.models.flow import LearnedFlow
from hiddenphysics.models.model import MODELS, Arrays, Fit, Model
from hiddenphysics.models.one_step import Problem
from hiddenphysics.models.question import Bounds, Kernels, Question
from hiddenphysics.models.sensors import Sensors

__all__ = [
    "MODELS",
    "Arrays",
    "Boundary",
    "Bounds",
    "Edges",
    "Fit",
    "Kernels",
    "LearnedFlow",
    "Model",
    "Problem",
    "Question",
    "Sensors",
]
