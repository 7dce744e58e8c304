"""Tools for the graph: gradient edges, hooks on saved tensors, hooks on several gradients, pictures and summaries."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any
from weakref import WeakKeyDictionary, ref

from wengert import errors
from wengert._forks import import_late
from wengert.core.hook_calls import will_run
from wengert.core.hooks import RemovableHandle
from wengert.core.modes import current_task, state
from wengert.core.mutation import MutationKeeper
from wengert.core.node import Node
from wengert.core.passes import GradientEdge
from wengert.core.saved import SavedHooksSwitch
from wengert.core.saved_hooks import refuse_hooks
from wengert.core.tensor import TensorBase, gradient_edge
from wengert.core.views import bump

__all__ = [
    "GradientEdge",
    "Node",
    "allow_mutation_on_saved_tensors",
    "disable_saved_tensors_hooks",
    "get_gradient_edge",
    "increment_version",
    "register_multi_grad_hook",
    "save_on_cpu",
    "saved_tensors_hooks",
]


def get_gradient_edge(tensor: TensorBase) -> GradientEdge:
    """Return the edge of the graph at which this tensor's gradient arrives. Raises RuntimeError if it requires no gradient.

    >>> import wengert
    >>> x = wengert.ones(2, requires_grad=True)
    >>> y = x.exp()
    >>> wengert.autograd.graph.get_gradient_edge(y).node is y.grad_fn
    True
    """
    if not tensor.requires_grad:
        raise RuntimeError("It is not possible to get the gradient edge for a Tensor that does not require gradients")
    edge: Any = gradient_edge(tensor)
    return GradientEdge(edge.node, edge.input_nr)


def increment_version(tensor: TensorBase | Iterable[TensorBase]) -> None:
    """Increment the version counters of tensors whose memory code outside wengert has written into.

    tensor: a tensor or an iterable of tensors. Raises RuntimeError for anything else.
    """
    if isinstance(tensor, TensorBase):
        tensor = (tensor,)
    elif not isinstance(tensor, Iterable):
        raise errors.GraphError(f"increment_version expect a Iterable[Tensor] as input, but got {type(tensor).__name__}")
    for t in tensor:
        if not isinstance(t, TensorBase):
            raise errors.GraphError(
                f"increment_version expects each element of the iterable to be a tensor, but got {type(t).__name__}"
            )
        bump(t)


# -- hooks on saved tensors --------------------------------------------------------------------------------------------


class saved_tensors_hooks(SavedHooksSwitch):
    """Context manager: save pack_hook(tensor) in place of each tensor that an operation saves; unpack_hook restores it.

    pack_hook(tensor) runs, unrecorded, when the tensor is saved, and must not write into it. unpack_hook(packed) runs each
    time the value is needed: once in a backward pass, and at each access to grad_fn._saved_self and the like. It must
    return a tensor with the values of the packed one. If blocks are nested, only the innermost hooks are used. The hooks
    apply to the calling thread.

    Raises TypeError for hooks that are not callable, and RuntimeError inside disable_saved_tensors_hooks.

    >>> import wengert
    >>> x = wengert.tensor([2.0], requires_grad=True)
    >>> with wengert.autograd.graph.saved_tensors_hooks(lambda t: t.numpy(force=True), wengert.from_numpy):
    ...     y = x.exp()
    >>> y.backward()
    >>> x.grad
    tensor([7.3891])
    """

    def __init__(self, pack_hook: Callable[[Any], Any], unpack_hook: Callable[[Any], Any]) -> None:
        self.pack_hook = pack_hook
        self.unpack_hook = unpack_hook

    def _hooks(self) -> tuple[Any, Any]:
        if not callable(self.pack_hook) or not callable(self.unpack_hook):
            raise errors.saved_hooks_type(type(self.pack_hook), type(self.unpack_hook))
        if state.saved_hooks_refused is not None:
            raise errors.HookError(state.saved_hooks_refused)
        return self.pack_hook, self.unpack_hook


class save_on_cpu(saved_tensors_hooks):
    """Context manager: keep saved tensors in the CPU's memory, and move them back when they are needed.

    A tensor in the CPU's memory, hence every tensor here, is kept as it is. pin_memory and device_type are accepted,
    without effect.
    """

    def __init__(self, pin_memory: bool = False, device_type: str = "cuda") -> None:
        # detach() avoids a reference cycle between a node and its saved output.
        super().__init__(
            lambda tensor: (tensor.device, tensor.detach().cpu()), lambda packed: packed[1].to(device=packed[0])
        )


@contextmanager
def disable_saved_tensors_hooks(error_message: str) -> Iterator[None]:
    """Context manager: entering saved_tensors_hooks in its block raises RuntimeError(error_message).

    Raises this RuntimeError itself if saved_tensors_hooks is active. Hooks on single saved tensors,
    grad_fn._raw_saved_self.register_hooks, are still allowed.
    """
    before = refuse_hooks(error_message)
    try:
        yield
    finally:
        refuse_hooks(before)


@contextmanager
def allow_mutation_on_saved_tensors() -> Iterator[MutationKeeper]:
    """Context manager: allow writes into saved tensors, which are copied before the write.

    The backward pass must run inside the block; later it raises AssertionError. Nested blocks raise RuntimeError. Writes
    by code outside wengert, into t.numpy() for instance, are not detected.

    >>> import wengert
    >>> x = wengert.zeros(2, requires_grad=True)
    >>> with wengert.autograd.graph.allow_mutation_on_saved_tensors():
    ...     y = x.exp()
    ...     z = y * 1
    ...     _ = y.zero_()
    ...     z.sum().backward()
    >>> x.grad
    tensor([1., 1.])
    """
    if state.mutation is not None:
        raise errors.GraphError("allow_mutation_on_saved_tensors contexts cannot be nested")
    keeper = MutationKeeper()
    with saved_tensors_hooks(keeper.pack, keeper.unpack):
        state.mutation = keeper
        try:
            yield keeper
        finally:
            state.mutation = None
            keeper.closed = True
            keeper.clear()


# -- hooks on several gradients ----------------------------------------------------------------------------------------


class MultiHandle(RemovableHandle):
    """Handle that removes a hook on several tensors."""

    def __init__(self, handles: tuple[RemovableHandle, ...]) -> None:
        self.handles = handles

    def remove(self) -> None:
        """Remove the hook from all tensors. Does nothing if it is removed already."""
        for handle in self.handles:
            handle.remove()


def register_multi_grad_hook(
    tensors: Sequence[TensorBase], fn: Callable[[Any], None], *, mode: str = "all"
) -> RemovableHandle:
    """Register a hook fn on the gradients of several tensors, called in each backward pass that computes any of them.

    mode: "all" calls fn(list) as soon as the pass has computed all of these gradients that it will compute, with None for
    the others. "any" calls fn(gradient) once, with the first gradient; tensors that require no gradient are ignored. The
    result of fn is ignored. Returns a handle whose remove() removes the hook. Raises ValueError for another mode and, in
    mode "all", RuntimeError for a tensor that requires no gradient.

    >>> import wengert
    >>> x, y = wengert.ones(2, requires_grad=True), wengert.ones(2, requires_grad=True)
    >>> with wengert.autograd.graph.register_multi_grad_hook((x, y), lambda grads: print(grads)):
    ...     (2 * x + y).sum().backward()
    [tensor([2., 2.]), tensor([1., 1.])]
    """
    if mode not in ("all", "any"):
        raise errors.ElementError(f"Expects mode to be one of ('all', 'any') but got {mode}")
    if mode == "any":
        tensors = [t for t in tensors if t.requires_grad]
        first = _AnyHook(fn)
        return MultiHandle(tuple([t.register_hook(first) for t in tensors]))
    for t in tensors:
        if not t.requires_grad:
            raise errors.hook_without_grad()
    together = _AllHooks(fn, tensors)
    return MultiHandle(tuple([t.register_hook(together.hook_of(i)) for i, t in enumerate(tensors)]))


class _AnyHook:
    """Hook of mode "any": calls fn with the first gradient of a pass."""

    def __init__(self, fn: Callable[[Any], None]) -> None:
        self.fn = fn
        self.called: WeakKeyDictionary[Any, bool] = WeakKeyDictionary()

    def __call__(self, grad: Any) -> None:
        task = current_task()
        again = task in self.called
        self.called[task] = True
        if not again:
            self.fn(grad)


class _AllHooks:
    """Hooks of mode "all": each hook stores its gradient, and the last one of a pass calls fn."""

    def __init__(self, fn: Callable[[Any], None], tensors: Sequence[TensorBase]) -> None:
        self.fn = fn
        # Weak references, because the nodes, or the leaves, hold these hooks.
        self.places = [ref(t if t.is_leaf else get_gradient_edge(t).node) for t in tensors]
        self.passes: WeakKeyDictionary[Any, _GatheredGradients] = WeakKeyDictionary()

    def hook_of(self, position: int) -> Callable[[Any], None]:
        """Return the hook of the tensor at a position."""

        def hook(grad: Any) -> None:
            task = current_task()
            gathered = self.passes.get(task)
            if gathered is None:
                nodes = [_node_at(place()) for place in self.places]
                here = nodes[position]  # this node runs now, so will_run is False for it
                missing = sum([node is here or (node is not None and will_run(task, node)) for node in nodes])
                gathered = self.passes[task] = _GatheredGradients([None] * len(nodes), missing)
            gathered.grads[position] = grad
            gathered.missing -= 1
            if gathered.missing == 0:
                del self.passes[task]
                self.fn(gathered.grads)

        return hook


def _node_at(place: TensorBase | Node | None) -> Node | None:
    """Return the node of a leaf, or the node itself, or None for None."""
    return get_gradient_edge(place).node if isinstance(place, TensorBase) else place


class _GatheredGradients:
    """Gradients that a pass has computed so far, and the number of those still missing."""

    def __init__(self, grads: list[Any], missing: int) -> None:
        self.grads = grads
        self.missing = missing


def __getattr__(name: str) -> Any:
    if name in ("draw", "memory_summary"):  # rarely used, so loaded at the first use
        return getattr(import_late("wengert.autograd." + ("drawing" if name == "draw" else "memory_view")), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*__all__, "draw", "memory_summary"})
