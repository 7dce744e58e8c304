"""Write the type stubs and ops/late.py: `python -m wengert.ops.stub`. With --check, only say whether they are up to date.

The registry makes most methods of Tensor and most functions of the package, so type checkers and editors cannot see them in
the sources. The stubs list them: tensor.pyi has the hand-written members of class Tensor (read from tensor.py) and the
operations, __init__.pyi has the names of __init__.py and the operations. Every other namespace of operations, such as
nn.functional, has a stub of its own, and so has return_types.

Signatures come from the registry. It has names and defaults, but no types: a type follows from the name of a parameter and
its default. The tables below have the types that do not follow from them.
"""

from __future__ import annotations

import ast
import difflib
import inspect
import sys
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from wengert import return_types
from wengert.core.op import MISSING
from wengert.ops import load_all, registry
from wengert.ops.families import FAMILIES, LATE_FAMILIES
from wengert.ops.registry import ALIASES, OPS, Composite, Operation, Plain

Entry = Operation | Composite | Plain

# The namespaces besides the package itself. A namespace whose module does not exist gets no stub.
NAMESPACES = ("nn.functional", "linalg", "special", "fft", "masked", "signal.windows")

_LATE_HEAD = '''"""The names in the late families of operations, by family. A late family is registered when it is first used.

Written by `make generate`: change the sources, not this file. Texts, because those load faster than lists.
"""

# OPERATIONS: as OPS and ALIASES have them. METHODS: of class Tensor. FUNCTIONS: of each namespace.'''

_TITLE = '''"""{what}

Written by `make generate`: change the sources, not this file.
"""

# ruff: noqa
'''

# Types that methods or functions share their names with have an underscore: a method `int` would hide the type.
_HEADER = """
from builtins import bool as _bool, complex as _complex, float as _float, int as _int, str as _str, type as _type
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal, TypeAlias, overload

import numpy as np

from wengert import return_types as return_types
{imports}
_Number: TypeAlias = _bool | _int | _float | _complex
_Operand: TypeAlias = Tensor | np.ndarray[Any, Any] | np.generic | _Number
_Dtype: TypeAlias = _dtype | np.dtype[Any] | _type[Any] | str
"""

_TENSOR_IMPORTS = """
from wengert.core.hooks import RemovableHandle as RemovableHandle
from wengert.core.node import Node
from wengert.core.tensor import TensorBase
from wengert.devices import device as _device
from wengert.dtypes import dtype as _dtype
from wengert.generator import Generator
from wengert.sizes import Size
"""

_FUNCTION_IMPORTS = """
from wengert.devices import device as _device
from wengert.dtypes import dtype as _dtype
from wengert.generator import Generator as Generator
from wengert.sizes import Size as Size
from wengert.tensor import Tensor as Tensor
"""

_RENAMED = {name: "_" + name for name in ("bool", "complex", "float", "int", "type", "device", "dtype")}
_RENAMED["TensorBase"] = "Tensor"

# The classes that hold hand-written members of class Tensor.
_CLASSES = (
    ("tensor.py", "Tensor"),
    ("core/leaf_gradient.py", "GradientMembers"),
    ("core/legacy.py", "LegacyMembers"),
    ("core/subclass.py", "SubclassMembers"),
)

# The options of creation functions.
_OPTIONS = (
    "device: _device | str | None = None, requires_grad: _bool = False, layout: Any = None, pin_memory: _bool = False, "
    "out: Tensor | None = None"
)

_INTS = "_int | Sequence[_int]"
_PARAMETER_TYPES = {
    "alpha": "_Number", "beta": "_Number", "value": "_Operand", "fill_value": "_Number", "eps": "_float",
    "dtype": "_Dtype | None", "device": "_device | str | None", "generator": "Generator | None", "out": "Tensor | None",
    "dims": _INTS, "size": _INTS, "sizes": _INTS, "shape": _INTS, "shapes": "Sequence[_int]", "normalized_shape": _INTS,
    "shifts": _INTS, "source": _INTS, "destination": _INTS, "repeats": f"{_INTS} | Tensor",
    "dim0": "_int", "dim1": "_int", "dim2": "_int", "dimension": "_int", "axis0": "_int", "axis1": "_int",
    "start": "_int", "length": "_int", "chunks": "_int", "step": "_int", "n": "_int", "p": "_float",
    "training": "_bool",
    "split_size": _INTS, "split_sizes": "Sequence[_int]", "split_size_or_sections": _INTS, "k": "_int",
    "indices_or_sections": f"{_INTS} | Tensor", "rounding_mode": 'Literal["trunc", "floor"] | None',
    "mask": "Tensor", "index": "Tensor", "tensors": "Sequence[Tensor]", "equation": "_str",
    "min": "_Operand | None", "max": "_Operand | None", "exponent": "_Operand",
}  # fmt: skip

# Types by (operation, parameter), if the name alone would give another type.
_SPECIAL_TYPES = {
    ("logsumexp", "dim"): _INTS,
    ("select", "index"): "_int",
    ("select_copy", "index"): "_int",
    ("__getitem__", "index"): "Any",
    ("__setitem__", "index"): "Any",
    ("__setitem__", "value"): "Any",
    ("masked_scatter", "source"): "Tensor",
    ("masked_scatter_", "source"): "Tensor",
    ("masked_copy_", "source"): "Tensor",
    ("gesv", "A"): "Tensor",
    ("resize_as_", "the_template"): "Tensor",
    ("map_", "tensor"): "Tensor",
    ("typename", "obj"): "Any",
    ("set_default_tensor_type", "t"): "_str | type",
    ("norm", "p"): "_Number | _str | None",
    ("bernoulli", "p"): "_float | Tensor | None",
    ("local_response_norm", "k"): "_float",
    ("randint", "size"): "Sequence[_int]",
    ("repeat_interleave", "repeats"): f"{_INTS} | Tensor | None",
}

_TENSORS = "tuple[Tensor, ...]"
_RESULTS = {
    "__setitem__": "None", "allclose": "_bool", "numel": "_int", "unravel_index": _TENSORS,
    "equal": "_bool", "broadcast_shapes": "Size",
    "broadcast_tensors": _TENSORS, "split": _TENSORS,
    "split_with_sizes": _TENSORS, "chunk": _TENSORS, "unsafe_split": _TENSORS, "unsafe_split_with_sizes": _TENSORS,
    "unsafe_chunk": _TENSORS, "tensor_split": _TENSORS, "hsplit": _TENSORS, "vsplit": _TENSORS, "dsplit": _TENSORS,
    "lu": _TENSORS, "gradient": _TENSORS, "split_copy": _TENSORS, "split_with_sizes_copy": _TENSORS, "unbind_copy": _TENSORS,
    "gesv": "tuple[Tensor, Tensor]", "is_same_size": "_bool", "typename": "_str", "set_default_tensor_type": "None",
    "var_mean": "tuple[Tensor, Tensor]", "std_mean": "tuple[Tensor, Tensor]", "meshgrid": _TENSORS,
    **dict.fromkeys(["native_layer_norm", "native_group_norm", "native_batch_norm", "svd_lowrank", "pca_lowrank"],
                    "tuple[Tensor, Tensor, Tensor]"),
    **dict.fromkeys(
        ["native_dropout", "lobpcg", "rnn_tanh", "rnn_relu", "gru", "lstm_cell"], "tuple[Tensor, Tensor]"
    ),
    "lstm": "tuple[Tensor, Tensor, Tensor]", "torch_adaptive_max_pool1d": "tuple[Tensor, Tensor]",
    "fractional_max_pool2d": "Any", "fractional_max_pool3d": "Any", "multi_head_attention_forward": "tuple[Tensor, Any]",
    **{f"fractional_max_pool{dims}d_with_indices": "tuple[Tensor, Tensor]" for dims in (2, 3)},
    **{f"{op}{dims}d_with_indices": "tuple[Tensor, Tensor]" for op in ("max_pool", "adaptive_max_pool") for dims in (1, 2, 3)},
    **{f"{op}{dims}d": "Any" for op in ("max_pool", "adaptive_max_pool") for dims in (1, 2, 3)},  # with return_indices two
}  # fmt: skip

_AT_LEAST = ["(tensor: Tensor) -> Tensor", f"(first: Tensor, second: Tensor, *others: Tensor) -> {_TENSORS}"]
_EXTREME = ["({input}) -> Tensor", "({input}, dim: _int, keepdim: _bool = False) -> return_types.{name}"]
_OVERLOADS = {
    "max": [*_EXTREME, "({input}, other: Tensor) -> Tensor"],
    "min": [*_EXTREME, "({input}, other: Tensor) -> Tensor"],
    "median": _EXTREME,
    "nanmedian": _EXTREME,
    "atleast_1d": _AT_LEAST,
    "atleast_2d": _AT_LEAST,
    "atleast_3d": _AT_LEAST,
    "nonzero": [
        "({input}, *, as_tuple: Literal[False] = False) -> Tensor",
        f"({{input}}, *, as_tuple: Literal[True]) -> {_TENSORS}",
    ],
    "unique": [
        "({input}, sorted: _bool = True, *, dim: _int | None = None) -> Tensor",
        "({input}, sorted: _bool = True, return_inverse: _bool = False, return_counts: _bool = False, "
        "dim: _int | None = None) -> Any",
    ],
    "unique_consecutive": [
        "({input}, *, dim: _int | None = None) -> Tensor",
        "({input}, return_inverse: _bool = False, return_counts: _bool = False, dim: _int | None = None) -> Any",
    ],
    "where": [
        f"(condition: Tensor) -> {_TENSORS}",
        "(condition: Tensor, input: _Operand, other: _Operand, *, out: Tensor | None = None) -> Tensor",
    ],
}


# ----------------------------------------------------------------------------------------------------------------------
# One operation
# ----------------------------------------------------------------------------------------------------------------------


def parameter_type(op: str, name: str, default: Any) -> str:
    """Type of a parameter that is no input."""
    found = _SPECIAL_TYPES.get((op, name), _PARAMETER_TYPES.get(name))
    if found is None and name in ("dim", "axis"):
        found = _INTS if default is None or default == () else "_int"
    if found is None:
        found = "Any" if default is None or default is MISSING else f"_{type(default).__name__}"
    return found if default is not None or found == "Any" or "None" in found else f"{found} | None"


def result_type(op: Entry) -> str:
    """Type of the result of an operation."""
    if op.name in _RESULTS:
        return _RESULTS[op.name]
    if op.name in return_types.__all__:
        return f"return_types.{op.name}"
    outputs = op.output_names if isinstance(op, Operation) else None
    if outputs is None:
        return "Tensor"
    return f"tuple[{', '.join(['Tensor'] * len(outputs))}]" if outputs else _TENSORS


def _parameter(name: str, kind: str, default: Any) -> str:
    if default is MISSING:
        return f"{name}: {kind}"
    shown = repr(default) if isinstance(default, (int, float, str, type(None))) else "..."
    return f"{name}: {kind} = {shown}"


def _input_type(op: Operation, position: int) -> str:
    if position == op.variadic:
        return "Sequence[Tensor]"
    kind = "_Operand" if op.kind == "pointwise" or op.operator else "Tensor"
    return f"{kind} | None" if op.input_names[position] in op.input_defaults else kind


def _operation_signatures(op: Operation, method: bool) -> list[str]:
    """Parameter lists of a registered operation. A parameter that may be spread, as in x.permute(1, 0), makes a second one."""
    inputs = ["self"] if method else []
    for i, name in enumerate(op.input_names):
        if not (method and i == 0):
            default = op.input_defaults.get(name, MISSING)
            inputs.append(_parameter(op.public_input_name(name), _input_type(op, i), default))
    positional: list[str] = []
    keyword: list[str] = []
    for i, name in enumerate(op.param_names):
        text = _parameter(name, parameter_type(op.name, name, op.defaults[name]), op.defaults[name])
        (positional if i < op.positional_params else keyword).append(text)
    if not method and op.kind != "view":
        kind = "Tensor" if op.output_names is None else _TENSORS
        keyword.append(f"out: {kind} | None = None")
    rest = ["*", *keyword] if keyword else []
    signatures = [", ".join(inputs + positional + rest)]
    if op.varargs is not None:
        signatures.append(", ".join([*inputs, f"*{op.varargs}: _int", *keyword]))
    return signatures


def _function_signature(op: Composite | Plain, method: bool) -> str:
    """Parameter list of a composite or plain function, as it stands in the source."""
    parameters = list(inspect.signature(op.fn).parameters.values())
    if op.kind == "composite":
        parameters = parameters[1:]  # F
    texts: list[str] = []
    for i, p in enumerate(parameters):
        is_input = i == 0 and p.kind is p.POSITIONAL_OR_KEYWORD and p.default is p.empty
        is_input = is_input and (op.kind != "creation" or p.name in ("input", "self"))
        default = MISSING if p.default is p.empty else p.default
        if p.name.startswith("_") and default is not MISSING:
            continue  # torch has this parameter for its own use
        if p.kind is p.KEYWORD_ONLY and not any(t.startswith("*") for t in texts):
            texts.append("*")
        if method and is_input:
            texts.append("self")
        elif p.kind is p.VAR_KEYWORD and op.kind == "creation":
            texts.append(_OPTIONS)
        elif p.kind is p.VAR_KEYWORD:
            texts.append(f"**{p.name}: Any")
        elif p.kind is p.VAR_POSITIONAL:
            kind = "Tensor" if p.name == "tensors" else parameter_type(op.name, p.name, MISSING)
            texts.append(f"*{p.name}: {kind}")
        elif is_input and p.name != "tensors":
            texts.append(f"{p.name}: Tensor")
        else:
            texts.append(_parameter(p.name, _free_type(op, p.name, default), default))
    if (op.kind == "composite" or (isinstance(op, Plain) and op.out)) and not method and not texts[-1].startswith("**"):
        texts += ["out: Any = None"] if any(t.startswith("*") for t in texts) else ["*", "out: Any = None"]
    return ", ".join(texts)


def _free_type(op: Composite | Plain, name: str, default: Any) -> str:
    """Type of an argument of a composite or plain function. Such a function does not tell inputs from parameters."""
    if default is MISSING and (op.name, name) not in _SPECIAL_TYPES and name not in (*_PARAMETER_TYPES, "dim"):
        return "_Operand" if name == "other" else "Any"
    return parameter_type(op.name, name, default)


def definitions(name: str, op: Entry, method: bool) -> list[str]:
    """Stub lines of an operation under one of its public names."""
    doc = _summary(op.doc)
    if op.name in _OVERLOADS:
        first = "self" if method else "input: Tensor"
        heads = [text.format(input=first, name=op.name) for text in _OVERLOADS[op.name]]
    elif isinstance(op, Operation):
        heads = [f"({signature}) -> {result_type(op)}" for signature in _operation_signatures(op, method)]
    else:
        heads = [f"({_function_signature(op, method)}) -> {result_type(op)}"]
    lines: list[str] = []
    for i, head in enumerate(heads):
        if len(heads) > 1:
            lines.append("@overload")
        lines += _definition(name, head, doc if i == 0 else None)
    return lines


def _definition(name: str, head: str, doc: str | None) -> list[str]:
    if doc is None:
        return [f"def {name}{head}: ..."]
    return [f"def {name}{head}:", f'    """{doc}"""']


def _summary(doc: str | None) -> str | None:
    """First line of a docstring, or None. Editors show it."""
    if not doc or not doc.strip():
        return None
    return doc.strip().splitlines()[0].replace("\\", "\\\\")


# ----------------------------------------------------------------------------------------------------------------------
# class Tensor
# ----------------------------------------------------------------------------------------------------------------------


class _Renamer(ast.NodeTransformer):
    """Rename the types that a method of class Tensor hides: float becomes _float."""

    def visit_Name(self, node: ast.Name) -> ast.Name:
        node.id = _RENAMED.get(node.id, node.id)
        return node


def _annotation(node: ast.expr | None, default: str = "Any") -> str:
    return default if node is None else ast.unparse(_Renamer().visit(node))


def _stub_of(function: ast.FunctionDef, result: str | None = None) -> list[str]:
    """Stub lines of a hand-written function: decorators, signature, first line of the docstring."""
    arguments = function.args
    for a in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg):
        if a is not None and a.annotation is not None:
            a.annotation = None if a.arg == "self" else _Renamer().visit(a.annotation)
    lines = [f"@{ast.unparse(d)}" for d in function.decorator_list]
    head = f"({ast.unparse(arguments)}) -> {result or _annotation(function.returns)}"
    return lines + _definition(function.name, head, _summary(ast.get_docstring(function)))


def _class_body(path: Path, name: str) -> list[ast.stmt]:
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ClassDef) and node.name == name:
            return node.body
    raise LookupError(f"no class {name} in {path}")


def _is_private(name: str) -> bool:
    return name.startswith("_") and not name.endswith("__")


def hand_written_members(path: Path, name: str) -> Iterator[tuple[str, list[str]]]:
    """Yield (name, stub lines) for each member that a hand-written class gives class Tensor."""
    for node in _class_body(path, name):
        if isinstance(node, ast.FunctionDef) and not _is_private(node.name):
            yield node.name, _stub_of(node)
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            name, value = node.targets[0].id, node.value
            if isinstance(value, ast.Constant) and not name.startswith("_"):
                yield name, [f"{name}: _{type(value.value).__name__}"]
            elif isinstance(value, ast.Name):
                yield name, [f"{name} = {value.id}"]


def base_members(path: Path) -> Iterator[tuple[str, list[str]]]:
    """Yield (name, stub lines) for each method of TensorBase that returns a TensorBase. On a Tensor it returns a Tensor."""
    for node in _class_body(path, "TensorBase"):
        if isinstance(node, ast.FunctionDef) and "Tensor" in _annotation(node.returns):
            yield node.name, _stub_of(node)


def _in_order(named: dict[str, Any]) -> list[tuple[str, Any]]:
    """Sort operations by family, so that the order in which families were loaded does not matter."""
    families = [*FAMILIES, *LATE_FAMILIES]

    def place(item: tuple[str, Any]) -> int:
        family = family_of(item[1])
        return families.index(family) if family in families else len(families)

    return sorted(named.items(), key=place)


def family_of(op: Entry) -> str:
    """Name of the module that registered an operation, or "" for old tensor types, which are classes."""
    written: Any = op.forward if isinstance(op, Operation) else op.fn
    code = getattr(written, "__code__", None)
    return "" if code is None else Path(code.co_filename).stem


def operation_methods() -> Iterator[tuple[str, list[str]]]:
    """Yield (name, stub lines) for the methods, in-place methods and operators that the registry makes."""
    for _, op in _in_order(OPS):
        if op.method:
            name = op.method if isinstance(op.method, str) else op.name
            yield name, definitions(name, op, method=True)
        yield from _inplace_method(op, op.name)
        yield from _operators(op)
    for name, op in _in_order(ALIASES):
        if op.method:
            yield name, definitions(name, op, method=True)
        yield from _inplace_method(op, name)


def _inplace_method(op: Entry, name: str) -> Iterator[tuple[str, list[str]]]:
    if not isinstance(op, Plain) and op.inplace:
        name = op.inplace if isinstance(op.inplace, str) else name + "_"
        if not _is_private(name):
            yield name, definitions(name, op, method=True)


def _operators(op: Entry) -> Iterator[tuple[str, list[str]]]:
    if isinstance(op, Operation) and op.operator:
        for name in registry._operators(op):
            other = "" if len(op.input_names) == 1 else ", other: _Operand"
            # object's own comparisons return bool.
            note = "  # type: ignore[override]" if name in ("__eq__", "__ne__") else ""
            yield name, [f"def {name}(self{other}) -> Tensor: ...{note}"]


def tensor_stub(root: Path) -> str:
    """Text of tensor.pyi."""
    members: dict[str, list[str]] = {}
    for name, lines in (*base_members(root / "core" / "tensor.py"), *operation_methods()):
        members[name] = lines
    for path, class_name in _CLASSES:
        for name, lines in hand_written_members(root / path, class_name):
            # The getter and the setter of a property have the same name.
            members[name] = members[name] + lines if lines[0].startswith(f"@{name}.") else lines
    body = [line for lines in members.values() for line in lines]
    head = _TITLE.format(what="The types of class Tensor.") + _HEADER.format(imports=_TENSOR_IMPORTS.strip() + "\n")
    text = [head, "\nclass Tensor(TensorBase):", "    def __init__(self, *args: Any, **kwargs: Any) -> None: ..."]
    return "\n".join([*text, *[f"    {line}" for line in body]]) + "\n"


# ----------------------------------------------------------------------------------------------------------------------
# Modules of functions
# ----------------------------------------------------------------------------------------------------------------------


def operation_functions(namespace: str) -> list[str]:
    """Stub lines of the functions that the registry gives a namespace."""
    prefix = registry.prefix_of(namespace)
    lines: list[str] = []
    named = [(op.name.removeprefix(prefix), op) for _, op in _in_order(OPS)] + _in_order(ALIASES)
    for name, op in named:
        if namespace in op.namespaces:
            lines += definitions(name, op, method=False)
    return lines + inplace_functions(namespace)


def inplace_functions(namespace: str) -> list[str]:
    """Stub lines of the in-place forms in a namespace."""
    methods = {name: lines for name, lines in operation_methods() if name.endswith("_") and not name.startswith("_")}
    lines: list[str] = []
    for name in sorted(registry.inplace_functions(namespace)):
        if name in methods:
            lines += [line.replace("(self", "(input: Tensor", 1) for line in methods[name]]
        else:
            lines.append(f"def {name}(input: Tensor, *args: Any, **kwargs: Any) -> Tensor: ...")
    return lines


def namespace_stub(namespace: str) -> str:
    """Text of the stub of a namespace such as nn.functional."""
    head = _TITLE.format(what=f"The types of wengert.{namespace}.")
    head += _HEADER.format(imports=_FUNCTION_IMPORTS.strip() + "\n")
    return "\n".join([head, *operation_functions(namespace)]) + "\n"


def return_types_stub() -> str:
    """Text of return_types.pyi."""
    lines = [_TITLE.format(what="The types of the named tuples that operations return.")]
    lines += ["from wengert.tensor import Tensor", "", "__all__: list[str]"]
    for name in return_types.__all__:
        fields = getattr(return_types, name).fields
        lines.append(f"\nclass {name}(tuple[{', '.join(['Tensor'] * len(fields))}]):")
        for field in fields:
            lines += ["    @property", f"    def {field}(self) -> Tensor: ..."]
    return "\n".join(lines) + "\n"


def package_stub(root: Path) -> str:
    """Text of __init__.pyi: the imports and functions of __init__.py, and the operations."""
    head = _TITLE.format(what="The types of the package's public names.")
    head += _HEADER.format(imports=_FUNCTION_IMPORTS.strip() + "\n")
    lines = [head]
    for node in ast.parse((root / "__init__.py").read_text(encoding="utf-8")).body:
        lines += _package_lines(node, root)
    return "\n".join([*lines, "", *operation_functions("")]) + "\n"


def _package_lines(node: ast.stmt, root: Path) -> list[str]:
    """Stub lines of the names that one statement of __init__.py makes public."""
    if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] in ("wengert", "math"):
        same = [a.name for a in node.names if a.name == (a.asname or a.name) or a.name == "*"]
        shown = [n if n == "*" else f"{n} as {n}" for n in same if not n.startswith("_")]
        imports = [f"from {node.module} import {n}" for n in shown]
        # A stub re-exports a name only if it stays the same, so `bool_ as bool` must be declared.
        return imports + [f"{a.asname}: _dtype" for a in node.names if a.name == f"{a.asname}_"]
    if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
        return _stub_of(node)
    if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
        name = node.targets[0].id
        if name in ("__version__", "newaxis"):
            return [f"{name}: {'str' if name == '__version__' else None}"]
        if name == "_HOMES":
            return [f"from wengert.{home} import {name} as {name}" for name, home in sorted(ast.literal_eval(node.value).items())]
        if name == "_SETTINGS":
            settings = sorted(ast.literal_eval(node.value.args[0]))  # type: ignore[attr-defined]
            return [f"from wengert.settings import {name} as {name}" for name in settings]
        if name in ("_LAZY", "_TORCH_ONLY"):
            lazy = sorted(ast.literal_eval(node.value.args[0]))  # type: ignore[attr-defined]
            return [f"from wengert import {name} as {name}" for name in lazy if _module_file(root, name) is not None]
    return []


def _module_file(root: Path, name: str) -> Path | None:
    """Source file of a module of the package, or None."""
    path = root.joinpath(*name.split("."))
    return next((f for f in (path.with_suffix(".py"), path / "__init__.py") if f.exists()), None)


# ----------------------------------------------------------------------------------------------------------------------
# The late families
# ----------------------------------------------------------------------------------------------------------------------


def late_tables() -> str:
    """Text of ops/late.py."""
    operations: dict[str, list[str]] = {family: [] for family in sorted(LATE_FAMILIES)}
    for name, op in (*OPS.items(), *ALIASES.items()):
        operations.get(family_of(op), []).append(name)
    lines = [_LATE_HEAD, "OPERATIONS = {", *_rows(operations), "}", "METHODS = {"]
    lines += [*_rows({family: registry.methods(names) for family, names in operations.items() if names}), "}", "FUNCTIONS = {"]
    for namespace in ("", *NAMESPACES):
        public = {
            family: [*registry.functions(namespace, names), *registry.inplace_functions(namespace, names)]
            for family, names in operations.items()
            if names
        }
        lines += [f'    "{namespace}": {{', *[f"    {row}" for row in _rows(public)], "    },"]
    return "\n".join([*lines, "}"]) + "\n"


def _rows(names_by_family: Mapping[str, Iterable[str]]) -> Iterator[str]:
    """Yield the lines of a dict from families to texts. Families without names are left out."""
    for family, names in names_by_family.items():
        wrapped = textwrap.wrap(" ".join(sorted(set(names))), 100)
        if len(wrapped) > 1:
            yield f'    "{family}": ('
            yield from [f'        "{line} "' for line in wrapped]
            yield "    ),"
        elif wrapped:
            yield f'    "{family}": "{wrapped[0]}",'


# ----------------------------------------------------------------------------------------------------------------------
# The command
# ----------------------------------------------------------------------------------------------------------------------


def stubs(root: Path) -> dict[Path, str]:
    """Return the text of every generated file. root: the folder of the package's sources."""
    texts = {
        root / "tensor.pyi": tensor_stub(root),
        root / "__init__.pyi": package_stub(root),
        root / "return_types.pyi": return_types_stub(),
        root / "ops" / "late.py": late_tables(),
    }
    for namespace in NAMESPACES:
        source = _module_file(root, namespace)
        if source is not None:
            texts[source.with_suffix(".pyi")] = namespace_stub(namespace)
    return texts


def difference(path: Path, text: str) -> str:
    """Unified diff from the text in the file to the text that belongs there, or "" if they are the same."""
    held = path.read_text(encoding="utf-8") if path.exists() else ""
    sides = held.splitlines(), text.splitlines()
    return "\n".join(difflib.unified_diff(*sides, str(path), "what the sources say", lineterm="", n=1))


def main(arguments: list[str], say: Callable[[str], None] = print) -> int:
    """Write the stubs, or compare them if --check is given. Returns the exit status."""
    if arguments not in ([], ["--check"]):
        say("usage: python -m wengert.ops.stub [--check]")
        return 2
    load_all()
    # In a checkout this writes its sources, even if the package that runs is an installed copy.
    checkout = Path("src", "wengert")
    root = checkout if (checkout / "tensor.py").exists() else Path(__file__).parents[1]
    stale = {path: text for path, text in stubs(root).items() if difference(path, text)}
    for path, text in stale.items():
        if arguments:
            say(difference(path, text))
        else:
            path.write_text(text, encoding="utf-8")
            say(f"written: {path}")
    if arguments and stale:
        say("The stubs are out of date. Write them with: make generate")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
