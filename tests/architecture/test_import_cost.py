"""The cost of `import wengert`, and the modules that it does not load.

The tests count loaded modules, because counts are the same on every machine. `make bench` measures the time.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

import wengert
from sources import SOURCES, import_statements


def run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    env = os.environ | environment
    return subprocess.run([sys.executable, *arguments], capture_output=True, text=True, check=True, env=env)


LOADED = """
import os, sys, numpy
before = set(sys.modules)
opened = []
sys.addaudithook(lambda event, arguments: opened.append(arguments[0]) if event == "open" else None)
import wengert
new = set(sys.modules) - before
files = {getattr(getattr(sys.modules[name], "__spec__", None), "cached", None) for name in new} - {None}
size = sum(os.path.getsize(file) for file in files if os.path.exists(file))
print(json.dumps({"modules": len(new), "files": len(opened), "bytecode": size, "operations": len(wengert.ops.OPS)}))
"""


@pytest.mark.slow
@pytest.mark.skipif(wengert.__config__.info()["core"] == "python", reason="uncompiled, the core is twenty files more")
def test_little_is_loaded(tmp_path):
    """The limits are a hundredth above the counts of Python 3.11: who adds to the import sees it here, and makes something late."""
    environment = {"PYTHONPYCACHEPREFIX": str(tmp_path), "PYTHONDONTWRITEBYTECODE": ""}
    run("-c", "import wengert", **environment)
    loaded = json.loads(run("-c", f"import json\n{LOADED}", **environment).stdout)
    assert loaded["modules"] <= 105
    assert loaded["files"] <= 77
    assert loaded["operations"] <= 331
    assert 500_000 <= loaded["bytecode"] <= 1_096_000


LATE = [
    "scipy", "opt_einsum", "ml_dtypes", "inspect", "dataclasses", "concurrent.futures", "asyncio", "numpy.random",
    "torch", "cupy", "threading", "wengert.ops.stub", "wengert.ops.fft", "wengert.ops.conv", "wengert.errors.tensors",
    "wengert.printing", "wengert.autograd.function",
]  # fmt: skip


def test_heavy_modules_are_not_loaded_with_the_package():
    """Modules that `import numpy` loads by itself do not count."""
    code = "import sys, numpy; before = set(sys.modules); import wengert; print(*set(sys.modules) - before)"
    assert set(LATE) & set(run("-c", code).stdout.split()) == set()


def test_names_of_late_families_are_found_on_first_use():
    for found in ("wengert.conv2d", "wengert.nn.functional.conv2d"):
        assert run("-c", f"import wengert; print({found}.__name__)").stdout.split() == ["conv2d"]
    assert run("-c", "from wengert import cdist; print(cdist.__name__)").stdout.split() == ["cdist"]


def test_importing_and_adding_loads_nothing_more():
    code = (
        "import sys, wengert; before = set(sys.modules); x = wengert.ones(2, requires_grad=True);"
        "(x * x).sum().backward(); print(sorted(set(sys.modules) - before))"
    )
    assert run("-c", code).stdout.strip() == "[]"


ORDINARY = """
import sys, wengert
numbers = wengert.randn(4, 3)  # NumPy's random numbers come with the first
before = set(sys.modules)
x, w, b = numbers.requires_grad_(), wengert.rand(3, 2, requires_grad=True), wengert.zeros(2, requires_grad=True)
y = wengert.tensor([0, 1, 1, 0])
hidden = (x @ w + b).relu() + wengert.tanh(x.matmul(w)) * wengert.sigmoid(x.mm(w)) - wengert.addmm(b, x, w)
loss = -wengert.log_softmax(hidden, dim=1)[wengert.arange(4), y].mean() + hidden.softmax(1).max() + (x ** 2).sum().sqrt()
loss = loss + x.exp().log().abs().sum() + wengert.sin(x)[0].sum() + wengert.cat([x, x]).reshape(-1)[2:5].sum() / 3
loss = loss + wengert.where(x > 0, x, -x).clamp(max=2).mean(dim=0).sum() + wengert.stack([x, x]).unsqueeze(0).squeeze().sum()
loss.backward()
with wengert.no_grad():
    for p in (x, w, b):
        p -= 0.1 * p.grad
        p.grad.zero_()
wengert.autograd.grad((w * w).sum(), w)
loss.item(), hidden.detach().argmax(dim=1).tolist(), x.shape, len(x), x.T.dtype
print(sorted(set(sys.modules) - before))
"""


def test_ordinary_programs_load_nothing_after_the_import():
    """No use of it is slower the first time because a module is loaded then. (nn.functional is a module of its own.)"""
    assert run("-c", ORDINARY).stdout.strip() == "[]"


def test_a_loss_loads_its_own_family_alone():
    code = "import sys, wengert.nn.functional; before = set(sys.modules); wengert.nn.functional.cross_entropy;"
    code += "print(*sorted(name for name in set(sys.modules) - before if name.startswith('wengert.ops.')))"
    assert run("-c", code).stdout.split() == ["wengert.ops.loss", "wengert.ops.reductions"]


def test_late_imports_of_libraries_go_through_import_late():
    """A fork waits for an import by `_forks.import_late`. An import statement inside a function could hang the child."""
    found = [
        f"{path.relative_to(SOURCES)}:{node.lineno}"
        for path in SOURCES.rglob("*.py")
        for node in import_statements(path)
        if any(name.split(".")[0] == "scipy" for name in [getattr(node, "module", None) or "", *[a.name for a in node.names]])
    ]
    assert not found
