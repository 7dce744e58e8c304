"""ReduceOp: how a collective combines the elements of the ranks, and MPI's operations for it."""

from __future__ import annotations

import enum
from typing import Any

import numpy as np

from wengert import errors
from wengert.dtypes import from_numpy_dtype

__all__ = ["RedOpType", "ReduceOp"]


class RedOpType(enum.Enum):
    """The combinations: sums, means, products, the smallest, the largest, and the bits of integers."""

    SUM = 0
    AVG = 1
    PRODUCT = 2
    MIN = 3
    MAX = 4
    BAND = 5
    BOR = 6
    BXOR = 7


class ReduceOp:
    """Names of the combinations: ReduceOp.SUM, AVG, PRODUCT, MIN, MAX, BAND, BOR and BXOR."""

    RedOpType = RedOpType
    SUM = RedOpType.SUM
    AVG = RedOpType.AVG
    PRODUCT = RedOpType.PRODUCT
    MIN = RedOpType.MIN
    MAX = RedOpType.MAX
    BAND = RedOpType.BAND
    BOR = RedOpType.BOR
    BXOR = RedOpType.BXOR


_BITWISE = (RedOpType.BAND, RedOpType.BOR, RedOpType.BXOR)
_NAMES = {"AVG": "SUM", "PRODUCT": "PROD"}  # where MPI has another name
# Of truth values: a sum is whether any is true, a product whether all are.
_LOGICAL = {"SUM": "LOR", "PRODUCT": "LAND", "MIN": "LAND", "MAX": "LOR", "BAND": "LAND", "BOR": "LOR", "BXOR": "LXOR"}


def check_reduction(call: str, op: Any, dtype: np.dtype[Any]) -> None:
    """Raise torch's errors for a combination that a dtype does not have, and TypeError if op is none."""
    if not isinstance(op, RedOpType):
        raise TypeError(f"{call}(): op must be one of torch.distributed.ReduceOp, got {type(op).__name__}")
    if dtype.kind == "c" and op not in (RedOpType.SUM, RedOpType.AVG):
        raise ValueError(f"{call} does not support {op} on complex tensors")
    if op in _BITWISE and dtype.kind not in "iub":
        raise errors.DistError(f"Cannot use ReduceOp.{op.name} with non-integral dtype")
    if op is RedOpType.AVG and dtype.kind in "iub":
        name = errors.scalar_name(from_numpy_dtype(dtype))
        raise errors.DistError(f"result type Float can't be cast to the desired output type {name}")


def compute_dtype(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Return the dtype that MPI combines elements of a dtype in: float32 for the floats of 16 bits, which MPI does not have."""
    return np.dtype(np.float32) if dtype.itemsize == 2 and dtype.kind not in "iub" else dtype


def mpi_operation(mpi: Any, op: RedOpType, dtype: np.dtype[Any]) -> Any:
    """Return MPI's operation. AVG is a sum, which the caller divides."""
    return getattr(mpi, _LOGICAL[op.name] if dtype.kind == "b" else _NAMES.get(op.name, op.name))
