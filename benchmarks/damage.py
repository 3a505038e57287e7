"""Ways to damage a file: bytes flipped, cut and doubled, and altered insides whose checksums fit again."""

from __future__ import annotations

import io
import json
import struct
import zipfile
import zlib
from typing import Any

import numpy as np

EXTREMES = (0, 1, -1, 127, 2**15, 2**29, 2**31 - 1, -(2**31), 2**40, 2**63 - 1)
"""Numbers that lengths and offsets are replaced by."""
TEXTS = (
    b"nan",
    b"1e999",
    b"-0",
    b"",
    b"[",
    b"{",
    b"null",
    b"9" * 400,
    b'"',
    b"[" * 5000,
    b"\xff\xfe",
    b"a" * 2000,
)


def damaged(content: bytes, rng: np.random.Generator) -> bytes:
    """Return other bytes: flipped, cut, overwritten, doubled, with extreme numbers or words in them."""
    data, size = bytearray(content), len(content)
    kind, place = rng.integers(10), int(rng.integers(size))
    if kind <= 2:
        data[place] ^= 1 << int(rng.integers(8))
    elif kind == 3:
        for where in rng.integers(size, size=int(rng.integers(2, 9))):
            data[where] = int(rng.integers(256))
    elif kind == 4:
        del data[place:]
    elif kind == 5:
        data[place : place + int(rng.integers(1, 200))] = bytes([int(rng.choice([0, 255]))]) * 40
    elif kind == 6:
        stop = min(place + int(rng.integers(1, 2000)), size)
        data[place:place] = data[place:stop]
    elif kind == 7:
        width = str(rng.choice(["<q", ">q", "<i", ">i", "<h"]))
        number = int(rng.choice(EXTREMES)) & (256 ** struct.calcsize(width) - 1)
        data[place : place + struct.calcsize(width)] = struct.pack(width.upper(), number)
    elif kind == 8:
        digits = [k for k, byte in enumerate(data) if 48 <= byte <= 57] or [place]
        where = int(rng.choice(digits))
        data[where : where + 1] = TEXTS[rng.integers(len(TEXTS))] if rng.random() < 0.5 else b"9" * 9
    else:
        data[place:place] = TEXTS[rng.integers(len(TEXTS))]
    return bytes(data)


def rezipped(content: bytes, rng: np.random.Generator) -> bytes:
    """Damage the inside of one member of an archive, and give it a checksum that fits."""
    file = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as new:
        chosen = rng.choice(old.namelist())
        for name in old.namelist():
            inner = old.read(name)
            if name == chosen:
                header = damaged(inner[:128], rng)
                inner = header + inner[128:]
            new.writestr(name, inner)
    return file.getvalue()


def refolded(content: bytes, rng: np.random.Generator) -> bytes:
    """Damage the inside of a compressed variable of a MATLAB file, and compress it again."""
    data, place, spans = content, 128, []
    while place < len(data):
        length = struct.unpack_from("<I", data, place + 4)[0]
        spans.append((place, length))
        place += 8 + length
    place, length = spans[rng.integers(len(spans))]
    inner = zlib.compress(damaged(zlib.decompress(data[place + 8 : place + 8 + length]), rng))
    return data[:place] + struct.pack("<II", 15, len(inner)) + inner + data[place + 8 + length :]


def forged(content: bytes, rng: np.random.Generator) -> bytes:
    """Change a value of a saved result's description or its table of arrays, and seal it again."""
    from hiddenphysics.writer import FOOTER, sealed

    length = FOOTER.unpack(content[-FOOTER.size :])[0]
    inner, note = content[: -FOOTER.size - length], json.loads(content[-FOOTER.size - length : -FOOTER.size])
    holder: Any = note["told"] if rng.random() < 0.8 else note
    while True:
        keys = list(holder) if isinstance(holder, dict) else list(range(len(holder)))
        key = keys[rng.integers(len(keys))]
        if isinstance(holder[key], dict | list) and holder[key] and rng.random() < 0.9:
            holder = holder[key]
            continue
        break
    wrong = [
        None,
        True,
        "",
        "text",
        -1,
        0,
        7,
        2**29,
        2**70,
        float("nan"),
        1e308,
        [],
        [1],
        {},
        {"a": 1},
        [[0.0, 1.0]],
    ]
    if rng.random() < 0.15:
        del holder[key]
    else:
        holder[key] = wrong[rng.integers(len(wrong))]
    if rng.random() < 0.2:  # numbers, too
        numbers = bytearray(inner)
        place = int(rng.integers(len(numbers) // 8)) * 8
        numbers[place : place + 8] = struct.pack("<d", float(rng.choice([np.nan, np.inf, -1.0, 1e300])))
        inner = bytes(numbers)
    return sealed(inner, json.dumps(note).encode())
