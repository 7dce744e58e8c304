"""wengert.numpy.polynomial: every function and class of numpy.polynomial, with coefficients that require grad."""

from __future__ import annotations

import inspect
import pickle
from typing import Any

import numpy
import numpy.polynomial.polyutils
import pytest

import wengert
import wengert.numpy as np
from loops import each
from wengert.autograd import grad

# The families, and the beginning of the names of their functions.
FAMILIES = {"polynomial": "poly", "chebyshev": "cheb", "legendre": "leg", "hermite": "herm", "hermite_e": "herme", "laguerre": "lag"}
C, T = numpy.array([0.7, -0.4, 0.3, 0.9]), numpy.array([0.4, -0.6, 0.5, 0.3])

# Ends of names -> calls with the module f, the namespace np, the coefficients c, the points x and a matrix m, which are made of c.
CALLS = {
    "add": "f(c, [1.0, 2.0])", "sub": "f([1.0, 2.0], c)", "mul": "f(c, c)", "mulx": "f(c)", "div": "f(c, c[:2])", "pow": "f(c, 2)",
    "val": "f(x, c)", "val2d": "f(x, x, m)", "val3d": "f(x, x, x, m[None])", "grid2d": "f(x, x, m)", "grid3d": "f(x, x, x, m[None])",
    "der": "f(c)", "int": "f(c, 2, k=[c[0], 1.0])", "fromroots": "f(c)", "vander": "f(x, 3)", "vander2d": "f(x, x, [1, 2])",
    "vander3d": "f(x, x, x, [1, 1, 1])", "fit": "f(np.linspace(0.0, 1.0, 4), c, 2)", "trim": "f(c)", "roots": "f(c)", "line": "f(c[0], c[1])",
    "companion": "f(c)", "weight": "f(x / 9)", "valfromroots": "f(x, c)", "interpolate": "f(lambda t: np.sin(t) * c[0], 3)",
    "2poly": "f(c)", "valnd": "f([x, x], m)",  # the latter since NumPy 2.5
}  # fmt: skip
WITHOUT_NUMBERS = {"gauss", "pts1", "pts2"}  # nodes and weights of a degree


def module_of(family: str, theirs: bool) -> Any:
    return getattr((numpy if theirs else np).polynomial, family)


def functions(family: str) -> list[tuple[str, str]]:
    """Return the names of the functions of a family, with their calls."""
    prefix, found = FAMILIES[family], []
    for name, function in vars(module_of(family, True)).items():
        if inspect.isfunction(function) and not name.startswith("_") and function.__module__.endswith(f".{family}"):
            end = name.removeprefix(prefix) if name.startswith(prefix) else "2poly"
            if end not in WITHOUT_NUMBERS:
                found.append((name, CALLS[end]))
    return found


def row(found: Any, of_theirs: bool) -> Any:
    """Return the numbers of a result as one real row."""
    parts = found if isinstance(found, tuple) else (found,)
    rows = []
    for part in parts:
        part = numpy.asarray(part) if of_theirs else np.asarray(part)
        rows += [part.real.reshape(-1), part.imag.reshape(-1)] if part.dtype.kind == "c" else [part.reshape(-1)]
    return (numpy if of_theirs else np).concatenate(rows)


def check(call: Any) -> None:
    """Compare values, first and second derivatives of call(namespace, c) with NumPy's, by central differences."""
    expected = row(call(numpy, C), True)
    weights = numpy.random.default_rng(0).uniform(0.5, 1.5, expected.shape)

    def slope(values: numpy.ndarray) -> tuple[Any, Any, Any]:
        c = np.array(values).requires_grad_()
        found = row(call(np, c), False)
        (g,) = grad((found * weights).sum(), c, create_graph=True)
        return c, found, (g * T).sum()

    c, found, first = slope(C)
    numpy.testing.assert_allclose(numpy.asarray(found.detach()), expected, rtol=1e-9, atol=1e-12)
    step = 1e-6
    difference = (row(call(numpy, C + step * T), True) - row(call(numpy, C - step * T), True)) @ weights / (2 * step)
    numpy.testing.assert_allclose(float(first.detach()), difference, rtol=1e-6, atol=1e-7)
    second = grad(first, c, allow_unused=True)[0] if first.requires_grad else None
    second = 0.0 if second is None else float((second * T).sum())
    step = 1e-5
    difference = (float(slope(C + step * T)[2].detach()) - float(slope(C - step * T)[2].detach())) / (2 * step)
    numpy.testing.assert_allclose(second, difference, rtol=1e-4, atol=1e-4)


@each("family", FAMILIES)
def test_every_function_differentiates(family):
    for name, code in functions(family):

        def call(namespace, c, name=name, code=code):
            f = getattr(module_of(family, namespace is numpy), name)
            return eval(code, {"f": f, "np": namespace, "c": c, "x": c + 0.1, "m": c.reshape(2, 2)})

        check(call)


METHODS = {
    "call": lambda p, c: p(c), "product": lambda p, c: (p * p).coef, "sum": lambda p, c: (p + 1.0).coef, "power": lambda p, c: (p**2).coef,
    "deriv": lambda p, c: p.deriv(2).coef, "integ": lambda p, c: p.integ(lbnd=0.5).coef, "roots": lambda p, c: p.roots(),
    "division": lambda p, c: (p // p.basis(1)).coef, "rest": lambda p, c: (p % p.basis(2)).coef, "linspace": lambda p, c: p.linspace(5)[1],
    "window": lambda p, c: type(p)(c, domain=[0, 2])(0.3), "trim": lambda p, c: p.trim().coef, "convert": lambda p, c: p.convert(domain=[0, 1]).coef,
}  # fmt: skip


@pytest.mark.slow
@each(("kind", "method"), [(kind, method) for kind in ("Polynomial", "Chebyshev", "Legendre", "Hermite", "HermiteE", "Laguerre") for method in METHODS])
def test_every_class_differentiates(kind, method):
    check(lambda namespace, c: METHODS[method](getattr(namespace.polynomial, kind)(c), c))


def test_fits_and_conversions_differentiate():
    x = numpy.linspace(-1.0, 1.0, 4)
    check(lambda namespace, c: namespace.polynomial.Chebyshev.fit(x, c, 2).coef)
    check(lambda namespace, c: namespace.polynomial.Chebyshev(c).convert(kind=namespace.polynomial.Polynomial).coef)


def test_numpys_own_modules_are_as_before():
    assert numpy.polynomial.chebyshev is not np.polynomial.chebyshev
    assert isinstance(numpy.polynomial.Chebyshev([1.0, 2.0]).coef, numpy.ndarray)
    p = pickle.loads(pickle.dumps(np.polynomial.Chebyshev([1.0, 2.0])))
    assert type(p) is np.polynomial.Chebyshev and float(p(0.5)) == 2.0
    with pytest.raises(TypeError, match="deg must be an integer|must be an int"):
        np.polynomial.chebyshev.chebvander(np.ones(2), 1.5)
    assert isinstance(wengert.asarray(np.polynomial.chebyshev.chebval(0.5, np.ones(3))), wengert.Tensor)
