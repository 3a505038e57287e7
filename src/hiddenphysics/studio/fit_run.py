"""`Run`: one fit of a session, what it has said and what became of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from hiddenphysics.studio.fit_process import FitProcess
from hiddenphysics.studio.fit_request import FitRequest


@dataclass
class Run:
    """One fit.

    Attributes
    ----------
    number
        From 1 on, in the order in which they were asked for; 0 for one that nobody has asked for yet.
    began
        When its process took it on.
    state
        ``fitting``, ``stopping``, ``drawing`` when the numbers are there, ``finished``, or ``failed``.
    stages
        What it has said, the latest last.
    so_far
        The parameters that it has so far, the first guess first, as they are shown; nothing of these is an answer.
    sentence
        Why it failed, or what became of its file or a picture.
    answer
        The result as plain data; see `fit_child`.
    made
        What lies in `folder` by now: ``result``, and the names of the pictures.
    process
        Where it runs.
    """

    number: int
    request: FitRequest
    folder: Path
    began: float
    state: Literal["fitting", "stopping", "drawing", "finished", "failed"] = "fitting"
    stages: list[str] = field(default_factory=list)
    so_far: list[dict[str, str]] = field(default_factory=list)
    sentence: str = ""
    answer: dict[str, Any] | None = None
    made: list[str] = field(default_factory=list)
    seconds: float = 0.0
    process: FitProcess | None = None

    @property
    def is_going(self) -> bool:
        """Whether its process still works."""
        return self.state in ("fitting", "stopping", "drawing")

    @property
    def pictures(self) -> list[str]:
        """Names of the pictures that are there."""
        return [name for name in self.made if name != "result"]

    def say(self, stage: str) -> None:
        """Take a stage with its seconds; one that is said again takes the place of what it said before."""
        if self.stages and self.stages[-1].rpartition(" (")[0] == stage.rpartition(" (")[0] != "":
            self.stages.pop()
        self.stages.append(stage)

    @property
    def label(self) -> str:
        """A name to choose it by."""
        return f"fit {self.number}: {self.request.pde:.60} ({self.request.name:.30})"
