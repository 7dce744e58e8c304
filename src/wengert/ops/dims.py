"""Dimension arguments: negative numbers, tuples and None as torch takes them.

A 0-d tensor counts as having one dimension here: it accepts dim 0 and -1.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import prod
from operator import index
from typing import Any

from wengert import errors
from wengert.core.rules import spread_back

__all__ = [
    "as_dim", "as_dims", "broadcast_to_input", "count_of", "normalize_dim", "normalize_dims", "restore_dims", "unrepeated_dims",
]  # fmt: skip


def as_dim(dim: Any) -> int:
    """A dim as an int.

    dim: an int or what has `__index__`, NumPy's integers and tensors of one integer. Raises TypeError for all else, and for
    what is true or false: torch takes `sum(dim=True)` for a mistake.

    >>> import numpy as np
    >>> as_dim(np.int64(-1))
    -1
    """
    array = getattr(dim, "_array", dim)
    if not isinstance(dim, bool) and (array is dim or array.dtype.kind != "b"):
        try:
            return index(dim)
        except TypeError:
            pass
    raise errors.ArgumentError(f"argument 'dim' must be int, not {type(dim).__name__}")


def as_dims(dim: Any) -> tuple[Any, ...]:
    """One dim or a sequence of them as a tuple.

    >>> as_dims(1), as_dims([0, 1])
    ((1,), (0, 1))
    """
    return tuple(dim) if isinstance(dim, (tuple, list)) else (dim,)


def normalize_dim(dim: Any, ndim: int) -> int:
    """dim counted from the front: -1 becomes ndim - 1.

    dim: as in `as_dim`, with its TypeError. Raises IndexError where there is no such dimension.

    >>> normalize_dim(-1, 3), normalize_dim(-1, 0)
    (2, 0)
    """
    if type(dim) is not int:
        dim = as_dim(dim)
    size = ndim or 1
    if 0 <= dim < size:
        return dim
    if -size <= dim < 0:
        return dim + size
    raise errors.dim_out_of_range(dim, ndim)


def unrepeated_dims(dims: Iterable[Any], ndim: int) -> tuple[int, ...]:
    """The dims counted from the front, in the order given. Raises RuntimeError where one is named twice.

    >>> unrepeated_dims([0, -1], 3)
    (0, 2)
    """
    found = tuple([normalize_dim(dim, ndim) for dim in dims])
    if len(set(found)) != len(found):
        raise errors.ShapeError(
            f"dim {next(dim for i, dim in enumerate(found) if dim in found[:i])} appears multiple times in the list of "
            "dims"
        )
    return found


def normalize_dims(dim: Any, ndim: int) -> tuple[int, ...]:
    """The dims that a reduction reduces, counted from the front, in ascending order.

    dim: an int, a sequence of ints, or None. None and an empty sequence mean all dimensions, as in torch. A 0-d tensor
    has none, whatever was (rightly) asked for.

    >>> normalize_dims(-1, 3), normalize_dims((2, 0), 3), normalize_dims(None, 2), normalize_dims(0, 0)
    ((2,), (0, 2), (0, 1), ())
    """
    if dim is None or (isinstance(dim, (tuple, list)) and not dim):
        return tuple(range(ndim))
    if isinstance(dim, (tuple, list)):
        found = unrepeated_dims(dim, ndim)
        return tuple(sorted(found)) if ndim else ()
    one = normalize_dim(dim, ndim)
    return (one,) if ndim else ()


def restore_dims(F: Any, x: Any, shape: tuple[int, ...], dim: Any, keepdim: bool) -> Any:
    """x, a reduction over dim of something of this shape, so that it broadcasts against that shape again.

    For rules: F is either face of the operations. A full reduction is left as it is: a 0-d array broadcasts.
    """
    if keepdim or x.ndim == 0:
        return x
    dims = normalize_dims(dim, len(shape))
    if len(dims) == 1:
        return F.unsqueeze(x, dim=dims[0])
    return F.reshape(x, shape=tuple([1 if i in dims else size for i, size in enumerate(shape)]))


def broadcast_to_input(F: Any, ct: Any, shape: tuple[int, ...], dim: Any, keepdim: bool) -> Any:
    """The cotangent of something of this shape, from that of its sum over dim: in each element, that of the sum it went into.

    For rules: F is either face of the operations.
    """
    found = None if F.is_tensor else spread_back(ct, shape, dim, keepdim)
    return F.expand(restore_dims(F, ct, shape, dim, keepdim), shape=shape) if found is None else found


def count_of(shape: tuple[int, ...], dim: Any) -> int:
    """How many elements a reduction over dim puts into one.

    >>> count_of((2, 3, 4), (0, -1)), count_of((2, 3), None)
    (8, 6)
    """
    return prod([shape[d] for d in normalize_dims(dim, len(shape))])
