"""What `import wengert` costs, and what it does not load.

Time is measured in two ways, because a busy or slow machine stretches it: by the clock, and against NumPy's own import in
the same process, which is stretched as much. What is loaded is counted too: that is the same on every machine, so it
fails for sure when the cost grows, where a limit of time that a slow machine can keep lets a fast one grow in silence.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from statistics import median

import pytest

import wengert

LIMIT_MS = 40
LIMIT_OF_NUMPYS = 0.5
RUNS = 15


def run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    env = os.environ | environment
    return subprocess.run([sys.executable, *arguments], capture_output=True, text=True, check=True, env=env)


def import_times(statement: str, cache: str) -> dict[str, float]:
    """Module -> milliseconds that its import took, with those of the modules it imports. cache: folder for bytecode."""
    environment = {"PYTHONPYCACHEPREFIX": cache, "PYTHONDONTWRITEBYTECODE": ""}
    lines = run("-X", "importtime", "-c", statement, **environment).stderr.splitlines()
    rows = [line.removeprefix("import time:").split("|") for line in lines if line.count("|") == 2]
    return {name.strip(): int(total) / 1000 for _, total, name in rows if total.strip().isdigit()}


@pytest.mark.serial
def test_import_costs_little_more_than_numpy(tmp_path):
    """NumPy's own import comes first, so wengert's is the cost above it. The first run fills the bytecode cache."""
    import_times("import numpy, wengert", str(tmp_path))
    runs = [import_times("import numpy, wengert", str(tmp_path)) for _ in range(RUNS)]
    costs = sorted(times["wengert"] for times in runs)
    # Noise only ever adds, so the best counts, as in benchmarks/measure.py.
    assert costs[0] <= LIMIT_MS, f"import wengert takes {costs} ms above NumPy"
    # Not so a quotient: noise in what is divided by makes it smaller. Its median hardly moves on a busy machine.
    shares = sorted(times["wengert"] / times["numpy"] for times in runs)
    assert median(shares) <= LIMIT_OF_NUMPYS, f"import wengert takes {shares} times as long as import numpy"


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


@pytest.mark.skipif(wengert.__config__.info()["core"] == "python", reason="uncompiled, the core is twenty files more")
def test_little_is_loaded(tmp_path):
    """These limits are a sixth above what is needed, that of bytecode, which differs with Python's versions, a quarter."""
    environment = {"PYTHONPYCACHEPREFIX": str(tmp_path), "PYTHONDONTWRITEBYTECODE": ""}
    run("-c", "import wengert", **environment)
    loaded = json.loads(run("-c", f"import json\n{LOADED}", **environment).stdout)
    assert loaded["modules"] <= 104
    assert loaded["files"] <= 73
    assert loaded["operations"] <= 331
    assert 500_000 <= loaded["bytecode"] <= 1_070_000


LATE = [
    "scipy", "opt_einsum", "ml_dtypes", "inspect", "dataclasses", "concurrent.futures", "asyncio", "numpy.random",
    "torch", "cupy", "threading", "wengert.ops.stub", "wengert.ops.fft", "wengert.ops.conv", "wengert.errors.tensors",
    "wengert.printing", "wengert.autograd.function",
]  # fmt: skip


@pytest.mark.parametrize("name", LATE)
def test_is_not_loaded_until_it_is_used(name):
    """Beyond what `import numpy` loads by itself."""
    code = "import sys, numpy; before = set(sys.modules); import wengert; print(*set(sys.modules) - before)"
    assert name not in run("-c", code).stdout.split()


@pytest.mark.parametrize("found", ["wengert.conv2d", "wengert.nn.functional.conv2d", "getattr(wengert, 'conv2d')"])
def test_what_comes_late_is_found_when_asked_for(found):
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


def test_what_an_ordinary_program_uses_comes_with_the_import():
    """No use of it is slower the first time because a module is loaded then. (nn.functional is a module of its own.)"""
    assert run("-c", ORDINARY).stdout.strip() == "[]"


def test_a_loss_loads_its_own_family_alone():
    code = "import sys, wengert.nn.functional; before = set(sys.modules); wengert.nn.functional.cross_entropy;"
    code += "print(*sorted(name for name in set(sys.modules) - before if name.startswith('wengert.ops.')))"
    assert run("-c", code).stdout.split() == ["wengert.ops.loss", "wengert.ops.reductions"]
