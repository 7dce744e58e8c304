"""Adding a gradient into a leaf's .grad."""

from __future__ import annotations

if False:
    import cython
from _thread import RLock
from typing import Any

from wengert import _shim as cython
from wengert import errors
from wengert._forks import in_child
from wengert.backends.selection import others
from wengert.core.mirrors import write_through
from wengert.core.modes import quiet_enter, quiet_exit
from wengert.core.tensor import TensorBase, VersionCounter, attach, counter_of, wrap

if not cython.compiled:
    from wengert.core.native import same_strides, wk_add_into, wk_init_native, wk_init_numpy

wk_init_numpy()
wk_init_native()

# Two passes that share a leaf must not add at once: NumPy lets other threads run while it copies and adds.
# Of the kind that one thread may take twice: adding tensors can set off a finalizer that runs a pass of its own.
_adding = RLock()


@in_child
def renew_lock() -> None:
    """Replace the lock, which another thread may have held."""
    global _adding
    _adding = RLock()


def accumulate(leaf: TensorBase, value: Any, owned: bool, face: Any, create_graph: bool) -> None:
    """Add value into leaf.grad, then run the leaf's post-accumulate hooks.

    Does nothing for None, nor for a leaf that no longer requires a gradient.
    """
    if value is None or not leaf._requires_grad:
        return
    with _adding:
        if create_graph:
            add_tensor(leaf, value, face)
        else:
            add_array(leaf, value, owned, face)
    if leaf._post_hooks is not None:
        run_post_hooks(leaf)


def run_post_hooks(leaf: TensorBase) -> None:
    """Run what is to run after a gradient was added into leaf.grad."""
    for hook in list(leaf._post_hooks.values()):  # type: ignore[union-attr]
        result = hook(leaf)
        if result is not None:
            if isinstance(result, TensorBase):
                raise errors.HookError("Tensor post accumulate grad hooks should return None.")
            raise errors.hook_returned(type(result))


def add_tensor(leaf: TensorBase, value: Any, face: Any) -> None:
    """Put a new tensor, the sum, in the place of the old .grad, so that it can be differentiated."""
    held = leaf._grad
    attach(leaf)
    leaf._grad = face.clone(value) if held is None else held + value


def add_array(leaf: TensorBase, value: Any, owned: bool, face: Any) -> None:
    """Add into an existing .grad in place.

    A first gradient becomes .grad itself where nobody else holds it (owned) and it lies in memory as the leaf does;
    else a copy does, laid out as the leaf.
    """
    held: TensorBase | None = leaf._grad
    if held is None:
        lies_alike = same_strides(value, leaf._array) or (type(value) in others and value.strides == leaf._array.strides)
        leaf._grad = wrap(value if owned and lies_alike else face.copy_like(value, leaf._array))
        return
    total = held._array
    if not wk_add_into(total, value):
        quiet_enter()
        try:
            total += value
        finally:
            quiet_exit()
    counter: VersionCounter = counter_of(held)
    counter.value += 1
    if counter.mirrors is not None:
        write_through(held)
