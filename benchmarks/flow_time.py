"""Where the time of a flow fit goes: seconds of each stage, after compilation, on one core."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import hiddenphysics as hp
from hiddenphysics.reproduction import STUDIES

CASES = ("burgers", "kdv", "ks")
SEED = 40
"""First snapshot of the pair, and the seed of its points."""


@contextmanager
def stopwatch(seconds: dict[str, float]) -> Iterator[Callable[[str], None]]:
    """Give a function that is told the stages, and add up how long each lasted."""
    current, began = "starting", time.perf_counter()

    def tell(stage: str) -> None:
        nonlocal current, began
        now = time.perf_counter()
        seconds[current] = seconds.get(current, 0.0) + now - began
        current, began = stage.rpartition(" (")[0], now  # without the elapsed seconds behind it

    yield tell
    tell("")


def measure(name: str) -> dict[str, float]:
    """Return the seconds of each stage of a fit of two snapshots whose code was compiled by the same fit before."""
    study = STUDIES[name]
    recording = hp.read(hp.datasets.load(study.data))
    pair = recording[SEED : SEED + 2].subsample(list(study.points or ()), seed=SEED)
    seconds: dict[str, float] = {}
    for _ in range(2):
        seconds.clear()
        with stopwatch(seconds) as tell:
            hp.identify(study.equation, pair, model="flow", progress=tell)
    return seconds


def report() -> str:
    """Return the table."""
    lines = ["flow model, two snapshots, after compilation: seconds"]
    for name in CASES:
        seconds = measure(name)
        rounds = sum(s for stage, s in seconds.items() if stage.startswith("round"))
        count = sum(stage.startswith("round") for stage in seconds)
        rest = {stage: s for stage, s in seconds.items() if not stage.startswith("round")}
        parts = ", ".join(f"{stage} {s:.2f}" for stage, s in rest.items() if s >= 0.01)
        lines.append(f"{name:<10} {sum(seconds.values()):6.2f}   {parts}, {count} rounds {rounds:.2f}")
    return "\n".join(lines) + "\n"
