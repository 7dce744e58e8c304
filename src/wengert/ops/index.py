"""x[index] and x[index] = value with torch's rules, and the operations that carry them out.

An index is split into a basic part (ints, slices, None), which gives a view, and an advanced part (index arrays and masks),
which gives a copy. As in torch, ints are applied first and do not count as index arrays, unlike in NumPy. A basic index of
any length is one operation. Its node has the name of the last step that torch would take.

Note [Reads] The cotangent of a read is zeros with ct at index: F.read_cotangent(ct, shape=..., index=...). In an ordinary
backward pass the engine adds ct into the source's buffer in place. If nothing else arrives at the source, and the source's
operation declares that its rule takes reads (log_softmax does), the rule gets the read cotangent as it is. Under create_graph
read_cotangent is an operation. Its derivative is _read, whose derivative is read_cotangent again. gather.py and scatter.py
have the reads and writes with names.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from operator import index as as_int
from typing import Any

import numpy as np

from wengert import dtypes, errors
from wengert.backends.selection import backend_of, beside, is_array, others, together
from wengert.core.dispatch import call
from wengert.core.stacks import user_level
from wengert.core.tensor import TensorBase, wrap
from wengert.core.views import bump, check_write, view_steps
from wengert.core.watched import of_arrays
from wengert.kernels import places
from wengert.ops.dims import normalize_dim
from wengert.ops.faces import ArrayOps
from wengert.ops.indices import (
    Along,
    are_inside,
    are_large_and_alike,
    as_tensor,
    flat_places,
    index_of,
    indices_beside,
    is_index,
    mask_of_indices,
    own_array,
    private_index,
    raw,
    true_places,
)
from wengert.ops.inplace import begin_write, fill, is_recorded, unrecorded_write, write_inplace
from wengert.ops.registry import NONE, composite, linear, plain, view

_FULL = slice(None)
_NOWHERE = np.zeros((), np.bool_)


# -- reads -------------------------------------------------------------------------------------------------------------


@linear(promote=NONE, method=False, namespaces=(), moves=True, array=ArrayOps.read_cotangent)
def read_cotangent(xp, x, *, shape, index, repeats=False):
    """Zeros of a shape with x added at index. If repeats, an element that index names several times gets the sum.

    Derivative: the cotangent at index. See Note [Reads]."""
    result = xp.zeros(shape, x.dtype)
    ArrayOps.add_at(result, _raw_index(index), x, repeats)
    return result


@read_cotangent.vjp("x")
def _(F, ct, index, repeats):
    return F._read(ct, index=index, repeats=repeats)


@linear(promote=NONE, method=False, namespaces=(), moves=True)
def _read(xp, x, *, index, repeats=False):
    """A copy of x[index]. Derivative: zeros with the cotangent at index."""
    if type(index) is not Along:
        return xp.array(x[private_index(_raw_index(index))])
    found = places.take_along(x, index.index, index.dim, False)
    return x[index.mesh(x.shape)] if found is None else found


@_read.vjp("x")
def _(F, ct, x_shape, index, repeats):
    return F.read_cotangent(ct, shape=x_shape, index=index, repeats=repeats)


def _raw_index(index: Any) -> Any:
    """Replace the tensors in an index by their arrays."""
    if isinstance(index, tuple):
        return tuple([raw(item) for item in index])
    return raw(index)


# -- basic indexing ----------------------------------------------------------------------------------------------------


def _index_view(xp, x, *, index):
    """x[index] as a view. index: an int, or a tuple of ints, slices, None and one Ellipsis, which makes NumPy return a view.

    Derivative: zeros with the cotangent at index."""
    index = (index, ...) if type(index) is int else index
    try:
        return x[index]
    except (IndexError, OverflowError):
        raise _out_of_range(x.shape, index) from None


def _index_view_vjp(F, ct, x_shape, index):
    if type(index) is tuple and index[-1] is Ellipsis and len(index) > 1:
        index = index[0] if len(index) == 2 else index[:-1]
    return F.read_cotangent(ct, shape=x_shape, index=index)


def _register_index_view(name: str, node: str) -> Any:
    """Register x[index] as a view under a name. These operations differ only in the name of their node."""
    op = view(name=name, node=node, promote=NONE, method=False, namespaces=(), reads=True)(_index_view)
    op.vjp("x")(_index_view_vjp)
    return op


_select = _register_index_view("_select", "SelectBackward0")
_slice = _register_index_view("_slice", "SliceBackward0")
_insert = _register_index_view("_insert", "UnsqueezeBackward0")
_alias = _register_index_view("_alias", "AliasBackward0")


def _out_of_range(shape: tuple, index: tuple) -> Exception:
    """Return torch's error for a basic index out of range or with too many dimensions."""
    if not shape:
        if isinstance(index[0], slice):
            return errors.TensorIndexError("slice() cannot be applied to a 0-dim tensor.")
        return errors.TensorIndexError(
            "invalid index of a 0-dim tensor. Use `tensor.item()` in Python to convert a 0-dim tensor to a number"
        )
    used = len([item for item in index if item is not None and item is not Ellipsis])
    if used > len(shape):
        return errors.TensorIndexError(f"too many indices for tensor of dimension {len(shape)}")
    dim = 0
    for item in index:
        if item is Ellipsis:
            dim += len(shape) - used
        elif item is not None:
            if isinstance(item, int) and not -shape[dim] <= item < shape[dim]:
                return errors.index_out_of_range(item, dim, shape[dim])
            dim += 1
    raise AssertionError("this index is in range")


@plain(method="__getitem__", name="__getitem__", namespaces=())
def getitem(self, index):
    """x[index]: a view for ints, slices with a positive step, None and Ellipsis; a copy if index holds tensors or masks.

    Raises IndexError for an index out of range. Derivative: zeros with the cotangent at index; an element that index names
    several times gets the sum.
    """
    kind = type(index)
    if kind is int:
        return call(_select, (self,), {"index": index})
    if kind is slice:
        return call(_slice, (self,), {"index": (checked_slice(index), ...)})
    if kind is tuple:
        found = _parse_basic(index)
        if found is not None:
            return call(found[1], (self,), {"index": found[0]})
    elif isinstance(index, TensorBase) or kind is np.ndarray:
        array = raw(index)
        if array.ndim and is_index(array) and self._array.ndim:
            return call(_index, (self, *indices_beside(self, [as_tensor(index)])), {"dims": (0,)})
    basic, arrays, dims, op = parse_index(index, self._array.shape)
    if op is not None:
        self = call(op, (self,), {"index": basic})
    if not dims:
        return self
    return call(_index, (self, *indices_beside(self, arrays)), {"dims": dims})


def _parse_basic(index: tuple) -> tuple[tuple, Any] | None:
    """Return (basic index, operation) for a tuple of Python ints, slices, None and Ellipsis, or None for others.

    This is a fast path of parse_index."""
    op = _alias
    ellipsis = False
    for item in index:
        kind = type(item)
        if kind is int:
            op = _select
        elif kind is slice:
            if item == _FULL:
                continue
            if item.step is not None or checked_slice(item) is not item:
                return None
            op = _slice
        elif item is None:
            op = _insert
        elif item is Ellipsis and not ellipsis:
            ellipsis = True
        else:
            return None
    return index if ellipsis else (*index, ...), op


@composite(method=True)
def select(F, input, dim, index):
    """View of input at one index along dim, without this dimension. index: an int or a 0-d tensor of ints.

    Raises IndexError for an index out of range. Derivative: the cotangent at index, 0 elsewhere.

    >>> import wengert
    >>> wengert.tensor([[1, 2], [3, 4]]).select(1, 0)
    tensor([1, 3])
    """
    shape, index = tuple(input.shape), as_int(index)
    if not shape:
        raise errors.TensorIndexError("select() cannot be applied to a 0-dim tensor.")
    dim = normalize_dim(dim, len(shape))
    if not -shape[dim] <= index < shape[dim]:
        raise errors.TensorIndexError(
            f"select(): index {index} out of range for tensor of size {list(shape)} at dimension {dim}"
        )
    return F._select(input, index=(*((_FULL,) * dim), index, ...))


@composite(method=True)
def narrow(F, input, dim, start, length):
    """View of input[start:start + length] along dim. start: an int or a 0-d tensor of ints; negative counts from the end.

    Raises IndexError if start is out of range, and RuntimeError if start + length exceeds the size.

    Derivative: the cotangent in the slice, 0 elsewhere.

    >>> import wengert
    >>> wengert.arange(5).narrow(0, 1, 3)
    tensor([1, 2, 3])
    """
    if not input.ndim:
        raise errors.ShapeError("narrow() cannot be applied to a 0-dim tensor.")
    if length < 0:
        raise errors.ShapeError("narrow(): length must be non-negative.")
    dim = normalize_dim(dim, input.ndim)
    if isinstance(start, TensorBase) and (start._array.ndim or start._array.dtype.kind not in "iu"):
        raise errors.ShapeError("start must be an 0-dim integral Tensor.")
    size, start = input.shape[dim], as_int(start)
    if not -size <= start <= size:
        raise errors.TensorIndexError(
            f"start out of range (expected to be in range of [{-size}, {size}], but got {start})"
        )
    start += size if start < 0 else 0
    if start + length > size:
        raise errors.ShapeError(f"start ({start}) + length ({length}) exceeds dimension size ({size}).")
    return F._slice(input, index=(*((_FULL,) * dim), slice(start, start + length), ...))


def checked_slice(item: slice) -> slice:
    """Return a slice with Python ints; its parts may be tensors. Raises ValueError unless the step is positive."""
    start, stop, step = item.start, item.stop, item.step
    if step is not None:
        step = as_int(step)
        if step <= 0:
            raise ValueError("slice step cannot be zero" if step == 0 else "step must be greater than zero")
    if (start is None or type(start) is int) and (stop is None or type(stop) is int):
        return item if type(item.step) is type(step) else slice(start, stop, step)
    return slice(None if start is None else as_int(start), None if stop is None else as_int(stop), step)


# -- sorting an index out ----------------------------------------------------------------------------------------------


def parse_index(index: Any, shape: tuple, selects: bool = True) -> tuple[tuple, list, tuple, Any]:
    """Split an index into a basic index and index arrays for the dimensions of the basic index's result.

    Returns (basic, arrays, dims, op). op is the operation that makes the view x[basic], or None if the basic index does
    nothing and arrays follow. arrays[i], a tensor of ints or a mask, belongs to dimension dims[i] and, for a mask with several
    dimensions, to those after it.

    selects: whether a 0-d tensor of ints counts as an int, as in x[index], or as an index array, as in index_put.
    """
    items = [_normalize_item(item, selects) for item in _as_items(index)]
    used = sum([_dims_consumed(item) for item in items])
    if used > len(shape):
        if not shape and type(index) is int:
            raise _out_of_range(shape, (index,))
        raise errors.TensorIndexError(f"too many indices for tensor of dimension {len(shape)}")
    basic: list[Any] = []
    found: list[tuple[int, Any]] = []
    op = None
    dim = place = 0  # the next dimension of x, and of x[basic]
    seen_ellipsis = False
    for item in items:
        if item is Ellipsis:
            skipped = 0 if seen_ellipsis else len(shape) - used
            seen_ellipsis = True
            basic.extend([_FULL] * skipped)
            dim, place = dim + skipped, place + skipped
        elif item is None:
            basic.append(None)
            op, place = _insert, place + 1
        elif isinstance(item, int):
            basic.append(item)
            op, dim = _select, dim + 1
        elif isinstance(item, slice):
            basic.append(item)
            if item != _FULL:
                op = _slice
            dim, place = dim + 1, place + 1
        else:
            dim, place = _add_array(item, shape, dim, place, basic, found)
            op = _insert if item.ndim == 0 else op
    arrays, dims = _as_index_arrays(found)
    if op is None and not dims:
        op = _alias
    return (*basic, ...), arrays, dims, op


def _as_items(index: Any) -> Sequence[Any]:
    """Return the items of an index. As in torch, a list that holds more than numbers counts as a tuple, with a warning."""
    if isinstance(index, tuple):
        return index
    if isinstance(index, list) and len(index) < 32:
        for item in index:
            if item is None or item is Ellipsis or isinstance(item, (slice, list, tuple, np.ndarray, TensorBase)):
                warnings.warn(
                    "Using a non-tuple sequence for multidimensional indexing is deprecated; "
                    "use x[tuple(seq)] instead of x[seq].",
                    stacklevel=user_level(),
                )
                return index
    return (index,)


def _normalize_item(item: Any, selects: bool) -> Any:
    """Return one item of an index as an int, a slice, None, Ellipsis, or a tensor of ints or bools. selects: see parse_index.

    Raises IndexError for an item that is no index."""
    kind = type(item)
    if kind is int or item is None or item is Ellipsis:
        return item
    if kind is slice:
        return checked_slice(item)
    if isinstance(item, (bool, np.bool_)):
        return wrap(_array_of_sequence(item))
    if isinstance(item, (list, tuple, range)):
        item = wrap(_array_of_sequence(item))
    elif is_array(item):
        item = wrap(own_array(item))
    elif not isinstance(item, TensorBase):
        try:
            return as_int(item)
        except TypeError:
            raise errors.TensorIndexError(
                "only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables are valid indices (got "
                f"{kind.__name__})"
            ) from None
    return _checked_index_tensor(item, selects)


@of_arrays
def _zero_index(xp: Any, is_true: bool) -> Any:
    """Return an index of the one element of a new dimension if is_true, else of none."""
    return xp.zeros(int(is_true), np.int64)


@of_arrays
def _array_of_sequence(items: Any) -> Any:
    """Return a bool, or a sequence of numbers or tensors, as an array; an empty sequence as int64."""
    xp = backend_of(items)
    array = xp.asarray(items if isinstance(items, (bool, np.bool_)) else [raw(item) for item in items])
    return array if array.size else array.astype(np.int64)


def _checked_index_tensor(tensor: Any, selects: bool) -> Any:
    """Return an index tensor of bools or ints, or an int for a 0-d tensor of ints if selects. Raises IndexError for others."""
    array = tensor._array
    kind = array.dtype.kind
    if kind == "b":
        return tensor
    if array.dtype == np.uint8:
        warnings.warn(
            "indexing with dtype torch.uint8 is now deprecated, please use a dtype torch.bool instead.",
            stacklevel=user_level(),
        )
        return wrap(array.astype(np.bool_))
    if kind in "iu" and selects and array.ndim == 0:  # of any size: only an index array has to be int32 or int64
        return as_int(tensor)
    if not is_index(array):
        raise errors.TensorIndexError("tensors used as indices must be long, int, byte or bool tensors")
    return tensor


def _dims_consumed(item: Any) -> int:
    """Number of dimensions of the tensor that an index item consumes."""
    if item is None or item is Ellipsis:
        return 0
    if isinstance(item, TensorBase):
        return item._array.ndim if item._array.dtype.kind == "b" else 1
    return 1


def _add_array(item: Any, shape: tuple, dim: int, place: int, basic: list, found: list) -> tuple[int, int]:
    """Append an index array or a mask to found, and full slices to basic. Returns the next dim and place."""
    xp = backend_of(item)
    array = item._array
    if array.dtype.kind != "b":
        basic.append(_FULL)
        found.append((place, item))
        return dim + 1, place + 1
    if array.ndim == 0:  # True adds a dimension of size 1, False one of size 0
        basic.append(None)
        found.append((place, wrap(_zero_index(xp, bool(item)))))
        return dim, place + 1
    for i, size in enumerate(array.shape):
        if shape[dim + i] != size:
            raise errors.TensorIndexError(
                f"The shape of the mask {list(array.shape)} at index {i} does not match the shape of the indexed tensor "
                f"{list(shape)} at index {dim + i}"
            )
    basic.extend([_FULL] * array.ndim)
    found.append((place, item))
    return dim + array.ndim, place + array.ndim


def _as_index_arrays(found: list[tuple[int, Any]]) -> tuple[list, tuple]:
    """Return (index arrays, their dimensions). A mask beside other arrays is replaced by the indices of its true elements."""
    if len(found) == 1:
        return [found[0][1]], (found[0][0],)
    arrays, dims = [], []
    for place, item in found:
        if item._array.dtype.kind == "b":
            for i, where in enumerate(true_places(item._array, item._array.shape)):
                arrays.append(wrap(where))
                dims.append(place + i)
        else:
            arrays.append(item)
            dims.append(place)
    return arrays, tuple(dims)


# -- advanced indexing -------------------------------------------------------------------------------------------------


@linear(promote=NONE, node="IndexBackward0", method=False, namespaces=(), moves=True)
def _index(xp, x, *indices, dims):
    """A copy of the elements that indices name. indices: arrays of ints for the dimensions dims, which broadcast; or one mask.

    Derivative: zeros with the cotangent at the indices; an element that is named several times gets the sum."""
    for d, i in zip(dims, indices, strict=True) if type(x) in others and indices[0].dtype.kind != "b" else ():
        are_inside(i, -x.shape[d], x.shape[d])  # looked at later
    try:
        if len(dims) == 1 and indices[0].dtype.kind != "b":
            return x.take(indices[0], axis=dims[0])  # a third of the cost of x[...]
        if type(x) is np.ndarray and len(dims) == x.ndim and x.flags.c_contiguous and are_large_and_alike(indices):
            return x.reshape(-1).take(flat_places(indices, x.shape))  # two thirds
        found = x[private_index(index_of(indices, dims))]
        return found if any(i.ndim for i in indices) else xp.array(found)  # NumPy counts 0-d arrays as ints and returns a view
    except IndexError:
        raise index_error(x.shape, indices, dims) from None


def _not_read_by_mask(x_shape, indices, dims):
    """Return the untaken mask of x[mask]: True where x is not read.

    For index arrays it is False everywhere: a mask of x's size would be too costly for each of many small reads."""
    return ~mask_of_indices(x_shape, indices, dims) if indices[0].dtype.kind == "b" else beside(_NOWHERE, indices[0])


@_index.vjp("x", untaken=_not_read_by_mask)
def _(F, ct, x_shape, indices, dims):
    index = index_of(indices, dims)
    return F.read_cotangent(ct, shape=x_shape, index=index, repeats=index[dims[0]].dtype.kind != "b")


def index_error(shape: tuple, arrays: Sequence[Any], dims: tuple) -> Exception:
    """Return torch's error for index arrays that are out of range or do not broadcast."""
    for array, dim in zip(arrays, dims, strict=True):
        size = shape[dim]
        wrong = array[(array < -size) | (array >= size)] if array.dtype.kind != "b" else array[:0]
        if wrong.size:
            return errors.index_out_of_range(int(wrong[0]), dim, size)
    shapes = ", ".join(str(list(array.shape)) for array in arrays)
    return errors.TensorIndexError(
        f"shape mismatch: indexing tensors could not be broadcast together with shapes {shapes}"
    )


def put(x: Any, values: Any, *indices: Any, dims: tuple, accumulate: bool) -> None:
    """Write values into the array x at the indices. If accumulate, add them; an element named several times gets the sum."""
    index = index_of(indices, dims)
    if is_array(values):
        if values.dtype.kind == "c" and x.dtype.kind != "c":
            values = values.real
        if values.ndim and backend_of(x).shares_memory(x, values):
            values = values.copy()
    try:
        if accumulate:
            ArrayOps.add_at(x, index, values, True)
        else:
            x[private_index(index)] = values
    except IndexError:
        raise index_error(x.shape, indices, dims) from None
    except (ValueError, TypeError):  # NumPy's class for a mask alone and values of more dimensions is TypeError
        wanted, given = list(x[index].shape), list(np.shape(values))
        raise errors.ShapeError(
            f"shape mismatch: value tensor of shape {given} cannot be broadcast to indexing result of shape {wanted}"
        ) from None


@linear(promote=NONE, node="IndexPutBackward0", method=False, namespaces=())
def _index_put(xp, x, values, *indices, dims, accumulate=False):
    """A copy of x with values, which broadcast, written at the indices, or added if accumulate.

    Derivative: in x the cotangent, with 0 at the indices unless accumulate; in values the cotangent at the indices."""
    result = x.copy()
    put(result, values, *indices, dims=dims, accumulate=accumulate)
    return result


def _overwritten(x_shape, indices, dims, accumulate):
    """Return the untaken mask of index_put's x: True where x is overwritten."""
    return beside(_NOWHERE, indices[0]) if accumulate else mask_of_indices(x_shape, indices, dims)


@_index_put.vjp("x", untaken=_overwritten)
def _(F, ct, x_shape, indices, dims, accumulate):
    return ct if accumulate else F._index_put(ct, 0.0, indices, dims=dims)


@_index_put.vjp("values")
def _(F, ct, indices, dims):
    return F._index(ct, indices, dims=dims)


def _put_arguments(x: Any, indices: Any, values: Any) -> tuple[Any, list, tuple]:
    """Return (values, index tensors, their dimensions) of index_put(x, indices, values). Raises RuntimeError for other dtypes."""
    xp = backend_of(x)
    values = as_tensor(values)
    if raw(values).dtype != raw(x).dtype:
        names = [dtypes.from_numpy_dtype(raw(t).dtype).scalar_name for t in (x, values)]
        raise errors.UnsupportedDtypeError(
            f"Index put requires the source and destination dtypes match, got {names[0]} for the destination and "
            f"{names[1]} for the source."
        )
    items: tuple[Any, ...] = tuple([_FULL if item is None else as_tensor(item) for item in indices])
    scalars = [item for item in items if _is_scalar_mask(item)]
    if all(scalar._array for scalar in scalars):
        items = tuple([item for item in items if not _is_scalar_mask(item)])
        _, arrays, dims, _ = parse_index(items, tuple(x.shape), selects=False)
    else:  # a 0-d mask that is False names nothing
        arrays, dims = [wrap(xp.zeros(tuple(x.shape), np.bool_))], (0,)
    _check_values(raw(values).shape, tuple(x.shape), [array._array for array in arrays], dims)
    return values, indices_beside(x, arrays), dims


def _is_scalar_mask(item: Any) -> bool:
    """Whether an item of an index is a 0-d tensor of bools or bytes."""
    return isinstance(item, TensorBase) and not item._array.ndim and item._array.dtype in (np.bool_, np.uint8)


def _check_values(given: tuple, shape: tuple, arrays: list, dims: tuple) -> None:
    """Raise torch's error unless values of the shape `given` broadcast to x[index] of an x of this shape.

    np.add.at reads outside of values that have more dimensions than x[index]."""
    masks = arrays and arrays[0].dtype.kind == "b"  # then it is the only one
    try:
        named = (int(arrays[0].sum()),) if masks else np.broadcast_shapes(*[array.shape for array in arrays])
    except ValueError:
        raise index_error(shape, arrays, dims) from None
    consumed = range(dims[0], dims[0] + arrays[0].ndim) if masks else dims
    start = dims[0] if consumed and len(consumed) == consumed[-1] - dims[0] + 1 else 0  # the first dimension of the named elements
    kept = [size for dim, size in enumerate(shape) if dim not in consumed]
    wanted = [*kept[:start], *named, *kept[start:]]
    if len(given) > len(wanted) or any(n not in (1, m) for n, m in zip(given[::-1], wanted[::-1], strict=False)):
        raise errors.ShapeError(
            f"shape mismatch: value tensor of shape {list(given)} cannot be broadcast to indexing result of shape {wanted}"
        )


@composite(method=True)
def index_put(F, input, indices, values, accumulate=False):
    """A copy of input with values written at indices, as x[indices] = values does.

    indices: a tuple of index tensors or masks; None stands for a whole dimension. values: of input's dtype; broadcasts.
    accumulate: add the values; an element that indices name several times gets the sum.

    Derivative: in input the cotangent, with 0 at the indices unless accumulate; in values the cotangent at the indices.

    >>> import wengert
    >>> wengert.zeros(3).index_put((wengert.tensor([0, 2]),), wengert.tensor(1.0))
    tensor([1., 0., 1.])
    """
    values, arrays, dims = _put_arguments(input, indices, values)
    return F._index_put(input, values, arrays, dims=dims, accumulate=accumulate)


@plain(method=True, namespaces=())
def index_put_(self, indices, values, accumulate=False):
    """In-place form of index_put."""
    values, arrays, dims = _put_arguments(self, indices, values)
    return write_inplace(_index_put, (self, values, *arrays), {"dims": dims, "accumulate": accumulate}, put)


# -- assignment --------------------------------------------------------------------------------------------------------


@plain(method="__setitem__", name="__setitem__", namespaces=())
def setitem(self, index, value):
    """x[index] = value, in place. value: a tensor, an array or a number; it broadcasts and is cast to x's dtype.

    Derivative: 0 in the overwritten elements; in value the cotangent at index.
    """
    kind, no_arrays = type(index), list[Any]()
    if kind is int:
        basic, arrays, dims, op = (index, ...), no_arrays, (), _select
    elif kind is slice:
        basic, arrays, dims, op = (checked_slice(index), ...), no_arrays, (), _slice
    elif index is False:
        return
    else:
        basic, arrays, dims, op = parse_index(index, self._array.shape)
    if not is_recorded(self, value):
        write_unrecorded(self, basic, arrays, dims, value)
        return
    value = _without_leading_ones(_as_value_tensor(self, value))
    region = self
    if op is not None and (basic != (_FULL, ...) or not self._array.ndim) and op is not _alias:
        region = call(op, (self,), {"index": basic})
    if dims:
        if value._array.dtype != region._array.dtype:
            value = value.to(region._array.dtype)
        write_inplace(_index_put, (region, value, *indices_beside(region, arrays)), {"dims": dims, "accumulate": False}, put)
    elif _same_view(region, value):  # the values stay, but torch refuses and counts this write as any other
        check_write(region)
        bump(region)
    else:
        _check_broadcasts(value._array.shape, region._array.shape)
        if value._array.ndim or not region._array.ndim:
            region.copy_(value)
        else:
            begin_write(region, region._array)
            region.fill_(value)


def write_unrecorded(target: Any, basic: tuple, arrays: list, dims: tuple, value: Any) -> None:
    """Assign value without recording: write it into the memory of target."""
    try:
        region = target._array[basic]
    except (IndexError, OverflowError):
        raise _out_of_range(target._array.shape, basic) from None
    if type(value) is float and region.dtype.kind == "f" and -65504.0 <= value <= 65504.0 and not dims and not others:
        begin_write(target, region)
        region[...] = value
        bump(target)
        return
    value = _without_leading_ones(_as_value_tensor(target, value))._array
    with unrecorded_write(target, region):
        if dims:
            named = [index._array for index in indices_beside(target, arrays)]
            put(*together([region, value, *named]), dims=dims, accumulate=False)
        else:
            fill(region, value)


def _as_value_tensor(target: Any, value: Any) -> Any:
    """Return the value of an assignment as a tensor. Raises TypeError for other types."""
    if isinstance(value, TensorBase):
        return value if not others or value._array.ndim else value.to(target.device)  # type: ignore[attr-defined]
    if isinstance(value, (bool, int, float, complex, np.generic)):
        return wrap(beside(dtypes.checked_scalar(value, target._array.dtype, overflows=True), target._array))
    if is_array(value):
        return wrap(own_array(value))
    kind = dtypes.legacy_type_name(target._array.dtype)
    raise errors.DtypeError(f"can't assign a {type(value).__name__} to a {kind}")


def _same_view(region: Any, value: Any) -> bool:
    """Whether value is the same view as region. After an in-place `x[i] += y`, Python assigns x[i] to itself."""
    first, second = region._view, value._view
    if first is None or second is None or first.base is not second.base:
        return False
    return view_steps(first) == view_steps(second)


def _without_leading_ones(value: Any) -> Any:
    """Drop leading dimensions of size 1 from value. Broadcasting restores those that the target has."""
    shape = value._array.shape
    if not shape or shape[0] != 1:
        return value
    ones = next((i for i, size in enumerate(shape) if size != 1), len(shape))
    return value.reshape(shape[ones:])


def _check_broadcasts(shape: tuple, place: tuple) -> None:
    """Raise torch's error if a value of this shape does not broadcast to the shape `place`."""
    pairs = zip(shape[::-1], place[::-1], strict=False)
    if len(shape) > len(place) or any(size not in (1, wanted) for size, wanted in pairs):
        raise errors.expand_mismatch(shape, place)
