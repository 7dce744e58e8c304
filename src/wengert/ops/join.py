"""Joining of tensors (cat, stack and the like) and splitting (split, chunk and the like)."""

from __future__ import annotations

from itertools import pairwise
from math import prod
from operator import index
from typing import Any

import numpy as np

from wengert import errors
from wengert.backends.selection import backend_of, is_array
from wengert.core.dispatch import call
from wengert.core.modes import INFERENCE, flags
from wengert.core.tensor import TensorBase
from wengert.core.views import store_out
from wengert.kernels.memory import concatenate
from wengert.ops.dims import normalize_dim
from wengert.ops.indices import checked, raw
from wengert.ops.registry import NONE, SAME, alias, composite, linear, plain, view
from wengert.ops.values import number_of

_FULL = slice(None)


def _checked_tensors(op: str, tensors: Any) -> tuple:
    """Return the tensors of a sequence as a tuple. Raises TypeError for a single tensor and for other elements."""
    if isinstance(tensors, TensorBase) or not hasattr(tensors, "__iter__"):
        raise errors.wrong_argument_type(op, "tensors", 0, type(tensors), "tuple of Tensors")
    tensors = tuple(tensors)
    if not tensors and op.endswith("stack"):
        raise errors.ShapeError(f"{op} expects a non-empty TensorList")
    for tensor in tensors:
        if not isinstance(tensor, TensorBase) and not is_array(tensor):
            i = next(i for i, x in enumerate(tensors) if x is tensor)
            raise errors.ArgumentError(
                f"{op}(): expected Tensor as element {i} in argument 0, but got {type(tensor).__name__}"
            )
    return tensors


def _store_in_out(out: Any, result: Any) -> Any:
    """Return result, or store it in out and return out. Raises RuntimeError if out or result requires grad."""
    if out is None:
        return result
    if not isinstance(out, TensorBase):
        raise errors.wrong_argument_type("cat", "out", None, type(out))
    if out.requires_grad or result.requires_grad:
        raise errors.out_requires_grad("cat")
    store_out(out, result._array)
    return out


# -- cat ---------------------------------------------------------------------------------------------------------------


@linear(promote=SAME, node="CatBackward0", method=False, namespaces=(), moves=True)
def _cat(xp, *tensors, dim=0):
    """Concatenate tensors along dim. Derivative: each tensor gets its part of the cotangent."""
    try:
        return concatenate(tensors, dim)
    except (ValueError, OverflowError):  # OverflowError: NumPy refuses a dim beyond 64 bits
        pass
    shapes = [x.shape for x in tensors]
    if () in shapes:
        raise errors.ShapeError(
            f"zero-dimensional tensor (at position {shapes.index(())}) cannot be concatenated. Hint: use stack."
        )
    nonempty = [x for x in tensors if x.shape != (0,)]  # as in torch, empty vectors are ignored
    dim = normalize_dim(dim, nonempty[0].ndim if nonempty else 1)
    try:
        return xp.concatenate(nonempty, axis=dim)
    except ValueError:
        raise _cat_error(shapes, nonempty[0].shape, dim) from None


def _cat_error(shapes: list[tuple], first: tuple, dim: int) -> Exception:
    """Return torch's error for shapes that cannot be concatenated along dim."""
    for position, shape in enumerate(shapes):
        if shape == (0,):
            continue
        if len(shape) != len(first):
            return errors.ShapeError(f"Tensors must have same number of dimensions: got {len(first)} and {len(shape)}")
        for i, (expected, got) in enumerate(zip(first, shape, strict=True)):
            if i != dim and expected != got:
                return errors.ShapeError(
                    f"Sizes of tensors must match except in dimension {dim}. Expected size {expected} but got size {got} "
                    f"for tensor number {position} in the list."
                )
    raise AssertionError("these shapes can be joined")


@_cat.vjp("tensors")
def _(F, ct, tensors_shape, needs, dim):
    dim = normalize_dim(dim, len(ct.shape))
    parts: list[Any] = []
    start = 0
    for shape, needed in zip(tensors_shape, needs, strict=True):
        if shape == (0,) and len(ct.shape) != 1:
            parts.append(F.new_zeros(ct, size=(0,)) if needed else None)
            continue
        size = shape[dim]
        parts.append(F.narrow(ct, dim, start, size) if needed else None)
        start += size
    return parts


def _cat_arrays(tensors: Any, dim: int = 0) -> Any:
    return backend_of(tensors[0]).concatenate(tensors, axis=dim)


@plain(array=_cat_arrays)
def cat(tensors, dim=0, *, out=None):
    """Concatenate a sequence of tensors along a dimension, in their promoted dtype.

    tensors: at least 1-D, of one shape except along dim; empty vectors are ignored. Raises RuntimeError for shapes that do
    not fit, and ValueError for an empty sequence.

    Derivative: each tensor gets its part of the cotangent.

    >>> import wengert
    >>> wengert.cat([wengert.tensor([1, 2]), wengert.tensor([3.0])])
    tensor([1., 2., 3.])
    """
    tensors = _checked_tensors("cat", tensors)
    if not tensors:
        raise errors.ElementError("torch.cat(): expected a non-empty list of Tensors")
    return _store_in_out(out, call(_cat, tensors, {"dim": dim}))


alias("concat", cat)
alias("concatenate", cat)


# -- stack -------------------------------------------------------------------------------------------------------------


@linear(promote=SAME, node="StackBackward0", method=False, namespaces=(), moves=True)
def _stack(xp, *tensors, dim=0):
    """Stack tensors of one shape along a new dimension. Derivative: each tensor gets its slice of the cotangent."""
    dim = normalize_dim(dim, tensors[0].ndim + 1)
    place = (*((_FULL,) * dim), None)
    try:
        if not tensors[0].ndim and isinstance(tensors[0], np.ndarray):
            return xp.array(tensors, tensors[0].dtype)  # NumPy reads 0-d arrays as numbers: a tenth of the time
        return concatenate([x[place] for x in tensors], dim)
    except (ValueError, IndexError):
        first = tensors[0].shape
        i, other = next((i, x.shape) for i, x in enumerate(tensors) if x.shape != first)
        raise errors.ShapeError(
            f"stack expects each tensor to be equal size, but got {list(first)} at entry 0 and {list(other)} at entry {i}"
        ) from None


@_stack.vjp("tensors")
def _(F, ct, dim):
    return F.unbind(ct, dim=dim)


def _stack_arrays(tensors: Any, dim: int = 0) -> Any:
    return _stack.forward(np, *tensors, dim=dim)


@plain(array=_stack_arrays)
def stack(tensors, dim=0, *, out=None):
    """Stack a sequence of tensors of one shape along a new dimension dim, in their promoted dtype.

    Raises RuntimeError for different shapes and for an empty sequence. Derivative: each tensor gets its slice of the
    cotangent.

    >>> import wengert
    >>> wengert.stack([wengert.tensor([1, 2]), wengert.tensor([3, 4])], dim=1)
    tensor([[1, 3],
            [2, 4]])
    """
    tensors = _checked_tensors("stack", tensors)
    if not tensors:
        raise errors.ShapeError("stack expects a non-empty TensorList")
    return _store_in_out(out, call(_stack, tensors, {"dim": dim}))


@composite()
def hstack(F, tensors):
    """Concatenate tensors along dimension 1, or vectors along dimension 0.

    Derivative: each tensor gets its part of the cotangent."""
    tensors = F.atleast_1d(_checked_tensors("hstack", tensors))
    return F.cat(tensors, dim=0 if len(tensors[0].shape) == 1 else 1)


@composite()
def vstack(F, tensors):
    """Concatenate tensors along dimension 0. 0-d tensors and vectors count as rows.

    Derivative: each tensor gets its part of the cotangent."""
    return F.cat(F.atleast_2d(_checked_tensors("vstack", tensors)), dim=0)


alias("row_stack", vstack)


@composite()
def dstack(F, tensors):
    """Concatenate tensors along dimension 2, after atleast_3d.

    Derivative: each tensor gets its part of the cotangent."""
    return F.cat(F.atleast_3d(_checked_tensors("dstack", tensors)), dim=2)


@composite()
def column_stack(F, tensors):
    """Concatenate tensors along dimension 1. 0-d tensors and vectors count as columns.

    Derivative: each tensor gets its part of the cotangent."""
    tensors = _checked_tensors("column_stack", tensors)
    columns = [F.reshape(x, shape=(prod(x.shape), 1)) if len(x.shape) < 2 else x for x in tensors]
    return F.hstack(columns)


# -- split -------------------------------------------------------------------------------------------------------------


@view(promote=NONE, outputs=(), method=False, namespaces=(), node=lambda inputs, params: params["node"])
def _split(xp, x, *, sizes, dim, node):
    """Split x into parts of the given sizes along dim >= 0: a tuple of views. Derivative: the cotangents, concatenated."""
    before = (_FULL,) * dim
    parts, start = [], 0
    for size in sizes:
        parts.append(x[(*before, slice(start, start + size))])
        start += size
    return tuple(parts)


@linear(promote=NONE, outputs=(), method=False, namespaces=(), node=lambda inputs, params: params["node"])
def _unsafe_split(xp, x, *, sizes, dim, node):
    """_split whose parts share x's memory, but are not views. Derivative: the cotangents, concatenated."""
    return _split.forward(xp, x, sizes=sizes, dim=dim, node=node)


@_unsafe_split.vjp("x")
@_split.vjp("x")
def _(F, ct, x_shape, sizes, dim):
    used = [i for i, part in enumerate(ct) if part is not None]
    if len(used) == 1:
        start = sum(sizes[: used[0]])
        index = (*((_FULL,) * dim), slice(start, start + sizes[used[0]]))
        return F.read_cotangent(ct[used[0]], shape=x_shape, index=index)
    parts = []
    for part, size in zip(ct, sizes, strict=True):
        parts.append(
            F.new_zeros(ct[used[0]], size=(*x_shape[:dim], size, *x_shape[dim + 1 :])) if part is None else part
        )
    return F.cat(parts, dim=dim)


def _split_dim(input: Any, dim: int, op: str) -> int:
    """Return dim counted from the front. Raises RuntimeError for a 0-d input."""
    ndim = checked(op, raw(input)).ndim
    if not ndim:
        raise errors.ShapeError(f"{op.removeprefix('unsafe_')} expects at least a 1-dimensional tensor")
    return normalize_dim(dim, ndim)


def _equal_sizes(split_size: Any, length: int) -> tuple:
    """Return the sizes of parts of split_size elements; the last one may be smaller."""
    if split_size < 0:
        raise errors.ShapeError(f"split expects split_size be non-negative, but got split_size={split_size}")
    if split_size == 0:
        if length:
            raise errors.ShapeError(
                f"split_size can only be 0 if dimension size is 0, but got dimension size of {length}"
            )
        return (0,)
    count, rest = divmod(length, split_size)
    return (split_size,) * count + ((rest,) if rest or not count else ())


def _split_into(op: Any, input: Any, sizes: Any, dim: Any, node: str) -> Any:
    """Call _split or _unsafe_split."""
    return call(op, (input,), {"sizes": sizes, "dim": dim, "node": node})


def _unsafe_split_into(input: Any, sizes: Any, dim: Any, node: str) -> Any:
    # A tensor made in inference mode may be written outside of it only if it is a view.
    return _split_into(_split if flags() & INFERENCE else _unsafe_split, input, sizes, dim, node)


@plain(method=True)
def split(tensor, split_size_or_sections=None, dim=0, *, split_size=None):
    """Split a tensor along dim into parts of one size, the last of which may be smaller, or of the sizes in a list.

    Returns a tuple of views, which may not be written in place while gradients are recorded. Raises RuntimeError if the list
    does not sum to the dimension's size.

    Derivative: the cotangents, concatenated.

    >>> import wengert
    >>> wengert.arange(5).split(2)
    (tensor([0, 1]), tensor([2, 3]), tensor([4]))
    """
    sections = split_size if split_size_or_sections is None else split_size_or_sections
    if not isinstance(sections, int):
        sections = number_of(sections)
    if not isinstance(sections, int):
        return split_with_sizes.fn(tensor, sections, dim)
    dim = _split_dim(tensor, dim, "split")
    return _split_into(_split, tensor, _equal_sizes(sections, tensor.shape[dim]), dim, "SplitBackward0")


def _checked_sizes(input: Any, sizes: Any, dim: int) -> tuple:
    """Return sizes as a tuple of ints. Raises RuntimeError for a negative size and if they do not sum to input's size."""
    sizes, length = tuple([int(size) for size in sizes]), input.shape[dim]
    if min(sizes, default=0) < 0:
        raise errors.ShapeError(
            f"split_with_sizes expects split_sizes have only non-negative entries, but got split_sizes={list(sizes)}"
        )
    if sum(sizes) != length:
        raise errors.ShapeError(
            f"split_with_sizes expects split_sizes to sum exactly to {length} (input tensor's size at dimension "
            f"{dim}), but got split_sizes={list(sizes)}"
        )
    return sizes


@plain(method=True)
def split_with_sizes(input, split_sizes, dim=0):
    """Split input along dim into parts of the sizes in split_sizes: a tuple of views, as from `split`.

    Derivative: the cotangents, concatenated."""
    dim = _split_dim(input, dim, "split_with_sizes")
    return _split_into(_split, input, _checked_sizes(input, split_sizes, dim), dim, "SplitWithSizesBackward0")


def _chunk_sizes(chunks: int, length: int) -> tuple:
    """Return the sizes of at most `chunks` parts. Raises RuntimeError unless chunks > 0."""
    if chunks <= 0:
        raise errors.ShapeError(f"chunk expects `chunks` to be greater than 0, got: {chunks}")
    return _equal_sizes(-(-length // chunks), length) if length else (0,) * chunks


@plain(method=True)
def chunk(input, chunks, dim=0):
    """Split input along dim into at most `chunks` parts of one size, the last of which may be smaller.

    Returns a tuple of views, as from `split`. Raises RuntimeError unless chunks > 0.

    Derivative: the cotangents, concatenated.

    >>> import wengert
    >>> [part.shape[0] for part in wengert.arange(7).chunk(3)]
    [3, 3, 1]
    """
    dim = _split_dim(input, dim, "chunk")
    node = "SplitBackward0" if input.shape[dim] else "SplitWithSizesBackward0"
    return _split_into(_split, input, _chunk_sizes(chunks, input.shape[dim]), dim, node)


@plain(method=True)
def unsafe_split(tensor, split_size, dim=0):
    """`split` whose parts may be written in place.

    The parts share the memory of tensor, but not its version counter: a write into a part is not noticed if tensor was
    saved for a backward pass.

    Derivative: the cotangents, concatenated."""
    dim = _split_dim(tensor, dim, "unsafe_split")
    sizes = _equal_sizes(split_size, tensor.shape[dim])
    return _unsafe_split_into(tensor, sizes, dim, "UnsafeSplitBackward0")


@plain(method=True)
def unsafe_split_with_sizes(input, split_sizes, dim=0):
    """`split_with_sizes` whose parts may be written in place: see `unsafe_split`. Derivative: the cotangents, concatenated."""
    dim = _split_dim(input, dim, "unsafe_split_with_sizes")
    sizes = _checked_sizes(input, split_sizes, dim)
    return _unsafe_split_into(input, sizes, dim, "UnsafeSplitWithSizesBackward0")


@plain(method=True)
def unsafe_chunk(input, chunks, dim=0):
    """`chunk` whose parts may be written in place: see `unsafe_split`. Derivative: the cotangents, concatenated."""
    dim = _split_dim(input, dim, "unsafe_chunk")
    return _unsafe_split_into(input, _chunk_sizes(chunks, input.shape[dim]), dim, "UnsafeSplitBackward0")


_MAX_SECTIONS = 2**24  # as many views take gigabytes


@composite(method=True, aliases={"tensor_indices_or_sections": "indices_or_sections"})
def tensor_split(F, input, indices_or_sections=None, dim=0, *, indices=None, sections=None):
    """Split input along dim into a number of nearly equal parts, or at the given indices: a tuple of views.

    indices_or_sections, indices, sections: an int is the number of parts, a sequence or a tensor holds the indices. Raises
    RuntimeError for a number below 1 and for a 0-d input.

    Derivative: the cotangents, concatenated.

    >>> import wengert
    >>> wengert.arange(5).tensor_split(2), wengert.arange(5).tensor_split((1, 3))
    ((tensor([0, 1, 2]), tensor([3, 4])), (tensor([0]), tensor([1, 2]), tensor([3, 4])))
    """
    where = _first_given("tensor_split", indices_or_sections, indices, sections)
    if not len(input.shape):
        raise errors.ShapeError("tensor_split expected at least a 1-dimensional tensor, but got a tensor with 0 dims")
    dim = normalize_dim(dim, len(input.shape))
    length = input.shape[dim]
    if isinstance(where, TensorBase):
        where = where._array.tolist()
    where = number_of(where)
    if isinstance(where, int):
        if where <= 0:
            raise errors.ShapeError(f"number of sections must be larger than 0, got {where}")
        if where > _MAX_SECTIONS:
            raise errors.ShapeError(f"tensor_split: {where} sections are more than {_MAX_SECTIONS}")
        size, larger = divmod(length, where)
        ends = [size * (i + 1) + min(i + 1, larger) for i in range(where - 1)]
    else:
        ends = [index(end) for end in where]
    bounds = [0, *[max(0, min(length, end + length if end < 0 else end)) for end in ends], length]
    return tuple([F.narrow(input, dim, start, max(0, stop - start)) for start, stop in pairwise(bounds)])


def _first_given(op: str, *arguments: Any) -> Any:
    """Return the first argument that is not None. Raises TypeError if all are None."""
    for argument in arguments:
        if argument is not None:
            return argument
    raise errors.missing_argument(op, "indices_or_sections")


def _split_evenly(F: Any, input: Any, where: Any, dim: int, op: str) -> Any:
    """Call tensor_split. Raises RuntimeError if where is a number of parts that does not divide the size."""
    length = input.shape[dim]
    if isinstance(where, int) and (where == 0 or length % where):
        raise errors.ShapeError(
            f"torch.{op} attempted to split along dimension {dim}, but the size of the dimension {length} is not "
            f"divisible by the split_size {where}!"
        )
    return F.tensor_split(input, where, dim)


def _check_ndim(input: Any, least: int, op: str) -> None:
    """Raise RuntimeError for fewer than `least` dimensions."""
    if len(input.shape) < least:
        raise errors.ShapeError(
            f"torch.{op} requires a tensor with at least {least} dimension, "
            f"but got a tensor with {len(input.shape)} dimensions!"
        )


@composite(method=True)
def hsplit(F, input, indices_or_sections=None, *, indices=None, sections=None):
    """`tensor_split` along dimension 1, or dimension 0 of a vector. A number of parts must divide the size, else RuntimeError.

    Derivative: the cotangents, concatenated."""
    where = _first_given("hsplit", indices_or_sections, indices, sections)
    _check_ndim(input, 1, "hsplit")
    return _split_evenly(F, input, where, 0 if len(input.shape) == 1 else 1, "hsplit")


@composite(method=True)
def vsplit(F, input, indices_or_sections=None, *, indices=None, sections=None):
    """`tensor_split` along dimension 0. A number of parts must divide the size, else RuntimeError. input: at least 2-D.

    Derivative: the cotangents, concatenated."""
    where = _first_given("vsplit", indices_or_sections, indices, sections)
    _check_ndim(input, 2, "vsplit")
    return _split_evenly(F, input, where, 0, "vsplit")


@composite(method=True)
def dsplit(F, input, indices_or_sections=None, *, indices=None, sections=None):
    """`tensor_split` along dimension 2. A number of parts must divide the size, else RuntimeError. input: at least 3-D.

    Derivative: the cotangents, concatenated."""
    where = _first_given("dsplit", indices_or_sections, indices, sections)
    _check_ndim(input, 3, "dsplit")
    return _split_evenly(F, input, where, 2, "dsplit")
