"""functional_call, parametrisations, weight and spectral norms, fusion and pruning: wengert gives what torch gives."""

# The programs are short on purpose: many calls in little space.
# ruff: noqa: B023, E741, RUF015

import copy
import importlib
import pickle

import numpy as np
import pytest

import wengert
from outcomes import assert_same_outcomes

torch = pytest.importorskip("torch")


def reparametrised(torch, note):
    nn = torch.nn
    fc, stack_module_state = torch.func.functional_call, torch.func.stack_module_state
    st, P, PZ = (
        importlib.import_module(f"{torch.__name__}.nn.utils.{name}") for name in ("stateless", "parametrize", "parametrizations")
    )
    importlib.import_module(f"{torch.__name__}.nn.utils.prune")
    o = torch.ones

    def L(i=2, j=3, v=1.0):
        m = nn.Linear(i, j)
        with torch.no_grad():
            m.weight.copy_(torch.arange(float(i * j)).reshape(j, i) + v)
            m.bias.fill_(0.5)
        return m

    m = L()
    note(fc, m, {"weight": o(3, 2)}, (o(2),))
    note(fc, m, {"weight": o(3, 2)}, o(2))
    note(lambda: m.weight)
    note(fc, m, {"w": o(1)}, o(2))
    note(fc, m, {"a.b": o(1)}, o(2))
    note(fc, m, {"weight": 3}, o(2))
    note(stack_module_state, [L().requires_grad_(False), L()])
    note(fc, m, {"weight": o(3, 2)}, o(2), strict=True)
    note(fc, m, {"weight": o(3, 2), "bias": o(3), "z": o(1)}, o(2), strict=True)
    note(fc, m, 3, o(2))
    note(fc, m, ({"weight": o(3, 2)}, {"bias": o(3)}), o(2))
    note(fc, m, ({"weight": o(3, 2)}, {"weight": o(3, 2)}), o(2))
    note(fc, m, {"weight": o(3, 2)}, None, {"input": o(2)})
    note(fc, 3, {}, o(2))
    note(st.functional_call, m, {"weight": o(3, 2)}, o(2))
    note(fc, nn.Sequential(m, nn.ReLU()), {"0.weight": o(3, 2)}, o(2))
    note(fc, m, {"weight": o(3, 2)}, o(3))
    note(lambda: type(m.weight).__name__)

    class T(nn.Module):
        def __init__(s):
            super().__init__()
            s.a = L(2, 2)
            s.b = s.a
            s.c = nn.Parameter(o(2))
            s.d = s.c

        def forward(s, x):
            return s.b(s.a(x)) + s.d

    note(fc, T(), {"c": o(2) * 5}, o(2))
    note(fc, T(), {"c": o(2) * 5}, o(2), tie_weights=False)
    note(fc, T(), {"c": o(2) * 5, "d": o(2)}, o(2))
    note(fc, T(), {"a.weight": o(2, 2) * 5}, o(2))
    b = nn.BatchNorm1d(2)
    d = dict(b.named_buffers())
    note(lambda: (fc(b, {**d}, torch.arange(4.0).reshape(2, 2)), b.running_mean))
    nb = {k: v.clone() for k, v in b.named_buffers()}
    note(lambda: (fc(b, nb, torch.arange(4.0).reshape(2, 2)).shape, nb))
    note(lambda: stack_module_state([L(), L(2, 3, 2.0)]))
    note(stack_module_state, [])
    note(stack_module_state, [L(), nn.ReLU()])
    note(stack_module_state, [L().eval(), L()])

    class Sym(nn.Module):
        def forward(s, x):
            return x.triu() + x.triu(1).T

        def right_inverse(s, x):
            return x.triu()

    class Dbl(nn.Module):
        def forward(s, x):
            return 2 * x

    def par(*a, **k):
        m = L(2, 2)
        [P.register_parametrization(m, "weight", x, **k) for x in a]
        return m

    note(par, Sym())
    note(lambda: par(Sym()).weight)
    note(lambda: list(par(Sym()).state_dict()))
    note(lambda: par(Sym(), Dbl()))
    note(lambda: par(Dbl(), Sym()).weight)
    note(lambda: type(par(Sym())).__name__)
    note(lambda: P.is_parametrized(par(Sym())))
    note(lambda: P.is_parametrized(par(Sym()), "bias"))
    note(lambda: P.is_parametrized(L()))
    note(lambda: P.remove_parametrizations(par(Sym()), "weight"))
    note(lambda: P.remove_parametrizations(par(Sym()), "weight").weight)
    note(lambda: P.remove_parametrizations(par(Sym()), "weight", False).weight)
    note(lambda: P.remove_parametrizations(L(), "weight"))
    note(lambda: P.remove_parametrizations(par(Sym()), "bias"))

    def setw():
        m = par(Sym())
        m.weight = o(2, 2)
        return (m.weight, m.parametrizations.weight.original)

    note(setw)

    def setd():
        m = par(Dbl())
        m.weight = o(2, 2)

    note(setd)

    class BadShape(nn.Module):
        def forward(s, x):
            return x[0]

    class BadDt(nn.Module):
        def forward(s, x):
            return x.double()

    note(par, BadShape())
    note(par, BadDt())
    note(lambda: par(BadShape(), unsafe=True).weight)
    note(par, 3)
    note(lambda: P.register_parametrization(L(), "nope", Sym()))
    note(lambda: P.register_parametrization(L(), "in_features", Sym()))

    def cach():
        m = par(Dbl())
        with P.cached():
            return m.weight is m.weight

    note(cach)
    note(lambda: (lambda m: m.weight is m.weight)(par(Dbl())))
    note(lambda: copy.deepcopy(par(Sym())))
    note(lambda: pickle.dumps(par(Sym())))
    note(lambda: [n for n, _ in par(Sym()).named_parameters()])
    note(lambda: type(par(Sym())).__mro__[1].__name__)
    note(lambda: P.type_before_parametrizations(par(Sym())).__name__)
    note(lambda: par(Sym())(o(2)))
    note(lambda: (lambda m: (m(o(2)).sum().backward(), m.parametrizations.weight.original.grad))(par(Sym())))

    def trans():
        a = par(Sym())
        b = L(2, 2)
        return (P.transfer_parametrizations_and_params(a, b), b.weight)

    note(trans)

    class Two(nn.Module):
        def forward(s, a, b):
            return a @ b

        def right_inverse(s, x):
            return (x, torch.eye(2))

    note(par, Two())
    note(lambda: list(par(Two()).state_dict()))
    note(lambda: par(Two()).weight)
    note(lambda: P.remove_parametrizations(par(Two()), "weight").weight)
    note(lambda: P.remove_parametrizations(par(Two()), "weight", False))
    note(lambda: PZ.weight_norm(L()))
    note(lambda: dict(PZ.weight_norm(L()).state_dict().items()))
    note(lambda: PZ.weight_norm(L(), dim=None).state_dict()["parametrizations.weight.original0"])
    note(lambda: PZ.weight_norm(L(), dim=1).state_dict()["parametrizations.weight.original0"])
    note(lambda: PZ.spectral_norm(L()))
    note(lambda: list(PZ.spectral_norm(L()).state_dict()))
    note(lambda: PZ.spectral_norm(L(), n_power_iterations=0))
    note(lambda: PZ.orthogonal(L(3, 3)))
    note(lambda: list(PZ.orthogonal(L(3, 3)).state_dict()))
    note(lambda: torch.allclose((lambda w: w @ w.T)(PZ.orthogonal(L(3, 3)).weight), torch.eye(3), atol=1e-05))
    note(lambda: torch.allclose((lambda w: w @ w.T)(PZ.orthogonal(L(4, 3)).weight), torch.eye(3), atol=1e-05))
    for mp in ("matrix_exp", "cayley", "householder"):
        note(
            lambda: torch.allclose((lambda w: w @ w.T)(PZ.orthogonal(L(4, 3), orthogonal_map=mp).weight), torch.eye(3), atol=0.0001)
        )
    note(lambda: PZ.orthogonal(L(), orthogonal_map="foo"))
    note(lambda: PZ.orthogonal(L(), "nope"))
    note(lambda: PZ.orthogonal(L(), "bias"))
    U = nn.utils
    note(lambda: U.weight_norm(L()))
    note(lambda: list(U.weight_norm(L()).state_dict()))
    note(lambda: U.remove_weight_norm(U.weight_norm(L())).weight)
    note(lambda: U.remove_weight_norm(L()))
    note(lambda: U.weight_norm(U.weight_norm(L())))
    note(lambda: U.spectral_norm(L()))
    note(lambda: list(U.spectral_norm(L()).state_dict()))
    note(lambda: U.spectral_norm(U.spectral_norm(L())))
    note(lambda: U.remove_spectral_norm(L()))
    note(lambda: U.remove_spectral_norm(U.spectral_norm(L())).weight.shape)
    note(lambda: U.spectral_norm(L(), n_power_iterations=0))
    bn = nn.BatchNorm2d(4).eval()
    bn.running_mean.fill_(0.3)
    bn.running_var.fill_(2.0)
    c = nn.Conv2d(2, 4, 3).eval()
    x = torch.arange(50.0).reshape(1, 2, 5, 5) / 10
    note(lambda: torch.allclose(bn(c(x)), U.fuse_conv_bn_eval(c, bn)(x), atol=1e-05))
    bn1 = nn.BatchNorm1d(3).eval()
    bn1.running_var.fill_(2.0)
    l = L().eval()
    note(lambda: torch.allclose(bn1(l(o(2, 2))), U.fuse_linear_bn_eval(l, bn1)(o(2, 2))))
    note(lambda: U.fuse_conv_bn_eval(nn.Conv2d(2, 4, 3), bn))
    note(lambda: U.fuse_linear_bn_eval(L(), bn1))
    ct = nn.ConvTranspose2d(2, 4, 3).eval()
    note(lambda: torch.allclose(bn(ct(x)), U.fuse_conv_bn_eval(ct, bn, True)(x), atol=1e-05))
    pr = torch.nn.utils.prune

    def pm(f, *a, **k):
        m = L(3, 2)
        f(m, "weight", *a, **k)
        return m

    note(lambda: pm(pr.l1_unstructured, 2).weight)
    note(lambda: list(pm(pr.l1_unstructured, 2).state_dict()))
    note(lambda: [n for n, _ in pm(pr.l1_unstructured, 2).named_parameters()])
    note(lambda: pm(pr.l1_unstructured, 0.5).weight_mask)
    note(lambda: pm(pr.ln_structured, 1, 2, 0).weight)
    note(lambda: pm(pr.ln_structured, 0.4, 1, 1).weight)
    note(lambda: pm(pr.identity).weight)
    note(lambda: pm(pr.custom_from_mask, torch.tensor([[1, 0, 1], [0, 1, 0]])).weight)
    note(lambda: pr.is_pruned(pm(pr.identity)))
    note(lambda: pr.is_pruned(L()))
    note(lambda: pr.remove(pm(pr.l1_unstructured, 2), "weight").weight)
    note(lambda: pr.remove(L(), "weight"))
    note(lambda: pm(pr.l1_unstructured, 7))
    note(lambda: pm(pr.l1_unstructured, -1))
    note(lambda: pm(pr.l1_unstructured, 1.5))
    note(lambda: pm(pr.l1_unstructured, "a"))

    def glob():
        a, b = (L(3, 2), L(3, 2, 10.0))
        pr.global_unstructured([(a, "weight"), (b, "weight")], pruning_method=pr.L1Unstructured, amount=4)
        return (a.weight, b.weight)

    note(glob)

    def twice():
        m = L(3, 2)
        pr.l1_unstructured(m, "weight", 2)
        pr.l1_unstructured(m, "weight", 2)
        return (m.weight, list(m._forward_pre_hooks.values())[0].__class__.__name__, len(m._forward_pre_hooks))

    note(twice)
    note(lambda: (lambda m: (m(o(3)).sum().backward(), m.weight_orig.grad))(pm(pr.l1_unstructured, 2)))
    note(lambda: pm(pr.l1_unstructured, 2, importance_scores=torch.tensor([[9.0, 1, 2], [3, 0, 5]])).weight)
    note(lambda: pr.global_unstructured(3, pruning_method=pr.L1Unstructured, amount=1))


def test_outcomes_are_those_of_torch():
    assert_same_outcomes(reparametrised, wengert, torch)


def norms_of_weights(library, kind):
    """Return what a network with a norm of its weight gives, and its gradients."""
    library.manual_seed(0)
    utils = library.nn.utils
    layer = library.nn.Conv1d(2, 3, 2)
    values = library.arange(12.0).reshape(3, 2, 2) / 7 - 0.5
    with library.no_grad():
        layer.weight.copy_(values)
        layer.bias.fill_(0.1)
    if kind.startswith("old"):
        layer = utils.weight_norm(layer, dim=1 if kind == "old dim" else 0)
    else:
        layer = utils.parametrizations.weight_norm(layer, dim=None if kind == "whole" else 0)
    output = layer(library.arange(8.0).reshape(1, 2, 4))
    output.pow(2).sum().backward()
    return [output, *[p.grad for p in layer.parameters()]]


@pytest.mark.filterwarnings("ignore:.*weight_norm. is deprecated")
def test_weight_norm_has_the_gradients_of_torch():
    for kind in ("old", "old dim", "whole", "new"):
        for mine, theirs in zip(norms_of_weights(wengert, kind), norms_of_weights(torch, kind), strict=True):
            np.testing.assert_allclose(mine.detach().numpy(), theirs.detach().numpy(), rtol=1e-4, atol=1e-4)


def clipped(library, order, as_generator):
    """Return the norm before and the gradients after clipping."""
    parameters = [
        library.nn.Parameter(library.zeros(2)),
        library.nn.Parameter(library.zeros(3)),
        library.nn.Parameter(library.zeros(1)),
    ]
    parameters[0].grad = library.tensor([3.0, -4.0])
    parameters[1].grad = library.tensor([0.0, 12.0, 1.0])
    total = library.nn.utils.clip_grad_norm_((p for p in parameters) if as_generator else parameters, 1.5, order)
    library.nn.utils.clip_grad_value_(parameters, 0.7)
    return [total, *[p.grad for p in parameters[:2]]]


def test_gradients_are_clipped_as_by_torch():
    for order in (2.0, 1, float("inf"), 3):
        for as_generator in (False, True):
            found = (clipped(library, order, as_generator) for library in (wengert, torch))
            for mine, theirs in zip(*found, strict=True):
                np.testing.assert_allclose(mine.numpy(), theirs.numpy(), rtol=1e-6)


def gradients_of_convolutions(library):
    """Return the gradients in input and weight that nn.grad computes, in 1 to 3 dimensions."""
    grad, functional = importlib.import_module(f"{library.__name__}.nn.grad"), library.nn.functional
    found = []
    for n in (1, 2, 3):
        rng = np.random.default_rng(n)
        x, weight = (library.from_numpy(rng.standard_normal((2, 4, *[size] * n))) for size in (5, 3))
        output = getattr(functional, f"conv{n}d")(x, weight, None, 2, 1)
        found.append(getattr(grad, f"conv{n}d_input")(x.shape, weight, output, 2, 1))
        found.append(getattr(grad, f"conv{n}d_weight")(x, weight.shape, output, 2, 1))
    return found


def test_gradients_of_convolutions_are_those_of_torch():
    for mine, theirs in zip(gradients_of_convolutions(wengert), gradients_of_convolutions(torch), strict=True):
        np.testing.assert_allclose(mine.numpy(), theirs.numpy(), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(("name", "settings"), [("random_unstructured", {}), ("random_structured", {"dim": 0})])
def test_random_pruning_draws_the_masks_of_torch(name, settings):
    masks = []
    for library in (wengert, torch):
        prune = importlib.import_module(f"{library.__name__}.nn.utils.prune")
        library.manual_seed(0)
        module = library.nn.Linear(6, 5)
        getattr(prune, name)(module, "weight", amount=0.4, **settings)
        masks.append(module.weight_mask.numpy())
    np.testing.assert_array_equal(*masks)
