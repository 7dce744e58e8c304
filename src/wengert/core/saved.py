"""SavedTensor: an array that a node keeps for its backward pass, and the version it had then.

It keeps no tensor. If a tensor is asked for (create_graph, a custom Function), it is rebuilt: an input from the node's own
edge, an output from the node itself. So saving makes no reference cycle.

If hooks on saving are active, another kind of value is kept: see saved_hooks.py. `watchers`, the number of open blocks of such
hooks in all threads, tells every save whether to look for hooks.
"""

from __future__ import annotations

if False:
    import cython
from _thread import allocate_lock
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from wengert import _shim as cython
from wengert import errors
from wengert.backends.selection import device_name
from wengert._forks import in_child
from wengert.core.modes import state
from wengert.core.node import AccumulateGrad, Edge, Node, Saved, edge_at, keeps_stacks, locate
from wengert.core.tensor import IS_DUAL, IS_INFERENCE, TensorBase, VersionCounter, counter_of, is_differentiable, wrap

INPUT = 0
OUTPUT = 1


@cython.final
@cython.no_gc
@cython.binding(False)
@cython.cclass
class SavedTensor(Saved):
    """One saved array. role says whether it was an input or an output of the node, position which one."""

    if not cython.compiled:  # the compiled class starts with the same
        __slots__ = ("_counter", "_data", "_position", "_role", "_version")
        _data: Any
        _counter: VersionCounter | None
        _version: int
        _role: int
        _position: int

        def __new__(cls, *_: Any, **__: Any) -> Any:
            self = object.__new__(cls)
            self._data = None
            self._counter = None
            self._version = 0
            self._role = INPUT
            self._position = 0
            return self


if not cython.compiled:
    watchers = 0  # open blocks, of all threads, that want to see what is saved or written
    _pack: Callable[..., Saved]
    _save_dual: Callable[..., Saved]
    _guard: Any = None
_counting = allocate_lock()


@in_child
def renew_lock() -> None:
    """Replace the lock, which another thread may have held."""
    global _counting
    _counting = allocate_lock()


def watch(change: int) -> None:
    """Count a block of hooks that is opened (1) or closed (-1)."""
    global watchers
    with _counting:
        watchers = watchers + change


class SavedHooksSwitch:
    """Context manager in whose block a pair of hooks packs what this thread saves.

    Its methods are compiled: see modes.FlagsSwitch. A subclass has `_hooks`, which returns the pair or raises."""

    def _hooks(self) -> tuple[Any, Any]:
        raise NotImplementedError

    def __enter__(self) -> None:
        hooks = self._hooks()
        state.saved_hooks.append(hooks)
        watch(1)

    def __exit__(self, kind: Any = None, error: Any = None, traceback: Any = None) -> None:
        state.saved_hooks.pop()
        watch(-1)


def is_watched() -> bool:
    """Whether any thread has such a block open."""
    return watchers != 0


def set_packer(function: Callable[..., Saved]) -> None:
    """Install the function that saves a tensor while a block of hooks is open."""
    global _pack
    _pack = function


def set_dual_saver(function: Callable[..., Any]) -> None:
    """Install the function that saves a tensor with its tangents."""
    global _save_dual
    _save_dual = function


def set_write_guard(function: Callable[..., Any]) -> None:
    """Install the function that looks at a tensor before it is written, while a block of hooks is open."""
    global _guard
    _guard = function


def before_write(target: TensorBase) -> None:
    """Keep saved values apart from a write into target's memory, which is about to happen."""
    if watchers != 0 and _guard is not None:
        _guard(target)


def save(tensor: TensorBase, array: Any, role: int, position: int) -> Saved:
    """Save array, which is tensor's own, or a cast or copy of it."""
    if watchers != 0 or tensor._flags != 0:
        return save_special(tensor, array, role, position)
    return save_array(tensor, array, role, position)


def save_special(tensor: TensorBase, array: Any, role: int, position: int) -> Saved:
    """Save an array while a block of hooks is open, or of a tensor of an unusual kind."""
    if tensor._flags & IS_INFERENCE:
        raise errors.InferenceError(
            "Inference tensors cannot be saved for backward. Please do not use Tensors created in inference mode in "
            "computation tracked by autograd. To work around this, you can make a clone to get a normal tensor and use it "
            "in autograd, or use `torch.no_grad()` instead of `torch.inference_mode()`."
        )
    saved: Saved
    if watchers == 0:
        saved = save_array(tensor, array, role, position)
    else:
        saved = _pack(tensor, array, role, position)
    return _save_dual(tensor, saved) if tensor._flags & IS_DUAL else saved


def save_array(tensor: TensorBase, array: Any, role: int, position: int) -> SavedTensor:
    """Save an array without hooks."""
    saved: SavedTensor = SavedTensor.__new__(SavedTensor)
    saved._data = array
    saved._role = role
    saved._position = position
    # A cast or a copy is the node's alone: nobody can write it.
    if array is tensor._array:
        counter = tensor._counter
        if counter is None:
            counter = counter_of(tensor)
        saved._counter = counter
        saved._version = counter.value
    return saved


def unpack_array(saved: SavedTensor, node: Node) -> Any:
    """Return the saved array. Raise RuntimeError if it was written since."""
    counter = saved._counter
    if counter is not None and counter.value != saved._version:
        raise modified_error(saved, node)
    return saved._data


def unpack_tensor(saved: SavedTensor, node: Node) -> Any:
    """Return the saved array as a tensor at the original's place in the graph."""
    array = unpack_array(saved, node)
    if saved._role == OUTPUT:
        place = state.output_places.get(node) if state.output_places else None
        if place is not None:
            return attach(array, saved._counter, place[0], place[1])
        return attach(array, saved._counter, node, saved._position)
    edge: Edge | None = edge_at(node, saved._position)  # None also for what is no input of a custom Function
    if edge is None:
        return attach(array, saved._counter, None, 0)
    return attach(array, saved._counter, edge.node, edge.input_nr)


@contextmanager
def output_place(node: Node, maker: Node | None, output_nr: int) -> Iterator[None]:
    """Unpack what `node` saved of its output as output output_nr of maker, in this block on this thread.

    The node of a write into a view is not in the graph: the view is made of its base, which the write gave a CopySlices.
    """
    before = state.output_places
    state.output_places = {**before, node: (maker, output_nr)}
    try:
        yield
    finally:
        state.output_places = before


def attach(array: Any, counter: VersionCounter | None, node: Node | None, output_nr: int) -> Any:
    """Return a tensor of array with the given place in the graph."""
    if isinstance(node, AccumulateGrad):
        accumulator: AccumulateGrad = node
        leaf: TensorBase = accumulator._variable
        if leaf._array is array:
            return leaf
    tensor: TensorBase = wrap(array)
    tensor._counter = counter
    if node is not None and is_differentiable(array):
        tensor._requires_grad = True
        if isinstance(node, AccumulateGrad):
            # The leaf in another dtype, or as it was: its cotangent goes to the leaf, and is cast where it arrives.
            tensor._accumulator = weakref.ref(node)
        else:
            tensor._grad_fn = node
            tensor._output_nr = output_nr
    return tensor


def modified_error(saved: SavedTensor, node: Node) -> Exception:
    """Return the error for a saved array that was written in place, with the lines that saved and wrote it."""
    counter: Any = saved._counter
    maker: Node | None = node
    output_nr = saved._position
    if saved._role == INPUT:
        edge: Edge | None = edge_at(node, saved._position)
        maker = None if edge is None else edge.node
        output_nr = 0 if edge is None else edge.input_nr
    if isinstance(maker, AccumulateGrad):
        maker = None
    origin = "" if maker is None else f", which is output {output_nr} of {errors.operation_name(maker.name())},"
    if keeps_stacks():
        hint = (
            "the backtrace further above shows the operation that failed to compute its gradient. "
            "The variable in question was changed in there or anywhere later. Good luck!"
        )
    else:
        hint = (
            "enable anomaly detection to find the operation that failed to compute its gradient, with "
            "torch.autograd.set_detect_anomaly(True, check_nan=False)."
        )
    saved_at, written_at = locate(node._code, node._lasti), locate(counter.code, counter.lasti)
    kind = errors.tensor_type(saved._data.dtype, device_name(saved._data))
    return errors.VersionError(
        "one of the variables needed for gradient computation has been modified by an inplace operation: "
        f"[{kind} {list(saved._data.shape)}]{origin} is at version {counter.value}; expected "
        f"version {saved._version} instead. Hint: {hint}\n"
        f"It was saved by {node.name()}{f' at {saved_at}' if saved_at else ''}."
        + (f"\nIt was last written at {written_at}." if written_at else "")
    )
