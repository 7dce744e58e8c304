"""What `import wengert` costs, and what it does not load."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

LIMIT_MS = 40
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
    # Noise only ever adds, so the best counts, as in benchmarks/measure.py.
    costs = [import_times("import numpy, wengert", str(tmp_path))["wengert"] for _ in range(RUNS)]
    assert min(costs) <= LIMIT_MS, f"import wengert takes {sorted(costs)} ms above NumPy"


LATE = [
    "scipy", "opt_einsum", "ml_dtypes", "inspect", "dataclasses", "concurrent.futures", "asyncio", "numpy.random",
    "torch", "cupy", "wengert.ops.stub", "wengert.ops.fft", "wengert.ops.conv",
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
