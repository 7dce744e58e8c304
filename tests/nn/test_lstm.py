"""The steps of an LSTM as one operation: values against the written-out formula, derivatives against finite differences."""

from __future__ import annotations

import numpy as np
import pytest

import wengert
from wengert import kernels, nn
from wengert.autograd import gradcheck, gradgradcheck
from wengert.kernels import scans

SIZES = [(2, 2, 2), (3, 2, 2, 1), (1,)]


def inputs(sizes, size=3, features=2, dtype=np.float64):
    """Rows of all steps, initial states and weights, as torch.lstm takes them."""
    rng = np.random.default_rng(0)
    shapes = [(sum(sizes), features), (1, sizes[0], size), (1, sizes[0], size), (4 * size, features), (4 * size, size),
              (4 * size,), (4 * size,)]  # fmt: skip
    return [wengert.tensor(rng.standard_normal(s).astype(dtype), requires_grad=True) for s in shapes]


def run(sizes, backward, data, h, c, *params):
    """One direction of one layer. The direction backward is the second of a bidirectional layer with the same weights."""
    sizes = wengert.tensor(sizes)
    if not backward:
        return wengert.lstm(data, sizes, (h, c), params, True, 1, 0.0, False, False)
    both = [wengert.cat([s, s]) for s in (h, c)]
    out, h, c = wengert.lstm(data, sizes, both, [*params, *params], True, 1, 0.0, False, True)
    return out[:, out.shape[1] // 2 :], h[1:], c[1:]


def written_out(sizes, backward, data, h, c, w_ih, w_hh, b_ih, b_hh):
    """The same, sequence by sequence and step by step."""
    data, h, c, w_ih, w_hh, b_ih, b_hh = (x.detach().numpy() for x in (data, h, c, w_ih, w_hh, b_ih, b_hh))
    firsts = np.cumsum([0, *sizes])
    out, last = np.zeros((sum(sizes), h.shape[2])), np.zeros((2, *h.shape[1:]))
    for i in range(sizes[0]):
        state, cell = h[0, i], c[0, i]
        steps = [t for t in range(len(sizes)) if i < sizes[t]]
        for t in reversed(steps) if backward else steps:
            given = w_ih @ data[firsts[t] + i] + b_ih + w_hh @ state + b_hh
            enter, forget, fresh, leave = np.split(given, 4)
            cell = cell / (1 + np.exp(-forget)) + np.tanh(fresh) / (1 + np.exp(-enter))
            state = np.tanh(cell) / (1 + np.exp(-leave))
            out[firsts[t] + i] = state
        last[:, i] = state, cell
    return out, last[:1], last[1:]


@pytest.mark.parametrize("backward", [False, True])
@pytest.mark.parametrize("sizes", SIZES)
def test_states_are_those_of_the_formula(sizes, backward):
    given = inputs(sizes)
    for found, expected in zip(run(sizes, backward, *given), written_out(sizes, backward, *given), strict=True):
        np.testing.assert_allclose(found.detach().numpy(), expected, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("backward", [False, True])
@pytest.mark.parametrize("sizes", SIZES)
def test_derivatives_are_those_of_finite_differences(sizes, backward):
    def program(*given):
        return run(sizes, backward, *given)

    assert gradcheck(program, inputs(sizes), check_forward_ad=True)


def test_second_derivatives_are_those_of_finite_differences():
    assert gradgradcheck(lambda *given: run((2, 1), False, *given), inputs((2, 1), size=2))


@pytest.mark.skipif(kernels.native is None, reason="compares the compiled kernel with the uncompiled steps")
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("size", [1, 5, 64])
def test_kernel_gives_what_the_uncompiled_steps_give(monkeypatch, size, dtype):
    def program(only_cells):
        given = inputs((7, 7, 4, 1), size, 3, dtype)
        results = run((7, 7, 4, 1), True, *given)
        loss = results[2].sin().sum() if only_cells else sum(r.sin().sum() for r in results)
        return [*results, *wengert.autograd.grad(loss, given)]

    for only_cells in (False, True):
        found = program(only_cells)
        with monkeypatch.context() as patched:
            patched.setattr(scans, "lstm_steps", lambda *args: None)
            patched.setattr(scans, "lstm_steps_cotangent", lambda *args: None)
            expected = program(only_cells)
        for x, y in zip(found, expected, strict=True):
            tolerance = 1e-4 if dtype == np.float32 else 1e-12
            np.testing.assert_allclose(x.detach().numpy(), y.detach().numpy(), rtol=tolerance, atol=tolerance)


def test_only_what_requires_grad_has_a_gradient():
    layer = nn.LSTM(2, 3)
    layer.weight_ih_l0.requires_grad_(False)
    out, _ = layer(wengert.randn(4, 2, 2))
    out.sum().backward()
    assert layer.weight_ih_l0.grad is None
    assert layer.weight_hh_l0.grad is not None


def test_batches_map_over_sequences():
    layer = nn.LSTM(2, 3)
    x = wengert.randn(5, 4, 2)  # five sequences of four steps
    found = wengert.vmap(lambda one: layer(one)[0])(x)
    assert wengert.allclose(found, layer(x.transpose(0, 1))[0].transpose(0, 1), atol=1e-6)


def test_states_and_weights_may_lie_apart_in_memory():
    data, h, c, *params = inputs((2, 2))
    strided = [x.detach().t().contiguous().t() for x in (params[0], params[1])]
    found = run((2, 2), False, data, h.expand(1, 2, 3), c, *strided, *params[2:])
    for x, y in zip(found, run((2, 2), False, data, h, c, *params), strict=True):
        assert wengert.equal(x, y)
