"""From a PDE to linear observations of latent Gaussian processes: the only room that knows both sides."""

from collections.abc import Callable

from hiddenphysics.equation import Equation, field_name
from hiddenphysics.forward.atoms import derivative_symbol, evaluate_by_name, frozen_atoms
from hiddenphysics.forward.derived import derived, linear_terms
from hiddenphysics.forward.independent import independent
from hiddenphysics.forward.midpoint import midpoint
from hiddenphysics.forward.model import LAG, LinearModel, Observation, Quantity
from hiddenphysics.forward.paper import paper
from hiddenphysics.forward.system import System, velocity

MODELS: dict[str, Callable[[Equation, tuple[str, ...]], LinearModel]] = {"paper": paper, "midpoint": midpoint}
"""Forward models by the name a user types: (equation, measured fields) -> observations."""

__all__ = [
    "LAG",
    "MODELS",
    "LinearModel",
    "Observation",
    "Quantity",
    "System",
    "derivative_symbol",
    "derived",
    "evaluate_by_name",
    "field_name",
    "frozen_atoms",
    "independent",
    "linear_terms",
    "midpoint",
    "paper",
    "velocity",
]
