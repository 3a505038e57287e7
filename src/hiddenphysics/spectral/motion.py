"""`Motion`: the motion of an equation's fields on a periodic box, as a function that can be differentiated."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial, reduce
from math import prod
from operator import add
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import sympy

from hiddenphysics.equation import (
    TIME,
    Diffusivity,
    Equation,
    Flux,
    atoms_of,
    coordinate,
    derivative_symbol,
    evaluate,
    field_name,
    parameter,
)
from hiddenphysics.errors import ModelError
from hiddenphysics.operators import Symbol
from hiddenphysics.spectral.driving import Driving
from hiddenphysics.spectral.freedom import basis, groups_of, process_count
from hiddenphysics.spectral.grid import Box, Fields, Grid, Modes, TracedGrid
from hiddenphysics.spectral.integrator import KROGSTAD, Integrator, act
from hiddenphysics.spectral.projection import (
    LEFT,
    MATRICES,
    Projection,
    kind_of_linear_part,
    product,
    projection,
    total_linear,
)
from hiddenphysics.spectral.solvability import check_solvable

Parameters = Mapping[str, Any]

SPREADING = 0.8
"""Part of the largest diffusivity that is moved exactly. A front of porous Fisher, 64 to 8 steps over 48 h: with 0.5 it
is unstable, with 0.7 the error is half of that with 1 (19 November 2026); 0.8 leaves room for what grows in a gap."""

NEGATIVE = 0.5
"""Mean diffusivity below which, in parts of its mean size and below zero, an equation is ill-posed on the whole."""


class Constrained(NamedTuple):
    """What a step needs under constraints: the integrator's weights, and the projection."""

    weights: Any
    through: Projection


class Unready(NamedTuple):
    """What is known beforehand of steps of a motion whose diffusivity depends on the fields: length, most growth."""

    dt: jax.Array
    most: jax.Array


class Spreading(NamedTuple):
    """What a step needs there: the integrator's weights for L and what was added to L, (F, *modes)."""

    weights: Any
    added: jax.Array


@dataclass(frozen=True)
class Motion:
    """∂ₜû = L(k; λ) û + R(û, t; λ) for the Fourier modes û of F real fields.

    L holds every term that is linear with constant coefficients and is integrated exactly; R holds the
    others, with products at the points of a finer grid so that they do not alias, and is integrated with
    order four. All methods are pure functions of arrays: they can be jitted, mapped, and differentiated in
    modes and parameters, forwards and backwards.

    Statements without a time derivative hold for every wavenumber (`Projection`): the state keeps u_x + v_y = 0 by the
    gradient of a pressure that is found from the rest, fields such as a stream function are solved for when needed, and
    so are rates under an operator, u_t − u_xxt.

    Made by `Motion.of`. Hashed by value, so it can be a static argument.

    Attributes
    ----------
    equation, grid
        What moves, and where.
    coupled
        Whether L is a matrix for each wavenumber, or a number for each wavenumber and field.
    integrator
        How a step in time is taken.
    driving
        The known inputs of the equation, fields with data and no statement of their own; None where it has none.
    products
        Points along each side of the grid on which products are made; None for so many that none of them aliases.

    Examples
    --------
    >>> motion = Motion.of("u_t + a*u*u_x - b*u_xx = 0", box=(-8, 8), shape=64)
    >>> (x,) = motion.grid.points()
    >>> u = motion.advance(jnp.exp(-(x[None] + 2) ** 2), {"a": 1.0, "b": 0.1}, duration=1.0, steps=20)
    >>> u.shape
    (1, 64)
    """

    equation: Equation
    grid: Grid
    coupled: bool
    integrator: Integrator = KROGSTAD
    driving: Driving | None = None
    products: tuple[int, ...] | None = None

    @classmethod
    def of(
        cls,
        equation: Equation | str,
        box: Mapping[str, Sequence[float]] | Sequence[float],
        shape: Mapping[str, int] | Sequence[int] | int,
        *,
        coupled: bool | None = None,
        integrator: Integrator = KROGSTAD,
    ) -> Motion:
        """Prepare an equation for a box.

        Parameters
        ----------
        equation
            Of second order in time, `u_tt + … = 0`, it is moved as the system of `u` and `u_t`. Fields without a
            time derivative need statements that determine them, linear with constant coefficients.
        box
            Coordinate -> (low, high); with one coordinate (low, high) alone. Its names are the coordinates
            of an equation given as text.
        shape
            Coordinate -> number of points; one number is used for every coordinate.
        coupled
            Whether to treat L as matrices; by default where the linear part mixes fields.
        integrator
            How a step in time is taken; `INTEGRATORS` has those that are known by name.
        """
        if isinstance(equation, str):
            named = tuple(box) if isinstance(box, Mapping) else None
            equation = Equation.parse(equation, coordinates=named)
        if equation.system.inputs:
            raise ModelError(
                f"{equation.system.inputs[0]} has no equation of its own, and is taken as known where it has data; a "
                "simulation has none. Write it as a formula in x and t, or give it an equation."
            )
        if not equation.system.constraints.trivial:
            check_solvable(equation.system.constraints)
        grid = Grid(_box(equation.coordinates, box), _shape(equation.coordinates, shape))
        return cls(equation, grid, _couples(equation) or bool(coupled), integrator)

    @classmethod
    def over(
        cls,
        equation: Equation,
        shape: tuple[int, ...],
        ends: Any,
        driving: Driving | None = None,
        products: tuple[int, ...] | None = None,
    ) -> Motion:
        """Return the motion on a box whose ends (D, 2) may be traced, and so may the inputs."""
        box = tuple((end[0], end[1]) for end in ends)
        motion = cls(equation, TracedGrid(box, shape), _couples(equation), driving=driving, products=products)
        _ = motion._finer  # made here, not inside a loop over steps, which it would not outlive
        return motion

    @property
    def state(self) -> tuple[str, ...]:
        """Names of the F fields of the state, in order: `u`, or `u` and `u_t`, or `h_re` and `h_im`."""
        return self.equation.system.state

    @cached_property
    def _finer(self) -> Grid:
        if self.products is not None:
            return self.grid.resampled(self.products)
        return self.grid.padded(self.equation.system.padding)

    # ---- the right-hand side --------------------

    def projection(self, parameters: Parameters) -> Projection | None:
        """Return what constraints do at the grid's wavenumbers; None where every field evolves by itself."""
        constraints = self.equation.system.constraints
        if constraints.trivial:
            return None
        return projection(
            constraints, self.grid.wavenumbers, self._numbers(parameters), self.grid.modes_shape
        )

    def symbol(self, parameters: Parameters, through: Projection | None = None) -> jax.Array:
        """L(k; λ), of shape (F, *modes), or (F, F, *modes) where `coupled`.

        `through` is what `projection` returns, where it is known already.
        """
        through = self.projection(parameters) if through is None else through
        numbers, shape = self._numbers(parameters), self.grid.modes_shape
        constraints = self.equation.system.constraints
        total = total_linear(constraints, self.grid.wavenumbers, numbers, through, shape)
        if through is not None and (self.coupled or kind_of_linear_part(self.equation) != LEFT):
            total = product(through.rates, total)
        if self.coupled:
            return total
        rows = jnp.arange(len(self.state))
        return total[rows, rows]

    def rest(
        self, modes: Modes, parameters: Parameters, t: Any = 0.0, through: Projection | None = None
    ) -> Modes:
        """R(û, t; λ): nonlinear terms, variable coefficients, forcing; what constraints let through of them."""
        through = self.projection(parameters) if through is None else through
        right = self._right(modes, parameters, t, through)
        return right if through is None else act(through.rates, right)

    def idle(self, modes: Modes, parameters: Parameters, t: Any = 0.0) -> Modes:
        """Modes of the fields without a time derivative, in the order of `idle_fields`."""
        through = self.projection(parameters)
        if through is None:
            return modes[:0]
        numbers, shape = self._numbers(parameters), self.grid.modes_shape
        constraints = self.equation.system.constraints
        linear = total_linear(constraints, self.grid.wavenumbers, numbers, through, shape)
        right = act(linear, modes) + self._right(modes, parameters, t, through)
        return jnp.concatenate([act(through.slaved, modes), act(through.multipliers, right)]) * self.grid.kept

    @property
    def idle_fields(self) -> tuple[str, ...]:
        """Names of the fields without a time derivative: those that ties tell from the state, then multipliers."""
        constraints = self.equation.system.constraints
        return (*constraints.slaved, *constraints.multipliers)

    def allowed(self, modes: Modes, parameters: Parameters) -> Modes:
        """Return the nearest state that satisfies the constraints."""
        through = self.projection(parameters)
        return modes if through is None else act(through.allowed, modes)

    def made_of(self, processes: Modes, means: Any, parameters: Parameters) -> Modes:
        """Return the state (F, *modes) that processes (R, *modes) without ties and further means make; see `basis`."""
        groups = groups_of(self.equation)
        through = self.projection(parameters)
        if through is None or process_count(groups) == len(self.state):
            return processes if through is None else act(through.allowed, processes)
        modes = act(basis(through, groups), processes)
        nowhere = (0,) * len(self.grid.shape)
        rows = np.array([row for group in groups for row in group.rows[group.free :]])
        return modes.at[(rows, *nowhere)].add(means)

    def _right(self, modes: Modes, parameters: Parameters, t: Any, through: Projection | None) -> Modes:
        """−N without its linear part, before constraints.

        Computed as Σ c ∂^α inside: products at the points of the finer grid, derivatives in front of them by their
        modes, of which only those of the grid are needed.
        """
        fluxes = self.equation.system.fluxes
        insides = list(dict.fromkeys(flux.inside for row in fluxes for flux in row))
        if not insides:
            return jnp.zeros_like(modes)
        slaved = None if through is None else act(through.slaved, modes)
        numbers = self._numbers(parameters) | self._places(t) | self._values(modes, slaved, parameters, t)
        known: dict[sympy.Expr, Any] = {}
        values = [
            jnp.broadcast_to(evaluate(inside, numbers, jnp, known), self._finer.shape) for inside in insides
        ]
        sums = dict(zip(insides, self.grid.sums(jnp.stack(values), self._finer), strict=True))
        kept = self.grid.kept / prod(self._finer.shape)

        def total(row: tuple[Flux, ...]) -> jax.Array:
            parts = [self._flux_factor(flux, numbers) * kept * sums[flux.inside] for flux in row]
            return reduce(add, parts) if parts else jnp.zeros_like(modes[0])

        return jnp.stack([total(row) for row in fluxes])

    def rate(self, modes: Modes, parameters: Parameters, t: Any = 0.0) -> Modes:
        """∂ₜû."""
        through = self.projection(parameters)
        return act(self.symbol(parameters, through), modes) + self.rest(modes, parameters, t, through)

    # ---- motion --------------------

    def weights(self, parameters: Parameters, dt: Any, most: Any = None) -> Any:
        """Return what the integrator needs of L for steps of length dt; worth keeping while neither changes.

        No wave grows faster than `most`, where that is given and L does not mix fields: parameters of an ill-posed
        equation then stay finite on the way.
        """
        if any(self.equation.system.diffusivities):
            return Unready(jnp.asarray(dt), jnp.asarray(jnp.inf if most is None else most))
        through = self.projection(parameters)
        symbol = self._bounded(self.symbol(parameters, through), most)
        weights = self.integrator.weights(symbol, jnp.asarray(dt), coupled=self.coupled)
        return weights if through is None else Constrained(weights, through)

    def readied(self, by: Any, modes: Modes, parameters: Parameters, t: Any = 0.0) -> Any:
        """Return what steps from here on need, where that depends on the fields; anything else as it is.

        It is good for as long as the largest diffusivity does not grow by more than a half.
        """
        if not isinstance(by, Unready):
            return by
        added = self._spreading(modes, parameters, t)
        symbol = self._bounded(self.symbol(parameters), by.most)
        rows = jnp.arange(len(self.state))
        symbol = symbol.at[rows, rows].add(added) if self.coupled else symbol + added
        return Spreading(self.integrator.weights(symbol, by.dt, coupled=self.coupled), added)

    def _bounded(self, symbol: jax.Array, most: Any) -> jax.Array:
        """Return L with no growth beyond the most, where that is given and L does not mix fields."""
        return symbol if most is None or self.coupled else jnp.minimum(symbol.real, most) + 1j * symbol.imag

    def _spreading(self, modes: Modes, parameters: Parameters, t: Any = 0.0) -> jax.Array:
        """−Σ_a c̄ k_a², (F, *modes), c̄ a part of the largest value of a diffusivity c that depends on fields.

        Moved exactly, and taken off the rest again, it keeps steps stable that are far longer than explicit ones: in
        −ck² = −c̄k² + (c̄ − c)k² the second part is no larger than the first where 0 ≤ c ≤ 2c̄. Duchemin & Eggers
        (2014), J. Comput. Phys. 263, 37. It is how a step is taken, and no part of what is differentiated. With a c
        that is negative on the whole the equation is ill-posed, and its motion is no number.
        """
        every = self.equation.system.diffusivities
        atoms = sorted({a for row in every for one in row for a in atoms_of(one.whole)}, key=str)
        modes, parameters = jax.lax.stop_gradient((modes, dict(parameters)))
        numbers = (
            self._numbers(parameters) | self._places(t) | self._values(modes, None, parameters, t, atoms)
        )
        known: dict[sympy.Expr, Any] = {}

        def largest(one: Diffusivity) -> Any:
            whole, varying = (evaluate(c, numbers, jnp, known) for c in (one.whole, one.varying))
            size = jnp.abs(whole)
            ill_posed = jnp.mean(whole) < -NEGATIVE * jnp.mean(size)
            return jnp.where(
                ill_posed, jnp.nan, SPREADING * jnp.maximum(jnp.max(size - (whole - varying)), 0.0)
            )

        def total(row: tuple[Diffusivity, ...]) -> Any:
            parts = [largest(one) * self.grid.wavenumbers[one.axis] ** 2 for one in row]
            return -reduce(add, parts) if parts else jnp.zeros(self.grid.modes_shape)

        rows = [jnp.broadcast_to(total(row), self.grid.modes_shape) for row in every]
        return jnp.stack(rows)

    def step(
        self,
        modes: Modes,
        parameters: Parameters,
        by: Any,
        t: Any = 0.0,
        force: Callable[[Any], Modes] | None = None,
    ) -> Modes:
        """One step of the length that the weights were made for; a `force` of the time is added to the rate."""
        through, added = None, None
        by = self.readied(by, modes, parameters, t)
        if isinstance(by, Constrained):
            by, through = by
        if isinstance(by, Spreading):
            by, added = by

        def rest(now: Modes, at: Any) -> Modes:
            own = self.rest(now, parameters, at, through)
            own = own if added is None else own - added * now
            return own if force is None else own + force(at)

        return self.integrator.step(modes, jnp.asarray(t), by, rest)

    @partial(jax.jit, static_argnames=("self", "steps"))
    def run(self, modes: Modes, parameters: Parameters, duration: Any, steps: int, start: Any = 0.0) -> Modes:
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
        """Fields at the points after `duration`: what `run` does, from values to values."""
        modes = self.run(self.grid.to_modes(fields), parameters, duration, steps, start)
        return self.grid.to_fields(modes)

    # ---- numbers for the expressions --------------------

    def _numbers(self, parameters: Parameters) -> dict[sympy.Expr, Any]:
        return {parameter(name): parameters[name] for name in self.equation.parameters}

    def _places(self, t: Any) -> dict[sympy.Expr, Any]:
        points = dict(zip(self.equation.coordinates, self._finer.points(), strict=True))
        return {coordinate(TIME): t} | {coordinate(name): x for name, x in points.items()}

    def _values(
        self,
        modes: Modes,
        slaved: Modes | None,
        parameters: Parameters,
        t: Any,
        atoms: Sequence[sympy.Expr] | None = None,
    ) -> dict[sympy.Expr, jax.Array]:
        """Fields and derivatives in R, or those that are named, at the points of the finer grid."""
        atoms = self.equation.system.flux_atoms if atoms is None else atoms
        if not atoms:
            return {}
        numbers = self._numbers(parameters)
        names, every = self.state, modes
        if slaved is not None:
            names = (*names, *self.equation.system.constraints.slaved)
            every = jnp.concatenate([modes, slaved])
        if self.driving is not None:
            names = (*names, *self.equation.system.inputs)
            every = jnp.concatenate([every, self.driving.at(t)])
        rows = [
            every[names.index(field_name(atom))]
            * self._wave_factor(derivative_symbol(atom, self.equation.coordinates), numbers)
            for atom in atoms
        ]
        values = self._finer.to_fields(self.grid.pad(jnp.stack(rows), self._finer))
        return dict(zip(atoms, values, strict=True))

    def _flux_factor(self, flux: Flux, numbers: Mapping[sympy.Expr, Any]) -> Any:
        """c(λ, t) τ(k) of the coefficient and the derivative in front of a product."""
        return evaluate(flux.coefficient, numbers, jnp) * self._wave_factor(Symbol(flux.orders), numbers)

    def _wave_factor(self, symbol: Symbol, numbers: Mapping[sympy.Expr, Any]) -> Any:
        """τ(k) of a symbol whose orders may hold parameters, at the grid's wavenumbers."""
        known = symbol.evaluate(lambda order: evaluate(order, numbers, jnp))
        return known.at(self.grid.wavenumbers, jnp)


def _couples(equation: Equation) -> bool:
    """Whether L is matrices: where it mixes fields, or the constraints do."""
    if equation.system.constraints.trivial:
        return equation.system.coupled
    return kind_of_linear_part(equation) == MATRICES


def _box(coordinates: Sequence[str], box: Mapping[str, Sequence[float]] | Sequence[float]) -> Box:
    """Return (low, high) along each coordinate."""
    if not isinstance(box, Mapping):
        box = {coordinates[0]: box} if len(coordinates) == 1 else {}
    sides = []
    for name in coordinates:
        if len(box) != len(coordinates) or name not in box or len(box[name]) != 2:
            wanted = ", ".join(f"{c!r}: (-8, 8)" for c in coordinates)
            raise ModelError(
                f"The box does not give two ends for each of the coordinates {', '.join(coordinates)}, and "
                f"for no other. Write box={{{wanted}}}."
            )
        low, high = box[name]
        sides.append((float(low), float(high)))
    return tuple(sides)


def _shape(coordinates: Sequence[str], shape: Mapping[str, int] | Sequence[int] | int) -> tuple[int, ...]:
    """Return the number of points along each coordinate."""
    if isinstance(shape, Mapping):
        numbers: list[Any] = [shape.get(name, 0) for name in coordinates]
        return tuple(numbers)
    return tuple(shape) if isinstance(shape, Sequence) else (shape,) * len(coordinates)
