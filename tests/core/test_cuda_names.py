"""Functions of torch.cuda that training scripts call: memory, facts of devices, names for profilers."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

import device_library
import standin
import wengert as torch
from device_library import on_the_stand_in, on_two_devices
from wengert.backends import cupy


@pytest.fixture(autouse=True)
def library():
    with device_library.in_use():
        yield


def test_memory_in_use_and_its_peak_are_counted():
    before = torch.cuda.memory_allocated()
    torch.cuda.reset_peak_memory_stats()
    x = torch.zeros(1 << 16, device="cuda")
    most = torch.cuda.memory_allocated()
    assert most - before >= 1 << 18 and torch.cuda.max_memory_allocated() >= most
    del x
    assert torch.cuda.memory_allocated() <= most - (1 << 18) < torch.cuda.max_memory_allocated()
    found = torch.cuda.memory_stats()
    assert found["allocated_bytes.all.peak"] == torch.cuda.max_memory_allocated() >= found["allocated_bytes.all.current"]
    assert torch.cuda.memory_stats_as_nested_dict()["allocated_bytes"]["all"]["peak"] == found["allocated_bytes.all.peak"]
    torch.cuda.reset_peak_memory_stats()
    assert torch.cuda.max_memory_allocated() < most
    assert torch.cuda.max_memory_reserved() >= torch.cuda.memory_reserved() >= torch.cuda.memory_allocated()
    assert "Peak Usage" in torch.cuda.memory_summary() and torch.cuda.memory.memory_summary is torch.cuda.memory_summary


@on_two_devices
def test_each_device_has_its_own_memory():
    before = [torch.cuda.memory_allocated(i) for i in range(2)]
    x = torch.zeros(1 << 16, device="cuda:1")
    assert torch.cuda.memory_allocated(0) == before[0] and torch.cuda.memory_allocated("cuda:1") >= before[1] + x.nbytes
    with pytest.raises(RuntimeError, match="invalid device ordinal"):
        torch.cuda.memory_allocated(7)


@on_the_stand_in
def test_memory_can_be_limited():
    assert torch.cuda.get_per_process_memory_fraction() == 1.0
    torch.cuda.set_per_process_memory_fraction(0.5)
    try:
        assert torch.cuda.get_per_process_memory_fraction() == 0.5
    finally:
        standin._limits.clear()
    with pytest.raises(ValueError, match="Allowed range: 0~1"):
        torch.cuda.set_per_process_memory_fraction(2.0)
    with pytest.raises(TypeError, match="Invalid type for fraction argument, must be `float`"):
        torch.cuda.set_per_process_memory_fraction(1)


@pytest.mark.parametrize("name", ["memory_cached", "max_memory_cached"])
def test_old_names_of_memory(name):
    with pytest.warns(FutureWarning, match="has been renamed to"):
        assert getattr(torch.cuda, name)() >= 0
    with pytest.warns(FutureWarning, match="resets /all/ peak memory stats"):
        torch.cuda.reset_max_memory_allocated()


def test_facts_of_devices_have_torchs_names():
    found = torch.cuda.get_device_properties("cuda")
    assert found.name == torch.cuda.get_device_name(0) and (found.major, found.minor) == torch.cuda.get_device_capability()
    assert found.total_memory > 0 and found.multi_processor_count > 0 and found.warp_size == 32
    assert repr(found).startswith(f"_CudaDeviceProperties(name='{found.name}', major={found.major}, minor={found.minor}, total_memory=")
    free, total = torch.cuda.mem_get_info()
    assert 0 < free <= total and torch.cuda.device_memory_used() == total - free
    assert torch.cuda.is_tf32_supported() == (found.major >= 8) and not torch.cuda.is_current_stream_capturing()
    assert torch.cuda.current_blas_handle() and torch.cuda.get_allocator_backend() == "native"


@on_two_devices
def test_the_device_of_a_tensor_is_the_current_one_in_its_block():
    with torch.cuda.device_of(torch.ones(1, device="cuda:1")):
        assert torch.cuda.current_device() == 1
        with torch.cuda.device_of(torch.ones(1)):
            assert torch.cuda.current_device() == 1
    assert torch.cuda.current_device() == 0
    assert isinstance(torch.cuda.can_device_access_peer(0, 1), bool)


@on_the_stand_in
def test_parts_of_a_program_have_names():
    standin.nvtx.told.clear()
    with torch.cuda.nvtx.range("step {}", 3):
        assert torch.cuda.nvtx.range_push("inner") == 1
        torch.cuda.nvtx.mark("here")
        assert torch.cuda.nvtx.range_pop() == 1
    torch.cuda.nvtx.range_end(torch.cuda.nvtx.range_start("across"))
    assert standin.nvtx.told == ["step 3", "inner", "here", "end", "end", "across", 6]


def test_memory_that_runs_out_raises_torchs_error(monkeypatch):
    calls = []

    def refuse(size):
        raise MemoryError(f"Out of memory allocating {size} bytes")

    class Device:
        def __init__(self, index): ...
        def __enter__(self): ...
        def __exit__(self, *_): ...

    runtime = SimpleNamespace(getDevice=lambda: 0, memGetInfo=lambda: (1 << 30, 4 << 30))
    pool = SimpleNamespace(used_bytes=lambda: 10 * len(calls), total_bytes=lambda: 100)
    cuda = SimpleNamespace(get_allocator=lambda: refuse, set_allocator=calls.append, runtime=runtime, Device=Device)
    monkeypatch.setattr(cupy, "_cp", SimpleNamespace(cuda=cuda, get_default_memory_pool=lambda: pool))
    monkeypatch.setattr(cupy, "_peaks", None)
    cupy.take_over_allocation()
    with pytest.raises(torch.cuda.OutOfMemoryError, match="CUDA out of memory. Tried to allocate 2.00 MiB. GPU 0 has a total capacity of 4.00 GiB"):
        calls[0](2 << 20)
    assert torch.OutOfMemoryError is torch.cuda.OutOfMemoryError and issubclass(torch.OutOfMemoryError, RuntimeError)
    cuda.get_allocator = lambda: lambda size: size
    cupy.take_over_allocation()
    assert calls[1](5) == 5 and cupy.memory_peaks(0) == (20, 100)
    calls.append(None)
    calls[1](5)
    calls.pop()
    assert cupy.memory_peaks(0) == (30, 100)
    cupy.reset_memory_peaks(0)
    assert cupy.memory_peaks(0) == (20, 100)


def test_names_that_need_a_device_say_so_without_one():
    if device_library.ON_GPU:
        pytest.skip("there is a GPU")
    standin.leave()
    try:
        assert torch.cuda.memory_allocated() == torch.cuda.max_memory_allocated() == 0 and torch.cuda.memory_stats() == {}
        assert torch.cuda.default_generators == () and not torch.cuda.is_bf16_supported()
        torch.cuda.reset_peak_memory_stats()
        torch.cuda.manual_seed_all(3)
        for call in (torch.cuda.get_device_properties, torch.cuda.get_rng_state, torch.cuda.mem_get_info, torch.cuda.initial_seed):
            with pytest.raises(AssertionError, match="Torch not compiled with CUDA enabled"):
                call()
        with pytest.raises(RuntimeError, match="NVTX functions not installed"):
            torch.cuda.nvtx.mark("x")
    finally:
        standin.selection.use(standin)
