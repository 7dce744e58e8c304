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
import device_compilers

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
def test_the_source_that_cupy_makes_of_kernels_compiles_for_a_gpu():
    program = """
import cupy_without_gpu
cupy_without_gpu.install()
import json, os, sys
import wengert as torch

x = torch.linspace(-2, 2, 6, device="cuda").reshape(2, 3).requires_grad_()
b = torch.ones(3, device="cuda", requires_grad=True)
for dtype in (torch.float16, torch.float32, torch.float64):
    y, c = x.to(dtype), b.to(dtype)
    f = torch.pointwise(lambda x, b, scale: torch.tanh(x * b) * scale)
    (f(y, c, 2.0) + torch.nn.functional.gelu(y) + torch.sigmoid(y[:, ::2, None]).sum() * c).sum().backward()
optimizer = torch.optim.Adam([x, b])
optimizer.step()
for draw in (torch.rand, torch.randn):
    draw(3, device="cuda")
torch.poisson(torch.ones(3, device="cuda"))
json.dump([item for item in cupy_without_gpu.sources.items() if "wk_" in item[0]], sys.stdout)
sys.stdout.flush()
os._exit(0)
"""
    kernels = json.loads(run_python("-c", program))
    assert len(kernels) > 15
    for source, options in kernels:
        try:
            assert device_compilers.compiled(source, options).startswith(b"\x7fELF")
        except AssertionError as error:
            if "cannot open source file" in str(error):
                pytest.skip("there are no header files of CUDA: pip install nvidia-cuda-runtime-cu12")
            raise


@needs_cupy
@pytest.mark.slow
def test_functions_of_the_backend_run_with_cupy():
    program = """
import os, sys
import cupy_without_gpu
cupy = cupy_without_gpu.install()
import numpy as np
import wengert as torch
from wengert.backends import cupy as b

assert torch.cuda.is_available() and torch.cuda.device_count() == cupy_without_gpu.DEVICES
x = b.from_host(np.arange(6.0).reshape(2, 3).T)
assert b.to_host(x).tolist() == [[0, 3], [1, 4], [2, 5]] and b.to_host_later(x).flags.f_contiguous and x.flags.f_contiguous
assert b.pinned(np.ones(3)).tolist() == [1, 1, 1] and b.device_of(b.move(x, 1)) == 1 and b.owns_memory(x)
with b.current(1):
    assert b.current_device() == 1 == b.device_of(b.from_host(np.ones(2)))
stream, first, last = b.new_stream(), b.new_event(timing=True), b.new_event(timing=True, blocking=True)
before = b.current_stream()
b.set_current_stream(stream)
assert b.current_stream() == stream
first.record(stream), last.record(stream), stream.wait_event(first), last.synchronize(), stream.synchronize(), b.synchronize(1)
assert b.elapsed_time(first, last) > 0 and stream.done and last.done and b.external_stream(stream.ptr).ptr == stream.ptr
b.set_current_stream(before)
assert b.default_stream() == before and b.can_access_peer(0, 1)
b.memory_used(0), b.memory_info(0), b.memory_peaks(0), b.reset_memory_peaks(0), b.empty_cache()
assert torch.cuda.get_device_capability() == (9, 0)
b.set_memory_limit(0, 1 << 30), b.memory_limit(0), b.nvtx(), b.blas_handle(), b.supports_bfloat16()

t = torch.as_tensor(x)
assert t.data_ptr() == x.data.ptr == torch.from_dlpack(x).data_ptr() == cupy.from_dlpack(t).data.ptr == cupy.asarray(t).data.ptr
assert t.__cuda_array_interface__["data"][0] == x.data.ptr and t.__dlpack_device__() == (2, 0)
sys.stdout.flush()
os._exit(0)
"""
    run_python("-c", program)


@needs_cupy
@pytest.mark.slow
def test_the_benchmark_on_a_gpu_runs():
    program = """
import os, runpy, sys
import cupy_without_gpu
folder = sys.argv[1]
sys.path.insert(0, folder)
sys.argv[1:] = ["--rounds", "1"]
cupy_without_gpu.install()
runpy.run_path(os.path.join(folder, "gpu.py"), run_name="__main__")
sys.stdout.flush()
os._exit(0)
"""
    lines = run_python("-c", program, str(TESTS.parent / "benchmarks")).splitlines()
    assert lines[0].startswith("on none") and len(lines) == 8, lines


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
