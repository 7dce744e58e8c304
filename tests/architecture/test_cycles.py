"""No two modules of the package need each other: the imports among them have no cycle. Read from the sources.

An import inside a function counts like one at the top of a module, because its reader has to follow it just the same. Imports
for type checkers do not count, and neither do the imports of a module's own packages, which Python makes by itself.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from sources import SOURCES, tree

# Modules that import others by a name that they compute, which no graph of imports shows.
IMPORT_BY_NAME = {
    "__init__": "public names that are loaded when first used",
    "__config__": "facts that only a build writes",
    "autograd": "public names that are loaded when first used",
    "autograd.graph": "public names that are loaded when first used",
    "compat.hips": "the modules behind the names of HIPS autograd",
    "compat.modules": "the modules behind torch's names",
    "distributions": "distributions that are loaded when first used",
    "errors": "messages that are loaded when first used",
    "kernels": "the compiled kernels, where there are any",
    "_forks": "modules of the package at their first use, and modules that a fork waits for",
    "_finder": "the compiled core, whose one library holds several modules",
    "nn": "layers and modules that are loaded when first used",
    "nn.modules": "layers that are loaded when first used",
    "nn.utils": "helpers that are loaded when first used",
    "ops": "ops.aten, a namespace of its own",
    "ops.families": "families of operations; each imports the registry",
    "ops.stub": "packages whose names it lists in stubs",
    "optim": "optimizers and schedules that are loaded when first used",
    "serialization": "the legacy classes of tensors",
    "serialization._names": "what the names in files name",
    "utils": "public modules that are loaded when first used",
    "utils.data": "public names that are loaded when first used",
    "utils.data._utils": "modules that are loaded when first used",
}


def module_of(path: Path) -> str:
    """ops/reduce.py -> ops.reduce, ops/__init__.py -> ops, __init__.py -> __init__."""
    parts = path.relative_to(SOURCES).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" and len(parts) > 1 else parts)


MODULES = {module_of(path): path for path in sorted(SOURCES.rglob("*.py"))}


def imports_of(source: ast.AST, package: str = "wengert") -> Iterator[str]:
    """Yield the modules that a piece of source imports, except for type checkers. Relative imports start at `package`."""
    for node in ast.iter_child_nodes(source):
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            yield from imports_of(ast.Module(node.orelse, []), package)
        elif isinstance(node, ast.Import):
            yield from [own_name(alias.name) for alias in node.names if alias.name.split(".")[0] == "wengert"]
        elif isinstance(node, ast.ImportFrom):
            assert node.level <= 1
            home = ".".join(filter(None, [package if node.level else "", node.module]))
            if home.split(".")[0] == "wengert":
                # `from wengert import errors` imports a module, `from wengert import Tensor` a name of the package.
                modules = [own_name(f"{home}.{alias.name}") for alias in node.names]
                yield from [name if name in MODULES else own_name(home) for name in modules]
        elif not isinstance(node, ast.expr):
            yield from imports_of(node, package)


def own_name(name: str) -> str:
    return name.removeprefix("wengert").removeprefix(".") or "__init__"


def import_graph() -> dict[str, set[str]]:
    """Return the modules that each module imports."""
    graph: dict[str, set[str]] = {}
    for name, path in MODULES.items():
        package = ".".join(["wengert", *path.relative_to(SOURCES).parts[:-1]])
        graph[name] = set(imports_of(tree(path), package)) & set(MODULES) - {name}
    return graph


def find_cycle(graph: dict[str, set[str]]) -> list[str]:
    """Return the modules of a cycle, the first of them also at the end, or [] if there is none."""
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


@pytest.mark.slow
def test_imports_have_no_cycle():
    assert find_cycle(import_graph()) == []


def test_a_cycle_is_seen():
    assert set(find_cycle({"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}})) == set("abc")
    assert find_cycle({"a": {"b"}, "b": {"c"}, "c": set(), "d": {"a", "c"}}) == []
    late = ast.parse("def f():\n    from wengert.ops import stub\n    import wengert.autograd.graph")
    assert list(imports_of(late)) == ["ops.stub", "autograd.graph"]
    assert list(imports_of(ast.parse("if TYPE_CHECKING:\n    import wengert\nelse:\n    from wengert import ops"))) == ["ops"]
    assert list(imports_of(ast.parse("from . import stub\nfrom .reduce import sum"), "wengert.ops")) == ["ops.stub", "ops.reduce"]


def test_modules_that_import_by_name_are_listed():
    found = {name for name, path in MODULES.items() if "import_module(" in path.read_text(encoding="utf-8")}
    assert found <= set(IMPORT_BY_NAME)
