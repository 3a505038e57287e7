"""The user's words: a grammar of our own -> a small tree -> SymPy -> `Equation`. No JAX."""

from hiddenphysics.equation.equation import Equation
from hiddenphysics.equation.evaluate import evaluate
from hiddenphysics.equation.fractional import Fractional, FractionalDerivative, FractionalLaplacian
from hiddenphysics.equation.limits import MAX_ORDER, MAX_UNKNOWN_ORDER
from hiddenphysics.equation.linearity import atoms_of, field_name, slopes
from hiddenphysics.equation.names import TIME, coordinate, field, parameter
from hiddenphysics.equation.quantity import read_quantity
from hiddenphysics.equation.uncertain import format_uncertain

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
