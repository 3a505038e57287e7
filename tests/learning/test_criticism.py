"""Criticism: noise is left alone, structure is found and named, and trifles are told as such."""

from dataclasses import replace

import numpy as np
import pytest

from hiddenphysics.learning import Coherent, Criticism, LeftOver, criticise
from hiddenphysics.learning.criticism import Check

CANDIDATES = ("u", "u_x", "u_xx", "u*u_x")


def columns(x, t):
    """Value, slopes and a product of a wave that travels."""
    u, u_x, u_xx = np.sin(x - t) + 0.3 * np.sin(2 * x), np.cos(x - t) + 0.6 * np.cos(2 * x), -np.sin(x - t)
    return dict(zip(CANDIDATES, (u, u_x, u_xx - 1.2 * np.sin(2 * x), u * u_x), strict=True))


def recording(generator, *, stops=2, points=70, same=False, change=100.0, add=None):
    """Left-overs of unit variance; `add(x, t, sensor)` is structure in them. The equation's own term is u_xx."""
    x = np.sort(generator.uniform(0, 2 * np.pi, points))
    window = []
    for t in np.linspace(0, 0.5, stops):
        x = x if same else np.sort(generator.uniform(0, 2 * np.pi, points))
        e = generator.standard_normal(points)
        if add is not None:
            e = e + add(x, t)
        terms = columns(x, t)
        window.append(
            LeftOver(
                t,
                x[:, None],
                {"u": e},
                {"u": np.full(points, change)},
                {"u": terms},
                {"u": terms["u_xx"][None]},
            )
        )
    return [window]


@pytest.mark.parametrize("same", [False, True])
@pytest.mark.parametrize("law", ["normal", "heavy"])
def test_noise_is_rarely_called_structure(same, law):
    """Of 300 recordings of noise about 2 % at most have a p-value below 2 %, whatever its distribution."""
    generator = np.random.default_rng(7)
    found = []
    for _ in range(300):
        windows = recording(generator, stops=6, points=12, same=same)
        if law == "heavy":
            for stop in windows[0]:
                stop.values["u"][:] = generator.standard_t(3, 12)
        found.append(criticise(windows).p_value)
    rate = np.mean(np.array(found) < 0.02)
    assert rate < 0.02 + 3 * np.sqrt(0.02 / len(found))
    assert np.mean(np.array(found) < 0.5) > 0.1  # p-values are no constants


@pytest.mark.parametrize(
    ("add", "worst", "same"),
    [
        (lambda x, t: np.sin(x + 3 * t), "neighbours", False),
        (lambda x, t: np.where(np.arange(x.size) % 3 == 0, 1.5, -0.75), "sensors", True),
        (lambda x, t: np.random.default_rng(int(4 * t)).standard_normal(x.size) * 1.5, "times", True),
    ],
)
def test_structure_is_found_where_it_is(add, worst, same):
    criticism = criticise(
        recording(np.random.default_rng(1), stops=12, points=40, same=same, change=5.0, add=add)
    )
    assert criticism.p_value < 1e-6
    assert criticism.speaks_against
    assert min(criticism.checks, key=lambda check: check.p_value).name == worst
    assert "does not explain the data" in criticism.sentence()
    assert criticism.widening > 3


@pytest.mark.parametrize("name", ["u", "u_x", "u*u_x"])
def test_a_missing_term_is_named(name):
    def lacks(x, t):
        return 8 * (t - 0.25) * columns(x, t)[name]

    criticism = criticise(recording(np.random.default_rng(3), change=5.0, add=lacks))
    assert criticism.missing == name
    assert f"It looks like {name}: a term like that may be missing." in criticism.sentence()


def test_what_looks_like_the_equations_own_term_is_not_called_missing():
    criticism = criticise(
        recording(np.random.default_rng(3), add=lambda x, t: 8 * (t - 0.25) * columns(x, t)["u_xx"])
    )
    assert criticism.missing != "u_xx"


def test_a_trifle_is_told_and_is_no_misfit():
    criticism = criticise(recording(np.random.default_rng(1), change=1e4, add=lambda x, t: 2 * np.sin(x)))
    assert criticism.p_value < 1e-3
    assert not criticism.speaks_against
    assert "has structure" in criticism.sentence()
    assert "of what the fields change" in criticism.sentence()


def test_a_trifle_that_moves_a_parameter_is_a_misfit():
    """Nine sensors: 0.6 % of the change were left over, and D = 0.0100 ± 0.0014 was 5 deviations off at the least."""
    trifle = criticise(recording(np.random.default_rng(1), change=1e4, add=lambda x, t: 2 * np.sin(x)))
    estimate, scale = np.array([0.0100]), np.array([0.29])
    assert trifle.beside(estimate, np.array([0.0014]), scale).speaks_against
    # Exact numbers: the last digits of whoever computed them, of a parameter and of one that is 0.
    assert not trifle.beside(estimate, 1e-5 * estimate, scale).speaks_against
    assert not trifle.beside(np.zeros(1), 1e-5 * estimate, scale).speaks_against
    # One that is open: nothing moves it.
    assert not trifle.beside(estimate, np.array([np.inf]), scale).speaks_against
    assert not Criticism(p_value=0.1).beside(estimate, estimate, scale).speaks_against


def test_a_coherent_error_moves_no_parameter_further_than_the_widening():
    """Least squares with a column g: whatever structure is left over moves its coefficient by less than stated."""
    generator = np.random.default_rng(5)
    windows = recording(generator, points=200, change=5.0, add=lambda x, t: 2 * np.sin(x))
    criticism = criticise(windows)
    structure = np.concatenate([2 * np.sin(stop.points[:, 0]) for stop in windows[0]])
    worst = np.linalg.norm(structure)  # of all columns of norm 1, the structure's own direction is moved most
    assert worst < 1.3 * criticism.widening


def test_too_few_values_say_nothing():
    criticism = criticise(recording(np.random.default_rng(0), points=2))
    assert criticism.p_value <= 1
    assert (
        criticise([[LeftOver(0.0, np.zeros((1, 1)), {"u": np.zeros(1)}, {"u": np.zeros(1)}, {}, {})]])
        == Criticism()
    )
    assert "too few values" in Criticism().sentence()


def test_it_travels_as_plain_data():
    criticism = criticise(recording(np.random.default_rng(2), add=lambda x, t: np.sin(x)))
    assert Criticism.of_plain(criticism.plain()) == criticism


def test_sensors_that_are_off_are_told_what_to_type():
    generator = np.random.default_rng(3)
    offsets = 2 * generator.standard_normal(30)
    found = criticise(
        recording(generator, stops=8, points=30, same=True, change=20.0, add=lambda x, t: offsets)
    )
    assert found.speaks_against
    assert "--sensor-offsets" in found.sentence()


def test_what_a_model_knows_of_its_sensors_is_taken_for_what_is_left_of_them():
    """Left-overs of a state that has swallowed offsets are noise; that state's own evidence is not."""
    windows = recording(np.random.default_rng(3), stops=8, points=30, same=True, change=20.0)
    energy = sum(float(np.sum(stop.values["u"] ** 2)) for stop in windows[0])
    found = criticise(windows, sensors=Coherent(1e-9, 0.4 * energy))
    assert criticise(windows).is_noise
    assert found.speaks_against
    assert "--sensor-offsets" in found.sentence()
    assert found.p_value == len(found.checks) * 1e-9
    assert found.widening == pytest.approx(np.sqrt(1 + 0.4 * energy))
    assert [check.name for check in found.checks].count("sensors") == 1
    assert criticise(windows, sensors=Coherent(0.5, 0.0)).is_noise


def test_deviations_grow_from_noise_to_misfit_without_a_step():
    """One deviation's worth at p = 0.01, all of the widening at 0.001, and a trifle widens nothing."""
    plain = Criticism(widening=6.0, of_change=0.1)
    told = [replace(plain, p_value=p).wider for p in (0.5, 0.01, 0.00999, 0.00316, 0.00101, 0.001, 1e-9, 0.0)]
    np.testing.assert_allclose(told, [1, 1, 1, 6**0.5, 6, 6, 6, 6], rtol=0.02)
    assert replace(plain, p_value=0.002, of_change=0.001).wider == 1
    assert replace(plain, p_value=0.002, of_change=0.001, moved=0.2).wider > 3
    assert (
        "doubtful whether" in replace(plain, p_value=0.002, checks=(Check("times", 0.001, 0.1),)).sentence()
    )
