"""Distributions of vectors that count the draws of a categorical distribution."""

from __future__ import annotations

from typing import Any

from wengert.distributions import constraints
from wengert.distributions.categorical import Categorical
from wengert.distributions.distribution import Distribution
from wengert.sizes import Size


class OfCategorical(Distribution):
    """Base class. probs, logits: as in Categorical. A subclass has the method `expand`, which names it."""

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}
    _expanded = ("_categorical",)

    def __init__(self, probs: Any, logits: Any, validate_args: bool | None) -> None:
        self._categorical = Categorical(probs, logits)
        super().__init__(self._categorical.batch_shape, self._categorical.param_shape[-1:], validate_args=validate_args)

    @property
    def probs(self) -> Any:
        """Probabilities of the indices."""
        return self._categorical.probs

    @property
    def logits(self) -> Any:
        """Logarithms of the probabilities."""
        return self._categorical.logits

    @property
    def param_shape(self) -> Size:
        """Shape of the parameter."""
        return self._categorical.param_shape
