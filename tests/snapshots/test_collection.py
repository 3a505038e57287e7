"""The collection: agreement, choice of times, names, summaries, grids."""

from __future__ import annotations

import numpy as np
import pytest

from hiddenphysics.errors import DataError
from hiddenphysics.snapshots import Snapshot, Snapshots, read

X = np.linspace(0.0, 1.0, 6)


def snap(t: float, n: int = 6, **fields: np.ndarray) -> Snapshot:
    x = np.linspace(0.0, 1.0, n)
    return Snapshot(t=t, x=x, **(fields or {"u": np.sin(x + t)}))


@pytest.fixture
def three() -> Snapshots:
    return Snapshots([snap(0.0), snap(0.1), snap(0.3)])


def test_sorted_by_time_and_a_sequence(three: Snapshots) -> None:
    shuffled = Snapshots([three[2], three[0], three[1]])
    np.testing.assert_array_equal(shuffled.times, [0.0, 0.1, 0.3])
    assert (len(shuffled), shuffled[-1].t, shuffled[1] in shuffled) == (3, 0.3, True)
    assert [s.t for s in shuffled] == [0.0, 0.1, 0.3]
    assert isinstance(shuffled[1:], Snapshots)
    np.testing.assert_array_equal(shuffled[1:].times, [0.1, 0.3])
    assert (three.fields, three.coordinates, three.complex_fields) == (("u",), ("x",), ())


def test_a_constant_field_is_read_but_not_learned_from() -> None:
    resting = {
        "t": [0.0, 0.1, 0.2],
        "x": X,
        "v": np.outer([0.0, 0.1, 0.2], np.sin(X)),
        "u": np.ones((3, 6)) * X,
    }
    recording = read(resting)
    recording[1:].require_informative()
    with pytest.raises(
        DataError, match=r"v is 0 at every point at t = 0: a constant field carries no information"
    ):
        recording.require_informative()


def test_one_snapshot_is_allowed_until_more_are_needed() -> None:
    one = Snapshots([snap(0.0)])
    one.require_at_least(1, "nothing is compared")
    with pytest.raises(DataError, match="one snapshot was given; 2 are needed because a change is learned"):
        one.require_at_least(2, "a change is learned")
    with pytest.raises(DataError, match="2 snapshots were given; 3 are needed"):
        Snapshots([snap(0.0), snap(1.0)]).require_at_least(3, "of this")


@pytest.mark.parametrize(
    ("match", "snapshots"),
    [
        ("Two snapshots have the same time t = 1", [snap(1.0), snap(0.0), snap(1.0)]),
        ("list of snapshots is empty", []),
        ("One bare Snapshot", snap(0.0)),
        ("takes Snapshot objects; a int was given", [snap(0.0), 3]),
        ("t = 0 has the coordinates x, the one at t = 1 has x and y", [snap(0.0), Snapshot(1.0, X, X**2, X)]),
        ("t = 0 has the fields u, the one at t = 1 has u and v", [snap(0.0), snap(1.0, u=X, v=X**2)]),
    ],
)
def test_refusals(match: str, snapshots: list[Snapshot]) -> None:
    with pytest.raises(DataError, match=match):
        Snapshots(snapshots)


def test_fields_take_the_order_of_the_first() -> None:
    both = Snapshots([snap(0.0, u=X, v=X**2), snap(1.0, v=X**3, u=X**4)])
    assert both[1].fields == ("u", "v")
    np.testing.assert_array_equal(both[1]["u"], X**4)


def test_a_real_state_among_complex_ones_is_complex() -> None:
    both = Snapshots([snap(0.0, h=X + 0j, u=X), snap(1.0, h=X + 1j * X**2, u=X)])
    assert both.complex_fields == ("h",)
    assert both.fields == ("h_re", "h_im", "u")
    np.testing.assert_array_equal(both[0]["h_im"], 0 * X)


def test_at_takes_the_nearest_within_one_percent_of_the_smallest_gap(three: Snapshots) -> None:
    np.testing.assert_array_equal(three.at([0.3, 0.0009]).times, [0.0, 0.3])
    np.testing.assert_array_equal(three.at(0.1).times, [0.1])
    with pytest.raises(
        DataError, match=r"tolerance 0.001 of t = 0.0011; .*times are 0 and 0.1.*tolerance=0.00111"
    ):
        three.at([0.0011])
    np.testing.assert_array_equal(three.at([0.25], tolerance=0.05).times, [0.3])


@pytest.mark.parametrize(
    ("match", "times", "tolerance"),
    [
        ("nearest to the same snapshot", [0.1, 0.1], None),
        ("give one or more finite numbers", [], None),
        ("give one or more finite numbers", [np.nan], None),
        ("tolerance=-1", [0.1], -1),
    ],
)
def test_at_refusals(three: Snapshots, match: str, times: list[float], tolerance: float | None) -> None:
    with pytest.raises(DataError, match=match):
        three.at(times, tolerance)


def test_at_with_a_single_time() -> None:
    one = Snapshots([snap(2.0)])
    assert one.at([2.000001]).times == [2.0]
    with pytest.raises(DataError, match="nearest available time is 2"):
        one.at([2.1])


def test_rename(three: Snapshots) -> None:
    assert three.rename({"u": "w"}).fields == ("w",)
    h = Snapshots([snap(0.0, h=X + 1j * X**2, u=X)])
    assert h.rename({"h": "psi"}).fields == ("psi_re", "psi_im", "u")
    assert h.rename({"u": "h_re", "h_re": "u"}).fields == ("u", "h_im", "h_re")
    np.testing.assert_array_equal(h.rename({"h": "psi"})[0]["psi_im"], X**2)


@pytest.mark.parametrize(
    ("match", "mapping"),
    [
        ("no field w to rename; the fields are u and v", {"w": "a"}),
        ("two fields of one name: v and v", {"u": "v"}),
        ("field cannot be called t", {"u": "t"}),
        ("field cannot be called z", {"u": "z"}),
    ],
)
def test_rename_refusals(match: str, mapping: dict[str, str]) -> None:
    with pytest.raises(DataError, match=match):
        Snapshots([snap(0.0, u=X, v=X**2)]).rename(mapping)


def test_descriptions(three: Snapshots) -> None:
    assert repr(three) == "Snapshots(3 snapshots of u in x, t from 0 to 0.3, 6 points each)"
    assert three.describe() == (
        "3 snapshots of u in x, t from 0 to 0.3, 6 points each. The gaps between times are 0.1 to 0.2."
        " The points are the same at every time (a fixed grid). Ranges: x from 0 to 1, u from 0 to 0.964."
    )
    assert "2 to 6 points" in repr(Snapshots([snap(0.0), snap(1.0, n=2)]))
    assert "different from time to time" in Snapshots([snap(0.0), snap(1.0, n=2)]).describe()
    lone = Snapshots([snap(2.0, h=X + 1j * X**2)])
    assert repr(lone) == "Snapshots(1 snapshot of h_re, h_im in x, t 2, 6 points each)"
    assert lone.describe().endswith("h is complex, kept as h_re and h_im.")


def test_to_table(three: Snapshots) -> None:
    table = three.to_table()
    assert list(table.columns) == ["t", "x", "u"]
    assert table.shape == (18, 3)
    np.testing.assert_array_equal(table["u"][6:12], three[1]["u"])


def test_grid(three: Snapshots) -> None:
    assert three.is_gridded
    times, x, values = three.field_grid("u")
    np.testing.assert_array_equal(times, [0.0, 0.1, 0.3])
    np.testing.assert_array_equal(x, X)
    np.testing.assert_array_equal(values[1], np.sin(X + 0.1))


def test_grid_is_given_in_increasing_x() -> None:
    back = Snapshots([Snapshot(0.0, X[::-1], X[::-1] ** 2)])
    _, x, values = back.field_grid("u")
    np.testing.assert_array_equal(x, X)
    np.testing.assert_array_equal(values, [X**2])


def test_no_grid() -> None:
    scattered = Snapshots([snap(0.0), snap(1.0, n=5)])
    assert not scattered.is_gridded
    with pytest.raises(DataError, match="have x and other points"):
        scattered.field_grid("u")
    with pytest.raises(DataError, match="have x and y and the same points"):
        Snapshots([Snapshot(1.0, X, X**2, X)]).field_grid("u")
