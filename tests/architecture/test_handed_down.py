"""The list of functions that modules hand down to modules below them, in wengert/core/__init__.py, is complete and true.

A setter is a function that puts one of its parameters into a variable of its module. Read from the sources.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache

from sources import SOURCES, import_statements, tree

FILES = {".".join(path.relative_to(SOURCES).with_suffix("").parts).removesuffix(".__init__"): path for path in SOURCES.rglob("*.py")}

# Settings: these keep values of the user, and no function of a module above.
SETTINGS = {
    "devices.set_default_device", "devices.set_legacy_type", "hub.set_dir", "multiprocessing.set_sharing_strategy", "printing.set_printoptions", "serialization.set_crc32_options",
    "serialization.set_default_load_endianness", "serialization.set_default_mmap_options",
    "settings.set_float32_matmul_precision", "threads.set_num_interop_threads", "threads.set_num_threads",
    "utils.checkpoint.set_checkpoint_debug_enabled", "utils.checkpoint.set_checkpoint_early_stop",
}  # fmt: skip


def listed() -> dict[str, tuple[str, list[str]]]:
    """Return (calling module, names of the values it hands over) for each setter in the list."""
    note = ast.get_docstring(tree(FILES["core"])) or ""
    rows = [[cell.strip() for cell in line.split("|")] for line in note.splitlines() if "|" in line]
    assert all(len(row) == 4 and all(row) for row in rows)
    return {setter: (caller, names.split(", ")) for setter, caller, names, _ in rows}


def names_in(source: ast.AST) -> set[str]:
    """Return all names and attributes in a piece of source, and its constants as text."""
    nodes = list(ast.walk(source))
    found = {node.id for node in nodes if isinstance(node, ast.Name)} | {node.attr for node in nodes if isinstance(node, ast.Attribute)}
    return found | {str(node.value) for node in nodes if isinstance(node, ast.Constant)}


def setters() -> Iterator[str]:
    """Yield the functions called set_* that put a parameter, or a value made of it, into a variable of their module."""
    for module, path in FILES.items():
        body = tree(path).body
        functions = [node for node in body if isinstance(node, ast.FunctionDef) and node.name.startswith("set_")]
        variables = {name for node in body if functions and isinstance(node, (ast.Assign, ast.AnnAssign)) for name in names_in(node)}
        for function in functions:
            nodes = list(ast.walk(function))
            declared = {name for node in nodes if isinstance(node, ast.Global) for name in node.names}
            parameters = {argument.arg for argument in function.args.args}
            for node in nodes:
                if isinstance(node, ast.Assign) and names_in(node.value) & parameters:
                    entries = {name for t in node.targets if isinstance(t, ast.Subscript) for name in names_in(t.value)}
                    if entries & variables or {name for t in node.targets for name in names_in(t)} & declared:
                        yield f"{module}.{function.name}"


@cache
def calls_of_setters() -> list[tuple[str, str, ast.Call]]:
    """Return (calling module, name of the setter, call) for each call."""
    return [
        (module, node.func.id, node)
        for module, path in FILES.items()
        for node in ast.walk(tree(path))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id.startswith("set_")
    ]


def test_the_list_is_complete():
    assert set(setters()) - SETTINGS == set(listed())


def test_each_setter_is_called_by_the_module_that_the_list_names():
    for setter, (caller, names) in listed().items():
        home, _, name = setter.rpartition(".")
        calls = [(module, node) for module, called, node in calls_of_setters() if called == name and module != home]
        assert {module for module, _ in calls} == {caller}, setter
        given = {name for _, call in calls for argument in call.args for name in names_in(argument)}
        assert set(names) <= given, setter


def test_the_calling_module_imports_the_setter():
    """So each row goes upwards: the module that calls a setter imports the one that defines it."""
    for setter, (caller, _) in listed().items():
        home, _, name = setter.rpartition(".")
        imports = [node for node in import_statements(FILES[caller]) if isinstance(node, ast.ImportFrom) and node.module == f"wengert.{home}"]
        assert any(alias.name == name for node in imports for alias in node.names), setter
