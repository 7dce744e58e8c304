"""Write the type stubs and ops/late.py: `python -m wengert.ops.stub`. With --check, only say whether they are up to date.

The registry makes most methods of Tensor and most functions of the package, so type checkers and editors cannot see them in
the sources. The stubs list them: tensor.pyi has the hand-written members of class Tensor (read from tensor.py) and the
operations, __init__.pyi has the names of __init__.py and the operations. Every other namespace of operations, such as
nn.functional, has a stub of its own, and so has return_types.

Signatures come from `signatures`.
"""

from __future__ import annotations

import ast
import difflib
import sys
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from wengert import return_types
from wengert.core.watched import as_written
from wengert.ops import load_all, registry, signatures
from wengert.ops.families import FAMILIES, LATE_FAMILIES
from wengert.ops.registry import ALIASES, OPS, Composite, Operation, Plain

Entry = Operation | Composite | Plain

# The namespaces besides the package itself. A namespace whose module does not exist gets no stub.
NAMESPACES = ("nn.functional", "linalg", "special", "fft", "masked", "signal.windows")

# Packages whose names are all loaded late.
_LAZY_MODULES = ("nn", "nn.utils", "optim", "utils", "utils.data")

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

# Overloads of hand-written methods.
_METHOD_OVERLOADS = {
    "size": ["(self) -> Size", "(self, dim: _int) -> _int"],
    "to": [
        "(self, dtype: _Dtype, non_blocking: _bool = False, copy: _bool = False, *, memory_format: Any = None) -> Tensor",
        "(self, device: _device | str | None = None, dtype: _Dtype | None = None, non_blocking: _bool = False, "
        "copy: _bool = False, *, memory_format: Any = None) -> Tensor",
        "(self, other: Tensor, non_blocking: _bool = False, copy: _bool = False, *, memory_format: Any = None) -> Tensor",
    ],
}

# The classes that hold hand-written members of class Tensor.
_CLASSES = (
    ("tensor.py", "Tensor"),
    ("conversions.py", "ConversionMembers"),
    ("core/leaf_gradient.py", "GradientMembers"),
    ("core/legacy.py", "LegacyMembers"),
    ("core/subclass.py", "SubclassMembers"),
)


# ----------------------------------------------------------------------------------------------------------------------
# One operation
# ----------------------------------------------------------------------------------------------------------------------


def definitions(name: str, op: Entry, method: bool) -> list[str]:
    """Stub lines of an operation under one of its public names."""
    doc = _summary(op.doc)
    heads = signatures.heads(name, op, method)
    return _overloaded(name, heads, doc)


def _overloaded(name: str, heads: list[str], doc: str | None) -> list[str]:
    """Stub lines of a function with these parameter lists. The first has the docstring."""
    if len(heads) == 1:
        return _definition(name, heads[0], doc)
    return [line for i, head in enumerate(heads) for line in ("@overload", *_definition(name, head, None if i else doc))]


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
    doc = _summary(ast.get_docstring(function))
    if function.name in _METHOD_OVERLOADS:
        return _overloaded(function.name, _METHOD_OVERLOADS[function.name], doc)
    arguments = function.args
    for a in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg):
        if a is not None and a.annotation is not None:
            a.annotation = None if a.arg == "self" else _Renamer().visit(a.annotation)
    lines = [f"@{ast.unparse(d)}" for d in function.decorator_list]
    head = f"({ast.unparse(arguments)}) -> {result or _annotation(function.returns)}"
    return lines + _definition(function.name, head, doc)


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
    code = getattr(as_written(written), "__code__", None)
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
        if namespace in op.namespaces and isinstance(op, Plain) and isinstance(op.fn, type):
            lines.append(f"class {name}(Tensor): ...")
        elif namespace in op.namespaces:
            lines += definitions(name, op, method=False)
    return lines + inplace_functions(namespace)


def inplace_functions(namespace: str) -> list[str]:
    """Stub lines of the in-place forms in a namespace."""
    methods = {name: lines for name, lines in operation_methods() if name.endswith("_") and not name.startswith("_")}
    lines: list[str] = []
    for name, function in sorted(registry.inplace_functions(namespace).items()):
        if name in methods:
            lines += [line.replace("(self", "(input: Tensor", 1) for line in methods[name]]
        else:  # of a function with inplace=
            op = vars(function)["__wrapped__"].op
            lines.append(f"def {name}{signatures.inplace_head(op)}: ...")
    return lines


def namespace_stub(namespace: str) -> str:
    """Text of the stub of a namespace such as nn.functional."""
    head = _TITLE.format(what=f"The types of wengert.{namespace}.")
    head += _HEADER.format(imports=_FUNCTION_IMPORTS.strip() + "\n")
    return "\n".join([head, *operation_functions(namespace)]) + "\n"


def lazy_stub(name: str) -> str:
    """Text of the stub of a module that loads each of its names when it is first used."""
    module = import_module(f"wengert.{name}")
    lines = [_TITLE.format(what=f"The names of wengert.{name}, which the module itself loads late."), "__all__: list[str]"]
    for public in sorted(dir(module)):
        value = getattr(module, public)
        if public.startswith("_"):
            continue
        if isinstance(value, ModuleType):
            if value.__name__ == f"wengert.{name}.{public}":
                lines.append(f"from wengert.{name} import {public} as {public}")
        elif getattr(value, "__module__", "").startswith("wengert"):
            lines.append(f"from {value.__module__} import {value.__name__} as {public}")
    return "\n".join(lines) + "\n"


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
    if isinstance(node, ast.Try):
        return [line for inner in node.body for line in _package_lines(inner, root)]
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
    for name in _LAZY_MODULES:
        texts[root.joinpath(*name.split("."), "__init__.pyi")] = lazy_stub(name)
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
