"""`read`, and the readers it chooses from by what the user has."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar, Union

import numpy as np
from numpy.typing import ArrayLike

from hiddenphysics.errors import DataError, HiddenPhysicsError
from hiddenphysics.loader import check_regular
from hiddenphysics.registry import Registry
from hiddenphysics.snapshots.collection import Snapshots
from hiddenphysics.snapshots.readers.arrays import TIME_FIRST, is_large, named, snapshots_from
from hiddenphysics.snapshots.readers.hdf5 import read_hdf5
from hiddenphysics.snapshots.readers.mat import read_mat
from hiddenphysics.snapshots.readers.netcdf import from_xarray, read_netcdf, read_zarr
from hiddenphysics.snapshots.readers.npz import read_npy_folder, read_npz
from hiddenphysics.snapshots.readers.records import joined
from hiddenphysics.snapshots.readers.request import Request
from hiddenphysics.snapshots.readers.table import from_frame, read_table
from hiddenphysics.snapshots.readers.tabular_files import read_parquet, read_spreadsheet
from hiddenphysics.snapshots.sentences import names
from hiddenphysics.snapshots.snapshot import Snapshot
from hiddenphysics.snapshots.stored_array import StackedSource, StoredArray
from hiddenphysics.snapshots.validation import Missing

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

Readable: TypeAlias = Union[
    str, Path, "pd.DataFrame", "xr.Dataset", "xr.DataArray", Mapping[str, ArrayLike], Iterable[Snapshot]
]
"""What `read` takes."""

Reader: TypeAlias = Callable[[Path, Request], Snapshots]
"""Reads the file or folder at a path as the request says: which columns, missing values, the unit of time.

What it raises as a `DataError` reaches the user with the name of the file in front.
"""

Made = TypeVar("Made")

READERS: Registry[Reader] = Registry("kind of file", DataError)
"""The reader of each kind of file, by the ending in small letters: `READERS.add(".xyz", read_xyz)` adds one."""

READERS.add(".csv", read_table)
READERS.add(".tsv", read_table)
READERS.add(".txt", read_table)
READERS.add(".dat", read_table)
READERS.add(".npz", read_npz)
READERS.add(".npy", read_npy_folder)
READERS.add(".mat", read_mat)
READERS.add(".zarr", read_zarr)
READERS.add(".nc", read_netcdf)
READERS.add(".netcdf", read_netcdf)
READERS.add(".h5", read_hdf5)
READERS.add(".hdf5", read_hdf5)
READERS.add(".parquet", read_parquet)
READERS.add(".xlsx", read_spreadsheet)


def read(
    source: Readable,
    *,
    columns: Mapping[str, str] | None = None,
    missing: Missing = "refuse",
    time_unit: str | None = None,
) -> Snapshots:
    """Read snapshots from a file or from arrays.

    Parameters
    ----------
    source
        A path, by its ending: ``.csv .tsv .txt .dat .xlsx .parquet`` (tables), ``.npz``, ``.mat``, ``.nc .netcdf``,
        ``.h5 .hdf5``, ``.zarr``, or a folder of ``.npy`` files. Or a pandas DataFrame, an xarray Dataset or DataArray,
        a mapping of arrays, a list of any of these, or Snapshot objects.
    columns
        Which column or variable is which, ``{"name here": "name there"}``, as in ``{"x": "position", "u": "usol"}``;
        large and small letters are alike. Where a field is named, only the named fields are used.
    missing
        What to do with NaN and infinity: ``"refuse"`` them, or ``"drop"`` every point that has one. (Snapshot
        objects have passed this check already.)
    time_unit
        Unit in which dates, durations and times that tell their unit become numbers: ``"s"``, ``"min"``, ``"h"``,
        ``"d"``, …. By default that of the data; of dates the largest unit of which their span holds two.

    Notes
    -----
    Time is called `t`, `time` or `tt`; coordinates `x`, `y`, `z` (or `xx`, `yy`, `zz`), in large or small letters;
    everything else is a field and keeps its name. Columns `h_re` and `h_im` are the two parts of the complex field
    `h`; `u_std` holds the known errors of `u`, which add to the learned noise: 0 where that is all.

    *Long* data have one value per measurement in every array: t, x and u all of shape (n,). Several measurements at
    one point and time are averaged. *Gridded* data
    have axes t (T,), x (N,), and fields (T, N) or (N, T); with y, fields have the axes t, x, y in any
    order. The order is found from the lengths. Where lengths are equal, it is (t, x, y) for plain arrays
    and ``.npz``, and (x, y, t) for ``.mat``, else the other of these two; an order that still cannot be
    told is refused. NetCDF and xarray name their axes, so nothing is guessed there. A *wide* table has its times in
    the first column and one column of `u` for each position, which is its title, or the other way round where the first
    column is called `x` or `position`, or named as `x`.

    At *scattered* points fields are (T, N), and x, y, z each (N,), or (T, N) where every time has points of its
    own.

    Dates are counted from the first one. What was done to the data is told by `Snapshots.notes`, their units by
    `Snapshots.units`: of netCDF and xarray the attributes `units`, of pint its quantities, of tables ``x [m]``.

    More than two million values in ``.npz``, ``.npy``, netCDF, HDF5, Zarr, xarray or `numpy.memmap` stay where they
    are: their snapshots read them a piece at a time (`Snapshot.chunks`), and check them then.

    Variables of a file that are no field are passed over: text and single numbers; in ``.mat``, HDF5 and netCDF
    also arrays of other shapes.

    Examples
    --------
    >>> read({"t": [0, 0, 1, 1], "x": [0.0, 1.0, 0.0, 1.0], "u": [1.0, 2.0, 1.5, 2.5]})
    Snapshots(2 snapshots of u in x, t from 0 to 1, 2 points each)
    """
    return _read_object_or_file(source, Request(by_name(columns), missing, time_unit))


def by_name(columns: Any) -> dict[str, str]:
    """Return which column is which, as text."""
    if columns is not None and not isinstance(columns, Mapping):
        raise DataError(
            f"columns={columns!r:.80} was given; needed is a mapping by name, such as columns={{'x': 'position'}}."
        )
    return {str(here): str(there) for here, there in (columns or {}).items()}


def _read_file(path: Path, request: Request) -> Snapshots:
    return in_file(path, lambda file, ending: READERS[ending](file, request))


def in_file(path: Path, use: Callable[[Path, str], Made]) -> Made:
    """Hand a file to what reads it, with its ending; whatever is wrong with it ends in a sentence that names it."""
    path = path.expanduser()
    ending = path.suffix.lower()
    try:
        folder = path.is_dir()
        if folder and ending not in READERS:
            ending = ".npy"
        if not folder and not path.is_file():
            if path.exists():
                check_regular(path)
            raise DataError(
                f"There is no file {path} (looked from {Path.cwd()}); check the name and the folder."
            )
        if ending not in READERS:
            raise DataError(
                f"{path.name} ends in {path.suffix or 'nothing'}, which is no kind of file known here; known"
                f" are {names(READERS)}. Convert it to one of these."
            )
        if not folder and path.stat().st_size == 0:
            raise DataError(f"{path.name} is empty (0 bytes); write the data again.")
    except (OSError, ValueError) as problem:
        raise DataError(f"{str(path)!r:.200} could not be opened ({problem!s:.200}).") from problem
    try:
        return use(path, ending)
    except DataError as problem:
        raise DataError(f"{path.name}: {problem}") from problem
    except HiddenPhysicsError:
        raise
    # Damaged bytes can make a parser fail in any way at all; each must end in a sentence.
    except Exception as problem:
        raise DataError(
            f"{path.name} could not be read ({type(problem).__name__}: {problem!s:.200}). Write the data again."
        ) from problem


def _read_object(source: Any, request: Request) -> Snapshots:
    if _is(source, "pandas", "DataFrame"):
        return from_frame(source, request)
    if _is(source, "xarray", "Dataset") or _is(source, "xarray", "DataArray"):
        return from_xarray(source, request)
    if isinstance(source, Mapping):
        arrays, units = _arrays(source)
        return snapshots_from(named(arrays, request, units), request.missing, TIME_FIRST)
    if isinstance(source, (list, tuple)) and source and all(map(is_record, source)):
        return joined([_read_object_or_file(record, request) for record in source], request.time_unit)
    if hasattr(source, "__iter__") or isinstance(source, Snapshot):
        return joined([Snapshots(source)], request.time_unit, request.columns)
    raise DataError(
        f"Snapshots cannot be read from a {type(source).__name__}; give a path, a DataFrame, an xarray"
        " object, a mapping of arrays as in read({'t': t, 'x': x, 'u': u}), or a list of Snapshot."
    )


def is_record(source: Any) -> bool:
    """Whether `source` holds snapshots of its own, so that a list of such is one recording."""
    return isinstance(source, (str, Path, Mapping)) or any(
        _is(source, *kind)
        for kind in (("pandas", "DataFrame"), ("xarray", "Dataset"), ("xarray", "DataArray"))
    )


def _read_object_or_file(record: Any, request: Request) -> Snapshots:
    if isinstance(record, (str, Path)):
        return _read_file(Path(record), request)
    return _read_object(record, request)


def _arrays(source: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, str]]:
    """Take arrays as they are, quantities of pint apart from their units; large ones that are mapped stay on disk."""
    mapped: dict[str, StoredArray] = {}
    plain: dict[str, Any] = {}
    units: dict[str, str] = {}
    for name, value in source.items():
        if isinstance(value, (list, tuple)) and value and all(isinstance(v, np.memmap) for v in value):
            mapped[str(name)] = StoredArray.of(StackedSource(str(name), value))
        elif isinstance(value, np.memmap) and value.dtype.kind in "iufc":
            mapped[str(name)] = StoredArray.of(value)
        if hasattr(value, "magnitude") and hasattr(value, "units"):
            plain[str(name)], units[str(name)] = value.magnitude, str(value.units)
        else:
            plain[str(name)] = value
    stored = mapped if is_large(array.size for array in mapped.values()) else {}
    return {name: stored.get(name, value) for name, value in plain.items()}, units


def _is(source: Any, module: str, name: str) -> bool:
    """Whether `source` is of a class of a library that is only loaded when somebody uses it."""
    loaded = sys.modules.get(module)
    # Somebody who holds a DataFrame has imported pandas already, so nothing needs to be imported to know.
    return loaded is not None and isinstance(source, getattr(loaded, name))
