"""Complex numbers: their construction, parts, conjugates and angles."""

from __future__ import annotations

import math
from typing import Any

from wengert import errors
from wengert.backends.selection import is_array
from wengert.core import mirrors
from wengert.core.tensor import TensorBase
from wengert.ops.faces import conj_of
from wengert.ops.registry import INT_TO_FLOAT, NONE, composite, general, linear, nondifferentiable, pointwise, view
from wengert.ops.values import is_complex, is_number

_PRIVATE = {"method": False, "namespaces": ()}


@view(node="ConjBackward0", promote=NONE, **_PRIVATE)
def _conj(xp, x):
    """Complex conjugate of a complex x: a view. See Note [Mirrors] in core/mirrors.py.

    Derivative: the conjugate of the cotangent."""
    with xp.current(xp.device_of(x)):
        return xp.conjugate(x)


_conj.reflection = mirrors.CONJUGATE


@_conj.vjp("x")
def _(F, ct):
    return F.conj(ct)


@composite(method=True, array=conj_of)
def conj(F, input):
    """Complex conjugate of each element: a view, which shows writes into input and passes writes on to input.

    A real tensor is returned itself.

    Derivative: the conjugate of the cotangent."""
    if isinstance(input, TensorBase):
        return _conj.function(input) if input._array.dtype.kind == "c" else input
    if is_number(input) or is_array(input):
        return conj_of(input)
    return _conj_physical.function(input) if is_complex(input) else input


@view(node="NegViewBackward0", promote=NONE, **_PRIVATE)
def _neg_view(xp, x):
    """Negative of x: a view.

    Derivative: -1."""
    with xp.current(xp.device_of(x)):
        return xp.negative(x)


_neg_view.reflection = mirrors.NEGATIVE


@_neg_view.vjp("x")
def _(F, ct):
    return -ct


@composite(method=True)
def resolve_conj(F, input):
    """A copy of a conjugate view, in memory of its own. Any other tensor is returned itself.

    Derivative: 1."""
    return _resolved(input, mirrors.CONJUGATE)


@composite(method=True)
def resolve_neg(F, input):
    """A copy of a negated view, such as x.conj().imag, in memory of its own. Any other tensor is returned itself.

    Derivative: 1."""
    return _resolved(input, mirrors.NEGATIVE)


def _resolved(input: Any, relation: int) -> Any:
    """Return a copy of a mirror in whose relation to its base the bit `relation` is, and any other tensor itself."""
    input.dtype  # noqa: B018 (an object without a dtype raises here)
    is_related = isinstance(input, TensorBase) and mirrors.relation_of(input) & relation
    return input.clone() if is_related else input


@pointwise(inplace="conj_physical_", **_PRIVATE)
def _conj_physical(xp, x):
    """Complex conjugate of x. A real x is copied.

    Derivative: the conjugate of the cotangent."""
    return xp.conjugate(x)


@_conj_physical.vjp("x")
def _(F, ct):
    return F.conj(ct)


@composite(method=True, array=conj_of)
def conj_physical(F, input):
    """Complex conjugate of each element, as a copy. A real tensor is returned itself.

    Derivative: the conjugate of the cotangent."""
    return _conj_physical.function(input) if is_complex(input) else input


@view(node="SelectBackward0", promote=NONE, **_PRIVATE)
def _real(xp, x):
    """Real part of a complex x: a view.

    Derivative: the cotangent as the real part."""
    return x.real


_real.reflection = mirrors.REAL_PART


@_real.vjp("x")
def _(F, ct):
    return ct


@composite(array=lambda x: x.real)
def real(F, input):
    """Real part of each element: a view. A real tensor is returned itself.

    Derivative: the cotangent as the real part, 0 as the imaginary part."""
    if is_number(input):
        return input.real
    return _real.function(input) if is_complex(input) else input


@view(node="SelectBackward0", promote=NONE, **_PRIVATE)
def _imag(xp, x):
    """Imaginary part of a complex x: a view.

    Derivative: the cotangent as the imaginary part."""
    return x.imag


_imag.reflection = mirrors.IMAGINARY_PART


@_imag.vjp("x")
def _(F, ct):
    return ct * 1j


@composite(array=lambda x: x.imag)
def imag(F, input):
    """Imaginary part of each element: a view. Raises RuntimeError for a real tensor.

    Derivative: the cotangent as the imaginary part, 0 as the real part."""
    if not is_complex(input):
        raise errors.UnsupportedDtypeError("imag is not implemented for tensors with non-complex dtypes.")
    return F._imag(input)


@pointwise(promote=INT_TO_FLOAT)
def angle(xp, x):
    """Angle of each complex number in radians, from -pi to pi. Of a real x 0, or pi where x < 0; NaN stays NaN.

    Derivative: 1j * x / |x|**2 for complex x, and 0 at 0; 0 for real x."""
    if x.dtype.kind == "c":
        return xp.arctan2(x.imag, x.real)
    return xp.where(x != x, x, xp.where(x < 0, math.pi, 0.0)).astype(x.dtype, copy=False)


@angle.vjp("x")
def _(F, ct, x):
    if not is_complex(x):
        return F._zeros(ct)
    magnitude = F.abs(x)
    return F._zero_where(ct * (1j * x) / (magnitude * magnitude), magnitude == 0)


def _check_parts(op: str, names: tuple[str, str], x: Any, y: Any) -> None:
    """Raise TypeError or RuntimeError unless x and y are floating arrays of one dtype."""
    for i, part in enumerate((x, y)):
        if not hasattr(part, "dtype"):
            raise errors.wrong_argument_type(op, names[i], i, type(part))
    for part in (x, y):
        if part.dtype.kind != "f":
            raise errors.UnsupportedDtypeError("Expected both inputs to be Half, Float or Double tensors")
    if x.dtype != y.dtype:
        raise errors.UnsupportedDtypeError("Expected both inputs to have the same dtype")


@linear(name="complex", method=False, promote=NONE)
def make_complex(xp, real, imag):
    """real + 1j * imag, with broadcasting. real, imag: floating, of one dtype; float16 gives complex64.

    Derivative: the real part of ct in real, the imaginary part of ct in imag."""
    _check_parts("complex", ("real", "imag"), real, imag)
    shape = xp.broadcast_shapes(real.shape, imag.shape)
    result = xp.empty(shape, xp.result_type(real.dtype, xp.complex64))
    result.real = real
    result.imag = imag
    return result


@make_complex.vjp("real")
def _(F, ct):
    return F.real(ct)


@make_complex.vjp("imag")
def _(F, ct):
    return F.imag(ct)


@general(method=False, promote=NONE)
def polar(xp, abs, angle):
    """abs * exp(1j * angle), with broadcasting. abs, angle (radians): floating, of one dtype; float16 gives complex64.

    Derivative: with c = ct * exp(-1j * angle), the real part of c in abs, abs times the imaginary part of c in angle."""
    _check_parts("polar", ("abs", "angle"), abs, angle)
    return abs * (xp.cos(angle) + 1j * xp.sin(angle))


@polar.vjp("abs")
def _(F, ct, angle):
    return F.real(ct * F.exp(-1j * angle))


@polar.vjp("angle")
def _(F, ct, out):
    return F.imag(ct * F.conj(out))


@nondifferentiable(promote=NONE)
def isreal(xp, x):
    """Whether the imaginary part of each element is 0: a bool tensor."""
    return xp.isreal(x)


# -- complex numbers as pairs of reals, and back -----------------------------------------------------------------------


@view(promote=NONE, method=False)
def view_as_real(xp, x):
    """View of a complex x, (...), as (..., 2): the last dimension holds real and imaginary part. RuntimeError for a real x.

    Derivative: the pairs of the cotangent as complex numbers.

    >>> import wengert
    >>> wengert.view_as_real(wengert.tensor([1 + 2j]))
    tensor([[1., 2.]])
    """
    if x.dtype.kind != "c":
        raise errors.UnsupportedDtypeError("view_as_real is only supported for complex tensors")
    parts = x.real
    return xp.lib.stride_tricks.as_strided(parts, (*x.shape, 2), (*parts.strides, parts.itemsize))


view_as_real.reflection = mirrors.BOTH_PARTS


@view_as_real.vjp("x")
def _(F, ct):
    real, imaginary = F.narrow(ct, -1, 0, 1), F.narrow(ct, -1, 1, 1)
    return F.squeeze(F.complex(real, imaginary), dim=-1)


@view(promote=NONE, method=False)
def view_as_complex(xp, x):
    """View of x, (..., 2), as complex numbers (...): the last dimension of x holds real and imaginary part.

    x: float32 or float64, with stride 1 in the last dimension and even strides in the others, else RuntimeError.

    Derivative: the real and imaginary parts of the cotangent.

    >>> import wengert
    >>> wengert.view_as_complex(wengert.tensor([[1.0, 2.0]]))
    tensor([1.+2.j])
    """
    if x.dtype not in (xp.float32, xp.float64):
        raise errors.UnsupportedDtypeError(
            "view_as_complex is only supported for half, float and double tensors, but got a tensor of scalar type: "
            f"{errors.scalar_name(x.dtype)}"
        )
    if not x.ndim:
        raise errors.ShapeError("Input tensor must have one or more dimensions")
    if x.shape[-1] != 2:
        raise errors.ShapeError("Tensor must have a last dimension of size 2")
    if x.strides[-1] != x.itemsize:
        raise errors.ShapeError("Tensor must have a last dimension with stride 1")
    if any(stride % (2 * x.itemsize) for stride in x.strides[:-1]):
        raise errors.ShapeError("Tensor must have a stride divisible by 2 for all but last dimension")
    return x.view(xp.result_type(x.dtype, xp.complex64))[..., 0]


view_as_complex.reflection = mirrors.REINTERPRETS


@view_as_complex.vjp("x")
def _(F, ct):
    return F.view_as_real(ct)
