"""Which objects of graphs Python's garbage collector knows.

Note [Untracked]
A graph is freed by reference counts. The collector is needed for the rare cycle that passes something of the user's. But the
collector counts every new object, and visits each several times: as a young object, once more some time later, and whenever the
number of objects has grown by a quarter. This took half of the time of building a graph of a million nodes, and two thirds of
reading a vector 20,000 times.

So the tensors, nodes and view records that operations make are untracked when they are made, and are linked into lists of ours
(wk_collector.h). A cycle through them always passes an attachment, which is one of these:

- an attribute that the user sets on a tensor, on the ctx of a custom Function, or on another node (`__setattr__` of TensorBase and
  Node); a tensor of a subclass may keep it in a slot;
- hooks of a leaf: `_leaf_hooks`, `_post_hooks`;
- hooks and metadata of a node, and hooks of the tensors that are its outputs: NodeHooks;
- what a pack hook returned, and the unpack hook: PackedTensor;
- a gradient with a graph that a tensor keeps in .grad, which leads back to the tensor: `_grad`.

Values of types that the collector does not know, such as numbers, strings, dtypes and arrays, are no attachments, nor are
tuples of them. The other fields of tensors, nodes and view records lead from outputs to inputs, or hold what is older: the edges,
`_grad_fn`, `_variable`, `_view` with its base and index, saved arrays and tangents, the array itself, weak references.

attachments counts the objects alive that have one. When the first appears, all objects of the lists are tracked and the lists
are empty; while there is one, new objects stay tracked, as they are in any other program, so ordinary collections free every
cycle. When the last has gone, new objects are untracked again. Objects once tracked stay tracked.

A full collection also tracks all objects first, for a cycle that was made past these places: `vars(tensor)[...] = ...`, a
recorded write into a .grad, a closure of a function that was compiled into an operation.
"""

from __future__ import annotations

if False:
    import cython
import gc
from typing import Any

from wengert import _shim as cython

if not cython.compiled:
    from wengert.core.native import wk_count_attachment, wk_new_spared, wk_reveal, wk_share_spared


def spared_lists() -> Any:
    """Return the lists of untracked objects, for wk_share_spared of the other modules."""
    return _spared


def count_attachment(change: int) -> None:
    """Note that an object got its first attachment (1), or that an object with attachments has gone (-1)."""
    wk_count_attachment(change)


def reveal() -> None:
    """Track all objects of the lists, so that gc.get_objects() has every tensor."""
    wk_reveal()


def on_collection(phase: str, info: dict[str, int]) -> None:
    """Show a full collection all objects."""
    if phase == "start" and info["generation"] == 2:
        wk_reveal()


_spared = wk_new_spared()
wk_share_spared(_spared)
if cython.compiled:
    gc.callbacks.append(on_collection)
