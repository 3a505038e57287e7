"""Twelve recordings of cells that close a scratch: two equations, one set of parameters, and whether that holds."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import hiddenphysics as hp

EQUATIONS = {
    "Fisher–KPP": "u_t = D*u_xx + r*u*(1 - u/K)",
    "porous Fisher": "u_t = d(D*u/K*u_x, x) + r*u*(1 - u/K)",
}
CAPACITY = {"K": 1.7}
COLOURS = {"Fisher–KPP": "tab:blue", "porous Fisher": "tab:orange"}


def measured(folder: Path) -> hp.Experiments:
    """Return every replicate of every file as an experiment: columns replicate, t (h), x (µm), u (10⁻³ per µm²)."""
    return hp.read_experiments(sorted(folder.glob("scratch_assay_*.csv")), experiment="replicate")


def draw(fits: dict[str, hp.Result], out: Path) -> None:
    """Draw what every recording says of D by itself, and one of them beside the common fits."""
    figure = Figure(figsize=(8.5, 3.2), layout="constrained")
    left, right = figure.subplots(1, 2)
    for number, (name, fit) in enumerate(fits.items()):
        colour, common = COLOURS[name], fit.parameters["D"].estimate
        for place, share in enumerate(fit.heterogeneity.shares):
            left.errorbar(
                place + 0.25 * number,
                share.estimate["D"],
                share.std["D"],
                fmt="o",
                markersize=3,
                color=colour,
                label=name if place == 0 else None,
            )
        left.axhline(common, color=colour, linewidth=0.8)
        one = fit.experiments[-1]
        x = np.linspace(one.snapshots[0]["x"].min(), one.snapshots[0]["x"].max(), 200)
        for snapshot in one.snapshots[::2]:
            right.plot(x, one.predict("u", x, t=snapshot.t)[0], color=colour, linewidth=1.2)
            if number == 0:
                right.plot(snapshot["x"], snapshot["u"], "k.", markersize=3)
    left.set(title="D of each recording by itself, µm²/h", xlabel="recording, fewest cells first")
    left.legend(fontsize="small", loc="lower right")
    right.set(xlabel="x, µm", title=f"u, {fits['Fisher–KPP'].experiments.names[-1]}: 0, 24, 48 h")
    figure.savefig(out / "scratch_assay.png", dpi=110)


def main(out: Path, folder: Path) -> hp.Comparison:
    """Read, compare, print, draw."""
    comparison = hp.compare(list(EQUATIONS.values()), measured(folder), constants=CAPACITY)
    print(comparison)
    names = {text: name for name, text in EQUATIONS.items()}
    fits = {names[one.equation]: one.result for one in comparison.equations}
    for name, fit in fits.items():
        print(f"\n{name}\n{fit}")
    draw(fits, out)
    return comparison


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
