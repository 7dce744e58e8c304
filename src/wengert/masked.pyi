"""The types of wengert.masked.

Written by `python -m wengert.ops.stub`: change the sources, not this file.
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

def sum(input: Tensor, dim: _int | Sequence[_int] | None = None, *, keepdim: _bool = False, dtype: _Dtype | None = None, mask: Tensor | None = None, out: Any = None) -> Tensor:
    """Sum of the elements whose mask is True over dim (an int, a tuple, None for all). Of none it is 0."""
def prod(input: Tensor, dim: _int | Sequence[_int] | None = None, *, keepdim: _bool = False, dtype: _Dtype | None = None, mask: Tensor | None = None, out: Any = None) -> Tensor:
    """Product of the elements whose mask is True over dim. Of none it is 1. Arguments: see masked.sum."""
def amax(input: Tensor, dim: _int | Sequence[_int] | None = None, *, keepdim: _bool = False, dtype: _Dtype | None = None, mask: Tensor | None = None, out: Any = None) -> Tensor:
    """Largest of the elements whose mask is True over dim. Of none it is the least value of the dtype."""
def amin(input: Tensor, dim: _int | Sequence[_int] | None = None, *, keepdim: _bool = False, dtype: _Dtype | None = None, mask: Tensor | None = None, out: Any = None) -> Tensor:
    """Smallest of the elements whose mask is True over dim. Of none it is the largest value of the dtype."""
def argmax(input: Tensor, dim: _int | Sequence[_int] | None = None, *, keepdim: _bool = False, dtype: _Dtype | None = None, mask: Tensor | None = None, out: Any = None) -> Tensor:
    """Where the largest of the elements whose mask is True is, along dim or in all, in the input's dtype or dtype."""
def argmin(input: Tensor, dim: _int | Sequence[_int] | None = None, *, keepdim: _bool = False, dtype: _Dtype | None = None, mask: Tensor | None = None, out: Any = None) -> Tensor:
    """Where the smallest of the elements whose mask is True is, along dim or in all, in the input's dtype or dtype."""
def mean(input: Tensor, dim: _int | Sequence[_int] | None = None, *, keepdim: _bool = False, dtype: _Dtype | None = None, mask: Tensor | None = None, out: Any = None) -> Tensor:
    """Mean of the elements whose mask is True over dim. Of none it is NaN. Raises ValueError for integers without dtype."""
def var(input: Tensor, dim: _int | Sequence[_int] | None = None, unbiased: Any = None, *, correction: Any = None, keepdim: _bool = False, dtype: _Dtype | None = None, mask: Tensor | None = None, out: Any = None) -> Tensor:
    """Variance of the elements whose mask is True over dim, their number less correction (1) below. NaN for too few."""
def std(input: Tensor, dim: _int | Sequence[_int] | None = None, unbiased: Any = None, *, correction: Any = None, keepdim: _bool = False, dtype: _Dtype | None = None, mask: Tensor | None = None, out: Any = None) -> Tensor:
    """Square root of masked.var. Derivative: that of the formula."""
def norm(input: Tensor, ord: _float = 2.0, dim: _int | Sequence[_int] | None = None, *, keepdim: _bool = False, dtype: _Dtype | None = None, mask: Tensor | None = None, out: Any = None) -> Tensor:
    """Norm of the elements whose mask is True over dim: see linalg.vector_norm. Of none it is 0, infinity for negative ord."""
def normalize(input: Tensor, ord: Any, dim: _int, *, eps: _float = 1e-12, dtype: _Dtype | None = None, mask: Tensor | None = None, out: Any = None) -> Tensor:
    """input divided by its masked.norm over dim, at least eps; 0 where mask is False. Derivative: that of the quotient."""
def softmax(input: Tensor, dim: _int, *, dtype: _Dtype | None = None, mask: Tensor | None = None, out: Any = None) -> Tensor:
    """softmax over dim of the elements whose mask is True; 0 at the others, NaN where there are no others."""
def log_softmax(input: Tensor, dim: _int, *, dtype: _Dtype | None = None, mask: Tensor | None = None, out: Any = None) -> Tensor:
    """Logarithm of masked.softmax. Derivative: as log_softmax, 0 where mask is False."""
def softmin(input: Tensor, dim: _int, *, dtype: _Dtype | None = None, mask: Tensor | None = None, out: Any = None) -> Tensor:
    """masked.softmax of -input. Derivative: as softmin, 0 where mask is False."""
def logsumexp(input: Tensor, dim: _int | Sequence[_int] | None = None, *, keepdim: _bool = False, dtype: _Dtype | None = None, mask: Tensor | None = None, out: Any = None) -> Tensor:
    """log(sum(exp(input))) of the elements whose mask is True over dim. Of none it is -inf."""
def median(input: Tensor, dim: _int = -1, *, keepdim: _bool = False, dtype: _Dtype | None = None, mask: Tensor | None = None, out: Any = None) -> Tensor:
    """Median of the elements whose mask is True along dim, the lower of two. Of none it is NaN; ValueError for integers."""
def cumsum(input: Tensor, dim: _int, *, dtype: _Dtype | None = None, mask: Tensor | None = None, out: Any = None) -> Tensor:
    """cumsum along dim with 0 in place of the elements whose mask is False. Derivative: as cumsum, 0 there."""
def cumprod(input: Tensor, dim: _int, *, dtype: _Dtype | None = None, mask: Tensor | None = None, out: Any = None) -> Tensor:
    """cumprod along dim with 1 in place of the elements whose mask is False. Derivative: as cumprod, 0 there."""
def logaddexp(input: Tensor, other: _Operand, *, dtype: _Dtype | None = None, input_mask: Any = None, other_mask: Any = None, out: Any = None) -> Tensor:
    """logaddexp with -inf in place of the elements whose mask is False. Derivative: as logaddexp, 0 there."""
