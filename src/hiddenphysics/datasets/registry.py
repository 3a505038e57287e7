"""The data sets by name; a new one is one more entry."""

from __future__ import annotations

from hiddenphysics.datasets.fluid import TAYLOR_GREEN
from hiddenphysics.datasets.motion import BROWNIAN, LEVY
from hiddenphysics.datasets.paper import BURGERS, KDV, KURAMOTO_SIVASHINSKY, SCHRODINGER
from hiddenphysics.datasets.recipe import Recipe
from hiddenphysics.datasets.waves import ALLEN_CAHN, REACTION_DIFFUSION, SINE_GORDON
from hiddenphysics.equation.hints import did_you_mean
from hiddenphysics.errors import DataError

RECIPES: dict[str, Recipe] = {
    "burgers": BURGERS,
    "kdv": KDV,
    "kuramoto_sivashinsky": KURAMOTO_SIVASHINSKY,
    "schrodinger": SCHRODINGER,
    "brownian": BROWNIAN,
    "levy": LEVY,
    "sine_gordon": SINE_GORDON,
    "allen_cahn": ALLEN_CAHN,
    "reaction_diffusion_2d": REACTION_DIFFUSION,
    "taylor_green": TAYLOR_GREEN,
}


def names() -> tuple[str, ...]:
    """Names of all data sets."""
    return tuple(RECIPES)


def recipe(name: str) -> Recipe:
    """Return the recipe of a data set."""
    if name not in RECIPES:
        hint = did_you_mean(str(name), RECIPES)
        raise DataError(f"There is no data set {name!r}{hint or '.'} The names are {', '.join(RECIPES)}.")
    return RECIPES[name]
