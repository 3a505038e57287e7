"""The integrals of a weak form over a noisy recording, without bias, and what noise does to them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from math import comb, factorial, prod, sqrt

import numpy as np
import sympy

from hiddenphysics.equation import TIME, atoms_of, evaluate_by_name, field_name
from hiddenphysics.learning.bumps import LEAST_RADIUS, BumpBlock, GridAxis, bump_blocks, smoothed
from hiddenphysics.learning.weak_form import WeakForm

LEAST_NOISE = 1e-6
"""Noise of values that have none, relative to their root mean square: sums over the grid are no better integrals."""
MOST_STORED = 2e7
"""Numbers in the covariances of all blocks, 160 MB; of a longer recording evenly spaced blocks take part."""
DIFFERENCES = range(2, 9)
"""Orders of the differences that tell noise from what is smooth."""
NORMAL_MEDIAN = 0.6745
"""The median of |ε| for a standard normal ε."""


@dataclass(frozen=True)
class BlockIntegrals:
    """The integrals of all Q integrands with the K test functions of a block.

    Attributes
    ----------
    tests
        The test functions.
    values
        w, (Q, K).
    covariance
        Of w_q with w_r by the noise, (Q, Q, K, K).
    """

    tests: BumpBlock
    values: np.ndarray
    covariance: np.ndarray


@dataclass(frozen=True)
class NoisyRecording:
    """Values of fields on a grid: time, then coordinates.

    Attributes
    ----------
    form
        The weak form whose integrals are asked for.
    axes
        Time and every coordinate, (1 + D,).
    places
        Name of an axis -> its numbers, shaped to stand beside the values.
    values
        Field -> (T, *shape).
    noise
        Field -> the standard deviation of its white noise, above 0.
    """

    form: WeakForm
    axes: tuple[GridAxis, ...]
    places: Mapping[str, np.ndarray]
    values: Mapping[str, np.ndarray]
    noise: Mapping[str, float]

    @classmethod
    def of(
        cls,
        form: WeakForm,
        coordinates: Sequence[str],
        axes: Sequence[GridAxis],
        numbers: Sequence[np.ndarray],
        values: Mapping[str, np.ndarray],
        noise: Mapping[str, float] | None,
    ) -> NoisyRecording:
        """Put a recording beside its weak form; noise that nobody knows is estimated."""
        places = dict(
            zip((TIME, *coordinates), np.meshgrid(*numbers, indexing="ij", sparse=True), strict=True)
        )
        held = {field_name(a) for q in form.integrands for a in atoms_of(q.inside)}
        kept = {f: v for f, v in values.items() if f in held}
        known = {f: white_noise(v) if noise is None else noise[f] for f, v in kept.items()}
        least = {f: LEAST_NOISE * (float(np.sqrt(np.mean(v**2))) or 1.0) for f, v in kept.items()}
        return cls(form, tuple(axes), places, kept, {f: max(known[f], least[f]) for f in kept})

    def blocks(self, radii: Sequence[float]) -> list[BlockIntegrals]:
        """Return all integrals with bumps of these radii, in steps of the grid.

        Values of different places have independent errors, so the covariance of two integrals is one sum over the
        grid. Of two polynomials at one place it is Cov(H f, H g) = Σ_κ σ^2κ/κ! ∂^κ f ∂^κ g, κ ≠ 0, exactly.
        """
        integrands, equations = self.form.integrands, len(self.form.equations)
        count = len(integrands)
        rows = bump_blocks(self.axes, radii, equations, 1)[0]
        tests = prod(s.distances.shape[0] for s in rows.stretches)
        most = max(4, int(MOST_STORED / (count * tests) ** 2))
        found = []
        for block in bump_blocks(self.axes, radii, equations, most):
            w = np.stack([
                block.integrals(inside, q.orders) for inside, q in zip(self._insides, integrands, strict=True)
            ])  # fmt: skip
            covariance = np.zeros((count, count, w.shape[1], w.shape[1]))
            for (i, j), weight in self._spreads.items():
                covariance[i, j] = block.pairs(weight, integrands[i].orders, integrands[j].orders)
                covariance[j, i] = covariance[i, j].T
            found.append(BlockIntegrals(block, w, covariance))
        return found

    def spread(self, blocks: Sequence[BlockIntegrals], weights: Sequence[np.ndarray]) -> np.ndarray:
        """Return the covariance of P sums over all integrals of all blocks, (P, P), with weights (P, Q, K) per block.

        Blocks overlap, so their errors are not independent. The sums are integrals with one test function each,
        and have a covariance as any two integrals.
        """
        shape = tuple(axis.size for axis in self.axes)
        orders = [q.orders for q in self.form.integrands]
        count = weights[0].shape[0]
        together = np.zeros((count, len(orders), *shape))
        for block, each in zip(blocks, weights, strict=True):
            for p, q in product(range(count), range(len(orders))):
                block.tests.add(each[p, q], orders[q], together[p, q])
        total = np.zeros((count, count))
        for (i, j), weight in self._spreads.items():
            left = (together[:, i] * weight).reshape(count, -1)
            part = left @ together[:, j].reshape(count, -1).T
            total += part if i == j else part + part.T
        return total

    @cached_property
    def _symbols(self) -> dict[sympy.Expr, sympy.Symbol]:
        atoms = {a for q in self.form.integrands for a in atoms_of(q.inside)}
        return {a: sympy.Dummy(field_name(a), real=True) for a in sorted(atoms, key=str)}

    @cached_property
    def _insides(self) -> list[np.ndarray]:
        """What stands in every integral, without bias, on the whole grid."""
        variances = {symbol: self.noise[field_name(a)] ** 2 for a, symbol in self._symbols.items()}
        exact = [unbiased(q.inside.xreplace(self._symbols), variances) for q in self.form.integrands]
        shape = tuple(axis.size for axis in self.axes)
        return [np.broadcast_to(self._evaluated(e, self.values), shape) for e in exact]

    @cached_property
    def _spreads(self) -> dict[tuple[int, int], np.ndarray]:
        """The covariance at a place of any two integrands that the noise moves together.

        The fields in it are means over the narrowest bumps, of 28 values in the plane of t and x: wider ones cut the
        peaks of Schrödinger's breather, where cubes are noisiest, and deviations came out 0.6 to 0.8 of what they are.
        """
        radii = [min(LEAST_RADIUS, axis.widest) for axis in self.axes]
        fields = {f: smoothed(v, self.axes, radii) for f, v in self.values.items()}
        shape = tuple(axis.size for axis in self.axes)
        parts = [self._parts(q.inside.xreplace(self._symbols), fields) for q in self.form.integrands]
        spreads = {}
        for i, one in enumerate(parts):
            for j, other in enumerate(parts[: i + 1]):
                both = [one[k] * other[k] for k in one if k in other]
                if both:
                    total = np.asarray(np.sum(np.broadcast_arrays(*both), axis=0))
                    spreads[i, j] = np.broadcast_to(total, shape) if total.ndim else total
        return spreads

    def _parts(
        self, inside: sympy.Expr, fields: Mapping[str, np.ndarray]
    ) -> dict[tuple[int, ...], np.ndarray]:
        """Return κ -> σ^κ/√κ! ∂^κ inside: the parts of an integrand's noise that are uncorrelated with each other."""
        degrees = [sympy.Poly(inside, s).degree() if inside.has(s) else 0 for s in self._symbols.values()]
        noises = [self.noise[field_name(a)] for a in self._symbols]
        parts = {}
        for powers in product(*(range(n + 1) for n in degrees)):
            steps = [(s, n) for s, n in zip(self._symbols.values(), powers, strict=True) if n]
            slope = sympy.expand(sympy.diff(inside, *steps)) if steps else sympy.Integer(0)
            if slope != 0:
                size = prod(s**n / sqrt(factorial(n)) for s, n in zip(noises, powers, strict=True))
                parts[powers] = np.asarray(size * self._evaluated(slope, fields))
        return parts

    def _evaluated(self, expression: sympy.Expr, fields: Mapping[str, np.ndarray]) -> np.ndarray:
        back = {symbol: atom for atom, symbol in self._symbols.items()}
        numbers = dict(self.places) | {str(a): fields[field_name(a)] for a in self._symbols}
        return np.asarray(evaluate_by_name(expression.xreplace(back), numbers, np), float)


def unbiased(inside: sympy.Expr, variances: Mapping[sympy.Symbol, float]) -> sympy.Expr:
    """Return H f with E[(H f)(u + ε)] = f(u) for normal errors ε of the symbols: exp(−½ Σ σ² ∂²) f.

    Of u^k it is σ^k He_k(u/σ), the probabilists' Hermite polynomial: u² − σ² of u².

    Examples
    --------
    >>> u = sympy.Symbol("u")
    >>> unbiased(u**3, {u: 2.0})
    u**3 - 6.0*u
    """
    total, term, order = inside, inside, 0
    while term != 0:
        order += 1
        spread = sum(v * sympy.diff(term, s, 2) for s, v in variances.items())
        term = sympy.expand(-spread / (2 * order), power_exp=False)
        total += term
    return total


def white_noise(values: np.ndarray) -> float:
    """Return the standard deviation of white noise on values that are smooth along at least one axis.

    The smallest that high differences along any axis tell: those of order m have the variance (2m over m) σ². Their
    median does not see the few places where a field is steep. On 26 000 values 1 % too small, as the least of many.
    """
    found = [
        float(np.median(np.abs(np.diff(values, order, axis=axis))))
        / NORMAL_MEDIAN
        / sqrt(comb(2 * order, order))
        for axis in range(values.ndim)
        for order in DIFFERENCES
        if values.shape[axis] > 2 * order
    ]
    return min(found, default=0.0)
