"""The prior of one latent process, at given numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from jax import Array
from jaxtyping import Float

from hiddenphysics.kernels import Kernel


@dataclass(frozen=True)
class Prior:
    """One latent process: γ² Π_d ρ(x_d − x'_d; θ_d).

    Parameters
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
