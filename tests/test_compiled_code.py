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

    ours = compiled_code.compiled()(lambda x: traced.append(x) or 2 * x)
    for one in (double, ours):
        one(jnp.ones(3))
    compiled_code.make_room()
    for one in (double, ours):
        one(jnp.ones(3))
    assert len(traced) == 2
    monkeypatch.setattr(compiled_code, "FULLEST", 0.0)
    compiled_code.make_room()
    for one in (double, ours):
        assert one(jnp.ones(3)).sum() == 6
    assert len(traced) == 4


@pytest.mark.parametrize("once", [False, True])
def test_a_compiled_function_is_itself_alone_and_a_part_of_another(once):
    traced = []

    @compiled_code.compiled(once=once, static_argnames="power")
    def raised(x, power):
        traced.append(x)
        return x**power

    x = jnp.arange(3.0)
    assert raised(x, power=2).tolist() == raised(x, power=2).tolist() == [0.0, 1.0, 4.0]
    assert len(traced) == 1
    assert jax.jit(lambda x: 1 + raised(x, power=3))(x).tolist() == [1.0, 2.0, 9.0]
    assert jax.vmap(jax.grad(lambda x: raised(x, power=2)))(x).tolist() == [0.0, 2.0, 4.0]


def test_options_that_this_compiler_does_not_know_are_left_out(monkeypatch):
    monkeypatch.setattr(compiled_code, "QUICK", {"xla_of_another_year": True})
    assert compiled_code.known({"xla_of_another_year": True, "xla_cpu_enable_fast_math": False}) == {
        "xla_cpu_enable_fast_math": False
    }
    assert compiled_code.compiled()(lambda x: 2 * x)(jnp.ones(2)).tolist() == [2.0, 2.0]


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
