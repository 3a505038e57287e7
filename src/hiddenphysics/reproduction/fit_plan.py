"""From studies to single fits: which pairs, which draws, and what a worker is given."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from hiddenphysics.errors import DataError
from hiddenphysics.reproduction.cramer_rao import spread_of
from hiddenphysics.reproduction.paper_tables import AuthorsSearch, Cell
from hiddenphysics.reproduction.study import AUTHORS, FLOW, Study
from hiddenphysics.reproduction.study_data import Library, StudyData
from hiddenphysics.snapshots import Snapshots

DRAWS = 100_000
"""Distance between the seeds of two draws: more than any recording has snapshots."""


@dataclass(frozen=True)
class Unit:
    """One fit. What is drawn depends on everything here but the model: all models see the same points and noise."""

    study: str
    data: str
    steps: int
    noise: float
    model: str
    first: int
    seed: int
    picture: bool = False

    @property
    def key(self) -> str:
        """Its name in files, such as ``burgers/burgers/+1/noise 0.01/flow/pair 17/seed 0``."""
        what = f"{self.study}/{self.data}/+{self.steps}/noise {self.noise:g}"
        fit = f"{what}/{self.model}/pair {self.first}/seed {self.seed}"
        return fit + "/picture" if self.picture else fit

    @property
    def shape(self) -> tuple[str, str]:
        """Fits of one shape share compiled code when they run in one process; a chain is a shape of its own."""
        return self.study, f"{self.model} {self.noise:g} {self.seed}" if self.chained else self.model

    @property
    def chained(self) -> bool:
        """Whether it starts where the pair before ended, and so has to wait for it."""
        return self.model == AUTHORS

    @property
    def before(self) -> Unit | None:
        """The fit of the pair before, in a chain."""
        return replace(self, first=self.first - 1) if self.chained and self.first else None


@dataclass(frozen=True)
class FitJob:
    """What a worker is given: names and arrays, no files.

    Attributes
    ----------
    columns
        Time, coordinates by name, and fields and their known errors by name, of each snapshot.
    fitted
        Whether to fit, or only to build the likelihood.
    drawn
        Fields whose posterior is wanted for a picture; none for most fits.
    noises, spread
        Noise levels at which the limit of accuracy is wanted, and what they are relative to: the standard deviation
        of each field over the whole pair. Empty for all but clean fits of the flow.
    search, start
        The authors' search, and the values it starts from: all unknowns by name, or empty for a beginning.
    """

    key: str
    equation: str
    model: str
    columns: tuple[tuple[float, dict[str, np.ndarray], dict[str, np.ndarray]], ...]
    fitted: bool
    drawn: tuple[str, ...]
    noises: tuple[float, ...]
    spread: Mapping[str, float]
    search: AuthorsSearch | None
    start: Mapping[str, float]


@dataclass(frozen=True)
class Plan:
    """All fits of some studies."""

    studies: tuple[Study, ...]
    library: Library

    def study(self, name: str) -> Study:
        """Return a study by name."""
        return next(s for s in self.studies if s.name == name)

    @cached_property
    def units(self) -> tuple[Unit, ...]:
        """Every fit once: tables and figures share what they have in common. Fits of one shape stand together."""
        units = {unit.key: unit for study in self.studies for unit in self._all(study)}
        rank = {(s.name, m): k for s in self.studies for k, m in enumerate(s.models)}
        order = [s.name for s in self.studies]
        return tuple(sorted(units.values(), key=lambda u: (order.index(u.study), rank[u.study, u.model])))

    def of_cell(self, study: Study, cell: Cell, model: str) -> list[Unit]:
        """Return the fits of one cell; `DataError` where its recording has not been made."""
        data = self.library.open(study, cell.data)
        firsts = starts(len(data.times), cell.steps, cell.pairs) if cell.first is None else [cell.first]
        if model == AUTHORS:
            every = starts(len(data.times), cell.steps, None)
            firsts = [] if cell.search is None else every[: cell.search.pairs]
        return [
            Unit(study.name, data.label, cell.steps, cell.noise, model, first, seed)
            for first in firsts
            for seed in study.seeds
        ]

    def of_picture(self, study: Study) -> list[Unit]:
        """Return the fits of a figure's own pair: all noise levels and models."""
        label = self.library.open(study).label
        noises = dict.fromkeys(c.noise for c in study.tables[0].cells)
        first, seed = study.picture.first, study.seeds[0]
        return [
            Unit(study.name, label, 1, noise, model, first, seed, picture=noise in study.picture.noises)
            for model in study.models
            for noise in noises
            if model != AUTHORS
        ]

    def drawn(self, study: Study, noise: float) -> list[Unit]:
        """Return the fits whose posterior a figure may show at a noise level: the wanted model first."""
        wanted = study.picture.model
        units = [u for u in reversed(self.of_picture(study)) if u.picture and u.noise == noise]
        if not units:  # a chain draws no posterior: the pair is shown with its points alone
            label = self.library.open(study).label
            units = [Unit(study.name, label, 1, noise, wanted, study.picture.first, study.seeds[0])]
        return sorted(units, key=lambda u: u.model != wanted)

    def digest(self, unit: Unit) -> str:
        """Return the hash that tells whether a kept fit is still the one asked for."""
        study = self.study(unit.study)
        return study.digest(self._data(study, unit).digest, unit.model)

    def draw(self, unit: Unit) -> Snapshots:
        """Return the two snapshots as the models see them: noise relative to the whole field, then points."""
        study, pair = self.study(unit.study), self._whole(unit)
        seed = unit.seed * DRAWS + unit.first
        if not unit.chained:
            return _drawn(pair, unit.noise, study.points, seed)
        # In a chain, a snapshot keeps its points and its noise in both of its pairs, as one that was measured does.
        alone = (Snapshots([snapshot]) for snapshot in pair)
        points = study.points and study.points[1:]
        return Snapshots(_drawn(one, unit.noise, points, seed + k)[0] for k, one in enumerate(alone))

    def task(self, unit: Unit, start: Mapping[str, float] | None = None) -> FitJob:
        """Return what a worker needs for a fit; `start` is where the pair before ended, in a chain."""
        study, pair = self.study(unit.study), self.draw(unit)
        columns = tuple((s.t, {c: s[c] for c in s.coordinates}, {c: s[c] for c in s.columns}) for s in pair)
        drawn = (*pair.fields, *study.picture.hidden) if unit.picture else ()
        noises = study.noises if unit.model == FLOW and not unit.noise else ()
        spread = spread_of(self._whole(unit)) if noises else {}
        return FitJob(
            unit.key,
            study.equation,
            unit.model,
            columns,
            study.fitted,
            drawn,
            noises,
            spread,
            study.search if unit.chained else None,
            start or {},
        )

    def _all(self, study: Study) -> Iterator[Unit]:
        for table in study.tables:
            for cell in table.cells:
                for model in study.models:
                    try:
                        yield from self.of_cell(study, cell, model)
                    except DataError:
                        continue  # the report says which recording a cell waits for
        yield from self.of_picture(study)

    def _whole(self, unit: Unit) -> Snapshots:
        """Return the two snapshots of a fit at all their points, clean."""
        data = self._data(self.study(unit.study), unit)
        return data.take([unit.first, unit.first + unit.steps])

    def _data(self, study: Study, unit: Unit) -> StudyData:
        names = {study.data, *(c.data for t in study.tables for c in t.cells if c.data)}
        for name in sorted(names):
            try:
                data = self.library.open(study, name)
            except DataError:
                continue
            if data.label == unit.data:
                return data
        raise DataError(f"The fit {unit.key!r} belongs to none of the recordings of its study.")


def _drawn(snapshots: Snapshots, noise: float, points: Sequence[int] | None, seed: int) -> Snapshots:
    if noise:
        # Another stream than that of the points; the same for all levels, so that these differ in size only.
        snapshots = snapshots.with_noise(noise, seed + DRAWS // 2)
    return snapshots if points is None else snapshots.subsample(points, seed)


def starts(times: int, steps: int, pairs: int | None) -> list[int]:
    """Return the first snapshots of pairs, all or so many that are evenly spaced, in the middle of equal stretches.

    >>> starts(101, 1, 4)
    [12, 37, 62, 87]
    """
    possible = times - steps
    count = possible if pairs is None else min(pairs, possible)
    return [int((k + 0.5) * possible / count) for k in range(max(count, 0))]
