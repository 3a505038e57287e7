import numpy as np
import pytest

from hiddenphysics.reproduction import Library, Outcome, tabulate
from hiddenphysics.reproduction.comparison import summarise
from hiddenphysics.reproduction.cramer_rao import closeness
from hiddenphysics.reproduction.fit_plan import Plan, Unit
from hiddenphysics.reproduction.report.wording import counted, number, percent
from hiddenphysics.workers import duration
from tests.reproduction.small import TRUTH, made_up_row, small_study, write_recording


def test_quartiles_errors_and_coverage_by_hand():
    # Estimates 2 ± 0.02 k standard deviations away; |k| <= 1.96 is covered.
    rows = [made_up_row({"b": 2.0}, k) for k in (-3, -1, 0, 1, 3)]
    found = summarise(rows, "b", 2.0)
    assert (found["first"], found["median"], found["third"]) == pytest.approx((1.98, 2.0, 2.02))
    assert found["error"] == pytest.approx(0.0, abs=1e-12)
    assert found["typical_error"] == pytest.approx(0.01)
    assert found["coverage"] == 3 / 5
    assert found["std"] == pytest.approx(0.02)
    assert summarise([], "b", 2.0) is None


def test_coverage_of_honest_intervals_is_95_per_cent():
    rows = [made_up_row({"b": 1.0}, k) for k in np.random.default_rng(0).standard_normal(4000)]
    assert summarise(rows, "b", 1.0)["coverage"] == pytest.approx(0.95, abs=0.011)


@pytest.fixture
def plan(tmp_path):
    return Plan((small_study(),), Library(write_recording(tmp_path)))


def test_a_table_holds_all_fits_and_says_how_they_ended(plan):
    rows = {u.key: made_up_row({"b": TRUTH}, 0.1 * k) for k, u in enumerate(plan.units)}
    cell = plan.studies[0].tables[0].cells[0]
    keys = [u.key for u in plan.of_cell(plan.studies[0], cell, "paper")]
    rows[keys[0]]["status"] = "weakly_identified"
    rows[keys[1]] = {"parameters": {}, "status": "failed", "explanation": "it rained", "seconds": 0.0}
    del rows[keys[2]]
    found = tabulate(Outcome(plan, rows))["studies"][0]["tables"][0]["cells"][0]["models"]["paper"]
    assert (found["asked"], found["answered"]) == (6, 4)
    assert found["statuses"] == {"converged": 3, "failed": 1, "weakly_identified": 1}
    assert found["reasons"] == {"it rained": 1}
    assert found["parameters"]["b"]["converged_only"]["median"] > found["parameters"]["b"]["median"]
    assert found["parameters"]["b"]["narrower"] is None  # too few fits to compare quartiles
    assert counted(found) == "6, 1 failed, 1 weakly identified, 1 still to do"


def test_the_score_counts_numbers_closer_than_the_papers(plan):
    # The paper is 33 % off: an estimate 10 % off is closer, one 50 % off is not.
    for offset, closer in ((10.0, 2), (50.0, 0)):
        rows = {u.key: made_up_row({"b": TRUTH}, offset) for u in plan.units}
        assert tabulate(Outcome(plan, rows))["score"]["paper"]["closer"] == closer


def test_the_order_in_which_fits_finish_does_not_matter(plan):
    rows = {u.key: made_up_row({"b": TRUTH}, 0.1 * k) for k, u in enumerate(plan.units)}
    assert tabulate(Outcome(plan, rows)) == tabulate(Outcome(plan, dict(reversed(rows.items()))))


def test_the_limit_by_hand():
    """Errors 2 % and -1 % of 2 with deviations of 1 %, bounds 0.5 % and 1 %: everything can be counted."""
    noisy = [made_up_row({"b": 2.0}, k) for k in (2.0, -1.0, 30.0, 40.0)]
    noisy[2]["status"], noisy[3]["status"] = "weakly_identified", "not_converged"
    noisy[1]["status"] = "at_bound"
    clean = [{"bounds": {"0.05": {"b": bound}}} for bound in (0.01, 0.02, 0.02, 0.02)]
    found = closeness(noisy, clean, {"b": 2.0}, 0.05)
    counts = {"pairs": 4, "identified": 2, "weak": 1, "bounded": 2, "seconds": 1.0}
    assert counts.items() <= found.items()
    b = found["parameters"]["b"]
    assert b["error"] == pytest.approx(0.015)
    assert b["ratio"] == pytest.approx(np.sqrt((0.04**2 + 0.02**2) / (0.01**2 + 0.02**2)))
    assert b["bias"] == pytest.approx(0.5)
    assert (b["coverage"], b["within"]) == (0.5, None)


def test_clean_fits_are_counted_within_a_per_cent_and_pairs_without_a_bound_have_no_ratio():
    rows = [made_up_row({"b": 2.0}, k) for k in (0.5, -0.9, 1.5, 3.0)]
    clean = closeness(rows, rows, {"b": 2.0}, 0.0)["parameters"]["b"]
    assert (clean["within"], clean["ratio"], clean["bias"]) == (0.5, None, None)
    # Of four noisy fits only the first has a clean one with a bound: its error is 0.5 %, and so is the bound.
    partners = [{"bounds": {"0.01": {"b": 0.01}}}, {"bounds": {}}, made_up_row({"b": 2.0}, 0.0), None]
    noisy = closeness(rows, partners, {"b": 2.0}, 0.01)
    assert noisy["bounded"] == 1
    assert noisy["parameters"]["b"]["ratio"] == pytest.approx(1.0)
    assert closeness([], [], {"b": 2.0}, 0.01)["parameters"] == {}


def test_honest_estimates_at_the_limit_have_ratio_one_and_no_bias():
    rows = [made_up_row({"b": 1.0}, k) for k in np.random.default_rng(1).standard_normal(4000)]
    clean = [{"bounds": {"0.01": {"b": 0.01}}}] * len(rows)
    found = closeness(rows, clean, {"b": 1.0}, 0.01)["parameters"]["b"]
    # Three standard errors: 1/√8000 of the ratio, 1.25/√4000 of the median.
    assert found["ratio"] == pytest.approx(1.0, abs=0.034)
    assert found["bias"] == pytest.approx(0.0, abs=0.06)


def test_a_noisy_fit_takes_the_bound_of_its_own_pair(tmp_path):
    study = small_study(models=("paper", "flow"))
    plan = Plan((study,), Library(write_recording(tmp_path)))
    rows = {u.key: made_up_row({"b": TRUTH}, 0.9) for u in plan.units}
    firsts = [1, 4]
    for first in firsts:
        key = Unit("heat", "heat.npz", 1, 0.0, "flow", first, 0).key
        rows[key]["bounds"] = {"0.01": {"b": 0.01 * TRUTH * first}}
    clean, noisy = tabulate(Outcome(plan, rows))["studies"][0]["tables"][0]["cells"]
    assert "limit" not in noisy["models"]["paper"]
    assert clean["models"]["flow"]["limit"]["parameters"]["b"]["within"] == 1.0
    limit = noisy["models"]["flow"]["limit"]
    assert (limit["pairs"], limit["bounded"]) == (6, 2)
    assert limit["parameters"]["b"]["ratio"] == pytest.approx(0.9 / np.sqrt(np.mean(np.square(firsts))))


def test_numbers_in_words():
    assert [number(v) for v in (1.0, 0.00983, -0.5, 12345.0)] == ["1.0000", "0.00983", "−0.5000", "1.23e+04"]
    assert [percent(v) for v in (0.0, 1e-6, 0.001, 0.0456, 0.31, 20.0)] == [
        "0 %",
        "< 0.01 %",
        "0.10 %",
        "4.6 %",
        "31 %",
        "> 1000 %",
    ]
    assert duration(5400.0) == "90.0 min"
