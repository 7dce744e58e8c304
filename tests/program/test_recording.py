"""The run that is recorded: what it keeps, what it is told of, and what watches it."""

from __future__ import annotations

import cProfile
import gc
import sys
import warnings
import weakref

import pytest

import wengert as torch
from wengert.core.recorder import hold_calls, watch_calls
from wengert.program.recording import Recorder


def test_large_values_are_given_back_while_a_function_is_recorded():
    alive = []

    @torch.compile
    def fn(x):
        a = x * 2
        is_gone = weakref.ref(a._array)
        b = a + 1
        del a
        alive.append(is_gone() is not None)
        return b

    fn(torch.ones(100_000))
    fn.reset()
    fn(torch.ones(10))
    assert alive == [False, True]  # small ones are kept: their ids tell what they are


def test_memory_that_is_used_again_is_other_memory():
    @torch.compile
    def fn(x):
        total = x.sum()
        for i in range(20):
            y = x * (i + 1)
            z = y - x
            total = total + (z[::2].sum() - y[1:].mean())
        return total

    x = torch.arange(200_000.0, dtype=torch.float64) / 1e5
    expected = fn.function(x)
    assert [fn(x).item() for _ in range(3)] == [expected.item()] * 3
    assert len(fn.recordings) == 1


def test_a_function_runs_eagerly_while_another_profiler_watches():
    calls = []

    @torch.compile
    def fn(x):
        return x * 2 + 1

    before = sys.getprofile()
    sys.setprofile(lambda frame, event, argument: calls.append(event))
    try:
        assert fn(torch.ones(2)).tolist() == [3.0, 3.0]
        assert sys.getprofile() is not before
    finally:
        sys.setprofile(before)
    assert "call" in calls and not fn.recordings
    profiler = cProfile.Profile()
    assert profiler.runcall(fn, torch.ones(2)).tolist() == [3.0, 3.0]
    assert fn(torch.ones(2)).tolist() == [3.0, 3.0] and len(fn.recordings) == 1


def test_recording_is_told_of_few_calls(monkeypatch):
    told = []
    original = Recorder.profile

    def profile(self, frame, event, argument):
        told.append(event)
        return original(self, frame, event, argument)

    def fn(x):
        y = x
        for _ in range(50):
            y = y * x + 1
        return torch.autograd.grad(y.sum(), x)[0]

    x = torch.ones(2, requires_grad=True)
    torch.compile(fn, fullgraph=True)(x)  # the codes of the package are known from now on
    monkeypatch.setattr(Recorder, "profile", profile)
    torch.compile(fn, fullgraph=True)(x)
    assert 0 < len(told) < 50


def outer(x):
    return [inner(x), len("ab")]


def inner(x):
    return x


@pytest.mark.parametrize(
    ("kinds", "expected"),
    [
        ((0, 0), []),
        ((1, 0), ["call outer", "return outer"]),
        ((2, 2), ["c_call outer"]),
        ((0, 4), []),
        ((4, 0), ["return outer"]),
        ((3, 1), ["call outer", "call inner", "return inner", "c_call outer", "return outer"]),
    ],
)
def test_watched_calls_are_those_that_were_asked_for(kinds, expected):
    told = []
    known = {id(f.__code__): kind for f, kind in zip((outer, inner), kinds, strict=True)}
    watch_calls(known, lambda frame, event, argument: told.append(f"{event} {frame.f_code.co_name}"))
    try:
        outer(torch.ones(1))  # a tensor is no data
        hold_calls(True)
        outer(1)
        hold_calls(False)
    finally:
        watch_calls({}, None)
    outer(1)
    assert [x for x in told if x.endswith(("outer", "inner"))] == expected


def test_an_observer_that_fails_ends_the_call():
    def tell(frame, event, argument):
        if frame.f_code is inner.__code__:
            raise ValueError("no")

    watch_calls({}, tell)
    try:
        with pytest.raises(ValueError, match="no"):
            inner(1)
    finally:
        watch_calls({}, None)
    assert inner(1) == 1


def test_the_garbage_collector_is_left_as_it_was():
    for enabled in (True, False):
        gc.enable() if enabled else gc.disable()
        try:
            torch.compile(lambda x: x + 1)(torch.ones(2))
            assert gc.isenabled() == enabled
        finally:
            gc.enable()


@pytest.mark.parametrize(
    "layer",
    [
        lambda: torch.nn.AvgPool2d(3, stride=2, padding=1, count_include_pad=False),
        lambda: torch.nn.utils.parametrizations.spectral_norm(torch.nn.Conv2d(2, 3, 2)),
    ],
)
def test_layers_that_keep_arrays_are_recorded(layer):
    def run(wrap):
        torch.manual_seed(0)
        module = layer()

        def step(x):
            loss = (module(x) ** 2).sum()
            loss.backward()
            return loss.detach(), x.grad

        compiled = wrap(step)
        found = []
        for i in range(4):
            module.zero_grad()
            x = (torch.arange(50.0).reshape(1, 2, 5, 5) / 7 - i).requires_grad_()
            found.append([y.tolist() for y in compiled(x)])
        return found, {name: y.tolist() for name, y in module.state_dict().items()}

    assert run(lambda f: torch.compile(f, fullgraph=True, options={"exact": True})) == run(lambda f: f)


def test_a_function_that_catches_the_error_of_an_operation_follows_it():
    def fn(x):
        try:
            return torch.linalg.cholesky(x)
        except RuntimeError:
            return x * 0

    compiled = torch.compile(fn)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for sign in (-1, 1, 1, -1, -1, -1, 1, 1):
            assert compiled(torch.eye(2) * sign).tolist() == fn(torch.eye(2) * sign).tolist()


def test_shapes_that_follow_from_values_record_anew():
    def fn(x):
        y = x[x > 0]
        return y.sort().values * 2, y.mean()

    compiled = torch.compile(fn, fullgraph=True)
    for i in range(6):
        x = torch.tensor([1.0, -1.0, 2.0, 3.0]) - i % 3
        assert [y.tolist() for y in compiled(x)] == [y.tolist() for y in fn(x)]
    assert len(compiled.recordings) == 3


def test_a_recording_that_meets_other_gradients_is_not_planned():
    """The first step of a training loop finds no gradients, and all others do."""
    weight = torch.ones(3, requires_grad=True)
    optimizer = torch.optim.SGD([weight], lr=0.1)

    def step(x):
        optimizer.zero_grad(set_to_none=False)
        loss = (weight * x).sum()
        loss.backward()
        optimizer.step()
        return loss.detach()

    made = torch.compile(step, fullgraph=True)
    for _ in range(4):
        made(torch.ones(3))
    later, first = made.recordings
    assert later.runs == 2 and first.runs == 0
    assert first._executable is None
    torch.testing.assert_close(weight.detach(), torch.full((3,), 0.6))
