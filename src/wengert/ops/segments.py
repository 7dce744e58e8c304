"""segment_reduce: reductions of consecutive pieces of a dimension."""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert import errors
from wengert.core.tensor import wrap
from wengert.ops.dims import normalize_dim
from wengert.ops.indices import raw
from wengert.ops.registry import composite

_REDUCTIONS = {"sum": "sum", "mean": "mean", "prod": "prod", "max": "amax", "min": "amin", "amax": "amax", "amin": "amin"}
_NEUTRAL = {"sum": 0.0, "mean": np.nan, "prod": 1.0, "amax": -np.inf, "amin": np.inf}


def _checked_lengths(data: Any, lengths: Any, offsets: Any, axis: int, unsafe: bool) -> Any:
    """How long the segments are: an array of the shape of data in front of axis, then one an entry."""
    if lengths is None and offsets is None:
        raise errors.ShapeError("segment_reduce(): Either lengths or offsets must be defined.")
    given = raw(offsets if lengths is None else lengths)
    if given.dtype.kind not in "iu":
        raise errors.unsupported_dtype("_segment_reduce_lengths_cpu_kernel1", given.dtype)
    if given.ndim - 1 != axis:
        raise errors.ShapeError(
            f"segment_reduce(): Expected axis to be the last dimension of {'lengths' if offsets is None else 'offsets'} "
            f"but got {axis}."
        )
    found = given[..., 1:] - given[..., :-1] if lengths is None else given
    if not unsafe:
        if found.size and found.min() < 0:
            raise errors.ShapeError("lengths contains negative value!")
        if lengths is not None and (found.sum(axis=-1) != data.shape[axis]).any():
            raise errors.ShapeError(
                "segment_reduce(): Expected all rows of lengths along axis to sum to data.size(lengths.dim()-1) when "
                "!unsafe."
            )
    return found


def _owners(counts: Any, start: Any, size: int) -> Any:
    """The segment of each of so many elements, a number behind the others for those of none."""
    *leading, segments = counts.shape
    numbers = np.arange(segments)
    if not leading:
        owners = numbers.repeat(counts)
        if len(owners) == size:
            return owners
    places = np.full((*leading, size), segments)
    for where in np.ndindex(*leading):
        first = int(start[where])
        owners = numbers.repeat(counts[where])
        places[where][first : first + len(owners)] = owners
    return places


def _repeated(x: Any, shape: tuple[int, ...]) -> Any:
    """x, which has the first dims of a shape, the same along the others."""
    return x if x.ndim == len(shape) else np.broadcast_to(x.reshape(x.shape + (1,) * (len(shape) - x.ndim)), shape)


@composite()
def segment_reduce(F, data, reduce, *, lengths=None, indices=None, offsets=None, axis=0, unsafe=False, initial=None):
    """The reduction of each of the consecutive pieces that a dimension is cut into.

    data: any shape, floating. reduce: "sum", "mean", "prod", "max" or "min". lengths: (*data.shape[:axis], n), how long the
    pieces are; or offsets: (*data.shape[:axis], n + 1), where they begin and end. initial: takes part in each piece
    (a mean has it in its sum only). Returns data's shape with n along axis. Raises RuntimeError unless the lengths add
    up to the size, which unsafe=True leaves unchecked.

    A piece of no elements gives initial, or else 0, NaN, 1 or an infinity. Derivative: as scatter_reduce; an extremum's
    is shared evenly among the elements that attain it."""
    if reduce not in _REDUCTIONS:
        raise errors.ShapeError(f"reduce argument must be either sum, prod, mean, amax or amin, got {reduce}")
    axis = normalize_dim(axis, data.ndim)
    counts = _checked_lengths(data, lengths, offsets, axis, unsafe)
    reduce = _REDUCTIONS[reduce]
    start = np.zeros(counts.shape[:-1], int) if offsets is None else raw(offsets)[..., 0]
    shape = (*data.shape[:axis], counts.shape[-1], *data.shape[axis + 1 :])
    dtype = raw(data).dtype
    value = _NEUTRAL[reduce] if initial is None else float(initial)
    base = 0.0 if reduce == "mean" and initial is None else value
    # Elements that belong to no segment go to one of their own, behind the others.
    wide = (*shape[:axis], shape[axis] + 1, *shape[axis + 1 :])
    places = _owners(counts, start, data.shape[axis])
    index = _repeated(places, data.shape)
    kind = "sum" if reduce == "mean" else reduce
    found = F._scatter_reduce(wrap(np.full(wide, base, dtype)), wrap(index), data, dim=axis, reduce=kind)
    found = F.narrow(found, axis, 0, shape[axis])
    if reduce != "mean":
        return found
    # The number of elements, 1 for none: then the sum is what initial was.
    found = found / wrap(_repeated(np.maximum(counts, 1), shape).astype(dtype))
    return found if initial is not None else F._masked_fill(found, wrap(_repeated(counts == 0, shape)), np.nan)
