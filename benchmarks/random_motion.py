"""Orders of differentiation from random walks: histograms of displacements at two lags, many seeds.

`python -m benchmarks.random_motion --seeds 20` walks, counts, identifies u_t = a D(u, x, α) u (Brownian, truth a = ½,
α = 2) and u_t + (−Δ)^{α/2} u = 0 (Lévy, truth α = √2) by the midpoint model with the histograms' known errors, and
prints medians, quartiles and the coverage of the 95 % intervals.
"""

from __future__ import annotations

import argparse
import json
from math import sqrt
from pathlib import Path

import numpy as np

STEPS, DT, LAGS = 1_000_000, 0.01, (3, 4)
TRUTH = {"brownian": {"a": 0.5, "alpha": 2.0}, "levy": {"alpha": sqrt(2)}}
EQUATIONS = {"brownian": "u_t - a*D(u, x, alpha) = 0", "levy": "u_t + frac_lap(u, alpha) = 0"}
WINDOWS = {"brownian": 0.5, "levy": 0.35}


def fit(kind: str, seed: int, model: str) -> dict[str, object]:
    """Walk with one seed and identify from the histograms at two lags."""
    import hiddenphysics as hp
    from hiddenphysics.simulate.random_motion import brownian_path, displacement_density, levy_path

    path = brownian_path(STEPS, DT, seed) if kind == "brownian" else levy_path(STEPS, DT, sqrt(2), seed)
    data = hp.read(displacement_density(path, DT, lags=LAGS, window=WINDOWS[kind]))
    result = hp.identify(EQUATIONS[kind], data, model=model)
    row: dict[str, object] = {"kind": kind, "seed": seed, "status": str(result.status)}
    for name, estimate in result.parameters.items():
        low, high = estimate.interval(0.95)
        row |= {name: estimate.estimate, f"{name} covered": low <= TRUTH[kind][name] <= high}
    return row


def table(kind: str, rows: list[dict[str, object]]) -> str:
    """Return medians with quartiles beside the truth."""
    lines = [f"{kind}: {len(rows)} seeds, {', '.join(sorted({str(r['status']) for r in rows}))}"]
    for name, truth in TRUTH[kind].items():
        q1, median, q3 = np.quantile([float(r[name]) for r in rows], [0.25, 0.5, 0.75])  # type: ignore[arg-type]
        covered = np.mean([bool(r[f"{name} covered"]) for r in rows])
        lines.append(
            f"  {name}: median {median:.4f} ({100 * (median / truth - 1):+.2f} %), quartiles {q1:.4f} {q3:.4f}, truth "
            f"{truth:.4f}, covered {100 * covered:.0f} %"
        )
    return "\n".join(lines)


def main() -> None:
    """Fit all seeds of both motions in this process."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--model", default="midpoint")
    parser.add_argument("--kinds", nargs="*", default=list(TRUTH))
    parser.add_argument("--rows", type=Path, help="also write every fit as a line of JSON")
    chosen = parser.parse_args()
    for kind in chosen.kinds:
        rows = []
        for seed in range(chosen.seeds):
            rows.append(fit(kind, seed, chosen.model))
            if chosen.rows:
                with chosen.rows.open("a") as file:
                    file.write(json.dumps(rows[-1], default=bool) + "\n")
        print(table(kind, rows), flush=True)


if __name__ == "__main__":
    main()
