"""`Flow`: the motion of an equation's fields on a periodic box, as a function that can be differentiated."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any

import jax
import jax.numpy as jnp
import sympy

from hiddenphysics.equation import TIME, Equation, coordinate, evaluate, field_name, parameter
from hiddenphysics.simulate.spectral.grid import Fields, Grid, Modes
from hiddenphysics.simulate.spectral.layout import box_of, shape_of
from hiddenphysics.simulate.spectral.phi import elementwise, half_and_full, matrices
from hiddenphysics.simulate.spectral.scheme import Weights, act, step
from hiddenphysics.simulate.spectral.split import Split, split
from hiddenphysics.simulate.spectral.symbols import fourier_symbol, linear_symbol

Parameters = Mapping[str, Any]


@dataclass(frozen=True)
class Flow:
    """∂ₜû = L(k; λ) û + R(û, t; λ) for the Fourier modes û of F real fields.

    L holds every term that is linear with constant coefficients and is integrated exactly; R holds the
    others, evaluated at the points of a finer grid so that products do not alias, and is integrated with
    order four. All methods are pure functions of arrays: they can be jitted, mapped, and differentiated in
    modes and parameters, forwards and backwards.

    Made by `Flow.of`. Hashed by value, so it can be a static argument.

    Attributes
    ----------
    equation, grid
        What moves, and where.
    coupled
        Whether L is a matrix for each wavenumber, or a number for each wavenumber and field.

    Examples
    --------
    >>> flow = Flow.of("u_t + a*u*u_x - b*u_xx = 0", box=(-8, 8), shape=64)
    >>> (x,) = flow.grid.points()
    >>> u = flow.advance(jnp.exp(-(x[None] + 2) ** 2), {"a": 1.0, "b": 0.1}, duration=1.0, steps=20)
    >>> u.shape
    (1, 64)
    """

    equation: Equation
    grid: Grid
    coupled: bool
    _split: Split = field(repr=False, compare=False)

    @classmethod
    def of(
        cls,
        equation: Equation | str,
        box: Mapping[str, Sequence[float]] | Sequence[float],
        shape: Mapping[str, int] | Sequence[int] | int,
        *,
        coupled: bool | None = None,
    ) -> Flow:
        """Prepare an equation for a box.

        Parameters
        ----------
        equation
            Every field needs a time derivative. Of second order in time, `u_tt + … = 0`, it is moved as the
            system of `u` and `u_t`.
        box
            Coordinate -> (low, high); with one coordinate (low, high) alone. Its names are the coordinates
            of an equation given as text.
        shape
            Coordinate -> number of points; one number is used for every coordinate.
        coupled
            Whether to treat L as matrices; by default where the linear part mixes fields.
        """
        if isinstance(equation, str):
            named = tuple(box) if isinstance(box, Mapping) else None
            equation = Equation.parse(equation, coordinates=named)
        grid = Grid(box_of(equation.coordinates, box), shape_of(equation.coordinates, shape))
        parts = split(equation)
        return cls(equation, grid, parts.coupled or bool(coupled), parts)

    @property
    def state(self) -> tuple[str, ...]:
        """Names of the F fields of the state, in order: `u`, or `u` and `u_t`, or `h_re` and `h_im`."""
        return self._split.state

    @cached_property
    def _finer(self) -> Grid:
        return self.grid.padded(self._split.padding)

    # ---- the right-hand side --------------------

    def symbol(self, parameters: Parameters) -> jax.Array:
        """L(k; λ), of shape (F, *modes), or (F, F, *modes) where `coupled`."""
        numbers = self._numbers(parameters)
        coordinates = self.equation.coordinates
        return linear_symbol(self._split, coordinates, self.grid, numbers, coupled=self.coupled)

    def rest(self, modes: Modes, parameters: Parameters, t: Any = 0.0) -> Modes:
        """R(û, t; λ): nonlinear terms, variable coefficients, forcing."""
        expressions = self._split.rest
        moving = [expr for expr in expressions if expr != 0]
        if not moving:
            return jnp.zeros_like(modes)
        numbers = self._numbers(parameters) | self._places(t) | self._values(modes, parameters)
        values = [jnp.broadcast_to(evaluate(expr, numbers, jnp), self._finer.shape) for expr in moving]
        found = iter(self.grid.truncate(self._finer.to_modes(jnp.stack(values)), self._finer))
        return jnp.stack([jnp.zeros_like(modes[0]) if expr == 0 else next(found) for expr in expressions])

    def rate(self, modes: Modes, parameters: Parameters, t: Any = 0.0) -> Modes:
        """∂ₜû."""
        return act(self.symbol(parameters), modes) + self.rest(modes, parameters, t)

    # ---- motion --------------------

    def weights(self, parameters: Parameters, dt: Any) -> Weights:
        """Return what the scheme needs of L for steps of length dt; worth keeping while neither changes."""
        product = matrices if self.coupled else elementwise
        return Weights(jnp.asarray(dt), *half_and_full(self.symbol(parameters) * dt, product))

    def step(self, modes: Modes, parameters: Parameters, by: Weights, t: Any = 0.0) -> Modes:
        """One step of the length that the weights were made for."""
        return step(modes, jnp.asarray(t), by, lambda now, at: self.rest(now, parameters, at))

    @partial(jax.jit, static_argnames=("self", "steps"))
    def flow(
        self, modes: Modes, parameters: Parameters, duration: Any, steps: int, start: Any = 0.0
    ) -> Modes:
        """Modes after `duration`, in equal steps; `start` matters where the equation names t."""
        dt = duration / steps
        by = self.weights(parameters, dt)

        def body(now: Modes, index: jax.Array) -> tuple[Modes, None]:
            return self.step(now, parameters, by, start + index * dt), None

        return jax.lax.scan(body, modes, jnp.arange(steps))[0]

    def advance(
        self,
        fields: Fields,
        parameters: Parameters,
        duration: Any,
        steps: int,
        start: Any = 0.0,
    ) -> Fields:
        """Fields at the points after `duration`: what `flow` does, from values to values."""
        modes = self.flow(self.grid.to_modes(fields), parameters, duration, steps, start)
        return self.grid.to_fields(modes)

    # ---- numbers for the expressions --------------------

    def _numbers(self, parameters: Parameters) -> dict[sympy.Expr, Any]:
        return {parameter(name): parameters[name] for name in self.equation.parameters}

    def _places(self, t: Any) -> dict[sympy.Expr, Any]:
        points = dict(zip(self.equation.coordinates, self._finer.points(), strict=True))
        return {coordinate(TIME): t} | {coordinate(name): x for name, x in points.items()}

    def _values(self, modes: Modes, parameters: Parameters) -> dict[sympy.Expr, jax.Array]:
        """Fields and derivatives in R at the points of the finer grid."""
        atoms = self._split.rest_atoms
        if not atoms:
            return {}
        numbers = self._numbers(parameters)
        rows = [
            modes[self.state.index(field_name(atom))]
            * fourier_symbol(atom, self.equation.coordinates, self.grid, numbers)
            for atom in atoms
        ]
        values = self._finer.to_fields(self.grid.pad(jnp.stack(rows), self._finer))
        return dict(zip(atoms, values, strict=True))
