"""The type stubs: up to date, complete, true of what calls return, and accepted by mypy."""

from __future__ import annotations

import ast
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import wengert
from op_samples.cases import CASES, is_public
from wengert import return_types
from wengert.core.tensor import TensorBase
from wengert.ops import signatures, stub
from wengert.ops.registry import OPS, functions, methods

SOURCES = Path(__file__).parents[2] / "src" / "wengert"


def stub_names(text: str, inside: str | None = None) -> set[str]:
    """The names that a stub defines, at its top or in a class."""
    body = ast.parse(text).body
    if inside is not None:
        body = next(node.body for node in body if isinstance(node, ast.ClassDef) and node.name == inside)
    found = set()
    for node in body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            found.add(node.name)
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            found.add(node.target.id)
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            found.add(node.targets[0].id)
        elif isinstance(node, ast.ImportFrom):
            found.update(a.asname or a.name for a in node.names)
    return found


def test_stubs_are_up_to_date():
    stale = [stub.difference(path, text) for path, text in stub.stubs(SOURCES).items()]
    assert not any(stale), "make generate writes them anew\n" + "\n".join(stale)


def test_check_shows_a_difference_and_fails(tmp_path, monkeypatch):
    """In a copy of the sources, whose stub then loses a line."""
    left_out = shutil.ignore_patterns("*.so", "*.pxd", "__pycache__")
    shutil.copytree(SOURCES, tmp_path / "src" / "wengert", ignore=left_out)
    monkeypatch.chdir(tmp_path)
    said: list[str] = []
    stub.main([], said.append)
    said.clear()
    assert stub.main(["--check"], said.append) == 0 and said == []
    file = tmp_path / "src" / "wengert" / "tensor.pyi"
    file.write_text(file.read_text().replace("    def tanh(self) -> Tensor:\n", ""))
    assert stub.main(["--check"], said.append) == 1
    assert "+    def tanh(self) -> Tensor:" in said[0] and "make generate" in said[-1]
    assert stub.main([], said.append) == 0 and "written: " in said[-1]
    assert stub.main(["--check"], said.append) == 0
    assert stub.main(["--chek"], said.append) == 2 and "usage" in said[-1]


def test_every_method_is_in_the_stub():
    names = stub_names(stub.tensor_stub(SOURCES), "Tensor")
    missing = {n for n in methods() if not (n.startswith("_") and not n.endswith("__"))} - names
    assert not missing
    # Once overriding has begun, Tensor has members of its base anew.
    own = {n for n in vars(wengert.Tensor) if not n.startswith("_") and not hasattr(TensorBase, n)}
    assert not own - names


@pytest.mark.parametrize("namespace", ["", "nn.functional"])
def test_every_function_is_in_the_stub(namespace):
    text = stub.namespace_stub(namespace) if namespace else stub.package_stub(SOURCES)
    assert not set(functions(namespace)) - stub_names(text)


def test_every_public_name_of_the_package_is_in_the_stub():
    text = stub.package_stub(SOURCES)
    names = stub_names(text) | set(wengert.dtypes.__all__) | set(wengert.layouts.__all__)
    public = {n for n, v in vars(wengert).items() if not n.startswith("_") and not isinstance(v, type(sys))}
    assert not public - names


_CLASSES = {"Any": object, "Tensor": wengert.Tensor, "Size": wengert.Size, "_bool": bool, "None": type(None), "_int": int}


def fits(value: Any, declared: str) -> bool:
    """Whether a call's result has the type that its stub gives."""
    if declared == "tuple[Tensor, ...]":
        return isinstance(value, (tuple, list)) and all(isinstance(x, wengert.Tensor) for x in value)
    if declared.startswith("tuple["):
        parts = declared[len("tuple[") : -1].split(", ")
        return isinstance(value, tuple) and len(value) == len(parts) and all(map(fits, value, parts))
    if declared.startswith("return_types."):
        return isinstance(value, getattr(return_types, declared.split(".")[1]))
    return isinstance(value, _CLASSES[declared])


def test_calls_return_the_types_in_the_stub():
    wrong = {}
    for case in CASES:
        # The result of unique depends on its return_ arguments. The stub gives the plain call's type.
        if is_public(case.op) and not any(name.startswith("return_") for name in case.params):
            value = case.call(case.wrapped(case.values(np.float64, writable=True)))
            declared = signatures.result_type(case.op)
            overloads = [text.split("-> ")[1].format(name=case.name) for text in signatures._OVERLOADS.get(case.name, [])]
            if not any(fits(value, d) for d in (overloads or [declared])):
                wrong[case.name] = f"{declared}, but {type(value).__name__}"
    assert not wrong


def test_the_tables_name_operations_that_exist():
    for table in (signatures._RESULTS, signatures._OVERLOADS, {op: None for op, _ in signatures._SPECIAL_TYPES}):
        assert not {name for name in table if name not in OPS}


SAMPLE = """
import numpy as np
from typing import assert_type
import wengert
import wengert as torch
import wengert.nn.functional as F
from wengert import Tensor, nn

x = wengert.tensor([1.0, 2.0], requires_grad=True)
assert_type(x + 1, Tensor)
assert_type(1.5 * x - x / 2, Tensor)
assert_type(-x ** 2, Tensor)
assert_type(x == x, Tensor)
assert_type(x[0], Tensor)
assert_type(x.requires_grad_(), Tensor)
assert_type(x.sum(dim=0, keepdim=True), Tensor)
assert_type(x.sum((0, 1)), Tensor)
assert_type(wengert.exp(x), Tensor)
assert_type(wengert.add(x, 1, alpha=2), Tensor)
assert_type(wengert.max(x), Tensor)
assert_type(wengert.max(x, dim=0).values, Tensor)
assert_type(x.permute(1, 0), Tensor)
assert_type(x.permute((1, 0)), Tensor)
assert_type(x.split(1)[0], Tensor)
assert_type(x.shape.numel(), int)
assert_type(x.requires_grad, bool)
assert_type(x.numel(), int)
assert_type(x.grad, Tensor | None)
assert_type(wengert.equal(x, x), bool)
assert_type(F.softmax(x, dim=0), Tensor)
assert_type(nn.functional.cross_entropy(x, x), Tensor)
y = x.to(torch.float64).float().add_(1)
x.backward()
z: Tensor = torch.zeros(2, 3, dtype=torch.float32, requires_grad=True)
w = wengert.from_numpy(np.zeros(3)) @ z.T
with torch.no_grad():
    x += 1
for row in z:
    assert_type(row, Tensor)
torch.autograd.grad(y.sum(), [x])
"""

WRONG = """
import wengert
x = wengert.tensor([1.0])
x.summ()
x.sum(dimm=0)
wengert.exp("x")
y: int = x.shape
"""


@pytest.mark.exhaustive
@pytest.mark.skipif(find_spec("mypy") is None, reason="mypy is not installed")
def test_mypy_reads_the_stubs(tmp_path):
    """Right code passes, and of wrong code each line is refused."""
    (tmp_path / "right.py").write_text(SAMPLE)
    (tmp_path / "wrong.py").write_text(WRONG)
    command = [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", "--cache-dir", str(tmp_path / "cache"),
               "--follow-imports", "silent", "right.py", "wrong.py"]  # fmt: skip
    environment = {"MYPYPATH": str(SOURCES.parent), "PATH": ""}
    result = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, env=environment)
    assert not [line for line in result.stdout.splitlines() if line.startswith("right.py")], result.stdout
    refused = {int(line.split(":")[1]) for line in result.stdout.splitlines() if line.startswith("wrong.py")}
    assert refused == {4, 5, 6, 7}, result.stdout + result.stderr


@pytest.mark.exhaustive
@pytest.mark.skipif(find_spec("mypy") is None, reason="mypy is not installed")
def test_mypy_finds_no_error_in_the_stubs(tmp_path):
    files = [str(path) for path in stub.stubs(SOURCES)]
    command = [sys.executable, "-m", "mypy", "--no-error-summary", "--cache-dir", str(tmp_path / "cache"),
               "--follow-imports", "silent", *files]  # fmt: skip
    environment = {"MYPYPATH": str(SOURCES.parent), "PATH": ""}
    result = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, env=environment)
    assert result.returncode == 0, result.stdout + result.stderr
