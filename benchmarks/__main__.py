"""Run every benchmark on one core and print its table."""

import os
from importlib import import_module

# Before JAX is imported, so that it makes one thread.
os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})

for name in ("likelihood", "flow_time", "memory", "start_up", "command_line"):
    print(import_module(f"benchmarks.{name}").report(), flush=True)
