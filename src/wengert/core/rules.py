"""Running an operation's rules in a backward pass: what they are given, the call, and where each result goes."""

from __future__ import annotations

if False:
    import cython
from typing import Any

from wengert import _shim as cython
from wengert.core.buffers import InputBuffer, cotangent_of
from wengert.core.delivery import deliver_from, deliver_new, deliver_parts, deliver_result
from wengert.core.node import Node, OpNode, Saved, count_outputs, freed_error, locate, meta_at, release_op
from wengert.core.op import REDUCED, Op, Plan, RuleCall
from wengert.core.saved import SavedTensor, unpack_array, unpack_tensor
from wengert.core.task import GraphTask
from wengert.core.untaken import deliver_selected, spread

if not cython.compiled:
    from wengert.core.native import is_complex, is_ndarray, is_spare, wk_apply_rule, wk_init_native, wk_init_numpy, wk_view_back

wk_init_numpy()
wk_init_native()


def run_op(task: GraphTask, node: OpNode, buffer: InputBuffer) -> None:
    """Runs the rules of a registered operation, each for the inputs that need its result, and hands the results on."""
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
    values = plan.constants if len(plan.saves) == 0 else saved_values(task, node)
    real: bool = not task.create_graph and is_ndarray(ct) and not is_complex(ct)
    left = len(plan.calls)
    for c in plan.calls:
        call: RuleCall = c
        left -= 1
        if ct is None:
            result = None
        elif call.passes and real:
            result = ct
        elif call.native >= 0 and real:
            result = wk_apply_rule(call.native, call.operands, ct, values, left == 0 and is_spare(ct))
            if result is not None:
                deliver_new(task, node, call.target, result)
                continue
            result = apply_kernel(node, call, ct, values) if call.kernel is not None else apply_rule(task, node, call, ct, values)
        elif call.kernel is not None and real:
            result = apply_kernel(node, call, ct, values)
        else:
            result = wk_view_back(call.layout, ct, values) if call.layout != 0 and not task.create_graph else None
            if result is None:
                result = apply_rule(task, node, call, ct, values)
        deliver(task, node, call, result, ct, values)
    if not task.keep_graph and len(plan.saves) != 0:
        release_op(node, task.position)


def apply_kernel(node: OpNode, call: RuleCall, ct: Any, values: list[Any]) -> Any:
    """The result of a rule that is one NumPy function."""
    kernel: Any = call.kernel
    left = ct if call.left < 0 else values[call.left]
    try:
        if call.right == -2:
            return kernel(left)
        return kernel(left, ct if call.right < 0 else values[call.right])
    except Exception as error:
        add_source(error, node)
        raise


def apply_rule(task: GraphTask, node: OpNode, call: RuleCall, ct: Any, values: list[Any]) -> Any:
    """The result of any rule."""
    F = task.face
    try:
        if call.n == 0:
            return call.function(F, ct)
        if call.n == 1:
            return call.function(F, ct, values[call.first])
        if call.n == 2:
            return call.function(F, ct, values[call.first], values[call.second])
        return call.function(F, ct, *[values[p] for p in call.positions])
    except Exception as error:
        add_source(error, node)
        raise


def deliver(task: GraphTask, node: OpNode, call: RuleCall, result: Any, ct: Any, values: list[Any]) -> None:
    """Hands on what a rule returned: one result, a tuple for several inputs, a sequence for all from one on."""
    target: int = call.target
    if target < 0 and call.fresh and result is not None:
        for j in range(len(call.targets)):
            deliver_new(task, node, call.targets[j], result[j])
    elif target < 0:
        deliver_parts(task, node, call.targets, result)
    elif target == node._op.variadic:
        deliver_from(task, node, target, result)
    else:
        deliver_result(task, node, target, result, ct, values)


def run_selecting(task: GraphTask, node: OpNode, buffer: InputBuffer) -> None:
    """run_op, where some places of the cotangent are untaken, or the operation makes some so. See Note [Untaken]."""
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
    if not task.keep_graph and len(plan.saves) != 0:
        release_op(node, task.position)


def rule_results(task: GraphTask, node: OpNode, buffer: InputBuffer) -> tuple[list[Any], list[Any] | None]:
    """The results of an operation's rules, one an edge, for a node whose results user code is to see first, and which
    places of each are untaken."""
    ct = buffer.cotangent if node._op.output_names is None else output_cotangents(node, buffer)
    return results_for(task, node, ct, saved_values(task, node), buffer.untaken)


def results_for(
    task: GraphTask, node: OpNode, ct: Any, values: list[Any], untaken: Any
) -> tuple[list[Any], list[Any] | None]:
    """What an operation's rules make of a cotangent, one result an edge, 0 at what is untaken; and the untaken places."""
    op: Op = node._op
    plan: Plan = node._plan
    results: list[Any] = [None] * node._n_edges
    if ct is None:
        return results, None
    places: list[Any] | None = [None] * node._n_edges if plan.selects or untaken is not None else None
    for c in plan.calls:
        call: RuleCall = c
        found = result_of(task, node, call, ct, values)
        edges: Any = call.targets
        if call.target < 0:
            found = [None] * len(edges) if found is None else list(found)
        elif call.target == op.variadic:
            edges = range(call.target, node._n_edges)
            found = [None] * len(edges) if found is None else list(found)
        else:
            found = [found]
        behind = None if places is None else spread(task, node, call, edges, found, ct, values, untaken)
        for j in range(len(edges)):
            results[edges[j]] = found[j]
            if places is not None and behind is not None:
                places[edges[j]] = behind[j]
    return results, places


def result_of(task: GraphTask, node: OpNode, call: RuleCall, ct: Any, values: list[Any]) -> Any:
    """What a rule returns, by its kernel where it has one."""
    if not task.create_graph and is_ndarray(ct) and not is_complex(ct):
        if call.passes:
            return ct
        if call.native >= 0:
            result = wk_apply_rule(call.native, call.operands, ct, values, False)
            if result is not None:
                return result
        if call.kernel is not None:
            return apply_kernel(node, call, ct, values)
    return apply_rule(task, node, call, ct, values)


def saved_values(task: GraphTask, node: OpNode) -> list[Any]:
    """What the node saved, unpacked: arrays, or tensors where the pass records itself; then its plan's constants."""
    if node._op.is_read:
        return [meta_at(node._next0, node._nr0).shape, node._extra]  # type: ignore[arg-type]  # recorded: it leads somewhere
    saved = node._saved
    if len(node._plan.saves) == 0:
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
    if len(node._plan.constants) != 0:
        values.extend(node._plan.constants)
    return values


def unpack_all(task: GraphTask, node: OpNode, saved: tuple[Any, ...]) -> tuple[Any, ...]:
    """A tuple among a node's saved values: of a variadic input, or a parameter, which stays as it is."""
    for value in saved:
        if isinstance(value, Saved):
            return tuple([unpack_one(task, node, v) for v in saved])
    return saved


def unpack_one(task: GraphTask, node: OpNode, value: Any) -> Any:
    """One element of such a tuple."""
    if isinstance(value, SavedTensor):
        return unpack_tensor(value, node) if task.create_graph else unpack_array(value, node)
    return unpack_packed(task, node, value) if isinstance(value, Saved) else value


def unpack_packed(task: GraphTask, node: OpNode, packed: Any) -> Any:
    """A value in the keeping of hooks (saved_hooks.py): the user's code, which runs as such."""
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
    """The cotangents of an operation with several outputs, as a tuple (None: that output has none); None if all are."""
    found = False
    cts = []
    for nr in range(count_outputs(node)):
        ct = cotangent_of(buffer, nr)
        found = found or ct is not None
        cts.append(ct)
    return tuple(cts) if found else None


def spread_back(ct: Any, shape: tuple[int, ...], dim: Any, keepdim: bool) -> Any:
    """The cotangent of something of this shape from that of its sum over dim, as a view; None where that cannot be made."""
    return wk_view_back(REDUCED, ct, [shape, dim, keepdim])


def add_source(error: BaseException, node: Node) -> None:
    """Tells, under an error of a backward pass, which forward line recorded the node."""
    where = locate(node._code, node._lasti)
    if where is not None and not getattr(error, "__notes__", None):
        error.add_note(f"in the backward pass of {node.name()}, recorded at {where}")
