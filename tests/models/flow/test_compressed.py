"""Compressed snapshots against the Gaussian density of all their values, with waves written out by hand."""

import numpy as np
import pytest

import hiddenphysics as hp
from hiddenphysics.equation import Equation
from hiddenphysics.models.flow import compressed as room
from hiddenphysics.models.flow.compressed import compressed
from hiddenphysics.models.flow.windows import gathered
from hiddenphysics.snapshots import Snapshot, Snapshots
from hiddenphysics.snapshots.readers import arrays
from hiddenphysics.spectral import Grid

GRID = Grid(((-5.0, 5.0),), (24,))
VARIANCES = np.random.default_rng(4).uniform(0.1, 1.0, 2 * 13)
"""Of real and imaginary parts of the 13 modes."""
HEAT = Equation.parse("u_t - b*u_xx = 0", fields=("u",), coordinates=("x",))


def recorded(points, stops=2, known=0.0, same=False, seed=0):
    random, made = np.random.default_rng(seed), []
    x = random.uniform(-4, 4, points)
    for t in range(stops):
        x = x if same else random.uniform(-4, 4, points)
        u = np.sin(x) + 0.3 * random.standard_normal(points)
        errors = {"u_std": known * random.uniform(0.5, 2.0, points)} if known else {}
        made.append(Snapshot(float(t), x, u=u, **errors))
    return Snapshots(made)


def density_of_rows(seen, noise):
    """Log density of what is left of the values, stop by stop, less what the weights did to them."""
    total = float(seen.stretch)
    for w, t in np.ndindex(*seen.which.shape):
        R, y, count = seen.waves[seen.which[w, t]], seen.values[w, t, 0], seen.count[w, t]
        known = np.zeros(len(y)) if seen.known is None else seen.known[w, t, 0]
        K = (R * VARIANCES) @ R.T + np.diag(noise + known)
        total -= 0.5 * (y @ np.linalg.solve(K, y) + np.linalg.slogdet(K)[1] + seen.rest[w, t] / noise)
        total -= 0.5 * ((count - len(y)) * np.log(noise) + count * np.log(2 * np.pi))
    return total


def density_of_values(snapshots, size, noise):
    """The same of all values: u = Re û₀ + 2 Σ (Re û_k cos kx − Im û_k sin kx), the last wave left out."""
    total, k = 0.0, np.arange(13) * 2 * np.pi / 10
    twice = np.where(np.arange(13) == 0, 1.0, 2.0) * (np.arange(13) < 12)
    for s in snapshots:
        phase = (s.points + 5.0) * k
        E = np.concatenate([twice * np.cos(phase), -twice * np.sin(phase)], axis=1)
        known = (s.stds.get("u", np.zeros(len(s))) / size) ** 2
        K, y = (E * VARIANCES) @ E.T + np.diag(noise + known), s["u"] / size
        logs = np.linalg.slogdet(K)[1] + len(s) * np.log(2 * np.pi)
        total -= 0.5 * (y @ np.linalg.solve(K, y) + logs)
    return total


@pytest.mark.parametrize("noise", [1e-2, 1e-7])  # squares, triangles
@pytest.mark.parametrize(("points", "known"), [(20, 0.0), (90, 0.0), (20, 0.1), (90, 0.1)])
def test_the_density_of_the_values_is_kept(noise, points, known):
    snapshots = recorded(points, known=known)
    windows = gathered(HEAT, [snapshots])
    seen = compressed(windows, GRID, noise)
    assert seen.waves.shape[1:] == (min(points, 26), 26)
    expected = density_of_values(snapshots, windows.sizes[0], noise)
    assert density_of_rows(seen, noise) == pytest.approx(expected, rel=1e-7 if noise > 1e-6 else 1e-5)


@pytest.mark.parametrize("noise", [1e-2, 1e-7])
def test_stops_at_the_same_points_share_their_waves(noise):
    snapshots = recorded(90, stops=4, same=True)
    windows = gathered(HEAT, [snapshots[:3], snapshots[3:]])
    seen = compressed(windows, GRID, noise)
    # One set of points, and one that sees nothing, at the three stops that the second window lacks.
    assert np.count_nonzero(np.any(seen.waves, axis=(1, 2))) == 1
    assert np.count_nonzero(seen.which == 0) == 4
    expected = density_of_values(snapshots, windows.sizes[0], noise)
    assert density_of_rows(seen, noise) == pytest.approx(expected, rel=1e-6)


def test_many_values_with_known_errors_are_weighted_and_few_keep_them(monkeypatch):
    snapshots = recorded(20, known=0.1)
    windows = gathered(HEAT, [snapshots])
    assert compressed(windows, GRID, 1e-2).known is not None
    monkeypatch.setattr(room, "MOST_ROWS", 30)
    seen = compressed(windows, GRID, 1e-2)
    assert seen.known is None
    expected = density_of_values(snapshots, windows.sizes[0], 1e-2)
    assert density_of_rows(seen, 1e-2) == pytest.approx(expected, rel=1e-7)


@pytest.mark.parametrize("noise", [1e-2, 1e-7])
def test_a_snapshot_on_disk_is_compressed_piece_by_piece(noise, tmp_path, monkeypatch):
    random = np.random.default_rng(1)
    x, t = random.uniform(-4, 4, 200), np.array([0.0, 0.5, 1.0])
    u = np.sin(x) * np.exp(-t[:, None]) + 0.1 * random.standard_normal((3, 200))
    np.savez(tmp_path / "recording.npz", t=t, x=x, u=u)
    monkeypatch.setattr(room, "CHUNK", 37)
    monkeypatch.setattr(arrays, "STREAMED_ABOVE", 10)
    stored = hp.read(tmp_path / "recording.npz")
    assert type(stored[0]) is not Snapshot
    whole = Snapshots(Snapshot(time, x, u=row) for time, row in zip(t, u, strict=True))
    pieces = compressed(gathered(HEAT, [stored]), GRID, noise)
    monkeypatch.setattr(room, "CHUNK", 1000)
    at_once = compressed(gathered(HEAT, [whole]), GRID, noise)
    np.testing.assert_array_equal(pieces.which, at_once.which)
    # R itself is known up to signs, and which row holds what no wave explains is open.
    for mine, other in zip(pieces.waves, at_once.waves, strict=True):
        np.testing.assert_allclose(mine.T @ mine, other.T @ other, atol=1e-9)
    assert density_of_rows(pieces, noise) == pytest.approx(density_of_rows(at_once, noise), rel=1e-9)
    expected = density_of_values(whole, gathered(HEAT, [whole]).sizes[0], noise)
    assert density_of_rows(pieces, noise) == pytest.approx(expected, rel=1e-5)
