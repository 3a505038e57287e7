"""A prior that is wrong about where the field is large: its innovations have heavy tails, and widen the deviations."""

import numpy as np
import pytest

from hiddenphysics.models.flow import innovations
from hiddenphysics.models.flow.innovations import from_innovations, is_heavy


class _Flat:
    is_flat = np.ones(1, bool)


class _Program:
    means = 0


class _Domain:
    program = _Program()


class _Task:
    count, border, domain = 300, _Flat(), _Domain()


class _Round:
    information = np.zeros((1, 1))


def widened(monkeypatch, b, e):
    monkeypatch.setattr(innovations, "_innovations", lambda last: (b, e))
    return from_innovations(_Task(), _Round())


def test_normal_innovations_are_not_heavy_and_those_of_a_hill_are():
    random = np.random.default_rng(0)
    normal = random.standard_normal((400, 300))
    assert np.mean([is_heavy(one) for one in normal]) < 0.01
    size = np.exp(1.5 * random.standard_normal((50, 300)))
    assert np.mean([is_heavy(one) for one in size * normal[:50]]) > 0.95


def test_deviations_hold_the_scatter_of_estimates_where_large_innovations_carry_the_information(monkeypatch):
    """Estimates of a slope scatter by what is stated, though every value has a size of its own; C alone is too sure."""
    random = np.random.default_rng(1)
    b = np.exp(random.standard_normal((300, 1)))
    alone = 1.0 / float(b[:, 0] @ b[:, 0])
    errors, stated = [], []
    for _ in range(200):
        e = b[:, 0] * random.standard_normal(300)
        off = alone * float(b[:, 0] @ e)
        stated.append(alone + float(widened(monkeypatch, b, e - b[:, 0] * off)[0, 0]))
        errors.append(off)
    assert np.mean(np.square(errors)) > 4 * alone
    assert np.mean(np.abs(errors) < 1.96 * np.sqrt(alone)) < 0.6
    assert np.mean(np.abs(errors) < 1.96 * np.sqrt(stated)) > 0.85


def test_normal_innovations_add_nothing(monkeypatch):
    random = np.random.default_rng(2)
    made = widened(monkeypatch, random.standard_normal((300, 1)), random.standard_normal(300))
    assert np.array_equal(made, np.zeros((1, 1)))


def test_of_fields_that_are_tied_together_innovations_always_count(monkeypatch):
    """Sizes that grow where the information is, too little for heavy tails of so few: the deviation is that of both."""
    monkeypatch.setattr(_Program, "means", 1)
    random = np.random.default_rng(3)
    b = np.linspace(0.5, 1.5, 300)[:, None]
    e = b[:, 0] ** 0.5 * random.standard_normal(300)
    assert not is_heavy(e)
    alone = 1.0 / float(b[:, 0] @ b[:, 0])
    stated = alone + float(widened(monkeypatch, b, e)[0, 0])
    true = alone**2 * float(np.sum(b[:, 0] ** 3))
    assert stated / true == pytest.approx(1.0, abs=0.25)
