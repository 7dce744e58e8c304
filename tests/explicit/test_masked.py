"""wengert.masked, by hand: what is masked takes no part, and what that makes of nothing."""

from __future__ import annotations

from math import inf, isnan

import pytest

import wengert
from wengert import masked

X = [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]
MASK = wengert.tensor([[True, False, True], [False, False, False]])


def test_reductions_of_some_and_of_nothing():
    x = wengert.tensor(X)
    assert masked.sum(x, 1, mask=MASK).tolist() == [4.0, 0.0]
    assert masked.prod(x, 1, mask=MASK).tolist() == [3.0, 1.0]
    assert masked.amax(x, 1, mask=MASK).tolist() == [3.0, -inf]
    assert masked.amin(x, 1, mask=MASK).tolist() == [1.0, inf]
    mean = masked.mean(x, 1, mask=MASK).tolist()
    assert mean[0] == 2.0 and isnan(mean[1])
    assert masked.sum(wengert.tensor([[1, 2]]), 1, mask=wengert.tensor([False, True])).tolist() == [2]


def test_gradients_do_not_reach_masked_elements():
    x = wengert.tensor([[1.0, inf, 3.0]], requires_grad=True)
    masked.softmax(x, 1, mask=wengert.tensor([[True, False, True]]))[0, 0].backward()
    assert x.grad[0, 1].item() == 0.0 and abs(x.grad[0, 0].item() - 0.104994) < 1e-6


def test_var_of_a_row_with_nothing_in_it_leaves_the_gradient_finite():
    x = wengert.tensor(X, requires_grad=True)
    masked.var(x, 1, mask=MASK)[0].backward()
    assert x.grad.tolist() == [[-2.0, 0.0, 2.0], [0.0, 0.0, 0.0]]


@pytest.mark.parametrize(("call", "kind", "text"), [
    (lambda x: masked.sum(x, 1, mask=wengert.ones(2, 2, 3).bool()), IndexError,
     "_input_mask expected broadcastable mask (got mask dimensionality higher than of the input)"),
    (lambda x: masked.mean(x.long(), 1), ValueError,
     "mean(): Could not infer output dtype. Input dtype must be either a floating point or complex dtype. Got: torch.int64"),
    (lambda x: masked.median(x.long(), 1, mask=MASK), ValueError,
     "masked median expects no fully masked out rows if dtype is not floating point"),
    (lambda x: masked.var(x, 1, True, correction=0), TypeError, "Only one of unbiased and correction may be given"),
    (lambda x: masked.amax(x + 0j, 1, mask=MASK), TypeError,
     "torch.iinfo() requires an integer input type. Use torch.finfo to handle 'torch.complex64'"),
])  # fmt: skip
def test_errors(call, kind, text):
    with pytest.raises(kind) as error:
        call(wengert.tensor(X))
    assert str(error.value) == text


def test_out_of_composite_operations():
    x, out = wengert.tensor(X), wengert.empty(0)
    assert masked.sum(x, 1, out=out) is out and out.tolist() == [6.0, 15.0]
    values, indices = wengert.empty(0), wengert.empty(0, dtype=wengert.int64)
    assert wengert.max(x, 1, out=(values, indices))[0] is values and values.tolist() == [3.0, 6.0]
    with pytest.raises(RuntimeError, match="masked_sum.*don't support automatic differentiation"):
        masked.sum(wengert.tensor(X, requires_grad=True), 1, out=out)
