"""Visibility of graphs to Python's garbage collector.

Note [Set aside]
A graph is freed by reference counts. The collector is needed for the rare cycle through user code: a hook that refers to a
tensor further on, an attribute of a leaf. But the collector counts every new object, and visits each several times: as a young
object, once more some time later, and whenever the number of objects has grown by a quarter. This took half of the time of
building a graph of a million nodes, and two thirds of reading a vector 20,000 times.

So collections of young objects pass over the tensors and nodes that operations make. Only full collections see them: gc.collect(),
and those that Python starts when enough other objects have lived long. Every cycle holds another object, a function or a
dict of the user, so cycles still bring about the collection that frees them. Most cycles come from hooks: while nodes have
hooks, the more frequent collection of the middle generation sees everything, too.
"""

from __future__ import annotations

if False:
    import cython
import gc
from typing import Any

from wengert import _shim as cython

if not cython.compiled:
    from wengert.core.native import wk_new_aside, wk_reveal, wk_share_aside

hooked = 0  # nodes alive that have hooks


def aside_list() -> Any:
    """Return the list of objects set aside, for wk_share_aside of the other modules."""
    return _list


def count_hooked(change: int) -> None:
    """Note that a node got its first hook (1), or that one with hooks is gone (-1)."""
    global hooked
    hooked += change


def on_collection(phase: str, info: dict[str, int]) -> None:
    """Show the collector, as it starts, what it is to see."""
    if phase == "start" and (info["generation"] == 2 or (hooked > 0 and info["generation"] == 1)):
        wk_reveal()


_list = wk_new_aside()
wk_share_aside(_list)
if cython.compiled:
    gc.callbacks.append(on_collection)
