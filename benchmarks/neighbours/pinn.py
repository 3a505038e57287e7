"""DeepXDE: a small physics-informed network for the field, its equation's parameters trained along with it."""

from __future__ import annotations

import contextlib
import io
import os
import time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.neighbours.extra import load_neighbour
from benchmarks.neighbours.fit import Fit, Job
from benchmarks.neighbours.problems import PROBLEMS, Problem
from benchmarks.neighbours.recording import Recording

Array = NDArray[np.float64]

LAYERS = (2, 32, 32, 32, 1)
SECONDS = 180.0
"""Of the processor, for training, without what compiles before the first step: of the fourth derivative of Kuramoto and
Sivashinsky's equation that took as long again."""
STEPS = 20_000
LEAST_STEPS = 100
"""Fewer are no answer."""
RATE = 3e-3
COLLOCATION = 500
MEASURED = 1000
"""Values drawn from the whole recording where all of it is open to the network."""
DATA_WEIGHT = 10.0


def fit(job: Job, recording: Recording) -> list[Fit]:
    """Train on a pair at the paper's points (those that ours gets), or on values drawn from the whole recording."""
    problem = PROBLEMS[job.problem]
    places, values = measured(job, problem, recording)
    began = time.perf_counter()
    with contextlib.redirect_stdout(io.StringIO()):
        estimates, steps = train(problem, places, values)
    seconds = time.perf_counter() - began
    setting = f"{len(LAYERS) - 2} layers of {LAYERS[1]}, Adam at {RATE:g} falling, {steps} steps"
    return [Fit(job, "told", setting, len(values), estimates, (), (), seconds, answered=steps >= LEAST_STEPS)]


def measured(job: Job, problem: Problem, recording: Recording) -> tuple[Array, Array]:
    """Return places (n, 2) = (x, t) and values (n,) of what the network may see."""
    if job.gap:
        pair = recording.pair(job.index, job.gap).subsample(list(problem.points), seed=job.index)
        places = np.concatenate([np.column_stack([s["x"], np.full(len(s), s.t)]) for s in pair])
        return places, np.concatenate([s[problem.fields[0]] for s in pair])
    grid = np.stack(np.meshgrid(recording.x, recording.times, indexing="ij"), axis=-1).reshape(-1, 2)
    drawn = np.random.default_rng(0).choice(len(grid), size=min(MEASURED, len(grid)), replace=False)
    return grid[drawn], recording.values.reshape(-1)[drawn]


def train(problem: Problem, places: Array, values: Array) -> tuple[dict[str, float], int]:
    """Return the parameters after training from zero, and the number of steps made in the time allowed."""
    os.environ.setdefault("DDE_BACKEND", "jax")
    deepxde = load_neighbour("deepxde")
    deepxde.config.set_random_seed(0)
    low, high, spread = places.min(axis=0), places.max(axis=0), float(np.std(values))
    region = deepxde.geometry.GeometryXTime(
        deepxde.geometry.Interval(low[0], high[0]), deepxde.geometry.TimeDomain(low[1], high[1])
    )
    data = deepxde.data.TimePDE(
        region,
        _residual(problem, deepxde),
        [deepxde.icbc.PointSetBC(places, values[:, None])],
        num_domain=COLLOCATION,
        train_distribution="Hammersley",
    )
    network = deepxde.nn.FNN(list(LAYERS), "tanh", "Glorot normal")
    # Single precision, its default: a NumPy float64 here would make all of it double.
    middle, half = np.float32(low + high) / 2, np.float32(high - low) / 2
    network.apply_feature_transform(lambda place: (place - middle) / half)
    network.apply_output_transform(lambda place, output: spread * output)
    unknowns = [deepxde.Variable(0.0) for _ in problem.truth]
    model = deepxde.Model(data, network)
    model.compile(
        "adam",
        lr=RATE,
        decay=("cosine", STEPS, 0.01),
        loss_weights=[1 / spread**2, DATA_WEIGHT / spread**2],
        external_trainable_variables=unknowns,
        verbose=0,
    )
    model.train(iterations=1, display_every=1000, verbose=0)  # compiles
    _, state = model.train(
        iterations=STEPS - 1,
        display_every=1000,
        callbacks=[_budget(deepxde)],
        verbose=0,
    )
    found = {name: float(unknown.value) for name, unknown in zip(problem.truth, unknowns, strict=True)}
    return found, int(state.step)


def _budget(deepxde: Any) -> Any:
    """Return what ends training after so many seconds of the processor; a busy machine's clock is nobody's fault."""
    began = time.process_time()

    class Budget(deepxde.callbacks.Callback):  # type: ignore[misc]  # of a package without types
        def on_epoch_end(self) -> None:
            self.model.stop_training = time.process_time() - began > SECONDS

    return Budget()


def _residual(problem: Problem, deepxde: Any) -> Any:
    """Return u_t − Σ factor · parameter · feature as DeepXDE's JAX backend wants it."""
    order = list(problem.truth)

    def residual(place: Any, field: Any, unknowns: Any = None) -> Any:
        total = deepxde.grad.jacobian(field, place, i=0, j=1)[0]
        for term in problem.terms:
            value = field
            for _ in range(term.feature.count("1")):
                value = deepxde.grad.jacobian(value, place, i=0, j=0)
            product = field[0] * value[0] if term.feature.startswith("uu_") else value[0]
            total = total - term.factor * unknowns[order.index(term.parameter)] * product
        return total

    return residual
