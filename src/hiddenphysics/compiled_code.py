"""What JAX compiles for us: in double precision, kept on disk, and let go before a process runs out of room for it.

Every room that uses JAX imports this module before anything is traced. Covariances of fourth derivatives span twenty
orders of magnitude; single precision cannot factor them.
"""

from __future__ import annotations

import os
from pathlib import Path

import jax

FULLEST = 0.5
"""Part of the memory maps that the kernel allows a process from which on compiled code is let go. A compiled function
takes about ten; some thousand tests in one process came to the limit of 65 530, and the next compilation crashed it."""

CACHE_VARIABLE = "JAX_COMPILATION_CACHE_DIR"
"""Where a user says which folder JAX keeps compiled code in."""


def make_room() -> None:
    """Forget compiled functions where a process has nearly as many memory maps as it may have; Linux alone counts them.

    What is asked for again is read back from the folder on disk.
    """
    allowed, used = Path("/proc/sys/vm/max_map_count"), Path("/proc/self/maps")
    if not (allowed.exists() and used.exists()):
        return
    with used.open("rb") as lines:
        count = sum(1 for _ in lines)
    if count > FULLEST * int(allowed.read_text()):
        jax.clear_caches()


def _keep_on_disk() -> None:
    """Keep compiled code in the user's cache folder, unless JAX was told another: the next process skips compiling."""
    if CACHE_VARIABLE in os.environ or getattr(jax.config, "jax_compilation_cache_dir", None) is not None:
        return
    from platformdirs import user_cache_dir

    jax.config.update("jax_compilation_cache_dir", str(Path(user_cache_dir("hiddenphysics")) / "compiled"))
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.0)
    jax.config.update("jax_persistent_cache_min_entry_size_bytes", -1)


jax.config.update("jax_enable_x64", True)
_keep_on_disk()
