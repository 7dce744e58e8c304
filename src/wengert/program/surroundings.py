"""The Python objects that a function reaches: its closure, the globals that it names, its object and their attributes.

A recording is right as long as these are what they were. So the containers among them are compared before a run, element by element
and by identity. Tensors are not looked into: their values are read anew.
"""

from __future__ import annotations

from collections.abc import Iterator
from operator import is_
from types import BuiltinFunctionType, CellType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any
from weakref import ref

from wengert.core.tensor import TensorBase

_PLAIN = (int, float, complex, str, bytes, type(None), type, CodeType, BuiltinFunctionType, ModuleType)
_LIMIT = 20_000  # objects
_EMPTY = object()


class WeakMethod:
    """A method of an object, which it does not keep alive."""

    def __init__(self, function: Any, instance: Any) -> None:
        self.__func__ = function
        self.__name__ = function.__name__
        self.__qualname__ = function.__qualname__
        self._instance = ref(instance)

    @property
    def __self__(self) -> Any:
        return self._instance()

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.__func__(self._instance(), *args, **kwargs)


class Surroundings:
    """What a function reaches. tensors: the tensors among it. others: objects that are not looked into, by the path to them."""

    def __init__(self, fn: Any) -> None:
        self.tensors: list[TensorBase] = []
        self.names: list[str] = []  # of the containers
        self._seen: set[int] = set()
        self._cells: list[tuple[CellType, Any, str]] = []  # of closures, with their contents
        self._containers: list[tuple[Any, list[Any], list[Any]]] = []  # (container, its keys, its values)
        self._walk(fn, getattr(fn, "__qualname__", "function"))

    def _walk(self, start: Any, path: str) -> None:
        todo = [(start, path)]
        while todo:
            x, path = todo.pop()
            if isinstance(x, _PLAIN) or id(x) in self._seen:
                continue
            self._seen.add(id(x))
            if len(self._seen) > _LIMIT:
                return
            todo.extend(self._parts(x, path))

    def _parts(self, x: Any, path: str) -> Iterator[tuple[Any, str]]:
        """Yield the objects that x refers to, with their paths, and keep what has to be compared."""
        if isinstance(x, TensorBase):
            self.tensors.append(x)
        elif isinstance(x, (MethodType, WeakMethod)):
            yield x.__self__, path + ".__self__"
            yield x.__func__, path
        elif isinstance(x, FunctionType):
            yield from self._function_parts(x, path)
        elif isinstance(x, (dict, list, tuple, set, frozenset)):
            yield from self._keep(x, path)
        elif is_optimizer(x):  # its step is a call of its own, which reads its settings each time
            for group in x.param_groups:
                for i, p in enumerate(group["params"]):
                    yield p, f"{path}.params[{i}]"
        elif hasattr(x, "__dict__") and not _is_of_library(type(x).__module__, modules=False):
            yield from self._keep(x.__dict__, path)

    def _function_parts(self, fn: FunctionType, path: str) -> Iterator[tuple[Any, str]]:
        for name, cell in zip(fn.__code__.co_freevars, fn.__closure__ or (), strict=True):
            yield from self._keep(cell, f"{path}.{name}")
        if _is_of_library(fn.__module__ or ""):
            return
        names = [name for name in dict.fromkeys(_names(fn.__code__)) if name in fn.__globals__]
        if names:
            values = [fn.__globals__[name] for name in names]
            self._containers.append((fn.__globals__, names, values))
            self.names.append(path)
            yield from zip(values, names, strict=True)
        for part in (fn.__defaults__, fn.__kwdefaults__, fn.__dict__):
            if part:
                yield part, path

    def _keep(self, container: Any, path: str) -> Iterator[tuple[Any, str]]:
        keys, values = _items(container)
        if isinstance(container, CellType):
            self._cells.append((container, values[0], path))
        elif not isinstance(container, (tuple, frozenset)):  # these do not change
            self._containers.append((container, keys, values))
            self.names.append(path)
        for key, value in zip(keys, values, strict=True):
            yield value, f"{path}.{key}" if isinstance(key, str) else path if key is None else f"{path}[{key!r}]"

    def changed(self) -> str | None:
        """Return the path to an object that has changed since, or None."""
        for cell, value, path in self._cells:
            try:
                if cell.cell_contents is value:
                    continue
            except ValueError:  # it is empty
                pass
            if not _equals(cell, [None], [value]):
                return path
        for i, (container, keys, values) in enumerate(self._containers):
            if container.__class__ is list and len(container) == len(values) and all(map(is_, container, values)):
                continue
            if container.__class__ is dict and len(container) == len(keys):
                if all(map(is_, container.values(), values)) and all(map(is_, container, keys)):
                    continue
            if not _equals(container, keys, values):
                return self.names[i]
        return None


def _items(container: Any) -> tuple[list[Any], list[Any]]:
    if isinstance(container, dict):
        return list(container), list(container.values())
    if isinstance(container, CellType):
        try:
            return [None], [container.cell_contents]
        except ValueError:
            return [None], [_EMPTY]
    return list(range(len(container))), list(container)


def _equals(container: Any, keys: list[Any], values: list[Any]) -> bool:
    """Whether the container holds these values at these keys. Of a dict of globals, only these keys are compared."""
    if isinstance(container, dict) and "__builtins__" in container:
        found = [container.get(key, _EMPTY) for key in keys]
    else:
        new_keys, found = _items(container)
        if len(found) != len(values) or (isinstance(container, dict) and new_keys != keys):
            return False
    return all(a is b or _is_equal_number(a, b) for a, b in zip(found, values, strict=True))


def _is_equal_number(a: Any, b: Any) -> bool:
    return type(a) is type(b) and isinstance(a, (int, float, complex, str)) and repr(a) == repr(b)


def is_optimizer(x: Any) -> bool:
    """Whether x is an optimizer of wengert.optim, which this module may not import."""
    return any(c.__module__ == "wengert.optim.optimizer" and c.__name__ == "Optimizer" for c in type(x).__mro__)


_LIBRARIES = frozenset({
    "numpy", "scipy", "builtins", "functools", "itertools", "math", "operator", "collections", "contextlib", "typing",
})  # fmt: skip


def _is_of_library(module: str, modules: bool = True) -> bool:
    """Whether a function or a class is of a library, whose objects do not change. Of wengert only functions are."""
    first = module.partition(".")[0]
    return first in _LIBRARIES or (modules and first == "wengert")


def _names(code: CodeType) -> Iterator[str]:
    """Yield the names that a code object, and the code inside it, may look up in its globals."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)
