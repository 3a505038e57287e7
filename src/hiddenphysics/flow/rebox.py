"""A state carried over from one box to another."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np

from hiddenphysics.flow.linear import posterior, reduce
from hiddenphysics.flow.prior import Prior
from hiddenphysics.flow.start import Setting
from hiddenphysics.flow.task import Task

EXACT = 1e-8
"""Noise variance, relative to the field's, with which the new waves are made to follow the old ones."""

MARGIN = 0.25
"""Part of the old padding, on each side, whose values are carried over."""


def carry_over(
    task: Task, prior: Prior, theta: np.ndarray, z: np.ndarray, old: Setting, new: Setting
) -> np.ndarray:
    """Amplitudes (W, F·K') in the new box of the fields that z (W, F·K) are in the old one, around the data."""
    points = _points(task, old, new)
    amplitudes = z.reshape(len(z), len(prior.latents), -1)
    spectrum = np.asarray(
        prior.spectrum(
            jnp.asarray(theta), new.features.omega, new.features.measure, np.zeros(len(prior.latents))
        )
    ).reshape(len(prior.latents), -1)
    found = np.empty((len(z), len(prior.latents), new.features.count))
    for f, size in enumerate(task.sizes):
        y = np.einsum("wnk,wk->wn", old.envelopes[f].basis(old.features, points), amplitudes[:, f])
        A = new.envelopes[f].basis(new.features, points)
        data = reduce(jnp.asarray(A), jnp.zeros((*y.shape, 0)), jnp.asarray(y), jnp.asarray(float(y.size)))
        found[:, f] = np.asarray(posterior(data, jnp.asarray(spectrum[f]), jnp.asarray(EXACT * size**2))[0])
    return found.reshape(len(z), -1)


def _points(task: Task, old: Setting, new: Setting) -> np.ndarray:
    """Points of the old grid around the data, inside both boxes."""
    grid = np.stack([axis.ravel() for axis in old.features.grid.points()], axis=1)
    region = task.region
    low, high = region.low.copy(), region.high.copy()
    for d in range(len(low)):
        (a, b), (c, e) = old.features.grid.box[d], new.features.grid.box[d]
        low[d] = max(low[d] - MARGIN * (low[d] - a), c)
        high[d] = min(high[d] + MARGIN * (b - high[d]), e)
    return grid[np.all((grid >= low) & (grid <= high), axis=1)]
