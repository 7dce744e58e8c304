"""Operations on arrays that lie in memory in every way: their results, gradients and second derivatives are those of contiguous copies.

Drawn are an operation with one of its samples, dtypes, and for each input and cotangent the order of the axes, padding, negative and
zero strides, an offset, misaligned addresses and memory that may not be written. No input may change. The in-place form of an operation
writes the same values, and nothing beside them.
"""

from __future__ import annotations

import random
import warnings
from typing import Any

import numpy as np

import wengert
from op_samples import Data
from op_samples.cases import CASES, Case, flatten, grad_inputs, needs_no_samples, tensors_in
from wengert.autograd import grad
from wengert.core.legacy import StochasticNode

CALLS = 500
TOLERANCES = {"float16": 2e-2, "float32": 2e-4, "complex64": 2e-4, "float64": 1e-9, "complex128": 1e-9}

# An operation may not depend on the layout, unless memory is what it is about. Random numbers are drawn in the order of memory, as in torch.
SUBJECTS = [case for case in CASES if not case.is_about_memory and not case.is_random]


def lay_out(array: np.ndarray, rng: np.random.Generator, may_repeat: bool) -> np.ndarray:
    """Array of the shape and dtype in a drawn layout. The values are equal too, unless dimensions repeat (stride 0)."""
    if rng.random() < 0.2:
        return array.copy()
    ndim = array.ndim
    order = rng.permutation(ndim)
    steps = rng.choice([1, 1, 2, 3], ndim)
    flips = rng.random(ndim) < 0.25
    repeats = (rng.random(ndim) < 0.2) if may_repeat and array.size else np.zeros(ndim, bool)
    shape = [1 if repeats[d] else array.shape[d] * int(steps[d]) for d in range(ndim)]
    offset = int(rng.choice([0, 0, 1, 3])) * array.itemsize + (int(rng.integers(1, array.itemsize)) if rng.random() < 0.15 and array.itemsize > 1 else 0)
    memory = np.full(offset + int(np.prod(shape)) * array.itemsize + 64, 0x5A, np.uint8)
    room = np.ndarray([shape[d] for d in order], array.dtype, memory, offset).transpose(np.argsort(order))
    # The Ellipsis keeps a 0-d array an array.
    region = room[(..., *(slice(None, None, 1 if repeats[d] else int(steps[d])) for d in range(ndim)))]
    region = region[(..., *(slice(None, None, -1 if flips[d] else 1) for d in range(ndim)))]
    region[...] = array[(..., *(slice(0, 1) if repeats[d] else slice(None) for d in range(ndim)))]
    return np.broadcast_to(region, array.shape) if repeats.any() else region


def whole_memory(array: np.ndarray) -> np.ndarray:
    """The bytes of the buffer that the array is a view of."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array.reshape(-1, copy=False).view(np.uint8)


def draw_dtype(case: Case, draw: random.Random) -> Any:
    """A floating-point or complex dtype that the case takes."""
    names = ["float64", "float64", "float32"] + (["complex128"] if case.may_be_complex else [])
    return np.dtype(draw.choice(names))


def draw_shapes(case: Case, draw: random.Random) -> list[Any]:
    """The sample's inputs; for an operation that broadcasts, sometimes others, up to sizes that use several threads."""
    if not needs_no_samples(case.op) or draw.random() < 0.3 or any(not isinstance(x, Data) for x in case.sample.inputs):
        return list(case.sample.inputs)
    whole = [draw.choice([1, 2, 3, 7, 8, 17, 33]) for _ in range(draw.randrange(5))]
    if draw.random() < 0.05:
        whole = [draw.choice([130, 257]), draw.choice([129, 300])]
    inputs = []
    for x in case.sample.inputs:
        shape = [1 if draw.random() < 0.15 else n for n in whole][draw.choice([0, 0, 0, 1]) :]
        inputs.append(Data(*shape, low=x.low, high=x.high, distinct=x.distinct, grad=x.grad))
    return inputs


class Call:
    """A drawn call: its inputs as arrays in drawn layouts."""

    def __init__(self, case: Case, draw: random.Random) -> None:
        self.case = case
        self.seed = draw.randrange(2**32)
        self.second = draw.random() < 0.25
        is_method = bool(case.sample.inputs) and isinstance(case.sample.inputs[0], Data)
        self.writes = draw.random() < 0.2 and is_method and callable(getattr(wengert.Tensor, f"{case.name}_", None))
        self.dtype = draw_dtype(case, draw)
        self.specs = draw_shapes(case, draw)
        values, self.rng = np.random.default_rng(1000 + case.number), np.random.default_rng(self.seed)
        may_repeat = not case.has_distinct and draw.random() < 0.5

        def make(spec: Any) -> Any:
            if isinstance(spec, list):
                return [make(x) for x in spec]
            array = spec.make(values, self.dtype) if isinstance(spec, Data) else spec
            if not isinstance(array, np.ndarray):
                return array
            laid = lay_out(array, self.rng, may_repeat and isinstance(spec, Data) and not self.writes)
            if self.rng.random() < 0.3 and not self.writes:
                laid.setflags(write=False)
            return laid

        self.inputs = [make(spec) for spec in self.specs]
        self.arrays = [x for x in flatten(self.inputs) if isinstance(x, np.ndarray)]

    def __repr__(self) -> str:
        layouts = [f"{x.dtype}{x.shape}, steps {x.strides}{'' if x.flags.aligned else ', misaligned'}" for x in self.arrays]
        return f"{self.case.id}{' in place' if self.writes else ''} of {'; '.join(layouts)}"

    def results(self, packed: bool) -> list[np.ndarray] | Exception:
        """Arrays of the results, of the gradients and of second derivatives; or the error. packed: of contiguous copies."""
        rng = np.random.default_rng(self.seed)

        def tensor(x: Any, spec: Any) -> Any:
            if isinstance(x, list):
                return [tensor(*pair) for pair in zip(x, spec, strict=True)]
            if not isinstance(x, np.ndarray):
                return x
            made = wengert.from_numpy(np.array(x, order="C") if packed else x)
            return made.requires_grad_(isinstance(spec, Data) and spec.grad and x.dtype.kind in "fc" and not self.writes)

        def start(out: Any) -> Any:
            weights = rng.uniform(-1, 1, out.shape).astype(out.detach().numpy().dtype)
            laid = lay_out(weights, rng, True)
            return wengert.from_numpy(np.array(laid, order="C") if packed else laid)

        inputs = [tensor(x, spec) for x, spec in zip(self.inputs, self.specs, strict=True)]
        try:
            if self.writes:
                self.case.call(inputs, getattr(wengert.Tensor, f"{self.case.name}_"))
                return [x.numpy().copy() for x in tensors_in(inputs)]
            outputs = tensors_in(self.case.call(inputs))
            if any(isinstance(out.grad_fn, StochasticNode) for out in outputs):
                return []
            found, leaves = list(outputs), grad_inputs(inputs)
            ends = [out for out in outputs if out.requires_grad]
            if ends:
                starts = [start(out) for out in ends]
                gradients = grad(ends, leaves, starts, allow_unused=True, create_graph=self.second)
                found += gradients
                ends = [g for g in gradients if g is not None and g.requires_grad]
            if ends and self.second:
                found += grad(ends, leaves, [start(g) for g in ends], allow_unused=True)
            return [x.detach().numpy() for x in found if x is not None]
        except (RuntimeError, TypeError, ValueError, IndexError) as error:
            return error

    def check(self) -> None:
        before = [x.copy() for x in self.arrays]
        memories = [whole_memory(x) for x in self.arrays]
        bytes_before = [x.copy() for x in memories]
        expected, found = self.results(packed=True), self.results(packed=False)
        if self.writes:
            for x, old in zip(self.arrays, before, strict=True):
                x[...] = old
        for memory, old in zip(memories, bytes_before, strict=True):
            assert np.array_equal(memory, old), "memory beside an input changed" if self.writes else "an input changed"
        if isinstance(found, Exception) or isinstance(expected, Exception):
            assert type(found) is type(expected), f"{found!r} instead of {expected!r}"
            return
        assert len(found) == len(expected)
        for number, (a, b) in enumerate(zip(found, expected, strict=True)):
            assert a.shape == b.shape and a.dtype == b.dtype, f"{a.dtype}{a.shape} instead of {b.dtype}{b.shape}"
            tolerance = TOLERANCES.get(str(a.dtype), 0)
            scale = np.abs(b[np.isfinite(b)]).max(initial=1) if tolerance else 0
            same = np.isclose(a, b, rtol=tolerance, atol=tolerance * scale, equal_nan=True)
            assert same.all(), f"array {number} is\n{a}\ninstead of\n{b}"


def run(seed: int, calls: int) -> None:
    draw = random.Random(seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for number in range(calls):
            call = Call(draw.choice(SUBJECTS), draw)
            try:
                call.check()
            except Exception as error:
                raise AssertionError(f"seed {seed}, call {number + 1}: {type(error).__name__}: {error}\n{call}") from error
