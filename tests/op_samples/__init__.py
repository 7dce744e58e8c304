"""Arguments of each operation for the registry-driven tests, and the independent oracle for its values.

One module a family of wengert.ops. Each defines
    SAMPLES: operation name -> list of Sample. A pointwise operation without parameters needs none: its `domain` is enough.
    ORACLES: operation name -> a NumPy or SciPy function of the same arrays and parameters.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np

FAMILIES = (
    "arithmetic", "pointwise", "compare", "reduce", "shape", "index", "join", "linalg", "nn", "conv", "pool", "norm", "pad",
    "resize", "attention", "margin_loss", "bags", "grid", "ctc", "random", "fft", "special", "matrices", "statistics",
    "copies", "masked", "index_reduce", "short_time", "layers", "native", "low_rank", "layer_functions", "linear_maps",
    "matrix_equations", "trigonometric_transforms",
)  # fmt: skip


class Data:
    """An input: random values of a shape, from low to high; no two equal where distinct, so that no test sits on a tie."""

    def __init__(self, *shape: int, low: float = -2.0, high: float = 2.0, distinct: bool = False, grad: bool = True) -> None:
        self.shape, self.low, self.high, self.distinct, self.grad = shape, low, high, distinct, grad

    def make(self, rng: np.random.Generator, dtype: Any) -> np.ndarray:
        if self.distinct:
            n = int(np.prod(self.shape))
            values = rng.permutation(np.linspace(self.low, self.high, n) if n else np.zeros(0)).reshape(self.shape)
        else:
            values = rng.uniform(self.low, self.high, self.shape)
        if np.dtype(dtype).kind == "c":
            values = values + 1j * rng.uniform(self.low, self.high, self.shape)
        return np.asarray(values, dtype)


class Sample:
    """One call: op(*inputs, **params). inputs: Data, or a tuple (a shape, for Data of that shape), or an array used as it is
    (indices, masks), or a list of these (for a variadic input), or a number. complex: whether it also runs in complex128.
    gradgrad: False, with the reason in the comment beside it, where second derivatives do not apply."""

    def __init__(self, *inputs: Any, complex: bool = True, **params: Any) -> None:
        self.inputs = tuple([self._data(x) for x in inputs])
        self.params = params
        self.complex = complex

    @staticmethod
    def _data(x: Any) -> Any:
        if isinstance(x, tuple):
            return Data(*x)
        if isinstance(x, list):
            return [Sample._data(y) for y in x]
        return x

    def __repr__(self) -> str:
        def show(x: Any) -> str:
            if isinstance(x, Data):
                return "x".join(map(str, x.shape)) or "scalar"
            if isinstance(x, list):
                return "+".join(map(show, x))
            return f"{x.dtype}{list(x.shape)}" if isinstance(x, np.ndarray) else repr(x)

        return ",".join([show(x) for x in self.inputs] + [f"{k}={v!r}" for k, v in self.params.items()])


def collect(what: str) -> dict[str, Any]:
    """All families' SAMPLES or ORACLES in one dict."""
    found: dict[str, Any] = {}
    for family in FAMILIES:
        found.update(getattr(import_module(f"op_samples.{family}"), what, {}))
    return found


def other_steps() -> set[str]:
    """Operations that all families' OTHER_STEPS name: made of other operations here than in torch, so that the last one,
    which names the node, is another."""
    return {name for family in FAMILIES for name in getattr(import_module(f"op_samples.{family}"), "OTHER_STEPS", ())}
