"""Padding, shuffles and interpolation: numbers worked by hand, messages."""

from __future__ import annotations

import math

import pytest

import wengert
from wengert.nn import functional as F


def leaf(values):
    return wengert.tensor(values, dtype=wengert.float64, requires_grad=True)


def f64(values):
    return wengert.tensor(values, dtype=wengert.float64)


ROW = [[1.0, 2.0, 4.0]]


@pytest.mark.parametrize(("mode", "padded", "gradient"), [
    ("constant", [0.0, 0.0, 1.0, 2.0, 4.0, 0.0], [1.0, 1.0, 1.0]),
    ("reflect", [4.0, 2.0, 1.0, 2.0, 4.0, 2.0], [1.0, 3.0, 2.0]),
    ("replicate", [1.0, 1.0, 1.0, 2.0, 4.0, 4.0], [3.0, 1.0, 2.0]),
    ("circular", [2.0, 4.0, 1.0, 2.0, 4.0, 1.0], [2.0, 2.0, 2.0]),
])  # fmt: skip
def test_pad(mode, padded, gradient):
    x = leaf(ROW)
    y = F.pad(x, (2, 1), mode)
    y.sum().backward()
    assert y.tolist() == [padded] and x.grad.tolist() == [gradient]


def test_negative_padding_cuts_off():
    x = leaf(ROW)
    y = F.pad(x, (-1, 2), value=9.0)
    y.sum().backward()
    assert y.tolist() == [[2.0, 4.0, 9.0, 9.0]] and x.grad.tolist() == [[0.0, 1.0, 1.0]]


def test_integers_are_padded_too():
    assert F.pad(wengert.tensor([[1, 2]]), (1, 0), value=7).tolist() == [[7, 1, 2]]
    assert F.pad(wengert.tensor([[1, 2]]), (1, 0), "reflect").tolist() == [[2, 1, 2]]


def test_shuffles():
    x = f64([[[1.0]], [[2.0]], [[3.0]], [[4.0]]])
    assert F.pixel_shuffle(x, 2).tolist() == [[[1.0, 2.0], [3.0, 4.0]]]
    assert F.pixel_unshuffle(F.pixel_shuffle(x, 2), 2).tolist() == x.tolist()
    assert F.channel_shuffle(x.reshape(1, 4, 1), 2).flatten().tolist() == [1.0, 3.0, 2.0, 4.0]


def test_interpolate_by_two():
    x = leaf([[[0.0, 4.0]]])
    assert F.interpolate(x, size=4).tolist() == [[[0.0, 0.0, 4.0, 4.0]]]
    y = F.interpolate(x, scale_factor=2, mode="linear")
    assert y.tolist() == [[[0.0, 1.0, 3.0, 4.0]]] and y.grad_fn.name() == "UpsampleLinear1DBackward0"
    y.backward(f64([[[1.0, 10.0, 100.0, 1000.0]]]))
    assert x.grad.tolist() == [[[33.5, 1077.5]]]
    assert F.interpolate(x, size=5, mode="linear", align_corners=True).tolist() == [[[0.0, 1.0, 2.0, 3.0, 4.0]]]


def test_a_smaller_size_with_and_without_antialiasing():
    x = f64([[[[0.0, 8.0, 0.0, 8.0]]]])
    assert F.interpolate(x, size=(1, 2), mode="bilinear").tolist() == [[[[4.0, 4.0]]]]
    # Weights 3, 3, 1 (and 1, 3, 3) sevenths: a hat twice as wide, cut off at the edge.
    smooth = F.interpolate(x, size=(1, 2), mode="bilinear", antialias=True).flatten().tolist()
    assert smooth == pytest.approx([8 * 3 / 7, 8 * 4 / 7])


def test_an_infinite_pixel_stays_where_it_is():
    y = F.interpolate(f64([[[math.inf, 1.0, 2.0, 3.0]]]), size=4, mode="linear")
    assert y.flatten().tolist()[2:] == [2.0, 3.0]


def test_affine_grid():
    theta = leaf([[[1.0, 0.0, 0.0], [0.0, 1.0, 0.5]]])
    grid = F.affine_grid(theta, (1, 1, 1, 2), align_corners=True)
    assert grid.tolist() == [[[[-1.0, 0.5], [1.0, 0.5]]]]
    grid.sum().backward()
    assert theta.grad.tolist() == [[[0.0, 0.0, 2.0], [0.0, 0.0, 2.0]]]


def ones(*shape):
    return wengert.ones(*shape)


IMAGES = ones(2, 3, 4, 4)
MODES = "nearest | linear | bilinear | bicubic | trilinear | lanczos | area | nearest-exact"
MESSAGES = [
    (lambda: F.pad(ones(2, 3), (1,)), "Padding length must be divisible by 2"),
    (lambda: F.pad(ones(2, 3), (1,) * 6),
     "Padding length should be less than or equal to two times the input dimension but got padding length 6 and input of "
     "dimension 2"),
    (lambda: F.pad(ones(2, 3), (-2, -2)), "narrow(): length must be non-negative."),
    (lambda: F.pad(ones(2, 3, 4), (4, 2), "reflect"),
     "Argument #4: Padding size should be less than the corresponding input dimension, but got: padding (4, 2) at "
     "dimension 2 of input [2, 3, 4]"),
    (lambda: F.pad(ones(2, 3, 4), (5, 2), "circular"), "Padding value causes wrapping around more than once."),
    (lambda: F.pad(ones(2, 0, 4), (1, 2), "reflect"),
     "Expected 2D or 3D (batch mode) tensor with possibly 0 batch size and other non-zero dimensions for input, but got: "
     "[2, 0, 4]"),
    (lambda: F.pad(ones(4), (1, 2), "reflect"),
     "Padding size 2 is not supported for 1D input tensor.\nSupported combinations for non-constant padding:\n  - 2D or "
     "3D input: padding size = 2 (pads last dimension)\n  - 3D or 4D input: padding size = 4 (pads last 2 dimensions)\n  "
     "- 4D or 5D input: padding size = 6 (pads last 3 dimensions)"),
    (lambda: F.pad(ones(2, 3, 4), (1, 2), "foo"), "Unrecognised padding mode foo"),
    (lambda: F.pad(ones(2, 3, 4), (1, 2), "reflect", 1.0), 'Padding mode "reflect" doesn\'t take in value argument'),
    (lambda: F.pixel_shuffle(ones(2, 7, 3, 3), 2),
     "pixel_shuffle expects its input's 'channel' dimension to be divisible by the square of upscale_factor, but "
     "input.size(-3)=7 is not divisible by 4"),
    (lambda: F.pixel_shuffle(ones(8, 3), 2),
     "pixel_shuffle expects input to have at least 3 dimensions, but got input with 2 dimension(s)"),
    (lambda: F.pixel_unshuffle(ones(2, 2, 4, 4), -1), "pixel_unshuffle expects a positive downscale_factor, but got -1"),
    (lambda: F.pixel_unshuffle(ones(2, 2, 5, 4), 2),
     "pixel_unshuffle expects height to be divisible by downscale_factor, but input.size(-2)=5 is not divisible by 2"),
    (lambda: F.channel_shuffle(ones(2, 6, 3, 3), 4),
     "Number of channels must be divisible by groups. Got 6 channels and 4 groups."),
    (lambda: F.channel_shuffle(ones(6, 3), 3), "channel_shuffle expects input with > 2 dims, but got input with sizes [6, 3]"),
    (lambda: F.channel_shuffle(ones(2, 6, 3), 0),
     "Number of groups to divide channels in must be positive. Value of groups:0"),
    (lambda: F.interpolate(IMAGES), "either size or scale_factor should be defined"),
    (lambda: F.interpolate(IMAGES, size=3, scale_factor=2), "only one of size or scale_factor should be defined"),
    (lambda: F.interpolate(IMAGES, size=(3, 3, 3)),
     "Input and output must have the same number of spatial dimensions, but got input with spatial dimensions of [4, 4] "
     "and output size of (3, 3, 3). Please provide input tensor in (N, C, d1, d2, ...,dK) format and output size in (o1, "
     "o2, ...,oK) format."),
    (lambda: F.interpolate(IMAGES, size=3, align_corners=True),
     "align_corners option can only be set with the interpolating modes: linear | bilinear | bicubic | trilinear"),
    (lambda: F.interpolate(IMAGES, size=3, mode="linear"), "Got 4D input, but linear mode needs 3D input"),
    (lambda: F.interpolate(IMAGES, size=3, mode="foo"),
     f"Input Error: Only 3D, 4D and 5D input Tensors supported (got 4D) for the modes: {MODES} (got foo)"),
    (lambda: F.interpolate(IMAGES, size=0),
     "Input and output sizes should be greater than 0, but got input (H: 4, W: 4) output (H: 0, W: 0)"),
    (lambda: F.interpolate(IMAGES, size=3, antialias=True),
     "Anti-alias option is restricted to bilinear, bicubic, and lanczos modes and requires a 4-D tensor as input"),
    (lambda: F.interpolate(IMAGES, size=3, mode="bilinear", recompute_scale_factor=True),
     "recompute_scale_factor is not meaningful with an explicit size."),
    (lambda: F.interpolate(ones(2, 0, 4, 4), size=3), "Non-empty 4D data tensor expected but got a tensor with sizes [2, 0, 4, 4]"),
    (lambda: F.affine_grid(ones(1, 2, 3), (1, 2, 4)),
     "affine_grid only supports 4D and 5D sizes, for 2D and 3D affine transforms, respectively. Got size (1, 2, 4)."),
    (lambda: F.affine_grid(ones(2, 3), (1, 2, 4, 4)),
     "Expected a batch of 2D affine matrices of shape Nx2x3 for size (1, 2, 4, 4). Got torch.Size([2, 3])."),
    (lambda: F.affine_grid(ones(1, 2, 3).long(), (1, 2, 4, 4)),
     "Expected theta to have floating point type, but got torch.int64"),
    (lambda: F.affine_grid(ones(1, 2, 3), (1, 2, 0, 4)), "Expected non-zero, positive output size. Got (1, 2, 0, 4)"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "text"), MESSAGES, ids=[text[:40] for _, text in MESSAGES])
def test_wrong_arguments_are_refused_with_a_message(call, text):
    with pytest.raises((RuntimeError, ValueError)) as error:
        call()
    assert str(error.value) == text


# -- images of bytes -----------------------------------------------------------------------------------------------------


def test_bytes_are_rounded_after_each_dimension():
    x = wengert.tensor([[[[0, 255], [10, 21]]]], dtype=wengert.uint8)
    assert F.interpolate(x, size=(2, 1), mode="bilinear").tolist() == [[[[128], [16]]]]  # 127.5 and 15.5, up
    assert F.interpolate(x, size=1, mode="bilinear", antialias=True).tolist() == [[[[72]]]]  # of 128 and 16; exactly 71.5
    assert F.interpolate(x, size=2, mode="bilinear").tolist() == x.tolist()


def test_bytes_do_not_overflow():
    """Cubic convolution goes beyond its inputs."""
    x = wengert.tensor([[[[0, 0, 255, 255]]]], dtype=wengert.uint8)
    smooth = F.interpolate(x.double(), size=(1, 16), mode="bicubic")
    assert smooth.min() < -5 and smooth.max() > 260
    y = F.interpolate(x, size=(1, 16), mode="bicubic")
    assert y.dtype is wengert.uint8
    assert (y.double() - smooth.clamp(0, 255)).abs().max() <= 0.51


def test_other_integers_are_refused():
    with pytest.raises(NotImplementedError, match="not implemented for 'Int'"):
        F.interpolate(wengert.ones(1, 1, 2, 2, dtype=wengert.int32), size=3, mode="bilinear")
    with pytest.raises(NotImplementedError, match="not implemented for 'Byte'"):
        F.interpolate(wengert.ones(1, 1, 2, dtype=wengert.uint8), size=3, mode="linear")
