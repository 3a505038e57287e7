"""Where a field is large, and fine: a prior that varies in space, read off the smoothed snapshots."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from jaxtyping import Float

from hiddenphysics.spectral import Box, Features

LEAST = 0.05
"""Smallest envelope, as a part of the largest: quiet places stay possible places. Half of it moves answers by up to 0.3
deviations, twice by 0.05 (`benchmarks.constants`)."""

WIDTH = 1.0
"""Width of the average over places, in lengths of the prior. Half as wide, the envelope follows the data, and a clean
front of Burgers is 17 (tiny) deviations off; twice as wide moves answers by 0.2 (`benchmarks.constants`)."""

EVERYWHERE = 1e-9
"""Weight of every value everywhere: far from all of them the envelope is their mean."""

STRETCH = 0.5
"""κ of a warped coordinate. Where a wave is large it is narrow: a soliton of Korteweg and de Vries of height h is
h^{−½} wide. Half or twice of it moves noisy answers by 0.2 and 0.5 deviations (`benchmarks.constants`)."""

NEAR = 1e-2
"""Values within reach, in number, below which a place counts as far from the data."""

PER_WIDTH = 8
"""Points per width of the average with which a warp is integrated."""


@dataclass(frozen=True)
class Envelope:
    """u(x) = g(x) · w(s(x)), w stationary: lonely solitons are not as large, nor as fine, everywhere as at their tops.

    g² is the local mean of the energy u² + Σ_d ℓ_d² (∂_d u)², taken over the circle that the box is:
    g²(x) = Σ_i k(x − x_i) e_i / Σ_i k(x − x_i) + floor², k(r) = exp(Σ_d (cos(2πr_d/L_d) − 1)/(2πw_d/L_d)²).
    Its root mean square at the data is about one, so that the prior's variance keeps its meaning.

    On a line s maps the box onto itself with s'(x) ∝ g(x)^κ, on average 1 over the data, and with s' → 1 far from
    them: lengths are shorter where the field is large, and mean what they say on average.

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
    stretch
        κ; 0 is s(x) = x.
    """

    centres: Float[np.ndarray, "W N D"]
    energy: Float[np.ndarray, "W N"]
    width: Float[np.ndarray, " D"]
    floor: float
    stretch: float = 0.0
    _made: dict[Box, list[np.ndarray]] = field(default_factory=dict, init=False, repr=False, compare=False)

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

    def window(self, index: int) -> Envelope:
        """Return the envelope of one window, still with a leading axis."""
        one = slice(index, index + 1)
        return replace(self, centres=self.centres[one], energy=self.energy[one])

    def at(self, points: Float[np.ndarray, "N D"], sides: np.ndarray) -> Float[np.ndarray, "W N"]:
        """Return g at points of a box with these sides (D,), for every window."""
        return np.stack([self._local(window, points, sides)[0] for window in range(len(self.energy))])

    def warped(self, points: Float[np.ndarray, "N D"], box: Box) -> Float[np.ndarray, "W N D"]:
        """Return s at points of a box, for every window."""
        if not self.stretch:
            return np.broadcast_to(points, (len(self.energy), *points.shape))
        (low, _), x = box[0], points[:, 0]
        places = []
        for rate in self._rates(box):
            # s' as a Fourier series, integrated term by term: as smooth as g, and exact on the circle.
            modes = np.fft.rfft(rate, norm="forward")
            modes[-1] *= 0.5
            omega = 2 * np.pi * np.arange(1, modes.size) / (box[0][1] - low)
            waves = np.exp(1j * np.multiply.outer(x - low, omega)) - 1.0
            places.append(x + 2.0 * np.real(waves @ (modes[1:] / (1j * omega))))
        return np.stack(places)[..., None]

    def steepest(self, box: Box) -> float:
        """Return the largest s' anywhere."""
        return max(float(rate.max()) for rate in self._rates(box)) if self.stretch else 1.0

    def basis(self, features: Features, points: Float[np.ndarray, "N D"]) -> Float[np.ndarray, "W N K"]:
        """Return all features as this prior has them, g(x) φ(s(x)), at points."""
        size = self.at(points, np.array(features.grid.lengths))[..., None]
        if not self.stretch:
            return size * features.at(points)
        return size * np.stack([features.at(places) for places in self.warped(points, features.grid.box)])

    def _rates(self, box: Box) -> list[np.ndarray]:
        """Return s' at equispaced points of the box, on average 1, for every window; made once for a box."""
        if box not in self._made:
            self._made[box] = self._make_rates(box)
        return self._made[box]

    def _make_rates(self, box: Box) -> list[np.ndarray]:
        (low, high), side = box[0], np.array([box[0][1] - box[0][0]])
        count = 2 * int(np.ceil(0.5 * PER_WIDTH * float(side[0] / self.width[0])))
        grid = np.linspace(low, high, count, endpoint=False)[:, None]
        rates = []
        for window, centres in enumerate(self.centres):
            size, near = self._local(window, grid, side)
            usual = np.mean(self._local(window, centres, side)[0] ** self.stretch)
            rate = 1.0 + near * (size**self.stretch / usual - 1.0)
            rates.append(rate / rate.mean())
        return rates

    def _local(self, window: int, points: np.ndarray, sides: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return g at points, and from 0 to 1 how near the data they are; both (N,)."""
        centres, energy = self.centres[window], self.energy[window]
        exponent = np.zeros((len(points), len(centres)))
        for d, (rate, width) in enumerate(zip(2 * np.pi / sides, self.width, strict=True)):
            apart = rate * (points[:, d, None] - centres[None, :, d])
            exponent += (np.cos(apart) - 1.0) / (rate * width) ** 2
        weights = np.exp(exponent)
        count = weights.sum(axis=1)
        weights = weights + EVERYWHERE
        size = np.sqrt(weights @ energy / weights.sum(axis=1) + self.floor**2)
        return size, count / (count + NEAR)
