"""The device of a tensor: a type, such as "cpu", and an index among the devices of that type."""

from __future__ import annotations

from typing import Any, Final

from wengert import errors
from wengert.backends import selection

# The types that torch knows. Tensors live on "cpu" and "cuda" only; the other types can be named, so that programs which
# only compare devices run.
_TYPES: Final = (
    "cpu", "cuda", "ipu", "xpu", "mkldnn", "opengl", "opencl", "ideep", "hip", "ve", "fpga", "maia", "xla", "lazy",
    "vulkan", "mps", "meta", "hpu", "mtia", "privateuseone",
)  # fmt: skip


class device:
    """The device that holds a tensor's data: `type` ("cpu", "cuda") and `index` (int, or None for the current device).

    Accepted forms: device("cuda:1"), device("cuda", 1), device(1) for "cuda:1", and device(other_device). A device is
    immutable. Two devices are equal if their types and indices are equal. "cpu" and "cuda" can hold data; the other types
    of torch can be named and compared. Raises RuntimeError for a type that torch does not know and for a malformed string.

    >>> import wengert
    >>> wengert.device("cuda:0")
    device(type='cuda', index=0)
    >>> str(wengert.device("cuda", 1))
    'cuda:1'
    """

    __slots__ = ("index", "type")

    type: str
    index: int | None

    def __init__(self, type: str | int | device, index: int | None = None) -> None:
        if isinstance(type, device):
            name, given = type.type, type.index
        elif isinstance(type, str):
            name, given = _parse(type)
        elif isinstance(type, int) and not isinstance(type, bool):
            name, given = "cuda", _checked_index(type)
        else:
            raise errors.wrong_argument_type("device", "type", 0, type.__class__, "str, int or torch.device")
        if index is not None:
            if given is not None:
                raise errors.DeviceError(
                    f"type (string) must not include an index because index was passed explicitly: {name}:{given}"
                )
            given = _checked_index(index)
        object.__setattr__(self, "type", name)
        object.__setattr__(self, "index", given)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"attribute '{name}' of 'torch.device' objects is not writable")

    def __delattr__(self, name: str) -> None:
        self.__setattr__(name, None)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, device):
            return self.type == other.type and self.index == other.index
        return NotImplemented

    def __hash__(self) -> int:
        return hash((self.type, self.index))

    def __str__(self) -> str:
        return self.type if self.index is None else f"{self.type}:{self.index}"

    def __repr__(self) -> str:
        index = "" if self.index is None else f", index={self.index}"
        return f"device(type='{self.type}'{index})"

    def __enter__(self) -> device:
        """Make this device the default one in the block. Raises RuntimeError for a device that cannot hold data."""
        _defaults.append(place_of(self))
        return self

    def __exit__(self, *exception: object) -> None:
        _defaults.pop()

    def __reduce__(self) -> tuple[Any, tuple[str, int | None]]:
        return device, (self.type, self.index)


def _parse(text: str) -> tuple[str, int | None]:
    """Return (type, index) of a device string: ("cuda", 1) for "cuda:1", ("cuda", None) for "cuda"."""
    if not text:
        raise errors.DeviceError("Device string must not be empty")
    name, colon, number = text.partition(":")
    # torch refuses leading zeros.
    well_formed = not colon or (number.isascii() and number.isdigit() and (number == "0" or number[0] != "0"))
    if not name or not well_formed:
        raise errors.DeviceError(f"Invalid device string: '{text}'")
    if name not in _TYPES:
        raise errors.DeviceError(f"Expected one of {', '.join(_TYPES)} device type at start of device string: {name}")
    return name, int(number) if number else None


def _checked_index(index: int) -> int:
    if not isinstance(index, int):
        raise errors.wrong_argument_type("device", "index", 1, type(index), "int")
    if index < 0:
        raise errors.DeviceError("Device index must not be negative")
    return index


_defaults = ["cpu"]  # the names of the devices on which tensors are made without device=, the last of which counts


def place_of(where: Any) -> str:
    """Return the name of a device with its index, "cpu" or "cuda:0". None means the default device.

    Raises RuntimeError for a device that cannot hold data here."""
    if where is None:
        return _defaults[-1]
    if where == "cpu":
        return "cpu"
    found = where if isinstance(where, device) else device(where)
    if found.type == "cpu":
        return "cpu"
    if found.type == "meta":
        raise errors.DeviceError(
            "no backend for device meta: every tensor has memory here. Hint: leave out device=; a module that is to be made "
            "without initial values is nn.utils.skip_init(...)."
        )
    if found.type != "cuda":
        raise errors.DeviceError(
            f"no backend for device {where}: wengert computes on the CPU and on CUDA devices. Hint: leave out device=."
        )
    backend = selection.backend_for("cuda")
    index = backend.current_device() if found.index is None else found.index
    if index >= backend.device_count():
        raise errors.DeviceError(f"CUDA error: invalid device ordinal. There are {backend.device_count()} devices.")
    return f"cuda:{index}"


_legacy_type = "cpu"  # the type of device of the default tensor type


def legacy_type() -> str:
    """Return the type of device on which Tensor(2, 3) lies. A tensor there is printed without its device."""
    return _legacy_type


def set_legacy_type(kind: str) -> None:
    """Make a type of device, "cpu" or "cuda", that of the default tensor type, and the device of new tensors."""
    global _legacy_type
    if kind != _legacy_type:
        _defaults[0] = place_of(kind)
        _legacy_type = kind


def is_default_cpu() -> bool:
    """Whether tensors are made in main memory without device=."""
    return _defaults[-1] == "cpu"


def check_device(where: Any) -> None:
    """Raise RuntimeError if `where` is a device other than the CPU. None stands for the CPU."""
    if where is not None and where != "cpu" and place_of(where) != "cpu":
        raise errors.DeviceError(
            f"this function makes no tensors on {where}. Hint: leave out device=, and move the result with .to()."
        )


def device_of(array: Any) -> device:
    """Return the device of an array."""
    return device(selection.device_name(array))


def get_default_device() -> device:
    """Return the device on which tensors are made without device=."""
    return device(_defaults[-1])


def set_default_device(where: str | int | device | None) -> None:
    """Set the device on which tensors are made without device=. Raises RuntimeError for a device that cannot hold data.

    where: a device, its string or index, or None for the CPU.
    """
    _defaults[0] = "cpu" if where is None else place_of(where)
