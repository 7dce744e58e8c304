"""Variances, standard deviations and vector norms."""

from __future__ import annotations

from math import inf
from typing import Any

from wengert import dtypes, errors
from wengert.backends.selection import others
from wengert.kernels import rows
from wengert.ops.dims import broadcast_to_input, count_of, normalize_dims, restore_dims
from wengert.ops.registry import NONE, composite, general, nondifferentiable, pointwise
from wengert.ops.values import number_of

_PRIVATE: dict[str, Any] = {"method": False, "namespaces": ()}


@pointwise(**_PRIVATE)
def _reciprocal_or_zero(xp, x):
    """1 / x, or 0 where x is 0: for quotients whose numerator is 0 where x is.

    Derivative: -1 / x**2, or 0 where x is 0."""
    return xp.where(x == 0, x, xp.reciprocal(x))


@_reciprocal_or_zero.vjp("x")
def _(F, ct, out):
    return -(ct * F.conj(out * out))


@nondifferentiable(**_PRIVATE)
def _is_zero(xp, x):
    """1 where x is 0, else 0, in the dtype of x."""
    return (x == 0).astype(x.dtype)


@nondifferentiable(**_PRIVATE)
def _zeros_of(xp, x):
    """Zeros in the shape and dtype of x."""
    return xp.zeros_like(x)


# -- variance and standard deviation -----------------------------------------------------------------------------------


def _moments(xp: Any, op: str, x: Any, dim: Any, correction: float, keepdim: bool) -> tuple[Any, Any]:
    """Return (variance, mean) over dim. The mean keeps the reduced dimensions. 16-bit inputs are computed in float32."""
    if x.dtype.kind not in "fcV":
        raise errors.UnsupportedDtypeError(f"{op} only support floating point and complex dtypes")
    if x.dtype.itemsize == 2:
        x = x.astype(xp.float32)
    axis = normalize_dims(dim, x.ndim)
    n = count_of(x.shape, axis)
    both = rows.variance(x, axis, keepdim, max(n - correction, 0.0))
    if both is not None:
        return both
    # Distances from an element instead of 0 make the variance of equal elements exactly 0, where std has its kink.
    pivot = x[tuple([slice(0, 1) if d in axis else slice(None) for d in range(x.ndim)])] if n else x.dtype.type(0)
    deviations = x - pivot
    shift = _divide(xp, xp.add.reduce(deviations, axis=axis, keepdims=True), n)
    deviations = deviations - shift
    if x.dtype.kind == "c":
        squares = deviations.real * deviations.real + deviations.imag * deviations.imag
    else:
        squares = xp.multiply(deviations, deviations)
    freedom = max(n - correction, 0.0)
    return _divide(xp, xp.add.reduce(squares, axis=axis, keepdims=keepdim), freedom), pivot + shift


def _divide(xp: Any, total: Any, n: float) -> Any:
    """total / n by NumPy's division: 0 / 0 is NaN, not a ZeroDivisionError."""
    return xp.true_divide(total, xp.asarray(n, total.real.dtype))


def _drop_reduced_dims(x: Any, dim: Any, ndim: int, keepdim: bool) -> Any:
    """Drop the reduced dimensions, which x has with size 1, unless keepdim."""
    axis = normalize_dims(dim, ndim)
    return x if keepdim or not ndim else x.reshape([n for d, n in enumerate(x.shape) if d not in axis])


@general(node="VarBackward0", **_PRIVATE, along_dim=True)
def _var(xp, x, *, dim=None, correction=1, keepdim=False):
    """Variance over dim."""
    return xp.asarray(_moments(xp, "std and var", x, dim, correction, keepdim)[0]).astype(_real_dtype(x.dtype), copy=False)


@general(node="StdBackward0", **_PRIVATE, along_dim=True)
def _std(xp, x, *, dim=None, correction=1, keepdim=False):
    """Standard deviation over dim."""
    return xp.asarray(xp.sqrt(_moments(xp, "std and var", x, dim, correction, keepdim)[0])).astype(
        _real_dtype(x.dtype), copy=False
    )


@general(outputs=("variance", "mean"), node="VarMeanBackward0", **_PRIVATE)
def _var_mean(xp, x, *, dim=None, correction=1, keepdim=False):
    """Variance and mean over dim."""
    variance, average = _moments(xp, "var_mean", x, dim, correction, keepdim)
    average = _drop_reduced_dims(xp.asarray(average), dim, x.ndim, keepdim)
    return xp.asarray(variance).astype(_real_dtype(x.dtype), copy=False), average.astype(x.dtype, copy=False)


@general(outputs=("std", "mean"), node="StdMeanBackward0", **_PRIVATE)
def _std_mean(xp, x, *, dim=None, correction=1, keepdim=False):
    """Standard deviation and mean over dim."""
    variance, average = _moments(xp, "std_mean", x, dim, correction, keepdim)
    average = _drop_reduced_dims(xp.asarray(average), dim, x.ndim, keepdim)
    return xp.asarray(xp.sqrt(variance)).astype(_real_dtype(x.dtype), copy=False), average.astype(x.dtype, copy=False)


def _real_dtype(dtype: Any) -> Any:
    return dtypes.from_numpy_dtype(dtype).to_real().dtype


def _var_cotangent(F: Any, ct: Any, x: Any, dim: Any, correction: float) -> Any:
    """Cotangent of x, given the cotangent of the variance, which broadcasts to x."""
    freedom = count_of(x.shape, dim) - correction
    # If freedom is 0 because there is one element, x - mean is 0 and inf * 0 gives NaN, as in torch.
    return (2.0 / freedom if freedom else inf) * ct * (x - F.mean(x, dim=normalize_dims(dim, x.ndim), keepdim=True))


@_var.vjp("x")
def _(F, ct, x, dim, correction, keepdim):
    return _var_cotangent(F, restore_dims(F, ct, x.shape, dim, keepdim), x, dim, correction)


@_std.vjp("x")
def _(F, ct, x, out, dim, correction, keepdim):
    ct = 0.5 * ct * F._reciprocal_or_zero(out)
    return _var_cotangent(F, restore_dims(F, ct, x.shape, dim, keepdim), x, dim, correction)


def _mean_cotangent(F: Any, ct: Any, x_shape: tuple[int, ...], dim: Any, keepdim: bool) -> Any:
    return broadcast_to_input(F, ct / count_of(x_shape, dim), x_shape, dim, keepdim)


@_var_mean.vjp("x")
def _(F, ct, x, dim, correction, keepdim):
    of_mean = None if ct[1] is None else _mean_cotangent(F, ct[1], x.shape, dim, keepdim)
    if ct[0] is None:
        return of_mean
    of_var = _var_cotangent(F, restore_dims(F, ct[0], x.shape, dim, keepdim), x, dim, correction)
    return of_var if of_mean is None else of_var + of_mean


@_std_mean.vjp("x")
def _(F, ct, x, std, dim, correction, keepdim):
    of_mean = None if ct[1] is None else _mean_cotangent(F, ct[1], x.shape, dim, keepdim)
    if ct[0] is None:
        return of_mean
    of_var = restore_dims(F, 0.5 * ct[0] * F._reciprocal_or_zero(std), x.shape, dim, keepdim)
    of_std = _var_cotangent(F, of_var, x, dim, correction)
    return of_std if of_mean is None else of_std + of_mean


def _variance_arguments(op: str, dim: Any, unbiased: Any, keepdim: bool, correction: Any, rest: dict[str, Any]) -> Any:
    """Parameters dim, correction and keepdim of std(unbiased), std(dim, unbiased, keepdim), std(dim, correction=, keepdim=)."""
    if isinstance(dim, bool):
        if unbiased is not None:
            raise errors.multiple_values(op, "unbiased")
        dim, unbiased = None, dim
    if unbiased is not None:
        if correction is not None:
            raise errors.multiple_values(op, "correction")
        correction = int(unbiased)
    return {"dim": dim, "correction": 1 if correction is None else correction, "keepdim": keepdim, **rest}


@composite(method=True)
def var(F, input, dim=None, unbiased=None, keepdim=False, *, correction=None, **kwargs):
    """Variance over dim: the sum of squared distances from the mean, divided by n - correction.

    input: any shape, floating or complex. dim: an int, a tuple, or None for all dimensions. correction: 1 if None;
    unbiased=True means correction=1, unbiased=False correction=0. If n <= correction, the divisor is 0: the variance of
    one element is NaN. Returns the real dtype of input. Raises RuntimeError for integers.

    Derivative: 2 (x - mean) / (n - correction).

    >>> import wengert
    >>> wengert.tensor([1.0, 2.0, 3.0]).var()
    tensor(1.)
    """
    return F._var(input, **_variance_arguments("var", dim, unbiased, keepdim, correction, kwargs))


@composite(method=True)
def std(F, input, dim=None, unbiased=None, keepdim=False, *, correction=None, **kwargs):
    """Standard deviation over dim: the square root of `var`. Arguments: as `var`.

    Derivative: (x - mean) / ((n - correction) std); 0 where std is 0."""
    return F._std(input, **_variance_arguments("std", dim, unbiased, keepdim, correction, kwargs))


@composite()
def var_mean(F, input, dim=None, unbiased=None, keepdim=False, *, correction=None, **kwargs):
    """Return the tuple (`var`, `mean`) over dim. Arguments: as `var`.

    Derivative: those of var and mean."""
    return F._var_mean(input, **_variance_arguments("var_mean", dim, unbiased, keepdim, correction, kwargs))


@composite()
def std_mean(F, input, dim=None, unbiased=None, keepdim=False, *, correction=None, **kwargs):
    """Return the tuple (`std`, `mean`) over dim. Arguments: as `var`.

    Derivative: those of std and mean."""
    return F._std_mean(input, **_variance_arguments("std_mean", dim, unbiased, keepdim, correction, kwargs))


# -- norms -------------------------------------------------------------------------------------------------------------


@general(node="LinalgVectorNormBackward0", promote=NONE, **_PRIVATE, along_dim=True)
def _vector_norm(xp, x, *, ord=2, dim=None, keepdim=False):
    """(sum of |x|**ord)**(1 / ord) over dim. inf and -inf give the largest and smallest |x|, 0 the number of nonzero x."""
    if x.dtype.kind not in "fcV":
        raise errors.norm_dtype("linalg.vector_norm", x.dtype)
    axis = normalize_dims(dim, x.ndim)
    if x.size == 0 and (ord < 0 or ord == inf):
        empty = next((d for d in axis if x.shape[d] == 0), None)
        if empty is not None:
            where = f"the dimension {empty} because this dimension is empty and"
            if dim is None:
                where = "an empty tensor because"
            raise errors.ShapeError(
                f"linalg.vector_norm cannot compute the {ord:g} norm on {where} the operation does not have an identity"
            )
    real = _real_dtype(x.dtype)
    if x.dtype.itemsize == 2:
        x = x.astype(xp.float32)
    out = xp.asarray(_norm_over(xp, x, ord, axis, keepdim))
    if out.ndim == 0 and 1 < ord < inf and x.size and type(out) not in others and not _TINY[out.dtype.char] < out < inf:
        out = _scaled_norm(xp, x, ord, axis, keepdim, out)
    return out.astype(real, copy=False)


_TINY = {"f": 1e-18, "d": 1e-150}  # Below these norms, squares lose digits or are 0.


def _scaled_norm(xp: Any, x: Any, ord: float, axis: tuple[int, ...], keepdim: bool, out: Any) -> Any:
    """Norm of all elements, which are divided by the largest one first, so that powers neither underflow nor overflow.

    out: the norm without the division."""
    largest = xp.absolute(x).max()
    if not 0 < largest < inf:
        return out
    scale = xp.ldexp(xp.ones((), out.dtype), xp.frexp(largest)[1] - 1)  # a power of 2, so that nothing is rounded
    return xp.asarray(_norm_over(xp, x / scale, ord, axis, keepdim)) * scale


def _norm_over(xp: Any, x: Any, ord: float, axis: tuple[int, ...], keepdim: bool) -> Any:
    kind = rows.NORM if ord == 2 else rows.ABSOLUTES if ord == 1 else None
    if kind is not None and (found := rows.reduce(kind, x, axis, keepdim)) is not None:
        return found
    if ord == 2:
        if x.dtype.kind == "c":
            squares = x.real * x.real + x.imag * x.imag
        elif len(axis) == x.ndim and not keepdim and x.flags.c_contiguous:
            flat = x.reshape(-1)
            return xp.sqrt(xp.dot(flat, flat))
        else:
            squares = xp.multiply(x, x)
        return xp.sqrt(xp.add.reduce(squares, axis=axis, keepdims=keepdim))
    if ord == 0:
        return xp.add.reduce(x != 0, axis=axis, keepdims=keepdim, dtype=xp.intp)
    size = xp.absolute(x)
    if ord == inf:
        return size.max(axis=axis, keepdims=keepdim)
    if ord == -inf:
        return size.min(axis=axis, keepdims=keepdim)
    if ord == 1:
        return xp.add.reduce(size, axis=axis, keepdims=keepdim)
    return xp.power(xp.add.reduce(xp.power(size, ord), axis=axis, keepdims=keepdim), 1.0 / ord)


@_vector_norm.vjp("x")
def _(F, ct, x, out, ord, dim, keepdim):
    ct, out = restore_dims(F, ct, x.shape, dim, keepdim), restore_dims(F, out, x.shape, dim, keepdim)
    if ord == 2:
        return x * (ct * F._reciprocal_or_zero(out))
    if ord == 0:
        return ct * F._zeros_of(x)
    if ord == 1:
        return ct * F.sgn(x)
    size = F.abs(x)
    if abs(ord) == inf:
        return F.sgn(x) * F._share(ct, size, out, dim=dim, nan_ties=True)
    # The quotient is taken before the power, so that neither overflows, and inverted for ord < 1, so that the exponent is
    # positive. Where x is 0, sgn(x) is 0; a quotient of 1 there keeps the derivative of the power finite.
    quotient = size * F._reciprocal_or_zero(out) if ord > 1 else out * F._reciprocal_or_zero(size)
    return F.sgn(x) * (ct * F.pow(quotient + F._is_zero(size), abs(ord - 1)))


def _is_norm_order(p: Any) -> bool:
    return isinstance(p, (int, float)) and not isinstance(p, bool)


@composite(method=True)
def norm(F, input, p="fro", dim=None, keepdim=False, dtype=None, **kwargs):
    """p-norm of the elements over dim: (sum of |x|**p)**(1 / p).

    input: any shape, floating or complex. p: a number; inf and -inf give the largest and smallest |x|, 0 the number of
    nonzero elements; "fro" and None mean 2; "nuc" means `linalg.matrix_norm`. dim: an int, a tuple, or None for all
    dimensions. dtype: input is cast to it first. Returns the real dtype of input, or dtype.

    Derivative: sgn(x) (|x| / norm)**(p - 1); 0 at x = 0, also where the norm is 0. For p = inf and -inf the cotangent is
    shared evenly among ties.

    >>> import wengert
    >>> wengert.tensor([3.0, -4.0]).norm()
    tensor(5.)
    """
    if dtype is not None:
        input = F.cast(input, dtypes.as_numpy_dtype(dtype))
    p = number_of(p)
    if p is None or p == "fro":
        if p == "fro" and isinstance(dim, (tuple, list)) and len(dim) > 2:
            raise errors.ShapeError(f"linalg.matrix_norm: dim must be a 2-tuple. Got {' '.join(str(d) for d in dim)}")
        p = 2
    elif p == "nuc":
        return F.linalg_matrix_norm(input, "nuc", (-2, -1) if dim is None else dim, keepdim, **kwargs)
    elif not _is_norm_order(p):
        raise errors.ShapeError(f"linalg.matrix_norm: Order {p} not supported.")
    return F._vector_norm(input, ord=p, dim=dim, keepdim=keepdim, **kwargs)


@composite(name="linalg_vector_norm", namespaces=("linalg",))
def linalg_vector_norm(F, x, ord=2, dim=None, keepdim=False, *, dtype=None):
    """Vector norm of the elements of x over dim: (sum of |x|**ord)**(1 / ord). See `norm`, where ord is p.

    Derivative: as norm."""
    ord = number_of(ord)
    if not _is_norm_order(ord):
        raise errors.ShapeError(f"linalg.matrix_norm: Order {ord} not supported.")
    return norm.fn(F, x, ord, dim, keepdim, dtype)
