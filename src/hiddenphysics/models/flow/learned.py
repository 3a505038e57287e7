"""`LearnedFlow`: the posterior of every field of the state at every later time."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import jax
import numpy as np

from hiddenphysics.equation import Equation, evaluate_by_name
from hiddenphysics.errors import DataError, ModelError
from hiddenphysics.gaussian import Belief
from hiddenphysics.models.flow.domain import Domain
from hiddenphysics.models.flow.flow_task import FlowTask
from hiddenphysics.models.flow.inflow import Entering
from hiddenphysics.models.flow.instruments import SensorErrors
from hiddenphysics.models.flow.latent import Latent
from hiddenphysics.models.flow.log_determinant import worth_of_groups
from hiddenphysics.models.flow.moved_fields import at_the_end, idle_fields, moved, rates_in_parameters
from hiddenphysics.models.flow.one_round import Point, Round
from hiddenphysics.models.flow.path import MOST_GROWTH, Path
from hiddenphysics.models.flow.program import Program
from hiddenphysics.models.flow.rungs import rung
from hiddenphysics.models.flow.windows import Windows
from hiddenphysics.operators import Operator, Symbol
from hiddenphysics.snapshots import Snapshots
from hiddenphysics.spectral import Features, seen_through, wave_matrix

ALIKE = 0.1
"""Deviations of fields in common units that differ by no more are one: a limit moves by half of that at most. The units
are such that the fit's own estimates of the noise agree."""


@dataclass(frozen=True)
class LearnedFlow:
    """A latent at the first stop of every window, with its uncertainty; the flow carries it on.

    Attributes
    ----------
    equation
        The equation whose parameters were sought.
    parameters
        Their estimates, (P,).
    units
        Size of every measured field, in units of which all have the same noise.
    windows, stops
        Times of the first stop of each window, (W,), and of all, (W, T).
    owners
        Which experiment every window is of, (W,).
    whole
        Whether this is all of a fit, and not one experiment among several.
    span
        Longest time from first to last stop.
    dt
        Step in time.
    program, features, latent, belief
        The equation on its grid, the waves on their box, the latent's posterior mean with its gauge, and its
        uncertainty.
    sensors
        Errors of the sensors; None where none were sought.
    worth
        By how much the log evidence would fall were an unknown function a constant, or of a field a line; by name.
    edges
        What was taken to happen at the ends that were spoken of, in words; empty where none was.
    """

    equation: Equation
    parameters: np.ndarray
    units: Mapping[str, float]
    windows: np.ndarray
    stops: np.ndarray
    owners: np.ndarray
    whole: bool
    span: float
    dt: float
    program: Program = field(repr=False)
    features: Features = field(repr=False)
    latent: Latent = field(repr=False)
    belief: Belief = field(repr=False)
    sensors: SensorErrors | None = field(default=None, repr=False)
    worth: Mapping[str, float] = field(default_factory=dict)
    edges: str = ""

    @classmethod
    def of(cls, task: FlowTask, last: Round, covariance: np.ndarray) -> LearnedFlow:
        """Gather what the rounds have led to."""
        made = cls.at(task.windows, task.domain, last.point, last.dt, last.belief(covariance))
        windows, own, worth = task.windows, len(made.parameters), worth_of_groups(task, last)
        return replace(
            made,
            sensors=SensorErrors.of(windows, last.point.parameters[own:], worth),
            worth={one.name: worth[one.name].evidence for one in windows.equation.functions},
        )

    @classmethod
    def at(cls, windows: Windows, domain: Domain, point: Point, dt: float, belief: Belief) -> LearnedFlow:
        """Take a point for what was learned, with a belief around it."""
        return cls(
            equation=windows.equation,
            parameters=np.asarray(point.parameters)[: len(windows.equation.parameters)],
            units={windows.state[row]: float(windows.sizes[row]) for row in windows.measured},
            windows=windows.times[:, 0],
            stops=windows.times,
            owners=np.asarray(windows.owners),
            whole=True,
            span=windows.span,
            dt=dt,
            program=domain.program,
            features=domain.features,
            latent=domain.latent(point.z),
            belief=belief,
            edges=windows.edges.sentence(windows.equation.coordinates),
        )

    def part(self, experiment: int) -> LearnedFlow:
        """Return the windows of one experiment, counted from 0; itself where there is one."""
        own = self.owners == experiment
        if own.all():
            return self
        belief = replace(
            self.belief, A=self.belief.A[own], B=self.belief.B[own], known=self.belief.known[own]
        )
        return replace(
            self,
            windows=self.windows[own],
            stops=self.stops[own],
            owners=np.zeros(np.count_nonzero(own), int),
            whole=False,
            latent=jax.tree.map(lambda array: np.asarray(array)[own], self.latent),
            belief=belief,
        )

    # ---- the posterior of fields --------------------

    def mean_and_std(
        self, quantity: Operator[Any], points: np.ndarray, t: float
    ) -> tuple[np.ndarray, np.ndarray]:
        """Posterior mean and standard deviation (N,) of Σ c · T(field) at points (N, D), at a time t.

        Linearised around the posterior mean, which is moved by the equation itself.
        """
        window = self._window(t)
        points = self._checked(points)
        mean = np.zeros(len(points))
        in_z, in_p = (
            np.zeros((len(points), np.asarray(self.latent.z).shape[1])),
            np.zeros((len(points), len(self.belief.covariance))),
        )
        for name, symbol, coefficient in quantity:
            value, A, B = self.linearised(window, points, t, symbol, idle=name in self.idle)
            row = self.idle.index(name) if name in self.idle else self.row(name)
            mean += coefficient * value[row]
            in_z += np.reshape(coefficient, (-1, 1)) * A[:, row].T
            in_p[:, : len(B)] += np.reshape(coefficient, (-1, 1)) * B[:, row].T
        return mean, np.sqrt(self.belief.variance(window, in_z, in_p))

    def linearised(
        self, window: int, points: np.ndarray, t: float, symbol: Symbol, *, idle: bool = False
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return values (F, N) and their derivatives (K, F, N), (P, F, N) of what a symbol makes of the fields.

        Of those of the state, or of the idle ones.
        """
        path, _ = self._path(window, np.array([t]))
        latent = self._window_of(window)
        fields = at_the_end(self.program, latent, self.parameters, path)
        if idle:
            fields = idle_fields(self.program, fields, latent, self.parameters, t)
        known = symbol.evaluate(lambda order: evaluate_by_name(order, self._numbers, np))
        value, A, B = (
            self._seen(points, np.asarray(part), known)
            for part in (fields.modes, fields.in_state, fields.in_parameters)
        )
        return value, A, B

    def moved(self, points: np.ndarray, times: np.ndarray) -> np.ndarray:
        """Move the posterior mean through increasing times in one run: (T, F, N) at points (N, D)."""
        window = self._window(float(times[0]))
        return self._run(window, np.asarray(self.latent.z)[window], self.parameters, points, times)

    def history(self, times: np.ndarray, places: Sequence[np.ndarray]) -> list[np.ndarray]:
        """Return the posterior mean (F, N) at the points of each of increasing times, a window moved through once."""
        windows = np.array([self._window(float(t)) for t in times])
        modes = np.concatenate([self.modes(int(w), times[windows == w]) for w in np.unique(windows)])
        return [self._seen(points, one, None) for points, one in zip(places, modes, strict=True)]

    def modes(self, window: int, times: np.ndarray) -> np.ndarray:
        """Modes (T, F, *modes) of the posterior mean in a window, moved through increasing times."""
        return self._modes(window, np.asarray(self.latent.z)[window], self.parameters, times)

    def eye(self, points: np.ndarray) -> Callable[..., np.ndarray]:
        """Return what sees modes (…, *modes), or what a symbol makes of them, at points (N, D): values (…, N)."""
        grid = self.features.grid
        waves = np.asarray(wave_matrix(grid, self._checked(points), np))

        def see(modes: np.ndarray, symbol: Symbol | None = None) -> np.ndarray:
            flat = modes.reshape(-1, *grid.modes_shape)
            values = seen_through(waves, grid, flat, symbol, np)
            return np.asarray(values).reshape(*modes.shape[: modes.ndim - len(grid.shape)], len(points))

        return see

    def own_rates(self, window: int, modes: np.ndarray, times: np.ndarray) -> np.ndarray:
        """∂(rate of the state)/∂(parameter) of a window's modes (T, F, *modes) at times (T,): (P, T, F, *modes)."""
        count = len(times)
        more = rung(count) - count  # stops come in rungs, so that another number of them compiles nothing
        padded = np.concatenate([modes, np.repeat(modes[-1:], more, axis=0)])
        here = self._window_of(window)
        rates = rates_in_parameters(
            self.program, here, self.parameters, padded, np.pad(times, (0, more), mode="edge")
        )
        return np.asarray(rates)[:, :count]

    def drawn(self, points: np.ndarray, times: np.ndarray, count: int, seed: int) -> np.ndarray:
        """Draws (count, T, F, N) from the posterior, each moved by its own parameters with the true flow."""
        window = self._window(float(times[0]))
        own, generator = len(self.parameters), np.random.default_rng(seed)
        mean = np.pad(self.parameters, (0, len(self.belief.covariance) - own))
        z, parameters = self.belief.draws(window, np.asarray(self.latent.z)[window], mean, count, generator)
        return np.stack([
            self._run(window, one, at[:own], points, times) for one, at in zip(z, parameters, strict=True)
        ])  # fmt: skip

    def cramer_rao(self, snapshots: Snapshots, noise: Mapping[str, float]) -> dict[str, float]:
        """Return the Cramér–Rao standard deviation of every parameter at these noises of the fields.

        No unbiased estimate has a smaller covariance than (BᵀK⁻¹B)⁻¹, where K = A S Aᵀ + diag(σ²), A and B are the
        derivatives of the data in the state and in the parameters, and S is the prior's spectrum.

        Where there are more values than waves the fit has rotated them, and no longer knows which field each came
        from. It is empty then if the fields' noises, in the units that the fit gave them, differ by more than `ALIKE`,
        where it is not finite, and for one experiment among several, whose own share of what was rotated is not kept.
        """
        if not self.whole:
            return {}
        deviations = np.array([noise[field] / unit for field, unit in self.units.items()])
        variances: float | np.ndarray = float(np.mean(deviations**2))
        if np.ptp(deviations) > 1e-9 * deviations.max():
            # Values stand by snapshot, field, point; snapshots and their number are padded to a rung.
            if len(set(self.owners.tolist())) > 1:
                return {}
            longest = rung(max(len(snapshot) for snapshot in snapshots))
            variances = np.tile(np.repeat(deviations, longest), rung(len(snapshots))) ** 2
            if len(variances) != self.belief.A.shape[1]:
                if np.ptp(deviations) > ALIKE * deviations.max():
                    return {}
                variances = float(np.mean(deviations**2))
        bound = np.sqrt(np.diagonal(self.belief.bound(variances)))[: len(self.parameters)]
        if not np.all(np.isfinite(bound)):
            return {}
        return dict(zip(self.equation.parameters, bound.tolist(), strict=True))

    def coefficients(self, name: str) -> tuple[np.ndarray, np.ndarray]:
        """Return mean (n,) and covariance (n, n) of the coefficients of an unknown function."""
        (one,) = (each for each in self.equation.functions if each.name == name)
        own = [self.equation.parameters.index(each) for each in one.coefficients]
        return self.parameters[own], self.belief.covariance[np.ix_(own, own)]

    def sensor_columns(self) -> dict[str, np.ndarray]:
        """Return places of the sensors and their errors with deviations, (S,) each, by name."""
        if self.sensors is None:
            return {}
        spread = np.sqrt(np.diagonal(self.belief.covariance))[len(self.parameters) :]
        return self.sensors.columns(self.equation.coordinates, spread)

    # ---- helpers --------------------

    @property
    def _most(self) -> float:
        return MOST_GROWTH / max(self.span, 1e-300)

    def _window(self, t: float) -> int:
        if t < self.windows[0]:
            raise DataError(
                f"The time {t:g} lies before the first snapshot at t = {self.windows[0]:g}; the flow runs forwards. "
                f"Ask for t = {self.windows[0]:g} or later."
            )
        return int(np.searchsorted(self.windows, t, side="right")) - 1

    @property
    def idle(self) -> tuple[str, ...]:
        """Names of the fields without a time derivative, which follow from the state: a pressure, a potential."""
        constraints = self.equation.system.constraints
        return (*constraints.slaved, *constraints.multipliers)

    def row(self, name: str) -> int:
        """Return the number of a field of the state."""
        state = self.program.state
        if name not in state:
            raise ModelError(f"{name!r} is no field of the state; its fields are {', '.join(state)}.")
        return state.index(name)

    def _checked(self, points: np.ndarray) -> np.ndarray:
        points = np.asarray(points, float)
        dimensions = len(self.equation.coordinates)
        if points.ndim != 2 or points.shape[1] != dimensions:
            raise DataError(f"Points of shape {points.shape} were given; (N, {dimensions}) is needed.")
        return points

    def _path(self, window: int, times: np.ndarray) -> tuple[Path, np.ndarray]:
        """Return the way from a window's first stop through the times, without the axis of windows.

        Also the places of the times on it. Where something comes in after the window's own stops, all of them before
        the last time are visited, each after the times that it equals: these see what was there before.
        """
        self._check_driven(window, float(times[-1]))
        own = np.unique(self.stops[window])
        own = own[own < times[-1]] if self.program.outside else own[:1]
        every = np.concatenate([times, own])
        order = np.argsort(every, kind="stable") if self.program.outside else np.r_[len(times), : len(times)]
        comes = np.concatenate([np.full(len(times), -1), np.arange(len(own))])[order]
        path = Path.through(
            every[order][None], self.dt, self._most, comes=comes[None], entering=self._entering(window)
        ).window(0)
        return path, np.argsort(order)[: len(times)]

    def _entering(self, window: int) -> Entering | None:
        """How what comes from outside goes on in time in a window; stops are padded to a rung."""
        program, own = self.program, self.stops[[window]]
        if not program.outside or program.at_once:
            return None
        padded = np.pad(own, ((0, 0), (0, rung(own.shape[1]) - own.shape[1])), mode="edge")
        return Entering.steadily(padded) if program.steady else Entering.smoothly(padded)

    def _check_driven(self, window: int, t: float) -> None:
        """Refuse times at which the inputs are no longer known."""
        last = float(self.stops[window][-1])
        if (
            self.latent.driving is not None
            and window == len(self.windows) - 1
            and t > last + 1e-9 * self.span
        ):
            names = ", ".join(self.equation.system.inputs)
            raise DataError(
                f"The time {t:g} lies after the last snapshot at t = {last:g}, and so far {names} is known. Ask for "
                f"t = {last:g} or earlier."
            )

    def _window_of(self, window: int, z: np.ndarray | None = None) -> Latent:
        """Return one window's latent, or other amplitudes in its place, without the axis of windows."""
        here = jax.tree.map(lambda part: np.asarray(part[window]), self.latent)
        return here if z is None else here._replace(z=z)

    def _run(
        self, window: int, z: np.ndarray, parameters: np.ndarray, points: np.ndarray, times: np.ndarray
    ) -> np.ndarray:
        return self._seen(points, self._modes(window, z, parameters, times), None)

    def _modes(self, window: int, z: np.ndarray, parameters: np.ndarray, times: np.ndarray) -> np.ndarray:
        path, asked = self._path(window, times)
        modes = moved(self.program, self._window_of(window, z), parameters, path)
        return np.asarray(modes)[asked]

    @property
    def _numbers(self) -> dict[str, float]:
        return dict(zip(self.equation.parameters, self.parameters.tolist(), strict=True))

    def _seen(self, points: np.ndarray, modes: np.ndarray, symbol: Symbol | None) -> np.ndarray:
        """Values (…, N) of modes (…, *modes) at points."""
        return self.eye(points)(modes, symbol)
