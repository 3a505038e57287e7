"""One snapshot: how it is built, what it refuses, and that it cannot change."""

from __future__ import annotations

import copy
import dataclasses

import numpy as np
import pytest

from hiddenphysics.errors import DataError
from hiddenphysics.snapshots import Snapshot

X = np.linspace(0.0, 1.0, 5)
U = np.sin(X)


def refused(match: str, *args: object, **named: object) -> None:
    with pytest.raises(DataError, match=match):
        Snapshot(*args, **named)  # type: ignore[arg-type]


def test_by_name() -> None:
    s = Snapshot(t=2, x=X, u=U)
    assert (s.t, s.coordinates, s.fields, len(s)) == (2.0, ("x",), ("u",), 5)
    assert s.points.shape == (5, 1)
    assert s.values.shape == (1, 5)
    np.testing.assert_array_equal(s["x"], X)
    np.testing.assert_array_equal(s["u"], U)
    assert "u" in s
    assert "v" not in s
    assert repr(s) == "Snapshot(t=2, 5 points in x, field u)"


def test_last_positional_array_is_u() -> None:
    s = Snapshot(0.0, X, X**2, U)
    assert (s.coordinates, s.fields) == (("x", "y"), ("u",))
    np.testing.assert_array_equal(s["y"], X**2)


def test_positions_are_coordinates_when_fields_are_named() -> None:
    s = Snapshot(0.0, X, X**2, X**3, u=U, v=U + X)
    assert (s.coordinates, s.fields) == (("x", "y", "z"), ("u", "v"))
    assert s.points.shape == (5, 3)


def test_position_and_name_may_mix() -> None:
    assert Snapshot(0.0, X, y=X**2, u=U).coordinates == ("x", "y")


def test_lists_and_integers_become_float64() -> None:
    s = Snapshot(0, [0, 1, 2], [3, 4, 6])
    assert s["u"].dtype == s["x"].dtype == np.float64


def test_complex_field_is_two_real_fields() -> None:
    s = Snapshot(0.0, x=X, h=U + 1j * X, u=U)
    assert s.fields == ("h_re", "h_im", "u")
    assert s.complex_fields == ("h",)
    np.testing.assert_array_equal(s["h_im"], X)


def test_two_parts_by_name_are_a_complex_field() -> None:
    assert Snapshot(0.0, x=X, h_re=U, h_im=X).complex_fields == ("h",)


@pytest.mark.parametrize(("ratio", "fields"), [(0.9e-5, ("h",)), (1.1e-5, ("h_re", "h_im"))])
def test_round_off_in_the_imaginary_part_is_dropped(ratio: float, fields: tuple[str, ...]) -> None:
    assert Snapshot(0.0, x=X, h=X + 1j * ratio * X).fields == fields


def test_constant_fields_are_kept_and_named() -> None:
    assert Snapshot(0.0, x=X, u=U, v=0 * X, w=0 * X + 3).constant_fields == ("v", "w")
    assert Snapshot(0.0, x=X, u=U).constant_fields == ()


def test_one_part_of_a_complex_field_may_be_flat_but_not_both() -> None:
    assert Snapshot(0.0, x=X, h_re=U, h_im=0 * X).complex_fields == ("h",)
    assert Snapshot(0.0, x=X, h_re=U, h_im=0 * X).constant_fields == ()
    assert Snapshot(0.0, x=X, h=np.full(5, 1 + 1j)).constant_fields == ("h_re", "h_im")


def test_immutable() -> None:
    given = U.copy()
    s = Snapshot(t=0.0, x=X, u=given)
    given[:] = 7
    np.testing.assert_array_equal(s["u"], U)
    for array in (s["u"], s["x"], s.points, s.values):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1
    with pytest.raises(dataclasses.FrozenInstanceError):
        s.t = 1.0  # type: ignore[misc]


def test_missing_values_are_refused_by_default() -> None:
    bad = U.copy()
    bad[3] = np.nan
    refused(
        r"u at t = 0 is NaN or infinite at 1 point, first at index 3; .*missing='refuse'.*missing='drop'",
        0,
        X,
        bad,
    )
    refused("x at t = 0 is NaN or infinite", 0, np.where(X == 1, np.inf, X), U)


def test_missing_values_are_dropped_on_request() -> None:
    bad = U.copy()
    bad[3] = np.inf
    s = Snapshot(0.0, x=X, u=bad, v=U, missing="drop")
    np.testing.assert_array_equal(s["x"], X[[0, 1, 2, 4]])
    np.testing.assert_array_equal(s["v"], U[[0, 1, 2, 4]])


def test_masked_values_are_missing() -> None:
    masked = np.ma.masked_array(U, mask=X == 0)
    refused("u at t = 0 is NaN or infinite at 1 point, first at index 0", 0, X, masked)
    assert len(Snapshot(0, X, masked, missing="drop")) == 4


def test_missing_policies() -> None:
    refused("leaves none", 0, X, np.full(5, np.nan), missing="drop")
    refused("missing='guess' is no policy", 0, X, U, missing="guess")


@pytest.mark.parametrize(
    ("match", "args", "named"),
    [
        (r"points 1 and 3 at t = 0 are the same \(x = 1\)", (0, [0, 1, 2, 1], [1, 2, 3, 4]), {}),
        (r"points 0 and 2 .*x = 0, y = 1", (0, [0, 1, 0], [1, 1.5, 1], [1, 2, 3]), {}),
        ("x has 5 values and u has 4", (0, X, U[:4]), {}),
        (r"u has shape \(5, 1\).*u\.ravel\(\)", (0, X, U[:, None]), {}),
        (r"x has shape \(1, 5\).*x\.ravel\(\)", (0, X[None], U), {}),
        (r"u has shape \(2, 5\).*whole grid", (0, X, np.stack([U, U])), {}),
        ("u holds values of type <U1, not numbers", (0, X, list("abcde")), {}),
        ("u holds values of type bool", (0, X, X > 0.5), {}),
        ("u could not be read as an array", (0, [0, 1], [[1, 2], [3]]), {}),
        ("u is empty", (0, X, []), {}),
        ("x is a single number", (0, 1.0, U), {}),
        ("must be finite; t = nan", (np.nan, X, U), {}),
        ("one real number; 'now' was given", ("now", X, U), {}),
        (r"an array of shape \(2,\) was given", ([0, 1], X, U), {}),
        ("t = 1e.200 is too large", (1e200, X, U), {}),
        ("u reaches 8.41e.120; squares .* Rescale the units", (0, X, 1e121 * U), {}),
        ("x reaches 1e.200", (0, 1e200 * X, U), {}),
        ("x is 2 at every point .*without extent", (0, 0 * X + 2, U), {}),
        ("y is 0 at every point", (0, X, 0 * X, U), {}),
        ("coordinates x and z .*without holes. Rename them to x and y", (0,), {"x": X, "z": X**2, "u": U}),
        ("No coordinate was given", (0,), {"u": U}),
        ("No coordinate was given", (0, U), {}),
        ("No field was given", (0,), {"x": X}),
        ("coordinate x was given twice", (0, X), {"x": X, "u": U}),
        ("4 arrays were given as coordinates", (0, X, X, X, X), {"u": U}),
        ("field h_re was given twice", (0, X), {"h": U + 1j * X, "h_re": U}),
        ("coordinate x is complex", (0, X + 1j, U), {}),
    ],
)  # fmt: skip
def test_refusals(match: str, args: tuple[object, ...], named: dict[str, object]) -> None:
    refused(match, *args, **named)


@pytest.mark.parametrize("name", ["t", "x", "y", "z"])
def test_fields_cannot_take_the_names_of_time_and_space(name: str) -> None:
    with pytest.raises(DataError, match=f"field cannot be called {name}"):
        Snapshot.from_columns(0.0, {"x": X}, {name: U})


def test_unknown_name_lists_what_is_there() -> None:
    with pytest.raises(DataError, match="no 'w'; it has the coordinates x and the fields u"):
        Snapshot(0.0, X, U)["w"]


def test_replace_shares_the_points() -> None:
    s = Snapshot(0.0, X, U)
    later = s.replace(t=1.0, fields={"v": U**2})
    assert later.points is s.points
    assert (later.t, later.fields) == (1.0, ("v",))
    assert s.replace(t=2.0).fields == ("u",)
    with pytest.raises(DataError, match="points has 5 values and v has 3"):
        s.replace(fields={"v": [1.0, 2.0, 3.0]})
    with pytest.raises(DataError, match="NaN or infinite"):
        s.replace(fields={"v": U / np.array([1, 1, 1, 1, np.nan])})


def test_take_by_index_and_by_mask() -> None:
    s = Snapshot(0.0, X, U)
    np.testing.assert_array_equal(s.take([3, 1])["x"], X[[3, 1]])
    np.testing.assert_array_equal(s.take(X > 0.4)["u"], U[X > 0.4])


def test_a_copy_for_another_process_keeps_the_known_errors() -> None:
    s = Snapshot(0.5, X, u=U, u_std=np.full(U.size, 0.1))
    copied = copy.deepcopy(s)
    assert (copied.t, copied.columns) == (s.t, s.columns)
    np.testing.assert_array_equal(copied.stds["u"], s.stds["u"])
