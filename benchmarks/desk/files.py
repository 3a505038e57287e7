"""The demo's 140 points in files of two dozen kinds, written by other libraries, and what is typed to read each."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import h5py
import hdf5storage
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import scipy.io
import xarray as xr
import zarr
from typer.testing import CliRunner

from hiddenphysics.cli import app, spread
from hiddenphysics.demo import EQUATION, burgers_recording, two_snapshots

START = pd.Timestamp("2024-03-01 06:00:00")


@cache
def table() -> pd.DataFrame:
    """Return the 140 points of the demo; t is counted in hours from the first snapshot."""
    rows = two_snapshots(burgers_recording(), 0.01, 0).to_table()
    return rows.assign(t=np.where(rows["t"] > 1.05, 0.1, 0.0))


def dates() -> pd.Series:
    """Return the same times as moments of a day."""
    return START + pd.to_timedelta(np.where(table()["t"] > 0, 6, 0), unit="min").to_series(
        index=table().index
    )


def rows_of(*titles: str) -> pd.DataFrame:
    """Return the table under other titles."""
    return table().set_axis(list(titles), axis=1)


def arrays() -> dict[str, np.ndarray]:
    """Return the columns as arrays."""
    return {name: table()[name].to_numpy() for name in ("t", "x", "u")}


# ---- the files --------------------


def plain_csv(path: Path) -> None:
    """As Excel writes it."""
    with path.open("w", newline="") as file:
        csv.writer(file, dialect="excel").writerows([["t", "x", "u"], *table().to_numpy().tolist()])


def renamed_csv(path: Path) -> None:
    """With other titles, and columns that are no business of the equation."""
    rows_of("Time", "position", "temperature").assign(sensor="A7", humidity=0.4, remark=np.nan).to_csv(
        path, index=False
    )


def csv_with_units(path: Path) -> None:
    """With units in the titles."""
    rows_of("t [h]", "Position (cm)", "u [cm/h]").to_csv(path, index=False)


def csv_with_bom_and_comments(path: Path) -> None:
    """With a byte-order mark, lines of Windows, comments above and among the rows."""
    lines = ["# logger 7", "", "# written by hand", *table().to_csv(index=False).splitlines()]
    lines[10:10] = ["# the door was opened here"]
    path.write_text("\r\n".join(lines), encoding="utf-8-sig")


def decimal_commas(path: Path) -> None:
    """As a German Excel writes it."""
    path.write_text("sep=;\n" + table().to_csv(sep=";", decimal=",", index=False), encoding="utf-16")


def tabs_and_decimal_commas(path: Path) -> None:
    """With tabs, and Windows' letters."""
    table().to_csv(path, sep="\t", decimal=",", index=False, encoding="cp1252")


def percent_comments(path: Path) -> None:
    """NumPy's text, its titles in a comment of MATLAB's kind."""
    np.savetxt(path, table().to_numpy(), header="t x u", comments="% ", fmt="%.17g")


def wide_csv(path: Path) -> None:
    """One column for each position."""
    table().pivot(index="t", columns="x", values="u").rename_axis("time [h]").to_csv(path)


def wide_decimal_commas(path: Path) -> None:
    """One column for each position, with decimal commas, in the titles too."""
    wide = table().pivot(index="t", columns="x", values="u")
    wide.columns = [str(x).replace(".", ",") for x in wide.columns]
    wide.to_csv(path, sep=";", decimal=",")


def csv_with_dates(path: Path) -> None:
    """With dates, the day first."""
    table().assign(t=dates().dt.strftime("%d.%m.%Y %H:%M:%S")).to_csv(path, index=False)


def csv_with_durations(path: Path) -> None:
    """With hours, minutes and seconds."""
    table().assign(t=np.where(table()["t"] > 0, "00:06:00", "00:00:00")).to_csv(path, index=False)


def npz(path: Path) -> None:
    """NumPy's archive."""
    np.savez(path, **arrays())


def npz_with_dates(path: Path) -> None:
    """NumPy's archive with datetime64."""
    np.savez(path, **(arrays() | {"t": dates().to_numpy()}))


def npy_folder(path: Path) -> None:
    """One array a file."""
    path.mkdir()
    for name, array in arrays().items():
        np.save(path / name, array)


def mat_5(path: Path) -> None:
    """MATLAB up to 7.2, by SciPy."""
    scipy.io.savemat(
        path, {name: a[:, None] for name, a in arrays().items()} | {"remark": "run 7", "nu": 0.1}
    )


def mat_7_3(path: Path) -> None:
    """MATLAB 7.3, by hdf5storage."""
    contents = {name: a[:, None] for name, a in arrays().items()} | {"remark": "run 7", "nu": np.float64(0.1)}
    hdf5storage.savemat(str(path), contents, format="7.3", store_python_metadata=False)


def dataset(**columns: Any) -> xr.Dataset:
    """Return the columns as a dataset of xarray."""
    return xr.Dataset({name: ("point", np.asarray(column)) for name, column in (arrays() | columns).items()})


def netcdf_3(path: Path) -> None:
    """NetCDF 3, by SciPy."""
    dataset().rename(t="time").to_netcdf(path, engine="scipy")


def netcdf_with_dates(path: Path) -> None:
    """NetCDF 4 with dates."""
    dataset(t=dates()).rename(t="time").to_netcdf(path, engine="h5netcdf")


def netcdf_of_another_calendar(path: Path) -> None:
    """NetCDF with a year of 365 days."""
    data = dataset(t=1.0 / 24 + arrays()["t"] / 24)
    data["t"].attrs = {"units": "days since 1-1-1 00:00:00", "calendar": "noleap"}
    data.to_netcdf(path, engine="scipy")


def zarr_of_xarray(path: Path) -> None:
    """Zarr 2 with dates, by xarray."""
    dataset(t=dates()).to_zarr(path, zarr_format=2)


def zarr_alone(path: Path) -> None:
    """Zarr 3 without xarray."""
    group = zarr.open_group(path, mode="w")
    for name, array in arrays().items():
        group.create_array(name, data=array)


def parquet(path: Path) -> None:
    """Parquet by Arrow, with text among the columns."""
    pyarrow.parquet.write_table(pa.table(arrays() | {"sensor": ["A7"] * len(table())}), path)


def parquet_of_pandas(path: Path) -> None:
    """Parquet by pandas, with times of Berlin in the index."""
    table().assign(t=dates().dt.tz_localize("Europe/Berlin")).set_index(["t", "x"]).to_parquet(path)


def hdf5_arrays(path: Path) -> None:
    """HDF5 with arrays in a group, compressed."""
    with h5py.File(path, "w") as file:
        for name, array in arrays().items():
            file.create_dataset(f"run7/{name}", data=array, compression="gzip")
        file["run7/t"].attrs["units"] = "h"
        file["remark"] = "made by h5py"


def hdf5_table(path: Path) -> None:
    """HDF5 with a table of records."""
    with h5py.File(path, "w") as file:
        file["measured"] = table().to_records(index=False)


def xlsx(path: Path) -> None:
    """Excel, the table not at the top, a second sheet behind."""
    with pd.ExcelWriter(path, engine="openpyxl") as book:
        table().to_excel(book, sheet_name="run 7", index=False, startrow=2)
        book.sheets["run 7"]["A1"] = "Burgers, 1 March"
        pd.DataFrame({"note": ["nothing", "more"]}).to_excel(book, sheet_name="remarks", index=False)


def xlsx_with_dates(path: Path) -> None:
    """Excel with dates."""
    table().assign(t=dates()).to_excel(path, index=False)


# ---- what is typed --------------------


@dataclass(frozen=True)
class Kind:
    """A file, and what its user types beside its name."""

    make: Callable[[Path], None]
    name: str
    typed: dict[str, Any] = field(default_factory=dict)


HOURS = {"time_unit": "h"}
KINDS = [
    Kind(plain_csv, "a.csv"),
    Kind(renamed_csv, "a.csv", {"columns": {"x": "POSITION", "u": "temperature"}}),
    Kind(csv_with_units, "a.csv", {"columns": {"x": "position"}}),
    Kind(csv_with_bom_and_comments, "a.csv"),
    Kind(decimal_commas, "a.csv"),
    Kind(tabs_and_decimal_commas, "a.tsv"),
    Kind(percent_comments, "a.txt"),
    Kind(wide_csv, "a.csv", {"missing": "drop"}),
    Kind(wide_decimal_commas, "a.csv", {"missing": "drop"}),
    Kind(csv_with_dates, "a.csv", HOURS),
    Kind(csv_with_durations, "a.csv", HOURS),
    Kind(npz, "a.npz"),
    Kind(npz_with_dates, "a.npz", HOURS),
    Kind(npy_folder, "a"),
    Kind(mat_5, "a.mat"),
    Kind(mat_7_3, "a.mat"),
    Kind(netcdf_3, "a.nc"),
    Kind(netcdf_with_dates, "a.nc", HOURS),
    Kind(netcdf_of_another_calendar, "a.nc", HOURS),
    Kind(zarr_of_xarray, "a.zarr", HOURS),
    Kind(zarr_alone, "a.zarr"),
    Kind(parquet, "a.parquet"),
    Kind(parquet_of_pandas, "a.parquet", HOURS),
    Kind(hdf5_arrays, "a.h5"),
    Kind(hdf5_table, "a.hdf5"),
    Kind(xlsx, "a.xlsx"),
    Kind(xlsx_with_dates, "a.xlsx", HOURS),
]


# ---- and the same parameters --------------------


def words(kind: Kind, path: Path) -> list[str]:
    """Return what is typed into a shell to identify from a file."""
    typed = ["identify", str(path), "--pde", EQUATION, "--json", "--quiet"]
    for name, column in kind.typed.get("columns", {}).items():
        typed += ["--column", f"{name}={column}"]
    for option in ("missing", "time_unit"):
        typed += [f"--{option.replace('_', '-')}", kind.typed[option]] if option in kind.typed else []
    return typed


def answers(folder: Path) -> Iterator[tuple[str, dict[str, float]]]:
    """Write a file of each kind, identify from it by the command line, and yield the parameters."""
    for kind in KINDS:
        place = folder / kind.make.__name__
        place.mkdir(parents=True)
        kind.make(place / kind.name)
        told = CliRunner().invoke(app, spread(words(kind, place / kind.name)))
        if told.exit_code:
            raise RuntimeError(f"{kind.make.__name__} ended with {told.exit_code}: {told.output}")
        found = json.loads(told.stdout)["parameters"]
        yield kind.make.__name__, {name: parameter["estimate"] for name, parameter in found.items()}


def report(folder: Path) -> Iterator[str]:
    """Yield a line for each kind with its parameters, and at last how far they lie apart."""
    rows = []
    for name, found in answers(folder):
        rows.append(list(found.values()))
        yield f"{name:<28} " + "  ".join(f"{p} = {value:.15f}" for p, value in found.items())
    apart = np.ptp(rows, axis=0) / np.abs(np.mean(rows, axis=0))
    yield f"{len(rows)} kinds of files, whose parameters differ by at most {apart.max():.1e} of their value"
