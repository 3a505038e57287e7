"""One pass along the flow: the linear model around a state and parameters, stop by stop."""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from hiddenphysics.gaussian import Reduced, fold, unfold
from hiddenphysics.models.flow.compressed import Seen
from hiddenphysics.models.flow.path import Along, Latent, Path, Program, along


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
    """

    data: Reduced
    misfit: Any
    step_error: Any


def folds(seen: Seen, features: int) -> bool:
    """Whether a window has more rows than its state has features: then triangles are kept, not rows."""
    _, stops, fields, rows = seen.values.shape
    return bool(stops * fields * rows > features)


@partial(jax.jit, static_argnums=0)
def sweep(program: Program, seen: Seen, latent: Latent, parameters: jax.Array, path: Path) -> Sweep:
    """Return the linear model around a state and parameters.

    Where a state has fewer features than there are rows, these are folded into a triangle at every stop and forgotten:
    memory O(K·n + K²) for K features and n modes, time linear in the number of stops.
    """
    count, features = latent.z.shape
    columns = features + parameters.size + 1
    folded = folds(seen, features)

    def one(each: tuple[Latent, Path, Any, Any, Any]) -> tuple[Any, Any, jax.Array, jax.Array]:
        latent, path, which, values, known = each

        def visit(carry: Any, fields: Along, extra: Any) -> Any:
            kept, misfit, error = carry
            index, which, values = extra
            value = seen.rows(fields.modes, which)
            A = seen.rows(fields.in_state, which).T
            B = seen.rows(fields.in_parameters, which).T
            left = values.reshape(-1) - value
            rows = jnp.concatenate([A, B, (left + A @ latent.z)[:, None]], axis=1)
            kept = fold(kept, rows) if folded else kept.at[index].set(rows)
            apart = value - seen.rows(fields.coarse, which)
            return kept, misfit + left @ left, error + apart @ apart

        stops, rows = path.durations.size, values.shape[1] * values.shape[2]
        kept = jnp.zeros((columns, columns) if folded else (stops, rows, columns))
        begin = (kept, jnp.zeros(()), jnp.zeros(()))
        kept, misfit, error = along(
            program, latent, parameters, path, visit, begin, (jnp.arange(stops), which, values)
        )
        return kept.reshape(-1, columns), known.reshape(-1), misfit, error

    kept, known, misfit, error = jax.lax.map(one, (latent, path, seen.which, seen.values, seen.known))
    if folded:
        data = unfold(kept, parameters.size, seen.rest, seen.count)
    else:
        A, B, y = kept[..., :features], kept[..., features:-1], kept[..., -1]
        rest = jnp.zeros((parameters.size + 1,) * 2).at[-1, -1].set(seen.rest)
        data = Reduced(A, B, y, rest, seen.count - y.size, known)
    return Sweep(data, jnp.sum(misfit) + seen.rest, jnp.sqrt(jnp.sum(error)))
