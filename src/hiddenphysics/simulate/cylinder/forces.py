"""Drag, lift and shedding frequency, from the history of the force coefficients."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float64

from hiddenphysics.errors import ModelError


@dataclass(frozen=True)
class ForceStatistics:
    """Means and amplitudes over whole shedding periods; an amplitude is half the range.

    At Re = 100: Strouhal number 0.164 (Williamson's experiment) to 0.167, drag 1.32–1.38 ± 0.009,
    lift ± 0.32–0.34 about zero.
    """

    strouhal: float
    mean_drag: float
    drag_amplitude: float
    mean_lift: float
    lift_amplitude: float
    periods: int


BANDS = {
    "strouhal": (0.164, 0.167),
    "mean_drag": (1.32, 1.38),
    "drag_amplitude": (0.0085, 0.0095),
    "mean_lift": (-0.005, 0.005),
    "lift_amplitude": (0.32, 0.34),
}
"""A run at Re = 100 is accepted when each statistic lies in its band."""


def outside_bands(statistics: ForceStatistics) -> list[str]:
    """One sentence for each statistic outside its band; empty for an accepted run."""
    values = {name: float(getattr(statistics, name)) for name in BANDS}
    return [
        f"{name.replace('_', ' ')} is {values[name]:.4g}, outside {low:g} to {high:g}."
        for name, (low, high) in BANDS.items()
        if not low <= values[name] <= high
    ]


def force_statistics(
    time: Float64[np.ndarray, " T"], drag: Float64[np.ndarray, " T"], lift: Float64[np.ndarray, " T"]
) -> ForceStatistics:
    """Statistics over the whole periods between the first and the last upward zero of the lift.

    The Strouhal number f D/U is the number of periods over the time they take, zeros found by
    straight lines between samples.
    """
    up = np.flatnonzero((lift[:-1] < 0) & (lift[1:] >= 0))
    if len(up) < 2:
        raise ModelError(
            f"The lift rises through zero {len(up)} times between t = {time[0]:g} and {time[-1]:g}; a "
            "shedding frequency needs at least 2. Run on until the wake sheds; a period lasts 6 time units."
        )
    zeros = time[up] - lift[up] * (time[up + 1] - time[up]) / (lift[up + 1] - lift[up])
    whole = slice(int(up[0]) + 1, int(up[-1]) + 1)
    return ForceStatistics(
        strouhal=float((len(up) - 1) / (zeros[-1] - zeros[0])),
        mean_drag=float(drag[whole].mean()),
        drag_amplitude=float(np.ptp(drag[whole]) / 2),
        mean_lift=float(lift[whole].mean()),
        lift_amplitude=float(np.ptp(lift[whole]) / 2),
        periods=len(up) - 1,
    )
