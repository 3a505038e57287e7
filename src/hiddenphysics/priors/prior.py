"""The prior of all latent fields, and every unknown number by name: natural for people, free for optimisers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jaxtyping import Float, Int

from hiddenphysics.compiled_code import compiled
from hiddenphysics.priors.kernel import Kernel
from hiddenphysics.together import together

NOISE = "noise.variance"

FINE = ".fine"
"""How the name of a latent's second scale ends."""

LARGEST_REACH = 40.0
"""Largest ωℓ that is followed: rough priors are cut off there."""

VARIANCES = 1e6
"""A variance may lie that far below or above what is expected of it: a generous limit, which only a latent that the
data do not show comes near."""

Limits = Mapping[str, tuple[float, float]]


def variance_name(latent: str) -> str:
    """Return the name of a latent's variance γ²."""
    return f"{latent}.variance"


def shape_name(latent: str, parameter: str, coordinate: str) -> str:
    """Return the name of one of a kernel's numbers along one coordinate, such as ``u.length_x``."""
    return f"{latent}.{parameter}_{coordinate}"


@dataclass(frozen=True)
class Process:
    """One latent process at given numbers: γ² Π_d ρ(x_d − x'_d; θ_d).

    Attributes
    ----------
    kernel
        The correlation ρ.
    variance
        γ², the variance of the process.
    shapes
        For each of the D dimensions the kernel's learned numbers θ_d by name, such as ``{"length": 1.3}``.
    """

    kernel: Kernel
    variance: Float[Array, ""]
    shapes: tuple[Mapping[str, Float[Array, ""]], ...]


@dataclass(frozen=True)
class Group:
    """Columns beside the latents that share a learned size, d_p ~ N(m_p, size² · ρ(wave_p · reach)); static, hashable.

    Attributes
    ----------
    name
        Of the sensors' errors, or of the unknown function.
    falls
        Whether columns with more waves are smaller: ρ(s) = (1 + (2πs)²/3)⁻², the spectrum of a process with
        Matérn's correlation ν = 3/2, once differentiable and so free to have steps, with a reach in parts of the extent
        of its argument. Rasmussen & Williams (2006), *Gaussian Processes for Machine Learning*, eq. 4.15.
    """

    name: str
    falls: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        """Of its learned numbers."""
        return (f"{self.name}.size", f"{self.name}.reach") if self.falls else (f"{self.name}.size",)

    def logs(self, numbers: Sequence[Array], wave: Float[Array, " P"]) -> Float[Array, " P"]:
        """Log variances of its columns at the logarithms of its numbers."""
        if not self.falls:
            return 2 * numbers[0] + jnp.zeros(wave.shape)
        reach = jnp.exp(numbers[1])
        return 2 * numbers[0] + numbers[1] - 2 * jnp.log1p((2 * jnp.pi * wave * reach) ** 2 / 3)


@dataclass(frozen=True)
class Prior:
    """Independent processes, one for each latent field, seen with noise; static and hashable.

    Its H numbers are positive and have names: for every latent ``u.variance`` and the kernel's numbers along every
    coordinate such as ``u.length_x``, last ``noise.variance``. The dot keeps them apart from anything that a user can
    type. In a vector (H,) they live as logarithms.

    Attributes
    ----------
    latents
        (field, kernel) of each; one whose name ends with `FINE` is a second scale of the latent without that ending.
    coordinates
        Names of the D coordinates.
    potentials
        Names of latents whose waves are those of a gradient's size: the density of a potential times |ω|², with the
        same variance, as velocities without sources have that of a stream function.
    means
        Number of further constants that are no part of any latent.
    groups
        What columns beside the latents share a learned size: errors of sensors, coefficients of unknown functions.
    """

    latents: tuple[tuple[str, Kernel], ...]
    coordinates: tuple[str, ...]
    potentials: tuple[str, ...] = ()
    means: int = 0
    groups: tuple[Group, ...] = ()

    @cached_property
    def blocks(self) -> tuple[str, ...]:
        """Names of the latents, scales of one taken together, in order."""
        return tuple(name for name, _ in self.latents if not name.endswith(FINE))

    @cached_property
    def names(self) -> tuple[str, ...]:
        """All names in the order of the vector."""
        names: list[str] = []
        for latent, kernel in self.latents:
            names.append(variance_name(latent))
            names += [shape_name(latent, p, c) for c in self.coordinates for p in kernel.parameters]
        names += [name for group in self.groups for name in group.names]
        return (*names, NOISE)

    @cached_property
    def is_length(self) -> np.ndarray:
        """Which entries of the vector are lengths."""
        return np.array([".length_" in name for name in self.names])

    @cached_property
    def is_variance(self) -> np.ndarray:
        """Which entries of the vector are variances of latents."""
        return np.array([name.endswith(".variance") and name != NOISE for name in self.names])

    def lengths(self, theta: np.ndarray) -> np.ndarray:
        """Lengths (F, D) in a vector."""
        return np.exp(theta[self.is_length]).reshape(len(self.latents), -1)

    @cached_property
    def is_border(self) -> np.ndarray:
        """Which entries of the vector are sizes and reaches of groups."""
        own = {name for group in self.groups for name in group.names}
        return np.array([name in own for name in self.names])

    def with_groups(
        self, theta: np.ndarray, groups: Sequence[Group], numbers: Sequence[float]
    ) -> tuple[Prior, np.ndarray]:
        """Return the prior with further groups, and the vector with their numbers, natural ones, before the noise."""
        added = replace(self, groups=(*self.groups, *groups))
        return added, np.concatenate([theta[:-1], np.log(np.asarray(numbers, float)), theta[-1:]])

    def border_logs(
        self, theta: Float[Array, " H"], group: Int[Array, " P"], wave: Float[Array, " P"]
    ) -> Float[Array, " P"]:
        """Log prior variances of columns that belong to groups; 0 for those that belong to none (−1)."""
        values = dict(zip(self.names, theta, strict=True))
        logs = jnp.zeros(wave.shape)
        for number, one in enumerate(self.groups):
            logs = jnp.where(group == number, one.logs([values[name] for name in one.names], wave), logs)
        return logs

    def border_slopes(
        self, theta: Float[Array, " H"], group: Int[Array, " P"], wave: Float[Array, " P"]
    ) -> Float[Array, "P G"]:
        """Differentiate these logarithms in every number except the noise."""
        return jax.jacfwd(lambda t: self.border_logs(t, group, wave))(theta)[:, :-1]

    def processes(self, values: Mapping[str, Float[Array, ""]]) -> dict[str, Process]:
        """Return the process of every latent at the given values."""
        return {
            latent: Process(
                kernel,
                values[variance_name(latent)],
                tuple(
                    {p: values[shape_name(latent, p, c)] for p in kernel.parameters} for c in self.coordinates
                ),
            )
            for latent, kernel in self.latents
        }

    def bounds(
        self,
        variances: Mapping[str, float],
        shapes: Callable[[int, int], Limits],
        noise: tuple[float, float],
        groups: Limits | None = None,
    ) -> np.ndarray:
        """Return where the vector may go, (H, 2).

        Parameters
        ----------
        variances
            What is expected of every latent.
        shapes
            (number of the latent, number of the coordinate) -> (low, high) of each of the kernel's numbers there.
        noise
            Least and largest noise variance.
        groups
            (low, high) of the numbers of groups, by name.
        """
        limits: dict[str, tuple[float, float]] = {NOISE: noise} | dict(groups or {})
        for row, (latent, _) in enumerate(self.latents):
            limits[variance_name(latent)] = (variances[latent] / VARIANCES, variances[latent] * VARIANCES)
            for d, c in enumerate(self.coordinates):
                limits |= {shape_name(latent, p, c): ends for p, ends in shapes(row, d).items()}
        return np.log([limits[name] for name in self.names])

    # ---- the prior in waves --------------------

    def reach(self, nothing: float) -> float:
        """ωℓ beyond which no kernel's spectrum, relative to its largest value, is more than `nothing`."""
        return max(self.reach_of(name, nothing) for name, _ in self.latents)

    def reach_of(self, latent: str, nothing: float) -> float:
        """ωℓ beyond which one latent's spectrum is no more than that; a potential's, times ω²ℓ², reaches further."""
        kernel = dict(self.latents)[latent]
        reach = _reach(kernel, nothing)
        return _reach(kernel, nothing / (1 + reach**2 / 2)) if latent in self.potentials else reach

    @together
    @compiled(light=True, static_argnums=0)
    def spectrum(
        self,
        theta: Float[jax.Array, " H"],
        omega: Float[jax.Array, "K D"],
        measure: Float[jax.Array, " K"],
        level: Float[jax.Array, " C"],
    ) -> Float[jax.Array, " FK"]:
        """Prior variance of every feature of every block, then those of the further means.

        `level` (blocks + means,) is the variance of an unknown constant that each field has besides: a mean costs
        nothing.
        """
        values = dict(zip(self.names, jnp.exp(theta), strict=True))
        parts: dict[str, jax.Array] = {}
        for latent, process in self.processes(values).items():
            density = process.variance * measure
            for d, shape in enumerate(process.shapes):
                density = density * process.kernel.spectral_density(omega[:, d], shape)
            if latent in self.potentials:
                curvature = sum(1.0 / jnp.square(shape["length"]) for shape in process.shapes)
                density = density * jnp.sum(jnp.square(omega), axis=1) / curvature
            block = latent.removesuffix(FINE)
            parts[block] = density if block not in parts else parts[block] + density
        raised = [part.at[0].add(level[row]) for row, part in enumerate(parts.values())]
        return jnp.concatenate([*raised, level[len(raised) :]])

    @compiled(light=True, static_argnums=0)
    def slopes(
        self, theta: jax.Array, omega: jax.Array, measure: jax.Array, level: jax.Array
    ) -> Float[jax.Array, "FK H"]:
        """Differentiate the spectrum in every number except the noise."""
        return jax.jacfwd(lambda t: self.spectrum(t, omega, measure, level))(theta)[:, :-1]


@dataclass(frozen=True)
class Unknowns:
    """All unknowns of a fit: the equation's parameters under the user's names, then the prior's; static, hashable.

    In the vector (P + H,) parameters stay as they are, the prior's numbers are logarithms.
    """

    parameters: tuple[str, ...]
    prior: Prior

    @cached_property
    def names(self) -> tuple[str, ...]:
        """All names in the order of the vector."""
        return (*self.parameters, *self.prior.names)

    def vector(self, values: Mapping[str, float]) -> np.ndarray:
        """Return the unconstrained vector of named values in natural units."""
        natural = np.array([values[name] for name in self.names], float)
        split = len(self.parameters)
        return np.concatenate([natural[:split], np.log(natural[split:])])

    def values(self, vector: Float[Array, " P"]) -> dict[str, Float[Array, ""]]:
        """Return named values in natural units; traceable."""
        split = len(self.parameters)
        natural = jnp.concatenate([vector[:split], jnp.exp(vector[split:])])
        return dict(zip(self.names, natural, strict=True))

    def numbers(self, vector: np.ndarray) -> dict[str, float]:
        """Return named values in natural units as plain numbers, without JAX: also while something is compiled."""
        split = len(self.parameters)
        natural = np.concatenate([vector[:split], np.exp(vector[split:])])
        return dict(zip(self.names, natural.tolist(), strict=True))

    def slopes(self, values: Mapping[str, float]) -> np.ndarray:
        """Return d(natural)/d(unconstrained) for every name: 1 for parameters, the value for the prior's numbers."""
        return np.array([1.0 if name in self.parameters else values[name] for name in self.names])


@lru_cache(maxsize=1024)
def _reach(kernel: Kernel, nothing: float) -> float:
    """Smallest ωℓ on a fine ladder at which the spectrum has fallen so far."""
    scaled = np.linspace(0.0, LARGEST_REACH, 401)
    density = np.asarray(_density(kernel, scaled))
    small = scaled[density < nothing * density[0]]
    return float(small[0]) if small.size else LARGEST_REACH


@compiled(once=True, static_argnames="kernel")
def _density(kernel: Kernel, scaled: Float[jax.Array, " N"]) -> Float[jax.Array, " N"]:
    """S(ω) at ωℓ for a length of 1."""
    return kernel.spectral_density(scaled, {"length": 1.0})
