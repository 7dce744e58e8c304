"""Schedules of learning rates against torch: rates and momenta step by step, states, warnings and errors."""

from __future__ import annotations

import copy
import warnings

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import wengert  # noqa: E402


def optimizer_of(library, name="SGD", **settings):
    params = [library.nn.Parameter(library.ones(2)) for _ in range(2)]
    for p in params:
        p.grad = library.ones(2)
    settings = {"lr": 0.1, **({"momentum": 0.9} if name == "SGD" else {}), **settings}
    return getattr(library.optim, name)([{"params": params[:1]}, {"params": params[1:], "lr": 0.4}], **settings)


SCHEDULES = {
    "StepLR": lambda L, o: L.StepLR(o, 3, 0.5),
    "MultiStepLR": lambda L, o: L.MultiStepLR(o, [2, 5, 5, 9], 0.5),
    "LambdaLR": lambda L, o: L.LambdaLR(o, [lambda n: 0.9**n, lambda n: 1 / (1 + n)]),
    "MultiplicativeLR": lambda L, o: L.MultiplicativeLR(o, lambda n: 0.95),
    "ConstantLR": lambda L, o: L.ConstantLR(o, 0.25, 4),
    "LinearLR": lambda L, o: L.LinearLR(o, 0.25, 0.75, 6),
    "ExponentialLR": lambda L, o: L.ExponentialLR(o, 0.9),
    "PolynomialLR": lambda L, o: L.PolynomialLR(o, 8, 2.0),
    "CosineAnnealingLR": lambda L, o: L.CosineAnnealingLR(o, 5, 0.01),
    "CosineAnnealingWarmRestarts": lambda L, o: L.CosineAnnealingWarmRestarts(o, 3, 2, 0.01),
    "CyclicLR": lambda L, o: L.CyclicLR(o, 0.1, [1.0, 2.0], 4, 3),
    "CyclicLR triangular2": lambda L, o: L.CyclicLR(o, 0.1, 1.0, 3, mode="triangular2", base_momentum=0.5),
    "CyclicLR exp_range": lambda L, o: L.CyclicLR(o, 0.1, 1.0, 3, mode="exp_range", gamma=0.9, cycle_momentum=False),
    "CyclicLR function": lambda L, o: L.CyclicLR(o, 0.1, 1.0, 3, scale_fn=lambda n: 1 / n, scale_mode="cycle"),
    "OneCycleLR": lambda L, o: L.OneCycleLR(o, [1.0, 2.0], 20),
    "OneCycleLR linear": lambda L, o: L.OneCycleLR(o, 1.0, epochs=4, steps_per_epoch=5, anneal_strategy="linear", three_phase=True),
    "SequentialLR": lambda L, o: L.SequentialLR(o, [L.ConstantLR(o, 0.1, 2), L.ExponentialLR(o, 0.9), L.StepLR(o, 2)], [3, 8]),
    "ChainedScheduler": lambda L, o: L.ChainedScheduler([L.ConstantLR(o, 0.1, 4), L.ExponentialLR(o, 0.9)]),
}  # fmt: skip


def history(library, name, steps, kind="SGD", **settings):
    optimizer = optimizer_of(library, kind, **settings)
    schedule = SCHEDULES[name](library.optim.lr_scheduler, optimizer)
    found = []
    for _ in range(steps):
        found.append([(float(g["lr"]), g.get("momentum"), g.get("betas")) for g in optimizer.param_groups])
        optimizer.step()
        schedule.step()
    return found, schedule


@pytest.mark.parametrize("name", SCHEDULES)
@pytest.mark.parametrize("kind", ["SGD", "Adam"])
def test_rates_and_momenta(name, kind):
    (ours, schedule), (theirs, other) = (history(library, name, 20, kind) for library in (wengert, torch))
    assert ours == theirs
    assert schedule.get_last_lr() == other.get_last_lr()


@pytest.mark.parametrize("name", SCHEDULES)
def test_states(name):
    (_, schedule), (_, other) = (history(library, name, 7) for library in (wengert, torch))
    state, wanted = schedule.state_dict(), other.state_dict()
    assert list(state) == list(wanted)
    for key in state:
        if key not in ("_scale_fn_custom", "lr_lambdas"):
            assert state[key] == wanted[key], key
    resumed = SCHEDULES[name](wengert.optim.lr_scheduler, optimizer_of(wengert))
    resumed.load_state_dict(copy.deepcopy(state))
    assert str(resumed.state_dict()) == str(state)


@pytest.mark.parametrize("name", ["StepLR", "ExponentialLR", "CosineAnnealingLR"])
def test_tensor_rates_keep_their_identity(name):
    lr = wengert.tensor(0.1)
    optimizer = optimizer_of(wengert, lr=lr)
    schedule = SCHEDULES[name](wengert.optim.lr_scheduler, optimizer)
    for _ in range(4):
        optimizer.step()
        schedule.step()
    assert optimizer.param_groups[0]["lr"] is lr
    assert float(lr) != 0.1


@pytest.mark.parametrize("name", ["StepLR", "MultiStepLR", "LinearLR", "ExponentialLR", "PolynomialLR", "CosineAnnealingLR", "ConstantLR", "LambdaLR"])
def test_jumps_to_an_epoch(name):
    found = []
    for library in (wengert, torch):
        optimizer = optimizer_of(library)
        schedule = SCHEDULES[name](library.optim.lr_scheduler, optimizer)
        optimizer.step()
        with pytest.warns(UserWarning, match="The epoch parameter in `scheduler.step\\(\\)` was not necessary"):
            schedule.step(4)
        found.append(schedule.get_last_lr())
    assert found[0] == found[1]


@pytest.mark.parametrize("settings", [
    {}, {"mode": "max"}, {"patience": 1, "cooldown": 2}, {"threshold_mode": "abs", "threshold": 0.1, "patience": 2}, {"patience": 0, "min_lr": [0.05, 0.3]},
    {"patience": 0, "eps": 0.2},
])  # fmt: skip
def test_a_metric_on_a_plateau(settings):
    metrics = [3, 2, 2.05, 2.0001, 2.5, 1.99, 1.99, float("nan"), 1.5, 1.6, 1.6, 1.6, 1.6, 1.6, 1.2, 1.3, 1.3, 1.3, 1.3, 1.3]
    found = []
    for library in (wengert, torch):
        optimizer = optimizer_of(library)
        schedule = library.optim.lr_scheduler.ReduceLROnPlateau(optimizer, **settings)
        rates = []
        for metric in metrics:
            schedule.step(library.tensor(float(metric)))
            rates.append(schedule.get_last_lr())
        found.append((rates, schedule.state_dict()))
    assert found[0] == found[1]


def cases_of_bad_use(library):
    L = library.optim.lr_scheduler
    o, other = optimizer_of(library), optimizer_of(library)
    plain = library.optim.Rprop([library.nn.Parameter(library.ones(1))])
    return {
        "no optimizer": lambda: L.StepLR(3, 1),
        "no optimizer for a metric": lambda: L.ReduceLROnPlateau(3),
        "functions": lambda: L.LambdaLR(o, [lambda n: 1]),
        "factor": lambda: L.ConstantLR(o, factor=2),
        "start factor": lambda: L.LinearLR(o, start_factor=0),
        "end factor": lambda: L.LinearLR(o, end_factor=2),
        "no schedules": lambda: L.SequentialLR(o, [], []),
        "milestones": lambda: L.SequentialLR(o, [L.StepLR(o, 1)], [2]),
        "plateau in a sequence": lambda: L.SequentialLR(o, [L.ReduceLROnPlateau(o)], []),
        "no chain": lambda: L.ChainedScheduler([]),
        "two optimizers": lambda: L.ChainedScheduler([L.StepLR(o, 1), L.StepLR(other, 1)]),
        "plateau's factor": lambda: L.ReduceLROnPlateau(o, factor=1.0),
        "plateau's rates": lambda: L.ReduceLROnPlateau(o, min_lr=[1]),
        "plateau's mode": lambda: L.ReduceLROnPlateau(o, mode="x"),
        "plateau's threshold": lambda: L.ReduceLROnPlateau(o, threshold_mode="x"),
        "no metric": lambda: L.ReduceLROnPlateau(o).step(),
        "cycle's mode": lambda: L.CyclicLR(o, 0.1, 1.0, mode="x"),
        "cycle's rates": lambda: L.CyclicLR(o, [0.1], 1.0),
        "no momentum": lambda: L.CyclicLR(plain, 0.1, 1.0),
        "T_0": lambda: L.CosineAnnealingWarmRestarts(o, 0),
        "T_mult": lambda: L.CosineAnnealingWarmRestarts(o, 1, 0),
        "eta_min": lambda: L.CosineAnnealingWarmRestarts(o, 1, eta_min="x"),
        "epoch": lambda: L.CosineAnnealingWarmRestarts(o, 1).step(-1),
        "no steps": lambda: L.OneCycleLR(o, 1.0),
        "total_steps": lambda: L.OneCycleLR(o, 1.0, total_steps=0),
        "epochs": lambda: L.OneCycleLR(o, 1.0, epochs=0, steps_per_epoch=1),
        "steps_per_epoch": lambda: L.OneCycleLR(o, 1.0, epochs=1, steps_per_epoch=0),
        "pct_start": lambda: L.OneCycleLR(o, 1.0, 10, pct_start=2),
        "strategy": lambda: L.OneCycleLR(o, 1.0, 10, anneal_strategy="x"),
        "the end": lambda: [L.OneCycleLR(other, 1.0, 1).step() for _ in range(3)],
    }  # fmt: skip


@pytest.mark.parametrize("case", cases_of_bad_use(wengert))
def test_bad_use_is_refused_in_torchs_words(case):
    caught = []
    for library in (wengert, torch):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                cases_of_bad_use(library)[case]()
                caught.append("nothing raised")
            except Exception as error:
                caught.append((type(error), str(error)))
    assert caught[0] == caught[1]


def test_the_wrong_order_is_warned_about():
    messages = []
    for library in (wengert, torch):
        optimizer = optimizer_of(library)
        schedule = library.optim.lr_scheduler.StepLR(optimizer, 1)
        with pytest.warns(UserWarning, match="Detected call of") as caught:
            schedule.step()
        messages.append([str(w.message) for w in caught])
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            optimizer.step()
            schedule.step()
    assert messages[0] == messages[1]


# -- averages of models ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("strategy", ["cos", "linear"])
@pytest.mark.parametrize("epochs", [0, 1, 6])
def test_rates_of_averaging(strategy, epochs):
    found = []
    for library in (wengert, torch):
        optimizer = optimizer_of(library)
        schedule = library.optim.swa_utils.SWALR(optimizer, [0.05, 0.01], epochs, strategy)
        rates = []
        for _ in range(9):
            optimizer.step()
            schedule.step()
            rates.append(schedule.get_last_lr())
        found.append(rates)
    assert found[0] == [pytest.approx(rates, rel=1e-12) for rates in found[1]]


@pytest.mark.parametrize("kind", ["equal", "exponential", "function"])
def test_averaged_models(kind):
    found = []
    for library in (wengert, torch):
        swa, nn = library.optim.swa_utils, library.nn
        library.manual_seed(0)
        model = nn.Sequential(nn.Linear(3, 2), nn.BatchNorm1d(2))
        settings = {
            "equal": {}, "exponential": {"multi_avg_fn": swa.get_ema_multi_avg_fn(0.9), "use_buffers": True},
            "function": {"avg_fn": swa.get_ema_avg_fn(0.5)},
        }[kind]  # fmt: skip
        average = swa.AveragedModel(model, **settings)
        for _ in range(4):
            with library.no_grad():
                for p in model.parameters():
                    p.mul_(1.5).add_(0.25)
            model(library.arange(12.0).reshape(4, 3))
            average.update_parameters(model)
        swa.update_bn([library.arange(12.0).reshape(4, 3), (library.ones(4, 3) * library.arange(4.0)[:, None], 0)], average)
        found.append({name: value.numpy() for name, value in average.state_dict().items()})
        assert average.training
    assert list(found[0]) == list(found[1])
    for name, value in found[0].items():
        np.testing.assert_allclose(value, found[1][name], rtol=1e-5, err_msg=name)
