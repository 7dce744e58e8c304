"""Categorical."""

from __future__ import annotations

import math
from typing import Any

from wengert.autograd.grad_mode import no_grad
from wengert.distributions import _functions as F, constraints
from wengert.distributions.distribution import Distribution, expand_parameters
from wengert.distributions.utils import (
    enumerate_numbers,
    given_of,
    lazy_property,
    logits_to_probs,
    probs_to_logits,
    require_one_of,
)  # fmt: skip
from wengert.dtypes import finfo, int64
from wengert.sizes import Size

__all__ = ["Categorical"]


class Categorical(Distribution):
    """Distribution of an index 0, ..., n - 1, as int64.

    Either probs, nonnegative, or logits, log(probs) up to a constant, is given: a tensor of shape (..., n). The attributes probs
    and logits are normalized. Raises ValueError for a tensor of no dimension, or if neither or both are given."""

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}
    has_enumerate_support = True
    _expanded = ("probs", "logits")
    _kept = ("_num_events",)
    expand = expand_parameters
    probs = lazy_property(lambda self: logits_to_probs(self.logits))
    logits = lazy_property(lambda self: probs_to_logits(self.probs))

    def __init__(self, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
        require_one_of(probs, logits)
        if (logits if probs is None else probs).dim() < 1:
            name = "logits" if probs is None else "probs"
            raise ValueError(f"`{name}` parameter must be at least one-dimensional.")
        if probs is not None:
            self.probs = probs / probs.sum(-1, keepdim=True)
        else:
            self.logits = logits - logits.logsumexp(-1, keepdim=True)
        shape = self.param_shape
        self._num_events = shape[-1]
        super().__init__(shape[:-1], validate_args=validate_args)

    @constraints.dependent_property(is_discrete=True, event_dim=0)
    def support(self) -> Any:
        return constraints.integer_interval(0, self._num_events - 1)

    @property
    def param_shape(self) -> Size:
        """Shape of the parameter."""
        return given_of(self).shape

    @property
    def mean(self) -> Any:
        return given_of(self).new_full(self._extended_shape(), math.nan)

    @property
    def mode(self) -> Any:
        return self.probs.argmax(-1)

    @property
    def variance(self) -> Any:
        return self.mean

    def sample(self, sample_shape: Any = Size()) -> Any:
        sample_shape = Size(sample_shape)
        with no_grad():
            rows = self.probs.detach().reshape(-1, self._num_events)
            drawn = F.multinomial(rows, sample_shape.numel(), True)
            return drawn.T.reshape(self._extended_shape(sample_shape))

    def log_prob(self, value: Any) -> Any:
        if self._validate_args:
            self._validate_sample(value)
        index, logits = F.broadcast_tensors(value.long().unsqueeze(-1), self.logits)
        return logits.gather(-1, index[..., :1]).squeeze(-1)

    def entropy(self) -> Any:
        logits = self.logits.clamp(min=finfo(self.logits.dtype).min)  # 0 * -inf would be NaN
        return -(logits * self.probs).sum(-1)

    def enumerate_support(self, expand: bool = True) -> Any:
        return enumerate_numbers(self, self._num_events, int64, expand)
