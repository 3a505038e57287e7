"""The SymPy expressions of an equation: what stands in them, how they depend on it, and their numbers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import sympy
from sympy.core.function import AppliedUndef

from hiddenphysics.equation.fractional_operators import MAX_UNKNOWN_ORDER, Fractional, FractionalDerivative
from hiddenphysics.equation.names import SPACE, TIME, coordinate
from hiddenphysics.operators import Factor, Order, Symbol

FUNCTIONS = {
    sympy.sin: "sin",
    sympy.cos: "cos",
    sympy.exp: "exp",
    sympy.log: "log",
    sympy.tanh: "tanh",
    sympy.Abs: "abs",
    sympy.sign: "sign",
}
"""The functions that may stand in an expression; the language and the array libraries give them the same names."""

PLACES = frozenset(coordinate(name) for name in (TIME, *SPACE))
"""Time and the coordinates."""


def field_name(atom: sympy.Expr) -> str:
    """`u` for `u(t, x)` and for each of its derivatives, fractional ones too."""
    if isinstance(atom, sympy.Derivative):
        return str(atom.expr.func.__name__)
    return str((atom.field if isinstance(atom, Fractional) else atom).func.__name__)


def atoms_of(expr: sympy.Expr) -> set[sympy.Expr]:
    """Fields and derivatives in `expr`, each as it stands: in `u_x` and `frac_lap(u, 1.5)` there is no `u`."""
    atoms: set[sympy.Expr] = set()
    stack = [expr]
    while stack:
        node = stack.pop()
        if isinstance(node, sympy.Derivative | AppliedUndef | Fractional):
            atoms.add(node)
        else:
            stack.extend(node.args)
    return atoms


def slopes(expr: sympy.Expr) -> dict[sympy.Expr, sympy.Expr]:
    """Partial derivative of `expr` by each field and each derivative in it, all taken as independent."""
    dummies = {atom: sympy.Dummy(real=True) for atom in atoms_of(expr)}
    back = {dummy: atom for atom, dummy in dummies.items()}
    flat = expr.xreplace(dummies)
    return {atom: flat.diff(dummy).xreplace(back) for atom, dummy in dummies.items()}


def is_linear(expr: sympy.Expr) -> bool:
    """Whether `expr` is of first degree in the fields: no slope depends on them. Forcing is allowed."""
    return not any(atoms_of(slope) for slope in slopes(expr).values())


def degree_in_fields(expr: sympy.Expr) -> int | None:
    """Total degree of a polynomial in fields and derivatives, 0 without any; None where it is no polynomial."""
    dummies = {atom: sympy.Dummy() for atom in atoms_of(expr)}
    if not dummies:
        return 0
    flat = expr.xreplace(dummies)
    if not flat.is_polynomial(*dummies.values()):
        return None
    return int(sympy.Poly(flat, *dummies.values()).total_degree())


def multiply_out(expr: sympy.Expr) -> sympy.Expr:
    """Multiply out products and integer powers of sums: the form in which expressions are kept and compared.

    `exp(a + b)` and the like stay as they are. The caller has checked with a `Budget` that the result is small.
    """
    return sympy.expand(expr, power_exp=False, power_base=False, log=False)


def evaluate(
    expr: sympy.Expr, values: Mapping[sympy.Expr, Any], xp: Any, known: dict[sympy.Expr, Any] | None = None
) -> Any:
    """Evaluate `expr` with arrays for its symbols, fields and derivatives; no code is generated.

    What stands in it twice is evaluated once. Powers that are no whole number, and logarithms, of a field or a place
    go on where that is negative: as 0, and as log |u|. In the padding around the data a field may be anything, and
    numbers that are none there would be none everywhere.

    Parameters
    ----------
    expr
        An expression of an `Equation`: sums, products, powers, elementary functions.
    values
        Array, or number, for every Symbol, field `u(t, x)`, Derivative and Fractional operator in `expr`.
    xp
        Array namespace, `numpy` or `jax.numpy`.
    known
        What was evaluated with these values so far, by expression; what is new comes in.

    Raises
    ------
    KeyError
        Something in `expr` has no value; the message names it.

    Examples
    --------
    >>> import numpy as np
    >>> a = sympy.Symbol("a", real=True)
    >>> evaluate(a**2 + sympy.sin(a), {a: np.zeros(2)}, np)
    array([0., 0.])
    """
    if expr.is_Number or expr is sympy.pi:
        return float(expr)
    if isinstance(expr, sympy.Symbol | AppliedUndef | sympy.Derivative | Fractional):
        try:
            return values[expr]
        except KeyError:
            raise KeyError(f"no value for {expr} was given") from None
    known = {} if known is None else known
    if expr not in known:
        known[expr] = _evaluated(expr, values, xp, known)
    return known[expr]


def _evaluated(
    expr: sympy.Expr, values: Mapping[sympy.Expr, Any], xp: Any, known: dict[sympy.Expr, Any]
) -> Any:
    if expr.is_Pow and expr.base is not sympy.E:
        return _power(expr, values, xp, known)
    arguments = [evaluate(argument, values, xp, known) for argument in expr.args]
    if expr.is_Add:
        return sum(arguments[1:], start=arguments[0])
    if expr.is_Mul:
        result = arguments[0]
        for argument in arguments[1:]:
            result = result * argument
        return result
    if expr.func is sympy.log and _varies(expr.args[0]):
        return xp.log(xp.abs(arguments[0]))
    if expr.func in FUNCTIONS:
        return getattr(xp, FUNCTIONS[expr.func])(arguments[0])
    raise TypeError(f"internal error: evaluate knows no {type(expr).__name__} (in {expr})")


def _power(expr: sympy.Pow, values: Mapping[sympy.Expr, Any], xp: Any, known: dict[sympy.Expr, Any]) -> Any:
    base = evaluate(expr.base, values, xp, known)
    if expr.exp.is_Integer:
        return base ** int(expr.exp)  # exact for negative bases, and cheap to differentiate
    if _varies(expr.base):
        # Both branches of a `where` are differentiated: what is not taken must be a number, too.
        inside = base > 0
        raised = _raised(xp.where(inside, base, 1.0), expr, values, xp, known)
        return xp.where(inside, raised, 0.0)
    return _raised(base, expr, values, xp, known)


def _raised(
    base: Any,
    expr: sympy.Pow,
    values: Mapping[sympy.Expr, Any],
    xp: Any,
    known: dict[sympy.Expr, Any],
) -> Any:
    if expr.exp == sympy.Rational(1, 2):
        return xp.sqrt(base)
    return base ** evaluate(expr.exp, values, xp, known)


def _varies(expr: sympy.Expr) -> bool:
    """Whether an expression depends on the fields, or on where they are."""
    return bool(atoms_of(expr)) or not PLACES.isdisjoint(expr.free_symbols)


# ---- as operators, and by printed names --------------------


def derivative_symbol(atom: sympy.Expr, coordinates: tuple[str, ...]) -> Symbol:
    """Return the spatial derivative that an atom stands for.

    ``u(t, x)`` is none, ``Derivative(u(t, x), (x, 2))`` an ordinary and ``FractionalLaplacian(u(t, x), alpha)`` a
    fractional one.
    """
    if isinstance(atom, Fractional):
        return Symbol((0,) * len(coordinates), (_factor(atom, coordinates),))
    counts = dict(atom.variable_count) if isinstance(atom, sympy.Derivative) else {}
    by_name = {str(variable): int(count) for variable, count in counts.items()}
    return Symbol(tuple(by_name.get(name, 0) for name in coordinates))


def _factor(atom: Fractional, coordinates: tuple[str, ...]) -> Factor:
    one_sided = isinstance(atom, FractionalDerivative)
    along = (coordinates.index(str(atom.along)),) if one_sided else tuple(range(len(coordinates)))
    if atom.order.is_number:
        return Factor(Order.known(float(atom.order)), along, one_sided)
    return Factor(Order(str(atom.order), atom.order, float(MAX_UNKNOWN_ORDER)), along, one_sided)


def frozen_atoms(*expressions: sympy.Expr) -> set[sympy.Expr]:
    """Return the fields, and derivatives of fields, that the expressions need as numbers."""
    return set().union(*map(atoms_of, expressions))


def evaluate_by_name(expression: sympy.Expr, numbers: Mapping[str, Any], xp: Any) -> Any:
    """Evaluate an expression whose symbols and fields are given by printed names, such as ``"a"`` or ``"u(t, x)"``.

    Names, not SymPy objects, key the arrays of a data set, because JAX sorts the keys of a dictionary.
    """
    atoms = expression.free_symbols | frozen_atoms(expression)
    return evaluate(expression, {a: numbers[str(a)] for a in atoms if str(a) in numbers}, xp)
