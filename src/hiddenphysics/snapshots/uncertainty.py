"""Known errors of single values: the column `u_std` beside the field `u`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hiddenphysics.errors import DataError

STD = "_std"


def name_of(field: str) -> str:
    """Return the name of the column that holds a field's standard deviations."""
    return field + STD


def field_of(column: str) -> str:
    """Return the field whose standard deviations a column holds; the column's own name if it holds none."""
    return column.removesuffix(STD)


def split(
    columns: Mapping[str, NDArray[Any]],
) -> tuple[dict[str, NDArray[Any]], dict[str, NDArray[np.float64]]]:
    """Part the fields from their standard deviations, which are kept by the field's name."""
    stds = {field_of(name): np.array(column) for name, column in columns.items() if _is_std(name, columns)}
    for field, std in stds.items():
        if std.dtype.kind == "c" or not np.all(std > 0):
            raise DataError(
                f"{name_of(field)} holds {std[~(std > 0)][0] if std.dtype.kind != 'c' else 'complex numbers'}; the"
                f" standard deviation of {field} is a positive number at every point. Leave the column out where it"
                " is not known."
            )
    fields = {name: column for name, column in columns.items() if field_of(name) not in stds or name in stds}
    return fields, stds


def _is_std(name: str, columns: Mapping[str, Any]) -> bool:
    return name.endswith(STD) and field_of(name) in columns
