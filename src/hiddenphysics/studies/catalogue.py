"""The studies by name, and a small version of each for a rehearsal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from hiddenphysics.errors import DataError, ModelError
from hiddenphysics.registry import did_you_mean
from hiddenphysics.studies.flows import BROWNIAN, LEVY, NAVIER_STOKES
from hiddenphysics.studies.study import AUTHORS, PAPER, Study, Table
from hiddenphysics.studies.waves import BURGERS, KDV, KURAMOTO_SIVASHINSKY, SCHRODINGER

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
