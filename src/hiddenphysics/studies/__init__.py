"""The paper's tables and figures as declared experiments: studies are data, one runner executes them.

>>> from pathlib import Path
>>> from hiddenphysics.studies import choose, report, run
>>> outcome = run(choose(["burgers"]), Path("burgers"), workers=2)  # doctest: +SKIP
>>> report(outcome, Path("burgers"))  # doctest: +SKIP
"""

from hiddenphysics.studies.catalogue import STUDIES, choose, rehearsal, restrict
from hiddenphysics.studies.report import report
from hiddenphysics.studies.runner import Outcome, Progress, run
from hiddenphysics.studies.study import Study
from hiddenphysics.studies.tables import tabulate

__all__ = [
    "STUDIES",
    "Outcome",
    "Progress",
    "Study",
    "choose",
    "rehearsal",
    "report",
    "restrict",
    "run",
    "tabulate",
]
