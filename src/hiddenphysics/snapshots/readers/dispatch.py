"""Choose the reader for what the user has."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, Union

from numpy.typing import ArrayLike

from hiddenphysics.errors import DataError
from hiddenphysics.snapshots.checks import Missing, numeric
from hiddenphysics.snapshots.collection import Snapshots
from hiddenphysics.snapshots.readers.arrays import TIME_FIRST, snapshots_from
from hiddenphysics.snapshots.readers.files import read_file
from hiddenphysics.snapshots.readers.naming import renamed
from hiddenphysics.snapshots.readers.netcdf import from_xarray
from hiddenphysics.snapshots.readers.table import from_frame
from hiddenphysics.snapshots.snapshot import Snapshot

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

Source: TypeAlias = Union[
    str, Path, "pd.DataFrame", "xr.Dataset", "xr.DataArray", Mapping[str, ArrayLike], Iterable[Snapshot]
]


def read(
    source: Source, *, columns: Mapping[str, str] | None = None, missing: Missing = "refuse"
) -> Snapshots:
    """Read snapshots from a file or from arrays.

    Parameters
    ----------
    source
        A path, by its ending: ``.csv .tsv .txt`` (long table with a header), ``.npz``, ``.mat``, ``.nc
        .netcdf .h5``. Or a pandas DataFrame (long table), an xarray Dataset or DataArray, a mapping of
        arrays, or Snapshot objects.
    columns
        Other names for columns or variables, ``{"name there": "name here"}``, as in ``{"usol": "u"}``.
    missing
        What to do with NaN and infinity: ``"refuse"`` them, or ``"drop"`` every point that has one. (Snapshot
        objects have passed this check already.)

    Notes
    -----
    Time is called `t`, `time` or `tt`; coordinates `x`, `y`, `z` (or `xx`, `yy`, `zz`); everything else is a
    field and keeps its name. Columns `h_re` and `h_im` are the two parts of the complex field `h`.

    *Long* data have one value per measurement in every array: t, x and u all of shape (n,). *Gridded* data
    have axes t (T,), x (N,), and fields (T, N) or (N, T); with y, fields have the axes t, x, y in any
    order. The order is found from the lengths. Where lengths are equal, it is (t, x, y) for plain arrays
    and ``.npz``, and (x, y, t) for ``.mat``, else the other of these two; an order that still cannot be
    told is refused. NetCDF and xarray name their axes, so nothing is guessed there.

    Variables of a file that are no field are passed over: text and single numbers; in ``.mat`` and netCDF
    also arrays of other shapes.

    Examples
    --------
    >>> read({"t": [0, 0, 1, 1], "x": [0.0, 1.0, 0.0, 1.0], "u": [1.0, 2.0, 1.5, 2.5]})
    Snapshots(2 snapshots of u in x, t from 0 to 1, 2 points each)
    """
    names = dict(columns or {})
    if isinstance(source, (str, Path)):
        return read_file(Path(source), names, missing)
    return _read_object(source, names, missing)


def _read_object(source: Any, columns: Mapping[str, str], missing: Missing) -> Snapshots:
    if _is(source, "pandas", "DataFrame"):
        return from_frame(source, columns, missing)
    if _is(source, "xarray", "Dataset") or _is(source, "xarray", "DataArray"):
        return from_xarray(source, columns, missing)
    if isinstance(source, Mapping):
        arrays = {str(name): numeric(str(name), value) for name, value in source.items()}
        return snapshots_from(renamed(arrays, columns), missing, TIME_FIRST)
    if hasattr(source, "__iter__") or isinstance(source, Snapshot):
        snapshots = Snapshots(source)
        return snapshots.rename(columns) if columns else snapshots
    raise DataError(
        f"Snapshots cannot be read from a {type(source).__name__}; give a path, a DataFrame, an xarray"
        " object, a mapping of arrays as in read({'t': t, 'x': x, 'u': u}), or a list of Snapshot."
    )


def _is(source: Any, module: str, name: str) -> bool:
    """Whether `source` is of a class of a library that is only loaded when somebody uses it."""
    loaded = sys.modules.get(module)
    # Somebody who holds a DataFrame has imported pandas already, so nothing needs to be imported to know.
    return loaded is not None and isinstance(source, getattr(loaded, name))
