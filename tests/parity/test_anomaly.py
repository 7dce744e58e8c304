"""Anomaly detection beside torch's: the same errors, and the same warnings up to the lines of the stacks."""

import warnings

import pytest

import wengert

torch = pytest.importorskip("torch")


def nan_of_a_quotient(lib):
    x = lib.zeros(2, requires_grad=True)
    (x / x).sum().backward()


def nan_of_a_root(lib):
    x = lib.zeros(2, requires_grad=True)
    ((x.sqrt()) * 0).sum().backward()


def infinite_only(lib):
    lib.zeros(2, requires_grad=True).log().sum().backward()


def nan_of_a_pass(lib):
    x = lib.zeros(2, requires_grad=True)
    (g,) = lib.autograd.grad((x**1.5).sum(), x, create_graph=True)
    (g * 0.0).sum().backward()


def written_since(lib):
    y = lib.zeros(2, requires_grad=True).exp()
    y.add_(1)
    y.sum().backward()


def nan_given(lib):
    (lib.zeros(2, requires_grad=True) * 2).backward(lib.tensor([float("nan"), 1.0]))


def failing_function(lib):
    class Failing(lib.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.clone()

        @staticmethod
        def backward(ctx, ct):
            raise RuntimeError("boom")

    Failing.apply(lib.zeros(2, requires_grad=True)).sum().backward()


def outcome(lib, run, **settings):
    """The first line of the error, and of each warning its kind and its text before the stack."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            with lib.autograd.detect_anomaly(**settings):
                run(lib)
            error = None
        except RuntimeError as e:
            error = str(e).splitlines()[0].partition(" Its forward")[0]
    return error, [(w.category, str(w.message).partition("File")[0].partition(" (Triggered")[0].strip()) for w in caught]


@pytest.mark.parametrize("check_nan", [True, False])
@pytest.mark.parametrize(
    "run", [nan_of_a_quotient, nan_of_a_root, infinite_only, nan_of_a_pass, written_since, nan_given, failing_function]
)
def test_anomaly_detection_raises_and_warns_as_torch(run, check_nan):
    assert outcome(wengert, run, check_nan=check_nan) == outcome(torch, run, check_nan=check_nan)


def test_outside_of_the_forward():
    def of(lib):
        x = lib.zeros(2, requires_grad=True)
        y = (x / x).sum()
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            with pytest.raises(RuntimeError) as info, lib.autograd.detect_anomaly():
                y.backward()
        text = str(caught[1].message).partition(" (Triggered")[0].partition(" The forward was")[0]
        return str(info.value).partition(" Its forward")[0], text

    assert of(wengert) == of(torch)
