"""Kernels that work along one dim, 0 <= dim < ndim: running results, sorting, selection.

As in `rows`, each function returns None for arguments that it does not accept, and always without compiled kernels.

- scan(kind, x, dim, reverse): running sums, products or logsumexps. For extrema, the tuple (values, places); the place is that of
  the last of equal elements.
- recurrence(x, y, dim, reverse, init): out[0] = init, out[i + 1] = y[i] + x[i] * out[i]. If y is None, it counts as zeros.
- multiply_up(x, dim): products along dim, which stays with size 1.
- first_along(x, dim, k, descending): the first k elements of x in sorted order, and their places in x. The sort is stable.
- one_along(x, dim, k): the element at place k after sorting, and its place in x, with size 1 in dim.
- ctc_losses(x, labels, lengths, counts, blank) and ctc_cotangent(x, labels, lengths, counts, blank, ct): see ops/ctc.py. x: (steps,
  items, classes), float32 or float64. The losses are float64.
- lstm_steps(sums, hidden0, cell0, weight, sizes, backward) and lstm_steps_cotangent(ct_hidden, ct_cells, ct_gates, hidden, cells,
  gates, hidden0, cell0, weight, sizes, backward): see _lstm_steps in ops/recurrent.py. C-contiguous arrays of one dtype, float32 or
  float64.

Sorting and selection count NaN as the largest number.
"""

from __future__ import annotations

from wengert.kernels import compiled

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# Kinds of running results, as wk_scans.c numbers them.
SUM, PRODUCT, LARGEST, SMALLEST, LOGSUMEXP = 0, 1, 2, 3, 4

# For one_along, as wk_selection.c numbers them. MIDDLE: the lower median, or the first NaN. MIDDLE_NUMBER: the lower median of the
# elements other than NaN. MODE: the most frequent element, the smallest of several, at its last place.
MIDDLE, MIDDLE_NUMBER, MODE = -1, -2, -3

scan: Any = compiled("scan")
recurrence: Any = compiled("recurrence")
multiply_up: Any = compiled("multiply_up")
first_along: Any = compiled("first_along")
ctc_losses: Any = compiled("ctc_losses")
ctc_cotangent: Any = compiled("ctc_cotangent")
lstm_steps: Any = compiled("lstm_steps")
lstm_steps_cotangent: Any = compiled("lstm_steps_cotangent")
one_along: Any = compiled("one_along")
