"""What was asked: an equation and data that belong together, their names matched."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import pairwise

import numpy as np
import sympy

from hiddenphysics.equation import (
    TIME,
    Equation,
    FractionalDerivative,
    FractionalLaplacian,
    atoms_of,
    velocity,
)
from hiddenphysics.errors import DataError, ModelError
from hiddenphysics.models.edges import NOTHING_SAID, Boundary, Edges
from hiddenphysics.models.sensors import Sensors
from hiddenphysics.priors import Kernel
from hiddenphysics.snapshots import Experiments, Snapshot, Snapshots

Bounds = Mapping[str, tuple[float | None, float | None]]

Scales = Kernel | Sequence[Kernel]
"""One kernel, or several whose processes are added, shortest scale first."""
Kernels = Scales | Mapping[str, Scales]
"""The same for all latent fields, or by name."""


@dataclass(frozen=True)
class Question:
    """An equation, experiments with snapshots under its names, the kernels that a user has chosen, and the sensors.

    Inputs that were measured at times and points of their own stand apart, by name.

    `Question.of` brings them together and refuses what no model can use. Where it is `sampled`, the posterior of the
    parameters is drawn from, once it is known where it lies.
    """

    equation: Equation
    experiments: Experiments
    kernels: Kernels | None = None
    inputs: Mapping[str, Experiments] = field(default_factory=dict)
    sensors: Sensors | None = None
    edges: Edges = NOTHING_SAID
    sampled: bool = False

    @classmethod
    def of(
        cls,
        text: str,
        experiments: Experiments | Snapshots,
        *,
        inputs: Mapping[str, Experiments] | None = None,
        kernels: Kernels | None = None,
        fields: Mapping[str, str] | None = None,
        constants: Mapping[str, float] | None = None,
        bounds: Bounds | None = None,
        sensors: Sensors | None = None,
        boundary: Boundary | None = None,
    ) -> Question:
        """Read an equation for some experiments; the other arguments are those of `hiddenphysics.identify`."""
        _check_kernels(kernels)
        _check_sensors(sensors)
        if isinstance(experiments, Snapshots):
            experiments = Experiments.single(experiments)
        experiments.each(_of_two)
        inputs = {name: _input(name, own, experiments) for name, own in (inputs or {}).items()}
        equation, experiments = match(
            text, experiments, fields=fields, constants=constants, bounds=bounds, inputs=tuple(inputs)
        )
        strange = [name for name in inputs if name not in equation.system.inputs]
        if strange:
            raise DataError(
                f"{strange[0]} was given as an input, and is no field of the equation that nothing is said about. An "
                "input stands in the equation of another field, and has none of its own, as w in u_t = k*w."
            )
        experiments.each(partial(_that_changes, known=equation.system.inputs))
        if not equation.parameters:
            raise ModelError(
                "The equation holds no unknown parameter, so there is nothing to identify. Put a name where a number "
                "is sought, as in u_t - b*u_xx = 0."
            )
        edges = Edges.of(boundary, equation, experiments)
        return cls(equation, edges.beside(experiments), kernels, inputs, sensors or None, edges)

    def known(self, name: str) -> tuple[Snapshots, ...]:
        """Return the data of an input, for every experiment."""
        if name not in self.inputs:
            return tuple(run.select({name: name}) for run in self.experiments)
        own = self.inputs[name]
        return tuple(own) if len(own) > 1 else (own.only,) * len(self.experiments)

    @property
    def snapshots(self) -> Snapshots:
        """Those of the one experiment; several are refused, for models that take one."""
        return self.experiments.only

    @property
    def fields(self) -> tuple[str, ...]:
        """Names of the measured fields."""
        return self.experiments.fields

    @property
    def count(self) -> int:
        """How many values were measured."""
        return sum(len(s) * len(s.fields) for run in self.experiments for s in run)

    def require_values(self, unknowns: Sequence[str], what: str) -> None:
        """Refuse fewer values than unknowns; `what` names those in the sentence."""
        if self.count < len(unknowns):
            raise DataError(
                f"{self.count} values were given for {len(unknowns)} unknowns ({what}); at least as many values as "
                "unknowns are needed. Give more points."
            )


def match(
    text: str,
    experiments: Experiments,
    *,
    fields: Mapping[str, str] | None = None,
    constants: Mapping[str, float] | None = None,
    bounds: Bounds | None = None,
    inputs: tuple[str, ...] = (),
) -> tuple[Equation, Experiments]:
    """Parse an equation knowing which fields have data, and name the data's fields as the equation does.

    Parameters
    ----------
    fields
        Equation name -> data name; only these are used. Without it names must agree, except that one field of
        the data serves the one field of the equation whatever its name (``usol`` for ``u``).
    inputs
        Names of fields whose data stand apart.
    """
    axes = experiments.coordinates
    equation = Equation.parse(text, fields=inputs, coordinates=axes, constants=constants, bounds=bounds)

    def named(snapshots: Snapshots) -> Snapshots:
        snapshots = _select(snapshots, fields) if fields else snapshots
        snapshots = _rename_the_only_field(equation, _rename_alike(equation, snapshots))
        snapshots = _without_strangers(equation, snapshots)
        _check_kinds(equation, snapshots)
        _check_strangers(equation, snapshots)
        _check_dimensions(equation, snapshots)
        return snapshots

    experiments = experiments.each(named)
    given = tuple(f for f in (*experiments.fields, *inputs) if f not in _velocities(equation))
    # A name with data is a field, though it looked like a number.
    if set(given) & set(equation.parameters) or equation.functions:
        ranges = _ranges(equation, experiments)
        return Equation.parse(
            text, fields=given, coordinates=axes, constants=constants, bounds=bounds, ranges=ranges
        ), experiments
    return replace(equation, given=given), experiments


def _ranges(equation: Equation, experiments: Experiments) -> dict[str, tuple[float, float]]:
    """Return least and largest value, in the data, of what unknown functions are functions of."""
    ranges: dict[str, tuple[float, float]] = {}
    every = [snapshot for run in experiments for snapshot in run]
    for one in equation.functions:
        name = one.argument
        if name == TIME:
            low, high = min(s.t for s in every), max(s.t for s in every)
        elif name in experiments.coordinates:
            column = experiments.coordinates.index(name)
            places = [piece.points[:, column] for s in every for piece in s.chunks()]
            low, high = min(p.min() for p in places), max(p.max() for p in places)
        elif name in experiments.fields:
            values = [piece[name] for s in every for piece in s.chunks()]
            low, high = min(v.min() for v in values), max(v.max() for v in values)
        else:
            raise DataError(
                f"{one.call} is a function of {name}, which has no data (the data hold "
                f"{', '.join(experiments.fields)}): what it is nobody can tell. Give data for {name}."
            )
        if not high > low:
            raise DataError(
                f"{one.call} is a function of {name}, which has one value only, {low:g}, in the data."
            )
        ranges[name] = (float(low), float(high))
    return ranges


def _of_two(snapshots: Snapshots) -> Snapshots:
    """Return a run that has two snapshots at least; refuse another."""
    snapshots.require_at_least(2, "the equation is seen in the change from one to the next")
    return snapshots


def _input(name: str, own: Experiments, experiments: Experiments) -> Experiments:
    """Return an input under its name; refuse other coordinates, several fields, and other experiments."""
    if len(own.fields) != 1:
        raise DataError(
            f"The data of the input {name} hold {', '.join(own.fields)}; give one field, whatever its name."
        )
    if own.coordinates != experiments.coordinates:
        raise DataError(
            f"The input {name} has the coordinates {', '.join(own.coordinates)}, the other data "
            f"{', '.join(experiments.coordinates)}; it needs the same."
        )
    if len(own) > 1 and own.names != experiments.names:
        raise DataError(
            f"The input {name} has the experiments {', '.join(own.names)}, the other data "
            f"{', '.join(experiments.names)}; give one input for all of them, or one for each under the same names."
        )
    return own.each(lambda run: run.rename({run.fields[0]: name}) if run.fields[0] != name else run)


def _that_changes(snapshots: Snapshots, known: Sequence[str] = ()) -> Snapshots:
    """Return a run in which something changes; refuse another: with measured values that is a snapshot read twice.

    Known inputs may be constant.
    """
    moving = {f: f for f in snapshots.fields if f not in known}
    (snapshots.select(moving) if len(moving) < len(snapshots.fields) else snapshots).require_informative()
    if all(_same(a, b) for a, b in pairwise(snapshots)):
        raise DataError(
            f"All {len(snapshots)} snapshots hold the same values at the same points: nothing changes from t = "
            f"{snapshots.times[0]:g} to {snapshots.times[-1]:g}, and a rate of exactly nothing says nothing about the "
            "equation. Look whether one snapshot was read twice."
        )
    return snapshots


def _same(one: Snapshot, other: Snapshot) -> bool:
    """Whether points and values agree to the last bit; what differs is seen in the first piece."""
    return len(one) == len(other) and all(
        np.array_equal(a.points, b.points) and all(np.array_equal(a[f], b[f]) for f in a.fields)
        for a, b in zip(one.chunks(), other.chunks(), strict=True)
    )


def _check_kernels(kernels: object) -> None:
    """Refuse what is no kernel, no sequence of kernels, and no mapping to these."""
    for some in kernels.values() if isinstance(kernels, Mapping) else [kernels]:
        several = some if isinstance(some, Sequence) and not isinstance(some, str) else [some]
        for one in several:
            if one is not None and not isinstance(one, Kernel):
                raise ModelError(
                    f"kernel={one!r:.60} was given; needed is a kernel, such as kernel=Matern(4.5), a tuple of them, "
                    "or a mapping by field, such as kernel={'u': Matern(4.5)}."
                )


def _check_sensors(sensors: object) -> None:
    """Refuse what says nothing about sensors."""
    if sensors is not None and not isinstance(sensors, Sensors):
        raise ModelError(
            f"sensors={sensors!r:.60} was given; needed is what may be wrong with them, such as "
            "sensors=Sensors(offsets=True, position_error=0.05)."
        )


def _velocities(equation: Equation) -> list[str]:
    """Return the names under which data may give time derivatives: `u_t` where the equation holds u_tt."""
    return [velocity(f) for f, order in equation.time_orders.items() if order == 2]


def _select(snapshots: Snapshots, fields: Mapping[str, str]) -> Snapshots:
    if not isinstance(fields, Mapping):
        raise DataError(
            f"fields={fields!r:.60} was given; needed is a mapping from the equation's names to those of the data, "
            "such as fields={'u': 'usol'}."
        )
    known = (*snapshots.fields, *snapshots.complex_fields)
    unknown = [name for name in fields.values() if name not in known]
    if unknown:
        raise DataError(
            f"The field {unknown[0]!r} was asked for, but the data hold {', '.join(known)}. "
            "Type --field EQUATION_NAME=DATA_NAME, as in --field u=usol."
        )
    wanted = {data: name for name, data in fields.items()}
    for h in snapshots.complex_fields:
        if h in wanted:
            wanted |= {h + part: wanted[h] + part for part in ("_re", "_im")}
    return snapshots.select({data: wanted[data] for data in snapshots.fields if data in wanted})


def _rename_the_only_field(equation: Equation, snapshots: Snapshots) -> Snapshots:
    pairs = equation.complex_fields
    wanted = [f for f in equation.fields if not any(f in parts for parts in pairs.values())] + list(pairs)
    offered = [
        f for f in snapshots.fields if not any(f.startswith(f"{h}_") for h in snapshots.complex_fields)
    ]
    offered += snapshots.complex_fields
    if len(wanted) == len(offered) == 1 and wanted != offered:
        return snapshots.rename({offered[0]: wanted[0]})
    return snapshots


def _rename_alike(equation: Equation, snapshots: Snapshots) -> Snapshots:
    """Give data the name that the equation has in other letters, `U` for `u`, where nothing else could be meant."""
    known = {*equation.fields, *equation.parameters, *equation.complex_fields, *equation.coordinates}
    offered = (*snapshots.fields, *snapshots.complex_fields)
    alike = {
        f: [name for name in known if name.casefold() == f.casefold()] for f in offered if f not in known
    }
    taken = set(offered)
    new = {f: found[0] for f, found in alike.items() if len(found) == 1 and found[0] not in taken}
    single = {f: name for f, name in new.items() if list(new.values()).count(name) == 1}
    return snapshots.rename(single) if single else snapshots


def _without_strangers(equation: Equation, snapshots: Snapshots) -> Snapshots:
    """Leave out data that the equation does not mention, where every field that it does mention has data.

    Where one has none, a stranger may be that one under another name: then it is for the user to say.
    """
    strangers = _strangers(equation, snapshots)
    if not strangers or not set(equation.fields) <= set(snapshots.fields):
        return snapshots
    kept = snapshots.select({f: f for f in snapshots.fields if f not in strangers})
    listed = ", ".join(strangers[:5]) + (f" and {len(strangers) - 5} more" if len(strangers) > 5 else "")
    note = f"Not in the equation, and not used: {listed}."
    return Snapshots(kept, kept.provenance.noted(note))


def _strangers(equation: Equation, snapshots: Snapshots) -> list[str]:
    """Return the data that the equation does not mention; any symbol that has data is a field."""
    known = (*equation.fields, *equation.parameters, *equation.complex_fields, *_velocities(equation))
    return [
        f
        for f in snapshots.fields
        if f not in known and f.removesuffix("_re").removesuffix("_im") not in known
    ]


def _check_kinds(equation: Equation, snapshots: Snapshots) -> None:
    """Refuse complex data for a real equation and the reverse."""
    pairs = equation.complex_fields
    for h in snapshots.complex_fields:
        if h in equation.fields:
            raise DataError(
                f"The data for {h} are complex, but the equation is real. Write the imaginary unit i where it belongs "
                f"(i*{h}_t + …), or give the real part alone."
            )
    for h, parts in pairs.items():
        if h in snapshots.fields and parts[0] not in snapshots.fields:
            raise DataError(
                f"The equation makes {h} complex, but the data for {h} are real. Give complex values, or two columns "
                f"named {parts[0]} and {parts[1]}."
            )


def _check_strangers(equation: Equation, snapshots: Snapshots) -> None:
    """Refuse data that the equation does not mention."""
    strangers = _strangers(equation, snapshots)
    if strangers:
        own = next(iter(equation.complex_fields), equation.fields[0])
        raise DataError(
            f"The data hold the field {strangers[0]!r}, which the equation does not have (it has "
            f"{', '.join(equation.fields)}). Name the columns to use, and only those: --field {own}=COLUMN, or "
            f"fields={{{own!r}: 'COLUMN'}}."
        )


def _check_dimensions(equation: Equation, snapshots: Snapshots) -> None:
    """Refuse data with a coordinate along which an equation with spatial derivatives never looks."""
    exprs = (
        *equation.evolution.values(),
        *equation.definitions.values(),
        *equation.mass.values(),
        *equation.ties,
    )
    atoms = set().union(*map(atoms_of, exprs))
    if any(isinstance(atom, FractionalLaplacian) for atom in atoms):
        return
    along = {str(v) for a in atoms if isinstance(a, sympy.Derivative) for v, _ in a.variable_count}
    along |= {str(a.along) for a in atoms if isinstance(a, FractionalDerivative)}
    # Fields are functions of every coordinate; what counts is what stands beside them.
    beside = [e.xreplace(dict.fromkeys(atoms_of(e), sympy.Integer(1))) for e in equation.evolution.values()]
    used = along | {s.name for e in beside for s in e.free_symbols}
    idle = [c for c in snapshots.coordinates if c not in used]
    if along & set(snapshots.coordinates) and idle:
        raise DataError(
            f"The data have the coordinates {', '.join(snapshots.coordinates)}, but the equation has no term along "
            f"{', '.join(idle)}: it is an equation in {', '.join(sorted(along & set(snapshots.coordinates)))} alone. "
            f"Add the terms, such as u_{idle[0] * 2} or lap(u), or give data along one line, without {idle[0]}."
        )
