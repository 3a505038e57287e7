"""`FitRequest`: one fit as it was asked for, as plain data; the Python lines and the command that ask for the same."""

from __future__ import annotations

import shlex
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from hiddenphysics.errors import DataError, EquationError, ModelError

LIMIT = 600.0
"""Seconds after which a fit of the studio ends where nobody chose: as for `identify`."""


@dataclass(frozen=True)
class FitRequest:
    """What a fit is made of.

    Attributes
    ----------
    path, name
        Where the file lies now, and what it is called: a file that was dropped lies in a folder of the studio's.
    pde
        The equation, bounds included.
    missing, columns
        What is done with NaN, ``"refuse"`` or ``"drop"``, and which column of the file is which, where that was told.
    times
        The times to use; none are all.
    points, seed
        How many points to draw of every snapshot, None for all, and the seed of that.
    fields, constants, model, time_limit, boundary
        As in `hiddenphysics.identify`.
    offsets
        Whether every sensor may be off by a constant.
    """

    path: str
    name: str
    pde: str
    missing: Literal["refuse", "drop"] = "refuse"
    columns: dict[str, str] = field(default_factory=dict)
    times: tuple[float, ...] = ()
    points: int | None = None
    seed: int = 0
    fields: dict[str, str] = field(default_factory=dict)
    constants: dict[str, float] = field(default_factory=dict)
    model: str = "auto"
    time_limit: float = LIMIT
    offsets: bool = False
    boundary: str | None = None

    def plain(self) -> dict[str, Any]:
        """Return the request ready for JSON."""
        return asdict(self)

    @classmethod
    def of_plain(cls, told: dict[str, Any]) -> FitRequest:
        """Return the request that `plain` has told."""
        return cls(**{**told, "times": tuple(told["times"])})

    def python_lines(self) -> str:
        """Return the lines that give the same result."""
        how = f", columns={self.columns!r}" if self.columns else ""
        how += "" if self.missing == "refuse" else f', missing="{self.missing}"'
        lines = ["import hiddenphysics as hp", "", f"data = hp.read({_quoted(self.name)}{how})"]
        if self.times:
            lines.append(f"data = data.at({list(self.times)!r})")
        if self.points is not None:
            lines.append(f"data = data.subsample({self.points}, seed={self.seed})")
        options = [
            f"{name}={value!r}"
            for name, value, usual in (
                ("model", self.model, "auto"),
                ("fields", self.fields, {}),
                ("constants", self.constants, {}),
                ("boundary", self.boundary, None),
                ("time_limit", self.time_limit, LIMIT),
            )
            if value != usual
        ]
        options += ["sensors=hp.Sensors(offsets=True)"] * self.offsets
        lines.append(f"fit = hp.identify({', '.join([_quoted(self.pde), 'data', *options])})")
        lines.append("print(fit)")
        return "\n".join(lines) + "\n"

    def shell_command(self) -> str:
        """Return the command that gives the same result."""
        # A name that begins like an option would be taken for one.
        name = f"./{self.name}" if self.name.startswith("-") else self.name
        words = ["hiddenphysics", "identify", name, "--pde", self.pde]
        for name, column in self.columns.items():
            words += ["--column", f"{name}={column}"]
        if self.missing != "refuse":
            words += ["--missing", self.missing]
        if self.times:
            words += ["--times", *(f"{t!r}" for t in self.times)]
        if self.points is not None:
            words += ["--points", str(self.points), "--seed", str(self.seed)]
        for name, column in self.fields.items():
            words += ["--field", f"{name}={column}"]
        for name, value in self.constants.items():
            words += ["--constant", f"{name}={value!r}"]
        if self.model != "auto":
            words += ["--model", self.model]
        words += ["--sensor-offsets"] * self.offsets
        if self.boundary is not None:
            words += ["--boundary", self.boundary]
        if self.time_limit != LIMIT:
            words += ["--time-limit", f"{self.time_limit:g}"]
        return shlex.join(words)


def _quoted(text: str) -> str:
    """Write a string for Python; an equation on several lines becomes one on one."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


# ---- what is typed into the fields of the page --------------------


def columns_of(text: str) -> dict[str, str]:
    """Read ``x = position, u = temperature (K)``; nothing typed leaves the names as they are."""
    columns: dict[str, str] = {}
    for word in filter(str.strip, text.replace("\n", ",").split(",")):
        name, equals, column = (part.strip() for part in word.partition("="))
        if not (name and equals and column) or name in columns:
            raise DataError(
                f"{word.strip()!r:.60} was typed for the columns; needed is each NAME = COLUMN once, with commas "
                "between them, as in x = position, u = temperature."
            )
        columns[name] = column
    return columns


def times_of(text: str) -> tuple[float, ...]:
    """Read ``1.0 1.1`` or ``1.0, 1.1``; nothing typed are all times."""
    try:
        return tuple(float(word) for word in text.replace(",", " ").split())
    except ValueError:
        raise DataError(
            f"{text!r:.60} was typed for the times; needed are numbers, as in 1.0 1.1, or nothing for all."
        ) from None


def points_of(text: str) -> int | None:
    """Read the number of points per snapshot; nothing typed are all."""
    if not text.strip():
        return None
    if not text.strip().isdecimal() or int(text) < 1:
        raise DataError(
            f"{text!r:.60} was typed for the points of each snapshot; needed is a number such as 70, or nothing."
        )
    return int(text)


def constants_of(text: str) -> dict[str, float]:
    """Read ``c=3, d=0.5``; nothing typed are none."""
    constants = {}
    for word in text.replace(",", " ").split():
        name, _, value = word.partition("=")
        try:
            constants[name] = float(value)
        except ValueError:
            raise EquationError(
                f"{word!r:.60} was typed among the known numbers; needed is NAME=NUMBER, as in c=3, without spaces."
            ) from None
    return constants


def limit_of(text: str) -> float:
    """Read the time limit in seconds; nothing typed is the usual one."""
    if not text.strip():
        return LIMIT
    try:
        seconds = float(text)
    except ValueError:
        seconds = -1.0
    if not 0 < seconds < float("inf"):
        raise ModelError(
            f"{text!r:.60} was typed for the time limit; needed is a number of seconds, such as 60."
        )
    return seconds
