"""Operators as data: symbols, coefficient fields, and the small closed algebra that they form."""

from hiddenphysics.operators.operator import Operator
from hiddenphysics.operators.symbol import Factor, Order, Symbol

__all__ = ["Factor", "Operator", "Order", "Symbol"]
