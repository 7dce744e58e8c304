"""Files of programs: a program with its constants and parameters, which runs where no Python source of the function is.

A file is a zip archive without compression: "program.json", and an array in NumPy's format for each constant and each tensor that
the function reached. Reading executes no code of the file's. Operations are looked up by name in the registry, shapes, strides and
offsets are checked against the memory that they refer to, and arrays of objects are refused.
"""

from __future__ import annotations

import copyreg
import io
import json
import zipfile
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from wengert import errors
from wengert.core.tensor import wrap
from wengert.dtypes import as_dtype, dtype
from wengert.ops.indices import Along
from wengert.ops.registry import OPS, Operation
from wengert.program import form, origins
from wengert.program.form import GradState, Instruction, Layout, Program, Storage, Value
from wengert.utils._pytree import tree_flatten, tree_unflatten

_FORMAT = "wengert program"
_VERSION = 1
_DTYPES = frozenset({
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64", "complex64",
    "complex128",
})  # fmt: skip
_KINDS = frozenset({form.MAKE, form.INTO, form.WRITE, form.COPY, form.HOST, form.GUARD, form.SET_GRAD})
_STORAGES = frozenset({form.INPUT, form.TENSOR, form.GRAD, form.CONSTANT, form.COMPUTED})
_LARGEST = 1 << 46  # bytes of a storage


class ProgramFileError(errors.WengertError, ValueError):
    """A file is no program, or a damaged one, or one that this version cannot run; or a program cannot be put into a file."""


# -- writing ---------------------------------------------------------------------------------------------------------------


class _Writer:
    """Turns programs into JSON and arrays."""

    def __init__(self) -> None:
        self.arrays: list[Any] = []
        self._places: dict[int, int] = {}  # numbers of arrays, by id
        self._tensors: list[Any] = []  # that the programs share

    def array(self, x: Any) -> int:
        """Keep an array. Return its number."""
        if str(x.dtype) not in _DTYPES:
            raise ProgramFileError(f"a program with an array of {x.dtype} cannot be saved")
        if id(x) not in self._places:
            self._places[id(x)] = len(self.arrays)
            self.arrays.append(x)
        return self._places[id(x)]

    def tensor(self, x: Any) -> int:
        """Keep a tensor that a program reaches. Return its number."""
        for i, other in enumerate(self._tensors):
            if other is x:
                return i
        self._tensors.append(x)
        return len(self._tensors) - 1

    def leaf(self, x: Any) -> Any:
        """A leaf: the number of an argument, or a tensor."""
        return {"argument": x} if type(x) is int else {"tensor": self.tensor(x)}

    def program(self, program: Program) -> dict[str, Any]:
        """Return a program as JSON."""
        if program.updates:
            raise ProgramFileError("a program with the step of an optimizer cannot be saved. Hint: leave step() out")
        if program.arithmetic is not None:
            raise ProgramFileError("a program that takes Python numbers cannot be saved. Hint: pass them as tensors of one element")
        numbers = {s: i for i, s in enumerate(program.storages)}
        return {
            "name": program.name, "storages": [self.storage(s) for s in program.storages],
            "instructions": [self.instruction(x, numbers) for y in program.instructions for x in _simple(y)],
            "outputs": [self.output(x, numbers) for x in program.outputs],
            "structure": None if program.structure is None else _tree(program.structure, len(program.outputs)),
            "grads": [[self.leaf(state.leaf), state.is_none] for state in program.grads],
        }  # fmt: skip

    def storage(self, s: Storage) -> dict[str, Any]:
        key: Any = None
        if s.kind == form.INPUT:
            key = s.key
        elif s.kind == form.TENSOR:
            key = self.tensor(s.key)
        elif s.kind == form.GRAD:
            key = self.leaf(s.key)
        elif s.kind == form.CONSTANT:
            key = self.array(s.key)
        found = {"kind": s.kind, "key": key, "nbytes": s.nbytes, "before": s.before, "writes": s.writes}
        return found | {"shape": list(s.shape), "strides": list(s.strides), "dtype": _dtype_name(s.dtype)}

    def instruction(self, x: Instruction, numbers: dict[Storage, int]) -> dict[str, Any]:
        function: Any = None
        if x.kind == form.WRITE:
            function = _name_of_write(x)
        elif x.kind == form.HOST:
            if x.function.is_step:
                raise ProgramFileError(f"a program with the step of an optimizer cannot be saved ({x.line})")
            function = x.function.name
        elif x.kind == form.SET_GRAD:
            function = self.leaf(x.function)
        elif x.kind not in _KINDS or (x.op is not None and OPS.get(x.op.name) is not x.op):
            raise ProgramFileError(f"the instruction {x.name} cannot be saved ({x.line})")
        try:
            return {
                "kind": x.kind, "name": x.name, "op": None if x.op is None else x.op.name, "function": function, "line": x.line,
                "inputs": [self.leaf_of(y, numbers) for y in x.inputs], "params": self.leaf_of(x.params, numbers),
                "outputs": [self.leaf_of(y, numbers) for y in x.outputs], "keeps_numbers": x.keeps_numbers,
            }  # fmt: skip
        except ProgramFileError as error:
            raise ProgramFileError(f"{x.name} cannot be saved ({x.line}): {error}") from None

    def leaf_of(self, x: Any, numbers: dict[Storage, int]) -> Any:
        """Return an operand or a parameter as JSON: what JSON has no form of is a dict with one key."""
        if x is None or type(x) in (bool, int, str):
            return x
        if isinstance(x, Value):
            return {"value": [numbers[x.storage], x.offset, list(x.shape), list(x.strides), _dtype_name(x.dtype)]}
        if type(x) is float:
            return {"float": x.hex()}
        if type(x) is complex:
            return {"complex": [x.real.hex(), x.imag.hex()]}
        if x is Ellipsis:
            return {"ellipsis": None}
        if type(x) in (tuple, list):
            return {type(x).__name__: [self.leaf_of(y, numbers) for y in x]}
        if type(x) is dict and all(type(key) is str for key in x):
            return {"dict": {key: self.leaf_of(y, numbers) for key, y in x.items()}}
        if type(x) is Along:
            return {"along": [self.leaf_of(x.index, numbers), x.dim]}
        if type(x) is slice:
            return {"slice": [self.leaf_of(y, numbers) for y in (x.start, x.stop, x.step)]}
        if isinstance(x, (np.dtype, dtype)):
            name = str(x).removeprefix("torch.").removeprefix("wengert.")
            if name in _DTYPES:
                return {"numpy" if isinstance(x, np.dtype) else "dtype": name}
        if isinstance(x, np.generic):
            return {"scalar": self.array(np.asarray(x))}
        raise ProgramFileError(f"a parameter is of type {type(x).__name__}")

    def output(self, x: Any, numbers: dict[Storage, int]) -> Any:
        if isinstance(x, Value):
            return ["value", self.leaf_of(x, numbers)]
        kind, what = x[:2]
        if kind in ("graph", "freed"):
            raise ProgramFileError("a program whose result requires grad cannot be saved. Hint: record it under wengert.no_grad()")
        if kind == "written":
            return [kind, [self.leaf_of(what, numbers), x[2]]]
        if kind == "view":
            raise ProgramFileError("a program whose result is a view of another tensor cannot be saved. Hint: return a copy")
        return [kind, numbers[what] if kind == "same" else self.leaf_of(what, numbers)]


def _simple(x: Instruction) -> list[Instruction]:
    """Return the instructions that a fused one, or one in C, stands for."""
    return [z for y in x.parts for z in _simple(y)] if x.parts else [x]


def _dtype_name(x: Any) -> str:
    if str(x) not in _DTYPES:
        raise ProgramFileError(f"a program with values of {x} cannot be saved")
    return str(x)


def _name_of_write(x: Instruction) -> str:
    """Return the name of the function that writes in place, in the module of the operation."""
    name = x.function.__name__
    if origins.write_named(x.op, name) is not x.function:
        raise ProgramFileError(f"the write {x.name} cannot be saved ({x.line})")
    return name


def _tree(structure: Any, n: int) -> Any:
    """Return nested lists and dicts that show how the n leaves of a result lie in it."""

    def written(x: Any) -> Any:
        if type(x) is int:
            return x
        if type(x) in (tuple, list):
            return {type(x).__name__: [written(y) for y in x]}
        if type(x) is dict and all(type(key) is str for key in x):
            return {"dict": [[key, written(y)] for key, y in x.items()]}
        raise ProgramFileError(f"a result holds an object of {type(x).__name__}, which cannot be saved")

    return written(tree_unflatten(list(range(n)), structure))


def dumps(programs: Iterable[Program]) -> bytes:
    """Return the file of programs as bytes."""
    writer = _Writer()
    described = [writer.program(program) for program in programs]
    tensors = [{"array": writer.array(x._array), "requires_grad": x._requires_grad} for x in writer._tensors]
    text = json.dumps({"format": _FORMAT, "version": _VERSION, "programs": described, "tensors": tensors})
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr("program.json", text)
        for i, x in enumerate(writer.arrays):
            data = io.BytesIO()
            np.lib.format.write_array(data, np.ascontiguousarray(x).reshape(x.shape), allow_pickle=False)
            archive.writestr(f"{i}.npy", data.getvalue())
    return out.getvalue()


# -- reading ---------------------------------------------------------------------------------------------------------------


def loads(data: bytes) -> list[Program]:
    """Return the programs in a file's bytes. Raises ProgramFileError, a ValueError, for anything that is no valid program."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = {x.filename: x for x in archive.infolist()}
            if any(x.compress_type != zipfile.ZIP_STORED for x in members.values()):
                raise ProgramFileError("the file is compressed, which programs are not")
            described = json.loads(archive.read("program.json"))
            arrays = [_read_array(archive.read(f"{i}.npy")) for i in range(len(members) - 1)]
        if described["format"] != _FORMAT:
            raise ProgramFileError("the file holds no program")
        if described["version"] != _VERSION:
            raise ProgramFileError(f"the file is of version {described['version']}, and this version of wengert reads {_VERSION}")
        return _Reader(arrays, described["tensors"]).programs(described["programs"])
    except ProgramFileError:
        raise
    except (zipfile.BadZipFile, LookupError, ValueError, TypeError, AttributeError, RecursionError, OverflowError) as error:
        raise ProgramFileError(f"the file is damaged or no program: {type(error).__name__}: {error}") from error


def _read_array(data: bytes) -> Any:
    return np.lib.format.read_array(io.BytesIO(data), allow_pickle=False, max_header_size=10_000)


def _checked(condition: Any, what: str) -> None:
    if not condition:
        raise ProgramFileError(f"the file is damaged: {what}")


def _ints(x: Any, least: int | None = None) -> tuple[int, ...]:
    _checked(type(x) is list and all(type(y) is int and (least is None or y >= least) for y in x) and len(x) <= 32, "no sizes")
    return tuple(x)


class _Reader:
    """Makes programs of JSON and arrays, and checks all that it reads."""

    def __init__(self, arrays: list[Any], tensors: list[Any]) -> None:
        self.arrays = arrays
        for x in arrays:
            _checked(str(x.dtype) in _DTYPES, f"an array of {x.dtype}")
        self.tensors = [wrap(np.array(self.array(x["array"]))) for x in tensors]
        for x, described in zip(self.tensors, tensors, strict=True):
            if described["requires_grad"] is True:
                x.requires_grad = True

    def array(self, i: Any) -> Any:
        _checked(type(i) is int and 0 <= i < len(self.arrays), "no such array")
        return self.arrays[i]

    def tensor(self, i: Any) -> Any:
        _checked(type(i) is int and 0 <= i < len(self.tensors), "no such tensor")
        return self.tensors[i]

    def leaf(self, x: Any) -> Any:
        if "argument" in x:
            _checked(type(x["argument"]) is int and x["argument"] >= 0, "no such argument")
            return x["argument"]
        return self.tensor(x["tensor"])

    def programs(self, described: list[Any]) -> list[Program]:
        return [self.program(x) for x in described]

    def program(self, x: dict[str, Any]) -> Program:
        program = Program(str(x["name"]))
        program.storages = [self.storage(i, s) for i, s in enumerate(x["storages"])]
        storages = program.storages
        program.instructions = [self.instruction(y, storages) for y in x["instructions"]]
        program.outputs = [self.output(y, storages) for y in x["outputs"]]
        program.grads = [GradState(self.leaf(leaf), bool(is_none)) for leaf, is_none in x["grads"]]
        if x["structure"] is not None:
            leaves, program.structure = tree_flatten(_untree(x["structure"]))
            _checked(leaves == list(range(len(program.outputs))), "the result's structure")
        return program

    def storage(self, number: int, x: dict[str, Any]) -> Storage:
        kind, key = x["kind"], x["key"]
        shape, strides = _ints(x["shape"], 0), _ints(x["strides"])
        _checked(kind in _STORAGES and x["dtype"] in _DTYPES and len(shape) == len(strides), "a storage")
        nbytes, before, writes = x["nbytes"], x["before"], x["writes"]
        _checked(all(type(y) is int and 0 <= y <= _LARGEST for y in (nbytes, before, writes)), "the size of a storage")
        if kind == form.INPUT:
            _checked(type(key) is int and 0 <= key < 10_000, "no such argument")
        elif kind == form.TENSOR:
            key = self.tensor(key)
            if key._array.strides != strides:  # the file has it in C order
                _checked(key._array.shape == shape, "the shape of a tensor")
                key = self._laid_out(key, shape, strides, nbytes, before, x["dtype"])
            _checked(key._array.shape == shape and str(key._array.dtype) == x["dtype"], "the shape of a tensor")
        elif kind == form.GRAD:
            key = self.leaf(key)
        elif kind == form.CONSTANT:
            key = self.array(key)
            _checked(key.shape == shape and str(key.dtype) == x["dtype"], "the shape of a constant")
        storage = Storage(number, kind, key, nbytes, before, Layout(shape, strides, np.dtype(x["dtype"])))
        storage.writes = writes
        _check_extent(storage, 0, shape, strides, storage.dtype)
        return storage

    def _laid_out(self, x: Any, shape: Any, strides: Any, nbytes: int, before: int, name: str) -> Any:
        """Give a tensor other strides."""
        _checked(nbytes <= max(1, x._array.nbytes) * 64, "the size of a tensor")
        array = np.ndarray(shape, np.dtype(name), np.zeros(nbytes, np.uint8), before, strides)
        array[...] = x._array
        x._array = array
        return x

    def value(self, x: Any, storages: list[Storage]) -> Value:
        number, offset, shape, strides, name = x
        _checked(type(number) is int and 0 <= number < len(storages) and type(offset) is int and name in _DTYPES, "a value")
        value = Value(storages[number], offset, _ints(shape, 0), _ints(strides), np.dtype(name))
        _checked(len(value.shape) == len(value.strides), "a value")
        _check_extent(value.storage, offset, value.shape, value.strides, value.dtype)
        return value

    def leaf_of(self, x: Any, storages: list[Storage]) -> Any:
        """Return the operand or the parameter that JSON describes."""
        if x is None or type(x) in (bool, int, str):
            return x
        _checked(type(x) is dict and len(x) == 1, "a parameter")
        ((kind, what),) = x.items()
        if kind == "value":
            return self.value(what, storages)
        if kind == "float":
            return float.fromhex(what)
        if kind == "complex":
            return complex(*[float.fromhex(y) for y in what])
        if kind in ("tuple", "list"):
            parts = [self.leaf_of(y, storages) for y in what]
            return tuple(parts) if kind == "tuple" else parts
        if kind == "dict":
            return {str(key): self.leaf_of(y, storages) for key, y in what.items()}
        if kind == "along":
            index, dim = self.leaf_of(what[0], storages), what[1]
            _checked(isinstance(index, Value) and index.dtype.kind in "iu" and type(dim) is int and 0 <= dim < 32, "an index")
            return Along(index, dim)
        if kind == "slice":
            return slice(*[self.leaf_of(y, storages) for y in what])
        if kind in ("dtype", "numpy"):
            _checked(what in _DTYPES, "a dtype")
            return np.dtype(what) if kind == "numpy" else as_dtype(what)
        if kind == "scalar":
            return self.array(what)[()]
        _checked(kind == "ellipsis", "a parameter")
        return Ellipsis

    def instruction(self, x: dict[str, Any], storages: list[Storage]) -> Instruction:
        kind, op, function = x["kind"], None, x["function"]
        _checked(kind in _KINDS, f"there is no instruction of the kind {kind}")
        if x["op"] is not None:
            op = OPS.get(x["op"]) if type(x["op"]) is str else None
            if not isinstance(op, Operation):
                raise ProgramFileError(f"this version of wengert has no operation {x['op']!r}")
        inputs = tuple([self.leaf_of(y, storages) for y in x["inputs"]])
        outputs = tuple([self.leaf_of(y, storages) for y in x["outputs"]])
        params = self.leaf_of(x["params"], storages)
        _checked(all(isinstance(y, Value) for y in outputs), "the result of an instruction")
        if kind in (form.MAKE, form.INTO, form.WRITE):
            _checked(op is not None and outputs and (params is None or type(params) is dict), f"the instruction {x['name']}")
        if kind in (form.MAKE, form.INTO) and params is not None and not op.is_read:  # type: ignore[union-attr]
            _checked(set(params) == set(op.param_names), f"the parameters of {x['op']}")  # type: ignore[union-attr]
        if kind == form.WRITE:
            function = origins.write_named(op, str(function))
            _checked(function is not None, f"there is no write {x['function']}")
        elif kind == form.HOST:
            function = origins.host_named(function)
            _checked(function is not None, f"there is no function {x['function']} of random numbers")
        elif kind == form.SET_GRAD:
            function = self.leaf(function)
            _checked(len(inputs) == 1 and (inputs[0] is None or isinstance(inputs[0], Value)), "a gradient")
        else:
            _checked(function is None, "a function")
        if kind == form.GUARD:
            _checked(isinstance(inputs[0], Value) and type(params["value"]) in (bool, int), "a condition")
        if kind == form.COPY:
            _checked(len(inputs) == len(outputs) == 1 and isinstance(inputs[0], Value), "a copy")
        made = Instruction(kind, str(x["name"]), inputs, outputs, params, op, function, str(x["line"]))
        made.keeps_numbers = x["keeps_numbers"] is True
        return made

    def output(self, x: Any, storages: list[Storage]) -> Any:
        kind, what = x
        if kind == "value":
            value = self.leaf_of(what, storages)
            _checked(isinstance(value, Value), "a result")
            return value
        if kind == "written":
            value, version = self.leaf_of(what[0], storages), what[1]
            _checked(isinstance(value, Value) and type(version) is int and 0 < version < _LARGEST, "a result")
            return kind, value, version
        if kind == "same":
            _checked(type(what) is int and storages[what].is_external, "a result")
            return kind, storages[what]
        _checked(kind in ("leaf", "item", "object"), "a result")
        found = self.leaf_of(what, storages)
        _checked(isinstance(found, Value) != (kind == "object"), "a result")
        return kind, found


def _check_extent(storage: Storage, offset: int, shape: tuple[int, ...], strides: tuple[int, ...], dtype: Any) -> None:
    """Check that an array lies inside the memory of its storage."""
    if 0 in shape:
        return
    low = high = storage.before + offset
    for n, stride in zip(shape, strides, strict=True):
        low += min(0, (n - 1) * stride)
        high += max(0, (n - 1) * stride)
    _checked(low >= 0 and high + dtype.itemsize <= storage.nbytes, "a value outside of its memory")


def _untree(x: Any) -> Any:
    if type(x) is int:
        return x
    ((kind, parts),) = x.items()
    if kind == "dict":
        return {str(key): _untree(y) for key, y in parts}
    _checked(kind in ("tuple", "list"), "the result's structure")
    return tuple(map(_untree, parts)) if kind == "tuple" else list(map(_untree, parts))


# -- pickles ---------------------------------------------------------------------------------------------------------------


def _program_of(data: bytes) -> Program:
    return loads(data)[0]


def _reduce(program: Program) -> tuple[Callable[..., Any], tuple[bytes]]:
    return _program_of, (dumps([program]),)


copyreg.pickle(Program, _reduce)
