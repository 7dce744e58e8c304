"""C forms of instructions: what loops over elements, sums, maxima and small products compute an instruction.

Expressions come from the traces of operations (ops/fuse.py), so no formula is written twice. An instruction without a form stays a
step of the runner. See docs/adr/0055.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any, NamedTuple

import numpy as np

from wengert.core.forward import promote
from wengert.core.trace import Value as TracedValue, in_order
from wengert.kernels import native
from wengert.kernels.memory import address_of
from wengert.ops.fuse import INEXACT, to_c, trace_call
from wengert.ops.registry import Operation
from wengert.program import form
from wengert.program.arrays import computed_in_order, is_in_order, strides_in_order
from wengert.program.form import CONSTANT, Instruction, Scalar, Storage, Value
from wengert.program.lowering import has_number, kernel_of

_LARGEST_PRODUCT = 100_000  # multiplications
_LONGEST_SUM = 4096  # elements of one sum
_C_TYPES = {
    "float32": "float", "float64": "double", "bool": "unsigned char", "int64": "int64_t", "int32": "int32_t", "int16": "int16_t",
    "int8": "int8_t", "uint8": "uint8_t",
}  # fmt: skip
_TYPE_OF = {np.dtype(name): c for name, c in _C_TYPES.items()}
_FLOATS = (np.dtype(np.float32), np.dtype(np.float64))


class Access(NamedTuple):
    """How a loop reaches elements: in a storage, from a byte offset on, with a stride in bytes for each loop."""

    storage: Storage
    offset: int
    strides: tuple[int, ...]
    dtype: Any


class Template(NamedTuple):
    """An expression of the operands a, b, c, d. guard: (limits, statements, result) of an expression that is right within limits
    only; these are what is right elsewhere. See ops/fuse.py."""

    statements: str
    result: str
    guard: tuple[str, str, str] | None = None


class Cell(NamedTuple):
    """One element of a pointwise form: out = template(operands), computed in dtype. Operands are accesses, or numbers."""

    shape: tuple[int, ...]
    out: Access
    operands: tuple[Any, ...]
    dtype: Any
    template: Template


class Reduction(NamedTuple):
    """A sum, mean, max, min or logsumexp over loops. out has the stride 0 along the dims."""

    kind: str
    shape: tuple[int, ...]
    dims: tuple[int, ...]
    out: Access
    x: Access


class Softmax(NamedTuple):
    """softmax or log_softmax along a dim."""

    kind: str
    shape: tuple[int, ...]
    dims: tuple[int, ...]
    out: Access
    x: Access


class Product(NamedTuple):
    """out = x @ y + bias for a batch of matrices: shape is (batch..., m, k, n), and the strides are along all of these loops."""

    shape: tuple[int, ...]
    out: Access
    x: Access
    y: Access
    bias: Access | None


def forms_of_one(x: Instruction) -> list[Any] | None:
    """Return the forms that compute an instruction, one after the other; None if it has none. c_expansions.py knows more."""
    values = [v for v in (*x.inputs, *x.outputs) if isinstance(v, Value)]
    if any(not _is_plain_memory(v) for v in values) or not all(v.shape == () or prod(v.shape) for v in values):
        return None
    found = _forms(x)
    return None if found is None or any(_reads_what_it_writes(y) for y in found) else found


def is_large(x: Any) -> bool:
    """Whether the runner's kernels compute a form better: large products on several threads, and long sums pairwise."""
    if isinstance(x, Product):
        return prod(x.shape) > _LARGEST_PRODUCT or x.shape[-2] > _LONGEST_SUM
    return isinstance(x, (Reduction, Softmax)) and prod([x.shape[d] for d in x.dims]) > _LONGEST_SUM


def fixed_number(x: Access) -> Any:
    """Return the number that all elements of an access are, if they are one constant; None if not."""
    s = x.storage
    if s.kind != CONSTANT or s.writes or any(x.strides) or s.key.size != 1 or s.key.dtype != x.dtype:
        return None
    return s.key.reshape(())[()]


def accesses_read(x: Any) -> list[Access]:
    """Return what a form reads in memory."""
    if isinstance(x, Cell):
        return [y for y in x.operands if isinstance(y, Access) and fixed_number(y) is None]
    if isinstance(x, Product):
        return [x.x, x.y] if x.bias is None else [x.x, x.y, x.bias]
    return [x.x]


def _reads_what_it_writes(x: Any) -> bool:
    """Whether a form writes memory that it reads in another order, or writes an element twice."""
    repeated = isinstance(x, Cell) and any(s == 0 and n > 1 for s, n in zip(x.out.strides, x.shape, strict=True))
    same = [y for y in accesses_read(x) if y.storage is x.out.storage]
    return repeated or any(y != x.out or not isinstance(x, Cell) for y in same)


def _forms(x: Instruction) -> list[Any] | None:
    if x.kind == form.UPDATE:
        return _update(x)
    if x.kind == form.COPY:
        return copy_form(x.outputs[0], x.inputs[0])
    if x.kind == form.WRITE:
        write = _WRITES.get(x.op.name)
        return write(x) if write is not None and not any(isinstance(p, Value) for p in (x.params or {}).values()) else None
    if x.kind == form.HOST and x.name == "setitem":
        return _assignment(x)
    if x.kind not in (form.MAKE, form.INTO) or len(x.outputs) != 1 or not isinstance(x.op, Operation):
        return None
    if x.kind == form.MAKE:
        special = _SPECIAL.get(x.op.name)
        if special is not None and (x.reorders or x.op.name not in _SUMS):
            return special(x, _parameters(x))
    return _pointwise(x)


def _is_plain_memory(v: Value) -> bool:
    if v.dtype not in _TYPE_OF:
        return False
    size = v.dtype.itemsize
    return v.offset % size == 0 and not any(s % size for s in v.strides)


def c_type(dtype: Any) -> str:
    """Return the C type of a dtype that has one."""
    return _TYPE_OF[dtype]


def _parameters(x: Instruction) -> dict[str, Any]:
    return x.op.defaults if x.params is None else x.params


def access(v: Value, shape: tuple[int, ...]) -> Access:
    """Return how loops over a shape, which a value broadcasts to, reach the value."""
    missing = len(shape) - len(v.shape)
    strides = [0 if n == 1 else s for n, s in zip(v.shape, v.strides, strict=True)]
    return Access(v.storage, v.offset, (*([0] * missing), *strides), v.dtype)


# -- pointwise ---------------------------------------------------------------------------------------------------------

_COPY = Template("", "a")
_CONDITIONS = {
    "eq": "a == b", "ne": "a != b", "lt": "a < b", "le": "a <= b", "gt": "a > b", "ge": "a >= b", "isnan": "a != a",
    "logical_and": "(a != 0) & (b != 0)", "logical_or": "(a != 0) | (b != 0)", "logical_not": "a == 0",
    "logical_xor": "(a != 0) != (b != 0)",
}  # fmt: skip
_dtypes: dict[Any, Any] = {}
_traced: dict[Any, tuple[Template, list[str]] | None] = {}


def _converts(source: Any, target: Any) -> bool:
    """Whether C converts each number of a dtype into another one as NumPy does."""
    return bool(source == target or target.kind == "f" or source.kind == "b" or (source.kind in "iu" and target.itemsize >= 8))


def copy_form(out: Value, source: Any) -> list[Any] | None:
    """Return the form of a copy of a value, which broadcasts, or of a number; None if C does not convert as NumPy does."""
    if isinstance(source, Value):
        if not _broadcasts(source.shape, out.shape) or (not _converts(source.dtype, out.dtype) and out.dtype.kind != "b"):
            return None
        template = Template("", "a != 0") if out.dtype.kind == "b" and source.dtype.kind != "b" else _COPY
        return [Cell(out.shape, access(out, out.shape), (access(source, out.shape),), source.dtype, template)]
    if type(source) not in (bool, int, float) or (type(source) is float and out.dtype.kind != "f"):
        return None
    return [Cell(out.shape, access(out, out.shape), (source,), out.dtype, _COPY)]


def _broadcasts(shape: tuple[int, ...], to: tuple[int, ...]) -> bool:
    return len(shape) <= len(to) and all(m in (1, n) for m, n in zip(shape[::-1], to[::-1], strict=False))


def _pointwise(x: Instruction) -> list[Any] | None:
    """Return the form of an operation that works element by element."""
    op, out = x.op, x.outputs[0]
    if op.kind not in ("pointwise", "nondifferentiable") or op.variadic >= 0 or len(x.inputs) != len(op.input_names):
        return None
    shapes = [v.shape for v in x.inputs if isinstance(v, Value)]
    if any(not _broadcasts(s, out.shape) for s in shapes):
        return None
    dtype = _dtype_of(x)
    if dtype is None:
        return None
    template: Template
    operands = list(x.inputs)
    if op.name in _CONDITIONS and x.kind == form.MAKE:
        if out.dtype != np.bool_ or any(isinstance(v, float) and v != v for v in operands):
            return None
        template = Template("", _CONDITIONS[op.name])
    else:
        found = _template(x, dtype) if dtype in _FLOATS and _converts(dtype, out.dtype) else None
        if found is None:
            return None
        template, names = found
        given = {**dict(zip(op.input_names, x.inputs, strict=True)), **_parameters(x)}
        operands = [given[name] for name in names]
    if any(not isinstance(v, (Value, int, float)) for v in operands):
        return None
    if any(isinstance(v, Value) and not _converts(v.dtype, dtype) for v in operands):
        return None
    found_operands = tuple([access(v, out.shape) if isinstance(v, Value) else v for v in operands])
    return [Cell(out.shape, access(out, out.shape), found_operands, dtype, template)]


def _dtype_of(x: Instruction) -> Any:
    """Return the dtype in which an operation computes; None if it is not the same for all operands."""
    operands = tuple([(v.shape == (), v.dtype) if isinstance(v, Value) else (type(v), repr(v)) for v in x.inputs])
    key = x.op.name, operands, x.keeps_numbers
    if key not in _dtypes:
        _dtypes[key] = _find_dtype(x)
    return _dtypes[key]


def _find_dtype(x: Instruction) -> Any:
    stand_ins = [np.ones([1] * min(len(v.shape), 1), v.dtype) if isinstance(v, Value) else v for v in x.inputs]
    if not (x.keeps_numbers and len(stand_ins) == 2 and has_number(stand_ins)):
        try:
            stand_ins = promote(x.op, stand_ins)
        except Exception:  # an operand that the operation refuses: the runner raises its error
            return None
    dtypes = {v.dtype for v in stand_ins if isinstance(v, np.ndarray)}
    return dtypes.pop() if len(dtypes) == 1 else None


def _template(x: Instruction, dtype: Any) -> tuple[Template, list[str]] | None:
    """Return the expression of an operation, and the names of its operands, in order."""
    op = x.op
    numbers = {n: v for n, v in zip(op.input_names, x.inputs, strict=True) if not isinstance(v, Value)}
    has_kernel = native is None or kernel_of(x) is not None
    key = op.name, tuple((n, type(v), repr(v)) for n, v in numbers.items()), repr(x.params), has_kernel
    if key not in _traced:
        _traced[key] = _trace(x, numbers)
    return _traced[key]


def _trace(x: Instruction, numbers: dict[str, Any]) -> tuple[Template, list[str]] | None:
    parameters = _parameters(x)
    found = trace_call(x.op, parameters) if all(v is not None for v in numbers.values()) else None
    if found is None or (numbers and not found.takes_numbers):
        found = trace_call(x.op, {**parameters, **numbers}) if x.keeps_numbers or None in numbers.values() else None
    if found is None or len(found.operands) > 4 or type(found.result) in (int, float) or found.result.function is None:
        return None
    functions = {v.function for v in found.values}
    if functions & INEXACT and native is not None and kernel_of(x) is None:
        return None  # eager calls NumPy's function, which rounds otherwise
    statements, (result,) = to_c(found.values, [found.result], found.operands)
    guarded = [v.inputs[0] for v in found.values if v.function in ("sin", "cos", "tan")]
    if not guarded:
        return Template(statements, result), found.operands
    before, texts = to_c(in_order(guarded), guarded, found.operands)
    limits = " & ".join([f"(LIBM(fabs)({text}) <= LIMIT_TRIG)" for text in texts])
    slow_statements, (slow,) = to_c(found.values, [found.result], found.operands, slow=True)
    return Template(statements, result, (f"{before} return {limits};", slow_statements, slow)), found.operands


# -- operations that move elements -------------------------------------------------------------------------------------


def _select(x: Instruction, parameters: Any) -> list[Any] | None:
    """_where, _zero_where."""
    out = x.outputs[0]
    condition, *choices = x.inputs if x.op.name == "_where" else (x.inputs[1], 0, x.inputs[0])
    if not isinstance(condition, Value) or condition.dtype != np.bool_:
        return None
    for y in choices:
        if (isinstance(y, Value) and y.dtype != out.dtype) or (type(y) is float and out.dtype.kind != "f"):
            return None
        if not isinstance(y, (Value, int, float)):
            return None
    operands = [condition, *choices]
    if any(isinstance(y, Value) and not _broadcasts(y.shape, out.shape) for y in operands):
        return None
    found = tuple([access(y, out.shape) if isinstance(y, Value) else y for y in operands])
    return [Cell(out.shape, access(out, out.shape), found, None, Template("", "a ? b : c"))]


def _duplicate(x: Instruction, parameters: Any) -> list[Any] | None:
    return copy_form(x.outputs[0], x.inputs[0])


def _reshape(x: Instruction, parameters: Any) -> list[Any] | None:
    source, out = x.inputs[0], x.outputs[0]
    if not isinstance(source, Value) or not is_in_order(out):
        return None
    return copy_form(Value(out.storage, out.offset, source.shape, strides_in_order(source.shape, out.dtype), out.dtype), source)


def _zeros(x: Instruction, parameters: Any) -> list[Any] | None:
    return copy_form(x.outputs[0], 0)


def _ones(x: Instruction, parameters: Any) -> list[Any] | None:
    return copy_form(x.outputs[0], 1)


def _join(x: Instruction, parameters: Any) -> list[Any] | None:
    """_cat, _stack."""
    out, parts = x.outputs[0], x.inputs
    if not all(isinstance(v, Value) and v.dtype == out.dtype for v in parts):
        return None
    dim = parameters["dim"]
    if not isinstance(dim, int) or not -len(out.shape) <= dim < len(out.shape):
        return None
    dim %= len(out.shape)
    found: list[Any] = []
    position = 0
    for v in parts:
        shape = (*v.shape[:dim], 1, *v.shape[dim:]) if x.op.name == "_stack" else v.shape
        if len(shape) != len(out.shape):
            return None
        strides = (*v.strides[:dim], 0, *v.strides[dim:]) if x.op.name == "_stack" else v.strides
        place = Value(out.storage, out.offset + position * out.strides[dim], shape, out.strides, out.dtype)
        found += copy_form(place, v._replace(shape=shape, strides=strides)) or []
        position += shape[dim]
    return found


def _read_cotangent(x: Instruction, parameters: Any) -> list[Any] | None:
    """Zeros, and the cotangent at a basic index."""
    out, ct, index = x.outputs[0], x.inputs[0], parameters["index"]
    parts = index if isinstance(index, tuple) else (index,)
    if not isinstance(ct, Value) or ct.dtype != out.dtype or parameters["repeats"]:
        return None
    if not _is_basic(parts):
        return None
    place = _place_of(out, parts)
    if place is None or not _broadcasts(ct.shape, place.shape):
        return None
    zeros = copy_form(out, 0) if prod(place.shape) < prod(out.shape) else []
    operands = 0, access(ct, place.shape)
    return [*(zeros or []), Cell(place.shape, access(place, place.shape), operands, ct.dtype, Template("", "a + b"))]


def _is_basic(index: Any) -> bool:
    """Whether an index, a tuple, gives a view."""
    return all(isinstance(i, (int, slice, type(None), type(Ellipsis))) and not isinstance(i, bool) for i in index)


def _assignment(x: Instruction) -> list[Any] | None:
    """target[index] = value, for an index of ints and slices."""
    if len(x.inputs) != 5 or x.params or x.inputs[2]:
        return None
    target, index, _, _, value = x.inputs
    place = _place_of(target, index) if isinstance(target, Value) and isinstance(index, tuple) and _is_basic(index) else None
    return None if place is None else copy_form(place, value)


def _place_of(out: Value, parts: tuple[Any, ...]) -> Value | None:
    """Return the value out[parts]. Integers and slices of it are of one array, which is not read."""
    memory = np.empty(max(out.storage.nbytes, 1), np.uint8)
    whole = np.ndarray(out.shape, out.dtype, memory, out.storage.before + out.offset, out.strides)
    place = whole[(*parts, ...)] if Ellipsis not in parts else whole[parts]
    if not place.size:
        return None
    offset = address_of(place) - address_of(whole)
    return Value(out.storage, out.offset + offset, place.shape, place.strides, out.dtype)


# -- steps of optimizers -----------------------------------------------------------------------------------------------


def _update(x: Instruction) -> list[Any] | None:
    """A program of ops/program.py: its operations one by one, then copies over the inputs that it changes."""
    first = x.outputs[0]
    known: dict[Any, Any] = {}
    for name, given in zip(x.function.inputs, x.inputs, strict=True):
        known[name] = given.in_memory(first.dtype) if isinstance(given, Scalar) else given
    if any(v.dtype != first.dtype or v.shape not in ((), first.shape) for v in known.values()):
        return None
    found: list[Any] = []
    for value in x.function.values:
        operands = tuple([known[y] if type(y) is TracedValue else y for y in value.inputs])
        shape = first.shape if any(isinstance(v, Value) and v.shape for v in operands) else ()
        known[value] = computed_in_order(-1, shape, np.dtype(bool) if value.function.name in _CONDITIONS else first.dtype)
        op, out = value.function, known[value]
        forms = _forms(Instruction(form.MAKE, op.name, operands, (out,), value.params, op, keeps_numbers=True))
        if forms is None:
            return None
        found += forms
    for out, value in zip(x.outputs, x.function.outputs, strict=True):
        copied = copy_form(out, known[value] if type(value) is TracedValue else value)
        if copied is None:
            return None
        found += copied
    return found


# -- sums, maxima, products --------------------------------------------------------------------------------------------


def _reduce(kind: str, x: Instruction, dim: Any, keepdim: bool) -> list[Any] | None:
    source, out = x.inputs[0], x.outputs[0]
    if not isinstance(source, Value) or source.dtype != out.dtype or source.dtype not in _FLOATS:
        return None
    n = len(source.shape)
    if dim is None or dim == ():
        dims = tuple(range(n))
    else:
        given = dim if isinstance(dim, (tuple, list)) else (dim,)
        if not all(isinstance(d, int) and -n <= d < n for d in given):
            return None
        dims = tuple(sorted({d % n for d in given}))
    strides: list[int] = []
    rest = iter(out.strides)
    for i in range(n):
        if i in dims:
            strides.append(0)
            if keepdim:
                next(rest)
        else:
            strides.append(next(rest))
    target = Access(out.storage, out.offset, tuple(strides), out.dtype)
    return [Reduction(kind, source.shape, dims, target, access(source, source.shape))]


def _sum(x: Instruction, parameters: Any) -> list[Any] | None:
    if parameters.get("dtype") is not None:
        return None
    return _reduce(x.op.name, x, parameters["dim"], parameters["keepdim"])


def _extremum(x: Instruction, parameters: Any) -> list[Any] | None:
    return _reduce({"amax": "max", "amin": "min"}[x.op.name], x, parameters["dim"], parameters["keepdim"])


def _logsumexp(x: Instruction, parameters: Any) -> list[Any] | None:
    return _reduce("logsumexp", x, parameters["dim"], parameters["keepdim"])


def _sum_to_size(x: Instruction, parameters: Any) -> list[Any] | None:
    source, out = x.inputs[0], x.outputs[0]
    if not isinstance(source, Value) or source.dtype != out.dtype or source.dtype not in _FLOATS:
        return None
    missing = len(source.shape) - len(out.shape)
    if missing < 0:
        return None
    dims = tuple([i for i, n in enumerate(source.shape) if i < missing or (out.shape[i - missing] == 1 and n > 1)])
    if not dims:
        return copy_form(out, source)
    return [Reduction("sum", source.shape, dims, access(out, source.shape), access(source, source.shape))]


def _softmax(x: Instruction, parameters: Any) -> list[Any] | None:
    source, out, dim = x.inputs[0], x.outputs[0], parameters["dim"]
    if not isinstance(source, Value) or source.dtype != out.dtype or source.dtype not in _FLOATS or not isinstance(dim, int):
        return None
    if parameters.get("dtype") is not None or not source.shape:
        return None
    return [Softmax(x.op.name, source.shape, (dim % len(source.shape),), access(out, source.shape), access(source, source.shape))]


def _product(x: Instruction, parameters: Any) -> list[Any] | None:
    """matmul, mm, mv, bmm, dot, linear."""
    out, a, b = x.outputs[0], x.inputs[0], x.inputs[1]
    bias = x.inputs[2] if x.op.name == "linear" else None
    if not isinstance(a, Value) or not isinstance(b, Value) or not (bias is None or isinstance(bias, Value)):
        return None
    if any(v.dtype != out.dtype for v in (a, b, *([] if bias is None else [bias]))) or out.dtype not in _FLOATS:
        return None
    if x.op.name == "linear":
        if len(b.shape) != 2:
            return None
        b = b._replace(shape=b.shape[::-1], strides=b.strides[::-1])
    n_a, n_b = len(a.shape), len(b.shape)
    if n_a == 0 or n_b == 0:
        return None
    a_shape, a_strides = ((1, *a.shape), (0, *a.strides)) if n_a == 1 else (a.shape, a.strides)
    b_shape, b_strides = ((*b.shape, 1), (*b.strides, 0)) if n_b == 1 else (b.shape, b.strides)
    m, k, n = a_shape[-2], a_shape[-1], b_shape[-1]
    if b_shape[-2] != k:
        return None
    batch = np.broadcast_shapes(a_shape[:-2], b_shape[:-2])
    full = (*batch, *([m] if n_a > 1 else []), *([n] if n_b > 1 else []))
    if out.shape != full:
        return None
    o_strides = list(out.strides)
    n_stride = o_strides.pop() if n_b > 1 else 0
    m_stride = o_strides.pop() if n_a > 1 else 0
    a_batch = access(Value(a.storage, 0, a_shape[:-2], a_strides[:-2], a.dtype), batch).strides
    b_batch = access(Value(b.storage, 0, b_shape[:-2], b_strides[:-2], b.dtype), batch).strides
    bias_access = None
    if bias is not None:
        if not _broadcasts(bias.shape, full):
            return None
        steps = list(access(bias, full).strides)
        bias_n = steps.pop()
        bias_m = steps.pop() if n_a > 1 else 0
        bias_access = Access(bias.storage, bias.offset, (*steps, bias_m, 0, bias_n), bias.dtype)
    return [Product(
        (*batch, m, k, n), Access(out.storage, out.offset, (*o_strides, m_stride, 0, n_stride), out.dtype),
        Access(a.storage, a.offset, (*a_batch, a_strides[-2], a_strides[-1], 0), a.dtype),
        Access(b.storage, b.offset, (*b_batch, 0, b_strides[-2], b_strides[-1]), b.dtype), bias_access,
    )]  # fmt: skip


_SUMS = frozenset({
    "sum", "mean", "_sum_to_size", "matmul", "mm", "mv", "bmm", "dot", "linear", "logsumexp", "softmax", "log_softmax",
})  # fmt: skip
_SPECIAL: dict[str, Callable[[Instruction, Any], list[Any] | None]] = {
    "_where": _select, "_zero_where": _select, "clone": _duplicate, "cast": _duplicate, "_contiguous": _duplicate,
    "_reshape_copy": _reshape, "_zeros": _zeros, "_zeros_of": _zeros, "_ones_of": _ones, "_cat": _join, "_stack": _join,
    "read_cotangent": _read_cotangent, "sum": _sum, "mean": _sum, "_sum_to_size": _sum_to_size, "amax": _extremum,
    "amin": _extremum, "logsumexp": _logsumexp, "softmax": _softmax, "log_softmax": _softmax, "matmul": _product, "mm": _product,
    "mv": _product, "bmm": _product, "dot": _product, "linear": _product,
}  # fmt: skip
_WRITES: dict[str, Callable[[Instruction], list[Any] | None]] = {
    "_copy": lambda x: copy_form(x.outputs[0], x.inputs[1]), "_fill_inplace": lambda x: copy_form(x.outputs[0], x.inputs[1]),
    "_zero": lambda x: copy_form(x.outputs[0], 0),
}  # fmt: skip
