"""The core names no operation but those with which it adds, fits and writes cotangents and tangents. See core/__init__.py.

Read from the sources. What an operation is to the core (a read, a copy, a sum of a product) its declaration says: no code of
the core compares an operation's name.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from sources import SOURCES, tree
from wengert.ops import load_all
from wengert.ops.registry import OPS

CORE = SOURCES / "core"
# trace.py has a table of Python's operators and NumPy's functions that they stand for, some of which have names of operations.
FILES = [path for path in sorted(CORE.glob("*.py")) if path.name != "trace.py"]

# Names that the core takes from F, the operations on arrays or on tensors.
OF_F = {"_flat_in", "_zero_where", "add_at", "cast", "clone", "copy", "copy_like", "expand", "sum_to_size", "tensor", "zeros"}
# The methods of tensors that compute or write.
OF_TENSORS = {"clone", "copy_", "to", "zero_"}
# Strings that are the name of an operation too, and what they are here.
WORDS = {
    "_view": "a field of tensors",
    "bilinear": "a kind of operation",
    "index": "the parameter of a read",
    "linear": "a kind of operation",
    "place": "a kind of record",
    "stack": "a field of GraphTask and of Record",
    "tensor": "a field of NodeHooks",
    "view": "a kind of operation",
    "zero": "a word of a message",
}


def names_of_operations() -> set[str]:
    load_all()
    return {name for op in OPS.values() for name in (op.name, op.name.lstrip("_"))}


def is_face(node: ast.expr) -> bool:
    """Whether an expression is F: the local variables F and face, task.face, tensor_face()."""
    text = ast.unparse(node)
    return text in {"F", "face", "_array_face", "_tensor_face"} or text.endswith((".face", "tensor_face()"))


def attributes() -> Iterator[tuple[str, ast.Attribute]]:
    for path in FILES:
        for node in ast.walk(tree(path)):
            if isinstance(node, ast.Attribute):
                yield path.name, node


def test_the_core_takes_few_operations_from_f():
    assert {node.attr for _, node in attributes() if is_face(node.value)} == OF_F


def test_the_core_calls_few_methods_of_tensors():
    names = names_of_operations()
    in_place = {node.attr for _, node in attributes() if node.attr.endswith("_") and node.attr.rstrip("_") in names}
    assert in_place == {name for name in OF_TENSORS if name.endswith("_")}


def test_the_core_compares_no_name_of_an_operation():
    names = names_of_operations()
    for path in FILES:
        for node in ast.walk(tree(path)):
            if isinstance(node, ast.Compare):
                sides = [node.left, *node.comparators]
                texts = {part.value for side in sides for part in ast.walk(side) if isinstance(part, ast.Constant)}
                if any(isinstance(side, ast.Attribute) and side.attr == "name" for side in sides):
                    assert not texts & names, f"{path.name}:{node.lineno}: let the declaration of the operation say it"


def test_strings_of_the_core_are_no_operations():
    names = names_of_operations()
    strings = {
        node.value
        for path in FILES
        for node in ast.walk(tree(path))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }
    assert strings & names == set(WORDS)
