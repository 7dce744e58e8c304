"""Kernels that read and write along one dim at the places given by an index, an int64 array.

As in `rows`, each function returns None for arguments that it does not accept, and always without compiled kernels. It also returns
None if an index is out of range. The caller then raises the error.

- take_along(x, index, dim, counts_back): the elements of x at index along dim, as torch.gather reads them.
- write_along(kind, held, index, values, dim, counts_back): write values (one number, or an array of index's shape) into held at
  these places, or combine them with held. Returns True if it was done. Values for the same place are all applied, in order.

0 <= dim < ndim. counts_back: whether an index may be negative; it then counts from the end.
"""

from __future__ import annotations

from wengert.kernels import compiled

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# Kinds of writes, as wk_places.c numbers them.
PUT, ADD, MULTIPLY, LARGEST, SMALLEST = 0, 1, 2, 3, 4

take_along: Any = compiled("take_along")
write_along: Any = compiled("write_along")
