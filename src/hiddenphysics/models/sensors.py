"""What may be wrong with the sensors themselves, as a user says it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hiddenphysics.errors import ModelError

Size = bool | float
"""True: a size that is learned. A number: a standard deviation that is known."""


@dataclass(frozen=True)
class Sensors:
    """Errors that sensors have besides noise: constant over the record, each with a prior of learned or given size.

    A sensor that stands at x_s tells y = (1 + g_s) u(x_s + d_s, t) + b_s + noise.

    Attributes
    ----------
    offsets
        b_s, in units of the field: True for offsets whose typical size is learned, or that size.
    position_error
        d_s, in units of the coordinates, along every one of them: how far off its stated place a sensor typically is.
    gains
        g_s, in parts of the values.

    Examples
    --------
    >>> Sensors(offsets=True, position_error=0.05)
    Sensors(offsets=True, position_error=0.05, gains=False)
    """

    offsets: Size = False
    position_error: Size = False
    gains: Size = False

    def __post_init__(self) -> None:
        """Refuse what is no size."""
        for name, option in (
            ("offsets", "--sensor-offsets"),
            ("position_error", "--position-error"),
            ("gains", "--sensor-gains"),
        ):
            size = getattr(self, name)
            number = isinstance(size, int | float | np.number) and not isinstance(size, bool)
            if not (isinstance(size, bool) or (number and np.isfinite(size) and size > 0)):
                raise ModelError(
                    f"{name}={size!r:.40} was given for the sensors; needed is True, for a size that is learned, or a "
                    f"standard deviation above 0, such as {name}=0.05 ({option} 0.05)."
                )

    def __bool__(self) -> bool:
        return bool(self.offsets or self.position_error or self.gains)

    def plain(self) -> dict[str, Size]:
        """Return it as plain data, ready for JSON."""
        return {"offsets": self.offsets, "position_error": self.position_error, "gains": self.gains}
