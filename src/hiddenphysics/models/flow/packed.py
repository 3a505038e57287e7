"""What the flow's posterior must look like as plain data and arrays, before a `LearnedFlow` is made of them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from hiddenphysics.equation import Equation
from hiddenphysics.errors import DataError
from hiddenphysics.loader import Mismatch, finite, integer, listing, mapping, record
from hiddenphysics.spectral import Features, Grid, groups_of, process_count

PLACE = "what the flow has learned"

LARGEST = 1e150
"""Beyond, products of two numbers overflow: no fit has learned such a one."""


def check_packed(equation: Equation, plain: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> None:
    """Refuse values and shapes that do not belong together; W windows, K amplitudes, q rows, P parameters."""
    sides, unknowns = len(equation.coordinates), len(equation.parameters)
    record(
        {
            "values": mapping(_real),
            "units": mapping(_positive),
            "span": finite,
            "dt": _positive,
            "box": listing(listing(finite, length=2), length=sides),
            "shape": listing(integer, length=sides),
            "waves": listing(integer, length=sides),
            "noise": _positive,
        },
        {"outside": listing(integer)},
    )(dict(plain), PLACE)
    if not set(equation.parameters) <= set(plain["values"]):
        raise Mismatch(
            list(plain["values"]), f"{PLACE}.values", f"one for each of {', '.join(equation.parameters)}"
        )
    if any(not 0 < 2 * waves < points for waves, points in zip(plain["waves"], plain["shape"], strict=True)):
        raise Mismatch(plain["waves"], f"{PLACE}.waves", "some waves, and fewer than half the points,")
    lengths: dict[str, int] = {"P": unknowns}
    for name, axes in {
        "windows": "W",
        "z": "WK",
        "A": "WqK",
        "B": "WqP",
        "rest": "PP",
        "spectrum": "K",
        "known": "Wq",
        "covariance": "PP",
    }.items():
        _agree(name, arrays, axes, lengths)
    _fits_the_grid(equation, plain, arrays, lengths["K"])
    _agree("ends", arrays, "WD2", lengths | {"D": sides, "2": 2})
    for name, array in arrays.items():
        if array.dtype.kind not in "iuf" or (name != "covariance" and not (np.abs(array) < LARGEST).all()):
            raise DataError(
                f"the array {name:.60} of {PLACE} holds other things than numbers that can be used."
            )
    if (arrays["spectrum"] < 0).any() or (arrays["known"] < 0).any():
        raise DataError(f"{PLACE} holds variances below 0.")


def _real(value: Any, place: str) -> None:
    """Take a finite number that is no whole one by its type: what is differentiated by must not be."""
    finite(value, place)
    if isinstance(value, int):
        raise Mismatch(value, place, "a number with a decimal point")


def _positive(value: Any, place: str) -> None:
    finite(value, place)
    if not value > 0:
        raise Mismatch(value, place, "a number above 0")


def _agree(name: str, arrays: Mapping[str, np.ndarray], axes: str, lengths: dict[str, int]) -> None:
    """Compare an array's shape with the lengths of its axes; those that were not known yet are from now on."""
    if name not in arrays:
        raise DataError(f"{PLACE} lacks the array {name}.")
    shape = arrays[name].shape
    if len(shape) != len(axes) or any(
        lengths.setdefault(a, n) != n for a, n in zip(axes, shape, strict=True)
    ):
        raise DataError(f"the array {name} of {PLACE} has the shape {shape}, which does not fit the others.")


def _fits_the_grid(
    equation: Equation, plain: Mapping[str, Any], arrays: Mapping[str, np.ndarray], amplitudes: int
) -> None:
    """Compare the envelope, (W, R, *shape), with the grid, and the number of amplitudes with the waves on it."""
    shape, waves = tuple(plain["shape"]), tuple(plain["waves"])
    found = arrays["envelope"].shape if "envelope" in arrays else ()
    if len(found) != len(shape) + 2 or found[2:] != shape or math.prod(found) == 0:
        raise DataError(f"the envelope of {PLACE} has the shape {found}; it ends with {shape!s:.60}.")
    processes = process_count(groups_of(equation))
    if found[1] != processes:
        raise DataError(
            f"the envelope of {PLACE} has {found[1]} processes; the equation's state is made of {processes}."
        )
    # From here on the grid is known to be as small as an array in the file.
    count = found[1] * Features(Grid(tuple((low, high) for low, high in plain["box"]), shape), waves).count
    count += len(equation.system.state) - found[1]
    if amplitudes < count or (amplitudes > count and not plain.get("outside")):
        raise DataError(f"{PLACE} holds {amplitudes} amplitudes for {count} waves.")
