"""default_collate makes a batch of a list of samples; default_convert makes tensors of the arrays in one sample.

>>> from wengert.utils.data import default_collate
>>> default_collate([{"x": 1.0, "name": "a"}, {"x": 2.0, "name": "b"}])
{'x': tensor([1., 2.], dtype=torch.float64), 'name': ['a', 'b']}
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, MutableMapping, MutableSequence, Sequence
from copy import copy
from typing import Any

import numpy

from wengert.core.tensor import TensorBase
from wengert.dtypes import float64
from wengert.ops import function
from wengert.tensor import Tensor

__all__ = ["collate", "default_collate", "default_collate_fn_map", "default_convert"]

CollateMap = dict[type | tuple[type, ...], Callable[..., Any]]

default_collate_err_msg_format = "default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; found {}"
np_str_obj_array_pattern = re.compile(r"[SaUO]")
_as_tensor: Any = function("", "as_tensor")
_tensor: Any = function("", "tensor")
_stack: Any = function("", "stack")


def _is_namedtuple(x: Any) -> bool:
    return isinstance(x, tuple) and hasattr(x, "_fields")


def _rebuilt_mapping(like: Mapping, values: dict) -> Any:
    """Return a mapping of the class of `like` with these values, or a dict if the class cannot be built so."""
    try:
        if isinstance(like, MutableMapping):
            found = copy(like)
            found.update(values)
            return found
        return type(like)(values)  # type: ignore[call-arg]  # the constructors of most mappings take a dict
    except TypeError:
        return values


def _rebuilt_sequence(like: Sequence, values: list) -> Any:
    """Return a sequence of the class of `like` with these values, or a list if the class cannot be built so."""
    try:
        if isinstance(like, MutableSequence):
            found = copy(like)
            for i, value in enumerate(values):
                found[i] = value
            return found
        return values if isinstance(like, range) else type(like)(values)  # type: ignore[call-arg]
    except TypeError:
        return values


def default_convert(data: Any) -> Any:
    """Return data with each NumPy array and NumPy number as a tensor, which shares the memory of an array.

    Mappings, named tuples and sequences are converted element by element; a tuple becomes a list. Arrays of strings or objects,
    and everything else, stay as they are. It is the collate_fn of a DataLoader that makes no batches (batch_size=None).
    """
    if isinstance(data, TensorBase):
        return data
    if type(data).__module__ == "numpy":
        if isinstance(data, numpy.ndarray):
            return data if np_str_obj_array_pattern.search(data.dtype.str) else _as_tensor(data)
        return data if isinstance(data, str) else _as_tensor(data)
    if isinstance(data, Mapping):
        return _rebuilt_mapping(data, {key: default_convert(data[key]) for key in data})
    if _is_namedtuple(data):
        return type(data)(*[default_convert(x) for x in data])
    if isinstance(data, tuple):
        return [default_convert(x) for x in data]
    if isinstance(data, Sequence) and not isinstance(data, (str, bytes)):
        return _rebuilt_sequence(data, [default_convert(x) for x in data])
    return data


def collate(batch: Any, *, collate_fn_map: CollateMap | None = None) -> Any:
    """Make a batch of a list of samples.

    collate_fn_map: for a class, or a tuple of classes, a function f(batch, *, collate_fn_map) that makes a batch of samples of
    the class. The class of the first sample decides: first the class itself is looked up, then the first class in the map of
    which the sample is an instance. Mappings, named tuples and sequences are collated element by element.

    Raises TypeError for a first sample of another class, and RuntimeError for sequences of different lengths.
    """
    first = batch[0]
    cls = type(first)
    if collate_fn_map is not None:
        if cls in collate_fn_map:
            return collate_fn_map[cls](batch, collate_fn_map=collate_fn_map)
        for known in collate_fn_map:
            if isinstance(first, known):
                return collate_fn_map[known](batch, collate_fn_map=collate_fn_map)
    if isinstance(first, Mapping):
        columns = {key: collate([sample[key] for sample in batch], collate_fn_map=collate_fn_map) for key in first}
        return _rebuilt_mapping(first, columns)
    if _is_namedtuple(first):
        return cls(*[collate(column, collate_fn_map=collate_fn_map) for column in zip(*batch)])
    if isinstance(first, Sequence):
        size = len(first)
        if any(len(sample) != size for sample in batch):
            raise RuntimeError("each element in list of batch should be of equal size")
        found = [collate(column, collate_fn_map=collate_fn_map) for column in zip(*batch)]
        return found if isinstance(first, tuple) else _rebuilt_sequence(first, found)
    raise TypeError(default_collate_err_msg_format.format(cls))


def collate_tensor_fn(batch: Any, *, collate_fn_map: CollateMap | None = None) -> Any:
    """Stack tensors of one shape along a new first dimension."""
    return _stack(batch, 0)


def collate_numpy_array_fn(batch: Any, *, collate_fn_map: CollateMap | None = None) -> Any:
    """Stack NumPy arrays of one shape. Raises TypeError for arrays of strings or objects."""
    dtype = batch[0].dtype
    if np_str_obj_array_pattern.search(dtype.str):
        raise TypeError(default_collate_err_msg_format.format(dtype))
    return collate([_as_tensor(array) for array in batch], collate_fn_map=collate_fn_map)


def collate_numpy_scalar_fn(batch: Any, *, collate_fn_map: CollateMap | None = None) -> Any:
    """Make a vector of NumPy numbers, of their dtype."""
    return _as_tensor(batch)


def collate_float_fn(batch: Any, *, collate_fn_map: CollateMap | None = None) -> Any:
    """Make a float64 vector of floats."""
    return _tensor(batch, dtype=float64)


def collate_int_fn(batch: Any, *, collate_fn_map: CollateMap | None = None) -> Any:
    """Make a vector of ints, or of bools."""
    return _tensor(batch)


def collate_str_fn(batch: Any, *, collate_fn_map: CollateMap | None = None) -> Any:
    """Return the samples as they are: strings and bytes form no tensor."""
    return batch


default_collate_fn_map: CollateMap = {
    Tensor: collate_tensor_fn,
    numpy.ndarray: collate_numpy_array_fn,
    (numpy.bool_, numpy.number, numpy.object_): collate_numpy_scalar_fn,
    float: collate_float_fn,
    int: collate_int_fn,
    str: collate_str_fn,
    bytes: collate_str_fn,
}


def default_collate(batch: Any) -> Any:
    """Make a batch of a list of samples: the collate_fn of a DataLoader that makes batches.

    Tensors and NumPy arrays are stacked along a new first dimension. NumPy numbers form a vector of their dtype, floats one of
    float64, ints and bools one of their default dtype. Strings and bytes stay a list. Mappings, named tuples and sequences are
    collated element by element; a tuple becomes a list. default_collate_fn_map has the function of each class; add to it to
    collate other classes.

    Raises TypeError for other classes, and RuntimeError for different shapes or lengths.
    """
    return collate(batch, collate_fn_map=default_collate_fn_map)
