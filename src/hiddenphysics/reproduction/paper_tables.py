"""The paper's tables as data: cells with the printed numbers, and the forms of table that they stand in.

A table has one of three forms, each made by a function from the numbers in the order in which the paper prints them:
`statistics` over many pairs, `gaps` that grow or shrink, and the `single_fit` that a figure reports.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

Quartiles = Mapping[str, tuple[float, float, float]]
"""Parameter -> first quartile, median, third quartile."""

NOISES = {"clean": 0.0, "1 % noise": 0.01, "5 % noise": 0.05}
GAP_PAIRS = 20
"""The paper fits one pair for each gap; so many, evenly spaced in time, make a median."""


@dataclass(frozen=True)
class Published:
    """What the paper prints for one parameter: a median with its quartiles, or a single fit."""

    median: float
    first: float | None = None
    third: float | None = None


@dataclass(frozen=True)
class AuthorsSearch:
    """How the authors searched for their statistics: pair after pair, each from where the one before ended.

    A snapshot keeps its points and its noise in both of its pairs. All variances and lengths start at 1, the noise's
    variance at e⁻⁴. The numbers are those of the scripts that the authors have published with the paper.

    Attributes
    ----------
    evaluations
        How often the likelihood is evaluated for each pair; the search ends there, converged or not.
    start
        Parameter -> where the first pair starts; 0 for those not named.
    logarithms
        Parameters that are searched by their logarithm.
    pairs
        How many pairs of neighbours, from the beginning of the recording; None for all.
    """

    evaluations: int
    start: Mapping[str, float] = field(default_factory=dict)
    logarithms: tuple[str, ...] = ()
    pairs: int | None = None


@dataclass(frozen=True)
class Cell:
    """One experiment of a table: a gap, a noise level, and the paper's numbers.

    Attributes
    ----------
    row, column
        Where it stands in the table, in words: "1 % noise", "Δt = 0.5".
    steps
        The gap, in steps of the recording.
    noise
        Standard deviation of the added noise over that of each field.
    paper
        Parameter -> what the paper reports.
    data
        The data set, where it is not the study's.
    pairs
        How many pairs of snapshots, evenly spaced in time; None for all.
    first
        The one pair to use, by its first snapshot, instead of those.
    search
        How the authors searched, where they did so pair after pair.
    """

    row: str
    column: str
    steps: int
    noise: float
    paper: Mapping[str, Published]
    data: str | None = None
    pairs: int | None = None
    first: int | None = None
    search: AuthorsSearch | None = None

    def restricted(self, pairs: int) -> Cell:
        """Return the cell with so many pairs."""
        search = None if self.search is None else replace(self.search, pairs=pairs)
        return replace(self, pairs=pairs, search=search)


@dataclass(frozen=True)
class Table:
    """One of the paper's tables: its number, what it shows, its cells."""

    place: str
    title: str
    cells: tuple[Cell, ...]

    @property
    def rows(self) -> tuple[str, ...]:
        """Words of the rows, in order."""
        return tuple(dict.fromkeys(cell.row for cell in self.cells))

    @property
    def columns(self) -> tuple[str, ...]:
        """Words of the columns, in order."""
        return tuple(dict.fromkeys(cell.column for cell in self.cells))

    def cell(self, row: str, column: str) -> Cell | None:
        """Return the cell at a place, if there is one."""
        return next((c for c in self.cells if (c.row, c.column) == (row, column)), None)


def statistics(
    place: str,
    clean: Quartiles,
    one: Quartiles,
    five: Quartiles,
    *,
    pairs: int,
    published: int,
    search: AuthorsSearch,
) -> Table:
    """Return a table of statistics over neighbouring snapshots, at three noise levels.

    Parameters
    ----------
    clean, one, five
        The paper's numbers without noise, at 1 % and at 5 %.
    pairs
        How many pairs are fitted, evenly spaced in time, unless another number is asked for.
    published
        How many the paper has fitted.
    search
        How it has searched, pair after pair.
    """
    cells = tuple(
        Cell(
            "",
            word,
            1,
            noise,
            {p: Published(median, q1, q3) for p, (q1, median, q3) in numbers.items()},
            pairs=pairs,
            search=search,
        )
        for (word, noise), numbers in zip(NOISES.items(), (clean, one, five), strict=True)
    )
    return Table(
        place, f"Statistics over pairs of neighbouring snapshots, in the paper {published} of them", cells
    )


def gaps(
    place: str,
    title: str,
    steps: Mapping[str, int],
    clean: Mapping[str, Sequence[float]],
    one: Mapping[str, Sequence[float]],
    data: Sequence[str | None] | None = None,
) -> Table:
    """Return a table of growing or shrinking gaps, clean and at 1 % noise.

    Parameters
    ----------
    steps
        The gap as the paper prints it -> in steps of its recording.
    clean, one
        Parameter -> the paper's numbers, one for each gap.
    data
        The data set of each gap, where it is not the study's.
    """
    sets = data or [None] * len(steps)
    cells = tuple(
        Cell(
            word,
            f"Δt = {gap}",
            count,
            NOISES[word],
            {p: Published(values[k]) for p, values in numbers.items()},
            source,
            GAP_PAIRS,
        )
        for word, numbers in zip(("clean", "1 % noise"), (clean, one), strict=True)
        for k, ((gap, count), source) in enumerate(zip(steps.items(), sets, strict=True))
    )
    return Table(place, title, cells)


def single_fit(place: str, numbers: Mapping[str, float], gap: str) -> Table:
    """Return the one fit that the paper reports in a figure, as a table."""
    cell = Cell("", f"Δt = {gap}", 1, 0.0, {p: Published(value) for p, value in numbers.items()}, first=0)
    return Table(place, "Two histograms", (cell,))
