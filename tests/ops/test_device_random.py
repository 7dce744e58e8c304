"""Random numbers of devices: the reference is Philox, and the text of the kernels computes what the reference computes."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest
from scipy import stats

import device_compilers
from loops import each
from wengert.backends import philox
from wengert.kernels.samplers import KINDS

FILLS = [("uniform", "float32"), ("uniform", "float64"), ("uniform", "uint64"), ("normal", "float32"), ("normal", "float64")]
C_TYPES = {"float32": "float", "float64": "double", "uint64": "unsigned long long"}
PARAMETERS = {  # of the distributions, at each side of the limits at which the samplers take another way
    0: ([0.3, 1.0, 2.5, 40.0, 0.0, np.inf], lambda a: 1 / a),
    1: ([0.1, 3.0, 9.9, 10.0, 200.0, 0.0], lambda a: a),
    2: ([5.0, 30.0, 100.0, 1000.0, 0.0, 7.0], lambda a: np.resize([0.1, 0.9, 0.5, 0.02], a.shape)),
}


@pytest.mark.parametrize(
    ("counter", "seed", "block"),
    [  # the known answers that the authors publish with their programs
        ([0, 0, 0, 0], 0, "6627e8d5 e169c58d bc57ac4c 9b00dbd8"),
        ([0xFFFFFFFF] * 4, 2**64 - 1, "408f276d 41c83b0e a20bc7c6 6d5451fd"),
        ([0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344], 0x299F31D0A4093822, "d16cfe09 94fdcceb 5001e420 24126ea1"),
    ],
)
def test_the_reference_is_philox(counter, seed, block):
    assert " ".join([f"{word:08x}" for word in philox.philox(*counter, seed)]) == block
    arrays = [np.array([word], np.uint64) for word in counter]
    assert " ".join([f"{word[0]:08x}" for word in philox.philox(*arrays, seed)]) == block


def source(head: str, loop: str) -> str:
    """Return a source with a function for each kernel. loop: where the function runs the operation for i < size."""
    fills = [philox.source_of(kind, dtype) for kind, dtype in FILLS]
    rejecting = [philox.rejecting_source_of(kind) for kind in range(len(KINDS))]
    text = fills[0].preamble + rejecting[0].preamble.removeprefix(philox._HEAD)
    shared = "unsigned long long seed, unsigned long long offset"
    for (kind, dtype), s in zip(FILLS, fills, strict=True):
        text += f"{head} void {kind}_{dtype}({shared}, long long n, {C_TYPES[dtype]} *y, long long size) {{ {loop} {{ {s.operation} }} }}\n"
    for kind, s in enumerate(rejecting):
        body = s.operation.replace("y = ", "out[i] = ").replace("a, b", "a_[i], b_[i]")
        text += f"{head} void rejecting_{kind}({shared}, const double *a_, const double *b_, double *out, long long size) {{ {loop} {{ {body} }} }}\n"
    return text


@pytest.fixture(scope="module")
def host_library(tmp_path_factory):
    text = source('extern "C"', "for (long long i = 0; i < size; i++)")
    return device_compilers.host_library(text, tmp_path_factory.mktemp("random"))


@each(("kind", "dtype"), FILLS)
def test_the_text_of_fills_computes_the_reference(host_library, kind, dtype):
    for n, seed, offset in ((1, 0, 0), (7, 2**63 + 5, 3), (1000, 11, 2**64 - 100)):
        expected = philox.numbers(kind, np.dtype(dtype), (n,), seed, offset)
        found = np.zeros(n, dtype)
        unsigned = ctypes.c_ulonglong
        getattr(host_library, f"{kind}_{dtype}")(
            unsigned(seed), unsigned(offset), ctypes.c_longlong(n), ctypes.c_void_p(found.ctypes.data),
            ctypes.c_longlong(philox.blocks_of(n, expected.dtype)),
        )  # fmt: skip
        if kind == "uniform":
            np.testing.assert_array_equal(found, expected)
        else:
            np.testing.assert_allclose(found, expected, rtol=1e-5 if dtype == "float32" else 1e-13, atol=1e-6 if dtype == "float32" else 1e-14)


@each("kind", range(len(KINDS)))
def test_the_text_of_samplers_computes_the_reference(host_library, kind):
    values, second = PARAMETERS[kind]
    a = np.resize(np.array(values), 300)
    with np.errstate(divide="ignore"):
        b = np.ascontiguousarray(second(a))
    expected, found = philox.rejecting_numbers(kind, a, b, 17, 2**40), np.zeros(a.size)
    pointers = [ctypes.c_void_p(x.ctypes.data) for x in (a, b, found)]
    getattr(host_library, f"rejecting_{kind}")(ctypes.c_ulonglong(17), ctypes.c_ulonglong(2**40), *pointers, ctypes.c_longlong(a.size))
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_the_text_compiles_for_a_gpu():
    place = "const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; if (i < size)"
    assert device_compilers.compiled(source('extern "C" __global__', place)).startswith(b"\x7fELF")


@each("dtype", ["float32", "float64"])
def test_numbers_have_their_distributions(dtype):
    n = 20_000
    uniform = philox.numbers("uniform", np.dtype(dtype), (n,), 5, 0)
    assert uniform.min() >= 0 and uniform.max() < 1 and stats.kstest(uniform, "uniform").pvalue > 1e-3
    normal = philox.numbers("normal", np.dtype(dtype), (n,), 6, 0)
    assert np.isfinite(normal).all() and stats.kstest(normal, "norm").pvalue > 1e-3
    assert abs(np.corrcoef(normal[::2], normal[1::2])[0, 1]) < 0.03


def test_samples_by_rejection_have_their_distributions():
    n = 4000
    gamma = philox.rejecting_numbers(0, np.full(n, 2.5), np.full(n, 0.4), 1, 0)
    assert stats.kstest(gamma, "gamma", (2.5,)).pvalue > 1e-3
    poisson = philox.rejecting_numbers(1, np.full(n, 20.0), np.full(n, 20.0), 1, 0)
    assert abs(poisson.mean() - 20) < 0.4 and abs(poisson.var() - 20) < 2
    binomial = philox.rejecting_numbers(2, np.full(n, 40.0), np.full(n, 0.3), 1, 0)
    assert abs(binomial.mean() - 12) < 0.3 and abs(binomial.var() - 8.4) < 1


def test_blocks_that_follow_each_other_give_the_numbers_of_one_array():
    whole = philox.numbers("uniform", np.dtype("float32"), (40,), 9, 0)
    parts = [philox.numbers("uniform", np.dtype("float32"), (20,), 9, offset) for offset in (0, 5)]
    np.testing.assert_array_equal(np.concatenate(parts), whole)
    assert not np.isin(philox.numbers("uniform", np.dtype("float32"), (40,), 10, 0), whole).any()
