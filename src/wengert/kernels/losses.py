"""Kernels of losses, each one pass over C-ordered float32 or float64.

As in `rows`, each function returns None for arguments that it does not accept, and always without compiled kernels.

- rounded_distances(x, y, delta, scale, adds_up): Huber losses, scale * m * (d - m / 2) with d = |x - y| and m = min(d, delta).
  If adds_up is true, their sum as a float.
- rounded_slopes(x, y, delta, scale): their derivative, scale times x - y clamped to [-delta, delta].
- class_margins(x, target, weights, margin, squared, ct): multi_margin_loss of each row. If ct is not None, it is the cotangent of
  the losses, or one number for all of them, and the result is the cotangent of x.
- label_margins(x, labels, ct): the same for multilabel_margin_loss.
"""

from __future__ import annotations

from wengert.kernels import compiled

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

rounded_distances: Any = compiled("rounded_distances")
rounded_slopes: Any = compiled("rounded_slopes")
class_margins: Any = compiled("class_margins")
label_margins: Any = compiled("label_margins")
