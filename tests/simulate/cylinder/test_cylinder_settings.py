"""Bad parameters end in a sentence that says what was given, what is needed and what to type."""

import math

import pytest

from hiddenphysics.errors import ModelError
from hiddenphysics.simulate.cylinder import FlowSettings, RunPlan, Stepper, Window, circle


def test_the_defaults_are_the_papers_setting():
    settings = FlowSettings()
    assert settings.extent == ((-1.0, 8.0), (-2.0, 2.0))
    assert (settings.cells, settings.spacing, settings.levels) == ((450, 200), 0.02, 4)
    assert (settings.time_step, settings.reynolds) == (0.02, 100.0)
    assert RunPlan().snapshots >= 502


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (
            {"time_step": 0.03},
            r"time step 0\.03 is too large .* is 1\.5 and must not exceed 1, .*time_step=0\.02",
        ),
        ({"time_step": 0.0}, r"time step is 0; it must be a positive number"),
        ({"time_step": math.nan}, r"time step is nan; it must be a positive number"),
        ({"reynolds": -100.0}, r"Reynolds number is -100; it must be a positive number, .*reynolds=100"),
        ({"reynolds": math.inf}, r"Reynolds number is inf; it must be a positive number"),
        ({"spacing": -0.02}, r"grid spacing is -0\.02; it must be a positive number"),
        ({"levels": 0}, r"levels is 0; at least 1 grid"),
        ({"cells": (451, 200)}, r"cells is \(451, 200\); both counts must be even and at least 8"),
        ({"cells": (450, 6)}, r"cells is \(450, 6\); both counts must be even"),
    ],
)
def test_bad_settings_are_refused(change, sentence):
    with pytest.raises(ModelError, match=sentence):
        FlowSettings(**change)


@pytest.mark.parametrize(
    "flow",
    [
        FlowSettings(corner=(0.0, -2.0)),
        FlowSettings(corner=(-1.0, 0.5)),
        FlowSettings(corner=(-0.53, -2.0)),
        FlowSettings(cells=(8, 200)),
    ],
)
def test_a_grid_without_the_body_is_refused(flow):
    with pytest.raises(ModelError, match=r"does not contain the body: .* need \[-0\.54, 0\.54\]"):
        RunPlan(flow=flow)
    with pytest.raises(ModelError, match="does not contain the body"):
        Stepper(flow, circle(flow.spacing))


def test_a_grid_that_just_holds_the_body_is_taken():
    RunPlan(flow=FlowSettings(corner=(-0.56, -2.0)))


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"box": ((1.0, 8.5), (-1.7, 1.7))}, r"box spans x = 1 to 8\.5, but the finest grid spans -1 to 8"),
        ({"box": ((1.0, 7.5), (-2.0, 1.7))}, r"box spans y = -2 to 1\.7"),
        ({"box": ((3.0, 2.0), (-1.7, 1.7))}, r"box spans x = 3 to 2"),
        ({"watch": 1.0}, r"Stage 'main' has 50 time steps and 502 snapshots .* fewer snapshots"),
        ({"settle": 0.0}, r"Stage 'settle' has 0 time steps"),
        ({"checkpoint_every": 0}, r"checkpoint_every is 0; it must be at least 1"),
        ({"flow": FlowSettings(levels=3)}, r"starting flow has 4 levels and the recorded one 3.*levels=3"),
        ({"windows": (Window(0.05),)}, r"time step 0\.05 is too large"),
    ],
)
def test_bad_plans_are_refused(change, sentence):
    with pytest.raises(ModelError, match=sentence):
        RunPlan(**change)
