"""How large an equation may be: generous for any PDE, and no text costs seconds or gigabytes."""

from __future__ import annotations

MAX_TEXT = 10_000  # characters of the whole text
MAX_STATEMENTS = 100
MAX_DEPTH = 32  # nesting of functions, powers and signs; bounds every recursion in this room
MAX_NAME = 64  # characters of one name
MAX_LITERAL = 400  # characters of one number
MAX_MAGNITUDE = 1e100  # a number lies between 1/this and this, or is 0
MAX_BITS = 1024  # numerator and denominator of an exact number
MAX_POWER = 20  # absolute value of a numeric exponent
MAX_ORDER = 12  # derivatives in one factor
MAX_UNKNOWN_ORDER = 4  # of a fractional operator whose order is sought
MAX_TERMS = 500  # of the multiplied-out equation
MAX_WORK = 12_000  # SymPy nodes visited while an equation is built
MAX_COUPLED = 64  # terms in the determinant of the matrix before coupled time derivatives
