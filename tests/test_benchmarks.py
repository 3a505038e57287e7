"""Small versions of the benchmarks: they run, and what they measure is right."""

import sys
from dataclasses import replace

import numpy as np
import pytest

import hiddenphysics as hp
from benchmarks import constants, likelihood, memory, other_fields, paper_pairs, random_motion
from hiddenphysics.demo import burgers_recording
from hiddenphysics.reproduction import STUDIES, Library, Plan


def test_the_plain_likelihood_is_the_same_function():
    """The yardstick is a referee too: value and gradient by hand in NumPy."""
    for case in (
        likelihood.BURGERS,
        likelihood.Case("KS", likelihood.KS.equation, likelihood.KS.linear, (0.9, 0.8, 0.7), (31, 29)),
    ):
        measured = likelihood.measure(case, seconds=0.1)
        assert measured["value_error"] < 1e-11
        assert measured["gradient_error"] < 1e-9
        assert measured["ours_ms"] > 0


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="peak memory is read in Linux units")
def test_memory_stays_near_that_of_a_few_matrices():
    """At N = 2000 a matrix is 30 MiB; the bar of 3 GB at N = 5000 leaves 15 matrices beside the libraries."""
    small, large = memory.measure(200, hessian=True), memory.measure(2000, hessian=True)
    assert large["finite"]
    matrices = (large["gigabytes"] - small["gigabytes"]) * 2**30 / (8 * 2000**2)
    assert matrices < 15


def drawn(recording, study, index):
    return recording[index : index + 2].subsample(study.points, seed=index)


def near_the_papers_medians(study, rows, rel):
    for name, published in study.tables[0].cells[0].paper.items():
        assert np.median([row[name] for row in rows]) == pytest.approx(published.median, rel=rel[name])


def test_the_papers_statistics_on_our_own_data():
    """Three pairs of our exact Burgers field: near the paper's medians, and no optimum that the truth could beat."""
    study = STUDIES["burgers"]
    recording = burgers_recording()
    rows = [paper_pairs.fit_pair(study, drawn(recording, study, index)) for index in (10, 40, 70)]
    assert {row["status"] for row in rows} == {"converged"}
    assert max(row["gain"] for row in rows) < paper_pairs.TOLERANCE
    near_the_papers_medians(study, rows, {"a": 0.03, "b": 0.05})
    assert "3 pairs, converged, false optima 0," in paper_pairs.line("burgers", rows)
    worse = [*rows, rows[0] | {"gain": 2.0, "status": "not_converged"}]
    assert paper_pairs.line("burgers", worse).endswith("false optima 1, largest gain 2")


def test_a_false_optimum_is_seen():
    """A fit whose numbers were spoilt can be beaten from the truth."""
    study = STUDIES["burgers"]
    result = hp.identify(study.equation, drawn(burgers_recording(), study, 10), model="paper")
    unknowns, spoilt = result.problem.unknowns, dict(result.values) | {"a": 0.5}
    value = float(result.problem.objective(unknowns.vector(spoilt))[0])
    false = replace(result, evidence=result.problem.log_units - value)
    assert paper_pairs.gain_from_truth(false, study.truth) > 1.0


def test_reference_data_give_the_papers_medians_roughly(shared):
    """A few pairs of the original Schrödinger file, when it is at hand, drawn as `reproduce` draws them."""
    study = STUDIES["schrodinger"].restricted(("paper",), 3)
    plan = Plan((study,), Library(shared("data")))
    units = plan.of_cell(study, study.tables[0].cells[0], "paper")
    results = [hp.identify(study.equation, plan.draw(unit), model="paper") for unit in units]
    rows = [{p: e.estimate for p, e in result.parameters.items()} for result in results]
    near_the_papers_medians(study, rows, dict.fromkeys(study.truth, 0.06))


def test_a_short_walk_tells_its_order():
    """A tenth of the steps, a third of the bins, the quickest model: α is √2, found to some per cent."""
    row = random_motion.fit("levy", 0, "flow", steps=100_000, bins=30)
    assert row["status"] == "converged"
    assert row["alpha"] == pytest.approx(np.sqrt(2), rel=0.03)
    text = random_motion.table("levy", [row, row | {"alpha": 1.5, "alpha covered": False}])
    assert "levy: 2 seeds, converged" in text
    assert "truth 1.4142, paper 1.4130, covered 50 %" in text


def test_a_wave_that_steepens_on_a_circle_is_identified_from_a_cold_start():
    """The regression is far off there, and its first linear model explains wrong parameters by an absurd state."""
    result, _ = other_fields.fit(other_fields.CASES["Burgers, two waves"], noise=0.0, seed=1)
    assert (str(result.status), result.model) == ("converged", "flow")
    for name, truth in {"a": 1.0, "b": 0.05}.items():
        assert result.parameters[name].estimate == pytest.approx(truth, rel=1e-3)


def test_a_constant_is_changed_everywhere_and_put_back():
    """The study of constants: halved where it is used, too, and as it was afterwards."""
    import jax

    from hiddenphysics.learning import tuning
    from hiddenphysics.models.flow import flow_fit, gauss_newton, recording_fit

    everywhere, before = (gauss_newton, flow_fit, recording_fit), gauss_newton.MOST_ROUNDS
    with constants.changed("hiddenphysics.models.flow.gauss_newton", "MOST_ROUNDS", 2.0):
        assert {room.MOST_ROUNDS for room in everywhere} == {2 * before}
    assert {room.MOST_ROUNDS for room in everywhere} == {before}

    # Compiled code takes it in, too, and forgets it.
    gain = jax.jit(lambda: tuning.GAIN)
    usual = float(gain())
    with constants.changed("hiddenphysics.learning.tuning", "GAIN", 2.0):
        assert float(gain()) == 2 * usual
    assert float(gain()) == usual
    assert constants.times({1: 4.0, 2: 3}, 0.5) == {1: 2.0, 2: 2}
    assert constants.above({1: 1.5}, 2.0) == {1: 2.0}
    for kind, table in constants.CONSTANTS.items():
        for module, name in table:
            assert hasattr(sys.modules[module], name), (kind, module, name)
