"""A kernel, an integrator, a model, a reader and a data set from outside the package: each one file and one line."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import jax.numpy as jnp
import numpy as np
import pytest
from typer.testing import CliRunner

import hiddenphysics as hp
from hiddenphysics.cli import app, spread
from hiddenphysics.datasets import DATASETS
from hiddenphysics.models import MODELS
from hiddenphysics.priors import KERNELS, kernel_from_dict, kernel_from_text, kernel_to_dict
from hiddenphysics.registry import Registry
from hiddenphysics.simulate import simulate
from hiddenphysics.snapshots import READERS
from hiddenphysics.spectral import INTEGRATORS, Motion

REGISTRIES: tuple[Registry, ...] = (KERNELS, INTEGRATORS, MODELS, READERS, DATASETS)
HEAT = "u_t - b*u_xx = 0"

Adds = Callable[[str], ModuleType]


@pytest.fixture
def add(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Adds]:
    """Write a file outside the package and import it; what it registers is forgotten after the test."""
    for registry in REGISTRIES:
        monkeypatch.setattr(registry, "_things", dict(registry._things))
    names = []

    def write(source: str) -> ModuleType:
        names.append(f"outside_{len(names)}")
        file = tmp_path / f"{names[-1]}.py"
        file.write_text(source)
        spec = importlib.util.spec_from_file_location(names[-1], file)
        module = importlib.util.module_from_spec(spec)
        sys.modules[names[-1]] = module  # as an import would: dataclasses look their module up
        spec.loader.exec_module(module)
        return module

    yield write
    for name in names:
        del sys.modules[name]


def snapshots(gap: float = 0.01, count: int = 25) -> list[hp.Snapshot]:
    """Two decaying modes: an exact solution of the heat equation with b = 0.2."""
    x = np.linspace(0.0, 2 * np.pi, count)
    waves = [
        (t, np.exp(-0.2 * t) * np.sin(x) + 0.5 * np.exp(-0.8 * t) * np.cos(2 * x)) for t in (1.0, 1.0 + gap)
    ]
    return [hp.Snapshot(t=t, x=x, u=u) for t, u in waves]


# ---- a kernel --------------------

KERNEL = '''
import math
from dataclasses import dataclass

import jax.numpy as jnp

from hiddenphysics.priors import KERNELS, Kernel


@dataclass(frozen=True)
class Narrow(Kernel):
    """exp(-r^2/l^2): a squared exponential of length l/sqrt(2)."""

    def derivatives(self, r, order, parameters):
        inverse = 2.0 / jnp.square(parameters["length"])
        table = [jnp.exp(-0.5 * inverse * r * r)]
        for n in range(order):
            table.append(-inverse * (r * table[n] + (n * table[n - 1] if n else 0.0)))
        return table

    def spectral_density(self, omega, parameters):
        length = parameters["length"] / math.sqrt(2.0)
        return math.sqrt(2 * math.pi) * length * jnp.exp(-0.5 * jnp.square(omega * length))


KERNELS.add("narrow", Narrow)
'''


def test_a_kernel(add: Adds, tmp_path: Path) -> None:
    """The same process as the squared exponential's, under another length: same answer, by name, on disk too."""
    kernel = add(KERNEL).Narrow()
    assert kernel_from_text("narrow") == kernel == kernel_from_dict(kernel_to_dict(kernel))
    for model in ("paper", "flow"):
        ours = hp.identify(HEAT, snapshots(), model=model, kernel=hp.SquaredExponential())
        theirs = hp.identify(HEAT, snapshots(), model=model, kernel=kernel)
        one, other = ours.parameters["b"], theirs.parameters["b"]
        assert other.estimate == pytest.approx(one.estimate, abs=0.05 * one.std)
        ratio = theirs.values["u.length_x"] / ours.values["u.length_x"]
        assert ratio == pytest.approx(np.sqrt(2), rel=0.05)
    saved = hp.load(theirs.save(tmp_path / "fit.nc"))
    assert saved.values == theirs.values


def test_a_kernel_that_nobody_added_is_told_how(add: Adds, tmp_path: Path) -> None:
    kernel = add(KERNEL.replace('KERNELS.add("narrow", Narrow)', "")).Narrow()
    fit = hp.identify(HEAT, snapshots(), model="paper", kernel=kernel)
    with pytest.raises(hp.ModelError, match=r"no kernel that was added by a name.*KERNELS\.add"):
        fit.save(tmp_path / "fit.nc")


# ---- an integrator --------------------

INTEGRATOR = '''
from dataclasses import dataclass
from typing import ClassVar

import jax.numpy as jnp

from hiddenphysics.spectral import INTEGRATORS, Integrator


@dataclass(frozen=True)
class Lawson(Integrator):
    """u+ = e^{hL} (u + h R(u)): the integrating factor with Euler's step, of order one; numbers L only."""

    order: ClassVar[int] = 1

    def weights(self, symbol, dt, *, coupled):
        return dt, jnp.exp(symbol * dt)

    def step(self, modes, t, by, rest):
        dt, factor = by
        return factor * (modes + dt * rest(modes, t))


INTEGRATORS.add("lawson", Lawson())
'''


def test_an_integrator(add: Adds) -> None:
    """Its measured order is one, and the simulator controls its error by that order."""
    lawson = add(INTEGRATOR).Lawson()
    text, values = "u_t + a*u*u_x - b*u_xx = 0", {"a": 1.0, "b": 0.5}
    ours, theirs = (
        Motion.of(text, (0, 2 * np.pi), 32, integrator=i) for i in (INTEGRATORS["krogstad"], lawson)
    )
    start = jnp.asarray(np.sin(ours.grid.points()[0])[None])
    truth = ours.advance(start, values, 0.5, 64)
    coarse, fine = (float(jnp.max(jnp.abs(theirs.advance(start, values, 0.5, n) - truth))) for n in (64, 128))
    assert np.log2(coarse / fine) == pytest.approx(1.0, abs=0.1)
    run = simulate(
        text,
        {"u": np.sin},
        box=(0, 2 * np.pi),
        shape=32,
        times=[0, 0.5],
        parameters=values,
        tolerance=1e-3,
        integrator="lawson",
    )
    assert float(np.max(np.abs(run.u[-1].to_numpy() - np.asarray(truth)[0]))) < 3e-3


# ---- a model --------------------

MODEL = '''
from dataclasses import dataclass

import numpy as np

from hiddenphysics.learning import Status, Verdict
from hiddenphysics.models import MODELS, Fit, Model


@dataclass(frozen=True)
class Differences(Model):
    """b of the heat equation by central differences on one grid: for nothing but a test."""

    name: str = "differences"

    def applies(self, question):
        return None if question.equation.parameters == ("b",) else "There is more than b."

    def linearise(self, task, at):
        first, second = task
        x, u = first["x"], 0.5 * (first["u"] + second["u"])
        curvature = np.gradient(np.gradient(u, x, edge_order=2), x, edge_order=2)[2:-2]
        return curvature, ((second["u"] - first["u"]) / (second.t - first.t))[2:-2]

    def log_density(self, linear, vector):
        curvature, rate = linear
        return -0.5 * float(np.sum((rate - vector[0] * curvature) ** 2))

    def learn(self, question, say):
        say("taking differences")
        curvature, rate = linear = self.linearise(tuple(question.snapshots), None)
        b = float(curvature @ rate / (curvature @ curvature))
        spread = float(np.std(rate - b * curvature) / np.linalg.norm(curvature))
        return Fit(
            values={"b": b, "noise.variance": 1e-6},
            covariance=np.diag([spread**2, 0.0]),
            evidence=self.log_density(linear, np.array([b])),
            verdict=Verdict(Status.CONVERGED, "Differences were taken."),
            jitter=0.0,
            evaluations=1,
            learned=question.snapshots,
        )

    def predict(self, learned, text, points, t):
        share = (t - learned[0].t) / (learned[1].t - learned[0].t)
        values = (1 - share) * learned[0][text] + share * learned[1][text]
        return np.interp(points[:, 0], learned[0]["x"], values), np.full(len(points), 0.01)

    def draw(self, learned, text, points, t, count, seed):
        mean, std = self.predict(learned, text, points, t)
        return mean + std * np.random.default_rng(seed).standard_normal((count, len(points)))

    def pack(self, learned):
        return {}, {}

    def unpack(self, question, values, plain, arrays):
        return question.snapshots


MODELS.add("differences", Differences())
'''


def test_a_model(add: Adds, tmp_path: Path) -> None:
    """It answers by name, predicts, draws a picture, is saved and loaded, from Python and from a shell."""
    add(MODEL)
    fit = hp.identify(HEAT, snapshots(count=60), model="differences")
    assert fit.model == "differences"
    assert fit.parameters["b"].estimate == pytest.approx(0.2, rel=0.05)
    x = np.linspace(1, 5, 7)
    mean, _ = fit.predict("u", x, t=1.0)
    assert mean == pytest.approx(np.exp(-0.2) * np.sin(x) + 0.5 * np.exp(-0.8) * np.cos(2 * x), abs=0.02)
    assert fit.sample("u", x, t=1.0, count=3, seed=0).shape == (3, 7)
    fit.plot(tmp_path / "fit.png")
    assert (tmp_path / "fit.png").stat().st_size > 0
    again = hp.load(fit.save(tmp_path / "fit.nc"))
    np.testing.assert_array_equal(again.predict("u", x, t=1.005), fit.predict("u", x, t=1.005))
    with pytest.raises(
        hp.ModelError, match="The model 'differences' knows the fields between its snapshots only"
    ):
        fit.simulate([2.0])
    with pytest.raises(hp.ModelError, match="by name it exists for midpoint, paper"):
        _ = fit.problem
    with pytest.raises(hp.ModelError, match="known are auto, flow, midpoint, paper, differences"):
        hp.identify(HEAT, snapshots(), model="difference")
    hp.Snapshots(snapshots(count=60)).to_table().to_csv(tmp_path / "heat.csv", index=False)
    words = ["identify", str(tmp_path / "heat.csv"), "--pde", HEAT, "--model", "differences"]
    outcome = CliRunner().invoke(app, spread(words))
    assert outcome.exit_code == 0
    assert "model      differences" in outcome.output


# ---- a reader --------------------

READER = '''
import numpy as np

from hiddenphysics.snapshots import READERS, Snapshot, Snapshots


def read_lines(path, request):
    """One snapshot a line: the time, then x and u in turn."""
    rows = [np.array(line.split(), float) for line in path.read_text().splitlines()]
    return Snapshots(Snapshot(t=row[0], x=row[1::2], u=row[2::2], missing=request.missing) for row in rows)


READERS.add(".lines", read_lines)
'''


def test_a_reader(add: Adds, tmp_path: Path) -> None:
    add(READER)
    file = tmp_path / "heat.lines"
    file.write_text(
        "\n".join(
            " ".join(map(repr, [s.t, *np.stack([s["x"], s["u"]], axis=1).ravel().tolist()]))
            for s in snapshots()
        )
    )
    one, other = hp.identify(HEAT, file, model="paper"), hp.identify(HEAT, snapshots(), model="paper")
    assert one.values == other.values


# ---- a data set --------------------

DATASET = """
import numpy as np
import xarray as xr

from hiddenphysics.datasets import DATASETS, Recipe


def build(progress):
    t, x = np.array([0.0, 0.01]), np.linspace(0.0, 6.0, 25)
    return xr.Dataset({"u": (("t", "x"), np.exp(-0.2 * t)[:, None] * np.sin(x))}, {"t": t, "x": x})


DATASETS.add("one_wave", Recipe("One wave.", "u_t - b*u_xx = 0", {"b": 0.2}, {"points": 25}, build))
"""


def test_a_data_set(add: Adds, tmp_path: Path) -> None:
    add(DATASET)
    assert "one_wave" in hp.datasets.names()
    data = hp.datasets.load("one_wave", folder=tmp_path)
    assert data.attrs["equation"] == HEAT
    fit = hp.identify(data.attrs["equation"], data, model="paper")
    assert fit.parameters["b"].estimate == pytest.approx(0.2, rel=0.02)


def test_a_name_is_taken_once() -> None:
    for registry in REGISTRIES:
        name = next(iter(registry))
        with pytest.raises(hp.HiddenPhysicsError, match="already; choose another name"):
            registry.add(name, registry[name])
