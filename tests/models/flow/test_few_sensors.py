"""A few sensors: deviations as wide as so few values leave them, and a wrong equation is called so."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.linalg import solve_banded
from scipy.optimize import minimize

import hiddenphysics as hp
from hiddenphysics.learning import Status
from hiddenphysics.models.flow import answer, reach

HEAT = "u_t = D*u_xx"


def decaying_heat(seed, span, side):
    """Nine sensors, five times, noise of 1 % of the field: u_t = 0.1 u_xx − 0.15 u, a sum of five waves."""
    random = np.random.default_rng(seed)
    x = np.linspace(0, side, 9) if seed % 2 == 0 else np.sort(random.uniform(0, side, 9))
    k = np.array([[0.0], [0.7], [1.3], [2.1], [3.0]])
    sizes = random.normal(size=(5, 1)) * np.array([[1.0], [1.0], [1.0], [0.6], [0.3]])
    phases = random.uniform(0, 6.28, (5, 1))
    sizes[0], phases[0] = 1.5, 0.0
    times = np.linspace(0, span, 5)
    fields = [
        np.sum(sizes * np.cos(k * x + phases) * np.exp(-(0.1 * k**2 + 0.15) * t), axis=0) for t in times
    ]
    noise = 0.01 * np.std(fields)
    return [
        hp.Snapshot(t=t, x=x, u=u + noise * random.normal(size=9)) for t, u in zip(times, fields, strict=True)
    ]


def test_heat_that_decays_is_not_heat():
    """Was `converged` at 0.1353 ± 0.0028 in windows of three times, though the whole was a misfit."""
    fit = hp.identify(HEAT, decaying_heat(14, 1.5, 2.5), model="flow")
    assert fit.status is Status.MISFIT
    assert fit.criticism.p_value < 1e-4
    assert "say the same" in fit.explanation


def test_heat_that_decays_is_found():
    fit = hp.identify("u_t = D*u_xx - k*u", decaying_heat(14, 1.5, 2.5), model="flow")
    assert not fit.status.is_bad
    for name, truth in {"D": 0.1, "k": 0.15}.items():
        assert abs(fit.parameters[name].estimate - truth) < 3 * fit.parameters[name].std


def three_sensors(seed):
    """A hill that spreads, u_t = 0.2 u_xx, at three places and nine times."""
    random, x = np.random.default_rng(seed), np.array([-1.0, 0.0, 1.0])
    spread = 1 + 0.8 * np.linspace(0, 1, 9)
    return [
        hp.Snapshot(t=(s - 1) / 0.8, x=x, u=np.exp(-(x**2) / s) / np.sqrt(s) + 0.005 * random.normal(size=3))
        for s in spread
    ]


@pytest.mark.parametrize("seed", [2, 1])
def test_three_sensors_leave_much_open(seed):
    """With short lengths anything from 0.01 to 0.08 goes, with long ones 0.17: it was 0.041 ± 0.014 for D = 0.2.

    Of the other draw both ends of a valley, 0.01 and 0.2, are as likely: it was 0.016 ± 0.010, `converged`.
    """
    fit = hp.identify(HEAT, three_sensors(seed), model="flow")
    assert fit.status is Status.WEAKLY_IDENTIFIED
    assert abs(fit.parameters["D"].estimate - 0.2) < 3 * fit.parameters["D"].std
    assert "So few values hardly tell lengths and noise" in fit.explanation


def test_a_train_of_waves_that_has_left_the_window_is_not_matched_by_chance():
    """Three crossings between two snapshots: c = −0.477 ± 0.004, `converged`, for c = 1. Some c always matches."""
    for seed in (100, 103):
        random = np.random.default_rng(seed)
        k = np.linspace(0.5, 4, 30)[:, None]
        sizes, phases = random.normal(size=(30, 1)) / 3, random.uniform(0, 6.28, (30, 1))
        data = []
        for t in (0.0, 6.0):
            x = random.uniform(0, 2, 60)
            u = np.sum(sizes * np.cos(k * (x - t) + phases), axis=0) + 0.01 * random.normal(size=60)
            data.append(hp.Snapshot(t=t, x=x, u=u))
        fit = hp.identify("u_t + c*u_x = 0", data, model="flow")
        assert fit.status.is_bad
        assert fit.parameters["c"].std == np.inf


def test_the_evidence_of_given_parameters_is_that_of_the_best_prior_for_them(monkeypatch):
    """The prior was tuned as if D would follow: 54 instead of 60.7 at the true 0.2, −63 instead of 56 at 0.08."""
    ended = []

    def kept(task, last, covariance, say):
        ended.append((task, last))
        return covariance

    monkeypatch.setattr(answer, "reach", kept)
    hp.identify(HEAT, three_sensors(3), model="flow")
    task, last = ended[0]

    def best(D):
        """Log evidence of D by a referee: the marginal likelihood of all values, maximised by SciPy."""
        data = task.sweep(np.asarray(last.point.z), np.array([D]), last.dt).data
        A, y = np.asarray(data.A[0]), np.asarray(data.y[0])
        count = int(data.spare) + len(y)

        def minus(theta):
            noise = np.exp(theta[-1])
            K = (A * np.asarray(last.linear.spectrum(theta))) @ A.T + noise * np.eye(len(y))
            logs = np.linalg.slogdet(K)[1] + (count - len(y)) * np.log(noise)
            return 0.5 * (y @ np.linalg.solve(K, y) + float(data.rest[-1, -1]) / noise + logs)

        start = np.asarray(last.tuned.theta)
        return -minimize(minus, start, method="L-BFGS-B", bounds=task.prior_bounds).fun

    def asked(D):
        return reach._evidence(replace(task, given=True), last, np.array([D]), lambda stage: None)

    for D in (0.08, 0.12, 0.2):
        assert asked(D) - asked(0.166) == pytest.approx(best(D) - best(0.166), abs=0.2)


def ice(seed):
    """A twin of glacier ice, D = 0.095: nine thermometers with offsets, once a day for a week, under a weather."""
    random, x = np.random.default_rng(seed), np.array([0.3, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 4.0, 5.0])
    depths, dt, before, days = np.linspace(0, 15, 601), 0.01, 3000, 7
    band = np.outer([-1.0, 2.0, -1.0], np.full(601, 0.095 * dt / depths[1] ** 2))
    band[1] += 1
    band[0, 1] = band[2, -2] = 0.0
    band[1, [0, -1]] = 1.0
    u, weather, told = -2 - 2 * np.exp(-depths / 4), 0.0, []
    for step in range(before + days * 100 + 1):
        if step >= before and step % 100 == 0:
            told.append(np.interp(x, depths, u))
        weather += -weather * dt / 3 + 0.25 * np.sqrt(dt) * random.normal()
        u = solve_banded((1, 1), band, np.append(-4 + weather, u[1:]))
    offsets = 0.03 * random.normal(size=9)
    return [
        hp.Snapshot(t=float(day), x=x, u=u + offsets + 0.01 * random.normal(size=9))
        for day, u in enumerate(told[:days])
    ]


def test_few_thermometers_with_offsets_leave_much_open():
    """Was 0.047 ± 0.009, `converged`, 5.6 deviations off: what widens few values did not look at sensors' errors."""
    fit = hp.identify(HEAT, ice(4), model="flow", sensors=hp.Sensors(offsets=True), boundary="driven")
    assert abs(fit.parameters["D"].estimate - 0.095) < 3 * fit.parameters["D"].std
    assert fit.parameters["D"].std < 0.03
    assert "So few values hardly tell lengths and noise" in fit.explanation


def test_three_points_at_two_times_leave_heat_open_and_are_no_misfit():
    """Left-overs were asked for where the last step, of an open parameter, led to: 3e4 of the noise, `misfit`."""
    x = [np.array([-1.94625599, -0.73449328, 1.95211546]), np.array([-1.74412609, 0.03266268, 1.93525305])]
    spread = (1.0, 1.24)
    values = [np.exp(-(at**2) / s) / np.sqrt(s) for at, s in zip(x, spread, strict=True)]
    snapshots = [hp.Snapshot(t=t, x=at, u=u) for t, at, u in zip((0.0, 0.3), x, values, strict=True)]
    fit = hp.identify(HEAT, snapshots, model="flow")
    assert fit.status in (Status.WEAKLY_IDENTIFIED, Status.NOT_CONVERGED)
    assert fit.parameters["D"].std > 0.1


def test_a_number_is_open_where_its_deviation_was_stretched_beyond_it():
    """A day of nine thermometers said 0.101 ± 0.36, `converged`; a 0 that is known to ± 0.002 is no such number."""
    near, wide = np.diag([0.01**2, 0.002**2]), np.diag([0.36**2, 0.002**2])
    assert reach.is_stretched(np.array([0.101, 0.0]), near, wide)
    assert not reach.is_stretched(np.array([0.101, 0.0]), near, near)
    assert not reach.is_stretched(np.array([0.5, 0.0]), near, wide)
