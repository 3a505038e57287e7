"""The authors' likelihoods and gradients for seven equations, reproduced through the public API."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hiddenphysics as hp


@dataclass(frozen=True)
class Case:
    """An equation as a user types it, and the authors' fields as the data have them."""

    name: str
    equation: str
    fields: tuple[str, ...] = ("u",)


CASES = (
    Case("burgers", "u_t + lambda_1*u*u_x - lambda_2*u_xx = 0"),
    Case("kdv", "u_t + lambda_1*u*u_x + lambda_2*u_xxx = 0"),
    Case("kuramoto_sivashinsky", "u_t + lambda_1*u*u_x + lambda_2*u_xx + lambda_3*u_xxxx = 0"),
    Case("schrodinger", "i*h_t + lambda_1*h_xx + lambda_2*abs(h)^2*h = 0", ("h_re", "h_im")),
    Case(
        "navier_stokes",
        "u_t + lambda_1*(u*u_x + v*u_y) + p_x - lambda_2*(u_xx + u_yy) = 0;"
        "v_t + lambda_1*(u*v_x + v*v_y) + p_y - lambda_2*(v_xx + v_yy) = 0;"
        "u = psi_y; v = -psi_x",
        ("u", "v"),
    ),
    Case("fractional_riemann_liouville", "u_t - lambda_1*D(u, x, lambda_2) = 0"),
    Case("fractional_laplacian", "u_t + frac_lap(u, alpha) = 0"),
)
AUTHORS_LATENTS = {"schrodinger": {"u": "h_re", "v": "h_im"}}
"""The authors call the real part u and the imaginary part v."""


@pytest.fixture(scope="module")
def authors(shared: Callable[[str], Path]) -> dict[str, Any]:
    return json.loads(shared("reference/authors.json").read_text())


def snapshot(case: Case, reference: dict[str, Any], when: str, t: float) -> hp.Snapshot:
    points = np.array(reference[f"x_{when}"]).reshape(-1, 2 if case.name == "navier_stokes" else 1)
    values = np.array(reference[f"u_{when}"]).reshape(len(points), -1)
    axes = dict(zip("xy", points.T, strict=False))
    return hp.Snapshot(t=t, **axes, **dict(zip(case.fields, values.T, strict=True)))


def natural(case: Case, authors_name: str, value: float) -> tuple[str, float, float]:
    """Translate one of the authors' numbers: our name, our value, and d(authors' number)/d(our number)."""
    if authors_name.startswith("lambda") or authors_name == "alpha":
        return authors_name, value, 1.0
    if authors_name == "log_lambda_2":
        return "lambda_2", np.exp(value), np.exp(-value)
    if authors_name == "log_noise_variance":
        return "noise.variance", np.exp(value), np.exp(-value)
    words = authors_name.split("_")
    latent = words[-1] if words[-1] in ("u", "v", "p", "psi") else "u"
    latent = AUTHORS_LATENTS.get(case.name, {}).get(latent, latent)
    if words[1] == "variance":
        return f"{latent}.variance", np.exp(value), np.exp(-value)
    coordinate = "y" if "y" in words else "x"
    length = np.exp(0.5 * value)
    return f"{latent}.length_{coordinate}", length, 2.0 / length


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_likelihood_and_gradient(case: Case, authors: dict[str, Any]) -> None:
    reference = authors[case.name]
    before = snapshot(case, reference, "before", 0.0)
    after = snapshot(case, reference, "after", reference["dt"])
    task = hp.problem(case.equation, [before, after])
    values, expected = {}, {}
    for name, value in reference["parameters"].items():
        ours, number, slope = natural(case, name, value)
        values[ours] = number
        expected[ours] = reference["gradient"][name] * slope
    assert set(values) == set(task.names)
    value, _ = task.objective(task.unknowns.vector(values))
    np.testing.assert_allclose(value, reference["nlml"], rtol=1e-9)
    gradient = task.gradient(values)
    for name, slope in expected.items():
        np.testing.assert_allclose(gradient[name], slope, rtol=1e-6, err_msg=name)
