"""Grey-scale morphology of scipy.ndimage: minima and maxima of windows, plus the weights of a structure."""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.array_functions.table import w
from wengert.scipy._ranks import chosen_by_rank
from wengert.scipy.ndimage._filters import _axes, _each, footprint_of, image_of, weights_of

__all__ = [
    "black_tophat", "grey_closing", "grey_dilation", "grey_erosion", "grey_opening", "morphological_gradient",
    "morphological_laplace", "white_tophat",
]  # fmt: skip


def grey_erosion(input, size=None, footprint=None, structure=None, mode="reflect", cval=0.0, origin=0, *, axes=None):
    return _chosen(input, size, footprint, structure, mode, cval, origin, axes, largest=False)


def grey_dilation(input, size=None, footprint=None, structure=None, mode="reflect", cval=0.0, origin=0, *, axes=None):
    return _chosen(input, size, footprint, structure, mode, cval, origin, axes, largest=True)


def _chosen(
    input: Any, size: Any, footprint: Any, structure: Any, mode: str, cval: Any, origin: Any, axes: Any, *, largest: bool
) -> Any:
    """The least of input - structure in each window, or the largest of input + structure in the window turned about its centre."""
    input = image_of(input)
    axes = _axes(axes, input.ndim)
    if size is None and footprint is None and structure is None:
        raise ValueError("size, footprint, or structure must be specified")
    if footprint is None and structure is not None:
        footprint = np.ones(tuple(structure.shape) if hasattr(structure, "shape") else np.shape(structure), bool)
    chosen = footprint_of(size, footprint, axes, input.ndim)
    origins = [int(_each(origin, axes).get(d, 0)) for d in range(input.ndim)]
    added = None
    if structure is not None:
        added = w.reshape(weights_of(structure, input), chosen.shape)
    if not largest:
        return chosen_by_rank(input, chosen, 0, mode, cval, origins, None if added is None else -added)
    origins = [-o - (n % 2 == 0) for o, n in zip(origins, chosen.shape, strict=True)]
    turned = None if added is None else w.flip(added, tuple(range(added.ndim)))
    return chosen_by_rank(input, np.flip(chosen), int(chosen.sum()) - 1, mode, cval, origins, turned)


def grey_opening(input, size=None, footprint=None, structure=None, mode="reflect", cval=0.0, origin=0, *, axes=None):
    settings = (size, footprint, structure, mode, cval, origin)
    return grey_dilation(grey_erosion(input, *settings, axes=axes), *settings, axes=axes)


def grey_closing(input, size=None, footprint=None, structure=None, mode="reflect", cval=0.0, origin=0, *, axes=None):
    settings = (size, footprint, structure, mode, cval, origin)
    return grey_erosion(grey_dilation(input, *settings, axes=axes), *settings, axes=axes)


def morphological_gradient(input, size=None, footprint=None, structure=None, mode="reflect", cval=0.0, origin=0, *, axes=None):
    settings = (input, size, footprint, structure, mode, cval, origin)
    return grey_dilation(*settings, axes=axes) - grey_erosion(*settings, axes=axes)


def morphological_laplace(input, size=None, footprint=None, structure=None, mode="reflect", cval=0.0, origin=0, *, axes=None):
    settings = (input, size, footprint, structure, mode, cval, origin)
    return grey_dilation(*settings, axes=axes) + grey_erosion(*settings, axes=axes) - 2 * image_of(input)


def white_tophat(input, size=None, footprint=None, structure=None, mode="reflect", cval=0.0, origin=0, *, axes=None):
    return image_of(input) - grey_opening(input, size, footprint, structure, mode, cval, origin, axes=axes)


def black_tophat(input, size=None, footprint=None, structure=None, mode="reflect", cval=0.0, origin=0, *, axes=None):
    return grey_closing(input, size, footprint, structure, mode, cval, origin, axes=axes) - image_of(input)
