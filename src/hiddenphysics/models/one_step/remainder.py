"""What one step leaves over at the measured points, and what terms that its equation lacks would have left."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from hiddenphysics.equation import System, derivative_symbol, evaluate_by_name, field_name
from hiddenphysics.learning import (
    HIGHEST,
    Criticism,
    LeftOver,
    SmoothedField,
    candidate_terms,
    criticise,
    term_label,
    term_scores,
)
from hiddenphysics.models.one_step.problem import Problem
from hiddenphysics.models.one_step.step_error import Jets, atoms_in, changed, moved_by, needed, step_errors
from hiddenphysics.operators import Symbol
from hiddenphysics.priors import NOISE
from hiddenphysics.snapshots import Snapshots

NEXT = 2.0
"""The step's error of the next order, which is not taken away, may be so many times the square of the first one's."""

Parts = tuple[dict[str, dict[str, np.ndarray]], dict[str, np.ndarray]]
"""Field -> candidate -> (N,), and field -> (P, N) what its own parameters do."""


def jets_of(snapshots: Snapshots, smoothed: Mapping[str, SmoothedField], system: System) -> Jets:
    """Take all derivatives of the smoothed fields that candidates and the step's own error need."""
    coordinates = system.equation.coordinates
    symbols = {field: set(_along(coordinates).values()) for field in snapshots.fields}
    for field, more in needed(system).items():
        symbols.setdefault(field, set()).update(more)
    return Jets.of(snapshots, smoothed, {f: s for f, s in symbols.items() if f in smoothed})


def _along(coordinates: tuple[str, ...]) -> dict[tuple[str, int], Symbol]:
    """(coordinate, order) -> that derivative, up to the highest that is thought of."""
    return {
        (axis, order): Symbol(tuple(order * (axis == other) for other in coordinates))
        for axis in coordinates
        for order in range(HIGHEST + 1)
    }


def criticised(
    problem: Problem, vector: np.ndarray, covariance: np.ndarray, system: System, jets: Jets
) -> Criticism:
    """Ask whether what is left over is noise, with the step's own errors in it and without them.

    What may be the step's fault is not the equation's: the milder of the two answers counts. Without its errors the
    parameters would be others, too.
    """
    parts = _parts(problem, vector, system, jets)
    plain = _criticism(problem, vector, jets, parts)
    errors = step_errors(problem, problem.unknowns.numbers(vector), system, jets)
    if errors is None or not plain.speaks_against:
        return plain
    moved = moved_by(problem, vector, covariance, errors)
    moved[len(problem.unknowns.parameters) :] = 0.0
    without = _criticism(changed(problem, errors, -1.0), vector - moved, jets, parts)
    milder = max(plain, without, key=lambda one: (not one.speaks_against, one.p_value))
    return replace(milder, allowed=max(milder.allowed, NEXT * _ratio(problem, jets, errors) ** 2))


def _ratio(problem: Problem, jets: Jets, errors: Sequence[np.ndarray]) -> float:
    """Return the step's errors over the change of the fields, root mean squares; at most 1."""
    identity = Symbol.identity(jets.points.shape[1])
    fields = {o.field for o in problem.step.observations}
    change = np.concatenate([jets.values[f][identity][-1] - jets.values[f][identity][0] for f in fields])
    size = float(np.sqrt(np.mean(change**2)))
    error = float(np.sqrt(np.mean(np.concatenate(errors) ** 2)))
    return min(error / size, 1.0) if size > 0 else 1.0


def _criticism(problem: Problem, vector: np.ndarray, jets: Jets, parts: Parts) -> Criticism:
    """Ask about Σ K⁻¹r, what the posterior mean of the values leaves of them; Σ the noise's variances."""
    inverse, weights = problem.inverse_and_weights(vector)
    noise = problem.unknowns.numbers(vector)[NOISE] + np.asarray(problem.data.known_variance)
    left = np.sqrt(noise) * weights
    sizes = np.cumsum([values.shape[0] for values in problem.data.values])
    pieces = list(zip(np.split(left, sizes[:-1]), np.split(np.sqrt(noise), sizes[:-1]), strict=True))
    return criticise([_stops(problem, jets, parts, pieces)], _scores(problem, jets, parts, inverse, weights))


def _stops(
    problem: Problem, jets: Jets, parts: Parts, pieces: Sequence[tuple[np.ndarray, np.ndarray]]
) -> list[LeftOver]:
    identity = Symbol.identity(jets.points.shape[1])
    stops = []
    for snapshot, time in enumerate(jets.times):
        here = jets.part(snapshot)
        values, changes, terms, own = {}, {}, {}, {}
        for observation, (left, deviation) in zip(problem.step.observations, pieces, strict=True):
            field = observation.field
            if observation.snapshot != snapshot:
                continue
            values[field] = left
            known = jets.values[field][identity]
            changes[field] = (known[snapshot, here] - known[0, here]) / deviation
            if field in parts[0]:
                terms[field] = {name: term[here] / deviation for name, term in parts[0][field].items()}
                own[field] = parts[1][field][:, here] / deviation
        stops.append(LeftOver(float(time), jets.points[here], values, changes, terms, own))
    return stops


def _parts(problem: Problem, vector: np.ndarray, system: System, jets: Jets) -> Parts:
    """Candidates and own terms at the mean of the smoothed snapshots; none where a field has no data."""
    coordinates, atoms = system.equation.coordinates, atoms_in(system)
    measured = [f for f in system.rates if f in jets.values and system.equation.time_orders.get(f) == 1]
    if not jets.has(atoms, coordinates):
        return {}, {}
    middle = {f: {s: values.mean(axis=0) for s, values in known.items()} for f, known in jets.values.items()}
    numbers: dict[str, Any] = problem.unknowns.numbers(vector) | {"t": float(np.mean(jets.times))}
    numbers |= {name: jets.points[:, d] for d, name in enumerate(coordinates)}
    numbers |= {str(a): middle[field_name(a)][derivative_symbol(a, coordinates)] for a in atoms}
    count = len(jets.points)
    terms, own = {}, {}
    identity = Symbol.identity(len(coordinates))
    for field in measured:
        slopes = {
            key: middle[field][symbol]
            for key, symbol in _along(coordinates).items()
            if key[1] > 0 and symbol in middle[field]
        }
        others = {other: middle[other][identity] for other in measured if other != field}
        terms[field] = candidate_terms(field, middle[field][identity], slopes, others)
        parameters = [system.equation.parameter(p) for p in system.equation.parameters]
        own[field] = np.stack([
            np.broadcast_to(evaluate_by_name(system.rates[field].diff(p), numbers, np), (count,))
            for p in parameters
        ])  # fmt: skip
    return terms, own


def _scores(
    problem: Problem, jets: Jets, parts: Parts, inverse: np.ndarray, weights: np.ndarray
) -> Mapping[str, float]:
    """Return every candidate's coefficient in standard deviations; its column is (t½ − t) times the candidate."""
    middle = 0.5 * (jets.times[0] + jets.times[-1])
    observations = problem.step.observations
    lags = [float(middle - jets.times[o.snapshot]) for o in observations]

    def column(field: str, values: np.ndarray) -> np.ndarray:
        pieces = [
            lag * values[jets.part(o.snapshot)] * (o.field == field)
            for lag, o in zip(lags, observations, strict=True)
        ]
        return np.concatenate(pieces)

    if not parts[0]:
        return {}
    fields = list(dict.fromkeys(o.field for o in observations))
    own = np.stack([
        sum((column(f, parts[1][f][p]) for f in parts[1]), np.zeros(weights.size))
        for p in range(len(problem.unknowns.parameters))
    ], axis=1)  # fmt: skip
    candidates = {
        term_label(name, field, fields): column(field, term)
        for field, every in parts[0].items()
        for name, term in every.items()
    }
    return term_scores(inverse, weights, own, candidates)
