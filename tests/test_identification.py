"""The one verb, end to end: what it finds, and what it refuses at the door."""

import numpy as np
import pytest
from threadpoolctl import ThreadpoolController

import hiddenphysics as hp
from hiddenphysics import identification

HEAT = "u_t - b*u_xx = 0"


def heat(t, x, b=0.2):
    """Two decaying modes: an exact solution of the heat equation."""
    return np.exp(-b * t) * np.sin(x) + 0.5 * np.exp(-4 * b * t) * np.cos(2 * x)


def heat_snapshots(gap=0.01, count=25, noise=0.0, seed=0):
    rng = np.random.default_rng(seed)
    made = []
    for t in (0.0, gap):
        x = np.sort(rng.uniform(0, 6, count))
        made.append(hp.Snapshot(t=t, x=x, u=heat(t, x) + noise * rng.standard_normal(count)))
    return made


def test_the_heat_equation_is_identified():
    found = hp.identify(HEAT, heat_snapshots())
    b = found.parameters["b"]
    assert found.status == "converged"
    assert b.estimate == pytest.approx(0.2, rel=0.02)
    assert 0 < b.std < 0.02


def test_two_dimensions_and_two_fields():
    """u = cos(at) w, v = −sin(at) w with w = exp(−2bt) sin(x + y): a rotation that decays."""
    rng = np.random.default_rng(1)
    a, b = 0.7, 0.3
    snapshots = []
    for t in (0.5, 0.52):
        x, y = rng.uniform(0, 5, (2, 60))
        wave = np.exp(-2 * b * t) * np.sin(x + y)
        snapshots.append(hp.Snapshot(t, x, y, u=np.cos(a * t) * wave, v=-np.sin(a * t) * wave))
    found = hp.identify("u_t - a*v - b*lap(u) = 0; v_t + a*u - b*lap(v) = 0", snapshots, model="paper")
    assert found.parameters["a"].estimate == pytest.approx(a, rel=0.05)
    assert found.parameters["b"].estimate == pytest.approx(b, rel=0.05)


def test_a_parameter_held_by_a_bound_is_said():
    found = hp.identify(HEAT, heat_snapshots(), bounds={"b": (0.5, 1.0)}, model="paper")
    assert found.status == "at_bound"
    assert "b ended at a bound" in found.explanation
    assert found.parameters["b"].interval() == (0.5, 0.5)


def test_known_numbers_are_not_learned():
    found = hp.identify("u_t - b*c*u_xx = 0", heat_snapshots(), constants={"c": 2.0}, model="paper")
    assert list(found.parameters) == ["b"]
    assert found.parameters["b"].estimate == pytest.approx(0.1, rel=0.02)


def test_the_only_field_may_have_any_name():
    renamed = hp.Snapshots(heat_snapshots()).rename({"u": "temperature"})
    assert hp.identify(HEAT, renamed, model="paper").snapshots.fields == ("u",)


def test_progress_names_the_stages():
    said = []
    hp.identify(HEAT, heat_snapshots(), progress=said.append, model="paper")
    assert any("compiling" in stage for stage in said)
    assert any("learning" in stage for stage in said)


def test_the_same_data_give_the_same_numbers():
    one, other = (hp.identify(HEAT, heat_snapshots(noise=0.01)) for _ in range(2))
    assert one.values == other.values


REFUSED = {
    "one snapshot": (HEAT, heat_snapshots()[:1], hp.DataError, "one snapshot was given; 2 are needed"),
    "three snapshots": (
        HEAT,
        [*heat_snapshots(), hp.Snapshot(0.5, [0.0, 1.0, 2.0], [0.0, 1.0, 0.5])],
        hp.DataError,
        "3 snapshots were given.*--times 0 0.01",
    ),
    "one snapshot twice": (
        HEAT,
        [hp.Snapshot(t, [0.0, 1.0, 2.0], u=[0.0, 1.0, 2.0]) for t in (0.0, 0.1)],
        hp.DataError,
        "hold the same values at the same points",
    ),
    "a constant field": (
        HEAT,
        [hp.Snapshot(t, [0.0, 1.0, 2.0], [0.5, 0.5, 0.5]) for t in (0.0, 0.1)],
        hp.DataError,
        "constant field carries no information",
    ),
    "no unknown": ("u_t - u_xx = 0", heat_snapshots(), hp.ModelError, "no unknown parameter"),
    "no time derivative": ("u_x - b*u_xx = 0", heat_snapshots(), hp.EquationError, "no time derivative"),
    "a parameter that cancels": (
        "u_t + a*u_x - a*u_x - b*u_xx = 0",
        heat_snapshots(),
        hp.EquationError,
        "parameter a cancels",
    ),
    "an equation in y for data in x": ("u_t - b*u_yy = 0", heat_snapshots(), hp.EquationError, "y"),
}


@pytest.mark.parametrize("case", REFUSED.values(), ids=REFUSED)
def test_refused_at_the_door(case):
    equation, snapshots, error, sentence = case
    with pytest.raises(error, match=sentence):
        hp.identify(equation, snapshots, model="paper")


def test_fewer_values_than_unknowns():
    few = [hp.Snapshot(t, [0.0, 1.0], [0.0, 1.0 + t]) for t in (0.0, 0.1)]
    with pytest.raises(hp.DataError, match="4 values were given for 5 unknowns"):
        hp.identify("u_t + a*u_x - b*u_xx = 0", few, model="paper")


def test_unknown_model_and_kernel_of_nobody():
    with pytest.raises(hp.ModelError, match="known are auto, flow, midpoint, paper"):
        hp.identify(HEAT, heat_snapshots(), model="papper")
    with pytest.raises(hp.ModelError, match="A kernel was given for 'w'"):
        hp.identify(HEAT, heat_snapshots(), kernel={"w": hp.Matern(4.5)}, model="paper")


def test_a_kernel_too_rough_is_refused():
    with pytest.raises(hp.ModelError, match=r"Matern\(nu=1.5\).*equation takes 2 of u"):
        hp.identify(HEAT, heat_snapshots(), kernel=hp.Matern(1.5), model="paper")


@pytest.mark.parametrize("kernel", [hp.Matern(4.5), hp.RationalQuadratic(), hp.Periodic(2 * np.pi)], ids=str)
def test_other_priors_find_the_same_number(kernel):
    found = hp.identify(HEAT, heat_snapshots(), kernel=kernel, model="paper")
    assert found.parameters["b"].estimate == pytest.approx(0.2, rel=0.05)


def test_units_do_not_matter():
    """The same field in other units of x, t and u gives the same number in those units, as accurately."""
    plain = hp.identify(HEAT, heat_snapshots(), model="paper")
    scaled = [hp.Snapshot(t=1e3 * s.t, x=1e-3 * s["x"], u=1e4 * s["u"]) for s in heat_snapshots()]
    found = hp.identify(HEAT, scaled, model="paper")
    factor = 1e-6 / 1e3
    assert found.parameters["b"].estimate == pytest.approx(factor * plain.parameters["b"].estimate, rel=1e-3)
    assert found.parameters["b"].std == pytest.approx(factor * plain.parameters["b"].std, rel=1e-2)


# ---- sentences instead of tracebacks --------------------


@pytest.mark.parametrize(
    ("equation", "sentence"),
    [
        ("u_t = D*w_xx", "holds the field w, which has no data.*Give data for w"),
        ("u_t + a*u*U_x = 0", r"holds the field U, which has no data.*Did you mean u\?"),
    ],
)
def test_a_field_that_nothing_shows(equation, sentence):
    with pytest.raises(hp.ModelError, match=sentence):
        hp.identify(equation, heat_snapshots())


def test_bounds_and_constants_are_mappings():
    with pytest.raises(hp.EquationError, match=r"bounds='b > 0' was given; needed is a mapping.*; b > 0"):
        hp.identify(HEAT, heat_snapshots(), bounds="b > 0")
    with pytest.raises(hp.EquationError, match=r"constants=\['c'\] was given; needed is a mapping"):
        hp.identify(HEAT, heat_snapshots(), constants=["c"])


def test_progress_may_be_asked_for_with_a_word(capsys):
    fit = hp.identify(HEAT, heat_snapshots(), model="paper", progress=True)
    said = capsys.readouterr()
    assert "reading equation and data" in said.err
    assert said.out == ""
    with pytest.raises(hp.ModelError, match=r"t=\[0\.0, 0\.01\] was given; needed is one time"):
        fit.predict("u", [1.0, 2.0], t=[0.0, 0.01])


@pytest.mark.parametrize(
    ("model", "count", "threads"), [("flow", 25, 1), ("midpoint", 25, 1), ("midpoint", 600, 2)]
)
def test_small_matrices_have_one_thread_of_blas(monkeypatch, model, count, threads):
    """Two of them waited for each other on busy cores: the demo took 17 s for 3."""
    seen = []

    def used():
        return {one["num_threads"] for one in ThreadpoolController().info() if one["user_api"] == "blas"}

    def learned(question, name, watch):
        seen.append(used())
        raise hp.ModelError("enough was seen")

    monkeypatch.setattr(identification, "_learned", learned)
    with ThreadpoolController().limit(limits=2, user_api="blas"):
        with pytest.raises(hp.ModelError, match="enough was seen"):
            hp.identify(HEAT, heat_snapshots(count=count), model=model)
        assert seen == [{threads}]
        assert used() == {2}
