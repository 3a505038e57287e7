"""A box around the data, and as many waves on it as lengths and noise ask for.

Halved or doubled, its constants move no answer by a hundredth of its deviation (`benchmarks.constants`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from hiddenphysics.errors import ModelError
from hiddenphysics.models.flow.processes import OUTSIDE
from hiddenphysics.models.flow.rungs import WAVES_PER_OCTAVE, rising, rung
from hiddenphysics.models.flow.windows import Region, Windows
from hiddenphysics.priors import Prior
from hiddenphysics.spectral import Features, Grid, fast_length

PADDING = {1: 6.5, 2: 5.0, 3: 4.0}
"""Padding in lengths, all in all: e^{−6.5²/2} ≈ 1e-9 is left of the correlation around the box's back, e^{−5²/2} ≈ 4e-6
in a plane, where every length of padding costs a row of waves."""

QUIETEST = {1: 1e-12, 2: 1e-8, 3: 1e-6}
"""Smallest noise variance in units of the field's: below it a factorisation has no digits, a plane too many waves."""

FINER = {1: 1.1, 2: 1.25, 3: 1.25}
"""How many more waves the motion has than the latent: steepening makes shorter ones. In a plane, where the latent has
no more waves than the noise lets be seen, the grid's shortest ones are the motion's alone, and tell whether it is fine
enough."""

MOST_FEATURES = 6000
"""Features of one field beyond which the linearised motion no longer fits into memory and patience."""

SHARE = 1e-4
"""Features on a line are left out when their prior variance is below this part of the noise's."""

OMITTED, UNSEEN = 1e-3, 0.1
"""What all features that are left out in a plane have together, in parts of the noise's variance: no more than this,
nor than this part of what the values can tell of that variance. The density of a squared exponential at |ωℓ| = r,
relative to its largest, is what it holds beyond r."""

ALONE = 100
"""Values of a snapshot from which on they tell more of a wave than one value would: the noise counts that much less."""

QUIETER = {1: 30.0, 2: 4.0, 3: 4.0}
"""The noise variance may fall by this factor before more features are needed."""

STEP = 3.0
"""That end of a box's range, in a plane, is a power of this: a noise that moves a little asks for no other box."""


def highest_waves(prior: Prior, lengths: np.ndarray, relative: np.ndarray, nothing: float) -> np.ndarray:
    """(D,) wavenumbers beyond which no process of the state has more than `nothing` of its variance left.

    Of lengths (L, D) and variances (L,), in units of what the latents are processes of. What comes from outside has its
    own few waves.
    """
    reaches = [
        0.0 if name.endswith(OUTSIDE) else prior.reach_of(name, nothing / max(size, nothing))
        for (name, _), size in zip(prior.latents, relative, strict=True)
    ]
    return np.max(np.array(reaches)[:, None] / lengths, axis=0)


def faintest(noise: float, windows: Windows, dimensions: int) -> tuple[float, float]:
    """Return down to which noise features suffice, and the density, relative to the largest, that is left out."""
    if dimensions == 1:
        noise = noise / max(1.0, float(windows.counts.max()) / ALONE)
        decade = 100.0 ** np.floor(np.log(noise / QUIETER[1]) / np.log(100.0))
        quietest = max(decade, QUIETEST[1])
        return quietest, SHARE * quietest
    steps = np.floor(np.log(noise / QUIETER[dimensions]) / np.log(STEP))
    quietest = max(float(STEP**steps), QUIETEST[dimensions])
    return quietest, quietest * min(OMITTED, UNSEEN / np.sqrt(2 * windows.count))


def choose(
    region: Region,
    shortest: np.ndarray,
    longest: np.ndarray,
    reach: float,
    beyond: float = 0.0,
    room: float = 1.0,
    periods: Sequence[float | None] | None = None,
    most: float = np.inf,
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
    periods
        After which the fields repeat along each side; such a side of the region is the box's, and has no padding.
    most
        Features, about: with more, the highest waves are left out along all sides alike.
    """
    box: list[tuple[float, float]] = []
    wanted: list[float] = []
    sides = zip(region.low, region.high, shortest, longest, periods or [None] * len(shortest), strict=True)
    for low, high, short, long, period in sides:
        padding = beyond * (high - low) + room * PADDING[len(shortest)] * long
        side = high - low + (padding if period is None else 0.0)
        middle = 0.5 * (low + high)
        box.append((float(middle - side / 2), float(middle + side / 2)))
        wanted.append(reach / short * side / (2 * np.pi))
    share = min(1.0, (most / _count(wanted)) ** (1.0 / len(wanted)))
    waves = [rung(share * w, WAVES_PER_OCTAVE[len(wanted)]) for w in wanted]
    shape = [2 * fast_length(math.ceil(FINER[len(wanted)] * w) + 1) for w in waves]
    total = _count(waves)
    if total > MOST_FEATURES:
        raise ModelError(
            f"Lengths of {', '.join(f'{s:.3g}' for s in shortest)} over a box of "
            f"{' x '.join(f'{b - a:.3g}' for a, b in box)} would need {total:.3g} waves; the flow model stops at "
            f"{MOST_FEATURES}. Choose a smaller region of the data, or model='midpoint'."
        )
    return Features(Grid(tuple(box), tuple(shape)), tuple(waves))


def _count(waves: Sequence[float]) -> float:
    """Features of one process, counted, not listed: ten thousand by ten thousand waves would be all of the memory."""
    ellipsoid = {1: 1.0, 2: math.pi / 4, 3: math.pi / 6}[len(waves)]
    return float(np.prod([2.0 * w + 1 for w in waves])) * ellipsoid


def finer(features: Features, steepest: float) -> Features:
    """Return features with a motion on a finer grid: so many times where a warped coordinate makes waves shorter."""
    factor = rising(steepest)
    shape = tuple(2 * fast_length(math.ceil(factor * n / 2)) for n in features.grid.shape)
    return replace(features, grid=Grid(features.grid.box, shape)) if factor > 1 else features
