"""Times that are no plain numbers: dates and durations become elapsed times in a unit that is chosen, and said."""

from __future__ import annotations

import re
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hiddenphysics.errors import DataError
from hiddenphysics.loader import cut
from hiddenphysics.snapshots.sentences import names
from hiddenphysics.snapshots.validation import numeric

if TYPE_CHECKING:
    import pandas as pd

SECONDS = {
    "ns": 1e-9,
    "us": 1e-6,
    "ms": 1e-3,
    "s": 1.0,
    "min": 60.0,
    "h": 3600.0,
    "d": 86400.0,
    "week": 604800.0,
    "year": 31557600.0,
}
"""Units of time in seconds; a year has 365.25 days."""
CHOSEN = ("ns", "us", "ms", "s", "min", "h", "d")
"""Units that are chosen where nobody chose: the largest of which the data span two, or of a second one."""
WORDS = {
    "ns": "nanosecond nanoseconds nsec",
    "us": "microsecond microseconds usec µs μs",
    "ms": "millisecond milliseconds msec",
    "s": "second seconds sec secs",
    "min": "minute minutes mins",
    "h": "hour hours hr hrs",
    "d": "day days",
    "week": "weeks wk",
    "year": "years yr a",
}
UNIT_OF = {word: unit for unit, words in WORDS.items() for word in (unit, *words.split())}
SINCE = re.compile(r"\s*(\w+)\s+since\s+(.+?)\s*$", re.IGNORECASE)
ROUNDED = 1e9
"""Elapsed times are kept to a nanosecond, as dates are: 1.1 h − 1.0 h is 360 s, and not 360.0000000000003 s."""
DAY_MONTH = r"^\s*(\d{1,2})([./-])(\d{1,2})\2(\d{4})(?:[ T]+(.*))?$"
CLOCK = r"^\s*\d{1,4}:\d{2}:\d{2}(?:[.,]\d+)?\s*$"


@dataclass(frozen=True)
class Times:
    """Times as numbers.

    Attributes
    ----------
    values
        Of any shape, NaN where there is none.
    unit
        Their unit, "" where they have none.
    start
        The date that they are counted from, "" for none.
    note
        What was done, "" for nothing.
    """

    values: NDArray[np.float64]
    unit: str = ""
    start: str = ""
    note: str = ""


def unit_named(word: object) -> str:
    """Return the unit that a user asks for by any of its words; refuse others."""
    asked = word.strip() if isinstance(word, str) else ""
    unit = UNIT_OF.get(asked) or UNIT_OF.get(asked.casefold())
    if unit is None:
        raise DataError(
            f"{word!r:.40} is no unit of time known here; known are {names(SECONDS)}. Type --time-unit h."
        )
    return unit


def decoded(values: NDArray[Any], unit: str, wanted: str | None) -> Times:
    """Turn times of any kind into numbers.

    Parameters
    ----------
    values
        Numbers, dates or durations (datetime64, timedelta64).
    unit
        The unit that came with numbers, also as netCDF writes dates, "days since 2024-01-01"; "" for none.
    wanted
        The unit that is asked for, None where nobody asked.
    """
    chosen = None if wanted is None else unit_named(wanted)
    if values.dtype.kind == "M":
        nanoseconds = values.astype("datetime64[ns]")
        known = nanoseconds[~np.isnat(nanoseconds)]
        if not known.size:
            raise DataError("there is no time: every date is missing. Give the times.")
        return _elapsed(_seconds(nanoseconds - known.min()), chosen, _written(known.min()))
    if values.dtype.kind == "m":
        return _elapsed(_seconds(values.astype("timedelta64[ns]")), chosen, "")
    told = SINCE.match(unit)
    if told and told[1].casefold() in UNIT_OF:
        own = UNIT_OF[told[1].casefold()]
        first = float(np.nanmin(values)) if np.isfinite(values).any() else 0.0
        seconds = np.round((values - first) * (SECONDS[own] * ROUNDED)) / ROUNDED
        return _elapsed(seconds, chosen, _moved(told[2], first * SECONDS[own]))
    own_unit = UNIT_OF.get(unit.strip(), UNIT_OF.get(unit.strip().casefold(), unit.strip()))
    if chosen is None or chosen == own_unit:
        return Times(values, own_unit)
    check_convertible(own_unit, chosen)
    factor = SECONDS[own_unit] / SECONDS[chosen]
    return Times(values * factor, chosen, "", f"t was converted from {own_unit} to {chosen}.")


def check_convertible(own: str, wanted: str) -> None:
    """Refuse another unit for times that tell none, or none that is known."""
    if own not in SECONDS:
        raise DataError(
            f"times in {wanted} were asked for, but the times are plain numbers"
            f"{f' in {own!r:.40}' if own else ' without a unit'}, which cannot be converted. Leave --time-unit"
            " (time_unit=) out: parameters then have the unit of your times."
        )


def _elapsed(seconds: NDArray[np.float64], chosen: str | None, start: str) -> Times:
    known = seconds[np.isfinite(seconds)]
    span = float(np.ptp(known)) if known.size else 0.0
    unit = chosen or unit_for(span)
    since = f" since {start}" if start else ""
    why = "" if chosen else "; the span chose this unit, --time-unit (time_unit=) chooses another"
    return Times(seconds / SECONDS[unit], unit, start, f"t is in {unit}{since}{why}.")


def unit_for(span: float) -> str:
    """Return the largest unit of which so many seconds hold two; of a second and less one.

    >>> unit_for(360.0), unit_for(0.1), unit_for(40 * 86400.0), unit_for(0.0), unit_for(1.0)
    ('min', 'ms', 'd', 's', 's')
    """
    fitting = [unit for unit in CHOSEN if span >= (2 if SECONDS[unit] > 1 else 1) * SECONDS[unit]]
    return fitting[-1] if fitting else "s"


def _seconds(durations: NDArray[Any]) -> NDArray[np.float64]:
    return np.where(np.isnat(durations), np.nan, durations.astype(np.int64) / ROUNDED)


def _written(date: Any) -> str:
    told = np.datetime_as_string(np.datetime64(date, "ns")).replace("T", " ")
    return str(told).rstrip("0").rstrip(".") if "." in told else str(told)


def _moved(reference: str, seconds: float) -> str:
    """Return the date so many seconds after another; that one in words where it is in no calendar of ours."""
    import pandas as pd

    try:
        date = pd.to_datetime(reference, utc=True).tz_localize(None) + pd.Timedelta(seconds, "s")
        return _written(date.to_datetime64())
    except (ValueError, OverflowError, TypeError):
        return f"{seconds:g} s after {cut(reference)}"


# ---- dates in lists and as text --------------------


def array_of(title: str, values: Any) -> NDArray[Any]:
    """Return numbers, dates or durations as an array; text is read, and what is none of these is refused."""
    array = np.ma.filled(numeric(title, values), np.nan) if _kind(values) in "iufc" else np.asarray(values)
    if array.dtype.kind in "mM" or array.dtype.kind in "iufc":
        return array
    import pandas as pd

    column = pd.Series(np.ravel(array).tolist())
    if column.dtype.kind not in "mMiuf":
        column = pd.Series(_from_objects(title, column))
    return column.to_numpy().reshape(array.shape)


def _kind(values: Any) -> str:
    return str(getattr(getattr(values, "dtype", None), "kind", "")) or np.asarray(values).dtype.kind


def _from_objects(title: str, column: pd.Series[Any]) -> NDArray[Any]:
    """Read a column that is no array of numbers or dates: text, or objects that write themselves as dates."""
    import pandas as pd

    numbers = pd.to_numeric(column.astype("string"), errors="coerce")
    if (numbers.notna() | column.isna()).all():
        return numbers.to_numpy(dtype=float, na_value=np.nan)
    dates = from_text(title, column)
    if dates is None:
        wrong = int(np.flatnonzero((numbers.isna() & column.notna()).to_numpy())[0])
        raise DataError(
            f"the column {cut(title)} holds {cut(repr(column.iloc[wrong]))} in row {wrong} (counted from 0), which is"
            " no time. Write numbers, or dates as 2024-12-31 23:59:59."
        )
    return dates


def from_text(title: str, column: pd.Series[Any]) -> NDArray[Any] | None:
    """Read dates, or durations such as 00:06:00; None where the text is neither."""
    import pandas as pd

    words = column.astype("string").str.strip()
    known = words.dropna()
    if known.empty:
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # on formats, of which the ones used here are given
        if known.str.fullmatch(CLOCK).all():
            return pd.to_timedelta(words.str.replace(",", ".")).to_numpy(dtype="timedelta64[ns]")
        if known.str.match(DAY_MONTH).all():
            words = _iso(title, words)
        elif not known.str.match(r"\d{4}\D?\d{2}").all():
            return None
        try:
            dates = pd.to_datetime(words, format="ISO8601", utc=True)
        except (ValueError, OverflowError):
            return None
    return dates.dt.tz_localize(None).to_numpy(dtype="datetime64[ns]")


def words_of(column: Any) -> pd.Series[Any]:
    """Return a column of a table as text; of dates of NumPy the day alone."""
    import pandas as pd

    words = pd.Series(column)
    if words.dtype.kind == "M":
        return words.dt.strftime("%Y-%m-%d").astype("string")
    return words.astype("string").str.strip()


def is_clock(column: Any) -> bool:
    """Whether a column holds times of day, 23:59:59, as text."""
    if getattr(column, "dtype", np.dtype(float)).kind in "iufcbmM":
        return False
    known = words_of(column).dropna()
    return bool(known.size and known.str.fullmatch(CLOCK).all())


def is_day(title: str, column: Any) -> bool:
    """Whether a column holds days without a time of day."""
    if getattr(column, "dtype", np.dtype(float)).kind in "iufcbm":
        return False
    known = words_of(column).dropna()
    if not known.size or not known.str.fullmatch(r"\d{4}-\d{2}-\d{2}|\d{1,2}([./-])\d{1,2}\1\d{4}").all():
        return False
    return from_text(title, known) is not None


def _iso(title: str, words: pd.Series[Any]) -> pd.Series[Any]:
    """Write dates such as 31.12.2024 with the year first; refuse them where day and month cannot be told apart."""
    parts = words.str.extract(DAY_MONTH)
    first, second = parts[0].dropna().astype(int), parts[2].dropna().astype(int)
    day_first, month_first = bool((first > 12).any()), bool((second > 12).any())
    if day_first and month_first:
        raise DataError(
            f"the column {cut(title)} has the day first in some dates and the month in others. Correct them."
        )
    if not (day_first or month_first):
        if not (parts[1].dropna() == ".").all():
            example = str(words.dropna().iloc[0])
            raise DataError(
                f"the column {cut(title)} holds {cut(example)}, where day and month cannot be told apart. Write dates"
                " with the year first, 2024-12-31, or with dots, 31.12.2024."
            )
        day_first = True
    day, month = (parts[0], parts[2]) if day_first else (parts[2], parts[0])
    return parts[3] + "-" + month.str.zfill(2) + "-" + day.str.zfill(2) + ("T" + parts[4]).fillna("")
