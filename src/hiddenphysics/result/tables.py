"""A result for other libraries: pandas, xarray, ArviZ; draws of the parameters, residuals of the data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from hiddenphysics.errors import MissingExtraError, ModelError
from hiddenphysics.result.trajectory import grid_axes

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

    from hiddenphysics.result.result import Result

POINTS = {1: 200, 2: 50, 3: 20}
"""Grid points along each coordinate, by the number of coordinates: at most a few thousand predictions a time."""
MOST_TRIES = 1000
"""Draws for each one that is asked for, before bounds that cut nearly everything are given up."""


def parameter_table(result: Result) -> pd.DataFrame:
    """Return one row per parameter; see `Result.to_dataframe`."""
    import pandas as pd

    rows = {
        name: {"estimate": e.estimate, "std": e.std, "low95": low, "high95": high}
        for name, e in result.parameters.items()
        for low, high in [e.interval(0.95)]
    }
    return pd.DataFrame.from_dict(rows, orient="index", columns=["estimate", "std", "low95", "high95"])


def parameter_covariance(result: Result) -> np.ndarray:
    """Return the (P, P) covariance of the equation's parameters; refuse where none was measured."""
    order = list(result.values)
    chosen = [order.index(name) for name in result.parameters]
    covariance = result.covariance[np.ix_(chosen, chosen)]
    if not np.isfinite(covariance).all():
        raise ModelError(
            f"The parameters have no finite covariance: the fit ended {result.status}. {result.explanation} "
            "Draws and correlations need one; identify again with more time or more data."
        )
    return covariance


def parameter_draws(result: Result, count: int, seed: int) -> pd.DataFrame:
    """Return draws of the parameters from their normal, cut at the bounds; see `Result.draws`."""
    import pandas as pd

    if isinstance(count, bool) or not isinstance(count, int | np.integer) or count < 1:
        raise ModelError(f"{count!r:.40} draws were asked for; needed is a whole number, 1 or more.")
    covariance, estimates = parameter_covariance(result), result.parameters.values()
    centre = np.array([e.estimate for e in estimates])
    low, high = (np.array([getattr(e, end) for e in estimates]) for end in ("lower", "upper"))
    random, kept, tries = np.random.default_rng(seed), np.empty((0, len(centre))), 0
    while len(kept) < count:
        if tries > MOST_TRIES:
            raise ModelError(
                "Nearly all of the parameters' normal distribution lies outside the bounds: a parameter has ended at "
                "one. Widen the bounds, or draw from a fit that converged."
            )
        drawn = random.multivariate_normal(centre, covariance, size=count, method="eigh")
        kept, tries = (
            np.concatenate([kept, drawn[np.all((drawn >= low) & (drawn <= high), axis=1)]]),
            tries + 1,
        )
    return pd.DataFrame(kept[:count], columns=list(result.parameters))


def _by_chain(result: Result, count: int, seed: int) -> dict[str, np.ndarray]:
    """Parameter -> draws (chains, draws): as they were sampled, otherwise one chain of the normal distribution."""
    if result.chains is not None:
        return {name: result.chains.draws[:, :, p] for p, name in enumerate(result.chains.names)}
    drawn = parameter_draws(result, count, seed)
    return {str(name): drawn[name].to_numpy()[None] for name in drawn.columns}


def residual_table(result: Result) -> pd.DataFrame:
    """Return data minus what the sensors tell of the posterior mean, at every point; see `Result.residuals`."""
    import pandas as pd

    parts = []
    for name, one in zip(result.runs.names, result.experiments, strict=True):
        data = one.snapshots
        fields = [f for f in data.fields if f not in result.equation.system.inputs]
        means = {f: one.readings(f, data.times, [s.points for s in data]) for f in fields}
        for k, snapshot in enumerate(data):
            columns: dict[str, Any] = {"experiment": name} if len(result.runs) > 1 else {}
            columns |= {"t": np.full(len(snapshot), snapshot.t)}
            columns |= {axis: snapshot[axis] for axis in snapshot.coordinates}
            columns |= {field: snapshot[field] - means[field][k] for field in fields}
            parts.append(pd.DataFrame(columns))
    return pd.concat(parts, ignore_index=True)


def posterior_dataset(result: Result, points: int | None) -> xr.Dataset:
    """Return fields with deviations on a grid, and the parameters; see `Result.to_xarray`."""
    import xarray as xr

    axes = grid_axes(result, points or POINTS[len(result.snapshots.coordinates)])
    shape = tuple(axis.size for axis in axes.values())
    grid = [side.ravel() for side in np.meshgrid(*axes.values(), indexing="ij")]
    times = result.snapshots.times
    variables: dict[str, Any] = {}
    for field in result.equation.evolution:
        moments = np.array([result.predict(field, *grid, t=float(t)) for t in times])
        for name, values in zip((field, f"{field}_std"), np.moveaxis(moments, 1, 0), strict=True):
            variables[name] = (("t", *axes), values.reshape(len(times), *shape))
    names = list(result.parameters)
    order = [list(result.values).index(name) for name in names]
    variables["estimate"] = ("parameter", [e.estimate for e in result.parameters.values()])
    variables["std"] = ("parameter", [e.std for e in result.parameters.values()])
    variables["covariance"] = (("parameter", "parameter_"), result.covariance[np.ix_(order, order)])
    coordinates = {"t": times, **axes, "parameter": names, "parameter_": names}
    about = {"equation": result.identified(), "model": result.model, "status": str(result.status)}
    return xr.Dataset(variables, coordinates, about)


def arviz_data(result: Result, count: int, seed: int) -> Any:
    """Return draws of the parameters and the data, as ArviZ keeps them; see `Result.to_arviz`."""
    try:
        import arviz
    except ImportError as missing:
        raise MissingExtraError('ArviZ is needed. Type: pip install "hiddenphysics[arviz]"') from missing
    import pandas as pd

    table = pd.concat([run.to_table() for run in result.runs], ignore_index=True)
    groups: dict[str, Any] = {
        "posterior": _by_chain(result, count, seed),
        "observed_data": {name: table[name].to_numpy() for name in result.runs.fields},
        "constant_data": {name: table[name].to_numpy() for name in ("t", *result.runs.coordinates)},
    }
    # Until its version 1 a group was an argument; since then there is one argument for all.
    return arviz.from_dict(**groups) if arviz.__version__.startswith("0.") else arviz.from_dict(groups)
