"""Node, Edge and AccumulateGrad: the graph that a forward pass leaves behind.

    y = f(x)            y.grad_fn is a Node; its edge leads to the Node (and the number of that Node's output) that
    y --Node f--> x     made x, or to the AccumulateGrad of a leaf x. Edges point from outputs to inputs, the way
                        cotangents flow.

A tensor refers to its node, and a node to the nodes of its inputs, never the other way round. Only AccumulateGrad refers to its
leaf, and the leaf has a weak reference to it. So graphs are freed by reference counts alone.
"""

from __future__ import annotations

if False:
    import cython
import itertools
import warnings
from collections import OrderedDict, deque, namedtuple
from collections.abc import Callable
from typing import Any

from wengert import _shim as cython
from wengert import errors
from wengert.backends.selection import device_name, others
from wengert.core.buffers import InputBuffer
from wengert.core.collector import count_attachment
from wengert.core.hooks import RemovableHandle, add_hook
from wengert.core.metadata import InputMetadata
from wengert.core.op import Op, Plan

if not cython.compiled:
    from wengert.core.native import wk_find_code, wk_forget, wk_may_cycle, wk_reference, wk_set_attribute

_package = __file__[: -len("core/node.py")] if __file__.endswith(".py") else __file__.rpartition("core")[0]
_internal_files: dict[str, bool] = {}  # file name of a code object -> is it one of the package's own

if not cython.compiled:
    _keep_stack: Any = None
    _find_streams: Any = None


def set_stream_finder(function: Any) -> None:
    """Install the function that returns the streams that a thread has made current, for new TensorMetas."""
    global _find_streams
    _find_streams = function


_counter = 0  # of nodes made in this process; gives every node its sequence number


@cython.final
@cython.no_gc
@cython.freelist(64)
@cython.binding(False)
@cython.cclass
class TensorMeta:
    """Shape, dtype and place of one output of a node: those of the cotangent that arrives there. Immutable and shared.

    place: the name of the device, "cpu" or "cuda:0". streams: the streams of devices that were current when it was made, or None.
    See Note [Streams of nodes] in streams.py."""

    if not cython.compiled:
        __slots__ = ("dtype", "place", "shape", "streams")

    def __init__(self, shape: tuple[int, ...], dtype: Any) -> None:
        self.shape = shape
        self.dtype = dtype
        self.place = "cpu"
        self.streams = None


def make_meta(array: Any, dtype: Any) -> TensorMeta:
    """Return the TensorMeta of an array with another dtype, which None leaves open."""
    meta: TensorMeta = TensorMeta.__new__(TensorMeta)
    meta.shape = array.shape
    meta.dtype = dtype
    meta.place = device_name(array) if others else "cpu"
    meta.streams = None if _find_streams is None else _find_streams()
    return meta


@cython.final
@cython.freelist(256)
@cython.trashcan(True)
@cython.binding(False)
@cython.cclass
class Edge:
    """A node and the number of that node's output: where the cotangent of one input goes."""

    if not cython.compiled:
        __slots__ = ("input_nr", "node")

    def __init__(self, node: Node, input_nr: int) -> None:
        self.node = node
        self.input_nr = input_nr


def make_edge(node: Node, input_nr: int) -> Edge:
    """Edge(node, input_nr), without the cost of a Python-level call when compiled."""
    edge: Edge = Edge.__new__(Edge)
    edge.node = node
    edge.input_nr = input_nr
    return edge


@cython.final
@cython.binding(False)
@cython.cclass
class NodeHooks:
    """A node's hooks, and the metadata of the user: made when the first of them is asked for."""

    if not cython.compiled:
        __slots__ = ("metadata", "post", "pre", "retained", "tensor")

    def __init__(self) -> None:
        self.tensor: dict[int, OrderedDict[int, Any]] = {}  # output number -> hooks of the tensor that is that output
        self.retained: dict[int, Any] = {}  # output number -> weak reference to the tensor that keeps its gradient
        self.pre: OrderedDict[int, Any] = OrderedDict()
        self.post: OrderedDict[int, Any] = OrderedDict()
        self.metadata: dict[Any, Any] = {}
        count_attachment(1)

    def __dealloc__(self) -> None:  # of the compiled class; see Note [Untracked] in collector.py
        count_attachment(-1)


# Attributes of nodes that hold nothing of the user's when Python code sets them: older nodes, saved arrays, a class.
_OWN_FIELDS = frozenset({
    "_buffer", "_code", "_edges", "_extra", "_forward_cls", "_hooks", "_in_jvp", "_inner", "_meta", "_metas", "_more", "_next0",
    "_next1", "_op", "_plan", "_saved", "_variable", "dirty_tensors", "non_differentiable", "saved_for_forward", "to_save",
})  # fmt: skip

PreviousFunction = namedtuple("PreviousFunction", ["function", "index"])


# Long chains of nodes are released without recursion: the trashcan of Node and Edge defers nodes that nest too deep.
@cython.trashcan(True)
@cython.binding(False)
@cython.cclass
class Node:
    """A vertex of the graph: one recorded operation. Public face: what torch calls grad_fn.

    Names that begin with an underscore are the core's own, so that a custom Function may put any other name on its ctx.

    The first two edges are fields: hardly an operation has more that lead somewhere, and an object an edge would be most
    of what the garbage collector has to visit. _edges shows all as Edge objects.
    """

    if not cython.compiled:  # the compiled class starts with the same
        __slots__ = (
            "__weakref__",
            "_buffer",
            "_code",
            "_hooks",
            "_lasti",
            "_meta",
            "_metas",
            "_more",
            "_n_edges",
            "_next0",
            "_next1",
            "_nr0",
            "_nr1",
            "_seq",
        )
        _attached: bool  # of the compiled class alone, as _link
        _link: Any
        _n_edges: int
        _next0: Node | None  # where edge 0 leads; None: nowhere
        _next1: Node | None
        _nr0: int  # at which output of that node edge 0 arrives
        _nr1: int
        _more: tuple[Any, ...]  # where the edges from the third on lead; last, where not all arrive at output 0, a tuple of these
        _meta: TensorMeta  # of output 0; None only until the node is in the graph
        _metas: tuple[TensorMeta, ...]  # of all outputs, where there are several
        _seq: int
        _buffer: InputBuffer | None
        _hooks: NodeHooks | None
        _code: Any
        _lasti: int

        def __new__(cls, *_: Any, **__: Any) -> Any:
            self = object.__new__(cls)
            self._n_edges = 0
            self._next0 = None
            self._next1 = None
            self._nr0 = 0
            self._nr1 = 0
            self._more = ()
            self._meta = None  # type: ignore[assignment]
            self._metas = ()
            self._seq = 0
            self._buffer = None
            self._hooks = None
            self._code = None
            self._lasti = -1
            return self

    def __cinit__(self) -> None:  # called when compiled; fields not named start as None or 0
        self._more = ()
        self._metas = ()
        self._lasti = -1

    # The compiled class alone has these two. See Note [Untracked] in collector.py.

    def __dealloc__(self) -> None:
        wk_forget(cython.address(self._link))
        if self._attached:
            count_attachment(-1)

    def __setattr__(self, name: Any, value: Any) -> None:
        wk_set_attribute(self, name, value)
        if not self._attached and wk_may_cycle(value) and name not in _OWN_FIELDS:
            self._attached = True
            count_attachment(1)

    @property
    def _edges(self) -> tuple[Edge | None, ...]:
        """One edge an input, None for an input that needs no gradient."""
        return tuple([edge_at(self, i) for i in range(self._n_edges)])

    @_edges.setter
    def _edges(self, edges: tuple[Edge | None, ...]) -> None:
        set_edges(self, edges)

    def name(self) -> str:
        """The operation's name, as in AddBackward0."""
        return type(self).__name__

    @property
    def next_functions(self) -> tuple[tuple[Node | None, int], ...]:
        """One (node, output number) an input, in input order; (None, 0) for an input that needs no gradient."""
        return tuple([(next_node(self, i), next_nr(self, i)) for i in range(self._n_edges)])

    @property
    def previous_functions(self) -> tuple[PreviousFunction, ...]:
        """next_functions, as torch 0.1 had it: the entries have names, .function and .index."""
        caller = 1 if cython.compiled else 2  # compiled code has no frames
        warnings.warn(errors.renamed(".previous_functions", ".next_functions"), stacklevel=caller)
        return tuple([PreviousFunction(function, index) for function, index in self.next_functions])

    @property
    def num_inputs(self) -> int:
        """The number of inputs: of entries in next_functions."""
        return self._n_edges

    @property
    def num_outputs(self) -> int:
        """The number of outputs: of cotangents that the node takes."""
        return count_outputs(self)

    @property
    def requires_grad(self) -> bool:
        """Whether a backward pass will ever run the node: some input of it requires grad."""
        return any(function is not None for function, _ in self.next_functions)

    @property
    def metadata(self) -> dict[Any, Any]:
        """A dict of the user's own, kept as long as the node lives."""
        return self._ensure_hooks().metadata

    def _sequence_nr(self) -> int:
        """The node's place in the order of creation: ready nodes run highest first."""
        return self._seq

    def _set_sequence_nr(self, sequence_nr: int) -> None:
        self._seq = sequence_nr

    @property
    def _input_metadata(self) -> tuple[InputMetadata, ...]:
        """Shape, dtype and device of the cotangent of each output."""
        return tuple([InputMetadata(meta_at(self, nr)) for nr in range(count_outputs(self))])

    def _ensure_hooks(self) -> NodeHooks:
        if self._hooks is None:
            self._hooks = NodeHooks()
        return self._hooks

    def register_hook(self, fn: Callable[..., Any]) -> RemovableHandle:
        """Call fn(grad_inputs, grad_outputs) each time the node has run; what it returns replaces grad_inputs."""
        return add_hook(self._ensure_hooks().post, fn)

    def register_prehook(self, fn: Callable[..., Any]) -> RemovableHandle:
        """Call fn(grad_outputs) each time before the node runs; what it returns replaces grad_outputs."""
        return add_hook(self._ensure_hooks().pre, fn)

    def _run(self, cotangents: list[Any], create_graph: bool) -> Any:
        """Return one cotangent (or None) an edge. Tensors in, tensors out, under the grad mode of the pass."""
        raise NotImplementedError(f"{self.name()} does not say how to run")

    def _release(self, position: Any) -> None:
        """Forget what was saved, once a pass without retain_graph has run the node. position: where that was called."""

    def _source(self) -> str | None:
        """Return the line that called the operation, "train.py:12, in step", or None if no Python code did."""
        return locate(self._code, self._lasti)


if not cython.compiled:
    del Node.__setattr__


@cython.no_gc
@cython.freelist(256)
@cython.binding(False)
@cython.cclass
class Saved:
    """Base of SavedTensor (saved.py): lets a node tell the arrays it holds from the numbers."""

    if not cython.compiled:
        __slots__ = ()


def holds_arrays(values: list[Any] | tuple[Any, ...]) -> bool:
    """Whether a node's saved values include an array."""
    for value in values:
        if isinstance(value, Saved) or (isinstance(value, tuple) and len(value) != 0 and holds_arrays(value)):
            return True
    return False


@cython.trashcan(True)
@cython.binding(False)
@cython.cclass
class OpNode(Node):
    """The node of a registered operation: its rules and what they need, as the op's Plan says."""

    if not cython.compiled:  # the compiled class starts with the same
        __slots__ = ("_extra", "_op", "_plan", "_saved")
        _op: Op
        _plan: Plan
        _extra: Any  # of a read, the index, all that it keeps; once released, where that was, and what is left: release_op
        _saved: tuple[Any, ...] | None  # a tuple: the garbage collector soon leaves one alone that holds no containers

        def __new__(cls, *_: Any, **__: Any) -> Any:
            self = object.__new__(cls)  # not Node.__new__: a call costs as much as all the fields
            self._n_edges = 0
            self._next0 = None
            self._next1 = None
            self._nr0 = 0
            self._nr1 = 0
            self._more = ()
            self._meta = None  # type: ignore[assignment]
            self._metas = ()
            self._seq = 0
            self._buffer = None
            self._hooks = None
            self._code = None
            self._lasti = -1
            self._op = None  # type: ignore[assignment]
            self._plan = None  # type: ignore[assignment]
            self._extra = None
            self._saved = None
            return self

    def _release(self, position: Any) -> None:
        release_op(self, position)


def release_op(node: OpNode, position: Any) -> None:
    """Forget what an operation's node saved. position: where the pass was called, for the error of a second one.

    Saved values without an array, shapes and numbers, stay. Then the node can run any number of times.
    """
    if node._saved is not None and holds_arrays(node._saved):
        # Shapes and numbers stay visible, as _saved_dim and the like.
        node._extra = (*(position or (None, -1)), plain_values(node._saved)) if node._plan.shows_values else position
        node._saved = None


DROPPED = ...  # stands for a released value


def plain_values(values: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return values with DROPPED in the place of each value that may hold an array."""
    return tuple([DROPPED if isinstance(v, Saved) or not is_plain(v) else v for v in values])


def is_plain(value: Any) -> bool:
    """Whether a value is a number, a string, None, or a tuple of these."""
    if isinstance(value, tuple):
        for v in value:
            if type(v) is not int and not is_plain(v):  # most often it is a shape
                return False
        return True
    return value is None or isinstance(value, (bool, int, float, complex, str))


@cython.binding(False)
@cython.cclass
class AccumulateGrad(Node):
    """The node of a leaf: adds gradients into its .grad. A leaf has one, which lives as long as a graph refers to it."""

    if not cython.compiled:  # the compiled class starts with the same
        __slots__ = ("_variable",)
        _variable: Any

        def __new__(cls, *_: Any, **__: Any) -> Any:
            self = Node.__new__(cls)
            self._variable = None
            return self

    def _sequence_nr(self) -> int:
        """Return the largest number there is, as torch does: leaves come before all operations."""
        return 2**64 - 1

    @property
    def variable(self) -> Any:
        """The leaf."""
        return self._variable

    @property
    def requires_grad(self) -> bool:
        return True

    def name(self) -> str:
        return "torch::autograd::AccumulateGrad"


def next_node(node: Node, position: int) -> Node | None:
    """Return the node to which the cotangent of an input goes, or None."""
    if position == 0:
        return node._next0
    if position == 1:
        return node._next1
    behind: Node | None = node._more[position - 2]
    return behind


def next_nr(node: Node, position: int) -> int:
    """Return the output number of next_node at which the cotangent of an input arrives. 0 if the edge leads nowhere."""
    if position == 0:
        return node._nr0
    if position == 1:
        return node._nr1
    if len(node._more) == node._n_edges - 2:
        return 0
    nrs: tuple[int, ...] = node._more[node._n_edges - 2]
    return nrs[position - 2]


def edge_at(node: Node, position: int) -> Edge | None:
    """Return the edge of one input, or None if it needs no gradient or there is no such input."""
    if position >= node._n_edges:
        return None
    node_there: Node | None = next_node(node, position)
    return None if node_there is None else make_edge(node_there, next_nr(node, position))


def set_edges(node: Node, edges: tuple[Edge | None, ...]) -> None:
    """Give the node all its edges."""
    node._n_edges = len(edges)
    node._next0 = node._next1 = None
    node._nr0 = node._nr1 = 0
    first: Edge | None = edges[0] if len(edges) > 0 else None
    second: Edge | None = edges[1] if len(edges) > 1 else None
    if first is not None:
        node._next0 = first.node
        node._nr0 = first.input_nr
    if second is not None:
        node._next1 = second.node
        node._nr1 = second.input_nr
    node._more = ()
    if len(edges) > 2:
        nrs = tuple([0 if e is None else e.input_nr for e in edges[2:]])
        set_more(node, [None if e is None else e.node for e in edges[2:]], nrs if any(nrs) else None)


def set_more(node: Node, nodes: list[Node | None], nrs: tuple[int, ...] | None) -> None:
    """Give the node its edges from the third on. nrs: None if all arrive at output 0."""
    if nrs is not None:
        nodes.append(nrs)  # type: ignore[arg-type]
    node._more = tuple(nodes)


def freed_error(node: Any) -> Exception:
    """Return the error for a node whose saved values are asked for after their release."""
    code, lasti = (getattr(node, "_extra", None) or (None, -1))[:2]
    recorded_at, freed_at = locate(node._code, node._lasti), locate(code, lasti)
    return errors.GraphFreedError(
        "Trying to backward through the graph a second time (or directly access saved tensors after they have already "
        "been freed). Saved intermediate values of the graph are freed when you call .backward() or autograd.grad(). "
        "Specify retain_graph=True if you need to backward through the graph a second time or if you need to access "
        "saved tensors after calling backward."
        f"\nThe freed values are those of {node.name()}{f', recorded at {recorded_at}' if recorded_at else ''}"
        f"{f'; the pass at {freed_at} freed them' if freed_at else ''}."
    )


def make_node_class(name: str, base: type) -> type:
    """Return a class for nodes of this name. They print as torch's do: <AddBackward0 object at 0x...>, as if built in."""
    return type(name, (base,), {"__slots__": (), "__module__": "builtins"})


accumulate_grad_class = make_node_class("AccumulateGrad", AccumulateGrad)


def meta_at(node: Node, output_nr: int) -> TensorMeta:
    """Shape and dtype of one of the node's outputs."""
    return node._meta if output_nr == 0 else node._metas[output_nr]


def count_outputs(node: Node) -> int:
    """The number of the node's outputs."""
    return len(node._metas) if len(node._metas) != 0 else 1


def set_metas(node: Node, metas: tuple[TensorMeta, ...]) -> None:
    """Tell the node the shapes and dtypes of all its outputs."""
    node._meta = metas[0] if len(metas) != 0 else None  # type: ignore[assignment]
    node._metas = metas if len(metas) > 1 else ()


def next_sequence_nr() -> int:
    """Return a number larger than all before."""
    global _counter
    _counter += 1
    return _counter


if not cython.compiled:
    next_sequence_nr = itertools.count(1).__next__  # no Python frame


def set_stack_keeper(function: Any) -> None:
    """Install the function that stores the full call stack on each new node. None stops it."""
    global _keep_stack
    _keep_stack = function


def keeps_stacks() -> bool:
    """Whether anomaly detection is on."""
    return _keep_stack is not None


def record_position(node: Node, skip: int = 2) -> None:
    """Note where the user's code called the operation: a code object and an offset, no frame.

    skip: as in native.wk_find_code; counted from record_position, and of the uncompiled core only.
    """
    if cython.compiled:
        node._code = wk_find_code(_internal_files, _package, cython.address(node._lasti))
    else:
        node._code, node._lasti = wk_find_code(_internal_files, _package, skip)
    if _keep_stack is not None:
        _keep_stack(node)


def find_position() -> tuple[Any, int]:
    """Return the code object and the offset at which the user's code stands now."""
    if cython.compiled:
        lasti: int = -1
        code = wk_find_code(_internal_files, _package, cython.address(lasti))
        return code, lasti
    return wk_find_code(_internal_files, _package, 2)


# -- where tensors were taken out of the graph -----------------------------------------------------------------------------

# What explain() looks up, always there, and so it has to be cheap: positions without frames, weak references, few leaves.
cuts: deque[tuple[str, Any, int, Any]] = deque(maxlen=1000)  # (what made it, code, offset, leaf or leaves); the latest
blocks: list[tuple[Any, int]] = [(None, -1)]  # where recording was switched off, by the number that the flags word then has
_block_numbers: dict[tuple[int, int], int] = {}
_CUT_REACH = 8  # nodes that are looked through for leaves


def note_cut(kind: str, tensor: Any) -> None:
    """Remember that the values of a tensor that requires grad went on without its history, and where."""
    node: Node | None = tensor._grad_fn
    leaves = wk_reference(tensor) if node is None else leaves_behind(node)
    code: Any
    if cython.compiled:
        lasti: int = -1
        code = wk_find_code(_internal_files, _package, cython.address(lasti))
    else:
        code, lasti = wk_find_code(_internal_files, _package, 2)
    cuts.append((kind, code, lasti, leaves))


def leaves_behind(first: Node) -> list[Any]:
    """Weak references to the leaves nearest behind a node."""
    leaves: list[Any] = []
    queue: list[Node] = [first]
    i: int = 0
    while i < len(queue) and i < _CUT_REACH:
        node: Node = queue[i]
        i += 1
        if isinstance(node, AccumulateGrad):
            leaves.append(wk_reference(node._variable))
            continue
        for position in range(node._n_edges):
            behind: Node | None = next_node(node, position)
            if behind is not None:
                queue.append(behind)
    return leaves


def note_block() -> int:
    """Return the number, for the flags word, of the place at which the user switches recording off."""
    place = find_position()
    key = (id(place[0]), place[1])
    number = _block_numbers.get(key, 0)
    if number == 0 and len(blocks) < 1 << 15:
        number = _block_numbers[key] = len(blocks)
        blocks.append(place)
    return number


def is_internal(code: Any) -> bool:
    """Whether a code object is one of the package's own."""
    internal = _internal_files.get(code.co_filename)
    if internal is None:
        internal = _internal_files[code.co_filename] = code.co_filename.startswith(_package)
    return internal


def locate(code: Any, lasti: int) -> str | None:
    """The source position of an instruction, "train.py:12, in step"; None for no code."""
    if code is None or lasti < 0:
        return None
    return f"{code.co_filename}:{line_number(code, lasti)}, in {code.co_name}"


def line_number(code: Any, lasti: int) -> Any:
    """The source line of an instruction."""
    number = code.co_firstlineno
    for start, end, line in code.co_lines():
        if start <= lasti < end and line is not None:
            number = line
    return number
