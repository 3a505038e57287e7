"""`DataFile`: a file that was dropped or named, read, described, and its snapshots drawn."""

from __future__ import annotations

import base64
import io
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np

from hiddenphysics.result import load_figure_class
from hiddenphysics.snapshots import Snapshot, Snapshots, read

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LARGEST = 100_000_000
"""Bytes that may be dropped. They pass through memory and a folder in /tmp; larger files are read where they lie."""
CURVES = 6
"""Snapshots that are drawn over each other; a recording of more is drawn as an image, where it lies on a grid."""
MOST_POINTS = 4000
"""Points of one snapshot that are drawn, and pixels along each side of an image."""
WIDEST = 1200


@dataclass(frozen=True)
class DataFile:
    """A file that could be read.

    Attributes
    ----------
    path, name
        Where it lies, and what its owner calls it.
    missing, columns
        What was done with NaN when it was read, and which column is which, as it was told.
    snapshots
        What it holds.
    picture
        Its snapshots, as the address of a PNG picture that holds its own bytes.
    """

    path: Path
    name: str
    missing: Literal["refuse", "drop"]
    columns: dict[str, str]
    snapshots: Snapshots
    picture: str

    @classmethod
    def open(
        cls,
        path: Path,
        name: str,
        missing: Literal["refuse", "drop"] = "refuse",
        columns: Mapping[str, str] | None = None,
    ) -> DataFile:
        """Read a file and draw it; a `DataError` says what is wrong with it."""
        told = dict(columns or {})
        snapshots = read(path, missing=missing, columns=told or None)
        return cls(path, name, missing, told, snapshots, as_address(draw_snapshots(snapshots)))

    @property
    def names(self) -> tuple[str, ...]:
        """The fields, a complex one by its own name and not by those of its parts."""
        data = self.snapshots
        parts = {part for h in data.complex_fields for part in (f"{h}_re", f"{h}_im")}
        return (*(name for name in data.fields if name not in parts), *data.complex_fields)

    def roles(self) -> list[tuple[str, str]]:
        """Return every column that is used, with what it was taken for."""
        data = self.snapshots
        told = {name: f", the column {column}" for name, column in self.columns.items()}
        parts = {part: h for h in data.complex_fields for part in (f"{h}_re", f"{h}_im")}
        roles = [
            ("t", f"time, {len(data)} snapshots"),
            *((name, "coordinate") for name in data.coordinates),
            *(
                (name, f"part of the field {parts[name]}" if name in parts else "field")
                for name in data.fields
            ),
            *((f"{name}_std", f"known error of {name}") for name in data.fields if f"{name}_std" in data[0]),
        ]
        return [(name, role + told.get(name, "")) for name, role in roles]


def as_address(figure: Figure) -> str:
    """Return a figure as a PNG picture inside an address, for a page that loads nothing."""
    picture = io.BytesIO()
    figure.savefig(picture, format="png", dpi=110)
    return address_of(picture.getvalue())


def address_of(picture: bytes) -> str:
    """Return the address that holds a PNG picture."""
    return f"data:image/png;base64,{base64.b64encode(picture).decode()}"


def draw_snapshots(snapshots: Snapshots) -> Figure:
    """Draw each field: on a line curves, or an image of a recording; in the plane the first and the last snapshot."""
    fields = snapshots.fields[:4]
    figure: Figure = load_figure_class().Figure(figsize=(7.5, 2.7 * len(fields)), layout="constrained")
    line = len(snapshots.coordinates) == 1
    panels = figure.subplots(len(fields), 1 if line else 2, squeeze=False)
    for row, name in zip(panels, fields, strict=True):
        if not line:
            for axes, snapshot in zip(row, (snapshots[0], snapshots[-1]), strict=True):
                _draw_plane(snapshot, name, axes)
        elif len(snapshots) > CURVES and snapshots.is_gridded:
            _draw_image(snapshots, name, row[0])
        else:
            _draw_curves(snapshots, name, row[0])
    return figure


def _thinned(count: int, most: int) -> np.ndarray:
    """Return evenly spread numbers below `count`, at most so many."""
    return np.unique(np.linspace(0, count - 1, min(count, most)).round().astype(int))


def _draw_curves(snapshots: Snapshots, name: str, axes: Axes) -> None:
    from matplotlib import colormaps

    chosen = _thinned(len(snapshots), CURVES)
    for k, index in enumerate(chosen):
        snapshot = snapshots[int(index)]
        part = snapshot.take(_thinned(len(snapshot), MOST_POINTS))
        order = np.argsort(part["x"])
        colour = colormaps["viridis"](0.85 * k / max(len(chosen) - 1, 1))
        axes.plot(
            part["x"][order],
            part[name][order],
            ".-",
            color=colour,
            linewidth=0.8,
            markersize=4,
            label=f"t = {snapshot.t:g}",
        )
    left = f", {len(chosen)} of {len(snapshots)} snapshots" if len(chosen) < len(snapshots) else ""
    axes.set(xlabel="x", ylabel=name, title=f"{name}{left}")
    axes.legend(frameon=False, fontsize="small")


def _draw_image(snapshots: Snapshots, name: str, axes: Axes) -> None:
    times = _thinned(len(snapshots), WIDEST)
    places = _thinned(len(snapshots[0]), WIDEST)
    parts = [snapshots[int(k)].take(places) for k in times]
    order = np.argsort(parts[0]["x"])
    values = np.stack([part[name][order] for part in parts], axis=1)
    image = axes.pcolormesh(
        snapshots.times[times],
        parts[0]["x"][order],
        values,
        cmap="viridis",
        shading="nearest",
        rasterized=True,
    )
    axes.set(
        xlabel="t",
        ylabel="x",
        title=f"{name}(t, x): {len(snapshots)} snapshots of {len(snapshots[0])} points",
    )
    axes.figure.colorbar(image, ax=axes, pad=0.01)


def _draw_plane(snapshot: Snapshot, name: str, axes: Axes) -> None:
    part = snapshot.take(_thinned(len(snapshot), MOST_POINTS))
    shown = axes.scatter(part["x"], part["y"], c=part[name], s=6, cmap="viridis", rasterized=True)
    axes.set(xlabel="x", ylabel="y", aspect="equal", title=f"{name} at t = {snapshot.t:g}")
    axes.figure.colorbar(shown, ax=axes, pad=0.01)
