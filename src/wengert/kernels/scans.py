"""The kernels that work along a dim, which is counted from the front: running results, sorting, selecting.

As in `rows`, each returns None for what it does not take, and always where nothing is compiled.

scan(kind, x, dim, reverse): running sums, products or logsumexps; of extrema a tuple with their places, the last of equal ones;
recurrence(x, y, dim, reverse, init): out[0] = init, out[i + 1] = y[i] + x[i] * out[i], y None standing for zeros;
multiply_up(x, dim): the products along dim, which stays with size 1;
first_along(x, dim, k, descending): the first k elements of x, sorted, and their places in it, equal ones in order;
one_along(x, dim, k): the element that sorting would put at place k and its place in x, with size 1 in dim.
NaN counts as largest.

ctc_losses(x, labels, lengths, counts, blank), and ctc_cotangent(x, labels, lengths, counts, blank, ct): see ops/ctc.py. x: (steps,
items, classes), float32 or float64; the losses are float64.
"""

from __future__ import annotations

from wengert.kernels import compiled

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# Kinds of running results, as wk_scans.c numbers them.
SUM, PRODUCT, LARGEST, SMALLEST, LOGSUMEXP = 0, 1, 2, 3, 4

# For one_along: the lower of the two in the middle, or the first NaN; the same of what is not NaN; the most frequent, of several
# the smallest, where it is last met. As wk_selection.c has them.
MIDDLE, MIDDLE_NUMBER, MODE = -1, -2, -3

scan: Any = compiled("scan")
recurrence: Any = compiled("recurrence")
multiply_up: Any = compiled("multiply_up")
first_along: Any = compiled("first_along")
ctc_losses: Any = compiled("ctc_losses")
ctc_cotangent: Any = compiled("ctc_cotangent")
one_along: Any = compiled("one_along")
