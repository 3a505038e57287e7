"""Where a run begins: rest with a small asymmetric kick, or the end of another run on another grid."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float64
from scipy import ndimage

from hiddenphysics.simulate.cylinder.grid import Grid
from hiddenphysics.simulate.cylinder.multidomain import Fields

KICK_STRENGTH = 2.0
KICK_CENTRE = (1.0, 0.25)
KICK_WIDTH = 0.25


def kicked(grids: Sequence[Grid]) -> Fields:
    """Vorticity of one Gaussian eddy behind the cylinder and off its axis, in fluid otherwise at rest.

    ω = 2 exp(−|x − x₀|²/w²), x₀ = (1, 0.25), w = 0.25. It breaks the symmetry about the x axis, from
    which shedding would else grow out of rounding errors only, for some hundred time units.
    """
    return [
        KICK_STRENGTH
        * np.exp(
            -((grid.x[:, None] - KICK_CENTRE[0]) ** 2 + (grid.y[None, :] - KICK_CENTRE[1]) ** 2)
            / KICK_WIDTH**2
        )
        for grid in grids
    ]


def resampled(
    fields: Sequence[Float64[np.ndarray, "_ _"]], old: Sequence[Grid], new: Sequence[Grid]
) -> Fields:
    """Vorticity of a run on the grids `old`, level by level, at the nodes of the grids `new`.

    Bilinear, the nearest edge value beyond an edge: enough to start from, as the flow forgets within
    a few shedding periods how it was started. Both runs must have as many levels.
    """
    return [_at_nodes(field, a, b) for field, a, b in zip(fields, old, new, strict=True)]


def _at_nodes(field: Float64[np.ndarray, "_ _"], old: Grid, new: Grid) -> Float64[np.ndarray, "_ _"]:
    in_cells = np.meshgrid(
        (new.x - old.corner[0]) / old.spacing, (new.y - old.corner[1]) / old.spacing, indexing="ij"
    )
    return np.asarray(ndimage.map_coordinates(field, np.stack(in_cells), order=1, mode="nearest"))
