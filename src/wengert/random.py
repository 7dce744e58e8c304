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
    get_rng_state as get_rng_state,
    initial_seed as initial_seed,
    manual_seed as manual_seed,
    seed as seed,
    set_rng_state as set_rng_state,
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
    """Context manager that restores the state of the default generator at the end of its block.

    enabled: False makes it do nothing. devices: GPUs whose generators torch restores too; there are none, so a device
    other than the CPU raises RuntimeError.
    """
    if not enabled:
        yield
        return
    for named in devices or ():
        Generator(named)  # raises for a device other than the CPU
    if device_type is not None:
        _device(device_type)  # raises for an unknown type; there is no state of GPUs to restore
    state = get_rng_state()
    try:
        yield
    finally:
        set_rng_state(state)


def thread_safe_generator() -> Generator | None:
    """Return None: in torch the generator of a data-loading worker, and None in every other thread."""
    return None


def __dir__() -> list[str]:
    return sorted(__all__)
