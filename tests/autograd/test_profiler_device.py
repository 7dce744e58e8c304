"""Times on a device in profiles: exact, by the stand-in's clock, in which each kernel takes one microsecond."""

from __future__ import annotations

import sys
import types

import pytest

import standin
import wengert as torch
from device_library import on_the_stand_in
from traces import check_trace
from wengert.autograd import profiler

pytestmark = on_the_stand_in


@pytest.fixture(autouse=True)
def library():
    with standin.in_use():
        yield


def device_times(prof):
    return {e.name: round(e.device_time_total, 3) for e in prof.function_events}


def test_an_operation_has_the_time_of_its_kernels():
    x = torch.randn(4, device="cuda", requires_grad=True)
    host = torch.ones(3)
    waits = standin.waits
    with profiler.profile(use_device="cuda") as prof:
        inside = standin.waits
        y = torch.nn.functional.gelu(x)  # one kernel
        host + host
        y.var().backward()
        assert standin.waits == inside
    assert standin.waits == waits + 4  # at the begin and the end, for each of two devices
    before = standin.launches
    y.detach().var()
    times = device_times(prof)
    assert times["gelu"] == 1.0 and times["GeluBackward0"] == 1.0 and times["var"] == standin.launches - before
    assert times["add"] == 0.0 and [e.kernels for e in prof.function_events if e.name == "add"] == [[]]
    (gelu,) = [e for e in prof.function_events if e.name == "gelu"]
    assert gelu.kernels == [("gelu", 0, pytest.approx(1.0))] and gelu.use_device == "cuda"
    assert gelu.self_device_time_total == gelu.cuda_time_total == gelu.self_cuda_time_total == gelu.device_time == pytest.approx(1.0)
    assert gelu.device_time_str == gelu.device_time_total_str == gelu.self_device_time_total_str == "1.000us"
    total = sum(e.self_device_time_total for e in prof.function_events)
    assert prof.self_device_time_total == total == prof.total_average().self_device_time_total


def test_work_in_a_row_is_in_a_row_on_the_device():
    x = torch.ones(3, device="cuda")
    with profiler.profile(use_device="cuda") as prof:
        (x.exp() + 1).sin()
    ranges = [e.device_range for e in prof.function_events]
    assert [round(r.elapsed_us(), 3) for r in ranges] == [1.0] * 3
    assert [round(b.start - a.end, 3) for a, b in zip(ranges, ranges[1:], strict=False)] == [0.0, 0.0]


def test_a_range_has_the_times_of_what_is_in_it():
    class Twice(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return (x * 2).exp()

        @staticmethod
        def backward(ctx, ct):
            return ct * 2 * 3

    x, ct = torch.ones(3, device="cuda", requires_grad=True), torch.ones(3, device="cuda")
    with profiler.profile(use_device="cuda") as prof, profiler.record_function("all"):
        Twice.apply(x).backward(ct)
    events = {e.name: e for e in prof.function_events}
    forward, backward, whole = events["Twice"], events["TwiceBackward"], events["all"]
    assert forward.device_time_total == pytest.approx(2.0) and forward.self_device_time_total == 0.0
    assert backward.device_time_total == pytest.approx(2.0) and backward.self_device_time_total == pytest.approx(0.0)
    leaf = events["torch::autograd::AccumulateGrad"].device_time_total
    assert whole.device_time_total == pytest.approx(2.0 + 2.0 + leaf) and whole.device_range is None
    assert whole.self_device_time_total == 0.0


def test_times_of_other_streams_and_devices_are_their_own():
    s, t = torch.cuda.Stream(), torch.cuda.Stream(device=1)
    x, y = torch.ones(3, device="cuda"), torch.ones(3, device="cuda:1")
    torch.cuda.synchronize(0)
    torch.cuda.synchronize(1)
    with profiler.profile(use_device="cuda") as prof:
        with s:
            for _ in range(3):
                x = x.exp()
        with t:
            y.tanh()
        torch.ones(2, device="cuda").sin()
    found = [(e.name, e.device_index, e.device_stream, round(e.device_range.elapsed_us(), 3)) for e in prof.function_events]
    exp = ("exp", 0, s.cuda_stream, 1.0)
    default = torch.cuda.default_stream().cuda_stream
    assert found == [exp, exp, exp, ("tanh", 1, t.cuda_stream, 1.0), ("ones", 0, default, 1.0), ("sin", 0, default, 1.0)]


def test_averages_are_sorted_by_times_on_the_device():
    x = torch.ones(3, device="cuda")
    with profiler.profile(use_device="cuda") as prof:
        for _ in range(3):
            x.exp()
        x.var()
        torch.ones(2).sin()
    averages = {e.key: e for e in prof.key_averages()}
    assert averages["exp"].device_time_total == pytest.approx(3.0) and averages["exp"].cuda_time == pytest.approx(1.0)
    for key in ("cuda_time_total", "device_time_total", "self_cuda_time_total"):
        rows = prof.key_averages().table(sort_by=key).splitlines()[3:]
        assert {rows[0].split()[0], rows[1].split()[0]} == {"exp", "var"}
    assert "self_cuda_time=3.000us cuda_time=1.000us" in repr(averages["exp"])


def test_tables_have_torchs_columns_and_totals():
    oracle = pytest.importorskip("torch.autograd.profiler_util")
    x = torch.ones(1000, device="cuda")
    with profiler.profile(use_device="cuda", profile_memory=True) as prof:
        x.exp()
        torch.ones(2).sin()
    text = prof.key_averages().table()
    events = []
    for e in prof.function_events:
        event = oracle.FunctionEvent(
            id=e.id, name=e.name, thread=1, start_us=e.time_range.start, end_us=e.time_range.end, use_device="cuda", stack=[],
            input_shapes=[], cpu_memory_usage=e.cpu_memory_usage, device_memory_usage=e.device_memory_usage,
        )  # fmt: skip
        twin = oracle.FunctionEvent(
            id=e.id + 10, name=e.name, thread=2, start_us=0, end_us=round(e.device_time_total), use_device="cuda", stack=[], input_shapes=[],
            device_type=torch_device_type("CUDA"),
        )  # fmt: skip
        for kernel in e.kernels:
            event.append_kernel(*kernel)
        events += [event, *[twin] * bool(e.kernels)]
    listed = oracle.EventList(events, use_device="cuda", profile_memory=True)
    listed._build_tree()
    theirs = listed.key_averages().table()
    titles = [[t.strip() for t in text.splitlines()[1].split("  ") if t.strip()] for text in (text, theirs)]
    assert titles[0] == titles[1] and "CUDA Mem" in titles[0]
    (ours,) = [line.split() for line in text.splitlines() if line.split()[:1] == ["exp"]]
    (torchs,) = [line.split() for line in theirs.splitlines() if line.split()[:1] == ["exp"] and "0.000us" not in line.split()[2]]
    assert ours[6:11] == torchs[6:11] and ours[6:10] == ["1.000us", "100.00%", "1.000us", "1.000us"]
    assert ours[-5:] == torchs[-5:] == ["3.91", "KB", "3.91", "KB", "1"]
    assert text.splitlines()[-1] == theirs.splitlines()[-1] == "Self CUDA time total: 1.000us"
    assert str(prof).splitlines()[-1] == "CUDA time total: 1.000us" and "CUDA time avg" in str(prof)


def torch_device_type(name):
    import torch as oracle

    return getattr(oracle.autograd.DeviceType, name)


def test_traces_have_a_row_for_each_stream(tmp_path):
    x, s = torch.ones(3, device="cuda", requires_grad=True), torch.cuda.Stream()
    with profiler.profile(use_device="cuda") as prof:
        s.wait_stream(torch.cuda.current_stream())
        with s:
            y = x.exp()
        torch.cuda.current_stream().wait_stream(s)
        y.sum().backward()
    prof.export_chrome_trace(tmp_path / "trace.json")
    entries = check_trace(tmp_path / "trace.json")
    kernels = [e for e in entries if e.get("cat") == "kernel"]
    names = {(e["pid"], e["tid"]): e["args"]["name"] for e in entries if e["name"] == "thread_name"}
    assert {e["name"]: names[e["pid"], e["tid"]] for e in kernels}.items() >= {
        ("exp", f"stream {s.cuda_stream:#x}"), ("ExpBackward0", f"stream {s.cuda_stream:#x}"),
        ("sum", f"stream {torch.cuda.default_stream().cuda_stream:#x}"),
    }  # fmt: skip
    assert {e["args"]["name"] for e in entries if e["name"] == "process_name"} == {"wengert", "cuda:0"}
    flows = [e for e in entries if e.get("cat") == "ac2g"]
    assert len(flows) == 2 * len(kernels) and all(e["dur"] >= 0 for e in kernels)


def test_the_profiler_of_today_measures_the_device_with_its_activity():
    P = torch.profiler.ProfilerActivity
    x = torch.ones(3, device="cuda")
    assert torch.profiler.supported_activities() == {P.CPU, P.CUDA}
    for activities, expected in ((None, 1.0), ([P.CPU, P.CUDA], 1.0), ([P.CPU], 0.0)):
        with torch.profiler.profile(activities=activities) as prof:
            x.exp()
        assert prof.key_averages()[0].device_time_total == pytest.approx(expected)


def test_profiles_in_one_another_measure_both():
    x = torch.ones(3, device="cuda")
    with profiler.profile(use_device="cuda") as outer:
        x.exp()
        with profiler.profile(use_device="cuda") as inner, profiler.profile() as plain:
            x.sin()
    assert device_times(outer) == {"exp": 1.0, "sin": 1.0} and device_times(inner) == {"sin": 1.0}
    assert device_times(plain) == {"sin": 0.0} and "CUDA" not in plain.table()


def test_a_profile_without_devices_measures_none():
    x = torch.ones(3, device="cuda")
    waits = standin.waits
    with profiler.profile() as prof:
        x.exp()
    assert standin.waits == waits and prof.self_device_time_total == 0.0 and "CUDA" not in prof.table()


def test_ranges_for_nvidias_profiler_go_through_cupy_where_nvtx_is_missing(monkeypatch):
    said = []
    cupy = types.ModuleType("cupy")
    nvtx = types.SimpleNamespace(RangePush=said.append, RangePop=lambda: said.append("end"))
    cupy.cuda = types.SimpleNamespace(nvtx=nvtx)
    monkeypatch.setitem(sys.modules, "nvtx", None)
    monkeypatch.setitem(sys.modules, "cupy", cupy)
    x = torch.ones(3, device="cuda")
    with profiler.emit_nvtx():
        x.exp()
    assert said == ["exp", "end"]
