"""OneHotCategorical and OneHotCategoricalStraightThrough."""

from __future__ import annotations

from typing import Any

from wengert.distributions import _functions as F, constraints
from wengert.distributions._of_categorical import OfCategorical
from wengert.distributions.distribution import expand_parameters
from wengert.distributions.utils import given_of
from wengert.nn.functional import one_hot
from wengert.sizes import Size

__all__ = ["OneHotCategorical", "OneHotCategoricalStraightThrough"]


class OneHotCategorical(OfCategorical):
    """Distribution of vectors with one 1 at a random index. probs, logits: as in Categorical."""

    support = constraints.one_hot
    has_enumerate_support = True
    expand = expand_parameters

    def __init__(self, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
        super().__init__(probs, logits, validate_args)

    @property
    def mean(self) -> Any:
        return self.probs

    @property
    def mode(self) -> Any:
        return self._encode(self.probs.argmax(-1))

    @property
    def variance(self) -> Any:
        return self.probs * (1 - self.probs)

    def _encode(self, index: Any) -> Any:
        return one_hot(index, self._event_shape[0]).to(given_of(self._categorical))

    def sample(self, sample_shape: Any = Size()) -> Any:
        return self._encode(self._categorical.sample(Size(sample_shape)))

    def log_prob(self, value: Any) -> Any:
        if self._validate_args:
            self._validate_sample(value)
        return self._categorical.log_prob(value.argmax(-1))

    def entropy(self) -> Any:
        return self._categorical.entropy()

    def enumerate_support(self, expand: bool = True) -> Any:
        n = self._event_shape[0]
        batch_shape = self._batch_shape
        given = given_of(self._categorical)
        values = F.eye(n, dtype=given.dtype, device=given.device).view(n, *[1] * len(batch_shape), n)
        return values.expand(n, *batch_shape, n) if expand else values


class OneHotCategoricalStraightThrough(OneHotCategorical):
    """OneHotCategorical whose samples have the derivative of their probabilities: the straight-through estimator.

    Y. Bengio, N. Leonard and A. Courville, Estimating or propagating gradients through stochastic neurons, 2013."""

    has_rsample = True

    def rsample(self, sample_shape: Any = Size()) -> Any:
        samples = self.sample(sample_shape)
        return samples + (self.probs - self.probs.detach())
