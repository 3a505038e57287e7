"""The coverage command: cells, draws that are the same again, verdicts by counting, a run that goes on."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks import coverage
from hiddenphysics.simulate.exact import soliton
from hiddenphysics.snapshots import Snapshot, Snapshots

CELL = coverage.Cell("kdv", "flow", "1 %", "short")


def rows(cell: str, off: np.ndarray) -> list[dict[str, Any]]:
    return [
        {"key": f"{cell}/{k}", "cell": cell, "status": "converged", "seconds": 1.0}
        | {"parameters": {"a": {"estimate": 2.0 + 0.1 * e, "std": 0.1, "truth": 2.0}}}
        for k, e in enumerate(off)
    ]


def test_cells_are_those_of_the_question() -> None:
    names = [cell.name for cell in coverage.cells()]
    assert len(names) == len(set(names)) == 4 * 3 * 2 + 2 * 4 * 2
    assert all("ks/" in cell.name for cell in coverage.cells(["ks/"]))


def test_honest_errors_hold_and_bold_ones_do_not() -> None:
    honest = np.random.default_rng(0).standard_normal(400)
    name = CELL.name
    assert coverage.holds("flow", coverage.errors(rows(name, honest)))
    assert not coverage.holds("flow", coverage.errors(rows(name, 1.6 * honest)))
    assert not coverage.holds(
        "flow", coverage.errors(rows(name, 0.5 * honest))
    )  # too wide is not honest, either
    assert coverage.holds("paper", coverage.errors(rows(name, 0.5 * honest)))
    part, away = coverage.covered(honest, "95 %")
    assert away == pytest.approx((part - 0.95) / math.sqrt(0.95 * 0.05 / 400))
    told = coverage.report(rows(name, honest) + rows("kdv/paper/clean/short", 3 * honest))
    assert "| yes |" in told
    assert "| **no** |" in told
    assert "All of the flow's 400 numbers" in told


def test_a_run_goes_on_where_it_was_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    x = np.linspace(-10.0, 10.0, 200)
    whole = Snapshots(Snapshot(t=t, x=x, u=soliton(t, x, speed=2.0)) for t in np.linspace(0, 2, 41))
    monkeypatch.setattr(coverage, "recording", lambda name: whole)
    draw = coverage.Draw(CELL, 3, 1e-3)
    one, two = coverage.snapshots(draw), coverage.snapshots(draw)
    assert [len(s) for s in one] == [111, 109]
    assert np.array_equal(one[0]["u"], two[0]["u"])
    assert one.times[1] - one.times[0] == pytest.approx(0.1)
    told: list[dict[str, Any]] = []
    first = coverage.run([draw], tmp_path / "c.jsonl", 1, told.append)
    again = coverage.run([draw], tmp_path / "c.jsonl", 1, told.append)
    assert len(told) == 1
    assert first == again
    assert first[0]["status"] == "refused"


def test_a_crash_is_a_row(monkeypatch: pytest.MonkeyPatch) -> None:
    """It ended the worker, and was called a lack of memory."""

    def broken(draw: coverage.Draw) -> Snapshots:
        raise ZeroDivisionError("by 0")

    monkeypatch.setattr(coverage, "snapshots", broken)
    row = coverage.fitted(coverage.Draw(CELL, 0, 1.0))
    assert (row["status"], row["said"]) == ("crashed", "ZeroDivisionError: by 0")
