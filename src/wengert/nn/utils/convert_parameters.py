"""Parameters as one vector, and back."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from wengert.core.tensor import TensorBase
from wengert.ops import function

_cat: Any = function("", "cat")


def parameters_to_vector(parameters: Iterable[Any]) -> Any:
    """Return the elements of all parameters as one vector. Derivative: the cotangents in the shapes of the parameters.

    Raises TypeError for parameters on several devices."""
    found = list(parameters)
    if len({parameter.device for parameter in found}) > 1:
        raise TypeError("Found two parameters on different devices, this is currently not supported.")
    return _cat([parameter.view(-1) for parameter in found])


def vector_to_parameters(vec: Any, parameters: Iterable[Any]) -> None:
    """Make the parameters views of consecutive parts of a vector. Raises TypeError for no tensor."""
    if not isinstance(vec, TensorBase):
        raise TypeError(f"expected torch.Tensor, but got: {type(vec).__name__}")
    vector: Any = vec
    start = 0
    for parameter in parameters:
        count = parameter.numel()
        parameter.data = vector[start : start + count].view_as(parameter).data
        start += count
