"""The user's words: a grammar of our own -> a small tree -> SymPy -> `Equation`. No JAX."""

from hiddenphysics.equation.atoms import derivative_symbol, evaluate_by_name, frozen_atoms
from hiddenphysics.equation.equation import Equation
from hiddenphysics.equation.evaluate import evaluate
from hiddenphysics.equation.fractional import Fractional, FractionalDerivative, FractionalLaplacian
from hiddenphysics.equation.limits import MAX_ORDER, MAX_UNKNOWN_ORDER
from hiddenphysics.equation.linearity import atoms_of, field_name, slopes
from hiddenphysics.equation.names import TIME, coordinate, field, parameter
from hiddenphysics.equation.quantity import linear_terms, read_quantity
from hiddenphysics.equation.system import System, velocity
from hiddenphysics.equation.uncertain import format_uncertain

__all__ = [
    "MAX_ORDER",
    "MAX_UNKNOWN_ORDER",
    "TIME",
    "Equation",
    "Fractional",
    "FractionalDerivative",
    "FractionalLaplacian",
    "System",
    "atoms_of",
    "coordinate",
    "derivative_symbol",
    "evaluate",
    "evaluate_by_name",
    "field",
    "field_name",
    "format_uncertain",
    "frozen_atoms",
    "linear_terms",
    "parameter",
    "read_quantity",
    "slopes",
    "velocity",
]
