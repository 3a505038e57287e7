"""What a fitted flow leaves over at the measured points, and what terms that it lacks would have left."""

from __future__ import annotations

import numpy as np

from hiddenphysics.learning import HIGHEST, LeftOver, candidate_terms
from hiddenphysics.models.flow.learned import LearnedFlow
from hiddenphysics.models.flow.windows import Windows
from hiddenphysics.operators import Symbol
from hiddenphysics.snapshots import Snapshot

MOST_VALUES, MOST_FACTORS = 200_000, 300_000_000
"""Values that are looked at, and numbers of values times waves: a second or two. More points are drawn from at
random."""


def left_over(learned: LearnedFlow, windows: Windows) -> list[list[LeftOver]]:
    """Return what is left over at every stop of every window; at some of the points where there are many."""
    stops = sum(len(window) for window in windows.windows)
    modes_count = int(np.prod(learned.features.grid.modes_shape))
    most = max(min(MOST_VALUES, MOST_FACTORS // modes_count) // stops, 1)
    found = []
    for number, window in enumerate(windows.windows):
        modes = learned.modes(number, window.times)
        own = learned.own_rates(modes, window.times)
        found.append(
            [
                _at_stop(learned, windows, snapshot.sample(most, seed=0), modes[k], modes[0], own[:, k])
                for k, snapshot in enumerate(window)
            ]
        )
    return found


def _at_stop(
    learned: LearnedFlow,
    windows: Windows,
    snapshot: Snapshot,
    modes: np.ndarray,
    began: np.ndarray,
    own: np.ndarray,
) -> LeftOver:
    """Compare one snapshot with the modes (F, *modes) of the state, and these with those of the window's beginning.

    The parameters' parts of the state's rate are `own`, modes (P, F, *modes).
    """
    coordinates = learned.equation.coordinates
    see = learned.eye(snapshot.points)
    fitted, first, rates = see(modes), see(began), see(own)
    slopes = {
        (along, order): see(modes, Symbol(tuple(order * (along == other) for other in coordinates)))
        for along in coordinates
        for order in range(1, HIGHEST + 1)
    }
    values, changes, terms, parts = {}, {}, {}, {}
    for row, name, size in zip(windows.measured, windows.names, windows.units, strict=True):
        deviation = np.sqrt(learned.belief.noise * size**2 + snapshot.stds.get(name, 0.0) ** 2)
        u = fitted[row]
        values[name] = (snapshot[name] - u) / deviation
        changes[name] = (u - first[row]) / deviation
        if learned.equation.time_orders.get(name) == 1:
            own_slopes = {key: slope[row] for key, slope in slopes.items()}
            others = {windows.state[other]: fitted[other] for other in windows.measured if other != row}
            every = candidate_terms(name, u, own_slopes, others)
            terms[name] = {text: column / deviation for text, column in every.items()}
            parts[name] = rates[:, row] / deviation
    return LeftOver(snapshot.t, snapshot.points, values, changes, terms, parts)
