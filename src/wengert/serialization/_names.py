"""Names of classes and functions in files: files say torch, Python here says wengert.

A name in a file is (module, qualified name), such as ("torch.nn.modules.linear", "Linear"). `torch_name` gives that of an object,
`find` the object of a name.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from wengert import dtypes, errors
from wengert.serialization import _rebuild

# Modules whose classes torch has elsewhere. Others have the same place in both packages.
_HOMES = {
    "wengert.optim._schedules": "torch.optim.lr_scheduler", "wengert.optim._combined_schedules": "torch.optim.lr_scheduler",
    "wengert.optim._adafactor": "torch.optim", "wengert.optim._muon": "torch.optim", "wengert.tensor": "torch",
    "wengert.nn.modules._state": "torch.nn.modules.module", "wengert.nn.modules._hooks": "torch.nn.modules.module",
    "wengert.sizes": "torch", "wengert.devices": "torch", "wengert.dtypes": "torch", "wengert.storage._typed": "torch.storage",
    "wengert.storage._untyped": "torch.storage", "wengert.generator": "torch",
}  # fmt: skip

# What torch has in modules that do not exist here.
_SPECIAL: dict[tuple[str, str], Any] = {
    **{("torch._utils", name): getattr(_rebuild, name) for name in _rebuild.OF_UTILS},
    ("torch._tensor", "_rebuild_from_type_v2"): _rebuild._rebuild_from_type_v2,
    ("torch.serialization", "_get_layout"): _rebuild._get_layout,
}
_NAMES = {id(value): name for name, value in _SPECIAL.items()}
_ELSEWHERE = {
    ("torch._C", "Generator"): ("wengert", "Generator"), ("torch.tensor", "Tensor"): ("wengert", "Tensor"),
    ("torch.nn.modules.module", "_WrappedHook"): ("wengert.nn.modules._state", "_WrappedHook"),
    ("torch._C", "_VariableFunctionsClass"): ("wengert", ""),
}  # fmt: skip
_MODULES = {"torch._C._nn": "wengert.nn.functional"}


def torch_name(obj: Any, name: str | None = None) -> tuple[str, str] | None:
    """Return the name that a class or function of this package has in files, or None for an object of other modules.

    name: the name that the object's __reduce_ex__ has returned, if it has."""
    if id(obj) in _NAMES:
        return _NAMES[id(obj)]
    if isinstance(obj, dtypes.dtype):
        return "torch", obj.name
    module = getattr(obj, "__module__", None)
    if not isinstance(module, str) or module.split(".")[0] not in ("wengert", "torch"):
        return None
    qualified = name or getattr(obj, "__qualname__", None) or getattr(obj, "__name__", None)
    if qualified is None:
        return None
    if qualified == "Generator" and module in ("wengert.generator", "wengert", "torch"):
        return "torch._C", "Generator"
    plain = getattr(obj, "__name__", None)
    if plain is not None and not isinstance(obj, type):  # an operation's function, whatever module its family is in
        public = _namespace_of(obj, plain)
        module, qualified = (module, qualified) if public is None else (public, plain)
    return _HOMES.get(module, "torch" + module.removeprefix("wengert").removeprefix("torch")), qualified


def _namespace_of(function: Any, name: str) -> str | None:
    """Return the public module in which an operation's function is found, nn.functional first, or None."""
    for module in ("wengert.nn.functional", "wengert", "wengert.special", "wengert.linalg", "wengert.fft"):
        if getattr(import_module(module), name, None) is function:
            return module
    return None


def find(module: str, name: str) -> Any:
    """Return what has this name in a file. Raises AttributeError for a name of torch that this package does not have."""
    if (module, name) in _SPECIAL:
        return _SPECIAL[module, name]
    if module == "torch" and name in dtypes._BY_NAME:
        return dtypes._BY_NAME[name]
    home, own = _ELSEWHERE.get((module, name), (_MODULES.get(module, "wengert" + module.removeprefix("torch")), name))
    try:
        found: Any = import_module(home)
        for part in own.split(".") if own else ():
            found = getattr(found, part)
    except (ImportError, AttributeError) as error:
        raise errors.MissingFeatureError(f"{module}.{name}, which the file needs, is not part of wengert") from error
    return found


def is_torch(module: str) -> bool:
    """Whether a name of this module is one of torch."""
    return module == "torch" or module.startswith("torch.")
