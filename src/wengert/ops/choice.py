"""Operations that choose between values (maximum, clamp, where) and operations that overwrite values (fill_, zero_, copy_)."""

from __future__ import annotations

import numpy as np

from wengert import dtypes, errors
from wengert.backends.selection import backend_of, beside, is_array, others, together
from wengert.core.dispatch import call
from wengert.core.tensor import TensorBase
from wengert.core.trace import Traced
from wengert.core.views import call_inplace
from wengert.core.writing import fill_at_once
from wengert.kernels import memory, native
from wengert.ops.indices import raw
from wengert.ops.inplace import write_inplace
from wengert.ops.registry import NONE, SAME, alias, general, linear, nondifferentiable, plain, pointwise
from wengert.ops.values import is_number

_PRIVATE = {"method": False, "namespaces": ()}
_LARGE_SIZE = 512  # below this size, a second NumPy call costs more than the slower single call

# -- helpers for rules -------------------------------------------------------------------------------------------------


@nondifferentiable(promote=NONE, array=lambda x: backend_of(x).zeros(x.shape, x.dtype), **_PRIVATE)
def _zeros(xp, x):
    """0 for each element of x."""
    return xp.zeros(x.shape, x.dtype)


def _everywhere(*_):
    """Return the untaken mask of an input whose cotangent is 0 everywhere."""
    return np.ones((), np.bool_)


@linear(promote=NONE, array=lambda x, y, *, node: x, **_PRIVATE)
def _flat_in(xp, x, y, *, node):
    """x itself, with a graph that leads to y too. x is piecewise constant in y. See Note [Flat rules] in core/rules.py.

    Derivative: the cotangent in x, 0 in y."""
    return x


@_flat_in.vjp("x")
def _(F, ct):
    return ct


@_flat_in.vjp("y", untaken=_everywhere)
def _(F, ct, y_shape):
    return F.new_zeros(ct, size=y_shape) if F.is_tensor else F.zeros(y_shape, ct.dtype)


@_flat_in.jvp("x", "y")
def _(F, x_t):
    return x_t


@linear(promote=NONE, **_PRIVATE)
def _zero_where(xp, x, mask):
    """x with 0 where mask is true. mask broadcasts to x, or is a bool.

    Multiplying x by the mask instead would give NaN where x is infinite or NaN.

    Derivative: 0 where mask is true, else 1."""
    if mask is True or mask is False:
        return xp.zeros(x.shape, x.dtype) if mask else x.copy()
    has_kernel = native is not None and x.ndim != 0 and isinstance(x, np.ndarray)
    found = native.choose(mask, xp.zeros((), x.dtype), x) if has_kernel else None
    if found is not None:
        return found
    if x.size < _LARGE_SIZE or x.dtype.kind == "c":
        return xp.where(mask, x.dtype.type(0), x)
    # xp.where mispredicts a branch at every other element of a random mask. Multiplying the bits by 0 or 1 is 6 times as fast.
    result = xp.empty(x.shape, x.dtype)
    bits = f"i{x.itemsize}"
    xp.multiply(x.view(bits), xp.logical_not(mask), out=result.view(bits))
    return result


@_zero_where.vjp("x", untaken=lambda mask: mask)
def _(F, ct, mask):
    return F._zero_where(ct, mask)


# -- larger and smaller ------------------------------------------------------------------------------------------------


@pointwise(complex=False)
def maximum(xp, x, y):
    """The larger of x and y, element by element, with broadcasting; NaN where x or y is NaN.

    Derivative: 1 in the larger, 0 in the smaller; 1 / 2 in both where they are equal."""
    return xp.maximum(x, y)


@maximum.vjp("x", untaken=lambda x, y: x < y)
def _(F, ct, x, y):
    return F._zero_where(F.where(x == y, 0.5 * ct, ct), x < y)


@maximum.vjp("y", untaken=lambda x, y: x > y)
def _(F, ct, x, y):
    return F._zero_where(F.where(x == y, 0.5 * ct, ct), x > y)


@pointwise(complex=False)
def minimum(xp, x, y):
    """The smaller of x and y, element by element, with broadcasting; NaN where x or y is NaN.

    Derivative: 1 in the smaller, 0 in the larger; 1 / 2 in both where they are equal."""
    return xp.minimum(x, y)


@minimum.vjp("x", untaken=lambda x, y: x > y)
def _(F, ct, x, y):
    return F._zero_where(F.where(x == y, 0.5 * ct, ct), x > y)


@minimum.vjp("y", untaken=lambda x, y: x < y)
def _(F, ct, x, y):
    return F._zero_where(F.where(x == y, 0.5 * ct, ct), x < y)


def _fmax_is_x(x, y):
    """Whether fmax(x, y) is x, element by element."""
    return (x >= y) | (y != y)


def _fmin_is_x(x, y):
    """Whether fmin(x, y) is x, element by element."""
    return (x <= y) | (y != y)


@pointwise(complex=False)
def fmax(xp, x, y):
    """The larger of x and y, element by element, with broadcasting. If one is NaN, the result is the other one.

    Derivative: 1 in x where x is chosen (also where x equals y), else 1 in y."""
    return xp.fmax(x, y)


@fmax.vjp("x", untaken=lambda x, y: ~_fmax_is_x(x, y))
def _(F, ct, x, y):
    return F._zero_where(ct, ~_fmax_is_x(x, y))


@fmax.vjp("y", untaken=_fmax_is_x)
def _(F, ct, x, y):
    return F._zero_where(ct, _fmax_is_x(x, y))


@pointwise(complex=False)
def fmin(xp, x, y):
    """The smaller of x and y, element by element, with broadcasting. If one is NaN, the result is the other one.

    Derivative: 1 in x where x is chosen (also where x equals y), else 1 in y."""
    return xp.fmin(x, y)


@fmin.vjp("x", untaken=lambda x, y: ~_fmin_is_x(x, y))
def _(F, ct, x, y):
    return F._zero_where(ct, ~_fmin_is_x(x, y))


@fmin.vjp("y", untaken=_fmin_is_x)
def _(F, ct, x, y):
    return F._zero_where(ct, _fmin_is_x(x, y))


# -- bounds ------------------------------------------------------------------------------------------------------------


def _clamp_array(xp, x, min, max):
    """clamp of an array. min or max may be None."""
    if max is None:
        return xp.maximum(x, min)
    if min is None:
        return xp.minimum(x, max)
    # clip takes a fourth of the time for large arrays, but has three times the overhead.
    return xp.clip(x, min, max) if x.size > _LARGE_SIZE else xp.minimum(xp.maximum(x, min), max)


def _is_outside(x, min, max):
    """Whether x is outside [min, max] or NaN, element by element."""
    if max is None:
        return ~(x >= min)
    if min is None:
        return ~(x <= max)
    return ~((x >= min) & (x <= max))


def _is_replaced(x, min, max):
    """Untaken mask of clamp's x: True where a bound replaces x. clamp keeps a NaN in x, so the mask is False there."""
    return _is_outside(x, min, max) & (x == x)


@pointwise(complex=False, node="ClampBackward1", inplace="_clamp_between_", **_PRIVATE)
def _clamp_between(xp, x, *, min, max):
    """clamp of a floating x. min, max: numbers or None.

    Derivative: 1 where min <= x <= max, else 0."""
    return _clamp_array(xp, x, min, max)


@_clamp_between.vjp("x", untaken=_is_replaced)
def _(F, ct, x, min, max):
    return F._zero_where(ct, _is_outside(x, min, max))


def _clamp_node(inputs, params):
    return f"ClampBackward{0 if any(isinstance(x, TensorBase) for x in inputs[1:]) else 1}"


@pointwise(complex=False, node=_clamp_node, inplace="_clamp_", **_PRIVATE)
def _clamp(xp, x, min=None, max=None):
    """clamp with any bounds, in the promoted dtype of x, min and max.

    Derivative: 1 in x where min <= x <= max, else 0; 1 in a bound where it replaces x."""
    return _clamp_array(xp, x, min, max)


@_clamp.vjp("x", untaken=_is_replaced)
def _(F, ct, x, min, max):
    return F._zero_where(ct, _is_outside(x, min, max))


def _is_not_min(x, min, max):
    """Whether clamp(x, min, max) is not min, element by element."""
    return ~(x < min) if max is None else ~((x < min) & (min < max))


def _is_not_max(x, min, max):
    """Whether clamp(x, min, max) is not max, element by element."""
    return ~(x > max) if min is None else ~((x > max) | (max < min))


@_clamp.vjp("min", untaken=lambda x, min, max: _is_not_min(x, min, max) & (min == min))
def _(F, ct, x, min, max):
    return F._zero_where(ct, _is_not_min(x, min, max))


@_clamp.vjp("max", untaken=lambda x, min, max: _is_not_max(x, min, max) & (max == max))
def _(F, ct, x, min, max):
    return F._zero_where(ct, _is_not_max(x, min, max))


_PLAIN_BOUNDS = (float, int, type(None))


def _bounds_are_plain(input, min, max):
    """Whether input is a floating tensor and the bounds are numbers, which keep its dtype. Raises RuntimeError for no bounds."""
    if min is None and max is None:
        raise RuntimeError("torch.clamp: At least one of 'min' or 'max' must not be None")
    plain_bounds = type(min) in _PLAIN_BOUNDS and type(max) in _PLAIN_BOUNDS
    return plain_bounds and isinstance(input, TensorBase) and input._array.dtype.kind == "f"


def _clamp_any(x, min=None, max=None):
    """Return clamp() of a raw array."""
    return _clamp_array(backend_of(x), x, min, max)


@plain(method=True, array=_clamp_any)
def clamp(input, min=None, max=None, *, out=None):
    """input clipped to [min, max], with broadcasting; max where min > max.

    min, max: numbers, tensors or None. Raises RuntimeError if both are None.

    Derivative: 1 in input where min <= input <= max, else 0 (also at NaN); 1 in a bound where it replaces input.

    >>> import wengert
    >>> wengert.clamp(wengert.tensor([-2.0, 0.5, 2.0]), min=-1, max=1)
    tensor([-1.0000,  0.5000,  1.0000])
    """
    if _bounds_are_plain(input, min, max) and out is None:
        return call(_clamp_between, (input,), {"min": min, "max": max})
    return _clamp.function(input, min, max) if out is None else _clamp.function(input, min, max, out=out)


@plain(name="clamp_", method=True, namespaces=())
def clamp_(self, min=None, max=None):
    """In-place form of clamp."""
    if _bounds_are_plain(self, min, max):
        return call_inplace(_clamp_between, (self,), {"min": min, "max": max})
    return call_inplace(_clamp, (self, min, max), None)


def _bound_node(name):
    return lambda inputs, params: f"{name}Backward{int(isinstance(inputs[1], TensorBase))}"


@pointwise(inplace=True, complex=False, node=_bound_node("ClampMin"))
def clamp_min(xp, x, min):
    """max(x, min), element by element, with broadcasting. min: a number or a tensor.

    Derivative: 1 in x where x >= min, 1 in min where x < min, else 0. NaN gives 0 in both."""
    return xp.maximum(x, min)


@clamp_min.vjp("x", untaken=lambda x, min: _is_replaced(x, min, None))
def _(F, ct, x, min):
    return F._zero_where(ct, ~(x >= min))


@clamp_min.vjp("min", untaken=lambda x, min: _is_not_min(x, min, None) & (min == min))
def _(F, ct, x, min):
    return F._zero_where(ct, ~(x < min))


@pointwise(inplace=True, complex=False, node=_bound_node("ClampMax"))
def clamp_max(xp, x, max):
    """min(x, max), element by element, with broadcasting. max: a number or a tensor.

    Derivative: 1 in x where x <= max, 1 in max where x > max, else 0. NaN gives 0 in both."""
    return xp.minimum(x, max)


@clamp_max.vjp("x", untaken=lambda x, max: _is_replaced(x, None, max))
def _(F, ct, x, max):
    return F._zero_where(ct, ~(x <= max))


@clamp_max.vjp("max", untaken=lambda x, max: _is_not_max(x, None, max) & (max == max))
def _(F, ct, x, max):
    return F._zero_where(ct, ~(x > max))


alias("clip", clamp)
alias("clip_", clamp_)


# -- where -------------------------------------------------------------------------------------------------------------


@linear(promote=NONE, **_PRIVATE)
def _where(xp, condition, x, y):
    """x where condition is True, else y.

    Derivative: 1 where the operand is chosen, else 0."""
    if not is_array(x) or not is_array(y) or x.dtype != y.dtype:
        dtype = dtypes.resolve(SAME, (x, y))
        x, y = _cast(x, dtype), _cast(y, dtype)
    try:
        return memory.choose(condition, x, y)
    except ValueError:
        raise errors.broadcast_shapes(condition.shape, x.shape, y.shape) from None


@_where.vjp("x", untaken=lambda condition: ~condition)
def _(F, ct, condition):
    return F._zero_where(ct, ~condition)


@_where.vjp("y", untaken=lambda condition: condition)
def _(F, ct, condition):
    return F._zero_where(ct, condition)


def _cast(x, dtype):
    return x.astype(dtype, copy=False) if is_array(x) else dtypes.scalar_to_array(x, dtype)


def _as_condition(condition):
    """Convert a condition to a bool tensor or array. Old programs use uint8 for bool. Raises RuntimeError for other dtypes."""
    xp = backend_of(condition)
    if isinstance(condition, TensorBase) and condition._array.dtype.kind == "b":
        return condition
    if isinstance(condition, Traced):
        return condition
    array = raw(condition)
    if not (is_array(array) or isinstance(array, np.generic)):
        if not isinstance(array, bool):
            raise errors.wrong_argument_type("where", "condition", 0, type(array))
        return xp.asarray(array)
    if array.dtype == np.bool_:
        return xp.asarray(condition) if isinstance(condition, np.generic) else condition  # a scalar is saved as a number
    if array.dtype != np.uint8:
        name = dtypes.from_numpy_dtype(array.dtype).scalar_name
        raise RuntimeError(f"where expected condition to be a boolean tensor, but got a tensor with dtype {name}")
    return array.astype(np.bool_)


@plain(array=memory.choose)
def where(condition, input=None, other=None, *, out=None):
    """input where condition is True, else other, with broadcasting.

    condition: a bool (or uint8) tensor; RuntimeError for another dtype. input, other: tensors or numbers, which promote
    as in arithmetic. If both are left out, the result is nonzero(condition, as_tuple=True).

    Derivative: 1 where the operand is chosen, else 0. An element that is not chosen gets 0 even if the derivative of its
    operand is infinite or NaN: the derivative of where(x > 0, sqrt(x), 0) is 0 at 0. docs/derivatives.md says for which
    graphs this holds.

    >>> import wengert
    >>> x = wengert.tensor([-1.0, 2.0], requires_grad=True)
    >>> wengert.where(x > 0, x, 0.0)
    tensor([0., 2.], grad_fn=<WhereBackward0>)
    """
    if input is None and other is None:
        from wengert.ops.registry import OPS

        return OPS["nonzero"].function(condition, as_tuple=True)
    if out is None:
        return call(_where, (_as_condition(condition), input, other), None)
    return _where.function(_as_condition(condition), input, other, out=out)


@plain(name="_where_method", method="where", namespaces=())
def where_(self, condition, other):
    """where(condition, self, other): self where condition is True, else other.

    Derivative: 1 where the operand is chosen, else 0."""
    return call(_where, (_as_condition(condition), self, other), None)


# -- overwriting -------------------------------------------------------------------------------------------------------


def _full(xp, x, value):
    """value, a number or a 0-d tensor, in x's shape and dtype.

    Derivative: 0 in x; the sum of ct in value."""
    value = value if is_array(value) else dtypes.checked_scalar(value, x.dtype)
    return xp.full(x.shape, together((x, value))[1], x.dtype)


# fill and fill_ are two operations because torch gives their nodes different numbers.
def _make_fill(name, with_number, with_tensor):
    """Register _full under a name, with its node's names for a number and for a tensor as value."""
    def node(inputs, params):
        return with_tensor if isinstance(inputs[1], TensorBase) else with_number

    op = general(name=name, promote=NONE, node=node, **_PRIVATE)(_full)

    @op.vjp("x", untaken=_everywhere)
    def _(F, ct):
        return F._zeros(ct)

    @op.vjp("value")
    def _(F, ct):
        return ct

    return op


_fill = _make_fill("_fill", "FillBackward0", "FillBackward1")
_fill_inplace = _make_fill("_fill_inplace", "FillBackward2", "FillBackward3")


def _fill_value(value):
    """Return value, a NumPy scalar or 0-d array as a Python number. Raises RuntimeError for more dimensions."""
    ndim = 0 if is_number(value) else getattr(raw(value), "ndim", 0)
    if ndim:
        raise RuntimeError(f"fill_ only supports 0-dimension value tensor but got tensor with {ndim} dimensions.")
    return value.item() if (is_array(value) or isinstance(value, np.generic)) else value


@plain()
def fill(input, value):
    """A new tensor of input's shape and dtype with value in every element. value: a number or a 0-d tensor.

    Derivative: 0 in input; the sum of ct in value."""
    return _fill.function(input, _fill_value(value))


@plain(name="fill_", method=True, namespaces=())
def fill_(self, value):
    """Write value, a number or a 0-d tensor, into every element of this tensor, and return the tensor.

    Raises RuntimeError if the dtype cannot hold the number, and for a tensor with dimensions.

    Derivative: 0 in the old values; the sum of ct in value."""
    if fill_at_once(self, value):
        return self
    value = _fill_value(value)
    return write_inplace(_fill_inplace, (self, value), {}, _copy_into, one_value=not isinstance(value, TensorBase))


@linear(promote=NONE, **_PRIVATE)
def _zero(xp, x):
    """0 in x's shape and dtype. Derivative: 0."""
    return xp.zeros_like(x)


@_zero.vjp("x", untaken=_everywhere)
def _(F, ct):
    return F._zeros(ct)


@plain(name="zero_", method=True, namespaces=())
def zero_(self):
    """Write 0 into every element of this tensor, and return the tensor.

    Derivative: 0 in the old values."""
    if fill_at_once(self, 0):
        return self
    return write_inplace(_zero, (self,), {}, _zero_into, one_value=True)


def _zero_into(target):
    target.fill(0)


@linear(promote=NONE, node="CopyBackwards", moves=True, **_PRIVATE)
def _copy(xp, x, src):
    """src, broadcast and cast to x's shape and dtype.

    Derivative: 0 in x, 1 in src."""
    result = xp.empty_like(x)
    _copy_into(result, src)
    return result


@_copy.vjp("x", untaken=_everywhere)
def _(F, ct):
    return F._zeros(ct)


@_copy.vjp("src")
def _(F, ct):
    return ct


_copy.is_copy = True


@plain(name="copy_", method=True, namespaces=())
def copy_(self, other, non_blocking=False):
    """Write other into this tensor, cast to its dtype, and return the tensor.

    other: a number, or a tensor that broadcasts to this tensor's shape, else RuntimeError.

    Derivative: 0 in the old values, 1 in other."""
    if others and isinstance(other, TensorBase):
        other = other.to(self.device)  # type: ignore[attr-defined]  # a TensorBase is a Tensor
    return write_inplace(_copy, (self, other), {}, _copy_into)


def _copy_into(target, src):
    """Write src, an array or a number, into target, cast as torch casts. Raises RuntimeError for shapes that do not fit."""
    if not is_array(src):
        src = beside(dtypes.checked_scalar(src, target.dtype), target)
    elif src.dtype is not target.dtype:
        dtypes.from_numpy_dtype(src.dtype)  # raises for a dtype that no tensor has
    try:
        target[...] = src.real if src.dtype.kind == "c" and target.dtype.kind != "c" else src
    except ValueError:
        try:
            shape = np.broadcast_shapes(target.shape, src.shape)
        except ValueError:
            raise errors.broadcast_shapes(target.shape, src.shape) from None
        if shape != target.shape:
            raise errors.inplace_shape(target.shape, shape) from None
        raise
