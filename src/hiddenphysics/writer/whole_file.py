"""A file is written beside its place under a random name, seen on the disk, and renamed: whole, or not there.

What a killed process leaves behind is removed by the next one that writes into the same folder. It knows such a file
by its lock, which ends with its owner, and not by its age: clocks jump.
"""

from __future__ import annotations

import errno
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from io import FileIO
from pathlib import Path

from hiddenphysics.errors import DataError, WriteError

POSIX = os.name == "posix"
"""Elsewhere nobody can remove a file that is open, which serves as a lock, too; nor rename it, nor sync a folder."""
if POSIX:
    import fcntl

BEGINNING, ENDING = ".hiddenphysics-", ".partial"
"""What the names of unfinished files begin and end with; short, since the longest allowed name gets one, too."""

FULL = ("the disk is full", "Free some space, or choose another place")
CLOSED = ("its folder does not let files be written", "Choose another folder, or change its permissions")
BELOW_A_FILE = ("a part of its path is a file and no folder", "Choose another path")
REASONS = {
    errno.ENOSPC: FULL,
    errno.EDQUOT: FULL,
    errno.EFBIG: FULL,
    errno.EACCES: CLOSED,
    errno.EPERM: CLOSED,
    errno.EROFS: CLOSED,
    errno.ENAMETOOLONG: ("the name is too long", "Choose a shorter one"),
    errno.ENOTDIR: BELOW_A_FILE,
    errno.EEXIST: BELOW_A_FILE,
    errno.ELOOP: ("its symbolic links lead in a circle", "Choose another path"),
}
"""Number of an error -> what is wrong, and what to do."""

NO_RENAME = (errno.ENOSYS, errno.EOPNOTSUPP, errno.EXDEV)
"""What network file systems answer that cannot rename."""
NO_SYNC = (errno.EINVAL, errno.ENOSYS, errno.EOPNOTSUPP)
"""What file systems answer that cannot tell when a file, or a folder, is on the disk."""


def write_file(path: str | Path, content: bytes | memoryview, *, overwrite: bool = False) -> Path:
    """Write a file, whole or not at all; folders on its way are made.

    Parameters
    ----------
    path
        Its place. A symbolic link stays one: the file that it leads to is written.
    content
        All bytes of it. They are made in memory first, since libraries that write to disks themselves differ in what
        they do on a full one (HDF5 ends the process).
    overwrite
        Whether a file in that place may be replaced. Folders, devices, pipes never are.

    Raises
    ------
    WriteError
        It could not be written; the file that was there before is still there, and nothing else is left behind.
    DataError
        There is a file, and it may not be replaced.
    """
    path = Path(path).expanduser()
    target = check_target(path, overwrite=overwrite)
    made: list[Path] = []
    try:
        made = _make_folders(target.parent)
        with _partial(target.parent) as (partial, file):
            _keep_mode(target, file)
            synced(file.fileno(), content)
            _put_in_place(partial, file, target, content)
        _sync_folder(target.parent)
    except BaseException as problem:
        for folder in reversed(made):
            with suppress(OSError):
                folder.rmdir()
        if isinstance(problem, OSError):
            raise refusal(path, problem) from problem
        raise
    return path


def check_target(path: str | Path, *, overwrite: bool) -> Path:
    """Refuse, before the work and not after it, a place that nothing may be written to; return where it really is."""
    path = Path(path).expanduser()
    try:
        target = Path(os.path.realpath(path))
        kind = _kind(target)
        taken = kind is not None or path.is_symlink()
        folder = next(f for f in target.parents if f.exists())
        closed = not os.access(folder, os.W_OK)
    except OSError as problem:
        raise refusal(path, problem) from problem
    except ValueError as problem:
        raise WriteError(f"{str(path)!r:.200} was not written: {problem}. Choose another name.") from problem
    if kind not in (None, "file"):
        raise WriteError(f"{path} is {kind}, and no file; nothing was written. Choose another name.")
    if taken and not overwrite:
        what = "exists" if kind else f"is a symbolic link to {target}, which does not exist,"
        raise DataError(
            f"{path} {what} and is not overwritten. Choose another name, or say so: overwrite=True, --force."
        )
    if not folder.is_dir() or closed:
        raise refusal(path, OSError(errno.EACCES if folder.is_dir() else errno.ENOTDIR, ""))
    sweep(folder)
    return target


def refusal(path: Path, problem: OSError) -> WriteError:
    """Say why a file was not written, and what to do."""
    why, advice = REASONS.get(
        problem.errno or 0, (problem.strerror or str(problem), "Try again, or choose another place")
    )
    return WriteError(f"{path} was not written: {why}. Nothing that was there before is lost. {advice}.")


def sweep(folder: Path) -> None:
    """Remove unfinished files whose writers are gone."""
    for leftover in folder.glob(f"{BEGINNING}*{ENDING}"):
        with suppress(OSError):  # of others, or gone meanwhile, or on a disk without locks
            handle = os.open(leftover, os.O_RDWR | getattr(os, "O_NOFOLLOW", 0))
            try:
                if locked(handle):
                    leftover.unlink()
            finally:
                os.close(handle)


def locked(handle: int) -> bool:
    """Lock an open file for this process, until it is closed; tell whether nobody else holds it."""
    if not POSIX:
        return True
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def keep_others_out(handle: int, path: Path) -> None:
    """Lock an open file of a folder in which one process works at a time; say so where another one does."""
    try:
        alone = locked(handle)
    except OSError:
        return  # a network disk without locks
    if not alone:
        raise WriteError(
            f"Another process is at work in {path.parent}: it holds {path.name}. Wait for its end, or name another "
            "folder."
        )


@contextmanager
def alone_with(path: Path) -> Iterator[None]:
    """Keep other processes out of the folder of a file that is there, by a lock on that file."""
    with path.open("rb+") as file:
        keep_others_out(file.fileno(), path)
        yield


def write_all(handle: int, content: bytes | memoryview) -> None:
    """Write all of it to an open file: the system may take it in parts."""
    left = memoryview(content)
    while left:
        left = left[os.write(handle, left) :]


def synced(handle: int, content: bytes | memoryview) -> None:
    """Write all of it to an open file, and see it on the disk."""
    write_all(handle, content)
    try:
        os.fsync(handle)
    except OSError as problem:
        if problem.errno not in NO_SYNC:
            raise


# ---- steps of a write --------------------


def _kind(target: Path) -> str | None:
    """Say what is in a place: None, a file, or something that no file replaces."""
    try:
        mode = target.lstat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        return None
    if stat.S_ISREG(mode):
        return "file"
    if stat.S_ISLNK(mode):
        raise OSError(errno.ELOOP, "")
    return "a folder" if stat.S_ISDIR(mode) else "a device, a pipe or a socket"


def _make_folders(folder: Path) -> list[Path]:
    """Make a folder and those above it; return the new ones."""
    missing = [f for f in (folder, *folder.parents) if not f.exists()][::-1]
    for new in missing:
        new.mkdir(exist_ok=True)
    return missing


@contextmanager
def _partial(folder: Path) -> Iterator[tuple[Path, FileIO]]:
    """Open an unfinished file of this call alone, which is gone at the end unless it was renamed."""
    sweep(folder)
    while True:
        partial = folder / f"{BEGINNING}{secrets.token_hex(8)}{ENDING}"
        file = FileIO(partial, "x")
        try:
            ours = locked(file.fileno())
        except OSError:
            ours = True  # a disk without locks: there the next start leaves it alone
        # Between opening and locking, somebody who sweeps may have taken it for a leftover: he still holds its lock,
        # or has removed it.
        if ours and partial.exists():
            break
        file.close()
        with suppress(OSError):
            partial.unlink(missing_ok=True)
    try:
        yield partial, file
    finally:
        if not POSIX:
            file.close()
        with suppress(OSError):
            partial.unlink(missing_ok=True)
        file.close()


def _keep_mode(target: Path, file: FileIO) -> None:
    """Give the new file the permissions of the one that it replaces."""
    if hasattr(os, "fchmod"):
        with suppress(OSError):
            os.fchmod(file.fileno(), stat.S_IMODE(target.stat().st_mode))


def _put_in_place(partial: Path, file: FileIO, target: Path, content: bytes | memoryview) -> None:
    if not POSIX:
        file.close()  # Windows renames no open file
    try:
        partial.replace(target)
    except OSError as problem:
        if problem.errno not in NO_RENAME:
            raise
        _write_in_place(target, content)


def _write_in_place(target: Path, content: bytes | memoryview) -> None:
    """Where nothing can be renamed: the disk has just held all of it, so write it again, and undo what fails.

    Only a kill in the middle of this leaves a torn file; its checksum tells.
    """
    before = target.read_bytes() if target.exists() else None
    try:
        _overwrite(target, content)
    except BaseException:
        if before is None:
            target.unlink(missing_ok=True)
        else:
            _overwrite(target, before)
        raise


def _overwrite(target: Path, content: bytes | memoryview) -> None:
    handle = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_BINARY", 0), 0o666)
    try:
        synced(handle, content)
    finally:
        os.close(handle)


def _sync_folder(folder: Path) -> None:
    """See the new name on the disk."""
    if not POSIX:
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        synced(handle, b"")
    finally:
        os.close(handle)
