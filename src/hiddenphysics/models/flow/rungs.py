"""Sizes of arrays come in rungs: fits of similar size share their compiled code, and what is padded weighs nothing."""

from __future__ import annotations

import math

ROWS_PER_OCTAVE = 4
"""Rungs for points, stops and windows: at most a quarter is padding, an eighth on average."""

WAVES_PER_OCTAVE = {1: 2, 2: 8, 3: 8}
"""Rungs for waves, whose number follows from lengths that differ a little between data of the same kind; in a plane,
where their number counts twice, more of them."""


def rung(count: float, per_octave: int = ROWS_PER_OCTAVE) -> int:
    """Return the smallest size on the ladder that is not below a count: 2^k (1 + j / per_octave), whole numbers."""
    least = max(math.ceil(count - 1e-9), 1)
    octave = 2 ** (least.bit_length() - 1)
    return next(
        size for j in range(per_octave + 1) if (size := octave + -(-octave * j // per_octave)) >= least
    )


def rising(factor: float, per_octave: int = WAVES_PER_OCTAVE[1]) -> float:
    """Round a factor of one or more up to a ladder with so many rungs per octave."""
    return float(2 ** (math.ceil(per_octave * math.log2(factor) - 1e-9) / per_octave))
