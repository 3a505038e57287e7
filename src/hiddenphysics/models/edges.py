"""What happens at the edges of the data, as a user says it: for all of them, or for one end of a coordinate."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from hiddenphysics.equation import Equation, reflects
from hiddenphysics.errors import DataError, ModelError
from hiddenphysics.snapshots import (
    Experiments,
    Snapshot,
    Snapshots,
    TimeSeries,
    deviation_name,
    read_time_series,
)

DRIVEN, STILL, MEASURED, FIXED, REFLECTING = "driven", "still", "measured", "fixed", "reflecting"
GIVEN = "given"

KINDS = {
    DRIVEN: "something unknown comes in at every snapshot",
    STILL: "nothing comes in but what is there at the first snapshot",
    MEASURED: "the outermost sensor's values are the field's there",
    FIXED: "u = 0",
    REFLECTING: "u_x = 0",
}
"""What may be said of an end, and what it means."""

TOLD = KINDS | {GIVEN: "the field there is a known time series"}
"""The same, and what is said by the name of a file, or by arrays."""

AFTER = 1e-9
"""Part of the span by which snapshots may lie beyond a time series: rounding."""

WALLS = {FIXED: -1, REFLECTING: 1}
"""Ends that fields are mirrored at, and the sign with which they are."""

EVERYWHERE = (DRIVEN, STILL)
"""What may be said of all edges at once."""

AT = 0.01
"""Part of the data's extent by which an end that sensors stand at may be off."""

BEYOND = 1.0
"""Part of the data's extent by which a wall may lie beyond the outermost points."""

Boundary = str | Sequence[str] | Mapping[str, str | TimeSeries]
"""``"driven"``, ``"x=0:measured"``, several such, or ``{"x=0": "measured"}``; ``{"x=0": "surface.csv"}`` or ``{"x=0":
(times, values)}`` where the field there is known."""

_PLACE = re.compile(r"\s*([A-Za-z]\w*)\s*=\s*([-+]?[\d.]+(?:[eE][-+]?\d+)?)\s*")
_CONDITION = re.compile(r"\s*(?P<field>[A-Za-z]\w*?)(?:_(?P<along>[xyz]))?\s*=\s*0(?:\.0*)?\s*")


@dataclass(frozen=True)
class End:
    """One end of a coordinate.

    Attributes
    ----------
    side, high
        Number of the coordinate, and whether it is its high end.
    at
        Where it is.
    kind
        One of `TOLD`.
    series
        Times and values (T,) of the field there, where they are given.
    """

    side: int
    high: bool
    at: float
    kind: str
    series: tuple[tuple[float, ...], tuple[float, ...]] | None = None

    def beside(self, run: Snapshots) -> Snapshots:
        """Return a run of one field whose snapshots have one more point: this end, with what the series tells there."""
        if self.series is None:
            return run
        if len(run.fields) != 1:
            raise DataError(
                f"A time series was given at {self._place(run)}, and the data hold {', '.join(run.fields)}: of which "
                "of them it is cannot be told. Give data of one field, or put a point at that end into every snapshot "
                "and say measured."
            )
        (t, u), times = (np.array(column) for column in self.series), run.times
        slack = AFTER * (times[-1] - times[0])
        if times[0] < t[0] - slack or times[-1] > t[-1] + slack:
            raise DataError(
                f"The time series at {self._place(run)} is known from t = {t[0]:g} to {t[-1]:g}; the snapshots lie "
                f"between {times[0]:g} and {times[-1]:g}. Give it over all that time, or leave out snapshots: --times."
            )
        if any(np.any(snapshot.points[:, self.side] == self.at) for snapshot in run):
            raise DataError(
                f"A time series was given at {self._place(run)}, where a sensor stands, too. Leave that sensor out, or "
                f"say {self._place(run).replace(' ', '')}:measured, which takes its values."
            )
        return Snapshots(
            (self._with_point(one, float(np.interp(one.t, t, u))) for one in run), run.provenance
        )

    def _place(self, run: Snapshots) -> str:
        return f"{run.coordinates[self.side]} = {self.at:g}"

    def _with_point(self, snapshot: Snapshot, value: float) -> Snapshot:
        (axis,), (field,) = snapshot.coordinates, snapshot.fields
        columns = {field: np.append(snapshot[field], value)}
        if field in snapshot.stds:
            columns[deviation_name(field)] = np.append(snapshot.stds[field], snapshot.stds[field].min())
        return Snapshot.from_columns(snapshot.t, {axis: np.append(snapshot[axis], self.at)}, columns)


@dataclass(frozen=True)
class Edges:
    """What is said of all edges, None where nothing is, and of single ends."""

    everywhere: str | None = None
    ends: tuple[End, ...] = ()

    @classmethod
    def of(cls, boundary: Boundary | None, equation: Equation, experiments: Experiments) -> Edges:
        """Read what a user has said; refuse what is no end of the data, and what the equation does not allow."""
        everywhere: str | None = None
        ends: list[End] = []
        for place, kind in _said(boundary):
            if place is None:
                if kind not in EVERYWHERE:
                    raise ModelError(
                        f"boundary={kind!r:.60} was given. {_needed()}; nothing at all leaves it to the data."
                    )
                everywhere = kind
                continue
            end = _end(place, kind, experiments)
            if any((one.side, one.high) == (end.side, end.high) for one in ends):
                raise ModelError(f"The end {place.strip()} is spoken of twice; say one thing of it.")
            ends.append(end)
        made = cls(everywhere, tuple(ends))
        made._check(equation, experiments)
        return made

    def __bool__(self) -> bool:
        return self.everywhere is not None or bool(self.ends)

    def kind(self, *, high: bool) -> str | None:
        """Return what is said of an end of a line, or of all edges; None where nothing is."""
        return next((end.kind for end in self.ends if end.high == high), self.everywhere)

    @property
    def walls(self) -> tuple[End, ...]:
        """Ends that fields are mirrored at, the low one first."""
        return tuple(sorted((end for end in self.ends if end.kind in WALLS), key=lambda end: end.high))

    @property
    def followed(self) -> tuple[float, ...]:
        """Where the outermost sensors' values are the field's."""
        return tuple(end.at for end in self.ends if end.kind in (MEASURED, GIVEN))

    def beside(self, experiments: Experiments) -> Experiments:
        """Return the data with what time series tell at their ends in every snapshot."""
        for end in self.ends:
            if end.series is not None:
                experiments = experiments.each(end.beside)
        return experiments

    @property
    def enter(self) -> tuple[bool, bool]:
        """Whether something may come in at the low and at the high end of a line."""
        low, high = (self.kind(high=end) in (None, DRIVEN, MEASURED, GIVEN) for end in (False, True))
        return low, high

    @property
    def asks_to_enter(self) -> bool:
        """Whether it was said that something comes in."""
        return self.everywhere == DRIVEN or any(end.kind in (DRIVEN, MEASURED, GIVEN) for end in self.ends)

    def sentence(self, coordinates: Sequence[str]) -> str:
        """Say what was taken to happen at the ends that were spoken of."""
        return "; ".join(
            f"{coordinates[end.side]} = {end.at:g}: {end.kind}, {TOLD[end.kind]}" for end in self.ends
        )

    def _check(self, equation: Equation, experiments: Experiments) -> None:
        """Refuse ends in a plane, and walls at which the equation does not hold for mirrored fields."""
        if self.ends and len(experiments.coordinates) > 1:
            raise ModelError(
                f"Single ends were spoken of, and the data have the coordinates {', '.join(experiments.coordinates)}: "
                "ends are known on a line. Say boundary='driven' or 'still' of all edges, or nothing."
            )
        for end in self.walls:
            axis = experiments.coordinates[end.side]
            if not reflects(equation, axis, WALLS[end.kind]):
                sign = "−u" if end.kind == FIXED else "u"
                raise ModelError(
                    f"The end {axis} = {end.at:g} is {end.kind} ({KINDS[end.kind]}), and the field would go on beyond "
                    f"it as its mirror image, {sign}(−{axis}): the equation does not hold for that (odd derivatives, "
                    f"even powers and coefficients that depend on {axis} change sign otherwise). Say "
                    f"boundary='{axis}={end.at:g}:measured' where a sensor stands there, or nothing."
                )


NOTHING_SAID = Edges()


def _said(boundary: Boundary | None) -> list[tuple[str | None, str | TimeSeries]]:
    """Return pairs of a place, None for all edges, and what is said of it."""
    if boundary is None:
        return []
    if isinstance(boundary, Mapping):
        return [(str(place), kind) for place, kind in boundary.items()]
    words = [boundary] if isinstance(boundary, str) else boundary
    if not isinstance(words, Sequence) or not all(isinstance(word, str) for word in words):
        raise ModelError(f"boundary={boundary!r:.60} was given. {_needed()}.")
    pairs: list[tuple[str | None, str | TimeSeries]] = []
    for word in words:
        place, colon, kind = word.partition(":")
        pairs.append((place, kind) if colon else (None, word.strip()))
    return pairs


def _end(place: str, said_of_it: str | TimeSeries, experiments: Experiments) -> End:
    """Return the end of the data that a place names."""
    series = _series(said_of_it)
    kind = _kind(str(said_of_it)) if series is None else GIVEN
    said = _PLACE.fullmatch(place)
    if said is None:
        raise ModelError(f"{place!r:.40} was given as an end of the data. {_needed()}.")
    name, at = said[1], float(said[2])
    if name not in experiments.coordinates:
        raise ModelError(
            f"The end {name} = {at:g} was given; the data have the coordinates {', '.join(experiments.coordinates)}."
        )
    side = experiments.coordinates.index(name)
    spans = [snapshot.span(name) for run in experiments for snapshot in run]
    low, high = min(one[0] for one in spans), max(one[1] for one in spans)
    extent = high - low
    is_high = at - high > low - at
    outermost = high if is_high else low
    away = at - high if is_high else low - at
    beyond = kind in WALLS or kind == GIVEN
    most = BEYOND if beyond else AT
    if not -AT * extent <= away <= most * extent:
        where = "there or a little beyond" if beyond else "at one of these"
        raise DataError(
            f"{name} = {at:g} is no end of the data, whose {name} goes from {low:g} to {high:g}. An end that is "
            f"{kind} lies {where}: {name}={outermost:g}:{'FILE' if kind == GIVEN else kind}."
        )
    return End(side, is_high, at if beyond else float(outermost), kind, series)


def _series(said: str | TimeSeries) -> tuple[tuple[float, ...], tuple[float, ...]] | None:
    """Return the times and values that are given for an end, by a file or as arrays; None where a word is."""
    if isinstance(said, str):
        said = said.strip()
        is_word = said in KINDS or _CONDITION.fullmatch(said) is not None
        if is_word or not (Path(said).suffix or Path(said).is_file()):
            return None
    times, values = read_time_series(said)
    return tuple(times.tolist()), tuple(values.tolist())


def _kind(text: str) -> str:
    """Return the word for what is said of an end; `u = 0` and `u_x = 0` are known, too."""
    word = text.strip()
    if word in KINDS:
        return word
    condition = _CONDITION.fullmatch(word)
    if condition is not None:
        return REFLECTING if condition["along"] else FIXED
    raise ModelError(f"{word!r:.40} was said of an end of the data. {_needed()}.")


def _needed() -> str:
    every = "; ".join(f"{word}: {meaning}" for word, meaning in KINDS.items())
    return (
        f"Known are 'driven' and 'still' for all edges (--boundary driven), and for one end x=0:KIND (--boundary "
        f"x=0:measured) with KIND one of {every}; or x=0:FILE with a table of t and the field there"
    )
