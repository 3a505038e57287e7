"""Pools of experiments: pairs of snapshots at 5 % noise that share their parameters, fitted together.

Every draw of a pool has other times, points and noise. Errors, stated deviations, coverage, and how often experiments
are said to contradict each other: in pools of one equation, and in pools of which half the runs are seen through a
stretched ruler, which makes their parameters others (v(y, t) = u(y/s, t) has s·a and s²·b).

`python -m benchmarks.experiments --to RESULTS --workers 8` makes 100 draws of every pool; it goes on where it was
stopped. `--studies burgers`, `--draws 10` and `--pairs 20` choose fewer. With
JAX_COMPILATION_CACHE_DIR set to some folder the processes share what is compiled.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from benchmarks.cases import (
    Case,
    Row,
    answered,
    arguments,
    as_told,
    counted,
    errors,
    fitted,
    median,
    table,
    write,
)
from hiddenphysics.datasets import load
from hiddenphysics.reproduction import STUDIES
from hiddenphysics.snapshots import Experiments, Snapshot, Snapshots, read

NOISE = 0.05
GAPS = {"burgers": 5, "ks": 2}
"""Steps of the recording between the two snapshots of a pair: 0.5 of Burgers, 0.8 of Kuramoto–Sivashinsky. At the
paper's gap, a fifth and a half of that, the Cramér–Rao bound of 20 pairs of Burgers is above 5 %."""
FIRST = {"burgers": 0, "ks": 50}
"""The first snapshot that a pair may begin with: before, Kuramoto–Sivashinsky holds one wavelength."""
PAIRS = (1, 5, 20)
STRETCHED = 1.3
"""Of the ruler of every second run of a contradictory pool."""
DRAWS, TOGETHER = 100, 1
"""Draws, and those of one case: processes are kept, so that single draws keep all of them busy to the end."""


def pool(study: str, pairs: int, seed: int, stretch: float = 1.0) -> Experiments:
    """Return pairs of neighbouring snapshots with noise of their own; every second one stretched."""
    asked, recording = STUDIES[study], read(load(STUDIES[study].data))
    rng = np.random.default_rng(seed)
    last = len(recording) - GAPS[study]
    runs = []
    for number in range(pairs):
        first = int(rng.integers(FIRST[study], last))
        pair = Snapshots([recording[first], recording[first + GAPS[study]]])
        drawn = pair.with_noise(NOISE, int(rng.integers(2**31))).subsample(
            asked.points, int(rng.integers(2**31))
        )
        runs.append(_stretched(drawn, stretch) if number % 2 else drawn)
    return Experiments(runs)


def _stretched(run: Snapshots, factor: float) -> Snapshots:
    if factor == 1.0:
        return run
    return Snapshots(Snapshot(s.t, factor * s["x"], **{f: s[f] for f in s.fields}) for s in run)


def answer(case: Case) -> Row:
    """Fit some draws."""
    asked, fits = STUDIES[case["study"]], []
    for seed in case["seeds"]:
        runs = pool(case["study"], case["pairs"], seed, case["stretch"])
        fit, row = fitted(
            asked.equation, runs if len(runs) > 1 else runs.only, time_limit=case.get("time_limit")
        )
        told = getattr(fit, "heterogeneity", None)
        fits.append(row | {"seed": seed, "p": None if told is None else told.p_value})
    return {"status": "fitted", "fits": fits}


def report(rows: Sequence[Row]) -> str:
    """Return the table: a line for every pool and parameter."""
    head = "study, pairs, stretch, parameter, draws, error % (rms), mean square of errors in sd, largest, "
    head += "covered of 95 %, sd % (median), said to contradict %, seconds (median), status"
    pools: dict[tuple[str, int, float], list[Row]] = {}
    for row in rows:
        case = row["case"]
        pools.setdefault((case["study"], case["pairs"], case["stretch"]), []).extend(row.get("fits", [row]))
    lines = []
    for (study, pairs, stretch), fits in pools.items():
        contrary = [
            100.0 * ("contradict" in fit.get("explanation", "")) for fit in fits if fit.get("p") is not None
        ]
        for name, truth in STUDIES[study].truth.items():
            spreads = [{"sd": 100 * fit["stds"][name] / truth} for fit in fits if "stds" in fit]
            told = errors(fits, name, truth) if stretch == 1.0 else [None] * 4
            lines.append(
                [
                    study,
                    pairs,
                    stretch,
                    name,
                    len(fits),
                    *told,
                    median(spreads, "sd"),
                    float(np.mean(contrary)) if contrary else None,
                    median(fits, "seconds"),
                    counted(fit["status"] for fit in fits),
                ]
            )
    return "## Pools of experiments, 5 % noise\n\n" + table(head.split(", "), lines)


def cases(studies: Sequence[str], pairs: Sequence[int], draws: int) -> list[Case]:
    """Return what to run: pools of every size, and contradictory ones of the second largest."""
    kinds = [(study, count, 1.0) for study in studies for count in pairs]
    some = sorted(pairs)[-2:][0]
    kinds += [(study, some, STRETCHED) for study in studies if some > 1]
    return [
        {
            "study": study,
            "pairs": count,
            "stretch": stretch,
            "seeds": list(range(first, min(first + TOGETHER, draws))),
        }
        for study, count, stretch in kinds
        for first in range(0, draws, TOGETHER)
    ]


def main(words: Sequence[str] | None = None) -> None:
    """Read the command line, run what is left, write the table."""
    parser = arguments(__doc__)
    parser.add_argument("--draws", type=int)
    parser.add_argument("--studies", nargs="+", choices=list(GAPS), default=list(GAPS))
    parser.add_argument("--pairs", nargs="+", type=int, help=f"sizes of the pools; {PAIRS}")
    given = parser.parse_args(words)
    if given.case:
        return answered(answer, given.case)
    chosen = cases(
        ["burgers"] if given.small else given.studies,
        given.pairs or ((2,) if given.small else PAIRS),
        given.draws or (1 if given.small else DRAWS),
    )
    rows = as_told("benchmarks.experiments", chosen, given)
    return write(given.to, "experiments", report(rows))


if __name__ == "__main__":
    main()
