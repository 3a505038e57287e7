"""Which cut into windows is believed, and what longer windows have to say against shorter ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from hiddenphysics.learning import Status, Verdict
from hiddenphysics.models.model import Fit

OPEN = 0.5
"""Deviations beyond this part of a parameter leave it open."""

SAME = 3.0
"""Deviations, without what is left over, that two cuts may lie apart and say the same."""


def best_cut(fits: Sequence[Fit], names: Sequence[str]) -> Fit:
    """Return the fit of the cut into windows that ended well, or else explains most; the longest windows come first.

    Longer windows that settled and were a misfit say something else than shorter ones, in which there is less to be
    seen, and no deviation knows of that: the difference is taken into the covariance. Thirteen sensors with offsets
    that were not in the model had D = 0.0053 ± 0.0007 in windows of two snapshots, and a misfit in longer ones; D was
    0.2. Where shorter ones say the same, the misfit was no false optimum, and stands: heat that also decays, nine
    sensors and five times, fitted without the decay, had D = 0.136 with a misfit, and in shorter windows 0.1353 ±
    0.0027 without; D was 0.1. Where shorter windows explain the data no better, with states of their own, it stands,
    too: a twin of glacier ice with a still edge, 30 days, had D = 0.098 with a misfit and a log evidence of 1035 in one
    window, in four 0.141 ± 0.013 without and 1027.
    """
    misfits = [fit for fit in fits if fit.verdict.status is Status.MISFIT]
    # Half a search says nothing against one, nor one that is lost.
    ended = [fit for fit in fits if not (fit.stopped or _lost(fit))] if misfits else fits
    best = max(
        ended, key=lambda fit: (not fit.verdict.status.is_bad, np.nan_to_num(fit.evidence, nan=-np.inf))
    )
    if best.verdict.status.is_bad or not misfits:
        return best
    longer = misfits[0]
    values = np.array([best.values[name] for name in names])
    apart = np.array([longer.values[name] for name in names]) - values
    plain = longer.covariance / _widening(longer) ** 2
    variances = best.covariance + np.where(np.isfinite(plain), plain, 0.0)
    same = np.all(np.abs(apart) <= SAME * np.sqrt(np.diagonal(variances)[: len(names)]))
    no_better = longer.evidence >= best.evidence
    if same or no_better:
        said = "say the same" if same else "explain the data no better"
        text = f"{longer.verdict.explanation} Shorter windows, in which there is less to be seen, {said}."
        return replace(longer, verdict=Verdict(Status.MISFIT, text))
    covariance = best.covariance.copy()
    covariance[: len(names), : len(names)] += np.outer(apart, apart)
    deviations = np.sqrt(np.diagonal(covariance))[: len(names)]
    told = ", ".join(f"{name} = {longer.values[name]:.4g}" for name in names)
    text = (
        f"Longer windows, in which the equation leaves over more than noise, say {told}: the difference is in the "
        "deviations."
    )
    open_ = bool(np.any(deviations > OPEN * np.abs(values)))
    status = Status.WEAKLY_IDENTIFIED if open_ else best.verdict.status
    verdict = Verdict(status, text if open_ else f"{best.verdict.explanation} {text}")
    return replace(best, covariance=covariance, verdict=verdict)


def _lost(fit: Fit) -> bool:
    """Whether a search did not settle, and leaves over more than noise where it ended: a misfit is no worse.

    A twin of glacier ice with a still edge was a misfit in one window, and in three ran to D = −0.6, where log evidence
    was larger by 4; another one, without its sensors' offsets, said in three that the data leave D open.
    """
    told, status = fit.criticism, fit.verdict.status
    unsettled = status in (Status.NOT_CONVERGED, Status.WEAKLY_IDENTIFIED)
    return unsettled and told is not None and told.speaks_against


def _widening(fit: Fit) -> float:
    """How many times wider than the data alone would have them a misfit's deviations are."""
    told = 1.0 if fit.criticism is None else fit.criticism.wider
    return max(told, 1.0 if fit.heterogeneity is None else fit.heterogeneity.widening)
