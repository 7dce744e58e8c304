"""Distributions of vectors and matrices of scipy.stats, and kernel density estimates."""

from __future__ import annotations

from math import log, pi
from typing import Any

import numpy as np

from wengert import errors
from wengert._forks import import_late
from wengert.array_functions.table import detached, holds_tensor, linalg, w
from wengert.array_protocol import _is_differentiated as is_differentiated
from wengert.scipy.stats._distributions import Frozen, wide
from wengert.scipy.stats._formulas import S
from wengert.scipy.stats._normal_probabilities import normal_cdf

theirs = import_late("scipy.stats")
_LOG_2PI = log(2 * pi)


class Multivariate:
    """A distribution of vectors or matrices. Other methods are SciPy's, and refuse tensors that are differentiated."""

    name = ""

    def __init__(self) -> None:
        self.theirs = getattr(theirs, self.name)
        self.__doc__ = self.theirs.__doc__

    def __call__(self, *args: Any, **kwds: Any) -> Frozen:
        return Frozen(self, args, kwds)

    def __getattr__(self, name: str) -> Any:
        found = getattr(self.theirs, name)
        if name.startswith("_") or not callable(found):
            return found

        def call(*args: Any, **kwds: Any) -> Any:
            values = (*args, *kwds.values())
            if is_differentiated(values):
                raise errors.no_array_of("a Tensor that is differentiated", f"scipy.stats.{self.name}.{name}")
            result = found(*[detached(x) for x in args], **{key: detached(x) for key, x in kwds.items()})
            return w.as_tensor(np.asarray(result)) if holds_tensor(values) else result

        return call

    def _run(self, method: str, x: Any, args: Any, kwds: Any) -> Any:
        """Call SciPy's method without tensors, and ours with them."""
        if not holds_tensor((x, *args, *kwds.values())):
            return getattr(self.theirs, method)(x, *args, **kwds)
        return getattr(self, "_" + method)(x, *args, **kwds)

    def logpdf(self, x: Any, *args: Any, **kwds: Any) -> Any:
        return self._run("logpdf", x, args, kwds)

    def pdf(self, x: Any, *args: Any, **kwds: Any) -> Any:
        return self._run("pdf", x, args, kwds)

    def _pdf(self, x: Any, *args: Any, **kwds: Any) -> Any:
        return w.exp(self._logpdf(x, *args, **kwds))

    def _logpdf(self, x: Any, *args: Any, **kwds: Any) -> Any:
        raise NotImplementedError


def _log_det(factor: Any) -> Any:
    """The log-determinant of a matrix, given its Cholesky factor."""
    return 2 * w.sum(w.log(w.diagonal(factor)), -1)


def _covariance(mean: Any, cov: Any, dim: int) -> Any:
    """Return cov as a matrix: a number stands for a multiple of the identity, a vector for a diagonal."""
    (cov,) = wide(cov)
    if cov.ndim == 0:
        return cov * w.eye(dim, dtype=cov.dtype)
    if cov.ndim == 1:
        return w.diag(cov)
    if cov.shape[-1] != cov.shape[-2]:
        raise ValueError(f"Array 'cov' must be square if it is two dimensional, but cov.shape = {tuple(cov.shape)}.")
    if cov.shape[-1] != dim:
        raise ValueError(f"Dimension mismatch: array 'cov' is of shape {tuple(cov.shape)}, but 'mean' is a vector of length {dim}.")
    return cov


def _dim(*parameters: Any) -> int:
    return max([1, *[int(np.shape(detached(p))[-1]) for p in parameters if p is not None and np.ndim(detached(p)) > 0]])


def _points(x: Any, dim: int) -> Any:
    """Return points as (..., dim). A vector is one point, or many points of one dimension."""
    (x,) = wide(x)
    if x.ndim == 0 or (x.ndim == 1 and dim == 1):
        return x[..., None]
    return x


def _whitened(x: Any, mean: Any, factor: Any) -> Any:
    """The squared Mahalanobis distance of points (..., D)."""
    away = w.reshape(x - mean, (-1, factor.shape[-1]))
    solved = linalg.solve_triangular(factor, away.mT, upper=False)
    return w.reshape(w.sum(solved * solved, 0), x.shape[:-1])


class _MultivariateNormal(Multivariate):
    name = "multivariate_normal"

    def _logpdf(self, x, mean=None, cov=1, allow_singular=False):
        dim = _dim(mean, cov)
        (mean,) = wide(np.zeros(dim) if mean is None else mean)
        factor = linalg.cholesky(_covariance(mean, cov, dim))
        x = _points(x, dim)
        return -0.5 * (dim * _LOG_2PI + _log_det(factor) + _whitened(x, mean, factor))

    def cdf(self, x: Any, *args: Any, lower_limit: Any = None, **kwds: Any) -> Any:
        if not holds_tensor((x, lower_limit, *args, *kwds.values())):
            return self.theirs.cdf(x, *args, lower_limit=lower_limit, **kwds)
        return self._cdf(x, *args, lower_limit=lower_limit, **kwds)

    def _cdf(
        self, x, mean=None, cov=1, allow_singular=False, maxpts=None, abseps=1e-5, releps=1e-5, *, lower_limit=None, rng=None
    ):
        if allow_singular:
            raise errors.ArgumentError("multivariate_normal.cdf has derivatives for a regular covariance: allow_singular=False.")
        dim = _dim(mean, cov)
        (mean,) = wide(np.zeros(dim) if mean is None else mean)
        linalg.cholesky(_covariance(mean, cov, dim).detach())  # raises unless the matrix is positive definite
        low = None if lower_limit is None else _points(lower_limit, dim)
        settings = {"maxpts": maxpts, "abseps": abseps, "releps": releps, "rng": rng}
        return normal_cdf(_points(x, dim), mean, _covariance(mean, cov, dim), low, settings)

    def logcdf(self, x: Any, *args: Any, **kwds: Any) -> Any:
        if not holds_tensor((x, *args, *kwds.values())):
            return self.theirs.logcdf(x, *args, **kwds)
        return w.log(self.cdf(x, *args, **kwds))

    def entropy(self, mean=None, cov=1):
        if not holds_tensor((mean, cov)):
            return self.theirs.entropy(mean, cov)
        dim = _dim(mean, cov)
        return 0.5 * (dim * (_LOG_2PI + 1) + _log_det(linalg.cholesky(_covariance(mean, cov, dim))))


class _MultivariateT(Multivariate):
    name = "multivariate_t"

    def _logpdf(self, x, loc=None, shape=1, df=1):
        dim = _dim(loc, shape)
        loc, df = wide(np.zeros(dim) if loc is None else loc, df)
        factor = linalg.cholesky(_covariance(loc, shape, dim))
        x, half = _points(x, dim), 0.5 * (df + dim)
        scale = S.gammaln(half) - S.gammaln(0.5 * df) - dim / 2 * w.log(df * pi) - 0.5 * _log_det(factor)
        return scale - half * w.log1p(_whitened(x, loc, factor) / df)


class _MatrixNormal(Multivariate):
    name = "matrix_normal"

    def _logpdf(self, X, mean=None, rowcov=1, colcov=1):
        (X,) = wide(X)
        rows, columns = X.shape[-2:]
        away = X if mean is None else X - wide(mean)[0]
        row, column = linalg.cholesky(_covariance(mean, rowcov, rows)), linalg.cholesky(_covariance(mean, colcov, columns))
        solved = linalg.solve_triangular(row, away, upper=False)
        solved = linalg.solve_triangular(column, solved.mT, upper=False)
        logs = columns * _log_det(row) + rows * _log_det(column)
        return -0.5 * (rows * columns * _LOG_2PI + logs + w.sum(solved * solved, (-2, -1)))


    def entropy(self, rowcov=1, colcov=1):
        if not holds_tensor((rowcov, colcov)):
            return self.theirs.entropy(rowcov, colcov)
        rows, columns = _dim(rowcov), _dim(colcov)
        row, column = linalg.cholesky(_covariance(None, rowcov, rows)), linalg.cholesky(_covariance(None, colcov, columns))
        return 0.5 * (rows * columns * (1 + _LOG_2PI) + columns * _log_det(row) + rows * _log_det(column))


class _MatrixT(Multivariate):
    name = "matrix_t"

    def _logpdf(self, X, mean=None, row_spread=1, col_spread=1, df=1):
        X, df = wide(X, df)
        rows, columns = X.shape[-2:]
        away = X if mean is None else X - wide(mean)[0]
        row, column = linalg.cholesky(_covariance(mean, row_spread, rows)), linalg.cholesky(_covariance(mean, col_spread, columns))
        solved = linalg.solve_triangular(row, away, upper=False)
        solved = linalg.solve_triangular(column, solved.mT, upper=False)
        inner = _log_det(linalg.cholesky(w.eye(columns, dtype=X.dtype) + solved @ solved.mT))
        half = (df + rows - 1) / 2
        scale = _multigammaln(half + columns / 2, rows) - _multigammaln(half, rows) - rows * columns / 2 * log(pi)
        return scale - columns / 2 * _log_det(row) - rows / 2 * _log_det(column) - (half + columns / 2) * inner


class _Dirichlet(Multivariate):
    name = "dirichlet"

    def _logpdf(self, x, alpha):
        x, alpha = wide(x, alpha)
        if x.shape[0] == alpha.shape[0] - 1:
            x = w.cat([x, 1 - w.sum(x, 0, keepdim=True)])
        elif x.shape[0] != alpha.shape[0]:
            raise ValueError(f"Vector 'x' must have {len(alpha)} entries, or one fewer, as parameter vector 'a'; it has {len(x)}.")
        normal = w.sum(S.gammaln(alpha)) - S.gammaln(w.sum(alpha))
        return w.sum(S.xlogy((alpha - 1).reshape((-1,) + (1,) * (x.ndim - 1)), x), 0) - normal

    def mean(self, alpha):
        if not holds_tensor((alpha,)):
            return self.theirs.mean(alpha)
        (alpha,) = wide(alpha)
        return alpha / w.sum(alpha)

    def var(self, alpha):
        if not holds_tensor((alpha,)):
            return self.theirs.var(alpha)
        (alpha,) = wide(alpha)
        total = w.sum(alpha)
        return alpha * (total - alpha) / (total * total * (total + 1))

    def cov(self, alpha):
        if not holds_tensor((alpha,)):
            return self.theirs.cov(alpha)
        (alpha,) = wide(alpha)
        share = alpha / w.sum(alpha)
        return (w.diag(share) - share[:, None] * share) / (w.sum(alpha) + 1)

    def entropy(self, alpha):
        if not holds_tensor((alpha,)):
            return self.theirs.entropy(alpha)
        (alpha,) = wide(alpha)
        total = w.sum(alpha)
        normal = w.sum(S.gammaln(alpha)) - S.gammaln(total)
        return normal + (total - len(alpha)) * S.psi(total) - w.sum((alpha - 1) * S.psi(alpha))


def _multigammaln(a: Any, dim: int) -> Any:
    return dim * (dim - 1) / 4 * log(pi) + sum(S.gammaln(a - j / 2) for j in range(dim))


def _matrix(x: Any, dim: int) -> Any:
    """Return one matrix; a number and a vector stand for diagonal ones."""
    (x,) = wide(x)
    if x.ndim > 2:
        raise errors.ArgumentError("logpdf has a derivative for one matrix at a time. Hint: call it for each matrix.")
    return w.reshape(x, (1, 1)) if x.ndim == 0 else w.diag(x) if x.ndim == 1 and dim > 1 else x


class _Wishart(Multivariate):
    name = "wishart"

    def _logpdf(self, x, df, scale):
        dim = _dim(scale)
        x, scale = _matrix(x, dim), _matrix(scale, dim)
        (df,) = wide(df)
        outer, inner = linalg.cholesky(x), linalg.cholesky(scale)
        solved = linalg.solve_triangular(inner, outer, upper=False)
        value = (df - dim - 1) / 2 * _log_det(outer) - 0.5 * w.sum(solved * solved)
        return value - df * dim / 2 * log(2) - df / 2 * _log_det(inner) - _multigammaln(df / 2, dim)


class _InverseWishart(Multivariate):
    name = "invwishart"

    def _logpdf(self, x, df, scale):
        dim = _dim(scale)
        x, scale = _matrix(x, dim), _matrix(scale, dim)
        (df,) = wide(df)
        outer, inner = linalg.cholesky(x), linalg.cholesky(scale)
        solved = linalg.solve_triangular(outer, inner, upper=False)
        value = df / 2 * _log_det(inner) - (df + dim + 1) / 2 * _log_det(outer) - 0.5 * w.sum(solved * solved)
        return value - df * dim / 2 * log(2) - _multigammaln(df / 2, dim)


class _NormalInverseGamma(Multivariate):
    name = "normal_inverse_gamma"

    def logpdf(self, x: Any, s2: Any, *args: Any, **kwds: Any) -> Any:
        return self._run("logpdf", x, (s2, *args), kwds)

    def pdf(self, x: Any, s2: Any, *args: Any, **kwds: Any) -> Any:
        return self._run("pdf", x, (s2, *args), kwds)

    def _logpdf(self, x, s2, mu=0, lmbda=1, a=1, b=1):
        x, s2, mu, lmbda, a, b = wide(x, s2, mu, lmbda, a, b)
        inside = s2 > 0
        square = w.where(inside, s2, 1.0)
        logs = 0.5 * (w.log(lmbda) - _LOG_2PI) + a * w.log(b) - S.gammaln(a) - (a + 1.5) * w.log(square)
        return w.where(inside, logs - (2 * b + lmbda * (x - mu) ** 2) / (2 * square), -np.inf)

    def mean(self, mu=0, lmbda=1, a=1, b=1):
        if not holds_tensor((mu, lmbda, a, b)):
            return self.theirs.mean(mu, lmbda, a, b)
        mu, lmbda, a, b = wide(mu, lmbda, a, b)
        return mu + 0 * (lmbda + a + b), w.where(a > 1, b / (a - 1), np.nan)

    def var(self, mu=0, lmbda=1, a=1, b=1):
        if not holds_tensor((mu, lmbda, a, b)):
            return self.theirs.var(mu, lmbda, a, b)
        mu, lmbda, a, b = wide(mu, lmbda, a, b)
        square = w.where(a > 2, b * b / ((a - 1) ** 2 * (a - 2)), np.nan)
        return w.where(a > 1, b / ((a - 1) * lmbda), np.nan) + 0 * mu, square


class _VonMisesFisher(Multivariate):
    name = "vonmises_fisher"

    def _scale(self, dim: int, kappa: Any) -> Any:
        """The logarithm of the density's factor."""
        return (dim / 2 - 1) * w.log(kappa) - dim / 2 * _LOG_2PI - w.log(S.ive(dim / 2 - 1, kappa)) - kappa

    def _logpdf(self, x, mu=None, kappa=1):
        self.theirs.logpdf(detached(x), detached(mu), float(detached(kappa)))  # raises ValueError for bad vectors
        x, mu, kappa = wide(x, mu, kappa)
        return self._scale(mu.shape[-1], kappa) + kappa * w.sum(mu * x, -1)

    def entropy(self, mu=None, kappa=1):
        if not holds_tensor((mu, kappa)):
            return self.theirs.entropy(mu, kappa)
        (kappa,), half = wide(kappa), np.shape(detached(mu))[-1] / 2
        return -self._scale(int(2 * half), kappa) - kappa * S.ive(half, kappa) / S.ive(half - 1, kappa)


class _Counts(Multivariate):
    """A distribution of vectors of counts."""

    def logpmf(self, x: Any, *args: Any, **kwds: Any) -> Any:
        return self._run("logpmf", x, args, kwds)

    def pmf(self, x: Any, *args: Any, **kwds: Any) -> Any:
        return self._run("pmf", x, args, kwds)

    def _pmf(self, x: Any, *args: Any, **kwds: Any) -> Any:
        return w.exp(self._logpmf(x, *args, **kwds))

    def _logpmf(self, x: Any, *args: Any, **kwds: Any) -> Any:
        raise NotImplementedError


class _Multinomial(_Counts):
    name = "multinomial"

    def _logpmf(self, x, n, p):
        """The last probability is 1 less the others, as in SciPy."""
        x, n, p = wide(detached(x), detached(n), p)
        p = w.cat([p[..., :-1], 1 - w.sum(p[..., :-1], -1, keepdim=True)], -1)
        found = S.gammaln(n + 1) + w.sum(S.xlogy(x, p) - S.gammaln(x + 1), -1)
        fits = w.as_tensor((detached(x).sum(-1) == detached(n)) & (detached(x) >= 0).all(-1))
        return w.where(fits, found, -np.inf)

    def cov(self, n, p):
        if not holds_tensor((n, p)):
            return self.theirs.cov(n, p)
        n, p = wide(detached(n), p)
        p = w.cat([p[..., :-1], 1 - w.sum(p[..., :-1], -1, keepdim=True)], -1)
        return n[..., None, None] * (w.diag_embed(p) - p[..., :, None] * p[..., None, :])


class _DirichletMultinomial(_Counts):
    name = "dirichlet_multinomial"

    def _logpmf(self, x, alpha, n):
        x, n, alpha = wide(detached(x), detached(n), alpha)
        total = w.sum(alpha, -1)
        found = S.gammaln(total) + S.gammaln(n + 1) - S.gammaln(n + total)
        found = found + w.sum(S.gammaln(x + alpha) - S.gammaln(alpha) - S.gammaln(x + 1), -1)
        return w.where(w.as_tensor((detached(x).sum(-1) == detached(n)) & (detached(x) >= 0).all(-1)), found, -np.inf)

    def _moments(self, alpha: Any, n: Any) -> tuple[Any, Any]:
        """Return (the shares of the counts, the factor of their covariance)."""
        alpha, n = wide(alpha, detached(n))
        total = w.sum(alpha, -1, keepdim=True)
        return alpha / total, n[..., None] * (n[..., None] + total) / (1 + total)

    def mean(self, alpha, n):
        if not holds_tensor((alpha, n)):
            return self.theirs.mean(alpha, n)
        return self._moments(alpha, n)[0] * wide(detached(n))[0][..., None]

    def var(self, alpha, n):
        if not holds_tensor((alpha, n)):
            return self.theirs.var(alpha, n)
        share, factor = self._moments(alpha, n)
        return factor * share * (1 - share)

    def cov(self, alpha, n):
        if not holds_tensor((alpha, n)):
            return self.theirs.cov(alpha, n)
        share, factor = self._moments(alpha, n)
        return factor[..., None] * (w.diag_embed(share) - share[..., :, None] * share[..., None, :])


MULTIVARIATE = {
    kind.name: kind()
    for kind in (
        _MultivariateNormal, _MultivariateT, _MatrixNormal, _MatrixT, _Dirichlet, _Wishart, _InverseWishart, _NormalInverseGamma,
        _VonMisesFisher, _Multinomial, _DirichletMultinomial,
    )
    if hasattr(theirs, kind.name)
}  # fmt: skip


# -- kernel density estimates ------------------------------------------------------------------------------------------


class gaussian_kde(theirs.gaussian_kde):  # type: ignore[name-defined]  # SciPy's name
    """A kernel density estimate with Gaussian kernels. See scipy.stats.gaussian_kde.

    dataset: (D, N) or (N,). bw_method: "scott", "silverman", a number or a function of the estimate. weights: (N,) or None.
    evaluate, pdf, logpdf and calls differentiate in the points, the dataset, the weights and a bandwidth that is a tensor.
    """

    def __init__(self, dataset: Any, bw_method: Any = None, weights: Any = None) -> None:
        self._tensors = [None if x is None else x if holds_tensor((x,)) else np.asarray(x) for x in (dataset, weights)]
        super().__init__(detached(dataset), bw_method, None if weights is None else detached(weights))  # calls set_bandwidth

    def evaluate(self, points: Any) -> Any:
        return w.exp(self.logpdf(points)) if self._is_traced(points) else super().evaluate(points)

    __call__ = pdf = evaluate

    def logpdf(self, x: Any) -> Any:
        return self._log_density(x) if self._is_traced(x) else super().logpdf(x)

    def integrate_gaussian(self, mean: Any, cov: Any) -> Any:
        """The integral of the estimate times a Gaussian density. mean: (D,), cov: (D, D)."""
        if not self._is_traced((mean, cov)):
            return super().integrate_gaussian(mean, cov)
        super().integrate_gaussian(detached(mean), detached(cov))  # raises ValueError for shapes that do not fit
        data, weights, covariance = self._estimate()
        mean, cov = w.atleast_1d(wide(mean)[0]), w.atleast_2d(wide(cov)[0])
        return w.sum(weights * self._kernels(data - mean[:, None], covariance + cov))

    def integrate_box_1d(self, low: Any, high: Any) -> Any:
        """The mass between two bounds, for one dimension."""
        if not self._is_traced((low, high)):
            return super().integrate_box_1d(low, high)
        if self.d != 1:
            raise ValueError("integrate_box_1d() only handles 1D pdfs")
        data, weights, covariance = self._estimate()
        scale = w.sqrt(covariance[0, 0])
        low, high = wide(low, high)
        return w.sum(weights * (S.ndtr((high - data[0]) / scale) - S.ndtr((low - data[0]) / scale)))

    def integrate_kde(self, other: Any) -> Any:
        """The integral of the product of two estimates."""
        estimates = [x if isinstance(x, gaussian_kde) else gaussian_kde(x.dataset, x.factor, x.weights) for x in (self, other)]
        if not any(x._is_traced(None) for x in estimates):
            return super().integrate_kde(other)
        if self.d != other.d:
            raise ValueError("KDEs are not the same dimensionality")
        (data, weights, covariance), (others, shares, added) = [x._estimate() for x in estimates]
        differences = (data[:, :, None] - others[:, None, :]).reshape(self.d, -1)
        kernels = self._kernels(differences, covariance + added).reshape(self.n, other.n)
        return w.sum(weights[:, None] * shares * kernels)

    def marginal(self, dimensions: Any) -> gaussian_kde:
        """The estimate of some of the dimensions."""
        found = super().marginal(dimensions)
        if not self._is_traced(None):
            return gaussian_kde(found.dataset, found.factor, found.weights)
        rows = np.atleast_1d(dimensions)
        factor = self._factor(1 / w.sum(self._estimate()[1] ** 2))
        return gaussian_kde(w.atleast_2d(wide(self._tensors[0])[0])[rows], factor, self._tensors[1])

    def set_bandwidth(self, bw_method: Any = None) -> None:
        """Set the bandwidth: "scott", "silverman", a number, a tensor or a function of the estimate."""
        self._bandwidth = bw_method if holds_tensor((bw_method,)) else None
        super().set_bandwidth(bw_method if self._bandwidth is None else float(detached(bw_method)))

    def integrate_box(self, *args: Any, **kwds: Any) -> Any:
        """The mass of a box. It has no derivative; integrate_box_1d has one."""
        self._check_constant("integrate_box", args, "Use integrate_box_1d for one dimension.")
        return super().integrate_box(*args, **kwds)

    def resample(self, *args: Any, **kwds: Any) -> Any:
        """Random points of the estimate."""
        self._check_constant("resample", (), "Detach the data.")
        return super().resample(*args, **kwds)

    def _check_constant(self, method: str, args: Any, hint: str) -> None:
        if is_differentiated((*args, *self._tensors, self._bandwidth)):
            raise errors.no_array_of("a Tensor that is differentiated", f"scipy.stats.gaussian_kde.{method}", hint)

    def _is_traced(self, points: Any) -> bool:
        return holds_tensor((points, *self._tensors, self._bandwidth))

    def _estimate(self) -> tuple[Any, Any, Any]:
        """Return (data: (D, N), weights: (N,), covariance of the kernels)."""
        data = w.atleast_2d(wide(self._tensors[0])[0])
        weights = w.ones(self.n, dtype=data.dtype) / self.n
        if self._tensors[1] is not None:
            (weights,) = wide(self._tensors[1])
            weights = weights / w.sum(weights)
        away = data - w.sum(weights * data, 1, keepdim=True)
        squares = w.sum(weights * weights)
        return data, weights, self._factor(1 / squares) ** 2 * ((weights * away) @ away.T / (1 - squares))

    def _kernels(self, differences: Any, covariance: Any) -> Any:
        """Return the Gaussian density of differences: (D, K)."""
        factor = linalg.cholesky(covariance)
        solved = linalg.solve_triangular(factor, differences, upper=False)
        return w.exp(-0.5 * (w.sum(solved * solved, 0) + self.d * _LOG_2PI + _log_det(factor)))

    def _log_density(self, points: Any) -> Any:
        points, data = wide(points, self._tensors[0])
        points, data = w.atleast_2d(points), w.atleast_2d(data)
        if points.shape[0] != self.d:
            if points.shape != (1, self.d):
                raise ValueError(f"points have dimension {points.shape[0]}, dataset has dimension {self.d}")
            points = points.reshape(self.d, 1)
        _, weights, covariance = self._estimate()
        factor = linalg.cholesky(covariance)
        differences = (points[:, :, None] - data[:, None, :]).reshape(self.d, -1)
        solved = linalg.solve_triangular(factor, differences, upper=False)
        energy = w.sum(solved * solved, 0).reshape(points.shape[1], self.n) / 2
        return w.logsumexp(w.log(weights) - energy, 1) - 0.5 * (self.d * _LOG_2PI + _log_det(factor))

    def _factor(self, count: Any) -> Any:
        """The bandwidth relative to the covariance. count: the effective number of points."""
        if self._bandwidth is not None:
            return wide(self._bandwidth)[0]
        rule = self.covariance_factor.__name__
        if rule == "scotts_factor":
            return count ** (-1.0 / (self.d + 4))
        if rule == "silverman_factor":
            return (count * (self.d + 2.0) / 4.0) ** (-1.0 / (self.d + 4))
        return float(self.factor)
