"""Writing in place, and what that does to the graph: leaves, views, bases.

Note [Views and writes]
A view shares its base's memory and version counter, and knows the operations that lead from the base to it.
A write into a tensor that is no view gives that tensor the write's node. A write into a view changes the base: the base
gets a CopySlices node, which sends to the old base the cotangent outside the written region, and runs the write's node
on the part inside. Every other view of that base is then out of date; its grad_fn is made again, from the new base
by these operations, when it is next looked at (refresh_view): the shared counter tells.
"""

from __future__ import annotations

import weakref
from typing import Any

import numpy as np

from wengert import dtypes, errors
from wengert.backends import numpy as numpy_backend
from wengert.core.binding import set_out_writer
from wengert.core.dispatch import (
    VIEW_DEFAULT,
    VIEW_IN_FUNCTION,
    VIEW_IN_INFERENCE,
    VIEW_IN_NO_GRAD,
    VIEW_OF_MANY,
    call,
    cast_array,
    explain_broadcast,
    record,
    set_kernel,
    unwrap,
)
from wengert.core.engine import run_single
from wengert.core.modes import INFERENCE, NO_GRAD, flags, quiet_enter, quiet_exit, set_flags, set_recording
from wengert.core.node import (
    Node,
    OpNode,
    find_position,
    make_meta,
    make_node_class,
    next_sequence_nr,
    record_position,
)
from wengert.core.op import Op
from wengert.core.saved import OUTPUT, SavedTensor, before_write, is_watched
from wengert.core.saved_hooks import pack_saved, packing_deferred
from wengert.core.tensor import (
    IS_INFERENCE,
    RETAINS_GRAD,
    TensorBase,
    ViewInfo,
    counter_of,
    gradient_edge,
    refresh_view,
    set_view_refresher,
    wrap,
)
from wengert.dtypes import NONE


class CopySlicesNode(Node):
    """The node of a base after a write into one of its views. See Note [Views and writes]."""

    _inner: Node  # the write's own node; its edge 0 is not used
    _steps: list[Any]  # from the base to the written view; not the view's ViewInfo, which holds the base

    def name(self) -> str:
        return "torch::autograd::CopySlices"

    def _run(self, cotangents: list[Any], create_graph: bool) -> list[Any]:
        """Edge 0: the base before the write. The others: the write's other inputs."""
        ct = cotangents[0]
        if ct is None:
            return [None] * self._n_edges
        outside = ct.clone() if create_graph else wrap(ct._array.copy())
        region: Any = replay(self._steps, outside)
        inside = region.clone() if create_graph else wrap(region._array.copy())
        results = run_node(self._inner, inside, create_graph)
        through = results[0]
        with set_recording(create_graph):
            if through is None:
                region.zero_()
            else:
                region.copy_(through)
        return [outside, *results[1:]]

    def _release(self) -> None:
        self._inner._release()


_copy_slices_class = make_node_class("CopySlices", CopySlicesNode)


def run_node(node: Node, cotangent: TensorBase, create_graph: bool) -> list[Any]:
    """Runs one node outside a pass: the cotangents (tensors) of its inputs."""
    if isinstance(node, OpNode):
        return run_single(node, (cotangent,), create_graph)
    return list(node._run([cotangent], create_graph))


def view_steps(view: ViewInfo) -> list[tuple[Op, dict[str, Any] | None, int]]:
    """The operations that lead from a view's base to it: operation, parameters and output number of each."""
    steps = []
    info: Any = view
    while info is not None:
        steps.append((info.op, {"index": info.params} if info.op.is_read else info.params, info.output_nr))
        info = info.before
    return steps[::-1]


def replay(steps: list[Any], base: TensorBase) -> TensorBase:
    """Applies the operations that made a view to base."""
    tensor = base
    for op, params, output_nr in steps:
        result = call(op, (tensor,), params)
        tensor = result[output_nr] if op.output_names is not None else result
    return tensor


def regenerate(view: TensorBase) -> None:
    """Gives a view that is out of date the grad_fn that leads to its base as it now is."""
    info: Any = view._view
    if info.base._requires_grad and info.creation != VIEW_IN_FUNCTION:
        before = flags()
        try:
            set_flags(before & ~(NO_GRAD | INFERENCE))
            fresh = replay(view_steps(info), info.base)
        finally:
            set_flags(before)
        move_history(view, fresh._grad_fn, fresh._output_nr)
    info.version = counter_of(view).value


set_view_refresher(regenerate)


# -- the rules of writing ----------------------------------------------------------------------------------------------


def check_write(target: TensorBase, gradient_written: bool = True) -> None:
    """Raises RuntimeError where target must not be written in place now.

    gradient_written: whether one of the write's inputs, target among them, requires grad.
    """
    if target._flags & IS_INFERENCE and not flags() & INFERENCE:
        raise errors.inference_inplace()
    if flags() & NO_GRAD:
        return
    view = target._view
    if target.requires_grad:
        if target._grad_fn is None:
            raise errors.leaf_inplace()
        if view is not None and view.base._requires_grad and view.base._grad_fn is None:
            raise errors.leaf_inplace(view=True)
    if view is not None and view.creation != VIEW_DEFAULT and (gradient_written or view.base._requires_grad):
        check_creation(target, view)


def check_creation(target: TensorBase, view: ViewInfo) -> None:
    """Raises RuntimeError for a write, with recording on, into a view that cannot pass gradients on."""
    node = target._grad_fn
    name = "a function" if node is None else node.name()
    if view.creation == VIEW_OF_MANY:
        raise errors.multi_view_inplace(target._output_nr, name)
    if view.creation == VIEW_IN_FUNCTION:
        raise errors.function_view_inplace(target._output_nr, name)
    if view.creation == VIEW_IN_NO_GRAD:
        raise errors.no_grad_view_inplace()
    if view.creation == VIEW_IN_INFERENCE:
        raise errors.inference_view_inplace()


def bump(target: TensorBase) -> None:
    """Counts a write into target's memory, and notes the line that made it."""
    if target._flags & IS_INFERENCE:
        return
    refresh_view(target)  # before the count says that it is: its base may have changed since it was last looked at
    counter = counter_of(target)
    counter.value += 1
    counter.code, counter.lasti = find_position()
    if target._view is not None:
        # The view that was written is itself up to date: its history is rebased, or there is none.
        target._view.version = counter.value


def call_inplace(op: Op, inputs: tuple[Any, ...], params: dict[str, Any] | None) -> TensorBase:
    """Runs an operation and writes the result into its first input, which it returns."""
    target: TensorBase = inputs[0]
    refresh_view(target)
    arrays, needs = unwrap(op, inputs)
    check_write(target, needs != 0)
    if op.promote != NONE and arrays[0].dtype is not target._array.dtype:
        dtypes.check_can_write(arrays[0].dtype, target._array.dtype)
    recording = needs != 0 and not flags() & NO_GRAD and bool(op.rules)
    if recording:
        arrays = keep_original(op, needs, inputs, arrays)
    kernel = kernel_into(op, params, arrays, target)
    out = run_forward(op, arrays, params, target) if kernel is None else None
    if not recording:
        write_result(kernel, arrays, target, out)
        return target
    # Recorded before the write: the edges must lead to what the inputs, views of target among them, were until now.
    carrier: TensorBase = wrap(target._array)
    carrier._counter = counter_of(target)
    watched: bool = is_watched()
    if watched:
        with packing_deferred():
            record(op, needs, inputs, arrays, params, (carrier,))
    else:
        record(op, needs, inputs, arrays, params, (carrier,))
    write_result(kernel, arrays, target, out)
    node: Any = carrier._grad_fn
    if node is not None:
        renew_outputs(node)
        if watched:
            pack_saved(node)
        rebase_history(target, node)
    return target


def kernel_into(op: Op, params: dict[str, Any] | None, arrays: list[Any], target: TensorBase) -> Any:
    """The ufunc that the operation is, where it may write its result into target at once; else None."""
    if op.kernel is None:
        set_kernel(op)
    kernel = op.kernel
    if type(kernel) is not np.ufunc or arrays[0].dtype is not target._array.dtype:
        return None
    if params is not None:
        for name, default in op.defaults.items():
            if params[name] is not default:
                return None
    return kernel


def run_forward(op: Op, arrays: list[Any], params: dict[str, Any] | None, target: TensorBase) -> Any:
    """What the operation's forward returns, to be written into target, whose shape it has to have."""
    quiet_enter()
    try:
        if params is None:
            out = op.forward(numpy_backend, *arrays)
        else:
            out = op.forward(numpy_backend, *arrays, **params)
    except ValueError as error:
        explain_broadcast(error, arrays)
        raise
    finally:
        quiet_exit()
    if getattr(out, "shape", ()) != target._array.shape:
        raise errors.inplace_shape(target._array.shape, getattr(out, "shape", ()))
    return out


def write_result(kernel: Any, arrays: list[Any], target: TensorBase, out: Any) -> None:
    """Writes the kernel's result, or out where there is no kernel, into target's memory."""
    if kernel is None:
        write_array(target, out)
        return
    array = target._array
    check_memory(target, array)
    quiet_enter()
    try:
        kernel(*arrays, out=array)  # NumPy copies operands that overlap array, but for array itself
    except ValueError as error:
        explain_broadcast(error, arrays)
        shape = np.broadcast_shapes(*[x.shape for x in arrays])
        if shape != array.shape:
            raise errors.inplace_shape(array.shape, shape) from None
        raise
    finally:
        quiet_exit()
    bump(target)


def renew_outputs(node: Any) -> None:
    """Tells a node recorded before its write that what it saved of its output is as it is now."""
    for saved in node._saved or ():
        if isinstance(saved, SavedTensor) and saved._role == OUTPUT and saved._counter is not None:
            saved._version = saved._counter.value


def keep_original(op: Op, needs: int, inputs: tuple[Any, ...], arrays: list[Any]) -> list[Any]:
    """Copies the arrays about to be overwritten, target's and its views', where the node will need their old values."""
    plan = op.plan(needs)
    counter = counter_of(inputs[0])
    kept = list(arrays)
    for i, x in enumerate(inputs):
        if isinstance(x, TensorBase) and plan.saves_input(i) and (x is inputs[0] or x._counter is counter):
            kept[i] = arrays[i].copy()
    return kept


def write_array(target: TensorBase, value: Any) -> None:
    """Writes value, which broadcasts to target, into target's memory, in target's dtype."""
    array = target._array
    check_memory(target, array)
    quiet_enter()
    try:
        if isinstance(value, numpy_backend.ndarray) and value.dtype != array.dtype:
            value = cast_array(value, array.dtype)
        array[...] = value
    finally:
        quiet_exit()
    bump(target)


def check_memory(target: TensorBase, array: Any) -> None:
    """To be called before array, in target's memory, is written: keeps saved values apart where that is asked for.

    Raises where the memory cannot be written (ValueError), or is seen more than once (RuntimeError).
    """
    before_write(target)
    if not array.flags.writeable:
        raise ValueError(
            "the tensor shares memory with a read-only NumPy array and cannot be written; write to a clone()"
        )
    if (
        array.size > 1
        and 0 in array.strides
        and any(step == 0 and n > 1 for step, n in zip(array.strides, array.shape, strict=True))
    ):
        raise errors.InplaceError(
            "unsupported operation: more than one element of the written-to tensor refers to a single memory location. "
            "Please clone() the tensor before performing the operation."
        )


def check_dirty(target: TensorBase) -> None:
    """check_write, for a tensor that a custom Function has marked as written."""
    if target.requires_grad and target._grad_fn is None:
        raise errors.leaf_marked_dirty()
    check_write(target)


def rebase_history(target: TensorBase, node: Node, output_nr: int = 0) -> None:
    """Makes node, which overwrote target, the history of target; of its base, where target is a view."""
    view = target._view
    if view is None:
        move_history(target, node, output_nr)
    else:
        rebase_base(view, node)
        regenerate(target)


def rebase_base(view: ViewInfo, node: Node) -> None:
    """Gives a base, one of whose views node overwrote, its CopySlices."""
    base = view.base
    slices: Any = _copy_slices_class()
    slices._inner = node
    slices._steps = view_steps(view)
    slices._edges = (gradient_edge(base), *node._edges[1:])
    slices._meta = make_meta(base._array.shape, base._array.dtype)
    slices._seq = next_sequence_nr()
    record_position(slices)
    move_history(base, slices, 0)


def move_history(tensor: TensorBase, node: Any, output_nr: int) -> None:
    """Makes the tensor an output of another node. What retain_grad asked for moves along; hooks stay."""
    old: Any = tensor._grad_fn
    tensor._grad_fn = node
    tensor._output_nr, old_nr = output_nr, tensor._output_nr
    tensor._requires_grad = True
    if tensor._flags & RETAINS_GRAD:
        old._ensure_hooks().retained.pop(old_nr, None)
        node._ensure_hooks().retained[output_nr] = weakref.ref(tensor)


# -- out= --------------------------------------------------------------------------------------------------------------


def write_out(op: Op, out: Any, inputs: tuple[Any, ...], params: dict[str, Any] | None) -> Any:
    """Runs an operation into the tensor (or tuple of tensors) given as out=, resized where its shape is another."""
    outs = out if isinstance(out, tuple) else (out,)
    for tensor in outs:
        if not isinstance(tensor, TensorBase):
            raise errors.wrong_argument_type(op.name, "out", len(inputs), type(tensor))
    if not flags() & NO_GRAD:
        for tensor in (*inputs, *outs):
            if isinstance(tensor, TensorBase) and tensor.requires_grad:
                raise errors.out_requires_grad(op.name)
    with set_recording(False):
        results = call(op, inputs, params)
    results = results if isinstance(results, tuple) else (results,)
    for tensor, result in zip(outs, results, strict=True):
        store_out(tensor, result._array)
    return out


def store_out(tensor: TensorBase, value: Any) -> None:
    """Writes a result into an out= tensor."""
    if value.dtype != tensor._array.dtype:
        dtypes.check_can_write(value.dtype, tensor._array.dtype)
    if tensor._array.shape != value.shape:
        tensor._array = cast_array(value, tensor._array.dtype).copy()
        tensor._meta = None
        bump(tensor)
    else:
        write_array(tensor, value)


set_out_writer(write_out)
