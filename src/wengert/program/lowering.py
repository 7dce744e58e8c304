"""Kernels for instructions: which compiled kernel computes what an instruction computes, on the operands that it has."""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.core.forward import promote, set_kernel
from wengert.core.op import Op
from wengert.dtypes import NONE
from wengert.kernels import native
from wengert.program.form import COMPUTED, Instruction, Value

_MOST = 10_000  # answers that are remembered


_found: dict[Any, tuple[int, tuple[Any, ...]] | None] = {}


def kernel_of(x: Instruction) -> tuple[int, tuple[Any, ...]] | None:
    """Return the kernel of an instruction, and the numbers that follow its operands. None if no kernel takes the operands."""
    if native is None or x.op is None or (x.op.native < 0 and x.op.kernel is not None):
        return None
    operands = tuple([(y.shape, y.dtype) if isinstance(y, Value) else (type(y), repr(y)) for y in x.inputs])
    key = x.op, operands, repr(x.params), x.outputs[0].dtype
    if key not in _found:
        if len(_found) > _MOST:
            _found.clear()
        _found[key] = _find_kernel(x)
    return _found[key]


def _find_kernel(x: Instruction) -> tuple[int, tuple[Any, ...]] | None:
    op: Op = x.op
    if op.kernel is None:
        set_kernel(op)
    if op.native < 0 or len(x.inputs) != len(op.input_names) or not _have_one_dtype(x):
        return None
    params = op.defaults if x.params is None else x.params
    if any(params[n] is not d and params[n] != d for n, d in op.defaults.items() if n not in op.native_params):
        return None
    more = tuple([params[n] for n in op.native_params])
    numbers = [y for y in x.inputs if not isinstance(y, Value)]
    if any(type(y) not in (int, float) for y in (*numbers, *more)) or not keeps_dtype(x):
        return None
    tried = tuple([_stand_in(y) for y in x.inputs])
    return None if native.apply(op.native, (*tried, *more)) is None else (op.native, more)


def _have_one_dtype(x: Instruction) -> bool:
    """Whether all operands that are arrays, and the result, are of float32, or all of float64."""
    dtype = x.outputs[0].dtype
    return dtype in (np.float32, np.float64) and all(y.dtype == dtype for y in x.inputs if isinstance(y, Value))


def keeps_dtype(x: Instruction) -> bool:
    """Whether the operation casts no operand that is an array."""
    op: Op = x.op
    if op.promote == NONE:
        return True
    arrays = [y for y in x.inputs if isinstance(y, Value)]
    if not arrays:
        return False
    if all(y.dtype == arrays[0].dtype for y in arrays) and arrays[0].dtype.kind == "f" and x.outputs[0].dtype == arrays[0].dtype:
        return True
    operands = [_stand_in(y) for y in x.inputs]
    found = promote(op, operands)
    return all(not isinstance(a, np.ndarray) or a is b for a, b in zip(operands, found, strict=True))


def _stand_in(x: Any) -> Any:
    """Return an array of as many dimensions as a value, or a number as it is. Kernels accept it if they accept the value."""
    return np.ones([min(n, 2) for n in x.shape], x.dtype) if isinstance(x, Value) else x


_WHOLE = 1 << 16  # the lowest number of a function of whole arrays, as in kernels/wk_native.h


def is_pointwise(kernel: int) -> bool:
    """Whether a kernel works element by element, and so can be fused with others."""
    return kernel < _WHOLE


def is_plain(out: Value) -> bool:
    """Whether a value is all of the memory that an instruction computes, row by row."""
    step = out.dtype.itemsize
    for n, stride in zip(out.shape[::-1], out.strides[::-1], strict=True):
        if stride != step and n != 1:
            return False
        step *= n
    return out.is_whole and step > 0 and out.storage.kind == COMPUTED
