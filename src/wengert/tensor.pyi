"""The types of class Tensor.

Written by `make generate`: change the sources, not this file.
"""

# ruff: noqa

from builtins import bool as _bool, complex as _complex, float as _float, int as _int, str as _str, type as _type
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal, TypeAlias, overload

import numpy as np

from wengert import return_types as return_types
from wengert.core.hooks import RemovableHandle as RemovableHandle
from wengert.core.node import Node
from wengert.core.tensor import TensorBase
from wengert.devices import device as _device
from wengert.dtypes import dtype as _dtype
from wengert.generator import Generator
from wengert.sizes import Size

_Number: TypeAlias = _bool | _int | _float | _complex
_Operand: TypeAlias = Tensor | np.ndarray[Any, Any] | np.generic | _Number
_Dtype: TypeAlias = _dtype | np.dtype[Any] | _type[Any] | str


class Tensor(TensorBase):
    def __init__(self, *args: Any, **kwargs: Any) -> None: ...
    @property
    def _base(self) -> Tensor | None:
        """The tensor that this one is a view of, or None."""
    def requires_grad_(self, requires_grad: _bool=True) -> Tensor:
        """Set requires_grad and return the tensor itself."""
    def add(self, other: _Operand, *, alpha: _Number = 1) -> Tensor:
        """x + alpha * y, with broadcasting. x, y: tensors or numbers of any dtype."""
    def add_(self, other: _Operand, *, alpha: _Number = 1) -> Tensor:
        """x + alpha * y, with broadcasting. x, y: tensors or numbers of any dtype."""
    def __add__(self, other: _Operand) -> Tensor: ...
    def __radd__(self, other: _Operand) -> Tensor: ...
    def __iadd__(self, other: _Operand) -> Tensor: ...
    def sub(self, other: _Operand, *, alpha: _Number = 1) -> Tensor:
        """x - alpha * y, with broadcasting. x, y: tensors or numbers. alpha: as in `add`. Raises RuntimeError for bools."""
    def sub_(self, other: _Operand, *, alpha: _Number = 1) -> Tensor:
        """x - alpha * y, with broadcasting. x, y: tensors or numbers. alpha: as in `add`. Raises RuntimeError for bools."""
    def __sub__(self, other: _Operand) -> Tensor: ...
    def __rsub__(self, other: _Operand) -> Tensor: ...
    def __isub__(self, other: _Operand) -> Tensor: ...
    def mul(self, other: _Operand) -> Tensor:
        """x * y, with broadcasting. x, y: tensors or numbers of any dtype."""
    def mul_(self, other: _Operand) -> Tensor:
        """x * y, with broadcasting. x, y: tensors or numbers of any dtype."""
    def __mul__(self, other: _Operand) -> Tensor: ...
    def __rmul__(self, other: _Operand) -> Tensor: ...
    def __imul__(self, other: _Operand) -> Tensor: ...
    def __truediv__(self, other: _Operand) -> Tensor: ...
    def __rtruediv__(self, other: _Operand) -> Tensor: ...
    def __itruediv__(self, other: _Operand) -> Tensor: ...
    def __div__(self, other: _Operand) -> Tensor: ...
    def __rdiv__(self, other: _Operand) -> Tensor: ...
    def __idiv__(self, other: _Operand) -> Tensor: ...
    def div(self, other: _Operand, *, rounding_mode: Literal["trunc", "floor"] | None = None, out: Tensor | None = None) -> Tensor:
        """input / other, with broadcasting. input, other: tensors or numbers; integers give the default float dtype."""
    def div_(self, other: _Operand, *, rounding_mode: Literal["trunc", "floor"] | None = None) -> Tensor:
        """In-place form of div."""
    def floor_divide(self, other: _Operand) -> Tensor:
        """x / y rounded down, with broadcasting; integers give integers. Raises RuntimeError for an integer division by zero."""
    def floor_divide_(self, other: _Operand) -> Tensor:
        """x / y rounded down, with broadcasting; integers give integers. Raises RuntimeError for an integer division by zero."""
    def __floordiv__(self, other: _Operand) -> Tensor: ...
    def __rfloordiv__(self, other: _Operand) -> Tensor: ...
    def __ifloordiv__(self, other: _Operand) -> Tensor: ...
    def remainder(self, other: _Operand) -> Tensor:
        """x - y * floor(x / y), as Python's %: the result has the sign of y. Raises RuntimeError for an integer division by zero."""
    def remainder_(self, other: _Operand) -> Tensor:
        """x - y * floor(x / y), as Python's %: the result has the sign of y. Raises RuntimeError for an integer division by zero."""
    def __mod__(self, other: _Operand) -> Tensor: ...
    def __rmod__(self, other: _Operand) -> Tensor: ...
    def __imod__(self, other: _Operand) -> Tensor: ...
    def fmod(self, other: _Operand) -> Tensor:
        """x - y * trunc(x / y), as C's fmod: the result has the sign of x. Raises RuntimeError for an integer division by zero."""
    def fmod_(self, other: _Operand) -> Tensor:
        """x - y * trunc(x / y), as C's fmod: the result has the sign of x. Raises RuntimeError for an integer division by zero."""
    def pow(self, exponent: _Operand) -> Tensor:
        """x ** exponent, with broadcasting. x, exponent: tensors or numbers."""
    def pow_(self, exponent: _Operand) -> Tensor:
        """x ** exponent, with broadcasting. x, exponent: tensors or numbers."""
    def __pow__(self, other: _Operand) -> Tensor: ...
    def __rpow__(self, other: _Operand) -> Tensor: ...
    def __ipow__(self, other: _Operand) -> Tensor: ...
    def float_power(self, exponent: _Operand) -> Tensor:
        """input ** exponent, computed in float64, or in complex128 if either is complex."""
    def float_power_(self, exponent: _Operand) -> Tensor:
        """input ** exponent, computed in float64, or in complex128 if either is complex."""
    def addcmul(self, tensor1: _Operand, tensor2: _Operand, *, value: _Operand = 1) -> Tensor:
        """x + value * tensor1 * tensor2, with broadcasting. value: a number, truncated to an integer if x is integral."""
    def addcmul_(self, tensor1: _Operand, tensor2: _Operand, *, value: _Operand = 1) -> Tensor:
        """x + value * tensor1 * tensor2, with broadcasting. value: a number, truncated to an integer if x is integral."""
    def addcdiv(self, tensor1: _Operand, tensor2: _Operand, *, value: _Operand = 1) -> Tensor:
        """x + value * tensor1 / tensor2, with broadcasting. value: a number."""
    def addcdiv_(self, tensor1: _Operand, tensor2: _Operand, *, value: _Operand = 1) -> Tensor:
        """x + value * tensor1 / tensor2, with broadcasting. value: a number."""
    def lerp(self, end: _Operand, weight: _Operand) -> Tensor:
        """x + weight * (end - x): exactly x at weight 0, exactly end at weight 1. x, end: floating or complex."""
    def lerp_(self, end: _Operand, weight: _Operand) -> Tensor:
        """x + weight * (end - x): exactly x at weight 0, exactly end at weight 1. x, end: floating or complex."""
    def neg(self) -> Tensor:
        """Negative of each element, -x. Raises RuntimeError for bool x."""
    def neg_(self) -> Tensor:
        """Negative of each element, -x. Raises RuntimeError for bool x."""
    def __neg__(self) -> Tensor: ...
    def positive(self) -> Tensor:
        """Return the tensor itself, +input. Raises RuntimeError for a bool tensor."""
    def __pos__(self) -> Tensor:
        """Return the tensor itself, +input. Raises RuntimeError for a bool tensor."""
    def abs(self) -> Tensor:
        """Absolute value of each element; the real magnitude for complex x."""
    def abs_(self) -> Tensor:
        """Absolute value of each element; the real magnitude for complex x."""
    def __abs__(self) -> Tensor: ...
    def sign(self) -> Tensor:
        """Sign of each element: -1 if x < 0, 1 if x > 0, 0 if x is 0 or NaN. Raises RuntimeError for complex x; see `sgn`."""
    def sign_(self) -> Tensor:
        """Sign of each element: -1 if x < 0, 1 if x > 0, 0 if x is 0 or NaN. Raises RuntimeError for complex x; see `sgn`."""
    def sgn(self) -> Tensor:
        """Sign of real and complex numbers: x / abs(x), 0 at 0."""
    def sgn_(self) -> Tensor:
        """Sign of real and complex numbers: x / abs(x), 0 at 0."""
    def clone(self, memory_format: Any = None) -> Tensor:
        """Copy x into new memory of the same layout. memory_format is accepted and has no effect."""
    def square(self) -> Tensor:
        """Square of each element, x * x; bools become int64."""
    def square_(self) -> Tensor:
        """Square of each element, x * x; bools become int64."""
    def sqrt(self) -> Tensor:
        """Square root of each element; NaN for negative real x."""
    def sqrt_(self) -> Tensor:
        """Square root of each element; NaN for negative real x."""
    def rsqrt(self) -> Tensor:
        """Reciprocal square root, 1 / sqrt(x); inf at 0."""
    def rsqrt_(self) -> Tensor:
        """Reciprocal square root, 1 / sqrt(x); inf at 0."""
    def reciprocal(self) -> Tensor:
        """Reciprocal of each element, 1 / x."""
    def reciprocal_(self) -> Tensor:
        """Reciprocal of each element, 1 / x."""
    def exp(self) -> Tensor:
        """Exponential of each element, e**x."""
    def exp_(self) -> Tensor:
        """Exponential of each element, e**x."""
    def exp2(self) -> Tensor:
        """Power of two, 2**x."""
    def exp2_(self) -> Tensor:
        """Power of two, 2**x."""
    def expm1(self) -> Tensor:
        """e**x - 1, accurate near x = 0 too."""
    def expm1_(self) -> Tensor:
        """e**x - 1, accurate near x = 0 too."""
    def log(self) -> Tensor:
        """Natural logarithm; -inf at 0, NaN for negative real x."""
    def log_(self) -> Tensor:
        """Natural logarithm; -inf at 0, NaN for negative real x."""
    def log2(self) -> Tensor:
        """Logarithm to base 2; -inf at 0, NaN for negative real x."""
    def log2_(self) -> Tensor:
        """Logarithm to base 2; -inf at 0, NaN for negative real x."""
    def log10(self) -> Tensor:
        """Logarithm to base 10; -inf at 0, NaN for negative real x."""
    def log10_(self) -> Tensor:
        """Logarithm to base 10; -inf at 0, NaN for negative real x."""
    def log1p(self) -> Tensor:
        """log(1 + x), accurate near x = 0 too."""
    def log1p_(self) -> Tensor:
        """log(1 + x), accurate near x = 0 too."""
    def sigmoid(self) -> Tensor:
        """Logistic sigmoid, 1 / (1 + exp(-x)), accurate for all x."""
    def sigmoid_(self) -> Tensor:
        """Logistic sigmoid, 1 / (1 + exp(-x)), accurate for all x."""
    def sin(self) -> Tensor:
        """Sine of x in radians."""
    def sin_(self) -> Tensor:
        """Sine of x in radians."""
    def cos(self) -> Tensor:
        """Cosine of x in radians."""
    def cos_(self) -> Tensor:
        """Cosine of x in radians."""
    def tan(self) -> Tensor:
        """Tangent of x in radians."""
    def tan_(self) -> Tensor:
        """Tangent of x in radians."""
    def asin(self) -> Tensor:
        """Inverse sine: the angle in radians, in [-pi/2, pi/2], whose sine is x. NaN for real |x| > 1."""
    def asin_(self) -> Tensor:
        """Inverse sine: the angle in radians, in [-pi/2, pi/2], whose sine is x. NaN for real |x| > 1."""
    def acos(self) -> Tensor:
        """Inverse cosine: the angle in radians, in [0, pi], whose cosine is x. NaN for real |x| > 1."""
    def acos_(self) -> Tensor:
        """Inverse cosine: the angle in radians, in [0, pi], whose cosine is x. NaN for real |x| > 1."""
    def atan(self) -> Tensor:
        """Inverse tangent: the angle in radians, in [-pi/2, pi/2], whose tangent is x."""
    def atan_(self) -> Tensor:
        """Inverse tangent: the angle in radians, in [-pi/2, pi/2], whose tangent is x."""
    def sinc(self) -> Tensor:
        """Normalised sinc, sin(pi * x) / (pi * x); 1 at 0."""
    def sinc_(self) -> Tensor:
        """Normalised sinc, sin(pi * x) / (pi * x); 1 at 0."""
    def sinh(self) -> Tensor:
        """Hyperbolic sine of x."""
    def sinh_(self) -> Tensor:
        """Hyperbolic sine of x."""
    def cosh(self) -> Tensor:
        """Hyperbolic cosine of x."""
    def cosh_(self) -> Tensor:
        """Hyperbolic cosine of x."""
    def tanh(self) -> Tensor:
        """Hyperbolic tangent of x."""
    def tanh_(self) -> Tensor:
        """Hyperbolic tangent of x."""
    def asinh(self) -> Tensor:
        """Inverse hyperbolic sine: the number whose hyperbolic sine is x."""
    def asinh_(self) -> Tensor:
        """Inverse hyperbolic sine: the number whose hyperbolic sine is x."""
    def acosh(self) -> Tensor:
        """Inverse hyperbolic cosine: the number >= 0 whose hyperbolic cosine is x. NaN for real x < 1."""
    def acosh_(self) -> Tensor:
        """Inverse hyperbolic cosine: the number >= 0 whose hyperbolic cosine is x. NaN for real x < 1."""
    def atanh(self) -> Tensor:
        """Inverse hyperbolic tangent: the number whose hyperbolic tangent is x. inf at 1, -inf at -1, NaN for real |x| > 1."""
    def atanh_(self) -> Tensor:
        """Inverse hyperbolic tangent: the number whose hyperbolic tangent is x. inf at 1, -inf at -1, NaN for real |x| > 1."""
    def relu(self) -> Tensor:
        """Rectified linear unit: x where x > 0, else 0; NaN stays NaN."""
    def relu_(self) -> Tensor:
        """Rectified linear unit: x where x > 0, else 0; NaN stays NaN."""
    def floor(self) -> Tensor:
        """Largest integer <= x, in x's dtype."""
    def floor_(self) -> Tensor:
        """Largest integer <= x, in x's dtype."""
    def ceil(self) -> Tensor:
        """Smallest integer >= x, in x's dtype."""
    def ceil_(self) -> Tensor:
        """Smallest integer >= x, in x's dtype."""
    def trunc(self) -> Tensor:
        """Round x towards zero, in x's dtype."""
    def trunc_(self) -> Tensor:
        """Round x towards zero, in x's dtype."""
    def round(self, *, decimals: _int = 0) -> Tensor:
        """Round x to the nearest integer, halves to even; with decimals, to the nearest multiple of 10**-decimals."""
    def round_(self, *, decimals: _int = 0) -> Tensor:
        """Round x to the nearest integer, halves to even; with decimals, to the nearest multiple of 10**-decimals."""
    def frac(self) -> Tensor:
        """Fractional part x - trunc(x), with the sign of x. Raises RuntimeError for integers and bools."""
    def frac_(self) -> Tensor:
        """Fractional part x - trunc(x), with the sign of x. Raises RuntimeError for integers and bools."""
    def nan_to_num(self, nan: _float = 0.0, posinf: Any = None, neginf: Any = None) -> Tensor:
        """Replace NaN by nan, inf by posinf and -inf by neginf; in a complex x in each part."""
    def nan_to_num_(self, nan: _float = 0.0, posinf: Any = None, neginf: Any = None) -> Tensor:
        """Replace NaN by nan, inf by posinf and -inf by neginf; in a complex x in each part."""
    def deg2rad(self) -> Tensor:
        """Convert degrees to radians."""
    def deg2rad_(self) -> Tensor:
        """Convert degrees to radians."""
    def rad2deg(self) -> Tensor:
        """Convert radians to degrees."""
    def rad2deg_(self) -> Tensor:
        """Convert radians to degrees."""
    def maximum(self, other: _Operand) -> Tensor:
        """The larger of x and y, element by element, with broadcasting; NaN where x or y is NaN."""
    def minimum(self, other: _Operand) -> Tensor:
        """The smaller of x and y, element by element, with broadcasting; NaN where x or y is NaN."""
    def fmax(self, other: _Operand) -> Tensor:
        """The larger of x and y, element by element, with broadcasting. If one is NaN, the result is the other one."""
    def fmin(self, other: _Operand) -> Tensor:
        """The smaller of x and y, element by element, with broadcasting. If one is NaN, the result is the other one."""
    def clamp(self, min: _Operand | None = None, max: _Operand | None = None, *, out: Tensor | None = None) -> Tensor:
        """input clipped to [min, max], with broadcasting; max where min > max."""
    def clamp_(self, min: _Operand | None = None, max: _Operand | None = None) -> Tensor:
        """In-place form of clamp."""
    def clamp_min(self, min: _Operand) -> Tensor:
        """max(x, min), element by element, with broadcasting. min: a number or a tensor."""
    def clamp_min_(self, min: _Operand) -> Tensor:
        """max(x, min), element by element, with broadcasting. min: a number or a tensor."""
    def clamp_max(self, max: _Operand) -> Tensor:
        """min(x, max), element by element, with broadcasting. max: a number or a tensor."""
    def clamp_max_(self, max: _Operand) -> Tensor:
        """min(x, max), element by element, with broadcasting. max: a number or a tensor."""
    def where(self, condition: Any, other: _Operand) -> Tensor:
        """where(condition, self, other): self where condition is True, else other."""
    def fill_(self, value: _Operand) -> Tensor:
        """Write value, a number or a 0-d tensor, into every element of this tensor, and return the tensor."""
    def zero_(self) -> Tensor:
        """Write 0 into every element of this tensor, and return the tensor."""
    def copy_(self, other: _Operand, non_blocking: _bool = False) -> Tensor:
        """Write other into this tensor, cast to its dtype, and return the tensor."""
    def eq(self, other: _Operand) -> Tensor:
        """Whether x equals y, element by element, with broadcasting: a bool tensor. NaN differs from every value, also NaN."""
    def eq_(self, other: _Operand) -> Tensor:
        """Whether x equals y, element by element, with broadcasting: a bool tensor. NaN differs from every value, also NaN."""
    def __eq__(self, other: _Operand) -> Tensor: ...  # type: ignore[override]
    def ne(self, other: _Operand) -> Tensor:
        """Whether x differs from y, element by element, with broadcasting: a bool tensor."""
    def ne_(self, other: _Operand) -> Tensor:
        """Whether x differs from y, element by element, with broadcasting: a bool tensor."""
    def __ne__(self, other: _Operand) -> Tensor: ...  # type: ignore[override]
    def lt(self, other: _Operand) -> Tensor:
        """Whether x is less than y, element by element, with broadcasting: a bool tensor."""
    def lt_(self, other: _Operand) -> Tensor:
        """Whether x is less than y, element by element, with broadcasting: a bool tensor."""
    def __lt__(self, other: _Operand) -> Tensor: ...
    def le(self, other: _Operand) -> Tensor:
        """Whether x is less than or equal to y, element by element, with broadcasting: a bool tensor."""
    def le_(self, other: _Operand) -> Tensor:
        """Whether x is less than or equal to y, element by element, with broadcasting: a bool tensor."""
    def __le__(self, other: _Operand) -> Tensor: ...
    def gt(self, other: _Operand) -> Tensor:
        """Whether x is greater than y, element by element, with broadcasting: a bool tensor."""
    def gt_(self, other: _Operand) -> Tensor:
        """Whether x is greater than y, element by element, with broadcasting: a bool tensor."""
    def __gt__(self, other: _Operand) -> Tensor: ...
    def ge(self, other: _Operand) -> Tensor:
        """Whether x is greater than or equal to y, element by element, with broadcasting: a bool tensor."""
    def ge_(self, other: _Operand) -> Tensor:
        """Whether x is greater than or equal to y, element by element, with broadcasting: a bool tensor."""
    def __ge__(self, other: _Operand) -> Tensor: ...
    def isclose(self, other: Tensor, rtol: _float = 1e-05, atol: _float = 1e-08, equal_nan: _bool = False) -> Tensor:
        """Whether |x - y| <= atol + rtol * |y| or x equals y, element by element, with broadcasting: a bool tensor."""
    def allclose(self, other: _Operand, rtol: _float = 1e-05, atol: _float = 1e-08, equal_nan: _bool = False) -> _bool:
        """Whether all elements of input and other are close: all(isclose(...)) as a Python bool. Parameters as in `isclose`."""
    def equal(self, other: _Operand) -> _bool:
        """Whether input and other have the same shape and equal elements: a Python bool."""
    @overload
    def sum(self, dim: _int | Sequence[_int] | None = None, keepdim: _bool = False, *, dtype: _Dtype | None = None) -> Tensor:
        """Sum over dim."""
    @overload
    def sum(self, *, axis: _int | Sequence[_int] | None, keepdims: _bool = False, dtype: _Dtype | None = None) -> Tensor: ...
    @overload
    def nansum(self, dim: _int | Sequence[_int] | None = None, keepdim: _bool = False, *, dtype: _Dtype | None = None) -> Tensor:
        """Sum over dim that counts NaN as 0. Arguments: as `sum`. Raises RuntimeError for complex x."""
    @overload
    def nansum(self, *, axis: _int | Sequence[_int] | None, keepdims: _bool = False, dtype: _Dtype | None = None) -> Tensor: ...
    @overload
    def mean(self, dim: _int | Sequence[_int] | None = None, keepdim: _bool = False, *, dtype: _Dtype | None = None) -> Tensor:
        """Mean over dim."""
    @overload
    def mean(self, *, axis: _int | Sequence[_int] | None, keepdims: _bool = False, dtype: _Dtype | None = None) -> Tensor: ...
    @overload
    def prod(self, dim: _int | Sequence[_int] | None = None, keepdim: _bool = False, *, dtype: _Dtype | None = None) -> Tensor:
        """Product over one dimension, or over all if dim is None."""
    @overload
    def prod(self, *, axis: _int | Sequence[_int] | None, keepdims: _bool = False, dtype: _Dtype | None = None) -> Tensor: ...
    @overload
    def all(self, dim: _int | Sequence[_int] | None = None, keepdim: _bool = False) -> Tensor:
        """Whether all elements over dim are nonzero; NaN is nonzero. True if there are no elements."""
    @overload
    def all(self, *, axis: _int | Sequence[_int] | None, keepdims: _bool = False) -> Tensor: ...
    @overload
    def any(self, dim: _int | Sequence[_int] | None = None, keepdim: _bool = False) -> Tensor:
        """Whether any element over dim is nonzero; NaN is nonzero. False if there are no elements."""
    @overload
    def any(self, *, axis: _int | Sequence[_int] | None, keepdims: _bool = False) -> Tensor: ...
    @overload
    def count_nonzero(self, dim: _int | Sequence[_int] | None = None) -> Tensor:
        """Number of nonzero elements over dim (an int, a tuple, or None for all dimensions), int64. x: any shape and dtype."""
    @overload
    def count_nonzero(self, *, axis: _int | Sequence[_int] | None) -> Tensor: ...
    @overload
    def amax(self, dim: _int | Sequence[_int] = ..., keepdim: _bool = False) -> Tensor:
        """Largest element along dim. x: any shape, any real dtype. NaN counts as largest."""
    @overload
    def amax(self, *, axis: _int | Sequence[_int], keepdims: _bool = False) -> Tensor: ...
    @overload
    def amin(self, dim: _int | Sequence[_int] = ..., keepdim: _bool = False) -> Tensor:
        """Smallest element along dim. x: any shape, any real dtype. NaN counts as smallest."""
    @overload
    def amin(self, *, axis: _int | Sequence[_int], keepdims: _bool = False) -> Tensor: ...
    def aminmax(self, *, dim: _int | Sequence[_int] | None = None, keepdim: _bool = False) -> return_types.aminmax:
        """Smallest and largest element along dim, as a named tuple (min, max). dim: an int, or None for all."""
    @overload
    def max(self) -> Tensor:
        """Largest element: max() of all, max(dim, keepdim=False) along one dimension, max(other) of each pair of elements."""
    @overload
    def max(self, dim: _int, keepdim: _bool = False) -> return_types.max: ...
    @overload
    def max(self, other: Tensor) -> Tensor: ...
    @overload
    def min(self) -> Tensor:
        """Smallest element: min() of all, min(dim, keepdim=False) along one dimension, min(other) of each pair of elements."""
    @overload
    def min(self, dim: _int, keepdim: _bool = False) -> return_types.min: ...
    @overload
    def min(self, other: Tensor) -> Tensor: ...
    @overload
    def argmax(self, dim: _int | Sequence[_int] | None = None, keepdim: _bool = False) -> Tensor:
        """Index, as int64, of the first largest element along dim, or in the flattened tensor if dim is None."""
    @overload
    def argmax(self, *, axis: _int | Sequence[_int] | None, keepdims: _bool = False) -> Tensor: ...
    @overload
    def argmin(self, dim: _int | Sequence[_int] | None = None, keepdim: _bool = False) -> Tensor:
        """Index, as int64, of the first smallest element along dim, or in the flattened tensor if dim is None."""
    @overload
    def argmin(self, *, axis: _int | Sequence[_int] | None, keepdims: _bool = False) -> Tensor: ...
    @overload
    def median(self) -> Tensor:
        """Median; of an even number of elements the lower of the two middle ones. NaN if an element is NaN."""
    @overload
    def median(self, dim: _int, keepdim: _bool = False) -> return_types.median: ...
    @overload
    def nanmedian(self) -> Tensor:
        """`median` of the elements that are not NaN; NaN if all elements are NaN."""
    @overload
    def nanmedian(self, dim: _int, keepdim: _bool = False) -> return_types.nanmedian: ...
    @overload
    def logsumexp(self, dim: _int | Sequence[_int], keepdim: _bool = False) -> Tensor:
        """log(sum(exp(x))) over dim, without overflow; -inf for no elements."""
    @overload
    def logsumexp(self, *, axis: _int | Sequence[_int], keepdims: _bool = False) -> Tensor: ...
    @overload
    def softmax(self, dim: _int | Sequence[_int] | None = None, _stacklevel: _int = 3, dtype: _Dtype | None = None) -> Tensor:
        """Softmax exp(x) / sum(exp(x)) over one dimension."""
    @overload
    def softmax(self, *, axis: _int | Sequence[_int] | None, _stacklevel: _int = 3, dtype: _Dtype | None = None) -> Tensor: ...
    @overload
    def log_softmax(self, dim: _int | Sequence[_int] | None = None, _stacklevel: _int = 3, dtype: _Dtype | None = None) -> Tensor:
        """Logarithm of softmax over one dimension, accurate where the softmax is close to 0 or 1. Arguments: as `softmax`."""
    @overload
    def log_softmax(self, *, axis: _int | Sequence[_int] | None, _stacklevel: _int = 3, dtype: _Dtype | None = None) -> Tensor: ...
    def view(self, *sizes: _int | Sequence[_int], shape: _int | Sequence[_int] | None = None, size: _int | Sequence[_int] | None = None, dtype: _Dtype | None = None) -> Tensor:
        """View of the same memory with another shape: x.view(2, 3), x.view((2, 3)), x.view(-1); a size of -1 is inferred."""
    def reshape(self, *sizes: _int | Sequence[_int], shape: _int | Sequence[_int] | None = None) -> Tensor:
        """Return input with another shape: a view if its memory allows one, else a copy. A size of -1 is inferred."""
    def flatten(self, start_dim: _int = 0, end_dim: _int = -1) -> Tensor:
        """Merge the dimensions from start_dim to end_dim into one: a view if the memory allows one, else a copy."""
    def ravel(self) -> Tensor:
        """Flatten input to one dimension: a view if the memory allows one, else a copy."""
    @overload
    def unflatten(self, dim: _int, sizes: _int | Sequence[_int]) -> Tensor:
        """Split one dimension into several of the given sizes; a size of -1 is inferred. input: any shape and dtype."""
    @overload
    def unflatten(self, *, axis: _int, sizes: _int | Sequence[_int]) -> Tensor: ...
    def view_as(self, other: _Operand) -> Tensor:
        """View of input with the shape of other: input.view(other.shape). Derivative: the cotangent, reshaped back."""
    def reshape_as(self, other: _Operand) -> Tensor:
        """Return input with the shape of other: input.reshape(other.shape). Derivative: the cotangent, reshaped back."""
    def contiguous(self, memory_format: Any = None) -> Tensor:
        """Return input itself if its memory is row-major without gaps, else a copy that is. Derivative: 1."""
    def transpose(self, dim0: _int, dim1: _int) -> Tensor:
        """View of x with dimensions dim0 and dim1 exchanged. Derivative: the cotangent with dim0 and dim1 exchanged."""
    def swapaxes(self, axis0: _int, axis1: _int) -> Tensor:
        """NumPy's name of transpose(dim0, dim1). Derivative: as transpose."""
    def swapdims(self, dim0: _int, dim1: _int) -> Tensor:
        """Another name of transpose(dim0, dim1). Derivative: as transpose."""
    def t(self) -> Tensor:
        """Transpose of a matrix; vectors and 0-d tensors are returned as they are. A view."""
    def adjoint(self) -> Tensor:
        """Conjugate transpose of the last two dimensions: a view. Of a 0-d tensor the conjugate."""
    @overload
    def permute(self, dims: _int | Sequence[_int]) -> Tensor:
        """View of x with its dimensions in another order, x.permute(2, 0, 1). dims: each dimension once."""
    @overload
    def permute(self, *dims: _int) -> Tensor: ...
    def movedim(self, source: _int | Sequence[_int], destination: _int | Sequence[_int]) -> Tensor:
        """View of input with dimensions `source` moved to `destination`; the others keep their order."""
    @overload
    def unsqueeze(self, dim: _int) -> Tensor:
        """View of x with a dimension of size 1 inserted at dim; -1 inserts it at the end."""
    @overload
    def unsqueeze(self, *, axis: _int) -> Tensor: ...
    @overload
    def squeeze(self, dim: _int | Sequence[_int] | None = None) -> Tensor:
        """View of x without its dimensions of size 1."""
    @overload
    def squeeze(self, *, axis: _int | Sequence[_int] | None) -> Tensor: ...
    @overload
    def unbind(self, dim: _int = 0) -> tuple[Tensor, ...]:
        """Tuple of the slices of x along a dimension, views without that dimension."""
    @overload
    def unbind(self, *, axis: _int) -> tuple[Tensor, ...]: ...
    @overload
    def expand(self, shape: _int | Sequence[_int]) -> Tensor:
        """Broadcast x to a shape, x.expand(4, 3): a view in which the broadcast dimensions have stride 0."""
    @overload
    def expand(self, *shape: _int) -> Tensor: ...
    def expand_as(self, other: _Operand) -> Tensor:
        """x.expand(other.shape). Derivative: the cotangent summed over the broadcast dimensions."""
    def broadcast_to(self, size: _int | Sequence[_int]) -> Tensor:
        """x.expand(size). Derivative: the cotangent summed over the broadcast dimensions."""
    def sum_to_size(self, *sizes: _int | Sequence[_int], size: _int | Sequence[_int] | None = None) -> Tensor:
        """Sum input to the given size, over the dimensions that broadcasting from this size adds or stretches."""
    def diagonal(self, offset: _int = 0, dim1: _int = 0, dim2: _int = 1) -> Tensor:
        """View of the diagonals of the matrices in dimensions dim1 and dim2, as a new last dimension."""
    def diagonal_copy(self, offset: _int = 0, dim1: _int = 0, dim2: _int = 1) -> Tensor:
        """Copy of diagonal(). Derivative: the cotangent on the diagonals, 0 elsewhere."""
    def unfold(self, dimension: _int, size: _int | Sequence[_int], step: _int) -> Tensor:
        """View of the sliding windows along a dimension: windows of `size` elements, `step` apart, as a new last dimension."""
    def as_strided(self, size: _int | Sequence[_int], stride: _int | Sequence[_int], storage_offset: Any = None) -> Tensor:
        """View of the memory of input with any size and strides."""
    def as_strided_(self, size: _int | Sequence[_int], stride: _int | Sequence[_int], storage_offset: Any = None) -> Tensor:
        """In-place form of as_strided: turn this tensor into a view of its memory and return it."""
    def __getitem__(self, index: Any) -> Tensor:
        """x[index]: a view for ints, slices with a positive step, None and Ellipsis; a copy if index holds tensors or masks."""
    @overload
    def select(self, dim: _int, index: _int) -> Tensor:
        """View of input at one index along dim, without this dimension. index: an int or a 0-d tensor of ints."""
    @overload
    def select(self, *, axis: _int, index: _int) -> Tensor: ...
    @overload
    def narrow(self, dim: _int, start: _int, length: _int) -> Tensor:
        """View of input[start:start + length] along dim. start: an int or a 0-d tensor of ints; negative counts from the end."""
    @overload
    def narrow(self, *, axis: _int, start: _int, length: _int) -> Tensor: ...
    def index_put(self, indices: Any, values: Any, accumulate: _bool = False) -> Tensor:
        """A copy of input with values written at indices, as x[indices] = values does."""
    def index_put_(self, indices: Any, values: Any, accumulate: _bool = False) -> Tensor:
        """In-place form of index_put."""
    def __setitem__(self, index: Any, value: Any) -> None:
        """x[index] = value, in place. value: a tensor, an array or a number; it broadcasts and is cast to x's dtype."""
    def split(self, split_size_or_sections: _int | Sequence[_int] | None = None, dim: _int = 0, *, split_size: _int | Sequence[_int] | None = None) -> tuple[Tensor, ...]:
        """Split a tensor along dim into parts of one size, the last of which may be smaller, or of the sizes in a list."""
    def split_with_sizes(self, split_sizes: Sequence[_int], dim: _int = 0) -> tuple[Tensor, ...]:
        """Split input along dim into parts of the sizes in split_sizes: a tuple of views, as from `split`."""
    def chunk(self, chunks: _int, dim: _int = 0) -> tuple[Tensor, ...]:
        """Split input along dim into at most `chunks` parts of one size, the last of which may be smaller."""
    def unsafe_split(self, split_size: _int | Sequence[_int], dim: _int = 0) -> tuple[Tensor, ...]:
        """`split` whose parts may be written in place."""
    def unsafe_split_with_sizes(self, split_sizes: Sequence[_int], dim: _int = 0) -> tuple[Tensor, ...]:
        """`split_with_sizes` whose parts may be written in place: see `unsafe_split`. Derivative: the cotangents, concatenated."""
    def unsafe_chunk(self, chunks: _int, dim: _int = 0) -> tuple[Tensor, ...]:
        """`chunk` whose parts may be written in place: see `unsafe_split`. Derivative: the cotangents, concatenated."""
    def tensor_split(self, indices_or_sections: _int | Sequence[_int] | Tensor | None = None, dim: _int = 0, *, indices: Any = None, sections: Any = None) -> tuple[Tensor, ...]:
        """Split input along dim into a number of nearly equal parts, or at the given indices: a tuple of views."""
    def hsplit(self, indices_or_sections: _int | Sequence[_int] | Tensor | None = None, *, indices: Any = None, sections: Any = None) -> tuple[Tensor, ...]:
        """`tensor_split` along dimension 1, or dimension 0 of a vector. A number of parts must divide the size, else RuntimeError."""
    def vsplit(self, indices_or_sections: _int | Sequence[_int] | Tensor | None = None, *, indices: Any = None, sections: Any = None) -> tuple[Tensor, ...]:
        """`tensor_split` along dimension 0. A number of parts must divide the size, else RuntimeError. input: at least 2-D."""
    def dsplit(self, indices_or_sections: _int | Sequence[_int] | Tensor | None = None, *, indices: Any = None, sections: Any = None) -> tuple[Tensor, ...]:
        """`tensor_split` along dimension 2. A number of parts must divide the size, else RuntimeError. input: at least 3-D."""
    def matmul(self, other: _Operand) -> Tensor:
        """Matrix product x @ y of vectors (n), matrices (n, m) and batches (..., n, m), whose batch dimensions broadcast."""
    def __matmul__(self, other: _Operand) -> Tensor: ...
    def __rmatmul__(self, other: _Operand) -> Tensor: ...
    def mm(self, mat2: Tensor) -> Tensor:
        """Product of two matrices. x: (n, k), mat2: (k, m), of one dtype; returns (n, m)."""
    def mv(self, vec: Tensor) -> Tensor:
        """Product of a matrix and a vector. x: (n, k), vec: (k), of one dtype; returns (n)."""
    def dot(self, tensor: Tensor) -> Tensor:
        """Sum of the products of two vectors' elements. x, tensor: (n), of one dtype; returns a 0-d tensor."""
    def vdot(self, other: Tensor) -> Tensor:
        """`dot` of conj(x) with other. x, other: (n), of one dtype; returns a 0-d tensor."""
    def bmm(self, mat2: Tensor) -> Tensor:
        """Products of two batches of matrices. x: (b, n, k), mat2: (b, k, m), of one dtype; returns (b, n, m)."""
    def addmm(self, mat1: Tensor, mat2: Tensor, *, beta: _Number = 1, alpha: _Number = 1) -> Tensor:
        """beta * x + alpha * (mat1 @ mat2)."""
    def addmm_(self, mat1: Tensor, mat2: Tensor, *, beta: _Number = 1, alpha: _Number = 1) -> Tensor:
        """beta * x + alpha * (mat1 @ mat2)."""
    def addmv(self, mat: Tensor, vec: Tensor, *, beta: _Number = 1, alpha: _Number = 1) -> Tensor:
        """beta * x + alpha * (mat @ vec). mat: (n, k), vec: (k); x broadcasts to the result, (n). All of one dtype."""
    def addmv_(self, mat: Tensor, vec: Tensor, *, beta: _Number = 1, alpha: _Number = 1) -> Tensor:
        """beta * x + alpha * (mat @ vec). mat: (n, k), vec: (k); x broadcasts to the result, (n). All of one dtype."""
    def baddbmm(self, batch1: Tensor, batch2: Tensor, *, beta: _Number = 1, alpha: _Number = 1) -> Tensor:
        """beta * x + alpha * (batch1 @ batch2)."""
    def baddbmm_(self, batch1: Tensor, batch2: Tensor, *, beta: _Number = 1, alpha: _Number = 1) -> Tensor:
        """beta * x + alpha * (batch1 @ batch2)."""
    def addbmm(self, batch1: Tensor, batch2: Tensor, *, beta: _Number = 1, alpha: _Number = 1) -> Tensor:
        """beta * x + alpha * (the sum of batch1 @ batch2 over the batch)."""
    def addbmm_(self, batch1: Tensor, batch2: Tensor, *, beta: _Number = 1, alpha: _Number = 1) -> Tensor:
        """beta * x + alpha * (the sum of batch1 @ batch2 over the batch)."""
    def addr(self, vec1: Tensor, vec2: Tensor, *, beta: _Number = 1, alpha: _Number = 1) -> Tensor:
        """beta * x + alpha * outer(vec1, vec2). vec1: (n), vec2: (m); x broadcasts to the result, (n, m)."""
    def addr_(self, vec1: Tensor, vec2: Tensor, *, beta: _Number = 1, alpha: _Number = 1) -> Tensor:
        """beta * x + alpha * outer(vec1, vec2). vec1: (n), vec2: (m); x broadcasts to the result, (n, m)."""
    def outer(self, vec2: Any) -> Tensor:
        """Outer product: result[i, j] = input[i] * vec2[j]. input: (n), vec2: (m), of any dtypes; returns (n, m)."""
    def inner(self, other: _Operand) -> Tensor:
        """Sums of products over the last dimensions: input (*a, k) and other (*b, k) give (*a, *b)."""
    def trace(self) -> Tensor:
        """Sum of the diagonal of a matrix. x: (n, m), else RuntimeError; returns a 0-d tensor."""
    def kron(self, other: _Operand) -> Tensor:
        """Kronecker product: each element of input is replaced by the element times other. Sizes multiply."""
    def new_tensor(self, data: Any, *, dtype: _Dtype | None = None, device: _device | str | None = None, requires_grad: _bool = False, layout: Any = None, pin_memory: _bool = False, out: Tensor | None = None) -> Tensor:
        """A new tensor with a copy of data. dtype: this tensor's dtype unless given."""
    def new_zeros(self, *sizes: _int | Sequence[_int], size: _int | Sequence[_int] | None = None, dtype: _Dtype | None = None, device: _device | str | None = None, requires_grad: _bool = False, layout: Any = None, pin_memory: _bool = False, out: Tensor | None = None) -> Tensor:
        """A tensor of zeros of the given size. dtype: this tensor's dtype unless given."""
    def new_ones(self, *sizes: _int | Sequence[_int], size: _int | Sequence[_int] | None = None, dtype: _Dtype | None = None, device: _device | str | None = None, requires_grad: _bool = False, layout: Any = None, pin_memory: _bool = False, out: Tensor | None = None) -> Tensor:
        """A tensor of ones of the given size. dtype: this tensor's dtype unless given."""
    def new_empty(self, *sizes: _int | Sequence[_int], size: _int | Sequence[_int] | None = None, dtype: _Dtype | None = None, device: _device | str | None = None, requires_grad: _bool = False, layout: Any = None, pin_memory: _bool = False, out: Tensor | None = None) -> Tensor:
        """An uninitialised tensor of the given size. dtype: this tensor's dtype unless given."""
    def new_full(self, size: _int | Sequence[_int], fill_value: _Number, *, dtype: _Dtype | None = None, device: _device | str | None = None, requires_grad: _bool = False, layout: Any = None, pin_memory: _bool = False, out: Tensor | None = None) -> Tensor:
        """A tensor of shape size, filled with fill_value. dtype: this tensor's dtype unless given."""
    def new(self, *args: Any, device: _device | str | None = None, requires_grad: _bool = False, layout: Any = None, pin_memory: _bool = False, out: Tensor | None = None) -> Tensor:
        """Legacy constructor with this tensor's dtype: new(2, 3) is uninitialised, new([1, 2]) holds the values 1 and 2."""
    def bernoulli(self, p: _float | Tensor | None = None, *, generator: Generator | None = None) -> Tensor:
        """Draw 1 with probability input, else 0, for each element, in input's dtype."""
    def uniform_(self, from_: _float = 0.0, /, to: _float = 1.0, *, generator: Generator | None = None) -> Tensor:
        """Fill the tensor with uniform random numbers from [from, to), by default [0, 1), and return it. Derivative: 0."""
    def normal_(self, mean: _float = 0.0, std: _float = 1.0, *, generator: Generator | None = None) -> Tensor:
        """Fill the tensor with normal random numbers of the given mean and std, and return it. Derivative: 0."""
    @overload
    def random_(self, from_: _int, /, to: _int | None = None, *, generator: Generator | None = None) -> Tensor:
        """Fill the tensor with random integers, random_(to), random_(from, to) or random_(), and return it. Derivative: 0."""
    @overload
    def random_(self, to: _int | None = None, *, generator: Generator | None = None) -> Tensor: ...
    def bernoulli_(self, p: _float = 0.5, *, generator: Generator | None = None) -> Tensor:
        """Fill the tensor with 1 with probability p, else 0, and return it. Derivative: 0."""
    def prelu(self, weight: Tensor) -> Tensor:
        """input where input > 0, weight * input elsewhere. input: any shape, floating."""
    def hardshrink(self, lambd: _float = 0.5) -> Tensor:
        """input where |input| > lambd, else 0. input: any shape, floating."""
    def atan2(self, other: _Operand) -> Tensor:
        """Angle of the point with abscissa y and ordinate x, in radians from -pi to pi."""
    def atan2_(self, other: _Operand) -> Tensor:
        """Angle of the point with abscissa y and ordinate x, in radians from -pi to pi."""
    def hypot(self, other: _Operand) -> Tensor:
        """sqrt(x**2 + y**2), without overflow in the squares."""
    def hypot_(self, other: _Operand) -> Tensor:
        """sqrt(x**2 + y**2), without overflow in the squares."""
    def logaddexp(self, other: _Operand) -> Tensor:
        """log(exp(x) + exp(y)), without overflow in the exponentials."""
    def logaddexp2(self, other: _Operand) -> Tensor:
        """log2(2**x + 2**y), without overflow in the powers."""
    def xlogy(self, other: _Operand) -> Tensor:
        """x * log(y); 0 where x is 0 and y is not NaN."""
    def xlogy_(self, other: _Operand) -> Tensor:
        """x * log(y); 0 where x is 0 and y is not NaN."""
    def copysign(self, other: _Operand) -> Tensor:
        """|x| with the sign of y, which may be a signed zero."""
    def copysign_(self, other: _Operand) -> Tensor:
        """|x| with the sign of y, which may be a signed zero."""
    def ldexp(self, other: _Operand) -> Tensor:
        """x * 2**y, with broadcasting."""
    def ldexp_(self, other: _Operand) -> Tensor:
        """x * 2**y, with broadcasting."""
    def heaviside(self, values: Tensor) -> Tensor:
        """0 where x < 0, 1 where x > 0, values where x is 0."""
    def heaviside_(self, values: Tensor) -> Tensor:
        """0 where x < 0, 1 where x > 0, values where x is 0."""
    def nextafter(self, other: _Operand) -> Tensor:
        """The next floating-point number after x towards y. Raises RuntimeError for integers."""
    def nextafter_(self, other: _Operand) -> Tensor:
        """The next floating-point number after x towards y. Raises RuntimeError for integers."""
    def gcd(self, other: Tensor) -> Tensor:
        """Greatest common divisor. x, y: integers, else RuntimeError."""
    def gcd_(self, other: Tensor) -> Tensor:
        """Greatest common divisor. x, y: integers, else RuntimeError."""
    def lcm(self, other: Tensor) -> Tensor:
        """Least common multiple. x, y: integers, else RuntimeError."""
    def lcm_(self, other: Tensor) -> Tensor:
        """Least common multiple. x, y: integers, else RuntimeError."""
    def conj(self) -> Tensor:
        """Complex conjugate of each element: a view, which shows writes into input and passes writes on to input."""
    def resolve_conj(self) -> Tensor:
        """A copy of a conjugate view, in memory of its own. Any other tensor is returned itself."""
    def resolve_neg(self) -> Tensor:
        """A copy of a negated view, such as x.conj().imag, in memory of its own. Any other tensor is returned itself."""
    def conj_physical_(self) -> Tensor:
        """Complex conjugate of x. A real x is copied."""
    def conj_physical(self) -> Tensor:
        """Complex conjugate of each element, as a copy. A real tensor is returned itself."""
    def angle(self) -> Tensor:
        """Angle of each complex number in radians, from -pi to pi. Of a real x 0, or pi where x < 0; NaN stays NaN."""
    def isreal(self) -> Tensor:
        """Whether the imaginary part of each element is 0: a bool tensor."""
    def isnan(self) -> Tensor:
        """Whether each element is NaN: a bool tensor."""
    def isinf(self) -> Tensor:
        """Whether each element is infinite: a bool tensor."""
    def isfinite(self) -> Tensor:
        """Whether each element is neither infinite nor NaN: a bool tensor."""
    def isposinf(self) -> Tensor:
        """Whether each element is +inf: a bool tensor."""
    def isneginf(self) -> Tensor:
        """Whether each element is -inf: a bool tensor."""
    def signbit(self) -> Tensor:
        """Whether each element is negative, -0.0 included: a bool tensor."""
    def logical_not(self) -> Tensor:
        """Whether each element is 0: a bool tensor."""
    def logical_not_(self) -> Tensor:
        """Whether each element is 0: a bool tensor."""
    def logical_and(self, other: Tensor) -> Tensor:
        """Whether x and y are both nonzero, element by element, with broadcasting: a bool tensor."""
    def logical_and_(self, other: Tensor) -> Tensor:
        """Whether x and y are both nonzero, element by element, with broadcasting: a bool tensor."""
    def logical_or(self, other: Tensor) -> Tensor:
        """Whether x or y is nonzero, element by element, with broadcasting: a bool tensor."""
    def logical_or_(self, other: Tensor) -> Tensor:
        """Whether x or y is nonzero, element by element, with broadcasting: a bool tensor."""
    def logical_xor(self, other: Tensor) -> Tensor:
        """Whether exactly one of x and y is nonzero, element by element, with broadcasting: a bool tensor."""
    def logical_xor_(self, other: Tensor) -> Tensor:
        """Whether exactly one of x and y is nonzero, element by element, with broadcasting: a bool tensor."""
    def bitwise_not(self) -> Tensor:
        """Invert every bit. x: integers or bools, else RuntimeError."""
    def bitwise_not_(self) -> Tensor:
        """Invert every bit. x: integers or bools, else RuntimeError."""
    def __invert__(self) -> Tensor:
        """~x: invert every bit. x: integers or bools, else TypeError."""
    def bitwise_and(self, other: _Operand) -> Tensor:
        """Bits that are set in x and in y, with broadcasting. x, y: integers or bools, else RuntimeError."""
    def bitwise_and_(self, other: _Operand) -> Tensor:
        """Bits that are set in x and in y, with broadcasting. x, y: integers or bools, else RuntimeError."""
    def __and__(self, other: _Operand) -> Tensor: ...
    def __rand__(self, other: _Operand) -> Tensor: ...
    def __iand__(self, other: _Operand) -> Tensor: ...
    def bitwise_or(self, other: _Operand) -> Tensor:
        """Bits that are set in x or in y, with broadcasting. x, y: integers or bools, else RuntimeError."""
    def bitwise_or_(self, other: _Operand) -> Tensor:
        """Bits that are set in x or in y, with broadcasting. x, y: integers or bools, else RuntimeError."""
    def __or__(self, other: _Operand) -> Tensor: ...
    def __ror__(self, other: _Operand) -> Tensor: ...
    def __ior__(self, other: _Operand) -> Tensor: ...
    def bitwise_xor(self, other: _Operand) -> Tensor:
        """Bits that are set in exactly one of x and y, with broadcasting. x, y: integers or bools, else RuntimeError."""
    def bitwise_xor_(self, other: _Operand) -> Tensor:
        """Bits that are set in exactly one of x and y, with broadcasting. x, y: integers or bools, else RuntimeError."""
    def __xor__(self, other: _Operand) -> Tensor: ...
    def __rxor__(self, other: _Operand) -> Tensor: ...
    def __ixor__(self, other: _Operand) -> Tensor: ...
    def bitwise_left_shift(self, other: _Operand) -> Tensor:
        """Shift the bits of x left by y; 0 where y < 0 or y >= the number of bits. x, y: integers or bools, else RuntimeError."""
    def bitwise_left_shift_(self, other: _Operand) -> Tensor:
        """Shift the bits of x left by y; 0 where y < 0 or y >= the number of bits. x, y: integers or bools, else RuntimeError."""
    def __lshift__(self, other: _Operand) -> Tensor: ...
    def __rlshift__(self, other: _Operand) -> Tensor: ...
    def __ilshift__(self, other: _Operand) -> Tensor: ...
    def bitwise_right_shift(self, other: _Operand) -> Tensor:
        """Shift the bits of x right by y, keeping the sign. x, y: integers or bools, else RuntimeError."""
    def bitwise_right_shift_(self, other: _Operand) -> Tensor:
        """Shift the bits of x right by y, keeping the sign. x, y: integers or bools, else RuntimeError."""
    def __rshift__(self, other: _Operand) -> Tensor: ...
    def __rrshift__(self, other: _Operand) -> Tensor: ...
    def __irshift__(self, other: _Operand) -> Tensor: ...
    def erf(self) -> Tensor:
        """Error function: 2 / sqrt(pi) times the integral of exp(-t**2) from 0 to x."""
    def erf_(self) -> Tensor:
        """Error function: 2 / sqrt(pi) times the integral of exp(-t**2) from 0 to x."""
    def erfc(self) -> Tensor:
        """Complementary error function, 1 - erf(x), accurate where it is tiny too."""
    def erfc_(self) -> Tensor:
        """Complementary error function, 1 - erf(x), accurate where it is tiny too."""
    def erfinv(self) -> Tensor:
        """Inverse error function: the number whose erf is x. inf at 1, -inf at -1, NaN outside [-1, 1]."""
    def erfinv_(self) -> Tensor:
        """Inverse error function: the number whose erf is x. inf at 1, -inf at -1, NaN outside [-1, 1]."""
    def lgamma(self) -> Tensor:
        """Logarithm of the absolute value of the gamma function; inf at 0, -1, -2, ..."""
    def lgamma_(self) -> Tensor:
        """Logarithm of the absolute value of the gamma function; inf at 0, -1, -2, ..."""
    def digamma(self) -> Tensor:
        """Digamma function: the derivative of the logarithm of the gamma function."""
    def digamma_(self) -> Tensor:
        """Digamma function: the derivative of the logarithm of the gamma function."""
    def polygamma(self, n: _int) -> Tensor:
        """polygamma(n, input) as the method input.polygamma(n)."""
    def polygamma_(self, n: _int) -> Tensor:
        """polygamma(n, input) as the method input.polygamma(n)."""
    def mvlgamma(self, p: _float) -> Tensor:
        """Logarithm of the multivariate gamma function of dimension p."""
    def mvlgamma_(self, p: _float) -> Tensor:
        """Logarithm of the multivariate gamma function of dimension p."""
    def igamma(self, other: _Operand) -> Tensor:
        """Regularised lower incomplete gamma function P(x, y): the integral of t**(x - 1) exp(-t) from 0 to y, over gamma(x)."""
    def igamma_(self, other: _Operand) -> Tensor:
        """Regularised lower incomplete gamma function P(x, y): the integral of t**(x - 1) exp(-t) from 0 to y, over gamma(x)."""
    def igammac(self, other: _Operand) -> Tensor:
        """Regularised upper incomplete gamma function 1 - igamma(x, y), accurate where it is tiny too."""
    def igammac_(self, other: _Operand) -> Tensor:
        """Regularised upper incomplete gamma function 1 - igamma(x, y), accurate where it is tiny too."""
    def i0(self) -> Tensor:
        """Modified Bessel function of the first kind and order 0."""
    def i0_(self) -> Tensor:
        """Modified Bessel function of the first kind and order 0."""
    def logit(self, eps: _float | None = None) -> Tensor:
        """Inverse of the sigmoid, log(x / (1 - x)). eps: clamp x to [eps, 1 - eps] first; NaN outside [0, 1] if None."""
    def logit_(self, eps: _float | None = None) -> Tensor:
        """Inverse of the sigmoid, log(x / (1 - x)). eps: clamp x to [eps, 1 - eps] first; NaN outside [0, 1] if None."""
    @overload
    def cumsum(self, dim: _int, *, dtype: _Dtype | None = None) -> Tensor:
        """Running sum along one dimension."""
    @overload
    def cumsum(self, *, axis: _int, dtype: _Dtype | None = None) -> Tensor: ...
    @overload
    def cumsum_(self, dim: _int, *, dtype: _Dtype | None = None) -> Tensor:
        """Running sum along one dimension."""
    @overload
    def cumsum_(self, *, axis: _int, dtype: _Dtype | None = None) -> Tensor: ...
    @overload
    def cumprod(self, dim: _int, *, dtype: _Dtype | None = None) -> Tensor:
        """Running product along one dimension."""
    @overload
    def cumprod(self, *, axis: _int, dtype: _Dtype | None = None) -> Tensor: ...
    @overload
    def cumprod_(self, dim: _int, *, dtype: _Dtype | None = None) -> Tensor:
        """Running product along one dimension."""
    @overload
    def cumprod_(self, *, axis: _int, dtype: _Dtype | None = None) -> Tensor: ...
    def var(self, dim: _int | Sequence[_int] | None = None, unbiased: _bool | None = None, keepdim: _bool = False, *, correction: _Number | None = None) -> Tensor:
        """Variance over dim: the sum of squared distances from the mean, divided by n - correction."""
    def std(self, dim: _int | Sequence[_int] | None = None, unbiased: _bool | None = None, keepdim: _bool = False, *, correction: _Number | None = None) -> Tensor:
        """Standard deviation over dim: the square root of `var`. Arguments: as `var`."""
    def norm(self, p: _Number | _str | None = 'fro', dim: _int | Sequence[_int] | None = None, keepdim: _bool = False, dtype: _Dtype | None = None) -> Tensor:
        """p-norm of the elements over dim: (sum of |x|**p)**(1 / p)."""
    def t_(self) -> Tensor:
        """In-place form of t: turn this tensor into its transpose, and return it."""
    def transpose_(self, dim0: _int, dim1: _int) -> Tensor:
        """In-place form of transpose: exchange two dimensions of this tensor, and return it."""
    def swapaxes_(self, axis0: _int, axis1: _int) -> Tensor:
        """NumPy's name for transpose_(dim0, dim1)."""
    def swapdims_(self, dim0: _int, dim1: _int) -> Tensor:
        """Another name for transpose_(dim0, dim1)."""
    @overload
    def unsqueeze_(self, dim: _int) -> Tensor:
        """In-place form of unsqueeze: insert a dimension of size 1 into this tensor at dim, and return it."""
    @overload
    def unsqueeze_(self, *, axis: _int) -> Tensor: ...
    @overload
    def squeeze_(self, dim: _int | Sequence[_int] | None = None) -> Tensor:
        """In-place form of squeeze: drop dimensions of size 1 from this tensor, all or those in dim, and return it."""
    @overload
    def squeeze_(self, *, axis: _int | Sequence[_int] | None) -> Tensor: ...
    @overload
    def flip(self, dims: _int | Sequence[_int]) -> Tensor:
        """Copy of x with the order of elements reversed along dims, x.flip(0, 1). Derivative: the cotangent, flipped back."""
    @overload
    def flip(self, *dims: _int) -> Tensor: ...
    def fliplr(self) -> Tensor:
        """Reverse the columns: x.flip(1). Raises RuntimeError for less than two dimensions."""
    def flipud(self) -> Tensor:
        """Reverse the rows: x.flip(0). Raises RuntimeError for a 0-d tensor. Derivative: the cotangent, flipped back."""
    def roll(self, shifts: _int | Sequence[_int], dims: _int | Sequence[_int] | None = None) -> Tensor:
        """Copy of x with its elements shifted along dims; elements shifted beyond the end re-enter at the start."""
    def rot90(self, k: _int = 1, dims: _int | Sequence[_int] = ...) -> Tensor:
        """Copy of x rotated by k quarter turns in the plane of two dimensions, from the first towards the second."""
    @overload
    def repeat(self, repeats: _int | Sequence[_int] | Tensor) -> Tensor:
        """Repeat x along its dimensions, x.repeat(2, 1)."""
    @overload
    def repeat(self, *repeats: _int) -> Tensor: ...
    @overload
    def tile(self, dims: Sequence[_int]) -> Tensor:
        """Repeat input along its dimensions, x.tile(2) or x.tile((2, 1)); see `repeat`."""
    @overload
    def tile(self, *dims: _int) -> Tensor: ...
    def repeat_interleave(self, repeats: _int | Sequence[_int] | Tensor | None = None, dim: _int | Sequence[_int] | None = None, *, output_size: _int | None = None) -> Tensor:
        """Repeat each slice of input along dim, copies in a row; if dim is None, each element of the flattened input."""
    def diag_embed(self, offset: _int = 0, dim1: _int = -2, dim2: _int = -1) -> Tensor:
        """Matrices in dimensions dim1 and dim2 of the result, with the last dimension of x on a diagonal and 0 elsewhere."""
    def diag(self, diagonal: _int = 0) -> Tensor:
        """Copy of a diagonal of a matrix; or, for a vector, the matrix with the vector on a diagonal."""
    def diagflat(self, offset: _int = 0) -> Tensor:
        """Matrix with the elements of the flattened input on a diagonal. Derivative: the cotangent's diagonal."""
    def tril(self, diagonal: _int = 0) -> Tensor:
        """Lower triangle of each matrix in the last two dimensions of x; 0 above the diagonal."""
    def tril_(self, diagonal: _int = 0) -> Tensor:
        """Lower triangle of each matrix in the last two dimensions of x; 0 above the diagonal."""
    def triu(self, diagonal: _int = 0) -> Tensor:
        """Upper triangle of each matrix in the last two dimensions of x; 0 below the diagonal."""
    def triu_(self, diagonal: _int = 0) -> Tensor:
        """Upper triangle of each matrix in the last two dimensions of x; 0 below the diagonal."""
    @overload
    def index_select(self, dim: _int, index: Tensor) -> Tensor:
        """Slices of input along dim that index names. index: a vector of int64 or int32, >= 0; may repeat."""
    @overload
    def index_select(self, *, axis: _int, index: Tensor) -> Tensor: ...
    @overload
    def gather(self, dim: _int, index: Tensor, *, sparse_grad: _bool = False) -> Tensor:
        """result[i][j] = input[index[i][j]][j] for dim 0, input[i][index[i][j]] for dim 1, and so on."""
    @overload
    def gather(self, *, axis: _int, index: Tensor, sparse_grad: _bool = False) -> Tensor: ...
    def take_along_dim(self, indices: Any, dim: _int | Sequence[_int] | None = None) -> Tensor:
        """gather() with input and indices broadcast against each other in all dimensions but dim."""
    def take(self, index: Tensor) -> Tensor:
        """Elements of the flattened input at index. The result has index's shape."""
    @overload
    def nonzero(self, *, as_tuple: Literal[False] = False) -> Tensor:
        """Indices of the nonzero elements, as int64: (k, ndim), or if as_tuple a tuple of ndim vectors (k)."""
    @overload
    def nonzero(self, *, as_tuple: Literal[True]) -> tuple[Tensor, ...]: ...
    def argwhere(self) -> Tensor:
        """Indices of the nonzero elements, as int64: (k, ndim), as `nonzero` gives them."""
    @overload
    def scatter(self, dim: _int, index: Tensor, src: _Operand | None = None, *, value: _Operand | None = None, reduce: _str | None = None) -> Tensor:
        """Return a copy of input with src written at index along dim."""
    @overload
    def scatter(self, *, axis: _int, index: Tensor, src: _Operand | None = None, value: _Operand | None = None, reduce: _str | None = None) -> Tensor: ...
    @overload
    def scatter_(self, dim: _int, index: Tensor, src: _Operand | None = None, *, value: _Operand | None = None, reduce: _str | None = None) -> Tensor:
        """In-place form of scatter."""
    @overload
    def scatter_(self, *, axis: _int, index: Tensor, src: _Operand | None = None, value: _Operand | None = None, reduce: _str | None = None) -> Tensor: ...
    @overload
    def scatter_add(self, dim: _int, index: Tensor, src: Tensor) -> Tensor:
        """Return a copy of input with src added at index along dim. A repeated index adds each of its values."""
    @overload
    def scatter_add(self, *, axis: _int, index: Tensor, src: Tensor) -> Tensor: ...
    @overload
    def scatter_add_(self, dim: _int, index: Tensor, src: Tensor) -> Tensor:
        """In-place form of scatter_add."""
    @overload
    def scatter_add_(self, *, axis: _int, index: Tensor, src: Tensor) -> Tensor: ...
    @overload
    def index_add(self, dim: _int, index: Tensor, source: Tensor, *, alpha: _Number = 1) -> Tensor:
        """Return a copy of input with alpha * source added to its slices `index` along dim."""
    @overload
    def index_add(self, *, axis: _int, index: Tensor, source: Tensor, alpha: _Number = 1) -> Tensor: ...
    @overload
    def index_add_(self, dim: _int, index: Tensor, source: Tensor, *, alpha: _Number = 1) -> Tensor:
        """In-place form of index_add."""
    @overload
    def index_add_(self, *, axis: _int, index: Tensor, source: Tensor, alpha: _Number = 1) -> Tensor: ...
    @overload
    def index_copy(self, dim: _int, index: Tensor, source: Tensor) -> Tensor:
        """Return a copy of input with its slices `index` along dim replaced by those of source."""
    @overload
    def index_copy(self, *, axis: _int, index: Tensor, source: Tensor) -> Tensor: ...
    @overload
    def index_copy_(self, dim: _int, index: Tensor, source: Tensor) -> Tensor:
        """In-place form of index_copy."""
    @overload
    def index_copy_(self, *, axis: _int, index: Tensor, source: Tensor) -> Tensor: ...
    @overload
    def index_fill(self, dim: _int, index: Tensor, value: _Operand) -> Tensor:
        """Return a copy of input with value in its slices `index` along dim."""
    @overload
    def index_fill(self, *, axis: _int, index: Tensor, value: _Operand) -> Tensor: ...
    @overload
    def index_fill_(self, dim: _int, index: Tensor, value: _Operand) -> Tensor:
        """In-place form of index_fill."""
    @overload
    def index_fill_(self, *, axis: _int, index: Tensor, value: _Operand) -> Tensor: ...
    def put(self, index: Tensor, source: Tensor, accumulate: _bool = False) -> Tensor:
        """Return a copy of input with source written, or added if accumulate, at index into the flattened input."""
    def put_(self, index: Tensor, source: Tensor, accumulate: _bool = False) -> Tensor:
        """In-place form of put."""
    def select_scatter(self, src: Tensor, dim: _int, index: Tensor) -> Tensor:
        """Return a copy of input with input.select(dim, index) replaced by src, of that slice's shape."""
    def slice_scatter(self, src: Tensor, dim: _int = 0, start: _int | None = None, end: Any = None, step: _int = 1) -> Tensor:
        """Return a copy of input with its slice start:end:step along dim replaced by src, of that slice's shape."""
    def diagonal_scatter(self, src: Tensor, offset: _int = 0, dim1: _int = 0, dim2: _int = 1) -> Tensor:
        """Return a copy of x with x.diagonal(offset, dim1, dim2) replaced by src, of that diagonal's shape."""
    @overload
    def scatter_reduce(self, dim: _int, index: Tensor, src: Tensor, reduce: _str, *, include_self: _bool = True) -> Tensor:
        """Return a copy of input with src reduced into it at index along dim."""
    @overload
    def scatter_reduce(self, *, axis: _int, index: Tensor, src: Tensor, reduce: _str, include_self: _bool = True) -> Tensor: ...
    @overload
    def scatter_reduce_(self, dim: _int, index: Tensor, src: Tensor, reduce: _str, *, include_self: _bool = True) -> Tensor:
        """In-place form of scatter_reduce."""
    @overload
    def scatter_reduce_(self, *, axis: _int, index: Tensor, src: Tensor, reduce: _str, include_self: _bool = True) -> Tensor: ...
    def masked_fill(self, mask: Tensor, value: _Operand) -> Tensor:
        """Return a copy of input with value where mask is True."""
    def masked_fill_(self, mask: Tensor, value: _Operand) -> Tensor:
        """In-place form of masked_fill. mask must broadcast to the tensor's shape."""
    def masked_scatter(self, mask: Tensor, source: Tensor) -> Tensor:
        """Return a copy of input with the elements of source, in row-major order, where mask is True."""
    def masked_scatter_(self, mask: Tensor, source: Tensor) -> Tensor:
        """In-place form of masked_scatter."""
    def masked_select(self, mask: Tensor) -> Tensor:
        """Return the elements of input where mask is True, as a vector in row-major order."""
    @overload
    def sort(self, dim: _int = -1, descending: _bool = False, *, stable: Any = None) -> return_types.sort:
        """Sort input along a dimension: a named tuple (values, indices). The order is stable."""
    @overload
    def sort(self, *, axis: _int, descending: _bool = False, stable: Any = None) -> return_types.sort: ...
    def msort(self) -> Tensor:
        """Sort input along its first dimension. Derivative: the cotangent, moved back to the original order."""
    @overload
    def argsort(self, dim: _int = -1, descending: _bool = False, stable: _bool = False) -> Tensor:
        """Indices that sort x along a dimension, int64, in a stable order. x: any real dtype."""
    @overload
    def argsort(self, *, axis: _int, descending: _bool = False, stable: _bool = False) -> Tensor: ...
    def topk(self, k: _int, dim: _int = -1, largest: _bool = True, sorted: _bool = True) -> return_types.topk:
        """The k largest elements along a dimension, in order: a named tuple (values, indices)."""
    def kthvalue(self, k: _int, dim: _int = -1, keepdim: _bool = False) -> return_types.kthvalue:
        """The k-th smallest element along a dimension, counted from 1: a named tuple (values, indices)."""
    @overload
    def unique(self, sorted: _bool = True, *, dim: _int | None = None) -> Tensor:
        """Distinct elements of input, or distinct slices along dim, in ascending order. Not differentiable."""
    @overload
    def unique(self, sorted: _bool = True, return_inverse: _bool = False, return_counts: _bool = False, dim: _int | None = None) -> Any: ...
    @overload
    def unique_consecutive(self, *, dim: _int | None = None) -> Tensor:
        """Merge runs of equal elements of the flattened input, or of equal slices along dim. Not differentiable."""
    @overload
    def unique_consecutive(self, return_inverse: _bool = False, return_counts: _bool = False, dim: _int | None = None) -> Any: ...
    def bincount(self, weights: Any = None, minlength: _int = 0) -> Tensor:
        """Count the occurrences of each number 0, 1, ... in a vector of integers >= 0, or sum their weights."""
    def gesv(self, A: Tensor) -> tuple[Tensor, Tensor]:
        """Return (X, LU) with A @ X = input, where LU holds the LU factors of A, without history. Today: linalg.solve(A, B)."""
    def potrf(self, upper: _bool = True) -> Tensor:
        """Cholesky factor of a symmetric, positive definite matrix: U with U^T @ U = input, or L with L @ L^T = input."""
    def masked_copy_(self, mask: Tensor, source: Tensor) -> Tensor:
        """Older name of masked_scatter_(mask, source)."""
    def apply_(self, callable: Any) -> Tensor:
        """Replace each element by callable(element) and return the tensor. Slow: callable is called once per element."""
    def map_(self, tensor: Tensor, callable: Any) -> Tensor:
        """Replace each element a by callable(a, b), where b is the corresponding element of `tensor`, and return self."""
    @overload
    def narrow_copy(self, dim: _int, start: _int, length: _int) -> Tensor:
        """A copy of narrow(). Derivative: the cotangent in the part, 0 elsewhere."""
    @overload
    def narrow_copy(self, *, axis: _int, start: _int, length: _int) -> Tensor: ...
    @overload
    def index_reduce(self, dim: _int, index: Tensor, source: Tensor, reduce: _str, *, include_self: _bool = True) -> Tensor:
        """A copy of input in which slice index[i] along dim is reduced with slice i of source."""
    @overload
    def index_reduce(self, *, axis: _int, index: Tensor, source: Tensor, reduce: _str, include_self: _bool = True) -> Tensor: ...
    @overload
    def index_reduce_(self, dim: _int, index: Tensor, source: Tensor, reduce: _str, *, include_self: _bool = True) -> Tensor:
        """A copy of input in which slice index[i] along dim is reduced with slice i of source."""
    @overload
    def index_reduce_(self, *, axis: _int, index: Tensor, source: Tensor, reduce: _str, include_self: _bool = True) -> Tensor: ...
    def as_strided_scatter(self, src: Tensor, size: _int | Sequence[_int], stride: _int | Sequence[_int], storage_offset: Any = None) -> Tensor:
        """A copy of input in which the elements of as_strided(size, stride, storage_offset) are replaced by src."""
    def nonzero_static(self, size: _int | Sequence[_int], fill_value: _Number = -1) -> Tensor:
        """Indices of the nonzero elements, as in `nonzero`: (size, ndim). Rows beyond size are cut, missing ones get fill_value."""
    def fill_diagonal_(self, fill_value: _Number, wrap: _bool = False) -> Tensor:
        """Write a number onto the main diagonal of this tensor, and return the tensor."""
    def stft(self, n_fft: Any, hop_length: Any = None, win_length: Any = None, window: Any = None, center: _bool = True, pad_mode: _str = 'reflect', normalized: _bool = False, onesided: Any = None, return_complex: Any = None, align_to_window: Any = None) -> Tensor:
        """Short-time Fourier transform: the Fourier transforms of frames of n_fft elements times a window."""
    def istft(self, n_fft: Any, hop_length: Any = None, win_length: Any = None, window: Any = None, center: _bool = True, normalized: _bool = False, onesided: Any = None, length: _int | None = None, return_complex: _bool = False) -> Tensor:
        """Inverse short-time Fourier transform: the signal whose stft is closest to input, by least squares."""
    def triangular_solve(self, A: Any, upper: _bool = True, transpose: _bool = False, unitriangular: _bool = False) -> return_types.triangular_solve:
        """X with A @ X = input, or A^T @ X = input if transpose, for a triangular A, as a named tuple (solution, copy of A)."""
    def is_nonzero(self) -> Tensor:
        """Whether the single element is not zero. Raises RuntimeError unless the tensor has one element."""
    def is_conj(self) -> Tensor:
        """Whether the tensor is a conjugate view, as x.conj() and x.mH are of a complex x."""
    def is_neg(self) -> Tensor:
        """Whether the tensor is a negated view, as x.conj().imag is."""
    def get_device(self) -> Tensor:
        """Return the index of the tensor's device: -1 for the CPU."""
    def is_pinned(self, device: _device | str | None = None) -> Tensor:
        """Whether the memory is pinned: main memory that GPUs can copy from while the program goes on. See pin_memory."""
    def is_same_size(self, other: _Operand) -> _bool:
        """Whether two tensors have the same shape."""
    def dim_order(self) -> Tensor:
        """Return the dimensions ordered by stride, the largest stride first."""
    def to_dense(self, dtype: _Dtype | None = None, *, masked_grad: Any = None) -> Tensor:
        """Return the tensor, cast to dtype unless it is None. All tensors are dense. Derivative: the cotangent."""
    def pin_memory(self, device: _device | str | None = None) -> Tensor:
        """Return a copy in pinned memory, from which GPUs can copy while the program goes on. Derivative: the cotangent."""
    def record_stream(self, s: Any) -> Tensor:
        """Keep the memory of a tensor on a GPU until the work that a stream has now is done, also if the tensor is freed before."""
    def map2_(self, x: Any, y: Any, callable: Any) -> Tensor:
        """Replace each element a by callable(a, b, c), with the corresponding elements b of x and c of y; return the tensor."""
    def new_empty_strided(self, size: _int | Sequence[_int], stride: _int | Sequence[_int], *, dtype: _Dtype | None = None, device: _device | str | None = None, requires_grad: _bool = False, layout: Any = None, pin_memory: _bool = False, out: Tensor | None = None) -> Tensor:
        """empty_strided with the dtype of this tensor unless dtype is given."""
    def inverse(self) -> Tensor:
        """Inverse of a matrix, or of each matrix of a batch: `linalg.inv`."""
    def det(self) -> Tensor:
        """Determinant of a matrix, or of each matrix of a batch. A: (..., n, n), floating or complex; returns (...)."""
    def slogdet(self) -> return_types.slogdet:
        """Sign and natural logarithm of the absolute value of the determinant, as a named tuple (sign, logabsdet)."""
    def logdet(self) -> Tensor:
        """Natural logarithm of the determinant; NaN where a real determinant is negative."""
    def matrix_power(self, n: _int) -> Tensor:
        """A @ A @ ... @ A with n factors; the identity for n = 0, a power of the inverse for n < 0. A: (..., k, k)."""
    def cholesky(self, upper: _bool = False) -> Tensor:
        """`linalg.cholesky`: lower triangular L with L @ L^H = input, or L^H if upper. Derivative: as linalg.cholesky."""
    def cholesky_solve(self, L: Any, upper: _bool = False) -> Tensor:
        """Solve A @ X = B for X, given the Cholesky factor L of A: A = L @ L^H, or L^H @ L if upper."""
    def cholesky_inverse(self, upper: _bool = False) -> Tensor:
        """Return the inverse of A, given its Cholesky factor L: A = L @ L^H, or L^H @ L if upper. L: (..., n, n)."""
    def matrix_exp(self) -> Tensor:
        """`linalg.matrix_exp`: the exponential of a matrix. Derivative: as linalg.matrix_exp."""
    def pinverse(self, rcond: _float = 1e-15) -> Tensor:
        """`linalg.pinv`: the pseudo-inverse. Singular values <= rcond times the largest one count as zero."""
    def qr(self, some: _bool = True) -> return_types.qr:
        """`linalg.qr` as a named tuple (Q, R), reduced if some, else complete. Derivative: as linalg.qr."""
    def svd(self, some: _bool = True, compute_uv: _bool = True) -> return_types.svd:
        """`linalg.svd` as a named tuple (U, S, V), with V in place of V^H."""
    def cross(self, other: _Operand, dim: _int | Sequence[_int] | None = None) -> Tensor:
        """`linalg.cross`: the cross product along dim. Derivative: as linalg.cross."""
    def lu(self, pivot: _bool = True, get_infos: _bool = False) -> tuple[Tensor, ...]:
        """`linalg.lu_factor_ex` as a tuple (LU, pivots), or (LU, pivots, info) if get_infos. Derivative: as linalg.lu."""
    def lu_solve(self, LU_data: Any, LU_pivots: Any) -> Tensor:
        """`linalg.lu_solve` with the right-hand sides as the first argument. Derivative: as linalg.lu_solve."""
    def geqrf(self) -> return_types.geqrf:
        """LAPACK's QR decomposition, as a named tuple (a, tau): a of input's shape (..., m, n), tau of shape (..., min(m, n))."""
    def orgqr(self, tau: Any) -> Tensor:
        """`linalg.householder_product`: the first columns of Q, given the reflections of `geqrf`."""
    def ormqr(self, tau: Any, other: _Operand, left: _bool = True, transpose: _bool = False) -> Tensor:
        """Compute Q @ other, or other @ Q if not left, for the square Q of a QR decomposition; with Q^H if transpose."""
    @overload
    def cummax(self, dim: _int) -> return_types.cummax:
        """Running maximum along a dimension and the index of its last occurrence: a named tuple (values, indices)."""
    @overload
    def cummax(self, *, axis: _int) -> return_types.cummax: ...
    @overload
    def cummin(self, dim: _int) -> return_types.cummin:
        """Running minimum along a dimension and the index of its last occurrence: a named tuple (values, indices)."""
    @overload
    def cummin(self, *, axis: _int) -> return_types.cummin: ...
    @overload
    def logcumsumexp(self, dim: _int) -> Tensor:
        """Logarithm of the running sum of exponentials along a dimension, without overflow."""
    @overload
    def logcumsumexp(self, *, axis: _int) -> Tensor: ...
    def diff(self, n: _int = 1, dim: _int = -1, prepend: Any = None, append: Any = None) -> Tensor:
        """n-th differences of neighbours along a dimension; for bools, whether neighbours differ."""
    @overload
    def hash_tensor(self, dim: _int | Sequence[_int] | None = None, *, keepdim: _bool = False, mode: _int = 0) -> Tensor:
        """Hash of the elements over dim: the bitwise exclusive or of their 64-bit words, uint64."""
    @overload
    def hash_tensor(self, *, axis: _int | Sequence[_int] | None, keepdims: _bool = False, mode: _int = 0) -> Tensor: ...
    @overload
    def nanmean(self, dim: _int | Sequence[_int] | None = None, keepdim: _bool = False, *, dtype: _Dtype | None = None) -> Tensor:
        """Mean over dim of the elements that are not NaN; NaN if there are none."""
    @overload
    def nanmean(self, *, axis: _int | Sequence[_int] | None, keepdims: _bool = False, dtype: _Dtype | None = None) -> Tensor: ...
    def quantile(self, q: Any, dim: _int | Sequence[_int] | None = None, keepdim: _bool = False, *, interpolation: _str = 'linear') -> Tensor:
        """q-th quantiles along a dimension, or of all elements if dim is None; NaN if an element is NaN."""
    def nanquantile(self, q: Any, dim: _int | Sequence[_int] | None = None, keepdim: _bool = False, *, interpolation: _str = 'linear') -> Tensor:
        """`quantile` of the elements that are not NaN. Derivative: as quantile."""
    @overload
    def mode(self, dim: _int = -1, keepdim: _bool = False) -> return_types.mode:
        """Most frequent element along a dimension and the index of its last occurrence: a named tuple (values, indices)."""
    @overload
    def mode(self, *, axis: _int, keepdims: _bool = False) -> return_types.mode: ...
    def histc(self, bins: _int = 100, min: _Operand | None = 0, max: _Operand | None = 0) -> Tensor:
        """Histogram: count the elements in each of `bins` equal intervals from min to max. Not differentiable."""
    def histogram(self, bins: _int = 100, *, range: Any = None, weight: Tensor | None = None, density: _bool = False) -> return_types.histogram:
        """Histogram: count the elements in each interval, or sum their weights; a named tuple (hist, bin_edges)."""
    def cov(self, *, correction: _Number | None = 1, fweights: Any = None, aweights: Any = None) -> Tensor:
        """Covariance matrix of n variables with m observations each."""
    def corrcoef(self) -> Tensor:
        """Correlation coefficients: covariances divided by the standard deviations, clamped to [-1, 1]."""
    def dist(self, other: _Operand, p: _float = 2) -> Tensor:
        """p-norm of input - other, shapes that broadcast. Derivative: as `norm`; 0 where input equals other."""
    def renorm(self, p: _float, dim: _int, maxnorm: Any) -> Tensor:
        """Scale each slice of input along dim whose p-norm is above maxnorm down to maxnorm."""
    def renorm_(self, p: _float, dim: _int, maxnorm: Any) -> Tensor:
        """Scale each slice of input along dim whose p-norm is above maxnorm down to maxnorm."""
    def frexp(self) -> return_types.frexp:
        """Named tuple (mantissa, exponent) with input = mantissa * 2**exponent and 1/2 <= |mantissa| < 1."""
    def multinomial(self, num_samples: Any, replacement: _bool = False, *, generator: Generator | None = None) -> Tensor:
        """Draw num_samples indices, as int64, with probabilities proportional to the weights in each row of input."""
    def exponential_(self, lambd: _float = 1.0, *, generator: Generator | None = None) -> Tensor:
        """Fill the tensor with numbers from the exponential distribution of rate lambd, and return it. Derivative: 0."""
    def geometric_(self, p: _float, *, generator: Generator | None = None) -> Tensor:
        """Fill the tensor with geometric random numbers, the trials until a success of probability p. Derivative: 0."""
    def cauchy_(self, median: _float = 0.0, sigma: _float = 1.0, *, generator: Generator | None = None) -> Tensor:
        """Fill the tensor with numbers from the Cauchy distribution of this median and scale sigma. Derivative: 0."""
    def log_normal_(self, mean: _float = 1.0, std: _float = 2.0, *, generator: Generator | None = None) -> Tensor:
        """Fill the tensor with exponentials of normal numbers of the given mean and std, and return it. Derivative: 0."""
    def untyped_storage(self) -> Tensor:
        """Return the memory of the tensor as an UntypedStorage. Tensors that share memory have the same storage."""
    def _typed_storage(self) -> Tensor:
        """Return the memory of the tensor as a TypedStorage, without the warning of storage()."""
    def storage(self) -> Tensor:
        """Return the memory of the tensor as a TypedStorage, with torch's warning that these are deprecated."""
    def storage_type(self) -> Tensor:
        """Return the legacy class of storages of the tensor's dtype, FloatStorage for float32."""
    def share_memory_(self) -> Tensor:
        """Move the storage to memory that processes forked from now on share with this one. Return the tensor."""
    def is_shared(self) -> Tensor:
        """Whether other processes have the memory of the tensor too, after share_memory_(), or could get it: memory of a GPU."""
    def is_set_to(self, tensor: Any) -> Tensor:
        """Whether both tensors show the same elements of one storage: the same offset, shape and strides."""
    def set_(self, source: Tensor | None = None, storage_offset: Any = None, size: _int | Sequence[_int] | None = None, stride: _int | Sequence[_int] | None = None) -> Tensor:
        """Make the tensor show other memory, and return it."""
    def resize_(self, *sizes: _int | Sequence[_int], size: _int | Sequence[_int] | None = None, memory_format: Any = None) -> Tensor:
        """Change the shape of the tensor in place, resize_(2, 3) or resize_((2, 3)), and return it."""
    def resize_as_(self, the_template: Tensor, memory_format: Any = None) -> Tensor:
        """Change the shape of the tensor in place to that of the_template; see resize_."""
    def subtract(self, other: _Operand, *, alpha: _Number = 1) -> Tensor:
        """x - alpha * y, with broadcasting. x, y: tensors or numbers. alpha: as in `add`. Raises RuntimeError for bools."""
    def subtract_(self, other: _Operand, *, alpha: _Number = 1) -> Tensor:
        """x - alpha * y, with broadcasting. x, y: tensors or numbers. alpha: as in `add`. Raises RuntimeError for bools."""
    def multiply(self, other: _Operand) -> Tensor:
        """x * y, with broadcasting. x, y: tensors or numbers of any dtype."""
    def multiply_(self, other: _Operand) -> Tensor:
        """x * y, with broadcasting. x, y: tensors or numbers of any dtype."""
    def divide(self, other: _Operand, *, rounding_mode: Literal["trunc", "floor"] | None = None, out: Tensor | None = None) -> Tensor:
        """input / other, with broadcasting. input, other: tensors or numbers; integers give the default float dtype."""
    def true_divide(self, other: _Operand, *, rounding_mode: Literal["trunc", "floor"] | None = None, out: Tensor | None = None) -> Tensor:
        """input / other, with broadcasting. input, other: tensors or numbers; integers give the default float dtype."""
    def divide_(self, other: _Operand, *, rounding_mode: Literal["trunc", "floor"] | None = None) -> Tensor:
        """In-place form of div."""
    def true_divide_(self, other: _Operand, *, rounding_mode: Literal["trunc", "floor"] | None = None) -> Tensor:
        """In-place form of div."""
    def negative(self) -> Tensor:
        """Negative of each element, -x. Raises RuntimeError for bool x."""
    def negative_(self) -> Tensor:
        """Negative of each element, -x. Raises RuntimeError for bool x."""
    def absolute(self) -> Tensor:
        """Absolute value of each element; the real magnitude for complex x."""
    def absolute_(self) -> Tensor:
        """Absolute value of each element; the real magnitude for complex x."""
    def arcsin(self) -> Tensor:
        """Inverse sine: the angle in radians, in [-pi/2, pi/2], whose sine is x. NaN for real |x| > 1."""
    def arcsin_(self) -> Tensor:
        """Inverse sine: the angle in radians, in [-pi/2, pi/2], whose sine is x. NaN for real |x| > 1."""
    def arccos(self) -> Tensor:
        """Inverse cosine: the angle in radians, in [0, pi], whose cosine is x. NaN for real |x| > 1."""
    def arccos_(self) -> Tensor:
        """Inverse cosine: the angle in radians, in [0, pi], whose cosine is x. NaN for real |x| > 1."""
    def arctan(self) -> Tensor:
        """Inverse tangent: the angle in radians, in [-pi/2, pi/2], whose tangent is x."""
    def arctan_(self) -> Tensor:
        """Inverse tangent: the angle in radians, in [-pi/2, pi/2], whose tangent is x."""
    def arcsinh(self) -> Tensor:
        """Inverse hyperbolic sine: the number whose hyperbolic sine is x."""
    def arcsinh_(self) -> Tensor:
        """Inverse hyperbolic sine: the number whose hyperbolic sine is x."""
    def arccosh(self) -> Tensor:
        """Inverse hyperbolic cosine: the number >= 0 whose hyperbolic cosine is x. NaN for real x < 1."""
    def arccosh_(self) -> Tensor:
        """Inverse hyperbolic cosine: the number >= 0 whose hyperbolic cosine is x. NaN for real x < 1."""
    def arctanh(self) -> Tensor:
        """Inverse hyperbolic tangent: the number whose hyperbolic tangent is x. inf at 1, -inf at -1, NaN for real |x| > 1."""
    def arctanh_(self) -> Tensor:
        """Inverse hyperbolic tangent: the number whose hyperbolic tangent is x. inf at 1, -inf at -1, NaN for real |x| > 1."""
    def fix(self) -> Tensor:
        """Round x towards zero, in x's dtype."""
    def fix_(self) -> Tensor:
        """Round x towards zero, in x's dtype."""
    def clip(self, min: _Operand | None = None, max: _Operand | None = None, *, out: Tensor | None = None) -> Tensor:
        """input clipped to [min, max], with broadcasting; max where min > max."""
    def clip_(self, min: _Operand | None = None, max: _Operand | None = None) -> Tensor:
        """In-place form of clamp."""
    def not_equal(self, other: _Operand) -> Tensor:
        """Whether x differs from y, element by element, with broadcasting: a bool tensor."""
    def not_equal_(self, other: _Operand) -> Tensor:
        """Whether x differs from y, element by element, with broadcasting: a bool tensor."""
    def less(self, other: _Operand) -> Tensor:
        """Whether x is less than y, element by element, with broadcasting: a bool tensor."""
    def less_(self, other: _Operand) -> Tensor:
        """Whether x is less than y, element by element, with broadcasting: a bool tensor."""
    def less_equal(self, other: _Operand) -> Tensor:
        """Whether x is less than or equal to y, element by element, with broadcasting: a bool tensor."""
    def less_equal_(self, other: _Operand) -> Tensor:
        """Whether x is less than or equal to y, element by element, with broadcasting: a bool tensor."""
    def greater(self, other: _Operand) -> Tensor:
        """Whether x is greater than y, element by element, with broadcasting: a bool tensor."""
    def greater_(self, other: _Operand) -> Tensor:
        """Whether x is greater than y, element by element, with broadcasting: a bool tensor."""
    def greater_equal(self, other: _Operand) -> Tensor:
        """Whether x is greater than or equal to y, element by element, with broadcasting: a bool tensor."""
    def greater_equal_(self, other: _Operand) -> Tensor:
        """Whether x is greater than or equal to y, element by element, with broadcasting: a bool tensor."""
    def moveaxis(self, source: _int | Sequence[_int], destination: _int | Sequence[_int]) -> Tensor:
        """View of input with dimensions `source` moved to `destination`; the others keep their order."""
    def ger(self, vec2: Any) -> Tensor:
        """Outer product: result[i, j] = input[i] * vec2[j]. input: (n), vec2: (m), of any dtypes; returns (n, m)."""
    def arctan2(self, other: _Operand) -> Tensor:
        """Angle of the point with abscissa y and ordinate x, in radians from -pi to pi."""
    def arctan2_(self, other: _Operand) -> Tensor:
        """Angle of the point with abscissa y and ordinate x, in radians from -pi to pi."""
    def __new__(cls, *args: Any, **options: Any) -> Any:
        """Make a tensor as torch always has: Tensor(2, 3) is an uninitialised 2x3 tensor, Tensor([1, 2]) holds 1 and 2."""
    @property
    def shape(self) -> Size:
        """The size of each dimension."""
    @overload
    def size(self) -> Size:
        """The shape, or the size of one dimension. Raises IndexError for a dimension out of range."""
    @overload
    def size(self, dim: _int) -> _int: ...
    @property
    def ndim(self) -> _int:
        """The number of dimensions."""
    def dim(self) -> _int:
        """The number of dimensions."""
    ndimension = dim
    def numel(self) -> _int:
        """The number of elements."""
    nelement = numel
    @property
    def dtype(self) -> _dtype:
        """The element type."""
    is_mps: _bool
    is_xpu: _bool
    is_sparse: _bool
    is_sparse_csr: _bool
    is_mkldnn: _bool
    is_nested: _bool
    is_quantized: _bool
    is_meta: _bool
    @property
    def layout(self) -> Any:
        """The layout of the elements: strided."""
    @property
    def name(self) -> Any:
        """None. Tensors have no names, as in torch since 1.0."""
    @property
    def itemsize(self) -> _int:
        """Bytes of an element."""
    def element_size(self) -> _int:
        """Bytes of an element."""
    @property
    def nbytes(self) -> _int:
        """Bytes of all elements."""
    def stride(self, dim: _int | None=None) -> Any:
        """The stride of each dimension, or of one dimension, in elements."""
    def is_contiguous(self) -> _bool:
        """Whether the elements are in memory in row-major order, without gaps."""
    def data_ptr(self) -> _int:
        """The address of the first element, or 0 if there is none."""
    def storage_offset(self) -> _int:
        """Number of elements between the start of the underlying memory and the first element of this tensor."""
    def is_floating_point(self) -> _bool:
        """Whether the dtype is a floating-point dtype."""
    def is_complex(self) -> _bool:
        """Whether the dtype is complex."""
    def is_signed(self) -> _bool:
        """Whether the dtype has negative numbers."""
    @property
    def T(self) -> Tensor:
        """The tensor with its dimensions in reverse order."""
    @property
    def real(self) -> Any:
        """The real parts, as a view. A real tensor returns itself."""
    @real.setter
    def real(self, value: Any) -> None: ...
    @property
    def imag(self) -> Any:
        """The imaginary parts, as a view. Raises RuntimeError if the tensor is real."""
    @imag.setter
    def imag(self, value: Any) -> None: ...
    @property
    def mT(self) -> Tensor:
        """The tensor with its last two dimensions exchanged. A 0-d tensor is returned itself."""
    @property
    def H(self) -> Tensor:
        """The conjugate transpose of a matrix."""
    @property
    def mH(self) -> Tensor:
        """The conjugate transpose of a matrix or a batch of matrices."""
    def backward(self, gradient: Any=None, retain_graph: _bool | None=None, create_graph: _bool=False, inputs: Any=None, **old: Any) -> None:
        """Add the gradients of this tensor with respect to the leaves of its graph to their .grad."""
    @property
    def data(self) -> Tensor:
        """A tensor of the same memory, without history. It has its own version counter, so writes through it go unnoticed."""
    @data.setter
    def data(self, value: Tensor) -> None: ...
    def detach(self) -> Tensor:
        """Return a tensor of the same memory, without history. Both see writes through either, and so does the version check."""
    def detach_(self) -> Tensor:
        """Cut this tensor from its history. It becomes a leaf that requires no gradient. Raises RuntimeError for a view."""
    def item(self) -> Any:
        """Return the only element as a Python number. Raises RuntimeError if there is not exactly one element."""
    def tolist(self) -> Any:
        """Return the elements as nested lists of Python numbers, or as a number if the tensor is 0-d."""
    def numpy(self, *, force: _bool=False) -> np.ndarray:
        """Return a NumPy array that shares the tensor's memory. Raises RuntimeError if the tensor requires grad or is dual."""
    def __array__(self, dtype: Any=None, copy: _bool | None=None) -> np.ndarray: ...
    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **settings: Any) -> Any: ...
    def __array_function__(self, function: Any, types: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any: ...
    def __dlpack__(self, **kwargs: Any) -> Any: ...
    def __dlpack_device__(self) -> tuple[_int, _int]: ...
    def __buffer__(self, flags: _int) -> memoryview: ...
    def __bool__(self) -> _bool: ...
    __nonzero__ = __bool__
    def __int__(self) -> _int: ...
    __long__ = __int__
    def __float__(self) -> _float: ...
    def __complex__(self) -> _complex: ...
    def __index__(self) -> _int: ...
    def __len__(self) -> _int: ...
    def __delitem__(self, key: Any) -> None: ...
    def __iter__(self) -> Iterator[Tensor]: ...
    def __contains__(self, element: Any) -> _bool: ...
    def __reversed__(self) -> Tensor: ...
    def __repr__(self) -> str: ...
    __str__ = __repr__
    def __format__(self, spec: str) -> str: ...
    def __copy__(self) -> Any:
        """Return a copy. The copy of a leaf is a leaf of the same memory. The copy of a result or a dual tensor is a clone."""
    def __deepcopy__(self, memo: dict) -> Any: ...
    def __reduce_ex__(self, protocol: Any) -> tuple: ...
    @property
    def device(self) -> _device:
        """The device of the memory."""
    @property
    def is_cpu(self) -> _bool:
        """Whether the memory is main memory."""
    @property
    def is_cuda(self) -> _bool:
        """Whether the memory is a GPU's."""
    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        """The memory on a GPU for other libraries. Raises AttributeError for a tensor in main memory."""
    @overload
    def to(self, dtype: _Dtype, non_blocking: _bool = False, copy: _bool = False, *, memory_format: Any = None) -> Tensor:
        """Return the tensor with another dtype or device. If nothing changes and copy is False, return the tensor itself."""
    @overload
    def to(self, device: _device | str | None = None, dtype: _Dtype | None = None, non_blocking: _bool = False, copy: _bool = False, *, memory_format: Any = None) -> Tensor: ...
    @overload
    def to(self, other: Tensor, non_blocking: _bool = False, copy: _bool = False, *, memory_format: Any = None) -> Tensor: ...
    def type(self, dtype: Any=None, non_blocking: _bool=False, **old: Any) -> Any:
        """Return the legacy name of the type, "torch.FloatTensor" or "torch.cuda.FloatTensor"."""
    def type_as(self, other: Tensor) -> Tensor:
        """Return the tensor with the dtype and on the device of other."""
    def cpu(self, *, memory_format: Any=None, **old: Any) -> Tensor:
        """Return a copy in main memory, or the tensor itself if it lies there. Derivative: 1."""
    def cuda(self, device: Any=None, non_blocking: _bool=False, *, memory_format: Any=None, **old: Any) -> Tensor:
        """Return a copy on a GPU, the current one if device is None, or the tensor itself if it lies there. Derivative: 1."""
    def double(self, memory_format: Any=None) -> Tensor:
        """Return the tensor cast to float64."""
    def float(self, memory_format: Any=None) -> Tensor:
        """Return the tensor cast to float32."""
    def half(self, memory_format: Any=None) -> Tensor:
        """Return the tensor cast to float16."""
    def bfloat16(self, memory_format: Any=None) -> Tensor:
        """Return the tensor cast to bfloat16."""
    def long(self, memory_format: Any=None) -> Tensor:
        """Return the tensor cast to int64."""
    def int(self, memory_format: Any=None) -> Tensor:
        """Return the tensor cast to int32."""
    def short(self, memory_format: Any=None) -> Tensor:
        """Return the tensor cast to int16."""
    def char(self, memory_format: Any=None) -> Tensor:
        """Return the tensor cast to int8."""
    def byte(self, memory_format: Any=None) -> Tensor:
        """Return the tensor cast to uint8."""
    def bool(self, memory_format: Any=None) -> Tensor:
        """Return the tensor cast to bool."""
    def cfloat(self, memory_format: Any=None) -> Tensor:
        """Return the tensor cast to complex64."""
    def cdouble(self, memory_format: Any=None) -> Tensor:
        """Return the tensor cast to complex128."""
    @property
    def grad(self) -> Tensor | None:
        """Gradient that backward passes have accumulated for this leaf. None before the first pass. Assign None to reset it."""
    @grad.setter
    def grad(self, value: Tensor | None) -> None: ...
    @grad.deleter
    def grad(self) -> None: ...
    @property
    def grad_dtype(self) -> _dtype | None:
        """The dtype to which gradients of this leaf are cast: its own, unless another one was assigned; None lets any pass."""
    @grad_dtype.setter
    def grad_dtype(self, value: _dtype | None) -> None: ...
    @property
    def volatile(self) -> _bool:
        """Whether nothing that depends on this tensor is recorded. Can be set on leaves. Today: torch.no_grad()."""
    @volatile.setter
    def volatile(self, value: _bool) -> None: ...
    @property
    def creator(self) -> Node | None:
        """Another name for grad_fn."""
    def reinforce(self, reward: Any) -> None:
        """Tell what these samples of bernoulli, multinomial or normal have earned; backward needs it."""
    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: tuple[Any, ...]=(), kwargs: Any=None) -> Any:
        """Run func(*args, **kwargs) and return its result with tensors made tensors of cls."""
    def as_subclass(self, cls: _type) -> Any:
        """Return a view of this tensor that is of class cls, a subclass of Tensor. The derivative passes through it."""
