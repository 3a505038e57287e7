"""Recordings that stay on disk: the same answers as in memory, little of it, and sentences for what is damaged."""

from __future__ import annotations

import itertools
import os
import pickle
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import h5py
import hdf5storage
import numpy as np
import pytest
import xarray as xr

import hiddenphysics as hp
from hiddenphysics.errors import DataError, MissingExtraError
from hiddenphysics.models import Question
from hiddenphysics.snapshots import (
    READERS,
    Snapshot,
    Snapshots,
    StoredSnapshot,
    read,
    stored_points,
    stored_snapshot,
)
from hiddenphysics.snapshots.readers import arrays, labelled, npy_files, stored_assembly
from hiddenphysics.snapshots.stored_array import StoredArray, StoredColumn, flat_spans

RANDOM = np.random.default_rng(0)
T = np.array([0.0, 0.1, 0.3, 0.4])
X = np.linspace(-1.0, 1.0, 11)
Y = np.linspace(0.0, 3.0, 5)
LINE = {"t": T, "x": X, "u": np.sin(X + T[:, None]), "v": X**2 - T[:, None]}
GRID = {"t": T, "x": X, "y": Y, "u": LINE["u"][:, :, None] + Y, "v": RANDOM.normal(size=(4, 11, 5))}
FIXED = {"t": T, "x": RANDOM.random(23), "y": RANDOM.random(23), "u": RANDOM.normal(size=(4, 23))}
MOVING = {"t": T, "x": RANDOM.random((4, 23)), "y": RANDOM.random((4, 23)), "u": RANDOM.normal(size=(4, 23))}
ROWS = {
    "t": np.repeat(T, 23),
    "x": RANDOM.random(92),
    "u": RANDOM.random(92),
    "u_std": RANDOM.random(92) + 0.1,
}
WAVE = {"t": T, "x": X, "h": np.exp(1j * X * (1 + T[:, None]))}
LAYOUTS = {"line": LINE, "grid": GRID, "fixed": FIXED, "moving": MOVING, "rows": ROWS, "wave": WAVE}


@pytest.fixture
def streamed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave even small files on disk, and read them in blocks of 7 points."""
    monkeypatch.setattr(arrays, "STREAMED_ABOVE", 10)
    for module in (stored_snapshot, stored_points, stored_assembly, npy_files):
        monkeypatch.setattr(module, "CHUNK", 7)


def as_npz(folder: Path, layout: dict[str, Any]) -> Path:
    np.savez(folder / "field.npz", **layout)
    return folder / "field.npz"


def as_compressed_npz(folder: Path, layout: dict[str, Any]) -> Path:
    np.savez_compressed(folder / "field.npz", **layout)
    return folder / "field.npz"


def as_fortran_npz(folder: Path, layout: dict[str, Any]) -> Path:
    np.savez(folder / "field.npz", **{name: np.asfortranarray(array) for name, array in layout.items()})
    return folder / "field.npz"


def as_compressed_npz_with_time_last(folder: Path, layout: dict[str, Any]) -> Path:
    return as_compressed_npz(folder, {name: np.moveaxis(array, 0, -1) for name, array in layout.items()})


def as_folder(folder: Path, layout: dict[str, Any]) -> Path:
    (folder / "run.7").mkdir()
    for name, array in layout.items():
        np.save(folder / "run.7" / f"{name}.npy", array)
    return folder / "run.7"


def as_maps(folder: Path, layout: dict[str, Any]) -> dict[str, Any]:
    files = as_folder(folder, layout)
    return {name: np.load(files / f"{name}.npy", mmap_mode="r") for name in layout}


def as_list_of_maps(folder: Path, layout: dict[str, Any]) -> dict[str, Any]:
    maps = as_maps(folder, layout)
    return {name: list(array) if array.ndim > 1 else array for name, array in maps.items()}


def as_hdf5(folder: Path, layout: dict[str, Any]) -> Path:
    with h5py.File(folder / "field.h5", "w") as file:
        for name, array in layout.items():
            file[f"run/{name}"] = array
    return folder / "field.h5"


def as_mat_7_3(folder: Path, layout: dict[str, Any]) -> Path:
    """As MATLAB has it: time last, and the first axis running fastest."""
    arrays = {name: np.moveaxis(array, 0, -1) if array.ndim > 1 else array for name, array in layout.items()}
    hdf5storage.savemat(str(folder / "field.mat"), arrays, format="7.3", store_python_metadata=False)
    return folder / "field.mat"


SAVERS: list[Callable[[Path, dict[str, Any]], Any]] = [
    as_npz,
    as_compressed_npz,
    as_fortran_npz,
    as_compressed_npz_with_time_last,
    as_folder,
    as_maps,
    as_list_of_maps,
    as_hdf5,
    as_mat_7_3,
]


def assert_same(one: Snapshot, two: Snapshot) -> None:
    assert (one.t, one.coordinates, one.fields, one.columns) == (
        two.t,
        two.coordinates,
        two.fields,
        two.columns,
    )
    assert len(one) == len(two)
    np.testing.assert_array_equal(one.points, two.points)
    np.testing.assert_array_equal(one.values, two.values)
    assert dict(one.stds).keys() == dict(two.stds).keys()
    for name in (*one.columns, *one.coordinates):
        np.testing.assert_array_equal(one[name], two[name])


def assert_all_same(stored: Snapshots, loaded: Snapshots) -> None:
    assert all(isinstance(s, StoredSnapshot) for s in stored)
    assert not any(isinstance(s, StoredSnapshot) for s in loaded)
    assert len(stored) == len(loaded)
    for one, two in zip(stored, loaded, strict=True):
        assert_same(one, two)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("save", SAVERS)
def test_on_disk_as_in_memory(tmp_path: Path, streamed: None, save: Any, layout: str) -> None:
    arrays_of_layout = LAYOUTS[layout]
    assert_all_same(read(save(tmp_path, arrays_of_layout)), read(arrays_of_layout))


def dataset(layout: str) -> xr.Dataset:
    data, fields = LAYOUTS[layout], [name for name in LAYOUTS[layout] if name not in "txy"]
    if layout in ("line", "grid"):
        axes = {name: data[name] for name in "txy" if name in data}
        return xr.Dataset({f: (tuple(axes), data[f]) for f in fields}, axes)
    if layout == "rows":
        return xr.Dataset({name: ("row", array) for name, array in data.items()})
    places = ("t", "cell") if layout == "moving" else ("cell",)
    coords = {"t": T, "x": (places, data["x"]), "y": (places, data["y"])}
    return xr.Dataset({f: (("t", "cell"), data[f]) for f in fields}, coords)


@pytest.mark.parametrize("layout", ["line", "grid", "fixed", "moving", "rows"])
@pytest.mark.parametrize("kind", ["memory", "scipy", "h5netcdf", "chunks", "time last", "zarr"])
def test_labelled_arrays_on_disk_as_in_memory(tmp_path: Path, streamed: None, kind: str, layout: str) -> None:
    loaded, data, path = read(LAYOUTS[layout]), dataset(layout), tmp_path / "field.nc"
    if kind == "time last":
        data = data.transpose(..., "t") if "t" in data.dims else data
    if kind in ("memory", "time last"):
        assert_all_same(read(data), loaded)
        return
    if kind == "zarr":
        pytest.importorskip("zarr")
        data.to_zarr(path := tmp_path / "field.zarr", zarr_format=2)
    elif kind == "chunks":
        sizes = {
            name: {"chunksizes": tuple(min(2, n) for n in v.shape)} for name, v in data.data_vars.items()
        }
        data.to_netcdf(path, engine="h5netcdf", encoding=sizes)
    else:
        data.to_netcdf(path, engine="scipy" if kind == "scipy" else "h5netcdf")
    assert_all_same(read(path), loaded)


def test_labelled_arrays_that_dask_holds(tmp_path: Path, streamed: None) -> None:
    pytest.importorskip("dask")
    dataset("fixed").to_netcdf(tmp_path / "field.nc", engine="h5netcdf")
    with xr.open_dataset(tmp_path / "field.nc", engine="h5netcdf", chunks={"t": 1}) as lazy:
        assert_all_same(read(lazy), read(FIXED))


def test_a_labelled_pass_in_order_reads_each_chunk_once(tmp_path: Path, streamed: None) -> None:
    path = tmp_path / "field.nc"
    sizes = {"u": {"chunksizes": (1, 4, 5)}}
    dataset("grid").drop_vars("v").to_netcdf(path, engine="h5netcdf", encoding=sizes)
    reads = []
    original = labelled.LabelledArray._read

    def counted(self: labelled.LabelledArray, index: tuple[slice, ...]) -> np.ndarray:
        reads.append(index)
        return original(self, index)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(labelled.LabelledArray, "_read", counted)
        total = sum(piece.values.sum() for s in read(path) for piece in s.chunks())
    assert total == pytest.approx(GRID["u"].sum())
    blocks = [index for index in reads if len(index) == 3]
    # A piece of 7 points lies across two chunks at times; beyond the 3 chunks of a time those are read again.
    assert len({(s[0].start, s[1].start, s[1].stop) for s in blocks}) == len(blocks) <= 4 * (3 + 2)


def test_operations_on_disk_as_in_memory(tmp_path: Path, streamed: None) -> None:
    stored, loaded = read(as_npz(tmp_path, GRID)), read(GRID)
    for one, two in zip(stored, loaded, strict=True):
        assert_same(one.sample(9, seed=3), two.sample(9, seed=3))
        assert_same(one.sample(10**6, seed=3), two)
        for wanted in ([30, 2, 17, -1], np.arange(55) % 4 == 0):
            assert_same(one.take(wanted), two.take(wanted))
        assert one.span("v") == two.span("v") == (two["v"].min(), two["v"].max())
        assert one.replace(t=9.0).t == 9.0
        assert isinstance(one.replace(t=9.0), StoredSnapshot)
        assert_same(one.replace(fields={"w": np.arange(55.0)}), two.replace(fields={"w": np.arange(55.0)}))
        assert_same(pickle.loads(pickle.dumps(one)), two)  # noqa: S301
        with pytest.raises(DataError, match="This snapshot has no 'w'"):
            one["w"]
        with pytest.raises(DataError, match="This snapshot has no 'w'"):
            one.select({"w": "u"})
        with pytest.raises(DataError, match="there are 55, counted from 0"):
            one.take([55])
    assert_all_same(stored.rename({"u": "w"}), loaded.rename({"u": "w"}))
    assert stored.is_gridded
    assert stored.describe() == loaded.describe()
    for chosen in ("subsample", "where", "with_noise"):
        given = {"subsample": (8, 1), "where": (lambda x, y: x + y > 1,), "with_noise": (0.1, 2)}[chosen]
        for one, two in zip(getattr(stored, chosen)(*given), getattr(loaded, chosen)(*given), strict=True):
            assert_same(one, two)
    assert_all_same(stored.at([0.1, 0.4]), loaded.at([0.1, 0.4]))
    assert stored.to_table().equals(loaded.to_table())


@pytest.mark.parametrize("most", [1, 3, 7, 20, 1000])
def test_chunks_are_in_order_and_complete(tmp_path: Path, streamed: None, most: int) -> None:
    for snapshot in (*read(as_npz(tmp_path, GRID)), *read(GRID)):
        pieces = list(snapshot.chunks(most))
        assert max(map(len, pieces)) <= most
        assert all(type(piece) is Snapshot for piece in pieces)
        np.testing.assert_array_equal(np.concatenate([p.points for p in pieces]), snapshot.points)
        np.testing.assert_array_equal(np.concatenate([p.values for p in pieces], axis=1), snapshot.values)


def test_chunks_in_memory_share_it() -> None:
    snapshot = read(ROWS)[0]
    for piece in snapshot.chunks(5):
        for part, whole in (
            (piece.points, snapshot.points),
            (piece.values, snapshot.values),
            (piece.stds["u"], snapshot.stds["u"]),
        ):
            assert np.shares_memory(part, whole)
            assert not part.flags.writeable


def test_a_chunk_may_lie_on_a_line_of_the_grid() -> None:
    piece = next(iter(read(GRID)[0].chunks(5)))
    assert np.ptp(piece["x"]) == 0


@pytest.mark.parametrize(
    "ask", [lambda s: next(s.chunks(0)), lambda s: s.sample(0, 1), lambda s: s.sample(2, -1)]
)
def test_numbers_of_points_that_are_none(ask: Callable[[Snapshot], Any]) -> None:
    with pytest.raises(DataError, match=r"0 points were asked for|The seed is -1"):
        ask(read(LINE)[0])


def test_a_sample_is_fair() -> None:
    """Each of 11 points is drawn 3/11 of the time; the count over 2000 seeds has a known deviation."""
    drawn = np.concatenate([read(LINE)[0].sample(3, seed)["x"] for seed in range(2000)])
    counts = np.array([(drawn == x).sum() for x in X])
    share = 3 / 11
    assert np.all(np.abs(counts - 2000 * share) < 4.5 * np.sqrt(2000 * share * (1 - share)))


def test_spans_cover_every_run() -> None:
    shape = (3, 2, 4)
    values = np.arange(24).reshape(shape)
    for start, stop in itertools.combinations(range(25), 2):
        pieces = [values[span].ravel() for span in flat_spans(shape, start, stop)]
        np.testing.assert_array_equal(np.concatenate(pieces), np.arange(start, stop))


def test_a_stored_array_takes_and_loses_axes_of_length_one() -> None:
    array = StoredArray.of(np.arange(6.0).reshape(1, 6))
    assert array.reshape(-1).shape == (6,)
    assert array.reshape((6, 1)).transpose((1, 0)).read((0, slice(2, 4))).tolist() == [2, 3]
    with pytest.raises(ValueError, match="cannot take the shape"):
        array.reshape((2, 3))
    assert StoredColumn.zeros(4).read(1, 3).tolist() == [0, 0]


def test_a_field_that_is_complex_at_other_times(tmp_path: Path, streamed: None) -> None:
    real = read(as_npz(tmp_path, {"t": T[:1], "x": X, "h": WAVE["h"][:1].real}))
    stored = Snapshots([*real, *read({**WAVE, "t": T + 1})])
    assert isinstance(stored[0], StoredSnapshot)
    assert stored[0].fields == ("h_re", "h_im")
    assert not stored[0]["h_im"].any()
    almost = {**WAVE, "h": WAVE["h"].real + 1e-9j}
    assert read(as_npz(tmp_path, almost)).fields == ("h",)


def test_rows_out_of_order_are_read_into_memory(tmp_path: Path, streamed: None) -> None:
    order = np.random.default_rng(1).permutation(92)
    mixed = read(as_npz(tmp_path, {name: array[order] for name, array in ROWS.items()}))
    assert not isinstance(mixed[0], StoredSnapshot)
    assert [len(s) for s in mixed] == [23] * 4
    with pytest.raises(DataError, match=r"field\.npz: There is a single row with t = 0"):
        read(as_npz(tmp_path, {"t": np.arange(20.0), "x": np.arange(20.0), "u": np.arange(20.0)}))


def test_missing_values(tmp_path: Path, streamed: None) -> None:
    holes = {**GRID, "u": GRID["u"].copy()}
    holes["u"][1, 3:5, 2] = np.nan
    holes["u"][2] = np.nan
    path = as_npz(tmp_path, holes)
    stored = read(path)
    for ask in (lambda: list(stored[1].chunks()), lambda: stored[1].span("u"), lambda: stored[1]["v"]):
        with pytest.raises(
            DataError,
            match=r"field\.npz: u at t = 0\.1 is NaN or infinite at 2 points, first at index 17; .*drop",
        ):
            ask()
    assert_same(stored[0], read(GRID)[0])  # the other times are none the worse
    kept = {name: array[[0, 1, 3]] if array.shape[0] == 4 else array for name, array in holes.items()}
    dropped, loaded = (read(source, missing="drop") for source in (as_npz(tmp_path, kept), kept))
    assert_all_same(dropped, loaded)
    assert [len(s) for s in dropped] == [55, 53, 55]
    assert dropped.describe() == loaded.describe()
    assert not dropped.is_gridded
    assert_same(dropped[1].take([16, 17, 52]), loaded[1].take([16, 17, 52]))
    assert_same(dropped[1].sample(20, 5), loaded[1].sample(20, 5))
    with pytest.raises(DataError, match=r"Every point at t = 0\.3 has a NaN"):
        len(read(as_npz(tmp_path, holes), missing="drop")[2])
    with pytest.raises(DataError, match="is no policy"):
        read(path, missing="ignore")  # type: ignore[arg-type]


def test_a_hole_in_an_axis_of_a_grid(tmp_path: Path, streamed: None) -> None:
    with pytest.raises(
        DataError, match=r"field\.npz: y at t = 0 is NaN or infinite at 1 point, first at index 2"
    ):
        read(as_npz(tmp_path, {**GRID, "y": np.r_[Y[:2], np.nan, Y[3:]]}))


@pytest.mark.parametrize("shares", [1, 3])
@pytest.mark.parametrize("layout", ["fixed", "moving"])
def test_points_that_appear_twice(
    tmp_path: Path, streamed: None, monkeypatch: pytest.MonkeyPatch, layout: str, shares: int
) -> None:
    monkeypatch.setattr(stored_points, "MOST_SORTED", -(-23 // shares))
    twice = {name: array.copy() for name, array in LAYOUTS[layout].items()}
    twice["x"][..., 4], twice["y"][..., 4] = 0.0, 0.5
    twice["x"][..., 20], twice["y"][..., 20] = -0.0, 0.5
    with pytest.raises(
        DataError, match=r"field\.npz: The points 4 and 20 at t = 0 are the same \(x = -?0, y = 0\.5\)"
    ):
        read(as_npz(tmp_path, twice))[0].span("u")
    # What is dropped is not compared, and points whose digests agree by chance are no error.
    twice["x"][..., 4] = twice["x"][..., 20] = np.inf
    assert len(read(as_npz(tmp_path, twice), missing="drop")[0]) == 21
    monkeypatch.setattr(stored_points, "_digest", lambda points: np.zeros(len(points), np.uint64))
    assert read(as_npz(tmp_path, LAYOUTS[layout]))[0].span("x")[0] == LAYOUTS[layout]["x"].ravel()[:23].min()


@pytest.mark.parametrize(
    ("match", "change"),
    [
        (r"The points 0 and 10 at t = 0 are the same \(x = 1\)", {"x": np.r_[1.0, X[1:]]}),
        (r"y is 2 at every point \(55 in all\)", {"y": np.full(5, 2.0)}),
        (r"u reaches 1e\+120", {"u": GRID["u"] * 0 + np.linspace(1, 1e120, 5)}),
    ],
)
def test_what_a_grid_may_not_hold(tmp_path: Path, streamed: None, match: str, change: dict[str, Any]) -> None:
    with pytest.raises(DataError, match=r"field\.npz: " + match):
        read(as_npz(tmp_path, {**GRID, **change}))[0].span("u")


def test_deviations_on_disk_are_positive(tmp_path: Path, streamed: None) -> None:
    with pytest.raises(DataError, match=r"field\.npz: u_std holds -1"):
        list(read(as_npz(tmp_path, {**ROWS, "u_std": ROWS["u_std"] * 0 - 1}))[0].chunks())


def test_a_constant_field_is_refused_at_the_door(tmp_path: Path, streamed: None) -> None:
    flat = read(as_npz(tmp_path, {**LINE, "u": LINE["u"] * 0 + 2, "v": LINE["v"]}))
    with pytest.raises(DataError, match=r"u is 2 at every point at t = 0"):
        flat.require_informative()


@pytest.mark.parametrize("name", ["u.npy", "x.npy"])
def test_a_truncated_array(tmp_path: Path, streamed: None, name: str) -> None:
    path = as_folder(tmp_path, LINE)
    whole = (path / name).read_bytes()
    (path / name).write_bytes(whole[:-150] if name == "u.npy" else whole[:-8])
    stored = read(path)
    if name == "u.npy":
        assert_same(stored[1], read(LINE)[1])  # what is there is not lost
        what, ends = "u", "u.npy ends after 25 of 44 values"
    else:
        what, ends = "the points", "x.npy ends after 10 of 11 values"
    with pytest.raises(
        DataError, match=rf"run\.7: {what} at t = 0\.3 could not be read \({ends}\)\. Write .* again"
    ):
        list(stored[2].chunks())


def test_a_truncated_small_array(tmp_path: Path) -> None:
    path = as_folder(tmp_path, LINE)
    (path / "u.npy").write_bytes((path / "u.npy").read_bytes()[:-100])
    with pytest.raises(DataError, match=r"run\.7: an array is cut off: u\.npy ends after 31 of 44 values"):
        read(path)
    (path / "u.npy").write_bytes(b"\x93NUMPY")
    with pytest.raises(DataError, match=r"run\.7: u\.npy could not be read"):
        read(path)


def test_a_file_that_is_cut_while_it_is_read(tmp_path: Path, streamed: None) -> None:
    path = as_npz(tmp_path, {name: GRID[name] for name in "txyu"})
    stored = read(path)
    os.truncate(path, path.read_bytes().index(b"u.npy") + 600)
    with pytest.raises(
        DataError, match=r"field\.npz: u at t = 0\.?1? could not be read \(field\.npz ends after \d+ of 220"
    ):
        [list(s.chunks()) for s in stored]
    with pytest.raises(DataError, match=r"field\.npz: the archive is cut off"):
        read(path)
    path.unlink()
    with pytest.raises(DataError, match=r"field\.npz: u at t = 0\.4 could not be read"):
        list(stored[3].chunks())


def test_a_damaged_member(tmp_path: Path, streamed: None) -> None:
    path = as_compressed_npz(tmp_path, {**LINE, "u": RANDOM.normal(size=(4, 11))})
    whole = bytearray(path.read_bytes())
    start = whole.index(b"u.npy") + 150
    whole[start : start + 200] = bytes(200)
    path.write_bytes(whole)
    with pytest.raises(
        DataError, match=r"field\.npz: (u at t = 0\S* could not be read|the archive could not be read) \(.+\)"
    ):
        [list(s.chunks()) for s in read(path)]


def test_objects_in_a_large_archive_are_never_unpickled(tmp_path: Path, streamed: None) -> None:
    path = as_npz(tmp_path, {**LINE, "note": np.array([{}], dtype=object)})
    with pytest.raises(DataError, match=r"field\.npz: the archive could not be read .*allow_pickle=False"):
        read(path)


def test_records_of_different_grids_in_one_list(tmp_path: Path, streamed: None) -> None:
    maps = as_list_of_maps(tmp_path, LINE)
    maps["u"][2] = maps["u"][2][:9]
    with pytest.raises(
        DataError, match=r"u is a list .* number 0 has the shape \(11,\) and number 2 the shape \(9,\)"
    ):
        read(maps)
    both = read(
        [{**LINE, "t": T[:1], "u": LINE["u"][:1], "v": LINE["v"][:1]}, as_npz(tmp_path, {**LINE, "t": T + 1})]
    )
    assert both.times.tolist() == [0, 1, 1.1, 1.3, 1.4]
    with pytest.raises(DataError, match=r"t = 0 has the coordinates x, the one at t = 1 has x and y"):
        read([LINE, {**GRID, "t": T + 1}])
    with pytest.raises(DataError, match=r"coordinates have the shapes x \(4, 23\) and y \(4, 22\)"):
        read({**MOVING, "y": MOVING["y"][:, 1:]})


def test_reading_writes_nothing(tmp_path: Path, streamed: None) -> None:
    path = as_compressed_npz(tmp_path, GRID)
    folder = as_folder(tmp_path, GRID)
    for file in (path, *folder.iterdir()):
        file.chmod(0o400)
    before = sorted(tmp_path.rglob("*"))
    code = (
        "import os, sys, resource\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))\n"  # a write of one byte to any file ends in an error
        "from hiddenphysics.snapshots import read\n"
        "from hiddenphysics.snapshots.readers import arrays\n"
        "arrays.STREAMED_ABOVE = 10\n"
        "for path in sys.argv[1:]:\n"
        "    s = read(path); s.describe(); [list(q.chunks(9)) for q in s]; os.write(1, b'done ')\n"
    )
    run = subprocess.run([sys.executable, "-c", code, str(path), str(folder)], capture_output=True, text=True)
    assert (run.stdout, run.stderr) == ("done done ", "")
    assert sorted(tmp_path.rglob("*")) == before


def test_only_what_is_asked_for_is_read(
    tmp_path: Path, streamed: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Reading, printing, choosing times and matching names ask for no value of a field."""
    path = as_npz(tmp_path, {**LINE, "usol": LINE["u"]})
    asked: list[str] = []
    original = StoredSnapshot._raw
    monkeypatch.setattr(
        StoredSnapshot, "_raw", lambda self, k: asked.append(str(self.t)) or original(self, k)
    )
    stored = read(path)
    (
        repr(stored),
        repr(stored[0]),
        len(stored[0]),
        stored.at([0.1, 0.3]).rename({"usol": "w"}),
        stored[1:].times,
    )
    assert stored.is_gridded
    assert asked == []
    Question.of("u_t + a*u*v_x - b*v = w", stored.rename({"usol": "w"}).at([0.1, 0.3]))
    assert set(asked) == {"0.1", "0.3"}
    # Two blocks at two times, once, and the first of each to see that something changes.
    assert len(asked) == 6


def test_zarr_without_zarr_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    (tmp_path / "field.zarr").mkdir()
    with pytest.raises(
        MissingExtraError, match=r'field\.zarr is a Zarr store; .*pip install "hiddenphysics\[zarr\]"'
    ):
        read(tmp_path / "field.zarr")
    assert ".zarr" in READERS


def test_a_chunk_that_is_gone_from_a_zarr_store(tmp_path: Path, streamed: None) -> None:
    pytest.importorskip("zarr")
    path = tmp_path / "field.zarr"
    dataset("line").to_zarr(path, encoding={"u": {"chunks": (1, 11)}}, zarr_format=2)
    (path / "u" / "2.0").unlink()
    stored = read(path)
    assert_same(stored[1], read(LINE)[1])
    with pytest.raises(DataError, match=r"field\.zarr: u at t = 0\.3 is NaN or infinite at 11 points"):
        list(stored[2].chunks())


def test_a_chunk_that_was_never_written(tmp_path: Path, streamed: None) -> None:
    h5netcdf = pytest.importorskip("h5netcdf")
    path = tmp_path / "field.nc"
    with h5netcdf.File(path, "w") as file:
        file.dimensions = {"t": 4, "x": 11}
        for name in "tx":
            file.create_variable(name, (name,), data=LINE[name])
        u = file.create_variable("u", ("t", "x"), float, chunks=(1, 6), fillvalue=np.nan)
        for i, cells in itertools.product(range(4), (slice(0, 6), slice(6, 11))):
            if (i, cells.start) != (2, 6):
                u[i, cells] = LINE["u"][i, cells]
    stored = read(path)
    np.testing.assert_array_equal(stored[3]["u"], LINE["u"][3])
    with pytest.raises(
        DataError, match=r"field\.nc: u at t = 0\.3 is NaN or infinite at 5 points, first at index 6"
    ):
        stored.require_informative()
    assert [len(s) for s in read(path, missing="drop")] == [11, 11, 6, 11]


@pytest.fixture
def long_line(tmp_path: Path) -> Iterator[Path]:
    """A recording of 10⁷ values 0, 1, 2, … on a line."""
    path, (times, points) = tmp_path / "long.npz", (50, 200_000)
    values = np.arange(times * points, dtype=float).reshape(times, points)
    np.savez(path, t=np.arange(times) / 10, x=np.linspace(0, 1, points), u=values)
    yield path
    path.unlink()  # 80 MB, which pytest would keep for three more runs


def test_a_pass_over_ten_million_values_in_little_memory(long_line: Path) -> None:
    """In memory the values alone take 80 MB; here 25 MB more than the interpreter had must do."""
    code = (
        "import resource, sys\n"
        "from hiddenphysics.snapshots import read\n"
        "def used(): return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024\n"
        "before = used()\n"
        "snapshots = read(sys.argv[1])\n"
        "snapshots.require_informative()\n"
        "total = sum(int(piece.values.sum()) for s in snapshots for piece in s.chunks())\n"
        "print(total, snapshots[-1].sample(10, seed=0).values.max() < 1e7, used() - before)\n"
    )
    run = subprocess.run(
        [sys.executable, "-c", code, str(long_line)], capture_output=True, text=True, check=True, timeout=60
    )
    total, sampled, megabytes = run.stdout.split()
    n = 10**7
    assert int(total) == n * (n - 1) // 2
    assert sampled == "True"
    assert int(megabytes) < 25


def test_identify_takes_a_stored_recording(tmp_path: Path, streamed: None) -> None:
    """The heat equation on disk and in memory: the same fit."""
    t, x = np.array([0.0, 0.1]), np.linspace(0, 2 * np.pi, 30, endpoint=False)
    u = np.exp(-0.5 * t[:, None]) * np.sin(x) + np.exp(-2.0 * t[:, None]) * np.cos(2 * x)
    path = as_npz(tmp_path, {"t": t, "x": x, "u": u})
    stored = hp.identify("u_t - b*u_xx = 0", path, model="paper")
    assert isinstance(stored.snapshots[0], StoredSnapshot)
    loaded = hp.identify("u_t - b*u_xx = 0", {"t": t, "x": x, "u": u}, model="paper")
    assert stored.parameters["b"].estimate == pytest.approx(loaded.parameters["b"].estimate, rel=1e-9)
