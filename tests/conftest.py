"""What every test shares: threads, quick compilation, compiled code, the optional folder beside the repository."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

import pytest
from hypothesis import settings

SHARED = Path(__file__).parents[1].parent / "shared"
"""Reference data too large, or not ours, for the repository; tests that need them skip without them."""
COMPILED = Path(__file__).parents[1] / ".pytest_cache" / "compiled"
"""What JAX has compiled for the tests, of this run and of those before."""

# Compilation is most of the time of a test: LLVM's optimiser is left out, the arithmetic stays the same. A cold fit of
# the demo takes 12.5 s of processor time with all of these and 23.2 s without the last two (beside other work, 18
# November 2026).
XLA_FLAGS = (
    "--xla_cpu_multi_thread_eigen=false",
    "--xla_backend_optimization_level=0",
    "--xla_llvm_disable_expensive_passes=true",
    "--xla_cpu_enable_concurrency_optimized_scheduler=false",
    "--xla_cpu_use_fusion_emitters=false",
    "--xla_cpu_parallel_codegen_split_count=1",
)


def _quiet_threads_and_quick_compilation() -> None:
    """Set what JAX and OpenBLAS read once, when they are imported; what the caller has set stays."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # XLA ends a process that names a flag which it no longer knows; 0.11 knows one less.
    if tuple(map(int, version("jaxlib").split(".")[:2])) >= (0, 11):
        return
    given = os.environ.get("XLA_FLAGS", "")
    ours = [flag for flag in XLA_FLAGS if flag.split("=")[0] not in given]
    os.environ["XLA_FLAGS"] = " ".join([given, *ours]).strip()


def _compile_once_for_all_workers() -> None:
    """Keep compiled code in a folder: worker processes, which inherit the name, and the next run share it.

    Also what compiles in less than a second, which JAX would not keep: there are thousands of that. `make clean`
    removes it.
    """
    os.environ.setdefault("JAX_COMPILATION_CACHE_DIR", str(COMPILED))
    os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0")
    os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES", "-1")


_quiet_threads_and_quick_compilation()
_compile_once_for_all_workers()
# A shell lets what it starts in its background ignore Ctrl-C, which some tests send to themselves and to programs.
signal.signal(signal.SIGINT, signal.default_int_handler)

from hiddenphysics.compiled_code import make_room  # noqa: E402  (JAX reads the above when it is imported)

LONGEST = (
    "recordings",
    "test_benchmarks",
    "test_beyond_the_paper",
    "vortices",
    "burgers at 0.3 %",
    "test_few_sensors",
    "test_sampling",
    "page fractional_walk",
    "page hidden_pressure",
    "page schrodinger",
    "page glacier_ice",
    "page gaps",
    "page pressure",
    "long benchmarks",
    "test_constrained",
    "test_flow_reach",
    "test_faults",
    "test_walls",
    "batch",
    "studio",
    "test_instruments",
    "test_several",
    "runner",
    "automatic",
    "archives",
    "test_answers",
    "test_unknown_functions",
    "test_cli",
    "shared code",
    "test_wide_fit",
    "flow fits",
    "test_expansion",
    "test_weak_regression",
    "test_processes",
    "test_sweep",
)
"""Groups that take longest. The first seven take 50 to 27 s of processor time with nothing compiled before, from the
longest on; those after them are in the order of a whole run beside other work (18 November 2026). The pages took 33 to
130 s beside other work, by themselves (19 November 2026).

They begin first: pytest-xdist would begin with groups of many tests, and end with the few long fits of one worker while
the other has nothing left to do.
"""

# Seeded: a run finds what the last run found. No deadline: the first example of a property may compile.
# Fewer examples than usual: there are many properties.
settings.register_profile("hiddenphysics", deadline=None, max_examples=40, derandomize=True)
settings.load_profile("hiddenphysics")


def pytest_configure(config: pytest.Config) -> None:
    """Let groups begin in the order of `LONGEST`: pytest-xdist would begin with those of many tests, mostly quick."""
    if hasattr(config.option, "loadscopereorder"):
        config.option.loadscopereorder = False


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Let the tests of a file run in one process, unless they say which others they go with: they share what is traced.

    Reading compiled code back from the folder does not spare a process the tracing, which is half of a small fit.
    Groups that take long come first; within a group, and among all others, the order stays.
    """
    place = {group: k for k, group in enumerate(LONGEST)}
    groups = {}
    for item in items:
        if item.get_closest_marker("xdist_group") is None:
            item.add_marker(pytest.mark.xdist_group(item.path.stem))
        groups[item] = item.get_closest_marker("xdist_group").args[0]
    items.sort(key=lambda item: place.get(groups[item], len(LONGEST)))


@pytest.fixture(scope="module", autouse=True)
def _room_for_compiled_code() -> None:
    """Let go of what earlier modules have compiled before there are too many memory maps in one process."""
    make_room()


@pytest.fixture(scope="session")
def shared() -> Callable[[str], Path]:
    """Return a function that locates a file or folder under `shared/`, or skips the test where there is none."""

    def locate(name: str) -> Path:
        path = SHARED / name
        if not path.exists():
            pytest.skip(f"shared/{name} is not beside the repository")
        return path

    return locate
