"""A request becomes Python lines and a command: read back by Python's own parser and by the command line's."""

import ast
import shlex

import pytest
from typer.testing import CliRunner

from hiddenphysics.cli import actions, app, spread
from hiddenphysics.errors import DataError, EquationError, ModelError
from hiddenphysics.studio.fit_request import (
    FitRequest,
    columns_of,
    constants_of,
    limit_of,
    points_of,
    times_of,
)

FULL = FitRequest(
    path="/data/a file.csv",
    name="a file.csv",
    pde='u_t - b*u_xx = 0;\nb > 0 "',
    missing="drop",
    columns={"t": "when", "x": "depth (m)"},
    times=(0.1, 1 / 3),
    points=70,
    seed=0,
    fields={"u": "usol"},
    constants={"c": 0.1},
    model="flow",
    time_limit=12.5,
    offsets=True,
    boundary="driven",
)


def calls(lines):
    """Every call in the lines: name, arguments, named arguments."""
    return {
        ast.unparse(node.func): (
            [ast.literal_eval(a) for a in node.args if not isinstance(a, ast.Name)],
            {
                k.arg: ast.unparse(k.value) if isinstance(k.value, ast.Call) else ast.literal_eval(k.value)
                for k in node.keywords
            },
        )
        for node in ast.walk(ast.parse(lines))
        if isinstance(node, ast.Call)
    }


def test_python_lines_hold_every_choice_to_the_last_digit():
    told = calls(FULL.python_lines())
    assert told["hp.read"] == (
        ["a file.csv"],
        {"columns": {"t": "when", "x": "depth (m)"}, "missing": "drop"},
    )
    assert told["data.at"] == ([[0.1, 1 / 3]], {})
    assert told["data.subsample"] == ([70], {"seed": 0})
    assert told["hp.identify"] == (
        [FULL.pde],
        {
            "model": "flow",
            "fields": {"u": "usol"},
            "constants": {"c": 0.1},
            "boundary": "driven",
            "time_limit": 12.5,
            "sensors": "hp.Sensors(offsets=True)",
        },
    )


def test_lines_of_a_plain_request_hold_nothing_that_nobody_chose():
    told = calls(FitRequest("/data/burgers.csv", "burgers.csv", "u_t - b*u_xx = 0").python_lines())
    assert told == {
        "hp.read": (["burgers.csv"], {}),
        "hp.identify": (["u_t - b*u_xx = 0"], {}),
        "print": ([], {}),
    }


def test_the_command_asks_the_command_line_for_the_same(monkeypatch):
    asked = {}
    monkeypatch.setattr(actions, "identify_file", lambda *args, **kw: asked.update(kw, args=args))
    words = shlex.split(FULL.shell_command())
    assert words[:1] == ["hiddenphysics"]
    run = CliRunner().invoke(app, spread(words[1:]))
    assert run.exit_code == 0, run.output
    file, pde, choice, _ = asked.pop("args")
    assert (str(file), pde) == ("a file.csv", FULL.pde)
    assert (choice.times, choice.points, choice.seed) == (FULL.times, (70,), 0)
    assert asked["columns"] == ["t=when", "x=depth (m)"]
    assert asked["fields"] == ["u=usol"]
    assert asked["constants"] == ["c=0.1"]
    assert (asked["model"], asked["missing"], asked["time_limit"]) == ("flow", "drop", "12.5")
    assert (asked["boundary"], asked["sensors"]["offsets"]) == (["driven"], True)


def test_a_file_that_is_called_like_an_option_is_a_file(monkeypatch):
    asked = []
    monkeypatch.setattr(actions, "identify_file", lambda *args, **kw: asked.append(str(args[0])))
    words = shlex.split(FitRequest("/data/-7 °C.csv", "-7 °C.csv", "u_t - b*u_xx = 0").shell_command())
    assert CliRunner().invoke(app, spread(words[1:])).exit_code == 0
    assert asked == ["-7 °C.csv"]


def test_a_request_travels_as_plain_data():
    assert FitRequest.of_plain(FULL.plain()) == FULL


def test_what_is_typed_is_read_or_refused_with_a_sentence():
    assert times_of(" 1.0, 1.1 2") == (1.0, 1.1, 2.0)
    assert times_of("") == ()
    assert points_of("70") == 70
    assert points_of(" ") is None
    assert constants_of("c=3, d=0.5") == {"c": 3.0, "d": 0.5}
    assert limit_of("") == 600.0
    assert limit_of("20") == 20.0
    assert columns_of("x = depth (m),u=usol\n") == {"x": "depth (m)", "u": "usol"}
    assert columns_of(" ") == {}
    for text in ("x", "x=", "=u", "x=a, x=b"):
        with pytest.raises(DataError, match="was typed for the columns; needed is each NAME = COLUMN once"):
            columns_of(text)
    with pytest.raises(DataError, match=r"'early' was typed for the times; needed are numbers"):
        times_of("early")
    for text in ("0", "-3", "1.5", "many"):
        with pytest.raises(DataError, match="needed is a number such as 70"):
            points_of(text)
    with pytest.raises(EquationError, match="needed is NAME=NUMBER, as in c=3"):
        constants_of("c")
    for text in ("0", "soon", "inf", "nan"):
        with pytest.raises(ModelError, match="needed is a number of seconds"):
            limit_of(text)
