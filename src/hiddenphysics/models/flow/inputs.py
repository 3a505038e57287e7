"""Known inputs: fields with data and no equation of their own, smoothed at every stop, cubic in time between them.

How much of what is left open of them reaches the parameters is asked of draws from their posterior.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_solve, cholesky

from hiddenphysics.equation import Equation
from hiddenphysics.errors import DataError
from hiddenphysics.models.flow.envelope import Envelope
from hiddenphysics.models.flow.rungs import rung
from hiddenphysics.models.flow.smoothed import FINE_REACH, KERNELS, Smoothed, smooth
from hiddenphysics.models.flow.windows import Windows, gathered
from hiddenphysics.priors import Kernel, Prior
from hiddenphysics.snapshots import Snapshot, Snapshots
from hiddenphysics.spectral import Driving, Features, Grid

SMOOTHED_STOPS, MOST_POINTS = 8, 256
"""Snapshots of an input, and points of each, that tell its lengths and its noise."""

SEEN_POINTS = 1024
"""Points of a snapshot that its smoothed values are taken from."""

COVERED = 0.05
"""Part of the region by which the points of the other fields may reach beyond those of an input."""

AFTER = 1e-9
"""Part of the span by which times may lie beyond an input's: rounding."""


@dataclass(frozen=True)
class Input:
    """One input in every experiment.

    Attributes
    ----------
    name
        Of the field.
    runs
        Its snapshots, for every experiment.
    smoothed
        What its prior and its noise are.
    size
        In units of which these count.
    level
        Square of the mean of its values, in these units: the variance of an unknown constant.
    """

    name: str
    runs: tuple[Snapshots, ...]
    smoothed: Smoothed
    size: float
    level: float

    @classmethod
    def of(
        cls,
        name: str,
        runs: Sequence[Snapshots],
        coordinates: tuple[str, ...],
        kernels: Sequence[Kernel],
    ) -> Input:
        """Smooth some of an input's snapshots."""
        alone = Equation.parse(f"{name}_t = 0", fields=(name,), coordinates=coordinates)
        each = -(-SMOOTHED_STOPS // len(runs))
        some = [
            [run[int(i)] for i in np.linspace(0, len(run) - 1, min(each, len(run))).round()] for run in runs
        ]
        windows = gathered(alone, [Snapshots(s.sample(MOST_POINTS, seed=0) for s in stops) for stops in some])
        smoothed = smooth(windows, 0, kernels, even=True)
        size = float(windows.units[0])
        return cls(name, tuple(runs), smoothed, size, float(windows.means[0] / size) ** 2)

    @property
    def lengths(self) -> np.ndarray:
        """(D,) of its prior."""
        return np.exp(self.smoothed.theta[1:-1])

    def waves(self, grid: Grid) -> tuple[int, ...]:
        """Waves along each side of a box that its lengths need."""
        return tuple(
            rung(FINE_REACH[len(grid.shape)] / length * side / (2 * np.pi))
            for length, side in zip(self.lengths, grid.lengths, strict=True)
        )

    def modes(self, run: int, grid: Grid, rng: np.random.Generator | None) -> np.ndarray:
        """Modes (T, *modes) of its posterior mean at every stop of an experiment, or of a draw around it."""
        most = tuple((n - 1) // 2 for n in grid.shape)
        features = Features(grid, tuple(min(w, m) for w, m in zip(self.waves(grid), most, strict=True)))
        flat = Envelope.flat(1, len(grid.shape))
        prior = Prior(((self.name, self.smoothed.kernel),), tuple("xyz"[: len(grid.shape)]))
        spectrum = np.asarray(
            prior.spectrum(self.smoothed.theta, features.omega, features.measure, np.array([self.level]))
        )
        own = np.stack([axis.ravel() for axis in grid.points()], axis=1)
        basis = flat.basis(features, own)[0]
        noise = float(np.exp(self.smoothed.theta[-1]))
        made = []
        for A, factor, snapshot in self._factored(run, features, spectrum, noise):
            known = snapshot[self.name] / self.size
            if (
                rng is not None
            ):  # Matheron's rule: a draw from the prior, corrected by what the data say about it
                drawn = np.sqrt(spectrum) * rng.standard_normal(len(spectrum))
                known = (
                    known
                    + A @ drawn
                    + np.sqrt(_variances(snapshot, self, noise)) * rng.standard_normal(len(A))
                )
            z = spectrum * (A.T @ cho_solve((factor, True), known))
            z = z if rng is None else z - drawn
            values = self.size * (basis @ z).reshape(grid.shape)
            made.append(np.fft.rfftn(values, norm="forward") * grid.kept)
        return np.stack(made)

    def _factored(
        self, run: int, features: Features, spectrum: np.ndarray, noise: float
    ) -> Iterator[tuple[np.ndarray, np.ndarray, Snapshot]]:
        """Yield for every stop the features at its points (N, K), the factored covariance (N, N), and the snapshot."""
        flat = Envelope.flat(1, len(features.grid.shape))
        last: Snapshot | None = None
        for whole in self.runs[run]:
            snapshot = whole.sample(SEEN_POINTS, seed=0)
            alike = last is not None and not (snapshot.stds or last.stds) and len(snapshot) == len(last)
            if last is None or not (alike and snapshot.has_points_of(last)):
                A = flat.basis(features, snapshot.points)[0]
                factor = cholesky(
                    (A * spectrum) @ A.T + np.diag(_variances(snapshot, self, noise)), lower=True
                )
            last = snapshot
            yield A, factor, snapshot


def _variances(snapshot: Snapshot, one: Input, noise: float) -> np.ndarray:
    """(N,) of the errors of an input's values, in its units."""
    known = snapshot.stds.get(one.name, np.zeros(len(snapshot)))
    return noise + (known / one.size) ** 2


@dataclass(frozen=True)
class Inputs:
    """All inputs of an equation, in the order in which its system names them."""

    every: tuple[Input, ...]

    @classmethod
    def of(
        cls, equation: Equation, runs: Mapping[str, Sequence[Snapshots]], kernels: Mapping[str, Kernel]
    ) -> Inputs:
        """Smooth the inputs of an equation, name -> snapshots in every experiment."""
        usual = KERNELS[len(equation.coordinates)]
        offered = {name: (kernels[name],) if name in kernels else usual for name in equation.system.inputs}
        return cls(
            tuple(Input.of(name, runs[name], equation.coordinates, some) for name, some in offered.items())
        )

    @property
    def names(self) -> tuple[str, ...]:
        """Of the inputs."""
        return tuple(one.name for one in self.every)

    def finer(self, grid: Grid) -> float:
        """How many times more points a grid needs so that it carries all waves of the inputs; 1 at least."""
        needed = np.array([[2 * w + 2 for w in one.waves(grid)] for one in self.every])
        return float(np.max(needed / np.array(grid.shape), initial=1.0))

    def driving(self, windows: Windows, grid: Grid, seed: int | None = None) -> Driving:
        """Return the inputs in every window, with a leading axis W: their means, or with a seed draws around these.

        A window knows the stops of its experiment from its first one to the one after its last.
        """
        rng = None if seed is None else np.random.default_rng(seed)
        # Inputs with times of their own meet on all of them.
        whole = []
        for run in range(len(windows.experiments)):
            modes = [one.modes(run, grid, rng) for one in self.every]
            times = [one.runs[run].times for one in self.every]
            whole.append(_on_common_times(times, modes))
        parts = [
            _around(*whole[owner], window.times)
            for window, owner in zip(windows.windows, windows.owners, strict=True)
        ]
        count = rung(max(len(times) for times, _ in parts))
        each = [Driving.through(times, modes, count) for times, modes in parts]
        return Driving(*(np.stack(arrays) for arrays in zip(*each, strict=True)))


def _on_common_times(
    times: Sequence[np.ndarray], modes: Sequence[np.ndarray]
) -> tuple[np.ndarray, np.ndarray]:
    """Return times (T,) and modes (T, I, *modes) of inputs that may have been measured at other times each."""
    every = times[0]
    for other in times[1:]:
        every = np.union1d(every, other)
    every = every[(every >= max(t[0] for t in times)) & (every <= min(t[-1] for t in times))]
    rows = []
    for own, values in zip(times, modes, strict=True):
        if np.array_equal(own, every):
            rows.append(values)
        else:
            spline = Driving.through(own, values[:, None], len(own) - 1)
            rows.append(np.stack([np.asarray(spline.at(t))[0] for t in every]))
    return every, np.stack(rows, axis=1)


def _around(times: np.ndarray, modes: np.ndarray, stops: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Cut times and modes to what stops see: from the last time before them to the second after them."""
    first = max(int(np.searchsorted(times, stops[0], side="right")) - 1, 0)
    last = min(int(np.searchsorted(times, stops[-1], side="left")) + 1, len(times) - 1)
    return times[first : last + 1], modes[first : last + 1]


def check_covers(name: str, run: Snapshots, known: Snapshots, experiment: str) -> None:
    """Refuse an input that is not known at all times of an experiment, and everywhere that its points lie."""
    times, own = run.times, known.times
    where = f" of the experiment {experiment}" if experiment else ""
    slack = AFTER * (times[-1] - times[0])
    if len(own) < 2 or times[0] < own[0] - slack or times[-1] > own[-1] + slack:
        raise DataError(
            f"The input {name} is known from t = {own[0]:g} to {own[-1]:g}; the snapshots{where} lie between "
            f"{times[0]:g} and {times[-1]:g}. Give {name} over all that time, or leave out snapshots: --times."
        )
    for axis in run.coordinates:
        low, high = (f(s.span(axis)[end] for s in run) for f, end in ((min, 0), (max, 1)))
        inner = min(s.span(axis)[0] for s in known), max(s.span(axis)[1] for s in known)
        reach = COVERED * (high - low)
        if low < inner[0] - reach or high > inner[1] + reach:
            raise DataError(
                f"The input {name} is known for {axis} from {inner[0]:g} to {inner[1]:g}; the points{where} lie "
                f"between {low:g} and {high:g}. Give {name} over all of that region, or leave out points."
            )
