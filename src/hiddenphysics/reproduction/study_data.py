"""Where a study's snapshots come from: the project's own data sets, or the original files."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from hiddenphysics import datasets
from hiddenphysics.datasets import entry
from hiddenphysics.errors import DataError
from hiddenphysics.reproduction.study import Study
from hiddenphysics.snapshots import Snapshots, read


@dataclass(frozen=True)
class StudyData:
    """The recording that a study is fitted to, from which snapshots are taken by their indices.

    Attributes
    ----------
    label
        Name of the data set or of the file.
    digest
        Hash of its values, or of what they follow from.
    times
        All times (T,).
    take
        Indices of snapshots -> these snapshots: the study's fields under the equation's names, with known errors.
    """

    label: str
    digest: str
    times: NDArray[np.float64]
    take: Callable[[list[int]], Snapshots]


class Library:
    """Opens the data of studies, each once.

    Parameters
    ----------
    data
        An original file, or a folder of them; studies without a file there use the project's own data.
    folder
        Where the project's own data sets are kept; the user's cache by default.
    """

    def __init__(self, data: Path | None = None, folder: Path | None = None) -> None:
        self._data, self.folder = data, folder
        self._open: dict[tuple[str, str], StudyData] = {}
        if data is not None and not data.exists():
            raise DataError(f"--data {data} was given; there is no such file or folder.")

    def open(self, study: Study, name: str | None = None) -> StudyData:
        """Return the data of a study: its own, or a data set of another name."""
        key = (study.name, name or study.data)
        if key not in self._open:
            self._open[key] = self._opened(study, key[1])
        return self._open[key]

    def _opened(self, study: Study, name: str) -> StudyData:
        original = self._original(study) if name == study.data else None
        if original is not None:
            return _from_file(study, original)
        try:
            return self._named(study, name)
        except DataError:
            # Others stand in for a recording that was not made, not for one that is damaged.
            made = datasets.path(name, folder=self.folder).exists()
            if made or name != study.data or study.fallback is None:
                raise
            return self._named(study, study.fallback)

    def _original(self, study: Study) -> Path | None:
        if self._data is None or self._data.is_file():
            return self._data
        return next((self._data / file for file in study.files if (self._data / file).exists()), None)

    def _named(self, study: Study, name: str) -> StudyData:
        whole = datasets.load(name, folder=self.folder)
        chosen = whole[[str(f) for f in whole.data_vars if _base(str(f)) in study.fields]]
        return StudyData(
            name,
            entry(name).digest(name),
            np.asarray(whole["t"].values, float),
            lambda indices: read(chosen.isel(t=indices)),
        )


def _from_file(study: Study, file: Path) -> StudyData:
    snapshots = read(file)
    given = snapshots.complex_fields or snapshots.fields
    if len(given) != len(study.fields):
        raise DataError(
            f"{file.name} holds the fields {', '.join(given)}; the study {study.name!r} needs "
            f"{len(study.fields)}: {', '.join(study.fields)}. Choose its own file, or a folder: --data FOLDER."
        )
    named = snapshots.rename(dict(zip(given, study.fields, strict=True)))
    digest = hashlib.sha256(file.read_bytes()).hexdigest()[:16]
    return StudyData(file.name, digest, named.times, lambda indices: Snapshots(named[i] for i in indices))


def _base(field: str) -> str:
    return field.removesuffix("_re").removesuffix("_im")
