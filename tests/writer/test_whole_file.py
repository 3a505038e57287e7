"""The writer: whole or absent, nothing replaced unasked, nothing left behind, whatever the disk does."""

import errno
import os
import signal
import stat
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from hiddenphysics.errors import DataError, WriteError
from hiddenphysics.writer import alone_with, check_target, whole_file, write_file

OLD, NEW = b"as it was", b"as it should be" * 1000


def failing(number):
    def fail(*args, **kwargs):
        raise OSError(number, os.strerror(number))

    return fail


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "fit.nc"
    path.write_bytes(OLD)
    return path


def test_folders_are_made_and_nothing_else(tmp_path):
    path = tmp_path / "a" / "b" / "fit.nc"
    assert write_file(path, NEW) == path
    assert path.read_bytes() == NEW
    assert [p.name for p in path.parent.iterdir()] == ["fit.nc"]


def test_an_existing_file_is_kept_unless_told(path):
    with pytest.raises(DataError, match=r"fit\.nc exists and is not overwritten.*overwrite=True, --force"):
        write_file(path, NEW)
    assert path.read_bytes() == OLD
    path.chmod(0o640)
    write_file(path, NEW, overwrite=True)
    assert path.read_bytes() == NEW
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


@pytest.mark.parametrize(
    ("call", "number", "said"),
    [
        ("os.write", errno.ENOSPC, "the disk is full.*Free some space"),
        ("os.write", errno.EDQUOT, "the disk is full"),
        ("os.fsync", errno.EIO, "Input/output error"),
        ("pathlib.Path.replace", errno.EACCES, "its folder does not let files be written"),
        ("pathlib.Path.replace", errno.EIO, "Input/output error"),
    ],
)
@pytest.mark.parametrize("name", ["fit.nc", "new/deep/fit.nc"])
def test_what_fails_is_a_sentence_and_leaves_everything_as_it_was(
    path, monkeypatch, call, number, said, name
):
    monkeypatch.setattr(call, failing(number))
    with pytest.raises(WriteError, match=f"fit.nc was not written: {said}") as caught:
        write_file(path.parent / name, NEW, overwrite=True)
    assert isinstance(caught.value, OSError)  # for those who catch these
    assert path.read_bytes() == OLD
    assert [p.name for p in path.parent.iterdir()] == ["fit.nc"]


def test_a_write_in_parts_is_finished(path, monkeypatch):
    real = os.write
    monkeypatch.setattr("os.write", lambda handle, content: real(handle, content[:7]))
    write_file(path, NEW, overwrite=True)
    assert path.read_bytes() == NEW


@pytest.mark.parametrize("number", whole_file.NO_RENAME)
def test_a_disk_without_rename_gets_the_file_in_place(path, monkeypatch, number):
    monkeypatch.setattr("pathlib.Path.replace", failing(number))
    write_file(path, NEW, overwrite=True)
    write_file(path.with_name("second.nc"), NEW)
    assert path.read_bytes() == path.with_name("second.nc").read_bytes() == NEW
    assert sorted(p.name for p in path.parent.iterdir()) == ["fit.nc", "second.nc"]


def test_a_disk_without_rename_that_is_full_gets_its_old_file_back(path, monkeypatch):
    monkeypatch.setattr("pathlib.Path.replace", failing(errno.ENOSYS))
    real, calls = os.write, []

    def full_for_the_second(handle, content):
        calls.append(bytes(content[:3]))
        if len(calls) == 2:
            raise OSError(errno.ENOSPC, "")
        return real(handle, content)

    monkeypatch.setattr("os.write", full_for_the_second)
    with pytest.raises(WriteError, match="the disk is full"):
        write_file(path, NEW, overwrite=True)
    assert path.read_bytes() == OLD


@pytest.mark.parametrize(
    "kind", ["folder", "pipe", "device", "below a file", "long name", "null", "loop", "closed"]
)
def test_places_that_nothing_is_written_to(path, kind, monkeypatch):
    """Even when told to overwrite."""
    bad = path.with_name("bad.nc")
    if kind == "folder":
        bad.mkdir()
    elif kind == "pipe":
        os.mkfifo(bad)
    elif kind == "loop":
        bad.symlink_to(bad)
    elif kind == "closed":
        monkeypatch.setattr("os.access", lambda *given: False)  # root may write anywhere
    else:
        bad = {
            "device": Path("/dev/full"),
            "below a file": path / "deep" / "bad.nc",
            "long name": path.with_name("x" * 300),
            "null": path.with_name("x\0y"),
        }[kind]
    before = stat.S_IFMT(bad.lstat().st_mode) if kind in ("folder", "pipe", "device", "loop") else None
    for attempt in (check_target, lambda bad, overwrite: write_file(bad, NEW, overwrite=overwrite)):
        with pytest.raises(WriteError, match=r"Choose (another|a shorter)"):
            attempt(bad, overwrite=True)
    if before is not None:
        assert stat.S_IFMT(bad.lstat().st_mode) == before
    assert path.read_bytes() == OLD


def test_links_stay_links(path):
    link, dangling = path.with_name("link.nc"), path.with_name("dangling.nc")
    link.symlink_to(path)
    dangling.symlink_to(path.with_name("nowhere.nc"))
    for one in (link, dangling):
        with pytest.raises(DataError, match="is not overwritten"):
            write_file(one, NEW)
        write_file(one, NEW, overwrite=True)
        assert one.is_symlink()
        assert one.read_bytes() == NEW
    assert path.read_bytes() == path.with_name("nowhere.nc").read_bytes() == NEW


def test_the_longest_name_can_be_written(tmp_path):
    assert write_file(tmp_path / ("x" * 255), NEW).read_bytes() == NEW


def test_threads_that_write_to_one_place_show_whole_files_only(path):
    """Four writers, and a reader that looks all the time: 50 of 60 looks used to see half a file."""
    contents = {bytes([65 + k]) * 100_000 for k in range(4)}
    writers = [threading.Thread(target=lambda c=c: [write_file(path, c, overwrite=True) for _ in range(15)])
               for c in contents]  # fmt: skip
    for writer in writers:
        writer.start()
    seen = set()
    while any(writer.is_alive() for writer in writers):
        seen.add(path.read_bytes())
    assert seen <= contents | {OLD}
    assert [p.name for p in path.parent.iterdir()] == ["fit.nc"]


def test_an_unfinished_file_that_somebody_sweeps_meanwhile_is_left_to_him(path, monkeypatch):
    """He may hold its lock before its writer does, and remove it only later."""
    lock, sync, taken = whole_file.locked, whole_file.synced, []

    def sweeper_was_first(handle):
        if taken:
            return lock(handle)
        taken.extend(path.parent.glob(".hiddenphysics-*"))
        return False

    def sweeper_removes_it(handle, content):
        taken[0].unlink(missing_ok=True)
        sync(handle, content)

    monkeypatch.setattr(whole_file, "locked", sweeper_was_first)
    monkeypatch.setattr(whole_file, "synced", sweeper_removes_it)
    write_file(path, NEW, overwrite=True)
    assert path.read_bytes() == NEW
    assert list(path.parent.iterdir()) == [path]


KILLED = """
import os, sys, time
from hiddenphysics.writer import write_file
real = os.fsync
def stop(handle):
    print("written", flush=True)
    time.sleep(60)
os.fsync = stop
write_file(sys.argv[1], b"never whole", overwrite=True)
"""


def test_what_a_killed_writer_leaves_is_gone_after_the_next_and_a_living_ones_is_not(path, monkeypatch):
    with subprocess.Popen([sys.executable, "-c", KILLED, str(path)], stdout=subprocess.PIPE) as process:
        assert process.stdout.readline() == b"written\n"
        # Even a clock that has jumped ahead by years does not make it a leftover.
        monkeypatch.setattr("time.time", lambda: 4e9)
        for file in path.parent.glob(".hiddenphysics-*"):
            os.utime(file, (0, 0))
        check_target(path, overwrite=True)
        assert len(list(path.parent.iterdir())) == 2
        process.send_signal(signal.SIGKILL)
    assert path.read_bytes() == OLD
    check_target(path, overwrite=True)
    assert list(path.parent.iterdir()) == [path]


def test_an_interrupt_leaves_everything_as_it_was(path, monkeypatch):
    def interrupt(*given):
        raise KeyboardInterrupt

    monkeypatch.setattr("os.fsync", interrupt)
    with pytest.raises(KeyboardInterrupt):
        write_file(path, NEW, overwrite=True)
    assert path.read_bytes() == OLD
    assert list(path.parent.iterdir()) == [path]


def test_one_process_at_a_time(path):
    code = "import sys, time; from pathlib import Path; from hiddenphysics.writer import alone_with\n"
    code += "with alone_with(Path(sys.argv[1])): print('held', flush=True); time.sleep(60)"
    with subprocess.Popen([sys.executable, "-c", code, str(path)], stdout=subprocess.PIPE) as process:
        process.stdout.readline()
        with (
            pytest.raises(WriteError, match=r"Another process is at work in .*it holds fit\.nc"),
            alone_with(path),
        ):
            pass
        process.kill()
        process.wait()
        deadline = time.monotonic() + 5
        while time.monotonic() < deadline:  # the lock ends with its owner
            with alone_with(path):
                return
