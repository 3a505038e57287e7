"""Pictures of a result."""

from hiddenphysics.plots.figure import plot_result, write_figure
from hiddenphysics.plots.panels import plot_equation, plot_recording, plot_snapshot

__all__ = ["plot_equation", "plot_recording", "plot_result", "plot_snapshot", "write_figure"]
