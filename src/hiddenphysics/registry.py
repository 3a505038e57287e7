"""Things by the name a user types: kernels, integrators, models, readers, data sets."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping
from typing import Generic, TypeVar

from hiddenphysics.errors import HiddenPhysicsError

Thing = TypeVar("Thing")


class Registry(Mapping[str, Thing], Generic[Thing]):
    """A table that can be added to from outside: one `add` makes a new thing known everywhere.

    Parameters
    ----------
    what
        What one of them is called in a sentence, such as ``"kernel"``.
    error
        What is raised for a name that nobody has added.

    Examples
    --------
    >>> from hiddenphysics.errors import ModelError
    >>> letters = Registry("letter", ModelError)
    >>> letters.add("alpha", 1)
    1
    >>> letters["alpha"], list(letters)
    (1, ['alpha'])
    """

    def __init__(self, what: str, error: type[HiddenPhysicsError]) -> None:
        self._what, self._error = what, error
        self._things: dict[str, Thing] = {}

    def add(self, name: str, thing: Thing) -> Thing:
        """Make a thing known by a name; a name that is taken is refused."""
        if name in self._things:
            raise self._error(f"There is a {self._what} {name!r} already; choose another name.")
        self._things[name] = thing
        return thing

    def name_of(self, thing: Thing) -> str:
        """Return the name that a thing was added by."""
        for name, known in self._things.items():
            if known is thing:
                return name
        raise self._error(
            f"{thing!r} is no {self._what} that was added by a name; known are {', '.join(self)}. Add it first: "
            f"{self._what.replace(' ', '_').upper()}S.add('its_name', …)."
        )

    def __getitem__(self, name: str) -> Thing:
        if name not in self._things:
            hint = did_you_mean(str(name), self)
            raise self._error(f"There is no {self._what} {name!r}{hint or '.'} Known are {', '.join(self)}.")
        return self._things[name]

    def __contains__(self, name: object) -> bool:
        return name in self._things

    def __iter__(self) -> Iterator[str]:
        return iter(self._things)

    def __len__(self) -> int:
        return len(self._things)


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """`; did you mean sin?`, or nothing when no known word is close."""
    close = difflib.get_close_matches(word, list(known), n=1, cutoff=0.6)
    return f"; did you mean {close[0]}?" if close else ""
