"""What the flow's posterior must look like as plain data and arrays, before a `LearnedFlow` is made of them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from hiddenphysics.equation import Equation
from hiddenphysics.errors import DataError
from hiddenphysics.loader import Mismatch, finite, integer, listing, mapping, optional, record, text

PLACE = "what the flow has learned"


def check_packed(equation: Equation, plain: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> None:
    """Refuse values and shapes that do not belong together; W windows, K amplitudes, q rows, P parameters."""
    sides, unknowns = len(equation.coordinates), len(equation.parameters)
    record(
        {
            "values": mapping(finite),
            "units": mapping(_positive),
            "span": finite,
            "dt": _positive,
            "box": listing(listing(finite, length=2), length=sides),
            "shape": listing(integer, length=sides),
            "waves": listing(integer, length=sides),
            "noise": finite,
        },
        {"outside": optional(listing(text))},
    )(dict(plain), PLACE)
    if not set(equation.parameters) <= set(plain["values"]):
        raise Mismatch(
            list(plain["values"]), f"{PLACE}.values", f"one for each of {', '.join(equation.parameters)}"
        )
    if any(2 * waves >= points for waves, points in zip(plain["waves"], plain["shape"], strict=True)):
        raise Mismatch(plain["waves"], f"{PLACE}.waves", "fewer waves than half the points")
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
    _ends_with("envelope", arrays, plain["shape"])
    _agree("ends", arrays, "WD2", lengths | {"D": sides, "2": 2})
    for name, array in arrays.items():
        if array.dtype.kind not in "iuf" or (name != "covariance" and np.isnan(array).any()):
            raise DataError(f"the array {name:.60} of {PLACE} holds other things than numbers.")


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


def _ends_with(name: str, arrays: Mapping[str, np.ndarray], shape: list[int]) -> None:
    found = arrays[name].shape if name in arrays else ()
    if list(found[-len(shape) :]) != shape or math.prod(found) == 0:
        raise DataError(f"the array {name} of {PLACE} has the shape {found}; it ends with {shape!s:.60}.")
