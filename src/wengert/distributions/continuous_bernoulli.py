"""ContinuousBernoulli."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from wengert.autograd.grad_mode import no_grad
from wengert.distributions import _functions as F, constraints
from wengert.distributions.distribution import expand_parameters
from wengert.distributions.exp_family import ExponentialFamily
from wengert.distributions.utils import (
    broadcast_all,
    clamp_probs,
    given_of,
    lazy_property,
    logits_to_probs,
    probs_to_logits,
    require_one_of,
)  # fmt: skip
from wengert.nn.functional import binary_cross_entropy_with_logits
from wengert.sizes import Size

__all__ = ["ContinuousBernoulli"]


class ContinuousBernoulli(ExponentialFamily):
    """Distribution on [0, 1], whose density is proportional to probs ** x * (1 - probs) ** (1 - x).

    probs, logits: as in Bernoulli. lims: for probs between them the formulas cancel, and their Taylor polynomials at 1/2 are used.
    G. Loaiza-Ganem and J. Cunningham, The continuous Bernoulli: fixing a pervasive error in variational autoencoders, 2019."""

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.unit_interval
    has_rsample = True
    _mean_carrier_measure = 0
    _expanded = ("probs", "logits")
    _kept = ("_lims",)
    expand = expand_parameters
    probs = lazy_property(lambda self: clamp_probs(logits_to_probs(self.logits, is_binary=True)))
    logits = lazy_property(lambda self: probs_to_logits(self.probs, is_binary=True))

    def __init__(
        self,
        probs: Any = None,
        logits: Any = None,
        lims: tuple[float, float] = (0.499, 0.501),
        validate_args: bool | None = None,
    ) -> None:
        require_one_of(probs, logits)
        if probs is not None:
            (self.probs,) = broadcast_all(probs)
            if validate_args is not None and not self.arg_constraints["probs"].check(self.probs).all():
                raise ValueError("The parameter probs has invalid values")
            self.probs = clamp_probs(self.probs)
        else:
            (self.logits,) = broadcast_all(logits)
        self._lims = lims
        super().__init__(self.param_shape, validate_args=validate_args)

    @property
    def param_shape(self) -> Size:
        """Shape of the parameter."""
        return given_of(self).shape

    def _choose(self, formula: Callable[[Any], Any], taylor: Callable[[Any], Any]) -> Any:
        """Return formula(probs), or taylor(probs - 1/2) between the limits."""
        is_stable = (self.probs <= self._lims[0]) | (self.probs > self._lims[1])
        return F.where(is_stable, formula(self.probs), taylor(self.probs - 0.5))

    def _log_constant(self) -> Any:
        """Logarithm of the normalizing constant 2 atanh(1 - 2 p) / (1 - 2 p)."""
        def formula(p: Any) -> Any:
            return (((-p).log1p() - p.log()).abs() / (1 - 2 * p).abs()).log()

        return self._choose(formula, lambda x: math.log(2.0) + (4.0 / 3.0 + 104.0 / 45.0 * x.square()) * x.square())

    @property
    def mean(self) -> Any:
        def formula(p: Any) -> Any:
            return p / (2 * p - 1) + 1 / ((-p).log1p() - p.log())

        return self._choose(formula, lambda x: 0.5 + (1.0 / 3.0 + 16.0 / 45.0 * x.square()) * x)

    @property
    def stddev(self) -> Any:
        return self.variance.sqrt()

    @property
    def variance(self) -> Any:
        def formula(p: Any) -> Any:
            return p * (p - 1) / (1 - 2 * p).square() + 1 / ((-p).log1p() - p.log()).square()

        return self._choose(formula, lambda x: 1.0 / 12.0 - (1.0 / 15.0 + 128.0 / 945.0 * x.square()) * x.square())

    def sample(self, sample_shape: Any = Size()) -> Any:
        with no_grad():
            return self.rsample(sample_shape)

    def rsample(self, sample_shape: Any = Size()) -> Any:
        return self.icdf(F.rand(self._extended_shape(sample_shape), dtype=self.probs.dtype, device=self.probs.device))

    def log_prob(self, value: Any) -> Any:
        if self._validate_args:
            self._validate_sample(value)
        logits, value = broadcast_all(self.logits, value)
        return self._log_constant() - binary_cross_entropy_with_logits(logits, value, reduction="none")

    def cdf(self, value: Any) -> Any:
        if self._validate_args:
            self._validate_sample(value)
        found = self._choose(lambda p: (p.pow(value) * (1 - p).pow(1 - value) + p - 1) / (2 * p - 1), lambda x: value)
        return F.where(value <= 0, 0.0, F.where(value >= 1, 1.0, found))

    def icdf(self, value: Any) -> Any:
        def formula(p: Any) -> Any:
            return ((value * (2 * p - 1) - p).log1p() - (-p).log1p()) / (p.log() - (-p).log1p())

        return self._choose(formula, lambda x: value)

    def entropy(self) -> Any:
        log_one, log_zero = self.probs.log(), (-self.probs).log1p()
        return self.mean * (log_zero - log_one) - self._log_constant() - log_zero

    @property
    def _natural_params(self) -> tuple[Any, ...]:
        return (self.logits,)

    def _log_normalizer(self, x: Any) -> Any:
        """Return log((exp(x) - 1) / x), by its Taylor polynomial near 0."""
        is_stable = (x.sigmoid() <= self._lims[0]) | (x.sigmoid() > self._lims[1])
        return F.where(is_stable, x.expm1().abs().log() - x.abs().log(), 0.5 * x + x.square() / 24 - x.pow(4) / 2880)
