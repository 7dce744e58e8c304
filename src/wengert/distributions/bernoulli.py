"""Bernoulli."""

from __future__ import annotations

import math
from typing import Any

from wengert.autograd.grad_mode import no_grad
from wengert.distributions import _functions as F, constraints
from wengert.distributions.distribution import expand_parameters
from wengert.distributions.exp_family import ExponentialFamily
from wengert.distributions.utils import binary_probs, broadcast_all, enumerate_numbers, given_of, require_one_of
from wengert.nn.functional import binary_cross_entropy_with_logits
from wengert.sizes import Size

__all__ = ["Bernoulli"]


class Bernoulli(ExponentialFamily):
    """Distribution on {0, 1}, where 1 has probability probs.

    Either probs, in [0, 1], or logits, log(probs / (1 - probs)), is given: a tensor or a number. Raises ValueError otherwise."""

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.boolean
    has_enumerate_support = True
    _mean_carrier_measure = 0
    _expanded = ("probs", "logits")
    expand = expand_parameters
    probs, logits = binary_probs()

    def __init__(self, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
        require_one_of(probs, logits)
        if probs is not None:
            (self.probs,) = broadcast_all(probs)
        else:
            (self.logits,) = broadcast_all(logits)
        super().__init__(self.param_shape, validate_args=validate_args)

    @property
    def param_shape(self) -> Size:
        """Shape of the parameter."""
        return given_of(self).shape

    @property
    def mean(self) -> Any:
        return self.probs

    @property
    def mode(self) -> Any:
        return (self.probs >= 0.5).to(self.probs).masked_fill(self.probs == 0.5, math.nan)

    @property
    def variance(self) -> Any:
        return self.probs * (1 - self.probs)

    def sample(self, sample_shape: Any = Size()) -> Any:
        with no_grad():
            return F.bernoulli(self.probs.expand(self._extended_shape(sample_shape)))

    def log_prob(self, value: Any) -> Any:
        if self._validate_args:
            self._validate_sample(value)
        logits, value = broadcast_all(self.logits, value)
        return -binary_cross_entropy_with_logits(logits, value, reduction="none")

    def entropy(self) -> Any:
        return binary_cross_entropy_with_logits(self.logits, self.probs, reduction="none")

    def enumerate_support(self, expand: bool = True) -> Any:
        return enumerate_numbers(self, 2, given_of(self).dtype, expand)

    @property
    def _natural_params(self) -> tuple[Any, ...]:
        return (self.probs.logit(),)

    def _log_normalizer(self, x: Any) -> Any:
        return x.exp().log1p()
