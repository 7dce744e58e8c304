"""GradScaler: scales, skipped steps, states and errors, with numbers worked by hand."""

import pickle

import pytest

import wengert as torch
from loops import each


def start(**settings):
    w = torch.nn.Parameter(torch.tensor([1.0, 2.0]))
    return torch.amp.GradScaler("cpu", **settings), w, torch.optim.SGD([w], lr=0.25)


def iterate(scaler, w, optimizer, factor=1.0):
    optimizer.zero_grad()
    scaler.scale((w * factor).sum()).backward()
    scaler.step(optimizer)
    scaler.update()


def test_gradients_are_scaled_and_unscaled():
    scaler, w, optimizer = start(init_scale=8.0)
    scaler.scale(w.sum()).backward()
    assert w.grad.tolist() == [8.0, 8.0]
    scaler.unscale_(optimizer)
    assert w.grad.tolist() == [1.0, 1.0]
    scaler.step(optimizer)
    scaler.update()
    assert w.tolist() == [0.75, 1.75]


def test_infinite_gradient_skips_the_step_and_backs_off():
    scaler, w, optimizer = start(init_scale=8.0)
    iterate(scaler, w, optimizer, factor=float("inf"))
    assert (w.tolist(), scaler.get_scale()) == ([1.0, 2.0], 4.0)
    iterate(scaler, w, optimizer, factor=float("nan"))
    assert (w.tolist(), scaler.get_scale()) == ([1.0, 2.0], 2.0)


def test_scale_grows_after_good_steps_in_a_row():
    scaler, w, optimizer = start(init_scale=8.0, growth_interval=2, growth_factor=3.0)
    scales = []
    for factor in (1.0, float("inf"), 1.0, 1.0, 1.0):
        iterate(scaler, w, optimizer, factor)
        scales.append(scaler.get_scale())
    assert scales == [8.0, 4.0, 4.0, 12.0, 12.0]


def test_scale_does_not_become_infinite():
    scaler, w, optimizer = start(init_scale=3e38, growth_interval=1)
    w.grad = torch.zeros(2)
    scaler.scale(torch.zeros(1))
    scaler.step(optimizer)
    scaler.update()
    assert scaler.get_scale() == pytest.approx(3e38)


def test_lists_of_tensors_are_scaled():
    scaler, _, _ = start(init_scale=2.0)
    first, (second,) = scaler.scale([torch.ones(2), (torch.ones(1),)])
    assert (first.tolist(), second.tolist()) == ([2.0, 2.0], [2.0])
    with pytest.raises(ValueError, match="outputs must be a Tensor or an iterable of Tensors"):
        scaler.scale(3)


def test_state_goes_to_another_scaler():
    scaler, w, optimizer = start(init_scale=8.0, growth_interval=3)
    iterate(scaler, w, optimizer)
    other = torch.amp.GradScaler("cpu")
    other.load_state_dict(scaler.state_dict())
    assert other.state_dict() == scaler.state_dict() == {
        "scale": 8.0, "growth_factor": 2.0, "backoff_factor": 0.5, "growth_interval": 3, "_growth_tracker": 1,
    }  # fmt: skip
    copied = pickle.loads(pickle.dumps(scaler))
    assert copied.state_dict() == scaler.state_dict()
    with pytest.raises(RuntimeError, match="The source state dict is empty"):
        other.load_state_dict({})


def test_disabled_scaler_passes_everything_through():
    scaler, w, optimizer = start(enabled=False)
    loss = w.sum()
    assert scaler.scale(loss) is loss
    loss.backward()
    scaler.unscale_(optimizer)
    scaler.step(optimizer)
    scaler.update()
    assert w.tolist() == [0.75, 1.75]
    assert (scaler.state_dict(), scaler.get_scale()) == ({}, 1.0)


def test_update_takes_a_new_scale():
    scaler, w, _ = start()
    scaler.scale(w.sum())
    scaler.update(4.0)
    assert scaler.get_scale() == 4.0
    scaler.update(torch.tensor(2.0))
    assert scaler.get_scale() == 2.0
    with pytest.raises(AssertionError, match="new_scale should be a float"):
        scaler.update(torch.ones(2))
    assert scaler.get_scale() == 2.0


@each("name", ["step", "unscale_"])
def test_use_before_scale_is_refused(name):
    scaler, _, optimizer = start()
    with pytest.raises(AssertionError, match=f"Attempted {name} but _scale is None"):
        getattr(scaler, name)(optimizer)


def test_calls_in_a_wrong_order_are_refused():
    scaler, w, optimizer = start()
    scaler.scale(w.sum()).backward()
    scaler.unscale_(optimizer)
    with pytest.raises(RuntimeError, match=r"unscale_\(\) has already been called on this optimizer"):
        scaler.unscale_(optimizer)
    with pytest.raises(AssertionError, match="may only be pickled at the beginning"):
        pickle.dumps(scaler)
    scaler.step(optimizer)
    with pytest.raises(RuntimeError, match=r"step\(\) has already been called"):
        scaler.step(optimizer)
    with pytest.raises(RuntimeError, match=r"unscale_\(\) is being called after step\(\)"):
        scaler.unscale_(optimizer)
    scaler.update()
    with pytest.raises(AssertionError, match="No inf checks were recorded prior to update"):
        scaler.update()


def test_closure_is_refused():
    scaler, w, optimizer = start()
    scaler.scale(w.sum()).backward()
    with pytest.raises(RuntimeError, match="Closure use is not currently supported"):
        scaler.step(optimizer, closure=lambda: 0)


def test_gradients_in_float16_are_refused_and_stay():
    w = torch.nn.Parameter(torch.ones(2, dtype=torch.float16))
    scaler, optimizer = torch.amp.GradScaler("cpu", init_scale=4.0), torch.optim.SGD([w], lr=0.1)
    scaler.scale(w.sum()).backward()
    with pytest.raises(ValueError, match=r"Attempting to unscale FP16 gradients\."):
        scaler.unscale_(optimizer)
    assert w.grad.tolist() == [4.0, 4.0]


def test_parameters_without_gradients_are_refused():
    scaler, w, optimizer = start()
    scaler.scale(w.sum())
    with pytest.raises(AssertionError, match=r"No inf checks were recorded for this optimizer\."):
        scaler.step(optimizer)


@each("settings", [{"growth_factor": 1.0}, {"backoff_factor": 1.0}])
def test_factors_out_of_range_are_refused(settings):
    with pytest.raises(AssertionError, match="factor must be"):
        torch.amp.GradScaler("cpu", **settings)
