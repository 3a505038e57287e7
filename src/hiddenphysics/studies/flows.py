"""The paper's flow past a cylinder, and its two random motions.

Numbers: Raissi & Karniadakis (2018), tables 9 to 11 and figures 6 and 7.
"""

from __future__ import annotations

from math import exp, sqrt

from hiddenphysics.studies.layout import gaps, single, statistics
from hiddenphysics.studies.study import AUTHORS, FLOW, MIDPOINT, PAPER, Picture, Search, Study
from hiddenphysics.studies.waves import LONGER, TWO

NAVIER_STOKES = Study(
    name="navier-stokes",
    group="navier-stokes",
    title="The Navier–Stokes equations",
    story="Vortices behind a cylinder at Reynolds number 100. The velocity is known at 251 and 249 points of the wake; "
    "the pressure is not measured and is found with the parameters. It cannot be integrated without knowing more, so "
    "the flow model has no column here.",
    equation="u_t + a*(u*u_x + v*u_y) + p_x - b*(u_xx + u_yy) = 0; "
    "v_t + a*(u*v_x + v*v_y) + p_y - b*(v_xx + v_yy) = 0; u = psi_y; v = -psi_x",
    truth={"a": 1.0, "b": 0.01},
    symbols=TWO,
    fields=("u", "v"),
    data="cylinder",
    fallback="cylinder_extract",
    points=(251, 249),
    models=(AUTHORS, PAPER, MIDPOINT),
    picture=Picture("Figure 5", "The Navier–Stokes equations", 0, MIDPOINT, (0.0,), hidden=("p",)),
    tables=(
        statistics(
            "Table 9",
            {"a": (0.9854, 0.9928, 1.0001), "b": (0.0069, 0.0077, 0.0086)},
            {"a": (0.8323, 0.8717, 0.9102), "b": (0.0057, 0.0063, 0.0070)},
            {"a": (0.5373, 0.6498, 0.7619), "b": (0.0026, 0.0030, 0.0046)},
            pairs=20,
            published=501,
            search=Search(20, start={"b": exp(-1.0)}, logarithms=("b",), pairs=200),
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
    tables=(single("Figure 6", {"a": 0.513, "alpha": 2.016}, "0.01"),),
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
    tables=(single("Figure 7", {"alpha": 1.413}, "0.01"),),
)
