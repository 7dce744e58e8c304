"""Autocast and GradScaler on a GPU: the device of its tensors decides how an operation casts. tests/parity/test_amp.py has torch's dtypes."""

from __future__ import annotations

import numpy as np
import pytest

import device_library
import standin
import wengert as torch
from device_library import on_the_stand_in
from loops import each

F = torch.nn.functional


@pytest.fixture(autouse=True)
def library():
    with device_library.in_use():
        yield


def test_the_device_of_a_tensor_chooses_the_settings():
    a, b = torch.ones(2, 2), torch.ones(2, 2, device="cuda")
    with torch.autocast("cuda"):
        assert (b @ b).dtype is torch.float16 and (a @ a).dtype is torch.float32
        assert torch.is_autocast_enabled() and torch.is_autocast_enabled("cuda") and not torch.is_autocast_enabled("cpu")
        assert torch.get_autocast_dtype("cuda") is torch.float16
        with torch.autocast("cpu"):
            assert (b @ b).dtype is torch.float16 and (a @ a).dtype is torch.bfloat16
            assert (b.half().exp()).dtype is torch.float32 and a.bfloat16().exp().dtype is torch.bfloat16
        with torch.autocast("cuda", enabled=False):
            assert (b @ b).dtype is torch.float32
        assert (a @ a).dtype is torch.float32
    with torch.autocast("cpu"):
        assert (b @ b).dtype is torch.float32 and (a @ a).dtype is torch.bfloat16
    assert not torch.is_autocast_enabled("cuda") and (b @ b).dtype is torch.float32


def test_a_0d_tensor_in_main_memory_is_not_cast():
    half = torch.ones(2, device="cuda", dtype=torch.float16)
    with torch.autocast("cuda"):
        assert torch.addcmul(half, half, torch.tensor(2.0)).dtype is torch.float16
        assert torch.addcmul(half, half, torch.tensor(2.0, device="cuda")).dtype is torch.float32


def test_settings_by_functions():
    b = torch.ones(2, 2, device="cuda")
    torch.set_autocast_enabled("cuda", True)
    try:
        torch.set_autocast_dtype("cuda", torch.float16)
        assert (b @ b).dtype is torch.float16 and not torch.is_autocast_enabled("cpu")
    finally:
        torch.set_autocast_enabled("cuda", False)
    assert (b @ b).dtype is torch.float32 and not torch.is_autocast_enabled("cuda")


def test_old_names_of_autocast():
    b = torch.ones(2, 2, device="cuda")
    with pytest.warns(FutureWarning, match="torch.cuda.amp.autocast"):
        context = torch.cuda.amp.autocast()
    with context:
        assert (b @ b).dtype is torch.float16


def test_gradients_have_the_dtypes_of_the_parameters():
    layer, x = torch.nn.Linear(3, 2).cuda(), torch.randn(4, 3, device="cuda", requires_grad=True)
    with torch.autocast("cuda"):
        y = layer(x)
        loss = F.mse_loss(y, torch.zeros(4, 2, device="cuda"))
    loss.backward()
    assert y.dtype is torch.float16 and loss.dtype is torch.float32
    assert all(p.grad.dtype is torch.float32 and p.grad.is_cuda for p in (x, layer.weight, layer.bias))


class Product(torch.autograd.Function):
    seen: list = []

    @staticmethod
    @torch.amp.custom_fwd(device_type="cuda")
    def forward(ctx, a, b):
        ctx.save_for_backward(a, b)
        return a.mm(b)

    @staticmethod
    @torch.amp.custom_bwd(device_type="cuda")
    def backward(ctx, ct):
        a, b = ctx.saved_tensors
        Product.seen.append((ct.dtype, torch.is_autocast_enabled("cuda"), torch.is_autocast_enabled("cpu"), ct.mm(b.t()).dtype))
        return ct.mm(b.t()), a.t().mm(ct)


class InFloat32(Product):
    @staticmethod
    @torch.amp.custom_fwd(device_type="cuda", cast_inputs=torch.float32)
    def forward(ctx, a, b):
        ctx.save_for_backward(a, b)
        return a.mm(b)


@each("function, dtype, is_on", [(Product, torch.float16, True), (InFloat32, torch.float32, False)])
def test_functions_of_users(function, dtype, is_on):
    a, b = (torch.ones(2, 2, device="cuda", requires_grad=True) for _ in range(2))
    with torch.autocast("cuda"):
        y = function.apply(a, b)
    assert y.dtype is dtype
    with torch.autocast("cpu"):
        y.sum().backward()
    assert Product.seen.pop() == (dtype, is_on, False, dtype) and a.grad.dtype is torch.float32


def train(where, steps=12, bad=None):
    """Train as torch's recipe for mixed precision does. Return the model, the losses and the scales."""
    rng = np.random.default_rng(0)
    x = torch.tensor(rng.normal(size=(32, 6)).astype(np.float32)).to(where)
    target = (x.sum(1) > 0).long()
    torch.manual_seed(1)
    model = torch.nn.Sequential(torch.nn.Linear(6, 16), torch.nn.LayerNorm(16), torch.nn.GELU(), torch.nn.Linear(16, 2)).to(where)
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.02)
    scaler = torch.amp.GradScaler(where, init_scale=2.0**12, growth_interval=5)
    losses, scales, weights = [], [], []
    for step in range(steps):
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast(device_type=where, dtype=torch.float16):
            loss = F.cross_entropy(model(x), target)
        scaler.scale(loss * float("inf") if step == bad else loss).backward()
        scaler.unscale_(optimizer)
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        scaler.step(optimizer)
        scaler.update()
        losses.append(loss.detach())
        weights.append(model[0].weight.detach().clone())
        scales.append(scaler.get_scale())
    return [x.item() for x in losses], scales, weights


def test_a_network_learns_as_it_does_on_the_cpu():
    losses, scales, _ = train("cuda")
    expected, _, _ = train("cpu")
    assert losses[-1] < 0.7 * losses[0] and scales[-1] == 2.0**14
    assert np.allclose(losses, expected, rtol=0.02)


def test_an_overflow_skips_a_step_and_halves_the_scale():
    _, scales, weights = train("cuda", 4, bad=2)
    assert scales == [2.0**12, 2.0**12, 2.0**11, 2.0**11]
    assert torch.equal(weights[2], weights[1]) and not torch.equal(weights[3], weights[2])


@on_the_stand_in
def test_a_step_in_bfloat16_needs_no_scaler_and_waits_for_nothing():
    model = torch.nn.Sequential(
        torch.nn.Linear(6, 16), torch.nn.LayerNorm(16), torch.nn.Dropout(0.1), torch.nn.GELU(), torch.nn.Linear(16, 2)
    ).cuda()
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
    x, target = torch.randn(8, 6, device="cuda"), torch.zeros(8, 2, device="cuda")
    before = standin.waits
    for _ in range(2):
        optimizer.zero_grad()
        with torch.autocast("cuda", dtype=torch.bfloat16):
            scores = model(x)
            loss = F.mse_loss(scores, target)
        loss.backward()
        optimizer.step()
    assert standin.waits == before and scores.dtype is torch.bfloat16 and loss.dtype is torch.float32


@on_the_stand_in
def test_the_library_refuses_what_cupy_refuses_in_bfloat16():
    x = torch.ones(2, 2, 2, device="cuda", dtype=torch.bfloat16)._array
    for call in (
        lambda: standin.matmul(x, x), lambda: standin.linalg.inv(x), lambda: standin.fft.fft(x), lambda: standin.divmod(x, x),
        lambda: x.sort(), lambda: x.cumsum(), lambda: x.any(), lambda: standin.clip(x, 0, 1), lambda: standin.round(x),
    ):  # fmt: skip
        with pytest.raises(TypeError, match="does not take bfloat16"):
            call()
    assert standin.matmul(x[0], x[0]).dtype == x.dtype == standin.exp(x).dtype == x.sum().dtype
    assert torch.cuda.is_bf16_supported() and torch.cuda.is_bf16_supported(including_emulation=False)


@on_the_stand_in
def test_products_of_16_bits_are_added_up_in_float32():
    n = 4096  # 1 + 1 + ... ends at 256 in bfloat16, at 2048 in float16
    for dtype in (torch.bfloat16, torch.float16):
        x = torch.ones(2, n, device="cuda", dtype=dtype)
        launches = standin.launches
        assert (x @ x.t()).tolist() == [[n, n], [n, n]] and standin.launches == launches + 1
        assert torch.nn.functional.linear(x, x).tolist() == torch.stack([x, x]).bmm(torch.stack([x.t(), x.t()]))[0].tolist() == [[n, n], [n, n]]
        assert x.sum().item() == 2 * n and x.mean().item() == 1


@on_the_stand_in
def test_a_step_of_mixed_precision_waits_once():
    model = torch.nn.Sequential(torch.nn.Linear(6, 16), torch.nn.Dropout(0.1), torch.nn.ReLU(), torch.nn.Linear(16, 2)).cuda()
    optimizer, scaler = torch.optim.SGD(model.parameters(), lr=0.1), torch.amp.GradScaler("cuda")
    x, target = torch.randn(8, 6, device="cuda"), torch.zeros(8, 2, device="cuda")
    found = []
    for _ in range(3):
        before = standin.waits
        optimizer.zero_grad()
        with torch.autocast("cuda"):
            loss = F.mse_loss(model(x), target)
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        scaler.step(optimizer)
        scaler.update()
        found.append(standin.waits - before)
    assert found[1:] == [1, 1]
