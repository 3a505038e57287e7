"""Deviations for a prior that is wrong about where the field is large: what each value adds, as it came.

In the order of time every value is predicted from those before it; what it differs by, in stated deviations, is its
innovation e_i, and b_i is how the parameters tell on it: e = L⁻¹(y − B d), b = L⁻¹B with K = L Lᵀ. Were the prior
right, the e_i would be independent and normal, and (Σ b_i b_iᵀ)⁻¹ = C the covariance of the parameters. A field that
is a single hill, with a prior that is the same everywhere, has innovations with heavy tails, on the hill, where the
information is, too. They tell the covariance themselves, whatever their sizes are:

    C (Σ_i b_i b_iᵀ e_i² / (1 − h_i)²) C,    h_i = b_iᵀ C b_i.

White (1980), Econometrica 48, 817; with leverages h, for few values: MacKinnon & White (1985), J. Econometrics 29, 305.
"""

from __future__ import annotations

import jax
import numpy as np

from hiddenphysics.gaussian import Reduced, effective
from hiddenphysics.models.flow.flow_task import FlowTask
from hiddenphysics.models.flow.one_round import Round
from hiddenphysics.models.flow.unknown_prior import positive_part

MOST_VALUES = 1500
"""Values up to which it is asked: a dense factorisation of them takes a second."""

HEAVY = 5.0
"""Standard deviations by which the kurtosis of the innovations has to exceed that of normal ones; 3 draws of heat in
space, 2 × 150 clean values, have 6.5 to 12 instead of 3 ± 0.3, Burgers' and heat's values on a line with 1 % of noise
2.2 to 4.0 instead of 3 ± 0.6 (18 November 2026)."""

MOST_LEVERAGE = 0.9
"""Leverage beyond which a value counts as having this: of one that alone tells a parameter nothing is left over."""


def from_innovations(task: FlowTask, last: Round) -> np.ndarray:
    """Return what innovations with heavy tails add to the parameters' covariance, (P, P); 0 where they are normal.

    Also where it was not asked: of many values, and of columns with a prior of their own.

    Of fields that are tied together they always count. A stream with eddies on it is neither large nor fine everywhere
    alike, and no envelope tells all of that: in four pairs of the wake of a cylinder at 1 % of noise the kurtosis was
    3.3 to 3.5, of 3 ± 0.15, and innovations asked for deviations 1.05 to 1.17 times as wide (18 November 2026).
    """
    nothing = np.zeros_like(last.information)
    if task.count > MOST_VALUES or not np.all(task.border.is_flat):
        return nothing
    made = _innovations(last)
    if made is None:
        return nothing
    b, e = made
    information = b.T @ b
    if not np.linalg.cond(information) < 1.0 / np.finfo(float).eps:
        return nothing
    if not (is_heavy(e) or task.domain.program.means):
        return nothing
    covariance = np.linalg.inv(information)
    leverage = np.minimum(np.einsum("np,pq,nq->n", b, covariance, b), MOST_LEVERAGE)
    scaled = covariance @ (b * (e / (1.0 - leverage))[:, None]).T
    return positive_part(scaled @ scaled.T - covariance, covariance)


def is_heavy(innovations: np.ndarray) -> bool:
    """Whether the tails of innovations (N,) are heavier than normal ones' by more than chance."""
    count = len(innovations)
    squares = innovations**2
    kurtosis = float(np.mean(squares**2) / max(float(np.mean(squares)) ** 2, 1e-300))
    return kurtosis > 3.0 + HEAVY * np.sqrt(24.0 / max(count, 1))


def _innovations(last: Round) -> tuple[np.ndarray, np.ndarray] | None:
    """Return b (N, P) and e (N,) of all windows, rows without data left out; None where K has no factor."""
    theta = np.asarray(last.tuned.theta)
    data: Reduced = jax.tree.map(np.asarray, last.linear.data)
    spectrum = np.asarray(last.linear.spectrum(theta))
    noise = float(effective(spectrum, np.exp(theta[-1]), data.A))
    estimate = np.asarray(last.tuned.at.estimate)
    rows = []
    for A, B, y, known in zip(data.A, data.B, data.y, data.known, strict=True):
        seen = np.any(A != 0, axis=1)
        K = (A[seen] * spectrum) @ A[seen].T + np.diag(noise + known[seen])
        try:
            L = np.linalg.cholesky(K)
        except np.linalg.LinAlgError:
            return None
        rows.append(np.linalg.solve(L, np.column_stack([B[seen], y[seen] - B[seen] @ estimate])))
    both = np.concatenate(rows)
    return (both[:, :-1], both[:, -1]) if np.all(np.isfinite(both)) else None
