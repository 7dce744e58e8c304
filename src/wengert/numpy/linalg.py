"""numpy.linalg on arrays with a history: what it has, under the same names."""

from __future__ import annotations

from numpy import linalg as _theirs

from wengert.numpy.functions import lookups

__all__ = [name for name in dir(_theirs) if not name.startswith("_")]
__getattr__, __dir__ = lookups(_theirs, globals())
