"""Long tables: text files with a header, and pandas data frames."""

from __future__ import annotations

import io
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hiddenphysics.errors import DataError
from hiddenphysics.loader import cut
from hiddenphysics.snapshots.collection import Snapshots
from hiddenphysics.snapshots.readers.arrays import TIME_FIRST, renamed, snapshots_from
from hiddenphysics.snapshots.sentences import names
from hiddenphysics.snapshots.validation import Missing

if TYPE_CHECKING:
    import pandas as pd

EXAMPLE = "a first line such as t,x,u and one line of numbers per point"


def read_table(path: Path, columns: Mapping[str, str], missing: Missing) -> Snapshots:
    """Read text with a header, whose columns are parted by tabs, semicolons, commas or blanks."""
    return from_frame(_parse(_text(path)), columns, missing)


def from_frame(frame: pd.DataFrame, columns: Mapping[str, str], missing: Missing) -> Snapshots:
    """Read a data frame with one row per measurement; a named index counts as columns."""
    if any(name is not None for name in frame.index.names):
        frame = frame.reset_index()
    titles = [str(title) for title in frame.columns]
    if len(set(titles)) < len(titles):
        raise DataError(f"two columns have one name: {names(titles)}. Rename one of them.")
    if frame.empty:
        raise DataError(f"the table has the columns {names(titles)} but no rows; it needs {EXAMPLE}.")
    if all(kind.kind in "iuf" for kind in frame.dtypes):
        # At once: pandas takes 30 µs to hand out a column, and there may be a hundred thousand.
        table = np.ascontiguousarray(frame.to_numpy(dtype=float, na_value=np.nan).T)
        arrays: dict[str, NDArray[Any]] = dict(zip(titles, table, strict=True))
    else:
        arrays = {str(title): _numbers(str(title), column) for title, column in frame.items()}
    return snapshots_from(renamed(arrays, columns), missing, TIME_FIRST)


def _text(path: Path) -> str:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as problem:
        raise DataError(f"this is no text, whatever its name says; a table needs {EXAMPLE}.") from problem
    if "\0" in text or not text.strip():
        kind = "no text, whatever its name says" if "\0" in text else "blank"
        raise DataError(f"this file is {kind}; a table needs {EXAMPLE}.")
    return text


def _parse(text: str) -> pd.DataFrame:
    import pandas as pd

    # np.savetxt writes its header behind a '#'.
    header, _, body = text.lstrip().partition("\n")
    header = header.removeprefix("#").strip()
    separator = next((mark for mark in "\t;," if mark in header), r"\s+")
    titles = [
        title.strip().strip('"')
        for title in (header.split() if separator == r"\s+" else header.split(separator))
    ]
    _check_header(titles)
    # A semicolon between columns usually means that commas are decimal marks.
    decimal = "," if separator == ";" and "," in body.partition("\n")[0] else "."
    try:
        with warnings.catch_warnings():
            # pandas only warns when a row is longer than the header, and then cuts it.
            warnings.simplefilter("error", pd.errors.ParserWarning)
            return pd.read_csv(
                io.StringIO(body),
                sep=separator,
                names=titles,
                index_col=False,
                comment="#",
                decimal=decimal,
                skipinitialspace=True,
            )
    except (ValueError, pd.errors.ParserWarning) as problem:
        raise DataError(
            f"the table could not be read ({str(problem).strip():.200}); it needs {EXAMPLE}."
        ) from problem


def _check_header(titles: list[str]) -> None:
    if len(set(titles)) < len(titles) or "" in titles:
        raise DataError(f"the first line must give every column a name of its own; it reads {names(titles)}.")
    if any(_is_number(title) for title in titles):
        raise DataError(f"the first line holds numbers ({names(titles)}); a table needs {EXAMPLE}.")


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _numbers(title: str, column: pd.Series[Any]) -> NDArray[Any]:
    """Read a column; an entry that is no number is named with its row."""
    import pandas as pd

    if column.dtype.kind == "c":
        return column.to_numpy(dtype=complex)
    if column.dtype.kind in "iuf":
        return column.to_numpy(dtype=float, na_value=np.nan)
    numbers = pd.to_numeric(column.astype(str), errors="coerce")
    wrong = np.flatnonzero((numbers.isna() & column.notna()).to_numpy())
    if wrong.size:
        row = int(wrong[0])
        raise DataError(
            f"the column {cut(title)} holds {cut(repr(column.iloc[row]))} in row {row} (counted from 0), not a number."
            " Correct it, or leave the column out; a complex field h is written as two columns, h_re, h_im."
        )
    return numbers.to_numpy(dtype=float, na_value=np.nan)
