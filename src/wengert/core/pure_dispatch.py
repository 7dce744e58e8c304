"""dispatch.call1 and call2 for the uncompiled core, with the calls of ordinary operations written out: one costs what ten
lines do.

What is no operation of one or two tensors of one floating dtype that is one NumPy function, as products of matrices are,
goes to the functions of dispatch.
"""

from __future__ import annotations

import sys
from types import CodeType
from typing import Any

import numpy as np

from wengert.core import dispatch, forward, node as nodes, saved as saving, tensor
from wengert.core.modes import BLOCK, DUAL, INFERENCE, OBSERVED, state
from wengert.core.node import OpNode, TensorMeta, _internal_files, next_sequence_nr, record_position
from wengert.core.op import SAVE_INPUT, SAVE_OUTPUT, Op, Plan
from wengert.core.saved import INPUT, OUTPUT, SavedTensor, save
from wengert.core.tensor import IS_INFERENCE, IS_VOLATILE, TensorBase, accumulator_of, counter_of, refresh_view

_ndarray = np.ndarray
_float32 = np.dtype(np.float32)
_new: Any = object.__new__  # of classes whose own __new__ only fills their slots, which then has to be done here
_general_call1: Any = dispatch.call1
_general_call2: Any = dispatch.call2
_PRODUCTS = frozenset({"matmul", "mm"})  # of two matrices one NumPy function, and one class of nodes
_LARGE = 32768  # elements of a right factor from which there are better ways than NumPy's: see ops/blas.py
_user_code: CodeType | None = None  # that called an operation last: most often it calls again


def call1(op: Op, x: Any) -> Any:
    """Runs an operation of one input with its default parameters."""
    cls = tensor._tensor_class
    mode = state.flags
    if mode & (DUAL | OBSERVED) or type(x) is not cls or not op.is_kernel or op.refuses_complex:
        return _general_call1(op, x)
    if x._view is not None:
        refresh_view(x)
    if x._flags & IS_VOLATILE or (x._requires_grad and not op.rules):
        return _general_call1(op, x)
    a = x._array
    dtype = a.dtype
    if (dtype is not _float32 and dtype.kind not in "fc") or type(a) is not _ndarray:
        return _general_call1(op, x)
    array = state.quiet_context.run(op.kernel, a)
    if type(array) is not _ndarray:
        array = np.asarray(array)
    out: TensorBase = _new(cls)
    out._array = array
    out._flags = IS_INFERENCE if mode & INFERENCE else 0
    out._output_nr = 0
    out._grad = out._counter = out._view = out._accumulator = out._leaf_hooks = out._post_hooks = None
    if x._requires_grad and not mode:
        out._requires_grad = True
        record(op, x, None, a, None, out)
    else:
        out._requires_grad = False
        out._grad_fn = out._meta = None
        if mode >> BLOCK:
            dispatch.note_unrecorded(op, mode, x)
    return out


def call2(op: Op, x: Any, y: Any) -> Any:
    """Runs an operation of two inputs with its default parameters."""
    cls = tensor._tensor_class
    mode = state.flags
    if mode & (DUAL | OBSERVED) or type(x) is not cls or type(y) is not cls or op.refuses_complex:
        return _general_call2(op, x, y)
    if not op.is_kernel and op.name not in _PRODUCTS:
        return _general_call2(op, x, y)
    a = x._array
    b = y._array
    dtype = a.dtype
    if (
        dtype is not b.dtype
        or (dtype is not _float32 and dtype.kind not in "fc")
        or type(a) is not _ndarray
        or type(b) is not _ndarray
    ):
        return _general_call2(op, x, y)
    if op.is_kernel:
        kernel = op.kernel
    elif a.ndim == b.ndim == 2 and a.shape[1] == b.shape[0] and b.size < _LARGE and a.itemsize > 2:
        kernel = np.dot
    else:
        return _general_call2(op, x, y)
    if x._view is not None:
        refresh_view(x)
    if y._view is not None:
        refresh_view(y)
    if (x._flags or y._flags) and (x._flags | y._flags) & IS_VOLATILE:
        return _general_call2(op, x, y)
    try:
        array = state.quiet_context.run(kernel, a, b)
    except ValueError:
        forward.check_broadcast(a, b)
        raise
    if type(array) is not _ndarray:
        array = np.asarray(array)
    out: TensorBase = _new(cls)
    out._array = array
    out._flags = IS_INFERENCE if mode & INFERENCE else 0
    out._output_nr = 0
    out._grad = out._counter = out._view = out._accumulator = out._leaf_hooks = out._post_hooks = None
    if (x._requires_grad or y._requires_grad) and not mode and op.rules:
        out._requires_grad = True
        record(op, x, y, a, b, out)
    else:
        out._requires_grad = False
        out._grad_fn = out._meta = None
        if mode >> BLOCK or (not mode and not op.rules):
            dispatch.note_unrecorded(op, mode, x)
            dispatch.note_unrecorded(op, mode, y)
    return out


def record(op: Op, x: TensorBase, y: TensorBase | None, a: Any, b: Any, out: TensorBase) -> None:
    """Makes the node of what call2 computed, or call1, then without y."""
    node_class = op.direct_class
    if node_class is None:
        node_class = op.direct_class = op.find_node_class() if op.node_chooser is None else op.node_chooser((a, b), None)
    node: OpNode = _new(node_class)
    needs = 1 if x._requires_grad else 0
    node._next0 = x._grad_fn
    node._nr0 = x._output_nr
    if needs and node._next0 is None:
        node._next0 = (x._accumulator and x._accumulator()) or accumulator_of(x)
    if y is None:
        node._n_edges = 1
        node._next1 = None
        node._nr1 = 0
    else:
        node._n_edges = 2
        node._next1 = y._grad_fn
        node._nr1 = y._output_nr
        if y._requires_grad:
            needs |= 2
            if node._next1 is None:
                node._next1 = (y._accumulator and y._accumulator()) or accumulator_of(y)
    plan = op.default_plans.get(needs) or op.plan(needs, True)
    node._op = op
    node._plan = plan
    node._more = node._metas = ()
    node._buffer = node._hooks = node._extra = node._saved = None
    node._seq = next_sequence_nr()
    frame = sys._getframe(3)  # above this function, call2 and the operator
    code = frame.f_code
    if nodes._keep_stack is None and (code is _user_code or is_user_code(code)):
        node._code = code
        node._lasti = frame.f_lasti
    else:
        record_position(node, 3)
    meta = x._meta
    array = out._array
    if meta is None or array.dtype is not meta.dtype or array.shape != meta.shape:
        meta = TensorMeta(array.shape, array.dtype)
    out._meta = node._meta = meta
    out._grad_fn = node
    if plan.saves:
        node._saved = save_values(plan, x, y, a, b, out)


def is_user_code(code: CodeType) -> bool:
    """Whether code lies outside the package, for all that is known; remembers it for the next operation."""
    global _user_code
    if _internal_files.get(code.co_filename) is not False:
        return False
    _user_code = code
    return True


def save_values(plan: Plan, x: TensorBase, y: Any, a: Any, b: Any, out: TensorBase) -> tuple[Any, ...]:
    """What the plan tells the node to keep."""
    values: list[Any] = []
    for entry in plan.saves:
        position = entry.index
        if entry.kind == SAVE_OUTPUT:
            values.append(save(out, out._array, OUTPUT, 0))
        elif entry.kind != SAVE_INPUT:
            values.append(dispatch.shape_of(y, b) if position else dispatch.shape_of(x, a))
        else:
            source = y if position else x
            if source._flags or saving.watchers:
                values.append(save(source, source._array, INPUT, position))
                continue
            saved: SavedTensor = _new(SavedTensor)
            saved._data = source._array
            saved._role = INPUT
            saved._position = position
            saved._counter = counter = source._counter or counter_of(source)
            saved._version = counter.value
            values.append(saved)
    return tuple(values)
