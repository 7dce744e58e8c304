"""Running extrema, running logsumexp, and differences and integrals along a dimension."""

from __future__ import annotations

from typing import Any

from wengert import errors, return_types
from wengert.backends.selection import backend_of
from wengert.kernels import scans
from wengert.ops.dims import as_dims, normalize_dim, unrepeated_dims
from wengert.ops.indices import Along, raw
from wengert.ops.registry import INT_TO_FLOAT, NONE, composite, general
from wengert.ops.values import number_of

_PRIVATE: dict[str, Any] = {"method": False, "namespaces": ()}


# -- running extrema ---------------------------------------------------------------------------------------------------


def _running_extremum(xp: Any, combine: Any, x: Any, dim: int) -> tuple[Any, Any]:
    """Return (running extremum, index of its last occurrence). After a NaN, all results are NaN."""
    dim = normalize_dim(dim, x.ndim)
    if not x.ndim:
        return x.copy(), xp.zeros((), xp.int64)
    found = scans.scan(scans.LARGEST if combine is xp.maximum else scans.SMALLEST, x, dim, False)
    if found is not None:
        return found
    values = combine.accumulate(x, axis=dim)
    places = xp.arange(x.shape[dim]).reshape((-1,) + (1,) * (x.ndim - dim - 1))
    met = (x == values) | (x != x)
    return values, xp.maximum.accumulate(xp.where(met, places, 0), axis=dim)


@general(promote=NONE, complex=False, outputs=("values", "indices"), node="CummaxBackward0", **_PRIVATE)
def _cummax(xp, x, *, dim):
    """cummax."""
    return _running_extremum(xp, xp.maximum, x, dim)


@general(promote=NONE, complex=False, outputs=("values", "indices"), node="CumminBackward0", **_PRIVATE)
def _cummin(xp, x, *, dim):
    """cummin."""
    return _running_extremum(xp, xp.minimum, x, dim)


def _extremum_cotangent(F: Any, ct: Any, x_shape: tuple[int, ...], indices: Any, dim: int) -> Any:
    """Cotangent of x: each cotangent of values is added at the index of the extremum."""
    if not x_shape:
        return ct[0]
    index = Along(raw(indices), normalize_dim(dim, len(x_shape)))
    return F.read_cotangent(ct[0], shape=x_shape, index=index, repeats=True)


for _op in (_cummax, _cummin):

    @_op.vjp("x")
    def _(F, ct, x_shape, indices, dim):
        return _extremum_cotangent(F, ct, x_shape, indices, dim)


@composite(method=True)
def cummax(F, input, dim):
    """Running maximum along a dimension and the index of its last occurrence: a named tuple (values, indices).

    Derivative: for each element the sum of the cotangents of the values that it is.

    >>> import wengert
    >>> wengert.tensor([1.0, 3.0, 2.0]).cummax(0)
    torch.return_types.cummax(
    values=tensor([1., 3., 3.]),
    indices=tensor([0, 1, 1]))
    """
    return return_types.cummax(F._cummax(input, dim=dim))


@composite(method=True)
def cummin(F, input, dim):
    """Running minimum along a dimension and the index of its last occurrence: a named tuple (values, indices).

    Derivative: for each element the sum of the cotangents of the values that it is."""
    return return_types.cummin(F._cummin(input, dim=dim))


# -- running logsumexp -------------------------------------------------------------------------------------------------


@general(promote=INT_TO_FLOAT, along_dim=True)
def logcumsumexp(xp, x, *, dim):
    """Logarithm of the running sum of exponentials along a dimension, without overflow.

    x: floating or complex. For complex numbers the branch of the logarithm is that of log(exp(a) + exp(b)) =
    a + log(1 + exp(b - a)), where a has the larger real part.

    Derivative: for x[i] the sum of ct[j] exp(x[i] - out[j]) over j >= i."""
    dim = normalize_dim(dim, x.ndim)
    if x.dtype.kind == "c":
        return _complex_logcumsumexp(xp, x, dim)
    found = scans.scan(scans.LOGSUMEXP, x, dim, False)
    if found is not None:
        return found
    if not x.ndim or x.dtype.itemsize > 2:
        return xp.logaddexp.accumulate(x, axis=dim) if x.ndim else x.copy()
    return xp.logaddexp.accumulate(x.astype(xp.float32), axis=dim).astype(x.dtype)


def _complex_logcumsumexp(xp: Any, x: Any, dim: int) -> Any:
    """logcumsumexp of complex numbers, computed element by element along dim."""
    out = x.copy()
    if not x.ndim:
        return out
    rows = xp.moveaxis(out, dim, 0)
    for i in range(1, len(rows)):
        before, row = rows[i - 1], rows[i]
        larger, smaller = xp.where(before.real > row.real, (before, row), (row, before))
        # log(exp(a) + exp(b)) is a + log(1 + exp(b - a)). If a is infinite, or b is -inf, it is a.
        alone = xp.isinf(larger.real) | xp.isneginf(smaller.real)
        rows[i] = xp.where(alone, larger, larger + xp.log1p(xp.exp(smaller - larger)))
    return out


def _decays(F: Any, out: Any, dim: int, ahead: bool) -> Any:
    """exp(previous - current) for each result along dim; 1 for the first. ahead: exp(current - next); 1 for the last."""
    xp = backend_of(out)
    size = out.shape[dim]
    earlier, later = F.narrow(out, dim, 0, size - 1), F.narrow(out, dim, 1, size - 1)
    steps = earlier - later
    if not xp.isfinite(raw(out)).all():
        steps = F.where(raw(earlier) == raw(later), 0.0, steps)  # the difference of equal infinities would be NaN
    decays, one = F.exp(steps), F.ones_like(F.narrow(out, dim, 0, 1))
    return F.cat([decays, one] if ahead else [one, decays], dim=dim)


# The derivative of out[j] in x[i] is exp(x[i] - out[j]) = exp(x[i] - out[i]) exp(out[i] - out[i + 1]) ... exp(out[j - 1] - out[j]).
# For real numbers no factor is above 1, so the sums over j, or over i, are recurrences that cannot overflow.


@logcumsumexp.vjp("x")
def _(F, ct, x, out, dim):
    if not x.ndim or not x.shape[dim]:
        return ct
    decays = F.conj(_decays(F, out, dim, False))
    return (ct + F._scan(decays, decays * ct, dim=dim, reverse=True)) * F.conj(F.exp(x - out))


@logcumsumexp.jvp("x")
def _(F, x_t, x, out, dim):
    if not x.ndim or not x.shape[dim]:
        return x_t
    decays, own = _decays(F, out, dim, True), x_t * F.exp(x - out)
    return own + F._scan(decays, decays * own, dim=dim)


# -- differences and integrals -----------------------------------------------------------------------------------------


@composite(method=True)
def diff(F, input, n=1, dim=-1, prepend=None, append=None):
    """n-th differences of neighbours along a dimension; for bools, whether neighbours differ.

    input: at least 1-D. prepend, append: tensors joined to the start and the end of input first, unless n is 0. Raises
    RuntimeError for a 0-d input and for n < 0.

    Derivative: that of the differences."""
    if input.ndim == 0:
        raise errors.ShapeError("diff expects input to be at least one-dimensional")
    if n < 0:
        raise errors.ShapeError(f"order must be non-negative but got {n}")
    dim = normalize_dim(dim, input.ndim)
    if n == 0:
        return F.clone(input)  # torch ignores prepend and append here
    parts = [x for x in (prepend, input, append) if x is not None]
    x = F.cat(parts, dim=dim) if len(parts) > 1 else input
    for _ in range(min(n, max(x.shape[dim], 1))):
        size = x.shape[dim]
        later, earlier = F.narrow(x, dim, min(1, size), max(size - 1, 0)), F.narrow(x, dim, 0, max(size - 1, 0))
        x = F.logical_xor(later, earlier) if raw(x).dtype.kind == "b" else later - earlier
    return x


def _trapezoids(F: Any, op: str, y: Any, x: Any, dx: Any, dim: int) -> tuple[Any, Any]:
    """Return (sums, factor), where sums * factor are the areas of the trapezoids between neighbours in y along dim."""
    if x is not None and dx is not None:
        raise errors.ArgumentError(f"{op}() takes x or dx, not both")
    if raw(y).dtype.kind == "b" or (x is not None and raw(x).dtype.kind == "b"):
        raise errors.UnsupportedDtypeError(
            f"{op}: received a bool input for {'`y`' if x is None else '`x` or `y`'}, but bool is not supported"
        )
    dim = normalize_dim(dim, y.ndim)
    size = y.shape[dim]
    sums = F.narrow(y, dim, min(1, size), max(size - 1, 0)) + F.narrow(y, dim, 0, max(size - 1, 0))
    if x is None:
        return sums, (1 if dx is None else dx) / 2
    if x.ndim == 1:
        if x.shape[0] != size:
            raise errors.ShapeError(f"{op}: There must be one `x` value for each sample point")
        steps = F.diff(x)
        return sums * F.reshape(steps, shape=(-1,) + (1,) * (y.ndim - dim - 1)), 0.5
    return sums * F.diff(x, dim=dim - y.ndim), 0.5


@composite()
def trapezoid(F, y, x=None, *, dx=None, dim=-1):
    """Integral of y along a dimension by the trapezoidal rule.

    x: the sample points, a vector of y's size along dim, or of y's shape. dx: the distance of the samples instead, 1 if
    None. Raises RuntimeError for bools and for points that do not fit.

    Derivative: that of the sum."""
    sums, factor = _trapezoids(F, "trapezoid", y, x, dx, dim)
    return F.sum(sums, dim=dim) * factor


@composite()
def trapz(F, y, x=None, *, dx=None, dim=-1):
    """Older name of `trapezoid`. Derivative: as trapezoid."""
    return F.trapezoid(y, x, dx=dx, dim=dim)


@composite()
def cumulative_trapezoid(F, y, x=None, *, dx=None, dim=-1):
    """Running integral of y along a dimension by the trapezoidal rule; has one element less than y along dim.

    Arguments: as `trapezoid`. Derivative: that of the running sum."""
    sums, factor = _trapezoids(F, "cumulative_trapezoid", y, x, dx, dim)
    return F.cumsum(sums * factor, dim=dim)


@composite()
def gradient(F, input, *, spacing=None, dim=None, edge_order=1):
    """Tuple of the slopes of input along each of dim, by central differences, and one-sided differences at the ends.

    dim: an int, a tuple, or None for all dimensions. spacing: the distance of the samples, one number (1 if None) or one
    per dimension; or the sample points, one 1-D tensor per dimension. edge_order: order of the differences at the ends, 1
    or 2. Raises RuntimeError for other orders, for uint8, and for dimensions of fewer than edge_order + 1 elements.

    Derivative: that of the differences."""
    dims = unrepeated_dims(range(input.ndim) if dim is None else as_dims(dim), input.ndim)
    if raw(input).dtype == "uint8":
        raise errors.UnsupportedDtypeError("torch.gradient does not support uint8 input.")
    if edge_order not in (1, 2):
        raise errors.ShapeError("torch.gradient only supports edge_order=1 and edge_order=2.")
    if any(input.shape[d] < edge_order + 1 for d in dims):
        raise errors.ShapeError("torch.gradient expected each dimension size to be at least edge_order+1")
    spacing = 1 if spacing is None else spacing
    spacings = [spacing] * len(dims) if not isinstance(spacing, (tuple, list)) else list(spacing)
    if len(spacings) != len(dims):
        raise errors.ShapeError(
            "torch.gradient expected spacing to be unspecified, a scalar, or a list with a length equal to the number of "
            f"dims, {len(dims)}, but got {len(spacings)} of them"
        )
    return tuple([_slope_along(F, input, d, h, edge_order) for d, h in zip(dims, spacings, strict=True)])


def _slope_along(F: Any, y: Any, dim: int, spacing: Any, edge_order: int) -> Any:
    """Slope of y along one dimension."""
    size = y.shape[dim]

    def part(x: Any, start: int, length: int) -> Any:
        return F.narrow(x, dim, start, length)

    differences = part(y, 1, size - 1) - part(y, 0, size - 1)
    spacing = number_of(spacing)
    if hasattr(spacing, "ndim"):
        steps = F.reshape(F.diff(spacing), shape=tuple([-1 if d == dim else 1 for d in range(y.ndim)]))
        quotients = differences / steps
        before, after = part(steps, 0, size - 2), part(steps, 1, size - 2)
        inner = (part(quotients, 0, size - 2) * after + part(quotients, 1, size - 2) * before) / (before + after)
    else:
        quotients = differences / spacing
        before = after = None
        inner = (part(y, 2, size - 2) - part(y, 0, size - 2)) / (2 * spacing)
    first, last = part(quotients, 0, 1), part(quotients, size - 2, 1)
    if edge_order == 2:
        # Slope, at the end, of the parabola through three points: extrapolate the two quotients next to the end.
        ratio, ratio_at_end = 0.5, 0.5
        if before is not None:
            ratio = part(before, 0, 1) / (part(before, 0, 1) + part(after, 0, 1))
            ratio_at_end = part(after, size - 3, 1) / (part(before, size - 3, 1) + part(after, size - 3, 1))
        first = first + (first - part(quotients, 1, 1)) * ratio
        last = last + (last - part(quotients, size - 3, 1)) * ratio_at_end
    return F.cat([first, inner, last], dim=dim)
