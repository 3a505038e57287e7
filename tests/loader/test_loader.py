"""What is measured and checked before anything is made of it: seals, limits, archives, plain data."""

import io
import os
import zipfile
from contextlib import suppress

import numpy as np
import pytest

from hiddenphysics.errors import DataError
from hiddenphysics.loader import (
    Mismatch,
    check_regular,
    check_unfolded,
    cut,
    finite,
    integer,
    listing,
    mapping,
    number,
    one_of,
    optional,
    plain_data,
    read_archive,
    record,
    text,
    unseal,
)
from hiddenphysics.writer import sealed

CONTENT, NOTE = bytes(range(256)) * 3, b'{"a": 1}'


def test_a_seal_gives_back_what_was_put_under_it(tmp_path):
    (tmp_path / "f").write_bytes(sealed(CONTENT, NOTE))
    under = unseal(tmp_path / "f")
    assert (bytes(under.content), bytes(under.note)) == (CONTENT, NOTE)
    (tmp_path / "g").write_bytes(CONTENT)
    assert unseal(tmp_path / "g") is None


def test_no_changed_byte_passes_a_seal(tmp_path):
    """Everywhere in it, and at every length: refused, or without a seal, which no result may be."""
    whole, path = sealed(CONTENT, NOTE), tmp_path / "f"
    for place in range(0, len(whole), 3):
        data = bytearray(whole)
        data[place] ^= 1 << place % 8
        path.write_bytes(data)
        with suppress(DataError):
            assert unseal(path) is None
    for length in range(0, len(whole), 5):
        path.write_bytes(whole[:length])
        assert unseal(path) is None


def test_a_pipe_is_not_opened(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", tmp_path, tmp_path / "absent", tmp_path / "a\0b"):
        with pytest.raises(DataError):
            check_regular(path)


def test_small_files_may_not_unfold_to_much():
    check_unfolded(2**24, 100, "")
    check_unfolded(2 * 10**8, 10**8, "")
    with pytest.raises(DataError, match=r"100 bytes would unfold to 16777217 numbers, 1 times .* Trust it\."):
        check_unfolded(2**24 + 1, 100, "Trust it.")


def test_long_words_are_cut():
    assert cut("short") == "short"
    assert len(cut("x" * 10**6)) < 100


def archive(members):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as written:
        for name, content in members.items():
            written.writestr(name, content)
    return file.getvalue()


def array_bytes(array):
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


def test_an_archive_that_says_less_than_it_holds_is_refused(tmp_path):
    """NumPy alone reads five of seven values there, and compares no checksum."""
    path, member = tmp_path / "a.npz", array_bytes(np.arange(7.0))
    path.write_bytes(archive({"a.npy": member}))
    np.testing.assert_array_equal(read_archive(path)["a"], np.arange(7.0))
    path.write_bytes(archive({"a.npy": member.replace(b"(7,)", b"(5,)")}))
    with np.load(path) as loaded:
        assert len(loaded["a"]) == 5
    with pytest.raises(DataError, match=r"is damaged .*an array ends before its member"):
        read_archive(path)


def test_flipped_bits_of_an_archive_change_no_value(tmp_path):
    values = {"a": np.arange(7.0), "b": np.arange(3.0)}
    path, rng = tmp_path / "a.npz", np.random.default_rng(0)
    np.savez(path, **values)
    whole = path.read_bytes()
    for place in rng.integers(len(whole), size=200):
        data = bytearray(whole)
        data[place] ^= 1 << int(rng.integers(8))
        path.write_bytes(data)
        try:
            found = read_archive(path)
        except DataError:
            continue
        for name in set(found) & set(values):  # of a changed name nobody asks
            np.testing.assert_array_equal(found[name], values[name])


@pytest.mark.parametrize("words", ["[" * 100_000, "{", "\xff", "nul", '{"a": 1,}'])
def test_json_that_is_none(words):
    with pytest.raises(DataError, match=r"fit\.nc holds no readable JSON"):
        plain_data(words, "fit.nc")


GOOD = {
    "name": "u",
    "sizes": [1.0, 2],
    "kind": "a",
    "limits": {"b": [0.0, float("inf")]},
    "note": None,
    "count": 3,
}
SCHEMA = record(
    {
        "name": text,
        "sizes": listing(finite),
        "kind": one_of("ab"),
        "limits": mapping(listing(number, length=2)),
    },
    {"note": optional(text), "count": integer},
)


def test_data_of_the_right_kind_pass():
    SCHEMA(GOOD, "file")
    SCHEMA(GOOD | {"unknown": object()}, "file")


@pytest.mark.parametrize(
    ("place", "value", "said"),
    [
        ("name", 1, "file.name is 1; text is needed"),
        ("sizes", [1.0, float("nan")], r"file.sizes\[1\] is nan; a finite number is needed"),
        ("sizes", {}, "file.sizes is {}; a list is needed"),
        ("sizes", [True], "True; a number is needed"),
        ("sizes", [10**400], "an integer of 1329 bits"),
        ("kind", "c", "one of a, b is needed"),
        ("kind", [], "one of a, b is needed"),
        ("limits", {"b": [0.0]}, r"file.limits.b is \[0.0\]; a list of 2 is needed"),
        ("limits", None, "a mapping is needed"),
        ("note", 3, "text is needed"),
        ("count", -1, "a whole number, 0 or more is needed"),
        ("count", 1.0, "a whole number"),
        ("count", 2**60, "a whole number"),
    ],
)
def test_a_value_of_another_kind_is_named(place, value, said):
    with pytest.raises(Mismatch, match=said):
        SCHEMA(GOOD | {place: value}, "file")


def test_what_is_missing_is_named():
    with pytest.raises(Mismatch, match="without name"):
        SCHEMA({}, "file")
    with pytest.raises(Mismatch, match="a mapping is needed"):
        SCHEMA([], "file")
    with pytest.raises(Mismatch, match="a mapping of a is needed"):
        mapping(text, names=["a"])({"b": "c"}, "file")
