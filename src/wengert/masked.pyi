"""The types of wengert.masked.

Written by `make generate`: change the sources, not this file.
"""

# ruff: noqa

from builtins import bool as _bool, complex as _complex, float as _float, int as _int, str as _str, type as _type
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal, TypeAlias, overload

import numpy as np

from wengert import return_types as return_types
from wengert.devices import device as _device
from wengert.dtypes import dtype as _dtype
from wengert.generator import Generator as Generator
from wengert.sizes import Size as Size
from wengert.tensor import Tensor as Tensor

_Number: TypeAlias = _bool | _int | _float | _complex
_Operand: TypeAlias = Tensor | np.ndarray[Any, Any] | np.generic | _Number
_Dtype: TypeAlias = _dtype | np.dtype[Any] | _type[Any] | str

@overload
def sum(input: Tensor, dim: _int | Sequence[_int] | None = None, *, keepdim: _bool = False, dtype: _Dtype | None = None, mask: Tensor | None = None, out: Any = None) -> Tensor:
    """Sum over dim of the elements whose mask is True; 0 if there are none."""
@overload
def sum(input: Tensor, *, axis: _int | Sequence[_int] | None, keepdims: _bool = False, dtype: _Dtype | None = None, mask: Tensor | None = None, out: Any = None) -> Tensor: ...
@overload
def prod(input: Tensor, dim: _int | Sequence[_int] | None = None, *, keepdim: _bool = False, dtype: _Dtype | None = None, mask: Tensor | None = None, out: Any = None) -> Tensor:
    """Product over dim of the elements whose mask is True; 1 if there are none. Arguments: as masked.sum."""
@overload
def prod(input: Tensor, *, axis: _int | Sequence[_int] | None, keepdims: _bool = False, dtype: _Dtype | None = None, mask: Tensor | None = None, out: Any = None) -> Tensor: ...
@overload
def amax(input: Tensor, dim: _int | Sequence[_int] | None = None, *, keepdim: _bool = False, dtype: _Dtype | None = None, mask: Tensor | None = None, out: Any = None) -> Tensor:
    """Maximum over dim of the elements whose mask is True; the lowest value of the dtype if there are none."""
@overload
def amax(input: Tensor, *, axis: _int | Sequence[_int] | None, keepdims: _bool = False, dtype: _Dtype | None = None, mask: Tensor | None = None, out: Any = None) -> Tensor: ...
@overload
def amin(input: Tensor, dim: _int | Sequence[_int] | None = None, *, keepdim: _bool = False, dtype: _Dtype | None = None, mask: Tensor | None = None, out: Any = None) -> Tensor:
    """Minimum over dim of the elements whose mask is True; the highest value of the dtype if there are none."""
@overload
def amin(input: Tensor, *, axis: _int | Sequence[_int] | None, keepdims: _bool = False, dtype: _Dtype | None = None, mask: Tensor | None = None, out: Any = None) -> Tensor: ...
@overload
def argmax(input: Tensor, dim: _int | Sequence[_int] | None = None, *, keepdim: _bool = False, dtype: _Dtype | None = None, mask: Tensor | None = None, out: Any = None) -> Tensor:
    """Index along dim, or in the flattened input, of the maximum of the elements whose mask is True."""
@overload
def argmax(input: Tensor, *, axis: _int | Sequence[_int] | None, keepdims: _bool = False, dtype: _Dtype | None = None, mask: Tensor | None = None, out: Any = None) -> Tensor: ...
@overload
def argmin(input: Tensor, dim: _int | Sequence[_int] | None = None, *, keepdim: _bool = False, dtype: _Dtype | None = None, mask: Tensor | None = None, out: Any = None) -> Tensor:
    """Index along dim, or in the flattened input, of the minimum of the elements whose mask is True."""
@overload
def argmin(input: Tensor, *, axis: _int | Sequence[_int] | None, keepdims: _bool = False, dtype: _Dtype | None = None, mask: Tensor | None = None, out: Any = None) -> Tensor: ...
@overload
def mean(input: Tensor, dim: _int | Sequence[_int] | None = None, *, keepdim: _bool = False, dtype: _Dtype | None = None, mask: Tensor | None = None, out: Any = None) -> Tensor:
    """Mean over dim of the elements whose mask is True; NaN if there are none."""
@overload
def mean(input: Tensor, *, axis: _int | Sequence[_int] | None, keepdims: _bool = False, dtype: _Dtype | None = None, mask: Tensor | None = None, out: Any = None) -> Tensor: ...
@overload
def var(input: Tensor, dim: _int | Sequence[_int] | None = None, unbiased: _bool | None = None, *, correction: _Number | None = None, keepdim: _bool = False, dtype: _Dtype | None = None, mask: Tensor | None = None, out: Any = None) -> Tensor:
    """Variance over dim of the n elements whose mask is True: squared distances from their mean over n - correction."""
@overload
def var(input: Tensor, *, axis: _int | Sequence[_int] | None, unbiased: _bool | None = None, correction: _Number | None = None, keepdims: _bool = False, dtype: _Dtype | None = None, mask: Tensor | None = None, out: Any = None) -> Tensor: ...
@overload
def std(input: Tensor, dim: _int | Sequence[_int] | None = None, unbiased: _bool | None = None, *, correction: _Number | None = None, keepdim: _bool = False, dtype: _Dtype | None = None, mask: Tensor | None = None, out: Any = None) -> Tensor:
    """Square root of masked.var. Derivative: that of the formula."""
@overload
def std(input: Tensor, *, axis: _int | Sequence[_int] | None, unbiased: _bool | None = None, correction: _Number | None = None, keepdims: _bool = False, dtype: _Dtype | None = None, mask: Tensor | None = None, out: Any = None) -> Tensor: ...
def norm(input: Tensor, ord: _Number | _str | None = 2.0, dim: _int | Sequence[_int] | None = None, *, keepdim: _bool = False, dtype: _Dtype | None = None, mask: Tensor | None = None, out: Any = None) -> Tensor:
    """`linalg.vector_norm` over dim of the elements whose mask is True; if there are none, 0, or inf for negative ord."""
def normalize(input: Tensor, ord: _Number | _str | None, dim: _int, *, eps: _float = 1e-12, dtype: _Dtype | None = None, mask: Tensor | None = None, out: Any = None) -> Tensor:
    """Quotient of input and max(masked.norm, eps) over dim; 0 where mask is False. Derivative: that of the quotient."""
@overload
def softmax(input: Tensor, dim: _int, *, dtype: _Dtype | None = None, mask: Tensor | None = None, out: Any = None) -> Tensor:
    """softmax over dim of the elements whose mask is True; 0 where mask is False, NaN if it is False along all of dim."""
@overload
def softmax(input: Tensor, *, axis: _int, dtype: _Dtype | None = None, mask: Tensor | None = None, out: Any = None) -> Tensor: ...
@overload
def log_softmax(input: Tensor, dim: _int, *, dtype: _Dtype | None = None, mask: Tensor | None = None, out: Any = None) -> Tensor:
    """Logarithm of masked.softmax. Derivative: as log_softmax, 0 where mask is False."""
@overload
def log_softmax(input: Tensor, *, axis: _int, dtype: _Dtype | None = None, mask: Tensor | None = None, out: Any = None) -> Tensor: ...
@overload
def softmin(input: Tensor, dim: _int, *, dtype: _Dtype | None = None, mask: Tensor | None = None, out: Any = None) -> Tensor:
    """masked.softmax of -input. Derivative: as softmin, 0 where mask is False."""
@overload
def softmin(input: Tensor, *, axis: _int, dtype: _Dtype | None = None, mask: Tensor | None = None, out: Any = None) -> Tensor: ...
@overload
def logsumexp(input: Tensor, dim: _int | Sequence[_int] | None = None, *, keepdim: _bool = False, dtype: _Dtype | None = None, mask: Tensor | None = None, out: Any = None) -> Tensor:
    """log(sum(exp(input))) over dim of the elements whose mask is True; -inf if there are none."""
@overload
def logsumexp(input: Tensor, *, axis: _int | Sequence[_int] | None, keepdims: _bool = False, dtype: _Dtype | None = None, mask: Tensor | None = None, out: Any = None) -> Tensor: ...
@overload
def median(input: Tensor, dim: _int = -1, *, keepdim: _bool = False, dtype: _Dtype | None = None, mask: Tensor | None = None, out: Any = None) -> Tensor:
    """Median along dim of the elements whose mask is True, the lower one of two; NaN if there are none."""
@overload
def median(input: Tensor, *, axis: _int, keepdims: _bool = False, dtype: _Dtype | None = None, mask: Tensor | None = None, out: Any = None) -> Tensor: ...
@overload
def cumsum(input: Tensor, dim: _int, *, dtype: _Dtype | None = None, mask: Tensor | None = None, out: Any = None) -> Tensor:
    """cumsum along dim with 0 in place of masked elements. Derivative: as cumsum, 0 where mask is False."""
@overload
def cumsum(input: Tensor, *, axis: _int, dtype: _Dtype | None = None, mask: Tensor | None = None, out: Any = None) -> Tensor: ...
@overload
def cumprod(input: Tensor, dim: _int, *, dtype: _Dtype | None = None, mask: Tensor | None = None, out: Any = None) -> Tensor:
    """cumprod along dim with 1 in place of masked elements. Derivative: as cumprod, 0 where mask is False."""
@overload
def cumprod(input: Tensor, *, axis: _int, dtype: _Dtype | None = None, mask: Tensor | None = None, out: Any = None) -> Tensor: ...
def logaddexp(input: Tensor, other: _Operand, *, dtype: _Dtype | None = None, input_mask: Any = None, other_mask: Any = None, out: Any = None) -> Tensor:
    """logaddexp with the lowest value of the dtype, -inf, in place of masked elements."""
