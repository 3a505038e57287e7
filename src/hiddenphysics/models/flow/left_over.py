"""What a fitted flow leaves over at the measured points, and what terms that it lacks would have left."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.linalg import block_diag

from hiddenphysics.learning import HIGHEST, LeftOver, Progress, candidate_terms, term_label, term_scores
from hiddenphysics.models.flow.compressed import following
from hiddenphysics.models.flow.flow_task import FlowTask
from hiddenphysics.models.flow.learned import LearnedFlow
from hiddenphysics.models.flow.one_round import Round
from hiddenphysics.models.flow.sweep import folds
from hiddenphysics.models.flow.windows import Windows
from hiddenphysics.operators import Symbol
from hiddenphysics.snapshots import Snapshot

MOST_VALUES, MOST_FACTORS = 200_000, 300_000_000
"""Values that are looked at, and numbers of values times waves: a second or two. More points are drawn from at
random."""


MOST_SCORED, MOST_STOPS = 1500, 16
"""Values, and stops of all windows, up to which candidates are asked with the state's covariance: a second or two.
With more values than the state has waves it takes little of a term, and the left-overs as they are say the same."""


def left_over(learned: LearnedFlow, windows: Windows) -> list[list[LeftOver]]:
    """Return what is left over at every stop of every window; at some of the points where there are many."""
    stops = sum(len(window) for window in windows.windows)
    modes_count = int(np.prod(learned.features.grid.modes_shape))
    most = max(min(MOST_VALUES, MOST_FACTORS // modes_count) // stops, 1)
    found = []
    for number, window in enumerate(windows.windows):
        modes = learned.modes(number, window.times)
        own = learned.own_rates(number, modes, window.times)
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
    sensors = learned.sensors
    see = learned.eye(snapshot.points if sensors is None else sensors.true_places(snapshot.points))
    fitted, first, rates = see(modes), see(began), see(own)
    values, changes, terms, parts = {}, {}, {}, {}
    candidates = _candidates(learned, windows, see, modes)
    for field, (row, name) in enumerate(zip(windows.measured, windows.names, strict=True)):
        deviation = _deviation(learned, windows, name, snapshot)
        u = fitted[row]
        told = u if sensors is None else sensors.told(field, snapshot.points, u)
        values[name] = (snapshot[name] - told) / deviation
        changes[name] = (u - first[row]) / deviation
        if name in candidates:
            terms[name] = {text: column / deviation for text, column in candidates[name].items()}
            parts[name] = rates[:, row] / deviation
    return LeftOver(snapshot.t, snapshot.points, values, changes, terms, parts)


def _candidates(
    learned: LearnedFlow, windows: Windows, see: Callable[..., np.ndarray], modes: np.ndarray
) -> dict[str, dict[str, np.ndarray]]:
    """Field -> candidate -> (…, N), of modes (…, F, *modes), for fields of first order in time."""
    coordinates = learned.equation.coordinates
    fitted = np.moveaxis(see(modes), -2, 0)
    slopes = {
        (along, order): np.moveaxis(
            see(modes, Symbol(tuple(order * (along == other) for other in coordinates))), -2, 0
        )
        for along in coordinates
        for order in range(1, HIGHEST + 1)
    }
    made = {}
    for row, name in zip(windows.measured, windows.names, strict=True):
        if learned.equation.time_orders.get(name) == 1:
            own = {key: slope[row] for key, slope in slopes.items()}
            others = {windows.state[other]: fitted[other] for other in windows.measured if other != row}
            made[name] = candidate_terms(name, fitted[row], own, others)
    return made


class Rows(NamedTuple):
    """Derivatives of all values as the last round had them, in the state (W, T, G, r, K) and parameters (…, P).

    In units of the fields; r is as many points as the largest snapshot has, or a few more.
    """

    in_state: np.ndarray
    in_parameters: np.ndarray


def rows_of(task: FlowTask, last: Round) -> Rows | None:
    """Return the derivatives of the values that a round was made of; None where it has folded or rotated them."""
    seen, A, B = task.seen, np.asarray(last.linear.data.A), np.asarray(last.linear.data.B)
    count, stops, fields, rows = seen.values.shape
    if folds(seen, A.shape[2]) or task.windows.counts.max() > rows:
        return None
    weights = seen.weights[seen.which][:, :, None, :, None] * seen.scale[:, None, None]
    return Rows(*(part.reshape(count, stops, fields, rows, -1) / weights for part in (A, B)))


def scores(
    learned: LearnedFlow,
    windows: Windows,
    stops: list[list[LeftOver]],
    say: Progress,
    rows: Rows | None = None,
) -> dict[str, float] | None:
    """Return every candidate's coefficient in standard deviations, with all that the state may take of it taken away.

    Its column is the candidate along the fitted path, summed up since the window began: what a small term would add to
    the fields, were it not moved on itself. K⁻¹ of the linear model's values is what is left of them over the noise's
    variance, so the left-overs say all but how much of a column the state takes: its tangents tell that. Those of the
    last round, `rows`, are taken where there are such; else the features are moved once more.

    None where there are too many values or stops, something comes in from outside, or sensors have errors.
    """
    sizes = [sum(len(v) for v in stop.values.values()) for window in stops for stop in window]
    whole = windows.count == sum(sizes)
    if not whole or sum(sizes) > MOST_SCORED or len(sizes) > MOST_STOPS:
        return None
    if learned.program.outside or learned.sensors is not None:
        return None
    names, identity = windows.names, Symbol((0,) * len(learned.equation.coordinates))
    inverses, own, columns = [], [], []
    for number, window in enumerate(windows.windows):
        modes, times = learned.modes(number, window.times), np.asarray(window.times)
        A, B, G = [], [], []
        for k, snapshot in enumerate(window):
            say("asking for missing terms")
            deviations = {name: _deviation(learned, windows, name, snapshot) for name in names}
            along = _candidates(learned, windows, learned.eye(snapshot.points), modes[: k + 1])
            if rows is None:
                every = learned.linearised(number, snapshot.points, snapshot.t, identity)[1:]
                in_state, in_parameters = (np.moveaxis(part[:, windows.measured], 0, -1) for part in every)
            else:
                in_state, in_parameters = (part[number, k, :, : len(snapshot)] for part in rows)
            for row, name in enumerate(names):
                A.append(in_state[row] / deviations[name][:, None])
                B.append(in_parameters[row] / deviations[name][:, None])
                G.append({
                    (field, text): np.trapezoid(column, times[: k + 1], axis=0) / deviations[name]
                    if field == name
                    else np.zeros(len(snapshot))
                    for field, every in along.items()
                    for text, column in every.items()
                })  # fmt: skip
        root = np.concatenate(A) * np.sqrt(learned.belief.spectrum)
        inverses.append(_inverse(root))
        own.append(np.concatenate(B))
        columns.append({key: np.concatenate([part[key] for part in G]) for key in G[0]})
    candidates = {
        term_label(text, field, names): np.concatenate([each[field, text] for each in columns])
        for field, text in columns[0]
    }
    left = np.concatenate([stop.values[name] for window in stops for stop in window for name in names])
    return term_scores(block_diag(*inverses), left, np.concatenate(own), candidates)


def _inverse(root: np.ndarray) -> np.ndarray:
    """(1 + R Rᵀ)⁻¹ of R (N, K), by Woodbury's identity where it has fewer columns than rows."""
    values, features = root.shape
    if values <= features:
        return np.asarray(np.linalg.inv(np.eye(values) + root @ root.T))
    inner = np.linalg.solve(np.eye(features) + root.T @ root, root.T)
    return np.asarray(np.eye(values) - root @ inner)


def _deviation(learned: LearnedFlow, windows: Windows, name: str, snapshot: Snapshot) -> np.ndarray:
    """(N,) of the noise of every value of a field."""
    size = windows.units[windows.names.index(name)]
    known = snapshot.stds.get(name, np.zeros(len(snapshot)))
    return np.sqrt(learned.belief.noise * size**2 + known**2) / following(windows, snapshot.points)
