"""Adding a gradient into a leaf's .grad."""

from __future__ import annotations

if False:
    import cython
import threading
from typing import Any

from wengert import _shim as cython
from wengert.core.tensor import TensorBase, VersionCounter, counter_of, wrap

if not cython.compiled:
    from wengert.core.native import same_strides
else:
    wk_init_numpy()


# NumPy lets other threads run while it adds: two passes that share a leaf must not add at once.
_adding = threading.Lock()


def accumulate(leaf: TensorBase, value: Any, owned: bool, face: Any, create_graph: bool) -> None:
    """Adds value into leaf.grad, then runs the leaf's post-accumulate hooks; does nothing for None.

    With create_graph a new tensor takes the place of the old .grad, so that it can be differentiated. Otherwise an existing
    .grad is added to in place, and a first gradient becomes .grad itself where nobody else holds it and it lies in memory
    as the leaf does; else a copy does, laid out as the leaf.
    """
    if value is None:
        return
    held: TensorBase | None = leaf._grad
    if create_graph:
        leaf._grad = face.clone(value) if held is None else held + value
    elif held is None:
        leaf._grad = wrap(value if owned and same_strides(value, leaf._array) else face.copy_like(value, leaf._array))
    else:
        with _adding:
            total = held._array
            total += value
        counter: VersionCounter = counter_of(held)
        counter.value += 1
    if leaf._post_hooks is not None:
        for hook in list(leaf._post_hooks.values()):
            if hook(leaf) is not None:
                raise RuntimeError("Tensor post accumulate grad hooks should return None.")
