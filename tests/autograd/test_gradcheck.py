"""gradcheck and gradgradcheck: what passes, what fails, and what the messages say. Numbers are worked by hand.

Steps are powers of two where a message is pinned: differences of linear functions are then exact, and so is the print.
"""

import re
import warnings

import numpy as np
import pytest

import wengert
from wengert.autograd import Function
from wengert.autograd.gradcheck import (
    GradcheckError,
    get_analytical_jacobian,
    get_numerical_jacobian,
    gradcheck,
    gradgradcheck,
)

EXACT = 2.0**-20

both_modes = pytest.mark.parametrize("fast_mode", [False, True], ids=["slow", "fast"])


def real(values):
    return wengert.tensor(values, dtype=wengert.float64, requires_grad=True)


def cplx(values):
    return wengert.tensor(values, dtype=wengert.complex128, requires_grad=True)


def constant(values, dtype=wengert.float64):
    return wengert.tensor(values, dtype=dtype)


def function(forward, backward, materialize=True):
    """A custom Function from forward(*inputs) and backward(inputs, *grad_outputs)."""

    class Custom(Function):
        @staticmethod
        def forward(ctx, *inputs):
            ctx.save_for_backward(*inputs)
            ctx.set_materialize_grads(materialize)
            return forward(*inputs)

        @staticmethod
        def backward(ctx, *grad_outputs):
            return backward(ctx.saved_tensors, *grad_outputs)

    return Custom.apply


double_but_says_triple = function(lambda x: x * 2, lambda saved, g: g * 3)


def message_of(func, inputs, **options):
    with pytest.raises(GradcheckError) as caught:
        gradcheck(func, inputs, **options)
    return str(caught.value)


# ----------------------------------------------------------------------------------------------------------------------
# What passes
# ----------------------------------------------------------------------------------------------------------------------


@both_modes
@pytest.mark.parametrize(
    ("func", "inputs"),
    [
        (lambda x: x * x, lambda: (real([1.0, -2.0]),)),
        (lambda x: x.exp(), lambda: real([0.5, 2.0])),
        (lambda x: x * x, lambda: [real([1.0])]),
        (lambda x: x * 2, lambda: (real(3.0),)),
        (lambda x: x * x, lambda: (real([]),)),
        (lambda x: x.sum(), lambda: (real([]),)),
        (lambda x: x.sum(0), lambda: (wengert.zeros((0, 3), dtype=wengert.float64, requires_grad=True),)),
        (lambda x: x[:0] * 2, lambda: (real([1.0, 2.0]),)),
        (lambda x: (x * x).sum(0), lambda: (real([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]),)),
        (lambda x: x * x, lambda: (real([[1.0, 2.0], [3.0, 4.0]]).detach().t().requires_grad_(),)),
        (lambda x, y: (x * y, y + y), lambda: (real([1.0, 2.0]), real([3.0, 4.0]))),
        (lambda x, y: [x * y], lambda: (real([1.0, 2.0]), constant([3.0, 4.0]))),
        (lambda x, y: x + x, lambda: (real([1.0, 2.0]), real([3.0]))),
        (lambda x, n: x**n, lambda: (real([1.0, 2.0]), 3)),
        (lambda x: x, lambda: (real([1.0, 2.0]),)),
        (lambda x: (), lambda: (real([1.0]),)),
        (lambda x: (x * x, x.detach(), x > 1), lambda: (real([1.0, 2.0]),)),
    ],
    ids=[
        "square", "bare-tensor", "list-of-inputs", "0-d", "empty", "empty-to-0-d", "no-rows", "empty-output", "2-d",
        "transposed",
        "two-outputs", "input-without-grad", "unused-input", "number-argument", "identity", "no-outputs",
        "non-differentiable-outputs",
    ],
)  # fmt: skip
def test_right_derivatives_pass(func, inputs, fast_mode):
    assert gradcheck(func, inputs(), fast_mode=fast_mode) is True


@both_modes
@pytest.mark.parametrize(
    ("func", "inputs"),
    [
        (lambda z: z * z, lambda: (cplx([1 + 2j, -0.5j]),)),
        (lambda z: z.conj() * z * z, lambda: (cplx([1 + 2j, -0.5j]),)),
        (lambda z: z.abs(), lambda: (cplx([3 + 4j, -0.5j]),)),
        (lambda x: x * (1 + 2j), lambda: (real([1.0, 2.0]),)),
        (lambda z, x: (z * x, x * x, z.abs()), lambda: (cplx([1 + 2j, 2 - 1j]), real([1.0, 2.0]))),
    ],
    ids=["holomorphic", "not-holomorphic", "complex-to-real", "real-to-complex", "mixed"],
)
def test_right_complex_derivatives_pass(func, inputs, fast_mode):
    assert gradcheck(func, inputs(), fast_mode=fast_mode) is True


@both_modes
def test_the_same_tensor_may_be_given_twice(fast_mode):
    x = real([1.0, 2.0])
    assert gradcheck(lambda a, b: a * b, (x, x), fast_mode=fast_mode)


@both_modes
def test_func_may_use_an_input_through_a_closure(fast_mode):
    x = real([1.0, 2.0])
    assert gradcheck(lambda ignored: x * x, (x,), fast_mode=fast_mode)
    with pytest.raises(GradcheckError, match="Jacobian mismatch"):
        gradcheck(lambda ignored: double_but_says_triple(x), (x,), fast_mode=fast_mode)


@both_modes
def test_a_non_leaf_may_be_an_input(fast_mode):
    x = real([1.0, 2.0])
    assert gradcheck(lambda y: y * y, (x * 3,), fast_mode=fast_mode)


@both_modes
def test_functions_without_gradient_must_be_constant(fast_mode):
    x = real([1.0, 2.0])
    assert gradcheck(lambda x: constant([1.0, 2.0, 3.0]), (x,), fast_mode=fast_mode)
    assert gradcheck(lambda x: x > 1, (x,), fast_mode=fast_mode)
    with pytest.raises(GradcheckError, match=r"^Numerical gradient for function expected to be zero"):
        gradcheck(lambda x: x.detach() * 2, (x,), fast_mode=fast_mode)
    with pytest.raises(GradcheckError, match=r"^Numerical gradient for function expected to be zero"):
        gradcheck(lambda x: (constant([1.0]), x.detach()), (x,), fast_mode=fast_mode)


def test_single_precision_passes_with_steps_and_tolerances_to_match_and_warns():
    x = wengert.tensor([1.0, 2.0], dtype=wengert.float32, requires_grad=True)
    with pytest.warns(UserWarning, match="Input #1 requires gradient and is not a double precision") as caught:
        assert gradcheck(lambda n, x: x * x, (2, x), eps=1e-2, atol=1e-2)
    assert len(caught) == 1
    assert caught[0].filename == __file__


def test_single_precision_without_gradient_does_not_warn():
    y = wengert.tensor([1.0, 2.0], dtype=wengert.float32)
    assert gradcheck(lambda x, y: x * y, (real([1.0, 2.0]), y))


# ----------------------------------------------------------------------------------------------------------------------
# Wrong derivatives
# ----------------------------------------------------------------------------------------------------------------------


def test_mismatch_shows_both_jacobians():
    assert message_of(double_but_says_triple, (real([1.0, 2.0]),), eps=EXACT) == (
        "Jacobian mismatch for output 0 with respect to input 0,\n"
        "numerical:tensor([[2., 0.],\n        [0., 2.]], dtype=torch.float64)\n"
        "analytical:tensor([[3., 0.],\n        [0., 3.]], dtype=torch.float64)\n"
    )


def test_jacobians_have_a_row_an_input_element_and_a_column_an_output_element():
    # y = (x0 + 2 x2, 4 x1); the wrong rule forgets the factor 2.
    matrix = np.array([[1.0, 0.0], [0.0, 4.0], [2.0, 0.0]])
    wrong = np.array([[1.0, 0.0], [0.0, 4.0], [1.0, 0.0]])
    func = function(lambda x: x @ wengert.from_numpy(matrix), lambda saved, g: wengert.from_numpy(wrong) @ g)
    assert message_of(func, (real([1.0, 1.0, 1.0]),), eps=EXACT) == (
        "Jacobian mismatch for output 0 with respect to input 0,\n"
        "numerical:tensor([[1., 0.],\n        [0., 4.],\n        [2., 0.]], dtype=torch.float64)\n"
        "analytical:tensor([[1., 0.],\n        [0., 4.],\n        [1., 0.]], dtype=torch.float64)\n"
    )


@both_modes
def test_mismatch_numbers_only_outputs_and_inputs_that_require_grad(fast_mode):
    func = lambda c, x, y: (c * 2, x * y, x * 1, double_but_says_triple(y) + x)  # noqa: E731
    text = message_of(func, (constant([1.0]), real([2.0]), real([3.0])), fast_mode=fast_mode)
    assert text.startswith("Jacobian mismatch for output 2 with respect to input 1,\n")


@both_modes
def test_numerical_jacobians_skip_outputs_without_gradient(fast_mode):
    # The first output has another derivative, 5, and must not be taken for the second one's, 2.
    func = lambda x: (x.detach() * 5, double_but_says_triple(x))  # noqa: E731
    text = message_of(func, (real([1.0]),), fast_mode=fast_mode, eps=EXACT)
    assert "tensor([[2.]], dtype=torch.float64)" in text
    assert "tensor([[5.]], dtype=torch.float64)" not in text


@both_modes
def test_a_missing_gradient_counts_as_zero(fast_mode):
    no_gradient = function(lambda x: x * 2, lambda saved, g: None)
    text = message_of(no_gradient, (real([1.0]),), fast_mode=fast_mode)
    assert "tensor([[0.]], dtype=torch.float64)" in text
    assert gradcheck(function(lambda x: x * 0, lambda saved, g: None), (real([1.0]),), fast_mode=fast_mode)


@both_modes
def test_tolerances_are_relative_to_the_numerical_derivative(fast_mode):
    options = {"rtol": 0.6, "atol": 0.0, "fast_mode": fast_mode}
    assert gradcheck(function(lambda x: x * 2, lambda saved, g: g * 1), (real(1.0),), **options)  # |1 - 2| <= 0.6 * 2
    with pytest.raises(GradcheckError):
        gradcheck(function(lambda x: x * 1, lambda saved, g: g * 2), (real(1.0),), **options)  # |2 - 1| > 0.6 * 1


@both_modes
@pytest.mark.parametrize(("error", "passes"), [(0.9e-5, True), (1.1e-5, False)])
def test_atol_bounds_the_error_of_an_element_in_both_modes(error, passes, fast_mode):
    func = function(lambda x: x * 0, lambda saved, g: g.sum() * constant([error] * 30))
    options = {"rtol": 0.0, "atol": 1e-5, "raise_exception": False}
    assert gradcheck(func, (real([1.0] * 30),), fast_mode=fast_mode, **options) is passes


@both_modes
def test_infinities_and_nans_fail_quietly(fast_mode):
    options = {"fast_mode": fast_mode, "raise_exception": False}
    with np.errstate(all="ignore"):
        assert gradcheck(lambda x: x * float("nan"), (real([1.0, 2.0]),), **options) is False
        assert gradcheck(lambda x: x.log(), (real([0.0, 3.0]),), **options) is False


def test_complex_mismatch_says_which_part():
    # f(z) = 2z with the rule of 3z: the imaginary part of f is 2y, with derivative d/dx + i d/dy = 2i.
    assert message_of(double_but_says_triple, (cplx([1 + 1j]),), eps=EXACT) == (
        "While considering the imaginary part of complex outputs only, "
        "Jacobian mismatch for output 0 with respect to input 0,\n"
        "numerical:tensor([[0.+2.j]], dtype=torch.complex128)\n"
        "analytical:tensor([[0.+3.j]], dtype=torch.complex128)\n"
    )
    # f(x) = (1 + 2i) x with 3 in place of the 1: only the real part is wrong.
    func = function(lambda x: x * (1 + 2j), lambda saved, g: g.real * 3 + g.imag * 2)
    assert message_of(func, (real([1.0]),), eps=EXACT) == (
        "While considering the real part of complex outputs only, "
        "Jacobian mismatch for output 0 with respect to input 0,\n"
        "numerical:tensor([[1.]], dtype=torch.float64)\n"
        "analytical:tensor([[3.]], dtype=torch.float64)\n"
    )


@both_modes
def test_a_missing_conjugate_is_caught(fast_mode):
    square = function(lambda z: z * z, lambda saved, g: g * 2 * saved[0])
    text = message_of(square, (cplx([1 + 2j]),), fast_mode=fast_mode)
    assert text.startswith("While considering the imaginary part of complex outputs only, Jacobian mismatch")
    assert gradcheck(function(lambda z: z * z, lambda saved, g: g * 2 * saved[0].conj()), (cplx([1 + 2j]),))


def test_real_outputs_beside_complex_ones_are_named_without_a_part():
    text = message_of(lambda z, x: (z * z, double_but_says_triple(x)), (cplx([1j]), real([1.0])))
    assert text.startswith("Jacobian mismatch for output 1 with respect to input 1,\n")


def test_raise_exception_off_returns_false():
    assert gradcheck(double_but_says_triple, (real([1.0]),), raise_exception=False) is False
    assert gradcheck(lambda x: x.detach() * 2, (real([1.0]),), raise_exception=False) is False


def test_gradcheck_error_is_a_runtime_error():
    assert issubclass(GradcheckError, RuntimeError)


def test_the_functions_hide_the_module_of_their_name():
    assert wengert.autograd.gradcheck is gradcheck
    assert wengert.autograd.gradgradcheck is gradgradcheck


# ----------------------------------------------------------------------------------------------------------------------
# Fast mode
# ----------------------------------------------------------------------------------------------------------------------


def test_fast_mode_explains_itself_and_shows_the_full_jacobians():
    text = message_of(double_but_says_triple, (real([1.0, 2.0]),), fast_mode=True, eps=EXACT)
    head, numerical, analytical, rest = text.split("\n", 3)
    assert head == "Jacobian mismatch for output 0 with respect to input 0,"
    ratio = float(analytical.removeprefix("analytical:")) / float(numerical.removeprefix("numerical:"))
    assert ratio == pytest.approx(1.5)
    assert rest == (
        "\nThe above quantities relating the numerical and analytical jacobians are computed \n"
        "in fast mode. See: https://github.com/pytorch/pytorch/issues/53876 for more background \n"
        "about fast mode. Below, we recompute numerical and analytical jacobians in slow mode:\n\n"
        "Numerical:\n tensor([[2., 0.],\n        [0., 2.]], dtype=torch.float64)\n"
        "Analytical:\ntensor([[3., 0.],\n        [0., 3.]], dtype=torch.float64)\n\n"
        "The max per-element difference (slow mode) is: 1.0.\n"
    )


def test_fast_mode_says_where_slow_mode_would_have_passed():
    # Each element is off by 0.9e-3, within rtol; the projection's terms cancel, the errors' do not.
    signs = constant([1.0, -1.0] * 20)
    func = function(lambda x: (x * signs).sum(), lambda saved, g: g * (signs + 9e-4))
    inputs = (real([1.0] * 40),)
    assert gradcheck(func, inputs)
    assert "Fast gradcheck failed but element-wise differences are small." in message_of(func, inputs, fast_mode=True)


def test_fast_mode_calls_func_twice_an_input_and_slow_mode_twice_an_element():
    calls = []

    def func(x, y):
        calls.append(1)
        return x * y

    inputs = (real([1.0] * 5), real([2.0] * 5))
    gradcheck(func, inputs, fast_mode=True)
    assert len(calls) == 1 + 2 * 2
    calls.clear()
    gradcheck(func, inputs)
    assert len(calls) == 1 + 2 * 10


def test_fast_mode_catches_a_transposed_jacobian():
    matrix = np.arange(9.0).reshape(3, 3)
    func = function(lambda x: x @ wengert.from_numpy(matrix), lambda saved, g: g @ wengert.from_numpy(matrix))
    assert gradcheck(func, (real([1.0, 2.0, 3.0]),), fast_mode=True, raise_exception=False) is False


# ----------------------------------------------------------------------------------------------------------------------
# What a comparison of Jacobians cannot see
# ----------------------------------------------------------------------------------------------------------------------


def drifting(step):
    """2x, with a backward pass that returns a little more each time."""
    runs = []

    def backward(saved, g):
        runs.append(1)
        return g * (2 + step * len(runs))

    return function(lambda x: x * 2, backward)


@both_modes
def test_a_nondeterministic_backward_is_reported(fast_mode):
    text = message_of(drifting(1e-9), (real([1.0]),), fast_mode=fast_mode)
    assert text.startswith(
        "Backward is not reentrant, i.e., running backward with same input and grad_output multiple times gives "
        "different values, although analytical gradient matches numerical gradient. The tolerance for "
        "nondeterminism was 0.0; "
    )
    assert "`nondet_tol=<tol>`" in text


@both_modes
def test_nondet_tol_allows_for_nondeterminism(fast_mode):
    assert gradcheck(drifting(1e-9), (real([1.0]),), nondet_tol=1e-8, fast_mode=fast_mode)


def test_nondeterminism_is_reported_before_a_mismatch_which_it_may_explain():
    assert "and analytical gradient does not match numerical gradient" in message_of(drifting(1.0), (real([1.0]),))


@both_modes
def test_backward_must_be_multiplied_by_grad_output(fast_mode):
    ignores_cotangent = function(lambda x: x * 2, lambda saved, g: g * 0 + 2)
    text = message_of(ignores_cotangent, (real(1.0),), fast_mode=fast_mode)
    assert text.startswith("backward not multiplied by grad_output")


@both_modes
def test_backward_must_take_undefined_gradients(fast_mode):
    fragile = function(lambda x: x * 2, lambda saved, g: g * 2, materialize=False)
    with pytest.warns(UserWarning, match="New undefined gradient support checking feature is enabled by default"):
        text = message_of(fragile, (real([1.0]),), fast_mode=fast_mode)
    assert text.startswith("Expected backward function to handle undefined output grads.")
    assert "TypeError" in text
    assert gradcheck(fragile, (real([1.0]),), check_undefined_grad=False, fast_mode=fast_mode)


def test_undefined_gradients_are_tried_for_each_output_alone():
    calls = []

    def backward(saved, g, h):
        calls.append((g is None, h is None))
        terms = [factor * ct for factor, ct in ((2, g), (3, h)) if ct is not None]
        return sum(terms) if terms else None

    assert gradcheck(function(lambda x: (x * 2, x * 3), backward, materialize=False), (real([1.0]),))
    # All zero; all undefined; each undefined beside a zero.
    assert calls[-4:] == [(False, False), (True, True), (True, False), (False, True)]


def test_gradients_for_undefined_ones_must_be_zero():
    func = function(lambda x: x * 2, lambda saved, g: constant([1.0]) if g is None else g * 2, materialize=False)
    with pytest.warns(UserWarning, match="check_undefined_grad=False"):
        text = message_of(func, (real([1.0]),))
    assert text.startswith(
        "Expected all input grads to be undefined or zero when all output grads are undefined or zero."
    )
    zeros = function(lambda x: x * 2, lambda saved, g: constant([0.0]) if g is None else g * 2, materialize=False)
    assert gradcheck(zeros, (real([1.0]),))


def test_gradients_of_the_right_dtype_pass_the_dtype_check():
    x = wengert.tensor([1.0], dtype=wengert.float32, requires_grad=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert gradcheck(lambda x: x.to(wengert.float64) * 2, (x,), eps=1e-2, atol=1e-2, check_grad_dtypes=True)


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (lambda grad: grad.to(wengert.float32), "Gradient has dtype mismatch"),
        (lambda grad: grad.reshape(1, 2), "Analytical gradient has incorrect size"),
    ],
)
def test_an_engine_that_returns_gradients_of_the_wrong_kind_is_caught(monkeypatch, change, text):
    grad = wengert.autograd.grad
    monkeypatch.setattr(wengert.autograd, "grad", lambda *args, **kw: tuple(change(g) for g in grad(*args, **kw)))
    assert message_of(lambda x: x * 2, (real([1.0, 2.0]),), check_grad_dtypes=True) == text


# ----------------------------------------------------------------------------------------------------------------------
# Bad arguments, bad functions
# ----------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("check", [gradcheck, gradgradcheck])
@pytest.mark.parametrize("inputs", [(constant([1.0]),), (1.0,), ()], ids=["no-grad", "number", "none"])
def test_one_input_must_require_grad_also_without_raise_exception(check, inputs):
    text = "gradcheck expects at least one input tensor to require gradient, but none of them have requires_grad=True."
    with pytest.raises(ValueError, match=re.escape(text)):
        check(lambda *args: args[0], inputs, raise_exception=False)


def test_inputs_with_overlapping_memory_are_refused():
    x = constant([1.0]).expand(3).requires_grad_()
    text = (
        "The 1th input has a dimension with stride 0. gradcheck only supports inputs that are non-overlapping to be "
        "able to compute the numerical gradients correctly. You should call .contiguous on the input before passing it "
        "to gradcheck."
    )
    with pytest.raises(RuntimeError, match=re.escape(text)):
        gradcheck(lambda n, x: x * n, (2.0, x))
    windows = np.lib.stride_tricks.as_strided(np.ones(3), shape=(2, 2), strides=(8, 8))
    with pytest.raises(RuntimeError, match="Elements of the 0th input share memory"):
        gradcheck(lambda x: x * 2, (wengert.from_numpy(windows).requires_grad_(),))


def test_expanded_arguments_without_gradient_are_fine():
    assert gradcheck(lambda x, y: x * y, (real([1.0, 2.0]), constant([3.0]).expand(2)))


@pytest.mark.parametrize("result", [None, 1.0, {"a": 1}], ids=["None", "float", "dict"])
def test_func_must_return_tensors(result):
    with pytest.raises(TypeError, match=f"or list of tensors, but it returned {type(result).__name__}"):
        gradcheck(lambda x: result, (real([1.0]),))
    with pytest.raises(TypeError, match=f"output 1 is of type {type(result).__name__}"):
        gradcheck(lambda x: (x * 2, result), (real([1.0]),))


def test_func_must_return_the_same_shapes_dtypes_and_number_of_outputs():
    def growing(x):
        calls.append(1)
        return x.sum() * constant([1.0] * len(calls))

    calls = []
    text = (
        "Expected `func` to return outputs with the same shape when inputs are perturbed on index (0,) by 1e-06, "
        "but got: shapes torch.Size([1]) and torch.Size([2])."
    )
    with pytest.raises(AssertionError, match=re.escape(text)):
        gradcheck(growing, (real([1.0]),))
    calls = []
    with pytest.raises(AssertionError, match="the same shape when inputs are perturbed by 1e-06, but got"):
        gradcheck(growing, (real([1.0]),), fast_mode=True)

    def narrowing(x):
        calls.append(1)
        return x.to(wengert.float64 if len(calls) == 1 else wengert.float32)

    calls = []
    with pytest.raises(AssertionError, match=r"but got: dtypes torch\.float64 and torch\.float32\."):
        gradcheck(narrowing, (real([1.0]),))

    def multiplying(x):
        calls.append(1)
        return (x * 2,) * len(calls)

    calls = []
    with pytest.raises(AssertionError, match=r"the same number of outputs .* but got: 1 and 2\."):
        gradcheck(multiplying, (real([1.0]),))


@both_modes
def test_errors_out_of_func_and_backward_pass_through(fast_mode):
    raising = function(lambda x: x * 2, lambda saved, g: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        gradcheck(raising, (real([1.0]),), fast_mode=fast_mode, raise_exception=False)
    with pytest.raises(KeyError):
        gradcheck(lambda x: {}[0], (real([1.0]),), fast_mode=fast_mode, raise_exception=False)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"check_backward_ad": False}, "Expected at least one of check_forward_ad or check_backward_ad to be True"),
        (
            {"check_backward_ad": False, "check_forward_ad": True, "check_batched_grad": True},
            "Setting check_batched_grad=True requires check_backward_ad to be True",
        ),
        (
            {"check_batched_forward_grad": True},
            "Setting check_batched_forward_grad=True requires check_forward_ad to be True",
        ),
    ],
)
def test_combinations_of_options_that_make_no_sense_are_refused(options, text):
    with pytest.raises(AssertionError, match=text):
        gradcheck(lambda x: x * 2, (real([1.0]),), **options)


def test_gradgradcheck_refuses_to_check_nothing():
    text = "Expected at least one of check_fwd_over_rev or check_rev_over_rev to be True"
    with pytest.raises(AssertionError, match=text):
        gradgradcheck(lambda x: x * x, (real([1.0]),), check_rev_over_rev=False)


class WrongTangent(wengert.autograd.Function):
    """2 x, with a jvp that says 3."""

    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output * 2

    @staticmethod
    def jvp(ctx, tangent):
        return tangent * 3


@pytest.mark.parametrize("fast_mode", [False, True])
def test_forward_mode_is_checked(fast_mode):
    x = wengert.tensor([0.5, 2.0], dtype=wengert.float64, requires_grad=True)
    z = wengert.tensor([0.5 + 1j], dtype=wengert.complex128, requires_grad=True)
    options = {"check_forward_ad": True, "fast_mode": fast_mode}
    assert gradcheck(lambda x, y: (x * y).sin(), (x, x.detach().clone().requires_grad_()), **options)
    assert gradcheck(lambda z: z * z.conj() + z.exp(), (z,), **options)
    assert gradcheck(WrongTangent.apply, (x,), fast_mode=fast_mode)
    message = "^Jacobian computed with forward mode mismatch for output 0 with respect to input 0,"
    with pytest.raises(GradcheckError, match=message):
        gradcheck(WrongTangent.apply, (x,), **options)
    with pytest.raises(GradcheckError, match=message):
        gradcheck(WrongTangent.apply, (x,), check_backward_ad=False, **options)
    with pytest.raises(GradcheckError, match="^While considering the imaginary part of complex inputs only, Jacobian computed"):
        gradcheck(WrongTangent.apply, (z,), **options)
    assert not gradcheck(WrongTangent.apply, (x,), raise_exception=False, **options)


def test_second_derivatives_are_checked_in_forward_mode():
    class WrongSecond(wengert.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            ctx.save_for_forward(x)
            return x**2

        @staticmethod
        def backward(ctx, grad_output):
            (x,) = ctx.saved_tensors
            return grad_output * x.detach() * 2

        @staticmethod
        def jvp(ctx, tangent):
            (x,) = ctx.saved_tensors
            return tangent * x * 2

    x = wengert.tensor([0.5, 2.0], dtype=wengert.float64, requires_grad=True)
    assert gradgradcheck(lambda x: x**3, (x,), check_fwd_over_rev=True)
    assert gradcheck(WrongSecond.apply, (x,), check_forward_ad=True)
    with pytest.raises(GradcheckError, match="computed with forward mode mismatch"):
        gradgradcheck(WrongSecond.apply, (x,), check_fwd_over_rev=True, check_rev_over_rev=False, check_undefined_grad=False)


def test_batches_are_checked():
    x = wengert.tensor([0.5, 2.0], dtype=wengert.float64, requires_grad=True)
    assert gradcheck(
        lambda x: (x**2, x.sum()), (x,), check_batched_grad=True, check_forward_ad=True, check_batched_forward_grad=True
    )


# ----------------------------------------------------------------------------------------------------------------------
# The inputs afterwards
# ----------------------------------------------------------------------------------------------------------------------


@both_modes
@pytest.mark.parametrize("failure", [None, "mismatch", "exception"])
def test_inputs_are_left_as_they_were(failure, fast_mode):
    values = np.array([0.1, 1e300, -3.3, 1e-320])
    x = wengert.from_numpy(values.copy()).requires_grad_()
    calls = []

    def func(x):
        calls.append(1)
        if failure == "exception" and len(calls) == 3:
            raise KeyError("third call")
        return double_but_says_triple(x) if failure == "mismatch" else x * 1

    if failure is None:
        gradcheck(func, (x,), fast_mode=fast_mode, raise_exception=False)  # eps is nothing beside 1e300
    else:
        with pytest.raises(GradcheckError if failure == "mismatch" else KeyError):
            gradcheck(func, (x,), fast_mode=fast_mode)
    assert x.detach().numpy().tobytes() == values.tobytes()
    assert x._version == 0
    assert x.grad is None
    assert x.requires_grad


def test_func_sees_one_perturbed_element_at_a_time():
    seen = []

    def func(x):
        seen.append(x.detach().clone().numpy())
        return x * 2

    gradcheck(func, (real([1.0, 2.0]),), eps=0.25)
    assert np.stack(seen).tolist() == [[1.0, 2.0], [0.75, 2.0], [1.25, 2.0], [1.0, 1.75], [1.0, 2.25]]


# ----------------------------------------------------------------------------------------------------------------------
# Second derivatives
# ----------------------------------------------------------------------------------------------------------------------

# x * x whose first derivative is right, and whose second one is taken for 3 instead of 2.
_wrong_second = function(lambda x, g: x * g * 2, lambda saved, h: (saved[1] * h * 3, saved[0] * h * 2))
square_with_wrong_second = function(lambda x: x * x, lambda saved, g: _wrong_second(saved[0], g))


@both_modes
@pytest.mark.parametrize(
    ("func", "inputs"),
    [
        (lambda x: x * x * x, lambda: (real([1.0, 2.0]),)),
        (lambda x: x * x, lambda: real(2.0)),
        (lambda x: x * 2, lambda: (real([1.0, 2.0]),)),
        (lambda x: x * x, lambda: (real([]),)),
        (lambda x, y: (x * y * y, y.exp()), lambda: (real([1.0, 2.0]), real([0.5, 1.0]))),
        (lambda x, c: x * x * c, lambda: (real([1.0, 2.0]), constant([3.0, 4.0]))),
        (lambda x, n: x**n, lambda: (real([1.0, 2.0]), 3)),
        (lambda x: (x * x, x.detach(), x > 1), lambda: (real([1.0, 2.0]),)),
        (lambda z: z * z * z, lambda: (cplx([1 + 2j, 0.5j]),)),
        (lambda z: z.abs(), lambda: (cplx([3 + 4j, 0.5j]),)),
    ],
    ids=[
        "cube", "0-d", "linear", "empty", "two", "constant", "number", "non-differentiable", "complex",
        "complex-to-real",
    ],
)  # fmt: skip
def test_right_second_derivatives_pass(func, inputs, fast_mode):
    assert gradgradcheck(func, inputs(), fast_mode=fast_mode) is True


@both_modes
def test_wrong_second_derivatives_fail_where_first_ones_pass(fast_mode):
    x = real([1.0, 2.0])
    assert gradcheck(square_with_wrong_second, (x,), fast_mode=fast_mode)
    with pytest.raises(GradcheckError, match="Jacobian mismatch for output 0 with respect to input 0"):
        gradgradcheck(square_with_wrong_second, (x,), fast_mode=fast_mode)
    assert gradgradcheck(square_with_wrong_second, (x,), fast_mode=fast_mode, raise_exception=False) is False


@pytest.mark.parametrize("as_given", [lambda g: g, lambda g: (g,), lambda g: [g]], ids=["tensor", "tuple", "list"])
@pytest.mark.parametrize("requires_grad", [True, False])
def test_second_derivatives_are_taken_at_the_given_cotangents(as_given, requires_grad):
    cotangent = constant([1.0, 10.0]).requires_grad_(requires_grad)
    with pytest.raises(GradcheckError) as caught:
        gradgradcheck(square_with_wrong_second, (real([1.0, 2.0]),), as_given(cotangent), eps=EXACT)
    assert str(caught.value) == (
        "Jacobian mismatch for output 0 with respect to input 0,\n"
        "numerical:tensor([[ 2.,  0.],\n        [ 0., 20.]], dtype=torch.float64)\n"
        "analytical:tensor([[ 3.,  0.],\n        [ 0., 30.]], dtype=torch.float64)\n"
    )


def test_cotangents_that_require_grad_count_as_inputs_after_the_inputs():
    wrong_for_cotangent = function(lambda x, g: x * g * 2, lambda saved, h: (saved[1] * h * 2, saved[0] * h * 3))
    func = function(lambda x: x * x, lambda saved, g: wrong_for_cotangent(saved[0], g))
    with pytest.raises(GradcheckError, match="for output 0 with respect to input 1"):
        gradgradcheck(func, (real([1.0]),))
    assert gradgradcheck(func, (real([1.0]),), constant([1.0]))


@pytest.mark.parametrize("noncontiguous", [True, False])
def test_random_cotangents_are_contiguous_or_not_as_asked(noncontiguous):
    contiguous = []

    def func(x):
        y = x * x
        y.register_hook(lambda grad: contiguous.append(grad.is_contiguous()))
        return y

    x = real([[1.0, 2.0], [3.0, 4.0]])
    assert gradgradcheck(func, (x,), gen_non_contig_grad_outputs=noncontiguous)
    assert contiguous[0] is not noncontiguous


def test_random_cotangents_are_the_same_each_time():
    seen = []

    def func(x):
        y = x * x
        y.register_hook(lambda grad: seen.append(grad.detach().clone().numpy()))
        return y

    for _ in range(2):
        gradgradcheck(func, (real([1.0, 2.0]),))
    assert np.array_equal(seen[0], seen[len(seen) // 2])


def test_gradgradcheck_needs_an_output_that_requires_grad():
    with pytest.raises(ValueError, match="gradgradcheck expects at least one output of func to require gradient"):
        gradgradcheck(lambda x: x.detach(), (real([1.0]),))


@pytest.mark.parametrize("number", [1, 3])
def test_gradgradcheck_needs_a_cotangent_for_each_output(number):
    with pytest.raises(RuntimeError, match=f"got 2 tensors and {number} gradients"):
        gradgradcheck(lambda x: (x * x, x * 2), (real([1.0]),), [constant([1.0])] * number)


@pytest.mark.parametrize("cotangent", [None, constant([1.0, 1.0]), wengert.tensor([True])], ids=["None", "shape", "bool"])
def test_gradgradcheck_ignores_cotangents_of_outputs_without_gradient(cotangent):
    seen = []

    def func(x):
        y = x * x * x
        if y.requires_grad:
            y.register_hook(lambda grad: seen.append(grad.tolist()))
        return x > 0, y, x.detach()

    assert gradgradcheck(func, (real([1.5]),), (cotangent, real([2.0]), cotangent))
    assert seen[0] == [2.0]


# ----------------------------------------------------------------------------------------------------------------------
# The deprecated pair
# ----------------------------------------------------------------------------------------------------------------------


def test_get_numerical_jacobian_is_of_the_first_output():
    x, y = real([1.0, 2.0]), real([3.0, 4.0])
    with pytest.warns(FutureWarning, match="`get_numerical_jacobian` was part of PyTorch's private API"):
        jacobians = get_numerical_jacobian(lambda inputs: (inputs[0] * inputs[1], inputs[0]), (x, y), eps=EXACT)
    assert [jacobian.tolist() for jacobian in jacobians] == [[[3.0, 0.0], [0.0, 4.0]], [[1.0, 0.0], [0.0, 2.0]]]
    with pytest.warns(FutureWarning):
        (jacobian,) = get_numerical_jacobian(lambda inputs: inputs[0] * inputs[1], (x, y), target=y, eps=EXACT)
    assert jacobian.tolist() == [[1.0, 0.0], [0.0, 2.0]]


def test_get_analytical_jacobian_reports_its_findings():
    x, y = real([1.0, 2.0]), real([3.0, 4.0])
    with pytest.warns(FutureWarning, match="`get_analytical_jacobian` was part of PyTorch's private API"):
        jacobians, reentrant, sizes_ok, dtypes_ok = get_analytical_jacobian((x, y), x * 2)
    assert [jacobian.tolist() for jacobian in jacobians] == [[[2.0, 0.0], [0.0, 2.0]], [[0.0, 0.0], [0.0, 0.0]]]
    assert (reentrant, sizes_ok, dtypes_ok) == (True, True, True)
    with pytest.warns(FutureWarning):
        assert get_analytical_jacobian((x,), drifting(1.0)(x))[1] is False


@pytest.mark.parametrize("name", ["get_numerical_jacobian", "get_analytical_jacobian"])
def test_the_deprecated_pair_takes_neither_grad_out_nor_complex_outputs(name):
    def call(tensor, **options):
        if name == "get_numerical_jacobian":
            get_numerical_jacobian(lambda inputs: inputs[0] * 2, (tensor,), **options)
        else:
            get_analytical_jacobian((tensor,), tensor * 2, **options)

    with pytest.warns(FutureWarning), pytest.raises(ValueError, match=f"{name} no longer supports values of grad_out"):
        call(real([1.0]), grad_out=2.0)
    with pytest.warns(FutureWarning), pytest.raises(ValueError, match=f"{name} no longer supports functions that"):
        call(cplx([1.0]))
