"""A few of the answers that `python -m benchmarks.answers` holds fixed: every model, clean and noisy."""

import json

import pytest

from benchmarks import answers

FEW = (
    "burgers paper 0 %",
    "heat flow known errors",
    "heat midpoint 1 %",
    "heat auto at a bound",
    "burgers paper 1 %",
    "burgers midpoint 0 %",
    "burgers flow 1 %",
)
"""Without those of clean heat with the paper's step: its covariance is so near to singular that another processor's
rounding moves its optimum by 0.013 deviations."""
RECORD = json.loads(answers.RECORD.read_text())


def test_every_case_has_its_answer():
    assert list(RECORD) == list(answers.cases())
    assert len(RECORD) >= 60
    assert {answer["model"] for answer in RECORD.values()} == {"paper", "midpoint", "flow"}


@pytest.mark.parametrize("name", FEW)
def test_the_answer_is_the_same(name):
    assert answers.difference(RECORD[name], answers.answer(name)) == ""


def test_a_change_is_seen():
    """An estimate that moves by a hundredth and a half of its deviation, another status, another deviation."""
    before = RECORD["burgers flow 1 %"]
    (name, (estimate, std)), *_ = before["estimates"].items()
    moved = before | {"estimates": before["estimates"] | {name: [estimate + 0.015 * std, std]}}
    assert f"{name} " in answers.difference(before, moved)
    assert "status" in answers.difference(before, before | {"status": "failed"})
    wider = before | {"estimates": before["estimates"] | {name: [estimate, 1.04 * std]}}
    assert f"sd of {name}" in answers.difference(before, wider)
