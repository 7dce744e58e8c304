"""Unpickler for load(weights_only=True): a virtual machine for the part of pickle that data need. It executes no code of the file.

A global is a name of _allowed(), or one that the program has allowed by add_safe_globals. Those of _allowed() that are called have
functions of their own here, which check their arguments. Everything is iterative, and allocates in proportion to the file.
"""

from __future__ import annotations

import pickle
import struct
from collections import Counter, OrderedDict
from functools import cache
from typing import Any

from wengert import dtypes, errors
from wengert.core.tensor import TensorBase
from wengert.serialization import _names, _rebuild

_KEY_ITEMS = 10_000  # most objects in a key of a dict, and in an item of a set, that is a tuple
_KEY_DEPTH = 100
_BLOCKED = frozenset({"sys", "os", "posix", "nt"})  # of no module here can anything be allowed

_ADVICE = (
    "In PyTorch 2.6, we changed the default value of the `weights_only` argument in `torch.load` from `False` to `True`. "
    "Re-running `torch.load` with `weights_only` set to `False` will likely succeed, but it can result in arbitrary code "
    "execution. Do it only if you got the file from a trusted source."
)
_END = (
    "\n\nCheck the documentation of torch.load to learn more about types accepted by default with weights_only "
    "https://pytorch.org/docs/stable/generated/torch.load.html."
)


def refused_global(name: str) -> Exception:
    """Return the error for a global that is not allowed, in torch's words."""
    return pickle.UnpicklingError(
        "Weights only load failed. This file can still be loaded, to do so you have two options, \033[1mdo those steps only if "
        f"you trust the source of the checkpoint\033[0m. \n\t(1) {_ADVICE}\n\t(2) Alternatively, to load with `weights_only=True` "
        "please check the recommended steps in the following error message.\n\tWeightsUnpickler error: Unsupported global: GLOBAL "
        f"{name} was not an allowed global by default. Please use `torch.serialization.add_safe_globals([{name}])` or the "
        f"`torch.serialization.safe_globals([{name}])` context manager to allowlist this global if you trust this class/function."
        f"{_END}"
    )


def failed(what: str) -> Exception:
    """Return the error for a pickle that holds more than data, in torch's words."""
    return pickle.UnpicklingError(f"Weights only load failed. {_ADVICE}\n{what}{_END}")


def damaged(what: str) -> Exception:
    """Return the error for a pickle that does not fit together."""
    return pickle.UnpicklingError(f"Weights only load failed. The file is damaged: {what}{_END}")


# -- globals -----------------------------------------------------------------------------------------------------------


def _check_hashable(*items: Any) -> None:
    """Raise UnpicklingError for a key that hashing would take long for, or recurse deeply into: nested tuples of any size."""
    left = _KEY_ITEMS
    level: list[Any] = list(items)
    for _ in range(_KEY_DEPTH):
        level = [item for inner in level if type(inner) is tuple for item in inner]
        left -= len(level)
        if not level or left < 0:
            break
    if level:
        raise damaged("a key of a dict is a tuple of too many items.")


def _encode(text: str, encoding: str = "utf-8") -> bytes:
    if type(text) is not str or encoding not in ("latin1", "latin-1", "utf-8"):
        raise damaged("bytes.")
    return text.encode(encoding)


def _bytearray(content: Any = b"", encoding: str | None = None) -> bytearray:
    if type(content) is str and encoding is not None:
        content = _encode(content, encoding)
    if type(content) is not bytes:  # an int would be a size
        raise damaged("a bytearray.")
    return bytearray(content)


def _set(items: Any = ()) -> set[Any]:
    if not isinstance(items, (list, tuple, set)):
        raise damaged("a set.")
    _check_hashable(*items)
    return set(items)


def _complex(real: Any = 0, imag: Any = 0) -> complex:
    if type(real) not in (int, float) or type(imag) not in (int, float):
        raise damaged("a complex number.")
    return complex(real, imag)


def _ordered_dict(items: Any = ()) -> OrderedDict[Any, Any]:
    if not isinstance(items, (list, tuple, dict)):
        raise damaged("an OrderedDict.")
    pairs = items.items() if isinstance(items, dict) else items
    result: OrderedDict[Any, Any] = OrderedDict()
    for pair in pairs:
        if not isinstance(pair, (list, tuple)) or len(pair) != 2:
            raise damaged("an OrderedDict.")
        _check_hashable(pair[0])
        result[pair[0]] = pair[1]
    return result


def _counter(items: Any = None) -> Counter[Any]:
    if items is not None and type(items) is not dict:
        raise damaged("a Counter.")
    result: Counter[Any] = Counter()
    dict.update(result, items or {})
    return result


def _size(items: Any = ()) -> Any:
    from wengert.sizes import Size

    if not isinstance(items, (tuple, list)) or not all(type(n) is int for n in items):
        raise damaged("a Size.")
    return Size(items)


def _device(*arguments: Any) -> Any:
    from wengert.devices import device

    return device(*arguments)


@cache
def _allowed() -> dict[str, tuple[Any, Any]]:
    """Return what a file may name: the object, and the function that a call of it calls, or None."""
    from wengert.nn.parameter import Parameter
    from wengert.storage import TypedStorage, UntypedStorage
    from wengert.storage._typed import CLASS_NAMES, legacy_class
    from wengert.tensor import Tensor

    table: dict[str, tuple[Any, Any]] = {
        "collections.OrderedDict": (OrderedDict, _ordered_dict), "collections.Counter": (Counter, _counter),
        "builtins.set": (set, _set), "builtins.complex": (complex, _complex), "builtins.bytearray": (bytearray, _bytearray),
        "_codecs.encode": (_encode, _encode), "torch.Size": (_size, _size), "torch.device": (_device, _device),
        "torch.Tensor": (Tensor, None), "torch.nn.parameter.Parameter": (Parameter, None),
        "torch.storage.TypedStorage": (TypedStorage, None), "torch.storage.UntypedStorage": (UntypedStorage, None),
        "torch.serialization._get_layout": (_rebuild._get_layout, _rebuild._get_layout),
        "torch._tensor._rebuild_from_type_v2": (_rebuild._rebuild_from_type_v2, _rebuild_from_type),
    }  # fmt: skip
    for name in _rebuild.OF_UTILS:
        function = getattr(_rebuild, name)
        table[f"torch._utils.{name}"] = function, function
    for dtype in dtypes.DTYPES:
        table[f"torch.{dtype.name}"] = dtype, None
    for name in CLASS_NAMES.values():
        for prefix in ("torch", "torch.cuda"):
            table[f"{prefix}.{name}"] = legacy_class(name), None
        table[f"torch.{name.replace('Storage', 'Tensor')}"] = Tensor, None
    return table


def _rebuild_from_type(func: Any, new_type: Any, args: Any, state: Any) -> Any:
    """Do what torch's function does, with func a function that makes tensors, and new_type a class that is allowed."""
    if func not in [getattr(_rebuild, name) for name in _rebuild.OF_UTILS]:
        raise damaged("a tensor with attributes.")
    return _rebuild._rebuild_from_type_v2(func, new_type, args, state)


def name_in_file(module: str, name: str) -> str:
    """Return the name of a global as messages and add_safe_globals have it: builtins under Python 3's names, without a module."""
    import _compat_pickle

    module, name = _compat_pickle.NAME_MAPPING.get((module, name), (_compat_pickle.IMPORT_MAPPING.get(module, module), name))
    return f"{module}.{name}"


def is_allowed(full: str, extra: dict[str, Any]) -> bool:
    """Whether a file may name a global. extra: what the program has allowed, by name."""
    return full in _allowed() or full in extra


# -- the machine -------------------------------------------------------------------------------------------------------

_MARK = object()


class WeightsUnpickler:
    """Reads one pickle from `data` at `position`, which is the end of the pickle afterwards.

    persistent_load: makes the storage of a persistent id. extra: what the program has allowed, by name."""

    def __init__(self, data: Any, position: int, persistent_load: Any, extra: dict[str, Any], encoding: str = "utf-8") -> None:
        self.data = data
        self.position = position
        self.persistent_load = persistent_load
        self.extra = extra
        self.encoding = encoding
        self.calls: dict[int, Any] = {}  # the function to call for a global that was pushed, by the id of the global
        self.stack: list[Any] = []
        self.memo: dict[int, Any] = {}

    def take(self, count: int) -> bytes:
        """Return the next bytes."""
        end = self.position + count
        content = bytes(self.data[self.position : end])
        if len(content) != count:
            raise damaged("the pickle ends too early.")
        self.position = end
        return content

    def line(self) -> str:
        """Return the text up to the next line feed."""
        end = self.data.find(b"\n", self.position)
        if end < 0 or end - self.position > 10_000:
            raise damaged("a name.")
        text = self.take(end - self.position).decode("utf-8", "replace")
        self.position += 1
        return text

    def pop(self) -> Any:
        if not self.stack or self.stack[-1] is _MARK:
            raise damaged("the pickle takes more from its stack than is there.")
        return self.stack.pop()

    def top(self) -> Any:
        self.stack.append(self.pop())
        return self.stack[-1]

    def pop_to_mark(self) -> list[Any]:
        """Return what lies above the last mark, and remove it with the mark."""
        for i in range(len(self.stack) - 1, -1, -1):
            if self.stack[i] is _MARK:
                items = self.stack[i + 1 :]
                del self.stack[i:]
                return items
        raise damaged("the pickle takes more from its stack than is there.")

    def load(self) -> Any:
        """Return the object of the pickle."""
        try:
            while True:
                code = self.take(1)[0]
                if code == 46:  # STOP
                    return self.pop()
                step = _STEPS.get(code)
                if step is None:
                    raise failed(
                        "Please file an issue with the following so that we can make `weights_only=True` compatible with your use "
                        f"case: WeightsUnpickler error: \n\nUnsupported operand {code}"
                    )
                step(self)
        except (TypeError, ValueError, LookupError, AttributeError, ArithmeticError, struct.error) as error:
            if isinstance(error, errors.WengertError):
                raise
            raise damaged(f"{type(error).__name__}: {error!s:.200}") from error

    # Each of the following does one operation of pickle.

    def proto(self) -> None:
        self.take(1)

    def number(self, count: int, signed: bool = False) -> int:
        return int.from_bytes(self.take(count), "little", signed=signed)

    def long1(self) -> None:
        self.stack.append(self.number(self.take(1)[0], True))

    def text(self, count: int) -> None:
        self.stack.append(self.take(self.number(count)).decode("utf-8", "surrogatepass"))

    def old_text(self, count: int) -> None:
        content = self.take(self.number(count))
        self.stack.append(content if self.encoding == "bytes" else content.decode(self.encoding))

    def tuple_of(self, count: int) -> None:
        items = [self.pop() for _ in range(count)]
        self.stack.append(tuple(reversed(items)))

    def append(self) -> None:
        item = self.pop()
        self.target(list).append(item)

    def appends(self) -> None:
        items = self.pop_to_mark()
        self.target(list).extend(items)

    def target(self, kind: type) -> Any:
        """Return the object on top of the stack, to be filled: a list, a dict, or an object of an allowed class."""
        found = self.top()
        if not isinstance(found, kind) and id(type(found)) not in self.calls:
            raise damaged("the pickle fills an object that is no list or dict.")
        return found

    def set_items(self, items: list[Any]) -> None:
        target = self.target(dict)
        if len(items) % 2:
            raise damaged("a dict.")
        for i in range(0, len(items), 2):
            if type(items[i]) is tuple:
                _check_hashable(items[i])
            target[items[i]] = items[i + 1]

    def set_item(self) -> None:
        value, key = self.pop(), self.pop()
        self.set_items([key, value])

    def put(self, count: int) -> None:
        self.memo[self.number(count)] = self.top()

    def get(self, count: int) -> None:
        index = self.number(count)
        if index not in self.memo:
            raise damaged(f"the pickle has no object {index}.")
        self.stack.append(self.memo[index])

    def persistent(self) -> None:
        self.stack.append(self.persistent_load(self.pop()))

    def global_(self) -> None:
        module, name = self.line(), self.line()
        full = name_in_file(module, name)
        if full in self.extra:
            found = call = self.extra[full]
        elif module.split(".")[0] in _BLOCKED:
            raise failed(f"\n\nTrying to load unsupported GLOBAL {module}.{name} whose module {module} is blocked.")
        elif full in _allowed():
            found, call = _allowed()[full]
        else:
            raise refused_global(full.removeprefix("builtins."))
        if call is not None:
            self.calls[id(found)] = call
        self.stack.append(found)

    def callable_of(self, found: Any) -> Any:
        """Return the function to call for a global. Raises UnpicklingError for what may not be called."""
        call = self.calls.get(id(found))
        if call is None:
            what = getattr(found, "__name__", None)
            what = what if type(what) is str else type(found).__name__
            raise failed(f"Trying to call reduce for unrecognized function {what:.200}")
        return call

    def reduce(self) -> None:
        arguments, function = self.pop(), self.pop()
        if type(arguments) is not tuple:
            raise damaged("arguments that are no tuple.")
        self.stack.append(self.callable_of(function)(*arguments))

    def new_object(self) -> None:
        arguments, cls = self.pop(), self.pop()
        call = self.callable_of(cls)
        if type(arguments) is not tuple:
            raise damaged("arguments that are no tuple.")
        if isinstance(call, type):  # a class that the program has allowed
            self.stack.append(cls.__new__(cls, *arguments))
        else:
            self.stack.append(call(*arguments))

    def build(self) -> None:
        state, obj = self.pop(), self.top()
        if isinstance(obj, TensorBase):
            _rebuild.set_state(obj, state)
        elif type(obj) in (OrderedDict, Counter):
            if type(state) is not dict or not all(type(key) is str for key in state):
                raise damaged("attributes of a dict.")
            obj.__dict__.update(state)
        elif id(type(obj)) in self.calls:  # of a class that the program has allowed
            set_object_state(obj, state)
        else:
            raise failed(
                f"Can only build Tensor, Parameter, OrderedDict or types allowlisted via `add_safe_globals`, but got {type(obj)}"
            )


def set_object_state(obj: Any, state: Any) -> None:
    """Give an object of an allowed class its state, as pickle does."""
    if hasattr(obj, "__setstate__"):
        obj.__setstate__(state)
        return
    slots = None
    if isinstance(state, tuple) and len(state) == 2:
        state, slots = state
    if state:
        obj.__dict__.update(state)
    for key, value in (slots or {}).items():
        setattr(obj, key, value)


def _push(value: Any) -> Any:
    return lambda machine: machine.stack.append(value)


_STEPS: dict[int, Any] = {
    0x80: WeightsUnpickler.proto,
    ord("("): _push(_MARK), ord("N"): _push(None), 0x88: _push(True), 0x89: _push(False), ord(")"): _push(()),
    ord("]"): lambda machine: machine.stack.append([]), ord("}"): lambda machine: machine.stack.append({}),
    ord("J"): lambda machine: machine.stack.append(machine.number(4, True)),
    ord("K"): lambda machine: machine.stack.append(machine.number(1)),
    ord("M"): lambda machine: machine.stack.append(machine.number(2)), 0x8A: WeightsUnpickler.long1,
    ord("G"): lambda machine: machine.stack.append(struct.unpack(">d", machine.take(8))[0]),
    ord("X"): lambda machine: machine.text(4), 0x8C: lambda machine: machine.text(1),
    ord("U"): lambda machine: machine.old_text(1), ord("T"): lambda machine: machine.old_text(4),
    ord("C"): lambda machine: machine.stack.append(machine.take(machine.number(1))),
    ord("B"): lambda machine: machine.stack.append(machine.take(machine.number(4))),
    ord("t"): lambda machine: machine.stack.append(tuple(machine.pop_to_mark())), 0x85: lambda machine: machine.tuple_of(1),
    0x86: lambda machine: machine.tuple_of(2), 0x87: lambda machine: machine.tuple_of(3),
    ord("a"): WeightsUnpickler.append, ord("e"): WeightsUnpickler.appends, ord("s"): WeightsUnpickler.set_item,
    ord("u"): lambda machine: machine.set_items(machine.pop_to_mark()),
    ord("q"): lambda machine: machine.put(1), ord("r"): lambda machine: machine.put(4),
    ord("h"): lambda machine: machine.get(1), ord("j"): lambda machine: machine.get(4),
    ord("c"): WeightsUnpickler.global_, ord("R"): WeightsUnpickler.reduce, 0x81: WeightsUnpickler.new_object,
    ord("b"): WeightsUnpickler.build, ord("Q"): WeightsUnpickler.persistent,
}  # fmt: skip


def globals_of(data: Any) -> list[str]:
    """Return the names of all globals of a pickle, each once."""
    from pickletools import genops

    found: dict[str, None] = {}
    strings: list[str] = []
    try:
        for opcode, argument, _ in genops(bytes(data)):
            if opcode.name == "GLOBAL":
                found[name_in_file(*str(argument).split(" ", 1))] = None
            elif opcode.name == "STACK_GLOBAL" and len(strings) > 1:
                found[name_in_file(*strings[-2:])] = None
            if isinstance(argument, str) and "UNICODE" in opcode.name:
                strings.append(argument)
    except (ValueError, TypeError) as error:
        raise damaged(f"{error!s:.200}") from error
    return list(found)


def names_of(safe: list[Any]) -> dict[str, Any]:
    """Return what a program has allowed, by the names that files have: objects, or pairs (object, name)."""
    table: dict[str, Any] = {}
    for entry in safe:
        if isinstance(entry, tuple):
            if len(entry) != 2 or not isinstance(entry[1], str):
                raise ValueError(f"Expected tuple of (global, str of callable full path), but got {entry}")
            table[entry[1]] = entry[0]
            continue
        name = _names.torch_name(entry) or (entry.__module__, getattr(entry, "__qualname__", None) or entry.__name__)
        table[".".join(name)] = entry
    return table
