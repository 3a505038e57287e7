"""`Species`: one equation with its truth, a start, a box and times; and the shapes that starts are made of."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from hiddenphysics.equation import Equation

AXES = ("x", "y", "z")

Profile = Callable[..., np.ndarray]
Rates = Callable[[np.ndarray, np.ndarray], np.ndarray]


@dataclass(frozen=True, eq=False)
class Species:
    """What is fitted.

    Attributes
    ----------
    name, text
        The equation as a user would type it, and what it is called.
    truth
        Its parameters.
    start
        Field of the state -> a function of the coordinates; `u` and `u_t` where the equation is of second order.
    box
        (low, high) along every coordinate; the fields are periodic there.
    times
        Of the snapshots; the first is that of the start.
    shape
        Points of the solver's grid along every side.
    points
        Of a snapshot, scattered.
    seen
        (low, high) along every coordinate in which points lie; the whole box by default.
    measured
        Fields with data; all by default.
    wrong
        An equation that does not hold for these data; empty where none is tried.
    units
        Parameter -> powers of the units of x, u and t that it carries; where given, the species is fitted in others.
    rates
        (u, k) -> u_t on the grid, for an equation whose time derivative stands under others, such as u_xxt.
    """

    name: str
    text: str
    truth: Mapping[str, float]
    start: Mapping[str, Profile]
    box: tuple[tuple[float, float], ...]
    times: tuple[float, ...]
    shape: int = 64
    points: int = 60
    seen: tuple[tuple[float, float], ...] | None = None
    measured: tuple[str, ...] | None = None
    wrong: str = ""
    units: Mapping[str, tuple[float, float, float]] | None = None
    rates: Rates | None = None

    @property
    def equation(self) -> Equation:
        """The equation along all coordinates of the box: lap(u) alone does not say how many there are."""
        return Equation.parse(self.text, coordinates=AXES[: len(self.box)])


ROUND = ((-np.pi, np.pi),)
"""The circle, on which most live."""
LONG = ((-10.0, 10.0),)
"""Room for pulses that end before the box does."""
PLANE = ((-np.pi, np.pi), (-np.pi, np.pi))


def pulse(at: float = 0.0, width: float = 1.0, height: float = 1.0, base: float = 0.0) -> Profile:
    """Return a bell on a line: base + height exp(−(x − at)²/width²)."""
    return lambda x: base + height * np.exp(-(((x - at) / width) ** 2))


def wave(*amplitudes: float, base: float = 0.0, shift: float = 0.3) -> Profile:
    """Return waves on the circle: base + Σ a_k sin(k x + k² shift)."""

    def values(x: np.ndarray) -> np.ndarray:
        return base + sum(a * np.sin(k * x + k**2 * shift) for k, a in enumerate(amplitudes, start=1))

    return values


def hills(height: float = 1.0, base: float = 0.0, turn: float = 0.0) -> Profile:
    """Return hills on the plane: base + height exp(cos(x + turn) + cos(y) − 2), and a smaller wave across."""

    def values(x: np.ndarray, y: np.ndarray) -> np.ndarray:
        return base + height * (np.exp(np.cos(x + turn) + np.cos(y) - 2) + 0.2 * np.sin(x - 2 * y))

    return values


def still(*x: np.ndarray) -> np.ndarray:
    """Return a field in which nothing moves."""
    return np.zeros(np.broadcast_shapes(*(np.shape(one) for one in x)))
