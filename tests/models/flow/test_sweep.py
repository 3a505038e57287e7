"""The linear model of one pass along the flow, against derivatives of the plain motion and dense algebra."""

from itertools import pairwise

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from hiddenphysics.gaussian import evaluate, posterior
from hiddenphysics.models.flow.adjoint import pulls
from hiddenphysics.models.flow.moved_fields import moved
from hiddenphysics.models.flow.path import Path
from hiddenphysics.models.flow.sweep import folds, sweep
from hiddenphysics.spectral import values_at
from tests.models.flow.problems import problem, snapshots

DT, NOISE = 0.05, 0.02
TIMES = ((0.0, 0.1, 0.3), (0.5, 0.6))
"""Two windows, the second a stop shorter."""


def referee(task, at):
    """A, B and y of every value, window by window, by forward differentiation of the motion alone."""
    grid, size, most = task.domain.features.grid, task.windows.sizes[0], 1e3
    rows = []
    for w, window in enumerate(task.windows.windows):
        path = Path.through(window.times[None], DT, most).window(0)
        latent = jax.tree.map(lambda part, w=w: part[w], task.domain.latent(at.z))

        def predict(z, parameters, window=window, path=path, latent=latent):
            modes = moved(task.domain.program, latent._replace(z=z), parameters, path)
            seen = [values_at(grid, modes[t], jnp.asarray(s.points))[0] for t, s in enumerate(window)]
            return jnp.concatenate(seen) / size

        def all_of_it(z, parameters, predict=predict):
            return predict(z, parameters), *jax.jacfwd(predict, (0, 1))(z, parameters)

        # Compiled as one: operation by operation it takes ten times as long.
        told, A, B = jax.jit(all_of_it)(jnp.asarray(at.z[w]), jnp.asarray(at.parameters))
        y = np.concatenate([s["u"] for s in window]) / size - told + A @ at.z[w]
        rows.append((np.asarray(A), np.asarray(B), np.asarray(y)))
    return rows


def dense(rows, spectrum, noise):
    """Negative restricted log likelihood, estimate, and the states' posterior means for d = 0, by plain NumPy."""
    inverses = [np.linalg.inv((A * spectrum) @ A.T + noise * np.eye(len(y))) for A, _, y in rows]
    information = sum(B.T @ K @ B for (_, B, _), K in zip(rows, inverses, strict=True))
    towards = sum(B.T @ K @ y for (_, B, y), K in zip(rows, inverses, strict=True))
    d = np.linalg.solve(information, towards)
    count = sum(len(y) for _, _, y in rows)
    value = 0.5 * (np.linalg.slogdet(information)[1] + (count - len(d)) * np.log(2 * np.pi))
    for (_, B, y), K in zip(rows, inverses, strict=True):
        value += 0.5 * ((y - B @ d) @ K @ (y - B @ d) - np.linalg.slogdet(K)[1])
    means = [spectrum * (A.T @ (K @ y)) for (A, _, y), K in zip(rows, inverses, strict=True)]
    return value, d, np.stack(means)


@pytest.fixture(scope="module")
def few():
    """Fewer values than features."""
    return problem([snapshots(times, 12 - 2 * w, NOISE, seed=w) for w, times in enumerate(TIMES)], NOISE)


@pytest.fixture(scope="module")
def many():
    """More values than features."""
    return problem([snapshots(times, 40 - 3 * w, NOISE, seed=w) for w, times in enumerate(TIMES)], NOISE)


def swept(task, at, **options):
    path = Path.through(task.windows.times, DT, 1e3)
    return sweep(task.domain.program, task.seen, task.domain.latent(at.z), at.parameters, path, **options)


def test_rows_are_the_derivatives_of_the_plain_motion(few):
    task, at = few
    assert not folds(task.seen, at.z.shape[1])
    made, stops, points = swept(task, at), task.seen.values.shape[1], task.seen.values.shape[-1]
    squares = 0.0
    for w, (A, B, y) in enumerate(referee(task, at)):
        begun = np.cumsum([0, *(len(s) for s in task.windows.windows[w])])
        for t, (first, last) in enumerate(pairwise(begun)):
            mine = slice(t * points, t * points + last - first)
            np.testing.assert_allclose(made.data.A[w, mine], A[first:last], atol=1e-9)
            np.testing.assert_allclose(made.data.B[w, mine], B[first:last], atol=1e-9)
            np.testing.assert_allclose(made.data.y[w, mine], y[first:last], atol=1e-9)
        squares += np.sum((y - A @ at.z[w]) ** 2)
    # What is padded is zero, and the number of values knows it.
    assert np.count_nonzero(np.any(made.data.A, axis=2)) == task.windows.count
    assert float(made.data.spare) == task.windows.count - 2 * stops * points
    assert float(made.misfit) == pytest.approx(squares, rel=1e-9)


@pytest.mark.parametrize("squares", [False, True])
def test_folded_rows_say_what_all_rows_say(many, squares):
    task, at = many
    assert folds(task.seen, at.z.shape[1])
    data = swept(task, at, squares=squares).data
    spectrum, noise = (
        np.asarray(task.likelihood(data, at.parameters).spectrum(at.theta)),
        float(np.exp(at.theta[-1])),
    )
    value, d, means = dense(referee(task, at), spectrum, noise)
    found = evaluate(data, jnp.asarray(spectrum), jnp.asarray(noise), jnp.zeros((spectrum.size, 1)))
    mean, _ = posterior(data, jnp.asarray(spectrum), jnp.asarray(noise))
    # Squares lose half of the digits; the noise has no more.
    off = 1e-8 if not squares else 1e-6
    assert float(found.value) == pytest.approx(value, rel=off)
    np.testing.assert_allclose(found.estimate, d, rtol=off, atol=off)
    np.testing.assert_allclose(mean, means, rtol=off, atol=off)


def test_the_error_of_the_steps_falls_with_their_fourth_power(many):
    task, at = many
    errors = []
    for dt in (0.0125, 0.00625):
        path = Path.through(task.windows.times, dt, 1e3)
        latent = task.domain.latent(at.z)
        errors.append(float(sweep(task.domain.program, task.seen, latent, at.parameters, path).step_error))
    assert np.log2(errors[0] / errors[1]) == pytest.approx(4.0, abs=0.5)


def test_stops_beyond_the_horizon_are_not_seen(many):
    task, at = many
    latent, times = task.domain.latent(at.z), task.windows.times
    path = Path.through(times, DT, 1e3, horizon=2)
    made = sweep(task.domain.program, task.seen, latent, at.parameters, path)
    rows = [
        tuple(part[: sum(len(s) for s in window[:2])] for part in every)
        for every, window in zip(referee(task, at), task.windows.windows, strict=True)
    ]
    spectrum, noise = (
        np.asarray(task.likelihood(made.data, at.parameters).spectrum(at.theta)),
        float(np.exp(at.theta[-1])),
    )
    value, d, _ = dense(rows, spectrum, noise)
    found = evaluate(made.data, jnp.asarray(spectrum), jnp.asarray(noise), jnp.zeros((spectrum.size, 1)))
    assert float(found.value) == pytest.approx(value, rel=1e-8)
    np.testing.assert_allclose(found.estimate, d, rtol=1e-7)


def test_growth_is_that_of_the_fastest_tangent(many):
    task, at = many
    assert not pulls(task.domain.program, task.seen, at.z.shape[1])
    growth = np.asarray(swept(task, at).growth)
    for w, window in enumerate(task.windows.windows):
        path = Path.through(window.times[None], DT, 1e3).window(0)
        latent = jax.tree.map(lambda part, w=w: part[w], task.domain.latent(at.z))

        def modes(z, path=path, latent=latent):
            return moved(task.domain.program, latent._replace(z=z), jnp.asarray(at.parameters), path)

        tangents = np.asarray(jax.jit(jax.jacfwd(modes))(jnp.asarray(at.z[w])))[: len(window), 0]
        norms = np.linalg.norm(tangents, axis=1)
        np.testing.assert_allclose(growth[w, : len(window)], np.max(norms / norms[0], axis=1), rtol=1e-8)


def test_growth_of_rows_that_were_pulled_back_is_that_of_the_largest(few):
    task, at = few
    assert pulls(task.domain.program, task.seen, at.z.shape[1])
    growth = np.asarray(swept(task, at).growth)
    for w, (A, _, _) in enumerate(referee(task, at)):
        window = task.windows.windows[w]
        largest = [
            np.max(part)
            for part in np.split(np.linalg.norm(A, axis=1), np.cumsum(list(map(len, window)))[:-1])
        ]
        np.testing.assert_allclose(growth[w, : len(window)], np.array(largest) / largest[0], rtol=1e-8)
