"""One value over the time, such as a field at an end of a line: a table of two columns, or two arrays."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from hiddenphysics.errors import DataError
from hiddenphysics.snapshots.readers.delimited_text import read_frame
from hiddenphysics.snapshots.readers.naming import TIME, split_unit
from hiddenphysics.snapshots.sentences import names

TimeSeries = str | Path | Sequence[ArrayLike]
"""A file of text with a column of times and one of values, or two arrays (T,): times and values."""


def read_time_series(source: TimeSeries) -> tuple[np.ndarray, np.ndarray]:
    """Return increasing times (T,) and values (T,), T ≥ 2; refuse what is not that."""
    if isinstance(source, str | Path):
        times, values = _columns(Path(source))
    elif isinstance(source, Sequence) and len(source) == 2:
        times, values = source
    else:
        raise DataError(f"{source!r:.60} is no time series; give a file, or two arrays: times, values.")
    what = str(source) if isinstance(source, str | Path) else "the time series"
    try:
        t, u = np.asarray(times, dtype=float), np.asarray(values, dtype=float)
    except (TypeError, ValueError) as problem:
        raise DataError(f"{what} holds something that is no number ({problem!s:.80}).") from problem
    if t.ndim != 1 or t.shape != u.shape or t.size < 2:
        raise DataError(
            f"{what} needs two times at least, and one value for each; it has {t.size} and {u.size}."
        )
    if not (np.all(np.isfinite(t)) and np.all(np.isfinite(u))):
        raise DataError(f"{what} holds NaN or inf; leave those rows out.")
    if not np.all(np.diff(t) > 0):
        raise DataError(f"The times of {what} do not increase; sort them, and give each once.")
    return t, u


def _columns(path: Path) -> tuple[Any, Any]:
    if not path.is_file():
        raise DataError(f"{path} is no file; a time series is a table with the columns t and u.")
    try:
        frame = read_frame(path)
    except DataError as problem:
        raise DataError(f"{path}: {problem}") from problem
    titles = [split_unit(str(title))[0] for title in frame.columns]
    timed = [number for number, title in enumerate(titles) if title.casefold() in TIME]
    if len(titles) != 2 or len(timed) != 1:
        raise DataError(f"{path} has the columns {names(titles)}; a time series has two, t and its values.")
    return frame.iloc[:, timed[0]].to_numpy(), frame.iloc[:, 1 - timed[0]].to_numpy()
