"""What a kernel must offer: the derivatives of a one-dimensional correlation function; kernels by name."""

from __future__ import annotations

import dataclasses
import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar

from jax import Array
from jax.typing import ArrayLike
from jaxtyping import Float

from hiddenphysics.errors import ModelError
from hiddenphysics.registry import Registry


class Kernel(ABC):
    """A stationary prior k(x, x') = γ² Π_d ρ(x_d − x'_d; θ_d) with ρ(0) = 1.

    A kernel is a small frozen dataclass that holds choices (ν, a period), never learned numbers: those reach
    `derivatives` from outside, so that one compiled likelihood serves all of their values. Every operator
    covariance follows from ρ's derivatives: ∂_x^m ∂_x'^n ρ(x − x') = (−1)^n ρ^{(m+n)}(x − x').
    """

    parameters: ClassVar[tuple[str, ...]] = ("length",)
    """Names of the positive numbers learned for every dimension."""

    @property
    def smoothness(self) -> float:
        """How many mean-square derivatives a sample has along each coordinate; as many as asked for by default."""
        return math.inf

    @abstractmethod
    def derivatives(
        self, r: Float[Array, "*shape"], order: int, parameters: Mapping[str, ArrayLike]
    ) -> list[Float[Array, "*shape"]]:
        """Return [ρ(r), ρ'(r), …, ρ^{(order)}(r)] for signed distances r and this dimension's parameters."""

    def spectral_density(
        self, omega: Float[Array, "*shape"], parameters: Mapping[str, ArrayLike]
    ) -> Float[Array, "*shape"]:
        """Return S(ω) = ∫ ρ(r) e^{−iωr} dr, so that ρ(r) = ∫ S(ω) e^{iωr} dω/2π."""
        raise ModelError(
            f"The kernel {self} has no spectral density in closed form, which the flow model needs. Use "
            "SquaredExponential() or Matern(4.5), or another model."
        )

    def fractional(
        self, r: Float[Array, "*shape"], power: ArrayLike, parameters: Mapping[str, ArrayLike]
    ) -> tuple[Float[Array, "*shape"], Float[Array, "*shape"]]:
        """Return ∫ |ω|^p cos(ωr) S(ω) dω and ∫ |ω|^p sign(ω) sin(ωr) S(ω) dω, S the spectral density of ρ.

        With phase q, ∫ |ω|^p cos(ωr + (qπ/2) sign ω) S dω = cos(qπ/2) · first − sin(qπ/2) · second; for p = q = n it is
        ρ^{(n)}(r). The power p ≥ 0 may be traced.
        """
        raise NotImplementedError(self._without_fractional("a fractional derivative"))

    def heated(
        self, time: ArrayLike, parameters: Mapping[str, ArrayLike]
    ) -> tuple[Float[Array, ""], dict[str, Array]]:
        """Return amplitude a and parameters θ' with e^{−tω²} S(ω; θ) = a S(ω; θ'): ρ after a time of the heat equation.

        Mixtures of these make up |ω|^α in several dimensions.
        """
        raise NotImplementedError(self._without_fractional("a fractional Laplacian"))

    def check_fractional(self, what: str) -> None:
        """Refuse a prior without fractional derivatives; `what` is the latent that the equation takes them of."""
        if type(self).fractional is Kernel.fractional:
            raise ModelError(self._without_fractional(f"a fractional derivative of {what}"))

    def _without_fractional(self, what: str) -> str:
        return (
            f"The kernel {self} was given, but the equation takes {what}, whose covariance is known for the squared "
            "exponential alone. Type kernel=SquaredExponential()."
        )

    def limits(self, spacing: float, extent: float) -> dict[str, tuple[float, float]]:
        """Return where each number may lie along a coordinate with points `spacing` apart over `extent`.

        Lengths below a fifth of the spacing cannot be told from noise; above fifty extents every field is a
        straight line.
        """
        return {"length": (0.2 * spacing, 50.0 * extent)}

    def start(self, length: float) -> dict[str, float]:
        """Return where learning starts, given a typical distance over which the field changes."""
        return {"length": length}

    def check_smooth_enough(self, order: int, what: str) -> None:
        """Refuse a prior whose samples cannot be differentiated as often as the equation does."""
        if order > self.smoothness:
            raise ModelError(
                f"The kernel {self} has samples with {self.smoothness:g} derivatives, but the equation takes "
                f"{order} of {what} along one coordinate; the covariance of such an observation does not exist. "
                f"Use a smoother kernel: SquaredExponential() or Matern({order}.5)."
            )


KERNELS: Registry[type[Kernel]] = Registry("kernel", ModelError)
"""Kernels by the name that a command line and a saved file know them by; each file of this room adds its own."""


DEFAULT = "squared_exponential"


def kernel_to_dict(kernel: Kernel) -> dict[str, Any]:
    """Return a kernel as JSON-ready data, such as ``{"kind": "matern", "nu": 4.5}``."""
    return {"kind": KERNELS.name_of(type(kernel))} | {n: getattr(kernel, n) for n in _choices(type(kernel))}


def kernel_from_dict(data: dict[str, Any]) -> Kernel:
    """Return the kernel that `kernel_to_dict` described."""
    return KERNELS[data["kind"]](**{k: v for k, v in data.items() if k != "kind"})


def kernel_from_text(text: str) -> Kernel:
    """Read a kernel as typed on a command line: ``squared_exponential``, ``matern:4.5``, ``periodic:20``."""
    kind, *numbers = text.split(":")
    name = kind.strip().lower().replace("-", "_")
    try:
        if name in KERNELS:
            return KERNELS[name](*(float(number) for number in numbers if number))
    except (TypeError, ValueError):
        pass
    first = sorted(KERNELS, key=lambda name: name != DEFAULT)
    known = (":".join([name, *map(str.upper, _choices(KERNELS[name]))]) for name in first)
    raise ModelError(
        f"The kernel {text!r} was given; needed is one of {', '.join(known)}. Type, for instance, "
        "--kernel matern:4.5."
    )


def _choices(kind: type[Kernel]) -> list[str]:
    """Return the names of what a kernel is made with, such as ``nu``."""
    return [f.name for f in dataclasses.fields(kind)] if dataclasses.is_dataclass(kind) else []
