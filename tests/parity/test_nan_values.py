"""Operations that order, count, search or select, on arrays with NaN, infinities and signed zeros: the results of torch.

Left out because torch's result depends on the order in which its sort meets NaN: `mode`, and `unique` along a dimension.
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable, Iterator
from math import inf, nan
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import wengert
from loops import each

torch = pytest.importorskip("torch")

SHAPES = ((6,), (3, 4), (2, 33))
POOL = (nan, nan, nan, 1.0, 2.0, 2.0, -1.0, inf, -inf, 0.0, -0.0, 3.0)
Program = Callable[[ModuleType, Any], Any]


def method(name: str, *arguments: Any, **options: Any) -> Program:
    return lambda t, x: getattr(t, name)(x, *arguments, **options)


def with_flipped(name: str) -> Program:
    return lambda t, x: getattr(t, name)(x, x.flip(0))


def in_buckets(edges: list[float], right: bool) -> Program:
    return lambda t, x: t.bucketize(x, t.tensor(edges, dtype=x.dtype), right=right)


def into_reduced(name: str, reduce: str) -> Program:
    return lambda t, x: getattr(t.zeros(3, dtype=x.dtype), name)(0, t.arange(x.numel()) % 3, x.flatten(), reduce)


PROGRAMS: dict[str, Program] = {
    **{name: method(name) for name in (
        "median", "nanmedian", "max", "min", "argmax", "argmin", "amax", "amin", "aminmax", "nansum", "nanmean", "msort", "std",
        "count_nonzero", "nan_to_num", "sign", "signbit", "relu", "trunc", "round", "diff", "any", "all", "nonzero", "unique")},
    **{f"{name} along": method(name, 0) for name in (
        "median", "nanmedian", "max", "min", "cummax", "cummin", "logcumsumexp", "cumsum", "cumprod", "argmax", "amax", "softmax")},
    **{name: with_flipped(name) for name in (
        "maximum", "minimum", "fmax", "fmin", "isin", "heaviside", "copysign", "isclose", "logaddexp", "remainder", "xlogy", "equal")},
    "sort": method("sort", stable=True),
    "sort descending": method("sort", stable=True, descending=True),
    "kthvalue": lambda t, x: [t.kthvalue(x, k).values for k in (1, 2, 3)] if len(x) > 2 else (),
    "topk": lambda t, x: [t.topk(x, 3, largest=largest).values for largest in (True, False)],
    **{f"{name} {way}": method(name, 0.3, 0, interpolation=way)
       for name in ("quantile", "nanquantile") for way in ("linear", "lower", "higher", "nearest", "midpoint")},
    "histc": method("histc", 4, -2.0, 2.0),
    "histogram": method("histogram", 4, range=(-2.0, 2.0)),
    "unique, counted": method("unique", return_inverse=True, return_counts=True),
    "unique_consecutive": method("unique_consecutive", return_inverse=True, return_counts=True),
    **{f"bucketize {edges} {right}": in_buckets(edges, right)
       for edges in ([-1.0, 0.0, 2.0], [-1.0, 0.0, 2.0, nan], [-inf, 0.0, 2.0, 2.0, inf, nan, nan], [nan] * 3) for right in (False, True)},
    **{f"searchsorted {side}": (lambda t, x, side=side: t.searchsorted(x.sort(-1)[0], x, side=side)) for side in ("left", "right")},
    "searchsorted of a number": lambda t, x: t.searchsorted(x.flatten().sort()[0], nan),
    "clamp": lambda t, x: [x.clamp(0, 1), x.clamp(nan, 1), x.clamp(0, nan), x.clamp(x.flip(0), x)],
    "max_pool": lambda t, x: t.nn.functional.max_pool1d(x.reshape(1, 1, -1), 2, 1, return_indices=True),
    "adaptive_max_pool": lambda t, x: t.nn.functional.adaptive_max_pool1d(x.reshape(1, 1, -1), 2, return_indices=True),
    "vector_norm": lambda t, x: [t.linalg.vector_norm(x, order) for order in (inf, -inf, 0, 1)],
    "scatter_reduce": lambda t, x: [into_reduced("scatter_reduce", reduce)(t, x) for reduce in ("amax", "amin", "mean")],
    "index_reduce": lambda t, x: [into_reduced("index_reduce", reduce)(t, x) for reduce in ("amax", "amin", "prod")],
}  # fmt: skip


def arrays() -> Iterator[np.ndarray]:
    random = np.random.default_rng(0)
    for shape in SHAPES:
        for dtype in (np.float64, np.float32):
            for _ in range(3):
                yield random.choice(POOL, shape).astype(dtype)


def outcome(program: Program, t: ModuleType, x: np.ndarray) -> Any:
    """The results as a list of arrays, or the exception if there is one."""
    try:
        found = program(t, t.from_numpy(x.copy()))
    except RuntimeError as error:
        return error
    return [np.asarray(value) for value in (found if isinstance(found, (tuple, list)) else [found])]


@each("name", PROGRAMS)
def test_nan_is_ordered_counted_and_found_as_in_torch(name):
    run = functools.partial(outcome, PROGRAMS[name])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for x in arrays():
            theirs, ours = run(torch, x), run(wengert, x)
            if isinstance(theirs, Exception):
                assert isinstance(ours, RuntimeError), x
                continue
            assert len(ours) == len(theirs)
            for a, b in zip(ours, theirs, strict=True):
                assert a.dtype == b.dtype
                np.testing.assert_allclose(a, b, rtol=1e-6, err_msg=repr(x))


def test_nan_is_equal_to_nothing_for_mode():
    assert wengert.tensor([nan, 1.0, nan, 1.0]).mode() == (1, 3)
    assert wengert.tensor([nan, 2.0, nan, 1.0]).mode() == (1, 3)
    assert wengert.tensor([nan, nan]).mode().values.isnan()
