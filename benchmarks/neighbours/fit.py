"""One fit by one program, and a file of them."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path


@dataclass(frozen=True)
class Job:
    """What is to be fitted: a noisy problem, by one program, from the pair at `index` or from all (gap 0)."""

    problem: str
    noise: float
    method: str
    gap: int
    index: int


@dataclass(frozen=True)
class Fit:
    """What one program found with one setting.

    Parameters
    ----------
    form
        ``"told"`` when the program knew the terms, ``"found"`` when it chose them from a library.
    values
        How many measured numbers it saw.
    estimates
        The parameters by name; of a term that was not found, 0.
    extra, missing
        Terms that it found too many or too few.
    seconds
        Wall clock of this fit alone, compilation included.
    answered
        False when the program itself said that the data do not determine the parameters, or failed.
    """

    job: Job
    form: str
    setting: str
    values: int
    estimates: dict[str, float]
    extra: tuple[str, ...]
    missing: tuple[str, ...]
    seconds: float
    answered: bool = True


def append(path: Path, fits: list[Fit]) -> None:
    """Add fits to a file, one line of JSON each."""
    with path.open("a") as file:
        file.writelines(json.dumps(asdict(fit)) + "\n" for fit in fits)


def load(path: Path) -> list[Fit]:
    """Read the fits of a file; none where there is no file yet."""
    if not path.exists():
        return []
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    return [
        Fit(
            **row | {"job": Job(**row["job"]), "extra": tuple(row["extra"]), "missing": tuple(row["missing"])}
        )
        for row in rows
    ]
