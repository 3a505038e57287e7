"""Nested uniform grids, and elliptic equations solved on all of them together.

On one grid the sine transform makes the solve diagonal. Between grids, right-hand sides are coarsened outward and edge
values handed inward: the outermost grid has zero edge values, so the effect of a distant boundary falls with each
doubling; every other grid takes its edges from the next one out (Colonius & Taira 2008).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float64
from scipy import fft

from hiddenphysics.simulate.cylinder.settings import FlowSettings

Fields = list[Float64[np.ndarray, "_ _"]]
"""One array per grid, finest first."""


@dataclass(frozen=True)
class UniformGrid:
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

    def coarser(self) -> UniformGrid:
        """Give the next grid out: as many cells, twice the spacing, every second fine node a node of it."""
        d = 2 * self.spacing
        (x0, y0), (i, j) = self.corner, self.inset
        return UniformGrid(self.cells, d, (x0 - i * d, y0 - j * d))


def nested_grids(settings: FlowSettings) -> tuple[UniformGrid, ...]:
    """All grids, finest first."""
    grids = [UniformGrid(settings.cells, settings.spacing, settings.corner)]
    while len(grids) < settings.levels:
        grids.append(grids[-1].coarser())
    return tuple(grids)


class MultiDomain:
    """Solves (s − c L) w = r on all the nested grids; `c` is per unit length², the same on each."""

    def __init__(self, grids: Sequence[UniformGrid], shift: float, diffusion: float) -> None:
        self._grids = tuple(grids)
        self._solvers = [Elliptic(grid, shift, diffusion) for grid in grids]

    def solve(self, rhs: Sequence[Float64[np.ndarray, "_ _"]]) -> Fields:
        """Fields over all nodes for interior right-hand sides, both finest first."""
        right = coarsen_outward(self._grids, rhs)
        fields = [np.zeros(self._grids[-1].nodes)]
        self._solvers[-1].solve(right[-1], fields[0])
        for grid, solver, r in reversed(list(zip(self._grids, self._solvers, right, strict=True))[:-1]):
            field = edges_from_coarser(grid, fields[0])
            solver.solve(r, field)
            fields.insert(0, field)
        return fields


class Elliptic:
    """Solves (s − c L) w = r on one grid, with w given on the grid's edges.

    s = 0, c = 1 is the Poisson equation −Lψ = ω; s = 1, c = β/2Re is the implicit half of
    Crank–Nicolson, A ω = r. L is diagonal under the type-1 sine transform, so a solve is two
    transforms (Colonius & Taira 2008).
    """

    def __init__(self, grid: UniformGrid, shift: float, diffusion: float) -> None:
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


def laplacian_eigenvalues(grid: UniformGrid) -> Float64[np.ndarray, "X Y"]:
    """λ_ij = 2(cos(πi/m) + cos(πj/n) − 2)/d², the sine-space diagonal of the five-point Laplacian L."""
    m, n = grid.cells
    along_x = np.cos(np.pi * np.arange(1, m) / m)
    along_y = np.cos(np.pi * np.arange(1, n) / n)
    return np.asarray(2 * (along_x[:, None] + along_y[None, :] - 2) / grid.spacing**2)


def coarsen_outward(grids: Sequence[UniformGrid], fields: Sequence[Float64[np.ndarray, "_ _"]]) -> Fields:
    """Interior fields with every overlap replaced by the coarsened field of the finer grid inside it."""
    result = [fields[0]]
    for grid, coarse in zip(grids, fields[1:], strict=False):
        replaced = coarse.copy()
        replaced[overlap(grid)] = coarsen(result[-1])
        result.append(replaced)
    return result


def coarsen(field: Float64[np.ndarray, "I J"]) -> Float64[np.ndarray, "K L"]:
    """Interior node values onto every second node, weights 1/4 (itself), 1/8 (sides), 1/16 (corners).

    The weights make the circulation of a coarse cell that of the fine cells it covers.
    """
    in_x = (field[:-2:2] + field[2::2]) / 4 + field[1:-1:2] / 2
    return np.asarray((in_x[:, :-2:2] + in_x[:, 2::2]) / 4 + in_x[:, 1:-1:2] / 2)


def overlap(grid: UniformGrid) -> tuple[slice, slice]:
    """Where the coarsened interior of `grid` lies among the interior nodes of the next coarser grid."""
    (m, n), (i, j) = grid.cells, grid.inset
    return slice(i, i + m // 2 - 1), slice(j, j + n // 2 - 1)


def edges_from_coarser(grid: UniformGrid, coarse: Float64[np.ndarray, "X Y"]) -> Float64[np.ndarray, "X Y"]:
    """Make a field on `grid`, zero inside, its edge values read off the next coarser grid's field."""
    (m, n), (i, j) = grid.cells, grid.inset
    along_x, along_y = slice(i - 1, i + m // 2 + 2), slice(j - 1, j + n // 2 + 2)
    field = np.zeros(grid.nodes)
    field[:, 0], field[:, -1] = halve(coarse[along_x, j]), halve(coarse[along_x, j + n // 2])
    field[0], field[-1] = halve(coarse[i, along_y]), halve(coarse[i + m // 2, along_y])
    return field


def halve(line: Float64[np.ndarray, " C"]) -> Float64[np.ndarray, " F"]:
    """Values at half the spacing from values at C nodes: every node but the outer two, and the midpoints.

    Midpoints by the cubic through four neighbours, (−1, 9, 9, −1)/16, which leaves no zigzag
    in the velocity along the edge as straight lines between nodes would.
    """
    fine = np.empty(2 * len(line) - 5)
    fine[::2] = line[1:-1]
    fine[1::2] = (9 * (line[1:-2] + line[2:-1]) - line[:-3] - line[3:]) / 16
    return fine
