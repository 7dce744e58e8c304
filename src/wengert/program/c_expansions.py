"""Instructions that become C as several simpler ones: rows normalised, losses, elements moved, running sums, places of maxima.

A part computes into memory of its own, which mostly becomes variables of the loops: see c_code.py. Only dimensions of at most
`_LONGEST` elements are written out element by element.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from itertools import product
from math import prod
from typing import Any, NamedTuple

import numpy as np

from wengert.ops.registry import OPS
from wengert.program import form
from wengert.program.arrays import computed_in_order
from wengert.program.c_forms import Cell, Template, access, forms_of_one
from wengert.program.form import Instruction, Layout, Storage, Value

_LONGEST = 64
_INT64, _BOOL = np.dtype(np.int64), np.dtype(bool)


class Check(NamedTuple):
    """What must hold before the program runs: all elements of `places` are at least 0 and below `limit`."""

    places: Value
    limit: int


Part = Instruction | Cell | Check


def forms_of(x: Instruction) -> list[Any] | None:
    """Return the forms, and checks, that compute an instruction, one after the other; None if it has none."""
    expand = _expansion_of(x)
    if expand is None or (x.name in WITH_SUMS and not x.reorders):
        return forms_of_one(x)
    if any(isinstance(v, Value) and 0 in v.shape for v in (*x.inputs, *x.outputs)):
        return None
    parts = expand(x, x.op.defaults if x.params is None and x.op is not None else x.params)
    found: list[Any] = []
    for part in parts or ():
        forms = forms_of_one(part) if isinstance(part, Instruction) else [part]
        if forms is None:
            return None
        found += forms
    return found if parts else None


def _expansion_of(x: Instruction) -> Any:
    if x.kind == form.HOST:
        return _assign_where if x.name == "setitem" else None
    if x.op is None:
        return None
    return {form.MAKE: _EXPANSIONS, form.WRITE: _WRITES}.get(x.kind, {}).get(x.op.name)


# -- parts -------------------------------------------------------------------------------------------------------------


def _new(shape: tuple[int, ...], dtype: Any) -> Value:
    return computed_in_order(-1, shape, dtype)


def _into(out: Value, name: str, *inputs: Any, **params: Any) -> Instruction:
    """Return an instruction that computes an operation into a value."""
    op: Any = OPS[name]
    x = Instruction(form.MAKE, name, inputs, (out,), {**op.defaults, **params}, op, keeps_numbers=True)
    x.reorders = True
    return x


def _copy(out: Value, source: Value) -> Instruction:
    return Instruction(form.COPY, "copy", (source,), (out,))


def _over(v: Value, **changes: Any) -> Value:
    """Return a view: a value with other offset, shape or strides."""
    return v._replace(**changes)


def _at(v: Value, dim: int, i: int, n: int = 1) -> Value:
    """Return n elements along a dimension, from element i on."""
    return _over(v, offset=v.offset + i * v.strides[dim], shape=(*v.shape[:dim], n, *v.shape[dim + 1 :]))


@lru_cache(256)
def _counted(n: int, step: int = 1) -> Value:
    """Return the constant 0, step, 2 * step ..., of n elements, as a value."""
    array = np.arange(n, dtype=_INT64) * step
    layout = Layout(array.shape, array.strides, array.dtype)
    return Value(Storage(-1, form.CONSTANT, array, array.nbytes, 0, layout), 0, *layout)


def _is_row_input(x: Any) -> bool:
    return isinstance(x, Value) and bool(x.shape) and x.dtype in (np.float32, np.float64)


# -- rows --------------------------------------------------------------------------------------------------------------


def _softmax_cotangent(x: Instruction, params: Any) -> list[Part] | None:
    """ct * y - y * sum(ct * y), or ct - exp(y) * sum(ct) for log_softmax."""
    (ct, y), out, dim = x.inputs, x.outputs[0], params["dim"]
    if not (_is_row_input(ct) and _is_row_input(y) and ct.shape == y.shape == out.shape):
        return None
    shape, dtype = out.shape, out.dtype
    total = _new((*shape[: dim % len(shape)], 1, *shape[dim % len(shape) + 1 :]), dtype)
    first, second = _new(shape, dtype), _new(shape, dtype)
    if x.op.name == "_log_softmax_cotangent":
        parts = [_into(total, "sum", ct, dim=dim, keepdim=True), _into(first, "exp", y), _into(second, "mul", first, total)]
        return [*parts, _into(out, "sub", ct, second)]
    parts = [_into(first, "mul", ct, y), _into(total, "sum", first, dim=dim, keepdim=True), _into(second, "mul", y, total)]
    return [*parts, _into(out, "sub", first, second)]


def _layer_norm(x: Instruction, params: Any) -> list[Part] | None:
    """(x - mean) / sqrt(variance + eps) * weight + bias, and the mean and the factor."""
    source, weight, bias = x.inputs
    out, mean, rstd = x.outputs
    if not _is_row_input(source) or params["dims"] < 1:
        return None
    shape, dtype, dims = source.shape, source.dtype, tuple(range(-params["dims"], 0))
    n = prod(shape[len(shape) + dims[0] :])
    off, square = _new(shape, dtype), _new(shape, dtype)
    variance, shifted, eps, root = [_new(mean.shape, dtype) for _ in range(4)]
    parts = [_into(mean, "mean", source, dim=dims, keepdim=True), _into(off, "sub", source, mean), _into(square, "mul", off, off)]
    parts += [_into(variance, "sum", square, dim=dims, keepdim=True), _into(shifted, "_div", variance, n)]
    parts += [_into(eps, "add", shifted, params["eps"]), _into(root, "sqrt", eps), _into(rstd, "reciprocal", root)]
    steps = [("mul", rstd), *[(name, y) for name, y in (("mul", weight), ("add", bias)) if y is not None]]
    value = off
    for i, (name, y) in enumerate(steps):
        result = out if i == len(steps) - 1 else _new(shape, dtype)
        parts.append(_into(result, name, value, y))
        value = result
    return parts  # type: ignore[return-value]


def _moments(x: Instruction, params: Any) -> list[Part] | None:
    """The variance, or its root: the sum of squared differences to the mean, over their number less the correction."""
    source, out, dim = x.inputs[0], x.outputs[0], params["dim"]
    if not _is_row_input(source) or params.get("correction") is None:
        return None
    shape, dtype = source.shape, source.dtype
    dims = tuple(range(len(shape))) if dim is None or dim == () else (dim,) if isinstance(dim, int) else tuple(dim)
    dims = tuple([d % len(shape) for d in dims])
    n = prod([shape[d] for d in dims]) - params["correction"]
    if n <= 0:
        return None
    mean = _new(tuple([1 if d in dims else m for d, m in enumerate(shape)]), dtype)
    off, square, total = _new(shape, dtype), _new(shape, dtype), _new(out.shape, dtype)
    parts = [_into(mean, "mean", source, dim=dims, keepdim=True), _into(off, "sub", source, mean), _into(square, "mul", off, off)]
    parts.append(_into(total, "sum", square, dim=dims, keepdim=params["keepdim"]))
    if x.op.name == "_var":
        return [*parts, _into(out, "_div", total, n)]
    variance = _new(out.shape, dtype)
    return [*parts, _into(variance, "_div", total, n), _into(out, "sqrt", variance)]


def _norm(x: Instruction, params: Any) -> list[Part] | None:
    """The root of the sum of squares."""
    source, out = x.inputs[0], x.outputs[0]
    if not _is_row_input(source) or params["ord"] != 2 or source.dtype != out.dtype:
        return None
    square, total = _new(source.shape, source.dtype), _new(out.shape, source.dtype)
    summed = _into(total, "sum", square, dim=params["dim"], keepdim=params["keepdim"])
    return [_into(square, "mul", source, source), summed, _into(out, "sqrt", total)]


# -- cross entropy -----------------------------------------------------------------------------------------------------


def _is_target(target: Any, scores: Any, places: Any) -> bool:
    """Whether classes can be checked before the program runs: they come from outside, or are constant. None was ignored."""
    if not isinstance(target, Value) or target.dtype != _INT64 or target.storage.writes or target.shape != places.shape:
        return False
    if target.storage.kind not in (form.INPUT, form.TENSOR, form.CONSTANT):
        return False
    return _is_row_input(scores) and len(scores.shape) == 2 and len(target.shape) == 1


def _of_class(target: Value, n: int) -> tuple[Value, Instruction]:
    """Return whether each class, in its column, is the target of each row; and the instruction that computes this."""
    is_target = _new((*target.shape, n), _BOOL)
    column = _over(target, shape=(*target.shape, 1), strides=(*target.strides, 0))
    return is_target, _into(is_target, "eq", column, _counted(n))


def _cross_entropy(x: Instruction, params: Any) -> list[Part] | None:
    scores, target = x.inputs
    loss, probabilities, places = x.outputs
    if not _is_target(target, scores, places) or scores.shape[1] > _LONGEST:
        return None
    (rows, n), dtype = scores.shape, scores.dtype
    is_target, compared = _of_class(target, n)
    chosen, of_target, logs = _new((rows, n), dtype), _new((rows,), dtype), _new((rows,), dtype)
    losses = loss if params["reduction"] == "none" else _new((rows,), dtype)
    parts: list[Part] = [Check(target, n), compared, _into(probabilities, "softmax", scores, dim=1)]
    parts += [_into(chosen, "_where", is_target, scores, 0.0), _into(of_target, "sum", chosen, dim=1)]
    parts += [_into(logs, "logsumexp", scores, dim=(1,)), _into(losses, "sub", logs, of_target)]
    if params["reduction"] != "none":
        parts.append(_into(loss, params["reduction"], losses))
    first = access(_counted(rows, n), (rows,))
    parts.append(Cell((rows,), access(places, (rows,)), (first, access(target, (rows,))), _INT64, Template("", "a + b")))
    return parts


def _cross_entropy_cotangent(x: Instruction, params: Any) -> list[Part] | None:
    ct, probabilities, places, target = x.inputs
    out = x.outputs[0]
    if not _is_target(target, probabilities, places) or not isinstance(ct, Value):
        return None
    (rows, n), dtype = out.shape, out.dtype
    is_target, compared = _of_class(target, n)
    scaled, taken, each = _new((rows, n), dtype), _new((rows, n), dtype), ct
    parts: list[Part] = [Check(target, n), compared]
    if params["reduction"] == "mean":
        each = _new((), dtype)
        parts.append(_into(each, "_div", ct, rows))
    elif params["reduction"] == "none":
        each = _over(ct, shape=(rows, 1), strides=(*ct.strides, 0))
    return [
        *parts, _into(scaled, "mul", probabilities, each), _into(taken, "_where", is_target, each, 0.0),
        _into(out, "sub", scaled, taken),
    ]  # fmt: skip


# -- moving elements ---------------------------------------------------------------------------------------------------


def _flip(x: Instruction, params: Any) -> list[Part] | None:
    source, dims = x.inputs[0], params["dims"]
    dims = (dims,) if isinstance(dims, int) else dims
    strides, offset = list(source.strides), source.offset
    for d in dims:
        offset += strides[d] * (source.shape[d] - 1)
        strides[d] = -strides[d]
    return [_copy(x.outputs[0], _over(source, offset=offset, strides=tuple(strides)))]


def _roll(x: Instruction, params: Any) -> list[Part] | None:
    source, out, shifts, dims = x.inputs[0], x.outputs[0], params["shifts"], params["dims"]
    if dims is None or dims == ():
        return None
    shifts, dims = [(y,) if isinstance(y, int) else y for y in (shifts, dims)]
    if len({d % len(source.shape) for d in dims}) < len(dims):
        return None
    pieces: list[list[tuple[int, int, int, int]]] = []  # of each dimension: dim, from, to, size
    for shift, dim in zip(shifts, dims, strict=True):
        n = source.shape[dim]
        k = shift % n
        pieces.append([piece for piece in ((dim, 0, k, n - k), (dim, n - k, 0, k)) if piece[3]])
    parts: list[Part] = []
    for chosen in product(*pieces):
        read, written = source, out
        for dim, start, end, size in chosen:
            read, written = _at(read, dim % len(source.shape), start, size), _at(written, dim % len(source.shape), end, size)
        parts.append(_copy(written, read))
    return parts


def _pad(x: Instruction, params: Any) -> list[Part] | None:
    source, out, pad, value = x.inputs[0], x.outputs[0], params["pad"], params["value"]
    if any(n < 0 for n in pad) or type(value) not in (int, float):
        return None
    inside = out
    for i in range(len(pad) // 2):
        dim = len(source.shape) - 1 - i
        inside = _at(inside, dim, pad[2 * i], source.shape[dim])
    filled = Instruction(form.WRITE, "fill", (out, value), (out,), None, OPS["_fill_inplace"])
    return [filled, _copy(inside, source)]


def _repeat(x: Instruction, params: Any) -> list[Part] | None:
    source, out, repeats = x.inputs[0], x.outputs[0], params["repeats"]
    repeats = (repeats,) if isinstance(repeats, int) else tuple(repeats)
    missing = len(repeats) - len(source.shape)
    shape, strides = (*([1] * missing), *source.shape), (*([0] * missing), *source.strides)
    places = [(n * stride, stride) for n, stride in zip(shape, out.strides, strict=True)]
    full = tuple([y for pair in zip(repeats, shape, strict=True) for y in pair])
    read = _over(source, shape=full, strides=tuple([y for s in strides for y in (0, s)]))
    return [_copy(_over(out, shape=full, strides=tuple([y for pair in places for y in pair])), read)]


def _masked_fill(x: Instruction, params: Any) -> list[Part] | None:
    source, mask, value = x.inputs
    if type(value) not in (int, float) and not (isinstance(value, Value) and value.dtype == source.dtype):
        return None
    return [_into(x.outputs[0], "_where", mask, value, source)]


def _masked_fill_inplace(x: Instruction, params: Any) -> list[Part] | None:
    target, mask, value = x.inputs
    if type(value) not in (int, float) and not (isinstance(value, Value) and value.dtype == target.dtype):
        return None
    return [_into(target, "_where", mask, value, target)]


def _assign_where(x: Instruction, params: Any) -> list[Part] | None:
    """target[mask] = number, or what c_forms.py knows."""
    if len(x.inputs) == 5 and not x.params and isinstance(x.inputs[2], (tuple, list)) and len(x.inputs[2]) == 1:
        target, index, (mask,), dims, value = x.inputs
        is_whole = all(i == slice(None) or i is Ellipsis for i in index) if isinstance(index, tuple) else False
        if isinstance(mask, Value) and mask.dtype == _BOOL and mask.shape == target.shape and is_whole and tuple(dims) == (0,):
            if type(value) in (int, float) and target.dtype.kind == "f":
                return [_into(target, "_where", mask, value, target)]
        return None
    forms = forms_of_one(x)
    return None if forms is None else [*forms]


# -- along a dimension, element by element -----------------------------------------------------------------------------


def _running(x: Instruction, params: Any) -> list[Part] | None:
    """Sums or products of all elements up to each, or from each on, in double, as the kernels have them."""
    source, out = x.inputs[0], x.outputs[0]
    if not _is_row_input(source) or params.get("dtype") is not None or source.dtype != out.dtype:
        return None
    dim = params["dim"] % len(source.shape)
    n = source.shape[dim]
    if n > _LONGEST:
        return None
    order = range(n - 1, -1, -1) if x.op.name == "_reverse_cumsum" else range(n)
    total: Any = None
    parts: list[Part] = []
    for i in order:
        element = _at(source, dim, i)
        if total is None:
            total = _new(element.shape, np.dtype(np.float64))
            parts.append(_copy(total, element))
        else:
            total, earlier = _new(element.shape, np.dtype(np.float64)), total
            parts.append(_into(total, "mul" if x.op.name == "cumprod" else "add", earlier, element))
        parts.append(_copy(_at(out, dim, i), total))
    return parts


def _extreme(x: Instruction, params: Any) -> list[Part] | None:
    """The largest or smallest elements along a dimension and their places, or the places alone. The first of equals; NaN wins."""
    source = x.inputs[0]
    if not _is_row_input(source) or params["dim"] is None:
        return None
    dim = params["dim"] % len(source.shape)
    if source.shape[dim] > _LONGEST:
        return None
    name = "gt" if x.op.name in ("_max_dim", "argmax") else "lt"
    best: Any = _at(source, dim, 0)
    shape, dtype = best.shape, source.dtype
    place: Any = 0
    parts: list[Part] = []
    for i in range(1, source.shape[dim]):
        element = _at(source, dim, i)
        better, is_nan, is_number, is_first_nan, is_taken = [_new(shape, _BOOL) for _ in range(5)]
        parts += [_into(better, name, element, best), _into(is_nan, "isnan", element), _into(is_number, "eq", best, best)]
        parts += [_into(is_first_nan, "logical_and", is_nan, is_number), _into(is_taken, "logical_or", better, is_first_nan)]
        value, index = _new(shape, dtype), _new(shape, _INT64)
        parts += [_into(value, "_where", is_taken, element, best), _into(index, "_where", is_taken, i, place)]
        best, place = value, index
    values = list(x.outputs)
    if not isinstance(place, Value):
        return None
    for out, made in zip(values, (best, place) if len(values) == 2 else (place,), strict=True):
        whole = out if params["keepdim"] else _over(
            out, shape=shape, strides=(*out.strides[:dim], 0, *out.strides[dim:])
        )  # fmt: skip
        parts.append(_copy(whole, made))
    return parts


def _place(x: Instruction, params: Any) -> list[Part] | None:
    """Zeros with elements at the places of an index. An index outside gives zeros: it comes from an argmax."""
    (source, index), out, n = x.inputs, x.outputs[0], params["size"]
    if not _is_row_input(source) or not isinstance(index, Value) or index.dtype != _INT64 or source.dtype != out.dtype:
        return None
    dim = params["dim"] % len(out.shape)
    counted = _counted(n)
    shape, strides = [1] * len(out.shape), [0] * len(out.shape)
    shape[dim], strides[dim] = n, counted.strides[0]
    column = _over(counted, shape=tuple(shape), strides=tuple(strides))
    is_place = _new(out.shape, _BOOL)
    return [_into(is_place, "eq", index, column), _into(out, "_where", is_place, source, 0.0)]


WITH_SUMS = frozenset({
    "_softmax_cotangent", "_log_softmax_cotangent", "_layer_norm", "_var", "_std", "_cross_entropy", "_cross_entropy_cotangent",
    "_vector_norm",
})  # fmt: skip
_EXPANSIONS: dict[str, Callable[[Instruction, Any], list[Part] | None]] = {
    "_softmax_cotangent": _softmax_cotangent, "_log_softmax_cotangent": _softmax_cotangent, "_layer_norm": _layer_norm,
    "_var": _moments, "_std": _moments, "_cross_entropy": _cross_entropy, "_cross_entropy_cotangent": _cross_entropy_cotangent,
    "flip": _flip, "roll": _roll, "constant_pad_nd": _pad, "repeat": _repeat, "_masked_fill": _masked_fill, "cumsum": _running,
    "_reverse_cumsum": _running, "cumprod": _running, "_max_dim": _extreme, "_min_dim": _extreme, "argmax": _extreme,
    "argmin": _extreme, "_place": _place, "_vector_norm": _norm,
}  # fmt: skip
_WRITES: dict[str, Callable[[Instruction, Any], list[Part] | None]] = {"_masked_fill": _masked_fill_inplace}
