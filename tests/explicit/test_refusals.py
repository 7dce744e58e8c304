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


# What LAPACK, NumPy and the kernels take on trust.
identity = wengert.eye(4)
LD, ldl_pivots = wengert.linalg.ldl_factor(identity + 0.1)
LU, lu_pivots = wengert.linalg.lu_factor(identity + 0.1)


@pytest.mark.parametrize("pivots", [
    [1, 2, 3, 20], [0, 0, 0, 0], [0, 1, 2, 3], [-5, -5, 3, 4], [-1, 2, 3, 4], [1, -2, -3, 4], [1, 2, 3, -4], [2**32 + 1, 2, 3, 4],
    [-(2**63), 2, 3, 4],
])  # fmt: skip
@pytest.mark.parametrize("hermitian", [False, True])
def test_pivots_that_ldl_factor_cannot_return_are_refused(pivots, hermitian):
    with pytest.raises(RuntimeError, match="is no pivot of a 4 x 4 matrix"):
        wengert.linalg.ldl_solve(LD, wengert.tensor(pivots), identity, hermitian=hermitian)


def test_pivots_of_ldl_factor_are_accepted_with_blocks_of_two_rows():
    matrix = wengert.tensor([[0.0, 1.0, 2.0], [1.0, 0.0, 3.0], [2.0, 3.0, 0.0]])
    factors, pivots = wengert.linalg.ldl_factor(matrix)
    assert min(pivots.tolist()) < 0
    solution = wengert.linalg.ldl_solve(factors, pivots, matrix.mT)
    assert wengert.allclose(solution, wengert.eye(3), atol=1e-6)
    assert wengert.allclose(wengert.linalg.ldl_solve(factors, pivots.long(), matrix.mT), solution)


@pytest.mark.parametrize("pivots", [[0, 1, 2, 3], [1, 2, 3, 5], [-1, 2, 3, 4], [2**31 - 1, 2, 3, 4]])
def test_pivots_that_lu_factor_cannot_return_are_refused(pivots):
    pivots = wengert.tensor(pivots, dtype=wengert.int32)
    for call in (lambda: wengert.lu_unpack(LU, pivots), lambda: wengert.linalg.lu_solve(LU, pivots, identity)):
        with pytest.raises(RuntimeError, match="must be between 1 and"):
            call()


@pytest.mark.parametrize("pivots", [lu_pivots.long(), lu_pivots.float(), lu_pivots[:2], lu_pivots[None]])
def test_pivots_of_another_dtype_or_shape_are_refused(pivots):
    for call in (lambda: wengert.lu_unpack(LU, pivots), lambda: wengert.linalg.lu_solve(LU, pivots, identity)):
        with pytest.raises(RuntimeError, match="int32|Number of pivots"):
            call()
    if pivots.dtype is not wengert.int64:
        with pytest.raises(RuntimeError, match="integers|to be the same"):
            wengert.linalg.ldl_solve(LD, pivots, identity)


@pytest.mark.parametrize("tau", [wengert.ones(5), wengert.ones(2, 2), wengert.ones(4, dtype=wengert.float64)])
def test_factors_of_reflections_that_do_not_fit_are_refused(tau):
    for call in (lambda: wengert.linalg.householder_product(identity, tau), lambda: wengert.ormqr(identity, tau, identity)):
        with pytest.raises(RuntimeError, match="tau"):
            call()


@pytest.mark.parametrize("offsets", [[0, 3, 2], [0, -1, 2], [0, 100, 3]])
def test_offsets_that_do_not_ascend_are_refused(offsets):
    with pytest.raises(RuntimeError, match="ascending"):
        wengert.nn.functional.embedding_bag(i, wengert.ones(5, 2), wengert.tensor(offsets))


@pytest.mark.parametrize("arguments", [
    {"offsets": [0, 9]}, {"offsets": [-2, 3]}, {"offsets": [0, 3, 2]}, {"lengths": [-1, 4]}, {"lengths": [9]},
])  # fmt: skip
def test_segments_outside_of_the_data_are_refused(arguments):
    given = {name: wengert.tensor(numbers) for name, numbers in arguments.items()}
    with pytest.raises(RuntimeError, match="negative|segments"):
        wengert.segment_reduce(f, "sum", **given, unsafe=True)


@pytest.mark.parametrize(("steps", "labels"), [([5, -1], [2, 2]), ([5, 5], [2, -1]), ([5, 6], [2, 2])])
def test_lengths_out_of_range_are_refused_by_ctc_loss(steps, labels):
    scores, targets = wengert.zeros(5, 2, 4), wengert.ones(2, 2, dtype=wengert.int64)
    with pytest.raises(RuntimeError, match="_lengths to have value at (least 0|most 5)"):
        wengert.nn.functional.ctc_loss(scores, targets, steps, labels)


def test_samples_that_are_not_finite_and_places_before_the_memory_are_refused():
    with pytest.raises(RuntimeError, match="must be finite"):
        wengert.nn.functional.fractional_max_pool2d(
            wengert.ones(1, 1, 6, 6), 2, output_size=3, _random_samples=wengert.full((1, 1, 2), float("nan"))
        )
    with pytest.raises(RuntimeError):
        wengert.as_strided_scatter(f, wengert.ones(2), (2,), (1,), -1)
