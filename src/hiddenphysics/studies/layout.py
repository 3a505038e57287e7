"""The paper's two kinds of tables, from the numbers in the order in which it prints them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hiddenphysics.studies.study import Cell, Published, Search, Table

Quartiles = Mapping[str, tuple[float, float, float]]
"""Parameter -> first quartile, median, third quartile."""

NOISES = {"clean": 0.0, "1 % noise": 0.01, "5 % noise": 0.05}
GAP_PAIRS = 20
"""The paper fits one pair for each gap; so many, evenly spaced in time, make a median."""


def statistics(
    place: str,
    clean: Quartiles,
    one: Quartiles,
    five: Quartiles,
    *,
    pairs: int,
    published: int,
    search: Search,
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


def single(place: str, numbers: Mapping[str, float], gap: str) -> Table:
    """Return the one fit that the paper reports in a figure, as a table."""
    cell = Cell("", f"Δt = {gap}", 1, 0.0, {p: Published(value) for p, value in numbers.items()}, first=0)
    return Table(place, "Two histograms", (cell,))
