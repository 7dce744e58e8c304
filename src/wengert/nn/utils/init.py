"""skip_init: modules whose parameters are not initialised."""

from __future__ import annotations

from typing import Any

from wengert.generator import get_rng_state, set_rng_state
from wengert.nn.modules.module import Module


def skip_init(module_cls: type, *args: Any, **kwargs: Any) -> Any:
    """Return module_cls(*args, **kwargs) without a use of random numbers. The values of its parameters mean nothing.

    Raises RuntimeError unless module_cls is a Module whose constructor takes `device`."""
    from inspect import signature

    if not issubclass(module_cls, Module):
        raise RuntimeError(f"Expected a Module; got {module_cls}")
    if "device" not in signature(module_cls).parameters:
        raise RuntimeError("Module must support a 'device' arg to skip initialization")
    state = get_rng_state()
    try:
        return module_cls(*args, **kwargs)
    finally:
        set_rng_state(state)
