"""Optimizers by hand-worked numbers, and what surrounds a step: hooks, groups, gradients, states."""

import copy
import pickle

import numpy as np
import pytest

import wengert as torch
from wengert.optim.optimizer import register_optimizer_step_post_hook, register_optimizer_step_pre_hook


def parameter(*values):
    p = torch.nn.Parameter(torch.tensor(values, dtype=torch.float64))
    p.grad = torch.ones_like(p)
    return p


def test_sgd_with_momentum_by_hand():
    p = parameter(1.0)
    optimizer = torch.optim.SGD([p], lr=0.1, momentum=0.9)
    optimizer.step()  # velocity 1
    optimizer.step()  # velocity 1.9
    np.testing.assert_allclose(p.detach().numpy(), [1 - 0.1 - 0.19], rtol=1e-15)


def test_the_first_steps_of_adam_have_the_size_of_the_learning_rate():
    p = parameter(1.0, -2.0)
    p.grad = torch.tensor([1e-3, -50.0], dtype=torch.float64)
    optimizer = torch.optim.Adam([p], lr=0.1, eps=0.0)
    optimizer.step()
    optimizer.step()
    np.testing.assert_allclose(p.detach().numpy(), [0.8, -1.8], rtol=1e-12)


def test_a_step_writes_into_the_parameters_and_tells_saved_values():
    p = parameter(2.0)
    y = p * p
    version = p._version
    data = p.data_ptr()
    torch.optim.SGD([p], lr=0.5).step()
    assert p.data_ptr() == data
    assert p._version == version + 1
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.backward()


@pytest.mark.parametrize("name", ["SGD", "Adam", "AdamW", "NAdam", "RAdam", "Adamax", "Adagrad", "Adadelta", "RMSprop", "Rprop", "ASGD"])
@pytest.mark.parametrize("layout", ["transposed", "every second", "half", "number", "empty"])
def test_parameters_of_any_layout_and_dtype(name, layout):
    start = np.linspace(-1, 1, 12).reshape(3, 4)
    values = {"transposed": start.T, "every second": start[:, ::2], "half": start, "number": start[0, 1], "empty": start[:0]}[layout]
    base = torch.tensor(np.ascontiguousarray(values), dtype=torch.float16 if layout == "half" else torch.float64)
    wanted = torch.nn.Parameter(base.double().clone())
    p = torch.nn.Parameter(base)
    if layout == "transposed":
        p = torch.nn.Parameter(torch.tensor(start).t())
    elif layout == "every second":
        p = torch.nn.Parameter(torch.tensor(start)[:, ::2])
    optimizers = [getattr(torch.optim, name)([x]) for x in (p, wanted)]
    for _ in range(3):
        for x, optimizer in zip((p, wanted), optimizers):
            x.grad = (x.detach() * 0.5 + 1).to(x.dtype)
            optimizer.step()
    tolerance = 2e-2 if layout == "half" else 1e-12
    np.testing.assert_allclose(p.detach().double().numpy(), wanted.detach().numpy(), rtol=tolerance, atol=tolerance)


def test_parameters_without_gradient_are_left_alone():
    p, q = parameter(1.0), parameter(1.0)
    q.grad = None
    optimizer = torch.optim.Adam([p, q])
    optimizer.step()
    assert q.item() == 1.0
    assert list(optimizer.state) == [p]


def test_closures_are_called_with_gradients_enabled():
    p = parameter(1.0)
    optimizer = torch.optim.SGD([p], lr=0.25)

    def closure():
        assert torch.is_grad_enabled()
        optimizer.zero_grad()
        loss = (p * p).sum()
        loss.backward()
        return loss

    with torch.no_grad():
        assert optimizer.step(closure).item() == 1.0
    assert p.item() == 0.5


def test_zero_grad_removes_or_clears():
    p = parameter(1.0)
    optimizer = torch.optim.SGD([p])
    kept = p.grad
    optimizer.zero_grad(set_to_none=False)
    assert p.grad is kept and kept.item() == 0
    optimizer.zero_grad()
    assert p.grad is None


def test_hooks_run_in_order_and_may_change_arguments():
    calls = []
    optimizer = torch.optim.SGD([parameter(1.0)])
    handles = [
        optimizer.register_step_pre_hook(lambda o, args, kwargs: calls.append("pre")),
        optimizer.register_step_post_hook(lambda o, args, kwargs: calls.append("post")),
        register_optimizer_step_pre_hook(lambda o, args, kwargs: calls.append("global pre")),
        register_optimizer_step_post_hook(lambda o, args, kwargs: calls.append("global post")),
    ]
    optimizer.step()
    assert calls == ["global pre", "pre", "post", "global post"]
    for handle in handles:
        handle.remove()
    optimizer.step()
    assert len(calls) == 4
    optimizer.register_step_pre_hook(lambda o, args, kwargs: ((lambda: 3.0,), {}))
    assert optimizer.step() == 3.0
    optimizer.register_step_pre_hook(lambda o, args, kwargs: 5)
    with pytest.raises(RuntimeError, match="must return None or a tuple of \\(new_args, new_kwargs\\), but got 5"):
        optimizer.step()


def test_hooks_of_state_dicts():
    optimizer = torch.optim.SGD([parameter(1.0)], lr=1.0)
    calls = []
    optimizer.register_state_dict_pre_hook(lambda o: calls.append("pre"))
    optimizer.register_state_dict_post_hook(lambda o, d: {**d, "more": 1})
    state = optimizer.state_dict()
    assert (calls, state["more"]) == (["pre"], 1)
    optimizer.register_load_state_dict_pre_hook(lambda o, d: {**d, "param_groups": [{**d["param_groups"][0], "lr": 7.0}]})
    optimizer.register_load_state_dict_post_hook(lambda o: calls.append("loaded"))
    optimizer.load_state_dict(state)
    assert optimizer.param_groups[0]["lr"] == 7.0
    assert calls[-1] == "loaded"


def test_a_refused_state_dict_changes_nothing():
    optimizer = torch.optim.Adam([parameter(1.0)])
    optimizer.step()
    before = copy.deepcopy(optimizer.state_dict())
    other = torch.optim.Adam([parameter(1.0), parameter(2.0)]).state_dict()
    with pytest.raises(ValueError, match="doesn't match the size of optimizer's group"):
        optimizer.load_state_dict(other)
    assert str(optimizer.state_dict()) == str(before)


def test_a_refused_group_changes_nothing():
    p = parameter(1.0)
    optimizer = torch.optim.SGD([p])
    with pytest.raises(ValueError, match="some parameters appear in more than one parameter group"):
        optimizer.add_param_group({"params": [p]})
    assert len(optimizer.param_groups) == 1


def test_optimizers_are_pickled_with_their_state():
    optimizer = torch.optim.Adam([parameter(1.0, 2.0)], lr=0.3)
    optimizer.step()
    again = pickle.loads(pickle.dumps(optimizer))
    assert str(again.state_dict()) == str(optimizer.state_dict())
    again.step()


def test_the_gradient_of_a_learning_rate():
    """Two steps of SGD on p**2 / 2 give p (1 - lr)**2, so the derivative of the last p in lr is -2 (1 - lr)."""
    lr = torch.tensor(0.1, dtype=torch.float64, requires_grad=True)
    p = torch.ones(1, dtype=torch.float64, requires_grad=True).clone()
    optimizer = torch.optim.SGD([p], lr=lr, differentiable=True)
    for _ in range(2):
        p.grad = p.clone()
        optimizer.step()
    (derivative,) = torch.autograd.grad(p.sum(), lr)
    np.testing.assert_allclose(derivative.item(), -1.8, rtol=1e-12)


def test_users_optimizers():
    class Descent(torch.optim.Optimizer):
        def __init__(self, params, lr=torch.optim.optimizer.required):
            super().__init__(params, {"lr": lr})

        @torch.no_grad()
        def step(self, closure=None):
            for group in self.param_groups:
                for p in group["params"]:
                    p -= group["lr"] * p.grad

    p = parameter(1.0)
    with pytest.raises(ValueError, match="parameter group didn't specify a value of required optimization parameter lr"):
        Descent([p])
    optimizer = Descent([p], lr=0.5)
    calls = []
    optimizer.register_step_post_hook(lambda *_: calls.append(1))
    optimizer.step()
    assert p.item() == 0.5
    assert calls == [1]
