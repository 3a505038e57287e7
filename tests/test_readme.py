"""The README tells the truth: its links lead somewhere, its numbers are right. `tests/test_docs.py` runs its code."""

import re
from pathlib import Path

from hiddenphysics.reproduction import STUDIES

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_links_lead_somewhere():
    targets = [t.partition("#")[0] for t in re.findall(r"\]\(([^)]+)\)", README) if not t.startswith("http")]
    assert targets
    assert [t for t in targets if not (ROOT / t).exists()] == []


def test_the_first_table_shows_what_is_printed_below():
    """On both first pages: the equation of the printed result, and its numbers with their deviations."""
    for page in (README, (ROOT / "docs" / "index.md").read_text(encoding="utf-8")):
        printed = re.search(r"```text\n(u_t.*?= 0)\n", page)[1]
        numbers = re.findall(r"[\d.]+\(\d+\)", printed)
        assert len(numbers) == 2
        row = next(line for line in page.splitlines() if line.startswith("| 140 "))
        assert f"`{printed}`" in row
        for name, number in zip("ab", numbers, strict=True):
            value, last = number.rstrip(")").split("(")
            digits = len(value.partition(".")[2])
            assert f"{name} = {value} ± {int(last) / 10**digits:.{digits}f}" in row


def test_make_targets_exist():
    makefile = (ROOT / "Makefile").read_text()
    targets = re.findall(r"`make (\w+)`", README)
    assert targets
    for target in targets:
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
