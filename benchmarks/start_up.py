"""What everybody waits for before anything happens: `import hiddenphysics`, and `hiddenphysics --help`.

`python -m benchmarks.start_up` prints seconds by the clock and of the processor, the quickest of nine runs in turns,
and what they are in units of `python -c pass`; the tests hold the ratios, which a busy machine leaves alone.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from dataclasses import dataclass

PROGRAMS = {
    "python -c pass": ["-c", "pass"],
    "import hiddenphysics": ["-c", "import hiddenphysics"],
    "hiddenphysics --help": ["-m", "hiddenphysics", "--help"],
}
MOST_SECONDS = {"import hiddenphysics": 0.1, "hiddenphysics --help": 0.4}
"""By the clock on a quiet core."""


@dataclass(frozen=True)
class Cost:
    """Seconds of one start: by the clock, and of the processor."""

    wall: float
    processor: float


def start(words: list[str]) -> Cost:
    """Start Python once."""
    began = time.perf_counter()
    process = subprocess.Popen([sys.executable, *words], stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    wall = time.perf_counter() - began
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"python {' '.join(words)} ended with {process.returncode}")
    return Cost(wall, used.ru_utime + used.ru_stime)


def measure(times: int = 9) -> dict[str, Cost]:
    """Return the smallest cost of each program, the programs in turns."""
    runs = [{name: start(words) for name, words in PROGRAMS.items()} for _ in range(times)]
    return {
        name: Cost(min(r[name].wall for r in runs), min(r[name].processor for r in runs)) for name in PROGRAMS
    }


def report() -> str:
    """Return the table."""
    costs = measure()
    bare = costs["python -c pass"]
    lines = [f"{'start':<24} {'seconds':>8} {'processor':>10} {'times bare':>11} {'at most':>8}"]
    for name, cost in costs.items():
        most = MOST_SECONDS.get(name)
        lines.append(
            f"{name:<24} {cost.wall:8.3f} {cost.processor:10.3f} {cost.processor / bare.processor:11.1f} "
            f"{most if most else '':>8}"
        )
    return "\n".join(lines)


if __name__ == "__main__":
    print(report())
