"""What the distributions share: broadcasting of parameters, conversion between probabilities and logits, lazy attributes."""

from __future__ import annotations

from collections.abc import Callable
from functools import update_wrapper
from math import isqrt
from numbers import Number
from typing import Any

from wengert.autograd.grad_mode import enable_grad
from wengert.core.tensor import TensorBase
from wengert.distributions import _functions as F
from wengert.dtypes import finfo, get_default_dtype

__all__ = [
    "broadcast_all", "clamp_probs", "lazy_property", "logits_to_probs", "probs_to_logits", "tril_matrix_to_vec",
    "vec_to_tril_matrix",
]  # fmt: skip

euler_constant = 0.57721566490153286060  # Euler and Mascheroni's constant


def _is_tensor_like(value: Any) -> bool:
    return isinstance(value, TensorBase) or hasattr(type(value), "__torch_function__")


def broadcast_all(*values: Any) -> tuple[Any, ...]:
    """Return tensors of one shape, to which the values broadcast.

    values: tensors or numbers. A number gets the dtype and the device of the first tensor, or the default ones if there is no
    tensor. Raises ValueError for anything else, and RuntimeError if the shapes do not broadcast."""
    tensors = [value for value in values if _is_tensor_like(value)]
    if len(tensors) < len(values):
        if not all(_is_tensor_like(value) or isinstance(value, Number) for value in values):
            raise ValueError(
                "Input arguments must all be instances of Number, torch.Tensor or objects implementing __torch_function__."
            )
        dtype, device = (tensors[0].dtype, tensors[0].device) if tensors else (get_default_dtype(), None)
        values = tuple(value if _is_tensor_like(value) else F.tensor(value, dtype=dtype, device=device) for value in values)
    shape = values[0].shape
    return values if all(value.shape == shape for value in values) else tuple(F.broadcast_tensors(*values))


def _standard_normal(shape: Any, dtype: Any, device: Any = None) -> Any:
    """Draw from the normal distribution of mean 0 and variance 1."""
    return F.randn(shape, dtype=dtype, device=device)


def _sum_rightmost(value: Any, dim: int) -> Any:
    """Sum over the last `dim` dimensions."""
    return value if dim == 0 else value.reshape(*value.shape[: value.dim() - dim], -1).sum(-1)


def logits_to_probs(logits: Any, is_binary: bool = False) -> Any:
    """Return the probabilities of logits: the sigmoid if is_binary, else the softmax over the last dimension."""
    return logits.sigmoid() if is_binary else logits.softmax(-1)


def clamp_probs(probs: Any) -> Any:
    """Move probabilities into [eps, 1 - eps], where eps is that of the dtype."""
    eps = finfo(probs.dtype).eps
    return probs.clamp(min=eps, max=1 - eps)


def probs_to_logits(probs: Any, is_binary: bool = False) -> Any:
    """Return the logits of probabilities: log(p / (1 - p)) if is_binary, else log(p). Probabilities 0 and 1 give finite logits."""
    clamped = clamp_probs(probs)
    return clamped.log() - (-clamped).log1p() if is_binary else clamped.log()


def require_one_of(probs: Any, logits: Any) -> None:
    """Check that either probs or logits is given. Raises ValueError otherwise."""
    if (probs is None) == (logits is None):
        raise ValueError("Either `probs` or `logits` must be specified, but not both.")


class lazy_property:  # torch's name
    """An attribute that is computed at its first use, with gradients enabled, and then kept in the instance."""

    def __init__(self, wrapped: Callable[..., Any]) -> None:
        self.wrapped = wrapped
        update_wrapper(self, wrapped)  # type: ignore[arg-type]

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        if instance is None:
            return self
        with enable_grad():
            value = self.wrapped(instance)
        setattr(instance, self.name, value)
        return value


def binary_probs() -> Any:
    """Return the lazy attributes (probs, logits) of distributions of two outcomes."""
    return (
        lazy_property(lambda self: logits_to_probs(self.logits, is_binary=True)),
        lazy_property(lambda self: probs_to_logits(self.probs, is_binary=True)),
    )


def given_of(distribution: Any) -> Any:
    """Return the parameter, probs or logits, that a distribution was made from."""
    found = distribution.__dict__.get("probs")
    return distribution.__dict__["logits"] if found is None else found


def enumerate_numbers(distribution: Any, n: int, dtype: Any, expand: bool) -> Any:
    """Return 0, ..., n - 1, the support of a distribution, as enumerate_support does."""
    batch_shape = distribution.batch_shape
    values = F.arange(n, dtype=dtype, device=given_of(distribution).device).view(-1, *[1] * len(batch_shape))
    return values.expand(-1, *batch_shape) if expand else values


def tril_matrix_to_vec(mat: Any, diag: int = 0) -> Any:
    """Return the elements on and below a diagonal, row by row, of shape (..., k).

    mat: (..., n, n). diag: the diagonal, -n <= diag < n; ValueError otherwise."""
    n = mat.shape[-1]
    if not -n <= diag < n:
        raise ValueError(f"diag ({diag}) provided is outside [{-n}, {n - 1}].")
    rows, columns = F.tril_indices(n, n, diag)
    return mat[..., rows, columns]


def vec_to_tril_matrix(vec: Any, diag: int = 0) -> Any:
    """Return matrices of shape (..., n, n) whose elements on and below a diagonal are vec, row by row. The others are 0.

    vec: (..., k). Raises ValueError if no n fits k and diag."""
    size = vec.shape[-1]
    # n (n + 1) / 2 elements lie on and below the main diagonal. d > 0 further diagonals add n d - d (d + 1) / 2 elements, and
    # without -d > 0 of them a matrix of n + d rows is left.
    n = (isqrt(max((1 + 2 * diag) ** 2 + 8 * size + 4 * abs(diag) * (diag + 1), 0)) - 1 - 2 * diag) // 2
    rows, columns = F.tril_indices(n, n, diag)
    if rows.numel() != size:
        raise ValueError(
            f"The size of last dimension is {size} which cannot be expressed as the lower triangular part of a square D x D matrix."
        )
    found = vec.new_zeros(*vec.shape[:-1], n, n)
    found[..., rows, columns] = vec
    return found
