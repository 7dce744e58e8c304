"""Builds the exceptions about bags of embeddings, and dropout of whole channels."""

from __future__ import annotations

from .classes import ElementError


def bag_offsets(missing: bool) -> ElementError:
    return ElementError("offsets has to be a 1D Tensor" + (" but got None" if missing else ""))
