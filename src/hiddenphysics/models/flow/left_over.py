"""What a fitted flow leaves over at the measured points, and what terms that it lacks would have left."""

from __future__ import annotations

import numpy as np

from hiddenphysics.learning import LeftOver
from hiddenphysics.models.flow.learned import LearnedFlow
from hiddenphysics.models.flow.windows import Windows
from hiddenphysics.operators import Symbol
from hiddenphysics.snapshots import Snapshot

MOST_VALUES, MOST_FACTORS = 200_000, 300_000_000
"""Values that are looked at, and numbers of values times waves: a second or two. More points are drawn from at
random."""

HIGHEST = 4
"""Order of the highest derivative that is thought of."""


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
    coordinates, sensors = learned.equation.coordinates, learned.sensors
    see = learned.eye(snapshot.points if sensors is None else sensors.true_places(snapshot.points))
    fitted, first, rates = see(modes), see(began), see(own)
    slopes = {
        (d, order): see(modes, Symbol(tuple(order if d == e else 0 for e in range(len(coordinates)))))
        for d in range(len(coordinates))
        for order in range(1, HIGHEST + 1)
    }
    values, changes, terms, parts = {}, {}, {}, {}
    for field, (row, name, size) in enumerate(
        zip(windows.measured, windows.names, windows.units, strict=True)
    ):
        deviation = np.sqrt(learned.belief.noise * size**2 + snapshot.stds.get(name, 0.0) ** 2)
        u = fitted[row]
        told = u if sensors is None else sensors.told(field, snapshot.points, u)
        values[name] = (snapshot[name] - told) / deviation
        changes[name] = (u - first[row]) / deviation
        if learned.equation.time_orders.get(name) == 1:
            every = {name: u, f"{name}^2": u**2, f"{name}^3": u**3, "a constant": np.ones_like(u)}
            for (d, order), slope in slopes.items():
                text = f"{name}_{coordinates[d] * order}"
                every[text] = slope[row]
                if order == 1:
                    every[f"{name}*{text}"] = u * slope[row]
            others = (other for other in windows.measured if other != row)
            every |= {windows.state[other]: fitted[other] for other in others}
            terms[name] = {text: column / deviation for text, column in every.items()}
            parts[name] = rates[:, row] / deviation
    return LeftOver(snapshot.t, snapshot.points, values, changes, terms, parts)
