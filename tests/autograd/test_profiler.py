"""The profiler: what it records, how it adds up, its tables and traces. Times are checked against a clock of the test's own."""

import json
import re
import sys
import threading
import time
import types
import warnings

import numpy as np
import pytest

import wengert as torch
from lines import line_of
from traces import check_trace
from wengert import __config__, errors
from wengert.autograd import profiler
from wengert.core import modes, recorder, watched

ROOT, LEAF = "torch::autograd::GraphRoot", "torch::autograd::AccumulateGrad"


def names(prof):
    return [event.name for event in prof.function_events]


def only(prof, name):
    (event,) = [event for event in prof.function_events if event.name == name]
    return event


def leaf(*shape):
    return torch.randn(*shape, requires_grad=True)


class Doubled(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, ct):
        return ct * 2


# -- what is recorded ------------------------------------------------------------------------------------------------------


def test_operations_and_nodes_in_the_order_in_which_they_ran():
    x, w = leaf(2, 3), leaf(3, 4)
    with profiler.profile() as prof:
        y = torch.relu(x @ w)
        z = (y * 0.5)[0].sum()
        z.backward()
    forward = ["matmul", "relu", "mul", "select", "sum"]
    backward = ["SumBackward0", "SelectBackward0", "MulBackward0", "ReluBackward0", "MmBackward0", LEAF, LEAF]
    assert names(prof) == [*forward, ROOT, *backward]


def test_nothing_is_recorded_before_and_after():
    x = leaf(2)
    x + 1
    with profiler.profile() as prof:
        x - 1
    x * 1
    assert names(prof) == ["sub"] and modes.observed() == 0 and not recorder.is_recording()


def test_results_are_the_same_under_a_profiler():
    x = leaf(4, 4)
    (x.exp() @ x).cumsum(0)[1].prod().backward()
    expected, x.grad = x.grad.numpy(), None
    with profiler.profile(record_shapes=True, profile_memory=True, with_stack=True, with_flops=True):
        (x.exp() @ x).cumsum(0)[1].prod().backward()
    np.testing.assert_array_equal(x.grad.numpy(), expected)


def test_unrecorded_operations_count_too():
    x = leaf(2)
    with profiler.profile() as prof, torch.no_grad():
        y = x + 1
        torch.tensor([1, 2]) * 3
    assert names(prof) == ["add", "tensor", "mul"] and not y.requires_grad
    assert [event.sequence_nr for event in prof.function_events] == [-1, -1, -1]


def test_writes_in_place():
    x, y = torch.zeros(3), leaf(3)
    with profiler.profile() as prof:
        x.add_(y)
        x.copy_(torch.ones(3))
        x.zero_()
    assert names(prof) == ["add_", "ones", "copy_", "zero_"]


def test_a_backward_node_names_its_forward_event_and_line():
    x = leaf(2)
    with profiler.profile() as prof:
        y = x.exp()  # made here
        z = Doubled.apply(y)  # and here
        z.sum().backward()
    exp, node = only(prof, "exp"), only(prof, "ExpBackward0")
    assert node.forward is exp and exp.forward is None and node.sequence_nr == exp.sequence_nr == y.grad_fn._sequence_nr()
    assert exp.source.startswith(line_of(__file__, "made here") + ",") and node.source == exp.source
    function = only(prof, "Doubled")
    assert only(prof, "DoubledBackward").forward is function and function.source.startswith(line_of(__file__, "and here"))
    assert [child.name for child in function.cpu_children] == ["mul"]
    assert [child.name for child in only(prof, "DoubledBackward").cpu_children] == ["mul"]


def test_a_pass_that_records_itself_shows_the_operations_inside_its_nodes():
    x = leaf(2)
    with profiler.profile() as prof:
        torch.autograd.grad((x**3).sum(), x, create_graph=True)
    node = only(prof, "PowBackward0")
    assert {child.name for child in node.cpu_children} == {"pow", "mul"}
    assert all(child.cpu_parent is node for child in node.cpu_children)


def test_ranges_nest_and_contain_the_operations_inside():
    x = leaf(2)

    @profiler.record_function("step")
    def step():
        with profiler.record_function("inner", "with a note") as inner:
            x * 2
        return inner.args

    with profiler.profile() as prof:
        assert step() == "with a note"
        step()
    assert names(prof) == ["step", "inner", "mul"] * 2
    first = prof.function_events[0]
    assert [e.name for e in first.cpu_children] == ["inner"] and first.cpu_children[0].cpu_children[0].name == "mul"
    assert first.is_user_annotation and not first.cpu_children[0].cpu_children[0].is_user_annotation


def test_a_range_without_a_profiler_costs_nothing_but_its_call():
    with profiler.record_function("unseen"):
        assert not recorder.is_recording()


def test_a_range_survives_an_exception():
    with pytest.raises(ZeroDivisionError), profiler.profile() as prof, profiler.record_function("fails"):
        raise ZeroDivisionError
    assert names(prof) == ["fails"]


def test_all_threads_are_seen():
    x = leaf(2)
    waiting, go = threading.Event(), threading.Event()

    def work():
        waiting.set()
        go.wait()
        with profiler.record_function("worker"):
            (x * 2).sum().backward()

    thread = threading.Thread(target=work)
    if __config__.info()["core"] == "compiled":  # uncompiled, a thread that is there already is not seen
        thread.start()
        waiting.wait()
    with profiler.profile() as prof:
        x + 1
        if not thread.is_alive():
            thread.start()
        go.set()
        thread.join()
    by_thread = {number: [e.name for e in prof.function_events if e.thread == number] for number in (1, 2)}
    assert by_thread[1] == ["add"]
    assert by_thread[2] == ["worker", "mul", "sum", ROOT, "SumBackward0", "MulBackward0", LEAF]


def test_a_node_knows_the_thread_of_its_forward():
    x = leaf(2)
    made = []
    with profiler.profile() as prof:
        thread = threading.Thread(target=lambda: made.append(x.exp()))
        thread.start()
        thread.join()
        made[0].sum().backward()
    node = only(prof, "ExpBackward0")
    assert (node.thread, node.fwd_thread) == (2, 1)  # numbered as they appear


def test_recorded_shapes_are_the_shapes_of_inputs_and_cotangents():
    x, w = leaf(2, 3), leaf(3, 4)
    with profiler.profile(record_shapes=True) as prof:
        ((x @ w) * 2.0).sum().backward()
    assert only(prof, "matmul").input_shapes == [[2, 3], [3, 4]]
    assert only(prof, "mul").input_shapes == [[2, 4], []]
    assert only(prof, "MmBackward0").input_shapes == [[2, 4]]
    with profiler.profile() as prof:
        x + 1
    assert only(prof, "add").input_shapes == []


def test_bytes_count_results_that_are_not_views():
    x = leaf(8, 4)
    with profiler.profile(profile_memory=True) as prof:
        y = x.exp()
        z = y.view(32)
        z.double()
        y.sum().backward()
    assert only(prof, "exp").cpu_memory_usage == 8 * 4 * 4 and only(prof, "view").cpu_memory_usage == 0
    assert only(prof, "cast").cpu_memory_usage == 32 * 8
    assert only(prof, "ExpBackward0").cpu_memory_usage == 8 * 4 * 4


def test_bytes_of_a_range_count_the_operations_inside():
    x = leaf(8)
    with profiler.profile(profile_memory=True) as prof, profiler.record_function("both"):
        x + 1
        x * 2
    both = only(prof, "both")
    assert both.cpu_memory_usage == 64 and both.self_cpu_memory_usage == 0


def test_stacks_lead_from_the_call_outwards():
    def inner(x):
        return x.exp()  # innermost

    def outer(x):
        return inner(x)

    x = leaf(2)
    with profiler.profile(with_stack=True) as prof:
        outer(x).sum().backward()
    stack = only(prof, "exp").stack
    file, _, number = line_of(__file__, "innermost").rpartition(":")
    assert stack[0] == f"{file}({number}): inner" and stack[1].endswith(": outer")
    assert only(prof, "ExpBackward0").stack == stack
    assert not any("wengert/core" in frame for frame in stack)


@pytest.mark.parametrize(
    ("run", "flops"),
    [
        (lambda: torch.ones(2, 3) @ torch.ones(3, 5), 2 * 2 * 3 * 5),
        (lambda: torch.mm(torch.ones(2, 3), torch.ones(3, 5)), 2 * 2 * 3 * 5),
        (lambda: torch.bmm(torch.ones(7, 2, 3), torch.ones(7, 3, 5)), 7 * 2 * 2 * 3 * 5),
        (lambda: torch.ones(3) @ torch.ones(3), 2 * 3),
        (lambda: torch.ones(4, 3) * torch.ones(3), 12),
        (lambda: torch.ones(4).exp(), 0),
    ],
)
def test_flops(run, flops):
    with profiler.profile(with_flops=True) as prof:
        run()
    assert prof.total_average().flops == flops


# -- times -----------------------------------------------------------------------------------------------------------------


def test_times_agree_with_the_clock():
    class Slow(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            time.sleep(0.02)
            return x * 1

        @staticmethod
        def backward(ctx, ct):
            time.sleep(0.01)
            return ct

    x = leaf(2)
    before = time.perf_counter()
    with profiler.profile() as prof:
        Slow.apply(x).sum().backward()
    elapsed = (time.perf_counter() - before) * 1e6
    forward, backward = only(prof, "Slow"), only(prof, "SlowBackward")
    assert 20_000 <= forward.cpu_time_total <= elapsed and 10_000 <= backward.cpu_time_total <= elapsed
    assert forward.self_cpu_time_total == pytest.approx(forward.cpu_time_total - only(prof, "mul").cpu_time_total)
    assert 30_000 <= prof.self_cpu_time_total <= elapsed


def test_self_times_add_up_to_the_times_of_the_outermost_events():
    x = leaf(3)
    with profiler.profile() as prof:
        with profiler.record_function("a"), profiler.record_function("b"):
            (x * 2).sum()
        x + 1
    outermost = sum(event.cpu_time_total for event in prof.function_events if event.cpu_parent is None)
    assert prof.self_cpu_time_total == pytest.approx(outermost)
    assert all(event.time_range.elapsed_us() == pytest.approx(event.cpu_time_total) for event in prof.function_events)
    assert min(event.self_cpu_time_total for event in prof.function_events) >= 0


def test_averages():
    x = leaf(2)
    with profiler.profile() as prof:
        x + 1
        x + 2
        x.exp()
    averages = prof.key_averages()
    assert [(a.key, a.count) for a in averages] == [("add", 2), ("exp", 1)]
    add = averages[0]
    adds = [event.cpu_time_total for event in prof.function_events if event.name == "add"]
    assert add.cpu_time_total == pytest.approx(sum(adds)) and add.cpu_time == pytest.approx(sum(adds) / 2)
    total = prof.total_average()
    assert (total.key, total.count) == ("Total", 3) and total.self_cpu_time_total == pytest.approx(prof.self_cpu_time_total)


def test_averages_by_shape_and_by_line():
    inputs = [torch.ones(n) for n in (2, 2, 3)]
    with profiler.profile(record_shapes=True) as prof:
        for x in inputs:
            x + 1
        inputs[0] + 1
    assert [a.count for a in prof.key_averages()] == [4]
    assert [(a.input_shapes, a.count) for a in prof.key_averages(group_by_input_shape=True)] == [([[2], []], 3), ([[3], []], 1)]
    assert [a.count for a in prof.key_averages(group_by_stack_n=1)] == [3, 1]


def test_a_range_and_an_operation_of_one_name_are_not_added_up():
    x = torch.ones(1)
    with profiler.profile() as prof, profiler.record_function("add"):
        x + 1
    assert [a.count for a in prof.key_averages()] == [1, 1]


def test_records_are_plain():
    x = leaf(2)
    with profiler.profile(record_shapes=True) as prof, profiler.record_function("r"):
        x.exp().sum().backward()
    records = prof.function_events.records()
    assert json.loads(json.dumps(records)) == records
    assert [r["kind"] for r in records] == ["range", "operation", "operation", *["backward"] * 4]
    assert records[1]["shapes"] == [[2]] and records[1]["parent"] == 0 and records[0]["parent"] is None


# -- tables ----------------------------------------------------------------------------------------------------------------


def table_rows(text):
    """Cells of the lines between the second ruler and the third."""
    lines = text.splitlines()
    rulers = [i for i, line in enumerate(lines) if line.startswith("---")]
    return [re.split(r"\s{2,}", line.strip()) for line in lines[rulers[1] + 1 : rulers[2]]]


def test_the_modern_table_has_torchs_columns():
    x = leaf(2)
    with profiler.profile() as prof:
        (x * 2).sum().backward()
    lines = prof.table().splitlines()
    assert lines[1].split("  ")[-8:] != [] and re.split(r"\s{2,}", lines[1].strip()) == [
        "Name", "Self CPU %", "Self CPU", "CPU total %", "CPU total", "CPU time avg", "# of Calls",
    ]
    width = len(LEAF) + 4
    assert lines[0] == "".join(["-" * n + "  " for n in (width, *[12] * 6)])
    assert {len(line) for line in lines[:-1]} == {len(lines[0])} and lines[-1].startswith("Self CPU time total: ")
    assert lines[3].index("mul") == width - 3


def test_optional_columns():
    x, y = torch.ones(20, 50), torch.ones(50, 30)
    with profiler.profile(record_shapes=True, profile_memory=True, with_flops=True, with_stack=True) as prof:
        x @ y
    titles = re.split(r"\s{2,}", prof.table().splitlines()[1].strip())
    assert titles[6:] == ["CPU Mem", "Self CPU Mem", "# of Calls", "Input Shapes", "Source Location", "Total KFLOPs"]
    (row,) = table_rows(prof.table())
    assert row[6:10] == ["2.34 KB", "2.34 KB", "1", "[[20, 50], [50, 30]]"] and row[-1] == "60.000"
    assert "Source Location" not in prof.key_averages().table() and "Input Shapes" not in prof.key_averages().table()
    assert "Input Shapes" in prof.key_averages(group_by_input_shape=True).table()


def test_rows_are_sorted_and_limited():
    x = torch.ones(2)
    with profiler.profile() as prof:
        x + 1
        x * 1
        x * 2
    averages = prof.key_averages()
    assert [row[0] for row in table_rows(averages.table(sort_by="count"))] == ["mul", "add"]
    assert [row[0] for row in table_rows(averages.table(sort_by="key"))] == ["add", "mul"]
    assert [row[0] for row in table_rows(prof.table(row_limit=1))] == ["add"] and len(table_rows(prof.table(row_limit=-1))) == 3
    times = [a.self_cpu_time_total for a in averages]
    first = table_rows(averages.table(sort_by="self_cpu_time_total"))[0][0]
    assert first == averages[int(np.argmax(times))].key
    assert prof.table(sort_by="cuda_time_total")  # all alike: there is no such device


def test_header_units_and_top_level():
    x = torch.ones(2)
    with profiler.profile() as prof, profiler.record_function("all"):
        x + 1
    text = prof.table(header="STEP 7", top_level_events_only=True, time_unit="ms")
    lines = text.splitlines()
    assert lines[1] == "STEP 7" and set(lines[0]) == set(lines[2]) == {"="}
    assert lines[3] == "This report only display top-level ops statistics"
    assert [row[0] for row in table_rows(text)] == ["all"] and all(cell.endswith("ms") for cell in table_rows(text)[0][2:6:2])


def test_an_empty_profile():
    with profiler.profile() as prof:
        pass
    assert prof.table() == "" and names(prof) == [] and prof.self_cpu_time_total == 0
    assert prof.total_average().count == 0 and str(prof).count("Number of Calls") == 1


def test_long_names_widen_the_old_table_and_are_cut_in_the_new_one():
    name = "n" * 60
    with profiler.profile() as prof, profiler.record_function(name):
        pass
    assert str(prof).splitlines()[0].startswith("-" * 60 + "  -") and name in str(prof)
    assert "n" * 52 + "..." in prof.table() and name in prof.table(max_name_column_width=80)


# -- traces and stacks -----------------------------------------------------------------------------------------------------


def test_the_trace_is_of_the_trace_event_format(tmp_path):
    x = leaf(3)
    with profiler.profile(record_shapes=True, profile_memory=True) as prof:
        with profiler.record_function("forward"):
            loss = Doubled.apply(x.exp()).sum()
        thread = threading.Thread(target=lambda: x + 1)
        thread.start()
        thread.join()
        loss.backward()
    path = tmp_path / "trace.json"
    prof.export_chrome_trace(path)
    events = check_trace(path)
    assert [e["name"] for e in events if e["ph"] == "X"] == names(prof)
    assert sum(e["ph"] == "s" for e in events) == sum(event.forward is not None for event in prof.function_events) == 3
    (exp,) = [e for e in events if e["name"] == "exp"]
    assert exp["args"]["Input Dims"] == [[3]] and exp["args"]["Bytes"] == 12 and __file__ in exp["args"]["Source"]
    assert {e["cat"] for e in events if e["name"] == "forward"} == {"user_annotation"}


def test_a_trace_can_be_written_twice(tmp_path):
    with profiler.profile() as prof:
        torch.ones(1) + 1
    prof.export_chrome_trace(str(tmp_path / "a.json"))
    prof.export_chrome_trace(tmp_path / "b.json")
    assert (tmp_path / "a.json").read_text() == (tmp_path / "b.json").read_text()


def test_a_path_that_cannot_be_written(tmp_path):
    with profiler.profile(with_stack=True) as prof:
        torch.ones(1) + 1
    for export in (prof.export_chrome_trace, prof.export_stacks):
        with pytest.raises(FileNotFoundError, match=re.escape(str(tmp_path / "no" / "file"))):
            export(tmp_path / "no" / "file")
        with pytest.raises(TypeError, match="not int"):
            export(1)  # which open() would take for the standard output


def test_stacks_for_flame_graphs(tmp_path):
    def slow():
        with profiler.record_function("sleep; well"):
            time.sleep(0.002)

    with profiler.profile(with_stack=True) as prof:
        slow()
    prof.export_stacks(tmp_path / "stacks.txt")
    (line,) = (tmp_path / "stacks.txt").read_text().splitlines()
    frames, _, us = line.rpartition(" ")
    assert frames.split(";")[-1] == "sleep__well" and frames.split(";")[-2].endswith(":_slow") and int(us) >= 2000
    assert " " not in frames


# -- bad use ---------------------------------------------------------------------------------------------------------------


def test_nested_profilers_each_see_the_operations_inside_them():
    x = torch.ones(2)
    with profiler.profile() as outer:
        x + 1
        with profiler.profile(record_shapes=True) as inner:
            x * 2
        x - 1
    assert names(outer) == ["add", "mul", "sub"] and names(inner) == ["mul"] and modes.observed() == 0


def test_profilers_that_overlap():
    x = torch.ones(2)
    first, second = profiler.profile(), profiler.profile()
    first.__enter__()
    x + 1
    second.__enter__()
    x * 2
    first.__exit__(None, None, None)
    x - 1
    second.__exit__(None, None, None)
    assert names(first) == ["add", "mul"] and names(second) == ["mul", "sub"]


def test_a_profiler_is_used_once():
    prof = profiler.profile()
    with prof, pytest.raises(errors.ProfilerError, match="not reentrant"):
        prof.__enter__()
    with pytest.raises(RuntimeError, match="not reentrant"), prof:
        pass


def test_results_are_there_after_the_block_only():
    prof = profiler.profile()
    for ask in (lambda p: p.table(), lambda p: p.key_averages(), lambda p: p.export_chrome_trace("x"), lambda p: p.function_events):
        with pytest.raises(errors.ProfilerError, match="didn't finish running"):
            ask(prof)
    with prof:
        assert str(prof) == repr(prof) == "<unfinished torch.autograd.profile>"
        with pytest.raises(RuntimeError, match="didn't finish running"):
            prof.total_average()


def test_a_disabled_profiler_does_nothing():
    with profiler.profile(enabled=False) as prof:
        torch.ones(1) + 1
        assert modes.observed() == 0
    assert prof is None


@pytest.mark.parametrize(
    ("ask", "text"),
    [
        (lambda p: p.table(sort_by="nonsense"), "'FunctionEventAvg' object has no attribute 'nonsense'. .*self_cpu_time_total"),
        (lambda p: p.key_averages().table(sort_by="name"), "can be sorted by count, cpu_memory_usage"),
        (lambda p: p.table(style="3.x"), "style '1.x' or '2.x'"),
        (lambda p: p.table(time_unit="min"), "'us', 'ms' or 's'"),
        (lambda p: p.export_stacks("x", "nonsense"), "metric should be one of"),
    ],
)
def test_unknown_columns_of_a_profile_are_refused(ask, text):
    with profiler.profile() as prof:
        torch.ones(1) + 1
    with pytest.raises(errors.ProfilerKeyError, match=text):
        ask(prof)


def test_stacks_have_to_be_asked_for():
    with profiler.profile() as prof:
        torch.ones(1) + 1
    with pytest.raises(RuntimeError, match="with_stack=True"):
        prof.export_stacks("x")


def test_a_range_needs_a_name():
    with pytest.raises(RuntimeError, match="name of type 'str', but got int"):
        profiler.record_function(3)


def test_devices_that_are_not_there():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        prof = profiler.profile(use_cuda=True)
    assert [(w.category, str(w.message)) for w in caught] == [
        (FutureWarning, "The attribute `use_cuda` will be deprecated soon, please use ``use_device = 'cuda'`` instead."),
        (UserWarning, "CUDA is not available, disabling CUDA profiling"),
    ]
    with prof:
        torch.ones(1) + 1
    assert names(prof) == ["ones", "add"]


def test_a_failing_operation_is_left_cleanly():
    x = leaf(2)
    with profiler.profile() as prof:
        with pytest.raises(RuntimeError):
            x + torch.ones(3)
        x * 2
    assert names(prof) == ["ones", "mul"] and modes.flags() == 0


def test_a_failing_pass_is_left_cleanly():
    x = leaf(2)
    y = x.exp()
    y.register_hook(lambda ct: 1 // 0)
    with profiler.profile(), pytest.raises(ZeroDivisionError):
        y.sum().backward()
    assert modes.flags() == 0 and modes.observed() == 0


def test_collection_can_pause():
    x = torch.ones(2)
    with profiler.profile() as prof:
        x + 1
        prof.toggle_collection_dynamic(False, [])
        x * 2
        prof.toggle_collection_dynamic(True)
        x - 1
    assert names(prof) == ["add", "sub"]


# -- other profilers -------------------------------------------------------------------------------------------------------


class FakeRanges(types.ModuleType):
    """Stand-in for a package that may not be installed. It keeps the calls it gets."""

    def __init__(self, name, said):
        super().__init__(name)
        self.push_range = lambda text: said.append(text)
        self.pop_range = lambda: said.append(None)
        self.domain = lambda name: name
        self.string_handle = lambda text: text
        self.task_begin = lambda domain, text: said.append(text)
        self.task_end = lambda domain: said.append(None)


@pytest.mark.parametrize(("emitter", "package"), [(profiler.emit_nvtx, "nvtx"), (profiler.emit_itt, "ittapi")])
def test_ranges_for_other_profilers(emitter, package, monkeypatch):
    said = []
    monkeypatch.setitem(sys.modules, package, FakeRanges(package, said))
    x = leaf(2)
    with emitter(), profiler.record_function("step"):
        (x * 2).sum().backward()
    x + 1
    assert said == [
        "step", "mul", None, "sum", None, ROOT, None, "SumBackward0", None, "MulBackward0", None, LEAF, None, None,
    ]  # fmt: skip


@pytest.mark.parametrize(("emitter", "package"), [(profiler.emit_nvtx, "nvtx"), (profiler.emit_itt, "ittapi")])
def test_a_missing_package_is_named(emitter, package, monkeypatch):
    for name in (package, "cupy"):  # emit_nvtx takes either
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(errors.MissingFeatureError, match=f"pip install {package}"), emitter():
        pass
    with emitter(enabled=False):  # needs nothing
        torch.ones(1) + 1
    assert modes.observed() == 0


def test_emitters_do_not_nest(monkeypatch):
    monkeypatch.setitem(sys.modules, "nvtx", FakeRanges("nvtx", []))
    nested = pytest.raises(RuntimeError, match="emit_nvtx context manager is not reentrant")
    with profiler.emit_nvtx(), nested, profiler.emit_nvtx():
        pass
    assert modes.observed() == 0


@pytest.mark.parametrize("load", [profiler.load_nvprof, profiler.parse_nvprof_trace])
def test_traces_of_nvprof_are_refused(load):
    with pytest.raises(errors.DeviceError, match="cannot read 'trace.prof'.*no CUDA backend"):
        load("trace.prof")


# -- torch.profiler --------------------------------------------------------------------------------------------------------


def test_a_schedule():
    actions = [torch.profiler.schedule(skip_first=1, wait=1, warmup=1, active=2, repeat=1)(step).name for step in range(7)]
    assert actions == ["NONE", "NONE", "WARMUP", "RECORD", "RECORD_AND_SAVE", "NONE", "NONE"]
    with pytest.raises(ValueError):
        torch.profiler.schedule(wait=0, warmup=0, active=0)


def test_profiling_by_steps(tmp_path):
    seen = []
    plan = torch.profiler.schedule(wait=1, warmup=0, active=2, repeat=2)
    with torch.profiler.profile(schedule=plan, on_trace_ready=lambda p: seen.append([e.name for e in p.events()])) as prof:
        for step in range(8):
            with torch.profiler.record_function(f"step {step}"):
                torch.ones(1) + step
            prof.step()
    assert seen == [[name for i in steps for name in (f"step {i}", "ones", "add")] for steps in ((1, 2), (4, 5))]
    prof.export_chrome_trace(tmp_path / "steps.json")
    assert check_trace(tmp_path / "steps.json")


def test_profiling_without_a_schedule(tmp_path):
    handler = torch.profiler.tensorboard_trace_handler(str(tmp_path / "logs"), "worker")
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU], on_trace_ready=handler, record_shapes=True) as prof:
        torch.ones(3).exp()
    assert [a.key for a in prof.key_averages(group_by_input_shape=True)] == ["ones", "exp"] and prof.total_average().count == 2
    (file,) = (tmp_path / "logs").iterdir()
    assert file.name.startswith("worker.") and check_trace(file)


# -- cost ------------------------------------------------------------------------------------------------------------------


def test_an_event_makes_few_objects():
    """An event is one object until somebody asks for the events."""
    x, factor = leaf(4, 4), torch.ones(4, 4)

    def run():
        y = x
        for _ in range(200):
            y = y * factor
        y.sum().backward()

    def blocks(times):
        before = sys.getallocatedblocks()
        for _ in range(times):
            run()
        return sys.getallocatedblocks() - before

    with profiler.profile() as prof:
        run()
        kept = blocks(20)
    assert len(names(prof)) == 21 * (200 + 1 + 1 + 1 + 200 + 1)
    assert kept / (20 * 404) < (1.5 if __config__.info()["core"] == "compiled" else 5)


def test_no_warning_comes_from_profiling():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with profiler.profile() as prof:
            torch.log(torch.zeros(1)) * torch.ones(1)
        str(prof)


# -- what does not run through dispatch ------------------------------------------------------------------------------------


def test_making_tensors_is_measured():
    from wengert import randn  # under another name, too

    with profiler.profile(profile_memory=True, record_shapes=True) as prof:
        x = randn(3, 4)  # made
        torch.zeros_like(x)
        x.new_ones(5)
        torch.tensor([1.0, 2.0])
        torch.arange(3)
        torch.eye(2)
    assert names(prof) == ["randn", "zeros_like", "new_ones", "tensor", "arange", "eye"]
    made = only(prof, "randn")
    assert made.source.startswith(line_of(__file__, "made")) and made.cpu_memory_usage == 48 and made.sequence_nr == -1
    assert only(prof, "zeros_like").input_shapes == [[3, 4]]


def test_the_time_of_making_a_tensor_agrees_with_the_clock():
    class Slow:
        def __array__(self, dtype=None, copy=None):
            time.sleep(0.02)
            return np.ones(3)

    before = time.perf_counter()
    with profiler.profile() as prof:
        torch.tensor(Slow())
    assert 20_000 <= only(prof, "tensor").cpu_time_total <= (time.perf_counter() - before) * 1e6


def test_detach_is_measured():
    x = leaf(3)
    with profiler.profile(profile_memory=True) as prof:
        y = x.detach()
        torch.detach(x)
    assert names(prof) == ["detach", "detach"] and y.requires_grad is False
    assert prof.function_events[0].cpu_memory_usage == 0  # the memory is that of x


def test_assignments_are_measured():
    x, w = torch.zeros(4), leaf(1)
    with profiler.profile() as prof:
        x[0] = 2.0
        x[1:] = torch.ones(3)
        x[torch.tensor([0, 1])] = 5.0
    assert names(prof) == ["setitem", "ones", "setitem", "tensor", "setitem"] and x.tolist() == [5, 5, 1, 1]
    y = x * w
    with profiler.profile() as prof:
        y[0] = 2.0  # recorded: a view, and a write into it
    assert names(prof) == ["select", "copy_"]


def test_nothing_is_left_in_functions_that_were_watched():
    functions = [watched._originals.get(function, function) for function in (torch.randn, torch.zeros, torch.Tensor.detach)]
    codes = [function.__code__ for function in functions]
    with profiler.profile():
        assert functions[1].__code__ is not codes[1]
        with profiler.profile():
            torch.zeros(1)
        assert functions[1].__code__ is not codes[1]  # the outer one still watches
    assert [function.__code__ for function in functions] == codes


def test_watched_functions_raise_the_same_errors():
    def messages():
        for call in (lambda: torch.zeros(-1), lambda: torch.zeros(2, unknown=1), lambda: torch.eye()):
            with pytest.raises(Exception) as info:
                call()
            yield type(info.value), str(info.value)

    expected = list(messages())
    with profiler.profile() as prof:
        assert list(messages()) == expected
    assert names(prof) == [] and modes.observed() == 0


def test_tensors_made_inside_an_operation_are_part_of_its_event():
    x = torch.ones(100)
    with profiler.profile() as prof, profiler.record_function("mine"):
        torch.nn.functional.dropout(x)
    assert "rand" not in " ".join(names(prof)) and names(prof)[0] == "mine"
