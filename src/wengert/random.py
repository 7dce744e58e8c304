"""torch.random: seed and state of the default random number generator.

>>> import wengert
>>> with wengert.random.fork_rng():
...     _ = wengert.manual_seed(1)
...     a = wengert.rand(2)
>>> b = wengert.rand(2)  # as if nothing had been drawn inside
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from wengert.devices import device as _device
from wengert.generator import (
    Generator as Generator,
    default_generator as default_generator,
    default_generator_of as _default_generator_of,
    get_rng_state as get_rng_state,
    get_states as _get_states,
    initial_seed as initial_seed,
    manual_seed as manual_seed,
    seed as seed,
    set_rng_state as set_rng_state,
    set_states as _set_states,
)

__all__ = [
    "fork_rng", "get_rng_state", "initial_seed", "manual_seed", "seed", "set_rng_state", "thread_safe_generator",
]  # fmt: skip


@contextmanager
def fork_rng(
    devices: Any = None,
    enabled: bool = True,
    _caller: str = "fork_rng",
    _devices_kw: str = "devices",
    device_type: Any = None,
) -> Iterator[None]:
    """Context manager that restores the states of the default generators at the end of its block.

    enabled: False makes it do nothing. devices: GPUs whose generators are restored, besides that of the CPU; all if None. Raises
    RuntimeError for devices without generators.
    """
    if not enabled:
        yield
        return
    if device_type is not None:
        _device(device_type)  # raises for an unknown type
    if devices is None:
        states = _get_states()
    else:
        names = ["cpu", *[str(Generator(named).device) for named in devices]]
        states = {where: _default_generator_of(where).get_state() for where in names}
    try:
        yield
    finally:
        _set_states(states)


def thread_safe_generator() -> Generator | None:
    """Return None: in torch the generator of a data-loading worker, and None in every other thread."""
    return None


def __dir__() -> list[str]:
    return sorted(__all__)
