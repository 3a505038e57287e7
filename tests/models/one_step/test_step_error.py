"""The step's own error: known in closed form for the heat equation, and in the interval of what it moves."""

import numpy as np
import pytest

import hiddenphysics as hp
from hiddenphysics.learning import Status
from hiddenphysics.models.one_step.remainder import jets_of
from hiddenphysics.models.one_step.step_error import moved_by, step_errors

HEAT = "u_t - D*u_xx = 0"
GAP, DIFFUSIVITY = 0.25, 1.0
AMPLITUDES = {1: 1.0, 2: 0.6}


def field(x, t):
    return sum(a * np.exp(-DIFFUSIVITY * k**2 * t) * np.sin(k * x + k) for k, a in AMPLITUDES.items())


def pair(seed, noise=0.0, points=30, reaction=0.0, gap=GAP):
    random = np.random.default_rng(seed)
    snapshots = []
    for t in (0.0, gap):
        x = np.sort(random.uniform(0, 2 * np.pi, points))
        u = field(x, t) * np.exp(-reaction * t) + noise * random.standard_normal(points)
        snapshots.append(hp.Snapshot(t=t, x=x, u=u))
    return hp.Snapshots(snapshots)


@pytest.fixture(scope="module", params=["midpoint", "paper"])
def fit(request):
    return hp.identify(HEAT, pair(0), model=request.param)


def closed_form(model, x, t):
    """What sin(kx) e^(−k²t) is beyond one step from the state that the step has, wave by wave."""
    total = np.zeros(x.size)
    for k, a in AMPLITUDES.items():
        rate = DIFFUSIVITY * k**2
        first, last = a, a * np.exp(-rate * GAP)
        if model == "paper":
            error = first - last * (1 + GAP * rate) if t == 0 else 0.0
        else:
            state, lag = 0.5 * (first + last), GAP / 2 - t
            error = a * np.exp(-rate * t) - state * (1 + lag * rate)
        total += error * np.sin(k * x + k)
    return total


def test_it_is_what_the_step_leaves_of_the_motion(fit):
    learned, system = fit.learned, fit.equation.system
    jets = jets_of(learned.snapshots, learned.smoothed, system)
    values = dict(learned.values) | {"D": DIFFUSIVITY}
    errors = step_errors(learned.problem, values, system, jets)
    for observation, error in zip(learned.problem.step.observations, errors, strict=True):
        snapshot = learned.snapshots[observation.snapshot]
        true = closed_form(fit.model, snapshot["x"], snapshot.t)
        # The paper's is known to first order of what is left: the mean of two rates, not Simpson's rule.
        within = 0.3 if fit.model == "paper" else 0.1
        np.testing.assert_allclose(error, true, atol=within * max(np.abs(true).max(), 1e-3))


def test_first_order_is_how_the_optimum_moves(fit):
    """A tenth of the errors taken from the data, the whole fit again: the answer moves by a tenth of it."""
    learned, system = fit.learned, fit.equation.system
    problem = learned.problem
    vector = problem.unknowns.vector(learned.values)
    errors = step_errors(
        problem, learned.values, system, jets_of(learned.snapshots, learned.smoothed, system)
    )
    small = [0.1 * error for error in errors]
    hessian, _ = problem.hessian(vector, np.full(vector.size, 0.1))
    told = moved_by(problem, vector, np.linalg.inv(hessian), small)[0]
    fields = dict(zip([o.snapshot for o in problem.step.observations], small, strict=True))
    other = hp.Snapshots(
        hp.Snapshot(t=s.t, x=s["x"], u=s["u"] - fields[k]) for k, s in enumerate(learned.snapshots)
    )
    again = hp.identify(HEAT, other, model=fit.model)
    seen = fit.parameters["D"].estimate - again.parameters["D"].estimate
    assert told == pytest.approx(seen, rel=0.3)
    assert abs(told) > 0.001


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("model", ["midpoint", "paper"])
def test_clean_data_make_no_model_sure_of_a_wrong_number(model, seed):
    """Both were sure and wrong before, and `converged`."""
    fit = hp.identify(HEAT, pair(seed, gap=GAP if model == "midpoint" else GAP / 3), model=model)
    low, high = fit.parameters["D"].interval(0.95)
    assert low < DIFFUSIVITY < high
    assert fit.status is Status.CONVERGED
    assert fit.parameters["D"].std < 0.3


@pytest.mark.parametrize("model", ["midpoint", "paper"])
def test_a_wrong_equation_is_a_misfit_there_too(model, tmp_path):
    data = pair(1, noise=0.003, reaction=-2.0)
    right = hp.identify("u_t - D*u_xx - r*u = 0", data, model=model)
    wrong = hp.identify(HEAT, data, model=model)
    assert right.status is Status.CONVERGED
    assert right.criticism.p_value > 0.001
    assert wrong.status is Status.MISFIT
    assert wrong.criticism.missing in ("u", "u^3", "u^2")
    assert "does not explain the data" in wrong.explanation
    assert wrong.summary()["criticism"]["missing"] == wrong.criticism.missing
    assert hp.load(wrong.save(tmp_path / "wrong.nc")).criticism == wrong.criticism
