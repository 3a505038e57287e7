"""Draws of the parameters by chains, where a posterior was sampled."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from hiddenphysics.learning import AGREED, r_hat

SAME = 0.2
"""Part of a deviation by which means, and part of themselves by which deviations may differ from a Gaussian's that is
still right: the error of some hundred independent draws is half of that. Heat with known errors of 0.02, whose weights
could not be believed: 0.08, and 0.03 at most (18 November 2026)."""


@dataclass(frozen=True, eq=False)
class Chains:
    """Draws of every parameter.

    Attributes
    ----------
    names
        Of the P parameters.
    draws
        (C, S, P): S draws of each of C chains.
    """

    names: tuple[str, ...]
    draws: np.ndarray

    @property
    def r_hat(self) -> dict[str, float]:
        """Parameter -> rank-normalised split R-hat: 1 where the chains agree."""
        return {name: r_hat(self.draws[:, :, p]) for p, name in enumerate(self.names)}

    @property
    def agree(self) -> bool:
        """Whether all chains tell the same."""
        return all(value < AGREED for value in self.r_hat.values())

    @property
    def covariance(self) -> np.ndarray:
        """(P, P)."""
        every = self.draws.reshape(-1, len(self.names))
        return np.cov(every.T).reshape(len(self.names), len(self.names))

    def confirm(self, estimates: np.ndarray, covariance: np.ndarray) -> bool:
        """Whether they tell the same as a Gaussian with these means (P,) and this covariance (P, P)."""
        stated, drawn = (np.sqrt(np.diagonal(one)) for one in (covariance, self.covariance))
        apart = np.abs(self.draws.mean(axis=(0, 1)) - estimates)
        return bool(np.all(apart < SAME * stated) and np.all(np.abs(drawn - stated) < SAME * stated))

    def plain(self) -> dict[str, Any]:
        """Return it as plain data, ready for JSON; `of_plain` takes it back."""
        return {"names": list(self.names), "draws": self.draws.tolist()}

    @classmethod
    def of_plain(cls, told: Mapping[str, Any]) -> Chains:
        """Return what `plain` has told."""
        return cls(tuple(told["names"]), np.asarray(told["draws"], float))

    def sentence(self) -> str:
        """Say how the chains went."""
        worst = max(self.r_hat.values())
        chains, draws = self.draws.shape[:2]
        said = "they agree" if self.agree else "they do not agree: take more draws, or doubt the numbers"
        return f"{chains} chains of {draws} draws, R-hat at most {worst:.4f}: {said}."
