"""Particles that move at random, and the densities of their displacements with known sampling errors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from hiddenphysics.errors import DataError

if TYPE_CHECKING:
    import xarray as xr


def brownian_path(steps: int, dt: float, seed: int) -> NDArray[np.float64]:
    """Return positions (steps + 1,) of a Brownian motion from 0, with x(t + dt) ~ N(x(t), dt).

    The density of its displacements solves u_t − ½ u_xx = 0.
    """
    increments = np.sqrt(dt) * np.random.default_rng(seed).standard_normal(steps)
    return np.concatenate([[0.0], np.cumsum(increments)])


def levy_path(steps: int, dt: float, alpha: float, seed: int) -> NDArray[np.float64]:
    """Return positions (steps + 1,) of a symmetric α-stable Lévy motion from 0.

    Displacements over t have the characteristic function exp(−t|ω|^α); their density solves
    u_t + (−Δ)^{α/2} u = 0, and α = 2 is Brownian motion with variance 2t.
    """
    increments = dt ** (1 / alpha) * stable_variates(steps, alpha, seed)
    return np.concatenate([[0.0], np.cumsum(increments)])


def stable_variates(count: int, alpha: float, seed: int) -> NDArray[np.float64]:
    """Draw symmetric α-stable numbers with characteristic function exp(−|ω|^α), 0 < α ≤ 2.

    X = sin(αV)/cos(V)^{1/α} · (cos((1 − α)V)/W)^{(1−α)/α}, V uniform on (−π/2, π/2), W exponential. Chambers,
    Mallows & Stuck (1976), J. Am. Stat. Assoc. 71, 340, equation 2.3 without skewness.
    """
    if not 0 < alpha <= 2:
        raise DataError(f"The order α of a stable motion is {alpha:g}; it lies above 0 and is at most 2.")
    generator = np.random.default_rng(seed)
    angle = np.pi * (generator.random(count) - 0.5)
    waiting = generator.standard_exponential(count)
    ratio = np.cos((1 - alpha) * angle) / waiting
    return np.sin(alpha * angle) / np.cos(angle) ** (1 / alpha) * ratio ** ((1 - alpha) / alpha)


def displacement_density(
    path: NDArray[np.float64],
    dt: float,
    *,
    lags: Sequence[int] = (1, 2, 3, 4, 5),
    bins: int = 100,
    window: float,
    overlapping: bool = False,
) -> xr.Dataset:
    """Estimate the density of displacements at several lags by histograms.

    Of n displacements a share p̂ falls into a bin of width w; u = p̂/w estimates the density at the bin's
    centre, up to its mean over the bin (relative bias w²u″/24u), with standard deviation √(p(1 − p)/n)/w:
    the count is binomial, since displacements over windows that do not overlap are independent.

    Parameters
    ----------
    path
        Positions at equal time steps.
    dt
        The time step.
    lags
        Numbers of steps; lag ℓ is the snapshot at t = ℓ dt, with n = steps // ℓ.
    bins, window
        Number of equal bins on [−window, window]; displacements beyond it count in n only.
    overlapping
        Use every start of a window: more data, but errors of different bins are then
        correlated and the given deviation is that of n = steps // ℓ windows, an upper bound.

    Returns
    -------
    xarray.Dataset
        Density `u` over (t, x) and, as a coordinate, so that it is no field, its standard deviation `u_std`.
    """
    import xarray as xr

    edges = np.linspace(-window, window, bins + 1)
    histograms = [_histogram(path, lag, edges, overlapping) for lag in lags]
    density, deviation = (np.stack(rows) for rows in zip(*histograms, strict=True))
    return xr.Dataset(
        {"u": (("t", "x"), density)},
        {
            "t": dt * np.asarray(lags, float),
            "x": (edges[:-1] + edges[1:]) / 2,
            "u_std": (("t", "x"), deviation),
        },
    )


def _histogram(
    path: NDArray[np.float64], lag: int, edges: NDArray[np.float64], overlapping: bool
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return density and standard deviation in each bin."""
    moves = path[lag:] - path[:-lag] if overlapping else np.diff(path[::lag])
    counts, _ = np.histogram(moves, edges)
    independent = (len(path) - 1) // lag
    # Half a count more: an empty bin is not a certainty that nothing ever falls there.
    share = (counts + 0.5) / (len(moves) + 1)
    width = np.diff(edges)
    return counts / (len(moves) * width), np.sqrt(share * (1 - share) / independent) / width
