"""call(op, inputs, params): unwrap the tensors, promote, run the forward, wrap the result, record the node.

The hot path has forms of its own, without the tuples: call1 and call2 for one and two inputs and default parameters,
call_view for one view of one tensor. A forward that has a compiled kernel runs there; what that does not take, and what
has none, runs on NumPy.
"""

from __future__ import annotations

if False:
    import cython
from collections.abc import Callable
from typing import Any

import numpy as np

from wengert import _shim as cython
from wengert.backends import numpy as numpy_backend
from wengert.core.forward import (
    constant,
    promote,
    refuse_complex,
    run_compiled,
    run_numpy,
    run_numpy1,
    run_numpy2,
    run_whole,
    set_kernel,
)
from wengert.core.modes import BLOCK, DUAL, INFERENCE, NO_GRAD, OBSERVED, current_task, flags
from wengert.core.node import Node, OpNode, TensorMeta, make_meta, next_sequence_nr, note_cut, record_position, set_metas, set_more
from wengert.core.op import (
    SAVE_INPUT,
    SAVE_NEEDS,
    SAVE_OUTPUT,
    SAVE_PARAM,
    SAVE_SHAPE,
    SAVE_VARIADIC,
    SAVE_VARIADIC_SHAPES,
    Op,
    Plan,
    SaveEntry,
)
from wengert.core.saved import INPUT, OUTPUT, save
from wengert.core.tensor import (
    IS_INFERENCE,
    IS_VOLATILE,
    UNRECORDED_IN,
    TensorBase,
    ViewInfo,
    counter_of,
    gradient_node,
    is_differentiable,
    make_volatile,
    meta_of,
    refresh_view,
    wrap,
)
from wengert.core.trace import Traced
from wengert.dtypes import NONE

if not cython.compiled:
    from wengert.core.collector import aside_list
    from wengert.core.native import (
        as_array,
        has_meta,
        is_inexact,
        is_ndarray,
        row_of,
        same_inexact,
        wk_apply1,
        wk_apply2,
        wk_init_native,
        wk_init_numpy,
        wk_is_whole,
        wk_make_view,
        wk_new_instance,
        wk_set_aside,
        wk_share_aside,
    )

wk_init_numpy()
wk_share_aside(aside_list())
wk_init_native()

# How a view was made (ViewInfo.creation): decides whether it may be written in place where gradients are recorded.
VIEW_DEFAULT = 0
VIEW_IN_NO_GRAD = 1
VIEW_OF_MANY = 2  # one of several outputs: unbind, split
VIEW_IN_INFERENCE = 3
VIEW_IN_FUNCTION = 4  # returned by a custom Function, whose backward a write would bypass

if not cython.compiled:
    _observe: Any = None
    _call_dual: Callable[[Op, tuple[Any, ...], dict[str, Any] | None], Any]


def set_dual_call(function: Callable[[Op, tuple[Any, ...], dict[str, Any] | None], Any]) -> None:
    """dual.py hands down what runs an operation where a dual level is open."""
    global _call_dual
    _call_dual = function


def set_observer(function: Any) -> None:
    """recorder.py hands down what observe calls."""
    global _observe
    _observe = function


def observe(name: str, inputs: tuple[Any, ...], function: Any, arguments: tuple[Any, ...]) -> Any:
    """function(*arguments), which runs the operation of that name on inputs, measured or checked. Where flags say OBSERVED."""
    return _observe(name, inputs, function, arguments)


def call1(op: Op, x: Any) -> Any:
    """Runs an operation of one input with its default parameters."""
    mode = flags()
    if mode & OBSERVED:
        return observe(op.name, (x,), call1, (op, x))
    if mode & DUAL:
        return _call_dual(op, (x,), None)
    needs: int = 0
    t: TensorBase | None = None
    if op.is_view and op.output_names is None and isinstance(x, TensorBase):
        return call_view(op, x, None)
    if isinstance(x, TensorBase):
        t = x
        if t._view is not None:
            refresh_view(t)
        array = t._array
        if t._requires_grad:
            needs = 1
    else:
        if isinstance(x, Traced):
            return x.record_call(op, (x,), None)
        array = constant(op, x, 0)
    if op.promote != NONE and not is_inexact(array):
        array = promote(op, [array])[0]
    if op.kernel is None:
        set_kernel(op)
    out = None
    if op.native >= 0 and len(op.native_params) == 0:
        out = run_whole(op, array, None) if wk_is_whole(op.native) else wk_apply1(op.native, array)
    direct: bool = op.is_direct_native
    if out is None:
        out = run_numpy1(op, array)
        direct = op.is_direct
    if needs != 0 and (mode != 0 or len(op.rules) == 0):
        if mode >> BLOCK != 0 or mode == 0:
            note_unrecorded(op, mode, x)
        needs = 0
    if not direct:
        return finish(op, needs, (x,), [array], None, out)
    result: TensorBase = wrap(as_array(out))
    if t is not None and t._flags & IS_VOLATILE:
        make_volatile(result)
    elif needs != 0:
        record_direct(op, t, None, array, None, result, needs)
    return result


def note_unrecorded(op: Op, mode: int, x: Any) -> None:
    """Notes, for explain(), that an operation on x, which may require grad, was not recorded.

    That is because of a user's block; or, with a mode of 0, because it has no derivative, as comparisons have none.
    """
    if isinstance(x, TensorBase):
        t: TensorBase = x
        if t._requires_grad:
            if mode == 0:
                if current_task() is None:  # what rules do in a pass that records itself is no cut
                    note_cut(op.name + "(), which has no derivative,", t)
            elif t._grad_fn is None:  # most often a parameter, used again and again: a note on the tensor costs nothing
                t._flags = t._flags & (1 << UNRECORDED_IN) - 1 | (mode >> BLOCK) << UNRECORDED_IN
            else:
                note_cut(op.name, t)


def call2(op: Op, x: Any, y: Any) -> Any:
    """Runs an operation of two inputs with its default parameters."""
    needs: int = 0
    weak: bool = False
    t: TensorBase | None = None
    u: TensorBase | None = None
    mode = flags()
    if mode & OBSERVED:
        return observe(op.name, (x, y), call2, (op, x, y))
    if mode & DUAL:
        return _call_dual(op, (x, y), None)
    if op.kernel is None:
        set_kernel(op)
    if isinstance(x, TensorBase):
        t = x
        if t._view is not None:
            refresh_view(t)
        a = t._array
        if t._requires_grad:
            needs = 1
    else:
        if isinstance(x, Traced):
            return x.record_call(op, (x, y), None)
        a = constant(op, x, 0)
        weak = type(a) is float or type(a) is int
    if isinstance(y, TensorBase):
        u = y
        if u._view is not None:
            refresh_view(u)
        b = u._array
        weak = weak and is_inexact(b)  # a number of no higher category than its partner leaves the dtype alone
        if u._requires_grad:
            needs |= 2
    else:
        if isinstance(y, Traced):
            return y.record_call(op, (x, y), None)
        b = constant(op, y, 1)
        weak = not is_ndarray(b) and not weak and is_inexact(a) and (type(b) is float or type(b) is int)
    if not weak and op.promote != NONE and not same_inexact(a, b):
        a, b = promote(op, [a, b])
    out = None
    if op.native >= 0 and len(op.native_params) == 0:
        out = run_whole(op, a, b) if wk_is_whole(op.native) else wk_apply2(op.native, a, b)
    direct: bool = op.is_direct_native
    if out is None:
        out = run_numpy2(op, a, b)
        direct = op.is_direct
    if needs != 0 and (mode != 0 or len(op.rules) == 0):
        if mode >> BLOCK != 0 or mode == 0:
            note_unrecorded(op, mode, x)
            note_unrecorded(op, mode, y)
        needs = 0
    if not direct:
        return finish(op, needs, (x, y), [a, b], None, out)
    result: TensorBase = wrap(as_array(out))
    if (t is not None and t._flags & IS_VOLATILE) or (u is not None and u._flags & IS_VOLATILE):
        make_volatile(result)
    elif needs != 0:
        record_direct(op, t, u, a, b, result, needs)
    return result


def record_direct(
    op: Op, x: TensorBase | None, y: TensorBase | None, a: Any, b: Any, out: TensorBase, needs: int
) -> None:
    """record, for a direct operation of one or two inputs: x and y where they are tensors, their arrays or numbers a and b."""
    plan: Plan | None = op.default_plans.get(needs)
    if plan is None:
        plan = op.plan(needs, True)
    if len(plan.calls) == 0:
        return
    node: OpNode = wk_new_instance(OpNode, op.direct_class if op.direct_class is not None else direct_class(op, a, b, out))
    wk_set_aside(node)
    node._op = op
    node._plan = plan
    node._n_edges = len(op.input_names)
    needs &= plan.covered  # an edge that no rule serves would keep the node at its end waiting for ever
    if x is not None and needs & 1:
        node._next0 = gradient_node(x)
        node._nr0 = x._output_nr
    if y is not None and needs & 2:
        node._next1 = gradient_node(y)
        node._nr1 = y._output_nr
    node._seq = next_sequence_nr()
    record_position(node, 5)
    meta: TensorMeta | None = y._meta if x is None else x._meta  # type: ignore[union-attr]
    if meta is None or not has_meta(out._array, meta.shape, meta.dtype):
        meta = make_meta(out._array.shape, out._array.dtype)
    out._meta = meta
    node._meta = meta
    out._grad_fn = node
    out._requires_grad = True
    if len(plan.saves) != 0:
        saved: list[Any] = []
        for e in plan.saves:
            entry: SaveEntry = e
            if entry.kind == SAVE_INPUT:
                if entry.index:
                    saved.append(b if y is None else save(y, b, INPUT, 1))
                else:
                    saved.append(a if x is None else save(x, a, INPUT, 0))
            elif entry.kind == SAVE_OUTPUT:
                saved.append(save(out, out._array, OUTPUT, 0))
            else:
                saved.append(shape_of(x, a) if entry.index == 0 else shape_of(y, b))
        node._saved = tuple(saved)


def direct_class(op: Op, a: Any, b: Any, out: TensorBase) -> Any:
    """The class of a direct operation's node; a function of whole arrays may have one for each number of dimensions."""
    if op.node_chooser is None:
        op.direct_class = op.node_class
        return op.node_class
    ndim = out._array.ndim
    found = op.direct_classes.get(ndim)
    if found is None:
        found = op.direct_classes[ndim] = op.node_chooser((a, b), None)
    return found


def call(op: Op, inputs: tuple[Any, ...], params: dict[str, Any] | None) -> Any:
    """Runs an operation on any inputs: tensors, arrays, Python numbers or None. params, where given, is complete."""
    mode = flags()
    if mode & OBSERVED:
        return observe(op.name, inputs, call, (op, inputs, params))
    if mode & DUAL:
        return _call_dual(op, inputs, params)
    if op.is_view and op.output_names is None and isinstance(inputs[0], TensorBase):
        return call_view(op, inputs[0], params)
    for x in inputs:
        if isinstance(x, Traced):
            return x.record_call(op, inputs, params)
    arrays, needs = unwrap(op, inputs)
    if op.kernel is None:
        set_kernel(op)
    out = run_compiled(op, arrays, params) if op.native >= 0 else None
    if out is None:
        out = run_numpy(op, arrays, params)
    if needs != 0 and (mode != 0 or len(op.rules) == 0):
        if mode >> BLOCK != 0 or mode == 0:
            for x in inputs:
                note_unrecorded(op, mode, x)
        needs = 0
    return finish(op, needs, inputs, arrays, params, out)


def unwrap(op: Op, inputs: tuple[Any, ...]) -> tuple[list[Any], int]:
    """The inputs' arrays, promoted as the operation asks, and the set of inputs that need a gradient, as bits."""
    needs: int = 0
    bit: int = 1  # of this input; those from the variadic position on share one
    i: int = 0
    plain: bool = True
    arrays: list[Any] = []
    for x in inputs:
        if isinstance(x, TensorBase):
            t: TensorBase = x
            if t._view is not None:
                refresh_view(t)
            array = t._array
            if t._requires_grad:
                needs |= bit
        elif x is None:
            array = None
        else:
            array = constant(op, x, i)
        arrays.append(array)
        if plain and not (is_inexact(array) if i == 0 else same_inexact(arrays[0], array)):
            plain = False
        if op.variadic < 0 or i < op.variadic:
            bit <<= 1
        i += 1
    if not plain and op.promote != NONE:
        arrays = promote(op, arrays)
    if op.refuses_complex and len(arrays) != 0:
        refuse_complex(op, arrays[0] if is_ndarray(arrays[0]) else arrays[-1])
    return arrays, needs


def finish(
    op: Op, needs: int, inputs: tuple[Any, ...], arrays: list[Any], params: dict[str, Any] | None, out: Any
) -> Any:
    """Wraps what the forward returned, ties views to their base, and records the node if needs is not empty."""
    if op.output_names is None:
        result: TensorBase = wrap(as_array(out))
        outputs: tuple[Any, ...] = (result,)
    else:
        outputs = tuple([wrap(as_array(o)) for o in out])
    if op.is_view and isinstance(inputs[0], TensorBase):
        for nr, view in enumerate(outputs):
            tie_view(op, params, nr, inputs[0], view, op.output_names is not None, flags())
    if needs != 0:
        record(op, needs, inputs, arrays, params, outputs)
    else:
        spread_volatile(inputs, outputs)
    return outputs[0] if op.output_names is None else outputs


def spread_volatile(inputs: tuple[Any, ...], outputs: tuple[Any, ...]) -> bool:
    """Makes the outputs volatile if an input is; says whether one is."""
    for x in inputs:
        if isinstance(x, TensorBase):
            t: TensorBase = x
            if t._flags & IS_VOLATILE:
                for o in outputs:
                    make_volatile(o)
                return True
    return False


def record(
    op: Op,
    needs: int,
    inputs: tuple[Any, ...],
    arrays: list[Any],
    params: dict[str, Any] | None,
    outputs: tuple[Any, ...],
) -> None:
    """Makes the node and puts the differentiable outputs on it; where an input is volatile, makes the outputs so."""
    if spread_volatile(inputs, outputs):
        return
    plan: Plan | None = op.default_plans.get(needs) if params is None else op.plans.get(needs)
    if plan is None:
        plan = op.plan(needs, params is None)
    if len(plan.calls) == 0:
        return
    node_class = op.node_class if op.node_chooser is None else choose_node_class(op, inputs, params)
    node: OpNode = wk_new_instance(OpNode, node_class)
    wk_set_aside(node)
    node._op = op
    node._plan = plan
    link(node, inputs)
    if needs & ~plan.covered:
        # An edge that no rule serves would keep the node at its end waiting for ever.
        served = [plan.covered >> (op.variadic if 0 <= op.variadic <= i else i) & 1 for i in range(len(inputs))]
        node._edges = tuple([edge if ok else None for edge, ok in zip(node._edges, served, strict=True)])
    node._seq = next_sequence_nr()
    record_position(node, 4)
    template: TensorBase | None = inputs[0] if isinstance(inputs[0], TensorBase) else None
    nr: int = 0
    attached: bool = False
    for o in outputs:
        out: TensorBase = o
        if (
            template is not None
            and template._meta is not None
            and has_meta(out._array, template._meta.shape, template._meta.dtype)
        ):
            out._meta = template._meta
        if is_differentiable(out._array):
            out._grad_fn = node
            out._output_nr = nr
            out._requires_grad = True
            attached = True
        nr += 1
    if not attached:
        return
    if nr == 1:
        node._meta = meta_of(outputs[0])
    else:
        set_metas(node, tuple([meta_of(o) for o in outputs]))
    if len(plan.saves) != 0:
        node._saved = collect(op, plan, inputs, arrays, params, outputs)


def choose_node_class(op: Op, inputs: tuple[Any, ...], params: Any) -> Any:
    """The class of the node, where its name depends on the call."""
    if not op.node_is_param:
        return op.node_chooser(inputs, params)
    name = params["node"]
    node_class = op.node_classes.get(name)
    if node_class is None:
        node_class = op.node_classes[name] = op.node_chooser(inputs, params)
    return node_class


def link(node: Node, inputs: tuple[Any, ...]) -> None:
    """Gives the node one edge an input, which leads nowhere where the input needs no gradient."""
    n: int = len(inputs)
    node._n_edges = n
    if n > 0 and isinstance(inputs[0], TensorBase):
        x: TensorBase = inputs[0]
        if x._requires_grad:
            node._next0 = gradient_node(x)
            node._nr0 = x._output_nr
    if n > 1 and isinstance(inputs[1], TensorBase):
        y: TensorBase = inputs[1]
        if y._requires_grad:
            node._next1 = gradient_node(y)
            node._nr1 = y._output_nr
    if n > 2:
        link_more(node, inputs)


def link_more(node: Node, inputs: tuple[Any, ...]) -> None:
    """The edges from the third on."""
    more: list[Any] = []
    nrs: list[int] = []
    some: bool = False
    for i in range(2, len(inputs)):
        z: TensorBase | None = inputs[i] if needs_grad(inputs[i]) else None
        more.append(None if z is None else gradient_node(z))
        nrs.append(0 if z is None else z._output_nr)
        if z is not None and z._output_nr != 0:
            some = True
    set_more(node, more, tuple(nrs) if some else None)


def needs_grad(x: Any) -> bool:
    """Whether an input is a tensor that needs a gradient. Views among the inputs are up to date."""
    if isinstance(x, TensorBase):
        t: TensorBase = x
        return t._requires_grad
    return False


def collect(
    op: Op,
    plan: Plan,
    inputs: tuple[Any, ...],
    arrays: list[Any],
    params: dict[str, Any] | None,
    outputs: tuple[Any, ...],
) -> tuple[Any, ...]:
    """The values that the plan tells the node to keep, in its order."""
    values: list[Any] = []
    for e in plan.saves:
        entry: SaveEntry = e
        kind: int = entry.kind
        where: int = entry.index
        if kind == SAVE_INPUT:
            values.append(save_input(inputs[where], arrays[where], where))
        elif kind == SAVE_OUTPUT:
            values.append(save(outputs[where], outputs[where]._array, OUTPUT, where))
        elif kind == SAVE_SHAPE:
            values.append(shape_of(inputs[where], arrays[where]))
        elif kind == SAVE_PARAM:
            values.append(params[entry.name])  # type: ignore[index]  # without params, no plan saves one
        elif kind == SAVE_VARIADIC:
            values.append(tuple([save_input(inputs[i], arrays[i], i) for i in range(where, len(inputs))]))
        elif kind == SAVE_VARIADIC_SHAPES:
            values.append(tuple([shape_of(inputs[i], arrays[i]) for i in range(where, len(inputs))]))
        elif kind == SAVE_NEEDS:
            values.append(tuple([needs_grad(inputs[i]) for i in range(where, len(inputs))]))
    return tuple(values)


def save_input(x: Any, array: Any, position: int) -> Any:
    """What keeps an input: a SavedTensor for a tensor, the value itself for a constant."""
    if isinstance(x, TensorBase):
        return save(x, array, INPUT, position)
    return array


def shape_of(x: Any, array: Any) -> Any:
    """An input's shape; () for a number."""
    if isinstance(x, TensorBase):
        return meta_of(x).shape
    return array.shape if isinstance(array, np.ndarray) else ()


def tie_view(
    op: Op, params: Any, nr: int, source: TensorBase, view: TensorBase, many: bool, mode: int
) -> None:
    """Makes view share source's version counter and remember how it came from source's base. mode: the flags word."""
    if source._flags & IS_INFERENCE:  # its versions are not counted, so its views need not be known
        view._flags |= IS_INFERENCE
        return
    if mode & INFERENCE:
        view._flags &= ~IS_INFERENCE  # a look at an ordinary tensor's memory, whose version it must count
    counter = counter_of(source)
    info: ViewInfo = ViewInfo.__new__(ViewInfo)
    wk_set_aside(info)
    info.version = counter.value
    info.creation = VIEW_DEFAULT
    if mode & INFERENCE:
        info.creation = VIEW_IN_INFERENCE
    elif mode & NO_GRAD:
        info.creation = VIEW_IN_NO_GRAD
    elif many:
        info.creation = VIEW_OF_MANY
    parent: ViewInfo | None = source._view
    info.before = parent
    info.op = op
    info.params = params
    info.output_nr = nr
    if parent is None:
        info.base = source
    else:
        info.base = parent.base
        if info.creation == VIEW_DEFAULT:
            info.creation = parent.creation
    view._counter = counter
    view._view = info


def call_view(op: Op, x: TensorBase, params: dict[str, Any] | None) -> Any:
    """call, for an operation that makes one view of one tensor: nothing to promote, nothing to silence."""
    if op.is_read:
        return call_read(op, x, params["index"])  # type: ignore[index]
    if x._view is not None:
        refresh_view(x)
    array = x._array
    part = None if op.layout == 0 else wk_make_view(op.layout, array, params)
    if part is None:
        part = op.forward(numpy_backend, array) if params is None else op.forward(numpy_backend, array, **params)
    out: TensorBase = wrap(as_array(part))
    mode = flags()
    tie_view(op, params, 0, x, out, False, mode)
    if x._flags & IS_VOLATILE:
        make_volatile(out)
    elif mode == 0 and x._requires_grad and len(op.rules) != 0 and is_differentiable(out._array):
        record_view(op, x, out, params)
    return out


def record_view(op: Op, x: TensorBase, out: TensorBase, params: dict[str, Any] | None) -> None:
    """record, for one view of one tensor, neither of which is volatile."""
    plan: Plan | None = op.default_plans.get(1) if params is None else op.plans.get(1)
    if plan is None:
        plan = op.plan(1, params is None)
    if len(plan.calls) == 0:
        return
    node_class = op.node_class if op.node_chooser is None else choose_node_class(op, (x,), params)
    node: OpNode = wk_new_instance(OpNode, node_class)
    node._plan = plan
    attach(op, node, x, out)
    if len(plan.saves) != 0:
        values: list[Any] = []
        for e in plan.saves:
            entry: SaveEntry = e
            if entry.kind == SAVE_SHAPE:
                values.append(meta_of(x).shape)
            elif entry.kind == SAVE_PARAM:
                values.append(params[entry.name])  # type: ignore[index]  # without params, no plan saves one
            else:
                values.append(save(x, x._array, INPUT, 0) if entry.kind == SAVE_INPUT else save(out, out._array, OUTPUT, 0))
        node._saved = tuple(values)


def attach(op: Op, node: OpNode, x: TensorBase, out: TensorBase) -> None:
    """Makes the node, of one edge, the one that leads from out, the operation's view, back to x."""
    wk_set_aside(node)
    node._op = op
    node._n_edges = 1
    node._next0 = gradient_node(x)
    node._nr0 = x._output_nr
    node._seq = next_sequence_nr()
    record_position(node, 5)
    meta: TensorMeta | None = op.recent_meta
    if meta is None or not has_meta(out._array, meta.shape, meta.dtype):
        meta = op.recent_meta = make_meta(out._array.shape, out._array.dtype)
    out._meta = meta
    node._meta = meta
    out._grad_fn = node
    out._requires_grad = True


def call_read(op: Op, x: TensorBase, index: Any) -> Any:
    """call_view, for x[index], which programs do element by element. index, the only parameter: an int, or a tuple with an
    Ellipsis.
    """
    mode = flags()
    if mode & OBSERVED:
        return observe(op.name, (x,), call_read, (op, x, index))
    if mode & DUAL:
        return _call_dual(op, (x,), {"index": index})
    if x._view is not None:
        refresh_view(x)
    try:
        part = row_of(x._array, index) if type(index) is int else x._array[index]
    except IndexError:
        part = op.forward(numpy_backend, x._array, index=index)  # raises an error that says more
    out: TensorBase = wrap(as_array(part))
    tie_view(op, index, 0, x, out, False, mode)
    if x._flags & IS_VOLATILE:
        make_volatile(out)
        return out
    if mode != 0 or not x._requires_grad:
        return out
    plan: Plan = op.plans[1] if op.plans else op.plan(1)
    node: OpNode = wk_new_instance(OpNode, op.node_class)
    node._plan = plan
    node._extra = index
    attach(op, node, x, out)
    return out


if not cython.compiled:
    from wengert.core import pure_dispatch

    call1, call2 = pure_dispatch.call1, pure_dispatch.call2
