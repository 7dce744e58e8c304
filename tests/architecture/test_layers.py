"""The layers of the package: a lower module never imports a higher one. Read from the sources; nothing is imported.

`make check` holds the same with import-linter, which also follows chains; this runs wherever the tests do.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from loops import each
from sources import SOURCES, import_statements, tree

# From the bottom up. Modules of one layer may import each other, those of errors and sizes nothing of the package.
LAYERS = [
    {"_finder", "_forks", "_shim", "_utils", "errors", "return_types", "sizes"},
    {"backends", "devices", "dtypes", "kernels", "layouts", "threads"},
    {"core", "printing"},
    {"device_generator", "generator", "storage"},
    {"ops"},
    {"array_functions", "conversions"},
    {"array_protocol"},
    {"tensor"},
    {
        "accelerator", "functional", "futures", "mps", "onnx", "overrides", "settings", "types", "version", "xpu",
        "_tensor",
    },
    {
        "amp", "autograd", "control_flow", "cpu", "cuda", "dask", "distributed", "distributions", "fft", "func", "hub", "linalg", "masked",
        "multiprocessing", "nn", "numpy", "optim", "profiler", "random", "scipy", "serialization", "signal", "special", "utils",
    },
    {"program"},
    {"compiler"},
    {"_dynamo"},
    {"compat", "hips", "testing"},
    {"_C", "_vmap_internals", "functorch", "jit"},
    {"__config__", "__init__", "__main__", "_build_facts"},
]
LEVEL = {name: level for level, names in enumerate(LAYERS) for name in names}


def module_of(path: Path) -> str:
    """ops/reduce.py -> ops.reduce."""
    parts = path.relative_to(SOURCES).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" and len(parts) > 1 else parts)


def imports_of(path: Path) -> Iterator[str]:
    """Yield the modules of the package that a module imports, also inside functions."""
    for node in import_statements(path):
        if isinstance(node, ast.Import):
            names = [a.name for a in node.names]
        else:
            home = node.module or ""
            if node.level:
                above = ["wengert", *path.relative_to(SOURCES).parts[: -node.level]]
                home = ".".join([*above, *([node.module] if node.module else [])])
            # `from wengert import errors` imports a module, `from wengert import Tensor` the package.
            names = [f"{home}.{a.name}" if is_module(f"{home}.{a.name}") else home for a in node.names]
        for name in names:
            if name.split(".")[0] == "wengert":
                yield name.removeprefix("wengert").removeprefix(".") or "__init__"


@cache
def is_module(name: str) -> bool:
    path = SOURCES.joinpath(*name.split(".")[1:])
    return path.with_suffix(".py").exists() or (path / "__init__.py").exists()


FILES = [pytest.param(path, id=module_of(path)) for path in sorted(SOURCES.rglob("*.py"))]


def test_there_are_sources():
    assert len(FILES) > 30


@each("path", FILES)
def test_imports_nothing_above_itself(path):
    own = module_of(path).split(".")[0]
    assert own in LEVEL, f"{own} has no place in LAYERS yet"
    for imported in imports_of(path):
        other = imported.split(".")[0]
        assert LEVEL[other] <= LEVEL[own], f"{own}, layer {LEVEL[own]}, imports {imported}, {LEVEL[other]}"


def test_errors_and_sizes_import_nothing_of_the_package():
    for name in ("errors", "sizes", "return_types"):
        root = SOURCES / name
        for path in [root.with_suffix(".py")] if root.with_suffix(".py").exists() else root.rglob("*.py"):
            found = {imported.split(".")[0] for imported in imports_of(path)} - {name}
            assert not found, f"{path.name} imports {found}"


def families() -> list[str]:
    """The modules that ops/families.py lists."""
    found: dict[str, Any] = {}
    for node in tree(SOURCES / "ops" / "families.py").body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and "FAMILIES" in node.targets[0].id:
            found[node.targets[0].id] = ast.literal_eval(node.value)
    return [*found["FAMILIES"], *found["LATE_FAMILIES"]]


def test_operation_families_are_independent_of_each_other():
    names = families()
    for name in names:
        others = {f"ops.{other}" for other in names} - {f"ops.{name}"}
        found = set(imports_of(SOURCES / "ops" / f"{name}.py")) & others
        assert not found, f"ops.{name} imports {', '.join(found)}: move what they share into a module of its own"


def test_the_core_imports_no_operation():
    for path in (SOURCES / "core").glob("*.py"):
        assert not any(imported.startswith("ops") for imported in imports_of(path)), path.name


@each("path", FILES)
def test_torch_is_never_imported(path):
    for node in import_statements(path):
        names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom) and not node.level:
            names = [node.module or ""]
        assert not any(name.split(".")[0] == "torch" for name in names)


HEAVY = {
    "scipy", "opt_einsum", "ml_dtypes", "inspect", "dataclasses", "concurrent", "asyncio", "logging", "unittest",
    "ctypes",
}  # fmt: skip


@each("path", FILES)
def test_heavy_modules_are_imported_inside_functions(path):
    """At the top of a module such an import is paid for by every `import wengert`; see test_import_cost.py."""
    if module_of(path) in ("ops.stub", "ops.signatures", "__config__"):
        return  # not loaded with the package
    for node in tree(path).body:
        names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom) and not node.level:
            names = [node.module or ""]
        assert not {name.split(".")[0] for name in names} & HEAVY


LONGEST = 700  # lines of a module, as CONTRIBUTING says
GENERATED = {"ops.late"}


@each("path", FILES)
def test_a_module_is_read_in_one_sitting(path):
    assert module_of(path) in GENERATED or len(path.read_text(encoding="utf-8").splitlines()) <= LONGEST
