"""Dtypes and arguments that operations refuse: in torch's words, under the names that users call them by."""

from __future__ import annotations

import pytest

import wengert
from wengert.errors import WengertError

f, i, c = wengert.ones(3), wengert.arange(3), wengert.ones(3) + 0j
zeros = wengert.zeros(3, 3, dtype=wengert.int64)
FRACTION = "For integral input tensors, argument {} must not be a floating point number."


@pytest.mark.parametrize(("call", "kind", "text"), [
    (lambda: f & f, RuntimeError, "\"bitwise_and_cpu\" not implemented for 'Float'"),
    (lambda: i | f, RuntimeError, "\"bitwise_or_cpu\" not implemented for 'Float'"),
    (lambda: i ^ 1.5, RuntimeError, "\"bitwise_xor_cpu\" not implemented for 'Float'"),
    (lambda: f << 1, RuntimeError, "\"lshift_cpu\" not implemented for 'Float'"),
    (lambda: f >> i, RuntimeError, "\"rshift_cpu\" not implemented for 'Float'"),
    (lambda: wengert.gcd(f, f), RuntimeError, "\"gcd_cpu\" not implemented for 'Float'"),
    (lambda: wengert.lcm(i, f), RuntimeError, "\"lcm_cpu\" not implemented for 'Float'"),
    (lambda: ~f, TypeError, "~ (operator.invert) is only implemented on integer and Boolean-type tensors"),
    (lambda: 2 // c, RuntimeError, "\"floor_divide\" not implemented for 'ComplexFloat'"),
    (lambda: 2.5 % c, RuntimeError, "\"remainder\" not implemented for 'ComplexFloat'"),
    (lambda: c % 2.5, RuntimeError, "\"remainder\" not implemented for 'ComplexFloat'"),
    (lambda: wengert.div(f, "x"), TypeError, "div(): argument 'other' (position 2) must be Tensor, not str"),
    (lambda: wengert.addr(zeros, i, i, alpha=0.5), RuntimeError, FRACTION.format("alpha")),
    (lambda: wengert.addr(zeros, i, i, beta=2.0), RuntimeError, FRACTION.format("beta")),
])  # fmt: skip
def test_wrong_calls_are_refused_with_a_message(call, kind, text):
    with pytest.raises(kind) as error:
        call()
    assert str(error.value) == text
    assert isinstance(error.value, WengertError) or kind is TypeError


def test_a_fractional_factor_of_integers_is_cut():
    assert wengert.addcmul(i, i, i, value=2.9).tolist() == [0, 3, 10]
    assert wengert.addcmul(i, i, i, value=0.5).dtype is wengert.int64


def test_the_square_of_a_bool_is_an_int64():
    assert wengert.tensor([True, False]).square().tolist() == [1, 0]
    assert wengert.tensor([True]).square().dtype is wengert.int64


def test_complex_logaddexp_and_ldexp():
    x = wengert.tensor([1 + 1j, 800 + 0.5j], dtype=wengert.complex128)
    found = wengert.logaddexp(x, x)
    assert found.tolist() == pytest.approx([z + 0.6931471805599453 for z in x.tolist()])
    assert wengert.ldexp(x, 2).tolist() == [4 + 4j, 3200 + 2j]
