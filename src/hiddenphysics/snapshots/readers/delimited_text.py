"""Tables as text: the marks between columns, the decimal mark, comments and the header are found in the text itself."""

from __future__ import annotations

import csv
import io
import re
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from hiddenphysics.errors import DataError
from hiddenphysics.loader import check_whole, cut
from hiddenphysics.snapshots.sentences import names

if TYPE_CHECKING:
    import pandas as pd

EXAMPLE = "a first line such as t,x,u and one line of numbers per point"
MARKS = "\t;,"
"""Between columns, the surest first; where there is none of them, blanks."""
BLANKS = r"\s+"
COMMENTS = ("#", "%")
UNNAMED = "Unnamed: 0"
"""What pandas calls a first column without a title, which is how it writes the index of a frame."""
LOOKED_AT = 200
"""Lines in which the decimal mark is looked for."""
NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")
WITH_COMMA = re.compile(r"[+-]?(?:\d+,\d*|,\d+)(?:[eE][+-]?\d+)?")
THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2},\d{3}")
DATE = re.compile(r"\d{4}-\d{2}-\d{2}|\d{1,2}[./]\d{1,2}[./]\d{4}|\d{1,2}:\d{2}")


@dataclass(frozen=True)
class Layout:
    """How a text is laid out: titles of the columns, the mark between them, and the text below."""

    titles: list[str]
    separator: str
    body: str


def read_frame(path: Path) -> pd.DataFrame:
    """Read a text file as a data frame; titles that are numbers stay text."""
    check_whole(path)
    layout = _layout(_text(path))
    return _parse(layout, _decimal_mark(layout))


def _text(path: Path) -> str:
    content = path.read_bytes()
    for encoding in ("utf-16",) if content[:2] in (b"\xff\xfe", b"\xfe\xff") else ("utf-8-sig", "cp1252"):
        try:
            text = content.decode(encoding)
        except UnicodeDecodeError:
            continue
        # Spreadsheets write the letters of one country in one byte each, and no control marks.
        if encoding != "cp1252" or not re.search(r"[\x00-\x08\x0e-\x1f]", text):
            break
    else:
        raise DataError(f"this is no text, whatever its name says; a table needs {EXAMPLE}.")
    if "\0" in text or not text.strip():
        kind = "no text, whatever its name says" if "\0" in text else "blank"
        raise DataError(f"this file is {kind}; a table needs {EXAMPLE}.")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _layout(text: str) -> Layout:
    """Find the header: the first line that is no comment, or, above bare numbers, the last comment (np.savetxt)."""
    comments, told = [], ""
    while True:
        line, _, rest = text.partition("\n")
        if line.lower().startswith("sep="):  # how spreadsheets announce the mark between columns
            told = line[4:5]
        elif line.strip().startswith(COMMENTS):
            comments.append(line.strip().lstrip("#%").strip())
        elif line.strip() or not rest:
            break
        text = rest
    first_row = rest.lstrip("\n").partition("\n")[0]
    separator = told or _separator(line, first_row)
    cells = _cells(line, separator)
    if comments and all(
        NUMBER.fullmatch(c) or WITH_COMMA.fullmatch(c) or DATE.match(c) or not c for c in cells
    ):
        above = next((mark for mark in MARKS if mark in comments[-1]), BLANKS)
        titles = _cells(comments[-1], above)
        if len(titles) == len(cells):
            return Layout(_checked(titles), separator, text)
    below = _cells(first_row, separator)
    if not cells[-1] and (len(below) < len(cells) or not below[-1]):  # a mark at the end of each line
        cells = cells[:-1]
    return Layout(_checked(cells), separator, rest)


def _separator(titles: str, row: str) -> str:
    """Return the mark between columns: the surest that cuts titles and row alike, for a title may hold one: `u; °C`."""
    marks = [mark for mark in MARKS if mark in titles]
    alike = (mark for mark in marks if len(_cells(titles, mark)) == len(_cells(row, mark)))
    return next(alike, marks[0] if marks else BLANKS)


def _cells(line: str, separator: str) -> list[str]:
    if '"' in line and separator != BLANKS:
        parts = next(csv.reader([line], delimiter=separator), [])
    else:
        parts = line.split() if separator == BLANKS else line.split(separator)
    return [part.strip().strip('"').strip() for part in parts]


def _checked(titles: list[str]) -> list[str]:
    """Refuse titles that tell no columns apart; all but the first may be numbers: the positions of a wide table."""
    bare = [is_number(title) for title in titles]
    if len(titles) > 2 and all(bare[1:]) and not bare[0]:
        return [titles[0] or "t", *titles[1:]]
    titles = [titles[0] or UNNAMED, *titles[1:]]
    if len(set(titles)) < len(titles) or "" in titles:
        raise DataError(f"the first line must give every column a name of its own; it reads {names(titles)}.")
    if any(bare):
        raise DataError(f"the first line holds numbers ({names(titles)}); a table needs {EXAMPLE}.")
    return titles


def is_number(title: object) -> bool:
    """Whether a title is a number, with a point or a comma."""
    try:
        float(str(title).replace(",", ".", 1))
    except ValueError:
        return False
    return True


def _decimal_mark(layout: Layout) -> str:
    """Return the comma where numbers are written with one; refuse what could be thousands as well."""
    if layout.separator == ",":
        return "."
    lines = layout.body.split("\n", LOOKED_AT)[:LOOKED_AT]
    cells = [c for line in lines if not line.startswith(COMMENTS) for c in _cells(line, layout.separator)]
    commas = [c for c in cells if WITH_COMMA.fullmatch(c)]
    if not commas:
        return "."
    points = next((c for c in cells if NUMBER.fullmatch(c) and "." in c), None)
    if points is not None:
        raise DataError(
            f"some numbers have a decimal comma ({cut(commas[0])}) and some a point ({cut(points)})."
            " Write all in one way."
        )
    if all(THOUSANDS.fullmatch(c) for c in commas):
        digits = commas[0].replace(",", "")
        raise DataError(
            f"{commas[0]} could be {commas[0].replace(',', '.')} or {digits}: every comma stands before three digits."
            " Write the numbers with decimal points, or without marks between thousands."
        )
    return ","


def _parse(layout: Layout, decimal: str) -> pd.DataFrame:
    import pandas as pd

    try:
        with warnings.catch_warnings():
            # pandas only warns when a row is longer than the header, and then cuts it.
            warnings.simplefilter("error", pd.errors.ParserWarning)
            # Columns of numbers and words are told apart by pandas piece by piece, and it warns of that.
            warnings.simplefilter("ignore", pd.errors.DtypeWarning)
            return pd.read_csv(
                io.StringIO(_without_last_mark(layout)),
                sep=layout.separator,
                names=layout.titles,
                index_col=False,
                comment="#",
                decimal=decimal,
                skipinitialspace=True,
            )
    except (ValueError, pd.errors.ParserWarning) as problem:
        raise DataError(
            f"the table could not be read ({str(problem).strip():.200}); it needs {EXAMPLE}."
        ) from problem


def _without_last_mark(layout: Layout) -> str:
    """Return the text below the header; a mark that ends its lines, as some programs write it, is no empty column."""
    first = layout.body.lstrip("\n").partition("\n")[0]
    if layout.separator == BLANKS or len(_cells(first, layout.separator)) <= len(layout.titles):
        return layout.body
    return re.sub(rf"{re.escape(layout.separator)}[ \t]*$", "", layout.body, flags=re.MULTILINE)
