"""Known errors of single values: the column u_std beside u."""

from __future__ import annotations

import numpy as np
import pytest

import hiddenphysics as hp
from hiddenphysics.errors import DataError

X = np.linspace(0.0, 1.0, 6)
STD = np.linspace(0.1, 0.2, 6)


def snapshot(t: float = 0.0) -> hp.Snapshot:
    return hp.Snapshot(t=t, x=X, u=np.sin(X), u_std=STD, v=X)


def test_a_standard_deviation_is_no_field() -> None:
    assert snapshot().fields == ("u", "v")
    assert snapshot().columns == ("u", "v", "u_std")
    np.testing.assert_array_equal(snapshot()["u_std"], STD)
    assert "u_std" in snapshot()
    assert "v_std" not in snapshot()


def test_a_lonely_name_that_ends_so_is_a_field() -> None:
    assert hp.Snapshot(t=0.0, x=X, u_std=STD).fields == ("u_std",)


def test_it_follows_its_points_its_field_and_its_file() -> None:
    both = hp.Snapshots([snapshot(0.0), snapshot(1.0)])
    np.testing.assert_array_equal(both.where(lambda x: x > 0.5)[0]["u_std"], STD[X > 0.5])
    assert both.rename({"u": "w"})[1].columns == ("w", "v", "w_std")
    np.testing.assert_array_equal(both.with_noise(0.1, seed=0)[0]["u_std"], STD)
    np.testing.assert_array_equal(hp.read(both.to_table())[1]["u_std"], STD)


def test_a_coordinate_of_a_data_set_gives_it(tmp_path) -> None:
    xr = pytest.importorskip("xarray")
    data = xr.Dataset(
        {"u": (("t", "x"), np.stack([np.sin(X), np.cos(X)]))},
        {"t": [0.0, 1.0], "x": X, "u_std": (("t", "x"), np.stack([STD, 2 * STD]))},
    )
    np.testing.assert_array_equal(hp.read(data)[1]["u_std"], 2 * STD)
    data.to_netcdf(tmp_path / "data.nc", engine="h5netcdf")
    np.testing.assert_array_equal(hp.read(tmp_path / "data.nc")[0]["u_std"], STD)


def test_zero_is_the_learned_noise_alone_and_is_told() -> None:
    """Known variances add to the learned one, so 0 adds nothing; a sentence says so wherever the data go."""
    exact = hp.Snapshot(t=0.0, x=X, u=X, u_std=np.where(X > 0, 1.0, 0.0))
    assert exact["u_std"][0] == 0.0
    both = hp.Snapshots([exact, snapshot(1.0).select({"u": "u", "u_std": "u_std"})])
    rule = "u_std is 0 at some points: the error of those values is the learned noise alone."
    assert both.notes == both.at([0.0, 1.0]).notes == (rule,)
    assert rule in both.describe()
    assert hp.Snapshots([snapshot(0.0)]).notes == ()


@pytest.mark.parametrize("wrong", [-0.5, np.nan])
def test_it_must_not_be_negative(wrong: float) -> None:
    with pytest.raises(
        DataError,
        match=r"u_std (holds -0\.5; the standard deviation of u is a number .*positive, or 0|at t = 0 is NaN)",
    ):
        hp.Snapshot(t=0.0, x=X, u=X, u_std=np.where(X > 0, 1.0, wrong))
