"""Where rounds that creep are going: Anderson's acceleration of Gauss–Newton.

Gauss–Newton leaves out how the flow bends, times what the equation leaves over. Where an equation does not hold that is
no small thing: every round then covers the same part of the way that is left, and there are dozens of them. Steps of a
few rounds in a row tell how much is left. Of points xᵢ = (z, λ) with goals gᵢ and steps fᵢ = gᵢ − xᵢ the next point is
the combination Σ αᵢ gᵢ, Σ αᵢ = 1, whose steps Σ αᵢ fᵢ change the predictions least: for linear convergence that is
GMRES. Walker & Ni (2011), SIAM J. Numer. Anal. 49, 1715.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hiddenphysics.models.flow.one_round import Point, Round

DEPTH = 4
"""Rounds that are combined, at most: not compared with others. With four, twelve recordings of a scratch assay settled
in 10 rounds where they took 16 (18 November 2026)."""

CREEPS = 0.3
"""Rounds creep whose steps do not become shorter than this part of the one before: else they are left alone."""

SMALL = 1e-6
"""Part of the largest change of a step below which a combination of changes says nothing."""


def further(made: Sequence[Round], bounds: np.ndarray) -> Point | None:
    """Return the point that the last rounds of a search lead to, within bounds (P, 2); None where they do not creep."""
    made = made[-DEPTH:]
    if len(made) < 2 or any(one.held or not one.fine for one in made):
        return None
    last = made[-1]
    steps, goals = zip(*(_full_step(one) for one in made), strict=True)
    rows = np.stack([_rows(last, *step) for step in steps])
    sizes = np.linalg.norm(rows, axis=1)
    if not (np.all(np.isfinite(sizes)) and sizes[-1] > CREEPS * sizes[-2]):
        return None
    changes = np.diff(rows, axis=0)
    weights = np.linalg.lstsq(changes.T, rows[-1], rcond=SMALL)[0]
    z, parameters = (
        goals[-1][part] - np.tensordot(weights, np.diff([goal[part] for goal in goals], axis=0), 1)
        for part in (0, 1)
    )
    return Point(z, np.clip(parameters, *bounds.T), np.asarray(last.tuned.theta))


def _full_step(one: Round) -> tuple[tuple[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]:
    """Return the undamped step of a round in state (W, K) and parameters (P,), and where it leads."""
    step = one.step
    z = np.asarray(one.solved.mean - one.solved.slope @ step)
    return (z - one.at.z, step), (z, one.at.parameters + step)


def _rows(last: Round, z: np.ndarray, parameters: np.ndarray) -> np.ndarray:
    """Return a step (W, K), (P,) as what it changes: predictions in units of the noise, amplitudes in the prior's."""
    data, theta = last.linear.data, np.asarray(last.tuned.theta)
    noise, spectrum = np.exp(theta[-1]), np.maximum(np.asarray(last.linear.spectrum(theta)), 1e-300)
    seen = np.einsum("wqk,wk->wq", data.A, z) + np.asarray(data.B) @ parameters
    return np.concatenate([(seen / np.sqrt(noise + data.known)).ravel(), (z / np.sqrt(spectrum)).ravel()])
