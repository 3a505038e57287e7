"""`Trial`: a child process reads a file of HDF5 first, since its library can crash, hang or eat memory on damaged ones.

The child needs Python, NumPy and h5py alone. It is started before the parent imports what it needs itself, and asked
after that, so that on two cores a first reading takes no longer.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from types import TracebackType

from hiddenphysics.errors import DataError
from hiddenphysics.loader.limits import check_regular, most_unfolded

SCRIPT = Path(__file__).with_name("hdf5_child.py")
SECONDS = 8.0
"""The longest that a trial may take; 0.3 s is usual, of which 0.27 s are imports. Of large files a part is read."""
REFUSED = 3
"""Exit code of a child that says in a sentence what is wrong."""


class Trial:
    """A reading of a file of HDF5 in a process of its own, which begins at once.

    Examples
    --------
    >>> with Trial(path) as trial:  # doctest: +SKIP
    ...     import xarray
    ...     trial.check()
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        size = check_regular(path)
        # -P: modules beside the script are not to be found by it, as its neighbours bear other names' names.
        words = [sys.executable, "-P", str(SCRIPT), str(path), str(most_unfolded(size)), str(SECONDS)]
        quiet = os.environ | {"OPENBLAS_NUM_THREADS": "1"}
        self._child = subprocess.Popen(  # noqa: S603  # this interpreter, and a script of this package
            words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=quiet
        )

    def __enter__(self) -> Trial:
        return self

    def check(self) -> None:
        """Wait for the end; raise `DataError` where the file cannot be read safely."""
        try:
            told, _ = self._child.communicate(timeout=SECONDS + 1)
        except subprocess.TimeoutExpired:
            raise DataError(f"reading it took longer than {SECONDS:g} s. {_ADVICE}") from None
        code = self._child.returncode
        if code == REFUSED:
            raise DataError(told.decode("utf-8", "replace").strip())
        if code:
            how = f"by signal {-code}" if code < 0 else f"with exit code {code}"
            raise DataError(f"the library that reads HDF5 ended {how} on it. {_ADVICE}")

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._child.kill()
        self._child.communicate()


_ADVICE = "The file is damaged: copy it again, or write it again with Dataset.to_netcdf(path)."
