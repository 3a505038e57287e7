"""The paper's seven experiments as data, and how a run chooses among them.

Four equations in one dimension (tables 1 to 8), the flow past a cylinder (tables 9 to 11) and two random walks (figures
6 and 7). All numbers are those of Raissi & Karniadakis (2018).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import exp, sqrt
from types import MappingProxyType

from hiddenphysics.errors import DataError, ModelError
from hiddenphysics.registry import did_you_mean
from hiddenphysics.reproduction.paper_tables import AuthorsSearch, Table, gaps, single_fit, statistics
from hiddenphysics.reproduction.study import AUTHORS, FLOW, MIDPOINT, PAPER, Picture, Study

LONGER = "Effect of a growing gap between the two snapshots"
TWO = {"a": "λ₁", "b": "λ₂"}

BURGERS = Study(
    name="burgers",
    group="burgers",
    title="Burgers’ equation",
    story="A Gaussian pulse steepens into a travelling front. Of the 256 points of each snapshot, 71 and 69 are used.",
    equation="u_t + a*u*u_x - b*u_xx = 0",
    truth={"a": 1.0, "b": 0.1},
    symbols=TWO,
    fields=("u",),
    data="burgers",
    files=("burgers.mat",),
    points=(71, 69),
    picture=Picture("Figure 1", "Burgers’ equation", 20, FLOW),
    tables=(
        statistics(
            "Table 1",
            {"a": (1.0247, 1.0379, 1.0555), "b": (0.0942, 0.0976, 0.0987)},
            {"a": (0.9168, 1.0274, 1.1161), "b": (0.0784, 0.0919, 0.1166)},
            {"a": (0.3135, 0.8294, 1.2488), "b": (0.0027, 0.0981, 0.1543)},
            pairs=100,
            published=100,
            search=AuthorsSearch(500),
        ),
        gaps(
            "Table 2",
            LONGER,
            {"0.1": 1, "0.5": 5, "1.0": 10, "1.5": 15},
            {"a": (1.0283, 1.1438, 1.2500, 1.2960), "b": (0.1009, 0.0934, 0.0694, 0.0431)},
            {"a": (1.0170, 1.1470, 1.2584, 1.3063), "b": (0.0935, 0.0939, 0.0711, 0.0428)},
        ),
    ),
)

KDV = Study(
    name="kdv",
    group="kdv",
    title="Korteweg and de Vries’ equation",
    story="Two solitons, the taller one catching up. Of the 512 points of each snapshot, 111 and 109 are used.",
    equation="u_t + a*u*u_x + b*u_xxx = 0",
    truth={"a": 6.0, "b": 1.0},
    symbols=TWO,
    fields=("u",),
    data="kdv",
    files=("kdv.mat",),
    points=(111, 109),
    picture=Picture("Figure 2", "Korteweg and de Vries’ equation", 80, FLOW),
    tables=(
        statistics(
            "Table 3",
            {"a": (5.7783, 5.8920, 6.0358), "b": (0.9299, 0.9656, 1.0083)},
            {"a": (5.3358, 5.5757, 5.7840), "b": (0.7885, 0.8777, 0.9491)},
            {"a": (3.7435, 4.5911, 5.5106), "b": (0.2280, 0.6060, 0.8407)},
            pairs=100,
            published=200,
            search=AuthorsSearch(50),
        ),
        gaps(
            "Table 4",
            LONGER,
            {"0.1": 1, "0.2": 2, "0.3": 3, "0.4": 4, "0.5": 5},
            {"a": (6.1145, 5.8948, 5.4014, 4.1779, 3.5058), "b": (1.0470, 0.9943, 0.8535, 0.4475, 0.1816)},
            {"a": (5.7224, 5.8288, 5.4054, 4.1479, 3.4747), "b": (0.9578, 0.9801, 0.8563, 0.4351, 0.1622)},
        ),
    ),
)

KURAMOTO_SIVASHINSKY = Study(
    name="ks",
    group="ks",
    title="Kuramoto and Sivashinsky’s equation",
    story="Long waves break up into chaos. Of the 1024 points of each snapshot, 301 and 299 are used. The first "
    "snapshots hold hardly more than one wavelength, so that λ₂ and λ₃ cannot be told apart in them.",
    equation="u_t + a*u*u_x + b*u_xx + c*u_xxxx = 0",
    truth={"a": 1.0, "b": 1.0, "c": 1.0},
    symbols=TWO | {"c": "λ₃"},
    fields=("u",),
    data="kuramoto_sivashinsky",
    files=("kuramoto_sivishinky.mat", "kuramoto_sivashinsky.mat"),
    points=(301, 299),
    picture=Picture("Figure 3", "Kuramoto and Sivashinsky’s equation", 150, FLOW),
    tables=(
        statistics(
            "Table 5",
            {"a": (0.9603, 0.9885, 1.0187), "b": (0.9829, 1.0157, 1.0550), "c": (0.9711, 0.9970, 1.0314)},
            {"a": (0.7871, 0.8746, 0.9565), "b": (0.8095, 0.9124, 0.9948), "c": (0.5891, 0.8798, 0.9553)},
            {"a": (-0.0768, 0.4758, 0.6991), "b": (0.0834, 0.5539, 0.7644), "c": (-0.0887, 0.4086, 0.7009)},
            pairs=50,
            published=250,
            search=AuthorsSearch(10),
        ),
        gaps(
            "Table 6",
            LONGER,
            {"0.4": 1, "0.8": 2, "1.2": 3},
            {"a": (0.9515, 0.5299, 0.1757), "b": (1.0052, 0.5614, 0.1609), "c": (0.9803, 0.5438, 0.1647)},
            {"a": (0.9081, 0.5124, 0.1616), "b": (0.9511, 0.5387, 0.1436), "c": (0.9266, 0.5213, 0.1483)},
        ),
    ),
)

SCHRODINGER = Study(
    name="schrodinger",
    group="schrodinger",
    title="The nonlinear Schrödinger equation",
    story="Two bright solitons on one spot, which breathe; h is complex. Of the 512 points of each snapshot, 49 and 51 "
    "are used.",
    equation="i*h_t + a*h_xx + b*abs(h)^2*h = 0",
    truth={"a": 0.5, "b": 1.0},
    symbols=TWO,
    fields=("h",),
    data="schrodinger",
    files=("nls.mat",),
    points=(49, 51),
    picture=Picture("Figure 4", "The nonlinear Schrödinger equation", 80, FLOW),
    tables=(
        statistics(
            "Table 7",
            {"a": (0.4950, 0.5009, 0.5072), "b": (0.9960, 1.0001, 1.0039)},
            {"a": (0.3714, 0.4713, 0.5918), "b": (0.9250, 0.9946, 1.0670)},
            {"a": (-0.1186, 0.4259, 0.9730), "b": (0.6993, 0.9651, 1.2730)},
            pairs=100,
            published=500,
            search=AuthorsSearch(50),
        ),
        gaps(
            "Table 8",
            LONGER,
            {"0.0063": 1, "0.0628": 10, "0.1257": 20, "0.1885": 30},
            {"a": (0.5062, 0.4981, 0.3887, 0.3097), "b": (0.9949, 0.8987, 0.7936, 0.7221)},
            {"a": (0.4758, 0.4976, 0.3928, 0.3128), "b": (0.9992, 0.9011, 0.7975, 0.7255)},
        ),
    ),
)

NAVIER_STOKES = Study(
    name="navier-stokes",
    group="navier-stokes",
    title="The Navier–Stokes equations",
    story="Vortices behind a cylinder at Reynolds number 100. The velocity is known at 251 and 249 points of the wake; "
    "the pressure is not measured and is found with the parameters: it is what keeps the velocity without sources.",
    equation="u_t + a*(u*u_x + v*u_y) + p_x - b*(u_xx + u_yy) = 0; "
    "v_t + a*(u*v_x + v*v_y) + p_y - b*(v_xx + v_yy) = 0; u = psi_y; v = -psi_x",
    truth={"a": 1.0, "b": 0.01},
    symbols=TWO,
    fields=("u", "v"),
    data="cylinder",
    fallback="cylinder_extract",
    points=(251, 249),
    picture=Picture("Figure 5", "The Navier–Stokes equations", 0, FLOW, (0.0,), hidden=("p",)),
    tables=(
        statistics(
            "Table 9",
            {"a": (0.9854, 0.9928, 1.0001), "b": (0.0069, 0.0077, 0.0086)},
            {"a": (0.8323, 0.8717, 0.9102), "b": (0.0057, 0.0063, 0.0070)},
            {"a": (0.5373, 0.6498, 0.7619), "b": (0.0026, 0.0030, 0.0046)},
            pairs=20,
            published=501,
            search=AuthorsSearch(20, start={"b": exp(-1.0)}, logarithms=("b",), pairs=200),
        ),
        # The paper heads the last column "1.0"; the sequence and the numbers say 0.10.
        gaps(
            "Table 10",
            LONGER,
            {"0.02": 1, "0.04": 2, "0.06": 3, "0.08": 4, "0.10": 5},
            {"a": (0.9834, 0.9925, 0.9955, 0.9976, 1.0021), "b": (0.0083, 0.0072, 0.0058, 0.0040, 0.0027)},
            {"a": (0.8488, 0.9298, 0.9597, 0.9726, 0.9791), "b": (0.0140, 0.0110, 0.0088, 0.0069, 0.0053)},
        ),
        gaps(
            "Table 11",
            "Effect of a shrinking gap between the two snapshots",
            {"0.02": 1, "0.01": 1, "0.005": 1},
            {"a": (0.9834, 0.9688, 0.9406), "b": (0.0083, 0.0091, 0.0104)},
            {"a": (0.8488, 0.7384, 0.6107), "b": (0.0140, 0.0159, 0.0217)},
            data=(None, "cylinder_dt_0.01", "cylinder_dt_0.005"),
        ),
    ),
)

BROWNIAN = Study(
    name="brownian",
    group="fractional",
    title="Brownian motion",
    story="One particle, a million steps. Two histograms of its displacements, 100 bins each, must tell that their "
    "density diffuses: order 2, coefficient ½. The order is an unknown like any other.",
    equation="u_t - a*D(u, x, alpha) = 0",
    truth={"a": 0.5, "alpha": 2.0},
    symbols={"a": "λ₁", "alpha": "λ₂"},
    fields=("u",),
    data="brownian",
    points=None,
    models=(PAPER, MIDPOINT, FLOW),
    picture=Picture("Figure 6", "Brownian motion", 0, FLOW, (0.0,)),
    tables=(single_fit("Figure 6", {"a": 0.513, "alpha": 2.016}, "0.01"),),
)

LEVY = Study(
    name="levy",
    group="fractional",
    title="Lévy motion",
    story="A particle that jumps: symmetric stable steps of index √2. Two histograms of its displacements, 100 bins "
    "each, must tell the order of the fractional Laplacian.",
    equation="u_t + frac_lap(u, alpha) = 0",
    truth={"alpha": sqrt(2.0)},
    symbols={"alpha": "α"},
    fields=("u",),
    data="levy",
    points=None,
    models=(PAPER, MIDPOINT, FLOW),
    picture=Picture("Figure 7", "Lévy motion", 0, FLOW, (0.0,)),
    tables=(single_fit("Figure 7", {"alpha": 1.413}, "0.01"),),
)

STUDIES: Mapping[str, Study] = MappingProxyType(
    {
        study.name: study
        for study in (BURGERS, KDV, KURAMOTO_SIVASHINSKY, SCHRODINGER, NAVIER_STOKES, BROWNIAN, LEVY)
    }
)
"""All studies, in the paper's order."""

GROUPS = tuple(dict.fromkeys(study.group for study in STUDIES.values()))
"""The words that choose studies."""

FEW = (30, 28)
"""Points per snapshot of a rehearsal."""


def choose(words: Sequence[str] = ()) -> tuple[Study, ...]:
    """Return the studies that the words choose, in the paper's order; all of them for no word."""
    known = (*GROUPS, *(name for name in STUDIES if name not in GROUPS))
    for word in words:
        if word not in known:
            hint = did_you_mean(word, known)
            raise DataError(f"There is no study {word!r}{hint or '.'} The names are {', '.join(known)}.")
    return tuple(s for s in STUDIES.values() if not words or s.group in words or s.name in words)


def restrict(
    studies: Sequence[Study],
    models: Sequence[str] = (),
    pairs: int | None = None,
    draws: int | None = None,
) -> tuple[Study, ...]:
    """Return studies with the named models only; those that have none of them are left out.

    `pairs`, evenly spaced in time, take the place of each cell's own number; a recording that has fewer gives all.
    Each is drawn `draws` times, with points and noise of its own, instead of the study's own number of times.
    """
    known = dict.fromkeys(model for study in studies for model in study.models)
    for model in models:
        if model not in known:
            raise ModelError(f"The model {model!r} was asked for; these studies have {', '.join(known)}.")
    chosen = (study.restricted(tuple(models) or None, pairs, draws) for study in studies)
    return tuple(study for study in chosen if study.models)


def rehearsal(study: Study) -> Study:
    """Return a study of the same form that takes seconds: one pair, few points, the first cells, the paper's model.

    Compiling is most of the time of a first fit: one study is fitted, the likelihoods of the others are only built.
    """
    return replace(
        study,
        tables=tuple(_corner(table) for table in study.tables),
        points=study.points and FEW,
        models=(AUTHORS, PAPER) if study is BURGERS else (PAPER,),
        fitted=study is BURGERS,
        picture=replace(study.picture, model=PAPER, noises=(0.0,)),
    )


def _corner(table: Table) -> Table:
    cells = tuple(
        c.restricted(1) for c in table.cells if c.row == table.rows[0] and c.column in table.columns[:2]
    )
    return replace(table, cells=cells)
