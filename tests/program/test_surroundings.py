"""What a compiled function reaches outside of its arguments: a change of it is seen, or the function runs eagerly."""

from __future__ import annotations

import argparse
import array
import collections
import functools
import itertools
import os
import random
import subprocess
import sys
import types
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

import wengert as torch

FACTOR = 2.0
SETTINGS = {"a": {"b": [2.0]}}


class Slots:
    __slots__ = ("k",)

    def __init__(self):
        self.k = 2.0


@dataclass(slots=True)
class Data:
    k: float = 2.0


class Constant:
    k = 2.0

    @property
    def doubled(self):
        return 2 * self.k

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return FACTOR


def scale(x):
    return x * FACTOR


def of_attribute(x):
    """A function that reads x.k, and one that changes it."""
    return (lambda t: t * x.k), lambda: setattr(x, "k", x.k + 3.0)


def of_element(x, key=0):
    return (lambda t: t * x[key]), lambda: x.__setitem__(key, x[key] + 3.0)


def change_global(change=3.0):
    global FACTOR
    FACTOR += change


def module():
    made = types.ModuleType("a_module_of_a_user")
    made.__dict__.update(k=2.0, __spec__=None)
    return made


def by_class():
    x = Constant()
    return (lambda t: t * x.k), lambda: setattr(Constant, "k", Constant.k + 3.0)


def by_property():
    x = Constant()
    x.__dict__["k"] = 2.0
    return (lambda t: t * x.doubled), lambda: x.__dict__.__setitem__("k", 5.0)


def in_environment():
    os.environ["WENGERT_TEST_FACTOR"] = "2"
    return (lambda t: t * float(os.environ["WENGERT_TEST_FACTOR"])), lambda: os.environ.__setitem__("WENGERT_TEST_FACTOR", "5")


def array_of(x):
    return (lambda t: t * float(x[0])), lambda: x.__setitem__(0, 5.0)


def of_optimizer():
    optimizer = torch.optim.SGD([torch.ones(1, requires_grad=True)], lr=0.5)
    return (lambda t: t * optimizer.param_groups[0]["lr"]), lambda: optimizer.param_groups[0].__setitem__("lr", 0.25)


CASES = {
    "a global": lambda: (lambda t: t * FACTOR, change_global),
    "a global of a function that it calls": lambda: (scale, change_global),
    "a global of a decorated function": lambda: (torch.no_grad()(scale), change_global),
    "a global of __getattr__": lambda: ((lambda x: lambda t: t * x.missing)(Constant()), change_global),
    "globals()": lambda: (lambda t: t * globals()["FACTOR"], change_global),
    "a nested container": lambda: (lambda t: t * SETTINGS["a"]["b"][0], lambda: SETTINGS["a"]["b"].__setitem__(0, 7.0)),
    "a deque": lambda: of_element(collections.deque([2.0])),
    "an array of Python": lambda: of_element(array.array("d", [2.0])),
    "an element of an array": lambda: array_of(np.ones(3)),
    "an element of a large array": lambda: array_of(np.ones(20_000)),
    "a long list": lambda: of_element([float(i) for i in range(30_000)], 29_999),
    "slots": lambda: of_attribute(Slots()),
    "a data class": lambda: of_attribute(Data()),
    "a namespace": lambda: of_attribute(types.SimpleNamespace(k=2.0)),
    "arguments of a program": lambda: of_attribute(argparse.Namespace(k=2.0)),
    "an attribute of a class": by_class,
    "a property": by_property,
    "a module": lambda: of_attribute(module()),
    "a partial": lambda: (functools.partial(lambda factor, t: t * factor[0], SETTINGS["a"]["b"]), lambda: SETTINGS["a"]["b"].append(1.0) or SETTINGS["a"]["b"].__setitem__(0, 9.0)),
    "the environment": in_environment,
    "settings of an optimizer": of_optimizer,
}  # fmt: skip


@pytest.mark.filterwarnings("ignore:.* runs eagerly from now on:RuntimeWarning")
@pytest.mark.parametrize("name", CASES)
def test_a_change_of_what_a_function_reaches_is_seen(name):
    function, change = CASES[name]()
    compiled = torch.compile(function)
    x = torch.tensor([1.0, -2.0])
    for _ in range(3):
        assert torch.equal(compiled(x), function(x))
    change()
    for _ in range(3):
        assert torch.equal(compiled(x), function(x))


GENERATOR = np.random.default_rng(0)
FRESH = {
    "an iterator": lambda: (lambda counter: lambda t: t * next(counter))(itertools.count(1)),
    "a generator": lambda: (lambda numbers: lambda t: t * next(numbers))(i for i in range(100)),
    "random numbers of Python": lambda: lambda t: t * random.random(),
    "random numbers of NumPy": lambda: lambda t: t * np.random.rand(),  # noqa: NPY002
    "a generator of NumPy": lambda: lambda t: t * GENERATOR.random(),
}


@pytest.mark.filterwarnings("ignore:.* runs eagerly from now on:RuntimeWarning")
@pytest.mark.parametrize("name", FRESH)
def test_numbers_are_drawn_anew_in_each_call(name):
    compiled = torch.compile(FRESH[name]())
    assert len({compiled(torch.ones(1)).item() for _ in range(5)}) == 5


@pytest.mark.parametrize("name", ["a global", "slots", "a data class", "arguments of a program", "a property", "an element of an array"])
def test_what_can_be_compared_is_recorded(name):
    function, change = CASES[name]()
    compiled = torch.compile(function, fullgraph=True)
    x = torch.tensor([1.0, -2.0])
    for _ in range(3):
        compiled(x)
    change()
    compiled(x)
    *_, last = kept = compiled.recordings
    assert (len(kept) == 2 and last.runs == 2) or last.recorded.arithmetic is not None  # it takes the number that has changed


def test_a_refusal_names_the_object():
    counter = itertools.count(1)
    with pytest.raises(RuntimeError, match=r"it reaches .*counter, an object of itertools.count, and a change of it would not be seen"):
        torch.compile(lambda t: t * next(counter), fullgraph=True)(torch.ones(1))


@pytest.mark.slow
def test_recordings_are_right_once_overriding_has_begun():
    """Overriding exchanges the code of functions, by which a recording knows what leaves a tensor. In a process of its own."""
    begin = """if True:
        import sys, pytest, wengert
        from wengert.overrides import TorchFunctionMode
        class Mode(TorchFunctionMode):
            def __torch_function__(self, function, types, args=(), kwargs=None):
                return function(*args, **(kwargs or {}))
        with Mode():
            wengert.ones(2) + 1
        """
    run = f"\n        sys.exit(pytest.main(['-q', '-p', 'no:cacheprovider', {str(Path(__file__).with_name('test_compile.py'))!r}]))"
    done = subprocess.run([sys.executable, "-c", begin + run], capture_output=True, text=True, cwd=Path(__file__).parents[2], check=False)
    assert done.returncode == 0, done.stdout[-3000:]


def test_a_name_that_held_none_and_is_deleted_is_seen():
    settings = module()
    settings.k = None
    fn = torch.compile(lambda t: t if settings.k is None else t * settings.k)
    x = torch.ones(2)
    for _ in range(3):
        assert fn(x + 1).tolist() == [2.0, 2.0]
    del settings.k
    with pytest.raises(AttributeError, match="k"):
        fn(x + 1)


@pytest.mark.parametrize(("container", "fill"), [
    ([], lambda x: x.append(2.0)), ({}, lambda x: x.setdefault("a", 2.0)), (set(), lambda x: x.add(2.0)),
    (collections.OrderedDict(), lambda x: x.setdefault("a", 2.0)),
], ids=["list", "dict", "set", "ordered dict"])  # fmt: skip
def test_a_container_that_was_empty_is_seen_to_be_filled(container, fill):
    others = [[], {}, collections.OrderedDict()]

    def fn(x):
        return x * (2.0 if container else 1.0) + len(others)

    compiled = torch.compile(fn)
    for _ in range(3):
        assert compiled(torch.ones(1)).item() == 4.0
    fill(container)
    for _ in range(3):
        assert compiled(torch.ones(1)).item() == 5.0
    assert not compiled.refusals


# -- what a function is given, and what it changes ---------------------------------------------------------------------


class Settings:
    def __init__(self):
        self.k = 2.0


GIVEN = {
    "an object": lambda: (Settings(), lambda t, x: t * x.k, lambda x: setattr(x, "k", 5.0)),
    "a function": lambda: ((lambda t: t * FACTOR), lambda t, f: f(t), lambda f: change_global()),
    "an array": lambda: (np.array([2.0]), lambda t, x: t * float(x[0]), lambda x: x.__setitem__(0, 5.0)),
    "a dict": lambda: ({"k": 2.0}, lambda t, x: t * x["k"], lambda x: x.__setitem__("k", 5.0)),
    "a module": lambda: (torch.nn.Linear(2, 2), lambda t, m: m(t).detach(), lambda m: setattr(m, "bias", torch.nn.Parameter(torch.ones(2)))),
}  # fmt: skip


@pytest.mark.parametrize("name", GIVEN)
def test_a_change_of_an_argument_is_seen(name):
    given, function, change = GIVEN[name]()
    compiled = torch.compile(function, fullgraph=True)
    t = torch.tensor([1.0, -2.0])
    for _ in range(3):
        assert torch.equal(compiled(t, given), function(t, given))
    assert compiled.recordings[0].runs == 2
    change(given)
    for _ in range(3):
        assert torch.equal(compiled(t, given), function(t, given))


def append(t, log):
    log.append(1)
    return t * 2


def count(t, counts):
    counts["calls"] = counts.get("calls", 0) + 1
    return t * 2


@pytest.mark.filterwarnings("ignore:.* runs eagerly from now on:RuntimeWarning")
@pytest.mark.parametrize(("function", "given", "expected"), [(append, [], [1] * 4), (count, {}, {"calls": 4})])
def test_a_function_that_changes_an_argument_runs_eagerly(function, given, expected):
    compiled = torch.compile(function)
    for _ in range(4):
        compiled(torch.ones(2), given)
    assert given == expected


def with_weight(function):
    weight = torch.tensor([1.0, 2.0], requires_grad=True)
    return torch.compile(lambda x: function(weight, x)), weight


def gradient_of_product(weight, x):
    weight.grad = None
    (weight * x).sum().backward()
    return x * 1


def test_hooks_that_come_and_go_are_seen():
    compiled, weight = with_weight(gradient_of_product)
    x = torch.tensor([1.0, 3.0])
    for _ in range(3):
        compiled(x)
        assert weight.grad.tolist() == [1.0, 3.0]
    handle = weight.register_hook(lambda g: g * 10)
    for _ in range(3):
        compiled(x)
        assert weight.grad.tolist() == [10.0, 30.0]
    second = weight.register_hook(lambda g: g + 1)
    compiled(x)
    assert weight.grad.tolist() == [11.0, 31.0]
    second.remove()
    handle.remove()
    for _ in range(3):
        compiled(x)
        assert weight.grad.tolist() == [1.0, 3.0]


@pytest.mark.filterwarnings("ignore:.* runs eagerly from now on:RuntimeWarning")
def test_hooks_after_accumulation_that_are_added_later_run():
    compiled, weight = with_weight(gradient_of_product)
    x = torch.tensor([1.0, 3.0])
    for _ in range(3):
        compiled(x)
    seen = []
    weight.register_post_accumulate_grad_hook(lambda p: seen.append(p.grad.tolist()))
    for _ in range(3):
        compiled(x)
    assert seen == [[1.0, 3.0]] * 3


def test_hooks_after_accumulation_are_recorded():
    def run(wrap):
        weights = [torch.ones(2, requires_grad=True) for _ in range(2)]
        optimizers = {w: torch.optim.SGD([w], lr=0.1, momentum=0.9) for w in weights}
        total = torch.zeros(2)

        def descend(w):
            total.add_(w.grad)
            optimizers[w].step()
            optimizers[w].zero_grad()

        weights[0].register_hook(lambda g: g * 0.5)
        for w in weights:
            w.register_post_accumulate_grad_hook(descend)

        def step(x):
            (weights[0] * x + weights[1] ** 2).sum().backward()
            return total * 1

        compiled = wrap(step)
        found = [compiled(torch.tensor([1.0, i])).tolist() for i in range(6)]
        return found, [w.tolist() for w in weights], [w.grad for w in weights], compiled

    *expected, _ = run(lambda f: f)
    *found, compiled = run(lambda f: torch.compile(f, fullgraph=True))
    assert found == expected and sum(r.runs for r in compiled.recordings) >= 4


def test_what_hooks_reach_is_compared():
    scale, factor = [2.0], torch.tensor(3.0)
    weight = torch.ones(2, requires_grad=True)
    weight.register_hook(lambda g: g * scale[0] * factor)

    def step(x):
        weight.grad = None
        (weight * x).sum().backward()
        return weight.grad * 1

    compiled = torch.compile(step, fullgraph=True)
    for i in range(6):
        scale[0], x = 1.0 + i // 2, torch.tensor([1.0, i])
        factor.fill_(i)
        assert compiled(x).tolist() == (x * scale[0] * i).tolist()


@pytest.mark.filterwarnings("ignore:.* runs eagerly from now on:RuntimeWarning")
def test_a_function_that_sets_hooks_runs_eagerly():
    def fn(weight, x):
        weight.register_hook(lambda g: g * 2)
        return x * 1

    compiled, weight = with_weight(fn)
    for _ in range(3):
        compiled(torch.ones(2))
    (weight * 1).sum().backward()
    assert weight.grad.tolist() == [8.0, 8.0]


@pytest.mark.filterwarnings("ignore:.* runs eagerly from now on:RuntimeWarning")
def test_a_backward_pass_through_the_history_of_an_argument_runs_eagerly():
    def fn(x):
        x.sum().backward()
        return x.detach() * 2

    compiled = torch.compile(fn)
    for factor in (3.0, 3.0, 5.0, 3.0):
        weight = torch.ones(2, requires_grad=True)
        compiled(weight * factor)
        assert weight.grad.tolist() == [factor, factor]


@pytest.mark.filterwarnings("ignore:.* runs eagerly from now on:RuntimeWarning")
def test_gradients_that_are_kept_by_arguments_with_a_history():
    def fn(x):
        x.retain_grad()
        (x * x).sum().backward()
        return x.grad.detach() * 1

    compiled = torch.compile(fn)
    for factor in (3.0, 3.0, 5.0):
        x = torch.ones(2, requires_grad=True) * factor
        compiled(x)
        assert x.grad.tolist() == [2 * factor] * 2


@pytest.mark.filterwarnings("ignore:.* runs eagerly from now on:RuntimeWarning")
def test_a_number_of_numpy_that_is_computed_is_no_constant():
    @torch.compile
    def fn(x):
        return x * np.float64(np.asarray(x.numpy()).sum())

    for factor in (1.0, 1.0, 2.0):
        assert fn(torch.ones(2) * factor).tolist() == [2 * factor**2] * 2


def test_writes_through_data_are_not_counted():
    def fn(x):
        x.data.add_(1)
        y = x * 2
        y.add_(1)
        return y

    compiled = torch.compile(fn, fullgraph=True)
    for _ in range(3):
        x = torch.zeros(2)
        y = compiled(x)
        assert (x._version, x.tolist(), y._version, y.tolist()) == (0, [1.0, 1.0], 1, [3.0, 3.0])


@pytest.mark.filterwarnings("ignore:.* runs eagerly from now on:RuntimeWarning")
def test_tensors_made_in_inference_mode_stay_so():
    def fn(x):
        with torch.inference_mode():
            return x * 2

    compiled = torch.compile(fn)
    assert all(compiled(torch.ones(2)).is_inference() for _ in range(3))
