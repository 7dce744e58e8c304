"""gradcheck and gradgradcheck against torch's: the same verdicts, the same messages.

A case is written once, for a library `lib` that is either package, and run on both.
"""

import builtins
import importlib
import re
import warnings

import numpy as np
import pytest

import wengert
from wengert.autograd import gradcheck, gradgradcheck

torch = pytest.importorskip("torch")

CHECKS = {wengert: (gradcheck, gradgradcheck), torch: (torch.autograd.gradcheck, torch.autograd.gradgradcheck)}

both_modes = pytest.mark.parametrize("fast_mode", [False, True], ids=["slow", "fast"])


def real(lib, values, dtype="float64"):
    return lib.tensor(values, dtype=getattr(lib, dtype), requires_grad=True)


def cplx(lib, values, dtype="complex128"):
    return lib.tensor(values, dtype=getattr(lib, dtype), requires_grad=True)


def function(lib, forward, backward, materialize=True):
    class Custom(lib.autograd.Function):
        @staticmethod
        def forward(ctx, *inputs):
            ctx.save_for_backward(*inputs)
            ctx.set_materialize_grads(materialize)
            return forward(*inputs)

        @staticmethod
        def backward(ctx, *grad_outputs):
            return backward(ctx.saved_tensors, *grad_outputs)

    return Custom.apply


def outcome(lib, second, make, **options):
    """Return the result of a check, or the type and text of its exception, and then the texts of its warnings."""
    func, inputs, own_options = make(lib)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            result = CHECKS[lib][second](func, inputs, **own_options, **options)
        except Exception as error:
            names = [cls.__name__ for cls in type(error).__mro__]
            builtin = next(name for name in names if hasattr(builtins, name) or name == "GradcheckError")
            result = (builtin, str(error))
    return result, [str(w.message) for w in caught if w.category is UserWarning]


# ----------------------------------------------------------------------------------------------------------------------
# Right derivatives: True from both
# ----------------------------------------------------------------------------------------------------------------------

A = [[1.5, -2.0], [0.25, 3.0]]
Z = [[1.5 + 1j, -2.0j], [0.25 - 0.5j, 3.0]]

RIGHT = {
    "polynomial": lambda lib: (lambda x: x * x * x - 2 * x, (real(lib, A),), {}),
    "transcendental": lambda lib: (lambda x: x.exp() * x.sin(), (real(lib, A),), {}),
    "matmul": lambda lib: (lambda x, y: x @ y, (real(lib, A), real(lib, A)), {}),
    "reduction": lambda lib: (lambda x: (x.sum(0), x.mean()), (real(lib, A),), {}),
    "indexing": lambda lib: (lambda x: x[:, 1] * x[0], (real(lib, A),), {}),
    "broadcast": lambda lib: (lambda x, y: x * y, (real(lib, A), real(lib, [3.0, 4.0])), {}),
    "transposed": lambda lib: (lambda x: x * x, (real(lib, A).detach().t().requires_grad_(),), {}),
    "0-d": lambda lib: (lambda x: x * x, (real(lib, 3.0),), {}),
    "empty": lambda lib: (lambda x: x * x, (real(lib, []),), {}),
    "unused": lambda lib: (lambda x, y: x * x, (real(lib, A), real(lib, A)), {}),
    "constant-output": lambda lib: (lambda x: (x * x, x.detach(), x.argmax()), (real(lib, A),), {}),
    "single-precision": lambda lib: (lambda x: x * x, (real(lib, A, "float32"),), {"eps": 1e-2, "atol": 1e-1}),
    "complex": lambda lib: (lambda z: z * z * z.conj(), (cplx(lib, Z),), {}),
    "complex-exp": lambda lib: (lambda z: z.exp(), (cplx(lib, Z),), {}),
    "complex-abs": lambda lib: (lambda z: z.abs(), (cplx(lib, Z),), {}),
    "complex-mixed": lambda lib: (lambda z, x: (z * x, x * x, z.real * x), (cplx(lib, Z), real(lib, A)), {}),
    "real-to-complex": lambda lib: (lambda x: x * x * (1 - 2j), (real(lib, A),), {}),
}


@both_modes
@pytest.mark.parametrize("second", [0, 1], ids=["gradcheck", "gradgradcheck"])
@pytest.mark.parametrize("name", RIGHT)
def test_right_derivatives_pass_in_both(name, second, fast_mode):
    ours, theirs = (outcome(lib, second, RIGHT[name], fast_mode=fast_mode) for lib in (wengert, torch))
    assert theirs[0] is True
    assert ours == theirs


def test_cotangents_of_outputs_without_gradient_are_ignored_in_both():
    for lib, (_, check) in CHECKS.items():
        x = real(lib, [0.5, 2.0])
        assert check(lambda x: (x * x, x.detach(), x > 1), (x,), [real(lib, [1.0, 3.0]) for _ in range(3)])


# ----------------------------------------------------------------------------------------------------------------------
# Wrong derivatives: the same message, to the last digit in slow mode
# ----------------------------------------------------------------------------------------------------------------------


def scaled(lib, factor):
    """2x with a gradient of factor * grad_output."""
    return function(lib, lambda x: x * 2, lambda saved, g: g * factor)


def transposed_rule(lib):
    matrix = lib.from_numpy(np.arange(6.0).reshape(2, 3))
    wrong = lib.from_numpy(np.arange(6.0).reshape(3, 2))
    return function(lib, lambda x: x @ matrix, lambda saved, g: g @ wrong)


MISMATCHES = {
    "factor": lambda lib: (scaled(lib, 3), (real(lib, [1.0, 2.0]),), {}),
    "2-d": lambda lib: (lambda x: scaled(lib, 3)(x).sum(0), (real(lib, A),), {}),
    "layout": lambda lib: (transposed_rule(lib), (real(lib, [1.0, 2.0]),), {}),
    "second-output": lambda lib: (
        lambda x, y: (x * y, scaled(lib, 3)(y) + x),
        (real(lib, [1.0, 2.0]), real(lib, [3.0, 4.0])),
        {},
    ),
    "no-gradient": lambda lib: (function(lib, lambda x: x * 2, lambda s, g: None), (real(lib, [1.0, 2.0]),), {}),
    "both-wrong": lambda lib: (
        lambda x, z: (scaled(lib, 3)(x), scaled(lib, 3)(z)),
        (real(lib, [1.0]), cplx(lib, [1j])),
        {},
    ),
    "complex-factor": lambda lib: (scaled(lib, 3), (cplx(lib, [1 + 1j, 2.0]),), {}),
    "complex-conjugate": lambda lib: (
        function(lib, lambda z: z * z, lambda saved, g: g * 2 * saved[0]),
        (cplx(lib, [1 + 0.5j, 2 + 1j]),),
        {},
    ),
    "complex-to-real": lambda lib: (
        function(lib, lambda z: z.abs(), lambda s, g: g * 1j),
        (cplx(lib, [1.0, 2 + 1j]),),
        {},
    ),
    "real-part": lambda lib: (
        function(lib, lambda x: x * (1 + 2j), lambda saved, g: g.real * 3 + g.imag * 2),
        (real(lib, [1.0, 2.0]),),
        {},
    ),
    "single-precision": lambda lib: (scaled(lib, 3), (real(lib, [1.0, 2.0], "float32"),), {"eps": 1e-2}),
    "promoted": lambda lib: (lambda x: scaled(lib, 3)(x).double(), (real(lib, [1.0, 2.0], "float32"),), {"eps": 1e-2}),
    "nan": lambda lib: (lambda x: x * float("nan"), (real(lib, [1.0, 2.0]),), {}),
}


@pytest.mark.parametrize("name", MISMATCHES)
def test_mismatches_read_the_same(name):
    ours, theirs = (outcome(lib, 0, MISMATCHES[name]) for lib in (wengert, torch))
    assert theirs[0][0] == "GradcheckError"
    assert ours == theirs


@pytest.mark.parametrize(
    "name", [name for name in MISMATCHES if name != "promoted"]
)  # torch's fast mode cannot mix dtypes
def test_mismatches_read_the_same_in_fast_mode_but_for_the_random_projections(name):
    ours, theirs = (outcome(lib, 0, MISMATCHES[name], fast_mode=True) for lib in (wengert, torch))
    projection = re.compile(r"^(numerical|analytical):.*$", re.MULTILINE)
    assert projection.sub("", ours[0][1]) == projection.sub("", theirs[0][1])


# ----------------------------------------------------------------------------------------------------------------------
# Other failures: the same type, the same beginning
# ----------------------------------------------------------------------------------------------------------------------


def drifting(lib):
    runs = []

    def backward(saved, g):
        runs.append(1)
        return g * (2 + 1e-9 * len(runs))

    return function(lib, lambda x: x * 2, backward)


def failing_on_undefined(lib):
    def backward(saved, g):
        if g is None:
            raise RuntimeError("undefined")
        return g * 2

    return function(lib, lambda x: x * 2, backward, materialize=False)


def ones_for_undefined(lib):
    return function(lib, lambda x: x * 2, lambda s, g: lib.ones_like(s[0]) if g is None else g * 2, materialize=False)


def changing(lib, what):
    calls = []

    def func(x):
        calls.append(1)
        if what == "shape":
            return x * lib.ones(1 + len(calls) // 3, dtype=lib.float64)
        return x.to(lib.float32 if len(calls) == 3 else lib.float64)

    return func


FAILURES = {
    "not-reentrant": lambda lib: (drifting(lib), (real(lib, [1.0]),), {}),
    "not-linear": lambda lib: (function(lib, lambda x: x * 2, lambda s, g: g * 0 + 2), (real(lib, 1.0),), {}),
    "undefined-raises": lambda lib: (failing_on_undefined(lib), (real(lib, [1.0]),), {}),
    "undefined-not-zero": lambda lib: (ones_for_undefined(lib), (real(lib, [1.0]),), {}),
    "detached": lambda lib: (lambda x: x.detach() * 2, (real(lib, [1.0]),), {}),
    "no-input": lambda lib: (lambda x: x * 2, (lib.ones(2),), {}),
    "expanded": lambda lib: (lambda x: x * 2, (real(lib, [1.0]).expand(3),), {}),
    "changing-shape": lambda lib: (changing(lib, "shape"), (real(lib, [1.0]),), {}),
    "changing-dtype": lambda lib: (changing(lib, "dtype"), (real(lib, [1.0]),), {}),
    "no-mode": lambda lib: (lambda x: x * 2, (real(lib, [1.0]),), {"check_backward_ad": False}),
    "batched-forward": lambda lib: (lambda x: x * 2, (real(lib, [1.0]),), {"check_batched_forward_grad": True}),
    "error-in-backward": lambda lib: (function(lib, lambda x: x * 2, lambda s, g: 1 / 0), (real(lib, [1.0]),), {}),
}


def beginning(result):
    """Type and first clause of an error; ours may go on differently from there."""
    kind, text = result
    return kind, re.split(r"\.(?=\s|[A-Z]|$)|: |\n", text)[0]


@both_modes
@pytest.mark.parametrize("name", FAILURES)
def test_failures_begin_the_same(name, fast_mode):
    ours, theirs = (outcome(lib, 0, FAILURES[name], fast_mode=fast_mode) for lib in (wengert, torch))
    assert beginning(ours[0]) == beginning(theirs[0])
    assert ours[1] == theirs[1]


@pytest.mark.parametrize("name", [*FAILURES, *MISMATCHES])
def test_raise_exception_off_turns_the_same_failures_into_false(name):
    make = {**FAILURES, **MISMATCHES}[name]
    ours, theirs = (outcome(lib, 0, make, raise_exception=False) for lib in (wengert, torch))
    assert (ours[0] is False) == (theirs[0] is False)
    assert (ours[0] is True) == (theirs[0] is True) is False


# ----------------------------------------------------------------------------------------------------------------------
# Second derivatives
# ----------------------------------------------------------------------------------------------------------------------


def square_with_wrong_second(lib):
    derivative = function(lib, lambda x, g: x * g * 2, lambda saved, h: (saved[1] * h * 3, saved[0] * h * 2))
    return function(lib, lambda x: x * x, lambda saved, g: derivative(saved[0], g))


@pytest.mark.parametrize("values", [[1.0, 2.0], [[1.0, 2.0], [3.0, 4.0]]], ids=["1-d", "2-d"])
@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_wrong_second_derivatives_read_the_same(values, dtype):
    def make(lib):
        grad_outputs = lib.ones_like(lib.tensor(values, dtype=getattr(lib, dtype)))
        return square_with_wrong_second(lib), (real(lib, values, dtype),), {"grad_outputs": grad_outputs}

    ours, theirs = (outcome(lib, 1, make) for lib in (wengert, torch))
    assert theirs[0][0] == "GradcheckError"
    assert ours == theirs


@pytest.mark.parametrize("name", ["get_numerical_jacobian", "get_analytical_jacobian"])
def test_the_deprecated_pair_gives_the_same_jacobians(name):
    def jacobians(lib):
        function = getattr(importlib.import_module(f"{lib.__name__}.autograd.gradcheck"), name)
        x, y = real(lib, A), real(lib, [3.0, 4.0])
        numerical = name == "get_numerical_jacobian"
        arguments = (lambda inputs: inputs[0] * inputs[1], (x, y)) if numerical else ((x, y), x * y)
        with pytest.warns(FutureWarning, match=f"`{name}` was part of PyTorch's private API and not meant to be"):
            result = function(*arguments)
        return result if numerical else result[0]

    for ours, theirs in zip(jacobians(wengert), jacobians(torch), strict=True):
        np.testing.assert_allclose(ours.numpy(), theirs.numpy(), rtol=1e-9, atol=1e-12)
