"""Where the rounds begin: smoothed snapshots, a box that resolves them, and a first guess of the parameters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from hiddenphysics.equation import Equation, velocity
from hiddenphysics.errors import ModelError
from hiddenphysics.gaussian import posterior, reduce
from hiddenphysics.learning import MOST_POINTS, Guess, Progress, Source, first_guess, silent
from hiddenphysics.models.flow.border import with_first_sizes, with_groups
from hiddenphysics.models.flow.domain import Domain, domain_of
from hiddenphysics.models.flow.envelope import Envelope
from hiddenphysics.models.flow.processes import joint_prior, levels_of, relative_sizes, with_outside
from hiddenphysics.models.flow.smoothed import (
    KERNELS,
    Smoothed,
    common_envelope,
    smooth,
    states,
    with_common_noise,
)
from hiddenphysics.models.flow.windows import Windows
from hiddenphysics.operators import Symbol
from hiddenphysics.priors import Kernel, Prior
from hiddenphysics.spectral import (
    Driving,
    Features,
    Group,
    groups_of,
    process_count,
    seen_through,
    wave_matrix,
)

MOST_SMOOTHED = {1: 400, 2: 400, 3: 400}
"""Points of a snapshot that take part in its smoothing: they resolve what a first state has to, and the rounds take all
points. With as many, smoothing takes a second."""

TIED_OUTSIDE = {1: 4, 2: 4, 3: 2}
"""Waves along the box, where fields are tied together, of what comes in from outside between two snapshots: a pressure
that the world around exerts on the data, which is harmonic there, and so smooth."""

MORE_ROOM = 2.0
"""How much more padding a box gets when the search in the usual one ends badly."""


@dataclass(frozen=True)
class Beginning:
    """Where the rounds begin.

    Attributes
    ----------
    windows, thinned
        The data, in units in which all fields have the same noise, and those of them that were smoothed.
    prior, theta
        The prior and its vector.
    domain
        The box.
    z
        States (W, R·K + …) at the first stop of each window, and nothing that comes in from outside.
    guess
        Of the parameters.
    smoothed
        Each measured field by itself.
    """

    windows: Windows
    thinned: Windows
    prior: Prior
    domain: Domain
    z: np.ndarray
    guess: Guess
    theta: np.ndarray
    smoothed: tuple[Smoothed, ...]

    @property
    def parameters(self) -> np.ndarray:
        """(P,) guessed parameters."""
        return vector_of(self.windows.equation, self.guess.estimate, 0.0)

    @property
    def others(self) -> list[np.ndarray]:
        """Other guesses."""
        return [vector_of(self.windows.equation, other, 0.0) for other in self.guess.others]

    @property
    def scale(self) -> np.ndarray:
        """(P,) natural sizes of the parameters, at the guess."""
        return vector_of(self.windows.equation, self.guess.scale, np.inf)

    def scale_at(self, parameters: np.ndarray) -> np.ndarray:
        """(P,) natural sizes of the parameters, at an estimate."""
        equation = self.windows.equation
        named = dict(zip(equation.parameters, parameters.tolist(), strict=True))
        return vector_of(equation, self.guess.scale_at(named), np.inf)


def vector_of(equation: Equation, numbers: Mapping[str, float], otherwise: float) -> np.ndarray:
    """Return numbers by name in the order of the parameters, (P,); a guess knows no coefficients with a prior."""
    return np.array([numbers.get(name, otherwise) for name in equation.parameters])


def beginning_of(windows: Windows, kernels: Mapping[str, Kernel], say: Progress = silent) -> Beginning:
    """Smooth every measured field, choose the box, and regress; kernels that were not given are chosen by evidence.

    Of very many points some are enough for that.
    """
    whole, windows = windows, windows.thinned(MOST_SMOOTHED[len(windows.equation.coordinates)])
    all_points = windows is whole
    smoothed = []
    groups = groups_of(windows.equation)
    tied = process_count(groups) < len(windows.state)
    for row, field in enumerate(windows.measured):
        given = kernels.get(windows.state[field])
        offered = KERNELS[len(windows.equation.coordinates)] if given is None else (given,)
        smoothed.append(smooth(windows, row, offered, even=tied or windows.walls is not None, say=say))
    windows, smoothed = with_common_noise(windows, smoothed)
    prior, theta = with_groups(*joined(windows, smoothed, kernels), windows)
    envelopes = [_envelope(windows, group, smoothed) for group in groups for _ in range(group.free)]
    whole = windows if all_points else replace(whole, sizes=windows.sizes, quiet=windows.quiet)
    noise = windows.quiet + float(np.exp(theta[-1]))
    outside = 0
    if tied and any(period is None for period in windows.periods):
        prior, theta = with_outside(prior, theta)
        outside = TIED_OUTSIDE[len(windows.equation.coordinates)]
    relative = relative_sizes(prior, theta, windows)
    domain = domain_of(
        whole, prior, envelopes, prior.lengths(theta), noise, outside=outside, relative=relative
    )
    say("guessing the parameters")
    return _begun(domain, whole, windows, prior, theta, smoothed)


def _begun(
    domain: Domain,
    windows: Windows,
    thinned: Windows,
    prior: Prior,
    theta: np.ndarray,
    smoothed: list[Smoothed],
) -> Beginning:
    """Return the start in a box: states of the smoothed snapshots, and the parameters that these suggest."""
    every = states_of(thinned, smoothed, domain.features)
    guess = first_guess(windows.equation.simplest, smoothed_states(thinned, domain, every))
    first = vector_of(windows.equation, guess.estimate, 0.0)
    stops = windows.times.shape[1]
    z = (
        domain.begun_tied(_first_tied(thinned, domain, prior, theta, first), stops)
        if domain.program.means
        else domain.begun(every[:, 0], first, stops)
    )
    start = Beginning(windows, thinned, prior, domain, z, guess, theta, tuple(smoothed))
    return replace(start, theta=with_first_sizes(prior, theta, windows, start.scale))


def _first_tied(
    windows: Windows, domain: Domain, prior: Prior, theta: np.ndarray, parameters: np.ndarray
) -> np.ndarray:
    """Posterior mean (W, R·K + means) of processes, envelopes left aside, given the first snapshot of every window.

    Fields that are tied together are smoothed together: each by itself they are not tied, and what a projection takes
    away left the wake's first states a tenth of the velocity off, at 1 % of noise (18 November 2026).
    """
    measured, sizes = list(windows.measured), windows.units[:, None]
    dense, features = windows.dense, domain.features
    rows, values = [], []
    for points, told, weights in zip(
        dense.points[:, 0], dense.values[:, 0], dense.weights[:, 0], strict=True
    ):
        seen = (weights > 0) * 1.0
        own = domain.tied_rows(points, parameters)[measured] / sizes[..., None] * seen[..., None]
        rows.append(own.reshape(-1, own.shape[-1]))
        values.append((told * weights).ravel())
    A, y = np.stack(rows), np.stack(values)
    data = reduce(A, np.zeros((*y.shape, 0)), y, np.asarray(float(y.size)))
    level = levels_of(prior, windows)
    spectrum = np.asarray(prior.spectrum(theta, features.omega, features.measure, level))
    noise = np.asarray(windows.quiet + np.exp(theta[-1]))
    return np.asarray(posterior(data, spectrum[domain.state_columns], noise)[0])


def smoothed_states(windows: Windows, domain: Domain, states: np.ndarray) -> Source:
    """Return the source of the flow's first guess: states (W, T, F, K), halfway between all neighbouring stops.

    They are seen at as many places as the grid has points, but not too many, spread evenly over the data's region.
    """
    features, region = domain.features, windows.region
    window, stop = np.nonzero(np.diff(windows.times, axis=1))
    grid = features.grid
    own = np.stack([axis.ravel() for axis in grid.points()], axis=1)
    bases = [envelope.basis(features, own) for envelope in domain.field_envelopes]
    most = round(MOST_POINTS ** (1.0 / len(features.grid.shape)))
    sides = [
        np.linspace(a, b, min(n, most))
        for a, b, n in zip(region.low, region.high, features.grid.shape, strict=True)
    ]
    places = np.stack([side.ravel() for side in np.meshgrid(*sides, indexing="ij")], axis=1)
    waves = np.asarray(wave_matrix(features.grid, places, np))

    def modes(z: np.ndarray) -> np.ndarray:
        fields = np.stack(
            [np.einsum("gnk,gk->gn", basis[window], z[:, f]) for f, basis in enumerate(bases)], axis=1
        ).reshape(len(z), len(bases), *grid.shape)
        return np.fft.rfftn(fields, axes=range(-len(grid.shape), 0), norm="forward") * grid.kept

    before, after = states[window, stop], states[window, stop + 1]
    gaps = np.diff(windows.times, axis=1)[window, stop, None, None]
    rates, middle = modes((after - before) / gaps), modes(0.5 * (before + after))

    def seen(modes: np.ndarray, name: str, symbol: Symbol | None) -> np.ndarray:
        own = modes[:, windows.state.index(name)]
        return np.ravel(seen_through(waves, features.grid, own, symbol, np))

    halfway = 0.5 * (windows.times[window, stop + 1] + windows.times[window, stop])
    told = [name for row, name in enumerate(windows.state) if row not in windows.hidden]
    known = windows.equation.system.inputs
    driven = None if domain.driving is None else _driven(domain.driving, window, halfway)
    moving = {velocity(name): name for name, order in windows.equation.time_orders.items() if order == 1}

    def values(name: str, symbols: Sequence[Symbol]) -> np.ndarray | None:
        """Return values of a field of the state, of its rate, or of an input; a pressure is not told by the data."""
        if driven is not None and name in known:
            own = driven[:, known.index(name)]
            return np.stack([np.ravel(seen_through(waves, grid, own, symbol, np)) for symbol in symbols])
        if name in told:
            return np.stack([seen(middle, name, symbol) for symbol in symbols])
        if moving.get(name) in told:
            return np.stack([seen(rates, moving[name], symbol) for symbol in symbols])
        return None

    return Source(
        np.tile(places, (len(window), 1)),
        np.repeat(halfway, len(places)),
        domain.shortest,
        lambda name: seen(rates, name, None) if name in told else None,
        values,
        quick=True,
    )


def _driven(every: Driving, windows: np.ndarray, times: np.ndarray) -> np.ndarray:
    """Modes (G, I, *modes) of the inputs in some windows (G,) at a time in each (G,)."""
    each = [Driving(every.knots[w], every.coefficients[w]).at(t) for w, t in zip(windows, times, strict=True)]
    return np.stack([np.asarray(one) for one in each])


def widened(start: Beginning) -> Beginning | None:
    """Return the start in a box with more room around the data, None where that would be too large.

    What comes in from outside, and what is still outside, must both have their place between the data's two ends.
    """
    old, noise = start.domain, start.windows.quiet + float(np.exp(start.theta[-1]))
    try:
        new = domain_of(
            start.windows,
            start.prior,
            old.envelopes,
            start.prior.lengths(start.theta),
            noise,
            MORE_ROOM * old.room,
            max(old.program.outside, default=0),
            relative_sizes(start.prior, start.theta, start.windows),
        )
    except ModelError:
        return None
    return _begun(new, start.windows, start.thinned, start.prior, start.theta, list(start.smoothed))


def states_of(windows: Windows, smoothed: list[Smoothed], features: Features) -> np.ndarray:
    """Smoothed states (W, T, F, K) of all fields at all stops; time derivatives without data by differences.

    Hidden fields are 0: they are found in the rounds.
    """
    every = np.zeros((*windows.times.shape, len(windows.state), features.count))
    for row, field in enumerate(windows.measured):
        every[:, :, field] = states(windows, row, smoothed[row], features)
    for field, of in _rates(windows).items():
        for w, times in enumerate(windows.times):
            every[w, :, field] = _time_derivative(every[w, :, of], times)
    return every


def _time_derivative(values: np.ndarray, times: np.ndarray) -> np.ndarray:
    """Differentiate values (T, …) in time, of second order where there are three times."""
    count = 1 + int(np.count_nonzero(np.diff(times)))
    rates = np.zeros_like(values)
    if count > 2:
        rates[:count] = np.gradient(values[:count], times[:count], axis=0, edge_order=2)
    else:
        rates[:count] = np.gradient(values[:count], times[:count], axis=0)
    return rates


def _rates(windows: Windows) -> dict[int, int]:
    """Fields of the state without data, `u_t`, and the rows of those whose time derivatives they are, `u`."""
    known = (*windows.measured, *windows.hidden)
    absent = [row for row in range(len(windows.state)) if row not in known]
    return {row: windows.state.index(windows.equation.system.source(windows.state[row])) for row in absent}


def _envelope(windows: Windows, group: Group, smoothed: Sequence[Smoothed]) -> Envelope:
    """Return where the processes of a group of fields are large; of fields tied together these all tell it."""
    seen = [windows.measured.index(row) for row in group.rows if row in windows.measured]
    if group.free < len(group.rows) and seen and windows.walls is None:
        return common_envelope(windows, seen, smoothed)
    return smoothed[windows.measured.index(_root(windows, group.rows[0]))].envelope


def _root(windows: Windows, row: int) -> int:
    """Return the row of the measured field whose prior a field of the state takes first; a hidden one that of any."""
    while row not in windows.measured:
        row = windows.measured[0] if row in windows.hidden else _rates(windows)[row]
    return row


def joined(
    windows: Windows, smoothed: list[Smoothed], kernels: Mapping[str, Kernel]
) -> tuple[Prior, np.ndarray]:
    """Put the fields' priors together; a time derivative takes its field's, with its own size."""
    by_field = dict(zip(windows.measured, smoothed, strict=True))
    each = {}
    for row, name in enumerate(windows.state):
        one = by_field[row if row in by_field else _root(windows, row)]
        vector = one.theta[:-1] + np.append(2 * np.log(windows.sizes[row]), np.zeros(one.theta.size - 2))
        each[row] = (kernels.get(name, one.kernel), vector)
    noise = np.log(np.mean([np.exp(one.theta[-1]) for one in smoothed]))
    return joint_prior(windows, each, float(noise))
