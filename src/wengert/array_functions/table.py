"""The table of NumPy's functions that tensors run, and what the functions of this package have in common."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from wengert import dtypes, errors
from wengert.core.tensor import TensorBase
from wengert.devices import is_default_cpu
from wengert.ops import function
from wengert.ops.indices import as_tensor


class Namespace:
    """The public functions of a namespace, as attributes: w.sum is wengert.sum."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        found = function(self._name, name)
        if found is None:
            raise AttributeError(f"no function {name!r} in the namespace {self._name!r}")
        setattr(self, name, found)
        return found


w, fft, linalg, special = [Namespace(name) for name in ("", "fft", "linalg", "special")]

FUNCTIONS: dict[Any, Callable[..., Any]] = {}
METHODS: set[Any] = set()  # the functions in FUNCTIONS that arrays have as a method too


# Functions that ask about tensors, or whose results are integers and conditions. They have no derivative.
PLAIN: set[Any] = set()


def of(*functions: Any, method: bool = False) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register a function that runs these functions of NumPy. It has their parameters."""

    def register(ours: Callable[..., Any]) -> Callable[..., Any]:
        FUNCTIONS.update(dict.fromkeys(functions, ours))
        if method:
            METHODS.update(functions)
        return ours

    return register


def since(name: str) -> tuple[Any, ...]:
    """Return the function of NumPy with this name, if this version of NumPy has it."""
    return (getattr(np, name),) if hasattr(np, name) else ()


# -- arguments ---------------------------------------------------------------------------------------------------------


def ints(x: Any) -> tuple[int, ...]:
    """Return a shape or axes as a tuple. One number stands for a tuple of it."""
    return (x,) if type(x) is int else (int(x),) if isinstance(x, (int, np.integer)) else tuple([int(i) for i in x])


_SEQUENCES = frozenset((list, tuple))


def operand(x: Any) -> Any:
    """Return x as an operand: lists and tuples become arrays."""
    return np.asarray(x) if type(x) in _SEQUENCES else x


def rebuilt(sequence: Any, items: list[Any]) -> Any:
    """Return a list, tuple or named tuple of the class of a sequence."""
    kind = type(sequence)
    return kind(*items) if hasattr(sequence, "_fields") else kind(items)


def memory(x: Any) -> Any:
    """Return x with each tensor replaced by its memory. Raises RuntimeError if a tensor is differentiated."""
    if isinstance(x, TensorBase):
        return x.numpy()  # type: ignore[attr-defined]  # a TensorBase is a Tensor
    if isinstance(x, (list, tuple)):
        return rebuilt(x, [memory(item) for item in x])
    return x


def detached(x: Any) -> Any:
    """Return x with each tensor replaced by its memory, whether it requires grad or not."""
    if isinstance(x, TensorBase):
        return x.numpy(force=True)  # type: ignore[attr-defined]
    return rebuilt(x, [detached(item) for item in x]) if isinstance(x, (list, tuple)) else x


def tensor(x: Any) -> Any:
    """Return x as a tensor. A list or tuple may hold tensors: they are stacked."""
    if isinstance(x, TensorBase):
        return x
    if type(x) is np.ndarray and is_default_cpu():
        return as_tensor(x)
    if isinstance(x, (list, tuple)) and holds_tensor(x):
        return w.stack(promoted(*x))
    return w.as_tensor(np.asarray(x) if isinstance(x, (list, tuple)) else x)


def holds_tensor(values: Iterable[Any]) -> bool:
    """Whether a tensor is among the values, or in a list of them."""
    for x in values:  # noqa: SIM110  # any() of a generator takes three times as long
        if isinstance(x, TensorBase) or (isinstance(x, (list, tuple)) and holds_tensor(x)):
            return True
    return False


def tensors(arrays: Iterable[Any]) -> list[Any]:
    return [x if isinstance(x, TensorBase) else tensor(x) for x in arrays]


def promoted(*values: Any) -> list[Any]:
    """Return the values as tensors of their promoted dtype. torch's products and joins need one dtype, NumPy's do not."""
    found = tensors(values)
    first = found[0]._array.dtype
    for x in found:
        if x._array.dtype is not first:
            break
    else:
        return found
    dtype = found[0].dtype
    for x in found[1:]:
        if x.dtype is not dtype:
            dtype = dtypes.promote_types(dtype, x.dtype)
    return [x if x.dtype is dtype else x.to(dtype) for x in found]


def pair(a: Any, b: Any) -> Any:
    """Return promoted(a, b), which is short work for tensors of one dtype."""
    if isinstance(a, TensorBase) and isinstance(b, TensorBase) and a._array.dtype is b._array.dtype:
        return a, b
    return promoted(a, b)


def floating(x: Any) -> Any:
    """Return x as a tensor of a floating or complex dtype: integers become the default dtype."""
    x = tensor(x)
    if x._array.dtype.kind in "fc":
        return x
    dtype = x.dtype
    return x if dtype.is_floating_point or dtype.is_complex else x.to(dtypes.get_default_dtype())


def dtype_of(dtype: Any) -> dtypes.dtype:
    """Return a dtype as NumPy spells it, or one of ours, as one of ours. float stands for float64, as in NumPy."""
    return dtype if isinstance(dtype, dtypes.dtype) else dtypes.from_numpy_dtype(np.dtype(dtype))


def vectors(a: Any, b: Any) -> Any:
    """Return a and b as flat tensors of their promoted dtype."""
    a, b = found = pair(a, b)
    return found if a._array.ndim == b._array.ndim == 1 else [x if x.ndim == 1 else w.ravel(x) for x in found]


def part(x: Any, axis: int, *bounds: int | None) -> Any:
    """Return x[start:stop:step] along an axis."""
    return x[(slice(None),) * (axis % x.ndim) + (slice(*bounds),)]


def pick(x: Any, index: Any, axis: int) -> Any:
    """Return the elements of x at these places of an axis."""
    return x[(slice(None),) * (axis % x.ndim) + (index,)]


def checked_axis(axis: int, ndim: int) -> int:
    """Return an axis counted from the first. Raises numpy.exceptions.AxisError if there is no such axis."""
    return np.lib.array_utils.normalize_axis_index(axis, ndim)


def unsupported_arguments(function: str, given: list[str]) -> Exception:
    """The error for a call of a function of NumPy with arguments that the operation does not take. given: their names."""
    named = f" with {', '.join(given)}" if given else " in this way"
    return errors.ArgumentError(
        f"numpy.{function} cannot be called{named} on a Tensor that requires grad or has a tangent. Hint: call the "
        "operation of wengert, or detach the tensor first."
    )
