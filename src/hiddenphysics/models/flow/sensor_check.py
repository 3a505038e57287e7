"""Whether sensors are off by offsets of their own that the model does not have: asked of the evidence.

State, places and what comes in at edges swallow most of an offset: what is left over looks like noise, and the
diffusivity of twins of glacier ice was four deviations off, `converged`. Around its optimum a fit is the linear model
y = A z + B d + ε. With a column for every sensor, C b with b ~ N(0, τ²), its log evidence, restricted in the flat
columns of B, rises by

    g(τ) = ½ vᵀ (τ⁻² + V)⁻¹ v − ½ log|1 + τ² V|,    V = CᵀPC,  v = CᵀPy,

P = K⁻¹ − K⁻¹B (BᵀK⁻¹B + Π)⁻¹ BᵀK⁻¹ and K = A S Aᵀ + σ²: state and parameters take of the offsets what they can. Prior
and noise stay as they were tuned without offsets, so that g says less than a fit with them would gain, and nothing is
swept or compiled again. τ = 0 is an end of its range: of sensors without offsets twice the largest gain is 0 every
other time, else χ² with one degree of freedom, or smaller (Self & Liang (1987), J. Am. Stat. Assoc. 82, 605;
Crainiceanu & Ruppert (2004), J. R. Stat. Soc. B 66, 165).
"""

from __future__ import annotations

from math import erfc, sqrt
from typing import NamedTuple

import jax
import numpy as np
from scipy.linalg import solve_triangular

from hiddenphysics.gaussian import Reduced, covariance_of, effective
from hiddenphysics.learning import FEWEST_TIMES, Coherent
from hiddenphysics.models.flow.compressed import Seen
from hiddenphysics.models.flow.flow_task import FlowTask
from hiddenphysics.models.flow.instruments import MOST_SENSORS, numbers_of, places_of
from hiddenphysics.models.flow.one_round import Round
from hiddenphysics.models.flow.sweep import folds
from hiddenphysics.models.flow.windows import Windows

SIZES = np.geomspace(0.1, 1e4, 120)
"""Sizes τ that are asked about, over the deviation of the best known combination of offsets: three of the nine sensors
in glacier ice are known a thousand times less."""

FAINT = 1e-10
"""Part of what sensors would tell of an offset if they had nothing else to tell, below which it is rounding."""


class Asked(NamedTuple):
    """What a linear model says about offsets, in units of the fields' sizes.

    Attributes
    ----------
    seen, towards
        V (E, E) and v (E,) for the offsets of every field's sensors.
    alone
        CᵀK⁻¹C (E, E): V, were the parameters known.
    """

    seen: np.ndarray
    towards: np.ndarray
    alone: np.ndarray

    def gain(self) -> tuple[float, float]:
        """Return the largest gain of log evidence, and the size τ that has it; zeros where none gains anything."""
        sizes, axes = np.linalg.eigh(self.seen)
        sizes, squares = np.maximum(sizes, 0.0), (axes.T @ self.towards) ** 2
        variances = (SIZES**2 / max(float(sizes[-1]), 1e-300))[:, None]
        gains = 0.5 * np.sum(
            variances * squares / (1 + variances * sizes) - np.log1p(variances * sizes), axis=1
        )
        best = int(np.argmax(gains))
        return (float(gains[best]), float(np.sqrt(variances[best, 0]))) if gains[best] > 0 else (0.0, 0.0)

    def norm(self, size: float) -> float:
        """Return E(bᵀCᵀK⁻¹C b) of offsets of this size, given the values.

        A coherent error of that square, in the metric of K⁻¹, moves no combination of parameters by more than its root
        in deviations.
        """
        covariance = np.linalg.inv(np.eye(len(self.towards)) / size**2 + self.seen)
        mean = covariance @ self.towards
        return float(mean @ self.alone @ mean + np.sum(self.alone * covariance))


def sensors_off(task: FlowTask, last: Round) -> Coherent | None:
    """Return what the evidence says about offsets of sensors; None where the model has them, or it cannot be asked.

    It cannot where sensors do not come back at `FEWEST_TIMES` times, are very many, or a compression has mixed them.
    """
    asked = asked_of(task, last)
    if asked is None:
        return None
    gain, size = asked.gain()
    return Coherent(0.5 * erfc(sqrt(gain)), asked.norm(size) if gain > 0 else 0.0)


def asked_of(task: FlowTask, last: Round) -> Asked | None:
    """Return what the linear model of the last round says about offsets; None where it cannot be asked."""
    windows, seen = task.windows, task.seen
    if windows.sensors is not None and windows.sensors.offsets:
        return None
    mixed = windows.counts.max() > seen.values.shape[3]
    places, fields = places_of(windows), len(windows.measured)
    few = windows.counts.sum() < FEWEST_TIMES * len(places)
    if mixed or few or fields * len(places) > MOST_SENSORS:
        return None
    data: Reduced = jax.tree.map(np.asarray, last.linear.data)
    folded = folds(seen, data.A.shape[2])
    if folded and last.sums is None:
        return None
    theta = np.asarray(last.tuned.theta)
    spectrum = np.asarray(last.linear.spectrum(theta))
    noise = float(effective(spectrum, np.exp(theta[-1]), data.A))
    offsets = [np.kron(np.eye(fields), own) for own in _whose(windows, seen, places)]
    which = np.asarray(seen.which)
    count = fields * len(places)
    # Products XᵀK⁻¹X of all columns X = (C, B, y), and CᵀC.
    products, own = np.zeros((count + data.rest.shape[0],) * 2), np.zeros((count, count))
    products[count:, count:] = data.rest / noise
    for w in range(len(data.A)):
        root = data.A[w] * np.sqrt(spectrum)
        others = np.column_stack([data.B[w], data.y[w]])
        alone = sum(offsets[u].T @ offsets[u] for u in which[w])
        if folded:
            summed = sum(C.T @ sums for C, sums in zip(offsets, np.asarray(last.sums)[w], strict=True))
            triangle = _triangle(root, noise, squares=task.squares)
            products += _through_state(root, triangle, np.sqrt(spectrum), others, alone, summed, noise)
        else:
            C = np.concatenate([offsets[u] for u in which[w]])
            products += _through_values(root, np.column_stack([C, others]), noise + np.asarray(data.known[w]))
        own += alone
    return _without_parameters(products, own / noise, last)


def _whose(windows: Windows, seen: Seen, places: np.ndarray) -> np.ndarray:
    """(U, r, S) the weight of every row of every set of points, in the column of the sensor that it was read from."""
    weights, which = np.asarray(seen.weights), np.asarray(seen.which)
    own, done = np.zeros((*weights.shape, len(places))), set[int]()
    for window, sets in zip(windows.windows, which, strict=True):
        for snapshot, u in zip(window, sets.tolist(), strict=False):
            if u not in done:
                done.add(u)
                rows = np.arange(len(snapshot))
                own[u, rows, numbers_of(places, snapshot.points)] = weights[u, rows]
    return own


def _through_values(root: np.ndarray, columns: np.ndarray, variances: np.ndarray) -> np.ndarray:
    """XᵀK⁻¹X of columns X (N, E + P + 1), K = R Rᵀ + diag(variances) with R (N, K)."""
    factor = np.linalg.cholesky(root @ root.T + np.diag(variances))
    half = solve_triangular(factor, columns, lower=True)
    return np.asarray(half.T @ half)


def _triangle(root: np.ndarray, noise: float, *, squares: bool) -> np.ndarray:
    """Return the triangle U with UᵀU = σ² + RᵀR, without squares where the noise does not hide what they lose."""
    features = root.shape[1]
    if squares:
        return np.asarray(np.linalg.cholesky(noise * np.eye(features) + root.T @ root).T)
    return np.asarray(np.linalg.qr(np.concatenate([root, np.sqrt(noise) * np.eye(features)]), mode="r"))


def _through_state(
    root: np.ndarray,
    triangle: np.ndarray,
    deviations: np.ndarray,
    others: np.ndarray,
    alone: np.ndarray,
    summed: np.ndarray,
    noise: float,
) -> np.ndarray:
    """Return XᵀK⁻¹X of rows that were folded, XᵀX − XᵀR (σ² + RᵀR)⁻¹ RᵀX over σ², from CᵀC and Cᵀ(A, B, y)."""
    features = len(deviations)
    both = np.block([[alone, summed[:, features:]], [summed[:, features:].T, others.T @ others]])
    towards = np.column_stack([(summed[:, :features] * deviations).T, root.T @ others])
    half = solve_triangular(triangle, towards, trans=1)
    return np.asarray((both - half.T @ half) / noise)


def _without_parameters(products: np.ndarray, own: np.ndarray, last: Round) -> Asked:
    """Return V and v: what is left once parameters, and other columns with a prior, have taken their part."""
    count = len(own)
    held = last.linear.held(last.tuned.theta)
    information, towards = products[count:-1, count:-1], products[count:-1, -1]
    if held is not None:
        information = information + np.diag(np.asarray(held.precision))
        towards = towards + np.asarray(held.precision * held.mean)
    shares = products[:count, count:-1] @ covariance_of(information)
    seen = products[:count, :count] - shares @ products[count:-1, :count]
    left = products[:count, -1] - shares @ towards
    sizes, axes = np.linalg.eigh(0.5 * (seen + seen.T))
    told = sizes > FAINT * np.max(np.diagonal(own))
    axes = axes[:, told]
    return Asked((axes * sizes[told]) @ axes.T, axes @ (axes.T @ left), products[:count, :count])
