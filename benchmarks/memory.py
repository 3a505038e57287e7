"""Peak memory of one likelihood, gradient and Hessian on many points, each in a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys

SCRIPT = """
import json, resource, sys, time
import numpy as np
import hiddenphysics as hp
n, with_hessian = int(sys.argv[1]), sys.argv[2] == "hessian"
rng = np.random.default_rng(0)
x = [np.sort(rng.uniform(0, 0.15 * n, n // 2)) for _ in range(2)]
snapshots = [hp.Snapshot(t=0.1 * k, x=xk, u=np.sin(xk - 0.1 * k)) for k, xk in enumerate(x)]
task = hp.problem("u_t + a*u*u_x - b*u_xx = 0", snapshots)
values = {"a": 1.0, "b": 0.1, "u.variance": 1.0, "u.length_x": 1.0, "noise.variance": 1e-3}
began = time.perf_counter()
value, gradient = task.objective(task.unknowns.vector(values))
if with_hessian:
    vector = task.unknowns.vector(values)
    task.hessian(vector, np.ones(vector.size))
seconds = time.perf_counter() - began
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
print(json.dumps({"gigabytes": peak, "seconds": seconds, "finite": bool(np.isfinite(value))}))
"""


def measure(n: int, *, hessian: bool) -> dict[str, float]:
    """Return peak resident memory in GiB and seconds for N values."""
    words = [sys.executable, "-c", SCRIPT, str(n), "hessian" if hessian else "gradient"]
    return json.loads(subprocess.run(words, capture_output=True, text=True, check=True).stdout)


def report() -> str:
    """Return the table."""
    lines = ["memory                               N   peak GiB   seconds (compilation included)"]
    for hessian in (False, True):
        m = measure(5000, hessian=hessian)
        name = "value, gradient" + (", Hessian" if hessian else "")
        lines.append(f"{name:<33} 5000 {m['gigabytes']:10.2f} {m['seconds']:9.1f}")
    return "\n".join(lines) + "\n"
