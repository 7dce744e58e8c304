"""scatter_reduce: scatter that reduces the values with equal indices to their sum, product, mean, maximum or minimum."""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert import errors
from wengert.backends.selection import backend_of, face_of, others
from wengert.core.tensor import TensorBase, wrap
from wengert.core.views import call_inplace
from wengert.kernels import memory, places
from wengert.ops.add_at import at_on_device
from wengert.ops.dims import normalize_dim
from wengert.ops.indices import as_tensor, index_array, mesh_of, raw, without_elements
from wengert.ops.registry import NONE, composite, general, plain

_UFUNCS = {"sum": "add", "mean": "add", "prod": "multiply", "amax": "maximum", "amin": "minimum"}
_KINDS = {
    "sum": places.ADD, "mean": places.ADD, "prod": places.MULTIPLY, "amax": places.LARGEST, "amin": places.SMALLEST
}  # fmt: skip


_PRIVATE: dict[str, Any] = {"method": False, "namespaces": ()}


def _identity(reduce: str, dtype: Any) -> Any:
    """Identity element of a reduction in a dtype: 0 for sum and mean, 1 for prod, the lowest value for amax."""
    if reduce in ("sum", "mean", "prod"):
        return int(reduce == "prod")
    if dtype.kind in "fV":
        return -np.inf if reduce == "amax" else np.inf
    if dtype.kind == "b":
        return reduce == "amin"
    limits = np.iinfo(dtype)
    return limits.min if reduce == "amax" else limits.max


def _count_values(index: Any, shape: tuple, dim: int, include_self: bool) -> Any:
    """Number of values that are reduced into each element, float64; at least 1."""
    xp = backend_of(index)
    counts = xp.full(shape, float(include_self))
    _combine("sum", counts, index, xp.ones(()), dim)
    return xp.maximum(counts, 1.0, out=counts)


def _addressed_mask(index: Any, shape: tuple, dim: int) -> Any:
    """Mask of the elements that index addresses."""
    xp = backend_of(index)
    mask = xp.zeros(shape, np.uint8)
    _write_number(mask, index, 1, dim)
    return mask.view(bool)


def _write_number(x: Any, index: Any, value: Any, dim: int) -> None:
    """Write a number into x at index along dim."""
    xp = backend_of(x)
    written = index.ndim == x.ndim and places.write_along(places.PUT, x, index, xp.asarray(value, x.dtype), dim, False)
    if not written:
        xp.atleast_1d(x)[mesh_of(index, x.shape, dim)] = value


def _combine(reduce: str, x: Any, index: Any, src: Any, dim: int) -> None:
    """Reduce src into x at index along dim, in place. src: of x's dtype, in no dimension smaller than index; or 0-d."""
    xp = backend_of(x)
    if index.ndim == x.ndim and places.write_along(_KINDS[reduce], x, index, src, dim, False):
        return
    mesh = mesh_of(index, x.shape, dim)
    if src.ndim:
        src = src[tuple([slice(n) for n in xp.atleast_1d(index).shape])]
    ufunc = getattr(xp, _UFUNCS[reduce])
    if type(x) in others:
        at_on_device(ufunc, xp.atleast_1d(x), mesh, src)
    else:
        ufunc.at(xp.atleast_1d(x), mesh, src)


def _read_along(x: Any, index: Any, dim: int) -> Any:
    """Return the elements of x at index along dim."""
    xp = backend_of(x)
    found = places.take_along(x, index, dim, False) if index.ndim == x.ndim else None
    return xp.atleast_1d(x)[mesh_of(index, x.shape, dim)].reshape(index.shape) if found is None else found


def _reduce_into_copy(x: Any, index: Any, src: Any, dim: int, reduce: str, include_self: bool) -> Any:
    """Return a copy of x with src reduced into it at index."""
    result = memory.contiguous_copy(x)
    if not include_self:
        _write_number(result, index, _identity(reduce, x.dtype), dim)
    _combine(reduce, result, index, src, dim)
    return result


@general(promote=NONE, node="ScatterReduceBackward0", **_PRIVATE)
def _scatter_combine(xp, x, index, src, *, dim, reduce, include_self=True):
    """scatter_reduce for sums, means and products. Derivative: see scatter_reduce."""
    result = _reduce_into_copy(x, index, src, dim, reduce, include_self)
    if reduce == "mean":
        counts = _count_values(index, x.shape, dim, include_self)
        result = (result // counts if x.dtype.kind in "iu" else result / counts).astype(x.dtype)
    return result


@_scatter_combine.vjp("x")
def _(F, ct, x, index, src, dim, reduce, include_self):
    if reduce == "mean":
        ct = ct / _constant(F, _count_values(raw(index), raw(x).shape, dim, include_self), ct)
    elif reduce == "prod":
        # The product of the other values: reduce with 1 in place of x.
        ones = F.ones_like(x)
        ct = ct * F.conj(F._scatter_combine(ones, index, src, dim=dim, reduce="prod"))
    return ct if include_self else _zero_addressed(F, ct, x, index, dim)


@_scatter_combine.vjp("src")
def _(F, ct, x, index, src, dim, reduce, include_self):
    if reduce == "mean":
        ct = ct / _constant(F, _count_values(raw(index), raw(x).shape, dim, include_self), ct)
    part = F._gather(ct, index, dim=dim)
    if reduce == "prod":
        part = part * F.conj(_product_of_others(F, x, index, src, dim, include_self))
    return _source_cotangent(F, part, index, src)


@general(promote=NONE, node="ScatterReduceBackward0", **_PRIVATE)
def _scatter_extremum(xp, x, index, src, *, dim, reduce, include_self=True):
    """scatter_reduce for maxima and minima. Derivative: see scatter_reduce."""
    return _reduce_into_copy(x, index, src, dim, reduce, include_self)


@_scatter_extremum.vjp("x", "src")
def _(F, ct, x, index, src, out, dim, reduce, include_self):
    xp = backend_of(ct)
    shares = ct / _count_ties(F, x, index, src, out, dim, include_self)
    of_x = F.where(xp.asarray(raw(x) == raw(out)), shares, 0.0)
    of_x = of_x if include_self else _zero_addressed(F, of_x, x, index, dim)
    chosen = xp.asarray(raw(_used_source(F, src, index)) == _read_along(raw(out), raw(index), dim))
    of_src = F.where(chosen, F._gather(shares, index, dim=dim), 0.0)
    return of_x, _source_cotangent(F, of_src, index, src)


def _zero_addressed(F: Any, ct: Any, x: Any, index: Any, dim: int) -> Any:
    """Return ct with 0 at the elements that index addresses."""
    return F._masked_fill(ct, _constant(F, _addressed_mask(raw(index), raw(x).shape, dim), None), 0)


def _source_cotangent(F: Any, part: Any, index: Any, src: Any) -> Any:
    """Cotangent of src, given the cotangent of the part of src that index uses."""
    shape = raw(src).shape
    if part.shape == shape:
        return part
    return F.read_cotangent(part, shape=shape, index=tuple([slice(n) for n in raw(index).shape]))


@composite(**_PRIVATE)
def _scatter_reduce(F, x, index, src, *, dim, reduce, include_self=True):
    """scatter_reduce with its tensors first. Derivative: see scatter_reduce."""
    return getattr(F, _op_of(reduce).name)(x, index, src, dim=dim, reduce=reduce, include_self=include_self)


def _op_of(reduce: str) -> Any:
    return _scatter_extremum if reduce in ("amax", "amin") else _scatter_combine


def _constant(F: Any, array: Any, template: Any) -> Any:
    """Return the array as a constant that F accepts, a tensor or an array, in template's dtype unless that is None."""
    if template is not None:
        array = array.astype(raw(template).dtype, copy=False)
    return wrap(array) if F.is_tensor else array


def _used_source(F: Any, src: Any, index: Any) -> Any:
    """Return the leading part of src, of index's shape."""
    for dim, size in enumerate(raw(index).shape):
        src = F.narrow(src, dim, 0, size) if size != src.shape[dim] else src
    return src


def _count_ties(F: Any, x: Any, index: Any, src: Any, out: Any, dim: int, include_self: bool) -> Any:
    """Number of values that attain the extremum in each element, at least 1; a constant."""
    xp = backend_of(x)
    x, index, src, out = raw(x), raw(index), raw(src), raw(out)
    ties = x == out
    if not include_self:
        ties &= ~_addressed_mask(index, x.shape, dim)
    counts = xp.array(ties, out.dtype if out.dtype.char in "fd" else np.float64)
    same = _used_source(face_of(xp), src, index) == _read_along(out, index, dim)
    _combine("sum", counts, index, xp.asarray(same, counts.dtype), dim)
    return _constant(F, xp.maximum(counts, 1.0, out=counts), out)


def _product_of_others(F: Any, x: Any, index: Any, src: Any, dim: int, include_self: bool) -> Any:
    """Product, for each used element of src, of all other values with its index.

    Without zeros it is the quotient of the whole product and the element. With one zero it is the product of the other
    values for the zero, and 0 for the other elements. With two zeros or more it is 0."""
    xp = backend_of(x)
    used = _used_source(F, src, index)
    zero = raw(used) == 0
    if F.is_tensor and zero.any():
        # At a zero the substitute for the quotient has the right value, but not the right derivative.
        raise errors.NotDifferentiableError(
            "scatter_reduce(): Double backward is unsupported for src where a product has a zero in src. "
            "Hint: leave out create_graph=True."
        )
    zeros = xp.zeros(raw(x).shape)
    _combine("sum", zeros, raw(index), zero.astype(zeros.dtype), dim)
    there = _read_along(zeros, raw(index), dim)
    nonzero = F._masked_fill(used, _constant(F, zero, None), 1)
    product = F._scatter_combine(x, index, nonzero, dim=dim, reduce="prod", include_self=include_self)
    quotient = F._gather(product, index, dim=dim) / nonzero
    vanishes = xp.where(zero, there > 1, there > 0)
    return F._masked_fill(quotient, _constant(F, vanishes, None), 0)


def _checked_arguments(x: Any, dim: Any, index: Any, src: Any, reduce: str) -> tuple[Any, Any, int]:
    index, src = as_tensor(index), as_tensor(src)
    index_array(index, "scatter")
    if reduce not in _UFUNCS:
        raise errors.ShapeError(f"reduce argument must be either sum, prod, mean, amax or amin, got {reduce}")
    if raw(x).dtype.kind == "c" and reduce in ("amax", "amin"):
        raise errors.UnsupportedDtypeError(f"scatter_reduce(): {reduce} of complex numbers, which have no order")
    if isinstance(src, TensorBase) and raw(src).dtype != raw(x).dtype:
        raise errors.UnsupportedDtypeError("scatter(): Expected self.dtype to be equal to src.dtype")
    if not raw(index).size:
        index, src = without_elements(raw(x).ndim, src)
    return index, src, normalize_dim(dim, raw(x).ndim)


@composite(method=True)
def scatter_reduce(F, input, dim, index, src, reduce, *, include_self=True):
    """Return a copy of input with src reduced into it at index along dim.

    Values with equal indices are reduced, together with input's element unless include_self=False. reduce: "sum", "prod",
    "mean", "amax" or "amin". Other arguments: as `scatter`. Raises RuntimeError for another reduce, for amax and amin of
    complex numbers, and for a second derivative in src of a product with a zero in src.

    Derivative: of a sum 1; of a mean 1 divided by the number of values; of a product the product of the other values; of
    an extremum 1, shared evenly among the values that attain it.

    >>> import wengert
    >>> index, src = wengert.tensor([0, 0, 1]), wengert.tensor([2.0, 3.0, 4.0])
    >>> wengert.ones(2).scatter_reduce(0, index, src, "prod")
    tensor([6., 4.])
    """
    index, src, dim = _checked_arguments(input, dim, index, src, reduce)
    return F._scatter_reduce(input, index, src, dim=dim, reduce=reduce, include_self=include_self)


@plain(method=True, namespaces=())
def scatter_reduce_(self, dim, index, src, reduce, *, include_self=True):
    """In-place form of scatter_reduce."""
    index, src, dim = _checked_arguments(self, dim, index, src, reduce)
    params = {"dim": dim, "reduce": reduce, "include_self": include_self}
    return call_inplace(_op_of(reduce), (self, index, src), params)
