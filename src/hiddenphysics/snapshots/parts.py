"""Complex fields as pairs of real fields: `h` is kept as `h_re` and `h_im`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

RE, IM = "_re", "_im"

# Spectral solvers leave an imaginary part behind: 2e-6 of the real one in the KdV recording of the paper.
ROUND_OFF = 1e-5


def complex_names(fields: Iterable[str]) -> tuple[str, ...]:
    """Find the complex fields: every `h` for which both `h_re` and `h_im` are there.

    >>> complex_names(("u", "h_re", "h_im"))
    ('h',)
    """
    fields = tuple(fields)
    stems = (name.removesuffix(RE) for name in fields if name.endswith(RE) and name != RE)
    return tuple(stem for stem in stems if stem + IM in fields)


def split(fields: Mapping[str, NDArray[Any]]) -> list[tuple[str, NDArray[np.float64]]]:
    """Turn complex arrays into their real parts, in order; real arrays pass through.

    A complex array with max|imag| ≤ 1e-5 · max|real| is taken as real: what is left is a solver's round-off.
    NaN and infinite entries do not count in that comparison.
    """
    pairs: list[tuple[str, NDArray[np.float64]]] = []
    for name, array in fields.items():
        if array.dtype.kind != "c":
            pairs.append((name, array))
        elif _is_round_off(array):
            pairs.append((name, array.real))
        else:
            pairs += [(name + RE, array.real), (name + IM, array.imag)]
    return pairs


def _is_round_off(array: NDArray[np.complex128]) -> bool:
    finite = array[np.isfinite(array)]
    if not finite.size:
        return False
    return bool(np.max(np.abs(finite.imag)) <= ROUND_OFF * np.max(np.abs(finite.real)))
