"""Referees for the kernels' derivative tables, none of which knows the recurrences that are tested.

mpmath differentiates the textbook formula with fifty digits; JAX differentiates it by nested automatic
differentiation. Both start from the correlation alone. The Matérn formula is written with a Bessel function for the
first, with reverse Bessel polynomials for the second; at r = 0, where |r| has a kink, its derivatives come from the
moments of its spectral density (a Student t density).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import jax
import jax.numpy as jnp
import mpmath
import numpy as np
from jax import Array

from hiddenphysics.priors import Kernel, Matern, Periodic, RationalQuadratic, SquaredExponential

DIGITS = 50


@dataclass(frozen=True)
class Case:
    """A kernel at fixed parameters, and the orders up to which it can be differentiated."""

    kernel: Kernel
    parameters: tuple[tuple[str, float], ...]
    order: int = 8
    nested: int = 4
    """Nested reverse mode grows exponentially; one kernel is taken to order 8, the others to this."""

    @property
    def named(self) -> dict[str, float]:
        return dict(self.parameters)

    @property
    def name(self) -> str:
        inside = ", ".join(f"{name}={value:g}" for name, value in self.parameters)
        return f"{self.kernel} {inside}"


def _length(length: float) -> tuple[tuple[str, float], ...]:
    return (("length", length),)


CASES = (
    Case(SquaredExponential(), _length(0.7), nested=8),
    Case(SquaredExponential(), _length(3.0)),
    Case(RationalQuadratic(), (("length", 0.7), ("alpha", 0.4))),
    Case(RationalQuadratic(), (("length", 1.3), ("alpha", 25.0))),
    Case(Periodic(2.5), _length(0.8)),
    Case(Periodic(20.0), _length(1.5)),
    Case(Matern(0.5), _length(0.9), order=0),
    Case(Matern(1.5), _length(0.9), order=2),
    Case(Matern(2.5), _length(1.6), order=4),
    Case(Matern(4.5), _length(0.7), nested=3),
    Case(Matern(7.5), _length(1.1), nested=3),
    Case(Matern(20.5), _length(1.1), nested=2),
)

DISTANCES = np.array([0.0, 1e-9, -1e-4, 0.03, -0.3, 0.8, -1.7, 2.5, 4.0, -6.0])
"""Coincident points, close points and far ones, of both signs."""


# ---- fifty digits --------------------


def correlation(case: Case, r: mpmath.mpf) -> mpmath.mpf:
    """ρ(r) as the textbook writes it (Rasmussen & Williams 2006, chapter 4)."""
    kernel, given = case.kernel, {name: mpmath.mpf(value) for name, value in case.parameters}
    length = given["length"]
    if isinstance(kernel, SquaredExponential):
        return mpmath.exp(-((r / length) ** 2) / 2)
    if isinstance(kernel, RationalQuadratic):
        return (1 + r**2 / (2 * given["alpha"] * length**2)) ** (-given["alpha"])
    if isinstance(kernel, Periodic):
        return mpmath.exp(-2 * (mpmath.sin(mpmath.pi * r / kernel.period) / length) ** 2)
    assert isinstance(kernel, Matern)
    return _matern(mpmath.mpf(kernel.nu), abs(r) / length)


def _matern(nu: mpmath.mpf, distance: mpmath.mpf) -> mpmath.mpf:
    """2^{1−ν}/Γ(ν) s^ν K_ν(s), s = √(2ν) |r|/ℓ."""
    if distance == 0:
        return mpmath.mpf(1)
    s = mpmath.sqrt(2 * nu) * distance
    return 2 ** (1 - nu) / mpmath.gamma(nu) * s**nu * mpmath.besselk(nu, s)


@cache
def exact_table(case: Case) -> np.ndarray:
    """[ρ^{(n)}(r)] for n = 0 … order, at `DISTANCES`; shape (order + 1, R)."""
    with mpmath.workdps(DIGITS):
        columns = [_exact_column(case, mpmath.mpf(float(r))) for r in DISTANCES]
        return np.array(columns, float).T


def _exact_column(case: Case, r: mpmath.mpf) -> list[mpmath.mpf]:
    if isinstance(case.kernel, Matern) and r == 0:
        return [_matern_at_zero(case, n) for n in range(case.order + 1)]
    # mpmath's steps are of size 10^−DIGITS, so no difference reaches across the Matérn kink at r = 0.
    coefficients = mpmath.taylor(lambda s: correlation(case, s), r, case.order)
    return [c * mpmath.factorial(n) for n, c in enumerate(coefficients)]


def _matern_at_zero(case: Case, n: int) -> mpmath.mpf:
    """ρ^{(2k)}(0) = (−1)^k E ω^{2k} with S(ω) ∝ (2ν/ℓ² + ω²)^{−ν−½}; odd derivatives vanish by symmetry."""
    assert isinstance(case.kernel, Matern)
    if n % 2:
        return mpmath.mpf(0)
    k, nu, length = n // 2, mpmath.mpf(case.kernel.nu), mpmath.mpf(case.named["length"])
    half = mpmath.mpf(1) / 2
    moment = (2 * nu / length**2) ** k * mpmath.beta(k + half, nu - k) / mpmath.beta(half, nu)
    return (-1) ** k * moment


# ---- nested automatic differentiation --------------------


def traced_correlation(case: Case) -> Callable[[Array], Array]:
    """ρ as a JAX function of r; of r ≥ 0 for the Matérn kernels, whose other half follows by symmetry."""
    kernel, given = case.kernel, case.named
    length = given["length"]
    if isinstance(kernel, SquaredExponential):
        return lambda r: jnp.exp(-0.5 * (r / length) ** 2)
    if isinstance(kernel, RationalQuadratic):
        return lambda r: (1 + r**2 / (2 * given["alpha"] * length**2)) ** -given["alpha"]
    if isinstance(kernel, Periodic):
        return lambda r: jnp.exp(-2 * (jnp.sin(jnp.pi * r / kernel.period) / length) ** 2)
    assert isinstance(kernel, Matern)
    return lambda r: _reverse_bessel(kernel.p, (2 * kernel.nu) ** 0.5 * r / length)


def _reverse_bessel(p: int, s: Array) -> Array:
    """e^{−s} θ_p(s)/θ_p(0) with θ_n = (2n−1) θ_{n−1} + s² θ_{n−2}, each divided by θ_n(0) = (2n−1)!!."""
    before, here = jnp.ones_like(s), 1.0 + s
    if p == 0:
        return before * jnp.exp(-s)
    for n in range(2, p + 1):
        before, here = here, here + s * s * before / ((2 * n - 1) * (2 * n - 3))
    return here * jnp.exp(-s)


def nested_table(case: Case, order: int) -> np.ndarray:
    """[ρ, ρ', ρ'', …] at `DISTANCES` by differentiating JAX's derivative again and again; shape (order + 1, R)."""
    functions = [traced_correlation(case)]
    for _ in range(order):
        functions.append(jax.grad(functions[-1]))
    one_sided = isinstance(case.kernel, Matern)
    r = jnp.abs(DISTANCES) if one_sided else jnp.asarray(DISTANCES)
    signs = np.where(DISTANCES < 0, -1.0, 1.0) if one_sided else np.ones_like(DISTANCES)
    table = jax.jit(jax.vmap(lambda s: jnp.stack([f(s) for f in functions]), out_axes=1))(r)
    return np.asarray(table) * signs ** np.arange(order + 1)[:, None]
