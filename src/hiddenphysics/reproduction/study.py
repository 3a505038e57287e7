"""`Study`: one of the paper's experiments as plain data, with the numbers that the paper reports."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace

from hiddenphysics.errors import DataError
from hiddenphysics.reproduction.paper_tables import AuthorsSearch, Table

PAPER, MIDPOINT, FLOW = "paper", "midpoint", "flow"
AUTHORS = "authors"
"""Not a model of its own: the paper's, whose answer is where the authors' search ends, not the optimum."""


@dataclass(frozen=True)
class Picture:
    """One of the paper's figures: its number, which pair of neighbouring snapshots, which model draws the bands."""

    place: str
    title: str
    first: int
    model: str
    noises: tuple[float, ...] = (0.0, 0.05)
    hidden: tuple[str, ...] = ()
    """Fields that nobody measured and that are drawn all the same."""


@dataclass(frozen=True)
class Study:
    """One equation of the paper: data, points, truth, tables, figure.

    Attributes
    ----------
    name, group
        Its own name, and the word that chooses it (both fractional studies answer to one).
    title, story
        A heading, and a few sentences for the reader of the report.
    equation, truth
        PDE text, and the true value of each of its parameters.
    symbols
        Parameter -> its symbol in the paper, such as "λ₁".
    fields
        The measured fields, in the equation's words.
    data, fallback
        Name of the data set, and of a smaller one for when that has not been made.
    files
        Names of the original file, for `--data`.
    points
        Points drawn from the two snapshots; None for all of them.
    models
        Forward models, each given the same draws; `AUTHORS` counts as one, with draws of its own, in the tables whose
        cells have a search.
    seeds
        One draw of points and noise for each.
    """

    name: str
    group: str
    title: str
    story: str
    equation: str
    truth: Mapping[str, float]
    symbols: Mapping[str, str]
    fields: tuple[str, ...]
    data: str
    tables: tuple[Table, ...]
    picture: Picture
    points: tuple[int, int] | None
    models: tuple[str, ...] = (AUTHORS, PAPER, MIDPOINT, FLOW)
    fallback: str | None = None
    files: tuple[str, ...] = ()
    seeds: tuple[int, ...] = (0,)
    fitted: bool = True
    """Whether fits are run; a rehearsal of a heavy study only builds its likelihood."""

    def __post_init__(self) -> None:
        for table in self.tables:
            for cell in table.cells:
                if set(cell.paper) != set(self.truth) or cell.steps < 1 or not 0 <= cell.noise < 1:
                    raise DataError(
                        f"{table.place} of the study {self.name!r}: the cell ({cell.row}, {cell.column}) needs numbers "
                        f"for {', '.join(self.truth)}, a gap of one step or more and a noise level from 0 to 1."
                    )

    @property
    def noises(self) -> tuple[float, ...]:
        """Noise levels of the statistics, its first table, without the clean one."""
        return tuple(dict.fromkeys(cell.noise for cell in self.tables[0].cells if cell.noise))

    @property
    def search(self) -> AuthorsSearch | None:
        """How the authors searched for the statistics, the first table."""
        return next((cell.search for cell in self.tables[0].cells), None)

    def digest(self, data: str, model: str = PAPER) -> str:
        """Return a hash of everything that a fit depends on, the data's own digest included.

        How many pairs are fitted and what the paper reports do not enter: fits stay usable when those change.
        """
        from importlib.metadata import version

        content: list[object] = [
            version("hiddenphysics"),
            self.equation,
            self.points,
            self.fields,
            self.fitted,
            self.noises,
            data,
        ]
        if model == AUTHORS and self.search is not None:
            content.append(asdict(replace(self.search, pairs=None)))
        return hashlib.sha256(json.dumps(content).encode()).hexdigest()[:16]

    def restricted(
        self, models: tuple[str, ...] | None = None, pairs: int | None = None, draws: int | None = None
    ) -> Study:
        """Return the study with the models that are named, so many pairs in every cell, and so many draws of each."""
        tables = self.tables
        if pairs is not None:
            tables = tuple(replace(t, cells=tuple(c.restricted(pairs) for c in t.cells)) for t in self.tables)
        chosen = self.models if models is None else tuple(m for m in models if m in self.models)
        seeds = self.seeds if draws is None else tuple(range(draws))
        return replace(self, models=chosen, tables=tables, seeds=seeds)
