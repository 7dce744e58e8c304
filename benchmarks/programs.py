"""What is timed side by side: programs that run on wengert and on torch alike, as `torch` here is either.

Each function prepares its tensors and returns a program without arguments. That returns an array: the gradients, or
what else tells that both libraries have computed the same.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

Program = Callable[[], np.ndarray]


class Case(NamedTuple):
    """A program to compare. target: how many times as fast as torch it has to be; pure_target: uncompiled.

    collect: whether Python's garbage collector is on. It walks the nodes of large graphs, but not those of torch, which
    are no Python objects; graphs here need no collector, so a program may well switch it off.
    """

    name: str
    title: str
    prepare: Callable[[ModuleType], Program]
    target: float | None = None
    pure_target: float | None = None
    rounds: int = 15
    collect: bool = True


def _chain(torch: ModuleType, shape: tuple[int, ...], length: int, constants: str) -> Program:
    """y = x * a, y = y + b, y = y * a, ... and the gradients of x, a and b.

    constants: "none", or a and b are constants, "tensors" or "numbers", and the gradient is that of x alone.
    """
    rng = np.random.default_rng(0)
    x = torch.tensor(rng.uniform(-1, 1, shape).astype(np.float32), requires_grad=True)
    a: Any
    b: Any
    if constants == "numbers":
        a, b = 0.99, 0.01
    else:
        a = torch.tensor(rng.uniform(0.98, 1.0, shape).astype(np.float32), requires_grad=constants == "none")
        b = torch.tensor(rng.uniform(-0.01, 0.01, shape).astype(np.float32), requires_grad=constants == "none")
    leaves = [x, a, b] if constants == "none" else [x]
    ones = torch.ones(shape)
    steps = range(length // 2)

    def program() -> np.ndarray:
        y = x
        for _ in steps:
            y = y * a
            y = y + b
        for leaf in leaves:
            leaf.grad = None
        y.backward(ones)
        return np.stack([leaf.grad.numpy() for leaf in leaves])

    return program


def prepare_chain(torch: ModuleType) -> Program:
    return _chain(torch, (4, 4), 100, "none")


def prepare_chain_of_constants(torch: ModuleType) -> Program:
    return _chain(torch, (4, 4), 100, "tensors")


def prepare_chain_of_numbers(torch: ModuleType) -> Program:
    return _chain(torch, (4, 4), 100, "numbers")


def prepare_long_chain(torch: ModuleType) -> Program:
    return _chain(torch, (2,), 100_000, "none")


def prepare_long_chain_of_constants(torch: ModuleType) -> Program:
    return _chain(torch, (2,), 100_000, "tensors")


def _training_step(
    torch: ModuleType, sizes: tuple[int, ...], batch: int, activation: str, loss_of: Callable[[Any, Any], Any]
) -> Program:
    """A network of layers of these sizes: loss, gradients, a step of gradient descent in place.

    loss_of(outputs, labels): labels are class numbers, or 0 and 1 where there is one output.
    """
    rng = np.random.default_rng(0)
    inputs = torch.tensor(rng.uniform(0, 1, (batch, sizes[0])).astype(np.float32))
    labels = torch.tensor(rng.integers(0, max(2, sizes[-1]), batch))
    layers = []
    for n_in, n_out in pairwise(sizes):
        weight = rng.normal(0, (2 / n_in) ** 0.5, (n_in, n_out)).astype(np.float32)
        layers.append((torch.tensor(weight, requires_grad=True), torch.zeros(n_out, requires_grad=True)))
    parameters = [p for layer in layers for p in layer]
    weight, bias = layers.pop()
    activate = getattr(torch, activation)

    def program() -> np.ndarray:
        hidden = inputs
        for w, b in layers:
            hidden = activate(hidden @ w + b)
        loss = loss_of(hidden @ weight + bias, labels)
        for p in parameters:
            p.grad = None
        loss.backward()
        with torch.no_grad():
            for p in parameters:
                p -= 0.001 * p.grad
        return np.asarray(loss.item())

    return program


def prepare_training_step(torch: ModuleType) -> Program:
    """A network 784-256-128-10 with relu and cross entropy, a batch of 64."""
    return _training_step(torch, (784, 256, 128, 10), 64, "relu", torch.nn.functional.cross_entropy)


def prepare_small_training_step(torch: ModuleType) -> Program:
    """A network 2-16-16-1 with tanh and the hinge loss, a batch of 16."""

    def hinge(outputs: Any, labels: Any) -> Any:
        return torch.relu(1 - outputs[:, 0] * (2 * labels - 1)).mean()

    return _training_step(torch, (2, 16, 16, 1), 16, "tanh", hinge)


def prepare_large_training_step(torch: ModuleType) -> Program:
    """A network 1024-2048-2048-1000 with relu and cross entropy, a batch of 256."""
    return _training_step(torch, (1024, 2048, 2048, 1000), 256, "relu", torch.nn.functional.cross_entropy)


def prepare_recurrent_network(torch: ModuleType) -> Program:
    """100 steps of h = tanh(x_t W + h U + b), 64 wide, a batch of 16; the gradients of the sum of all h."""
    rng = np.random.default_rng(0)
    inputs = [torch.tensor(rng.normal(0, 1, (16, 64)).astype(np.float32)) for _ in range(100)]
    weight, recurrent = (
        torch.tensor(rng.normal(0, 0.1, (64, 64)).astype(np.float32), requires_grad=True) for _ in range(2)
    )
    bias = torch.zeros(64, requires_grad=True)
    parameters = [weight, recurrent, bias]
    start = torch.zeros(16, 64)

    def program() -> np.ndarray:
        hidden = start
        total = torch.zeros(())
        for x in inputs:
            hidden = torch.tanh(x @ weight + hidden @ recurrent + bias)
            total = total + hidden.sum()
        for p in parameters:
            p.grad = None
        total.backward()
        return recurrent.grad.numpy()

    return program


def prepare_log_softmax(torch: ModuleType) -> Program:
    """The mean of minus the log-probabilities of one class a row, of 512 x 10000 scores, and its gradient."""
    rng = np.random.default_rng(0)
    scores = torch.tensor(rng.normal(0, 1, (512, 10_000)).astype(np.float32), requires_grad=True)
    labels = torch.tensor(rng.integers(0, 10_000, (512, 1)))

    def program() -> np.ndarray:
        scores.grad = None
        loss = -torch.log_softmax(scores, 1).gather(1, labels).mean()
        loss.backward()
        return np.asarray(loss.item())

    return program


def _reads(torch: ModuleType, sum_of_squares: Callable[[Any], Any]) -> Program:
    """Every tenth element of a vector of 20,000, read on its own; the gradient of the sum of their squares."""
    x = torch.tensor(np.random.default_rng(0).uniform(-1, 1, 20_000).astype(np.float32), requires_grad=True)

    def program() -> np.ndarray:
        elements = [x[i] for i in range(0, 20_000, 10)]
        x.grad = None
        sum_of_squares(elements).backward()
        return x.grad.numpy()

    return program


def prepare_reads(torch: ModuleType) -> Program:
    return _reads(torch, lambda elements: (torch.stack(elements) ** 2).sum())


def prepare_reads_and_sums(torch: ModuleType) -> Program:
    return _reads(torch, lambda elements: sum(element * element for element in elements))


CASES = [
    Case("chain", "chain of 100 multiply/adds, 4x4 float32, all gradients", prepare_chain, 2.5, 1.0),
    Case("chain-constants", "the same, gradient of x only", prepare_chain_of_constants),
    Case("chain-numbers", "the same with Python numbers", prepare_chain_of_numbers),
    Case("training-step", "training step 784-256-128-10, batch 64", prepare_training_step, 1.2),
    Case("small-training-step", "training step 2-16-16-1, batch 16", prepare_small_training_step),
    Case("large-training-step", "training step 1024-2048-2048-1000, batch 256", prepare_large_training_step, rounds=9),
    Case("recurrent-network", "tanh recurrent network, 100 steps, 64 wide, batch 16", prepare_recurrent_network),
    Case("log-softmax", "log-softmax and gather, 512 x 10000", prepare_log_softmax, rounds=9),
    Case("long-chain", "chain of 100,000 on a 2-vector, all gradients", prepare_long_chain, 2.5, rounds=7),
    Case("long-chain-uncollected", "the same, garbage collector off", prepare_long_chain, rounds=7, collect=False),
    Case("long-chain-constants", "the same, gradient of x only", prepare_long_chain_of_constants, rounds=7),
    Case("reads", "20,000-vector read 2,000 times by element, sum of squares", prepare_reads, 10.0, rounds=9),
    Case("reads-and-sums", "the same, squared and summed one by one", prepare_reads_and_sums, rounds=9),
]
