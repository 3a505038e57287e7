"""The notebook of the documentation in a kernel of its own, and its pictures as files that can be looked at."""

from __future__ import annotations

import base64
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbclient
import nbformat

NOTEBOOK = Path(__file__).parents[2] / "docs" / "tutorials" / "notebook.ipynb"
EMBEDDED = re.compile(r"data:image/png;base64,([A-Za-z0-9+/=\s]+)")
"""A picture inside of HTML: a fit shows itself so."""


def pictures(output: Any) -> Iterator[bytes]:
    """Yield the pictures of an output."""
    data = output.get("data", {})
    if "image/png" in data:
        yield base64.b64decode(data["image/png"])
    for found in EMBEDDED.finditer(data.get("text/html", "")):
        yield base64.b64decode(found[1])


def report(folder: Path) -> Iterator[str]:
    """Run the notebook; yield a line for each cell, and write what it draws into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    client = nbclient.NotebookClient(notebook, timeout=600, kernel_name="python3")
    with client.setup_kernel():
        for index, cell in enumerate(notebook.cells):
            began = time.perf_counter()
            client.execute_cell(cell, index)
            if cell.cell_type != "code":
                continue
            drawn = [picture for output in cell.outputs for picture in pictures(output)]
            for number, picture in enumerate(drawn):
                (folder / f"cell-{index}-{number}.png").write_bytes(picture)
            kinds = sorted({kind for output in cell.outputs for kind in output.get("data", {})})
            seconds = time.perf_counter() - began
            yield f"{seconds:6.1f} s  {cell.source.splitlines()[0]:<60.60} {len(drawn)} pictures  {', '.join(kinds)}"
    nbformat.write(notebook, folder / "notebook.ipynb")
    yield f"the notebook with its outputs, and its pictures, lie in {folder}"
