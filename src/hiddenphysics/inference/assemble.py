"""A model, its kernels and the data put together into one problem."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache

import numpy as np

from hiddenphysics.errors import ModelError
from hiddenphysics.forward import LinearModel
from hiddenphysics.inference.data import collect
from hiddenphysics.inference.problem import Problem
from hiddenphysics.inference.smooth import SmoothedField, smooth
from hiddenphysics.kernels import Kernel, SquaredExponential
from hiddenphysics.operators import Symbol
from hiddenphysics.snapshots import Snapshots

Kernels = Kernel | Mapping[str, Kernel]
Smoother = Callable[[str], SmoothedField]


def assemble(
    linear: LinearModel, snapshots: Snapshots, kernels: Mapping[str, Kernel], smoother: Smoother
) -> Problem:
    """Put model and data together; `smoother` gives the derivatives of measured fields that coefficients may hold."""

    def state(field: str, symbol: Symbol, snapshot: int, points: np.ndarray) -> np.ndarray:
        return smoother(field).means((symbol,), points)[snapshot, 0]

    return Problem.of(linear, kernels, collect(linear, snapshots, state))


def smoother_of(snapshots: Snapshots, kernels: Mapping[str, Kernel]) -> Smoother:
    """Return a function that smooths a field when it is first asked for, and only then."""

    @cache
    def smoother(field: str) -> SmoothedField:
        return smooth(snapshots, field, kernels.get(field, SquaredExponential()))

    return smoother


def kernel_of_each(linear: LinearModel, kernel: Kernels | None) -> dict[str, Kernel]:
    """Return one kernel per latent from what a user gave: nothing, one for all, or some by name."""
    if kernel is None or isinstance(kernel, Kernel):
        return dict.fromkeys(linear.latents, kernel or SquaredExponential())
    unknown = sorted(set(kernel) - set(linear.latents))
    if unknown:
        raise ModelError(
            f"A kernel was given for {unknown[0]!r}; the latent fields are {', '.join(linear.latents)}."
        )
    return {latent: kernel.get(latent, SquaredExponential()) for latent in linear.latents}
