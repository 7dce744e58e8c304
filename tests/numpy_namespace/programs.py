"""Calls of NumPy's functions and methods, written once and run with numpy and with wengert.numpy as np."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy

import wengert.numpy

X = numpy.array([[0.7, 0.3, -0.2, 0.9], [1.4, -0.6, 0.5, 0.31], [0.11, 2.3, -1.2, 0.64]])
S = numpy.array([[2.0, 0.3, 0.1], [0.3, 1.5, -0.4], [0.1, -0.4, 1.8]])
V = numpy.array([0.4, 1.6, 0.9])

# One expression a line. x: a 3x4 matrix; s: a symmetric positive 3x3 matrix; v: 3 positive numbers; k: 3 ints.
EXPRESSIONS = """
x + 1
2 - x
x * v[:, None]
v[:, None] / x
x + k[:, None]
v ** 2
2.0 ** x
v ** k
x // 0.37
x % 0.37
k * v
k / v
-x
abs(x)
s @ v
v @ s
x > 0.4
divmod(x, 0.37)[1]
np.sin(x)
np.exp(x) + np.log(v)[:, None]
np.sqrt(v)
np.maximum(x, v[:, None])
np.hypot(x, 1.0)
np.logaddexp(x, 0)
np.cbrt(v)
np.add.reduce(x, axis=1)
np.multiply.accumulate(x, axis=1)
np.multiply.outer(v, v)
np.add.reduceat(x, [0, 2], axis=1)
x.sum()
x.sum(axis=(0, 1), keepdims=True)
x.sum(0, initial=2.0)
x.mean(axis=1)
x.std()
x.std(axis=1, ddof=1)
x.var(axis=0, keepdims=True)
x.max(axis=1)
x.min()
x.prod(axis=1)
x.cumsum()
x.cumprod(axis=1)
x.argmax(axis=1)
x.argsort(axis=0)
x.any(axis=1)
x.T
x.mT
x.transpose(1, 0)
x.swapaxes(0, 1)
x.reshape(2, -1)
x.reshape((2, 6), order="F")
x.ravel()
x.flatten(order="F")
x.squeeze()
x.repeat(2, axis=0)
x.take([0, 2], axis=1)
x.clip(0.0, 0.55)
x.clip(max=0.55)
x.round(1)
x.trace()
x.diagonal()
x.dot(np.arange(4.0))
x.compress([True, False, True], axis=0)
x.astype(np.float32)
x.astype(int)
x.copy()
x.conj()
x.real
x.imag
x.flat[5]
x.flat[[1, 3]]
x[0]
x[1, 2]
x[::-1]
x[:, ::-2]
x[..., None, 1]
x[[0, 2]]
x[[0, 2], 1]
x[:, [0, 0, 3]]
x[[0, 1], :, None][:, 0]
x[[[0], [2]], [1, 3]]
x[x > 0.4]
x[np.array([True, False, True])]
x[k[0]]
x[np.array(1)]
np.array([x[0], 2 * x[1]])
np.array([[x[0, 0], 1], [2, x[1, 1]]])
np.asarray(x)
np.stack([v, 2 * v])
np.concatenate([v, k])
np.concatenate([x, x], axis=None)
np.vstack([v, v])
np.where(x > 0, x, 0)
np.select([x > 0.55, x > 0], [x, 2 * x], -1.0)
np.clip(x, -0.55, 0.55)
np.flip(x, 1)
np.fliplr(x)
np.flipud(x)
np.rot90(x)
np.rot90(x, 3)
np.roll(x, 1, axis=0)
np.moveaxis(x, 0, 1)
np.expand_dims(x, 1)
np.broadcast_to(v, (2, 3))
np.tile(v, 2)
np.pad(x, 1)
np.diff(x)
np.gradient(v)
np.trapezoid(v, dx=0.5)
np.interp([0.5, 1.5], [0.0, 1.0, 2.0], v)
np.interp(v, [0.0, 1.0, 2.0], [1.0, 3.0, 2.0])
np.convolve(v, [1.0, 2.0])
np.einsum("ij,i->j", x, v)
np.tensordot(x, v, axes=(0, 0))
np.outer(v, v)
np.inner(v, v)
np.kron(v, v)
np.cross(v, [1.0, 2.0, 3.0])
np.dot(s, v)
np.median(x, axis=1)
np.percentile(x, 30)
np.quantile(x, [0.2, 0.8], axis=0)
np.average(x, axis=0, weights=v)
np.cov(x)
np.sort(x, axis=0)
np.sort(v, descending=True) if np is wengert.numpy else np.sort(v)[::-1]
np.cumsum(x, axis=0)
np.polyval(v, 0.3)
np.linspace(v[0], v[1], 4)
np.tril(s)
np.diag(v)
np.diag(s)
np.apply_along_axis(lambda row: row.sum(axis=0) * row, 1, x)
np.linalg.norm(x)
np.linalg.norm(x, axis=1)
np.linalg.inv(s)
np.linalg.solve(s, v)
np.linalg.det(s)
np.linalg.slogdet(s)[1]
np.linalg.cholesky(s)
np.linalg.eigvalsh(s)
np.linalg.svd(x, compute_uv=False)
np.linalg.matrix_power(s, 3)
np.linalg.pinv(x)
np.abs(np.fft.fft(v))
np.fft.rfft(v).real
np.fft.irfft(np.fft.rfft(x))
np.nansum(x)
np.nan_to_num(x)
np.unwrap(x)
np.zeros_like(x)
np.ones_like(x) * x
np.real(x)
np.sinc(x)
np.ptp(x, axis=0)
np.searchsorted(np.sort(v), 0.5)
np.allclose(x, x)
np.unique(v)
np.split(x, 2, axis=1)[1]
np.unstack(x)[1]
np.meshgrid(v, v)[1]
np.atleast_2d(v)
np.vander(v)
np.trace(s)
np.piecewise(v, [v > 1], [lambda t: t * t, lambda t: t.sum(axis=0) + t])
np.vectorize(lambda a, b: np.sin(a) * b if a > 1 else a + b)(v[:, None], x)
np.vectorize(lambda a: (a * a, a + 1.0), otypes="dd")(x)[0]
np.vectorize(lambda a, b: (a * b).sum(), signature="(n),(n)->()")(x.T, v)
np.vectorize(lambda a, b: np.outer(a, b) / a[0], signature="(n),(m)->(n,m)")(x, v[:2])
np.vectorize(lambda a, b: (a @ b, a[0] * b), signature="(n),(n)->(),(n)")(x[:, None], x)[1]
np.vectorize(lambda c, a, n=1: a**n * c[1], excluded=[0, "n"])([1.0, 2.0], v, n=2)
"""


def _program(source: str) -> Callable[..., Any]:
    code = compile(source, source, "eval")
    return lambda np, **names: eval(code, {"np": np, "wengert": wengert, **names})


PROGRAMS = {line: _program(line) for line in EXPRESSIONS.strip().splitlines()}


def with_numpy(source: str, dtype: Any = float, **names: Any) -> Any:
    """Return what NumPy makes of an expression."""
    given = {"x": X.astype(dtype), "s": S.astype(dtype), "v": V.astype(dtype), "k": numpy.array([2, 1, 3])}
    return PROGRAMS[source](numpy, **(given | names))


def with_wengert(source: str, dtype: Any = float, requires_grad: bool = False, **names: Any) -> Any:
    """Return what wengert.numpy makes of an expression."""
    given = {name: wengert.numpy.array(values.astype(dtype)) for name, values in (("x", X), ("s", S), ("v", V))}
    for array in given.values():
        array.requires_grad = requires_grad
    return PROGRAMS[source](wengert.numpy, **(given | {"k": wengert.numpy.array([2, 1, 3])} | names))
