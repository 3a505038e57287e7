"""The flow's posterior as plain data and arrays, and what these must look like before one is made of them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from hiddenphysics.equation import Equation
from hiddenphysics.errors import DataError
from hiddenphysics.gaussian import Belief
from hiddenphysics.loader import Mismatch, finite, integer, listing, mapping, one_of, record, text
from hiddenphysics.models.flow.instruments import Kind, SensorErrors
from hiddenphysics.models.flow.latent import Latent
from hiddenphysics.models.flow.learned import LearnedFlow
from hiddenphysics.models.flow.program import Program
from hiddenphysics.spectral import Driving, Features, Gauge, Grid, groups_of, process_count

PLACE = "what the flow has learned"

LARGEST = 1e150
"""Beyond, products of two numbers overflow: no fit has learned such a one."""

NEVER = 1e100
"""Time of a knot that stands for nothing, in a file."""


def pack(learned: LearnedFlow) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Return a posterior as JSON-ready data and named arrays; `unpack` takes them back."""
    plain = {
        "values": dict(zip(learned.equation.parameters, learned.parameters.tolist(), strict=True)),
        "units": dict(learned.units),
        "span": learned.span,
        "dt": learned.dt,
        "box": [list(side) for side in learned.features.grid.box],
        "shape": list(learned.features.grid.shape),
        "waves": list(learned.features.waves),
        "outside": list(learned.program.outside),
        "history": learned.program.history,
        "impulses": learned.program.impulses,
        "steady": learned.program.steady,
        "noise": learned.belief.noise,
        "whole": learned.whole,
        "worth": dict(learned.worth),
        "edges": learned.edges,
    }
    arrays = {
        "covariance": learned.belief.covariance,
        "windows": learned.windows,
        "stops": learned.stops,
        "owners": learned.owners,
        "z": np.asarray(learned.latent.z),
        "envelope": np.asarray(learned.latent.gauge.envelope),
        "ends": np.asarray(learned.latent.ends),
    } | {name: getattr(learned.belief, name) for name in ("A", "B", "rest", "spectrum", "known")}
    if learned.latent.gauge.places is not None:
        arrays["places"] = np.asarray(learned.latent.gauge.places)
    if learned.latent.padding is not None:
        arrays["padding"] = np.asarray(learned.latent.padding)
    if learned.latent.history is not None:
        arrays["history"] = np.asarray(learned.latent.history)
    if learned.latent.driving is not None:
        arrays["knots"] = np.nan_to_num(np.asarray(learned.latent.driving.knots), posinf=NEVER)
        arrays["driving"] = np.asarray(learned.latent.driving.coefficients)
    if learned.latent.places is not None:
        arrays["places_outside"] = np.asarray(learned.latent.places)
    if learned.belief.precision is not None:
        arrays["precision"] = learned.belief.precision
    if learned.sensors is not None:
        plain["sensors"] = [list(kind) for kind in learned.sensors.kinds]
        plain["sensors_worth"] = list(learned.sensors.worth)
        plain["sensors_sizes"] = list(learned.sensors.sizes)
        arrays |= {"places_of_sensors": learned.sensors.places, "errors_of_sensors": learned.sensors.errors}
    return plain, arrays


def unpack(equation: Equation, plain: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> LearnedFlow:
    """Return what `pack` has packed."""
    grid = Grid(tuple((float(a), float(b)) for a, b in plain["box"]), tuple(plain["shape"]))
    features = Features(grid, tuple(plain["waves"]))
    gauge = Gauge(arrays["envelope"], arrays.get("places"))
    driving = Driving(arrays["knots"], arrays["driving"]) if "driving" in arrays else None
    outside = arrays.get("padding"), arrays.get("places_outside")
    latent = Latent(arrays["z"], gauge, arrays["ends"], *outside, driving, arrays.get("history"))
    windows = np.asarray(arrays["windows"])
    return LearnedFlow(
        equation=equation,
        parameters=np.array([plain["values"][name] for name in equation.parameters]),
        units=dict(plain["units"]),
        windows=windows,
        stops=np.asarray(arrays.get("stops", windows[:, None])),
        owners=np.asarray(arrays.get("owners", np.zeros(len(windows), int))),
        whole=bool(plain.get("whole", True)),
        span=float(plain["span"]),
        dt=float(plain["dt"]),
        program=replace(
            Program.of(equation, features, tuple(plain.get("outside", ())), plain.get("history", 0)),
            # Before it was said, all that came in did so at once.
            impulses=bool(plain.get("impulses", True) and plain.get("outside")),
            steady=bool(plain.get("steady", True) and plain.get("outside")),
        ),
        features=features,
        latent=latent,
        belief=Belief(
            np.asarray(arrays["A"]),
            np.asarray(arrays["B"]),
            np.asarray(arrays["rest"]),
            np.asarray(arrays["spectrum"]),
            float(plain["noise"]),
            np.asarray(arrays["known"]),
            np.asarray(arrays["covariance"]),
            arrays.get("precision"),
        ),
        sensors=_unpacked_sensors(plain, arrays),
        worth=dict(plain.get("worth", {})),
        edges=plain.get("edges", ""),
    )


def _unpacked_sensors(plain: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> SensorErrors | None:
    if not plain.get("sensors"):
        return None
    kinds = tuple(Kind(what, row, name) for what, row, name in plain["sensors"])
    return SensorErrors(
        np.asarray(arrays["places_of_sensors"]),
        kinds,
        np.asarray(arrays["errors_of_sensors"]),
        tuple(plain["sensors_sizes"]),
        tuple(plain["sensors_worth"]),
    )


def check_packed(
    equation: Equation, experiments: int, plain: Mapping[str, Any], arrays: Mapping[str, np.ndarray]
) -> None:
    """Refuse values and shapes that do not belong together; W windows, K amplitudes, q rows, P parameters.

    Of every one of so many experiments there is a window.
    """
    sides, unknowns = len(equation.coordinates), len(equation.parameters)
    record(
        {
            "values": mapping(_real),
            "units": mapping(_positive),
            "span": finite,
            "dt": _positive,
            "box": listing(listing(finite, length=2), length=sides),
            "shape": listing(integer, length=sides),
            "waves": listing(integer, length=sides),
            "noise": _positive,
        },
        {
            "outside": listing(integer),
            "whole": one_of((True, False)),
            "worth": mapping(finite),
            "sensors": listing(_kind),
            "sensors_worth": listing(finite),
            "sensors_sizes": listing(finite),
            "edges": text,
            "history": integer,
            "impulses": one_of((True, False)),
            "steady": one_of((True, False)),
        },
    )(dict(plain), PLACE)
    if not set(equation.parameters) <= set(plain["values"]):
        raise Mismatch(
            list(plain["values"]), f"{PLACE}.values", f"one for each of {', '.join(equation.parameters)}"
        )
    if any(not 0 < 2 * waves < points for waves, points in zip(plain["waves"], plain["shape"], strict=True)):
        raise Mismatch(plain["waves"], f"{PLACE}.waves", "some waves, and fewer than half the points,")
    kinds = len(plain.get("sensors", ()))
    lengths: dict[str, int] = {"D": sides}
    if kinds:
        _agree("places_of_sensors", arrays, "SD", lengths)
        lengths["E"] = kinds * lengths["S"]
        if len(plain.get("sensors_worth", ())) != kinds or len(plain.get("sensors_sizes", ())) != kinds:
            raise Mismatch(plain["sensors"], f"{PLACE}.sensors", "a size and a worth for each kind of errors")
        _agree("errors_of_sensors", arrays, "E", lengths)
    lengths["P"] = unknowns + lengths.get("E", 0)
    if "precision" in arrays:
        _agree("precision", arrays, "P", lengths)
    for name, axes in {
        "windows": "W",
        "z": "WK",
        "A": "WqK",
        "B": "WqP",
        "rest": "PP",
        "spectrum": "K",
        "known": "Wq",
        "covariance": "PP",
    }.items():
        _agree(name, arrays, axes, lengths)
    if "owners" in arrays:
        _agree("owners", arrays, "W", lengths)
    if plain.get("history", 0) or "history" in arrays:
        _agree(
            "history",
            arrays,
            "WHen",
            lengths | {"H": plain.get("history", 0), "e": 2, "n": plain["shape"][0]},
        )
    if {*arrays.get("owners", np.zeros(1)).tolist()} != {*range(experiments)}:
        raise DataError(f"{PLACE} holds windows of other experiments than the {experiments} that there are.")
    _fits_the_grid(equation, plain, arrays, lengths["K"])
    _agree("ends", arrays, "WD2", lengths | {"2": 2})
    if equation.system.inputs:
        count, axes = len(equation.system.inputs), "ABC"[:sides]
        modes = (*plain["shape"][:-1], plain["shape"][-1] // 2 + 1)
        known = {"I": count, "4": 4, "2": 2} | dict(zip(axes, modes, strict=True))
        _agree("knots", arrays, "WJ", lengths)
        _agree("driving", arrays, f"WJ4I{axes}2", lengths | known)
    for name, array in arrays.items():
        if array.dtype.kind not in "iuf" or (name != "covariance" and not (np.abs(array) < LARGEST).all()):
            raise DataError(
                f"the array {name:.60} of {PLACE} holds other things than numbers that can be used."
            )
    if any((arrays[name] < 0).any() for name in ("spectrum", "known", "precision") if name in arrays):
        raise DataError(f"{PLACE} holds variances below 0.")


def _real(value: Any, place: str) -> None:
    """Take a finite number that is no whole one by its type: what is differentiated by must not be."""
    finite(value, place)
    if isinstance(value, int):
        raise Mismatch(value, place, "a number with a decimal point")


def _kind(value: Any, place: str) -> None:
    """Take a kind of errors of sensors: what, and the number of the field or coordinate."""
    listing(lambda *_: None, length=3)(value, place)
    what, row, name = value
    if what not in ("offset", "position", "gain") or not isinstance(row, int) or not isinstance(name, str):
        raise Mismatch(value, place, "offset, position or gain, a number and a name")


def _positive(value: Any, place: str) -> None:
    finite(value, place)
    if not value > 0:
        raise Mismatch(value, place, "a number above 0")


def _agree(name: str, arrays: Mapping[str, np.ndarray], axes: str, lengths: dict[str, int]) -> None:
    """Compare an array's shape with the lengths of its axes; those that were not known yet are from now on."""
    if name not in arrays:
        raise DataError(f"{PLACE} lacks the array {name}.")
    shape = arrays[name].shape
    if len(shape) != len(axes) or any(
        lengths.setdefault(a, n) != n for a, n in zip(axes, shape, strict=True)
    ):
        raise DataError(f"the array {name} of {PLACE} has the shape {shape}, which does not fit the others.")


def _fits_the_grid(
    equation: Equation, plain: Mapping[str, Any], arrays: Mapping[str, np.ndarray], amplitudes: int
) -> None:
    """Compare the envelope, (W, R, *shape), with the grid, and the number of amplitudes with the waves on it."""
    shape, waves = tuple(plain["shape"]), tuple(plain["waves"])
    found = arrays["envelope"].shape if "envelope" in arrays else ()
    if len(found) != len(shape) + 2 or found[2:] != shape or math.prod(found) == 0:
        raise DataError(f"the envelope of {PLACE} has the shape {found}; it ends with {shape!s:.60}.")
    processes = process_count(groups_of(equation))
    if found[1] != processes:
        raise DataError(
            f"the envelope of {PLACE} has {found[1]} processes; the equation's state is made of {processes}."
        )
    # From here on the grid is known to be as small as an array in the file.
    count = found[1] * Features(Grid(tuple((low, high) for low, high in plain["box"]), shape), waves).count
    count += len(equation.system.state) - found[1]
    if amplitudes < count or (amplitudes > count and not plain.get("outside")):
        raise DataError(f"{PLACE} holds {amplitudes} amplitudes for {count} waves.")
