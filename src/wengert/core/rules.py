"""Running an operation's rules in a backward pass: what they are given, the call, and where each result goes."""

from __future__ import annotations

if False:
    import cython
from typing import Any

from wengert import _shim as cython
from wengert import errors
from wengert.core.buffers import InputBuffer, cotangent_of
from wengert.core.delivery import deliver_parts, deliver_result
from wengert.core.node import Node, OpNode, count_outputs, locate, release_op
from wengert.core.op import Op, Plan, RuleCall
from wengert.core.saved import SavedTensor, unpack_array, unpack_tensor
from wengert.core.task import GraphTask

if not cython.compiled:
    from wengert.core.native import is_complex, is_ndarray, wk_init_numpy

wk_init_numpy()

NOTHING: list[Any] = []  # the saved values of a node that saves none


def run_op(task: GraphTask, node: OpNode, buffer: InputBuffer) -> None:
    """Runs the rules of a registered operation, each for the inputs that need its result, and hands the results on."""
    op: Op = node._op
    ct = buffer.cotangent if op.output_names is None else output_cotangents(node, buffer)
    buffer.cotangent = None
    values = NOTHING if node._saved is None and len(node._plan.saves) == 0 else saved_values(task, node)
    edges = node._edges
    F = task.face
    real: bool = not task.create_graph and is_ndarray(ct) and not is_complex(ct)
    for c in node._plan.calls:
        call: RuleCall = c
        result = None
        if ct is not None:
            try:
                if op.is_read and real:
                    e: Any = edges[0]
                    task.add_read(e, ct, values[call.second])
                    task.arrive(e, None, False)
                    continue
                if call.passes and real:
                    result = ct
                elif call.kernel is not None and real:
                    left = ct if call.left < 0 else values[call.left]
                    right = ct if call.right < 0 else values[call.right]
                    result = call.kernel(left, right)
                elif call.n == 0:
                    result = call.function(F, ct)
                elif call.n == 1:
                    result = call.function(F, ct, values[call.first])
                elif call.n == 2:
                    result = call.function(F, ct, values[call.first], values[call.second])
                else:
                    result = call.function(F, ct, *[values[p] for p in call.positions])
            except Exception as error:
                add_source(error, node)
                raise
        target: int = call.target
        if target < 0:
            deliver_parts(task, node, call.targets, result)
        elif target == op.variadic:
            deliver_parts(task, node, range(target, len(edges)), result)
        else:
            e = edges[target]
            if e is not None:
                deliver_result(task, node, e, target, result, ct, values)
    if not task.keep_graph and values is not NOTHING:
        release_op(node)


def rule_results(task: GraphTask, node: OpNode, buffer: InputBuffer) -> list[Any]:
    """The results of an operation's rules, one an edge: run_op, for a node whose results user code is to see first."""
    op: Op = node._op
    plan: Plan = node._plan
    ct = buffer.cotangent if op.output_names is None else output_cotangents(node, buffer)
    values = saved_values(task, node)
    results: list[Any] = [None] * len(node._edges)
    if ct is None:
        return results
    for c in plan.calls:
        rule: RuleCall = c
        try:
            result = rule.function(task.face, ct, *[values[p] for p in rule.positions])
        except Exception as error:
            add_source(error, node)
            raise
        if rule.target < 0:
            for j in range(len(rule.targets)):
                results[rule.targets[j]] = result[j]
        elif rule.target == op.variadic:
            results[rule.target :] = list(result)
        else:
            results[rule.target] = result
    return results


def saved_values(task: GraphTask, node: OpNode) -> list[Any]:
    """What the node saved, unpacked: arrays, or tensors where the pass records itself."""
    saved = node._saved
    if saved is None:
        if len(node._plan.saves) != 0:
            raise errors.backward_twice(node.name(), locate(node._code, node._lasti))
        return NOTHING
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
        else:
            values.append(value)
    return values


def unpack_all(task: GraphTask, node: OpNode, saved: tuple[Any, ...]) -> tuple[Any, ...]:
    """A tuple among a node's saved values: of a variadic input, or a parameter, which stays as it is."""
    for value in saved:
        if isinstance(value, SavedTensor):
            unpack = unpack_tensor if task.create_graph else unpack_array
            return tuple([unpack(v, node) if isinstance(v, SavedTensor) else v for v in saved])
    return saved


def output_cotangents(node: OpNode, buffer: InputBuffer) -> Any:
    """The cotangents of an operation with several outputs, as a tuple (None: that output has none); None if all are."""
    found = False
    cts = []
    for nr in range(count_outputs(node)):
        ct = cotangent_of(buffer, nr)
        found = found or ct is not None
        cts.append(ct)
    return tuple(cts) if found else None


def add_source(error: BaseException, node: Node) -> None:
    """Tells, under an error of a backward pass, which forward line recorded the node."""
    where = locate(node._code, node._lasti)
    if where is not None and not getattr(error, "__notes__", None):
        error.add_note(f"in the backward pass of {node.name()}, recorded at {where}")
