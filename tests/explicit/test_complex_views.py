"""Complex numbers seen as pairs of reals, and pairs as complex numbers, in one memory."""

from __future__ import annotations

import pytest

import wengert
from wengert.autograd import gradcheck, gradgradcheck


def test_both_look_into_the_same_memory():
    z = wengert.tensor([1 + 2j, 3 - 1j])
    pairs = wengert.view_as_real(z)
    assert pairs.tolist() == [[1, 2], [3, -1]] and pairs._base is z
    pairs[0, 1] = 5.0
    assert z[0].item() == 1 + 5j and z._version == pairs._version == 1
    back = wengert.view_as_complex(pairs)
    assert back.tolist() == [1 + 5j, 3 - 1j]


def test_the_view_of_a_transposed_tensor():
    z = wengert.tensor([[1 + 1j, 2 + 2j], [3 + 3j, 4 + 4j]]).T
    assert wengert.view_as_real(z).tolist() == [[[1, 1], [3, 3]], [[2, 2], [4, 4]]]


def test_derivatives():
    z = wengert.tensor([1 + 2j, 3 - 1j], dtype=wengert.complex128, requires_grad=True)
    wengert.view_as_real(z).backward(wengert.tensor([[1.0, 2.0], [3.0, 4.0]], dtype=wengert.float64))
    assert z.grad.tolist() == [1 + 2j, 3 + 4j]
    for function in (lambda z: wengert.view_as_real(z * z), lambda z: wengert.view_as_complex(wengert.view_as_real(z) * 2) ** 2):
        assert gradcheck(function, (z,)) and gradgradcheck(function, (z,))


def test_a_write_into_the_view_is_seen_by_the_graph():
    z = wengert.tensor([1 + 2j, 3 - 1j], requires_grad=True)
    w = z * 2
    wengert.view_as_real(w)[:, 0].zero_()
    w.abs().sum().backward()
    assert z.grad.tolist() == pytest.approx([2j, -2j])


@pytest.mark.parametrize(("call", "text"), [
    (lambda: wengert.view_as_real(wengert.ones(2)), "view_as_real is only supported for complex tensors"),
    (lambda: wengert.view_as_complex(wengert.arange(2)),
     "view_as_complex is only supported for half, float and double tensors, but got a tensor of scalar type: Long"),
    (lambda: wengert.view_as_complex(wengert.tensor(1.0)), "Input tensor must have one or more dimensions"),
    (lambda: wengert.view_as_complex(wengert.ones(3)), "Tensor must have a last dimension of size 2"),
    (lambda: wengert.view_as_complex(wengert.ones(2, 3).T), "Tensor must have a last dimension with stride 1"),
    (lambda: wengert.view_as_complex(wengert.ones(2, 3)[:, :2]), "Tensor must have a stride divisible by 2 for all but last dimension"),
])  # fmt: skip
def test_wrong_calls_are_refused_with_a_message(call, text):
    with pytest.raises(RuntimeError) as error:
        call()
    assert str(error.value) == text
