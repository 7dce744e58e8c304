"""Storages: the memory that a tensor and its views share, as objects. torch.storage.

`tensor.untyped_storage()` makes the object when it is asked for; tensors do not have one. See Note [Shared memory] in
core/relocation.py.

    _untyped   UntypedStorage, memory of bytes
    _typed     TypedStorage, memory of elements, and its older names FloatStorage, LongStorage and so on
"""

from typing import Any as _Any

from wengert.storage._typed import CLASS_NAMES as _CLASS_NAMES, TypedStorage, is_storage, legacy_class as _legacy_class
from wengert.storage._untyped import UntypedStorage

__all__ = ["TypedStorage", "UntypedStorage", "is_storage"]

for _class in (TypedStorage, UntypedStorage):
    _class.__module__ = __name__


def __getattr__(name: str) -> _Any:
    if name == "Storage" or name in _CLASS_NAMES.values():
        return _legacy_class("FloatStorage" if name == "Storage" else name)
    raise AttributeError(f"module 'wengert.storage' has no attribute {name!r}")
