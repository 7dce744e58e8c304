"""Streams and events of devices: the order of their work, backward passes on several streams, and copies that nobody waits for.

The stand-in has a fake clock, in which a kernel takes one microsecond, and finds work that does not wait for the memory that another stream
writes. Its block fails if it has found some."""

from __future__ import annotations

import collections
import gc
import weakref

import numpy as np
import pytest

import standin
import wengert as torch
from device_library import on_the_stand_in

cuda = torch.cuda
pytestmark = on_the_stand_in


@pytest.fixture(autouse=True)
def library():
    with standin.in_use():
        yield


def found_races() -> list[str]:
    """Return the races that were found since the last call, which are then forgotten."""
    found, standin.races[:] = standin.races[:], []
    return found


def work_of(stream: cuda.Stream) -> int:
    """Return how many kernels a stream has got."""
    return stream._stream.before.get(stream._stream.number, 0)


def test_a_stream_is_current_in_its_block_and_on_its_device():
    default, s, t = cuda.default_stream(), cuda.Stream(), cuda.Stream(device=1, priority=-1)
    assert cuda.current_stream() == default != s and default.cuda_stream != s.cuda_stream
    with cuda.stream(s):
        assert cuda.current_stream() == s
        with t:
            assert cuda.current_stream() == t and cuda.current_device() == 1 == t.device.index and cuda.current_stream(0) == s
            assert torch.ones(1, device="cuda").device == torch.device("cuda:1")
        with cuda.stream(None):
            assert cuda.current_stream() == s and cuda.current_device() == 0
        with pytest.raises(KeyError), s, t:
            raise KeyError
        assert cuda.current_stream() == s
    assert cuda.current_stream() == default and cuda.current_stream(1) == cuda.default_stream(1)
    assert (s.priority, t.priority, cuda.Stream(priority=7).priority, cuda.Stream(priority=-99).priority) == (0, -1, 0, -5)
    assert repr(s) == f"<torch.cuda.Stream device=cuda:0 cuda_stream={s.cuda_stream:#x}>" and len({s, t, default, cuda.default_stream()}) == 3
    cuda.set_stream(s)
    assert cuda.current_stream() == s and cuda.streams.Stream is cuda.Stream
    assert cuda.ExternalStream(s.cuda_stream).cuda_stream == s.cuda_stream


def test_work_goes_into_the_current_stream():
    s = cuda.Stream()
    x = torch.ones(3, device="cuda")
    s.wait_stream(cuda.current_stream())
    before, others = work_of(s), work_of(cuda.default_stream())
    with cuda.stream(s):
        y = x + 1
        y.mul_(2)
    assert work_of(s) >= before + 2 and work_of(cuda.default_stream()) == others
    assert not s.query()
    s.synchronize()
    assert s.query() and y.tolist() == [4.0] * 3


@pytest.mark.parametrize("wait", ["wait_stream", "wait_event", "event.wait", "synchronize", "device"])
def test_work_of_another_stream_is_used_after_waiting_for_it(wait):
    s, x = cuda.Stream(), torch.ones(3, device="cuda")
    s.wait_stream(cuda.current_stream())
    with cuda.stream(s):
        y = x * 2
    event = s.record_event()
    if wait == "wait_stream":
        cuda.current_stream().wait_stream(s)
    elif wait == "wait_event":
        cuda.current_stream().wait_event(event)
    elif wait == "event.wait":
        event.wait()
    elif wait == "synchronize":
        event.synchronize()
    else:
        cuda.synchronize()
    assert (y + 1).sum().item() == 9.0


def test_work_that_does_not_wait_is_found():
    s, x = cuda.Stream(), torch.ones(3, device="cuda")
    with cuda.stream(s):
        y = x * 2
    assert len(found_races()) == 1
    x.add_(1)  # s may still read it
    y + 1
    assert len(found_races()) == 2
    with cuda.stream(s):
        x[0] = 5.0
    assert found_races()
    cuda.synchronize()
    y + x
    assert not found_races()


def test_events_measure_the_time_between_them():
    start, middle, end = (cuda.Event(enable_timing=True) for _ in range(3))
    x, s = torch.ones(3, device="cuda"), cuda.Stream()
    s.wait_stream(cuda.current_stream())
    start.record()
    x.exp()
    middle.record()
    with cuda.stream(s):
        for _ in range(5):
            x.exp()
    cuda.current_stream().wait_stream(s)
    end.record()
    with pytest.raises(RuntimeError, match="CUDA error: device not ready"):
        start.elapsed_time(end)
    before = standin.waits
    end.synchronize()
    assert standin.waits == before + 1 and end.query()
    assert start.elapsed_time(middle) == pytest.approx(0.001) and start.elapsed_time(end) == pytest.approx(0.005)


def test_events_are_used_as_torch_allows_it():
    plain, timed = cuda.Event(), cuda.Event(enable_timing=True)
    assert plain.query() and repr(plain) == "<torch.cuda.Event uninitialized>"
    plain.synchronize()
    plain.wait()
    with pytest.raises(RuntimeError, match="^Both events must be recorded before calculating elapsed time.$"):
        timed.elapsed_time(cuda.Event(enable_timing=True))
    plain.record()
    timed.record()
    for pair in ((plain, timed), (timed, plain)):
        with pytest.raises(RuntimeError, match="^Both events must be created with argument 'enable_timing=True'.$"):
            pair[0].elapsed_time(pair[1])
    with pytest.raises(RuntimeError, match="^Event device 0 does not match recording stream's device 1.$"):
        plain.record(cuda.default_stream(1))
    cuda.default_stream(1).wait_event(plain)  # a stream of another device may wait
    assert plain.device == torch.device("cuda:0")
    with pytest.raises(RuntimeError, match="invalid device ordinal"):
        cuda.Stream(device=5)
    with pytest.raises(RuntimeError, match="unknown parameter type"):
        torch.ones(1).record_stream(3)


def test_without_a_gpu_there_are_no_streams(monkeypatch):
    monkeypatch.setattr(torch.backends.selection, "cuda_is_available", lambda: False)
    with pytest.raises(RuntimeError, match="torch.cuda.Stream requires CUDA support"):
        cuda.Stream()
    with pytest.raises(RuntimeError, match="Tried to instantiate dummy base class Event"):
        cuda.Event()
    with pytest.raises(AssertionError, match="Torch not compiled with CUDA enabled"):
        cuda.current_stream()


# -- backward passes ---------------------------------------------------------------------------------------------------


def branches(run, streams):
    """Return run(x, stream) for each stream on that stream, x, and the sum of the results, computed where the call is made."""
    x = torch.linspace(0.1, 0.7, 4, device="cuda", dtype=torch.float64, requires_grad=True)
    parts = []
    for s in streams:
        s.wait_stream(cuda.current_stream())
        with cuda.stream(s):
            parts.append(run(x))
    for s in streams:
        cuda.current_stream().wait_stream(s)
    return x, sum(parts).sum()


def chain(x):
    for _ in range(6):
        x = torch.tanh(x)
    return x


def expected_gradient(run, n):
    x = torch.linspace(0.1, 0.7, 4, dtype=torch.float64, requires_grad=True)
    (n * run(x)).sum().backward()
    return x.grad.tolist()


def test_a_backward_pass_runs_each_node_on_the_stream_of_its_operation():
    streams = [cuda.Stream(), cuda.Stream()]
    x, loss = branches(chain, streams)
    before = [work_of(s) for s in streams]
    waits = standin.waits
    loss.backward()
    assert [work_of(s) - n for s, n in zip(streams, before, strict=True)] >= [6, 6] and standin.waits == waits
    doubled = x.grad * 2  # after the pass, the current stream waits for both
    assert doubled.tolist() == pytest.approx([2 * g for g in expected_gradient(chain, 2)])


def test_branches_on_two_streams_run_side_by_side_in_a_backward_pass():
    taken = {}
    for kind in ("one", "two"):
        first = cuda.Stream()
        _, loss = branches(chain, [first, first if kind == "one" else cuda.Stream()])
        cuda.synchronize()
        start, end = cuda.Event(enable_timing=True), cuda.Event(enable_timing=True)
        start.record()
        loss.backward()
        end.record()
        end.synchronize()
        taken[kind] = round(1000 * start.elapsed_time(end))
    # Of six rules of a branch five run beside the other branch. The last one adds to the gradient of the other branch, and waits for it.
    assert taken["one"] - taken["two"] == 5


@pytest.mark.parametrize("how", ["side", "two", "grad", "graph"])
def test_a_backward_pass_takes_its_place_among_the_work_of_the_current_stream(how):
    s, t = cuda.Stream(), cuda.Stream()
    x, loss = branches(lambda x: x * x * x, [s])
    t.wait_stream(cuda.current_stream())
    with cuda.stream(t):
        ct = torch.full((), 3.0, device="cuda", dtype=torch.float64)
        if how == "two":
            loss.backward(ct, retain_graph=True)
        if how in ("side", "two"):
            loss.backward(ct)
            found, factor = x.grad, 6 if how == "two" else 3
        elif how == "grad":
            (found,), factor = torch.autograd.grad(loss, x, ct), 3
        else:
            (g,) = torch.autograd.grad(loss, x, ct, create_graph=True)
            found, factor = torch.autograd.grad((g * g).sum() / 2, x)[0], 3
        result = (found * 1).tolist()
    values = np.linspace(0.1, 0.7, 4)
    assert result == pytest.approx((factor * 3 * values**2 if how != "graph" else 9 * 3 * values**2 * 6 * values).tolist())


def test_nodes_of_all_kinds_run_on_their_streams():
    class Double(torch.autograd.Function):
        streams = []

        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, ct):
            Double.streams.append(cuda.current_stream())
            return ct * 2

    def run(x):
        y = Double.apply(x)
        y[1:].mul_(3)  # a view that is written
        first, second = torch.unbind(y.reshape(2, 2))
        return torch.utils.checkpoint.checkpoint(lambda a, b: a * b, first, second, use_reentrant=False)

    s = cuda.Stream()
    hooked = []
    x, loss = branches(run, [s])
    x.register_hook(lambda g: hooked.append(cuda.current_stream()))
    loss.backward()
    c = torch.linspace(0.1, 0.7, 4, dtype=torch.float64, requires_grad=True)
    run(c).sum().backward()
    assert Double.streams == [s, cuda.default_stream()] and len(hooked) == 1
    assert (x.grad + 0).tolist() == pytest.approx(c.grad.tolist())


def test_a_stream_is_left_when_a_pass_fails():
    s = cuda.Stream()
    x, loss = branches(lambda x: x.exp(), [s])

    def fail(_):
        raise KeyError

    x.register_hook(fail)
    with pytest.raises(KeyError):
        loss.backward()
    assert cuda.current_stream() == cuda.default_stream()


def test_training_on_a_stream_gives_the_losses_of_one_stream():
    losses = collections.defaultdict(list)
    for kind in ("default", "side"):
        torch.manual_seed(0)
        model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Tanh(), torch.nn.Linear(8, 3)).to("cuda")
        optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
        x, target = torch.randn(6, 4).cuda(), torch.randint(0, 3, (6,)).cuda()
        s = cuda.Stream() if kind == "side" else None
        if s is not None:
            s.wait_stream(cuda.current_stream())
        for _ in range(3):
            with cuda.stream(s):
                optimizer.zero_grad()
                loss = torch.nn.functional.cross_entropy(model(x), target)
                loss.backward()
                optimizer.step()
                losses[kind].append(loss.item())
    assert losses["side"] == losses["default"]


def test_nodes_of_two_devices_run_on_their_streams():
    s, t = cuda.Stream(0), cuda.Stream(1)
    x = torch.ones(3, device="cuda:0", requires_grad=True)
    s.wait_stream(cuda.current_stream(0))
    with s, t:
        y = x.to("cuda:1") * 2
        z = y.to("cuda:0").exp()
    cuda.current_stream(0).wait_stream(s)
    z.sum().backward()
    assert (x.grad * 1).tolist() == pytest.approx([2 * np.exp(2)] * 3, rel=1e-6)


# -- memory ------------------------------------------------------------------------------------------------------------


def test_memory_is_kept_until_a_stream_has_used_it():
    s, x = cuda.Stream(), torch.ones(3, device="cuda")
    s.wait_stream(cuda.current_stream())
    with cuda.stream(s):
        x + 1
    x.record_stream(s)
    memory = weakref.ref(x._array)
    del x
    gc.collect()
    assert memory() is not None
    s.synchronize()
    torch.ones(3, device="cuda").record_stream(s)  # those that are done are let go
    assert memory() is None
    torch.ones(3).record_stream(s)  # nothing, in main memory


def test_pinned_memory_is_copied_without_waiting():
    x = torch.arange(6.0, requires_grad=True)
    p = x.pin_memory()
    assert p.is_pinned() and not x.is_pinned() and p.pin_memory() is p and p[2:].is_pinned() and p.tolist() == x.tolist()
    before = standin.waits
    y = p.to("cuda", non_blocking=True)
    z = (y * 2).to("cpu", non_blocking=True)
    w = (y * 2).to("cpu", True)
    assert standin.waits == before and z.is_pinned() and w.is_pinned() and not z.clone().is_pinned()
    cuda.synchronize()
    assert z.tolist() == [0.0, 2.0, 4.0, 6.0, 8.0, 10.0]
    z.sum().backward()
    assert x.grad.tolist() == [2.0] * 6
    before = standin.waits
    p.cuda()
    assert standin.waits == before + 1
    with pytest.raises(RuntimeError, match=r"cannot pin 'torch.cuda.FloatTensor' only dense CPU tensors can be pinned"):
        y.pin_memory()


def test_batches_of_any_form_are_pinned():
    Pair = collections.namedtuple("Pair", "a b")
    rows = [{"x": torch.ones(2), "pair": Pair(torch.zeros(1), 3), "name": "row", "list": [torch.ones(1)]} for _ in range(2)]
    (batch,) = torch.utils.data.DataLoader(rows, batch_size=2, pin_memory=True)
    assert batch["x"].is_pinned() and batch["pair"].a.is_pinned() and batch["list"][0].is_pinned() and batch["name"] == ["row", "row"]
    (plain,) = torch.utils.data.DataLoader(rows, batch_size=2)
    assert not plain["x"].is_pinned()
