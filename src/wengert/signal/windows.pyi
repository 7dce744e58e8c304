"""The types of wengert.signal.windows.

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

def bartlett(M: Any, *, sym: _bool = True, dtype: _Dtype | None = None, device: _device | str | None = None, requires_grad: _bool = False, layout: Any = None, pin_memory: _bool = False, out: Tensor | None = None) -> Tensor:
    """Bartlett window, a triangle: 1 - |2k / (M - 1) - 1|."""
def general_cosine(M: Any, *, a: Any, sym: _bool = True, dtype: _Dtype | None = None, device: _device | str | None = None, requires_grad: _bool = False, layout: Any = None, pin_memory: _bool = False, out: Tensor | None = None) -> Tensor:
    """Window of cosines: a[0] - a[1] cos t + a[2] cos 2t - ..., with t = 2 pi k / (M - 1)."""
def general_hamming(M: Any, *, alpha: _Number = 0.54, sym: _bool = True, dtype: _Dtype | None = None, device: _device | str | None = None, requires_grad: _bool = False, layout: Any = None, pin_memory: _bool = False, out: Tensor | None = None) -> Tensor:
    """General Hamming window: alpha - (1 - alpha) cos t, with t = 2 pi k / (M - 1). Other arguments: as bartlett."""
def hamming(M: Any, *, sym: _bool = True, dtype: _Dtype | None = None, device: _device | str | None = None, requires_grad: _bool = False, layout: Any = None, pin_memory: _bool = False, out: Tensor | None = None) -> Tensor:
    """Hamming window: 0.54 - 0.46 cos t, with t = 2 pi k / (M - 1). Arguments: as bartlett."""
def hann(M: Any, *, sym: _bool = True, dtype: _Dtype | None = None, device: _device | str | None = None, requires_grad: _bool = False, layout: Any = None, pin_memory: _bool = False, out: Tensor | None = None) -> Tensor:
    """Hann window: (1 - cos t) / 2, with t = 2 pi k / (M - 1). Arguments: as bartlett."""
def blackman(M: Any, *, sym: _bool = True, dtype: _Dtype | None = None, device: _device | str | None = None, requires_grad: _bool = False, layout: Any = None, pin_memory: _bool = False, out: Tensor | None = None) -> Tensor:
    """Blackman window: 0.42 - 0.5 cos t + 0.08 cos 2t, with t = 2 pi k / (M - 1). Arguments: as bartlett."""
def nuttall(M: Any, *, sym: _bool = True, dtype: _Dtype | None = None, device: _device | str | None = None, requires_grad: _bool = False, layout: Any = None, pin_memory: _bool = False, out: Tensor | None = None) -> Tensor:
    """Nuttall window: 0.3635819 - 0.4891775 cos t + 0.1365995 cos 2t - 0.0106411 cos 3t, with t = 2 pi k / (M - 1)."""
def cosine(M: Any, *, sym: _bool = True, dtype: _Dtype | None = None, device: _device | str | None = None, requires_grad: _bool = False, layout: Any = None, pin_memory: _bool = False, out: Tensor | None = None) -> Tensor:
    """Cosine window, half a wave: sin(pi (k + 1/2) / M). Arguments: as bartlett."""
def gaussian(M: Any, *, std: _float = 1.0, sym: _bool = True, dtype: _Dtype | None = None, device: _device | str | None = None, requires_grad: _bool = False, layout: Any = None, pin_memory: _bool = False, out: Tensor | None = None) -> Tensor:
    """Gaussian window: exp(-(k - (M - 1) / 2)**2 / (2 std**2)). Raises ValueError unless std > 0."""
def exponential(M: Any, *, center: Any = None, tau: _float = 1.0, sym: _bool = True, dtype: _Dtype | None = None, device: _device | str | None = None, requires_grad: _bool = False, layout: Any = None, pin_memory: _bool = False, out: Tensor | None = None) -> Tensor:
    """Exponential window: exp(-|k - center| / tau)."""
def kaiser(M: Any, *, beta: _Number = 12.0, sym: _bool = True, dtype: _Dtype | None = None, device: _device | str | None = None, requires_grad: _bool = False, layout: Any = None, pin_memory: _bool = False, out: Tensor | None = None) -> Tensor:
    """Kaiser window: I0(beta sqrt(1 - (2k / (M - 1) - 1)**2)) / I0(beta). Raises ValueError for a negative beta."""
