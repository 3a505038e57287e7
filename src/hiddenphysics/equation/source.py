"""The text as typed, how large it may be, and errors that point into it."""

from __future__ import annotations

from dataclasses import dataclass

from hiddenphysics.errors import EquationError

# How large a text may be: generous for any PDE, and small enough that no text costs seconds or gigabytes.
MAX_TEXT = 10_000  # characters of the whole text
MAX_STATEMENTS = 100
MAX_DEPTH = 32  # nesting of functions, powers and signs; bounds every recursion in this room
MAX_NAME = 64  # characters of one name
MAX_LITERAL = 400  # characters of one number

# One character for one character, so that positions in the normalised text are positions in the user's text.
_SIGNS = str.maketrans({"−": "-", "·": "*", "×": "*"})
_CLIP = 72  # characters of a line that an error shows


class PlacedError(Exception):
    """Something is wrong at character `at` of the text (None: with the text as a whole).

    Raised anywhere in this room; `Equation.parse` turns it into an `EquationError` that shows the place.
    """

    def __init__(self, at: int | None, message: str) -> None:
        super().__init__(message)
        self.at = at
        self.message = message


@dataclass(frozen=True)
class Source:
    """The user's text.

    Examples
    --------
    >>> print(Source("u_t + 2u = 0").error(PlacedError(7, "write 2*u")))
    write 2*u
        u_t + 2u = 0
               ^
    """

    text: str

    def __post_init__(self) -> None:
        # First of all, before any work that grows with the length.
        text: object = self.text
        if not isinstance(text, str):
            kind = type(text).__name__
            raise EquationError(f"an equation is text such as 'u_t + a*u*u_x - b*u_xx = 0', not {kind}")
        if len(self.text) > MAX_TEXT:
            raise EquationError(
                f"the equation has {len(self.text)} characters; at most {MAX_TEXT} are read. "
                "Shorten it, or check that it is an equation at all."
            )

    @property
    def normalised(self) -> str:
        """The text with typographic signs (− · ×) replaced by ASCII ones, position by position."""
        return self.text.translate(_SIGNS)

    def error(self, problem: PlacedError) -> EquationError:
        """Message, the line it is about, and a caret under the place."""
        if problem.at is None:
            return EquationError(problem.message)
        at = min(problem.at, len(self.text))
        start = max(self.text.rfind("\n", 0, at), self.text.rfind("\r", 0, at)) + 1
        line = self.text[start:].replace("\r", "\n").partition("\n")[0]
        column = at - start
        left = max(0, column - _CLIP // 2)
        shown = "".join(c if c.isprintable() else " " for c in line[left : left + _CLIP])
        return EquationError(f"{problem.message}\n    {shown}\n    {' ' * (column - left)}^")
