"""Tree to SymPy: names get their objects, derivatives are carried out, complex values become pairs of real ones."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import comb

import sympy
from sympy.core.function import AppliedUndef

from hiddenphysics.equation import complex_parts, names
from hiddenphysics.equation.budget import MAX_ORDER, MAX_POWER, Budget
from hiddenphysics.equation.complex_parts import Pair
from hiddenphysics.equation.fractional_operators import (
    FractionalDerivative,
    FractionalLaplacian,
    laplacian_power,
)
from hiddenphysics.equation.numbers import fold_function, fold_power, literal
from hiddenphysics.equation.source import PlacedError
from hiddenphysics.equation.tree import Call, EquationLine, Name, Negative, Node, Number, Power, Product, Sum
from hiddenphysics.equation.vocabulary import Vocabulary
from hiddenphysics.registry import did_you_mean

_SYNONYMS = {
    "ln": "log",
    "diff": "d",
    "laplacian": "lap",
    "laplace": "lap",
    "fraclap": "frac_lap",
    "frac_laplacian": "frac_lap",
    "fractional_laplacian": "frac_lap",
    "real": "re",
    "imag": "im",
    "conjugate": "conj",
}
_REAL_ONLY: dict[str, Callable[[sympy.Expr], sympy.Expr]] = {
    "sin": sympy.sin,
    "cos": sympy.cos,
    "exp": sympy.exp,
    "log": sympy.log,
    "tanh": sympy.tanh,
    "sqrt": sympy.sqrt,
    "sign": sympy.sign,
}

_FRACTIONAL_USAGE = {  # number of arguments, the sentence for another number, an example
    "frac_lap": (2, "a fractional Laplacian is written frac_lap(u, alpha)", "frac_lap(u, alpha)"),
    "D": (
        3,
        "a fractional derivative is written D(u, x, alpha); a product with a parameter D is D*(...)",
        "D(u, x, alpha)",
    ),
}


@dataclass
class Lowering:
    """Turns trees of one system into SymPy."""

    vocabulary: Vocabulary
    constants: Mapping[str, sympy.Rational]
    budget: Budget = field(default_factory=Budget)
    _known: dict[str, Pair] = field(default_factory=dict)

    def residual(self, line: EquationLine) -> Pair:
        """`left - right`."""
        left = self.expression(line.left)
        if line.right is None:
            return left
        return self._checked(
            complex_parts.add([left, complex_parts.negative(self.expression(line.right))]), line.at
        )

    def expression(self, node: Node) -> Pair:
        """Return the value of a tree."""
        return self._checked(self._value(node), node.at)

    def _simple(self, node: Node) -> Pair:
        """Return the value multiplied out: what cancels to a number must be seen as one by functions and powers."""
        re, im = (self.budget.expanded(part, node.at) for part in self._value(node))
        return Pair(re, im)

    def _checked(self, value: Pair, at: int) -> Pair:
        self.budget.check(value.re, at)
        if not value.is_real:
            self.budget.check(value.im, at)
        return value

    def _value(self, node: Node) -> Pair:
        match node:
            case Number():
                return Pair(literal(node.text, node.at))
            case Name():
                return self._name(node)
            case Negative():
                return complex_parts.negative(self.expression(node.operand))
            case Sum():
                terms = [(sign, self.expression(term)) for sign, term in node.terms]
                return complex_parts.add(
                    [term if sign == "+" else complex_parts.negative(term) for sign, term in terms]
                )
            case Product():
                return self._product(node)
            case Power():
                return self._power(node)
            case Call():
                return self._call(node)

    # ---- names --------------------

    def _name(self, node: Name) -> Pair:
        if node.name not in self._known:
            base, letters = self.vocabulary.split(node.name)
            value = self._symbol(base)
            for letter in letters:
                value = self._differentiate(value, letter, 1, node.at)
            self._known[node.name] = value
        return self._known[node.name]

    def _symbol(self, name: str) -> Pair:
        words = self.vocabulary
        if name in self.constants:
            return Pair(self.constants[name])
        if name == names.IMAGINARY:
            return complex_parts.I
        if name == names.PI:
            return Pair(sympy.pi)
        if name in words.parts:
            return Pair(names.field(name, words.coordinates))
        if name in words.complex_fields:
            re, im = (names.field(part, words.coordinates) for part in complex_parts.part_names(name))
            return Pair(re, im)
        if name in words.fields:
            return Pair(names.field(name, words.coordinates))
        return Pair(names.parameter(name))

    # ---- arithmetic --------------------

    def _product(self, node: Product) -> Pair:
        factors = []
        for sign, factor in node.factors:
            value = self.expression(factor)
            if sign == "/" and value == (0, 0):
                raise PlacedError(factor.at, "division by zero")
            factors.append(complex_parts.reciprocal(value) if sign == "/" else value)
        if all(value.is_real for value in factors):
            return Pair(sympy.Mul(*(value.re for value in factors)))
        result = factors[0]
        for value in factors[1:]:
            # Checked at every step: a product of n complex factors written out doubles n times.
            result = self._checked(complex_parts.multiply(result, value), node.at)
        return result

    def _power(self, node: Power) -> Pair:
        base, power = self._simple(node.base), self._simple(node.exponent)
        exponent, at = power.re, node.exponent.at
        if not power.is_real:
            raise PlacedError(at, "a complex exponent is not supported")
        if exponent.is_number and abs(exponent) > MAX_POWER:
            raise PlacedError(at, f"this power is too high: at most {MAX_POWER} is supported")
        if exponent.is_Integer:
            if base == (0, 0) and exponent < 0:
                raise PlacedError(node.base.at, "division by zero")
            return complex_parts.integer_power(base, int(exponent))
        if not base.is_real:
            raise PlacedError(at, "a complex value can only be raised to an integer power")
        if not base.re.is_number:
            return Pair(base.re**exponent)
        if exponent.is_number:
            return Pair(fold_power(base.re, exponent, node.at))
        if not base.re > 0:
            raise PlacedError(node.base.at, "a number raised to an unknown power must be positive")
        return Pair(base.re**exponent)

    # ---- functions --------------------

    def _call(self, node: Call) -> Pair:
        if node.function not in names.FUNCTIONS:
            raise PlacedError(node.at, self._unknown_function(node.function))
        if node.function == "d":
            return self._derivative(node)
        if node.function in names.FRACTIONAL:
            return self._fractional(node)
        if len(node.arguments) != 1:
            raise PlacedError(node.at, f"{node.function} takes one argument, not {len(node.arguments)}")
        value = self._simple(node.arguments[0])
        if node.function == "lap":
            self._check_has_field(value, node)
            along = self.vocabulary.coordinates
            return complex_parts.add([self._differentiate(value, letter, 2, node.at) for letter in along])
        return self._function(node, value)

    def _function(self, node: Call, value: Pair) -> Pair:
        match node.function:
            case "re":
                return Pair(value.re)
            case "im":
                return Pair(value.im)
            case "conj":
                return Pair(value.re, -value.im)
            case "abs" if value.is_real:
                return Pair(sympy.Abs(value.re))
            case "abs":
                return Pair(sympy.sqrt(complex_parts.modulus_squared(value)))
            case "exp" if not value.is_real:
                return complex_parts.polar(self._function(node, Pair(value.re)).re, value.im)
        if not value.is_real:
            raise PlacedError(node.at, f"{node.function} of a complex value is not supported")
        if value.re.is_number and node.function != "sign":
            return Pair(fold_function(node.function, value.re, node.at))
        return Pair(_REAL_ONLY[node.function](value.re))

    def _unknown_function(self, name: str) -> str:
        if name in self.vocabulary.fields or name in self.vocabulary.parameters or name in self.constants:
            return f"{name} is no function: write {name}*(...) for a product, {name} alone for the field"
        hint = (
            f"; did you mean {_SYNONYMS[name]}?" if name in _SYNONYMS else did_you_mean(name, names.FUNCTIONS)
        )
        return f"there is no function {name}{hint or '.'} Known are {', '.join(names.FUNCTIONS)}"

    # ---- derivatives --------------------

    def _derivative(self, node: Call) -> Pair:
        if len(node.arguments) not in (2, 3):
            raise PlacedError(node.at, "a derivative is written d(u, x) or d(u, x, 2)")
        what, along, *rest = node.arguments
        axis = self._axis(along, "d", (names.TIME, *self.vocabulary.coordinates))
        times = 1
        if rest:
            order = rest[0]
            times = int(order.text) if isinstance(order, Number) and order.text.isdecimal() else 0
            if not 1 <= times <= MAX_ORDER:
                raise PlacedError(
                    order.at, f"the order of a derivative is a whole number from 1 to {MAX_ORDER}"
                )
        value = self.expression(what)
        self._check_has_field(value, node)
        return self._differentiate(value, axis, times, node.at)

    def _axis(self, node: Node, function: str, axes: Sequence[str]) -> str:
        if isinstance(node, Name) and node.name in axes:
            return node.name
        hint = did_you_mean(node.name, axes) if isinstance(node, Name) else ""
        raise PlacedError(node.at, f"{function} needs a coordinate here, one of {', '.join(axes)}{hint}")

    def _check_has_field(self, value: Pair, node: Call) -> None:
        if not (value.re.has(AppliedUndef) or value.im.has(AppliedUndef)):
            raise PlacedError(node.arguments[0].at, f"{node.function} finds no field here to differentiate")

    def _differentiate(self, value: Pair, along: str, times: int, at: int) -> Pair:
        symbol = names.coordinate(along)
        for _ in range(times):
            re, im = (self.budget.derivative(part, symbol, at) for part in value)
            value = Pair(re, im)
        return value

    # ---- fractional operators --------------------

    def _fractional(self, node: Call) -> Pair:
        """`frac_lap(u, alpha)` and `D(u, x, alpha)`; ordinary derivatives where the order makes them that."""
        count, usage, _ = _FRACTIONAL_USAGE[node.function]
        if len(node.arguments) != count:
            raise PlacedError(node.at, usage)
        value = self._bare_field(node.arguments[0], node.function)
        order = self._order(node.arguments[-1], node.function)
        if node.function == "frac_lap":
            return _each_part(value, lambda part: self._fractional_laplacian(part, order, node.at))
        axis = self._axis(node.arguments[1], "D", self.vocabulary.coordinates)
        if order.is_Integer:
            return self._differentiate(value, axis, int(order), node.at)
        along = names.coordinate(axis)
        return _each_part(value, lambda part: FractionalDerivative(part, along, order))

    def _fractional_laplacian(self, field: sympy.Expr, order: sympy.Expr, at: int) -> sympy.Expr:
        if not (order.is_Integer and order % 2 == 0):
            return FractionalLaplacian(field, order)
        times = int(order) // 2
        axes = [names.coordinate(name) for name in self.vocabulary.coordinates]
        self.budget.spend(
            2 * comb(times + len(axes) - 1, times) * int(order), at
        )  # terms, each of that order
        return (-1) ** times * laplacian_power(field, axes, times)

    def _bare_field(self, node: Node, function: str) -> Pair:
        words = self.vocabulary
        if isinstance(node, Name) and (node.name in words.fields or node.name in words.parts):
            return self._name(node)
        raise PlacedError(
            node.at, f"{function} acts on a field alone, by its bare name: {_FRACTIONAL_USAGE[function][2]}"
        )

    def _order(self, node: Node, function: str) -> sympy.Expr:
        value = self._simple(node)
        order = value.re
        places = {names.coordinate(name) for name in (names.TIME, *names.SPACE)}
        if not value.is_real or order.has(AppliedUndef) or order.free_symbols & places:
            raise PlacedError(
                node.at, f"the order of {function} is a number or a parameter, such as 1.5 or alpha"
            )
        if order.is_number and not 0 <= order <= MAX_ORDER:
            raise PlacedError(node.at, f"the order of {function} lies between 0 and {MAX_ORDER}")
        return order


def _each_part(value: Pair, operator: Callable[[sympy.Expr], sympy.Expr]) -> Pair:
    """Apply a real linear operator to real and imaginary part."""
    return Pair(operator(value.re)) if value.is_real else Pair(operator(value.re), operator(value.im))
