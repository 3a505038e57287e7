"""The paper's seven figures, and pictures of the tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hiddenphysics.studies.pictures.canvas import as_png, as_svg, style
from hiddenphysics.studies.pictures.errors import gap_figure, methods_of, overview_figure
from hiddenphysics.studies.pictures.field import field_figure
from hiddenphysics.studies.pictures.motion import motion_figure
from hiddenphysics.studies.pictures.wake import street_figure, velocity_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from hiddenphysics.studies.runner import Outcome
    from hiddenphysics.studies.study import Study

__all__ = ["as_png", "as_svg", "figures_of", "gap_figure", "methods_of", "overview_figure", "style"]


def figures_of(outcome: Outcome, study: Study) -> list[Figure]:
    """Draw a study's figure, in one part or two."""
    if study.group == "fractional":
        return [motion_figure(outcome, study)]
    if len(study.fields) == 1:
        return [field_figure(outcome, study)]
    library = outcome.plan.library
    return [street_figure(library.recording(study).label, library.folder), velocity_figure(outcome, study)]
