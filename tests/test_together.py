"""Fits that meet: what threads ask of a compiled function at the same time is answered by one call of its map."""

import jax.numpy as jnp
import numpy as np
import pytest

from hiddenphysics import together as room
from hiddenphysics.compiled_code import compiled
from hiddenphysics.together import meet, together


@together
@compiled()
def root(x, start):
    """Newton's square root of every entry, from a start."""
    for _ in range(30):
        start = (start + x / start) / 2
    return start


@pytest.fixture
def calls(monkeypatch):
    """How many threads each call of a mapped function answered, and the size that it was compiled for."""
    seen = []
    mapped = room._mapped

    def counted(function, tree, shapes, static, asked, size):
        seen.append((len(asked), size))
        return mapped(function, tree, shapes, static, asked, size)

    monkeypatch.setattr(room, "_mapped", counted)
    return seen


def test_threads_that_ask_the_same_are_answered_by_one_call(calls):
    answers = meet(lambda x: np.asarray(root(np.full(3, x), 1.0)), [4.0, 9.0, 16.0])
    np.testing.assert_allclose(np.stack(answers), [[2.0] * 3, [3.0] * 3, [4.0] * 3])
    assert calls == [(3, 8)]


def test_other_shapes_are_other_calls_of_the_same_size_and_nobody_waits_for_who_is_done(calls):
    def asks(count):
        first = root(np.full(count, 4.0), 1.0)
        return first if count == 1 else root(first, 1.0)

    one, two, three = (np.asarray(answer) for answer in meet(asks, [1, 2, 2]))
    np.testing.assert_allclose(one, [2.0])
    np.testing.assert_allclose([two, three], np.sqrt(2.0))
    assert sorted(calls) == [(1, 8), (2, 8), (2, 8)]


def test_what_one_raises_is_its_own(calls):
    def asks(x):
        if x < 0:
            raise ValueError(x)
        return float(root(np.asarray(x), 1.0))

    good, bad = meet(asks, [4.0, -1.0])
    assert good == pytest.approx(2.0)
    assert isinstance(bad, ValueError)


def test_alone_and_inside_of_another_function_it_is_the_function(calls):
    assert float(root(np.asarray(9.0), 1.0)) == pytest.approx(3.0)
    doubled = compiled()(lambda x: 2 * root(x, jnp.ones(())))
    assert float(doubled(np.asarray(9.0))) == pytest.approx(6.0)
    assert calls == []
