"""numpy.random with ndarrays as results. Random numbers have no derivative in the parameters of their distribution."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy import random as _theirs

from wengert import errors
from wengert.array_functions.table import detached
from wengert.core.tensor import TensorBase
from wengert.core.views import bump
from wengert.numpy.functions import is_differentiated, memory_to_write
from wengert.numpy.holding import unwrap, wrapped

__all__ = [name for name in dir(_theirs) if not name.startswith("_") and name != "test"]


def _drawing(function: Callable[..., Any], name: str) -> Callable[..., Any]:
    """Return a function that draws random numbers, as one that returns ndarrays.

    It raises RuntimeError for a parameter that is differentiated."""

    def draw(*args: Any, **kwargs: Any) -> Any:
        found: list[Any] = []
        given = [unwrap(x, found) for x in args]
        settings = {key: unwrap(x, found) for key, x in kwargs.items()}
        if is_differentiated(found):
            raise errors.ConversionError(
                f"numpy.random.{name} has no derivative in its parameters. Hint: draw standard numbers and transform them, "
                "as in loc + scale * rng.standard_normal(n), or use wengert.distributions and rsample()."
            )
        if name == "shuffle" and isinstance(given[0], TensorBase):
            function(memory_to_write(given[0]), *[detached(x) for x in given[1:]], **settings)
            bump(given[0])
            return None
        return wrapped(function(*[detached(x) for x in given], **{key: detached(x) for key, x in settings.items()}))

    draw.__name__ = draw.__qualname__ = name
    draw.__doc__ = function.__doc__
    return draw


class Generator:
    """numpy.random.Generator with ndarrays as results. Make one with default_rng(seed)."""

    def __init__(self, bit_generator: Any) -> None:
        self._generator = np.random.Generator(bit_generator)

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._generator, name)
        return _drawing(found, name) if callable(found) and name not in ("bit_generator", "spawn") else found

    def __repr__(self) -> str:
        return repr(self._generator)

    def __reduce__(self) -> Any:
        return Generator, (self._generator.bit_generator,)

    def spawn(self, n_children: int) -> list[Generator]:
        """Return new generators that are independent of this one."""
        return [Generator(x.bit_generator) for x in self._generator.spawn(n_children)]


def default_rng(seed: Any = None) -> Generator:
    """Return a Generator. seed: as for numpy.random.default_rng."""
    seed = seed._generator if isinstance(seed, Generator) else seed
    return Generator(np.random.default_rng(detached(unwrap(seed, []))).bit_generator)


def __getattr__(name: str) -> Any:
    found = getattr(_theirs, name)
    if name.startswith("_") or isinstance(found, type) or not callable(found):
        return found
    plain = name in ("seed", "get_state", "set_state", "get_bit_generator", "set_bit_generator")
    globals()[name] = found = found if plain else _drawing(found, name)
    return found


def __dir__() -> list[str]:
    return __all__
