"""Kernels for instructions: which compiled kernel computes what an instruction computes, on the operands that it has."""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.backends import numpy as numpy_backend
from wengert.core.forward import promote, run_compiled, run_numpy, set_kernel
from wengert.core.modes import quiet_enter, quiet_exit
from wengert.core.op import Op
from wengert.dtypes import NONE
from wengert.kernels import native, rows
from wengert.program.arrays import constant, is_in_order, view
from wengert.program.form import COMPUTED, Instruction, Value

_MOST = 10_000  # answers that are remembered
_VECTOR_PRODUCTS = frozenset({"matmul", "mv", "dot"})
_WHOLE = 1 << 16  # the lowest number of a function of whole arrays, as in kernels/wk_native.h
_found: dict[Any, tuple[int, tuple[Any, ...]] | None] = {}


def kernel_of(x: Instruction) -> tuple[int, tuple[Any, ...]] | None:
    """Return the kernel of an instruction, and the numbers that follow its operands. None if no kernel takes the operands."""
    if native is None or x.op is None or (x.op.native < 0 and x.op.kernel is not None and x.op.name not in _VECTOR_PRODUCTS):
        return None
    operands = tuple([(y.shape, y.dtype) if isinstance(y, Value) else (type(y), repr(y)) for y in x.inputs])
    key = x.op, operands, repr(x.params), x.outputs[0].dtype, x.reorders
    if key not in _found:
        if len(_found) > _MOST:
            _found.clear()
        _found[key] = _find_kernel(x)
    return _found[key]


def _find_kernel(x: Instruction) -> tuple[int, tuple[Any, ...]] | None:
    op: Op = x.op
    if op.kernel is None:
        set_kernel(op)
    if x.reorders and op.name in _VECTOR_PRODUCTS and _have_one_dtype(x):
        dims = [len(y.shape) if isinstance(y, Value) else 0 for y in x.inputs]
        if len(dims) == 2 and min(dims) == 1 and max(dims) <= 2:
            return native.find("vector_product"), ()
    if op.native < 0 or len(x.inputs) != len(op.input_names) or not _have_one_dtype(x):
        return None
    params = op.defaults if x.params is None else x.params
    if any(params[n] is not d and params[n] != d for n, d in op.defaults.items() if n not in op.native_params):
        return None
    more = tuple([params[n] for n in op.native_params])
    numbers = [y for y in x.inputs if not isinstance(y, Value)]
    if any(type(y) not in (int, float) for y in (*numbers, *more)) or not keeps_dtype(x):
        return None
    tried = tuple([stand_in(y) for y in x.inputs])
    return None if native.apply(op.native, (*tried, *more)) is None else (op.native, more)


def _have_one_dtype(x: Instruction) -> bool:
    """Whether all operands that are arrays, and the result, are of float32, or all of float64."""
    dtype = x.outputs[0].dtype
    return dtype in (np.float32, np.float64) and all(y.dtype == dtype for y in x.inputs if isinstance(y, Value))


# -- functions -------------------------------------------------------------------------------------------------------------


def function_of(x: Instruction, params: Any) -> Any:
    """Return a function of the operands' arrays that computes an instruction. params: its parameters, without values."""
    op: Op = x.op
    if op.kernel is None:
        set_kernel(op)
    is_settled = op.native < 0 and keeps_dtype(x) and all(v.dtype.kind in "fc" for v in x.inputs if isinstance(v, Value))
    if is_settled and op.output_names is None:
        if isinstance(op.kernel, np.ufunc) and (x.params is None or x.params == op.defaults):
            return op.kernel
        forward: Any = op.forward
        settings = op.defaults if params is None else params
        return lambda *arrays: forward(numpy_backend, *arrays, **settings)
    keeps_numbers = x.keeps_numbers
    if op.output_names is not None and len(x.outputs) == 1:
        return lambda *arrays: run_forward(op, list(arrays), params, keeps_numbers)[0]
    if op.output_names is not None:
        return lambda *arrays: tuple(run_forward(op, list(arrays), params, keeps_numbers))
    return lambda *arrays: run_forward(op, list(arrays), params, keeps_numbers)


def run_forward(op: Op, arrays: list[Any], params: Any, keeps_numbers: bool) -> Any:
    """Run an operation on arrays and numbers. params: its parameters, or None for the defaults."""
    if params is None:
        params = op.defaults
    if not (keeps_numbers and len(arrays) == 2 and has_number(arrays)):
        arrays = promote(op, arrays)
    if op.kernel is None:
        set_kernel(op)
    out = run_compiled(op, arrays, params) if op.native >= 0 else None
    return run_numpy(op, arrays, params) if out is None else out


def has_number(arrays: list[Any]) -> bool:
    """Whether one of two operands is a Python number, and the other one a floating array, whose dtype the result has."""
    number, array = arrays if type(arrays[0]) in (int, float) else (arrays[1], arrays[0])
    return type(number) in (int, float) and isinstance(array, np.ndarray) and array.dtype.kind in "fc"


def direct_call(x: Instruction) -> tuple[Any, list[Any]] | None:
    """Return a compiled function, and its operands, that computes an instruction without its forward. None if there is none."""
    if native is None or x.op is None or not x.inputs or not all(isinstance(v, Value) for v in x.inputs) or not _have_one_dtype(x):
        return None
    source, params, name = x.inputs[0], x.params or x.op.defaults, x.name
    if params.get("dtype") is not None or not source.shape or 0 in source.shape:
        return None
    dim = params.get("dim")
    dims = (dim,) if type(dim) is int else dim
    if dims is not None:
        if type(dims) not in (tuple, list) or not all(type(d) is int for d in dims):
            return None
        dims = tuple([d + len(source.shape) if d < 0 else d for d in dims])
    if name in ("sum", "mean"):
        axes = None if not dims else tuple(sorted(dims))
        return rows.reduce, [rows.SUM if name == "sum" else rows.MEAN, source, axes, bool(params["keepdim"])]
    if dims is None or len(dims) != 1:
        return None
    if name == "logsumexp":
        return rows.logsumexp, [source, dims, bool(params["keepdim"])]
    if name in ("softmax", "log_softmax"):
        return rows.softmax, [name == "log_softmax", dims[0], source]
    if name in ("_softmax_cotangent", "_log_softmax_cotangent"):
        return rows.softmax, [name == "_log_softmax_cotangent", dims[0], *x.inputs]
    return None


def value_of_constants(x: Instruction) -> Any:
    """Return the result of an instruction whose operands are constants, or None if it has another layout than the recorded one."""
    arrays = [view(constant(v.storage), v) if isinstance(v, Value) else v for v in x.inputs]
    quiet_enter()
    try:
        found = np.asarray(function_of(x, x.params)(*arrays))
    finally:
        quiet_exit()
    out = x.outputs[0]
    return found if found.shape == out.shape and found.dtype == out.dtype else None


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
    operands = [stand_in(y) for y in x.inputs]
    found = promote(op, operands)
    return all(not isinstance(a, np.ndarray) or a is b for a, b in zip(operands, found, strict=True))


def stand_in(x: Any) -> Any:
    """Return an array of as many dimensions as a value, or a number as it is. Kernels accept it if they accept the value."""
    return np.ones([min(n, 2) for n in x.shape], x.dtype) if isinstance(x, Value) else x


def is_pointwise(kernel: int) -> bool:
    """Whether a kernel works element by element, and so can be fused with others."""
    return kernel < _WHOLE


def is_plain(out: Value) -> bool:
    """Whether a value is all of the memory that an instruction computes, row by row."""
    return out.storage.kind == COMPUTED and out.is_whole and 0 not in out.shape and is_in_order(out)
