"""The types of wengert.fft.

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

def fft(input: Tensor, n: _int | None = None, dim: _int = -1, norm: Any = None, *, out: Any = None) -> Tensor:
    """Discrete Fourier transform over one dimension: X[k] = sum of x[j] exp(-2 pi i j k / n) over j."""
def ifft(input: Tensor, n: _int | None = None, dim: _int = -1, norm: Any = None, *, out: Any = None) -> Tensor:
    """Inverse of `fft`: x[j] = 1 / n times the sum of X[k] exp(2 pi i j k / n) over k."""
def rfft(input: Tensor, n: _int | None = None, dim: _int = -1, norm: Any = None, *, out: Any = None) -> Tensor:
    """The first n // 2 + 1 frequencies of `fft` of real numbers, which determine the others."""
def irfft(input: Tensor, n: _int | None = None, dim: _int = -1, norm: Any = None, *, out: Any = None) -> Tensor:
    """Inverse of `rfft`: n real numbers from a half spectrum. n: 2 * (size - 1) unless given."""
def hfft(input: Tensor, n: _int | None = None, dim: _int = -1, norm: Any = None, *, out: Any = None) -> Tensor:
    """`fft` of a Hermitian signal, x[n - j] = conj(x[j]), given by its first half: n real numbers."""
def ihfft(input: Tensor, n: _int | None = None, dim: _int = -1, norm: Any = None, *, out: Any = None) -> Tensor:
    """Inverse of `hfft`: the first n // 2 + 1 elements of the Hermitian signal whose spectrum is input."""
def fftn(input: Tensor, s: Any = None, dim: _int | Sequence[_int] | None = None, norm: Any = None, *, out: Any = None) -> Tensor:
    """`fft` over several dimensions."""
def ifftn(input: Tensor, s: Any = None, dim: _int | Sequence[_int] | None = None, norm: Any = None, *, out: Any = None) -> Tensor:
    """`ifft` over several dimensions. s, dim: as in `fftn`. norm: as in `ifft`."""
def rfftn(input: Tensor, s: Any = None, dim: _int | Sequence[_int] | None = None, norm: Any = None, *, out: Any = None) -> Tensor:
    """`fftn` of real numbers, with the first s[-1] // 2 + 1 frequencies in the last of the dims."""
def irfftn(input: Tensor, s: Any = None, dim: _int | Sequence[_int] | None = None, norm: Any = None, *, out: Any = None) -> Tensor:
    """Inverse of `rfftn`: real numbers, s[-1] in the last of the dims, or 2 * (size - 1) unless given."""
def hfftn(input: Tensor, s: Any = None, dim: _int | Sequence[_int] | None = None, norm: Any = None, *, out: Any = None) -> Tensor:
    """`fftn` of a Hermitian signal, given by the first half of the last of the dims: real numbers."""
def ihfftn(input: Tensor, s: Any = None, dim: _int | Sequence[_int] | None = None, norm: Any = None, *, out: Any = None) -> Tensor:
    """Inverse of `hfftn`: the first half, in the last of the dims, of the Hermitian signal whose spectrum is input."""
def fft2(input: Tensor, s: Any = None, dim: _int = ..., norm: Any = None, *, out: Any = None) -> Tensor:
    """`fftn` over dim, which is the last two dimensions unless given."""
def ifft2(input: Tensor, s: Any = None, dim: _int = ..., norm: Any = None, *, out: Any = None) -> Tensor:
    """`ifftn` over dim, which is the last two dimensions unless given."""
def rfft2(input: Tensor, s: Any = None, dim: _int = ..., norm: Any = None, *, out: Any = None) -> Tensor:
    """`rfftn` over dim, which is the last two dimensions unless given."""
def irfft2(input: Tensor, s: Any = None, dim: _int = ..., norm: Any = None, *, out: Any = None) -> Tensor:
    """`irfftn` over dim, which is the last two dimensions unless given."""
def hfft2(input: Tensor, s: Any = None, dim: _int = ..., norm: Any = None, *, out: Any = None) -> Tensor:
    """`hfftn` over dim, which is the last two dimensions unless given."""
def ihfft2(input: Tensor, s: Any = None, dim: _int = ..., norm: Any = None, *, out: Any = None) -> Tensor:
    """`ihfftn` over dim, which is the last two dimensions unless given."""
@overload
def fftshift(input: Tensor, dim: _int | Sequence[_int] | None = None, *, out: Any = None) -> Tensor:
    """Roll a spectrum so that frequency 0 moves from the start of each dim to its middle."""
@overload
def fftshift(input: Tensor, *, axis: _int | Sequence[_int] | None, out: Any = None) -> Tensor: ...
@overload
def ifftshift(input: Tensor, dim: _int | Sequence[_int] | None = None, *, out: Any = None) -> Tensor:
    """Inverse of `fftshift`: frequency 0 moves back to the start of each dim."""
@overload
def ifftshift(input: Tensor, *, axis: _int | Sequence[_int] | None, out: Any = None) -> Tensor: ...
def fftfreq(n: _int, d: _float = 1.0, *, dtype: _Dtype | None = None, device: _device | str | None = None, requires_grad: _bool = False, layout: Any = None, pin_memory: _bool = False, out: Tensor | None = None) -> Tensor:
    """Frequencies of the n elements of `fft`, for samples at distance d, in cycles per unit of d."""
def rfftfreq(n: _int, d: _float = 1.0, *, dtype: _Dtype | None = None, device: _device | str | None = None, requires_grad: _bool = False, layout: Any = None, pin_memory: _bool = False, out: Tensor | None = None) -> Tensor:
    """Frequencies of the n // 2 + 1 elements of `rfft`, for samples at distance d, in cycles per unit of d."""
