"""`Driving`: known inputs of a motion, cubic in time between knots, as modes in space."""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np


class Driving(NamedTuple):
    """I known fields at any time: Σ c_j (t − t_k)^j between two knots; a pytree, so that other values compile nothing.

    Attributes
    ----------
    knots
        (J,) times at which the intervals begin; ∞ for padding.
    coefficients
        (J, 4, I, *modes, 2) of the cube, the square, the slope and the value, real and imaginary parts.
    """

    knots: Any
    coefficients: Any

    @classmethod
    def through(cls, times: np.ndarray, modes: np.ndarray, count: int) -> Driving:
        """Return the spline through modes (T, I, *modes) at times (T,), padded to so many intervals.

        With two times it is a line, with three a parabola; the third derivative is continuous beside the ends.
        """
        from scipy.interpolate import CubicSpline  # a third of a second to import, for known inputs alone

        spline = CubicSpline(times, np.stack([modes.real, modes.imag], axis=-1))
        more = count - len(times) + 1
        coefficients = np.moveaxis(spline.c, 1, 0)
        padding = [(0, more)] + [(0, 0)] * (coefficients.ndim - 1)
        return cls(
            np.concatenate([times[:-1], np.full(more, np.inf)]), np.pad(coefficients, padding, mode="edge")
        )

    def at(self, t: Any) -> jax.Array:
        """Modes (I, *modes) at a time."""
        place = jnp.clip(jnp.searchsorted(self.knots, t, side="right") - 1, 0, self.knots.size - 1)
        cube, square, slope, value = jnp.asarray(self.coefficients)[place]
        after = t - jnp.asarray(self.knots)[place]
        parts = ((cube * after + square) * after + slope) * after + value
        return parts[..., 0] + 1j * parts[..., 1]
