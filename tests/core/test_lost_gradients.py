"""No call of NumPy loses a gradient in silence.

Each public callable of NumPy is called with tensors in many places. What comes out is in a tensor, or does not depend on the tensors, or a
warning or an error says that the gradient is lost.
"""

from __future__ import annotations

import copy
import importlib
import inspect
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import wengert
from loops import each
from wengert.autograd import forward_ad
from wengert.core.tensor import TensorBase

NAMESPACES = """
    numpy numpy.linalg numpy.fft numpy.random numpy.emath numpy.lib numpy.lib.stride_tricks numpy.lib.array_utils numpy.polynomial
    numpy.polynomial.polynomial numpy.polynomial.chebyshev numpy.polynomial.legendre numpy.polynomial.hermite
    numpy.polynomial.hermite_e numpy.polynomial.laguerre numpy.polynomial.polyutils numpy.ma numpy.ma.extras numpy.char numpy.strings
    numpy.rec numpy.ctypeslib numpy.testing
""".split()  # noqa: SIM905
# They read or write files, change NumPy's settings, print, run tests, or ask for the name of a thing.
LEFT_OUT = set("""
    test info show_config show_runtime seterr seterrcall setbufsize set_printoptions printoptions errstate fromfile fromregex loadtxt
    genfromtxt load save savez savez_compressed savetxt memmap DataSource get_include load_library add_newdoc add_docstring bytes
    set_state seed get_state rundocs runstring measure temppath tempdir memusage jiffies run_threaded decorate_methods
    set_default_printstyle tracemalloc_domain NumpyVersion open_memmap assert_raises assert_raises_regex assert_warns assert_no_warnings
    clear_and_catch_warnings suppress_warnings assert_no_gc_cycles break_cycles IgnoreException KnownFailureException SkipTest TestCase
    nested_iters masked_print_option check_support_sve
""".split())  # noqa: SIM905
X, STEP = np.array([0.7, 0.3, 0.2, 0.9]), np.array([0.013, -0.017, 0.011, 0.019])
# Arguments made of x: a vector, its matrix m, an element z, and arrays u and e.
PLACES = [
    "x", "x, u", "u, x", "z", "z, 0.5", "0.5, z", "[z, z]", "[x, x]", "m", "m, e", "e, m", "x, x, x", "u, u, x", "u, x, 1", "x, 1", "1, x",
    "lambda v: v, x", "lambda v: v, 0, m", "z, z, z", "u > 0.5, x", "u > 0.5, x, x", "2, z", "[z, 0.5], u", "x, u, 2",
]  # fmt: skip


def values(x: Any) -> dict[str, Any]:
    return {"x": x, "m": x.reshape(2, 2), "z": x[0], "u": np.array([0.5, 0.6, 0.3, 0.8]), "e": np.eye(2)}


def calls(namespace: str) -> Iterator[tuple[str, Any]]:
    """Yield the names and callables of a namespace."""
    module = np.emath if namespace == "numpy.emath" else importlib.import_module(namespace)
    for name in sorted(set(getattr(module, "__all__", dir(module)))):
        found = getattr(module, name, None)
        if not name.startswith("_") and callable(found) and not inspect.ismodule(found) and name not in LEFT_OUT:
            yield name, found


def methods(instance: Any) -> Iterator[tuple[str, Any]]:
    """Yield the names and methods of an object. Each call gets a fresh copy of it."""
    for name in sorted(dir(instance)):
        if not name.startswith("_") and callable(getattr(type(instance), name, None)) and name not in LEFT_OUT | {"dump", "tofile"}:
            yield name, lambda *args, name=name: getattr(copy.deepcopy(instance), name)(*args)


def numbers(found: Any, depth: int = 0) -> list[Any]:
    """Return the floating-point and complex arrays and tensors of a result, wherever they lie."""
    found = getattr(found, "coef", found)  # of a Polynomial
    if isinstance(found, TensorBase):
        return [found] if found.is_floating_point() or found.is_complex() else []
    if isinstance(found, (np.ndarray, np.generic)):
        if found.dtype.kind == "O":
            return [y for v in found.reshape(-1).tolist() for y in numbers(v, depth + 1)] if depth < 4 else []
        return [np.asarray(found)] if found.dtype.kind in "fc" else []
    if isinstance(found, (list, tuple)):
        return [y for v in found for y in numbers(v, depth + 1)] if depth < 4 else []
    return [np.asarray(found)] if isinstance(found, (float, complex)) else []


def run_quietly(run: Any, x: Any, places: str) -> tuple[list[Any], list[Any]] | None:
    """Return the numbers of a result, and those of the arguments after the call. None if a warning or an error tells of a loss."""
    with warnings.catch_warnings(record=True) as given:
        warnings.simplefilter("always")
        try:
            arguments = eval(f"({places},)", values(x))
            np.random.seed(0)  # noqa: NPY002  # the functions of numpy.random draw from this state
            found = numbers(run(*arguments)), numbers(arguments)
        except Exception:
            return None
    return None if any("Converting a" in str(warning.message) for warning in given) else found


def is_lost(run: Any, x: Any, places: str) -> bool:
    """Whether numbers that are in no tensor depend on x, and nothing tells of it."""
    found = run_quietly(run, x, places)
    if found is None or not any(isinstance(v, np.ndarray) for part in found for v in part):
        return False
    here, there = (run_quietly(run, moved, places) for moved in (X.copy(), X + STEP))
    if here is None or there is None:  # NumPy refuses arrays in these places
        return False
    return any(
        isinstance(v, np.ndarray) and not np.array_equal(a, b, equal_nan=True)
        for part in range(2) for v, a, b in zip(found[part], here[part], there[part], strict=False)
    )  # fmt: skip


def assert_nothing_is_lost(namespace: str, callables: Iterator[tuple[str, Any]]) -> None:
    lost = []
    for name, run in callables:
        for places in PLACES:
            if is_lost(run, wengert.tensor(X, requires_grad=True), places):
                lost.append(f"{namespace}.{name}({places})")
            with forward_ad.dual_level():
                if is_lost(run, forward_ad.make_dual(wengert.tensor(X), wengert.tensor(X)), places):
                    lost.append(f"{namespace}.{name}({places}) of dual tensors")
    assert not lost, "\n".join(lost)


@pytest.mark.slow
@each("namespace", NAMESPACES)
def test_no_function_loses_a_gradient(namespace):
    assert_nothing_is_lost(namespace, calls(namespace))


INSTANCES = {
    "ndarray": np.arange(4.0), "matrix of numbers": np.arange(4.0).reshape(2, 2), "array of objects": np.array([1.0, 2.0], object),
    "record": np.zeros(4, [("a", float), ("b", float)]), "masked array": np.ma.array(X, mask=[1, 0, 0, 0]), "number": np.float64(2.0),
    "Generator": np.random.default_rng(0), "RandomState": np.random.RandomState(0), "Polynomial": np.polynomial.Polynomial([1.0, 2.0]),
    "Chebyshev": np.polynomial.Chebyshev([1.0, 2.0]), "poly1d": np.poly1d([1.0, 2.0]),
}  # fmt: skip


@pytest.mark.slow
@each("kind", INSTANCES)
def test_no_method_loses_a_gradient(kind):
    assert_nothing_is_lost(kind, methods(INSTANCES[kind]))


# Calls -> what the message names: the function, the call, and words of the hint.
NAMED = {
    "rng.normal(loc=x)": ("numpy.random.Generator.normal", "wengert.distributions"),
    "np.random.normal(x)": ("numpy.random.RandomState.normal", "wengert.distributions"),
    "np.ma.masked_where(x > 0.5, x)": ("numpy.ma.masked_where", "np.where(mask"),
    "np.ma.sin(x)": ("numpy.ma.", "np.where(mask"),
    "np.vectorize(lambda v: 2 * v)(x)": ("numpy.vectorize", "np.stack("),
    "np.array([x, x])": ("numpy.array", "np.stack"),
    "np.asarray(x)": ("numpy.asarray", "np.stack"),
    "np.r_[x, 1.0]": ("numpy.AxisConcatenator", "np.concatenate"),
    "np.polynomial.Polynomial(x)": ("numpy.polynomial", "wengert.numpy.polynomial"),
    "np.polynomial.chebyshev.chebval(2.0, x)": ("numpy.polynomial.chebyshev.chebval", "wengert.numpy.polynomial"),
    "np.lib.stride_tricks.as_strided(x)": ("numpy.as_strided", "sliding_window_view"),
    "np.ones(4).dot(x)": ("np.ones(4).dot(x)", ""),
    "np.rec.fromarrays([x])": ("numpy.fromarrays", "dict"),
}


@pytest.mark.parametrize("call", NAMED)
def test_the_error_names_the_function_and_the_line(call, tmp_path):
    script = tmp_path / "script.py"
    script.write_text(f"def run(np, x, rng):\n    y = 2 * x\n    return {call}\n", encoding="utf-8")
    space: dict[str, Any] = {}
    exec(compile(script.read_text(encoding="utf-8"), str(script), "exec"), space)
    with pytest.raises(RuntimeError, match=r"^Can't call numpy\(\) on Tensor that requires grad\.") as caught:
        space["run"](np, wengert.tensor(X, requires_grad=True), np.random.default_rng(0))
    text = str(caught.value)
    name, hint = NAMED[call]
    assert name in text and f"`{call}`" in text and f"{script}:3, in run" in text and hint in text


def test_functions_that_numpy_hands_over_have_hints_too():
    x = wengert.tensor(X, requires_grad=True)
    for run, hint in (
        (lambda: np.histogram(x), r"numpy\.histogram has no derivative here\. Hint: .*np\.bincount"),
        (lambda: np.add(x, 1, out=np.zeros(4)), r"numpy\.add with out has no derivative here\. Hint: .*np\.zeros_like"),
        (lambda: np.copyto(np.zeros(4), x), r"numpy\.copyto into an array has no derivative here\. Hint: .*np\.zeros_like"),
        (lambda: np.strings.upper(x), r"numpy\.strings\.upper has no derivative here\. Hint: It holds text"),
    ):
        with pytest.raises(RuntimeError, match=hint):
            run()


def test_arrays_of_objects_and_records_keep_or_refuse():
    x = wengert.tensor(X, requires_grad=True)
    cells = np.empty(2, object)
    cells[0], cells[1] = x[0], x[1]
    assert (cells * cells).sum().requires_grad and np.exp(cells)[0].requires_grad
    record = np.zeros(4, [("a", float)])
    with pytest.raises(RuntimeError, match=r"`record\[\"a\"\]` asked for an array"):
        record["a"] = x
    with pytest.warns(UserWarning, match="Converting a tensor"):
        cells.astype(float)
