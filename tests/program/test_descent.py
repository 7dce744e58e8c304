"""Products that take the step of gradient descent with the gradient that they compute."""

from __future__ import annotations

import numpy as np
import pytest

import wengert as torch
from wengert.kernels import native

pytestmark = pytest.mark.skipif(native is None, reason="nothing is compiled")


def training(shape, compiled, dtype=torch.float32, batch=24, **options):
    """A step of a layer without bias, its optimizer and its weight. The gradient has `shape`."""
    rng = np.random.default_rng(0)
    w = torch.tensor(rng.normal(size=shape), dtype=dtype, requires_grad=True)
    x = torch.tensor(rng.normal(size=(batch, shape[1])), dtype=dtype)
    optimizer = torch.optim.SGD([w], **{"lr": 0.1, **options})

    def step(scale):
        optimizer.zero_grad()
        loss = (torch.tanh(torch.nn.functional.linear(x, w)) * scale).sum()
        loss.backward()
        optimizer.step()
        return loss.detach()

    return (torch.compile(step, fullgraph=True, options={"exact": True}) if compiled else step), optimizer, w


def names(step):
    return [x.name for x in step.programs()[0].instructions]


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("shape", [(256, 256), (300, 257), (1, 40_000), (40_000, 3), (133, 1000)])
def test_weights_and_gradients_are_eagers(shape, dtype, threads):
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        (eager, eager_optimizer, v), (compiled, optimizer, w) = (training(shape, c, dtype) for c in (False, True))
        for i in range(4):
            for o in (eager_optimizer, optimizer):
                o.param_groups[0]["lr"] = 0.1 / (i + 1)
            scale = torch.tensor(float(i), dtype=dtype)
            assert eager(scale).item() == compiled(scale).item()
            assert v.detach().numpy().tobytes() == w.detach().numpy().tobytes() and v._version == w._version
            assert v.grad.numpy().tobytes() == w.grad.numpy().tobytes()
    finally:
        torch.set_num_threads(before)
    assert "matmul+SGD.step" in names(compiled)


@pytest.mark.parametrize("options", [{"momentum": 0.9}, {"weight_decay": 0.1}, {"maximize": True}])
def test_other_steps_stay_apart(options):
    (eager, _, v), (compiled, _, w) = (training((256, 256), c, **options) for c in (False, True))
    for i in range(3):
        assert eager(torch.tensor(float(i))).item() == compiled(torch.tensor(float(i))).item()
    assert v.detach().numpy().tobytes() == w.detach().numpy().tobytes()
    assert "SGD.step" in names(compiled)


def test_small_gradients_stay_apart():
    compiled = training((16, 16), True)[0]
    for _ in range(2):
        compiled(torch.tensor(1.0))
    assert "SGD.step" in names(compiled)


def test_a_gradient_that_is_clipped_is_no_product():
    w = torch.ones(256, 256, requires_grad=True)
    x = torch.rand(8, 256)
    optimizer = torch.optim.SGD([w], lr=0.1)

    @torch.compile
    def step():
        optimizer.zero_grad()
        (x @ w).sum().backward()
        w.grad.clamp_(-3.0, 3.0)
        optimizer.step()

    for i in range(4):
        step()
        expected = np.clip(np.broadcast_to(x.numpy().sum(0)[:, None], (256, 256)), -3, 3)
        np.testing.assert_allclose(w.detach().numpy(), 1 - 0.1 * (i + 1) * expected, rtol=1e-5)


def test_a_gradient_of_two_uses_is_the_whole_sum():
    (w, v) = (torch.eye(256).requires_grad_() for _ in range(2))
    x = torch.rand(8, 256)

    def make(w):
        optimizer = torch.optim.SGD([w], lr=0.1)

        def step():
            optimizer.zero_grad()
            (x @ w @ w).square().mean().backward()
            optimizer.step()

        return step

    eager, compiled = make(w), torch.compile(make(v), fullgraph=True, options={"exact": True})
    for _ in range(4):
        eager()
        compiled()
    np.testing.assert_array_equal(w.detach().numpy(), v.detach().numpy())


def test_a_parameter_whose_memory_is_not_writeable_is_left_alone():
    array = np.ones((256, 256), np.float32)
    w = torch.from_numpy(array).requires_grad_()
    optimizer = torch.optim.SGD([w], lr=0.1)
    x = torch.rand(8, 256)

    @torch.compile
    def step():
        optimizer.zero_grad()
        (x @ w).sum().backward()
        optimizer.step()

    for _ in range(3):
        step()
    before = array.copy()
    array.flags.writeable = w._array.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        step()
    np.testing.assert_array_equal(array, before)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shape", [(1, 1, 1), (70, 300, 90), (5, 0, 3), (0, 4, 3), (200, 10, 130)])
def test_the_function_of_kernels(shape, dtype):
    """In each size of products: the gradient is that of the product, the parameter loses rate times it."""
    m, k, n = shape
    rng = np.random.default_rng(0)
    x, y, p = (rng.normal(size=s).astype(dtype) for s in ((m, k), (k, n), (m, n)))
    product = native.apply(native.find("product"), (x, y))
    expected = p - dtype(0.3) * (x @ y if product is None else product)
    found = native.apply(native.find("descend"), (x, y, p, 0.3))
    if found is not None:
        np.testing.assert_array_equal(found, product)
        np.testing.assert_array_equal(p, expected)
    refused = native.apply(native.find("descend"), (x, y, np.asfortranarray(rng.normal(size=(m, n)).astype(dtype)).T, 0.3))
    assert refused is None or m == n


def test_a_bias_is_added_to_the_finished_product():
    rng = np.random.default_rng(0)
    layer = native.find("layer")
    for m, k, n in ((3, 4, 5), (64, 784, 256), (40, 600, 33), (9, 0, 3)):
        x, w, bias = (rng.normal(size=s).astype("f") for s in ((m, k), (n, k), (n,)))
        product = native.apply(native.find("product_xt"), (x, w))
        for b in (bias, np.repeat(bias, 2)[::2]):
            found = native.apply(layer, (x, w, b))
            if found is not None:
                np.testing.assert_array_equal(found, product + bias)
        assert native.apply(layer, (x, w, rng.normal(size=n + 1).astype("f"))) is None
