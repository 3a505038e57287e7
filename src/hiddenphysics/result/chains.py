"""Draws of the parameters by chains, where a posterior was sampled."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from hiddenphysics.learning import AGREED, r_hat


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
