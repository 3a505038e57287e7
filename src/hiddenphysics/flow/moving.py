"""A grid whose box is known only when the program runs: one compiled motion serves boxes of every size."""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any

import jax.numpy as jnp
import numpy as np

from hiddenphysics.equation import Equation
from hiddenphysics.simulate import Flow
from hiddenphysics.simulate.spectral.grid import Grid
from hiddenphysics.simulate.spectral.split import Split, split


class MovingGrid(Grid):
    """A `Grid` whose low and high ends may be traced; only its shape is part of the compiled program."""

    def __post_init__(self) -> None:
        """Leave the ends unchecked: they were checked where they were numbers."""

    @cached_property
    def axes(self) -> tuple[Any, ...]:
        """Points along each side, low included, high not."""
        return tuple(
            low + (high - low) * np.arange(n) / n for (low, high), n in zip(self.box, self.shape, strict=True)
        )

    def points(self) -> tuple[Any, ...]:
        """Coordinates of all points, one array of the grid's shape for each coordinate."""
        return tuple(jnp.meshgrid(*self.axes, indexing="ij"))

    @cached_property
    def wavenumbers(self) -> tuple[Any, ...]:
        """k_d along each side, shaped to broadcast over the modes."""
        found = []
        for d, ((low, high), n) in enumerate(zip(self.box, self.shape, strict=True)):
            last = d == len(self.shape) - 1
            turns = 2 * np.pi * n * (np.fft.rfftfreq(n) if last else np.fft.fftfreq(n))
            found.append(
                jnp.reshape(turns / (high - low), [-1 if e == d else 1 for e in range(len(self.shape))])
            )
        return tuple(found)

    def padded(self, factor: Fraction) -> MovingGrid:
        """Return a grid over the same box with at least `factor` times the points."""
        return MovingGrid(self.box, Grid(((0.0, 1.0),) * len(self.shape), self.shape).padded(factor).shape)


@lru_cache(maxsize=64)
def split_of(equation: Equation) -> Split:
    """Split an equation, once."""
    return split(equation)


def moving_flow(equation: Equation, shape: tuple[int, ...], ends: Any) -> Flow:
    """Return the flow on a box with traced ends (D, 2)."""
    parts = split_of(equation)
    box = tuple((end[0], end[1]) for end in ends)
    return Flow(equation, MovingGrid(box, shape), parts.coupled, parts)
