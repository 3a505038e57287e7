"""Natural sizes read off the data: where hyper-parameters may go."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from hiddenphysics.inference.parameters import NOISE, Layout, shape_name, variance_name
from hiddenphysics.snapshots import Snapshots

NOISE_FLOOR = 1e-10
"""Smallest noise variance, relative to the data's: below it the covariance has no digits left to factor."""


@dataclass(frozen=True)
class Scales:
    """Sizes of a set of snapshots.

    Attributes
    ----------
    extent, spacing
        (D,) width of the region that holds all points along each coordinate, and the mean distance of
        neighbours there.
    power
        Mean square of every field over all its values.
    """

    extent: np.ndarray
    spacing: np.ndarray
    power: Mapping[str, float]

    @classmethod
    def of(cls, snapshots: Snapshots) -> Scales:
        """Measure the given snapshots."""
        points = np.concatenate([s.points for s in snapshots])
        extent = np.ptp(points, axis=0)
        per_side = min(len(s) for s in snapshots) ** (1.0 / points.shape[1])
        power = {f: float(np.mean(np.concatenate([s[f] for s in snapshots]) ** 2)) for f in snapshots.fields}
        return cls(extent, extent / per_side, power)

    def hyper_bounds(self, layout: Layout, variances: Mapping[str, float]) -> dict[str, tuple[float, float]]:
        """Return generous natural bounds of every positive unknown, variances around those expected of the latents."""
        bounds: dict[str, tuple[float, float]] = {}
        for latent, kernel in layout.kernels:
            bounds[variance_name(latent)] = (1e-5 * variances[latent], 1e5 * variances[latent])
            for d, coordinate in enumerate(layout.model.coordinates):
                limits = kernel.limits(float(self.spacing[d]), float(self.extent[d]))
                bounds |= {shape_name(latent, p, coordinate): limit for p, limit in limits.items()}
        powers = self.power.values()
        bounds[NOISE] = (NOISE_FLOOR * min(powers), 10.0 * max(powers))
        return bounds
