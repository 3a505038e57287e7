"""The user's words: a grammar of our own -> a small tree -> SymPy -> `Equation`."""

from hiddenphysics.equation.equation import Equation
from hiddenphysics.equation.evaluate import evaluate
from hiddenphysics.equation.uncertain import format_uncertain

__all__ = ["Equation", "evaluate", "format_uncertain"]
