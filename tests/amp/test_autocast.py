"""Autocast: which dtypes results and gradients have, how settings nest, and what is left behind."""

import gc
import threading
import weakref

import numpy as np
import pytest

import wengert as torch
from loops import each
from wengert.nn import functional as F
from wengert.utils.checkpoint import checkpoint

DTYPES = (torch.bfloat16, torch.float16)


def weights(*shape, seed=0):
    values = np.random.default_rng(seed).uniform(-1.0, 1.0, shape).astype(np.float32)
    return torch.tensor(values, requires_grad=True)


def rounded(x, dtype):
    """The values of x rounded to dtype, as a NumPy array in float64."""
    return x.detach().to(dtype).double().numpy()


# -- dtypes ------------------------------------------------------------------------------------------------------------


@each("dtype", DTYPES)
def test_product_is_of_rounded_factors_and_is_rounded_once(dtype):
    a, b = weights(5, 7), weights(7, 3, seed=1)
    with torch.autocast("cpu", dtype=dtype):
        product = a @ b
    exact = rounded(a, dtype) @ rounded(b, dtype)
    assert product.dtype is dtype
    step = torch.finfo(dtype).eps * np.abs(exact) + 1e-6
    assert (np.abs(product.detach().double().numpy() - exact) <= step).all()


@each("dtype", DTYPES)
def test_gradients_have_the_dtypes_of_the_inputs(dtype):
    x, layer = weights(4, 3), torch.nn.Linear(3, 2)
    with torch.autocast("cpu", dtype=dtype):
        loss = F.mse_loss(layer(x), torch.zeros(4, 2))
    loss.backward()
    assert loss.dtype is torch.float32
    assert [p.grad.dtype for p in (x, layer.weight, layer.bias)] == [torch.float32] * 3


def test_gradient_of_a_product_is_that_of_rounded_factors():
    a, b = weights(4, 6), weights(6, 5, seed=1)
    with torch.autocast("cpu"):
        (a @ b).sum().backward()
    expected = np.ones((4, 5)) @ rounded(b, torch.bfloat16).T
    assert np.allclose(a.grad.numpy(), expected, rtol=2.0**-8, atol=1e-6)


def test_losses_and_factorisations_are_computed_in_float32():
    x = weights(4, 4).detach().bfloat16()
    with torch.autocast("cpu"):
        assert F.mse_loss(x, x).dtype is torch.float32
        assert F.cross_entropy(x, torch.tensor([0, 1, 2, 3])).dtype is torch.float32
        assert torch.linalg.inv(x).dtype is torch.float32


def test_other_operations_keep_their_dtype():
    x = weights(3, 3)
    with torch.autocast("cpu"):
        assert (x + x).dtype is torch.float32
        assert (x + x.bfloat16()).dtype is torch.float32
        assert torch.relu(x.bfloat16()).dtype is torch.bfloat16
        assert x.sum().dtype is torch.float32


def test_double_complex_and_integers_are_not_cast():
    with torch.autocast("cpu"):
        for dtype in (torch.float64, torch.complex64, torch.int64):
            x = torch.ones(2, 2, dtype=dtype)
            assert (x @ x).dtype is dtype


def test_inputs_of_two_dtypes_are_accepted():
    a = weights(3, 3)
    with torch.autocast("cpu"):
        assert (a @ a.bfloat16()).dtype is torch.bfloat16
        assert torch.cat([a, a.bfloat16()]).dtype is torch.float32
    with pytest.raises(RuntimeError):
        a @ a.bfloat16()


def test_arrays_beside_tensors_are_cast_too():
    a = weights(3, 3)
    with torch.autocast("cpu"):
        assert torch.matmul(a, np.ones((3, 3), np.float32)).dtype is torch.bfloat16


def test_writes_in_place_and_out_are_not_cast():
    a, out = weights(3, 3).detach(), torch.empty(3, 3)
    with torch.autocast("cpu"):
        torch.mm(a, a, out=out)
        total = torch.zeros(3, 3).addmm_(a, a)
    exact = a.numpy() @ a.numpy()
    assert np.allclose(out.numpy(), exact, atol=1e-6)
    assert np.allclose(total.numpy(), exact, atol=1e-6)


def test_casts_are_in_the_graph():
    a = weights(2, 2)
    with torch.autocast("cpu"):
        product = torch.mm(a, a)
    cast = a.to(torch.bfloat16).grad_fn.name()
    assert [node.name() for node, _ in product.grad_fn.next_functions] == [cast] * 2


def test_views_are_recorded_and_follow_their_base():
    a = weights(3, 4)
    with torch.autocast("cpu"):
        (a.t()[0] * 2 + a[:, 1] + a.reshape(4, 3)[:3, 0]).sum().backward()
        base = torch.zeros(4)
        base[1:].add_(1)
    assert a.grad.sum().item() == 3 * 2 + 3 + 3
    assert base.tolist() == [0, 1, 1, 1]


# -- settings ----------------------------------------------------------------------------------------------------------


def test_blocks_nest_and_restore_the_settings():
    a = weights(2, 2)
    with torch.autocast("cpu"):
        with torch.autocast("cpu", enabled=False):
            assert (a @ a).dtype is torch.float32
            assert not torch.is_autocast_enabled("cpu")
            assert torch.get_autocast_dtype("cpu") is torch.bfloat16
            with torch.autocast("cpu", dtype=torch.float16, cache_enabled=False):
                assert (a @ a).dtype is torch.float16
                assert not torch.is_autocast_cache_enabled()
        assert (a @ a).dtype is torch.bfloat16
        assert torch.is_autocast_cache_enabled()
    assert (a @ a).dtype is torch.float32
    assert not torch.is_autocast_enabled("cpu")


def test_block_may_be_entered_again_inside_itself():
    a, block = weights(2, 2), torch.autocast("cpu")
    with block:
        with block:
            pass
        assert (a @ a).dtype is torch.bfloat16
    assert (a @ a).dtype is torch.float32


def test_exception_ends_the_block():
    with pytest.raises(ZeroDivisionError), torch.autocast("cpu"):
        1 / 0  # noqa: B018
    assert not torch.is_autocast_enabled("cpu")


def test_failing_operation_leaves_autocast_on():
    with torch.autocast("cpu"):
        with pytest.raises(RuntimeError, match="mat1 and mat2 shapes cannot be multiplied"):
            torch.ones(2, 3) @ torch.ones(2, 3)
        with pytest.raises(TypeError):
            F.cross_entropy(3, 4)
        assert torch.is_autocast_enabled("cpu")


def test_decorator_holds_for_calls():
    @torch.autocast("cpu")
    def product(x):
        """Doc."""
        return x @ x

    a = weights(2, 2)
    assert (product.__name__, product.__doc__) == ("product", "Doc.")
    assert product(a).dtype is torch.bfloat16
    assert (a @ a).dtype is torch.float32


def test_setting_belongs_to_a_thread():
    found = []
    a = weights(2, 2)

    def work():
        found.append((a @ a).dtype)

    with torch.autocast("cpu"):
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    assert found == [torch.float32]


def test_setting_by_functions():
    a = weights(2, 2)
    torch.set_autocast_enabled("cpu", True)
    torch.set_autocast_dtype("cpu", torch.float16)
    try:
        assert (a @ a).dtype is torch.float16
        assert torch.is_autocast_enabled("cpu")
    finally:
        torch.set_autocast_enabled("cpu", False)
        torch.set_autocast_dtype("cpu", torch.bfloat16)
        torch.clear_autocast_cache()
    assert (a @ a).dtype is torch.float32


def test_grad_mode_that_is_set_inside_a_block_stays():
    with torch.autocast("cpu"):
        torch.set_grad_enabled(False)
    try:
        assert not torch.is_grad_enabled()
        assert not torch.is_autocast_enabled("cpu")
    finally:
        torch.set_grad_enabled(True)


def test_dtype_without_autocast_is_refused():
    with pytest.raises(RuntimeError, match="bfloat16 and torch.float16"):
        torch.set_autocast_dtype("cpu", torch.float32)


def test_gpu_is_disabled_with_a_warning():
    with pytest.warns(UserWarning, match="CUDA is not available"), torch.autocast("cuda"):
        assert not torch.is_autocast_enabled()
    with pytest.warns(UserWarning, match="CUDA is not available"):
        scaler = torch.amp.GradScaler()
    assert not scaler.is_enabled()


# -- kept casts --------------------------------------------------------------------------------------------------------


def cast_of(product):
    """The node of the cast of a product's first factor."""
    return product.grad_fn.next_functions[0][0]


def test_weight_is_cast_once_in_a_block():
    a, x = weights(2, 2), torch.ones(2, 2)
    with torch.autocast("cpu"):
        assert cast_of(torch.mm(a, x)) is cast_of(torch.mm(a, x))
        with torch.autocast("cpu"):
            inner = cast_of(torch.mm(a, x))
        assert inner is cast_of(torch.mm(a, x))
    with torch.autocast("cpu", cache_enabled=False):
        assert cast_of(torch.mm(a, x)) is not cast_of(torch.mm(a, x))


def test_casts_are_freed_at_the_end():
    a = weights(2, 2)
    with torch.autocast("cpu"):
        node = weakref.ref(cast_of(torch.mm(a, a)))
        gc.collect()
        assert node() is not None
    gc.collect()
    assert node() is None


def test_casts_are_freed_at_the_end_of_a_block_although_the_thread_has_settings():
    a = weights(2, 2)
    torch.set_autocast_dtype("cpu", torch.bfloat16)
    with torch.autocast("cpu"):
        node = weakref.ref(cast_of(torch.mm(a, a)))
    gc.collect()
    assert node() is None


def test_write_into_a_weight_is_seen_by_the_next_product():
    a, x = weights(2, 2), torch.eye(2)
    with torch.autocast("cpu"):
        before = a @ x
        with torch.no_grad():
            a.mul_(2)
        assert torch.equal(a @ x, before * 2)
        a.data = torch.zeros(2, 2)
        assert (a @ x).tolist() == [[0, 0], [0, 0]]


def test_cast_in_no_grad_does_not_cut_the_gradient():
    a, x = weights(2, 2), torch.ones(2, 2)
    with torch.autocast("cpu"):
        with torch.no_grad():
            a @ x
        (a @ x).sum().backward()
        first = a.grad.clone()
        (a @ x).sum().backward()
    assert torch.equal(a.grad, first * 2)


def test_cast_in_another_dtype_is_not_used():
    a = weights(2, 2)
    with torch.autocast("cpu", dtype=torch.float16):
        a @ a
        with torch.autocast("cpu", dtype=torch.bfloat16):
            assert (a @ a).dtype is torch.bfloat16


# -- beside other modes ------------------------------------------------------------------------------------------------


def test_no_grad_and_inference_mode():
    a = weights(2, 2)
    with torch.autocast("cpu"):
        with torch.no_grad():
            assert not (a @ a).requires_grad
        with torch.inference_mode():
            assert (a @ a).is_inference()
        assert (a @ a).requires_grad


def test_double_backward():
    a = weights(3, 3)
    with torch.autocast("cpu"):
        loss = (a @ a).float().pow(2).sum()
        (first,) = torch.autograd.grad(loss, a, create_graph=True)
    first.pow(2).sum().backward()
    assert (first.dtype, a.grad.dtype) == (torch.float32, torch.float32)
    wide = a.detach().clone().requires_grad_()
    (expected,) = torch.autograd.grad((wide @ wide).pow(2).sum(), wide, create_graph=True)
    expected.pow(2).sum().backward()
    scale = wide.grad.abs().max().item()
    assert (a.grad - wide.grad).abs().max().item() <= 0.05 * scale


def test_backward_pass_computes_in_the_dtypes_of_its_forward_pass():
    a, b = weights(8, 8), weights(8, 8, seed=1)
    product = a @ b
    outside = torch.autograd.grad(product.sum(), a, retain_graph=True)[0]
    with torch.autocast("cpu"):
        inside = torch.autograd.grad(product.sum(), a)[0]
    assert torch.equal(inside, outside)


def test_hooks_see_the_dtypes_of_their_tensors():
    a, seen = weights(2, 2), []
    with torch.autocast("cpu"):
        product = a @ a
        product.register_hook(lambda g: seen.append(g.dtype))
        a.register_hook(lambda g: seen.append(g.dtype))
    product.sum().backward()
    assert seen == [torch.bfloat16, torch.float32]


@each("reentrant", [False, True])
def test_checkpoint_runs_again_under_the_autocast_of_its_call(reentrant):
    layer, x, seen = torch.nn.Linear(3, 3), weights(2, 3), []

    def block(y):
        z = layer(y)
        seen.append(z.dtype)
        return torch.tanh(z)

    with torch.autocast("cpu"):
        out = checkpoint(block, x, use_reentrant=reentrant)
    out.float().sum().backward()
    assert seen == [torch.bfloat16] * 2
    seen.clear()
    layer.weight.grad = None
    out = checkpoint(block, x, use_reentrant=reentrant)
    with torch.autocast("cpu"):
        out.sum().backward()
    assert seen == [torch.float32] * 2
    assert not torch.is_autocast_enabled("cpu")


def test_function_transforms():
    a = weights(3, 3).detach()
    with torch.autocast("cpu"):
        assert torch.func.grad(lambda w: (a @ w).float().sum())(a).dtype is torch.float32
        assert torch.vmap(lambda row: row @ a.bfloat16(), in_dims=0)(torch.ones(4, 2, 3)).dtype is torch.bfloat16
        value, tangent = torch.func.jvp(lambda x: x @ x, (a,), (a,))
    assert (value.dtype, tangent.dtype) == (torch.bfloat16, torch.bfloat16)
    exact = 2 * a.double().numpy() @ a.double().numpy()
    assert np.allclose(tangent.double().numpy(), exact, atol=0.05)


def test_profiler_shows_the_casts():
    a = weights(2, 2)
    with torch.autograd.profiler.profile() as profile, torch.autocast("cpu"):
        a @ a
    names = [event.name for event in profile.function_events]
    assert any("to" in name or "cast" in name for name in names)


# -- custom Functions --------------------------------------------------------------------------------------------------


def product_function(seen, **settings):
    class Product(torch.autograd.Function):
        @staticmethod
        @torch.amp.custom_fwd(device_type="cpu", **settings)
        def forward(ctx, a, b):
            ctx.save_for_backward(a, b)
            out = a @ b
            seen.append(out.dtype)
            return out

        @staticmethod
        @torch.amp.custom_bwd(device_type="cpu")
        def backward(ctx, grad):
            a, b = ctx.saved_tensors
            seen.append((grad @ b.T).dtype)
            return grad @ b.T, a.T @ grad

    return Product


def test_backward_of_a_function_runs_under_the_autocast_of_its_forward():
    seen, a = [], weights(2, 2)
    function = product_function(seen)
    with torch.autocast("cpu", dtype=torch.float16):
        out = function.apply(a, a)
    out.sum().backward()
    assert seen == [torch.float16, torch.float16]
    seen.clear()
    out = function.apply(a, a)
    with torch.autocast("cpu"):
        out.sum().backward()
    assert seen == [torch.float32, torch.float32]


def test_function_that_casts_its_inputs_runs_without_autocast():
    seen, a = [], weights(2, 2)
    function = product_function(seen, cast_inputs=torch.float32)
    with torch.autocast("cpu"):
        out = function.apply(a.bfloat16(), a)
    out.sum().backward()
    assert seen == [torch.float32, torch.float32]
    assert function.apply(a.double(), a.double()).dtype is torch.float64
    with torch.autocast("cpu"):
        assert function.apply(a.double(), a.double()).dtype is torch.float64


# -- modules -----------------------------------------------------------------------------------------------------------

MODULES = {
    "LSTM": lambda: torch.nn.LSTM(8, 6, 2, bidirectional=True),
    "GRU": lambda: torch.nn.GRU(8, 6),
    "LSTMCell": lambda: torch.nn.LSTMCell(8, 6),
    "TransformerEncoderLayer": lambda: torch.nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0),
    "Conv1d": lambda: torch.nn.Sequential(torch.nn.Conv1d(5, 4, 3), torch.nn.BatchNorm1d(4), torch.nn.PReLU()),
    "Bilinear": lambda: torch.nn.Bilinear(8, 8, 3),
    "weight_norm": lambda: torch.nn.utils.parametrizations.weight_norm(torch.nn.Linear(8, 3)),
}


def loss_of(module, x):
    inputs = [x, x] if isinstance(module, torch.nn.Bilinear) else [x[0]] if isinstance(module, torch.nn.LSTMCell) else [x]
    out = module(*inputs)
    return (out[0] if isinstance(out, tuple) else out).float().pow(2).mean()


@each("name, dtype", [(name, dtype) for name in MODULES for dtype in DTYPES])
def test_modules_have_gradients_near_those_of_float32(name, dtype):
    module, x = MODULES[name](), torch.randn(3, 5, 8)
    loss_of(module, x).backward()
    exact = [p.grad for p in module.parameters()]
    module.zero_grad()
    with torch.autocast("cpu", dtype=dtype):
        loss = loss_of(module, x)
    loss.backward()
    size = max(g.abs().max().item() for g in exact)
    for p, g in zip(module.parameters(), exact, strict=True):
        assert p.grad.dtype is torch.float32
        assert (p.grad - g).abs().max().item() <= 0.05 * size


# -- training ----------------------------------------------------------------------------------------------------------


@each("dtype", DTYPES)
def test_network_learns_under_autocast(dtype):
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(2, 16), torch.nn.ReLU(), torch.nn.LayerNorm(16), torch.nn.Linear(16, 2))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
    x = torch.randn(64, 2)
    labels = (x[:, 0] * x[:, 1] > 0).long()
    scaler = torch.amp.GradScaler("cpu", enabled=dtype is torch.float16)
    for _ in range(60):
        optimizer.zero_grad()
        with torch.autocast("cpu", dtype=dtype):
            loss = F.cross_entropy(model(x), labels)
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
    assert loss.item() < 0.2
