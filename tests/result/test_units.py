"""The units of parameters: by hand for the equations of textbooks, and by pint for numbers that are converted."""

from __future__ import annotations

import numpy as np
import pytest

import hiddenphysics as hp
from hiddenphysics.equation import Equation
from hiddenphysics.result import units
from hiddenphysics.result.units import described, parameter_units
from hiddenphysics.snapshots import Provenance, Snapshots

GIVEN = {"t": "min", "x": "m", "y": "m", "u": "K", "v": "m s-1", "h_re": "V", "h_im": "V"}


@pytest.mark.parametrize(
    ("text", "fields", "found"),
    [
        ("u_t = D*u_xx", "u", {"D": "m²/min"}),
        ("u_t + a*u*u_x - b*u_xx = 0", "u", {"a": "m/K/min", "b": "m²/min"}),
        ("u_t = b*u_xx + c*u + d*sin(k*u)", "u", {"b": "m²/min", "c": "1/min", "d": "K/min", "k": "1/K"}),
        ("u_tt = c^2*u_xx", "u", {"c": "m/min"}),
        ("u_t = r*u*(1 - u/K)", "u", {"r": "1/min", "K": "K"}),
        ("u_t = D*lap(u)", "u", {"D": "m²/min"}),
        ("u_t + p_x/rho - nu*u_xx = 0", "u", {"nu": "m²/min"}),  # p may have any unit, and rho then its own
        ("u_t = a*b*u_x + b*u", "u", {"a": "m", "b": "1/min"}),
        ("u_t = a*b*u_x", "u", {}),  # only the product can be told
        ("u_t = a*u^n", "u", {}),
        ("u_t = a*exp(-u/w)", "u", {"a": "K/min", "w": "K"}),
        ("v_t + a*v*v_x = 0", "v", {"a": "s/min"}),  # a number that only converts: v is in metres a second
        ("u_t + a*u*u_x - a*u_xx = 0", "u", {}),  # no unit of a fits both terms
        ("i*h_t + a*h_xx + b*abs(h)^2*h = 0", "h_re h_im", {"a": "m²/min", "b": "1/min/V²"}),
        ("u_t = D*frac_lap(u, 1.5)", "u", {"D": "m¹⋅⁵/min"}),
        ("u_t = D*frac_lap(u, alpha)", "u", {}),
    ],
)
def test_by_hand(text: str, fields: str, found: dict[str, str]) -> None:
    assert parameter_units(Equation.parse(text, fields=fields.split()), GIVEN) == found


def test_what_is_not_told_is_not_made_up() -> None:
    heat = Equation.parse("u_t = D*u_xx + c*u", fields=["u"])
    assert parameter_units(heat, {"t": "h"}) == {"c": "1/h"}  # the unit of u cancels, that of x is needed
    assert parameter_units(heat, {}) == {}
    assert parameter_units(heat, {"t": "h", "x": "furry bytes?"}) == {"c": "1/h"}
    assert parameter_units(heat, {"t": "1", "x": "-"}) == {"D": "1", "c": "1"}


def test_values_in_other_units_are_the_same_quantity() -> None:
    """Least squares on exact heat conduction, in two systems of units: pint converts one answer into the other."""
    pint = pytest.importorskip("pint")
    quantity = pint.get_application_registry().Quantity
    unit = {
        name: parameter_units(Equation.parse("u_t = D*u_xx", fields=["u"]), {"t": t, "x": x})["D"]
        for name, (t, x) in {"SI": ("s", "m"), "lab": ("min", "mm")}.items()
    }
    assert quantity(2e-6, unit["SI"]).to(unit["lab"]).magnitude == pytest.approx(2e-6 * 60 * 1e6)


def test_without_pint_the_units_of_the_data_are_told_still(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(units, "find_spec", lambda asked: None)
    x = np.linspace(0.0, 1.0, 4)
    snapshots = Snapshots([hp.Snapshot(t=0.0, x=x, u=x)], Provenance({"t": "h", "x": "m"}, "", ("A note.",)))
    assert parameter_units(Equation.parse("u_t = D*u_xx", fields=["u"]), snapshots.units) == {}
    assert described(snapshots, {}) == [
        "A note.",
        'Units: t in h, x in m (pip install "hiddenphysics[units]" tells those of the parameters).',
    ]
