"""False optima of the paper's model: fits that a search from the truth could have beaten.

`python -m benchmarks.paper_pairs FOLDER --pairs 40` reads the original files (burgers.mat, …) in FOLDER, fits clean
pairs of neighbouring snapshots from a cold start and counts fits that a second search, started from the truth with
five sets of hyper-parameters, could beat. Quartiles beside the paper's: `hiddenphysics reproduce --model paper`.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

from hiddenphysics.reproduction import PAPER, STUDIES, Library, Plan, Study
from hiddenphysics.workers import ONE_THREAD

if TYPE_CHECKING:  # imported where they are used: workers set the number of threads first
    from hiddenphysics.result import Result
    from hiddenphysics.snapshots import Snapshots

NAMES = ("burgers", "kdv", "ks", "schrodinger")
OTHER_STARTS = ((1.0, 1.0), (0.6, 0.01), (1.6, 10.0), (2.2, 1.0), (1.0, 1e-3))
"""Factors on lengths and noise variance of the searches that start from the truth."""

TOLERANCE = 0.05
"""A log likelihood that is higher by more belongs to another optimum."""


def fit_pair(study: Study, pair: Snapshots) -> dict[str, object]:
    """Fit one pair, and return estimates, status and how much a search from the truth would gain."""
    import hiddenphysics as hp

    result = hp.identify(study.equation, pair, model=PAPER)
    estimates = {p: e.estimate for p, e in result.parameters.items()}
    return {"status": str(result.status), "gain": gain_from_truth(result, study.truth)} | estimates


def gain_from_truth(result: Result, truth: Mapping[str, float]) -> float:
    """Return by how much the best of `OTHER_STARTS` beats a result's log likelihood; about 0 at a true optimum."""
    import numpy as np

    from hiddenphysics.learning import minimise
    from hiddenphysics.models.one_step import Sizes

    task, unknowns = result.problem, result.problem.unknowns
    variances = {latent: result.values[f"{latent}.variance"] for latent, _ in unknowns.prior.latents}
    free = np.tile([-np.inf, np.inf], (len(unknowns.parameters), 1))
    bounds = np.concatenate([free, Sizes.of(result.snapshots).bounds(task, variances)])
    scale = np.array([abs(truth.get(n, 1.0)) for n in unknowns.names])
    values = []
    for length, noise in OTHER_STARTS:
        start = {n: v * (length if ".length_" in n else 1.0) for n, v in result.values.items()} | dict(truth)
        start["noise.variance"] *= noise
        values.append(minimise(task.objective, unknowns.vector(start), scale, bounds).value)
    return float(task.log_units - np.nanmin(values) - result.evidence)


def run(name: str, folder: Path, pairs: int, part: slice) -> list[dict[str, object]]:
    """Fit a part of the evenly spaced clean pairs of one study in this process; `reproduce` draws the same points."""
    study = STUDIES[name].restricted((PAPER,), pairs)
    plan = Plan((study,), Library(folder))
    units = plan.of_cell(study, study.tables[0].cells[0], PAPER)[part]
    return [{"study": name, "pair": unit.first} | fit_pair(study, plan.draw(unit)) for unit in units]


def line(name: str, rows: Sequence[Mapping[str, object]]) -> str:
    """Say how many fits ended in a false optimum."""
    gains = [float(row["gain"]) for row in rows]  # type: ignore[arg-type]
    ended = ", ".join(sorted({str(row["status"]) for row in rows}))
    false = sum(gain > TOLERANCE for gain in gains)
    return f"{name}: {len(rows)} pairs, {ended}, false optima {false}, largest gain {max(gains):.2g}"


def main() -> None:
    """Fit evenly spaced pairs of every file, in worker processes with one thread each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--pairs", type=int, default=40)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--studies", nargs="*", choices=NAMES, default=NAMES)
    parser.add_argument("--rows", type=Path, help="also write every fit as a line of JSON")
    chosen = parser.parse_args()
    os.environ.update(ONE_THREAD)
    with ProcessPoolExecutor(chosen.workers, mp_context=multiprocessing.get_context("spawn")) as pool:
        for name in chosen.studies:
            parts = [slice(worker, None, chosen.workers) for worker in range(chosen.workers)]
            jobs = [pool.submit(run, name, chosen.folder, chosen.pairs, part) for part in parts]
            rows = [row for job in jobs for row in job.result()]
            print(line(name, rows), flush=True)
            if chosen.rows:
                with chosen.rows.open("a") as file:
                    file.writelines(json.dumps(row) + "\n" for row in rows)


if __name__ == "__main__":
    main()
