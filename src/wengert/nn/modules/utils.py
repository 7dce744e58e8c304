"""Helpers of layers: sizes that are a number or a tuple of numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from wengert.backends.selection import move
from wengert.core.tensor import wrap
from wengert.dtypes import as_numpy_dtype, get_default_dtype
from wengert.nn.parameter import Parameter
from wengert.ops.options import place_of

__all__ = ["consume_prefix_in_state_dict_if_present"]


def empty_parameter(shape: Any, device: Any = None, dtype: Any = None) -> Any:
    """Return a parameter of uninitialised memory. dtype: the default dtype if None."""
    array = np.empty(shape, as_numpy_dtype(get_default_dtype() if dtype is None else dtype))
    return Parameter(wrap(move(array, place_of(device))))


def _ntuple(n: int, name: str = "parse") -> Callable[[Any], tuple[Any, ...]]:
    """Return a function that makes a tuple of an iterable, and n times the same of anything else."""

    def parse(x: Any) -> tuple[Any, ...]:
        return tuple(x) if isinstance(x, Iterable) else (x,) * n

    parse.__name__ = name
    return parse


_single = _ntuple(1, "_single")
_pair = _ntuple(2, "_pair")
_triple = _ntuple(3, "_triple")
_quadruple = _ntuple(4, "_quadruple")


def _reverse_repeat_tuple(t: tuple[Any, ...], n: int) -> tuple[Any, ...]:
    """Return the entries of t in reverse order, each n times."""
    return tuple(x for x in reversed(t) for _ in range(n))


def _list_with_default(out_size: list[int], defaults: list[int]) -> list[int]:
    """Return out_size with the last of the defaults in place of None."""
    if isinstance(out_size, int):
        return out_size
    if len(defaults) <= len(out_size):
        raise ValueError(f"Input dimension should be at least {len(out_size) + 1}")
    return [v if v is not None else d for v, d in zip(out_size, defaults[-len(out_size) :], strict=False)]


def consume_prefix_in_state_dict_if_present(state_dict: dict[str, Any], prefix: str) -> None:
    """Remove the prefix from all keys of a state_dict and its metadata, in place. DataParallel's prefix is "module."."""
    for key in list(state_dict):
        if key.startswith(prefix):
            state_dict[key[len(prefix) :]] = state_dict.pop(key)
    metadata = getattr(state_dict, "_metadata", None)
    if metadata is not None:
        for key in list(metadata):
            if key == prefix.rstrip("."):
                metadata[""] = metadata.pop(key)
            elif key.startswith(prefix):
                metadata[key[len(prefix) :]] = metadata.pop(key)
