"""GraphTask: the state of one backward run: the nodes that take part, the ready nodes, and the cotangents at each node.

It runs no node: engine.py does. It counts dependencies, marks the needed nodes, adds cotangents into the buffers of their
nodes, and hands out the ready nodes in order.
"""

from __future__ import annotations

if False:
    import cython
from _thread import allocate_lock
from heapq import heappop, heappush
from typing import Any

from wengert import _shim as cython
from wengert._forks import in_child
from wengert.backends.selection import on_device, others
from wengert.core.buffers import InputBuffer, ReadCotangent, zeros_beside
from wengert.core.modes import quiet_enter, quiet_exit
from wengert.core.node import AccumulateGrad, Edge, Node, OpNode, TensorMeta, find_position, meta_at, next_node
from wengert.core.op import Op

if not cython.compiled:
    from wengert.core.native import add_element, as_array, is_ndarray, wk_add_into, wk_init_native, wk_init_numpy, wk_sum

    _attaching = allocate_lock()

    @in_child
    def renew_lock() -> None:
        """Replace the lock, which another thread may have held."""
        global _attaching
        _attaching = allocate_lock()

wk_init_numpy()
wk_init_native()


@cython.final
@cython.binding(False)
@cython.cclass
class GraphTask:
    """One backward run. face: the F that its rules see."""

    if not cython.compiled:
        __slots__ = (
            "__weakref__",
            "callbacks",
            "check",
            "create_graph",
            "depth",
            "detaches",
            "displaced",
            "face",
            "first_grads",
            "heap",
            "keep_graph",
            "order",
            "partial",
            "position",
            "quiet",
            "results",
            "stack",
            "sum_owned",
            "to_release",
        )

    def __init__(self, keep_graph: bool, create_graph: bool, face: Any) -> None:
        self.keep_graph = keep_graph
        self.position = None if keep_graph else find_position()  # where the pass was called, for nodes that it releases
        self.create_graph = create_graph
        self.detaches = False  # the pass is recorded for its rules alone: gradients get no graph
        self.to_release: list[Node] | None = None  # nodes that have run, if they are released at the end of the pass
        self.face = face
        self.displaced: dict[Node, InputBuffer] = {}
        # The ready nodes. Most nodes become ready in the order in which they were made, and need no heap.
        self.stack: list[Node] = []  # by ascending sequence number
        self.heap: list[tuple[int, int, Node]] = []  # (-sequence number, order, node)
        self.order = 0
        self.depth = 0  # how many passes on this thread it runs inside
        self.partial = False  # only what leads to given inputs runs
        self.first_grads: list[tuple[Any, Any]] = []  # (leaf, gradient) where this run gave the leaf its first one
        self.sum_owned = False  # what sum_of tells besides the sum
        self.quiet = False  # whether NumPy's warnings are silenced until end_quiet
        self.results: list[Any] = []
        self.callbacks: list[Any] | None = None  # called at the end of the pass; see queue_callback
        self.check: Any = None  # check(node, results, cotangents) sees what each node made; see recorder.py

    # -- buffers -------------------------------------------------------------------------------------------------------

    def find_buffer(self, node: Node) -> InputBuffer | None:
        """This run's buffer of the node, if it has one."""
        buffer: InputBuffer | None = node._buffer
        if buffer is not None and buffer.task is self:
            return buffer
        return self.displaced.get(node) if self.displaced else None

    def buffer_of(self, node: Node) -> InputBuffer:
        """This run's buffer of a node that takes part in it."""
        buffer: InputBuffer | None = node._buffer
        if buffer is not None and buffer.task is self:
            return buffer
        return self.displaced[node]

    def new_buffer(self, node: Node) -> InputBuffer:
        """Give the node a buffer of this run."""
        buffer: InputBuffer = InputBuffer.__new__(InputBuffer)
        buffer.task = self
        buffer.needed = True
        if node._buffer is None:
            node._buffer = buffer
        else:  # another run's hangs there already
            self.displaced[node] = buffer
        return buffer

    def take_buffer(self, node: Node) -> InputBuffer:
        """Take this run's buffer off the node."""
        buffer: InputBuffer | None = node._buffer
        if buffer is not None and buffer.task is self:
            node._buffer = None
            return buffer
        return self.displaced.pop(node)

    # -- ready nodes ---------------------------------------------------------------------------------------------------

    def push(self, node: Node) -> None:
        """Add a ready node: on the stack, which stays sorted, if it was made last of all on it; else into the heap."""
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

    # -- which nodes take part -----------------------------------------------------------------------------------------

    def compute_dependencies(self, roots: list[Edge]) -> None:
        """Count, for every node that can be reached, the edges that lead to it."""
        if cython.compiled:
            self.count_edges(roots)
        else:
            with _attaching:  # compiled, no other thread can come between new_buffer's test and its assignment
                self.count_edges(roots)

    def count_edges(self, roots: list[Edge]) -> None:
        """Count the edges of compute_dependencies. No other thread gives nodes buffers meanwhile."""
        stack: list[Node] = []
        for root in roots:
            node: Node = root.node
            if self.find_buffer(node) is None:
                self.new_buffer(node)
                stack.append(node)
        while stack:
            node = stack.pop()
            if node._next0 is not None:
                self.count_edge(node._next0, stack)
            if node._next1 is not None:
                self.count_edge(node._next1, stack)
            if node._n_edges > 2:
                for i in range(node._n_edges - 2):
                    behind: Node | None = node._more[i]
                    if behind is not None:
                        self.count_edge(behind, stack)

    def count_edge(self, node: Node, stack: list[Node]) -> None:
        """Count an edge that leads to a node; puts a node not met before on the stack."""
        buffer: InputBuffer | None = node._buffer
        if buffer is None or buffer.task is not self:
            buffer = self.displaced.get(node) if self.displaced else None
            if buffer is None:
                buffer = self.new_buffer(node)
                stack.append(node)
        buffer.dependencies += 1

    def mark_needed(self, roots: list[Edge], targets: list[Edge]) -> None:
        """Mark the nodes that lie on a path to one of the targets; no others run."""
        wanted = {edge.node for edge in targets}
        seen: set[Node] = set()
        for root in roots:
            # Depth first; a node is on the stack twice: to open its children, then, when they are done, to ask them.
            stack: list[tuple[Node, bool]] = [(root.node, False)]
            while stack:
                node, opened = stack.pop()
                if opened:
                    self.buffer_of(node).needed = node in wanted or self.has_needed_input(node)
                elif node not in seen:
                    seen.add(node)
                    stack.append((node, True))
                    for i in range(node._n_edges):
                        behind: Node | None = next_node(node, i)
                        if behind is not None and behind not in seen:
                            stack.append((behind, False))

    def has_needed_input(self, node: Node) -> bool:
        """Whether some node right behind this one is needed."""
        for i in range(node._n_edges):
            behind: Node | None = next_node(node, i)
            if behind is not None:
                buffer: InputBuffer | None = self.find_buffer(behind)
                if buffer is not None and buffer.needed:
                    return True
        return False

    def capture(self, edges: list[Edge]) -> None:
        """Keep the cotangents that arrive at these edges as results, in place of accumulating into leaves."""
        self.results = [None] * len(edges)
        for i, e in enumerate(edges):
            edge: Edge = e
            buffer: InputBuffer | None = self.find_buffer(edge.node)
            if buffer is not None:
                if buffer.captures is None:
                    buffer.captures = []
                buffer.captures.append((edge.input_nr, i))

    def stop_at(self, edges: list[Edge]) -> None:
        """Stop the run at those of these edges' nodes that are no leaves, if nothing behind them is needed."""
        for e in edges:
            edge: Edge = e
            buffer: InputBuffer | None = self.find_buffer(edge.node)
            if buffer is not None and not isinstance(edge.node, AccumulateGrad):
                buffer.captures = []

    # -- adding cotangents ---------------------------------------------------------------------------------------------

    def arrive(self, node: Node, nr: int, value: Any, owned: bool) -> None:
        """Receive the cotangent (or None) of an edge to output nr of node. The last edge makes the node ready.

        owned: nobody else holds value or looks into its memory.
        """
        buffer: InputBuffer | None = node._buffer  # as buffer_of says
        if buffer is None or buffer.task is not self:
            buffer = self.displaced[node]
        if value is not None and buffer.needed:
            if nr != 0:
                self.add(node, nr, value, owned)
            elif buffer.cotangent is None:
                buffer.cotangent = value
                buffer.owned = owned
            elif buffer.owned and not self.create_graph and not others:
                held = buffer.cotangent
                buffer.untaken = None
                if not wk_add_into(held, value):
                    held += value
            else:
                self.add(node, nr, value, owned)
        buffer.dependencies -= 1
        if buffer.dependencies == 0:
            self.push(node)

    def add(self, node: Node, nr: int, value: Any, owned: bool) -> None:
        """Add a cotangent of output nr, which fits it, into the buffer of the node."""
        buffer: InputBuffer = self.buffer_of(node)
        if nr != 0:
            if buffer.others is None:
                buffer.others = {}
            held = buffer.others.get(nr)
            if held is None:
                held = (None, False)
            total = self.sum_of(held[0], held[1], value, owned, meta_at(node, nr))
            buffer.others[nr] = (total, self.sum_owned)
        elif buffer.cotangent is None and (not isinstance(value, ReadCotangent) or self.takes_read(node, buffer)):
            buffer.cotangent = value
            buffer.owned = owned
        else:
            buffer.cotangent = self.sum_of(buffer.cotangent, buffer.owned, value, owned, node._meta)
            buffer.owned = self.sum_owned
            buffer.untaken = None  # unless deliver_selected puts back what both have in common

    def takes_read(self, node: Node, buffer: InputBuffer) -> bool:
        """Whether a read's cotangent that is about to arrive is the node's only one, and the node's rule takes it as it is."""
        if self.create_graph or buffer.dependencies != 1 or not isinstance(node, OpNode) or others:
            return False
        op_node: OpNode = node
        op: Op = op_node._op
        return op.takes_reads

    def settle(self, node: Node, buffer: InputBuffer) -> None:
        """Make an array of a ReadCotangent in a node's buffer, for code that looks at the buffer before the node's rules."""
        if isinstance(buffer.cotangent, ReadCotangent):
            buffer.cotangent = self.sum_of(None, False, buffer.cotangent, False, node._meta)
            buffer.owned = True

    def add_read(self, node: Node, nr: int, ct: Any, index: Any) -> None:
        """Add the cotangent of x[index], a read that names no element twice, into the buffer of x's node."""
        buffer: InputBuffer = self.buffer_of(node)
        if not buffer.needed:
            return
        if nr != 0:
            self.add(node, nr, ReadCotangent(ct, index, False), False)
            return
        held = buffer.cotangent
        if held is None:
            held = self.face.zeros(node._meta.shape, ct.dtype if node._meta.dtype is None else node._meta.dtype)
        elif not buffer.owned:
            held = self.face.copy(held)
        buffer.cotangent = held
        buffer.owned = True
        buffer.untaken = None
        if not add_element(held, index, ct):
            part = held[(index, ...) if type(index) is int else index]
            part += ct

    def sum_of(self, held: Any, held_owned: bool, value: Any, owned: bool, meta: TensorMeta) -> Any:
        """Return held + value, computed in place if one of them is owned. Set self.sum_owned to whether the sum is owned."""
        if others and meta.place != "cpu":
            with on_device(meta.place):
                return self.sum_here(held, held_owned, value, owned, meta)
        return self.sum_here(held, held_owned, value, owned, meta)

    def sum_here(self, held: Any, held_owned: bool, value: Any, owned: bool, meta: TensorMeta) -> Any:
        """sum_of on the current device."""
        self.sum_owned = True
        face = self.face
        if isinstance(value, ReadCotangent):
            read: ReadCotangent = value
            if held is None:
                held = zeros_beside(read.value, meta.shape, read.value.dtype if meta.dtype is None else meta.dtype, face)
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
        if not held_owned and owned:
            held, value = value, held
        if held_owned or owned:
            if not wk_add_into(held, value):
                held += value
            return held
        total = wk_sum(held, value)
        return as_array(held + value) if total is None else total

    # -- the state of the thread, and the end --------------------------------------------------------------------------

    def begin_quiet(self) -> None:
        """Silence NumPy's warnings until end_quiet: once for many rules that run one after another."""
        if not self.quiet:
            quiet_enter()
            self.quiet = True

    def end_quiet(self) -> None:
        """Let user code have its own context variables, and warnings, again."""
        if self.quiet:
            self.quiet = False
            quiet_exit()

    def clear(self, roots: list[Edge]) -> None:
        """After a failure: takes this run's buffers off the nodes it did not reach, first gradients off their leaves.

        What was added into a gradient that was there before stays added, as in torch: undoing it would take a copy of
        each. So does a first gradient into which something else, another thread or a hook, has added since.
        """
        for leaf, grad in self.first_grads:
            if leaf._grad is grad and (grad._counter is None or grad._counter.value == 0):
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
            for i in range(node._n_edges):
                behind: Node | None = next_node(node, i)
                if behind is not None:
                    stack.append(behind)
