"""Burgers' equation from 140 noisy points, then moved on to a time that nobody measured."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import hiddenphysics as hp
from hiddenphysics.simulate.exact import burgers, gaussian_pulse

EQUATION = "u_t + a*u*u_x - b*u_xx = 0"
TRUTH = {"a": 1.0, "b": 0.1}
TIMES = (1.0, 1.5)
LATER = 6.0


def field(t: float, x: np.ndarray) -> np.ndarray:
    """Return the exact solution that starts from a Gaussian pulse."""
    return burgers(gaussian_pulse, t, x, TRUTH["b"], speed=TRUTH["a"], reach=16.0, nodes=801)


def measured(points: int) -> hp.Snapshots:
    """Return two snapshots, each at its own random points, with 1 % noise."""
    random = np.random.default_rng(0)
    places = [np.sort(random.uniform(-8.0, 8.0, points)) for _ in TIMES]
    clean = hp.Snapshots(hp.Snapshot(t=t, x=x, u=field(t, x)) for t, x in zip(TIMES, places, strict=True))
    return clean.with_noise(0.01, seed=1)


def draw(fit: hp.Result, out: Path) -> None:
    """Draw the two snapshots, and the field at a time that nobody measured, beside the exact one."""
    x = np.linspace(-8.0, 8.0, 200)
    figure = Figure(figsize=(8.5, 3.2), layout="constrained")
    axes = figure.subplots(1, 3, sharey=True)
    for axis, t in zip(axes, (*TIMES, LATER), strict=True):
        mean, std = fit.predict("u", x, t=t)
        axis.fill_between(
            x, mean - 2 * std, mean + 2 * std, color="tab:blue", alpha=0.3, label="mean ± 2 std"
        )
        axis.plot(x, mean, color="tab:blue")
        axis.plot(x, field(t, x), "k:", label="exact")
        axis.set(xlabel="x", title=f"t = {t:g}")
    for axis, snapshot in zip(axes, fit.snapshots, strict=False):
        axis.plot(snapshot["x"], snapshot["u"], "x", color="tab:orange", markersize=4, label="data")
    axes[0].set_ylabel("u")
    axes[0].legend(fontsize="small")
    figure.suptitle(fit.identified(), family="monospace", fontsize="medium")
    figure.savefig(out / "burgers.png", dpi=110)


def main(out: Path, points: int = 70) -> hp.Result:
    """Measure, identify, draw."""
    fit = hp.identify(EQUATION, measured(points))
    print(fit)
    draw(fit, out)
    return fit


if __name__ == "__main__":
    main(Path(sys.argv[1]))
