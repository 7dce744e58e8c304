"""Padding, and the shuffles that move elements between channels and pixels."""

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
    """Pad x with a constant.

    pad: (front, back) of the last dimension, then of the one before it, and so on; a negative number removes elements.
    Raises RuntimeError for more dimensions than x has, and for a negative size of the result.

    Derivative: the cotangent at the elements of x; 0 for elements that were removed."""
    if len(pad) % 2:
        raise errors.ShapeError("Padding length must be divisible by 2")
    if len(pad) > 2 * x.ndim:
        raise errors.ShapeError(
            "Padding length should be less than or equal to two times the input dimension but got padding length "
            f"{len(pad)} and input of dimension {x.ndim}"
        )
    shape = list(x.shape)
    source: list[slice] = []
    target: list[slice] = []
    for i in range(len(pad) // 2):
        front, back, d = pad[2 * i], pad[2 * i + 1], x.ndim - 1 - i
        n = shape[d]
        if n + front + back < 0:
            raise errors.ShapeError("narrow(): length must be non-negative.")
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
    """Table that maps each position of the padded dimension to an element of the input dimension, of size n."""
    place = np.arange(-front, n + back)
    if mode == "reflect":
        place = np.abs(place)
        place = np.where(place >= n, 2 * (n - 1) - place, place)
    elif mode == "replicate":
        place = np.clip(place, 0, n - 1)
    else:
        # Negative padding removes elements before the remaining ones are repeated.
        first, rest = max(-front, 0), n + min(front, 0) + min(back, 0)
        place = (place - first) % max(rest, 1) + first
    return Table.of_entries(n, place.size, np.arange(place.size), place, None)


@lru_cache(maxsize=256)
def _padding_tables(shape: tuple[int, ...], pad: tuple[int, ...], mode: str) -> tuple[Table, ...]:
    """Return the tables of the padded dimensions of an input. Raises RuntimeError if torch does not pad it that way."""
    _check_padding(shape, pad, mode)
    rows = [(shape[-1 - i], pad[2 * i], pad[2 * i + 1]) for i in range(len(pad) // 2)]
    return tuple([_padding_table(*row, mode) for row in reversed(rows)])


_NODES = {"reflect": "ReflectionPad{}DBackward0", "replicate": "ReplicationPad{}DBackward0", "circular": "CopySlices"}


def _check_padding(shape: tuple[int, ...], pad: tuple[int, ...], mode: str) -> None:
    """Raise for shapes and paddings that torch refuses in the modes reflect, replicate and circular."""
    dims = len(pad) // 2
    if len(pad) % 2:
        raise errors.ShapeError("Padding length must be divisible by 2")
    if dims not in (1, 2, 3) or len(shape) not in (dims + 1, dims + 2):
        raise errors.UnsupportedModeError(
            f"Padding size {len(pad)} is not supported for {len(shape)}D input tensor.\nSupported combinations for "
            "non-constant padding:\n  - 2D or 3D input: padding size = 2 (pads last dimension)\n  - 3D or 4D input: "
            "padding size = 4 (pads last 2 dimensions)\n  - 4D or 5D input: padding size = 6 (pads last 3 dimensions)"
        )
    if 0 in shape[-dims - 1 :]:
        raise errors.ShapeError(
            f"Expected {dims + 1}D or {dims + 2}D (batch mode) tensor with possibly 0 batch size and other non-zero "
            f"dimensions for input, but got: {list(shape)}"
        )
    for i in range(dims):
        front, back, n = pad[2 * i], pad[2 * i + 1], shape[-1 - i]
        if mode == "reflect" and max(front, back) >= n:
            raise errors.ShapeError(
                f"Argument #{2 * i + 4}: Padding size should be less than the corresponding input dimension, but got: "
                f"padding ({pad[2 * i]}, {pad[2 * i + 1]}) at dimension {len(shape) - 1 - i} of input {list(shape)}"
            )
        if mode == "circular" and max(front, back) > n:
            raise errors.ShapeError("Padding value causes wrapping around more than once.")
        if n + front + back < 0:
            raise errors.ShapeError("narrow(): length must be non-negative.")


@composite(namespaces=("nn.functional",))
def pad(F, input, pad, mode="constant", value=None):
    """Pad the last dimensions of input.

    pad: (front, back) of the last dimension, then of the one before it, and so on; a negative number removes elements.
    mode: "constant" (value, 0 if None), "reflect", "replicate" (the outermost element) or "circular". The last three
    modes pad the last one, two or three dimensions of an input that has one or two dimensions more. Raises RuntimeError
    for paddings that do not fit, NotImplementedError for other dimensions and modes.

    Derivative: for each element the sum of the cotangents of its copies."""
    pad = tuple([int(p) for p in pad])
    if mode == "constant":
        return F.constant_pad_nd(input, pad=pad, value=0 if value is None else value)
    if value:
        raise errors.ShapeError(f"Padding mode \"{mode}\" doesn't take in value argument")
    if mode not in _NODES:
        raise errors.UnsupportedModeError(f"Unrecognised padding mode {mode}")
    resample = F._resample if mode == "circular" else F._resample_flat
    return resample(input, tables=_padding_tables(raw(input).shape, pad, mode), node=_NODES[mode].format(len(pad) // 2))


# -- shuffles ----------------------------------------------------------------------------------------------------------


def _check_shuffle(op: str, x: Any, factor: int, name: str) -> None:
    if x.ndim < 3:
        raise errors.ShapeError(f"{op} expects input to have at least 3 dimensions, but got input with {x.ndim} dimension(s)")
    if factor <= 0:
        raise errors.ShapeError(f"{op} expects a positive {name}, but got {factor}")


@linear(promote=NONE, **_FUNCTIONAL)
def pixel_shuffle(xp, x, *, upscale_factor):
    """Rearrange (..., c * r * r, h, w) to (..., c, h * r, w * r), where r is upscale_factor.

    The r * r channels of a pixel become a block of r x r pixels. Raises RuntimeError if r * r does not divide the
    channels. Derivative: `pixel_unshuffle` of ct."""
    r = upscale_factor
    _check_shuffle("pixel_shuffle", x, r, "upscale_factor")
    *lead, channels, h, w = x.shape
    if channels % (r * r):
        raise errors.ShapeError(
            "pixel_shuffle expects its input's 'channel' dimension to be divisible by the square of upscale_factor, but "
            f"input.size(-3)={channels} is not divisible by {r * r}"
        )
    parts = x.reshape(*lead, channels // (r * r), r, r, h, w)
    n = parts.ndim
    return parts.transpose(*range(n - 4), n - 2, n - 4, n - 1, n - 3).reshape(*lead, channels // (r * r), h * r, w * r)


@linear(promote=NONE, **_FUNCTIONAL)
def pixel_unshuffle(xp, x, *, downscale_factor):
    """Rearrange (..., c, h * r, w * r) to (..., c * r * r, h, w), where r is downscale_factor: inverse of `pixel_shuffle`.

    Raises RuntimeError if r does not divide height and width. Derivative: `pixel_shuffle` of ct."""
    r = downscale_factor
    _check_shuffle("pixel_unshuffle", x, r, "downscale_factor")
    *lead, channels, h, w = x.shape
    for side, name, size in ((-2, "height", h), (-1, "width", w)):
        if size % r:
            raise errors.ShapeError(
                f"pixel_unshuffle expects {name} to be divisible by downscale_factor, but input.size({side})={size} is not "
                f"divisible by {r}"
            )
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
    """Interleave the groups of channels of x: the first channel of each group, then the second of each, and so on.

    x: (n, channels, ...). Raises RuntimeError if groups does not divide the channels. Derivative: the inverse shuffle of
    ct."""
    if x.ndim < 3:
        raise errors.ShapeError(f"channel_shuffle expects input with > 2 dims, but got input with sizes {list(x.shape)}")
    if groups <= 0:
        raise errors.ShapeError(f"Number of groups to divide channels in must be positive. Value of groups:{groups}")
    n, channels = x.shape[:2]
    if channels % groups:
        raise errors.ShapeError(f"Number of channels must be divisible by groups. Got {channels} channels and {groups} groups.")
    return x.reshape(n, groups, channels // groups, *x.shape[2:]).swapaxes(1, 2).reshape(x.shape)


@channel_shuffle.vjp("x")
def _(F, ct, groups, x_shape):
    return F.channel_shuffle(ct, groups=max(x_shape[1] // groups, 1))
