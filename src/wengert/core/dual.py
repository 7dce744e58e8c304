"""Forward mode: levels of dual numbers, and the tangents of tensors at each.

Inside a level a tensor may have a tangent, and every operation gives its outputs tangents from those of its inputs.
One bit of the flags word says that a level is open; dispatch then comes here before it does anything else.

Note [Levels]
Open levels are a stack, the innermost last. An operation runs in two steps. First the innermost level is taken off the stack,
and the operation runs as it would outside of the level: this computes the tangents at the levels around. Then, still without
the innermost level, the derivative is computed from the primals and their tangents at that level, as any function of
tensors. So tangents are recorded for backward passes, and have tangents at the levels around: derivatives nest in any order and
are never confused.

Note [Tangents and memory]
A level owns the tangents of its tensors. Closing the level forgets them all. The tangent of a view is a view of its base's
tangent, and a write into a tensor writes into its tangent too. So a view's tangent shows what was written into the base, and
the base's tangent shows what was written into the view. A view made before its base had a tangent gets one when it is first used.

Not compiled: outside of levels nothing here runs, and inside of them the derivatives take the time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any
from weakref import ref

from wengert import dtypes, errors
from wengert.backends.selection import backend_of
from wengert.core.dispatch import call, set_dual_call
from wengert.core.jvp import output_tangents
from wengert.core.mirrors import lay_out, layout_of
from wengert.core.modes import DUAL, INFERENCE, LevelsSwitch, flags, set_flags, state
from wengert.core.node import Node, OpNode, Saved
from wengert.core.op import Op
from wengert.core.saved import OUTPUT, SavedTensor, set_dual_saver, unpack_array
from wengert.core.saved_hooks import tensor_of
from wengert.core.tensor import IS_DUAL, TensorBase, ViewInfo, counter_of, is_differentiable, wrap
from wengert.core.views import (
    call_inplace,
    call_inplace_view,
    check_write,
    repeats_memory,
    replay,
    set_dual_writers,
    steps_to,
)
from wengert.dtypes import NONE


class DualLevel:
    """An open level. tangents: id of a tensor -> (weak reference to it, its tangent). None: it certainly has no tangent."""

    def __init__(self) -> None:
        self.tangents: dict[int, tuple[Any, Any]] = {}

    def set(self, tensor: TensorBase, tangent: Any) -> None:
        """Give the tensor a tangent. It must be the level's own: writes into the tensor are written into it."""
        key = id(tensor)
        tensor._flags |= IS_DUAL
        self.tangents[key] = ref(tensor, partial(self.tangents.pop, key)), tangent

    def find(self, tensor: TensorBase) -> Any:
        """The tensor's tangent, or None."""
        entry = self.tangents.get(id(tensor))
        if entry is not None:
            return entry[1]
        view = tensor._view
        return None if view is None else self._find_through_base(tensor, view)

    def _find_through_base(self, tensor: TensorBase, view: ViewInfo) -> Any:
        """The tangent of a view that was made before its base had one."""
        base = self.tangents.get(id(view.base))
        if base is None or base[1] is None or not _is_known(view):
            return None
        tangent = replay(steps_to(tensor, view), base[1])
        self.set(tensor, tangent)
        return tangent

    def write(self, target: TensorBase, tangent: Any) -> None:
        """Write the tangent of a value that was written into target. None if the value has no tangent."""
        held = self.find(target)
        if not is_differentiable(target._array):
            return
        if held is not None:
            held.zero_() if tangent is None else held.copy_(tangent)
        elif tangent is not None:
            self._begin(target, tangent)

    def _begin(self, target: TensorBase, tangent: Any) -> None:
        """Give target a first tangent. If target is a view, the tangent is a view of a new tangent of its base."""
        view = target._view
        if view is None or id(target) in self.tangents or not _is_known(view):
            self.set(target, laid_out(tangent, target))
            return
        steps = steps_to(target, view)
        base = view.base
        zeros = backend_of(base._array).zeros_like(base._array)
        layout = layout_of(base._array, steps)
        whole = wrap(zeros if layout is None else lay_out(zeros, layout))
        self.set(base, whole)
        region: Any = replay(steps, whole)
        region.copy_(tangent)
        self.set(target, region)

    def close(self) -> None:
        """Forget all tangents."""
        for reference, _ in list(self.tangents.values()):
            tensor = reference()
            if tensor is not None and not any(id(tensor) in level.tangents for level in state.dual_levels):
                tensor._flags &= ~IS_DUAL
        self.tangents.clear()


def _is_known(view: ViewInfo) -> bool:
    """Whether all of the way from a view's base to it is known: a custom Function's own views are of unknown make."""
    info: Any = view
    while info is not None:
        if info.op is None:
            return False
        info = info.before
    return True


def laid_out(tangent: Any, like: TensorBase) -> Any:
    """Return a copy of the tangent, broadcast to the tensor and laid out in memory as the tensor."""
    dtype = tangent._array.dtype
    copy: Any = wrap(backend_of(like._array).empty_like(like._array, dtype))
    return copy.copy_(tangent)


# -- levels ------------------------------------------------------------------------------------------------------------


class opened_level(LevelsSwitch):
    """`with opened_level() as level: ...` runs its block with one more level on this thread, inside those that are open."""

    def _changed(self) -> tuple[Any, tuple[Any, ...], tuple[Any, ...], Any]:
        self.level = DualLevel()
        levels = (*state.dual_levels, self.level)
        return self.level, levels, levels, state.named_level

    def _left(self) -> None:
        self.level.close()


def close_level(level: DualLevel) -> None:
    """Close a level outside of a block."""
    state.dual_levels = state.saved_levels = tuple([other for other in state.dual_levels if other is not level])
    if not state.dual_levels:
        set_flags(flags() & ~DUAL)
    level.close()


class innermost_set_aside(LevelsSwitch):
    """`with innermost_set_aside() as level: ...` runs its block as if the innermost level were not open.

    still_saved: what is recorded inside still saves tensors with their tangents at that level, if it did before.
    down_to: the number of levels that stay open. The level returned is the outermost one set aside. By default one is set aside.
    """

    def __init__(self, still_saved: bool = False, down_to: int = -1) -> None:
        super().__init__()
        self.still_saved = still_saved
        self.down_to = down_to

    def _changed(self) -> tuple[Any, tuple[Any, ...], tuple[Any, ...], Any]:
        levels = state.dual_levels
        remaining = levels[: self.down_to]
        return levels[self.down_to], remaining, state.saved_levels if self.still_saved else remaining, state.named_level


class every_level_set_aside(innermost_set_aside):
    """Set all levels aside. What is recorded inside still saves tensors with their tangents."""

    def __init__(self) -> None:
        super().__init__(still_saved=True, down_to=0)


def levels_around() -> tuple[DualLevel, ...]:
    """The open levels, the innermost last, that are not set aside."""
    levels: tuple[DualLevel, ...] = state.dual_levels
    return levels


def tangent_of(tensor: TensorBase) -> Any:
    """The tensor's tangent at the innermost level, or None."""
    return state.dual_levels[-1].find(tensor) if state.dual_levels else None


def is_dual(tensor: TensorBase) -> bool:
    """Whether the tensor has a tangent at an open level."""
    return any(level.find(tensor) is not None for level in state.dual_levels)


# -- operations --------------------------------------------------------------------------------------------------------


def call_dual(op: Op, inputs: tuple[Any, ...], params: dict[str, Any] | None) -> Any:
    """Run dispatch.call inside a level."""
    with innermost_set_aside(still_saved=True) as level:
        tangents = [level.find(x) if isinstance(x, TensorBase) else None for x in inputs]
        out = call(op, inputs, params)
    outputs = (out,) if op.output_names is None else out
    if all(t is None for t in tangents) or flags() & INFERENCE:
        if op.is_view and isinstance(inputs[0], TensorBase):
            shun_base(level, outputs)
        return out
    with innermost_set_aside():
        for o, t in zip(outputs, output_tangents(op, inputs, tangents, params, outputs), strict=True):
            if t is not None:
                if not op.is_view and is_borrowed(t, tangents):
                    t = t.clone()
                level.set(o, t)
    node = next((o._grad_fn for o in outputs if o._grad_fn is not None), None)
    if isinstance(node, OpNode):
        save_output_tangents(level, node, outputs)
    return out


def shun_base(level: DualLevel, views: tuple[Any, ...]) -> None:
    """Give views of a tensor without a tangent none, so that they do not take one from their base."""
    for view in views:
        if view._view is not None and id(view._view.base) in level.tangents:
            level.set(view, None)


def is_borrowed(tangent: Any, tangents: list[Any]) -> bool:
    """Whether a new tangent may be, or look into, another's memory, or look at its own more than once."""
    return any(tangent is t for t in tangents) or tangent._view is not None or repeats_memory(tangent._array)


def write_dual(
    op: Op, inputs: tuple[Any, ...], params: dict[str, Any] | None, run: Callable[[], Any] | None = None
) -> Any:
    """Write in place inside a level: run the operation, then copy its result into the first input.

    run: what makes the write outside of one, if not views.call_inplace.
    """
    target = inputs[0]
    with innermost_set_aside() as level:
        if flags() & INFERENCE or all(level.find(x) is None for x in inputs if isinstance(x, TensorBase)):
            return call_inplace(op, inputs, params) if run is None else run()
    if op.is_copy:
        return copy_dual(target, inputs[1])
    check_write(target, any(isinstance(x, TensorBase) and x.requires_grad for x in inputs))
    counter = counter_of(target)
    # A recorded derivative may need the old values of the written tensor and of other views of it.
    kept = [x.clone() if isinstance(x, TensorBase) and x._counter is counter else x for x in inputs]  # type: ignore[attr-defined]
    out = call(op, tuple(kept), params)
    if op.promote != NONE:
        dtypes.check_can_write(out._array.dtype, target._array.dtype)
    if out._array.shape != target._array.shape:
        raise errors.inplace_shape(target._array.shape, out._array.shape)
    return copy_dual(target, out)


def copy_dual(target: Any, source: Any) -> Any:
    """Run target.copy_(source) inside a level."""
    with innermost_set_aside() as level:
        tangent = level.find(source) if isinstance(source, TensorBase) else None
        target.copy_(source)
        level.write(target, tangent)
    return target


def become_view_dual(op: Op, target: TensorBase, params: dict[str, Any], node_class: type) -> TensorBase:
    """Run views.call_inplace_view inside a level."""
    with innermost_set_aside() as level:
        tangent = level.find(target)
        call_inplace_view(op, target, params, node_class)
        if tangent is not None:
            level.set(target, call(op, (tangent,), params))
    return target


# -- saving ------------------------------------------------------------------------------------------------------------


class SavedDual(Saved):
    """A saved tensor with its tangents: so a backward pass inside a level has a derivative along them."""

    __slots__ = ("saved", "tangents")

    def __init__(self, saved: Saved, tangents: list[tuple[DualLevel, Any, int]]) -> None:
        self.saved = saved
        self.tangents = tangents  # (level, tangent, the tangent's version)

    def array(self, node: Node) -> Any:
        """Return the saved array. Raise RuntimeError if it was written since."""
        if isinstance(self.saved, SavedTensor):
            return unpack_array(self.saved, node)
        return self.saved.array(node)  # type: ignore[attr-defined]

    def tensor(self, node: Node) -> Any:
        """Return a tensor at the original's place in the graph, with its tangents at the levels still open."""
        tensor = tensor_of(self.saved, node)
        for level, tangent, version in self.tangents:
            if level in state.dual_levels:
                if tangent._version != version:
                    raise errors.VersionError(
                        "one of the variables needed for gradient computation has been modified by an inplace operation: "
                        f"the tangent of a tensor that {node.name()} saved. Hint: write into a clone() of the dual tensor."
                    )
                # It may have been saved in the dtype that the operation computes in.
                level.set(tensor, tangent.to(tensor.dtype))
        return tensor


def save_dual(tensor: TensorBase, saved: Saved) -> Saved:
    """Return `saved` together with the tangents that the tensor has now."""
    found = [(level, level.tangents.get(id(tensor), (None, None))[1]) for level in state.saved_levels]
    tangents = [(level, t, t._version) for level, t in found if t is not None]
    return SavedDual(saved, tangents) if tangents else saved


def save_output_tangents(level: DualLevel, node: Any, outputs: Sequence[Any]) -> None:
    """Add the outputs' tangents to what their node has saved of them: it was recorded before they had any."""
    if level not in state.saved_levels or getattr(node, "_saved", None) is None:
        return
    saved: list[Any] = list(node._saved)
    for i, value in enumerate(saved):
        inner, tangents = (value.saved, value.tangents) if isinstance(value, SavedDual) else (value, [])
        if isinstance(inner, SavedTensor) and inner._role == OUTPUT:
            tangent = level.tangents.get(id(outputs[inner._position]), (None, None))[1]
            if tangent is not None:
                saved[i] = SavedDual(inner, [*tangents, (level, tangent, tangent._version)])
    node._saved = tuple(saved)


set_dual_call(call_dual)
set_dual_writers(write_dual, become_view_dual)
set_dual_saver(save_dual)
