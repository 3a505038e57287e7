"""The authors' search: what it promises as a minimiser, its numbers, and chains of pairs that can be interrupted."""

import json
import math

import numpy as np
import pytest
from scipy.optimize import rosen, rosen_der

import hiddenphysics as hp
from hiddenphysics.reproduction import STUDIES, Library, run, tabulate
from hiddenphysics.reproduction.authors_search import _Coordinates, minimise, search_pair
from hiddenphysics.reproduction.checkpoint import FILE, failure
from hiddenphysics.reproduction.fit_plan import Plan, Unit
from hiddenphysics.reproduction.paper_tables import AuthorsSearch, Cell, Published, Table
from hiddenphysics.reproduction.study import AUTHORS
from hiddenphysics.workers import Queue
from tests.reproduction.small import small_study, write_recording
from tests.test_reference import CASES, snapshot

pytestmark = pytest.mark.xdist_group("authors")  # one process: the tests share compiled code

SEARCH = AuthorsSearch(12, start={"b": 0.1})


class Counted:
    """An objective that remembers where it was asked."""

    def __init__(self, value, gradient):
        self._value, self._gradient, self.places = value, gradient, []

    def __call__(self, x):
        self.places.append(x.copy())
        return self._value(x), self._gradient(x)


def rosenbrock():
    return Counted(rosen, rosen_der)


def test_a_long_search_finds_the_minimum():
    end = minimise(rosenbrock(), np.array([-1.2, 1.0, 0.5]), 2000)
    np.testing.assert_allclose(end.x, 1.0, atol=1e-6)


@pytest.mark.parametrize("evaluations", [1, 2, 3, 5, 8, 13, 21, 34, 55])
def test_a_short_search_ends_in_time_at_the_lowest_point_it_has_seen(evaluations):
    objective = rosenbrock()
    end = minimise(objective, np.array([-1.2, 1.0]), evaluations)
    assert len(objective.places) == evaluations
    assert end.value == min(rosen(x) for x in objective.places)


def test_the_first_step_is_short_where_the_function_is_steep():
    objective = rosenbrock()
    minimise(objective, np.array([-1.2, 1.0]), 2)
    start, first = objective.places
    slope = rosen_der(start)
    np.testing.assert_allclose(first, start - slope / (1 + slope @ slope), rtol=1e-14)


def test_directions_are_conjugate():
    """Steepest descent with exact lines is still at 0.06 after twenty of them: the curvatures differ a hundredfold."""
    curvatures = np.array([1.0, 10.0, 100.0])
    objective = Counted(lambda x: 0.5 * x @ (curvatures * x), lambda x: curvatures * x)
    end = minimise(objective, np.array([1.0, 1.0, 1.0]), 40)
    assert end.value < 1e-6


def test_steps_out_of_the_domain_are_halved_and_at_the_minimum_nothing_moves():
    def value(x):
        return float(x[0] - np.log(x[0])) if x[0] > 0 else math.nan

    objective = Counted(value, lambda x: 1 - 1 / x)
    for start in (0.1, 5.0, 40.0):
        assert minimise(objective, np.array([start]), 60).x[0] == pytest.approx(1.0, abs=1e-4)
    assert min(x[0] for x in objective.places) <= 0.0
    assert minimise(objective, np.array([1.0]), 60).x[0] == 1.0
    outside = Counted(lambda x: math.nan, lambda x: x)
    assert math.isnan(minimise(outside, np.array([2.0]), 5).value)


@pytest.mark.parametrize("case", [c for c in CASES if "frac" not in c.name], ids=lambda c: c.name)
def test_the_numbers_that_are_searched_are_the_authors(case, shared):
    """Value and gradient as their own program gives them, in their own parameters."""
    reference = json.loads(shared("reference/authors.json").read_text())[case.name]
    pair = [snapshot(case, reference, "before", 0.0), snapshot(case, reference, "after", reference["dt"])]
    coordinates = _Coordinates(
        hp.problem(case.equation, pair), ("lambda_2",) * (case.name == "navier_stokes")
    )
    numbers, slopes = (_by_our_name(reference[k]) for k in ("parameters", "gradient"))
    names = coordinates.problem.names
    value, gradient = coordinates.objective(np.array([numbers[n] for n in names]))
    assert value == pytest.approx(reference["nlml"], rel=1e-9)
    np.testing.assert_allclose(gradient, [slopes[n] for n in names], rtol=1e-6)


def _by_our_name(authors):
    """log_length_squared_x_psi -> psi.length_x, and so on; the numbers stay theirs."""
    found = {}
    for name, number in authors.items():
        words = name.removeprefix("log_").split("_")
        latent = {"u": "h_re", "v": "h_im"}.get(words[-1], words[-1] if words[-1] in ("p", "psi") else "u")
        if "noise" in words:
            found["noise.variance"] = number
        elif "length" in words:
            found[f"{latent}.length_{'y' if 'y' in words else 'x'}"] = number
        elif "variance" in words:
            found[f"{latent}.variance"] = number
        else:
            found["_".join(words)] = number
    return found


def test_values_and_numbers_are_each_others_inverse():
    x = np.linspace(0, 1, 6)
    pair = [hp.Snapshot(t=t, x=x, u=np.sin(x + t)) for t in (0.0, 0.1)]
    coordinates = _Coordinates(hp.problem("u_t + a*u_x - b*u_xx = 0", pair), ("b",))
    values = {"a": -0.3, "b": 0.2, "u.variance": 2.0, "u.length_x": 3.0, "noise.variance": 0.01}
    vector = coordinates.vector(values)
    np.testing.assert_allclose(vector, [-0.3, np.log(0.2), np.log(2), np.log(9), np.log(0.01)])
    assert coordinates.values(vector) == pytest.approx(values)
    # The slopes, by differences.
    _, gradient = coordinates.objective(vector)
    for k, slope in enumerate(gradient):
        step = 1e-5 * np.eye(len(vector))[k]
        up, down = (coordinates.objective(vector + sign * step)[0] for sign in (1, -1))
        assert slope == pytest.approx((up - down) / 2e-5, rel=1e-4, abs=1e-5)


def chained_study(search=SEARCH):
    cells = tuple(
        Cell("", word, 1, noise, {"b": Published(0.4, 0.2, 0.5)}, search=search)
        for word, noise in (("clean", 0.0), ("1 % noise", 0.01))
    )
    return small_study(models=(AUTHORS, "paper"), tables=(Table("Table 1", "Statistics", cells),))


@pytest.fixture(scope="module")
def recording(tmp_path_factory):
    return write_recording(tmp_path_factory.mktemp("recording"))


@pytest.fixture(scope="module")
def whole(recording, tmp_path_factory):
    """A run that nothing disturbed."""
    folder = tmp_path_factory.mktemp("whole")
    study = chained_study().restricted((AUTHORS,))
    return run([study], folder, workers=0, data=recording), (folder / FILE).read_text().splitlines()


def test_every_pair_starts_where_the_one_before_ended(whole):
    outcome, _ = whole
    plan = outcome.plan
    chain = [u for u in plan.units if u.noise]
    assert [u.first for u in chain] == list(range(6))
    end = {}
    for unit in chain:
        fresh = hp.problem(plan.study("heat").equation, plan.draw(unit), model="paper")
        end = search_pair(fresh, SEARCH, end)
        row = outcome.rows[unit.key]
        assert row["end"] == pytest.approx(end, rel=1e-12)
        assert row["parameters"]["b"]["estimate"] == row["end"]["b"]
    counted = tabulate(outcome)["studies"][0]["tables"][0]["cells"][1]["models"][AUTHORS]
    assert counted["statuses"] == {"searched": 6}
    assert counted["parameters"]["b"]["coverage"] is None


@pytest.mark.parametrize("workers", [0, 2])
def test_a_chain_that_was_cut_goes_on_to_the_same_numbers(whole, recording, tmp_path, workers):
    outcome, lines = whole
    (tmp_path / FILE).write_text("\n".join(lines[:4]) + "\n")
    again = run([chained_study().restricted((AUTHORS,))], tmp_path, workers=workers, data=recording)
    assert len((tmp_path / FILE).read_text().splitlines()) == 12
    for key, row in outcome.rows.items():
        assert again.rows[key]["end"] == pytest.approx(row["end"], rel=1e-9)


def test_a_cluster_keeps_the_order_of_a_chain(whole, recording, tmp_path):
    distributed = pytest.importorskip("distributed")
    outcome, _ = whole
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=2, processes=False, dashboard_address=None
    ) as cluster:
        study = chained_study().restricted((AUTHORS,))
        again = run([study], tmp_path, scheduler=cluster.scheduler_address, data=recording)
    for key, row in outcome.rows.items():
        assert again.rows[key]["end"] == pytest.approx(row["end"], rel=1e-9)


def test_a_lost_pair_is_stepped_over(whole, recording, tmp_path, monkeypatch):
    """The next one starts from the last that has an end."""
    outcome, lines = whole
    kept = [json.loads(line) for line in lines]
    lost = {"key": kept[2]["key"], "digest": kept[2]["digest"]} | failure("lost")
    (tmp_path / FILE).write_text("".join(json.dumps(r) + "\n" for r in [*kept[:2], lost]))
    starts = {}
    monkeypatch.setattr(
        "hiddenphysics.reproduction.runner.perform",
        lambda task: starts.update({task.key: task.start}) or failure(""),
    )
    run([chained_study().restricted((AUTHORS,))], tmp_path, workers=0, data=recording)
    clean = [u.key for u in outcome.plan.units if not u.noise]
    assert starts[clean[3]] == kept[1]["end"]
    assert starts[next(u.key for u in outcome.plan.units if u.noise)] == {}


def test_a_snapshot_keeps_its_points_and_noise_in_both_pairs(recording):
    plan = Plan((chained_study(),), Library(recording))
    first, second = (plan.draw(Unit("heat", "heat.npz", 1, 0.05, AUTHORS, k, 0)) for k in (2, 3))
    assert [len(s) for s in (*first, *second)] == [15] * 4
    for column in ("x", "u"):
        assert np.array_equal(first[1][column], second[0][column])
        assert not np.array_equal(first[0][column], first[1][column])


def test_one_process_at_a_time_works_on_a_chain():
    units = [Unit("s", "d", 1, noise, AUTHORS, k, 0) for noise in (0.0, 0.01) for k in range(2)]
    queue = Queue(units)
    first = queue.next(None, [])
    second = queue.next(None, [first.shape])
    assert (first.noise, second.noise) == (0.0, 0.01)
    assert queue.next(None, [first.shape, second.shape]) is None
    assert queue.next(first.shape, [second.shape]).first == 1
    assert queue.next(None, [first.shape, second.shape]) is None
    assert queue.next(second.shape, [first.shape]) == units[3]
    assert queue.next(None, []) is None


def test_the_chain_stands_in_the_statistics_only_and_has_its_own_digest(recording):
    plan = Plan((chained_study(),), Library(recording))
    assert sum(u.chained for u in plan.units) == 12
    assert not any(u.chained for u in plan.of_picture(plan.studies[0]))
    chained, other = (next(u for u in plan.units if u.chained is wanted) for wanted in (True, False))
    changed = Plan((chained_study(AuthorsSearch(13)),), Library(recording))
    assert plan.digest(chained) != changed.digest(chained)
    assert plan.digest(other) == changed.digest(other)
    few = Plan((chained_study().restricted(None, 2),), Library(recording))
    assert [u.first for u in few.units if u.chained] == [0, 1, 0, 1]
    assert few.digest(chained) == plan.digest(chained)


def test_only_statistics_have_a_search_and_all_of_the_papers_do():
    for study in STUDIES.values():
        for k, table in enumerate(study.tables):
            assert all((c.search is not None) == (k == 0 and study.points is not None) for c in table.cells)
    looks = {name: s.search.evaluations for name, s in STUDIES.items() if s.search}
    assert looks == {"burgers": 500, "kdv": 50, "ks": 10, "schrodinger": 50, "navier-stokes": 20}
