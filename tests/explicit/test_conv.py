"""Convolutions, unfold and fold: numbers worked by hand, large inputs, messages."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import signal

import wengert
from wengert.nn import functional as F
from wengert.ops import conv


def leaf(values, dtype=wengert.float64):
    return wengert.tensor(values, dtype=dtype, requires_grad=True)


def f64(values):
    return wengert.tensor(values, dtype=wengert.float64)


def test_conv1d_and_its_three_gradients():
    x, weight, bias = leaf([[[1.0, 2.0, 3.0, 4.0]]]), leaf([[[1.0, 10.0]]]), leaf([0.5])
    y = F.conv1d(x, weight, bias)
    assert y.tolist() == [[[21.5, 32.5, 43.5]]] and y.grad_fn.name() == "ConvolutionBackward0"
    y.backward(f64([[[1.0, 100.0, 10000.0]]]))
    assert x.grad.tolist() == [[[1.0, 110.0, 11000.0, 100000.0]]]
    assert weight.grad.tolist() == [[[30201.0, 40302.0]]] and bias.grad.tolist() == [10101.0]


def test_same_puts_the_odd_zero_at_the_end():
    ones = f64([[[1.0, 1.0, 1.0, 1.0]]])
    assert F.conv1d(f64([[[1.0, 2.0, 3.0]]]), ones, padding="same").tolist() == [[[6.0, 6.0, 5.0]]]


def test_stride_dilation_and_padding():
    x = f64([[[1.0, 2.0, 3.0, 4.0, 5.0]]])
    assert F.conv1d(x, f64([[[1.0, 10.0]]]), stride=2, padding=1, dilation=2).tolist() == [[[20.0, 42.0, 4.0]]]


def test_groups_see_their_own_channels_only():
    x = f64([[[1.0, 2.0], [3.0, 4.0]]])
    assert F.conv1d(x, f64([[[1.0]], [[10.0]]]), groups=2).tolist() == [[[1.0, 2.0], [30.0, 40.0]]]


def test_conv_transpose1d_spreads_each_element_over_its_window():
    x, weight = leaf([[[1.0, 2.0]]]), leaf([[[1.0, 10.0, 100.0]]])
    y = F.conv_transpose1d(x, weight, stride=2)
    assert y.tolist() == [[[1.0, 10.0, 102.0, 20.0, 200.0]]]
    y.backward(f64([[[1.0, 2.0, 3.0, 4.0, 5.0]]]))
    assert x.grad.tolist() == [[[321.0, 543.0]]] and weight.grad.tolist() == [[[7.0, 10.0, 13.0]]]
    assert F.conv_transpose1d(x, weight, padding=1, output_padding=1, stride=2).tolist() == [[[10.0, 102.0, 20.0, 200.0]]]


def test_second_derivative():
    """y = sum of (w * x)^2 over windows: its gradient in x is quadratic in w, so the gradient of that is 2 w ct-wise."""
    x, weight = leaf([[[1.0, 2.0]]]), leaf([[[3.0]]])
    (gx,) = wengert.autograd.grad((F.conv1d(x, weight) ** 2).sum(), [x], create_graph=True)
    assert gx.tolist() == [[[18.0, 36.0]]]
    gx.sum().backward()
    assert weight.grad.tolist() == [[[36.0]]] and x.grad.tolist() == [[[18.0, 18.0]]]


@pytest.mark.parametrize("bytes", [1, 3000, 1 << 19])
@pytest.mark.parametrize("shape", [(5, 4, 12, 11), (5, 4, 5, 6)], ids=["many places", "few places"])
def test_the_batch_is_worked_through_in_parts(bytes, shape, monkeypatch):
    """Against SciPy's correlation, whatever number of items is taken at a time."""
    monkeypatch.setattr(conv, "_CHUNK_BYTES", bytes)
    rng = np.random.default_rng(0)
    x, w = rng.normal(size=shape), rng.normal(size=(3, 4, 3, 3))
    wanted = np.array([[sum(signal.correlate(a, b, "valid") for a, b in zip(item, k)) for k in w] for item in x])
    a, b = wengert.tensor(x, requires_grad=True), wengert.tensor(w, requires_grad=True)
    y = F.conv2d(a, b)
    np.testing.assert_allclose(y.detach(), wanted, rtol=1e-12, atol=1e-12)
    ct = rng.normal(size=wanted.shape)
    y.backward(wengert.tensor(ct))
    in_x = [[sum(signal.convolve(c, k[i]) for c, k in zip(item, w)) for i in range(4)] for item in ct]
    in_w = [[sum(signal.correlate(a[i], c[o], "valid") for a, c in zip(x, ct)) for i in range(4)] for o in range(3)]
    np.testing.assert_allclose(a.grad, in_x, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(b.grad, in_w, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("dtype", [wengert.float16, wengert.bfloat16])
def test_half_precision_is_added_up_in_single(dtype):
    x = wengert.ones(1, 4096, 2, dtype=dtype)
    assert F.conv1d(x, wengert.ones(1, 4096, 2, dtype=dtype)).item() == 8192.0


def test_integers():
    x = wengert.arange(4).reshape(1, 1, 4)
    assert F.conv1d(x, wengert.tensor([[[1, 2]]])).tolist() == [[[2, 5, 8]]]
    with pytest.raises(NotImplementedError, match='"slow_conv2d_cpu" not implemented for \'Bool\''):
        F.conv1d(x.bool(), x.bool())


def test_unfold_and_fold():
    x = leaf([[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]])
    columns = F.unfold(x, (2, 2))
    assert columns.tolist() == [[1.0, 2.0], [2.0, 3.0], [4.0, 5.0], [5.0, 6.0]]
    assert columns.grad_fn.name() == "Im2ColBackward0"
    assert F.fold(columns, (2, 3), 2).tolist() == [[[1.0, 4.0, 3.0], [4.0, 10.0, 6.0]]]
    columns.sum().backward()
    assert x.grad.tolist() == [[[1.0, 2.0, 1.0], [1.0, 2.0, 1.0]]]


def ones(*shape):
    return wengert.ones(*shape)


MESSAGES = [
    (lambda: F.conv2d(ones(8, 8), ones(4, 3, 3, 3)),
     "Expected 3D (unbatched) or 4D (batched) input to conv2d, but got input of size: [8, 8]"),
    (lambda: F.conv2d(ones(2, 3, 8, 8), ones(4, 2, 3, 3)),
     "Given groups=1, weight of size [4, 2, 3, 3], expected input[2, 3, 8, 8] to have 2 channels, but got 3 channels "
     "instead"),
    (lambda: F.conv_transpose2d(ones(2, 3, 8, 8), ones(4, 3, 3, 3)),
     "Given transposed=1, weight of size [4, 3, 3, 3], expected input[2, 3, 8, 8] to have 4 channels, but got 3 channels "
     "instead"),
    (lambda: F.conv2d(ones(2, 4, 8, 8), ones(5, 2, 3, 3), groups=2),
     "Given groups=2, expected weight to be divisible by 2 at dimension 0, but got weight of size [[5, 2, 3, 3]] instead"),
    (lambda: F.conv2d(ones(2, 3, 8, 8), ones(0, 3, 3, 3)),
     "Given groups=1, expected weight to be at least 1 at dimension 0, but got weight of size [0, 3, 3, 3] instead"),
    (lambda: F.conv2d(ones(2, 3, 8, 8), ones(4, 3, 3, 3), ones(5)),
     "Given weight of size [4, 3, 3, 3], expected bias to be 1-dimensional with 4 elements, but got bias of size [5] "
     "instead"),
    (lambda: F.conv_transpose1d(ones(2, 3, 8), ones(3, 4, 3), ones(5)),
     "Given transposed=1, weight of size [3, 4, 3], expected bias to be 1-dimensional with 4 elements, but got bias of "
     "size [5] instead"),
    (lambda: F.conv2d(ones(2, 3, 8, 8), ones(4, 3, 9, 9)),
     "Calculated padded input size per channel: (8 x 8). Kernel size: (9 x 9). Kernel size can't be greater than actual "
     "input size"),
    (lambda: F.conv1d(ones(3, 8), ones(4, 3, 3, 3)),
     "Expected 3-dimensional weight for 3-dimensional input [1, 3, 8], but got 4-dimensional weight of size [4, 3, 3, 3] "
     "instead"),
    (lambda: F.conv1d(ones(3, 8), ones(4, 3, 3), stride=0), "non-positive stride is not supported"),
    (lambda: F.conv1d(ones(3, 8), ones(4, 3, 3), padding=-1), "negative padding is not supported"),
    (lambda: F.conv1d(ones(3, 8), ones(4, 3, 3), groups=0), "non-positive groups is not supported"),
    (lambda: F.conv1d(ones(3, 8), ones(4, 3, 3), padding="full"), "Invalid padding string: 'full'"),
    (lambda: F.conv1d(ones(3, 8), ones(4, 3, 3), padding="same", stride=2),
     "padding='same' is not supported for strided convolutions"),
    (lambda: F.conv2d(ones(3, 8, 8), ones(4, 3, 3, 3), stride=(1, 2, 3)),
     "expected stride to be a single integer value or a list of 2 values to match the convolution dimensions, but got "
     "stride=[1, 2, 3]"),
    (lambda: F.conv_transpose2d(ones(3, 8, 8), ones(3, 4, 3, 3), stride=2, output_padding=2),
     "output padding must be smaller than either stride or dilation, but got output_padding_height: 2 "
     "output_padding_width: 2 stride_height: 2 stride_width: 2 dilation_height: 1 dilation_width: 1"),
    (lambda: F.conv_transpose1d(ones(3, 2), ones(3, 4, 1), padding=3),
     "Given input size per channel: (2). Calculated output size per channel: (-4). Output size is too small"),
    (lambda: F.conv1d(ones(3, 8).double(), ones(4, 3, 3)), "expected scalar type Double but found Float"),
    (lambda: F.conv1d(ones(3, 8), ones(4, 3, 3), ones(4).double()),
     "Input type (float) and bias type (double) should be the same"),
    (lambda: F.unfold(ones(2, 0, 8, 8), 2),
     "Expected 3D or 4D (batch mode) tensor with possibly 0 batch size and other non-zero dimensions for input, but got: "
     "[2, 0, 8, 8]"),
    (lambda: F.unfold(ones(2, 3, 8, 8), 9),
     "Given input with spatial size (8, 8), kernel_size=(9, 9), dilation=(1, 1), padding=(0, 0), calculated shape of the "
     "array of sliding blocks as (0, 0), but its components must be at least one."),
    (lambda: F.unfold(ones(2, 3, 8, 8), 2, stride=0),
     "stride should be greater than zero, but got stride_height: 0 stride_width: 0"),
    (lambda: F.unfold(ones(2, 3, 8, 8), (2, 2, 2)), "It is expected kernel_size equals to 2, but got size 3"),
    (lambda: F.fold(ones(2, 2, 13, 16), (5, 5), 2),
     "Expected 2D or 3D (batch mode) tensor for input with possibly 0 batch size and non-zero dimensions for input, but "
     "got: [2, 2, 13, 16]"),
    (lambda: F.fold(ones(2, 13, 16), (5, 5), 2),
     "Expected size of input's dimension 1 to be divisible by the product of kernel_size, but got input.size(1)=13 and "
     "kernel_size=(2, 2)."),
    (lambda: F.fold(ones(2, 12, 15), (5, 5), 2),
     "Given output_size=(5, 5), kernel_size=(2, 2), dilation=(1, 1), padding=(0, 0), stride=(1, 1), expected size of "
     "input's dimension 2 to match the calculated number of sliding blocks 4 * 4 = 16, but got input.size(2)=15."),
]  # fmt: skip


@pytest.mark.parametrize(("call", "text"), MESSAGES, ids=[text[:40] for _, text in MESSAGES])
def test_wrong_arguments_are_refused_with_a_message(call, text):
    with pytest.raises(RuntimeError) as error:
        call()
    assert str(error.value) == text
