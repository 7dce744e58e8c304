"""Programs written for HIPS autograd give HIPS's values: each runs with `autograd` and with wengert.hips."""

import importlib
import warnings
from collections import OrderedDict

import numpy as onp
import pytest

from loops import each

pytest.importorskip("autograd")


class Library:
    """Modules of autograd or of wengert.hips, as attributes: library.np, library.ag, library.module("misc.flatten")."""

    def __init__(self, name):
        self.name = name
        self.ag = importlib.import_module(name)
        self.np = self.module("numpy")

    def module(self, name):
        return importlib.import_module(f"{self.name}.{name}")


X = onp.array([[0.3, -1.2, 0.8], [1.5, 0.4, -0.6]])
V = onp.array([0.7, -0.4, 1.1])
Z = onp.array([0.5 + 0.2j, -0.3 + 1.0j, 1.2 - 0.7j])
PROGRAMS = {}


def program(run):
    PROGRAMS[run.__name__] = run
    return run


def scalar_functions(np):
    """Functions from (2, 3) arrays to numbers, by name."""
    return {
        "elementwise": lambda x: np.sum(np.tanh(x) * np.exp(-(x**2)) + np.sin(x) / (2.0 + np.cos(x)) + np.sqrt(1 + np.abs(x))),
        "reductions": lambda x: np.sum(np.mean(x, axis=0) * np.var(x, axis=0)) + np.std(x) + np.max(x) + np.prod(x) + np.min(x, axis=1)[0],
        "methods": lambda x: x.sum(axis=0, keepdims=True).mean() + x.max(axis=1)[1] * x.std() + x.var(axis=1).sum() + x.prod(),
        "shapes": lambda x: np.sum(np.concatenate([x.T.ravel(), x.flatten()[::-2]]) * 2.0) + np.sum(np.reshape(x, (3, 2))[1:, ::-1] ** 2),
        "products": lambda x: np.sum(np.dot(x, x.T)) + np.trace(x @ x.T) + np.sum(np.einsum("ij,kj->ik", x, x)) + np.tensordot(x, x),
        "joins": lambda x: np.sum(np.vstack([x, x * 2]) ** 2) + np.sum(np.hstack((x, x))[0] ** 3) + np.sum(np.stack([x[0], x[1] ** 2], axis=1)),
        "indices": lambda x: x[0, 1] * x[1][2] + np.sum(x[:, [0, 2, 0]] ** 2) + np.sum(x[x > 0]) + np.sum(x[None, ..., -1] ** 3),
        "lists": lambda x: np.sum(np.array([x[0, 0], 2.0, np.sin(x[1, 1])])) + np.sum(np.array([[x[0, 1], 1.0], [2.0, x[1, 0]]]) ** 2),
        "choices": lambda x: np.sum(np.where(x > 0, x**2, -x)) + np.sum(np.maximum(x, 0.1)) + np.sum(np.clip(x, -1.0, 1.0) ** 2),
        "linalg": lambda x: np.linalg.slogdet(x @ x.T)[1] + np.sum(np.linalg.solve(x @ x.T, x)) + np.linalg.norm(x) + np.linalg.det(x @ x.T),
        "cholesky": lambda x: np.sum(np.linalg.cholesky(x @ x.T + 3 * np.eye(2)) * np.array([[1.0, 0.0], [2.0, 3.0]])),
        "fft": lambda x: np.sum(np.abs(np.fft.fft(x, axis=1)) ** 2) + np.real(np.fft.ifft2(x))[0, 1],
        "constants": lambda x: np.sum(x) * x.shape[0] * x.ndim * x.size * len(x) + np.argmax(x) + np.floor(x[0, 0]) + np.sign(x[0, 1]),
        "control": lambda x: sum([row @ row if row[0] > 0.5 else row.sum() for row in x]),
        "in_place_names": lambda x: in_place_names(x),
    }


def in_place_names(x):
    total = x[0]
    first = total
    total += x[1]
    total *= 2.0
    return (total * first).sum()


@program
def values_and_gradients(lib):
    return [lib.ag.value_and_grad(f)(X) for f in scalar_functions(lib.np).values()]


@program
def hessian_vector_products(lib):
    return [lib.ag.hessian_vector_product(f)(X, X[::-1]) for name, f in scalar_functions(lib.np).items() if name != "constants"]


@program
def operators(lib):
    ag, np = lib.ag, lib.np
    f = lambda x: np.sin(x) * np.dot(x, V)  # noqa: E731
    g = lambda x: np.sum(f(x) ** 2)  # noqa: E731
    return [
        ag.jacobian(f)(V), ag.hessian(g)(V), ag.elementwise_grad(np.tanh)(X), ag.deriv(lambda t: t**3)(2.0), ag.make_vjp(f)(V)[0](V),
        ag.make_jvp(f)(V)(V[::-1]), ag.make_hvp(g)(V)[0](V), ag.tensor_jacobian_product(f)(V, V), ag.make_ggnvp(f)(V)(V),
        ag.grad_and_aux(lambda x: (g(x), x**2))(V), ag.grad_named(lambda a, b: np.sum(a * b**2), "b")(V, V),
        ag.grad(lambda a, b: np.sum(a * b), argnum=(0, 1))(V, 2.0), ag.grad(ag.grad(lambda t: t**4))(1.5),
        ag.checkpoint(f)(V), ag.grad(lambda x: np.sum(ag.checkpoint(f)(x)))(V), ag.vector_jacobian_product(f)(V, V),
    ]  # fmt: skip


@program
def complex_numbers(lib):
    ag, np = lib.ag, lib.np
    return [
        ag.grad(lambda z: np.sum(np.abs(z) ** 2 + np.real(z**3)))(Z), ag.holomorphic_grad(lambda z: np.sum(np.exp(z) * z))(Z),
        ag.grad(lambda x: np.real(np.sum(np.exp(1j * x) * Z)))(V), ag.make_vjp(lambda z: z**2)(Z)[0](Z),
    ]  # fmt: skip


@program
def containers(lib):
    ag, np = lib.ag, lib.np
    params = {"w": X, "b": [V, 0.5], "t": (1.0, V)}
    f = lambda p: np.sum(np.dot(p["w"], p["b"][0])) * p["b"][1] + p["t"][0] ** 2 + np.sum(p["t"][1] ** 3)  # noqa: E731
    found = ag.grad(f)(params)
    flat, unflatten = lib.module("misc").flatten(params)
    back = unflatten(flat * 2)
    return [found["w"], found["b"], found["t"], flat, back["w"], back["b"], back["t"]]


@program
def optimizers(lib):
    ag, np, optimizers = lib.ag, lib.np, lib.module("misc.optimizers")
    loss = lambda p, i: np.sum((np.tanh(np.dot(X, p["v"])) - 0.3 * i) ** 2) + p["c"] ** 2  # noqa: E731
    seen = []
    start = {"v": V, "c": 0.4}
    found = [getattr(optimizers, name)(ag.grad(loss), start, num_iters=7) for name in ("sgd", "rmsprop", "adam")]
    optimizers.adam(ag.grad(loss), start, callback=lambda p, i, g: seen.append((p["c"], i, g["v"])), num_iters=3)
    return [list(p.values()) for p in found] + [seen]


@program
def primitives(lib):
    ag, np, extend = lib.ag, lib.np, lib.module("extend")

    @extend.primitive
    def logsumexp(x, scale):
        assert type(x) is onp.ndarray
        top = x.max()
        return scale * (top + onp.log(onp.exp(x - top).sum()))

    extend.defvjp(
        logsumexp,
        lambda ans, x, scale: lambda g: g * scale * np.exp(x - ans / scale),
        lambda ans, x, scale: lambda g: g * ans / scale,
    )
    extend.defjvp(
        logsumexp,
        lambda g, ans, x, scale: scale * np.sum(g * np.exp(x - ans / scale)),
        lambda g, ans, x, scale: g * ans / scale,
    )
    f = lambda x: logsumexp(x**2, np.sum(x))  # noqa: E731
    return [ag.grad(f)(V), ag.hessian(f)(V), ag.make_jvp(f)(V)(V), ag.make_jvp(lambda x: ag.make_jvp(f)(x)(x)[1])(V)(V)]


@program
def rules_for_many_arguments(lib):
    ag, np, extend = lib.ag, lib.np, lib.module("extend")

    @extend.primitive
    def total(*xs):
        return sum(xs)

    extend.defvjp_argnums(total, lambda argnums, ans, args, kwargs: lambda g: (g * (i + 1) for i in argnums))

    @extend.primitive
    def linear(x, y):
        return 2 * x + 3 * y

    extend.def_linear(linear)
    extend.defvjp_argnum(linear, lambda argnum, ans, args, kwargs: lambda g: (2 + argnum) * g)
    return [
        ag.grad(lambda x: np.sum(total(x, V, x**2)))(V), ag.make_jvp(lambda x: linear(x, x**2))(V)(V),
        ag.grad(lambda x: np.sum(linear(x, x**2)))(V),
    ]  # fmt: skip


@program
def fixed_points(lib):
    ag, np, fixed_point = lib.ag, lib.np, lib.module("misc.fixed_points").fixed_point
    root = lambda a: fixed_point(lambda b: lambda x: 0.5 * (x + b / x), a, 10.0, lambda x, y: np.abs(x - y), 1e-10)  # noqa: E731
    return [root(2.0), ag.grad(root)(2.0), ag.grad(ag.grad(root))(2.0)]


@program
def vector_spaces(lib):
    vspace = lib.module("core").vspace
    space = vspace((1.0, [X, {"z": Z}]))
    zeros, ones = space.zeros(), space.ones()
    return [int(space.size), zeros[1][0], ones[1][1]["z"], space.inner_prod(ones, (2.0, [X, {"z": Z}])), len(list(space.standard_basis()))]


@program
def types(lib):
    ag = lib.ag
    seen = []

    def f(x, items):
        seen.extend([ag.isinstance(x, onp.ndarray), ag.isinstance(items, list), ag.type(items) is list, lib.module("tracer").isbox(x)])
        return lib.np.sum(x) * items[0]

    ag.grad(f)(V, [1.0])
    ag.grad(f, 1)(V, [1.0])
    return seen


@program
def joins_by_index(lib):
    np = lib.np
    return [
        lib.ag.grad(lambda x: np.sum(np.r_[x, 3.0, x**2] * np.arange(7)))(V), lib.ag.grad(lambda x: np.sum(np.c_[x, x**2][1]))(V),
        lib.ag.grad(lambda x: np.sum(np.make_diagonal(x, axis1=-1, axis2=-2) ** 2))(V),
    ]  # fmt: skip


def flat(value):
    """Return the numbers of a nested value as a list of arrays."""
    if isinstance(value, (list, tuple)):
        return [x for item in value for x in flat(item)]
    if isinstance(value, (dict, OrderedDict)):
        return [x for key in sorted(value) for x in flat(value[key])]
    assert isinstance(value, (onp.ndarray, onp.generic, int, float, complex, bool)), type(value)
    return [onp.asarray(value)]


@each("name", PROGRAMS)
def test_programs_give_the_values_of_hips(name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = flat(PROGRAMS[name](Library("autograd")))
    found = flat(PROGRAMS[name](Library("wengert.hips")))
    assert len(found) == len(expected)
    for ours, theirs in zip(found, expected):
        assert ours.shape == theirs.shape
        assert ours.dtype.kind == theirs.dtype.kind
        onp.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-11)


ERRORS = {
    "vector output": lambda ag, np: ag.grad(lambda x: x * 2)(V),
    "vector output of value_and_grad": lambda ag, np: ag.value_and_grad(lambda x: x * 2)(V),
    "complex output": lambda ag, np: ag.elementwise_grad(lambda x: x * 1j)(V),
    "an integer": lambda ag, np: ag.grad(lambda x: x * 2.0)(3),
    "a text": lambda ag, np: ag.grad(lambda x: 2.0)("a"),
    "argnum": lambda ag, np: ag.grad(lambda x: x, argnum="x")(1.0),
    "item assignment": lambda ag, np: ag.grad(lambda x: exec("x[0] = 1.0", {"x": x}))(V),
    "float": lambda ag, np: ag.grad(lambda x: float(x))(1.0),
    "format": lambda ag, np: ag.grad(lambda x: f"{x:.2f}")(1.0),
}


@each("name", ERRORS)
def test_errors_have_hips_classes(name):
    kinds = []
    for library in ("autograd", "wengert.hips"):
        lib = Library(library)
        with pytest.raises((TypeError, AssertionError)) as caught:
            ERRORS[name](lib.ag, lib.np)
        kinds.append(caught.type)
    assert issubclass(kinds[1], kinds[0])
