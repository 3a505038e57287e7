"""Columns that belong together, told by the ends of their names.

`h_re` and `h_im` are the real and the imaginary part of a complex field `h`; `u_std` beside a field `u` holds the known
standard deviations of its values.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hiddenphysics.errors import DataError

RE, IM = "_re", "_im"
STD = "_std"

ROUND_OFF = 1e-5
"""Imaginary values below this fraction of the real ones count as none.

Spectral solvers leave some behind: 2e-6 of the real part in the KdV recording of the paper.
"""


def complex_names(fields: Iterable[str]) -> tuple[str, ...]:
    """Find the complex fields: every `h` for which both `h_re` and `h_im` are there.

    >>> complex_names(("u", "h_re", "h_im"))
    ('h',)
    """
    fields = tuple(fields)
    stems = (name.removesuffix(RE) for name in fields if name.endswith(RE) and name != RE)
    return tuple(stem for stem in stems if stem + IM in fields)


def other_part(name: str) -> str:
    """Name of the other part of a complex field; for other names, a name that no field has."""
    if name.endswith(RE):
        return name.removesuffix(RE) + IM
    return name.removesuffix(IM) + RE if name.endswith(IM) else ""


def split_complex(fields: Mapping[str, NDArray[Any]]) -> list[tuple[str, NDArray[np.float64]]]:
    """Turn each complex array into its two parts, in order; real arrays pass through.

    A complex array with max|imag| ≤ 1e-5 · max|real| is taken as real: what is left is a solver's round-off.
    NaN and infinite entries do not count in that comparison.
    """
    columns: list[tuple[str, NDArray[np.float64]]] = []
    for name, array in fields.items():
        if array.dtype.kind != "c":
            columns.append((name, array))
        elif is_round_off([array]):
            columns.append((name, array.real))
        else:
            columns += [(name + RE, array.real), (name + IM, array.imag)]
    return columns


def is_round_off(pieces: Iterable[NDArray[np.complex128]]) -> bool:
    """Whether the imaginary part of an array, given in pieces, is a solver's round-off."""
    real, imaginary, some = 0.0, 0.0, False
    for piece in pieces:
        finite = piece[np.isfinite(piece)]
        if finite.size:
            some = True
            real = max(real, float(np.max(np.abs(finite.real))))
            imaginary = max(imaginary, float(np.max(np.abs(finite.imag))))
    return some and imaginary <= ROUND_OFF * real


def deviation_name(field: str) -> str:
    """Return the name of the column that holds a field's standard deviations."""
    return field + STD


def field_of(column: str) -> str:
    """Return the field whose standard deviations a column holds; the column's own name if it holds none."""
    return column.removesuffix(STD)


def split_deviations(
    columns: Mapping[str, NDArray[Any]],
) -> tuple[dict[str, NDArray[Any]], dict[str, NDArray[np.float64]]]:
    """Separate the fields from their standard deviations, which are kept by the field's name."""
    stds = {
        field_of(name): np.array(column) for name, column in columns.items() if is_deviation(name, columns)
    }
    for field, std in stds.items():
        check_deviations(field, std)
    fields = {name: column for name, column in columns.items() if field_of(name) not in stds or name in stds}
    return fields, stds


def check_deviations(field: str, std: NDArray[Any]) -> None:
    """Refuse standard deviations of a field that are negative or no numbers.

    Known errors add to the learned noise, so 0 is a value like others: there the learned noise is all.
    """
    if std.dtype.kind == "c" or not np.all(std >= 0):
        wrong = "complex numbers" if std.dtype.kind == "c" else std[~(std >= 0)][0]
        raise DataError(
            f"{deviation_name(field)} holds {wrong}; the standard deviation of {field} is a number at every point,"
            " positive, or 0 where the learned noise is all the error. Leave the column out if it is not known."
        )


def is_deviation(name: str, columns: Container[str]) -> bool:
    """Whether a column holds the standard deviations of another one."""
    return name.endswith(STD) and field_of(name) in columns
