"""Whether several experiments agree on the parameters that they share: Cochran's test, and who disagrees.

Cochran (1954), Biometrics 10, 101; for several parameters at once, and around the common optimum, it is a score test.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

import numpy as np

from hiddenphysics.gaussian import covariance_of

CONTRADICTORY = 1e-3
"""A p-value below which experiments contradict each other."""

MATERIAL = 0.01
"""Differences that are smaller, in natural sizes of the parameters, are told and are no contradiction: exact numbers
show the last digits of whoever computed them."""

LEAST_SHARE = 1e-9
"""Directions in which an experiment has a smaller part of all information have nothing to disagree with."""


@dataclass(frozen=True)
class Share:
    """What one experiment says by itself, as far as the model is linear around the common answer.

    Attributes
    ----------
    name
        Of the experiment.
    estimate, std
        Parameter -> value, and its standard deviation.
    statistic
        Its part of the test's χ².
    """

    name: str
    estimate: Mapping[str, float]
    std: Mapping[str, float]
    statistic: float


@dataclass(frozen=True)
class Heterogeneity:
    """Q = Σ (d_i − d̄)ᵀ I_i (d_i − d̄) of E experiments with estimates d_i and information I_i, d̄ their weighted mean.

    Attributes
    ----------
    p_value
        Chance of estimates that differ so much, did the experiments share their parameters.
    statistic, degrees
        Q, and the degrees of freedom of its χ²: (E − 1) P where every experiment tells all P parameters.
    apart
        Largest difference of an experiment from the others in any parameter, in its natural size.
    shares
        What each says by itself.
    """

    p_value: float
    statistic: float
    degrees: int
    apart: float
    shares: tuple[Share, ...]

    @property
    def speaks_against(self) -> bool:
        """Whether the experiments contradict each other: no chance, and no trifle."""
        return self.p_value < CONTRADICTORY and self.apart > MATERIAL

    @property
    def widening(self) -> float:
        """How many times wider deviations are that hold the differences: √(Q / degrees), 1 at least (Birge, 1932)."""
        return float(np.sqrt(max(self.statistic / max(self.degrees, 1), 1.0)))

    def sentence(self) -> str:
        """Say it in words."""
        if self.degrees == 0:
            return "No two experiments tell the same parameter: they have nothing to disagree on."
        p = f"p = {self.p_value:.2g}" if self.p_value > 1e-12 else "p < 1e-12"
        if self.p_value >= CONTRADICTORY:
            return f"The {len(self.shares)} experiments agree on the parameters ({p})."
        worst = max(self.shares, key=lambda share: share.statistic)
        told = ", ".join(
            f"{name} = {value:.4g} ± {worst.std[name]:.2g}" for name, value in worst.estimate.items()
        )
        if not self.speaks_against:
            return (
                f"The experiments differ in the parameters ({p}), by {self.apart:.1g} of their sizes at most."
            )
        return (
            f"The experiments contradict each other: they do not share one set of parameters ({p}). "
            f"Furthest off is {worst.name}, which by itself says {told}."
        )

    def plain(self) -> dict[str, Any]:
        """Return it as plain data, ready for JSON; `of_plain` takes it back."""
        return asdict(self) | {
            "shares": [asdict(share) for share in self.shares],
            "sentence": self.sentence(),
        }

    @classmethod
    def of_plain(cls, told: Mapping[str, Any]) -> Heterogeneity:
        """Return what `plain` has told."""
        names = [one.name for one in fields(cls)]
        shares = tuple(Share(**share) for share in told["shares"])
        return cls(**{name: told[name] for name in names} | {"shares": shares})


def heterogeneity(
    names: Sequence[str],
    at: Mapping[str, float],
    steps: np.ndarray,
    information: np.ndarray,
    scale: np.ndarray,
) -> Heterogeneity:
    """Compare what E experiments say of P parameters.

    Parameters
    ----------
    names
        Of the experiments, E.
    at
        The common answer, parameter -> value.
    steps, information
        (E, P) the generalised least squares step of every experiment away from there, and (E, P, P) its information.
    scale
        (P,) natural sizes of the parameters.
    """
    total = np.sum(information, axis=0)
    towards = np.einsum("eij,ej->ei", information, steps)
    together = covariance_of(total) @ np.sum(towards, axis=0)
    size = np.sqrt(np.maximum(np.diagonal(total), 1e-300))
    statistics, degrees, shares, apart = [], -len(size), [], 0.0
    for name, step, own in zip(names, steps, information, strict=True):
        values, vectors = np.linalg.eigh(own / np.outer(size, size))
        tells = values > LEAST_SHARE
        away = (vectors.T @ (size * (step - together)))[tells]
        statistics.append(float(away**2 @ values[tells]))
        degrees += int(np.count_nonzero(tells))
        deviation = np.sqrt(np.diagonal(covariance_of(own)))
        values_at = np.array([*at.values()]) + step - together
        shares.append(
            Share(
                name,
                dict(zip(at, values_at.tolist(), strict=True)),
                dict(zip(at, deviation.tolist(), strict=True)),
                statistics[-1],
            )
        )
        # A difference that the experiment itself cannot tell from nothing is no difference.
        clear = np.abs(step - together) > 2 * deviation
        apart = max(apart, float(np.max(np.abs(step - together) / scale * clear, initial=0.0)))
    from scipy.special import chdtrc  # a quarter of a second to import, for several experiments alone

    statistic = float(np.sum(statistics))
    p_value = float(chdtrc(degrees, statistic)) if degrees > 0 else 1.0
    return Heterogeneity(p_value, statistic, max(degrees, 0), apart, tuple(shares))
