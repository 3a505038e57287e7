"""An independent solver: Fourier derivatives in NumPy, steps in time by SciPy; values at scattered points.

It shares the reading of an equation with the package, and neither the motion nor its steps in time.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache

import numpy as np
from scipy.integrate import solve_ivp

from benchmarks.zoo.species import Species
from hiddenphysics.equation import (
    TIME,
    derivative_symbol,
    evaluate_by_name,
    field_name,
    frozen_atoms,
)

ACCURACY = 1e-9
"""Of the steps in time, relative and absolute: a tenth of the smallest noise that a fit tells from none."""

RESOLVED = 1e-5
"""What the shortest waves may hold of the largest amplitude: a thousandth of the smallest noise."""


FINER = (1, 1.5, 2, 3)
"""Grids that are tried, in points of a species' own along a side."""


class TooCoarseError(RuntimeError):
    """The grid does not carry the solution."""


class Solver:
    """One species on its grid."""

    def __init__(self, species: Species) -> None:
        self.species = species
        self.sides = [np.linspace(low, high, species.shape, endpoint=False) for low, high in species.box]
        self.points = np.meshgrid(*self.sides, indexing="ij")
        k = [
            2 * np.pi / (high - low) * np.fft.fftfreq(species.shape, 1 / species.shape)
            for low, high in species.box
        ]
        self.wavenumbers = np.meshgrid(*k, indexing="ij")
        self.shape = self.points[0].shape

    @property
    def fields(self) -> tuple[str, ...]:
        """Fields of the state."""
        return tuple(self.species.start)

    def solution(self, times: tuple[float, ...]) -> np.ndarray:
        """Return (T, F, *shape)."""
        first = np.stack([np.broadcast_to(f(*self.points), self.shape) for f in self.species.start.values()])
        rates = self._own if self.species.rates else self._rates()
        with np.errstate(all="ignore"):  # a step that was tried too long overflows, and is taken back
            run = solve_ivp(
                lambda t, y: rates(t, y.reshape(first.shape)).ravel(),
                (times[0], times[-1]),
                first.ravel(),
                method="DOP853",  # dispersive waves turn fast: implicit methods took a hundred times as long
                t_eval=times,
                rtol=ACCURACY,
                atol=ACCURACY,
            )
        if not run.success:
            raise RuntimeError(f"{self.species.name}: {run.message}")
        made = np.asarray(run.y.T.reshape(len(times), *first.shape))
        if self.tail(made) > RESOLVED:
            raise TooCoarseError(
                f"{self.species.name}: the shortest waves hold {self.tail(made):.1g} of the largest"
            )
        return made

    def tail(self, solution: np.ndarray) -> float:
        """Return the largest amplitude in the last fifth of the wavenumbers of (T, F, *shape) over the largest."""
        modes = np.abs(np.fft.fftn(solution, axes=range(2, solution.ndim)))
        short = np.any([np.abs(k) > 0.8 * k.max() for k in self.wavenumbers], axis=0)
        return float(modes[..., short].max() / modes.max())

    def at(self, fields: np.ndarray, points: np.ndarray) -> np.ndarray:
        """Return values (F, N) at points (N, D) of fields (F, *shape), by their Fourier series."""
        series = np.fft.fftn(fields, axes=range(1, fields.ndim)) / np.prod(self.shape)
        for d in reversed(range(len(self.sides))):
            k = np.moveaxis(self.wavenumbers[d], d, 0).reshape(self.species.shape, -1)[:, 0]
            waves = np.exp(1j * np.outer(k, points[:, d] - self.species.box[d][0]))
            last = d == len(self.sides) - 1
            series = np.einsum("...k,kn->...n" if last else "...kn,kn->...n", series, waves)
        return series.real

    def _own(self, _t: float, state: np.ndarray) -> np.ndarray:
        assert self.species.rates is not None
        return self.species.rates(state[0], self.wavenumbers[0])[None]

    def _rates(self) -> Callable[[float, np.ndarray], np.ndarray]:
        """Return (t, state) -> its time derivative, from the equation's own terms."""
        equation = self.species.equation
        system = equation.system
        atoms = sorted(frozen_atoms(*system.rates.values()), key=str)
        numbers = dict(self.species.truth) | dict(zip(equation.coordinates, self.points, strict=False))
        factors = {}
        for atom in atoms:
            symbol = derivative_symbol(atom, equation.coordinates)
            known = symbol.evaluate(lambda order: float(evaluate_by_name(order, numbers, np)))
            factors[atom] = known.at(self.wavenumbers, np)
        rows = {name: row for row, name in enumerate(self.fields)}

        def rates(t: float, state: np.ndarray) -> np.ndarray:
            waves = np.fft.fftn(state, axes=range(1, state.ndim))
            here = numbers | {TIME: t}
            here |= {str(a): np.fft.ifftn(factors[a] * waves[rows[field_name(a)]]).real for a in atoms}
            made = {name: -evaluate_by_name(rate, here, np) for name, rate in system.rates.items()}
            return np.stack([np.broadcast_to(made[name], self.shape) for name in self.fields])

        return rates


@lru_cache(maxsize=8)
def solved(species: Species, times: tuple[float, ...]) -> tuple[Solver, np.ndarray]:
    """Return a species' solver and its solution at some times, on a finer grid where its own is too coarse for them."""
    for finer in FINER:
        solver = Solver(replace(species, shape=int(finer * species.shape)))
        try:
            return solver, solver.solution(times)
        except TooCoarseError as coarse:
            reason = coarse
    raise reason
