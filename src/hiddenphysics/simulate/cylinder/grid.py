"""Nested uniform grids, and the elliptic solve that the sine transform makes diagonal on each."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float64
from scipy import fft

from hiddenphysics.simulate.cylinder.settings import FlowSettings


@dataclass(frozen=True)
class Grid:
    """m × n square cells of side d; ω and ψ live at the (m + 1) × (n + 1) nodes, u and v on the edges."""

    cells: tuple[int, int]
    spacing: float
    corner: tuple[float, float]

    @property
    def x(self) -> Float64[np.ndarray, " X"]:
        """Node positions in x, m + 1 of them."""
        return self.corner[0] + self.spacing * np.arange(self.cells[0] + 1)

    @property
    def y(self) -> Float64[np.ndarray, " Y"]:
        """Node positions in y, n + 1 of them."""
        return self.corner[1] + self.spacing * np.arange(self.cells[1] + 1)

    @property
    def nodes(self) -> tuple[int, int]:
        """Shape of an array over all nodes, edges of the grid included."""
        return self.cells[0] + 1, self.cells[1] + 1

    @property
    def inset(self) -> tuple[int, int]:
        """Node of the next coarser grid on which this grid's lower left corner falls.

        A quarter of the cells centres the grid; where that is no whole number (450 / 4) the
        coarser grid sits half a coarse cell to the right, because nodes must coincide.
        """
        return self.cells[0] // 4, self.cells[1] // 4

    def coarser(self) -> Grid:
        """Give the next grid out: as many cells, twice the spacing, every second fine node a node of it."""
        d = 2 * self.spacing
        (x0, y0), (i, j) = self.corner, self.inset
        return Grid(self.cells, d, (x0 - i * d, y0 - j * d))


def nested_grids(settings: FlowSettings) -> tuple[Grid, ...]:
    """All grids, finest first."""
    grids = [Grid(settings.cells, settings.spacing, settings.corner)]
    while len(grids) < settings.levels:
        grids.append(grids[-1].coarser())
    return tuple(grids)


def laplacian_eigenvalues(grid: Grid) -> Float64[np.ndarray, "X Y"]:
    """λ_ij = 2(cos(πi/m) + cos(πj/n) − 2)/d², the sine-space diagonal of the five-point Laplacian L."""
    m, n = grid.cells
    along_x = np.cos(np.pi * np.arange(1, m) / m)
    along_y = np.cos(np.pi * np.arange(1, n) / n)
    return np.asarray(2 * (along_x[:, None] + along_y[None, :] - 2) / grid.spacing**2)


class Elliptic:
    """Solves (s − c L) w = r on one grid, with w given on the grid's edges.

    s = 0, c = 1 is the Poisson equation −Lψ = ω; s = 1, c = β/2Re is the implicit half of
    Crank–Nicolson, A ω = r. L is diagonal under the type-1 sine transform, so a solve is two
    transforms (Colonius & Taira 2008).
    """

    def __init__(self, grid: Grid, shift: float, diffusion: float) -> None:
        m, n = grid.cells
        # Two unnormalised type-1 transforms multiply by 4mn; folded in here, it costs nothing.
        self._symbol = 1 / ((shift - diffusion * laplacian_eigenvalues(grid)) * (4 * m * n))
        self._edge_weight = diffusion / grid.spacing**2

    def solve(self, rhs: Float64[np.ndarray, "I J"], edges: Float64[np.ndarray, "I+2 J+2"]) -> None:
        """Fill the interior of `edges` with the solution for the interior right-hand side `rhs`."""
        right = rhs.copy()
        right[0] += self._edge_weight * edges[0, 1:-1]
        right[-1] += self._edge_weight * edges[-1, 1:-1]
        right[:, 0] += self._edge_weight * edges[1:-1, 0]
        right[:, -1] += self._edge_weight * edges[1:-1, -1]
        edges[1:-1, 1:-1] = self.solve_zero_edges(right)

    def solve_zero_edges(self, rhs: Float64[np.ndarray, "I J"]) -> Float64[np.ndarray, "I J"]:
        """Interior solution for zero edge values."""
        spectrum = fft.dstn(rhs, type=1, workers=1)
        spectrum *= self._symbol
        return np.asarray(fft.dstn(spectrum, type=1, workers=1, overwrite_x=True))
