"""Whole recordings with little and with much noise: ours, the limit that no estimate can beat, and PySINDy's weak form.

`python -m benchmarks.recordings --folder FOLDER --to RESULTS` reads the original files (burgers.mat, kdv.mat,
kuramoto_sivishinky.mat, nls.mat) in FOLDER, without it our own data sets, and adds Gaussian noise of 1, 10, 50 and
100 % of the root mean square of the field to every value. `hp.identify` gets all of it and nothing else; PySINDy gets
the same array and is told the terms, without a threshold. `--only burgers --noise 1.0 --seeds 0,1` selects.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from benchmarks.cases import (
    Case,
    Row,
    answered,
    arguments,
    carry_out,
    counted,
    errors,
    fitted,
    median,
    peak_gib,
    table,
    write,
)
from benchmarks.neighbours.library import weak_regression
from benchmarks.neighbours.problems import PROBLEMS, Problem
from benchmarks.neighbours.recording import Recording, record
from benchmarks.neighbours.sindy import WEAK, read_off, told
from hiddenphysics.snapshots import Snapshot, Snapshots

NOISES = (0.01, 0.1, 0.5, 1.0)
DRAWS = {1.0: 10}
"""Draws of noise at a level; 5 at the others."""
OURS, WEAK_FORM = "hiddenphysics", "PySINDy weak"


# ---- one case --------------------


def noisy(
    problem: Problem, folder: Path | None, noise: float, seed: int, every: Sequence[int]
) -> tuple[Recording, float]:
    """Return a recording with noise, and the standard deviation of the noise in each real component.

    That is level · √mean(u²) over all values of all real components: of a complex field √(mean|h|²/2).

    Parameters
    ----------
    every
        Take every so many points, and every so many times; (1, 1) is all.
    """
    whole = record(problem, folder, 0.0)
    x, times = whole.x[:: every[0]], whole.times[:: every[1]]
    clean = whole.values[:: every[0], :: every[1]]
    std = noise * float(np.sqrt(np.mean(clean**2)))
    values = clean + std * np.random.default_rng(seed).standard_normal(clean.shape)
    snapshots = Snapshots(
        Snapshot.from_columns(t, {"x": x}, {f: values[:, k, i] for i, f in enumerate(problem.fields)})
        for k, t in enumerate(times)
    )
    return Recording(snapshots, times, x, values), std


def answer(case: Case) -> Row:
    """Fit one draw by one program."""
    problem = PROBLEMS[case["recording"]]
    folder = Path(case["folder"]) if case["folder"] else None
    recording, std = noisy(problem, folder, case["noise"], case["seed"], case["every"])
    return _ours(problem, recording, std) if case["by"] == OURS else _weak(problem, recording)


def _ours(problem: Problem, recording: Recording, std: float) -> Row:
    fit, row = fitted(problem.equation, recording.snapshots)
    bounds = None if fit is None else fit.cramer_rao(dict.fromkeys(problem.fields, std))
    return row | {"bounds": bounds or {}}


def _weak(problem: Problem, recording: Recording) -> Row:
    """Fit the true terms alone with every setting; the table keeps the best, a choice that needs the truth."""
    settings = {}
    began = time.perf_counter()
    for how in WEAK:
        regression = weak_regression(problem, recording, how)
        settings[str(how)] = read_off(problem, regression.names, told(problem, regression))[0]
    seconds = (time.perf_counter() - began) / len(WEAK)
    return {"status": "fitted", "settings": settings, "seconds": seconds, "peak": peak_gib()}


# ---- the tables --------------------


def report(rows: Sequence[Row]) -> str:
    """Return the summary of every cell, and every draw."""
    cells: dict[tuple[str, float], list[Row]] = {}
    for row in rows:
        cells.setdefault((row["case"]["recording"], row["case"]["noise"]), []).append(row)
    head = "recording, noise, parameter, draws, error % (rms), PySINDy's, its setting, mean square of errors in sd, "
    head += "largest, sd / bound, seconds (median), peak GiB, status"
    single = "recording, noise, draw, parameter, error %, sd %, bound %, PySINDy's error %, seconds, peak GiB, status"
    return "\n\n".join(
        [
            "## Whole recordings with noise",
            table(head.split(", "), (line for cell, some in cells.items() for line in _summary(*cell, some))),
            "### Every draw",
            table(single.split(", "), (line for cell, some in cells.items() for line in _draws(*cell, some))),
        ]
    )


def _by(rows: Iterable[Row], program: str) -> list[Row]:
    return [row for row in rows if row["case"]["by"] == program]


def _percent(found: Mapping[str, float], name: str, truth: float) -> float:
    return 100 * (found[name] - truth) / abs(truth)


def _rms(values: Sequence[float]) -> float | None:
    return math.sqrt(sum(v * v for v in values) / len(values)) if values else None


def best_setting(rows: Sequence[Row], truth: Mapping[str, float]) -> str | None:
    """Return PySINDy's setting with the smallest rms of relative errors over all draws and parameters."""
    answers = [row["settings"] for row in rows if "settings" in row]
    if not answers:
        return None
    return min(
        answers[0],
        key=lambda how: (
            _rms([_percent(a[how], name, v) for a in answers for name, v in truth.items()]) or 0.0
        ),
    )


def _summary(recording: str, noise: float, rows: Sequence[Row]) -> Iterator[list[object]]:
    truth = PROBLEMS[recording].truth
    ours = [row for row in _by(rows, OURS) if "estimates" in row]
    weak = [row for row in _by(rows, WEAK_FORM) if "settings" in row]
    setting = best_setting(weak, truth)
    for name, value in truth.items():
        found = errors(ours, name, value)
        ratios = [{"ratio": row["stds"][name] / row["bounds"][name]} for row in ours if name in row["bounds"]]
        yield [
            recording,
            f"{100 * noise:g} %",
            name,
            len(ours),
            found.percent,
            _rms([_percent(row["settings"][setting], name, value) for row in weak]),
            setting,
            found.mean_square,
            found.largest,
            median(ratios, "ratio"),
            median(ours, "seconds"),
            max((row["peak"] for row in ours), default=None),
            counted(row["status"] for row in _by(rows, OURS)),
        ]


def _draws(recording: str, noise: float, rows: Sequence[Row]) -> Iterator[list[object]]:
    truth = PROBLEMS[recording].truth
    weak = {row["case"]["seed"]: row for row in _by(rows, WEAK_FORM) if "settings" in row}
    setting = best_setting(list(weak.values()), truth)
    for row in _by(rows, OURS):
        seed, answered_ = row["case"]["seed"], "estimates" in row
        for name, value in truth.items():
            bound = row.get("bounds", {}).get(name)
            yield [
                recording,
                f"{100 * noise:g} %",
                seed,
                name,
                _percent(row["estimates"], name, value) if answered_ else None,
                100 * row["stds"][name] / abs(value) if answered_ else None,
                100 * bound / abs(value) if bound else None,
                _percent(weak[seed]["settings"][setting], name, value) if seed in weak else None,
                row.get("seconds"),
                row.get("peak"),
                row["status"],
            ]


# ---- the command --------------------


def cases(
    recordings: Sequence[str],
    noises: Sequence[float],
    seeds: Sequence[int] | None,
    folder: Path | None,
    programs: Sequence[str],
    every: tuple[int, int] = (1, 1),
) -> Iterator[Case]:
    """Yield what to fit, in the order of the table; `seeds` None takes those of `DRAWS`."""
    for recording in recordings:
        for noise in noises:
            for seed in range(DRAWS.get(noise, 5)) if seeds is None else seeds:
                for program in programs:
                    yield {
                        "recording": recording,
                        "noise": noise,
                        "seed": seed,
                        "by": program,
                        "folder": str(folder.resolve()) if folder else None,
                        "every": list(every),
                    }


def main(words: Sequence[str] | None = None) -> None:
    """Read the command line, run what is left, write the tables."""
    parser = arguments(__doc__)
    parser.add_argument("--folder", type=Path, help="folder of the original files; without it our own data")
    parser.add_argument("--only", nargs="+", choices=PROBLEMS)
    parser.add_argument("--noise", nargs="+", type=float, help="levels, such as 0.1 1.0")
    parser.add_argument("--seeds", type=lambda text: [int(w) for w in text.split(",")], help="such as 0,1")
    given = parser.parse_args(words)
    if given.case:
        return answered(answer, given.case)
    programs = [OURS, WEAK_FORM]
    if find_spec("pysindy") is None:
        programs.remove(WEAK_FORM)
        print(
            'PySINDy is not installed, its columns stay empty: pip install "hiddenphysics[neighbours]"',
            file=sys.stderr,
        )
    chosen = cases(
        given.only or (["burgers"] if given.small else list(PROBLEMS)),
        given.noise or ([0.1] if given.small else NOISES),
        given.seeds or ([0] if given.small else None),
        given.folder,
        programs,
        (8, 25) if given.small else (1, 1),
    )
    rows = carry_out("benchmarks.recordings", chosen, given.to, retry=given.retry, workers=given.workers)
    return write(given.to, "recordings", report(rows))


if __name__ == "__main__":
    main()
