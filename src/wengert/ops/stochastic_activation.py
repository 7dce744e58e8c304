"""Random activations: rrelu and gumbel_softmax."""

from __future__ import annotations

from typing import Any

from wengert import errors
from wengert.backends.selection import device_name
from wengert.generator import generator_of
from wengert.ops.indices import raw
from wengert.ops.registry import composite, nondifferentiable

_PRIVATE: dict[str, Any] = {"method": False, "namespaces": ()}


@nondifferentiable(**_PRIVATE)
def _random_slopes(xp, x, *, lower, upper, generator=None):
    """Draw a slope from [lower, upper) for each element x <= 0; 1 for the other elements."""
    slopes, is_negative, where = xp.ones(x.shape), x <= 0, device_name(x)
    source = generator_of(generator, where)
    if where == "cpu":
        slopes[is_negative] = source.uniform((int(is_negative.sum()),), slopes.dtype) * (upper - lower) + lower
    else:  # the number of draws would be waited for
        slopes = xp.where(is_negative, source.uniform(x.shape, slopes.dtype) * (upper - lower) + lower, slopes)
    return slopes.astype(x.dtype)


@composite(namespaces=("", "nn.functional"))
def rrelu(F, input, lower=1.0 / 8, upper=1.0 / 3, training=False, inplace=False, *, generator=None):
    """Randomised leaky ReLU: input where input > 0, else input times a slope.

    In training the slope of each element is drawn from [lower, upper); otherwise it is (lower + upper) / 2. input: any
    shape, floating. inplace: write into input. Raises RuntimeError for lower > upper.

    Derivative: 1 where input > 0, else the slope."""
    if lower > upper:
        raise errors.ShapeError("Lower bound should be less than or equal to the upper bound")
    if not training:
        return F.leaky_relu(input, (lower + upper) / 2, inplace)
    if raw(input).dtype.kind not in "fV":
        raise errors.unsupported_dtype("rrelu_with_noise_out_cpu", raw(input).dtype)
    slopes = F._random_slopes(input, lower=lower, upper=upper, generator=generator)
    return input.mul_(slopes) if inplace else input * slopes


@nondifferentiable(**_PRIVATE)
def _gumbel_noise(xp, x):
    """Draw from the Gumbel distribution, in x's shape and dtype."""
    waiting_times = -xp.log1p(-generator_of(None, device_name(x)).uniform(x.shape, xp.dtype("float64")))
    return -xp.log(waiting_times.astype(x.dtype))


@composite(namespaces=("nn.functional",))
def gumbel_softmax(F, logits, tau=1, hard=False, eps=1e-10, dim=-1):
    """Differentiable sample of classes: softmax((logits + noise) / tau) over dim, with noise from the Gumbel distribution.

    logits: (..., classes), floating. tau: temperature; a smaller tau gives samples closer to a single class. hard: return
    the largest class as a one-hot vector, with the derivative of the soft sample. eps: not used.

    Derivative: as softmax, divided by tau."""
    soft = F.softmax((logits + F._gumbel_noise(logits)) / tau, dim=dim)
    if not hard:
        return soft
    largest = F.argmax(soft, dim=dim, keepdim=True)
    one_hot = F.scatter(F.zeros_like(soft.detach()), dim, largest, 1.0)
    return one_hot - soft.detach() + soft
