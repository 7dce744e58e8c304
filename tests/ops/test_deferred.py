"""Forwards and rules on deferred arrays: how many kernels they start on a device, and that writes keep their order.

tests/ops/test_on_device.py compares the values and derivatives of all operations with the CPU's."""

from __future__ import annotations

import numpy as np
import pytest

import standin
import wengert as torch
from device_library import on_the_stand_in
from wengert.ops import deferred

F = torch.nn.functional
pytestmark = on_the_stand_in


@pytest.fixture(autouse=True)
def library():
    with standin.in_use():
        yield


def launches(run):
    """Return the result of run() and how many kernels it starts, counted by the streams."""
    stream = standin.current_stream()
    before = stream.before.get(stream.number, 0)
    found = run()
    return found, stream.before.get(stream.number, 0) - before


def vectors():
    w, b = (torch.ones(4, device="cuda", requires_grad=True) for _ in range(2))
    return w, b, torch.zeros(4, device="cuda"), torch.ones(4, device="cuda")


# Kernels of the forward and of the rules, without the additions into .grad.
CASES = {
    "mse_loss": (lambda x, y: F.mse_loss(x, y), 3, 1),
    "smooth_l1_loss": (lambda x, y: F.smooth_l1_loss(x, y), 2, 1),
    "binary_cross_entropy_with_logits": (lambda x, y: F.binary_cross_entropy_with_logits(x, y), 2, 1),
    "softmax": (lambda x, y: F.softmax(x, 1), 3, 2),
    "log_softmax": (lambda x, y: F.log_softmax(x, 1), 3, 2),
    "layer_norm": (lambda x, y: F.layer_norm(x, (4,), *vectors()[:2]), 5, 8),
    "group_norm": (lambda x, y: F.group_norm(x, 2), 5, 7),
    "norm": (lambda x, y: x.norm(), 2, 1),
    "var": (lambda x, y: x.var(0), 6, 2),
}


@pytest.mark.parametrize("name", CASES)
def test_a_function_starts_few_kernels(name):
    run, forward, backward = CASES[name]
    x, y = torch.rand(6, 4, device="cuda", requires_grad=True), torch.rand(6, 4, device="cuda")
    extra = launches(vectors)[1] if name == "layer_norm" else 0
    run(x, y)
    out, count = launches(lambda: run(x, y))
    assert count - extra <= forward, "forward"
    ct = torch.ones_like(out)
    waits = standin.waits
    assert launches(lambda: torch.autograd.grad(out, x, ct))[1] <= backward, "backward"
    assert standin.waits == waits


def test_batch_norm_in_training_updates_its_statistics_by_one_kernel_each():
    w, b, mean, var = vectors()
    x = torch.rand(6, 4, device="cuda")
    _, count = launches(lambda: F.batch_norm(x, mean, var, w, b, training=True))
    assert count <= 10
    np.testing.assert_allclose(mean.cpu().numpy(), 0.1 * x.cpu().numpy().mean(0), rtol=1e-5)
    np.testing.assert_allclose(var.cpu().numpy(), 0.9 + 0.1 * x.cpu().numpy().var(0, ddof=1), rtol=1e-5)


def test_shapes_and_numbers_share_their_kernels():
    def run(n, eps):
        F.layer_norm(torch.rand(3, n, device="cuda"), (n,), eps=eps)

    run(4, 1e-5)
    before = len(deferred._kernels)
    for n in range(5, 9):
        run(n, n * 1e-3)
    assert len(deferred._kernels) == before


def deferred_run(function, *arrays):
    """Return function(xp, *arrays) on deferred arrays, and how many kernels it starts."""
    xp = deferred.deferring(standin)
    given = [standin.from_host(np.array(x)) for x in arrays]
    found, count = launches(lambda: deferred.run(xp, function, xp, given, {}))
    return standin.to_host(found).tolist(), count


def test_an_expression_keeps_the_values_that_it_was_made_of():
    def forward(xp, x):
        y = x * 2.0
        own = xp.exp(x)
        before = own + 1.0
        own += y  # an expression that another one reads
        buffer = xp.zeros(3, xp.float64)
        late = buffer + x
        buffer[...] = own  # an array that another one reads
        return before * 0.0 + late + buffer * 0.0 + (own - own)

    found, _ = deferred_run(forward, [1.0, 2.0, 3.0])
    assert found == [1.0, 2.0, 3.0]


def test_a_view_sees_writes_into_its_array():
    def forward(xp, x):
        y = x + 1.0
        row = y[:2]
        y *= 3.0
        return row + 0.0

    assert deferred_run(forward, [1.0, 2.0, 3.0])[0] == [6.0, 9.0]


def test_conditions_choose_in_the_kernel():
    def forward(xp, x):
        mask = x > 1.5
        mask &= x < 2.5
        xp.copyto(y := x * 2.0, -1.0, where=mask)
        return xp.where(xp.isnan(y), 0.0, y)

    assert deferred_run(forward, [1.0, 2.0, 3.0]) == ([2.0, -1.0, 6.0], 1)


def test_long_expressions_are_split():
    def forward(xp, *arrays):
        total = arrays[0]
        for x in arrays[1:]:
            total = total + x * x
        return total

    found, count = deferred_run(forward, *[[float(i)] for i in range(40)])
    assert found == [float(sum(i * i for i in range(1, 40)))] and 1 < count < 12


def test_other_dtypes_and_empty_arrays_keep_the_calls_of_the_library():
    for x in (torch.tensor([[1 + 1j, 2.0]], device="cuda"), torch.zeros(0, 3, device="cuda"), torch.ones(2, 2, device="cuda").half()):
        out = x.var(1)
        expected = np.var(x.cpu().numpy().astype(np.complex64 if x.is_complex() else np.float32), 1, ddof=1)
        np.testing.assert_allclose(out.cpu().numpy(), expected, rtol=1e-3)
        assert out.dtype is (torch.float32 if x.is_complex() else x.dtype)


def test_a_deferred_array_is_no_array_of_numpy():
    def forward(xp, x):
        with pytest.raises(TypeError, match="meets NumPy"):
            np.asarray(x + 1.0)
        with pytest.raises(TypeError):
            np.exp(x + 1.0)
        assert len(x) == 2 and [float(v) for v in x] == [1.0, 2.0] and bool(x[0] == 1.0) and int(x[1]) == 2
        return x

    assert deferred_run(forward, [1.0, 2.0])[0] == [1.0, 2.0]
