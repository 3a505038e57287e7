"""Imports flow one way: from the user's words on the left to the pictures and the command line on the right."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1] / "src" / "hiddenphysics"

# A room may import itself and the rooms before it. Rooms on one line may not import each other.
ORDER = [
    {"errors"},
    {"writer"},
    {"kept_programs"},
    {"compiled_code"},
    {"registry", "together", "workers"},
    {"loader"},
    {"operators"},
    {"equation", "snapshots"},
    {"priors"},
    {"spectral"},
    {"gaussian", "simulate"},
    {"learning"},
    {"models"},
    {"result"},
    {"datasets", "fit_watch"},
    {"identification"},
    {"batch", "estimator", "rival_equations"},
    {"demo", "reproduction"},
    {"studio"},
    {"cli"},
    {"__main__"},
]
RANK = {room: rank for rank, rooms in enumerate(ORDER) for room in rooms}


DOORS = {"simulate.exact", "simulate.random_motion", "simulate.cylinder"}
"""Faces of their own inside a room: data generators that need no JAX."""


def imported_modules(path: Path) -> list[str]:
    """Modules of ours that a file imports when it runs, in functions too; those for type checkers only do not count."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    skipped = {
        id(node)
        for branch in ast.walk(tree)
        if isinstance(branch, ast.If) and "TYPE_CHECKING" in ast.unparse(branch.test)
        for statement in branch.body
        for node in ast.walk(statement)
    }
    modules = []
    for node in ast.walk(tree):
        if id(node) in skipped:
            continue
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path} uses a relative import"
            modules.append(node.module or "")
            modules += [
                f"{node.module}.{alias.name}" for alias in node.names if node.module == "hiddenphysics"
            ]
        elif isinstance(node, ast.Import):
            modules += [alias.name for alias in node.names]
    ours = [
        module.removeprefix("hiddenphysics.") for module in modules if module.startswith("hiddenphysics.")
    ]
    return [module for module in ours if module.split(".")[0] in RANK]


def files() -> list[Path]:
    return [p for p in sorted(ROOT.rglob("*.py")) if p != ROOT / "__init__.py"]


def room_of(path: Path) -> str:
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


def test_every_room_has_its_place():
    assert {room_of(p) for p in files()} <= set(RANK)


@pytest.mark.parametrize("path", files(), ids=lambda p: str(p.relative_to(ROOT)))
def test_imports_flow_one_way(path):
    room = room_of(path)
    for other in {module.split(".")[0] for module in imported_modules(path)} - {room}:
        assert RANK[other] < RANK[room], f"{room} imports {other}, which stands to its right or beside it"


@pytest.mark.parametrize("path", files(), ids=lambda p: str(p.relative_to(ROOT)))
def test_rooms_are_entered_by_their_faces(path):
    """What another room imports stands in `__init__`: `from hiddenphysics.priors import Matern`."""
    for module in imported_modules(path):
        if module.split(".")[0] != room_of(path):
            assert "." not in module or module in DOORS, f"{module} is another room's own business"


def test_no_module_name_stands_in_two_rooms():
    names = [p.name for p in files() if p.name != "__init__.py"]
    assert sorted({name for name in names if names.count(name) > 1}) == []


def test_importing_the_package_is_quick_and_silent():
    code = "import sys, hiddenphysics; print(sorted({'jax', 'sympy', 'pandas', 'scipy'} & set(sys.modules)))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"
    assert run.stderr == ""
