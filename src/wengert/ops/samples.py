"""Random numbers of more distributions: multinomial, poisson, binomial, gamma and Dirichlet, and others in place.

Samples of gamma and Dirichlet distributions are differentiable; other samples have no history.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from wengert import dtypes, errors
from wengert.backends.selection import backend_of, device_name, together
from wengert.core.tensor import wrap
from wengert.generator import generator_of, in_memory_order
from wengert.ops.draws import (
    check_floating,
    check_probability,
    draw_exponential,
    draw_like_self,
    fill_recorded,
    require,
    samples_of,
)
from wengert.ops.indices import checked, raw, sortable
from wengert.ops.registry import composite, general, plain

_GAMMA, _POISSON, _BINOMIAL = range(3)  # numbers of distributions in kernels/samplers.py
_MAX_RATE = 2.0**62  # of a Poisson distribution, so that its numbers fit in 64 bits


def _draw_by_rejection(generator: Any, kind: int, *parameters: Any) -> Any:
    """Draw from a distribution for each element of parameters, arrays that broadcast; the result has the dtype of the first."""
    a, b = backend_of(parameters).broadcast_arrays(parameters[0], parameters[-1])
    source = generator_of(generator, device_name(a))
    return source.by_rejection(kind, a.astype(np.float64), b.astype(np.float64)).astype(parameters[0].dtype)


@plain(method=True, out=True)
def multinomial(input, num_samples, replacement=False, *, generator=None):
    """Draw num_samples indices, as int64, with probabilities proportional to the weights in each row of input.

    input: (k) or (n, k), floating, >= 0, each row with a positive sum; returns (num_samples) or (n, num_samples). Without
    replacement the indices of a row are distinct. Raises RuntimeError for other weights, and for more samples than k
    without replacement.

    Derivative: none. If input requires grad, reinforce() gives it the gradient of the expected reward.

    >>> import wengert
    >>> wengert.multinomial(wengert.tensor([0.0, 1.0]), 3, replacement=True)
    tensor([1, 1, 1])
    """
    weights = raw(checked("multinomial", input))
    _check_weights(weights, num_samples, replacement)
    xp, source = backend_of(weights), generator_of(generator, device_name(weights))
    rows = xp.atleast_2d(weights)
    if replacement and num_samples > 1:
        # The index is the place of a random fraction of the total among the cumulative sums. It is clipped to the last
        # index of positive weight, because the fraction may round up to the total.
        sums = rows.astype(np.float64).cumsum(axis=1)
        fractions = source.uniform((len(rows), num_samples), np.dtype(np.float64))
        last = rows.shape[1] - 1 - (rows[:, ::-1] > 0).argmax(axis=1)
        indices = xp.minimum(_places(xp, sums, fractions), last[:, None])
    else:
        # The order of exponential waiting times whose rates are the weights is a draw without replacement. torch draws a
        # single index in this way, too.
        with np.errstate(divide="ignore"):
            rates = rows / draw_exponential(source, 1.0, rows.shape).astype(rows.dtype)
        rates = sortable(rates)
        order = rates.argmax(axis=1)[:, None] if num_samples == 1 else (-rates).argsort(axis=1, kind="stable")
        indices = order[:, :num_samples].astype(np.int64)
    return samples_of("multinomial", (input,), indices if weights.ndim == 2 else indices[0])


def _places(xp: Any, sums: Any, fractions: Any) -> Any:
    """Return where fractions of the totals lie among the cumulative sums of each row. sums: (n, k), fractions: (n, m)."""
    n, k = sums.shape
    if not isinstance(sums, np.ndarray):  # one search for all rows: row i takes the numbers from i to i + 1
        starts = xp.arange(n)[:, None]
        found = xp.searchsorted((sums / sums[:, -1:] + starts).ravel(), (fractions + starts).ravel(), side="right")
        return found.reshape(fractions.shape) - starts * k
    found = xp.empty(fractions.shape, np.int64)
    for row, points, places in zip(sums, fractions * sums[:, -1:], found, strict=True):
        places[:] = row.searchsorted(points, side="right")
    return found


def _check_weights(weights: Any, num_samples: int, replacement: bool) -> None:
    if weights.ndim not in (1, 2):
        raise errors.ShapeError("prob_dist must be 1 or 2 dim")
    if not dtypes.is_floating_point(weights.dtype):
        raise errors.ShapeError(
            "multinomial only supports floating-point dtypes for input, got: "
            f"{dtypes.from_numpy_dtype(weights.dtype).scalar_name}"
        )
    if num_samples <= 0:
        raise errors.ShapeError("cannot sample n_sample <= 0 samples")
    if not replacement and num_samples > weights.shape[-1]:
        raise errors.ShapeError("cannot sample n_sample > prob_dist.size(-1) samples without replacement")
    is_possible = backend_of(weights).isfinite(weights) & (weights >= 0)
    require(is_possible, errors.ShapeError, "probability tensor contains either `inf`, `nan` or element < 0")
    require(weights.sum(axis=-1) > 0, errors.ShapeError, "invalid multinomial distribution (sum of probabilities <= 0)")


@plain()
def poisson(input, generator=None):
    """Draw from Poisson distributions with the rates in input, in input's dtype. The sample has no history.

    input: any shape, floating, >= 0. Raises RuntimeError for other rates."""
    rates = raw(checked("poisson", input))
    if not dtypes.is_floating_point(rates.dtype):
        raise errors.unsupported_dtype("poisson_cpu", rates.dtype)
    require(rates >= 0, errors.ShapeError, "invalid Poisson rate, expected rate to be non-negative")
    is_small, message = rates.astype(np.float64) < _MAX_RATE, f"poisson: expected rates below {_MAX_RATE:g}"
    require(is_small, errors.ShapeError, message, lambda: f"{rates.max():g}")
    return wrap(_draw_by_rejection(generator, _POISSON, rates))


@plain()
def binomial(count, prob, generator=None):
    """Draw from binomial distributions: the number of successes in count trials of probability prob.

    count, prob: tensors that broadcast; the result has prob's dtype and no history."""
    n, p = together([raw(checked("binomial", count, "count")), raw(prob)])
    check_probability(p, "prob")
    return wrap(_draw_by_rejection(generator, _BINOMIAL, backend_of(n).trunc(n), p).astype(p.dtype, copy=False))


@general(complex=False, node="StandardGammaBackward0", method=False)
def _standard_gamma(xp, x, *, generator=None):
    """Draw from gamma distributions of shape parameter x and scale 1. x: floating, >= 0.

    Derivative: that of the sample with its quantile held fixed, -dP(x, out)/dx / p(out), where P is the cumulative
    distribution function and p the density (M. Figurnov and others, Implicit reparameterization gradients, 2018)."""
    return _draw_gamma(generator, x)


def _draw_gamma(generator, concentration):
    """Draw from gamma distributions of scale 1; no sample is below the least normal number of the dtype."""
    if concentration.dtype.kind in "biu":
        raise errors.unsupported_dtype("gamma_cpu", concentration.dtype)
    message = "gamma: expected concentrations >= 0"
    require(~(concentration < 0), errors.ElementError, message, lambda: f"{concentration.min():g}")
    with np.errstate(divide="ignore", over="ignore"):
        inverse = 1 / concentration
    found = _draw_by_rejection(generator, _GAMMA, concentration, inverse)
    return backend_of(found).maximum(found, found.dtype.type(_info(found).tiny))


def _info(array):
    return dtypes.finfo(dtypes.from_numpy_dtype(array.dtype))


@_standard_gamma.vjp("x")
def _(F, ct, x, out):
    return ct * F._standard_gamma_grad(x, out)


@composite()
def _standard_gamma_grad(F, x, y):
    """Derivative, in the shape parameter x, of a sample y of a gamma distribution with its quantile held fixed.

    Derivative: by quadrature, to any order; torch has none."""
    return -F._scaled_igamma(x, y, order=1)


@general(complex=False, method=False)
def _sample_dirichlet(xp, x, *, generator=None):
    """Draw from Dirichlet distributions with concentrations x along the last dimension; each sample sums to 1.

    Derivative: that of the sample with quantiles held fixed: of the element of a concentration, whose distribution is a beta
    distribution, and of the proportions of the others, which do not depend on it."""
    if x.dtype.kind in "biu":
        raise errors.unsupported_dtype("dirichlet", x.dtype)
    found = _draw_gamma(generator, x.astype(np.float64))
    info = _info(x)
    # A sample lies inside the simplex, also after rounding.
    return (found / found.sum(axis=-1, keepdims=True)).clip(info.tiny, 1 - info.eps / 2).astype(x.dtype)


@_sample_dirichlet.vjp("x")
def _(F, ct, x, out):
    ct = ct - F.sum(ct * out, dim=-1, keepdim=True)
    return ct * F._dirichlet_grad(out, x, F.sum(x, dim=-1, keepdim=True))


@composite()
def _dirichlet_grad(F, x, alpha, total):
    """Derivative of an element x of a Dirichlet sample in its concentration alpha, quantile held fixed, divided by 1 - x.

    total: the sum of all concentrations. It is 0 where x is 0 or 1.

    Derivative: by quadrature, to any order; torch has none."""
    rest = total - alpha
    density = F._beta_density(alpha, rest, x, k=0, j=-1)
    return F._zero_where(-F._betainc_by_parameters(alpha, rest, x, m=1, n=0) / density, density == 0)


# -- in place ----------------------------------------------------------------------------------------------------------


@plain(method=True, namespaces=())
def exponential_(self, lambd=1.0, *, generator=None):
    """Fill the tensor with numbers from the exponential distribution of rate lambd, and return it. Derivative: 0."""
    check_floating(self, "exponential_cpu")
    if not lambd > 0:
        raise errors.ShapeError(f"exponential_ expects lambda > 0.0, but found lambda={lambd:g}")
    source = generator_of(generator, device_name(self._array))
    values = in_memory_order(self._array, lambda shape: draw_exponential(source, lambd, shape))
    return fill_recorded(self, values, "ExponentialBackward0")


@plain(method=True, namespaces=())
def geometric_(self, p, *, generator=None):
    """Fill the tensor with geometric random numbers, the trials until a success of probability p. Derivative: 0."""
    if not 0 < p < 1:
        raise errors.ShapeError(f"geometric_ expects p to be in (0, 1), but got p={p:g}")
    with np.errstate(divide="ignore"):
        drawn, xp = draw_like_self(self, generator), backend_of(self._array)
        values = xp.ceil(xp.log(drawn) / math.log1p(-p))
    return fill_recorded(self, values, "GeometricBackward0")


@plain(method=True, namespaces=())
def cauchy_(self, median=0.0, sigma=1.0, *, generator=None):
    """Fill the tensor with numbers from the Cauchy distribution of this median and scale sigma. Derivative: 0."""
    check_floating(self, "cauchy_cpu")
    if not sigma > 0:
        raise errors.ShapeError(f"cauchy_ expects sigma > 0.0, but found sigma={sigma:g}")
    values = median + sigma * backend_of(self._array).tan(math.pi * (draw_like_self(self, generator) - 0.5))
    return fill_recorded(self, values, "CauchyBackward0")


@plain(method=True, namespaces=())
def log_normal_(self, mean=1.0, std=2.0, *, generator=None):
    """Fill the tensor with exponentials of normal numbers of the given mean and std, and return it. Derivative: 0."""
    check_floating(self, "log_normal_cpu")
    if not std > 0:
        raise errors.ShapeError(f"log_normal_ expects std > 0.0, but found std={std:g}")
    source = generator_of(generator, device_name(self._array))
    drawn = in_memory_order(self._array, lambda shape: source.normal(shape, np.dtype(np.float64), in_groups=False))
    return fill_recorded(self, backend_of(drawn).exp(drawn * std + mean), "LogNormalBackward0")
