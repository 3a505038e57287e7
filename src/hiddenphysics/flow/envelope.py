"""Where a field is large: a spatially varying standard deviation, read off the smoothed snapshots."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

LEAST = 0.05
"""Smallest envelope, as a part of the largest: quiet places stay possible places."""

WIDTH = 1.0
"""Width of the average over places, in lengths of the prior."""

EVERYWHERE = 1e-9
"""Weight of every value everywhere: far from all of them the envelope is their mean."""


@dataclass(frozen=True)
class Envelope:
    """g(x) with u = g(x) · w(x), w stationary: two lonely solitons are not as large everywhere as at their tops.

    g² is the local mean of the energy u² + Σ_d ℓ_d² (∂_d u)², taken over the circle that the box is:
    g²(x) = Σ_i k(x − x_i) e_i / Σ_i k(x − x_i) + floor², k(r) = exp(Σ_d (cos(2πr_d/L_d) − 1)/(2πw_d/L_d)²).
    Its root mean square at the data is about one, so that the prior's variance keeps its meaning.

    Attributes
    ----------
    centres
        x_i, (W, N, D), for each of W windows.
    energy
        e_i, (W, N), relative to their mean; (W, N) of zeros with `floor` 1 is no envelope at all.
    width
        w, (D,).
    floor
        Smallest value of g.
    """

    centres: Float[np.ndarray, "W N D"]
    energy: Float[np.ndarray, "W N"]
    width: Float[np.ndarray, " D"]
    floor: float

    @classmethod
    def flat(cls, windows: int, dimensions: int) -> Envelope:
        """Return the envelope that is the same everywhere."""
        return cls(np.zeros((windows, 1, dimensions)), np.zeros((windows, 1)), np.ones(dimensions), 1.0)

    @classmethod
    def of(cls, centres: np.ndarray, energy: np.ndarray, lengths: np.ndarray, noise: float) -> Envelope:
        """Build from energies (W, N) at centres (W, N, D); `noise` is the noise's part of the field's variance."""
        relative = energy / np.mean(energy)
        return cls(
            centres, relative, WIDTH * lengths, float(LEAST * np.sqrt(relative.max()) + np.sqrt(noise))
        )

    def at(self, points: Float[np.ndarray, "N D"], sides: np.ndarray) -> Float[np.ndarray, "W N"]:
        """Return g at points of a box with these sides (D,), for every window."""
        turn = 2 * np.pi / sides
        found = np.empty((len(self.energy), len(points)))
        for row, (centres, energy) in enumerate(zip(self.centres, self.energy, strict=True)):
            exponent = np.zeros((len(points), len(centres)))
            for d, (rate, width) in enumerate(zip(turn, self.width, strict=True)):
                apart = rate * (points[:, d, None] - centres[None, :, d])
                exponent += (np.cos(apart) - 1.0) / (rate * width) ** 2
            weights = np.exp(exponent) + EVERYWHERE
            found[row] = np.sqrt(weights @ energy / weights.sum(axis=1) + self.floor**2)
        return found
