"""The wheel and the source archive: what lies in them, what they declare, and the demo from what they install."""

from __future__ import annotations

import email
import json
import os
import re
import subprocess
import sys
import sysconfig
import tarfile
import tomllib
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "hiddenphysics"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
pytestmark = pytest.mark.xdist_group("archives")  # built once


def ran(*words: str | Path, folder: Path) -> str:
    """Run a program away from the source tree, as one that knows nothing of it, and return what it prints."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        [str(word) for word in words],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def archives(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Return the wheel and the source archive, built from the source tree."""
    folder = tmp_path_factory.mktemp("dist")
    ran(sys.executable, "-m", "hatchling", "build", "-d", folder, folder=ROOT)
    (wheel,), (source,) = folder.glob("*.whl"), folder.glob("*.tar.gz")
    return wheel, source


def shipped() -> set[str]:
    """Return what has to be in the package: everything below it but what Python makes there."""
    files = (p for p in PACKAGE.rglob("*") if p.is_file() and "__pycache__" not in p.parts)
    return {str(path.relative_to(PACKAGE.parent)) for path in files}


def test_the_wheel_holds_the_package_and_nothing_else(archives: tuple[Path, Path]) -> None:
    with zipfile.ZipFile(archives[0]) as wheel:
        names = {name for name in wheel.namelist() if ".dist-info/" not in name}
    assert names == shipped()
    assert "hiddenphysics/datasets/files/cylinder_extract.npz" in names
    assert "hiddenphysics/py.typed" in names


def test_the_source_archive_holds_what_builds_and_tests_it(archives: tuple[Path, Path]) -> None:
    with tarfile.open(archives[1]) as source:
        names = {name.partition("/")[2] for name in source.getnames()}
    assert {f"src/{name}" for name in shipped()} <= names
    wanted = {"pyproject.toml", "README.md", "LICENSE", "Makefile", "tests/conftest.py", "docs/index.md"}
    assert wanted <= names
    assert not [name for name in names if name.startswith((".venv", "site/", "output/"))]


def test_extras_are_declared(archives: tuple[Path, Path]) -> None:
    with zipfile.ZipFile(archives[0]) as wheel:
        (name,) = (n for n in wheel.namelist() if n.endswith(".dist-info/METADATA"))
        told = email.message_from_bytes(wheel.read(name))
    assert set(told.get_all("Provides-Extra")) == set(PROJECT["optional-dependencies"])
    assert {"arviz", "plot", "sklearn"} <= set(PROJECT["optional-dependencies"])
    needed = told.get_all("Requires-Dist")
    for extra, package in (("plot", "matplotlib"), ("sklearn", "scikit-learn"), ("arviz", "arviz")):
        assert [n for n in needed if n.startswith(package) and re.search(rf"extra == '{extra}'", n)]
    unconditional = {re.split(r"[<>=!~ ;\[]", n)[0] for n in needed if "extra ==" not in n}
    assert unconditional == {re.split(r"[<>=!~ ;\[]", n)[0] for n in PROJECT["dependencies"]}


def installed(archive: Path, folder: Path) -> Path:
    """Install an archive into an environment of its own, which borrows this one's other packages; return its programs.

    Only packages are borrowed: the way in which the source tree stands in this environment is a .pth file, and those
    count in an environment's own folder alone.
    """
    venv.create(folder, with_pip=False)
    programs = folder / ("Scripts" if os.name == "nt" else "bin")
    python = programs / Path(sys.executable).name
    places = {"base": str(folder), "platbase": str(folder)}
    own = Path(sysconfig.get_path("purelib", "venv", vars=places))
    (own / "borrowed.pth").write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")
    options = ("--no-deps", "--no-index", "--no-build-isolation", "--ignore-installed", "--quiet")
    ran(python, "-m", "pip", "install", *options, "--disable-pip-version-check", archive, folder=folder)
    return programs


def test_the_wheel_runs_the_demo_where_it_is_installed(archives: tuple[Path, Path], tmp_path: Path) -> None:
    programs = installed(archives[0], tmp_path / "env")
    where = ran(
        programs / "python",
        "-c",
        "import hiddenphysics; print(hiddenphysics.__file__)",
        folder=tmp_path,
    )
    assert Path(where.strip()).is_relative_to(tmp_path)
    told = json.loads(ran(programs / "hiddenphysics", "demo", "--json", "--quiet", folder=tmp_path))
    assert told["status"] == "converged"
    for name, truth in {"a": 1.0, "b": 0.1}.items():
        low, high = told["parameters"][name]["interval95"]
        assert low < truth < high


def test_the_source_archive_installs_the_same_files(archives: tuple[Path, Path], tmp_path: Path) -> None:
    """So the demo that the wheel has run runs from it, too."""
    programs = installed(archives[1], tmp_path / "env")
    own = next((tmp_path / "env").rglob("hiddenphysics/__init__.py")).parent
    for name in shipped():
        path = own.parent / name
        assert path.read_bytes() == (PACKAGE.parent / name).read_bytes(), name
    assert "Usage" in ran(programs / "hiddenphysics", "--help", folder=tmp_path)
