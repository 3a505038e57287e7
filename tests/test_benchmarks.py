"""Small versions of the benchmarks: they run, and what they measure is right."""

import sys
from pathlib import Path

import numpy as np
import pytest

import hiddenphysics as hp
from benchmarks import likelihood, memory, paper_pairs
from hiddenphysics.demo import burgers_recording


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


def test_the_papers_statistics_on_our_own_data():
    """Three pairs of our exact Burgers field: near the paper's medians, and no optimum that the truth could beat."""
    recording = burgers_recording()
    rows = [paper_pairs.fit_pair("burgers", recording, index) for index in (10, 40, 70)]
    assert {row["status"] for row in rows} == {"converged"}
    assert max(row["gain"] for row in rows) < 0.05
    assert np.median([row["a"] for row in rows]) == pytest.approx(1.0379, rel=0.03)
    assert np.median([row["b"] for row in rows]) == pytest.approx(0.0976, rel=0.05)
    assert "false optima 0" in paper_pairs.table("burgers", rows)


def test_reference_data_give_the_papers_medians_roughly(shared):
    """A few pairs of two of the original files, when they are at hand."""
    folder: Path = shared("data")
    for name, count in (("burgers", 101), ("schrodinger", 501)):
        recording = hp.read(folder / paper_pairs.PROBLEMS[name].file)
        rows = [
            paper_pairs.fit_pair(name, recording, k)
            for k in np.linspace(5, count - 2, 4).astype(int).tolist()
        ]
        for p, (_, median, _) in paper_pairs.PROBLEMS[name].paper.items():
            assert np.median([row[p] for row in rows]) == pytest.approx(median, rel=0.06)
        assert max(row["gain"] for row in rows) < 0.05
