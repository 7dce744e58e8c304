"""Damaged files: load of what save has written, with bits changed, parts cut off, or with other data in the places.

load either returns an object or raises FileFormatError. It runs nothing, and it takes no more memory than the file is large.
"""

from __future__ import annotations

import io
import json
import random
import zipfile
from typing import Any

import numpy as np

import wengert

CALLS = 500


class Bomb:
    """An object whose pickle raises where it is loaded."""

    def __reduce__(self) -> Any:
        return exploded, ()


def exploded() -> None:
    raise SystemExit("the file has run code")


def saved() -> bytes:
    """A file with every type that save takes."""
    x = wengert.ones(2, 3, requires_grad=True)
    obj = {
        "x": x, "again": x, 3: [1, 2.5, None, True, "text", 1j], "t": (wengert.float32, wengert.Size((1, 2))),
        "half": wengert.ones(3, dtype=wengert.bfloat16), "n": wengert.arange(4), "empty": wengert.zeros(0, 3), "deep": [[[[[]]]]],
    }  # fmt: skip
    file = io.BytesIO()
    wengert.save(obj, file)
    return file.getvalue()


def archive(parts: dict[str, bytes], compression: int = zipfile.ZIP_STORED) -> bytes:
    """A zip archive."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", compression) as target:
        for name, content in parts.items():
            target.writestr(name, content)
    return file.getvalue()


def some_json(rng: random.Random, depth: int = 0) -> Any:
    """A description that may be wrong in any place."""
    kinds = [
        "tensor",
        "dict",
        "OrderedDict",
        "list",
        "tuple",
        "Size",
        "float",
        "complex",
        "dtype",
        "set",
        "__import__",
        3,
        None,
        [],
    ]
    if depth > 4 or rng.random() < 0.3:
        return rng.choice(
            [None, True, 0, -1, 10**30, 1.5, "", "float32", "nan", "inf", "x" * 50, [], {}, ["tensor", 0, "float32", True]]
        )
    inner = [some_json(rng, depth + 1) for _ in range(rng.randrange(4))]
    return rng.choice([[rng.choice(kinds), inner], [rng.choice(kinds), *inner], [rng.choice(kinds), [inner, inner]], {"a": inner}])


def header(rng: random.Random) -> bytes:
    """The start of an .npy file that may lie about what follows."""
    shape = rng.choice(
        ["()", "(2,)", "(-1,)", "(2**40,)", "(1099511627776,)", "(10**9, 10**9)", "(0, 1000000000000)", "('a',)", "None"]
    )
    dtype = rng.choice(["<f4", ">f8", "|O", "<U4", "<M8[s]", "|V3", "<f16", "x", "[('a', '<f4')]"])
    text = f"{{'descr': {dtype!r}, 'fortran_order': {rng.choice(['True', 'False', '3'])}, 'shape': {shape}, }}"
    body = (text + " " * rng.randrange(60) + "\n").encode()
    return b"\x93NUMPY\x01\x00" + len(body).to_bytes(2, "little") + body + bytes(rng.randrange(64))


def damaged(rng: random.Random, whole: bytes) -> bytes:
    """A damaged file."""
    how = rng.randrange(9)
    if how == 0:
        return whole[: rng.randrange(len(whole))]
    if how == 1:
        data = bytearray(whole)
        for _ in range(rng.choice([1, 1, 2, 8, 64])):
            data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
        return bytes(data)
    if how == 2:
        i, j = sorted(rng.randrange(len(whole)) for _ in range(2))
        return whole[:i] + rng.randbytes(rng.randrange(20)) + whole[j:]
    with zipfile.ZipFile(io.BytesIO(whole)) as source:
        parts = {name: source.read(name) for name in source.namelist()}
    if how == 3:
        parts.pop(rng.choice(list(parts)))
    elif how == 4:
        parts["data.json"] = json.dumps({"format": "wengert 1", "object": some_json(rng)}).encode()
    elif how == 5:
        depth = rng.choice([100, 1000, 100_000])
        start, end = rng.choice([(b"[", b"]"), (b'["list", [', b"]]"), (b'{"a":', b"}")])
        parts["data.json"] = b'{"format": "wengert 1", "object": ' + start * depth + b"1" + end * depth + b"}"
    elif how == 6:
        parts[rng.choice([name for name in parts if name != "data.json"])] = header(rng)
    elif how == 7:
        name = rng.choice(list(parts))
        parts[name] = rng.choice([b"", rng.randbytes(100), bytes(10**6), __import__("pickle").dumps(Bomb())])
        return archive(parts, zipfile.ZIP_DEFLATED)
    else:
        buffer = io.BytesIO()
        np.save(buffer, np.array([Bomb()], dtype=object), allow_pickle=True)
        parts["0.npy"] = buffer.getvalue()
    return archive(parts)


def run(seed: int, calls: int) -> None:
    """Load damaged files drawn from the seed."""
    rng = random.Random(seed)
    whole = saved()
    for call in range(calls):
        data = damaged(rng, whole)
        try:
            wengert.load(io.BytesIO(data))
        except wengert.errors.FileFormatError as error:
            assert "wengert.save" in str(error)
        except BaseException as error:
            raise AssertionError(f"seed {seed}, call {call}: {error!r} from a file of {len(data)} bytes: {data[:300]!r}") from error
