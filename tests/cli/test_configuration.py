"""`hiddenphysics.toml`: the same names as on the command line, which wins; sentences for everything else."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from hiddenphysics.cli import app, spread, terminal
from hiddenphysics.cli.configuration import LARGEST
from hiddenphysics.errors import DataError

HEAT = "u_t - b*u_xx = 0"


def call(*words):
    return CliRunner().invoke(app, spread([str(w) for w in words]))


@pytest.fixture
def asked(tmp_path, monkeypatch):
    """What `identify` is asked in a folder of its own, in which nothing is computed."""
    monkeypatch.chdir(tmp_path)
    given = {}

    def note(file, pde, choice, output, **named):
        given.update(named, file=file, pde=pde, choice=choice, output=output)

    monkeypatch.setattr("hiddenphysics.cli.actions.identify_file", note)
    return given


def test_the_file_of_the_folder_is_read_and_the_command_line_wins(asked):
    Path("hiddenphysics.toml").write_text(
        "quiet = true\nseed = 1\n"
        f'[identify]\npde = "{HEAT}"\ntimes = [2.0, 2.1]\npoints = 30\ntime-limit = 90\nseed = 7\nevery = 2\n'
        'constant = {c = 3, d = 0.5}\nfield = ["u=usol"]\nmissing = "drop"\nadd-noise = 0.25\nplot = "a.png"\n'
        "[demo]\nnoise = 0.1\n"
    )
    outcome = call("identify", "a.csv", "--every", 3)
    assert outcome.exit_code == terminal.OK, outcome.output
    assert (asked["pde"], asked["time_limit"], asked["missing"]) == (HEAT, "90", "drop")
    assert (asked["constants"], asked["fields"]) == (["c=3", "d=0.5"], ["u=usol"])
    choice, output = asked["choice"], asked["output"]
    assert (choice.times, choice.points, choice.every, choice.seed) == ((2.0, 2.1), (30,), 3, 7)
    assert (choice.noise, output.quiet, output.plot) == (0.25, True, Path("a.png"))
    assert outcome.stderr.startswith("options of hiddenphysics.toml: --pde, --times, --every, --points")
    assert "--noise" not in outcome.stderr
    assert call("--no-config", "identify", "a.csv").exit_code == terminal.USAGE  # no equation


def test_another_file_by_name(asked):
    Path("hiddenphysics.toml").write_text("this is no TOML")
    Path("other.toml").write_text('[identify]\npde = "v_t = v_xx"\n', encoding="utf-8-sig")
    assert call("--config", "other.toml", "identify", "a.csv").exit_code == terminal.OK
    assert asked["pde"] == "v_t = v_xx"
    assert call("identify", "a.csv", "--pde", HEAT).exit_code == terminal.USAGE


def test_a_file_that_asks_for_json_gets_mistakes_in_the_words_as_json(asked):
    Path("hiddenphysics.toml").write_text("json = true\n")
    for words in (("identify", "a.csv"), ("identify", "a.csv", "--pde", HEAT, "--evry", "3")):
        outcome = call(*words)
        assert outcome.exit_code == terminal.USAGE
        error = json.loads(outcome.stdout)["error"]
        assert error["kind"] == "usage"
        assert f"error: {error['message']}" in outcome.stderr
    Path("hiddenphysics.toml").write_text("[explain]\njson = true\n")
    assert call("identify", "a.csv").stdout == ""


def test_tables_of_tables(asked):
    """`datasets` is a group: what stands in its table is for all its commands."""
    Path("hiddenphysics.toml").write_text('[datasets]\nfolder = "data"\n[datasets.path]\njson = true\n')
    told = call("datasets", "path", "burgers")
    assert json.loads(told.stdout)["path"].startswith("data")
    assert told.stderr == "options of hiddenphysics.toml: --folder, --json\n"
    assert "none for this command" in call("explain", HEAT).stderr


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("[identify]\nmodle = 'flow'", "'modle' is no option of identify; did you mean model?"),
        ("time_limit = 3", "'time_limit' is no option of any command; did you mean time-limit?"),
        ("[identfy]\nmodel = 'flow'", "'identfy' is no option of any command; did you mean identify?"),
        ("[datasets.mke]\nfolder = 'a'", "'mke' is no option of any command"),
        ("identify = 3", "identify = 3 was given; needed is a table of options, [identify]."),
        ("quiet = 'yes'", "quiet = 'yes' was given; needed is true or false."),
        ("seed = [1, 2]", "seed = [1, 2] was given; needed is what one would type after --seed."),
        ("seed = true", "seed = True was given; needed is what one would type after --seed."),
        ("[identify]\nforce = true", "force has to be typed, as --force"),
        ("seed = ", "is no TOML: Invalid value (at end of document)."),
        ("#" * LARGEST + "#", f"has {LARGEST + 1} bytes; a configuration file has at most {LARGEST}."),
        (b"\xff\xfe", "is no TOML: 'utf-8' codec can't decode"),
        (None, "none.toml could not be opened (No such file or directory); check the name."),
    ],
)
def test_mistakes_in_the_file_are_sentences(asked, text, sentence):
    if text is not None:
        Path("my.toml").write_bytes(text if isinstance(text, bytes) else text.encode())
    outcome = call("--config", "my.toml" if text is not None else "none.toml", "explain", HEAT, "--json")
    assert outcome.exit_code == terminal.USAGE
    error = json.loads(outcome.stdout)["error"]
    assert sentence in error["message"]
    assert error["message"].startswith("Invalid value for --config: ")
    assert "Traceback" not in outcome.stderr


def test_a_value_of_the_wrong_kind_is_the_options_own_sentence(asked):
    Path("hiddenphysics.toml").write_text("[identify]\nseed = 'seven'\npde = 'u_t = u_x'\n")
    outcome = call("identify", "a.csv")
    assert outcome.exit_code == terminal.USAGE
    assert "Invalid value for '--seed'" in outcome.stderr


def test_errors_of_the_readers_stay_what_they_are(asked, monkeypatch):
    """Only what is wrong with the configuration is a usage error."""

    def refuse(*given, **named):
        raise DataError("no such data")

    monkeypatch.setattr("hiddenphysics.cli.actions.identify_file", refuse)
    Path("hiddenphysics.toml").write_text(f'[identify]\npde = "{HEAT}"\n')
    assert call("identify", "a.csv").exit_code == terminal.DATA
