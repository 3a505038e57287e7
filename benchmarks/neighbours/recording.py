"""One noisy recording, drawn once, from which every program takes what it can use."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.neighbours.problems import Problem
from hiddenphysics.reproduction import Library
from hiddenphysics.snapshots import Snapshots


@dataclass(frozen=True)
class Recording:
    """A field over a grid of T times and N points, with noise.

    Parameters
    ----------
    snapshots
        All of it, as `hiddenphysics` takes it.
    times, x, values
        The same for programs that take arrays: shapes (T,), (N,) and (N, T, F).
    """

    snapshots: Snapshots
    times: NDArray[np.float64]
    x: NDArray[np.float64]
    values: NDArray[np.float64]

    def pair(self, index: int, gap: int) -> Snapshots:
        """Return the snapshots `index` and `index + gap` with all their points."""
        return self.snapshots[index : index + gap + 1 : gap]

    def starts(self, gap: int, pairs: int) -> list[int]:
        """Return the first indices of evenly spaced pairs, from the first to the last possible."""
        last = len(self.times) - 1 - gap
        return sorted({round(k * last / max(pairs - 1, 1)) for k in range(pairs)})


def record(problem: Problem, folder: Path | None, noise: float, seed: int = 0) -> Recording:
    """Read a recording from the folder of original files, or make our own (None), and add noise.

    The noise is white, its standard deviation `noise` times that of the field over the whole recording.
    """
    whole = Library(folder).open(problem.study)
    snapshots = whole.take(list(range(len(whole.times))))
    if noise:
        snapshots = snapshots.with_noise(noise, seed=seed)
    grids = [snapshots.field_grid(name) for name in problem.fields]
    return Recording(snapshots, grids[0][0], grids[0][1], np.stack([g[2].T for g in grids], axis=-1))
