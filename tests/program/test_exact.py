"""options={"exact": True}: results and gradients are eager's bit for bit, also of rules that differ on arrays and on tensors."""

from __future__ import annotations

import numpy as np
import pytest

import wengert as torch

F = torch.nn.functional


def normal(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.tensor(np.random.default_rng(seed).normal(size=shape).astype(np.float32))



RULES = {
    "batch_norm": (lambda x, w, b: F.batch_norm(x, None, None, w, b, training=True), (16, 6), (6,), (6,)),
    "batch_norm of images": (lambda x, w, b: F.batch_norm(x, None, None, w, b, training=True), (4, 6, 5, 3), (6,), (6,)),
    "group_norm": (lambda x, w, b: F.group_norm(x, 3, w, b), (4, 6, 5), (6,), (6,)),
    "layer_norm": (lambda x, w, b: F.layer_norm(x, (7,), w, b), (5, 3, 7), (7,), (7,)),
    "layer_norm without weights": (lambda x: F.layer_norm(x, (7,)), (5, 7)),
    "silu": (F.silu, (40,)),
    "mish": (F.mish, (40,)),
    "linear of three dimensions": (F.linear, (3, 5, 6), (4, 6), (4,)),
    "cholesky": (lambda x: torch.linalg.cholesky(x @ x.mT + torch.eye(6)), (6, 6)),
    "gelu": (lambda x: F.gelu(x, approximate="tanh"), (40,)),
    "glu": (F.glu, (5, 8)),
    "cdist": (torch.cdist, (9, 4), (11, 4)),
    "pdist": (F.pdist, (9, 4)),
    "grid_sample": (lambda x, g: F.grid_sample(x, g / 2, align_corners=False), (2, 3, 6, 6), (2, 5, 5, 2)),
}


@pytest.mark.parametrize("name", RULES)
def test_gradients_are_eagers_bit_for_bit(name):
    function, *shapes = RULES[name]

    def gradients(*inputs):
        inputs = [x.detach().requires_grad_() for x in inputs]
        result = function(*inputs)
        return result.detach(), *torch.autograd.grad((result * torch.cos(result.detach() * 3)).sum(), inputs)

    compiled = torch.compile(gradients, fullgraph=True, options={"exact": True})
    for call in range(4):
        inputs = [normal(*shape, seed=10 * call + i) for i, shape in enumerate(shapes)]
        for expected, found in zip(gradients(*inputs), compiled(*inputs), strict=True):
            np.testing.assert_array_equal(found.numpy(), expected.numpy())
    assert compiled.recordings[0].runs == 3


def test_second_derivatives_are_eagers_bit_for_bit():
    def penalty(x, w, b):
        x = x.detach().requires_grad_()
        (slope,) = torch.autograd.grad((F.layer_norm(x, (7,), w, b) ** 3).sum(), x, create_graph=True)
        return torch.autograd.grad((slope * slope).sum(), x)[0]

    compiled = torch.compile(penalty, fullgraph=True, options={"exact": True})
    for call in range(3):
        inputs = normal(5, 7, seed=call), normal(7, seed=call + 10), normal(7, seed=call + 20)
        np.testing.assert_array_equal(compiled(*inputs).numpy(), penalty(*inputs).numpy())


@pytest.mark.parametrize("layer", [torch.nn.BatchNorm1d, torch.nn.LayerNorm])
@pytest.mark.parametrize("optimizer", [torch.optim.Adam, torch.optim.Rprop])
def test_training_that_amplifies_last_bits_is_eagers(layer, optimizer):
    """The bias before a normalisation has a gradient of rounding errors, which these optimizers make as large as any other."""

    def losses(compiled):
        torch.manual_seed(0)
        model = torch.nn.Sequential(torch.nn.Linear(6, 16), layer(16), torch.nn.SiLU(), torch.nn.Dropout(0.2), torch.nn.Linear(16, 3))
        steps = optimizer(model.parameters(), lr=0.01)

        def step(x, y):
            steps.zero_grad()
            loss = F.cross_entropy(model(x), y)
            loss.backward()
            steps.step()
            return loss.item()

        run = torch.compile(step, fullgraph=True, options={"exact": True}) if compiled else step
        return [run(torch.randn(16, 6), torch.randint(0, 3, (16,))) for _ in range(10)]

    assert losses(True) == losses(False)


@pytest.mark.parametrize("layer", [torch.nn.LSTM, torch.nn.GRU, torch.nn.RNN, torch.nn.LSTMCell, torch.nn.GRUCell, torch.nn.RNNCell])
def test_recurrent_layers_are_recorded(layer):
    torch.manual_seed(0)
    model = layer(3, 4)

    def gradients(x):
        result = model(x)
        result = result[0] if isinstance(result, tuple) else result
        return result.detach(), *torch.autograd.grad((result * result).sum(), list(model.parameters()))

    compiled = torch.compile(gradients, fullgraph=True, options={"exact": True})
    shape = (2, 3) if issubclass(layer, torch.nn.RNNCellBase) else (5, 2, 3)
    for call in range(3):
        x = normal(*shape, seed=call)
        for expected, found in zip(gradients(x), compiled(x), strict=True):
            np.testing.assert_array_equal(found.numpy(), expected.numpy())
    assert compiled.recordings[0].runs == 2
