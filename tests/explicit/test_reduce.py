"""Reductions, scans and softmax: numbers worked by hand, ties, kinks, NaN, empty tensors, messages."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

import wengert
from wengert import return_types

inf, nan = float("inf"), float("nan")


def leaf(values, dtype=wengert.float64):
    return wengert.tensor(values, dtype=dtype, requires_grad=True)


def gradient(function, values, dtype=wengert.float64):
    """The gradient of the sum of function(x), as a list."""
    x = leaf(values, dtype)
    function(x).sum().backward()
    return x.grad.tolist()


def second(function, values):
    """Gradient of the sum of weight * gradient, with weights 1, 2, 3...: the product of the Hessian and the weights."""
    x = leaf(values)
    (g,) = wengert.autograd.grad(function(x).sum(), x, create_graph=True)
    (g * wengert.arange(1.0, g.numel() + 1, dtype=wengert.float64)).sum().backward()
    return x.grad.tolist()


# -- sums and products -------------------------------------------------------------------------------------------------


def test_sum_over_dims():
    x = leaf([[1.0, 2.0], [3.0, 4.0]])
    assert x.sum().item() == 10.0
    assert x.sum(0).tolist() == [4.0, 6.0] and x.sum(-1, keepdim=True).tolist() == [[3.0], [7.0]]
    assert x.sum((0, 1)).tolist() == 10.0 and x.sum(()).tolist() == 10.0
    (x.sum(0) * wengert.tensor([10.0, 100.0], dtype=wengert.float64)).sum().backward()
    assert x.grad.tolist() == [[10.0, 100.0], [10.0, 100.0]]


def test_node_names_tell_a_full_reduction_from_a_partial_one():
    x = leaf([[1.0, 2.0]])
    names = [t.grad_fn.name() for t in (x.sum(), x.sum(0), x.mean(), x.mean(0), x.prod(), x.prod(0))]
    assert names == ["SumBackward0", "SumBackward1", "MeanBackward0", "MeanBackward1", "ProdBackward0", "ProdBackward1"]


def test_sums_of_integers_and_bools_are_int64():
    for dtype in (wengert.bool, wengert.uint8, wengert.int32, wengert.int64):
        x = wengert.tensor([1, 1], dtype=dtype)
        assert x.sum().dtype is wengert.int64 and x.prod().dtype is wengert.int64 and x.cumsum(0).dtype is wengert.int64
    assert wengert.tensor([200, 100], dtype=wengert.uint8).sum().item() == 300


def test_dtype_casts_first_and_gradients_come_back_in_the_inputs_dtype():
    x = leaf([1.5, 2.5], wengert.float32)
    total = x.sum(dtype=wengert.float64)
    assert total.dtype is wengert.float64
    total.backward()
    assert x.grad.dtype is wengert.float32
    assert wengert.tensor([1.5, 2.5]).sum(dtype=wengert.int64).item() == 3
    assert wengert.tensor([1, 2]).sum(dtype=wengert.int32).dtype is wengert.int32


def test_half_sums_are_made_in_float32():
    x = wengert.ones(5000, dtype=wengert.float16)
    assert x.sum().item() == 5000.0, "half alone stops at 2048"


def test_numpys_spellings():
    x = leaf([[1.0, 2.0]])
    assert x.sum(axis=0, keepdims=True).tolist() == [[1.0, 2.0]]


def test_mean_and_its_gradient():
    assert gradient(lambda x: x.mean(), [1.0, 2.0, 3.0, 6.0]) == [0.25] * 4
    assert gradient(lambda x: x.mean(0), [[1.0, 2.0], [3.0, 6.0]]) == [[0.5, 0.5], [0.5, 0.5]]
    with pytest.raises(RuntimeError, match=r"mean\(\): could not infer output dtype"):
        wengert.tensor([1, 2]).mean()
    assert wengert.tensor([1, 2]).mean(dtype=wengert.float64).item() == 1.5


def test_nansum_skips_nan_in_both_directions():
    x = leaf([1.0, nan, 3.0])
    x.nansum().backward()
    assert x.nansum().item() == 4.0 and x.grad.tolist() == [1.0, 0.0, 1.0]


def test_prod_gradient_is_the_product_of_the_others():
    assert gradient(lambda x: x.prod(), [2.0, 3.0, 4.0]) == [12.0, 8.0, 6.0]


def test_prod_gradient_with_zeros():
    assert gradient(lambda x: x.prod(), [0.0, 3.0, 4.0]) == [12.0, 0.0, 0.0]
    assert gradient(lambda x: x.prod(), [0.0, 0.0, 4.0]) == [0.0, 0.0, 0.0]
    assert gradient(lambda x: x.prod(0), [[0.0, 2.0], [5.0, 3.0]]) == [[5.0, 3.0], [0.0, 2.0]]


def test_prod_second_derivative_with_zeros():
    # f = abc, Hessian rows (0 c b) (c 0 a) (b a 0), times (1 2 3).
    assert second(lambda x: x.prod(), [0.0, 3.0, 4.0]) == [2 * 4 + 3 * 3, 1 * 4 + 0, 1 * 3 + 0]
    assert second(lambda x: x.prod(), [0.0, 0.0, 4.0]) == [8.0, 4.0, 0.0]


def test_empty_reductions():
    e = wengert.zeros(0, 3)
    assert e.sum().item() == 0.0 and e.sum(0).tolist() == [0.0] * 3 and e.prod(0).tolist() == [1.0] * 3
    assert np.isnan(e.mean().item()) and e.all().item() is True and e.any().item() is False
    assert e.logsumexp(0).tolist() == [-inf] * 3 and e.softmax(0).shape == (0, 3)


def test_all_and_any():
    x = wengert.tensor([[0.0, 1.0], [nan, 2.0]])
    assert x.all().item() is False and x.any(1).tolist() == [True, True] and x.all(1).tolist() == [False, True]
    assert x.all(()).tolist() == [[False, True], [True, True]], "an empty tuple reduces nothing here"
    assert wengert.tensor([1, 0], dtype=wengert.uint8).all().dtype is wengert.uint8


# -- extrema -----------------------------------------------------------------------------------------------------------


def test_ties_share_the_gradient_or_the_first_takes_it():
    values = [3.0, 1.0, 3.0]
    assert gradient(lambda x: x.max(), values) == [0.5, 0.0, 0.5]
    assert gradient(lambda x: x.amax(), values) == [0.5, 0.0, 0.5]
    assert gradient(lambda x: x.amax(0), values) == [0.5, 0.0, 0.5]
    assert gradient(lambda x: x.max(0).values, values) == [1.0, 0.0, 0.0]
    assert gradient(lambda x: -x.min(), [1.0, 1.0, 2.0]) == [-0.5, -0.5, 0.0]
    assert gradient(lambda x: x.aminmax().max + x.aminmax().min, [1.0, 1.0, 2.0]) == [0.5, 0.5, 1.0]


def test_nan_counts_as_the_extreme():
    x = wengert.tensor([1.0, nan, 3.0, nan])
    assert np.isnan(x.max().item()) and np.isnan(x.amin().item())
    assert x.max(0).indices.item() == 1 and x.min(0).indices.item() == 1 and x.argmax().item() == 1
    assert gradient(lambda x: x.max(), [1.0, nan, 3.0, nan]) == [0.0, 0.5, 0.0, 0.5]


def test_max_takes_a_dim_or_another_tensor():
    x, y = wengert.tensor([[1.0, 5.0], [4.0, 2.0]]), wengert.tensor([3.0, 3.0])
    assert x.max(1).values.tolist() == [5.0, 4.0] and x.max(dim=1, keepdim=True).indices.tolist() == [[1], [0]]
    assert wengert.max(x, y).tolist() == [[3.0, 5.0], [4.0, 3.0]] and wengert.min(x, other=y).tolist() == [
        [1.0, 3.0],
        [3.0, 2.0],
    ]
    with pytest.raises(TypeError, match=r"max\(\): argument 'dim' \(position 2\) must be int, or a Tensor, not tuple"):
        x.max((0, 1))


def test_named_results_print_as_in_torch_and_unpack():
    result = wengert.tensor([[1.0, 5.0], [4.0, 2.0]]).max(1)
    assert repr(result) == "torch.return_types.max(\nvalues=tensor([5., 4.]),\nindices=tensor([1, 0]))"
    values, indices = result
    assert values is result.values is result[0] and indices is result.indices and isinstance(result, tuple)
    assert result.n_fields == 2
    assert isinstance(pickle.loads(pickle.dumps(return_types.sort([1, 2]))), return_types.sort)
    assert copy.copy(return_types.sort([1, 2])).indices == 2
    with pytest.raises(TypeError, match="takes 2 results, not 3"):
        return_types.max([1, 2, 3])


def test_nothing_to_choose_from():
    e = wengert.zeros(0, 3)
    with pytest.raises(RuntimeError, match=r"max\(\): Expected reduction dim to be specified for input.numel\(\) == 0"):
        e.max()
    with pytest.raises(IndexError, match=r"amax\(\): Expected reduction dim 0 to have non-zero size"):
        e.amax(0)
    with pytest.raises(
        IndexError, match=r"argmax\(\): Expected reduction dim to be specified for input.numel\(\) == 0."
    ):
        e.argmax()
    assert e.max(1).values.shape == (0,) and e.amin(1).shape == (0,)


def test_arg_reductions():
    x = wengert.tensor([[1, 7, 7], [9, 2, 3]])
    assert (
        x.argmax().item() == 3 and x.argmax(1).tolist() == [1, 0] and x.argmin(0, keepdim=True).tolist() == [[0, 1, 1]]
    )
    assert x.argmax(keepdim=True).tolist() == [[3]] and x.argmax().dtype is wengert.int64
    with pytest.raises(RuntimeError, match=r"argmax\(\): does not support bool input"):
        wengert.tensor([True]).argmax()


def test_median_is_the_lower_one():
    assert wengert.tensor([4.0, 1.0, 3.0, 2.0]).median().item() == 2.0
    values, indices = wengert.tensor([[1.0, 2.0, 2.0, 3.0], [3.0, 2.0, 1.0, 3.0]]).median(1)
    assert values.tolist() == [2.0, 2.0] and indices.tolist() == [1, 1]
    assert gradient(lambda x: x.median(), [1.0, 2.0, 2.0, 2.0, 3.0]) == pytest.approx([0, 1 / 3, 1 / 3, 1 / 3, 0])
    assert gradient(lambda x: x.median(0).values, [1.0, 2.0, 2.0, 2.0, 3.0]) == [0.0, 0.0, 1.0, 0.0, 0.0]


def test_median_and_nan():
    x = wengert.tensor([1.0, nan, 2.0, nan, 3.0])
    assert np.isnan(x.median().item()) and x.median(0).indices.item() == 1
    assert x.nanmedian().item() == 2.0 and x.nanmedian(0).indices.item() == 2
    assert gradient(lambda x: x.median(), [1.0, nan, 2.0, nan, 3.0]) == [0.0, 0.5, 0.0, 0.5, 0.0]


# -- scans -------------------------------------------------------------------------------------------------------------


def test_cumsum():
    x = leaf([1.0, 2.0, 3.0])
    y = x.cumsum(0)
    assert y.tolist() == [1.0, 3.0, 6.0]
    y.backward(wengert.tensor([1.0, 10.0, 100.0], dtype=wengert.float64))
    assert x.grad.tolist() == [111.0, 110.0, 100.0]


def test_cumprod_with_and_without_zeros():
    # y = (a, ab, abc), so the gradient of the sum is (1 + b + bc, a + ac, ab).
    assert gradient(lambda x: x.cumprod(0), [2.0, 3.0, 4.0]) == [1 + 3 + 12, 2 + 8, 6]
    assert gradient(lambda x: x.cumprod(0), [2.0, 0.0, 4.0]) == [1 + 0 + 0, 2 + 8, 0]
    assert gradient(lambda x: x.cumprod(0), [0.0, 0.0, 4.0]) == [1.0, 0.0, 0.0]
    # Of that: rows (0, 1 + c, b), (1 + c, 0, a), (b, a, 0), times (1 2 3).
    assert second(lambda x: x.cumprod(0), [2.0, 0.0, 4.0]) == [2 * 5 + 3 * 0, 5 + 3 * 2, 0 + 2 * 2]


def test_long_float32_sums_keep_their_digits():
    x = wengert.full((100_000,), 0.1)
    assert x.cumsum(0)[-1].item() == pytest.approx(10_000.0, rel=1e-6)


# -- moments and norms -------------------------------------------------------------------------------------------------


def test_variance_and_deviation():
    x = wengert.tensor([1.0, 2.0, 3.0, 6.0])  # squares about the mean 3: 4 + 1 + 0 + 9
    assert (
        x.var().item() == pytest.approx(14 / 3)
        and x.var(unbiased=False).item() == 3.5
        and x.var(correction=2).item() == 7.0
    )
    assert x.std(False).item() == pytest.approx(3.5**0.5)
    assert [t.item() for t in wengert.var_mean(x, correction=0)] == [3.5, 3.0]
    assert gradient(lambda x: x.var(unbiased=False), [1.0, 2.0, 3.0, 6.0]) == [-1.0, -0.5, 0.0, 1.5]


def test_deviation_of_equal_elements_has_gradient_zero():
    assert gradient(lambda x: x.std(), [2.0, 2.0, 2.0]) == [0.0, 0.0, 0.0]
    for value in (0.1, 1 / 3, 1e8 + 1):
        assert wengert.full((1001,), value, dtype=wengert.float32).var().item() == 0.0


def test_variance_of_one_element():
    x = leaf([2.0])
    assert np.isnan(x.var().item()) and x.var(unbiased=False).item() == 0.0
    x.var().backward()
    assert np.isnan(x.grad.item())
    assert wengert.tensor([1.0, 3.0]).var(correction=5).item() == inf


def test_variance_refuses_integers_and_two_corrections():
    with pytest.raises(RuntimeError, match="std and var only support floating point and complex dtypes"):
        wengert.tensor([1, 2]).std()
    with pytest.raises(TypeError, match=r"std\(\) got multiple values for argument 'correction'"):
        wengert.tensor([1.0]).std(0, unbiased=True, correction=1)


def test_norms():
    x = wengert.tensor([[3.0, -4.0]])
    assert (
        x.norm().item() == 5.0 and x.norm(1).item() == 7.0 and x.norm(inf).item() == 4.0 and x.norm(-inf).item() == 3.0
    )
    assert (
        x.norm(0).item() == 2.0 and x.norm(2, 1).tolist() == [5.0] and wengert.norm(x, "fro", dim=(0, 1)).item() == 5.0
    )
    assert wengert.norm(x, dtype=wengert.float64).dtype is wengert.float64


def test_norm_gradients():
    assert gradient(lambda x: x.norm(), [3.0, -4.0]) == pytest.approx([0.6, -0.8])
    assert gradient(lambda x: x.norm(1), [3.0, -4.0, 0.0]) == [1.0, -1.0, 0.0]
    assert gradient(lambda x: x.norm(inf), [4.0, 1.0, -4.0]) == [0.5, 0.0, -0.5]
    assert gradient(lambda x: x.norm(3), [1.0, 0.0]) == [1.0, 0.0]


@pytest.mark.parametrize("p", [0, 0.5, 1, 1.5, 2, 3, inf, -inf, -1, "fro"])
def test_norm_at_zero_has_gradient_zero(p):
    assert gradient(lambda x: wengert.norm(x, p), [0.0, 0.0]) == [0.0, 0.0]
    if p not in (0, 1, inf, -inf):
        assert second(lambda x: wengert.norm(x, p), [0.0, 0.0]) == [0.0, 0.0]


def test_norm_messages():
    with pytest.raises(
        RuntimeError, match=r"linalg.vector_norm: Expected a floating point or complex tensor as input. Got Long"
    ):
        wengert.tensor([1]).norm()
    with pytest.raises(
        RuntimeError,
        match="cannot compute the inf norm on an empty tensor because the operation does not have an identity",
    ):
        wengert.zeros(0).norm(inf)
    with pytest.raises(RuntimeError, match="Order foo not supported"):
        wengert.ones(2).norm("foo")


# -- softmax -----------------------------------------------------------------------------------------------------------


def test_softmax_and_its_gradient():
    x = leaf([0.0, 0.0])
    y = x.softmax(0)
    assert y.tolist() == [0.5, 0.5]
    y[0].backward()
    assert x.grad.tolist() == [0.25, -0.25]
    assert gradient(lambda x: x.log_softmax(0)[0], [0.0, 0.0]) == [0.5, -0.5]


def test_softmax_of_large_and_infinite_numbers():
    assert wengert.tensor([1000.0, 1000.0]).softmax(0).tolist() == [0.5, 0.5]
    assert wengert.tensor([-inf, 1.0]).log_softmax(0).tolist() == [-inf, 0.0]
    assert wengert.tensor([1000.0, 0.0]).log_softmax(0).tolist() == [0.0, -1000.0]


def test_logsumexp_of_large_and_infinite_numbers():
    assert wengert.tensor([1000.0, 1000.0], dtype=wengert.float64).logsumexp(0).item() == pytest.approx(
        1000 + np.log(2)
    )
    assert (
        wengert.tensor([inf, 1.0]).logsumexp(0).item() == inf
        and wengert.tensor([-inf, -inf]).logsumexp(0).item() == -inf
    )
    assert gradient(lambda x: x.logsumexp(0), [-inf, 1.0]) == [0.0, 1.0]
    assert wengert.tensor([0, 0]).logsumexp(0).item() == pytest.approx(np.log(2))


def test_softmax_without_dim_warns_and_chooses_as_torch():
    with pytest.warns(UserWarning, match="Implicit dimension choice for softmax has been deprecated"):
        y = wengert.nn.functional.softmax(wengert.zeros(2, 4))
    assert y.tolist() == [[0.25] * 4] * 2
    with pytest.raises(RuntimeError, match="\"softmax_kernel_impl\" not implemented for 'Long'"):
        wengert.tensor([1, 2]).softmax(0)
    assert wengert.tensor([1, 1]).softmax(0, wengert.float64).tolist() == [0.5, 0.5]


# -- dims --------------------------------------------------------------------------------------------------------------


def test_zero_dim_tensors_have_dim_0_and_minus_1():
    s = leaf(2.0)
    assert [s.sum(0).item(), s.mean(-1).item(), s.max(0).values.item(), s.cumsum(0).item(), s.softmax(0).item()] == [
        2,
        2,
        2,
        2,
        1,
    ]
    assert s.max(0).indices.item() == 0 and s.argmax(-1).item() == 0
    s.median(0).values.backward()
    assert s.grad.item() == 1.0


def test_dims_out_of_range_and_named_twice():
    x = wengert.ones(2, 3)
    with pytest.raises(IndexError, match=r"Dimension out of range \(expected to be in range of \[-2, 1\], but got 2\)"):
        x.sum(2)
    with pytest.raises(IndexError, match=r"\[-1, 0\], but got 1"):
        wengert.tensor(1.0).sum(1)
    with pytest.raises(RuntimeError, match="dim 0 appears multiple times in the list of dims"):
        x.sum((0, -2))
