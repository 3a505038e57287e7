"""PySINDy's libraries of terms, strong and weak: what stands on the left and on the right of its regression."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.signal import savgol_filter

from benchmarks.neighbours.extra import load_neighbour
from benchmarks.neighbours.problems import Problem
from benchmarks.neighbours.recording import Recording

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Regression:
    """Rows of a regression: ``rates`` (R, F) = ``features`` (R, L) times coefficients; names of the L features."""

    rates: Array
    features: Array
    names: tuple[str, ...]


@dataclass(frozen=True)
class Strong:
    """How to smooth and differentiate; in time always by differences of fourth order.

    Parameters
    ----------
    spectral
        Differentiate in space by FFT, otherwise by differences of fourth order.
    window_x, window_t
        Lengths of Savitzky–Golay filters along x and t, 0 for none. PySINDy's own SmoothedFiniteDifference filters
        along the first axis only.
    waves
        Keep so many of the longest waves along x, 0 for all: the sharper filter, for periodic data.
    """

    spectral: bool
    window_x: int = 0
    window_t: int = 0
    waves: int = 0

    def __str__(self) -> str:
        filters = [
            f"{word} {size}"
            for word, size in (
                ("x window", self.window_x),
                ("t window", self.window_t),
                ("waves", self.waves),
            )
            if size
        ]
        return ", ".join(["spectral" if self.spectral else "4th order differences", *filters])


@dataclass(frozen=True)
class Weak:
    """Number of random subdomains, their half width in parts of the recording along x and t, power of the bump."""

    subdomains: int
    part_x: float
    part_t: float
    power: int = 4

    def __str__(self) -> str:
        return f"K = {self.subdomains}, H = L/{1 / self.part_x:g} × T/{1 / self.part_t:g}, p = {self.power}"


def strong_regression(problem: Problem, recording: Recording, how: Strong) -> Regression:
    """Return u_t and the terms at every point of the grid."""
    differences = load_neighbour("pysindy.differentiation")
    values = smoothed(recording.values, how)
    rates = differences.FiniteDifference(order=4, axis=1)._differentiate(values, recording.times)
    return _at_points(problem, recording.x, values, rates, how)


def pair_regression(problem: Problem, recording: Recording, index: int, gap: int, how: Strong) -> Regression:
    """Return (u¹ − u⁰)/Δt and the terms at the mean of two snapshots on the whole grid: second order in the gap."""
    values = smoothed(recording.values[:, [index, index + gap]], how)
    rates = np.diff(values, axis=1) / (recording.times[index + gap] - recording.times[index])
    return _at_points(problem, recording.x, values.mean(axis=1, keepdims=True), rates, how)


def weak_regression(problem: Problem, recording: Recording, how: Weak, seed: int = 0) -> Regression:
    """Return the integrals of u_t and of the terms against bumps on random subdomains."""
    sindy = load_neighbour("pysindy")
    grid = np.stack(np.meshgrid(recording.x, recording.times, indexing="ij"), axis=-1)
    extent = np.array([np.ptp(recording.x), np.ptp(recording.times)])
    with _seeded(seed):
        library = sindy.WeakPDELibrary(
            function_library=sindy.PolynomialLibrary(degree=problem.degree, include_bias=False),
            derivative_order=problem.derivatives,
            spatiotemporal_grid=grid,
            K=how.subdomains,
            H_xt=extent * [how.part_x, how.part_t],
            p=how.power,
            differentiation_method=sindy.FiniteDifference,
            diff_kwargs={"order": 4, "periodic": True},
        )
    values = _with_axes(recording.values)
    features = np.asarray(library.fit_transform(values))
    return Regression(np.asarray(library.convert_u_dot_integral(values)), features, _names(problem, library))


def smoothed(values: Array, how: Strong) -> Array:
    """Return values (N, T, F) after the filters of `how`: Savitzky–Golay of fifth order along x, of third along t."""
    if how.window_x:
        values = savgol_filter(values, how.window_x, 5, axis=0, mode="wrap")
    if how.window_t:
        values = savgol_filter(values, how.window_t, 3, axis=1)
    if how.waves:
        waves = np.fft.rfft(values, axis=0)
        waves[how.waves + 1 :] = 0.0
        values = np.fft.irfft(waves, n=len(values), axis=0)
    return values


def _at_points(problem: Problem, x: Array, values: Array, rates: Array, how: Strong) -> Regression:
    sindy = load_neighbour("pysindy")
    library = sindy.PDELibrary(
        function_library=sindy.PolynomialLibrary(degree=problem.degree, include_bias=False),
        derivative_order=problem.derivatives,
        spatial_grid=x,
        differentiation_method=sindy.SpectralDerivative if how.spectral else sindy.FiniteDifference,
        diff_kwargs={} if how.spectral else {"order": 4, "periodic": True, "is_uniform": True},
    )
    features = np.asarray(library.fit_transform(_with_axes(values)))
    return Regression(
        np.asarray(rates).reshape(-1, rates.shape[-1]),
        features.reshape(-1, features.shape[-1]),
        _names(problem, library),
    )


def _with_axes(values: Array) -> Any:
    axes = load_neighbour("pysindy.utils")
    return axes.AxesArray(values, axes.comprehend_axes(values))


def _names(problem: Problem, library: Any) -> tuple[str, ...]:
    return tuple(str(name) for name in library.get_feature_names(list(problem.fields)))


@contextmanager
def _seeded(seed: int) -> Iterator[None]:
    """PySINDy draws its subdomains from NumPy's global generator: seed it, and leave it as it was."""
    state = np.random.get_state()  # noqa: NPY002
    np.random.seed(seed)  # noqa: NPY002
    try:
        yield
    finally:
        np.random.set_state(state)  # noqa: NPY002
