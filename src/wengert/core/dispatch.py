"""call(op, inputs, params): unwrap the tensors, promote, run the forward, wrap the result, record the node.

Three functions do the same without tuples of inputs: call1 and call2 for one and two inputs with default parameters, and
call_view for one view of one tensor. A forward runs in its compiled kernel, or on NumPy if it has none or the kernel does not
take the operands. record_node makes the nodes of all of them, and make_view the views.
"""

from __future__ import annotations

if False:
    import cython
from collections.abc import Callable
from typing import Any

from wengert import _shim as cython
from wengert.backends.selection import backend_of, device_name, gather, is_array, others
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
from wengert.core.mirrors import adopt, reflect
from wengert.core.modes import AUTOCAST, BLOCK, DUAL, INFERENCE, NO_GRAD, OBSERVED, current_task, flags, state
from wengert.core.node import OpNode, TensorMeta, make_meta, next_sequence_nr, note_cut, record_position, set_metas, set_more
from wengert.core.op import (
    SAVE_INPUT,
    SAVE_NEEDS,
    SAVE_OUTPUT,
    SAVE_PARAM,
    SAVE_SHAPE,
    SAVE_VARIADIC,
    Op,
    Plan,
    SaveEntry,
)
from wengert.core.override import NOT_OVERRIDDEN, has_override, override_foreign
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
    refresh_history,
    refresh_view,
    wrap,
)
from wengert.core.trace import Traced
from wengert.dtypes import NONE

if not cython.compiled:
    from wengert.core.collector import spared_lists
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
        WK_NODE,
        WK_VIEW,
        wk_share_spared,
        wk_spare,
    )

wk_init_numpy()
wk_share_spared(spared_lists())
wk_init_native()

# How a view was made (ViewInfo.creation). This decides whether a recorded write into the view is allowed.
VIEW_DEFAULT = 0
VIEW_IN_NO_GRAD = 1
VIEW_OF_MANY = 2  # one of several outputs: unbind, split
VIEW_IN_INFERENCE = 3
VIEW_IN_FUNCTION = 4  # returned by a custom Function, whose backward a write would bypass

UNUSUAL = AUTOCAST | OBSERVED | DUAL  # something else than this module runs the operation, or what is around it

if not cython.compiled:
    _observe: Any = None
    _call_dual: Callable[[Op, tuple[Any, ...], dict[str, Any] | None], Any]


_share_metas = True  # nodes of one shape and dtype share their TensorMeta


def set_meta_sharing(shared: bool) -> None:
    """Let each node have a TensorMeta of its own, or share them. See Note [Streams of nodes] in streams.py."""
    global _share_metas
    _share_metas = shared


def set_dual_call(function: Callable[[Op, tuple[Any, ...], dict[str, Any] | None], Any]) -> None:
    """Install the function that runs an operation while a dual level is open."""
    global _call_dual
    _call_dual = function


def set_observer(function: Any) -> None:
    """Install the function that observe calls."""
    global _observe
    _observe = function


def observe(name: str, inputs: tuple[Any, ...], function: Any, arguments: tuple[Any, ...]) -> Any:
    """Return function(*arguments), measured or checked. It runs the operation `name` on inputs. Called if flags say OBSERVED."""
    return _observe(name, inputs, function, arguments)


def call_unusual(
    mode: int, op: Op, inputs: tuple[Any, ...], params: dict[str, Any] | None, function: Any, arguments: tuple[Any, ...]
) -> Any:
    """Run an operation, given a flags word with a bit of UNUSUAL. function(*arguments) is the call that met the word.

    Autocast comes first, so that what observes operations sees its casts, and the operation with inputs that are cast."""
    if mode & AUTOCAST:
        return state.autocast.call(op, inputs, params)
    if mode & OBSERVED:
        return observe(op.name, inputs, function, arguments)
    return _call_dual(op, inputs, params)


def call1(op: Op, x: Any) -> Any:
    """Run an operation of one input with its default parameters."""
    mode = flags()
    if mode & UNUSUAL:
        return call_unusual(mode, op, (x,), None, call1, (op, x))
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
        if has_override(x):
            found = override_foreign(op.function, (x,), {})  # type: ignore[attr-defined]
            if found is not NOT_OVERRIDDEN:
                return found
        array = constant(op, x, 0)
    if op.promote != NONE and not is_inexact(array):
        array = promote(op, [array])[0]
    if op.kernel is None:
        set_kernel(op)
    out = None
    if op.native >= 0 and not op.native_params:
        out = run_whole(op, array, None) if wk_is_whole(op.native) else wk_apply1(op.native, array)
    direct: bool = op.is_direct_native
    if out is None:
        out = run_numpy1(op, array)
        direct = op.is_direct
    if needs != 0 and (mode != 0 or not op.rules):
        if mode >> BLOCK != 0 or mode == 0:
            note_unrecorded(op, mode, x)
        needs = 0
    if not direct:
        return finish(op, needs, (x,), [array], None, out)
    result: TensorBase = wrap(as_array(out))
    if t is not None and t._flags & IS_VOLATILE:
        make_volatile(result)
    elif needs != 0:
        record_node(op, needs, t, None, array, None, None, result, None, None, None)
    return result


def note_unrecorded(op: Op, mode: int, x: Any) -> None:
    """Note for explain() that an operation on x was not recorded, if x requires grad.

    The reason is a block of the user, or, if mode is 0, that the operation has no derivative, as comparisons have none.
    """
    if isinstance(x, TensorBase):
        t: TensorBase = x
        if t._requires_grad:
            if mode == 0:
                if current_task() is None:  # what rules do in a pass that records itself is no cut
                    note_cut(op.name + "(), which has no derivative,", t)
            elif t._grad_fn is None:  # most often a parameter, used again and again: a note on the tensor costs nothing
                t._flags = t._flags & (1 << UNRECORDED_IN) - 1 | mode >> (BLOCK - UNRECORDED_IN) & -(1 << UNRECORDED_IN)
            else:
                note_cut(op.name, t)


def call2(op: Op, x: Any, y: Any) -> Any:
    """Run an operation of two inputs with its default parameters."""
    needs: int = 0
    weak: bool = False
    t: TensorBase | None = None
    u: TensorBase | None = None
    mode = flags()
    if mode & UNUSUAL:
        return call_unusual(mode, op, (x, y), None, call2, (op, x, y))
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
        if has_override(x):
            found = override_foreign(op.function, (x, y), {})  # type: ignore[attr-defined]
            if found is not NOT_OVERRIDDEN:
                return found
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
        if has_override(y):
            found = override_foreign(op.function, (x, y), {})  # type: ignore[attr-defined]
            if found is not NOT_OVERRIDDEN:
                return found
        b = constant(op, y, 1)
        weak = not is_ndarray(b) and not weak and is_inexact(a) and (type(b) is float or type(b) is int)
    if needs != 0 and not (is_ndarray(a) and is_ndarray(b)) and others and are_mixed((x, y)):
        return call(op, aligned((x, y)), None)
    if not weak and op.promote != NONE and not same_inexact(a, b):
        a, b = promote(op, [a, b])
    out = None
    if op.native >= 0 and not op.native_params:
        out = run_whole(op, a, b) if wk_is_whole(op.native) else wk_apply2(op.native, a, b)
    direct: bool = op.is_direct_native
    if out is None:
        out = run_numpy2(op, a, b)
        direct = op.is_direct
    if needs != 0 and (mode != 0 or not op.rules):
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
        record_node(op, needs, t, u, a, b, None, result, None, None, None)
    return result


def record_node(
    op: Op,
    needs: int,
    x: TensorBase | None,
    y: TensorBase | None,
    a: Any,
    b: Any,
    params: Any,
    out: TensorBase,
    inputs: Any,
    arrays: Any,
    outputs: tuple[Any, ...] | None,
) -> None:
    """Make the node of an operation, link it to the inputs, and attach it to the differentiable outputs.

    Every node of a registered operation is made here. Nothing is recorded if no rule serves the inputs in `needs`.
    x, y: the first two inputs, None if they are no tensors. a, b: their promoted arrays or numbers. out: the first output.
    params: complete, None for the defaults, or the index of a read.
    inputs, arrays, outputs: all of them; None if there are at most two inputs, or one output.
    """
    plan: Plan | None = op.default_plans.get(needs) if params is None else op.plans.get(needs)
    if plan is None:
        plan = op.plan(needs, params is None)
    if not plan.calls:
        return
    node_class: Any = op.node_class if op.node_chooser is None else choose_node_class(op, inputs, a, b, params, out)
    node: OpNode
    if cython.compiled:
        node = wk_new_instance(OpNode, node_class)
        wk_spare(node, cython.address(node._link), WK_NODE)
    else:
        node = node_class.__new__(node_class)
    node._op = op
    node._plan = plan
    node._n_edges = len(op.input_names) if inputs is None else len(inputs)
    # An edge that no rule serves would keep the node at its end waiting for ever.
    if x is not None and x._requires_grad and plan.covered & 1:
        node._next0 = x._grad_fn if x._grad_fn is not None and x._view is None else gradient_node(x)
        node._nr0 = x._output_nr
    if y is not None and y._requires_grad and plan.covered & (1 if op.variadic == 0 else 2):
        node._next1 = y._grad_fn if y._grad_fn is not None and y._view is None else gradient_node(y)
        node._nr1 = y._output_nr
    if inputs is not None and len(inputs) > 2:
        link_more(node, op, plan, inputs)
    node._seq = next_sequence_nr()
    record_position(node, 5 if inputs is None else 4)
    template: TensorBase | None = None if op.is_view else y if x is None else x  # a view has mostly a shape of its own
    if outputs is None:
        node._meta = share_meta(op, template, out)
        out._grad_fn = node
        out._requires_grad = True
    elif not attach_outputs(op, node, template, outputs):
        return
    if op.is_read:
        node._extra = params
    elif plan.saves:
        node._saved = collect(plan, x, y, a, b, params, out, inputs, arrays, outputs)


def choose_node_class(op: Op, inputs: Any, a: Any, b: Any, params: Any, out: TensorBase) -> Any:
    """Return the class of a node whose name depends on the call.

    inputs: None for a function of whole arrays with default parameters, whose name follows the dimensions of its result.
    """
    if inputs is None:
        ndim = out._array.ndim
        found = op.direct_classes.get(ndim)
        if found is None:
            found = op.direct_classes[ndim] = op.node_chooser((a, b), None)
        return found
    if not op.node_is_param:
        return op.node_chooser(inputs, params)
    name = params["node"]
    node_class = op.node_classes.get(name)
    if node_class is None:
        node_class = op.node_classes[name] = op.node_chooser(inputs, params)
    return node_class


def share_meta(op: Op, template: TensorBase | None, out: TensorBase) -> TensorMeta:
    """Give an output its TensorMeta and return it: the template's or the operation's last one, if it fits, else a new one."""
    meta: TensorMeta | None = None if template is None or not _share_metas else template._meta
    if meta is None or not has_meta(out._array, meta.shape, meta.dtype) or meta.place != "cpu":  # has_meta: the output is NumPy's
        meta = op.recent_meta
        if meta is None or not _share_metas or not has_meta(out._array, meta.shape, meta.dtype):
            meta = make_meta(out._array, out._array.dtype)
            if meta.place == "cpu":
                op.recent_meta = meta
    out._meta = meta
    return meta


def attach_outputs(op: Op, node: OpNode, template: TensorBase | None, outputs: tuple[Any, ...]) -> bool:
    """Attach the node to those of several outputs that are differentiable. False if none is."""
    metas: list[Any] = []
    attached: bool = False
    for nr, o in enumerate(outputs):
        out: TensorBase = o
        metas.append(share_meta(op, template, out))
        if is_differentiable(out._array):
            out._grad_fn = node
            out._output_nr = nr
            out._requires_grad = True
            attached = True
    if attached:
        set_metas(node, tuple(metas))
    return attached


def link_more(node: OpNode, op: Op, plan: Plan, inputs: tuple[Any, ...]) -> None:
    """Give the node its edges from the third input on. An edge leads nowhere if its input needs no gradient."""
    more: list[Any] = []
    nrs: list[int] = []
    some: bool = False
    for i in range(2, len(inputs)):
        position = op.variadic if 0 <= op.variadic <= i else i
        z: TensorBase | None = inputs[i] if needs_grad(inputs[i]) and plan.covered >> position & 1 else None
        more.append(None if z is None else gradient_node(z))
        nrs.append(0 if z is None else z._output_nr)
        if z is not None and z._output_nr != 0:
            some = True
    set_more(node, more, tuple(nrs) if some else None)


def needs_grad(x: Any) -> bool:
    """Whether an input is a tensor that needs a gradient. If it is a view, it is up to date."""
    if isinstance(x, TensorBase):
        t: TensorBase = x
        return t._requires_grad
    return False


def collect(
    plan: Plan,
    x: TensorBase | None,
    y: TensorBase | None,
    a: Any,
    b: Any,
    params: Any,
    out: TensorBase,
    inputs: Any,
    arrays: Any,
    outputs: tuple[Any, ...] | None,
) -> tuple[Any, ...]:
    """Return the values that the plan tells a node to save, in the plan's order. The arguments are record_node's."""
    values: list[Any] = []
    for e in plan.saves:
        entry: SaveEntry = e
        kind: int = entry.kind
        where: int = entry.index
        if kind == SAVE_INPUT or kind == SAVE_SHAPE:
            if where == 0:
                values.append(save_constant(a, kind) if x is None else save_tensor(x, a, 0, kind))
            elif where == 1:
                values.append(save_constant(b, kind) if y is None else save_tensor(y, b, 1, kind))
            else:
                values.append(save_input(inputs[where], arrays[where], where, kind))
        elif kind == SAVE_OUTPUT:
            o: TensorBase = out if outputs is None else outputs[where]
            values.append(save(o, o._array, OUTPUT, where))
        elif kind == SAVE_PARAM:
            values.append(params[entry.name])  # without params, no plan saves one
        elif kind == SAVE_NEEDS:
            values.append(tuple([needs_grad(z) for z in inputs[where:]]))
        else:
            each = SAVE_INPUT if kind == SAVE_VARIADIC else SAVE_SHAPE  # SAVE_VARIADIC_SHAPES
            values.append(tuple([save_input(inputs[i], arrays[i], i, each) for i in range(where, len(inputs))]))
    return tuple(values)


def save_input(x: Any, array: Any, position: int, kind: int) -> Any:
    """Return what a node saves of an input: its shape if kind is SAVE_SHAPE, else what it is rebuilt from."""
    return save_tensor(x, array, position, kind) if isinstance(x, TensorBase) else save_constant(array, kind)


def save_tensor(x: TensorBase, array: Any, position: int, kind: int) -> Any:
    """Return what a node saves of a tensor: its shape, or a SavedTensor of its array."""
    if kind == SAVE_INPUT:
        return save(x, array, INPUT, position)
    return x._meta.shape if x._meta is not None else meta_of(x).shape


def save_constant(array: Any, kind: int) -> Any:
    """Return what a node saves of an input that is no tensor: its shape, () for a number, or the value itself."""
    if kind == SAVE_INPUT:
        return array
    return array.shape if is_array(array) else ()


def call(op: Op, inputs: tuple[Any, ...], params: dict[str, Any] | None) -> Any:
    """Run an operation on any inputs: tensors, arrays, Python numbers or None. params: complete, or None."""
    mode = flags()
    if mode & UNUSUAL:
        return call_unusual(mode, op, inputs, params, call, (op, inputs, params))
    if op.is_view and op.output_names is None and isinstance(inputs[0], TensorBase):
        return call_view(op, inputs[0], params["index"] if op.is_read else params)  # type: ignore[index]
    for x in inputs:
        if isinstance(x, Traced):
            return x.record_call(op, inputs, params)
    if others and are_mixed(inputs):
        inputs = aligned(inputs)
    arrays, needs = unwrap(op, inputs)
    if op.kernel is None:
        set_kernel(op)
    out = run_compiled(op, arrays, params) if op.native >= 0 else None
    if out is None:
        out = run_numpy(op, arrays, params)
    if needs != 0 and (mode != 0 or not op.rules):
        if mode >> BLOCK != 0 or mode == 0:
            for x in inputs:
                note_unrecorded(op, mode, x)
        needs = 0
    return finish(op, needs, inputs, arrays, params, out)


def are_mixed(inputs: tuple[Any, ...]) -> bool:
    """Whether a tensor on a device meets a 0-d tensor in main memory. The latter may join any device."""
    host = device = False
    for x in inputs:
        if isinstance(x, TensorBase):
            if is_ndarray(x._array):
                host = host or x._array.ndim == 0
            else:
                device = True
    return host and device


def aligned(inputs: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the inputs with copies of 0-d tensors in main memory on the device of the others. The copies are recorded."""
    where = next(device_name(x._array) for x in inputs if isinstance(x, TensorBase) and not is_ndarray(x._array))
    return tuple([move_tensor(x, where) if isinstance(x, TensorBase) and x._array.ndim == 0 else x for x in inputs])


def aligned_to_target(inputs: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the inputs of a write in place with copies of 0-d tensors in main memory on the device of the first one.

    Raises RuntimeError if the first one itself is that 0-d tensor."""
    if are_mixed(inputs):
        if is_ndarray(inputs[0]._array):
            gather([inputs[0]._array[None], *[x._array for x in inputs[1:] if isinstance(x, TensorBase)]])
        return aligned(inputs)
    return inputs


def move_tensor(x: Any, where: str) -> Any:
    """Return a tensor on a device. A TensorBase is a Tensor, which has to()."""
    return x.to(where)


def unwrap(op: Op, inputs: tuple[Any, ...]) -> tuple[list[Any], int]:
    """Return the inputs' arrays, promoted as the operation asks, and the inputs that need a gradient, as bits."""
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
    """Wrap the forward's result, tie views to their base, and record the node if `needs` is not empty."""
    outputs: tuple[Any, ...]
    if op.is_view and isinstance(inputs[0], TensorBase):
        given: Any = params["index"] if op.is_read else params  # type: ignore[index]  # a read has its index
        parts = (out,) if op.output_names is None else out
        outputs = tuple([make_view(op, given, nr, inputs[0], part, flags()) for nr, part in enumerate(parts)])
    elif op.output_names is None:
        outputs = (wrap(as_array(out)),)
    else:
        outputs = tuple([wrap(as_array(part)) for part in out])
    if needs != 0:
        record(op, needs, inputs, arrays, params, outputs)
    else:
        propagate_volatile(inputs, outputs)
    return outputs[0] if op.output_names is None else outputs


def propagate_volatile(inputs: tuple[Any, ...], outputs: tuple[Any, ...]) -> bool:
    """Make the outputs volatile if an input is; says whether one is."""
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
    """Record a call, given all inputs and outputs. If an input is volatile, make the outputs volatile instead."""
    if propagate_volatile(inputs, outputs) or len(outputs) == 0:
        return
    x: TensorBase | None = inputs[0] if isinstance(inputs[0], TensorBase) else None
    y: TensorBase | None = inputs[1] if len(inputs) > 1 and isinstance(inputs[1], TensorBase) else None
    given: Any = params["index"] if op.is_read else params  # type: ignore[index]  # a read has its index
    first: TensorBase = outputs[0]
    several: tuple[Any, ...] | None = outputs
    if op.output_names is None:
        if not is_differentiable(first._array):
            return
        several = None
    b = arrays[1] if len(arrays) > 1 else None
    record_node(op, needs, x, y, arrays[0], b, given, first, inputs, arrays, several)


def make_view(op: Op, params: Any, nr: int, source: TensorBase, array: Any, mode: int) -> TensorBase:
    """Return the view of `source` that an operation has made: output `nr`, over `array`, which shares source's memory.

    The view shares source's version counter, and its ViewInfo leads back to source's base.
    params: those of the operation, the index for a read. mode: the flags word.
    """
    reflected: Any = None
    if op.reflection & 3 != 0 or (source._view is not None and source._view.physical is not None):
        reflected = reflect(op, params, nr, source)
        array = reflected[0]
        if reflected[1] is None:
            reflected = None
    view: TensorBase = wrap(as_array(array))
    if source._flags & IS_INFERENCE and reflected is None:  # its versions are not counted, so its views need not be known
        view._flags |= IS_INFERENCE
        return view
    if mode & INFERENCE and not source._flags & IS_INFERENCE:
        view._flags &= ~IS_INFERENCE  # a look at an ordinary tensor's memory, whose version it must count
    counter = counter_of(source)
    info: ViewInfo = ViewInfo.__new__(ViewInfo)
    if cython.compiled:
        wk_spare(info, cython.address(info._link), WK_VIEW)
    info.version = counter.value
    info.creation = VIEW_DEFAULT
    if mode & INFERENCE:
        info.creation = VIEW_IN_INFERENCE
    elif mode & NO_GRAD:
        info.creation = VIEW_IN_NO_GRAD
    elif op.output_names is not None:
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
    if reflected is not None:
        adopt(view, info, reflected[1], reflected[2])
    elif not cython.compiled:
        info.physical, info.relation = None, 0
    return view


def call_view(op: Op, x: TensorBase, params: Any) -> Any:
    """Run an operation that makes one view of one tensor: nothing to promote, nothing to silence.

    params: complete, None for the defaults, or the index of a read: an int, or a tuple with an Ellipsis.
    """
    if x._view is not None:
        refresh_history(x)
    array = x._array
    if x._view is not None and x._view.physical is not None:
        part = None  # make_view applies the operation to the memory of the base
    elif op.is_read:
        try:
            part = row_of(array, params) if type(params) is int else array[params]
        except (IndexError, OverflowError):
            part = op.forward(backend_of(array), array, index=params)  # raises an error that says more
    else:
        part = None if op.layout == 0 else wk_make_view(op.layout, array, params)
        if part is None:
            xp = backend_of(array)
            part = op.forward(xp, array) if params is None else op.forward(xp, array, **params)
    mode = flags()
    out: TensorBase = make_view(op, params, 0, x, part, mode)
    if x._flags & IS_VOLATILE:
        make_volatile(out)
    elif mode == 0 and x._requires_grad and op.rules and is_differentiable(out._array):
        record_node(op, 1, x, None, array, None, params, out, None if op.node_chooser is None else (x,), None, None)
    return out


def call_read(op: Op, x: TensorBase, index: Any) -> Any:
    """Return x[index]: call(op, (x,), {"index": index}), without the tuple and the dict."""
    mode = flags()
    if mode & UNUSUAL:
        return call_unusual(mode, op, (x,), {"index": index}, call_read, (op, x, index))
    return call_view(op, x, index)
