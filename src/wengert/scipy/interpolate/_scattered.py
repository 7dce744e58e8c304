"""Interpolation of scattered data: on triangles, by radial basis functions, and by one polynomial."""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert import errors
from wengert._forks import import_late
from wengert.array_functions.table import detached, holds_tensor, linalg, w
from wengert.scipy.interpolate._grids import interp1d
from wengert.scipy.interpolate._piecewise import along_first, double, placed

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
    """Interpolate scattered data. method: "linear" or "nearest"."""
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
    raise errors.no_array_of("Tensor that requires grad", f"scipy.interpolate.griddata with method={method!r}",
                             "Use method='linear', or RBFInterpolator.")  # fmt: skip


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


def _polynomial(xi: Any, yi: Any, x: Any, axis: int = 0, der: Any = 0) -> Any:
    """Return the values at x of the polynomial through the points."""
    if der != 0:
        raise NotImplementedError("The derivative of the polynomial has no derivative here. Hint: take it by autograd.")
    nodes, y, x = double(xi), w.movedim(double(yi), axis, 0), double(x)
    if len(np.unique(detached(nodes))) != len(nodes):
        raise NotImplementedError("Repeated points have no derivative here. Hint: use CubicHermiteSpline.")
    found = w.tensordot(_lagrange(nodes, x.reshape(-1)).to(y.dtype), y, 1)
    return placed(w.reshape(found, tuple(x.shape) + tuple(y.shape[1:])), x.ndim, axis % y.ndim)


def barycentric_interpolate(xi: Any, yi: Any, x: Any, axis: int = 0, *, der: Any = 0) -> Any:
    """Evaluate the polynomial through the points (xi, yi) at x."""
    return _polynomial(xi, yi, x, axis, der)


def krogh_interpolate(xi: Any, yi: Any, x: Any, der: Any = 0, axis: int = 0) -> Any:
    """Evaluate the polynomial through the points (xi, yi) at x. With tensors, the points are different."""
    return _polynomial(xi, yi, x, axis, der)


class BarycentricInterpolator(scipy.BarycentricInterpolator):
    """SciPy's BarycentricInterpolator with derivatives in xi, yi and the points of evaluation."""

    def __init__(self, xi: Any, yi: Any = None, axis: int = 0, **options: Any) -> None:
        super().__init__(*detached((xi, yi)), axis, **options)
        self._data = (xi, yi, axis)

    def __call__(self, x: Any) -> Any:
        """Evaluate the polynomial."""
        xi, yi, axis = self._data
        return _polynomial(xi, yi, x, axis) if holds_tensor((xi, yi, x)) else super().__call__(x)


class KroghInterpolator(scipy.KroghInterpolator):
    """SciPy's KroghInterpolator with derivatives in xi, yi and the points of evaluation, for different points."""

    def __init__(self, xi: Any, yi: Any, axis: int = 0) -> None:
        super().__init__(*detached((xi, yi)), axis)
        self._data = (xi, yi, axis)

    def __call__(self, x: Any) -> Any:
        """Evaluate the polynomial."""
        xi, yi, axis = self._data
        return _polynomial(xi, yi, x, axis) if holds_tensor((xi, yi, x)) else super().__call__(x)


CLASSES = (LinearNDInterpolator, NearestNDInterpolator, RBFInterpolator, BarycentricInterpolator, KroghInterpolator)
FUNCTIONS = (griddata, barycentric_interpolate, krogh_interpolate)
