"""Optimizers against torch: parameters and states step by step, state dicts, printed forms and errors."""

from __future__ import annotations

import copy
from importlib import import_module

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import wengert  # noqa: E402

ADAM = [{}, {"amsgrad": True}, {"weight_decay": 0.1}, {"maximize": True}, {"betas": (0.5, 0.6), "eps": 1e-3}, {"weight_decay": 0.1, "amsgrad": True}]  # fmt: skip
CASES = {
    "SGD": [
        {"lr": 0.1}, {"lr": 0.1, "momentum": 0.9}, {"lr": 0.1, "momentum": 0.9, "nesterov": True}, {"lr": 0.1, "weight_decay": 0.3},
        {"lr": 0.1, "momentum": 0.5, "dampening": 0.2, "weight_decay": 0.1, "maximize": True},
    ],
    "Adam": [*ADAM, {"weight_decay": 0.1, "decoupled_weight_decay": True}],
    "AdamW": ADAM,
    "NAdam": [{}, {"weight_decay": 0.1}, {"weight_decay": 0.1, "decoupled_weight_decay": True}, {"momentum_decay": 0.1}, {"maximize": True}],
    "RAdam": [{}, {"weight_decay": 0.1}, {"weight_decay": 0.1, "decoupled_weight_decay": True}, {"betas": (0.9, 0.99)}, {"maximize": True}],
    "Adamax": [{}, {"weight_decay": 0.1}, {"maximize": True}],
    "Adagrad": [{}, {"lr_decay": 0.1, "weight_decay": 0.1}, {"initial_accumulator_value": 0.5}, {"maximize": True}],
    "Adadelta": [{}, {"rho": 0.5, "weight_decay": 0.1}, {"maximize": True}],
    "RMSprop": [{}, {"momentum": 0.9}, {"centered": True}, {"momentum": 0.5, "centered": True, "weight_decay": 0.1}, {"maximize": True}],
    "Rprop": [{}, {"etas": (0.3, 1.5), "step_sizes": (1e-3, 0.1)}, {"maximize": True}],
    "ASGD": [{}, {"lambd": 0.1, "t0": 3, "weight_decay": 0.1}, {"maximize": True}],
    "Adafactor": [{}, {"lr": 0.1, "weight_decay": 0.1}, {"eps": (1e-6, 1e-2), "d": 2.0}, {"maximize": True}],
    "Muon": [{}, {"nesterov": False, "weight_decay": 0.0}, {"adjust_lr_fn": "match_rms_adamw"}, {"lr": 0.1, "ns_steps": 3}],
}  # fmt: skip
PAIRS = [(name, i) for name, settings in CASES.items() for i in range(len(settings))]
ELEMENTWISE = [name for name in CASES if name not in ("Adafactor", "Muon")]


def arrays(dtype, shapes, seed):
    rng = np.random.default_rng(seed)
    found = [rng.standard_normal(shape) for shape in shapes]
    if "complex" in dtype:
        found = [x + 1j * rng.standard_normal(x.shape) for x in found]
    return [np.asarray(x, dtype) for x in found]


def run(library, name, settings, dtype="float32", steps=12, shapes=((3, 4), (5, 2))):
    """Parameters and the optimizer after some steps with gradients that depend on the parameters."""
    params = [library.nn.Parameter(library.tensor(x)) for x in arrays(dtype, shapes, 0)]
    optimizer = getattr(library.optim, name)(params, **settings)
    for i in range(steps):
        optimizer.zero_grad()
        for p, target in zip(params, arrays(dtype, shapes, i + 1), strict=True):
            loss = (p - library.tensor(target)).abs().pow(2).sum()
            loss.backward()
        optimizer.step()
    return params, optimizer


def assert_close(ours, theirs, tolerance):
    a, b = ours.detach(), theirs.detach()
    assert str(a.dtype) == str(b.dtype)
    assert tuple(a.shape) == tuple(b.shape)
    np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=tolerance, atol=tolerance)


def assert_same_state(ours, theirs, tolerance):
    assert ours.keys() == theirs.keys()
    for key, value in theirs.items():
        if isinstance(value, torch.Tensor):
            assert_close(ours[key], value, tolerance)
        elif isinstance(value, dict):
            assert_same_state(ours[key], value, tolerance)
        else:
            assert ours[key] == value


@pytest.mark.parametrize(("name", "i"), PAIRS)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_steps(name, i, dtype):
    tolerance = 2e-5 if dtype == "float32" else 1e-12
    if name == "Muon":
        tolerance = 2e-2  # its iteration runs in bfloat16, whose products are rounded in another order
    (ours, optimizer), (theirs, other) = (run(library, name, CASES[name][i], dtype) for library in (wengert, torch))
    for a, b in zip(ours, theirs, strict=True):
        assert_close(a, b, tolerance)
    assert_same_state(optimizer.state_dict()["state"], other.state_dict()["state"], tolerance)
    assert optimizer.state_dict()["param_groups"] == other.state_dict()["param_groups"]
    assert repr(optimizer) == repr(other)


@pytest.mark.parametrize("name", [name for name in ELEMENTWISE if name not in ("SGD", "ASGD", "Rprop")])
def test_weights_of_averages_are_rounded_once(name):
    """1 - 0.999 in float32 is off by 1.3e-5 of itself. The average of squares, which starts at 0, must not be."""
    states = []
    for library in (wengert, torch):
        p = library.nn.Parameter(library.zeros(1000))
        p.grad = library.linspace(0.1, 1.0, 1000)
        optimizer = getattr(library.optim, name)([p])
        optimizer.step()
        states.append({key: x.numpy() for key, x in optimizer.state[p].items() if tuple(x.shape) == (1000,)})
    assert states[0].keys() == states[1].keys()
    for key, ours in states[0].items():
        np.testing.assert_allclose(ours, states[1][key], rtol=1e-6, err_msg=key)


@pytest.mark.parametrize("name", ELEMENTWISE)
def test_parameters_with_different_numbers_of_steps(name):
    """The second parameter has its first gradient at the third step, the third one has none at the fourth and is strided."""

    def program(library):
        params = [library.nn.Parameter(library.tensor(x)) for x in arrays("float64", ((3, 4), (5, 2), (2, 3)), 0)]
        params[2].data = params[2].detach().t()
        optimizer = getattr(library.optim, name)(params, lr=0.1)
        for i in range(6):
            for k, (p, g) in enumerate(zip(params, arrays("float64", ((3, 4), (5, 2), (3, 2)), i + 1), strict=True)):
                p.grad = None if (k == 1 and i < 2) or (k == 2 and i == 3) else library.tensor(g)
            optimizer.step()
        return params, optimizer

    (ours, optimizer), (theirs, other) = map(program, (wengert, torch))
    for a, b in zip(ours, theirs, strict=True):
        assert_close(a, b, 1e-12)
    assert_same_state(optimizer.state_dict()["state"], other.state_dict()["state"], 1e-12)


@pytest.mark.parametrize("name", ELEMENTWISE)
def test_complex_parameters(name):
    settings = {"lr": 0.1}
    (ours, optimizer), (theirs, other) = (run(library, name, settings, "complex128") for library in (wengert, torch))
    for a, b in zip(ours, theirs, strict=True):
        assert_close(a, b, 1e-12)
    assert_same_state(optimizer.state_dict()["state"], other.state_dict()["state"], 1e-12)


@pytest.mark.parametrize("name", ELEMENTWISE)
def test_a_state_dict_goes_on_where_torchs_stopped(name):
    theirs, other = run(torch, name, CASES[name][-1], "float64", steps=3)
    ours = [wengert.nn.Parameter(wengert.tensor(p.detach().numpy())) for p in theirs]
    optimizer = getattr(wengert.optim, name)(ours, **CASES[name][-1])

    def converted(x):
        if isinstance(x, torch.Tensor):
            return wengert.tensor(x.numpy())
        if isinstance(x, dict):
            return {k: converted(v) for k, v in x.items()}
        return [converted(v) for v in x] if isinstance(x, list) else x

    optimizer.load_state_dict(converted(copy.deepcopy(other.state_dict())))
    for params, library, stepper in ((ours, wengert, optimizer), (theirs, torch, other)):
        for p in params:
            p.grad = library.ones_like(p) * 0.3
        stepper.step()
    for a, b in zip(ours, theirs, strict=True):
        assert_close(a, b, 1e-12)


# The second step of torch's Adamax and Rprop writes over what their first one saved, which raises.
@pytest.mark.parametrize(("name", "steps"), [(name, 1 if name in ("Adamax", "Rprop") else 2) for name in ELEMENTWISE])
def test_gradients_of_a_differentiable_step(name, steps):
    """Derivatives of the parameters after some steps in the start and in the gradients' scale."""
    found = []
    for library in (wengert, torch):
        start = library.tensor(arrays("float64", [(4,)], 0)[0], requires_grad=True)
        scale = library.tensor(0.7, dtype=library.float64, requires_grad=True)
        p = start.clone()
        optimizer = getattr(library.optim, name)([p], lr=0.1, differentiable=True)
        for _ in range(steps):
            p.grad = (p * scale).detach() * scale
            optimizer.step()
        found.append([p.detach().numpy(), *[g.numpy() for g in library.autograd.grad((p * p).sum(), [start, scale])]])
    for a, b in zip(*found, strict=True):
        # torch takes the corrections of Adam's averages from a count of steps in float32
        np.testing.assert_allclose(a, b, rtol=1e-4 if "Adam" in name or name == "NAdam" else 1e-9, atol=1e-12)


def rosenbrock(library, **settings):
    """Losses and the end of some steps of LBFGS on a function of two variables."""
    p = library.nn.Parameter(library.tensor([-1.5, 2.0], dtype=library.float64))
    optimizer = library.optim.LBFGS([p], **settings)

    def closure():
        optimizer.zero_grad()
        loss = (1 - p[0]) ** 2 + 100 * (p[1] - p[0] ** 2) ** 2
        loss.backward()
        return loss

    losses = [optimizer.step(closure).item() for _ in range(4)]
    return losses, p.detach().numpy(), optimizer


@pytest.mark.parametrize("settings", [
    {"line_search_fn": "strong_wolfe"}, {"line_search_fn": "strong_wolfe", "history_size": 2}, {"lr": 1e-3}, {"lr": 1e-3, "max_iter": 3},
    {"line_search_fn": "strong_wolfe", "max_iter": 5}, {"lr": 0.5, "line_search_fn": "strong_wolfe", "tolerance_change": 1e-3},
])  # fmt: skip
def test_lbfgs(settings):
    (ours, at, optimizer), (theirs, their_at, other) = (rosenbrock(library, **settings) for library in (wengert, torch))
    np.testing.assert_allclose(ours, theirs, rtol=1e-6, atol=1e-12)
    np.testing.assert_allclose(at, their_at, rtol=1e-6)
    (state,), (wanted,) = optimizer.state.values(), other.state.values()
    assert state.keys() == wanted.keys()
    assert (state["func_evals"], state["n_iter"]) == (wanted["func_evals"], wanted["n_iter"])


def bowl(x, length, direction):
    y = x + length * direction
    return float((y**4).sum() + 3 * (y**2).sum()), 4 * y**3 + 6 * y


@pytest.mark.parametrize("settings", [{}, {"c1": 1e-3, "c2": 0.3, "tolerance_change": 1e-3, "max_ls": 5}])
@pytest.mark.parametrize("first", [1.0, 0.01, 100.0])
def test_the_line_search_that_libraries_import(first, settings):
    results = []
    for library, module in ((torch, "torch.optim.lbfgs"), (wengert, "wengert.optim.lbfgs")):
        search = import_module(module)._strong_wolfe
        x = library.tensor([1.0, -2.0, 3.0], dtype=library.float64)
        loss, gradient = bowl(x, 0, x)
        loss, gradient, length, calls = search(bowl, x, first, -gradient, loss, gradient, -gradient.dot(gradient), **settings)
        results.append([loss, *gradient.tolist(), float(length), calls])
    assert results[0] == pytest.approx(results[1], rel=1e-9)


def cases_of_bad_use(library):
    p = library.nn.Parameter(library.ones(2, 2))
    q = library.nn.Parameter(library.ones(2, 2))
    line = library.nn.Parameter(library.ones(2))
    o = library.optim
    return {
        "no parameters": lambda: o.SGD([]),
        "a tensor": lambda: o.SGD(p),
        "a number": lambda: o.SGD([3]),
        "a set": lambda: o.SGD([{"params": {p}}]),
        "no leaf": lambda: o.SGD([p * 2]),
        "two groups": lambda: o.SGD([{"params": [p]}, {"params": [p]}]),
        "no iterable": lambda: o.SGD(5),
        "half named": lambda: o.SGD([("a", p), q]),
        "one group named": lambda: o.SGD([{"params": [("a", p)]}, {"params": [q]}]),
        "no group": lambda: o.SGD([p]).add_param_group(3),
        "nesterov": lambda: o.SGD([p], nesterov=True),
        "fused and foreach": lambda: o.SGD([p], fused=True, foreach=True),
        "fused and differentiable": lambda: o.Adam([p], fused=True, differentiable=True),
        "two rates": lambda: o.SGD([p], lr=library.ones(2)),
        "tensor rate": lambda: o.Adam([p], lr=library.tensor(0.1), foreach=True),
        "groups of LBFGS": lambda: o.LBFGS([{"params": [p]}, {"params": [q]}]),
        "Muon of a vector": lambda: o.Muon([line]),
        "Muon's function": lambda: o.Muon([p], adjust_lr_fn="x"),
        "no groups in a state": lambda: o.SGD([p]).load_state_dict({"state": {}, "param_groups": []}),
        "other groups in a state": lambda: o.SGD([p]).load_state_dict(o.SGD([p, q]).state_dict()),
        "required": lambda: o.Optimizer([p], {"lr": __import__(f"{library.__name__}.optim.optimizer", fromlist=["required"]).required}),
        "a closure without a loss": lambda: o.LBFGS([p]).step(lambda: None),
        **{
            f"{name} {settings}": lambda name=name, settings=settings: getattr(o, name)([p], **settings)
            for name, settings in [
                ("SGD", {"lr": -1}), ("SGD", {"momentum": -1}), ("SGD", {"weight_decay": -1}), ("Adam", {"lr": -1}), ("Adam", {"eps": -1}),
                ("Adam", {"betas": (1.0, 0.9)}), ("Adam", {"betas": (0.9, 1.0)}), ("Adam", {"weight_decay": -1}),
                ("NAdam", {"momentum_decay": -1}), ("RAdam", {"betas": (-1, 0.9)}), ("Adamax", {"eps": -1}), ("Adagrad", {"lr_decay": -1}),
                ("Adagrad", {"initial_accumulator_value": -1}), ("Adagrad", {"eps": -1}), ("Adadelta", {"rho": 2}), ("Adadelta", {"eps": -1}),
                ("RMSprop", {"momentum": -1}), ("RMSprop", {"alpha": -1}), ("RMSprop", {"eps": -1}), ("Rprop", {"etas": (1.5, 1.2)}),
                ("ASGD", {"weight_decay": -1}), ("LBFGS", {"lr": -1}), ("Adafactor", {"lr": -1}), ("Adafactor", {"beta2_decay": 1}),
                ("Adafactor", {"eps": (-1, 1)}), ("Adafactor", {"eps": (1, -1)}), ("Adafactor", {"d": 0.1}), ("Adafactor", {"weight_decay": -1}),
                ("Muon", {"lr": -1}), ("Muon", {"momentum": -1}), ("Muon", {"weight_decay": -1}),
            ]
        },
    }  # fmt: skip


@pytest.mark.parametrize("case", cases_of_bad_use(wengert))
def test_bad_use_is_refused_in_torchs_words(case):
    caught = []
    for library in (wengert, torch):
        with pytest.raises(Exception) as found:
            cases_of_bad_use(library)[case]()
        caught.append(found.value)
    assert type(caught[0]) is type(caught[1])
    assert str(caught[0]) == str(caught[1])
