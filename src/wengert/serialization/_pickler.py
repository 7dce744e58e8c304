"""Pickler for save(): tensors and objects of this package as torch pickles them, with torch's names."""

from __future__ import annotations

import pickle
from collections import OrderedDict
from types import BuiltinFunctionType, FunctionType
from typing import Any

from wengert import devices, dtypes, errors, layouts
from wengert.core.hooks import warn_if_has_hooks
from wengert.core.leaving import has_tangent
from wengert.core.mirrors import CONJUGATE, NEGATIVE, physical_of, relation_of
from wengert.core.relocation import MissingMemory
from wengert.core.tensor import TensorBase
from wengert.generator import Generator
from wengert.kernels.memory import bounds_of, offset_of, owner_of
from wengert.nn.parameter import Parameter, UninitializedTensorMixin
from wengert.serialization import _names, _rebuild
from wengert.serialization._locations import location_tag
from wengert.sizes import Size
from wengert.storage import TypedStorage, UntypedStorage
from wengert.storage._typed import legacy_class_of, typed_storage
from wengert.storage._untyped import storage_of
from wengert.tensor import Tensor


class SavedStorages:
    """The storages of the objects that are pickled: each once, with a key, whatever number of tensors share it."""

    def __init__(self, legacy: bool) -> None:
        self.legacy = legacy  # the format before 1.6, which has a sixth field
        self.found: dict[int, tuple[str, UntypedStorage, Any]] = {}

    def persistent_id(self, storage: Any) -> tuple[Any, ...]:
        """Return the tuple by which a pickle refers to a storage."""
        untyped = storage.untyped()
        dtype = storage.dtype if isinstance(storage, TypedStorage) else None
        key, _, first = self.found.setdefault(id(untyped), (str(len(self.found)), untyped, dtype))
        if first is not dtype and None not in (first, dtype):
            raise errors.ConversionError(
                "Cannot save multiple tensors or storages that view the same data as different types"
            )
        kind = UntypedStorage if dtype is None else legacy_class_of(dtype)
        identity = ("storage", kind, key, location_tag(storage), len(storage))
        return (*identity, None) if self.legacy else identity

    def storages(self) -> list[tuple[str, UntypedStorage, Any]]:
        """Return key, storage and dtype of each storage, in the order of the keys."""
        return list(self.found.values())


def _parts_of(tensor: Any) -> tuple[Any, int, tuple[int, ...], tuple[int, ...]]:
    """Return storage, offset, shape and strides of a tensor, in elements.

    What these cannot express (negative strides, elements that are not a multiple apart) is copied first."""
    array = physical_of(tensor)
    if isinstance(array, MissingMemory):
        array._refuse()
    root, step = owner_of(array), array.itemsize
    fits = all(s >= 0 and s % step == 0 for s in array.strides) and offset_of(array, root) % step == 0
    if not fits or bounds_of(root)[0] % min(step, 8):
        array = root = array.copy(order="C")
    strides = tuple([s // step for s in array.strides])
    return storage_of(array), offset_of(array, root) // step, array.shape, strides


def reduce_tensor(tensor: Any) -> tuple[Any, ...]:
    """Return the function and the arguments that make the tensor again: those of torch."""
    if has_tangent(tensor):
        tensor._check_no_tangent("pickle")
    if tensor._leaf_hooks:
        warn_if_has_hooks(tensor)
    storage, offset, shape, strides = _parts_of(tensor)
    dtype = dtypes.from_numpy_dtype(tensor._array.dtype)
    is_parameter = type(tensor) is Parameter
    common: tuple[Any, ...] = (offset, shape, strides, False if is_parameter else tensor.requires_grad, OrderedDict())
    bits = {name: True for name, bit in (("conj", CONJUGATE), ("neg", NEGATIVE)) if relation_of(tensor) & bit}
    function: Any = _rebuild._rebuild_tensor_v2
    arguments: tuple[Any, ...]
    if legacy_class_of(dtype) is None:
        function, arguments = _rebuild._rebuild_tensor_v3, (storage, *common, dtype)
    else:
        arguments = (typed_storage(storage, dtype), *common)
    if bits:
        arguments = (*arguments, bits)
    state = dict(tensor.__dict__)
    if is_parameter:
        data = _Call(function, arguments)
        own: tuple[Any, ...] = (data, tensor.requires_grad, OrderedDict())
        return (_rebuild._rebuild_parameter_with_state, (*own, state)) if state else (_rebuild._rebuild_parameter, own)
    slots = _slots_of(tensor)
    if type(tensor) is Tensor and not state:
        return function, arguments
    return _rebuild._rebuild_from_type_v2, (function, type(tensor), arguments, (state, slots) if slots else state or None)


def _slots_of(tensor: Any) -> dict[str, Any]:
    """Return the values that a user's subclass keeps in slots."""
    names = [name for cls in type(tensor).__mro__ if not issubclass(Tensor, cls) for name in vars(cls).get("__slots__", ())]
    return {name: getattr(tensor, name) for name in names if not name.startswith("__") and hasattr(tensor, name)}


class _Call:
    """Stands in a pickle for the result of a call."""

    def __init__(self, function: Any, arguments: tuple[Any, ...]) -> None:
        self.parts = function, arguments

    def __reduce_ex__(self, protocol: Any) -> Any:
        return self.parts


def _reduce(obj: Any) -> Any:
    """Return how an object of this package is pickled where torch's way differs from its own, else NotImplemented."""
    kind = type(obj)
    if isinstance(obj, TensorBase):
        held: Any = obj
        if isinstance(obj, UninitializedTensorMixin):
            return kind, (held.requires_grad,)
        # A class of the user may say itself how it is pickled.
        is_usual = kind.__reduce_ex__ is Tensor.__reduce_ex__ and kind.__reduce__ is Tensor.__reduce__
        return reduce_tensor(held) if is_usual else NotImplemented
    if isinstance(obj, dtypes.dtype):
        return obj.name
    if kind is Size:
        return Size, (tuple(obj),)
    if kind is devices.device:
        return devices.device, (obj.type,) if obj.index is None else (obj.type, obj.index)
    if kind is layouts.layout:
        return _rebuild._get_layout, (repr(obj),)
    if kind is Generator:
        return Generator, (obj.device,), (obj.initial_seed(), None, obj.get_state())
    return NotImplemented


class _TorchPickling:
    """What a pickler does with objects of this package. Mixed into the Pickler of a pickle module."""

    saved: SavedStorages

    def persistent_id(self, obj: Any) -> Any:
        """Return the identity of a storage, or None for other objects, which are pickled."""
        return self.saved.persistent_id(obj) if isinstance(obj, (TypedStorage, UntypedStorage)) else None

    def reducer_override(self, obj: Any) -> Any:
        """Return how an object is pickled, or NotImplemented for the usual way."""
        return _reduce(obj)


_Pickler: Any = getattr(pickle, "_Pickler")  # noqa: B009 (typing knows no such name)


class TorchPickler(_TorchPickling, _Pickler):
    """Python's pickler, written in Python, with torch's names for classes and functions of this package.

    The pickler written in C insists on finding a class under the name that it writes."""

    def save_global(self, obj: Any, name: str | None = None) -> None:
        """Write the name of a class, function or dtype."""
        found = _names.torch_name(obj, name)
        if found is None or ("." in found[1] and self.proto < 4):
            super().save_global(obj, name)
            return
        if self.proto >= 4:
            self.save(found[0])
            self.save(found[1])
            self.write(pickle.STACK_GLOBAL)
        else:
            self.write(pickle.GLOBAL + f"{found[0]}\n{found[1]}\n".encode())
        self.memoize(obj)

    # Looked up by type, not by name.
    dispatch = {**_Pickler.dispatch, FunctionType: save_global, BuiltinFunctionType: save_global}


def pickle_into(file: Any, obj: Any, saved: SavedStorages, pickle_module: Any, protocol: int) -> None:
    """Write the pickle of an object. A pickle module other than Python's writes names of this package as they are."""
    if pickle_module is pickle:
        pickler: Any = TorchPickler(file, protocol)
    else:
        pickler = type("Pickler", (_TorchPickling, pickle_module.Pickler), {})(file, protocol)
    pickler.saved = saved
    pickler.dump(obj)
