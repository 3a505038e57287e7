"""Sine-Gordon from three snapshots: second order in time, and an unknown inside the sine."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import hiddenphysics as hp
from hiddenphysics.simulate.exact import breather

EQUATION = "u_tt - u_xx + b*sin(a*u) = 0"
TRUTH = {"a": 1.0, "b": 1.0}
TIMES = (1.0, 1.1, 1.2)


def measured(points: int) -> hp.Snapshots:
    """Return three clean snapshots of the breather, each at its own random points."""
    random = np.random.default_rng(5)
    places = [np.sort(random.uniform(-10.0, 10.0, points)) for _ in TIMES]
    return hp.Snapshots(hp.Snapshot(t=t, x=x, u=breather(t, x)) for t, x in zip(TIMES, places, strict=True))


def draw(fit: hp.Result, out: Path) -> None:
    """Draw the data, and the velocity that nobody measured beside the exact one."""
    x, t = np.linspace(-10.0, 10.0, 200), TIMES[1]
    velocity, std = fit.predict("u_t", x, t=t)
    exact = (breather(t + 1e-4, x) - breather(t - 1e-4, x)) / 2e-4
    figure = Figure(figsize=(8.5, 3.2), layout="constrained")
    left, right = figure.subplots(1, 2)
    for snapshot in fit.snapshots:
        left.plot(snapshot["x"], snapshot["u"], ".", markersize=4, label=f"t = {snapshot.t:g}")
    left.set(xlabel="x", title="u, measured")
    left.legend(fontsize="small")
    right.fill_between(x, velocity - 2 * std, velocity + 2 * std, color="tab:blue", alpha=0.3)
    right.plot(x, velocity, color="tab:blue", label="mean ± 2 std")
    right.plot(x, exact, "k:", label="exact")
    right.set(xlabel="x", title=f"u_t at t = {t:g}, not measured")
    right.legend(fontsize="small", loc="lower left")
    figure.suptitle(fit.identified(), family="monospace", fontsize="medium")
    figure.savefig(out / "sine_gordon.png", dpi=110)


def main(out: Path, points: int = 100) -> hp.Result:
    """Measure, identify, draw."""
    fit = hp.identify(EQUATION, measured(points), model="midpoint")
    print(fit)
    draw(fit, out)
    return fit


if __name__ == "__main__":
    main(Path(sys.argv[1]))
