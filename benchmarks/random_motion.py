"""Orders of differentiation from random walks: histograms of displacements at two lags, many seeds.

`python -m benchmarks.random_motion --seeds 20` walks, counts, identifies the equations of the studies `brownian` and
`levy` by the midpoint model with the histograms' known errors, and prints medians, quartiles and the coverage of the
95 % intervals. `hiddenphysics reproduce fractional` fits one walk of each, at the paper's lags.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from hiddenphysics.reproduction import STUDIES
from hiddenphysics.simulate.random_motion import brownian_path, displacement_density, levy_path

STEPS, BINS, DT, LAGS = 1_000_000, 100, 0.01, (3, 4)


@dataclass(frozen=True)
class Walk:
    """How to walk, given the number of steps and a seed, and the window in which displacements are counted."""

    path: Callable[[int, int], np.ndarray]
    window: float


WALKS = {
    "brownian": Walk(lambda steps, seed: brownian_path(steps, DT, seed), 0.5),
    "levy": Walk(lambda steps, seed: levy_path(steps, DT, STUDIES["levy"].truth["alpha"], seed), 0.35),
}


def fit(
    name: str, seed: int, model: str = "midpoint", *, steps: int = STEPS, bins: int = BINS
) -> dict[str, object]:
    """Walk with one seed and identify from the histograms at two lags."""
    import hiddenphysics as hp

    study, walk = STUDIES[name], WALKS[name]
    density = displacement_density(walk.path(steps, seed), DT, lags=LAGS, bins=bins, window=walk.window)
    result = hp.identify(study.equation, hp.read(density), model=model)
    row: dict[str, object] = {"study": name, "seed": seed, "status": str(result.status)}
    for parameter, value in result.parameters.items():
        low, high = value.interval(0.95)
        covered = bool(low <= study.truth[parameter] <= high)
        row |= {parameter: value.estimate, f"{parameter} covered": covered}
    return row


def table(name: str, rows: Sequence[Mapping[str, object]]) -> str:
    """Return medians with quartiles beside the truth and what the paper found."""
    study = STUDIES[name]
    lines = [f"{name}: {len(rows)} seeds, {', '.join(sorted({str(r['status']) for r in rows}))}"]
    for parameter, truth in study.truth.items():
        estimates = [float(r[parameter]) for r in rows]  # type: ignore[arg-type]
        q1, median, q3 = np.quantile(estimates, [0.25, 0.5, 0.75])
        covered = np.mean([bool(r[f"{parameter} covered"]) for r in rows])
        paper = study.tables[0].cells[0].paper[parameter].median
        lines.append(
            f"  {parameter}: median {median:.4f} ({100 * (median / truth - 1):+.2f} %), quartiles {q1:.4f} {q3:.4f}, "
            f"truth {truth:.4f}, paper {paper:.4f}, covered {100 * covered:.0f} %"
        )
    return "\n".join(lines)


def main() -> None:
    """Fit all seeds of both motions in this process."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--model", default="midpoint")
    parser.add_argument("--studies", nargs="*", choices=list(WALKS), default=list(WALKS))
    parser.add_argument("--rows", type=Path, help="also write every fit as a line of JSON")
    chosen = parser.parse_args()
    for name in chosen.studies:
        rows = []
        for seed in range(chosen.seeds):
            rows.append(fit(name, seed, chosen.model))
            if chosen.rows:
                with chosen.rows.open("a") as file:
                    file.write(json.dumps(rows[-1]) + "\n")
        print(table(name, rows), flush=True)


if __name__ == "__main__":
    main()
