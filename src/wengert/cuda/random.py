"""torch.cuda.random: seeds and states of the random numbers of GPUs. They make their numbers themselves: see backends/philox.py."""

from __future__ import annotations

from typing import Any

from wengert.backends import selection as _selection
from wengert.cuda._devices import index_of as _index
from wengert.generator import default_generator_of as _default_generator_of, seed_devices as _seed_devices

__all__ = [
    "get_rng_state", "get_rng_state_all", "initial_seed", "manual_seed", "manual_seed_all", "seed", "seed_all", "set_rng_state",
    "set_rng_state_all",
]  # fmt: skip


def _generator(device: Any) -> Any:
    """Return the default generator of a GPU. Raises AssertionError if there is none."""
    return _default_generator_of(f"cuda:{_index(device)}")


def default_generators() -> tuple[Any, ...]:
    """Return the default generators of the GPUs."""
    count = _selection.backend_for("cuda").device_count() if _selection.cuda_is_available() else 0
    return tuple([_generator(i) for i in range(count)])


def manual_seed(seed: int) -> None:
    """Seed the random numbers of the current GPU. Do nothing if there is none."""
    if _selection.cuda_is_available():
        _generator(None).manual_seed(seed)


def manual_seed_all(seed: int) -> None:
    """Seed the random numbers of all GPUs. Do nothing if there is none."""
    _seed_devices(seed)


def initial_seed() -> int:
    """Return the seed of the random numbers of the current GPU. Raises AssertionError if there is none."""
    found: int = _generator(None).initial_seed()
    return found


def seed() -> None:
    """Seed the random numbers of the current GPU at random. Do nothing if there is none."""
    if _selection.cuda_is_available():
        _generator(None).seed()


def seed_all() -> None:
    """Seed the random numbers of all GPUs with one random seed. Do nothing if there is none."""
    if _selection.cuda_is_available():
        manual_seed_all(_generator(0).seed())


def get_rng_state(device: Any = "cuda") -> Any:
    """Return the state of the random numbers of a GPU, a uint8 tensor of 16 elements in main memory: the seed and an offset."""
    return _generator(device).get_state()


def get_rng_state_all() -> list[Any]:
    """Return the state of the random numbers of each GPU."""
    return [generator.get_state() for generator in default_generators()]


def set_rng_state(new_state: Any, device: Any = "cuda") -> None:
    """Restore a state that get_rng_state returned. Raises RuntimeError for a tensor that is no state."""
    _generator(device).set_state(new_state)


def set_rng_state_all(new_states: Any) -> None:
    """Restore the state of each GPU."""
    for i, state in enumerate(new_states):
        set_rng_state(state, i)
