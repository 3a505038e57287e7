"""`Program`: an equation on a grid with the waves of its state: what a compiled flow depends on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import jax.numpy as jnp

from hiddenphysics.equation import Equation
from hiddenphysics.spectral import (
    MIN_POINTS,
    Driving,
    Features,
    Gauge,
    Grid,
    Group,
    Motion,
    groups_of,
    padded_shape,
    process_count,
)

DEGREE = 3
"""Of the splines in time of what comes from outside."""


def is_layered(equation: Equation) -> bool:
    """Whether what comes in does so through layers right beyond the ends of a line."""
    return len(equation.coordinates) == 1 and equation.system.diffuses


@dataclass(frozen=True)
class Program:
    """An equation on a grid; static and hashable: what a compiled program depends on.

    Attributes
    ----------
    equation
        What moves the fields.
    shape, waves
        Points of the grid along each side, and waves of the latent.
    outside
        Waves of what comes from outside at every stop; none where nothing does.
    history
        Shapes, at each end, of what had come in before the first stop; none where nothing is free to come in.
    impulses, steady
        Whether that comes all at once on a line, too, or is constant from stop to stop: in results of before 19
        November 2026.
    """

    equation: Equation
    shape: tuple[int, ...]
    waves: tuple[int, ...]
    outside: tuple[int, ...] = ()
    history: int = 0
    impulses: bool = False
    steady: bool = False

    @classmethod
    def of(
        cls, equation: Equation, features: Features, outside: tuple[int, ...] = (), history: int = 0
    ) -> Program:
        """Return the program on the features' grid."""
        return cls(equation, features.grid.shape, features.waves, outside, history)

    @property
    def groups(self) -> tuple[Group, ...]:
        """Fields that are tied together."""
        return groups_of(self.equation)

    @property
    def processes(self) -> int:
        """Number R of processes that make the state: one for every field, or fewer where fields are tied together."""
        return process_count(self.groups)

    @property
    def means(self) -> int:
        """Means of the state that no process has: ties of derivatives leave them free."""
        return len(self.state) - self.processes

    @property
    def features(self) -> int:
        """Features R·K of the state in the latent, and the further means; what comes from outside is behind them."""
        return self.processes * wave_count(self.waves) + self.means

    @property
    def kicks(self) -> int:
        """Features F·M of what comes from outside at one stop."""
        return len(self.state) * len(self.entering)

    @property
    def entering(self) -> tuple[int, ...]:
        """Which of the waves of what comes from outside are at work; see `entering`."""
        if not self.outside:
            return ()
        if self.impulses or self.steady:
            return tuple(range(wave_count(self.outside)))
        return entering(self.equation, self.outside)

    def blocks(self, stops: int) -> int:
        """How often what comes from outside has amplitudes of its own: at every stop, and behind these for its history.

        Splines begin before the first stop, too.
        """
        if not self.outside:
            return 0
        return self.history + (stops if self.at_once or self.steady else stops + DEGREE)

    @property
    def state(self) -> tuple[str, ...]:
        """Names of the F fields of the state."""
        return self.equation.system.state

    @property
    def in_a_plane(self) -> bool:
        """Whether there are two sides or more: derivatives in the state take most of the time there."""
        return len(self.shape) > 1

    @property
    def at_once(self) -> bool:
        """Whether what comes from outside does so all at once after a stop; otherwise it goes on smoothly in time.

        What a weather does to the outermost sensor between two stops is not what it does at these. Where all of it came
        after a stop, more of it lay between stops than the values at them say, and the diffusivity of a twin of glacier
        ice without any other error was too small, four times in four, by two to four deviations. In a plane nobody has
        looked.
        """
        return self.impulses or self.in_a_plane

    @property
    def products(self) -> tuple[int, ...]:
        """Points along each side on which derivatives in the state make products.

        As many as the waves of the latent need so that none of theirs aliases: the motion's own, shorter ones are next
        to nothing. On the wake, 20 waves on a grid of 54 points, that is 64 points in place of 84, and derivatives
        take 0.4 of the time (18 November 2026).
        """
        least = padded_shape(tuple(2 * w + 2 for w in self.waves), self.equation.system.padding)
        return tuple(max(n, 2 * -(-own // 2)) for n, own in zip(least, self.shape, strict=True))

    @property
    def tied(self) -> bool:
        """Whether statements without a time derivative tie the fields of the state together."""
        return bool(self.equation.system.constraints.ties)

    def state_of(self, motion: Motion, features: Features, gauge: Gauge) -> Callable[[Any, Any], Any]:
        """Return what takes the state's amplitudes (R·K + means,) and parameters (P,) to modes (F, *modes)."""
        names = self.equation.parameters

        def made(z: Any, parameters: Any) -> Any:
            split = self.features - self.means
            amplitudes = jnp.asarray(z[:split]).reshape(self.processes, -1)
            if self.means:
                # A mean stream is the same everywhere, wherever the eddies on it are large.
                processes = features.to_modes(amplitudes.at[:, 0].set(0.0), gauge)
                processes = processes.at[(slice(None), *(0,) * len(self.shape))].add(amplitudes[:, 0])
            else:
                processes = features.to_modes(amplitudes, gauge)
            if not self.tied:
                return processes
            numbers = dict(zip(names, parameters, strict=True))
            return motion.made_of(processes, z[split : self.features], numbers)

        return made

    def allowing(self, motion: Motion) -> Callable[[Any, Any], Any]:
        """Return what takes modes and parameters (P,) to the nearest modes that the constraints allow."""
        if not self.tied:
            return lambda modes, parameters: modes
        names = self.equation.parameters
        return lambda modes, parameters: motion.allowed(modes, dict(zip(names, parameters, strict=True)))

    def on(self, ends: Any, driving: Driving | None = None) -> tuple[Motion, Features]:
        """Return the motion and the features on a box with ends (D, 2) and with known inputs; both may be traced."""
        motion = Motion.over(self.equation, self.shape, ends, driving)
        return motion, Features(motion.grid, self.waves)

    def for_derivatives(self, ends: Any, driving: Driving | None = None) -> Motion:
        """Return the motion of which the derivatives in the state of a plane are taken; see `products`."""
        return Motion.over(self.equation, self.shape, ends, driving, self.products)


def entering(equation: Equation, outside: tuple[int, ...]) -> tuple[int, ...]:
    """Return which of the waves of what comes from outside are at work: the constant, then cosines, then sines.

    Of layers, which are read a quarter and three quarters along one wave, the cosine is 0.
    """
    return (0, 2) if is_layered(equation) else tuple(range(wave_count(outside)))


@lru_cache(maxsize=256)
def wave_count(waves: tuple[int, ...]) -> int:
    """Return the number of features with these waves along the sides of any box."""
    unit = Grid(((0.0, 1.0),) * len(waves), tuple(2 * w + 2 + MIN_POINTS for w in waves))
    return Features(unit, waves).count
