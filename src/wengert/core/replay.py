"""What a run of a recorded program does around its steps: it compares, looks memory up, sets gradients and wraps results.

These are loops over the tensors and containers that a program knows, in the compiled core because each run makes them. The
program itself is in wengert/program/.
"""

from __future__ import annotations

if False:
    import cython
from typing import Any

from wengert import _shim as cython
from wengert.core.tensor import TensorBase as TensorBase, counter_of, wrap

if not cython.compiled:
    from wengert.core.native import first_filled, same_layout, still_holds, wk_init_numpy

wk_init_numpy()

# Where a tensor comes from that a program reads or writes: the first element of a pair (kind, key).
INPUT = 0  # the argument with the number `key`
TENSOR = 1  # the tensor `key`
GRAD = 2  # .grad of the tensor `key`, or of the argument with the number `key`


def fits(arguments: tuple[Any, ...], patterns: list[Any]) -> bool:
    """Whether arguments are like those of a recording. patterns: a tuple (class, array, requires_grad, is_leaf) for each tensor."""
    if len(arguments) != len(patterns):
        return False
    for i in range(len(patterns)):
        pattern = patterns[i]
        if type(arguments[i]) is not pattern[0]:
            return False
        tensor = arguments[i]
        if tensor._requires_grad != pattern[2] or (tensor._grad_fn is None) != pattern[3]:
            return False
        if not same_layout(tensor._array, pattern[1]):
            return False
        if tensor._view is not None and tensor._view.physical is not None:
            return False
    return True


def first_changed(entries: list[tuple[Any, ...]], start: int) -> int:
    """Return the number of the first entry, from `start` on, whose container may not hold what it held. -1: all do.

    An entry begins with (container, keys, values, by_name): the objects that the container held, compared by identity. Containers
    of other types than cells, lists and dicts may be named although they have not changed. by_name: see still_holds."""
    for i in range(start, len(entries)):
        entry = entries[i]
        if not still_holds(entry[0], entry[1], entry[2], entry[3]):
            return i
    return -1


def number_of_filled(containers: list[Any]) -> int:
    """Return the number of the first of these dicts, ordered dicts, lists and sets that is not empty any more. -1: all are."""
    return first_filled(containers)


def owner_of(owner: tuple[int, Any], inputs: list[Any]) -> Any:
    """Return the tensor that a pair (kind, key) stands for."""
    kind = owner[0]
    if kind == INPUT:
        return inputs[owner[1]]
    if kind == TENSOR:
        return owner[1]
    tensor = leaf_of(owner[1], inputs)
    return tensor._grad


def leaf_of(key: Any, inputs: list[Any]) -> Any:
    """Return a leaf: the tensor `key`, or the argument with the number `key`."""
    return inputs[key] if type(key) is int else key


def first_moved(owners: list[Any], inputs: list[Any], arrays: list[Any], start: int) -> int:
    """Return the number of the first tensor, from `start` on, that has another array than it had. -1: none has."""
    for i in range(start, len(owners)):
        x = owner_of(owners[i], inputs)
        if x is None:
            return i
        tensor = x
        if tensor._array is not arrays[i]:
            return i
    return -1


def have_grads(leaves: list[Any], inputs: list[Any], are_none: list[bool]) -> bool:
    """Whether .grad of each leaf is None, or not, as it was. leaves: see leaf_of."""
    for i in range(len(leaves)):
        tensor = leaf_of(leaves[i], inputs)
        if (tensor._grad is None) != are_none[i]:
            return False
    return True


def have_hooks(leaves: list[Any], inputs: list[Any]) -> bool:
    """Whether one of the leaves may have hooks. leaves: see leaf_of."""
    for i in range(len(leaves)):
        tensor = leaf_of(leaves[i], inputs)
        if tensor._leaf_hooks is not None or tensor._post_hooks is not None:
            return True
    return False


def count_writes(owners: list[Any], inputs: list[Any], counts: list[int]) -> None:
    """Add to the versions of tensors."""
    for i in range(len(owners)):
        counter = counter_of(owner_of(owners[i], inputs))
        counter.value += counts[i]


def wrapped(slots: list[Any], number: int, made: dict[int, Any]) -> Any:
    """Return the tensor of a slot's array, the same one for each call with the same `made`."""
    found = made.get(number)
    if found is None:
        found = made[number] = wrap(slots[number])
    return found


def set_grads(leaves: list[Any], inputs: list[Any], numbers: list[Any], slots: list[Any], made: dict[int, Any]) -> None:
    """Set .grad of leaves to the tensors of slots, or to None. leaves: see leaf_of."""
    for i in range(len(leaves)):
        tensor = leaf_of(leaves[i], inputs)
        number = numbers[i]
        tensor._grad = None if number is None else wrapped(slots, number, made)
