"""Sampling: the No-U-Turn sampler, and whether its chains agree.

Hoffman & Gelman (2014), J. Mach. Learn. Res. 15, 1593, algorithm 6; Vehtari et al. (2021), Bayesian Analysis 16, 667,
for R-hat. Distances are measured by the curvature at the optimum, so that a normal posterior is a ball.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

Density = Callable[[np.ndarray], tuple[float, np.ndarray]]
"""Vector (D,) -> log density, up to a constant, and its gradient (D,)."""

TARGET = 0.8
"""Mean acceptance that the step is tuned for."""
DEEPEST = 6
"""Doublings of a path at most: 64 steps, where three or seven are the rule in a ball."""
LOST = 1000.0
"""A fall of the log density beyond which a path has diverged."""
AGREED = 1.01
"""R-hat up to which chains agree."""


FACTOR = 3.0
"""Deviation of the prior of a logarithm, where there is no other."""
STENCIL = 0.05
"""Distance of the slopes from which the curvature is taken, in deviations of parameters, or of a logarithm."""


class Posterior(NamedTuple):
    """What may be sampled: parameters first, then logarithms of the prior's numbers.

    Attributes
    ----------
    density
        Of all of them.
    optimum
        (D,).
    covariance
        Of the P parameters as the optimum's curvature tells it, (P, P), or of all.
    """

    density: Density
    optimum: np.ndarray
    covariance: np.ndarray

    def proper(self, count: int, bounds: np.ndarray) -> tuple[Density, np.ndarray]:
        """Return a density that can be sampled, and the covariance around its optimum, from its own slopes.

        The first `count` numbers are flat within bounds (count, 2). The others are logarithms, and normal around the
        optimum, within a factor of e^3: data that say nothing of a length would let it wander off for ever.
        """
        others = np.arange(self.optimum.size) >= count
        scale = np.where(others, STENCIL, 1.0)
        deviations = np.sqrt(np.diagonal(self.covariance))[:count]
        scale[:count] = STENCIL * np.where(np.isfinite(deviations) & (deviations > 0), deviations, 1.0)

        def density(vector: np.ndarray) -> tuple[float, np.ndarray]:
            if np.any(vector[:count] < bounds[:, 0]) or np.any(vector[:count] > bounds[:, 1]):
                return -np.inf, np.zeros_like(vector)
            value, slope = self.density(vector)
            if not (np.isfinite(value) and np.all(np.isfinite(slope))):  # nothing can be factored there
                return -np.inf, np.zeros_like(vector)
            away = np.where(others, (vector - self.optimum) / FACTOR**2, 0.0)
            return value - 0.5 * float(away @ away) * FACTOR**2, slope - away

        hessian = np.stack([
            (density(self.optimum - move)[1] - density(self.optimum + move)[1]) / 2 for move in np.diag(scale)
        ]) / scale[:, None]  # fmt: skip
        unit = np.where(others, 1.0, scale / STENCIL)
        curvatures, axes = np.linalg.eigh(0.5 * (hessian + hessian.T) * np.outer(unit, unit))
        safe = np.maximum(curvatures, FACTOR**-2)
        return density, (axes / safe) @ axes.T * np.outer(unit, unit)


class Sampled(NamedTuple):
    """What chains have drawn.

    Attributes
    ----------
    draws
        (C, S, D).
    r_hat
        (D,), of the halves of all chains, rank-normalised; 1 where they agree.
    diverged
        Paths after the warm-up that were lost.
    """

    draws: np.ndarray
    r_hat: np.ndarray
    diverged: int


class _Place(NamedTuple):
    q: np.ndarray
    p: np.ndarray
    value: float
    slope: np.ndarray

    @property
    def energy(self) -> float:
        return self.value - 0.5 * float(self.p @ self.p)


class _Tree(NamedTuple):
    left: _Place
    right: _Place
    chosen: _Place
    inside: int
    going: bool
    accepted: float
    steps: int
    lost: bool


def sample(
    density: Density,
    optimum: np.ndarray,
    covariance: np.ndarray,
    *,
    chains: int,
    warm: int,
    draws: int,
    seed: int,
    check: Callable[[str], None],
) -> Sampled:
    """Draw from a density around its optimum.

    Parameters
    ----------
    covariance
        (D, D) of the normal approximation there, positive definite.
    chains, warm, draws
        Chains, and of each draws that tune its step, and that are kept.
    check
        Called with a sentence before every draw; it may raise.
    """
    root = np.linalg.cholesky(covariance)

    def whitened(q: np.ndarray) -> tuple[float, np.ndarray]:
        value, slope = density(optimum + root @ q)
        good = np.isfinite(value) and np.all(np.isfinite(slope))
        return (float(value), root.T @ slope) if good else (-np.inf, np.zeros_like(q))

    kept = np.zeros((chains, draws, optimum.size))
    diverged = 0
    for chain in range(chains):
        random = np.random.default_rng([seed, chain])
        start = random.standard_normal(optimum.size)
        while not np.isfinite(whitened(start)[0]):
            start = 0.5 * start
        path, step = start, _DualAverage(1.0)
        for number in range(warm + draws):
            check(f"sampling, chain {chain + 1} of {chains}, draw {number + 1} of {warm + draws}")
            warming = number < warm
            path, accepted, lost = _draw(whitened, path, step.now if warming else step.mean, random)
            if warming:
                step.learn(accepted)
            else:
                kept[chain, number - warm] = optimum + root @ path
                diverged += lost
    return Sampled(kept, np.array([r_hat(kept[:, :, d]) for d in range(optimum.size)]), diverged)


class _DualAverage:
    """The step by dual averaging: γ = 0.05, t₀ = 10, κ = 0.75, as in section 3.2.1."""

    def __init__(self, first: float) -> None:
        self.now = self.mean = first
        self._bias, self._error, self._count = np.log(10 * first), 0.0, 0

    def learn(self, accepted: float) -> None:
        """Take the acceptance of one draw into account."""
        self._count += 1
        part = 1 / (self._count + 10)
        self._error = (1 - part) * self._error + part * (TARGET - accepted)
        self.now = float(np.exp(self._bias - np.sqrt(self._count) / 0.05 * self._error))
        weight = self._count**-0.75
        self.mean = float(np.exp(weight * np.log(self.now) + (1 - weight) * np.log(self.mean)))


def _draw(
    density: Density, q: np.ndarray, step: float, random: np.random.Generator
) -> tuple[np.ndarray, float, bool]:
    """Return the next position, the mean acceptance on the way, and whether the path was lost."""
    value, slope = density(q)
    begin = _Place(q, random.standard_normal(q.size), value, slope)
    level = begin.energy - random.exponential()
    tree = _Tree(begin, begin, begin, 1, going=True, accepted=0.0, steps=0, lost=False)
    for depth in range(DEEPEST):
        forward = random.random() < 0.5
        edge = tree.right if forward else tree.left
        part = _built(density, edge, level, begin.energy, step if forward else -step, depth, random)
        chosen = tree.chosen
        if part.going and random.random() < part.inside / tree.inside:
            chosen = part.chosen
        left, right = (tree.left, part.right) if forward else (part.left, tree.right)
        tree = _Tree(
            left,
            right,
            chosen,
            tree.inside + part.inside,
            part.going and _straight(left, right),
            tree.accepted + part.accepted,
            tree.steps + part.steps,
            tree.lost or part.lost,
        )
        if not tree.going:
            break
    return tree.chosen.q, tree.accepted / max(tree.steps, 1), tree.lost


def _built(
    density: Density,
    edge: _Place,
    level: float,
    first: float,
    step: float,
    depth: int,
    random: np.random.Generator,
) -> _Tree:
    """Build a tree of 2^depth leapfrog steps from an edge."""
    if depth == 0:
        now = _leapfrog(density, edge, step)
        gain = now.energy - first if np.isfinite(now.value) else -np.inf
        lost = not now.energy > level - LOST
        accepted = float(np.exp(min(0.0, gain)))
        return _Tree(now, now, now, int(level <= now.energy), not lost, accepted, 1, lost)
    one = _built(density, edge, level, first, step, depth - 1, random)
    if not one.going:
        return one
    two = _built(density, one.right if step > 0 else one.left, level, first, step, depth - 1, random)
    left, right = (one.left, two.right) if step > 0 else (two.left, one.right)
    total = one.inside + two.inside
    chosen = two.chosen if random.random() < two.inside / max(total, 1) else one.chosen
    return _Tree(
        left,
        right,
        chosen,
        total,
        two.going and _straight(left, right),
        one.accepted + two.accepted,
        one.steps + two.steps,
        one.lost or two.lost,
    )


def _leapfrog(density: Density, at: _Place, step: float) -> _Place:
    half = at.p + 0.5 * step * at.slope
    q = at.q + step * half
    value, slope = density(q)
    return _Place(q, half + 0.5 * step * slope, value, slope)


def _straight(left: _Place, right: _Place) -> bool:
    """Whether neither end of a path turns back to the other."""
    way = right.q - left.q
    return bool(way @ left.p >= 0 and way @ right.p >= 0)


def r_hat(draws: np.ndarray) -> float:
    """Return rank-normalised split R-hat of chains (C, S): the larger of that of the draws and of their distances."""
    half = draws.shape[1] // 2
    split = np.concatenate([draws[:, :half], draws[:, half : 2 * half]])
    folded = np.abs(split - np.median(split))
    return max(_spread_ratio(_normalised(split)), _spread_ratio(_normalised(folded)))


def _normalised(draws: np.ndarray) -> np.ndarray:
    from scipy.special import ndtri  # half a second to import with the next, for chains alone
    from scipy.stats import rankdata

    ranks = rankdata(draws, method="average").reshape(draws.shape)
    return np.asarray(ndtri((ranks - 0.375) / (draws.size + 0.25)))


def _spread_ratio(draws: np.ndarray) -> float:
    count = draws.shape[1]
    within = float(np.mean(np.var(draws, axis=1, ddof=1)))
    between = float(count * np.var(np.mean(draws, axis=1), ddof=1))
    return float(np.sqrt(((count - 1) / count * within + between / count) / within)) if within > 0 else 1.0
