"""`Provenance`: what data tell beside their numbers, and what was done to them on the way in."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from hiddenphysics.snapshots.columns import IM, RE, STD

SUFFIXES = ("", RE, IM, STD, RE + STD, IM + STD)
"""What may stand behind the name of a field: a unit belongs to all of them."""


@dataclass(frozen=True)
class Provenance:
    """Units, the date of t = 0, and sentences about what was done.

    Attributes
    ----------
    units
        Unit by name, of those that have one: ``{"t": "h", "x": "m", "u": "kelvin"}``.
    start
        The date at t = 0, such as ``"2024-01-01 06:00:00"``; "" where times are plain numbers.
    notes
        Sentences about what was done to the data on the way in.
    """

    units: Mapping[str, str] = field(default_factory=dict)
    start: str = ""
    notes: tuple[str, ...] = ()

    def renamed(self, names: Mapping[str, str]) -> Provenance:
        """Return the same under new names of fields, ``{old: new}``; a unit of other fields is gone."""
        kept = {name: unit for name, unit in self.units.items() if name in ("t", "x", "y", "z")}
        return replace(
            self, units=kept | {new: self.units[old] for old, new in names.items() if old in self.units}
        )

    def noted(self, *notes: str) -> Provenance:
        """Add sentences, each once."""
        return replace(self, notes=tuple(dict.fromkeys((*self.notes, *notes))))

    def unit_of(self, name: str) -> str:
        """Return the unit of a coordinate, the time or a field, also of the parts of a complex one; "" for none."""
        stems = (name.removesuffix(suffix) for suffix in SUFFIXES if name.endswith(suffix))
        return next((self.units[stem] for stem in stems if stem in self.units), "")

    @property
    def clock(self) -> str:
        """The unit of time with the date it is counted from: "h since 2024-01-01 06:00:00", "h", or ""."""
        unit = self.units.get("t", "")
        return f"{unit} since {self.start}" if self.start else unit


def common(many: Iterable[Provenance]) -> Provenance:
    """Put together what several records tell; the caller has seen to it that their times agree."""
    units: dict[str, str] = {}
    notes: tuple[str, ...] = ()
    start = ""
    for one in many:
        units |= one.units
        notes += one.notes
        start = start or one.start
    return Provenance(units, start, tuple(dict.fromkeys(notes)))
