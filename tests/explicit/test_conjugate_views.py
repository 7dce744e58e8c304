"""Conjugates and negations that are views: writes in both directions, gradients, and what refuses them."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

import wengert as torch

A = [[1 + 2j, 3 + 4j], [5 - 1j, 2j]]


def matrix(**settings):
    return torch.tensor(A, dtype=torch.complex128, **settings)


@pytest.mark.parametrize("view", ["conj", "mH", "H", "adjoint"])
def test_writes_show_in_both_directions(view):
    x = matrix()
    v = getattr(x, view) if view in ("mH", "H") else getattr(x, view)()
    assert v.is_conj()
    assert v._base is x
    assert v._is_view()
    assert v.data_ptr() == x.data_ptr()
    assert (v._version, x._version) == (0, 0)
    v[0, 1] = 7 + 8j
    place = (0, 1) if view == "conj" else (1, 0)
    assert x[place].item() == 7 - 8j
    assert (v._version, x._version) == (1, 1)
    x.mul_(2j)
    expected = np.array(x.tolist()).conj()
    assert v.tolist() == (expected if view == "conj" else expected.T).tolist()


def test_several_views_see_one_another():
    x = matrix()
    views = [x.conj(), x.mH, x.conj()[0], x.conj().T[1:], x.conj().real, x.conj().imag, x.conj().conj(), x.imag]
    for i, v in enumerate(views):
        v.mul_(2).add_(i)
        whole = np.array(x.tolist())
        wanted = [whole.conj(), whole.conj().T, whole.conj()[0], whole.conj().T[1:], whole.real, -whole.imag, whole, whole.imag]
        assert [seen.tolist() for seen in views] == [w.tolist() for w in wanted]


def test_marks():
    x = matrix()
    assert [x.conj().is_conj(), x.conj().conj().is_conj(), x.conj().resolve_conj().is_conj()] == [True, False, False]
    assert [x.conj().real.is_neg(), x.conj().imag.is_neg(), x.conj().imag.resolve_neg().is_neg()] == [False, True, False]
    assert not torch.ones(2).conj().is_conj()
    assert x.conj_physical()._base is None
    assert x.conj()[:, ::2].stride() == x[:, ::2].stride()
    assert x.conj().conj().data_ptr() == x.data_ptr()
    assert x.resolve_conj() is x
    assert (x.conj() * 1).is_conj() is False


def test_writes_that_are_not_counted_show_when_a_view_is_used():
    array = np.array(A)
    x = torch.from_numpy(array)
    v = x.conj()
    x.data.mul_(2)
    assert (v + 0).tolist() == (2 * np.array(A)).conj().tolist()
    array[0, 0] = 9j
    assert v[0, 0].item() == -9j
    assert v.tolist()[0][0] == -9j
    v[1, 1] = 4j  # leaves the other elements as NumPy wrote them
    assert array.tolist() == [[9j, 6 + 8j], [10 - 2j, -4j]]


def test_detached_views_and_data_write_through():
    x = matrix()
    v = x.conj()
    for same in (v.detach(), v.data):
        assert same.is_conj()
        same[0, 0] += 1j
    assert x[0, 0].item() == 1 + 0j
    assert v[0, 0].item() == 1


def test_gradients_through_writes():
    x = matrix(requires_grad=True)
    y = x * 1
    v = y.mH
    v[0].mul_(torch.tensor([1j, 2.0]))
    assert y.grad_fn.name() == "torch::autograd::CopySlices"
    weight = torch.tensor([[1.0, 2j], [3.0, 4j]])
    (y * weight).sum().real.backward()
    # y = [[-1j * x00, x01], [2 * x10, x11]]
    assert x.grad.tolist() == [[1j, -2j], [6, -4j]]
    z = x * 1
    z.conj().imag.zero_()
    assert z.tolist() == x.real.tolist()
    assert torch.autograd.grad(z.abs().sum(), x)[0].imag.abs().sum().item() == 0


def test_second_derivatives_through_writes():
    def f(x):
        y = x * 1
        y.conj()[0].mul_(x[1])
        return torch.view_as_real(y.mH.resolve_conj() ** 2)

    assert torch.autograd.gradcheck(f, (matrix(requires_grad=True),))
    assert torch.autograd.gradgradcheck(f, (matrix(requires_grad=True),))


def test_forward_mode_and_modes():
    x, t = matrix(), torch.tensor([[1.0, 1j], [2j, 1.0]], dtype=torch.complex128)

    def f(x):
        y = x * 1
        v = y.mH
        v.mul_(1j)
        return y

    out, tangent = torch.func.jvp(f, (x,), (t,))
    assert out.tolist() == (x * -1j).tolist()
    assert tangent.tolist() == (t * -1j).tolist()
    leaf = matrix(requires_grad=True)
    with pytest.raises(RuntimeError, match="a view of a leaf Variable that requires grad"):
        leaf.conj().mul_(2)
    with torch.no_grad():
        v = leaf.mH
        v.mul_(2)
    assert leaf.tolist() == (2 * np.array(A)).tolist()
    with torch.inference_mode():
        w = matrix() * 1
        w.conj()[0] = 5j
        assert w[0].tolist() == [-5j, -5j]


def test_other_libraries_do_not_take_the_memory_for_the_values():
    x = matrix()
    v = x.conj()
    with pytest.raises(RuntimeError, match=r"Can't call numpy\(\) on Tensor that has conjugate bit set. Use tensor.resolve_conj"):
        v.numpy()
    with pytest.raises(RuntimeError, match="negative bit set"):
        v.imag.numpy()
    assert v.numpy(force=True).tolist() == v.tolist()
    assert np.asarray(v).tolist() == v.tolist()
    assert not np.asarray(v).flags.writeable
    with pytest.raises(BufferError):
        v.__dlpack__()
    with pytest.raises(RuntimeError, match="view_as_real doesn't work on unresolved conjugated tensors"):
        torch.view_as_real(v)
    for copied in (copy.deepcopy(v), pickle.loads(pickle.dumps(v)), torch.nn.Parameter(v)):
        assert copied.tolist() == v.tolist()
        with torch.no_grad():
            copied.zero_()
    assert x.tolist() == A
    expanded = torch.ones(1, 2, dtype=torch.complex64).expand(3, 2).conj()
    with pytest.raises(RuntimeError, match="single memory location"):
        expanded.add_(1)
    assert "1.-2.j" in repr(v)


def test_a_gradient_that_is_a_conjugate_view_is_added_to():
    held = matrix()
    x = matrix(requires_grad=True)
    x.grad = held.conj()
    x.sum().real.backward()
    assert x.grad.tolist() == (np.array(A).conj() + 1).tolist()
    assert held.tolist() == (np.array(A) + 1).tolist()


def test_negation_in_place_of_strided_numbers():
    """NumPy 2.4's negative takes the wrong elements for these strides."""
    for dtype in (torch.float32, torch.float64, torch.int32, torch.int64):
        for columns in (2, 4, 8, 16):
            x = torch.arange(5 * columns, dtype=dtype).reshape(5, columns)
            x[:, 1].neg_()
            assert x[:, 1].tolist() == [-(columns * i + 1) for i in range(5)]


def test_as_strided_walks_the_memory_of_a_conjugate_with_its_axes_in_any_order():
    z = torch.arange(12).to(torch.complex128).reshape(2, 2, 3).permute(0, 2, 1)
    x = (z * (1 + 1j)).clone()  # the clone keeps the order of the axes
    assert x.stride() == (6, 1, 3)
    for y in (x, x.conj(), x.conj().resolve_conj()):
        assert y.as_strided((2, 3, 2), y.stride()).tolist() == y.tolist()
        assert y.as_strided((3,), (2,), 1).imag.abs().tolist() == [1, 3, 5]
