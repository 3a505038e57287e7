"""Schrödinger's nonlinear equation: a complex field, typed with the imaginary unit."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import hiddenphysics as hp

EQUATION = "i*h_t + a*h_xx + b*abs(h)^2*h = 0"
TRUTH = {"a": 0.5, "b": 1.0}
TIMES = (0.2, 0.5)


def field(t: float, x: np.ndarray) -> np.ndarray:
    """Return the bound state of two solitons that starts as 2/cosh x (Satsuma & Yajima 1974)."""
    top = np.cosh(3 * x) + 3 * np.exp(4j * t) * np.cosh(x)
    return 4 * np.exp(0.5j * t) * top / (np.cosh(4 * x) + 4 * np.cosh(2 * x) + 3 * np.cos(4 * t))


def measured(points: int) -> hp.Snapshots:
    """Return two snapshots of the complex field, each at its own random points, with 1 % noise."""
    random = np.random.default_rng(0)
    places = [np.sort(random.uniform(-5.0, 5.0, points)) for _ in TIMES]
    clean = hp.Snapshots(hp.Snapshot(t=t, x=x, h=field(t, x)) for t, x in zip(TIMES, places, strict=True))
    return clean.with_noise(0.01, seed=1)


def draw(fit: hp.Result, out: Path) -> None:
    """Draw both parts of the field at the snapshots and between them, beside the exact ones."""
    x = np.linspace(-5.0, 5.0, 200)
    figure = Figure(figsize=(8.5, 3.2), layout="constrained")
    axes = figure.subplots(1, 3, sharey=True)
    for axis, t in zip(axes, (TIMES[0], 0.35, TIMES[1]), strict=True):
        for part, colour, exact in (("h_re", "tab:blue", np.real), ("h_im", "tab:green", np.imag)):
            mean, _ = fit.predict(part, x, t=t)
            axis.plot(x, mean, color=colour, label=f"{part}, posterior mean")
            axis.plot(x, exact(field(t, x)), "k:")
        axis.set(xlabel="x", title=f"t = {t:g}" + ("" if t in TIMES else ", between the snapshots"))
    for axis, snapshot in zip(axes[::2], fit.snapshots, strict=True):
        axis.plot(snapshot["x"], snapshot["h_re"], "x", color="tab:orange", markersize=4, label="data")
        axis.plot(snapshot["x"], snapshot["h_im"], "x", color="tab:orange", markersize=4)
    axes[0].legend(fontsize="x-small")
    figure.suptitle(fit.identified(), family="monospace", fontsize="medium")
    figure.savefig(out / "schrodinger.png", dpi=110)


def main(out: Path, points: int = 50) -> hp.Result:
    """Measure, identify, draw."""
    fit = hp.identify(EQUATION, measured(points))
    print(fit)
    draw(fit, out)
    return fit


if __name__ == "__main__":
    main(Path(sys.argv[1]))
