"""Tables in binary files: Parquet and spreadsheets. Each needs a package of its own, loaded when such a file comes."""

from __future__ import annotations

import zipfile
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hiddenphysics.errors import DataError, MissingExtraError
from hiddenphysics.loader import check_unfolded, check_whole
from hiddenphysics.snapshots.collection import Snapshots
from hiddenphysics.snapshots.readers.delimited_text import UNNAMED
from hiddenphysics.snapshots.readers.request import Request
from hiddenphysics.snapshots.readers.table import from_frame
from hiddenphysics.snapshots.sentences import names

if TYPE_CHECKING:
    import pandas as pd

MAGIC = b"PAR1"
"""The first and the last bytes of a Parquet file."""
ZIP = b"PK\x03\x04"
TRUSTED = "Write it as CSV or .npz, if you trust it."


def read_parquet(path: Path, request: Request) -> Snapshots:
    """Read a Parquet file."""
    return from_frame(parquet_frame(path), request)


def parquet_frame(path: Path) -> pd.DataFrame:
    """Return the table in a Parquet file; its own description says how large it becomes before it is unfolded."""
    size = check_whole(path)
    with path.open("rb") as file:
        if file.read(4) != MAGIC:
            raise DataError(
                "this is no Parquet file, whatever its name says; write it with frame.to_parquet(path)."
            )
    _need("pyarrow", "parquet", path, "a Parquet file")
    import pandas as pd
    from pyarrow import parquet

    try:
        about = parquet.read_metadata(path)
        check_unfolded(about.num_rows * about.num_columns, size, TRUSTED)
        groups = (about.row_group(k).total_byte_size for k in range(about.num_row_groups))
        check_unfolded(sum(groups) // 8, size, TRUSTED)
        return pd.read_parquet(path, engine="pyarrow")
    except DataError:
        raise
    except Exception as problem:  # a damaged file makes the library fail in many ways
        raise DataError(
            f"this could not be read as Parquet ({problem!s:.200}); write it again with frame.to_parquet(path)."
        ) from problem


def read_spreadsheet(path: Path, request: Request) -> Snapshots:
    """Read the first sheet of an Excel file that holds anything: a line of titles, and one row per measurement."""
    frame, notes = spreadsheet_frame(path)
    return from_frame(frame, request, *notes)


def spreadsheet_frame(path: Path) -> tuple[pd.DataFrame, list[str]]:
    """Return the table in an Excel file, and what there is to say about it."""
    size = check_whole(path)
    with path.open("rb") as file:
        if file.read(4) != ZIP or not zipfile.is_zipfile(path):
            raise DataError(
                "this is no .xlsx file, whatever its name says; save it again as Excel workbook, or as CSV."
            )
    with zipfile.ZipFile(path) as archive:
        check_unfolded(sum(info.file_size for info in archive.infolist()) // 8, size, TRUSTED)
    _need("openpyxl", "excel", path, "an Excel file")
    return _sheet(path)


def _sheet(path: Path) -> tuple[pd.DataFrame, list[str]]:
    import openpyxl
    import pandas as pd

    try:
        # Opened here, as the library leaves a damaged one open. Values as last computed: formulas are not run.
        with path.open("rb") as file:
            book = openpyxl.load_workbook(file, read_only=True, data_only=True)
            tables = {sheet.title: _rows(sheet) for sheet in book.worksheets}
    except Exception as problem:  # a damaged file makes the library fail in many ways
        raise DataError(
            f"this could not be read as an Excel file ({problem!s:.200}); save it again, or as CSV."
        ) from problem
    full = [title for title, rows in tables.items() if len(rows) > 1]
    if not full:
        raise DataError(
            "no sheet holds a table: a line of titles, such as t, x, u, and rows of numbers below it."
        )
    titles, *rows = tables[full[0]]
    titles = (UNNAMED if titles[0] is None else titles[0], *titles[1:])
    last = max(k for k, title in enumerate(titles) if title is not None) + 1
    if any(title is None for title in titles[:last]):
        raise DataError(
            f"the first line of the sheet {full[0]} must give every column a name; it reads {names(titles)}."
        )
    frame = pd.DataFrame([row[:last] for row in rows], columns=[str(title) for title in titles[:last]])
    note = f"The sheet {full[0]} was read, the first of {names(full)}."
    return frame.infer_objects(), [note] if len(full) > 1 else []


def _rows(sheet: Any) -> list[tuple[Any, ...]]:
    """Return the rows of a sheet that hold something; a remark in a single cell above the table is passed over."""
    sheet.reset_dimensions()  # the size that a file tells need not be true
    rows = [row for row in sheet.iter_rows(values_only=True) if any(cell is not None for cell in row)]
    while rows and len(rows[0]) - rows[0].count(None) == 1 and len(rows) > 1 and len(rows[1]) > 1:
        rows = rows[1:]
    width = len(rows[0]) if rows else 0
    return [(*row[:width], *[None] * (width - len(row))) for row in rows]


def _need(package: str, extra: str, path: Path, kind: str) -> None:
    if find_spec(package) is None:
        raise MissingExtraError(
            f'{path.name} is {kind}; reading it needs {package}: pip install "hiddenphysics[{extra}]".'
        )
