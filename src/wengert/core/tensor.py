"""TensorBase: an array, whether it requires a gradient, and the edge of the graph that it stands on.

It has no operations: wengert.tensor.Tensor, the class that users see, adds them.
"""

from __future__ import annotations

if False:
    import cython
import weakref
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from wengert import _shim as cython
from wengert import errors
from wengert.core.hooks import RemovableHandle, add_hook
from wengert.core.modes import INFERENCE, flags
from wengert.core.node import (
    AccumulateGrad,
    Edge,
    Node,
    TensorMeta,
    accumulate_grad_class,
    make_edge,
    make_meta,
    next_sequence_nr,
)

if not cython.compiled:
    from wengert.core.collector import count_attachment, spared_lists
    from wengert.core.native import (
        is_inexact,
        wk_dereference,
        wk_init_numpy,
        wk_new_instance,
        wk_offer_buffer,
        WK_TENSOR,
        wk_forget,
        wk_is_own_attribute,
        wk_may_cycle,
        wk_set_attribute,
        wk_share_spared,
        wk_spare,
    )

wk_init_numpy()
wk_share_spared(spared_lists())

# Bits of TensorBase._flags.
RETAINS_GRAD = 1  # a non-leaf that keeps its gradient
IS_INFERENCE = 2  # made in inference mode
IS_RESHAPED = 4  # turned into another view of its own memory, as by t_()
IS_DUAL = 16  # has a tangent at some level of forward mode; see dual.py
IS_VOLATILE = 8  # nothing that depends on it is recorded; see Note [Volatile tensors] in legacy.py
HAS_GRAD_DTYPE = 32  # a leaf whose gradient need not have its own dtype; see leaf_gradient.py
UNRECORDED_IN = 12  # from this bit on: the number of the block (node.note_block) that last left a use of this leaf unrecorded
_volatile = IS_VOLATILE  # in the compiled core a C number, which other modules cannot import


@cython.final
@cython.no_gc
@cython.freelist(128)
@cython.binding(False)
@cython.cclass
class VersionCounter:
    """The number of writes in place into the memory that a tensor and its views share, and the line of the last write."""

    if not cython.compiled:  # the compiled class starts with the same
        __slots__ = ("code", "lasti", "mirrors", "value")
        value: int
        code: Any
        mirrors: Any
        lasti: int

        def __new__(cls, *_: Any, **__: Any) -> Any:
            self = object.__new__(cls)
            self.value = 0
            self.code = None
            self.mirrors = None
            self.lasti = -1
            return self

    def __cinit__(self) -> None:  # called when compiled
        self.lasti = -1


@cython.final
@cython.trashcan(True)
@cython.binding(False)
@cython.cclass
class ViewInfo:
    """Record of a view: its base, and the view operations that lead from the base to the view."""

    if not cython.compiled:
        _link: Any

        __slots__ = ("base", "before", "creation", "op", "output_nr", "params", "physical", "relation", "version")

    def __init__(self, base: TensorBase, version: int, creation: int) -> None:
        self.base = base
        self.before: ViewInfo | None = None  # of the view that this one is a view of; None: of the base itself
        self.op: Any = None  # the operation that made this view; None: a custom Function did
        self.params: Any = None  # of the operation; of a read, the index
        self.output_nr = 0  # which of the operation's outputs it is
        self.physical: Any = None  # of a mirror: the array that it is the image of; see Note [Mirrors]
        self.relation = 0
        self.version = version  # of the shared counter when the view's grad_fn was last right
        self.creation = creation  # how it was made, which restricts writing in place; a constant of dispatch.py

    def __dealloc__(self) -> None:  # of the compiled class, as in TensorBase
        wk_forget(cython.address(self._link))


@cython.trashcan(True)
@cython.binding(False)
@cython.cclass
class TensorBase:
    """The core's tensor: no operations, only what the graph needs. Fields begin with an underscore."""

    if not cython.compiled:  # the compiled class starts with the same
        __slots__ = (
            "__dict__",
            "__weakref__",
            "_accumulator",
            "_array",
            "_counter",
            "_flags",
            "_grad",
            "_grad_fn",
            "_leaf_hooks",
            "_meta",
            "_output_nr",
            "_post_hooks",
            "_requires_grad",
            "_view",
        )
        _attached: bool  # of the compiled class alone, as _link
        _link: Any
        _array: Any
        _requires_grad: bool
        _flags: int
        _output_nr: int
        _grad_fn: Node | None
        _grad: Any
        _counter: VersionCounter | None
        _meta: TensorMeta | None
        _view: ViewInfo | None
        _accumulator: Any
        _leaf_hooks: OrderedDict[int, Any] | None
        _post_hooks: OrderedDict[int, Any] | None

        def __new__(cls, *_: Any, **__: Any) -> Any:
            self = object.__new__(cls)
            self._array = None
            self._requires_grad = False
            self._flags = 0
            self._output_nr = 0
            self._grad_fn = None
            self._grad = None
            self._counter = None
            self._meta = None
            self._view = None
            self._accumulator = None
            self._leaf_hooks = None
            self._post_hooks = None
            return self

    # The compiled class alone has these two. See Note [Untracked] in collector.py.

    def __dealloc__(self) -> None:
        wk_forget(cython.address(self._link))
        if self._attached:
            count_attachment(-1)

    def __setattr__(self, name: Any, value: Any) -> None:
        wk_set_attribute(self, name, value)
        if not self._attached and wk_may_cycle(value) and wk_is_own_attribute(self, name, _tensor_class):
            attach(self)

    @property
    def requires_grad(self) -> bool:
        """Whether a backward pass computes a gradient for this tensor. Can be set on leaves only."""
        view = self._view
        if view is not None and view.base._flags & _volatile and is_outdated(self, view):
            return False
        if view is not None and not self._requires_grad and is_outdated(self, view):
            return is_differentiable(self._array)
        return self._requires_grad and not self._flags & _volatile

    @requires_grad.setter
    def requires_grad(self, value: bool) -> None:
        if not isinstance(value, bool):
            raise errors.RequiresGradError("requires_grad must be a bool")
        if value == self.requires_grad:
            return
        if self._grad_fn is not None:
            text = "you can only change requires_grad flags of leaf variables."
            if not value:
                text += (
                    " If you want to use a computed variable in a subgraph that doesn't require differentiation use "
                    "var_no_grad = var.detach()."
                )
            raise errors.RequiresGradError(text)
        if value and not is_differentiable(self._array):
            raise errors.integer_requires_grad(setter=True, dtype=self._array.dtype)
        if value and self._flags & IS_INFERENCE and not flags() & INFERENCE:
            raise errors.InferenceError("Setting requires_grad=True on inference tensor outside InferenceMode is not allowed.")
        if self._flags & IS_VOLATILE:
            raise errors.RequiresGradError("Variable can't be volatile and require_grad at the same time!")
        self._requires_grad = value

    @property
    def grad_fn(self) -> Node | None:
        """The node that made this tensor; None for a leaf.

        Raises RuntimeError for a view that may not be used any more: see refresh_history."""
        if self._view is not None and is_outdated(self, self._view):
            _refresh_view(self, True)
        return self._grad_fn

    @property
    def is_leaf(self) -> bool:
        """True where no recorded operation made this tensor: its gradient is what a backward pass accumulates."""
        return self.grad_fn is None

    @property
    def output_nr(self) -> int:
        """Which output of its node this tensor is."""
        return self._output_nr

    @property
    def _version(self) -> int:
        """How often this tensor's memory was written in place, by it or by anything that shares the memory."""
        if self._flags & IS_INFERENCE:
            raise errors.InferenceError("Inference tensors do not track version counter.")
        return 0 if self._counter is None else self._counter.value

    @property
    def _base(self) -> TensorBase | None:
        """The tensor that this one is a view of, or None."""
        return None if self._view is None else self._view.base

    def _is_view(self) -> bool:
        return self._view is not None

    def is_inference(self) -> bool:
        """Whether the tensor was made in inference mode."""
        return (self._flags & IS_INFERENCE) != 0

    @property
    def retains_grad(self) -> bool:
        """True for a non-leaf on which retain_grad() was called."""
        return (self._flags & RETAINS_GRAD) != 0

    def requires_grad_(self, requires_grad: bool = True) -> TensorBase:
        """Set requires_grad and return the tensor itself."""
        self.requires_grad = requires_grad
        return self

    # -- hooks ---------------------------------------------------------------------------------------------------------

    def register_hook(self, hook: Callable[[Any], Any]) -> RemovableHandle:
        """Call hook(grad) each time the gradient of this tensor is computed; a tensor that it returns takes its place.

        The hook must not change its argument. Returns a handle whose remove() ends it. Raises RuntimeError if the
        tensor requires no gradient.
        """
        if not self.requires_grad:
            if self._flags & IS_VOLATILE:
                raise errors.HookError("cannot register a hook on a volatile tensor")
            raise errors.hook_without_grad()
        return add_hook(self._hooks_to_fill(), hook)

    def _hooks_to_fill(self) -> OrderedDict[int, Any]:
        node = self.grad_fn
        if node is None:
            if self._leaf_hooks is None:
                attach(self)
                self._leaf_hooks = OrderedDict()
            return self._leaf_hooks
        return node._ensure_hooks().tensor.setdefault(self._output_nr, OrderedDict())

    def register_post_accumulate_grad_hook(self, hook: Callable[[Any], None]) -> RemovableHandle:
        """Call hook(tensor) each time a gradient has been added into this leaf's .grad."""
        if not self.requires_grad:
            raise errors.hook_without_grad()
        if self.grad_fn is not None:
            raise RuntimeError("post accumulate grad hooks cannot be registered on non-leaf tensors")
        if self._post_hooks is None:
            attach(self)
            self._post_hooks = OrderedDict()
        return add_hook(self._post_hooks, hook)

    @property
    def _post_accumulate_grad_hooks(self) -> OrderedDict[int, Any] | None:
        """The hooks that register_post_accumulate_grad_hook filled, by handle id. None if there never was one."""
        return self._post_hooks

    @property
    def _backward_hooks(self) -> OrderedDict[int, Any] | None:
        """The hooks that register_hook filled, by handle id. None if there are none."""
        if self._grad_fn is None:
            return self._leaf_hooks
        hooks = self._grad_fn._hooks
        return None if hooks is None else hooks.tensor.get(self._output_nr)

    @_backward_hooks.setter
    def _backward_hooks(self, hooks: OrderedDict[int, Any] | None) -> None:
        if self._grad_fn is None:
            attach(self)
            self._leaf_hooks = hooks
        else:
            self._grad_fn._ensure_hooks().tensor[self._output_nr] = OrderedDict() if hooks is None else hooks

    def retain_grad(self) -> None:
        """Make a backward pass keep this non-leaf's gradient in .grad; does nothing on a leaf."""
        if not self.requires_grad:
            raise errors.RequiresGradError("can't retain_grad on Tensor that has requires_grad=False")
        node = self.grad_fn
        if node is None or self._flags & RETAINS_GRAD:
            return
        node._ensure_hooks().retained[self._output_nr] = weakref.ref(self)
        self._flags |= RETAINS_GRAD


wk_offer_buffer(TensorBase)
if not cython.compiled:
    del TensorBase.__setattr__

if not cython.compiled:
    _tensor_class: Any = None


def set_tensor_class(cls: type) -> None:
    """Name the class of the tensors that operations return. wengert.tensor calls it, once, at import."""
    global _tensor_class
    _tensor_class = cls


def wrap(array: Any) -> Any:
    """Return a tensor of an array, without history."""
    tensor: TensorBase
    if cython.compiled:
        tensor = wk_new_instance(TensorBase, _tensor_class)
        wk_spare(tensor, cython.address(tensor._link), WK_TENSOR)
    else:
        tensor = TensorBase.__new__(_tensor_class)
    tensor._array = array
    if flags() & INFERENCE:
        tensor._flags = IS_INFERENCE
    return tensor


def wrap_as(cls: type, array: Any) -> Any:
    """Return a tensor of a subclass of the tensor class, without history."""
    if not (isinstance(cls, type) and issubclass(cls, TensorBase)):
        raise TypeError(f"{cls!r} is no class of tensors")
    tensor: TensorBase = wk_new_instance(TensorBase, cls)
    tensor._array = array
    return tensor


def attach(tensor: TensorBase) -> None:
    """Note that a cycle may pass this tensor. See Note [Untracked] in collector.py."""
    if cython.compiled and not tensor._attached:
        tensor._attached = True
        count_attachment(1)


def is_differentiable(array: Any) -> bool:
    """Whether arrays of this dtype can have gradients: floating (bfloat16 too, whose NumPy kind is V) and complex."""
    return is_inexact(array) or array.dtype.kind in "fcV"


def counter_of(tensor: TensorBase) -> VersionCounter:
    """Return the tensor's version counter. It is made when something first has to watch it."""
    if tensor._counter is None:
        tensor._counter = VersionCounter.__new__(VersionCounter)
    return tensor._counter


def meta_of(tensor: TensorBase) -> TensorMeta:
    """Return the tensor's shape, dtype and device. They are stored when a node first needs them."""
    if tensor._meta is None:
        tensor._meta = make_meta(tensor._array, tensor._array.dtype)
    return tensor._meta


if not cython.compiled:

    def _no_views(tensor: TensorBase, asked: bool) -> None:
        pass

    _refresh_view: Callable[[Any, bool], None] = _no_views
    _renew_mirror: Callable[[Any], None]


def set_view_refresher(function: Callable[[Any, bool], None]) -> None:
    """Install the function that brings a view's grad_fn up to date after its base was written."""
    global _refresh_view
    _refresh_view = function


def is_outdated(tensor: TensorBase, view: ViewInfo) -> bool:
    """Whether a view's memory was written since its grad_fn was made. False if neither view nor base takes part in a graph."""
    return (
        (view.base._requires_grad or tensor._grad_fn is not None)
        and tensor._counter is not None
        and view.version != tensor._counter.value
    )


def set_mirror_renewer(function: Callable[[Any], None]) -> None:
    """Install the function that computes a mirror again. See Note [Mirrors]."""
    global _renew_mirror
    _renew_mirror = function


def refresh_view(tensor: TensorBase) -> None:
    """Bring a view up to date before its elements are read: its grad_fn and, if it is a mirror, its elements.

    Raises as refresh_history does."""
    view = tensor._view
    if view is not None:
        if view.physical is not None:
            _renew_mirror(tensor)
        if is_outdated(tensor, view):
            _refresh_view(tensor, False)


def refresh_history(tensor: TensorBase) -> None:
    """Bring the grad_fn of a view up to date if its memory was written since the grad_fn was made.

    Raises RuntimeError, with recording on, for a view that cannot be: one of several, or made with recording off.
    """
    view = tensor._view
    if view is not None and is_outdated(tensor, view):
        _refresh_view(tensor, False)


def gradient_edge(tensor: TensorBase) -> Edge | None:
    """Return the edge to which the tensor's cotangent goes: its node's output, or a leaf's AccumulateGrad. Or None."""
    node: Node | None = gradient_node(tensor)
    return None if node is None else make_edge(node, tensor._output_nr)


def gradient_node(tensor: TensorBase) -> Node | None:
    """Return the node of gradient_edge, or None. The tensor's _output_nr, which this may update, is the number of the output."""
    if tensor._view is not None:
        refresh_history(tensor)
    if tensor._grad_fn is not None:
        return tensor._grad_fn
    if tensor._requires_grad and not tensor._flags & _volatile:
        return accumulator_of(tensor)
    return None


def make_volatile(tensor: TensorBase) -> None:
    """Make the tensor volatile and cuts it from its history. See Note [Volatile tensors] in legacy.py."""
    tensor._flags |= IS_VOLATILE
    tensor._requires_grad = True
    tensor._grad_fn = None
    tensor._output_nr = 0


def accumulator_of(tensor: TensorBase) -> AccumulateGrad:
    """Return the leaf's AccumulateGrad: the living one, or a new one."""
    if tensor._accumulator is not None:
        node: AccumulateGrad | None = wk_dereference(tensor._accumulator)
        if node is not None:
            return node
    return new_accumulator(tensor)


def new_accumulator(tensor: TensorBase) -> AccumulateGrad:
    """Make an AccumulateGrad for the leaf, unless another thread or a finalizer makes one meanwhile. Return the leaf's."""
    node: AccumulateGrad = wk_new_instance(AccumulateGrad, accumulate_grad_class)
    node._variable = tensor
    node._meta = meta_of(tensor)
    if tensor._flags & HAS_GRAD_DTYPE:
        node._meta = make_meta(tensor._array, getattr(tensor, "_grad_dtype"))  # noqa: B009
    # Before all operations that are ready: a gradient is added as soon as it is complete.
    node._seq = 0x4000000000000000 - next_sequence_nr()
    reference = weakref.ref(node)
    while True:
        before = tensor._accumulator
        living: AccumulateGrad | None = None if before is None else wk_dereference(before)
        if living is not None:
            return living
        if tensor._accumulator is before:  # no call until the assignment, so no other thread or finalizer comes between
            tensor._accumulator = reference
            return node
