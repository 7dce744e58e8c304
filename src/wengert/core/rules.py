"""Running an operation's rules in a backward pass: what they are given, the call, and where each result goes."""

from __future__ import annotations

if False:
    import cython
from typing import Any

from wengert import _shim as cython
from wengert.backends.selection import backend_among, backend_of, others
from wengert.core.buffers import InputBuffer, cotangent_of
from wengert.core.delivery import deliver_from, deliver_new, deliver_parts, deliver_result
from wengert.core.forward import device_kernels
from wengert.core.node import Node, OpNode, Saved, count_outputs, edge_at, freed_error, locate, meta_at, release_op
from wengert.core.op import REDUCED, Op, Plan, RuleCall
from wengert.core.saved import SavedTensor, attach, unpack_array, unpack_tensor
from wengert.core.task import GraphTask
from wengert.core.untaken import deliver_selected, places_behind

if not cython.compiled:
    from wengert.core.native import is_ndarray, is_real, is_spare, wk_apply_rule, wk_init_native, wk_init_numpy, wk_view_back

wk_init_numpy()
wk_init_native()


def run_op(task: GraphTask, node: OpNode, buffer: InputBuffer) -> None:
    """Run the rules of a registered operation for the inputs that need a cotangent, and hand the results on."""
    op: Op = node._op
    plan: Plan = node._plan
    if plan.selects or buffer.untaken is not None:
        run_selecting(task, node, buffer)
        return
    ct = buffer.cotangent if op.output_names is None else output_cotangents(node, buffer)
    buffer.cotangent = None
    if op.is_read and is_ndarray(ct) and node._next0 is not None and not task.create_graph:
        task.add_read(node._next0, node._nr0, ct, node._extra)
        task.arrive(node._next0, 0, None, False)
        return
    values = plan.constants if not plan.saves else saved_values(task, node)
    real: bool = not task.create_graph and is_real(ct)
    left = len(plan.calls)
    for c in plan.calls:
        call: RuleCall = c
        left -= 1
        if call.native >= 0 and real:
            result = wk_apply_rule(call.native, call.operands, ct, values, left == 0 and is_spare(ct))
            if result is not None:
                deliver_new(task, node, call.target, result)
                continue
        result = ct if ct is None or (call.passes and real) else apply_rule(task, node, call, ct, values, real)
        if call.target < 0 or call.target == op.variadic:
            deliver_several(task, node, call, result)
        elif call.kernel is not None and real:
            deliver_new(task, node, call.target, result)
        else:
            deliver_result(task, node, call.target, result, ct, values)
    if not task.keep_graph and plan.saves:
        release_op(node, task.position)


def apply_rule(task: GraphTask, node: OpNode, call: RuleCall, ct: Any, values: list[Any], real: bool) -> Any:
    """Return what a rule makes of a cotangent: the cotangent itself, one NumPy function of it, a view, or what the rule returns.

    Every rule of an engine's pass that no compiled kernel takes runs here.
    real: the pass is on arrays, and the cotangent is a real NumPy array.
    """
    n = call.n
    try:
        if real:
            if call.passes:
                return ct
            if call.kernel is not None:
                kernel: Any = call.kernel
                first = ct if call.left < 0 else values[call.left]
                if call.right == -2:
                    return kernel(first)
                return kernel(first, ct if call.right < 0 else values[call.right])
        if task.create_graph:
            if call.flat is not False:
                return keep_in_graph(task, node, call, call.function(task.face, ct, *[values[p] for p in call.positions]))
        elif call.layout != 0:
            view = wk_view_back(call.layout, ct, values)
            if view is not None:
                return view
        if others and not is_ndarray(ct) and not task.create_graph:
            return apply_on_device(task, node, call, ct, values)
        if n == 0:
            return call.function(task.face, ct)
        if n == 1:
            return call.function(task.face, ct, values[call.first])
        if n == 2:
            return call.function(task.face, ct, values[call.first], values[call.second])
        return call.function(task.face, ct, *[values[p] for p in call.positions])
    except Exception as error:
        add_source(error, node)
        raise


def apply_kernel(call: RuleCall, ct: Any, values: list[Any]) -> Any:
    """Return what the kernel of a rule gives for arrays, as an engine's pass would have it, or None if it has none."""
    return wk_apply_rule(call.native, call.operands, ct, values, False) if call.native >= 0 and is_real(ct) else None


def apply_on_device(task: GraphTask, node: OpNode, call: RuleCall, ct: Any, values: list[Any]) -> Any:
    """Return what a rule makes of a cotangent that may not be NumPy's, on the face and the device of the cotangent."""
    first = next((part for part in ct if part is not None), None) if isinstance(ct, tuple) else ct
    backend = backend_of(first)
    arguments = [values[p] for p in call.positions]
    if backend is backend_among(()):
        return call.function(task.face, ct, *arguments)
    with backend.current(backend.device_of(first)):
        edge = None if call.target < 0 or ct is not first else edge_at(node, call.target)
        if edge is not None:
            shape = meta_at(edge.node, edge.input_nr).shape
            found = device_kernels().run_rule(backend, node._op, call.target, ct, arguments, shape)
            if found is not None:
                return found
        return device_kernels().run_rule_deferred(backend, node._op, call.function, ct, arguments)


# Note [Flat rules]
# The cotangent of relu's input does not change with the input, but for the kinks. torch computes such a cotangent by a function
# of ct and the input, which is recorded: its graph leads to the input, with the cotangent 0. So a gradient penalty on a ReLU
# network has gradients of 0, not None, for parameters that it does not depend on, and the gradient of a gradient that depends
# on nothing is 0, not an error. A rule declared as flat does the same. The zeros are untaken (see Note [Untaken]), so that they
# make no NaN. Rules of operations that torch differentiates without the input, as those of clamp and max, are not flat.


def keep_in_graph(task: GraphTask, node: OpNode, call: RuleCall, result: Any) -> Any:
    """Return the result of a flat rule, with a graph that leads to the rule's target too. See Note [Flat rules]."""
    edge = edge_at(node, call.target)
    if edge is None or result is None:
        return result
    meta = meta_at(edge.node, edge.input_nr)
    xp = backend_of(result._array)
    place = attach(xp.broadcast_to(xp.zeros((), meta.dtype), meta.shape), None, edge.node, edge.input_nr)
    name = node.name().replace("Backward0", "BackwardBackward0") if call.flat is True else call.flat
    return task.face._flat_in(result, place, node=name)


def deliver_several(task: GraphTask, node: OpNode, call: RuleCall, results: Any) -> None:
    """Hand on what a rule returned for several inputs: a tuple, or a sequence for the variadic inputs."""
    if call.target >= 0:
        deliver_from(task, node, call.target, results)
    elif call.fresh and results is not None:
        for j in range(len(call.targets)):
            deliver_new(task, node, call.targets[j], results[j])
    else:
        deliver_parts(task, node, call.targets, results)


def run_selecting(task: GraphTask, node: OpNode, buffer: InputBuffer) -> None:
    """Do what run_op does, if places of the cotangent are untaken or the operation selects. See Note [Untaken]."""
    plan: Plan = node._plan
    task.settle(node, buffer)
    ct = buffer.cotangent if node._op.output_names is None else output_cotangents(node, buffer)
    values = saved_values(task, node)
    results, places = results_for(task, node, ct, values, buffer.untaken)
    buffer.cotangent = buffer.untaken = None
    given: Any = values
    for c in plan.calls:
        call: RuleCall = c
        if call.target < 0 or call.target == node._op.variadic:
            given = None  # results that may be one array, or look into each other, are nobody's
    for i in range(node._n_edges):
        deliver_selected(task, node, i, results[i], ct, given, None if places is None else places[i])
    if not task.keep_graph and plan.saves:
        release_op(node, task.position)


def rule_results(task: GraphTask, node: OpNode, buffer: InputBuffer) -> tuple[list[Any], list[Any] | None]:
    """The results of an operation's rules, one an edge, for a node whose results user code is to see first, and which
    places of each are untaken."""
    ct = buffer.cotangent if node._op.output_names is None else output_cotangents(node, buffer)
    return results_for(task, node, ct, saved_values(task, node), buffer.untaken)


def results_for(
    task: GraphTask, node: OpNode, ct: Any, values: list[Any], untaken: Any
) -> tuple[list[Any], list[Any] | None]:
    """Run an operation's rules. Return one result an edge, which is 0 at untaken places, and the untaken places."""
    op: Op = node._op
    plan: Plan = node._plan
    results: list[Any] = [None] * node._n_edges
    if ct is None:
        return results, None
    places: list[Any] | None = [None] * node._n_edges if plan.selects or untaken is not None else None
    real: bool = not task.create_graph and is_real(ct)
    for c in plan.calls:
        call: RuleCall = c
        found = wk_apply_rule(call.native, call.operands, ct, values, False) if call.native >= 0 and real else None
        if found is None:
            found = apply_rule(task, node, call, ct, values, real)
        edges: Any = call.targets
        if call.target < 0:
            found = [None] * len(edges) if found is None else list(found)
        elif call.target == op.variadic:
            edges = range(call.target, node._n_edges)
            found = [None] * len(edges) if found is None else list(found)
        else:
            found = [found]
        behind = None if places is None else places_behind(task, node, call, edges, found, ct, values, untaken)
        for j in range(len(edges)):
            results[edges[j]] = found[j]
            if places is not None and behind is not None:
                places[edges[j]] = behind[j]
    return results, places


def saved_values(task: GraphTask, node: OpNode) -> list[Any]:
    """Return the node's saved values, then its plan's constants.

    A saved tensor is an array here, or a tensor if the pass records itself.
    """
    if node._op.is_read:
        return [meta_at(node._next0, node._nr0).shape, node._extra]  # type: ignore[arg-type]  # recorded: it leads somewhere
    saved = node._saved
    if not node._plan.saves:
        return node._plan.constants
    if saved is None:
        raise freed_error(node)
    values: list[Any] = []
    for value in saved:
        if isinstance(value, SavedTensor):
            s: SavedTensor = value
            if task.create_graph:
                values.append(unpack_tensor(s, node))
            elif s._counter is None or s._counter.value == s._version:
                values.append(s._data)
            else:
                values.append(unpack_array(s, node))
        elif isinstance(value, tuple):
            values.append(unpack_all(task, node, value))
        elif isinstance(value, Saved):
            values.append(unpack_packed(task, node, value))
        else:
            values.append(value)
    if node._plan.constants:
        values.extend(node._plan.constants)
    return values


def unpack_all(task: GraphTask, node: OpNode, saved: tuple[Any, ...]) -> tuple[Any, ...]:
    """Unpack a tuple among a node's saved values: the variadic inputs, or a parameter, which stays as it is."""
    for value in saved:
        if isinstance(value, Saved):
            return tuple([unpack_one(task, node, v) for v in saved])
    return saved


def unpack_one(task: GraphTask, node: OpNode, value: Any) -> Any:
    """Unpack one element of such a tuple."""
    if isinstance(value, SavedTensor):
        return unpack_tensor(value, node) if task.create_graph else unpack_array(value, node)
    return unpack_packed(task, node, value) if isinstance(value, Saved) else value


def unpack_packed(task: GraphTask, node: OpNode, packed: Any) -> Any:
    """Unpack a value that hooks keep (saved_hooks.py). This runs user code."""
    task.end_quiet()
    try:
        return packed.tensor(node) if task.create_graph else packed.array(node)
    except Exception as error:
        add_source(error, node)
        raise
    finally:
        if not task.create_graph:
            task.begin_quiet()


def output_cotangents(node: OpNode, buffer: InputBuffer) -> Any:
    """Return the cotangents of all outputs, a tuple with None for an output without one, or None if no output has one."""
    found = False
    cts = []
    for nr in range(count_outputs(node)):
        ct = cotangent_of(buffer, nr)
        found = found or ct is not None
        cts.append(ct)
    return tuple(cts) if found else None


def expand_reduced(ct: Any, shape: tuple[int, ...], dim: Any, keepdim: bool) -> Any:
    """Return the cotangent of an array of this shape, given that of its sum over dim, as a view, or None if no view can be made."""
    return wk_view_back(REDUCED, ct, [shape, dim, keepdim])


def add_source(error: BaseException, node: Node) -> None:
    """Tell, under an error of a backward pass, which forward line recorded the node."""
    where = locate(node._code, node._lasti)
    if where is not None and not getattr(error, "__notes__", None):
        error.add_note(f"in the backward pass of {node.name()}, recorded at {where}")
