"""Operations that read an array of indices (or a mask) while another thread writes numbers out of range into it.

The array is checked before it is used, and the kernels let go of Python's lock in between. A call may give any numbers, or raise the
error of an index out of range. It may not touch memory outside of its arrays, and a later call with indices at rest is right.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from typing import Any

import numpy as np

import wengert
from wengert import Tensor
from wengert.nn import functional as F

CALLS = 60
ROWS = 40_000  # more than the elements below which kernels keep Python's lock
CLASSES = 6
REFUSALS = (IndexError, ValueError, RuntimeError, MemoryError)  # the last: bincount of 2**40
WRONG = (2**40, -(2**40), 2**62, -(2**63), ROWS * 8)


def put(x: Tensor, index: Any, value: Any) -> Tensor:
    x = x.clone()
    x[index] = value
    return x


def _unpool(x: Tensor, i: Tensor) -> Tensor:
    return F.max_unpool1d(x.reshape(1, 1, ROWS), i.reshape(1, 1, ROWS), 2, output_size=(2 * ROWS,))


def _ctc(x: Tensor, labels: Tensor) -> Tensor:
    steps = ROWS // 100
    scores = x.reshape(100, steps, CLASSES).transpose(0, 1).log_softmax(2)
    return F.ctc_loss(scores, labels[:100].reshape(100, 1).expand(100, 20).contiguous(), [steps] * 100, [20] * 100)


# Each takes (vector (ROWS), matrix (ROWS, CLASSES), the shared int64 indices (ROWS)).
OF_ROWS: dict[str, Callable[[Tensor, Tensor, Tensor], Tensor]] = {
    "gather": lambda v, m, i: v.gather(0, i),
    "gather of rows": lambda v, m, i: m.gather(0, i[:, None].expand(ROWS, CLASSES)),
    "index_select": lambda v, m, i: m.index_select(0, i),
    "embedding": lambda v, m, i: F.embedding(i, m),
    "embedding_bag": lambda v, m, i: F.embedding_bag(i.reshape(ROWS // 4, 4), m, mode="sum"),
    "x[i]": lambda v, m, i: v[i],
    "x[i, j]": lambda v, m, i: m[i, i % CLASSES],
    "x[:, i]": lambda v, m, i: m.T[:, i],
    "take": lambda v, m, i: v.take(i),
    "take_along_dim": lambda v, m, i: v.take_along_dim(i, 0),
    "scatter": lambda v, m, i: v.scatter(0, i, v),
    "scatter_add": lambda v, m, i: v.scatter_add(0, i, v),
    "scatter_add of rows": lambda v, m, i: m.scatter_add(0, i[:, None].expand(ROWS, CLASSES), m),
    "scatter_reduce": lambda v, m, i: v.scatter_reduce(0, i, v, "amax"),
    "scatter_reduce prod": lambda v, m, i: v.scatter_reduce(0, i, v, "prod"),
    "index_add": lambda v, m, i: m.index_add(0, i, m),
    "index_copy": lambda v, m, i: m.index_copy(0, i, m),
    "index_fill": lambda v, m, i: m.index_fill(0, i, 2.0),
    "index_reduce": lambda v, m, i: m.index_reduce(0, i, m, "mean"),
    "index_put": lambda v, m, i: v.index_put((i,), v),
    "index_put accumulate": lambda v, m, i: v.index_put((i,), v, accumulate=True),
    "index_put of pairs": lambda v, m, i: m.index_put((i, i % CLASSES), v),
    "put": lambda v, m, i: v.put(i, v),
    "x[i] = v": lambda v, m, i: put(v, i, v),
    "x[i, 0] = v": lambda v, m, i: put(m, (i, 0), v),
    "max_unpool": lambda v, m, i: _unpool(v, i),
    "bincount": lambda v, m, i: v * wengert.bincount(i, minlength=ROWS)[:ROWS].to(v.dtype),
    "searchsorted": lambda v, m, i: v + wengert.searchsorted(v.detach(), v.detach(), sorter=i),
    "repeat_interleave": lambda v, m, i: v.repeat_interleave(i % 3),
    "int32": lambda v, m, i: v.index_select(0, i.to(wengert.int32)),
}
OF_CLASSES: dict[str, Callable[[Tensor, Tensor, Tensor], Tensor]] = {
    "cross_entropy": lambda v, m, i: F.cross_entropy(m, i),
    "cross_entropy ignoring": lambda v, m, i: F.cross_entropy(m, i, ignore_index=2),
    "cross_entropy with weights": lambda v, m, i: F.cross_entropy(m, i, weight=m[0].detach(), reduction="sum"),
    "nll_loss": lambda v, m, i: F.nll_loss(m, i),
    "multi_margin_loss": lambda v, m, i: F.multi_margin_loss(m, i),
    "multilabel_margin_loss": lambda v, m, i: F.multilabel_margin_loss(m, i[:, None].expand(ROWS, CLASSES)),
    "ctc_loss": lambda v, m, i: _ctc(m, i),
    "gather of classes": lambda v, m, i: m.gather(1, i[:, None]),
    "one_hot": lambda v, m, i: m * F.one_hot(i, CLASSES),
}
OF_MASKS: dict[str, Callable[[Tensor, Tensor, Tensor], Tensor]] = {
    "x[mask]": lambda v, m, i: v[i],
    "masked_select": lambda v, m, i: v.masked_select(i),
    "masked_scatter": lambda v, m, i: v.masked_scatter(i, v),
    "x[mask] = 1": lambda v, m, i: put(v, i, 1.0),
    "masked_fill": lambda v, m, i: v.masked_fill(i, 0.0),
    "nonzero": lambda v, m, i: v.take(i.nonzero()[:, 0]),
}


class Writer:
    """A thread that writes into an array, in turn what breaks it and what mends it, until it is stopped."""

    def __init__(self, array: Any, right: Any, wrong: Any) -> None:
        self.array, self.right, self.wrong = array, right, wrong
        self.stopped = False
        self.thread = threading.Thread(target=self.write, daemon=True)

    def write(self) -> None:
        while not self.stopped:
            np.copyto(self.array, self.wrong)
            np.copyto(self.array, self.right)

    def __enter__(self) -> None:
        self.thread.start()

    def __exit__(self, *_: object) -> None:
        self.stopped = True
        self.thread.join()


def _draw(rng: Any) -> tuple[str, Callable[[Tensor, Tensor, Tensor], Tensor], Any, Any]:
    """Return (name, operation, right indices, indices of which some are out of range)."""
    kind = rng.integers(10)
    table = OF_MASKS if kind == 0 else OF_CLASSES if kind < 3 else OF_ROWS
    name = str(rng.choice(sorted(table)))
    if table is OF_MASKS:
        right = rng.random(ROWS) < 0.1
        return name, table[name], right, ~right
    right = rng.permutation(ROWS) if table is OF_ROWS else rng.integers(0, CLASSES, ROWS)
    wrong = right.copy()
    wrong[rng.integers(0, ROWS, 1 + int(rng.integers(ROWS)))] = int(rng.choice(WRONG))
    return name, table[name], right, wrong


def _results(operation: Callable[..., Tensor], v: Tensor, m: Tensor, index: Tensor) -> list[Any]:
    """Return the value of an operation and the gradients of its sum."""
    out = operation(v, m, index)
    grads = wengert.autograd.grad(out.sum(), (v, m), allow_unused=True)
    return [out.detach().numpy(), *[None if g is None else g.numpy() for g in grads]]


def run(seed: int, calls: int) -> None:
    rng = np.random.default_rng(seed)
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        for call in range(calls):
            name, operation, right, wrong = _draw(rng)
            dtype = wengert.float32 if rng.integers(2) else wengert.float64
            v = wengert.tensor(rng.standard_normal(ROWS), dtype=dtype, requires_grad=True)
            m = wengert.tensor(rng.standard_normal((ROWS, CLASSES)), dtype=dtype, requires_grad=True)
            index = wengert.from_numpy(right.copy())
            with Writer(index.numpy(), right, wrong):
                for _ in range(3):
                    try:
                        _results(operation, v, m, index)
                    except REFUSALS:
                        pass
            found = _results(operation, v, m, index)
            expected = _results(operation, v, m, wengert.from_numpy(right))
            for a, b in zip(found, expected, strict=True):
                if a is not None and not np.array_equal(a, b, equal_nan=True):
                    raise AssertionError(f"seed {seed}, call {call}: {name} is wrong after the other thread has stopped")
    finally:
        sys.setswitchinterval(interval)
