"""Branches that are not taken: the places of a cotangent that are 0 because a selection has chosen another branch there.

Note [Untaken]
where(x > 0, sqrt(x), 0) is 0 for x <= 0, and so is its derivative. But rules multiply: at 0, sqrt gets the cotangent 0, and the
derivative of sqrt is infinite there, so the product is NaN. A cotangent can be 0 as a value, as that of sqrt(x) in sqrt(x) ** 2,
or because the branch was not selected. The number does not tell these apart. So a rule that selects says which places are
untaken (Rule.untaken). The places are an array of bools that broadcasts to the cotangent, and travel with it in its buffer:

- An elementwise operation: its results are set to 0 at the untaken places before broadcasting is undone. The places go on.
- An operation that moves elements, or sums them with weights of one sign: its rule is run on 1 at taken places and 0
  elsewhere. Where the result is 0, the place behind the operation is untaken.
- An operation that works along dimensions, as softmax or a norm: a whole line of its input is untaken, and gets 0, if all
  results of that line are untaken.
- Any other operation ends the places, and its rule sees a 0. But if its only element is untaken, all of its inputs are.

Where broadcasting is undone, an element is untaken if all elements summed into it are. A sum of cotangents keeps the places
that all of them have. The result of a hook keeps the places at which it is still 0. User code and writes into views end the
places.
"""

from __future__ import annotations

if False:
    import cython
from typing import Any

import numpy as np

from wengert import _shim as cython
from wengert.backends.selection import backend_of, face_of, others, together
from wengert.core.buffers import InputBuffer, ReadCotangent, dense_of
from wengert.core.delivery import deliver_result
from wengert.core.node import Node, OpNode, TensorMeta, meta_at, next_node, next_nr
from wengert.core.op import Op, Plan, RuleCall
from wengert.core.task import GraphTask
from wengert.core.tensor import TensorBase

# Op.carries: what becomes of untaken places at an operation.
ENDS = 0
ELEMENTWISE = 1
MOVES = 2
LANES = 3

if not cython.compiled:
    from wengert.core.native import as_array, has_shape, may_have_nan, wk_init_numpy

wk_init_numpy()


if not cython.compiled:
    _observer: Any = None


def set_places_observer(function: Any) -> None:
    """Call function(made_by, arguments, array) for each array of untaken places that is made. None: no more."""
    global _observer
    _observer = function


_SMALL = 1024  # elements. A larger mask is made at once, so that the arrays that it is made of can be released.


@cython.final
@cython.binding(False)
@cython.cclass
class Places:
    """Untaken places of a cotangent: an array of bools that broadcasts to the cotangent. It is made when first asked for.

    Most are never asked for: they matter only if a rule has made a NaN.
    """

    if not cython.compiled:
        __slots__ = ("arguments", "function", "known")

    def __init__(self, function: Any, arguments: tuple[Any, ...]) -> None:
        self.function = function  # function(*arguments), with arrays for Places, gives the array
        self.arguments = arguments
        self.known = None

    def find(self) -> Any:
        """Return the array. It is not found by recursion: in a loop that selects, each step's Places are made of the next one's."""
        stack: list[Places] = [self]
        while stack:
            places: Places = stack[-1]
            if places.known is None:
                unknown = [x for x in places.arguments if isinstance(x, Places) and not is_known(x)]
                if len(unknown) != 0:
                    stack.extend(unknown)
                    continue
                arguments = [known_of(x) for x in places.arguments]
                places.known = places.function(*arguments)
                if isinstance(places.known, np.generic):  # NumPy makes a scalar of an array without dimensions
                    places.known = np.asarray(places.known)
                if _observer is not None:
                    _observer(places.function, arguments, places.known)
                places.function, places.arguments = None, ()
            stack.pop()
        return self.known

    def still(self, value: Any) -> Any:
        """Return the places at which `value`, which replaces the cotangent, is 0."""
        return later(_both, (self, raw(value) == 0), _SMALL + 1)


def later(function: Any, arguments: tuple[Any, ...], size: int) -> Places:
    """Return the Places that function(*arguments) gives. size: number of elements of the cotangent."""
    found: Places = Places(function, arguments)
    if size > _SMALL:
        found.find()
    return found


def is_known(places: Places) -> bool:
    """Whether its array has been made."""
    return places.known is not None


def known_of(x: Any) -> Any:
    """Return the array of known Places. Anything else is returned as it is."""
    if isinstance(x, Places):
        places: Places = x
        return places.known
    return x


def _both(x: Any, y: Any) -> Any:
    """Return x & y of two masks that broadcast."""
    x, y = together((x, y))
    return x & y


def _either(x: Any, y: Any) -> Any:
    """Return x | y of two masks that broadcast."""
    x, y = together((x, y))
    return x | y


def places_behind(
    task: GraphTask, node: OpNode, call: RuleCall, edges: Any, results: list[Any], ct: Any, values: list[Any], untaken: Any
) -> list[Any] | None:
    """The untaken places that a rule's results hand on to these edges, None for none; sets the results to 0 there.

    untaken: the Places of ct, the node's cotangent, or None."""
    op: Op = node._op
    array = raw(ct)
    arguments = [values[p] for p in call.positions]
    if task.create_graph:
        arguments = [raw(x) for x in arguments]
    chosen = None if call.untaken is None or not carried_on(node, edges) else later(call.untaken, tuple(arguments), array.size)
    if untaken is None and chosen is None:
        return None
    if op.carries == MOVES:
        moved = None if untaken is None else move(node, call, edges, array, arguments, untaken)
        if chosen is None:
            return moved
        return [chosen if moved is None or moved[0] is None else later(_either, (chosen, moved[0]), array.size)]
    shape = array.shape
    places = untaken  # of the results
    if call.untaken is not None or op.carries == ELEMENTWISE:
        if untaken is not None and not call.passes and op.carries == ELEMENTWISE:
            set_zero(task, results, shape, untaken)
        if chosen is not None:
            places = chosen if untaken is None else later(_either, (untaken, chosen), array.size)
    elif op.carries == LANES:
        dim = arguments[call.rule.names.index("dim")]
        places = later(lanes, (untaken, shape, shape_behind(node, edges), dim), array.size)
        shape = shape_behind(node, edges)
        set_zero(task, results, shape, places)
    elif array.size == 1:
        places = later(all_or_none, (untaken,), 1)
        for j in range(len(edges)):
            if getattr(raw(results[j]), "dtype", None) is not None:
                set_zero(task, results, raw(results[j]).shape, places)
        return [places] * len(edges)
    else:
        return None
    return [fit_places(node, edges[j], results[j], places, shape) for j in range(len(edges))]


def set_zero(task: GraphTask, results: list[Any], shape: tuple[int, ...], places: Places) -> None:
    """Set those of the results that have this shape to 0 at places.

    They are, already, unless they are NaN; but under create_graph their own derivatives may be NaN all the same."""
    for j in range(len(results)):
        if (task.create_graph or may_have_nan(results[j])) and is_of(raw(results[j]), shape):
            face = task.face if task.create_graph or not others else face_of(backend_of(results[j]))
            results[j] = face._zero_where(results[j], places.find())


def fit_places(node: Node, edge: int, result: Any, places: Places, shape: tuple[int, ...]) -> Any:
    """The untaken places of a result as they reach the node behind an edge, once broadcasting is undone; None if none do."""
    if not carries(next_node(node, edge)) or not is_of(raw(result), shape):
        return None
    meta: TensorMeta = meta_behind(node, edge)
    return places if meta.shape == shape else later(all_of, (places, shape, meta.shape), raw(result).size)


def all_of(places: Any, shape: tuple[int, ...], into: tuple[int, ...]) -> Any:
    """Mask of the elements of the smaller shape into which only untaken elements are summed."""
    added = len(shape) - len(into)
    axes = tuple([i for i in range(len(shape)) if i < added or (into[i - added] == 1 and shape[i] != 1)])
    return backend_of(places).broadcast_to(places, shape).all(axis=axes, keepdims=True).reshape(into)


def all_or_none(places: Any) -> Any:
    """A mask of one element: whether all are untaken."""
    return as_array(places.all())


def lanes(places: Any, shape: tuple[int, ...], into: tuple[int, ...], dim: Any) -> Any:
    """The elements of an input, of shape into, all of whose results along dim (None: along all) are untaken."""
    xp = backend_of(places)
    full = xp.broadcast_to(places, shape)
    if dim is None or len(into) == 0 or (isinstance(dim, (tuple, list)) and len(dim) == 0):
        return as_array(full.all())
    axis = tuple(dim) if isinstance(dim, list) else dim
    return full.all(axis=axis, keepdims=True) if len(shape) == len(into) else xp.expand_dims(full, axis)


def move(node: OpNode, call: RuleCall, edges: Any, ct: Any, arguments: list[Any], untaken: Places) -> list[Any]:
    """Return the places behind each edge of an operation that moves elements. See moved."""
    several = call.target < 0 or call.target == node._op.variadic
    whole = None
    found: list[Any] = [None] * len(edges)
    for j in range(len(edges)):
        if carries(next_node(node, edges[j])):
            if whole is None:
                whole = later(moved, (untaken, call.function, arguments, ct.shape, ct.dtype.kind, several), 1)
            found[j] = later(part_of, (whole, j, meta_behind(node, edges[j]).shape), ct.size)
    return found


def moved(places: Any, rule: Any, arguments: list[Any], shape: tuple[int, ...], kind: str, several: bool) -> list[Any]:
    """Return what a rule that moves elements makes of 1 at taken places and 0 elsewhere: one result an edge."""
    xp = backend_of(places)
    taken = xp.logical_not(xp.broadcast_to(places, shape)).astype(np.complex128 if kind == "c" else np.float64)
    result = rule(face_of(xp), taken, *arguments)
    return list(result) if several else [result]


def part_of(results: list[Any], j: int, shape: tuple[int, ...]) -> Any:
    """Return where result j, made to fit an input of this shape, is 0."""
    part = results[j]
    if part is None:
        return np.zeros((), np.bool_)
    if isinstance(part, ReadCotangent):
        part = dense_of(part, shape, part.value.dtype, face_of(backend_of(part.value)))
    zero = as_array(as_array(part) == 0)
    return zero if zero.shape == shape else all_of(zero, zero.shape, shape)


def carries(behind: Node | None) -> bool:
    """Whether a node has a use for the untaken places of its cotangent."""
    if not isinstance(behind, OpNode):
        return False
    op: Op = behind._op
    plan: Plan = behind._plan
    if op.output_names is not None:
        return False
    if op.carries != ENDS or plan.selects:
        return True
    shape = behind._meta.shape
    return shape.count(1) == len(shape)


def carried_on(node: OpNode, edges: Any) -> bool:
    """Whether behind one of these edges is such a node."""
    for i in edges:
        if carries(next_node(node, i)):
            return True
    return False


def meta_behind(node: Node, edge: int) -> TensorMeta:
    """Return the TensorMeta at the end of an edge that leads somewhere."""
    return meta_at(next_node(node, edge), next_nr(node, edge))  # type: ignore[arg-type]


def shape_behind(node: Node, edges: Any) -> tuple[int, ...]:
    """The shape of the inputs of these edges, which all have one."""
    for i in edges:
        if next_node(node, i) is not None:
            return meta_behind(node, i).shape
    return ()


def deliver_selected(
    task: GraphTask, node: Node, position: int, result: Any, ct: Any, values: Any, places: Any
) -> None:
    """Hand on a result with untaken places, or None for none."""
    behind: Node | None = next_node(node, position)
    if behind is None:
        return
    buffer: InputBuffer = task.buffer_of(behind)
    first = buffer.cotangent is None
    held = buffer.untaken
    deliver_result(task, node, position, result, ct, values)
    if result is None:
        return
    if places is not None and next_nr(node, position) == 0 and buffer.needed and carries(behind):
        buffer.untaken = places if first else None if held is None else later(_both, (held, places), raw(buffer.cotangent).size)


def still_untaken(places: list[Any] | None, results: list[Any]) -> list[Any] | None:
    """The untaken places of results that a hook may have replaced: those where they still are 0."""
    if places is None:
        return None
    return [None if p is None or r is None else p.still(r) for p, r in zip(places, results, strict=True)]


def is_of(x: Any, shape: tuple[int, ...]) -> bool:
    """Whether x is an array of this shape. For the shape () NumPy's scalars count, too."""
    return has_shape(x, shape) or (type(x) in others and x.shape == shape) or (len(shape) == 0 and isinstance(x, np.generic))


def raw(x: Any) -> Any:
    """Return the array of a tensor, a tuple of those of a tuple, and anything else as it is."""
    if isinstance(x, TensorBase):
        tensor: TensorBase = x
        return tensor._array
    return tuple([raw(y) for y in x]) if isinstance(x, tuple) else x
