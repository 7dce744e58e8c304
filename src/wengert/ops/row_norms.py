"""Limiting the norms of an embedding's rows in place."""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.backends.selection import backend_of
from wengert.core.modes import set_recording
from wengert.ops.indices import raw
from wengert.ops.inplace import unrecorded_write

__all__ = ["limit_rows"]


def limit_rows(weight: Any, index: Any, max_norm: float, norm_type: float) -> None:
    """Scale the rows weight[index] whose norm_type-norm is above max_norm down to max_norm, in place.

    The write is not recorded, as in torch: gradients are those of the scaled rows."""
    xp = backend_of(weight)
    used = xp.unique(raw(index))
    array = raw(weight)
    used = used[(used >= 0) & (used < len(array))]
    rows = array[used]
    lengths = xp.linalg.norm(rows.astype(np.float64), norm_type, axis=1)
    long = lengths > max_norm
    if long.any():
        with set_recording(False), unrecorded_write(weight):
            factors = max_norm / (lengths[long] + 1e-7)
            array[used[long]] = (rows[long] * factors[:, None]).astype(array.dtype)
