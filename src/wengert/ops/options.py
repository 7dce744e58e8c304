"""Arguments shared by the functions that create tensors: sizes, dtype=, device=, requires_grad= and out=."""

from __future__ import annotations

from operator import index as as_int
from typing import Any

from wengert import dtypes, errors
from wengert.backends.selection import move
from wengert.core.tensor import TensorBase, is_differentiable, wrap
from wengert.core.views import store_out
from wengert.devices import check_device as check_device, is_default_cpu as is_default_cpu, place_of as place_of

_IGNORED = frozenset({"layout", "pin_memory", "memory_format"})


def tensor_from(op: str, array: Any, options: dict[str, Any]) -> Any:
    """Return the tensor of a new array, with device=, requires_grad= and out= of a creation function applied.

    Raises TypeError for an option that creation functions do not have."""
    if not options and is_default_cpu():
        return wrap(array)
    requires_grad = options.pop("requires_grad", False)
    array = move(array, place_of(options.pop("device", None)))
    out = options.pop("out", None)
    for name in options:
        if name not in _IGNORED:
            raise errors.unexpected_keyword(op, name)
    if out is not None:
        if not isinstance(out, TensorBase):
            raise errors.wrong_argument_type(op, "out", None, type(out))
        store_out(out, array)
        return out
    tensor = wrap(array)
    if requires_grad:
        if not is_differentiable(array):
            raise errors.integer_requires_grad(dtype=array.dtype)
        tensor._requires_grad = True
    return tensor


def numpy_dtype(dtype: Any) -> Any:
    """Return the NumPy dtype of a dtype= argument; the default dtype for None."""
    return dtypes.as_numpy_dtype(dtype)


def place_and_dtype(kind: Any) -> tuple[str | None, Any]:
    """Return the type of device and the dtype of a legacy tensor type: of "torch.cuda.FloatTensor" or of its class.

    A dtype, and a dtype's name, say nothing of a device."""
    if isinstance(kind, str):
        for d in dtypes.DTYPES:
            if kind == repr(d):
                return None, d
            for place in ("cpu", "cuda"):
                if kind == dtypes.legacy_type_name(d, place):
                    return place, d
        raise errors.ElementError(f"invalid type: '{kind}'")
    return getattr(kind, "device_type", None), getattr(kind, "dtype", kind)


def sizes_of(op: str, args: tuple, size: Any = None) -> tuple[int, ...]:
    """Return the sizes in f(2, 3), f((2, 3)) or f(size=(2, 3)) as a tuple of ints.

    Raises TypeError for sizes that are missing or no ints, RuntimeError for a negative size."""
    if not args:
        if size is None:
            raise errors.missing_argument(op, "size")
        args = (size,)
    if len(args) == 1 and isinstance(args[0], (tuple, list)):
        args = tuple(args[0])
    elif len(args) > 1 and isinstance(args[0], (tuple, list)):
        raise errors.too_many_arguments(op, 1, len(args))
    for item in args:
        if type(item) is not int:
            args = _sizes_as_ints(op, args)
            break
    if args and min(args) < 0:
        raise errors.ShapeError(f"{op}: Dimension size must be non-negative.")
    return args


def _sizes_as_ints(op: str, sizes: tuple) -> tuple[int, ...]:
    """Convert sizes to ints, from NumPy integers and 0-d tensors for instance."""
    found = []
    for position, item in enumerate(sizes):
        try:
            found.append(as_int(item))
        except TypeError:
            raise errors.wrong_argument_type(op, "size", position, type(item), "tuple of ints") from None
    return tuple(found)


def as_size_tuple(args: tuple, given: Any, op: str, argument: str) -> tuple:
    """Return the sizes in f(2, 3), f((2, 3)) or f(size=(2, 3)) as a tuple. Raises TypeError if they are missing."""
    if not args:
        if given is None:
            raise errors.missing_argument(op, argument)
        args = (given,)
    if len(args) == 1 and not isinstance(args[0], int):
        first = args[0]
        if isinstance(first, (tuple, list)):
            return tuple(first)
        try:
            return (as_int(first),)
        except TypeError:
            raise errors.wrong_argument_type(op, argument, 0, type(first), "tuple of ints") from None
    return args
