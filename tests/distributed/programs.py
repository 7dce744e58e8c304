"""Programs of the tests of wengert.distributed. Each rank runs one of them; they assert what they claim, against NumPy."""

from __future__ import annotations

import copy
import functools
import os
import pickle
import signal
import socket
import subprocess
import sys
import time
import warnings
from datetime import timedelta
from typing import Any

import numpy as np

import wengert as torch
import wengert.distributed as dist
import wengert.distributed.nn as dn
from wengert.distributed import job, watch
from wengert.distributed.algorithms.ddp_comm_hooks import default_hooks
from wengert.nn.parallel import DistributedDataParallel

rank = size = 0


def all_of(draw: Any) -> list[Any]:
    """What draw(rank) is on each rank."""
    return [draw(r) for r in range(size)]


def array(r: int, dtype: Any = np.float32, shape: Any = (2, 3)) -> Any:
    """This rank's numbers: others on each rank, small enough that sums and products are exact."""
    return (np.arange(np.prod(shape)).reshape(shape) % 5 + r + 1).astype(dtype)


REDUCTIONS = {
    "SUM": np.add, "PRODUCT": np.multiply, "MIN": np.minimum, "MAX": np.maximum, "BAND": np.bitwise_and, "BOR": np.bitwise_or,
    "BXOR": np.bitwise_xor,
}  # fmt: skip


def reductions() -> None:
    for dtype in ("float16", "float32", "float64", "uint8", "int8", "int16", "int32", "int64", "complex64", "complex128"):
        for name, combine in REDUCTIONS.items():
            kind = np.dtype(dtype).kind
            if (kind not in "iu" and name[0] == "B") or (kind == "c" and name != "SUM"):
                continue
            expected = functools.reduce(combine, all_of(lambda r, dtype=dtype: array(r, dtype)))
            x = torch.from_numpy(array(rank, dtype))
            dist.all_reduce(x, getattr(dist.ReduceOp, name))
            assert x.numpy().dtype == expected.dtype and (x.numpy() == expected).all(), (dtype, name)
    for name, combine in {"SUM": np.logical_or, "PRODUCT": np.logical_and, "MIN": np.logical_and, "MAX": np.logical_or, "BXOR": np.logical_xor}.items():
        bits = all_of(lambda r: np.array([True, r == 0, False]))
        x = torch.from_numpy(bits[rank].copy())
        dist.all_reduce(x, getattr(dist.ReduceOp, name))
        assert (x.numpy() == combine.reduce(bits)).all(), name
    x = torch.from_numpy(array(rank)).to(torch.bfloat16)
    dist.all_reduce(x, dist.ReduceOp.AVG)
    assert x.dtype == torch.bfloat16 and (x.float().numpy() == np.mean(all_of(array), axis=0)).all()
    strided = torch.from_numpy(array(rank, shape=(4, 6)))[:, ::2]
    version = strided._version
    dist.all_reduce(strided)
    assert (strided.numpy() == np.sum(all_of(lambda r: array(r, shape=(4, 6))[:, ::2]), axis=0)).all()
    assert strided._version == version + 1
    empty, number = torch.zeros(0, 3), torch.tensor(float(rank))
    dist.all_reduce(empty)
    dist.all_reduce(number)
    assert empty.shape == (0, 3) and number.item() == sum(range(size))


def movements() -> None:
    last = size - 1
    mine, everything = torch.from_numpy(array(rank)), np.stack(all_of(array))
    x = mine.clone()
    dist.broadcast(x, last)
    assert (x.numpy() == everything[last]).all()
    x = mine.clone()
    dist.reduce(x, last)
    assert (x.numpy() == (everything.sum(0) if rank == last else everything[rank])).all()
    outputs = [torch.zeros(2, 3) for _ in range(size)]
    dist.gather(mine, outputs if rank == last else None, last)
    assert (np.stack([o.numpy() for o in outputs]) == (everything if rank == last else 0)).all()
    dist.all_gather(outputs, mine)
    assert (np.stack([o.numpy() for o in outputs]) == everything).all()
    for shape in ((size, 2, 3), (size * 2, 3)):
        whole = torch.zeros(*shape)
        dist.all_gather_into_tensor(whole, mine)
        assert (whole.numpy().reshape(everything.shape) == everything).all()
        part = torch.zeros(2, 3)
        dist.reduce_scatter_tensor(part, whole + rank, dist.ReduceOp.AVG)
        assert np.allclose(part.numpy(), everything[rank] + np.mean(range(size)))
    dist.scatter(x, [o * 2 for o in outputs] if rank == 0 else None)
    assert (x.numpy() == 2 * everything[rank]).all()
    dist.reduce_scatter(x, [o * (rank + 1) for o in outputs])
    assert (x.numpy() == everything[rank] * sum(range(1, size + 1))).all()
    # Element (s, r) of the table goes from rank s to rank r; it is as long as s + r + 1.
    gives = [torch.full((rank + r + 1,), 10.0 * rank + r) for r in range(size)]
    takes = [torch.zeros(s + rank + 1) for s in range(size)]
    dist.all_to_all(takes, gives)
    assert all((takes[s].numpy() == 10.0 * s + rank).all() for s in range(size))
    joined = torch.zeros(sum(t.numel() for t in takes), 2)
    dist.all_to_all_single(
        joined, torch.cat(gives)[:, None].expand(-1, 2), [s + rank + 1 for s in range(size)], [rank + r + 1 for r in range(size)]
    )
    assert (joined[:, 1].numpy() == torch.cat(takes).numpy()).all()
    works = [dist.all_reduce(torch.ones(100_000) * i, async_op=True) for i in range(5)]
    assert [w.wait() and w.is_completed() and w.result()[0][0].item() for w in works] == [i * size for i in range(5)]


def messages() -> None:
    following, before = (rank + 1) % size, (rank - 1) % size
    x = torch.zeros(2, 3)
    works = dist.batch_isend_irecv([dist.P2POp(dist.isend, torch.from_numpy(array(rank)), following), dist.P2POp(dist.irecv, x, before)])
    for work in works:
        work.wait()
    assert (x.numpy() == array(before)).all() and works[1].source_rank() == before
    if rank == 0:
        assert sorted(dist.recv(torch.zeros(1)) for _ in range(size - 1)) == list(range(1, size))
        dist.send_object_list(["a", {"b": torch.ones(2)}], 1)
    else:
        dist.send(torch.ones(1), 0)
        if rank == 1:
            objects = [None, None]
            assert dist.recv_object_list(objects, 0) == 0 and objects[0] == "a" and objects[1]["b"].tolist() == [1, 1]
    found = [None] * size
    dist.all_gather_object(found, "x" * rank)
    assert found == ["x" * r for r in range(size)]
    dist.gather_object({"rank": rank}, found if rank == 0 else None)
    assert rank or found == [{"rank": r} for r in range(size)]
    told = [rank, None]
    dist.broadcast_object_list(told, src=1)
    assert told == [1, None]
    dist.scatter_object_list(told, [f"for {r}" for r in range(size)] if rank == 0 else None)
    assert told[0] == f"for {rank}"


def groups() -> None:
    even, odd = dist.new_group(range(0, size, 2)), dist.new_group(range(1, size, 2))
    mine, other = (even, odd) if rank % 2 == 0 else (odd, even)
    x = torch.tensor(float(rank))
    dist.all_reduce(x, group=mine)
    assert x.item() == sum(range(rank % 2, size, 2))
    assert dist.get_rank(mine) == rank // 2 and dist.get_rank(other) == -1 == dist.get_world_size(other)
    assert dist.get_process_group_ranks(mine) == list(range(rank % 2, size, 2)) and other == dist.GroupMember.NON_GROUP_MEMBER
    assert dist.get_global_rank(mine, 0) == rank % 2 and dist.get_group_rank(mine, rank) == rank // 2
    x = torch.tensor(float(rank))
    dist.broadcast(x, group=mine, group_src=0)
    assert x.item() == rank % 2
    subgroup, made = dist.new_subgroups(2)
    assert dist.get_world_size(subgroup) == 2 and len(made) == size // 2 and dist.get_backend() == "mpi"
    pair, made = dist.new_subgroups(1, group=even)
    assert [dist.get_process_group_ranks(g) for g in made if dist.get_rank(g) >= 0] == ([[rank]] if rank % 2 == 0 else [])
    assert dist.get_rank(pair) == (0 if rank % 2 == 0 else -1)
    objects = [None] * (2 if rank == 1 else 3)
    if rank == 0:
        objects = ["a", 1, 2]
    if rank == 1:
        refused(lambda: dist.broadcast_object_list(objects), ValueError, "expected a list of 3 objects, found 2")
    else:
        dist.broadcast_object_list(objects)  # the error of rank 1 keeps nobody waiting
        assert objects == ["a", 1, 2]
    for g in made:
        dist.destroy_process_group(g)
    dist.destroy_process_group(mine)
    refused(lambda: dist.all_reduce(x, group=mine), dist.DistBackendError, "destroyed")
    refused(lambda: dist.destroy_process_group(mine), ValueError, "Invalid process group specified")
    dist.destroy_process_group(other)  # this rank is not in it, so it keeps its groups
    dist.all_reduce(x)
    assert dist.get_pg_count() == 2
    dist.destroy_process_group()
    assert not dist.is_initialized()
    dist.init_process_group("gloo", world_size=size, rank=rank)
    dist.barrier()


def refused(call: Any, kind: Any, words: str) -> None:
    try:
        call()
    except kind as error:
        assert words in str(error), str(error)
    else:
        raise AssertionError(f"not refused: {words}")


def bad_arguments() -> None:
    """Each is refused on every rank before anything is sent, so the group works afterwards."""
    ones = torch.ones(2)
    refused(lambda: dist.init_process_group(), ValueError, "trying to initialize the default process group twice!")
    refused(lambda: dist.all_reduce([1.0]), TypeError, "Invalid function argument. Expected parameter `tensor` of type torch.Tensor")
    refused(lambda: dist.all_gather(ones, ones), TypeError, "Expected parameter `tensor_list` of type List[torch.Tensor]")
    refused(lambda: dist.all_gather([ones], ones), RuntimeError, f"expected length {size}, got 1")
    refused(lambda: dist.all_gather([torch.ones(3)] * size, ones), RuntimeError, "invalid tensor size at index 0 (expected (2), got (3))")
    refused(lambda: dist.all_gather([ones.double()] * size, ones), ValueError, "different dtypes")
    refused(lambda: dist.broadcast(ones, 70), RuntimeError, "invalid root rank: 70")
    refused(lambda: dist.broadcast(ones), ValueError, "Must specify global_rank or group_rank")
    refused(lambda: dist.send(ones, rank), ValueError, "Invalid destination rank")
    refused(lambda: dist.gather(ones, [ones] * size if rank else None), ValueError, "Argument ``gather_list`` must")
    refused(lambda: dist.all_reduce(ones, dist.ReduceOp.BAND), RuntimeError, "Cannot use ReduceOp.BAND with non-integral dtype")
    refused(lambda: dist.all_reduce(ones.int(), dist.ReduceOp.AVG), RuntimeError, "result type Float can't be cast to the desired output type Int")
    refused(lambda: dist.all_reduce(ones * 1j, dist.ReduceOp.MAX), ValueError, "does not support RedOpType.MAX on complex tensors")
    refused(lambda: dist.all_reduce(ones, "sum"), TypeError, "ReduceOp")
    refused(lambda: dist.all_reduce(torch.ones(1).expand(4)), RuntimeError, "more than one element of the written-to tensor")
    refused(lambda: dist.new_group([0, 0]), ValueError, "ranks list must not contain duplicate entries, got [0, 0]")
    refused(lambda: dist.new_group([99]), ValueError, f"Rank 99 is out of range. Valid ranks are 0 to {size - 1} (world_size={size})")
    refused(lambda: dist.broadcast_object_list(None), TypeError, "broadcast_object_list: expected a list of objects, got NoneType")
    refused(lambda: dist.broadcast_object_list([lambda: 1] if rank == 0 else None), (AttributeError, TypeError, pickle.PicklingError), "")
    refused(lambda: dist.send_object_list(3, 1 - rank), TypeError, "send_object_list: expected a list of objects, got int")
    refused(lambda: dist.recv_object_list((1, 2), 1 - rank), TypeError, "recv_object_list: expected a list of objects, got tuple")
    refused(lambda: dist.all_gather_object(None, 1), ValueError, f"expected a list of {size} objects, found NoneType")
    if rank == 0:
        for objects in (["a", "b"], ["c"]):
            dist.send_object_list(objects, 1)
    elif rank == 1:
        one = [None]
        refused(lambda: dist.recv_object_list(one, 0), ValueError, "expected a list of 2 objects, found 1")
        assert one == [None] and dist.recv_object_list(one, 0) == 0 and one == ["c"]  # the next call gets the next list
    refused(lambda: dist.all_to_all_single(torch.ones(size + 1), torch.ones(size + 1)), RuntimeError, "does not divide equally")
    dist.all_reduce(ones)
    assert ones.tolist() == [size, size]


def different_calls() -> None:
    x = torch.ones(2 + rank)
    refused(lambda: dist.all_reduce(x), dist.DistBackendError, "Rank 0 is running collective: all_reduce(torch.float32, shape=[2], op=SUM")
    assert x.tolist() == [1.0] * (2 + rank)  # nothing was written, and the group still works
    refused(lambda: dist.all_reduce(torch.ones(2).to(torch.float64 if rank else torch.float32)), dist.DistBackendError, "torch.float64")
    refused(lambda: dist.broadcast(torch.ones(2), rank % 2), dist.DistBackendError, "root=1")
    refused(lambda: (dist.barrier if rank else dist.all_reduce)(*[torch.ones(1)][rank:]), dist.DistBackendError, "barrier")
    y = torch.ones(2)
    dist.all_reduce(y)
    assert y.tolist() == [size, size]
    handle = dist.all_reduce(torch.ones(2 + rank), async_op=True)
    refused(handle.wait, dist.DistBackendError, "Detected mismatch between collectives on ranks")
    refused(lambda: dist.barrier(), dist.DistBackendError, "after the failure of an earlier call")
    print("passed", flush=True)


def derivatives() -> None:
    """The derivative of the sum of all ranks' losses, by central differences of each rank's input in turn."""
    weights = torch.arange(1.0, 4.0, dtype=torch.float64) + rank
    empty = [torch.empty(3, dtype=torch.float64) for _ in range(size)]

    def weighted(parts: Any) -> Any:
        return sum([(part**2).sum() * (i + 1 + rank) for i, part in enumerate(parts)])

    losses = [
        lambda x: (dn.all_reduce(x) ** 2 * weights).sum(),
        lambda x: (dn.all_reduce(x, dist.ReduceOp.AVG) ** 2 * weights).sum(),
        lambda x: (dn.reduce(x, 1) ** 2 * weights).sum(),
        lambda x: (dn.reduce(x, 1, dist.ReduceOp.AVG) ** 2 * weights).sum(),
        lambda x: (dn.broadcast(x, 1) ** 2 * weights).sum(),
        lambda x: weighted(dn.gather(x, 1)),
        lambda x: weighted(dn.all_gather(x)),
        lambda x: (dn.scatter([x * (i + 1) for i in range(size)], 1) ** 2 * weights).sum(),
        lambda x: (dn.reduce_scatter(empty[0], [x * (i + 1) for i in range(size)]) ** 2 * weights).sum(),
        lambda x: (dn.reduce_scatter(empty[0], [x * (i + 1) for i in range(size)], dist.ReduceOp.AVG) ** 2 * weights).sum(),
        *[
            loss for op in (dist.ReduceOp.PRODUCT, dist.ReduceOp.MIN, dist.ReduceOp.MAX) for loss in (
                lambda x, op=op: (dn.all_reduce(x, op) ** 2 * weights).sum(),
                lambda x, op=op: (dn.reduce(x, 1, op) ** 2 * weights).sum(),
                lambda x, op=op: (dn.reduce_scatter(empty[0], [x * (i + 1) for i in range(size)], op) ** 2 * weights).sum(),
            )
        ],
        lambda x: weighted(dn.all_to_all(empty, [x * (i + 1) for i in range(size)])),
        lambda x: (dn.all_to_all_single(torch.empty(3 * size, dtype=torch.float64), torch.cat([x] * size)) ** 3).sum(),
    ]
    for number, loss in enumerate(losses):
        x = torch.tensor([0.3, -0.7, 1.1], dtype=torch.float64) + 0.1 * rank
        y = x.clone().requires_grad_()
        loss(y).backward()
        for owner in range(size):
            for i in range(3):
                totals = []
                for step in (1e-5, -1e-5):
                    moved = x.clone()
                    moved[i] += step if rank == owner else 0.0
                    total = loss(moved).detach().clone()
                    dist.all_reduce(total)
                    totals.append(total.item())
                if rank == owner:
                    assert abs((totals[0] - totals[1]) / 2e-5 - y.grad[i].item()) < 1e-6, (number, owner, i)
    zeros = torch.tensor([0.0, 2.0], requires_grad=True)
    dn.all_reduce(zeros, dist.ReduceOp.PRODUCT).sum().backward()  # a product with factors of 0 has a derivative, too
    assert zeros.grad.tolist() == [0.0, size * 2.0 ** (size - 1)]
    refused(lambda: dn.all_reduce(zeros, dist.ReduceOp.BAND), NotImplementedError, "all_reduce has no derivative for")
    short = [torch.ones(2)] * (size - 1)
    refused(lambda: dn.scatter(short), RuntimeError, f"scatter: invalid input tensor list at index 0 (expected length {size}, got {size - 1})")
    refused(lambda: dn.reduce_scatter(torch.ones(2), short), RuntimeError, "reduce_scatter: invalid input tensor list at index 0")
    x = torch.ones(2, requires_grad=True)
    (gradient,) = torch.autograd.grad((dn.all_reduce(x) ** 3).sum(), x, create_graph=True)
    gradient.sum().backward()
    assert x.grad.tolist() == [6.0 * size**3] * 2  # of sum over ranks of (sum of x)**3, twice: each rank has 6 n of n ranks' n


class Branches(torch.nn.Module):
    """Two layers of which a forward uses the first, and the second if asked, and a buffer that differs among ranks."""

    def __init__(self) -> None:
        super().__init__()
        self.a, self.b = torch.nn.Linear(3, 3), torch.nn.Linear(3, 3)
        self.register_buffer("offset", torch.full((3,), float(dist.get_rank())))

    def forward(self, x: Any, use_b: bool = True) -> Any:
        y = self.a(x) + self.offset
        return self.b(y) if use_b else y


def parallel_modules() -> None:
    torch.manual_seed(rank)
    ddp = DistributedDataParallel(Branches(), bucket_cap_mb=1e-5)
    assert len(ddp._buckets) > 1 and all(key.startswith("module.") for key in ddp.state_dict())
    same = [None] * size
    dist.all_gather_object(same, [t.tolist() for t in ddp.state_dict().values()])
    assert all(s == same[0] for s in same) and ddp.module.offset.tolist() == [0.0] * 3  # of rank 0

    alone = Branches()
    alone.load_state_dict(ddp.module.state_dict())
    data = torch.from_numpy(np.random.default_rng(0).normal(size=(size, 4, 3)).astype(np.float32))
    alone(data.reshape(-1, 3)).square().mean().backward()

    def check(module: Any, factor: float = 1.0) -> None:
        for p, q in zip(module.module.parameters(), alone.parameters()):
            assert np.allclose(p.grad.numpy(), factor * q.grad.numpy(), rtol=1e-5, atol=1e-6)

    for as_view in (False, True):
        ddp = DistributedDataParallel(alone_copy(alone), bucket_cap_mb=1e-5, gradient_as_bucket_view=as_view)
        for _ in range(2):
            ddp.zero_grad()
            ddp(data[rank]).square().mean().backward()
            check(ddp)
        with ddp.no_sync():
            ddp(data[rank]).square().mean().backward()  # stays here
        mine = [p.grad.clone() for p in ddp.parameters()]
        ddp(data[rank]).square().mean().backward()  # shares the sum of what has gathered
        check(ddp, 3.0)
        assert size == 1 or any((p.grad != m).any() for p, m in zip(ddp.parameters(), mine))

    ddp = DistributedDataParallel(alone_copy(alone), find_unused_parameters=True)
    ddp(data[rank], use_b=False).square().mean().backward()
    assert ddp.module.b.weight.grad is None and ddp.module.a.weight.grad is not None  # used by no rank
    ddp.zero_grad()
    ddp(data[rank], use_b=rank == 0).square().mean().backward()
    total = ddp.module.b.weight.grad.clone()  # used by rank 0 alone, and the mean on all
    dist.broadcast(total, 0)
    assert (ddp.module.b.weight.grad == total).all() and (total != 0).any()

    ddp = DistributedDataParallel(alone_copy(alone))
    ddp(data[rank], use_b=False).sum().backward()
    refused(lambda: ddp(data[rank]), RuntimeError, "Expected to have finished reduction in the prior iteration before starting a new one")
    refused(lambda: DistributedDataParallel(torch.nn.ReLU()), RuntimeError, "DistributedDataParallel is not needed when a module")
    refused(lambda: DistributedDataParallel(torch.nn.Linear(2 + rank, 2)), dist.DistBackendError, "DDP expects same model across all ranks")
    assert list(torch.utils.data.DistributedSampler(range(size * 2), shuffle=False)) == [rank, rank + size]


def synchronized_norms() -> None:
    """Batch norms of ranks with different batches are those of one process that has all batches."""
    rng = np.random.default_rng(0)
    for shape in ((3,), (3, 4), (3, 2, 5)):
        batches = [torch.from_numpy(rng.normal(r, 1 + r, size=(2 + r, *shape))) for r in range(size)]
        weights = [torch.from_numpy(rng.normal(size=batch.shape)) for batch in batches]
        kind = torch.nn.BatchNorm2d if len(shape) == 3 else torch.nn.BatchNorm1d
        for momentum in (0.1, None):
            alone = kind(3, momentum=momentum, dtype=torch.float64)
            with torch.no_grad():
                alone.weight.copy_(torch.tensor([0.5, -1.0, 2.0]))
                alone.bias.copy_(torch.tensor([1.0, 0.0, -3.0]))
            together = torch.nn.SyncBatchNorm.convert_sync_batchnorm(torch.nn.Sequential(alone))[0]
            assert isinstance(together, torch.nn.SyncBatchNorm)
            together = copy.deepcopy(together)  # the conversion has kept parameters and buffers
            for _ in range(2):
                everything, mine = torch.cat(batches).requires_grad_(), batches[rank].clone().requires_grad_()
                expected, found = alone(everything), together(mine)
                (expected.square() * torch.cat(weights)).sum().backward()
                (found.square() * weights[rank]).sum().backward()
                first = sum([len(batch) for batch in batches[:rank]])
                rows = slice(first, first + len(mine))
                assert np.allclose(found.detach().numpy(), expected.detach().numpy()[rows], rtol=1e-10, atol=1e-10)
                assert np.allclose(mine.grad.numpy(), everything.grad.numpy()[rows], rtol=1e-9, atol=1e-9)
            for p, q in ((together.weight, alone.weight), (together.bias, alone.bias)):
                total = p.grad.clone()
                dist.all_reduce(total)
                assert np.allclose(total.numpy(), q.grad.numpy(), rtol=1e-9, atol=1e-9)
            for name in ("running_mean", "running_var", "num_batches_tracked"):
                assert np.allclose(getattr(together, name).numpy(), getattr(alone, name).numpy(), rtol=1e-12), name
            together.eval(), alone.eval()
            assert np.allclose(together(mine).detach().numpy(), alone(mine).detach().numpy())
    norm = torch.nn.SyncBatchNorm(3)
    refused(lambda: DistributedDataParallel(norm).join(), ValueError, "needs throw_on_early_termination=True")
    half = norm(torch.ones(2, 3, dtype=torch.float16) * rank)
    assert half.dtype == torch.float16 and (half.float() - (2 * rank - 1)).abs().max().item() < 1e-2


def hooks_and_uneven_batches() -> None:
    alone = alone_copy(DistributedDataParallel(Branches()).module)  # of rank 0
    data = torch.from_numpy(np.random.default_rng(0).normal(size=(size, 4, 3)).astype(np.float32))
    alone(data.reshape(-1, 3)).square().mean().backward()

    def check(module: Any, factor: float) -> None:
        for p, q in zip(module.module.parameters(), alone.parameters()):
            assert np.allclose(p.grad.numpy(), factor * q.grad.numpy(), rtol=1e-5, atol=1e-6)

    seen = []

    def mean(state: Any, bucket: Any) -> Any:
        seen.append((state, bucket.index(), bucket.is_last(), len(bucket.parameters())))
        assert [g.shape for g in bucket.gradients()] == [p.shape for p in bucket.parameters()]
        work = dist.all_reduce(bucket.buffer(), async_op=True)
        return work.get_future().then(lambda future: future.value()[0] / size)

    def twice(state: Any, bucket: Any) -> Any:
        dist.all_reduce(bucket.buffer())
        return bucket.buffer() * 2

    for hook, factor in ((mean, 1.0), (twice, 2.0 * size)):
        ddp = DistributedDataParallel(alone_copy(alone), bucket_cap_mb=1e-5)
        ddp.register_comm_hook("state", hook)
        refused(lambda: ddp.register_comm_hook(None, mean), RuntimeError, "can only be called once")  # noqa: B023 (called at once)
        ddp(data[rank]).square().mean().backward()
        check(ddp, factor)
    assert [x[:2] for x in seen] == [("state", i) for i in range(len(seen))] and [x[2] for x in seen] == [False] * (len(seen) - 1) + [True]
    # The gradients are rounded when they are sent, and their sum is rounded once more.
    for hook, rounding in (
        (default_hooks.fp16_compress_hook, 2.0**-10), (default_hooks.bf16_compress_hook, 2.0**-7),
        (default_hooks.bf16_compress_wrapper(default_hooks.allreduce_hook), 2.0**-7),
    ):  # fmt: skip
        ddp = DistributedDataParallel(alone_copy(alone))
        ddp.register_comm_hook(dist.group.WORLD, hook)
        ddp(data[rank]).square().mean().backward()
        for p, q in zip(ddp.module.parameters(), alone.parameters()):
            assert p.grad.dtype == torch.float32
            assert np.allclose(p.grad.numpy(), q.grad.numpy(), rtol=0, atol=2 * rounding * np.abs(q.grad.numpy()).max() * size)
    ddp = DistributedDataParallel(alone_copy(alone))
    refused(lambda: ddp.register_comm_hook(None, 3), TypeError, "Communication hook must be callable")
    ddp.register_comm_hook(None, lambda state, bucket: None)
    refused(lambda: ddp(data[rank]).sum().backward(), RuntimeError, "expected the communication hook to return a future of one tensor")

    # Rank r has r + 1 batches. What all hold at the end is what one process computes with the batches of each step.
    for divides in (True, False):
        ddp, expected = DistributedDataParallel(alone_copy(alone), bucket_cap_mb=1e-5), alone_copy(alone)
        steps = torch.optim.SGD(ddp.parameters(), lr=0.1), torch.optim.SGD(expected.parameters(), lr=0.1)
        with ddp.join(divide_by_initial_world_size=divides):
            for _ in range(rank + 1):
                steps[0].zero_grad()
                ddp(data[rank]).square().mean().backward()
                steps[0].step()
        for step in range(size):
            steps[1].zero_grad()
            parts = [expected(data[r]).square().mean() for r in range(step, size)]
            (sum(parts) / (size if divides else len(parts))).backward()
            steps[1].step()
        for p, q in zip(ddp.module.parameters(), expected.parameters()):
            assert np.allclose(p.detach().numpy(), q.detach().numpy(), rtol=1e-5, atol=1e-6), divides

    def uneven() -> None:
        with ddp.join(throw_on_early_termination=True):
            for _ in range(rank + 1):
                ddp(data[rank]).sum().backward()

    refused(uneven, RuntimeError, f"Rank {rank} exhausted all inputs" if rank == 0 else "Detected at least one rank that exhausted inputs")


def alone_copy(module: Any) -> Any:
    copy = Branches()
    copy.load_state_dict(module.state_dict())
    return copy


def digits() -> None:
    """Train on the digits with this number of ranks, and print the loss of each step."""
    from sklearn.datasets import load_digits

    images, labels = load_digits(return_X_y=True)
    x, y = torch.from_numpy((images / 16.0).astype(np.float32)), torch.from_numpy(labels.astype(np.int64))
    torch.manual_seed(0)
    net = DistributedDataParallel(
        torch.nn.Sequential(torch.nn.Linear(64, 32), torch.nn.Tanh(), torch.nn.Linear(32, 10)), bucket_cap_mb=0.005
    )
    optimizer = torch.optim.SGD(net.parameters(), lr=0.2, momentum=0.9)
    for step in range(30):
        chosen = ((torch.arange(64) + step * 64) % 1792)[rank::size]
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(net(x[chosen]), y[chosen])
        loss.backward()
        optimizer.step()
        loss = loss.detach().clone()
        dist.all_reduce(loss, dist.ReduceOp.AVG)
        if rank == 0:
            print(loss.item())


def overlap() -> None:
    """In the profile, communication begins before the last node of the backward pass ends."""
    net = DistributedDataParallel(torch.nn.Sequential(*[torch.nn.Linear(200, 200) for _ in range(8)]), bucket_cap_mb=0.1)
    x = torch.ones(200, 200)
    net(x).sum().backward()
    with torch.autograd.profiler.profile() as profile:
        net(x).sum().backward()
    events = profile.function_events
    shared = [e for e in events if e.name.startswith("all_reduce bucket")]
    nodes = [e for e in events if "AccumulateGrad" in e.name]
    assert len(shared) == len(net._buckets) > 3 and len(nodes) == 16
    assert min(e.time_range.start for e in shared) < max(e.time_range.end for e in nodes)
    assert {e.thread for e in shared}.isdisjoint({e.thread for e in nodes})
    starts = [e.time_range.start for e in shared]
    assert starts == sorted(starts)


def one_skips() -> None:
    dist.barrier()
    if rank == 1:
        time.sleep(4)
        return
    dist.all_reduce(torch.ones(1))


def slow_end() -> None:
    """All ranks end, although the hub, a thread of rank 0, pauses after each rank that it tells that all have left."""

    def send_slowly(connection: Any, message: Any, send: Any = watch._send) -> None:
        send(connection, message)
        if "release" in message:
            time.sleep(0.3)

    watch._send = send_slowly
    dist.barrier()


def forks() -> None:
    """A child that ends as programs do is no rank, so it ends at once."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # newer Pythons warn of forks beside threads, which ranks have
        child = os.fork()
    if child == 0:
        sys.exit(7)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    dist.barrier()


def forgets(how: str) -> None:
    """The program ends while a call is under way that nobody waits for."""
    job.UNFINISHED = 1.0
    if how == "all_reduce":
        dist.all_reduce(torch.ones(1_000_000), async_op=True)
    elif rank == 1:
        dist.irecv(torch.ones(1), 0)


def stops(which: str) -> None:
    """A rank is stopped while the other one is at the end of its program."""
    dist.barrier()
    if rank == int(which):
        os.kill(os.getpid(), signal.SIGSTOP)


def machines() -> None:
    """Rank 0 has found the names of two machines, and rank 1 has reached it by that of the other machine."""
    names = [None] * size
    dist.all_gather_object(names, socket.gethostname())
    assert names == ["node-a", "node-b"]
    address, _ = dist.group.WORLD.job.watch._connection.getpeername()
    assert rank == 0 or address == "10.77.0.1", address


def loses_a_machine() -> None:
    """The cable between the machines is pulled. Plugged in again, it lets mpirun end both."""
    dist.barrier()
    if rank == 0:
        subprocess.run(["ip", "link", "set", "left", "down"], check=True)
    try:
        dist.recv(torch.ones(1), 1 - rank)
    finally:
        if rank == 0:
            subprocess.run(["ip", "link", "set", "left", "up"], check=True)


def finalizes_alone() -> None:
    """Rank 1 never comes to MPI's end, for which rank 0 waits in compiled code."""
    job.ENDING = 2.0
    if rank == 1:
        dist.group.WORLD.job._finalize_mpi = lambda: time.sleep(1000)


def hangs(mark: str) -> None:
    time.sleep(1000)


def one_ends(how: str) -> None:
    dist.barrier()
    if rank == 1:
        if how == "raises":
            raise ArithmeticError("on purpose")
        if how == "dies":
            os.kill(os.getpid(), signal.SIGKILL)
        return
    dist.all_reduce(torch.ones(1))


if __name__ == "__main__":
    name, *arguments = sys.argv[1:]
    if name == "loses_a_machine":
        watch.PROBES = {"TCP_KEEPIDLE": 2, "TCP_KEEPINTVL": 1, "TCP_KEEPCNT": 3}
    dist.init_process_group(timeout=timedelta(seconds=2 if name in ("one_skips", "stops") else 60))
    rank, size = dist.get_rank(), dist.get_world_size()
    for program in name.split(","):
        globals()[program](*arguments)
