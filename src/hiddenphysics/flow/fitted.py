"""`FlowFit`: parameters with covariance, and the posterior of every field of the state at every later time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from hiddenphysics.equation import Equation
from hiddenphysics.errors import DataError, ModelError
from hiddenphysics.flow.features import Features, Gauge
from hiddenphysics.flow.judge import Verdict
from hiddenphysics.flow.linear import Reduced, effective
from hiddenphysics.flow.motion import (
    MOST_GROWTH,
    Latent,
    Motion,
    Path,
    linearised,
    path_to,
    predictions,
)
from hiddenphysics.flow.posterior import Belief
from hiddenphysics.flow.prior import Prior
from hiddenphysics.flow.rounds import Round, Search
from hiddenphysics.inference.fit import Status
from hiddenphysics.kernels import kernel_from_dict, kernel_to_dict
from hiddenphysics.operators import Operator, Symbol
from hiddenphysics.simulate.spectral.grid import Grid


@dataclass(frozen=True)
class FlowFit:
    """A fitted flow model.

    Attributes
    ----------
    equation
        The equation whose parameters were sought.
    names
        Equation parameters, then the prior's numbers, last `noise.variance`.
    values
        All of them in natural units; with several measured fields `noise.variance` is the mean over the fields, whose
        noises are taken as proportional to their `units`.
    covariance
        (P, P) of the equation parameters, in their order.
    evidence
        Log restricted likelihood at the optimum, of the values in units of their fields' sizes.
    status, explanation
        How the fit ended, in a word and in a sentence.
    rounds
        Linearisations that were made.
    units
        Size of every measured field, in units of which all have the same noise.
    windows
        Times of the first stop of each window, (W,).
    span
        Longest time from first to last stop.
    dt
        Step in time.
    motion, features, prior, latent, belief
        The equation on its grid, the waves on their box, the prior, the latent's posterior mean with its gauge, and
        its uncertainty.
    """

    equation: Equation
    names: tuple[str, ...]
    values: Mapping[str, float]
    covariance: np.ndarray
    evidence: float
    status: Status
    explanation: str
    rounds: int
    units: Mapping[str, float]
    windows: np.ndarray
    span: float
    dt: float
    motion: Motion = field(repr=False)
    features: Features = field(repr=False)
    prior: Prior = field(repr=False)
    latent: Latent = field(repr=False)
    belief: Belief = field(repr=False)

    @classmethod
    def of(
        cls, search: Search, last: Round, covariance: np.ndarray, verdict: Verdict, rounds: int
    ) -> FlowFit:
        """Gather what a search found."""
        task, theta = search.task, last.tuned.theta
        equation = task.equation
        numbers = np.exp(theta)
        numbers[-1] *= float(np.mean(task.sizes[list(task.measured)] ** 2))
        values = dict(zip(equation.parameters, last.point.parameters.tolist(), strict=True))
        values |= dict(zip(search.prior.names, numbers.tolist(), strict=True))
        spectrum = search.objective(last.data).spectrum(theta)
        noise = float(effective(spectrum, jnp.exp(theta[-1]), last.data.A))
        return cls(
            equation=equation,
            names=(*equation.parameters, *search.prior.names),
            values=values,
            covariance=covariance,
            evidence=-float(last.tuned.at.value),
            status=verdict.status,
            explanation=verdict.explanation,
            rounds=rounds,
            units={task.state[row]: float(task.sizes[row]) for row in task.measured},
            windows=task.windows[:, 0],
            span=task.span,
            dt=search.dt,
            motion=search.setting.motion,
            features=search.setting.features,
            prior=search.prior,
            latent=search.setting.latent(last.point.z),
            belief=Belief(
                *_rotated(last.data), np.asarray(spectrum), noise, np.asarray(last.data.known), covariance
            ),
        )

    @property
    def parameters(self) -> np.ndarray:
        """Estimates of the equation parameters, (P,)."""
        return np.array([self.values[name] for name in self.equation.parameters])

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
            np.zeros((len(points), len(self.parameters))),
        )
        for name, symbol, coefficient in quantity:
            value, A, B = self._linearised(window, points, t, symbol.orders)
            row = self._row(name)
            mean += coefficient * value[row]
            in_z += np.reshape(coefficient, (-1, 1)) * A[:, row].T
            in_p += np.reshape(coefficient, (-1, 1)) * B[:, row].T
        return mean, np.sqrt(self.belief.variance(window, in_z, in_p))

    def field(self, name: str) -> Operator[float]:
        """Return the operator that looks at one field of the state."""
        self._row(name)
        return Operator.of(name, Symbol.identity(len(self.equation.coordinates)), 1.0)

    def moved(self, points: np.ndarray, times: np.ndarray) -> np.ndarray:
        """Move the posterior mean through increasing times in one run: (T, F, N) at points (N, D)."""
        window = self._window(float(times[0]))
        return self._run(window, np.asarray(self.latent.z)[window], self.parameters, points, times)

    def drawn(self, points: np.ndarray, times: np.ndarray, count: int, seed: int) -> np.ndarray:
        """Draws (count, T, F, N) from the posterior, each moved by its own parameters with the true flow."""
        window = self._window(float(times[0]))
        z, parameters = self.belief.draws(
            window, np.asarray(self.latent.z)[window], self.parameters, count, np.random.default_rng(seed)
        )
        return np.stack([
            self._run(window, one, at, points, times) for one, at in zip(z, parameters, strict=True)
        ])  # fmt: skip

    def draws(self, name: str, points: np.ndarray, t: float, count: int, seed: int) -> np.ndarray:
        """Draws (count, N) of one field at one time."""
        row = self._row(name)
        return self.drawn(points, np.array([t]), count, seed)[:, 0, row]

    # ---- to and from plain data --------------------

    def describe(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """Return everything as JSON-ready data and named arrays; `rebuild` takes them back."""
        plain = {
            "values": dict(self.values),
            "evidence": self.evidence,
            "status": str(self.status),
            "explanation": self.explanation,
            "rounds": self.rounds,
            "units": dict(self.units),
            "span": self.span,
            "dt": self.dt,
            "box": [list(side) for side in self.features.grid.box],
            "shape": list(self.features.grid.shape),
            "waves": list(self.features.waves),
            "kernels": {name: kernel_to_dict(kernel) for name, kernel in self.prior.latents},
            "noise": self.belief.noise,
        }
        arrays = {
            "covariance": self.covariance,
            "windows": self.windows,
            "z": np.asarray(self.latent.z),
            "envelope": np.asarray(self.latent.gauge.envelope),
            "ends": np.asarray(self.latent.ends),
            "A": self.belief.A,
            "B": self.belief.B,
            "rest": self.belief.rest,
            "spectrum": self.belief.spectrum,
            "known": self.belief.known,
        }
        if self.latent.gauge.places is not None:
            arrays["places"] = np.asarray(self.latent.gauge.places)
        return plain, arrays

    @classmethod
    def rebuild(
        cls, equation: Equation, plain: Mapping[str, Any], arrays: Mapping[str, np.ndarray]
    ) -> FlowFit:
        """Return the fit that `describe` described."""
        grid = Grid(tuple((float(a), float(b)) for a, b in plain["box"]), tuple(plain["shape"]))
        features = Features(grid, tuple(plain["waves"]))
        prior = Prior(
            tuple((name, kernel_from_dict(kernel)) for name, kernel in plain["kernels"].items()),
            equation.coordinates,
        )
        covariance = np.asarray(arrays["covariance"])
        belief = Belief(
            np.asarray(arrays["A"]),
            np.asarray(arrays["B"]),
            np.asarray(arrays["rest"]),
            np.asarray(arrays["spectrum"]),
            float(plain["noise"]),
            np.asarray(arrays["known"]),
            covariance,
        )
        return cls(
            equation=equation,
            names=(*equation.parameters, *prior.names),
            values=dict(plain["values"]),
            covariance=covariance,
            evidence=float(plain["evidence"]),
            status=Status(plain["status"]),
            explanation=str(plain["explanation"]),
            rounds=int(plain["rounds"]),
            units=dict(plain["units"]),
            windows=np.asarray(arrays["windows"]),
            span=float(plain["span"]),
            dt=float(plain["dt"]),
            motion=Motion.of(equation, features),
            features=features,
            prior=prior,
            latent=jax.tree.map(
                jnp.asarray,
                Latent(arrays["z"], Gauge(arrays["envelope"], arrays.get("places")), arrays["ends"]),
            ),
            belief=belief,
        )

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

    def _row(self, name: str) -> int:
        state = self.motion.state
        if name not in state:
            raise ModelError(f"{name!r} is no field of the state; its fields are {', '.join(state)}.")
        return state.index(name)

    def _checked(self, points: np.ndarray) -> np.ndarray:
        points = np.asarray(points, float)
        dimensions = len(self.equation.coordinates)
        if points.ndim != 2 or points.shape[1] != dimensions:
            raise DataError(f"Points of shape {points.shape} were given; (N, {dimensions}) is needed.")
        return points

    def _path(self, window: int, points: np.ndarray, times: np.ndarray) -> Path:
        """Return the way from a window's first stop through the times, with the leading axis of one window."""
        stops = np.concatenate([self.windows[window : window + 1], times])
        return Path(*(value[None] for value in path_to(stops, self._checked(points), self.dt, self._most)))

    def _run(
        self, window: int, z: np.ndarray, parameters: np.ndarray, points: np.ndarray, times: np.ndarray
    ) -> np.ndarray:
        here = self.latent.window(window)._replace(z=jnp.asarray(z[None]))
        path = self._path(window, points, times)
        return np.asarray(predictions(self.motion, here, jnp.asarray(parameters), path))[0, 1:]

    def _linearised(
        self, window: int, points: np.ndarray, t: float, orders: tuple[int, ...]
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        path = self._path(window, points, np.array([t]))
        value, A, B = linearised(
            self.motion, self.latent.window(window), jnp.asarray(self.parameters), path, orders
        )
        return np.asarray(value)[0, -1], np.asarray(A)[0, :, -1], np.asarray(B)[0, :, -1]


def _rotated(data: Reduced) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return np.asarray(data.A), np.asarray(data.B), np.asarray(data.rest)[:-1, :-1]
