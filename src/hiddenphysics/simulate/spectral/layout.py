"""Boxes and shapes as users write them, by coordinate or alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hiddenphysics.errors import ModelError
from hiddenphysics.simulate.spectral.grid import Box


def box_of(coordinates: Sequence[str], box: Mapping[str, Sequence[float]] | Sequence[float]) -> Box:
    """Return (low, high) along each coordinate."""
    if not isinstance(box, Mapping):
        box = {coordinates[0]: box} if len(coordinates) == 1 else {}
    sides = []
    for name in coordinates:
        if len(box) != len(coordinates) or name not in box or len(box[name]) != 2:
            wanted = ", ".join(f"{c!r}: (-8, 8)" for c in coordinates)
            raise ModelError(
                f"The box does not give two ends for each of the coordinates {', '.join(coordinates)}, and "
                f"for no other. Write box={{{wanted}}}."
            )
        low, high = box[name]
        sides.append((float(low), float(high)))
    return tuple(sides)


def shape_of(coordinates: Sequence[str], shape: Mapping[str, int] | Sequence[int] | int) -> tuple[int, ...]:
    """Return the number of points along each coordinate."""
    if isinstance(shape, Mapping):
        numbers: list[Any] = [shape.get(name, 0) for name in coordinates]
        return tuple(numbers)
    return tuple(shape) if isinstance(shape, Sequence) else (shape,) * len(coordinates)
