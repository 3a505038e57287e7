"""Compiled code: kept on disk for the next process, let go before a process is full of it."""

import os
import subprocess
import sys

import jax
import jax.numpy as jnp
import pytest

from hiddenphysics import compiled_code

USE = "import hiddenphysics.priors, jax, jax.numpy as jnp; print(jax.jit(lambda x: jnp.sin(x) + 1)(jnp.ones(3)).dtype)"


def test_compiled_functions_are_let_go_before_a_process_is_full(monkeypatch):
    traced = []

    @jax.jit
    def double(x):
        traced.append(x)
        return 2 * x

    double(jnp.ones(3))
    compiled_code.make_room()
    double(jnp.ones(3))
    assert len(traced) == 1
    monkeypatch.setattr(compiled_code, "FULLEST", 0.0)
    compiled_code.make_room()
    assert double(jnp.ones(3)).sum() == 6
    assert len(traced) == 2


@pytest.mark.skipif(sys.platform != "linux", reason="where a cache folder is told by XDG_CACHE_HOME")
@pytest.mark.parametrize("chosen", [False, True])
def test_the_library_keeps_compiled_code_on_disk_where_the_user_wants_it(tmp_path, chosen):
    environment = {k: v for k, v in os.environ.items() if k != compiled_code.CACHE_VARIABLE}
    environment["XDG_CACHE_HOME"] = str(tmp_path / "usual")
    folder = tmp_path / "usual" / "hiddenphysics" / "compiled"
    if chosen:
        folder = tmp_path / "chosen"
        environment |= {
            compiled_code.CACHE_VARIABLE: str(folder),
            "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
            "JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES": "-1",
        }
    run = subprocess.run(
        [sys.executable, "-c", USE], env=environment, capture_output=True, text=True, check=True
    )
    assert run.stdout.strip() == "float64"
    assert any(folder.iterdir())
    assert (tmp_path / "usual").exists() is not chosen
