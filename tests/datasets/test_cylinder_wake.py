"""The cylinder among the data sets: the run opened lazily, the extract that ships."""

import hashlib
import json

import numpy as np
import pytest
from scipy.spatial import cKDTree

from hiddenphysics import datasets
from hiddenphysics.datasets import cylinder_wake
from hiddenphysics.errors import DataError, WriteError
from hiddenphysics.simulate.cylinder import open_recording
from hiddenphysics.snapshots import read
from tests.datasets.small import NAME, PLAN, register


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("datasets")
    with pytest.MonkeyPatch.context() as patch:
        register(patch)
        told = []
        datasets.make(NAME, folder=place, progress=told.append)
        assert told == sorted(told)
        assert told[-1] == 1.0
        yield place


def test_the_run_is_opened_without_being_read(folder):
    data = datasets.load(NAME, folder=folder)
    recording = open_recording(datasets.path(NAME, folder=folder))
    for field in ("u", "v", "vorticity"):
        assert data[field].dims == ("t", "x", "y")
        np.testing.assert_array_equal(data[field], getattr(recording, field))
        mapped = data[field].variable._data  # what xarray holds: a view of the file, read when indexed
        assert any(isinstance(base, np.memmap) for base in (mapped, mapped.base))
    assert json.loads(data.attrs["truth"]) == {"lambda_1": 1.0, "lambda_2": 0.01}
    assert json.loads(data.attrs["settings"])["flow"]["reynolds"] == 100.0
    assert read(data.isel(t=[0, 1])).fields == ("u", "v", "vorticity")


def test_the_recordings_of_a_run_share_its_folder(folder):
    window = cylinder_wake.recording_of(PLAN, "dt-0.05", "Window.")
    assert window.run_folder(folder) == datasets.path(NAME, folder=folder).parent
    assert len(window.load("window", folder, print).t) == 3


def test_a_missing_run_says_how_to_make_it(tmp_path):
    sentence = (
        rf"'cylinder' has not been made.* datasets make cylinder --folder {tmp_path}.*'cylinder_extract'"
    )
    with pytest.raises(DataError, match=sentence):
        datasets.load("cylinder", folder=tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_an_unfinished_run_says_how_to_go_on(tmp_path):
    datasets.path("cylinder", folder=tmp_path).with_suffix(".partial").mkdir(parents=True)
    with pytest.raises(DataError, match=r"'cylinder' is not finished.* Go on with it"):
        datasets.load("cylinder", folder=tmp_path)


def test_a_full_disk_is_a_sentence(folder, tmp_path, monkeypatch):
    def fail(*given):
        raise OSError("disk full")

    monkeypatch.setattr(cylinder_wake, "run", fail)
    with pytest.raises(WriteError, match=r"could not be written to .*disk full.*What is done is kept"):
        datasets.make(NAME, folder=tmp_path)


# ---- the extract --------------------


def test_the_extract_ships_and_is_what_its_readme_says():
    file = datasets.path("cylinder_extract")
    assert datasets.make("cylinder_extract") == file
    readme = (file.parent / "README.md").read_text(encoding="utf-8")
    assert hashlib.sha256(file.read_bytes()).hexdigest() in readme
    assert file.stat().st_size < 600_000


def test_the_extract_is_twelve_snapshots_of_the_wake():
    data = datasets.load("cylinder_extract")
    assert dict(data.sizes) == {"t": 12, "point": 4000}
    np.testing.assert_allclose(np.diff(data.t), 0.02, rtol=1e-9)
    # Nodes of the grid, back in double precision.
    for axis, low, high in (("x", 1.0, 7.5), ("y", -1.7, 1.7)):
        values = data[axis].values
        np.testing.assert_array_equal(values, np.round(50 * values) / 50)
        assert low <= values.min() < values.max() <= high
    assert json.loads(data.attrs["truth"]) == {"lambda_1": 1.0, "lambda_2": 0.01}


def test_the_extract_is_read_as_scattered_snapshots():
    found = read(datasets.load("cylinder_extract")[["u", "v"]])
    assert (found.fields, found.coordinates) == (("u", "v"), ("x", "y"))
    assert (len(found), len(found[0])) == (12, 4000)


def local_quartic(points, at, scale=0.2):
    """Rows that turn values at the 40 nearest of the points into ∂x, ∂y and Δ at each of the places."""
    _, near = cKDTree(points).query(at, k=40)
    x, y = np.moveaxis((points[near] - at[:, None]) / scale, -1, 0)
    powers = [(i, j) for i in range(5) for j in range(5 - i)]
    rows = np.linalg.pinv(np.stack([x**i * y**j for i, j in powers], axis=-1))
    of = {power: rows[:, index] for index, power in enumerate(powers)}
    return near, of[1, 0] / scale, of[0, 1] / scale, 2 * (of[2, 0] + of[0, 2]) / scale**2


def test_the_extract_obeys_the_vorticity_equation():
    """ω_t + λ1(u ω_x + v ω_y) = λ2 Δω, whose two numbers least squares find."""
    data = datasets.load("cylinder_extract")
    points = np.stack([data.x.values, data.y.values], axis=1)
    inside = (np.abs(points[:, 0] - 4.25) < 2.95) & (np.abs(points[:, 1]) < 1.4)
    near, *rows = local_quartic(points, points[inside])
    u, v, w = (data[name].values.astype(float) for name in ("u", "v", "vorticity"))
    w_x, w_y, laplacian = (np.einsum("mk,tmk->tm", row, w[1:-1, near]) for row in rows)
    advection = u[1:-1, inside] * w_x + v[1:-1, inside] * w_y
    rate = (w[2:, inside] - w[:-2, inside]) / 0.04
    terms = np.stack([-advection.ravel(), laplacian.ravel()], axis=1)
    found, *_ = np.linalg.lstsq(terms, rate.ravel(), rcond=None)
    assert found[0] == pytest.approx(1, rel=0.01)
    assert found[1] == pytest.approx(0.01, rel=0.1)
