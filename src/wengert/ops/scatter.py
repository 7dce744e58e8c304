"""Writes at indices: scatter, index_add, index_copy, index_fill, put and the like.

Each comes as a function that writes into a copy (scatter), an in-place method (scatter_), and the operation below both
(_scatter). A helper beside the operation (_write_scatter) changes an array; the in-place form applies it to the tensor's
own memory. Public functions have torch's argument order (x, dim, index, source); the operations take their tensors first.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert import dtypes, errors
from wengert.backends.selection import backend_of, is_array
from wengert.core.tensor import TensorBase, wrap
from wengert.kernels import memory, places
from wengert.ops.dims import normalize_dim
from wengert.ops.faces import ArrayOps
from wengert.ops.indices import (
    FULL,
    are_inside,
    as_storable,
    as_tensor,
    index_array,
    is_index,
    mesh_of,
    raw,
    without_elements,
    zero_dim_value,
)  # fmt: skip
from wengert.ops.inplace import write_inplace
from wengert.ops.registry import NONE, composite, linear, plain


def _leading_part(index: Any, shape: tuple, source: Any, dim: int) -> Any:
    """Return the leading part of source, of index's shape, that scatter writes into an array of the given shape."""
    if not is_array(source) or not source.ndim:
        return source
    if index.ndim != len(shape or (1,)) and index.ndim:
        raise errors.ShapeError("Index tensor must have the same number of dimensions as self tensor")
    if source.ndim != index.ndim:
        raise errors.ShapeError("Index tensor must have the same number of dimensions as src tensor")
    if any(n > m for n, m in zip(index.shape, source.shape, strict=True)):
        raise errors.ShapeError(
            f"Expected index {list(index.shape)} to be no larger than self {list(shape)} apart from dimension {dim} "
            f"and to be no larger size than src {list(source.shape)}"
        )
    return source[tuple([slice(n) for n in index.shape])]


def _write_scatter(x: Any, index: Any, src: Any, *, dim: int) -> None:
    xp = backend_of(x)
    src = as_storable(src, x)
    if not _write_by_kernel(places.PUT, x, index, src, dim):
        src = _leading_part(index, x.shape, src, dim)
        xp.atleast_1d(x)[mesh_of(index, x.shape, dim)] = src


def _write_by_kernel(kind: int, x: Any, index: Any, src: Any, dim: int) -> bool:
    """Write src into x at index, or combine it with x, by a kernel. Returns False if no kernel takes the arrays."""
    xp = backend_of(x)
    values = src if is_array(src) else xp.asarray(src, x.dtype)
    return index.ndim == x.ndim and bool(places.write_along(kind, x, index, values, dim, False))


@linear(
    promote=NONE, method=False, namespaces=(),
    node=lambda inputs, params: f"ScatterBackward{int(not isinstance(inputs[2], TensorBase))}",
)  # fmt: skip
def _scatter(xp, x, index, src, *, dim):
    """A copy of x with src, a tensor or a number, written at the elements that gather() with index would read.

    Derivative: in x 0 where x was overwritten, 1 elsewhere; in src the cotangent, gathered at index."""
    result = memory.contiguous_copy(x)
    _write_scatter(result, index, src, dim=dim)
    return result


@_scatter.vjp("x")
def _(F, ct, index, dim):
    return F._scatter(ct, index, 0, dim=dim)


def _source_cotangent(F: Any, ct: Any, index: Any, src_shape: tuple, dim: int) -> Any:
    part = F._gather(ct, index, dim=dim)
    if raw(index).shape == src_shape or not src_shape:
        return part
    return F.read_cotangent(part, shape=src_shape, index=tuple([slice(n) for n in raw(index).shape]))


@_scatter.vjp("src")
def _(F, ct, index, src_shape, dim):
    return _source_cotangent(F, ct, index, src_shape, dim)


def _add_scatter(x: Any, index: Any, src: Any, *, dim: int) -> None:
    xp = backend_of(x)
    if not _write_by_kernel(places.ADD, x, index, src, dim):
        src = _leading_part(index, x.shape, src, dim)
        ArrayOps.add_at(xp.atleast_1d(x), mesh_of(index, x.shape, dim), src, True)


@linear(promote=NONE, node="ScatterAddBackward0", method=False, namespaces=())
def _scatter_add(xp, x, index, src, *, dim):
    """A copy of x with src added at the elements that gather() with index would read.

    Derivative: in x 1; in src the cotangent, gathered at index."""
    result = memory.contiguous_copy(x)
    _add_scatter(result, index, src, dim=dim)
    return result


@_scatter_add.vjp("x")
def _(F, ct):
    return ct


@_scatter_add.vjp("src")
def _(F, ct, index, src_shape, dim):
    return _source_cotangent(F, ct, index, src_shape, dim)


def _scatter_arguments(op: str, x: Any, dim: Any, index: Any, src: Any) -> tuple[Any, Any, int]:
    index, src = as_tensor(index), as_tensor(src)
    index_array(index, op)
    if isinstance(src, TensorBase) and raw(src).dtype != raw(x).dtype:
        raise errors.UnsupportedDtypeError(f"{op}(): Expected self.dtype to be equal to src.dtype")
    if not raw(index).size:
        index, src = without_elements(x.ndim, src)
    return index, src, normalize_dim(dim, x.ndim)


@composite(method=True)
def scatter(F, input, dim, index, src=None, *, value=None, reduce=None):
    """Return a copy of input with src written at index along dim.

    For a matrix, result[index[i][j]][j] = src[i][j] if dim is 0, and result[i][index[i][j]] = src[i][j] if dim is 1.
    index: int64 or int32, with as many dimensions as input. src: of input's dtype, in no dimension smaller than index; or
    a number, also as value=. reduce: "add" or "multiply" combines src with input's elements. If an index is repeated, one
    of its values is written. Raises RuntimeError for an index out of range.

    Derivative: in input 0 where src was written, 1 elsewhere; in src the cotangent, gathered at index.

    >>> import wengert
    >>> wengert.zeros(3).scatter(0, wengert.tensor([2, 0]), wengert.tensor([1.0, 2.0]))
    tensor([2., 0., 1.])
    """
    index, src, dim = _scatter_arguments("scatter", input, dim, index, value if src is None else src)
    if reduce is None:
        return F._scatter(input, index, src, dim=dim)
    return _scatter_reduced(F, input, index, src, dim, reduce)


def _scatter_reduced(F: Any, input: Any, index: Any, src: Any, dim: int, reduce: str) -> Any:
    xp = backend_of(input)
    if reduce not in ("add", "multiply"):
        raise errors.ShapeError("reduce argument must be either add or multiply.")
    if not isinstance(src, TensorBase):
        src = wrap(xp.full(raw(index).shape, src, raw(input).dtype))
    if reduce == "add":
        return F._scatter_add(input, index, src, dim=dim)
    return F.scatter_reduce(input, dim, index, src, "prod")


@plain(method=True, namespaces=())
def scatter_(self, dim, index, src=None, *, value=None, reduce=None):
    """In-place form of scatter."""
    xp = backend_of(self)
    index, src, dim = _scatter_arguments("scatter", self, dim, index, value if src is None else src)
    if reduce == "add":
        source = src if isinstance(src, TensorBase) else wrap(xp.full(index.shape, src, self._array.dtype))
        return scatter_add_.fn(self, dim, index, source)
    if reduce is not None:
        return self.copy_(self.scatter(dim, index, src, reduce=reduce))
    return write_inplace(_scatter, (self, index, src), {"dim": dim}, _write_scatter)


@composite(method=True)
def scatter_add(F, input, dim, index, src):
    """Return a copy of input with src added at index along dim. A repeated index adds each of its values.

    Arguments: as `scatter`. Derivative: in input 1; in src the cotangent, gathered at index.

    >>> import wengert
    >>> wengert.zeros(2).scatter_add(0, wengert.tensor([1, 1]), wengert.tensor([1.0, 2.0]))
    tensor([0., 3.])
    """
    index, src, dim = _scatter_arguments("scatter", input, dim, index, src)
    return F._scatter_add(input, index, src, dim=dim)


@plain(method=True, namespaces=())
def scatter_add_(self, dim, index, src):
    """In-place form of scatter_add."""
    index, src, dim = _scatter_arguments("scatter", self, dim, index, src)
    return write_inplace(_scatter_add, (self, index, src), {"dim": dim}, _add_scatter)


# -- index_add, index_copy, index_fill ---------------------------------------------------------------------------------


def _index_arguments(op: str, x: Any, dim: Any, index: Any) -> tuple[Any, int]:
    """Return (index as a tensor, dim counted from the front). Raises IndexError for an index out of range.

    An x without elements gives an empty index, because nothing is written. torch does not look at the index then, except for a
    dimension of size 0, where only index_add of several dimensions takes any index."""
    xp = backend_of(x)
    index = as_tensor(index)
    array, dim = raw(index), normalize_dim(dim, x.ndim)
    if array.ndim > 1:
        raise errors.TensorIndexError(f"{op}(): Index is supposed to be a vector, but got dim: {array.ndim}")
    if not is_index(array):
        raise errors.UnsupportedDtypeError(f"{op}(): Expected dtype int32/int64 for index")
    size = x.shape[dim] if x.ndim else 1
    if not raw(x).size and (size or (op == "index_add_" and x.ndim > 1)):
        return wrap(xp.zeros(0, np.int64)), dim
    if op != "index_fill_" and not are_inside(array, 0, size):
        raise errors.TensorIndexError("index out of range in self")
    if op == "index_fill_" and not are_inside(array, -size, size):
        wrong = array[(array < -size) | (array >= size)]
        raise errors.index_out_of_range(int(xp.atleast_1d(wrong)[0]), dim, size)
    return index, dim


def _slices_at(x: Any, index: Any, dim: int) -> tuple[Any, tuple]:
    """Return (x with at least one dimension, NumPy's index of the slices `index` along dim)."""
    xp = backend_of(x)
    return xp.atleast_1d(x), (*((FULL,) * dim), xp.array(index, ndmin=1))


def _source_arguments(op: str, x: Any, dim: Any, index: Any, source: Any) -> tuple[Any, int, Any]:
    """Return (index as a tensor, dim counted from the front, source as a tensor), checked. Empty if x has no elements."""
    count, source = raw(as_tensor(index)).size, as_tensor(source)
    index, dim = _index_arguments(op, x, dim, index)
    _check_source(op, x, dim, count, source)
    return index, dim, source if raw(x).size else source.narrow(dim, 0, 0)


def _check_source(op: str, x: Any, dim: int, count: int, source: Any) -> None:
    shape = raw(source).shape
    if raw(source).dtype != raw(x).dtype:
        ours, theirs = [dtypes.from_numpy_dtype(raw(t).dtype).scalar_name for t in (x, source)]
        if op == "index_add_":
            raise errors.UnsupportedDtypeError(
                f"index_add_(): self ({ours}) and source ({theirs}) must have the same scalar type"
            )
        raise errors.UnsupportedDtypeError(
            f"{op}(): self and source expected to have the same dtype, but got (self) {ours} and (source) {theirs}"
        )
    if (shape[dim] if shape else 1) != count:
        raise errors.ShapeError(
            f"{op}(): Number of indices ({count}) should be equal to source.size(dim): ({shape[dim] if shape else 1}), "
            f"for dim: {dim}"
        )
    ours = raw(x).shape
    if (*ours[:dim], *ours[dim + 1 :]) != (*shape[:dim], *shape[dim + 1 :]):
        raise errors.ShapeError(
            f"{op}(): Source/destination tensor must have same slice shapes. Destination slice shape: "
            f"{_shape_words((*ours[:dim], *ours[dim + 1 :]))} at dimension {dim} and source slice shape: "
            f"{_shape_words((*shape[:dim], *shape[dim + 1 :]))} at dimension 0."
        )


def _shape_words(shape: tuple) -> str:
    return " ".join([str(size) for size in shape])


def _write_index_add(x: Any, index: Any, source: Any, *, dim: int, alpha: Any) -> None:
    xp = backend_of(x)
    if alpha != 1:
        source = xp.asarray(source * xp.asarray(alpha).astype(x.dtype), x.dtype)
    if places.write_along(places.ADD, x, index.reshape(-1), source, dim, False) is not None:
        return
    x, where = _slices_at(x, index, dim)
    ArrayOps.add_at(x, where, xp.atleast_1d(source), True)


@linear(promote=NONE, node="IndexAddBackward0", method=False, namespaces=())
def _index_add(xp, x, index, source, *, dim, alpha=1):
    """A copy of x with alpha * source added to its slices `index` along dim.

    Derivative: in x 1; in source alpha times the slices of the cotangent."""
    result = memory.contiguous_copy(x)
    _write_index_add(result, index, source, dim=dim, alpha=alpha)
    return result


@_index_add.vjp("x")
def _(F, ct):
    return ct


@_index_add.vjp("source")
def _(F, ct, index, source_shape, dim, alpha):
    part = F.reshape(F._index_select(ct, index, dim=dim), shape=source_shape)
    return part if alpha == 1 else part * F.conj(alpha)


@composite(method=True)
def index_add(F, input, dim, index, source, *, alpha=1):
    """Return a copy of input with alpha * source added to its slices `index` along dim.

    index: (k), int64 or int32; a repeated index adds each of its slices. source: of input's dtype and shape, but of size
    k along dim. Raises IndexError for an index out of range, RuntimeError for shapes and dtypes that do not fit.

    Derivative: in input 1; in source alpha times the slices of the cotangent.

    >>> import wengert
    >>> wengert.zeros(3).index_add(0, wengert.tensor([1, 1]), wengert.tensor([1.0, 2.0]))
    tensor([0., 3., 0.])
    """
    index, dim, source = _source_arguments("index_add_", input, dim, index, source)
    return F._index_add(input, index, source, dim=dim, alpha=alpha)


@plain(method=True, namespaces=())
def index_add_(self, dim, index, source, *, alpha=1):
    """In-place form of index_add."""
    index, dim, source = _source_arguments("index_add_", self, dim, index, source)
    return write_inplace(_index_add, (self, index, source), {"dim": dim, "alpha": alpha}, _write_index_add)


def _write_index_copy(x: Any, index: Any, source: Any, *, dim: int) -> None:
    xp = backend_of(x)
    if not places.write_along(places.PUT, x, index.reshape(-1), source, dim, False):
        x, where = _slices_at(x, index, dim)
        x[where] = xp.atleast_1d(source)


@linear(promote=NONE, node="IndexCopyBackward0", method=False, namespaces=())
def _index_copy(xp, x, index, source, *, dim):
    """A copy of x with its slices `index` along dim replaced by those of source.

    Derivative: in x 0 in the replaced slices, 1 elsewhere; in source the slices of the cotangent."""
    result = memory.contiguous_copy(x)
    _write_index_copy(result, index, source, dim=dim)
    return result


@_index_copy.vjp("x")
def _(F, ct, index, dim):
    return F._index_fill(ct, index, 0, dim=dim)


@_index_copy.vjp("source")
def _(F, ct, index, source_shape, dim):
    return F.reshape(F._index_select(ct, index, dim=dim), shape=source_shape)


@composite(method=True)
def index_copy(F, input, dim, index, source):
    """Return a copy of input with its slices `index` along dim replaced by those of source.

    Arguments: as `index_add`. Derivative: in input 0 in the replaced slices, 1 elsewhere; in source the slices of the
    cotangent."""
    index, dim, source = _source_arguments("index_copy_", input, dim, index, source)
    return F._index_copy(input, index, source, dim=dim)


@plain(method=True, namespaces=())
def index_copy_(self, dim, index, source):
    """In-place form of index_copy."""
    index, dim, source = _source_arguments("index_copy_", self, dim, index, source)
    return write_inplace(_index_copy, (self, index, source), {"dim": dim}, _write_index_copy)


def _write_index_fill(x: Any, index: Any, value: Any, *, dim: int) -> None:
    xp = backend_of(x)
    value = as_storable(value, x)
    if not places.write_along(places.PUT, x, index.reshape(-1), xp.asarray(value, x.dtype), dim, True):
        x, where = _slices_at(x, index, dim)
        x[where] = value


@linear(
    promote=NONE, method=False, namespaces=(),
    node=lambda inputs, params: f"IndexFillBackward{int(isinstance(inputs[2], TensorBase))}",
)  # fmt: skip
def _index_fill(xp, x, index, value, *, dim):
    """A copy of x with value in its slices `index` along dim.

    Derivative: in x 0 in these slices, 1 elsewhere; in value the sum of the cotangent over these slices."""
    result = memory.contiguous_copy(x)
    _write_index_fill(result, index, value, dim=dim)
    return result


@_index_fill.vjp("x")
def _(F, ct, index, dim):
    return F._index_fill(ct, index, 0, dim=dim)


@_index_fill.vjp("value")
def _(F, ct, index, dim):
    xp = backend_of(ct)
    size = ct.shape[dim] if ct.ndim else 1
    return F.sum(F._index_select(ct, xp.unique(raw(index) % size), dim=dim))


@composite(method=True)
def index_fill(F, input, dim, index, value):
    """Return a copy of input with value in its slices `index` along dim.

    index: (k), int64 or int32; negative numbers count from the end. value: a number or a 0-d tensor. Raises IndexError
    for an index out of range.

    Derivative: in input 0 in these slices, 1 elsewhere; in value the sum of the cotangent over these slices."""
    index, dim = _index_arguments("index_fill_", input, dim, index)
    return F._index_fill(input, index, _fill_value(input, value), dim=dim)


def _is_complex(value: Any) -> bool:
    """Whether a number or an array is complex."""
    return value.dtype.kind == "c" if hasattr(value, "dtype") else isinstance(value, complex)


def _fill_value(x: Any, value: Any) -> Any:
    value = zero_dim_value(value, "index_fill_")
    if raw(x).dtype.kind != "c" and _is_complex(raw(value)):
        raise errors.UnsupportedDtypeError(
            "index_fill_(): Converting complex Scalar to non-complex type is not supported"
        )
    return value


@plain(method=True, namespaces=())
def index_fill_(self, dim, index, value):
    """In-place form of index_fill."""
    index, dim = _index_arguments("index_fill_", self, dim, index)
    value = _fill_value(self, value)
    return write_inplace(_index_fill, (self, index, value), {"dim": dim}, _write_index_fill)


# -- put, and copies of x with a part replaced -------------------------------------------------------------------------


def _write_put(x: Any, index: Any, source: Any, *, accumulate: bool) -> None:
    xp = backend_of(x)
    if not are_inside(index, -x.size, x.size):
        wrong = index[(index < -x.size) | (index >= x.size)]
        raise errors.TensorIndexError(
            f"out of range: tried to access index {int(wrong[0])} on a tensor of {x.size} elements."
        )
    if is_array(source):
        source = source.reshape(index.shape)
    kind = places.ADD if accumulate else places.PUT
    values = xp.asarray(source, x.dtype).reshape(-1 if getattr(source, "ndim", 0) else ())
    if x.flags.c_contiguous and places.write_along(kind, x.reshape(-1), index.reshape(-1), values, 0, True):
        return
    flat = xp.atleast_1d(x)
    where = xp.unravel_index(index % max(x.size, 1), flat.shape)
    if accumulate:
        ArrayOps.add_at(flat, where, source, True)
    else:
        flat[where] = source


@linear(promote=NONE, node="PutBackward0", method=False, namespaces=())
def _put(xp, x, index, source, *, accumulate=False):
    """A copy of x with source written, or added if accumulate, at index into the flattened x.

    Derivative: in x 0 where it was overwritten, 1 elsewhere; in source the cotangent at index."""
    result = x.copy()
    _write_put(result, index, source, accumulate=accumulate)
    return result


@_put.vjp("x")
def _(F, ct, index, accumulate):
    return ct if accumulate else F._put(ct, index, 0)


@_put.vjp("source")
def _(F, ct, index, source_shape):
    return F.reshape(F._take(ct, index), shape=source_shape)


def _put_arguments(x: Any, index: Any, source: Any) -> tuple[Any, Any]:
    index, source = as_tensor(index), as_tensor(source)
    if raw(index).dtype != np.int64:
        raise errors.UnsupportedDtypeError(f"put_(): Expected a long tensor for index, but got {raw(index).dtype}")
    if raw(source).dtype != raw(x).dtype:
        raise errors.UnsupportedDtypeError("put_(): self and source expected to have the same dtype")
    if raw(source).size != raw(index).size:
        raise errors.ShapeError(
            "put_(): Expected source and index to have the same number of elements, but got source.numel() = "
            f"{raw(source).size}, index.numel() = {raw(index).size}"
        )
    return index, source


@composite(method=True)
def put(F, input, index, source, accumulate=False):
    """Return a copy of input with source written, or added if accumulate, at index into the flattened input.

    index: int64, any shape; negative numbers count from the end. source: of input's dtype, with as many elements as
    index. Raises IndexError for an index out of range.

    Derivative: in input 0 where it was overwritten, 1 elsewhere; in source the cotangent at index."""
    index, source = _put_arguments(input, index, source)
    return F._put(input, index, source, accumulate=accumulate)


@plain(method=True, namespaces=())
def put_(self, index, source, accumulate=False):
    """In-place form of put."""
    index, source = _put_arguments(self, index, source)
    return write_inplace(_put, (self, index, source), {"accumulate": accumulate}, _write_put)


@linear(promote=NONE, method=False, namespaces=(), node=lambda inputs, params: params["node"])
def _replace(xp, x, src, *, index, node="SliceScatterBackward0"):
    """A copy of x with src written at a basic index, which reads no element twice.

    Derivative: in x 0 at the index, 1 elsewhere; in src the cotangent at the index."""
    result = x.copy()
    region = result[(*index, ...)]
    if is_array(src) and src.shape != region.shape:
        raise errors.ShapeError(
            "expected src to have a size equal to the slice of self. src size = "
            f"{list(src.shape)}, slice size = {list(region.shape)}"
        )
    result[(*index, ...)] = src
    return result


@_replace.vjp("x")
def _(F, ct, index):
    return F._replace(ct, 0, index=index)


@_replace.vjp("src")
def _(F, ct, index):
    return F._read(ct, index=index)


@composite(method=True)
def select_scatter(F, input, src, dim, index):
    """Return a copy of input with input.select(dim, index) replaced by src, of that slice's shape.

    Derivative: in input 0 in the slice, 1 elsewhere; in src the slice of the cotangent."""
    dim, index = normalize_dim(dim, input.ndim), int(index)
    if not -input.shape[dim] <= index < input.shape[dim]:
        raise errors.index_out_of_range(index, dim, input.shape[dim])
    return F._replace(input, src, index=(*((FULL,) * dim), index), node="SelectScatterBackward0")


@composite(method=True)
def slice_scatter(F, input, src, dim=0, start=None, end=None, step=1):
    """Return a copy of input with its slice start:end:step along dim replaced by src, of that slice's shape.

    Raises RuntimeError unless step > 0. Derivative: in input 0 in the slice, 1 elsewhere; in src the slice of the
    cotangent."""
    dim = normalize_dim(dim, input.ndim)
    if step <= 0:
        raise errors.ShapeError("slice step must be positive")
    return F._replace(input, src, index=(*((FULL,) * dim), slice(start, end, step)), node="SliceScatterBackward0")


@linear(promote=NONE)
def diagonal_scatter(xp, x, src, *, offset=0, dim1=0, dim2=1):
    """Return a copy of x with x.diagonal(offset, dim1, dim2) replaced by src, of that diagonal's shape.

    Derivative: in x 0 on the diagonal, 1 elsewhere; in src the diagonal of the cotangent."""
    first, second = normalize_dim(dim1, x.ndim), normalize_dim(dim2, x.ndim)
    if first == second:
        raise errors.same_diagonal_dims(dim1, dim2)
    result = x.copy()
    region = result.diagonal(offset, first, second)
    if is_array(src) and src.shape != region.shape:
        raise errors.ShapeError(
            "expected src to have a size equal to the slice of self. src size = "
            f"{list(src.shape)}, slice size = {list(region.shape)}"
        )
    if isinstance(region, np.ndarray):
        region.flags.writeable = True
    region[...] = src
    return result


@diagonal_scatter.vjp("x")
def _(F, ct, offset, dim1, dim2):
    return F.diagonal_scatter(ct, 0, offset=offset, dim1=dim1, dim2=dim2)


@diagonal_scatter.vjp("src")
def _(F, ct, offset, dim1, dim2):
    return F.diagonal(ct, offset=offset, dim1=dim1, dim2=dim2)
