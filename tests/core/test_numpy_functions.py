"""Every public function of NumPy on tensors that are differentiated: the derivative is right, or an error names the function.

CALLS has one row a function. A function that NumPy adds is missing here, and fails the first test.
"""

from __future__ import annotations

import copy
import inspect
import io
import math
import re
import statistics
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import wengert
from loops import each
from wengert.autograd import forward_ad, grad
from wengert.core.tensor import TensorBase

PACKAGE = Path(wengert.__file__).parent
NAMESPACES = {"": np, "linalg": np.linalg, "fft": np.fft, "emath": np.emath, "lib.stride_tricks": np.lib.stride_tricks}

# The vector x; the matrices m and s, which are made of x, s symmetric; the 0-d z; ones of x's and m's shapes: u and e.
X, T = np.array([0.7, 0.3, -0.2, 0.9]), np.array([0.4, -0.6, 0.5, 0.3])

# Arguments -> the functions that are called with them.
ARGUMENTS = {
    "x": """
        abs absolute acos all amax amin angle any arccos arcsin arctan argmax argmin argsort argwhere around  array_repr
        array_str array2string   asarray_chkfinite   asin asmatrix atan atleast_1d
        atleast_2d atleast_3d average bincount broadcast_arrays cbrt ceil common_type conj conjugate copy corrcoef cos cosh
        count_nonzero cov cumprod cumsum cumulative_prod cumulative_sum deg2rad degrees diag diagflat diff
        ediff1d empty_like exp exp2 expm1 fabs fix flatnonzero flip floor frexp
        frombuffer from_dlpack gradient histogram histogram_bin_edges i0 imag iscomplex iscomplexobj isfinite isinf isnan
        isnat isneginf isposinf isreal isrealobj isscalar iterable ix_ lexsort logical_not max mean median min min_scalar_type modf
        nan_to_num nanargmax nanargmin nancumprod nancumsum nanmax nanmean nanmedian nanmin nanprod nanstd nansum nanvar ndim negative
        nonzero ones_like poly polyder polyint positive prod ptp rad2deg radians ravel real real_if_close  rint roots round
        shape sign signbit sin sinc sinh size sort sort_complex spacing square squeeze std sum tan tanh transpose trapezoid
        emath.sqrt emath.arcsin emath.arccos emath.arctanh lib.stride_tricks.as_strided
        trim_zeros trunc unique unique_all unique_counts unique_inverse unique_values unstack unwrap vander var zeros_like invert
        bitwise_count bitwise_invert bitwise_not packbits unpackbits fft.fft fft.fftn fft.fftshift fft.hfft fft.ifft
        fft.ifftn fft.ifftshift fft.ihfft fft.irfft fft.irfftn fft.rfft fft.rfftn linalg.norm linalg.vector_norm
    """,
    "2, x": "emath.logn",
    "x, 3": "emath.power",
    "abs(x) + 0.1": "emath.log emath.log2 emath.log10 log log10 log1p log2 reciprocal sqrt",
    "x + 2": "acosh arccosh",
    "0.5 * x": "arctanh atanh",
    "x, like=x": "array asanyarray asarray ascontiguousarray asfortranarray require",
    "x, float, like=x": "fromiter",
    "z": "asinh arcsinh format_float_positional format_float_scientific",
    "x, np.array([1, 2, 0, 1])": "ldexp left_shift right_shift bitwise_left_shift bitwise_right_shift",
    "u, x, 1": "polyfit",
    "[x, u]": "block",
    "[[m, e]]": "bmat",
    "x, u": """
        add allclose append arctan2 array_equal array_equiv atan2 bitwise_and bitwise_or bitwise_xor convolve copysign correlate divide
        divmod dot equal float_power floor_divide fmax fmin fmod gcd greater greater_equal heaviside histogram2d hypot inner
        intersect1d isclose isin lcm less less_equal logaddexp logaddexp2 logical_and logical_or logical_xor may_share_memory
        maximum minimum mod multiply nextafter not_equal outer polyadd polydiv polymul polysub polyval remainder result_type
        searchsorted setdiff1d setxor1d shares_memory subtract true_divide union1d vdot vecdot kron linalg.outer
        linalg.vecdot
    """,
    "abs(x) + 0.1, u": "power pow",
    "(x, u)": "column_stack concat concatenate dstack hstack row_stack stack vstack histogramdd",
    "m": """
        diag_indices_from diagonal fliplr flipud matrix_transpose permute_dims rot90 trace tril triu tril_indices_from triu_indices_from fft.fft2 fft.ifft2
        fft.irfft2 fft.rfft2 linalg.cond linalg.det linalg.diagonal linalg.eig linalg.eigvals linalg.inv linalg.matrix_norm
        linalg.matrix_rank linalg.matrix_transpose linalg.pinv linalg.qr linalg.slogdet linalg.svd linalg.svdvals
        linalg.trace
    """,
    "s": "linalg.cholesky linalg.eigh linalg.eigvalsh",
    "m, e": "linalg.matmul linalg.solve linalg.tensordot matmul tensordot linalg.lstsq",
    "m, 1": "linalg.tensorinv rollaxis",
    "m, x[:2]": "linalg.tensorsolve",
    "x[:3], u[:3]": "cross linalg.cross",
    "m, u[:2]": "matvec",
    "u[:2], m": "vecmat",
    "(m, e, m)": "linalg.multi_dot",
    "m, 2": "linalg.matrix_power array_split split vsplit hsplit array_split",
    "m.reshape(1, 2, 2), 2": "dsplit",
    "x, 1": "argpartition partition roll",
    "x, 0": "expand_dims delete",
    "x, 0, 2.0": "insert",
    "x, 0.3": "quantile nanquantile",
    "x, 30": "percentile nanpercentile",
    "x, [0, 2]": "take",
    "[0, 1], x": "compress extract",
    "[0, 1, 0, 1], (x, u, x)": "choose",
    "x, 2": "repeat resize tile lib.stride_tricks.sliding_window_view",
    "x, (1, 2)": "pad",
    "x, (2, 2)": "reshape",
    "x, (2, 4)": "broadcast_to",
    "m, 0, 1": "moveaxis swapaxes",
    "m, np.array([[0], [1]]), 1": "take_along_axis",
    "(2,), z, like=x": "full",
    "x, 3.0": "full_like",
    "z, 3, like=x": "arange",
    "0, z, 3": "linspace",
    "1, abs(z), 3": "logspace geomspace",
    "x, -0.5, 0.5": "clip",
    "x > 0, x, u": "where",
    "[x > 0, x < 0], [x, u]": "select",
    "x, [x > 0, x < 0], [1.0, 2.0]": "piecewise",
    "x, np.array([0.0, 0.5])": "digitize",
    "0.5, [0.0, 1.0, 2.0, 3.0], x": "interp",
    "'i,i->', x, u": "einsum",
    "'i,i->', x, u, optimize=True": "einsum_path",
    "np.sum, 0, m": "apply_along_axis",
    "np.sum, m, [0]": "apply_over_axes",
    "lambda i, x=x: x[0] * i, (3,)": "fromfunction",
    "np.zeros(4), x": "copyto",
    "np.zeros(4), [0, 1, 2, 3], x": "put",
    "np.zeros(4), u > 0, x": "place putmask",
    "np.zeros((2, 2)), np.array([[0], [1]]), m, 1": "put_along_axis",
    "np.zeros((2, 2)), x[:2]": "fill_diagonal",
    "x, np.float64": "astype",
    "x, x": "meshgrid",
    "io.BytesIO(), x": "save savez savez_compressed savetxt",
    "4, z": "kaiser",
}  # fmt: skip
CALLS = {name: arguments for arguments, names in ARGUMENTS.items() for name in names.split()}

# Functions that take no array of numbers.
WITHOUT_NUMBERS = set("""
    base_repr bartlett binary_repr blackman broadcast_shapes busday_count busday_offset can_cast datetime_as_string
    datetime_data diag_indices empty eye fromfile fromregex fromstring frompyfunc isfortran typename genfromtxt get_include get_printoptions getbufsize geterr
    geterrcall hamming hanning identity indices info is_busday isdtype issubdtype load loadtxt mask_indices mintypecode nested_iters
    ones printoptions promote_types ravel_multi_index set_printoptions setbufsize seterr seterrcall show_config show_runtime test tri
    tril_indices triu_indices unravel_index zeros fft.fftfreq fft.rfftfreq fft.test linalg.test
""".split())  # noqa: SIM905

# Methods of ufuncs of two arguments.
UFUNC_METHODS = {
    f"{name}.{method}": arguments
    for name in """
        add arctan2 copysign divide float_power floor_divide fmax fmin fmod heaviside hypot logaddexp logaddexp2 logical_and logical_or
        logical_xor maximum minimum multiply nextafter power remainder subtract
    """.split()  # noqa: SIM905
    for method, arguments in {
        "reduce": "abs(x) + 0.5", "accumulate": "abs(x) + 0.5", "outer": "abs(x), u + 0.01", "reduceat": "abs(x) + 0.5, [0, 2]",
        "at": "np.ones(4), [0, 1, 2, 3], x", "__call__": "x, u, np.zeros(4)",
    }.items()
    if f"{name}.{method}" not in ("power.reduce", "arctan2.reduce")  # NumPy 2.4 gives 4 for power.reduce([2, 3, 2])
}  # fmt: skip

# Other ways from a tensor to NumPy and to Python's numbers. Those that give a number warn.
PROTOCOLS: dict[str, Callable[[Any], Any]] = {
    "numpy": lambda x: x.numpy(),
    "__array__": lambda x: x.__array__(),
    "array of tensors": lambda x: np.array([x, x]),
    "array of elements": lambda x: np.array([x[0], x[1]]),
    "array of mixed elements": lambda x: np.array([x[0], 1.0]),
    "a slice is written": lambda x: np.zeros(4).__setitem__(slice(None), x),
    "an element is written": lambda x: np.zeros(4).__setitem__(0, x[0]),
    "a complex element is written": lambda x: np.zeros(4, complex).__setitem__(0, x[0]),
    "dot": lambda x: np.ones(4).dot(x),
    "searchsorted": lambda x: np.arange(4.0).searchsorted(x),
    "put": lambda x: np.zeros(4).put([0, 1, 2, 3], x),
    "clip": lambda x: np.arange(4.0).clip(x, 1.0),
    "augmented": lambda x: np.zeros(4).__iadd__(x),
    "vectorize": lambda x: np.vectorize(lambda a: 2 * a)(x),
    "frompyfunc": lambda x: np.frompyfunc(lambda a: 2 * a, 1, 1)(x),
    "poly1d": lambda x: np.poly1d(x)(0.5),
    "nditer": lambda x: [float(a) for a in np.nditer(x)],
    "ndenumerate": lambda x: [a for _, a in np.ndenumerate(x)],
    "memoryview": lambda x: memoryview(x).tolist(),
    "bytes": lambda x: bytes(x),
    "dlpack": lambda x: np.from_dlpack(x),
    "float": lambda x: float(x[0]),
    "complex": lambda x: complex(x[0]),
    "math.sin": lambda x: math.sin(x[0]),
    "math.fsum": lambda x: math.fsum([x[0], x[1]]),
    "fmean": lambda x: statistics.fmean([x[0], x[1]]),
    "formatted": lambda x: float("%f" % x[0]),  # noqa: UP031
    "float64": lambda x: np.float64(x[0]),
    "tensor of elements": lambda x: wengert.tensor([x[0], 1.0]),
    "deepcopy": lambda x: copy.deepcopy(x * 1),
    "sum": lambda x: sum(list(x)),
    "max": lambda x: max(list(x)),
    "copy": lambda x: copy.copy(x * 1) * x,
}


def public_functions() -> Iterator[str]:
    """Yield the names of the functions of NumPy, those of linalg and fft with the namespace in front."""
    for prefix, namespace in NAMESPACES.items():
        for name in dir(namespace):
            found = getattr(namespace, name)
            if not name.startswith("_") and callable(found) and not inspect.isclass(found) and not inspect.ismodule(found):
                yield f"{prefix}.{name}" if prefix else name


def test_every_public_function_is_called():
    missing = sorted(set(public_functions()) - set(CALLS) - set(WITHOUT_NUMBERS))
    assert not missing, f"rows in CALLS are missing for {' '.join(missing)}"


def caller(name: str, arguments: str) -> Callable[[Any], Any]:
    """Return the call of a function of NumPy as a function of x, an array or a tensor."""
    code = compile(f"np.{name}({arguments})", name, "eval")

    def run(x: Any) -> Any:
        m = x.reshape(2, 2)
        values = {"x": x, "m": m, "s": m @ m.T + np.eye(2), "z": x[0], "u": np.array([0.5, 1.5, -0.3, 0.8]), "e": 1 + np.eye(2)}
        return eval(code, {"np": np, "io": io, **values})

    return run


def numbers(found: Any) -> list[Any]:
    """Return the floating-point and complex arrays, tensors and numbers of a result, in order."""
    if isinstance(found, (list, tuple)):
        return [y for x in found for y in numbers(x)]
    if isinstance(found, TensorBase):
        return [found] if found.is_floating_point() or found.is_complex() else []
    if isinstance(found, (np.ndarray, np.generic)):
        return [found] if found.dtype.kind in "fcO" else []
    return [found] if isinstance(found, (float, complex)) else []


def as_row(found: Any) -> Any:
    """Return all numbers of a result as one real row: an array or a tensor."""
    parts = numbers(found)
    rows: list[Any] = []
    for part in parts:
        for real in (part.real, part.imag) if part.dtype.is_complex else (part,):
            rows.append(real.reshape(-1).to(wengert.float64))
    return wengert.cat(rows)


def row_of_arrays(found: Any) -> np.ndarray:
    parts = [np.asarray(part) for part in numbers(found)]
    pairs = [(p.real, p.imag) if p.dtype.kind == "c" else (p,) for p in parts]
    return np.concatenate([p.reshape(-1) for pair in pairs for p in pair]).astype(float)


def outcome(run: Callable[[Any], Any], x: Any) -> str | Any:
    """The result of a call, or "refused" or "warned" where an error or a warning says that the derivative is lost."""
    with warnings.catch_warnings(record=True) as given:
        warnings.simplefilter("always")
        try:
            found = run(x)
        except (RuntimeError, BufferError, TypeError) as error:
            text = str(error)
            assert re.search(r"numpy(\.\w+|\(\))|Can't export|deepcopy|not implemented for 'Double'|ufunc '|a bytes-like object|to bytes|to an index", text), text
            return "refused"
    files = [Path(warning.filename) for warning in given if "Converting a" in str(warning.message)]
    assert not any(PACKAGE in file.parents for file in files), f"the warning is at no line of the user's: {files}"
    return "warned" if files else found


def is_lost(found: Any) -> bool:
    """Whether a result has numbers that are in no tensor."""
    return any(not isinstance(part, TensorBase) for part in numbers(found))


def difference(run: Callable[[Any], Any], x: np.ndarray, step: float = 1e-6) -> np.ndarray:
    """Derivative of a function of arrays along T, by central differences."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return (row_of_arrays(run(x + step * T)) - row_of_arrays(run(x - step * T))) / (2 * step)


def assert_derivative(name: str, found: Any, expected: np.ndarray) -> None:
    np.testing.assert_allclose(found.numpy(), expected, rtol=1e-6, atol=1e-7, err_msg=name)


# Their results are constant between jumps, are text or memory that nobody has set, or ask about the tensor.
WITHOUT_DERIVATIVE = {"empty_like", "zeros_like", "ones_like", "full_like"}


def slope_of(row: Any, weights: Any, x: Any) -> Any:
    """Return the derivative of the weighted sum of a row along T, which can be differentiated again."""
    (g,) = grad((row * weights).sum(), x, create_graph=True)
    return (g * wengert.tensor(T)).sum()


def check_reverse(name: str, run: Callable[[Any], Any]) -> str:
    """Call a function on a tensor that requires grad. Return what became of the derivative."""
    x = wengert.tensor(X, requires_grad=True)
    found = outcome(run, x)
    if isinstance(found, str) and found in ("refused", "warned"):
        return found
    if not numbers(found) or name in WITHOUT_DERIVATIVE:
        return "no number"
    assert not is_lost(found), f"{name}: the gradient is lost"
    row = as_row(found)
    expected = difference(run, X)
    if not row.requires_grad:
        assert not expected.any(), f"{name}: the gradient is lost"
        return "constant"
    weights = wengert.tensor(np.random.default_rng(0).uniform(0.5, 1.5, row.shape))
    first = slope_of(row, weights, x)
    assert_derivative(name, first.detach(), (expected * weights.numpy()).sum())
    step = 1e-5
    beside = [wengert.tensor(X + sign * step * T, requires_grad=True) for sign in (1, -1)]
    above, below = (slope_of(as_row(outcome(run, y)), weights, y).item() for y in beside)
    second = grad(first, x, allow_unused=True)[0] if first.requires_grad else None
    found = 0.0 if second is None else (second * wengert.tensor(T)).sum().item()
    np.testing.assert_allclose(found, (above - below) / (2 * step), rtol=1e-4, atol=1e-4, err_msg=f"{name}, second derivative")
    return "differentiated"


def check_forward(name: str, run: Callable[[Any], Any]) -> str:
    """Call a function on a dual tensor, at one level and at two. Return what became of the tangent."""
    x, t = wengert.tensor(X), wengert.tensor(T)
    with forward_ad.dual_level():
        found = outcome(run, forward_ad.make_dual(x, t))
        if isinstance(found, str) and found in ("refused", "warned"):
            return found
        if not numbers(found) or name in WITHOUT_DERIVATIVE:
            return "no number"
        assert not is_lost(found), f"{name}: the tangent is lost"
        tangent = forward_ad.unpack_dual(as_row(found)).tangent
        expected = difference(run, X)
        if tangent is None:
            assert not expected.any(), f"{name}: the tangent is lost"
            return "constant"
        assert_derivative(name, tangent, expected)

    def slope(y: Any) -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return wengert.func.jvp(lambda x: as_row(run(x)), (y,), (t,))[1]

    value, second = wengert.func.jvp(slope, (x,), (t,))
    step = 1e-5
    assert_derivative(name, value, expected)
    np.testing.assert_allclose(
        second.numpy(), (slope(x + step * t) - slope(x - step * t)).numpy() / (2 * step), rtol=1e-4, atol=1e-4, err_msg=name
    )
    return "differentiated"


ROWS = {**{name: CALLS[name] for name in CALLS if name in set(public_functions())}, **UFUNC_METHODS}


@each("name", ROWS)
def test_a_function_of_numpy_is_differentiated_or_refuses(name):
    run = caller(name, ROWS[name])
    reverse, forward = check_reverse(name, run), check_forward(name, run)
    assert reverse == forward or {reverse, forward} == {"constant", "differentiated"}, f"{reverse}, but forward {forward}"


@each("name", PROTOCOLS)
def test_a_protocol_of_python_keeps_the_derivative_or_says_that_it_is_lost(name):
    run = PROTOCOLS[name]
    assert check_reverse(name, run) == check_forward(name, run) != "no number"


def test_an_outer_level_counts():
    x, t = wengert.tensor(X), wengert.tensor(T)

    def outer(y):
        return wengert.func.jvp(lambda z: np.concatenate([y, z]).sum(), (x,), (t,))[0]

    assert wengert.func.jvp(outer, (x,), (t,))[1].item() == pytest.approx(T.sum())

    def lost(y):
        return wengert.func.jvp(lambda z: z.sum() * y.numpy().sum(), (x,), (t,))[0]

    with pytest.raises(RuntimeError, match=r"Can't call numpy\(\) on a dual Tensor"):
        wengert.func.jvp(lost, (x,), (t,))
