"""segment_reduce: reductions of consecutive segments of a dimension."""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert import errors
from wengert.backends.selection import backend_of, to_host
from wengert.core.tensor import wrap
from wengert.ops.dims import normalize_dim
from wengert.ops.indices import raw
from wengert.ops.registry import composite

_REDUCTIONS = {"sum": "sum", "mean": "mean", "prod": "prod", "max": "amax", "min": "amin", "amax": "amax", "amin": "amin"}
_NEUTRAL = {"sum": 0.0, "mean": np.nan, "prod": 1.0, "amax": -np.inf, "amin": np.inf}


def _checked_lengths(data: Any, lengths: Any, offsets: Any, axis: int, unsafe: bool) -> Any:
    """Return the lengths of the segments, (*data.shape[:axis], n), after checking them unless unsafe."""
    if lengths is None and offsets is None:
        raise errors.ShapeError("segment_reduce(): Either lengths or offsets must be defined.")
    given = np.array(to_host(raw(offsets if lengths is None else lengths)))
    if given.dtype.kind not in "iu":
        raise errors.unsupported_dtype("_segment_reduce_lengths_cpu_kernel1", given.dtype)
    if given.ndim - 1 != axis:
        raise errors.ShapeError(
            f"segment_reduce(): Expected axis to be the last dimension of {'lengths' if offsets is None else 'offsets'} "
            f"but got {axis}."
        )
    found = given[..., 1:] - given[..., :-1] if lengths is None else given
    if found.size and found.min() < 0:
        raise errors.ShapeError("lengths contains negative value!")
    if not unsafe:
        if lengths is not None and (found.sum(axis=-1) != data.shape[axis]).any():
            raise errors.ShapeError(
                "segment_reduce(): Expected all rows of lengths along axis to sum to data.size(lengths.dim()-1) when "
                "!unsafe."
            )
    ends = given if lengths is None else found.sum(axis=-1)
    if ends.size and not 0 <= ends.min() <= ends.max() <= data.shape[axis]:
        raise errors.ShapeError(
            f"segment_reduce(): Expected all segments to lie within 0 and data.size({axis}) = {data.shape[axis]}, but they lie "
            f"between {min(ends.min(), 0)} and {ends.max()}."
        )
    return found


def _segment_numbers(counts: Any, start: Any, size: int) -> Any:
    """Return the segment of each of `size` elements; elements of no segment get the number of segments.

    counts: (..., n), the lengths of the segments. start: (...), the index of the first element of a segment."""
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


def _broadcast_trailing(x: Any, shape: tuple[int, ...]) -> Any:
    """Broadcast x, which has the leading dimensions of a shape, along the remaining ones."""
    xp = backend_of(x)
    return x if x.ndim == len(shape) else xp.broadcast_to(x.reshape(x.shape + (1,) * (len(shape) - x.ndim)), shape)


@composite()
def segment_reduce(F, data, reduce, *, lengths=None, indices=None, offsets=None, axis=0, unsafe=False, initial=None):
    """Reduce each of n consecutive segments of a dimension.

    data: any shape, floating. reduce: "sum", "mean", "prod", "max" or "min". lengths: (*data.shape[:axis], n), integers,
    the lengths of the segments; or offsets: (*data.shape[:axis], n + 1), their boundaries. initial: a number that takes
    part in each reduction; a mean adds it to the sum, but does not count it. Returns data's shape with n along axis. The
    result of an empty segment is initial, or, if that is None, 0 (sum), NaN (mean), 1 (prod), -inf (max) or inf (min).
    Raises RuntimeError unless lengths add up to the size of the dimension; unsafe=True skips the checks.

    Derivative: as scatter_reduce; the cotangent of an extremum is shared evenly among the elements that attain it."""
    xp = backend_of(data)
    if reduce not in _REDUCTIONS:
        raise errors.ShapeError(f"reduce argument must be either sum, prod, mean, amax or amin, got {reduce}")
    axis = normalize_dim(axis, data.ndim)
    counts = _checked_lengths(data, lengths, offsets, axis, unsafe)
    reduce = _REDUCTIONS[reduce]
    start = np.zeros(counts.shape[:-1], int) if offsets is None else to_host(raw(offsets))[..., 0]
    shape = (*data.shape[:axis], counts.shape[-1], *data.shape[axis + 1 :])
    dtype = raw(data).dtype
    value = _NEUTRAL[reduce] if initial is None else float(initial)
    base = 0.0 if reduce == "mean" and initial is None else value
    # One more segment, cut off below, takes the elements that belong to no segment.
    wide = (*shape[:axis], shape[axis] + 1, *shape[axis + 1 :])
    places = _segment_numbers(counts, start, data.shape[axis])
    index = _broadcast_trailing(xp.asarray(places), data.shape)
    kind = "sum" if reduce == "mean" else reduce
    found = F._scatter_reduce(wrap(xp.full(wide, base, dtype)), wrap(index), data, dim=axis, reduce=kind)
    found = F.narrow(found, axis, 0, shape[axis])
    if reduce != "mean":
        return found
    # An empty segment is divided by 1, so that its mean is initial.
    found = found / wrap(_broadcast_trailing(xp.asarray(np.maximum(counts, 1)), shape).astype(dtype))
    if initial is not None:
        return found
    return F._masked_fill(found, wrap(_broadcast_trailing(xp.asarray(counts == 0), shape)), np.nan)
