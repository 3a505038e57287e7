"""Files of HDF5 are read by a child first: it may crash, hang or run out of memory."""

import subprocess
import sys

import h5py
import numpy as np
import pytest

from hiddenphysics.errors import DataError
from hiddenphysics.loader import Trial, trial


def tried(path):
    with Trial(path) as attempt:
        attempt.check()


def test_a_whole_file_passes(tmp_path):
    with h5py.File(tmp_path / "f.nc", "w") as file:
        file["u"] = np.arange(6.0).reshape(2, 3)
        file.create_group("g").attrs["note"] = "text"
    tried(tmp_path / "f.nc")


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda f: f.create_dataset("u", (2**29,), "f8"), r"would unfold to 5.37e\+08 numbers"),
        (lambda f: f.create_dataset("u", (2**28,), "f8", chunks=(2**20,), compression=1), "Write it without"),
        (lambda f: f.create_dataset("u", (4,), "f8", external=[("other", 0, 32)]), "points to other files"),
    ],
    ids=["shape", "folded", "elsewhere"],
)
def test_what_would_take_too_much_or_lies_elsewhere_is_refused(tmp_path, make, said):
    with h5py.File(tmp_path / "f.nc", "w") as file:
        make(file)
    with pytest.raises(DataError, match=said):
        tried(tmp_path / "f.nc")


@pytest.mark.parametrize(
    ("code", "said"),
    [
        (
            "import os, signal; os.kill(os.getpid(), signal.SIGSEGV)",
            "ended by signal 11 on it. The file is damaged",
        ),
        ("import time; time.sleep(60)", r"took longer than 0\.2 s"),
        ("import sys; sys.exit(9)", "ended with exit code 9"),
    ],
    ids=["crash", "hang", "end"],
)
def test_a_child_that_crashes_or_hangs_is_a_sentence(tmp_path, monkeypatch, code, said):
    (tmp_path / "child.py").write_text(code)
    (tmp_path / "f.nc").write_bytes(b"\x89HDF")
    monkeypatch.setattr(trial, "SCRIPT", tmp_path / "child.py")
    monkeypatch.setattr(trial, "SECONDS", 0.2)
    with pytest.raises(DataError, match=said):
        tried(tmp_path / "f.nc")


@pytest.mark.skipif(sys.platform != "linux", reason="looks at the limits of a process")
def test_the_child_has_a_limit_of_memory(tmp_path):
    """Half a gigabyte: a file that says less than it takes ends there, and not in swapping."""
    code = (
        "import sys; sys.argv = ['x', 'f', '1', '5']; from hiddenphysics.loader import hdf5_child as child\n"
        "child.limit(5.0)\ntry:\n    bytearray(2**30)\nexcept MemoryError:\n    print('refused')"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout == "refused\n"
