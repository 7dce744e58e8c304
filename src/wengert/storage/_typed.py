"""TypedStorage, and FloatStorage and its like: storages whose elements have a dtype. torch deprecates them."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from wengert import dtypes, errors
from wengert.core.stacks import user_level
from wengert.devices import device
from wengert.storage._untyped import UntypedStorage, checked_index, format_elements

# Name of the legacy class of each dtype. Other dtypes have untyped storages only.
CLASS_NAMES = {
    "float64": "DoubleStorage", "float32": "FloatStorage", "float16": "HalfStorage", "bfloat16": "BFloat16Storage",
    "int64": "LongStorage", "int32": "IntStorage", "int16": "ShortStorage", "int8": "CharStorage", "uint8": "ByteStorage",
    "bool": "BoolStorage", "complex64": "ComplexFloatStorage", "complex128": "ComplexDoubleStorage",
}  # fmt: skip
_CONVERSIONS = {
    "double": dtypes.float64, "float": dtypes.float32, "half": dtypes.float16, "bfloat16": dtypes.bfloat16,
    "long": dtypes.int64, "int": dtypes.int32, "short": dtypes.int16, "char": dtypes.int8, "byte": dtypes.uint8,
    "bool": dtypes.bool_, "complex_float": dtypes.complex64, "complex_double": dtypes.complex128,
}  # fmt: skip

_warned = False


def warn_of_typed_storage() -> None:
    """Warn, once in a process, that typed storages are deprecated."""
    global _warned
    if not _warned:
        _warned = True
        warnings.warn(
            "TypedStorage is deprecated. It will be removed in the future and UntypedStorage will be the only storage class. "
            "This should only matter to you if you are using storages directly.  To access UntypedStorage directly, use "
            "tensor.untyped_storage() instead of tensor.storage()",
            UserWarning,
            stacklevel=user_level(),
        )



class TypedStorage:
    """Memory of elements of one dtype. Deprecated in torch: an UntypedStorage and a tensor serve better.

    TypedStorage(n), TypedStorage(sequence) or TypedStorage(wrap_storage=untyped), each with dtype=, of float32 if it is not given.
    """

    __slots__ = ("__weakref__", "_dtype", "_untyped_storage")

    is_hpu = is_sparse = False
    _dtype: Any
    _untyped_storage: UntypedStorage

    def __new__(
        cls, *args: Any, wrap_storage: Any = None, dtype: Any = None, device: Any = None, _internal: bool = False
    ) -> TypedStorage:
        if not _internal:
            warn_of_typed_storage()
        if len(args) > 1 or (wrap_storage is not None and (args or dtype is None)):
            found = "Too many positional arguments" if len(args) > 1 else "Argument 'dtype' must be specified"
            raise errors.ShapeError(
                "TypedStorage.__init__ received an invalid combination of arguments. Expected one of:\n"
                " * (*, torch.device device, torch.dtype dtype)\n * (int size, *, torch.device device, torch.dtype dtype)\n"
                " * (Sequence data, *, torch.device device, torch.dtype dtype)\n"
                f" * (*, UntypedStorage wrap_storage, torch.dtype dtype)\n{found}"
            )
        storage = object.__new__(TypedStorage)
        storage._dtype = dtypes.as_dtype(dtype)
        if wrap_storage is not None:
            if not isinstance(wrap_storage, UntypedStorage):
                raise TypeError(f"Argument 'wrap_storage' must be UntypedStorage, but got {type(wrap_storage)}")
            storage._untyped_storage = wrap_storage
            return storage
        storage._untyped_storage = _new_untyped(args[0] if args else 0, storage._dtype, device)
        return storage

    # -- size and place ------------------------------------------------------------------------------------------------

    @property
    def dtype(self) -> Any:
        """The dtype of the elements."""
        return self._dtype

    @property
    def _array(self) -> Any:
        """The elements, as a vector that shares the memory."""
        return self._untyped_storage._elements(self.dtype)

    def size(self) -> int:
        """Return the number of elements."""
        return self._untyped_storage.nbytes() // self.dtype.itemsize

    __len__ = _size = size

    def nbytes(self) -> int:
        """Return the number of bytes."""
        return self._untyped_storage.nbytes()

    def element_size(self) -> int:
        """Return the number of bytes of an element."""
        itemsize: int = self.dtype.itemsize
        return itemsize

    def data_ptr(self) -> int:
        """Return the address of the first element, or 0 if there is none."""
        return self._untyped_storage.data_ptr()

    @property
    def _cdata(self) -> int:
        return self._untyped_storage._cdata

    @property
    def device(self) -> device:
        """The device on which the memory lies."""
        return self._untyped_storage.device

    @property
    def is_cuda(self) -> bool:
        """Whether the memory lies on a GPU."""
        return self._untyped_storage.is_cuda

    def get_device(self) -> int:
        """Return the number of the GPU on which the memory lies, -1 for main memory."""
        return self._untyped_storage.get_device()

    @property
    def filename(self) -> str | None:
        """The name of the file that the memory is shared with, or None."""
        return self._untyped_storage.filename

    def pickle_storage_type(self) -> str:
        """Return the name of the legacy class, "FloatStorage". Raises KeyError for a dtype that has none."""
        return CLASS_NAMES[self.dtype.name]

    def type(self, dtype: Any = None, non_blocking: bool = False) -> Any:
        """Return the name of the legacy class, "torch.FloatStorage". Given a dtype or such a class or name, convert to it."""
        if dtype is None:
            return f"torch.{'cuda.' if self.is_cuda else ''}{self.pickle_storage_type()}"
        if isinstance(dtype, str) and dtype.removeprefix("torch.") in CLASS_NAMES.values():
            dtype = legacy_class(dtype.removeprefix("torch."))
        return self._to(dtype.dtype if isinstance(dtype, type) and issubclass(dtype, TypedStorage) else dtypes.as_dtype(dtype))

    def resizable(self) -> bool:
        """Whether resize_ is allowed; see UntypedStorage.resizable."""
        return self._untyped_storage.resizable()

    def resize_(self, size: int) -> TypedStorage:
        """Change the number of elements and return self; see UntypedStorage.resize_."""
        self._untyped_storage.resize_(int(size) * self.dtype.itemsize)
        return self

    def is_shared(self) -> bool:
        """Whether other processes have the memory too."""
        return self._untyped_storage.is_shared()

    def share_memory_(self) -> TypedStorage:
        """Move to memory that forked processes share, and return self."""
        self._untyped_storage.share_memory_()
        return self

    def is_pinned(self, device: Any = None) -> bool:
        """Return False: there is no GPU for which memory could be pinned."""
        return False

    # -- elements ------------------------------------------------------------------------------------------------------

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            raise RuntimeError("slices are only supported in UntypedStorage.__getitem__")
        if not isinstance(index, (int, np.integer)):
            raise RuntimeError(f"can't index a {TypedStorage} with {type(index)}")
        return self._array[checked_index(index, self.size(), "torch.TypedStorage")].item()

    def __setitem__(self, index: Any, value: Any) -> None:
        if not isinstance(index, slice):
            if not isinstance(index, (int, np.integer)):
                raise RuntimeError(f"can't index a {TypedStorage} with {type(index)}")
            index = checked_index(index, self.size(), "torch.TypedStorage")
        self._array[index] = value

    def __iter__(self) -> Any:
        return iter(self.tolist())

    def tolist(self) -> list[Any]:
        """Return the elements as a list of Python numbers."""
        values: list[Any] = self._array.tolist()
        return values

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        if self.is_cuda:
            raise TypeError(f"can't convert {self.device} device type storage to numpy. Use Storage.cpu() to copy it first.")
        array = self._array
        return array.copy() if copy else array if dtype is None else array.astype(dtype)

    def fill_(self, value: Any) -> TypedStorage:
        """Set all elements to value and return self."""
        self._array[:] = value
        return self

    def copy_(self, source: Any, non_blocking: bool | None = None) -> TypedStorage:
        """Copy the bytes of another storage and return self. Raises RuntimeError if the sizes differ."""
        self._untyped_storage.copy_(source)
        return self

    def clone(self) -> TypedStorage:
        """Return a copy."""
        return typed_storage(self._untyped_storage.clone(), self.dtype)

    def untyped(self) -> UntypedStorage:
        """Return the untyped storage of the same memory."""
        return self._untyped_storage

    def cpu(self) -> TypedStorage:
        """Return a copy in main memory, or self if it lies there."""
        return self._with(self._untyped_storage.cpu())

    def cuda(self, device: Any = None, non_blocking: bool = False) -> TypedStorage:
        """Return a copy on a GPU, or self if it lies there. device=None: the current GPU. Raises RuntimeError without a GPU."""
        return self._with(self._untyped_storage.cuda(device))

    def to(self, *, device: Any, non_blocking: bool = False) -> TypedStorage:
        """Return a copy on a device, or self if it lies there. Raises RuntimeError if there is no such device."""
        return self._with(self._untyped_storage.to(device=device))

    def _with(self, untyped: UntypedStorage) -> TypedStorage:
        return self if untyped is self._untyped_storage else typed_storage(untyped, self.dtype)

    def pin_memory(self, device: Any = None) -> TypedStorage:
        """Return self: there is no GPU for which memory could be pinned."""
        return self

    def _to(self, dtype: Any) -> TypedStorage:
        result = typed_storage(UntypedStorage(self.size() * dtype.itemsize, device=self.device), dtype)
        result._array[:] = self._array
        return result

    @classmethod
    def from_buffer(cls, *args: Any, dtype: Any = None, device: Any = None, **options: Any) -> TypedStorage:
        """Return a storage of the elements of a buffer; see UntypedStorage.from_buffer."""
        warn_of_typed_storage()
        wanted = _dtype_of_call(cls, dtype, "from_buffer")
        return typed_storage(UntypedStorage.from_buffer(*args, dtype=wanted, **options).to(device=device or "cpu"), wanted)

    @classmethod
    def from_file(cls, filename: Any, shared: bool = False, size: int = 0) -> TypedStorage:
        """Return a storage of size elements that is a file, mapped into memory; see UntypedStorage.from_file."""
        warn_of_typed_storage()
        wanted = _dtype_of_call(cls, None, "from_file")
        return typed_storage(UntypedStorage.from_file(filename, shared, size * wanted.itemsize), wanted)

    # -- protocols -----------------------------------------------------------------------------------------------------

    def __eq__(self, other: object) -> bool:
        return self is other

    def __hash__(self) -> int:
        return id(self)

    def __copy__(self) -> TypedStorage:
        return self.clone()

    def __deepcopy__(self, memo: dict[int, Any]) -> TypedStorage:
        return typed_storage(self._untyped_storage.__deepcopy__(memo), self.dtype)

    def __reduce__(self) -> tuple[Any, tuple[Any, Any]]:
        return typed_storage, (self._untyped_storage, self.dtype)

    def __repr__(self) -> str:
        name = f"torch.storage.TypedStorage(dtype={self.dtype}, device={self.device}) of size {self.size()}"
        return format_elements(self.tolist(), name)


def typed_storage(untyped: UntypedStorage, dtype: Any) -> TypedStorage:
    """Return the TypedStorage of this memory, without a warning."""
    return TypedStorage(wrap_storage=untyped, dtype=dtype, _internal=True)


def _new_untyped(data: Any, dtype: Any, where: Any = None) -> UntypedStorage:
    """Return a new untyped storage for a number of elements, or for a sequence of numbers."""
    if isinstance(data, (int, np.integer)) and not isinstance(data, bool):
        return UntypedStorage(int(data) * dtype.itemsize, device=where)
    if isinstance(data, (TypedStorage, UntypedStorage)) or not hasattr(data, "__len__"):
        raise TypeError(f"Argument type not recognized: {type(data)}")
    array = np.asarray(data, dtypes.as_numpy_dtype(dtype)).reshape(-1)
    storage = UntypedStorage(array.nbytes)
    storage._root[:] = array.view(np.uint8)
    return storage.to(device=where or "cpu")


def _dtype_of_call(cls: Any, dtype: Any, name: str) -> Any:
    own = None if cls is TypedStorage else vars(cls)["dtype"]
    if own is not None and dtype is not None:
        raise RuntimeError(f"{name}: 'dtype' can only be specified in UntypedStorage.{name} and TypedStorage.{name}")
    return dtypes.as_dtype(dtype if own is None else own)


def _add_conversions() -> None:
    """Add the methods float(), long() and so on to both classes: copies with the elements converted."""
    for name, dtype in _CONVERSIONS.items():

        def of_typed(self: TypedStorage, _dtype: Any = dtype) -> TypedStorage:
            return self._to(_dtype)

        def of_untyped(self: UntypedStorage, _dtype: Any = dtype) -> TypedStorage:
            return typed_storage(self, dtypes.uint8)._to(_dtype)

        for cls, method in ((TypedStorage, of_typed), (UntypedStorage, of_untyped)):
            method.__name__, method.__qualname__ = name, f"{cls.__name__}.{name}"
            method.__doc__ = f"Return a copy with the elements converted to {dtype.name}."
            setattr(cls, name, method)


_add_conversions()


class _LegacyMeta(type):
    """Metaclass of FloatStorage and its like: isinstance compares dtypes."""

    dtype: Any

    def __instancecheck__(cls, instance: Any) -> bool:
        return type(instance) is TypedStorage and instance.dtype is cls.dtype


class _LegacyStorage(TypedStorage, metaclass=_LegacyMeta):
    """Base class of FloatStorage and its like. A call makes a TypedStorage."""

    __slots__ = ()

    def __new__(cls, *args: Any, wrap_storage: Any = None) -> Any:
        warn_of_typed_storage()
        head = (
            f"{cls!r}.__new__ received an invalid combination of arguments. Expected one of:\n * no arguments\n * (int size)\n"
            " * (Sequence data)\n * (*, UntypedStorage wrap_storage)\n"
        )
        if len(args) > 1 or (args and wrap_storage is not None):
            raise errors.ShapeError(f"{head}Too many positional arguments")
        if wrap_storage is not None:
            if not isinstance(wrap_storage, UntypedStorage):
                raise TypeError(f"{head}Argument type not recognized: {type(wrap_storage)}")
            return typed_storage(wrap_storage, cls.dtype)
        given = args[0] if args else 0
        if not isinstance(given, (int, np.integer)) and not _is_plain_sequence(given):
            raise TypeError(f"{head}Argument type not recognized: {type(given)}")
        return typed_storage(_new_untyped(given, cls.dtype), cls.dtype)


def _is_plain_sequence(x: Any) -> bool:
    return isinstance(x, (list, tuple, range, np.ndarray))


_legacy_classes: dict[str, type] = {}


def legacy_class(name: str) -> Any:
    """Return the class FloatStorage or the like. Raises KeyError for another name."""
    if name not in _legacy_classes:
        dtype = {own: dtypes.as_dtype(key) for key, own in CLASS_NAMES.items()}[name]
        doc = f"TypedStorage of {dtype.name}: {name}(n) or {name}(sequence). Deprecated in torch."
        body = {"__slots__": (), "dtype": dtype, "__doc__": doc, "__module__": "wengert"}
        _legacy_classes[name] = _LegacyMeta(name, (_LegacyStorage,), body)
    return _legacy_classes[name]


def legacy_class_of(dtype: Any) -> Any:
    """Return the legacy class of a dtype, or None if torch has none."""
    name = CLASS_NAMES.get(dtype.name)
    return None if name is None else legacy_class(name)


def is_storage(obj: object) -> bool:
    """Whether obj is a storage, typed or untyped."""
    return isinstance(obj, (TypedStorage, UntypedStorage))
