"""`FlowModel`: the equation's own motion carries a latent field through all snapshots."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import jax.numpy as jnp
import numpy as np
import sympy

from hiddenphysics.equation import (
    System,
    atoms_of,
    derivative_symbol,
    evaluate_by_name,
    field_name,
    linear_terms,
)
from hiddenphysics.errors import DataError, ModelError
from hiddenphysics.gaussian import RestrictedLikelihood
from hiddenphysics.learning import Progress, Status, keep
from hiddenphysics.models.flow.cuts import best_cut
from hiddenphysics.models.flow.flow_fit import fit_windows
from hiddenphysics.models.flow.flow_task import FlowTask
from hiddenphysics.models.flow.gauss_newton import SoFar
from hiddenphysics.models.flow.inputs import Inputs, check_covers
from hiddenphysics.models.flow.learned import LearnedFlow
from hiddenphysics.models.flow.one_round import Point
from hiddenphysics.models.flow.packed import check_packed, pack, unpack
from hiddenphysics.models.flow.recording_fit import MANY_STOPS, fit_recording
from hiddenphysics.models.flow.unfinished import stopped_at
from hiddenphysics.models.flow.wide_fit import Ended, stopped_wide
from hiddenphysics.models.flow.windows import gap_counts, whole
from hiddenphysics.models.model import MODELS, Arrays, Fit, MeanAndStd, Model
from hiddenphysics.models.question import Question
from hiddenphysics.operators import Operator
from hiddenphysics.priors import Kernel
from hiddenphysics.snapshots import Snapshots
from hiddenphysics.spectral import check_solvable

MOST_DIMENSIONS = 3

ON_A_LINE = 500
"""Waves that recordings on a line ask for, about: the files of the paper 60 to 400."""

FEWEST_DRIVEN = 6
"""Snapshots from which on, where nothing else explains them, edges are taken to be driven."""


@dataclass(frozen=True)
class FlowModel(Model):
    """The latent lives at the first snapshot, as waves on a box somewhat larger than the data.

    The flow is linearised in state and parameters; these come by generalised least squares, the prior by restricted
    likelihood. Exact in the gap, any number of snapshots.
    """

    name: str = "flow"

    def applies(self, question: Question) -> str | None:
        """Return why the flow cannot carry these data."""
        equation, measured = question.equation, question.fields
        system = equation.system
        if (
            system.accelerations
            and min(map(len, question.experiments)) < 3
            and not set(system.velocities) <= set(measured)
        ):
            return "Of second order in time, the equation needs three snapshots, or the velocity beside."
        if not system.constraints.trivial:
            try:
                check_solvable(system.constraints)
            except ModelError as refused:
                return str(refused)
            given = [name for name in system.idle if name in measured]
            if given:
                return (
                    f"{given[0]} has data and no time derivative: the flow model sees the fields that evolve."
                )
        if len(equation.coordinates) > MOST_DIMENSIONS:
            return f"There are {len(equation.coordinates)} coordinates; the flow model's boxes have at most three."
        if not set(measured) & set(equation.evolution):
            return f"None of the fields {', '.join(equation.evolution)} has data."
        lonely = [name for name in equation.evolution if name not in _told(system, measured)]
        if lonely:
            return (
                f"Nothing determines {', '.join(lonely)}: it has no data, and does not enter the equations of fields "
                "that have."
            )
        return None

    def hesitates(self, question: Question) -> str | None:
        """Return why fields that are tied together in a volume are left to a model of one gap.

        They take the flow minutes there. In a plane it is quicker, whether `u_x + v_y = 0` is typed or potentials: the
        wake of a cylinder, 251 + 249 points, takes it 15 to 22 s of a shared core once it is compiled, midpoint
        37 s, which noise biases (18 November 2026).
        """
        equation = question.equation
        if len(equation.coordinates) > 2 and (equation.ties or equation.definitions):
            return (
                f"The flow model takes minutes where {', '.join(question.fields)} are tied together in a volume; "
                "model='flow' asks it all the same."
            )
        return None

    def rows(self, question: Question) -> int:
        """Return about how many rows a matrix has: on a line some hundred waves carry any number of values."""
        return min(question.count, ON_A_LINE) if len(question.equation.coordinates) == 1 else question.count

    def takes_priors(self) -> bool:
        """Whether errors of sensors and unknown functions can be learned: further columns of the linear model."""
        return True

    def function(self, learned: LearnedFlow, name: str) -> tuple[np.ndarray, np.ndarray, float]:
        """Return what was learned of an unknown function; what it is worth was not asked where a limit came before."""
        return *learned.coefficients(name), learned.worth.get(name, np.nan)

    def sensors(self, learned: LearnedFlow) -> dict[str, np.ndarray]:
        """Return places of the sensors, and their errors with deviations."""
        return learned.sensor_columns()

    def remarks(self, learned: LearnedFlow) -> dict[str, str]:
        """Say which errors of sensors the data ask for, and what was taken to happen at the edges."""
        told = {} if learned.sensors is None else {"sensors": learned.sensors.sentence()}
        said = [learned.edges] if learned.edges else []
        if learned.program.outside:
            where = "" if not said else "where nothing else is said, "
            said.append(
                f"{where}driven: what comes in from beyond the data at every snapshot is unknown, and learned"
            )
        if said:
            told["edges"] = "; ".join(said)
        return told

    def linearise(self, task: FlowTask, at: Point) -> RestrictedLikelihood:
        """Return the motion, linear around a state and parameters."""
        return task.likelihood(task.sweep(at.z, at.parameters, task.longest_step).data, at.parameters)

    def log_density(self, linear: RestrictedLikelihood, vector: np.ndarray) -> float:
        """Return the log restricted likelihood at the prior's vector."""
        return float(linear.log_density(jnp.asarray(vector)))

    def learn(self, question: Question, say: Progress) -> Fit:
        """Fit whole recordings at once; where that ends badly, in shorter windows, and so on.

        Experiments share the parameters, the prior and the noise; every one has states of its own.
        """
        equation, experiments = question.equation, question.experiments
        _check_enough(question)
        kernels = _by_field(question)
        inputs = _inputs(question, kernels, say)
        longest = max(map(len, experiments))
        edges = question.edges

        def recorded(say: Progress = say) -> Fit:
            return fit_recording(equation, experiments, kernels, say, inputs, question.sensors, edges)

        if longest > MANY_STOPS or edges.asks_to_enter:
            return recorded()
        every = replace(whole(equation, experiments, sensors=question.sensors, edges=edges), inputs=inputs)
        tried: list[Fit] = []
        for gaps in gap_counts(longest, max(equation.time_orders.values())):
            tried.append(fit_windows(every.cut(gaps), kernels, say))
            if not tried[-1].verdict.status.is_bad or tried[-1].stopped or _contradicts(tried[-1]):
                break
            say = _held(tried[-1], say)
        last = tried[-1]
        is_bad = last.verdict.status.is_bad and not last.stopped and not _contradicts(last)
        if is_bad and any(edges.enter) and _may_be_driven(question):
            pushed = recorded(say)
            if not pushed.verdict.status.is_bad:  # what was a misfit lacked what comes in
                return pushed
            tried.append(pushed)
        return best_cut(tried, equation.parameters)

    def finish(self, question: Question, so_far: SoFar | Ended | Fit, reason: str) -> Fit:
        """Return the best round, or before the first the smoothed snapshots with the guessed parameters.

        A misfit that had been found by then stands.
        """
        if isinstance(so_far, Ended):
            return stopped_wide(so_far, reason)
        return so_far if isinstance(so_far, Fit) else stopped_at(so_far, reason, so_far.rounds)

    def predict(self, learned: LearnedFlow, text: str, points: np.ndarray, t: float) -> MeanAndStd:
        """Return posterior mean and deviation from the first snapshot onwards."""
        operator, offset = _operator(learned, text, points, t)
        mean, std = learned.mean_and_std(operator, points, t)
        return mean + offset, std

    def part(self, learned: LearnedFlow, experiment: int) -> LearnedFlow:
        """Return the windows of one experiment."""
        return learned.part(experiment)

    def draw(
        self, learned: LearnedFlow, text: str, points: np.ndarray, t: float, count: int, seed: int
    ) -> np.ndarray:
        """Return draws, each moved by its own parameters; of the fields themselves."""
        state = learned.program.state
        if text not in state:
            raise ModelError(
                f"Draws of {text!r} were asked for; the flow draws {', '.join(state)}. Draw those on a grid, and "
                "combine them."
            )
        return learned.drawn(points, np.array([t]), count, seed)[:, 0, learned.row(text)]

    def move(
        self, learned: LearnedFlow, points: np.ndarray, times: np.ndarray, draws: int, seed: int
    ) -> dict[str, np.ndarray]:
        """Return the mean, or draws, of every field of the state, moved on by the equation itself."""
        moved = learned.drawn(points, times, draws, seed) if draws else learned.moved(points, times)
        return {name: moved[..., row, :] for row, name in enumerate(learned.program.state)}

    def history(
        self, learned: LearnedFlow, times: np.ndarray, places: Sequence[np.ndarray]
    ) -> list[dict[str, np.ndarray]]:
        """Return the mean of every field of the state at each time's own points."""
        return [dict(zip(learned.program.state, one, strict=True)) for one in learned.history(times, places)]

    def readings(
        self, learned: LearnedFlow, times: np.ndarray, places: Sequence[np.ndarray]
    ) -> list[dict[str, np.ndarray]]:
        """Return (1 + g) u(x + d) + b of the means u: sensors may have gains, wrong places and offsets."""
        sensors = learned.sensors
        if sensors is None:
            return self.history(learned, times, places)
        means = self.history(learned, times, [sensors.true_places(points) for points in places])
        return [
            {name: sensors.told(row, points, one[name]) for row, name in enumerate(learned.units)}
            for points, one in zip(places, means, strict=True)
        ]

    def cramer_rao(
        self, learned: LearnedFlow, snapshots: Snapshots, noise: Mapping[str, float]
    ) -> dict[str, float]:
        """Return (BᵀK⁻¹B)⁻¹ with the noise that is asked for; see `LearnedFlow.cramer_rao`."""
        return learned.cramer_rao(snapshots, noise)

    def pack(self, learned: LearnedFlow) -> tuple[dict[str, Any], Arrays]:
        """Return the waves and the belief in them."""
        return pack(learned)

    def unpack(
        self, question: Question, values: Mapping[str, float], plain: Mapping[str, Any], arrays: Arrays
    ) -> LearnedFlow:
        """Return what `pack` has packed."""
        return unpack(question.equation, plain, arrays)

    def check(
        self, question: Question, values: Mapping[str, float], plain: Mapping[str, Any], arrays: Arrays
    ) -> None:
        """Refuse waves, numbers and shapes that do not belong together."""
        check_packed(question.equation, len(question.experiments), plain, arrays)


MODELS.add("flow", FlowModel())


# ---- at the door --------------------


def _told(system: System, measured: Sequence[str]) -> set[str]:
    """Return the evolving fields that have data, or enter, through others perhaps, what has."""
    told = {name for name in system.equation.evolution if name in measured}
    enters = {
        name: {field_name(atom) for atom in atoms_of(rate)}
        for name, rate in system.equation.evolution.items()
    }
    count = -1
    while len(told) > count:
        count = len(told)
        told |= set().union(*(enters[name] for name in told)) & set(enters)
    return told


def _contradicts(fit: Fit) -> bool:
    """Whether experiments contradict each other: parts of theirs would, too."""
    return fit.heterogeneity is not None and fit.heterogeneity.speaks_against


def _held(fit: Fit, say: Progress) -> Progress:
    """Keep a misfit for the case that nothing better is found in time; return who is told of further searches.

    These keep nothing themselves: half a search says nothing against a misfit.
    """
    if fit.verdict.status is not Status.MISFIT:
        return say
    keep(say, lambda: fit, worth=np.inf)
    return lambda stage: say(stage)


def _may_be_driven(question: Question) -> bool:
    """Whether something that comes in at every snapshot could be told from the equation: on a line, of some."""
    runs = question.experiments
    return len(runs.coordinates) == 1 and min(map(len, runs)) >= FEWEST_DRIVEN


def _check_enough(question: Question) -> None:
    fields, coordinates = question.fields, question.experiments.coordinates
    numbers = [f"{f}.{c}" for f in fields for c in ("variance", *coordinates)]
    parameters = question.equation.parameters
    question.require_values(
        [*parameters, *numbers, "noise"],
        f"{', '.join(parameters)}, the noise, and variance and lengths of every field",
    )
    _check_hidden(question)


def _check_hidden(question: Question) -> None:
    """Refuse snapshots that hold no more fields than the state has: some state explains them with any parameters."""
    system = question.equation.system
    hidden = [name for name in system.state if name not in question.fields]
    seen, most = len(system.state) - len(hidden), max(map(len, question.experiments))
    if not hidden or not system.constraints.trivial or seen * most > len(system.state):
        return
    needed = len(system.state) // seen + 1
    raise DataError(
        f"{', '.join(hidden)} {'has' if len(hidden) == 1 else 'have'} no data, and {most} snapshots of "
        f"{', '.join(name for name in system.state if name not in hidden)} hold no more fields than the state at the "
        f"first of them: it could be chosen so that any parameters explain them. Give {needed} snapshots or more, or "
        f"data of {hidden[0]}."
    )


def _inputs(question: Question, kernels: Mapping[str, Kernel], say: Progress) -> Inputs | None:
    """Smooth the fields that have data and no equation; refuse those that are not known where they are needed."""
    names, experiments = question.equation.system.inputs, question.experiments
    if not names:
        return None
    say(f"smoothing the input {', '.join(names)}")
    runs = {name: question.known(name) for name in names}
    for name in question.inputs:
        known = runs[name]
        for title, run, own in zip(experiments.names, experiments, known, strict=True):
            check_covers(name, run, own, title)
    return Inputs.of(question.equation, runs, kernels)


def _by_field(question: Question) -> Mapping[str, Kernel]:
    """Return one kernel per field, from what a user gave."""
    given, fields = question.kernels, question.fields
    if given is None:
        return {}
    chosen = given if isinstance(given, Mapping) else dict.fromkeys(fields, given)
    unknown = sorted(set(chosen) - set(fields))
    if unknown:
        raise ModelError(f"A kernel was given for {unknown[0]!r}; the fields are {', '.join(fields)}.")
    several = [f for f, one in chosen.items() if not isinstance(one, Kernel) and len(one) != 1]
    if several:
        raise ModelError(
            f"Several kernels were given for {several[0]!r}; the flow model takes one per field. Give one, or none: "
            "then the evidence chooses."
        )
    kernels = {f: one if isinstance(one, Kernel) else one[0] for f, one in chosen.items()}
    for f, one in kernels.items():
        one.check_smooth_enough(question.equation.order, f)
    return kernels


def _operator(
    learned: LearnedFlow, text: str, points: np.ndarray, t: float
) -> tuple[Operator[Any], np.ndarray]:
    """Read a linear expression in the state's fields: an operator with numbers for coefficients, and a constant."""
    equation = learned.equation
    fields = (*learned.program.state, *learned.idle)
    by_atom, constant = linear_terms(text, fields, equation.coordinates, equation.parameters)
    numbers: dict[str, Any] = dict(zip(equation.parameters, learned.parameters, strict=True)) | {"t": t}
    numbers |= {name: points[:, d] for d, name in enumerate(equation.coordinates)}

    def number(factor: sympy.Expr) -> np.ndarray:
        return np.broadcast_to(evaluate_by_name(factor, numbers, np), (len(points),))

    terms = (
        (field_name(atom), derivative_symbol(atom, equation.coordinates), number(factor))
        for atom, factor in by_atom.items()
    )
    return Operator.collect(terms), number(constant)
