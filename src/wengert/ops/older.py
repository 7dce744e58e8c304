"""Functions of early torch: older names, and element-wise calls of Python functions."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from wengert import dtypes, errors
from wengert._forks import import_late
from wengert.backends.selection import backend_of
from wengert.core.stacks import user_level
from wengert.core.tensor import TensorBase, wrap
from wengert.devices import set_legacy_type
from wengert.ops.faces import tensor_face
from wengert.ops.indices import checked
from wengert.ops.inplace import unrecorded_write
from wengert.ops.options import place_and_dtype
from wengert.ops.registry import plain

F: Any = tensor_face
_GONE = "of torch before 1.0, and gone since"

# -- older names -------------------------------------------------------------------------------------------------------


@plain(method=True, beyond_torch=_GONE)
def gesv(input, A):
    """Return (X, LU) with A @ X = input, where LU holds the LU factors of A, without history. Today: linalg.solve(A, B).

    input: (n, k) or (n,); A: (n, n). Raises RuntimeError for a singular A. Derivative: in X that of linalg.solve."""
    warnings.warn(errors.renamed("gesv(B, A)", "linalg.solve(A, B)"), stacklevel=user_level())
    solution = F.linalg_solve(checked("gesv", A, "A"), checked("gesv", input))
    return solution, wrap(import_late("scipy.linalg").lu_factor(A._array)[0])


@plain(method=True, beyond_torch=_GONE)
def potrf(input, upper=True):
    """Cholesky factor of a symmetric, positive definite matrix: U with U^T @ U = input, or L with L @ L^T = input.

    upper: return U, else L. Today: linalg.cholesky(input), which returns L. Derivative: that of linalg.cholesky."""
    warnings.warn(errors.renamed("potrf(x)", "linalg.cholesky(x, upper=True)"), stacklevel=user_level())
    return F.linalg_cholesky(checked("potrf", input), upper=upper)


@plain(method=True, namespaces=(), beyond_torch=_GONE)
def masked_copy_(self, mask, source):
    """Older name of masked_scatter_(mask, source)."""
    warnings.warn(errors.renamed("masked_copy_", "masked_scatter_"), stacklevel=user_level())
    return self.masked_scatter_(mask, source)


@plain()
def set_default_tensor_type(t):
    """Set the default dtype and device to those of a tensor type: "torch.DoubleTensor", "torch.cuda.FloatTensor" or its class.

    Tensors on this type of device are printed without their device. Today: set_default_dtype and set_default_device.
    Raises RuntimeError for a type of GPUs where there is none."""
    warnings.warn(
        "torch.set_default_tensor_type() is deprecated as of PyTorch 2.1, please use torch.set_default_dtype() and "
        "torch.set_default_device() as alternatives.",
        stacklevel=user_level(),
    )
    kind, dtype = place_and_dtype(t)
    set_legacy_type(kind or "cpu")
    dtypes.set_default_dtype(dtype)


@plain()
def typename(obj):
    """Return a tensor's type name, such as "torch.FloatTensor", or the name of another object's class.

    The name has the module in front unless that is builtins."""
    if isinstance(obj, TensorBase):
        return dtypes.legacy_type_name(obj._array.dtype, backend_of(obj._array).name)
    cls = type(obj)
    return cls.__qualname__ if cls.__module__ == "builtins" else f"{cls.__module__}.{cls.__qualname__}"


# -- element by element, in Python -------------------------------------------------------------------------------------


def _check_unrecorded(tensor: Any, method: str) -> None:
    if tensor.requires_grad:
        raise errors.GraphError(
            f"Can't call {method}() on Variable that requires grad. Use var.detach().{method}() instead."
        )


def _map_elements(function: Callable[..., Any], *arrays: Any) -> Any:
    """Call function on the elements of arrays of one shape, as Python numbers; the result has the first array's dtype."""
    values = [function(*[x.item() for x in elements]) for elements in zip(*[a.flat for a in arrays], strict=True)]
    return np.array(values, arrays[0].dtype).reshape(arrays[0].shape)


@plain(method=True, namespaces=())
def apply_(self, callable):
    """Replace each element by callable(element) and return the tensor. Slow: callable is called once per element.

    Raises RuntimeError for a tensor that requires grad."""
    _check_unrecorded(self, "apply_")
    with unrecorded_write(self):
        self._array[...] = _map_elements(callable, self._array)
    return self


@plain(method=True, namespaces=())
def map_(self, tensor, callable):
    """Replace each element a by callable(a, b), where b is the corresponding element of `tensor`, and return self.

    tensor: broadcasts to self's shape. Raises RuntimeError if one of them requires grad."""
    xp = backend_of(self)
    _check_unrecorded(self, "map_")
    _check_unrecorded(tensor, "map_")
    with unrecorded_write(self):
        self._array[...] = _map_elements(callable, self._array, xp.broadcast_to(tensor._array, self._array.shape))
    return self
