"""MultivariateNormal."""

from __future__ import annotations

import math
from typing import Any

from wengert import linalg
from wengert.distributions import _functions as F, constraints
from wengert.distributions.distribution import Distribution, expand_parameters
from wengert.distributions.utils import _standard_normal, lazy_property
from wengert.sizes import Size

__all__ = ["MultivariateNormal"]


def mahalanobis(factor: Any, deviation: Any) -> Any:
    """Return |factor^-1 deviation|^2. factor: (..., n, n), lower triangular. deviation: (..., n), with any leading dimensions."""
    leading = deviation.dim() - factor.dim() + 1
    if leading <= 0:
        return linalg.solve_triangular(factor, deviation.unsqueeze(-1), upper=False).square().sum((-2, -1))
    # The dimensions that factor lacks become columns, so that one factor solves for all of them.
    columns = deviation.flatten(0, leading - 1).movedim(0, -1)
    found = linalg.solve_triangular(factor, columns, upper=False).square().sum(-2)
    return found.movedim(-1, 0).reshape(deviation.shape[:leading] + found.shape[:-1])


def half_log_det(factor: Any) -> Any:
    """Half of the logarithm of the determinant of factor @ factor.mT, for triangular factors."""
    return factor.diagonal(dim1=-2, dim2=-1).log().sum(-1)


def _factor_of_precision(precision: Any) -> Any:
    """Return the lower Cholesky factor of the inverse of a matrix."""
    # If J P J = L L^T, where J reverses the order, then P^-1 = (J L^-T J) (J L^-T J)^T, and J L^-T J is lower triangular.
    upper = linalg.cholesky(precision.flip(-2, -1)).flip(-2, -1).mT
    return linalg.solve_triangular(upper, F.eye(precision.shape[-1], dtype=precision.dtype, device=precision.device), upper=False)


class MultivariateNormal(Distribution):
    """Normal distribution of vectors. loc: the mean, (..., n).

    One of covariance_matrix, precision_matrix (its inverse) and scale_tril (its lower Cholesky factor) is given, (..., n, n).
    Raises ValueError otherwise, and for too few dimensions. log_prob and rsample use scale_tril; the others are made when used."""

    arg_constraints = {
        "loc": constraints.real_vector, "covariance_matrix": constraints.positive_definite,
        "precision_matrix": constraints.positive_definite, "scale_tril": constraints.lower_cholesky,
    }  # fmt: skip
    support = constraints.real_vector
    has_rsample = True
    _expanded = ("loc", "covariance_matrix", "precision_matrix", "scale_tril")
    _kept = ("_unbroadcasted_scale_tril",)
    expand = expand_parameters

    def __init__(
        self,
        loc: Any,
        covariance_matrix: Any = None,
        precision_matrix: Any = None,
        scale_tril: Any = None,
        validate_args: bool | None = None,
    ) -> None:
        if loc.dim() < 1:
            raise ValueError("loc must be at least one-dimensional.")
        name, matrix = given_matrix(covariance_matrix, precision_matrix, scale_tril, ValueError)
        if matrix.dim() < 2:
            noun = "scale_tril matrix" if name == "scale_tril" else name
            raise ValueError(f"{noun} must be at least two-dimensional, with optional leading batch dimensions")
        batch_shape = F.broadcast_shapes(matrix.shape[:-2], loc.shape[:-1])
        setattr(self, name, matrix.expand(*batch_shape, -1, -1))
        self.loc = loc.expand(*batch_shape, -1)
        super().__init__(batch_shape, self.loc.shape[-1:], validate_args=validate_args)
        self._unbroadcasted_scale_tril = factor_of(name, matrix)

    @lazy_property
    def scale_tril(self) -> Any:
        n = self._event_shape[0]
        return self._unbroadcasted_scale_tril.expand(*self._batch_shape, n, n)

    @lazy_property
    def covariance_matrix(self) -> Any:
        n, factor = self._event_shape[0], self._unbroadcasted_scale_tril
        return (factor @ factor.mT).expand(*self._batch_shape, n, n)

    @lazy_property
    def precision_matrix(self) -> Any:
        n = self._event_shape[0]
        return F.cholesky_inverse(self._unbroadcasted_scale_tril).expand(*self._batch_shape, n, n)

    @property
    def mean(self) -> Any:
        return self.loc

    @property
    def mode(self) -> Any:
        return self.loc

    @property
    def variance(self) -> Any:
        return self._unbroadcasted_scale_tril.square().sum(-1).expand(self._batch_shape + self._event_shape)

    def rsample(self, sample_shape: Any = Size()) -> Any:
        eps = _standard_normal(self._extended_shape(sample_shape), self.loc.dtype, self.loc.device)
        return self.loc + (self._unbroadcasted_scale_tril @ eps.unsqueeze(-1)).squeeze(-1)

    def log_prob(self, value: Any) -> Any:
        if self._validate_args:
            self._validate_sample(value)
        factor = self._unbroadcasted_scale_tril
        distance = mahalanobis(factor, value - self.loc)
        return -0.5 * (self._event_shape[0] * math.log(2 * math.pi) + distance) - half_log_det(factor)

    def entropy(self) -> Any:
        found = 0.5 * self._event_shape[0] * (1.0 + math.log(2 * math.pi)) + half_log_det(self._unbroadcasted_scale_tril)
        return found.expand(self._batch_shape)


def given_matrix(covariance: Any, precision: Any, factor: Any, error: type[Exception]) -> tuple[str, Any]:
    """Return the name and the value of the one matrix that is given. Raises error otherwise."""
    found = {"covariance_matrix": covariance, "precision_matrix": precision, "scale_tril": factor}
    given = [(name, matrix) for name, matrix in found.items() if matrix is not None]
    if len(given) != 1:
        raise error("Exactly one of covariance_matrix or precision_matrix or scale_tril may be specified.")
    return given[0]


def factor_of(name: str, matrix: Any) -> Any:
    """Return the lower Cholesky factor of the covariance matrix, given the matrix of this name."""
    if name == "scale_tril":
        return matrix
    return linalg.cholesky(matrix) if name == "covariance_matrix" else _factor_of_precision(matrix)
