"""Python numbers among the arguments of compiled functions: inputs of one program, and never constants unseen."""

from __future__ import annotations

import copy
import math
import pickle
import threading
import warnings

import numpy as np
import pytest

import wengert as torch
from compiled_samples import inputs_of, others_of, outcome_of
from loops import each
from op_samples.cases import CASES, flatten, is_public
from wengert.kernels import native
from wengert.program.compiled import LIMIT, CompileError
from wengert.program.numbers import Arithmetic, is_stand_in
from wengert.utils._pytree import tree_leaves, tree_map


def written(x):
    """Return a result as text, bit for bit."""
    if isinstance(x, (tuple, list)):
        return [written(y) for y in x]
    return (str(x.dtype), repr(x.tolist())) if isinstance(x, torch.Tensor) else (type(x).__name__, repr(x))


def check(fn, calls, recordings=1, **options):
    """Compare a compiled function with the function itself, for each tuple of arguments. Return the compiled function."""
    compiled = torch.compile(fn, fullgraph=True, **options)
    for arguments in calls:
        assert written(compiled(*arguments)) == written(fn(*arguments)), arguments
    if recordings is not None:
        assert len(compiled.recordings) == recordings, compiled.explain()
    return compiled


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_a_thousand_rates_are_one_recording(dtype):
    x = torch.arange(1, 8).to(dtype) / 3

    def fn(x, rate):
        return x * rate, x / rate, rate / x, x - rate, rate - 3 * x, x.sum() * rate, torch.add(x, x, alpha=-rate), rate * 2

    check(fn, [(x, 0.1 * 0.99**i) for i in range(1000)])


@pytest.mark.skipif(native is None, reason="nothing is compiled")
def test_programs_in_c_take_numbers():
    x = torch.linspace(-1, 1, 12).reshape(4, 3)
    check(lambda x, a: (x * a + 1 - x / a) * (2 - a), [(x, 0.1 * i + 0.1) for i in range(10)], backend="c")


def test_a_training_step_with_a_rate():
    x, y = torch.linspace(-1, 1, 12).reshape(4, 3), torch.ones(4, 2)

    def train(wrap):
        w = torch.full((3, 2), 0.5).requires_grad_()
        velocity = torch.zeros(3, 2)

        def step(x, y, rate, decay):
            loss = ((x @ w - y) ** 2).mean() * (1 - decay) + decay * w.abs().sum()
            (grad,) = torch.autograd.grad(loss, w)
            with torch.no_grad():
                velocity.mul_(0.9).add_(grad, alpha=1 - decay)
                w.sub_(rate * velocity)
                w.add_(w, alpha=-rate * decay)
            return loss.detach(), abs(rate) + 1

        run = wrap(step)
        found = [written(run(x, y, 0.1 / (i + 1), 0.001 * i)) for i in range(30)]
        return found, written(w), run

    expected = train(lambda f: f)
    *found, run = train(lambda f: torch.compile(f, fullgraph=True))
    assert tuple(found) == expected[:2] and len(run.recordings) == 1


def test_derivatives_of_every_order_follow_the_number():
    x = torch.tensor([0.3, -1.2, 2.0], dtype=torch.float64, requires_grad=True)

    def fn(x, a, n):
        return (torch.tanh(x * a) / a + a**2 * x + (x**n * (a - 1)).exp()).sum()

    def derivatives(run):
        found = []
        for i in range(6):
            value = run(x, 0.3 + i / 7, 2)
            (first,) = torch.autograd.grad(value, x, create_graph=True)
            (second,) = torch.autograd.grad((first * first).sum(), x)
            found.append(written([value.detach(), first.detach(), second]))
        return found

    compiled = torch.compile(fn, fullgraph=True)
    assert derivatives(compiled) == derivatives(fn)
    assert len(compiled.recordings) == 1


def test_gradients_inside_follow_the_number():
    def fn(x, a):
        y = (torch.sin(x * a) + x / a - (a - x) * 2).sum()
        (g,) = torch.autograd.grad(y, x, create_graph=True)
        (h,) = torch.autograd.grad((g * g * a).sum(), x)
        return g.detach(), h

    x = torch.tensor([0.5, 1.5], requires_grad=True)
    check(fn, [(x, 0.1 * i + 0.1) for i in range(20)])


def test_comparisons_are_conditions():
    def fn(x, a, b):
        if a > 0.5 and b != 3:
            return x * a
        return x - (a if a < b else b), max(a, b), not a

    x = torch.ones(2)
    check(fn, [(x, i / 20, 2 + i % 3) for i in range(20)], recordings=None)
    compiled = check(lambda x, a: x * a if a > 0.5 else x - a, [(x, i / 100) for i in range(100)], recordings=2)
    assert "1 on Python numbers" in compiled.explain()


def test_what_reads_the_value_records_anew():
    x = torch.arange(7.0)
    readers = [
        lambda x, a: x * math.sin(a), lambda x, a: x * float(a), lambda x, a: x * round(a, 2), lambda x, a: (x.sum(), f"{a:.3f}"),
        lambda x, a: x * float(np.sqrt(a)), lambda x, a: x * {0.5: 2.0}.get(a, 3.0),
        lambda x, a: x[: int(a)].clone(), lambda x, a: x * math.floor(a), lambda x, a: x * divmod(a, 2)[1],
        lambda x, a: x * a.as_integer_ratio()[0], lambda x, a: torch.full((2,), a), lambda x, a: torch.tensor([a, 1.0]) + torch.tensor(a),
        lambda x, a: torch.clamp(x, max=a), lambda x, a: x * (a + 0j), lambda x, a: x.half() * a, lambda x, a: x > a,
    ]  # fmt: skip
    calls = [(x, a) for a in (0.5, 1.25, 2.5, 1.25, 0.5)]
    for reader in readers:
        check(reader, calls, recordings=None)


def test_integers():
    x, whole = torch.arange(6.0), torch.arange(6)
    check(lambda x, n: (x * n, n - x, x / n, n // 2, -n % 3, n**2), [(x, n) for n in range(1, 10)])
    check(lambda x, n: (x[n] * 2, x.reshape(2, 3)[:, : n + 1].sum(), x << n, x * n), [(whole, n) for n in (0, 1, 2, 1)], None)
    check(lambda x, n: [x := x * n for _ in range(n)][-1], [(x, n) for n in (1, 2, 3, 2)], recordings=3)
    check(lambda x, n: x * (n | 4) * (~n & 7), [(x, n) for n in (1, 2, 3)], None)
    check(lambda x, n: x * n if n else x, [(x, flag) for flag in (True, False, True)], recordings=2)  # flags are no numbers


def test_types_of_numbers_are_kinds():
    compiled = check(lambda x, a: x * a, [(torch.arange(3), a) for a in (2, 3, 2.0, 3.5, np.float64(2), np.float64(3))], None)
    assert len(compiled.recordings) == 4  # ints, floats, and each of NumPy's


def test_a_number_whose_arithmetic_fails_raises_the_error_of_the_function():
    compiled = torch.compile(lambda x, a: x * (1 / (a - 1)), fullgraph=True)
    x = torch.ones(2)
    assert [compiled(x, a).tolist() for a in (2.0, 3.0, 5.0)] == [[1, 1], [0.5, 0.5], [0.25, 0.25]]
    with pytest.raises(ZeroDivisionError):
        compiled(x, 1.0)
    assert compiled(x, 3.0).tolist() == [0.5, 0.5] and len(compiled.recordings) == 1
    compiled = torch.compile(lambda x, a: x * a**0.5, fullgraph=True)
    assert [compiled(x, a).dtype for a in (1.0, 4.0, -4.0, 9.0)] == [torch.float32, torch.float32, torch.complex64, torch.float32]


def test_a_function_that_asks_for_the_type_of_a_number_gets_the_number():
    def fn(x, a):
        if type(a) is not float:
            raise TypeError("no float")
        return x * a

    check(fn, [(torch.ones(2), a) for a in (0.5, 1.5, 2.5)], recordings=3)


def test_writes_before_an_error_of_a_stand_in_are_not_repeated():
    total = torch.zeros(1)

    def fn(x, a):
        total.add_(x)
        if type(a) is not float:
            raise TypeError("no float")
        return x * a

    compiled = torch.compile(fn)
    compiled(torch.ones(1), 1.0)
    with pytest.raises(TypeError, match="no float"):
        compiled(torch.ones(1), 2.0)
    assert total.tolist() == [2.0]


def test_special_values():
    x = torch.tensor([1.0, -2.0])
    check(lambda x, a: (x * a, x + a), [(x, a) for a in (1.0, math.inf, -0.0, 0.0, math.nan, 1e300, 5e-324, -math.inf)])
    check(lambda x, n: x * n, [(x, n) for n in (1, 2, 2**40, -(2**62))])
    compiled = torch.compile(lambda x, n: x * n)
    for n in (2, 3, 2**100):
        assert written(compiled(x, n)) == written(x * n)


def test_random_numbers_with_a_number():
    def fn(x, p, scale):
        return torch.nn.functional.dropout(x, p), torch.randn(3) * scale + p

    results = []
    for run in (fn, torch.compile(fn, fullgraph=True)):
        torch.manual_seed(3)
        results.append([written(run(torch.ones(5), 0.1 + 0.2 * (i % 2), 0.5 + i)) for i in range(8)])
    assert results[0] == results[1]


def test_keywords_containers_and_methods():
    class Model:
        def __init__(self):
            self.w = torch.ones(2)

        @torch.compile
        def step(self, options, rate=0.1):
            return self.w * options["scale"] - rate * options["pair"][1]

    model = Model()
    for i in range(10):
        found = model.step({"scale": 0.5 * i, "pair": (1, 2.0 + i)}, rate=0.1 * i)
        assert found.tolist() == (model.w * (0.5 * i) - 0.1 * i * (2.0 + i)).tolist()
    assert len(model.step.recordings) == 1


def test_numbers_in_attributes_containers_and_variables():
    class Model:
        def __init__(self):
            self.rate, self.options, self.count = 0.1, {"decay": 0.5, "pair": [1.0, 2.0]}, 3

        def step(self, x):
            return x * self.rate - self.options["decay"] * x + self.options["pair"][1] / self.count

    def variables():
        scale = 0.5

        def change(value):
            nonlocal scale
            scale = value

        return (lambda x: x * scale + _setting), change

    global _setting
    x = torch.arange(1, 6) / 3
    model = Model()
    (fn, change), compiled = variables(), torch.compile(model.step, fullgraph=True)
    other = torch.compile(fn, fullgraph=True)
    for i in range(60):
        model.rate = 0.1 / (i + 1)
        if i > 20:
            model.options["decay"], model.options["pair"][1], model.count = i / 7, -float(i), 1 + i
        assert written(compiled(x)) == written(model.step(x))
        _setting = 0.5 * i
        change(1.0 + i)
        assert written(other(x)) == written(fn(x))
        assert [type(y) for y in (model.rate, model.count, _setting)] == [float, int, float]
    assert len(compiled.recordings) <= 3 and len(other.recordings) == 1
    model.rate = 2  # an int
    assert written(compiled(x)) == written(model.step(x))
    model.rate = torch.ones(5)
    assert written(compiled(x)) == written(model.step(x))


_setting = 0.0


def test_numbers_that_the_function_changes_itself_are_no_inputs():
    class Model:
        count = 0

        def step(self, x):
            self.count += 1
            return x * self.count

    model = Model()
    model.count = 0
    compiled = torch.compile(model.step)
    with pytest.warns(RuntimeWarning, match="it changes .*, a Python object"):
        assert [compiled(torch.ones(1)).item() for _ in range(5)] == [1, 2, 3, 4, 5]
    assert type(model.count) is int


def test_a_number_that_changes_only_sometimes_within_a_call_is_refused():
    state = {"rate": 1.0}

    def fn(x, flag):
        if x.sum() > 10:
            state["rate"] *= 0.5
        return x * state["rate"]

    compiled = torch.compile(fn)
    found = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for i in range(8):
            state["rate"] += 1
            found.append(compiled(torch.full((2,), float(3 * (i % 3))), True).tolist())
    again, state["rate"] = state["rate"], 1.0
    expected = []
    for i in range(8):
        state["rate"] += 1
        expected.append(fn(torch.full((2,), float(3 * (i % 3))), True).tolist())
    assert found == expected and state["rate"] == again and type(again) is float


def test_gradients_outside_follow_numbers_in_attributes():
    class Model:
        rate = 0.5

    model, w = Model(), torch.ones(3, requires_grad=True)
    model.rate = 0.5
    compiled = torch.compile(lambda x: (w * x * model.rate).sum(), fullgraph=True)
    x = torch.arange(3.0)
    for i in range(5):
        model.rate = 0.5 + i
        w.grad = None
        compiled(x).backward()
        assert w.grad.tolist() == (x * model.rate).tolist()


def test_an_error_leaves_numbers_where_they_were():
    state = {"rate": 1.0}

    def fn(x):
        if state["rate"] > 2.5:
            raise KeyError("late")
        return x * state["rate"]

    compiled = torch.compile(fn, fullgraph=True)
    for rate in (1.0, 2.0):
        state["rate"] = rate
        compiled(torch.ones(1))
    state["rate"] = 3.0
    with pytest.raises(KeyError, match="late"):
        compiled(torch.ones(1))
    assert type(state["rate"]) is float and state["rate"] == 3.0


def test_other_threads_see_numbers():
    state = {"rate": 1.0}
    seen = []

    def look():
        seen.append((state["rate"] * 2 > 1, type(state["rate"] + 1) is float))

    def fn(x):
        thread = threading.Thread(target=look)
        thread.start()
        thread.join()
        return x * state["rate"]

    compiled = torch.compile(fn)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for rate in (1.0, 2.0, 3.0):
            state["rate"] = rate
            assert compiled(torch.ones(1)).item() == rate
    assert seen and all(x == (True, True) for x in seen)


def test_stand_ins_do_not_survive():
    kept = []

    class Scale(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, a):
            ctx.a = a
            return x * a

        @staticmethod
        def backward(ctx, grad):
            return grad * ctx.a, None

    def fn(x, a):
        y = Scale.apply(x, a)
        (g,) = torch.autograd.grad((y * y * a).sum(), x)
        return [a, a * 2, g, {"a": a}]

    x = torch.ones(2, requires_grad=True)
    compiled = check(lambda x, a: list(fn(x, a)[:3]), [(x, 0.5 + i) for i in range(5)])
    assert len(compiled.recordings) == 1
    compiled = torch.compile(fn, fullgraph=True)
    for a in (0.5, 1.5, 2.5):
        kept.append(compiled(x, a))
    assert all(type(y) is float for found in kept for y in (found[0], found[1], found[3]["a"]))


def test_programs_that_take_numbers_are_refused_by_files_and_c(tmp_path):
    compiled = check(lambda x, a: x * a, [(torch.ones(2), a) for a in (0.5, 1.5)])
    with pytest.raises(ValueError, match=r"takes Python numbers cannot be saved\. Hint: pass them as tensors of one element"):
        compiled.save(tmp_path / "file")
    with pytest.raises(RuntimeError, match=r"no C is written for a program that takes Python numbers"):
        compiled.to_c(tmp_path / "scale")
    text = str(compiled.programs()[0])
    assert "number n0" in text and "n1" in text


def test_many_values_that_are_read_end_at_the_limit():
    compiled = torch.compile(lambda x, a: x * math.sin(a))
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        for i in range(20):
            assert compiled(torch.ones(1), float(i)).tolist() == (torch.ones(1) * math.sin(i)).tolist()
    assert len(seen) == 1
    strict = torch.compile(lambda x, a: x * math.sin(a), fullgraph=True)
    for i in range(LIMIT):
        strict(torch.ones(1), float(i))
    with pytest.raises(CompileError, match="pass numbers that change as tensors"):
        strict(torch.ones(1), -1.0)


def test_stand_ins_behave_as_numbers():
    arithmetic = Arithmetic([2.5, 3])
    a, n = arithmetic.stand_ins
    assert isinstance(a, float) and isinstance(n, int) and not isinstance(a, int)
    derived = [a + 1, 1 - a, a * n, n / a, n // 2, a % 2, a**2, 2**n, -a, +n, abs(-a), True + n]
    assert all(map(is_stand_in, derived))
    assert arithmetic.conditions == {}
    assert (a > 2, a >= 3, n == 3, n != 3, a == "2.5", a is None, bool(a)) == (True, False, True, False, False, False, True)
    assert len(arithmetic.conditions) == 5
    assert [float(x) for x in derived] == [3.5, -1.5, 7.5, 1.2, 1, 0.5, 6.25, 8, -2.5, 3, 2.5, 4]
    assert arithmetic.table_of([2.5, 3]) is not None and arithmetic.table_of([2.5, 4]) is None
    assert (int(a), round(a), math.ceil(a), str(a), f"{n:03}", hash(a), [1, 2, 3, 4][n], a.is_integer()) == (
        2, 2, 3, "2.5", "003", hash(2.5), 4, False,
    )  # fmt: skip
    assert (n & 1, 1 | n, ~n, n << 1, 16 >> n, n.bit_length()) == (1, 3, -4, 6, 2, 2)
    assert (complex(a), a + 1j, np.asarray(a).tolist(), (a * np.ones(2)).tolist()) == (2.5 + 0j, 2.5 + 1j, 2.5, [2.5, 2.5])
    assert pickle.loads(pickle.dumps(a)) == 2.5 and type(pickle.loads(pickle.dumps(a))) is float
    assert copy.deepcopy({"a": a})["a"] is a
    for bad in (lambda: a[0], lambda: a.shape, lambda: [1, 2][a], lambda: a + "x", lambda: a & 1, lambda: a / 0):
        with pytest.raises((TypeError, AttributeError, ZeroDivisionError)):
            bad()
    arithmetic.is_recording = False
    n_rows = len(arithmetic.rows)
    assert type(a * 2) is float and len(arithmetic.rows) == n_rows


def test_conditions_tell_zeros_and_types_apart():
    arithmetic = Arithmetic([0.0])
    str(arithmetic.stand_ins[0])
    assert arithmetic.table_of([0.0]) is not None and arithmetic.table_of([-0.0]) is None and arithmetic.table_of([1.0]) is None
    arithmetic = Arithmetic([4, 2])
    power = arithmetic.stand_ins[0] ** arithmetic.stand_ins[1]
    assert power == 16 and arithmetic.table_of([4, -2]) is None  # a float


def _with_numbers(case):
    """Return a function of a sample's inputs and parameters, with its gradients."""

    def program(inputs, params):
        results = flatten(case.op.function(*inputs, **params))
        leaves = [x for x in flatten(inputs) if isinstance(x, torch.Tensor) and x.requires_grad]
        tensors = [x for x in results if isinstance(x, torch.Tensor) and x.requires_grad and not x.is_complex()]
        found = [x.detach() if isinstance(x, torch.Tensor) else x for x in results]
        if leaves and tensors:
            found += torch.autograd.grad(sum((x * x).sum() for x in tensors), leaves, allow_unused=True)
        return found

    return lambda inputs: program(*inputs)


@pytest.mark.exhaustive
@each("case", [case for case in CASES if is_public(case.op) and case.number == 0])
def test_samples_of_all_operations_with_numbers_that_change(case):
    def inputs(number):
        given = [inputs_of(case, number, True), case.params]
        return [tree_map(lambda x: x * (1 + number / 16) if type(x) is float else x, given)]

    if not any(type(x) in (int, float) for x in tree_leaves(inputs(0))):
        return
    program = _with_numbers(case)
    compiled = torch.compile(program)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for number in (0, 1, 2, 1):
            expected, found = outcome_of(program, inputs(number)), outcome_of(compiled, inputs(number))
            for x, y in others_of(expected, found):
                assert repr(x) == repr(y)
