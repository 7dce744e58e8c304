"""Dimension arguments: negative numbers, tuples and None as torch takes them.

A 0-d tensor counts as having one dimension here: it accepts dim 0 and -1.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import prod
from operator import index
from typing import Any

from wengert import errors
from wengert.core.rules import expand_reduced

__all__ = [
    "as_dim", "as_dims", "broadcast_to_input", "count_of", "normalize_dim", "normalize_dims", "restore_dims", "unrepeated_dims",
]  # fmt: skip


def as_dim(dim: Any) -> int:
    """Return a dim as an int.

    dim: an int, or an object with `__index__`, such as a NumPy integer or a tensor of one integer. Raises TypeError for
    others, and for bools, as torch does for `sum(dim=True)`.

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
    """Return one dim, or a sequence of dims, as a tuple.

    >>> as_dims(1), as_dims([0, 1])
    ((1,), (0, 1))
    """
    return tuple(dim) if isinstance(dim, (tuple, list)) else (dim,)


def normalize_dim(dim: Any, ndim: int) -> int:
    """Return dim counted from the front: -1 becomes ndim - 1.

    dim: as in `as_dim`. Raises IndexError unless -ndim <= dim < ndim.

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
    """Return dims counted from the front, in the given order. Raises RuntimeError if a dimension occurs twice.

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
    """Return the dims over which a reduction runs, counted from the front, in ascending order.

    dim: an int, a sequence of ints, or None. None and an empty sequence mean all dimensions, as in torch. If ndim is 0, the
    result is () for every valid dim.

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
    """Reshape x, the result of a reduction over dim, so that it broadcasts to the input's shape.

    shape: of the input. F: either face of the operations, so rules may call this. A 0-d x stays, because it broadcasts.
    """
    if keepdim or x.ndim == 0:
        return x
    dims = normalize_dims(dim, len(shape))
    if len(dims) == 1:
        return F.unsqueeze(x, dim=dims[0])
    return F.reshape(x, shape=tuple([1 if i in dims else size for i, size in enumerate(shape)]))


def broadcast_to_input(F: Any, ct: Any, shape: tuple[int, ...], dim: Any, keepdim: bool) -> Any:
    """Return the cotangent of an input, given the cotangent of its sum over dim: each element gets the cotangent of its sum.

    shape: of the input. F: either face of the operations, so rules may call this.
    """
    found = None if F.is_tensor else expand_reduced(ct, shape, dim, keepdim)
    return F.expand(restore_dims(F, ct, shape, dim, keepdim), shape=shape) if found is None else found


def count_of(shape: tuple[int, ...], dim: Any) -> int:
    """Number of elements that a reduction over dim combines into one.

    >>> count_of((2, 3, 4), (0, -1)), count_of((2, 3), None)
    (8, 6)
    """
    return prod([shape[d] for d in normalize_dims(dim, len(shape))])
