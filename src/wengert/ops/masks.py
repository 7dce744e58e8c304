"""Reads and writes through masks: masked_fill, masked_select, masked_scatter."""

from __future__ import annotations

import warnings
from math import prod
from typing import Any

import numpy as np

from wengert import dtypes, errors
from wengert.backends.selection import backend_of, face_of, is_array
from wengert.core.dispatch import call
from wengert.core.stacks import user_level
from wengert.core.tensor import TensorBase, wrap
from wengert.ops.indices import as_storable, as_tensor, broadcast_shape, private_index, raw, true_places, zero_dim_value
from wengert.ops.inplace import write_inplace
from wengert.ops.registry import NONE, composite, linear, plain


def _as_bool_mask(op: str, mask: Any) -> Any:
    """Return the mask as a bool tensor. A uint8 mask, the dtype of comparisons up to torch 1.1, is accepted with a warning."""
    mask = as_tensor(mask)
    array = raw(mask)
    if array.dtype == np.uint8:
        warnings.warn(
            f"{op} with a mask of dtype torch.uint8 is what torch had up to 1.1, please use a dtype torch.bool instead",
            DeprecationWarning,
            stacklevel=user_level(),
        )
        return wrap(array.astype(np.bool_))
    if array.dtype.kind != "b":
        if op == "masked_select":
            raise errors.UnsupportedDtypeError("masked_select: expected BoolTensor for mask")
        dtype = dtypes.from_numpy_dtype(array.dtype)
        name = dtype.scalar_name if op == "masked_scatter_" else dtype.c_name  # torch's two messages differ in this
        raise errors.UnsupportedDtypeError(f"{op} only supports boolean masks, but got mask with dtype {name}")
    return mask


def _fill_masked(x: Any, mask: Any, value: Any) -> None:
    xp = backend_of(x)
    value = as_storable(value, x)
    xp.copyto(x, value, casting="unsafe", where=mask)


@linear(
    promote=NONE, method=False, namespaces=(),
    node=lambda inputs, params: f"MaskedFillBackward{int(isinstance(inputs[2], TensorBase))}",
)  # fmt: skip
def _masked_fill(xp, x, mask, value):
    """A copy of x with value where mask is True; x and mask broadcast against each other.

    Derivative: in x 0 where mask is True, 1 elsewhere; in value the sum of the cotangent where mask is True."""
    value = as_storable(value, x)
    if is_array(value) and value.dtype != x.dtype:
        if value.dtype.kind == "c" and x.dtype.kind != "c" and value.imag:
            raise errors.value_overflow(dtypes.from_numpy_dtype(x.dtype).c_name)
        value = xp.cast(value, x.dtype)
    try:
        return xp.asarray(xp.where(mask, value, x))
    except ValueError:
        raise errors.broadcast_shapes(x.shape, mask.shape) from None


@_masked_fill.vjp("x", untaken=lambda mask: mask)
def _(F, ct, mask):
    return F._masked_fill(ct, mask, 0)


@_masked_fill.vjp("value")
def _(F, ct, mask):
    return F.sum(F.masked_select(ct, mask))


def _masked_fill_array(x: Any, mask: Any, value: Any) -> Any:
    return face_of(backend_of(x))._masked_fill(x, mask, value)


@plain(method=True, array=_masked_fill_array)
def masked_fill(input, mask, value):
    """Return a copy of input with value where mask is True.

    mask: bool, broadcasts with input. value: a number or a 0-d tensor, cast to input's dtype. Raises RuntimeError for
    shapes that do not broadcast.

    Derivative: in input 0 where mask is True, 1 elsewhere; in value the sum of the cotangent where mask is True.

    >>> import wengert
    >>> wengert.tensor([1, 2, 3]).masked_fill(wengert.tensor([True, False, True]), 0)
    tensor([0, 2, 0])
    """
    mask = _as_bool_mask("masked_fill_", mask)
    return call(_masked_fill, (input, mask, zero_dim_value(value, "masked_fill_")), None)


@plain(method=True, namespaces=())
def masked_fill_(self, mask, value):
    """In-place form of masked_fill. mask must broadcast to the tensor's shape."""
    mask = _as_bool_mask("masked_fill_", mask)
    _check_mask_fits(self, mask)
    return write_inplace(_masked_fill, (self, mask, zero_dim_value(value, "masked_fill_")), {}, _fill_masked)


def _check_mask_fits(x: Any, mask: Any) -> None:
    shape, wanted = tuple(mask.shape), tuple(x.shape)
    if len(shape) > len(wanted) or any(m not in (1, n) for m, n in zip(shape[::-1], wanted[::-1], strict=False)):
        raise errors.expand_mismatch(shape, wanted)


def _scatter_masked(x: Any, mask: Any, source: Any) -> None:
    xp = backend_of(x)
    where = private_index(mask if mask.shape == x.shape else xp.broadcast_to(mask, x.shape))
    count = int(xp.count_nonzero(where))
    if source.size < count:
        raise errors.ShapeError("Number of elements of source < number of ones in mask")
    x[where] = source.reshape(-1)[:count]


@linear(promote=NONE, node="MaskedScatterBackward0", method=False, namespaces=())
def _masked_scatter(xp, x, mask, source):
    """A copy of x with the elements of source, in order, where mask is True.

    Derivative: in x 0 where mask is True, 1 elsewhere; in source the cotangent of the elements that were used."""
    shape = broadcast_shape(x, mask)
    result = (x if x.shape == shape else xp.broadcast_to(x, shape)).copy()
    _scatter_masked(result, mask, source)
    return result


@_masked_scatter.vjp("x", untaken=lambda mask: mask)
def _(F, ct, mask):
    return F._masked_fill(ct, mask, 0)


@_masked_scatter.vjp("source")
def _(F, ct, mask, source_shape):
    picked = F._masked_select(ct, mask)
    count, size = picked.shape[0], prod(source_shape)
    if count < size:
        picked = F.constant_pad_nd(picked, pad=(0, size - count), value=0)
    return F.reshape(picked, shape=source_shape)


def _checked_source(x: Any, source: Any) -> Any:
    source = as_tensor(source)
    if raw(source).dtype != raw(x).dtype:
        names = [dtypes.from_numpy_dtype(raw(t).dtype).scalar_name for t in (x, source)]
        raise errors.UnsupportedDtypeError(
            f"masked_scatter: expected self and source to have same dtypes but got {names[0]} and {names[1]}"
        )
    return source


@composite(method=True)
def masked_scatter(F, input, mask, source):
    """Return a copy of input with the elements of source, in row-major order, where mask is True.

    mask: bool, broadcasts with input. source: any shape, of input's dtype. Raises RuntimeError if source has fewer
    elements than mask has True.

    Derivative: in input 0 where mask is True, 1 elsewhere; in source the cotangent of the elements that were used."""
    mask = _as_bool_mask("masked_scatter_", mask)
    broadcast_shape(input, mask)
    return F._masked_scatter(input, mask, _checked_source(input, source))


@plain(method=True, namespaces=())
def masked_scatter_(self, mask, source):
    """In-place form of masked_scatter."""
    mask = _as_bool_mask("masked_scatter_", mask)
    _check_mask_fits(self, mask)
    return write_inplace(_masked_scatter, (self, mask, _checked_source(self, source)), {}, _scatter_masked)


@linear(promote=NONE, node="MaskedSelectBackward0", method=False, namespaces=(), moves=True)
def _masked_select(xp, x, mask):
    """Vector of the elements of x where mask is True; x and mask broadcast.

    Derivative: the cotangent at the selected elements, 0 elsewhere."""
    if x.shape == mask.shape:
        return x[private_index(mask)]
    shape = broadcast_shape(x, mask)
    return xp.broadcast_to(x, shape)[private_index(xp.broadcast_to(mask, shape))]


def _is_not_selected(x_shape, mask):
    """Mask, of x's shape, of the elements of x that masked_select does not read."""
    shape = np.broadcast_shapes(x_shape, raw(mask).shape)
    picked = backend_of(mask).broadcast_to(raw(mask), shape)
    added = len(shape) - len(x_shape)
    repeated = tuple([i for i in range(len(shape)) if i < added or x_shape[i - added] != shape[i]])
    return ~picked.any(axis=repeated).reshape(x_shape)


@_masked_select.vjp("x", untaken=_is_not_selected)
def _(F, ct, x_shape, mask):
    shape = np.broadcast_shapes(x_shape, raw(mask).shape)
    if not shape:
        return F.sum(ct)
    where = true_places(raw(mask), shape)
    if shape == x_shape:
        return F.read_cotangent(ct, shape=x_shape, index=where)
    added = len(shape) - len(x_shape)  # an element that broadcasting repeats gets the sum of its cotangents
    index = tuple([places if size != 1 else places * 0 for size, places in zip(x_shape, where[added:], strict=True)])
    return F.read_cotangent(ct, shape=x_shape, index=index, repeats=True) if index else F.sum(ct)


@composite(method=True)
def masked_select(F, input, mask):
    """Return the elements of input where mask is True, as a vector in row-major order.

    mask: bool, broadcasts with input. Derivative: the cotangent at the selected elements, 0 elsewhere.

    >>> import wengert
    >>> wengert.tensor([1, 2, 3]).masked_select(wengert.tensor([True, False, True]))
    tensor([1, 3])
    """
    mask = _as_bool_mask("masked_select", mask)
    broadcast_shape(input, mask)
    return F._masked_select(input, mask if F.is_tensor else raw(mask))
