"""A first guess of the parameters from a whole recording on a grid, at any noise: regression on the weak form."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import sympy
from scipy.linalg import cho_factor, cho_solve

from hiddenphysics.equation import Equation, evaluate_by_name, parameter
from hiddenphysics.learning.bumps import LEAST_RADIUS, MOST_DERIVATIVES, GridAxis
from hiddenphysics.learning.first_guess import Guess
from hiddenphysics.learning.regression import Rows, Solution, Whitening, natural_steps, solve
from hiddenphysics.learning.weak_form import WeakForm
from hiddenphysics.learning.weak_integrals import BlockIntegrals, NoisyRecording

WIDEST = 0.2
"""Radius of the widest bumps, as a part of the recording, …"""
WIDEST_AT_LEAST = 12.0
"""… and in steps of the grid: without noise, sums over narrower ones are the largest errors, 3e-5 of a parameter."""
GAIN = 0.05
"""By how much deviations must shrink, in the mean, for narrower bumps to be worth their time."""
CORRECTIONS = 3
"""Rounds of the regression that starts the search: on four recordings at 100 % noise the first was off up to a factor
of forty, the second by a quarter."""
STEPS = 20
NEAR = 0.02
"""A search ends where steps are below this part of the deviations."""
NUGGET = 1e-6
"""Added to covariances, relative to their diagonal: overlapping bumps make them near singular."""
FAINT = 0.05
"""The least part of the squares of a column that counts as no noise in a step, so that it stays within reason, …"""
UNTOLD = 1e-3
"""… and in the covariance: where data tell nothing of a parameter, its deviation is to say so."""
CHANCE = 2.0
"""Deviations by which mean squares of noise may be larger by chance than expected."""
SAME = 1e-10
"""Columns whose correlation is this near to 1 are the same: their parameters cannot be told apart."""
APART = 5.0
"""In deviations: other local minima that are nearer are the same one, seen by the regression that starts the search."""
EVEN = 1e-6
"""How equal the steps of a grid must be, relative to themselves."""


@dataclass(frozen=True)
class WeakGuess:
    """A first guess that knows its own errors.

    Attributes
    ----------
    guess
        Parameter values, their natural steps, and the equations that were regressed.
    covariance
        Of the estimate, (P, P), in the order of the equation's parameters.
    noise
        Field -> the standard deviation of its white noise, given or estimated.
    radii
        Of the bumps along time and every coordinate, in steps of the grid.
    misfit
        Mean square of the whitened residual, 1 where noise explains all of it; where it is larger, and
        not by chance, the covariance is larger too.
    """

    guess: Guess
    covariance: np.ndarray
    noise: Mapping[str, float]
    radii: tuple[float, ...]
    misfit: float


def weak_guess(
    equation: Equation,
    times: np.ndarray,
    axes: Sequence[np.ndarray],
    values: Mapping[str, np.ndarray],
    noise: Mapping[str, float] | None = None,
    *,
    periodic: Sequence[bool],
) -> WeakGuess | None:
    """Solve ∫ φ (h_t + N^λ(h)) = 0 for λ, for many test functions φ: no value is differentiated.

    Integrals w of a noisy recording have a covariance that is known (`NoisyRecording`), so the residual
    r(λ) = c(λ)·w has the covariance C(λ), and rᵀ C(λ)⁻¹ r is least at the λ sought. This is total least squares: noise
    in the regressors does not draw the answer towards zero, and weights need no choice. The start is a regression
    with the noise's part taken off its squares. Widths of the test functions are those with the smallest predicted
    errors. Bortz, Messenger, Dukic (2023), Bull. Math. Biol. 85, 110, weigh the same way, for ordinary equations.

    Parameters
    ----------
    equation
        With N as derivatives of polynomials in measured fields; `WeakForm.of` says which.
    times, axes
        (T,) and (n_1,), …: equispaced.
    values
        Real field -> (T, n_1, …).
    noise
        Field -> standard deviation of its white noise; estimated where None.
    periodic
        For every coordinate whether the last point is one step before the first.

    Returns
    -------
    WeakGuess or None
        None where the equation has no weak form or derivatives above the sixth, the grid is uneven, or it has
        fewer than 13 points along an axis.

    Notes
    -----
    With white noise of the size of the field itself, recordings of Burgers, Korteweg–de Vries,
    Kuramoto–Sivashinsky and Schrödinger with 26 000 to 260 000 values (of the last 256 000 complex ones) give their
    parameters to 2 and 6, 1 and 3, 1, and 0.7 and 0.5 %.
    """
    form = WeakForm.of(equation, values)
    numbers = [np.asarray(a, float) for a in (times, *axes)]
    if form is None or not all(_is_even(a) for a in numbers):
        return None
    if max(n for q in form.integrands for n in q.orders) > MOST_DERIVATIVES:
        return None
    grid = [
        GridAxis(a.size, float(a[-1] - a[0]) / (a.size - 1), around)
        for a, around in zip(numbers, (False, *periodic), strict=True)
    ]
    if any(axis.widest < LEAST_RADIUS for axis in grid):
        return None
    recording = NoisyRecording.of(form, equation.coordinates, grid, numbers, values, noise)
    return _Search(equation, recording).run()


def _is_even(numbers: np.ndarray) -> bool:
    steps = np.diff(numbers)
    return steps.size > 0 and bool(np.ptp(steps) <= EVEN * abs(np.mean(steps)) and np.mean(steps) != 0)


@dataclass(frozen=True)
class _Look:
    """What one set of test functions says at some parameter values.

    Attributes
    ----------
    step
        To better values, (P,).
    covariance
        Of these, (P, P).
    misfit
        rᵀ C⁻¹ r over the number of rows.
    """

    step: np.ndarray
    covariance: np.ndarray
    misfit: float

    @property
    def cost(self) -> float:
        """The mean logarithm of the deviations along the axes of the covariance."""
        sign, size = np.linalg.slogdet(self.covariance)
        return float(0.5 * size / len(self.step)) if sign > 0 else np.inf


@dataclass(frozen=True)
class _Search:
    equation: Equation
    recording: NoisyRecording

    def run(self) -> WeakGuess:
        """Halve the radii of the test functions, all or one, as long as that makes errors smaller."""
        radii = tuple(
            min(max(WIDEST_AT_LEAST, WIDEST * axis.size), axis.widest) for axis in self.recording.axes
        )
        blocks = self.recording.blocks(radii)
        solution, rows = self._start(blocks)
        at = np.array([solution.estimate[p] for p in self.equation.parameters])
        at, look = self._settled(blocks, at)
        while True:
            tried = [(narrow, self.recording.blocks(narrow)) for narrow in _halved(radii)]
            seen = [self._look(some, at).cost for _, some in tried]
            if not seen or not min(seen) < look.cost - GAIN:
                break
            radii, blocks = tried[int(np.argmin(seen))]
            at, look = self._settled(blocks, at)
        solution, rows = self._start(blocks, at)
        look = self._look(blocks, at, overlap=True)
        estimate = dict(zip(self.equation.parameters, at.tolist(), strict=True))
        scale = dict(zip(rows.unknown, natural_steps(rows, at).tolist(), strict=True))
        far = APART * np.sqrt(np.diagonal(look.covariance))
        others = [
            o for o in solution.others if np.any(np.abs([o[p] - estimate[p] for p in rows.unknown]) > far)
        ]
        guess = Guess(estimate, scale, others=tuple(others), rows=rows)
        return WeakGuess(guess, look.covariance, self.recording.noise, radii, look.misfit)

    # ---- the start: squares without the noise's part --------------------

    def _start(self, blocks: Sequence[BlockIntegrals], at: np.ndarray | None = None) -> tuple[Solution, Rows]:
        """Regress with Σ wᵀC⁻¹w less what noise adds to it; C first of h_t alone, then at the last answer."""
        equations = self.recording.form.equations
        slots = [(f, q) for f, held in enumerate(equations) for q in held]
        moves = np.array([float(q == next(iter(equations[f]))) for f, q in slots])
        where = tuple(np.array(slots).T)
        if at is None:
            c = np.zeros((len(equations), len(self.recording.form.integrands)))
            c[where] = moves
        else:
            c = self._coefficients(at)[0]
        for _ in range(CORRECTIONS if at is None else 1):
            squares = np.sum([_clean_squares(block, c) for block in blocks], axis=0)
            chosen = squares[where][:, *where]
            root = _root(0.5 * (chosen + chosen.T))
            names = [f"_{i}" for i in range(len(slots))]  # no parameter's name starts so
            rate = sympy.Add(*(
                equations[f][q] * sympy.Symbol(name, real=True)
                for (f, q), name, moving in zip(slots, names, moves, strict=True) if not moving
            ))  # fmt: skip
            numbers = dict(zip(names, root.T, strict=True))
            rows = Rows.of({"weak": rate}, {"weak": root @ moves}, numbers, self.equation.parameters)
            bounds = np.array([self.equation.bounds[p] for p in rows.unknown], float).reshape(-1, 2)
            solution = solve(rows, Whitening(), bounds)
            c = self._coefficients(np.array([solution.estimate[p] for p in rows.unknown]))[0]
        return solution, rows

    # ---- total least squares --------------------

    def _settled(self, blocks: Sequence[BlockIntegrals], at: np.ndarray) -> tuple[np.ndarray, _Look]:
        """Follow the steps until they are small; one that makes the misfit larger is halved."""
        look = self._look(blocks, at)
        size = 1.0
        for _ in range(STEPS):
            if np.all(np.abs(size * look.step) <= NEAR * np.sqrt(np.diagonal(look.covariance))):
                break
            ahead = self._look(blocks, at + size * look.step)
            if ahead.misfit <= look.misfit:
                at, look, size = at + size * look.step, ahead, 1.0
            else:
                size *= 0.5
        return at, look

    def _look(self, blocks: Sequence[BlockIntegrals], at: np.ndarray, *, overlap: bool = False) -> _Look:
        """Take one step of Gauss and Newton on rᵀ C(λ)⁻¹ r.

        With columns A = ∂r/∂λ, half the gradient is Zᵀ C⁻¹ r, where Z_p = A_p − Cov(A_p, r) C⁻¹ r are the columns
        without the noise that the residual shows. Zᵀ C⁻¹ Z is the gradient's covariance; less the part of the noise
        left in Z, tr C⁻¹ Cov(Z_p, Z_q), it is the curvature. Blocks count as independent, unless their `overlap` is
        asked for.
        """
        with np.errstate(all="ignore"):
            c, slopes = self._coefficients(at)
        count = len(at)
        if not (np.isfinite(c).all() and np.isfinite(slopes).all()):
            return _Look(np.zeros(count), np.full((count, count), np.inf), np.inf)
        gradient, spread, noise = np.zeros(count), np.zeros((count, count)), np.zeros((count, count))
        squares, rows, weighed = 0.0, 0, []
        for block in blocks:
            weights = _precision(block, c)
            shape = weights.shape[:2]
            flat = weights.reshape(shape[0] * shape[1], -1)
            r = (c @ block.values).ravel()
            y = flat @ r
            with_r = np.tensordot(c, block.covariance, axes=(1, 1))  # of w_q with r_f: (F, Q, K, K)
            z = block.values - np.einsum("fqkl,fl->qk", with_r, y.reshape(shape), optimize=True)
            columns = np.tensordot(slopes, z, axes=1).reshape(count, -1)
            gradient += columns @ y
            spread += columns @ flat @ columns.T
            shared = np.einsum("pgq,fqkl->pgkfl", slopes, with_r, optimize=True).reshape(count, *flat.shape)
            whitened = (flat @ shared).reshape(count, -1)
            turned = (shared @ flat).reshape(count, -1)
            noise += np.einsum(
                "pfq,rgs,fqgs->pr", slopes, slopes, _noise_squares(block, weights), optimize=True
            )
            noise -= whitened @ turned.T
            if overlap:
                each = (columns @ flat).reshape(count, *shape)
                weighed.append(np.einsum("fq,pfk->pqk", c, each))
            squares += float(r @ y)
            rows += r.size
        exact = self.recording.spread(blocks, weighed) if overlap else spread
        misfit, chance = squares / rows, CHANCE * np.sqrt(2.0 / rows)
        inverse = np.linalg.inv(_raised(spread - noise, spread, UNTOLD, chance))
        covariance = inverse @ (exact + SAME * np.diag(_sizes(spread) ** 2)) @ inverse
        step = -np.linalg.solve(_raised(spread - noise, spread, FAINT), gradient)
        # A misfit of a few is noise that was not known well. One of thousands is no noise but the error of sums over
        # the grid, which does not fall with the number of rows; both at once where it is between.
        excess = misfit / (1.0 + chance)
        return _Look(step, max(1.0, excess * min(excess, rows)) * covariance, misfit)

    def _coefficients(self, at: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return c(λ), (F, Q), and its derivatives by every parameter, (P, F, Q)."""
        names, form = self.equation.parameters, self.recording.form
        here = dict(zip(names, at, strict=True))
        c = np.zeros((len(form.equations), len(form.integrands)))
        slopes = np.zeros((len(names), *c.shape))
        for f, held in enumerate(form.equations):
            for q, coefficient in held.items():
                c[f, q] = evaluate_by_name(coefficient, here, np)
                for p, name in enumerate(names):
                    slopes[p, f, q] = evaluate_by_name(sympy.diff(coefficient, parameter(name)), here, np)
        return c, slopes


def _precision(block: BlockIntegrals, c: np.ndarray) -> np.ndarray:
    """Return C⁻¹ of the residuals c·w of F equations, (F, K, F, K)."""
    equations, tests = c.shape[0], block.values.shape[1]
    rows = equations * tests
    covariance = np.tensordot(np.einsum("fq,gr->fgqr", c, c), block.covariance, axes=2)
    covariance = covariance.transpose(0, 2, 1, 3).reshape(rows, rows)
    covariance[np.diag_indices(rows)] *= 1.0 + NUGGET
    inverse = cho_solve(cho_factor(covariance, lower=True), np.eye(rows))
    return np.asarray(inverse).reshape(equations, tests, equations, tests)


def _noise_squares(block: BlockIntegrals, weights: np.ndarray) -> np.ndarray:
    """Return what noise adds to wᵀ C⁻¹ w in the mean, (F, Q, F, Q)."""
    return np.tensordot(weights, block.covariance, axes=((1, 3), (2, 3))).transpose(0, 2, 1, 3)


def _clean_squares(block: BlockIntegrals, c: np.ndarray) -> np.ndarray:
    """Return wᵀ C⁻¹ w, (F, Q, F, Q), less the part of noise."""
    weights = _precision(block, c)
    w = block.values
    squares = np.einsum("qk,fkgl,rl->fqgr", w, weights, w, optimize=True)
    return np.asarray(squares - _noise_squares(block, weights))


def _root(squares: np.ndarray) -> np.ndarray:
    """Return R with RᵀR = squares; what is negative there, as noise was more than expected, counts as zero."""
    sizes = _sizes(squares)
    values, vectors = np.linalg.eigh(squares / np.outer(sizes, sizes))
    return np.asarray((vectors * np.sqrt(np.maximum(values, 0.0))).T * sizes)


def _raised(curvature: np.ndarray, spread: np.ndarray, least: float, chance: float = 0.0) -> np.ndarray:
    """Return the curvature, raised to that part of the spread where it is below.

    What was taken off as noise may by chance have been more by a small part, which is taken off first.
    """
    sizes = np.outer(_sizes(spread), _sizes(spread))
    values, vectors = np.linalg.eigh(spread / sizes)
    roots = np.sqrt(np.maximum(values, SAME))
    inner = vectors.T @ (curvature / sizes) @ vectors / np.outer(roots, roots)
    parts, turns = np.linalg.eigh(0.5 * (inner + inner.T))
    basis = _sizes(spread)[:, None] * (vectors * roots) @ turns
    parts = parts - chance * (1.0 - parts)
    return np.asarray((basis * np.maximum(parts, least)) @ basis.T)


def _sizes(squares: np.ndarray) -> np.ndarray:
    """Return the roots of the diagonal, 1 where it is empty."""
    diagonal = np.diagonal(squares)
    return np.sqrt(np.where(diagonal > 0, diagonal, 1.0))


def _halved(radii: tuple[float, ...]) -> list[tuple[float, ...]]:
    """Return all radii halved, then each of them."""
    single = [tuple(r / 2 if i == j else r for j, r in enumerate(radii)) for i in range(len(radii))]
    moves = [tuple(r / 2 for r in radii), *single]
    return [some for some in moves if min(some) >= LEAST_RADIUS]
