"""scatter_reduce: scatter that sums, multiplies, averages or takes the largest or smallest of all that meets at a
place."""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert import errors
from wengert.core.tensor import TensorBase, wrap
from wengert.core.views import call_inplace
from wengert.kernels import memory, places
from wengert.ops.dims import normalize_dim
from wengert.ops.faces import array_face
from wengert.ops.indices import as_tensor, index_array, mesh_of, raw
from wengert.ops.registry import NONE, composite, general, plain

_UFUNCS = {"sum": np.add, "mean": np.add, "prod": np.multiply, "amax": np.maximum, "amin": np.minimum}
_KINDS = {
    "sum": places.ADD, "mean": places.ADD, "prod": places.MULTIPLY, "amax": places.LARGEST, "amin": places.SMALLEST
}  # fmt: skip


_PRIVATE: dict[str, Any] = {"method": False, "namespaces": ()}


def _identity(reduce: str, dtype: Any) -> Any:
    """What changes nothing under a reduction."""
    if reduce in ("sum", "mean", "prod"):
        return int(reduce == "prod")
    if dtype.kind in "fV":
        return -np.inf if reduce == "amax" else np.inf
    if dtype.kind == "b":
        return reduce == "amin"
    limits = np.iinfo(dtype)
    return limits.min if reduce == "amax" else limits.max


def _counts(index: Any, shape: tuple, dim: int, include_self: bool) -> Any:
    """How many values meet at each place: a float64 array. Places that only x is at count as 1."""
    counts = np.full(shape, float(include_self))
    _combine("sum", counts, index, np.ones(()), dim)
    return np.maximum(counts, 1.0, out=counts)


def _touched(index: Any, shape: tuple, dim: int) -> Any:
    """Which places index names: a mask."""
    mask = np.zeros(shape, np.uint8)
    _write(mask, index, 1, dim)
    return mask.view(bool)


def _write(x: Any, index: Any, value: Any, dim: int) -> None:
    """x[index along dim] = value, a number."""
    written = index.ndim == x.ndim and places.write_along(places.PUT, x, index, np.asarray(value, x.dtype), dim, False)
    if not written:
        np.atleast_1d(x)[mesh_of(index, x.shape, dim)] = value


def _combine(reduce: str, x: Any, index: Any, src: Any, dim: int) -> None:
    """Combines x with src, an array of its dtype as large as index, or larger, or 0-d, in place."""
    if index.ndim == x.ndim and places.write_along(_KINDS[reduce], x, index, src, dim, False):
        return
    mesh = mesh_of(index, x.shape, dim)
    if src.ndim:
        src = src[tuple([slice(n) for n in np.atleast_1d(index).shape])]
    _UFUNCS[reduce].at(np.atleast_1d(x), mesh, src)


def _at(x: Any, index: Any, dim: int) -> Any:
    """x at index along dim."""
    found = places.take_along(x, index, dim, False) if index.ndim == x.ndim else None
    return np.atleast_1d(x)[mesh_of(index, x.shape, dim)].reshape(index.shape) if found is None else found


def _reduced(x: Any, index: Any, src: Any, dim: int, reduce: str, include_self: bool) -> Any:
    """A copy of x with src reduced into it at index."""
    result = memory.contiguous_copy(x)
    if not include_self:
        _write(result, index, _identity(reduce, x.dtype), dim)
    _combine(reduce, result, index, src, dim)
    return result


@general(promote=NONE, node="ScatterReduceBackward0", **_PRIVATE)
def _scatter_combine(xp, x, index, src, *, dim, reduce, include_self=True):
    """A copy of x with the sums, means or products of src and x at index. Derivative: see scatter_reduce."""
    result = _reduced(x, index, src, dim, reduce, include_self)
    if reduce == "mean":
        counts = _counts(index, x.shape, dim, include_self)
        result = (result // counts if x.dtype.kind in "iu" else result / counts).astype(x.dtype)
    return result


@_scatter_combine.vjp("x")
def _(F, ct, x, index, src, dim, reduce, include_self):
    if reduce == "mean":
        ct = ct / _constant(F, _counts(raw(index), raw(x).shape, dim, include_self), ct)
    elif reduce == "prod":
        # The product of the others: that of all, with 1 in the place of x.
        ones = F.ones_like(x)
        ct = ct * F.conj(F._scatter_combine(ones, index, src, dim=dim, reduce="prod"))
    return ct if include_self else _untouched(F, ct, x, index, dim)


@_scatter_combine.vjp("src")
def _(F, ct, x, index, src, dim, reduce, include_self):
    if reduce == "mean":
        ct = ct / _constant(F, _counts(raw(index), raw(x).shape, dim, include_self), ct)
    part = F._gather(ct, index, dim=dim)
    if reduce == "prod":
        part = part * F.conj(_others(F, x, index, src, dim, include_self))
    return _whole(F, part, index, src)


@general(promote=NONE, node="ScatterReduceBackward0", **_PRIVATE)
def _scatter_extremum(xp, x, index, src, *, dim, reduce, include_self=True):
    """A copy of x with the largest, or smallest, of src and x at index. Derivative: see scatter_reduce."""
    return _reduced(x, index, src, dim, reduce, include_self)


@_scatter_extremum.vjp("x", "src")
def _(F, ct, x, index, src, out, dim, reduce, include_self):
    shares = ct / _ties(F, x, index, src, out, dim, include_self)
    of_x = F.where(np.asarray(raw(x) == raw(out)), shares, 0.0)
    of_x = of_x if include_self else _untouched(F, of_x, x, index, dim)
    chosen = np.asarray(raw(_source(F, src, index)) == _at(raw(out), raw(index), dim))
    of_src = F.where(chosen, F._gather(shares, index, dim=dim), 0.0)
    return of_x, _whole(F, of_src, index, src)


def _untouched(F: Any, ct: Any, x: Any, index: Any, dim: int) -> Any:
    """ct with 0 where index names x."""
    return F._masked_fill(ct, _constant(F, _touched(raw(index), raw(x).shape, dim), None), 0)


def _whole(F: Any, part: Any, index: Any, src: Any) -> Any:
    """The cotangent of src from that of the part of it that index uses."""
    shape = raw(src).shape
    if part.shape == shape:
        return part
    return F.read_cotangent(part, shape=shape, index=tuple([slice(n) for n in raw(index).shape]))


@composite(**_PRIVATE)
def _scatter_reduce(F, x, index, src, *, dim, reduce, include_self=True):
    """A copy of x with src reduced into it at index. Derivative: see scatter_reduce."""
    return getattr(F, _op_of(reduce).name)(x, index, src, dim=dim, reduce=reduce, include_self=include_self)


def _op_of(reduce: str) -> Any:
    return _scatter_extremum if reduce in ("amax", "amin") else _scatter_combine


def _constant(F: Any, array: Any, template: Any) -> Any:
    """A constant for this face of F, in template's dtype."""
    if template is not None:
        array = array.astype(raw(template).dtype, copy=False)
    return wrap(array) if F.is_tensor else array


def _source(F: Any, src: Any, index: Any) -> Any:
    """The part of src that index uses."""
    for dim, size in enumerate(raw(index).shape):
        src = F.narrow(src, dim, 0, size) if size != src.shape[dim] else src
    return src


def _ties(F: Any, x: Any, index: Any, src: Any, out: Any, dim: int, include_self: bool) -> Any:
    """How many values share the extremum at each place: a constant."""
    x, index, src, out = raw(x), raw(index), raw(src), raw(out)
    ties = x == out
    if not include_self:
        ties &= ~_touched(index, x.shape, dim)
    counts = np.array(ties, out.dtype if out.dtype.char in "fd" else np.float64)
    same = _source(array_face, src, index) == _at(out, index, dim)
    _combine("sum", counts, index, np.asarray(same, counts.dtype), dim)
    return _constant(F, np.maximum(counts, 1.0, out=counts), out)


def _others(F: Any, x: Any, index: Any, src: Any, dim: int, include_self: bool) -> Any:
    """For each element of src that is used, the product of all else that meets at its place.

    Without zeros that is the quotient of the whole product and the element; with one zero the product of the others
    stays where the zero is, and is 0 elsewhere; with two or more it is 0."""
    used = _source(F, src, index)
    zero = raw(used) == 0
    if F.is_tensor and zero.any():
        # What stands for the quotient at a zero is right in value but not as a function of the others.
        raise errors.NotDifferentiableError(
            "scatter_reduce(): Double backward is unsupported for src where a product has a zero in src. "
            "Hint: leave out create_graph=True."
        )
    zeros = np.zeros(raw(x).shape)
    _combine("sum", zeros, raw(index), zero.astype(zeros.dtype), dim)
    there = _at(zeros, raw(index), dim)
    nonzero = F._masked_fill(used, _constant(F, zero, None), 1)
    product = F._scatter_combine(x, index, nonzero, dim=dim, reduce="prod", include_self=include_self)
    quotient = F._gather(product, index, dim=dim) / nonzero
    vanishes = np.where(zero, there > 1, there > 0)
    return F._masked_fill(quotient, _constant(F, vanishes, None), 0)


def _arguments(x: Any, dim: Any, index: Any, src: Any, reduce: str) -> tuple[Any, Any, int]:
    index, src = as_tensor(index), as_tensor(src)
    index_array(index, "scatter")
    if reduce not in _UFUNCS:
        raise errors.ShapeError(f"reduce argument must be either sum, prod, mean, amax or amin, got {reduce}")
    if raw(x).dtype.kind == "c" and reduce in ("amax", "amin"):
        raise errors.UnsupportedDtypeError(f"scatter_reduce(): {reduce} of complex numbers, which have no order")
    if isinstance(src, TensorBase) and raw(src).dtype != raw(x).dtype:
        raise errors.UnsupportedDtypeError("scatter(): Expected self.dtype to be equal to src.dtype")
    return index, src, normalize_dim(dim, raw(x).ndim)


@composite(method=True)
def scatter_reduce(F, input, dim, index, src, reduce, *, include_self=True):
    """scatter() that reduces all values that meet at a place, and what x has there (unless include_self=False).

    reduce: "sum", "prod", "mean", "amax" or "amin". Shapes as for scatter.

    Derivative: of a sum 1; of a mean 1 divided by the number of values; of a product the product of the others; of an
    extremum 1 shared evenly among the values that attain it.

    >>> import wengert
    >>> index, src = wengert.tensor([0, 0, 1]), wengert.tensor([2.0, 3.0, 4.0])
    >>> wengert.ones(2).scatter_reduce(0, index, src, "prod")
    tensor([6., 4.])
    """
    index, src, dim = _arguments(input, dim, index, src, reduce)
    return F._scatter_reduce(input, index, src, dim=dim, reduce=reduce, include_self=include_self)


@plain(method=True, namespaces=())
def scatter_reduce_(self, dim, index, src, reduce, *, include_self=True):
    """In-place form of scatter_reduce."""
    index, src, dim = _arguments(self, dim, index, src, reduce)
    params = {"dim": dim, "reduce": reduce, "include_self": include_self}
    return call_inplace(_op_of(reduce), (self, index, src), params)
