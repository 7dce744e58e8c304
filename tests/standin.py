"""An array library over NumPy that refuses what CuPy refuses. It proves on any machine that operations name no library.

Its arrays lie on two devices, cuda:0 and cuda:1. They refuse an implicit conversion to NumPy, NumPy's functions, and calls that mix them
with NumPy's arrays or with arrays of the other device. Functions that CuPy does not have are missing here too. What makes a program
wait for a GPU, such as item(), a copy to main memory or a mask as an index, is counted in `waits`.

    with standin.in_use():
        x = wengert.ones(3).cuda()
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from threading import get_ident
from typing import Any, ClassVar
from weakref import WeakSet, WeakValueDictionary

import numpy as np

from wengert.backends import kernels, numpy as numpy_backend, philox, selection
from wengert.core.tensor import TensorBase
from wengert.kernels import memory
from wengert.ops import device_kernels

name = "cuda"
waits = 0  # how often a program had to wait for a device
launches = 0  # how many kernels have started: functions of the library but for views, and kernels of wengert
_current = 0
_owners: WeakValueDictionary[int, Array] = WeakValueDictionary()  # arrays that own memory, by the id of NumPy's array

# Names of NumPy that CuPy 14 does not have, as far as a forward might use them.
_MISSING = frozenset({"asmatrix", "block", "frompyfunc", "geomspace", "insert", "matvec", "nanpercentile", "nanquantile", "nditer",
                      "spacing", "unstack", "vecdot", "vecmat"})  # fmt: skip
_METHODS = frozenset({"all", "any", "argmax", "argmin", "argpartition", "argsort", "astype", "choose", "clip", "compress", "conj",
                      "conjugate", "copy", "cumprod", "cumsum", "diagonal", "dot", "fill", "flatten", "max", "mean", "min", "nonzero",
                      "partition", "prod", "put", "ravel", "repeat", "reshape", "round", "searchsorted", "sort", "squeeze", "std", "sum",
                      "swapaxes", "take", "trace", "transpose", "var", "view"})  # fmt: skip
_UFUNC_METHODS = {"at": {"add", "maximum", "minimum"},
                  "accumulate": {"add", "multiply"}, "reduceat": {"add"}, "outer": None, "reduce": {"add", "multiply"}}  # fmt: skip
_AT = {"add": "efdilIL", "maximum": "fdilIL", "minimum": "fdilIL"}  # dtypes that ufunc.at takes
_REDUCTIONS = frozenset({"sum", "prod", "max", "min", "amax", "amin", "mean", "any", "all", "nansum", "nanmax", "nanmin"})
_VIEWS = frozenset({"as_strided", "broadcast_to", "expand_dims", "moveaxis", "reshape", "squeeze", "swapaxes", "transpose", "view"})
_WRITING = frozenset({"copyto", "fill", "sort", "partition", "put", "put_along_axis", "at"})  # into their first argument
_FACTORIZATIONS = frozenset({"cholesky", "eig", "eigh", "inv", "qr", "solve", "svd"})  # they ask whether the matrix was singular
_WAITING = _FACTORIZATIONS | {"nonzero", "flatnonzero", "unique", "argwhere", "bincount", "array_equal", "allclose", "argpartition"}
# Functions of scipy.special that operations call and CuPy does not have.
_MISSING_SPECIAL = frozenset({"iv", "ive", "jv", "kn", "kve", "spherical_jn"})
_LOGICAL = frozenset({"logical_and", "logical_or", "logical_xor", "logical_not"})


# What CuPy 14 computes in bfloat16: ufuncs but for those of _WITHOUT_BFLOAT16, products of matrices, sums, extrema, and what moves elements.
_WITHOUT_BFLOAT16 = frozenset({"clip", "divmod", "float_power", "gcd", "lcm", "logical_not", "logical_xor"})
_IN_BFLOAT16 = frozenset({
    "array", "as_strided", "asarray", "ascontiguousarray", "astype", "atleast_1d", "atleast_2d",
    "broadcast_arrays", "broadcast_to", "concatenate", "conj", "conjugate", "copy", "copyto", "diagonal", "dot", "empty_like", "expand_dims", "fill", "flip",
    "full", "full_like", "max", "min", "moveaxis", "nan_to_num", "ones_like", "pad", "prod", "ravel", "repeat", "reduce", "reshape", "roll", "rollaxis", "rot90",
    "squeeze", "stack", "sum", "swapaxes", "take", "take_along_axis", "tensordot", "tile", "transpose", "tril", "triu", "view", "where",
    "zeros_like",
})  # fmt: skip
_PRODUCTS = frozenset({"dot", "matmul", "tensordot", "__matmul__", "__rmatmul__"})


def _wait() -> None:
    global waits
    waits += 1


class Flags:
    """The flags that CuPy's arrays have."""

    def __init__(self, data: np.ndarray) -> None:
        self.c_contiguous, self.f_contiguous = data.flags.c_contiguous, data.flags.f_contiguous
        self.owndata = data.flags.owndata

    def __getitem__(self, key: str) -> bool:
        return {"C_CONTIGUOUS": self.c_contiguous, "F_CONTIGUOUS": self.f_contiguous, "OWNDATA": self.owndata}[key]


def _refused(what: str) -> TypeError:
    return TypeError(f"{what}: an array on a device meets NumPy")


def _plain(x: Any, devices: list[int]) -> Any:
    """Return an argument of a function of the library for NumPy. devices: gets the devices of the arrays in it."""
    if type(x) is Array:
        devices.append(x.index)
        return x.data_
    if isinstance(x, np.ndarray):
        raise _refused("Unsupported type <class 'numpy.ndarray'>")
    if isinstance(x, (list, tuple)):
        return type(x)([_plain(y, devices) for y in x]) if not hasattr(x, "_fields") else x
    return x


def _lifted(x: Any, index: int) -> Any:
    """Return a result of NumPy as the library's."""
    if isinstance(x, (np.ndarray, np.generic)):
        return Array(np.asarray(x), index)
    if isinstance(x, tuple):
        parts = [_lifted(y, index) for y in x]
        return type(x)(*parts) if hasattr(x, "_fields") else tuple(parts)
    return [_lifted(y, index) for y in x] if isinstance(x, list) else x


def _run(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Call a function of NumPy on the library's arrays."""
    global launches
    devices: list[int] = []
    given = [_plain(x, devices) for x in args]
    named = {key: _plain(x, devices) for key, x in kwargs.items()}
    if len(set(devices)) > 1:
        raise ValueError(f"arrays of several devices: {sorted(set(devices))}")
    label = getattr(function, "__name__", "")
    if label in _REDUCTIONS and ("where" in named or "initial" in named):
        raise TypeError(f"{label}() got an unexpected keyword argument")
    _refuse_arguments(function, label, args, kwargs)
    if label == "as_strided":
        named.pop("subok", None)
    if label == "take":
        named.setdefault("mode", "wrap")  # CuPy raises for no index
    is_empty = label in _FACTORIZATIONS and not given[0].size
    if (label in _WAITING and not is_empty) or (label == "repeat" and type(args[1]) is Array):
        _wait()
    with np.errstate(all="ignore"):
        result = _computed(function, label, given, named)
    out = kwargs.get("out")
    found = _lifted(result, devices[0] if devices else _current) if out is None else out
    if label not in _VIEWS:
        launches += 1
        given_arrays, made = _arrays((args, tuple(kwargs.values()))), _arrays(found)
        writes = given_arrays[:1] if label in _WRITING or (label.startswith("__i") and label != "__invert__") else made
        _launch(label, given_arrays, writes)
    return found


def _arrays(x: Any) -> list[Array]:
    """Return the library's arrays in an argument or result."""
    if type(x) is Array:
        return [x]
    return [y for part in x for y in _arrays(part)] if isinstance(x, (tuple, list)) else []


def _launch(label: str, reads: Any, writes: Any) -> None:
    """Add a kernel to the current stream of the device of its arrays."""
    for x in (*reads, *writes):
        if x.index != _current:
            raise ValueError(
                f"Array device must be same as the current device: array device = {x.index} while current = {_current}."
            )
    current_stream().launch(label, reads, writes)


def _refuse_arguments(function: Any, label: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Raise TypeError for arguments that CuPy's function of this name refuses. tests/ops/test_cupy.py holds it against CuPy."""
    if isinstance(function, np.ufunc) and kwargs.keys() - {"out", "dtype", "casting"}:
        raise TypeError(f"Wrong arguments {kwargs}")
    if label in _LOGICAL and any(getattr(x, "dtype", np.dtype(bool)).kind == "c" for x in args):
        raise TypeError(f"Wrong type of arguments for {label}")
    if (label in _REDUCTIONS or label in ("cumsum", "cumprod")) and isinstance(args[0], (list, tuple)):
        raise TypeError(f"Argument 'a' has incorrect type (expected an array, got {type(args[0]).__name__})")
    if label == "where" and isinstance(args[0], bool):
        raise AttributeError("'bool' object has no attribute 'astype'")
    if label == "solve" and args[1].ndim > 1 and args[0].shape[:-1] != args[1].shape[:-1]:
        raise ValueError("a must have (..., M, M) shape and b must have (..., M, K) for multidimensional b")


def _computed(function: Any, label: str, given: list[Any], named: dict[str, Any]) -> Any:
    """Return the result of a function of NumPy. Products of 16-bit floats are added up in float32, as cuBLAS does."""
    arrays = [x for x in given if isinstance(x, np.ndarray)]
    if any(x.dtype.kind == "V" for x in arrays):
        _check_bfloat16(function, label, given)
    if label not in _PRODUCTS or any(x.dtype.itemsize != 2 or x.dtype.kind not in "fV" for x in arrays):
        return function(*given, **named)
    out = named.pop("out", None)
    found = np.asarray(function(*[x.astype(np.float32) for x in arrays], **named)).astype(arrays[0].dtype)
    if out is not None:
        out[...] = found
    return found


def _check_bfloat16(function: Any, label: str, given: list[Any]) -> None:
    """Raise an error for a function that CuPy does not compute in bfloat16."""
    if label in _PRODUCTS:
        is_known = all(x.ndim <= 2 for x in given if isinstance(x, np.ndarray))
    elif isinstance(function, np.ufunc):
        is_known = label not in _WITHOUT_BFLOAT16 and hasattr(np, label)
    else:
        is_known = label in _IN_BFLOAT16 or (label.startswith("__") and label != "__divmod__")
    if not is_known:
        raise TypeError(f"{label} does not take bfloat16")


class _Method:
    def __init__(self, name: str) -> None:
        self.name = name

    def __get__(self, instance: Any, owner: Any) -> Any:
        method = getattr(np.ndarray, self.name)
        return lambda *args, **kwargs: _run(method, (instance, *args), kwargs)


class Array:
    """An array on a device."""

    __slots__ = ("__weakref__", "accesses_", "data_", "index", "root_")
    __array_priority__ = 100

    def __init__(self, data: np.ndarray, index: int) -> None:
        self.data_, self.index, self.root_ = data, index, None
        self.accesses_: list[tuple[bool, int, int]] = []  # of an owner of memory: whether written, by which stream, its work until then
        if data.base is None:
            _owners.setdefault(id(data), self)
            if index in _peaks:
                memory_peaks(index)

    shape = property(lambda self: self.data_.shape)
    ndim = property(lambda self: self.data_.ndim)
    dtype = property(lambda self: self.data_.dtype)
    size = property(lambda self: self.data_.size)
    itemsize = property(lambda self: self.data_.itemsize)
    nbytes = property(lambda self: self.data_.nbytes)
    strides = property(lambda self: self.data_.strides)
    flags = property(lambda self: Flags(self.data_))
    T = property(lambda self: Array(self.data_.T, self.index))
    real = property(lambda self: Array(self.data_.real, self.index), lambda self, value: self.real.__setitem__(..., value))
    imag = property(lambda self: Array(self.data_.imag, self.index), lambda self, value: self.imag.__setitem__(..., value))
    base = property(lambda self: None if self.data_.base is None else Array(self.data_.base, self.index))

    def __dlpack_device__(self) -> tuple[int, int]:
        return 2, self.index

    def __dlpack__(self, **_: Any) -> Any:
        return Array(self.data_, self.index)  # stands for the capsule

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return {**self.data_.__array_interface__, "version": 3}

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise _refused("Implicit conversion to a NumPy array is not allowed")

    def __array_function__(self, function: Any, *_: Any) -> Any:
        raise _refused(f"numpy.{function.__name__}")

    def __array_ufunc__(self, ufunc: Any, *_: Any, **__: Any) -> Any:
        raise _refused(f"numpy.{ufunc.__name__}")

    def __len__(self) -> int:
        return len(self.data_)

    def __iter__(self) -> Iterator[Any]:
        _wait()
        return iter([self[i] for i in range(len(self))])

    def item(self, *args: int) -> Any:
        return to_host(self).item(*args)

    def tolist(self) -> Any:
        return to_host(self).tolist()

    def __bool__(self) -> bool:
        return bool(self.item())

    def __int__(self) -> int:
        return int(self.item())

    def __index__(self) -> int:
        return to_host(self).__index__()

    def __float__(self) -> float:
        return float(self.item())

    def __complex__(self) -> complex:
        return complex(self.item())

    def __getitem__(self, key: Any) -> Any:
        found = Array(np.asarray(self.data_[_index_of(key, self)]), self.index)
        if found.data_.base is None:  # else it is a view
            _launch("getitem", [self, *_arrays((key,))], [found])
        return found

    def __setitem__(self, key: Any, value: Any) -> None:
        devices = [self.index]
        self.data_[_index_of(key, self)] = _plain(value, devices)
        if len(set(devices)) > 1:
            raise ValueError("arrays of several devices")
        _launch("setitem", _arrays((key, value)), [self])

    def __repr__(self) -> str:
        return f"Array({self.data_!r}, cuda:{self.index})"


def _index_of(key: Any, array: Array) -> Any:
    """Return an index for NumPy."""
    return _plain(_wrapped(key, array), [array.index])


def _wrapped(key: Any, array: Array) -> Any:
    """Return an index in which ints of an array that are out of range name another element, as in CuPy."""
    given = key if isinstance(key, tuple) else (key,)
    taken = [item.ndim if isinstance(item, Array) and item.dtype.kind == "b" else int(item is not None) for item in given]
    result, dim = [], 0
    for item, n in zip(given, taken, strict=True):
        if item is Ellipsis:
            n = array.ndim - sum(taken) + 1
        elif isinstance(item, Array):
            if item.dtype.kind == "b":
                _wait()
            elif item.ndim and array.shape[dim]:
                item = Array(item.data_ % array.shape[dim], item.index)
        result.append(item)
        dim += n
    return tuple(result) if isinstance(key, tuple) else result[0]


def _operator(method: str) -> Any:
    def run(self: Array, other: Any) -> Any:
        if isinstance(other, np.ndarray):
            raise _refused("Unsupported type <class 'numpy.ndarray'>")
        if isinstance(other, TensorBase):  # CuPy takes its memory, or fails
            raise _refused("an array on the left of a tensor")
        if not isinstance(other, (Array, int, float, complex, bool, np.generic)):
            return NotImplemented
        result = _run(getattr(np.ndarray, method), (self, other), {})
        return self if method.startswith("__i") and method != "__invert__" else result

    return run


for _name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "and", "or", "xor", "lshift", "rshift"):
    for _prefix in ("", "r", "i"):
        setattr(Array, f"__{_prefix}{_name}__", _operator(f"__{_prefix}{_name}__"))
for _name in ("eq", "ne", "lt", "le", "gt", "ge", "divmod", "rdivmod"):
    setattr(Array, f"__{_name}__", _operator(f"__{_name}__"))
for _name in ("neg", "pos", "abs", "invert"):
    setattr(Array, f"__{_name}__", _Method(f"__{_name}__"))
for _name in _METHODS:
    setattr(Array, _name, _Method(_name))


def _diagonal(self: Array, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Array:
    found = self.data_.diagonal(offset, axis1, axis2)
    found.flags.writeable = True
    return Array(found, self.index)


Array.diagonal = _diagonal  # type: ignore[attr-defined]
Array.__hash__ = None  # type: ignore[assignment]

ndarray = Array


class _Ufunc:
    """A ufunc of the library: a call, and the methods that CuPy's ufunc of this name has."""

    def __init__(self, ufunc: Any) -> None:
        self.ufunc = ufunc
        self.__name__ = ufunc.__name__

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return _run(self.ufunc, args, kwargs)

    def __getattr__(self, method: str) -> Any:
        allowed = _UFUNC_METHODS.get(method, frozenset())
        if allowed is not None and self.__name__ not in allowed:
            raise NotImplementedError(f"{self.__name__}.{method}")
        if method == "at":

            def at(x: Array, key: Any, value: Any) -> None:
                if x.dtype.char not in _AT[self.__name__]:
                    raise TypeError(f"{self.__name__}.at takes no {x.dtype}")
                _run(self.ufunc.at, (x, _wrapped(key, x), value), {})

            return at
        return lambda *args, **kwargs: _run(getattr(self.ufunc, method), args, kwargs)


class _Module:
    """A part of the library: the functions of a module of NumPy or SciPy, on the library's arrays."""

    def __init__(self, module: Any, missing: frozenset[str] = frozenset()) -> None:
        self._module, self._missing = module, missing

    def __getattr__(self, attribute: str) -> Any:
        if attribute in self._missing:
            raise AttributeError(f"the library has no {attribute}")
        found = getattr(self._module, attribute)
        if isinstance(found, np.ufunc):
            return _Ufunc(found)
        if isinstance(found, type) or not callable(found):
            return found
        return lambda *args, **kwargs: _run(found, args, kwargs)


_numpy = _Module(np, _MISSING)
linalg = _Module(np.linalg, frozenset({"matrix_norm", "multi_dot", "svdvals", "vecdot", "vector_norm"}))
fft = _Module(np.fft)
class lib:
    """The part of numpy.lib that CuPy has."""

    stride_tricks = _Module(np.lib.stride_tricks)


integer, floating, bool_, inf, nan, pi, newaxis = np.integer, np.floating, np.bool_, np.inf, np.nan, np.pi, None


def __getattr__(attribute: str) -> Any:
    return getattr(_numpy, attribute)


# -- what every backend defines besides NumPy's words: see docs/backends.md -------------------------------------------


def special(function: str, on_host: Any) -> Any:
    """Return a function of scipy.special for the library's arrays. on_host(name): the function for NumPy's arrays."""
    found = on_host(function)

    def run(*operands: Any) -> Any:
        if function in _MISSING_SPECIAL:
            return from_host(np.asarray(found(*[to_host(x) if type(x) is Array else x for x in operands])))
        return _run(found, operands, {})

    return run


def _reference(kernel: Any, operands: Any, dtype: Any) -> tuple[list[np.ndarray], int]:
    """Return what a kernel computes, by NumPy, and the device."""
    global launches
    launches += 1
    devices: list[int] = []
    results = device_kernels.reference(kernel, [_plain(x, devices) for x in operands], dtype)
    if len(set(devices)) != 1:
        raise ValueError(f"arrays of several devices: {sorted(set(devices))}")
    return results, devices[0]


def run_kernel(kernel: Any, operands: Any, dtype: Any, outs: Any = None) -> tuple[Array, ...]:
    results, index = _reference(kernel, operands, dtype)
    if outs is None:
        outs = [Array(x, index) for x in results]
    else:
        for out, result in zip(outs, results, strict=True):
            out.data_[...] = result
    _launch(kernel.name, _arrays(tuple(operands)), outs)
    return tuple(outs)


def run_sum(kernel: Any, operands: Any, dtype: Any, axes: tuple[int, ...]) -> Array:
    (result,), index = _reference(kernel, operands, dtype)
    found = Array(np.asarray(result.sum(axis=axes, dtype=kernels.computed_in(dtype)).astype(dtype)), index)
    _launch(kernel.name, _arrays(tuple(operands)), [found])
    return found


def draw(kind: str, dtype: Any, shape: tuple[int, ...], seed: int, offset: int) -> Array:
    global launches
    launches += 1
    found = Array(philox.numbers(kind, dtype, shape, seed, offset), _current)
    _launch("draw", [], [found])
    return found


def draw_rejecting(kind: int, a: Array, b: Array, seed: int, offset: int) -> Array:
    global launches
    launches += 1
    found = Array(philox.rejecting_numbers(kind, a.data_, b.data_, seed, offset), a.index)
    _launch("draw_rejecting", [a, b], [found])
    return found


def start() -> None:
    """Do nothing: the library is always there."""


def device_count() -> int:
    return 2


def current_device() -> int:
    return _current


def set_current_device(index: int) -> None:
    global _current
    _current = index


@contextmanager
def current(index: int) -> Iterator[None]:
    global _current
    before, _current = _current, index
    try:
        yield
    finally:
        _current = before


def device_of(x: Array) -> int:
    return x.index


def from_dlpack(x: Any) -> Array:
    """Return an array on the memory of an object of another library."""
    found: Array = x.__dlpack__()
    return found


def to_host(x: Array) -> np.ndarray:
    with current(x.index):
        found = to_host_later(x)
        current_stream().synchronize()
    return found


def to_host_later(x: Array) -> np.ndarray:
    with current(x.index):
        _launch("to_host", [x], [])
    return x.data_.copy("K")


def from_host(x: np.ndarray, wait: bool = False) -> Array:
    found = Array(np.array(x, order="K", subok=False), _current)
    _launch("from_host", [], [found])
    if wait:
        current_stream().synchronize()
    return found


def move(x: Array, index: int) -> Array:
    found = Array(x.data_.copy("K"), index)
    with current(x.index):
        source, ready = current_stream(), Marker()
        ready.record(source)
    with current(index):
        target, done = current_stream(), Marker()
        target.wait_event(ready)
        target.launch("move", [x], [found])
        done.record(target)
    source.wait_event(done)
    return found


def asarray(x: Any, dtype: Any = None, order: Any = None) -> Array:
    if isinstance(x, np.ndarray):
        return Array(np.array(x, dtype), _current)
    return x if type(x) is Array and dtype is None else _run(np.asarray, (x,), {"dtype": dtype})


def array(x: Any, dtype: Any = None, **kwargs: Any) -> Array:
    if isinstance(x, np.ndarray):
        return Array(np.array(x, dtype, **kwargs), _current)
    return _run(np.array, (x,), {"dtype": dtype, **kwargs})


def copyto(target: Array, value: Any, **kwargs: Any) -> None:
    _run(np.copyto, (target, value), kwargs)


def cast(x: Array, dtype: Any) -> Array:
    with np.errstate(all="ignore"):
        found = Array(numpy_backend.cast(x.data_, dtype), x.index)
    _launch("cast", [x], [found])
    return found


def factor(x: Array, batched: bool = False) -> Array:
    return x.astype(np.float32) if batched and x.dtype.kind == "V" else x


def supports_bfloat16() -> bool:
    return True


def shares_memory(x: Array, y: Array) -> bool:
    return np.may_share_memory(x.data_, y.data_)


def sum_to_size(x: Array, shape: tuple[int, ...]) -> Array:
    found = Array(np.asarray(numpy_backend.sum_to_size(x.data_, shape)), x.index)
    if not np.may_share_memory(found.data_, x.data_):
        _launch("sum_to_size", [x], [found])
    return found


def owner_of(x: Array) -> Any:
    """Return what owns the memory of x: the same object for all views of one memory."""
    if x.root_ is not None:
        return x.root_
    data = memory.owner_of(x.data_)
    found = _owners.get(id(data))
    if found is None:
        found = _owners[id(data)] = Array(data, x.index)
    if found is not x:  # an array that held itself would be freed by the collector only
        x.root_ = found
    return found


def owns_memory(x: Array) -> bool:
    return bool(x.data_.flags.owndata)


def address_of(x: Array) -> int:
    return x.data_.__array_interface__["data"][0]


def synchronize(index: int | None = None) -> None:
    with current(_current if index is None else index):
        for stream in _queues:
            if stream.index == _current:
                _take(stream)
    _wait()


# -- streams -----------------------------------------------------------------------------------------------------------

# Work is done at once, but the clock of its stream says when a device would have done it. The program itself takes no time, but for
# waiting. Stream and event also know which work of other streams comes before. So an operation that reads or writes an array too
# early for the order of the streams is found, whatever the clocks say: it is a race.

races: list[str] = []  # work that did not wait for the other stream that had written, or was reading, its memory
cost = 1.0  # microseconds of a kernel on the fake clock
now = 0.0  # microseconds that the program has waited for
_host: dict[int, int] = {}  # how much work of each stream, by its number, the program has waited for
_streams: list[dict[int, Queue]] = [{}, {}]  # the current streams by thread, for each device
_numbers = count()


def _merge(target: dict[int, int], source: dict[int, int]) -> None:
    for number, work in source.items():
        target[number] = max(work, target.get(number, 0))


class Queue:
    """A stream of a device."""

    def __init__(self, priority: int = 0) -> None:
        self.priority = max(-5, min(0, priority))
        self.index, self.number, self.clock = _current, next(_numbers), 0.0
        self.ptr = self.number << 8
        _queues.add(self)
        self.before: dict[int, int] = {}  # how much work of each stream comes before the next work of this one

    def launch(self, label: str, reads: Any, writes: Any) -> None:
        """Add a kernel to the stream. reads, writes: arrays."""
        _merge(self.before, _host)
        work = self.before[self.number] = self.before.get(self.number, 0) + 1
        self.clock = max(self.clock, now) + cost
        for array, is_written in [*[(x, False) for x in reads], *[(x, True) for x in writes]]:
            entries = owner_of(array).accesses_
            for was_written, number, done in entries:
                if (was_written or is_written) and self.before.get(number, 0) < done:
                    races.append(f"{label} on stream {self.number} does not wait for stream {number}")
            entries[:] = [entry for entry in entries if entry[1] != self.number or (entry[0] and not is_written)]
            entries.append((is_written, self.number, work))

    @property
    def done(self) -> bool:
        return self.clock <= now

    def synchronize(self) -> None:
        _wait_for(self)

    def wait_event(self, event: Marker) -> None:
        self.clock = max(self.clock, event.clock)
        _merge(self.before, event.before)

    def record(self, event: Marker) -> Marker:
        event.record(self)
        return event


class Marker:
    """An event."""

    def __init__(self, timing: bool = False, blocking: bool = False) -> None:
        self.timing, self.clock, self.before = timing, 0.0, {}

    def record(self, stream: Queue) -> None:
        assert stream.index == _current, "an event is recorded in a stream of the current device"
        self.clock, self.before = max(stream.clock, now), dict(stream.before)

    @property
    def done(self) -> bool:
        return self.clock <= now

    def synchronize(self) -> None:
        _wait_for(self)


def _take(what: Queue | Marker) -> None:
    global now
    now = max(now, what.clock)
    _merge(_host, what.before)


def _wait_for(what: Queue | Marker) -> None:
    _wait()
    _take(what)


_queues: WeakSet[Queue] = WeakSet()
_default: list[Queue] = []  # streams that are current unless others are made so, by device
for _current in (1, 0):
    _default.insert(0, Queue())


def new_stream(priority: int = 0) -> Queue:
    return Queue(priority)


def external_stream(address: int) -> Queue:
    found = Queue()
    found.ptr = address
    return found


def default_stream() -> Queue:
    return _default[_current]


def current_stream() -> Queue:
    return _streams[_current].get(get_ident(), _default[_current])


def set_current_stream(stream: Queue) -> None:
    assert stream.index == _current, "a stream is used on its device"
    _streams[_current][get_ident()] = stream


def new_event(timing: bool = False, blocking: bool = False) -> Marker:
    return Marker(timing, blocking)


def elapsed_time(start: Marker, end: Marker) -> float:
    assert start.timing and end.timing and start.done and end.done, "CUDA refuses this"
    return (end.clock - start.clock) / 1000


def pinned(x: np.ndarray) -> np.ndarray:
    return x.copy("K")


def memory_used(index: int) -> tuple[int, int]:
    used = sum(x.nbytes for x in list(_owners.values()) if x.index == index)
    return used, used


_peaks: dict[int, int] = {}
_limits: dict[int, int] = {}


def memory_peaks(index: int) -> tuple[int, int]:
    found = _peaks[index] = max(_peaks.get(index, 0), memory_used(index)[0])
    return found, found


def reset_memory_peaks(index: int) -> None:
    _peaks[index] = memory_used(index)[0]


def memory_limit(index: int) -> int:
    return _limits.get(index, 0)


def set_memory_limit(index: int, size: int) -> None:
    _limits[index] = size


def can_access_peer(index: int, peer: int) -> bool:
    return index != peer


def blas_handle() -> int:
    return 1


class nvtx:
    """NVTX's functions, which note what they are told."""

    told: ClassVar[list[Any]] = []
    RangePush = RangeStart = Mark = RangeEnd = staticmethod(lambda x: nvtx.told.append(x) or len(nvtx.told))
    RangePop = staticmethod(lambda: nvtx.told.append("end"))


def memory_info(index: int) -> tuple[int, int]:
    total = 1 << 30
    return total - memory_used(index)[0], total


def empty_cache() -> None:
    pass


def properties(index: int) -> dict[str, Any]:
    return {"name": b"stand-in", "major": 9, "minor": 0, "totalGlobalMem": 1 << 30, "multiProcessorCount": 2, "warpSize": 32}


def leave() -> None:
    """Let tensors hold the arrays of NumPy alone."""
    selection.others.clear()
    selection.loaded.pop(name, None)
    selection._wrong.clear()
    if "wengert.core.streams" in sys.modules:
        sys.modules["wengert.core.streams"].stop()
    for streams in _streams:
        streams.clear()
    found, races[:] = races[:], []
    assert not found, found


@contextmanager
def in_use() -> Iterator[None]:
    """Let tensors hold the library's arrays in the block."""
    backend = sys.modules[__name__]
    selection.use(backend)
    try:
        yield
    finally:
        leave()
