"""Help is quick: it loads nothing that computes."""

import subprocess
import sys

import pytest

from benchmarks import start_up


@pytest.mark.parametrize(
    ("words", "room"),
    [("datasets make", "hiddenphysics.datasets"), ("reproduce", "hiddenphysics.reproduction")],
)
def test_help_loads_nothing_heavy(words, room):
    code = (
        "import sys\nfrom hiddenphysics.cli import app\n"
        f"try: app({[*words.split(), '--help']})\n"
        "except SystemExit: pass\n"
        f"print(sorted({{'jax', 'scipy', 'xarray', 'numpy', {room!r}}} & set(sys.modules)))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip().splitlines()[-1] == "[]"


def test_what_a_stranger_needs_stands_first_and_a_missing_equation_is_shown():
    from typer.testing import CliRunner

    from hiddenphysics.cli import app

    shown = CliRunner().invoke(app, ["--help"]).output
    places = [shown.index(f"│ {name} ") for name in ("demo", "identify", "studio", "reproduce")]
    assert places == sorted(places)
    told = CliRunner().invoke(app, ["identify", "a.csv", "--json"])
    assert told.exit_code == 2
    assert "Type the equation, as in --pde" in told.stdout


def test_import_and_help_are_quick():
    """In units of a bare Python, in seconds of the processor: on a quiet core that is 0.1 and 0.4 s by the clock."""
    costs = start_up.measure(times=4)
    bare = costs["python -c pass"].processor
    assert costs["import hiddenphysics"].processor < 6 * bare
    assert costs["hiddenphysics --help"].processor < 30 * bare
    assert set(start_up.MOST_SECONDS) < set(costs)


def test_a_start_that_fails_is_told():
    with pytest.raises(RuntimeError, match="ended with 3"):
        start_up.start(["-c", "raise SystemExit(3)"])
