"""What an engine looks at: an operator with numbers for coefficients, and the points where it was observed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import jax.numpy as jnp
from jax import Array
from jaxtyping import Float

from hiddenphysics.operators import Operator


@dataclass(frozen=True)
class Observed:
    """A quantity o = Σ c_j T_j z_f at N points: its operator, coefficients already numbers or (N,) arrays."""

    operator: Operator[Any]
    points: Float[Array, "N D"]

    def rows(self) -> tuple[Float[Array, "N D"], list[Float[Array, " N"]]]:
        """Points and coefficients as arrays whose first axis is the point, so that both can be cut into strips."""
        n = self.points.shape[0]
        return self.points, [jnp.broadcast_to(jnp.asarray(c, float), (n,)) for _, _, c in self.operator]
