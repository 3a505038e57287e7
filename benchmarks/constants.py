"""What the constants of learning are worth: each halved and doubled, and how far the answers move.

`python -m benchmarks.constants` fits some cases of `benchmarks.answers` with every constant of the tables below as it
is, times two and divided by two, and prints the largest change of any estimate in stated deviations, the cases whose
status changes, and the ratio of the times. A constant whose neighbours give the same answers needs no better reason;
one that moves them should name it.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

FLOW = "hiddenphysics.models.flow."
ONE_STEP = "hiddenphysics.models.one_step."
CONSTANTS = {
    "flow": (
        *((FLOW + "envelope", name) for name in ("LEAST", "WIDTH", "STRETCH", "NEAR")),
        (FLOW + "flow_search", "FALLS"),
        *((FLOW + "polish", name) for name in ("QUIET", "WORTH", "MOST_POLISHES")),
        *((FLOW + "gauss_newton", name) for name in ("MOST_ROUNDS", "SHORTEST", "PART")),
        *(
            (FLOW + "flow_task", name)
            for name in (
                "LEAST_PART",
                "STEP_ERROR",
                "UNEXPLAINED",
                "TAIL",
                "MOST_ERROR",
                "COLD_ERROR",
                "NEGLIGIBLE",
                "FIRST_STEPS",
                "ROUGH",
            )
        ),
        *((FLOW + "one_round", name) for name in ("SETTLED", "GAINED")),
        (FLOW + "log_determinant", "STENCIL"),
        *(
            (FLOW + "smoothed", name)
            for name in ("FEW_STEPS", "SPACINGS", "LONGEST", "PER_OCTAVE", "NOISY", "ALIKE")
        ),
        *(("hiddenphysics.learning.tuning", name) for name in ("LONGEST_STEP", "GAIN")),
        ("hiddenphysics.learning.first_guess", "MOST_POINTS"),
        *((FLOW + "box", name) for name in ("PADDING", "FINER", "SHARE", "QUIETER")),
        (FLOW + "domain", "ROOM"),
    ),
    "one step": (
        *((ONE_STEP + "start", name) for name in ("MUCH_NOISE", "LONGER_SCALE")),
        *((ONE_STEP + "search", name) for name in ("LONGER", "NOISIER", "MOST_HOPS", "GAIN")),
        *((ONE_STEP + "expansion", name) for name in ("STILL", "ROUGH", "ROUGHLY_STILL", "MOST_ROUNDS")),
        *((ONE_STEP + "optimum", name) for name in ("SADDLE", "SMALL", "TOLERATED", "WITHIN")),
        (ONE_STEP + "likelihood", "STEP"),
        ("hiddenphysics.learning.first_guess", "MOST_POINTS"),
    ),
}
"""Constants by what they belong to; no defaults of arguments, which are read once."""

CASES = {
    "flow": ("heat flow 1 %", "burgers flow 0 %", "burgers flow 1 %", "kdv flow 1 %"),
    "one step": (
        "heat midpoint 1 %",
        "burgers paper 0 %",
        "burgers midpoint 1 %",
        "kdv midpoint 0 %",
        "ks paper 1 %",
    ),
}


ABOVE_ONE = ("ROOM", "FINER")
"""Factors that mean nothing below one: what they have above it is halved and doubled."""


def times(value: Any, factor: float) -> Any:
    """Multiply a constant: a number, a whole number that stays one, or a table of numbers."""
    if isinstance(value, dict):
        return {key: times(one, factor) for key, one in value.items()}
    return max(1, round(value * factor)) if isinstance(value, int) else value * factor


def above(value: Any, factor: float) -> Any:
    """Multiply what a number, or a table of numbers, has above one."""
    if isinstance(value, dict):
        return {key: above(one, factor) for key, one in value.items()}
    return 1.0 + factor * (value - 1.0)


@contextmanager
def changed(module: str, name: str, factor: float) -> Iterator[None]:
    """Change a constant wherever it is known under its name, and put it back; compiled code, which knew it, goes."""
    import jax

    from hiddenphysics.compiled_code import forget

    before = getattr(sys.modules[module], name)
    ours = [m for key, m in sys.modules.items() if key.startswith("hiddenphysics")]
    places = [m for m in ours if m.__dict__.get(name) is before]
    value = above(before, factor) if name in ABOVE_ONE else times(before, factor)
    for place in places:
        setattr(place, name, value)
    kept = jax.config.jax_enable_compilation_cache
    jax.config.update("jax_enable_compilation_cache", False)  # programs on disk know it, too
    forget()
    try:
        yield
    finally:
        for place in places:
            setattr(place, name, before)
        jax.config.update("jax_enable_compilation_cache", kept)
        forget()


def compare(
    kind: str, module: str, name: str, factor: float, usual: dict[str, Any]
) -> tuple[float, str, float]:
    """Return the largest change in deviations, the cases whose status changed, and the ratio of the times."""
    from benchmarks.answers import answer

    moved, other, seconds, before = 0.0, [], 0.0, 0.0
    with changed(module, name, factor):
        for case in CASES[kind]:
            answer(case)  # compiles
            began = time.perf_counter()
            now = answer(case)
            seconds += time.perf_counter() - began
            before += usual[case]["real"]
            other += [f"{case}: {now['status']}"] if now["status"] != usual[case]["status"] else []
            for parameter, (estimate, std) in usual[case]["estimates"].items():
                moved = max(moved, abs(now["estimates"][parameter][0] - estimate) / std)
    return moved, ", ".join(other), seconds / before


def main() -> None:
    """Print a line for every constant."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kind", choices=list(CONSTANTS), nargs="*", default=list(CONSTANTS))
    chosen = parser.parse_args()
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})  # one core, before JAX makes its threads
    from benchmarks.answers import answer

    for kind in chosen.kind:
        usual = {}
        for case in CASES[kind]:
            answer(case)  # compiles
            began = time.perf_counter()
            usual[case] = answer(case) | {"real": time.perf_counter() - began}
        print(f"{kind}: largest change in deviations, and time, halved and doubled", flush=True)
        for module, name in CONSTANTS[kind]:
            halved, doubled = (compare(kind, module, name, factor, usual) for factor in (0.5, 2.0))
            where = f"{module.removeprefix('hiddenphysics.')}.{name}"
            numbers = f"{halved[0]:7.3f} {halved[2]:5.2f}   {doubled[0]:7.3f} {doubled[2]:5.2f}"
            print(f"{where:<44} {numbers}   {'; '.join(filter(None, (halved[1], doubled[1])))}", flush=True)


if __name__ == "__main__":
    main()
