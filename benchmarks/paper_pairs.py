"""The paper's clean statistics again: many pairs of neighbouring snapshots, each fitted from a cold start.

`python -m benchmarks.paper_pairs FOLDER --pairs 40` reads the original files (burgers.mat, …) in FOLDER, prints
quartiles beside the paper's and counts fits that a second search, started from the truth with five sets of
hyper-parameters, could beat: false optima.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

ONE_THREAD = {
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false",
}


@dataclass(frozen=True)
class Problem:
    """One of the paper's examples: file, equation, points per snapshot, truth, and the medians it reports."""

    file: str
    equation: str
    points: tuple[int, int]
    truth: dict[str, float]
    paper: dict[str, tuple[float, float, float]]


PROBLEMS = {
    "burgers": Problem(
        "burgers.mat",
        "u_t + a*u*u_x - b*u_xx = 0",
        (71, 69),
        {"a": 1.0, "b": 0.1},
        {"a": (1.0247, 1.0379, 1.0555), "b": (0.0942, 0.0976, 0.0987)},
    ),
    "kdv": Problem(
        "kdv.mat",
        "u_t + a*u*u_x + b*u_xxx = 0",
        (111, 109),
        {"a": 6.0, "b": 1.0},
        {"a": (5.7783, 5.8920, 6.0358), "b": (0.9299, 0.9656, 1.0083)},
    ),
    "kuramoto_sivashinsky": Problem(
        "kuramoto_sivishinky.mat",
        "u_t + a*u*u_x + b*u_xx + c*u_xxxx = 0",
        (301, 299),
        {"a": 1.0, "b": 1.0, "c": 1.0},
        {"a": (0.9603, 0.9885, 1.0187), "b": (0.9829, 1.0157, 1.0550), "c": (0.9711, 0.9970, 1.0314)},
    ),
    "schrodinger": Problem(
        "nls.mat",
        "i*h_t + a*h_xx + b*abs(h)^2*h = 0",
        (49, 51),
        {"a": 0.5, "b": 1.0},
        {"a": (0.4950, 0.5009, 0.5072), "b": (0.9960, 1.0001, 1.0039)},
    ),
}
OTHER_STARTS = ((1.0, 1.0), (0.6, 0.01), (1.6, 10.0), (2.2, 1.0), (1.0, 1e-3))
"""Factors on lengths and noise variance of the searches that start from the truth."""


def fit_pair(name: str, recording: object, index: int) -> dict[str, object]:
    """Fit one pair, and return estimates, status and how much a search from the truth would gain."""
    import hiddenphysics as hp

    problem = PROBLEMS[name]
    pair = recording[index : index + 2].subsample(list(problem.points), seed=index)
    result = hp.identify(problem.equation, pair, model="paper")
    estimates = {p: e.estimate for p, e in result.parameters.items()}
    return {
        "index": index,
        "status": str(result.status),
        "gain": gain_from_truth(result, problem.truth),
    } | estimates


def gain_from_truth(result: object, truth: dict[str, float]) -> float:
    """Return by how much the best of `OTHER_STARTS` beats a result's log likelihood; about 0 at a true optimum."""
    import numpy as np

    from hiddenphysics.inference.optimise import minimise
    from hiddenphysics.inference.scales import Scales

    layout = result.problem.layout
    variances = {latent: result.values[f"{latent}.variance"] for latent, _ in layout.kernels}
    limits = Scales.of(result.snapshots).hyper_bounds(layout, variances)
    bounds = np.array([[-np.inf, np.inf] if n in truth else np.log(limits[n]) for n in layout.names])
    scale = np.array([abs(truth.get(n, 1.0)) for n in layout.names])
    values = []
    for length, noise in OTHER_STARTS:
        start = {n: v * (length if ".length_" in n else 1.0) for n, v in result.values.items()} | truth
        start["noise.variance"] *= noise
        values.append(minimise(result.problem.objective, layout.vector(start), scale, bounds).value)
    return float(-np.nanmin(values) - result.evidence)


def run(name: str, folder: Path, indices: list[int]) -> list[dict[str, object]]:
    """Fit the given pairs of one file in this process."""
    import hiddenphysics as hp

    recording = hp.read(folder / PROBLEMS[name].file)
    return [fit_pair(name, recording, index) for index in indices]


def table(name: str, rows: list[dict[str, object]]) -> str:
    """Return quartiles beside the paper's."""
    import numpy as np

    lines = [f"{name}: {len(rows)} pairs, " + ", ".join(sorted({str(r["status"]) for r in rows}))]
    lines[0] += f", false optima {sum(float(r['gain']) > 0.05 for r in rows)}"  # type: ignore[arg-type]
    for p, paper in PROBLEMS[name].paper.items():
        ours = np.quantile([r[p] for r in rows], [0.25, 0.5, 0.75])
        lines.append(
            f"  {p}  ours {ours.round(4).tolist()}  paper {list(paper)}  {100 * (ours[1] / paper[1] - 1):+.1f} %"
        )
    return "\n".join(lines)


def main() -> None:
    """Fit evenly spaced pairs of every file, in worker processes with one thread each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--pairs", type=int, default=40)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--problems", nargs="*", default=list(PROBLEMS))
    parser.add_argument("--rows", type=Path, help="also write every fit as a line of JSON")
    chosen = parser.parse_args()
    os.environ.update(ONE_THREAD)
    counts = {"burgers": 101, "kdv": 201, "kuramoto_sivashinsky": 251, "schrodinger": 501}
    with ProcessPoolExecutor(chosen.workers, mp_context=multiprocessing.get_context("spawn")) as pool:
        for name in chosen.problems:
            last, pairs = counts[name] - 2, chosen.pairs
            indices = [round(k * last / max(pairs - 1, 1)) for k in range(pairs)]
            parts = [indices[w :: chosen.workers] for w in range(chosen.workers)]
            jobs = [pool.submit(run, name, chosen.folder, part) for part in parts]
            rows = [row for job in jobs for row in job.result()]
            print(table(name, rows), flush=True)
            if chosen.rows:
                with chosen.rows.open("a") as file:
                    file.writelines(json.dumps({"problem": name} | row) + "\n" for row in rows)


if __name__ == "__main__":
    main()
