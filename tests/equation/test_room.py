"""Rules for the room itself."""

from __future__ import annotations

import ast
import doctest
import importlib
from pathlib import Path

import pytest

import hiddenphysics.equation

FILES = sorted(Path(hiddenphysics.equation.__file__).parent.glob("*.py"))
FORBIDDEN = {"eval", "exec", "sympify", "parse_expr", "lambdify", "S"}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_nothing_is_evaluated_and_no_array_library_is_imported(path):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call):
            name = getattr(node.func, "attr", getattr(node.func, "id", ""))
            assert name not in FORBIDDEN
            of_sympy = isinstance(node.func, ast.Attribute) and ast.unparse(node.func.value) == "sympy"
            assert not (of_sympy and name in {"Symbol", "Function"}) or path.stem == "names"
        if isinstance(node, ast.Import | ast.ImportFrom):
            modules = (
                [node.module or ""] if isinstance(node, ast.ImportFrom) else [a.name for a in node.names]
            )
            assert not any(module.split(".")[0] in {"jax", "numpy", "scipy"} for module in modules)
            names = {alias.name for alias in node.names} if modules[0].startswith("sympy") else set()
            assert not names & {"Symbol", "Function"}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_examples_in_docstrings(path):
    name = "hiddenphysics.equation" + ("" if path.stem == "__init__" else f".{path.stem}")
    assert doctest.testmod(importlib.import_module(name)).failed == 0
