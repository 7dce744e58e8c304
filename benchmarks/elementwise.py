"""Elementwise work on large arrays among the benchmarks: prices of options, and one formula on ten million elements.

Each function prepares its tensors and returns a program without arguments, as in programs.py.
"""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np

Program = Callable[[], np.ndarray]


def _fused(torch: ModuleType, function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function as one operation (wengert.pointwise). torch has no such thing and runs the function as it is."""
    return torch.pointwise(function) if hasattr(torch, "pointwise") else function


def _call_price(torch: ModuleType) -> Callable[..., Any]:
    """Compute the Black-Scholes price of a European call on a share without dividends."""

    def normal_cdf(x: Any) -> Any:
        return 0.5 * (1 + torch.erf(x * 0.7071067811865476))

    def price(spot: Any, strike: Any, time: Any, rate: Any, volatility: Any) -> Any:
        deviation = volatility * torch.sqrt(time)
        d1 = (torch.log(spot / strike) + (rate + 0.5 * volatility * volatility) * time) / deviation
        return spot * normal_cdf(d1) - strike * torch.exp(-rate * time) * normal_cdf(d1 - deviation)

    return price


def _prices(torch: ModuleType, price: Callable[..., Any]) -> Program:
    """A million prices, and their derivatives in share price, time, rate and volatility: delta, theta, rho and vega."""
    rng = np.random.default_rng(0)
    limits = [(80, 120), (80, 120), (0.2, 2), (0.0, 0.05), (0.1, 0.5)]
    arguments = [torch.tensor(rng.uniform(*limit, 1_000_000).astype(np.float32)) for limit in limits]
    greeks = [arguments[i].requires_grad_() for i in (0, 2, 3, 4)]
    ones = torch.ones(1_000_000)

    def program() -> np.ndarray:
        for leaf in greeks:
            leaf.grad = None
        prices = price(*arguments)
        prices.backward(ones)
        return np.stack([prices.detach().numpy()[:1000], *[leaf.grad.numpy()[:1000] for leaf in greeks]])

    return program


def prepare_prices(torch: ModuleType) -> Program:
    """Operation by operation."""
    return _prices(torch, _call_price(torch))


def prepare_fused_prices(torch: ModuleType) -> Program:
    """As one operation if the library can: one pass over memory for the forward, one for the derivatives."""
    return _prices(torch, _fused(torch, _call_price(torch)))


def _tanh_of_sum(torch: ModuleType, function: Callable[..., Any]) -> Program:
    rng = np.random.default_rng(0)
    leaves = [torch.tensor(rng.uniform(-1, 1, 10_000_000).astype(np.float32)).requires_grad_() for _ in range(3)]
    ones = torch.ones(10_000_000)

    def program() -> np.ndarray:
        for leaf in leaves:
            leaf.grad = None
        function(*leaves).backward(ones)
        return np.stack([leaf.grad.numpy()[:1000] for leaf in leaves])

    return program


def prepare_tanh(torch: ModuleType) -> Program:
    """tanh(x * y + z) of ten million elements, and three gradients."""
    return _tanh_of_sum(torch, lambda x, y, z: torch.tanh(x * y + z))


def prepare_fused_tanh(torch: ModuleType) -> Program:
    """tanh(x * y + z) and three gradients, as one operation if the library can."""
    return _tanh_of_sum(torch, _fused(torch, lambda x, y, z: torch.tanh(x * y + z)))
