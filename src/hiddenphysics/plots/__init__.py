"""Pictures of a result."""

from hiddenphysics.plots.figure import plot_result, write_figure
from hiddenphysics.plots.panels import plot_equation, plot_recording, plot_snapshot
from hiddenphysics.plots.trajectory import plot_trajectory

__all__ = [
    "plot_equation",
    "plot_recording",
    "plot_result",
    "plot_snapshot",
    "plot_trajectory",
    "write_figure",
]
