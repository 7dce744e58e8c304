"""flatten: nested containers of arrays and numbers as one vector, and back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.hips.boxes import value_of
from wengert.hips.doors import door


def flatten(value: Any) -> tuple[Any, Callable[[Any], Any]]:
    """Return (vector, unflatten): the elements of nested tuples, lists and dicts in a vector, and the function that goes back.

    The items of a dict are taken in the order of their sorted keys. Arrays get their shapes back, and all elements the dtype of the
    vector, but real ones stay real. Both functions can be differentiated.
    """
    leaves: list[Any] = []
    build = _plan(value, leaves)
    if not leaves:
        return np.zeros(0), lambda vector: build(iter(()))
    shapes = [np.shape(value_of(x)) for x in leaves]
    is_complex = [np.iscomplexobj(value_of(x)) for x in leaves]
    sizes = [int(np.prod(shape)) for shape in shapes]
    vector = door(np.concatenate)([door(np.ravel)(x) for x in leaves]) if len(leaves) > 1 else door(np.ravel)(leaves[0])

    def unflatten(vector: Any) -> Any:
        parts, start = [], 0
        mixed = np.iscomplexobj(value_of(vector)) and not all(is_complex)
        for shape, size, complex_part in zip(shapes, sizes, is_complex, strict=True):
            part = vector[start : start + size] if shape else vector[start]
            part = door(np.real)(part) if mixed and not complex_part else part
            parts.append(part.reshape(shape) if len(shape) > 1 else part)
            start += size
        return build(iter(parts))

    return vector, unflatten


def _plan(value: Any, leaves: list[Any]) -> Callable[[Any], Any]:
    """Add the leaves of a value to a list, and return the function that builds such a value of an iterator over leaves."""
    if isinstance(value, (tuple, list)):
        builds, kind = [_plan(x, leaves) for x in value], type(value)
        if hasattr(value, "_fields"):
            return lambda parts: kind(*[build(parts) for build in builds])
        return lambda parts: kind([build(parts) for build in builds])
    if isinstance(value, dict):
        named = {key: _plan(value[key], leaves) for key in sorted(value)}
        keys = list(value)

        def build_dict(parts: Any) -> dict[Any, Any]:
            found = {key: build(parts) for key, build in named.items()}
            return {key: found[key] for key in keys}

        return build_dict
    leaves.append(value)
    return next


def flatten_func(func: Callable[..., Any], example: Any) -> tuple[Callable[..., Any], Callable[[Any], Any], Any]:
    """Return (flat func, unflatten, flat example): func as a function from vectors to vectors."""
    vector, unflatten = flatten(example)
    return lambda x, *args: flatten(func(unflatten(x), *args))[0], unflatten, vector
