"""CuPy itself takes every call that operations make of it: names, arguments, dtypes, shapes of results, and when it waits.

No GPU is needed: tests/cupy_without_gpu.py runs CuPy's host code without one. `make oracle` installs CuPy. The calls are those of the
samples of all operations on the stand-in, so these tests also show that the stand-in refuses what CuPy refuses."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import cupy_without_gpu

TESTS = Path(__file__).parents[1]

needs_cupy = pytest.mark.skipif(
    not cupy_without_gpu.is_possible(), reason="needs CuPy, gcc and nm: `make oracle` installs CuPy on Linux for x86-64"
)


def run_python(*arguments: str) -> str:
    """Return what a new process of Python prints. CuPy is imported there: without a GPU, and nothing of that can be undone."""
    path = os.pathsep.join([str(TESTS), os.environ.get("PYTHONPATH", "")])
    result = subprocess.run(
        [sys.executable, *arguments], capture_output=True, text=True, timeout=900, env={**os.environ, "PYTHONPATH": path}
    )
    assert result.returncode == 0, result.stderr[-3000:]
    return result.stdout


def noted(*arguments: str) -> list[dict[str, Any]]:
    *found, last = [json.loads(line) for line in run_python("-m", "cupy_beside", *arguments).splitlines()]
    assert last["calls"] and last["kernels"]
    return found


def texts(found: list[dict[str, Any]]) -> str:
    return "\n".join(f"{x['line']} {x['call']}: {x['what']} ({x['count']} times, first in {x['operation']})" for x in found)


@needs_cupy
@pytest.mark.slow
def test_cupy_takes_every_call_of_operations_and_their_derivatives():
    found = noted("--samples", "1")
    assert not found, texts(found)


@needs_cupy
@pytest.mark.exhaustive
@pytest.mark.parametrize("part", range(4))
def test_cupy_takes_every_call_for_all_samples_and_dtypes(part):
    found = noted("--dtypes", "float64,float32,float16,complex128", "--part", str(part), "4")
    assert not found, texts(found)


@needs_cupy
@pytest.mark.slow
def test_cupy_takes_every_call_of_the_tests_of_devices():
    files = ["test_devices", "test_waits", "test_device_generators", "test_streams", "test_programs_on_devices"]
    chosen = "not without_cupy and not needs_map_location"  # these look for no CuPy
    print(run_python("-m", "pytest", "-q", "-p", "cupy_beside", "-k", chosen, *[str(TESTS / "core" / f"{file}.py") for file in files]))


@needs_cupy
@pytest.mark.slow
def test_views_of_cupy_share_the_storage_of_their_base():
    program = """
import cupy_without_gpu
cupy_without_gpu.install()
import os, sys
import wengert as torch

x, z = torch.ones(3, 4).cuda(), torch.ones(3, 2, dtype=torch.complex64).cuda()
views = {
    "expand": lambda: x.expand(2, 3, 4), "as_strided": lambda: x.as_strided((2, 2), (1, 2), 3), "unfold": lambda: x.unfold(1, 2, 1),
    "diagonal": lambda: x.diagonal(1), "t": lambda: x.t()[1:, None], "view": lambda: x.view(2, 6), "real": lambda: z.t().real,
    "imag": lambda: z[1:].imag, "view_as_real": lambda: torch.view_as_real(z[1]),
}
for name, view in views.items():
    y, base = view(), z if name in ("real", "imag", "view_as_real") else x
    print(name, y.untyped_storage() is base.untyped_storage(), y.data_ptr() - base.data_ptr() == y.storage_offset() * y.element_size())
v = x[1:]
x.resize_(6, 4)
print("resize_", x.untyped_storage() is v.untyped_storage(), x.untyped_storage().nbytes() == 96)
sys.stdout.flush()
os._exit(0)
"""
    lines = run_python("-c", program).splitlines()
    assert len(lines) == 10 and all(line.endswith("True True") for line in lines), lines


@needs_cupy
@pytest.mark.slow
def test_a_call_that_cupy_refuses_is_found():
    program = """
import cupy_beside, standin, numpy as np
cupy_beside.watch()
x = standin.from_host(np.ones(3))
cupy_beside.run(np.multiply.reduce, (x,), {})
cupy_beside.run(np.maximum.reduce, (x,), {})
cupy_beside.run(np.block, (x,), {})
cupy_beside.run(np.tril_indices, (3,), {})
cupy_beside.run(np.einsum, ("i,i->i", x, x), {"order": "C"})
print(*[f"{name}: {what}" for name, what, _ in cupy_beside.noted], sep="\\n")
import os, sys
sys.stdout.flush()
os._exit(0)
"""
    found = run_python("-c", program).splitlines()
    expected = ["reduce: .* not supported", "block: .* no attribute", "tril_indices: CuPy waits", r"tril_indices: .*int64\[0\]", "einsum: .*order"]
    assert len(found) == len(expected) and all(map(re.match, expected, found)), found
