"""Several measurements at one point and time: their mean stands for them, with the weight of their number.

A value that was measured k times has the noise σ²/k. What a fit learns is one σ² for all values of a field, to which
the known variances u_std² add; so values that were measured less often than the most frequent ones get the rest as a
known variance, s² (1/k − 1/K) with K the largest number and s² the spread among the replicates, pooled over all points:

    s² = Σ (v − mean at its point)² / Σ (k − 1).

The learned noise is then that of the values that were measured most often. Where all were measured equally often there
is nothing to add, and the same holds where replicates do not differ: such rows are copies, and tell nothing new.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from hiddenphysics.snapshots.columns import deviation_name, is_deviation
from hiddenphysics.snapshots.sentences import names, number, plural
from hiddenphysics.snapshots.validation import Missing

Columns = dict[str, NDArray[np.float64]]


def averages(
    snapshots: Sequence[Columns], coordinates: tuple[str, ...], missing: Missing
) -> tuple[list[Columns], str]:
    """Average the rows of each snapshot that lie at one point.

    Parameters
    ----------
    snapshots
        For each time the columns (n,): coordinates, fields, known deviations.
    coordinates
        Names of those that say where.
    missing
        With ``"drop"``, rows with NaN or infinity are left out of the means.

    Returns
    -------
    list, str
        The columns with every point once, in the order of its first row, and a sentence on what was done, "" where
        every point came once already.
    """
    if not any(_repeats(columns, coordinates) for columns in snapshots):
        return list(snapshots), ""
    if missing == "drop":
        snapshots = [_finite(columns) for columns in snapshots]
    groups = [_groups(columns, coordinates) for columns in snapshots]
    counts = [np.bincount(group) for group in groups]
    most, least = max(int(k.max()) for k in counts), min(int(k.min()) for k in counts)
    fields = [
        name
        for name in snapshots[0]
        if name not in (*coordinates, "t") and not is_deviation(name, snapshots[0])
    ]
    spread = {f: _pooled([(c[f], g) for c, g in zip(snapshots, groups, strict=True)]) for f in fields}
    uneven = [f for f in fields if most > least and spread[f] > 0]
    needed = [f for f in fields if f in uneven or deviation_name(f) in snapshots[0]]
    averaged = [
        _means(columns, coordinates, group, k, {f: spread[f] * (1.0 / k - 1.0 / most) for f in needed})
        for columns, group, k in zip(snapshots, groups, counts, strict=True)
    ]
    several = sum(int((k > 1).sum()) for k in counts)
    told = names(f"{f} {number(spread[f] ** 0.5)}" for f in fields)
    weights = " Values measured less often got a known error that makes up for it." if uneven else ""
    note = (
        f"{plural(several, 'point')} had {'' if least == most else 'up to '}{most} measurements at one time, which were"
        f" averaged; one measurement scatters by {told}, and the learned noise is that of means of {most}.{weights}"
    )
    return averaged, note


def _repeats(columns: Columns, coordinates: tuple[str, ...]) -> bool:
    points = np.stack([columns[name] for name in coordinates])
    order = np.lexsort(points)
    return bool((points[:, order[1:]] == points[:, order[:-1]]).all(axis=0).any())


def _finite(columns: Columns) -> Columns:
    kept = np.logical_and.reduce([np.isfinite(column) for column in columns.values()])
    return {name: column[kept] for name, column in columns.items()} if kept.any() else columns


def _groups(columns: Columns, coordinates: tuple[str, ...]) -> NDArray[np.intp]:
    """Return for each row the number of its point; points are counted in the order of their first rows."""
    points = np.stack([columns[name] for name in coordinates], axis=1)
    _, first, inverse = np.unique(points, axis=0, return_index=True, return_inverse=True)
    rank = np.empty(len(first), dtype=np.intp)
    rank[np.argsort(first)] = np.arange(len(first))
    return rank[inverse.reshape(-1)]


def _pooled(parts: Sequence[tuple[NDArray[np.float64], NDArray[np.intp]]]) -> float:
    """Return the variance of single measurements around the means of their points."""
    squares, freedom = 0.0, 0
    for values, group in parts:
        counts = np.bincount(group)
        means = np.bincount(group, values) / counts
        squares += float(np.sum((values - means[group])[counts[group] > 1] ** 2))
        freedom += int((counts - 1).sum())
    return squares / freedom if freedom else 0.0


def _means(
    columns: Columns,
    coordinates: tuple[str, ...],
    group: NDArray[np.intp],
    counts: NDArray[np.intp],
    known: dict[str, NDArray[np.float64]],
) -> Columns:
    """Return every point once, with the mean of its rows; `known` is a variance (N,) for fields that need one."""
    first = np.unique(group, return_index=True)[1]
    means = {
        name: column[first] if name in coordinates else np.bincount(group, column) / counts
        for name, column in columns.items()
    }
    for field, variance in known.items():
        own = columns.get(deviation_name(field))
        # Of the mean of independent values: their variances add, and are divided by k².
        added = 0.0 if own is None else np.bincount(group, own**2) / counts**2
        means[deviation_name(field)] = np.sqrt(variance + added)
    return means
