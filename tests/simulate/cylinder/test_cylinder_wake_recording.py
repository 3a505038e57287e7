"""Extracts from a recording: small, reproducible, true to it."""

import json

import numpy as np
import pytest

from hiddenphysics.errors import DataError
from hiddenphysics.simulate.cylinder import extract, open_recording


@pytest.fixture
def folder(tmp_path):
    rng = np.random.default_rng(0)
    for name in ("u", "v", "vorticity"):
        np.save(tmp_path / f"{name}.npy", rng.normal(size=(20, 30, 25)).astype(np.float32))
    axes = {"time": np.arange(20) * 0.02, "x": 1 + np.arange(30) * 0.02, "y": np.arange(25) * 0.02}
    metadata = {name: axis.tolist() for name, axis in axes.items()} | {"flow": {"reynolds": 100.0}}
    (tmp_path / "recording.json").write_text(json.dumps(metadata))
    return tmp_path


def test_an_extract_holds_the_recordings_values_at_its_points(folder, tmp_path):
    recording = open_recording(folder)
    extract(recording, tmp_path / "extract.npz", first=3, snapshots=12, points=200, seed=1)
    with np.load(tmp_path / "extract.npz", allow_pickle=False) as got:
        assert got["u"].dtype == np.float32
        assert got["u"].shape == got["v"].shape == got["vorticity"].shape == (12, 200)
        np.testing.assert_array_equal(got["time"], recording.time[3:15])
        assert got["reynolds"] == 100.0
        assert len(set(zip(got["x"].tolist(), got["y"].tolist(), strict=True))) == 200
        for p in (0, 77, 199):
            i, j = np.abs(recording.x - got["x"][p]).argmin(), np.abs(recording.y - got["y"][p]).argmin()
            for name in ("u", "v", "vorticity"):
                np.testing.assert_array_equal(got[name][:, p], getattr(recording, name)[3:15, i, j])


def test_an_extract_is_the_same_for_a_seed_and_another_for_another(folder, tmp_path):
    recording = open_recording(folder)
    files = [tmp_path / f"{k}.npz" for k in range(3)]
    for file, seed in zip(files, (5, 5, 6), strict=True):
        extract(recording, file, points=100, seed=seed)
    first, second, third = (file.read_bytes() for file in files)
    assert first == second
    assert first != third


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"snapshots": 21}, r"Asked for 21 snapshots from number 0 on; the recording holds 20"),
        ({"first": 10}, r"Asked for 12 snapshots from number 10 on; the recording holds 20"),
        ({"points": 751}, r"Asked for 751 points; the recording has 750"),
        ({"points": 0}, r"Asked for 0 points"),
    ],
)
def test_an_extract_beyond_the_recording_is_refused(folder, tmp_path, change, sentence):
    with pytest.raises(DataError, match=sentence):
        extract(open_recording(folder), tmp_path / "x.npz", **({"points": 10} | change))
    assert not (tmp_path / "x.npz").exists()


def test_a_folder_without_a_recording_is_refused(tmp_path):
    with pytest.raises(DataError, match=r"holds no finished recording: recording\.json, u\.npy, .* missing"):
        open_recording(tmp_path)
