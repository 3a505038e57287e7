"""The vortex of Taylor and Green in two dimensions."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray


class Vortices(NamedTuple):
    """Velocities u, v and pressure p, of one shape."""

    u: NDArray[np.float64]
    v: NDArray[np.float64]
    p: NDArray[np.float64]


def taylor_green(t: float, x: ArrayLike, y: ArrayLike, viscosity: float, *, drift: float = 0.0) -> Vortices:
    """Return decaying vortices, which solve Navier and Stokes' equations exactly.

    u_t + uu_x + vu_y = −p_x + νΔu,   v_t + uv_x + vv_y = −p_y + νΔv,   u_x + v_y = 0, with ξ = x − Ut:
    u = U + cos ξ sin y e^{−2νt},   v = −sin ξ cos y e^{−2νt},   p = −¼ (cos 2ξ + cos 2y) e^{−4νt}.
    Taylor & Green (1937), Proc. R. Soc. A 158, 499. With U = 0 the advection is balanced by the pressure
    alone; U ≠ 0 makes the vortices travel.

    Parameters
    ----------
    t, x, y
        Time and points of one shape; the period is 2π.
    viscosity, drift
        ν and U.
    """
    place, height = np.asarray(x, float) - drift * t, np.asarray(y, float)
    decay = np.exp(-2 * viscosity * t)
    return Vortices(
        drift + np.cos(place) * np.sin(height) * decay,
        -np.sin(place) * np.cos(height) * decay,
        -(np.cos(2 * place) + np.cos(2 * height)) / 4 * decay**2,
    )
