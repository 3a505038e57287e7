"""PySINDy: the true terms by least squares ("told"), and terms chosen from the usual library by STLSQ ("found")."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from benchmarks.neighbours.extra import load_neighbour
from benchmarks.neighbours.fit import Fit, Job
from benchmarks.neighbours.library import (
    Regression,
    Strong,
    Weak,
    pair_regression,
    strong_regression,
    weak_regression,
)
from benchmarks.neighbours.problems import PROBLEMS, Problem
from benchmarks.neighbours.recording import Recording


@dataclass(frozen=True)
class Sparse:
    """A threshold of STLSQ: on coefficients as they are, or on columns of unit length in parts of that of u_t."""

    threshold: float
    unit_columns: bool

    def __str__(self) -> str:
        return f"threshold {self.threshold:g}" + (" of u_t, unit columns" if self.unit_columns else "")


SPARSE = tuple(Sparse(threshold, True) for threshold in (0.003, 0.01, 0.03, 0.1, 0.3, 1.0)) + tuple(
    Sparse(threshold, False) for threshold in (0.02, 0.05, 0.2, 0.5)
)
KEPT = (8, 15, 25, 32, 40, 50, 60)
ON_ALL = (
    Strong(spectral=False),
    Strong(spectral=True),
    *(Strong(False, *windows) for windows in ((11, 7), (21, 11), (61, 21))),
    *(Strong(True, waves=waves, window_t=window) for waves in KEPT for window in (0, 7, 11, 15, 21)),
)
ON_PAIRS = (
    Strong(spectral=False),
    Strong(spectral=True),
    *(Strong(False, window_x=window) for window in (11, 21, 41, 61)),
    *(Strong(True, waves=waves) for waves in KEPT),
)
WEAK = (
    Weak(500, 1 / 20, 1 / 20),
    Weak(2000, 1 / 20, 1 / 20),
    Weak(500, 1 / 10, 1 / 10),
    Weak(500, 1 / 10, 1 / 10, power=8),
)
ROWS = 40_000
"""STLSQ chooses among terms on at most so many rows, drawn at random; the told form sees all."""


def fit(job: Job, recording: Recording) -> list[Fit]:
    """Fit with every setting, told and found; the table keeps the best."""
    problem = PROBLEMS[job.problem]
    assembled: list[tuple[str, Callable[[], Regression]]]
    if job.method == "PySINDy weak":
        assembled = [(str(how), partial(weak_regression, problem, recording, how)) for how in WEAK]
    elif job.gap:
        assembled = [
            (str(how), partial(pair_regression, problem, recording, job.index, job.gap, how))
            for how in ON_PAIRS
        ]
    else:
        assembled = [(str(how), partial(strong_regression, problem, recording, how)) for how in ON_ALL]
    values = recording.values.size if job.gap == 0 else 2 * recording.values[:, 0].size
    return [
        found for setting, assemble in assembled for found in _fits(job, problem, setting, assemble, values)
    ]


def _fits(
    job: Job, problem: Problem, setting: str, assemble: Callable[[], Regression], values: int
) -> list[Fit]:
    began = time.perf_counter()
    regression = assemble()
    assembling = time.perf_counter() - began
    fits = []
    for sparse in (None, *SPARSE):
        began = time.perf_counter()
        table = told(problem, regression) if sparse is None else found(regression, sparse)
        estimates, extra, missing = read_off(problem, regression.names, table)
        form, words = ("told", setting) if sparse is None else ("found", f"{setting}, {sparse}")
        seconds = assembling + time.perf_counter() - began
        fits.append(Fit(job, form, words, values, estimates, extra, missing, seconds))
    return fits


def told(problem: Problem, regression: Regression) -> NDArray[np.float64]:
    """Return coefficients (F, L) of the true terms alone, by PySINDy's optimiser without threshold or ridge."""
    table = np.zeros((len(problem.fields), len(regression.names)))
    for target in range(len(problem.fields)):
        columns = [regression.names.index(t.feature) for t in problem.terms if t.target == target]
        optimizer = load_neighbour("pysindy").STLSQ(threshold=0.0, alpha=0.0)
        optimizer.fit(regression.features[:, columns], regression.rates[:, target : target + 1])
        table[target, columns] = optimizer.coef_[0]
    return table


def found(regression: Regression, sparse: Sparse) -> NDArray[np.float64]:
    """Return the sparse coefficients (F, L) that STLSQ chooses from the whole library."""
    count = len(regression.rates)
    drawn = np.random.default_rng(0).choice(count, size=min(count, ROWS), replace=False)
    features, rates = regression.features[drawn], regression.rates[drawn]
    threshold = sparse.threshold * (np.linalg.norm(rates, axis=0).max() if sparse.unit_columns else 1.0)
    optimizer = load_neighbour("pysindy").STLSQ(
        threshold=threshold, alpha=1e-5, normalize_columns=sparse.unit_columns
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a threshold that leaves nothing warns; the table shows it
        optimizer.fit(features, rates)
    return np.asarray(optimizer.coef_)


def read_off(
    problem: Problem, names: tuple[str, ...], table: NDArray[np.float64]
) -> tuple[dict[str, float], tuple[str, ...], tuple[str, ...]]:
    """Return the parameters, the terms too many and the terms too few of a table of coefficients (F, L).

    A parameter that stands before several terms is the mean of what was found before each.
    """
    wanted = {(t.target, t.feature): t for t in problem.terms}
    there = {(f, names[k]) for f, k in zip(*np.nonzero(table), strict=True)}
    word = {key: f"{problem.fields[key[0]]}_t: {key[1]}" for key in (*there, *wanted)}
    estimates = {
        p: float(
            np.mean(
                [
                    table[t.target, names.index(t.feature)] / t.factor
                    for t in problem.terms
                    if t.parameter == p
                ]
            )
        )
        for p in problem.truth
    }
    extra = tuple(sorted(word[key] for key in there - set(wanted)))
    return estimates, extra, tuple(sorted(word[key] for key in set(wanted) - there))
