"""NetCDF files and xarray objects: their axes have names, so nothing is guessed."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from hiddenphysics.errors import DataError, MissingExtraError
from hiddenphysics.snapshots.collection import Snapshots
from hiddenphysics.snapshots.columns import deviation_name
from hiddenphysics.snapshots.readers.arrays import TIME, classify, is_vector, new_names
from hiddenphysics.snapshots.readers.assembly import (
    Arrays,
    snapshots_at_points,
    snapshots_of_rows,
    snapshots_on_grid,
)
from hiddenphysics.snapshots.sentences import names
from hiddenphysics.snapshots.validation import COORDINATES, Missing, numeric

if TYPE_CHECKING:
    import xarray as xr

# The first bytes of a file tell its kind for certain; its name does not.
ENGINES = {b"CDF": "scipy", b"\x89HDF": "h5netcdf"}


def read_netcdf(path: Path, columns: Mapping[str, str], missing: Missing) -> Snapshots:
    """Read a netCDF file, version 3 or 4; times stay the plain numbers of the file."""
    return from_xarray(_load(path), columns, missing)


def from_xarray(data: xr.Dataset | xr.DataArray, columns: Mapping[str, str], missing: Missing) -> Snapshots:
    """Read an xarray object.

    Gridded: variables over the dimensions t (or time), x, y, z. At fixed scattered points: over t and one
    dimension of any name, along which x, y and z all lie. Long: one dimension of any name, along which t,
    x and the fields all lie. Variables over other dimensions are passed over. A DataArray without
    a name is u.
    """
    dataset = _tidy(_as_dataset(data), columns)
    roles = classify(_numeric_variables(dataset))
    spaces = [dataset[c].dims for c in roles.coordinates]
    fields = [str(name) for name in dataset.data_vars if name not in ("t", *COORDINATES)]
    # Known errors are often written as coordinates, so that arithmetic on the data set leaves them alone.
    fields += [deviation_name(field) for field in fields if deviation_name(field) in dataset.coords]
    row = dataset["t"].dims
    if len(row) == 1 and all(dims == row for dims in spaces):
        rows = {f: numeric(f, dataset[f].to_numpy()) for f in fields if dataset[f].dims == row}
        _some(rows, dataset)
        return snapshots_of_rows(roles.t, roles.coordinates, rows, missing)
    if "t" not in dataset.dims:
        dataset = dataset.drop_vars("t").expand_dims("t")
    scattered = len(spaces[0]) == 1 and len(set(spaces)) == 1
    axes = ("t", *map(str, spaces[0])) if scattered else ("t", *roles.coordinates)
    fitting = [f for f in fields if set(dataset[f].dims) == set(axes)]
    values = {f: numeric(f, dataset[f].transpose(*axes).to_numpy()) for f in fitting}
    _some(values, dataset)
    cut = snapshots_at_points if scattered else snapshots_on_grid
    return cut(roles.t, roles.coordinates, values, missing)


def _load(path: Path) -> xr.Dataset:
    import xarray as xr

    with path.open("rb") as file:
        start = file.read(4)
    engine = next((engine for mark, engine in ENGINES.items() if start.startswith(mark)), None)
    if engine is None:
        raise DataError(
            "this is no netCDF file, whatever its name says; write it with Dataset.to_netcdf(path)."
        )
    try:
        # Dates would become datetime64; the equation needs time as a number, in the file's own unit.
        with xr.open_dataset(path, engine=engine, decode_times=False) as dataset:
            return dataset.load()
    except ImportError as problem:
        raise MissingExtraError(
            f"{path.name} is a netCDF-4 (HDF5) file; reading it needs h5py: pip install h5py. Or write"
            " netCDF-3, with Dataset.to_netcdf(path, engine='scipy')."
        ) from problem
    # A damaged file can make the parsers fail in any way at all.
    except Exception as problem:
        raise DataError(
            f"this could not be read as netCDF ({problem}); write it again with Dataset.to_netcdf(path)."
        ) from problem


def _as_dataset(data: xr.Dataset | xr.DataArray) -> xr.Dataset:
    import xarray as xr

    if isinstance(data, xr.DataArray):
        return data.to_dataset(name=data.name if data.name is not None else "u")
    return data


def _tidy(dataset: xr.Dataset, columns: Mapping[str, str]) -> xr.Dataset:
    """Apply the user's names, then call time `t` and the axes `x`, `y`, `z`."""
    chosen = new_names(map(str, dict.fromkeys([*dataset.dims, *dataset.variables])), columns)
    dataset = dataset.rename({old: new for old, new in chosen.items() if old != new})
    usual = {c + c: c for c in COORDINATES if c + c in dataset and is_vector(dataset[c + c].to_numpy())}
    usual |= {name: "t" for name in reversed(TIME) if name in dataset.variables}
    free = {name: axis for name, axis in usual.items() if axis not in dataset.variables}
    return dataset.rename(free)


def _numeric_variables(dataset: xr.Dataset) -> Arrays:
    """Return all numeric variables; among time and coordinates, dates and text are refused."""
    axes = ("t", *COORDINATES)
    return {
        str(name): numeric(str(name), variable.to_numpy())
        for name, variable in dataset.variables.items()
        if name in axes or variable.dtype.kind in "iufc"
    }


def _some(fields: Mapping[str, object], dataset: xr.Dataset) -> None:
    if not fields:
        variables = names(
            f"{name} {tuple(map(str, variable.dims))}" for name, variable in dataset.variables.items()
        )
        raise DataError(
            f"no variable is a field over time and space; found {variables}. A field lies over the dimensions"
            " t, x (y, z), over t and the one dimension along which x (y, z) lie, or, in long form, over the one"
            " dimension along which t and x lie."
        )
