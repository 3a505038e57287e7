"""The commands that look for what goes wrong with files, in seconds; their large versions are benchmarks."""

import shutil
import sys

import pytest

from benchmarks import faults, fuzz

LAYERED = sys.platform == "linux" and shutil.which("cc") is not None


@pytest.mark.skipif(not LAYERED, reason="needs Linux and a C compiler")
def test_calls_on_the_disk_fail_in_turn(tmp_path, capsys):
    faults.main(["--small", "--to", str(tmp_path), "--commands", "data set", "--faults", "full disk", "kill"])
    page = (tmp_path / "faults.md").read_text()
    assert "| data set | 5 | 4 | 0 |" in page, capsys.readouterr().out


@pytest.mark.skipif(not LAYERED, reason="needs Linux and a C compiler")
def test_what_is_written_in_place_would_be_seen(tmp_path, monkeypatch):
    """The referee notices a file that is torn, a traceback, and an exit code 0."""

    class Careless:
        def run(self, words, folder, number=0, fault=0):
            (folder / "fit.nc").write_bytes(b"half of" if fault else b"whole")
            return (0, "Traceback", 0) if fault else (0, "", 0)

    command = faults.Command((), lambda folder: (folder / "fit.nc").write_bytes(b"old"))
    with faults.prepared(command, tmp_path) as folder:
        found = faults.complaints(Careless(), command, {"fit.nc": b"whole"}, folder, 1, 28)
    assert [words.split(":")[0] for words in found] == [
        "exit code 0",
        "exit code 0, no sentence",
        "fit.nc is torn",
    ]


@pytest.mark.skipif(sys.platform != "linux", reason="looks at memory in /proc")
def test_damaged_files_are_read_in_a_process_that_may_die(tmp_path):
    fuzz.main(["--small", "--to", str(tmp_path), "--kinds", "csv", "npz", "mat 5", "fits", "state"])
    page = (tmp_path / "fuzz.md").read_text()
    assert page.count("| 0 | 0 | 0 | 0 | 0 | 0 |") == 5, page
