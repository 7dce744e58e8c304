"""Indexing of every form, compared with torch, or with NumPy if torch is not installed.

One call draws a shape, an index and a form: a read, an assignment, index_put, or one of the operations that take one index
tensor (gather, scatter, index_add, take ...). Values, gradients and the classes of errors must agree.

The oracle without torch is `positions`: it applies an index, item by item, to an array of the positions of all elements. What a
read, a write and their gradients are follows from the positions. It serves indices within range alone.
"""

from __future__ import annotations

import random
import re
import warnings
from typing import Any

import numpy as np

import wengert

try:
    import torch
except ImportError:
    torch = None  # type: ignore[assignment]

CALLS = 1000
_INTS = ("int64", "int64", "int64", "int32", "int16", "int8", "uint8")
_READS_AND_WRITES = ("get", "get", "set", "set number", "put", "put_", "put accumulate", "put_ accumulate")
_NAMED = (
    "gather", "take", "take_along_dim", "index_select", "index_add", "index_copy", "index_fill", "scatter", "scatter_add",
    "masked_fill", "masked_select", "masked_scatter", "put",
)  # fmt: skip


class Draw:
    """One program: a seeded choice of everything in it. Tensors are drawn as NumPy arrays."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def shape(self, low: int = 0, high: int = 4) -> tuple[int, ...]:
        return tuple(self.random.choices((0, 1, 2, 3, 4), (1, 4, 8, 8, 3), k=self.random.randint(low, high)))

    def ints(self, shape: tuple[int, ...], size: int, dtype: str, negative: bool = True) -> Any:
        low = -size if negative and dtype != "uint8" else 0
        if self.random.random() < 0.05:
            size += 1  # out of range now and then
        if size <= low:
            size = low + 1
        count = int(np.prod(shape))
        return np.array([self.random.randrange(low, size) for _ in range(count)], dtype).reshape(shape)

    def mask(self, shape: tuple[int, ...]) -> Any:
        count = int(np.prod(shape))
        return np.array([self.random.random() < 0.6 for _ in range(count)], bool).reshape(shape)

    def numbers(self, shape: tuple[int, ...]) -> Any:
        count = int(np.prod(shape))
        return np.array([self.random.randint(-9, 9) for _ in range(count)], float).reshape(shape)

    def slice(self, size: int) -> slice:
        draw = self.random
        bound = lambda: draw.choice([None, draw.randint(-size - 1, size + 1)])  # noqa: E731
        return slice(bound(), bound(), draw.choice([None, None, 1, 2, 3]))

    def index(self, shape: tuple[int, ...], tensors_only: bool) -> tuple[Any, ...]:
        """Return the items of an index: ints, slices, None, Ellipsis, bools, arrays of ints and masks."""
        draw, items, dim = self.random, list[Any](), 0
        common = self.shape(0, 2)
        wanted = draw.randint(1, len(shape) + 2)
        dtype = draw.choice(_INTS) if draw.random() < 0.3 else "int64"
        while len(items) < wanted:
            left = max(len(shape) - dim, 0)
            size = shape[dim] if left else 1
            kind = draw.choice(("array", "array", "scalar", "mask", "none", "slice", "int", "ellipsis", "bool"))
            if not left and kind not in ("none", "bool", "ellipsis") and draw.random() < 0.95:
                break
            if kind == "array":
                own = tuple([draw.choice((n, n, 1)) for n in common])[draw.randint(0, len(common)) :]
                if dtype == "uint8" and not own and tensors_only:  # a mask that torch leaves out, also if it is False
                    own = (1,)
                items.append(self.ints(own, size, dtype))
            elif kind == "scalar":
                items.append(self.ints((), size, "int64" if tensors_only or draw.random() < 0.5 else draw.choice(_INTS)))
            elif kind == "mask":
                if not left:
                    break
                ndim = draw.randint(1, min(left, 2))
                sizes = shape[dim : dim + ndim]
                items.append(self.mask(sizes if draw.random() < 0.95 else (7,)))
                dim += ndim - 1
            elif kind == "none":
                if tensors_only and not left:
                    break
                items.append(None)
                dim += tensors_only  # None stands for a whole dimension there
                continue
            elif tensors_only:
                continue
            elif kind == "slice":
                items.append(self.slice(size))
            elif kind == "int":
                items.append(int(self.ints((), size, "int64")))
            elif kind == "ellipsis":
                if Ellipsis not in [item for item in items if not isinstance(item, np.ndarray)]:
                    items.append(Ellipsis)
                    dim = max(dim, len(shape) - draw.randint(0, 2))
                else:
                    wanted -= 1
                continue
            else:
                items.append(draw.choice([True, False, np.array(True), np.array(False)]))
                continue
            dim += 1
        if tensors_only and not any(isinstance(item, np.ndarray) for item in items):
            items.append(self.ints((2,), shape[-1] if shape else 1, dtype))
        return tuple(items)


def positions(shape: tuple[int, ...], items: tuple[Any, ...]) -> Any:
    """Return the positions, in the flattened tensor, of the elements that an index names. Raises IndexError if it is wrong."""
    places = np.arange(int(np.prod(shape))).reshape(shape)
    used = 0
    for item in items:
        mask = isinstance(item, np.ndarray) and item.dtype.kind == "b"
        used += item.ndim if mask else item is not None and item is not Ellipsis and not isinstance(item, bool)
    if used > len(shape):
        raise IndexError
    dim, arrays = 0, dict[int, Any]()
    for item in items:
        if isinstance(item, np.ndarray) and item.dtype == np.uint8:
            item = item.astype(bool)
        if item is Ellipsis:
            dim += len(shape) - used
            continue
        if isinstance(item, np.ndarray) and item.dtype.kind == "i" and item.ndim == 0:
            item = int(item)
        if isinstance(item, bool) or (isinstance(item, np.ndarray) and item.dtype.kind == "b" and item.ndim == 0):
            places = np.expand_dims(places, dim)
            arrays[dim] = np.zeros(int(item), int)
            dim += 1
        elif isinstance(item, int):
            places = places.take(item, axis=dim)
        elif item is None:
            places = np.expand_dims(places, dim)
            dim += 1
        elif isinstance(item, slice):
            places = places[(slice(None),) * dim + (item,)]
            dim += 1
        elif item.dtype.kind == "b":
            if item.shape != places.shape[dim : dim + item.ndim]:
                raise IndexError
            for part in item.nonzero():
                arrays[dim] = part
                dim += 1
        elif item.dtype.itemsize < 4:
            raise IndexError
        else:
            arrays[dim] = item
            dim += 1
    return places[tuple([arrays.get(d, slice(None)) for d in range(places.ndim)])]


def run(seed: int, calls: int) -> None:
    """Compare `calls` drawn programs. Raises AssertionError with the program's seed if one differs."""
    for number in range(calls):
        program_seed = seed * 1_000_003 + number
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compare(program_seed)


def compare(seed: int) -> None:
    """Run one program on both sides."""
    draw = Draw(seed)
    if draw.random.random() < 0.75:
        shape = draw.shape()
        form = draw.random.choice(_READS_AND_WRITES)
        items = draw.index(shape, form.startswith("put"))
        program: Any = IndexProgram(shape, form, items, draw)
    elif torch is not None:
        program = NamedProgram(draw)
    else:
        return
    ours = outcome(program, wengert)
    theirs = outcome(program, torch) if torch is not None else program.expected()
    if theirs is None:
        return
    problem = difference(program, ours, theirs)
    named = [type(x).__mro__[:3] if isinstance(x, Exception) else "" for x in (ours, theirs)]
    assert problem is None, f"compare({seed}): {program}: {problem}\nwengert: {named[0]} {ours}\nexpected: {named[1]} {theirs}"


def outcome(program: Any, lib: Any) -> Any:
    """Return the arrays that a program computes: results and gradients, or the exception that it raises."""
    try:
        return [np.array(x.detach().numpy()) for x in program.run(lib)]
    except (IndexError, RuntimeError, TypeError, ValueError) as error:
        return error


def difference(program: Any, ours: Any, theirs: Any) -> str | None:
    """Return a description of how two outcomes differ, or None.

    torch's class of error for an index out of range, of operations other than x[index], depends on the kernel that finds it.
    These kernels do not look at indices of which no element is read, or only in the derivative, and some take int64 alone where we
    take int32. One refuses the uint8 masks that others take. Of an index and a value that are both wrong, either is named.
    index_put of torch counts the indices before a mask becomes several, and with None takes more indices than dimensions."""
    named = program.form not in ("get", "set", "set number")
    if isinstance(theirs, Exception):
        if not isinstance(ours, Exception):
            refused_dtype = (named and re.search("dtype|long tensor", str(theirs))) or "only supports boolean masks" in str(theirs)
            in_gradient = re.search("out of (range|DATA bounds)|indexing axis dim should be positive", str(theirs)) and program.touches_nothing()
            return None if refused_dtype or in_gradient else "no error"
        wanted = (IndexError, RuntimeError) if program.form != "get" and isinstance(theirs, (IndexError, RuntimeError)) else type(theirs)
        return None if isinstance(ours, wanted) else "another class of error"
    if isinstance(ours, Exception):
        out_of_range = re.search("out of (range|bounds)", str(ours))
        uncounted = isinstance(program, IndexProgram) and program.has_none_in_put() and "too many indices" in str(ours)
        return None if uncounted or (out_of_range and program.touches_nothing()) else "an error"
    for i, (a, b) in enumerate(zip(ours, theirs, strict=True)):
        if a.shape != b.shape or a.dtype != b.dtype or not np.array_equal(a, b):
            return f"array {i} differs"
    return None


class IndexProgram:
    """A read or a write at an index."""

    def __init__(self, shape: tuple[int, ...], form: str, items: tuple[Any, ...], draw: Draw) -> None:
        self.form, self.items, self.x = form, items, draw.numbers(shape)
        try:
            self.region = positions(shape, self.items).shape
        except (IndexError, ValueError):
            self.region = ()
        value_shape = list(self.region)
        if draw.random.random() < 0.4:
            value_shape = [draw.random.choice((n, 1)) for n in value_shape][draw.random.randint(0, len(value_shape)) :]
        if draw.random.random() < 0.04:
            value_shape.append(5)
        self.value = draw.numbers(tuple(value_shape))
        self.bare = len(items) == 1 and draw.random.random() < 0.5 and not form.startswith("put")
        if not shape and items and type(items[0]) is int:
            self.bare = False  # x[0] of no dimensions is what torch 0.1 had

    def __repr__(self) -> str:
        return f"{self.form} of {self.x.shape} at {self.items!r}, value of shape {self.value.shape}"

    def run(self, lib: Any) -> list[Any]:
        items: Any = tuple([lib.tensor(item) if isinstance(item, np.ndarray) else item for item in self.items])
        if self.bare:
            items = items[0]
        x = lib.tensor(self.x, requires_grad=True)
        value = lib.tensor(self.value, requires_grad=True)
        if self.form == "get":
            out = x[items]
        elif self.form.startswith("set"):
            out = x * 1
            out[items] = value if self.form == "set" else 3
        else:
            accumulate = self.form.endswith("accumulate")
            out = x * 1
            name = "index_put_" if "_" in self.form else "index_put"
            if lib is torch:  # which takes None below Python's surface alone
                out = getattr(lib.ops.aten, name)(out, items, value, accumulate)
            else:
                out = getattr(out, name)(items, value, accumulate)
        weight = lib.arange(1, out.numel() + 1, dtype=lib.float64).reshape(out.shape)
        grads = lib.autograd.grad((out * weight).sum(), [x, value], allow_unused=True)
        return [out, *[lib.zeros(0) if g is None else g for g in grads]]

    def has_none_in_put(self) -> bool:
        """Whether this is an index_put with None among the indices."""
        return self.form.startswith("put") and any(item is None for item in self.items)

    def touches_nothing(self) -> bool:
        """Whether the index names no element, so that torch does not look whether it is in range."""
        arrays = [item for item in self.items if isinstance(item, np.ndarray)]
        in_range = tuple([item * 0 if isinstance(item, np.ndarray) and item.dtype.kind == "i" else item for item in self.items])
        try:
            if positions(self.x.shape, in_range).size == 0:
                return True
        except (IndexError, ValueError):
            pass
        return 0 in self.x.shape or any(not (a.any() if a.dtype in (bool, np.uint8) else a.size) for a in arrays)

    def expected(self) -> Any:
        """Return the outcome by NumPy, or None if this oracle does not say it: for errors and index_put of 0-d indices."""
        if self.form.startswith("put") and any(getattr(item, "ndim", 1) == 0 for item in self.items):
            return None
        items = tuple([slice(None) if item is None else item for item in self.items]) if self.form.startswith("put") else self.items
        try:
            places = positions(self.x.shape, items)
            value = np.broadcast_to(self.value, places.shape)
        except (IndexError, ValueError):
            return None
        if self.form != "get" and not self.form.endswith("accumulate") and np.unique(places).size != places.size:
            return None  # which of several values stays is not defined
        out, grad, value_grad = self.x.copy(), np.zeros(self.x.size), np.zeros((0,), np.float32)
        if self.form == "get":
            out = self.x.reshape(-1)[places]
            np.add.at(grad, places, np.arange(1.0, places.size + 1).reshape(places.shape))
            return [out, grad.reshape(self.x.shape), value_grad]
        weight = np.arange(1.0, out.size + 1)
        flat = out.reshape(-1)
        if self.form.endswith("accumulate"):
            np.add.at(flat, places, value)
            grad = weight
        else:
            flat[places] = 3 if self.form == "set number" else value
            grad = weight.copy()
            grad[places] = 0
        if self.form != "set number":
            value_grad = unbroadcast(weight[places], self.value.shape)
        return [flat.reshape(self.x.shape), grad.reshape(self.x.shape), value_grad]


def unbroadcast(array: Any, shape: tuple[int, ...]) -> Any:
    """Sum an array to a shape that broadcasts to its own."""
    array = array.sum(axis=tuple(range(array.ndim - len(shape))))
    return array.sum(axis=tuple([d for d, n in enumerate(shape) if n == 1 and array.shape[d] != 1]), keepdims=True)


class NamedProgram:
    """A call of one of the operations that take one index tensor or mask."""

    def __init__(self, draw: Draw) -> None:
        choose = draw.random.choice
        self.name, shape = choose(_NAMED), draw.shape(0, 3)
        self.dim = draw.random.randint(-max(len(shape), 1), max(len(shape), 1) - 1)
        size = shape[self.dim] if shape else 1
        dtype = "int64" if draw.random.random() < 0.8 else choose(_INTS)
        negative = draw.random.random() < 0.1
        self.accumulate = choose((True, False))
        along = [choose((n, n, max(n - 1, 0), 1)) for n in shape]
        if shape:
            along[self.dim] = draw.random.randint(0, 4)
        if self.name.startswith("index_"):
            self.index = draw.ints(choose([(), (1,), (2,), (3,), (0,)]), size, dtype, negative)
            other = list(shape)
            if shape:
                other[self.dim] = self.index.size
        elif self.name.startswith("masked"):
            self.index = draw.mask(tuple([choose((n, n, n, 1)) for n in shape])[draw.random.randint(0, len(shape)) :])
            other = [int(np.prod(shape))]
        elif self.name in ("take", "put"):
            self.index = draw.ints(draw.shape(0, 2), int(np.prod(shape)), dtype)
            other = list(self.index.shape)
        else:
            self.index = draw.ints(tuple(along), size, dtype, negative)
            other = along
        self.x, self.other, self.form = draw.numbers(shape), draw.numbers(tuple(other)), self.name

    def has_none_in_put(self) -> bool:
        """Whether this is an index_put with None among the indices."""
        return self.form.startswith("put") and any(item is None for item in self.items)

    def touches_nothing(self) -> bool:
        """Whether torch does not look if the index is in range: it names no element, or is take_along_dim's."""
        return 0 in self.x.shape or 0 in self.index.shape or self.name == "take_along_dim"

    def __repr__(self) -> str:
        index = f"dim {self.dim}, index {self.index.dtype} {self.index.tolist()}"
        return f"{self.name} of {self.x.shape} at {index}, other of shape {self.other.shape}, accumulate {self.accumulate}"

    def run(self, lib: Any) -> list[Any]:
        x, other = lib.tensor(self.x, requires_grad=True), lib.tensor(self.other, requires_grad=True)
        index, dim, name = lib.tensor(self.index), self.dim, self.name
        if name in ("take", "masked_select"):
            out = getattr(x, name)(index)
        elif name in ("gather", "index_select"):
            out = getattr(x, name)(dim, index)
        elif name == "take_along_dim":
            out = x.take_along_dim(index, dim)
        elif name == "index_fill":
            out = x.index_fill(dim, index, 2.0)
        elif name == "masked_fill":
            out = x.masked_fill(index, 2.0)
        elif name == "masked_scatter":
            out = x.masked_scatter(index, other)
        elif name == "put":
            out = x.put(index, other, self.accumulate)
        else:
            out = getattr(x, name)(dim, index, other)
        weight = lib.arange(1, out.numel() + 1, dtype=lib.float64).reshape(out.shape)
        grads = lib.autograd.grad((out * weight).sum(), [x, other], allow_unused=True)
        return [out, *[lib.zeros(0) if g is None else g for g in grads]]
