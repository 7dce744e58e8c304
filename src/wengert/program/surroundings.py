"""The Python objects that a function reaches: its closure, the globals that it names, its object and their attributes.

A recording is right as long as these are what they were. So the containers among them are compared before a run, element by element
and by identity, and small arrays by their elements. Tensors are not looked into: their values are read anew. An object that is
neither compared nor known not to change, such as an iterator or a generator of random numbers, makes the function run eagerly.
"""

from __future__ import annotations

import dis
import enum
import re
import sys
from collections import OrderedDict, deque
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import pairwise
from types import (
    BuiltinFunctionType,
    CellType,
    CodeType,
    FunctionType,
    GetSetDescriptorType,
    MappingProxyType,
    MemberDescriptorType,
    MethodDescriptorType,
    MethodType,
    MethodWrapperType,
    ModuleType,
    WrapperDescriptorType,
)
from typing import Any, NamedTuple
from weakref import ref

import numpy as np

from wengert.core.replay import first_changed, number_of_filled
from wengert.core.tensor import TensorBase
from wengert.core.watched import own_code
from wengert.program.form import hooks_of

# Objects that do not change, or whose changes no result depends on.
_PLAIN = (
    int, float, complex, str, bytes, type(None), type(Ellipsis), slice, range, enum.Enum, re.Pattern, ref, CodeType,
    GetSetDescriptorType, MemberDescriptorType, MethodDescriptorType, MethodWrapperType, WrapperDescriptorType,
    np.dtype, np.generic, np.ufunc, type(np.sum),
)  # fmt: skip
_CONSTANT_TYPES = frozenset({int, float, bool, str, bytes, type(None)})  # the most frequent ones
_CONTAINERS = frozenset({dict, OrderedDict, list, set})
_LIMIT = 20_000  # objects
_ARRAY_LIMIT = 10_000  # elements of an array that is compared
NUMBERS = frozenset({int, float})  # types of numbers that a program may take
_EMPTY = object()
_OPEN = frozenset({"types.SimpleNamespace", "argparse.Namespace", "dataclasses.Field", "dataclasses._DataclassParams"})
# Modules of objects that do not change, or whose changes no result depends on.
_SETTLED = frozenset({
    "_abc", "_io", "_thread", "abc", "dataclasses", "datetime", "decimal", "fractions", "functools", "logging", "operator",
    "pathlib", "threading", "typing", "uuid", "weakref",
})  # fmt: skip
_DRAWING = frozenset({"random", "rvs", "default_rng"})  # names in NumPy and SciPy of what draws random numbers
_SETTINGS = frozenset({"param_groups", "defaults", "state_dict", "get_last_lr", "get_lr"})  # names that read those of an optimizer
_GRADS = frozenset({"grad", "_grad", "zero_grad"})  # names that set .grad
_LOOKUPS = frozenset({"vars", "globals", "locals", "getattr", "__dict__", "__closure__", "attrgetter", "eval", "exec"})
_ENVIRONMENT = frozenset({"environ", "getenv", "environb"})


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


class Place(NamedTuple):
    """Where a function finds a number: at a key of a dict, at an index of a list, or in a cell, whose key is None."""

    container: Any
    key: Any

    @property
    def identity(self) -> tuple[int, Any]:
        """What tells the place from others. It holds while the container lives."""
        return id(self.container), self.key

    def read(self) -> Any:
        """Return what is there."""
        return self.container.cell_contents if self.key is None else self.container[self.key]

    def write(self, x: Any) -> None:
        """Put an object there."""
        if self.key is None:
            self.container.cell_contents = x
        else:
            self.container[self.key] = x


class Surroundings:
    """What a function and objects that it is given reach. tensors: the tensors among it. unknown: an object that cannot be
    compared, in words, or None.

    varying: places of numbers that may change, by their identities. places: those of them that the function reaches."""

    def __init__(self, fn: Any, varying: dict[Any, Place] | None = None, given: Iterable[Any] = ()) -> None:
        self.places: dict[Any, Place] = {}
        self.names: list[str] = []  # of the places, for people
        self._varying = varying or {}
        self.tensors: list[TensorBase] = []
        self.unknown: str | None = None
        self.numbers: set[int] = set()  # the ids of NumPy's numbers among it
        self.names_grads = False  # whether a function may set .grad
        self._seen: dict[int, Any] = {}  # all of it but numbers and the like, by the id, until `forget`
        self._names: dict[int, list[Any]] = {}  # by the id of a list, the keys and names under which containers hold it
        self._entries: list[tuple[Any, Any, Any, bool, str]] = []  # (container, keys, values, by_name, path): see core/replay.py
        self._empty: list[Any] = []  # containers that are empty
        self._empty_paths: list[str] = []
        self._arrays: list[tuple[np.ndarray, np.ndarray, str]] = []  # with their copies
        self._optimizers: list[tuple[Any, str]] = []
        self._reads_settings = False  # of optimizers
        self._seen_modules: set[Any] = set()
        self._walk([(fn, getattr(fn, "__qualname__", "function")), *[(x, "an argument") for x in given]])
        if self._reads_settings:
            for optimizer, path in self._optimizers:
                self._walk([(group, f"{path}.param_groups[{i}]") for i, group in enumerate(optimizer.param_groups)])

    def _walk(self, todo: list[tuple[Any, str]]) -> None:
        while todo:
            x, path = todo.pop()
            kind = type(x)
            if isinstance(x, np.generic):
                self.numbers.add(id(x))
            if kind in _CONSTANT_TYPES or id(x) in self._seen or isinstance(x, _PLAIN):
                continue
            self._seen[id(x)] = x
            if len(self._seen) > _LIMIT:
                self.unknown = f"{path} and more than {_LIMIT} other Python objects"
                return
            if kind in _CONTAINERS and not x:  # as most dicts of a module
                self._empty.append(x)
                self._empty_paths.append(path)
            else:
                todo.extend(self._parts(x, path))

    def _parts(self, x: Any, path: str) -> Iterator[tuple[Any, str]]:
        """Yield the objects that x refers to, with their paths, and keep what has to be compared."""
        if isinstance(x, TensorBase):
            self.tensors.append(x)
            for hooks in hooks_of(x) if x._leaf_hooks or x._post_hooks else ():
                yield from ((hook, path) for hook in hooks)
        elif isinstance(x, (MethodType, WeakMethod)):
            yield x.__self__, path + ".__self__"
            yield x.__func__, path
        elif isinstance(x, FunctionType):
            yield from self._function_parts(x, path)
        elif isinstance(x, (dict, list, tuple, set, frozenset, deque, MappingProxyType)):
            yield from self._keep(x, path)
        elif isinstance(x, np.ndarray):
            self._keep_array(x, path)
        elif isinstance(x, type):
            yield from self._class_parts(x, path)
        elif isinstance(x, ModuleType):
            if not is_of_library(x.__name__):
                yield from self._names_of(vars(x), dict.fromkeys(vars(x)), path)
        elif isinstance(x, BuiltinFunctionType):
            if not isinstance(x.__self__, (ModuleType, type(None))):
                yield x.__self__, path + ".__self__"
        elif isinstance(x, partial):
            yield from ((part, path) for part in (x.func, x.args, x.keywords))
        elif isinstance(x, (staticmethod, classmethod)):
            yield x.__func__, path
        elif isinstance(x, property):
            yield from ((part, path) for part in (x.fget, x.fset, x.fdel) if part is not None)
        elif type(x).__module__ == "wengert.program.compiled":
            yield x.function, path
        elif is_optimizer(x):  # its step is a call of its own, which reads its settings each time
            self._optimizers.append((x, path))
            for group in x.param_groups:
                for i, p in enumerate(group["params"]):
                    yield p, f"{path}.params[{i}]"
        else:
            yield from self._object_parts(x, path)

    def _object_parts(self, x: Any, path: str) -> Iterator[tuple[Any, str]]:
        """The attributes and the class of an object."""
        kind = type(x)
        if kind is object or kind.__module__.startswith(("wengert.core.", "wengert.ops.")):
            return
        is_open = f"{kind.__module__}.{kind.__qualname__}" in _OPEN
        is_own = kind.__module__.startswith("wengert")
        slots: list[str] = []
        if not (is_own and hasattr(x, "__dict__")):
            slots = [name for c in kind.__mro__ for name, member in vars(c).items() if isinstance(member, MemberDescriptorType)]
        if hasattr(x, "__wrapped__") and not isinstance(kind.__dict__.get("__wrapped__"), property):
            yield x.__wrapped__, path
        if not is_open and (is_of_library(kind.__module__, modules=False) or not (hasattr(x, "__dict__") or slots)):
            if not (is_own or kind.__module__ in _SETTLED or callable(x)):
                self.unknown = self.unknown or f"{path}, an object of {kind.__module__}.{kind.__qualname__}"
            return
        if hasattr(x, "__dict__"):
            yield from self._keep(x.__dict__, path)
        if slots and not is_own:
            yield from self._keep(_Slots(x, slots), path)
        if not is_own:
            yield kind, path

    def _class_parts(self, cls: type, path: str) -> Iterator[tuple[Any, str]]:
        if is_of_library(cls.__module__):
            return
        yield from self._keep(vars(cls), path)
        yield from ((base, path) for base in cls.__bases__)

    def _keep_array(self, x: np.ndarray, path: str) -> None:
        if x.size > _ARRAY_LIMIT or x.dtype.hasobject:
            self.unknown = self.unknown or f"{path}, an array of {x.size} elements of {x.dtype}. Hint: make it a tensor"
        else:
            self._arrays.append((x, x.copy(), path))

    def _function_parts(self, fn: FunctionType, path: str) -> Iterator[tuple[Any, str]]:
        for name, cell in zip(own_code(fn).co_freevars, fn.__closure__ or (), strict=True):
            if id(cell) not in self._seen:
                self._seen[id(cell)] = cell
                self._name(name, _items(cell)[1][0])
            yield from self._keep(cell, f"{path}.{name}")
        if is_of_library(fn.__module__ or ""):
            return
        used = dict.fromkeys(_names(own_code(fn)))
        self.names_grads |= not _GRADS.isdisjoint(used) or any(type(x) is str and x in _GRADS for x in own_code(fn).co_consts)
        self._reads_settings |= not _SETTINGS.isdisjoint(used)
        if not _ENVIRONMENT.isdisjoint(used):
            self.unknown = self.unknown or f"{path}, which reads the variables of the environment"
        yield from self._names_of(fn.__globals__, used, path)
        for part in (fn.__defaults__, fn.__kwdefaults__, fn.__dict__):
            if part:
                yield part, path

    def _names_of(self, namespace: dict[str, Any], used: dict[str, None], path: str) -> Iterator[tuple[Any, str]]:
        """Keep the names of a module that a function uses, and of the user's modules among them."""
        names = [name for name in used if name in namespace]
        if not names:
            return
        values = [namespace[name] for name in names]
        self._add_entry(namespace, names, values, True, path)
        for name, value in zip(names, values, strict=True):
            self._name(name, value)
            if isinstance(value, ModuleType) and is_of_library(value.__name__):
                parts = value.__name__.split(".")
                if parts[0] in ("numpy", "scipy") and not _DRAWING.isdisjoint((*used, *parts)):
                    self.unknown = self.unknown or f"{path}, which draws random numbers of {parts[0]}"
            elif isinstance(value, ModuleType):
                if (id(value), *used) not in self._seen_modules:
                    self._seen_modules.add((id(value), *used))
                    yield from self._names_of(vars(value), used, name)
            else:
                yield value, name

    def _keep(self, container: Any, path: str) -> Iterator[tuple[Any, str]]:
        keys, values = _items(container)
        if not isinstance(container, (tuple, frozenset)):  # these do not change
            self._add_entry(container, keys, values, False, path)
        for key, value in zip(keys, values, strict=True):
            if not isinstance(container, CellType):
                self._name(key, value)
            yield value, f"{path}.{key}" if isinstance(key, str) else path if key is None else f"{path}[{key!r}]"

    def _add_entry(self, container: Any, keys: Any, values: Any, by_name: bool, path: str) -> None:
        self._entries.append((container, tuple(keys), tuple(values), by_name, path))
        for key, value in zip(keys, values, strict=True) if self._varying else ():
            place = self._varying.get((id(container), key))
            if place is not None and type(value) in NUMBERS and place.identity not in self.places:
                self.places[place.identity] = place
                self.names.append(f"{path}.{key}" if key is not None else path)

    def _name(self, name: Any, value: Any) -> None:
        if type(value) is list:
            self._names.setdefault(id(value), []).append(name)

    def reaches(self, x: Any) -> bool:
        """Whether an object, but no number or text, is among it. To be asked before `forget`."""
        return self._seen.get(id(x)) is x

    def forget(self) -> None:
        """Let go of what comparisons do not need."""
        self._seen = {}

    def let_grow(self, x: list[Any], codes: Iterable[CodeType]) -> None:
        """Compare a list no more, if the codes that have run do nothing with it but to append to it."""
        names = self._names.get(id(x), [])
        if len(names) != 1 or type(names[0]) is not str or not all(_only_appends(code, names[0]) for code in codes):
            return
        self._entries = [entry for entry in self._entries if entry[0] is not x]
        for i in range(len(self._empty) - 1, -1, -1):
            if self._empty[i] is x:
                del self._empty[i], self._empty_paths[i]

    def varying_numbers(self) -> list[Any]:
        """Return the numbers at the places that may change."""
        return [place.read() for place in self.places.values()]

    def changed(self) -> str | None:
        """Return the path to an object that has changed since, or None. Numbers at `places` may have become others."""
        i = number_of_filled(self._empty)
        if i >= 0:
            return self._empty_paths[i]
        i = first_changed(self._entries, 0)
        while i >= 0:
            container, keys, values, by_name, path = self._entries[i]
            found = _values_now(container, keys, by_name)
            if found is None or len(found) != len(values):
                return path
            for key, value, before in zip(keys, found, values, strict=True):
                may_change = (id(container), key) in self.places and type(value) is type(before)
                if not (value is before or may_change or _is_equal_number(value, before)):
                    return path
            if self.places:  # the next comparison is one of identities again
                self._entries[i] = container, keys, tuple(found), by_name, path
            i = first_changed(self._entries, i + 1)
        for array, copy, path in self._arrays:
            if array.shape != copy.shape or array.dtype != copy.dtype or array.tobytes() != copy.tobytes():
                return path
        return None

    def replace(self, change: Callable[[Any], Any]) -> None:
        """Put change(x) in the place of each x that lies in a dict or a list now and was not there before."""
        containers = [(x[0], x[2]) for x in self._entries] + [(x, ()) for x in self._empty]
        containers += [(group, ()) for optimizer, _ in self._optimizers for group in optimizer.param_groups]
        for container, values in containers:
            if isinstance(container, (dict, list)):
                known = set(map(id, values))
                for key, x in list(container.items() if isinstance(container, dict) else enumerate(container)):
                    if id(x) not in known and change(x) is not x:
                        container[key] = change(x)

    def changed_numbers(self) -> list[Place]:
        """Return the places of numbers that have become others of their type."""
        found = []
        for container, keys, values, by_name, _ in self._entries:
            now = _values_now(container, keys, by_name) if isinstance(container, (dict, list, CellType)) else None
            if now is not None and len(now) == len(values):
                found += [Place(container, k) for k, a, b in zip(keys, values, now, strict=True) if _is_another_number(a, b)]
        return found


class _Slots:
    """The slots of an object, as a container."""

    def __init__(self, x: Any, names: list[str]) -> None:
        self.x = x
        self.names = names


def _items(container: Any) -> tuple[list[Any], list[Any]]:
    if isinstance(container, _Slots):
        return container.names, [getattr(container.x, name, _EMPTY) for name in container.names]
    if isinstance(container, (dict, MappingProxyType)):
        return list(container), list(container.values())
    if isinstance(container, CellType):
        try:
            return [None], [container.cell_contents]
        except ValueError:
            return [None], [_EMPTY]
    return list(range(len(container))), list(container)


def _values_now(container: Any, keys: tuple[Any, ...], by_name: bool) -> list[Any] | None:
    """Return what a container holds at its keys, or None if it has other keys."""
    if by_name:
        return [container[key] for key in keys] if all(key in container for key in keys) else None
    new_keys, found = _items(container)
    is_keyed = isinstance(container, (dict, MappingProxyType))
    return None if is_keyed and new_keys != list(keys) else found


def _is_another_number(a: Any, b: Any) -> bool:
    return a is not b and type(a) in NUMBERS and type(a) is type(b) and repr(a) != repr(b)


def _is_equal_number(a: Any, b: Any) -> bool:
    return type(a) is type(b) and isinstance(a, (int, float, complex, str)) and repr(a) == repr(b)


def is_optimizer(x: Any) -> bool:
    """Whether x is an optimizer of wengert.optim, which this module may not import."""
    return any(c.__module__ == "wengert.optim.optimizer" and c.__name__ == "Optimizer" for c in type(x).__mro__)


_LIBRARIES = frozenset({"numpy", "scipy", *sys.stdlib_module_names}) - {"__main__"}


def is_of_library(module: str, modules: bool = True) -> bool:
    """Whether a function or a class is of a library, which does not change. Of wengert only functions and classes are."""
    first = module.partition(".")[0]
    return first in _LIBRARIES or (modules and first == "wengert")


def _only_appends(code: CodeType, name: str) -> bool:
    """Whether code takes what has a name only to call its method append, and looks up no names that are not written in it."""
    if not _LOOKUPS.isdisjoint(code.co_names) or name in code.co_consts or name in (*code.co_varnames, *code.co_cellvars):
        return False
    steps = list(dis.get_instructions(code))
    for step, following in pairwise(steps):
        if step.argval == name and step.opname != "LOAD_CLOSURE":
            if not step.opname.startswith("LOAD_") or following.argval != "append" or not following.opname.startswith("LOAD_"):
                return False
    return True


def _names(code: CodeType) -> Iterator[str]:
    """Yield the names that a code object, and the code inside it, may look up in its globals."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)
