"""NumPy's functions that change the shape or the order of elements, and those that make arrays like another one."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from wengert.array_functions.table import checked_axis, dtype_of, fft, ints, of, since, tensor, unsupported_arguments, w
from wengert.ops import OPS

of(np.copy)(lambda a, order="K", subok=False: w.clone(tensor(a)))
of(np.swapaxes, method=True)(lambda a, axis1, axis2: w.swapaxes(tensor(a), axis1, axis2))
of(np.moveaxis)(lambda a, source, destination: w.moveaxis(tensor(a), ints(source), ints(destination)))
of(np.broadcast_to)(lambda array, shape: w.broadcast_to(tensor(array), ints(shape)))
of(np.roll)(lambda a, shift, axis=None: w.roll(tensor(a), shift, axis))
of(np.tile)(lambda A, reps: w.tile(tensor(A), ints(reps)))
of(np.diagonal, method=True)(lambda a, offset=0, axis1=0, axis2=1: w.diagonal(tensor(a), offset, axis1, axis2))
of(np.linalg.diagonal)(lambda x, offset=0: w.diagonal(tensor(x), offset, -2, -1))
of(np.diag)(lambda v, k=0: w.diag(tensor(v), k))
of(np.diagflat)(lambda v, k=0: w.diagflat(tensor(v), k))
of(np.tril)(lambda m, k=0: w.tril(tensor(m), k))
of(np.triu)(lambda m, k=0: w.triu(tensor(m), k))
of(np.matrix_transpose, np.linalg.matrix_transpose)(lambda x: w.transpose(tensor(x), -1, -2))
of(np.fft.fftshift)(lambda x, axes=None: fft.fftshift(tensor(x), axes if axes is None else ints(axes)))
of(np.fft.ifftshift)(lambda x, axes=None: fft.ifftshift(tensor(x), axes if axes is None else ints(axes)))


def _in_order(a: Any, order: str) -> bool:
    """Whether the elements are read with the first axis fastest."""
    if order in ("C", "K"):
        return False
    if order == "A":
        return a.ndim > 1 and not a.is_contiguous() and w.permute(a, tuple(range(a.ndim))[::-1]).is_contiguous()
    if order == "F":
        return True
    raise ValueError(f"order must be one of 'C', 'F', 'A', or 'K' (got {order!r})")


def reversed_axes(a: Any) -> Any:
    """Return a with its axes in reverse order."""
    return w.permute(a, tuple(range(a.ndim))[::-1])


def in_memory_order(a: Any, order: Any) -> Any:
    """Return a fresh tensor with its elements in memory in this order, "C", "F", "A" or "K": itself, or a copy."""
    if order == "F":
        return reversed_axes(reversed_axes(a).contiguous())
    return a.contiguous() if order == "C" else a


@of(np.ravel, method=True)
def _ravel(a, order="C"):
    a = tensor(a)
    return w.ravel(reversed_axes(a) if _in_order(a, order) else a)


@of(np.reshape, method=True)
def _reshape(a, shape, order="C", copy=None):
    a = tensor(a)
    if not _in_order(a, order):
        found = w.reshape(a, ints(shape))
    else:
        found = reversed_axes(w.reshape(reversed_axes(a), ints(shape)[::-1]))
    if copy is False and a.numel() and not np.may_share_memory(found._array, a._array):
        raise ValueError("Unable to avoid creating a copy while reshaping.")
    return found.clone() if copy else found


@of(np.transpose, method=True)
def _transpose(a, axes=None):
    a = tensor(a)
    return reversed_axes(a) if axes is None else w.permute(a, ints(axes))


@of(np.squeeze, method=True)
def _squeeze(a, axis=None):
    a = tensor(a)
    if axis is None:
        return w.squeeze(a)
    axes = tuple([checked_axis(d, a.ndim) for d in ints(axis)])
    if any(a.shape[d] != 1 for d in axes):
        raise ValueError("cannot select an axis to squeeze out which has size not equal to one")
    return w.squeeze(a, axes)


@of(np.expand_dims)
def _expand_dims(a, axis):
    a = tensor(a)
    if type(axis) is int:
        return w.unsqueeze(a, axis)
    axes = ints(axis)
    for dim in sorted(np.lib.array_utils.normalize_axis_tuple(axes, a.ndim + len(axes))):
        a = w.unsqueeze(a, dim)
    return a


@of(np.rollaxis)
def _rollaxis(a, axis, start=0):
    a = tensor(a)
    axis = checked_axis(axis, a.ndim)
    start = start + a.ndim if start < 0 else start
    return w.movedim(a, axis, start - 1 if axis < start else start)


@of(np.flip)
def _flip(m, axis=None):
    m = tensor(m)
    axes = range(m.ndim) if axis is None else [checked_axis(d, m.ndim) for d in ints(axis)]
    backwards, forwards = slice(None, None, -1), slice(None)
    return OPS["_slice"].function(m, index=(*[backwards if d in axes else forwards for d in range(m.ndim)], ...))


@of(np.flipud)
def _flipud(m):
    if tensor(m).ndim < 1:
        raise ValueError("Input must be >= 1-d.")
    return _flip(m, 0)


@of(np.fliplr)
def _fliplr(m):
    if tensor(m).ndim < 2:
        raise ValueError("Input must be >= 2-d.")
    return _flip(m, 1)


@of(np.rot90)
def _rot90(m, k=1, axes=(0, 1)):
    m = tensor(m)
    axes = ints(axes)
    if len(axes) != 2 or m.ndim < 2 or checked_axis(axes[0], m.ndim) == checked_axis(axes[1], m.ndim):
        return w.rot90(m, k, list(axes))  # raises
    k %= 4
    if k == 0:
        return m[...]
    if k == 2:
        return _flip(m, axes)
    return w.swapaxes(_flip(m, axes[1]), *axes) if k == 1 else _flip(w.swapaxes(m, *axes), axes[1])


@of(np.repeat, method=True)
def _repeat(a, repeats, axis=None):
    return w.repeat_interleave(tensor(a), repeats if isinstance(repeats, int) else w.as_tensor(repeats), axis)


@of(np.resize)
def _resize(a, new_shape):
    a, shape = w.ravel(tensor(a)), ints(new_shape)
    size = prod(shape)
    if size == 0 or a.numel() == 0:
        return w.zeros(shape, dtype=a.dtype)
    return w.reshape(w.index_select(a, 0, w.as_tensor(np.arange(size) % a.numel())), shape)


@of(np.lib.stride_tricks.sliding_window_view)
def _sliding_window_view(x, window_shape, axis=None, *, subok=False, writeable=False):
    x, sizes = tensor(x), ints(window_shape)
    axes = tuple(range(x.ndim)) if axis is None else tuple([checked_axis(d, x.ndim) for d in ints(axis)])
    if len(sizes) != len(axes):
        raise ValueError(f"window_shape has {len(sizes)} sizes for {len(axes)} axes")
    if any(size < 0 for size in sizes):
        raise ValueError("`window_shape` cannot contain negative values")
    for d, size in zip(axes, sizes, strict=True):
        if x.shape[d] < size:
            raise ValueError("window shape cannot be larger than input array shape")
        x = x.unfold(d, size, 1)
    return x


def _at_least(name: str) -> Any:
    run = getattr(w, name)
    return lambda *arys: run(tensor(arys[0])) if len(arys) == 1 else tuple([run(tensor(x)) for x in arys])


for _name in ("atleast_1d", "atleast_2d", "atleast_3d"):
    of(getattr(np, _name))(_at_least(_name))


@of(np.trim_zeros)
def _trim_zeros(filt, trim="fb", axis=None):
    filt = tensor(filt)
    if axis is not None or filt.ndim != 1:
        raise unsupported_arguments("trim_zeros", ["more than one dimension"])
    nonzero = np.flatnonzero(filt.numpy(force=True))
    first = int(nonzero[0]) if len(nonzero) and "f" in trim.lower() else 0 if len(nonzero) else len(filt)
    last = int(nonzero[-1]) + 1 if len(nonzero) and "b" in trim.lower() else len(filt)
    return filt[first:last]


# -- arrays like another one ---------------------------------------------------------------------------------------------


def _like(name: str) -> Any:
    make = getattr(w, name)

    def like(a, dtype=None, order="K", subok=True, shape=None, *, device=None):
        a = tensor(a)
        a = a if shape is None else w.zeros(ints(shape), dtype=a.dtype)
        return make(a) if dtype is None else make(a, dtype=dtype_of(dtype))

    return like


of(np.zeros_like)(_like("zeros_like"))
of(np.ones_like)(_like("ones_like"))
of(np.empty_like)(lambda prototype, *args, **kwargs: _like("empty_like")(prototype, *args, **kwargs))


@of(np.full_like)
def _full_like(a, fill_value, dtype=None, order="K", subok=True, shape=None, *, device=None):
    made = _like("empty_like")(a, dtype, order, subok, shape)
    return w.broadcast_to(tensor(fill_value).to(made.dtype), made.shape).clone()


@of(*since("astype"))
def _astype(x, dtype, copy=True, device=None):
    return tensor(x).to(dtype_of(dtype), copy=copy)
