"""How large a box, and how many waves: chosen from the data and the lengths that the prior has reached."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.fft import next_fast_len

from hiddenphysics.errors import ModelError
from hiddenphysics.flow.features import Features
from hiddenphysics.simulate.spectral.grid import Grid

ROOM = {1: 1.5, 2: 1.25}
"""Lengths may move by this factor up and down before the box is chosen anew, on a line and in a plane."""

PADDING = {1: 6.5, 2: 5.0}
"""Padding in lengths, all in all: e^{−6.5²/2} ≈ 1e-9 is left of the correlation around the box's back, e^{−5²/2} ≈ 4e-6
in a plane, where every length of padding costs a row of waves."""

LEAST_NOISE = {1: 1e-12, 2: 1e-8}
"""Smallest noise variance in units of the field's: below it a factorisation has no digits, a plane too many waves."""

FINER = 1.1
"""How many more waves the motion has than the latent: steepening makes shorter ones."""

RUNGS = 3
"""Numbers of waves per octave that are used at all."""

MOST_FEATURES = 6000
"""Features of one field beyond which the linearised motion no longer fits into memory and patience."""


@dataclass(frozen=True)
class Region:
    """Where the data are: (D,) low and high ends."""

    low: np.ndarray
    high: np.ndarray

    @classmethod
    def of(cls, points: np.ndarray) -> Region:
        """Return the smallest region that holds all points (N, D)."""
        return cls(points.min(axis=0), points.max(axis=0))

    @property
    def extent(self) -> np.ndarray:
        """(D,) lengths of the sides."""
        return self.high - self.low


def choose(
    region: Region,
    shortest: np.ndarray,
    longest: np.ndarray,
    reach: float,
    beyond: float = 0.0,
    room: float = 1.0,
) -> Features:
    """Return features that carry a prior with lengths between `shortest` and `longest` along each side.

    Numbers of waves are taken from a coarse ladder, so that fits of similar data share their compiled code.

    Parameters
    ----------
    region
        Where the data are.
    shortest, longest
        (D,) bounds of the lengths.
    reach
        ωℓ beyond which the prior's spectrum is nothing.
    beyond
        Further padding in extents of the region, for motions that feel what is far away.
    room
        Factor on the usual padding.
    """
    box, waves, shape = [], [], []
    for low, high, short, long in zip(region.low, region.high, shortest, longest, strict=True):
        side = (1 + beyond) * (high - low) + room * PADDING[len(shortest)] * long
        middle = 0.5 * (low + high)
        box.append((float(middle - side / 2), float(middle + side / 2)))
        count = math.ceil(_up(reach / short * side / (2 * np.pi), RUNGS))
        waves.append(count)
        shape.append(2 * int(next_fast_len(math.ceil(FINER * count) + 1)))
    # Counted, not listed: a list of ten thousand by ten thousand waves would be the end of the memory.
    total = float(np.prod([2.0 * w + 1 for w in waves])) * (math.pi / 4 if len(waves) > 1 else 1.0)
    if total > MOST_FEATURES:
        raise ModelError(
            f"Lengths of {', '.join(f'{s:.3g}' for s in shortest)} over a box of "
            f"{' x '.join(f'{b - a:.3g}' for a, b in box)} would need {total:.3g} waves; the flow model stops at "
            f"{MOST_FEATURES}. Choose a smaller region of the data, or model='midpoint'."
        )
    return Features(Grid(tuple(box), tuple(shape)), tuple(waves))


def finer(features: Features, steepest: float) -> Features:
    """Return features with a motion on a finer grid: so many times where a warped coordinate makes waves shorter."""
    factor = _up(steepest, RUNGS)
    shape = tuple(2 * int(next_fast_len(math.ceil(factor * n / 2))) for n in features.grid.shape)
    return Features(Grid(features.grid.box, shape), features.waves) if factor > 1 else features


def _up(value: float, rungs: int) -> float:
    """Round up to a ladder with so many rungs per octave."""
    return float(2 ** (math.ceil(rungs * math.log2(value) - 1e-9) / rungs))
