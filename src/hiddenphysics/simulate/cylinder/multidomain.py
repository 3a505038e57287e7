"""Nested grids solved together: right-hand sides coarsened outward, edge values handed inward.

Colonius & Taira 2008: the outermost grid has zero edge values, so the effect of a
distant boundary falls with each doubling; every other grid takes its edges from the next one out.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float64

from hiddenphysics.simulate.cylinder.grid import Elliptic, Grid

Fields = list[Float64[np.ndarray, "_ _"]]
"""One array per grid, finest first."""


def coarsen(field: Float64[np.ndarray, "I J"]) -> Float64[np.ndarray, "K L"]:
    """Interior node values onto every second node, weights 1/4 (itself), 1/8 (sides), 1/16 (corners).

    The weights make the circulation of a coarse cell that of the fine cells it covers.
    """
    in_x = (field[:-2:2] + field[2::2]) / 4 + field[1:-1:2] / 2
    return np.asarray((in_x[:, :-2:2] + in_x[:, 2::2]) / 4 + in_x[:, 1:-1:2] / 2)


def overlap(grid: Grid) -> tuple[slice, slice]:
    """Where the coarsened interior of `grid` lies among the interior nodes of the next coarser grid."""
    (m, n), (i, j) = grid.cells, grid.inset
    return slice(i, i + m // 2 - 1), slice(j, j + n // 2 - 1)


def coarsen_outward(grids: Sequence[Grid], fields: Sequence[Float64[np.ndarray, "_ _"]]) -> Fields:
    """Interior fields with every overlap replaced by the coarsened field of the finer grid inside it."""
    result = [fields[0]]
    for grid, coarse in zip(grids, fields[1:], strict=False):
        replaced = coarse.copy()
        replaced[overlap(grid)] = coarsen(result[-1])
        result.append(replaced)
    return result


def halve(line: Float64[np.ndarray, " C"]) -> Float64[np.ndarray, " F"]:
    """Values at half the spacing from values at C nodes: every node but the outer two, and the midpoints.

    Midpoints by the cubic through four neighbours, (−1, 9, 9, −1)/16, which leaves no zigzag
    in the velocity along the edge as straight lines between nodes would.
    """
    fine = np.empty(2 * len(line) - 5)
    fine[::2] = line[1:-1]
    fine[1::2] = (9 * (line[1:-2] + line[2:-1]) - line[:-3] - line[3:]) / 16
    return fine


def edges_from_coarser(grid: Grid, coarse: Float64[np.ndarray, "X Y"]) -> Float64[np.ndarray, "X Y"]:
    """Make a field on `grid`, zero inside, its edge values read off the next coarser grid's field."""
    (m, n), (i, j) = grid.cells, grid.inset
    along_x, along_y = slice(i - 1, i + m // 2 + 2), slice(j - 1, j + n // 2 + 2)
    field = np.zeros(grid.nodes)
    field[:, 0], field[:, -1] = halve(coarse[along_x, j]), halve(coarse[along_x, j + n // 2])
    field[0], field[-1] = halve(coarse[i, along_y]), halve(coarse[i + m // 2, along_y])
    return field


class MultiDomain:
    """Solves (s − c L) w = r on all the nested grids; `c` is per unit length², the same on each."""

    def __init__(self, grids: Sequence[Grid], shift: float, diffusion: float) -> None:
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
