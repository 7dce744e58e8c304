"""Creation of tensors: from data, from sizes, ranges, and like another tensor.

All functions take dtype= (wengert's, NumPy's or Python's), device= (the CPU) and requires_grad=. They accept layout=,
pin_memory= and memory_format=, which change nothing. Sizes are ints, one list or one tuple. There are no derivatives: the
results are leaves.
"""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np

from wengert import dtypes, errors
from wengert.backends.selection import (
    backend_for,
    backend_of,
    cuda_is_available,
    device_name,
    elsewhere,
    is_array,
    move,
    new_on,
    others,
    to_host,
    why_no_cuda,
)
from wengert.core.stacks import user_level
from wengert.core.tensor import TensorBase, wrap, wrap_as
from wengert.devices import device, legacy_type
from wengert.ops.indices import raw
from wengert.ops.nested import array_of, cast_array
from wengert.ops.options import is_default_cpu, numpy_dtype, place_of, sizes_of, tensor_from
from wengert.ops.registry import composite, creation

# -- from data ---------------------------------------------------------------------------------------------------------


@creation()
def tensor(data, *, dtype=None, device=None, requires_grad=False, pin_memory=False):
    """A new tensor with a copy of data.

    data: a number, a nested list or tuple, a NumPy array or scalar, or a tensor. dtype: if None, Python ints give int64,
    Python floats the default dtype, and NumPy's arrays and scalars keep their dtype. If requires_grad and dtype is None,
    Python ints give the default dtype, because integers have no gradient. device: if None, the default one if there is one, else
    that of a tensor. Raises RuntimeError for requires_grad=True with other integers or bools, and ValueError for rows of
    different lengths.

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
            stacklevel=user_level(),
        )
    wanted = None if dtype is None else numpy_dtype(dtype)
    array = array_of(data, wanted, integers_to_float=requires_grad)
    if (isinstance(data, TensorBase) or is_array(data)) or not array.flags.owndata:
        array = array.copy()
        if device is None and is_default_cpu():
            device = device_name(array)
    return tensor_from("tensor", array, {"device": device, "requires_grad": requires_grad})


@creation()
def as_tensor(data, dtype=None, device=None):
    """Convert data to a tensor, without a copy if possible.

    A tensor of the wanted dtype is returned itself, and so is the tensor that an ndarray of wengert.numpy holds. A NumPy array of
    the wanted dtype shares its memory with the result. Other data are copied. A tensor stays in its graph, also if it is cast.

    >>> import numpy as np
    >>> import wengert
    >>> a = np.zeros(2)
    >>> wengert.as_tensor(a)[0] = 1.0
    >>> a
    array([1., 0.])
    """
    held: Any = data if isinstance(data, TensorBase) else getattr(data, "__wengert_tensor__", None)
    if held is not None:
        return held.to(device=device, dtype=dtype)
    array = array_of(data, None if dtype is None else numpy_dtype(dtype))
    return tensor_from("as_tensor", array, {} if device is None and not isinstance(array, np.ndarray) else {"device": device})


@creation()
def asarray(obj, *, dtype=None, device=None, copy=None, requires_grad=False):
    """Convert obj to a tensor.

    copy: None shares obj's memory if possible; True always copies; False never copies, and raises ValueError if a copy is
    needed. A tensor stays in its graph, and so does the tensor that an ndarray of wengert.numpy holds; from other data the
    result is a leaf."""
    wanted = None if dtype is None else numpy_dtype(dtype)
    held: Any = obj if isinstance(obj, TensorBase) else getattr(obj, "__wengert_tensor__", None)
    if held is not None:
        return _asarray_of_tensor(held if device is None else held.to(device), wanted, copy, requires_grad)
    array = array_of(obj, wanted)
    shared = isinstance(obj, np.ndarray) and np.may_share_memory(array, obj)
    if copy is False and not shared:
        raise errors.ElementError("can't alias arbitrary sequence; copy=False forbids a copy")
    return tensor_from("asarray", array.copy() if copy and shared else array, {"device": device, "requires_grad": requires_grad})


def _asarray_of_tensor(tensor: Any, wanted: Any, copy: Any, requires_grad: bool) -> Any:
    """asarray() of a tensor. wanted: a NumPy dtype or None."""
    same = wanted is None or tensor._array.dtype == wanted
    if copy is False and not same:
        raise errors.ElementError("can't alias a tensor of another dtype than is asked for; copy=False forbids a copy")
    result = tensor.to(wanted) if not same else tensor.clone() if copy else tensor
    return result.requires_grad_() if requires_grad and not result.requires_grad else result


@creation()
def from_numpy(ndarray):
    """A tensor that shares the memory of a NumPy array: a write to one changes the other.

    The tensor keeps its shape and dtype if those of the array are changed in place. NumPy refuses to resize the array while the
    tensor lives; `ndarray.resize(..., refcheck=False)` frees the memory all the same, and the tensor must not be used any more.

    Raises TypeError if ndarray is not a NumPy array, and for dtypes that tensors do not have. A write to the tensor of a
    read-only array raises ValueError.

    >>> import numpy as np
    >>> import wengert
    >>> wengert.from_numpy(np.arange(3))
    tensor([0, 1, 2])
    """
    if not isinstance(ndarray, np.ndarray):
        raise errors.DtypeError(
            f"expected np.ndarray (got {type(ndarray).__name__})\nHint: tensor(data) makes a tensor of numbers and lists."
        )
    return wrap(array_of(ndarray))


_DLPACK_CUDA = 2  # DLPack's number for memory of CUDA


@creation()
def from_dlpack(ext_tensor, *, device=None, copy=None):
    """A tensor that shares the memory of another library's object, through DLPack. copy=True copies instead.

    The tensor lies where the object lies: in main memory or on a GPU."""
    on_gpu = hasattr(ext_tensor, "__dlpack_device__") and ext_tensor.__dlpack_device__()[0] == _DLPACK_CUDA
    array = (backend_for("cuda") if on_gpu else np).from_dlpack(ext_tensor)
    device = device_name(array) if device is None else device
    return tensor_from("from_dlpack", array.copy() if copy else array, {"device": device})


@creation()
def frombuffer(buffer, *, dtype, count=-1, offset=0, requires_grad=False):
    """A vector that shares the memory of a buffer, such as a bytearray or memoryview.

    offset: in bytes. count: the number of elements; -1 takes all that follow."""
    array = np.frombuffer(buffer, numpy_dtype(dtype), count, offset)
    return tensor_from("frombuffer", array, {"requires_grad": requires_grad})


@creation()
def scalar_tensor(s, *, dtype=None, **options):
    """A 0-d tensor of a number. dtype: the default dtype unless given."""
    return tensor_from("scalar_tensor", np.array(s, numpy_dtype(dtype)), options)


# -- of a size ---------------------------------------------------------------------------------------------------------


def _new(function: str, shape: tuple, dtype: Any, options: dict[str, Any]) -> Any:
    """Return a new array of a backend's zeros(), ones() or empty(), on the device that the options or the default name."""
    if is_default_cpu() and options.get("device") is None:
        return getattr(np, function)(shape, dtype)
    options["device"] = place = place_of(options.get("device"))
    return new_on(place, function, shape, dtype)


@creation()
def zeros(*sizes, size=None, dtype=None, **options):
    """A tensor of zeros: zeros(2, 3) or zeros((2, 3)). dtype: the default dtype unless given.

    >>> import wengert
    >>> wengert.zeros(2, 3)
    tensor([[0., 0., 0.],
            [0., 0., 0.]])
    """
    return tensor_from("zeros", _new("zeros", sizes_of("zeros", sizes, size), numpy_dtype(dtype), options), options)


@creation()
def ones(*sizes, size=None, dtype=None, **options):
    """A tensor of ones: ones(2, 3) or ones((2, 3)). dtype: the default dtype unless given."""
    return tensor_from("ones", _new("ones", sizes_of("ones", sizes, size), numpy_dtype(dtype), options), options)


@creation()
def empty(*sizes, size=None, dtype=None, **options):
    """An uninitialised tensor: empty(2, 3) or empty((2, 3)). dtype: the default dtype unless given."""
    return tensor_from("empty", _new("empty", sizes_of("empty", sizes, size), numpy_dtype(dtype), options), options)


@creation()
def full(size, fill_value, *, dtype=None, **options):
    """A tensor of shape size, filled with fill_value. dtype: the dtype of fill_value unless given.

    >>> import wengert
    >>> wengert.full((2,), 7)
    tensor([7, 7])
    """
    if isinstance(size, int):
        raise errors.wrong_argument_type("full", "size", 0, int, "tuple of ints")
    return tensor_from("full", _full_array(sizes_of("full", (size,)), fill_value, dtype), options)


def _full_array(shape: tuple, value: Any, dtype: Any) -> Any:
    """Return an array filled with value, in value's dtype if dtype is None. Raises RuntimeError for a value with dimensions."""
    if (isinstance(value, TensorBase) or is_array(value)):
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
    """(n, m) matrix with ones on the diagonal and zeros elsewhere. m: n unless given."""
    for name, size in (("n", n), ("m", m)):
        if size is not None and size < 0:
            raise errors.ShapeError(f"{name} must be greater or equal to 0, got {size}")
    return tensor_from("eye", np.eye(n, m, dtype=numpy_dtype(dtype)), options)


# -- like another tensor -----------------------------------------------------------------------------------------------


def _array_and_dtype(function: str, input: Any, dtype: Any) -> tuple[Any, Any]:
    """Return the array of input, and dtype as NumPy's, or if None the array's."""
    if isinstance(input, TensorBase):
        array = input._array
    elif is_array(input):
        array = input
        dtypes.from_numpy_dtype(array.dtype)
    elif isinstance(input, (np.generic, int, float, complex, list, tuple)):
        array = np.asarray(input)
        dtypes.from_numpy_dtype(array.dtype)  # raises for a dtype that no tensor has
    else:
        raise errors.wrong_argument_type(function, "input", 0, type(input))
    return array, array.dtype if dtype is None else numpy_dtype(dtype)


def _new_like(function: str, array: Any, dtype: Any, options: dict[str, Any], *fill: Any) -> Any:
    """Return xp.zeros_like(array) or the like, on the device of array unless options name another one."""
    options.setdefault("device", device_name(array))
    make = getattr(backend_of(array), function)
    if others and (place := elsewhere(array)) is not None:
        with place:
            return make(array, *fill, dtype=dtype)
    return make(array, *fill, dtype=dtype)


def _new_beside(self: Any, options: dict[str, Any]) -> dict[str, Any]:
    """Return the options of a new tensor, with the device of `self` unless they name another one."""
    return {"device": device_name(raw(self)), **options}


@creation(array=lambda x: backend_of(x).zeros_like(x))
def zeros_like(input, *, dtype=None, **options):
    """A tensor of zeros of input's shape. dtype: input's dtype unless given."""
    array, dtype = _array_and_dtype("zeros_like", input, dtype)
    return tensor_from("zeros_like", _new_like("zeros_like", array, dtype, options), options)


@creation(array=lambda x: backend_of(x).ones_like(x))
def ones_like(input, *, dtype=None, **options):
    """A tensor of ones of input's shape. dtype: input's dtype unless given."""
    array, dtype = _array_and_dtype("ones_like", input, dtype)
    return tensor_from("ones_like", _new_like("ones_like", array, dtype, options), options)


@creation()
def empty_like(input, *, dtype=None, **options):
    """An uninitialised tensor of input's shape. dtype: input's dtype unless given."""
    array, dtype = _array_and_dtype("empty_like", input, dtype)
    return tensor_from("empty_like", _new_like("empty_like", array, dtype, options), options)


@creation()
def full_like(input, fill_value, *, dtype=None, **options):
    """A tensor of input's shape, filled with fill_value. dtype: input's dtype unless given."""
    array, dtype = _array_and_dtype("full_like", input, dtype)
    value = dtypes.checked_scalar(_python_number(fill_value), dtype)
    return tensor_from("full_like", _new_like("full_like", array, dtype, options, value.item()), options)


def _python_number(value: Any) -> Any:
    """Return value as a Python number. value: a number, or a 0-d tensor or array."""
    value = raw(value)
    return value.item() if (is_array(value) or isinstance(value, np.generic)) else value


@creation(method=True, namespaces=())
def new_tensor(self, data, *, dtype=None, **options):
    """A new tensor with a copy of data. dtype: this tensor's dtype unless given."""
    array = np.array(to_host(array_of(data, _array_and_dtype("new_tensor", self, dtype)[1])))
    return tensor_from("new_tensor", array, _new_beside(self, options))


def _new_zeros_array(x: Any, *, size: tuple) -> Any:
    return backend_of(x).zeros(size, x.dtype)


@creation(method=True, namespaces=(), array=_new_zeros_array)
def new_zeros(self, *sizes, size=None, dtype=None, **options):
    """A tensor of zeros of the given size. dtype: this tensor's dtype unless given."""
    _, dtype = _array_and_dtype("new_zeros", self, dtype)
    return tensor_from("new_zeros", np.zeros(sizes_of("new_zeros", sizes, size), dtype), _new_beside(self, options))


@creation(method=True, namespaces=())
def new_ones(self, *sizes, size=None, dtype=None, **options):
    """A tensor of ones of the given size. dtype: this tensor's dtype unless given."""
    _, dtype = _array_and_dtype("new_ones", self, dtype)
    return tensor_from("new_ones", np.ones(sizes_of("new_ones", sizes, size), dtype), _new_beside(self, options))


@creation(method=True, namespaces=())
def new_empty(self, *sizes, size=None, dtype=None, **options):
    """An uninitialised tensor of the given size. dtype: this tensor's dtype unless given."""
    _, dtype = _array_and_dtype("new_empty", self, dtype)
    return tensor_from("new_empty", np.empty(sizes_of("new_empty", sizes, size), dtype), _new_beside(self, options))


@creation(method=True, namespaces=())
def new_full(self, size, fill_value, *, dtype=None, **options):
    """A tensor of shape size, filled with fill_value. dtype: this tensor's dtype unless given."""
    wanted = self._array.dtype if dtype is None else dtype
    array = _full_array(sizes_of("new_full", (size,)), _python_number(fill_value), wanted)
    return tensor_from("new_full", array, _new_beside(self, options))


@creation(method=True, namespaces=())
def new(self, *args, **options):
    """Legacy constructor with this tensor's dtype: new(2, 3) is uninitialised, new([1, 2]) holds the values 1 and 2."""
    return legacy_tensor(TensorBase, args, options, self._array.dtype, device_name(self._array))


# -- ranges ------------------------------------------------------------------------------------------------------------


@creation()
def arange(*bounds, start=0, end=None, step=1, dtype=None, **options):
    """start, start + step, ... up to end, without end: arange(end), arange(start, end) or arange(start, end, step).

    dtype: unless given, int64 if all arguments are ints, else the default dtype. Raises RuntimeError if step is 0 or leads
    away from end.

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
    return tensor_from("arange", _range_array(_python_number(start), _python_number(end), _python_number(step), dtype), options)


def _range_array(start: Any, end: Any, step: Any, dtype: Any) -> Any:
    """arange() as an array. Raises RuntimeError for bounds that are complex, infinite or NaN, and for a wrong step."""
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
    # Computed in float64, so that the last of many float32 numbers is accurate.
    return np.arange(start, end, step, dtype=np.float64).astype(wanted, copy=False)


@creation(name="range")
def range_(start=0, end=None, step=1, *, dtype=None, **options):
    """start, start + step, ... up to end, end included; range(end) begins at 0.

    Deprecated: use arange, which excludes end as Python's range does."""
    warnings.warn(
        "torch.range is deprecated and will be removed in a future release because its behavior is inconsistent with "
        "Python's range builtin. Instead, use torch.arange, which produces values in [start, end).",
        stacklevel=user_level(),
    )
    if end is None:
        start, end = 0, start
    count = math.floor((end - start) / step) + 1
    return tensor_from("range", (start + step * np.arange(count)).astype(numpy_dtype(dtype)), options)


@creation()
def linspace(start, end, steps, *, dtype=None, **options):
    """`steps` evenly spaced numbers from start to end, both included.

    start, end: numbers or 0-d tensors. dtype: the default dtype unless given; the default complex dtype if start or end is
    complex. Raises RuntimeError for steps < 0.

    >>> import wengert
    >>> wengert.linspace(0, 1, 5)
    tensor([0.0000, 0.2500, 0.5000, 0.7500, 1.0000])
    """
    _check_endpoints("linspace", start, end)
    wanted = _spaced_dtype(start, end, dtype)
    numbers = _evenly_spaced(_python_number(start), _python_number(end), steps, wanted)
    return tensor_from("linspace", numbers.astype(wanted, copy=False), options)


def _check_endpoints(op: str, start: Any, end: Any) -> None:
    """Raise RuntimeError if start or end is a tensor with dimensions."""
    dims = {"start": getattr(raw(start), "ndim", 0), "end": getattr(raw(end), "ndim", 0)}
    if any(dims.values()):
        found = " and ".join([f"{name} with {n} dimension(s)" for name, n in dims.items() if n])
        raise errors.ShapeError(f"{op} only supports 0-dimensional start and end tensors, but got {found}.")


def _spaced_dtype(start: Any, end: Any, dtype: Any) -> Any:
    """Return the NumPy dtype of a linspace: dtype if given, else the default real or complex one."""
    if dtype is not None:
        return numpy_dtype(dtype)
    if isinstance(_python_number(start), complex) or isinstance(_python_number(end), complex):
        return dtypes.get_default_complex_dtype().dtype
    return numpy_dtype(None)


def _evenly_spaced(start: Any, end: Any, steps: int, wanted: Any) -> Any:
    """`steps` numbers from start to end, in the dtype wanted if it is a wide floating type, else in float64.

    They are computed from both ends inwards, so that both ends are met exactly."""
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
    """`steps` numbers from base**start to base**end, both included, with equal ratios. Other parameters as in `linspace`."""
    _check_endpoints("logspace", start, end)
    wanted = _spaced_dtype(start, end, dtype)
    wide = np.dtype(np.complex128 if wanted.kind == "c" else np.float64)
    exponents = _evenly_spaced(_python_number(start), _python_number(end), steps, wanted if wanted.kind in "iu" else wide)
    line = np.power(wide.type(base), exponents)
    return tensor_from("logspace", cast_array(line, wanted), options)


def _triangle_indices(op: str, indices: tuple, dtype: Any, options: dict[str, Any]) -> Any:
    return tensor_from(op, np.array(indices).astype(numpy_dtype(int if dtype is None else dtype), copy=False), options)


@creation()
def tril_indices(row, col, offset=0, *, dtype=None, **options):
    """Indices of the lower triangle of a (row, col) matrix: (2, k), the row indices above the column indices.

    offset: the last diagonal that belongs to the triangle. dtype: int64 unless given."""
    return _triangle_indices("tril_indices", np.tril_indices(row, offset, col), dtype, options)


@creation()
def triu_indices(row, col, offset=0, *, dtype=None, **options):
    """Indices of the upper triangle of a (row, col) matrix: (2, k), the row indices above the column indices.

    offset: the first diagonal that belongs to the triangle. dtype: int64 unless given."""
    return _triangle_indices("triu_indices", np.triu_indices(row, offset, col), dtype, options)


@composite()
def meshgrid(F, *tensors, indexing=None):
    """Coordinate grids of n vectors: a tuple of n views of n dimensions. The i-th holds the i-th vector along dimension i.

    tensors: vectors or 0-d tensors of one dtype, else RuntimeError. indexing: "ij" (the default, with a warning as in
    torch), or "xy", which exchanges the first two dimensions.

    Derivative: in each vector the sum of ct over the other dimensions.

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
            "torch.meshgrid: in an upcoming release, it will be required to pass the indexing argument.",
            stacklevel=user_level(),
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
    if len({device_name(raw(x)) for x in tensors}) > 1:
        raise errors.DeviceError("meshgrid expects all tensors to have the same device")
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


def legacy_tensor(cls: type, args: tuple, options: dict[str, Any], dtype: Any = None, home: str | None = None) -> Any:
    """Construct Tensor(2, 3), Tensor([1, 2]), Tensor(size) or Tensor(tensor), of class cls. dtype: the default dtype if None.

    home: the device, unless options name another one of its type; that of the default tensor type if None. set_default_device does
    not matter to these constructors. Raises RuntimeError for a device of another type."""
    home = legacy_type() if home is None else home
    given = options.pop("device", None)
    if given is not None and device(given).type != device(home).type:
        raise errors.DeviceError(
            f"legacy constructor expects device type: {device(home).type} but device type: {device(given).type} was passed"
        )
    place = place_of(home if given is None else given)
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
    elif hasattr(args[0], "untyped"):
        array = _array_of_storage(args[0], wanted)
    else:
        array = np.array(array_of(args[0], wanted))
    array = move(array, place) if isinstance(array, np.ndarray) else array
    return wrap(array) if cls is TensorBase else wrap_as(cls, array)


def _array_of_storage(storage: Any, wanted: Any) -> Any:
    """Return a vector of the whole memory of a storage. Raises TypeError for a typed storage of another dtype."""
    typed = getattr(storage, "dtype", None)
    if typed is not None and dtypes.as_numpy_dtype(typed) != wanted:
        raise errors.DtypeError(f"Expected Storage of type {dtypes.legacy_type_name(wanted)} but got type {typed.scalar_name}")
    return storage.untyped()._elements(dtypes.from_numpy_dtype(wanted)).view()


def _is_size(x: Any) -> bool:
    """Whether x is a wengert.Size."""
    from wengert.sizes import Size

    return isinstance(x, Size)


class _TypedMeta(type):
    """Metaclass of legacy classes such as FloatTensor and cuda.FloatTensor: a call constructs a tensor of the dtype and device.

    isinstance compares dtypes and types of devices."""

    dtype: Any
    device_type: str

    def __call__(cls, *args: Any, **options: Any) -> Any:
        if cls.device_type != "cpu" and not cuda_is_available():
            raise errors.DtypeError(f"type {cls.__module__}.{cls.__name__} not available: {why_no_cuda()}")
        return legacy_tensor(TensorBase, args, options, cls.dtype, cls.device_type)

    def __instancecheck__(cls, instance: Any) -> bool:
        if not isinstance(instance, TensorBase) or instance._array.dtype != cls.dtype:
            return False
        name: str = backend_of(instance._array).name
        return name == cls.device_type


def typed_class(d: Any, device_type: str = "cpu") -> Any:
    """Return the legacy class of a dtype and a type of devices, such as FloatTensor."""
    name = f"{d.scalar_name}Tensor"
    doc = f"Legacy constructor of {d!r} tensors: {name}(2, 3) is uninitialised, {name}([1, 2]) holds the values 1 and 2."
    names = {"__doc__": doc, "dtype": d, "device_type": device_type}
    return _TypedMeta(name, (), names if device_type == "cpu" else {**names, "__module__": f"torch.{device_type}"})


for _d in (
    dtypes.float32, dtypes.float64, dtypes.float16, dtypes.int64, dtypes.int32, dtypes.int16, dtypes.int8, dtypes.uint8,
    dtypes.bool_, dtypes.bfloat16,
):  # fmt: skip
    creation()(typed_class(_d))
