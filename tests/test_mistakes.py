"""What a new user types, and data that nobody would call good: a sentence, never a traceback."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import hiddenphysics as hp
from hiddenphysics.errors import DataError, EquationError, ModelError
from hiddenphysics.learning import Status, Verdict
from hiddenphysics.models import MODELS, Question
from hiddenphysics.models.model import Fit
from hiddenphysics.priors.kernel import kernel_to_dict
from hiddenphysics.result import Result

HEAT = "u_t = D*u_xx"
X = np.linspace(-3.0, 3.0, 20)


def pair(x: float = 1.0, u: float = 1.0, gap: float = 1.0) -> list[hp.Snapshot]:
    values = np.exp(-(X**2)), np.exp(-(X**2) / 2.0) / np.sqrt(2.0)
    return [hp.Snapshot(t=k * gap, x=x * X, u=u * v) for k, v in enumerate(values)]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "u_t = D*u_rr",
            r"'u_rr' would be a derivative of u along r, but the coordinates are t and x: write",
        ),
        ("u_t = D*u_r", "'u_r' would be a derivative of u along r"),
        ("u_t = D*u_xX + b*u_xx", r"along X, but the coordinates are t and x: write u_xx,"),
        ("u_t = D*u_X", "write u_x, or give a parameter another name"),
        ("u_t = D*u_xx + c*u_ss", "'u_ss' would be a derivative of u along s"),
    ],
)
def test_derivatives_along_no_coordinate_are_refused(text: str, message: str) -> None:
    """They became parameters without a word."""
    with pytest.raises(EquationError, match=message):
        hp.identify(text, pair())


def test_parameters_with_subscripts_stay_parameters() -> None:
    told = hp.Equation.parse("u_t = k*(u_inf - u) + u_0 + u_max*u_xx + c_x*u; c_x > 0", coordinates=["x"])
    assert set(told.parameters) == {"k", "u_inf", "u_0", "u_max", "c_x"}


@pytest.mark.parametrize("digits", ["1" * 1000, "0." + "1" * 1000, "1e" + "9" * 1000])
def test_a_numeral_of_a_thousand_digits_gets_a_short_message(digits: str) -> None:
    """It was repeated in full."""
    with pytest.raises(EquationError) as refusal:
        hp.Equation.parse(f"u_t = {digits}*D*u_xx")
    assert len(str(refusal.value)) < 300


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"bounds": "D > 0"}, "bounds='D > 0' was given; needed is a mapping by name"),
        ({"bounds": {"D": "0"}}, "the bounds of D are a pair of numbers or None"),
        ({"constants": "D"}, "constants='D' was given; needed is a mapping by name"),
    ],
)
def test_options_about_numbers_are_mappings(options: dict[str, Any], message: str) -> None:
    with pytest.raises(EquationError, match=message):
        hp.identify(HEAT, pair(), **options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"progress": "yes"}, "progress='yes' was given; needed is True"),
        (
            {"kernel": "matern"},
            r"kernel='matern' was given; needed is a kernel, such as kernel=Matern\(4.5\)",
        ),
        ({"kernel": {"u": 4.5}}, "kernel=4.5 was given"),
        ({"kernel": (hp.Matern(4.5), "periodic")}, "kernel='periodic' was given"),
    ],
)
def test_options_of_another_kind_are_refused(options: dict[str, Any], message: str) -> None:
    """A text as progress was taken for True; one as a kernel for several kernels."""
    with pytest.raises(ModelError, match=message):
        hp.identify(HEAT, pair(), **options)


def test_fields_are_a_mapping() -> None:
    """AttributeError: 'str' object has no attribute 'values'."""
    with pytest.raises(DataError, match="fields='u' was given; needed is a mapping"):
        hp.identify(HEAT, pair(), fields="u")  # type: ignore[arg-type]


@pytest.mark.parametrize("given", [None, 3, 2.5])
def test_snapshots_of_nothing(given: Any) -> None:
    """TypeError: 'NoneType' object is not iterable."""
    with pytest.raises(DataError, match=f"a list of Snapshot objects; a {type(given).__name__} was given"):
        hp.Snapshots(given)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({"u": 1e-300}, "u is nowhere larger than .*e-301; powers of such values underflow"),
        ({"x": 1e-300}, "x is nowhere larger than 3e-300; powers"),
        ({"gap": 5e-324}, "t = 0 and t = 4.94066e-324 are 4.94e-324 apart; rates over gaps below 1e-50"),
    ],
)
def test_numbers_next_to_nothing_are_refused(data: dict[str, float], message: str) -> None:
    """ZeroDivisionError for values, LinAlgError for positions and gaps."""
    with pytest.raises(DataError, match=message):
        hp.Snapshots(pair(**data))


def test_the_same_snapshot_twice_is_refused() -> None:
    """Two identical snapshots ended `converged` with 0 ± 0.002."""
    first = pair()[0]
    again = hp.Snapshot(t=0.5, x=X, u=first["u"])
    with pytest.raises(
        DataError, match="All 2 snapshots hold the same values at the same points: nothing changes"
    ):
        hp.identify(HEAT, [first, again])


def test_bad_numbers_carry_no_small_deviations() -> None:
    """A fit that was called not converged still said ± 0.0008."""
    question = Question.of(HEAT, hp.Snapshots(pair()))
    verdict = Verdict(Status.NOT_CONVERGED, "A false optimum.")
    fit = Fit({"D": 1.0, "u.variance": 1.0}, np.diag([1e-8, 1e-2]), 0.0, verdict, 0.0, 1, None)
    bad = Result.of(question, "flow", fit, 1.0)
    assert bad.parameters["D"].std == np.inf
    assert bad.covariance[1, 1] == 1e-2
    good = Result.of(question, "flow", replace(fit, verdict=Verdict(Status.CONVERGED, "Well.")), 1.0)
    assert good.parameters["D"].std == 1e-4


def test_positions_that_are_words_are_refused() -> None:
    """ValueError: could not convert string to float."""
    question = Question.of(HEAT, hp.Snapshots(pair()))
    fit = Fit({"D": 1.0}, np.eye(1), 0.0, Verdict(Status.CONVERGED, "Well."), 0.0, 1, None)
    with pytest.raises(ModelError, match="Coordinates are arrays of numbers, such as x="):
        Result.of(question, "flow", fit, 1.0).predict("u", x="here", t=0.5)  # type: ignore[arg-type]


@pytest.mark.parametrize(("second", "said"), [(3.0, "disagrees: it finds D 3."), (1.01, "agrees within")])
def test_numbers_of_two_models_that_differ_carry_no_small_deviations(
    monkeypatch: pytest.MonkeyPatch, second: float, said: str
) -> None:
    """The first did not end well: its unknown deviations allow for nothing, and those of the second prove nothing."""

    def learns(estimate: float, status: Status) -> Callable[..., Fit]:
        values, verdict = {"D": estimate, "noise.variance": 1.0}, Verdict(status, "So it ended.")
        return lambda *_: Fit(values, 1e-4 * np.eye(2), 0.0, verdict, 0.0, 1, None)

    monkeypatch.setattr(type(MODELS["flow"]), "learn", learns(1.0, Status.NOT_CONVERGED))
    monkeypatch.setattr(type(MODELS["midpoint"]), "learn", learns(second, Status.CONVERGED))
    found = hp.identify(HEAT, pair())
    assert found.status is Status.NOT_CONVERGED
    assert (found.parameters["D"].estimate, found.parameters["D"].std) == (second, np.inf)
    assert f"The midpoint model {said}" in found.explanation


def test_a_kernel_without_a_name_is_named_when_it_is_saved() -> None:
    """StopIteration."""

    class Mine(hp.SquaredExponential):
        pass

    with pytest.raises(ModelError, match=r"Mine.* is no kernel that was added by a name; .*KERNELS.add\("):
        kernel_to_dict(Mine())


def test_a_field_that_as_many_snapshots_leave_free_is_said_to_be_so() -> None:
    """The search went to parameters at which the fields overflow: nothing held it."""
    hidden = "u_t = D*u_xx - v; v_t = e*(u - b*v)"
    with pytest.raises(
        DataError, match=r"v has no data, and 2 snapshots of u hold .* Give 3 snapshots or more"
    ):
        hp.identify(hidden, pair())
