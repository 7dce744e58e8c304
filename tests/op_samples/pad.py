"""Samples of wengert.ops.pad."""

from __future__ import annotations

import numpy as np

from op_samples import Sample

SAMPLES = {
    "constant_pad_nd": [
        Sample((2, 3), pad=(1, 2)),
        Sample((2, 3), pad=(1, 0, 0, 2), value=1.5),
        Sample((3, 4), pad=(-1, 2, 1, -2)),
        Sample((0, 3), pad=(1, 1, 0, 0)),
    ],
    "pad": [
        Sample((2, 3), pad=(1, 2)),
        Sample((2, 3), pad=(1, 2, 0, 1), mode="constant", value=2.5),
        *[Sample((2, 4), pad=(2, 1), mode=mode) for mode in ("reflect", "replicate", "circular")],
        *[Sample((1, 2, 4, 3), pad=(2, 1, 1, 3), mode=mode) for mode in ("reflect", "replicate", "circular")],
        *[Sample((2, 3, 4, 3), pad=(2, 1, 1, 3, 0, 2), mode=mode) for mode in ("reflect", "replicate", "circular")],
        *[Sample((2, 4, 3), pad=(1, -1, -2, 2), mode=mode) for mode in ("reflect", "replicate", "circular")],
        Sample((2, 3), pad=(4, 0), mode="replicate"),
    ],
    "pixel_shuffle": [Sample((2, 8, 2, 3), upscale_factor=2), Sample((9, 1, 2), upscale_factor=3)],
    "pixel_unshuffle": [Sample((2, 2, 4, 6), downscale_factor=2), Sample((1, 3, 6), downscale_factor=3)],
    "channel_shuffle": [Sample((2, 6, 3), groups=3), Sample((1, 6, 2, 2), groups=2)],
}


_MODES = {"reflect": "reflect", "replicate": "edge", "circular": "wrap"}


def _pad(x, pad, mode="constant", value=0):
    pairs = [(0, 0)] * (x.ndim - len(pad) // 2) + [tuple(pad[i : i + 2]) for i in range(len(pad) - 2, -1, -2)]
    grown = [(max(a, 0), max(b, 0)) for a, b in pairs]
    options = {"constant_values": value} if mode == "constant" else {}
    if mode == "circular":  # what is cut off is so before the rest goes round
        x = x[tuple([slice(-min(a, 0), n + min(b, 0)) for n, (a, b) in zip(x.shape, pairs)])]
        return np.pad(x, grown, "wrap")
    padded = np.pad(x, grown, _MODES.get(mode, mode), **options)
    return padded[tuple([slice(-min(a, 0), n + min(b, 0)) for n, (a, b) in zip(padded.shape, pairs)])]


def _shuffle(x, upscale_factor):
    r, c = upscale_factor, x.shape[-3] // upscale_factor**2
    out = np.zeros((*x.shape[:-3], c, x.shape[-2] * r, x.shape[-1] * r), x.dtype)
    for k, i, j in np.ndindex(c, r, r):
        out[..., k, i::r, j::r] = x[..., k * r * r + i * r + j, :, :]
    return out


def _unshuffle(x, downscale_factor):
    r = downscale_factor
    parts = [x[..., k, i::r, j::r] for k, i, j in np.ndindex(x.shape[-3], r, r)]
    return np.stack(parts, axis=-3)


def _channels(x, groups):
    per_group = x.shape[1] // groups
    return x[:, [g * per_group + i for i in range(per_group) for g in range(groups)]]


ORACLES = {
    "constant_pad_nd": lambda x, pad, value=0: _pad(x, pad, "constant", value),
    "pad": _pad,
    "pixel_shuffle": _shuffle,
    "pixel_unshuffle": _unshuffle,
    "channel_shuffle": _channels,
}
