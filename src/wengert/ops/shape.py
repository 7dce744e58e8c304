"""Shapes and views: reshaping, transposing, adding and removing dimensions of size 1, unbinding.

Operations of kind `view` share their input's memory, as in torch. reshape, flatten, ravel and contiguous return a view
where the memory allows one, else a copy. Operations that always copy (flip, repeat, tril) are in rearrange.py, indexing
is in index.py.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from wengert import dtypes, errors
from wengert.backends.selection import backend_of, is_array
from wengert.core.dispatch import call
from wengert.core.mirrors import REINTERPRETS
from wengert.core.op import PERMUTED, RESHAPED, SQUEEZED, SWAPPED, TRANSPOSED, UNSQUEEZED
from wengert.core.reading import rows
from wengert.kernels import memory
from wengert.ops.dims import as_dim, as_dims, normalize_dim, unrepeated_dims
from wengert.ops.indices import checked, raw
from wengert.ops.options import as_size_tuple
from wengert.ops.registry import NONE, alias, composite, linear, plain, view
from wengert.ops.values import is_complex

_MAX_NDIM = 64
_BEFORE = tuple([(slice(None),) * dim for dim in range(_MAX_NDIM + 1)])  # x[(*_BEFORE[dim], item)] indexes dimension dim


def size_error(shape: tuple, numel: int) -> Exception | None:
    """Return the error for a shape, which may have a -1, that does not fit `numel` elements; None if it fits."""
    for index, size in enumerate(shape):
        if size < -1:
            return errors.ShapeError(f"invalid shape dimension {size} at index {index} of shape {list(shape)}")
    if shape.count(-1) > 1:
        return errors.ShapeError("only one dimension can be inferred")
    known = prod([size for size in shape if size != -1])
    if known == numel if -1 not in shape else known != 0 and numel % known == 0:
        return None
    if -1 in shape and 0 in shape and numel == 0:
        return errors.ShapeError(
            f"cannot reshape tensor of 0 elements into shape {list(shape)} because the unspecified dimension size -1 "
            "can be any value and is ambiguous"
        )
    return errors.ShapeError(f"shape '{list(shape)}' is invalid for input of size {numel}")


@view(name="alias", promote=NONE, method=False, namespaces=())
def _alias(xp, x):
    """View of all of x. Derivative: the cotangent."""
    return x.view()


@_alias.vjp("x")
def _(F, ct):
    return ct


# -- view and reshape --------------------------------------------------------------------------------------------------


@view(node="ViewBackward0", promote=NONE, method=False, namespaces=(), layout=RESHAPED)
def _view(xp, x, *, shape):
    """View of x with another shape: see view(). shape: ints; one size may be -1 and is inferred.

    Raises RuntimeError if the sizes do not fit, or if only a copy could have this shape. Derivative: the cotangent,
    reshaped back."""
    try:
        result = x.reshape(shape) if x.flags.c_contiguous else x.reshape(shape, copy=False)
    except ValueError:
        result = None
    if result is None or (shape and min(shape) < -1):  # NumPy infers any negative size, not only -1
        raise size_error(shape, x.size) or errors.ShapeError(
            "view size is not compatible with input tensor's size and stride (at least one dimension spans across two "
            "contiguous subspaces). Use .reshape(...) instead."
        )
    return result


@_view.vjp("x")
def _(F, ct, x_shape):
    return F.reshape(ct, shape=x_shape)


@view(promote=NONE, method=False, namespaces=())
def _view_dtype(xp, x, *, dtype):
    """View of the memory of x as another dtype: see view(dtype). Not differentiable, as in torch.

    Raises RuntimeError if x's last dimension does not hold a whole number of the new elements, or is not
    contiguous."""
    if x.itemsize != dtype.itemsize:
        names = f"{dtypes.from_numpy_dtype(x.dtype).scalar_name} as {dtypes.from_numpy_dtype(dtype).scalar_name}"
        ratio = dtype.itemsize // x.itemsize
        if x.ndim == 0:
            raise errors.ShapeError(f"self.dim() cannot be 0 to view {names} (different element sizes)")
        if x.strides[-1] != x.itemsize and x.size:  # NumPy gives arrays without elements strides of 0
            raise errors.ShapeError(
                f"self.stride(-1) must be 1 to view {names} (different element sizes), "
                f"but got {x.strides[-1] // x.itemsize}"
            )
        if ratio > 1 and x.shape[-1] % ratio:
            raise errors.ShapeError(
                f"self.size(-1) must be divisible by {ratio} to view {names} (different element sizes), "
                f"but got {x.shape[-1]}"
            )
    return x.view(dtype)


_view_dtype.reflection = REINTERPRETS


def _view_array(x: Any, *, shape: tuple) -> Any:
    return memory.reshape(x, shape)


@plain(name="view", method=True, namespaces=(), array=_view_array, sizes_of=_view)
def view_as_shape(input, *sizes, shape=None, size=None, dtype=None):
    """View of the same memory with another shape: x.view(2, 3), x.view((2, 3)), x.view(-1); a size of -1 is inferred.

    x.view(dtype) reads the memory as another dtype; its result is not differentiable. Raises RuntimeError if the sizes do
    not fit, or if only a copy could have this shape; then use reshape.

    Derivative: the cotangent, reshaped back.

    >>> import wengert
    >>> wengert.arange(6).view(2, -1)
    tensor([[0, 1, 2],
            [3, 4, 5]])
    """
    if len(sizes) == 1 and isinstance(sizes[0], (dtypes.dtype, np.dtype, type)):
        dtype = sizes[0]
    if dtype is not None:
        return call(_view_dtype, (input,), {"dtype": dtypes.as_numpy_dtype(dtype)})
    return call(_view, (input,), {"shape": as_size_tuple(sizes, shape if size is None else size, "view", "size")})


@linear(node="UnsafeViewBackward0", promote=NONE, method=False, namespaces=(), moves=True)
def _reshape_copy(xp, x, *, shape):
    """Row-major copy of x with another shape. Derivative: the cotangent, reshaped back."""
    return memory.contiguous_copy(x).reshape(shape)


@_reshape_copy.vjp("x")
def _(F, ct, x_shape):
    return F.reshape(ct, shape=x_shape)


@plain(method=True, array=_view_array, sizes_of=_view)
def reshape(input, *sizes, shape=None):
    """Return input with another shape: a view if its memory allows one, else a copy. A size of -1 is inferred.

    input: any shape and dtype. Raises RuntimeError if the sizes do not fit.

    Derivative: the cotangent, reshaped back.

    >>> import wengert
    >>> wengert.arange(4).reshape(2, 2)
    tensor([[0, 1],
            [2, 3]])
    """
    return _reshape(input, sizes if sizes and type(sizes[0]) is int else as_size_tuple(sizes, shape, "reshape", "shape"))


def _reshape(x: Any, shape: tuple) -> Any:
    if _needs_copy(raw(x), shape):
        return call(_reshape_copy, (x,), {"shape": shape})
    try:
        return call(_view, (x,), {"shape": shape})
    except errors.ShapeError:
        if size_error(shape, raw(x).size) is not None:
            raise
    except errors.ArgumentError:
        checked("reshape", x)  # raises an error that names reshape
        raise
    return call(_reshape_copy, (x,), {"shape": shape})


def _needs_copy(array: Any, shape: tuple) -> bool:
    """Whether a NumPy array has no view of a shape that fits. The check is cheaper than catching a view's error."""
    if not is_array(array) or array.flags.c_contiguous:
        return False
    try:
        array.reshape(shape, copy=False)
    except ValueError:
        return size_error(shape, array.size) is None
    return False


def _flat_shape(shape: tuple, start_dim: int, end_dim: int) -> tuple:
    """Return the shape with the dimensions from start_dim to end_dim merged into one."""
    if type(start_dim) is int and start_dim == 0 and end_dim == -1:
        return shape if len(shape) == 1 else (prod(shape),)
    first, last = normalize_dim(start_dim, len(shape)), normalize_dim(end_dim, len(shape))
    if first > last:
        raise errors.ShapeError("flatten() has invalid args: start_dim cannot come after end_dim")
    if first == last:
        return shape or (1,)
    return (*shape[:first], prod(shape[first : last + 1]), *shape[last + 1 :])


def _flatten_array(x: Any, start_dim: int = 0, end_dim: int = -1) -> Any:
    return x.reshape(_flat_shape(x.shape, start_dim, end_dim))


@plain(method=True, array=_flatten_array)
def flatten(input, start_dim=0, end_dim=-1):
    """Merge the dimensions from start_dim to end_dim into one: a view if the memory allows one, else a copy.

    input: any shape and dtype; a 0-d tensor becomes (1,). Returns input itself if it has that shape already. Raises
    RuntimeError if end_dim is before start_dim.

    Derivative: the cotangent, reshaped back.

    >>> import wengert
    >>> wengert.zeros(2, 3, 4).flatten(1).shape
    torch.Size([2, 12])
    """
    shape = checked("flatten", raw(input)).shape
    flat = _flat_shape(shape, start_dim, end_dim)
    return input if len(flat) == len(shape) else _reshape(input, flat)


@composite(method=True)
def ravel(F, input):
    """Flatten input to one dimension: a view if the memory allows one, else a copy.

    Derivative: the cotangent, reshaped back."""
    return F.reshape(input, shape=(-1,) if 0 not in input.shape else (0,))


@composite(method=True)
def unflatten(F, input, dim, sizes):
    """Split one dimension into several of the given sizes; a size of -1 is inferred. input: any shape and dtype.

    Raises RuntimeError if the product of the sizes is not the dimension's size. Derivative: the cotangent, reshaped back.

    >>> import wengert
    >>> wengert.zeros(2, 12).unflatten(1, (3, -1)).shape
    torch.Size([2, 3, 4])
    """
    shape, sizes = tuple(input.shape), tuple(sizes)
    dim = normalize_dim(dim, len(shape))
    if not sizes:
        raise errors.ShapeError("unflatten: sizes must be non-empty")
    if not shape:
        raise errors.ShapeError("unflatten: a 0-d tensor has no dimension to split. Hint: x.reshape(sizes).")
    if size_error(sizes, shape[dim]) is not None:
        raise errors.ShapeError(
            f"unflatten: Provided sizes {list(sizes)} don't multiply up to the size of dim {dim} ({shape[dim]}) "
            "in the input tensor"
        )
    if -1 in sizes:
        sizes = tuple([shape[dim] // -prod(sizes) if size == -1 else size for size in sizes])
    return F.view(input, shape=(*shape[:dim], *sizes, *shape[dim + 1 :]))


@composite(method=True, namespaces=())
def view_as(F, input, other):
    """View of input with the shape of other: input.view(other.shape). Derivative: the cotangent, reshaped back."""
    return F.view(input, shape=tuple(other.shape))


@composite(method=True, namespaces=())
def reshape_as(F, input, other):
    """Return input with the shape of other: input.reshape(other.shape). Derivative: the cotangent, reshaped back."""
    return F.reshape(input, shape=tuple(other.shape))


@linear(node="CloneBackward0", promote=NONE, method=False, namespaces=(), moves=True)
def _contiguous(xp, x):
    """A row-major copy of x. Derivative: 1."""
    return memory.contiguous_copy(x)


@_contiguous.vjp("x")
def _(F, ct):
    return ct


@plain(method=True, namespaces=(), array=lambda x: backend_of(x).ascontiguousarray(x))
def contiguous(input, memory_format=None):
    """Return input itself if its memory is row-major without gaps, else a copy that is. Derivative: 1."""
    return input if checked("contiguous", raw(input)).flags.c_contiguous else call(_contiguous, (input,), None)


@plain()
def numel(input):
    """Number of elements."""
    return checked("numel", raw(input)).size


# -- order of dimensions -----------------------------------------------------------------------------------------------


@view(promote=NONE, layout=SWAPPED)
def transpose(xp, x, *, dim0, dim1):
    """View of x with dimensions dim0 and dim1 exchanged. Derivative: the cotangent with dim0 and dim1 exchanged.

    >>> import wengert
    >>> wengert.zeros(2, 3).transpose(0, 1).shape
    torch.Size([3, 2])
    """
    if type(dim0) is not int or type(dim1) is not int:
        dim0, dim1 = as_dim(dim0), as_dim(dim1)
    try:
        return x.swapaxes(dim0, dim1)
    except ValueError:
        for dim in (dim0, dim1):
            normalize_dim(dim, x.ndim)  # raises, unless x is 0-d, which torch treats as 1-D
        return x[...]


@transpose.vjp("x")
def _(F, ct, dim0, dim1):
    return F.transpose(ct, dim0=dim0, dim1=dim1)


@composite(method=True)
def swapaxes(F, input, axis0, axis1):
    """NumPy's name of transpose(dim0, dim1). Derivative: as transpose."""
    return F.transpose(input, dim0=axis0, dim1=axis1)


@composite(method=True)
def swapdims(F, input, dim0, dim1):
    """Another name of transpose(dim0, dim1). Derivative: as transpose."""
    return F.transpose(input, dim0=dim0, dim1=dim1)


@view(promote=NONE, node="TBackward0", layout=TRANSPOSED)
def t(xp, x):
    """Transpose of a matrix; vectors and 0-d tensors are returned as they are. A view.

    Raises RuntimeError for more than two dimensions. Derivative: the transposed cotangent."""
    if x.ndim > 2:
        raise errors.ShapeError(f"t() expects a tensor with <= 2 dimensions, but self is {x.ndim}D")
    return x.transpose()


@t.vjp("x")
def _(F, ct):
    return F.t(ct)


@composite(method=True)
def adjoint(F, input):
    """Conjugate transpose of the last two dimensions: a view. Of a 0-d tensor the conjugate.

    Derivative: the adjoint of the cotangent."""
    result = F.transpose(input, dim0=-2, dim1=-1) if len(input.shape) else input
    return F.conj(result) if is_complex(input) else result


@view(promote=NONE, varargs="dims", layout=PERMUTED)
def permute(xp, x, *, dims):
    """View of x with its dimensions in another order, x.permute(2, 0, 1). dims: each dimension once.

    Raises RuntimeError if a dimension is missing or repeated. Derivative: the cotangent, permuted back.

    >>> import wengert
    >>> wengert.zeros(2, 3, 4).permute(2, 0, 1).shape
    torch.Size([4, 2, 3])
    """
    if len(dims) != x.ndim:
        raise errors.ShapeError(
            "permute(): number of dimensions in the tensor input does not match the length of the desired ordering of "
            f"dimensions i.e. input.dim() = {x.ndim} is not equal to len(dims) = {len(dims)}"
        )
    try:
        return x.transpose(dims)
    except ValueError:
        for dim in dims:
            normalize_dim(dim, x.ndim)
        raise errors.ShapeError("permute(): duplicate dims are not allowed.") from None


@permute.vjp("x")
def _(F, ct, dims):
    order = [0] * len(dims)
    for position, dim in enumerate(dims):
        order[dim] = position
    return F.permute(ct, dims=tuple(order))


@composite(method=True)
def movedim(F, input, source, destination):
    """View of input with dimensions `source` moved to `destination`; the others keep their order.

    source, destination: ints, or tuples of equal length. Raises RuntimeError if a dimension is repeated. Derivative: the
    cotangent with the dimensions moved back."""
    ndim = len(input.shape)
    given = [as_dims(dims) for dims in (source, destination)]
    if len(given[0]) != len(given[1]):
        raise errors.ShapeError(
            f"movedim: Invalid source or destination dims: source ({list(given[0])} dims) should contain the same number of "
            f"dims as destination ({list(given[1])} dims)"
        )
    source, destination = (tuple([normalize_dim(d, ndim) for d in dims]) for dims in given)
    for name, dims, asked in zip(("source", "destination"), (source, destination), given, strict=True):
        if len(set(dims)) != len(dims):
            raise errors.ShapeError(f"movedim: repeated dim in `{name}` ({list(asked)})")
    order = [dim for dim in range(ndim) if dim not in source]
    for to, dim in sorted(zip(destination, source, strict=True)) if ndim else ():
        order.insert(to, dim)
    return F.permute(input, dims=tuple(order))


alias("moveaxis", movedim)


# -- dimensions of size 1 -----------------------------------------------------------------------------------


@view(promote=NONE, layout=UNSQUEEZED)
def unsqueeze(xp, x, *, dim):
    """View of x with a dimension of size 1 inserted at dim; -1 inserts it at the end.

    Derivative: the cotangent without that dimension.

    >>> import wengert
    >>> wengert.zeros(3).unsqueeze(0).shape
    torch.Size([1, 3])
    """
    return x[(*_BEFORE[normalize_dim(dim, x.ndim + 1)], None)]


@unsqueeze.vjp("x")
def _(F, ct, x_shape):
    return F.reshape(ct, shape=x_shape)


@view(promote=NONE, layout=SQUEEZED, node=lambda inputs, params: _squeeze_node(params))
def squeeze(xp, x, *, dim=None):
    """View of x without its dimensions of size 1.

    dim: an int or a tuple, to remove only these dimensions; dimensions of another size stay. Derivative: the cotangent,
    reshaped back.

    >>> import wengert
    >>> wengert.zeros(1, 3, 1).squeeze(0).shape
    torch.Size([3, 1])
    """
    if dim is None:
        return x.squeeze()
    dims = unrepeated_dims(dim, x.ndim) if isinstance(dim, (tuple, list)) else (normalize_dim(dim, x.ndim),)
    return x.squeeze(tuple([d for d in dims if x.shape[d] == 1])) if x.ndim else x[...]


def _squeeze_node(params: dict | None) -> str:
    dim = None if params is None else params["dim"]
    return f"SqueezeBackward{0 if dim is None else 2 if isinstance(dim, (tuple, list)) else 1}"


@squeeze.vjp("x")
def _(F, ct, x_shape):
    return F.reshape(ct, shape=x_shape)


def _at_least(F: Any, tensors: tuple, widen: Any) -> Any:
    """Return widen(tensor) of one tensor, or a tuple of the results of several, given one by one or as one sequence."""
    if len(tensors) == 1 and not isinstance(tensors[0], (tuple, list)):
        return widen(tensors[0])
    return tuple([widen(tensor) for tensor in (tensors[0] if len(tensors) == 1 else tensors)])


@composite()
def atleast_1d(F, *tensors):
    """Return each tensor with at least one dimension: a 0-d tensor becomes a view of shape (1,).

    Returns a tensor for one tensor, a tuple for several. Derivative: the cotangent, reshaped back."""
    return _at_least(F, tensors, lambda x: x if x.ndim else F.view(x, shape=(1,)))


@composite()
def atleast_2d(F, *tensors):
    """Return each tensor with at least two dimensions, as a view with new dimensions in front if it has fewer.

    Returns a tensor for one tensor, a tuple for several. Derivative: the cotangent, reshaped back."""
    return _at_least(
        F, tensors, lambda x: x if x.ndim > 1 else F.unsqueeze(x, dim=0) if x.ndim else F.view(x, shape=(1, 1))
    )


@composite()
def atleast_3d(F, *tensors):
    """Return each tensor with at least three dimensions: (n,) becomes (1, n, 1), (m, n) becomes (m, n, 1), as in NumPy.

    Returns a tensor for one tensor, a tuple for several. Derivative: the cotangent, reshaped back."""

    def widen(x: Any) -> Any:
        if x.ndim > 2:
            return x
        if x.ndim == 0:
            return F.view(x, shape=(1, 1, 1))
        return F.unsqueeze(x if x.ndim == 2 else F.unsqueeze(x, dim=0), dim=-1)

    return _at_least(F, tensors, widen)


# -- several views -----------------------------------------------------------------------------------------------------


@view(promote=NONE, outputs=())
def unbind(xp, x, *, dim=0):
    """Tuple of the slices of x along a dimension, views without that dimension.

    x: at least 1-D. The views must not be written in place. Derivative: the cotangents, stacked.

    >>> import wengert
    >>> wengert.tensor([[1, 2], [3, 4]]).unbind(1)
    (tensor([1, 3]), tensor([2, 4]))
    """
    if not x.ndim:
        raise errors.DimensionError(f"Dimension specified as {dim} but tensor has no dimensions")
    dim = normalize_dim(dim, x.ndim)
    if dim == 0:
        return rows(x)  # takes half the time
    before = _BEFORE[dim]
    return tuple([x[(*before, i, ...)] for i in range(x.shape[dim])])


@unbind.vjp("x")
def _(F, ct, x_shape, dim):
    used = [i for i, part in enumerate(ct) if part is not None]
    if len(used) == 1:
        index = (*_BEFORE[normalize_dim(dim, len(x_shape))], used[0])
        return F.read_cotangent(ct[used[0]], shape=x_shape, index=index)
    if len(used) < len(ct):
        zeros = F.zeros_like(ct[used[0]])
        ct = [zeros if part is None else part for part in ct]
    return F.stack(ct, dim=dim)
