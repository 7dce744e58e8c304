"""scipy.signal for differentiated functions. convolve is HIPS's: it convolves along some axes, and takes products along others."""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.array_functions.table import promoted
from wengert.hips.boxes import boxed
from wengert.hips.scipy._doors import namespace as _namespace
from wengert.nn import functional as F
from wengert.scipy import signal as _signal

__getattr__, __dir__ = _namespace(_signal, globals())


def convolve(A: Any, B: Any, axes: Any = None, dot_axes: Any = None, mode: str = "full") -> Any:
    """Convolve A and B along pairs of axes, and sum their products along other pairs.

    axes: (axes of A, axes of B) that are convolved; by default all of them. dot_axes: likewise for those of products. mode: "full",
    "valid" or "same" (the shape of A). The result has the other axes of A, the other axes of B, and the convolved axes. Raises
    ValueError if neither array is the larger one along all axes and mode is "valid".

    Derivative: bilinear in A and B."""
    assert mode in ("valid", "full", "same"), f"Mode {mode} undefined, it can be one of 'valid', 'full', and 'same'"
    A, B = given = promoted(A, B)
    if axes is None:
        axes = (range(A.ndim), range(A.ndim))
    axes = [[int(d) % x.ndim for d in own] for own, x in zip(axes, given, strict=True)]
    dots = [[int(d) % x.ndim for d in own] for own, x in zip(dot_axes or ((), ()), given, strict=True)]
    image, others_of_A = _arranged(A, axes[0], dots[0])
    kernel, others_of_B = _arranged(B, axes[1], dots[1])
    n = len(axes[0])
    sizes, taps = image.shape[2:], kernel.shape[2:]
    larger = [a >= b for a, b in zip(sizes, taps, strict=True)]
    if mode == "valid" and not all(larger) and not all(a <= b for a, b in zip(sizes, taps, strict=True)):
        raise ValueError("One array must be larger than the other along all convolved dimensions")
    if all(larger):
        found = _convolved(image, kernel, taps, n, mode)
    else:
        found = _convolved(kernel, image, sizes, n, "valid" if mode == "valid" else "full").transpose(0, 1)
        if mode == "same":
            found = found[(..., *[slice((k - 1) // 2, (k - 1) // 2 + s) for s, k in zip(sizes, taps, strict=True)])]
    return boxed(found.reshape((*others_of_A, *others_of_B, *found.shape[2:])))


def _arranged(x: Any, conv: list[int], dot: list[int]) -> tuple[Any, list[int]]:
    """Return x as (others, products, *convolved), and the sizes of the other axes."""
    others = [d for d in range(x.ndim) if d not in conv and d not in dot]
    sizes = [x.shape[d] for d in others]
    channels = int(np.prod([x.shape[d] for d in dot]))
    return x.permute((*others, *dot, *conv)).reshape((int(np.prod(sizes)), channels, *[x.shape[d] for d in conv])), sizes


def _convolved(image: Any, kernel: Any, taps: Any, n: int, mode: str) -> Any:
    """Convolve image: (N, C, *sizes) and kernel: (M, C, *taps) along the last n <= 3 axes. Returns (N, M, ...)."""
    if not n:
        return image @ kernel.transpose(0, 1)
    if n > 3:
        raise NotImplementedError(f"convolve can convolve along at most 3 axes, but got {n}")
    run = (F.conv1d, F.conv2d, F.conv3d)[n - 1]
    flipped = kernel.flip(tuple(range(2, 2 + n)))
    if mode == "valid":
        return run(image, flipped)
    found = run(image, flipped, padding=tuple([k - 1 for k in taps]))
    if mode == "full":
        return found
    return found[(..., *[slice((k - 1) // 2, (k - 1) // 2 + s) for s, k in zip(image.shape[2:], taps, strict=True)])]
