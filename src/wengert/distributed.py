"""torch.distributed: programs that ask whether they run in several processes are told that they do not."""

from __future__ import annotations

from typing import Any

from wengert import errors

__all__ = ["get_rank", "get_world_size", "init_process_group", "is_available", "is_initialized", "is_torchelastic_launched"]


def is_available() -> bool:
    """Whether processes can work together: always False."""
    return False


def is_initialized() -> bool:
    """Whether there is a group of processes: always False."""
    return False


def is_torchelastic_launched() -> bool:
    """Whether torchrun has started this process: always False."""
    return False


def _no_group() -> Exception:
    return ValueError("Default process group has not been initialized, please make sure to call init_process_group.")


def get_rank(group: Any = None) -> int:
    """Raise ValueError: there is no group of processes."""
    raise _no_group()


def get_world_size(group: Any = None) -> int:
    """Raise ValueError: there is no group of processes."""
    raise _no_group()


def init_process_group(*_: Any, **__: Any) -> None:
    """Raise MissingFeatureError: processes do not work together."""
    raise errors.MissingFeatureError(
        "distributed.init_process_group is not part of wengert. Hint: keep it behind `if torch.distributed.is_available()`, which "
        "is False here."
    )


def __dir__() -> list[str]:
    return sorted(__all__)
