"""Time and memory in planes and volumes: two snapshots of N random points each, 1 % noise, model flow.

`python -m benchmarks.planes --to RESULTS --workers 4` fits, each in a fresh process: Fisher's and Burgers' equations in
a plane (2 × 10⁴ values), the heat equation and a Beltrami flow in a volume (2 × 2000 values), Taylor and Green's
vortices in a stream, seen through a window without periods; and Boussinesq's convection in four snapshots, whose
temperature w nobody measured.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

import jax.numpy as jnp
import numpy as np

from benchmarks.cases import Case, Row, answered, arguments, carry_out, fitted, table, write
from hiddenphysics.snapshots import Snapshot, Snapshots
from hiddenphysics.spectral import Motion, values_at

Fields = Mapping[str, np.ndarray]
SIDE, NOISE = 8.0, 0.01
AT_A_TIME = 1000
"""Points at which the simulated fields are read at once."""


class Problem(NamedTuple):
    """An equation, its truth, the gap, points of a snapshot, the window's sides, and how fields are made.

    There are `snapshots`, two as a rule, of all fields but the `hidden` ones. `fields` takes a generator of random
    numbers and returns time, points (N, D) -> values by name.
    """

    equation: str
    truth: Mapping[str, float]
    gap: float
    points: int
    window: tuple[float, ...]
    fields: Callable[[Problem, np.random.Generator], Callable[[float, np.ndarray], Fields]]
    snapshots: int = 2
    hidden: str = ""


def simulated(
    problem: Problem, rng: np.random.Generator, level: float = 0.0, size: float = 0.5
) -> Callable[[float, np.ndarray], Fields]:
    """Return fields moved by the equation itself in a larger, periodic plane, from a few random waves."""
    motion = Motion.of(problem.equation, {"x": (0.0, SIDE), "y": (0.0, SIDE)}, 96)
    x, y = motion.grid.points()
    begun = []
    for _ in motion.state:
        waves = [
            (rng.integers(-4, 5, 2), rng.standard_normal(), rng.uniform(0, 2 * np.pi)) for _ in range(12)
        ]
        field = sum(a * np.cos(2 * np.pi / SIDE * (k[0] * x + k[1] * y) + f) for k, a, f in waves)
        begun.append(level + size * field / np.std(field))
    modes = motion.allowed(motion.grid.to_modes(jnp.asarray(np.stack(begun))), dict(problem.truth))

    def at(t: float, points: np.ndarray) -> Fields:
        moved = motion.run(modes, dict(problem.truth), 0.2 + t, 100)
        parts = np.array_split(points, max(len(points) // AT_A_TIME, 1))
        values = [np.asarray(values_at(motion.grid, moved, jnp.asarray(part))) for part in parts]
        return dict(zip(motion.state, np.concatenate(values, axis=1), strict=True))

    return at


def warm(problem: Problem, rng: np.random.Generator) -> Callable[[float, np.ndarray], Fields]:
    """Return a sum of waves that decay, the heat equation's own."""
    waves = np.array([(1, 0, 1), (0, 1, 2), (2, 1, 0), (1, 1, 1), (0, 2, 1)])
    sizes, phases = rng.standard_normal(len(waves)), rng.uniform(0, 2 * np.pi, len(waves))
    rates = problem.truth["d"] * np.sum(waves**2, axis=1)
    return lambda t, points: {"u": np.cos(points @ waves.T + phases) @ (sizes * np.exp(-rates * t))}


def beltrami(problem: Problem, rng: np.random.Generator) -> Callable[[float, np.ndarray], Fields]:
    """Return the flow of Arnold, Beltrami and Childress in a stream: vorticity along velocity, so it only decays."""
    A, B, C, stream = 1.0, 0.8, 0.6, np.array([0.4, 0.3, -0.2])

    def at(t: float, points: np.ndarray) -> Fields:
        x, y, z = (points - stream * t).T
        left = np.exp(-problem.truth["b"] * t)
        return {
            "u": stream[0] + left * (A * np.sin(z) + C * np.cos(y)),
            "v": stream[1] + left * (B * np.sin(x) + A * np.cos(z)),
            "w": stream[2] + left * (C * np.sin(y) + B * np.cos(x)),
        }

    return at


def vortices(problem: Problem, rng: np.random.Generator) -> Callable[[float, np.ndarray], Fields]:
    """Return Taylor and Green's vortices, carried along x by a stream."""
    drift = 0.5

    def at(t: float, points: np.ndarray) -> Fields:
        x, y = points.T
        left = np.exp(-2 * problem.truth["b"] * t)
        return {
            "u": drift - left * np.cos(x - drift * t) * np.sin(y),
            "v": left * np.sin(x - drift * t) * np.cos(y),
        }

    return at


def _stream(names: str, axes: str) -> str:
    """Return Navier and Stokes' equations in the given coordinates."""
    rows = [
        f"{c}_t + a*({' + '.join(f'{v}*{c}_{x}' for v, x in zip(names, axes, strict=True))}) + p_{own} - b*lap({c}) = 0"
        for c, own in zip(names, axes, strict=True)
    ]
    return "; ".join([*rows, " + ".join(f"{v}_{x}" for v, x in zip(names, axes, strict=True)) + " = 0"])


BURGERS = "u_t + a*(u*u_x + v*u_y) - b*lap(u) = 0; v_t + a*(u*v_x + v*v_y) - b*lap(v) = 0"
CONVECTION = (
    "u_t + u*u_x + v*u_y + p_x - n*lap(u) = 0; v_t + u*v_x + v*v_y + p_y - n*lap(v) - w = 0; "
    "w_t + u*w_x + v*w_y - k*lap(w) = 0; u_x + v_y = 0"
)
PROBLEMS = {
    "Fisher": Problem(
        "u_t - d*lap(u) - r*u*(1 - u) = 0", {"d": 0.1, "r": 1.0}, 0.3, 10_000, (5.0, 5.0),
        lambda problem, rng: simulated(problem, rng, 0.5, 0.15),
    ),
    "Burgers": Problem(BURGERS, {"a": 1.0, "b": 0.05}, 0.2, 5_000, (5.0, 5.0), simulated),
    "heat": Problem("u_t - d*lap(u) = 0", {"d": 0.1}, 0.5, 2_000, (4.0, 4.0, 4.0), warm),
    "Beltrami": Problem(_stream("uvw", "xyz"), {"a": 1.0, "b": 0.1}, 0.2, 667, (4.0, 4.0, 4.0), beltrami),
    "Boussinesq": Problem(
        CONVECTION, {"n": 0.1, "k": 0.15}, 0.4, 120, (5.0, 5.0), simulated, snapshots=4, hidden="w"
    ),
    "Taylor-Green": Problem(_stream("uv", "xy"), {"a": 1.0, "b": 0.05}, 0.2, 250, (3.0, 3.0), vortices),
}  # fmt: skip


def pair(problem: Problem, points: int, seed: int) -> Snapshots:
    """Return snapshots at random points of the window, other points in each, with noise."""
    rng = np.random.default_rng(seed)
    fields = problem.fields(problem, rng)
    made = []
    for t in problem.gap * np.arange(problem.snapshots):
        places = 1.0 + rng.uniform(0, 1, (points, len(problem.window))) * problem.window
        seen = {f: v for f, v in fields(t, places).items() if f not in problem.hidden}
        values = {f: v + NOISE * v.std() * rng.standard_normal(points) for f, v in seen.items()}
        made.append(Snapshot(t=t, **dict(zip("xyz", places.T, strict=False)), **values))
    return Snapshots(made)


def answer(case: Case) -> Row:
    """Fit one pair by the flow."""
    problem = PROBLEMS[case["problem"]]
    data = pair(problem, case["points"], case["seed"])
    return fitted(problem.equation, data, model="flow", time_limit=3600)[1]


def report(rows: Sequence[Row]) -> str:
    """Return the table."""
    head = "problem, points, seconds, seconds a round, rounds, peak GiB, parameter, truth, estimate, deviation, status"
    return "## Planes and volumes\n\n" + table(
        head.split(", "), (line for row in rows for line in _lines(row))
    )


def _lines(row: Row) -> Iterator[Sequence[object]]:
    case = row["case"]
    for name, truth in PROBLEMS[case["problem"]].truth.items():
        numbers = [row.get(key) for key in ("seconds", "round_seconds", "rounds", "peak")]
        told = [row.get(key, {}).get(name) for key in ("estimates", "stds")]
        yield (
            case["problem"],
            f"{PROBLEMS[case['problem']].snapshots} × {case['points']}",
            *numbers,
            name,
            truth,
            *told,
            row["status"],
        )


def main(words: Sequence[str] | None = None) -> None:
    """Read the command line, run what is left, write the table."""
    parser = arguments(__doc__)
    parser.add_argument("--problems", nargs="+", choices=PROBLEMS, default=list(PROBLEMS), help="which; all")
    parser.add_argument("--draws", type=int, default=1, help="so many of each; 1")
    given = parser.parse_args(words)
    if given.case:
        return answered(answer, given.case)
    cases = [
        {"problem": name, "points": 60 if given.small else PROBLEMS[name].points, "seed": seed}
        for name in (["heat"] if given.small else given.problems)
        for seed in range(given.draws)
    ]
    rows = carry_out("benchmarks.planes", cases, given.to, retry=given.retry, workers=given.workers)
    return write(given.to, "planes", report(rows))


if __name__ == "__main__":
    main()
