"""Sensors with errors of their own: y = (1 + g) u(x + d) + b + ε, columns of the data rows alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from hiddenphysics.errors import DataError
from hiddenphysics.models.flow.windows import Windows
from hiddenphysics.models.sensors import Sensors, Size

MOST_SENSORS = 400
"""Sensors with errors of their own: a factorisation of so many columns takes as long as a round of the flow."""

FEWEST_STOPS = 3
"""Snapshots that a sensor is seen in, on average, at least: of two, what is constant is a first state."""

FIRST_OFFSET, FIRST_POSITION, FIRST_GAIN = 0.03, 0.003, 0.01
"""First sizes, in units of the field, of the data's extent, and of one."""

NEEDED = 3.0
"""Log evidence from which on errors of sensors are needed: twenty to one."""

SMALLEST, LARGEST = 1e-3, 100.0
"""A learned size may lie that far below and above these."""


class Kind(NamedTuple):
    """One kind of error: ``offset`` and ``gain`` of a field, ``position`` along a coordinate; S columns.

    Attributes
    ----------
    what
        Which of the three.
    row, name
        Number and name of the measured field, or of the coordinate.
    """

    what: str
    row: int
    name: str


@partial(jax.tree_util.register_dataclass, data_fields=("whose",), meta_fields=("kinds", "count"))
@dataclass(frozen=True)
class Instruments:
    """Which row of which stop was read from which sensor.

    Attributes
    ----------
    whose
        (U, r) number of the sensor of every row, for the U sets of points of `Seen`; −1 for none.
    kinds, count
        The kinds of errors, in the order in which their columns stand, and the number S of sensors.
    """

    whose: Any
    kinds: tuple[Kind, ...]
    count: int

    def of_kind(self, errors: jax.Array, what: str) -> dict[int, jax.Array]:
        """Return the errors (S,) of a kind, by the number of the field or coordinate, out of all (E,)."""
        each = errors.reshape(len(self.kinds), self.count)
        return {kind.row: each[n] for n, kind in enumerate(self.kinds) if kind.what == what}

    def moved(self, waves: jax.Array, wavenumbers: tuple[Any, ...], errors: jax.Array) -> jax.Array:
        """Return `Seen.waves` (U, r, 2m) at the places where the sensors are thought to be.

        A shift by d turns the phase of every wave by k·d: exact, however far.
        """
        shifts = self.of_kind(errors, "position")
        if not shifts:
            return waves
        turns = sum(
            self._at_rows(shift)[..., None]
            * jnp.broadcast_to(wavenumbers[d], _modes_shape(wavenumbers)).ravel()
            for d, shift in shifts.items()
        )
        real, minus = jnp.split(waves, 2, axis=-1)
        cos, sin = jnp.cos(turns), jnp.sin(turns)
        return jnp.concatenate([real * cos + minus * sin, minus * cos - real * sin], axis=-1)

    def read(
        self,
        which: jax.Array,
        value: jax.Array,
        slopes: list[jax.Array],
        scale: jax.Array,
        errors: jax.Array,
        weights: jax.Array,
    ) -> tuple[jax.Array, jax.Array, jax.Array]:
        """Return what the sensors tell of values (G·r,), the factor (G·r,) by which they do, and columns (G·r, E).

        Parameters
        ----------
        which
            The set of points.
        value, slopes
            What the fields are at the sensors' places, and along every coordinate their derivatives, all in units of
            `scale` (G,), (1/size).
        errors
            (E,) as they are thought to be.
        weights
            (r,) that the rows were given, and values and slopes with them.
        """
        own = (self.whose[which][:, None] == jnp.arange(self.count)) * 1.0
        fields = scale.size
        gain, offset = jnp.ones((fields, own.shape[0])), jnp.zeros((fields, own.shape[0]))
        for g, some in self.of_kind(errors, "gain").items():
            gain = gain.at[g].add(own @ some)
        for g, some in self.of_kind(errors, "offset").items():
            offset = offset.at[g].add(scale[g] * weights * (own @ some))
        factor = gain.ravel()
        columns = []
        for kind in self.kinds:
            if kind.what == "position":
                columns.append((factor * slopes[kind.row])[:, None] * jnp.tile(own, (fields, 1)))
            else:
                here = jnp.zeros((fields, *own.shape))
                by = (
                    (scale[kind.row] * weights)[:, None]
                    if kind.what == "offset"
                    else value.reshape(fields, -1)[kind.row][:, None]
                )
                columns.append(here.at[kind.row].set(by * own).reshape(-1, self.count))
        return factor * value + offset.ravel(), factor, jnp.concatenate(columns, axis=1)

    def _at_rows(self, errors: jax.Array) -> jax.Array:
        """Errors (U, r) of the rows' sensors, 0 where there is none."""
        whose = jnp.asarray(self.whose)
        return jnp.where(whose >= 0, errors[jnp.maximum(whose, 0)], 0.0)


def _modes_shape(wavenumbers: tuple[Any, ...]) -> tuple[int, ...]:
    return tuple(np.broadcast_shapes(*(k.shape for k in wavenumbers)))


def places_of(windows: Windows) -> np.ndarray:
    """Return where sensors stand, (S, D): the points of all snapshots, each once."""
    return np.unique(np.concatenate([s.points for window in windows.windows for s in window]), axis=0)


def numbers_of(places: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Return which of the sensors (S, D) stand at points (N, D); −1 for none."""
    where = {tuple(place): number for number, place in enumerate(places.tolist())}
    return np.array([where.get(tuple(point), -1) for point in points.tolist()], int)


def kinds_of(windows: Windows) -> tuple[Kind, ...]:
    """Return the kinds of errors that were asked for."""
    sensors = windows.sensors
    if not sensors:
        return ()
    fields, sides = list(enumerate(windows.names)), list(enumerate(windows.equation.coordinates))
    return (
        *(Kind("offset", *field) for field in fields if sensors.offsets),
        *(Kind("position", *side) for side in sides if sensors.position_error),
        *(Kind("gain", *field) for field in fields if sensors.gains),
    )


class Sized(NamedTuple):
    """A kind's name among the learned numbers, its first size, and the limits of it."""

    name: str
    first: float
    low: float
    high: float


def size_of(windows: Windows, kind: Kind) -> Sized:
    """Return name, first size and limits of a kind of errors, in natural units."""
    sensors = windows.sensors or Sensors()
    asked: dict[str, Size] = {
        "offset": sensors.offsets,
        "position": sensors.position_error,
        "gain": sensors.gains,
    }
    if kind.what == "position":
        first = FIRST_POSITION * windows.region.extent[kind.row]
    else:
        first = FIRST_OFFSET * windows.units[kind.row] if kind.what == "offset" else FIRST_GAIN
    name, given = f"{kind.name}.{kind.what}", asked[kind.what]
    if given is True:
        return Sized(name, float(first), SMALLEST * float(first), LARGEST * float(first))
    return Sized(name, float(given), float(given), float(given))


def position_sizes(windows: Windows) -> tuple[float, ...]:
    """Return along every coordinate how far off sensors may stand, to begin with; 0 where they stand as is said."""
    sizes = {kind.row: size_of(windows, kind).first for kind in kinds_of(windows) if kind.what == "position"}
    return tuple(sizes.get(side, 0.0) for side in range(len(windows.equation.coordinates)))


@dataclass(frozen=True)
class SensorErrors:
    """What was learned about the sensors.

    Attributes
    ----------
    places
        (S, D) where they stand, as stated.
    kinds, errors
        The kinds of errors, and (E,) their posterior means, kind by kind.
    sizes, worth
        Of every kind the standard deviation of its prior, and by how much the log evidence would fall without it.
    """

    places: np.ndarray
    kinds: tuple[Kind, ...]
    errors: np.ndarray
    sizes: tuple[float, ...]
    worth: tuple[float, ...]

    @classmethod
    def of(
        cls, windows: Windows, errors: np.ndarray, worth: Mapping[str, tuple[float, float]]
    ) -> SensorErrors | None:
        """Return what the end of a fit says; None where sensors have no errors.

        `worth` has size and log evidence of every kind, by name.
        """
        kinds = kinds_of(windows)
        if not kinds:
            return None
        sizes, gains = zip(*(worth[size_of(windows, kind).name] for kind in kinds), strict=True)
        return cls(places_of(windows), kinds, np.asarray(errors), sizes, gains)

    def columns(self, coordinates: Sequence[str], deviations: np.ndarray) -> dict[str, np.ndarray]:
        """Return places and errors with their deviations (E,) by name: ``x``, ``u_offset``, ``u_offset_std``."""
        table = {c: self.places[:, d] for d, c in enumerate(coordinates)}
        for kind, mean, spread in zip(
            self.kinds,
            self.errors.reshape(len(self.kinds), -1),
            deviations.reshape(len(self.kinds), -1),
            strict=True,
        ):
            table |= {f"{kind.name}_{kind.what}": mean, f"{kind.name}_{kind.what}_std": spread}
        return table

    def sentence(self) -> str:
        """Say which errors there are, and whether the data ask for them."""
        return "; ".join(
            f"{kind.what}s of {kind.name} of about {size:.2g}, "
            + (
                f"worth {worth:.1f} of log evidence"
                if worth > NEEDED
                else f"not needed ({worth:+.1f} of log evidence)"
            )
            for kind, size, worth in zip(self.kinds, self.sizes, self.worth, strict=True)
        )

    def of_kind(self, what: str, points: np.ndarray) -> dict[int, np.ndarray]:
        """Return a kind's errors at points (N, D), by field or coordinate; 0 where no sensor stands."""
        numbers = numbers_of(self.places, points)
        each = self.errors.reshape(len(self.kinds), -1)
        return {
            kind.row: np.where(numbers >= 0, each[n][numbers], 0.0)
            for n, kind in enumerate(self.kinds)
            if kind.what == what
        }

    def true_places(self, points: np.ndarray) -> np.ndarray:
        """Return where the sensors at points (N, D) are thought to be."""
        shifts = self.of_kind("position", points)
        return np.asarray(points) + np.stack(
            [shifts.get(d, np.zeros(len(points))) for d in range(points.shape[1])], axis=1
        )

    def told(self, field: int, points: np.ndarray, values: np.ndarray) -> np.ndarray:
        """Return what the sensors at points (N, D) make of a measured field's values (N,) at their true places."""
        gain, offset = (self.of_kind(what, points).get(field, 0.0) for what in ("gain", "offset"))
        return np.asarray((1 + gain) * values + offset)


def check_sensors(windows: Windows) -> None:
    """Refuse errors of sensors where points do not come back, or are too many."""
    if not windows.sensors:
        return
    count, seen = len(places_of(windows)), int(windows.counts.sum())
    if seen < FEWEST_STOPS * count:
        raise DataError(
            f"Errors of sensors were asked for, but {count} different places hold {seen} values of a field: a sensor "
            f"has to be seen at the same place at {FEWEST_STOPS} times at least. Leave out sensors= (--sensor-offsets, "
            "--position-error, --sensor-gains), or give the recording of sensors that stay where they are."
        )
    if count > MOST_SENSORS:
        raise DataError(
            f"Errors of sensors were asked for at {count} places; at most {MOST_SENSORS} sensors may have errors of "
            "their own. Give fewer points, or leave out sensors=."
        )
