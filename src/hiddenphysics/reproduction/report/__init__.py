"""The report of a run: tables, figures and words, as Markdown and as one HTML page."""

from hiddenphysics.reproduction.report.writer import report

__all__ = ["report"]
