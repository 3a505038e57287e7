"""A small study with an exact solution, and a library that needs no data set."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from hiddenphysics.errors import DataError
from hiddenphysics.reproduction import Study
from hiddenphysics.reproduction.paper_tables import Cell, Published, Table
from hiddenphysics.reproduction.study import Picture
from hiddenphysics.reproduction.study_data import StudyData
from hiddenphysics.snapshots import Snapshot, Snapshots

TRUTH = 0.3
TIMES = 0.1 * np.arange(7)
X = np.linspace(-np.pi, np.pi, 60, endpoint=False)


def heat(t: float) -> np.ndarray:
    """Solve u_t = b u_xx from sin x + ½ cos 2x."""
    return np.exp(-TRUTH * t) * np.sin(X) + 0.5 * np.exp(-4 * TRUTH * t) * np.cos(2 * X)


def write_recording(folder: Path) -> Path:
    """Write the field over (t, x), as a user would have it."""
    file = folder / "heat.npz"
    np.savez(file, t=TIMES, x=X, u=np.stack([heat(t) for t in TIMES]))
    return file


def small_study(**changes: object) -> Study:
    """Return a study of the heat equation: two noise levels, all pairs."""
    cells = tuple(
        Cell("", word, 1, noise, {"b": Published(0.4, 0.2, 0.5)})
        for word, noise in (("clean", 0.0), ("1 % noise", 0.01))
    )
    settings: dict[str, object] = {
        "name": "heat",
        "group": "heat",
        "title": "Heat",
        "story": "It cools.",
        "equation": "u_t - b*u_xx = 0",
        "truth": {"b": TRUTH},
        "symbols": {"b": "λ"},
        "fields": ("u",),
        "data": "heat",
        "points": (16, 15),
        "models": ("paper",),
        "tables": (Table("Table 1", "Statistics", cells),),
        "picture": Picture("Figure 1", "Heat", 2, "paper", (0.0,)),
    }
    return Study(**(settings | changes))  # type: ignore[arg-type]


class MadeUp:
    """Stands for a library: smooth fields of any name, on a line or in the plane, for every study."""

    folder = None

    def open(self, study: Study, name: str | None = None) -> StudyData:
        if name not in (None, study.data):
            raise DataError(f"{name} has not been made")
        label = study.fallback or study.data
        times = 0.1 * np.arange(160)
        fields = ("h_re", "h_im") if study.fields == ("h",) else study.fields
        plane = len(study.fields) == 2
        axes = [np.linspace(1, 7, 30), np.linspace(-1.7, 1.7, 20)] if plane else [np.linspace(-0.5, 0.5, 320)]
        points = dict(zip("xy", (side.ravel() for side in np.meshgrid(*axes)), strict=False))

        def take(indices: list[int]) -> Snapshots:
            return Snapshots(
                Snapshot.from_columns(
                    times[i],
                    points,
                    {f: np.sin(3 * points["x"] + k + times[i]) for k, f in enumerate(fields)},
                )
                for i in indices
            )

        return StudyData(label, "0", times, take)


def made_up_row(
    truth: dict[str, float], offset: float, drawn: tuple[str, ...] = (), plane: bool = False
) -> dict:
    """Return a row as a worker would, `offset` standard deviations from the truth."""
    axes = [np.linspace(1, 7, 8).tolist(), np.linspace(-1, 1, 6).tolist()] if plane else [[-0.5, 0.0, 0.5]]
    size = 48 if plane else 3
    curve = {"axes": axes, "mean": np.linspace(0, 1, size).tolist(), "std": [0.1] * size}
    row = {
        "parameters": {
            p: {
                "estimate": v * (1 + 0.01 * offset),
                "std": 0.01 * v,
                "interval95": [v * (1 + 0.01 * (offset - 1.96)), v * (1 + 0.01 * (offset + 1.96))],
            }
            for p, v in truth.items()
        },
        "status": "converged",
        "explanation": "",
        "seconds": 1.0,
        "equation": "u_t = 0",
    }
    return row | ({"curves": {f: [{"t": 0.0} | curve, {"t": 0.1} | curve] for f in drawn}} if drawn else {})
