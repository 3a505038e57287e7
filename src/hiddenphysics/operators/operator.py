"""The one algebra of this library: an observation is a linear operator on independent latent processes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from hiddenphysics.operators.symbol import Factor, Symbol

Coefficient = TypeVar("Coefficient")
Value = TypeVar("Value")


@dataclass(frozen=True)
class Operator(Generic[Coefficient]):
    """o(x) = Σ_f Σ_j c_j(x) · (T_j z_f)(x), as data: a sum of (latent f, symbol T_j, coefficient c_j) terms.

    Coefficients may be anything that adds and multiplies: SymPy expressions while a forward model is built,
    numbers or arrays of shape (N,), one value per point, when it is evaluated. Terms are kept sorted and
    unique, so equal operators compare equal and hash equal (as long as their coefficients do).
    """

    terms: tuple[tuple[str, Symbol, Coefficient], ...]

    __array_ufunc__ = (
        None  # NumPy hands ``field * operator`` to `__rmul__` instead of multiplying element by element
    )

    @classmethod
    def collect(cls, terms: Iterable[tuple[str, Symbol, Coefficient]]) -> Operator[Coefficient]:
        """Sum the given terms, adding the coefficients that meet on the same latent and symbol."""
        total: dict[tuple[str, Symbol], Any] = {}
        for latent, symbol, coefficient in terms:
            key = (latent, symbol)
            total[key] = total[key] + coefficient if key in total else coefficient
        return cls(tuple((latent, symbol, total[latent, symbol]) for latent, symbol in sorted(total)))

    @classmethod
    def of(cls, latent: str, symbol: Symbol, coefficient: Coefficient) -> Operator[Coefficient]:
        """Return the single term c · T z_f."""
        return cls(((latent, symbol, coefficient),))

    @classmethod
    def zero(cls) -> Operator[Coefficient]:
        """Return the operator that observes nothing."""
        return cls(())

    def __iter__(self) -> Iterator[tuple[str, Symbol, Coefficient]]:
        return iter(self.terms)

    def __add__(self, other: Operator[Coefficient]) -> Operator[Coefficient]:
        return Operator.collect((*self.terms, *other.terms))

    def __rmul__(self, factor: Coefficient) -> Operator[Coefficient]:
        """Multiply by a number or a field: ``c * operator`` takes x to c(x) o(x)."""
        scale: Any = factor
        return self.map(lambda coefficient: scale * coefficient)

    def after(self, inner: Mapping[str, Operator[Coefficient]]) -> Operator[Coefficient]:
        """Compose with operators that express this operator's latents by other latents.

        With o = Σ c_j T_j z_f and z_f = Σ a_k T'_k y_g, the result is Σ c_j a_k T_j T'_k y_g. The inner
        coefficients a_k must be constant in x, since T_j does not differentiate them: a potential such as ``u
        = psi_y`` is.
        """

        def product(outer: Any, constant: Any) -> Any:
            return outer * constant

        return Operator.collect(
            (source, symbol @ inner_symbol, product(coefficient, constant))
            for latent, symbol, coefficient in self.terms
            for source, inner_symbol, constant in inner[latent].terms
        )

    def map(self, function: Callable[[Coefficient], Value]) -> Operator[Value]:
        """Apply a function to every coefficient; symbols stay."""
        return Operator(tuple((latent, symbol, function(c)) for latent, symbol, c in self.terms))

    def evaluate(self, number: Callable[[Any], Value]) -> Operator[Value]:
        """Turn coefficients and fractional orders into numbers: an operator at given parameters and points."""
        return Operator(
            tuple((latent, symbol.evaluate(number), number(c)) for latent, symbol, c in self.terms)
        )

    def only(self, latent: str) -> Operator[Coefficient]:
        """Return the part of the sum that looks at one latent."""
        return Operator(tuple(term for term in self.terms if term[0] == latent))

    @property
    def latents(self) -> tuple[str, ...]:
        """The latent processes that this operator looks at, sorted."""
        return tuple(sorted({latent for latent, _, _ in self.terms}))

    def highest_order(self, latent: str) -> int:
        """Return the largest whole derivative order, along any one coordinate, that is taken of a latent process."""
        return max((symbol.highest for name, symbol, _ in self.terms if name == latent), default=0)

    def fractional(self, latent: str) -> tuple[Factor, ...]:
        """Return the fractional factors that are applied to a latent process, sorted."""
        return tuple(
            sorted({f for name, symbol, _ in self.terms if name == latent for f in symbol.fractional})
        )
