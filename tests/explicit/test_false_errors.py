"""Calls that have a result, and were refused or failed once: layouts, empty sizes, dtypes, and `out=`."""

from __future__ import annotations

import numpy as np
import pytest

import wengert as torch
from wengert.nn import functional as F


@pytest.mark.parametrize("dim", [0, 1])
def test_joined_transposed_tensors_lie_in_rows(dim):
    a = torch.arange(6.0).reshape(2, 3).t()
    join = (torch.hstack, torch.vstack, torch.dstack, torch.column_stack)
    for joined in (torch.cat([a, a], dim), torch.stack([a, a], dim), *[function([a, a]) for function in join]):
        assert joined.is_contiguous()
        joined.view(-1)
    assert torch.cat([a, a]).view(-1).tolist() == [0, 3, 1, 4, 2, 5] * 2


def test_a_view_outlives_a_base_squeezed_to_no_dimensions():
    x = torch.ones(1, 1, requires_grad=True)
    base = x * 2
    view = base[0]
    base.squeeze_()
    base.mul_(3)
    view.sum().backward()
    assert x.grad.tolist() == [[6]]


def test_layers_of_no_rows_and_no_features():
    x = torch.zeros(2, 3, 0, requires_grad=True)
    out = F.linear(x, torch.zeros(4, 0), torch.ones(4))
    assert out.tolist() == [[[1] * 4] * 3] * 2
    out.sum().backward()
    assert x.grad.shape == (2, 3, 0)
    x, weight = torch.zeros(0, 2, 5, requires_grad=True), torch.ones(3, 2, 2, requires_grad=True)
    out = F.conv1d(x, weight, stride=2)
    assert out.shape == (0, 3, 2)
    out.sum().backward()
    assert x.grad.shape == (0, 2, 5)
    assert weight.grad.tolist() == [[[0, 0], [0, 0]]] * 3


def test_empty_diagonals_and_combinations():
    x = torch.ones(1, 1, requires_grad=True)
    y = x * 1
    y.diagonal(1).mul_(2)
    y.sum().backward()
    assert x.grad.tolist() == [[1]]
    assert torch.combinations(torch.arange(3), 0).shape == (0,)
    assert torch.combinations(torch.arange(3), 0).dtype is torch.int64


def test_a_number_too_large_for_a_half_is_an_infinity_when_it_is_assigned():
    x = torch.zeros(3, dtype=torch.float16)
    x[torch.tensor([True, False, True])] = -1e9
    assert x.tolist() == [-np.inf, 0, -np.inf]
    x[1:] = 1e9
    assert x.tolist() == [-np.inf, np.inf, np.inf]
    for refused in (lambda: x.fill_(1e9), lambda: x.masked_fill(x > 0, 1e9), lambda: torch.zeros(2)[0:1].fill_(1e300)):
        with pytest.raises(RuntimeError, match="without overflow"):
            refused()


def test_out_of_what_has_no_derivative_takes_inputs_that_require_grad():
    x = torch.ones(2, requires_grad=True)
    for compare in (torch.eq, torch.ne, torch.lt, torch.le, torch.gt, torch.ge):
        out = torch.zeros(2, dtype=torch.bool)
        assert compare(x, x, out=out) is out
        assert out.tolist() == compare(x, x).tolist()
    assert torch.argmax(x, out=torch.zeros((), dtype=torch.int64)).item() == 0
    for refused in (lambda: torch.exp(x, out=torch.zeros(2)), lambda: torch.sort(x, out=(torch.zeros(2), torch.zeros(2).long()))):
        with pytest.raises(RuntimeError, match="functions with out=... arguments don't support automatic differentiation"):
            refused()
    with pytest.raises(RuntimeError, match="functions with out="):
        torch.exp(torch.ones(2), out=x)


def test_float_power_takes_numpy_numbers():
    for exponent in (np.int64(3), np.int32(3), np.float32(3)):
        assert torch.float_power(torch.tensor([1.0, 2.0]), exponent).tolist() == [1, 8]
        assert torch.float_power(exponent, torch.tensor([1, 2])).tolist() == [3, 9]


def test_nan_to_num_of_complex_parts():
    x = torch.tensor([complex(np.nan, 1), complex(np.inf, np.nan), 2 + 1j], dtype=torch.complex128, requires_grad=True)
    out = torch.nan_to_num(x, 7.0, 8.0, 9.0)
    assert out.tolist() == [7 + 1j, 8 + 7j, 2 + 1j]
    out.backward(torch.tensor([1 + 2j, 3 + 4j, 5 + 6j], dtype=torch.complex128))
    assert x.grad.tolist() == [2j, 0, 5 + 6j]


def test_fill_diagonal_and_as_strided_of_windows():
    x = torch.zeros(5)
    x.unfold(0, 2, 1).fill_diagonal_(1)
    assert x.tolist() == [1, 0, 1, 0, 0]
    windows = torch.arange(5.0).unfold(0, 2, 1)
    assert windows.as_strided((5,), (1,)).tolist() == [0, 1, 2, 3, 4]
    assert windows[1:].storage_offset() == 1
    cube = torch.zeros(2, 2, 2).fill_diagonal_(3)
    assert cube.tolist() == [[[3, 0], [0, 0]], [[0, 0], [0, 3]]]


@pytest.mark.parametrize("shape", [(3,), (2, 1), ()])
def test_a_graph_outlives_a_leaf_whose_data_gets_another_shape(shape):
    x = torch.ones(2, requires_grad=True)
    y = (x * 3).sum()
    x.data = torch.ones(shape)
    assert torch.autograd.grad(y, x, retain_graph=True)[0].tolist() == [3, 3]
    y.backward()
    assert x.grad.tolist() == [3, 3]
    x.grad = None
    (x * 4).sum().backward()
    assert x.grad.tolist() == torch.full(shape, 4.0).tolist()


def test_more_empty_sizes():
    x, y = torch.zeros(0, requires_grad=True), torch.zeros(0, 3, requires_grad=True)
    torch.cat([x, y]).sum().backward()
    assert (x.grad.shape, y.grad.shape) == ((0,), (0, 3))
    assert F.adaptive_max_pool2d(torch.zeros(0, 2, 4, 6), 2).shape == (0, 2, 2, 2)
    assert torch.linalg.cond(torch.zeros(2, 0, 0)).tolist() == [0, 0]
    assert torch.svd(torch.zeros(3, 0), compute_uv=False).U.tolist() == [[0] * 3] * 3


def test_writes_of_nothing_look_at_no_index():
    """The shapes of an empty index are not looked at by scatter, nor the numbers of an index into a tensor without elements."""
    for index, shape in (((2, 0), (0, 4)), ((0,), (3, 4)), ((2, 0), (2,))):
        x, src = torch.zeros(0, 4, requires_grad=True), torch.ones(shape, requires_grad=True)
        for name, more in (("scatter", ()), ("scatter_add", ()), ("scatter_reduce", ("sum",))):
            found = getattr(x, name)(0, torch.zeros(index, dtype=torch.int64), src, *more)
            gradients = torch.autograd.grad(found.sum(), (x, src))
            assert found.shape == (0, 4) and gradients[1].tolist() == torch.zeros(shape).tolist()
    x, index = torch.zeros(0, 4, requires_grad=True), torch.tensor([7, -9])
    source = torch.ones(2, 4, requires_grad=True)
    added = x.index_add(0, index, source)
    assert added.shape == (0, 4) and torch.autograd.grad(added.sum(), source)[0].tolist() == [[0] * 4] * 2
    assert x.index_copy(1, index, torch.ones(0, 2)).shape == x.index_fill(1, index, 1).shape == (0, 4)
    with pytest.raises(IndexError):
        x.index_fill(0, index, 1)
    with pytest.raises(IndexError):
        torch.zeros(0).index_add(0, index, torch.ones(2))


def test_linear_of_an_empty_batch_and_a_vector_of_weights():
    x, w = torch.zeros(2, 2, 0, requires_grad=True), torch.zeros(0, requires_grad=True)
    F.linear(x, w).sum().backward()
    assert (x.grad.shape, w.grad.shape) == ((2, 2, 0), (0,))


def test_an_index_beyond_64_bits_is_out_of_range_for_writes_too():
    x = torch.ones(2)
    with pytest.raises(IndexError):
        x[2**63] = 1.0
    assert x.tolist() == [1, 1]


@pytest.mark.parametrize("name", ["allclose", "equal"])
def test_a_truth_value_cannot_be_written_into_out(name):
    x = torch.ones(2)
    with pytest.raises(TypeError, match=f"^{name}\\(\\) got an unexpected keyword argument 'out'"):
        getattr(torch, name)(x, x, out=torch.zeros(2))
