"""Small problems of scientists among the benchmarks, whose time is the library's own: equations in time, filters, curvature.

Each function prepares its tensors and returns a program without arguments, as in programs.py.
"""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np

Program = Callable[[], np.ndarray]


def _uniform(torch: ModuleType, *shape: int, seed: int = 0, leaf: bool = False) -> Any:
    values = np.random.default_rng(seed).uniform(-1, 1, shape).astype(np.float32)
    return torch.tensor(values, requires_grad=leaf)


def _perceptron(torch: ModuleType) -> tuple[list[Any], Callable[[Any], Any]]:
    """Weights of a network 2-16-16-1, and the network."""
    shapes = ((2, 16), (16,), (16, 16), (16,), (16, 1), (1,))
    weights = [_uniform(torch, *shape, seed=i, leaf=True) for i, shape in enumerate(shapes)]

    def network(x: Any) -> Any:
        hidden = torch.tanh(torch.tanh(x @ weights[0] + weights[1]) @ weights[2] + weights[3])
        return hidden @ weights[4] + weights[5]

    return weights, network


def prepare_equation_in_time(torch: ModuleType) -> Program:
    """Lotka-Volterra equations, 20 steps of the fourth-order Runge-Kutta rule. Gradients of the start and the rates."""
    start = torch.tensor([1.0, 0.5], requires_grad=True)
    rates = torch.tensor([1.5, 1.0, 3.0, 1.0], requires_grad=True)
    step = 0.01

    def slope(z: Any) -> Any:
        prey, hunters = z[0], z[1]
        met = prey * hunters
        return torch.stack([rates[0] * prey - rates[1] * met, rates[3] * met - rates[2] * hunters])

    def program() -> np.ndarray:
        z = start
        for _ in range(20):
            k1 = slope(z)
            k2 = slope(z + step / 2 * k1)
            k3 = slope(z + step / 2 * k2)
            k4 = slope(z + step * k3)
            z = z + step / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        return np.concatenate([g.numpy() for g in torch.autograd.grad(z.sum(), [start, rates])])

    return program


def prepare_filter(torch: ModuleType) -> Program:
    """Ten steps of a Kalman filter with four states and two measurements. Gradient of the likelihood in the process noise."""
    noise = torch.tensor(0.1, requires_grad=True)
    seen = _uniform(torch, 2, 4)
    one, two = torch.eye(4), torch.eye(2)

    def program() -> np.ndarray:
        mean, covariance = torch.zeros(4, 1), torch.eye(4)
        total = torch.zeros(())
        for _ in range(10):
            covariance = covariance + noise * one
            spread = seen @ covariance @ seen.t() + two
            gain = torch.linalg.solve(spread, seen @ covariance).t()
            off = torch.ones(2, 1) - seen @ mean
            total = total + (off.t() @ torch.linalg.solve(spread, off)).sum() + torch.logdet(spread)
            mean = mean + gain @ off
            covariance = covariance - gain @ seen @ covariance
        return torch.autograd.grad(total, noise)[0].numpy()

    return program


def prepare_gaussian_process(torch: ModuleType) -> Program:
    """Likelihood of 50 points under a Gaussian process, and its gradient in the length scale."""
    points, values = _uniform(torch, 50, 3), _uniform(torch, 50, 1, seed=1)
    scale = torch.tensor(0.5, requires_grad=True)
    jitter = 0.1 * torch.eye(50)

    def program() -> np.ndarray:
        distances = ((points[:, None] - points[None]) ** 2).sum(-1)
        factor = torch.linalg.cholesky(torch.exp(-distances / (2 * scale**2)) + jitter)
        fit = 0.5 * (values * torch.cholesky_solve(values, factor)).sum() + torch.log(torch.diagonal(factor)).sum()
        return torch.autograd.grad(fit, scale)[0].numpy()

    return program


def prepare_differential_equation(torch: ModuleType) -> Program:
    """Loss of a network that solves the heat equation at 16 points. The gradient needs third derivatives."""
    weights, network = _perceptron(torch)
    x = _uniform(torch, 16, 2, seed=9, leaf=True)

    def program() -> np.ndarray:
        u = network(x)
        (slope,) = torch.autograd.grad(u.sum(), x, create_graph=True)
        (curve,) = torch.autograd.grad(slope[:, 0].sum(), x, create_graph=True)
        loss = ((slope[:, 1] - curve[:, 0]) ** 2).mean()
        return torch.autograd.grad(loss, weights[:-1])[0].numpy()

    return program


def _rosenbrock(z: Any) -> Any:
    return (100 * (z[1:] - z[:-1] ** 2) ** 2 + (1 - z[:-1]) ** 2).sum()


def prepare_hessian(torch: ModuleType) -> Program:
    """Hessian of Rosenbrock's function of ten numbers."""
    x = _uniform(torch, 10)
    return lambda: torch.func.hessian(_rosenbrock)(x).numpy()


def prepare_curvature(torch: ModuleType) -> Program:
    """Hessian of Rosenbrock's function by autograd.functional."""
    x = _uniform(torch, 10)
    return lambda: torch.autograd.functional.hessian(_rosenbrock, x).numpy()


def prepare_update(torch: ModuleType) -> Program:
    """Adam's step for six matrices 16 x 16, in place."""
    weights = [_uniform(torch, 16, 16, seed=i) for i in range(6)]
    gradients = [_uniform(torch, 16, 16, seed=9 + i) for i in range(6)]
    means, squares = [[torch.zeros(16, 16) for _ in weights] for _ in range(2)]

    def program() -> np.ndarray:
        with torch.no_grad():
            for w, g, m, v in zip(weights, gradients, means, squares, strict=True):
                m.mul_(0.9).add_(g, alpha=0.1)
                v.mul_(0.999).addcmul_(g, g, value=0.001)
                w.addcdiv_(m, v.sqrt().add_(1e-8), value=-1e-3)
        return gradients[0].numpy()  # the weights go on moving

    return program


def prepare_writes(torch: ModuleType) -> Program:
    """A matrix filled row by row, in place. Gradients of the rows' sources."""
    rows, weight = _uniform(torch, 10, 10, leaf=True), _uniform(torch, 10, seed=1, leaf=True)

    def program() -> np.ndarray:
        table = rows * 1.0
        for i in range(10):
            table[i] = weight * rows[i]
        return torch.autograd.grad(table.sum(), weight)[0].numpy()

    return program
