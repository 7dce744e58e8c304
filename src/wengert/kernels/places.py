"""The kernels that read and write along a dim at places that an index names, an int64 array.

As in `rows`, each returns None for what it does not take, and always where nothing is compiled; so it does where index names a
place that is not there, which is for the caller to tell about.

take_along(x, index, dim, counts_back): x at index along dim, each other dim at its own place, as torch.gather reads;
write_along(kind, held, index, values, dim, counts_back): True when values, one or as many as index names, have been written into
held there, or combined with what was: of those that meet at a place all, in their order. dim: counted from the front.
are_inside(index, low, size): whether all of index are from low on, below size.
counts_back: whether places may be negative, and count from the end then.
"""

from __future__ import annotations

from wengert.kernels import compiled

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# Kinds of writes, as wk_places.c numbers them.
PUT, ADD, MULTIPLY, LARGEST, SMALLEST = 0, 1, 2, 3, 4

take_along: Any = compiled("take_along")
are_inside: Any = compiled("are_inside")
write_along: Any = compiled("write_along")
