"""Which constraints can be solved wavenumber by wavenumber; the others are refused with what to type."""

from __future__ import annotations

from typing import Any

import numpy as np
import sympy

from hiddenphysics.equation import (
    TIME,
    Constraints,
    Tied,
    atoms_of,
    coordinate,
    field_name,
    parameter,
    slopes,
)
from hiddenphysics.errors import ModelError

SEEDS = (0, 1)
"""Wave vectors drawn at random tell the rank of matrices of polynomials: it is smaller by chance only."""

RANK = 1e-9
"""Singular values of such a matrix, its rows and columns scaled to 1, that are rounding."""


def check_solvable(constraints: Constraints) -> None:
    """Refuse what cannot be solved wavenumber by wavenumber, with a sentence that says why and what to type."""
    for name, rate in constraints.system.rates.items():
        for atom, slope in slopes(rate).items():
            if field_name(atom) in constraints.multipliers and (
                atoms_of(slope) or slope.free_symbols & _places()
            ):
                _refuse_factor(constraints, field_name(atom), name)
    for seed in SEEDS:
        _check_ranks(constraints, _drawn(constraints, seed))


def _drawn(constraints: Constraints, seed: int) -> Tied:
    """Return the matrices at a wave vector and parameters drawn at random."""
    rng = np.random.default_rng(seed)
    equation = constraints.system.equation
    k = rng.uniform(0.5, 1.5, len(equation.coordinates)) * rng.choice([-1, 1], len(equation.coordinates))
    numbers = {parameter(p): v for p, v in zip(equation.parameters, rng.uniform(0.5, 1.5, 99), strict=False)}
    return constraints.at(list(k), numbers, np)


def _check_ranks(constraints: Constraints, tied: Tied) -> None:
    mass, forces = _array(tied.mass), _array(tied.forces, len(tied.mass))
    on_rates, on_slaved = _array(tied.on_rates), _array(tied.on_slaved, len(constraints.ties))
    count = len(mass)
    if constraints.ties:
        size = np.abs(on_rates).max()
        on_rates = on_rates - on_slaved @ (np.linalg.pinv(on_slaved) @ on_rates)
        on_rates = np.where(np.abs(on_rates) > RANK * size, on_rates, 0.0)
    else:
        on_rates = np.zeros((0, count))
    enforced = rank(on_rates)
    whole = np.block([
        [mass, forces],
        [on_rates, np.zeros((len(on_rates), forces.shape[1]))],
    ])  # fmt: skip
    if constraints.multipliers and enforced == 0:
        _refuse_free(constraints)
    if enforced > rank(forces):
        _refuse_overdetermined(constraints)
    if rank(forces) > enforced or len(constraints.multipliers) > rank(forces):
        _refuse_free(constraints)
    if rank(whole) < count + enforced:
        raise ModelError(
            f"{_listed(constraints)} cannot be kept by {', '.join(constraints.multipliers) or 'any field'}: the "
            "equations are singular, whatever the wavenumber. Check which derivatives stand where: with u_x + v_y = 0 "
            "the momentum equations hold p_x and p_y."
        )
    if constraints.slaved and rank(on_slaved) < len(constraints.slaved):
        _check_gauge(constraints, on_slaved)


def _check_gauge(constraints: Constraints, on_slaved: np.ndarray) -> None:
    """Refuse slaved fields that the ties leave open where the motion needs them, unlike a vector potential."""
    used = {field_name(atom) for rate in constraints.system.rates.values() for atom in atoms_of(rate)}
    for name in constraints.slaved:
        rest = [j for j, other in enumerate(constraints.slaved) if other != name]
        if name in used and rank(on_slaved[:, rest]) == rank(on_slaved):
            raise ModelError(
                f"{_listed(constraints)} leave {name} open, and the evolution equations need it. Add a statement that "
                f"determines {name}, such as lap({name}) = -w, or an equation for {name}_t."
            )


def _listed(constraints: Constraints) -> str:
    return "; ".join(constraints.shown)


def _refuse_factor(constraints: Constraints, name: str, row: str) -> None:
    raise ModelError(
        f"{name} has no time derivative and stands in no statement of its own, so it is what keeps "
        f"{_listed(constraints) or 'nothing'}; as such it must enter linearly and with constant coefficients, which it "
        f"does not in the equation of {row}. Divide that equation by what multiplies {name}, or write an equation "
        f"for {name}_t."
    )


def _refuse_free(constraints: Constraints) -> None:
    names = ", ".join(constraints.multipliers)
    raise ModelError(
        f"The equation gives no time derivative of {names}, and no statement that {names} could keep: nothing "
        f"determines {'it' if len(constraints.multipliers) == 1 else 'them'}. Add such a statement, as u_x + v_y = 0 "
        f"for a pressure, or write an equation for {constraints.multipliers[0]}_t."
    )


def _refuse_overdetermined(constraints: Constraints) -> None:
    able = ", ".join(constraints.multipliers)
    by = f"only {able} could keep it" if able else "no field without a time derivative could keep it"
    raise ModelError(
        f"{_listed(constraints)} ties fields together that the evolution equations move already, and {by}: the "
        "system is over-determined. Add the gradient of a pressure, as + p_x and + p_y with u_x + v_y = 0, or drop the "
        "statement."
    )


def rank(matrix: np.ndarray) -> int:
    """Return the rank of a matrix whose rows and columns may be of very different size."""
    if not matrix.size:
        return 0
    for axis in (1, 0, 1):
        size = np.abs(matrix).max(axis=axis, keepdims=True)
        matrix = matrix / np.where(size > 0, size, 1.0)
    return int(np.sum(np.linalg.svd(matrix, compute_uv=False) > RANK))


def _array(entries: list[list[Any]], rows: int = 0) -> np.ndarray:
    """Return a matrix of numbers, of so many rows where it has no column."""
    return (
        np.array(entries, complex) if entries and entries[0] else np.zeros((rows or len(entries), 0), complex)
    )


def _places() -> set[sympy.Expr]:
    return {coordinate(name) for name in (TIME, "x", "y", "z")}
