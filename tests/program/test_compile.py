"""wengert.compile: a compiled function gives what the function gives, call by call."""

from __future__ import annotations

import copy
import io
import math
import sys
import threading
import warnings

import numpy as np
import pytest

import wengert as torch
from wengert.program.compiled import LIMIT

CALLS = 5


def make_input(i, shape=(4, 3), dtype=np.float32):
    return torch.tensor(np.random.default_rng(i).uniform(-1, 1, shape).astype(dtype))


def outcome_of(make, compiled, arguments, calls):
    """Run a function several times. Return its results, and all that it has done to the tensors that `make` gives."""
    torch.manual_seed(3)
    fn, tensors = make()
    if compiled:
        fn = torch.compile(fn, fullgraph=True, options={"exact": True})
    results = []
    for i in range(calls):
        found = fn(*arguments(i))
        found = found if isinstance(found, tuple) else (found,)
        results.append([x.detach().numpy().copy() if isinstance(x, torch.Tensor) else x for x in found])
        for x in tensors:
            results[-1] += [x.detach().numpy().copy(), x._version, None if x.grad is None else x.grad.numpy().copy()]
    return results, fn, torch.rand(2).tolist()


def assert_same(make, arguments=lambda i: (make_input(i),), calls=CALLS, recordings=None):
    expected, _, next_random = outcome_of(make, False, arguments, calls)
    found, fn, random = outcome_of(make, True, arguments, calls)
    for call, (a, b) in enumerate(zip(expected, found, strict=True)):
        assert len(a) == len(b)
        for x, y in zip(a, b, strict=True):
            assert type(x) is type(y), call
            np.testing.assert_array_equal(x, y, err_msg=f"call {call}")
    assert random == next_random
    assert sum(r.runs for r in fn.recordings) > 0, "nothing was replayed"
    if recordings is not None:
        assert len(fn.recordings) == recordings
    return fn


def leaf(seed, shape=(3, 3)):
    return make_input(seed, shape).requires_grad_()


# -- what is recorded --------------------------------------------------------------------------------------------------


def test_a_forward_is_replayed():
    fn = assert_same(lambda: (lambda x: ((x * 2 + 1).tanh().sum(), x.t() @ x), []), recordings=1)
    assert "tanh" in str(fn.programs()[0]) and "recordings" in fn.explain()


def test_views_and_writes_in_place():
    def make():
        held = torch.zeros(4, 3)

        def fn(x):
            y = x.clone()
            y[1:3] *= 2
            y.t()[0].add_(1)
            held.add_(y, alpha=0.5)
            y[0, 0] = 7.0
            y[:, 1] = x[:, 0]
            return y.reshape(2, 6), held.sum()

        return fn, [held]

    assert_same(make)


def test_a_training_step_with_writes():
    def make():
        w, b = leaf(1), leaf(2, (3,))

        def step(x):
            w.grad = b.grad = None
            loss = ((x @ w + b).tanh() ** 2).mean()
            loss.backward()
            with torch.no_grad():
                w.sub_(w.grad, alpha=0.1)
                b.copy_(b - 0.1 * b.grad)
            return loss.detach()

        return step, [w, b]

    assert_same(make)


def test_gradients_accumulate():
    def make():
        w = leaf(1)

        def step(x):
            (x @ w).relu().sum().backward()
            return w.grad.sum()

        return step, [w]

    assert_same(make, recordings=2)  # the first call meets no gradient


@pytest.mark.parametrize(("name", "options"), [
    ("SGD", {"lr": 0.1}), ("SGD", {"lr": 0.1, "momentum": 0.9}), ("Adam", {"lr": 0.01}), ("RMSprop", {}),
])  # fmt: skip
@pytest.mark.parametrize("to_none", [True, False])
def test_a_training_step_with_an_optimizer(name, options, to_none):
    def make():
        model = torch.nn.Sequential(torch.nn.Linear(3, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))
        optimizer = getattr(torch.optim, name)(model.parameters(), **options)

        def step(x):
            optimizer.zero_grad(set_to_none=to_none)
            loss = torch.nn.functional.mse_loss(model(x), x[:, :1])
            loss.backward()
            optimizer.step()
            return loss.detach()

        return step, list(model.parameters())

    assert_same(make)


def test_random_numbers_are_drawn_anew():
    def make():
        def fn(x):
            noise = torch.randn(4, 3)
            mask = torch.nn.functional.dropout(x + noise, 0.5)
            return mask + torch.rand_like(x), torch.empty(3).uniform_(2, 3)

        return fn, []

    assert_same(make)


def test_gradients_of_gradients():
    def make():
        w = leaf(4)

        def fn(x):
            y = ((x @ w) ** 3).sum()
            (g,) = torch.autograd.grad(y, w, create_graph=True)
            (h,) = torch.autograd.grad((g * g).sum(), w)
            return y.detach(), g.detach(), h

        return fn, [w]

    assert_same(make)


@pytest.mark.parametrize("transform", ["grad", "hessian", "jacrev"])
def test_transforms_of_functions(transform):
    def make():
        def f(x):
            y = (x * x).tanh()
            return y.sum() if transform != "jacrev" else y

        return getattr(torch.func, transform)(f), []

    assert_same(make, lambda i: (make_input(i, (3,)),))


def test_custom_functions_and_hooks():
    class Cube(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x**3

        @staticmethod
        def backward(ctx, ct):
            (x,) = ctx.saved_tensors
            return 3 * x**2 * ct

    def make():
        w = leaf(1)

        def fn(x):
            y = Cube.apply(x @ w)
            y.register_hook(lambda g: g * 2)
            y.sum().backward()
            return y.detach()

        w.register_hook(lambda g: g + 1)
        return fn, [w]

    assert_same(make)


# -- control flow ------------------------------------------------------------------------------------------------------


def test_branches_on_values_have_recordings_of_their_own():
    def make():
        def fn(x):
            y = x * 2
            if y.sum() > 0:
                y = y.exp()
            n = 0
            while y.mean() > 0.5 and n < 3:
                y = y / 2
                n += 1
            return y

        return fn, []

    assert_same(make, calls=12)


def test_a_write_before_a_condition_is_undone():
    def make():
        held = torch.zeros(4, 3)

        def fn(x):
            held.add_(x)
            return held * 2 if held.sum() > 0 else held - 1

        return fn, [held]

    assert_same(make, calls=10)


def test_a_number_that_is_returned_is_a_result():
    assert_same(lambda: (lambda x: (x.sum().item(), x * 2, x.mean().item()), []), recordings=1)


def test_a_number_that_is_used_is_refused():
    with pytest.raises(torch.compiler.CompileError, match=r"item\(\).*test_compile.py"):
        torch.compile(lambda x: x * math.sin(x.sum().item()), fullgraph=True)(make_input(0))


# -- guards ------------------------------------------------------------------------------------------------------------


def test_kinds_of_arguments_have_recordings_of_their_own():
    fn = torch.compile(lambda x, n=2: x * n, fullgraph=True)
    x = make_input(0)
    assert fn(x).dtype == torch.float32 and fn(x.double()).dtype == torch.float64
    assert fn(x, 3).tolist() == (x * 3).tolist() and fn(x[:2]).shape == (2, 3)
    assert fn(x.t()).tolist() == (x.t() * 2).tolist() and fn(x, n=2.0).tolist() == (x * 2.0).tolist()
    assert len(fn.programs()) == 6


def test_changed_objects_are_noticed():
    settings = {"scale": 2.0}
    model = torch.nn.Dropout(0.5)

    @torch.compile(fullgraph=True)
    def fn(x):
        return model(x * settings["scale"])

    model.eval()
    x = make_input(0)
    for scale in (2.0, 3.0, 2.0):
        settings["scale"] = scale
        assert fn(x).tolist() == (x * scale).tolist()
    model.train()
    assert (fn(x) == 0).any()


def test_parameters_are_read_anew():
    layer = torch.nn.Linear(3, 2)

    @torch.compile(fullgraph=True)
    def fn(x):
        with torch.no_grad():
            return layer(x)

    x = make_input(0)
    fn(x)
    with torch.no_grad():
        layer.weight.mul_(2)
    assert fn(x).tolist() == layer(x).tolist()
    layer.weight.data = torch.ones(2, 3)
    assert fn(x).tolist() == layer(x).tolist()
    layer.weight = torch.nn.Parameter(torch.zeros(2, 3))
    assert fn(x).tolist() == layer(x).tolist()


def test_batch_norm_in_evaluation_reads_the_running_statistics_at_each_call():
    norm = torch.nn.BatchNorm1d(3).eval()
    compiled = torch.compile(lambda x: norm(x).detach(), fullgraph=True)
    x = torch.tensor(np.random.default_rng(0).normal(size=(5, 3)).astype(np.float32))
    for mean, variance in [([0.0, 0.0, 0.0], [1.0, 1.0, 1.0]), ([1.0, -2.0, 3.0], [4.0, 0.25, 9.0])]:
        norm.running_mean.copy_(torch.tensor(mean))
        norm.running_var.copy_(torch.tensor(variance))
        for _ in range(2):
            expected = (x.numpy() - np.float32(mean)) / np.sqrt(np.float32(variance) + np.float32(1e-5))
            np.testing.assert_allclose(compiled(x).numpy(), expected, rtol=1e-6, atol=1e-6)
    assert len(compiled.programs()) == 1


def test_the_default_dtype_is_part_of_the_kind():
    fn = torch.compile(lambda x: x * torch.ones(2), fullgraph=True)
    x = torch.arange(2)
    try:
        assert fn(x).dtype == fn(x).dtype == torch.float32
        torch.set_default_dtype(torch.float64)
        assert fn(x).dtype == torch.float64
    finally:
        torch.set_default_dtype(torch.float32)


def test_results_are_new_memory_in_each_call():
    fn = torch.compile(lambda x: (x + 1, x), fullgraph=True)
    xs = [make_input(i) for i in range(4)]
    results = [fn(x) for x in xs]
    assert [r[0].tolist() for r in results] == [(x + 1).tolist() for x in xs]
    assert all(r[1] is x for r, x in zip(results, xs, strict=True))


def test_shared_memory_of_arguments():
    def fn(x, y):
        x.add_(1)
        return x * y

    compiled = torch.compile(fn)
    a, b = make_input(0, (6,)), make_input(1, (6,))
    compiled(a[:4], b[:4])
    for x, y in ((a[:4], b[2:]), (a[:4], a[2:]), (a[:4], a[:4])):
        other = copy.deepcopy(a), copy.deepcopy(b)
        shared = other[0] if y._base is a else other[1]
        expected = fn(other[0][:4], shared[y.storage_offset() : y.storage_offset() + 4])
        assert compiled(x, y).tolist() == expected.tolist()


# -- what runs eagerly -------------------------------------------------------------------------------------------------

COUNTS = []


def counting(x):
    COUNTS.append(1)
    return x * len(COUNTS)


def drawing(x):
    return x * np.random.default_rng().uniform()


def asking(x):
    print(end="")
    return x + float(input())


def through_numpy(x):
    return torch.from_numpy(np.cumsum(x.numpy()))


@pytest.mark.parametrize("fn", [counting, drawing, asking, through_numpy])
def test_what_cannot_be_recorded_runs_eagerly_with_one_warning(fn, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.StringIO("1\n2\n3\n4\n5\n6\n"))
    compiled = torch.compile(fn)
    x = make_input(0)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        results = [compiled(x) for _ in range(5)]
    assert len(caught) == 1 and "runs eagerly" in str(caught[0].message)
    assert compiled.programs() == [] and "not recorded" in compiled.explain()
    if fn is counting:
        assert [r[0, 0] / x[0, 0] for r in results] == pytest.approx([1, 2, 3, 4, 5])
    if fn is asking:
        assert [r[0, 0] - x[0, 0] for r in results] == pytest.approx([1, 2, 3, 4, 5])
    with pytest.raises(torch.compiler.CompileError, match=fn.__name__):
        torch.compile(fn, fullgraph=True)(x)


def test_new_shapes_in_each_call_end_at_the_limit():
    fn = torch.compile(lambda x: x * 2)
    for n in range(1, LIMIT + 1):
        assert fn(torch.ones(n)).tolist() == [2.0] * n
    with pytest.warns(RuntimeWarning, match="recordings"):
        fn(torch.ones(LIMIT + 1))
    assert fn(torch.ones(LIMIT + 2)).tolist() == [2.0] * (LIMIT + 2)
    assert len(fn.programs()) == LIMIT


def test_an_error_in_the_function_is_the_functions_own():
    def fn(x, fails):
        y = x * 2
        if fails:
            raise KeyError("mine")
        return y

    compiled = torch.compile(fn)
    x = make_input(0)
    for _ in range(2):
        with pytest.raises(KeyError, match="mine"):
            compiled(x, True)
    assert compiled(x, False).tolist() == compiled(x, False).tolist() == (x * 2).tolist()
    with pytest.raises(RuntimeError, match="must match"):
        torch.compile(lambda a, b: a + b)(torch.ones(2), torch.ones(3))


def test_recursion_and_compiled_functions_inside():
    @torch.compile(fullgraph=True)
    def power(x, n):
        return x if n == 0 else x * power(x, n - 1)

    x = make_input(0)
    for _ in range(3):
        assert power(x, 3).tolist() == (x * (x * (x * x))).tolist()


def test_threads_at_once():
    w = make_input(7, (3, 3))
    fn = torch.compile(lambda x: (x @ w).tanh().sum(0), fullgraph=True)
    inputs = [make_input(i) for i in range(40)]
    found = {}

    def work(k):
        for i in range(k, 40, 4):
            found[i] = fn(inputs[i]).tolist()

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [found[i] for i in range(40)] == [(x @ w).tanh().sum(0).tolist() for x in inputs]


def test_modes_run_eagerly():
    fn = torch.compile(lambda x: x * 3)
    x = torch.ones(2)
    fn(x)
    with torch.autograd.forward_ad.dual_level():
        dual = torch.autograd.forward_ad.make_dual(x, x)
        assert torch.autograd.forward_ad.unpack_dual(fn(dual)).tangent.tolist() == [3.0, 3.0]
    with torch.inference_mode():
        assert fn(x).is_inference()


def test_methods_and_decorators():
    class Model:
        def __init__(self, scale):
            self.scale = scale

        @torch.compile(fullgraph=True)
        def run(self, x):
            return x * self.scale

    a, b = Model(2.0), Model(3.0)
    x = torch.ones(2)
    for _ in range(2):
        assert a.run(x).tolist() == [2.0, 2.0] and b.run(x).tolist() == [3.0, 3.0]
    assert len(a.run.programs()) == 1
    a.scale = 4.0
    assert a.run(x).tolist() == [4.0, 4.0]


def test_options():
    def fn(x):
        return x

    assert torch.compile(fn, disable=True) is fn and torch.compile(fn, backend="eager") is fn
    assert torch.compile(fn, mode="max-autotune", dynamic=True, backend="inductor")(torch.ones(1)).tolist() == [1.0]
    with pytest.raises(TypeError, match="expects a function"):
        torch.compile(3)
    seen = {}

    @torch.compile
    def look(x):
        seen[len(seen)] = torch.compiler.is_compiling()
        return x

    look(torch.ones(1))
    with pytest.warns(RuntimeWarning, match="changes"):
        look(torch.ones(1))
    look(torch.ones(1))
    assert [*seen.values()] == [True, True, False]
    compiled = torch.compile(fn)
    compiled(torch.ones(1))
    torch.compiler.reset()
    assert compiled.programs() == []


# -- as a node of a graph ----------------------------------------------------------------------------------------------


def gradients_of(fn, order, calls=4):
    """Return the results and gradients, to an order, of calls of fn in a program around it."""
    found = []
    for i in range(calls):
        x = make_input(i).requires_grad_()
        w = make_input(20 + i, (3, 3)).requires_grad_()
        y = fn(x * 2, w)
        (g,) = torch.autograd.grad((y**3).sum(), x, create_graph=order > 1) if order else (y,)
        for _ in range(order - 1):
            (g,) = torch.autograd.grad((g * g).sum(), w, create_graph=True)
        found.append([y.detach().numpy(), g.detach().numpy()])
    return found


@pytest.mark.parametrize("order", [1, 2, 3])
def test_a_compiled_function_is_one_node_with_derivatives(order):
    def fn(x, w):
        y = (x @ w).tanh()
        return y * x.exp() + y * y

    compiled = torch.compile(fn, fullgraph=True)
    for a, b in zip(gradients_of(fn, order), gradients_of(compiled, order), strict=True):
        for x, y in zip(a, b, strict=True):
            np.testing.assert_allclose(x, y, rtol=3e-5, atol=1e-6)
    assert compiled.recordings[0].runs > 0
    y = compiled(make_input(0).requires_grad_() * 2, make_input(1, (3, 3)).requires_grad_())
    assert y.grad_fn.name() == "CompiledFunctionBackward"


def test_parameters_get_gradients_through_a_compiled_function():
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(3, 8), torch.nn.Tanh(), torch.nn.Linear(8, 2))
    forward = torch.compile(lambda x: model(x), fullgraph=True)
    for i in range(4):
        x = make_input(i)
        model.zero_grad()
        (model(x) ** 2).sum().backward()
        expected = [p.grad.clone() for p in model.parameters()]
        model.zero_grad()
        (forward(x) ** 2).sum().backward()
        for p, g in zip(model.parameters(), expected, strict=True):
            np.testing.assert_allclose(p.grad.numpy(), g.numpy(), rtol=1e-6)
    assert forward.recordings[0].runs == 3
    y = forward(make_input(0))
    with torch.no_grad():
        model[0].weight.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


def test_a_function_with_a_graph_that_draws_runs_eagerly():
    fn = torch.compile(lambda x: torch.nn.functional.dropout(x), fullgraph=True)
    with pytest.raises(torch.compiler.CompileError, match="random"):
        fn(make_input(0).requires_grad_())


def test_operands_of_other_dtypes():
    def make():
        w, labels = leaf(1), torch.arange(4).view(4, 1)

        def fn(x):
            loss = ((x @ w) * labels * 2 + labels).sum()
            w.grad = None
            loss.backward()
            return loss.detach()

        return fn, [w]

    assert_same(make)


def test_numbers_that_are_returned_are_results():
    def in_a_dict(x):
        total = x.sum().item()
        return {"total": total, "double": x * 2}

    def in_a_list(x):
        return [float(x.mean()), (x.sum().item(), {"k": float(x[0, 0])})]

    for function in (in_a_dict, in_a_list, lambda x: float(x.sum())):
        compiled = torch.compile(function, fullgraph=True, options={"exact": True})
        for i in range(3):
            assert str(compiled(make_input(i))) == str(function(make_input(i)))
        assert [recording.runs for recording in compiled.recordings] == [2]


def test_numbers_that_go_elsewhere_run_eagerly():
    def given_to_a_closure(x):
        total = x.sum().item()
        return (lambda: total * 2)()

    def given_to_a_function(x):
        total = x.sum().item()
        return max(total, math.exp(total))

    for function in (given_to_a_function, given_to_a_closure, lambda x: math.sin(x.sum()), lambda x: round(float(x.sum()), 1)):
        compiled = torch.compile(function)
        with pytest.warns(RuntimeWarning, match="number|value of a tensor"):
            found = [compiled(make_input(i)) for i in range(3)]
        assert found == [function(make_input(i)) for i in range(3)] and not compiled.recordings
