"""`Snapshots`: an ordered, immutable collection of snapshots of the same fields."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hiddenphysics.errors import DataError
from hiddenphysics.snapshots import sampling
from hiddenphysics.snapshots.agreement import agreed
from hiddenphysics.snapshots.columns import IM, RE, deviation_name
from hiddenphysics.snapshots.provenance import Provenance
from hiddenphysics.snapshots.sampling import Predicate
from hiddenphysics.snapshots.sentences import headline, names, number, paragraph
from hiddenphysics.snapshots.snapshot import Snapshot

if TYPE_CHECKING:
    import pandas as pd


class Snapshots(Sequence[Snapshot]):
    """Snapshots in order of time; a sequence that cannot change.

    Parameters
    ----------
    snapshots
        Snapshots in any order: they are sorted by time, because their order in a list carries no meaning.
        Equal times, other coordinates or other fields are refused. Where a field `h` is complex at some
        times, a real `h` at another (Schrödinger's initial state, say) gets the imaginary part 0.
    provenance
        Units, the date of t = 0, and what was done to the data on the way in; `read` tells it.

    Examples
    --------
    >>> a = Snapshot(t=0.0, x=[0.0, 0.5, 1.0], u=[1.0, 0.7, 0.2])
    >>> b = Snapshot(t=0.1, x=[0.1, 0.6], u=[0.9, 0.6])
    >>> Snapshots([b, a])
    Snapshots(2 snapshots of u in x, t from 0 to 0.1, 2 to 3 points each)
    >>> Snapshots([b, a]).times
    array([0. , 0.1])
    """

    __slots__ = ("_snapshots", "provenance")

    def __init__(self, snapshots: Iterable[Snapshot], provenance: Provenance | None = None) -> None:
        if provenance is None:
            provenance = snapshots.provenance if isinstance(snapshots, Snapshots) else Provenance()
        self._snapshots = agreed(snapshots)
        self.provenance: Provenance = provenance

    @overload
    def __getitem__(self, index: int) -> Snapshot: ...
    @overload
    def __getitem__(self, index: slice) -> Snapshots: ...
    def __getitem__(self, index: int | slice) -> Snapshot | Snapshots:
        chosen = self._snapshots[index]
        return chosen if isinstance(chosen, Snapshot) else self._with(chosen)

    def __len__(self) -> int:
        return len(self._snapshots)

    def __iter__(self) -> Iterator[Snapshot]:
        return iter(self._snapshots)

    def __repr__(self) -> str:
        return f"Snapshots({headline(self)})"

    def _with(self, snapshots: Iterable[Snapshot]) -> Snapshots:
        return Snapshots(snapshots, self.provenance)

    @property
    def units(self) -> dict[str, str]:
        """Unit of the time `t`, of each coordinate and of each field, where the data tell one."""
        every = ("t", *self.coordinates, *self.fields)
        return {name: unit for name in every if (unit := self.provenance.unit_of(name))}

    @property
    def notes(self) -> tuple[str, ...]:
        """What was done to the data on the way in, and rules that they meet: a sentence each."""
        exact = [deviation_name(f) for f in self.fields if self._has_zero(deviation_name(f))]
        rule = "{} is 0 at some points: the error of those values is the learned noise alone."
        return (*self.provenance.notes, *map(rule.format, exact))

    def _has_zero(self, column: str) -> bool:
        return any(column in s.columns and s.span(column)[0] == 0.0 for s in self)

    @property
    def times(self) -> NDArray[np.float64]:
        """The times, increasing, shape (T,)."""
        return np.array([snapshot.t for snapshot in self._snapshots])

    @property
    def coordinates(self) -> tuple[str, ...]:
        """Names of the D coordinates, the same in every snapshot."""
        return self._snapshots[0].coordinates

    @property
    def fields(self) -> tuple[str, ...]:
        """Names of the F real fields, the same in every snapshot."""
        return self._snapshots[0].fields

    @property
    def complex_fields(self) -> tuple[str, ...]:
        """Names of the complex fields: `h` where `fields` holds `h_re` and `h_im`."""
        return self._snapshots[0].complex_fields

    def require_at_least(self, count: int, why: str) -> None:
        """Refuse fewer than `count` snapshots; `why` ends the sentence "… are needed because …"."""
        if len(self) < count:
            given = "one snapshot was" if len(self) == 1 else f"{len(self)} snapshots were"
            raise DataError(
                f"{given} given; {count} are needed because {why}."
                " Add Snapshot(t=..., x=..., u=...) at another time."
            )

    def require_informative(self) -> None:
        """Refuse a field that is the same at every point of a snapshot.

        A long recording may hold one (a velocity that is 0 at the start); what is learned from may not.
        """
        for snapshot in self:
            for name in snapshot.constant_fields:
                raise DataError(
                    f"{name} is {number(snapshot.span(name)[0])} at every point at t = {number(snapshot.t)}: a"
                    " constant field carries no information about the equation. Leave out this snapshot or this"
                    " field."
                )

    def at(self, times: ArrayLike, tolerance: float | None = None) -> Snapshots:
        """Return the snapshots nearest to the asked times.

        Parameters
        ----------
        times
            One time or several.
        tolerance
            Largest accepted distance. By default 1 % of the smallest gap between the available times: enough
            for the digits lost in writing a file, too little to take a neighbour by mistake.
        """
        return self._with(self._snapshots[i] for i in sampling.nearest(self.times, times, tolerance))

    def subsample(self, counts: int | Sequence[int], seed: int) -> Snapshots:
        """Draw points at random without replacement, other points in each snapshot.

        `counts` is one number for all snapshots or one for each. The same seed draws the same points.
        """
        return self._with(sampling.subsample(self, counts, seed))

    def where(self, predicate: Predicate) -> Snapshots:
        """Keep the points where the predicate holds, as if the others had not been measured.

        Parameters
        ----------
        predicate
            Called for every snapshot with the coordinates x[, y[, z]] of its N points, each of shape (N,);
            returns N booleans. ``where(lambda x: abs(x) > 0.5)`` cuts a gap; ``where(lambda x, y: x**2 +
            y**2 > 1)`` a disc.
            A snapshot on disk is shown piece by piece; what is kept of it is in memory.
        """
        return self._with(sampling.where(self, predicate))

    def with_noise(self, level: float, seed: int) -> Snapshots:
        """Add independent Gaussian noise of standard deviation ``level * std(field)`` to every value.

        `std(field)` is taken over all points of all snapshots in this object, one number for each real field;
        the two parts of a complex field each have their own. So choose the snapshots first (`at`), then add
        noise, then `subsample`: the level then refers to the whole field, not to the points drawn.
        """
        return self._with(sampling.with_noise(self, level, seed))

    def rename(self, fields: Mapping[str, str]) -> Snapshots:
        """Give fields other names, as in ``rename({"usol": "u"})``; a complex `h` keeps its two parts."""
        known = (*self.fields, *self.complex_fields)
        unknown = [name for name in fields if name not in known]
        if unknown:
            raise DataError(f"There is no field {names(unknown)} to rename; the fields are {names(known)}.")
        new = {h + part: fields[h] + part for h in self.complex_fields if h in fields for part in (RE, IM)}
        new |= {name: fields[name] for name in self.fields if name in fields}
        titles = [new.get(name, name) for name in self.fields]
        if len(set(titles)) < len(titles):
            raise DataError(
                f"Renaming would leave two fields of one name: {names(titles)}. Choose other names."
            )
        return self.select(dict(zip(self.fields, titles, strict=True)))

    def select(self, fields: Mapping[str, str]) -> Snapshots:
        """Keep some of the real fields, with their known deviations, under new names: ``{old: new}``."""
        chosen = dict(fields)
        chosen |= {deviation_name(old): deviation_name(new) for old, new in fields.items()}
        pairs = {
            old.removesuffix(RE): new.removesuffix(RE) for old, new in fields.items() if old.endswith(RE)
        }
        return Snapshots(
            (s.select({old: new for old, new in chosen.items() if old in s.columns}) for s in self),
            self.provenance.renamed(pairs | chosen),
        )

    def describe(self) -> str:
        """Say in a few sentences what is here: fields, times, points, ranges."""
        return paragraph(self)

    def to_table(self) -> pd.DataFrame:
        """Return one row per point: t, coordinates, fields, known deviations; `read` takes it back."""
        import pandas as pd

        return pd.concat(
            (
                pd.DataFrame({"t": s.t} | {name: s[name] for name in (*s.coordinates, *s.columns)})
                for s in self
            ),
            ignore_index=True,
        )

    @property
    def is_gridded(self) -> bool:
        """Whether every snapshot has the same points, as a recording on a fixed grid has."""
        return all(s.has_points_of(self._snapshots[0]) for s in self._snapshots[1:])

    def field_grid(self, field: str) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        """Return times (T,), x (N,) increasing and values (T, N) of a recording on a fixed 1-D grid."""
        if self.coordinates != ("x",) or not self.is_gridded:
            raise DataError(
                "A field over (t, x) needs one coordinate and the same points at every time; these have"
                f" {names(self.coordinates)} and {'the same' if self.is_gridded else 'other'} points."
                " Take the snapshots one by one instead, as in snapshots[0]['u']."
            )
        order = np.argsort(self._snapshots[0]["x"])
        return self.times, self._snapshots[0]["x"][order], np.stack([s[field][order] for s in self])
