"""Numbers that tensors give in the middle of a compiled function, and what a function puts out: print, logging, files."""

from __future__ import annotations

import contextlib
import io
import logging
import math
import random
import sys
import warnings

import pytest

import wengert as torch
from wengert.program.compiled import CompileError


def run_both(make, n=6, recordings=1, **options):
    """Run make() and its compiled function n times. Compare results and what is put out. Return the compiled function.

    make: returns a function of a tensor, and the tensors that it changes."""
    found = []
    for is_compiled in (False, True):
        fn, tensors = make()
        run = torch.compile(fn, fullgraph=True, **options) if is_compiled else fn
        text = io.StringIO()
        with contextlib.redirect_stdout(text):
            results = [repr(run(torch.tensor([0.5 * i, 2.0, -1.25]))) for i in range(n)]
        found.append((results, text.getvalue(), [t.tolist() for t in tensors], [t._version for t in tensors]))
    assert found[1] == found[0]
    if recordings is not None:
        assert len(run.recordings) == recordings, run.explain()
        assert sum(r.runs for r in run.recordings) == n - recordings, run.explain()
    return run


# -- numbers ---------------------------------------------------------------------------------------------------------------


def test_numbers_of_tensors_go_on():
    def summed(x):
        total = 0.0
        for i in range(3):
            total += (x * i).sum().item()
        mean = total / 3
        return x * mean, mean, {"double": [2 * mean]}

    def normalised(x):
        largest = x.abs().max().item()
        return x / largest if largest else x, max(largest, 1.0), -largest

    def given_back(x):
        def norm(y):
            return (y * y).sum().item()

        return x - norm(x) * 0.5

    def whole(x):
        n = (x > 0).sum().item()
        return x * n / 3, n, n // 2, (x > 1).sum().item()

    for fn in (lambda x: x * x.sum().item(), summed, given_back):
        run_both(lambda fn=fn: (fn, []))
        run_both(lambda fn=fn: (fn, []), backend="c")
    run_both(lambda: (normalised, []))
    run_both(lambda: (whole, []), recordings=None)


def test_comparisons_of_numbers_are_conditions():
    def branching(x):
        if x.sum().item() > 2:
            return x * 2
        return x - 1

    def iterating(x):
        y = x.abs().sum()
        while y.item() > 0.1:
            y = y / 4
        return y

    run_both(lambda: (branching, []), recordings=2)
    run_both(lambda: (iterating, []), recordings=None)


def test_a_condition_that_fails_after_a_write_undoes_it():
    def make():
        held = torch.zeros(3)

        def fn(x):
            held.add_(x)
            if held[0].item() > 3:
                held.mul_(0.5)
            return held * 1

        return fn, [held]

    run_both(make, n=10, recordings=2)


def test_a_training_step_that_uses_its_loss():
    def make():
        w = torch.ones(3, requires_grad=True)
        optimizer = torch.optim.SGD([w], lr=0.05, momentum=0.9)

        def step(x):
            optimizer.zero_grad()
            loss = ((w * x) ** 2).sum()
            loss.backward()
            scale = 1 / (1 + loss.item())
            w.grad.mul_(scale)
            optimizer.step()
            return loss.item(), scale

        return step, [w]

    run_both(make, n=10, recordings=2)  # the first call makes .grad and the momentum


def test_division_by_a_number_that_is_zero_raises_in_the_function():
    fn = torch.compile(lambda x: x * (1 / x.sum().item()), fullgraph=True)
    x = torch.ones(2)
    assert fn(x).tolist() == [0.5, 0.5] and fn(x * 2).tolist() == [0.5, 0.5]
    with pytest.raises(ZeroDivisionError):
        fn(x * 0)
    assert fn(x * 4).tolist() == [0.5, 0.5] and len(fn.recordings) == 1


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.float16, torch.int64])
def test_numbers_are_those_of_eager_runs_in_each_dtype(dtype):
    def fn(x, y):
        a = y.item()
        return x * a, a * x - a, a + x.double(), x / (a + 2), a

    run = torch.compile(fn)
    for value in (3, 1, 0, -2, 7):
        x, y = torch.arange(4).to(dtype), torch.tensor(value).to(dtype)
        for found, expected in zip(run(x, y), fn(x, y), strict=True):
            assert type(found) is type(expected)
            assert repr(found) == repr(expected)
            assert not isinstance(found, torch.Tensor) or found.dtype == expected.dtype


def test_special_values_of_numbers():
    fn = torch.compile(lambda x, y: (x * y.item(), y.item() + 0.0), fullgraph=True)
    x = torch.tensor([1.0, -2.0, math.inf])
    for value in (1.0, -0.0, 0.0, math.nan, math.inf, -math.inf, 1e-45):
        y = torch.tensor(value)
        assert repr(fn(x, y)) == repr((x * y.item(), y.item() + 0.0))
    assert len(fn.recordings) == 1


def test_results_with_a_history_follow_numbers():
    def fn(x):
        return (x * x.detach().max().item()).sum()

    run = torch.compile(fn, fullgraph=True)
    for i in range(1, 5):
        x, y = (torch.tensor([1.0, float(i)], requires_grad=True) for _ in range(2))
        run(x).backward()
        fn(y).backward()
        assert x.grad.tolist() == y.grad.tolist()
    assert len(run.recordings) == 1


class _Keeper:
    last = 0.0


def test_numbers_that_are_read_by_others_are_numbers():
    kept = []
    keeper = _Keeper()

    def in_a_list(x):
        kept.append(x.sum().item())
        return x * len(kept)

    def in_an_object(x):
        keeper.last = x.sum().item()
        return x * 1

    def by_a_function(x):
        return x * math.cos(x.sum().item())

    def in_the_caller(x):
        def pair(y):
            return y.sum().item(), 1

        return x * math.floor(pair(x)[0])

    for fn in (in_a_list, in_an_object, by_a_function, in_the_caller):
        run = torch.compile(fn)
        with pytest.warns(RuntimeWarning, match="runs eagerly"):
            found = [run(torch.ones(2) * i).tolist() for i in range(4)]
        kept.clear()
        assert found == [fn(torch.ones(2) * i).tolist() for i in range(4)] and not run.recordings
        kept.clear()
    assert all(type(x) is float for x in (*kept, keeper.last))


# -- what is put out -------------------------------------------------------------------------------------------------------

_log = logging.getLogger("test_reads")


def test_prints_come_again_with_the_values_of_the_run():
    def tensors(x):
        y = x * 2
        print(y.sum())
        z = y + 1
        print(f"mean {z.mean().item():.3f}", y, sep=" | ", end=".\n")
        print("shape", x.shape, x.dtype, [y, z], {"z": z[0]}, str(z))
        return z

    def numbers(x):
        mean = x.mean().item()
        for i in range(3):
            print(i, mean * i)
            if i == 1:
                print("%.2f" % (mean + 1), f"{mean:.2f}")
        return x * mean

    def chosen(x):
        print("large" if x.sum() > 2 else "small")
        return x + 1

    def of_others(x):
        print(math.floor(x.max().item()), str(x[0]).upper())
        print(
            "over lines",
            x.max().item(),
        )
        return x * 1

    def plain(x):
        for _ in range(2): print("a"); print(x[0])  # fmt: skip  # noqa: E701, E702
        print()
        return x + 1

    for fn in (tensors, numbers, of_others, plain):
        run_both(lambda fn=fn: (fn, []))
    run_both(lambda: (chosen, []), recordings=2)


def test_prints_of_histories_and_gradients():
    def make():
        w = torch.ones(3, requires_grad=True)

        def step(x):
            w.grad = None
            loss = (w * x).exp().sum()
            print(loss, w, w * 2)
            with torch.no_grad():
                print(loss * 2)
            loss.backward()
            print("loss", loss, loss.item(), w.grad)
            with torch.no_grad():
                w.sub_(0.01 * w.grad)
            print(w)
            return loss.detach()

        return step, [w]

    run_both(make, recordings=2)  # the first call finds no .grad


def test_a_run_that_does_not_fit_prints_once():
    def fn(x):
        print("sum", x.sum())
        if x.sum() > 2:
            return x * 2
        return x[x > 1]

    run_both(lambda: (fn, []), n=12, recordings=None)


def test_logging_and_files(tmp_path, caplog):
    path = tmp_path / "losses.txt"

    def run(wrap):
        with open(path, "a") as file, caplog.at_level(logging.INFO, "test_reads"):

            def fn(x):
                loss = (x * x).sum()
                _log.info("loss %.3f %s", loss.item(), loss)
                logging.getLogger("test_reads").warning("again %s", x)
                file.write(f"{loss.item()}\n")
                sys.stdout.write("")
                return loss

            step = wrap(fn)
            results = [step(torch.ones(2) * i).item() for i in range(5)]
        records = [(r.getMessage(), r.levelname, r.lineno, r.funcName, r.filename) for r in caplog.records]
        caplog.clear()
        return results, records, path.read_text()[-80:].split()[-5:], step

    *expected, _ = run(lambda fn: fn)
    *found, step = run(torch.compile)
    assert found == expected and len(step.recordings) == 1, step.explain()


def test_an_error_in_what_is_put_out_is_that_of_the_function():
    def fn(x):
        print(f"{1 / x.sum().item():.1f}")
        return x * 2

    run = torch.compile(fn, fullgraph=True)
    with contextlib.redirect_stdout(io.StringIO()) as text:
        assert run(torch.ones(2)).tolist() == run(torch.ones(2)).tolist() == [2, 2]
        with pytest.raises(ZeroDivisionError) as caught:
            run(torch.zeros(2))
    assert text.getvalue() == "0.5\n0.5\n" and caught.traceback[-1].name == "fn"


def _shouted(x):
    return f"{x.sum().item():.2f}!"


def test_statements_that_change_something_run_eagerly():
    left = [3, 2, 1, 0, 0, 0]

    def writes(x):
        y = x * 1
        print(y.add_(1))
        return y

    def draws(x):
        print(torch.rand(1).item())
        return x + torch.rand(1)

    def pops(x):
        print(left.pop())
        return x * len(left)

    def shuffles(x):
        order = [1, 2]
        random.shuffle(order)
        return x * order[0]

    def of_a_list(x):
        order = [3.0, 2.0]
        print(order.pop())
        return x * order[-1]

    def asks_others(x):
        print(_shouted(x))
        return x + 1

    for fn in (asks_others, writes, draws, pops, shuffles, of_a_list):
        with pytest.raises(CompileError), contextlib.redirect_stdout(io.StringIO()):
            torch.compile(fn, fullgraph=True)(torch.ones(2))


def test_texts_of_tensors_that_go_elsewhere_are_refused():
    for fn in (lambda x: f"{x.sum()}", lambda x: x * len(str(x)), lambda x: x * len(repr(x))):
        with pytest.raises(CompileError, match="gives Python a value"):
            torch.compile(fn, fullgraph=True)(torch.ones(2))


def test_a_debugger_sees_the_function_run():
    seen = []

    def fn(x):
        print(x.sum())
        return x + 1

    run = torch.compile(fn)
    before = sys.gettrace()
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()) as text:
        warnings.simplefilter("ignore")
        sys.settrace(lambda frame, event, argument: seen.append(frame.f_code.co_name))
        try:
            results = [run(torch.ones(1) * i).item() for i in range(3)]
        finally:
            sys.settrace(before)
    assert results == [1.0, 2.0, 3.0] and seen.count("fn") == 3
    assert text.getvalue().split() == ["tensor(0.)", "tensor(1.)", "tensor(2.)"]


def test_code_without_its_source_runs_eagerly():
    namespace = {}
    exec("def fn(x):\n    print(x.sum())\n    return x * x.sum().item()\n", namespace)
    run = torch.compile(namespace["fn"])
    with contextlib.redirect_stdout(io.StringIO()), pytest.warns(RuntimeWarning, match="runs eagerly"):
        found = [run(torch.ones(2) * i).tolist() for i in range(3)]
    assert found == [[2 * i * i] * 2 for i in range(3)] and not run.recordings


# -- lists that grow -------------------------------------------------------------------------------------------------------

_losses = []


class _Trainer:
    def __init__(self):
        self.history = []
        self.w = torch.ones(3, requires_grad=True)

    def step(self, x):
        loss = ((self.w * x) ** 2).sum()
        number = loss.item()
        self.history.append(number)
        (grad,) = torch.autograd.grad(loss, self.w)
        with torch.no_grad():
            self.w.sub_(0.01 * grad)
        for i in range(2):
            self.history.append(number * i)
        return number


def test_numbers_are_appended_to_lists_in_each_run():
    def outside(x):
        _losses.append(x.sum().item())
        _losses.append("end")
        return x * 2

    def run(wrap):
        trainer = _Trainer()
        step, second, losses = wrap(trainer.step), wrap(outside), []

        def within(x):
            losses.append(x.max().item())
            return x + 1

        third = wrap(within)
        for i in range(6):
            x = torch.tensor([i / 2, 1.0, -2.0])
            step(x), second(x), third(x)
        found = [*trainer.history], [*_losses], [*losses]
        assert all(type(y) in (float, str) for x in found for y in x)
        _losses.clear()
        return *found, trainer.w.tolist(), (step, second, third)

    *expected, _ = run(lambda f: f)
    *found, compiled = run(lambda f: torch.compile(f, fullgraph=True))
    assert found == expected
    assert [[r.runs for r in c.recordings] for c in compiled] == [[5]] * 3


def test_lists_that_are_read_are_compared():
    losses, others = [], {"losses": []}
    held = losses

    def counted(x):
        losses.append(x.sum().item())
        return x * len(losses)

    def read_by_another_name(x):
        losses.append(x.sum().item())
        return x * (held[-1] if held else 1)

    def in_a_dict(x):
        others["losses"].append(x.sum().item())
        return x * len(next(iter(others.values())))

    def of_tensors(x):
        losses.append(x.sum())
        return x * 1

    for fn in (counted, read_by_another_name, in_a_dict, of_tensors):
        with pytest.raises(CompileError):
            torch.compile(fn, fullgraph=True)(torch.ones(2))
    assert all(type(x) in (float, torch.Tensor) for x in losses)

    def local(x):
        values = []
        for y in x:
            values.append(y.item())
        return sum(values), x

    compiled = torch.compile(local)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for i in range(4):
            assert compiled(torch.ones(2) * i)[0] == 2.0 * i


def test_numbers_that_a_function_stores_are_numbers():
    class Settings:
        rate = 1.0

    settings, groups = Settings(), [{"lr": 0.5}]
    settings.rate = 1.0

    def fn(x):
        groups[0]["lr"] = settings.rate * 0.5
        return x * groups[0]["lr"]

    compiled = torch.compile(fn)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for i in range(5):
            settings.rate = 1.0 + i // 2
            assert compiled(torch.ones(1)).item() == settings.rate / 2
            assert type(groups[0]["lr"]) is float and type(settings.rate) is float


class _Fussy:
    """An object that has no text while a program runs."""

    def __str__(self):
        frame = sys._getframe(1)
        while frame is not None:
            if frame.f_globals["__name__"] == "wengert.program.execution":
                raise ValueError("not now")
            frame = frame.f_back
        return "fussy"


def test_a_function_whose_recordings_fail_runs_eagerly():
    fussy = _Fussy()

    def fn(x):
        print(fussy)
        return x * 2

    compiled = torch.compile(fn)
    with warnings.catch_warnings(record=True) as caught, contextlib.redirect_stdout(io.StringIO()) as text:
        warnings.simplefilter("always")
        results = [compiled(torch.ones(1)).item() for _ in range(8)]
    assert results == [2.0] * 8 and text.getvalue() == "fussy\n" * 8 and len(compiled.recordings) <= 3
    assert len(caught) == 1 and "fail where it does not: ValueError: not now" in str(caught[0].message)


def test_arguments_of_print_may_be_any_expressions():
    def fn(x):
        y = x * 1
        if (n := x.norm().item()) > 1:
            y = x / n
        total = y.sum().item()
        print(f"{n=:.3f}", round(total, 2), str(total), math.floor(total), format(total, ">8.2f"), f"{x.sum()=}")
        print(", ".join(f"{v.item():.2f}" for v in x), [v.item() for v in x], *x)
        return y * 2

    run_both(lambda: (fn, []))


def test_versions_that_are_printed_are_those_of_eager_runs():
    def make():
        w = torch.zeros(3)

        def fn(x):
            w.add_(x)
            print(w._version)
            return x * 1

        return fn, [w]

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = []
        for wrap in (lambda f: f, torch.compile):
            fn, _ = make()
            run = wrap(fn)
            with contextlib.redirect_stdout(io.StringIO()) as text:
                for _ in range(5):
                    run(torch.ones(3))
            found.append(text.getvalue())
    assert found[0] == found[1]
