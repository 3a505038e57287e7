"""A Lévy flight: the order of the derivative itself is unknown, and found from two histograms."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import hiddenphysics as hp
from hiddenphysics.simulate.exact import fractional_heat_kernel
from hiddenphysics.simulate.random_motion import displacement_density, levy_path

EQUATION = "u_t + frac_lap(u, alpha) = 0"
TRUTH = {"alpha": 2**0.5}
STEP = 0.01


def measured(bins: int) -> hp.Snapshots:
    """Return densities of the displacements over 3 and over 4 steps, with their counting errors u_std."""
    path = levy_path(1_000_000, STEP, TRUTH["alpha"], seed=0)
    return hp.read(displacement_density(path, STEP, lags=(3, 4), bins=bins, window=0.5))


def draw(fit: hp.Result, out: Path) -> None:
    """Draw the histograms with what was learned from them."""
    x = np.linspace(-0.5, 0.5, 201)
    figure = Figure(figsize=(8.5, 3.2), layout="constrained")
    axes = figure.subplots(1, 2, sharey=True)
    for axis, snapshot in zip(axes, fit.snapshots, strict=True):
        mean, _ = fit.predict("u", x, t=snapshot.t)
        axis.errorbar(
            snapshot["x"],
            snapshot["u"],
            snapshot["u_std"],
            fmt=".",
            color="tab:orange",
            ms=3,
            label="histogram",
        )
        axis.plot(x, mean, color="tab:blue", label="posterior mean")
        axis.plot(x, fractional_heat_kernel(snapshot.t, x, TRUTH["alpha"]), "k:", label="exact density")
        axis.set(xlabel="displacement", title=f"after t = {snapshot.t:g}")
    axes[0].legend(fontsize="small")
    figure.suptitle(fit.identified(), family="monospace", fontsize="medium")
    figure.savefig(out / "fractional_walk.png", dpi=110)


def main(out: Path, bins: int = 100) -> hp.Result:
    """Measure, identify, draw."""
    fit = hp.identify(EQUATION, measured(bins), model="midpoint")
    print(fit)
    draw(fit, out)
    return fit


if __name__ == "__main__":
    main(Path(sys.argv[1]))
