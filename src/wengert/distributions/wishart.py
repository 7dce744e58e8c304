"""Wishart."""

from __future__ import annotations

import math
import warnings
from typing import Any

from wengert import linalg
from wengert.distributions import _functions as F, constraints
from wengert.distributions.chi2 import Chi2
from wengert.distributions.distribution import expand_parameters
from wengert.distributions.exp_family import ExponentialFamily
from wengert.distributions.multivariate_normal import factor_of, given_matrix, half_log_det
from wengert.distributions.utils import lazy_property
from wengert.sizes import Size

__all__ = ["Wishart"]


class Wishart(ExponentialFamily):
    """Distribution of x @ x.mT, where the df columns of x are normal vectors of a covariance matrix V.

    df: a tensor or a number, > n - 1. One of covariance_matrix (V), precision_matrix (its inverse) and scale_tril (its lower
    Cholesky factor) is given, (..., n, n). Raises AssertionError otherwise, and ValueError for a smaller df or fewer dimensions."""

    support = constraints.positive_definite
    has_rsample = True
    _mean_carrier_measure = 0
    _expanded = ("df", "covariance_matrix", "precision_matrix", "scale_tril", "_chi2")
    _kept = ("_unbroadcasted_scale_tril",)
    expand = expand_parameters

    def __init__(
        self,
        df: Any,
        covariance_matrix: Any = None,
        precision_matrix: Any = None,
        scale_tril: Any = None,
        validate_args: bool | None = None,
    ) -> None:
        name, matrix = given_matrix(covariance_matrix, precision_matrix, scale_tril, AssertionError)
        if matrix.dim() < 2:
            raise ValueError("scale_tril must be at least two-dimensional, with optional leading batch dimensions")
        df = F.as_tensor(df, dtype=matrix.dtype)
        n = matrix.shape[-1]
        batch_shape = F.broadcast_shapes(matrix.shape[:-2], df.shape)
        self.df = df.expand(batch_shape)
        if (self.df <= n - 1).any():
            raise ValueError(f"Value of df={df} expected to be greater than ndim - 1 = {n - 1}.")
        if (self.df < n).any():
            warnings.warn(
                "Low df values detected. Singular samples are highly likely to occur for ndim - 1 < df < ndim.", stacklevel=2
            )
        setattr(self, name, matrix.expand(*batch_shape, -1, -1))
        super().__init__(batch_shape, matrix.shape[-2:], validate_args=validate_args)
        self._unbroadcasted_scale_tril = factor_of(name, matrix)
        # The squared diagonal of Bartlett's factor.
        self._chi2 = Chi2(self.df.unsqueeze(-1) - F.arange(n, dtype=df.dtype, device=df.device))

    def _part_shape(self, name: str, batch_shape: Size) -> Size:
        return batch_shape + self._event_shape[:1]

    @property
    def arg_constraints(self) -> dict[str, Any]:
        return {
            "covariance_matrix": constraints.positive_definite, "precision_matrix": constraints.positive_definite,
            "scale_tril": constraints.lower_cholesky, "df": constraints.greater_than(self._event_shape[-1] - 1),
        }  # fmt: skip

    @lazy_property
    def scale_tril(self) -> Any:
        return self._unbroadcasted_scale_tril.expand(self._batch_shape + self._event_shape)

    @lazy_property
    def covariance_matrix(self) -> Any:
        factor = self._unbroadcasted_scale_tril
        return (factor @ factor.mT).expand(self._batch_shape + self._event_shape)

    @lazy_property
    def precision_matrix(self) -> Any:
        return F.cholesky_inverse(self._unbroadcasted_scale_tril).expand(self._batch_shape + self._event_shape)

    @property
    def mean(self) -> Any:
        return self.df[..., None, None] * self.covariance_matrix

    @property
    def mode(self) -> Any:
        factor = self.df - self._event_shape[-1] - 1
        return factor.masked_fill(factor <= 0, math.nan)[..., None, None] * self.covariance_matrix

    @property
    def variance(self) -> Any:
        covariance = self.covariance_matrix
        diagonal = covariance.diagonal(dim1=-2, dim2=-1)
        return self.df[..., None, None] * (covariance.square() + diagonal.unsqueeze(-1) * diagonal.unsqueeze(-2))

    def rsample(self, sample_shape: Any = Size(), max_try_correction: int | None = None) -> Any:
        """Draw matrices by Bartlett's decomposition.

        max_try_correction: how often matrices that are not positive definite in floating point are drawn again; if None, 10
        times for n <= 3 and 3 times otherwise."""
        if max_try_correction is None:
            max_try_correction = 3 if self._event_shape[-1] > 3 else 10
        sample_shape = Size(sample_shape)
        sample = self._bartlett_sampling(sample_shape)
        is_singular = ~self.support.check(sample)
        if self._batch_shape:
            is_singular = is_singular.amax(tuple(range(len(sample_shape), is_singular.dim())))
        if is_singular.any():
            warnings.warn("Singular sample detected.", stacklevel=2)
        for _ in range(max_try_correction if is_singular.any() else 0):
            again = self._bartlett_sampling(is_singular[is_singular].shape)
            sample = sample.clone()
            sample[is_singular] = again
            still = ~self.support.check(again)
            if self._batch_shape:
                still = still.amax(tuple(range(1, still.dim())))
            is_singular = is_singular.clone()
            is_singular[is_singular.clone()] = still
            if not is_singular.any():
                break
        return sample

    def _bartlett_sampling(self, sample_shape: Any = Size()) -> Any:
        n = self._event_shape[-1]
        noise = self._chi2.rsample(sample_shape).sqrt().diag_embed()
        rows, columns = F.tril_indices(n, n, -1)
        below = F.randn((*sample_shape, *self._batch_shape, n * (n - 1) // 2), dtype=noise.dtype, device=noise.device)
        noise[..., rows, columns] = below
        factor = self._unbroadcasted_scale_tril @ noise
        return factor @ factor.mT

    def _normalizer(self) -> Any:
        n, df = self._event_shape[-1], self.df
        return df * (half_log_det(self._unbroadcasted_scale_tril) + 0.5 * n * math.log(2)) + F.mvlgamma(df / 2, n)

    def log_prob(self, value: Any) -> Any:
        if self._validate_args:
            self._validate_sample(value)
        n, factor = self._event_shape[-1], self._unbroadcasted_scale_tril
        trace = F.cholesky_solve(value, factor).diagonal(dim1=-2, dim2=-1).sum(-1)
        power = (self.df - n - 1) / 2 * linalg.slogdet(value).logabsdet
        return power - 0.5 * trace - self._normalizer()

    def entropy(self) -> Any:
        n, df = self._event_shape[-1], self.df
        digammas = F.digamma(df.unsqueeze(-1) / 2 - F.arange(n, dtype=df.dtype, device=df.device) / 2).sum(-1)
        # Mean of the logarithm of the determinant.
        mean_log_det = digammas + n * math.log(2) + 2 * half_log_det(self._unbroadcasted_scale_tril)
        return self._normalizer() - (df - n - 1) / 2 * mean_log_det + df * n / 2

    @property
    def _natural_params(self) -> tuple[Any, ...]:
        return -self.precision_matrix / 2, (self.df - self._event_shape[-1] - 1) / 2

    def _log_normalizer(self, x: Any, y: Any) -> Any:
        n = self._event_shape[-1]
        half = y + 0.5 * (n + 1)
        return half * (n * math.log(2) - linalg.slogdet(-2 * x).logabsdet) + F.mvlgamma(half, n)
