"""Porous Fisher's equation from dishes with an empty middle: against the numbers that finite volumes were driven by."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import hiddenphysics as hp

POROUS = "u_t = d(D*u*u_x, x) + r*u*(1 - u)"
D, R, NOISE = 0.3, 0.4, 0.02
TIMES = np.linspace(0.0, 4.0, 5)


def dish(seed):
    """Two layers of cells with nothing between them, moved by finite volumes and LSODA, which keep u ≥ 0."""
    x = np.linspace(-8.0, 8.0, 641)
    h, rng = x[1] - x[0], np.random.default_rng(seed)
    begin = 0.4 + 0.2 * rng.uniform(size=2)
    layers = begin[0] * np.clip(-1.2 - x, 0, 0.5) / 0.5 + begin[1] * np.clip(x - 1.2, 0, 0.5) / 0.5

    def rate(_, u):
        flux = np.concatenate([[0.0], D * 0.5 * (u[1:] + u[:-1]) * np.diff(u) / h, [0.0]])
        return np.diff(flux) / h + R * u * (1 - u)

    moved = solve_ivp(
        rate, (0.0, 4.0), layers, t_eval=TIMES, method="LSODA", lband=1, uband=1, rtol=1e-7, atol=1e-9
    )
    seen = np.linspace(-3.8, 3.8, 39)
    return hp.Snapshots(
        hp.Snapshot(t, seen, np.interp(seen, x, u) + NOISE * rng.standard_normal(seen.size))
        for t, u in zip(TIMES, moved.y.T, strict=True)
    )


@pytest.fixture(scope="module")
def dishes():
    return [dish(seed) for seed in (0, 1)]


@pytest.fixture(scope="module")
def porous(dishes):
    return hp.identify(POROUS, dishes, model="flow")


def test_cells_that_crowd_are_found_though_the_middle_is_empty(dishes, porous):
    """Noise makes the middle negative in places, where the equation as typed is ill-posed."""
    assert min(float(one[0]["u"].min()) for one in dishes) < -NOISE
    assert porous.status == "converged"
    for name, truth in (("D", D), ("r", R)):
        found = porous.parameters[name]
        assert abs(found.estimate - truth) < 3 * found.std
        assert found.std < 0.1 * truth
    assert abs(porous.noise_std / NOISE - 1) < 0.2


def test_another_form_is_a_misfit_and_worse(dishes, porous):
    """Searches from far apart end alike: how far the numbers are off is a number."""
    plain = hp.identify("u_t = D*u_xx + r*u*(1 - u)", dishes, model="flow")
    assert plain.status == "misfit"
    assert plain.evidence < porous.evidence - 20
    assert all(np.isfinite(one.std) for one in plain.parameters.values())
