"""Terms that an equation may lack: candidates, and what the data say of each."""

from __future__ import annotations

from collections.abc import Collection, Mapping

import numpy as np

ALIKE = 0.05
"""A candidate of which less is left, once the equation's own terms have taken what looks like them, is one of them."""

HIGHEST = 4
"""Order of the highest derivative among the terms that an equation may lack."""


def candidate_terms(
    name: str, u: np.ndarray, slopes: Mapping[tuple[str, int], np.ndarray], others: Mapping[str, np.ndarray]
) -> dict[str, np.ndarray]:
    """Return terms that an equation of a field may lack, (N,) each.

    Parameters
    ----------
    name, u
        The field, and its values (N,).
    slopes
        (coordinate, order) -> its derivative along that coordinate.
    others
        The other measured fields.
    """
    every = {name: u, f"{name}^2": u**2, f"{name}^3": u**3, "a constant": np.ones_like(u)}
    for (along, order), slope in slopes.items():
        text = f"{name}_{along * order}"
        every[text] = slope
        if order == 1:
            every[f"{name}*{text}"] = u * slope
    return every | dict(others)


def term_scores(
    inverse: np.ndarray, weights: np.ndarray, own: np.ndarray, candidates: Mapping[str, np.ndarray]
) -> dict[str, float]:
    """Return for every candidate its coefficient by generalised least squares, in its standard deviations.

    Values y = B d + g c + ε with the covariance K: the prior of the state stands in it beside the noise, so that what
    the state may take of a term counts for nothing.

    Parameters
    ----------
    inverse, weights
        K⁻¹ (N, N) and K⁻¹y (N,).
    own, candidates
        B (N, P), what the equation's own parameters do, and g (N,) of each candidate.
    """
    size = np.linalg.norm(own, axis=0)
    basis = np.linalg.svd(own / np.where(size > 0, size, 1.0), full_matrices=False)
    B = basis.U[:, ALIKE * basis.S.max(initial=0.0) < basis.S]
    weighted = inverse @ B
    information = B.T @ weighted
    residual = weights - weighted @ np.linalg.solve(information, B.T @ weights)
    scores = {}
    for name, column in candidates.items():
        across, whole = weighted.T @ column, float(column @ (inverse @ column))
        variance = whole - float(across @ np.linalg.solve(information, across))
        if variance > ALIKE**2 * whole > 0:
            scores[name] = float(column @ residual) / np.sqrt(variance)
    return scores


def term_label(name: str, field: str, measured: Collection[str]) -> str:
    """Return how a candidate for the equation of a field is called; with one field its name is enough."""
    return f"{name} in the equation of {field}" if len(measured) > 1 else name
