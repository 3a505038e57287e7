"""Which processes carry a state, by name: of fields, of fields that are tied together, of what comes from outside."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from hiddenphysics.equation import Equation
from hiddenphysics.models.flow.windows import Windows
from hiddenphysics.priors import FINE, Kernel, Prior, SquaredExponential
from hiddenphysics.spectral import groups_of

OUTSIDE, OUTSIDE_SIZE = ".outside", 0.1
"""Name, and first size relative to the field's, of what comes in from outside at every stop."""

LONGER, SHORTER, LESS = 1.2, 0.6, 0.05
"""Where two scales begin: factors on the length that a single one has found, and the finer one's part of the
variance."""


def group_names(equation: Equation) -> tuple[str, ...]:
    """Return a name for every group of fields: the field's own, or those of all that are tied together."""
    state = equation.system.state
    return tuple(",".join(state[row] for row in group.rows) for group in groups_of(equation))


def has_outside(prior: Prior) -> bool:
    """Whether something comes in from outside."""
    return bool(is_outside(prior).any())


def is_outside(prior: Prior) -> np.ndarray:
    """(L,) which latents are what comes in from outside."""
    return np.array([name.endswith(OUTSIDE) for name, _ in prior.latents])


def own_lengths(prior: Prior, theta: np.ndarray) -> np.ndarray:
    """Lengths (L, D) of the latents; what comes in from outside, read at places of its own, takes the shortest."""
    lengths, inside = prior.lengths(theta), ~is_outside(prior)
    return np.where(inside[:, None], lengths, lengths[inside].min(axis=0))


def is_fine(prior: Prior) -> np.ndarray:
    """(L,) which latents are a second, finer scale."""
    return np.array([name.endswith(FINE) for name, _ in prior.latents])


def sizes_of(prior: Prior, windows: Windows) -> np.ndarray:
    """(L,) sizes of what every latent is a process of: a field, fields together, what comes into them."""
    sizes = {
        name: float(np.linalg.norm(windows.sizes[list(group.rows)]))
        for name, group in zip(group_names(windows.equation), groups_of(windows.equation), strict=True)
    }
    return np.array([sizes[name.removesuffix(FINE).removesuffix(OUTSIDE)] for name, _ in prior.latents])


def relative_sizes(prior: Prior, theta: np.ndarray, windows: Windows) -> np.ndarray:
    """(L,) variances of the latents in a vector, in units of what they are processes of."""
    return np.asarray(np.exp(theta[prior.is_variance]) / sizes_of(prior, windows) ** 2)


def levels_of(prior: Prior, windows: Windows) -> np.ndarray:
    """(blocks + means,) variances of unknown constants.

    Of a measured field the square of its mean, 0 of others. Fields that are tied together have means that no process
    knows of: these are as free as the fields are large.
    """
    means = dict(zip(windows.measured, windows.means, strict=True))
    level = np.zeros(len(prior.blocks) + prior.means)
    if windows.walls is not None and not windows.walls.has_level:
        return level
    further = len(prior.blocks)
    for block, group in enumerate(groups_of(windows.equation)):
        tied = group.free < len(group.rows)
        each = [means.get(row, 0.0) ** 2 + tied * windows.sizes[row] ** 2 for row in group.rows]
        level[block] = max(each)
        more = len(group.rows) - group.free
        level[further : further + more] = max(each)
        further += more
    return level


def joint_prior(
    windows: Windows, each: Mapping[int, tuple[Kernel, np.ndarray]], noise: float
) -> tuple[Prior, np.ndarray]:
    """Put the priors of fields together: row of the state -> kernel, (log variance, log lengths) in natural units.

    Velocities that are tied together are derivatives of one potential, on two scales: a stream that fills the data's
    region, and eddies on it. Log noise variance is last in the vector.
    """
    equation = windows.equation
    latents: list[tuple[str, Kernel]] = []
    numbers: list[np.ndarray] = []
    potentials: list[str] = []
    means = 0
    for name, group in zip(group_names(equation), groups_of(equation), strict=True):
        kernel, theta = each[group.rows[0]]
        if group.free == len(group.rows):
            latents.append((name, kernel))
            numbers.append(theta)
            continue
        seen = [each[row][1] for row in group.rows if row in windows.measured] or [theta]
        power = np.log(np.sum([np.exp(each[row][1][0]) for row in group.rows]))
        lengths = np.mean([one[1:] for one in seen], axis=0) + 0.5 * np.log(2.0)
        scales = {name: (LONGER, 1 - LESS), name + FINE: (SHORTER, LESS)}
        for latent, (factor, part) in scales.items():
            latents.append((latent, kernel))
            potentials.append(latent)
            numbers.append(np.append(power + np.log(part), lengths + np.log(factor)))
        means += len(group.rows) - group.free
    prior = Prior(tuple(latents), equation.coordinates, tuple(potentials), means)
    return prior, np.append(np.concatenate(numbers), noise)


def with_outside(prior: Prior, theta: np.ndarray) -> tuple[Prior, np.ndarray]:
    """Return the prior with a further process for what comes into each block: a tenth of its size, to begin with."""
    numbers, latents = [], []
    vectors = zip(prior.latents, theta[prior.is_variance], np.log(prior.lengths(theta)), strict=True)
    for (name, _), variance, lengths in vectors:
        if not name.endswith(FINE):
            latents.append((name + OUTSIDE, SquaredExponential()))
            numbers += [variance + np.log(OUTSIDE_SIZE**2), *lengths]
    joined = replace(prior, latents=(*prior.latents, *latents))
    return joined, np.concatenate([theta[:-1], numbers, theta[-1:]])
