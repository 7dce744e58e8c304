"""What Python's garbage collector sees of graphs, and when.

Note [Set aside]
A graph dies by reference count; the collector is there for the rare cycle through user code: a hook that refers to a
tensor further on, an attribute of a leaf. But it counts every object made, and visits all of them again and again: once as
young ones, once more some time later, and whenever their number has grown by a quarter. That was half of the time it took
to build a graph of a million nodes, and two thirds of reading a vector 20,000 times.

So the tensors and nodes that operations make are kept from the collections of young objects, and are seen by full ones
alone: by gc.collect(), and by those that Python starts once enough other objects have lived long. Each cycle holds such
an object, a function or a dict of the user's, so cycles still bring about the collection that frees them. Where nodes
have hooks, from which most cycles come, the more frequent collection of the middle generation sees everything, too.
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
