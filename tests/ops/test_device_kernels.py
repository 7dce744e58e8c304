"""Kernels for devices: their text compiles, as C++ of the host and for a GPU, and computes what NumPy computes.

No GPU is needed. On one, tests/ops/test_on_device.py runs them (`make test-cuda`)."""

from __future__ import annotations

import ctypes
import re
from functools import cache
from typing import Any

import numpy as np
import pytest

import device_compilers
import device_library
import standin
import wengert as torch
from device_library import on_the_stand_in
from wengert.backends.kernels import Kernel, preamble_of, source_of
from wengert.ops import device_kernels, load_all
from wengert.ops.registry import OPS

REALS = ("float32", "float64")


@cache
def kernels() -> list[Kernel]:
    """Return the kernel of each forward and rule, once for each text."""
    load_all()
    found = {}
    for op in OPS.values():
        for form in device_kernels.forms_of(op).values():
            found[form.kernel.operands, form.kernel.statements, form.kernel.results] = form.kernel
    return list(found.values())


def source(head: str, place: str, chosen: list[Kernel], dtypes: tuple[str, ...] = REALS) -> str:
    """Return a source with two functions for each kernel and dtype: the loops that CuPy's ElementwiseKernel and ReductionKernel make."""
    functions: dict[str, None] = {}
    loops = []
    for number, kernel in enumerate(chosen):
        for dtype in dtypes:
            s = source_of(kernel, np.dtype(dtype), [dtype] * len(kernel.operands))
            functions[s.functions] = None
            inputs, outputs = [[part.split()[1] for part in text.split(", ")] for text in (s.in_params, s.out_params)]
            parameters = [*[f"const {s.real} *p_{x}" for x in inputs], *[f"{s.real} *p_{y}" for y in outputs], "int n"]
            local = [*[f"const {s.real} {x} = p_{x}[i];" for x in inputs], *[f"{s.real} &{y} = p_{y}[i];" for y in outputs]]
            loops.append(f"{head} void k{number}_{dtype}({', '.join(parameters)}) {{ {place} {{ {' '.join(local)} {s.operation} }} }}")
            summed = " ".join([x for x in local if x.startswith("const")])
            loops.append(f"{head} void s{number}_{dtype}({', '.join(parameters)}) {{ {place} {{ {summed} p_y0[0] += {s.call}; }} }}")
    return "\n".join([preamble_of("".join(functions)), *loops])


@pytest.fixture(scope="module")
def host_library(tmp_path_factory: pytest.TempPathFactory) -> Any:
    text = source('extern "C"', "for (int i = 0; i < n; i++)", kernels())
    return device_compilers.host_library(text, tmp_path_factory.mktemp("kernels"))


@pytest.mark.slow
@pytest.mark.parametrize("dtype", REALS)
def test_the_text_of_each_kernel_computes_what_numpy_computes(host_library, dtype):
    rng = np.random.default_rng(5)
    special = np.array([0.0, -0.0, 1.0, -1.0, 0.5, 2.0, np.inf, -np.inf, np.nan])
    precision = 1e-5 if dtype == "float32" else 1e-13
    for number, kernel in enumerate(kernels()):
        arrays = [np.concatenate([rng.permutation(special), rng.uniform(-2, 2, 40), rng.uniform(0, 1, 40)]).astype(dtype) for _ in kernel.operands]
        (expected,) = device_kernels.reference(kernel, arrays, np.dtype(dtype))
        found, total = np.empty_like(expected), np.zeros(1, dtype)
        for letter, out in (("k", found), ("s", total)):
            getattr(host_library, f"{letter}{number}_{dtype}")(*[ctypes.c_void_p(x.ctypes.data) for x in (*arrays, out)], found.size)
        # The terms of a sum may cancel, so errors are measured against the larger operands, too.
        scale = np.maximum(1.0, np.max([np.abs(x) for x in arrays if np.isfinite(x).any()], axis=0, where=np.isfinite(arrays), initial=0.0))
        np.testing.assert_allclose(found, expected, rtol=300 * precision, atol=30 * precision * scale.max(), err_msg=kernel.name)
        with np.errstate(all="ignore"):
            np.testing.assert_allclose(total[0], found.sum(), rtol=1e-4, err_msg=kernel.name)


def test_each_kernel_compiles_for_a_gpu():
    place = "const int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n)"
    code = device_compilers.compiled(source('extern "C" __global__', place, kernels()))
    assert code.startswith(b"\x7fELF")
    assert all(f"k{number}_{dtype}".encode() in code for number in range(len(kernels())) for dtype in REALS)


def test_a_text_that_is_wrong_is_refused():
    with pytest.raises(AssertionError, match="identifier \"VM\" is undefined"):
        device_compilers.compiled('extern "C" __global__ void k(float *x) { x[0] = VM(exp)(x[0]); }')


def test_texts_have_no_macros_left_and_name_each_operand_once():
    assert len(kernels()) > 150
    for kernel in kernels():
        for dtype in ("float16", *REALS):
            s = source_of(kernel, np.dtype(dtype), [dtype] * len(kernel.operands))
            assert not re.search(r"\b(?:C|VM|LIBM)\(|\breal\b|larger_\(|LIMIT_TRIG", preamble_of(s.functions) + s.operation), kernel.name
            assert s.in_params == ", ".join([f"{dtype} x{i}" for i in range(len(kernel.operands))]) and s.out_params == f"{dtype} y0"
            assert s.real == ("double" if dtype == "float64" else "float") and re.fullmatch(r"\w+", kernel.name)
    s = source_of(kernels()[0], np.dtype("float16"), [None] * len(kernels()[0].operands))
    assert s.in_params.startswith("float32 x0"), "a number is not rounded to float16"


# -- launches ----------------------------------------------------------------------------------------------------------


def launched(run: Any) -> int:
    """Return how many kernels start while run() runs."""
    before = standin.launches
    run()
    return standin.launches - before


@on_the_stand_in
def test_a_pointwise_function_is_one_launch_and_so_is_its_derivative():
    @torch.pointwise
    def f(x, y, scale):
        return torch.tanh(x * y + torch.where(x > 0, x, -y)) * scale

    expected, parts = [], []
    for where in ("cpu", "cuda"):
        with device_library.in_use():
            torch.manual_seed(0)
            x, y = (torch.randn(5, 3, dtype=torch.float64).to(where).requires_grad_() for _ in range(2))
            out = []
            parts.append(launched(lambda: out.append(f(x, y, 2.0))))  # noqa: B023 (called at once)
            ct = torch.ones_like(out[0])
            parts.append(launched(lambda: out.extend(torch.autograd.grad(out[0], (x, y), ct))))  # noqa: B023
            expected.append([t.tolist() for t in out])
    np.testing.assert_allclose(np.array(expected[1]), np.array(expected[0]), rtol=1e-13)
    assert parts == [0, 0, 1, 1]


@on_the_stand_in
def test_the_gradient_of_an_input_that_broadcasts_is_summed_in_its_kernel():
    f = torch.pointwise(lambda x, b: torch.sigmoid(x + b) * b)
    with device_library.in_use():
        torch.manual_seed(0)
        x, b = torch.randn(6, 4, device="cuda", dtype=torch.float64), torch.randn(4, device="cuda", dtype=torch.float64, requires_grad=True)
        y, ct = f(x, b), torch.ones(6, 4, device="cuda", dtype=torch.float64)
        g = []
        assert launched(lambda: g.extend(torch.autograd.grad(y, b, ct))) == 1
        c = b.detach().cpu().requires_grad_()
        (expected,) = torch.autograd.grad(f(x.cpu(), c), c, ct.cpu())
        np.testing.assert_allclose(g[0].cpu().numpy(), expected.numpy(), rtol=1e-12)
        w = torch.randn(4, device="cuda", requires_grad=True)
        product = torch.ones(6, 4, device="cuda") * w
        ones = torch.ones(6, 4, device="cuda")
        assert launched(lambda: torch.autograd.grad(product, w, ones)) == 1
        assert torch.autograd.grad((torch.ones(6, 4, device="cuda") * w).sum(), w)[0].tolist() == [6.0] * 4


@on_the_stand_in
def test_operations_of_several_functions_and_their_rules_are_one_launch():
    with device_library.in_use():
        x = torch.linspace(-2, 2, 7, device="cuda", requires_grad=True)
        for name in ("sigmoid", "tanh", "softplus", "gelu", "silu", "mish", "elu", "logsigmoid"):
            op, out = getattr(torch.nn.functional, name), []
            assert launched(lambda: out.append(op(x))) == 1, name  # noqa: B023
            ct = torch.ones_like(out[0])
            assert launched(lambda: torch.autograd.grad(out[0], x, ct)) == 1, name  # noqa: B023


@on_the_stand_in
@pytest.mark.parametrize("name", ["SGD", "Adam", "AdamW", "RMSprop", "Adagrad", "Adadelta", "Adamax", "NAdam", "RAdam"])
def test_a_step_of_an_optimizer_is_one_launch_for_each_parameter(name):
    with device_library.in_use():
        parameters = [torch.nn.Parameter(torch.ones(3, 2, device="cuda")) for _ in range(3)]
        options = {"momentum": 0.9} if name == "SGD" else {}
        optimizer = getattr(torch.optim, name)(parameters, lr=0.1, **options)
        for p in parameters:
            p.grad = torch.full_like(p, 0.5)
        optimizer.step()
        before = standin.waits
        assert launched(optimizer.step) == 3 and standin.waits == before


@on_the_stand_in
def test_kernels_take_float16_and_compute_in_float32():
    with device_library.in_use():
        x = torch.tensor([1.0, 2.0, 300.0], dtype=torch.float16, device="cuda", requires_grad=True)
        y = torch.nn.functional.silu(x * x / 300)  # x * x is inf in float16
        assert y.dtype is torch.float16 and torch.isinf(y[2]).item()
        f = torch.pointwise(lambda x: x * x / 300)
        z = f(x)
        assert z.dtype is torch.float16 and z.tolist() == [np.float16(1 / 300).item(), np.float16(4 / 300).item(), 300.0]
        z.sum().backward()
        assert x.grad.dtype is torch.float16 and x.grad[2].item() == 2.0


@on_the_stand_in
def test_what_kernels_do_not_take_keeps_the_calls_of_the_library():
    with device_library.in_use():
        z = torch.tensor([1 + 1j, -2j], device="cuda")
        assert torch.sigmoid(z).dtype is torch.complex64
        assert torch.sigmoid(torch.tensor([0, 1], device="cuda")).dtype is torch.float32
        f = torch.pointwise(lambda x, y: torch.nextafter(x, y) * 2)
        assert f(torch.ones(2, device="cuda"), torch.zeros(2, device="cuda")).is_cuda
