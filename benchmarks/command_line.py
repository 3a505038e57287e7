"""What a shell user waits for: `--help`, and `identify` on 140 points with a cold and a warm compilation cache."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

PROGRAM = [sys.executable, "-m", "hiddenphysics"]


def timed(words: list[str], environment: dict[str, str]) -> tuple[float, str]:
    """Return wall-clock seconds and stderr of a command."""
    began = time.perf_counter()
    run = subprocess.run(words, env=environment, capture_output=True, text=True, check=True)
    return time.perf_counter() - began, run.stderr


def report() -> str:
    """Return the table and the stages of the cold run."""
    with tempfile.TemporaryDirectory() as folder:
        csv = str(Path(folder) / "burgers.csv")
        environment = os.environ | {"JAX_COMPILATION_CACHE_DIR": str(Path(folder) / "compiled")}
        help_seconds = min(timed([*PROGRAM, "--help"], environment)[0] for _ in range(3))
        timed([*PROGRAM, "demo", "--csv", csv], os.environ | {})
        words = [*PROGRAM, "identify", csv, "--pde", "u_t + a*u*u_x - b*u_xx = 0"]
        (cold, stages), (warm, _) = (timed(words, environment) for _ in range(2))
    lines = [
        "command line                       seconds",
        f"--help {help_seconds:34.2f}",
        f"identify 140 points, cold {cold:15.1f}",
        f"identify 140 points, warm {warm:15.1f}",
        f"stages of the cold run:\n{stages}",
    ]
    return "\n".join(lines)
