"""`read_experiments`: several runs from several files, from a folder, or from a table with a column that tells them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hiddenphysics.errors import DataError
from hiddenphysics.loader import cut
from hiddenphysics.snapshots.collection import Snapshots
from hiddenphysics.snapshots.experiment_collection import Experiments
from hiddenphysics.snapshots.readers.delimited_text import read_frame
from hiddenphysics.snapshots.readers.dispatch import READERS, by_name, in_file, is_record, read
from hiddenphysics.snapshots.readers.naming import TIME, split_unit
from hiddenphysics.snapshots.readers.request import Request
from hiddenphysics.snapshots.readers.table import from_frame
from hiddenphysics.snapshots.readers.tabular_files import parquet_frame, spreadsheet_frame
from hiddenphysics.snapshots.sentences import names
from hiddenphysics.snapshots.snapshot import Snapshot
from hiddenphysics.snapshots.validation import Missing

if TYPE_CHECKING:
    import pandas as pd

TABLES = (".csv", ".tsv", ".txt", ".dat", ".xlsx", ".parquet")
"""Endings of files that are tables: a column of them may tell the experiment."""


def read_experiments(
    source: Any,
    *,
    columns: Mapping[str, str] | None = None,
    missing: Missing = "refuse",
    time_unit: str | None = None,
    experiment: str | Sequence[str] | None = None,
) -> Experiments:
    """Read one run, or several that are to share their parameters.

    Parameters
    ----------
    source
        A list, or a mapping by name, of whatever `read` takes: paths, DataFrames, `Snapshots`, lists of `Snapshot`,
        each a run. A folder of files, each a run. Anything else is one run, and so are a list of `Snapshot` and a
        list of records with one time each.
    columns, missing, time_unit
        As in `read`.
    experiment
        Column of a table whose values tell the runs apart, or several of them; with several tables, those of each.

    Examples
    --------
    >>> table = {"t": [0, 0, 1, 1] * 2, "x": [0.0, 1.0] * 4, "u": [1.0, 2, 1, 3, 4, 5, 4, 6], "dish": [1] * 4 + [2] * 4}
    >>> read_experiments(table, experiment="dish").names
    ('1', '2')
    """
    request = Request(by_name(columns), missing, time_unit)
    parts = dict(_parts(source))
    if experiment is not None:
        titles = (experiment,) if isinstance(experiment, str) else tuple(experiment)
        runs: dict[str, Snapshots] = {}
        for name, part in parts.items():
            groups = _groups(part, titles, request)
            runs |= {
                f"{name} {group}".strip() if len(parts) > 1 else group: run for group, run in groups.items()
            }
        return Experiments(runs)
    if len(parts) == 1 and isinstance(source, Snapshots) and not columns and time_unit is None:
        return Experiments.single(source)
    whole = partial(read, columns=columns, missing=missing, time_unit=time_unit)
    runs = {name: whole(part) for name, part in parts.items()}
    if len(runs) > 1 and isinstance(source, list | tuple) and all(len(run) == 1 for run in runs.values()):
        # Records of one time each are no runs: nothing changes in them. Together they are one.
        return Experiments.single(whole(list(source)))
    return Experiments(runs)


def _parts(source: Any) -> Iterator[tuple[str, Any]]:
    """Yield what stands for a run by itself, with its name; "" for the only one."""
    if isinstance(source, Experiments):
        yield from zip(source.names, source, strict=True)
    elif _is_by_name(source):
        yield from ((str(name), run) for name, run in source.items())
    elif isinstance(source, list | tuple) and source and all(map(_is_run, source)):
        titles = [_stem(run) for run in source]
        told = len(set(titles)) == len(titles) and all(titles)
        yield from zip(titles if told else map(str, range(1, len(titles) + 1)), source, strict=True)
    elif isinstance(source, str | Path) and (files := _files(Path(source).expanduser())):
        yield from zip(map(_stem, files), files, strict=True)
    else:
        if isinstance(source, list | tuple) and any(map(_is_run, source)):
            strange = next(one for one in source if not _is_run(one))
            raise DataError(
                f"A {type(strange).__name__} stands among the experiments; each is a path, a table, Snapshots, or a "
                "list of Snapshot that is not empty. Leave it out, or correct it."
            )
        yield "", source


def _is_by_name(source: Any) -> bool:
    """Whether `source` is a mapping of names to runs; an xarray Dataset is one of names to arrays, and so is a time."""
    if not isinstance(source, Mapping) or not source or hasattr(source, "data_vars"):
        return False
    return not any(str(name).casefold() in TIME for name in source) and all(map(_is_run, source.values()))


def _is_run(source: Any) -> bool:
    """Whether `source` is a run by itself: in a list of such each is one."""
    if isinstance(source, Snapshots) or is_record(source):
        return True
    return isinstance(source, list | tuple) and bool(source) and all(isinstance(s, Snapshot) for s in source)


def _stem(source: Any) -> str:
    return Path(source).stem if isinstance(source, str | Path) else ""


def _files(path: Path) -> list[Path]:
    """Return the files of a folder that holds runs, in order of their names; none for a file, or a folder of .npy."""
    try:
        if not path.is_dir() or path.suffix.lower() in READERS:
            return []
        files = sorted(one for one in path.iterdir() if one.suffix.lower() in READERS)
    except OSError:
        return []
    return [] if any(one.suffix.lower() == ".npy" for one in files) else files


# ---- a column that tells them apart --------------------


def _groups(source: Any, titles: tuple[str, ...], request: Request) -> dict[str, Snapshots]:
    """Return the runs of one table by the values of some columns, in the order of their first rows."""
    if isinstance(source, str | Path):
        return in_file(Path(source), lambda path, ending: _of_file(path, ending, titles, request))
    import pandas as pd

    if isinstance(source, pd.DataFrame):
        return _of_frame(source, titles, request)
    if isinstance(source, Mapping):
        try:
            return _of_frame(pd.DataFrame(dict(source)), titles, request)
        except ValueError as problem:
            raise DataError(
                f"The arrays have other lengths ({problem!s:.100}); a column that tells experiments needs a table, one "
                "row per measurement."
            ) from problem
    raise DataError(
        f"experiment={names(titles)} names a column, and a {type(source).__name__} has none. Give a table, or a list "
        "of runs without experiment=."
    )


def _of_file(path: Path, ending: str, titles: tuple[str, ...], request: Request) -> dict[str, Snapshots]:
    if ending not in TABLES:
        raise DataError(
            f"a column {names(titles)} was named to tell the experiments; {ending} is no table. Give a list of files, "
            f"one for each, or one of {names(TABLES)}."
        )
    if ending == ".xlsx":
        frame, notes = spreadsheet_frame(path)
        return _of_frame(frame, titles, request, *notes)
    return _of_frame(parquet_frame(path) if ending == ".parquet" else read_frame(path), titles, request)


def _of_frame(
    frame: pd.DataFrame, titles: tuple[str, ...], request: Request, *notes: str
) -> dict[str, Snapshots]:
    if any(name is not None for name in frame.index.names):
        frame = frame.reset_index()
    plain = {split_unit(str(title))[0]: title for title in frame.columns} | {str(t): t for t in frame.columns}
    absent = [title for title in titles if title not in plain]
    if absent:
        raise DataError(
            f"there is no column {cut(absent[0])} to tell the experiments; the columns are "
            f"{names(frame.columns)}. Type --experiment with one of them (experiment=)."
        )
    keys = [plain[title] for title in titles]
    if frame[keys].isna().any(axis=None):
        row = int(frame[keys].isna().any(axis=1).to_numpy().argmax())
        raise DataError(
            f"row {row} (counted from 0) has no {names(titles)}: which experiment it belongs to is not known."
        )
    runs = {}
    for values, rows in frame.groupby(keys, sort=False):
        name = " ".join(f"{value:g}" if isinstance(value, float) else str(value) for value in values)
        try:
            runs[name] = from_frame(rows.drop(columns=keys).reset_index(drop=True), request, *notes)
        except DataError as problem:
            raise DataError(f"experiment {cut(name)}: {problem}") from problem
    return runs
