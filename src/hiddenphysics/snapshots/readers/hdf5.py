"""HDF5 that is no netCDF: plain arrays and tables as h5py writes them, and MATLAB's files of version 7.3.

Every file is tried in a child process first, which also sees to it that it does not unfold to too much.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hiddenphysics.errors import DataError
from hiddenphysics.loader import Trial
from hiddenphysics.snapshots.collection import Snapshots
from hiddenphysics.snapshots.readers.arrays import TIME_FIRST, is_large, named, snapshots_from
from hiddenphysics.snapshots.readers.netcdf import read_netcdf, read_tried
from hiddenphysics.snapshots.readers.request import Request
from hiddenphysics.snapshots.sentences import names
from hiddenphysics.snapshots.stored_array import StoredArray

if TYPE_CHECKING:
    import h5py

SIGNATURE = b"\x89HDF\r\n\x1a\n"
"""The first bytes of HDF5; MATLAB puts a header of its own in front of them."""
NETCDF = ("_NCProperties", "_nc3_strict")
"""Attributes by which netCDF-4 marks its files."""
MATLABS_OWN = ("#refs#", "#subsystem#")
"""Groups in which MATLAB keeps cells and objects."""


def read_hdf5(path: Path, request: Request) -> Snapshots:
    """Read netCDF-4 as such; otherwise every array of numbers by its name, in whatever group, and columns of tables."""
    with path.open("rb") as file:
        start = file.read(len(SIGNATURE))
    if start != SIGNATURE:
        # An old netCDF under the name of HDF5 is read, too; anything else gets its sentence there.
        return read_netcdf(path, request)
    with _tried(path) as file:
        if _is_netcdf(file):
            file.close()
            return read_tried(path, request)
        found = _by_name(path, file)
        units = {name: _text(item.attrs.get("units", "")) for name, item in found.items()}
        arrays: dict[str, Any] = {}
        for name, item in found.items():
            if item.dtype.names:
                arrays |= {column: item[column] for column in item.dtype.names}
            else:
                arrays[name] = item
        arrays = _read(path, arrays)
    return snapshots_from(
        named(arrays, request, units), request.missing, TIME_FIRST, all_fit=False, origin=path.name
    )


def matlab_arrays(path: Path) -> dict[str, Any]:
    """Return the arrays of a MATLAB file of version 7.3, with their axes as MATLAB has them."""
    with _tried(path) as file:
        items = {
            name: item
            for name, item in _datasets(file)
            if not name.startswith(MATLABS_OWN)
            and "MATLAB_empty" not in item.attrs
            and _text(item.attrs.get("MATLAB_class", "double")) not in ("char", "logical", "cell", "struct")
        }
        return {name: _transposed(array) for name, array in _read(path, items).items()}


def _tried(path: Path) -> h5py.File:
    with Trial(path) as trial:
        import h5py

        trial.check()
    return h5py.File(path, "r")


def _is_netcdf(file: h5py.File) -> bool:
    return any(mark in file.attrs for mark in NETCDF) or any(
        "DIMENSION_LIST" in item.attrs or item.attrs.get("CLASS") == b"DIMENSION_SCALE"
        for _, item in _datasets(file)
    )


def _datasets(file: h5py.File) -> Iterator[tuple[str, Any]]:
    """Give all datasets with their paths."""
    import h5py

    found: list[tuple[str, Any]] = []

    def note(name: str, item: Any) -> None:
        if isinstance(item, h5py.Dataset) and item.shape is not None:
            found.append((name, item))

    file.visititems(note)
    return iter(found)


def _by_name(path: Path, file: h5py.File) -> dict[str, Any]:
    """Return the datasets by the last part of their paths; refuse two of one name, for one would hide the other."""
    found: dict[str, Any] = {}
    for place, item in _datasets(file):
        name = place.rpartition("/")[2]
        if name in found:
            raise DataError(
                f"two arrays are called {name}: {names([found[name].name, item.name])}. Give one of the groups a file"
                f" of its own, as in h5py.File('new.h5', 'w').copy(file['{item.parent.name}'], 'group')."
            )
        found[name] = item
    return found


def _read(path: Path, items: dict[str, Any]) -> dict[str, Any]:
    """Read arrays of numbers; where they are large, leave them on disk."""
    numbers = {
        name: item for name, item in items.items() if item.dtype.kind in "iufc" or _is_complex(item.dtype)
    }
    if is_large(item.size for item in numbers.values()):
        return {
            name: item if isinstance(item, np.ndarray) else StoredArray.of(Hdf5Array(path, item))
            for name, item in numbers.items()
        }
    return {name: _complex(np.asarray(item[()])) for name, item in numbers.items()}


class Hdf5Array:
    """Values in a file of HDF5, which is opened for every piece: so nothing is left open."""

    def __init__(self, path: Path, item: Any) -> None:
        self._path, self._name = path, item.name
        self.shape: tuple[int, ...] = item.shape
        self.dtype: np.dtype[Any] = np.dtype(complex) if _is_complex(item.dtype) else item.dtype

    def __getitem__(self, index: tuple[slice, ...]) -> NDArray[Any]:
        import h5py

        with h5py.File(self._path, "r") as file:
            return _complex(np.asarray(file[self._name][index]))


def _transposed(array: Any) -> Any:
    """MATLAB's first axis runs fastest, HDF5's last one."""
    return array.transpose(range(array.ndim)[::-1])


def _is_complex(dtype: np.dtype[Any]) -> bool:
    """Whether MATLAB wrote complex numbers: pairs of `real` and `imag`."""
    return dtype.names == ("real", "imag")


def _complex(values: NDArray[Any]) -> NDArray[Any]:
    return values["real"] + 1j * values["imag"] if _is_complex(values.dtype) else values


def _text(attribute: Any) -> str:
    return attribute.decode("utf-8", "replace") if isinstance(attribute, bytes) else str(attribute)
