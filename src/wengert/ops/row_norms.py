"""Keeping the rows of an embedding's weight within a norm, in place."""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.core.modes import set_recording
from wengert.ops.indices import raw
from wengert.ops.inplace import unrecorded_write

__all__ = ["limit_rows"]


def limit_rows(weight: Any, index: Any, max_norm: float, norm_type: float) -> None:
    """Scales the rows of weight that index names, and whose norm_type-norm is above max_norm, down to it; in place.

    No part of the graph, as in torch: the gradient is that of the rows as they are afterwards."""
    used = np.unique(raw(index))
    array = raw(weight)
    used = used[(used >= 0) & (used < len(array))]
    rows = array[used]
    lengths = np.linalg.norm(rows.astype(np.float64), norm_type, axis=1)
    long = lengths > max_norm
    if long.any():
        with set_recording(False), unrecorded_write(weight):
            factors = max_norm / (lengths[long] + 1e-7)
            array[used[long]] = (rows[long] * factors[:, None]).astype(array.dtype)
