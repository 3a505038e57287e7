"""Criticism of an equation: what its best fit leaves over, weighed and said in words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from math import log
from typing import Any

import numpy as np

CERTAIN = 1e-3
"""A p-value below which the equation does not hold."""

DOUBTFUL = 0.01
"""A p-value below which deviations grow, until they are those of an equation that does not hold. Of right equations
one in a hundred is that unlucky, and pays with wider ones. Glacier ice, days 60 to 70, in which something else is at
work, said 0.0718 ± 0.0044, `converged` with p = 0.0012; a version before it 0.075 ± 0.023, a misfit with 0.0005."""

MATERIAL = 0.01
"""Structure that is smaller, in parts of what the fields change, is told and is no misfit: recordings of exact numbers
show the last digits of whoever computed them."""

MOVED, FAINT = 0.1, 0.1
"""Part of a parameter by which structure may move it and be no misfit, however small it is beside what the fields
change; a parameter counts as no less than a tenth of its natural size. Nine sensors, five times, heat that also decays
fitted without the decay: the state bends between the sensors, 0.6 % of the change are left over, and D = 0.0100 ±
0.0014 instead of 0.1 can be off by 5 deviations. Exact numbers leave deviations of 1e-4 of a parameter, which no
structure makes that large."""

MOST = 1000.0
"""Largest of these parts that is told: fields that do not change at all would make it infinite."""


@dataclass(frozen=True)
class Check:
    """One question to the left-overs.

    Attributes
    ----------
    name
        What was asked.
    p_value
        Chance of an answer like this, were the equation right.
    alike
        Part of the left-over variance that the structure makes up, 0 to 1.
    """

    name: str
    p_value: float
    alike: float


@dataclass(frozen=True)
class Criticism:
    """Whether what an equation leaves over is noise.

    Attributes
    ----------
    p_value
        Chance of left-overs with so much structure, were the equation right; 1 where nothing could be asked.
    checks
        What was asked, and the answers.
    missing
        The term that the left-overs look like most, such as ``"u_xxx"``; None where they look like none.
    structure
        Root mean square of the structured part of the left-overs, in deviations of the noise.
    of_change
        The same, in parts of how much the fitted fields change, 1000 at most.
    allowed
        What part of the change a model's own approximations may leave over: no more than that is no misfit.
    moved
        By what part of itself a parameter can be moved, at most, through what is left over: `widening` times its
        deviation.
    far_off
        Values that lie further off than any noise would, were all values like most of them.
    widening
        How many times its stated deviation a parameter can be off at most through what is left over: a coherent error
        with norm s, in deviations of the noise, moves no combination of parameters by more than s of its deviations.
    """

    p_value: float = 1.0
    checks: tuple[Check, ...] = ()
    missing: str | None = None
    structure: float = 0.0
    of_change: float = 0.0
    widening: float = 1.0
    allowed: float = MATERIAL
    far_off: int = 0
    moved: float = 0.0

    @property
    def is_noise(self) -> bool:
        """Whether nothing but noise seems to be left over."""
        return self.p_value >= CERTAIN

    @property
    def speaks_against(self) -> bool:
        """Whether the equation does not hold: structure that is no chance, and no trifle."""
        return self.p_value < CERTAIN and self._is_material

    @property
    def wider(self) -> float:
        """Factor on stated deviations: 1 for noise, all of `widening` where the equation does not hold, and between.

        Structure that is a trifle widens nothing.
        """
        if not (self.p_value < DOUBTFUL and self._is_material):
            return 1.0
        share = min(1.0, log(DOUBTFUL / max(self.p_value, 1e-300)) / log(DOUBTFUL / CERTAIN))
        return float(self.widening**share)

    @property
    def _is_material(self) -> bool:
        return self.of_change > self.allowed or self.moved > MOVED

    def beside(self, estimate: np.ndarray, deviation: np.ndarray, scale: np.ndarray) -> Criticism:
        """Return it beside the parameters, their deviations and natural sizes, (P,) each.

        Those that the data leave open anyway do not count.
        """
        parts = deviation / np.maximum(np.abs(estimate), FAINT * scale)
        known = parts[parts < MOVED]
        return replace(self, moved=float(min(self.widening * np.max(known, initial=0.0), MOST)))

    def plain(self) -> dict[str, Any]:
        """Return it as plain data, ready for JSON; `of_plain` takes it back."""
        return asdict(self) | {
            "checks": [asdict(check) for check in self.checks],
            "sentence": self.sentence(),
        }

    @classmethod
    def of_plain(cls, told: Mapping[str, Any]) -> Criticism:
        """Return what `plain` has told."""
        names = [one.name for one in fields(cls) if one.name in told]
        checks = tuple(Check(**check) for check in told["checks"])
        return cls(**{name: told[name] for name in names} | {"checks": checks})

    def sentence(self) -> str:
        """Say it in words."""
        if not self.checks:
            return "There were too few values to test the equation."
        return self._said() + self._hint()

    def _hint(self) -> str:
        """Point at outliers; an equation that does not hold leaves values far off by itself."""
        if not self.far_off or self.speaks_against:
            return ""
        some = "One value lies" if self.far_off == 1 else f"{self.far_off} values lie"
        return (
            f" {some} far off, as no noise of the others' size would; noise='robust' (--noise robust) leaves such "
            "values out."
        )

    def _said(self) -> str:
        worst = min(self.checks, key=lambda check: check.p_value)
        p = f"p = {self.p_value:.2g}" if self.p_value > 1e-12 else "p < 1e-12"
        if self.is_noise and self.wider > 1:
            return (
                f"It is doubtful whether what the equation leaves over is noise ({p}): {WORDS[worst.name]}. Deviations "
                f"are {self.wider:.2g} times as wide for it."
            )
        if self.is_noise:
            return f"What the equation leaves over looks like noise ({p})."
        looks = f" It looks like {self.missing}: a term like that may be missing." if self.missing else ""
        what = f"{WORDS[worst.name]} ({p}; {self.structure:.2g} of the noise's deviation)"
        if not self.speaks_against:
            small = (
                f"is only {self.of_change:.1g} of what the fields change.{looks}"
                if self.of_change <= MATERIAL
                else "no more than the step in time leaves by itself: a shorter gap, or the flow model, would tell."
            )
            return f"What the equation leaves over has structure, {what}, but {small}"
        return f"The equation does not explain the data: {what}.{looks}"


WORDS: Mapping[str, str] = {
    "neighbours": "what it leaves over is alike at neighbouring points",
    "times": "what it leaves over is alike at neighbouring times",
    "sensors": "sensors are off by the same amount at all times, as --sensor-offsets "
    "(sensors=Sensors(offsets=True)) would allow for",
    "terms": "what it leaves over grows along the time of a window like a term that it does not have",
}
"""What a check finds, in words."""
