"""Korteweg and de Vries over growing gaps: the equation's own flow against one step of the paper's method."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import hiddenphysics as hp
from hiddenphysics.simulate.exact import two_solitons

EQUATION = "u_t + a*u*u_x + b*u_xxx = 0"
TRUTH = {"a": 6.0, "b": 1.0}
GAPS = (0.1, 0.2, 0.4, 0.8)
MODELS = {"paper": "tab:orange", "flow": "tab:blue"}


def measured(gap: float, points: int) -> hp.Snapshots:
    """Return two snapshots of a fast soliton behind a slow one, each at its own points, with 1 % noise."""
    random = np.random.default_rng(0)
    places = [np.sort(random.uniform(-10.0, 10.0, points)) for _ in range(2)]
    clean = hp.Snapshots(
        hp.Snapshot(t=t, x=x, u=two_solitons(t, x, speeds=(2.0, 0.8), centres=(-4.0, 1.0)))
        for t, x in zip((0.0, gap), places, strict=True)
    )
    return clean.with_noise(0.01, seed=1)


def draw(fits: dict[str, list[hp.Result]], out: Path) -> None:
    """Draw the estimates of every model with two standard deviations, over the gap."""
    figure = Figure(figsize=(8.5, 3.2), layout="constrained")
    axes = figure.subplots(1, 2)
    for axis, (name, truth) in zip(axes, TRUTH.items(), strict=True):
        axis.axhline(truth, color="black", linestyle=":", label="truth")
        for shift, (model, colour) in zip((0.97, 1.03), MODELS.items(), strict=True):
            found = [fit.parameters[name] for fit in fits[model]]
            axis.errorbar(
                [shift * gap for gap in GAPS[: len(found)]],
                [p.estimate for p in found],
                [2 * p.std for p in found],
                fmt="o",
                color=colour,
                label=model,
            )
        axis.set(xscale="log", xlabel="gap between the two snapshots", title=f"{name} ± 2 std")
        axis.set_xticks(GAPS, [f"{gap:g}" for gap in GAPS])
        axis.minorticks_off()
    axes[0].legend(fontsize="small")
    figure.savefig(out / "kdv_gap.png", dpi=110)


def main(out: Path, points: int = 100) -> hp.Result:
    """Identify over every gap by both models, draw, and return the flow's fit over the longest gap."""
    fits: dict[str, list[hp.Result]] = {model: [] for model in MODELS}
    for gap in GAPS:
        for model, done in fits.items():
            done.append(hp.identify(EQUATION, measured(gap, points), model=model))
            print(f"gap {gap:g}, {model:<5}  {done[-1].identified()}  {done[-1].status}", flush=True)
    draw(fits, out)
    return fits["flow"][-1]


if __name__ == "__main__":
    main(Path(sys.argv[1]))
