"""Tables, long and wide: text files, spreadsheets, Parquet, and pandas data frames."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hiddenphysics.errors import DataError
from hiddenphysics.loader import cut
from hiddenphysics.snapshots.collection import Snapshots
from hiddenphysics.snapshots.readers import times
from hiddenphysics.snapshots.readers.arrays import TIME_FIRST, Named, named, snapshots_from
from hiddenphysics.snapshots.readers.delimited_text import EXAMPLE, UNNAMED, is_number, read_frame
from hiddenphysics.snapshots.readers.naming import TIME, new_names, split_unit
from hiddenphysics.snapshots.readers.request import Request
from hiddenphysics.snapshots.readers.wide_table import is_wide, read_wide
from hiddenphysics.snapshots.sentences import names

if TYPE_CHECKING:
    import pandas as pd


def read_table(path: Path, request: Request) -> Snapshots:
    """Read text whose columns are parted by tabs, semicolons, commas or blanks."""
    return from_frame(read_frame(path), request)


def from_frame(frame: pd.DataFrame, request: Request, *notes: str) -> Snapshots:
    """Read a data frame.

    Long: one row per measurement; a named index counts as columns. Wide: the times in the first column or the index,
    one further column for each position, whose titles are the positions; or the positions first, and titles that are
    times.
    """
    told = _units(frame)
    if frame.index.name is None and getattr(frame.index.dtype, "kind", "") in "mM":
        frame = frame.rename_axis("time")
    if any(name is not None for name in frame.index.names) or _is_index_of_wide(frame):
        frame = frame.reset_index()
    frame = _without_counter(frame, request)
    titles = [str(title) for title in frame.columns]
    if frame.empty:
        raise DataError(f"the table has the columns {names(titles)} but no rows; it needs {EXAMPLE}.")
    if is_wide(frame, request):
        given = read_wide(frame, request, told, _numbers)
    else:
        titles, units = _without_units(titles)
        if len(set(titles)) < len(titles):
            raise DataError(f"two columns have one name: {names(titles)}. Rename one of them.")
        columns, joined = _with_whole_dates(_columns(frame, titles), request)
        given = named(columns, request, units | told, _numbers)
        notes = (*joined, *notes)
    given = Named(given.arrays, given.provenance.noted(*notes))
    return snapshots_from(given, request.missing, TIME_FIRST)


def _without_counter(frame: pd.DataFrame, request: Request) -> pd.DataFrame:
    """Leave out a first column without a title, which counts the rows; where nothing else is the time, it is that."""
    titles = [str(title) for title in frame.columns]
    if UNNAMED not in titles[:1] or UNNAMED in request.columns.values():
        return frame
    timed = "t" in request.columns or any(split_unit(title)[0].casefold() in TIME for title in titles)
    return frame.iloc[:, 1:] if timed else frame.rename(columns={frame.columns[0]: "t"})


def _with_whole_dates(columns: dict[str, Any], request: Request) -> tuple[dict[str, Any], list[str]]:
    """Put dates in front of times of day, where a table has them in two columns: else two days would be one."""
    time = next((old for old, new in new_names(columns, request.columns).items() if new in TIME), None)
    if time is None or not times.is_clock(columns[time]):
        return columns, []
    days = [title for title, column in columns.items() if title != time and times.is_day(title, column)]
    if len(days) > 1:
        raise DataError(
            f"{time} holds times of day, and {names(days)} hold dates. Put date and time into one column, or name the"
            " columns to use without one of them."
        )
    if not days:
        return columns, []
    whole = times.words_of(columns[days[0]]) + " " + times.words_of(columns[time])
    others = {title: column for title, column in columns.items() if title != days[0]}
    return others | {time: whole}, [f"{days[0]} and {time} together are the time."]


def _is_index_of_wide(frame: pd.DataFrame) -> bool:
    """Whether all titles are positions, so that the index must hold the times."""
    import pandas as pd

    counted = isinstance(frame.index, pd.RangeIndex)
    return not counted and len(frame.columns) > 1 and all(map(is_number, frame.columns))


def _columns(frame: pd.DataFrame, titles: list[str]) -> dict[str, Any]:
    if all(getattr(kind, "kind", "O") in "iuf" and isinstance(kind, np.dtype) for kind in frame.dtypes):
        # At once: pandas takes 30 µs to hand out a column, and there may be a hundred thousand.
        return dict(zip(titles, np.ascontiguousarray(frame.to_numpy(dtype=float).T), strict=True))
    return {title: _plain(frame.iloc[:, k]) for k, title in enumerate(titles)}


def _plain(column: pd.Series[Any]) -> Any:
    """Return dates and durations as NumPy's, the magnitudes of quantities, and other columns as they are."""
    if hasattr(column.dtype, "units"):  # pint-pandas
        return np.asarray(column.array.quantity.magnitude, dtype=float)
    if column.dtype.kind == "M":
        dates = column.dt.tz_convert(None) if getattr(column.dtype, "tz", None) else column
        return dates.to_numpy(dtype="datetime64[ns]")
    if column.dtype.kind == "m":
        return column.to_numpy(dtype="timedelta64[ns]")
    if column.dtype.kind in "iufc" and column.notna().all():
        return column.to_numpy(dtype=complex if column.dtype.kind == "c" else float)
    return column


def _without_units(titles: list[str]) -> tuple[list[str], dict[str, str]]:
    """Part titles from the units behind them, `x [m]`, unless two of them would become the same."""
    parts = [split_unit(title) for title in titles]
    if len({title for title, _ in parts}) < len(titles):
        return titles, {}
    return [title for title, _ in parts], {title: unit for title, unit in parts if unit}


def _units(frame: pd.DataFrame) -> dict[str, str]:
    """Return the units that a frame tells: of quantities (pint-pandas), or in ``attrs["units"]`` by title."""
    told = {str(title): str(kind.units) for title, kind in frame.dtypes.items() if hasattr(kind, "units")}
    written = frame.attrs.get("units")
    if isinstance(written, Mapping):
        told |= {str(title): str(unit) for title, unit in written.items()}
    return told


def _numbers(title: str, column: Any) -> NDArray[Any] | None:
    """Read a column; None where it holds text, dates or nothing. An entry that is no number is named with its row."""
    import pandas as pd

    if isinstance(column, np.ndarray):
        if column.dtype.kind not in "iufc":
            return None
        return None if column.dtype.kind == "f" and np.isnan(column).all() else column
    if column.dtype.kind == "c":
        return column.to_numpy(dtype=complex)
    if column.dtype.kind in "iuf":
        values: NDArray[Any] = column.to_numpy(dtype=float, na_value=np.nan)
        return None if np.isnan(values).all() else values
    numbers = pd.to_numeric(column.astype(str), errors="coerce")
    wrong = np.flatnonzero((numbers.isna() & column.notna()).to_numpy())
    if wrong.size == int(column.notna().sum()):
        return None
    if wrong.size:
        row = int(wrong[0])
        raise DataError(
            f"the column {cut(title)} holds {cut(repr(column.iloc[row]))} in row {row} (counted from 0), not a number."
            " Correct it, or name the columns to use, as in --column u=u; a complex field h is written as two columns,"
            " h_re, h_im."
        )
    return numbers.to_numpy(dtype=float, na_value=np.nan)
