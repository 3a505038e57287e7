"""The paper's four equations in one dimension. Numbers: Raissi & Karniadakis (2018), tables 1 to 8."""

from __future__ import annotations

from hiddenphysics.studies.layout import gaps, statistics
from hiddenphysics.studies.study import FLOW, Picture, Search, Study

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
            search=Search(500),
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
            search=Search(50),
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
            search=Search(10),
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
            search=Search(50),
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
