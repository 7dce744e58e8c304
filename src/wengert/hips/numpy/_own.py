"""Functions that HIPS defines in its own way: r_ and c_, make_diagonal, where."""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.hips.boxes import ArrayBox, is_traced, value_of
from wengert.hips.doors import door
from wengert.tensor import Tensor


class _Joiner:
    """np.r_ or np.c_ for boxes. NumPy joins the places of the elements, and the elements are taken from there."""

    def __init__(self, joiner: Any) -> None:
        self._joiner = joiner

    def __getitem__(self, items: Any) -> Any:
        given = items if isinstance(items, tuple) else (items,)
        if not is_traced(given):
            return self._joiner[items]
        parts: list[Any] = []
        places: list[Any] = []
        start = 0
        for item in given:
            if isinstance(item, str):
                places.append(item)
                continue
            part = np.r_[item] if isinstance(item, slice) else item
            shape = np.shape(value_of(part))
            size = int(np.prod(shape))
            places.append(np.arange(start, start + size).reshape(shape) if shape else start)
            parts.append(door(np.ravel)(part))
            start += size
        return door(np.concatenate)(parts)[self._joiner[tuple(places)]]


r_, c_ = _Joiner(np.r_), _Joiner(np.c_)


def make_diagonal(D: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
    """Return matrices with the last dimension of D on their diagonals. Only offset=0, axis1=-1, axis2=-2 are possible.

    D: (..., n). Returns: (..., n, n)."""
    if not (offset == 0 and axis1 == -1 and axis2 == -2):
        raise NotImplementedError("Currently make_diagonal only supports offset=0, axis1=-1, axis2=-2")
    if isinstance(D, ArrayBox):
        found = Tensor.diag_embed(D)
        found.__class__ = ArrayBox
        return found
    return D[..., None] * np.eye(np.shape(D)[-1])


def where(condition: Any, x: Any = None, y: Any = None) -> Any:
    """np.where, whose arguments may be given by name. If condition is True or False, a number or list is returned as it is."""
    if x is None and y is None:
        return np.where(value_of(condition))
    if isinstance(condition, bool) and not any(isinstance(value, (np.ndarray, Tensor)) for value in (x, y)):
        return x if condition else y
    return door(np.where)(value_of(condition), x, y)
