"""Kernels for devices from expressions of ops/fuse.py."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from wengert._forks import import_late
from wengert.backends.kernels import Kernel
from wengert.core.trace import Value
from wengert.ops import fuse

_OF_SCIPY = frozenset({"erf", "erfc", "erfinv", "gammaln", "psi"})


def _evaluated(values: Sequence[Value], results: Sequence[Any], given: dict[str, Any], dtype: Any) -> list[Any]:
    """Return the results for NumPy's arrays, computed in a dtype by NumPy and SciPy: what the text of a kernel computes."""
    known: dict[Any, Any] = {}

    def of(x: Any) -> Any:
        return known[x] if type(x) is Value else dtype.type(x)

    for value in values:
        if value.function is None:
            known[value] = np.asarray(given[value.name], dtype)
        elif value.function == "as_number":
            known[value] = np.asarray(of(value.inputs[0]), dtype)
        else:
            function = getattr(import_late("scipy.special") if value.function in _OF_SCIPY else np, value.function)
            known[value] = function(*map(of, value.inputs))
    return [np.asarray(of(x), dtype) for x in results]


def make_kernel(name: str, values: Sequence[Value], results: Sequence[Any], names: Sequence[str]) -> Kernel:
    """Return the kernel of traced results. names: the inputs, in the order of the operands."""
    statements, texts = fuse.to_c(values, results, list(names), slow=True)

    def evaluate(arrays: Sequence[Any], dtype: Any) -> list[Any]:
        return _evaluated(values, results, dict(zip(names, arrays, strict=True)), dtype)

    return Kernel(name, fuse.LETTERS[: len(names)], statements, texts, evaluate)
