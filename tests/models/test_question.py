"""Names in the equation and names in the data, brought together."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import hiddenphysics as hp
from hiddenphysics.equation import Equation
from hiddenphysics.models import question
from hiddenphysics.snapshots import Experiments, Snapshots

X = np.linspace(0.0, 6.0, 9)
HEAT = "u_t - b*u_xx = 0"
SCHROEDINGER = "i*h_t + a*h_xx + b*abs(h)^2*h = 0"


def match(text: str, snapshots: Snapshots, **choices: Any) -> tuple[Equation, Snapshots]:
    """Match one experiment."""
    equation, runs = question.match(text, Experiments.single(snapshots), **choices)
    return equation, runs.only


def data(**fields: np.ndarray) -> Snapshots:
    return Snapshots(
        [hp.Snapshot(t=t, x=X, **{f: v + 0.1 * t for f, v in fields.items()}) for t in (0.0, 0.1)]
    )


WAVE = np.sin(X)
COMPLEX = np.exp(1j * X)


def test_equal_names_stay() -> None:
    equation, snapshots = match(HEAT, data(u=WAVE))
    assert (equation.fields, snapshots.fields) == (("u",), ("u",))


def test_the_only_field_is_renamed_whatever_its_name() -> None:
    equation, snapshots = match(HEAT, data(usol=WAVE))
    assert snapshots.fields == ("u",)
    assert equation.given == ("u",)
    np.testing.assert_array_equal(snapshots[0]["u"], WAVE)


def test_the_only_complex_field_is_renamed_with_both_parts() -> None:
    equation, snapshots = match(SCHROEDINGER, data(usol=COMPLEX))
    assert snapshots.fields == equation.fields == ("h_re", "h_im")
    assert snapshots.complex_fields == ("h",)
    np.testing.assert_allclose(snapshots[0]["h_im"], np.sin(X))


def test_a_mapping_chooses_and_renames() -> None:
    equation, snapshots = match(HEAT, data(temperature=WAVE, pressure=2 * WAVE), fields={"u": "pressure"})
    assert snapshots.fields == ("u",)
    np.testing.assert_array_equal(snapshots[0]["u"], 2 * WAVE)
    assert equation.fields == ("u",)


def test_a_mapping_may_exchange_names() -> None:
    system = "u_t + a*v_x = 0; v_t + b*u_x = 0"
    _, snapshots = match(system, data(u=WAVE, v=2 * WAVE), fields={"u": "v", "v": "u"})
    np.testing.assert_array_equal(snapshots[0]["u"], 2 * WAVE)
    np.testing.assert_array_equal(snapshots[0]["v"], WAVE)


def test_a_mapping_takes_a_complex_field_whole() -> None:
    _, snapshots = match(SCHROEDINGER, data(psi=COMPLEX, q=WAVE), fields={"h": "psi"})
    assert snapshots.fields == ("h_re", "h_im")


def test_constants_and_bounds_reach_the_equation() -> None:
    equation, _ = match(
        "u_t + a*u_x - b*u_xx = 0", data(u=WAVE), constants={"a": 2.0}, bounds={"b": (0.0, None)}
    )
    assert equation.parameters == ("b",)
    assert dict(equation.constants) == {"a": 2.0}
    assert equation.bounds["b"] == (0.0, np.inf)


def test_an_unknown_column_is_refused_with_what_there_is() -> None:
    with pytest.raises(
        hp.DataError, match=r"The field 'usol' was asked for, but the data hold u, v.*--field u=usol"
    ):
        match(HEAT, data(u=WAVE, v=WAVE), fields={"u": "usol"})


def test_complex_data_for_a_real_equation_are_refused() -> None:
    with pytest.raises(hp.DataError, match=r"The data for u are complex, but the equation is real.*\(i\*u_t"):
        match(HEAT, data(u=COMPLEX))


def test_complex_data_of_another_name_for_a_real_equation_are_refused() -> None:
    with pytest.raises(hp.DataError, match="are complex, but the equation is real"):
        match(HEAT, data(usol=COMPLEX))


def test_real_data_for_a_complex_equation_are_refused() -> None:
    with pytest.raises(
        hp.DataError, match=r"The equation makes h complex, but the data for h are real.*h_re and h_im"
    ):
        match(SCHROEDINGER, data(h=WAVE))


STRANGER = (
    r"The data hold the field 'q', which the equation does not have \(it has {}\)\. .*--field {}=COLUMN"
)


def test_a_field_too_many_is_left_out_and_told() -> None:
    for text, given in ((HEAT, data(u=WAVE, q=WAVE)), (SCHROEDINGER, data(h=COMPLEX, q=WAVE))):
        _, snapshots = match(text, given)
        assert "q" not in snapshots.fields
        assert snapshots.notes == ("Not in the equation, and not used: q.",)


def test_a_field_too_many_that_might_be_the_one_too_few_is_refused() -> None:
    with pytest.raises(hp.DataError, match=STRANGER.format("u", "u")):
        match(HEAT, data(w=WAVE, q=WAVE).rename({"w": "q", "q": "r"}))
    with pytest.raises(hp.DataError, match=STRANGER.format("u, p", "u")):
        match("u_t + p_x - b*u_xx = 0", data(u=WAVE, q=WAVE))


def test_letters_large_and_small_are_alike() -> None:
    _, snapshots = match("u_t - b*u_xx + v_x = 0; v_t - b*v_xx = 0", data(V=WAVE, U=2 + WAVE))
    assert set(snapshots.fields) == {"u", "v"}
    np.testing.assert_array_equal(snapshots[0]["u"], data(U=2 + WAVE)[0]["U"])
    _, snapshots = match(SCHROEDINGER, data(H=COMPLEX))
    assert snapshots.complex_fields == ("h",)


def test_data_for_a_symbol_make_it_a_field() -> None:
    equation, _ = match("u_t + c*u_x - b*u_xx = 0", data(u=WAVE, c=1 + WAVE))
    assert (equation.fields, equation.parameters) == (("u", "c"), ("b",))
