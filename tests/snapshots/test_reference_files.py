"""The four recordings of the paper, where they are present beside the repository."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import pytest

from hiddenphysics.snapshots import read

DATA = Path(__file__).parents[2].parent / "shared" / "data"

pytestmark = pytest.mark.skipif(not DATA.is_dir(), reason="the paper's recordings are not here")


@pytest.mark.parametrize(
    ("name", "fields", "times", "points", "gap"),
    [
        ("burgers", ("usol",), 101, 256, 0.1),
        ("kdv", ("usol",), 201, 512, 0.1),
        ("kuramoto_sivishinky", ("uu",), 251, 1024, 0.4),
        ("nls", ("usol_re", "usol_im"), 501, 512, np.pi / 500),
    ],
)
def test_recordings(name: str, fields: tuple[str, ...], times: int, points: int, gap: float) -> None:
    snapshots = read(DATA / f"{name}.mat")
    assert (len(snapshots), len(snapshots[0]), snapshots.fields) == (times, points, fields)
    assert snapshots.is_gridded
    np.testing.assert_allclose(np.diff(snapshots.times), gap, rtol=1e-6)


def test_orientation_by_the_initial_states() -> None:
    burgers = read(DATA / "burgers.mat", columns={"u": "usol"})
    np.testing.assert_allclose(burgers[0]["u"], np.exp(-((burgers[0]["x"] + 2) ** 2)), atol=1e-6)
    nls = read(DATA / "nls.mat").rename({"usol": "h"})
    assert nls.complex_fields == ("h",)
    np.testing.assert_allclose(nls[0]["h_re"], 2 / np.cosh(nls[0]["x"]), atol=1e-6)


def test_the_largest_recording_loads_well_under_a_second() -> None:
    path = DATA / "kuramoto_sivishinky.mat"
    read(path)  # the first call imports SciPy
    start = time.perf_counter()
    read(path)
    assert time.perf_counter() - start < 0.5
