"""The default random number generator: seeds and states, under the names of torch.random.

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
    """`with fork_rng(): ...`: at the end the default generator is again in the state that it had at the beginning.

    enabled=False does nothing. devices: the GPUs whose generators are kept as well, of which there are none. Raises
    RuntimeError for a device other than the CPU.
    """
    if not enabled:
        yield
        return
    for named in devices or ():
        Generator(named)  # which raises if it has none
    if device_type is not None:
        _device(device_type)  # which says if there is no such type; those of no GPUs have nothing to keep
    state = get_rng_state()
    try:
        yield
    finally:
        set_rng_state(state)


def thread_safe_generator() -> Generator | None:
    """The generator of a worker that loads data, None in every other thread: None."""
    return None
