"""What a user does with files of two dozen kinds, written by other libraries: the same data, so the same parameters.

Every kind gives the same snapshots to the last bit, and a fit is a function of these; a few are fitted nevertheless,
one of each family of readers, from Python and from a shell. `python -m benchmarks.desk files` fits them all.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest
from typer.testing import CliRunner

import hiddenphysics as hp
from benchmarks.desk import files
from benchmarks.desk.files import (
    HOURS,
    KINDS,
    START,
    Kind,
    arrays,
    dataset,
    dates,
    mat_7_3,
    parquet,
    table,
    xlsx,
    xlsx_with_dates,
)
from hiddenphysics.cli import app
from hiddenphysics.demo import EQUATION
from hiddenphysics.snapshots import Snapshots, read

pytestmark = pytest.mark.xdist_group("readme")  # one process: the fits are those of the README, compiled once


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


def test_a_shell_and_a_csv_with_other_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`time,position,temperature`, with columns that are no business of the equation, by the command for all kinds."""
    monkeypatch.setattr(files, "KINDS", [kind for kind in KINDS if kind.make is files.renamed_csv])
    line, told = files.report(tmp_path)
    assert "--column" in files.words(files.KINDS[0], tmp_path)
    assert line.split()[0] == "renamed_csv"
    found = dict(zip(("a", "b"), map(float, line.split()[3::3]), strict=True))
    assert found == pytest.approx(answer(), rel=1e-9)
    assert told.startswith("1 kinds of files, whose parameters differ by at most 0.0e+00")


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
