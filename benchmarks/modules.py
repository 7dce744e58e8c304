"""Programs that use nn and optim. See programs.py."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np
from networks import Program


def _training(torch: ModuleType, module: Any, x: Any) -> Program:
    """Gradients of the sum of squares of a module's first result."""
    parameters = list(module.parameters())

    def program() -> np.ndarray:
        module.zero_grad()
        y = module(x)
        y = y[0] if isinstance(y, tuple) else y
        (y * y).mean().backward()
        return np.concatenate([p.grad.numpy().ravel() for p in parameters])

    return program


def _input(torch: ModuleType, *shape: int) -> Any:
    return torch.tensor(np.random.default_rng(0).standard_normal(shape).astype(np.float32))


def prepare_lstm(torch: ModuleType) -> Program:
    """50 steps of nn.LSTM with 64 units, a batch of 8, forward and backward."""
    torch.manual_seed(0)
    return _training(torch, torch.nn.LSTM(32, 64), _input(torch, 50, 8, 32))


def prepare_transformer(torch: ModuleType) -> Program:
    """Two layers of nn.TransformerEncoder over 8 sequences of 64 vectors of 128, forward and backward."""
    torch.manual_seed(0)
    layer = torch.nn.TransformerEncoderLayer(128, 4, 256, dropout=0.0, batch_first=True)
    return _training(torch, torch.nn.TransformerEncoder(layer, 2), _input(torch, 8, 64, 128))


def prepare_adam(torch: ModuleType) -> Program:
    """A step of optim.Adam over 40 parameters of 10 x 10 and 10 numbers."""
    torch.manual_seed(0)
    parameters = [torch.nn.Parameter(torch.randn(*shape)) for shape in [(10, 10), (10,)] * 20]
    for p in parameters:
        p.grad = torch.ones_like(p)
    optimizer = torch.optim.Adam(parameters)

    def program() -> np.ndarray:
        optimizer.step()
        return parameters[0].detach().numpy()

    return program
