"""Handwritten digits on several processes: each trains on its part of every batch, and all take the same steps.

    pip install "wengert[mpi,examples]"
    mpirun -n 4 python examples/digits_ranks.py     # some seconds; the same losses for any number of ranks

The data are the 1797 digits that come with scikit-learn. Rank 0 prints.
"""

from __future__ import annotations

import argparse
import sys

import numpy as np

import wengert as torch
import wengert.distributed as dist
from wengert.nn.parallel import DistributedDataParallel

try:
    from sklearn.datasets import load_digits
except ImportError as error:
    sys.exit(f'digits_ranks.py: {error}\nThe examples need a few packages more: pip install "wengert[mpi,examples]"')

BATCH = 64  # of all ranks together


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--epochs", type=int, default=10)
    epochs = parser.parse_args().epochs

    dist.init_process_group()
    rank, ranks = dist.get_rank(), dist.get_world_size()
    images, labels = load_digits(return_X_y=True)
    x, y = torch.from_numpy((images / 16.0).astype(np.float32)), torch.from_numpy(labels.astype(np.int64))
    torch.manual_seed(0)
    net = DistributedDataParallel(torch.nn.Sequential(torch.nn.Linear(64, 128), torch.nn.Tanh(), torch.nn.Linear(128, 10)))
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
    for epoch in range(epochs):
        order = torch.randperm(len(x))  # the same on all ranks: they have the same seed
        total = torch.zeros(())
        steps = len(x) // BATCH
        for step in range(steps):
            chosen = order[step * BATCH : (step + 1) * BATCH][rank::ranks]
            optimizer.zero_grad()
            loss = torch.nn.functional.cross_entropy(net(x[chosen]), y[chosen])
            loss.backward()
            optimizer.step()
            total += loss.detach()
        dist.all_reduce(total, dist.ReduceOp.AVG)
        if rank == 0:
            print(f"epoch {epoch + 1}: loss {total.item() / steps:.4f}")


if __name__ == "__main__":
    main()
