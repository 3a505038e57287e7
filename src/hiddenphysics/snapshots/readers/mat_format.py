"""The numeric arrays of a MATLAB file, versions 4 to 7.2, read as its format is written down.

SciPy's reader crashes on one damaged file in a hundred and fifty, for it trusts lengths that the file tells. Here every
length is compared with what is there, nothing is unfolded that could not be a variable, and what is no plain array of
numbers (text, cells, structures, sparse matrices) is passed over.

References
----------
MathWorks, "MAT-File Format", versions 4 and 5.
"""

from __future__ import annotations

import math
import struct
import zlib
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hiddenphysics.loader import check_unfolded

HEADER = 128
"""Bytes before the first element; the last four are the version and the mark of the byte order."""
NUMBERS = {1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4", 7: "f4", 9: "f8", 12: "i8", 13: "u8"}
"""Types of elements that hold numbers."""
MATRIX, COMPRESSED = 14, 15
CLASSES = range(6, 16)
"""Classes of arrays that are plain: double, single, and eight kinds of integers."""
COMPLEX = 0x0800
MOST_AXES, LONGEST_NAME = 32, 1024

VERSION_4 = {0: "f8", 1: "f4", 2: "i4", 3: "i2", 4: "u2", 5: "u1"}
"""Types of arrays in files of version 4, by the tens of their type."""

TRUSTED = "Write it without compression, if you trust it: save('file.mat', '-v6')."


class Variable(NamedTuple):
    """An array and its name."""

    name: str
    values: NDArray[Any]


class _Element(NamedTuple):
    """A piece of a file of version 5: its type, its bytes, and where the next one begins."""

    kind: int
    content: memoryview
    end: int


def is_version_5(content: memoryview) -> bool:
    """Whether the mark of the byte order stands where version 5 has it."""
    return bytes(content[126:128]) in (b"IM", b"MI")


def variables(content: memoryview) -> Iterator[Variable]:
    """Give the plain arrays of a file, in order; `ValueError` where the file does not keep to the format."""
    return _version_5(content) if is_version_5(content) else _version_4(content)


# ---- versions 5 to 7.2 --------------------


def _version_5(content: memoryview) -> Iterator[Variable]:
    order = "<" if bytes(content[126:128]) == b"IM" else ">"
    place, values = HEADER, 0
    while place < len(content):
        element = _element(content, place, order, padded=False)
        inner, place = element, element.end
        if element.kind == COMPRESSED:
            inner = _element(_unfolded(element.content, order, len(content)), 0, order, padded=False)
        if inner.kind == MATRIX:
            found = _matrix(inner.content, order)
            if found is not None:
                values += found.values.size
                check_unfolded(values, len(content), TRUSTED)
                yield found


def _element(content: memoryview, place: int, order: str, *, padded: bool = True) -> _Element:
    """Read the element at a place; inside arrays they begin at multiples of eight bytes."""
    if place + 8 > len(content):
        raise ValueError("it ends in the middle of a tag")
    kind, size = struct.unpack_from(f"{order}II", content, place)
    start = place + 8
    if kind >> 16:  # a small one: its length stands beside its type, its bytes in the place of the length
        kind, size, start = kind & 0xFFFF, kind >> 16, place + 4
        if size > 4:
            raise ValueError("a small element is longer than it can be")
    if start + size > len(content):
        raise ValueError(f"an element of {size} bytes is longer than the rest of the file")
    end = max(start + size, place + 8)
    if padded:
        end += -end % 8
    elif kind != COMPRESSED:
        end += -(end - place) % 8
    return _Element(kind, content[start : start + size], end)


def _unfolded(content: memoryview, order: str, size: int) -> memoryview:
    """Unfold a compressed element: its tag first, which says how long it will be, then no more than that."""
    stream = zlib.decompressobj()
    tag = stream.decompress(content, 8)
    length = struct.unpack(f"{order}II", tag)[1]
    check_unfolded(length // 8, size, TRUSTED)
    rest = stream.decompress(stream.unconsumed_tail, length)
    if len(rest) < length:
        raise ValueError("a compressed element is cut off")
    stream.decompress(stream.unconsumed_tail, 64)  # so that the checksum at its end is compared
    return memoryview(tag + rest)


def _matrix(content: memoryview, order: str) -> Variable | None:
    """Read an array; None where it is no plain one."""
    flags = _element(content, 0, order)
    if len(flags.content) != 8:
        raise ValueError("an array has no flags")
    (word,) = struct.unpack_from(f"{order}I", flags.content)
    if word & 0xFF not in CLASSES:
        return None
    axes = _element(content, flags.end, order)
    shape = tuple(np.frombuffer(axes.content, f"{order}i4").tolist())
    if not 1 < len(shape) <= MOST_AXES or min(shape) < 0:
        raise ValueError(f"an array has the shape {shape!s:.100}")
    name = _element(content, axes.end, order)
    real = _element(content, name.end, order)
    values = _numbers(real, shape, order)
    if word & COMPLEX:
        values = _complex(values, _numbers(_element(content, real.end, order), shape, order))
    return Variable(_word(name.content), values)


def _numbers(element: _Element, shape: tuple[int, ...], order: str) -> NDArray[Any]:
    if element.kind not in NUMBERS:
        raise ValueError(f"an array holds elements of type {element.kind}, which are no numbers")
    dtype = np.dtype(order + NUMBERS[element.kind])
    if math.prod(shape) * dtype.itemsize != len(element.content):
        raise ValueError(f"an array of shape {shape} holds {len(element.content)} bytes")
    return np.frombuffer(element.content, dtype).reshape(shape, order="F")


def _complex(real: NDArray[Any], imaginary: NDArray[Any]) -> NDArray[np.complex128]:
    values = np.empty(real.shape, complex)
    values.real, values.imag = real, imaginary
    return values


def _word(content: memoryview | bytes) -> str:
    return bytes(content[:LONGEST_NAME]).decode("latin-1")


# ---- version 4 --------------------


def _version_4(content: memoryview) -> Iterator[Variable]:
    (first,) = struct.unpack_from("<i", content)
    order = "<" if 0 <= first < 5000 else ">"
    place = 0
    while place < len(content):
        if place + 20 > len(content):
            raise ValueError("it ends in the middle of a header")
        kind, rows, columns, is_complex, length = struct.unpack_from(f"{order}5i", content, place)
        place += 20
        machine, kept, precision, matrix = kind // 1000, kind // 100 % 10, kind // 10 % 10, kind % 10
        if (
            machine not in (0, 1)
            or kept
            or precision not in VERSION_4
            or is_complex not in (0, 1)
            or matrix > 2
        ):
            raise ValueError("this is no header of version 4")
        dtype = np.dtype(order + VERSION_4[precision])
        size = rows * columns * dtype.itemsize
        end = place + length + size * (1 + is_complex)
        if min(rows, columns) < 0 or not 0 < length <= LONGEST_NAME or end > len(content):
            raise ValueError("an array is longer than the rest of the file")
        if matrix == 0:
            name = _word(bytes(content[place : place + length]).rstrip(b"\0"))
            parts = [
                np.frombuffer(content, dtype, rows * columns, place + length + k * size).reshape(
                    (rows, columns), order="F"
                )
                for k in range(1 + is_complex)
            ]
            yield Variable(name, _complex(*parts) if is_complex else parts[0])
        place = end
