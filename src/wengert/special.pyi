"""The types of wengert.special.

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

def xlogy(input: _Operand, other: _Operand, *, out: Tensor | None = None) -> Tensor:
    """x * log(y), and 0 where x is 0, unless y is NaN."""
def exp2(input: _Operand, *, out: Tensor | None = None) -> Tensor:
    """2**x."""
def expm1(input: _Operand, *, out: Tensor | None = None) -> Tensor:
    """e**x - 1, exact also near 0."""
def log1p(input: _Operand, *, out: Tensor | None = None) -> Tensor:
    """log(1 + x), exact also near 0."""
def sinc(input: _Operand, *, out: Tensor | None = None) -> Tensor:
    """sin(pi * x) / (pi * x), and 1 at 0."""
def round(input: _Operand, *, decimals: _int = 0, out: Tensor | None = None) -> Tensor:
    """The nearest integer, of two equally near ones the even one; with decimals, the nearest multiple of 10**-decimals."""
def erf(input: _Operand, *, out: Tensor | None = None) -> Tensor:
    """The error function, 2 / sqrt(pi) times the integral of exp(-t**2) from 0 to x."""
def erfc(input: _Operand, *, out: Tensor | None = None) -> Tensor:
    """1 - erf(x), exact also where that is small."""
def erfinv(input: _Operand, *, out: Tensor | None = None) -> Tensor:
    """The number whose erf is x; infinite at 1 and -1, NaN outside."""
def digamma(input: _Operand, *, out: Tensor | None = None) -> Tensor:
    """The derivative of the logarithm of the gamma function."""
def polygamma(n: Tensor, input: Any) -> Tensor:
    """The derivative of order n (an int, at least 0) of digamma."""
def logit(input: _Operand, eps: _float | None = None, *, out: Tensor | None = None) -> Tensor:
    """log(x / (1 - x)), the inverse of sigmoid; with eps, of x clamped to between eps and 1 - eps."""
def logsumexp(input: Tensor, dim: _int | Sequence[_int], keepdim: _bool = False, *, out: Tensor | None = None) -> Tensor:
    """log(sum(exp(x))) over dim (an int or a tuple), without overflow. x: any shape and dtype; -inf of nothing."""
def softmax(input: Tensor, dim: _int | Sequence[_int] | None = None, _stacklevel: _int = 3, dtype: _Dtype | None = None, *, out: Tensor | None = None) -> Tensor:
    """exp(x) / sum(exp(x)) over one dimension. x: any shape, floating, unless dtype is given: x is cast to it first."""
def log_softmax(input: Tensor, dim: _int | Sequence[_int] | None = None, _stacklevel: _int = 3, dtype: _Dtype | None = None, *, out: Tensor | None = None) -> Tensor:
    """log(softmax(x)) over one dimension, exact also where softmax is close to 0 or 1. Arguments as in `softmax`."""
