"""The program of test_distributed.py: `python gloo_program.py torch|wengert`. Each rank prints a line of JSON for each outcome."""

from __future__ import annotations

import importlib
import json
import os
import sys
from typing import Any

torch: Any = importlib.import_module(sys.argv[1])
dist: Any = importlib.import_module(f"{sys.argv[1]}.distributed")


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
    dist.barrier()
    dist.destroy_process_group()
    print("".join(f"{json.dumps([rank, *outcome])}\n" for outcome in outcomes), end="", flush=True)


os.environ.setdefault("OMP_NUM_THREADS", "1")
main()
