"""R by derivatives in front of products against R term by term, as it was typed, in NumPy."""

from __future__ import annotations

from math import prod
from typing import Any

import jax
import numpy as np
import pytest

from hiddenphysics.equation import (
    TIME,
    atoms_of,
    coordinate,
    derivative_symbol,
    evaluate,
    field_name,
    parameter,
)
from hiddenphysics.spectral import Motion

NOW = 0.3

EQUATIONS = {
    "Burgers": "u_t + a*u*u_x - b*u_xx = 0",
    "Korteweg-de Vries": "u_t + a*u*u_x + b*u_xxx = 0",
    "Kuramoto-Sivashinsky": "u_t + u*u_x + u_xx + u_xxxx = 0",
    "porous medium": "u_t = d(a*u*u_x, x)",
    "modified Korteweg-de Vries": "u_t + u^2*u_x + b*u_xxx = 0",
    "Gardner": "u_t + 0.1*u^2*u_x + (1 + a)*u*u_x = 0",
    "Allen-Cahn": "u_t - b*u_xx + 5*u^3 - 5*u = 0",
    "Schroedinger": "i*h_t + a*h_xx + b*abs(h)^2*h = 0",
    "derivative Schroedinger": "i*h_t + h_xx + i*a*d(abs(h)^2*h, x) = 0",
    "coefficient of place": "u_t + cos(x)*u*u_x + a*x*u_x = 0",
    "coefficient that jumps": "u_t = d(x*u*u_x, x)",
    "coefficient of time": "u_t + sin(c*t)*u*u_x = f*cos(t)",
    "parameters inside": "u_t + sin(a*x)*u + b*u*u_x + exp(c*u)*u_x = 0",
    "in front beside as typed": "u_t = a*d(u^2*u_x, x) - b*sin(c*u)",
    "fractional": "u_t + frac_lap(u, s)*u + d(u^2*u_x, x) = 0",
    "second order in time": "u_tt - u_xx = a*d(u*u_x, x) + b*u*u_t",
    "Lotka-Volterra": "u_t = b*u_xx - a*u*v; v_t = v_xx + c*u*v",
    "forcing": "u_t = f*sin(x)",
    "linear": "u_t = b*u_xx",
}
POSITIVE = ("porous medium",)
"""Whose diffusivity, the field itself, has to be: below zero its size takes its place."""

IN_THE_PLANE = {
    "advection": "u_t + u*u_x + v*u_y = b*lap(u); v_t + u*v_x + v*v_y = b*lap(v)",
    "divergence form": "u_t + d(u*u, x) + d(v*u, y) = 0; v_t + d(u*v, x) + d(v*v, y) = 0",
    "Zakharov-Kuznetsov": "u_t + a*u*u_x + d(lap(u), x) = 0",
    "mixed": "u_t = a*d(d(u^3, x), y)",
}


def motion_of(name: str, n: int) -> tuple[Motion, Any, dict[str, float]]:
    """The motion, random modes of all wavenumbers, and numbers for the parameters."""
    plane = name in IN_THE_PLANE
    box = {"x": (0.0, 2 * np.pi), "y": (-1.0, 2.0)} if plane else {"x": (0.0, 2 * np.pi)}
    motion = Motion.of((IN_THE_PLANE if plane else EQUATIONS)[name], box, n)
    values = np.random.default_rng(0).standard_normal((len(motion.state), *motion.grid.shape))
    values = values + 10.0 * (name in POSITIVE)
    numbers = {p: 0.7 + 0.2 * index for index, p in enumerate(motion.equation.parameters)}
    return motion, motion.grid.to_modes(values), numbers


def as_typed(motion: Motion, modes: np.ndarray, parameters: dict[str, float]) -> np.ndarray:
    """Every field and derivative at the points of the finer grid, every term there, and back."""
    system, grid = motion.equation.system, motion.grid
    finer = grid.padded(system.padding)
    axes = tuple(range(len(grid.shape)))
    numbers: dict[Any, Any] = {parameter(p): value for p, value in parameters.items()}
    places = zip(motion.equation.coordinates, finer.points(), strict=True)
    values = numbers | {coordinate(TIME): NOW} | {coordinate(c): x for c, x in places}
    for atom in {atom for expr in system.rest for atom in atoms_of(expr)}:
        symbol = derivative_symbol(atom, motion.equation.coordinates)
        factor = symbol.evaluate(lambda order: evaluate(order, numbers, np)).at(grid.wavenumbers, np)
        wide = grid.pad((factor * modes[motion.state.index(field_name(atom))])[None], finer)[0]
        values[atom] = np.fft.irfftn(np.asarray(wide), finer.shape, axes=axes, norm="forward")
    rows = [np.broadcast_to(evaluate(expr, values, np), finer.shape) for expr in system.rest]
    wide = np.stack([np.fft.rfftn(row, axes=axes, norm="forward") for row in rows])
    return np.asarray(grid.truncate(wide, finer))


@pytest.mark.parametrize("n", [16, 15])
@pytest.mark.parametrize("name", [*EQUATIONS, *IN_THE_PLANE])
def test_the_rest_is_that_of_the_terms_as_typed(name: str, n: int) -> None:
    motion, modes, parameters = motion_of(name, n)
    expected = as_typed(motion, np.asarray(modes), parameters)
    found = motion.rest(modes, parameters, NOW)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12 * max(1.0, np.max(np.abs(expected))))


def transforms(jaxpr: Any) -> int:
    """Fourier transforms of single fields in a traced function; those of one call are counted one by one."""
    count = 0
    for step in jaxpr.eqns:
        if step.primitive.name == "fft":
            sides = len(step.params["fft_lengths"])
            count += prod(step.outvars[0].aval.shape[:-sides])
        for inner in jax.tree.leaves(step.params, is_leaf=lambda p: hasattr(p, "jaxpr")):
            count += transforms(inner.jaxpr) if hasattr(inner, "jaxpr") else 0
    return count


@pytest.mark.parametrize(
    ("name", "count"),
    [
        ("Burgers", 2),  # u; u². As typed: u, u_x; u u_x
        ("porous medium", 2),  # as typed: u, u_x, u_xx; one product
        ("in front beside as typed", 3),
        ("Allen-Cahn", 2),
        ("Schroedinger", 4),
        ("Lotka-Volterra", 3),  # u, v; u v for both
        ("advection", 8),
        ("divergence form", 5),
        ("linear", 0),
    ],
)
def test_transforms_are_counted(name: str, count: int) -> None:
    motion, modes, parameters = motion_of(name, 16)
    traced = jax.make_jaxpr(lambda now: motion.rest(now, parameters))(modes)
    assert transforms(traced.jaxpr) == count


def test_sums_are_modes_once_divided() -> None:
    motion, _, _ = motion_of("advection", 15)
    finer = motion.grid.padded(motion.equation.system.padding)
    fields = np.random.default_rng(1).standard_normal((2, *finer.shape))
    modes = motion.grid.truncate(finer.to_modes(fields), finer)
    sums = motion.grid.sums(fields, finer)
    np.testing.assert_allclose(sums * motion.grid.kept / prod(finer.shape), modes, atol=1e-15)
