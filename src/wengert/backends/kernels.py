"""Kernels for arrays on a device: functions of elements, and sums of them, as CUDA C++.

A kernel comes from an expression of ops/fuse.py, as the compiled kernels of the CPU do, and calls the same functions of
kernels/vm.h. So a formula is written once, and gives the same numbers on each device but for the order of sums. CuPy compiles
the text when a kernel first runs with a dtype. tests/ops/test_device_kernels.py compiles the text of every kernel, too.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from hashlib import sha256
from typing import Any, NamedTuple

import numpy as np

from wengert.kernels.c_source import in_c, prelude

# Products and sums are not fused, as on the CPU.
OPTIONS = ("--fmad=false",)
_HEAD = """#ifndef INFINITY
#define INFINITY __int_as_float(0x7f800000)
#endif
#ifndef NAN
#define NAN __int_as_float(0x7fffffff)
#endif"""
_OWN = (
    ({"WK_INLINE"}, "#undef WK_INLINE\n#define WK_INLINE static __device__ __forceinline__"),
    ({"vm_lgamma_f64"}, "WK_INLINE double vm_lgamma_f64(double x) { return lgamma(x); }"),
)
_INTEGERS = {"uint64_t": "unsigned long long", "int64_t": "long long", "uint32_t": "unsigned int", "int32_t": "int"}


class Kernel:
    """A function of the elements of arrays that broadcast, and of numbers.

    operands: the names of the inputs in statements and results, which are C with the macros of ops/fuse.py. evaluate: the same
    function of NumPy's arrays in a dtype, as a reference. compiled: what a backend keeps, by dtype and kind of operands."""

    def __init__(
        self, name: str, operands: Sequence[str], statements: str, results: Sequence[str], evaluate: Callable[..., list[Any]]
    ) -> None:
        self.name = re.sub(r"\W", "_", name)
        self.operands = tuple(operands)
        self.statements = statements
        self.results = tuple(results)
        self.evaluate = evaluate
        self.compiled: dict[Any, Any] = {}


class Source(NamedTuple):
    """The text of a kernel for one dtype, in the parts that cupy.ElementwiseKernel and ReductionKernel ask for.

    call: the value of a kernel of one result, as an expression. functions: what operation and call use, without the preamble."""

    in_params: str
    out_params: str
    operation: str
    call: str
    functions: str
    real: str


def preamble_of(functions: str) -> str:
    """Return functions of kernels, after the functions of vm.h that they call. NVRTC, which CuPy uses, has no header files."""
    text = prelude(functions, _HEAD, _OWN) + functions
    return re.sub(r"\bu?int(?:32|64)_t\b", lambda m: _INTEGERS[m[0]], text)


def computed_in(dtype: Any) -> Any:
    """Return the dtype in which a kernel computes elements of a floating dtype: float32 for those of 16 bits."""
    return np.dtype(np.float32) if dtype.itemsize < 4 else dtype


def source_of(kernel: Kernel, dtype: Any, kinds: Sequence[str | None]) -> Source:
    """Return the text of a kernel for elements of a floating dtype. kinds: the dtypes of the operands, None for Python numbers."""
    real = computed_in(dtype)
    c_real = "float" if real.itemsize == 4 else "double"
    n = len(kernel.results)
    inputs = [f"x{i}" for i in range(len(kernel.operands))]
    outputs = [f"y{i}" for i in range(n)]
    parameters = [*[f"{c_real} {name}" for name in kernel.operands], *[f"{c_real} &r{i}" for i in range(n)]]
    assigned = " ".join([f"r{i} = {in_c(text, real)};" for i, text in enumerate(kernel.results)])
    body = f"({', '.join(parameters)}) {{ {in_c(kernel.statements, real)} {assigned} }}"
    function = f"wk_{sha256((c_real + body).encode()).hexdigest()[:12]}"
    text = f"WK_INLINE void {function}_into{body}\n"
    if n == 1:
        call = f"{function}_into({', '.join([*kernel.operands, 'r0'])});"
        text += f"WK_INLINE {c_real} {function}({', '.join(parameters[:-1])}) {{ {c_real} r0; {call} return r0; }}\n"
    local = [f"r{i}" for i in range(n)]
    operation = f"{c_real} {', '.join(local)}; {function}_into({', '.join([*inputs, *local])}); " + " ".join(
        [f"{y} = {r};" for y, r in zip(outputs, local, strict=True)]
    )
    return Source(
        ", ".join([f"{kind or real.name} {x}" for kind, x in zip(kinds, inputs, strict=True)]),
        ", ".join([f"{dtype.name} {y}" for y in outputs]), operation, f"{function}({', '.join(inputs)})", text, c_real,
    )  # fmt: skip
