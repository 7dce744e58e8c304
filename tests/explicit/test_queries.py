"""Questions about tensors, tensors laid out by strides, names for layouts, and forms that write in place."""

from __future__ import annotations

import math

import numpy as np
import pytest

import wengert


def test_predicates_of_dtype_and_mode():
    x, z = wengert.ones(2, 3), wengert.ones(1) + 0j
    assert (wengert.is_complex(z), wengert.is_complex(x)) == (True, False)
    assert (wengert.is_floating_point(x), wengert.is_floating_point(z)) == (True, False)
    assert (wengert.is_signed(x), wengert.is_signed(x.byte())) == (True, False)
    assert (wengert.is_nonzero(wengert.tensor(2)), wengert.tensor([0.0]).is_nonzero()) == (True, False)
    assert wengert.is_conj(z.conj()) and not wengert.is_conj(z)
    assert not (z.is_neg() or wengert.is_inference(x) or x.is_pinned() or x.is_shared())
    assert x.get_device() == wengert.get_device(x) == -1
    assert x.is_set_to(x.view(2, 3)) and not x.is_set_to(x.t()) and not x.is_set_to(x.clone())
    assert wengert.is_same_size(x, x + 1) and not wengert.is_same_size(x, x.t())
    assert x.dim_order() == (0, 1) and x.t().dim_order() == (1, 0)
    with pytest.raises(RuntimeError, match="^Boolean value of Tensor with more than one value is ambiguous"):
        wengert.is_nonzero(x)
    with pytest.raises(TypeError, match=r"is_complex\(\)"):
        wengert.is_complex(1.0)


def test_detach_and_dense_forms_return_the_same_memory():
    x = wengert.ones(2, requires_grad=True)
    y = x * 2
    assert not wengert.detach(y).requires_grad and wengert.detach(y).data_ptr() == y.data_ptr()
    assert wengert.detach_(y) is y and y.is_leaf
    assert x.to_dense() is x and x.pin_memory() is x and x.share_memory_() is x
    assert x.to_dense(wengert.float64).dtype is wengert.float64
    assert x.is_cpu and not (x.is_cuda or x.is_sparse or x.is_nested) and x.name is None
    assert x.layout is wengert.strided and repr(wengert.channels_last) == "torch.channels_last"
    assert (wengert.pi, wengert.e, wengert.inf, wengert.newaxis) == (math.pi, math.e, math.inf, None) and math.isnan(wengert.nan)


def test_map2():
    x = wengert.tensor([1.0, 2.0])
    assert x.map2_(wengert.tensor([10.0]), wengert.tensor([3.0, 4.0]), lambda a, b, c: a + b * c) is x
    assert x.tolist() == [31.0, 42.0]
    with pytest.raises(RuntimeError, match=r"Can't call map2_\(\) on Variable that requires grad"):
        wengert.ones(1, requires_grad=True).map2_(x, x, max)


def test_tensors_with_given_strides():
    assert wengert.empty_strided((2, 3), (1, 2)).stride() == (1, 2)
    assert wengert.empty_permuted((2, 3, 4), (2, 0, 1)).stride() == (3, 1, 6)
    x = wengert.ones(1, dtype=wengert.float64).new_empty_strided((2, 2), (0, 1))
    assert x.dtype is wengert.float64 and x.stride() == (0, 1)
    for call, text in [
        (lambda: wengert.empty_strided((2, 3), (1,)), "dimensionality of sizes (2) must match dimensionality of strides (1)"),
        (lambda: wengert.empty_strided((2,), (-1,)), "Storage size calculation overflowed with sizes=[2] and strides=[-1]"),
        (lambda: wengert.empty_permuted((2, 3), (0, 0)),
         "Duplicate dim not allowed"),
        (lambda: wengert.gru(wengert.ones(1, 1, 1), wengert.ones(1, 1, 1), [], True, 1, 0.0, False, False, False),
         "got an incorrect number of RNN parameters: expected 4, got 0"),
        (lambda: wengert.rnn_tanh(wengert.ones(1), wengert.ones(1, 1, 1), [1] * 4, True, 1, 0.0, False, False, False),
         "Expected input to be 2D or 3D, got 1D instead"),
    ]:  # fmt: skip
        with pytest.raises(RuntimeError) as error:
            call()
        assert str(error.value) == text
    with pytest.raises(ValueError, match=r"^reduction has to be 0 \(none\), 1 \(mean\) or 2 \(sum\), but got 3$"):
        wengert.kl_div(wengert.ones(1), wengert.ones(1), 3)


def test_inplace_forms_of_composite_operations():
    x = wengert.ones(2, dtype=wengert.float64, requires_grad=True)
    y = x * 3
    assert y.float_power_(2) is y and y.tolist() == [9.0, 9.0]
    y.sum().backward()
    assert x.grad.tolist() == [18.0, 18.0]
    assert wengert.ones(2).polygamma_(1).numpy() == pytest.approx(np.full(2, math.pi**2 / 6))
    assert wengert.full((2, 2), 3.0).renorm_(2, 0, 1.0).norm(dim=1).numpy() == pytest.approx(np.ones(2))
    with pytest.raises(RuntimeError, match="can't be cast"):
        wengert.ones(2, dtype=wengert.int64).float_power_(2)
    z = wengert.tensor([1.0, 2.0])
    assert wengert.dropout_(z, 1.0, True) is z and z.tolist() == [0.0, 0.0]


def test_python_2s_division():
    x = wengert.tensor([4.0])
    assert x.__div__(2).item() == 2 and x.__rdiv__(2).item() == 0.5 and x.__idiv__(4) is x and x.item() == 1
    with pytest.raises(TypeError, match="^Tensor does not support deleting items$"):
        del x[0]


def test_an_unbatched_sequence():
    weights = [wengert.randn(6, 3), wengert.randn(6, 2)]
    x, h = wengert.randn(4, 1, 3), wengert.randn(1, 1, 2)
    batched = wengert.gru(x, h, weights, False, 1, 0.0, False, False, False)
    alone = wengert.gru(x[:, 0], h[:, 0], weights, False, 1, 0.0, False, False, False)
    for a, b in zip(batched, alone, strict=True):
        assert a[:, 0].allclose(b)
