"""Damaged files: load of what save has written, with bits changed, parts cut off, or with other data in the places.

Each format in turn: torch's zip archive, torch's format before 1.6, wengert's first format. load either returns an object or raises
FileFormatError, another RuntimeError of torch's words, pickle.UnpicklingError or EOFError. It runs nothing, takes no more memory than
the file is large, and each element of a tensor that it returns can be read.
"""

from __future__ import annotations

import io
import json
import pickle
import random
import tempfile
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

import wengert

CALLS = 500

REFUSED = (wengert.errors.WengertError, pickle.UnpicklingError, EOFError)


class Bomb:
    """An object whose pickle raises where it is loaded."""

    def __reduce__(self) -> Any:
        return exploded, ()


def exploded() -> None:
    raise SystemExit("the file has run code")


def example() -> Any:
    """An object with values of every kind that load takes."""
    x = wengert.ones(2, 3, requires_grad=True)
    with wengert.no_grad():
        view = x.t()
    return {
        "x": x, "again": x, "view": view.detach(), 3: [1, 2.5, None, True, "text", 1j], "t": (wengert.float32, wengert.Size((1, 2))),
        "half": wengert.ones(3, dtype=wengert.bfloat16), "n": wengert.arange(4), "empty": wengert.zeros(0, 3), "deep": [[[[[]]]]],
        "conj": wengert.ones(2, dtype=wengert.complex64).conj(), "wide": wengert.ones(1).expand(5), "p": wengert.nn.Parameter(wengert.ones(2)),
        "state": wengert.nn.Linear(2, 1).state_dict(), "short": wengert.ones(2, dtype=wengert.uint16), "set": {1, 2}, "bytes": b"ab",
    }  # fmt: skip


def saved(new: bool) -> bytes:
    """The example in torch's formats."""
    file = io.BytesIO()
    obj = example()
    if not new:
        obj.pop("short")  # the format has no such dtype
    wengert.save(obj, file, _use_new_zipfile_serialization=new)
    return file.getvalue()


def first_format() -> bytes:
    """A file of wengert's first format."""
    npy = io.BytesIO()
    np.save(npy, np.ones(3, np.float32))
    description = ["dict", [["x", ["tensor", 0, "float32", True]], [3, ["list", [1, ["float", "2.5"], None]]], ["d", ["dtype", "int8"]]]]
    return archive({"data.json": json.dumps({"format": "wengert 1", "object": description}).encode(), "0.npy": npy.getvalue()})


def archive(parts: dict[str, bytes], compression: int = zipfile.ZIP_STORED) -> bytes:
    """A zip archive."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", compression) as target:
        for name, content in parts.items():
            target.writestr(name, content)
    return file.getvalue()


def some_json(rng: random.Random, depth: int = 0) -> Any:
    """A description that may be wrong in any place."""
    kinds = ["tensor", "dict", "OrderedDict", "list", "tuple", "Size", "float", "complex", "dtype", "set", "__import__", 3, None, []]
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


NAMES = [
    "torch._utils _rebuild_tensor_v2", "torch._utils _rebuild_tensor_v3", "torch._utils _rebuild_parameter", "torch FloatStorage", "torch Tensor",
    "torch._tensor _rebuild_from_type_v2", "torch.storage UntypedStorage", "collections OrderedDict", "collections Counter", "torch Size",
    "torch float32", "torch bfloat16", "torch device", "__builtin__ set", "__builtin__ complex", "__builtin__ bytearray", "_codecs encode",
    "torch.nn.parameter Parameter", "torch.serialization _get_layout", "torch._utils _rebuild_sparse_tensor", "os system", "__builtin__ eval",
    "__builtin__ getattr", "torch load", "torch.nn.modules.linear Linear", "fuzz.files exploded",
]  # fmt: skip


def some_pickle(rng: random.Random) -> bytes:
    """Operations of pickle in an order that makes sense only by chance."""
    def number() -> bytes:
        value = rng.choice([0, 1, 2, 3, 4, 8, -1, 255, 2**31 - 1, 2**40, 2**62, 2**63, -(2**40), 2**70])
        content = value.to_bytes(10, "little", signed=True)
        return rng.choice([b"\x8a\x0a" + content, b"K" + content[:1], b"J" + content[:4], b"M" + content[:2]])

    def text() -> bytes:
        value = rng.choice([b"storage", b"0", b"1", b"cpu", b"latin1", b"a", b"\xff", b"conj", b"_is_param", b"torch.strided", b"x" * 300])
        return b"X" + rng.choice([len(value), len(value), len(value), 2**31]).to_bytes(4, "little") + value

    steps = [
        number, number, text, text, lambda: b"c" + rng.choice(NAMES).replace(" ", "\n").encode() + b"\n",
        lambda: b"c" + rng.choice(NAMES).replace(" ", "\n").encode() + b"\n", lambda: b"(", lambda: b"t", lambda: b"R", lambda: b"R",
        lambda: rng.choice([b")", b"]", b"}", b"N", b"\x88", b"\x89", b"\x85", b"\x86", b"\x87", b"a", b"e", b"s", b"u", b"b", b"\x81", b"Q"]),
        lambda: rng.choice(b"qh").to_bytes(1, "little") + bytes([rng.randrange(4)]), lambda: bytes([rng.randrange(256)]),
        lambda: rng.choice([b"q\x00h\x00\x86", b"\x85", b")\x85"]) * rng.choice([1, 50, 5000]),
        lambda: b"(" + text() + b"ctorch\nFloatStorage\n" + text() + text() + number() + b"tQ",
        lambda: b"ctorch._utils\n_rebuild_tensor_v2\n((X\x07\x00\x00\x00storagectorch\nFloatStorage\nX\x01\x00\x00\x000X\x03\x00\x00\x00cpu"
        + number() + b"tQ" + number() + number() + b"\x85" + number() + b"\x85\x89NtR",
    ]  # fmt: skip
    return b"\x80\x02" + b"".join([rng.choice(steps)() for _ in range(rng.randrange(1, 30))]) + b"."


def changed(rng: random.Random, data: bytes) -> bytes:
    """The bytes with some of them changed, cut off or replaced."""
    how = rng.randrange(3)
    if how == 0:
        return data[: rng.randrange(len(data) + 1)]
    if how == 1:
        content = bytearray(data)
        for _ in range(rng.choice([1, 1, 2, 8, 64])):
            content[rng.randrange(len(content))] ^= 1 << rng.randrange(8)
        return bytes(content)
    i, j = sorted(rng.randrange(len(data) + 1) for _ in range(2))
    return data[:i] + rng.randbytes(rng.randrange(20)) + data[j:]


def damaged(rng: random.Random, wholes: dict[str, bytes]) -> bytes:
    """A damaged file of one of the formats."""
    kind = rng.choice(["new", "new", "new", "old", "first"])
    whole = wholes[kind]
    if rng.random() < 0.4 or kind == "old":
        return changed(rng, whole)
    with zipfile.ZipFile(io.BytesIO(whole)) as source:
        parts = {name: source.read(name) for name in source.namelist()}
    content = next(iter(parts))  # data.pkl or data.json
    how = rng.randrange(6)
    if how == 0:
        parts.pop(rng.choice(list(parts)))
    elif how == 1:
        name = rng.choice(list(parts))
        parts[name] = rng.choice([b"", rng.randbytes(100), bytes(10**6), pickle.dumps(Bomb(), 2)])
        return archive(parts, rng.choice([zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED]))
    elif kind == "new":
        parts[content] = changed(rng, parts[content]) if how < 4 else some_pickle(rng)
    elif how == 2:
        parts[content] = json.dumps({"format": "wengert 1", "object": some_json(rng)}).encode()
    elif how == 3:
        depth = rng.choice([100, 1000, 100_000])
        start, end = rng.choice([(b"[", b"]"), (b'["list", [', b"]]"), (b'{"a":', b"}")])
        parts[content] = b'{"format": "wengert 1", "object": ' + start * depth + b"1" + end * depth + b"}"
    else:
        parts["0.npy"] = header(rng)
    return archive(parts)


def read(obj: Any, depth: int = 0) -> None:
    """Read each element of each tensor of an object."""
    if isinstance(obj, wengert.Tensor):
        if obj.numel() < 10**6 and not wengert.nn.parameter.is_lazy(obj):
            obj.detach().resolve_conj().resolve_neg().tolist()
    elif isinstance(obj, dict) and depth < 20:
        for value in obj.values():
            read(value, depth + 1)
    elif isinstance(obj, (list, tuple)) and depth < 20:
        for value in obj:
            read(value, depth + 1)


def run(seed: int, calls: int) -> None:
    """Load damaged files drawn from the seed."""
    rng = random.Random(seed)
    wholes = {"new": saved(True), "old": saved(False), "first": first_format()}
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "file"
        for call in range(calls):
            data = damaged(rng, wholes)
            mapped = rng.random() < 0.2
            if mapped:
                path.write_bytes(data)
            try:
                read(wengert.load(path, mmap=True) if mapped else wengert.load(io.BytesIO(data)))
            except REFUSED:
                pass
            except RuntimeError as error:
                assert (mapped and "mmap can only be used" in str(error)) or "legacy .tar" in str(error)
            except BaseException as error:
                raise AssertionError(f"seed {seed}, call {call}: {error!r} from a file of {len(data)} bytes: {data[:300]!r}") from error
