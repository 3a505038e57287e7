"""`hiddenphysics compare`: the table, the JSON document, and a sentence for what cannot be compared."""

import json

import pytest
from typer.testing import CliRunner

from hiddenphysics.cli import app
from hiddenphysics.demo import burgers_recording, two_snapshots

RIGHT, WRONG = "u_t + a*u*u_x - b*u_xx = 0", "u_t + c*u_x - b*u_xx = 0"


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("compare") / "field.csv"
    two_snapshots(burgers_recording(), 0.003, 0).to_table().to_csv(path, index=False)
    return path


def test_two_equations_become_one_document(file):
    ran = CliRunner().invoke(app, ["compare", str(file), "--pde", WRONG, "--pde", RIGHT, "--json", "-q"])
    assert ran.exit_code == 0, ran.output
    told = json.loads(ran.stdout)
    assert [one["equation"] for one in told["equations"]] == [RIGHT, WRONG]
    assert told["equations"][1]["status"] == "misfit"
    assert told["equations"][0]["weight"] > 0.999


def test_one_equation_is_not_compared(file):
    ran = CliRunner().invoke(app, ["compare", str(file), "--pde", RIGHT, "-q"])
    assert ran.exit_code == 5
    assert "Several equations are needed" in ran.stderr
