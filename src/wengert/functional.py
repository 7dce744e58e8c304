"""torch.functional: functions of the package that torch defines in Python. Each is the function of the same name in wengert."""

from __future__ import annotations

from typing import Any

from wengert.ops import function

_NAMES = frozenset({
    "atleast_1d", "atleast_2d", "atleast_3d", "block_diag", "broadcast_shapes", "broadcast_tensors", "cartesian_prod", "cdist",
    "chain_matmul", "einsum", "istft", "lu", "meshgrid", "norm", "split", "stft", "tensordot", "unique", "unique_consecutive",
    "unravel_index",
})  # fmt: skip


def __getattr__(name: str) -> Any:
    found = function("", name) if name in _NAMES else None
    if found is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return found


def __dir__() -> list[str]:
    return sorted(_NAMES)
