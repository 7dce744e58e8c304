"""The kernels of losses, each one pass over C-ordered float32 or float64.

As in `rows`, each returns None for what it does not take, and always where nothing is compiled.

rounded_distances(x, y, delta, scale, adds_up): scale times half the squared distance up to delta, straight on from there, or the
sum of that, a float; rounded_slopes(x, y, delta, scale): scale times the difference, limited to delta;
class_margins(x, target, weights, margin, squared, ct): multi_margin_loss of each row, or with ct, the cotangent of the losses or
one number, that of x; label_margins(x, labels, ct): the same of multilabel_margin_loss.
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
