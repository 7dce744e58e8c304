"""Making tensors: from data, from sizes, ranges, and like another tensor.

All take dtype= (this package's, NumPy's or Python's), device= (the CPU) and requires_grad=; layout=, pin_memory= and
memory_format= are accepted, and change nothing. Sizes are ints, one list or one tuple. No derivatives: the results
are leaves.
"""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np

from wengert import dtypes, errors
from wengert.core.tensor import TensorBase, wrap, wrap_as
from wengert.ops.indices import raw
from wengert.ops.nested import array_of, cast_array
from wengert.ops.options import check_device, finished, numpy_dtype, sizes_of
from wengert.ops.registry import composite, creation

# -- from data ---------------------------------------------------------------------------------------------------------


@creation()
def tensor(data, *, dtype=None, device=None, requires_grad=False, pin_memory=False):
    """A tensor of its own memory, with the values of data.

    data: a number, a nested list or tuple, a NumPy array or scalar, a tensor. dtype: None for the data's own: int64 for
    Python ints, the default dtype for floats, NumPy's for its arrays and scalars. With requires_grad=True and no dtype
    Python ints become the default dtype, as integers have no gradient. Raises RuntimeError where requires_grad=True
    meets another integer or bool type, ValueError for rows of different lengths.

    >>> import wengert
    >>> wengert.tensor([[1, 2], [3, 4]])
    tensor([[1, 2],
            [3, 4]])
    >>> wengert.tensor([1, 2], requires_grad=True)
    tensor([1., 2.], requires_grad=True)
    """
    if isinstance(data, TensorBase):
        warnings.warn(
            "To copy construct from a tensor, it is recommended to use sourceTensor.detach().clone() or "
            "sourceTensor.detach().clone().requires_grad_(True), rather than torch.tensor(sourceTensor).",
            stacklevel=2,
        )
    wanted = None if dtype is None else numpy_dtype(dtype)
    array = array_of(data, wanted, integers_to_float=requires_grad)
    if isinstance(data, (TensorBase, np.ndarray)) or not array.flags.owndata:
        array = array.copy()
    return finished("tensor", array, {"device": device, "requires_grad": requires_grad})


@creation()
def as_tensor(data, dtype=None, device=None):
    """A tensor of data that shares its memory where it can: data itself where it is a tensor of that dtype, the
    memory of a NumPy array of that dtype; else a copy. A tensor stays in its graph, also when cast.

    >>> import numpy as np
    >>> import wengert
    >>> a = np.zeros(2)
    >>> wengert.as_tensor(a)[0] = 1.0
    >>> a
    array([1., 0.])
    """
    check_device(device)
    if isinstance(data, TensorBase):
        tensor: Any = data
        return tensor if dtype is None else tensor.to(dtype)
    return wrap(array_of(data, None if dtype is None else numpy_dtype(dtype)))


@creation()
def asarray(obj, *, dtype=None, device=None, copy=None, requires_grad=False):
    """A tensor of obj: with copy=None sharing its memory where it can, True never, False always (ValueError where it
    cannot).

    A tensor stays in its graph unless it is copied; the result of other data is a leaf."""
    check_device(device)
    wanted = None if dtype is None else numpy_dtype(dtype)
    if isinstance(obj, TensorBase):
        return _asarray_of_tensor(obj, wanted, copy, requires_grad)
    array = array_of(obj, wanted)
    shared = isinstance(obj, np.ndarray) and np.may_share_memory(array, obj)
    if copy is False and not shared:
        raise errors.ElementError("can't alias arbitrary sequence; copy=False forbids a copy")
    return finished("asarray", array.copy() if copy and shared else array, {"requires_grad": requires_grad})


def _asarray_of_tensor(tensor: Any, wanted: Any, copy: Any, requires_grad: bool) -> Any:
    """asarray() of a tensor."""
    same = wanted is None or tensor._array.dtype == wanted
    if copy is False and not same:
        raise errors.ElementError("can't alias a tensor of another dtype than is asked for; copy=False forbids a copy")
    result = tensor.to(wanted) if not same else tensor.clone() if copy else tensor
    return result.requires_grad_() if requires_grad and not result.requires_grad else result


@creation()
def from_numpy(ndarray):
    """A tensor that shares the memory of a NumPy array: writes through either are seen by both.

    Raises TypeError for anything else, and for dtypes that no tensor has. A read-only array gives a tensor whose writes
    raise ValueError.

    >>> import numpy as np
    >>> import wengert
    >>> wengert.from_numpy(np.arange(3))
    tensor([0, 1, 2])
    """
    if not isinstance(ndarray, np.ndarray):
        raise errors.DtypeError(f"expected np.ndarray (got {type(ndarray).__name__})")
    return wrap(array_of(ndarray))


@creation()
def from_dlpack(ext_tensor, *, device=None, copy=None):
    """A tensor that shares the memory of an object of another library, through DLPack; with copy=True one of its own."""
    array = np.from_dlpack(ext_tensor)
    return finished("from_dlpack", array.copy() if copy else array, {"device": device})


@creation()
def frombuffer(buffer, *, dtype, count=-1, offset=0, requires_grad=False):
    """A vector that shares the memory of a buffer (bytearray, memoryview), from a byte offset on."""
    array = np.frombuffer(buffer, numpy_dtype(dtype), count, offset)
    return finished("frombuffer", array, {"requires_grad": requires_grad})


@creation()
def scalar_tensor(s, *, dtype=None, **options):
    """A 0-d tensor of a number, in the default dtype unless another is asked for."""
    return finished("scalar_tensor", np.array(s, numpy_dtype(dtype)), options)


# -- of a size ---------------------------------------------------------------------------------------------------------


@creation()
def zeros(*sizes, size=None, dtype=None, **options):
    """Zeros of a size, zeros(2, 3) or zeros((2, 3)), in the default dtype unless another is asked for.

    >>> import wengert
    >>> wengert.zeros(2, 3)
    tensor([[0., 0., 0.],
            [0., 0., 0.]])
    """
    return finished("zeros", np.zeros(sizes_of("zeros", sizes, size), numpy_dtype(dtype)), options)


@creation()
def ones(*sizes, size=None, dtype=None, **options):
    """Ones of a size, ones(2, 3) or ones((2, 3)), in the default dtype unless another is asked for."""
    return finished("ones", np.ones(sizes_of("ones", sizes, size), numpy_dtype(dtype)), options)


@creation()
def empty(*sizes, size=None, dtype=None, **options):
    """A tensor of a size whose values are whatever the memory holds, in the default dtype unless another is asked
    for."""
    return finished("empty", np.empty(sizes_of("empty", sizes, size), numpy_dtype(dtype)), options)


@creation()
def full(size, fill_value, *, dtype=None, **options):
    """A tensor of a size filled with one value; its dtype, unless one is asked for, is the value's.

    >>> import wengert
    >>> wengert.full((2,), 7)
    tensor([7, 7])
    """
    if isinstance(size, int):
        raise errors.wrong_argument_type("full", "size", 0, int, "tuple of ints")
    return finished("full", _full_array(sizes_of("full", (size,)), fill_value, dtype), options)


def _full_array(shape: tuple, value: Any, dtype: Any) -> Any:
    if isinstance(value, (TensorBase, np.ndarray)):
        value = array_of(value)
        if value.ndim:
            raise errors.ShapeError(
                f"full(): the fill value must be a number or a 0-d tensor, not of shape {value.shape}"
            )
        return np.full(shape, value, value.dtype if dtype is None else numpy_dtype(dtype))
    wanted = dtypes.python_number_dtype(value).dtype if dtype is None else numpy_dtype(dtype)
    return np.full(shape, dtypes.checked_scalar(value, wanted), wanted)


@creation()
def eye(n, m=None, *, dtype=None, **options):
    """The n x m matrix (n x n without m) with ones on its diagonal and zeros elsewhere."""
    for name, size in (("n", n), ("m", m)):
        if size is not None and size < 0:
            raise errors.ShapeError(f"{name} must be greater or equal to 0, got {size}")
    return finished("eye", np.eye(n, m, dtype=numpy_dtype(dtype)), options)


# -- like another tensor -----------------------------------------------------------------------------------------------


def _array_and_dtype(input: Any, dtype: Any) -> tuple[Any, Any]:
    array = input._array if isinstance(input, TensorBase) else np.asarray(input)
    return array, array.dtype if dtype is None else numpy_dtype(dtype)


@creation(array=np.zeros_like)
def zeros_like(input, *, dtype=None, **options):
    """Zeros of the shape of a tensor, and of its dtype unless another is asked for."""
    array, dtype = _array_and_dtype(input, dtype)
    return finished("zeros_like", np.zeros_like(array, dtype), options)


@creation(array=np.ones_like)
def ones_like(input, *, dtype=None, **options):
    """Ones of the shape of a tensor, and of its dtype unless another is asked for."""
    array, dtype = _array_and_dtype(input, dtype)
    return finished("ones_like", np.ones_like(array, dtype), options)


@creation()
def empty_like(input, *, dtype=None, **options):
    """A tensor of the shape and dtype of another, whose values are whatever the memory holds."""
    array, dtype = _array_and_dtype(input, dtype)
    return finished("empty_like", np.empty_like(array, dtype), options)


@creation()
def full_like(input, fill_value, *, dtype=None, **options):
    """A tensor of the shape and dtype of another, filled with one value."""
    array, dtype = _array_and_dtype(input, dtype)
    return finished("full_like", np.full_like(array, dtypes.checked_scalar(_python_number(fill_value), dtype), dtype), options)


def _python_number(value: Any) -> Any:
    """A Python number: of a 0-d tensor or array its value."""
    value = raw(value)
    return value.item() if isinstance(value, (np.ndarray, np.generic)) else value


@creation(method=True, namespaces=())
def new_tensor(self, data, *, dtype=None, **options):
    """A tensor of data, with its own memory, in this tensor's dtype unless another is asked for."""
    return finished("new_tensor", np.array(array_of(data, _array_and_dtype(self, dtype)[1])), options)


def _new_zeros_array(x: Any, *, size: tuple) -> Any:
    return np.zeros(size, x.dtype)


@creation(method=True, namespaces=(), array=_new_zeros_array)
def new_zeros(self, *sizes, size=None, dtype=None, **options):
    """Zeros of a size, in this tensor's dtype unless another is asked for."""
    return finished("new_zeros", np.zeros(sizes_of("new_zeros", sizes, size), _array_and_dtype(self, dtype)[1]), options)


@creation(method=True, namespaces=())
def new_ones(self, *sizes, size=None, dtype=None, **options):
    """Ones of a size, in this tensor's dtype unless another is asked for."""
    return finished("new_ones", np.ones(sizes_of("new_ones", sizes, size), _array_and_dtype(self, dtype)[1]), options)


@creation(method=True, namespaces=())
def new_empty(self, *sizes, size=None, dtype=None, **options):
    """A tensor of a size whose values are whatever the memory holds, in this tensor's dtype unless another is asked
    for."""
    return finished("new_empty", np.empty(sizes_of("new_empty", sizes, size), _array_and_dtype(self, dtype)[1]), options)


@creation(method=True, namespaces=())
def new_full(self, size, fill_value, *, dtype=None, **options):
    """A tensor of a size filled with one value, in this tensor's dtype unless another is asked for."""
    wanted = self._array.dtype if dtype is None else dtype
    return finished("new_full", _full_array(sizes_of("new_full", (size,)), _python_number(fill_value), wanted), options)


@creation(method=True, namespaces=())
def new(self, *args, **options):
    """The legacy constructor in this tensor's dtype: new(2, 3) is uninitialised, new([1, 2]) has these values."""
    return legacy_tensor(TensorBase, args, options, self._array.dtype)


# -- ranges ------------------------------------------------------------------------------------------------------------


@creation()
def arange(*bounds, start=0, end=None, step=1, dtype=None, **options):
    """start, start + step, ... up to end, which is left out: arange(end), arange(start, end), arange(start, end, step).

    dtype: int64 for ints, else the default dtype. Raises RuntimeError where step is 0 or leads away from end.

    >>> import wengert
    >>> wengert.arange(1, 2, 0.25)
    tensor([1.0000, 1.2500, 1.5000, 1.7500])
    """
    if len(bounds) > 3 or (not bounds and end is None):
        raise errors.ArgumentError(
            f"arange() takes from 1 to 3 numbers, end or start, end, step, but got {len(bounds)}"
        )
    if len(bounds) == 1 and end is None:
        end = bounds[0]
    elif len(bounds) == 1:
        start = bounds[0]
    elif bounds:
        start, end, step = bounds if len(bounds) == 3 else (*bounds, step)
    return finished("arange", _range_array(_python_number(start), _python_number(end), _python_number(step), dtype), options)


def _range_array(start: Any, end: Any, step: Any, dtype: Any) -> Any:
    for number in (start, end, step):
        if isinstance(number, complex):
            raise errors.value_overflow("double")
        if not -math.inf < number < math.inf:
            raise errors.ShapeError(f"unsupported range: {start} -> {end}")
    if dtype is None:
        wanted = numpy_dtype(int if all(isinstance(x, int) for x in (start, end, step)) else None)
    else:
        wanted = numpy_dtype(dtype)
    if wanted.kind in "iu":
        start, step, end = int(start), int(step), int(end)
    if step == 0:
        raise errors.ShapeError("step must be nonzero")
    if (end - start) * step < 0:
        raise errors.ShapeError("upper bound and lower bound inconsistent with step sign")
    if wanted.kind in "iub":
        return np.arange(start, end, step).astype(wanted, copy=False)
    # In float64, so that the last of many float32 steps is right.
    return np.arange(start, end, step, dtype=np.float64).astype(wanted, copy=False)


@creation(name="range")
def range_(start=0, end=None, step=1, *, dtype=None, **options):
    """start, start + step, ... up to end, end included. Deprecated: use arange, which leaves end out as Python's
    range does."""
    warnings.warn(
        "torch.range is deprecated and will be removed in a future release because its behavior is inconsistent with "
        "Python's range builtin. Instead, use torch.arange, which produces values in [start, end).",
        stacklevel=2,
    )
    if end is None:
        start, end = 0, start
    count = math.floor((end - start) / step) + 1
    return finished("range", (start + step * np.arange(count)).astype(numpy_dtype(dtype)), options)


@creation()
def linspace(start, end, steps, *, dtype=None, **options):
    """steps numbers from start to end, both included, at equal distances.

    >>> import wengert
    >>> wengert.linspace(0, 1, 5)
    tensor([0.0000, 0.2500, 0.5000, 0.7500, 1.0000])
    """
    _check_endpoints("linspace", start, end)
    wanted = _spaced_dtype(start, end, dtype)
    numbers = _evenly_spaced(_python_number(start), _python_number(end), steps, wanted)
    return finished("linspace", numbers.astype(wanted, copy=False), options)


def _check_endpoints(op: str, start: Any, end: Any) -> None:
    dims = [getattr(raw(x), "ndim", 0) for x in (start, end)]
    if any(dims):
        raise errors.line_ends(op, *dims)


def _spaced_dtype(start: Any, end: Any, dtype: Any) -> Any:
    if dtype is not None:
        return numpy_dtype(dtype)
    if isinstance(_python_number(start), complex) or isinstance(_python_number(end), complex):
        return dtypes.get_default_complex_dtype().dtype
    return numpy_dtype(None)


def _evenly_spaced(start: Any, end: Any, steps: int, wanted: Any) -> Any:
    """The numbers, in wanted where that is a floating type; from either end inwards, so that both are met exactly."""
    if steps < 0:
        raise errors.ShapeError("number of steps must be non-negative")
    if wanted.kind in "iu":
        start, end = int(start), int(end)
    real = np.float64 if wanted.kind in "iub" or wanted.itemsize < 4 else wanted.type
    places = np.arange(steps)
    step = real(end - start) / real(max(steps - 1, 1))
    upward, downward = real(start) + step * places.astype(real), real(end) - step * places[::-1].astype(real)
    return np.where(places < steps // 2, upward, downward) if steps != 1 else upward


@creation()
def logspace(start, end, steps, base=10.0, *, dtype=None, **options):
    """steps numbers from base**start to base**end, both included, at equal ratios."""
    _check_endpoints("logspace", start, end)
    wanted = _spaced_dtype(start, end, dtype)
    wide = np.dtype(np.complex128 if wanted.kind == "c" else np.float64)
    exponents = _evenly_spaced(_python_number(start), _python_number(end), steps, wanted if wanted.kind in "iu" else wide)
    line = np.power(wide.type(base), exponents)
    return finished("logspace", cast_array(line, wanted), options)


def _triangle_indices(op: str, indices: tuple, dtype: Any, options: dict[str, Any]) -> Any:
    return finished(op, np.array(indices).astype(numpy_dtype(int if dtype is None else dtype), copy=False), options)


@creation()
def tril_indices(row, col, offset=0, *, dtype=None, **options):
    """The places in the lower triangle of a row x col matrix: row numbers above column numbers, as int64."""
    return _triangle_indices("tril_indices", np.tril_indices(row, offset, col), dtype, options)


@creation()
def triu_indices(row, col, offset=0, *, dtype=None, **options):
    """The places in the upper triangle of a row x col matrix: row numbers above column numbers, as int64."""
    return _triangle_indices("triu_indices", np.triu_indices(row, offset, col), dtype, options)


@composite()
def meshgrid(F, *tensors, indexing=None):
    """Grids of coordinates: of n vectors, n tensors of n dimensions, the i-th the i-th vector along dimension i. Views.

    indexing: "ij" (also the default, with a warning, as in torch), or "xy", where the first two dimensions are
    exchanged.

    Derivative: in each vector the sum over the other dimensions.

    >>> import wengert
    >>> rows, columns = wengert.meshgrid(wengert.arange(2), wengert.arange(3), indexing="ij")
    >>> rows
    tensor([[0, 0, 0],
            [1, 1, 1]])
    """
    if len(tensors) == 1 and isinstance(tensors[0], (tuple, list)):
        tensors = tuple(tensors[0])
    if indexing is None:
        warnings.warn(
            "torch.meshgrid: in an upcoming release, it will be required to pass the indexing argument.", stacklevel=3
        )
    elif indexing not in ("ij", "xy"):
        raise errors.ShapeError(f'torch.meshgrid: indexing must be one of "xy" or "ij", but received: {indexing}')
    for x in tensors:
        if len(x.shape) > 1:
            raise errors.ShapeError(
                f"torch.meshgrid: Expected 0D or 1D tensor in the tensor list but got shape {list(x.shape)}"
            )
    if len({x.dtype for x in tensors}) > 1:
        raise errors.ShapeError("torch.meshgrid expects all tensors to have the same dtype")
    swapped = indexing == "xy" and len(tensors) > 1
    if swapped:
        tensors = (tensors[1], tensors[0], *tensors[2:])
    vectors = [F.reshape(x, shape=(-1,)) if x.shape != (0,) else x for x in tensors]
    shape = tuple([x.shape[0] for x in vectors])
    grids = []
    for i, x in enumerate(vectors):
        column = F.reshape(x, shape=(1,) * i + (shape[i],) + (1,) * (len(shape) - i - 1))
        grids.append(F.expand(column, shape=shape))
    if swapped:
        grids = [grids[1], grids[0], *grids[2:]]
    return tuple(grids)


# -- legacy constructors -----------------------------------------------------------------------------------------------


def legacy_tensor(cls: type, args: tuple, options: dict[str, Any], dtype: Any = None) -> Any:
    """What Tensor(2, 3), Tensor([1, 2]), Tensor(size) and Tensor(tensor) make, of class cls, in the default dtype."""
    check_device(options.pop("device", None))
    wanted = numpy_dtype(dtype)
    size, data = options.pop("size", None), options.pop("data", None)
    for name in options:
        raise errors.unexpected_keyword("new", name)
    args = args or ((data,) if data is not None else ())
    if size is not None or not args or all(type(arg) is int for arg in args) or _is_size(args[0]):
        array = np.empty(
            sizes_of("empty", args if size is None else (), size) if args or size is not None else (0,), wanted
        )
    elif len(args) > 1 or isinstance(args[0], (bool, float, complex)):
        raise errors.DtypeError(f"new(): data must be a sequence (got {type(args[0]).__name__})")
    elif isinstance(args[0], TensorBase):
        array = args[0]._array
        if dtype is not None and array.dtype != wanted:
            raise errors.DtypeError(
                f"expected {dtypes.legacy_type_name(wanted)} (got {dtypes.legacy_type_name(array.dtype)})"
            )
    else:
        array = np.array(array_of(args[0], wanted))
    return wrap(array) if cls is TensorBase else wrap_as(cls, array)


def _is_size(x: Any) -> bool:
    from wengert.sizes import Size

    return isinstance(x, Size)


class _TypedMeta(type):
    """The classes of old that name a dtype: calling one makes a tensor of it, isinstance asks for its dtype."""

    dtype: Any

    def __call__(cls, *args: Any, **options: Any) -> Any:
        return legacy_tensor(TensorBase, args, options, cls.dtype)

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, TensorBase) and instance._array.dtype == cls.dtype


def _typed_class(d: Any) -> Any:
    name = f"{d.scalar_name}Tensor"
    doc = f"The legacy constructor of {d!r} tensors: {name}(2, 3) is uninitialised, {name}([1, 2]) has these values."
    return _TypedMeta(name, (), {"__doc__": doc, "dtype": d})


for _d in (
    dtypes.float32, dtypes.float64, dtypes.float16, dtypes.int64, dtypes.int32, dtypes.int16, dtypes.int8, dtypes.uint8,
    dtypes.bool_, dtypes.bfloat16,
):  # fmt: skip
    creation()(_typed_class(_d))
