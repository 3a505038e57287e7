"""The report as one self-contained HTML page."""

from hiddenphysics.studies.page.whole import page

__all__ = ["page"]
