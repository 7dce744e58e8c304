"""The gradient of a loss that reads one class a row of log_softmax: the same however the numbers are read, and whoever looks."""

from __future__ import annotations

import numpy as np
import pytest

import wengert
from wengert.nn import functional as F

LABELS = np.array([2, 0, 2, 4])
ROWS = np.arange(4)

# Each reads log-probabilities, (4, 5), at the labels' places, and adds up.
READS = {
    "gather": lambda y: y.gather(1, wengert.tensor(LABELS[:, None])).sum(),
    "gather-last": lambda y: y.gather(-1, wengert.tensor(LABELS[:, None])).sum(),
    "index": lambda y: y[wengert.tensor(ROWS), wengert.tensor(LABELS)].sum(),
    "index-array": lambda y: y[ROWS, LABELS].sum(),
    "mask": lambda y: y[wengert.tensor(LABELS[:, None] == np.arange(5))].sum(),
    "elements": lambda y: sum(y[i, int(c)] for i, c in enumerate(LABELS)),
    "rows": lambda y: sum(row[int(c)] for row, c in zip(y, LABELS, strict=True)),
    "nll": lambda y: -F.nll_loss(y, wengert.tensor(LABELS), reduction="sum"),
    "nll-mean": lambda y: -4 * F.nll_loss(y, wengert.tensor(LABELS)),
    "nll-none": lambda y: -F.nll_loss(y, wengert.tensor(LABELS), reduction="none").sum(),
    "take": lambda y: y.take(wengert.tensor(ROWS * 5 + LABELS)).sum(),
    "flat": lambda y: y.reshape(-1).index_select(0, wengert.tensor(ROWS * 5 + LABELS)).sum(),
}


def scores(dtype=np.float64):
    return wengert.tensor(np.random.default_rng(0).normal(0, 2, (4, 5)).astype(dtype), requires_grad=True)


def exact(x, counts=1.0):
    """The gradient of the sum over rows of counts times log(softmax(x))[label]."""
    x = x.detach().numpy().astype("f8")
    softmax = np.exp(x - x.max(1, keepdims=True))
    softmax /= softmax.sum(1, keepdims=True)
    return np.asarray(counts).reshape(-1, 1) * ((LABELS[:, None] == np.arange(5)) - softmax)


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16])
@pytest.mark.parametrize("read", READS)
def test_the_gradient_agrees_with_the_formula(read, dtype):
    x = scores(dtype)
    READS[read](x.log_softmax(1)).backward()
    assert x.grad.dtype == x.dtype
    np.testing.assert_allclose(x.grad.numpy(), exact(x), atol={2: 5e-3, 4: 1e-6, 8: 1e-14}[x.itemsize])


@pytest.mark.parametrize("read", READS)
def test_losses_read_along_columns(read):
    x = scores()
    y = wengert.tensor(x.detach().numpy().T.copy(), requires_grad=True)
    READS[read](y.log_softmax(0).T).backward()
    np.testing.assert_allclose(y.grad.numpy().T, exact(x), atol=1e-14)


@pytest.mark.parametrize("read", READS)
def test_a_gradient_of_the_gradient(read):
    x = scores()
    (first,) = wengert.autograd.grad(READS[read](x.log_softmax(1)), x, create_graph=True)
    np.testing.assert_allclose(first.detach().numpy(), exact(x), atol=1e-14)
    assert wengert.autograd.gradcheck(lambda x: wengert.autograd.grad(READS[read](x.log_softmax(1)), x, create_graph=True)[0], x)


@pytest.mark.parametrize("read", READS)
def test_the_gradient_of_the_log_probabilities_is_there_for_who_asks(read):
    chosen = np.where(LABELS[:, None] == np.arange(5), 1.0, 0.0)
    x = scores()
    y = x.log_softmax(1)
    y.retain_grad()
    seen = []
    y.register_hook(lambda g: seen.append(g.numpy().copy()))
    y.grad_fn.register_prehook(lambda grads: seen.append(grads[0].numpy().copy()))
    y.grad_fn.register_hook(lambda _, grads: seen.append(grads[0].numpy().copy()))
    READS[read](y).backward()
    np.testing.assert_allclose(y.grad.numpy(), chosen)
    assert [part.shape for part in seen] == [(4, 5)] * 3
    np.testing.assert_allclose(seen[0], chosen)
    np.testing.assert_allclose(seen[1], seen[0])
    np.testing.assert_allclose(x.grad.numpy(), exact(x), atol=1e-14)
    both = wengert.autograd.grad(READS[read](y := x.log_softmax(1)), [y, x])
    np.testing.assert_allclose(both[0].numpy(), chosen)
    np.testing.assert_allclose(both[1].numpy(), exact(x), atol=1e-14)


@pytest.mark.parametrize("read", READS)
def test_a_hook_set_by_another_hook_sees_all_of_it(read):
    x = scores()
    y = x.log_softmax(1)
    seen = []
    total = READS[read](y)
    total.register_hook(lambda g: y.register_hook(lambda g: seen.append(g.shape)) and None)
    total.backward()
    assert seen == [(4, 5)]


def test_gradients_of_repeated_reads_and_other_uses_add_up():
    x = scores()
    y = x.log_softmax(1)
    index = wengert.tensor(np.repeat(LABELS[:, None], 3, 1))
    (y.gather(1, index).sum() + y.exp().sum()).backward()  # the exponentials' sum is constant
    np.testing.assert_allclose(x.grad.numpy(), exact(x, 3.0), atol=1e-14)
    x.grad = None
    x.log_softmax(1).gather(1, index).sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), exact(x, 3.0), atol=1e-14)


def test_weights_and_ignored_targets():
    x = scores()
    weight = np.array([0.5, 1.0, 2.0, 3.0, 4.0])
    target = np.where(np.arange(4) == 1, -100, LABELS)
    F.nll_loss(x.log_softmax(1), wengert.tensor(target), wengert.tensor(weight), reduction="sum").backward()
    counts = np.where(np.arange(4) == 1, 0.0, weight[LABELS])
    np.testing.assert_allclose(x.grad.numpy(), -exact(x, counts), atol=1e-14)


@pytest.mark.parametrize("read", READS)
def test_of_a_selection(read):
    x = scores()
    taken = wengert.tensor(LABELS > 1)
    chosen = wengert.where(taken[:, None], x, wengert.zeros_like(x)).log_softmax(1)
    READS[read](wengert.where(taken[:, None], chosen, wengert.full_like(x, 7.0))).backward()
    np.testing.assert_allclose(x.grad.numpy(), exact(x, np.where(LABELS > 1, 1.0, 0.0)), atol=1e-14)


def test_infinite_and_undefined_cotangents_reach_their_row_alone():
    x = scores()
    x.log_softmax(1).gather(1, wengert.tensor(LABELS[:, None])).backward(wengert.tensor([[1.0], [np.inf], [np.nan], [0.0]], dtype=x.dtype))
    grad = x.grad.numpy()
    np.testing.assert_allclose(grad[0], exact(x)[0], atol=1e-14)
    assert np.isnan(grad[1][LABELS[1]]) and np.isneginf(np.delete(grad[1], LABELS[1])).all()
    assert np.isnan(grad[2]).all() and not grad[3].any()


@pytest.mark.parametrize("shapes", [False, True])
def test_a_profiler_sees_the_shapes(shapes):
    x = scores()
    loss = READS["gather"](x.log_softmax(1))
    with wengert.autograd.profiler.profile(record_shapes=shapes, profile_memory=True) as profile:
        loss.backward()
    assert any("LogSoftmax" in event.name for event in profile.function_events)
    np.testing.assert_allclose(x.grad.numpy(), exact(x), atol=1e-14)


@pytest.mark.filterwarnings("ignore:Anomaly Detection")
def test_anomaly_detection_sees_arrays():
    x = scores()
    with wengert.autograd.detect_anomaly():
        READS["nll"](x.log_softmax(1)).backward()
    np.testing.assert_allclose(x.grad.numpy(), exact(x), atol=1e-14)
