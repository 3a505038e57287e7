"""`Session`: what the studio holds, one for all tabs: the file, the typed words, the fits.

Pages come and go and show what stands here; so a second tab sees the same, and a reload loses nothing. A fit belongs to
the session and not to the page that began it.
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Literal

from hiddenphysics.errors import DataError, EquationError, HiddenPhysicsError
from hiddenphysics.studio.data_file import DataFile
from hiddenphysics.studio.fit_process import FitProcess
from hiddenphysics.studio.fit_request import (
    FitRequest,
    columns_of,
    constants_of,
    limit_of,
    points_of,
    times_of,
)
from hiddenphysics.studio.typesetting import matched, typeset
from hiddenphysics.writer import write_file

PARTS = ("data", "words", "run")
"""What of a session can change."""

START = "u_t + a*u*u_x - b*u_xx = 0"
"""What stands in the field for the equation at first."""


@dataclass
class Words:
    """What is typed into the page, as it is typed."""

    equation: str = START
    columns: str = ""
    times: str = ""
    points: str = ""
    constants: str = ""
    limit: str = ""
    model: str = "auto"
    fields: dict[str, str] = field(default_factory=dict)


@dataclass
class Run:
    """One fit.

    Attributes
    ----------
    number
        From 1 on, in the order of beginning.
    state
        ``fitting``, ``stopping``, ``drawing`` when the numbers are there, ``finished``, or ``failed``.
    stages
        What it has said, the latest last.
    sentence
        Why it failed, or what became of a picture.
    answer
        The result as plain data; see `fit_child`.
    pictures
        Names of the pictures that lie in `folder`.
    """

    number: int
    request: FitRequest
    folder: Path
    began: float
    state: Literal["fitting", "stopping", "drawing", "finished", "failed"] = "fitting"
    stages: list[str] = field(default_factory=list)
    sentence: str = ""
    answer: dict[str, Any] | None = None
    pictures: list[str] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def is_going(self) -> bool:
        """Whether its process still works."""
        return self.state in ("fitting", "stopping", "drawing")

    @property
    def label(self) -> str:
        """A name to choose it by."""
        return f"fit {self.number}: {self.request.pde:.60} ({self.request.name:.30})"


class Session:
    """The state of a studio, and what may be done to it; open it (``with``) so that it ends its processes.

    Parameters
    ----------
    folder
        Where dropped files, results and pictures lie while the studio runs.

    Attributes
    ----------
    asked
        Path and name of the file that was last read or refused.
    marks
        A count for each part that grows when the part changes: pages compare it with what they have drawn.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.marks: Counter[str] = Counter()
        self.data: DataFile | None = None
        self.asked: tuple[Path, str] | None = None
        self.data_sentence = ""
        self.words = Words()
        self.runs: list[Run] = []
        self.run_sentence = ""
        self._lock = threading.RLock()
        self._drawing = threading.Lock()  # Matplotlib draws for one thread at a time
        self._spare: FitProcess | None = None
        self._at_work: FitProcess | None = None
        self._dropped = 0
        self._closed = False

    def __enter__(self) -> Session:
        self._spare = FitProcess()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._lock:
            self._closed = True
            processes = [p for p in (self._spare, self._at_work) if p is not None]
        for process in processes:
            process.end()

    # ---- the file --------------------

    def take(self, name: str, content: bytes) -> None:
        """Keep what was dropped in a folder of its own, and read it; a file that cannot be read replaces nothing."""
        with self._lock:
            self._dropped += 1
            folder = self.folder / f"dropped-{self._dropped}"
        folder.mkdir()
        path = folder / (Path(name.replace("\\", "/")).name or "dropped")
        try:
            write_file(path, content, overwrite=False)
        except HiddenPhysicsError as problem:
            self.refuse_data(str(problem))
        else:
            self.type(columns="")  # another file has other columns
            self.read(path, path.name)

    def read(self, path: Path, name: str, missing: Literal["refuse", "drop"] = "refuse") -> None:
        """Read a file where it lies, under the name by which its owner knows it; its columns are what is typed."""
        data, sentence = self.data, ""
        try:
            with self._drawing:
                data = DataFile.open(path, name, missing, columns_of(self.words.columns))
        except HiddenPhysicsError as problem:
            sentence = str(problem).replace(str(path), name)
        with self._lock:
            self.data, self.asked, self.data_sentence = data, (path, name), sentence
            self.marks["data"] += 1

    def refuse_data(self, sentence: str) -> None:
        """Say why something that was dropped was not taken."""
        with self._lock:
            self.data_sentence = sentence
            self.marks["data"] += 1

    def match(self, columns: str) -> None:
        """Read the last file again with the columns that are typed; one that was refused may be understood then."""
        self.type(columns=columns)
        if self.asked is not None:
            missing = self.data.missing if self.data is not None else "refuse"
            self.read(*self.asked, missing)

    # ---- the words --------------------

    def type(self, **words: Any) -> None:
        """Change what is typed."""
        with self._lock:
            changed = {name: value for name, value in words.items() if getattr(self.words, name) != value}
            for name, value in changed.items():
                setattr(self.words, name, value)
            self.marks["words"] += bool(changed)

    def request(self) -> FitRequest:
        """Return the fit that the words ask for; an error where they do not."""
        if self.data is None:
            raise DataError("There is no file yet. Drop one, or take the demo's 140 points.")
        words = self.words
        constants = constants_of(words.constants)
        read = typeset(words.equation, fields=self.data.names, constants=constants)
        if read.mistake:
            raise EquationError(read.mistake)
        return FitRequest(
            path=str(self.data.path.absolute()),
            name=self.data.name,
            pde=words.equation.strip(),
            missing=self.data.missing,
            columns=self.data.columns,
            times=times_of(words.times),
            points=points_of(words.points),
            fields=matched(read.fields, self.data.names, words.fields),
            constants=constants,
            model=words.model,
            time_limit=limit_of(words.limit),
        )

    # ---- the fits --------------------

    @property
    def current(self) -> Run | None:
        """The latest run."""
        return self.runs[-1] if self.runs else None

    @property
    def answered(self) -> list[Run]:
        """The runs that have numbers to show."""
        return [run for run in self.runs if run.answer is not None]

    def begin(self) -> None:
        """Begin a fit of what stands in the page, in the process that waits for it."""
        with self._lock:
            self.marks["run"] += 1
            if self.current is not None and self.current.is_going:
                self.run_sentence = (
                    "A fit is running, perhaps in another tab. Stop it first, or wait for its end."
                )
                return
            try:
                request = self.request()
            except HiddenPhysicsError as problem:
                self.run_sentence = str(problem)
                return
            self.run_sentence = ""
            number = len(self.runs) + 1
            run = Run(number, request, self.folder / f"fit-{number}", time.monotonic())
            run.folder.mkdir()
            self.runs.append(run)
            process, self._spare = self._spare or FitProcess(), None
            self._at_work = process
            process.begin(request, run.folder, lambda message: self._hear(run, message))

    def stop(self) -> None:
        """Ask the fit that runs to end with the best it has."""
        with self._lock:
            run = self.current
            if run is not None and run.state == "fitting" and self._at_work is not None:
                run.state = "stopping"
                self.marks["run"] += 1
                self._at_work.stop()

    def _hear(self, run: Run, message: dict[str, Any]) -> None:
        """Take what the process of a fit says; it is called in a thread."""
        with self._lock:
            self.marks["run"] += 1
            match message:
                case {"stage": stage}:
                    run.stages.append(stage)
                case {"answer": answer}:
                    run.answer, run.state, run.seconds = answer, "drawing", time.monotonic() - run.began
                case {"picture": name}:
                    run.pictures.append(name)
                case {"no_picture": sentence}:
                    run.sentence = sentence
                case {"refused": sentence}:
                    run.state, run.sentence = "failed", sentence
                case {"finished": _}:
                    run.state = "finished"
                case {"lost": how}:
                    self._lose(run, how)

    def _lose(self, run: Run, how: str) -> None:
        """Note the end of a process, and start the one for the next fit: after the end, to leave the fit its cores."""
        if run.is_going and run.answer is not None:
            run.state, run.sentence = (
                "finished",
                f"The process ended with {how} while it drew; the numbers are whole.",
            )
        elif run.is_going:
            run.state = "failed"
            run.sentence = (
                f"The process of this fit ended with {how} before it had an answer, most likely from outside or for "
                "lack of memory. Your file, your equation and earlier fits are still here: press Fit to begin again, "
                "with fewer times or points where memory is short."
            )
        self._at_work = None
        if self._spare is None and not self._closed:
            self._spare = FitProcess()
