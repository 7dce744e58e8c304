"""Multinomial."""

from __future__ import annotations

import math
from typing import Any

from wengert.distributions import _functions as F, constraints
from wengert.distributions._of_categorical import OfCategorical
from wengert.distributions.binomial import Binomial
from wengert.distributions.distribution import expand_parameters
from wengert.distributions.utils import broadcast_all, given_of
from wengert.sizes import Size

__all__ = ["Multinomial"]


class Multinomial(OfCategorical):
    """Counts of total_count draws of an index with probabilities probs. total_count: an int. probs, logits: as in Categorical."""

    _kept = ("total_count",)
    expand = expand_parameters

    def __init__(
        self, total_count: int = 1, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        if not isinstance(total_count, int):
            raise NotImplementedError("inhomogeneous total_count is not supported")
        self.total_count = total_count
        super().__init__(probs, logits, validate_args)

    @constraints.dependent_property(is_discrete=True, event_dim=1)
    def support(self) -> Any:
        return constraints.multinomial(self.total_count)

    @property
    def mean(self) -> Any:
        return self.probs * self.total_count

    @property
    def variance(self) -> Any:
        return self.total_count * self.probs * (1 - self.probs)

    def sample(self, sample_shape: Any = Size()) -> Any:
        sample_shape = Size(sample_shape)
        indices = self._categorical.sample(Size((self.total_count,)) + sample_shape).movedim(0, -1)
        counts = given_of(self._categorical).new_zeros(self._extended_shape(sample_shape))
        return counts.scatter_add_(-1, indices, F.ones_like(indices, dtype=counts.dtype))

    def log_prob(self, value: Any) -> Any:
        if self._validate_args:
            self._validate_sample(value)
        logits, value = broadcast_all(self.logits, value)
        logits = logits.masked_fill((value == 0) & (logits == -math.inf), 0)
        return F.lgamma(value.sum(-1) + 1) - F.lgamma(value + 1).sum(-1) + (logits * value).sum(-1)

    def entropy(self) -> Any:
        n = self.total_count
        # Each count has a binomial distribution. The mean of its log-factorial is a sum over 1, ..., n.
        marginals = Binomial(n, probs=self.probs)
        counts = marginals.enumerate_support(False)[1:]
        factorials = (marginals.log_prob(counts).exp() * F.lgamma(counts + 1)).sum((0, -1))
        return n * self._categorical.entropy() - math.lgamma(n + 1) + factorials
