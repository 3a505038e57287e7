"""The cache: made once, whole or absent, remade when damaged."""

import errno
import json

import numpy as np
import pytest
import xarray as xr

from hiddenphysics import datasets
from hiddenphysics.datasets import DATASETS, Recipe, cache
from hiddenphysics.errors import DataError, WriteError
from tests.datasets.small import add_for_a_while


@pytest.fixture
def counted(monkeypatch):
    """A small data set that counts how often it is made."""
    made = []

    def build(progress):
        made.append(1)
        progress(0.5)
        progress(1.0)
        values = np.random.default_rng(0).standard_normal((50, 40))
        return xr.Dataset({"u": (("t", "x"), values)}, {"t": np.arange(50.0), "x": np.arange(40.0)})

    add_for_a_while(monkeypatch)
    DATASETS.add("small", Recipe("Small.", "u_t = 0", {"a": 1.0}, {"n": 3}, build))
    return made


def test_made_once_then_read(counted, tmp_path):
    told = []
    first = datasets.load("small", folder=tmp_path, progress=told.append)
    again = datasets.load("small", folder=tmp_path)
    xr.testing.assert_identical(first, again)
    assert len(counted) == 1
    assert told == [0.5, 1.0]
    assert json.loads(first.attrs["truth"]) == {"a": 1.0}
    assert first.attrs["equation"] == "u_t = 0"
    assert list(tmp_path.iterdir()) == [datasets.path("small", folder=tmp_path)]


@pytest.mark.parametrize("damage", ["cut", "zeros", "flipped", "text", "other"])
def test_a_damaged_file_is_made_again(counted, tmp_path, damage):
    whole = datasets.load("small", folder=tmp_path)
    file = datasets.path("small", folder=tmp_path)
    content = bytearray(file.read_bytes())
    if damage == "cut":
        del content[len(content) // 2 :]
    elif damage == "zeros":
        place = len(content) // 2
        content[place : place + 200] = bytes(200)
    elif damage == "flipped":
        content[len(content) // 3] ^= 1
    elif damage == "text":
        content = bytearray(b"no such thing")
    if damage == "other":
        whole.assign_attrs(recipe="another").to_netcdf(file, engine="h5netcdf")
    else:
        file.write_bytes(content)
    xr.testing.assert_identical(datasets.load("small", folder=tmp_path), whole)
    assert len(counted) == 2


def test_a_failed_run_leaves_nothing_behind(counted, tmp_path, monkeypatch):
    def fail(*args):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("os.write", fail)
    with pytest.raises(WriteError, match=r"was not written: the disk is full\. .*Free some space"):
        datasets.load("small", folder=tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_another_recipe_is_another_file(counted):
    recipe = DATASETS["small"]
    others = [
        Recipe(recipe.summary, "u_t = 1", recipe.truth, recipe.settings, recipe.build),
        Recipe(recipe.summary, recipe.equation, {"a": 2.0}, recipe.settings, recipe.build),
        Recipe(recipe.summary, recipe.equation, recipe.truth, {"n": 4}, recipe.build),
        Recipe(recipe.summary, recipe.equation, recipe.truth, recipe.settings, recipe.build, version=2),
    ]
    digests = {r.digest("small") for r in [recipe, *others]} | {recipe.digest("smaller")}
    assert len(digests) == 6
    reworded = Recipe("Other words.", recipe.equation, recipe.truth, recipe.settings, recipe.build)
    assert reworded.digest("small") == recipe.digest("small")


def test_the_default_place_is_the_users_cache(monkeypatch, tmp_path):
    monkeypatch.setattr(cache.platformdirs, "user_cache_path", lambda name: tmp_path / name)
    assert datasets.path("burgers").parent == tmp_path / "hiddenphysics" / "datasets"


def test_an_unknown_name_is_answered_with_the_nearest():
    with pytest.raises(DataError, match=r"no data set 'burger'; did you mean burgers\?"):
        datasets.load("burger")
    with pytest.raises(DataError, match="The names are burgers, kdv"):
        datasets.path("nothing like it")


# ---- one more data set, from outside the package --------------------


def decay(progress):
    t, x = np.linspace(0, 1, 5), np.linspace(0, 2 * np.pi, 16, endpoint=False)
    progress(1.0)
    return xr.Dataset({"u": (("t", "x"), np.exp(-t)[:, None] * np.sin(x))}, {"t": t, "x": x})


def test_a_data_set_is_added_from_outside_by_one_line(tmp_path):
    before = datasets.names()
    with pytest.MonkeyPatch.context() as patch:
        add_for_a_while(patch)
        DATASETS.add("decay", Recipe("A wave dies out.", "u_t - b*u_xx = 0", {"b": 1.0}, {"n": 16}, decay))
        assert datasets.names() == (*before, "decay")
        data = datasets.load("decay", folder=tmp_path)
        assert datasets.path("decay", folder=tmp_path).is_file()
        np.testing.assert_array_equal(data.u, decay(print).u)
        assert (data.attrs["title"], json.loads(data.attrs["truth"])) == ("decay", {"b": 1.0})
        with pytest.raises(DataError, match=r"There is a data set 'decay' already; choose another name\."):
            DATASETS.add("decay", DATASETS["burgers"])
    assert datasets.names() == before
    with pytest.raises(DataError, match="no data set 'decay'"):
        datasets.load("decay", folder=tmp_path)
