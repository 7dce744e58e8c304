"""scipy.spatial.distance with derivatives in the points and in the parameters of the metrics. See _frame.py.

Where two points are equal, the Euclidean distance has derivative 0, and the absolute values of the others too.
"""

from __future__ import annotations

from collections.abc import Callable as _Callable
from typing import Any as _Any

import numpy as _np

from wengert import dtypes as _dtypes
from wengert.array_functions.table import detached as _detached, linalg as _linalg, tensor as _tensor, w as _w
from wengert.scipy._frame import Submodule as _Submodule, operands as _operands

_module = _Submodule("spatial.distance", globals())
__getattr__, __dir__ = _module.lookups()


def _total(x: _Any, weights: _Any) -> _Any:
    return _w.sum(x if weights is None else x * weights, -1)


def _minkowski(u: _Any, v: _Any, p: _Any = 2, w: _Any = None) -> _Any:
    p = _detached(p)
    if p <= 0:
        raise ValueError("p must be greater than 0")
    if _np.isinf(p):
        return _chebyshev(u, v, w)
    if p == 1:
        return _cityblock(u, v, w)
    if p == 2:
        return _euclidean(u, v, w)
    return _rooted(_total(_w.abs(u - v) ** float(p), w), 1 / float(p))


def _rooted(x: _Any, power: float = 0.5) -> _Any:
    """Return x**power, whose derivative is 0 where x is 0."""
    zero = x.detach() == 0
    return _w.where(zero, 0.0, _w.where(zero, 1.0, x) ** power)


def _euclidean(u: _Any, v: _Any, w: _Any = None) -> _Any:
    return _rooted(_sqeuclidean(u, v, w))


def _sqeuclidean(u: _Any, v: _Any, w: _Any = None) -> _Any:
    return _total((u - v) ** 2, w)


def _cityblock(u: _Any, v: _Any, w: _Any = None) -> _Any:
    return _total(_w.abs(u - v), w)


def _chebyshev(u: _Any, v: _Any, w: _Any = None) -> _Any:
    gaps = _w.abs(u - v)
    return _w.amax(gaps if w is None else gaps * (_tensor(w) > 0), -1)


def _seuclidean(u: _Any, v: _Any, V: _Any) -> _Any:
    return _rooted(_w.sum((u - v) ** 2 / V, -1))


def _mahalanobis(u: _Any, v: _Any, VI: _Any) -> _Any:
    gap = u - v
    return _rooted(_w.sum(_w.matmul(gap, VI) * gap, -1))


def _cosine(u: _Any, v: _Any, w: _Any = None) -> _Any:
    return 1.0 - _total(u * v, w) / _w.sqrt(_total(u * u, w) * _total(v * v, w))


def _correlation(u: _Any, v: _Any, w: _Any = None, centered: bool = True) -> _Any:
    if centered:
        u, v = [x - (_w.mean(x, -1, keepdim=True) if w is None else (_w.sum(x * w, -1) / _w.sum(w))[..., None]) for x in (u, v)]
    return _cosine(u, v, w)


def _braycurtis(u: _Any, v: _Any, w: _Any = None) -> _Any:
    return _total(_w.abs(u - v), w) / _total(_w.abs(u + v), w)


def _canberra(u: _Any, v: _Any, w: _Any = None) -> _Any:
    size = _w.abs(u) + _w.abs(v)
    zero = size.detach() == 0
    return _total(_w.where(zero, 0.0, _w.abs(u - v) / _w.where(zero, 1.0, size)), w)


def _jensenshannon(p: _Any, q: _Any, base: _Any = None, axis: int = -1, keepdims: bool = False) -> _Any:
    p, q = [x / _w.sum(x, axis, keepdim=True) for x in (p, q)]
    middle = (p + q) / 2.0
    found = _w.sum(_w.xlogy(p, p) + _w.xlogy(q, q) - 2 * _w.xlogy(middle, middle), axis, keepdim=keepdims) / 2.0
    return _rooted(found if base is None else found / _w.log(_operands(base, found)[0]))


_METRICS: dict[str, _Callable[..., _Any]] = {
    "braycurtis": _braycurtis, "canberra": _canberra, "chebyshev": _chebyshev, "cityblock": _cityblock,
    "correlation": _correlation, "cosine": _cosine, "euclidean": _euclidean, "jensenshannon": _jensenshannon,
    "mahalanobis": _mahalanobis, "minkowski": _minkowski, "seuclidean": _seuclidean, "sqeuclidean": _sqeuclidean,
}  # fmt: skip
_ALIASES = {"manhattan": "cityblock", "cityblock": "cityblock", "l2": "euclidean", "l1": "cityblock", "linf": "chebyshev",
            "euclid": "euclidean", "sqeuclid": "sqeuclidean", "js": "jensenshannon", "mahal": "mahalanobis"}  # fmt: skip


def _of_vectors(name: str) -> _Callable[..., _Any]:
    metric = _METRICS[name]

    def distance(u: _Any, v: _Any, *more: _Any, **options: _Any) -> _Any:
        u, v = [x.to(_dtypes.float64) for x in _operands(u, v)]
        if name != "jensenshannon" and (u.ndim != 1 or v.ndim != 1):
            raise ValueError("Input vector should be 1-D.")
        if name == "mahalanobis":
            more = tuple([_operands(x)[0] for x in more])
        return metric(u, v, *more, **options)

    return distance


for _name in _METRICS:
    _module.differentiates(_name, always=False)(_of_vectors(_name))


def _metric_of(metric: _Any, points: _Any, options: dict[str, _Any]) -> _Callable[..., _Any]:
    """Return the function of a metric by its name. points: all points, for the parameters that SciPy computes of them."""
    if callable(metric):
        name = getattr(metric, "__name__", "")
        if name not in _METRICS:
            raise TypeError("With tensors, the metric is a name or a function of scipy.spatial.distance. Hint: metric='euclidean'.")
    else:
        name = _ALIASES.get(str(metric).lower(), str(metric).lower())
    if name not in _METRICS:
        raise ValueError(f"Unknown Distance Metric, or one without a derivative: {metric}")
    options = {key: x for key, x in options.items() if x is not None}
    if name == "seuclidean" and "V" not in options:
        options["V"] = _w.var(points(), 0, correction=1)
    if name == "mahalanobis" and "VI" not in options:
        options["VI"] = _linalg.inv(_w.cov(points().mT)).mT
    given = {key: x if key == "p" else _operands(x)[0] for key, x in options.items()}
    return lambda u, v: _METRICS[name](u, v, **given)


def _points(x: _Any, name: str) -> _Any:
    found = _operands(x)[0].to(_dtypes.float64)
    if found.ndim != 2:
        raise ValueError(f"{name} must be a 2-dimensional array.")
    return found


@_module.differentiates()
def _cdist(
    XA: _Any, XB: _Any, metric: _Any = "euclidean", *, p: _Any = None, w: _Any = None, V: _Any = None, VI: _Any = None
) -> _Any:  # fmt: skip
    """Distances between each two points of XA (m, n) and XB (k, n): (m, k)."""
    a, b = _points(XA, "XA"), _points(XB, "XB")
    if a.shape[1] != b.shape[1]:
        raise ValueError("XA and XB must have the same number of columns (i.e. feature dimension.)")
    return _metric_of(metric, lambda: _w.cat([a, b]), {"p": p, "w": w, "V": V, "VI": VI})(a[:, None], b[None])


@_module.differentiates()
def _pdist(X: _Any, metric: _Any = "euclidean", *, p: _Any = None, w: _Any = None, V: _Any = None, VI: _Any = None) -> _Any:
    """Distances between each two points of X (m, n): (m * (m - 1) / 2,)."""
    x = _points(X, "X")
    i, j = _np.triu_indices(x.shape[0], 1)
    return _metric_of(metric, lambda: x, {"p": p, "w": w, "V": V, "VI": VI})(x[i], x[j])


@_module.differentiates()
def _squareform(X: _Any, force: str = "no", checks: bool = True) -> _Any:
    """Turn the distances of pdist into a symmetric matrix, or the matrix into the distances."""
    _module.scipy.squareform(_detached(X), force, checks)
    x = _tensor(X)
    if x.ndim == 1:
        n = round((1 + (1 + 8 * x.shape[0]) ** 0.5) / 2)
        i, j = _np.triu_indices(n, 1)
        place = _np.zeros((n, n), int)
        place[i, j] = place[j, i] = _np.arange(1, len(i) + 1)
        return _w.cat([_w.zeros(1, dtype=x.dtype), x])[place]
    i, j = _np.triu_indices(x.shape[0], 1)
    return x[i, j]


@_module.differentiates()
def _directed_hausdorff(u: _Any, v: _Any, rng: _Any = 0) -> tuple[_Any, int, int]:
    """The largest of the distances from each point of u (m, n) to the nearest of v (k, n), and the indices of both points."""
    _, i, j = _module.scipy.directed_hausdorff(_detached(u), _detached(v), rng)
    return _euclidean(_points(u, "u")[i], _points(v, "v")[j]), i, j


_module.constant(
    "The result counts elements, or is a condition.", "hamming", "dice", "jaccard", "rogerstanimoto", "russellrao", "sokalsneath",
    "yule", "is_valid_dm", "is_valid_y", "num_obs_dm", "num_obs_y",
)  # fmt: skip
