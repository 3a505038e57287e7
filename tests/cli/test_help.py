"""Help is quick: it loads nothing that computes."""

import subprocess
import sys

import pytest


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
