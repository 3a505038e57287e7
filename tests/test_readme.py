"""The README tells the truth: its code runs, prints what it says, and its links lead somewhere."""

import contextlib
import io
import re
import shlex
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from hiddenphysics.cli import app, spread
from hiddenphysics.demo import burgers_recording, two_snapshots
from hiddenphysics.reproduction import STUDIES

pytestmark = pytest.mark.xdist_group("readme")  # one process: the tests share fits

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
NUMBER = re.compile(r"[-+]?\d+\.?\d*(?:e[-+]?\d+)?")


def blocks(language):
    return re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL)


def same_text_and_nearly_the_same_numbers(found, told):
    assert NUMBER.sub("#", found).split() == NUMBER.sub("#", told.replace("...", "")).split()
    ours, theirs = (np.array([float(n) for n in NUMBER.findall(text)]) for text in (found, told))
    np.testing.assert_allclose(ours, theirs, rtol=0.02)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    two_snapshots(burgers_recording(), 0.01, 0).to_table().to_csv("burgers.csv", index=False)
    return tmp_path


def test_the_code_runs_and_prints_what_the_readme_says(folder):
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(blocks("python")[0], "README.md", "exec"), {})  # noqa: S102  (our own text)
    same_text_and_nearly_the_same_numbers(printed.getvalue(), blocks("text")[0])
    assert (folder / "burgers.png").exists()
    assert (folder / "burgers.nc").exists()


def test_the_shell_commands_run(folder):
    commands = [line[2:].split(" #")[0] for block in blocks("console") for line in block.splitlines()]
    ours = [shlex.split(c)[1:] for c in commands if c.startswith("hiddenphysics ")]
    assert len(ours) == 3
    (folder / "burgers.csv").unlink()
    for words in ours:
        answer = CliRunner().invoke(app, spread(words))
        assert answer.exit_code == 0, answer.output


def test_links_lead_somewhere():
    targets = [t for t in re.findall(r"\]\(([^)]+)\)", README) if not t.startswith("http")]
    assert targets
    assert [t for t in targets if not (ROOT / t).exists()] == []


def test_make_targets_exist():
    makefile = (ROOT / "Makefile").read_text()
    for target in re.findall(r"^\$ make (\w+)", README, re.MULTILINE):
        assert f"\n{target}:" in makefile


def test_the_papers_numbers_are_the_papers():
    rows = {
        r.split("|")[1].strip(): r.split("|")[3].strip() for r in README.splitlines() if r.startswith("| ")
    }
    names = {
        "Burgers": "burgers",
        "Korteweg–de Vries": "kdv",
        "Kuramoto–Sivashinsky": "ks",
        "nonlinear Schrödinger": "schrodinger",
    }
    for title, name in names.items():
        medians = [p.median for p in STUDIES[name].tables[0].cells[0].paper.values()]
        assert [float(v) for v in rows[title].split(",")] == medians
