"""The paper's four recordings: the equation as each program wants it, the truth, and how much of the data ours sees."""

from __future__ import annotations

from dataclasses import dataclass


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
    """One recording.

    Parameters
    ----------
    file, dataset
        Name of the original file, and of our own data set.
    equation, truth
        What `identify` is told, and what it ought to find.
    fields, unknown
        The real fields of PySINDy's library, and the field's name in the equation.
    terms
        The same equation, solved for the time derivatives.
    degree, derivatives
        The usual library that PySINDy searches: powers up to `degree`, derivatives up to that order.
    points, gaps
        The paper's numbers of points, and its shortest and longest gap in snapshots.
    """

    file: str
    dataset: str
    equation: str
    truth: dict[str, float]
    fields: tuple[str, ...]
    unknown: str
    terms: tuple[Term, ...]
    degree: int
    derivatives: int
    points: tuple[int, int]
    gaps: tuple[int, int]


PROBLEMS = {
    "burgers": Problem(
        file="burgers.mat",
        dataset="burgers",
        equation="u_t + a*u*u_x - b*u_xx = 0",
        truth={"a": 1.0, "b": 0.1},
        fields=("u",),
        unknown="u",
        terms=(Term(0, "uu_1", "a", -1.0), Term(0, "u_11", "b", 1.0)),
        degree=2,
        derivatives=4,
        points=(71, 69),
        gaps=(1, 15),
    ),
    "kdv": Problem(
        file="kdv.mat",
        dataset="kdv",
        equation="u_t + a*u*u_x + b*u_xxx = 0",
        truth={"a": 6.0, "b": 1.0},
        fields=("u",),
        unknown="u",
        terms=(Term(0, "uu_1", "a", -1.0), Term(0, "u_111", "b", -1.0)),
        degree=2,
        derivatives=4,
        points=(111, 109),
        gaps=(1, 5),
    ),
    "kuramoto_sivashinsky": Problem(
        file="kuramoto_sivishinky.mat",
        dataset="kuramoto_sivashinsky",
        equation="u_t + a*u*u_x + b*u_xx + c*u_xxxx = 0",
        truth={"a": 1.0, "b": 1.0, "c": 1.0},
        fields=("u",),
        unknown="u",
        terms=(Term(0, "uu_1", "a", -1.0), Term(0, "u_11", "b", -1.0), Term(0, "u_1111", "c", -1.0)),
        degree=2,
        derivatives=4,
        points=(301, 299),
        gaps=(1, 3),
    ),
    "schrodinger": Problem(
        file="nls.mat",
        dataset="schrodinger",
        equation="i*h_t + a*h_xx + b*abs(h)^2*h = 0",
        truth={"a": 0.5, "b": 1.0},
        fields=("h_re", "h_im"),
        unknown="h",
        # h = u + iv: u_t = −a v_xx − b (u² + v²) v, v_t = a u_xx + b (u² + v²) u.
        terms=(
            Term(0, "h_im_11", "a", -1.0),
            Term(0, "h_re^2 h_im", "b", -1.0),
            Term(0, "h_im^3", "b", -1.0),
            Term(1, "h_re_11", "a", 1.0),
            Term(1, "h_re^3", "b", 1.0),
            Term(1, "h_re h_im^2", "b", 1.0),
        ),
        degree=3,  # the equation is cubic: a library up to squares could not hold it
        derivatives=2,
        points=(49, 51),
        gaps=(1, 30),
    ),
}
