"""The types of wengert.special.

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

def exp2(input: _Operand, *, out: Tensor | None = None) -> Tensor:
    """Power of two, 2**x."""
def expm1(input: _Operand, *, out: Tensor | None = None) -> Tensor:
    """e**x - 1, accurate near x = 0 too."""
def log1p(input: _Operand, *, out: Tensor | None = None) -> Tensor:
    """log(1 + x), accurate near x = 0 too."""
def sinc(input: _Operand, *, out: Tensor | None = None) -> Tensor:
    """Normalised sinc, sin(pi * x) / (pi * x); 1 at 0."""
def round(input: _Operand, *, decimals: _int = 0, out: Tensor | None = None) -> Tensor:
    """Round x to the nearest integer, halves to even; with decimals, to the nearest multiple of 10**-decimals."""
@overload
def logsumexp(input: Tensor, dim: _int | Sequence[_int], keepdim: _bool = False, *, out: Tensor | None = None) -> Tensor:
    """log(sum(exp(x))) over dim, without overflow; -inf for no elements."""
@overload
def logsumexp(input: Tensor, *, axis: _int | Sequence[_int], keepdims: _bool = False, out: Tensor | None = None) -> Tensor: ...
@overload
def softmax(input: Tensor, dim: _int | Sequence[_int] | None = None, _stacklevel: _int = 3, dtype: _Dtype | None = None, *, out: Tensor | None = None) -> Tensor:
    """Softmax exp(x) / sum(exp(x)) over one dimension."""
@overload
def softmax(input: Tensor, *, axis: _int | Sequence[_int] | None, _stacklevel: _int = 3, dtype: _Dtype | None = None, out: Tensor | None = None) -> Tensor: ...
@overload
def log_softmax(input: Tensor, dim: _int | Sequence[_int] | None = None, _stacklevel: _int = 3, dtype: _Dtype | None = None, *, out: Tensor | None = None) -> Tensor:
    """Logarithm of softmax over one dimension, accurate where the softmax is close to 0 or 1. Arguments: as `softmax`."""
@overload
def log_softmax(input: Tensor, *, axis: _int | Sequence[_int] | None, _stacklevel: _int = 3, dtype: _Dtype | None = None, out: Tensor | None = None) -> Tensor: ...
def xlogy(input: _Operand, other: _Operand, *, out: Tensor | None = None) -> Tensor:
    """x * log(y); 0 where x is 0 and y is not NaN."""
def erf(input: _Operand, *, out: Tensor | None = None) -> Tensor:
    """Error function: 2 / sqrt(pi) times the integral of exp(-t**2) from 0 to x."""
def erfc(input: _Operand, *, out: Tensor | None = None) -> Tensor:
    """Complementary error function, 1 - erf(x), accurate where it is tiny too."""
def erfinv(input: _Operand, *, out: Tensor | None = None) -> Tensor:
    """Inverse error function: the number whose erf is x. inf at 1, -inf at -1, NaN outside [-1, 1]."""
def digamma(input: _Operand, *, out: Tensor | None = None) -> Tensor:
    """Digamma function: the derivative of the logarithm of the gamma function."""
def polygamma(n: Tensor, input: Any, *, out: Any = None) -> Tensor:
    """Polygamma function: the n-th derivative of digamma. n: an int >= 0; RuntimeError otherwise."""
def gammainc(input: Tensor, other: _Operand, *, out: Any = None) -> Tensor:
    """`igamma`: the regularised lower incomplete gamma function. Derivative: as igamma."""
def gammaincc(input: Tensor, other: _Operand, *, out: Any = None) -> Tensor:
    """`igammac`: the regularised upper incomplete gamma function. Derivative: as igammac."""
def i0(input: _Operand, *, out: Tensor | None = None) -> Tensor:
    """Modified Bessel function of the first kind and order 0."""
def logit(input: _Operand, eps: _float | None = None, *, out: Tensor | None = None) -> Tensor:
    """Inverse of the sigmoid, log(x / (1 - x)). eps: clamp x to [eps, 1 - eps] first; NaN outside [0, 1] if None."""
def bessel_j0(input: _Operand, *, out: Tensor | None = None) -> Tensor:
    """The Bessel function of the first kind of order 0. x: any shape; integers become floats."""
def bessel_y0(input: _Operand, *, out: Tensor | None = None) -> Tensor:
    """The Bessel function of the second kind of order 0; NaN for x < 0. x: any shape; integers become floats."""
def modified_bessel_i0(input: _Operand, *, out: Tensor | None = None) -> Tensor:
    """The modified Bessel function of the first kind of order 0. x: any shape; integers become floats."""
def modified_bessel_k0(input: _Operand, *, out: Tensor | None = None) -> Tensor:
    """The modified Bessel function of the second kind of order 0; NaN for x < 0. x: any shape; integers become floats."""
def scaled_modified_bessel_k0(input: _Operand, *, out: Tensor | None = None) -> Tensor:
    """The modified Bessel function of the second kind of order 0, times exp(x); NaN for x < 0. x: any shape; integers become floats."""
def i0e(input: _Operand, *, out: Tensor | None = None) -> Tensor:
    """The modified Bessel function of the first kind of order 0, times exp(-|x|). x: any shape; integers become floats."""
def bessel_j1(input: _Operand, *, out: Tensor | None = None) -> Tensor:
    """The Bessel function of the first kind of order 1. x: any shape; integers become floats."""
def bessel_y1(input: _Operand, *, out: Tensor | None = None) -> Tensor:
    """The Bessel function of the second kind of order 1; NaN for x < 0. x: any shape; integers become floats."""
def modified_bessel_i1(input: _Operand, *, out: Tensor | None = None) -> Tensor:
    """The modified Bessel function of the first kind of order 1. x: any shape; integers become floats."""
def modified_bessel_k1(input: _Operand, *, out: Tensor | None = None) -> Tensor:
    """The modified Bessel function of the second kind of order 1; NaN for x < 0. x: any shape; integers become floats."""
def scaled_modified_bessel_k1(input: _Operand, *, out: Tensor | None = None) -> Tensor:
    """The modified Bessel function of the second kind of order 1, times exp(x); NaN for x < 0. x: any shape; integers become floats."""
def i1e(input: _Operand, *, out: Tensor | None = None) -> Tensor:
    """The modified Bessel function of the first kind of order 1, times exp(-|x|). x: any shape; integers become floats."""
def i1(input: _Operand, *, out: Tensor | None = None) -> Tensor:
    """The modified Bessel function of the first kind of order 1. x: any shape; integers become floats."""
def spherical_bessel_j0(input: _Operand, *, out: Tensor | None = None) -> Tensor:
    """The spherical Bessel function of the first kind of order 0, sin(x) / x. x: any shape; integers become floats."""
def airy_ai(input: _Operand, *, out: Tensor | None = None) -> Tensor:
    """Airy's function Ai, the solution of y'' = x * y that vanishes at infinity. x: any shape; integers become floats."""
def chebyshev_polynomial_t(input: _Operand, n: _Operand, *, out: Tensor | None = None) -> Tensor:
    """Chebyshev polynomial of the first kind and degree n at x; 0 for n < 0."""
def shifted_chebyshev_polynomial_t(input: _Operand, n: _Operand, *, out: Tensor | None = None) -> Tensor:
    """Chebyshev polynomial of the first kind and degree n at 2 x - 1; 0 for n < 0."""
def chebyshev_polynomial_u(input: _Operand, n: _Operand, *, out: Tensor | None = None) -> Tensor:
    """Chebyshev polynomial of the second kind and degree n at x; 0 for n < 0."""
def shifted_chebyshev_polynomial_u(input: _Operand, n: _Operand, *, out: Tensor | None = None) -> Tensor:
    """Chebyshev polynomial of the second kind and degree n at 2 x - 1; 0 for n < 0."""
def chebyshev_polynomial_v(input: _Operand, n: _Operand, *, out: Tensor | None = None) -> Tensor:
    """Chebyshev polynomial of the third kind and degree n at x; 0 for n < 0."""
def shifted_chebyshev_polynomial_v(input: _Operand, n: _Operand, *, out: Tensor | None = None) -> Tensor:
    """Chebyshev polynomial of the third kind and degree n at 2 x - 1; 0 for n < 0."""
def chebyshev_polynomial_w(input: _Operand, n: _Operand, *, out: Tensor | None = None) -> Tensor:
    """Chebyshev polynomial of the fourth kind and degree n at x; 0 for n < 0."""
def shifted_chebyshev_polynomial_w(input: _Operand, n: _Operand, *, out: Tensor | None = None) -> Tensor:
    """Chebyshev polynomial of the fourth kind and degree n at 2 x - 1; 0 for n < 0."""
def hermite_polynomial_h(input: _Operand, n: _Operand, *, out: Tensor | None = None) -> Tensor:
    """Physicists' Hermite polynomial H of degree n at x; 0 for n < 0."""
def hermite_polynomial_he(input: _Operand, n: _Operand, *, out: Tensor | None = None) -> Tensor:
    """Probabilists' Hermite polynomial He of degree n at x; 0 for n < 0."""
def laguerre_polynomial_l(input: _Operand, n: _Operand, *, out: Tensor | None = None) -> Tensor:
    """Laguerre polynomial of degree n at x; 0 for n < 0."""
def legendre_polynomial_p(input: _Operand, n: _Operand, *, out: Tensor | None = None) -> Tensor:
    """Legendre polynomial of degree n at x; 0 for n < 0."""
def entr(input: _Operand, *, out: Tensor | None = None) -> Tensor:
    """Entropy -x log(x); 0 at x = 0, -inf for x < 0."""
def erfcx(input: _Operand, *, out: Tensor | None = None) -> Tensor:
    """Scaled complementary error function, exp(x**2) erfc(x); about 1 / (x sqrt(pi)) for large x."""
def ndtr(input: Tensor, *, out: Any = None) -> Tensor:
    """Cumulative distribution function of the standard normal distribution."""
def log_ndtr(input: _Operand, *, out: Tensor | None = None) -> Tensor:
    """Logarithm of `ndtr`, accurate also where ndtr is tiny."""
def ndtri(input: _Operand, *, out: Tensor | None = None) -> Tensor:
    """Inverse of `ndtr`, the quantile of the standard normal distribution: -inf at 0, inf at 1, NaN outside [0, 1]."""
def xlog1py(input: _Operand, other: _Operand, *, out: Tensor | None = None) -> Tensor:
    """x log(1 + y); 0 where x is 0 and y is not NaN."""
def zeta(input: _Operand, other: _Operand, *, out: Tensor | None = None) -> Tensor:
    """Hurwitz' zeta function, the sum of (y + k)**-x over k >= 0; Riemann's zeta function for y = 1."""
def expit(input: Tensor, *, out: Any = None) -> Tensor:
    """`sigmoid`: 1 / (1 + exp(-input)). Derivative: as sigmoid."""
def gammaln(input: Tensor, *, out: Any = None) -> Tensor:
    """`lgamma`: the logarithm of the magnitude of the gamma function. Derivative: as lgamma."""
def psi(input: Tensor, *, out: Any = None) -> Tensor:
    """`digamma`: the derivative of the logarithm of the gamma function. Derivative: as digamma."""
def multigammaln(input: Tensor, p: _float, *, out: Any = None) -> Tensor:
    """`mvlgamma`: the logarithm of the multivariate gamma function of dimension p. Derivative: as mvlgamma."""
def betainc(a: _Operand, b: _Operand, input: _Operand, *, out: Tensor | None = None) -> Tensor:
    """The regularised incomplete beta function I_x(a, b), with broadcasting. torch does not have it."""
