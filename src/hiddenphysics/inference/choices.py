"""Which kernel and which smoothed field belongs to what."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import cache

from hiddenphysics.errors import ModelError
from hiddenphysics.forward import LinearModel
from hiddenphysics.forward.scales import component, with_scales
from hiddenphysics.inference.smooth import SmoothedField, Smoother, smooth
from hiddenphysics.kernels import Kernel, SquaredExponential
from hiddenphysics.snapshots import Snapshots

Scales = Kernel | Sequence[Kernel]
"""One prior, or several that are added, shortest scale first."""
Kernels = Scales | Mapping[str, Scales]

SHORT_AND_LONG: tuple[Kernel, ...] = (SquaredExponential(), SquaredExponential())


def with_kernels(
    linear: LinearModel, measured: Collection[str], kernel: Kernels | None
) -> tuple[LinearModel, dict[str, Kernel]]:
    """Give every latent its prior from what a user gave: nothing, one for all, or some by name.

    By default squared exponential; in two and three dimensions the midpoint model adds a second one on a longer scale
    to the latents that measured fields are made of (in a wake, 250 + 250 points: error of the viscosity 30 % with
    one, 5 % with two).

    Returns
    -------
    linear, kernels
        The model, with latents on several scales written as sums, and one kernel for each of its latents.
    """
    chosen = _by_latent(linear, measured, kernel)
    counts = {latent: len(several) for latent, several in chosen.items()}
    kernels = {
        component(latent, number): one
        for latent, several in chosen.items()
        for number, one in enumerate(several, start=1)
    }
    return with_scales(linear, counts), kernels


def _by_latent(
    linear: LinearModel, measured: Collection[str], kernel: Kernels | None
) -> dict[str, tuple[Kernel, ...]]:
    default: dict[str, tuple[Kernel, ...]] = dict.fromkeys(linear.latents, (SquaredExponential(),))
    if linear.frozen_snapshot is None and len(linear.coordinates) > 1:
        seen = {z for f in measured for z in linear.quantity(f).without_lag().operator.latents}
        default |= dict.fromkeys(sorted(seen), SHORT_AND_LONG)
    if kernel is None:
        return default
    if not isinstance(kernel, Mapping):
        return dict.fromkeys(linear.latents, _several(kernel))
    unknown = sorted(set(kernel) - set(linear.latents))
    if unknown:
        raise ModelError(
            f"A kernel was given for {unknown[0]!r}; the latent fields are {', '.join(linear.latents)}."
        )
    return default | {latent: _several(some) for latent, some in kernel.items()}


def _several(kernels: Scales) -> tuple[Kernel, ...]:
    return (kernels,) if isinstance(kernels, Kernel) else tuple(kernels)


def smoother_of(snapshots: Snapshots, kernels: Mapping[str, Kernel]) -> Smoother:
    """Return a function that smooths a field when it is first asked for, and only then."""

    @cache
    def smoother(field: str) -> SmoothedField:
        return smooth(snapshots, field, kernels.get(field, SquaredExponential()))

    return smoother
