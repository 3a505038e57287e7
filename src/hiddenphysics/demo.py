"""The data of `hiddenphysics demo`: 140 noisy points of the paper's first example."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from hiddenphysics.simulate.exact import burgers, gaussian_pulse
from hiddenphysics.snapshots import Snapshot, Snapshots

EQUATION = "u_t + a*u*u_x - b*u_xx = 0"
TRUTH = {"a": 1.0, "b": 0.1}
PAIR = (1.0, 1.1)
"""The two moments that are seen of it."""


def burgers_recording(times: Iterable[float] = tuple(np.arange(101) / 10.0)) -> Snapshots:
    """Return u on the grid of the paper: 256 points in [−8, 8), 101 times in [0, 10]; λ = 1, ν = 0.1."""
    x = -8.0 + np.arange(256) / 16.0
    return Snapshots(
        Snapshot(
            t=t, x=x, u=burgers(gaussian_pulse, t, x, TRUTH["b"], speed=TRUTH["a"], reach=16.0, nodes=801)
        )
        for t in times
    )


def two_snapshots(recording: Snapshots, noise: float, seed: int) -> Snapshots:
    """Return 71 and 69 random points of the field at t = 1.0 and 1.1, with relative noise."""
    return recording.at(PAIR).with_noise(noise, seed).subsample([71, 69], seed)
