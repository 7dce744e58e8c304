"""Functions of functions: gradients, Jacobians and products of functions of trees, nested, and inside backward passes."""

from __future__ import annotations

import doctest
from importlib import import_module

import numpy as np
import pytest

import wengert
from wengert import func
from wengert.autograd import forward_ad
from wengert.core.modes import flags, state


def tensor(*values, **kwargs):
    return wengert.tensor(list(values), dtype=wengert.float64, **kwargs)


def scalar(value, **kwargs):
    return wengert.tensor(value, dtype=wengert.float64, **kwargs)


# -- grad ------------------------------------------------------------------------------------------------------------


def test_grad_and_value():
    g, value = func.grad_and_value(lambda x: (x**3).sum())(tensor(1.0, 2.0))
    assert g.tolist() == [3.0, 12.0]
    assert value.item() == 9.0
    assert not g.requires_grad and not value.requires_grad


def test_grad_with_respect_to_several_arguments():
    def f(x, y, power=2):
        return ((x * y) ** power).sum()

    x, y = tensor(1.0, 2.0), tensor(3.0, 1.0)
    assert func.grad(f)(x, y).tolist() == [18.0, 4.0]
    assert [g.tolist() for g in func.grad(f, argnums=(1, 0))(x, y)] == [[6.0, 8.0], [18.0, 4.0]]
    assert func.grad(f, argnums=-1)(x, y, power=1).tolist() == [1.0, 2.0]


def test_grad_of_a_tree_with_aux():
    params = {"w": tensor(1.0, 2.0), "b": [scalar(0.5)]}

    def loss(p, x):
        y = (p["w"] * x).sum() + p["b"][0]
        return y**2, {"y": y}

    g, aux = func.grad(loss, has_aux=True)(params, tensor(1.0, 1.0))
    assert g["w"].tolist() == [7.0, 7.0]
    assert g["b"][0].item() == 7.0
    assert aux["y"].item() == 3.5
    assert not aux["y"].requires_grad


def test_gradients_of_gradients():
    cube = lambda x: x**3  # noqa: E731
    x = scalar(2.0)
    assert func.grad(cube)(x).item() == 12.0
    assert func.grad(func.grad(cube))(x).item() == 12.0
    assert func.grad(func.grad(func.grad(cube)))(x).item() == 6.0
    assert func.grad(func.grad(func.grad(func.grad(cube))))(x).item() == 0.0


def test_inner_gradients_do_not_see_the_outer_variable():
    # d/dx x d/dy (x + y) at y = 1: the famous case in which a tag is lost.
    f = lambda x: x * func.grad(lambda y: x + y)(scalar(1.0))  # noqa: E731
    assert func.grad(f)(scalar(1.0)).item() == 1.0
    g = lambda x: x * func.jvp(lambda y: x + y, (scalar(1.0),), (scalar(1.0),))[1]  # noqa: E731
    assert func.grad(g)(scalar(1.0)).item() == 1.0
    assert func.jvp(g, (scalar(1.0),), (scalar(1.0),))[1].item() == 1.0
    h = lambda x: x * func.jvp(lambda y: x * y, (scalar(3.0),), (scalar(1.0),))[1]  # noqa: E731
    assert func.jvp(h, (scalar(2.0),), (scalar(1.0),))[1].item() == 4.0


def test_variables_of_the_enclosing_scope_can_be_differentiated():
    w = tensor(2.0, 3.0, requires_grad=True)
    g = func.grad(lambda x: (x * w).sum() ** 2)(tensor(1.0, 1.0))
    assert g.requires_grad
    (found,) = wengert.autograd.grad(g.sum(), w)  # g = 2 (w . x) w
    assert found.tolist() == [2 * 5 + 2 * 5, 2 * 5 + 2 * 5]
    assert w.grad is None
    x = tensor(1.0, 2.0, requires_grad=True)
    assert func.grad(lambda x: (x**2).sum())(x).requires_grad
    with wengert.no_grad():
        assert func.grad(lambda x: (x**2).sum())(x).tolist() == [2.0, 4.0]
        assert not func.grad(lambda x: (x**2).sum())(x).requires_grad
    output, vjp_fn = func.vjp(lambda x: x * w, tensor(1.0, 1.0))
    assert output.requires_grad and vjp_fn(tensor(1.0, 1.0))[0].requires_grad


def test_unused_arguments_have_gradient_zero():
    assert func.grad(lambda x, y: (x * 2).sum(), argnums=1)(tensor(1.0), tensor(1.0, 2.0)).tolist() == [0.0, 0.0]
    assert func.grad(lambda x: wengert.ones(()))(tensor(1.0)).tolist() == [0.0]


@pytest.mark.parametrize(
    ("call", "kind", "message"),
    [
        (lambda x: func.grad(lambda x: x)(x), RuntimeError, "return a scalar Tensor, got tensor with 1 dims"),
        (lambda x: func.grad(lambda x: 1.0)(x), RuntimeError, r"return a Tensor, got <class 'float'>"),
        (lambda x: func.grad(lambda x: x.sum(), has_aux=True)(x), RuntimeError, r"should be a tuple: \(output, aux\)"),
        (lambda x: func.grad(lambda x: x.sum(), argnums=1)(x), RuntimeError, "Got argnum=1, but only 1 positional inputs"),
        (lambda x: func.grad(lambda x: x.sum(), argnums=(0, 0))(x), RuntimeError, "argnums elements must be unique"),
        (lambda x: func.grad(lambda x: x.sum(), argnums=())(x), RuntimeError, "argnums must be non-empty"),
        (lambda x: func.grad(lambda x: x.sum(), argnums=1.0)(x), RuntimeError, r"argnums must be int or Tuple\[int"),
        (lambda x: func.grad(lambda x: x.sum(), argnums=("a",))(x), RuntimeError, r"argnums must be int or Tuple\[int"),
        (lambda x: func.grad(lambda x: x * 2.0)(3.0), ValueError, "Thing passed to transform API must be Tensor"),
        (lambda x: func.grad(lambda x: x * 2.0)(wengert.tensor(1)), RuntimeError, "Tensors of floating point"),
        (lambda x: func.vjp(lambda x: 1.0, x), RuntimeError, r"vjp\(f, \*primals\): expected f\(\*primals\) to return only"),
        (lambda x: func.vjp(lambda x: (x, x), x)[1](x), RuntimeError, r"cotangents: \*, primal output: \(\*, \*\)"),
        (lambda x: func.vjp(lambda x: x, x)[1](wengert.ones(3)), RuntimeError, "Mismatch in shape"),
        (lambda x: func.jvp(lambda x: x, x, (x,)), RuntimeError, "Expected primals to be a tuple"),
        (lambda x: func.jvp(lambda: 1, (), ()), RuntimeError, "Expected primals to contain at least one Tensor"),
        (lambda x: func.jvp(lambda x: x, (x,), (x, x)), RuntimeError, "primals and tangents to have the same python struct"),
        (lambda x: func.jvp(lambda x: x, (x,), (wengert.ones(3),)), RuntimeError, "forward gradient that has a different"),
        (lambda x: func.jvp(lambda x: x, (2.0,), (x,)), RuntimeError, "primals to only contain Tensors, got <class 'float'>"),
        (lambda x: func.jvp(lambda x: 1.0, (x,), (x,)), RuntimeError, "to return only tensors, got unsupported type"),
        (lambda x: func.jvp(lambda x: x.detach(), (x,), (x,), strict=True), RuntimeError, "independent of the inputs"),
        (lambda x: func.jacrev(lambda x: x, chunk_size=0), ValueError, "`chunk_size` should be greater than 0"),
        (lambda x: func.jacfwd(lambda x: x, randomness="none"), RuntimeError, "Only allowed values for randomness"),
        (lambda x: func.linearize(lambda x: x, x)[1](wengert.ones(3)), RuntimeError, "tangent:0 with shape"),
        (lambda x: func.linearize(lambda x: x, x)[1](), RuntimeError, "to have the same argspec as the primals"),
    ],
)
def test_wrong_calls_are_refused_with_a_message(call, kind, message):
    with pytest.raises(kind, match=message):
        call(tensor(1.0, 2.0))
    assert not state.dual_levels and flags() == 0


# -- products --------------------------------------------------------------------------------------------------------


def test_vjp_can_be_called_again():
    output, vjp_fn, aux = func.vjp(lambda x, y: ({"p": x * y}, "aux"), tensor(1.0, 2.0), tensor(3.0, 4.0), has_aux=True)
    assert output["p"].tolist() == [3.0, 8.0]
    assert aux == "aux"
    for _ in range(2):
        assert [g.tolist() for g in vjp_fn({"p": tensor(1.0, 0.5)})] == [[3.0, 2.0], [1.0, 1.0]]


def test_vjp_is_differentiable_in_the_cotangent():
    _, vjp_fn = func.vjp(lambda x: x**2, tensor(1.0, 2.0))
    ct = tensor(1.0, 1.0, requires_grad=True)
    (found,) = wengert.autograd.grad(vjp_fn(ct)[0].sum(), ct)
    assert found.tolist() == [2.0, 4.0]


def test_jvp_of_trees():
    values, along = func.jvp(lambda p: (p["a"] ** 2, p["a"].sum()), ({"a": tensor(1.0, 2.0)},), ({"a": tensor(1.0, 0.5)},))
    assert [v.tolist() for v in values] == [[1.0, 4.0], 3.0]
    assert [t.tolist() for t in along] == [[2.0, 2.0], 1.5]
    *_, aux = func.jvp(lambda x: (x, x * 2), (tensor(1.0),), (tensor(1.0),), has_aux=True)
    assert aux.tolist() == [2.0]
    _, zero = func.jvp(lambda x: x.detach(), (tensor(1.0),), (tensor(1.0),))
    assert zero.tolist() == [0.0]


def test_forward_mode_nests():
    cube = lambda x: x**3  # noqa: E731
    one = scalar(1.0)

    def derivative(f):
        return lambda x: func.jvp(f, (x,), (one,))[1]

    x = scalar(2.0)
    assert derivative(cube)(x).item() == 12.0
    assert derivative(derivative(cube))(x).item() == 12.0
    assert derivative(derivative(derivative(cube)))(x).item() == 6.0
    assert func.grad(derivative(cube))(x).item() == 12.0
    assert derivative(func.grad(cube))(x).item() == 12.0
    assert func.grad(derivative(func.grad(cube)))(x).item() == 6.0
    assert derivative(func.grad(derivative(cube)))(x).item() == 6.0
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(x, one)
        assert forward_ad.unpack_dual(derivative(cube)(dual)).tangent.item() == 12.0


def test_linearize_is_jvp():
    def f(x, y):
        return x.exp() * y, (x * y).sum()

    x, y, v, w = tensor(0.1, 0.2), tensor(1.0, 3.0), tensor(1.0, -1.0), tensor(0.5, 2.0)
    output, jvp_fn = func.linearize(f, x, y)
    values, along = func.jvp(f, (x, y), (v, w))
    for a, b in zip((*output, *jvp_fn(v, w)), (*values, *along), strict=True):
        np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=1e-14)


# -- matrices --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("jacobian", [func.jacrev, func.jacfwd])
def test_jacobians(jacobian):
    x, y = tensor(1.0, 2.0), tensor(3.0, 4.0, 5.0)

    def f(x, y):
        return {"outer": x.unsqueeze(1) * y, "sum": x.sum()}

    found = jacobian(f, argnums=(0, 1))(x, y)
    assert found["outer"][0].shape == (2, 3, 2)
    np.testing.assert_array_equal(found["outer"][0].numpy(), np.einsum("ik,j->ijk", np.eye(2), [3.0, 4.0, 5.0]))
    np.testing.assert_array_equal(found["outer"][1].numpy(), np.einsum("i,jk->ijk", [1.0, 2.0], np.eye(3)))
    assert found["sum"][0].tolist() == [1.0, 1.0]
    assert found["sum"][1].tolist() == [0.0, 0.0, 0.0]
    by_tree, aux = jacobian(lambda p: (p["a"] * 2, "aux"), has_aux=True)({"a": x})
    assert by_tree["a"].tolist() == [[2.0, 0.0], [0.0, 2.0]]
    assert aux == "aux"
    assert jacobian(lambda x: x * 2)(wengert.zeros(0)).shape == (0, 0)
    assert jacobian(lambda x: x.sum() * 2)(wengert.zeros(0, 3)).shape == (0, 3)


@pytest.mark.parametrize("outer", [func.jacrev, func.jacfwd])
@pytest.mark.parametrize("inner", [func.jacrev, func.jacfwd])
def test_hessians_by_both_modes(outer, inner):
    x = tensor(0.3, -0.4, 0.5)
    f = lambda x: (x.sin() * x.flip(0)).sum() ** 2  # noqa: E731
    expected = func.hessian(f)(x)
    np.testing.assert_allclose(outer(inner(f))(x).numpy(), expected.numpy(), rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(expected.numpy(), expected.numpy().T, rtol=1e-12)
    by_differences = (func.grad(f)(x + 1e-6 * tensor(1.0, 0.0, 0.0)) - func.grad(f)(x - 1e-6 * tensor(1.0, 0.0, 0.0))) / 2e-6
    np.testing.assert_allclose(expected[0].numpy(), by_differences.numpy(), rtol=1e-7)


def test_hessian_of_a_tree():
    found = func.hessian(lambda p: (p["a"] ** 2 * p["b"]).sum())({"a": tensor(1.0), "b": tensor(2.0)})
    assert {k: {j: h.tolist() for j, h in row.items()} for k, row in found.items()} == {
        "a": {"a": [[4.0]], "b": [[2.0]]},
        "b": {"a": [[2.0]], "b": [[0.0]]},
    }


# -- vmap ------------------------------------------------------------------------------------------------------------


def test_vmap_is_a_loop():
    x = wengert.arange(6.0).view(2, 3)
    assert func.vmap(lambda row: row.sum())(x).tolist() == [3.0, 12.0]
    assert func.vmap(lambda column: column.sum(), in_dims=1)(x).tolist() == [3.0, 5.0, 7.0]
    assert func.vmap(lambda a, b: a * b, in_dims=(0, None))(x, wengert.ones(3)).tolist() == x.tolist()
    moved, total = func.vmap(lambda row: (row, row.sum()), out_dims=(1, 0))(x)
    assert moved.tolist() == x.t().tolist()
    assert total.tolist() == [3.0, 12.0]
    assert func.vmap(lambda d: {"s": d["a"] + d["b"]}, in_dims=({"a": 0, "b": None},))({"a": x, "b": wengert.ones(3)})[
        "s"
    ].tolist() == [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]
    assert wengert.vmap(lambda row: row * 2, chunk_size=1)(x).tolist() == [[0.0, 2.0, 4.0], [6.0, 8.0, 10.0]]
    assert func.vmap(lambda row: (row.sum(), wengert.ones(2)), out_dims=(0, None))(x)[1].shape == (2,)
    assert func.vmap(lambda row: row.sum())(wengert.zeros(0, 3)).shape == (0,)
    assert func.vmap(lambda a: a if a.item() > 1 else -a)(wengert.tensor([1.0, 2.0])).tolist() == [-1.0, 2.0]


def test_vmap_nests_and_is_differentiable():
    x, y = tensor(1.0, 2.0), tensor(3.0, 4.0, 5.0)
    outer = func.vmap(func.vmap(lambda a, b: a * b, in_dims=(None, 0)), in_dims=(0, None))
    assert outer(x, y).tolist() == [[3.0, 4.0, 5.0], [6.0, 8.0, 10.0]]
    per_example = func.vmap(func.grad(lambda w, a: (w * a) ** 2), in_dims=(None, 0))(scalar(2.0), x)
    assert per_example.tolist() == [4.0, 16.0]
    assert func.grad(lambda x: func.vmap(lambda a: a**2)(x).sum())(x).tolist() == [2.0, 4.0]
    assert func.jvp(func.vmap(lambda a: a**2), (x,), (tensor(1.0, 0.0),))[1].tolist() == [2.0, 0.0]
    basis = func.vmap(lambda v: func.jvp(lambda x: x**2, (x,), (v,))[1])(wengert.eye(2, dtype=wengert.float64))
    assert basis.tolist() == [[2.0, 0.0], [0.0, 4.0]]


def test_random_numbers_under_vmap():
    x = wengert.zeros(3)
    draw = lambda a: a + wengert.rand(())  # noqa: E731
    with pytest.raises(RuntimeError, match="vmap: called random operation while in randomness error mode"):
        func.vmap(draw)(x)
    wengert.manual_seed(3)
    same = func.vmap(draw, randomness="same")(x).tolist()
    following = wengert.rand(()).item()
    wengert.manual_seed(3)
    different = func.vmap(draw, randomness="different")(x).tolist()
    assert same == [different[0]] * 3
    assert following == different[1]
    assert len(set(different)) == 3


@pytest.mark.parametrize(
    ("call", "kind", "message"),
    [
        (lambda x: func.vmap(lambda: 1)(), ValueError, "got no inputs. Maybe you forgot to add inputs"),
        (lambda x: func.vmap(lambda a: a, in_dims="a")(x), ValueError, "expected `in_dims` to be int or"),
        (lambda x: func.vmap(lambda a: a, in_dims=(0, 0))(x), ValueError, "not compatible with the structure of `inputs`"),
        (lambda x: func.vmap(lambda a: a, in_dims=2)(x), ValueError, "expected in_dim to satisfy -2 <= in_dim < 2"),
        (lambda x: func.vmap(lambda a, b: a)(x, 2.0), ValueError, "We cannot vmap over non-Tensor arguments"),
        (lambda x: func.vmap(lambda a, b: a)(x, wengert.ones(3)), ValueError, r"got sizes \[2, 3\] for the mapped dimension"),
        (lambda x: func.vmap(lambda a: 1.0)(x), ValueError, "must only return Tensors, got type <class 'float'>"),
        (lambda x: func.vmap(lambda a: (a, a), out_dims=(0,))(x), ValueError, "not compatible with the structure of `outputs`"),
        (lambda x: func.vmap(lambda a: a, out_dims=3)(x), IndexError, r"expected to be in range of \[-2, 1\], but got 3"),
        (lambda x: func.vmap(lambda a: a, randomness="x"), RuntimeError, "Only allowed values for randomness"),
        (lambda x: func.vmap(lambda a: a, chunk_size=0), ValueError, r"chunk_size should be None or greater than 0. \(got 0\)"),
    ],
)
def test_vmap_refuses_wrong_calls(call, kind, message):
    with pytest.raises(kind, match=message):
        call(wengert.zeros(2, 3))


# -- examples --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name",
    ["func", "autograd.forward_ad", "autograd.functional", "autograd.transforms", "autograd.vmap", "utils._pytree"],
)
def test_examples_of_docstrings(name):
    result = doctest.testmod(import_module(f"wengert.{name}"))
    assert result.failed == 0 and result.attempted > 1
