"""The way through the stops of a window: in which steps, and what begins to come in after each."""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import numpy as np

from hiddenphysics.models.flow.inflow import Entering
from hiddenphysics.models.flow.rungs import rung

EQUAL = 1e-6
"""Gaps that differ by no more than this part of themselves are equal: times were printed, or summed up."""

SAME, FEW_LENGTHS = 1e-10, 4
"""Steps whose lengths differ by no more than rounding of the times, relative to the longest, are the same; so many
different ones have a path through equal gaps: none, the state's, twice as long, and those of the derivatives."""

MOST_GROWTH = 18.0
"""No wave grows by more than e^18 over the whole path: parameters of an ill-posed equation stay finite on the way."""


class Leg(NamedTuple):
    """A way in equal steps: which of the path's lengths they have, their number, when they begin; (W, T) each."""

    which: Any
    steps: Any
    starts: Any


class Stops(NamedTuple):
    """How T stops of W windows are reached, each from the one before.

    Attributes
    ----------
    fine
        From the stop before; 0 steps for the first stop.
    coarse
        The same in half as many steps, which tells the error of the fine ones. Where these are one for every gap, a
        coarse step spans two gaps, and leaves out the stop between.
    rough
        The same for the derivatives, which need far fewer steps than the state: they only turn the direction in which a
        round looks, and where it ends, what is left over is that of the state's own way.
    compared
        (W, T) whether the coarse way gets to the stop, too.
    visited
        (W, T) whether the path gets there, and looks.
    comes
        (W, T) which of what comes from outside begins to after the stop, counted through the window's own stops; −1
        where nothing new does.
    """

    fine: Leg
    coarse: Leg
    rough: Leg
    compared: Any
    visited: Any
    comes: Any


class Path(NamedTuple):
    """The way through all stops.

    Attributes
    ----------
    stops
        One after the other.
    lengths
        (W, U) of the steps, the same for all windows: equal gaps share what a step needs to know.
    most
        (W,) largest growth rate that is let happen.
    entering
        How what comes from outside goes on in time; None where nothing does, or all of it at once.
    """

    stops: Stops
    lengths: Any
    most: Any
    entering: Entering | None = None

    @classmethod
    def through(
        cls,
        times: np.ndarray,
        dt: float,
        most: float,
        horizon: int | None = None,
        *,
        rough: float | None = None,
        two_gaps: bool = False,
        comes: np.ndarray | None = None,
        entering: Entering | None = None,
    ) -> Path:
        """Return the way through times (W, T) in steps of at most dt, two in every gap at least.

        Derivatives go in steps of at most `rough`, one in every gap at least; by default in the state's steps.

        Stops are padded to a rung: a window waits where nothing more is seen. With a horizon only that many stops of a
        window are visited. With `two_gaps` one step is enough for a gap where the next one is as long. `comes` (W, T)
        says what comes from outside after a stop, by default one thing after the other, and `entering` how.
        """
        count = times.shape[1]
        times = np.pad(times, ((0, 0), (0, rung(count) - count)), mode="edge")
        durations = np.diff(times, axis=1, prepend=times[:, :1])
        starts = np.concatenate([times[:, :1], times[:, :-1]], axis=1)
        visited = np.broadcast_to(np.arange(times.shape[1]) < (horizon or count), times.shape)
        halves = np.ceil(durations / (2 * dt) - 1e-9).astype(int)
        halves = np.maximum(halves, durations > 0) * visited
        short = visited & (durations > 0) & (durations <= (1 + EQUAL) * dt)
        second = _second_of_two(durations, short) if two_gaps else np.zeros(times.shape, bool)
        first = np.roll(second, -1, axis=1)
        steps = np.where(first | second, 1, 2 * halves)
        coarse_steps = np.where(first, 0, np.where(second, 1, halves))
        rough_steps = steps
        if rough is not None:
            fewest = np.ceil(durations / rough - 1e-9).astype(int)
            rough_steps = np.minimum(np.maximum(fewest, durations > 0), steps)
        before = np.roll(durations, 1, axis=1)
        each = np.stack([
            durations / np.maximum(steps, 1),
            np.where(second, durations + before, durations) / np.maximum(coarse_steps, 1),
            durations / np.maximum(rough_steps, 1),
        ])  # fmt: skip
        lengths, which = _distinct(each)
        fine = Leg(which[0], steps, starts)
        coarse = Leg(which[1], coarse_steps, np.where(second, starts - before, starts))
        derivatives = Leg(which[2], rough_steps, starts)
        own = np.broadcast_to(np.arange(times.shape[1]), times.shape)
        if comes is not None:
            own = np.pad(comes, ((0, 0), (0, times.shape[1] - count)), constant_values=-1)
        stops = Stops(fine, coarse, derivatives, visited & ~first, visited, own)
        return cls(stops, np.tile(lengths, (len(times), 1)), np.full(len(times), most), entering)

    def window(self, index: int) -> Path:
        """Return the way of one window, without the leading axis."""
        return jax.tree.map(lambda part: part[index], self)


def _distinct(lengths: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the distinct ones among lengths (3, W, T), and which of them each is.

    There are a few of them, or as many as stops: so numbers of lengths do not make numbers of compiled programs.
    """
    unit = SAME * max(float(np.max(lengths)), 1e-300)
    _, places, which = np.unique(np.round(lengths / unit), return_index=True, return_inverse=True)
    if len(places) <= FEW_LENGTHS:
        places = np.resize(places, FEW_LENGTHS)
    else:
        places, which = np.arange(lengths.size), np.arange(lengths.size)
    return lengths.ravel()[places], which.reshape(lengths.shape)


def _second_of_two(durations: np.ndarray, short: np.ndarray) -> np.ndarray:
    """Mark the second of every two neighbouring gaps (W, T) that are short and equally long."""
    second = np.zeros(durations.shape, bool)
    for t in range(2, durations.shape[1]):
        equal = np.abs(durations[:, t] - durations[:, t - 1]) <= EQUAL * durations[:, t]
        second[:, t] = short[:, t] & short[:, t - 1] & equal & ~second[:, t - 1]
    return second
