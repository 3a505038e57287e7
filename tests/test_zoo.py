"""The zoo: its species say what they mean, its solver is right, a run goes on where it was stopped, one fit is made."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import hiddenphysics as hp
from benchmarks.zoo import run as zoo_run
from benchmarks.zoo.cases import EXAMPLES, SPECIES, VARIANTS, Case, cases
from benchmarks.zoo.solver import Solver
from benchmarks.zoo.table import errors, markdown, summary

BY_NAME = {species.name: species for species in SPECIES}


def test_there_are_enough_species_each_with_its_own_name() -> None:
    assert len(BY_NAME) == len(SPECIES) >= 60
    assert {len(species.box) for species in SPECIES} == {1, 2, 3}
    assert set(EXAMPLES) <= set(BY_NAME)
    keys = [case.key for case in cases(draws=2)]
    assert len(keys) == len(set(keys)) > 2 * 3 * 60


@pytest.mark.parametrize("species", SPECIES, ids=lambda one: one.name)
def test_every_equation_has_its_truth_and_its_start(species: Any) -> None:
    """Equations with the time derivative under others have a solver of their own, whatever the language takes."""
    if species.rates is None:
        equation = species.equation
        assert set(equation.parameters) == set(species.truth)
        assert set(equation.system.state) == set(species.start)
        assert len(equation.coordinates) == len(species.box)
    if species.wrong:
        assert hp.Equation.parse(species.wrong).parameters
    if species.units:
        assert set(species.units) == set(species.truth)


def test_the_solver_decays_turns_and_steepens_waves() -> None:
    """Closed forms: of heat, of Airy's equation, and of Burgers' along its characteristics."""
    x = np.linspace(-3.0, 3.0, 7)
    k = np.array([[1], [2], [3]])

    def at(name: str, t: float) -> np.ndarray:
        solver = Solver(BY_NAME[name])
        return solver.at(solver.solution((0.0, t))[-1], x[:, None])[0]

    decayed = np.array([1.0, 0.5, 0.3]) * np.exp(-0.2 * k[:, 0] ** 2 * 0.5) @ np.sin(k * x + 0.3 * k**2)
    np.testing.assert_allclose(at("heat", 0.5), decayed, atol=1e-7)
    turned = np.array([1.0, 0.6, 0.3]) @ np.sin(k * x + 0.3 * k**2 + 0.1 * k**3 * 0.1)
    np.testing.assert_allclose(at("airy", 0.1), turned, atol=1e-7)
    steepened = at("inviscid_burgers", 0.3)
    foot = x - 0.3 * steepened
    np.testing.assert_allclose(steepened, 0.8 * np.sin(foot + 0.3) + 0.3 * np.sin(2 * foot + 1.2), atol=1e-5)


def test_a_plane_cools_as_it_should() -> None:
    """Along both coordinates: on the circle as on the plane, lap(u) decays every wave by its own k²."""
    plane = Solver(BY_NAME["heat_in_a_plane"])
    before, after = plane.solution((0.0, 0.4))[:, 0]
    k2 = sum(k**2 for k in plane.wavenumbers)
    np.testing.assert_allclose(
        np.fft.ifftn(np.exp(-0.2 * k2 * 0.4) * np.fft.fftn(before)).real, after, atol=1e-7
    )


def test_a_plane_is_solved_like_a_line() -> None:
    plane = Solver(BY_NAME["drum"])
    points = np.random.default_rng(0).uniform(-3.0, 3.0, (5, 2))
    start = np.stack([profile(*plane.points) for profile in plane.species.start.values()])
    np.testing.assert_allclose(plane.at(start, points)[0], plane.species.start["u"](*points.T), atol=1e-8)


def test_variants_do_what_they_say() -> None:
    usual, units, shifted = (Case(BY_NAME["heat"], name, 0) for name in ("1 %", "other units", "shifted"))
    assert units.truth["D"] == pytest.approx(usual.truth["D"] * 1e-6 / 60.0)
    assert units.data().times[-1] == pytest.approx(30.0)
    assert shifted.data()[0].points.min() > 990.0
    assert Case(BY_NAME["heat"], "wrong", 0).truth == {}
    inside = Case(BY_NAME["heat"], "inflow", 0).data()[0].points
    assert np.abs(inside).max() <= 0.4 * np.pi
    clustered = Case(BY_NAME["heat"], "clusters", 0).data()[0].points
    assert np.mean(np.abs(np.abs(clustered) - np.pi / 2) < 1.2) > 0.95
    assert Case(BY_NAME["heat"], "longer gap", 0).data().times[-1] == pytest.approx(1.5)
    noisy, clean = (Case(BY_NAME["heat"], name, 0) for name in ("5 %", "clean"))
    assert VARIANTS[noisy.variant].noise == 0.05
    assert VARIANTS[clean.variant].noise == 0.0
    np.testing.assert_array_equal(usual.data()[0]["u"], usual.data()[0]["u"])


def test_a_run_goes_on_where_it_was_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    chosen, asked = [Case(BY_NAME["heat"], "1 %", draw) for draw in range(3)], []

    def identify(text: str, data: hp.Snapshots, time_limit: float) -> hp.Result:
        asked.append(text)
        if len(asked) == 1:
            raise hp.ModelError("No.")
        if len(asked) == 2:
            raise ZeroDivisionError("float division by zero")
        raise KeyboardInterrupt

    monkeypatch.setattr(hp, "identify", identify)
    told: list[dict[str, Any]] = []
    with pytest.raises(KeyboardInterrupt):
        zoo_run.run(chosen, tmp_path / "zoo.jsonl", 5.0, told.append)
    assert [row["status"] for row in told] == ["refused", "crashed"]
    rows = zoo_run.run(chosen[:2], tmp_path / "zoo.jsonl", 5.0, told.append)
    assert len(asked) == 3
    assert rows == told
    assert "ZeroDivisionError: float division by zero" in markdown(rows)


def test_one_fit_makes_a_row_and_the_table_counts() -> None:
    row = zoo_run.fitted(Case(BY_NAME["decay"], "1 %", 0), limit=300.0)
    assert row["status"] == "converged"
    (error,) = errors(row)
    assert abs(error) < 4
    far = row | {"parameters": {"k": {"estimate": 1.7, "std": 0.1}}, "key": "heat/wrong/0", "seconds": 400.0}
    words = summary([row, far])
    assert "Of 2 numbers called converged 1 are more than 2.5 standard deviations off, 1 more than 5" in words
    assert "1 fits outlasted their limit by more than 10 s: heat/wrong/0" in words
    assert "Of 1 wrong equations 1 were called converged" in words
    assert "0 of the 0 whose fit differs" in words
    told = far | {"status": "misfit", "apart": 7.0}
    assert "1 of the 1 whose fit differs" in summary([told])
    assert row["apart"] < 3
    assert "Of 1 right ones 1 were called misfit: decay/1 %/0." in summary([row | {"status": "misfit"}])
    assert markdown([row]).count("\n|") == 3


def test_a_fit_is_apart_where_a_group_of_points_is_off() -> None:
    """Ten points at two times; of one time the upper five are 4 deviations of the noise off."""
    x = np.arange(10.0)
    table = pd.DataFrame({"t": np.repeat([0.0, 1.0], 10), "x": np.tile(x, 2), "u": 0.0})
    table.loc[15:, "u"] = 0.4
    assert zoo_run.apart(table.sample(frac=1, random_state=0), {"u": 0.1}) == pytest.approx(4.0)
    assert zoo_run.apart(table, {"u": 0.0}) is None


def test_cases_travel_to_workers_by_name(tmp_path: Path) -> None:
    """Two processes; a species holds functions that cannot be sent."""
    chosen = [Case(BY_NAME[name], "1 %", 0) for name in ("heat", "fisher")]
    told: list[dict[str, Any]] = []
    rows = zoo_run.run(chosen, tmp_path / "zoo.jsonl", 1e-3, told.append, workers=2)
    assert [row["key"] for row in rows] == [case.key for case in chosen]
    assert {row["status"] for row in told} == {"refused"}  # no first estimate in a millisecond
