"""Where arrays and numbers come from: facts about memory, and the functions by which values enter and leave tensors."""

from __future__ import annotations

import dis
import re
import sys
from collections.abc import Callable
from types import BuiltinFunctionType, CodeType, FrameType, FunctionType
from typing import Any, NamedTuple

import numpy as np

from wengert.autograd.transforms import _unit_tensors
from wengert.core.tensor import TensorBase
from wengert.core.watched import ARRAY_FUNCTIONS, ARRAY_WRITERS, is_stand_in, own_code
from wengert.ops.index import write_unrecorded
from wengert.ops.registry import OPS, Plain
from wengert.tensor import Tensor


def add_operation() -> Any:
    """Return the operation add."""
    return OPS["add"]


class Host(NamedTuple):
    """A Python function that a program calls. is_step: it is the step of an optimizer. writes: into its first argument.

    draws: it draws random numbers. is_pure: it does nothing but make arrays of its arguments."""

    name: str
    function: Callable[..., Any]
    is_step: bool = False
    writes: bool = False
    draws: bool = False
    is_pure: bool = False


# Of functions, by the id of their code, which is slow to hash. They exist as long as the package.
HOSTS: dict[int, Host] = {}
CREATIONS: set[int] = set()
UNITS: set[int] = set()  # functions that make constants of the shape of a tensor
LEAVING: set[int] = set()
_CONSTANT_MAKERS = """
    zeros ones full empty eye arange linspace logspace tensor scalar_tensor zeros_like ones_like full_like empty_like new_zeros
    new_ones new_full new_empty new_tensor
"""


_LEAVING_METHODS = (
    "item", "tolist", "numpy", "__array__", "__bool__", "__int__", "__float__", "__complex__", "__index__", "data_ptr",
    "__repr__", "__str__", "__format__",
)  # fmt: skip

_RANDOM = ("wengert.ops.random", "wengert.ops.samples")


def load() -> None:
    """Fill the tables, at the first recording."""
    if LEAVING:
        return
    for name in _CONSTANT_MAKERS.split():
        op: Any = OPS.get(name)
        if isinstance(op, Plain):
            CREATIONS.add(id(own_code(op.fn)))
    OPS["multinomial"]  # registers the family
    for op in list(OPS.values()):
        if isinstance(op, Plain) and isinstance(op.fn, FunctionType) and op.fn.__globals__["__name__"] in _RANDOM:
            HOSTS[id(own_code(op.fn))] = Host(op.name, op.fn, writes=op.name.endswith("_"), draws=True)
    UNITS.add(id(own_code(_unit_tensors)))
    HOSTS[id(own_code(write_unrecorded))] = Host("setitem", write_unrecorded, writes=True)
    for name in _LEAVING_METHODS:
        LEAVING.add(id(own_code(getattr(Tensor, name))))


def host_named(name: str) -> Host | None:
    """Return the function of random numbers, or of writes, that programs call by this name."""
    load()
    for key in ARRAY_WRITERS:
        _add_host(key)
    return next((host for host in HOSTS.values() if host.name == name and not host.is_pure), None)


def host_of(code: CodeType) -> Host | None:
    """Return the function that has this code, if programs call it."""
    return HOSTS.get(id(code)) or _add_host(id(code))


def _add_host(key: int) -> Host | None:
    """Add a function that computes with arrays, given the id of its code. Families of operations are loaded when they are used."""
    function = ARRAY_FUNCTIONS.get(key) or ARRAY_WRITERS.get(key)
    if function is None:
        return None
    return HOSTS.setdefault(key, Host(function.__name__, function, writes=key in ARRAY_WRITERS, is_pure=key in ARRAY_FUNCTIONS))


def write_named(op: Any, name: str) -> Any:
    """Return the function of the operation's module with this name, or None."""
    module = sys.modules.get(getattr(op.forward, "__module__", ""))
    function = vars(module).get(name) if module is not None else None
    is_own = isinstance(function, FunctionType) and function.__module__ == module.__name__  # type: ignore[union-attr]
    return function if is_own and function.__closure__ is None else None  # type: ignore[union-attr]


def arguments_of(frame: FrameType) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Return the arguments of a call that begins in a frame."""
    code, found = frame.f_code, frame.f_locals
    n = code.co_argcount
    args = tuple([found[name] for name in code.co_varnames[:n]])
    kwargs = {name: found[name] for name in code.co_varnames[n : n + code.co_kwonlyargcount]}
    n += code.co_kwonlyargcount
    if code.co_flags & 0x04:
        args += found[code.co_varnames[n]]
        n += 1
    if code.co_flags & 0x08:
        kwargs |= found[code.co_varnames[n]]
    return args, kwargs


def holds_arrays(x: Any) -> bool:
    """Whether x is, or holds, a tensor or an array."""
    if isinstance(x, (tuple, list)):
        return any(holds_arrays(y) for y in x)
    return isinstance(x, (TensorBase, np.ndarray))


_METADATA = frozenset({
    "size", "dim", "ndimension", "numel", "nelement", "stride", "storage_offset", "element_size", "get_device", "type", "typename",
    "result_type", "can_cast", "promote_types", "broadcast_shapes", "nbytes", "itemsize", "ndim", "device", "requires_grad",
    "shape", "dtype", "conj",  # which gives a number for a number only
})  # fmt: skip


def is_metadata(name: str) -> bool:
    """Whether a function of this name tells of shapes, dtypes and the like, or of what its own arguments are."""
    return name in _METADATA or (name.startswith(("is_", "_", "has_", "<")) and name != "is_nonzero")


def is_observed(code: CodeType) -> bool:
    """Whether the code is that of a function of the tables above."""
    key = id(code)
    return host_of(code) is not None or key in LEAVING or key in CREATIONS or key in UNITS


def is_public(code: CodeType) -> bool:
    """Whether the code is that of a function or method of tensors that users call. The core, which calls others, has no frames."""
    op = dict.get(OPS, code.co_name)
    for function in (getattr(op, "fn", None), getattr(Tensor, code.co_name, None)):
        if isinstance(function, FunctionType) and own_code(function) is code:
            return True
    return False


def caller_of(frame: FrameType) -> FrameType | None:
    """Return the frame that called the function of a frame. What stands in for the function while overriding is left out."""
    found = frame.f_back
    while found is not None and (is_stand_in(found.f_code) or found.f_globals.get("__name__") == "wengert.core.override"):
        found = found.f_back
    return found


def is_data(x: Any) -> bool:
    """Whether a result may hold elements of tensors as Python numbers or arrays."""
    if isinstance(x, (list, tuple)):
        return type(x) in (list, tuple) and any(is_data(y) for y in x)
    return isinstance(x, (bool, int, float, complex, np.ndarray, np.generic))


_OUTSIDE = frozenset({"print", "input", "open", "exec", "eval", "compile", "breakpoint", "__import__"})
_LOOKUPS = frozenset({"globals", "locals", "vars"})
_PURE_MODULES = frozenset({
    "builtins", "math", "cmath", "_operator", "itertools", "_functools", "_collections", "_collections_abc", "_abc", "_weakref",
    "collections", "_struct", "_thread", "sys", "_warnings", "typing", None,
})  # fmt: skip


def reason_against(function: Any) -> str:
    """Return why a replay may not leave out a call of a function written in C, or ""."""
    owner = getattr(function, "__self__", None)
    name = getattr(function, "__name__", "?")
    if owner is None or type(owner).__name__ == "module":
        module = getattr(function, "__module__", None)
        if module is None or module.partition(".")[0] == "wengert":
            return ""
        if module == "builtins" and name in _OUTSIDE:
            return f"{name}() is called, which would happen once only"
        if module == "builtins" and name in _LOOKUPS:
            return f"{name}() is called, whose result may change unseen"
        if module not in _PURE_MODULES or name == "warn":
            return f"{module}.{name}() is called, whose result may be another one in the next run"
        return ""
    if isinstance(owner, type):
        return ""
    kind = type(owner)
    if isinstance(owner, np.ndarray):
        return "a method of a NumPy array is called"
    if kind.__module__ in ("builtins", "collections") or kind.__module__.partition(".")[0] == "wengert":
        return ""
    if isinstance(owner, (dict, list, tuple, set, str, int, float)) or kind.__module__ in _PURE_MODULES:
        return ""
    if isinstance(function, BuiltinFunctionType) and kind.__module__.partition(".")[0] == "numpy" and isinstance(owner, np.dtype):
        return ""
    return f"{kind.__module__}.{kind.__name__}.{name}() is called, whose result may be another one in the next run"


def is_import(frame: FrameType | None) -> bool:
    """Whether a frame runs inside an import."""
    while frame is not None:
        if frame.f_globals.get("__name__") == "importlib._bootstrap":
            return True
        frame = frame.f_back
    return False


class _Step(NamedTuple):
    """An instruction of Python. effect: by how much it lengthens the stack."""

    opname: str
    arg: int
    argval: Any
    effect: int
    offset: int


def _steps_of(code: CodeType) -> list[_Step]:
    """Return the instructions of a code object. Those of Python 3.13 that read or write two variables become two."""
    found = []
    for step in dis.get_instructions(code):
        if type(step.argval) is tuple and "_FAST_" in step.opname:
            for kind, name in zip(re.findall("(LOAD|STORE)_FAST", step.opname), step.argval, strict=True):
                found.append(_Step(f"{kind}_FAST", 0, name, 1 if kind == "LOAD" else -1, step.offset))
        else:
            effect = dis.stack_effect(step.opcode, step.arg) if step.opname in _LOADS else 0
            found.append(_Step(step.opname, step.arg or 0, step.argval, effect, step.offset))
    return found


def is_returned(frame: FrameType | None) -> bool:
    """Whether the result of the call that a frame waits for goes into the frame's result, also in containers, and nowhere else."""
    if frame is None:
        return False
    steps = _steps_of(frame.f_code)
    return _is_returned_from(steps, next(i for i, step in enumerate(steps) if step.offset > frame.f_lasti), set())


def _is_returned_from(steps: list[_Step], start: int, names: set[str]) -> bool:
    """Whether the object on top of the stack before a step goes into the result only. names: variables that have been followed."""
    depth = 0  # number of objects above it on the stack
    for step in steps[start:]:
        if step.opname == "RETURN_VALUE":
            return depth == 0
        if step.opname == "STORE_FAST" and depth == 0:
            return _is_only_returned(steps, step, names)
        taken = _TAKEN_BY_CONTAINERS.get(step.opname)
        if taken is not None and taken(step.arg) > depth:
            depth = 0
        elif step.opname not in _LOADS or depth < _LOADS[step.opname]:
            return False
        else:
            depth += step.effect
            if depth < min(1, _LOADS[step.opname]):
                return False
    return False


def _is_only_returned(steps: list[_Step], stored: _Step, names: set[str]) -> bool:
    """Whether a local variable, once an object is stored in it, is read only to be returned."""
    for i, step in enumerate(steps):
        if step is stored or "_FAST" not in step.opname or step.argval != stored.argval:
            continue
        if step.opname not in ("LOAD_FAST", "LOAD_FAST_BORROW", "LOAD_FAST_CHECK") or stored.argval in names:
            return False
        if not _is_returned_from(steps, i + 1, names | {stored.argval}):
            return False
    return True


# How many objects an instruction that makes a container takes from the stack, given its argument.
_TAKEN_BY_CONTAINERS: dict[str, Callable[[int], int]] = {
    "BUILD_TUPLE": lambda n: n, "BUILD_LIST": lambda n: n, "BUILD_MAP": lambda n: 2 * n, "BUILD_CONST_KEY_MAP": lambda n: n + 1,
}  # fmt: skip
# Instructions that may come in between, and the number of objects that they need on the stack.
_LOADS = {
    "CACHE": 0, "PUSH_NULL": 0, "LOAD_CONST": 0, "LOAD_FAST": 0, "LOAD_FAST_BORROW": 0, "LOAD_DEREF": 0, "LOAD_GLOBAL": 0,
    "LOAD_ATTR": 1, "LOAD_METHOD": 1, "PRECALL": 1, "CALL": 1, "KW_NAMES": 0, "BUILD_TUPLE": 1, "BUILD_LIST": 1, "BUILD_MAP": 1,
    "BUILD_CONST_KEY_MAP": 1, "BINARY_OP": 2, "COMPARE_OP": 2, "BINARY_SUBSCR": 2,
}  # fmt: skip
