"""The modules that `import torch` imports after install(): each forwards to a module of this package.

torch.nn.functional forwards to wengert.nn.functional, and so on. A module that is missing here can be imported too, so
that programs start; using it raises MissingFeatureError, which names it.
"""

from __future__ import annotations

import copyreg
import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.abc import Loader
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from types import ModuleType
from typing import Any

from wengert import errors

VERSION = "2.13.0"  # version of torch's interface; programs compare it to choose between eras


def install() -> None:
    """Make `import torch`, and imports of its submodules, import this package, in this process.

    Raises RuntimeError if torch itself is imported already. A second call does nothing.
    """
    if any(isinstance(finder, _Finder) for finder in sys.meta_path):
        return
    if "torch" in sys.modules:
        raise RuntimeError(
            "torch is imported in this process already, so that wengert cannot take its name. "
            "Hint: call wengert.compat.install() first, or run the program with `python -m wengert run`."
        )
    sys.meta_path.insert(0, _Finder())
    _name_tensor_classes()


def uninstall() -> None:
    """Undo install(). Modules that have imported torch keep their references."""
    for cls, home in _homes.items():
        cls.__module__ = home
    _homes.clear()
    sys.meta_path[:] = [finder for finder in sys.meta_path if not isinstance(finder, _Finder)]
    for name in [name for name, module in sys.modules.items() if isinstance(module, TorchModule)]:
        del sys.modules[name]


_homes: dict[type, str] = {}  # classes of tensors that say they are torch's, and their modules here


def _name_tensor_classes() -> None:
    """Let the classes of tensors and generators say that they are of torch: libraries ask for type(x).__module__."""
    import_module("wengert.nn.parameter")  # the other module that defines such classes
    tensor: Any = import_module("wengert.tensor").Tensor
    classes = [tensor, import_module("wengert").Generator]
    for cls in classes:
        classes += cls.__subclasses__()
        if cls.__module__.startswith("wengert"):
            _homes[cls] = cls.__module__
            cls.__module__ = "torch" if cls in classes[:2] else "torch" + cls.__module__.removeprefix("wengert")
            if type(cls) is not type:
                copyreg.pickle(type(cls), _reduce_class)


def _reduce_class(cls: type) -> str | tuple[Any, ...]:
    """Pickle a class of tensors under its name here, so that processes without install() can load it."""
    return (_find_class, (_homes[cls], cls.__qualname__)) if cls in _homes else cls.__qualname__


def _find_class(module: str, name: str) -> Any:
    return getattr(import_module(module), name)


class TorchModule(ModuleType):
    """Module torch.NAME that forwards attribute look-ups to `target`, the module wengert.NAME."""

    def __init__(self, name: str, target: ModuleType) -> None:
        super().__init__(name, target.__doc__)
        self._target = target

    def __getattr__(self, name: str) -> Any:
        if name == "__version__" and self.__name__ == "torch":
            return VERSION
        if name == "__all__":
            return getattr(self._target, name, None) or [n for n in dir(self._target) if not n.startswith("_")]
        try:
            value = getattr(self._target, name)
        except AttributeError:
            raise _missing_feature(f"{self.__name__}.{name}") from None
        if isinstance(value, ModuleType) and value.__name__.startswith("wengert."):
            return import_module("torch" + value.__name__.removeprefix("wengert"))
        return value

    def __setattr__(self, name: str, value: Any) -> None:
        # The import system sets submodules as attributes. The function torch.autograd.gradcheck must not be hidden by the
        # module of that name.
        target = self.__dict__.get("_target")
        if isinstance(value, TorchModule) and callable(getattr(target, name, None)):
            return
        super().__setattr__(name, value)

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *dir(self._target)})

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the target: torch.autograd.variable was a module first and a function later."""
        if not callable(self._target):
            raise TypeError(f"module {self.__name__} is not callable")
        return self._target(*args, **kwargs)


class MissingModule(TorchModule):
    """Module of torch that this package does not have: it can be imported, but using it raises MissingFeatureError."""

    def __init__(self, name: str) -> None:
        super().__init__(name, ModuleType(name))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise _missing_feature(self.__name__)

    def __mro_entries__(self, bases: tuple[Any, ...]) -> tuple[type, ...]:
        raise _missing_feature(self.__name__)

    def __instancecheck__(self, instance: Any) -> bool:
        return False

    def __subclasscheck__(self, cls: type) -> bool:
        return False

    def __repr__(self) -> str:
        return f"<{self.__name__}, which wengert does not have>"


def _missing_feature(name: str) -> Exception:
    return errors.MissingFeatureError(
        f"{name} is not part of wengert {import_module('wengert').__version__}, which stands in for torch in this process"
    )


class _Finder:
    """Meta path finder for torch and its submodules."""

    def find_spec(self, name: str, path: Sequence[str] | None = None, target: Any = None) -> ModuleSpec | None:
        if name != "torch" and not name.startswith("torch."):
            return None
        return ModuleSpec(name, _Loader(), is_package=True)


class _Loader(Loader):
    """Loader that creates a TorchModule or a MissingModule."""

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        name = "wengert" + spec.name.removeprefix("torch")
        try:
            found = find_spec(name) is not None
        except ModuleNotFoundError:  # the parent is missing, or is no package
            found = False
        return TorchModule(spec.name, import_module(name)) if found else MissingModule(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        """Do nothing: create_module has done everything."""
