"""Writes the report's files: tables as data, as Markdown with pictures, and as one self-contained page."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from hiddenphysics.reproduction.comparison import tabulate
from hiddenphysics.reproduction.report.canvas import as_png, style
from hiddenphysics.reproduction.report.html_page import html_page
from hiddenphysics.reproduction.report.markdown import markdown
from hiddenphysics.reproduction.report.paper_figures import figures_of
from hiddenphysics.reproduction.runner import Outcome
from hiddenphysics.writer import write_file

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def report(outcome: Outcome, folder: Path) -> Path:
    """Write `tables.json`, `report.md` with its pictures, and `report.html` into a folder; return the page.

    What was in the folder under these names is replaced: a report follows from the fits beside it.
    """
    tables = tabulate(outcome)
    studies = {study.name: study for study in outcome.plan.studies}
    with style():
        figures = {name: figures_of(outcome, study) for name, study in studies.items()}
        _write(folder / "report.html", html_page(outcome, tables, figures))
        pictures = _pictures(figures, folder)
    _write(folder / "report.md", markdown(tables, studies, pictures))
    _write(folder / "tables.json", json.dumps(tables, indent=1) + "\n")
    return folder / "report.html"


def _pictures(figures: Mapping[str, Sequence[Figure]], folder: Path) -> dict[str, list[str]]:
    """Write every figure as PNG; return their names relative to the folder, by study."""
    names: dict[str, list[str]] = {}
    for study, drawn in figures.items():
        for k, figure in enumerate(drawn):
            name = f"figures/{study}-{k + 1}.png"
            write_file(folder / name, as_png(figure), overwrite=True)
            names.setdefault(study, []).append(name)
    return names


def _write(path: Path, text: str) -> None:
    write_file(path, text.encode(), overwrite=True)
