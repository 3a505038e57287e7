"""Every write, sync, rename and creation of every command fails in turn, and the process is killed there in turn.

`python -m benchmarks.faults` runs each command once to count what it does to the disk, then once for each of these
calls and each fault: a disk that is full from there on, an input/output error, a kill, a kill in the middle of a write.
After each: a sentence and an exit code other than 0; every file either as it was before, or as it should be; and after
the command was typed again, all files as they should be to the byte, and no others. Needs Linux and a C compiler
(`cc`), which makes a layer in front of the C library (`faults.c`).
"""

from __future__ import annotations

import ctypes
import errno
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.cases import ROOT, arguments, table, write

KILL, TORN = -1, -2
FAULTS = {"full disk": errno.ENOSPC, "input/output error": errno.EIO, "kill": KILL, "kill in a write": TORN}
SECONDS = 120
"""After which a command has hung."""
BEGUN = ".hiddenphysics-"
"""What the names of unfinished files begin with."""

HEAT = "u_t - b*u_xx = 0"


@dataclass(frozen=True)
class Command:
    """A command: what is typed, what its folder holds before, and whether a part of its work may stay."""

    words: tuple[str, ...]
    prepare: Callable[[Path], None]
    resumes: bool = False


def write_heat(folder: Path) -> None:
    """Write a table of the heat equation, and old files in the places of the new ones."""
    x = np.linspace(0, 6, 12)
    rows = [f"{t},{s:.6f},{np.exp(-0.2 * t) * np.sin(s):.9f}" for t in (0.0, 0.1) for s in x]
    (folder / "heat.csv").write_text("t,x,u\n" + "\n".join(rows) + "\n")
    for name in ("fit.nc", "fit.png"):
        (folder / name).write_bytes(b"old " + name.encode())


def copy_fit(folder: Path) -> None:
    """Put a saved result into the folder, and old files in the places of the new ones."""
    shutil.copy(ROOT / "tests" / "result" / "saved" / "flow.nc", folder / "saved.nc")
    for name in ("run.nc", "run.png"):
        (folder / name).write_bytes(b"old " + name.encode())


def write_recording(folder: Path) -> None:
    """Write Burgers' field, as the paper's authors have it, with the same bytes every time."""
    from hiddenphysics.demo import burgers_recording

    t, x, u = burgers_recording().field_grid("u")
    np.savez(folder / "burgers.npz", t=t, x=x[::2], usol=u[:, ::2])


def nothing(folder: Path) -> None:
    """Leave the folder empty."""


COMMANDS = {
    "identify": Command(
        ("identify", "heat.csv", "--pde", HEAT, "--model", "paper", "--save", "fit.nc", "--plot", "fit.png",
         "--force", "-q"), write_heat),
    "simulate": Command(
        ("simulate", "saved.nc", "--until", "0.2", "--frames", "3", "--points", "20", "--save", "run.nc", "--plot",
         "run.png", "--force", "-q"), copy_fit),
    "demo": Command(("demo", "--csv", "new/points.csv", "--save", "new/fit.nc", "--force", "-q"), nothing),
    "data set": Command(("datasets", "make", "small_wave", "--folder", "data", "-q"), nothing),
    "cylinder": Command(("datasets", "make", "small_cylinder", "--folder", "data", "-q"), nothing, resumes=True),
    "reproduce": Command(
        ("reproduce", "burgers", "--smoke", "--workers", "0", "--data", "burgers.npz", "--folder", "report", "-q"),
        write_recording, resumes=True),
}  # fmt: skip


def register_small_data() -> None:
    """Add data sets that are made in a moment."""
    import xarray as xr

    from hiddenphysics.datasets import DATASETS, Recipe
    from hiddenphysics.datasets.cylinder_wake import recording_of
    from hiddenphysics.simulate.cylinder import FlowSettings, RunPlan, Window

    def build(progress: Callable[[float], None]) -> Any:
        t, x = np.arange(3.0), np.arange(8.0)
        return xr.Dataset({"u": (("t", "x"), np.sin(x - t[:, None]))}, {"t": t, "x": x})

    flow = {"levels": 2, "cells": (24, 12), "spacing": 0.15, "corner": (-0.9, -0.9), "time_step": 0.15}
    plan = RunPlan(
        flow=FlowSettings(**flow), start=FlowSettings(**flow), shed=0.6, settle=0.3, watch=0.6, snapshots=3,
        windows=(Window(0.05, snapshots=2, settle=0.1),), box=((1.0, 2.0), (-0.5, 0.5)), checkpoint_every=2,
    )  # fmt: skip
    DATASETS.add("small_wave", Recipe("Small.", "u_t + c*u_x = 0", {"c": 1.0}, {"n": 8}, build))
    DATASETS.add("small_cylinder", recording_of(plan, "main", "Small."))


def stand_in(task: Any) -> dict[str, Any]:
    """Return the row of a fit that nobody waits for: what counts here is that it is written."""
    estimate = {"estimate": 1.0, "std": 0.1, "interval95": [0.8, 1.2]}
    told = {"status": "converged", "explanation": "", "seconds": 0.0, "equation": "u_t = 0"}
    return told | {"parameters": {"a": estimate, "b": estimate}}


# ---- the process that the commands are forked from --------------------


def serve() -> None:
    """Fork a process for every job that is read: everything is imported once, and nothing has computed yet."""
    import warnings
    from importlib import import_module

    from hiddenphysics.reproduction import runner

    warnings.simplefilter("ignore")
    for module in ("cli.commands", "cli.actions", "cli.reproduce", "identification", "reproduction", "datasets",
                   "result.files", "result.pictures", "result.trajectory", "demo"):  # fmt: skip
        import_module(f"hiddenphysics.{module}")
    for module in (
        "matplotlib.backends.backend_agg",
        "matplotlib.backends.backend_svg",
        "xarray.backends.h5netcdf_",
    ):
        import_module(module)

    register_small_data()
    runner.perform = stand_in
    print(json.dumps("ready"), flush=True)
    for line in sys.stdin:
        job = json.loads(line)
        child = os.fork()
        if not child:
            perform(job)
        print(json.dumps(waited(child)), flush=True)


def perform(job: dict[str, Any]) -> None:
    """Run the command of a job in this process, with one call on its folder made to fail; never return."""
    from hiddenphysics.cli import main

    os.chdir(job["folder"])
    for stream, name in ((1, "stdout"), (2, "stderr")):
        os.dup2(os.open(f"{job['told']}.{name}", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), stream)
    time.perf_counter = lambda: 0.0  # the same seconds every time
    sys.argv = ["hiddenphysics", *job["words"]]
    layer = ctypes.CDLL(None)
    full = job["fault"] == errno.ENOSPC
    layer.fault_arm(job["folder"].encode(), ctypes.c_long(job["number"]), job["fault"], int(full))
    code: Any = 0
    try:
        main()
    except SystemExit as end:
        code = end.code
    except BaseException:
        import traceback

        traceback.print_exc()
        code = 1
    Path(f"{job['told']}.seen").write_text(str(layer.fault_seen()))
    sys.stderr.flush()
    os._exit(int(code or 0))


def waited(child: int) -> int:
    """Wait for a process; return its exit code, or the number of a signal below 0."""
    deadline = time.monotonic() + SECONDS
    while time.monotonic() < deadline:
        pid, status = os.waitpid(child, os.WNOHANG)
        if pid:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.005)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return -1000


class Server:
    """The process that forks, and the layer in front of its C library."""

    def __init__(self, scratch: Path) -> None:
        layer = scratch / "faults.so"
        source = Path(__file__).with_name("faults.c")
        subprocess.run(["cc", "-O1", "-shared", "-fPIC", "-o", layer, source, "-ldl"], check=True)  # noqa: S607
        compiled = {"JAX_COMPILATION_CACHE_DIR": str(scratch / "compiled"),
                    "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0"}  # fmt: skip
        self._told = scratch / "told"
        self._process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.faults", "--serve"],
            env=os.environ | compiled | {"LD_PRELOAD": str(layer)}, cwd=ROOT, text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        )  # fmt: skip
        self._answer()

    def _answer(self) -> Any:
        assert self._process.stdout is not None
        return json.loads(self._process.stdout.readline())

    def run(
        self, words: Sequence[str], folder: Path, number: int = 0, fault: int = 0
    ) -> tuple[int, str, int]:
        """Run a command; return its exit code, what it says on stderr, and how many calls were counted."""
        job = {
            "words": list(words),
            "folder": str(folder),
            "number": number,
            "fault": fault,
            "told": str(self._told),
        }
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(job) + "\n")
        self._process.stdin.flush()
        code = self._answer()
        seen = Path(f"{self._told}.seen")
        count = int(seen.read_text()) if seen.exists() else 0
        seen.unlink(missing_ok=True)
        return code, Path(f"{self._told}.stderr").read_text(), count

    def end(self) -> None:
        """End the process."""
        self._process.communicate()


# ---- what is asked of every fault --------------------


def contents(folder: Path) -> dict[str, bytes]:
    """Return all files below a folder."""
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


@contextmanager
def prepared(command: Command, scratch: Path) -> Iterator[Path]:
    """Make a folder as the command finds it; what is in it is made once."""
    before = scratch / f"before {'-'.join(command.words[:3])}".replace("/", "-")
    if not before.exists():
        before.mkdir()
        command.prepare(before)
    folder = Path(tempfile.mkdtemp(dir=scratch)) / "folder"
    shutil.copytree(before, folder)
    yield folder
    shutil.rmtree(folder.parent)


def complaints(server: Server, command: Command, whole: dict[str, bytes], folder: Path, number: int, fault: int
               ) -> list[str] | None:  # fmt: skip
    """Let one call fail; return what should not have come of it."""
    before = contents(folder)
    code, said, _ = server.run(command.words, folder, number, fault)
    wrong = []
    if code == 0 and fault == TORN:
        return None  # the call was no write
    if code == 0:
        wrong.append("exit code 0")
    if fault > 0 and (code < 0 or "error: " not in said or "Traceback" in said):
        wrong.append(f"exit code {code}, no sentence: {said[-300:]}")
    now = contents(folder)
    for name, content in now.items():
        partly = command.resumes and (name.endswith("fits.jsonl") or ".partial/" in name)
        left = Path(name).name.startswith(BEGUN)
        if left and fault > 0:
            wrong.append(f"{name} was left behind by a process that was not killed")
        if not (left or partly) and content not in (before.get(name), whole.get(name)):
            wrong.append(f"{name} is torn: {len(content)} bytes")
    wrong += [f"{name} is gone" for name in before if name not in now]
    code, said, _ = server.run(command.words, folder)
    after = contents(folder)
    if code:
        wrong.append(f"typed again, it ends with {code}: {said[-300:]}")
    if after != whole:
        names = sorted(name for name in {*after, *whole} if after.get(name) != whole.get(name))
        wrong.append(f"typed again, these differ: {', '.join(names)}")
    return wrong


def main(given: Sequence[str] | None = None) -> None:
    """Fail every call of every command, print the table, and end with 1 where anything was wrong."""
    parser = arguments(__doc__)
    parser.add_argument("--commands", nargs="*", default=list(COMMANDS), choices=list(COMMANDS))
    parser.add_argument("--faults", nargs="*", default=list(FAULTS), choices=list(FAULTS))
    parser.add_argument("--serve", action="store_true", help="for its own process")
    asked = parser.parse_args(given)
    if asked.serve:
        serve()
        return
    rows, bad = [], 0
    with tempfile.TemporaryDirectory() as place:
        scratch = Path(place)
        server = Server(scratch)
        for name in asked.commands:
            command = COMMANDS[name]
            began = time.monotonic()
            with prepared(command, scratch) as folder:
                code, said, calls = server.run(command.words, folder)
                assert code == 0, said
                whole = contents(folder)
            numbers = range(1, calls + 1)
            points = [(n, f) for f in asked.faults for n in (list(numbers)[:2] if asked.small else numbers)]
            wrong = done = 0
            for number, fault in points:
                with prepared(command, scratch) as folder:
                    found = complaints(server, command, whole, folder, number, FAULTS[fault])
                done += found is not None
                if found is not None and done % 50 == 0:
                    print(f"{name}: {done} points", flush=True)
                wrong += bool(found)
                for words in found or ():
                    print(f"{name}, call {number} of {calls}, {fault}: {words}", flush=True)
            rows.append([name, str(calls), str(done), str(wrong), f"{time.monotonic() - began:.0f}"])
            print(rows[-1], flush=True)
            bad += wrong
        server.end()
    write(asked.to, "faults", table(["command", "calls", "points", "wrong", "seconds"], rows))
    if bad:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
