"""The backward pass: one GraphTask a run, from root cotangents to the leaves.

A node becomes ready when all nodes that feed it have run. Of the ready nodes, the node made last runs next: it has the highest
sequence number. Leaves run before all other nodes, so a gradient is added as soon as it is complete. Of leaves that become
complete together, the leaf used first runs first. This order is a guarantee.

At each node these run in turn: tensor hooks of its outputs, retained gradients, captures for autograd.grad, node prehooks, the
node, node posthooks, release of the saved values. At a leaf the gradient is accumulated, then post-accumulate hooks run.

In an ordinary pass cotangents are raw arrays, and rules run on arrays. With create_graph they are tensors, and rules run on
tensors and are recorded. A pass to a node whose rule needs this runs so too (recorded_passes.py), but its gradients have no graph.
`face` is the F that rules see. It has the little arithmetic that the engine needs, too.

    buffers     what has arrived at a node          rules        running an operation's rules
    task        what a run knows of the graph       hook_calls   calling hooks
    delivery    results on their way to the next node
"""

from __future__ import annotations

if False:
    import cython
from collections.abc import Sequence
from typing import Any

from wengert import _shim as cython
from wengert import errors
from wengert.backends.selection import on_device, others
from wengert.core import recorded_passes
from wengert.core.accumulate import accumulate
from wengert.core.buffers import InputBuffer, cotangent_of, set_cotangent
from wengert.core.delivery import as_tensor, as_value, dense
from wengert.core.hook_calls import call_hooks, call_posthooks, call_prehooks, call_tensor_hooks
from wengert.core.modes import AUTOCAST, DUAL, NO_GRAD, current_task, flags, set_current_task, set_flags
from wengert.core.node import AccumulateGrad, Edge, Node, NodeHooks, OpNode, count_outputs, meta_at, next_node
from wengert.core.reentry import LEVELS, run_on_new_thread
from wengert.core.rules import add_source, rule_results, run_op
from wengert.core.task import GraphTask
from wengert.core.tensor import TensorBase, wrap
from wengert.core.untaken import deliver_selected, still_untaken

if not cython.compiled:
    _array_face: Any = None
    _tensor_face: Any = None


def set_faces(array_face: Any, tensor_face: Any) -> None:
    """Install the two faces of F. Called once, at import."""
    global _array_face, _tensor_face
    _array_face = array_face
    _tensor_face = tensor_face


def tensor_face() -> Any:
    """Return the F whose operations are recorded."""
    return _tensor_face


if not cython.compiled:
    _watch: Any = None


def set_watch(function: Any) -> None:
    """Install the function that runs measured or checked passes in the place of start and run. None removes it."""
    global _watch
    _watch = function


def run_backward(
    roots: list[Edge],
    cotangents: list[Any],
    keep_graph: bool,
    create_graph: bool,
    inputs: list[Edge] | None,
    accumulate_inputs: bool,
    run_all: bool = False,
) -> list[Any] | None:
    """Run the graph from roots with the given cotangents (tensors).

    inputs None: adds gradients into the leaves' .grad. Otherwise only what leads to these edges runs; with
    accumulate_inputs their gradients go into .grad, else they are returned as tensors, None for one not reached.
    run_all: everything else runs as well, and other leaves accumulate.
    """
    before = flags()
    mode = before & ~AUTOCAST  # a pass computes in the dtypes of its forward pass
    outer = current_task()
    depth = 0 if outer is None else outer.depth + 1
    if depth == LEVELS:
        results: list[Any] | None = run_on_new_thread(
            run_backward, roots, cotangents, keep_graph, create_graph, inputs, accumulate_inputs, run_all
        )
        return results
    recorded = bool(recorded_passes.NODES) and not create_graph and recorded_passes.must_record(roots)
    task: GraphTask = new_task(keep_graph, recorded or create_graph or (before & DUAL) != 0)
    task.depth = depth
    if recorded:
        create_graph = True
        task.detaches = not before & DUAL  # arrays alone would lose their tangents
        if not keep_graph:  # the rules may still differentiate what has run
            task.keep_graph = True
            task.to_release = []
    finished = False
    task.partial = inputs is not None
    try:
        set_current_task(task)
        set_flags(mode & ~NO_GRAD if create_graph else mode | NO_GRAD)
        task.compute_dependencies(roots)
        if inputs is not None:
            if not run_all:
                task.mark_needed(roots, inputs)
            if accumulate_inputs:
                task.stop_at(inputs)
            else:
                task.capture(inputs)
        if _watch is None:
            start(task, roots, cotangents)
            run(task)
        else:
            _watch(task, roots, cotangents)
        finished = True
        if task.callbacks is not None:
            for callback in task.callbacks:  # which may queue others
                callback()
    finally:
        task.end_quiet()
        set_flags(before)
        set_current_task(outer)
        for node in task.to_release or ():
            node._release(task.position)
        if not finished:
            task.clear(roots)
    if inputs is None or accumulate_inputs:
        return None
    if task.detaches:
        return [None if r is None else wrap(raw_array(r)) for r in task.results]
    return [None if r is None else as_tensor(r) for r in task.results]


def queue_callback(callback: Any) -> None:
    """Call callback() at the end of the backward pass that runs on this thread, after all gradients, unrecorded.

    Raises RuntimeError if no pass runs, TypeError if callback cannot be called."""
    task = current_task()
    if task is None:
        raise errors.GraphError("Final callbacks can only be installed during backward pass.")
    if not callable(callback):
        raise errors.HookTypeError(f"queue_callback: expected a function without arguments, got {type(callback).__name__}")
    if task.callbacks is None:
        task.callbacks = []
    task.callbacks.append(callback)


def raw_array(cotangent: Any) -> Any:
    """Return the array of a cotangent, which may be a tensor, or None."""
    return None if cotangent is None else as_tensor(cotangent)._array


def new_task(keep_graph: bool, on_tensors: bool) -> GraphTask:
    """Return a new run, on arrays, or on tensors, whose operations are recorded and carry tangents as the modes say."""
    return GraphTask(keep_graph, on_tensors, _tensor_face if on_tensors else _array_face)


def start(task: GraphTask, roots: list[Edge], cotangents: list[Any]) -> None:
    """Put the first cotangents into the roots' buffers. Make those roots ready to which no other root leads."""
    if not task.create_graph:
        task.begin_quiet()  # a root named twice is added up
    for i in range(len(roots)):
        root: Edge = roots[i]
        if task.buffer_of(root.node).needed:
            task.add(root.node, root.input_nr, as_value(task, cotangents[i]), False)
    for node in dict.fromkeys([root.node for root in roots]):
        if task.buffer_of(node).dependencies == 0:
            task.push(node)


def run(task: GraphTask) -> None:
    """Evaluate ready nodes until none is left."""
    plain = not task.create_graph and not others
    while True:
        node: Node | None = task.pop() if task.heap or not task.stack else task.stack.pop()
        if node is None:
            return
        buffer: InputBuffer | None = node._buffer  # as take_buffer has it
        if buffer is not None and buffer.task is task:
            node._buffer = None
        else:
            buffer = task.displaced.pop(node)
        if plain and buffer.needed and buffer.captures is None and node._hooks is None:
            if isinstance(node, OpNode):
                if not task.quiet:
                    task.begin_quiet()
                run_op(task, node, buffer)
                continue
            if isinstance(node, AccumulateGrad) and is_unwatched(node):
                run_leaf(task, node, buffer)
                continue
        task.end_quiet()
        try:
            evaluate_node(task, node, buffer)
        except Exception as error:
            add_source(error, node)
            raise


def is_unwatched(node: AccumulateGrad) -> bool:
    """Whether no code of the user's sees what is added into a leaf's .grad."""
    leaf: TensorBase = node._variable
    return leaf._leaf_hooks is None and leaf._post_hooks is None


# -- one node ----------------------------------------------------------------------------------------------------------


def evaluate_node(task: GraphTask, node: Node, buffer: InputBuffer) -> None:
    """Run one node on its buffer and hand the results on. Called for the nodes that run() does not run itself."""
    if not buffer.needed:
        skip(task, node)
    elif others and meta_at(node, 0).place != "cpu":
        with on_device(meta_at(node, 0).place):
            evaluate_needed(task, node, buffer)
    else:
        evaluate_needed(task, node, buffer)


def evaluate_needed(task: GraphTask, node: Node, buffer: InputBuffer) -> None:
    """Run a node that leads to what the pass is for, on the current device."""
    task.settle(node, buffer)
    if node._hooks is not None:
        call_tensor_hooks(task, node._hooks, buffer)
    if isinstance(node, AccumulateGrad):
        variable: TensorBase = node._variable
        if variable._leaf_hooks is not None:
            buffer.cotangent = call_hooks(task, variable._leaf_hooks, buffer.cotangent)
            buffer.owned = False
    if buffer.captures is not None:
        capture_results(task, node, buffer)
        if not task.has_needed_input(node):
            skip(task, node)
            return
    if task.to_release is not None:
        task.to_release.append(node)
    hooks: NodeHooks | None = node._hooks
    if hooks is not None and hooks.pre:
        call_prehooks(task, node, buffer, hooks.pre)
    if isinstance(node, AccumulateGrad):
        run_leaf(task, node, buffer)
    elif isinstance(node, OpNode) and (hooks is None or not hooks.post) and task.check is None:
        if not task.create_graph:  # else the tensors' operations see to that themselves
            task.begin_quiet()
        run_op(task, node, buffer)
    else:
        run_observed(task, node, buffer)


def skip(task: GraphTask, node: Node) -> None:
    """Pass a node over: nothing behind it is wanted, but its inputs must not wait for it."""
    for i in range(node._n_edges):
        behind: Node | None = next_node(node, i)
        if behind is not None:
            task.arrive(behind, 0, None, False)


def capture_results(task: GraphTask, node: Node, buffer: InputBuffer) -> None:
    """Keep the cotangents that autograd.grad asked for at this node."""
    captures: Any = buffer.captures
    last_use = not task.has_needed_input(node) and len(captures) == 1
    for nr, i in captures:
        ct = cotangent_of(buffer, nr)
        if ct is not None and not task.create_graph and not (last_use and nr == 0 and buffer.owned):
            ct = task.face.copy(ct)  # the user's result must not change with, or change, anything else
        task.results[i] = ct


def run_leaf(task: GraphTask, node: AccumulateGrad, buffer: InputBuffer) -> None:
    """Add what arrived into the leaf's .grad."""
    leaf: TensorBase = node._variable
    hooks: NodeHooks | None = node._hooks
    first = leaf._grad is None
    if task.detaches:
        accumulate(leaf, raw_array(buffer.cotangent), False, _array_face, False)
    else:
        accumulate(leaf, buffer.cotangent, buffer.owned, task.face, task.create_graph)
    if hooks is not None and hooks.post:
        call_posthooks(hooks.post, (), (as_tensor(buffer.cotangent),))
    elif first and leaf._grad is not None and leaf._post_hooks is None:
        task.first_grads.append((leaf, leaf._grad))


def run_observed(task: GraphTask, node: Node, buffer: InputBuffer) -> None:
    """Run a node whose results user code makes or sees: a custom Function's, a write's, one with posthooks."""
    hooks: NodeHooks | None = node._hooks
    outputs = [as_tensor(cotangent_of(buffer, nr)) for nr in range(count_outputs(node))]
    results, places = node_results(task, node, buffer, outputs)
    if hooks is not None and hooks.post:
        inputs = tuple([as_tensor(dense(task, node, i, r)) for i, r in enumerate(results)])
        results = [as_value(task, t) for t in call_posthooks(hooks.post, inputs, tuple(outputs))]
        places = still_untaken(places, results)
    if task.check is not None:
        task.check(node, results, outputs)
    if not task.create_graph:
        task.begin_quiet()
    for i in range(node._n_edges):
        result = results[i] if i < len(results) else None
        deliver_selected(task, node, i, result, None, None, None if places is None else places[i])
    if not task.keep_graph:
        node._release(task.position)


def node_results(
    task: GraphTask, node: Node, buffer: InputBuffer, outputs: list[Any]
) -> tuple[list[Any], list[Any] | None]:
    """Run a node and return one result an edge, and their untaken places. outputs: the node's cotangents, as tensors."""
    if isinstance(node, OpNode):
        if not task.create_graph:
            task.begin_quiet()
        results = rule_results(task, node, buffer)
        task.end_quiet()
        return results
    try:  # a node written in Python: a custom Function, a write into a view
        given = node._run(outputs, task.create_graph)
    except Exception as error:
        add_source(error, node)
        raise
    return [as_value(task, r) for r in given], None


def run_leaf_alone(node: AccumulateGrad, cotangent: Any) -> None:
    """Add a cotangent (an array or None) into the leaf's .grad, outside a pass over the graph."""
    accumulate(node._variable, cotangent, False, _array_face, False)


def run_single(node: OpNode, cotangents: Sequence[Any], create_graph: bool) -> list[Any]:
    """Return the cotangents (tensors) of one node's inputs, given those of its outputs, outside a pass over the graph."""
    task: GraphTask = new_task(True, create_graph or (flags() & DUAL) != 0)
    buffer: InputBuffer = InputBuffer.__new__(InputBuffer)
    buffer.task = task
    for nr, cotangent in enumerate(cotangents):
        if cotangent is not None:
            set_cotangent(buffer, nr, as_value(task, cotangent))
    try:
        return [as_tensor(dense(task, node, i, r)) for i, r in enumerate(node_results(task, node, buffer, [])[0])]
    finally:
        task.end_quiet()
