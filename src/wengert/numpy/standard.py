"""Functions for which the Array API of 2024.12 asks for more than NumPy has: arguments, or other types of results."""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.numpy.arrays import ndarray
from wengert.numpy.functions import run
from wengert.numpy.holding import wrapped

_NOT_GIVEN: Any = np._NoValue


def sort(a: Any, axis: Any = -1, kind: Any = None, order: Any = None, *, stable: Any = None, descending: bool = False) -> Any:
    """Return a sorted copy along an axis; of the flattened array if axis is None. descending: the largest element first.

    Derivative: the cotangent in the order of a."""
    settings = {"kind": kind, "order": order, "stable": stable}
    found = run(np.sort, (a, axis), {name: x for name, x in settings.items() if x is not None})
    return run(np.flip, (found, -1 if axis is None else axis), {}) if descending and found.ndim else found


def argsort(a: Any, axis: Any = -1, kind: Any = None, order: Any = None, *, stable: Any = None, descending: bool = False) -> Any:
    """Return the indices that sort an array along an axis. descending: the largest element first.

    Equal elements stay in order, unless kind or stable says otherwise: NumPy leaves this open, the standard does not."""
    stable = True if kind is None and stable is None else stable
    settings = {name: x for name, x in {"kind": kind, "order": order, "stable": stable}.items() if x is not None}
    if not descending:
        return run(np.argsort, (a, axis), settings)
    a = wrapped(np.asarray(a)) if not isinstance(a, ndarray) else a
    a = a.ravel() if axis is None else a
    axis = -1 if axis is None else axis
    if not a.ndim:
        return run(np.argsort, (a, axis), settings)
    found = run(np.flip, (run(np.argsort, (run(np.flip, (a, axis), {}), axis), {"stable": True}), axis), {})
    return a.shape[axis] - 1 - found


def unique_values(x: Any) -> Any:
    """Return the distinct elements, sorted. NumPy leaves their order open, and scikit-learn relies on it."""
    return run(np.unique, (x,), {"equal_nan": False})


def clip(
    a: Any, min: Any = _NOT_GIVEN, max: Any = _NOT_GIVEN, out: Any = None, *, a_min: Any = _NOT_GIVEN, a_max: Any = _NOT_GIVEN,
    **settings: Any,
) -> Any:  # fmt: skip
    """Return a with elements below min set to min, and above max to max. a_min and a_max are older names of these.

    Derivative: the cotangent where an element is kept, 0 elsewhere; that of min and max is the rest."""
    low, high = (b if a is _NOT_GIVEN else a for a, b in ((min, a_min), (max, a_max)))
    bounds = [None if x is _NOT_GIVEN else x for x in (low, high)]
    return run(np.clip, (a, *bounds), settings if out is None else {"out": out, **settings})


def meshgrid(*xi: Any, copy: bool = True, sparse: bool = False, indexing: str = "xy") -> list[Any]:
    """Return the coordinates of a grid, one array for each axis, as a list. See numpy.meshgrid."""
    return list(run(np.meshgrid, xi, {"copy": copy, "sparse": sparse, "indexing": indexing}))


def broadcast_arrays(*args: Any, subok: bool = False) -> list[Any]:
    """Return the arrays broadcast to one shape, as a list. See numpy.broadcast_arrays."""
    return list(run(np.broadcast_arrays, args, {}))


class finfo:
    """What numbers of a floating dtype can hold. dtype: the dtype, or an array of it. Numbers are Python's floats."""

    def __init__(self, dtype: Any) -> None:
        self._theirs = np.finfo(dtype.dtype if isinstance(dtype, ndarray) else dtype)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        found = getattr(self._theirs, name)
        return float(found) if isinstance(found, np.floating) else found

    def __repr__(self) -> str:
        return repr(self._theirs)


def iinfo(dtype: Any) -> Any:
    """Return what numbers of an integer dtype can hold. dtype: the dtype, or an array of it."""
    return np.iinfo(dtype.dtype if isinstance(dtype, ndarray) else dtype)


__all__ = ["argsort", "broadcast_arrays", "clip", "finfo", "iinfo", "meshgrid", "sort", "unique_values"]
