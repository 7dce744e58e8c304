"""The program of test_distributed.py: `python gloo_program.py torch|wengert`. Each rank prints a line of JSON for each outcome."""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import sys
from typing import Any

torch: Any = importlib.import_module(sys.argv[1])
dist: Any = importlib.import_module(f"{sys.argv[1]}.distributed")
join: Any = importlib.import_module(f"{sys.argv[1]}.distributed.algorithms.join")
hooks: Any = importlib.import_module(f"{sys.argv[1]}.distributed.algorithms.ddp_comm_hooks.default_hooks")


class Counter(join.Joinable):
    """Counts the calls of all ranks, as a class of a user does."""

    def __init__(self) -> None:
        super().__init__()
        self.count, self.log = 0.0, []

    def __call__(self) -> None:
        work = join.Join.notify_join_context(self)
        self.log.append(work is not None)
        self.add(1.0)

    def add(self, number: float) -> None:
        total = torch.tensor([number])
        dist.all_reduce(total)
        self.count += total.item()

    def join_hook(self, **kwargs: Any) -> Any:
        self.log.append(kwargs)
        return CounterHook(self)

    @property
    def join_device(self) -> Any:
        return torch.device("cpu")

    @property
    def join_process_group(self) -> Any:
        return dist.group.WORLD


class CounterHook(join.JoinHook):
    def __init__(self, counter: Counter) -> None:
        self.counter = counter

    def main_hook(self) -> None:
        self.counter.add(0.0)

    def post_hook(self, is_last_joiner: bool) -> None:
        self.counter.log.append(f"last: {is_last_joiner}")


def main() -> None:
    dist.init_process_group("gloo")
    rank, size = dist.get_rank(), dist.get_world_size()
    outcomes: list[Any] = []

    def note(label: str, call: Any) -> None:
        try:
            found = call()
        except Exception as error:
            found = [type(error).__mro__[-4].__name__, str(error).split("\n")[0].split(" Hint:")[0]]
        outcomes.append([label, found])

    def numbers(dtype: Any) -> Any:
        return (torch.arange(4) % 3 + rank + 1).to(dtype)

    def reduced(op: str, dtype: str) -> Any:
        x = numbers(getattr(torch, dtype))
        dist.all_reduce(x, getattr(dist.ReduceOp, op))
        return [str(x.dtype), [str(v) for v in x.tolist()]]

    for op in ("SUM", "AVG", "PRODUCT", "MIN", "MAX", "BAND", "BOR", "BXOR"):
        for dtype in ("float16", "bfloat16", "float32", "float64", "int8", "uint8", "int32", "int64", "bool", "complex64"):
            note(f"{op} {dtype}", lambda op=op, dtype=dtype: reduced(op, dtype))
    outputs = [torch.zeros(4) for _ in range(size)]
    note("all_gather", lambda: (dist.all_gather(outputs, numbers(torch.float32)), [o.tolist() for o in outputs])[1])
    note("twice", lambda: dist.init_process_group("gloo"))
    note("no tensor", lambda: dist.all_reduce([1.0]))
    note("no list", lambda: dist.all_gather(torch.ones(2), torch.ones(2)))
    note("no root", lambda: dist.broadcast(torch.ones(2)))
    note("to itself", lambda: dist.send(torch.ones(2), rank))
    note("gather list", lambda: dist.gather(torch.ones(2), [torch.ones(2)] * 2 if rank else None))
    note("scatter list", lambda: dist.scatter(torch.ones(2), [torch.ones(2)] * 2 if rank else None))
    note("no such rank", lambda: dist.new_group([5]))
    note("a rank twice", lambda: dist.new_group([0, 0]))
    group = dist.new_group([1])
    note("group", lambda: [dist.get_rank(group), dist.get_world_size(group)])
    note("operation", lambda: [str(dist.ReduceOp.SUM), repr(dist.ReduceOp.MAX)])

    torch.manual_seed(rank)
    parallel = torch.nn.parallel.DistributedDataParallel
    layers = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.BatchNorm1d(3), torch.nn.Linear(3, 1))
    net = parallel(layers)
    x = torch.tensor([[1.0, 2.0], [3.0, 5.0], [-1.0, 0.5]]) * (rank + 1)

    def trained() -> Any:
        for _ in range(2):
            net(x).square().sum().backward()
        with net.no_sync():
            net(x).sum().backward()
        net(x).sum().backward()
        return [[round(v, 3) for v in p.grad.flatten().tolist()] for p in net.parameters()]

    note("gradients", trained)
    note("keys", lambda: list(net.state_dict()))
    note("printed", lambda: repr(net))
    note("no parameters", lambda: parallel(torch.nn.ReLU()))

    def line() -> Any:
        layer = torch.nn.Linear(2, 1)
        with torch.no_grad():
            layer.weight.fill_(1.0)
            layer.bias.fill_(0.0)
        return parallel(layer)

    def uneven(hook: Any = None, local: int = -1, **options: Any) -> Any:
        """Rank r has 2 r + 2 batches. `local`: each batch of an even or odd number keeps its gradient on its rank."""
        net, found = line(), []
        optimizer = torch.optim.SGD(net.parameters(), 0.125)
        if hook is not None:
            net.register_comm_hook(None, hook)
        with net.join(**options):
            for i in range(2 * rank + 2):
                optimizer.zero_grad()
                with net.no_sync() if i % 2 == local else contextlib.nullcontext():
                    net(torch.full((1, 2), 1.0 + rank + i)).sum().backward()
                found.append(net.module.weight.grad.tolist())
                optimizer.step()
        return [found, net.module.weight.tolist()]

    for divides in (True, False):
        note(f"join {divides}", lambda divides=divides: uneven(divide_by_initial_world_size=divides))
    for name in ("allreduce_hook", "fp16_compress_hook"):
        note(name, lambda name=name: uneven(getattr(hooks, name)))
    note("wrapper", lambda: uneven(hooks.fp16_compress_wrapper(hooks.allreduce_hook)))
    for local in (0, 1):
        note(f"no_sync {local}", lambda local=local: uneven(local=local))
    note("throws", lambda: uneven(throw_on_early_termination=True))

    def counted() -> Any:
        one, other = Counter(), Counter()
        one()
        with join.Join([one, other], unit=3):
            for _ in range(2 * rank + 1):
                one()
                other()
        return [one.count, one.log, other.count, other.log]

    note("counters", counted)
    note("no joinable", lambda: join.Join([]))
    pair = dist.new_group([0, 1])
    other = type("Other", (Counter,), {"join_process_group": pair})
    note("two groups", lambda: join.Join([Counter(), other()]))
    note("abstract", lambda: isinstance(line(), join.Joinable))

    note("subgroups", lambda: [dist.get_rank(g) for g in dist.new_subgroups_by_enumeration([[1], [0]])[1]])
    note("twice in subgroups", lambda: dist.new_subgroups_by_enumeration([[0], [0, 1]]))
    note("no subgroups", lambda: dist.new_subgroups_by_enumeration([]))
    note("backends", lambda: [dist.Backend("NCCL"), dist.Backend("foo"), dist.Backend.GLOO, dist.Backend.UNDEFINED])
    note("no backend", lambda: dist.Backend(3))
    note("no list to scatter", lambda: dist.scatter_object_list([], [1, 2]))
    note("nothing to scatter", lambda: dist.scatter_object_list(None, None))

    def objects(given: Any) -> Any:
        mine = given if rank == 0 else [None, None]
        dist.broadcast_object_list(mine, 0)
        return list(mine)

    note("tuple", lambda: objects((1, "b")))
    dist.barrier()
    dist.destroy_process_group()
    print("".join(f"{json.dumps([rank, *outcome])}\n" for outcome in outcomes), end="", flush=True)


os.environ.setdefault("OMP_NUM_THREADS", "1")
main()
