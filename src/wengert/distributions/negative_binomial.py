"""NegativeBinomial."""

from __future__ import annotations

from typing import Any

from wengert.autograd.grad_mode import no_grad
from wengert.distributions import _functions as F, constraints
from wengert.distributions.distribution import Distribution, expand_parameters
from wengert.distributions.gamma import Gamma
from wengert.distributions.utils import binary_probs, broadcast_all, given_of, require_one_of
from wengert.nn.functional import logsigmoid
from wengert.sizes import Size

__all__ = ["NegativeBinomial"]


class NegativeBinomial(Distribution):
    """Number of successes, of probability probs, before total_count failures.

    total_count: a tensor or a number, >= 0; it need not be an integer. Either probs, in [0, 1), or logits is given: a tensor or
    a number that broadcasts with total_count. Raises ValueError otherwise."""

    arg_constraints = {
        "total_count": constraints.greater_than_eq(0), "probs": constraints.half_open_interval(0.0, 1.0),
        "logits": constraints.real,
    }  # fmt: skip
    support = constraints.nonnegative_integer
    _expanded = ("total_count", "probs", "logits")
    expand = expand_parameters
    probs, logits = binary_probs()

    def __init__(self, total_count: Any, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
        require_one_of(probs, logits)
        if probs is not None:
            self.total_count, self.probs = broadcast_all(total_count, probs)
            self.total_count = self.total_count.type_as(self.probs)
        else:
            self.total_count, self.logits = broadcast_all(total_count, logits)
            self.total_count = self.total_count.type_as(self.logits)
        super().__init__(self.param_shape, validate_args=validate_args)

    @property
    def param_shape(self) -> Size:
        """Shape of the parameter."""
        return given_of(self).shape

    @property
    def mean(self) -> Any:
        return self.total_count * self.logits.exp()

    @property
    def mode(self) -> Any:
        return ((self.total_count - 1) * self.logits.exp()).floor().clamp(min=0)

    @property
    def variance(self) -> Any:
        return self.mean / (-self.logits).sigmoid()

    def sample(self, sample_shape: Any = Size()) -> Any:
        with no_grad():
            rate = Gamma(self.total_count, (-self.logits).exp(), validate_args=False).sample(sample_shape)
            return F.poisson(rate)

    def log_prob(self, value: Any) -> Any:
        if self._validate_args:
            self._validate_sample(value)
        n = self.total_count
        unnormalized = n * logsigmoid(-self.logits) + value * logsigmoid(self.logits)
        normalizer = F.lgamma(1.0 + value) + F.lgamma(n) - F.lgamma(n + value)
        return unnormalized - normalizer.masked_fill(n + value == 0, 0.0)
