"""Units, and where x and t begin, change nothing but units; of the flow see `test_shared_code`."""

from __future__ import annotations

from functools import cache

import pytest

import hiddenphysics as hp
from hiddenphysics.demo import EQUATION, burgers_recording, two_snapshots

pytestmark = pytest.mark.xdist_group("units of one step")  # one process: the tests share compiled code


@cache
def data() -> hp.Snapshots:
    return two_snapshots(burgers_recording(), noise=0.01, seed=0)


@cache
def usual() -> hp.Result:
    return hp.identify(EQUATION, data(), model="paper")


@pytest.mark.parametrize(
    ("units", "x0", "t0"),
    [
        ((1e6, 1.0, 1.0), 0.0, 0.0),
        ((1.0, 1e-6, 1.0), 0.0, 0.0),
        ((1e-6, 1e6, 1e6), 0.0, 0.0),
        ((1.0, 1.0, 1.0), 1000.0, -1000.0),
    ],
)
def test_other_units_give_the_same_answer(units: tuple[float, float, float], x0: float, t0: float) -> None:
    """The evidence was 1934 higher where 140 values of u were a millionth of what they had been."""
    of_x, of_u, of_t = units
    moved = [hp.Snapshot(of_t * (s.t + t0), of_x * (s.points[:, 0] + x0), u=of_u * s["u"]) for s in data()]
    found = hp.identify(EQUATION, moved, model="paper")
    assert found.status is usual().status
    assert found.evidence == pytest.approx(usual().evidence, abs=1e-6)
    for name, unit in (("a", of_x / (of_t * of_u)), ("b", of_x**2 / of_t)):
        one, other = found.parameters[name], usual().parameters[name]
        assert one.estimate == pytest.approx(unit * other.estimate, rel=1e-6)
        assert one.std == pytest.approx(unit * other.std, rel=1e-6)
