"""The one loop of every fit that linearises: around a point, solve, go there, again."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from hiddenphysics.learning.watch import Progress

Round = TypeVar("Round")


def rounds(
    advance: Callable[[Round | None], Round],
    ended: Callable[[Round], bool],
    most: int,
    say: Progress,
    name: str = "round",
) -> list[Round]:
    """Repeat until a round says that it was the last, at most `most` times; return all of them, the last one last.

    Parameters
    ----------
    advance
        Makes a round from the one before; from None the first.
    ended
        Whether nothing moved in a round, or no further one makes sense.
    name
        What a round is called in the progress.
    """
    made: list[Round] = []
    while len(made) < most:
        say(f"{name} {len(made) + 1}")
        made.append(advance(made[-1] if made else None))
        if ended(made[-1]):
            break
    return made
