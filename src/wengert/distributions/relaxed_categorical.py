"""ExpRelaxedCategorical and RelaxedOneHotCategorical."""

from __future__ import annotations

import math
from typing import Any

from wengert.distributions import _functions as F, constraints
from wengert.distributions.categorical import Categorical
from wengert.distributions.distribution import Distribution, expand_parameters
from wengert.distributions.transformed_distribution import TransformedDistribution
from wengert.distributions.transforms import ExpTransform
from wengert.distributions.utils import broadcast_all, clamp_probs
from wengert.sizes import Size

__all__ = ["ExpRelaxedCategorical", "RelaxedOneHotCategorical"]


class ExpRelaxedCategorical(Distribution):
    """Logarithm of a RelaxedOneHotCategorical vector. temperature: a tensor, > 0. probs, logits: as in Categorical.

    C. Maddison, A. Mnih and Y. W. Teh, The concrete distribution, 2017."""

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}
    support = constraints.real_vector
    has_rsample = True
    _expanded = ("_categorical",)
    _kept = ("temperature",)
    expand = expand_parameters

    def __init__(self, temperature: Any, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
        self._categorical = Categorical(probs, logits)
        self.temperature = temperature
        super().__init__(self._categorical.batch_shape, self._categorical.param_shape[-1:], validate_args=validate_args)

    @property
    def param_shape(self) -> Size:
        """Shape of the parameter."""
        return self._categorical.param_shape

    @property
    def logits(self) -> Any:
        """Logarithms of the probabilities."""
        return self._categorical.logits

    @property
    def probs(self) -> Any:
        """Probabilities of the indices."""
        return self._categorical.probs

    def rsample(self, sample_shape: Any = Size()) -> Any:
        u = clamp_probs(F.rand(self._extended_shape(sample_shape), dtype=self.logits.dtype, device=self.logits.device))
        return ((self.logits - (-u.log()).log()) / self.temperature).log_softmax(-1)

    def log_prob(self, value: Any) -> Any:
        if self._validate_args:
            self._validate_sample(value)
        n = self._event_shape[0]
        logits, value = broadcast_all(self.logits, value)
        score = (logits - value * self.temperature).log_softmax(-1).sum(-1)
        return score + math.lgamma(n) + (n - 1) * self.temperature.log()


class RelaxedOneHotCategorical(TransformedDistribution):
    """A differentiable distribution on the simplex that approaches OneHotCategorical as temperature falls.

    Parameters: as in ExpRelaxedCategorical."""

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}
    support = constraints.simplex
    has_rsample = True
    expand = expand_parameters
    base_dist: ExpRelaxedCategorical

    def __init__(self, temperature: Any, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
        base = ExpRelaxedCategorical(temperature, probs, logits, validate_args=validate_args)
        super().__init__(base, ExpTransform(), validate_args=validate_args)

    @property
    def temperature(self) -> Any:
        """Temperature of the relaxation."""
        return self.base_dist.temperature

    @property
    def logits(self) -> Any:
        """Logarithms of the probabilities of the indices."""
        return self.base_dist.logits

    @property
    def probs(self) -> Any:
        """Probabilities of the indices."""
        return self.base_dist.probs
