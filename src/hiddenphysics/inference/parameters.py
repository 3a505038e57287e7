"""Every unknown number by name: natural units for people, unconstrained numbers for optimisers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import jax.numpy as jnp
import numpy as np
from jax import Array
from jaxtyping import Float

from hiddenphysics.engines import Prior
from hiddenphysics.forward import LinearModel
from hiddenphysics.kernels import Kernel

NOISE = "noise.variance"


@dataclass(frozen=True)
class Layout:
    """The order and names of all unknowns of a model with its kernels; static and hashable.

    Equation parameters come first under the user's names and stay as they are; then, for every latent,
    ``u.variance`` and the kernel's numbers per coordinate such as ``u.length_x``; last ``noise.variance``.
    Those are positive and live as logarithms in the vector. The dot keeps them apart from anything that a
    user can type.
    """

    model: LinearModel
    kernels: tuple[tuple[str, Kernel], ...]

    @cached_property
    def names(self) -> tuple[str, ...]:
        """All names in the order of the vector."""
        return (*self.model.parameters, *self.positive)

    @cached_property
    def positive(self) -> tuple[str, ...]:
        """The names that stand for positive numbers: hyper-parameters and noise."""
        names: list[str] = []
        for latent, kernel in self.kernels:
            names.append(variance_name(latent))
            names += [shape_name(latent, p, c) for c in self.model.coordinates for p in kernel.parameters]
        return (*names, NOISE)

    def vector(self, values: Mapping[str, float]) -> np.ndarray:
        """Return the unconstrained vector of named values in natural units."""
        natural = np.array([values[name] for name in self.names], float)
        split = len(self.model.parameters)
        return np.concatenate([natural[:split], np.log(natural[split:])])

    def values(self, vector: Float[Array, " P"]) -> dict[str, Float[Array, ""]]:
        """Return named values in natural units; traceable."""
        split = len(self.model.parameters)
        natural = jnp.concatenate([vector[:split], jnp.exp(vector[split:])])
        return dict(zip(self.names, natural, strict=True))

    def slopes(self, values: Mapping[str, float]) -> np.ndarray:
        """Return d(natural)/d(unconstrained) for every name: 1 for equation parameters, the value for positive ones."""
        return np.array([values[name] if name in self.positive else 1.0 for name in self.names])

    def priors(self, values: Mapping[str, Float[Array, ""]]) -> dict[str, Prior]:
        """Return the prior of every latent at the given values."""
        return {
            latent: Prior(
                kernel,
                values[variance_name(latent)],
                tuple(
                    {p: values[shape_name(latent, p, c)] for p in kernel.parameters}
                    for c in self.model.coordinates
                ),
            )
            for latent, kernel in self.kernels
        }


def variance_name(latent: str) -> str:
    """Return the name of a latent's variance γ²."""
    return f"{latent}.variance"


def shape_name(latent: str, parameter: str, coordinate: str) -> str:
    """Return the name of one of a kernel's numbers along one coordinate, such as ``u.length_x``."""
    return f"{latent}.{parameter}_{coordinate}"
