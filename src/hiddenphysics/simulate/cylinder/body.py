"""The cylinder's surface points and the matrix E that interpolates edge velocities to them."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float64
from scipy import sparse

from hiddenphysics.simulate.cylinder.grid import Grid
from hiddenphysics.simulate.cylinder.settings import RADIUS


def circle(spacing: float) -> Float64[np.ndarray, "B 2"]:
    """Points on the cylinder, spaced like the grid (157 for 0.02), symmetric about the x axis."""
    count = round(2 * np.pi * RADIUS / spacing)
    angle = 2 * np.pi * np.arange(count) / count
    return RADIUS * np.stack([np.cos(angle), np.sin(angle)], axis=1)


def roma_delta(r: Float64[np.ndarray, "*shape"]) -> Float64[np.ndarray, "*shape"]:
    """Three-point discrete delta function φ(r), r the distance in cells (Roma, Peskin & Berger 1999).

    φ(r) = (1 + √(1 − 3r²))/3 for |r| ≤ ½, (5 − 3|r| − √(1 − 3(1 − |r|)²))/6 for |r| ≤ 3/2, else 0.
    Its values on any unit-spaced points sum to 1 and have the right first moment.
    """
    r = np.abs(r)
    inner = (1 + np.sqrt(np.maximum(1 - 3 * r**2, 0))) / 3
    outer = (5 - 3 * r - np.sqrt(np.maximum(1 - 3 * (1 - r) ** 2, 0))) / 6
    return np.where(r <= 0.5, inner, np.where(r <= 1.5, outer, 0.0))


def interpolation(grid: Grid, points: Float64[np.ndarray, "B 2"]) -> sparse.csr_array:
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
