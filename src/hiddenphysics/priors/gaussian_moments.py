"""Spectral moments of fractional order of the squared exponential, in closed form and differentiable in the order.

With w a standard normal variable, z = s²/2 and M_p = E|w|^p = 2^{p/2} Γ((p+1)/2)/√π,

    E |w|^p cos(ws)        = M_p       ₁F₁((p+1)/2; 1/2; −z) = M_p       e^{−z} ₁F₁(−p/2;    1/2; z)
    E |w|^p sign(w) sin(ws) = M_{p+1} s ₁F₁(p/2 + 1; 3/2; −z) = M_{p+1} s e^{−z} ₁F₁(½ − p/2; 3/2; z)

The right-hand series does not cancel once its index has passed p/2. Beyond z = `TURN` both follow the asymptotic series

    M_p M_{p+1} |s|^{−p−1} Σ_n (p+1)_{2n} / (n! (4z)^n),    times cos((p+1)π/2), or sign(s) sin((p+1)π/2).

NIST Handbook of Mathematical Functions, 13.2.39, 13.7.2.
"""

from __future__ import annotations

import math

import jax
import jax.numpy as jnp
from jax import Array
from jaxtyping import Float

from hiddenphysics.compiled_code import compiled

TURN = 50.0
"""z at which the convergent series hands over to the asymptotic one: both are exact to round-off there, to p = 24."""
NEAR_TERMS, FAR_TERMS = 128, 32
STIRLING = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360, 1 / 156)
"""B_{2k} / (2k (2k − 1)) for k = 1, 2, …"""

Triple = tuple[Array, Array, Array]
Pair = tuple[Float[Array, "*shape"], Float[Array, "*shape"]]


@jax.custom_jvp
def moments(s: Float[Array, "*shape"], power: Float[Array, ""]) -> Pair:
    """Return E |w|^p cos(ws) and E |w|^p sign(w) sin(ws) for w ~ N(0, 1)."""
    z = 0.5 * s * s
    own, following = _mean_powers(power + jnp.arange(2.0))
    even, odd, tail = _series(power, jnp.minimum(z, TURN), jnp.maximum(z, TURN))
    turn = 0.5 * jnp.pi * (power + 1.0)
    return (
        own * jnp.where(z < TURN, even, following * jnp.cos(turn) * tail),
        following * jnp.where(z < TURN, s * odd, own * jnp.sin(turn) * jnp.sign(s) * tail),
    )


@moments.defjvp
def _slopes(primals: tuple[Array, Array], tangents: tuple[Array, Array]) -> tuple[Pair, Pair]:
    """Differentiate: the slope in s is the other moment of the next power.

    So autodiff has to go through the series for the power alone, and forward: in reverse it would remember every step.
    """
    (s, power), (move, change) = primals, tangents
    value, (even, odd) = jax.jvp(lambda p: moments.fun(s, p), (power,), (jnp.ones_like(power),))
    next_even, next_odd = moments(s, power + 1.0)
    return value, (even * change - next_odd * move, odd * change + next_even * move)


def _mean_powers(p: Float[Array, " n"]) -> Float[Array, " n"]:
    """Return M_p, with Γ from Stirling's series at (p+1)/2 + 8 and eight steps down.

    JAX has log Γ, but two derivatives of it add seconds to the compilation of a Hessian.
    """
    x = 0.5 * (p + 1.0)
    y = x + 8.0
    corrections = sum(c / y ** (2 * k + 1) for k, c in enumerate(STIRLING))
    log_gamma = (y - 0.5) * jnp.log(y) - y + 0.5 * math.log(2.0 * math.pi) + corrections
    steps = jnp.prod(x[:, None] + jnp.arange(8.0), axis=1)
    return jnp.exp(0.5 * math.log(2.0) * p + log_gamma) / (math.sqrt(math.pi) * steps)


@compiled()
def _series(power: Array, near: Array, far: Array) -> Triple:
    """Return e^{−z} ₁F₁(−p/2; ½; z) and e^{−z} ₁F₁(½ − p/2; 3/2; z) at z = near, and the asymptotic tail at z = far.

    All in one loop, Σ c_n x^n = 1 + r_0 x (1 + r_1 x (1 + …)) with r_n = c_{n+1}/c_n: fewer loops compile sooner. The
    tail's terms are |s|^{−p−1} (p+1)_{2n} / (n! (4z)^n), of which only the first are used.
    """
    n = jnp.arange(NEAR_TERMS - 1.0)
    even = (n - 0.5 * power) / ((n + 0.5) * (n + 1.0))
    odd = (n + 0.5 - 0.5 * power) / ((n + 1.5) * (n + 1.0))
    tail = (power + 1.0 + 2.0 * n) * (power + 2.0 + 2.0 * n) / (4.0 * (n + 1.0))
    tail = jnp.where(n < FAR_TERMS, tail, 0.0)
    inverse = 1.0 / far

    def step(sums: Triple, ratios: Triple) -> tuple[Triple, None]:
        (a, b, c), (u, v, w) = ratios, sums
        return (1.0 + a * near * u, 1.0 + b * near * v, 1.0 + c * inverse * w), None

    first = (jnp.ones_like(near), jnp.ones_like(near), jnp.ones_like(far))
    sums, _ = jax.lax.scan(step, first, (even, odd, tail), reverse=True, unroll=4)
    fade = jnp.exp(-near)
    return fade * sums[0], fade * sums[1], jnp.exp(-0.5 * (power + 1.0) * jnp.log(2.0 * far)) * sums[2]
