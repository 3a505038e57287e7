"""The pressure of a flow from velocities alone: two snapshots of forty points."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import hiddenphysics as hp
from hiddenphysics.simulate.exact import taylor_green

EQUATION = """
u_t + a*(u*u_x + v*u_y) + p_x - b*lap(u) = 0
v_t + a*(u*v_x + v*v_y) + p_y - b*lap(v) = 0
u = psi_y
v = -psi_x
"""
TRUTH = {"a": 1.0, "b": 0.05}
DRIFT = 0.5
TIMES = (0.4, 0.5)


def measured(points: int) -> hp.Snapshots:
    """Return velocities of the vortices of Taylor and Green, which a stream carries along."""
    random = np.random.default_rng(0)
    snapshots = []
    for t in TIMES:
        x, y = random.uniform(0.0, 2 * np.pi, (2, points))
        flow = taylor_green(t, x, y, TRUTH["b"], drift=DRIFT)
        snapshots.append(hp.Snapshot(t=t, x=x, y=y, u=flow.u, v=flow.v))
    return hp.Snapshots(snapshots)


def draw(fit: hp.Result, out: Path) -> None:
    """Draw the pressure beside the exact one."""
    t, side = 0.45, np.linspace(0.0, 2 * np.pi, 41)
    x, y = (grid.ravel() for grid in np.meshgrid(side, side))
    mean, _ = fit.predict("p", x, y, t=t)
    exact = taylor_green(t, x, y, TRUTH["b"], drift=DRIFT).p
    # Only the slope of a pressure is in the equation; its constant is free.
    pictures = {"pressure, never measured": mean - mean.mean(), "exact pressure": exact - exact.mean()}
    figure = Figure(figsize=(8.5, 3.8), layout="constrained")
    axes = figure.subplots(1, 2, sharey=True)
    for axis, (title, values) in zip(axes, pictures.items(), strict=True):
        image = axis.contourf(
            side, side, values.reshape(41, 41), levels=np.linspace(-0.5, 0.5, 21), extend="both"
        )
        axis.set(xlabel="x", title=title, aspect="equal")
    for snapshot, marker in zip(fit.snapshots, "ox", strict=True):
        axes[0].plot(snapshot["x"], snapshot["y"], f"w{marker}", markersize=3)
    figure.colorbar(image, ax=axes)
    figure.savefig(out / "hidden_pressure.png", dpi=100)


def main(out: Path, points: int = 40) -> hp.Result:
    """Measure, identify, draw."""
    fit = hp.identify(EQUATION, measured(points), kernel=hp.SquaredExponential())
    print(fit)
    draw(fit, out)
    return fit


if __name__ == "__main__":
    main(Path(sys.argv[1]))
