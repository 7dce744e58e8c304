"""The types of wengert.fft.

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

def fft(input: Tensor, n: _int | None = None, dim: _int = -1, norm: Any = None, *, out: Any = None) -> Tensor:
    """Discrete Fourier transform over one dimension: X[k] = sum of x[j] exp(-2 pi i j k / n)."""
def ifft(input: Tensor, n: _int | None = None, dim: _int = -1, norm: Any = None, *, out: Any = None) -> Tensor:
    """Inverse of `fft`: x[j] = 1 / n times the sum of X[k] exp(2 pi i j k / n)."""
def rfft(input: Tensor, n: _int | None = None, dim: _int = -1, norm: Any = None, *, out: Any = None) -> Tensor:
    """`fft` of real numbers: its first n // 2 + 1 frequencies, which determine the others. Raises RuntimeError for complex."""
def irfft(input: Tensor, n: _int | None = None, dim: _int = -1, norm: Any = None, *, out: Any = None) -> Tensor:
    """Inverse of `rfft`: real numbers, n of them (by default 2 * (size - 1)), from half a spectrum."""
def hfft(input: Tensor, n: _int | None = None, dim: _int = -1, norm: Any = None, *, out: Any = None) -> Tensor:
    """`fft` of a signal that is Hermitian, x[n - j] = conj(x[j]), given by its first half: n real numbers, by default"""
def ihfft(input: Tensor, n: _int | None = None, dim: _int = -1, norm: Any = None, *, out: Any = None) -> Tensor:
    """Inverse of `hfft`: the first n // 2 + 1 elements of the Hermitian signal with this real spectrum."""
def fftn(input: Tensor, s: Any = None, dim: _int | Sequence[_int] | None = None, norm: Any = None, *, out: Any = None) -> Tensor:
    """`fft` over several dimensions: over dim, or as many of the last as s has sizes, or all."""
def ifftn(input: Tensor, s: Any = None, dim: _int | Sequence[_int] | None = None, norm: Any = None, *, out: Any = None) -> Tensor:
    """`ifft` over several dimensions; s and dim as in `fftn`."""
def rfftn(input: Tensor, s: Any = None, dim: _int | Sequence[_int] | None = None, norm: Any = None, *, out: Any = None) -> Tensor:
    """`fftn` of real numbers: the first s // 2 + 1 frequencies of the last of the dims."""
def irfftn(input: Tensor, s: Any = None, dim: _int | Sequence[_int] | None = None, norm: Any = None, *, out: Any = None) -> Tensor:
    """Inverse of `rfftn`: real numbers; in the last of the dims s[-1] of them, by default 2 * (size - 1)."""
def hfftn(input: Tensor, s: Any = None, dim: _int | Sequence[_int] | None = None, norm: Any = None, *, out: Any = None) -> Tensor:
    """`fftn` of a signal that is Hermitian, given by the first half of the last of the dims: real numbers."""
def ihfftn(input: Tensor, s: Any = None, dim: _int | Sequence[_int] | None = None, norm: Any = None, *, out: Any = None) -> Tensor:
    """Inverse of `hfftn`: the first half, in the last of the dims, of the Hermitian signal with this real spectrum."""
def fft2(input: Tensor, s: Any = None, dim: _int = ..., norm: Any = None, *, out: Any = None) -> Tensor:
    """`fftn` over two dimensions, by default the last."""
def ifft2(input: Tensor, s: Any = None, dim: _int = ..., norm: Any = None, *, out: Any = None) -> Tensor:
    """`ifftn` over two dimensions, by default the last."""
def rfft2(input: Tensor, s: Any = None, dim: _int = ..., norm: Any = None, *, out: Any = None) -> Tensor:
    """`rfftn` over two dimensions, by default the last."""
def irfft2(input: Tensor, s: Any = None, dim: _int = ..., norm: Any = None, *, out: Any = None) -> Tensor:
    """`irfftn` over two dimensions, by default the last."""
def hfft2(input: Tensor, s: Any = None, dim: _int = ..., norm: Any = None, *, out: Any = None) -> Tensor:
    """`hfftn` over two dimensions, by default the last."""
def ihfft2(input: Tensor, s: Any = None, dim: _int = ..., norm: Any = None, *, out: Any = None) -> Tensor:
    """`ihfftn` over two dimensions, by default the last."""
def fftshift(input: Tensor, dim: _int | Sequence[_int] | None = None, *, out: Any = None) -> Tensor:
    """A spectrum with the frequency 0 in the middle of dim (an int, several, or None for all) and not at the start."""
def ifftshift(input: Tensor, dim: _int | Sequence[_int] | None = None, *, out: Any = None) -> Tensor:
    """Undoes `fftshift`: the frequency 0 comes to the start again."""
def fftfreq(n: _int, d: _float = 1.0, *, dtype: _Dtype | None = None, device: _device | str | None = None, requires_grad: _bool = False, layout: Any = None, pin_memory: _bool = False, out: Tensor | None = None) -> Tensor:
    """The frequencies of the n elements of `fft`, in cycles a unit, for samples at a distance d: those from 0 on, then"""
def rfftfreq(n: _int, d: _float = 1.0, *, dtype: _Dtype | None = None, device: _device | str | None = None, requires_grad: _bool = False, layout: Any = None, pin_memory: _bool = False, out: Tensor | None = None) -> Tensor:
    """The frequencies of the n // 2 + 1 elements of `rfft`, in cycles a unit, for samples at a distance d."""
