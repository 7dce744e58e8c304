"""In-place views: t_(), squeeze_() and the like turn a tensor into another view of its memory."""

from __future__ import annotations

from typing import Any

from wengert.core.views import call_inplace_view
from wengert.ops.registry import OPS, node_class, plain


def _turn_into_view(self: Any, name: str, node: str, **params: Any) -> Any:
    """Apply the view operation `name` to this tensor in place, and return the tensor. node: the name of the node."""
    view: Any = OPS[name]
    return call_inplace_view(view, self, params, node_class(node))


@plain(name="t_", method=True, namespaces=())
def t_(self):
    """In-place form of t: turn this tensor into its transpose, and return it."""
    return _turn_into_view(self, "t", "TBackward1")


@plain(name="transpose_", method=True, namespaces=())
def transpose_(self, dim0, dim1):
    """In-place form of transpose: exchange two dimensions of this tensor, and return it."""
    return _turn_into_view(self, "transpose", "TransposeBackward1", dim0=dim0, dim1=dim1)


@plain(name="swapaxes_", method=True, namespaces=())
def swapaxes_(self, axis0, axis1):
    """NumPy's name for transpose_(dim0, dim1)."""
    return transpose_.fn(self, axis0, axis1)


@plain(name="swapdims_", method=True, namespaces=())
def swapdims_(self, dim0, dim1):
    """Another name for transpose_(dim0, dim1)."""
    return transpose_.fn(self, dim0, dim1)


@plain(name="unsqueeze_", method=True, namespaces=())
def unsqueeze_(self, dim):
    """In-place form of unsqueeze: insert a dimension of size 1 into this tensor at dim, and return it."""
    return _turn_into_view(self, "unsqueeze", "UnsqueezeBackward1", dim=dim)


@plain(name="squeeze_", method=True, namespaces=())
def squeeze_(self, dim=None):
    """In-place form of squeeze: drop dimensions of size 1 from this tensor, all or those in dim, and return it."""
    kind = 3 if dim is None else 5 if isinstance(dim, (tuple, list)) else 4
    return _turn_into_view(self, "squeeze", f"SqueezeBackward{kind}", dim=dim)
