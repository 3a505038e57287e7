"""`Request`: how data are to be read, as the user said it, handed to every reader."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from hiddenphysics.snapshots.validation import Missing


@dataclass(frozen=True)
class Request:
    """What a user says about data beside where they are.

    Attributes
    ----------
    columns
        Name here -> name in the data, ``{"x": "position", "u": "temperature"}``. Where a field is named, only the
        named fields are used.
    missing
        What to do with NaN and infinity.
    time_unit
        The unit that times with a unit, and dates, become numbers in; None for the one of the data, of dates for the
        one that fits their span.
    """

    columns: Mapping[str, str] = field(default_factory=dict)
    missing: Missing = "refuse"
    time_unit: str | None = None
