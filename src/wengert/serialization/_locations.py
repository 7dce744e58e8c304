"""Devices of storages in files: what save writes, and where load puts a storage."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from wengert import errors
from wengert.backends.selection import backend_for, cuda_is_available
from wengert.devices import device

Tagger = Callable[[Any], "str | None"]
Deserializer = Callable[[Any, str], Any]


def _tag(storage: Any) -> str | None:
    return str(storage.device)


def _cpu_deserialize(storage: Any, location: str) -> Any:
    return storage.cpu() if location == "cpu" else None


def cuda_index(location: str) -> int:
    """Return the number of the GPU of a location: the current one for "cuda". Raises RuntimeError if there is no such GPU."""
    backend, index = backend_for("cuda"), device(location).index
    count = backend.device_count()
    if index is not None and index >= count:
        raise errors.DeviceError(
            f"Attempting to deserialize object on CUDA device {index} but torch.cuda.device_count() is {count}. "
            "Please use torch.load with map_location to map your storages to an existing device."
        )
    return int(backend.current_device() if index is None else index)


def _other_deserialize(storage: Any, location: str) -> Any:
    kind = location.split(":")[0]
    if kind == "cuda" and cuda_is_available():
        return storage.cuda(cuda_index(location))
    if kind in ("cuda", "mps", "xpu", "hpu"):
        what = f"torch.{kind}.is_available() is False" if kind != "mps" else "torch.backends.mps.is_available() is False"
        raise errors.DeviceError(
            f"Attempting to deserialize object on a {kind.upper()} device but {what}. If you are running on a CPU-only machine, "
            "please use torch.load with map_location=torch.device('cpu') to map your storages to the CPU."
        )
    if kind == "meta":
        raise errors.DeviceError("wengert computes on the CPU only; there are no tensors without memory. Hint: map_location='cpu'")
    return None


_registry: list[tuple[int, Tagger, Deserializer]] = [
    (10, _tag, _cpu_deserialize), (20, lambda storage: None, _other_deserialize),
]  # fmt: skip


def register_package(priority: int, tagger: Tagger, deserializer: Deserializer) -> None:
    """Register functions for the devices of a library.

    tagger: returns the name of the location of a storage, or None if it is not the library's. deserializer: returns the storage at
    a location, or None likewise. Those with lower priority are asked first."""
    _registry.append((priority, tagger, deserializer))
    _registry.sort(key=lambda entry: entry[0])


def location_tag(storage: Any) -> str:
    """Return the name of the location of a storage, "cpu". Raises RuntimeError if nobody knows it."""
    for _, tagger, _ in _registry:
        location = tagger(storage)
        if location:
            return location
    raise errors.DeviceError(f"don't know how to determine data location of {storage.type()}")


def default_restore_location(storage: Any, location: str) -> Any:
    """Return the storage at the location of this name. Raises RuntimeError if there is no such device."""
    for _, _, deserializer in _registry:
        found = deserializer(storage, location)
        if found is not None:
            return found
    raise errors.DeviceError(f"don't know how to restore data location of {storage.type()} (tagged with {location})")


def restorer(map_location: Any) -> Callable[[Any, str], Any]:
    """Return the function (storage, location) that puts a storage where map_location says. See wengert.load."""
    if map_location is None:
        return default_restore_location
    if isinstance(map_location, dict):
        return lambda storage, location: default_restore_location(storage, map_location.get(location, location))
    if isinstance(map_location, (str, device)):
        return lambda storage, _: default_restore_location(storage, str(map_location))
    if not callable(map_location):
        raise TypeError(f"{type(map_location).__name__!r} object is not callable")

    def restore(storage: Any, location: str) -> Any:
        found = map_location(storage, location)
        return default_restore_location(storage, location) if found is None else found

    return restore
