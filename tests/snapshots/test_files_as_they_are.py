"""What a user does with files of two dozen kinds, written by other libraries: the same data, so the same parameters.

Every kind gives the same snapshots to the last bit, and a fit is a function of these; a few are fitted nevertheless,
one of each family of readers, from Python and from a shell.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
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
import pytest
import scipy.io
import xarray as xr
import zarr
from typer.testing import CliRunner

import hiddenphysics as hp
from hiddenphysics.cli import app
from hiddenphysics.demo import EQUATION, burgers_recording, two_snapshots
from hiddenphysics.snapshots import Snapshots, read

pytestmark = pytest.mark.xdist_group("readme")  # one process: the fits are those of the README, compiled once

START = pd.Timestamp("2024-03-01 06:00:00")


@cache
def table() -> pd.DataFrame:
    """The 140 points of the demo; t is counted in hours from the first snapshot."""
    rows = two_snapshots(burgers_recording(), 0.01, 0).to_table()
    return rows.assign(t=np.where(rows["t"] > 1.05, 0.1, 0.0))


def dates() -> pd.Series:
    return START + pd.to_timedelta(np.where(table()["t"] > 0, 6, 0), unit="min").to_series(
        index=table().index
    )


def rows_of(*titles: str) -> pd.DataFrame:
    return table().set_axis(list(titles), axis=1)


def arrays() -> dict[str, np.ndarray]:
    return {name: table()[name].to_numpy() for name in ("t", "x", "u")}


# ---- the files --------------------


def plain_csv(path: Path) -> None:
    with path.open("w", newline="") as file:
        csv.writer(file, dialect="excel").writerows([["t", "x", "u"], *table().to_numpy().tolist()])


def renamed_csv(path: Path) -> None:
    rows_of("Time", "position", "temperature").assign(sensor="A7", humidity=0.4, remark=np.nan).to_csv(
        path, index=False
    )


def csv_with_units(path: Path) -> None:
    rows_of("t [h]", "Position (cm)", "u [cm/h]").to_csv(path, index=False)


def csv_with_bom_and_comments(path: Path) -> None:
    lines = ["# logger 7", "", "# written by hand", *table().to_csv(index=False).splitlines()]
    lines[10:10] = ["# the door was opened here"]
    path.write_text("\r\n".join(lines), encoding="utf-8-sig")


def decimal_commas(path: Path) -> None:
    path.write_text("sep=;\n" + table().to_csv(sep=";", decimal=",", index=False), encoding="utf-16")


def tabs_and_decimal_commas(path: Path) -> None:
    table().to_csv(path, sep="\t", decimal=",", index=False, encoding="cp1252")


def percent_comments(path: Path) -> None:
    np.savetxt(path, table().to_numpy(), header="t x u", comments="% ", fmt="%.17g")


def wide_csv(path: Path) -> None:
    table().pivot(index="t", columns="x", values="u").rename_axis("time [h]").to_csv(path)


def wide_decimal_commas(path: Path) -> None:
    wide = table().pivot(index="t", columns="x", values="u")
    wide.columns = [str(x).replace(".", ",") for x in wide.columns]
    wide.to_csv(path, sep=";", decimal=",")


def csv_with_dates(path: Path) -> None:
    table().assign(t=dates().dt.strftime("%d.%m.%Y %H:%M:%S")).to_csv(path, index=False)


def csv_with_durations(path: Path) -> None:
    table().assign(t=np.where(table()["t"] > 0, "00:06:00", "00:00:00")).to_csv(path, index=False)


def npz(path: Path) -> None:
    np.savez(path, **arrays())


def npz_with_dates(path: Path) -> None:
    np.savez(path, **(arrays() | {"t": dates().to_numpy()}))


def npy_folder(path: Path) -> None:
    path.mkdir()
    for name, array in arrays().items():
        np.save(path / name, array)


def mat_5(path: Path) -> None:
    scipy.io.savemat(
        path, {name: a[:, None] for name, a in arrays().items()} | {"remark": "run 7", "nu": 0.1}
    )


def mat_7_3(path: Path) -> None:
    contents = {name: a[:, None] for name, a in arrays().items()} | {"remark": "run 7", "nu": np.float64(0.1)}
    hdf5storage.savemat(str(path), contents, format="7.3", store_python_metadata=False)


def dataset(**columns: Any) -> xr.Dataset:
    return xr.Dataset({name: ("point", np.asarray(column)) for name, column in (arrays() | columns).items()})


def netcdf_3(path: Path) -> None:
    dataset().rename(t="time").to_netcdf(path, engine="scipy")


def netcdf_with_dates(path: Path) -> None:
    dataset(t=dates()).rename(t="time").to_netcdf(path, engine="h5netcdf")


def netcdf_of_another_calendar(path: Path) -> None:
    data = dataset(t=1.0 / 24 + arrays()["t"] / 24)
    data["t"].attrs = {"units": "days since 1-1-1 00:00:00", "calendar": "noleap"}
    data.to_netcdf(path, engine="scipy")


def zarr_of_xarray(path: Path) -> None:
    dataset(t=dates()).to_zarr(path, zarr_format=2)


def zarr_alone(path: Path) -> None:
    group = zarr.open_group(path, mode="w")
    for name, array in arrays().items():
        group.create_array(name, data=array)


def parquet(path: Path) -> None:
    pyarrow.parquet.write_table(pa.table(arrays() | {"sensor": ["A7"] * len(table())}), path)


def parquet_of_pandas(path: Path) -> None:
    table().assign(t=dates().dt.tz_localize("Europe/Berlin")).set_index(["t", "x"]).to_parquet(path)


def hdf5_arrays(path: Path) -> None:
    with h5py.File(path, "w") as file:
        for name, array in arrays().items():
            file.create_dataset(f"run7/{name}", data=array, compression="gzip")
        file["run7/t"].attrs["units"] = "h"
        file["remark"] = "made by h5py"


def hdf5_table(path: Path) -> None:
    with h5py.File(path, "w") as file:
        file["measured"] = table().to_records(index=False)


def xlsx(path: Path) -> None:
    with pd.ExcelWriter(path, engine="openpyxl") as book:
        table().to_excel(book, sheet_name="run 7", index=False, startrow=2)
        book.sheets["run 7"]["A1"] = "Burgers, 1 March"
        pd.DataFrame({"note": ["nothing", "more"]}).to_excel(book, sheet_name="remarks", index=False)


def xlsx_with_dates(path: Path) -> None:
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


def assert_the_demo(found: Snapshots, last_digits: float = 0.0) -> None:
    assert found.times.tolist() == [0.0, 0.1]
    for snapshot, (_, rows) in zip(found, table().groupby("t"), strict=True):
        assert snapshot.fields == ("u",)
        np.testing.assert_array_equal(snapshot["x"], rows["x"])
        np.testing.assert_allclose(snapshot["u"], rows["u"], rtol=last_digits, atol=0.0)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.make.__name__)
def test_every_kind_of_file_gives_the_same_data(kind: Kind, tmp_path: Path) -> None:
    kind.make(tmp_path / kind.name)
    # Excel's format holds sixteen digits of a number, and no more.
    assert_the_demo(read(tmp_path / kind.name, **kind.typed), 1e-15 if kind.name.endswith("xlsx") else 0.0)


def test_data_frames_give_the_same_data() -> None:
    frame = table().assign(t=dates())
    wide = table().pivot(index="t", columns="x", values="u")
    for given, typed in (
        (frame, HOURS),
        (frame.assign(t=dates() - START), HOURS),
        (frame.set_index("t"), HOURS),
        (frame.rename(columns={"t": "TIME", "x": "X", "u": "T"}), HOURS | {"columns": {"u": "T"}}),
        (wide, {"missing": "drop"}),
        (wide.reset_index(), {"missing": "drop"}),
        (wide.set_axis(START + pd.to_timedelta([0, 6], unit="min")), {"missing": "drop"} | HOURS),
    ):
        assert_the_demo(read(given, **typed))


def test_arrays_of_dates_give_the_same_data() -> None:
    for t in (
        dates().to_numpy(),
        [d.to_pydatetime() for d in dates()],
        [str(d) for d in dates()],
        (dates() - START).to_numpy(),
    ):
        assert_the_demo(read(arrays() | {"t": t}, time_unit="h"))


# ---- and the same parameters --------------------


@cache
def answer() -> dict[str, float]:
    fit = hp.identify(EQUATION, arrays())
    return {name: e.estimate for name, e in fit.parameters.items()}


def assert_the_answer(parameters: dict[str, Any]) -> None:
    for name, value in answer().items():
        assert parameters[name]["estimate"] == pytest.approx(value, rel=1e-9)


def test_a_shell_and_a_csv_with_other_names(tmp_path: Path) -> None:
    """`time,position,temperature`, with columns that are no business of the equation."""
    renamed_csv(tmp_path / "field.csv")
    words = ["identify", str(tmp_path / "field.csv"), "--pde", EQUATION, "--json", "--quiet"]
    told = CliRunner().invoke(app, [*words, "--column", "x=position", "--column", "u=Temperature"])
    assert told.exit_code == 0, told.output
    assert_the_answer(json.loads(told.stdout)["parameters"])


def test_a_shell_and_a_netcdf_with_dates(tmp_path: Path) -> None:
    """The unit of time that was typed is told in JSON; x and u tell theirs, so the parameters have one."""
    data = dataset(t=dates()).rename(t="time")
    data["x"].attrs["units"], data["u"].attrs["units"] = "m", "m s-1"
    data.to_netcdf(tmp_path / "field.nc", engine="h5netcdf")
    words = [
        "identify",
        str(tmp_path / "field.nc"),
        "--pde",
        EQUATION,
        "--json",
        "--quiet",
        "--time-unit",
        "hours",
    ]
    answered = CliRunner().invoke(app, words)
    assert answered.exit_code == 0, answered.output
    told = json.loads(answered.stdout)
    assert_the_answer(told["parameters"])
    assert told["units"] == {"t": "h", "x": "m", "u": "m s-1"}
    assert told["start"] == "2024-03-01 06:00:00"
    assert told["notes"] == ["t is in h since 2024-03-01 06:00:00."]
    assert {name: p["unit"] for name, p in told["parameters"].items()} == {"a": "s/h", "b": "m²/h"}


def test_python_and_a_data_frame_with_dates(tmp_path: Path) -> None:
    """Nobody chose a unit: six minutes are told in minutes, and a rate in 1/min is a sixtieth of that in 1/h."""
    fit = hp.identify(EQUATION, table().assign(t=dates()))
    for name, value in answer().items():
        assert fit.parameters[name].estimate == pytest.approx(value / 60, rel=1e-6)
    assert "data       t is in min since 2024-03-01 06:00:00; the span chose this unit" in str(fit)
    assert fit.summary()["units"] == {"t": "min"}
    assert str(hp.load(fit.save(tmp_path / "fit.nc"))) == str(fit)


def test_python_and_arrays_of_matlab(tmp_path: Path) -> None:
    mat_7_3(tmp_path / "field.mat")
    assert_the_answer(hp.identify(EQUATION, tmp_path / "field.mat").summary()["parameters"])


def test_many_data_sets_with_other_names() -> None:
    frame = table().assign(t=dates()).set_axis(["time", "position", "speed"], axis=1)
    (fit,) = hp.identify_many(EQUATION, [frame], workers=1, columns={"x": "position"}, time_unit="h")
    assert_the_answer(fit.summary()["parameters"])
    assert fit.summary()["units"] == {"t": "h"}


# ---- what is no table, and what is too large --------------------


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("a.csv", r"a\.csv: this (file )?is no text, whatever its name says; a table needs"),
        ("a.parquet", r"a\.parquet: this is no Parquet file, whatever its name says; .*to_parquet"),
        ("a.xlsx", r"a\.xlsx: this is no \.xlsx file, whatever its name says; save it again"),
        ("a.h5", r"a\.h5: this is no netCDF file"),
        ("a.mat", r"a\.mat: this could not be read as a MATLAB file"),
    ],
)
def test_what_is_no_table(tmp_path: Path, name: str, sentence: str) -> None:
    (tmp_path / name).write_bytes(bytes(range(256)) * 4)
    with pytest.raises(hp.DataError, match=sentence):
        read(tmp_path / name)


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("a.parquet", r"a\.parquet: this could not be read as Parquet"),
        ("a.xlsx", r"a\.xlsx: this (could not be read as an Excel file|is no \.xlsx file)"),
    ],
)
def test_what_is_cut_off(tmp_path: Path, name: str, sentence: str) -> None:
    {"a.parquet": parquet, "a.xlsx": xlsx_with_dates}[name](tmp_path / name)
    whole = (tmp_path / name).read_bytes()
    for part in (0.3, 0.99):
        (tmp_path / name).write_bytes(whole[: int(part * len(whole))])
        with pytest.raises(hp.DataError, match=sentence):
            read(tmp_path / name)


@pytest.mark.parametrize("name", ["a.csv", "a.mat", "a.parquet", "a.xlsx"])
def test_what_is_too_large_to_be_read_whole(tmp_path: Path, name: str) -> None:
    with (tmp_path / name).open("wb") as file:
        file.truncate(600_000_000)
    with pytest.raises(
        hp.DataError, match=rf"{name}: it has 600 MB, .*at most 537 MB\. Write .* netCDF or Zarr"
    ):
        read(tmp_path / name)


def test_what_unfolds_to_too_much(tmp_path: Path) -> None:
    zeros = pa.table({"t": pa.array(np.zeros(9_000_000)), "x": pa.array(np.zeros(9_000_000))})
    pyarrow.parquet.write_table(zeros, tmp_path / "a.parquet")
    assert (tmp_path / "a.parquet").stat().st_size < 200_000
    with pytest.raises(hp.DataError, match=r"would unfold to 18000000 numbers, .*Write it as CSV or \.npz"):
        read(tmp_path / "a.parquet")


@pytest.mark.parametrize(
    ("make", "name", "package", "extra"),
    [(parquet, "a.parquet", "pyarrow", "parquet"), (xlsx, "a.xlsx", "openpyxl", "excel")],
)
def test_an_extra_that_is_not_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, make: Any, name: str, package: str, extra: str
) -> None:
    make(tmp_path / name)
    monkeypatch.setattr("hiddenphysics.snapshots.readers.tabular_files.find_spec", lambda asked: None)
    with pytest.raises(
        hp.MissingExtraError, match=rf'needs {package}: pip install "hiddenphysics\[{extra}\]"'
    ):
        read(tmp_path / name)
