"""Steps in time: integrators as objects that know their order, by name."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import jax
import jax.numpy as jnp

from hiddenphysics.errors import ModelError
from hiddenphysics.registry import Registry
from hiddenphysics.spectral.phi import Phis, elementwise, half_and_full, matrices

Rest = Callable[[jax.Array, jax.Array], jax.Array]
"""R(û, t)."""


@dataclass(frozen=True)
class Integrator(ABC):
    """A way to advance ∂ₜû = L û + R(û, t) by one step; static and hashable.

    L is known as its symbol: a number for each mode and field, (F, *modes), or a matrix for each mode, (F, F, *modes).
    Both methods are traced: they can be jitted, mapped and differentiated.
    """

    order: ClassVar[int]
    """p where the error of a run falls like the p-th power of the step: what error control relies on."""

    @abstractmethod
    def weights(self, symbol: jax.Array, dt: jax.Array, *, coupled: bool) -> Any:
        """Return what steps of length dt need of L, as a tuple of arrays; `coupled` says that L is matrices."""

    @abstractmethod
    def step(self, modes: jax.Array, t: jax.Array, by: Any, rest: Rest) -> jax.Array:
        """Advance modes (F, *modes) from t by the step that the weights were made for."""


INTEGRATORS: Registry[Integrator] = Registry("integrator", ModelError)
"""Integrators by name; a new one is one file and one line."""


class Weights(NamedTuple):
    """The step h, φ(hL/2) and φ(hL)."""

    dt: jax.Array
    half: Phis
    full: Phis


@dataclass(frozen=True)
class Krogstad(Integrator):
    """Exponential time differencing Runge–Kutta: exact in L, of order four in R.

    With φ for φ(hL) and ψ for φ(hL/2):

        a = ψ₀û + h/2 ψ₁R(û)                b = a + h ψ₂(R(a) − R(û))
        c = φ₀û + h φ₁R(û) + 2h φ₂(R(b) − R(û))
        û⁺ = φ₀û + h [φ₁R(û) + φ₂(−3R(û) + 2R(a) + 2R(b) − R(c)) + 4φ₃(R(û) − R(a) − R(b) + R(c))]

    Krogstad (2005), J. Comput. Phys. 203, 72, scheme ETD4RK-B; its weights are those of Cox & Matthews
    (2002), J. Comput. Phys. 176, 430, its stages have smaller errors.
    """

    order: ClassVar[int] = 4

    def weights(self, symbol: jax.Array, dt: jax.Array, *, coupled: bool) -> Weights:
        """Return φ of half a step and of a whole one."""
        return Weights(dt, *half_and_full(symbol * dt, matrices if coupled else elementwise))

    def step(self, modes: jax.Array, t: jax.Array, by: Weights, rest: Rest) -> jax.Array:
        """Advance by h; see the class."""
        h, half, full = by
        rest = jax.jit(rest)  # traced once, not for every stage
        r_u = rest(modes, t)
        a = act(half.zero, modes) + h / 2 * act(half.one, r_u)
        r_a = rest(a, t + h / 2)
        b = a + h * act(half.two, r_a - r_u)
        r_b = rest(b, t + h / 2)
        linear = act(full.zero, modes) + h * act(full.one, r_u)
        c = linear + 2 * h * act(full.two, r_b - r_u)
        r_c = rest(c, t + h)
        second = 2 * (r_a + r_b) - 3 * r_u - r_c
        third = r_u - r_a - r_b + r_c
        return linear + h * (act(full.two, second) + 4 * act(full.three, third))


KROGSTAD = INTEGRATORS.add("krogstad", Krogstad())


def act(operator: jax.Array, modes: jax.Array) -> jax.Array:
    """Apply an operator of shape (F, *modes), or (F, F, *modes) for matrices, to modes (F, *modes)."""
    if operator.ndim == modes.ndim:
        return operator * modes
    # Sums over broadcast products: batched products of 2 × 2 matrices are ten times slower on a CPU.
    return jnp.sum(operator * modes, axis=1)
