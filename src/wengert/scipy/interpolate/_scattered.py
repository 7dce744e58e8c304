"""Interpolation of scattered data: on triangles, by radial basis functions, and by one polynomial."""

from __future__ import annotations

from math import factorial
from typing import Any

import numpy as np

from wengert import errors
from wengert._forks import import_late
from wengert.array_functions.table import detached, holds_tensor, linalg, w
from wengert.array_protocol import _is_differentiated as is_differentiated
from wengert.scipy.interpolate._grids import interp1d
from wengert.scipy.interpolate._piecewise import PchipInterpolator, along_first, double, placed

scipy: Any = import_late("scipy.interpolate")


def _points(xi: tuple[Any, ...]) -> Any:
    """Return points as a tensor (..., n): one array (..., n), or one for each coordinate."""
    if len(xi) == 1 and isinstance(xi[0], tuple):
        xi = xi[0]
    return double(xi[0]) if len(xi) == 1 else w.stack(w.broadcast_tensors(*[double(x) for x in xi]), -1)


class LinearNDInterpolator(scipy.LinearNDInterpolator):
    """SciPy's LinearNDInterpolator with derivatives in the points, the values and the places of evaluation.

    In each triangle the weights are the barycentric coordinates. The triangulation is a constant.
    """

    def __init__(self, points: Any, values: Any, fill_value: Any = np.nan, rescale: bool = False) -> None:
        super().__init__(detached(points), detached(values), fill_value, rescale)
        self._data = (points, values) if holds_tensor((points, values)) else None
        self._plain = (points, values)

    def __call__(self, *args: Any) -> Any:
        """Interpolate at points: an array (..., n), or an array for each coordinate."""
        if self._data is None and not holds_tensor(args):
            return super().__call__(*args)
        points, values = [double(x) for x in self._plain]
        at = _points(args)
        flat = at.reshape(-1, points.shape[1])
        simplex = self.tri.find_simplex(self._scale_x(detached(flat)))
        corners = self.tri.simplices[simplex]
        first, others = points[corners[:, -1]], points[corners[:, :-1]]
        inside = simplex >= 0
        shares = linalg.solve((others - first[:, None]).mT, flat - first)
        shares = w.cat([shares, 1 - w.sum(shares, -1, keepdim=True)], -1)
        heights = values[corners]
        found = w.sum(shares.reshape(*shares.shape, *(1,) * (values.ndim - 1)) * heights, 1)
        if not inside.all():
            found = w.where(along_first(w.as_tensor(~inside), found.ndim), double(self.fill_value), found)
        return w.reshape(found, tuple(at.shape[:-1]) + tuple(values.shape[1:]))


_LATTICE = np.array([(i, j, 3 - i - j) for i in range(4) for j in range(4 - i)])


def _cubic_basis(shares: Any) -> Any:
    """Return the polynomials of degree 3 that are 1 at one point of _LATTICE / 3, and 0 at the others: (points, 10).

    shares: barycentric coordinates (points, 3)."""
    columns = []
    for powers in _LATTICE:
        part: Any = 1.0
        for d, power in enumerate(powers):
            for j in range(power):
                part = part * (3 * shares[:, d] - j) / (power - j)
        columns.append(part)
    return w.stack(columns, 1)


class CloughTocher2DInterpolator(scipy.CloughTocher2DInterpolator):
    """SciPy's CloughTocher2DInterpolator with derivatives in the values and the places of evaluation.

    Each triangle has three parts, in which the interpolant is a polynomial of degree 3 and linear in the values. SciPy's values at
    ten points of a part give the polynomial, and its interpolants of unit vectors the derivative in the values. The points and
    their triangulation are constants."""

    def __init__(
        self, points: Any, values: Any, fill_value: Any = np.nan, tol: float = 1e-6, maxiter: int = 400, rescale: bool = False
    ) -> None:  # fmt: skip
        if is_differentiated((points,)):
            raise NotImplementedError("CloughTocher2DInterpolator has no derivative in its points. Hint: use LinearNDInterpolator.")
        super().__init__(detached(points), detached(values), fill_value, tol, maxiter, rescale)
        self._values = double(values) if holds_tensor((values,)) else None
        self._points = detached(points)
        self._settings = {"tol": 1e-12, "maxiter": 10 * maxiter, "rescale": rescale}

    def __call__(self, *args: Any) -> Any:
        """Interpolate at points: an array (..., 2), or an array for each coordinate."""
        if self._values is None and not holds_tensor(args):
            return super().__call__(*args)
        at = _points(args)
        flat = at.reshape(-1, 2)
        plain = super().__call__(detached(at))
        simplex = self.tri.find_simplex(self._scale_x(detached(flat)))
        points = np.asarray(getattr(self._points, "points", self._points), float)
        inside = np.flatnonzero(simplex >= 0)
        corners = points[self.tri.simplices[simplex[inside]]]
        middle, gaps = corners.mean(1), detached(flat)[inside] - corners[:, 0]
        whole = np.linalg.solve((corners[:, 1:] - corners[:, :1]).swapaxes(1, 2), gaps[..., None])[..., 0]
        far = np.column_stack([1 - whole.sum(1), whole]).argmin(1)  # the corner that is not of the part
        rows = np.arange(len(inside))
        part = np.stack([corners[rows, (far + 1) % 3], corners[rows, (far + 2) % 3], middle], 1)
        lattice = np.einsum("ki,pid->pkd", _LATTICE / 3, part).reshape(-1, 2)
        heights = self._heights(lattice).reshape(len(inside), len(_LATTICE), -1)
        edges = w.as_tensor((part[:, :2] - part[:, 2:]).swapaxes(1, 2).copy())
        shares = linalg.solve(edges, (flat[inside] - w.as_tensor(part[:, 2]))[..., None])[..., 0]
        shares = w.cat([shares, 1 - w.sum(shares, 1, keepdim=True)], 1)
        found = w.sum(_cubic_basis(shares)[..., None].to(heights.dtype) * heights, 1)
        shape = (len(flat), found.shape[1])
        found = w.index_put(w.full(shape, float("nan"), dtype=found.dtype), (w.as_tensor(inside),), found)
        lost = simplex < 0
        if lost.any():
            found = w.where(w.as_tensor(lost)[:, None], double(self.fill_value).to(found.dtype), found)
        found = w.reshape(found, plain.shape)
        return found + w.as_tensor(np.nan_to_num(plain - detached(found)))

    def _heights(self, places: Any) -> Any:
        """Return the values at places in triangles: (places, values at one), with the history of the values."""
        if self._values is None:
            return w.as_tensor(super().__call__(places)).reshape(len(places), -1)
        count = self._values.shape[0]
        matrix = w.as_tensor(scipy.CloughTocher2DInterpolator(self._points, np.eye(count), **self._settings)(places))
        return matrix.to(self._values.dtype) @ self._values.reshape(count, -1)


class NearestNDInterpolator(scipy.NearestNDInterpolator):
    """SciPy's NearestNDInterpolator with derivatives in the values."""

    def __init__(self, x: Any, y: Any, rescale: bool = False, tree_options: Any = None) -> None:
        super().__init__(detached(x), detached(y), rescale, tree_options)
        self._tensor = double(y) if holds_tensor((y,)) else None

    def __call__(self, *args: Any, **query_options: Any) -> Any:
        """Return the value of the nearest point."""
        places = [detached(_points(args))] if holds_tensor(args) else args
        if self._tensor is None:
            found = super().__call__(*places, **query_options)
            return w.as_tensor(found) if holds_tensor(args) else found
        xi = self._scale_x(np.asarray(detached(_points(tuple(places)))))
        return self._tensor[self.tree.query(xi, **query_options)[1]]


def griddata(points: Any, values: Any, xi: Any, method: str = "linear", fill_value: Any = np.nan, rescale: bool = False) -> Any:
    """Interpolate scattered data. method: "linear", "nearest", or "cubic" in one or two dimensions."""
    coordinates = points if not isinstance(points, tuple) else _points(points)
    if np.ndim(detached(coordinates)) == 1 or coordinates.shape[-1] == 1:
        x = double(coordinates).reshape(-1)
        fill: Any = "extrapolate" if method == "nearest" else fill_value
        return interp1d(x, values, method, axis=0, bounds_error=False, fill_value=fill)(xi[0] if isinstance(xi, tuple) else xi)
    at = xi if isinstance(xi, tuple) else (xi,)
    if method == "linear":
        return LinearNDInterpolator(coordinates, values, fill_value, rescale)(*at)
    if method == "nearest":
        return NearestNDInterpolator(detached(coordinates), values, rescale)(*at)
    if method == "cubic" and coordinates.shape[-1] == 2:
        return CloughTocher2DInterpolator(coordinates, values, fill_value, rescale=rescale)(*at)
    raise ValueError(f"Unknown interpolation method {method!r} for {coordinates.shape[-1]} dimensional data")


# -- radial basis functions ---------------------------------------------------------------------------------------------------


def _root(squares: Any) -> Any:
    """Return the square root, whose derivative is 0 at 0."""
    zero = squares.detach() == 0
    return w.where(zero, 0.0, w.sqrt(w.where(zero, 1.0, squares)))


def _thin_plate(squares: Any) -> Any:
    zero = squares.detach() == 0
    return w.where(zero, 0.0, 0.5 * squares * w.log(w.where(zero, 1.0, squares)))


_KERNELS = {
    "linear": lambda s: -_root(s), "thin_plate_spline": _thin_plate, "cubic": lambda s: s * _root(s),
    "quintic": lambda s: -s * s * _root(s), "multiquadric": lambda s: -w.sqrt(s + 1),
    "inverse_multiquadric": lambda s: 1 / w.sqrt(s + 1), "inverse_quadratic": lambda s: 1 / (s + 1),
    "gaussian": lambda s: w.exp(-s),
}  # fmt: skip


class RBFInterpolator(scipy.RBFInterpolator):
    """SciPy's RBFInterpolator with derivatives in the points, the data, smoothing, epsilon and the places of evaluation.

    For neighbors=None. Where a place is a data point, the derivative of a kernel with a kink is 0.
    """

    def __init__(
        self, y: Any, d: Any, neighbors: Any = None, smoothing: Any = 0.0, kernel: str = "thin_plate_spline", epsilon: Any = None,
        degree: Any = None,
    ) -> None:  # fmt: skip
        super().__init__(*detached((y, d)), neighbors, detached(smoothing), kernel, detached(epsilon), degree)
        self._solved: Any = None
        self._arguments = (y, d, smoothing, self.epsilon if epsilon is None else epsilon)
        if holds_tensor(self._arguments):
            self._solve()

    def _solve(self) -> Any:
        """Solve for the coefficients of the kernels and of the polynomial."""
        if self.neighbors is not None:
            raise errors.no_array_of("Tensor that requires grad", "scipy.interpolate.RBFInterpolator with neighbors")
        y, d, smoothing, epsilon = [double(x) for x in self._arguments]
        n, terms = y.shape[0], len(self.powers)
        squares = w.sum((y[:, None] - y[None]) ** 2, -1) * epsilon**2
        powers = self._powers(y)
        left = w.cat([_KERNELS[self.kernel](squares) + w.diag(w.broadcast_to(smoothing, (n,))), powers], 1)
        matrix = w.cat([left, w.cat([powers.mT, w.zeros(terms, terms, dtype=y.dtype)], 1)])
        right = w.cat([d.reshape(n, -1), w.zeros(terms, d.numel() // n, dtype=d.dtype)])
        self._solved = y, linalg.solve(matrix.to(right.dtype), right), epsilon, tuple(d.shape[1:])
        return self._solved

    def _powers(self, x: Any) -> Any:
        """Return the monomials at points (m, n): (m, terms)."""
        scaled = (x - w.as_tensor(self._place()[0])) / w.as_tensor(self._place()[1])
        columns = [w.prod(scaled ** w.as_tensor(np.asarray(p, float)), -1) for p in self.powers]
        return w.stack(columns, 1) if columns else w.zeros(x.shape[0], 0, dtype=x.dtype)

    def _place(self) -> tuple[Any, Any]:
        """Return the middle and the half of the width of the points. The interpolant does not depend on them."""
        low, high = self.y.min(0), self.y.max(0)
        half = (high - low) / 2
        return (high + low) / 2, np.where(half == 0, 1.0, half)

    def __call__(self, x: Any) -> Any:
        """Interpolate at points x: (m, n)."""
        if not holds_tensor((x, *self._arguments)):
            return super().__call__(x)
        y, coefficients, epsilon, shape = self._solved or self._solve()
        x = double(x)
        if x.ndim != 2:
            raise ValueError("`x` must be a 2-dimensional array.")
        if x.shape[1] != y.shape[1]:
            raise ValueError(f"Expected the second axis of `x` to have length {y.shape[1]}.")
        squares = w.sum((x[:, None] - y[None]) ** 2, -1) * epsilon**2
        basis = w.cat([_KERNELS[self.kernel](squares), self._powers(x)], 1)
        return w.reshape(basis.to(coefficients.dtype) @ coefficients, (x.shape[0], *shape))


# -- one polynomial ---------------------------------------------------------------------------------------------------------------


def _lagrange(nodes: Any, x: Any) -> Any:
    """Return the Lagrange polynomials of the nodes at x: (points, nodes), as products."""
    gaps = x[:, None] - nodes[None]
    one = w.ones_like(gaps[:, :1])
    before = w.cat([one, w.cumprod(gaps[:, :-1], 1)], 1)
    after = w.flip(w.cat([one, w.cumprod(w.flip(gaps, (1,))[:, :-1], 1)], 1), (1,))
    own = nodes[:, None] - nodes[None] + w.eye(len(nodes), dtype=nodes.dtype)
    return before * after / w.prod(own, 1)


def _divided_differences(nodes: Any, y: Any) -> list[Any]:
    """Return the coefficients of Newton's form. A node that comes again, next to itself, gives the next derivative in y."""
    values = detached(nodes)
    first = np.searchsorted(values, values) if (np.diff(values) >= 0).all() else [int(np.argmax(values == v)) for v in values]
    n = len(values)
    column: list[Any] = [y[int(first[i])] for i in range(n)]
    found = [column[0]]
    for k in range(1, n):
        column = [
            y[int(first[i]) + k] / float(factorial(k)) if values[i] == values[i + k]
            else (column[i + 1] - column[i]) / (nodes[i + k] - nodes[i])
            for i in range(n - k)
        ]  # fmt: skip
        found.append(column[0])
    return found


def _newton(nodes: Any, y: Any, x: Any, orders: int) -> Any:
    """Return the values and derivatives below an order at x, of the polynomial through points: (orders, points) + y.shape[1:]."""
    coefficients = _divided_differences(nodes, y)
    zero = w.zeros((len(x), *y.shape[1:]), dtype=y.dtype)
    found = [zero + coefficients[-1], *[zero] * (orders - 1)]  # Taylor's coefficients at x
    for c, node in zip(coefficients[-2::-1], w.flip(nodes[:-1], (0,)), strict=True):
        step = along_first(x - node, zero.ndim)
        found = [found[0] * step + c, *[found[j] * step + found[j - 1] for j in range(1, orders)]]
    return w.stack([float(factorial(j)) * part for j, part in enumerate(found)])


def _polynomial(xi: Any, yi: Any, x: Any, axis: int = 0, der: Any = 0, is_list: bool = False) -> Any:
    """Return the values, or the derivatives of order der, at x of the polynomial through the points.

    der: a number, or a list of them, or None for all; then the orders come first. is_list: der is a number of orders."""
    nodes, y, x = double(xi), w.movedim(double(yi), axis, 0), double(x)
    flat, many = x.reshape(-1), der is None or is_list or np.ndim(der) > 0
    if not many and der == 0 and len(np.unique(detached(nodes))) == len(nodes):
        found = w.tensordot(_lagrange(nodes, flat).to(y.dtype), y, 1)
    else:
        orders = np.arange(len(nodes) if der is None else der) if der is None or is_list else np.asarray(der)
        found = _newton(nodes, y, flat, int(orders.max(initial=0)) + 1)[orders if many else int(orders)]
    shape = tuple(x.shape) + tuple(y.shape[1:])
    parts = [placed(w.reshape(part, shape), x.ndim, axis % y.ndim) for part in (found if many else [found])]
    return w.stack(parts) if many else parts[0]


def barycentric_interpolate(xi: Any, yi: Any, x: Any, axis: int = 0, *, der: Any = 0) -> Any:
    """Evaluate the polynomial through the points (xi, yi), or its derivatives of the orders der, at x."""
    return _polynomial(xi, yi, x, axis, der)


def krogh_interpolate(xi: Any, yi: Any, x: Any, der: Any = 0, axis: int = 0) -> Any:
    """Evaluate the polynomial through the points (xi, yi), or its derivatives of the orders der, at x."""
    return _polynomial(xi, yi, x, axis, der)


def pchip_interpolate(xi: Any, yi: Any, x: Any, der: Any = 0, axis: int = 0) -> Any:
    """Evaluate the monotone interpolant of the points (xi, yi), or its derivatives of the orders der, at x."""
    spline = PchipInterpolator(xi, yi, axis)
    return spline(x, der) if np.ndim(der) == 0 else [spline(x, int(nu)) for nu in der]


class _Polynomial:
    """What our interpolants by one polynomial have in common. self._data: (xi, yi, axis)."""

    _data: Any

    def _of(self, x: Any, der: Any, is_list: bool = False) -> Any:
        """Return derivatives with tensors, or None if there are none."""
        xi, yi, axis = self._data
        return _polynomial(xi, yi, x, axis, der, is_list) if holds_tensor((xi, yi, x)) else None

    def __call__(self, x: Any) -> Any:
        """Evaluate the polynomial."""
        found = self._of(x, 0)
        return super().__call__(x) if found is None else found  # type: ignore[misc]

    def derivative(self, x: Any, der: int = 1) -> Any:
        """Evaluate a derivative of the polynomial."""
        found = self._of(x, der)
        return super().derivative(x, der) if found is None else found  # type: ignore[misc]

    def derivatives(self, x: Any, der: Any = None) -> Any:
        """Evaluate the first derivatives of the polynomial, beginning with its values: der of them, or all."""
        found = self._of(x, der, True)
        return super().derivatives(x, der) if found is None else found  # type: ignore[misc]


class BarycentricInterpolator(_Polynomial, scipy.BarycentricInterpolator):
    """SciPy's BarycentricInterpolator with derivatives in xi, yi and the points of evaluation."""

    def __init__(self, xi: Any, yi: Any = None, axis: int = 0, **options: Any) -> None:
        super().__init__(*detached((xi, yi)), axis, **options)
        self._data = (xi, yi, axis)


class KroghInterpolator(_Polynomial, scipy.KroghInterpolator):
    """SciPy's KroghInterpolator with derivatives in xi, yi and the points of evaluation.

    Where a point comes again, its value is a derivative."""

    def __init__(self, xi: Any, yi: Any, axis: int = 0) -> None:
        super().__init__(*detached((xi, yi)), axis)
        self._data = (xi, yi, axis)


CLASSES = (
    LinearNDInterpolator, NearestNDInterpolator, CloughTocher2DInterpolator, RBFInterpolator, BarycentricInterpolator,
    KroghInterpolator,
)  # fmt: skip
FUNCTIONS = (griddata, barycentric_interpolate, krogh_interpolate, pchip_interpolate)
