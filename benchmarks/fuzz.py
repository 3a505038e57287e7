"""Damaged files, thousands of them, and what becomes of each: refused in a sentence, or read; never anything else.

`python -m benchmarks.fuzz --count 20000 --seed 0` damages files of every kind that the package reads: saved results,
checkpoints, tables, NumPy's, MATLAB's and netCDF's. A damaged file follows from kind, seed and number alone. Each is
read in a process that may die; counted are crashes, exceptions that are not the package's own, readings of more than
10 s, the largest memory, and altered results and checkpoints that were taken for whole. Any of these ends in exit
code 1; the same seed makes the same files again.
"""

from __future__ import annotations

import json
import multiprocessing
import resource
import time
import warnings
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from multiprocessing.connection import Connection
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from benchmarks.cases import arguments, peak_gib, table, write
from benchmarks.damage import damaged, forged, refolded, rezipped
from benchmarks.whole_files import (
    SAVED,
    csv,
    fits,
    hdf5,
    mat,
    netcdf,
    parquet,
    result,
    saved_bytes,
    spreadsheet,
    state,
    wave,
)
from hiddenphysics.errors import HiddenPhysicsError

SLOW, HEAVY = 10.0, 1.0
"""Seconds and GiB that no file of these sizes may take."""
REFUSED, READ, FOREIGN, ALTERED = "refused", "read", "foreign", "altered"
CRASHED, HUNG = "crashed", "hung"
BAD = (FOREIGN, ALTERED, CRASHED, HUNG, "slow", "heavy")


# ---- how it is read --------------------


def read_data(path: Path) -> str:
    """Read snapshots, with all their values."""
    import hiddenphysics as hp

    snapshots = hp.read(path)
    for snapshot in snapshots:
        for _ in snapshot.chunks():
            pass
    snapshots.describe()
    return READ


def load_result(path: Path) -> str:
    """Load a result: whatever is not the file that was saved must be refused."""
    import hiddenphysics as hp

    hp.load(path)
    return ALTERED if path.read_bytes() != original("result") else READ


def use_result(path: Path) -> str:
    """Load a result that may say anything, and ask it."""
    import hiddenphysics as hp

    fit = hp.load(path)
    str(fit), json.dumps(fit.summary())
    fit.predict(
        fit.equation.given[0], *np.ones((len(fit.equation.coordinates), 3)), t=float(fit.snapshots.times[0])
    )
    return READ


def read_fits(path: Path) -> str:
    """Read rows: each must be one of those that were written."""
    from hiddenphysics.reproduction import Checkpoint

    folder = path.parent / "run"
    folder.mkdir(exist_ok=True)
    (folder / "fits.jsonl").write_bytes(path.read_bytes())
    rows = Checkpoint(folder).read()
    return READ if all(written_rows().get(key) == row for key, row in rows.items()) else ALTERED


@cache
def written_rows() -> dict[str, Any]:
    """Return the rows of the whole file."""
    rows = (json.loads(line) for line in original("fits").splitlines())
    return {row["key"]: {k: v for k, v in row.items() if k != "sum"} for row in rows}


def read_checkpoint(path: Path) -> str:
    """Read the state of a run: it must be the one that was written."""
    from hiddenphysics.simulate.cylinder.store import read_state

    got, forces = read_state(path)
    with TemporaryDirectory() as folder:
        (Path(folder) / "whole.npz").write_bytes(original("state"))
        whole, told = read_state(Path(folder) / "whole.npz")
    pairs = zip(
        [*got.omega, *got.psi, got.time, forces], [*whole.omega, *whole.psi, whole.time, told], strict=True
    )
    return READ if all(np.array_equal(a, b) for a, b in pairs) else ALTERED


@dataclass(frozen=True)
class Kind:
    """A kind of file: its ending, whole bytes, how it is damaged and read, and its share of all files."""

    ending: str
    whole: Callable[[], bytes]
    damage: Callable[[bytes, np.random.Generator], bytes]
    read: Callable[[Path], str]
    share: float


KINDS = {
    "result": Kind(".nc", result, damaged, load_result, 4.0),
    "forged": Kind(".nc", result, forged, use_result, 2.0),
    "earlier": Kind(".nc", lambda: (SAVED / "flow.nc").read_bytes(), damaged, use_result, 0.4),
    "fits": Kind(".jsonl", fits, damaged, read_fits, 3.0),
    "state": Kind(".npz", state, damaged, read_checkpoint, 2.0),
    "csv": Kind(".csv", csv, damaged, read_data, 2.0),
    "npz": Kind(".npz", lambda: saved_bytes(lambda f: np.savez(f, **wave())), damaged, read_data, 1.5),
    "npz, folded": Kind(
        ".npz", lambda: saved_bytes(lambda f: np.savez_compressed(f, **wave())), rezipped, read_data, 1.5
    ),
    "mat 4": Kind(".mat", lambda: mat(format="4"), damaged, read_data, 1.0),
    "mat 5": Kind(".mat", mat, damaged, read_data, 2.0),
    "mat 7": Kind(".mat", lambda: mat(do_compression=True), damaged, read_data, 1.0),
    "mat 7, folded": Kind(".mat", lambda: mat(do_compression=True), refolded, read_data, 1.5),
    "parquet": Kind(".parquet", parquet, damaged, read_data, 1.0),
    "xlsx": Kind(".xlsx", spreadsheet, damaged, read_data, 0.5),
    "xlsx, folded": Kind(".xlsx", spreadsheet, rezipped, read_data, 0.5),
    "hdf5": Kind(".h5", hdf5, damaged, read_data, 0.4),
    "netcdf 3": Kind(".nc", lambda: netcdf("scipy"), damaged, read_data, 1.0),
    "netcdf 4": Kind(".nc", lambda: netcdf("h5netcdf"), damaged, read_data, 0.4),
    "netcdf 4, folded": Kind(
        ".nc",
        lambda: netcdf("h5netcdf", zlib=True, fletcher32=True, chunksizes=(2, 8)),
        damaged,
        read_data,
        0.4,
    ),
}


@cache
def original(kind: str) -> bytes:
    """Return the whole file of a kind."""
    return KINDS[kind].whole()


def attempt(kind: str, seed: int, number: int, folder: Path) -> tuple[str, str]:
    """Damage a file, read it, and say what became of it; with words where that was bad."""
    one = KINDS[kind]
    rng = np.random.default_rng([seed, number, zlib.crc32(kind.encode())])
    content = one.damage(original(kind), rng)
    path = folder / f"{number}{one.ending}"
    path.write_bytes(content)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return one.read(path) if content != original(kind) else READ, ""
    except HiddenPhysicsError as problem:
        long = len(str(problem)) > 4000
        return (FOREIGN, "a message of thousands of characters") if long else (REFUSED, "")
    except Exception as problem:
        return FOREIGN, f"{type(problem).__name__}: {problem!s:.200}"
    finally:
        path.unlink(missing_ok=True)


# ---- many of them, in a process that may die --------------------


def serve(connection: Connection, seed: int) -> None:
    """Attempt what is asked for; tell the outcome, seconds, and the peak of memory of this one."""
    with TemporaryDirectory() as folder:
        while True:
            kind, number = connection.recv()
            original(kind)
            Path("/proc/self/clear_refs").write_text("5")  # the peak begins anew
            began = time.perf_counter()
            outcome, words = attempt(kind, seed, number, Path(folder))
            seconds = time.perf_counter() - began
            children = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 2**20
            connection.send((outcome, words, seconds, max(peak_gib(), children)))


class Reader:
    """A process that reads damaged files, started again when it has died."""

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._start()

    def _start(self) -> None:
        context = multiprocessing.get_context("spawn")
        self._connection, other = context.Pipe()
        self._process = context.Process(target=serve, args=(other, self._seed), daemon=True)
        self._process.start()
        other.close()

    def ask(self, kind: str, number: int, patience: float) -> tuple[str, str, float, float]:
        """Return outcome, words, seconds and GiB of one file."""
        self._connection.send((kind, number))
        try:
            if self._connection.poll(patience):
                return self._connection.recv()
            outcome = HUNG, f"no answer within {patience:g} s", patience, 0.0
        except EOFError:
            self._process.join()
            outcome = CRASHED, f"exit code {self._process.exitcode}", 0.0, 0.0
        self.end()
        self._start()
        return outcome

    def end(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.join()
        self._connection.close()


def main(given: Sequence[str] | None = None) -> None:
    """Attempt all files, print the table, and end with 1 where anything was bad."""
    parser = arguments(__doc__)
    parser.add_argument("--count", type=int, default=20_000, help="files in all; 20000")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--kinds", nargs="*", default=list(KINDS), choices=list(KINDS))
    asked = parser.parse_args(given)
    count = 150 if asked.small else asked.count
    reader, rows, bad = Reader(asked.seed), [], []
    whole = sum(KINDS[kind].share for kind in asked.kinds)
    for kind in asked.kinds:
        files = max(round(count * KINDS[kind].share / whole), 1)
        tally: dict[str, int] = dict.fromkeys((REFUSED, READ, *BAD), 0)
        slowest = heaviest = total = 0.0
        for number in range(files):
            # The first one makes the whole file, and may compile.
            outcome, words, seconds, gib = reader.ask(kind, number, 120.0 if number < 3 else 3 * SLOW)
            if number:
                slowest, heaviest, total = max(slowest, seconds), max(heaviest, gib), total + seconds
            outcome = "slow" if number and seconds > SLOW and outcome not in BAD else outcome
            outcome = "heavy" if gib > HEAVY and outcome not in BAD else outcome
            tally[outcome] += 1
            if outcome in BAD:
                bad.append(f"{kind} {number}: {outcome}: {words}")
                print(bad[-1], flush=True)
        rows.append([kind, files, *tally.values(), f"{1e3 * total / max(files - 1, 1):.1f}", f"{slowest:.2f}",
                     f"{heaviest:.2f}"])  # fmt: skip
        print(rows[-1], flush=True)
    reader.end()
    names = ["kind", "files", REFUSED, READ, *BAD, "ms each", "slowest, s", "peak, GiB"]
    page = table(names, [[str(cell) for cell in row] for row in rows])
    write(asked.to, "fuzz", page)
    if bad:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
