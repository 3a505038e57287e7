"""Damaged files, thousands of them, and what becomes of each: refused in a sentence, or read; never anything else.

`python -m benchmarks.fuzz --count 20000 --seed 0` damages files of every kind that the package reads: saved results,
checkpoints, tables, NumPy's, MATLAB's and netCDF's. A damaged file follows from kind, seed and number alone. Each is
read in a process that may die; counted are crashes, exceptions that are not the package's own, readings of more than
10 s, the largest memory, and altered results and checkpoints that were taken for whole. Any of these ends in exit
code 1; the same seed makes the same files again.
"""

from __future__ import annotations

import io
import json
import multiprocessing
import resource
import struct
import time
import warnings
import zipfile
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from multiprocessing.connection import Connection
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from benchmarks.cases import ROOT, arguments, peak_gib, table, write
from hiddenphysics.errors import HiddenPhysicsError

SAVED = ROOT / "tests" / "result" / "saved"
SLOW, HEAVY = 10.0, 1.0
"""Seconds and GiB that no file of these sizes may take."""
REFUSED, READ, FOREIGN, ALTERED = "refused", "read", "foreign", "altered"
CRASHED, HUNG = "crashed", "hung"
BAD = (FOREIGN, ALTERED, CRASHED, HUNG, "slow", "heavy")

EXTREMES = (0, 1, -1, 127, 2**15, 2**29, 2**31 - 1, -(2**31), 2**40, 2**63 - 1)
"""Numbers that lengths and offsets are replaced by."""
TEXTS = (
    b"nan",
    b"1e999",
    b"-0",
    b"",
    b"[",
    b"{",
    b"null",
    b"9" * 400,
    b'"',
    b"[" * 5000,
    b"\xff\xfe",
    b"a" * 2000,
)


# ---- what is damaged --------------------


def wave() -> dict[str, np.ndarray]:
    """Return a small recording: t (5,), x (16,), u (5, 16)."""
    t, x = 0.1 * np.arange(5.0), np.linspace(0, 6, 16)
    return {"t": t, "x": x, "u": np.sin(x - t[:, None])}


def saved_bytes(write_to: Callable[[io.BytesIO], Any]) -> bytes:
    """Return what a function writes into a file."""
    file = io.BytesIO()
    write_to(file)
    return file.getvalue()


def netcdf(engine: str, **encoding: Any) -> bytes:
    """Return the recording as netCDF."""
    import xarray as xr

    fields = wave()
    data = xr.Dataset({"u": (("t", "x"), fields["u"])}, {"t": fields["t"], "x": fields["x"]})
    with TemporaryDirectory() as folder:
        data.to_netcdf(Path(folder) / "f.nc", engine=engine, encoding={"u": encoding} if encoding else {})
        return (Path(folder) / "f.nc").read_bytes()


def csv() -> bytes:
    """Return the recording as a table."""
    fields = wave()
    rows = (f"{t:g},{x:.6g},{u:.6g}" for t, row in zip(fields["t"], fields["u"], strict=True)
            for x, u in zip(fields["x"], row, strict=True))  # fmt: skip
    return ("t,x,u\n" + "\n".join(rows) + "\n").encode()


def parquet() -> bytes:
    """Return the recording as a Parquet file."""
    import pandas as pd

    return saved_bytes(lambda file: pd.read_csv(io.BytesIO(csv())).to_parquet(file))


def spreadsheet() -> bytes:
    """Return the recording as an Excel file."""
    import pandas as pd

    return saved_bytes(lambda file: pd.read_csv(io.BytesIO(csv())).to_excel(file, index=False))


def hdf5() -> bytes:
    """Return the recording as plain arrays in HDF5."""
    import h5py

    def write(file: io.BytesIO) -> None:
        with h5py.File(file, "w") as target:
            for name, array in wave().items():
                target[name] = array

    return saved_bytes(write)


def mat(**options: Any) -> bytes:
    """Return the recording as MATLAB's."""
    from scipy.io import savemat

    return saved_bytes(lambda file: savemat(file, wave() | {"note": "text"}, **options))


def result() -> bytes:
    """Return a result of the flow, saved by this version."""
    import hiddenphysics as hp

    with TemporaryDirectory() as folder:
        return hp.load(SAVED / "flow.nc").save(Path(folder) / "fit.nc").read_bytes()


def fits() -> bytes:
    """Return rows of a reproduction, as a run leaves them."""
    from hiddenphysics.reproduction import Checkpoint
    from hiddenphysics.reproduction.checkpoint import failure

    estimate = {"estimate": 0.2951, "std": 0.0031, "interval95": [0.289, 0.3012]}
    fitted = {
        "status": "converged",
        "explanation": "It settled.",
        "parameters": {"b": estimate},
        "seconds": 1.25,
    }
    with TemporaryDirectory() as folder:
        checkpoint = Checkpoint(Path(folder))
        for k in range(6):
            row = failure("a worker died") if k == 4 else fitted | {"end": {"b": 0.3}, "equation": "u_t = 0"}
            checkpoint.append({"key": f"heat/pair {k}", "digest": "fb386f135144b395"} | row)
        return (Path(folder) / "fits.jsonl").read_bytes()


def state() -> bytes:
    """Return a checkpoint of the cylinder's run."""
    from hiddenphysics.simulate.cylinder.stepper import State
    from hiddenphysics.simulate.cylinder.store import write_state

    rng = np.random.default_rng(0)
    fields = [rng.standard_normal((6, 5)) for _ in range(2)]
    with TemporaryDirectory() as folder:
        write_state(Path(folder) / "c.npz", State(fields, fields, 1.5), rng.standard_normal((4, 2)))
        return (Path(folder) / "c.npz").read_bytes()


# ---- how it is damaged --------------------


def damaged(content: bytes, rng: np.random.Generator) -> bytes:
    """Return other bytes: flipped, cut, overwritten, doubled, with extreme numbers or words in them."""
    data, size = bytearray(content), len(content)
    kind, place = rng.integers(10), int(rng.integers(size))
    if kind <= 2:
        data[place] ^= 1 << int(rng.integers(8))
    elif kind == 3:
        for where in rng.integers(size, size=int(rng.integers(2, 9))):
            data[where] = int(rng.integers(256))
    elif kind == 4:
        del data[place:]
    elif kind == 5:
        data[place : place + int(rng.integers(1, 200))] = bytes([int(rng.choice([0, 255]))]) * 40
    elif kind == 6:
        stop = min(place + int(rng.integers(1, 2000)), size)
        data[place:place] = data[place:stop]
    elif kind == 7:
        width = str(rng.choice(["<q", ">q", "<i", ">i", "<h"]))
        number = int(rng.choice(EXTREMES)) & (256 ** struct.calcsize(width) - 1)
        data[place : place + struct.calcsize(width)] = struct.pack(width.upper(), number)
    elif kind == 8:
        digits = [k for k, byte in enumerate(data) if 48 <= byte <= 57] or [place]
        where = int(rng.choice(digits))
        data[where : where + 1] = TEXTS[rng.integers(len(TEXTS))] if rng.random() < 0.5 else b"9" * 9
    else:
        data[place:place] = TEXTS[rng.integers(len(TEXTS))]
    return bytes(data)


def rezipped(content: bytes, rng: np.random.Generator) -> bytes:
    """Damage the inside of one member of an archive, and give it a checksum that fits."""
    file = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as new:
        chosen = rng.choice(old.namelist())
        for name in old.namelist():
            inner = old.read(name)
            if name == chosen:
                header = damaged(inner[:128], rng)
                inner = header + inner[128:]
            new.writestr(name, inner)
    return file.getvalue()


def refolded(content: bytes, rng: np.random.Generator) -> bytes:
    """Damage the inside of a compressed variable of a MATLAB file, and compress it again."""
    data, place, spans = content, 128, []
    while place < len(data):
        length = struct.unpack_from("<I", data, place + 4)[0]
        spans.append((place, length))
        place += 8 + length
    place, length = spans[rng.integers(len(spans))]
    inner = zlib.compress(damaged(zlib.decompress(data[place + 8 : place + 8 + length]), rng))
    return data[:place] + struct.pack("<II", 15, len(inner)) + inner + data[place + 8 + length :]


def forged(content: bytes, rng: np.random.Generator) -> bytes:
    """Change a value of a saved result's description or its table of arrays, and seal it again."""
    from hiddenphysics.writer import FOOTER, sealed

    length = FOOTER.unpack(content[-FOOTER.size :])[0]
    inner, note = content[: -FOOTER.size - length], json.loads(content[-FOOTER.size - length : -FOOTER.size])
    holder: Any = note["told"] if rng.random() < 0.8 else note
    while True:
        keys = list(holder) if isinstance(holder, dict) else list(range(len(holder)))
        key = keys[rng.integers(len(keys))]
        if isinstance(holder[key], dict | list) and holder[key] and rng.random() < 0.9:
            holder = holder[key]
            continue
        break
    wrong = [
        None,
        True,
        "",
        "text",
        -1,
        0,
        7,
        2**29,
        2**70,
        float("nan"),
        1e308,
        [],
        [1],
        {},
        {"a": 1},
        [[0.0, 1.0]],
    ]
    if rng.random() < 0.15:
        del holder[key]
    else:
        holder[key] = wrong[rng.integers(len(wrong))]
    if rng.random() < 0.2:  # numbers, too
        numbers = bytearray(inner)
        place = int(rng.integers(len(numbers) // 8)) * 8
        numbers[place : place + 8] = struct.pack("<d", float(rng.choice([np.nan, np.inf, -1.0, 1e300])))
        inner = bytes(numbers)
    return sealed(inner, json.dumps(note).encode())


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
