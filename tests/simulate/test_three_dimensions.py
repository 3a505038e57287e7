"""Three dimensions follow by construction: a decaying mode carried by a stream, against its closed form."""

import numpy as np

from hiddenphysics.simulate import simulate


def test_a_mode_in_three_dimensions_drifts_and_decays():
    """u_t + c u_x = b Δu moves cos(x + 2y − z) along x and damps it by exp(−6bt)."""
    speed, viscosity, end = 0.7, 0.05, 0.8
    data = simulate(
        "u_t + c*u_x - b*(u_xx + u_yy + u_zz) = 0",
        {"u": lambda x, y, z: np.cos(x + 2 * y - z)},
        box=dict.fromkeys("xyz", (0, 2 * np.pi)),
        shape=(8, 8, 8),
        times=[0.0, end],
        parameters={"b": viscosity, "c": speed},
    )
    x, y, z = np.meshgrid(data.x, data.y, data.z, indexing="ij")
    exact = np.exp(-6 * viscosity * end) * np.cos(x - speed * end + 2 * y - z)
    found = data.u.sel(t=end).transpose("x", "y", "z").to_numpy()
    np.testing.assert_allclose(found, exact, atol=1e-12)
