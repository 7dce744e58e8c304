"""NumPy's functions on tensors: NumPy's values, with a derivative; what has none is refused where a gradient would be lost."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.special

import wengert
from loops import each
from wengert.array_protocol import FUNCTIONS, METHODS, UFUNCS
from wengert.autograd import gradcheck

RNG = np.random.default_rng(0)
A, C, B = RNG.uniform(0.2, 0.9, (3, 4)), RNG.uniform(0.2, 0.9, (3, 4)), RNG.uniform(0.2, 0.9, (4, 3))
V, W = RNG.uniform(0.2, 0.9, 4), RNG.uniform(0.2, 0.9, 4)
S = RNG.uniform(-1, 1, (3, 3)) + 3 * np.eye(3)
Z = RNG.normal(size=4) + 1j * RNG.normal(size=4)
N, M = np.array([1, 2, 3, 12]), np.array([2, 2, 5, 1])

# Functions of NumPy, and arguments; those of floating dtype are given as tensors.
CALLS = {
    "sum": [(A,), (A, 0), (A, (0, 1)), (A, -1, None, None, True)],
    "prod": [(A,), (A, 1), (A, (0, 1))],
    "mean": [(A,), (A, 0)],
    "max": [(A,), (A, 0)],
    "min": [(A,), (A, 1)],
    "amax": [(A, 1)],
    "amin": [(A,)],
    "all": [(A > 0.5,), (A > 0.5, 1)],
    "any": [(A > 0.5,), (A > 0.5, 0)],
    "nansum": [(A, 0)],
    "nanmean": [(A, 1)],
    "std": [(A,), (A, 0)],
    "var": [(A,), (A, 1)],
    "median": [(V,), (A, 0), (A, 1)],
    "quantile": [(A, 0.3), (A, 0.3, 1)],
    "percentile": [(A, 30.0, 0)],
    "argmax": [(A,), (A, 0)],
    "argmin": [(A,), (A, 1)],
    "cumsum": [(A,), (A, 0)],
    "cumprod": [(A,), (A, 1)],
    "ravel": [(A,)],
    "copy": [(A,)],
    "swapaxes": [(A, 0, 1)],
    "moveaxis": [(A, 0, 1)],
    "broadcast_to": [(V, (2, 4)), (V[:1], 3)],
    "fliplr": [(A,)],
    "flipud": [(A,)],
    "rot90": [(A,), (A, 2)],
    "roll": [(A, 1), (A, 1, 0)],
    "tile": [(A, 2), (A, (2, 1))],
    "diagonal": [(A,), (A, 1)],
    "diag": [(V,), (A,), (V, 1)],
    "tril": [(A,), (A, 1)],
    "triu": [(A, -1)],
    "real": [(Z,), (V,)],
    "imag": [(Z,), (V,)],
    "angle": [(Z,)],
    "reshape": [(A, (2, 6)), (A, -1)],
    "transpose": [(A,), (A, (1, 0))],
    "squeeze": [(A[:1],), (A[:, :1], 1)],
    "expand_dims": [(A, 0), (A, (0, 3))],
    "flip": [(A,), (A, 1)],
    "repeat": [(V, 2), (A, 2, 0), (V, np.array([1, 0, 2, 1]))],
    "take": [(V, [0, 2]), (A, np.array([1, 1]), 1), (A, 5)],
    "where": [(A > 0.5, A, 0.0), (V, V, W)],
    "clip": [(A, 0.3, 0.6), (A, None, 0.6)],
    "round": [(10 * A,), (A, 1)],
    "around": [(10 * A,)],
    "nan_to_num": [(A,)],
    "sort": [(A,), (A, 0), (A, None)],
    "argsort": [(A,), (A, 0)],
    "diff": [(V,), (A, 1, 0)],
    "sinc": [(A,)],
    "i0": [(V,)],
    "dot": [(V, W), (A, B), (A, V), (V, B), (2.0, V), (A.reshape(2, 2, 3), B.reshape(2, 3, 2))],
    "inner": [(V, W), (A, A)],
    "vdot": [(V, W), (Z, Z[::-1].copy())],
    "outer": [(V, W), (A, V)],
    "tensordot": [(A, B, 1), (A, B, ((0,), (1,))), (A, B, (1, 0)), (A, A)],
    "kron": [(V, W), (A, B)],
    "trace": [(S,), (A, 1)],
    "linalg.norm": [(V,), (A,), (A, None, 0), (V, 3), (A, "fro")],
    "linalg.det": [(S,)],
    "linalg.inv": [(S,)],
    "linalg.matrix_power": [(S, 3)],
    "linalg.pinv": [(A,)],
    "linalg.solve": [(S, B[:3]), (S, V[:3])],
    "fft.fft": [(V,), (A, None, 0), (V, 6), (V, None, -1, "ortho")],
    "fft.ifft": [(Z,)],
    "fft.rfft": [(V,)],
    "fft.irfft": [(Z,)],
    "fft.hfft": [(Z,)],
    "fft.ihfft": [(V,)],
}
LISTS = {
    "concatenate": [((V, W),), ((A, A), 1), ((A, V.reshape(2, 2)), None)],
    "stack": [((V, W),), ((V, W), 1)],
    "vstack": [((V, W),)],
    "hstack": [((A, A),)],
    "dstack": [((A, A),)],
    "column_stack": [((V, W),)],
}
# Of symmetric matrices, of several results, determined up to a sign: what is differentiated.
DECOMPOSITIONS = {
    "linalg.svd": lambda f, x: (f(x)[0] * f(x)[1]) @ f(x)[2],
    "linalg.qr": lambda f, x: f(x)[0] @ f(x)[1],
    "linalg.slogdet": lambda f, x: f(x)[0] * f(x)[1],
    "linalg.eigh": lambda f, x: (f(x @ x.T)[1] * f(x @ x.T)[0]) @ f(x @ x.T)[1].T,
    "linalg.eigvalsh": lambda f, x: f(x @ x.T),
    "linalg.cholesky": lambda f, x: f(x @ x.T),
}


def function_of(name):
    found = np
    for part in name.split("."):
        found = getattr(found, part)
    return found


def named_calls(calls):
    return [pytest.param(name, a, id=f"{name}-{i}") for name, samples in calls.items() for i, a in enumerate(samples)]


def is_float(x):
    return isinstance(x, np.ndarray) and x.dtype.kind in "fc"


def check(function, arguments):
    """Check the value against NumPy's, for tensors that require a gradient, and the derivative against finite differences."""
    expected = function(*arguments)
    tensors = [wengert.tensor(x, requires_grad=True) if is_float(x) else x for x in arguments]
    if not any(isinstance(x, wengert.Tensor) for x in tensors):
        tensors[0] = wengert.tensor(arguments[0])
    found = function(*tensors)
    assert isinstance(found, wengert.Tensor) and found.shape == np.shape(expected)
    np.testing.assert_allclose(found.numpy(force=True), expected, rtol=1e-12, atol=1e-14)
    if found.requires_grad:
        leaves = tuple(x for x in tensors if isinstance(x, wengert.Tensor))

        def run(*given):
            given = iter(given)
            return function(*[next(given) if isinstance(x, wengert.Tensor) else x for x in tensors])

        assert gradcheck(run, leaves)
    else:  # of integers, or constant
        assert expected.dtype.kind in "biu" or len(np.unique(expected)) == 1


@each(("name", "arguments"), named_calls(CALLS))
def test_function(name, arguments):
    check(function_of(name), arguments)


@pytest.mark.parametrize(("name", "arguments"), named_calls(LISTS))
def test_function_of_a_list(name, arguments):
    (arrays, *more), function = arguments, function_of(name)
    check(lambda *xs: function(list(xs), *more), arrays)


@pytest.mark.parametrize("name", DECOMPOSITIONS)
def test_decomposition(name):
    check(lambda x: DECOMPOSITIONS[name](function_of(name), x), (S,))


def test_einsum():
    check(lambda a, b: np.einsum("ij,jk->ik", a, b), (A, B))


def test_every_function_is_tested():
    tested = {function_of(name) for name in (*CALLS, *LISTS, *DECOMPOSITIONS)} | {np.einsum}
    assert set(FUNCTIONS) == tested
    assert set(FUNCTIONS) >= METHODS


def arguments_of(ufunc):
    if ufunc.types[0].endswith("->?") and ufunc.__name__.startswith("logical"):
        return (A > 0.5, A > 0.4)[: ufunc.nin]
    if all(set(t.split("->")[0]) <= set("?bBhHiIlLqQO") for t in ufunc.types):
        return (N, M)[: ufunc.nin]
    if ufunc is np.ldexp:
        return V, N
    if ufunc is np.arccosh:
        return (A + 1.5,)
    if ufunc is np.matmul:
        return A, B
    if ufunc is scipy.special.betainc:
        return A + 1, C + 1, A / (A + 1)
    return (A, C)[: ufunc.nin]


@each("name", UFUNCS)
def test_ufunc(name):
    ufunc = getattr(np, name, None)
    ufunc = ufunc if isinstance(ufunc, np.ufunc) else getattr(scipy.special, name)
    check(ufunc, arguments_of(ufunc))


@pytest.mark.parametrize("name", ["add", "multiply", "maximum", "minimum"])
def test_reduce(name):
    check(lambda x: getattr(np, name).reduce(x), (A,))
    check(lambda x: getattr(np, name).reduce(x, axis=1), (A,))


def test_operators_with_an_array_on_the_left():
    for function in (
        lambda a, x: a + x, lambda a, x: a - x, lambda a, x: a * x, lambda a, x: a / x, lambda a, x: a**x, lambda a, x: a @ x.T,
        lambda a, x: a % x, lambda a, x: a // x,
    ):  # fmt: skip
        check(lambda x, f=function: f(A, x), (C,))
    assert (wengert.tensor(C) > A).tolist() == (A < C).tolist()


def test_dtypes_are_torchs():
    x = wengert.tensor([1.0, 2.0])
    assert np.sin(x).dtype is wengert.float32 and np.sin(wengert.tensor([1, 2])).dtype is wengert.float32
    assert (np.float64(2) * x).dtype is wengert.float32 and (np.ones(2) * x).dtype is wengert.float64
    # Products take operands of two dtypes, as NumPy's.
    assert (np.ones((2, 2)) @ x).dtype is wengert.float64 and np.dot(np.ones(2), x).dtype is wengert.float64


def test_numpy_functions_of_tensors_without_gradient_return_the_types_of_torch():
    x = wengert.tensor([1.0, 2.0])
    assert type(np.concatenate([x, x])) is type(np.stack([x, x])) is np.ndarray
    assert isinstance(np.linalg.norm(x), np.float32)
    assert isinstance(np.sin(x), wengert.Tensor) and isinstance(np.modf(x)[0], wengert.Tensor)
    assert isinstance(np.sum(x), wengert.Tensor) and np.sum(x, where=[True, False]) == 1.0
    with wengert.no_grad():
        assert np.histogram(x, bins=2)[0].tolist() == [1, 1]


def test_numpy_queries_take_any_tensor():
    x = wengert.tensor(A, requires_grad=True)
    assert np.shape(x) == (3, 4) and np.ndim(x) == 2 and np.size(x) == 12
    assert np.allclose(x, A) and np.array_equal(x, A) and np.isclose(x, A).all() and np.isrealobj(x)
    assert np.count_nonzero(x) == 12 and np.iscomplexobj(x) is False and np.shares_memory(x, x.detach())


NO_NUMPY = r"^Can't call numpy\(\) on Tensor that requires grad\. Use tensor\.detach\(\)\.numpy\(\) instead\."
REFUSED = {
    "no derivative": (lambda x: np.histogram(x), RuntimeError, NO_NUMPY + r" numpy\.histogram has no derivative here"),
    "ufunc without a derivative": (lambda x: np.modf(x), RuntimeError, NO_NUMPY),
    "method of a ufunc": (lambda x: np.add.reduceat(x, [0]), RuntimeError, NO_NUMPY + r" numpy\.add\.reduceat has no derivative here"),
    "ufunc with settings": (lambda x: np.add(x, 1, where=np.array([True, False])), RuntimeError, NO_NUMPY),
    "out": (lambda x: np.add(x, 1, out=np.zeros(2)), RuntimeError, NO_NUMPY + r" numpy\.add with out has no derivative here"),
    "arguments": (
        lambda x: np.sum(x, where=[True, False]), TypeError,
        r"^numpy\.sum cannot be called with where on a Tensor that requires grad or has a tangent\. Hint: call the operation of wengert, or detach",
    ),
    "arguments of a reduction": (
        lambda x: np.add.reduce(x, where=[True, False]), TypeError, r"^numpy\.add\.reduce cannot be called with where on a"
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_a_gradient_is_never_lost_in_silence(case):
    run, kind, text = REFUSED[case]
    with pytest.raises(kind, match=text):
        run(wengert.tensor([1.0, 2.0], requires_grad=True))


def test_writing_into_arrays_and_tensors():
    array, x = np.ones(2), wengert.tensor([1.0, 2.0])
    array += x
    assert array.tolist() == [2.0, 3.0]
    target = wengert.zeros(2)
    found = np.add(x, 1, out=target)
    assert found is target and target.tolist() == [2.0, 3.0] and target._version == 1
    y = x.clone().requires_grad_()
    with pytest.raises(RuntimeError, match=NO_NUMPY):
        array += y
    assert array.tolist() == [2.0, 3.0]


def test_a_write_by_numpy_is_found():
    x = wengert.ones(2, requires_grad=True)
    w = wengert.ones(2)
    y = (x * w).sum()
    np.multiply(w, 3, out=w)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.backward()


def test_other_types_come_first():
    class Other:
        def __array_ufunc__(self, *args, **kwargs):
            return NotImplemented

        def __array_function__(self, function, types, args, kwargs):
            return "mine"

    x = wengert.ones(2)
    assert np.concatenate([x, Other()]) == "mine"


def test_subclasses():
    p = wengert.nn.Parameter(wengert.ones(2)) if hasattr(wengert.nn, "Parameter") else wengert.ones(2, requires_grad=True)
    np.sum(np.exp(p)).backward()
    np.testing.assert_allclose(p.grad.numpy(), np.exp([1.0, 1.0]), rtol=1e-6)
