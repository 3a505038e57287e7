"""One pass along the flow: the linear model around a state and parameters, stop by stop."""

from __future__ import annotations

from functools import partial
from math import prod
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from hiddenphysics.compiled_code import compiled
from hiddenphysics.gaussian import Reduced, fold, from_squares, unfold
from hiddenphysics.models.flow.adjoint import pulled_rows, pulls
from hiddenphysics.models.flow.compressed import Seen
from hiddenphysics.models.flow.latent import Latent
from hiddenphysics.models.flow.moved_fields import Along, along
from hiddenphysics.models.flow.path import Path
from hiddenphysics.models.flow.program import Program
from hiddenphysics.together import together


class Sweep(NamedTuple):
    """The flow, linear around a point: y − φ + A z̄ = A z + B d + ε.

    Attributes
    ----------
    data
        The linear model.
    misfit
        ‖y − φ‖², in units of the fields' sizes.
    step_error
        ‖φ − φ'‖ where φ' takes half as many steps: 2^p − 1 times the error of φ for steps of order p.
    turned
        By how much the derivatives along a probe are off, in parts of themselves: they go in steps of their own.
    tail
        Largest root mean square, at any stop and in units of the fields' sizes, of what stands in the shortest waves
        of the grid: what the next shorter ones would hold is smaller than that.
    growth
        (W, T) how much the fastest growing derivative in the state has grown at every stop. Where rows were pulled
        back there are none of the whole state: then, how much the largest derivative of a value has.
    sums
        (W, U, G·r, K + P + 1) rows of (A, B, y) that were folded, summed up over all stops with the same of U sets of
        points: all that an offset of a sensor asks of them. None where they are not kept; see `sums_up`.
    """

    data: Reduced
    misfit: Any
    step_error: Any
    turned: Any
    tail: Any
    growth: Any
    sums: Any = None


SHORT_WAVES = 0.8
"""Waves count as short from this part of the grid's largest wavenumber on."""


MOST_SETS, MOST_NUMBERS = 8, 4_000_000
"""Sets of points, and numbers of all sums over time, that are kept: 32 MB."""


def folds(seen: Seen, features: int) -> bool:
    """Whether a window has more rows than its state has features: then triangles are kept, not rows.

    Rows with known errors of their own stay as they are: a triangle would mix them.
    """
    _, stops, fields, rows = seen.values.shape
    return bool(seen.known is None and stops * fields * rows > features)


def sums_up(seen: Seen, columns: int) -> bool:
    """Whether rows that are folded are summed up over time, too: where sensors stay, and are not too many."""
    sets, rows, _ = seen.waves.shape
    windows, stops, fields, _ = seen.values.shape
    few = sets - 1 <= MOST_SETS and 2 * (sets - 1) <= stops
    return few and windows * sets * fields * rows * columns <= MOST_NUMBERS


def _moved_numbers(program: Program, latent: Latent, path: Path, **others: Any) -> int:
    """Numbers that a sweep moves from stop to stop: the modes of all tangents."""
    modes = prod(program.shape[:-1]) * (program.shape[-1] // 2 + 1)
    return int(len(program.state) * modes * latent.z.size * path.stops.visited.shape[1])


@together
@compiled(light=_moved_numbers, static_argnums=0, static_argnames="squares")
def sweep(
    program: Program,
    seen: Seen,
    latent: Latent,
    parameters: jax.Array,
    path: Path,
    probe: Any = 0.0,
    *,
    squares: bool = False,
) -> Sweep:
    """Return the linear model around a state and parameters, of the stops that the path visits.

    `probe` (K,) is the direction of the state's amplitudes along which derivatives are compared; 0 asks for nothing.

    The parameters are those of the equation, and behind them the errors of the sensors.

    Where a state has fewer features than there are rows, these are folded into a triangle at every stop and forgotten:
    memory O(K·n + K²) for K features and n modes, time linear in the number of stops. With `squares` their Gram matrix
    is summed up instead, five times quicker, where the noise hides what that loses.
    """
    features = latent.z.shape[1]
    columns = features + parameters.size + 1
    numbers = len(program.equation.parameters)
    parameters, errors = parameters[:numbers], parameters[numbers:]
    sensors = seen.instruments
    if sensors is not None:
        wavenumbers = program.on(latent.ends[0])[0].grid.wavenumbers
        seen = seen._replace(waves=sensors.moved(seen.waves, wavenumbers, errors))
    folded, backwards = folds(seen, features), pulls(program, seen, features)
    summed = folded and sums_up(seen, columns)
    short = _short_waves(program)

    def one(each: tuple[Latent, Path, Any, Any]) -> tuple[Any, ...]:
        latent, path, which, values = each
        stops, rows = path.stops.visited.size, values.shape[1] * values.shape[2]
        pulled = pulled_rows(program, seen, latent, parameters, path, which) if backwards else None

        def keep(kept: jax.Array, new: jax.Array, index: jax.Array) -> jax.Array:
            if not folded:
                return kept.at[index].set(new)
            return kept + new.T @ new if squares else fold(kept, new)

        def visit(carry: Any, fields: Along, extra: Any) -> Any:
            index, visited, compared, which, values, pulled = extra

            def look(carry: Any) -> Any:
                kept, sums, misfit, error, turned, tail, growth, first = carry
                value = seen.rows(fields.modes, which)
                A = pulled if backwards else seen.rows(fields.in_state, which).T
                B = seen.rows(fields.in_parameters, which).T
                along_it = seen.rows(fields.probed, which)
                away = A @ jnp.broadcast_to(probe, latent.z.shape) - along_it
                turned = turned + jnp.stack([away @ away, along_it @ along_it])
                told = value
                if sensors is not None:
                    slopes = [seen.rows(1j * k * fields.modes, which) for k in wavenumbers]
                    told, factor, own = sensors.read(
                        which, value, slopes, seen.scale, errors, seen.weights[which]
                    )
                    A, B = factor[:, None] * A, jnp.concatenate([factor[:, None] * B, own], axis=1)
                left = values.reshape(-1) - told
                new = jnp.concatenate([A, B, (left + A @ latent.z)[:, None]], axis=1)
                kept = keep(kept, new, index)
                sums = sums.at[which].add(new) if summed else sums
                apart = compared * (value - seen.rows(fields.coarse, which))
                power = jnp.sum(
                    jnp.abs(fields.modes[seen.fields] * short) ** 2, axis=range(1, fields.modes.ndim)
                )
                size = jnp.sqrt(2 * jnp.max(power * seen.scale**2))
                if backwards:
                    norms = jnp.max(jnp.linalg.norm(pulled, axis=1), keepdims=True)
                else:
                    own = fields.in_state[: program.features]
                    norms = jnp.linalg.norm(own.reshape(program.features, -1), axis=1)
                first = jnp.where(index == 0, norms, first)
                growth = growth.at[index].set(jnp.max(norms / first))
                return (
                    kept,
                    sums,
                    misfit + left @ left,
                    error + apart @ apart,
                    turned,
                    jnp.maximum(tail, size),
                    growth,
                    first,
                )

            return jax.lax.cond(visited, look, lambda carry: carry, carry)

        kept = jnp.zeros((columns, columns) if folded else (stops, rows, columns))
        begin = (
            kept,
            jnp.zeros((seen.waves.shape[0], rows, columns)) if summed else None,
            jnp.zeros(()),
            jnp.zeros(()),
            jnp.zeros(2),
            jnp.zeros(()),
            jnp.zeros(stops),
            jnp.ones(1 if backwards else program.features),
        )
        extra = (jnp.arange(stops), path.stops.visited, path.stops.compared, which, values, pulled)
        kept, sums, *others, _ = along(
            program, latent, parameters, path, visit, begin, extra, probe, tangents=not backwards
        )
        if folded and squares:
            kept = from_squares(kept)
        return kept.reshape(-1, columns), sums, *others

    # Side by side windows keep a GPU busy, and would only fill a CPU's memory.
    windows = jax.vmap(one) if jax.default_backend() == "gpu" else partial(jax.lax.map, one)
    kept, sums, misfit, error, turned, tail, growth = windows((latent, path, seen.which, seen.values))
    rest, count = jnp.sum(seen.rest * path.stops.visited), jnp.sum(seen.count * path.stops.visited)
    if folded:
        data = unfold(kept, columns - features - 1, rest, count)
    else:
        A, B, y = kept[..., :features], kept[..., features:-1], kept[..., -1]
        left = jnp.zeros((columns - features,) * 2).at[-1, -1].set(rest)
        known = jnp.zeros(y.shape)
        if seen.known is not None:
            known = (seen.known * path.stops.visited[..., None, None]).reshape(y.shape)
        data = Reduced(A, B, y, left, count - y.size, known)
    # The stops that the coarse way leaves out lie between others that are no better.
    error = jnp.sum(error) * jnp.sum(path.stops.visited) / jnp.sum(path.stops.compared)
    away, size = jnp.sum(turned, axis=0)
    turned = jnp.sqrt(away / jnp.maximum(size, 1e-300))
    return Sweep(data, jnp.sum(misfit) + rest, jnp.sqrt(error), turned, jnp.max(tail), growth, sums)


def _short_waves(program: Program) -> np.ndarray:
    """1 for the shortest waves that the grid carries, 0 for the others; shape of the modes."""
    sides = [np.abs(np.fft.fftfreq(n)) * 2 for n in program.shape[:-1]]
    sides.append(np.abs(np.fft.rfftfreq(program.shape[-1])) * 2)
    return np.asarray(np.max(np.stack(np.meshgrid(*sides, indexing="ij")), axis=0) > SHORT_WAVES)
