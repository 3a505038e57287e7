"""Priors on several scales: a latent process as a sum of independent ones."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from hiddenphysics.forward.model import LinearModel, Quantity
from hiddenphysics.operators import Operator


def component(latent: str, number: int) -> str:
    """Return the name of a latent's n-th component: ``psi``, ``psi.2``, …; the dot keeps it apart from typed names."""
    return latent if number == 1 else f"{latent}.{number}"


def origin(name: str) -> tuple[str, int]:
    """Return the latent and the number of a component."""
    latent, _, number = name.partition(".")
    return latent, int(number or 1)


def with_scales(model: LinearModel, counts: Mapping[str, int]) -> LinearModel:
    """Replace latents z by sums z + z.2 + …, as many as `counts` says; each gets a variance and lengths of its own.

    A flow past a body has a mean that fills the domain and eddies on it. One length for both is too short for the
    first and too long for the second, and the misfit passes for viscosity.
    """

    def spread(quantity: Quantity) -> Quantity:
        terms = (
            (component(latent, number), symbol, c)
            for latent, symbol, c in quantity.operator
            for number in range(1, counts.get(latent, 1) + 1)
        )
        return Quantity(Operator.collect(terms), quantity.mean)

    return replace(
        model,
        observations=tuple(replace(o, quantity=spread(o.quantity)) for o in model.observations),
        quantities=tuple((f, spread(quantity)) for f, quantity in model.quantities),
    )


def counts_of(components: Iterable[str]) -> dict[str, int]:
    """Return how many components each latent has, given all their names."""
    counts: dict[str, int] = {}
    for name in components:
        latent, number = origin(name)
        counts[latent] = max(number, counts.get(latent, 1))
    return counts
