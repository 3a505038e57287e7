"""What comes in from outside, as it goes on in time: splines with knots at the stops."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from hiddenphysics.models.flow.program import DEGREE


class Entering(NamedTuple):
    """How what comes from outside goes on in time: Σ_j c_j B_j(t), with S of the splines B at work in every gap.

    In the gap after stop k these are B_k, …, B_{k+S−1}, polynomials of the time since that stop.

    Attributes
    ----------
    knots
        (W, J) times of a window's own stops.
    gaps
        (W, J) times until the next one; after the last as long as before.
    shapes
        (W, J, S, 4) coefficients of 1, t, t², t³, over the usual time between stops: c counts as what comes in that
        time.
    """

    knots: Any
    gaps: Any
    shapes: Any

    @classmethod
    def smoothly(cls, times: np.ndarray) -> Entering:
        """Return cubic splines with knots at the stops (W, J): twice differentiable, however unequal the gaps.

        Where it was constant from stop to stop, a weather of one day that was seen four times a day had overtones of
        a third and a fifth of its size, which decay faster on their way in: the diffusivity of a twin of glacier ice
        came out 7 % too small, 4.6 of its deviations, over 30 days.
        """
        made = [_splines(np.unique(own)) for own in times]
        more = [times.shape[1] - len(shapes) for shapes in made]
        padded = [
            np.pad(one, ((0, n), (0, 0), (0, 0)), mode="edge") for one, n in zip(made, more, strict=True)
        ]
        return cls(times, _gaps(times), np.stack(padded) / usual_gaps(times)[:, None, None, None])

    @classmethod
    def steadily(cls, times: np.ndarray) -> Entering:
        """Return what is constant from stop to stop, as in results of before 19 November 2026."""
        shapes = np.zeros((*times.shape, 1, 4))
        shapes[..., 0] = 1.0
        return cls(times, _gaps(times), shapes / usual_gaps(times)[:, None, None, None])

    def weights(self, gap: Any, t: Any) -> jax.Array:
        """(S,) of the splines at a time in a gap of one window, 0 before the first; beyond the last they stay."""
        here = jnp.maximum(gap, 0)
        after = jnp.minimum(t - jnp.asarray(self.knots)[here], jnp.asarray(self.gaps)[here])
        return (gap >= 0) * (jnp.asarray(self.shapes)[here] @ after ** jnp.arange(4))


def _gaps(times: np.ndarray) -> np.ndarray:
    """(W, J) time from each of the times (W, J) to the next, and after the last one as long as before it."""
    gaps = np.diff(times, axis=1, append=times[:, -1:])
    last = np.max(np.where(gaps > 0, np.arange(gaps.shape[1]), 0), axis=1)
    return np.where(gaps > 0, gaps, np.take_along_axis(gaps, last[:, None], axis=1))


def _splines(stops: np.ndarray) -> np.ndarray:
    """(J, 4, 4) polynomials of the four cubic B-splines in the gap after each of J stops, one more than gaps."""
    from scipy.interpolate import BSpline  # a quarter of a second to import, for driven edges alone

    gaps = np.diff(stops) if len(stops) > 1 else np.ones(1)
    before = stops[0] + gaps[0] * np.arange(-DEGREE, 0)
    after = stops[-1] + gaps[-1] * np.arange(1, DEGREE + 2)
    knots = np.concatenate([before, stops, after])
    count = len(knots) - DEGREE - 1
    splines = BSpline(knots, np.eye(count), DEGREE)
    powers = [splines(stops, nu=p) / math.factorial(p) for p in range(DEGREE + 1)]
    return np.stack(
        [np.stack([one[k, k : k + DEGREE + 1] for one in powers], axis=1) for k in range(len(stops))]
    )


def usual_gaps(times: np.ndarray) -> np.ndarray:
    """(W,) mean time from one of the times (W, T) of a window to the next; 1 where there is one."""
    gaps = np.diff(times, axis=1)
    count = np.count_nonzero(gaps > 0, axis=1)
    return np.where(count > 0, np.sum(gaps, axis=1) / np.maximum(count, 1), 1.0)
