"""Where something comes in from outside: the padding of a box, and how finely it is seen there."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hiddenphysics.equation import Equation
from hiddenphysics.models.flow.instruments import position_sizes
from hiddenphysics.models.flow.program import is_layered
from hiddenphysics.models.flow.walls import Walls
from hiddenphysics.models.flow.windows import Region, Windows
from hiddenphysics.spectral import Grid

RAMP = 0.5
"""Part of the padding, at most, over which what comes from outside sets in."""

PER_EDGE, MOST_AT_EDGES = 3.0, 256
"""Points of a line's grid over the distance within which what comes from outside sets in, as long as the line has no
more than so many."""

APART = 0.1
"""Part of a line's box that keeps what comes in at one end apart from what comes in at the other."""


ELSEWHERE = 3.0
"""What comes in begins so many deviations of their position beyond the outermost sensors: none stands in it."""

HISTORY = 8
"""Shapes of what had come in at an end before the first stop. In a model of the ice's twin that shares no code with
this one, its lengths held, mean errors of six draws were 3.1 deviations with none, 0.6 with four whose widths double,
0.3 with six by √2, and 0.2 with ten."""

NARROWEST, WIDEST = 0.75, 0.25
"""Widths of these shapes: from three quarters of the distance of the two outermost sensors to a quarter of the data's
extent."""

OUTSIDE_WAVES, LAYER_WAVES = 8, 1
"""Waves along the box of what comes in from outside at every stop. It is smoothed on its way to the data: more waves do
not reach them. Of layers, one wave: both ends alike, and one against the other."""


def waves_of(equation: Equation) -> int:
    """Waves along the box of what comes in."""
    return LAYER_WAVES if is_layered(equation) else OUTSIDE_WAVES


@dataclass(frozen=True)
class Entry:
    """Where something comes in from outside: in the padding, finer the nearer the data.

    Of a field that diffuses it comes through a layer right beyond each end, as one function of time: of what is further
    out the data show no more. Sources at all distances would say, by how much of each is likely, how fast what they
    send arrives: of a twin of glacier ice whose sensors are off by 0.03 m that made most of what was known of the
    diffusivity, and it was off by one to three deviations, five times in five to the same side.

    A weather that changes from one stop to the next does not get far: what it does to the outermost sensor comes from
    as near as sensors stand to each other there. On a line the waves of what comes in are read at places that grow as
    the logarithm of the distance.

    Attributes
    ----------
    region, periods
        Where the data are, and (D,) after which the fields repeat along a side that is not open.
    nearest
        (D, 2) distance of the two outermost points at the low and at the high end of each side.
    layered
        Whether it comes in through a layer right beyond each end: all that a field that diffuses can show of it.
    enter
        Whether something comes in at the low and at the high end of a line.
    walls
        At which a line ends; None without any.
    margin
        (D,) distance from the outermost points at which it begins to come in: sensors may stand elsewhere than is said.
    """

    region: Region
    periods: tuple[float | None, ...]
    nearest: np.ndarray
    layered: bool = False
    enter: tuple[bool, bool] = (True, True)
    walls: Walls | None = None
    margin: tuple[float, ...] = ()

    @classmethod
    def of(cls, windows: Windows) -> Entry:
        """Read it from the first snapshot of all; in a plane distances to the next point mean little."""
        region = windows.region
        nearest = np.tile(region.extent[:, None], (1, 2))
        if len(region.extent) == 1:
            x = np.unique(windows.windows[0][0].points[:, 0])
            nearest = np.array([[x[1] - x[0], x[-1] - x[-2]]]) if x.size > 1 else nearest
        layered = is_layered(windows.equation)
        margin = tuple(ELSEWHERE * size for size in position_sizes(windows))
        return cls(region, windows.periods, nearest, layered, windows.edges.enter, windows.walls, margin)

    def _ramps(self, grid: Grid, side: int) -> tuple[np.ndarray, np.ndarray]:
        """Distances (2,) over which it sets in at both ends of a side, and (2,) the widths of the paddings there."""
        (low, high), region = grid.box[side], self.region
        widths = np.array([region.low[side] - low, high - region.high[side]])
        resolved = PER_EDGE * grid.lengths[side] / grid.shape[side]
        return np.minimum(RAMP * widths, np.maximum(self.nearest[side], resolved)), widths

    def fineness(self, grid: Grid) -> float:
        """Return how many times finer a grid has to be that shows what comes in near the data; 1 in a plane."""
        if len(grid.shape) > 1 or self.periods[0] is not None:
            return 1.0
        wanted = PER_EDGE * grid.lengths[0] / grid.shape[0] / float(self.nearest.min())
        return max(1.0, min(wanted, MOST_AT_EDGES / grid.shape[0]))

    def _away(self, axis: np.ndarray, side: int) -> tuple[np.ndarray, np.ndarray]:
        """How far places lie beyond the two ends of a side; not at all beyond one where nothing comes in."""
        if self.walls is not None:
            axis = self.walls.fold(axis)
        margin = self.margin[side] if self.margin else 0.0
        below, above = self.region.low[side] - margin - axis, axis - self.region.high[side] - margin
        low, high = self.enter if len(self.periods) == 1 else (True, True)
        return np.where(low, below, -np.abs(below)), np.where(high, above, -np.abs(above))

    def padding(self, grid: Grid) -> np.ndarray:
        """Return 0 around the data, 1 further out, and a smooth way between; (*shape)."""
        inside = np.ones(grid.shape)
        for d, (axis, period) in enumerate(zip(grid.axes, self.periods, strict=True)):
            if period is not None:
                continue
            below, above = self._away(axis, d)
            ramps, _ = self._ramps(grid, d)
            r = np.clip(np.where(below > 0, below / ramps[0], above / ramps[1]), 0.0, 1.0)
            ramp = 64 * (r * (1 - r)) ** 3 if self.layered else r**3 * (10 - 15 * r + 6 * r**2)
            if self.walls is not None:
                ramp = ramp * self.walls.signs(axis)
            inside = inside * (1 - ramp.reshape([-1 if e == d else 1 for e in range(inside.ndim)]))
        return 1 - inside

    def places(self, grid: Grid) -> np.ndarray | None:
        """Return on an open line where waves are read, (n,); None otherwise.

        Beyond the data's high end they take the first half of the box, beyond the low end the second, both by the
        logarithm of the distance.
        """
        if len(grid.shape) > 1 or self.periods[0] is not None:
            return None
        (axis,), (low, high) = grid.axes, grid.box[0]
        ramps, widths = self._ramps(grid, 0)
        if self.layered:
            below, above = self._away(axis, 0)
            return low + (high - low) * np.where(above > 0, 0.25, np.where(below > 0, 0.75, 0.5))
        below, above = (
            np.log1p(np.maximum(away, 0.0) / ramp) / np.log1p(width / ramp)
            for away, ramp, width in zip(self._away(axis, 0), ramps, widths, strict=True)
        )
        share = np.where(below > 0, 1 - APART - (0.5 - APART) * below, APART + (0.5 - APART) * above)
        return low + (high - low) * share

    @property
    def shortest(self) -> float:
        """Length that a first state on a line has at least beside its history: no sensors tell of shorter ones.

        Without it, what is left for the state to explain let it run to a tenth of that, on a grid of 3000 points.
        """
        return float(self.nearest.min())

    def before(self, grid: Grid, x: np.ndarray) -> np.ndarray:
        """Return what had come in through the layers at both ends before the first stop, (H, 2, N) at places x (N,).

        Heat that came in τ ago is spread over √(2Dτ): exp(−d²/2w²), d the distance from the layer's middle, w from
        narrow to wide. A prior with one length has no such first state: of glacier ice the first sensor sees waves of a
        day, the third one of weeks. Sensors that may stand elsewhere were moved until what they tell looked like that
        prior, and nine of forty 95 % intervals missed the diffusivity.
        """
        (low, high), ramps = grid.box[0], self._ramps(grid, 0)[0]
        period, extent = high - low, self.region.extent[0]
        here = np.asarray(x) if self.walls is None else self.walls.fold(np.asarray(x))
        margin = self.margin[0] if self.margin else 0.0
        middles = (self.region.low[0] - margin - ramps[0] / 2, self.region.high[0] + margin + ramps[1] / 2)
        shapes = np.zeros((HISTORY, 2, here.size))
        for end, (middle, near, enters) in enumerate(zip(middles, self.nearest[0], self.enter, strict=True)):
            if not enters:
                continue
            widths = np.geomspace(NARROWEST * near, max(WIDEST * extent, near), HISTORY)
            away = np.abs(here - middle)
            away = np.minimum(away, period - away)
            shapes[:, end] = np.exp(-0.5 * (away / widths[:, None]) ** 2)
        if self.walls is not None:
            shapes = shapes * self.walls.signs(np.asarray(x))
        return shapes
