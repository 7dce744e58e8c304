"""Samples of wengert.ops.conv. The oracles visit the windows one by one."""

from __future__ import annotations

from itertools import product

import numpy as np

from op_samples import Sample
from wengert.ops.windows import Windows

_PLAIN = Windows((4, 5), (3, 2), (2, 2), (2, 3), (1, 0), (1, 2))
_CLOSE = Windows((4,), (3,), (4,), (1,), (1,), (1,))
_POINT = Windows((2, 3), (1, 1), (2, 3), (1, 1), (0, 0), (1, 1))

SAMPLES = {
    "conv1d": [
        Sample((2, 3, 6), (4, 3, 3), (4,)),
        Sample((3, 6), (4, 3, 3)),
        Sample((2, 4, 6), (6, 2, 2), None, 2, 1, 2, 2),
        Sample((2, 3, 6), (4, 3, 4), padding="same"),
        Sample((2, 3, 6), (4, 3, 3), padding="valid", stride=2),
        Sample((0, 3, 6), (4, 3, 3), (4,)),
        Sample((3, 2, 80), (2, 2, 3)),
    ],
    "conv2d": [
        Sample((2, 2, 4, 5), (3, 2, 3, 2), (3,)),
        Sample((2, 4, 5), (3, 2, 3, 2), (3,)),
        Sample((1, 4, 6, 7), (4, 2, 3, 2), (4,), stride=(2, 1), padding=(1, 2), dilation=(2, 3), groups=2),
        Sample((2, 3, 4, 4), (6, 1, 3, 3), None, padding=1, groups=3),
        Sample((2, 3, 2, 2), (4, 3, 1, 1), (4,)),
        Sample((2, 3, 4, 4), (4, 3, 1, 1), stride=2),
        Sample((1, 2, 5, 4), (2, 2, 4, 3), padding="same", dilation=2),
    ],
    "conv3d": [
        Sample((1, 2, 3, 4, 3), (2, 2, 2, 3, 2), (2,)),
        Sample((2, 3, 3, 3), (2, 1, 2, 2, 2), None, 2, 1, 1, 2),
    ],
    "conv_transpose1d": [
        Sample((2, 3, 4), (3, 2, 3), (2,)),
        Sample((3, 4), (3, 2, 3)),
        Sample((2, 4, 3), (4, 3, 3), (6,), 3, 1, 2, 2, 2),
        Sample((2, 3, 2), (3, 2, 1), stride=3),
        Sample((2, 3, 5), (3, 2, 2), padding=2),
    ],
    "conv_transpose2d": [
        Sample((2, 2, 2, 3), (2, 3, 3, 2), (3,)),
        Sample((2, 2, 3), (2, 3, 3, 2)),
        Sample(
            (1, 4, 2, 3), (4, 1, 2, 3), (2,), stride=(2, 3), padding=(1, 0), output_padding=(1, 2), groups=2, dilation=(1, 2)
        ),
    ],
    "conv_transpose3d": [
        Sample((1, 2, 2, 2, 2), (2, 2, 2, 1, 2), (2,)),
        Sample((2, 2, 1, 2), (2, 1, 2, 2, 2), None, 2, 0, 1, 2),
    ],
    "convolution": [
        Sample((2, 2, 4, 5), (3, 2, 3, 2), (3,), stride=[1], padding=[0], dilation=[1], transposed=False, output_padding=[0], groups=1),
        Sample((2, 2, 4), (2, 3, 3), None, stride=[2], padding=[1], dilation=[1], transposed=True, output_padding=[1], groups=1),
    ],
    "_convolution": [Sample((1, 4, 4, 5), (2, 2, 3, 2), (2,), windows=_PLAIN, groups=2)],
    "_convolution_transposed": [
        Sample((1, 2, 2, 2), (2, 2, 3, 2), (4,), windows=_PLAIN, groups=2),
        Sample((2, 2, 4), (2, 2, 3), None, windows=_CLOSE, groups=1),
        Sample((2, 2, 2, 3), (2, 2, 1, 1), None, windows=_POINT, groups=1),
    ],
    "_convolution_weight": [
        Sample((1, 4, 4, 5), (1, 2, 2, 2), windows=_PLAIN, groups=2),
        Sample((2, 2, 4), (2, 3, 4), windows=_CLOSE, groups=1),
    ],
    "nn.functional_unfold": [
        Sample((2, 2, 4, 3), kernel_size=(2, 2)),
        Sample((2, 4, 5), kernel_size=(3, 2), padding=1, stride=2),
        Sample((1, 2, 5, 5), 2, 3, 1, stride=(1, 2)),
        Sample((0, 2, 3, 3), 2),
    ],
    "nn.functional_fold": [
        Sample((2, 8, 6), output_size=(4, 3), kernel_size=(2, 2)),
        Sample((12, 4), output_size=(4, 3), kernel_size=(3, 2), padding=1, stride=2),
        Sample((0, 8, 4), output_size=(3, 3), kernel_size=2),
    ],
}


def _many(value: object, dims: int) -> tuple:
    return tuple(value) * (dims // len(value)) if isinstance(value, (tuple, list)) else (value,) * dims


def _convolution(x, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
    """Window by window, output by output."""
    if x.ndim < weight.ndim:
        return _convolution(x[None], weight, bias, stride, padding, dilation, groups)[0]
    dims = x.ndim - 2
    stride, dilation = _many(stride, dims), _many(dilation, dims)
    kernel, per_group, outputs = weight.shape[2:], weight.shape[1], weight.shape[0]
    reach = [d * (k - 1) for k, d in zip(kernel, dilation)]
    if isinstance(padding, str):
        low = [r // 2 if padding == "same" else 0 for r in reach]
        high = [r - p if padding == "same" else 0 for r, p in zip(reach, low)]
    else:
        low = high = _many(padding, dims)
    x = np.pad(x, [(0, 0), (0, 0), *zip(low, high)])
    count = [(n - r - 1) // s + 1 for n, r, s in zip(x.shape[2:], reach, stride)]
    out = np.zeros((len(x), outputs, *count), np.result_type(x, weight))
    for o, place in product(range(outputs), np.ndindex(*count)):
        first = o // (outputs // groups) * per_group
        cut = [slice(i * s, i * s + r + 1, d) for i, s, r, d in zip(place, stride, reach, dilation)]
        window = x[(slice(None), slice(first, first + per_group), *cut)]
        out[(slice(None), o, *place)] = (window * weight[o]).sum(axis=tuple(range(1, dims + 2)))
        if bias is not None:
            out[(slice(None), o, *place)] += bias[o]
    return out


def _transposed(x, weight, bias=None, stride=1, padding=0, output_padding=0, groups=1, dilation=1):
    """The convolution, with the kernel reversed, of x with zeros between its elements."""
    if x.ndim < weight.ndim:
        return _transposed(x[None], weight, bias, stride, padding, output_padding, groups, dilation)[0]
    dims = x.ndim - 2
    stride, padding, dilation = _many(stride, dims), _many(padding, dims), _many(dilation, dims)
    extra = _many(output_padding, dims)
    spread = np.zeros((*x.shape[:2], *[(n - 1) * s + 1 for n, s in zip(x.shape[2:], stride)]), x.dtype)
    spread[(..., *[slice(None, None, s) for s in stride])] = x
    reach = [d * (k - 1) for k, d in zip(weight.shape[2:], dilation)]
    spread = np.pad(spread, [(0, 0), (0, 0), *[(r, r + e) for r, e in zip(reach, extra)]])
    parts = [
        w.swapaxes(0, 1)[(..., *[slice(None, None, -1)] * dims)] for w in np.split(weight, groups)
    ]  # (outputs / groups, channels / groups, *kernel) of each group
    out = _convolution(spread, np.concatenate(parts), bias, 1, 0, dilation, groups)
    return out[(..., *[slice(p, n - p) for p, n in zip(padding, out.shape[2:])])]


def _either(x, weight, bias, stride, padding, dilation, transposed, output_padding, groups):
    if transposed:
        return _transposed(x, weight, bias, stride, padding, output_padding, groups, dilation)
    return _convolution(x, weight, bias, stride, padding, dilation, groups)


def _unfold(x, kernel_size, dilation=1, padding=0, stride=1):
    """The elements of each window are the results of kernels with a single 1."""
    if x.ndim == 3:
        return _unfold(x[None], kernel_size, dilation, padding, stride)[0]
    c, kernel = x.shape[1], _many(kernel_size, 2)
    taps = np.eye(c * kernel[0] * kernel[1]).reshape(-1, c, *kernel)
    found = _convolution(x, taps, None, stride, padding, dilation)
    return found.reshape(*found.shape[:2], found.shape[2] * found.shape[3])


def _fold(x, output_size, kernel_size, dilation=1, padding=0, stride=1):
    """The transposed matrix of _unfold."""
    if x.ndim == 2:
        return _fold(x[None], output_size, kernel_size, dilation, padding, stride)[0]
    kernel = _many(kernel_size, 2)
    c = x.shape[1] // (kernel[0] * kernel[1])
    ones = np.eye(c * output_size[0] * output_size[1]).reshape(-1, c, *output_size)
    rows = _unfold(ones, kernel_size, dilation, padding, stride).reshape(len(ones), -1)
    return (x.reshape(len(x), rows.shape[1]) @ rows.T).reshape(len(x), c, *output_size)


ORACLES = {
    "conv1d": _convolution,
    "conv2d": _convolution,
    "conv3d": _convolution,
    "conv_transpose1d": _transposed,
    "conv_transpose2d": _transposed,
    "conv_transpose3d": _transposed,
    "convolution": _either,
    "nn.functional_unfold": _unfold,
    "nn.functional_fold": _fold,
}
