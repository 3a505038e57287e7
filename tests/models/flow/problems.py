"""Small problems of the flow model whose box, prior and state are given: nothing is smoothed or guessed."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hiddenphysics.equation import Equation
from hiddenphysics.models.flow.domain import domain_of
from hiddenphysics.models.flow.envelope import Envelope
from hiddenphysics.models.flow.flow_task import FlowTask
from hiddenphysics.models.flow.one_round import Point
from hiddenphysics.models.flow.windows import gathered
from hiddenphysics.priors import Prior, SquaredExponential
from hiddenphysics.simulate.exact import burgers, gaussian_pulse
from hiddenphysics.snapshots import Snapshot, Snapshots

BURGERS = "u_t + a*u*u_x - b*u_xx = 0"
TRUTH = {"a": 1.0, "b": 0.2}
EQUATION = Equation.parse(BURGERS, fields=("u",), coordinates=("x",))
ENDS, LENGTH = (-4.0, 5.0), 1.2


def pulse(t: float, x: np.ndarray) -> np.ndarray:
    """A hump that steepens, by Cole and Hopf."""
    return burgers(gaussian_pulse, t, x, TRUTH["b"], speed=TRUTH["a"], reach=16.0, nodes=1601)


def snapshots(times: Sequence[float], points: int, noise: float, seed: int = 0) -> Snapshots:
    """Values at random points, the ends of the region among them."""
    random = np.random.default_rng(seed)
    made = []
    for t in times:
        x = np.sort(np.concatenate([ENDS, random.uniform(*ENDS, points - 2)]))
        made.append(Snapshot(t, x, u=pulse(t, x) + noise * random.standard_normal(points)))
    return Snapshots(made)


def problem(windows: Sequence[Snapshots], noise: float) -> tuple[FlowTask, Point]:
    """Return the task, and the point of the true parameters with states that follow the first snapshots."""
    data = gathered(EQUATION, windows)
    prior = Prior((("u", SquaredExponential()),), ("x",))
    relative = (noise / data.sizes[0]) ** 2
    theta = np.log([data.sizes[0] ** 2, LENGTH, relative])
    flat = Envelope.flat(len(windows), 1)
    domain = domain_of(data, prior, [flat], np.array([[LENGTH]]), relative)
    task = FlowTask.of(data, prior, domain, theta, np.ones(2))
    x = np.linspace(*ENDS, 100)
    A, features = domain.features.at(x[:, None]), domain.features
    spectrum = np.asarray(prior.spectrum(theta, features.omega, features.measure, np.zeros(1)))
    K = (A * spectrum) @ A.T + 1e-8 * np.eye(100)
    z = [spectrum * (A.T @ np.linalg.solve(K, pulse(window.times[0], x))) for window in windows]
    return task, Point(np.stack(z), np.array(list(TRUTH.values())), theta)
