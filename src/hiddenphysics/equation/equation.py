"""`Equation`: the system of PDEs a user typed, understood."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from dataclasses import field as dataclass_field
from functools import cached_property
from typing import Any, Generic, TypeVar

import sympy

from hiddenphysics.equation import names
from hiddenphysics.equation.analysis import analyse
from hiddenphysics.equation.complex_parts import part_names
from hiddenphysics.equation.explanation import explain
from hiddenphysics.equation.expressions import atoms_of, is_linear
from hiddenphysics.equation.fractional_operators import Fractional
from hiddenphysics.equation.grammar import read
from hiddenphysics.equation.printing import Latex, Printer, Read, Style, Typed
from hiddenphysics.equation.source import PlacedError, Source
from hiddenphysics.equation.system import System
from hiddenphysics.equation.tree import EquationLine, Name, Number, Sum, to_tree
from hiddenphysics.equation.unknown_functions import Ranges, UnknownFunction
from hiddenphysics.errors import EquationError

Values = Mapping[str, tuple[float, float | None]]
Key = TypeVar("Key")
Value = TypeVar("Value")


@dataclass(frozen=True)
class Equation:
    """A system of evolution equations `∂ₜ^p h + N(h, ∂h, …; λ) = 0`, one for each evolving field h.

    Made by `Equation.parse`. Immutable, equal and hashed by value, so it can be a static argument of a
    compiled function.

    Attributes
    ----------
    text
        What the user typed.
    given
        Names of the fields with data, as passed to `parse`.
    coordinates
        Spatial coordinates.
    fields
        All real fields in order of appearance, with those that have no data and with potentials.
    complex_fields
        Complex field -> names of its real and imaginary part, both of them in `fields`.
    parameters
        Unknown parameters in order of appearance.
    constants
        Parameters that were given a value.
    bounds
        Parameter -> (low, high), infinite where unbounded.
    definitions
        Field -> its expression in potentials.
    evolution
        Evolving field -> N.
    time_orders
        Evolving field -> p.
    mass
        Evolving field -> what stands in place of ∂ₜ^p h where time derivatives stand under an operator: u_t − u_xxt.
    ties
        What vanishes and holds no time derivative, linear with constant coefficients: u_x + v_y.
    functions
        Unknown functions such as `D(x)`; their coefficients are among the parameters.

    Examples
    --------
    >>> burgers = Equation.parse("u_t + a*u*u_x = b*u_xx; b > 0")
    >>> burgers.fields, burgers.parameters, burgers.order
    (('u',), ('a', 'b'), 2)
    >>> burgers.render({"a": (1.0379, 0.014), "b": (0.0976, 0.0031)})
    'u_t + 1.038(14) u u_x = 0.0976(31) u_xx'
    """

    text: str
    given: tuple[str, ...]
    coordinates: tuple[str, ...]
    fields: tuple[str, ...]
    complex_fields: FrozenMapping[str, tuple[str, str]]
    parameters: tuple[str, ...]
    constants: FrozenMapping[str, float]
    bounds: FrozenMapping[str, tuple[float, float]]
    definitions: FrozenMapping[str, sympy.Expr]
    evolution: FrozenMapping[str, sympy.Expr]
    time_orders: FrozenMapping[str, int]
    mass: FrozenMapping[str, sympy.Expr]
    ties: tuple[sympy.Expr, ...]
    functions: tuple[UnknownFunction, ...]
    _lines: tuple[EquationLine, ...] = dataclass_field(repr=False, compare=False)

    @classmethod
    def parse(
        cls,
        text: str,
        *,
        fields: Iterable[str] = (),
        coordinates: Sequence[str] | None = None,
        constants: Mapping[str, float] | None = None,
        bounds: Mapping[str, tuple[float | None, float | None]] | None = None,
        ranges: Ranges | None = None,
    ) -> Equation:
        """Read a system of PDEs.

        Parameters
        ----------
        text
            Statements separated by new lines or `;`: equations (`= 0` may be left out), definitions of
            observed fields by potentials (`u = psi_y`), bounds (`b > 0`). Derivatives are `u_t`, `u_xx`,
            `d(u, x, 3)`, `d(u^2/2, x)`, `lap(u)`; powers `^` or `**`; functions sin, cos, exp, log, tanh,
            sqrt, abs, sign; `pi`; `i`, which makes the differentiated fields complex, with re, im, conj.

            Of fractional order α, a number from 0 to 12 or a parameter: `frac_lap(u, alpha)`, (−Δ)^{α/2} with
            the symbol |k|^α, and `D(u, x, alpha)`, the left Riemann–Liouville derivative from −∞ with the
            symbol (ik)^α. Even orders of frac_lap and whole orders of D become ordinary derivatives.

            A letter, perhaps with digits, before a coordinate, `t` or a field in parentheses is an unknown function:
            `u_t = d(D(x)*u_x, x) + f(u)`.
        fields
            Names with data; a complex `h` may be named `h`, or `h_re` and `h_im`.
        coordinates
            Spatial coordinates of the data; by default those that the text uses.
        constants
            Known values of parameters.
        bounds
            Ranges of parameters, None for no bound; they add to those in the text.
        ranges
            Least and largest value of what unknown functions are functions of, by name; (0, 1) where nothing is said.

        Raises
        ------
        EquationError
            The text has no such meaning; the message shows where and what to type instead.
        """
        source = Source(text)
        given = tuple(dict.fromkeys([fields] if isinstance(fields, str) else fields))
        known = _by_name(constants, "constants", "{'c': 3.0}")
        limits = _by_name(
            bounds, "bounds", "{'b': (0, None)}, or write it into the equation: u_t - b*u_xx = 0; b > 0"
        )
        for role, words in (("field", given), ("constant", known), ("parameter", limits)):
            for name in words:
                names.check_name(name, role)
        try:
            lines = read(source)
            analysis = analyse(lines, given, coordinates, known, limits, ranges or {})
        except PlacedError as problem:
            raise source.error(problem) from None
        return cls(
            text=text,
            given=given,
            coordinates=analysis.vocabulary.coordinates,
            fields=analysis.fields,
            complex_fields=FrozenMapping({h: part_names(h) for h in analysis.vocabulary.complex_fields}),
            parameters=analysis.parameters,
            constants=FrozenMapping(known),
            bounds=FrozenMapping(analysis.bounds),
            definitions=FrozenMapping(analysis.definitions),
            evolution=FrozenMapping(analysis.evolution.right),
            time_orders=FrozenMapping(analysis.evolution.orders),
            mass=FrozenMapping(analysis.evolution.mass),
            ties=analysis.evolution.ties,
            functions=analysis.functions,
            _lines=tuple(line for line in lines if isinstance(line, EquationLine)),
        )

    def __reduce__(self) -> tuple[Callable[..., Equation], tuple[object, ...]]:
        # SymPy's undefined functions cannot be pickled; the text can.
        inputs = (
            self.text,
            self.given,
            self.coordinates,
            dict(self.constants),
            self.given_bounds,
            self.ranges,
        )
        return _restore, inputs

    @property
    def ranges(self) -> dict[str, tuple[float, float]]:
        """Least and largest value of what unknown functions are functions of, by name."""
        return {one.argument: (one.low, one.high) for one in self.functions}

    @property
    def coefficients(self) -> dict[str, float]:
        """Coefficients of unknown functions that carry a prior: the number of waves of what each stands before."""
        return {
            name: float(wave)
            for one in self.functions
            for name, wave in zip(one.coefficients[one.flat :], one.waves[one.flat :], strict=True)
        }

    @property
    def numbers(self) -> tuple[str, ...]:
        """The parameters that a user has typed, without the coefficients of unknown functions."""
        coefficients = {name for one in self.functions for name in one.coefficients}
        return tuple(name for name in self.parameters if name not in coefficients)

    @property
    def given_bounds(self) -> dict[str, tuple[float, float]]:
        """Bounds of the numbers, and of the unknown functions that have one."""
        functions = {one.name: one.limits for one in self.functions if one.sign}
        return {name: self.bounds[name] for name in self.numbers} | functions

    @cached_property
    def simplest(self) -> Equation:
        """The same with the simplest functions for unknown ones: constants, and straight lines of fields."""
        if not self.functions:
            return self
        nothing = dict.fromkeys(self.coefficients, 0.0)
        return Equation.parse(
            self.text,
            fields=self.given,
            coordinates=self.coordinates,
            constants={**self.constants, **nothing},
            bounds=self.given_bounds,
            ranges=self.ranges,
        )

    # ---- the objects in the expressions --------------------

    def field(self, name: str) -> sympy.Expr:
        """Return the function `name(t, *coordinates)` that stands for a field in the expressions."""
        return names.field(_member(name, self.fields, "field"), self.coordinates)

    def coordinate(self, name: str) -> sympy.Symbol:
        """Return the symbol of a coordinate, `t` included."""
        return names.coordinate(_member(name, (names.TIME, *self.coordinates), "coordinate"))

    def parameter(self, name: str) -> sympy.Symbol:
        """Return the symbol of a parameter."""
        return names.parameter(_member(name, self.parameters, "parameter"))

    # ---- properties --------------------

    @cached_property
    def system(self) -> System:
        """The equation as a first-order system in time: built once, whoever asks."""
        return System.of(self)

    @property
    def linear(self) -> bool:
        """Whether every N is of first degree in the fields (a forcing term is allowed)."""
        return all(is_linear(expr) for expr in self.evolution.values())

    @property
    def order(self) -> int:
        """Order of the highest spatial derivative in the evolution equations; fractional ones do not count."""
        exprs = (*self.evolution.values(), *self.mass.values())
        atoms = {atom for expr in exprs for atom in atoms_of(expr)}
        time = names.coordinate(names.TIME)
        orders = [
            sum(int(count) for symbol, count in atom.variable_count if symbol != time)
            for atom in atoms
            if isinstance(atom, sympy.Derivative)
        ]
        return max(orders, default=0)

    @property
    def fractional(self) -> tuple[str, ...]:
        """The fractional operators in the equations and definitions, as they are typed: `frac_lap(u, alpha)`."""
        exprs = (*self.evolution.values(), *self.definitions.values(), *self.mass.values(), *self.ties)
        printer = Printer(Typed(), {})
        atoms = {atom for expr in exprs for atom in atoms_of(expr) if isinstance(atom, Fractional)}
        return tuple(sorted(printer.sum(to_tree(atom)) for atom in atoms))

    # ---- printing --------------------

    def statements(self) -> list[str]:
        """Evolution equations, ties and definitions in canonical form, as text that can be typed."""
        printer = Printer(Typed(), {})
        if self.functions:  # as typed: what stands for an unknown function is nobody's business
            return [printer.line(line) for line in self._lines]
        lines = [
            EquationLine(to_tree(self.mass[h] + self.evolution[h]), Number("0"))
            if h in self.mass
            else _evolution_line(h, p, self.evolution[h])
            for h, p in self.time_orders.items()
        ]
        lines += [EquationLine(to_tree(tie), Number("0")) for tie in self.ties]
        lines += [EquationLine(Name(h), to_tree(e)) for h, e in self.definitions.items()]
        return [printer.line(line) for line in lines]

    def __str__(self) -> str:
        """Canonical text; it parses to the same evolution equations."""
        bounds = [_bound_statement(name, *ends) for name, ends in self.given_bounds.items()]
        return "\n".join([*self.statements(), *filter(None, bounds)])

    def sympy(self) -> list[sympy.Eq]:
        """Evolution equations, ties and definitions as SymPy equations."""
        time = names.coordinate(names.TIME)
        evolution = [
            sympy.Eq(self.mass.get(h, self.field(h).diff(time, self.time_orders[h])) + expr, 0)
            for h, expr in self.evolution.items()
        ]
        evolution += [sympy.Eq(tie, 0) for tie in self.ties]
        return evolution + [sympy.Eq(self.field(h), expr) for h, expr in self.definitions.items()]

    def latex(self) -> str:
        """Write the equations as typed, in LaTeX."""
        return self._print(Latex(), {})

    def render(self, values: Values) -> str:
        """Write the equations as typed, with numbers for parameters and constants.

        Parameters
        ----------
        values
            Parameter -> (value, standard deviation), None for a deviation that is not known. Parameters that
            are not in it keep their names.
        """
        return self._print(Read(), self._with_constants(values))

    def render_latex(self, values: Values) -> str:
        """Do what `render` does, in LaTeX."""
        return self._print(Latex(), self._with_constants(values))

    def explain(self) -> str:
        """How the text was understood, in several lines."""
        return explain(self)

    def _with_constants(self, values: Values) -> Values:
        for name in values:
            _member(name, self.parameters, "parameter")
        return {**{name: (value, None) for name, value in self.constants.items()}, **values}

    def _print(self, style: Style, values: Values) -> str:
        printer = Printer(style, values)
        return "\n".join(printer.line(line) for line in self._lines)


class FrozenMapping(Mapping[Key, Value], Generic[Key, Value]):
    """An immutable mapping that keeps its order and is equal, and hashes, by value."""

    __slots__ = ("_items",)

    def __init__(self, items: Mapping[Key, Value] | None = None) -> None:
        self._items = dict(items or {})

    def __getitem__(self, key: Key) -> Value:
        return self._items[key]

    def __iter__(self) -> Iterator[Key]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def __hash__(self) -> int:
        return hash(frozenset(self._items.items()))

    def __repr__(self) -> str:
        return repr(self._items)


def _by_name(given: Mapping[str, Any] | None, role: str, example: str) -> dict[str, Any]:
    """Return a mapping by name as a dictionary; refuse anything else."""
    if given is not None and not isinstance(given, Mapping):
        raise EquationError(
            f"{role}={given!r:.80} was given; needed is a mapping by name, such as {role}={example}"
        )
    return dict(given or {})


def _restore(
    text: str,
    fields: tuple[str, ...],
    coordinates: tuple[str, ...],
    constants: dict[str, float],
    bounds: dict[str, tuple[float, float]],
    ranges: dict[str, tuple[float, float]],
) -> Equation:
    return Equation.parse(
        text, fields=fields, coordinates=coordinates, constants=constants, bounds=bounds, ranges=ranges
    )


def _evolution_line(name: str, order: int, right: sympy.Expr) -> EquationLine:
    tree = to_tree(right)
    terms = tree.terms if isinstance(tree, Sum) else () if right == 0 else (("+", tree),)
    return EquationLine(Sum((("+", Name(f"{name}_{names.TIME * order}")), *terms)), Number("0"))


def _bound_statement(name: str, low: float, high: float) -> str:
    if math.isinf(low) and math.isinf(high):
        return ""
    if math.isinf(high):
        return f"{name} > {_number(low)}"
    if math.isinf(low):
        return f"{name} < {_number(high)}"
    return f"{_number(low)} < {name} < {_number(high)}"


def _number(value: float) -> str:
    return str(int(value)) if value == int(value) and abs(value) < 1e15 else repr(value)


def _member(name: str, known: Sequence[str], role: str) -> str:
    if name not in known:
        raise KeyError(f"the equation has no {role} {name!r}; it has {', '.join(known) or 'none'}")
    return name
