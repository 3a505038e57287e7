"""Second thoughts about a fit that looks good."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np

from hiddenphysics.inference.fit import Fit, Status
from hiddenphysics.inference.smooth import SmoothedField
from hiddenphysics.operators import Symbol
from hiddenphysics.snapshots import Snapshots

CLEAN = 1e-3
"""Noise, relative to the field, below which it is less an instrument's than what the model leaves unexplained."""
SUSPECT, FAINT = 300.0, 10.0
"""A change between snapshots, in units of that: small enough to look closer; too small to be learned from."""

Change = Callable[[str], float]
"""Root mean square of the change of a field between first and last snapshot, as the fitted model has it."""


def doubted(
    learned: Fit,
    noise_std: float,
    snapshots: Snapshots,
    smoothed: Mapping[str, SmoothedField],
    change: Change,
) -> Fit:
    """Withdraw `converged` where clean data hardly change between the snapshots.

    With noise of an instrument the intervals say how much is known. On clean data the learned noise stands for the
    model's own errors, which are not independent from point to point: a change of about that size, such as that of
    a pattern at rest, gives narrow intervals around wrong numbers (seen on Allen and Cahn's walls).
    """
    if learned.status is not Status.CONVERGED:
        return learned
    sizes, changes = _sizes_and_changes(snapshots, smoothed)
    if any(noise_std > CLEAN * sizes[f] or changes[f] > SUSPECT * noise_std for f in smoothed):
        return learned
    moved = {f: change(f) for f in smoothed}
    most = max(moved, key=lambda f: moved[f])
    if moved[most] > FAINT * noise_std:
        return learned
    return replace(
        learned,
        status=Status.WEAKLY_IDENTIFIED,
        explanation=(
            f"Between the snapshots {most} changes by {moved[most]:.2g} (root mean square), hardly more than the "
            f"{noise_std:.2g} that the model leaves unexplained: the parameters rest on too small a difference. "
            "Take snapshots further apart, or from a time when more happens."
        ),
    )


def _sizes_and_changes(
    snapshots: Snapshots, smoothed: Mapping[str, SmoothedField]
) -> tuple[dict[str, float], dict[str, float]]:
    """Return root mean squares of each smoothed field and of its change, which holds the smoothing's errors, too."""
    identity = (Symbol.identity(len(snapshots.coordinates)),)
    values = {name: field.means(identity, snapshots[0].points)[:, 0] for name, field in smoothed.items()}
    sizes = {name: float(np.sqrt(np.mean(v**2))) for name, v in values.items()}
    return sizes, {name: float(np.sqrt(np.mean((v[-1] - v[0]) ** 2))) for name, v in values.items()}
