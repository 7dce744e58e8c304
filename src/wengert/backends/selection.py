"""Which library an array is of, and so which backend a forward and a rule get.

Two questions have two functions. `is_array` asks whether a tensor can hold x: whether x is an array of a library in use.
`isinstance(x, numpy.ndarray)`, in the core `is_ndarray`, asks whether x is NumPy's own, which kernels and views of memory need.

`others` is empty until a program asks for a GPU: then the choice costs one test. docs/backends.md says what a backend must offer.
"""

from __future__ import annotations

from _thread import allocate_lock
from collections.abc import Callable, Iterable
from typing import Any, TypeVar
from weakref import WeakValueDictionary

import numpy as np

from wengert import errors
from wengert._forks import import_late, is_installed
from wengert.backends import numpy as numpy_backend

Result = TypeVar("Result")

others: dict[type, Any] = {}  # the backends besides NumPy's that are in use, by the type of their arrays
loaded: dict[str, Any] = {}  # the same backends, by the type of their devices
_MODULES = {"cuda": "wengert.backends.cupy"}


def is_array(x: Any) -> bool:
    """Whether x is an array that tensors can hold."""
    return isinstance(x, np.ndarray) or type(x) in others


def backend_of(x: Any) -> Any:
    """Return the backend of an array, of a tensor's array, or of those in a tuple. Numbers, lists and other objects are NumPy's."""
    if not others:
        return numpy_backend
    if isinstance(x, tuple):
        return next((found for y in x if (found := backend_of(y)) is not numpy_backend), numpy_backend)
    return others.get(type(x)) or others.get(type(getattr(x, "_array", None)), numpy_backend)


def may_hold(condition: Any) -> bool:
    """Whether a condition holds for an element of an array of bools, so that a careful way must be taken.

    On a device True, without waiting: the careful way is right everywhere."""
    return type(condition) in others or bool(condition.any())


def backend_among(arrays: Iterable[Any]) -> Any:
    """Return the backend of the first array that is not NumPy's, or NumPy's backend if there is none."""
    for x in arrays if others else ():
        found = others.get(type(x))
        if found is not None:
            return found
    return numpy_backend


def use(backend: Any) -> None:
    """Let tensors hold the arrays of a backend. Its name is the type of its devices."""
    others[backend.ndarray] = loaded[backend.name] = backend


def backend_for(name: str) -> Any:
    """Return the backend of a type of devices, "cpu" or "cuda". Raises RuntimeError where none can be loaded."""
    if name == "cpu":
        return numpy_backend
    found = loaded.get(name)
    if found is None:
        found = import_late(_MODULES[name])
        found.start()
        use(found)
    return found


def cuda_is_available() -> bool:
    """Whether tensors can be on a GPU: whether CuPy is installed and finds one."""
    if "cuda" not in loaded and not is_installed("cupy"):
        return False
    try:
        backend_for("cuda")
    except errors.DeviceError:
        return False
    return True


def why_no_cuda() -> str:
    """Return the message of the error that asking for a GPU raises, which says what to install. Empty if there is one."""
    try:
        backend_for("cuda")
    except errors.DeviceError as error:
        return str(error)
    return ""


def device_name(x: Any) -> str:
    """Return the name of an array's device: "cpu" or "cuda:0"."""
    backend = backend_of(x)
    return "cpu" if backend is numpy_backend else f"{backend.name}:{backend.device_of(x)}"


def to_host(x: Any) -> Any:
    """Return an array of any backend as a NumPy array, and the same for those in a tuple. Anything else is returned as it is."""
    if isinstance(x, (tuple, list)):
        return type(x)([to_host(y) for y in x])
    backend = backend_of(x)
    if backend is numpy_backend:
        return x
    host = backend.to_host(x)
    look_at_checks()
    return host


def to_device(x: Any, backend: Any) -> Any:
    """Return a NumPy array as an array of the backend, on its current device, and the same for those in a tuple or list."""
    if isinstance(x, np.ndarray):
        return backend.from_host(x)
    if isinstance(x, (tuple, list)) and type(x) in (tuple, list):
        return type(x)([to_device(y, backend) for y in x])
    return x


def move(x: Any, where: str, non_blocking: bool = False) -> Any:
    """Return an array as an array of the device "cpu" or "cuda:0", or in pinned memory.

    non_blocking: do not wait for a copy from a device, whose result has pinned memory, nor for one from pinned memory."""
    if device_name(x) == where:
        return x
    if where == PINNED:
        return x if is_pinned(x) else _noted(backend_for("cuda").pinned(x))
    name, _, index = where.partition(":")
    source, target = backend_of(x), backend_for(name)
    if source is target:
        return target.move(x, int(index))
    if target is numpy_backend:
        return _noted(source.to_host_later(x)) if non_blocking else to_host(x)
    with target.current(int(index)):
        return target.from_host(to_host(x), is_pinned(x) and not non_blocking)


PINNED = "pinned"  # the place of main memory that the system never moves: GPUs copy from it while the program goes on
_pinned: WeakValueDictionary[int, Any] = WeakValueDictionary()  # NumPy's arrays that own such memory, by their id


def is_pinned(x: Any) -> bool:
    """Whether the memory of an array is pinned: by a move there, or by a copy from a device that was not waited for."""
    return id(_root(x)) in _pinned


def _noted(x: Any) -> Any:
    _pinned[id(_root(x))] = _root(x)
    return x


def _root(x: Any) -> Any:
    while isinstance(x, np.ndarray) and isinstance(x.base, np.ndarray):
        x = x.base
    return x


def on_device(where: str) -> Any:
    """Return a context in which arrays are made on the device "cpu" or "cuda:0"."""
    name, _, index = where.partition(":")
    return backend_for(name).current(int(index or 0))


def elsewhere(x: Any) -> Any:
    """Return a context in which the device of an array is the current one, or None if it is, or if x is NumPy's."""
    backend = others.get(type(x))
    if backend is None or backend.device_of(x) == backend.current_device():
        return None
    return backend.current(backend.device_of(x))


def run_in(place: Any, function: Callable[..., Result], *arguments: Any) -> Result:
    """Return function(*arguments), called in a context."""
    with place:
        return function(*arguments)


def new_on(where: str, function: str, *arguments: Any) -> Any:
    """Return what a backend's function of this name, such as empty, makes on the device "cpu" or "cuda:0"."""
    with on_device(where):
        return getattr(backend_for(where.partition(":")[0]), function)(*arguments)


def filled_on(where: str, shape: tuple[int, ...], dtype: Any, number: int) -> Any:
    """Return an array on a device with one number everywhere."""
    return new_on(where, "full", shape, number, dtype)


def new_bytes(nbytes: int, where: str) -> Any:
    """Return a vector of uint8 with unset elements on a device."""
    return new_on(where, "empty", nbytes, np.uint8)


def gather(arrays: Iterable[Any]) -> tuple[Any, int, list[Any]]:
    """Return the backend and the device number of a call, and its operands there. One of them is not NumPy's.

    A 0-d array in main memory may join any device, as in torch. Raises RuntimeError for operands of several devices."""
    arrays = list(arrays)
    names = []
    for x in arrays:
        if is_array(x) and (x.ndim or not isinstance(x, np.ndarray)) and (name := device_name(x)) not in names:
            names.append(name)
    if len(names) > 1:
        raise errors.DeviceError(
            f"Expected all tensors to be on the same device, but found at least two devices, {names[0]} and {names[1]}!"
        )
    backend = backend_among(arrays)
    index = int(names[0].partition(":")[2])
    with backend.current(index):
        return backend, index, [backend.from_host(x) if isinstance(x, np.ndarray) else x for x in arrays]


def beside(array: Any, *arrays: Any) -> Any:
    """Return a NumPy array on the device of the first of other arrays that is not NumPy's, or as it is if none is."""
    found = next((x for x in arrays if type(x) in others), None) if others else None
    return array if found is None or type(array) in others else move(array, device_name(found))


def placed(value: Any, array: Any) -> Any:
    """Return a value that is to be written into an array on the array's device. Numbers are returned as they are."""
    return move(value, device_name(array)) if is_array(value) else value


def together(arrays: Iterable[Any]) -> list[Any]:
    """Return arrays of one call where they can be computed with: `gather`, or the arrays themselves if all are NumPy's."""
    arrays = list(arrays)
    return arrays if backend_among(arrays) is numpy_backend else gather(arrays)[2]


# -- checks that do not wait --------------------------------------------------------------------------------------------

# Note [Late checks]
# NumPy's functions raise for an index that is out of range, but those of a device's library take another element, and asking would
# wait. So the answer stays on the device, added to earlier ones, until something is copied to main memory.

_wrong: dict[tuple[str, str], Any] = {}  # by device and message: a 0-d array of bools, whether a check has failed
_changing = allocate_lock()


def check_later(wrong: Any, message: str) -> None:
    """Note a 0-d array of bools on a device: whether elements that an operation was given are wrong. See Note [Late checks]."""
    key = device_name(wrong), message
    with _changing:
        held = _wrong.get(key)
        _wrong[key] = wrong if held is None else held | wrong


def look_at_checks() -> None:
    """Raise IndexError if a check has failed. Called where the program waits for a device."""
    while _wrong:
        with _changing:
            (where, message), wrong = _wrong.popitem()
        if wrong:
            raise errors.TensorIndexError(
                f"{message}: in an operation on {where}. Hint: a GPU says so at the next copy to main memory; the same program on "
                "the CPU raises at the operation."
            )


# -- faces of F --------------------------------------------------------------------------------------------------------

_faces: dict[Any, Any] = {}  # F on raw arrays, by backend
_make_face: Any = None


def set_array_faces(array_face: Any, make_face: Any) -> None:
    """Install F on NumPy's arrays, and the function that makes F on the arrays of another backend."""
    global _make_face
    _faces[numpy_backend] = array_face
    _make_face = make_face


def face_of(backend: Any) -> Any:
    """Return F on the raw arrays of a backend."""
    found = _faces.get(backend)
    if found is None:
        found = _faces[backend] = _make_face(backend)
    return found
