"""Saved results that were damaged, cut, edited or made by somebody else: refused in a sentence with the path."""

import json
import os
import struct

import h5py
import numpy as np
import pytest
import xarray as xr

import hiddenphysics as hp
from benchmarks import fuzz
from hiddenphysics.result.files import ATTRIBUTE
from hiddenphysics.writer import FOOTER, sealed
from tests.result.test_saved import SAVED

pytestmark = pytest.mark.xdist_group("result")  # one process: the tests share compiled code


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A result of the flow, as this version saves it."""
    return hp.load(SAVED / "flow.nc").save(tmp_path_factory.mktemp("whole") / "fit.nc").read_bytes()


def resealed(whole: bytes, change) -> bytes:
    """Change the description and the table of arrays, under a checksum that fits."""
    length = FOOTER.unpack(whole[-FOOTER.size :])[0]
    note = json.loads(whole[-FOOTER.size - length : -FOOTER.size])
    change(note)
    return sealed(whole[: -FOOTER.size - length], json.dumps(note).encode())


def test_a_sealed_file_is_netcdf_for_everybody(whole, tmp_path):
    path = tmp_path / "fit.nc"
    path.write_bytes(whole)
    with xr.open_dataset(path, engine="h5netcdf") as opened:
        assert json.loads(opened.attrs[ATTRIBUTE])["model"] == "flow"
        np.testing.assert_array_equal(opened["learned A"], hp.load(path).learned.belief.A)


def test_no_flipped_bit_is_accepted(whole, tmp_path):
    """Of 200, 50 were accepted, 18 of these with other predictions, and 18 ended in errors of other libraries."""
    path, rng = tmp_path / "fit.nc", np.random.default_rng(0)
    for place in [*rng.integers(len(whole), size=60), *range(len(whole) - FOOTER.size, len(whole), 9)]:
        data = bytearray(whole)
        data[place] ^= 1 << int(rng.integers(8))
        path.write_bytes(data)
        with pytest.raises(hp.DataError, match=str(path)):
            hp.load(path)


def test_an_edited_description_has_lost_its_seal(whole, tmp_path):
    path = tmp_path / "fit.nc"
    path.write_bytes(whole)
    with h5py.File(path, "r+") as file:
        told = json.loads(file.attrs[ATTRIBUTE])
        told["values"]["b"] = 7.0
        file.attrs[ATTRIBUTE] = json.dumps(told)
    with pytest.raises(hp.DataError, match="has lost its seal: it was changed after it had been written"):
        hp.load(path)


WRONG = (None, True, "", -1, 2**70, float("nan"), [], {}, [[1.0]])


@pytest.mark.parametrize(
    "key",
    [
        "text",
        "bounds",
        "coordinates",
        "fields",
        "columns",
        "model",
        "values",
        "status",
        "learned",
        "evidence",
    ],
)
def test_no_value_of_a_forged_description_is_trusted(whole, tmp_path, key):
    path = tmp_path / "fit.nc"
    for value in WRONG:
        if (key, str(value)) in (("evidence", "-1"), ("evidence", "nan"), ("bounds", "{}")):
            continue  # that will do
        path.write_bytes(resealed(whole, lambda note, value=value: note["told"].update({key: value})))
        with pytest.raises(hp.DataError, match=str(path)):
            hp.load(path)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda note: note["told"].update(format=99), "its format is 99; this version reads 3, 4, 5"),
        (lambda note: note["arrays"][0].update(type="O"), "plain numbers are needed"),
        (lambda note: note["arrays"][0].update(shape=[2**29]), "larger than the file"),
        (lambda note: note["arrays"][0].update(offset=2**40), "larger than the file"),
        (lambda note: note["told"]["learned"].update(noise=-1.0), "a number above 0 is needed"),
        (lambda note: note["told"]["learned"].update(shape=[2**30]), "which does not fit|it ends with"),
        (lambda note: note["told"]["learned"].update(waves=[7]), "holds 53 amplitudes for 15 waves"),
        (
            lambda note: note["told"]["values"].pop("b"),
            r"its covariance has the shape \(4, 4\); \(3, 3\) is needed",
        ),
    ],
)
def test_what_is_wrong_is_said(whole, tmp_path, change, said):
    path = tmp_path / "fit.nc"
    path.write_bytes(resealed(whole, change))
    with pytest.raises(hp.DataError, match=said):
        hp.load(path)


def test_numbers_that_are_none_are_refused(whole, tmp_path):
    path = tmp_path / "fit.nc"

    def with_number_in(name: str, number: float) -> bytes:
        length = FOOTER.unpack(whole[-FOOTER.size :])[0]
        note = json.loads(whole[-FOOTER.size - length : -FOOTER.size])
        place = next(one["offset"] for one in note["arrays"] if one["name"] == name)
        data = bytearray(whole[: -FOOTER.size - length])
        data[place : place + 8] = struct.pack("<d", number)
        return sealed(bytes(data), json.dumps(note).encode())

    for name, number in (("covariance", np.nan), ("learned A", np.nan), ("u", np.nan), ("learned A", 1e200)):
        path.write_bytes(with_number_in(name, number))
        with pytest.raises(hp.DataError, match=str(path)):
            hp.load(path)


def test_files_that_are_no_results(tmp_path):
    """Deep JSON was a RecursionError, a shape of 2²⁹ took 6.9 GB, a pipe was waited for."""
    with h5py.File(tmp_path / "deep.nc", "w") as file:
        file.attrs[ATTRIBUTE] = "[" * 60_000
    with h5py.File(tmp_path / "large.nc", "w") as file:
        file.create_dataset("u", (2**29,), "f8")
        file.attrs[ATTRIBUTE] = json.dumps({"format": 4})
    os.mkfifo(tmp_path / "pipe.nc")
    for name, said in (
        ("deep", "no readable JSON"),
        ("large", "would unfold"),
        ("pipe", "a pipe or a socket"),
    ):
        with pytest.raises(hp.DataError, match=f"{name}.nc.*{said}"):
            hp.load(tmp_path / f"{name}.nc")


@pytest.mark.parametrize("kind", ["forged", "earlier"])
def test_damaged_results_by_the_dozen(kind, tmp_path):
    outcomes = [fuzz.attempt(kind, 11, number, tmp_path) for number in range(25 if kind == "forged" else 2)]
    assert {outcome for outcome, _ in outcomes} <= {fuzz.REFUSED, fuzz.READ}, outcomes
