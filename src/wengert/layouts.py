"""torch's names of memory layouts and formats. Every tensor here is strided; the names can be passed and compared."""

from __future__ import annotations


class layout:
    """Layout of a tensor's elements in memory. All tensors here are `strided`; other layouts can be compared."""

    __slots__ = ("_name",)

    def __init__(self, name: str) -> None:
        self._name = name

    def __repr__(self) -> str:
        return f"torch.{self._name}"

    def __reduce__(self) -> str:
        return self._name


class memory_format(layout):
    """Order of the dimensions in memory. Accepted wherever torch accepts one; memory here is row-major."""

    __slots__ = ()


strided = layout("strided")
sparse_coo = layout("sparse_coo")
sparse_csr = layout("sparse_csr")
sparse_csc = layout("sparse_csc")
sparse_bsr = layout("sparse_bsr")
sparse_bsc = layout("sparse_bsc")
jagged = layout("jagged")

contiguous_format = memory_format("contiguous_format")
preserve_format = memory_format("preserve_format")
channels_last = memory_format("channels_last")
channels_last_3d = memory_format("channels_last_3d")

__all__ = [
    "channels_last", "channels_last_3d", "contiguous_format", "jagged", "layout", "memory_format", "preserve_format",
    "sparse_bsc", "sparse_bsr", "sparse_coo", "sparse_csc", "sparse_csr", "strided",
]  # fmt: skip


def __dir__() -> list[str]:
    return sorted(__all__)
