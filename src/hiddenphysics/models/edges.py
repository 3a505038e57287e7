"""What happens at the edges of the data, as a user says it: for all of them, or for one end of a coordinate."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from hiddenphysics.equation import Equation, reflects
from hiddenphysics.errors import DataError, ModelError
from hiddenphysics.snapshots import Experiments

DRIVEN, STILL, MEASURED, FIXED, REFLECTING = "driven", "still", "measured", "fixed", "reflecting"

KINDS = {
    DRIVEN: "something unknown comes in at every snapshot",
    STILL: "nothing comes in but what is there at the first snapshot",
    MEASURED: "the outermost sensor's values are the field's there",
    FIXED: "u = 0",
    REFLECTING: "u_x = 0",
}
"""What may be said of an end, and what it means."""

WALLS = {FIXED: -1, REFLECTING: 1}
"""Ends that fields are mirrored at, and the sign with which they are."""

EVERYWHERE = (DRIVEN, STILL)
"""What may be said of all edges at once."""

AT = 0.01
"""Part of the data's extent by which an end that sensors stand at may be off."""

BEYOND = 1.0
"""Part of the data's extent by which a wall may lie beyond the outermost points."""

Boundary = str | Sequence[str] | Mapping[str, str]
"""``"driven"``, ``"x=0:measured"``, several such, or ``{"x=0": "measured"}``."""

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
        One of `KINDS`.
    """

    side: int
    high: bool
    at: float
    kind: str


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
        return tuple(end.at for end in self.ends if end.kind == MEASURED)

    @property
    def enter(self) -> tuple[bool, bool]:
        """Whether something may come in at the low and at the high end of a line."""
        low, high = (self.kind(high=end) in (None, DRIVEN, MEASURED) for end in (False, True))
        return low, high

    @property
    def asks_to_enter(self) -> bool:
        """Whether it was said that something comes in."""
        return self.everywhere == DRIVEN or any(end.kind in (DRIVEN, MEASURED) for end in self.ends)

    def sentence(self, coordinates: Sequence[str]) -> str:
        """Say what was taken to happen at the ends that were spoken of."""
        return "; ".join(
            f"{coordinates[end.side]} = {end.at:g}: {end.kind}, {KINDS[end.kind]}" for end in self.ends
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


def _said(boundary: Boundary | None) -> list[tuple[str | None, str]]:
    """Return pairs of a place, None for all edges, and what is said of it."""
    if boundary is None:
        return []
    if isinstance(boundary, Mapping):
        return [(str(place), str(kind)) for place, kind in boundary.items()]
    words = [boundary] if isinstance(boundary, str) else boundary
    if not isinstance(words, Sequence) or not all(isinstance(word, str) for word in words):
        raise ModelError(f"boundary={boundary!r:.60} was given. {_needed()}.")
    pairs: list[tuple[str | None, str]] = []
    for word in words:
        place, colon, kind = word.partition(":")
        pairs.append((place, kind) if colon else (None, word.strip()))
    return pairs


def _end(place: str, kind: str, experiments: Experiments) -> End:
    """Return the end of the data that a place names."""
    kind = _kind(kind)
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
    most = BEYOND if kind in WALLS else AT
    if not -AT * extent <= away <= most * extent:
        where = "at one of these" if kind not in WALLS else "there or a little beyond"
        raise DataError(
            f"{name} = {at:g} is no end of the data, whose {name} goes from {low:g} to {high:g}. An end that is "
            f"{kind} lies {where}: {name}={outermost:g}:{kind}."
        )
    return End(side, is_high, at if kind in WALLS else float(outermost), kind)


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
        f"x=0:measured) with KIND one of {every}"
    )
