"""A state carried over from one box into another."""

from __future__ import annotations

import numpy as np

from hiddenphysics.gaussian import posterior, reduce
from hiddenphysics.models.flow.domain import Domain
from hiddenphysics.models.flow.processes import levels_of
from hiddenphysics.models.flow.windows import Windows
from hiddenphysics.priors import Prior

EXACT = 1e-8
"""Noise variance, relative to the field's, with which the new waves are made to follow the old ones."""

MOST_CARRIED = 2000
"""Values of fields that are tied together, and so carried over all at once: a covariance of them takes a second."""

MARGIN = 0.25
"""Part of the old padding, on each side, whose values are carried over."""


def carry_over(
    windows: Windows,
    prior: Prior,
    theta: np.ndarray,
    z: np.ndarray,
    parameters: np.ndarray,
    old: Domain,
    new: Domain,
) -> np.ndarray:
    """Amplitudes (W, …) in the new box of the fields that z (W, …) are in the old one, around the data.

    What comes in from outside is forgotten; the next round finds it again.
    """
    points = _points(windows, old, new)
    if old.program.means:
        return _carry_tied(windows, prior, theta, z, parameters, old, new, points)
    fields = len(windows.state)
    values = old.values_at(z, parameters, points)
    level = np.zeros(len(prior.blocks))
    spectrum = np.asarray(prior.spectrum(theta, new.features.omega, new.features.measure, level))
    spectrum = spectrum[: len(prior.blocks) * new.features.count].reshape(len(prior.blocks), -1)
    block = {row: g for g, group in enumerate(new.program.groups) for row in group.rows}
    carried = np.empty((len(z), fields, new.features.count))
    for f, size in enumerate(windows.sizes):
        A, y = new.field_envelopes[f].basis(new.features, points), values[:, f]
        data = reduce(A, np.zeros((*y.shape, 0)), y, np.asarray(float(y.size)))
        carried[:, f] = np.asarray(posterior(data, spectrum[block[f]], np.asarray(EXACT * size**2))[0])
    return new.begun(carried, parameters, windows.times.shape[1])


def _carry_tied(
    windows: Windows,
    prior: Prior,
    theta: np.ndarray,
    z: np.ndarray,
    parameters: np.ndarray,
    old: Domain,
    new: Domain,
    points: np.ndarray,
) -> np.ndarray:
    """Carry over fields that are tied together, all at once: each by itself they would not be tied in the new padding.

    What a projection takes away there it takes away around the data, too: clean values of the wake were left 0.027 of
    their size off, ten times as far as before (18 November 2026).
    """
    most = MOST_CARRIED // len(windows.state)
    if len(points) > most:
        points = points[np.sort(np.random.default_rng(0).choice(len(points), most, replace=False))]
    sizes = windows.sizes[:, None]
    A = new.tied_rows(points, parameters)
    A = (A / sizes[..., None]).reshape(-1, A.shape[-1])
    y = (old.values_at(z, parameters, points) / sizes).reshape(len(z), -1)
    spectrum = np.asarray(
        prior.spectrum(theta, new.features.omega, new.features.measure, levels_of(prior, windows))
    )[new.state_columns]
    each = np.broadcast_to(A, (len(z), *A.shape))
    data = reduce(each, np.zeros((*y.shape, 0)), y, np.asarray(float(y.size)))
    made = np.asarray(posterior(data, spectrum, np.asarray(EXACT))[0])
    return new.begun_tied(made, windows.times.shape[1])


def _points(windows: Windows, old: Domain, new: Domain) -> np.ndarray:
    """Points of the old grid around the data, inside both boxes."""
    grid = np.stack([axis.ravel() for axis in old.features.grid.points()], axis=1)
    region = windows.region
    low, high = region.low.copy(), region.high.copy()
    for d in range(len(low)):
        (a, b), (c, e) = old.features.grid.box[d], new.features.grid.box[d]
        low[d] = max(low[d] - MARGIN * (low[d] - a), c)
        high[d] = min(high[d] + MARGIN * (b - high[d]), e)
    return grid[np.all((grid >= low) & (grid <= high), axis=1)]
