"""What a user does in a shell, each command in a process of its own: what it says, and how it ends."""

from __future__ import annotations

import shlex
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from hiddenphysics.demo import EQUATION

MOST_LINES = 4
"""Lines that are shown of what a command says."""
OPTIONS = f"""[identify]
pde = "{EQUATION}"
quiet = true
"""
"""A file of options for repeated work."""


@dataclass(frozen=True)
class Command:
    """A command, the exit code that it has to end with, and words that have to be in what it says."""

    line: str
    code: int
    says: str


PDE = f'--pde "{EQUATION}"'
COMMANDS = (
    Command("--version", 0, "0.1"),
    Command("demo --csv burgers.csv --json", 0, '"status": "converged"'),
    Command("explain 'u_t - b*u_xx = 0' --json", 0, '"parameters"'),
    Command(f"identify burgers.csv {PDE} --verbose", 0, "0.974(33)"),
    Command(f"identify burgers.csv {PDE} --every 2", 4, "snapshot"),
    Command("identify burgers.csv --json", 0, '"status": "converged"'),  # by the file of options
    Command("identify burgers.csv --pde 'u_t + a*u*(u_x = 0'", 3, "never closed"),
    Command("identify burgers.csv --pde 'u_t + a*u*(u_x = 0' --json", 3, '"kind": "equation"'),
    Command(f"identify nowhere.csv {PDE}", 4, "nowhere.csv"),
    Command(f"identify picture.csv {PDE}", 4, "is no text, whatever its name says"),
    Command(f"identify huge.csv {PDE}", 4, "huge.csv"),
    Command(f"identify burgers.csv {PDE} --speed 7", 2, "--speed"),
)


def prepare(folder: Path) -> None:
    """Put what is no table, what is very large, and the file of options into a folder."""
    (folder / "picture.csv").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(range(256)))
    (folder / "hiddenphysics.toml").write_text(OPTIONS, encoding="utf-8")
    with (folder / "huge.csv").open("wb") as file:
        file.truncate(500_000_000)


def report(folder: Path) -> Iterator[str]:
    """Run the commands one after the other; yield what each says."""
    folder.mkdir(parents=True, exist_ok=True)
    prepare(folder)
    wrong = 0
    for command in COMMANDS:
        words = [sys.executable, "-m", "hiddenphysics", *shlex.split(command.line)]
        done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)
        said = done.stdout + done.stderr
        is_right = done.returncode == command.code and command.says in said
        wrong += not is_right
        lines = "\n".join(f"    {line:.140}" for line in said.strip().splitlines()[-MOST_LINES:])
        verdict = "as it should" if is_right else f"WRONG: {command.code} and {command.says!r} were expected"
        yield f"$ hiddenphysics {command.line}\n{lines}\n    [exit code {done.returncode}, {verdict}]"
    yield f"{len(COMMANDS)} commands, {wrong} wrong"
