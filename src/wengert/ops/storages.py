"""The memory of a tensor: its storage, other geometries over it, and resizing. See Note [Shared memory] in core/relocation.py."""

from __future__ import annotations

from math import prod
from typing import Any

from wengert import dtypes, errors
from wengert.core.leaf_gradient import set_accumulator_aside
from wengert.core.mirrors import is_mirror, physical_of, relation_of
from wengert.core.relocation import bytes_of, is_alone, is_writeable, move, new_root, place
from wengert.core.tensor import IS_RESHAPED, TensorBase
from wengert.core.views import bump, check_write, extend_view
from wengert.devices import device_of
from wengert.kernels.memory import new_array, offset_of, owner_of
from wengert.ops.indices import checked
from wengert.ops.options import sizes_of
from wengert.ops.registry import OPS, plain
from wengert.storage import TypedStorage, UntypedStorage
from wengert.storage._typed import legacy_class_of, typed_storage, warn_of_typed_storage
from wengert.storage._untyped import storage_of


@plain(method=True, namespaces=())
def untyped_storage(self):
    """Return the memory of the tensor as an UntypedStorage. Tensors that share memory have the same storage.

    >>> import wengert
    >>> x = wengert.arange(4.0)
    >>> x[2:].untyped_storage() is x.untyped_storage(), x[2:].untyped_storage().nbytes()
    (True, 16)
    """
    return storage_of(physical_of(checked("untyped_storage", self, "self")))


@plain(method=True, namespaces=())
def _typed_storage(self):
    """Return the memory of the tensor as a TypedStorage, without the warning of storage()."""
    return typed_storage(storage_of(physical_of(checked("_typed_storage", self, "self"))), self.dtype)


@plain(method=True, namespaces=())
def storage(self):
    """Return the memory of the tensor as a TypedStorage, with torch's warning that these are deprecated."""
    warn_of_typed_storage()
    return typed_storage(storage_of(physical_of(checked("storage", self, "self"))), self.dtype)


@plain(method=True, namespaces=())
def storage_type(self):
    """Return the legacy class of storages of the tensor's dtype, FloatStorage for float32."""
    found = legacy_class_of(checked("storage_type", self, "self").dtype)
    return TypedStorage if found is None else found


@plain(method=True, namespaces=())
def share_memory_(self):
    """Move the storage to memory that processes forked from now on share with this one. Return the tensor.

    All tensors of the storage move along. Processes started by spawn do not share it: they get copies, as pickles do."""
    storage_of(physical_of(checked("share_memory_", self, "self"))).share_memory_()
    return self


@plain(method=True, namespaces=(), name="is_shared")
def is_shared_(self):
    """Whether other processes have the memory of the tensor too, after share_memory_(), or could get it: memory of a GPU."""
    return storage_of(physical_of(checked("is_shared", self, "self"))).is_shared()


@plain(method=True, namespaces=())
def is_set_to(self, tensor):
    """Whether both tensors show the same elements of one storage: the same offset, shape and strides."""
    ours, theirs = physical_of(checked("is_set_to", self, "self")), physical_of(checked("is_set_to", tensor, "tensor"))
    root = owner_of(ours)
    return (
        root is owner_of(theirs)
        and ours.dtype == theirs.dtype
        and ours.shape == theirs.shape
        and self.stride() == tensor.stride()
        and offset_of(ours, root) == offset_of(theirs, root)
        and relation_of(self) == relation_of(tensor)
    )


# -- geometry ----------------------------------------------------------------------------------------------------------


@plain(method=True, namespaces=())
def set_(self, source=None, storage_offset=None, size=None, stride=None):
    """Make the tensor show other memory, and return it.

    set_(): no memory, of shape (0,). set_(tensor): what the tensor shows. set_(storage): the whole storage as a vector.
    set_(storage, storage_offset, size, stride): these elements, in row-major order if stride is None. Offset and strides count
    elements. With a geometry, a storage that is too small grows. The tensor no longer shares its former memory.

    Raises RuntimeError for a source of another dtype, for a tensor that requires grad while recording is on, and for a storage that
    is too small and cannot be resized.

    >>> import wengert
    >>> wengert.empty(0).set_(wengert.arange(6.0).untyped_storage(), 1, (2, 2), (1, 2))
    tensor([[1., 3.],
            [2., 4.]])
    """
    check_write(checked("set_", self, "self"), isinstance(source, TensorBase) and source.requires_grad)
    if self.requires_grad and self.grad_fn is not None:
        raise errors.InplaceError("set_() has no derivative. Hint: call it in a block of torch.no_grad(), or on a detached tensor.")
    array = _array_to_set(self._array, source, storage_offset, size, stride)
    if array.shape != self._array.shape:
        set_accumulator_aside(self)
    self._view = None
    self._array = array
    self._meta = None
    bump(self)
    return self


def _array_to_set(current: Any, source: Any, offset: Any, size: Any, stride: Any) -> Any:
    """Return the array that set_ gives to a tensor that holds the array `current`."""
    dtype = current.dtype
    if source is None:
        return new_array((0,), dtype, current)
    if isinstance(source, TensorBase):
        array = physical_of(source)
        if array.dtype != dtype:
            ours, theirs = (dtypes.from_numpy_dtype(x).c_name for x in (dtype, array.dtype))
            raise errors.ShapeError(f"Could not set tensor of type {theirs} to a tensor of type {ours}")
        if is_mirror(source):
            raise errors.InplaceError("set_() to a conjugate view. Hint: call resolve_conj().resolve_neg() first, which copies.")
        if size is None:
            return array.view()
    elif not isinstance(source, (TypedStorage, UntypedStorage)):
        raise errors.wrong_argument_type("set_", "source", 0, type(source), "Tensor or Storage")
    elif isinstance(source, TypedStorage) and dtypes.as_numpy_dtype(source.dtype) != dtype:
        raise errors.ShapeError(
            f"Expected a Storage of type {dtypes.from_numpy_dtype(dtype).c_name} or an UntypedStorage, but got type "
            f"{source.dtype.scalar_name} for argument 1 'storage'"
        )
    memory: Any = storage_of(physical_of(source)) if isinstance(source, TensorBase) else source.untyped()
    here, there = device_of(current), memory.device
    if here != there:
        raise errors.DeviceError(
            f'Attempted to set the storage of a tensor on device "{here}" to a storage on different device "{there}".  '
            "This is no longer allowed; the devices must match."
        )
    if size is None:
        return memory._elements(dtypes.from_numpy_dtype(dtype)).view()
    start = offset or 0
    shape, steps = _checked_geometry(start, size, stride)
    needed = (start + sum([(n - 1) * s for n, s in zip(shape, steps, strict=True)]) + 1) * dtype.itemsize
    if needed > memory.nbytes() and 0 not in shape:
        memory.resize_(needed)
    return place(memory._root, start * dtype.itemsize, shape, [s * dtype.itemsize for s in steps], dtype)


def _checked_geometry(offset: Any, size: Any, stride: Any) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return shape and strides. Raises RuntimeError if they or the offset are negative, too large or do not fit each other."""
    shape = tuple([int(n) for n in ((size,) if isinstance(size, int) else size)])
    if min(shape, default=0) < 0 or prod(shape) >= 1 << 62:
        raise errors.ShapeError("numel: integer multiplication overflow")
    if offset < 0:
        raise errors.ShapeError(f"Tensor: invalid storage offset {offset}")
    if stride is None or (not isinstance(stride, int) and not len(stride) and shape):
        return shape, tuple([prod([max(n, 1) for n in shape[i + 1 :]]) for i in range(len(shape))])
    steps = tuple([int(s) for s in ((stride,) if isinstance(stride, int) else stride)])
    if len(steps) != len(shape):
        raise errors.ShapeError(f"unequal size length ({len(shape)}) and stride length ({len(steps)})")
    last = offset + sum([(n - 1) * s for n, s in zip(shape, steps, strict=True)])
    if min(steps, default=0) < 0 or last >= 1 << 58:
        raise errors.ShapeError(f"Storage size calculation overflowed with sizes={list(shape)} and strides={list(steps)}")
    return shape, steps


@plain(method=True, namespaces=())
def resize_(self, *sizes, size=None, memory_format=None):
    """Change the shape of the tensor in place, resize_(2, 3) or resize_((2, 3)), and return it.

    The tensor shows the elements of its storage from its offset on, in row-major order. A storage that is too small grows: its
    bytes move, all tensors of the storage with them, and the further elements are uninitialised. A tensor that has the shape
    already keeps its strides. Raises RuntimeError for a tensor that requires grad, and if the storage would have to grow but is
    shared with an array that was given to from_numpy(), or with other processes.

    >>> import wengert
    >>> a = wengert.arange(10)
    >>> v = a[5:]
    >>> a.resize_(20)[6] = 1
    >>> v
    tensor([5, 1, 7, 8, 9])
    """
    if self.requires_grad:
        raise errors.InplaceError("cannot resize variables that require grad")
    shape, _ = _checked_geometry(0, sizes_of("resize_", sizes, size), None)
    if is_mirror(self):
        raise errors.InplaceError("resize_() of a conjugate view. Hint: call resolve_conj().resolve_neg() first, which copies.")
    check_write(self, False)
    if shape != self._array.shape:
        _give_shape(self, shape)
    bump(self)
    return self


def _give_shape(tensor: Any, shape: tuple[int, ...]) -> None:
    """Let the tensor show the first elements of its storage, from its offset on, in this shape."""
    dtype = tensor._array.dtype
    offset = offset_of(tensor._array, owner_of(tensor._array))
    nbytes = bytes_of(owner_of(tensor._array)).size
    needed = offset + prod(shape) * dtype.itemsize
    if needed > nbytes and prod(shape):
        if is_alone(tensor):
            move(owner_of(tensor._array), new_root(needed), [tensor])
        else:
            storage_of(tensor._array).resize_(needed)
    root = owner_of(tensor._array)
    array = place(root, offset if prod(shape) else 0, shape, None, dtype, writeable=is_writeable(tensor._array))
    if tensor._view is None:
        tensor._flags |= IS_RESHAPED
    else:
        as_strided: Any = OPS["_as_strided"]
        tensor._view = extend_view(tensor._view, as_strided, {}, array)
    tensor._array = array
    tensor._meta = None


@plain(method=True, namespaces=())
def resize_as_(self, the_template, memory_format=None):
    """Change the shape of the tensor in place to that of the_template; see resize_."""
    return self.resize_(checked("resize_as_", the_template, "the_template").shape)
