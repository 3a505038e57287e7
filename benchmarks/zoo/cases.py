"""A case: one species in one variant with one draw of points and noise; its data, and what is asked of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

import hiddenphysics as hp
from benchmarks.zoo.lines import LINES
from benchmarks.zoo.solver import solved
from benchmarks.zoo.spaces import SPACES
from benchmarks.zoo.species import AXES, Species
from benchmarks.zoo.systems import SYSTEMS
from benchmarks.zoo.waves import WAVES

SPECIES = (*LINES, *WAVES, *SYSTEMS, *SPACES)
NOISES = {"clean": 0.0, "1 %": 0.01, "5 %": 0.05}
"""Standard deviation of the noise, in those of the field."""


@dataclass(frozen=True)
class Variant:
    """What is done to a species' data before they are fitted.

    Attributes
    ----------
    noise
        Standard deviation, in those of the field.
    wrong
        Whether the equation is the one that does not hold.
    shift
        Added to all positions and times.
    units
        Of x, u and t: positions, values and times are multiplied by them.
    outliers
        Values per snapshot that are ten standard deviations of the field off.
    longer
        Factor on all gaps.
    clustered
        Whether points gather in two places.
    part
        Part of the region in which the points lie: what is outside flows in.
    """

    noise: float = 0.01
    wrong: bool = False
    shift: float = 0.0
    units: tuple[float, float, float] = (1.0, 1.0, 1.0)
    outliers: int = 0
    longer: float = 1.0
    clustered: bool = False
    part: float = 1.0


PLAIN = {name: Variant(noise=noise) for name, noise in NOISES.items()}
OTHERS = {
    "wrong": Variant(wrong=True),
    "shifted": Variant(shift=1000.0),
    "other units": Variant(units=(1e-3, 1e4, 60.0)),
    "outliers": Variant(outliers=2),
    "longer gap": Variant(longer=3.0),
    "clusters": Variant(clustered=True),
    "inflow": Variant(part=0.4),
}
VARIANTS = PLAIN | OTHERS

EXAMPLES = ("heat", "burgers", "kdv", "fisher", "porous_medium", "wave", "allen_cahn", "maxwell")
"""Species that are tried in every variant that they have."""


@dataclass(frozen=True)
class Case:
    """One fit."""

    species: Species
    variant: str
    draw: int

    @property
    def key(self) -> str:
        """Its name, the same in every run."""
        return f"{self.species.name}/{self.variant}/{self.draw}"

    @property
    def how(self) -> Variant:
        """What is done to the data."""
        return VARIANTS[self.variant]

    @property
    def text(self) -> str:
        """The equation that is asked."""
        return self.species.wrong if self.how.wrong else self.species.text

    @property
    def truth(self) -> dict[str, float]:
        """The parameters in the units of the data; none of an equation that does not hold."""
        if self.how.wrong:
            return {}
        powers = self.species.units or dict.fromkeys(self.species.truth, (0, 0, 0))
        units = np.array(self.how.units)
        return {
            p: float(value * np.prod(units ** np.array(powers[p]))) for p, value in self.species.truth.items()
        }

    @property
    def times(self) -> tuple[float, ...]:
        """Of the snapshots, before they are shifted and told in other units."""
        times = self.species.times
        return tuple(times[0] + self.how.longer * (t - times[0]) for t in times)

    @property
    def fields(self) -> tuple[str, ...]:
        """Those with data."""
        evolving = solved(self.species, self.times)[0].fields
        return self.species.measured or tuple(f for f in evolving if not f.endswith("_t"))

    def noise(self) -> dict[str, float]:
        """Field -> standard deviation of its noise, in the units of the data."""
        solver, solution = solved(self.species, self.times)
        sizes = {f: float(np.std(solution[:, row])) for row, f in enumerate(solver.fields)}
        return {f: self.how.units[1] * self.how.noise * sizes[f] for f in self.fields}

    def data(self) -> hp.Snapshots:
        """Return the snapshots: the solution at scattered points, with noise, as the variant has it."""
        species, how = self.species, self.how
        random = np.random.default_rng([self.draw, *self.key.encode()])
        times = self.times
        solver, solution = solved(species, times)
        sizes = [np.std(solution[:, row]) for row in range(len(solver.fields))]
        kept = self.fields
        snapshots = []
        for t, fields in zip(times, solution, strict=True):
            points = _points(species, how, random)
            values = solver.at(fields, points)
            values = values + how.noise * np.array(sizes)[:, None] * random.standard_normal(values.shape)
            for row in range(len(values)):
                values[row, random.permutation(len(points))[: how.outliers]] += 10 * how.noise * sizes[row]
            columns = {f: how.units[1] * values[solver.fields.index(f)] for f in kept}
            axes = {
                a: how.units[0] * (points[:, d] + how.shift) for d, a in enumerate(AXES[: points.shape[1]])
            }
            snapshots.append(hp.Snapshot(t=how.units[2] * (t + how.shift), **axes, **columns))
        return hp.Snapshots(snapshots)


def _points(species: Species, how: Variant, random: np.random.Generator) -> np.ndarray:
    """Scattered points (N, D) of one snapshot."""
    low, high = np.array(species.seen or species.box).T
    middle, half = 0.5 * (low + high), 0.5 * how.part * (high - low)
    shape = (species.points, len(species.box))
    if not how.clustered:
        return middle + half * random.uniform(-1.0, 1.0, shape)
    sides = np.where(random.uniform(size=shape) < 0.5, -0.5, 0.5)
    return middle + half * np.clip(sides + 0.12 * random.standard_normal(shape), -1.0, 1.0)


def cases(draws: int = 1, only: tuple[str, ...] = (), variants: tuple[str, ...] = ()) -> Iterator[Case]:
    """Yield every case: all species in every noise, the examples in every other variant that applies to them.

    Noises come one after the other, so that a run that is stopped has seen all species.
    """
    for draw in range(draws):
        for name in ("1 %", "clean", "5 %", *OTHERS):
            if variants and name not in variants:
                continue
            for species in SPECIES:
                if (not only or species.name in only) and _applies(species, name):
                    yield Case(species, name, draw)


def _applies(species: Species, name: str) -> bool:
    if name in PLAIN:
        return True
    has = {"wrong": bool(species.wrong), "other units": species.units is not None}
    return has.get(name, species.name in EXAMPLES)
