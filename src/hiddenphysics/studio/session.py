"""`Session`: what the studio holds, one for all tabs: the file, the typed words, the fits.

Pages come and go and show what stands here; so a second tab sees the same, and a reload loses nothing. A fit belongs to
the session and not to the page that began it.

Compiling takes longer than fitting, and longer than a user needs to find the button: so the fit that the page would ask
for begins when file and words have settled, out of sight, and the button shows it. Whatever is asked for instead finds
a spare process, which has imported everything. Where no page is open, neither is kept.
"""

from __future__ import annotations

import math
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
from hiddenphysics.studio.fit_run import Run
from hiddenphysics.studio.typesetting import matched, typeset
from hiddenphysics.writer import write_file

PARTS = ("data", "words", "run")
"""What of a session can change."""

START = "u_t + a*u*u_x - b*u_xx = 0"
"""What stands in the field for the equation at first."""

DEMO = "burgers.csv"
"""The name of the demo's file."""
SETTLED = 1.0
"""Seconds without a change of file or words after which their fit is begun unasked."""
MOST_AHEAD = 20_000
"""Values of a file up to which that is done: a fit of more is nobody's to begin but the user's (25 856 values took 14 s
of one core, 18 November 2026)."""
LONGEST_AHEAD = 60.0
"""Seconds after which a fit that nobody has asked for is ended."""


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
    sensors: str = "exact"
    edges: str = "told"
    fields: dict[str, str] = field(default_factory=dict)


class Session:
    """The state of a studio, and what may be done to it; open it (``with``) so that it ends its processes.

    Parameters
    ----------
    folder
        Where dropped files, results and pictures lie while the studio runs.
    ahead
        Whether a fit may begin before it is asked for.

    Attributes
    ----------
    early
        The fit that has begun before it was asked for.
    asked
        Path and name of the file that was last read or refused.
    marks
        A count for each part that grows when the part changes: pages compare it with what they have drawn.
    """

    def __init__(self, folder: Path, *, ahead: bool = True) -> None:
        self.folder = folder
        self.ahead = ahead
        self.marks: Counter[str] = Counter()
        self.data: DataFile | None = None
        self.asked: tuple[Path, str] | None = None
        self.data_sentence = ""
        self.words = Words()
        self.runs: list[Run] = []
        self.run_sentence = ""
        self._lock = threading.RLock()
        self._drawing = threading.Lock()  # Matplotlib draws for one thread at a time
        self.early: Run | None = None
        self._spare: FitProcess | None = None
        self._changed = 0.0  # when file or words did
        self._left_alone: FitRequest | None = None  # what is not begun early again
        self._dropped = self._begun = 0
        self._closed = False
        self._is_seen = True

    def __enter__(self) -> Session:
        self._spare = FitProcess()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._lock:
            self._closed = True
            runs = [run for run in (self.early, self.current) if run is not None and run.is_going]
            processes = [self._spare, *(run.process for run in runs)]
        for process in processes:
            if process is not None:
                process.end()

    # ---- the file --------------------

    def take(self, name: str, content: bytes) -> None:
        """Keep what was dropped in a folder of its own, and read it; a file that cannot be read replaces nothing."""
        with self._lock:
            self._dropped += 1
            folder = self.folder / f"dropped-{self._dropped}"
        folder.mkdir()
        name = name.replace("%22", '"')  # so browsers send this mark, and nothing else that a name may have
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
        with self._lock:
            if self.early is not None and self.early.request.path != str(path.absolute()):
                self._drop_early()
                self._have_spare()  # its imports take as long as the reading and drawing of a file
        try:
            with self._drawing:
                data = DataFile.open(path, name, missing, columns_of(self.words.columns))
        except HiddenPhysicsError as problem:
            sentence = str(problem).replace(str(path), name)
        with self._lock:
            self.data, self.asked, self.data_sentence = data, (path, name), sentence
            self.marks["data"] += 1
            self._changed = time.monotonic()

    def take_demo(self) -> None:
        """Read the demo's points, which lie in the session's folder as a file like any other."""
        path = self._demo_file()
        self.type(columns="")  # those that are typed were another file's
        self.read(path, DEMO)

    def _demo_file(self) -> Path:
        """Return the demo's file; two threads that want it make it once."""
        from hiddenphysics.demo import PAIR, burgers_recording, two_snapshots

        path = self.folder / DEMO
        with self._drawing:
            if not path.exists():
                table = two_snapshots(burgers_recording(PAIR), noise=0.01, seed=0).to_table()
                write_file(path, table.to_csv(index=False).encode(), overwrite=False)
        return path

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
            if changed:
                self.marks["words"] += 1
                self._changed = time.monotonic()
                if self.early is not None:  # most likely for nothing: another fit will be asked for
                    self._have_spare()

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
            offsets=words.sensors == "offsets",
            boundary=None if words.edges == "told" else words.edges,
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
            run = self.early if self.early is not None and self.early.request == request else None
            if run is None:
                self._drop_early()
                run = self._start(request)
            self.early = None
            run.number = len(self.runs) + 1
            self.runs.append(run)

    def _start(self, request: FitRequest) -> Run:
        """Hand a fit to the process that waits for one."""
        self._begun += 1
        run = Run(0, request, self.folder / f"fit-{self._begun}", time.monotonic())
        run.folder.mkdir()
        run.process, self._spare = self._spare or FitProcess(), None
        run.process.begin(request, run.folder, lambda message: self._hear(run, message))
        return run

    # ---- before it is asked for --------------------

    def work_ahead(self, settled: float = SETTLED) -> None:
        """Begin the fit that the page would ask for, where file and words have settled; pages call it over and over."""
        with self._lock:
            if self._closed or not self._is_seen or (self.current is not None and self.current.is_going):
                return
            early, now = self.early, time.monotonic()
            if early is None or not early.is_going:  # what may be asked for has the cores to itself
                self._have_spare()
            if not self.ahead:
                return
            if early is not None and early.is_going and now - early.began > LONGEST_AHEAD:
                self._left_alone = early.request
                self._drop_early()
            if now - self._changed < settled or self.data is None:
                return
            self._changed = math.inf  # looked at; the next change is looked at again
            if sum(map(len, self.data.snapshots)) * len(self.data.snapshots.fields) <= MOST_AHEAD:
                try:
                    self._begin_early(self.request())
                except HiddenPhysicsError:
                    return  # told when it is asked for

    def work_ahead_on_demo(self) -> None:
        """Begin the fit of the demo's points, which many ask for first; a file that comes puts an end to it."""
        if self.ahead:
            path = self._demo_file()
            with self._lock:
                if self.data is None and not self._closed:
                    self._begin_early(FitRequest(str(path.absolute()), DEMO, START))

    def _begin_early(self, request: FitRequest) -> None:
        if self.early is not None and self.early.request == request:
            return
        self._drop_early()
        if request != self._left_alone and all(run.request != request for run in self.runs):
            self.early = self._start(request)

    def _drop_early(self) -> None:
        """End the fit that nobody has asked for."""
        early, self.early = self.early, None
        if early is not None and early.process is not None and early.is_going:
            threading.Thread(target=early.process.end, daemon=True).start()  # it waits for the end

    def _have_spare(self) -> None:
        """Start the process for the next fit, where there is none and no fit that was asked for needs the cores."""
        at_work = self.current is not None and self.current.is_going
        if self._spare is None and self._is_seen and not self._closed and not at_work:
            self._spare = FitProcess()

    def see(self) -> None:
        """Work ahead again: a page is open."""
        with self._lock:
            if not self._is_seen:
                self._is_seen, self._changed = True, -math.inf

    def rest(self) -> None:
        """End whatever nobody has asked for: no page is open. A fit that was asked for goes on."""
        with self._lock:
            self._is_seen = False
            if (
                self.early is not None and self.early.is_going
            ):  # one that has ended costs nothing, and is there again
                self._drop_early()
            spare, self._spare = self._spare, None
        if spare is not None:
            spare.end()

    def stop(self) -> None:
        """Ask the fit that runs to end with the best it has."""
        with self._lock:
            run = self.current
            if run is not None and run.state == "fitting" and run.process is not None:
                run.state = "stopping"
                self.marks["run"] += 1
                run.process.stop()

    def _hear(self, run: Run, message: dict[str, Any]) -> None:
        """Take what the process of a fit says; it is called in a thread."""
        with self._lock:
            # A process that ends after its fit has ended changes nothing to be seen: a page that is drawn anew under a
            # hand swallows its click.
            self.marks["run"] += run.number > 0 and (run.is_going or "lost" not in message)
            match message:
                case {"stage": stage}:
                    run.say(stage)
                case {"so_far": values}:
                    run.so_far.append(values)
                case {"answer": answer}:
                    run.answer, run.state, run.seconds = answer, "drawing", time.monotonic() - run.began
                case {"made": name}:
                    run.made.append(name)
                case {"not_made": sentence}:
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
        run.process = None
        if run is self.early and run.state == "failed":
            self.early = None  # the button begins it once more, and tells what becomes of it
            self._left_alone = run.request
        if self.early is None or not self.early.is_going:
            self._have_spare()
