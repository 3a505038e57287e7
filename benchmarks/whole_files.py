"""A small file of every kind that the package reads, as bytes: what `benchmarks.fuzz` damages."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from benchmarks.cases import ROOT

SAVED = ROOT / "tests" / "result" / "saved"


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
