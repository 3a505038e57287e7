"""Rows on disk: none is lost, none is half, none is changed unnoticed."""

import errno
import json
import os

import numpy as np
import pytest

from hiddenphysics.errors import WriteError
from hiddenphysics.writer import Journal

ROWS = [
    {"key": f"pair {k}", "values": {"b": 0.1 + k / 7, "note": "é\n"}, "seconds": 1.5 * k} for k in range(5)
]


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "deep" / "fits.jsonl"
    for row in ROWS:
        Journal(path).append(row)
    return path


def test_rows_come_back_in_order_and_are_json_for_everybody(path):
    assert list(Journal(path).read()) == ROWS
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert [{k: v for k, v in line.items() if k != "sum"} for line in lines] == ROWS


def test_rows_of_an_earlier_version_have_no_sum(path):
    path.write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    assert list(Journal(path).read()) == ROWS


def test_every_flipped_bit_costs_one_row_or_two_and_alters_none(path):
    whole, rng = path.read_bytes(), np.random.default_rng(0)
    for place in rng.integers(len(whole), size=300):
        data = bytearray(whole)
        data[place] ^= 1 << int(rng.integers(8))
        path.write_bytes(data)
        rows = list(Journal(path).read())
        assert len(rows) >= 3
        assert all(row in ROWS for row in rows)


def test_every_cut_loses_no_whole_row_and_the_next_row_is_whole(path):
    whole = path.read_bytes()
    ends = [k + 1 for k, byte in enumerate(whole) if byte == 10]
    for length in range(0, len(whole), 7):
        path.write_bytes(whole[:length])
        # A last line that lacks nothing but its end counts.
        kept = sum(end <= length + 1 for end in ends)
        assert list(Journal(path).read()) == ROWS[:kept]
        Journal(path).append({"key": "next"})
        assert list(Journal(path).read()) == [*ROWS[:kept], {"key": "next"}]
        assert path.read_bytes().count(b"\n") == kept + 1


@pytest.mark.parametrize(
    "line", [b"[" * 100_000, b"\xff\xfe\x00", b"[]", b'"key"', b"{", b"null", b"1" * 5000]
)
def test_lines_of_other_kinds_are_passed_over(path, line):
    path.write_bytes(line + b"\n" + path.read_bytes())
    assert list(Journal(path).read()) == ROWS


@pytest.mark.parametrize("call", ["os.write", "os.fsync"])
def test_a_full_disk_leaves_whole_rows(path, monkeypatch, call):
    real, before = os.write, path.read_bytes()

    def half(handle, content):
        real(handle, content[: len(content) // 2])
        raise OSError(errno.ENOSPC, "")

    def fail(handle):
        raise OSError(errno.ENOSPC, "")

    monkeypatch.setattr(call, half if call == "os.write" else fail)
    with pytest.raises(WriteError, match=r"fits\.jsonl was not written: the disk is full"):
        Journal(path).append({"key": "new"})
    assert path.read_bytes() == before


def test_a_pipe_in_its_place_is_neither_read_nor_written(tmp_path):
    os.mkfifo(tmp_path / "fits.jsonl")
    journal = Journal(tmp_path / "fits.jsonl")
    assert list(journal.read()) == []
    with pytest.raises(WriteError, match="is a device, a pipe or a socket"):
        journal.append({"key": "new"})


def test_two_do_not_write_at_once(path):
    with Journal(path).held(), pytest.raises(WriteError, match="Another process is at work"):
        Journal(path).append({"key": "other"})
    assert list(Journal(path).read()) == ROWS
