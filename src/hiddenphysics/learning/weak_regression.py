"""A first guess of the parameters from a whole recording on a grid, at any noise: regression on the weak form."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import sympy
from scipy.linalg import cho_factor, cho_solve

from hiddenphysics.equation import Equation, evaluate_by_name, parameter
from hiddenphysics.learning.bumps import LEAST_RADIUS, GridAxis
from hiddenphysics.learning.first_guess import Guess
from hiddenphysics.learning.regression import Rows, Solution, Whitening, natural_steps, solve
from hiddenphysics.learning.weak_form import WeakForm
from hiddenphysics.learning.weak_integrals import BlockIntegrals, NoisyRecording

WIDEST = 0.2
"""Radius of the widest bumps, as a part of the recording."""
GAIN = 0.05
"""By how much deviations must shrink, in the mean, for narrower bumps to be worth their time."""
CORRECTIONS = 3
"""Rounds of the regression that starts the search: the second was within a deviation of the last on all recordings."""
STEPS = 20
NEAR = 0.02
"""A search ends where steps are below this part of the deviations."""
NUGGET = 1e-6
"""Added to covariances, relative to their diagonal: overlapping bumps make them near singular."""
FAINT = 0.05
"""The least part of the squares of a column that may count as no noise: below, data tell nothing of a parameter."""
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
        Mean square of the whitened residual, 1 where noise explains all of it; the covariance is multiplied by it
        where it is larger.
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
        None where the equation has no weak form, the grid is uneven, or it has fewer than 13 points along an axis.

    Notes
    -----
    With white noise of the size of the field itself, the recordings of Burgers, Korteweg–de Vries,
    Kuramoto–Sivashinsky and Schrödinger with 26 000 to 260 000 values give their parameters to 2 and 5, 1 and 3, 1,
    and 0.7 and 0.4 %.
    """
    form = WeakForm.of(equation, values)
    numbers = [np.asarray(a, float) for a in (times, *axes)]
    if form is None or not all(_is_even(a) for a in numbers):
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
        radii = tuple(max(LEAST_RADIUS, WIDEST * axis.size) for axis in self.recording.axes)
        radii = tuple(min(r, a.widest) for r, a in zip(radii, self.recording.axes, strict=True))
        blocks = self.recording.blocks(radii)
        solution, rows = self._start(blocks)
        at = np.array([solution.estimate[p] for p in self.equation.parameters])
        at, look = self._settled(blocks, at)
        narrower = True
        while narrower:
            narrower = False
            for tried in _halved(radii):
                others = self.recording.blocks(tried)
                seen = self._look(others, at)
                if seen.cost < look.cost - GAIN:
                    radii, blocks, narrower = tried, others, True
                    at, look = self._settled(blocks, at)
                    break
        solution, rows = self._start(blocks, at)
        estimate = dict(zip(self.equation.parameters, at.tolist(), strict=True))
        scale = dict(zip(rows.unknown, natural_steps(rows, at).tolist(), strict=True))
        guess = Guess(estimate, scale, others=solution.others, rows=rows)
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
            squares = sum(_clean_squares(block, c) for block in blocks)
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

    def _look(self, blocks: Sequence[BlockIntegrals], at: np.ndarray) -> _Look:
        """Take one step of Gauss and Newton on rᵀ C(λ)⁻¹ r.

        With columns A = ∂r/∂λ, half the gradient is Zᵀ C⁻¹ r, where Z_p = A_p − Cov(A_p, r) C⁻¹ r are the columns
        without the noise that the residual shows. Zᵀ C⁻¹ Z is the gradient's covariance; less the part of the noise
        left in Z, tr C⁻¹ Cov(Z_p, Z_q), it is the curvature.
        """
        with np.errstate(all="ignore"):
            c, slopes = self._coefficients(at)
        count = len(at)
        if not (np.isfinite(c).all() and np.isfinite(slopes).all()):
            return _Look(np.zeros(count), np.full((count, count), np.inf), np.inf)
        gradient, spread, noise = np.zeros(count), np.zeros((count, count)), np.zeros((count, count))
        squares, rows = 0.0, 0
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
            noise += np.einsum("pfq,rgs,fqgs->pr", slopes, slopes, _noise_squares(block, weights), optimize=True)
            noise -= whitened @ turned.T
            squares += float(r @ y)
            rows += r.size
        misfit = squares / rows
        curvature = _above(spread - noise, spread)
        inverse = np.linalg.inv(curvature)
        return _Look(-inverse @ gradient, max(1.0, misfit) * inverse @ spread @ inverse, misfit)

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
    sizes = np.sqrt(np.maximum(np.abs(np.diagonal(squares)), np.finfo(float).tiny))
    values, vectors = np.linalg.eigh(squares / np.outer(sizes, sizes))
    return np.asarray((vectors * np.sqrt(np.maximum(values, 0.0))).T * sizes)


def _above(curvature: np.ndarray, spread: np.ndarray) -> np.ndarray:
    """Return the curvature, raised to `FAINT` of the spread where it is below."""
    factor = np.linalg.cholesky(spread)
    half = np.linalg.solve(factor, curvature)
    values, vectors = np.linalg.eigh(np.linalg.solve(factor, half.T))
    basis = factor @ vectors
    return np.asarray((basis * np.maximum(values, FAINT)) @ basis.T)


def _halved(radii: tuple[float, ...]) -> list[tuple[float, ...]]:
    """Return all radii halved, then each of them."""
    single = [tuple(r / 2 if i == j else r for j, r in enumerate(radii)) for i in range(len(radii))]
    moves = [tuple(r / 2 for r in radii), *single]
    return [some for some in moves if min(some) >= LEAST_RADIUS]
