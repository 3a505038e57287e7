"""Glacier ice under the weather: its diffusivity from nine thermometers that have errors of their own."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import hiddenphysics as hp

DATA = Path(__file__).with_suffix(".csv")
EQUATION = "u_t = D*u_xx"
TRUTH = {"D": 0.0955}
TEXTBOOK = (0.093, 0.098)
"""m² a day: k/(ρc) of pure ice between 0 and −5 °C, and the middle of that."""
WINDOWS = ((20, 24, 1), (20, 50, 4))
"""First and last day, and which profiles: every one, or every fourth, once a day."""


def window(record: hp.Snapshots, first: float, last: float, every: int) -> hp.Snapshots:
    """Return some of the profiles between two days."""
    return hp.Snapshots([profile for profile in record if first <= profile.t <= last][::every])


def draw(fits: dict[tuple[int, int], hp.Result], record: hp.Snapshots, out: Path) -> None:
    """Draw what the thermometers told, and D of every window with its 95 % interval."""
    figure = Figure(figsize=(9.0, 3.4), layout="constrained")
    left, right = figure.subplots(1, 2)
    depths = record[0].points[:, 0]
    for row, depth in enumerate(depths):
        told = [profile["u"][row] for profile in record]
        left.plot(record.times, told, color=(0.1, 0.3 + 0.6 * row / len(depths), 0.8), label=f"{depth:g} m")
    left.set(xlabel="days", ylabel="°C", title="nine depths")
    left.legend(fontsize="x-small", ncols=3)
    right.axhspan(*TEXTBOOK, color="0.8", label="pure ice")
    for place, fit in enumerate(fits.values()):
        D = fit.parameters["D"]
        colour = "tab:blue" if fit.status == "converged" else "tab:orange"
        right.errorbar(place, D.estimate, 1.96 * np.nan_to_num(D.std, posinf=0.0), fmt="o", color=colour)
        right.annotate(
            str(fit.status), (place, D.estimate), xytext=(4, 4), textcoords="offset points", fontsize=6
        )
    right.margins(x=0.3)  # so that what stands beside the last one has its place
    right.set_xticks(range(len(fits)), [f"{first}–{last}" for first, last in fits], fontsize="small")
    right.set(xlabel="days", ylabel="D, m² a day", ylim=(0.0, 0.2), title="D with its 95 % interval")
    right.legend(fontsize="small")
    figure.savefig(out / "glacier_ice.png", dpi=110)


def main(out: Path, count: int = len(WINDOWS)) -> hp.Result:
    """Identify D in the first windows, all by default, draw, and return the last fit."""
    record = hp.read(DATA)
    sensors = hp.Sensors(offsets=True)
    fits = {}
    for first, last, every in WINDOWS[:count]:
        some = window(record, first, last, every)
        fit = hp.identify(EQUATION, some, model="flow", sensors=sensors, boundary="driven")
        print(f"days {first} to {last}, {len(some)} profiles  {fit.identified()}  {fit.status}", flush=True)
        fits[first, last] = fit
    draw(fits, record, out)
    return fit


if __name__ == "__main__":
    main(Path(sys.argv[1]))
