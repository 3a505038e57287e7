"""The forces on the cylinder that leave no slip at its surface."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float64
from scipy import linalg, sparse

from hiddenphysics.simulate.cylinder.body import interpolation
from hiddenphysics.simulate.cylinder.grid import Elliptic, Grid
from hiddenphysics.simulate.cylinder.multidomain import MultiDomain
from hiddenphysics.simulate.cylinder.operators import curl, curl_transpose


class Projection:
    """Finds forces f at the B body points that make the velocity there vanish after a sub-step.

    M f = E q*, with M = E C (−L)⁻¹ A⁻¹ β CᵀEᵀ, then ω = ω* − A⁻¹ β CᵀEᵀ f, A = 1 − (β/2Re) L
    (Colonius & Taira 2008). M is constant, (2B, 2B): factored once. On one grid it is
    symmetric positive definite; nested grids disturb the symmetry slightly, because edge values are
    interpolated inward but right-hand sides averaged outward. So the factors are LU, of the M that
    belongs to the nested solve, and the slip vanishes to rounding.

    Parameters
    ----------
    grids
        All grids, finest first; the body lies in the first.
    points
        Body points, (B, 2).
    poisson
        The nested solve of −Lψ = ω.
    beta
        Length β of the sub-step in time.
    reynolds
        Re, for A.
    """

    def __init__(
        self,
        grids: Sequence[Grid],
        points: Float64[np.ndarray, "B 2"],
        poisson: MultiDomain,
        beta: float,
        reynolds: float,
    ) -> None:
        self._grids, self._poisson, self._beta = tuple(grids), poisson, beta
        self._helmholtz = Elliptic(grids[0], shift=1.0, diffusion=beta / (2 * reynolds))
        self._interpolate = interpolation(grids[0], points)
        self._spread = sparse.csr_array(self._interpolate.T)
        self._factors = linalg.lu_factor(self.matrix())

    def matrix(self) -> Float64[np.ndarray, "F F"]:
        """M, column by column: the slip that the vorticity of each unit force takes away."""
        size = self._interpolate.shape[0]
        return np.stack([self._removed_slip(unit) for unit in np.eye(size)], axis=1)

    def slip(self, psi: Float64[np.ndarray, "X Y"], stream: float) -> Float64[np.ndarray, " F"]:
        """E q: velocity at the body points, x components first, F = 2B numbers."""
        u, v = curl(psi, self._grids[0].spacing)
        return np.asarray(self._interpolate @ np.concatenate([(u + stream).ravel(), v.ravel()]))

    def forces(self, slip: Float64[np.ndarray, " F"]) -> Float64[np.ndarray, " F"]:
        """Solve M f = slip; f d² is the force of the fluid on the body at each point, x components first."""
        return np.asarray(linalg.lu_solve(self._factors, slip, check_finite=False))

    def vorticity(self, forces: Float64[np.ndarray, " F"]) -> Float64[np.ndarray, "I J"]:
        """A⁻¹ β CᵀEᵀ f at the finest grid's interior nodes; the body is far enough inside for zero edges."""
        (m, n), (nodes_x, nodes_y) = self._grids[0].cells, self._grids[0].nodes
        u, v = np.split(self._spread @ forces, [nodes_x * n])
        turning = curl_transpose(u.reshape(nodes_x, n), v.reshape(m, nodes_y), self._grids[0].spacing)
        return self._helmholtz.solve_zero_edges(self._beta * turning)

    def _removed_slip(self, forces: Float64[np.ndarray, " F"]) -> Float64[np.ndarray, " F"]:
        omega = self.vorticity(forces)
        outer = [np.zeros_like(omega) for _ in self._grids[1:]]
        return self.slip(self._poisson.solve([omega, *outer])[0], stream=0.0)
