"""The rows of a regression: an equation's residual at many points, as a function of its parameters."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import sympy

from hiddenphysics.equation import slopes
from hiddenphysics.forward import evaluate_by_name, frozen_atoms


@dataclass(frozen=True)
class Row:
    """One equation h_t + N = 0 at n points.

    Attributes
    ----------
    rate
        N without hidden fields.
    hidden
        Field or derivative that nobody measured -> its factor in N, numbers (n,) or a constant.
    increment
        h_t from the data, (n,).
    size
        The root mean square of h_t, by which the row is divided.
    """

    rate: sympy.Expr
    hidden: Mapping[sympy.Expr, np.ndarray]
    increment: np.ndarray
    size: float


@dataclass(frozen=True)
class Rows:
    """All usable equations, with the numbers in them and the parameters that they hold."""

    rows: tuple[Row, ...]
    numbers: Mapping[str, np.ndarray]
    unknown: tuple[str, ...]

    @classmethod
    def of(
        cls,
        rates: Mapping[str, sympy.Expr],
        increments: Mapping[str, np.ndarray],
        numbers: Mapping[str, np.ndarray],
        parameters: Sequence[str],
    ) -> Rows:
        """Keep the equations that hold parameters, and hidden fields only linearly, with known factors."""
        rows = []
        for name, rate in rates.items():
            row = _row(rate, increments[name], numbers, parameters)
            if row is not None and _names(row.rate) & set(parameters):
                rows.append(row)
        held = set().union(*(_names(row.rate) for row in rows)) if rows else set()
        return cls(tuple(rows), numbers, tuple(p for p in parameters if p in held))

    @property
    def is_linear(self) -> bool:
        """Whether every residual is linear in the parameters."""
        return all(_is_linear(row.rate, self.unknown) for row in self.rows)

    def residual(self, at: np.ndarray) -> np.ndarray:
        """Return (h_t + N)/size of all rows, stacked, at parameter values (P,)."""
        return self._stacked(lambda rate: rate, at) + np.concatenate(
            [r.increment / r.size for r in self.rows]
        )

    def jacobian(self, at: np.ndarray) -> np.ndarray:
        """Return the derivative of `residual` in every parameter, (n, P)."""
        return np.stack([self._stacked(_slope_in(name), at) for name in self.unknown], axis=1)

    def _stacked(self, of_rate: Callable[[sympy.Expr], sympy.Expr], at: np.ndarray) -> np.ndarray:
        here = dict(self.numbers) | dict(zip(self.unknown, at, strict=True))
        return np.concatenate([
            np.broadcast_to(evaluate_by_name(of_rate(r.rate), here, np), r.increment.shape) / r.size
            for r in self.rows
        ])  # fmt: skip


def _row(
    rate: sympy.Expr, increment: np.ndarray, numbers: Mapping[str, np.ndarray], parameters: Sequence[str]
) -> Row | None:
    hidden = {atom: slope for atom, slope in slopes(rate).items() if str(atom) not in numbers}
    for slope in hidden.values():
        if _names(slope) & set(parameters) or any(str(a) not in numbers for a in frozen_atoms(slope)):
            return None
    factors = {
        atom: np.asarray(evaluate_by_name(slope, numbers, np), float) for atom, slope in hidden.items()
    }
    known = rate.xreplace(dict.fromkeys(hidden, sympy.Integer(0)))
    return Row(known, factors, increment, float(np.sqrt(np.mean(increment**2))) or 1.0)


def _names(expression: sympy.Expr) -> set[str]:
    return {symbol.name for symbol in expression.free_symbols}


def _slope_in(name: str) -> Callable[[sympy.Expr], sympy.Expr]:
    return lambda rate: sympy.diff(rate, _symbol(rate, name))


def _symbol(expression: sympy.Expr, name: str) -> sympy.Symbol:
    found = [s for s in expression.free_symbols if s.name == name]
    return found[0] if found else sympy.Symbol(name, real=True)


def _is_linear(rate: sympy.Expr, unknown: Sequence[str]) -> bool:
    symbols = [_symbol(rate, p) for p in unknown]
    return all(sympy.diff(rate, a, b) == 0 for a in symbols for b in symbols)
