"""Results of compiled functions: views, tensors that existed before, freed histories. They are what an eager call returns."""

from __future__ import annotations

import numpy as np
import pytest

import wengert as torch
from fuzz import compiled

CALLS = 4


def input_of(call):
    return torch.tensor(np.random.default_rng(call).uniform(-1, 1, (3, 4)))


def state_of(x):
    """What a user may know of a tensor."""
    if not isinstance(x, torch.Tensor):
        return x
    history = None if x.grad_fn is None else x.grad_fn.name()
    return x.tolist(), x._version, x.requires_grad, x.is_leaf, x._is_view(), history


def outcomes(make, compiled):
    """What a function returns and changes, before and after each result is written."""
    function, tensors = make()
    if compiled:
        function = torch.compile(function, fullgraph=True)
    found = []
    for call in range(CALLS):
        x = input_of(call)
        result = function(x)
        results = result if isinstance(result, (tuple, list)) else [result]
        everything = [*results, x, *tensors, *[t.grad for t in tensors]]
        found.append([state_of(y) for y in everything])
        for y in results:
            if isinstance(y, torch.Tensor):
                try:
                    y.add_(1)
                except RuntimeError as error:
                    found[-1].append(str(error).splitlines()[0])
        found[-1] += [state_of(y) for y in everything]
    return found, function


def parameter():
    return torch.tensor(np.array([0.5, -1.0, 2.0, 0.25]), requires_grad=True)


def of_inputs(function):
    return lambda: (function, [])


def of_parameter(function):
    def make():
        w = parameter()
        return (lambda x: function(x, w)), [w]

    return make


def without_grad(function):
    def run(*args):
        with torch.no_grad():
            return function(*args)

    return run


def written_and_viewed(x):
    x.mul_(2)
    return x.t()[0], x[1:]


def gradient(x, w):
    (x * w).sum().backward()
    return w.grad


def part_of_gradient(x, w):
    (x * w).sum().backward()
    return w.grad[1:]


def base_and_views(x):
    y = x * 2
    return y, y.t(), y[0]


def twice(x):
    y = x * 2
    return y, y


def cut(x):
    y = x * 2
    return y, y.detach()


def gradients_of_one_array(x):
    a, b = x.clone().requires_grad_(), x.clone().requires_grad_()
    return torch.autograd.grad((a + b).sin().sum(), [a, b])


def gradients_of_parts(x):
    a, b = x.clone().requires_grad_(), x.clone().requires_grad_()
    return torch.autograd.grad(torch.cat([a, b]).sin().sum(), [a, b])


CASES = {
    "a view of an argument": of_inputs(lambda x: x.t()),
    "a view of a view": of_inputs(lambda x: x.t()[1:].unsqueeze(0)),
    "detach of a view": of_inputs(lambda x: x.t().detach()),
    "data": of_inputs(lambda x: x.data),
    "an argument and a view of it": of_inputs(lambda x: (x, x[0])),
    "views of what is written": of_inputs(written_and_viewed),
    "chunks": of_inputs(lambda x: (x * 2).chunk(2)),
    "unbind": of_inputs(lambda x: x.exp().unbind(0)),
    "a tensor and views of it": of_inputs(base_and_views),
    "one tensor twice": of_inputs(twice),
    "a tensor and detach of it": of_inputs(cut),
    "a view of a parameter": of_parameter(lambda x, w: w.view(2, 2)),
    "a view of a parameter without gradients": of_parameter(without_grad(lambda x, w: w.view(2, 2))),
    "a parameter": of_parameter(lambda x, w: w),
    "detach of a parameter": of_parameter(lambda x, w: w.detach()),
    "a gradient": of_parameter(gradient),
    "a view of a gradient": of_parameter(part_of_gradient),
    "gradients that are one array": of_inputs(gradients_of_one_array),
    "gradients that are parts of an array": of_inputs(gradients_of_parts),
}


@pytest.mark.parametrize("name", CASES)
def test_results_are_those_of_the_function(name):
    expected, _ = outcomes(CASES[name], False)
    found, function = outcomes(CASES[name], True)
    assert found == expected
    assert sum(recording.runs for recording in function.recordings) >= CALLS - 2


def training(kind):
    def make():
        w = parameter()
        optimizer = getattr(torch.optim, kind)([w], lr=0.1)

        def step(x):
            optimizer.zero_grad()
            loss = ((x * w).sin() ** 2).mean()
            loss.backward()
            optimizer.step()
            return loss

        return step, [w]

    return make


@pytest.mark.parametrize("kind", ["SGD", "Adam"])
def test_a_step_may_return_its_loss(kind):
    expected, _ = outcomes(training(kind), False)
    found, function = outcomes(training(kind), True)
    assert found == expected and function.recordings[0].runs
    loss = function(input_of(0))
    with pytest.raises(RuntimeError, match="Trying to backward through the graph a second time"):
        loss.backward()


def test_a_graph_that_is_kept_is_no_result_of_a_step():
    w = parameter()

    def step(x):
        loss = (x * w).sin().sum()
        loss.backward(retain_graph=True)
        return loss

    with pytest.raises(RuntimeError, match="a result requires grad, and the function writes a tensor"):
        torch.compile(step, fullgraph=True)(input_of(0))


def test_results_with_a_history_stand_beside_others():
    w = parameter()

    def fn(x):
        y = (x * w).sin()
        return y, x, y.sum().item(), w.view(2, 2), x[0], (x * 2)

    replayed = torch.compile(fn, fullgraph=True)
    for call in range(CALLS):
        x = input_of(call)
        results, expected = replayed(x), fn(x)
        gradients = []
        for found in (results, expected):
            assert found[1] is x and found[4]._base is x
            total = (found[0] ** 2).sum() + (found[3] ** 3).sum() + found[5].sum()
            gradients += torch.autograd.grad(total, w)
        assert results[2] == expected[2]
        torch.testing.assert_close(gradients[0], gradients[1], rtol=1e-12, atol=1e-12)
        torch.testing.assert_close(results[5], expected[5])
    assert replayed.recordings[0].runs == CALLS - 1


def test_results_that_share_memory_and_have_a_history_run_eagerly():
    w = parameter()
    with pytest.raises(RuntimeError, match="two results share memory"):
        torch.compile(lambda x: (x * w).chunk(2), fullgraph=True)(input_of(0))


def test_views_of_others_are_refused_in_files(tmp_path):
    transposed = torch.compile(lambda x: x.t())
    transposed(input_of(0))
    with pytest.raises(ValueError, match="is a view of another tensor"):
        transposed.save(tmp_path / "view")


def test_parts_that_count_their_writes_alone():
    expected, _ = outcomes(of_inputs(lambda x: x.unsafe_split(2)), False)
    found, function = outcomes(of_inputs(lambda x: x.unsafe_split(2)), True)
    assert found == expected and function.recordings[0].runs


@pytest.mark.exhaustive
def test_two_thousand_drawn_programs():
    """Values, gradients, versions, random numbers and errors of 34 times 60 programs are those of eager runs."""
    for seed in range(1000, 1034):
        compiled.run(seed, 60)
