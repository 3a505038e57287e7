"""The user's words: a grammar of our own -> a small tree -> SymPy -> `Equation`. No JAX."""

from hiddenphysics.equation.budget import MAX_ORDER
from hiddenphysics.equation.constraints import Constraints, Tied, wave_sum
from hiddenphysics.equation.diffusion import Diffusivity
from hiddenphysics.equation.divergence_form import Flux, divergence_form
from hiddenphysics.equation.equation import Equation
from hiddenphysics.equation.expressions import (
    atoms_of,
    derivative_symbol,
    evaluate,
    evaluate_by_name,
    field_name,
    frozen_atoms,
    slopes,
)
from hiddenphysics.equation.fractional_operators import (
    MAX_UNKNOWN_ORDER,
    Fractional,
    FractionalDerivative,
    FractionalLaplacian,
)
from hiddenphysics.equation.names import TIME, coordinate, field, parameter
from hiddenphysics.equation.numbers import (
    format_factor,
    format_interval,
    format_plus_minus,
    format_uncertain,
    three_digits,
)
from hiddenphysics.equation.quantity import linear_terms, read_quantity
from hiddenphysics.equation.reflection import reflects
from hiddenphysics.equation.system import System, velocity
from hiddenphysics.equation.unknown_functions import Ranges, UnknownFunction

__all__ = [
    "MAX_ORDER",
    "MAX_UNKNOWN_ORDER",
    "TIME",
    "Constraints",
    "Diffusivity",
    "Equation",
    "Flux",
    "Fractional",
    "FractionalDerivative",
    "FractionalLaplacian",
    "Ranges",
    "System",
    "Tied",
    "UnknownFunction",
    "atoms_of",
    "coordinate",
    "derivative_symbol",
    "divergence_form",
    "evaluate",
    "evaluate_by_name",
    "field",
    "field_name",
    "format_factor",
    "format_interval",
    "format_plus_minus",
    "format_uncertain",
    "frozen_atoms",
    "linear_terms",
    "parameter",
    "read_quantity",
    "reflects",
    "slopes",
    "three_digits",
    "velocity",
    "wave_sum",
]
