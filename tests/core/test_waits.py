"""Programs on a device wait for it only where they ask for a number: counted on the stand-in. And late checks of indices."""

from __future__ import annotations

import pytest

import standin
import wengert as torch
from device_library import on_the_stand_in

F = torch.nn.functional
pytestmark = on_the_stand_in


@pytest.fixture(autouse=True)
def library():
    with standin.in_use():
        yield


@pytest.fixture
def waited():
    """Return how often the program has waited since the last call."""
    last = standin.waits

    def count() -> int:
        nonlocal last
        found, last = standin.waits - last, standin.waits
        return found

    return count


def model():
    torch.manual_seed(0)
    return torch.nn.Sequential(
        torch.nn.Embedding(10, 6), torch.nn.Flatten(), torch.nn.Linear(12, 8), torch.nn.BatchNorm1d(8), torch.nn.GELU(),
        torch.nn.Dropout(0.1), torch.nn.LayerNorm(8), torch.nn.Linear(8, 3),
    ).to("cuda")  # fmt: skip


def batch():
    return torch.randint(0, 10, (5, 2)).cuda(), torch.tensor([0, 1, 2, 1, 0]).cuda()


NAMES = [
    "SGD", "Adam", "AdamW", "RMSprop", "Adagrad", "Adadelta", "Adamax", "NAdam", "RAdam", "ASGD", "Rprop", "Adafactor",
]  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_a_training_step_waits_for_nothing(name, waited):
    net = model()
    optimizer = getattr(torch.optim, name)(net.parameters(), lr=0.01)
    x, target = batch()
    waited()
    for _ in range(2):
        optimizer.zero_grad()
        F.cross_entropy(net(x), target).backward()
        optimizer.step()
    assert waited() == 0
    assert F.cross_entropy(net(x), target).item() > 0 and waited() >= 1


def test_every_optimizer_is_looked_at():
    missing = {
        name for name in dir(torch.optim)
        if isinstance(getattr(torch.optim, name), type) and issubclass(getattr(torch.optim, name), torch.optim.Optimizer)
    } - set(NAMES)  # fmt: skip
    # LBFGS searches along a line and asks for numbers; SparseAdam wants sparse gradients; Muon asks for the norm of a matrix.
    assert missing <= {"Optimizer", "LBFGS", "SparseAdam", "Muon"}


def test_gradients_add_up_and_are_clipped_without_waiting(waited):
    net = model()
    x, target = batch()
    F.cross_entropy(net(x), target).backward()
    waited()
    F.cross_entropy(net(x), target).backward()
    norm = torch.nn.utils.clip_grad_norm_(net.parameters(), 0.5)
    torch.nn.utils.clip_grad_value_(net.parameters(), 0.1)
    assert waited() == 0 and norm.is_cuda and all(p.grad.is_cuda for p in net.parameters())


def test_a_gradient_scaler_waits_once_a_step_as_torchs_does(waited):
    net, scaler = model(), torch.amp.GradScaler("cuda", init_scale=8.0)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    x, target = batch()
    for step in range(3):
        waited()
        optimizer.zero_grad()
        scaler.scale(F.cross_entropy(net(x), target)).backward()
        scaler.step(optimizer)
        scaler.update()
        assert waited() <= 2, step  # whether gradients are finite, and then, with nothing to wait for, the late checks
    assert scaler.get_scale() == 8.0


def test_batches_go_to_a_device_without_waiting(waited):
    data = torch.utils.data.TensorDataset(torch.arange(12.0).reshape(6, 2), torch.arange(6))
    for x, y in torch.utils.data.DataLoader(data, batch_size=2, pin_memory=True):
        assert x.is_pinned() and y.is_pinned()
        x, y = x.to("cuda", non_blocking=True), y.cuda(non_blocking=True)
        (x * y[:, None]).sum()
    assert waited() == 0


def test_gradients_stay_where_they_are_made(waited):
    x = torch.randn(4, device="cuda", requires_grad=True)
    launches = standin.launches
    for _ in range(3):
        torch.sigmoid(x).backward(torch.ones(4, device="cuda"))
    assert waited() == 0 and x.grad.is_cuda
    # Each time: ones, sigmoid, its rule, and from the second one on a sum in place.
    assert standin.launches - launches == 3 + 3 + 3 + 2


@pytest.mark.parametrize(
    "run",
    [
        lambda x, i: x.gather(0, i), lambda x, i: x.index_select(0, i), lambda x, i: x.scatter(0, i, x), lambda x, i: x[i],
        lambda x, i: F.embedding(i, x.reshape(-1, 1)), lambda x, i: F.nll_loss(x.reshape(1, -1).expand(3, -1), i),
        lambda x, i: F.cross_entropy(x.reshape(1, -1).expand(3, -1), i), lambda x, i: x.index_add(0, i, x[:3]),
    ],
)  # fmt: skip
def test_an_index_out_of_range_is_seen_when_the_program_waits(run, waited):
    x = torch.arange(4.0, device="cuda")
    good, bad = torch.tensor([0, 3, 1]).cuda(), torch.tensor([0, 4, 1]).cuda()
    assert run(x, good).sum().isfinite().item()
    waited()
    found = run(x, bad)
    assert waited() == 0
    with pytest.raises(IndexError, match="index out of range in self: in an operation on cuda:0. Hint:"):
        found.sum().item()
    assert found.shape == run(x, good).shape and found.sum().cpu() is not None  # it is said once
    run(x, bad)
    with pytest.raises(IndexError, match="index out of range"):
        torch.cuda.synchronize()


def test_probabilities_out_of_range_are_seen_when_the_program_waits():
    loss = F.binary_cross_entropy(torch.tensor([0.5, 1.5]).cuda(), torch.ones(2, device="cuda"))
    with pytest.raises(IndexError, match="all elements of input should be between 0 and 1"):
        loss.item()


def test_a_class_that_is_ignored_counts_as_on_the_cpu():
    torch.manual_seed(0)
    scores, target = torch.randn(4, 3), torch.tensor([0, -100, 2, -100])
    for reduction in ("mean", "sum", "none"):
        results = []
        for where in ("cpu", "cuda"):
            x = scores.to(where).clone().requires_grad_()
            loss = F.cross_entropy(x, target.to(where), reduction=reduction)
            loss.backward(torch.ones_like(loss))
            results.append((loss.cpu().tolist(), x.grad.cpu().tolist()))
        assert str(results[0]) == pytest.approx(str(results[1])) or results[0][0] == pytest.approx(results[1][0])
        torch.testing.assert_close(torch.tensor(results[0][1]), torch.tensor(results[1][1]))
    none = F.cross_entropy(scores.cuda(), torch.full((4,), -100).cuda())
    assert none.isnan().item()
