"""Writing in place, and what that does to the graph: leaves, views, bases.

Note [Views and writes]
A view shares its base's memory and version counter, and knows the operations that lead from the base to the view.
A write into a tensor that is no view gives the tensor the node of the write. A write into a view changes the base: the base
gets a CopySlices node, which sends the cotangent outside the written region to the old base, and runs the node of the write on
the cotangent inside the region. Every other view of the base is then out of date, as the shared counter tells. When such a
view is next looked at, refresh_view makes its grad_fn again: it replays the view's operations on the new base.
"""

from __future__ import annotations

if False:
    import cython
import weakref
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import numpy as np

from wengert import _shim as cython
from wengert import dtypes, errors
from wengert.backends import numpy as numpy_backend
from wengert.backends.selection import backend_among, backend_of, device_name, elsewhere, is_array, others, placed, run_in
from wengert.core.dispatch import (
    VIEW_DEFAULT,
    VIEW_IN_FUNCTION,
    VIEW_IN_INFERENCE,
    VIEW_IN_NO_GRAD,
    aligned_to_target,
    call,
    observe,
    record,
    unwrap,
)
from wengert.core.engine import run_single
from wengert.core.forward import cast_array, explain_broadcast, run_on_device, set_kernel
from wengert.core.leaf_gradient import set_accumulator_aside
from wengert.core.mirrors import CONJUGATE, NEGATIVE, image, lay_out, layout_of, relation_after, write_through
from wengert.core.modes import (
    AUTOCAST,
    DUAL,
    INFERENCE,
    NO_GRAD,
    OBSERVED,
    flags,
    grad_enabled,
    quiet_enter,
    quiet_exit,
    set_flags,
    set_recording,
)
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
from wengert.core.saved import OUTPUT, SavedTensor, attach, before_write, is_watched, output_place
from wengert.core.saved_hooks import pack_saved, packing_deferred
from wengert.core.tensor import (
    IS_DUAL,
    IS_INFERENCE,
    IS_RESHAPED,
    IS_VOLATILE,
    RETAINS_GRAD,
    TensorBase,
    ViewInfo,
    counter_of,
    gradient_edge,
    is_differentiable,
    make_volatile,
    refresh_history,
    refresh_view,
    set_view_refresher,
    wrap,
)
from wengert.dtypes import NONE
from wengert.kernels import is_from_signal, native


class CopySlicesNode(Node):
    """The node of a base after a write into one of its views. See Note [Views and writes]."""

    _inner: Node  # the write's own node; its edge 0 is not used
    _steps: list[Any]  # from the base to the written view; not the view's ViewInfo, which holds the base
    _layout: Any  # of the base: see layout_of

    def name(self) -> str:
        return "torch::autograd::CopySlices"

    def _run(self, cotangents: list[Any], create_graph: bool) -> list[Any]:
        """Edge 0: the base before the write. The others: the write's other inputs."""
        ct = cotangents[0]
        if ct is None:
            return [None] * self._n_edges
        if not create_graph:
            return self._run_on_arrays(ct._array)
        outside = ct.clone()
        if self._layout is not None and ct._array.size:
            outside._array = lay_out(ct._array, self._layout)
        region: Any = replay(self._steps, outside)
        written: Any = replay(self._steps, attach(outside._array, None, self, 0))
        with output_place(self._inner, written._grad_fn, written._output_nr):
            results = run_node(self._inner, region.clone(), True)
        through = results[0]
        with set_recording(grad_enabled()):
            if through is None or repeats_memory(region._array):  # which can have been written with a constant only
                region.zero_()
            else:
                region.copy_(through)
        return [outside, *results[1:]]

    def _run_on_arrays(self, ct: Any) -> list[Any]:
        """Do what _run does on arrays, if nothing is recorded."""
        outside = ct.copy() if self._layout is None or not ct.size else lay_out(ct, self._layout)
        region, relation = region_of(self._steps, outside)
        results = run_node(self._inner, wrap(image(region, relation) if relation else region.copy()), False)
        through = results[0]
        region[...] = 0 if through is None or repeats_memory(region) else image(through._array, relation)
        return [wrap(outside), *results[1:]]

    def _release(self, position: Any) -> None:
        self._inner._release(position)


_copy_slices_class = make_node_class("CopySlices", CopySlicesNode)


def run_node(node: Node, cotangent: TensorBase, create_graph: bool) -> list[Any]:
    """Run one node outside a pass: the cotangents (tensors) of its inputs."""
    if isinstance(node, OpNode):
        return run_single(node, (cotangent,), create_graph)
    return list(node._run([cotangent], create_graph))


def view_steps(view: ViewInfo) -> list[tuple[Op, dict[str, Any] | None, int]]:
    """Return the operations that lead from a view's base to the view: operation, parameters and output number of each."""
    steps = []
    info: Any = view
    while info is not None and info.op is not None:
        steps.append((info.op, {"index": info.params} if info.op.is_read else info.params, info.output_nr))
        info = info.before
    return steps[::-1]


def replay(steps: list[Any], base: TensorBase) -> TensorBase:
    """Apply the operations that made a view to base."""
    tensor = base
    for op, params, output_nr in steps:
        result = call(op, (tensor,), params)
        tensor = result[output_nr] if op.output_names is not None else result
    return tensor


def region_of(steps: list[Any], array: Any) -> tuple[Any, int]:
    """Return the part of array, a base's, that a view shows, and the relation of the view to it. See Note [Mirrors]."""
    relation = 0
    for op, params, output_nr in steps:
        relation = relation_after(op, relation)
        if op.reflection in (CONJUGATE, NEGATIVE):
            continue
        xp = backend_of(array)
        result = op.forward(xp, array) if params is None else op.forward(xp, array, **params)
        array = result[output_nr] if op.output_names is not None else result
    return array, relation


def regenerate(view: TensorBase, asked: bool) -> None:
    """Give a view that is out of date the grad_fn that leads to its base as it now is.

    Raises RuntimeError where that is forbidden, if its grad_fn is asked for by name, or needed to record.
    """
    info: Any = view._view
    before = flags()
    if info.creation != VIEW_DEFAULT:
        if before & NO_GRAD and not asked:
            return  # nothing is recorded, so its history is not asked for
        raise creation_error(view, info, indirect=True)
    try:
        set_flags(before & ~(NO_GRAD | INFERENCE))
        base: TensorBase = info.base
        if view._grad_fn is not None and not base._requires_grad:
            # The base was cut from its history, by detach_() say, and written: nothing leads back from it any more.
            base = wrap(base._array)
            base._requires_grad = True
        fresh = replay(steps_to(view, info), base)
    finally:
        set_flags(before)
    if fresh._flags & IS_VOLATILE:
        make_volatile(view)
    elif fresh._grad_fn is not None:  # a view of another dtype is not differentiable
        move_history(view, fresh._grad_fn, fresh._output_nr)
    info.version = counter_of(view).value


set_view_refresher(regenerate)


if not cython.compiled:
    _write_dual: Callable[..., TensorBase]
    _become_view_dual: Callable[..., TensorBase]


def set_dual_writers(write: Callable[..., Any], become_view: Callable[..., Any]) -> None:
    """Install the functions that replace call_inplace and call_inplace_view while a dual level is open."""
    global _write_dual, _become_view_dual
    _write_dual, _become_view_dual = write, become_view


# -- the rules of writing ----------------------------------------------------------------------------------------------


def check_write(target: TensorBase, gradient_written: bool = True) -> None:
    """Raise RuntimeError if target must not be written in place now.

    gradient_written: whether one of the write's inputs, target among them, requires grad.
    """
    if not flags() & NO_GRAD:
        check_recorded_write(target, gradient_written)
    if target._flags & IS_INFERENCE and not flags() & INFERENCE:
        raise errors.InferenceError(
            "Inplace update to inference tensor outside InferenceMode is not allowed. You can make a clone to get a normal "
            "tensor before doing inplace update."
        )


def check_recorded_write(target: TensorBase, gradient_written: bool) -> None:
    """Raise RuntimeError if a recorded write into target is forbidden."""
    view = target._view
    if view is None:
        if target._requires_grad and target._grad_fn is None:
            raise errors.leaf_write("leaf Variable")
        return
    needed = view.base._requires_grad or target._requires_grad
    if view.creation != VIEW_DEFAULT and (needed or gradient_written):
        raise creation_error(target, view)
    if needed and view.base._grad_fn is None:
        raise errors.leaf_write("view of a leaf Variable")


def creation_error(target: TensorBase, view: ViewInfo, *, indirect: bool = False) -> Exception:
    """Return the error for a recorded write into a view that cannot pass gradients on.

    indirect: for the use of such a view after a write into its base, or into another view of that.
    """
    modified = "its base or another view of its base has been modified inplace" if indirect else "is being modified inplace"
    if view.creation in (VIEW_IN_NO_GRAD, VIEW_IN_INFERENCE):
        mode, block, where = "no_grad", "no_grad", "with grad mode enabled"
        if view.creation == VIEW_IN_INFERENCE:
            mode, block, where = "inference", "inference_mode", "in normal mode"
        return errors.InplaceError(
            f"A view was created in {mode} mode and {modified} {where}. Given that this use case is ambiguous and "
            "error-prone, it is forbidden. You can clarify your code by moving both the view and the inplace either both "
            f"inside the {block} block (if you don't want the inplace to be tracked) or both outside (if you want the "
            "inplace to be tracked)."
        )
    node = target._grad_fn
    if node is None:
        text = f"A view was created in no_grad mode and {modified} with grad mode enabled."
    else:
        text = f"Output {target._output_nr} of {errors.operation_name(node.name())} is a view and {modified}."
    if view.creation == VIEW_IN_FUNCTION:
        return errors.InplaceError(
            f"{text} This view was created inside a custom Function (or because an input was returned as-is) and the "
            "autograd logic to handle view+inplace would override the custom backward associated with the custom Function, "
            "leading to incorrect gradients. This behavior is forbidden. You can fix this by cloning the output of the "
            "custom Function."
        )
    text += (
        " This view is the output of a function that returns multiple views. Such functions do not allow the output views "
        "to be modified inplace. You should replace the inplace operation by an out-of-place one."
    )
    if node is None:  # torch's own words are wrong then
        info: Any = view
        while info.op.output_names is None:
            info = info.before
        text += (
            f"\nThe view is output {info.output_nr} of {info.op.name.lstrip('_')}(), of a tensor that required no gradient "
            "then."
        )
    return errors.InplaceError(text)


def refresh_target(target: TensorBase) -> None:
    """Refresh a view that is about to be written. check_write has more to say of a view that must not be written."""
    if target._view is not None and target._view.creation == VIEW_DEFAULT:
        refresh_history(target)


def bump(target: TensorBase) -> None:
    """Count a write into target's memory, and note the line that made it. Mirrors of the memory show the write."""
    if target._counter is not None and target._counter.mirrors is not None:
        write_through(target)
    if target._flags & IS_INFERENCE:
        return
    refresh_target(target)  # while the count says that it is due: its base may have changed since it was last looked at
    counter = counter_of(target)
    view = target._view
    # The view that is written stays up to date: its history is rebased, or there is none. Not one that forbids writes:
    # it was written with recording off, and must not be used with recording on.
    current = view is not None and view.version == counter.value and view.creation == VIEW_DEFAULT
    counter.value += 1
    counter.code, counter.lasti = find_position()
    if view is not None and current and view.base._requires_grad:
        view.version = counter.value


def merge_counters(source: TensorBase, output: TensorBase, others: list[TensorBase]) -> None:
    """Give two tensors that share memory without being views one counter, which has counted the writes into both.

    others: tensors that go along where output's counter was theirs.
    """
    counter, replaced = counter_of(source), counter_of(output)
    if counter is replaced:
        return
    counter.value += replaced.value
    if replaced.code is not None:
        counter.code, counter.lasti = replaced.code, replaced.lasti
    if replaced.mirrors:
        counter.mirrors = {**(counter.mirrors or {}), **replaced.mirrors}
    for tensor in [*others, output]:
        if tensor._counter is replaced:
            tensor._counter = counter


def call_inplace(op: Op, inputs: tuple[Any, ...], params: dict[str, Any] | None) -> TensorBase:
    """Run an operation, write the result into its first input, and return that input."""
    if flags() & OBSERVED:
        observed: TensorBase = observe(op.name + "_", inputs, call_inplace, (op, inputs, params))
        return observed
    if flags() & DUAL:
        return _write_dual(op, inputs, params)
    if not isinstance(inputs[0], TensorBase):
        raise errors.wrong_receiver(op.name + "_", type(inputs[0]))
    if others:
        inputs = aligned_to_target(inputs)
        if (place := elsewhere(inputs[0]._array)) is not None:
            return run_in(place, call_inplace, op, inputs, params)
    target: TensorBase = inputs[0]
    refresh_target(target)
    arrays, needs = unwrap(op, inputs)
    if len(inputs) == 2 and type(inputs[1]) in (int, float) and arrays[0].dtype.kind in "fc":
        arrays = [arrays[0], inputs[1]]  # as out of place, where a number may have a formula of its own
    check_write(target, needs != 0)
    check_memory(target, target._array)
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
    elif carrier._flags & IS_VOLATILE:
        write_volatile(target)
    return target


_EXACT = frozenset({np.add, np.subtract, np.multiply, np.true_divide, np.negative, np.absolute, np.sqrt})


def kernel_into(op: Op, params: dict[str, Any] | None, arrays: list[Any], target: TensorBase) -> Any:
    """Return the ufunc that computes the operation, if it may write its result into target at once, or None."""
    if op.kernel is None:
        set_kernel(op)
    kernel = op.kernel
    if kernel is np.negative and not target._array.flags.c_contiguous:
        return None  # NumPy 2.4 takes the wrong elements if operand and result have certain strides
    if others and backend_among(arrays) is not backend_among(()):
        return None
    if type(kernel) is not np.ufunc or arrays[0].dtype is not target._array.dtype:
        return None
    if native is not None and op.native >= 0 and kernel not in _EXACT:
        return partial(write_by_kernel, op, params, kernel)  # it rounds in its own way: x.exp_() is to give what x.exp() gives
    if params is not None:
        for name, default in op.defaults.items():
            if params[name] is not default:
                return None
    return kernel


def write_by_kernel(op: Op, params: dict[str, Any] | None, ufunc: Any, *arrays: Any, out: Any) -> None:
    """Write the operation's result into out: by its compiled kernel, or by NumPy where that does not take these arguments."""
    values = op.defaults if params is None else params
    if native.apply(op.native, (*arrays, *[values[name] for name in op.native_params]), out) is not out:
        ufunc(*arrays, out=out)


def run_forward(op: Op, arrays: list[Any], params: dict[str, Any] | None, target: TensorBase) -> Any:
    """Return the forward's result, which has target's shape and is to be written into target."""
    if others and backend_among(arrays) is not backend_among(()):
        return check_shape(run_on_device(op, arrays, params), target)
    if native is not None and op.native >= 0 and len(arrays) == 1 and not op.native_params:
        compiled = native.apply(op.native, tuple(arrays), None)
        if compiled is not None and not params:
            return compiled
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
    return check_shape(out, target)


def check_shape(out: Any, target: TensorBase) -> Any:
    """Return out, which is to be written into target. Raises RuntimeError if it has another shape."""
    if getattr(out, "shape", ()) != target._array.shape:
        raise errors.inplace_shape(target._array.shape, getattr(out, "shape", ()))
    return out


def write_result(kernel: Any, arrays: list[Any], target: TensorBase, out: Any) -> None:
    """Write the kernel's result, or out where there is no kernel, into target's memory."""
    if kernel is None:
        write_array(target, out)
        return
    array = target._array
    quiet_enter()
    try:
        kernel(*arrays, out=array)  # NumPy copies operands that overlap array, but for array itself
    except BaseException as error:
        if is_from_signal(error):
            bump(target)
        if isinstance(error, ValueError):
            explain_broadcast(error, arrays)
            if (shape := np.broadcast_shapes(*[x.shape for x in arrays])) != array.shape:
                raise errors.inplace_shape(array.shape, shape) from None
        raise
    finally:
        quiet_exit()
    bump(target)


def write_volatile(target: TensorBase) -> None:
    """Make a tensor that a volatile one was written into volatile; with it its base, and so the base's other views."""
    make_volatile(target)
    if target._view is not None:
        make_volatile(target._view.base)


def call_inplace_view(op: Op, target: TensorBase, params: dict[str, Any], node_class: type) -> TensorBase:
    """Make target the view that op gives of it, as squeeze_() does. Its memory, base and other views stay as they are.

    node_class: of the node, which has a name of its own.
    """
    if not isinstance(target, TensorBase):
        raise errors.wrong_receiver(op.name + "_", type(target))
    if flags() & DUAL:
        return _become_view_dual(op, target, params, node_class)
    refresh_view(target)
    check_write(target, target._requires_grad)
    array = target._array
    view = target._view
    mirrored = view is not None and view.physical is not None
    if op.walks_memory and mirrored:
        raise errors.InplaceError(f"{op.name.strip('_')}_ of a conjugate view. Hint: use the function that returns a new view.")
    seen = op.forward(backend_of(array), array, **params)
    if view is None:
        target._flags |= IS_RESHAPED
    else:
        target._view = extend_view(view, op, params, seen)
        if mirrored:
            target._view.physical = op.forward(backend_of(array), view.physical, **params)
            target._view.relation = view.relation
    if target._requires_grad and not flags() & NO_GRAD:
        carrier: TensorBase = wrap(seen)
        record(op, 1, (target,), [array], params, (carrier,))
        carrier._grad_fn.__class__ = node_class
        move_history(target, carrier._grad_fn, 0)
    target._array = seen
    target._meta = None
    set_accumulator_aside(target)
    before_write(target)  # nothing is written, but it counts as a write
    bump(target)
    if target._view is not None and target._grad_fn is not None and target._grad_fn.__class__ is not node_class:
        target._view.version = -1  # recording is off: its history is made again when it is asked for
    return target


def extend_view(view: ViewInfo, op: Op, params: dict[str, Any], seen: Any) -> ViewInfo:
    """Return the ViewInfo of a view that op has turned into another view. seen: the view's new array."""
    # Not changed in place: other views of this view refer to how it was.
    info = ViewInfo(view.base, view.version, view.creation)
    info.before, info.op, info.params = view, op, params
    if op.walks_memory:  # it may go beyond the view, but not beyond its base
        info.before = None
        info.op, info.params = _find_stride(view.base._array, seen)
    return info


def steps_to(tensor: TensorBase, view: ViewInfo) -> list[tuple[Op, dict[str, Any] | None, int]]:
    """Return the operations that lead from a view's base to the view.

    Where the base was itself turned into another view of its memory, as by t_(), it is one, which walks in memory.
    """
    if not view.base._flags & IS_RESHAPED:
        return view_steps(view)
    op, params = _find_stride(view.base._array, tensor._array if view.physical is None else view.physical)
    return [(op, params, 0), *[step for step in view_steps(view) if step[0].reflection in (CONJUGATE, NEGATIVE)]]


_find_stride: Any = None


def set_stride_finder(function: Any) -> None:
    """Install find_stride(base, array), which returns the operation and the parameters that make one array a view of another."""
    global _find_stride
    _find_stride = function


def renew_outputs(node: Any) -> None:
    """Tell a node recorded before its write that what it saved of its output is as it is now."""
    for saved in node._saved or ():
        if isinstance(saved, SavedTensor) and saved._role == OUTPUT and saved._counter is not None:
            saved._version = saved._counter.value


def keep_original(op: Op, needs: int, inputs: tuple[Any, ...], arrays: list[Any]) -> list[Any]:
    """Copy those arrays about to be overwritten, target's and its views', of which the node will need the old values."""
    plan = op.plan(needs)
    counter = counter_of(inputs[0])
    kept = list(arrays)
    for i, x in enumerate(inputs):
        if isinstance(x, TensorBase) and plan.saves_input(i) and (x is inputs[0] or x._counter is counter):
            kept[i] = arrays[i].copy()
    return kept


def write_array(target: TensorBase, value: Any) -> None:
    """Write value, which broadcasts to target, into target's memory, in target's dtype."""
    array = target._array
    quiet_enter()
    try:
        if is_array(value) and value.dtype != array.dtype:
            value = cast_array(value, array.dtype)
        array[...] = placed(value, array) if others else value
    finally:
        quiet_exit()
    bump(target)


def repeats_memory(array: Any) -> bool:
    """Whether an array shows memory more than once, as expand() makes it."""
    return (
        array.size > 1
        and 0 in array.strides
        and any(step == 0 and n > 1 for step, n in zip(array.strides, array.shape, strict=True))
    )


def check_memory(target: TensorBase, array: Any, one_value: bool = False) -> None:
    """Check a write into array, in target's memory, which is about to happen. Keep saved values apart if a block asks for it.

    Raises where the memory cannot be written (ValueError), or is seen more than once (RuntimeError).

    one_value: every element is written with the same, so it does not matter how often memory is seen.
    """
    if target._view is not None and target._view.physical is not None:
        refresh_view(target)
        array = target._view.physical if target._view.physical is not None else array
    if isinstance(array, np.ndarray) and not array.flags.writeable:
        raise ValueError(
            "the tensor shares memory with a read-only NumPy array and cannot be written; write to a clone()"
        )
    if not one_value and repeats_memory(array):
        raise errors.InplaceError(
            "unsupported operation: more than one element of the written-to tensor refers to a single memory location. "
            "Please clone() the tensor before performing the operation."
        )
    before_write(target)


def check_dirty(target: TensorBase) -> None:
    """Check a write into a tensor that a custom Function has marked as written."""
    if target.requires_grad and target._grad_fn is None:
        raise errors.InplaceError("a leaf Variable that requires grad has been used in an in-place operation.")
    check_write(target)


def rebase_history(target: TensorBase, node: Node, output_nr: int = 0) -> None:
    """Make node, which overwrote target, the history of target, or of its base if target is a view."""
    view = target._view
    if view is None:
        move_history(target, node, output_nr)
    else:
        rebase_base(target, view, node)
        regenerate(target, False)


def rebase_base(target: TensorBase, view: ViewInfo, node: Node) -> None:
    """Give the base of target, a view that node overwrote, its CopySlices."""
    base = view.base
    slices: Any = _copy_slices_class()
    slices._inner = node
    slices._steps = steps_to(target, view)
    slices._layout = layout_of(base._array, slices._steps)
    slices._edges = (gradient_edge(base), *node._edges[1:])
    slices._meta = make_meta(base._array, base._array.dtype)
    slices._seq = next_sequence_nr()
    record_position(slices)
    move_history(base, slices, 0)


def move_history(tensor: TensorBase, node: Any, output_nr: int) -> None:
    """Make the tensor an output of another node. What retain_grad asked for moves along; hooks stay."""
    old: Any = tensor._grad_fn
    tensor._grad_fn = node
    tensor._output_nr, old_nr = output_nr, tensor._output_nr
    tensor._requires_grad = True
    if tensor._flags & RETAINS_GRAD:
        old._ensure_hooks().retained.pop(old_nr, None)
        node._ensure_hooks().retained[output_nr] = weakref.ref(tensor)


# -- out= --------------------------------------------------------------------------------------------------------------


def write_out(op: Op, out: Any, inputs: tuple[Any, ...], params: dict[str, Any] | None) -> Any:
    """Run an operation into the tensor (or tuple of tensors) given as out=, resized where its shape is another."""
    return write_results(op.name, out, inputs, lambda: call(op, inputs, params))


def write_results(name: str, out: Any, inputs: Iterable[Any], compute: Callable[[], Any]) -> Any:
    """Write the results of compute() into the out= tensors. name: of the operation. inputs: those of compute."""
    outs, inputs = tuple(out) if isinstance(out, (tuple, list)) else (out,), tuple(inputs)
    for tensor in outs:
        if not isinstance(tensor, TensorBase):
            raise errors.wrong_argument_type(name, "out", len(inputs), type(tensor))
    if flags() & DUAL and any(isinstance(x, TensorBase) and x._flags & IS_DUAL for x in (*inputs, *outs)):
        raise errors.FunctionNotImplementedError(
            f"Trying to use forward AD with {name}_out that does not support it because it is an out= function"
        )
    before = flags()
    try:
        set_flags(before & ~AUTOCAST)  # the dtype of the result is that of out
        results = compute()
    finally:
        set_flags(before)
    if isinstance(results, bool):  # of allclose and equal, which return no tensor
        raise errors.unexpected_keyword(name, "out")
    results = results if isinstance(results, (tuple, list)) else (results,)
    for result in results:
        if not isinstance(result, TensorBase):  # a function that returns its argument as it is was given no tensor
            raise errors.wrong_argument_type(name, "input", 0, type(result))
    if not flags() & NO_GRAD:
        for tensor, result in zip(outs, results, strict=True):
            if result.requires_grad or (tensor.requires_grad and is_differentiable(result._array)):
                raise errors.out_requires_grad(name)
    for tensor, result in zip(outs, results, strict=True):
        with set_recording(grad_enabled() and is_differentiable(result._array)):
            store_out(tensor, result._array)
    return out


def store_out(tensor: TensorBase, value: Any) -> None:
    """Write a result into an out= tensor."""
    check_write(tensor, False)
    if others and device_name(value) != device_name(tensor._array):
        raise errors.out_on_device(device_name(value), device_name(tensor._array))
    if value.dtype != tensor._array.dtype:
        dtypes.check_can_write(value.dtype, tensor._array.dtype)
    if others and (place := elsewhere(value)) is not None:
        run_in(place, store_out, tensor, value)
    elif tensor._array.shape != value.shape:
        tensor._array = cast_array(value, tensor._array.dtype).copy()
        tensor._meta = None
        bump(tensor)
    else:
        check_memory(tensor, tensor._array)
        write_array(tensor, value)
