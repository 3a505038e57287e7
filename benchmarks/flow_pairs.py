"""The flow model on the original recordings: clean, noisy and with growing gaps, each pair fitted from a cold start.

`python -m benchmarks.flow_pairs --folder FOLDER --pairs 40 --workers 8` reads the original files (burgers.mat, …) in
FOLDER and writes a table: errors of clean fits; root mean square error over the Cramér–Rao bound, bias and coverage
of noisy ones; fits that say that the data do not determine the parameters are counted apart. `--gaps` measures the
gap tables.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # imported where they are used: workers set the number of threads first
    import numpy as np

    from hiddenphysics.flow import FlowFit
    from hiddenphysics.snapshots import Snapshots

ONE_THREAD = {
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false",
    "JAX_PLATFORMS": "cpu",
}


@dataclass(frozen=True)
class Problem:
    """File, equation, field, points per snapshot, truth, number of snapshots, gaps in snapshots."""

    file: str
    equation: str
    field: str
    points: tuple[int, int]
    truth: dict[str, float]
    snapshots: int
    gaps: tuple[int, ...]


PROBLEMS = {
    "burgers": Problem(
        "burgers.mat", "u_t + a*u*u_x - b*u_xx = 0", "u", (71, 69), {"a": 1.0, "b": 0.1}, 101, (1, 5, 10, 15)
    ),
    "kdv": Problem(
        "kdv.mat", "u_t + a*u*u_x + b*u_xxx = 0", "u", (111, 109), {"a": 6.0, "b": 1.0}, 201, (1, 2, 3, 4, 5)
    ),
    "kuramoto_sivashinsky": Problem(
        "kuramoto_sivishinky.mat",
        "u_t + a*u*u_x + b*u_xx + c*u_xxxx = 0",
        "u",
        (301, 299),
        {"a": 1.0, "b": 1.0, "c": 1.0},
        251,
        (1, 2, 3),
    ),
    "schrodinger": Problem(
        "nls.mat",
        "i*h_t + a*h_xx + b*abs(h)^2*h = 0",
        "h",
        (49, 51),
        {"a": 0.5, "b": 1.0},
        501,
        (1, 5, 10, 30),
    ),
}


def fit_pair(
    name: str, recording: object, index: int, gap: int, noises: list[float]
) -> list[dict[str, object]]:
    """Fit one pair without noise and with each noise; return one row for each."""
    import numpy as np

    from hiddenphysics.equation import Equation
    from hiddenphysics.flow import fit_flow

    problem = PROBLEMS[name]
    clean = recording[index : index + gap + 1 : gap]
    clean = clean.rename({(clean.complex_fields or clean.fields)[0]: problem.field})
    rows, bound_of = [], None
    for noise in (0.0, *noises):
        noisy = clean.with_noise(noise, seed=index) if noise else clean
        pair = noisy.subsample(list(problem.points), seed=index)
        equation = Equation.parse(problem.equation, fields=pair.fields, coordinates=pair.coordinates)
        began = time.perf_counter()
        fit = fit_flow(equation, pair, progress=lambda stage: None)
        seconds = time.perf_counter() - began
        bound_of = bound_of or fit
        deviation = np.sqrt(np.maximum(np.diagonal(fit.covariance), 0.0))
        bound = np.sqrt(np.diagonal(bound_at(bound_of, clean, pair, noise))) if noise else deviation
        rows.append({
            "problem": name,
            "index": index,
            "gap": gap,
            "noise": noise,
            "status": str(fit.status),
            "explanation": fit.explanation,
            "estimate": fit.parameters.tolist(),
            "deviation": deviation.tolist(),
            "bound": bound.tolist(),
            "noise_found": float(np.sqrt(fit.belief.noise)),
            "features": fit.diagnostics["features"],
            "kernels": list(fit.diagnostics["kernels"].values()),
            "rounds": fit.rounds,
            "seconds": seconds,
        })  # fmt: skip
    return rows


def bound_at(fit: FlowFit, clean: Snapshots, pair: Snapshots, noise: float) -> np.ndarray:
    """Cramér–Rao bound of a clean fit, were there noise in proportion to the standard deviation of each field."""
    import numpy as np

    ratio = {f: np.std(np.concatenate([s[f] for s in clean])) / unit for f, unit in fit.units.items()}
    if len(ratio) == 1:
        return fit.belief.bound((noise * next(iter(ratio.values()))) ** 2)
    # Rows are ordered by snapshot, field, point; shorter snapshots are padded.
    longest = max(len(s) for s in pair)
    rows = np.concatenate([np.full(longest, (noise * r) ** 2) for _ in pair for r in ratio.values()])
    return fit.belief.bound(rows if len(rows) == fit.belief.A.shape[1] else noise**2)


def run(
    name: str, folder: Path, indices: list[int], gap: int, noises: list[float]
) -> list[dict[str, object]]:
    """Fit the given pairs of one file in this process."""
    import hiddenphysics as hp

    recording = hp.read(folder / PROBLEMS[name].file)
    return [row for index in indices for row in fit_pair(name, recording, index, gap, noises)]


def table(rows: list[dict]) -> str:
    """Return one line for each problem, gap, noise and parameter."""
    import numpy as np

    lines = []
    groups = dict.fromkeys((r["problem"], r["gap"], r["noise"]) for r in rows)
    for name, gap, noise in groups:
        group = [r for r in rows if (r["problem"], r["gap"], r["noise"]) == (name, gap, noise)]
        weak = sum(r["status"] == "weakly_identified" for r in group)
        bad = sum(r["status"] in ("failed", "not_converged") for r in group)
        seconds = np.median([r["seconds"] for r in group])
        lines.append(
            f"{name} gap {gap} noise {100 * noise:g} %: {len(group)} pairs, {weak} weak, {bad} without success, "
            f"median {seconds:.2f} s"
        )
        kept = [r for r in group if r["status"] in ("converged", "at_bound")]
        for p, (parameter, truth) in enumerate(PROBLEMS[name].truth.items()):
            error, deviation, bound = (
                np.array([r[key][p] for r in kept]) for key in ("estimate", "deviation", "bound")
            )
            if not kept:
                continue
            error = error - truth
            relative = np.abs(error) / abs(truth)
            covered = np.mean(np.abs(error) < 1.96 * deviation)
            lines.append(
                f"  {parameter}: median {truth + np.median(error):.6g} error % median {100 * np.median(relative):.4f} "
                f"within 1 % {100 * np.mean(relative < 0.01):.0f} | rmse/bound "
                f"{np.sqrt(np.mean(error**2) / np.mean(bound**2)):.2f} bias/sd {np.median(error / deviation):+.2f} "
                f"covered {100 * covered:.0f} % | sd median {np.median(deviation):.2g}"
            )
    return "\n".join(lines)


def main() -> None:
    """Fit evenly spaced pairs of every file, in worker processes with one thread each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--pairs", type=int, default=40, help="0 for all")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--problems", nargs="*", default=list(PROBLEMS))
    parser.add_argument("--noises", nargs="*", type=float, default=[0.01, 0.05])
    parser.add_argument(
        "--gaps", action="store_true", help="every gap of the gap tables, instead of the first"
    )
    parser.add_argument("--rows", type=Path, help="also write every fit as a line of JSON")
    chosen = parser.parse_args()
    os.environ.update(ONE_THREAD)
    with ProcessPoolExecutor(chosen.workers, mp_context=multiprocessing.get_context("spawn")) as pool:
        for name in chosen.problems:
            problem = PROBLEMS[name]
            for gap in problem.gaps if chosen.gaps else problem.gaps[:1]:
                last = problem.snapshots - 1 - gap
                pairs = chosen.pairs or last + 1
                indices = sorted({round(k * last / max(pairs - 1, 1)) for k in range(pairs)})
                size = max(1, -(-len(indices) // (4 * chosen.workers)))
                parts = [indices[k : k + size] for k in range(0, len(indices), size)]
                jobs = [pool.submit(run, name, chosen.folder, part, gap, chosen.noises) for part in parts]
                rows = [row for job in jobs for row in job.result()]
                print(table(rows), flush=True)
                if chosen.rows:
                    with chosen.rows.open("a") as file:
                        file.writelines(json.dumps(row) + "\n" for row in rows)


if __name__ == "__main__":
    main()
