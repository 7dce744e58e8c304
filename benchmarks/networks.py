"""Networks among the benchmarks: training steps, a recurrent network, attention, a convolutional network.

Each function prepares its tensors and returns a program without arguments, as in programs.py.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from types import ModuleType
from typing import Any

import numpy as np

Program = Callable[[], np.ndarray]


def _training_step(
    torch: ModuleType, sizes: tuple[int, ...], batch: int, activation: str, loss_of: Callable[[Any, Any], Any]
) -> Program:
    """Training step of a network with layers of these sizes: loss, gradients, a step of gradient descent in place.

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
    """100 steps of h = tanh(x_t W + h U + b), 64 wide, a batch of 16. Gradients of the sum of all h."""
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
        return recurrent.grad.cpu().numpy()

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


def prepare_attention(torch: ModuleType) -> Program:
    """A block of a transformer, 8 sequences of 64 vectors of 128: layer norm, attention with 4 heads, layer norm, GELU.

    The gradients of the mean of the squares, in all weights."""
    rng = np.random.default_rng(0)
    functional = torch.nn.functional
    batch, length, width, heads = 8, 64, 128, 4
    x = torch.tensor(rng.normal(0, 1, (batch, length, width)).astype(np.float32))
    shapes = [(3 * width, width), (width, width), (4 * width, width), (width, 4 * width)]
    weights = [torch.tensor(rng.normal(0, s[1] ** -0.5, s).astype(np.float32), requires_grad=True) for s in shapes]
    biases = [torch.zeros(s[0], requires_grad=True) for s in shapes]
    scales = [torch.ones(width, requires_grad=True) for _ in range(2)]
    shifts = [torch.zeros(width, requires_grad=True) for _ in range(2)]
    parameters = [*weights, *biases, *scales, *shifts]

    def linear(y: Any, i: int) -> Any:
        return functional.linear(y, weights[i], biases[i])

    def norm(y: Any, i: int) -> Any:
        return functional.layer_norm(y, (width,), scales[i], shifts[i])

    def program() -> np.ndarray:
        parts = linear(norm(x, 0), 0).view(batch, length, 3, heads, width // heads).permute(2, 0, 3, 1, 4)
        mixed = functional.scaled_dot_product_attention(*parts.unbind(0))
        hidden = x + linear(mixed.transpose(1, 2).reshape(batch, length, width), 1)
        out = hidden + linear(functional.gelu(linear(norm(hidden, 1), 2)), 3)
        for p in parameters:
            p.grad = None
        (out * out).mean().backward()
        return weights[0].grad.cpu().numpy()

    return program


def prepare_lenet(torch: ModuleType) -> Program:
    """LeNet-5 with relu and max pooling on 32 pictures of 28 x 28: loss, gradients, a step of gradient descent in place."""
    rng = np.random.default_rng(0)
    functional = torch.nn.functional
    pictures = torch.tensor(rng.uniform(0, 1, (32, 1, 28, 28)).astype(np.float32))
    labels = torch.tensor(rng.integers(0, 10, 32))
    shapes = [(6, 1, 5, 5), (16, 6, 5, 5), (120, 400), (84, 120), (10, 84)]
    layers = []
    for shape in shapes:
        weight = rng.normal(0, (2 / np.prod(shape[1:])) ** 0.5, shape).astype(np.float32)
        layers.append((torch.tensor(weight, requires_grad=True), torch.zeros(shape[0], requires_grad=True)))
    parameters = [p for layer in layers for p in layer]

    def program() -> np.ndarray:
        hidden = functional.max_pool2d(torch.relu(functional.conv2d(pictures, *layers[0], padding=2)), 2)
        hidden = functional.max_pool2d(torch.relu(functional.conv2d(hidden, *layers[1])), 2).flatten(1)
        for layer in layers[2:4]:
            hidden = torch.relu(functional.linear(hidden, *layer))
        loss = functional.cross_entropy(functional.linear(hidden, *layers[4]), labels)
        for p in parameters:
            p.grad = None
        loss.backward()
        with torch.no_grad():
            for p in parameters:
                p -= 0.001 * p.grad
        return np.asarray(loss.item())

    return program
