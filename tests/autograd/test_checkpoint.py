"""Checkpoints: gradients are those without, recomputation happens when and as often as it must, mistakes are found."""

import gc
import warnings
import weakref
from contextlib import contextmanager

import numpy as np
import pytest

import wengert
from lines import line_of
from wengert.autograd import Function, grad
from wengert.autograd.graph import allow_mutation_on_saved_tensors, saved_tensors_hooks
from wengert.utils.checkpoint import (
    CheckpointError,
    check_backward_validity,
    checkpoint,
    checkpoint_sequential,
    detach_variable,
    get_device_states,
    noop_context_fn,
    set_checkpoint_debug_enabled,
    set_checkpoint_early_stop,
    set_device_states,
)


def leaf(*numbers):
    return wengert.tensor(list(numbers), dtype=wengert.float64, requires_grad=True)


class Counted:
    """A function of one tensor, and how often each of its three lines ran."""

    def __init__(self):
        self.lines = [0, 0, 0]

    def __call__(self, x):
        self.lines[0] += 1
        x = x.sin()
        self.lines[1] += 1
        x = x.exp()
        self.lines[2] += 1
        return x + 1


def derivative(x):
    return np.exp(np.sin(x)) * np.cos(x)


@pytest.mark.parametrize("use_reentrant", [False, True])
def test_gradients_agree_with_a_run_without_checkpoint(use_reentrant):
    x = leaf(0.5, 2.0)
    f = Counted()
    y = checkpoint(f, x, use_reentrant=use_reentrant)
    np.testing.assert_allclose(y.tolist(), np.exp(np.sin([0.5, 2.0])) + 1)
    assert f.lines == [1, 1, 1]
    y.sum().backward()
    np.testing.assert_allclose(x.grad.tolist(), derivative(np.array([0.5, 2.0])))


@pytest.mark.parametrize(("early_stop", "lines"), [(True, [2, 2, 1]), (False, [2, 2, 2])])
def test_the_second_run_stops_when_it_has_everything(early_stop, lines):
    for block, argument in ((early_stop, True), (True, early_stop)):
        f = Counted()
        with set_checkpoint_early_stop(block):
            y = checkpoint(f, leaf(1.0), use_reentrant=False, early_stop=argument)
        y.backward()
        assert f.lines == lines


def test_each_pass_runs_the_part_once_more():
    x = leaf(1.0)
    f = Counted()
    y = checkpoint(f, x, use_reentrant=False)
    y.backward(retain_graph=True)
    y.backward()
    assert f.lines == [3, 3, 1]
    np.testing.assert_allclose(x.grad.item(), 2 * derivative(1.0))
    with pytest.raises(RuntimeError, match="^Trying to backward through the graph a second time"):
        y.backward()


def test_nested_checkpoints():
    x = leaf(0.3)
    inner = Counted()

    def outer(x):
        return checkpoint(inner, x.sin(), use_reentrant=False).sin()

    checkpoint(outer, x, use_reentrant=False).backward()
    assert inner.lines == [3, 3, 2]
    s = np.sin(0.3)
    np.testing.assert_allclose(x.grad.item(), np.cos(np.exp(np.sin(s)) + 1) * derivative(s) * np.cos(0.3))


def test_deeply_nested_checkpoints():
    x = leaf(0.3)

    def nested(x, depth):
        return checkpoint(nested, x.sin(), depth - 1, use_reentrant=False) if depth else x

    nested(x, 10).backward()
    plain = leaf(0.3)
    y = plain
    for _ in range(10):
        y = y.sin()
    y.backward()
    assert x.grad.item() == plain.grad.item()


def test_only_inputs_are_saved():
    class Box:
        pass

    alive = []

    def f(x):
        for _ in range(3):
            x = x.exp()
            alive.append(weakref.ref(x))
        return x.sum()

    x = leaf(0.1)
    gc.disable()
    try:
        y = checkpoint(f, x, use_reentrant=False)
        assert all(r() is None for r in alive)
        y.backward()
        assert all(r() is None for r in alive)
    finally:
        gc.enable()


def test_a_checkpoint_dies_by_reference_count():
    x = leaf(0.1)
    gc.disable()
    try:
        for use_reentrant in (False, True):
            f = Counted()
            y = checkpoint(f, x, use_reentrant=use_reentrant)
            y.backward()
            dead = weakref.ref(f)
            del f, y
            assert dead() is None
    finally:
        gc.enable()


def test_arguments_and_results_of_any_kind():
    x, y = leaf(1.0, 2.0), leaf(3.0, 4.0)

    def f(a, n, d, *, scale, none=None):
        assert none is None
        return {"sum": (a * d["y"]).sum() * scale, "n": n, "list": [a.exp(), "text"]}

    result = checkpoint(f, x, 5, {"y": y}, scale=2, use_reentrant=False)
    assert (result["n"], result["list"][1]) == (5, "text")
    result["sum"].backward()
    assert x.grad.tolist() == [6.0, 8.0]
    assert y.grad.tolist() == [2.0, 4.0]


def test_tensors_of_the_surrounding_program():
    x, w = leaf(2.0), leaf(3.0)
    checkpoint(lambda: (x * w).exp().log(), use_reentrant=False).backward()
    np.testing.assert_allclose([x.grad.item(), w.grad.item()], [3.0, 2.0])


def test_derivatives_of_derivatives():
    x = leaf(2.0)
    y = checkpoint(lambda t: t**3, x, use_reentrant=False)
    (first,) = grad(y, x, create_graph=True)
    (second,) = grad(first, x)
    assert (first.item(), second.item()) == (12.0, 12.0)


@pytest.mark.parametrize("early_stop", [False, True])
def test_a_backward_pass_inside_the_part(early_stop):
    def f(x):
        y = x.sin()
        (g,) = grad(y.sum(), x, create_graph=True)
        return (g * y).exp()

    x, plain = leaf(0.4), leaf(0.4)
    checkpoint(f, x, use_reentrant=False, early_stop=early_stop).backward()
    f(plain).backward()
    np.testing.assert_allclose(x.grad.item(), plain.grad.item())


def test_writes_and_functions_inside_the_part():
    class Square(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, g):
            return 2 * g * ctx.saved_tensors[0]

    def f(x):
        y = (x * 2).exp_() * 1
        y[:1] *= x[1]
        return Square.apply(y)

    x, plain = leaf(0.5, 0.25), leaf(0.5, 0.25)
    checkpoint(f, x, use_reentrant=False).sum().backward()
    f(plain).sum().backward()
    assert x.grad.tolist() == plain.grad.tolist()


def test_a_write_into_an_input_is_found():
    x = leaf(1.0)
    a = x * 1
    y = checkpoint(lambda t: t.sin(), a, use_reentrant=False)
    with wengert.no_grad():
        a.mul_(2)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.backward()


def test_with_other_hooks():
    x = leaf(0.5)
    packed = []
    with saved_tensors_hooks(lambda t: (packed.append(t), t)[1], lambda t: t):
        y = checkpoint(lambda t: t.sin().exp(), x, use_reentrant=False)
    assert len(packed) == 1  # the input
    y.backward()
    np.testing.assert_allclose(x.grad.item(), derivative(0.5))
    with allow_mutation_on_saved_tensors():
        a = x.detach() * 1
        w = leaf(1.0)
        y = checkpoint(lambda w, a: w * a, w, a, use_reentrant=False)
        a.zero_()
        y.backward()
    assert w.grad.item() == 0.5


def test_without_recording_nothing_is_kept():
    f = Counted()
    with wengert.no_grad():
        for use_reentrant in (False, True):
            assert not checkpoint(f, leaf(1.0), use_reentrant=use_reentrant).requires_grad
    assert f.lines == [2, 2, 2]


def test_saved_values_of_a_checkpoint_can_be_read_twice():
    y = checkpoint(lambda t: t.sin().exp(), leaf(0.5), use_reentrant=False)
    for _ in range(2):
        assert y.grad_fn._saved_result.item() == y.item()


# -- random numbers ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("use_reentrant", [False, True])
@pytest.mark.parametrize("preserve", [False, True])
def test_random_numbers(use_reentrant, preserve):
    x = leaf(1.0, 1.0, 1.0)
    wengert.manual_seed(1)
    y = checkpoint(
        lambda t: t * wengert.rand(3), x, use_reentrant=use_reentrant, preserve_rng_state=preserve
    )
    wengert.rand(1)
    before = wengert.get_rng_state()
    y.sum().backward()
    assert (x.grad.tolist() == y.tolist()) == preserve
    assert bool((wengert.get_rng_state() == before).all()) == preserve


# -- mistakes ----------------------------------------------------------------------------------------------------------------


class Changing:
    """One function in the first run, another one after that."""

    def __init__(self, first, then):
        self.functions = [first, then]

    def __call__(self, x):
        return (self.functions.pop(0) if len(self.functions) > 1 else self.functions[0])(x)


FEWER = Changing, (lambda x: x.sin().sin().sin(), lambda x: x.sin())
MORE = Changing, (lambda x: x.sin(), lambda x: x.sin().sin().sin())
SHAPE = Changing, (lambda x: x.sin().sum(), lambda x: x[:2].sin().sum())
DTYPE = Changing, (lambda x: x.sin().sum(), lambda x: x.float().sin().sum())
MISTAKES = {
    "fewer": (FEWER, "different number of tensors was saved"),
    "more": (MORE, "trying to save more tensors during recomputation"),
    "shape": (SHAPE, r"different metadata than .*\ntensor at position 0:\nsaved metadata: \{'shape': torch.Size\(\[3\]\)"),
    "dtype": (DTYPE, r"recomputed metadata: \{'shape': torch.Size\(\[3\]\), 'dtype': torch.float32"),
}


@pytest.mark.parametrize("case", MISTAKES)
def test_a_part_that_does_something_else_is_an_error(case):
    (make, functions), message = MISTAKES[case]
    y = checkpoint(make(*functions), leaf(1.0, 2.0, 3.0), use_reentrant=False, early_stop=False).sum()
    with pytest.raises(CheckpointError, match=f"^torch.utils.checkpoint: .*{message}|{message}") as caught:
        y.backward()
    assert isinstance(caught.value, RuntimeError)


def test_the_determinism_check_can_be_left_out():
    make, functions = DTYPE
    x = leaf(1.0, 2.0, 3.0)
    checkpoint(make(*functions), x, use_reentrant=False, determinism_check="none").backward()
    np.testing.assert_allclose(x.grad.tolist(), np.cos([1, 2, 3]), rtol=1e-6)


def test_debug_lists_saved_tensors_with_their_lines():
    def first(x):
        return x.sin().cos()  # first run

    def then(x):
        return x.sin()  # second run

    expected = [line_of(__file__, "first run"), line_of(__file__, "second run")]
    x = leaf(1.0)
    with pytest.raises(CheckpointError) as caught:
        checkpoint(Changing(first, then), x, use_reentrant=False, debug=True).backward()
    assert str(caught.value).splitlines() == [
        "An error happened while unpacking tensors; dumping logs of latest computation",
        "because you passed `debug=True` to `torch.utils.checkpoint.checkpoint()`.",
        "",
        "Tensors saved during the original forward:",
        f"  0: torch.float64[1] saved at {expected[0]}, in first",
        f"  1: torch.float64[1] saved at {expected[0]}, in first",
        "",
        "Tensors saved during recomputation:",
        f"  0: torch.float64[1] saved at {expected[1]}, in then",
        "",
        "torch.utils.checkpoint: A different number of tensors was saved during the original forward and recomputation.",
        "Number of tensors saved during forward: 2",
        "Number of tensors saved during recomputation: 1.",
        *str(caught.value).splitlines()[13:],  # the note about the forward line
    ]
    with set_checkpoint_debug_enabled(True), pytest.raises(CheckpointError, match="^An error happened while"):
        checkpoint(Changing(first, then), x, use_reentrant=False).backward()
    with set_checkpoint_debug_enabled(False), pytest.raises(CheckpointError, match=r"^torch\.utils"):
        checkpoint(Changing(first, then), x, use_reentrant=False, debug=True).backward()


def test_errors_of_the_part():
    with pytest.raises(ZeroDivisionError):
        checkpoint(lambda x: 1 / 0, leaf(1.0), use_reentrant=False)
    y = checkpoint(Changing(lambda x: x.sin(), lambda x: 1 / 0), leaf(1.0), use_reentrant=False)
    with pytest.raises(ZeroDivisionError):
        y.backward()
    leaf(1.0).exp().backward()  # no hooks are left


def test_a_part_that_catches_exceptions():
    def f(x):
        try:
            return x.sin().exp() * 1
        except Exception:
            return None

    x = leaf(0.5)
    checkpoint(f, x, use_reentrant=False).backward()
    np.testing.assert_allclose(x.grad.item(), derivative(0.5))


def test_options_are_checked():
    x = leaf(1.0)
    with pytest.raises(ValueError, match="^determinism_check should be one of"):
        checkpoint(Counted(), x, use_reentrant=False, determinism_check="some")
    with pytest.raises(ValueError, match="^Unexpected keyword arguments: y$"):
        checkpoint(Counted(), x, use_reentrant=True, y=1)
    for option in ({"debug": True}, {"context_fn": lambda: (None, None)}):
        with pytest.raises(ValueError, match="is only supported when use_reentrant=False.$"):
            checkpoint(Counted(), x, use_reentrant=True, **option)
    for function, message in ((checkpoint, "checkpoint"), (checkpoint_sequential, "checkpoint.checkpoint_sequential")):
        arguments = (Counted(), x) if function is checkpoint else ([Counted()], 1, x)
        with pytest.warns(UserWarning, match=f"^torch.utils.{message}: the use_reentrant parameter should be passed"):
            function(*arguments)


# -- contexts ----------------------------------------------------------------------------------------------------------------


def test_contexts_of_the_two_runs():
    log = []

    @contextmanager
    def context(name):
        log.append("enter " + name)
        try:
            yield
        finally:
            log.append("leave " + name)

    f = Counted()
    y = checkpoint(f, leaf(1.0), use_reentrant=False, context_fn=lambda: (context("first"), context("again")))
    assert log == ["enter first", "leave first"]
    y.backward()
    assert log[2:] == ["enter again", "leave again"]
    with pytest.raises(TypeError):
        checkpoint(f, leaf(1.0), use_reentrant=False, context_fn=lambda: 1)
    first, again = noop_context_fn()
    with first, again:
        pass


# -- use_reentrant=True ------------------------------------------------------------------------------------------------------


def test_a_reentrant_checkpoint_refuses_partial_passes():
    x = leaf(1.0)
    y = checkpoint(Counted(), x, use_reentrant=True)
    for run in (lambda: grad(y, x, retain_graph=True), lambda: y.backward(inputs=[x], retain_graph=True)):
        with pytest.raises(RuntimeError, match="^When use_reentrant=True, torch.utils.checkpoint is incompatible"):
            run()
    y.backward()
    np.testing.assert_allclose(x.grad.item(), derivative(1.0))


def test_a_reentrant_checkpoint_needs_an_input_that_requires_grad():
    w = leaf(2.0)
    with pytest.warns(UserWarning, match="^None of the inputs have requires_grad=True. Gradients will be None$"):
        y = checkpoint(lambda x: x * w, wengert.ones(1), use_reentrant=True)
    assert not y.requires_grad
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_backward_validity([1, w])


def test_a_reentrant_checkpoint_whose_results_need_no_gradient():
    y = checkpoint(lambda x: (x * 2).detach(), leaf(1.0), use_reentrant=True)
    with pytest.raises(RuntimeError, match="^none of output has requires_grad=True, this checkpoint"):
        y.backward()


def test_several_results_of_a_reentrant_checkpoint():
    x, w = leaf(2.0), leaf(3.0)
    a, n, b = checkpoint(lambda x, k, none: (x * w, k, (x * 2).detach()), x, 4, None, use_reentrant=True)
    assert n == 4
    (a + b).sum().backward()
    assert (x.grad.item(), w.grad.item()) == (3.0, 2.0)


def test_nested_reentrant_checkpoints():
    x = leaf(0.3)
    with pytest.warns(UserWarning, match="^None of the inputs have requires_grad=True"):  # the first run records nothing
        y = checkpoint(lambda t: checkpoint(Counted(), t.sin(), use_reentrant=True), x, use_reentrant=True)
    y.backward()
    np.testing.assert_allclose(x.grad.item(), derivative(np.sin(0.3)) * np.cos(0.3))


def test_detach_variable():
    x = leaf(1.0)
    a, n, b = detach_variable((x * 2, 3, wengert.ones(1)))
    assert (a.is_leaf, a.requires_grad, n, b.requires_grad) == (True, True, 3, False)
    with pytest.raises(RuntimeError, match="^Only tuple of tensors is supported"):
        detach_variable(x)


def test_other_devices_have_no_generators():
    states = get_device_states(leaf(1.0))
    assert states == ([], [])
    set_device_states(*states)


# -- sequences ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("use_reentrant", [False, True])
@pytest.mark.parametrize("segments", [1, 2, 3, 5])
def test_sequences(use_reentrant, segments):
    x, plain = leaf(0.5), leaf(0.5)
    counts = [Counted() for _ in range(5)]
    y = checkpoint_sequential(counts, segments, x, use_reentrant=use_reentrant)
    y.backward()
    z = plain
    for f in counts:
        z = f(z)
    z.backward()
    assert (y.item(), x.grad.item()) == (z.item(), plain.grad.item())
    in_checkpoints = 5 // segments * (segments - 1)
    assert [f.lines[0] for f in counts] == [3] * in_checkpoints + [2] * (5 - in_checkpoints)


def test_sequences_of_modules_and_mistakes():
    class Module:
        def children(self):
            return iter([lambda x: x * 2, lambda x: x * 3])

    x = leaf(1.0)
    checkpoint_sequential(Module(), 2, input=x, use_reentrant=False).backward()
    assert x.grad.item() == 6.0
    for segments in (0, 3):
        with pytest.raises(ValueError, match="^checkpoint_sequential cuts 2 functions into 1 to 2 segments"):
            checkpoint_sequential(Module(), segments, x, use_reentrant=False)
    with pytest.raises(ValueError, match="^Unexpected keyword arguments: other$"):
        checkpoint_sequential(Module(), 2, x, use_reentrant=False, other=1)
