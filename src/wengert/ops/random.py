"""Random numbers: of a given size (rand, randn, randint), from parameters (bernoulli, normal), and in place. More: samples.py.

All functions draw from generator=, a wengert.Generator, or from the default generator of the device of the result. The samples
have no history. The gradient of a tensor that is filled in place is 0.
Samples of bernoulli, multinomial and normal whose parameters require grad can be given a reward: see stochastic.py.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from wengert import dtypes, errors
from wengert.backends.selection import backend_of, device_name, is_array, placed, together
from wengert.core.dispatch import propagate_volatile
from wengert.core.tensor import TensorBase
from wengert.generator import Generator, generator_of, in_memory_order
from wengert.ops.draws import check_floating, check_probability, fill_recorded, require, samples_of
from wengert.ops.indices import checked, raw
from wengert.ops.options import numpy_dtype, place_of, sizes_of, tensor_from
from wengert.ops.registry import NONE, creation, general, plain

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
        check_probability(array, "p_in")
    else:
        check_probability(raw(p), "p")
    source, xp = generator_of(generator, device_name(array)), backend_of(array)
    drawn = _draw_bernoulli(source, placed(raw(p), array), xp.empty(array.shape, array.dtype))
    samples = samples_of("bernoulli", (p,), drawn)
    propagate_volatile((input,), (samples,))
    return samples


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
    return tensor_from("normal", values, options) if options else samples_of("normal", parameters, values)


def _check_std(std: Any) -> None:
    if is_array(std):
        require(std >= 0, errors.ShapeError, "normal expects all elements of std >= 0.0")
    else:
        require(std >= 0, errors.ShapeError, "normal expects std >= 0.0", lambda: f"std {std:g}")


def _scaled(drawn: Any, mean: Any, std: Any) -> Any:
    """Return drawn * std + mean in drawn's dtype. A number is the mean of both parts of complex numbers, as in torch."""
    if drawn.dtype.kind == "c" and not is_array(mean):
        mean = complex(mean, mean)
    return backend_of(drawn).asarray(drawn * std + mean).astype(drawn.dtype, copy=False)


# -- random numbers in place -------------------------------------------------------------------------------------------


@general(promote=NONE, method=False, namespaces=(), node=lambda inputs, params: params["node"])
def _overwrite(xp, x, *, values, node):
    """A copy of values, which replaces x. Derivative: 0."""
    return xp.array(values)


@_overwrite.vjp("x")
def _(F, ct):
    return F.zeros_like(ct)


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
    check_floating(self, "check_uniform_bounds")
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

    return fill_recorded(self, in_memory_order(self._array, draw), "UniformBackward0")


@plain(method=True, namespaces=())
def normal_(self, mean=0.0, std=1.0, *, generator=None):
    """Fill the tensor with normal random numbers of the given mean and std, and return it. Derivative: 0."""
    check_floating(self, "normal_kernel_cpu")
    _check_std(std)
    array = self._array
    source, in_groups = generator_of(generator, device_name(array)), array.flags.c_contiguous
    drawn = in_memory_order(array, lambda shape: _draw_normal(source, shape, array.dtype, in_groups))
    return fill_recorded(self, _scaled(drawn, mean, std), "NormalBackward0")


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
    return fill_recorded(self, values, node)


@plain(method=True, namespaces=())
def bernoulli_(self, p=0.5, *, generator=None):
    """Fill the tensor with 1 with probability p, else 0, and return it. Derivative: 0.

    p: a number, or a tensor that broadcasts to this one."""
    node = f"BernoulliBackward{1 if isinstance(p, TensorBase) else 2}"
    p = placed(raw(p), self._array)
    check_probability(p, "p")
    source = generator_of(generator, device_name(self._array))
    return fill_recorded(self, _draw_bernoulli(source, p, self._array), node)
