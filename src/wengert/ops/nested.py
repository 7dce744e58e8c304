"""Arrays from user data (numbers, nested lists, NumPy arrays and scalars, tensors), with torch's dtypes.

Python ints become int64, floats the default dtype, complex numbers the default complex dtype. NumPy values and tensors
keep their dtype. A list that mixes them is promoted.
"""

from __future__ import annotations

from functools import reduce
from typing import Any

import numpy as np

from wengert import dtypes, errors
from wengert.backends.selection import backend_for, is_array, others, to_host
from wengert.core.binding import stand_ins
from wengert.core.leaving import warn_of_number
from wengert.core.modes import quiet_enter, quiet_exit
from wengert.core.tensor import TensorBase
from wengert.ops.indices import own_array

_NUMBERS = (bool, int, float, complex)


def array_of(data: Any, dtype: Any = None, *, integers_to_float: bool = False) -> Any:
    """Return a NumPy array of data. It may share memory with data if data is an array, a tensor or a buffer.

    dtype: a NumPy dtype, or None for the dtype of data. integers_to_float: Python ints become the default dtype if
    dtype is None.
    """
    kind = type(data)
    if kind is float or kind is int:
        return _array_of_numbers(data, {kind}, dtype, integers_to_float)
    if kind is list or kind is tuple:
        return _array_of_sequence(data, dtype, integers_to_float)
    if isinstance(data, TensorBase):
        data = data._array
    if not others and hasattr(type(data), "__cuda_array_interface__"):
        backend_for("cuda")
    if is_array(data):
        array = own_array(data)
        dtypes.from_numpy_dtype(array.dtype)  # raises for a dtype that no tensor can have
        return array if dtype is None or array.dtype == dtype else cast_array(array, dtype)
    if isinstance(data, np.generic):
        return array_of(np.asarray(data), dtype)
    if isinstance(data, (str, bytes)):
        raise errors.DtypeError(f"new(): invalid data type '{type(data).__name__}'")
    if isinstance(data, _NUMBERS):
        return _array_of_numbers(data, {stand_ins.get(kind, kind)}, dtype, integers_to_float)
    if not _is_sequence(data):
        if hasattr(data, "__array__") or hasattr(data, "__array_interface__"):
            return array_of(np.asarray(data), dtype)
        raise errors.ConversionError(f"Could not infer dtype of {type(data).__name__}")
    return _array_of_sequence(data, dtype, integers_to_float)


def _array_of_sequence(data: Any, dtype: Any, integers_to_float: bool) -> Any:
    kinds: set[type] = set()
    _collect_types(data, kinds)
    if not kinds.isdisjoint(stand_ins):
        kinds = {stand_ins.get(kind, kind) for kind in kinds}
    if kinds.issubset(_NUMBERS):
        return _array_of_numbers(data, kinds, dtype, integers_to_float)
    return _array_of_mixture(data, dtype)


def _is_sequence(data: Any) -> bool:
    return isinstance(data, (list, tuple)) or (
        hasattr(data, "__len__") and hasattr(data, "__getitem__") and not isinstance(data, (dict, set, str, bytes))
        and not hasattr(data, "__array__")
    )  # fmt: skip


def _collect_types(data: Any, kinds: set[type]) -> None:
    """Add the types of the leaves of a nested sequence to kinds."""
    found = set(map(type, data))
    for kind in found:
        if kind is float or kind is int:
            continue
        if issubclass(kind, (list, tuple)) or (kind not in _NUMBERS and any(_is_sequence(x) for x in data)):
            for item in data:
                if _is_sequence(item):
                    _collect_types(item, kinds)
                else:
                    kinds.add(type(item))
            return
    kinds |= found


def _array_of_numbers(data: Any, kinds: set[type], dtype: Any, integers_to_float: bool) -> Any:
    """Return an array of Python numbers. kinds: the types of the numbers."""
    if dtype is None:
        if complex in kinds:
            dtype = dtypes.get_default_complex_dtype().dtype
        elif float in kinds or not kinds or (integers_to_float and int in kinds):
            dtype = dtypes.get_default_dtype().dtype
        else:
            dtype = dtypes.as_numpy_dtype(int if int in kinds else bool)
    quiet_enter()
    try:
        return np.array(data if isinstance(data, (list, tuple, *_NUMBERS)) else list(data), dtype)
    except OverflowError:
        if dtype == np.int64:
            raise errors.ElementError("Overflow when unpacking long long") from None
        raise errors.value_overflow(dtypes.from_numpy_dtype(dtype).name) from None
    except TypeError:
        if complex in kinds:
            raise errors.DtypeError("must be real number, not complex") from None
        raise _ragged_error(data) or errors.DtypeError("a number was expected") from None
    except ValueError:
        ragged = _ragged_error(data)
        if ragged is not None:
            raise ragged from None
        raise errors.value_overflow(dtypes.from_numpy_dtype(dtype).name) from None  # NaN as an integer
    finally:
        quiet_exit()


def _ragged_error(data: Any, dim: int = 0) -> Exception | None:
    """Return torch's error for a nested sequence whose rows differ in length, or None if they do not."""
    if not _is_sequence(data) or not len(data) or not any(_is_sequence(x) for x in data):
        return None
    length = len(data[0]) if _is_sequence(data[0]) else 0
    for item in data:
        if not _is_sequence(item):
            return errors.DtypeError(
                f"expected a sequence of length {length} at dim {dim + 1} (got {type(item).__name__})"
            )
        if len(item) != length:
            return errors.ElementError(f"expected sequence of length {length} at dim {dim + 1} (got {len(item)})")
    return next((found for found in [_ragged_error(item, dim + 1) for item in data] if found is not None), None)


def _array_of_mixture(data: Any, dtype: Any) -> Any:
    """Return an array of a nested sequence that holds arrays, tensors or NumPy scalars."""
    found: list[Any] = []
    plain = _tensors_to_arrays(data, found)
    if dtype is None:
        dtype = reduce(dtypes.promote_types, found).dtype
    try:
        return np.array(plain, dtype)
    except ValueError:
        raise errors.ElementError("only one element tensors can be converted to Python scalars") from None


def _tensors_to_arrays(data: Any, found: list[Any]) -> Any:
    """Return data with each tensor replaced by its array, 0-d if it has one element. Append the leaves' dtypes to found."""
    if isinstance(data, TensorBase):
        warn_of_number(data)
        data = to_host(data._array.reshape(()) if data._array.size == 1 else data._array)
    if (is_array(data) or isinstance(data, np.generic)):
        found.append(dtypes.from_numpy_dtype(data.dtype))
        return data
    if isinstance(data, _NUMBERS):
        found.append(dtypes.python_number_dtype(data))
        return data
    if _is_sequence(data):
        return [_tensors_to_arrays(item, found) for item in data]
    if isinstance(data, (str, bytes)):
        raise errors.DtypeError(f"new(): invalid data type '{type(data).__name__}'")
    raise errors.ConversionError(f"Could not infer dtype of {type(data).__name__}")


def cast_array(array: Any, dtype: Any) -> Any:
    """Cast an array without NumPy's warnings. A cast from complex to real takes the real part."""
    if array.dtype.kind == "c" and np.dtype(dtype).kind not in "cb":
        array = array.real
    quiet_enter()
    try:
        return array.astype(dtype)
    finally:
        quiet_exit()
