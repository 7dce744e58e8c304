"""engine.run for the uncompiled core: the same, with the calls of ordinary nodes written out.

What is unusual, an operation with several outputs, a complex cotangent, a rule that is more than one NumPy function, a
result to be fitted to its edge, goes to the functions that the compiled core uses for everything.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.core import engine
from wengert.core.delivery import deliver_result, is_among
from wengert.core.native import owns_data
from wengert.core.node import AccumulateGrad, OpNode, release_op
from wengert.core.op import RuleCall
from wengert.core.rules import add_source, apply_rule, deliver, run_op, saved_values
from wengert.core.saved import SavedTensor
from wengert.core.task import GraphTask

_ndarray = np.ndarray


def run(task: GraphTask) -> None:
    """Evaluates ready nodes until none is left."""
    stack = task.stack
    plain = not task.create_graph
    while stack or task.heap:
        node: Any = task.pop() if task.heap else stack.pop()
        buffer: Any = node._buffer
        if buffer is not None and buffer.task is task:
            node._buffer = None
        else:
            buffer = task.displaced.pop(node)
        regular = plain and buffer.needed and buffer.captures is None and node._hooks is None
        if not regular or not isinstance(node, OpNode):
            if regular and isinstance(node, AccumulateGrad) and engine.is_unwatched(node):
                engine.run_leaf(task, node, buffer)
                continue
            task.end_quiet()
            try:
                engine.evaluate_node(task, node, buffer)
            except Exception as error:
                add_source(error, node)
                raise
            continue
        if not task.quiet:
            task.begin_quiet()
        ct = buffer.cotangent
        op = node._op
        if type(ct) is _ndarray and op.output_names is None and not op.is_read and ct.dtype.kind != "c" and (
            buffer.untaken is None and not node._plan.selects
        ):
            buffer.cotangent = None
            run_calls(task, node, ct)
        else:
            run_op(task, node, buffer)


def run_calls(task: GraphTask, node: Any, ct: Any) -> None:
    """rules.run_op, for one real cotangent."""
    plan = node._plan
    values = plan.constants
    if plan.saves:
        values = []
        for saved in node._saved or (None,):
            if type(saved) is SavedTensor and saved._counter is not None and saved._counter.value == saved._version:
                values.append(saved._data)
            elif type(saved) is tuple and saved and type(saved[0]) is int:  # a shape
                values.append(saved)
            else:
                values = saved_values(task, node)
                break
        else:
            values.extend(plan.constants)
    call: RuleCall
    for call in plan.calls:
        if call.passes:
            result = ct
        elif call.kernel is not None:
            try:
                if call.right == -2:
                    result = call.kernel(ct if call.left < 0 else values[call.left])
                else:
                    result = call.kernel(
                        ct if call.left < 0 else values[call.left], ct if call.right < 0 else values[call.right]
                    )
            except Exception as error:
                add_source(error, node)
                raise
        else:
            result = apply_rule(task, node, call, ct, values)
        target = call.target
        if target == 0 and node._op.variadic:
            behind, nr = node._next0, node._nr0
        elif target == 1 and node._op.variadic != 1:
            behind, nr = node._next1, node._nr1
        else:
            deliver(task, node, call, result, ct, values)
            continue
        if behind is None:
            continue
        meta = behind._meta
        if nr or (
            (meta is not node._meta or not call.passes)
            and (type(result) is not _ndarray or result.dtype is not meta.dtype or result.shape != meta.shape)
        ):
            deliver_result(task, node, target, result, ct, values)
            continue
        into: Any = behind._buffer
        if into is None or into.task is not task:
            into = task.displaced[behind]
        if into.needed:
            if into.cotangent is None:
                into.cotangent = result
                if call.passes or call.kernel is not None:
                    into.owned = not call.passes  # a kernel's result is a new array
                else:
                    into.owned = result is not ct and owns_data(result) and not is_among(result, values)
            elif into.owned:
                held = into.cotangent
                held += result
                into.untaken = None
            else:
                deliver_result(task, node, target, result, ct, values)
                continue
        into.dependencies -= 1
        if not into.dependencies:
            if task.stack and behind._seq < task.stack[-1]._seq:
                task.push(behind)
            else:
                task.stack.append(behind)
    if plan.saves and not task.keep_graph:
        if type(node._saved[0]) is SavedTensor and not plan.shows_values:
            node._saved = None
            node._extra = task.position
        else:
            release_op(node, task.position)
