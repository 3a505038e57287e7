"""A compilation cache for each user: the second run of the same shape skips most of the compiling."""

from __future__ import annotations

import os
from pathlib import Path


def keep_compiled_code() -> None:
    """Tell JAX, before it is imported, to keep compiled code in the user's cache folder; a set variable wins."""
    from platformdirs import user_cache_dir

    folder = Path(user_cache_dir("hiddenphysics")) / "compiled"
    os.environ.setdefault("JAX_COMPILATION_CACHE_DIR", str(folder))
    os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0")
    os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES", "-1")
