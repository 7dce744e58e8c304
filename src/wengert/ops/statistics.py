"""Quantiles, mode, histograms, covariance, nanmean, hash_tensor, dist, renorm and frexp."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from wengert import dtypes, errors, return_types
from wengert.backends.selection import backend_of, is_array
from wengert.core.stacks import user_level
from wengert.core.tensor import wrap
from wengert.core.watched import of_arrays
from wengert.kernels import scans
from wengert.ops.dims import as_dims, normalize_dim, normalize_dims
from wengert.ops.indices import Along, checked, raw, sortable
from wengert.ops.registry import NONE, composite, general, nondifferentiable, plain

_PRIVATE: dict[str, Any] = {"method": False, "namespaces": ()}
_INTERPOLATIONS = ("linear", "lower", "higher", "midpoint", "nearest")


@nondifferentiable(promote=NONE, keyword_only=frozenset({"keepdim", "mode"}))
def hash_tensor(xp, x, *, dim=None, keepdim=False, mode=0):
    """Hash of the elements over dim: the bitwise exclusive or of their 64-bit words, uint64.

    x: any real dtype except uint16, uint32 and uint64 (NotImplementedError); floats are cast to float64, integers and
    bools to int64. dim: an int, a tuple, or None for all dimensions. mode: 0. Raises RuntimeError if there is nothing to
    reduce.

    >>> import wengert
    >>> wengert.hash_tensor(wengert.tensor([1, 2, 4]))
    tensor(7, dtype=torch.uint64)
    """
    if mode != 0:
        raise errors.ShapeError(f"Unknown hash_tensor mode: {mode}. Hint: 0 is the only one.")
    if x.dtype.kind == "c" or (x.dtype.kind == "u" and x.dtype.itemsize > 1):
        raise errors.unsupported_dtype("xor_sum_cpu", x.dtype)
    dims = normalize_dims(dim, x.ndim)
    if not x.size and (dim is None or len(as_dims(dim)) == 0):
        raise errors.empty_reduction("hash_tensor")
    for d in dims:
        if not x.shape[d]:
            raise errors.empty_reduction("hash_tensor", d)
    words = x.astype(np.int64 if x.dtype.kind in "biu" else np.float64).view(np.uint64)
    return xp.asarray(xp.bitwise_xor.reduce(words, axis=dims, keepdims=keepdim))


@composite(method=True)
def nanmean(F, input, dim=None, keepdim=False, *, dtype=None):
    """Mean over dim of the elements that are not NaN; NaN if there are none.

    input: floating or complex. dim: an int, a tuple, or None for all dimensions. Raises RuntimeError for integers.

    Derivative: 1 / n for the n elements that are not NaN, 0 for NaN."""
    if raw(input).dtype.kind in "biu":
        raise errors.UnsupportedDtypeError(
            "nanmean(): expected input to have floating point or complex dtype but got "
            f"{errors.scalar_name(raw(input).dtype)}"
        )
    total = F.nansum(input, dim=dim, keepdim=keepdim, dtype=dtype)
    return total / F.sum(F.logical_not(F.isnan(input)), dim=dim, keepdim=keepdim)


# -- quantiles ---------------------------------------------------------------------------------------------------------


def _check_quantile(op: str, x: Any, q: Any, interpolation: str) -> None:
    xp = backend_of(x)
    if x.dtype not in (np.float32, np.float64):
        raise errors.ShapeError(f"{op}() input tensor must be either float or double dtype")
    if not x.size:
        raise errors.ShapeError(f"{op}() input tensor must be non-empty")
    if is_array(q):
        if q.ndim > 1:
            raise errors.ShapeError(f"{op}() q must be a scalar or 1D tensor")
        if q.dtype != x.dtype:
            raise errors.ShapeError(f"{op}() q tensor must be same dtype as the input tensor")
        if not xp.all((q >= 0) & (q <= 1)):
            raise errors.ShapeError(f"{op}() q values must be in the range [0, 1]")
    elif not 0 <= q <= 1:
        raise errors.ShapeError(f"{op}() q must be in the range [0, 1] but got {q:g}")
    if interpolation not in _INTERPOLATIONS:
        raise errors.ShapeError(
            f"{op}() interpolation must be one of linear, lower, higher, midpoint or nearest, but got {interpolation}"
        )


def _quantile_ranks(x: Any, ignore_nan: bool) -> tuple[Any, Any]:
    """Return (a, b), each (..., 1): the q-th quantile is at index a q + b of the sorted last dimension.

    Rows with NaN, which sorts last, have their index at the end, unless ignore_nan."""
    xp = backend_of(x)
    last = x.shape[-1] - 1
    nan = xp.isnan(x)
    if ignore_nan:
        a = xp.maximum(last - nan.sum(axis=-1, keepdims=True), 0)
        return a.astype(x.dtype), xp.zeros_like(a, x.dtype)
    has_nan = nan.any(axis=-1, keepdims=True)
    return xp.where(has_nan, 0, last).astype(x.dtype), xp.where(has_nan, last, 0).astype(x.dtype)


@of_arrays
def _quantile_places(x: Any, fractions: Any, interpolation: str, ignore_nan: bool) -> tuple[Any, ...]:
    """Return (below, above, weight, a, b) for quantiles along the last dimension of x.

    below, above: indices into the sorted dimension. weight: of the element above; it is a q + b for the linear interpolation."""
    xp = backend_of(x)
    factor, offset = _quantile_ranks(x, ignore_nan)
    ranks = factor * xp.atleast_1d(xp.asarray(fractions, x.dtype)) + offset
    if interpolation in ("lower", "higher", "nearest"):
        ranks = {"lower": xp.floor, "higher": xp.ceil, "nearest": xp.rint}[interpolation](ranks)
    below = xp.floor(ranks)
    weight = xp.full_like(ranks, 0.5) if interpolation == "midpoint" else ranks - below
    return below.astype(np.int64), xp.ceil(ranks).astype(np.int64), weight, factor, offset - below


def _quantile(F: Any, op: str, input: Any, q: Any, dim: Any, keepdim: bool, interpolation: str, ignore_nan: bool) -> Any:
    x, fractions = raw(input), raw(q)
    _check_quantile(op, x, fractions, interpolation)
    shape = [1] * x.ndim
    if dim is None:
        flat = F.reshape(input, shape=(-1,))
    else:
        dim = normalize_dim(dim, x.ndim)
        flat = F.movedim(input, dim, -1) if x.ndim else F.reshape(input, shape=(1,))
        shape = [1 if d == dim else size for d, size in enumerate(x.shape)]
    below, above, weight, factor, offset = _quantile_places(raw(flat), fractions, interpolation, ignore_nan)
    ordered = F.sort(flat, dim=-1)[0]
    found = F.gather(ordered, -1, wrap(below))
    if interpolation in ("linear", "midpoint"):
        weight = wrap(weight)
        if interpolation == "linear" and getattr(q, "requires_grad", False):
            weight = F.reshape(q, shape=(-1,)) * wrap(factor) + wrap(offset)
        found = F.lerp(found, F.gather(ordered, -1, wrap(above)), weight)
    found = F.movedim(found, -1, 0)
    if keepdim:
        found = F.reshape(found, shape=(-1, *shape))
    return F.squeeze(found, dim=0) if np.ndim(raw(q)) == 0 else found


@composite(method=True)
def quantile(F, input, q, dim=None, keepdim=False, *, interpolation="linear"):
    """q-th quantiles along a dimension, or of all elements if dim is None; NaN if an element is NaN.

    input: float32 or float64, not empty. q: a number in [0, 1], or a 1-D tensor of input's dtype; its dimension is the
    first one of the result. interpolation: the value of a quantile between two elements, "linear", "lower", "higher",
    "midpoint" or "nearest". Raises RuntimeError for anything else.

    Derivative: in input the weights of the two elements. In q, for "linear" only, the difference of the two elements times
    n - 1, where n is the number of elements."""
    return _quantile(F, "quantile", input, q, dim, keepdim, interpolation, False)


@composite(method=True)
def nanquantile(F, input, q, dim=None, keepdim=False, *, interpolation="linear"):
    """`quantile` of the elements that are not NaN. Derivative: as quantile."""
    return _quantile(F, "nanquantile", input, q, dim, keepdim, interpolation, True)


# -- mode --------------------------------------------------------------------------------------------------------------


@general(promote=NONE, outputs=("values", "indices"), complex=False, node="ModeBackward0", **_PRIVATE)
def _mode(xp, x, *, dim, keepdim):
    """mode."""
    dim = normalize_dim(dim, x.ndim)
    if not x.ndim:
        return x.copy(), xp.zeros((), xp.int64)
    if not x.shape[dim]:
        raise errors.DimensionError(f"mode(): Expected reduction dim {dim} to have non-zero size.")
    found = scans.one_along(x, dim, scans.MODE)
    if found is not None:
        return found if keepdim else (found[0].squeeze(dim), found[1].squeeze(dim))
    ordered = xp.sort(x, axis=dim)
    # runs counts the equal elements before each one. Its first maximum is at the end of the run of the smallest mode.
    places = xp.arange(x.shape[dim]).reshape((-1,) + (1,) * (x.ndim - dim - 1))
    starts = xp.ones(x.shape, bool)
    inner = (slice(None),) * dim
    starts[(*inner, slice(1, None))] = ordered[(*inner, slice(1, None))] != ordered[(*inner, slice(None, -1))]
    runs = places - xp.maximum.accumulate(xp.where(starts, places, 0), axis=dim)
    chosen = xp.expand_dims(runs.argmax(axis=dim), dim)
    values = xp.take_along_axis(ordered, chosen, axis=dim)
    same = (x == values) | ((x != x) & (values != values))
    indices = xp.where(same, places, -1).max(axis=dim, keepdims=True)
    if keepdim:
        return values, indices
    return xp.squeeze(values, dim).copy(), xp.squeeze(indices, dim).copy()


@_mode.vjp("x")
def _(F, ct, x_shape, indices, dim, keepdim):
    xp = backend_of(ct)
    if not x_shape:
        return ct[0]
    dim = normalize_dim(dim, len(x_shape))
    ct, indices = ct[0], raw(indices)
    if not keepdim:
        ct, indices = F.unsqueeze(ct, dim=dim), xp.expand_dims(indices, dim)
    return F.read_cotangent(ct, shape=x_shape, index=Along(indices, dim))


@composite(method=True)
def mode(F, input, dim=-1, keepdim=False):
    """Most frequent element along a dimension and the index of its last occurrence: a named tuple (values, indices).

    If several elements are equally frequent, the smallest counts. NaN equals no element and is larger than all; in torch the result
    then depends on the order of the elements. Derivative: the cotangent at indices, 0 elsewhere."""
    return return_types.mode(F._mode(input, dim=dim, keepdim=keepdim))


# -- histograms --------------------------------------------------------------------------------------------------------


@plain(method=True, out=True)
@of_arrays
def histc(input, bins=100, min=0, max=0):
    """Histogram: count the elements in each of `bins` equal intervals from min to max. Not differentiable.

    input: floating; the counts have its dtype. If min equals max, the interval spans all elements. Elements outside are
    not counted. Raises RuntimeError for bins <= 0, for min > max, and for bounds that are not finite."""
    xp = backend_of(input)
    x = raw(checked("histc", input))
    if x.dtype.kind in "biuc":
        raise errors.unsupported_dtype("histogram_cpu", x.dtype)
    if bins <= 0:
        raise errors.ShapeError(f"torch.histogram(): bins must be > 0, but got {bins} for dimension 0")
    low, high = float(min), float(max)
    if low == high and x.size:
        low, high = float(x.min()), float(x.max())
    if low == high:
        low, high = low - 1, high + 1
    if not (xp.isfinite(low) and xp.isfinite(high)):
        raise errors.ShapeError(f"torch.histc: range of [{low:g}, {high:g}] is not finite")
    if low > high:
        raise errors.ShapeError("torch.histc: max must be larger than min")
    return wrap(xp.histogram(sortable(x), bins, (low, high))[0].astype(x.dtype))


@plain(method=True, out=True)
@of_arrays
def histogram(input, bins=100, *, range=None, weight=None, density=False):
    """Histogram: count the elements in each interval, or sum their weights; a named tuple (hist, bin_edges).

    input: floating; both results have its dtype. bins: the number of intervals, or a 1-D tensor of their edges. range:
    (low, high); by default the smallest and largest element. weight: a tensor of input's shape, or None. density: divide
    by the total and by the lengths of the intervals. Not differentiable."""
    xp = backend_of(input)
    x, weight = raw(checked("histogram", input)), raw(weight)
    if x.dtype.kind in "biuc":
        raise errors.unsupported_dtype("histogram_cpu", x.dtype)
    edges = raw(bins)
    if not is_array(edges) and edges <= 0:
        raise errors.ShapeError(f"torch.histogram(): bins must be > 0, but got {edges} for dimension 0")
    if range is not None:
        range = (float(range[0]), float(range[1]))
    elif not is_array(edges) and not xp.isfinite(x).all():
        raise errors.ShapeError(
            f"torch.histogramdd: dimension 0's range [{float(x.min()):g}, {float(x.max()):g}] is not finite"
        )
    flat = None if weight is None else sortable(weight).ravel()
    edges = sortable(edges) if is_array(edges) else edges
    hist, found = xp.histogram(sortable(x).ravel(), edges, range, weights=flat, density=density)
    return return_types.histogram((wrap(hist.astype(x.dtype)), wrap(found.astype(x.dtype))))


# -- covariance --------------------------------------------------------------------------------------------------------


@composite(method=True)
def cov(F, input, *, correction=1, fweights=None, aweights=None):
    """Covariance matrix of n variables with m observations each.

    input: (n, m), one row per variable; returns (n, n). For one variable, (m) or (1, m), returns a 0-d variance.
    correction: subtracted from the number of observations in the divisor. fweights: (m), integers >= 0, the number of
    times that each observation counts. aweights: (m), floating, >= 0, weights of the observations.

    Derivative: that of the products, with respect to input and aweights."""
    if input.ndim > 2:
        raise errors.ShapeError(
            f"cov(): expected input to have two or fewer dimensions but got an input with {input.ndim} dimensions"
        )
    if raw(input).dtype.kind == "b":
        raise errors.ShapeError("cov(): bool dtype is not supported for input")
    x = F.reshape(input, shape=(1, -1)) if input.ndim < 2 else input
    if raw(x).dtype.kind in "iu":
        x = F.cast(x, dtype=dtypes.as_numpy_dtype(None))
    _check_weights(x, raw(fweights), raw(aweights))
    weights, total, divisor = _observation_weights(F, x, correction, fweights, aweights)
    if weights is None:
        centred = x - F.sum(x, dim=1, keepdim=True) / total
        product = F.matmul(centred, F.adjoint(centred))
    else:
        centred = x - F.sum(x * weights, dim=1, keepdim=True) / total
        product = F.matmul(centred, F.adjoint(centred * weights))
    found = product / divisor if divisor else product * float("nan") if not total else product / 0.0
    return F.reshape(found, shape=()) if input.ndim < 2 or x.shape[0] == 1 else found


def _check_weights(x: Any, fweights: Any, aweights: Any) -> None:
    """Raise if the weights have another shape, dtype or sign than the observations need."""
    for name, given in (("fweights", fweights), ("aweights", aweights)):
        if given is not None and given.ndim > 1:
            raise errors.ShapeError(
                f"cov(): expected {name} to have one or fewer dimensions but got {name} with {given.ndim} dimensions"
            )
    if fweights is not None and fweights.dtype.kind not in "iu":
        raise errors.ShapeError(
            f"cov(): expected fweights to have integral dtype but got fweights with {_scalar_name(fweights)} dtype"
        )
    if aweights is not None and aweights.dtype.kind != "f":
        raise errors.ShapeError(
            f"cov(): expected aweights to have floating point dtype but got aweights with {_scalar_name(aweights)} dtype"
        )
    for name, given in (("fweights", fweights), ("aweights", aweights)):
        if given is not None and given.size != x.shape[1]:
            raise errors.ShapeError(
                f"cov(): expected {name} to have the same numel as there are observations in the input but got "
                f"{given.size} != {x.shape[1]}"
            )
        if given is not None and given.size and given.min() < 0:
            raise errors.ShapeError(f"cov(): {name} cannot be negative")


def _observation_weights(F: Any, x: Any, correction: int, fweights: Any, aweights: Any) -> tuple[Any, Any, Any]:
    """Return (weights of the observations or None, sum of the weights, divisor of the sum of products)."""
    if aweights is None:
        weights = fweights
        total = float(x.shape[1] if weights is None else raw(weights).sum())
        divisor: Any = total - correction
    else:
        weights = aweights if fweights is None else F.cast(fweights, dtype=raw(aweights).dtype) * aweights
        total = F.sum(weights)
        divisor = total - (correction * F.sum(weights * aweights) / total if total else correction)
    if divisor <= 0:
        warnings.warn(
            "cov(): degrees of freedom is <= 0. Correction should be strictly less than the number of observations.",
            stacklevel=user_level(),
        )
        divisor = 0.0
    return weights, total, divisor


def _scalar_name(x: Any) -> str:
    return errors.scalar_name(x.dtype)


@composite(method=True)
def corrcoef(F, input):
    """Correlation coefficients: covariances divided by the standard deviations, clamped to [-1, 1].

    input: (n, m), one row of observations per variable, or (m); returns (n, n) or a 0-d tensor.

    Derivative: that of the quotient; 0 where the quotient was clamped."""
    if input.ndim > 2:
        raise errors.ShapeError(
            f"corrcoef(): expected input to have two or fewer dimensions but got an input with {input.ndim} dimensions"
        )
    c = F.cov(input)
    if not c.ndim:
        return c / c
    deviations = F.sqrt(F.diagonal(c))
    deviations = F.real(deviations)
    c = c / F.unsqueeze(deviations, dim=-1) / F.unsqueeze(deviations, dim=0)
    if raw(c).dtype.kind == "c":
        return F.complex(F.clamp(F.real(c), min=-1, max=1), F.clamp(F.imag(c), min=-1, max=1))
    return F.clamp(c, min=-1, max=1)


# -- distances, limited norms, mantissas -------------------------------------------------------------------------------


@composite(method=True)
def dist(F, input, other, p=2):
    """p-norm of input - other, shapes that broadcast. Derivative: as `norm`; 0 where input equals other."""
    return F.norm(input - other, p)


@composite(method=True, inplace=True)
def renorm(F, input, p, dim, maxnorm):
    """Scale each slice of input along dim whose p-norm is above maxnorm down to maxnorm.

    input: at least 2-D. Raises RuntimeError for fewer dimensions, p <= 0 and maxnorm < 0. Derivative: that of the
    formula."""
    if input.ndim < 2:
        raise errors.ShapeError(f"renorm: input needs at least 2 dimensions, got {input.ndim} dimensions")
    if p <= 0:
        raise errors.ShapeError("renorm: non-positive-norm not supported")
    if maxnorm < 0:
        raise errors.ShapeError(f"renorm: expected maxnorm to be >= 0 but got {maxnorm:g}")
    dim = normalize_dim(dim, input.ndim)
    others = tuple([d for d in range(input.ndim) if d != dim])
    norms = F._vector_norm(input, ord=p, dim=others, keepdim=True)
    return input * F.where(norms > maxnorm, maxnorm / (norms + 1e-7), 1.0)


@general(outputs=("mantissa", "exponent"), complex=False, node="FrexpBackward0", **_PRIVATE)
def _frexp(xp, x):
    """frexp."""
    if x.dtype.kind in "biu":
        raise errors.UnsupportedDtypeError("torch.frexp() only supports floating-point dtypes")
    mantissa, exponent = xp.frexp(x.astype(xp.float32) if x.dtype.itemsize == 2 else x)
    return mantissa.astype(x.dtype, copy=False), exponent.astype(xp.int32)


@_frexp.vjp("x")
def _(F, ct, exponent):
    xp = backend_of(ct)
    return ct[0] * xp.exp2(-raw(exponent).astype(np.float64))


@composite(method=True)
def frexp(F, input):
    """Named tuple (mantissa, exponent) with input = mantissa * 2**exponent and 1/2 <= |mantissa| < 1.

    The mantissa of 0, inf and NaN is the number itself. input: floating; exponent is int32. Raises RuntimeError for integers.
    Derivative: 2**-exponent in the mantissa."""
    return return_types.frexp(F._frexp(input))
