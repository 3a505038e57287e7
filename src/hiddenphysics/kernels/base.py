"""What a prior must offer: the derivatives of a one-dimensional correlation function."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import ClassVar

from jax import Array
from jax.typing import ArrayLike
from jaxtyping import Float

from hiddenphysics.errors import ModelError


class Kernel(ABC):
    """A stationary prior k(x, x') = γ² Π_d ρ(x_d − x'_d; θ_d) with ρ(0) = 1.

    A kernel is a small frozen dataclass that holds choices (ν, a period), never learned numbers: those reach
    `derivatives` from outside, so that one compiled likelihood serves all of their values. Every operator
    covariance follows from ρ's derivatives: ∂_x^m ∂_x'^n ρ(x − x') = (−1)^n ρ^{(m+n)}(x − x').
    """

    parameters: ClassVar[tuple[str, ...]] = ("length",)
    """Names of the positive numbers learned for every dimension."""

    @property
    @abstractmethod
    def smoothness(self) -> float:
        """How many mean-square derivatives a sample has along each coordinate."""

    @abstractmethod
    def derivatives(
        self, r: Float[Array, "*shape"], order: int, parameters: Mapping[str, ArrayLike]
    ) -> list[Float[Array, "*shape"]]:
        """Return [ρ(r), ρ'(r), …, ρ^{(order)}(r)] for signed distances r and this dimension's parameters."""

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
