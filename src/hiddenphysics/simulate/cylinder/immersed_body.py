"""The immersed body: the cylinder's surface points, and the forces there that leave no slip."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float64
from scipy import linalg, sparse

from hiddenphysics.simulate.cylinder.differences import curl, curl_transpose
from hiddenphysics.simulate.cylinder.nesting import Elliptic, MultiDomain, UniformGrid
from hiddenphysics.simulate.cylinder.settings import RADIUS


def circle(spacing: float) -> Float64[np.ndarray, "B 2"]:
    """Points on the cylinder, spaced like the grid (157 for 0.02), symmetric about the x axis."""
    count = round(2 * np.pi * RADIUS / spacing)
    angle = 2 * np.pi * np.arange(count) / count
    return RADIUS * np.stack([np.cos(angle), np.sin(angle)], axis=1)


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
        grids: Sequence[UniformGrid],
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


def interpolation(grid: UniformGrid, points: Float64[np.ndarray, "B 2"]) -> sparse.csr_array:
    """E, sparse (2B, edges): velocity at the points from (u, v) raveled and joined, x components first.

    (E u)_b = Σ u φ((x − x_b)/d) φ((y − y_b)/d), nine edges a point. Eᵀ spreads forces to the edges.
    """
    m, n = grid.cells
    in_cells = (points - grid.corner) / grid.spacing
    to_u = _one_component(in_cells - [0.0, 0.5], (m + 1, n))
    to_v = _one_component(in_cells - [0.5, 0.0], (m, n + 1))
    return sparse.csr_array(sparse.block_diag([to_u, to_v]))


def _one_component(positions: Float64[np.ndarray, "B 2"], shape: tuple[int, int]) -> sparse.csr_array:
    """Weights (B, raveled `shape`) for points whose positions are counted in cells from edge (0, 0)."""
    near = np.rint(positions).astype(np.int64)[:, :, None] + np.array([-1, 0, 1])
    weights = roma_delta(positions[:, :, None] - near)
    rows = np.broadcast_to(np.arange(len(positions))[:, None, None], (len(positions), 3, 3))
    columns = near[:, 0, :, None] * shape[1] + near[:, 1, None, :]
    values = weights[:, 0, :, None] * weights[:, 1, None, :]
    entries = (values.ravel(), (rows.ravel(), columns.ravel()))
    return sparse.csr_array(entries, shape=(len(positions), shape[0] * shape[1]))


def roma_delta(r: Float64[np.ndarray, "*shape"]) -> Float64[np.ndarray, "*shape"]:
    """Three-point discrete delta function φ(r), r the distance in cells (Roma, Peskin & Berger 1999).

    φ(r) = (1 + √(1 − 3r²))/3 for |r| ≤ ½, (5 − 3|r| − √(1 − 3(1 − |r|)²))/6 for |r| ≤ 3/2, else 0.
    Its values on any unit-spaced points sum to 1 and have the right first moment.
    """
    r = np.abs(r)
    inner = (1 + np.sqrt(np.maximum(1 - 3 * r**2, 0))) / 3
    outer = (5 - 3 * r - np.sqrt(np.maximum(1 - 3 * (1 - r) ** 2, 0))) / 6
    return np.where(r <= 0.5, inner, np.where(r <= 1.5, outer, 0.0))
