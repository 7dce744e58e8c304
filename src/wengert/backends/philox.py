"""Random numbers for devices: the generator Philox 4x32-10 as CUDA C++, and the same numbers by NumPy, as a reference.

Philox has no state. It turns a counter of 128 bits and a seed of 64 bits into a block of four words of 32 bits, so each element
of an array makes its own numbers (J. K. Salmon and others, Parallel random numbers: as easy as 1, 2, 3, 2011). Note [Counters] says
which counter an element has. tests/ops/test_device_random.py compiles the text and compares it with the reference.

Note [Counters]
A generator is a seed and an offset: the number of the next block that no array has used.
- Block number i of an array has the counter offset + i. It gives four numbers of 32 bits or two of 64 bits.
- Numbers from rejection need blocks until one is accepted. Element i takes them from the counters offset + 2**64 * (i + 2**32 * k),
  for k = 1, 2, ... So each element has its own sequence, and all elements take one block of the offset.
"""

from __future__ import annotations

import math
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

import numpy as np

from wengert.kernels.samplers import KINDS

_MASK_32 = (1 << 32) - 1
_MASK_64 = (1 << 64) - 1
_BLOCK = 16  # bytes


def blocks_of(size: int, dtype: Any) -> int:
    """Return the number of blocks from which `size` numbers of a dtype of 32 or 64 bits are made."""
    return -(-size * int(dtype.itemsize) // _BLOCK)


# -- the text ----------------------------------------------------------------------------------------------------------

_HEAD = """#ifndef INFINITY
#define INFINITY __longlong_as_double(0x7ff0000000000000)
#endif
#ifndef NAN
#define NAN __longlong_as_double(0x7fffffffffffffff)
#endif
#define WK_SAMPLER static __device__
typedef unsigned int wk_word;
typedef unsigned long long wk_long;

WK_SAMPLER void wk_philox(wk_long low, wk_long high, wk_long seed, wk_word *w) {
    wk_word k0 = (wk_word)seed, k1 = (wk_word)(seed >> 32);
    w[0] = (wk_word)low, w[1] = (wk_word)(low >> 32), w[2] = (wk_word)high, w[3] = (wk_word)(high >> 32);
    for (int i = 0; i < 10; i++) {
        wk_long p = 0xD2511F53ull * w[0], q = 0xCD9E8D57ull * w[2];
        wk_word a = (wk_word)(q >> 32) ^ w[1] ^ k0, b = (wk_word)(p >> 32) ^ w[3] ^ k1;
        w[0] = a, w[1] = (wk_word)q, w[2] = b, w[3] = (wk_word)p;
        k0 += 0x9E3779B9u, k1 += 0xBB67AE85u;
    }
}
WK_SAMPLER wk_long wk_join(const wk_word *w) { return (wk_long)w[0] << 32 | w[1]; }
WK_SAMPLER double wk_fraction(const wk_word *w) { return (double)(wk_join(w) >> 11) * (1.0 / 9007199254740992.0); }
"""
_FILL = """
WK_SAMPLER void wk_fill_uniform(const wk_word *w, float *z) {
    for (int j = 0; j < 4; j++) z[j] = (float)(w[j] >> 8) * (1.0f / 16777216.0f);
}
WK_SAMPLER void wk_fill_uniform(const wk_word *w, double *z) { z[0] = wk_fraction(w), z[1] = wk_fraction(w + 2); }
WK_SAMPLER void wk_fill_uniform(const wk_word *w, wk_long *z) { z[0] = wk_join(w), z[1] = wk_join(w + 2); }
WK_SAMPLER void wk_fill_normal(const wk_word *w, float *z) {
    for (int j = 0; j < 4; j += 2) {
        float radius = sqrtf(-2.0f * logf(((float)w[j] + 1.0f) * (1.0f / 4294967296.0f)));
        float angle = (float)(w[j + 1] >> 8) * (6.2831853f / 16777216.0f);
        z[j] = radius * cosf(angle), z[j + 1] = radius * sinf(angle);
    }
}
WK_SAMPLER void wk_fill_normal(const wk_word *w, double *z) {
    double radius = sqrt(-2.0 * log(wk_fraction(w) + 1.0 / 9007199254740992.0));
    double angle = 6.28318530717958647692 * wk_fraction(w + 2);
    z[0] = radius * cos(angle), z[1] = radius * sin(angle);
}
"""
_SOURCE = """
typedef struct {
    wk_long seed, offset, element;
    wk_word tries, used, w[4];
    double kept;
    int has_kept;
} source_t;
WK_SAMPLER source_t wk_source(wk_long seed, wk_long offset, wk_long element) {
    source_t s = {seed, offset, element, 0, 4, {0, 0, 0, 0}, 0, 0};
    return s;
}
WK_SAMPLER double draw_uniform(source_t *s) {
    if (s->used == 4) {
        wk_philox(s->offset + (s->element >> 32), (s->element & 0xffffffffull) | (wk_long)++s->tries << 32, s->seed, s->w);
        s->used = 0;
    }
    s->used += 2;
    return wk_fraction(s->w + s->used - 2);
}
WK_SAMPLER double draw_normal(source_t *s) {
    if (s->has_kept) {
        s->has_kept = 0;
        return s->kept;
    }
    double angle = 6.28318530717958647692 * draw_uniform(s);
    double radius = sqrt(-2 * log1p(-draw_uniform(s)));
    s->kept = radius * sin(angle), s->has_kept = 1;
    return radius * cos(angle);
}
"""


class Source(NamedTuple):
    """The text of a kernel, in the parts that cupy.ElementwiseKernel asks for."""

    in_params: str
    out_params: str
    operation: str
    preamble: str


@cache
def source_of(kind: str, dtype: str) -> Source:
    """Return the text of a kernel that fills an array with numbers, a block at a time.

    kind: "uniform", in [0, 1) or all of uint64, or "normal". dtype: "float32", "float64" or "uint64"."""
    real = {"float32": "float", "float64": "double", "uint64": "wk_long"}[dtype]
    size = _BLOCK // np.dtype(dtype).itemsize
    operation = (
        f"wk_word w[4]; {real} z[{size}]; wk_philox(offset + (wk_long)i, 0, seed, w); wk_fill_{kind}(w, z); "
        f"for (int j = 0; j < {size}; j++) if ({size} * i + j < n) y[{size} * i + j] = z[j];"
    )
    return Source("uint64 seed, uint64 offset, int64 n", f"raw {dtype} y", operation, _HEAD + _FILL)


@cache
def rejecting_source_of(kind: int) -> Source:
    """Return the text of a kernel that draws from the distribution with this number in samplers.KINDS, for each element."""
    samplers = (files("wengert") / "kernels" / "samplers.h").read_text(encoding="utf-8")
    operation = f"source_t s = wk_source(seed, offset, (wk_long)i); y = {KINDS[kind].__name__}(&s, a, b);"
    return Source("uint64 seed, uint64 offset, float64 a, float64 b", "float64 y", operation, _HEAD + _SOURCE + samplers)


# -- the reference -----------------------------------------------------------------------------------------------------


def philox(c0: Any, c1: Any, c2: Any, c3: Any, seed: int) -> tuple[Any, Any, Any, Any]:
    """Return the block of a counter of four words: ints, or arrays of uint64."""
    k0, k1 = seed & _MASK_32, seed >> 32
    for _ in range(10):
        p, q = c0 * 0xD2511F53, c2 * 0xCD9E8D57
        c0, c1, c2, c3 = (q >> 32) ^ c1 ^ k0, q & _MASK_32, (p >> 32) ^ c3 ^ k1, p & _MASK_32
        k0, k1 = (k0 + 0x9E3779B9) & _MASK_32, (k1 + 0xBB67AE85) & _MASK_32
    return c0, c1, c2, c3


def numbers(kind: str, dtype: Any, shape: tuple[int, ...], seed: int, offset: int) -> np.ndarray[Any, Any]:
    """Return what a kernel of source_of makes."""
    size = math.prod(shape)
    count = np.uint64(offset & _MASK_64) + np.arange(blocks_of(size, dtype), dtype=np.uint64)
    zero = np.zeros_like(count)
    words = np.stack(philox(count & np.uint64(_MASK_32), count >> np.uint64(32), zero, zero, seed), axis=1)
    if dtype.itemsize == 8:
        words = words[:, ::2] << np.uint64(32) | words[:, 1::2]
    found = words if dtype.kind == "u" else (_uniform if kind == "uniform" else _normal)(words, dtype)
    return np.asarray(found.reshape(-1)[:size].reshape(shape))


def _uniform(words: Any, dtype: Any) -> Any:
    unused, digits = (8, 24) if dtype.itemsize == 4 else (11, 53)
    return (words >> np.uint64(unused)).astype(dtype) * dtype.type(2.0**-digits)


def _normal(words: Any, dtype: Any) -> Any:
    if dtype.itemsize == 4:
        first = (words[:, ::2].astype(dtype) + dtype.type(1)) * dtype.type(2.0**-32)
    else:
        first = _uniform(words[:, ::2], dtype) + 2.0**-53
    radius = np.sqrt(dtype.type(-2) * np.log(first))
    angle = _uniform(words[:, 1::2], dtype) * dtype.type(2 * math.pi)
    return np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=-1)


def rejecting_numbers(kind: int, a: Any, b: Any, seed: int, offset: int) -> np.ndarray[Any, Any]:
    """Return what a kernel of rejecting_source_of makes, for float64 arrays of one shape."""
    draw, pairs = KINDS[kind], zip(a.ravel().tolist(), b.ravel().tolist(), strict=True)
    return np.array([draw(*_source(seed, offset, i), x, y) for i, (x, y) in enumerate(pairs)], np.float64).reshape(a.shape)


def _source(seed: int, offset: int, element: int) -> tuple[Any, Any]:
    """Return the functions that draw uniform and normal numbers for an element."""
    tries = 0
    held: list[float] = []
    kept: list[float] = []

    def uniform() -> float:
        nonlocal tries
        if not held:
            tries += 1
            low = offset + (element >> 32) & _MASK_64
            w = philox(low & _MASK_32, low >> 32, element & _MASK_32, tries, seed)
            held[:] = [((w[j] << 32 | w[j + 1]) >> 11) * 2.0**-53 for j in (2, 0)]
        return held.pop()

    def normal() -> float:
        if kept:
            return kept.pop()
        angle = 2 * math.pi * uniform()
        radius = math.sqrt(-2 * math.log1p(-uniform()))
        kept.append(radius * math.sin(angle))
        return radius * math.cos(angle)

    return uniform, normal
