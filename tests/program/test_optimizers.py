"""Steps of optimizers in compiled functions: they are instructions, which follow the optimizer's settings and state."""

from __future__ import annotations

import shutil

import numpy as np
import pytest

import wengert as torch
from wengert.kernels import native
from wengert.program import c_library, execution, form

compiled_kernels = pytest.mark.skipif(native is None, reason="nothing is compiled")

OPTIMIZERS = {
    "SGD": [{"lr": 0.1}, {"lr": 0.1, "momentum": 0.9, "nesterov": True}, {"lr": 0.1, "weight_decay": 0.1, "maximize": True}],
    "Adam": [{"lr": 0.01}, {"lr": 0.01, "amsgrad": True}], "AdamW": [{}], "RMSprop": [{}, {"momentum": 0.5, "centered": True}],
    "Adagrad": [{}], "Adadelta": [{}], "Adamax": [{}], "NAdam": [{}], "RAdam": [{}], "ASGD": [{}], "Rprop": [{}],
}  # fmt: skip
CASES = [(name, options) for name, cases in OPTIMIZERS.items() for options in cases]


def make(name, options, compiled, dtype=torch.float32, backend="auto"):
    """A step of a small network, its optimizer and its parameters."""
    rng = np.random.default_rng(1)
    parameters = [torch.tensor(rng.normal(size=shape), dtype=dtype, requires_grad=True) for shape in ((3, 8), (8,), (8, 1))]
    optimizer = getattr(torch.optim, name)(parameters, **options)

    def step(x):
        optimizer.zero_grad()
        w, b, v = parameters
        loss = (((x @ w + b).tanh() @ v) ** 2).mean()
        loss.backward()
        optimizer.step()
        return loss.detach()

    if compiled:
        step = torch.compile(step, fullgraph=True, options={"exact": True}, backend=backend)
    return step, optimizer, parameters


def state_of(optimizer, parameters):
    held = [x.detach().numpy().copy() for x in parameters] + [x._version for x in parameters]
    for p in parameters:
        held += [np.array(value.numpy() if isinstance(value, torch.Tensor) else value) for value in optimizer.state.get(p, {}).values()]
    return held


def compare(name, options, change=lambda optimizer, i: None, calls=6, dtype=torch.float32, backend="auto"):
    """Run steps both ways, with a change of the optimizer before each of them."""
    results = []
    for compiled in (False, True):
        step, optimizer, parameters = make(name, options, compiled, dtype, backend)
        found = []
        for i in range(calls):
            change(optimizer, i)
            x = torch.tensor(np.random.default_rng(i).normal(size=(5, 3)), dtype=dtype)
            found.append([step(x).numpy(), *state_of(optimizer, parameters)])
        results.append(found)
    for call, (expected, got) in enumerate(zip(*results, strict=True)):
        for a, b in zip(expected, got, strict=True):
            np.testing.assert_array_equal(b, a, err_msg=f"call {call}")
    assert sum(r.runs for r in step.recordings) > 0
    return step
    return step


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize(("name", "options"), CASES)
def test_steps_are_those_of_the_optimizer(name, options, dtype):
    compare(name, options, dtype=dtype)


@compiled_kernels
@pytest.mark.parametrize("name", ["SGD", "Adam", "RMSprop"])
def test_steps_are_instructions(name):
    step = compare(name, {"lr": 0.1})
    kinds = [x.kind for x in step.programs()[0].instructions]
    assert kinds.count(form.UPDATE) == 3 and form.HOST not in kinds


@pytest.mark.parametrize("name", ["SGD", "Adam"])
def test_a_new_learning_rate_is_taken(name):
    def change(optimizer, i):
        optimizer.param_groups[0]["lr"] = 0.1 / (i + 1)

    step = compare(name, {"lr": 0.1}, change)
    assert len(step.recordings) <= 2


def test_a_scheduler_changes_the_steps():
    scheduled = {}

    def change(optimizer, i):
        key = id(optimizer)
        if key not in scheduled:
            scheduled[key] = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.5)
        elif i % 2:
            scheduled[key].step()

    compare("SGD", {"lr": 0.1, "momentum": 0.9}, change, calls=8)


def test_settings_that_change_the_formula_are_followed():
    def change(optimizer, i):
        if i == 3:
            optimizer.param_groups[0]["weight_decay"] = 0.1
        if i == 5:
            optimizer.param_groups[0]["maximize"] = True

    compare("SGD", {"lr": 0.1}, change, calls=8)


def test_another_state_is_followed():
    saved = {}

    def change(optimizer, i):
        if i == 2:
            saved[id(optimizer)] = optimizer.state_dict()
        if i in (4, 5):
            optimizer.load_state_dict(saved[id(optimizer)])

    compare("Adam", {"lr": 0.1}, change, calls=9)


def test_hooks_that_are_registered_later_run():
    calls = []

    def change(optimizer, i):
        if i == 3:
            optimizer.register_step_post_hook(lambda *_: calls.append(i))

    compare("SGD", {"lr": 0.1}, change, calls=6)
    assert len(calls) == 6  # three of each run


def test_parameters_without_gradients_stay():
    def both(compiled):
        used, unused = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)
        optimizer = torch.optim.Adam([used, unused], lr=0.1)

        def step(x):
            optimizer.zero_grad()
            (used * x).sum().backward()
            optimizer.step()

        step = torch.compile(step, fullgraph=True) if compiled else step
        for i in range(5):
            if i == 3:
                unused.grad = torch.ones(2)
            step(torch.full((2,), float(i)))
        return used.tolist(), unused.tolist(), len(optimizer.state)

    assert both(True) == both(False)


@pytest.mark.filterwarnings("ignore:.* runs eagerly from now on:RuntimeWarning")  # the uncompiled core calls the optimizer
def test_a_condition_after_a_step_is_followed():
    def both(compiled):
        w = torch.ones(2, requires_grad=True)
        optimizer = torch.optim.SGD([w], lr=0.1)

        def step(x):
            optimizer.zero_grad()
            (w * x).sum().backward()
            optimizer.step()
            return w.detach() * (2 if w.sum() > 0 else 3)

        step = torch.compile(step) if compiled else step
        return [step(torch.full((2,), float(i) - 2)).tolist() for i in (0, 1, 9, 9, 0, 0, 9, 9)], w.tolist()

    assert both(True) == both(False)


@pytest.fixture
def stopped_step():
    """A compiled step of w = (1, 1) with learning rate 0.1 and gradient 1, and a function that lets its runs end in an error."""
    w = torch.ones(2, requires_grad=True)
    optimizer = torch.optim.SGD([w], lr=0.1)

    def step(x):
        optimizer.zero_grad()
        loss = (w * x).sum()
        loss.backward()
        optimizer.step()
        return loss.detach()

    compiled = torch.compile(step, fullgraph=True)
    for _ in range(3):
        compiled(torch.ones(2))
    executable = compiled.recordings[0].executable

    def stop(error):
        def fail(self):
            raise error

        executable.steps.append(("stop",))
        execution._STEPS["stop"] = fail

    yield compiled, w, stop
    if "stop" in execution._STEPS:
        del execution._STEPS["stop"]
        executable.steps.pop()
    w.detach().fill_(1.0)
    assert compiled(torch.ones(2)).item() == 2.0


@compiled_kernels
def test_an_interrupt_after_a_step_says_what_is_written(stopped_step):
    compiled, w, stop = stopped_step
    before, version = w.detach().clone(), w._version
    stop(KeyboardInterrupt())
    with pytest.raises(KeyboardInterrupt) as caught:
        compiled(torch.ones(2))
    assert "may hold new values" in caught.value.__notes__[0]
    torch.testing.assert_close(w.detach(), before - 0.1)
    assert w._version == version + 1  # a graph that has saved w sees that it is written


@compiled_kernels
def test_a_run_that_does_not_fit_after_a_step_does_not_step_twice(stopped_step):
    compiled, w, stop = stopped_step
    before = w.detach().clone()
    stop(execution.Mismatch("the operands of a kernel"))
    with pytest.raises(RuntimeError, match="stopped in the middle, as the operands of a kernel is not as it was: .* may hold new values"):
        compiled(torch.ones(2))
    torch.testing.assert_close(w.detach(), before - 0.1)


def test_gradients_of_arguments_go_to_the_arguments():
    def run(x):
        (x * x).sum().backward()

    compiled = torch.compile(run, fullgraph=True)
    first = torch.ones(2, requires_grad=True)
    compiled(first)
    first.grad = None
    for i in range(1, 4):
        x = torch.full((2,), float(i), requires_grad=True)
        for n in (1, 2):  # the second call adds to the gradient
            compiled(x)
            assert x.grad.tolist() == [2.0 * i * n] * 2
    assert first.grad is None and len(compiled.recordings) == 2


def test_a_gradient_that_was_none_is_cleared():
    w, unused = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)

    def run(x):
        w.grad = unused.grad = None
        (w * x).sum().backward()

    compiled = torch.compile(run, fullgraph=True)
    for i in range(4):
        unused.grad = torch.ones(2) if i == 2 else None
        compiled(torch.ones(2))
        assert unused.grad is None and w.grad.tolist() == [1.0, 1.0]


@compiled_kernels
@pytest.mark.skipif(not any(map(shutil.which, ("cc", "gcc", "clang"))), reason="needs a C compiler")
@pytest.mark.parametrize(("name", "options"), CASES)
def test_steps_in_c_give_eagers_parameters_and_state_bit_for_bit(name, options, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(c_library, "_SHORT", 0)  # the compiler optimizes little, which takes a third of the time

    def change(optimizer, i):
        optimizer.param_groups[0]["lr"] = 0.01 / (1 + i)

    step = compare(name, options, change, backend="c")
    kinds = [x.kind for x in step.recordings[0].executable.instructions]
    assert form.C in kinds and form.UPDATE not in kinds
