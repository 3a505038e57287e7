"""Four of the paper's studies, with their equations as PySINDy wants them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from hiddenphysics.reproduction import STUDIES, Study


@dataclass(frozen=True)
class Term:
    """One term of a right hand side: ``fields[target]_t`` holds ``factor * parameter * feature``.

    `feature` is the name that PySINDy gives it: ``uu_11`` is u u_xx.
    """

    target: int
    feature: str
    parameter: str
    factor: float


@dataclass(frozen=True)
class Problem:
    """One study and what PySINDy needs besides.

    Parameters
    ----------
    study
        Data, equation, truth, numbers of points.
    fields
        The real fields of PySINDy's library.
    terms
        The equation, solved for the time derivatives.
    degree, derivatives
        The usual library that PySINDy searches: powers up to `degree`, derivatives up to that order.
    """

    study: Study
    fields: tuple[str, ...]
    terms: tuple[Term, ...]
    degree: int = 2
    derivatives: int = 4

    @property
    def equation(self) -> str:
        """What `identify` is told."""
        return self.study.equation

    @property
    def truth(self) -> Mapping[str, float]:
        """What it ought to find."""
        return self.study.truth

    @property
    def points(self) -> tuple[int, int]:
        """The paper's numbers of points in two snapshots."""
        assert self.study.points is not None
        return self.study.points

    @property
    def gaps(self) -> tuple[int, int]:
        """The paper's shortest and longest gap, in snapshots."""
        steps = [cell.steps for table in self.study.tables for cell in table.cells]
        return min(steps), max(steps)


PROBLEMS = {
    "burgers": Problem(STUDIES["burgers"], ("u",), (Term(0, "uu_1", "a", -1.0), Term(0, "u_11", "b", 1.0))),
    "kdv": Problem(STUDIES["kdv"], ("u",), (Term(0, "uu_1", "a", -1.0), Term(0, "u_111", "b", -1.0))),
    "ks": Problem(
        STUDIES["ks"],
        ("u",),
        (Term(0, "uu_1", "a", -1.0), Term(0, "u_11", "b", -1.0), Term(0, "u_1111", "c", -1.0)),
    ),
    "schrodinger": Problem(
        STUDIES["schrodinger"],
        ("h_re", "h_im"),
        # h = u + iv: u_t = −a v_xx − b (u² + v²) v, v_t = a u_xx + b (u² + v²) u.
        (
            Term(0, "h_im_11", "a", -1.0),
            Term(0, "h_re^2 h_im", "b", -1.0),
            Term(0, "h_im^3", "b", -1.0),
            Term(1, "h_re_11", "a", 1.0),
            Term(1, "h_re^3", "b", 1.0),
            Term(1, "h_re h_im^2", "b", 1.0),
        ),
        degree=3,  # the equation is cubic: a library up to squares could not hold it
        derivatives=2,
    ),
}
