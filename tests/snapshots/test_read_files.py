"""Files: a round trip for each kind, and a sentence for everything that can be wrong with one."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy.io
import xarray as xr

import hiddenphysics as hp
from hiddenphysics.errors import DataError, MissingExtraError
from hiddenphysics.snapshots import READERS, Request, Snapshot, Snapshots, read

from .test_read_arrays import T, U, V, X, Y, assert_is_u, assert_is_v, long_table

PNG = b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\xff\xfe"


@pytest.mark.parametrize("ending", ["csv", "tsv", "txt", "CSV"])
@pytest.mark.parametrize("separator", [",", "\t", ";", " "])
def test_text(tmp_path: Path, ending: str, separator: str) -> None:
    path = tmp_path / f"field.{ending}"
    pd.DataFrame(long_table()).to_csv(path, sep=separator, index=False)
    assert_is_u(read(path))
    assert_is_u(read(str(path)))


def test_text_of_savetxt_and_of_spreadsheets(tmp_path: Path) -> None:
    path = tmp_path / "field.txt"
    np.savetxt(path, np.column_stack(list(long_table().values())), header="t x u", fmt="%.17g")
    assert_is_u(read(path))
    pd.DataFrame(long_table()).to_csv(path, sep=";", decimal=",", index=False, encoding="utf-8-sig")
    assert_is_u(read(path))


def test_text_with_complex_field_and_other_names(tmp_path: Path) -> None:
    path = tmp_path / "field.csv"
    table = long_table()
    pd.DataFrame({"time": table["t"], "s": table["x"], "h_re": table["u"], "h_im": table["x"]}).to_csv(
        path, index=False
    )
    snapshots = read(path, columns={"x": "s"})
    assert snapshots.complex_fields == ("h",)


@pytest.mark.parametrize(
    ("match", "text"),
    [
        (r"bad.csv: There is no time t .*found: a \(2,\), x \(2,\) and u \(2,\)", "a,x,u\n0,1,2\n0,2,3\n"),
        (r"bad.csv: There is no coordinate x", "t,u\n0,1\n0,2\n"),
        (r"bad.csv: the first line holds numbers \(0, 1 and 2\)", "0,1,2\n0,2,3\n"),
        (r"bad.csv: the table has the columns t, x and u but no rows", "t,x,u\n"),
        (r"bad.csv: the first line must give every column a name", "t,x,x\n0,1,2\n"),
        (r"bad.csv: the first line must give every column a name", "t,x,\n0,1,2\n"),
        (r"bad.csv: the table could not be read", "t,x,u\n0,1,2,3\n0,2,3,4\n"),
        (r"bad.csv: the table could not be read", "t,x,u\n0,1,2\n0,2,3,4\n"),
        (r"bad.csv: the column u holds 'oops' in row 1", "t,x,u\n0,1,2\n0,2,oops\n"),
        (r"bad.csv: u at t = 0 is NaN or infinite at 1 point", "t,x,u\n0,1,2\n0,2\n0,3,4\n"),
        (r"bad.csv: this file is blank", "\n \n"),
        (r"bad.csv: this file is no text", "t,x\0,u\n"),
    ],
)
def test_text_refusals(tmp_path: Path, match: str, text: str) -> None:
    path = tmp_path / "bad.csv"
    path.write_text(text)
    with pytest.raises(DataError, match=match):
        read(path)


def test_npz(tmp_path: Path) -> None:
    path = tmp_path / "field.npz"
    np.savez(path, t=T, x=X, u=U.T, viscosity=0.1, note="made up")
    assert_is_u(read(path))
    np.savez(path, **long_table())
    assert_is_u(read(path))
    np.savez_compressed(path, time=T, x=X, y=Y, v=V)
    assert_is_v(read(path))
    np.savez(path, t=0.0, x=X, u=U[0])
    np.testing.assert_array_equal(read(path)[0]["u"], U[0])


def test_npz_never_unpickles(tmp_path: Path) -> None:
    path = tmp_path / "field.npz"
    np.savez(path, t=T, x=X, u=np.array([{"a": 1}, None], dtype=object))
    with pytest.raises(
        DataError, match=r"field.npz: the archive could not be read .*allow_pickle=False.*plain numeric"
    ):
        read(path)


def test_npz_that_does_not_fit(tmp_path: Path) -> None:
    path = tmp_path / "field.npz"
    np.savez(path, t=T, x=X, u=U, v=U[:, :3])
    with pytest.raises(DataError, match=r"do not fit: v \(3, 3\)"):
        read(path)


def test_mat(tmp_path: Path) -> None:
    path = tmp_path / "field.mat"
    workspace = {
        "name": "run 7",
        "nu": 0.1,
        "mask": U > 0,
        "cells": np.array([1, "a"], dtype=object),
        "K": U[:2],
    }
    scipy.io.savemat(path, {"tt": T, "x": X, "u": U.T, **workspace})
    assert_is_u(read(path))
    scipy.io.savemat(path, {"t": T[:, None], "xx": X, "yy": Y, "v": V.transpose(2, 1, 0)})
    assert_is_v(read(path))
    scipy.io.savemat(path, long_table())
    assert_is_u(read(path))
    scipy.io.savemat(path, {"t": 0.5, "x": X, "usol": U[0]})
    np.testing.assert_array_equal(read(path, columns={"u": "usol"})[0]["u"], U[0])


def test_equal_lengths_in_mat_mean_time_last(tmp_path: Path) -> None:
    path = tmp_path / "field.mat"
    scipy.io.savemat(path, {"t": T, "x": X[:3], "u": np.arange(9.0).reshape(3, 3)})
    np.testing.assert_array_equal(read(path)[0]["u"], [0, 3, 6])


def test_mat_refusals(tmp_path: Path) -> None:
    path = tmp_path / "field.mat"
    scipy.io.savemat(path, {"t": T, "x": X, "u": U[:, :4]})
    with pytest.raises(DataError, match=r"field.mat: t has 3 and x has 5 values, .* u \(3, 4\)"):
        read(path)
    scipy.io.savemat(path, {"t": T, "u": U})
    with pytest.raises(DataError, match=r"field.mat: There is no coordinate x"):
        read(path)
    header = b"MATLAB 7.3 MAT-file".ljust(116) + bytes(8) + b"\x00\x02IM" + b"\x89HDF\r\n\x1a\n"
    path.write_bytes(header + bytes(400))
    with pytest.raises(DataError, match=r"field.mat: the library that reads HDF5 (refuses it|ended)"):
        read(path)


def test_damaged_mat_never_shows_a_traceback_of_scipy(tmp_path: Path) -> None:
    path = tmp_path / "field.mat"
    scipy.io.savemat(path, {"t": T, "x": X, "u": U}, do_compression=True)
    whole = path.read_bytes()
    generator = np.random.default_rng(0)
    for _ in range(40):
        damaged = bytearray(whole[: generator.integers(1, len(whole))])
        damaged[generator.integers(len(damaged))] ^= 0xFF
        path.write_bytes(damaged)
        with pytest.raises(DataError, match=r"field\.mat"):
            read(path)


def grid_dataset() -> xr.Dataset:
    return xr.Dataset({"u": (("x", "time"), U.T)}, coords={"time": T, "x": X})


@pytest.mark.parametrize("ending", ["nc", "netcdf"])
def test_netcdf_3(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"field.{ending}"
    grid_dataset().to_netcdf(path, engine="scipy")
    assert_is_u(read(path))
    xr.Dataset({name: ("point", a) for name, a in long_table().items()}).to_netcdf(path, engine="scipy")
    assert_is_u(read(path))


@pytest.mark.parametrize("ending", ["nc", "h5"])
def test_netcdf_4(tmp_path: Path, ending: str) -> None:
    pytest.importorskip("h5py")
    path = tmp_path / f"field.{ending}"
    grid_dataset().to_netcdf(path, engine="h5netcdf")
    assert_is_u(read(path))


@pytest.mark.skipif(importlib.util.find_spec("h5py") is not None, reason="h5py is here")
def test_netcdf_4_without_h5py_says_what_to_install(tmp_path: Path) -> None:
    path = tmp_path / "field.nc"
    path.write_bytes(b"\x89HDF\r\n\x1a\n" + bytes(500))
    with pytest.raises(MissingExtraError, match=r"field.nc is a netCDF-4 .*pip install h5py.*engine='scipy'"):
        read(path)


def test_damaged_netcdf(tmp_path: Path) -> None:
    path = tmp_path / "field.nc"
    grid_dataset().to_netcdf(path, engine="scipy")
    path.write_bytes(path.read_bytes()[:60])
    with pytest.raises(DataError, match=r"field.nc: this could not be read as netCDF"):
        read(path)


@pytest.mark.parametrize("ending", READERS)
@pytest.mark.parametrize("content", [PNG, b"just a few words", b"PK\x05\x06" + bytes(18)])
def test_a_file_of_another_kind(tmp_path: Path, ending: str, content: bytes) -> None:
    path = tmp_path / f"wrong{ending}"
    path.write_bytes(content)
    with pytest.raises(DataError, match=r"^wrong\.\w+: "):
        read(path)


@pytest.mark.parametrize("ending", READERS)
def test_an_empty_file(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"nothing{ending}"
    path.touch()
    with pytest.raises(DataError, match=r"nothing\.\w+ is empty \(0 bytes\)"):
        read(path)


def test_no_file_a_folder_and_an_unknown_ending(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"There is no file .*nowhere\.csv \(looked from"):
        read(tmp_path / "nowhere.csv")
    with pytest.raises(DataError, match=r"this folder holds no \.npy files; give one file in it"):
        read(tmp_path)
    (tmp_path / "a.docx").write_bytes(PNG)
    with pytest.raises(DataError, match=r"a.docx ends in .docx, .*known are .csv, .tsv, .*Convert it"):
        read(tmp_path / "a.docx")


def read_lines(path: Path, request: Request) -> Snapshots:
    """Read what somebody else's program writes: a line for each time, `0.5: 0=1.0 1=2.0`."""
    if request.columns:
        raise DataError("the names are fixed.")
    snapshots = []
    for line in path.read_text().splitlines():
        t, _, values = line.partition(":")
        x, u = zip(*(map(float, pair.split("=")) for pair in values.split()), strict=True)
        snapshots.append(Snapshot(float(t), x, u, missing=request.missing))
    return Snapshots(snapshots)


def test_a_reader_from_outside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(READERS, "_things", dict(READERS))  # what is added here is gone after the test
    path = tmp_path / "field.LINES"
    path.write_text("0: 0=1 1=2\n1: 0=1.5 1=2.5 2=nan\n")
    with pytest.raises(DataError, match=r"ends in \.LINES, .*\.parquet and \.xlsx\. Convert it"):
        hp.read(path)
    READERS.add(".lines", read_lines)
    np.testing.assert_array_equal(hp.read(path, missing="drop")[1]["u"], [1.5, 2.5])
    with pytest.raises(DataError, match=r"^field\.LINES: u at t = 1 is NaN"):
        hp.read(path)
    with pytest.raises(DataError, match=r"^field\.LINES: the names are fixed"):
        hp.read(path, columns={"u": "v"})
    (tmp_path / "a.docx").write_bytes(PNG)
    with pytest.raises(DataError, match=r"known are .*\.xlsx and \.lines\. Convert it"):
        hp.read(tmp_path / "a.docx")
    with pytest.raises(DataError, match=r"There is a kind of file '\.lines' already"):
        READERS.add(".lines", read_lines)


def test_importing_the_room_stays_quick() -> None:
    code = "import sys, hiddenphysics.snapshots; print(*sys.modules)"
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.split()
    assert not {"pandas", "xarray", "scipy", "jax"} & set(loaded)
