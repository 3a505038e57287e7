"""Arrays, tables in memory and labelled arrays."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import xarray as xr

from hiddenphysics.errors import DataError
from hiddenphysics.snapshots import Snapshot, Snapshots, read

T = np.array([0.0, 0.1, 0.3])
X = np.linspace(-1.0, 1.0, 5)
Y = np.linspace(0.0, 1.0, 4)
U = np.sin(X + T[:, None])  # (T, X)
V = U[:, :, None] + 2 * Y  # (T, X, Y)


def assert_is_u(snapshots: Snapshots) -> None:
    np.testing.assert_array_equal(snapshots.times, T)
    _, x, values = snapshots.field_grid("u")
    np.testing.assert_array_equal(x, X)
    np.testing.assert_array_equal(values, U)


def assert_is_v(snapshots: Snapshots) -> None:
    np.testing.assert_array_equal(snapshots.times, T)
    for t, s in zip(T, snapshots, strict=True):
        assert len(s) == X.size * Y.size
        np.testing.assert_allclose(s["v"], np.sin(s["x"] + t) + 2 * s["y"], rtol=1e-15)


def long_table() -> dict[str, np.ndarray]:
    t, x = np.meshgrid(T, X, indexing="ij")
    return {"t": t.ravel(), "x": x.ravel(), "u": U.ravel()}


def test_snapshot_objects_pass_through() -> None:
    snapshots = [Snapshot(t, X, u) for t, u in zip(T, U, strict=True)]
    assert_is_u(read(snapshots))
    assert read(snapshots, columns={"w": "u"}).fields == ("w",)


@pytest.mark.parametrize("u", [U, U.T])
def test_grid_in_either_order(u: np.ndarray) -> None:
    assert_is_u(read({"t": T, "x": X, "u": u}))


@pytest.mark.parametrize("order", ["txy", "tyx", "xty", "xyt", "ytx", "yxt"])
def test_grid_with_two_coordinates_in_any_order(order: str) -> None:
    v = np.transpose(V, ["txy".index(axis) for axis in order])
    assert_is_v(read({"t": T, "x": X, "y": Y, "v": v}))


def test_a_snapshot_on_a_grid_shares_its_points() -> None:
    snapshots = read({"t": T, "x": X, "u": U})
    assert all(s.points is snapshots[0].points for s in snapshots)


def test_equal_lengths_mean_time_first() -> None:
    square = np.arange(9.0).reshape(3, 3)
    np.testing.assert_array_equal(read({"t": T, "x": X[:3], "u": square})[1]["u"], [3, 4, 5])


def test_an_order_that_cannot_be_told_is_refused() -> None:
    with pytest.raises(
        DataError, match=r"axes of u could be .* and .*: some lengths are equal. Transpose it"
    ):
        read({"t": T, "x": X[:3], "y": Y, "u": np.ones((4, 3, 3))})


def test_one_time_on_a_grid() -> None:
    for u in (U[0], U[:1], U[:1].T):
        np.testing.assert_array_equal(read({"t": 0.0, "x": X, "u": u})[0]["u"], U[0])


def test_long_arrays_in_any_order_of_rows() -> None:
    order = np.random.default_rng(0).permutation(U.size)
    snapshots = read({name: column[order] for name, column in long_table().items()})
    for t, s in zip(T, snapshots, strict=True):
        np.testing.assert_array_equal(s["u"], np.sin(s["x"] + t))
    assert_is_u(read(long_table()))


def test_complex_is_decided_over_all_times() -> None:
    h = X + 1j * T[:, None] * X**2  # real at the first time
    snapshots = read({"t": T, "x": X, "h": h})
    assert snapshots.complex_fields == ("h",)
    np.testing.assert_array_equal(snapshots[2]["h_im"], T[2] * X**2)
    assert read({"t": T, "x": X, "h": U + 1e-9j}).fields == ("h",)


def test_columns_rename() -> None:
    assert_is_u(read({"when": T, "x": X, "usol": U}, columns={"u": "usol", "t": "when"}))
    assert_is_u(read({"When": T, "X": X, "USOL": U}, columns={"u": "usol", "t": "WHEN"}))
    with pytest.raises(DataError, match="w is to be the column 'v', but the names found are t, x and u"):
        read({"t": T, "x": X, "u": U}, columns={"w": "v"})
    with pytest.raises(DataError, match=r"other way round it would fit: columns=\{'u': 'usol'\}"):
        read({"t": T, "x": X, "usol": U}, columns={"usol": "u"})
    with pytest.raises(DataError, match=r"but the names found are t, x and u\. Type --column x=NAME"):
        read({"t": T, "x": X, "u": U}, columns={"x": "nowhere"})  # x is there, but is no name for `nowhere`
    with pytest.raises(DataError, match=r"columns uses u twice, as u and as v"):
        read({"t": T, "x": X, "u": U}, columns={"u": "u", "v": "u"})
    beside = {"t": T, "x": X[::-1], "position": X, "u": U, "w": U}
    assert_is_u(read(beside, columns={"x": "position"}).select({"u": "u"}))
    assert read(beside, columns={"x": "position", "q": "w"}).fields == ("q",)
    with pytest.raises(DataError, match=r"columns='u' was given; needed is a mapping"):
        read({"t": T, "x": X, "u": U}, columns="u")  # type: ignore[arg-type]


def test_missing_values_on_a_grid() -> None:
    holes = U.copy()
    holes[1, 2] = np.nan
    with pytest.raises(DataError, match=r"u at t = 0.1 is NaN or infinite at 1 point"):
        read({"t": T, "x": X, "u": holes})
    snapshots = read({"t": T, "x": X, "u": holes}, missing="drop")
    assert [len(s) for s in snapshots] == [5, 4, 5]
    with pytest.raises(DataError, match="is no policy"):
        read({"t": T, "x": X, "u": U}, missing="ignore")  # type: ignore[arg-type]


def test_rows_without_a_time() -> None:
    table = long_table()
    table["t"][7] = np.nan
    with pytest.raises(DataError, match=r"t is NaN or infinite in 1 rows, first in row 7"):
        read(table)
    assert [len(s) for s in read(table, missing="drop")] == [5, 4, 5]
    table["t"][:] = np.nan
    with pytest.raises(DataError, match="every row"):
        read(table, missing="drop")


@pytest.mark.parametrize(
    ("match", "source"),
    [
        (r"no time t among the names found: x \(5,\) and u \(3, 5\)", {"x": X, "u": U}),
        (r"no coordinate x among", {"t": T, "u": U}),
        (r"no time t and coordinate x among", {"u": U}),
        (
            r"t has 3 and x has 5 values, but .*: u \(3, 4\).*\(3, 5\) in some order",
            {"t": T, "x": X, "u": U[:, :4]},
        ),
        (r"do not fit: v \(3, 4\)", {"t": T, "x": X, "u": U, "v": U[:, :4]}),
        (r"do not fit: u \(4,\)", {"t": X, "x": X, "u": X[:4]}),
        (
            r"here \(3, 5, 5\) in some order; at scattered points \(3, 5\);",
            {"t": T, "x": X, "y": X, "u": U[:, :4]},
        ),
        (r"only time and coordinates were found \(t and x\), no field", {"t": T, "x": X}),
        ("single row with t = 0.*round them", {"t": T, "x": X[:3], "u": X[:3]}),
        ("u holds values of type <U1", {"t": T, "x": X, "u": list("abc")}),
        ("coordinates x and z .*without holes", {"t": T, "x": X, "z": Y, "v": V}),
        ("cannot be read from a float", 3.0),
        ("One bare Snapshot", Snapshot(0.0, X, X**2)),
        ("takes Snapshot objects", [1, 2]),
    ],
)
def test_refusals(match: str, source: object) -> None:
    with pytest.raises(DataError, match=match):
        read(source)  # type: ignore[arg-type]


def test_data_frame() -> None:
    frame = pd.DataFrame(long_table())
    assert_is_u(read(frame))
    assert_is_u(read(frame.rename(columns={"t": "time"})))
    assert_is_u(read(frame.set_index(["t", "x"])))
    assert_is_u(read(frame.astype("Float64")))
    assert_is_u(read(frame.astype(object)))
    assert_is_u(read(read(frame).to_table()))


def test_complex_columns_of_a_data_frame() -> None:
    frame = pd.DataFrame(long_table())
    frame["h"] = frame["x"] + 1j * frame["u"]
    assert read(frame).complex_fields == ("h",)
    parts = frame.drop(columns="h").assign(h_re=frame["x"], h_im=frame["u"])
    assert read(parts).complex_fields == ("h",)


def test_data_frame_refusals() -> None:
    frame = pd.DataFrame(long_table())
    with pytest.raises(DataError, match=r"column sensor holds 'a' in row 0 \(counted from 0\), not a number"):
        read(frame.assign(sensor=["a", *range(len(frame) - 1)]))
    with pytest.raises(DataError, match="columns t, x and u but no rows"):
        read(frame[:0])
    with pytest.raises(DataError, match="two columns have one name"):
        read(pd.concat([frame, frame["u"]], axis=1))
    frame["u"] = frame["u"].astype("Float64")
    frame.loc[2, "u"] = pd.NA
    with pytest.raises(DataError, match="u at t = 0 is NaN or infinite at 1 point, first at index 2"):
        read(frame)


@pytest.fixture
def dataset() -> xr.Dataset:
    return xr.Dataset({"u": (("x", "time"), U.T)}, coords={"time": T, "x": X})


def test_xarray(dataset: xr.Dataset) -> None:
    assert_is_u(read(dataset))
    assert_is_u(read(dataset["u"]))
    assert_is_u(read(dataset["u"].rename(None)))
    assert_is_u(read(dataset.rename(x="xx")))
    assert_is_u(read(dataset.rename(x="s", time="when"), columns={"x": "s", "t": "when"}))
    assert_is_u(read(dataset.assign(note=3.0, weights=("x", X))))
    np.testing.assert_array_equal(read(dataset.isel(time=1))[0]["u"], U[1])


def test_xarray_with_equal_lengths_trusts_the_names() -> None:
    square = np.arange(9.0).reshape(3, 3)
    data = xr.DataArray(square, dims=("x", "t"), coords={"t": T, "x": X[:3]})
    np.testing.assert_array_equal(read(data)[0]["u"], [0, 3, 6])


def test_xarray_with_two_coordinates() -> None:
    data = xr.DataArray(V, dims=("t", "x", "y"), coords={"t": T, "x": X, "y": Y}, name="v")
    assert_is_v(read(data.transpose("y", "t", "x")))


def test_xarray_at_fixed_scattered_points() -> None:
    values = np.arange(3.0 * 4).reshape(3, 4)
    places = {"x": ("point", [0.0, 1.0, 0.5, 0.2]), "y": ("point", [0.0, 0.3, 0.5, 0.7])}
    snapshots = read(xr.Dataset({"u": (("point", "t"), values.T)}, {"t": T} | places))
    assert (snapshots.coordinates, snapshots.is_gridded) == (("x", "y"), True)
    np.testing.assert_array_equal([s["u"] for s in snapshots], values)
    np.testing.assert_array_equal(snapshots[2]["y"], places["y"][1])


def test_xarray_long() -> None:
    columns = {name: ("point", column) for name, column in long_table().items()}
    assert_is_u(read(xr.Dataset(columns)))
    assert_is_u(read(xr.Dataset(columns).set_coords(["t", "x"])))


def test_xarray_refusals(dataset: xr.Dataset) -> None:
    with pytest.raises(DataError, match=r"no coordinate x among .*u \(5, 3\)"):
        read(dataset.drop_vars("x"))
    with pytest.raises(DataError, match=r"no variable is a field over time and space; found .*u \('x',\)"):
        read(dataset.mean("time").assign_coords(t=("t", T)))
    with pytest.raises(DataError, match="v is to be the column 'w', but the names found are"):
        read(dataset, columns={"v": "w"})
