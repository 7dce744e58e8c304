"""Attention and distances: numbers worked by hand, rows that may look nowhere, distances of 0, messages."""

from __future__ import annotations

import math

import numpy as np
import pytest

import wengert
from wengert.nn import functional as F

attention = F.scaled_dot_product_attention
LN2 = math.log(2)


def leaf(values):
    return wengert.tensor(values, dtype=wengert.float64, requires_grad=True)


def f64(values):
    return wengert.tensor(values, dtype=wengert.float64)


def finite(x):
    return bool(np.isfinite(np.asarray(x)).all())


KEYS, VALUES = [[0.0], [LN2]], [[3.0], [6.0]]  # a query of 1 weighs them 1 : 2


def test_attention_is_a_weighted_mean_of_the_values():
    value = leaf(VALUES)
    y = attention(f64([[1.0]]), f64(KEYS), value)
    y.sum().backward()
    assert y.item() == pytest.approx(5.0) and value.grad.flatten().tolist() == pytest.approx([1 / 3, 2 / 3])
    assert attention(f64([[2.0]]), f64(KEYS), value, scale=0.5).item() == pytest.approx(5.0)


def test_masks():
    query = f64([[1.0], [1.0]])
    causal = attention(query, f64(KEYS), f64(VALUES), is_causal=True)
    bools = attention(query, f64(KEYS), f64(VALUES), wengert.tensor([[True, False], [True, True]]))
    numbers = attention(query, f64(KEYS), f64(VALUES), f64([[0.0, -math.inf], [0.0, 0.0]]))
    for y in (causal, bools, numbers):
        assert y.flatten().tolist() == pytest.approx([3.0, 5.0])
    added = attention(query[:1], f64(KEYS), f64(VALUES), f64([[LN2, 0.0]]))
    assert added.item() == pytest.approx(4.5)


@pytest.mark.parametrize("mask", [wengert.tensor([[False, False], [True, True]]), f64([[-math.inf] * 2, [0.0, 0.0]])])
def test_a_fully_masked_row_gets_zeros_and_no_gradient(mask):
    query, key, value = leaf([[1.0], [1.0]]), leaf(KEYS), leaf(VALUES)
    y = attention(query, key, value, mask)
    y.sum().backward()
    assert y.flatten().tolist() == pytest.approx([0.0, 5.0])
    assert query.grad[0].item() == 0.0 and finite(query.grad) and finite(key.grad)
    assert value.grad.flatten().tolist() == pytest.approx([1 / 3, 2 / 3])


def test_a_mask_of_numbers_has_a_gradient():
    mask = leaf([[0.0, 0.0]])
    attention(f64([[1.0]]), f64(KEYS), f64(VALUES), mask).backward(f64([[1.0]]))
    assert mask.grad.flatten().tolist() == pytest.approx([(3 - 5) / 3, (6 - 5) * 2 / 3])


def test_heads_of_keys_serve_several_heads_of_queries():
    query = wengert.ones(4, 1, 1, dtype=wengert.float64)
    value = f64([[[1.0]], [[2.0]]])
    assert attention(query, value, value, enable_gqa=True).flatten().tolist() == [1.0, 1.0, 2.0, 2.0]


def test_dropout_drops_weights_and_scales_the_rest():
    wengert.manual_seed(0)
    ones = wengert.ones(100, 1, dtype=wengert.float64)
    y = attention(ones, ones[:1], ones[:1], dropout_p=0.5)
    assert set(y.flatten().tolist()) == {0.0, 2.0}


def test_cdist():
    x, y = leaf([[0.0, 0.0], [6.0, 8.0]]), leaf([[0.0, 0.0]])
    far = wengert.cdist(x, y)
    assert far.tolist() == [[0.0], [10.0]] and far.grad_fn.name() == "CdistBackward0"
    far.sum().backward()
    assert x.grad[0].tolist() == [0.0, 0.0] and x.grad[1].tolist() == pytest.approx([0.6, 0.8])
    assert y.grad[0].tolist() == pytest.approx([-0.6, -0.8])
    assert wengert.cdist(x, y, p=1.0).tolist() == [[0.0], [14.0]]
    assert wengert.cdist(x, y, p=math.inf).tolist() == [[0.0], [8.0]]
    assert wengert.cdist(x, y, p=0.0).tolist() == [[0.0], [2.0]]


def test_the_second_derivative_is_finite_at_distance_0():
    x, y = leaf([[1.0, 2.0]]), leaf([[1.0, 2.0], [4.0, 6.0]])
    (g,) = wengert.autograd.grad(wengert.cdist(x, y).sum(), [x], create_graph=True)
    g.sum().backward()
    assert finite(x.grad) and finite(y.grad)


def test_pdist_and_pairwise_distance():
    x = leaf([[0.0], [1.0], [5.0]])
    far = F.pdist(x)
    assert far.tolist() == [1.0, 5.0, 4.0]
    far.backward(f64([1.0, 10.0, 100.0]))
    assert x.grad.tolist() == [[-11.0], [-99.0], [110.0]]
    assert F.pairwise_distance(f64([[3.0, 4.0]]), f64([[0.0, 0.0]]), eps=0.0).tolist() == [5.0]


def ones(*shape):
    return wengert.ones(*shape)


MESSAGES = [
    (lambda: attention(ones(5), ones(6), ones(6)),
     "Expected query, key, and value to all be  at least 2 dimensional, but got query.dim: 1 key.dim: 1 and value.dim: 1 "
     "instead."),
    (lambda: attention(ones(5, 8), ones(6, 8).double(), ones(6, 3)),
     "Expected query, key, and value to have the same dtype, but got query.dtype: float key.dtype: double and value.dtype: "
     "float instead."),
    (lambda: attention(ones(5, 8), ones(6, 8), ones(6, 3), ones(5, 6), is_causal=True),
     "_scaled_dot_product_attention: Explicit attn_mask should not be set when is_causal=True"),
    (lambda: attention(ones(5, 8), ones(6, 8), ones(6, 3), ones(5, 6).long()),
     "Expected attn_mask dtype to be bool or float or to match query dtype, but got attn_mask.dtype: long int and  "
     "query.dtype: float instead."),
    (lambda: attention(ones(4, 5, 8), ones(3, 6, 8), ones(3, 6, 3), enable_gqa=True),
     "Number of heads in key and value must divide the number of heads in "),
    (lambda: attention(ones(5, 8), ones(6, 8), ones(6, 3), dropout_p=1.5),
     "dropout probability has to be between 0 and 1, but got 1.5"),
    (lambda: wengert.cdist(ones(3, 4), ones(5, 3)), "X1 and X2 must have the same number of columns. X1: 4 X2: 3"),
    (lambda: wengert.cdist(ones(4), ones(5, 4)), "cdist only supports at least 2D tensors, X1 got: 1D"),
    (lambda: wengert.cdist(ones(3, 4), ones(5, 4), p=-1.0), "cdist only supports non-negative p values"),
    (lambda: wengert.cdist(ones(3, 4).long(), ones(5, 4)), "cdist only supports floating-point dtypes, X1 got: Long"),
    (lambda: wengert.cdist(ones(3, 4), ones(5, 4), compute_mode="foo"), "foo is not a valid value for compute_mode"),
    (lambda: F.pdist(ones(3)), "pdist only supports 2D tensors, got: 1D"),
    (lambda: F.pdist(ones(3, 4).long()), "pdist only supports floating-point dtypes"),
    (lambda: F.pdist(ones(3, 4), -1.0), "pdist only supports non-negative p values"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "text"), MESSAGES, ids=[text[:40] for _, text in MESSAGES])
def test_wrong_arguments_are_refused_with_a_message(call, text):
    with pytest.raises((RuntimeError, ValueError)) as error:
        call()
    assert str(error.value) == text
