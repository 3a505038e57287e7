"""What constraints leave free of a state, against the closed form of a velocity without sources."""

import numpy as np
import pytest

from hiddenphysics.equation import Equation
from hiddenphysics.spectral import Features, Grid, Group, basis, groups_of, process_count, projection

VELOCITY = "u_t + a*(u*u_x + v*u_y) + p_x - b*lap(u) = 0; v_t + a*(u*v_x + v*v_y) + p_y - b*lap(v) = 0; u_x + v_y = 0"
POTENTIAL = VELOCITY.replace("u_x + v_y = 0", "u = psi_y; v = -psi_x")
WARM = (
    "u_t + u*u_x + v*u_y + p_x - b*lap(u) = 0; v_t + u*v_x + v*v_y + p_y - b*lap(v) - T = 0; "
    "T_t + u*T_x + v*T_y - c*lap(T) = 0; u_x + v_y = 0"
)
SPACE = "u_t + p_x - b*lap(u) = 0; v_t + p_y - b*lap(v) = 0; w_t + p_z - b*lap(w) = 0; u_x + v_y + w_z = 0"


@pytest.mark.parametrize(
    ("text", "groups"),
    [
        (VELOCITY, (Group((0, 1), 1),)),
        (POTENTIAL, (Group((0, 1), 1),)),
        (WARM, (Group((0, 1), 1), Group((2,), 1))),
        (SPACE, (Group((0, 1, 2), 2),)),
        ("u_t + a*u*u_x - b*u_xx = 0", (Group((0,), 1),)),
        ("w_t + a*psi_x = 0; psi_xx = -w", (Group((0,), 1),)),
    ],
)
def test_which_fields_are_tied_together(text, groups):
    assert groups_of(Equation.parse(text)) == groups


def through(equation, grid):
    """Projection at a grid's wavenumbers."""
    numbers = {}
    return projection(equation.system.constraints, grid.wavenumbers, numbers, grid.modes_shape, np)


@pytest.mark.parametrize(("text", "sides"), [("VELOCITY", 2), ("SPACE", 3)])
def test_processes_without_ties_make_every_state_without_sources(text, sides):
    equation = Equation.parse(
        {"VELOCITY": VELOCITY, "SPACE": SPACE}[text].replace("a*", "").replace("b*", "")
    )
    grid = Grid(((0.0, 3.0), (0.0, 2.0), (0.0, 5.0))[:sides], (8,) * sides)
    made = through(equation, grid)
    groups = groups_of(equation)
    N = basis(made, groups, np)
    assert N.shape == (sides, process_count(groups), *grid.modes_shape)
    inside = (slice(1, None),) * sides  # away from k = 0, where all means are free
    k = [np.broadcast_to(one, grid.modes_shape)[inside] for one in grid.wavenumbers]
    square = sum(one**2 for one in k)
    expected = np.stack([
        np.stack([(i == j) - k[i] * k[j] / square for j in range(sides)]) for i in range(sides)
    ])  # fmt: skip
    product = np.einsum("fr...,gr...->fg...", N, np.conj(N))[(slice(None), slice(None), *inside)]
    np.testing.assert_allclose(product, expected, atol=1e-12)


def test_real_processes_make_real_fields():
    """The column that begins the factor is the same at k and −k, also where two are equally long."""
    equation = Equation.parse(VELOCITY.replace("a*", "").replace("b*", ""))
    waves = [np.array([[1.0, -1.0]]), np.array([[1.0, -1.0]])]
    made = projection(equation.system.constraints, waves, {}, (1, 2), np)
    N = basis(made, groups_of(equation), np)
    np.testing.assert_allclose(N[..., 0], np.conj(N[..., 1]))


def test_amplitudes_are_the_inverse_of_modes():
    features = Features(Grid(((0.0, 1.0), (0.0, 2.0)), (12, 10)), (3, 4))
    z = np.random.default_rng(0).standard_normal((2, features.count))
    np.testing.assert_allclose(features.amplitudes(np.asarray(features.modes_of(z))), z, atol=1e-14)
