"""`Experiments`: several runs of the same thing, each with snapshots of its own; immutable, with names."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import overload

from hiddenphysics.errors import DataError
from hiddenphysics.snapshots.collection import Snapshots
from hiddenphysics.snapshots.provenance import Provenance, common
from hiddenphysics.snapshots.sentences import headline, names, plural

MOST_LISTED = 12
"""Experiments that a description tells one by one."""


class Experiments(Sequence[Snapshots]):
    """Runs that share an equation and its parameters, and nothing else: other states, times and points in each.

    Parameters
    ----------
    runs
        Name -> snapshots, or snapshots alone, which are called 1, 2, …. The fields, the coordinates and the units
        must be the same in all; the order of the fields is that of the first run.

    Examples
    --------
    >>> from hiddenphysics.snapshots import Snapshot
    >>> def run(shift):
    ...     return Snapshots([Snapshot(t=t, x=[0.0, 0.5, 1.0], u=[shift, t, 2 * t]) for t in (0.0, 0.1)])
    >>> both = Experiments({"cold": run(0.1), "warm": run(0.3)})
    >>> both.names
    ('cold', 'warm')
    >>> both["warm"][0]["u"]
    array([0.3, 0. , 0. ])
    """

    __slots__ = ("_runs", "names")

    def __init__(self, runs: Mapping[str, Snapshots] | Iterable[Snapshots]) -> None:
        if isinstance(runs, Mapping):
            titles, every = [str(name) for name in runs], list(runs.values())
        else:
            every = list(runs)
            titles = [str(number) for number in range(1, len(every) + 1)]
        if not every:
            raise DataError("No experiment was given; give at least one run of two or more snapshots.")
        strangers = [one for one in every if not isinstance(one, Snapshots)]
        if strangers:
            raise DataError(
                f"Experiments takes Snapshots; a {type(strangers[0]).__name__} was given. Write "
                "Experiments([run1, run2]) with run1 = hiddenphysics.read(...), or read_experiments([...])."
            )
        self.names: tuple[str, ...] = tuple(titles)
        self._runs = tuple(
            _alike(title, run, titles[0], every[0]) for title, run in zip(titles, every, strict=True)
        )

    @classmethod
    def single(cls, run: Snapshots, name: str = "") -> Experiments:
        """Return one run, which needs no name."""
        return cls({name: run})

    @overload
    def __getitem__(self, index: int | str) -> Snapshots: ...
    @overload
    def __getitem__(self, index: slice) -> Experiments: ...
    def __getitem__(self, index: int | str | slice) -> Snapshots | Experiments:
        if isinstance(index, slice):
            return Experiments(dict(zip(self.names[index], self._runs[index], strict=True)))
        return self._runs[self.number(index)]

    def __len__(self) -> int:
        return len(self._runs)

    def __iter__(self) -> Iterator[Snapshots]:
        return iter(self._runs)

    def __repr__(self) -> str:
        return f"Experiments({plural(len(self), 'experiment')} of {', '.join(self.fields)})"

    def number(self, index: int | str) -> int:
        """Return the place of an experiment, given by its name or counted from 0."""
        if isinstance(index, str):
            if index in self.names:
                return self.names.index(index)
        elif -len(self) <= index < len(self):
            return int(index) % len(self)
        raise DataError(
            f"The experiment {index!r:.60} was asked for; there are {names(self.names)}, by name or counted from 0."
        )

    @property
    def only(self) -> Snapshots:
        """The one run where there is one; several are refused."""
        if len(self) > 1:
            raise DataError(
                f"There are {len(self)} experiments ({names(self.names)}), and this is asked of one. Ask one of them, "
                f"as in fit.experiments[{self.names[0]!r}] or experiments[{self.names[0]!r}]."
            )
        return self._runs[0]

    @property
    def fields(self) -> tuple[str, ...]:
        """Names of the F real fields, the same in every run."""
        return self._runs[0].fields

    @property
    def coordinates(self) -> tuple[str, ...]:
        """Names of the D coordinates, the same in every run."""
        return self._runs[0].coordinates

    @property
    def units(self) -> dict[str, str]:
        """Unit of the time, of each coordinate and of each field, where the data tell one."""
        return self._runs[0].units

    @property
    def provenance(self) -> Provenance:
        """What all runs tell beside their numbers; every sentence once."""
        return common(run.provenance for run in self)

    @property
    def notes(self) -> tuple[str, ...]:
        """What was done to the data of any run on the way in: every sentence once."""
        return tuple(dict.fromkeys(note for run in self for note in run.notes))

    def each(self, function: Callable[[Snapshots], Snapshots]) -> Experiments:
        """Return what a function makes of every run, under the same names; an error names the run."""
        made = {}
        for name, run in zip(self.names, self, strict=True):
            try:
                made[name] = function(run)
            except DataError as problem:
                raise self.named(name, problem) from problem
        return Experiments(made)

    def named(self, name: str, problem: DataError) -> DataError:
        """Return an error with the experiment's name in front, where there are several."""
        return DataError(f"Experiment {name}: {problem}") if len(self) > 1 else problem

    def describe(self) -> str:
        """Say in a few sentences what is here."""
        if len(self) == 1:
            return self.only.describe()
        told = [f"{name}: {headline(run)}" for name, run in zip(self.names, self, strict=True)]
        more = len(told) - MOST_LISTED
        listed = told[:MOST_LISTED] + ([f"and {more} more"] if more > 0 else [])
        return f"{plural(len(self), 'experiment')}. {'; '.join(listed)}."


def _alike(name: str, run: Snapshots, first_name: str, first: Snapshots) -> Snapshots:
    """Return a run with its fields in the first one's order; refuse other fields, coordinates or units."""
    for what, here, there in (
        ("coordinates", run.coordinates, first.coordinates),
        ("fields", sorted(run.fields), sorted(first.fields)),
    ):
        if here != there:
            raise DataError(
                f"The experiment {first_name} has the {what} {names(there)}, the experiment {name} has {names(here)}; "
                "experiments that are fitted together must have the same. Leave out what was not measured in all of "
                "them, or name the columns to use, as in --column u=temperature."
            )
    own, others = run.units, first.units
    for title in others:
        if title in own and own[title] != others[title]:
            raise DataError(
                f"{title} is in {others[title]} in the experiment {first_name}, and in {own[title]} in the experiment "
                f"{name}; parameters that they share need one unit. Convert one of them, or name the unit of time: "
                "--time-unit h."
            )
    if run.fields == first.fields:
        return run
    return run.select({field: field for field in first.fields})
