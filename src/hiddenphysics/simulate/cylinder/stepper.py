"""One time step: three Runge–Kutta sub-steps, each projected onto no slip at the body."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float64

from hiddenphysics.errors import ModelError
from hiddenphysics.simulate.cylinder.differences import advection, laplacian
from hiddenphysics.simulate.cylinder.immersed_body import Projection
from hiddenphysics.simulate.cylinder.nesting import Fields, MultiDomain, coarsen_outward, nested_grids
from hiddenphysics.simulate.cylinder.settings import FlowSettings, check_contains_body


@dataclass(frozen=True)
class State:
    """ω and ψ (without the stream's U y) over all nodes of every grid, finest first, at one time."""

    omega: Fields
    psi: Fields
    time: float = 0.0


@dataclass(frozen=True)
class SubStep:
    """Weights a of N and b of the sub-step before's N, in units of Δt; diffusion runs over β = a + b."""

    a: float
    b: float

    @property
    def beta(self) -> float:
        """β in units of Δt."""
        return self.a + self.b


RK3 = (SubStep(8 / 15, 0.0), SubStep(5 / 12, -17 / 60), SubStep(3 / 4, -5 / 12))
"""Third-order Runge–Kutta advection with Crank–Nicolson diffusion inside each sub-step."""

BLOWN_UP = 1e6
"""No vorticity of a resolved flow comes near: the largest is that of the first step, some U/d."""


class Stepper:
    """Advances ∂ω/∂t + CᵀEᵀf = Lω/Re + Cᵀ(q × ω), −Lψ = ω, E q = 0, by Δt at a time.

    Sub-step: A ω* = ω + (β/2Re) Lω + Δt(a N + b N_before), A = 1 − (β/2Re) L; then forces f from the
    slip of ω*, and ω = ω* − A⁻¹ β CᵀEᵀ f (Taira & Colonius 2007; Colonius & Taira 2008).

    Parameters
    ----------
    settings
        Grids, Δt and Re.
    points
        Points on the cylinder, (B, 2), from `circle`; None for a flow without a body.
    stream
        Speed U of the free stream in x.
    """

    def __init__(
        self, settings: FlowSettings, points: Float64[np.ndarray, "B 2"] | None, stream: float = 1.0
    ) -> None:
        if points is not None:
            check_contains_body(settings)
        self.settings, self.stream = settings, stream
        self.grids = nested_grids(settings)
        self._poisson = MultiDomain(self.grids, shift=0.0, diffusion=1.0)
        dt, re = settings.time_step, settings.reynolds
        self._helmholtz = [MultiDomain(self.grids, 1.0, dt * sub.beta / (2 * re)) for sub in RK3]
        self.projections = [
            None if points is None else Projection(self.grids, points, self._poisson, dt * sub.beta, re)
            for sub in RK3
        ]

    def state(self, omega: Sequence[Float64[np.ndarray, "_ _"]], time: float = 0.0) -> State:
        """Make a state from the vorticity over all nodes of every grid: overlaps made to agree, ψ solved."""
        fields = [field.copy() for field in omega]
        return State(self._consistent(fields), self._stream_function(fields), time)

    def step(self, state: State) -> tuple[State, Float64[np.ndarray, " two"]]:
        """Give the state a Δt later, and the drag and lift coefficients 2F averaged over the step."""
        now, coefficients = state, np.zeros(2)
        before: Fields | None = None
        for sub, helmholtz, projection in zip(RK3, self._helmholtz, self.projections, strict=True):
            transport = self._transport(now)
            omega = helmholtz.solve(self._right_hand_side(now, sub, transport, before))
            if projection is not None:
                coefficients += sub.beta * self._project(projection, omega)
            now, before = State(self._consistent(omega), self._stream_function(omega)), transport
        # Rounded, else the times of thousands of steps drift off their decimals.
        later = State(now.omega, now.psi, round(state.time + self.settings.time_step, 10))
        self._check_bounded(later)
        return later, coefficients

    def _transport(self, now: State) -> Fields:
        return [
            advection(omega, psi, grid.spacing, self.stream)
            for omega, psi, grid in zip(now.omega, now.psi, self.grids, strict=True)
        ]

    def _right_hand_side(self, now: State, sub: SubStep, transport: Fields, before: Fields | None) -> Fields:
        dt = self.settings.time_step
        rhs = []
        for level, (omega, grid) in enumerate(zip(now.omega, self.grids, strict=True)):
            right = laplacian(omega, grid.spacing)
            right *= dt * sub.beta / (2 * self.settings.reynolds)
            right += omega[1:-1, 1:-1]
            right += (dt * sub.a) * transport[level]
            if before is not None:
                right += (dt * sub.b) * before[level]
            rhs.append(right)
        return rhs

    def _project(self, projection: Projection, omega: Fields) -> Float64[np.ndarray, " two"]:
        """Take the forces' vorticity off the finest `omega`; the force coefficients of this sub-step."""
        forces = projection.forces(projection.slip(self._stream_function(omega)[0], self.stream))
        omega[0][1:-1, 1:-1] -= projection.vorticity(forces)
        return np.asarray(2 * self.grids[0].spacing ** 2 * forces.reshape(2, -1).sum(axis=1))

    def _consistent(self, omega: Fields) -> Fields:
        """Overwrite each overlap, in place, with the coarsened vorticity of the finer grid."""
        interiors = coarsen_outward(self.grids, [field[1:-1, 1:-1] for field in omega])
        for field, interior in zip(omega[1:], interiors[1:], strict=True):
            field[1:-1, 1:-1] = interior
        return omega

    def _stream_function(self, omega: Fields) -> Fields:
        return self._poisson.solve([field[1:-1, 1:-1] for field in omega])

    def _check_bounded(self, state: State) -> None:
        largest = max(float(np.abs(field).max()) for field in state.omega)
        if not largest < BLOWN_UP:
            raise ModelError(
                f"The flow blew up at t = {state.time:g}: the vorticity has reached {largest:g}. The time "
                f"step {self.settings.time_step:g} is too large for this grid; use time_step="
                f"{self.settings.time_step / 2:g} and run again."
            )
