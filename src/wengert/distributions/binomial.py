"""Binomial."""

from __future__ import annotations

from typing import Any

from wengert.autograd.grad_mode import no_grad
from wengert.distributions import _functions as F, constraints
from wengert.distributions.distribution import Distribution, expand_parameters
from wengert.distributions.utils import binary_probs, broadcast_all, enumerate_numbers, given_of, require_one_of
from wengert.sizes import Size

__all__ = ["Binomial"]


class Binomial(Distribution):
    """Number of successes of total_count trials with success probability probs.

    total_count: a tensor or a number of nonnegative integers. Either probs, in [0, 1], or logits is given: a tensor or a number
    that broadcasts with total_count. Raises ValueError otherwise."""

    arg_constraints = {
        "total_count": constraints.nonnegative_integer, "probs": constraints.unit_interval, "logits": constraints.real,
    }  # fmt: skip
    has_enumerate_support = True
    _expanded = ("total_count", "probs", "logits")
    expand = expand_parameters
    probs, logits = binary_probs()

    def __init__(
        self, total_count: Any = 1, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        require_one_of(probs, logits)
        if probs is not None:
            self.total_count, self.probs = broadcast_all(total_count, probs)
            self.total_count = self.total_count.type_as(self.probs)
        else:
            self.total_count, self.logits = broadcast_all(total_count, logits)
            self.total_count = self.total_count.type_as(self.logits)
        super().__init__(self.param_shape, validate_args=validate_args)

    @constraints.dependent_property(is_discrete=True, event_dim=0)
    def support(self) -> Any:
        return constraints.integer_interval(0, self.total_count)

    @property
    def param_shape(self) -> Size:
        """Shape of the parameter."""
        return given_of(self).shape

    @property
    def mean(self) -> Any:
        return self.total_count * self.probs

    @property
    def mode(self) -> Any:
        return ((self.total_count + 1) * self.probs).floor().clamp(max=self.total_count)

    @property
    def variance(self) -> Any:
        return self.total_count * self.probs * (1 - self.probs)

    def sample(self, sample_shape: Any = Size()) -> Any:
        shape = self._extended_shape(sample_shape)
        with no_grad():
            return F.binomial(self.total_count.expand(shape), self.probs.expand(shape))

    def log_prob(self, value: Any) -> Any:
        if self._validate_args:
            self._validate_sample(value)
        n = self.total_count
        choices = F.lgamma(n + 1) - F.lgamma(value + 1) - F.lgamma(n - value + 1)
        # log(1 + exp(logits)), without overflow.
        normalizer = self.logits.clamp(min=0) + (-self.logits.abs()).exp().log1p()
        return choices + value * self.logits - n * normalizer

    def entropy(self) -> Any:
        """Return the entropy. Raises NotImplementedError if the elements of total_count differ."""
        self._common_count("entropy")
        log_prob = self.log_prob(self.enumerate_support(False))
        return -(log_prob.exp() * log_prob).sum(0)

    def enumerate_support(self, expand: bool = True) -> Any:
        """Return 0, ..., total_count. Raises NotImplementedError if the elements of total_count differ."""
        return enumerate_numbers(self, 1 + self._common_count("enumerate_support"), given_of(self).dtype, expand)

    def _common_count(self, method: str) -> int:
        count = int(self.total_count.max())
        if not self.total_count.min() == count:
            raise NotImplementedError(f"Inhomogeneous total count not supported by `{method}`.")
        return count
