"""scipy.special for differentiated functions."""

from typing import Any

import numpy as np

from wengert.array_functions.table import holds_tensor, tensor, w
from wengert.hips.boxes import boxed
from wengert.hips.scipy._doors import namespace as _namespace
from wengert.scipy import special as _special

__getattr__, __dir__ = _namespace(_special, globals())


def logsumexp(a: Any, axis: Any = None, b: Any = None, keepdims: bool = False, return_sign: bool = False) -> Any:
    """Logarithm of the sum of exp(a), or of b * exp(a), over axis: scipy.special.logsumexp, without its costs for small arrays.

    Derivative in a: softmax. See wengert.scipy.special.logsumexp for b and return_sign."""
    if b is not None or return_sign or not (holds_tensor((a,)) or getattr(a, "dtype", None) == np.float64):
        return boxed(_special.logsumexp(a, axis=axis, b=b, keepdims=keepdims, return_sign=return_sign))
    a = tensor(a)
    axes = tuple(range(a.ndim)) if axis is None else axis
    return boxed(w.logsumexp(a, axes, keepdims) if a.ndim else a + 0.0)
