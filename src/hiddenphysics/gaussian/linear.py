"""The linear Gaussian model y = A z + B d + ε: restricted likelihood, generalised least squares, posterior."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import Array
from jax.scipy.linalg import cho_solve, solve_triangular
from jax.typing import ArrayLike
from jaxtyping import Float

from hiddenphysics.compiled_code import compiled
from hiddenphysics.gaussian.reduced import Reduced
from hiddenphysics.priors import Prior
from hiddenphysics.spectral import Features
from hiddenphysics.together import together

ROUNDING = 4e-16
"""Noise variance that is added, relative to the trace of the covariance: what a factorisation cannot see."""

FEWER = 3
"""Features per datum from which on the information on the spectrum is computed through the data; of many directions,
each of which costs N² K there, as many as they are."""


class Border(NamedTuple):
    """Which of the columns B carry a Gaussian prior, d_p ~ N(mean_p, v_p), and how v follows from the prior's vector.

    Attributes
    ----------
    group
        (P,) number of the group whose size a column shares; −1 for a flat one.
    wave
        (P,) in waves over the extent of an argument: a basis function of an unknown function varies so fast. 0 for
        columns that all have the same size.
    mean
        (P,) prior mean, relative to the point around which the model is linear; of flat columns it does not count.
    """

    group: Any
    wave: Any
    mean: Any


class Held(NamedTuple):
    """The border's prior at given sizes: precisions (P,), 0 for flat columns, and means (P,)."""

    precision: Float[Array, " P"]
    mean: Float[Array, " P"]


class Evaluated(NamedTuple):
    """Negative restricted log likelihood, its derivatives, and the generalised least squares answer.

    Restricted in the flat columns of B; those with a prior of precision Π are integrated out like z.

    Attributes
    ----------
    value
        ½ rᵀK⁻¹r + ½ (d̂ − m)ᵀΠ(d̂ − m) + ½ log|K| + ½ log|BᵀK⁻¹B + Π| − ½ Σ log Π_p + ½ (N − P_flat) log 2π.
    in_spectrum, in_noise, in_border
        Its derivatives in the K feature variances, in the noise variance, and in the logarithms of the columns' prior
        variances, (P,); 0 for flat ones.
    fisher
        (P_θ, P_θ) expected information on (spectrum directions…, noise) for the directions given.
    estimate, information
        d̂ (P,) and BᵀK⁻¹B + Π (P, P).
    """

    value: Float[Array, ""]
    in_spectrum: Float[Array, " K"]
    in_noise: Float[Array, ""]
    in_border: Float[Array, " P"]
    fisher: Float[Array, "H H"]
    estimate: Float[Array, " P"]
    information: Float[Array, "P P"]


@compiled(light=True)
def effective(
    spectrum: Float[Array, " K"], noise: Float[Array, ""], A: Float[Array, "W q K"]
) -> Float[Array, ""]:
    """Return the noise variance, no smaller than what rounding makes of the largest covariances."""
    power = jnp.max(jnp.sum(A * A * spectrum, axis=(1, 2)))
    return noise + jax.lax.stop_gradient(ROUNDING * power)


@compiled(light=True)
def evidence(data: Reduced, spectrum: Float[Array, " K"], noise: Float[Array, ""]) -> Float[Array, ""]:
    """Negative log likelihood of a model without fixed effects: what `evaluate` gives as value, and no more."""
    noise = effective(spectrum, noise, data.A)
    L = _factor(data, spectrum, noise)
    y = jax.vmap(lambda factor, v: solve_triangular(factor, v, lower=True))(L, data.y)
    logs = 2 * jnp.sum(jnp.log(jnp.diagonal(L, axis1=1, axis2=2))) + data.spare * jnp.log(noise)
    count = data.spare + data.y.size
    return 0.5 * (jnp.sum(y * y) + data.rest[-1, -1] / noise + logs + count * jnp.log(2 * jnp.pi))


@compiled(light=True, static_argnames="averaged")
def evaluate(
    data: Reduced,
    spectrum: Float[Array, " K"],
    noise: Float[Array, ""],
    directions: Float[Array, "K H"],
    held: Held | None = None,
    in_sizes: Float[Array, "P H"] | None = None,
    *,
    averaged: bool = False,
) -> Evaluated:
    """Evaluate the restricted likelihood at feature variances, noise variance and the border's prior.

    Derivatives in closed form: with P = K⁻¹ − K⁻¹B(BᵀK⁻¹B)⁻¹BᵀK⁻¹, dvalue = ½ tr(P dK) − ½ (Py)ᵀ dK (Py), and the
    expected information of two directions is ½ tr(P dK₁ P dK₂). Patterson & Thompson (1971), Biometrika 58, 545.
    Columns with a prior add B Π⁻¹ Bᵀ to the covariance: in the same formulas C = (BᵀK⁻¹B + Π)⁻¹ takes the place of
    (BᵀK⁻¹B)⁻¹, and BᵀPB is Π − ΠCΠ.

    Parameters
    ----------
    directions
        Derivatives of the spectrum in the vector's H numbers but the noise.
    held, in_sizes
        The border's prior; and derivatives (P, H) of the logarithms of its variances in the same numbers.
    averaged
        Whether `fisher` is the average of the expected and the observed information, of the quadratic forms alone,
        ½ yᵀP dK₁ P dK₂ P y: H products with vectors in place of one of K × q and q × K matrices. Gilmour, Thompson &
        Cullis (1995), Biometrics 51, 1440. Where no column of the border has a prior.
    """
    P = data.B.shape[-1]
    noise = effective(spectrum, noise, data.A)
    L = _factor(data, spectrum, noise)
    inverse = jax.vmap(lambda factor: solve_triangular(factor, jnp.eye(factor.shape[0]), lower=True))(L)
    A, B = inverse @ data.A, inverse @ data.B
    y = jnp.einsum("wij,wj->wi", inverse, data.y)
    rest = data.rest / noise
    information = jnp.einsum("wip,wiq->pq", B, B) + rest[:P, :P]
    towards = jnp.einsum("wip,wi->p", B, y) + rest[:P, P]
    quadratic = jnp.sum(y * y) + rest[P, P]
    logs = 2 * jnp.sum(jnp.log(jnp.diagonal(L, axis1=1, axis2=2))) + data.spare * jnp.log(noise)
    count = data.spare + data.y.size - P
    if held is not None:
        carries = held.precision > 0
        information = information + jnp.diag(held.precision)
        towards = towards + held.precision * held.mean
        quadratic = quadratic + jnp.sum(held.precision * held.mean**2)
        logs = logs - jnp.sum(jnp.where(carries, jnp.log(jnp.where(carries, held.precision, 1.0)), 0.0))
        count = count + jnp.sum(carries)
    d, root = _solve(information, towards)
    quadratic = quadratic - towards @ d
    value = 0.5 * (quadratic + logs + _log_det(root) + count * jnp.log(2 * jnp.pi))

    residual = y - B @ d
    crossed = jnp.einsum("wik,wip->wkp", A, B)
    spread = _half_solve(root, crossed)
    slopes = jnp.einsum("wik,wi->wk", A, residual)
    own = jnp.sum(A * A, axis=1) - jnp.sum(spread * spread, axis=-1)
    in_spectrum = 0.5 * jnp.sum(own - slopes**2, axis=0)

    back = jnp.swapaxes(inverse, 1, 2)
    outer = back @ B
    squared = jnp.einsum("wip,wiq->pq", outer, outer) + rest[:P, :P] / noise
    whole = jnp.concatenate([-d, jnp.ones(1)])
    length = jnp.sum(jnp.einsum("wij,wj->wi", back, residual) ** 2) + whole @ rest @ whole / noise
    trace = jnp.sum(inverse * inverse) + data.spare / noise - jnp.trace(_solved(root, squared))
    in_noise = 0.5 * (trace - length)
    if averaged and held is None:
        fisher = _average(
            A, B, slopes, inverse @ (back @ residual[..., None]), rest, whole, root, noise, directions
        )
    else:
        fisher = _fisher(A, _half_solve(root, B), spread, back, inverse, data.spare, noise, directions)
    in_border = jnp.zeros(P)
    if held is not None and in_sizes is not None:
        covariance = _solved(root, jnp.eye(P))
        in_border = 0.5 * (carries - held.precision * (jnp.diagonal(covariance) + (d - held.mean) ** 2))
        # P B Π^(-½) = K⁻¹ B C Π^½: what a column with a prior still says once all else is known.
        weighted = covariance * jnp.sqrt(held.precision)
        own = (jnp.diag(carries * 1.0) - jnp.sqrt(held.precision)[:, None] * weighted) ** 2
        through = jnp.sum((crossed @ weighted) ** 2, axis=0)
        with_noise = jnp.sum(weighted * (squared @ weighted), axis=0)
        mixed = directions.T @ through @ in_sizes
        block = 0.5 * (in_sizes.T @ own @ in_sizes + mixed + mixed.T)
        edge = 0.5 * with_noise @ in_sizes
        fisher = fisher + jnp.block([[block, edge[:, None]], [edge[None, :], jnp.zeros((1, 1))]])
    return Evaluated(value, in_spectrum, in_noise, in_border, fisher, d, information)


def _factor(data: Reduced, spectrum: Array, noise: Array) -> Float[Array, "W q q"]:
    scaled = data.A * jnp.sqrt(spectrum)
    K = scaled @ jnp.swapaxes(scaled, 1, 2) + (data.known + noise)[..., None] * jnp.eye(data.y.shape[1])
    return jnp.linalg.cholesky(K, symmetrize_input=False)


def _solve(information: Array, towards: Array) -> tuple[Array, tuple[Array, Array]]:
    """Solve for d with the information scaled to a unit diagonal; return its factor and scale too.

    A column that says nothing at all, as b does in e (u − b v) where e = 0, stays 0, and spoils no other.
    """
    scale = jnp.sqrt(jnp.diagonal(information))
    scale = jnp.where(scale > 0, scale, 1.0)
    unit = information / jnp.outer(scale, scale) + 1e-13 * jnp.eye(scale.size)
    factor = jnp.linalg.cholesky(unit, symmetrize_input=False)
    return cho_solve((factor, True), towards / scale) / scale, (factor, scale)


def _log_det(root: tuple[Array, Array]) -> Array:
    factor, scale = root
    return 2 * jnp.sum(jnp.log(jnp.diagonal(factor)) + jnp.log(scale))


def _half_solve(root: tuple[Array, Array], columns: Array) -> Array:
    """X with X Xᵀ = columns · information⁻¹ · columnsᵀ; columns (W, K, P)."""
    factor, scale = root
    return jax.vmap(lambda c: solve_triangular(factor, (c / scale).T, lower=True).T)(columns)


def _solved(root: tuple[Array, Array], matrix: Array) -> Array:
    """information⁻¹ · matrix."""
    factor, scale = root
    return cho_solve((factor, True), matrix / scale[:, None]) / scale[:, None]


def _fisher(
    A: Array,
    taken: Array,
    spread: Array,
    back: Array,
    inverse: Array,
    spare: Array,
    noise: Array,
    directions: Array,
) -> Array:
    """Return the expected information; the noise's share leaves out the few degrees of freedom that d takes."""
    if A.shape[2] > max(FEWER, directions.shape[1]) * A.shape[1]:  # through the data, where that is less work
        free = jnp.eye(A.shape[1]) - jnp.einsum("wip,wjp->wij", taken, taken)
        part = jax.lax.map(lambda d: free @ ((A * d) @ jnp.swapaxes(A, 1, 2)), directions.T)
        spectral = 0.5 * jnp.einsum("hwij,gwji->hg", part, part)
    else:
        T = jnp.swapaxes(A, 1, 2) @ A - spread @ jnp.swapaxes(spread, 1, 2)
        spectral = 0.5 * jnp.einsum("kh,wkl,lg->hg", directions, T * T, directions)
    mixed = 0.5 * directions.T @ jnp.sum((back @ A) ** 2, axis=(0, 1))
    square = back @ inverse
    alone = 0.5 * (jnp.sum(square * square) + spare / noise**2)
    return jnp.block([[spectral, mixed[:, None]], [mixed[None, :], alone[None, None]]])


def _average(
    A: Array,
    B: Array,
    slopes: Array,
    in_noise: Array,
    rest: Array,
    whole: Array,
    root: tuple[Array, Array],
    noise: Array,
    directions: Array,
) -> Array:
    """Return ½ vᵢᵀP vⱼ with vᵢ = dKᵢ P y; `in_noise` (W, q, 1) is L⁻¹ P y, of the rows that A reaches."""
    P = B.shape[-1]
    moved = jnp.concatenate([A @ (directions * slopes[..., None]), in_noise], axis=-1)
    squares = jnp.einsum("wih,wig->hg", moved, moved).at[-1, -1].add(whole @ rest @ whole / noise**2)
    towards = jnp.einsum("wip,wih->ph", B, moved).at[:, -1].add(rest[:P] @ whole / noise)
    return 0.5 * (squares - towards.T @ _solved(root, towards))


@together
@compiled(light=True)
def posterior(
    data: Reduced, spectrum: Float[Array, " K"], noise: Float[Array, ""]
) -> tuple[Float[Array, "W K"], Float[Array, "W K P"]]:
    """Posterior mean of z when d = 0, and how it changes with d: mean(d) = mean − slope · d."""
    L = _factor(data, spectrum, effective(spectrum, noise, data.A))
    both = jnp.concatenate([data.y[..., None], data.B], axis=-1)
    weights = jax.vmap(lambda factor, b: cho_solve((factor, True), b))(L, both)
    solved = spectrum[:, None] * (jnp.swapaxes(data.A, 1, 2) @ weights)
    return solved[..., 0], solved[..., 1:]


@partial(
    jax.tree_util.register_dataclass,
    data_fields=("omega", "measure", "level", "data", "columns", "border"),
    meta_fields=("prior",),
)
@dataclass(frozen=True)
class RestrictedLikelihood:
    """The restricted likelihood of one linear model as a function of the prior's vector; a pytree.

    Attributes
    ----------
    prior
        What is static: the processes.
    omega, measure
        (K, D) wave vectors of the features that carry one process, and (K,) their measure.
    level
        (F,) variance of an unknown constant in each field.
    data
        The linear model.
    columns
        Which feature, counted through all processes, every column of A is; None where they are the features in order.
    border
        Which columns of B carry a prior; None where all are flat.
    """

    prior: Prior
    omega: Any
    measure: Any
    level: Any
    data: Reduced
    columns: Any = None
    border: Border | None = None

    @classmethod
    def of(
        cls,
        prior: Prior,
        features: Features,
        level: Any,
        data: Reduced,
        columns: Any = None,
        border: Border | None = None,
    ) -> RestrictedLikelihood:
        """Return the likelihood of processes that these features carry."""
        return cls(prior, features.omega, features.measure, level, data, columns, border)

    def held(self, theta: ArrayLike) -> Held | None:
        """Prior of the columns of B at a vector; None where all are flat."""
        if self.border is None:
            return None
        group, wave, mean = map(jnp.asarray, self.border)
        logs = self.prior.border_logs(jnp.asarray(theta), group, wave)
        return Held(jnp.where(group >= 0, jnp.exp(-logs), 0.0), jnp.where(group >= 0, mean, 0.0))

    def spectrum(self, theta: ArrayLike) -> jax.Array:
        """Prior variances of the columns."""
        every = self.prior.spectrum(theta, self.omega, self.measure, self.level)
        return every if self.columns is None else jnp.asarray(every)[self.columns]

    @compiled()
    def log_density(self, theta: Float[Array, " H"]) -> Float[Array, ""]:
        """Log restricted likelihood at a vector: a pure function that can be mapped and differentiated."""
        spectrum = self.spectrum(theta)
        nowhere = jnp.zeros((spectrum.size, 1))
        return -evaluate(self.data, spectrum, jnp.exp(theta[-1]), nowhere, self.held(theta)).value

    def scored(self, theta: Float[Array, " H"], *, averaged: bool = False) -> tuple[Evaluated, Array, Array]:
        """Return the evaluation, and gradient (H,) and information (H, H) in the vector; traceable.

        The expected information, or the average of `evaluate`.
        """
        slopes = self.prior.slopes(theta, self.omega, self.measure, self.level)
        if self.columns is not None:
            slopes = slopes[self.columns]
        noise = jnp.exp(theta[-1])
        held, in_sizes = self.held(theta), None
        if self.border is not None:
            in_sizes = self.prior.border_slopes(theta, self.border.group, self.border.wave)
        at = evaluate(self.data, self.spectrum(theta), noise, slopes, held, in_sizes, averaged=averaged)
        gradient = at.in_spectrum @ slopes
        if in_sizes is not None:
            gradient = gradient + at.in_border @ in_sizes
        gradient = jnp.append(gradient, at.in_noise * noise)
        scale = jnp.append(jnp.ones(theta.size - 1), noise)
        return at, gradient, at.fisher * jnp.outer(scale, scale)
