"""What the operations of random numbers share: draws, checks of parameters, and tensors filled in place."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from wengert import dtypes, errors
from wengert.backends.selection import backend_of, beside, check_later, device_name, others, placed
from wengert.generator import Generator, generator_of
from wengert.ops.indices import raw
from wengert.ops.inplace import write_inplace
from wengert.ops.registry import OPS


def samples_of(distribution: str, parameters: tuple[Any, ...], array: Any) -> Any:
    """Return the samples in an array as a tensor, which can be given a reward if a parameter requires grad."""
    from wengert.ops.stochastic import samples_of  # rewards for samples are rarely used

    return samples_of(distribution, parameters, beside(array, *map(raw, parameters)))


def draw_exponential(source: Generator, rate: Any, shape: tuple) -> Any:
    """Draw from the exponential distribution, in float64."""
    drawn = source.uniform(shape, np.dtype(np.float64))
    return -1 / rate * backend_of(drawn).log1p(-drawn)


def require(condition: Any, kind: type[Exception], message: str, found: Callable[[], str] | None = None) -> None:
    """Raise an error unless a condition, a bool or an array of bools, holds everywhere. On a device, note it for later.

    found: says what was found instead."""
    if type(condition) in others:
        check_later((~condition).any(), message)
    elif not backend_of(condition).all(condition):
        raise kind(message if found is None else f"{message}, but found {found()}")


def check_probability(p: Any, name: str) -> None:
    require((p >= 0) & (p <= 1), errors.ShapeError, f"Expected {name} >= 0 && {name} <= 1 to be true, but got false.")


def _store(x: Any, *, values: Any, node: str) -> None:
    x[...] = placed(values, x)


def fill_recorded(self: Any, values: Any, node: str) -> Any:
    """Write values into a tensor in place, recorded under the node name `node`."""
    overwrite: Any = OPS["_overwrite"]
    return write_inplace(overwrite, (self,), {"values": values, "node": node}, _store)


def draw_like_self(self: Any, generator: Any) -> Any:
    """Draw a uniform number from [0, 1) for each element of a tensor."""
    return generator_of(generator, device_name(self._array)).uniform_like(self._array)


def check_floating(self: Any, kernel: str) -> None:
    if not dtypes.is_differentiable(self._array.dtype):
        raise errors.unsupported_dtype(kernel, self._array.dtype)
