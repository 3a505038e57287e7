"""Traced programs on disk: the same numbers, no second tracing, and never another function's or another shape's."""

import os
import subprocess
import sys
import zlib
from dataclasses import dataclass
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from hiddenphysics import compiled_code, kept_programs
from hiddenphysics.compiled_code import CACHE_VARIABLE
from hiddenphysics.equation import Equation
from hiddenphysics.gaussian import Reduced
from hiddenphysics.kept_programs import NamelessError, named, named_tree
from hiddenphysics.models.flow.program import Program


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(kept_programs, "_folder", lambda: tmp_path / "traced")
    return tmp_path / "traced"


def decorated(traced, factor=2.0):
    def scaled(x, power):
        traced.append(x)
        return (factor * x**power, None, [jnp.sum(x)])

    scaled.__module__, scaled.__qualname__ = "hiddenphysics.somewhere", "scaled"
    return compiled_code.compiled(static_argnames="power")(scaled)


def test_what_was_traced_is_read_back_by_the_next_process(folder):
    traced, x = [], np.arange(4.0)
    first = decorated(traced)(x, power=2)
    again = decorated(traced)(x, power=2)  # another decoration knows nothing of the first, as another process
    assert len(traced) == 1
    assert len(list(folder.iterdir())) == 1
    assert type(again) is tuple
    assert type(again[2]) is list
    assert again[1] is None
    assert np.array_equal(first[0], again[0])
    assert np.array_equal(again[0], 2.0 * x**2)
    assert float(again[2][0]) == 6.0


def test_other_powers_shapes_and_types_are_other_programs(folder):
    traced, x = [], np.arange(4.0)
    scaled = decorated(traced)
    for argument, power in (
        (x, 2),
        (x, 3),
        (x[:2], 2),
        (x.astype(np.float32), 2),
        (1.5, 2),
        (np.float64(1.5), 2),
    ):
        assert np.allclose(scaled(argument, power=power)[0], 2.0 * np.asarray(argument) ** power)
    assert len(traced) == len(list(folder.iterdir())) == 6


@pytest.mark.parametrize("damage", [b"", b"no program", None])
def test_a_damaged_file_is_made_anew(folder, damage):
    traced, x = [], np.arange(4.0)
    decorated(traced)(x, power=2)
    (path,) = folder.iterdir()
    path.write_bytes(path.read_bytes()[:-9] if damage is None else damage)
    assert np.array_equal(decorated(traced)(x, power=2)[0], 2.0 * x**2)
    assert len(traced) == 2
    decorated(traced)(x, power=2)
    assert len(traced) == 2


@pytest.mark.parametrize("place", ["os:system", "builtins:eval", "hiddenphysics.errors:DataError"])
def test_a_file_makes_nothing_but_tuples(folder, place):
    traced, x = [], np.arange(4.0)
    decorated(traced)(x, power=2)
    (path,) = folder.iterdir()
    words, _, body = zlib.decompress(path.read_bytes()).partition(b"\n")
    assert b"builtins:tuple" in words
    path.write_bytes(zlib.compress(words.replace(b"builtins:tuple", place.encode()) + b"\n" + body))
    assert np.array_equal(decorated(traced)(x, power=2)[0], 2.0 * x**2)
    assert len(traced) == 2


def test_another_source_is_another_program(folder, monkeypatch):
    traced, x = [], np.arange(4.0)
    decorated(traced)(x, power=2)
    monkeypatch.setattr(kept_programs, "_circumstances", lambda: ("another version",))
    assert np.array_equal(decorated(traced, factor=3.0)(x, power=2)[0], 3.0 * x**2)
    assert len(traced) == 2


def test_where_nothing_can_be_written_everything_works(tmp_path, monkeypatch):
    blocked = tmp_path / "a file"
    blocked.write_text("in the way")
    monkeypatch.setattr(kept_programs, "_folder", lambda: blocked / "traced")
    assert np.array_equal(decorated([])(np.arange(4.0), power=2)[0], 2.0 * np.arange(4.0) ** 2)


def test_too_many_programs_make_room(folder, monkeypatch):
    monkeypatch.setattr(kept_programs, "MOST", 4)
    scaled = decorated([])
    for count in range(1, 12):
        scaled(np.ones(count), power=2)
    assert len(list(folder.iterdir())) <= 4


class Pair(NamedTuple):
    left: object
    right: object


@dataclass(frozen=True)
class OfAUser:
    power: int


def test_what_this_package_does_not_define_has_no_name(folder):
    with pytest.raises(NamelessError):
        named(OfAUser(2))
    with pytest.raises(NamelessError):
        named_tree(jax.tree.structure(Pair(1.0, 2.0)))
    traced = []
    power = compiled_code.compiled(static_argnames="kernel")(
        lambda x, kernel: traced.append(x) or x**kernel.power
    )
    assert power(np.arange(3.0), kernel=OfAUser(2)).tolist() == [0.0, 1.0, 4.0]
    assert power(np.arange(3.0), kernel=OfAUser(2)).tolist() == [0.0, 1.0, 4.0]
    assert len(traced) == 1
    assert not folder.exists()


def test_equations_are_told_apart_by_what_they_say():
    def words(text, **others):
        return repr(named(Program(Equation.parse(text, **others), (16,), (4,))))

    heat = words("u_t = a*u_xx")
    assert heat == words("u_t = a*u_xx")
    assert len({heat, words("u_t = a*u_xxx"), words("u_t = b*u_xx"), words("u_t = 2*u_xx")}) == 4
    assert words("u_t = a*u_xx + c*u", constants={"c": 1.0}) != words(
        "u_t = a*u_xx + c*u", constants={"c": 1.5}
    )


def test_trees_are_told_apart():
    full = Reduced(*np.ones(len(Reduced._fields)))
    trees = [full, full._replace(known=None), tuple(full), list(full), {"a": 1.0}, {"b": 1.0}]
    assert len({repr(named_tree(jax.tree.structure(tree))) for tree in trees}) == len(trees)


def test_what_is_read_back_checks_its_arguments_as_compiled_code_does(folder):
    x = np.arange(4.0)
    decorated([])(x, power=2)
    again = decorated([])
    assert again(jnp.asarray(x), power=2)[0].tolist() == [0.0, 2.0, 8.0, 18.0]
    assert again(2 * x, power=2)[0].tolist() == [0.0, 8.0, 32.0, 72.0]
    assert len(list(folder.iterdir())) == 1


def test_factorisations_work_in_a_process_that_lowers_nothing(tmp_path):
    """LAPACK is looked up when JAX lowers a factorisation; a program that is read back must not miss it.

    Nor must it miss its own code, which XLA forgets where JAX has read it from its folder: JAX knows the function here.
    """
    program = """
import sys, numpy as np, hiddenphysics.kept_programs as kept
if sys.argv[1:]:
    kept._folder = lambda: None
from hiddenphysics.gaussian import evidence, reduce
rng = np.random.default_rng(0)
data = reduce(rng.normal(size=(1, 9, 4)), np.zeros((1, 9, 0)), rng.normal(size=(1, 9)), np.asarray(9.0))
print(float(evidence(data, np.ones(4), np.asarray(0.5))))
"""
    environment = os.environ | {
        CACHE_VARIABLE: str(tmp_path),
        "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
        "JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES": "-1",
    }
    said = [
        subprocess.run(
            [sys.executable, "-c", program, *words],
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for words in (["by JAX alone"], [], [])
    ]
    assert len(list((tmp_path / kept_programs.FOLDER).iterdir())) == 2
    assert said[0] == said[1] == said[2]


def test_what_a_user_asks_of_jax_is_not_passed_over(folder):
    traced = []
    scaled, x = decorated(traced, factor=jnp.inf), jnp.zeros(2)
    assert np.isnan(scaled(x, power=2)[0]).all()
    with jax.debug_nans(True), pytest.raises(FloatingPointError):
        scaled(x, power=2)
    with jax.disable_jit():
        scaled(x, power=2)
    assert not isinstance(traced[-1], jax.core.Tracer)
    assert len(list(folder.iterdir())) == 1
