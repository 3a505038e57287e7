"""The page of the reproduction: its counts are those of its own tables, and a new run replaces the old one."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.scripts import script

DOCS = Path(__file__).parents[1] / "docs"
PAGE = (DOCS / "reproduction.md").read_text(encoding="utf-8")
PROSE = re.sub(r"(?<!\n)\n {0,2}(?=[^\n|#!`\- ])", " ", PAGE)  # paragraphs and items as they read, unwrapped
VALUE = re.compile(r"(?P<median>−?[\d.]+)(?: \[(?P<first>−?[\d.]+), (?P<third>−?[\d.]+)\])?")


@dataclass(frozen=True)
class Number:
    """A parameter in a line of a table, beside the paper's."""

    by: str
    title: str
    truth: float
    ours: dict[str, float | None]
    paper: dict[str, float | None]
    bold: bool


def value(text: str) -> dict[str, float | None]:
    match = VALUE.search(text)
    assert match is not None, text
    return {k: None if v is None else float(v.replace("−", "-")) for k, v in match.groupdict().items()}


def numbers() -> list[Number]:
    """Read every number of the page's tables back from what is printed."""
    found: list[Number] = []
    for part in re.split(r"(?m)^## ", PAGE)[1:]:
        title, truths, paper = part.splitlines()[0], [], []
        for line in (line for line in part.splitlines() if line.startswith("|")):
            _, _, by, *cells, _, _ = (cell.strip() for cell in line.split("|"))
            if by == "by":
                truths = [value(cell.split("truth")[1])["median"] for cell in cells]
            elif by == "paper":
                paper = [value(cell) for cell in cells]
            elif by in ("paper’s method and search", "paper’s method, redone", "midpoint", "flow"):
                for truth, cell, published in zip(truths, cells, paper, strict=True):
                    assert truth is not None
                    found.append(Number(by, title, truth, value(cell), published, "**" in cell))
    return found


def width(quartiles: dict[str, float | None]) -> float:
    assert quartiles["first"] is not None
    assert quartiles["third"] is not None
    return quartiles["third"] - quartiles["first"]


def ranges(of: list[Number]) -> list[Number]:
    return [n for n in of if n.paper["first"] is not None and n.ours["first"] is not None]


def test_bold_is_what_is_closer_to_the_truth() -> None:
    compared = 0
    for n in numbers():
        ours, paper = (abs((v["median"] or 0.0) - n.truth) for v in (n.ours, n.paper))
        if abs(ours - paper) > 1e-4:  # not told apart by the digits that are printed
            assert n.bold == (ours < paper), n
            compared += 1
    assert compared > 400


@pytest.mark.parametrize("by", ["paper’s method, redone", "midpoint", "flow"])
def test_the_counts_are_those_of_the_tables(by: str) -> None:
    lines = [n for n in numbers() if n.by == by]
    narrower = sum(width(n.ours) < width(n.paper) for n in ranges(lines))
    assert (
        f"- {by[0].upper()}{by[1:]}: {sum(n.bold for n in lines)} of {len(lines)} medians closer to the truth than the "
        f"paper’s, {narrower} of {len(ranges(lines))} ranges between the quartiles narrower."
    ) in PROSE


def test_where_the_paper_is_closer_every_case_is_named() -> None:
    flows = {n.title for n in numbers() if n.by == "flow"}
    default = [n for n in numbers() if n.by == ("flow" if n.title in flows else "midpoint")]
    missed = sum(not n.bold for n in default)
    wider = sum(width(n.ours) >= width(n.paper) for n in ranges(default))
    part = PROSE.split("## Where the paper is closer")[1].split("\n## ")[0]
    assert f"{len(default) - missed} of {len(default)} medians are closer" in part
    assert f"{len(ranges(default)) - wider} of {len(ranges(default))} ranges" in part
    listed = [line for line in part.splitlines() if line.startswith("- ")]
    assert (len([v for v in listed if "the truth is" in v]), len([v for v in listed if "apart" in v])) == (
        missed,
        wider,
    )


def test_a_new_report_replaces_the_old_one_and_leaves_our_words(tmp_path: Path) -> None:
    renew = script(DOCS / "reproduction.py").renew
    (tmp_path / "run" / "figures").mkdir(parents=True)
    (tmp_path / "images" / "reproduction").mkdir(parents=True)
    (tmp_path / "run" / "report.md").write_text("# A title\n\n- New.\n\n![heat](figures/heat-1.png)\n")
    (tmp_path / "run" / "figures" / "heat-1.png").write_bytes(b"picture")
    page = tmp_path / "page.md"
    page.write_text("# Ours\n\nWords.\n\n## In short\n\n- Old.\n")
    for _ in range(2):
        renew(page, tmp_path / "run")
        assert page.read_text() == (
            "# Ours\n\nWords.\n\n## In short\n\n- New.\n\n![heat](images/reproduction/heat-1.png)\n"
        )
    assert (tmp_path / "images" / "reproduction" / "heat-1.png").read_bytes() == b"picture"
