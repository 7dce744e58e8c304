"""NumPy's functions on tensors: NumPy's values, with a derivative; what has none is refused where a gradient would be lost."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.special

import wengert
from loops import each
from wengert.array_functions import FUNCTIONS, METHODS
from wengert.array_protocol import UFUNCS
from wengert.autograd import gradcheck, gradgradcheck

RNG = np.random.default_rng(0)
A, C, B = RNG.uniform(0.2, 0.9, (3, 4)), RNG.uniform(0.2, 0.9, (3, 4)), RNG.uniform(0.2, 0.9, (4, 3))
V, W = RNG.uniform(0.2, 0.9, 4), RNG.uniform(0.2, 0.9, 4)
S = RNG.uniform(-1, 1, (3, 3)) + 3 * np.eye(3)
Z = RNG.normal(size=4) + 1j * RNG.normal(size=4)
N, M = np.array([1, 2, 3, 12]), np.array([2, 2, 5, 1])

MASK, X5, F5, C2 = A > 0.5, np.array([0.1, 0.25, 0.4, 0.7, 0.9]), np.array([0.3, 0.9, 0.2, 0.5, 0.7]), np.array([0.2, 0.5])
NANS = np.where(np.arange(12).reshape(3, 4) % 5 == 1, np.nan, A)
CUBE = RNG.uniform(0.2, 0.9, (2, 3, 2))

# The same for what numpy.pad, numpy.gradient and others add to the calls below.
MORE_CALLS = {
    "emath.sqrt": [(V,), (V - 0.5,), (Z,)],
    "emath.log": [(V - 0.5,)],
    "emath.log2": [(V - 0.5,)],
    "emath.log10": [(V - 0.5,)],
    "emath.arccos": [(V,), (5 * V - 2.5,)],
    "emath.arcsin": [(V,), (5 * V - 2.5,)],
    "emath.arctanh": [(V,), (5 * V - 2.5,)],
    "emath.logn": [(W, V), (2.0, V - 0.5)],
    "emath.power": [(V, W), (V - 0.5, 0.5)],
    "lib.stride_tricks.sliding_window_view": [(V, 2), (A, (2, 3)), (A, 2, 1), (V, (2, 2), (0, 0))],
    "sum": [(A, None, None, None, False, 2.0), (A, 1, None, None, False, 0, MASK)],
    "prod": [(A, 1, None, None, False, 2.0, MASK)],
    "mean": [(A, 0, None, None, True), (N, 0)],
    "std": [(A, (0, 1)), (A, 0, None, None, 1)],
    "ptp": [(A,), (A, 0)],
    "average": [(A,), (A, 0), (A, 1, V), (A, None, A)],
    "cov": [(A,), (V,), (V, W), (A, None, False), (A, None, True, True)],
    "corrcoef": [(A,), (V, W)],
    "nanmax": [(NANS,), (NANS, 0)],
    "nanmin": [(NANS, 1)],
    "nanprod": [(NANS, 0)],
    "nanstd": [(NANS,), (NANS, 1)],
    "nanvar": [(NANS, 0), (NANS, None, None, None, 1)],
    "nanmedian": [(NANS, 0)],
    "nanquantile": [(NANS, 0.3, 1)],
    "nanpercentile": [(NANS, 40.0)],
    "nancumsum": [(NANS, 0), (NANS,)],
    "nancumprod": [(NANS, 1)],
    "quantile": [(A, np.array([0.2, 0.7]), 0), (CUBE, 0.3, (0, 2))],
    "median": [(CUBE, (0, 1))],
    "cumulative_sum": [(V,)],
    "cumulative_prod": [(V,)],
    "bincount": [(N, V)],
    "append": [(V, W), (A, A, 0), (A, V)],
    "insert": [(V, 1, 0.5), (V, [1, 3], C2), (A, 1, V[:3], 1), (A, 0, V, 0), (V, 2, C2), (A, 5, 0.5), (A, [0, 2], V[:1], 1)],
    "delete": [(V, 1), (A, [0, 2], 1), (A, 5), (V, slice(1, 3))],
    "array_split": [(V, 3), (A, 2, 1), (V, [1, 3])],
    "split": [(V, 2), (V, [1, 2])],
    "hsplit": [(A, 2), (V, 2)],
    "vsplit": [(A, 3)],
    "dsplit": [(CUBE, 2)],
    "unstack": [(A,)],
    "broadcast_arrays": [(A, V)],
    "meshgrid": [(V, C2)],
    "atleast_1d": [(V,), (2.0 * V, W)],
    "atleast_2d": [(V,), (CUBE,)],
    "atleast_3d": [(V,), (A,)],
    "diagflat": [(V,), (C2, 1)],
    "matrix_transpose": [(A,), (CUBE,)],
    "linalg.matrix_transpose": [(A,)],
    "ravel": [(A, "F"), (CUBE, "F")],
    "reshape": [(A, (2, 6), "F"), (CUBE, (4, 3), "F")],
    "rollaxis": [(CUBE, 2), (CUBE, 0, 3), (CUBE, 1, 0)],
    "resize": [(V, (2, 3)), (A, 5)],
    "zeros_like": [(A,)],
    "ones_like": [(A,)],
    "full_like": [(A, 0.5)],
    "astype": [(V, np.float64)],
    "fft.fftshift": [(V,), (A, 1)],
    "fft.ifftshift": [(X5,)],
    "linalg.diagonal": [(A,), (CUBE,)],
    "fix": [(10 * V,)],
    "real_if_close": [(V,), (Z,)],
    "unwrap": [(np.array([0.1, 3.0, 6.5, 0.2]),)],
    "select": [([A > 0.6, A > 0.4], [A, 2 * A], 0.5)],
    "choose": [([0, 1, 0, 1], (V, W))],
    "piecewise": [(V, [V > 0.5], [lambda x: x**2, lambda x: 3 * x])],
    "take_along_axis": [(A, np.argsort(A, 1), 1), (A, np.array([3, 5]), None)],
    "compress": [([True, False, True], A, 0), ([0, 1], V)],
    "extract": [(MASK, A)],
    "partition": [(V, 1), (A, 1, 0)],
    "sort": [(Z,)],
    "sort_complex": [(V,), (Z,)],
    "unique": [(V,), (A, False, False, False, 0)],
    "unique_values": [(V,)],
    "union1d": [(V, W)],
    "setxor1d": [(V, W)],
    "apply_along_axis": [(lambda r: (r * r).sum(), 1, A), (lambda r: r * 2, 0, A)],
    "apply_over_axes": [(np.sum, CUBE, [0, 2])],
    "diff": [(A, 2, 1), (V, 1, -1, C2, 0.5)],
    "ediff1d": [(V,), (V, C2, 0.5)],
    "gradient": [(V,), (V, 0.5), (X5, F5), (A,), (CUBE[0], 0.5, 2.0)],
    "trapezoid": [(V,), (F5, X5), (A, None, 0.5, 0), (A, V[:3] + np.arange(3), 1.0, 0)],
    "interp": [(C2, X5, F5), (np.array([-1.0, 0.8, 2.0]), X5, F5), (C2, X5, F5, 0.1, 0.2), (0.3, X5, F5),
               (np.array([0.05, 1.3]), X5, F5, None, None, 1.0)],
    "convolve": [(V, C2), (C2, V), (F5, V, "same"), (V, F5, "valid"), (X5, C2, "same")],
    "correlate": [(V, C2), (C2, V), (F5, V, "same"), (V, F5, "same"), (V, F5, "full"), (C2, F5, "same"), (Z, Z[::-1].copy(), "full")],
    "polyval": [(V, C2), (V, A)],
    "polyadd": [(V, C2)],
    "polysub": [(C2, V)],
    "polymul": [(V, C2)],
    "polydiv": [(V, C2)],
    "polyder": [(V,), (V, 2)],
    "polyint": [(V,), (V, 2, [0.5, 0.25])],
    "polyfit": [(X5, F5, 2), (X5, np.stack([F5, X5**2], 1), 1)],
    "poly": [(V,), (S,)],
    "roots": [(np.array([1.0, -6.0, 11.0, -6.0]),)],
    "vander": [(V,), (V, 2), (V, 3, True)],
    "linspace": [(V, 1.5, 4), (0.0, C2, 3, False), (C2, V[:2], 3, True, False, None, 1)],
    "logspace": [(C2, V[:2], 3)],
    "geomspace": [(C2, V[:2], 3)],
    "pad": [
        (V, 2), (V, (1, 2), "edge"), (A, ((1, 0), (2, 1)), "reflect"), (A, 5, "reflect"), (V, 3, "symmetric"), (V, 6, "wrap"),
        (A, 1, "linear_ramp"), (A, 2, "maximum"), (A, (1, 2), "mean"), (V, 2, "median"), (A, ((2, 1),), "minimum"),
    ],
    "linalg.tensordot": [(A, C)],
    "linalg.outer": [(V, W)],
    "linalg.matmul": [(A, B)],
    "linalg.vecdot": [(A, A)],
    "linalg.trace": [(S,), (A,)],
    "trace": [(CUBE, 0, 0, 2)],
    "cross": [(V[:3], W[:3]), (A[:, :3], V[:3]), (CUBE[:, [0, 1, 1]], CUBE[:, [1, 0, 1]], 1, 1, 1)],
    "linalg.cross": [(V[:3], W[:3])],
    "linalg.vector_norm": [(V,), (A,)],
    "linalg.matrix_norm": [(A,)],
    "linalg.cond": [(S,), (S, 1)],
    "linalg.eigvals": [(S,), (np.array([[0.1, -1.0], [0.7, 0.2]]),)],
    "linalg.svdvals": [(A,)],
    "linalg.tensorinv": [(S.reshape(3, 3, 1), 1)],
    "linalg.tensorsolve": [(S, V[:3])],
    "linalg.solve": [(np.stack([S, S.T]), V[:3])],
    "linalg.lstsq": [(B, V), (B, A.T)],
    "linalg.svd": [(A, False, False)],
    "fft.fft2": [(A,), (A, (2, 5))],
    "fft.ifft2": [(A,)],
    "fft.rfft2": [(A,)],
    "fft.irfft2": [(A,)],
    "fft.fftn": [(CUBE,), (CUBE, None, (0, 1), "ortho")],
    "fft.ifftn": [(CUBE,)],
    "fft.rfftn": [(CUBE,)],
    "fft.irfftn": [(CUBE,)],
}

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
    "linalg.multi_dot": [((A, B, A),)],
    "block": [((V, W),)],
    "concatenate": [((V, W),), ((A, A), 1), ((A, V.reshape(2, 2)), None)],
    "stack": [((V, W),), ((V, W), 1)],
    "vstack": [((V, W),)],
    "hstack": [((A, A),), ((A, V[:3, None]),)],
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


def replaced(x, replace):
    """x with each array of floats, in lists and tuples too, replaced by replace(array)."""
    if isinstance(x, (list, tuple)):
        return type(x)([replaced(item, replace) for item in x])
    return replace(x) if is_float(x) else x


def parts_of(found):
    return list(found) if isinstance(found, (list, tuple)) else [found]


def check(function, arguments):
    """Check the values against NumPy's, for tensors that require a gradient, and the derivative against finite differences."""
    expected = parts_of(function(*arguments))
    leaves = []

    def leaf(x):
        leaves.append(wengert.tensor(x, requires_grad=True))
        return leaves[-1]

    tensors = replaced(list(arguments), leaf)
    if not leaves:
        tensors[0] = wengert.tensor(arguments[0])
    found = parts_of(function(*tensors))
    assert len(found) == len(expected)
    for mine, theirs in zip(found, expected, strict=True):
        if not isinstance(mine, wengert.Tensor):  # places and counts
            assert not is_float(mine) and np.array_equal(mine, theirs)
            continue
        assert mine.shape == np.shape(theirs)
        np.testing.assert_allclose(mine.numpy(force=True), theirs, rtol=1e-12, atol=1e-14)
        # without a gradient are integers and constants
        assert mine.requires_grad or theirs.dtype.kind in "biu" or len(np.unique(theirs)) == 1
    if any(isinstance(x, wengert.Tensor) and x.requires_grad for x in found):

        def run(*given):
            given = iter(given)
            results = parts_of(function(*replaced(list(arguments), lambda x: next(given))))
            return tuple(x for x in results if isinstance(x, wengert.Tensor) and x.requires_grad)

        assert gradcheck(run, tuple(leaves))


@each(("name", "arguments"), named_calls(MORE_CALLS))
def test_function_with_more_arguments(name, arguments):
    check(function_of(name), arguments)


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


# Calls with like=, which return tensors; of numbers only, and of tensors.
LIKE = {
    "array": "[[x[0], 2.0], [3, x[1]]]", "asarray": "[x[0], 0.5]", "asanyarray": "[x, x]", "ascontiguousarray": "x", "asfortranarray": "x",
    "require": "x, float", "fromiter": "iter(x), float, 2", "full": "(2, 3), x[0]", "arange": "x[0], 4.0, x[1]",
}  # fmt: skip
LIKE_OF_NUMBERS = {
    "zeros": "3", "ones": "(2, 2), int", "eye": "2, 3", "identity": "2", "tri": "3, k=1", "frombuffer": "bytes(8)",
    "fromstring": "'1 2', sep=' '", "fromfile": "file", "loadtxt": "['1 2']", "genfromtxt": "['1 2']", "empty": "(0, 2)",
    "arange": "1, 7, 2, dtype=float", "array": "[1, 2]",
}  # fmt: skip


@each("name", LIKE)
def test_functions_with_like_make_tensors_with_a_history(name):
    check(lambda x: eval(f"np.{name}({LIKE[name]}, like=x)", {"np": np, "x": x}), (V,))


def test_functions_of_numbers_with_like_make_tensors(tmp_path):
    np.arange(3.0).tofile(tmp_path / "numbers")
    for name, arguments in LIKE_OF_NUMBERS.items():
        scope = {"np": np, "file": tmp_path / "numbers"}
        found = eval(f"np.{name}({arguments}, like=x)", {**scope, "x": wengert.tensor(V, requires_grad=True)})
        expected = eval(f"np.{name}({arguments})", scope)
        assert isinstance(found, wengert.Tensor) and found.dtype == expected.dtype, name
        np.testing.assert_array_equal(found.numpy(), expected)


def test_every_function_is_tested():
    by_hand = [name for name in BY_HAND if " " not in name and "." not in name]
    names = (*CALLS, *MORE_CALLS, *LISTS, *DECOMPOSITIONS, *by_hand, *LIKE, *LIKE_OF_NUMBERS, "einsum", "linalg.eig")
    older = [name for name in ["row_stack"] if hasattr(np, name)]  # gone in NumPy 2.5
    tested = {function_of(name) for name in (*names, *older)}
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
    if ufunc in (np.matmul, np.matvec, np.vecmat):
        return {np.matmul: (A, B), np.matvec: (A, V), np.vecmat: (V, B)}[ufunc]
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
# Calls that have no single result without jumps nearby, and what they are differentiated as.
BY_HAND = {
    "trim_zeros": (lambda x: np.trim_zeros(x), [0.0, 0.5, 0.0, 0.3, 0.0], [0.5, 0.0, 0.3], [0, 1, 1, 1, 0]),
    "unique": (lambda x: np.unique(x), [0.5, 0.2, 0.5], [0.2, 0.5], [1, 1, 0]),
    "unique_all": (lambda x: np.unique_all(x).values, [0.5, 0.2, 0.5], [0.2, 0.5], [1, 1, 0]),
    "unique_counts": (lambda x: np.unique_counts(x).values, [0.5, 0.2, 0.5], [0.2, 0.5], [1, 1, 0]),
    "unique_inverse": (lambda x: np.unique_inverse(x).values, [0.5, 0.2, 0.5], [0.2, 0.5], [1, 1, 0]),
    "intersect1d": (lambda x: np.intersect1d(x, [0.2, 0.7]), [0.5, 0.2, 0.7], [0.2, 0.7], [0, 1, 1]),
    "setdiff1d": (lambda x: np.setdiff1d(x, [0.2]), [0.5, 0.2, 0.7], [0.5, 0.7], [1, 0, 1]),
    "roots of a polynomial with leading zeros": (lambda x: np.roots(x)[:1], [0.0, 2.0, 4.0], [-2.0], [0, 1, -0.5]),
    "piecewise constant": (lambda x: np.piecewise(x, [x > 0.3], [1.0, lambda y: 3 * y]), [0.5, 0.2], [1.0, 0.6], [0, 3]),
    "interp beyond its ends": (lambda x: np.interp([-1.0, 3.0], [0.0, 1.0], x), [0.5, 0.2], [0.5, 0.2], [1, 1]),
    "empty_like": (lambda x: x * np.copysign(1.0, np.empty_like(x) * 0 + 1), [0.5], [0.5], [1]),
    "add.at": (lambda x: written(np.add.at, np.zeros(3), [0, 2, 0], x), [1.0, 2.0, 3.0], [4.0, 0.0, 2.0], [1, 1, 1]),
    "multiply.at": (lambda x: written(np.multiply.at, np.ones(2), [0, 1, 0], x), [2.0, 3.0, 4.0], [8.0, 3.0], [4, 1, 2]),
    "maximum.at": (lambda x: written(np.maximum.at, np.zeros(2), [0, 0], x), [2.0, 3.0], [3.0, 0.0], [0, 1]),
    "copyto": (lambda x: written(np.copyto, np.zeros(2), x), [2.0, 3.0], [2.0, 3.0], [1, 1]),
    "copyto where": (lambda x: written(np.copyto, np.ones(2), x, where=[True, False]), [2.0, 3.0], [2.0, 1.0], [1, 0]),
    "put": (lambda x: written(np.put, np.zeros((2, 2)), [0, -1, 2], x), [2.0, 3.0], [[2.0, 0.0], [2.0, 3.0]], [2, 1]),
    "place": (lambda x: written(np.place, np.zeros(3), [1, 1, 1], x), [2.0, 3.0], [2.0, 3.0, 2.0], [2, 1]),
    "putmask": (lambda x: written(np.putmask, np.zeros(3), [0, 1, 1], x), [2.0, 3.0], [0.0, 3.0, 2.0], [1, 1]),
    "put_along_axis": (
        lambda x: written(np.put_along_axis, np.zeros((2, 2)), np.array([[0], [1]]), x[:, None], 1),
        [2.0, 3.0], [[2.0, 0.0], [0.0, 3.0]], [1, 1],
    ),
    "fill_diagonal": (lambda x: written(np.fill_diagonal, np.zeros((2, 3)), x), [2.0, 3.0], [[2.0, 0, 0], [0, 3.0, 0]], [1, 1]),
    "out of a ufunc": (lambda x: np.multiply(x, 2, out=wengert.zeros(2)), [2.0, 3.0], [4.0, 6.0], [2, 2]),
    "out of a function": (lambda x: np.cumsum(x, out=wengert.zeros(2)), [2.0, 3.0], [2.0, 5.0], [2, 1]),
    "out of a reduction": (lambda x: np.add.reduce(x, out=wengert.zeros(())), [2.0, 3.0], 5.0, [1, 1]),
    "dtype of a join": (lambda x: np.hstack([x, x], dtype=np.float32), [2.0], [2.0, 2.0], [2]),
    "where of a ufunc": (lambda x: np.log(x, where=x > 1, out=wengert.full((2,), 7.0)), [2.0, 0.5], [np.log(2.0), 7.0], [0.5, 0]),
    "where of a reduction": (lambda x: np.max(x, initial=2.5, where=[True, False]), [2.0, 3.0], 2.5, [0, 0]),
    "dtype of a ufunc": (lambda x: np.add(x, 1, dtype=np.float32), [2.0], [3.0], [1]),
    "frompyfunc of two arguments": (lambda x: np.frompyfunc(lambda a, b: a * b, 2, 1)(x, [3.0, 4.0]), [2.0, 3.0], [6.0, 12.0], [3, 4]),
    "a derivative through zeros_like": (lambda x: filled(np.zeros_like(x), x), [2.0, 3.0], [4.0, 9.0], [4, 6]),
}


def written(write, array, *arguments, **settings):
    """A tensor of the array's numbers, after a function of NumPy has written into it."""
    target = wengert.tensor(array)
    write(target, *arguments, **settings)
    return target


def filled(out, x):
    for i in range(len(x)):
        out[i] = x[i] ** 2
    return out


@pytest.mark.parametrize("case", BY_HAND)
def test_values_and_gradients_by_hand(case):
    run, x, values, gradient = BY_HAND[case]
    x = wengert.tensor(np.array(x), requires_grad=True)
    found = run(x)
    np.testing.assert_allclose(found.detach().numpy(), values, rtol=1e-6)
    found.sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), gradient, rtol=1e-6)


def test_vectors_of_eig_have_numpys_phases():
    """LAPACK makes the largest component of each vector real, so the vectors themselves have a derivative."""
    m = np.array([[0.1, -1.0, 0.2], [0.7, 0.2, 0.4], [0.3, 0.1, 0.9]])
    x = wengert.tensor(m, requires_grad=True)
    found = np.linalg.eig(x)
    np.testing.assert_allclose(found.eigenvectors.detach().numpy(), np.linalg.eig(m).eigenvectors, rtol=1e-12, atol=1e-14)
    assert gradcheck(lambda x: np.linalg.eig(x).eigenvectors, x)


def test_second_derivatives():
    x = wengert.tensor(V, requires_grad=True)
    for run in (
        lambda x: np.gradient(x**2), lambda x: np.convolve(x, x), lambda x: np.interp(x, X5, x[0] * F5), lambda x: np.pad(x**2, 2, "reflect"),
        lambda x: np.average(x, weights=x), lambda x: np.cross(x[:3], x[1:]), lambda x: np.polyval(x, x), lambda x: np.linspace(x[0] ** 2, x[1], 3),
    ):  # fmt: skip
        assert gradgradcheck(run, x)


REFUSED = {
    "no derivative": (lambda x: np.histogram(x), RuntimeError, NO_NUMPY + r" numpy\.histogram has no derivative here"),
    "ufunc without a derivative": (lambda x: np.spacing(x), RuntimeError, NO_NUMPY),
    "out": (lambda x: np.add(x, 1, out=np.zeros(2)), RuntimeError, NO_NUMPY + r" numpy\.add with out has no derivative here"),
    "out of a function": (lambda x: np.cumsum(x, out=np.zeros(2)), RuntimeError, NO_NUMPY + r" numpy\.cumsum has no derivative here"),
    "an array that is written": (lambda x: np.copyto(np.zeros(2), x), RuntimeError, NO_NUMPY + r" numpy\.copyto into an array has no"),
    "arguments": (
        lambda x: np.polyfit(x, x, 1, cov=True), TypeError,
        r"^numpy\.polyfit cannot be called with cov on a Tensor that requires grad or has a tangent\. Hint: call the operation of wengert, or detach",
    ),
    "a mode that is a function": (lambda x: np.pad(x, 1, lambda *args: None), TypeError, r"^numpy\.pad on a Tensor takes the name of a mode"),
    "unequal parts": (lambda x: np.split(x, 3), ValueError, "^array split does not result in an equal division$"),
    "too few samples": (lambda x: np.gradient(x[:1]), ValueError, "^Shape of array too small to calculate a numerical gradient"),
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
