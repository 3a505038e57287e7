"""The paper's tables and figures as declared experiments: studies are data, one runner executes them.

>>> from pathlib import Path
>>> from hiddenphysics.reproduction import choose, report, run
>>> outcome = run(choose(["burgers"]), Path("burgers"), workers=2)  # doctest: +SKIP
>>> report(outcome, Path("burgers"))  # doctest: +SKIP
"""

from hiddenphysics.reproduction.checkpoint import Checkpoint
from hiddenphysics.reproduction.comparison import tabulate
from hiddenphysics.reproduction.experiments import STUDIES, choose, rehearsal, restrict
from hiddenphysics.reproduction.fit_plan import Plan
from hiddenphysics.reproduction.report import report
from hiddenphysics.reproduction.runner import Outcome, Progress, run
from hiddenphysics.reproduction.study import PAPER, Study
from hiddenphysics.reproduction.study_data import Library

__all__ = [
    "PAPER",
    "STUDIES",
    "Checkpoint",
    "Library",
    "Outcome",
    "Plan",
    "Progress",
    "Study",
    "choose",
    "rehearsal",
    "report",
    "restrict",
    "run",
    "tabulate",
]
