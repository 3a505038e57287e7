"""The limit of accuracy: how well a pair of snapshots could tell the parameters if it were noisy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from hiddenphysics.snapshots import Snapshots

if TYPE_CHECKING:  # importing the flow takes seconds, which only workers should pay
    from hiddenphysics.flow import FlowFit

Bounds = dict[str, dict[str, float]]
"""Noise level, written by `level_name`, -> parameter -> standard deviation."""


def level_name(noise: float) -> str:
    """Write a noise level as a key of JSON.

    >>> level_name(0.05)
    '0.05'
    """
    return f"{noise:g}"


def spread_of(pair: Snapshots) -> dict[str, float]:
    """Return the standard deviation of each field over a pair: what `Snapshots.with_noise` is relative to."""
    return {f: float(np.std(np.concatenate([s[f] for s in pair]))) for f in pair.fields}


def bounds(fit: FlowFit, pair: Snapshots, spread: Mapping[str, float], noises: Sequence[float]) -> Bounds:
    """Return the Cramér–Rao standard deviation of every parameter at every noise level.

    No unbiased estimate has a smaller covariance than (BᵀK⁻¹B)⁻¹, where K = A S Aᵀ + diag(σ²), A and B are the
    derivatives of the data in the state and in the parameters, and S is the prior's spectrum. A clean fit knows A, B
    and S best, so they are taken from it, and σ from the level that is asked for.

    Parameters
    ----------
    fit
        A fit to the clean pair.
    pair
        The snapshots that it saw.
    spread
        Standard deviation of every field over the whole pair, before points were drawn: noise is relative to it.
    noises
        Levels, each as a share of the spread.

    Returns
    -------
    Bounds
        Levels without a finite bound are left out. All are where several fields have noises of their own and there
        are more values than waves: the fit has rotated the values then, and no longer knows which field each came from.
    """
    ratios = [spread[field] / unit for field, unit in fit.units.items()]
    rows = _per_row(ratios, pair)
    if len(ratios) > 1 and len(rows) != fit.belief.A.shape[1]:
        return {}
    found: Bounds = {}
    for noise in noises:
        variances = (noise * (rows if len(ratios) > 1 else ratios[0])) ** 2
        deviations = np.sqrt(np.diagonal(fit.belief.bound(variances)))
        if np.all(np.isfinite(deviations)):
            found[level_name(noise)] = dict(zip(fit.equation.parameters, deviations.tolist(), strict=True))
    return found


def _per_row(ratios: Sequence[float], pair: Snapshots) -> np.ndarray:
    """Give every value its field's ratio; values stand by snapshot, field, point, short snapshots are padded."""
    longest = max(len(snapshot) for snapshot in pair)
    return np.tile(np.repeat(np.asarray(ratios), longest), len(pair))
