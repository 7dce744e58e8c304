"""wengert.distributed in a process that has not joined others, and where MPI is missing."""

from __future__ import annotations

import sys
import threading

import pytest

import wengert
import wengert.distributed as dist
from wengert.distributed.job import within


@pytest.mark.parametrize("call", [
    dist.get_rank, dist.get_world_size, dist.get_backend, dist.barrier, lambda: dist.all_reduce(wengert.ones(1)), lambda: dist.new_group([0]),
    lambda: wengert.utils.data.DistributedSampler(range(4)), lambda: wengert.nn.parallel.DistributedDataParallel(wengert.nn.Linear(1, 1)),
])  # fmt: skip
def test_calls_need_a_group(call):
    assert not dist.is_initialized()
    with pytest.raises(ValueError, match="Default process group has not been initialized, please make sure to call init_process_group"):
        call()


def test_nothing_is_destroyed_without_a_group():
    with pytest.raises(AssertionError, match="Process group cannot be None"):
        dist.destroy_process_group()


def test_without_mpi4py_the_error_names_the_extra(monkeypatch):
    class Blocker:
        def find_spec(self, name, path=None, target=None):
            if name.split(".")[0] == "mpi4py":
                raise ModuleNotFoundError(f"No module named {name!r}", name="mpi4py")

    for name in [name for name in sys.modules if name.split(".")[0] == "mpi4py"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr(sys, "meta_path", [Blocker(), *sys.meta_path])
    assert not dist.is_available()
    with pytest.raises(ModuleNotFoundError, match=r'pip install "wengert\[mpi\]"'):
        dist.init_process_group()


def test_backends_that_are_not_there_are_refused():
    with pytest.raises(RuntimeError, match="Distributed package doesn't have NCCL built in"):
        dist.init_process_group("nccl")
    with pytest.raises(ValueError, match="Unknown backend"):
        dist.init_process_group("carrier pigeon")


class OfOneThread:
    """Stands in for mpi4py's MPI where threads call it in turns."""

    THREAD_SERIALIZED = 2

    def Query_thread(self):
        return self.THREAD_SERIALIZED


def test_calls_that_block_in_mpi_have_a_limit():
    blocked = threading.Event()
    try:
        with pytest.raises(dist.DistBackendError, match=r"new_group: MPI has not returned for 0\.2 seconds"):
            within(OfOneThread(), 0.2, "new_group", blocked.wait)
        with pytest.raises(ZeroDivisionError):  # what the check raises ends the wait
            within(OfOneThread(), 60.0, "new_group", blocked.wait, lambda: 1 / 0)
    finally:
        blocked.set()
    with pytest.raises(KeyError):
        within(OfOneThread(), 60.0, "new_group", lambda: {}["no"])
    assert within(OfOneThread(), 60.0, "new_group", lambda: 5) == 5


def test_names_are_torchs_or_say_what_to_use():
    assert str(dist.ReduceOp.SUM) == "RedOpType.SUM" and repr(dist.ReduceOp.AVG) == "<RedOpType.AVG: 1>"
    torch = pytest.importorskip("torch")
    for name in {name for name in dir(torch.distributed) if name[0] != "_"} - OF_PYTHON:
        try:
            getattr(dist, name)
        except AttributeError as error:
            assert "Hint: torch.distributed." in str(error), name


@pytest.mark.parametrize(("name", "advice"), [
    ("TCPStore", "mpirun brings the ranks together"), ("init_device_mesh", "Use nn.parallel.DistributedDataParallel"),
    ("rpc", "broadcast_object_list"), ("elastic", "mpirun -n 4 python train.py"), ("algorithms.model_averaging", "default_hooks"),
    ("algorithms.ddp_comm_hooks.powerSGD_hook", "register_comm_hook takes any function"), ("split_group", "use new_group"),
])  # fmt: skip
def test_what_is_not_there_says_what_to_use(name, advice):
    *modules, last = name.split(".")
    module = dist
    for part in modules:
        module = getattr(module, part)
    with pytest.raises(AttributeError, match=advice):
        getattr(module, last)


# What torch's modules have imported, and types without a use of their own.
OF_PYTHON = {"GroupName", "RankType", "log", "logging", "logging_handlers", "sys", "timedelta", "torch", "traceback", "typing"}
