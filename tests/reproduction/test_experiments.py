import json

import pytest

from hiddenphysics.equation import Equation
from hiddenphysics.errors import DataError, ModelError
from hiddenphysics.reproduction import STUDIES, choose, rehearsal, restrict
from hiddenphysics.reproduction.paper_tables import Published
from tests.reproduction.small import small_study

NAMES = {"lambda_1": "a", "lambda_2": "b", "lambda_3": "c"}
FILES = {"ks": "ks", "navier-stokes": "navier_stokes"}


@pytest.mark.parametrize("study", STUDIES.values(), ids=STUDIES)
def test_the_equation_has_the_parameters_of_the_truth(study):
    assert set(Equation.parse(study.equation).parameters) == set(study.truth)
    assert set(study.symbols) == set(study.truth)
    assert study.picture.model in study.models


def test_five_tables_of_statistics_six_of_gaps_seven_figures():
    tables = [t for s in STUDIES.values() for t in s.tables]
    places = [t.place for t in tables if t.place.startswith("Table")]
    assert places == [f"Table {k}" for k in range(1, 12)]
    assert sum(len(t.rows) == 2 for t in tables) == 6
    assert [s.picture.place for s in STUDIES.values()] == [f"Figure {k}" for k in range(1, 8)]


@pytest.fixture(scope="module")
def printed(shared):
    return json.loads(shared("reference/paper_tables.json").read_text())


@pytest.mark.parametrize("name", ["burgers", "kdv", "ks", "schrodinger", "navier-stokes"])
def test_statistics_are_the_papers(name, printed):
    expected = printed[f"{FILES.get(name, name)}_statistics"]
    study = STUDIES[name]
    assert study.truth == {NAMES[p]: v for p, v in expected["truth"].items()}
    assert study.points == tuple(expected["points"].values())
    for cell, level in zip(study.tables[0].cells, ("clean", "noise_1", "noise_5"), strict=True):
        numbers = {NAMES[p]: Published(q["median"], q["q1"], q["q3"]) for p, q in expected[level].items()}
        assert cell.paper == numbers
        assert cell.noise == {"clean": 0.0, "noise_1": 0.01, "noise_5": 0.05}[level]


@pytest.mark.parametrize(
    ("name", "place", "key"),
    [
        ("burgers", 1, "burgers_gap"),
        ("kdv", 1, "kdv_gap"),
        ("ks", 1, "ks_gap"),
        ("schrodinger", 1, "schrodinger_gap"),
        ("navier-stokes", 1, "navier_stokes_gap_up"),
        ("navier-stokes", 2, "navier_stokes_gap_down"),
    ],
)
def test_gaps_are_the_papers(name, place, key, printed):
    expected, table = printed[key], STUDIES[name].tables[place]
    assert [float(c.removeprefix("Δt = ")) for c in table.columns] == expected["gaps"]
    for row, level in (("clean", "clean"), ("1 % noise", "noise_1")):
        for k, column in enumerate(table.columns):
            cell = table.cell(row, column)
            assert cell.paper == {NAMES[p]: Published(v[k]) for p, v in expected[level].items()}


def test_fractional_figures_are_the_papers(printed):
    brownian, levy = printed["fractional_figures"]["brownian"], printed["fractional_figures"]["levy"]
    assert [p.median for p in STUDIES["brownian"].tables[0].cells[0].paper.values()] == list(
        brownian["paper_figure"].values()
    )
    assert STUDIES["levy"].tables[0].cells[0].paper["alpha"].median == levy["paper_figure"]["alpha"]
    assert STUDIES["levy"].truth == levy["truth"]


def test_words_choose_studies_in_the_papers_order():
    assert [s.name for s in choose(["kdv", "burgers"])] == ["burgers", "kdv"]
    assert [s.name for s in choose(["fractional"])] == ["brownian", "levy"]
    assert [s.name for s in choose(["levy"])] == ["levy"]
    assert choose() == tuple(STUDIES.values())
    with pytest.raises(DataError, match=r"There is no study 'burger'; did you mean burgers\?"):
        choose(["burger"])


def test_a_run_of_everything_is_bounded():
    pairs = {name: [{c.pairs for c in t.cells} for t in study.tables] for name, study in STUDIES.items()}
    assert pairs == {
        "burgers": [{100}, {20}],
        "kdv": [{100}, {20}],
        "ks": [{50}, {20}],
        "schrodinger": [{100}, {20}],
        "navier-stokes": [{20}, {20}, {20}],
        "brownian": [{None}],
        "levy": [{None}],
    }
    assert all(t.cells[0].first == 0 for name in ("brownian", "levy") for t in STUDIES[name].tables)
    papers = {name: STUDIES[name].tables[0].title for name in pairs if STUDIES[name].points}
    for name, count in {
        "burgers": 100,
        "kdv": 200,
        "ks": 250,
        "schrodinger": 500,
        "navier-stokes": 501,
    }.items():
        assert papers[name].endswith(f"in the paper {count} of them")


def test_a_restricted_study_has_the_pairs_and_models_that_were_asked_for():
    study = STUDIES["burgers"].restricted(("paper", "flow"), 7)
    assert study.models == ("paper", "flow")
    assert {c.pairs for t in study.tables for c in t.cells} == {7}
    assert {c.pairs for t in STUDIES["ks"].restricted(None, 250).tables for c in t.cells} == {250}
    assert STUDIES["ks"].restricted().tables == STUDIES["ks"].tables
    assert STUDIES["ks"].restricted().seeds == (0,)
    assert [s.seeds for s in restrict((STUDIES["ks"],), draws=3)] == [(0, 1, 2)]
    left = restrict(tuple(STUDIES.values()), ["flow"])
    assert "navier-stokes" in [s.name for s in left]
    with pytest.raises(
        ModelError, match="'flw' was asked for; these studies have authors, paper, midpoint, flow"
    ):
        restrict(tuple(STUDIES.values()), ["flw"])


def test_a_rehearsal_is_small():
    for study in STUDIES.values():
        small = rehearsal(study)
        assert all(c.pairs == 1 for t in small.tables for c in t.cells)
        assert small.models == (("authors", "paper") if small.name == "burgers" else ("paper",))
        assert all(c.search.pairs == 1 for t in small.tables for c in t.cells if c.search)


def test_a_study_checks_itself():
    with pytest.raises(DataError, match=r"the cell \(, clean\) needs numbers for c"):
        small_study(truth={"c": 1.0})
