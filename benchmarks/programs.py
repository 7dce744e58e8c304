"""Programs that are timed side by side on wengert and on torch. Their argument `torch` is either library.

Each function prepares its tensors and returns a program without arguments. The program returns an array, usually the
gradients, to test that both libraries have computed the same.
"""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any, NamedTuple

import elementwise
import modules
import networks
import numpy as np
import science
from networks import Program


class Case(NamedTuple):
    """A program to compare. target: the required ratio of torch's time to wengert's. pure_target: the same ratio, uncompiled.

    collect: whether Python's garbage collector is on. The collector walks wengert's nodes in large graphs. torch's nodes are
    not Python objects, so it does not walk them. Graphs need no collector, so a program may well switch it off.
    """

    name: str
    title: str
    prepare: Callable[[ModuleType], Program]
    target: float | None = None
    pure_target: float | None = None
    rounds: int = 15
    collect: bool = True


def chain(torch: ModuleType, shape: tuple[int, ...], length: int, constants: str) -> Program:
    """y = x * a, y = y + b, y = y * a, ... and the gradients of x, a and b.

    constants: "none", "tensors" or "numbers". If a and b are constants (tensors or numbers), only x has a gradient.
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
    return chain(torch, (4, 4), 100, "none")


def prepare_chain_of_constants(torch: ModuleType) -> Program:
    return chain(torch, (4, 4), 100, "tensors")


def prepare_chain_of_numbers(torch: ModuleType) -> Program:
    return chain(torch, (4, 4), 100, "numbers")


def prepare_long_chain(torch: ModuleType) -> Program:
    return chain(torch, (2,), 100_000, "none")


def prepare_long_chain_of_constants(torch: ModuleType) -> Program:
    return chain(torch, (2,), 100_000, "tensors")


def prepare_longest_chain(torch: ModuleType) -> Program:
    return chain(torch, (2,), 1_000_000, "none")


def _reads(torch: ModuleType, length: int, sum_of_squares: Callable[[Any], Any]) -> Program:
    """Read every tenth element of a vector on its own. Gradient of the sum of their squares."""
    x = torch.tensor(np.random.default_rng(0).uniform(-1, 1, length).astype(np.float32), requires_grad=True)

    def program() -> np.ndarray:
        elements = [x[i] for i in range(0, length, 10)]
        x.grad = None
        sum_of_squares(elements).backward()
        return x.grad.numpy()

    return program


def prepare_reads(torch: ModuleType) -> Program:
    return _reads(torch, 20_000, lambda elements: (torch.stack(elements) ** 2).sum())


def prepare_reads_and_sums(torch: ModuleType) -> Program:
    return _reads(torch, 20_000, lambda elements: sum(element * element for element in elements))


def prepare_many_reads(torch: ModuleType) -> Program:
    return _reads(torch, 200_000, lambda elements: (torch.stack(elements) ** 2).sum())


# Only the ratios of cases with a target are averaged.
CASES = [
    Case("chain", "chain of 100 multiply/adds, 4x4 float32, all gradients", prepare_chain, 5.0, 0.6),
    Case("chain-constants", "chain of 100, gradient of x only", prepare_chain_of_constants),
    Case("chain-numbers", "chain of 100 with Python numbers, gradient of x only", prepare_chain_of_numbers),
    Case("small-training-step", "training step 2-16-16-1, batch 16", networks.prepare_small_training_step, 4.0),
    Case("training-step", "training step 784-256-128-10, batch 64", networks.prepare_training_step, 1.5),
    Case(
        "large-training-step",
        "training step 1024-2048-2048-1000, batch 256",
        networks.prepare_large_training_step,
        1.0,
        rounds=9,
    ),
    Case("prices", "Black-Scholes prices and four greeks, 1,000,000", elementwise.prepare_prices, 4.0, rounds=9),
    Case("fused-prices", "Black-Scholes as one wengert.pointwise function", elementwise.prepare_fused_prices, rounds=9),
    Case("tanh", "tanh(x * y + z), 10,000,000, three gradients", elementwise.prepare_tanh, 6.0, rounds=9),
    Case("fused-tanh", "tanh(x * y + z) as one wengert.pointwise function", elementwise.prepare_fused_tanh, rounds=9),
    Case("recurrent-network", "tanh recurrent network, 100 steps, 64 wide, batch 16", networks.prepare_recurrent_network, 3.0),
    Case("attention", "attention block, 8 x 64 x 128, 4 heads", networks.prepare_attention, 1.5),
    Case("log-softmax", "log-softmax and gather, 512 x 10000", networks.prepare_log_softmax, 2.0, rounds=9),
    Case("lenet", "LeNet, batch 32, training step", networks.prepare_lenet, 1.0),
    Case("lstm", "nn.LSTM, 50 steps of 64 units, batch 8, training step", modules.prepare_lstm, 1.3),
    Case("transformer", "nn.TransformerEncoder, 2 layers, 8 x 64 x 128, training step", modules.prepare_transformer, 1.2),
    Case("adam", "optim.Adam, a step over 40 small parameters", modules.prepare_adam, 6.0),
    Case("equation-in-time", "Lotka-Volterra, 20 steps of Runge-Kutta", science.prepare_equation_in_time),
    Case("filter", "Kalman filter, 10 steps, 4 states", science.prepare_filter),
    Case("gaussian-process", "likelihood of a Gaussian process, 50 points", science.prepare_gaussian_process),
    Case("differential-equation", "heat equation by a network 2-16-16-1, 16 points", science.prepare_differential_equation),
    Case("hessian", "func.hessian of Rosenbrock's function, 10 numbers", science.prepare_hessian),
    Case("curvature", "autograd.functional.hessian of Rosenbrock's function", science.prepare_curvature),
    Case("update", "Adam's step, six matrices 16 x 16, in place", science.prepare_update),
    Case("writes", "a matrix 10 x 10 filled row by row, in place", science.prepare_writes),
    Case("long-chain", "chain of 100,000 on a 2-vector, all gradients", prepare_long_chain, rounds=7),
    Case("long-chain-uncollected", "chain of 100,000, garbage collector off", prepare_long_chain, rounds=7, collect=False),
    Case("long-chain-constants", "chain of 100,000, gradient of x only", prepare_long_chain_of_constants, rounds=7),
    Case("longest-chain", "chain of 1,000,000 on a 2-vector, all gradients", prepare_longest_chain, 4.0, rounds=3),
    Case("reads", "20,000-vector read 2,000 times by element, sum of squares", prepare_reads, rounds=9),
    Case("reads-and-sums", "20,000-vector read 2,000 times, squared and summed one by one", prepare_reads_and_sums, rounds=9),
    Case("many-reads", "200,000-vector read 20,000 times by element, sum of squares", prepare_many_reads, 100.0, rounds=3),
]
