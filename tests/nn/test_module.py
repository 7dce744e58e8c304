"""Module by hand: what it registers, what a call runs, what a failed load leaves, and what is loaded when."""

from __future__ import annotations

import copy
import gc
import pickle
import subprocess
import sys
import weakref
from importlib import import_module

import pytest

import wengert
from wengert import nn


class Scale(nn.Module):
    def __init__(self, value=2.0):
        super().__init__()
        self.factor = nn.Parameter(wengert.tensor([value]))
        self.register_buffer("calls", wengert.tensor(0))
        self.register_buffer("last", None, persistent=False)

    def forward(self, x, shift=0.0):
        return x * self.factor + shift


def test_members_are_registered():
    model = nn.Sequential(Scale(), nn.Sequential(Scale(3.0)))
    assert [name for name, _ in model.named_parameters()] == ["0.factor", "1.0.factor"]
    assert list(model.state_dict()) == ["0.factor", "0.calls", "1.0.factor", "1.0.calls"]
    assert [name for name, _ in model.named_modules()] == ["", "0", "1", "1.0"]
    assert model(wengert.tensor([1.0])).item() == 6.0


def test_tied_parameters_are_found_once():
    model = nn.ModuleList([Scale(), Scale()])
    model[1].factor = model[0].factor
    assert len(list(model.parameters())) == 1
    assert len(list(model.named_parameters(remove_duplicate=False))) == 2


def test_a_parameter_shares_memory_and_gives_tensors():
    data = wengert.zeros(2)
    parameter = nn.Parameter(data)
    data.add_(1)
    assert parameter.tolist() == [1.0, 1.0]
    assert type(parameter * 2) is wengert.Tensor
    assert isinstance(parameter, wengert.Tensor)
    for other in (copy.deepcopy(parameter), pickle.loads(pickle.dumps(parameter))):
        assert type(other) is nn.Parameter
        assert other.requires_grad


def test_linear_is_worked_by_hand():
    layer = nn.Linear(2, 1)
    with wengert.no_grad():
        layer.weight.copy_(wengert.tensor([[3.0, 4.0]]))
        layer.bias.fill_(5.0)
    output = layer(wengert.tensor([[1.0, 2.0], [0.0, 1.0]]))
    assert output.tolist() == [[16.0], [9.0]]
    output.sum().backward()
    assert layer.weight.grad.tolist() == [[1.0, 3.0]]
    assert layer.bias.grad.tolist() == [2.0]


def test_hooks_run_in_their_order():
    seen = []
    model = Scale()
    model.register_forward_pre_hook(lambda module, args: seen.append("before") or (args[0] + 1,))
    model.register_forward_hook(lambda module, args, output: seen.append("after") or output * 10)
    handle = model.register_full_backward_hook(lambda module, inputs, outputs: seen.append("backward") or (inputs[0] * 7,))
    x = wengert.tensor([1.0], requires_grad=True)
    y = model(x)
    assert y.item() == 40.0
    y.backward()
    assert seen == ["before", "after", "backward"]
    assert x.grad.item() == 140.0
    handle.remove()
    seen.clear()
    model(x).backward()
    assert seen == ["before", "after"]


@pytest.mark.parametrize("assign", [False, True])
def test_a_state_dict_that_does_not_fit_changes_nothing(assign):
    model = nn.Sequential(Scale(1.0), nn.BatchNorm1d(3), Scale(2.0))
    before = {name: value.clone() for name, value in model.state_dict().items()}
    good = {name: value + 1 for name, value in before.items()}
    for bad in (
        {**good, "2.factor": wengert.ones(2)},
        {**good, "more": wengert.ones(1)},
        {name: value for name, value in good.items() if name != "2.calls"},
        {**good, "2.factor": 3},
    ):
        with pytest.raises(RuntimeError, match="loading state_dict for Sequential"):
            model.load_state_dict(bad, assign=assign)
        for name, value in model.state_dict().items():
            assert value.tolist() == before[name].tolist()
    model.load_state_dict(good, assign=assign)
    assert model[0].factor.tolist() == [2.0]


def test_loading_with_code_of_users_runs_it_once():
    class Renamed(Scale):
        calls_of_hook = 0

        def _load_from_state_dict(self, state_dict, prefix, *rest):
            Renamed.calls_of_hook += 1
            state_dict[prefix + "factor"] = state_dict.pop(prefix + "old")
            super()._load_from_state_dict(state_dict, prefix, *rest)

    model = Renamed()
    model.load_state_dict({"old": wengert.tensor([9.0]), "calls": wengert.tensor(0)})
    assert (model.factor.item(), Renamed.calls_of_hook) == (9.0, 1)


def test_modules_die_without_the_collector():
    gc.disable()
    try:
        model = nn.Sequential(nn.Linear(2, 2), nn.LSTM(2, 3), nn.TransformerEncoderLayer(2, 1, 4))
        model[0](wengert.ones(1, 2)).sum().backward()
        reference = weakref.ref(model)
        del model
        assert reference() is None
    finally:
        gc.enable()


def test_nothing_is_loaded_before_it_is_named():
    code = (
        "import sys, wengert, wengert.nn.functional\n"
        "print([m for m in sys.modules if m.startswith('wengert.nn.') and m != 'wengert.nn.functional'])\n"
        "wengert.nn.Linear\n"
        "print('wengert.nn.modules.conv' in sys.modules, 'wengert.nn.modules.linear' in sys.modules)"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.splitlines()
    assert found == ["[]", "False True"]


def test_the_list_of_layers_is_that_of_their_modules():
    homes = import_module("wengert.nn.modules").HOMES
    for family in sorted(set(homes.values())):
        module = import_module(f"wengert.nn.modules.{family}")
        listed = {name for name in module.__all__ if not name.startswith("register_")}
        assert listed == {name for name, home in homes.items() if home == family}


def test_layers_are_those_of_torch():
    torch = pytest.importorskip("torch")
    theirs = {name for name, found in vars(torch.nn).items() if isinstance(found, type)}
    assert theirs - set(nn.__all__) == {"DataParallel", "LinearCrossEntropyOptions"}
    assert set(nn.__all__) <= theirs


def test_a_global_hook_sees_every_call():
    seen = []
    handle = import_module("wengert.nn.modules.module").register_module_forward_hook(
        lambda module, args, output: seen.append(type(module).__name__)
    )
    with handle:
        nn.Sequential(Scale(), nn.ReLU())(wengert.ones(1))
    nn.ReLU()(wengert.ones(1))
    assert seen == ["Scale", "ReLU", "Sequential"]


def test_gradients_of_functional_calls_flow_to_the_tensors():
    weight = wengert.tensor([[2.0, 3.0]], requires_grad=True)
    layer = nn.Linear(2, 1, bias=False)
    wengert.func.functional_call(layer, {"weight": weight}, wengert.tensor([1.0, 10.0])).backward()
    assert weight.grad.tolist() == [[1.0, 10.0]]
    assert layer.weight.grad is None
    stacked, _ = wengert.func.stack_module_state([nn.Linear(2, 1), nn.Linear(2, 1)])
    base = nn.Linear(2, 1)
    run = wengert.vmap(lambda p: wengert.func.functional_call(base, p, wengert.ones(2)))
    assert run(stacked).shape == (2, 1)
