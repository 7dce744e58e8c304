"""Distribution: the base of all distributions."""

from __future__ import annotations

import warnings
from typing import Any

from wengert.autograd.grad_mode import no_grad
from wengert.core.tensor import TensorBase
from wengert.distributions.constraints import is_dependent
from wengert.distributions.utils import lazy_property
from wengert.sizes import Size

__all__ = ["Distribution"]


class Distribution:
    """A family of distributions, one for each index of batch_shape, of events of shape event_shape.

    Samples have shape sample_shape + batch_shape + event_shape, log_prob the shape sample_shape + batch_shape.

    validate_args: whether parameters and values are checked; None means as set_default_validate_args says. Raises ValueError if
    a parameter violates its constraint."""

    has_rsample = False  # whether samples of rsample are differentiable in the parameters
    has_enumerate_support = False
    _validate_args: bool = __debug__
    _expanded: tuple[str, ...] = ()  # names of the parameters and distributions of batch_shape, which expand_parameters expands
    _kept: tuple[str, ...] = ()  # names of the other attributes of an instance

    @staticmethod
    def set_default_validate_args(value: bool) -> None:
        """Set whether new distributions check their parameters and values. Raises ValueError unless value is True or False."""
        if value not in (True, False):
            raise ValueError
        Distribution._validate_args = value

    def __init__(self, batch_shape: Any = Size(), event_shape: Any = Size(), validate_args: bool | None = None) -> None:
        self._batch_shape = batch_shape
        self._event_shape = event_shape
        if validate_args is not None:
            self._validate_args = validate_args
        if self._validate_args:
            self._check_parameters()

    def _check_parameters(self) -> None:
        try:
            arg_constraints = self.arg_constraints
        except NotImplementedError:
            arg_constraints = {}
            warnings.warn(
                f"{self.__class__} does not define `arg_constraints`. Please set `arg_constraints = {{}}` or initialize the "
                "distribution with `validate_args=False` to turn off validation.",
                stacklevel=3,
            )
        for name, constraint in arg_constraints.items():
            if is_dependent(constraint):
                continue
            if name not in self.__dict__ and isinstance(getattr(type(self), name), lazy_property):
                continue  # it will be computed from another parameter
            value = getattr(self, name)
            if not constraint.check(value).all():
                raise ValueError(
                    f"Expected parameter {name} ({type(value).__name__} of shape {tuple(value.shape)}) of distribution {self!r} "
                    f"to satisfy the constraint {constraint!r}, but found invalid values:\n{value}"
                )

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        """Return the distribution with its parameters expanded to batch_shape, as by Tensor.expand.

        _instance: an instance of a subclass that gets the parameters; subclasses with an __init__ of their own pass it."""
        raise NotImplementedError

    def _part_shape(self, name: str, batch_shape: Size) -> Size:
        """Return the batch shape of the distribution that the attribute `name` holds, for a batch_shape of this one."""
        return batch_shape

    def _get_checked_instance(self, cls: type, _instance: Any = None) -> Any:
        """Return _instance, or a new instance without attributes if the class has the __init__ of cls."""
        if _instance is not None:
            return _instance
        if type(self).__init__ is not cls.__init__:  # type: ignore[misc]
            raise NotImplementedError(
                f"Subclass {type(self).__name__} of {cls.__name__} that defines a custom __init__ method must also define a "
                "custom .expand() method."
            )
        return self.__new__(type(self))

    @property
    def batch_shape(self) -> Size:
        """Shape of the batch of distributions."""
        return self._batch_shape

    @property
    def event_shape(self) -> Size:
        """Shape of an event."""
        return self._event_shape

    @property
    def arg_constraints(self) -> dict[str, Any]:
        """Constraints of the parameters, by name."""
        raise NotImplementedError

    @property
    def support(self) -> Any:
        """Constraint of the samples."""
        raise NotImplementedError

    @property
    def mean(self) -> Any:
        """Mean, of shape batch_shape + event_shape."""
        raise NotImplementedError

    @property
    def mode(self) -> Any:
        """The most probable value, of shape batch_shape + event_shape."""
        raise NotImplementedError(f"{self.__class__} does not implement mode")

    @property
    def variance(self) -> Any:
        """Variance of each element of an event, of shape batch_shape + event_shape."""
        raise NotImplementedError

    @property
    def stddev(self) -> Any:
        """Square root of the variance."""
        return self.variance.sqrt()

    def sample(self, sample_shape: Any = Size()) -> Any:
        """Draw samples of shape sample_shape + batch_shape + event_shape, without history."""
        with no_grad():
            return self.rsample(sample_shape)

    def rsample(self, sample_shape: Any = Size()) -> Any:
        """Draw samples that are differentiable functions of the parameters. Raises NotImplementedError if has_rsample is False."""
        raise NotImplementedError

    def sample_n(self, n: int) -> Any:
        """Draw n samples: sample((n,)). Deprecated."""
        warnings.warn(
            "`sample_n(n)` will be deprecated. Use `sample((n,))` instead.", category=FutureWarning, stacklevel=2
        )
        return self.sample(Size((n,)))

    def log_prob(self, value: Any) -> Any:
        """Return the logarithm of the density or the probability at value.

        value: a tensor whose shape broadcasts with batch_shape + event_shape. Raises ValueError if it does not, or if the
        distribution checks its arguments and value is outside the support."""
        raise NotImplementedError

    def cdf(self, value: Any) -> Any:
        """Return the probability of numbers up to value."""
        raise NotImplementedError

    def icdf(self, value: Any) -> Any:
        """Return the quantiles of probabilities: the inverse of cdf."""
        raise NotImplementedError

    def enumerate_support(self, expand: bool = True) -> Any:
        """Return all values of a discrete distribution, along a new first dimension.

        expand: whether the result has shape (n,) + batch_shape + event_shape rather than 1 in place of batch_shape."""
        raise NotImplementedError

    def entropy(self) -> Any:
        """Return the entropy in nats, of shape batch_shape."""
        raise NotImplementedError

    def perplexity(self) -> Any:
        """Return the exponential of the entropy."""
        return self.entropy().exp()

    def _extended_shape(self, sample_shape: Any = Size()) -> Size:
        """Return the shape of samples."""
        return Size(sample_shape) + self._batch_shape + self._event_shape

    def _validate_sample(self, value: Any) -> None:
        """Check a value that log_prob, cdf or icdf gets. Raises ValueError."""
        if not isinstance(value, TensorBase):
            raise ValueError("The value argument to log_prob must be a Tensor")
        shape: Any = value.shape  # type: ignore[attr-defined]
        events = len(shape) - len(self._event_shape)
        if shape[events:] != self._event_shape:
            raise ValueError(
                f"The right-most size of value must match event_shape: {shape} vs {self._event_shape}."
            )
        expected = self._batch_shape + self._event_shape
        for i, j in zip(reversed(shape), reversed(expected), strict=False):
            if i != 1 and j != 1 and i != j:
                raise ValueError(f"Value is not broadcastable with batch_shape+event_shape: {shape} vs {expected}.")
        try:
            support = self.support
        except NotImplementedError:
            warnings.warn(
                f"{self.__class__} does not define `support` to enable sample validation. Please initialize the distribution "
                "with `validate_args=False` to turn off validation.",
                stacklevel=2,
            )
            return
        if not support.check(value).all():
            raise ValueError(
                f"Expected value argument ({type(value).__name__} of shape {tuple(shape)}) to be within the support "
                f"({support!r}) of the distribution {self!r}, but found invalid values:\n{value}"
            )

    def __repr__(self) -> str:
        found = [(name, self.__dict__[name]) for name in self.arg_constraints if name in self.__dict__]
        shown = [f"{name}: {value if value.numel() == 1 else value.size()}" for name, value in found]
        return f"{type(self).__name__}({', '.join(shown)})"


def expand_parameters(self: Any, batch_shape: Any, _instance: Any = None) -> Any:
    """Return the distribution with its parameters expanded to batch_shape: the method `expand` of most distributions.

    The attributes that _expanded names are distributions, or tensors of shape batch_shape plus dimensions of events."""
    home = next(cls for cls in type(self).__mro__ if vars(cls).get("expand") is expand_parameters)
    new = self._get_checked_instance(home, _instance)
    batch_shape = Size(batch_shape)
    batch_dims = len(self._batch_shape)
    for name in self._expanded:
        value = self.__dict__.get(name)
        if isinstance(value, Distribution):
            new.__dict__[name] = value.expand(self._part_shape(name, batch_shape))
        elif value is not None:
            new.__dict__[name] = value.expand(batch_shape + value.shape[batch_dims:])
    for name in self._kept:
        if name in self.__dict__:
            new.__dict__[name] = self.__dict__[name]
    new._batch_shape, new._event_shape, new._validate_args = batch_shape, self._event_shape, self._validate_args
    return new
