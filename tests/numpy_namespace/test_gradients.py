"""Gradients of NumPy's functions, methods, indexing and writes on ndarrays, by finite differences."""

import numpy
import pytest

import wengert
import wengert.numpy as np
from loops import each
from numpy_namespace.programs import PROGRAMS, S, V, X, with_numpy

# No derivative: conditions, integers, numbers that do not depend on the input, casts to float32 (rounding noise in differences).
WITHOUT = {
    "x > 0.4", "x.argmax(axis=1)", "x.argsort(axis=0)", "x.any(axis=1)", "x.astype(np.float32)", "x.astype(int)", "x.imag",
    "np.searchsorted(np.sort(v), 0.5)", "np.allclose(x, x)", "np.zeros_like(x)", "x[k[0]]", "v ** k", "x + k[:, None]", "k * v", "k / v",
    "np.linalg.slogdet(s)[1]",
}  # fmt: skip
SYMMETRIC = {source for source in PROGRAMS if "cholesky" in source or "eigvalsh" in source}


def _flat(found):
    """Return results as one real vector."""
    found = found if isinstance(found, (tuple, list)) else [found]
    return [part for x in found for part in ((x.real, x.imag) if x.dtype.kind == "c" else (x,))]


def _weighted(np, found):
    total = 0.0
    for i, x in enumerate(_flat(found)):
        weights = numpy.cos(numpy.arange(x.size).reshape(x.shape) + i)
        total = total + np.sum(x * weights)
    return total


@each("source", sorted(set(PROGRAMS) - WITHOUT))
def test_gradients_agree_with_finite_differences(source):
    arrays = {"x": np.array(X), "s": np.array(S), "v": np.array(V)}
    for array in arrays.values():
        array.requires_grad = True
    found = _weighted(np, PROGRAMS[source](np, k=np.array([2, 1, 3]), **arrays))
    found.backward()
    for name, values in (("x", X), ("s", S), ("v", V)):
        gradient = arrays[name].grad
        gradient = numpy.zeros_like(values) if gradient is None else numpy.asarray(gradient)
        direction = numpy.sin(1.0 + numpy.arange(values.size)).reshape(values.shape)
        if name == "s" and source in SYMMETRIC:
            direction = direction + direction.T
        step = 1e-6
        ends = [_weighted(numpy, with_numpy(source, **{name: values + sign * step * direction})) for sign in (1, -1)]
        expected = (ends[0] - ends[1]) / (2 * step)
        assert numpy.sum(gradient * direction) == pytest.approx(expected, rel=2e-6, abs=2e-7)


def test_gradients_of_gradients_and_forward_mode():
    def f(x):
        return np.linalg.norm(np.sin(x[::-1]) * x.std() + np.array([x[0], x[1] ** 2, 1.0]))

    x = wengert.tensor(V, requires_grad=True)
    assert wengert.autograd.gradcheck(lambda t: wengert.asarray(f(np.asarray(t))), (x,), check_forward_ad=True)
    assert wengert.autograd.gradgradcheck(lambda t: wengert.asarray(f(np.asarray(t))), (x,))


def _fill(np, x):
    out = np.zeros((2, 3))
    out[0] = x
    out[1, ::-1] = 2 * x
    out[:, [0, 2]] *= 3.0
    out[out > 2.0] = x[0]
    view = out.T[1]
    view += x[2]
    out.flat[0] = x[1] ** 2
    out[0, 1:] -= out[1, :2]
    np.add.at(out, ([0, 0], [1, 1]), x[:2])
    np.fill_diagonal(out, x[2] * x[1])
    return out


def test_writes_views_and_in_place_operators():
    x = np.array(V).requires_grad_()
    found = _fill(np, x)
    numpy.testing.assert_allclose(numpy.asarray(found.detach()), _fill(numpy, V), rtol=1e-13)
    weights = numpy.cos(numpy.arange(6.0)).reshape(2, 3)
    (found * weights).sum().backward()
    for i in range(3):
        step = numpy.zeros(3)
        step[i] = 1e-6
        expected = ((_fill(numpy, V + step) - _fill(numpy, V - step)) * weights).sum() / 2e-6
        assert float(x.grad[i]) == pytest.approx(expected, rel=1e-7)


def test_out_where_and_dtype():
    x, out = np.array(V).requires_grad_(), np.zeros(3)
    assert np.multiply(x, 2.0, out=out) is out
    assert np.sum(x * out, dtype=np.float64).item() == pytest.approx(2 * (V * V).sum())
    np.add(out, x, out, where=[True, False, True])
    total = np.zeros(())
    assert np.sum(x * 0, None, None, total) is total
    out.sum().backward()
    assert x.grad.tolist() == [3.0, 2.0, 3.0]
    y = np.array(V).requires_grad_()
    y.sum(where=[True, False, True]).backward()
    assert y.grad.tolist() == [1.0, 0.0, 1.0]


def test_in_place_operators_that_need_what_they_overwrite():
    x = np.array(V).requires_grad_()
    y = x * 1
    y **= 2
    y *= y
    np.exp(y, out=y)
    np.multiply(y, x, y)
    y %= 7.3
    y.sum().backward()
    expected = numpy.exp(V**4) * (1 + 4 * V**4)
    numpy.testing.assert_allclose(numpy.asarray(x.grad), expected)


def test_frompyfunc_differentiates_through_its_function():
    run = np.frompyfunc(lambda a, b: (a * np.exp(b), a), 2, 2)
    v = np.array(V)
    v.requires_grad = True
    product, same = run(v[:, None], X)
    assert product.shape == same.shape == X.shape and product.dtype == numpy.float64
    numpy.testing.assert_allclose(product.detach(), V[:, None] * numpy.exp(X))
    (product.sum() + 2 * same.sum()).backward()
    numpy.testing.assert_allclose(v.grad, numpy.exp(X).sum(axis=1) + 2 * X.shape[1])
    assert run(V, V)[0].dtype == object  # as NumPy's


def test_vectorize_with_a_signature_refuses_what_does_not_fit():
    v = np.array(V)
    v.requires_grad = True
    for run, args, error in [
        (lambda a, b: a.sum(), (v, V[:2]), ValueError), (lambda a, b: a.sum(), (v,), TypeError), (lambda a, b: (a, b, a), (v, V), ValueError),
        (lambda a, b: a, (v[0], V), ValueError),
    ]:  # fmt: skip
        with pytest.raises(error):
            np.vectorize(run, signature="(n),(n)->(n),()")(*args)
