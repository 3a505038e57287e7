"""The forward model without physics: every snapshot of a field is a process of its own."""

from __future__ import annotations

import sympy

from hiddenphysics.forward.model import LinearModel, Observation, Quantity
from hiddenphysics.operators import Operator, Symbol


def independent(coordinates: tuple[str, ...], snapshots: int) -> LinearModel:
    """Let snapshot k of some field be its own latent ``z0, z1, …``: ordinary Gaussian process smoothing.

    It gives derivatives of noisy data where a start or a linearisation needs them, and the scales of a field.
    """
    latents = tuple(f"z{k}" for k in range(snapshots))
    identity = Symbol.identity(len(coordinates))
    quantities = {z: Quantity(Operator.of(z, identity, sympy.Integer(1)), sympy.Integer(0)) for z in latents}
    return LinearModel(
        name="independent",
        parameters=(),
        coordinates=coordinates,
        observations=tuple(Observation(z, k, quantities[z]) for k, z in enumerate(latents)),
        quantities=tuple(quantities.items()),
        latent_fraction=0.0,
        frozen_snapshot=0,
    )
