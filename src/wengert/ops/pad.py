"""Padding, and the shuffles that trade channels for pixels."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from wengert import errors
from wengert.ops.indices import raw
from wengert.ops.registry import NONE, composite, general, linear
from wengert.ops.resampling import Table

_FUNCTIONAL: dict[str, Any] = {"method": False, "namespaces": ("nn.functional", "")}


# -- padding -----------------------------------------------------------------------------------------------------------


@general(promote=NONE, node="ConstantPadNdBackward0", method=False, keyword_only=())
def constant_pad_nd(xp, x, *, pad, value=0):
    """x with value in front of and behind it. pad: (front, back) of the last dimension, then of the one before, ...

    Negative numbers cut off. Raises RuntimeError for more dimensions than there are, and where nothing would be left.

    Derivative: the part of the cotangent that is x; zeros where x was cut off."""
    if len(pad) % 2:
        raise errors.pad_odd()
    if len(pad) > 2 * x.ndim:
        raise errors.pad_length(len(pad), x.ndim)
    shape = list(x.shape)
    source: list[slice] = []
    target: list[slice] = []
    for i in range(len(pad) // 2):
        front, back, d = pad[2 * i], pad[2 * i + 1], x.ndim - 1 - i
        n = shape[d]
        if n + front + back < 0:
            raise errors.pad_negative()
        source.insert(0, slice(max(-front, 0), max(n - max(-back, 0), 0)))
        target.insert(0, slice(max(front, 0), max(n + front + min(back, 0), 0)))
        shape[d] = n + front + back
    out = xp.full(shape, value, x.dtype) if value else xp.zeros(shape, x.dtype)
    out[(..., *target)] = x[(..., *source)]
    return out


@constant_pad_nd.vjp("x")
def _(F, ct, pad):
    return F.constant_pad_nd(ct, pad=tuple([-p for p in pad]), value=0)


@lru_cache(maxsize=256)
def _padding_table(n: int, front: int, back: int, mode: str) -> Table:
    """Which element of n is at each place of the padded dimension."""
    place = np.arange(-front, n + back)
    if mode == "reflect":
        place = np.abs(place)
        place = np.where(place >= n, 2 * (n - 1) - place, place)
    elif mode == "replicate":
        place = np.clip(place, 0, n - 1)
    else:
        # What is cut off is so before the rest goes round.
        first, rest = max(-front, 0), n + min(front, 0) + min(back, 0)
        place = (place - first) % max(rest, 1) + first
    return Table.of_entries(n, place.size, np.arange(place.size), place, None)


@lru_cache(maxsize=256)
def _padding_tables(shape: tuple[int, ...], pad: tuple[int, ...], mode: str) -> tuple[Table, ...]:
    """The tables of the last dimensions of an input of this shape. Raises RuntimeError where it cannot be padded so."""
    _check_repeated(shape, pad, mode)
    rows = [(shape[-1 - i], pad[2 * i], pad[2 * i + 1]) for i in range(len(pad) // 2)]
    return tuple([_padding_table(*row, mode) for row in reversed(rows)])


_NODES = {"reflect": "ReflectionPad{}DBackward0", "replicate": "ReplicationPad{}DBackward0", "circular": "CopySlices"}


def _check_repeated(shape: tuple[int, ...], pad: tuple[int, ...], mode: str) -> None:
    """Raises for what torch does not pad by elements of the input."""
    dims = len(pad) // 2
    if len(pad) % 2:
        raise errors.pad_odd()
    if dims not in (1, 2, 3) or len(shape) not in (dims + 1, dims + 2):
        raise errors.pad_combination(len(pad), len(shape))
    if 0 in shape[-dims - 1 :]:
        raise errors.pad_empty(dims, shape)
    for i in range(dims):
        front, back, n = pad[2 * i], pad[2 * i + 1], shape[-1 - i]
        if mode == "reflect" and max(front, back) >= n:
            raise errors.pad_reflected(pad, i, len(shape) - 1 - i, shape)
        if mode == "circular" and max(front, back) > n:
            raise errors.pad_wrapped()
        if n + front + back < 0:
            raise errors.pad_negative()


@composite(namespaces=("nn.functional",))
def pad(F, input, pad, mode="constant", value=None):
    """input with something in front of and behind it. pad: (front, back) of the last dimension, then of the one before,
    and so on; negative numbers cut off.

    mode: "constant" (value, 0 unless given), "reflect", "replicate" (the outermost element) or "circular"; these three
    for the last one, two or three dimensions of an input with one or two more. Raises RuntimeError for paddings that do
    not fit, NotImplementedError for dimensions and modes that there are not.

    Derivative: each element gets the sum of the cotangents of its copies."""
    pad = tuple([int(p) for p in pad])
    if mode == "constant":
        return F.constant_pad_nd(input, pad=pad, value=0 if value is None else value)
    if value:
        raise errors.pad_value(mode)
    if mode not in _NODES:
        raise errors.pad_mode(mode)
    return F._resample(input, tables=_padding_tables(raw(input).shape, pad, mode), node=_NODES[mode].format(len(pad) // 2))


# -- shuffles ----------------------------------------------------------------------------------------------------------


def _check_shuffle(op: str, x: Any, factor: int, name: str) -> None:
    if x.ndim < 3:
        raise errors.shuffle_dims(op, x.ndim)
    if factor <= 0:
        raise errors.shuffle_factor(op, name, factor)


@linear(promote=NONE, **_FUNCTIONAL)
def pixel_shuffle(xp, x, *, upscale_factor):
    """(..., c * r * r, h, w) as (..., c, h * r, w * r): each pixel becomes r x r, from as many channels.

    Raises RuntimeError where the channels cannot be divided so. Derivative: `pixel_unshuffle` of ct."""
    r = upscale_factor
    _check_shuffle("pixel_shuffle", x, r, "upscale_factor")
    *lead, channels, h, w = x.shape
    if channels % (r * r):
        raise errors.shuffle_channels(channels, r * r)
    parts = x.reshape(*lead, channels // (r * r), r, r, h, w)
    n = parts.ndim
    return parts.transpose(*range(n - 4), n - 2, n - 4, n - 1, n - 3).reshape(*lead, channels // (r * r), h * r, w * r)


@linear(promote=NONE, **_FUNCTIONAL)
def pixel_unshuffle(xp, x, *, downscale_factor):
    """(..., c, h * r, w * r) as (..., c * r * r, h, w): what `pixel_shuffle` undoes.

    Raises RuntimeError where height or width cannot be divided so. Derivative: `pixel_shuffle` of ct."""
    r = downscale_factor
    _check_shuffle("pixel_unshuffle", x, r, "downscale_factor")
    *lead, channels, h, w = x.shape
    for side, name, size in ((-2, "height", h), (-1, "width", w)):
        if size % r:
            raise errors.shuffle_side(name, side, size, r)
    parts = x.reshape(*lead, channels, h // r, r, w // r, r)
    n = parts.ndim
    return parts.transpose(*range(n - 4), n - 3, n - 1, n - 4, n - 2).reshape(*lead, channels * r * r, h // r, w // r)


@pixel_shuffle.vjp("x")
def _(F, ct, upscale_factor):
    return F.pixel_unshuffle(ct, downscale_factor=upscale_factor)


@pixel_unshuffle.vjp("x")
def _(F, ct, downscale_factor):
    return F.pixel_shuffle(ct, upscale_factor=downscale_factor)


@linear(promote=NONE, **_FUNCTIONAL)
def channel_shuffle(xp, x, *, groups):
    """The channels of x, (n, channels, ...), with the groups interleaved: first of each group, second of each, ...

    Raises RuntimeError where the channels cannot be divided so. Derivative: the shuffle that undoes this one."""
    if x.ndim < 3:
        raise errors.channel_shuffle_dims(x.shape)
    if groups <= 0:
        raise errors.channel_shuffle_groups(groups)
    n, channels = x.shape[:2]
    if channels % groups:
        raise errors.channel_shuffle_channels(channels, groups)
    return x.reshape(n, groups, channels // groups, *x.shape[2:]).swapaxes(1, 2).reshape(x.shape)


@channel_shuffle.vjp("x")
def _(F, ct, groups, x_shape):
    return F.channel_shuffle(ct, groups=max(x_shape[1] // groups, 1))
