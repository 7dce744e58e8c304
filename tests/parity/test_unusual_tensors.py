"""Tensors that are empty, 0-d, strided, expanded over huge strides, of integers and booleans, in half precision, with NaN and
infinities: fifty operations of all families on each, beside torch, with values, dtypes, shapes and gradients.
"""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import wengert
from loops import each

torch = pytest.importorskip("torch")

OPERATIONS = {
    "sum": lambda t, x: x.sum(0), "mean": lambda t, x: x.mean(-1), "prod": lambda t, x: x.prod(0), "max": lambda t, x: x.max(0)[0],
    "cumsum": lambda t, x: x.cumsum(0), "softmax": lambda t, x: t.softmax(x, 0), "logsumexp": lambda t, x: t.logsumexp(x, 0),
    "sort": lambda t, x: x.sort(0)[0], "std": lambda t, x: x.std(0), "norm": lambda t, x: x.norm(), "exp": lambda t, x: x.exp(),
    "matmul": lambda t, x: x @ x.mT if x.dim() > 1 else x @ x, "abs": lambda t, x: x.abs(), "where": lambda t, x: t.where(x > 0, x, -x),
    "cat": lambda t, x: t.cat([x, x], 0), "add": lambda t, x: x + x, "mul": lambda t, x: x * 2, "div": lambda t, x: x / 3,
    "pow": lambda t, x: x**2, "clamp": lambda t, x: x.clamp(0, 1), "any": lambda t, x: x.any(0), "argmax": lambda t, x: x.argmax(0),
    "roll": lambda t, x: x.roll(1), "flip": lambda t, x: x.flip(0), "topk": lambda t, x: x.topk(1, 0)[0], "var": lambda t, x: x.var(),
    "median": lambda t, x: x.median(), "nonzero": lambda t, x: x.nonzero(), "tanh": lambda t, x: x.tanh(), "relu": lambda t, x: t.relu(x),
    "cummax": lambda t, x: x.cummax(0)[0], "layer_norm": lambda t, x: t.nn.functional.layer_norm(x, x.shape[-1:]),
    "reshape": lambda t, x: x.reshape(-1), "tril": lambda t, x: x.tril(), "diagonal": lambda t, x: x.diagonal(), "sign": lambda t, x: x.sign(),
    "index": lambda t, x: x[..., :1], "mask": lambda t, x: x[x > 0], "round": lambda t, x: x.round(), "isnan": lambda t, x: x.isnan(),
    "amin": lambda t, x: x.amin(), "logsigmoid": lambda t, x: t.nn.functional.logsigmoid(x), "gelu": lambda t, x: t.nn.functional.gelu(x),
    "einsum": lambda t, x: t.einsum("...i->...", x), "quantile": lambda t, x: x.quantile(0.5), "pad": lambda t, x: t.nn.functional.pad(x, (1, 1)),
    "cross_entropy": lambda t, x: t.nn.functional.cross_entropy(x, t.zeros(x.shape[:1], dtype=t.int64)),
    "repeat_interleave": lambda t, x: x.repeat_interleave(2, 0), "floor_divide": lambda t, x: x // 2, "unique": lambda t, x: x.unique(),
}  # fmt: skip

_BASE = [[1.0, -2.0, 3.0], [0.0, 5.0, -1.0]]
_SPREAD = [[b for a in row for b in (a, 9.0)] for row in _BASE]
TENSORS = {
    "no rows": lambda t: t.zeros(0, 3),
    "no columns": lambda t: t.zeros(2, 0),
    "0-d": lambda t: t.tensor(2.5),
    "strided": lambda t: t.tensor(_SPREAD)[:, ::2],
    "transposed": lambda t: t.tensor(_BASE).t(),
    "expanded": lambda t: t.tensor(_BASE[0]).expand(2, 3),
    "huge stride": lambda t: (t.arange(200000.0) / 70000)[::70000].expand(2, 3),
    "nan": lambda t: t.tensor([[1.0, np.nan, 3.0], [0.0, 5.0, -1.0]]),
    "infinities": lambda t: t.tensor([[1.0, np.inf, 3.0], [0.0, -np.inf, -1.0]]),
    **{
        dtype: lambda t, dtype=dtype: t.tensor([[1.0, 2.0, 3.0], [0.0, 5.0, 1.0]]).to(getattr(t, dtype))
        for dtype in ("int64", "uint8", "int8", "int16", "bool", "float16", "bfloat16")
    },
}

# (operation, tensor): why the results differ.
DIFFERENCES = {
    ("logsumexp", "infinities"): "the derivative is the limit; torch's is NaN",
    ("cross_entropy", "0-d"): "a ValueError about the dimensions; torch takes the class for probabilities",
    ("gelu", "infinities"): "of infinity it is infinity; torch's vectorised kernel gives NaN",
}


def results(t, operation, make):
    """[value, dtype, shape, gradient, its dtype], or the exception."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            x = make(t).detach()
            x.requires_grad_(x.is_floating_point())
            y = operation(t, x)
            found = [y.detach().to(t.float64).numpy(), repr(y.dtype), tuple(y.shape)]
            if y.requires_grad:
                (g,) = t.autograd.grad(y.float().sum(), x)
                found += [g.detach().to(t.float64).numpy(), repr(g.dtype)]
            return found
    except (RuntimeError, IndexError, TypeError, ValueError) as error:
        return error


def is_same(ours, theirs, rtol):
    return len(ours) == len(theirs) and all(
        np.allclose(a, b, rtol=rtol, atol=rtol, equal_nan=True) if isinstance(b, np.ndarray) else a == b
        for a, b in zip(ours, theirs, strict=True)
    )


@pytest.mark.slow
@each("kind", TENSORS)
@each("name", OPERATIONS)
def test_results_are_torchs(name, kind):
    ours, theirs = (results(t, OPERATIONS[name], TENSORS[kind]) for t in (wengert, torch))
    if isinstance(theirs, NotImplementedError) or "derivative for" in str(theirs):
        return  # a dtype or a derivative that torch has not got
    if isinstance(theirs, Exception) or isinstance(ours, Exception):
        kind_of_error = next(k for k in type(theirs).__mro__ if k.__module__ == "builtins")
        assert isinstance(ours, kind_of_error) is ((name, kind) not in DIFFERENCES), f"{ours!r}, torch: {theirs!r}"
        return
    # In half precision torch rounds between the steps of some operations.
    rtol = {"float16": 2e-3, "bfloat16": 3e-2}.get(kind, 1e-6)
    assert is_same(ours, theirs, rtol) is ((name, kind) not in DIFFERENCES), f"{ours}, torch: {theirs}"
