"""A twin of glacier ice in one borehole: coverage of its diffusivity, and whether what a model lacks is said.

u_t = D u_xx under a weather of days, weeks and a year; nine sensors from 0.3 to 10 m, each off by an offset of 0.05 °C
and by 0.03 m of depth, noise of 0.008 °C. `python -m benchmarks.ice_twin --to RESULTS` makes 100 draws of records of 1,
4, 30 and 100 days: with offsets, places and a driven edge in the model, without offsets, and with a still edge.
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
from benchmarks.driven import Ground, Surface, simulate
from hiddenphysics.models import Sensors
from hiddenphysics.snapshots import Snapshot, Snapshots

EQUATION = "u_t = D*u_xx"
TRUTH = 0.095
"""m² a day."""
DEPTHS = np.array([0.3, 0.5, 1.0, 1.5, 2.0, 4.0, 6.0, 8.0, 10.0])
OFFSET, AWAY, NOISE = 0.05, 0.03, 0.008
GAPS = {1: 0.125, 4: 0.125, 30: 0.25, 100: 0.25}
"""Days of a record, and the days between its profiles: a weather of one day is seen four times a day at least. Seen
twice a day, its phase is not to be told, by whatever model."""
DAILY, WEEKLY, YEARLY = 3.0, 2.0, 6.0
"""Amplitudes of the surface, in °C: of the day, of six waves of 2 to 30 days, of the year."""
GROUND = Ground(bottom=30.0, cells=4500, step=0.0125, before=60.0)
"""Against twice as many cells and steps values move by less than 3e-4 °C. With 1500 cells and steps twice as long it
was 2e-3, a quarter of the noise, and always to the same side."""
MODELS = {
    "whole": {"sensors": Sensors(offsets=True, position_error=AWAY), "boundary": "driven"},
    "no offsets": {"sensors": Sensors(position_error=AWAY), "boundary": "driven"},
    "still edge": {"sensors": Sensors(offsets=True, position_error=AWAY), "boundary": "still"},
}
"""What is asked of the flow."""
DRAWS = 100


def weather(seed: int) -> Surface:
    """Return a temperature of the surface with random phases, and random waves of days and weeks."""
    rng = np.random.default_rng(seed)
    periods = np.concatenate([[1.0, 365.0], rng.uniform(2.0, 30.0, 6)])
    sizes = np.concatenate([[DAILY, YEARLY], WEEKLY * rng.standard_normal(6) / np.sqrt(6)])
    phases = rng.uniform(0, 2 * np.pi, len(periods))
    return lambda t: np.sin(np.multiply.outer(t, 2 * np.pi / periods) + phases) @ sizes


def record(days: int, seed: int) -> Snapshots:
    """Return what the nine sensors tell."""
    rng = np.random.default_rng(10_000 + seed)
    times = np.arange(0.0, days + 1e-9, GAPS[days])
    true_depths = DEPTHS + AWAY * rng.standard_normal(DEPTHS.size)
    told = simulate(weather(seed), TRUTH, times, depths=true_depths, ground=GROUND)
    told = told + OFFSET * rng.standard_normal(DEPTHS.size) + NOISE * rng.standard_normal(told.shape)
    return Snapshots(Snapshot(t=t, x=DEPTHS, u=u) for t, u in zip(times, told, strict=True))


def answer(case: Case) -> Row:
    """Fit one draw."""
    return fitted(
        EQUATION,
        record(case["days"], case["seed"]),
        model="flow",
        time_limit=case.get("time_limit"),
        **MODELS[case["model"]],
    )[1]


def report(rows: Sequence[Row]) -> str:
    """Return the table: a line for every length of record and every model."""
    head = "days, model, draws, error of D % (rms), mean square of errors in sd, largest, covered of 95 %, "
    head += "sd % (median), seconds (median), status"
    lines = []
    kinds = dict.fromkeys((row["case"]["days"], row["case"]["model"]) for row in rows)
    for days, model in kinds:
        fits = [row for row in rows if (row["case"]["days"], row["case"]["model"]) == (days, model)]
        spreads = [{"sd": 100 * fit["stds"]["D"] / TRUTH} for fit in fits if "stds" in fit]
        lines.append([
            days,
            model,
            len(fits),
            *errors(fits, "D", TRUTH),
            median(spreads, "sd"),
            median(fits, "seconds"),
            counted(fit["status"] for fit in fits),
        ])  # fmt: skip
    return "## A twin of glacier ice\n\n" + table(head.split(", "), lines)


def main(words: Sequence[str] | None = None) -> None:
    """Read the command line, run what is left, write the table."""
    parser = arguments(__doc__)
    parser.add_argument("--draws", type=int)
    parser.add_argument("--days", type=int, nargs="*", choices=list(GAPS))
    parser.add_argument("--models", nargs="*", choices=list(MODELS))
    given = parser.parse_args(words)
    if given.case:
        return answered(answer, given.case)
    draws = given.draws or (1 if given.small else DRAWS)
    days = given.days or ([1] if given.small else list(GAPS))
    models = given.models or (["whole"] if given.small else list(MODELS))
    chosen = [
        {"days": one, "model": model, "seed": seed}
        for model in models
        for one in days
        for seed in range(draws)
    ]
    rows = as_told("benchmarks.ice_twin", chosen, given)
    return write(given.to, "ice_twin", report(rows))


if __name__ == "__main__":
    main()
