"""Questions that forwards and rules ask about a value, which may be a tensor, an array or a Python number."""

from __future__ import annotations

from typing import Any

__all__ = ["is_complex", "is_number", "kind_of"]


def is_number(x: Any) -> bool:
    """Whether x is a Python number."""
    return isinstance(x, (float, int, complex))


def is_complex(x: Any) -> bool:
    """Whether x holds complex numbers."""
    if is_number(x):
        return isinstance(x, complex)
    kind = getattr(x.dtype, "kind", None)  # NumPy's dtypes have one, this package's say it themselves
    return x.dtype.is_complex if kind is None else kind == "c"


def kind_of(x: Any) -> str:
    """The kind of an array's dtype, as NumPy abbreviates it; "" for a number."""
    return "" if is_number(x) else x.dtype.kind
