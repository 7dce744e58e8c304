"""Random numbers: of a given size (rand, randn, randint), from parameters (bernoulli, multinomial, normal), and in place.

All functions draw from generator=, a wengert.Generator, or from the default generator of the device of the result. Samples of
gamma and Dirichlet distributions are differentiable; other samples have no history. The gradient of a tensor that is filled in
place is 0.
Samples of bernoulli, multinomial and normal whose parameters require grad can be given a reward: see stochastic.py.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from wengert import dtypes, errors
from wengert.backends.selection import backend_of, beside, check_later, device_name, is_array, others, placed, together
from wengert.core.dispatch import propagate_volatile
from wengert.core.tensor import TensorBase, wrap
from wengert.generator import Generator, generator_of, in_memory_order
from wengert.ops.indices import checked, raw, sortable
from wengert.ops.inplace import write_inplace
from wengert.ops.options import numpy_dtype, place_of, sizes_of, tensor_from
from wengert.ops.registry import NONE, composite, creation, general, plain


def _samples_of(distribution: str, parameters: tuple[Any, ...], array: Any) -> Any:
    from wengert.ops.stochastic import samples_of  # rewards for samples are rarely used

    return samples_of(distribution, parameters, beside(array, *map(raw, parameters)))


# -- arrays of random numbers ------------------------------------------------------------------------------------------


def _draw_uniform(source: Generator, shape: tuple, dtype: Any) -> Any:
    """Draw uniform numbers from [0, 1) in a floating dtype; for a complex dtype, both parts."""
    if dtype == np.float32 or dtype == np.float64:
        return source.uniform(shape, dtype)
    if dtype.kind == "c":
        return source.uniform((*shape, 2), np.dtype(dtype.type(0).real)).view(dtype).reshape(shape)
    if not dtypes.is_floating_point(dtype):
        raise errors.unsupported_dtype("check_uniform_bounds", dtype)
    return _below(source.uniform(shape, np.dtype(np.float32)).astype(dtype), 0, 1)


def _below(values: Any, low: Any, high: Any) -> Any:
    """Replace numbers of [low, high) that rounding took to high by low, as torch does."""
    scalar = values.dtype.type
    return backend_of(values).where(values == scalar(high), scalar(low), values)


def _draw_normal(source: Generator, shape: tuple, dtype: Any, in_groups: bool = True) -> Any:
    """Draw normal numbers. Parameters as in Generator.normal. Raises NotImplementedError for other dtypes than floating ones."""
    if not dtypes.is_differentiable(dtype):
        raise errors.unsupported_dtype("normal_kernel_cpu", dtype)
    return source.normal(shape, dtype, in_groups)


def _draw_integers(source: Generator, low: Any, high: Any, shape: tuple, dtype: Any, is_long: bool | None = None) -> Any:
    """Draw integers from [low, high), in any dtype. is_long: as in Generator.integers."""
    low, high = int(low), int(high)
    if low >= high:
        raise errors.ShapeError(f"random_ expects 'from' to be less than 'to', but got from={low} >= to={high}")
    values = source.integers(shape, high - low, is_long)
    if high <= 2**63:
        # The sum of two's complements is right modulo 2**64.
        values += np.uint64(low % 2**64)
        values = values.view(np.int64)
    return values.astype(dtype, copy=False)


def _as_int(op: str, argument: str, value: Any) -> int:
    """Convert an argument to an int. Raises TypeError, in torch's words, if it is no number."""
    try:
        return int(value)
    except TypeError:
        raise errors.wrong_argument_type(op, argument, 0, type(value), "int") from None


def _draw_exponential(source: Generator, rate: Any, shape: tuple) -> Any:
    """Draw from the exponential distribution, in float64."""
    drawn = source.uniform(shape, np.dtype(np.float64))
    return -1 / rate * backend_of(drawn).log1p(-drawn)


_GAMMA, _POISSON, _BINOMIAL = range(3)  # numbers of distributions in kernels/samplers.py
_MAX_RATE = 2.0**62  # of a Poisson distribution, so that its numbers fit in 64 bits


def _draw_by_rejection(generator: Any, kind: int, *parameters: Any) -> Any:
    """Draw from a distribution for each element of parameters, arrays that broadcast; the result has the dtype of the first."""
    a, b = backend_of(parameters).broadcast_arrays(parameters[0], parameters[-1])
    source = generator_of(generator, device_name(a))
    return source.by_rejection(kind, a.astype(np.float64), b.astype(np.float64)).astype(parameters[0].dtype)


def _source_for(generator: Any, options: dict[str, Any]) -> Generator:
    """Return the generator of the numbers of a creation function, whose options name the device."""
    return generator_of(generator, place_of(options.get("device")))


# -- tensors of a given size -------------------------------------------------------------------------------------------


@creation()
def rand(*sizes, size=None, generator=None, dtype=None, **options):
    """Return uniform random numbers from [0, 1): rand(2, 3) or rand((2, 3)).

    dtype: floating or complex, the default dtype if None. generator: a wengert.Generator, or None for the default one."""
    drawn = _draw_uniform(_source_for(generator, options), sizes_of("rand", sizes, size), numpy_dtype(dtype))
    return tensor_from("rand", drawn, options)


@creation()
def randn(*sizes, size=None, generator=None, dtype=None, **options):
    """Return random numbers from the normal distribution of mean 0 and variance 1: randn(2, 3) or randn((2, 3)).

    dtype: floating or complex, the default dtype if None; real and imaginary part of complex numbers have variance 1/2."""
    drawn = _draw_normal(_source_for(generator, options), sizes_of("randn", sizes, size), numpy_dtype(dtype))
    return tensor_from("randn", drawn, options)


@creation()
def randint(*bounds, low=0, high=None, size=None, generator=None, dtype=None, **options):
    """Return uniform random integers from [low, high): randint(low, high, size), or randint(high, size) with low = 0.

    dtype: int64 if None. Raises RuntimeError unless low < high.

    >>> import wengert
    >>> bool((wengert.randint(3, 5, (10,)) >= 3).all())
    True
    """
    if bounds and isinstance(bounds[-1], (tuple, list)):
        bounds, size = bounds[:-1], bounds[-1]
    if len(bounds) > 2:
        raise errors.too_many_arguments("randint", 3, len(bounds) + 1)
    if bounds:
        low, high = bounds if len(bounds) == 2 else (bounds[0], high) if high is not None else (low, bounds[0])
    for name, value in (("high", high), ("size", size)):
        if value is None:
            raise errors.missing_argument("randint", name)
    low, high = _as_int("randint", "low", low), _as_int("randint", "high", high)
    shape = sizes_of("randint", (tuple(size),))
    wanted = numpy_dtype(int if dtype is None else dtype)
    return tensor_from("randint", _draw_integers(_source_for(generator, options), low, high, shape, wanted), options)


@creation()
def randperm(n, *, generator=None, dtype=None, **options):
    """Return a random permutation of 0, ..., n - 1, in int64 unless dtype is given. Raises RuntimeError for n < 0."""
    n = _as_int("randperm", "n", n)
    if n < 0:
        raise errors.ShapeError(f"n must be non-negative, got{n}")
    order = _source_for(generator, options).permutation(n)
    return tensor_from("randperm", order.astype(numpy_dtype(int if dtype is None else dtype), copy=False), options)


def _drawn_like(op: str, input: Any, generator: Any, dtype: Any, draw: Callable[[Any, tuple, Any], Any], options: Any) -> Any:
    """Tensor of draw(source, shape, dtype) with the shape and memory order of input, and its dtype if dtype is None."""
    array = raw(checked(op, input))
    options.setdefault("device", device_name(array))
    source, wanted = _source_for(generator, options), array.dtype if dtype is None else numpy_dtype(dtype)
    return tensor_from(op, in_memory_order(array, lambda shape: draw(source, shape, wanted)), options)


@creation()
def rand_like(input, *, generator=None, dtype=None, **options):
    """rand() with the shape of a tensor, and its dtype unless dtype is given."""
    return _drawn_like("rand_like", input, generator, dtype, _draw_uniform, options)


@creation()
def randn_like(input, *, generator=None, dtype=None, **options):
    """randn() with the shape of a tensor, and its dtype unless dtype is given."""
    return _drawn_like("randn_like", input, generator, dtype, _draw_normal, options)


@creation()
def randint_like(input, low=None, high=None, *, generator=None, dtype=None, **options):
    """randint(low, high), or randint(high), with the shape of a tensor, and its dtype unless dtype is given."""
    if high is None:
        if low is None:
            raise errors.missing_argument("randint_like", "high")
        low, high = 0, low
    low = 0 if low is None else low
    def draw(source: Generator, shape: tuple, wanted: Any) -> Any:
        return _draw_integers(source, low, high, shape, wanted)

    return _drawn_like("randint_like", input, generator, dtype, draw, options)


# -- samples of distributions with given parameters --------------------------------------------------------------------


def _require(condition: Any, kind: type[Exception], message: str, found: Callable[[], str] | None = None) -> None:
    """Raise an error unless a condition, a bool or an array of bools, holds everywhere. On a device, note it for later.

    found: says what was found instead."""
    if type(condition) in others:
        check_later((~condition).any(), message)
    elif not np.all(condition):
        raise kind(message if found is None else f"{message}, but found {found()}")


def _check_probability(p: Any, name: str) -> None:
    _require((p >= 0) & (p <= 1), errors.ShapeError, f"Expected {name} >= 0 && {name} <= 1 to be true, but got false.")


def _draw_bernoulli(source: Generator, p: Any, array: Any) -> Any:
    """Draw 1 with probability p, else 0, in the shape, dtype and memory order of an array.

    Probabilities in float32 or in a 16-bit dtype, in an array, are compared with float32 numbers, others with float64 numbers."""
    is_single = is_array(p) and dtypes.is_floating_point(p.dtype) and p.dtype.itemsize <= 4
    p = p.astype(np.float32) if is_single else p
    draws = in_memory_order(array, lambda shape: source.uniform(shape, np.dtype(np.float32 if is_single else np.float64)))
    return backend_of(draws).asarray(draws < p).astype(array.dtype)


@plain(method=True, out=True)
def bernoulli(input, p=None, *, generator=None):
    """Draw 1 with probability input, else 0, for each element, in input's dtype.

    input: any shape, floating, 0 <= input <= 1. p: a probability, number or tensor, used in place of input, which then
    only gives shape and dtype. Raises RuntimeError for probabilities out of range.

    Derivative: none. If the probabilities require grad, reinforce() gives them the gradient of the expected reward."""
    array = raw(checked("bernoulli", input))
    if p is None:
        if not dtypes.is_floating_point(array.dtype):
            raise errors.unsupported_dtype("bernoulli_tensor_cpu_p_", array.dtype)
        p = input
        _check_probability(array, "p_in")
    else:
        _check_probability(raw(p), "p")
    source, xp = generator_of(generator, device_name(array)), backend_of(array)
    drawn = _draw_bernoulli(source, placed(raw(p), array), xp.empty(array.shape, array.dtype))
    samples = _samples_of("bernoulli", (p,), drawn)
    propagate_volatile((input,), (samples,))
    return samples


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
            rates = rows / _draw_exponential(source, 1.0, rows.shape).astype(rows.dtype)
        rates = sortable(rates)
        order = rates.argmax(axis=1)[:, None] if num_samples == 1 else (-rates).argsort(axis=1, kind="stable")
        indices = order[:, :num_samples].astype(np.int64)
    return _samples_of("multinomial", (input,), indices if weights.ndim == 2 else indices[0])


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
    _require(is_possible, errors.ShapeError, "probability tensor contains either `inf`, `nan` or element < 0")
    _require(weights.sum(axis=-1) > 0, errors.ShapeError, "invalid multinomial distribution (sum of probabilities <= 0)")


@plain()
def normal(mean=0.0, std=1.0, size=None, *, generator=None, dtype=None, **options):
    """Draw from normal distributions: normal(mean, std), normal(mean), or normal(mean=0.0, std=1.0, size=(2, 3)).

    mean, std: tensors that broadcast, or numbers. size: required if both are numbers, and refused otherwise. Raises
    RuntimeError for a negative std.

    Derivative: none. If mean or std requires grad, reinforce() gives it the gradient of the expected reward."""
    parameters = (mean, std)
    mean, std = together([raw(mean), raw(std)])
    _check_std(std)
    arrays = [x for x in (mean, std) if is_array(x)]
    where = device_name(arrays[0]) if arrays else place_of(options.get("device"))
    if size is not None:
        if arrays:
            raise errors.ArgumentError("normal() takes a size only where mean and std are numbers")
        shape, wanted = sizes_of("normal", (size,)), numpy_dtype(dtype)
    elif not arrays:
        raise errors.missing_argument("normal", "size")
    else:
        try:
            shape = np.broadcast_shapes(*[x.shape for x in arrays])
        except ValueError:
            raise errors.broadcast_shapes(*[x.shape for x in arrays]) from None
        wanted = dtypes.resolve(dtypes.SAME, arrays)
    values = _scaled(_draw_normal(generator_of(generator, where), shape, wanted), mean, std)
    return tensor_from("normal", values, options) if options else _samples_of("normal", parameters, values)


def _check_std(std: Any) -> None:
    if is_array(std):
        _require(std >= 0, errors.ShapeError, "normal expects all elements of std >= 0.0")
    else:
        _require(std >= 0, errors.ShapeError, "normal expects std >= 0.0", lambda: f"std {std:g}")


def _scaled(drawn: Any, mean: Any, std: Any) -> Any:
    """Return drawn * std + mean in drawn's dtype. A number is the mean of both parts of complex numbers, as in torch."""
    if drawn.dtype.kind == "c" and not is_array(mean):
        mean = complex(mean, mean)
    return backend_of(drawn).asarray(drawn * std + mean).astype(drawn.dtype, copy=False)


@plain()
def poisson(input, generator=None):
    """Draw from Poisson distributions with the rates in input, in input's dtype. The sample has no history.

    input: any shape, floating, >= 0. Raises RuntimeError for other rates."""
    rates = raw(checked("poisson", input))
    if not dtypes.is_floating_point(rates.dtype):
        raise errors.unsupported_dtype("poisson_cpu", rates.dtype)
    _require(rates >= 0, errors.ShapeError, "invalid Poisson rate, expected rate to be non-negative")
    is_small, message = rates.astype(np.float64) < _MAX_RATE, f"poisson: expected rates below {_MAX_RATE:g}"
    _require(is_small, errors.ShapeError, message, lambda: f"{rates.max():g}")
    return wrap(_draw_by_rejection(generator, _POISSON, rates))


@plain()
def binomial(count, prob, generator=None):
    """Draw from binomial distributions: the number of successes in count trials of probability prob.

    count, prob: tensors that broadcast; the result has prob's dtype and no history."""
    n, p = together([raw(checked("binomial", count, "count")), raw(prob)])
    _check_probability(p, "prob")
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
    _require(~(concentration < 0), errors.ElementError, message, lambda: f"{concentration.min():g}")
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


# -- random numbers in place -------------------------------------------------------------------------------------------


@general(promote=NONE, method=False, namespaces=(), node=lambda inputs, params: params["node"])
def _overwrite(xp, x, *, values, node):
    """A copy of values, which replaces x. Derivative: 0."""
    return xp.array(values)


@_overwrite.vjp("x")
def _(F, ct):
    return F.zeros_like(ct)


def _store(x: Any, *, values: Any, node: str) -> None:
    x[...] = placed(values, x)


def _fill_recorded(self: Any, values: Any, node: str) -> Any:
    """Write values into a tensor in place, recorded under the node name `node`."""
    return write_inplace(_overwrite, (self,), {"values": values, "node": node}, _store)


def _draw_like_self(self: Any, generator: Any) -> Any:
    """Draw a uniform number from [0, 1) for each element of a tensor."""
    return generator_of(generator, device_name(self._array)).uniform_like(self._array)


def _check_floating(self: Any, kernel: str) -> None:
    if not dtypes.is_differentiable(self._array.dtype):
        raise errors.unsupported_dtype(kernel, self._array.dtype)


def _from_and_to(op: str, args: tuple, keywords: dict[str, Any], defaults: tuple) -> tuple:
    """Return the arguments (from, to). `from` is a Python keyword and cannot be a parameter, so it comes in `keywords`."""
    if len(args) > 2:
        raise errors.too_many_arguments(op, 2, len(args))
    values = list(args) + list(defaults[len(args) :])
    for position, name in enumerate(("from", "to")):
        if name in keywords:
            values[position] = keywords.pop(name)
    for name in keywords:
        raise errors.unexpected_keyword(op, name)
    return tuple(values)


@plain(method=True, namespaces=())
def uniform_(self, *bounds, generator=None, **keywords):
    """Fill the tensor with uniform random numbers from [from, to), by default [0, 1), and return it. Derivative: 0."""
    low, high = _from_and_to("uniform_", bounds, keywords, (0.0, 1.0))
    _check_floating(self, "check_uniform_bounds")
    if low > high:
        raise errors.ShapeError(f"uniform_ expects to return a [from, to) range, but found from={low:g} > to={high:g}")
    dtype = self._array.dtype

    part = np.dtype(dtype.type(0).real) if dtype.kind == "c" else dtype
    lower, upper = np.array([low, high], np.result_type(part, np.float32))
    length = float(upper - lower)

    source = generator_of(generator, device_name(self._array))

    def draw(shape: tuple) -> Any:
        if (low, high) == (0.0, 1.0):
            return _draw_uniform(source, shape, dtype)
        numbers = _draw_uniform(source, (*shape, 2) if dtype.kind == "c" else shape, np.result_type(part, np.float32))
        # torch rounds once, after the sum. float64 holds the product of float32 numbers.
        numbers = (numbers.astype(np.float64) * length + float(lower)).astype(part)
        return _below(numbers, lower, upper).view(dtype).reshape(shape)

    return _fill_recorded(self, in_memory_order(self._array, draw), "UniformBackward0")


@plain(method=True, namespaces=())
def normal_(self, mean=0.0, std=1.0, *, generator=None):
    """Fill the tensor with normal random numbers of the given mean and std, and return it. Derivative: 0."""
    _check_floating(self, "normal_kernel_cpu")
    _check_std(std)
    array = self._array
    source, in_groups = generator_of(generator, device_name(array)), array.flags.c_contiguous
    drawn = in_memory_order(array, lambda shape: _draw_normal(source, shape, array.dtype, in_groups))
    return _fill_recorded(self, _scaled(drawn, mean, std), "NormalBackward0")


@plain(method=True, namespaces=())
def random_(self, *bounds, generator=None, **keywords):
    """Fill the tensor with random integers, random_(to), random_(from, to) or random_(), and return it. Derivative: 0.

    The range is [0, to) or [from, to). random_() draws from 0 up to the dtype's largest integer; for a floating dtype, up
    to the largest integer below which it represents all integers."""
    node = f"RandomBackward{2 if not bounds and not keywords else 1 if len(bounds) == 1 else 0}"
    if len(bounds) == 1 and "to" not in keywords:
        bounds = (0, bounds[0])
    low, high = _from_and_to("random_", bounds, keywords, (0, None))
    dtype = self._array.dtype
    is_long = None
    if high is None:
        is_long = dtype.itemsize == 8
        d = dtypes.from_numpy_dtype(dtype)
        if d.is_floating_point:
            high = 2 ** round(1 - math.log2(dtypes.finfo(d).eps)) + 1
        else:
            high = 2 if d is dtypes.bool_ else dtypes.iinfo(d).max + 1
    source = generator_of(generator, device_name(self._array))
    values = in_memory_order(self._array, lambda shape: _draw_integers(source, low, high, shape, dtype, is_long))
    return _fill_recorded(self, values, node)


@plain(method=True, namespaces=())
def bernoulli_(self, p=0.5, *, generator=None):
    """Fill the tensor with 1 with probability p, else 0, and return it. Derivative: 0.

    p: a number, or a tensor that broadcasts to this one."""
    node = f"BernoulliBackward{1 if isinstance(p, TensorBase) else 2}"
    p = placed(raw(p), self._array)
    _check_probability(p, "p")
    source = generator_of(generator, device_name(self._array))
    return _fill_recorded(self, _draw_bernoulli(source, p, self._array), node)


@plain(method=True, namespaces=())
def exponential_(self, lambd=1.0, *, generator=None):
    """Fill the tensor with numbers from the exponential distribution of rate lambd, and return it. Derivative: 0."""
    _check_floating(self, "exponential_cpu")
    if not lambd > 0:
        raise errors.ShapeError(f"exponential_ expects lambda > 0.0, but found lambda={lambd:g}")
    source = generator_of(generator, device_name(self._array))
    values = in_memory_order(self._array, lambda shape: _draw_exponential(source, lambd, shape))
    return _fill_recorded(self, values, "ExponentialBackward0")


@plain(method=True, namespaces=())
def geometric_(self, p, *, generator=None):
    """Fill the tensor with geometric random numbers, the trials until a success of probability p. Derivative: 0."""
    if not 0 < p < 1:
        raise errors.ShapeError(f"geometric_ expects p to be in (0, 1), but got p={p:g}")
    with np.errstate(divide="ignore"):
        drawn, xp = _draw_like_self(self, generator), backend_of(self._array)
        values = xp.ceil(xp.log(drawn) / math.log1p(-p))
    return _fill_recorded(self, values, "GeometricBackward0")


@plain(method=True, namespaces=())
def cauchy_(self, median=0.0, sigma=1.0, *, generator=None):
    """Fill the tensor with numbers from the Cauchy distribution of this median and scale sigma. Derivative: 0."""
    _check_floating(self, "cauchy_cpu")
    if not sigma > 0:
        raise errors.ShapeError(f"cauchy_ expects sigma > 0.0, but found sigma={sigma:g}")
    values = median + sigma * backend_of(self._array).tan(math.pi * (_draw_like_self(self, generator) - 0.5))
    return _fill_recorded(self, values, "CauchyBackward0")


@plain(method=True, namespaces=())
def log_normal_(self, mean=1.0, std=2.0, *, generator=None):
    """Fill the tensor with exponentials of normal numbers of the given mean and std, and return it. Derivative: 0."""
    _check_floating(self, "log_normal_cpu")
    if not std > 0:
        raise errors.ShapeError(f"log_normal_ expects std > 0.0, but found std={std:g}")
    source = generator_of(generator, device_name(self._array))
    drawn = in_memory_order(self._array, lambda shape: source.normal(shape, np.dtype(np.float64), in_groups=False))
    return _fill_recorded(self, backend_of(drawn).exp(drawn * std + mean), "LogNormalBackward0")
