"""The backward pass: one GraphTask a run, from root cotangents to the leaves.

Nodes become ready when everything that feeds them has run; of the ready nodes the one made last (highest sequence number) runs
next, gradients of leaves are added in the order in which they become complete. That order is a guarantee.

At each node: tensor hooks of its outputs, retained gradients, captures for autograd.grad, node prehooks, the node, node
posthooks, release of what it saved; at a leaf, accumulation and then the post-accumulate hooks.

In an ordinary pass cotangents are raw arrays, and rules run on arrays; with create_graph they are tensors, and rules run on
tensors and are themselves recorded. `face` is the F that rules see, and holds the little arithmetic that the engine needs.
"""

from __future__ import annotations

if False:
    import cython
from heapq import heappop, heappush
from typing import Any

import numpy as np

from wengert import _shim as cython
from wengert import errors
from wengert.core.accumulate import accumulate
from wengert.core.modes import NO_GRAD, flags, quiet_enter, quiet_exit, set_flags
from wengert.core.node import (
    AccumulateGrad,
    Edge,
    Node,
    NodeHooks,
    OpNode,
    TensorMeta,
    count_outputs,
    locate,
    meta_at,
    release_op,
)
from wengert.core.op import Op, Plan, RuleCall
from wengert.core.saved import SavedTensor, unpack_array, unpack_tensor
from wengert.core.tensor import TensorBase, wrap

if not cython.compiled:
    from wengert.core.native import as_array, has_meta, is_complex, is_ndarray, owns_data
else:
    wk_init_numpy()


@cython.final
@cython.freelist(256)
@cython.cclass
class InputBuffer:
    """What one run knows of one node: how many inputs are still to come, and the sum of those that came, per output.

    It hangs on the node while the run lasts. A node that another run holds already (a backward pass inside a backward
    pass, another thread) keeps that run's buffer; ours is then in GraphTask.displaced.
    """

    if not cython.compiled:  # the compiled class starts with the same
        __slots__ = ("captures", "cotangent", "dependencies", "needed", "others", "owned", "task")
        task: GraphTask
        dependencies: int
        needed: bool
        cotangent: Any  # of output 0
        owned: bool  # nobody else sees that array: it may be added to in place
        others: dict[int, Any] | None  # output number -> (cotangent, owned), for the other outputs
        captures: list | None  # (output number, position in GraphTask.results)

        def __new__(cls, *_: Any, **__: Any) -> Any:
            self = object.__new__(cls)
            self.task = None  # type: ignore[assignment]
            self.dependencies = 0
            self.needed = True
            self.cotangent = None
            self.owned = False
            self.others = None
            self.captures = None
            return self


@cython.final
@cython.cclass
class ReadCotangent:
    """The cotangent of a read (x[i], a slice, a gather): value at index of zeros. Added into the source's buffer in place.

    So n reads of a vector cost n, not n times its length. repeats: whether index may name an element twice.
    """

    if not cython.compiled:
        __slots__ = ("index", "repeats", "shape", "value")

    def __init__(self, value: Any, shape: tuple[int, ...], index: Any, repeats: bool) -> None:
        self.value = value
        self.shape = shape
        self.index = index
        self.repeats = repeats


@cython.final
@cython.cclass
class GraphTask:
    """One backward run."""

    if not cython.compiled:
        __slots__ = (
            "create_graph",
            "displaced",
            "face",
            "first_grads",
            "heap",
            "keep_graph",
            "order",
            "quiet",
            "results",
            "stack",
            "sum_owned",
        )

    def __init__(self, keep_graph: bool, create_graph: bool, face: Any) -> None:
        self.keep_graph = keep_graph
        self.create_graph = create_graph
        self.face = face
        self.displaced: dict[Node, InputBuffer] = {}
        # The ready nodes: what becomes ready in the order in which it was made, as most does, needs no heap.
        self.stack: list = []  # nodes by ascending sequence number
        self.heap: list = []  # (-sequence number, order, node)
        self.order = 0
        self.first_grads: list = []  # leaves that this run gave their first gradient
        self.sum_owned = False
        self.quiet = False
        self.results: list = []

    # -- buffers -------------------------------------------------------------------------------------------------------

    def buffer_of(self, node: Node) -> InputBuffer | None:
        """This run's buffer of the node, if it has one."""
        buffer: InputBuffer | None = node._buffer
        if buffer is not None and buffer.task is self:
            return buffer
        return self.displaced.get(node) if self.displaced else None

    def new_buffer(self, node: Node) -> InputBuffer:
        """Gives the node a buffer of this run."""
        buffer: InputBuffer = InputBuffer.__new__(InputBuffer)
        buffer.task = self
        buffer.needed = True
        if node._buffer is None:
            node._buffer = buffer
        else:
            self.displaced[node] = buffer
        return buffer

    # -- ready nodes -----------------------------------------------------------------------------------------------------

    def push(self, node: Node) -> None:
        """Adds a ready node: on the stack, which stays sorted, if it was made last of all on it; else into the heap."""
        if self.stack:
            last: Node = self.stack[-1]
            if node._seq < last._seq:
                self.order += 1
                heappush(self.heap, (-node._seq, self.order, node))
                return
        self.stack.append(node)

    def pop(self) -> Node | None:
        """The ready node that was made last, or None."""
        if not self.heap:
            return self.stack.pop() if self.stack else None
        if self.stack:
            last: Node = self.stack[-1]
            if last._seq > -self.heap[0][0]:
                return self.stack.pop()
        return heappop(self.heap)[2]

    # -- the run -----------------------------------------------------------------------------------------------------------

    def compute_dependencies(self, roots: list) -> None:
        """Counts, for every node that can be reached, the edges that lead to it."""
        stack: list = []
        for root in roots:
            node: Node = root.node
            if self.buffer_of(node) is None:
                self.new_buffer(node)
                stack.append(node)
        while stack:
            node = stack.pop()
            for e in node._edges:
                if e is not None:
                    edge: Edge = e
                    buffer: InputBuffer | None = self.buffer_of(edge.node)
                    if buffer is None:
                        buffer = self.new_buffer(edge.node)
                        stack.append(edge.node)
                    buffer.dependencies += 1

    def mark_needed(self, roots: list, targets: list) -> None:
        """Marks the nodes that lie on a path to one of the targets (edges); no others run."""
        wanted = {edge.node for edge in targets}
        seen: set = set()
        for root in roots:
            # Depth first; a node is on the stack twice: to open its children, then, when they are done, to ask them.
            stack: list = [(root.node, False)]
            while stack:
                node, opened = stack.pop()
                if opened:
                    self.buffer_of(node).needed = node in wanted or self.has_needed_input(node)
                elif node not in seen:
                    seen.add(node)
                    stack.append((node, True))
                    for edge in node._edges:
                        if edge is not None and edge.node not in seen:
                            stack.append((edge.node, False))

    def has_needed_input(self, node: Node) -> bool:
        """Whether some node right behind this one is needed."""
        for e in node._edges:
            if e is not None:
                edge: Edge = e
                buffer: InputBuffer | None = self.buffer_of(edge.node)
                if buffer is not None and buffer.needed:
                    return True
        return False

    def capture(self, edges: list) -> None:
        """Asks for the cotangents that arrive at these edges, in place of accumulating into leaves."""
        self.results = [None] * len(edges)
        for i, e in enumerate(edges):
            edge: Edge = e
            buffer: InputBuffer | None = self.buffer_of(edge.node)
            if buffer is not None:
                if buffer.captures is None:
                    buffer.captures = []
                buffer.captures.append((edge.input_nr, i))

    def stop_at(self, edges: list) -> None:
        """For gradients accumulated into these edges' tensors: a node of a non-leaf runs only if more is wanted behind it."""
        for e in edges:
            edge: Edge = e
            buffer: InputBuffer | None = self.buffer_of(edge.node)
            if buffer is not None and not isinstance(edge.node, AccumulateGrad):
                buffer.captures = []

    def add(self, edge: Edge, value: Any, owned: bool) -> None:
        """Adds a cotangent, which fits the edge, into the buffer of the edge's node."""
        buffer: InputBuffer = self.buffer_of(edge.node)
        nr = edge.input_nr
        if nr != 0:
            if buffer.others is None:
                buffer.others = {}
            held = buffer.others.get(nr)
            if held is None:
                held = (None, False)
            total = self.sum_of(held[0], held[1], value, owned, edge)
            buffer.others[nr] = (total, self.sum_owned)
        elif buffer.cotangent is None and not isinstance(value, ReadCotangent):
            buffer.cotangent = value
            buffer.owned = owned
        else:
            buffer.cotangent = self.sum_of(buffer.cotangent, buffer.owned, value, owned, edge)
            buffer.owned = self.sum_owned

    def add_read(self, edge: Edge, ct: Any, index: tuple) -> None:
        """Adds the cotangent of x[index], a read that names no element twice, into the buffer of x's node."""
        buffer: InputBuffer = self.buffer_of(edge.node)
        if not buffer.needed:
            return
        if edge.input_nr != 0:
            self.add(edge, ReadCotangent(ct, (), index, False), False)
            return
        held = buffer.cotangent
        if held is None:
            held = self.face.zeros(edge.node._meta.shape, edge.node._meta.dtype)
        elif not buffer.owned:
            held = self.face.copy(held)
        buffer.cotangent = held
        buffer.owned = True
        if held.ndim == 1 and type(index[0]) is int:
            held[index[0]] += ct.item()  # a number: a third of the cost of adding arrays
        else:
            part = held[index]
            part += ct

    def sum_of(self, held: Any, held_owned: bool, value: Any, owned: bool, edge: Edge) -> Any:
        """held + value, in place where one of them is ours alone; self.sum_owned says whether the sum is."""
        self.sum_owned = True
        face = self.face
        if isinstance(value, ReadCotangent):
            read: ReadCotangent = value
            if held is None:
                meta: TensorMeta = meta_at(edge.node, edge.input_nr)
                held = face.zeros(meta.shape, meta.dtype)
            elif not held_owned:
                held = face.copy(held)
            if type(read.index) is int and is_ndarray(read.value) and read.value.ndim == 0:
                held[read.index] += read.value.item()  # one number: a third of the cost of adding arrays
            else:
                face.add_at(held, read.index, read.value, read.repeats)
            return held
        if held is None:
            self.sum_owned = owned
            return value
        if self.create_graph:
            self.sum_owned = False
            return held + value
        if held_owned:
            held += value
            return held
        if owned:
            value += held
            return value
        held = held + value
        return as_array(held)

    def arrive(self, edge: Edge, value: Any, owned: bool) -> None:
        """One input of a node arrived (value None: it has no gradient). The last one makes the node ready."""
        node: Node = edge.node
        buffer: InputBuffer = node._buffer
        if buffer is None or buffer.task is not self:
            buffer = self.displaced[node]
        if value is not None and buffer.needed:
            if edge.input_nr != 0:
                self.add(edge, value, owned)
            elif buffer.cotangent is None:
                buffer.cotangent = value
                buffer.owned = owned
            elif buffer.owned and not self.create_graph:
                held = buffer.cotangent
                held += value
            else:
                self.add(edge, value, owned)
        buffer.dependencies -= 1
        if buffer.dependencies == 0:
            self.push(node)

    def run(self) -> None:
        """Evaluates ready nodes until none is left.

        Between nodes that run user code NumPy's warnings stay silenced, instead of once a rule.
        """
        plain = not self.create_graph
        while True:
            node: Node | None = self.pop()
            if node is None:
                return
            buffer: InputBuffer = node._buffer
            if buffer is not None and buffer.task is self:
                node._buffer = None
            else:
                buffer = self.displaced.pop(node)
            if plain and buffer.needed and buffer.captures is None and node._hooks is None and isinstance(node, OpNode):
                if not self.quiet:
                    quiet_enter()
                    self.quiet = True
                run_op(self, node, buffer)
            else:
                self.end_quiet()
                evaluate_node(self, node, buffer)

    def end_quiet(self) -> None:
        """Lets user code have its own context variables, and warnings, again."""
        if self.quiet:
            self.quiet = False
            quiet_exit()

    def clear(self, roots: list) -> None:
        """After a failure: takes this run's buffers off the nodes it did not reach, and first gradients off their leaves.

        What was added into a gradient that was there before stays added, as in torch: undoing it would take a copy of each.
        """
        for leaf in self.first_grads:
            leaf._grad = None
        self.stack = []
        self.heap = []
        self.displaced = {}
        seen = set()
        stack = [root.node for root in roots]
        while stack:
            node: Node = stack.pop()
            if node in seen:
                continue
            seen.add(node)
            buffer: InputBuffer | None = node._buffer
            if buffer is not None and buffer.task is self:
                node._buffer = None
            for edge in node._edges:
                if edge is not None:
                    stack.append(edge.node)


# -- one node ------------------------------------------------------------------------------------------------------------


def evaluate_node(task: GraphTask, node: Node, buffer: InputBuffer) -> None:
    """Runs one node on what its buffer holds and hands the results on; the path of nodes that user code takes part in."""
    if buffer.needed:
        if node._hooks is not None:
            run_tensor_hooks(task, node, buffer)
        if isinstance(node, AccumulateGrad):
            leaf: AccumulateGrad = node
            variable: TensorBase = leaf._variable
            if variable._leaf_hooks is not None and buffer.cotangent is not None:
                buffer.cotangent = run_hooks(task, variable._leaf_hooks, buffer.cotangent)
                buffer.owned = False
        if buffer.captures is not None:
            capture_results(task, node, buffer)
            if not task.has_needed_input(node):
                skip(task, node)
                return
        if node._hooks is None and isinstance(node, OpNode):
            with_quiet(task, run_op, node, buffer)
        else:
            run_other(task, node, buffer)
    else:
        skip(task, node)


def with_quiet(task: GraphTask, run: Any, node: Any, buffer: Any) -> Any:
    """run(task, node, buffer), silenced if rules see raw arrays; tensors' operations see to that themselves."""
    if task.create_graph:
        return run(task, node, buffer)
    quiet_enter()
    try:
        return run(task, node, buffer)
    finally:
        quiet_exit()


def skip(task: GraphTask, node: Node) -> None:
    """Passes a node over: nothing behind it is wanted, but its inputs must not wait for it."""
    for e in node._edges:
        if e is not None:
            task.arrive(e, None, False)


def run_op(task: GraphTask, node: OpNode, buffer: InputBuffer) -> None:
    """Runs the rules of a registered operation, each for the inputs that need its result."""
    op: Op = node._op
    ct = buffer.cotangent if op.output_names is None else output_cotangents(task, node, buffer)
    buffer.cotangent = None
    values = NOTHING if node._saved is None and len(node._plan.saves) == 0 else saved_values(task, node)
    edges = node._edges
    F = task.face
    real: bool = not task.create_graph and is_ndarray(ct) and not is_complex(ct)
    result = None
    for c in node._plan.calls:
        call: RuleCall = c
        if ct is not None:
            try:
                if op.is_read and real:
                    e = edges[0]
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


def add_source(error: BaseException, node: Node) -> None:
    """Tells, under an error of a backward pass, which forward line recorded the node."""
    where = locate(node._code, node._lasti)
    if where is not None and not getattr(error, "__notes__", None):
        error.add_note(f"in the backward pass of {node.name()}, recorded at {where}")


def saved_values(task: GraphTask, node: OpNode) -> list:
    """What the node saved, unpacked: arrays, or tensors where the pass records itself."""
    saved = node._saved
    if saved is None:
        if len(node._plan.saves) != 0:
            raise errors.backward_twice(node.name(), locate(node._code, node._lasti))
        return NOTHING
    values: list = []
    for value in saved:
        if isinstance(value, SavedTensor):
            s: SavedTensor = value
            if task.create_graph:
                values.append(unpack_tensor(s, node))
            elif s._counter is None or s._counter.value == s._version:
                values.append(s._data)
            else:
                values.append(unpack_array(s, node))
        elif isinstance(value, tuple) and any([isinstance(v, SavedTensor) for v in value]):
            unpack = unpack_tensor if task.create_graph else unpack_array
            values.append(tuple([unpack(v, node) if isinstance(v, SavedTensor) else v for v in value]))
        else:
            values.append(value)
    return values


NOTHING: list = []


def output_cotangents(task: GraphTask, node: OpNode, buffer: InputBuffer) -> Any:
    """The cotangents of an operation with several outputs, as a tuple (None: that output has none); None if all are."""
    found = False
    cts = []
    for nr in range(count_outputs(node)):
        ct = buffer.cotangent if nr == 0 else cotangent_of(buffer, nr)
        found = found or ct is not None
        cts.append(ct)
    return tuple(cts) if found else None


def cotangent_of(buffer: InputBuffer, nr: int) -> Any:
    """The sum that arrived at one output, or None."""
    if nr == 0:
        return buffer.cotangent
    if buffer.others is None:
        return None
    held = buffer.others.get(nr)
    return None if held is None else held[0]


def set_cotangent(buffer: InputBuffer, nr: int, value: Any) -> None:
    """Replaces the sum that arrived at one output by what a hook returned, which may be anybody's."""
    if nr == 0:
        buffer.cotangent = value
        buffer.owned = False
    else:
        if buffer.others is None:
            buffer.others = {}
        buffer.others[nr] = (value, False)


def deliver_parts(task: GraphTask, node: Node, targets: Any, results: Any) -> None:
    """Hands on the results for several inputs, which may be one object or look into each other: nobody owns them."""
    for j in range(len(targets)):
        e = node._edges[targets[j]]
        if e is not None:
            deliver_result(task, node, e, targets[j], None if results is None else results[j], None, None)


def deliver_result(task: GraphTask, node: Node, edge: Edge, position: int, result: Any, ct: Any, values: Any) -> None:
    """Fits a result to its edge and hands it on.

    values: what the rule was given besides ct; None where the result may be somebody else's as well, as a custom Function's.
    """
    meta: TensorMeta = meta_at(edge.node, edge.input_nr)
    if isinstance(result, np.generic):
        result = as_array(result)
    if not has_meta(result, meta.shape, meta.dtype):
        if isinstance(result, ReadCotangent):
            if task.buffer_of(edge.node).needed:
                task.add(edge, result, False)
            task.arrive(edge, None, False)
        elif result is None:
            task.arrive(edge, None, False)
        elif task.create_graph:
            task.arrive(edge, fit_tensor(task, node, position, result, meta), False)
        else:
            fitted = fit_array(task, node, position, result, meta)
            task.arrive(edge, fitted, fitted is not result and owns_data(fitted))
        return
    owned: bool = False
    if result is not ct and values is not None and owns_data(result):
        # A rule's own new array, unless it passed on something that it was given.
        owned = True
        for value in values:
            if value is result:
                owned = False
        if isinstance(ct, tuple):
            for part in ct:
                if part is result:
                    owned = False
    task.arrive(edge, result, owned)


# -- fitting a cotangent to its edge ---------------------------------------------------------------------------------------


def fit_array(task: GraphTask, node: Node, position: int, value: Any, meta: TensorMeta) -> Any:
    """Undoes broadcasting and promotion: sums value to the edge's shape and casts it to the edge's dtype."""
    face = task.face
    array = as_array(value)
    if array.shape != meta.shape:
        if not expandable(meta.shape, array.shape):
            raise errors.invalid_gradient_shape(node.name(), position, array.shape, meta.shape)
        quiet_enter()
        try:
            array = face.sum_to_size(array, meta.shape)
        finally:
            quiet_exit()
    if array.dtype != meta.dtype:
        array = face.cast(array, meta.dtype)
    return array


def fit_tensor(task: GraphTask, node: Node, position: int, value: Any, meta: TensorMeta) -> Any:
    """The same for a tensor, recorded."""
    face = task.face
    if not isinstance(value, TensorBase):
        value = face.tensor(value, meta.dtype)
    tensor: TensorBase = value
    if has_meta(tensor._array, meta.shape, meta.dtype):
        return tensor
    shape = tensor._array.shape
    if shape != meta.shape:
        if not expandable(meta.shape, shape):
            raise errors.invalid_gradient_shape(node.name(), position, shape, meta.shape)
        value = face.sum_to_size(value, meta.shape)
    if tensor._array.dtype != meta.dtype:
        value = face.cast(value, meta.dtype)
    return value


def expandable(shape: tuple, desired: tuple) -> bool:
    """Whether a tensor of this shape broadcasts to the desired one."""
    if len(shape) > len(desired):
        return False
    for i in range(1, len(shape) + 1):
        if shape[-i] != desired[-i] and shape[-i] != 1:
            return False
    return True


# -- hooks, custom nodes, leaves -------------------------------------------------------------------------------------------


def as_tensor(value: Any) -> Any:
    """A cotangent as user code sees it."""
    if value is None or isinstance(value, TensorBase):
        return value
    return wrap(value)


def as_value(task: GraphTask, tensor: Any) -> Any:
    """What user code returned, as this pass carries it."""
    if tensor is None or task.create_graph:
        return tensor
    return tensor._array


def run_hooks(task: GraphTask, hooks: Any, value: Any) -> Any:
    """Runs tensor hooks on a gradient, in the order of registration; a tensor that one returns takes its place."""
    grad = as_tensor(value)
    for hook in list(hooks.values()):
        result = hook(grad)
        if result is None:
            continue
        if not isinstance(result, TensorBase):
            raise errors.hook_returned(type(result))
        if result.shape != grad.shape:
            raise errors.hook_changed_size(getattr(hook, "__name__", repr(hook)), result.shape, grad.shape)
        if result.dtype != grad.dtype:
            raise errors.hook_changed_dtype(getattr(hook, "__name__", repr(hook)), result.dtype, grad.dtype)
        grad = result
    return as_value(task, grad)


def run_tensor_hooks(task: GraphTask, node: Node, buffer: InputBuffer) -> None:
    """Runs the hooks of the node's outputs, then keeps the gradients that retain_grad() asked for."""
    hooks: NodeHooks = node._hooks
    for nr, tensor_hooks in list(hooks.tensor.items()):
        ct = cotangent_of(buffer, nr)
        if ct is not None:
            set_cotangent(buffer, nr, run_hooks(task, tensor_hooks, ct))
    for nr, reference in list(hooks.retained.items()):
        tensor: TensorBase | None = reference()
        ct = cotangent_of(buffer, nr)
        if tensor is not None and ct is not None:
            grad = ct if task.create_graph else wrap(task.face.copy(ct))
            tensor._grad = grad if tensor._grad is None else tensor._grad + grad


def run_other(task: GraphTask, node: Node, buffer: InputBuffer) -> None:
    """Runs a node that user code takes part in: it has hooks, or is a custom Function's, a write's or a leaf's."""
    pre = None if node._hooks is None else node._hooks.pre
    if pre:
        run_prehooks(task, node, buffer, pre)
    if isinstance(node, AccumulateGrad):
        first = node._variable._grad is None
        accumulate(node._variable, buffer.cotangent, buffer.owned, task.face, task.create_graph)
        if first and node._variable._post_hooks is None:
            task.first_grads.append(node._variable)
        if node._hooks is not None and node._hooks.post:
            run_posthooks(task, node, (), (as_tensor(buffer.cotangent),))
        return
    outputs = [as_tensor(cotangent_of(buffer, nr)) for nr in range(count_outputs(node))]
    if isinstance(node, OpNode):
        results = with_quiet(task, op_results, node, buffer)
    else:
        results = custom_results(task, node, outputs)
    if node._hooks is not None and node._hooks.post:
        tensors = run_posthooks(
            task, node, tuple([as_tensor(dense(task, node, i, r)) for i, r in enumerate(results)]), tuple(outputs)
        )
        results = [as_value(task, t) for t in tensors]
    for i in range(len(node._edges)):
        e = node._edges[i]
        if e is not None:
            deliver_result(task, node, e, i, results[i] if i < len(results) else None, None, None)
    if not task.keep_graph:
        node._release()


def op_results(task: GraphTask, node: OpNode, buffer: InputBuffer) -> list:
    """The results of an operation's rules, one an edge: run_op, for a node with hooks."""
    op: Op = node._op
    plan: Plan = node._plan
    ct = buffer.cotangent if op.output_names is None else output_cotangents(task, node, buffer)
    values = saved_values(task, node)
    results: list = [None] * len(node._edges)
    if ct is None:
        return results
    for c in plan.calls:
        rule: RuleCall = c
        result = rule.function(task.face, ct, *[values[p] for p in rule.positions])
        if rule.target < 0:
            for j in range(len(rule.targets)):
                results[rule.targets[j]] = result[j]
        elif rule.target == op.variadic:
            results[rule.target :] = list(result)
        else:
            results[rule.target] = result
    return results


def dense(task: GraphTask, node: Node, position: int, value: Any) -> Any:
    """A result as a hook may see it: in full, and of its edge's shape and dtype."""
    edge: Edge | None = node._edges[position]
    if edge is None or value is None:
        return None
    if isinstance(value, ReadCotangent):
        return task.sum_of(None, False, value, False, edge)
    meta: TensorMeta = meta_at(edge.node, edge.input_nr)
    if task.create_graph:
        return fit_tensor(task, node, position, value, meta)
    return fit_array(task, node, position, value, meta)


def custom_results(task: GraphTask, node: Node, outputs: list) -> list:
    """What a node written in Python (a custom Function, a write into a view) makes of its cotangents."""
    try:
        results = node._run(outputs, task.create_graph)
    except Exception as error:
        add_source(error, node)
        raise
    return [as_value(task, r) for r in results]


def run_prehooks(task: GraphTask, node: Node, buffer: InputBuffer, hooks: Any) -> None:
    """Runs a node's prehooks on all its cotangents."""
    grads = tuple([as_tensor(cotangent_of(buffer, nr)) for nr in range(count_outputs(node))])
    for hook in list(hooks.values()):
        result = hook(grads)
        if result is not None:
            grads = checked_hook_result(hook, (result,) if isinstance(result, TensorBase) else result, grads)
    for nr in range(len(grads)):
        set_cotangent(buffer, nr, as_value(task, grads[nr]))


def run_posthooks(task: GraphTask, node: Node, inputs: tuple, outputs: tuple) -> tuple:
    """Runs a node's posthooks; what they return takes the place of the node's results."""
    for hook in list(node._hooks.post.values()):
        result = hook(inputs, outputs)
        if result is not None:
            inputs = checked_hook_result(hook, result, inputs)
    return inputs


def checked_hook_result(hook: Any, result: Any, grads: tuple) -> tuple:
    """What a node's hook returned, as a tuple that matches the gradients it was given."""
    if not isinstance(result, tuple):
        raise errors.hook_returned(type(result), expected="tuple")
    if len(result) != len(grads):
        raise errors.hook_wrong_number(len(grads), len(result), getattr(hook, "__name__", repr(hook)))
    for new, old in zip(result, grads, strict=True):
        if new is not None and not isinstance(new, TensorBase):
            raise errors.hook_returned(type(new))
        if new is not None and old is not None and new.shape != old.shape:
            raise errors.hook_changed_size(getattr(hook, "__name__", repr(hook)), new.shape, old.shape)
    return result


def capture_results(task: GraphTask, node: Node, buffer: InputBuffer) -> None:
    """Keeps the cotangents that autograd.grad asked for at this node."""
    ours = not task.has_needed_input(node)
    for nr, i in buffer.captures:
        ct = cotangent_of(buffer, nr)
        if (
            ct is not None
            and not task.create_graph
            and not (ours and nr == 0 and buffer.owned and len(buffer.captures) == 1)
        ):
            ct = task.face.copy(ct)  # the user's result must not change with, or change, anything else
        task.results[i] = ct


def conj_of(x: Any) -> Any:
    """F.conj on raw arrays: the complex conjugate; what is real, arrays and numbers, as it is."""
    if is_ndarray(x):
        return x.conj() if is_complex(x) else x
    return x.conjugate() if isinstance(x, (complex, np.complexfloating)) else x


def run_single(node: OpNode, cotangent: Any, create_graph: bool) -> list:
    """The cotangents (tensors) that one operation's node makes of one cotangent, outside a pass over the graph."""
    task: GraphTask = GraphTask(True, create_graph, _tensor_face if create_graph else _array_face)
    buffer: InputBuffer = InputBuffer.__new__(InputBuffer)
    buffer.task = task
    buffer.cotangent = as_value(task, cotangent)
    results = with_quiet(task, op_results, node, buffer)
    return [as_tensor(dense(task, node, i, r)) for i, r in enumerate(results)]


# -- entry -------------------------------------------------------------------------------------------------------------


if not cython.compiled:
    _array_face: Any = None
    _tensor_face: Any = None


def set_faces(array_face: Any, tensor_face: Any) -> None:
    """wengert.ops hands down the two faces of F, once, at import."""
    global _array_face, _tensor_face
    _array_face = array_face
    _tensor_face = tensor_face


def run_backward(
    roots: list,
    cotangents: list,
    keep_graph: bool,
    create_graph: bool,
    inputs: list | None,
    accumulate_inputs: bool,
    run_all: bool = False,
) -> list | None:
    """Runs the graph from roots (edges) with the given cotangents (tensors).

    inputs None: adds gradients into the leaves' .grad. Otherwise inputs are edges: only what leads to them runs; with
    accumulate_inputs their gradients go into .grad, else they are returned as tensors, None for one not reached. run_all:
    everything else runs as well, and other leaves accumulate.
    """
    before = flags()
    task: GraphTask = GraphTask(keep_graph, create_graph, _tensor_face if create_graph else _array_face)
    set_flags(before & ~NO_GRAD if create_graph else before | NO_GRAD)
    finished = False
    try:
        task.compute_dependencies(roots)
        if inputs is not None:
            if not run_all:
                task.mark_needed(roots, inputs)
            if accumulate_inputs:
                task.stop_at(inputs)
            else:
                task.capture(inputs)
        for i in range(len(roots)):
            root: Edge = roots[i]
            buffer: InputBuffer = task.buffer_of(root.node)
            if buffer.needed:
                task.add(root, as_value(task, cotangents[i]), False)
        for node in dict.fromkeys([root.node for root in roots]):
            buffer = task.buffer_of(node)
            if buffer.dependencies == 0:
                task.push(node)
        task.run()
        finished = True
    finally:
        task.end_quiet()
        set_flags(before)
        if not finished:
            task.clear(roots)
    if inputs is None or accumulate_inputs:
        return None
    return [None if r is None else as_tensor(r) for r in task.results]
