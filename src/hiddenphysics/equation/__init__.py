"""The user's words: a grammar of our own -> a small tree -> SymPy -> `Equation`. No JAX."""

from hiddenphysics.equation.bounds import MAX_UNKNOWN_ORDER
from hiddenphysics.equation.budget import MAX_ORDER
from hiddenphysics.equation.equation import Equation
from hiddenphysics.equation.expressions import atoms_of, evaluate, field_name, slopes
from hiddenphysics.equation.fractional_operators import Fractional, FractionalDerivative, FractionalLaplacian
from hiddenphysics.equation.names import TIME, coordinate, field, parameter
from hiddenphysics.equation.numbers import format_uncertain
from hiddenphysics.equation.quantity import read_quantity

__all__ = [
    "MAX_ORDER",
    "MAX_UNKNOWN_ORDER",
    "TIME",
    "Equation",
    "Fractional",
    "FractionalDerivative",
    "FractionalLaplacian",
    "atoms_of",
    "coordinate",
    "evaluate",
    "field",
    "field_name",
    "format_uncertain",
    "parameter",
    "read_quantity",
    "slopes",
]
