"""utils.benchmark against torch: printed forms of measurements and tables, and what they say."""

from __future__ import annotations

import io
from contextlib import redirect_stdout
from importlib import import_module

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import wengert  # noqa: E402
from outcomes import assert_same_outcomes  # noqa: E402
from wengert.utils.benchmark import Measurement, Timer  # noqa: E402

STEADY = [1e-6, 1.01e-6, 1e-6, 1.02e-6, 1e-6]
NOISY = [1e-3, 2e-3, 3e-3, 4e-3, 5e-3]


def library(torch):
    """The module, and a function that makes measurements."""
    module = import_module(f"{torch.__name__}.utils.benchmark")

    def measured(times, number=1, **task):
        return module.Measurement(number, times, module.TaskSpec(**{"stmt": "x+1", "setup": "pass", **task}))

    return module, measured


def measurements(torch, note):
    module, measured = library(torch)

    def text(m):
        return repr(m).split("\n")[1:], m.title, m.as_row_name, m.env, m.stmt, m.num_threads

    for task in (
        {}, {"setup": "x=1"}, {"setup": "x=1\ny=2"}, {"label": "L"}, {"sub_label": "S"}, {"description": "D"},
        {"label": "L", "sub_label": "S", "description": "D", "env": "E", "num_threads": 3}, {"stmt": "a\nb"}, {"stmt": "a\nb", "label": "L"},
    ):  # fmt: skip
        note(lambda task=task: text(measured(STEADY, **task)))
    for times in ([1e-3], [1e-3] * 2, [1e-3] * 3, NOISY, [1.0, 2.0, 10.0], [5e-9] * 4, [0.2, 0.21, 0.25, 0.26], [7.0, 7.5]):
        note(lambda times=times: text(measured(times)))
        note(lambda times=times: text(measured(times, number=1000)))
        note(lambda times=times: [f"{x:.12g}" for m in [measured(times)] for x in (m.median, m.mean, m.iqr)])
        note(lambda times=times: (measured(times).has_warnings, measured(times).times, len(module.Measurement.merge([measured(times)] * 2))))
    note(lambda: [measured([t] * 4).significant_figures for t in (1e-7, 1e-6, 3e-5, 1e-3, 1.0)])
    note(lambda: measured(NOISY).significant_figures)
    draw = np.random.default_rng(0)
    for _ in range(100):
        base, spread = 10 ** draw.uniform(-7, 1), 10 ** draw.uniform(-5, 0)
        times = [float(base * (1 + spread * x)) for x in draw.random(draw.integers(2, 60))]
        note(lambda times=times: measured(times).significant_figures)
    note(lambda: [module.select_unit(t) for t in (1e-9, 1e-6, 3e-4, 0.5, 5.0, 100.0, 1e-10)])
    note(lambda: [module.unit_to_english(u) for u in ("ns", "us", "ms", "s")])
    note(lambda: module.ordered_unique([3, 1, 3, 2]))


def tables(torch, note):
    module, measured = library(torch)

    def printed(*results, **settings):
        table = module.Compare(list(results))
        for name in settings:
            getattr(table, name)()
        out = io.StringIO()
        with redirect_stdout(out):
            table.print()
        assert out.getvalue() == f"{table}\n"
        return str(table)

    task = {"label": "B", "description": "d1", "sub_label": "q"}
    other = {"label": "B", "description": "a long description", "sub_label": "a long label"}
    for results in (
        [([1e-3] * 5, task)], [([1e-3] * 5, task), ([1.0] * 5, {**task, "sub_label": "r"})], [([1e-3] * 5, task), ([2e-3] * 5, other)],
        [([1e-3] * 5, {**task, "label": "A very long label indeed"})], [([1e-3] * 5, {"description": "zz", "stmt": "nolabel"})],
        [([1e-3] * 5, {**task, "env": "envi"}), ([1e-3] * 5, {**task, "env": "e"})],
        [([1e-3] * 5, {**task, "num_threads": 16}), ([1e-3] * 5, task)], [([1e-3] * 5, task), ([1e-6] * 5, {**task, "label": "C"})],
        [([1e-3] * 3, task), ([2e-3] * 2, task)], [([1e-3] * 5, task), ([123.456789] * 5, {**task, "sub_label": "r"}), ([1e-6] * 5, other)],
        [(NOISY, task), ([1.0] * 5, {**task, "description": "d2"})],
    ):  # fmt: skip
        for settings in ({}, {"highlight_warnings": 1}, {"trim_significant_figures": 1}):
            note(lambda results=results, settings=settings: printed(*[measured(times, **task) for times, task in results], **settings))


@pytest.mark.parametrize("program", [measurements, tables])
def test_printed_forms_are_those_of_torch(program):
    assert_same_outcomes(program, wengert, torch)


def test_a_timer_runs_its_statement():
    calls = []
    timer = Timer("calls.append(x)", "x = 5", globals={"calls": calls}, label="appending")
    found = timer.timeit(10)
    assert isinstance(found, Measurement) and found.number_per_run == 10 and len(found.times) == 1
    assert set(calls) == {5} and len(calls) >= 10
    assert found.title == "appending"
    before = wengert.get_num_threads()
    blocks = []
    found = timer.blocked_autorange(lambda number, seconds: blocks.append(number), min_run_time=0.01)
    assert sum(found.raw_times) >= 0.01 and set(blocks) == {found.number_per_run}
    assert timer.adaptive_autorange(max_run_time=0.05).number_per_run >= 1
    assert wengert.get_num_threads() == before


def test_wrong_timers():
    with pytest.raises(ValueError, match="Currently only a `str` stmt is supported"):
        Timer(3)
    with pytest.raises(ValueError, match="Invalid language `zz`"):
        Timer(language="zz")
    with pytest.raises(NotImplementedError):
        Timer(language="c++")
    with pytest.raises(NameError):
        Timer("unknown + 1").timeit(1)
