"""NumPy's functions on tensors: np.sin(x), np.sum(x, axis=0), array * x give tensors with a history.

Note [NumPy's functions on tensors]
NumPy calls __array_ufunc__ or __array_function__ of an operand, so that the operand runs NumPy's function itself. If the
function has a derivative, the operation of the same meaning runs it, under torch's rules: float32 stays float32, and
integers become the default dtype instead of float64. A ufunc returns a tensor, as it does for torch's tensors. A function
that arrays also have as a method returns a tensor too. Any other function (np.concatenate) returns a tensor if an argument
is differentiated, which torch refuses, and an array otherwise, as for torch's tensors. A function that is not listed here runs on
the memory of the tensors, and refuses those that are differentiated: tensors that require grad, and dual tensors.

UFUNCS, REDUCTIONS and ACCUMULATIONS are the tables of ufuncs, FUNCTIONS and PLAIN those of array_functions/: one row a function of
NumPy. PLAIN functions ask about tensors, have no derivative, and take every tensor. tests/core/test_numpy_functions.py calls each
public function of NumPy.

This module is loaded when NumPy first calls a tensor.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from wengert._forks import import_late
from wengert.array_functions import FUNCTIONS, METHODS, PLAIN
from wengert.array_functions.creation import array
from wengert.array_functions.elements import condition_of
from wengert.array_functions.refusals import no_derivative, public_name
from wengert.array_functions.table import (
    detached,
    dtype_of,
    floating,
    linalg,
    memory,
    operand,
    pair,
    part,
    promoted,
    special,
    tensor,
    unsupported_arguments,
    w,
)
from wengert.core.leaving import has_tangent
from wengert.core.modes import set_recording
from wengert.core.tensor import TensorBase
from wengert.core.views import bump

# -- ufuncs ------------------------------------------------------------------------------------------------------------

_SAME_NAME = """
    absolute add arccos arccosh arcsin arcsinh arctan arctan2 arctanh bitwise_and bitwise_or bitwise_xor ceil copysign cos
    cosh deg2rad divide exp exp2 expm1 float_power floor floor_divide fmax fmin fmod gcd greater greater_equal
    heaviside hypot isfinite isinf isnan lcm ldexp less less_equal log log10 log1p log2 logaddexp logaddexp2 logical_and
    logical_not logical_or logical_xor matmul maximum minimum multiply negative nextafter not_equal positive rad2deg
    reciprocal remainder sign signbit sin sinh sqrt square subtract tan tanh trunc
"""
_OTHER_NAME = {
    "conjugate": "conj_physical", "degrees": "rad2deg", "equal": "eq", "fabs": "abs", "invert": "bitwise_not",
    "left_shift": "bitwise_left_shift", "power": "pow", "radians": "deg2rad", "right_shift": "bitwise_right_shift",
    "rint": "round",
}  # fmt: skip
# Functions of scipy.special, by the name of the ufunc; ours:name if our function has another name.
_SCIPY = """
    betainc digamma:psi entr erf erfc erfcx erfinv expit exp2 expm1 gammainc gammaincc gammaln i0 i0e i1 i1e log1p log_ndtr
    logit ndtr ndtri xlog1py xlogy
"""
# The functions in FUNCTIONS that reduce and accumulate by a ufunc. Others fold the parts of an array one after the other.
REDUCTIONS: dict[str, Any] = {
    "add": np.sum, "logical_and": np.all, "logical_or": np.any, "maximum": np.max, "minimum": np.min, "multiply": np.prod,
}  # fmt: skip
ACCUMULATIONS: dict[str, Any] = {"add": np.cumsum, "multiply": np.cumprod}
_RUNNING: dict[str, Callable[..., Any]] = {
    "maximum": lambda x, dim: w.cummax(x, dim)[0], "minimum": lambda x, dim: w.cummin(x, dim)[0],
    "logaddexp": lambda x, dim: w.logcumsumexp(x, dim),
}  # fmt: skip


def _ufuncs() -> dict[str, Callable[..., Any]]:
    found = {name: getattr(w, name) for name in _SAME_NAME.split()}
    found |= {name: getattr(w, ours) for name, ours in _OTHER_NAME.items()}
    for names in _SCIPY.split():
        ours, _, name = names.partition(":")
        found.setdefault(name or ours, getattr(special, ours))
    return found


UFUNCS: dict[str, Callable[..., Any]] = _ufuncs()
UFUNCS |= {
    "cbrt": lambda x: w.copysign(w.pow(w.abs(tensor(x)), 1 / 3), x),
    "divmod": lambda x, y: (w.floor_divide(tensor(x), y), w.remainder(tensor(x), y)),
    "frexp": lambda x: tuple(w.frexp(floating(x))),
    "matmul": lambda a, b: w.matmul(*pair(a, b)),
    "matvec": lambda a, b: w.matmul(*promoted(a, tensor(b)[..., None]))[..., 0],
    "modf": lambda x: (tensor(x) - w.trunc(tensor(x)), w.trunc(tensor(x))),
    "vecdot": lambda a, b: linalg.vecdot(*pair(a, b)),
    "vecmat": lambda a, b: w.matmul(*promoted(w.conj(tensor(a))[..., None, :], b))[..., 0, :],
}


# Functions of scipy.special by name: wengert.scipy.special adds them when a ufunc of SciPy first meets a tensor.
SCIPY_UFUNCS: dict[str, Callable[..., Any]] = {}


def run_ufunc(ufunc: np.ufunc, method: str, inputs: tuple[Any, ...], settings: dict[str, Any]) -> Any:
    """Run a method of a ufunc on inputs with settings."""
    return array_ufunc(None, ufunc, method, *inputs, **settings)


def array_ufunc(_: Any, ufunc: np.ufunc, method: str, *inputs: Any, **settings: Any) -> Any:
    """Tensor.__array_ufunc__. See Note [NumPy's functions on tensors]."""
    if method == "__call__" and not settings:
        function = UFUNCS.get(ufunc.__name__) or _scipys(ufunc)
        if function is not None:
            for x in inputs:
                if isinstance(x, (list, tuple)):
                    return function(*[operand(x) for x in inputs])
            return function(*inputs)
    elif method == "reduce" and not settings and len(inputs) == 1 and ufunc.__name__ in REDUCTIONS:
        return FUNCTIONS[REDUCTIONS[ufunc.__name__]](*inputs, 0)
    if _is_differentiated((*inputs, *settings.values())):
        return _run_ufunc_method(ufunc, method, inputs, settings)
    out = settings.pop("out", ())
    if out:
        settings["out"] = tuple([memory(x) for x in out])
    found = getattr(ufunc, method)(*[memory(x) for x in inputs], **settings)
    if out:
        for x in out:
            if isinstance(x, TensorBase):
                bump(x)
        return out[0] if len(out) == 1 else out
    return tuple([_tensor(x) for x in found]) if isinstance(found, tuple) else _tensor(found)


def _scipys(ufunc: np.ufunc) -> Callable[..., Any] | None:
    """Return the function of wengert.scipy.special that runs a ufunc of scipy.special, or None."""
    special = sys.modules.get("scipy.special")
    if special is None or getattr(special, ufunc.__name__, None) is not ufunc:
        return None
    import_late("wengert.scipy.special")
    return SCIPY_UFUNCS.get(ufunc.__name__)


# -- ufuncs of tensors that are differentiated ---------------------------------------------------------------------------

# The parameters of the methods of ufuncs, in NumPy's order.
_PARAMETERS = {
    "reduce": ("a", "axis", "dtype", "out", "keepdims", "initial", "where"), "accumulate": ("a", "axis", "dtype", "out"),
    "reduceat": ("a", "indices", "axis", "dtype", "out"), "at": ("a", "indices", "b"),
}  # fmt: skip


def _run_ufunc_method(ufunc: np.ufunc, method: str, inputs: tuple[Any, ...], settings: dict[str, Any]) -> Any:
    """Run a method of a ufunc, or a call with settings. Raises if it has no derivative."""
    name = ufunc.__name__ if method == "__call__" else f"{ufunc.__name__}.{method}"
    function = UFUNCS.get(ufunc.__name__) or _scipys(ufunc)
    if function is None and method == "__call__" and not settings and set("".join(ufunc.types)) <= {"O", "-", ">"}:
        return _run_on_elements(ufunc, inputs)
    if function is None or (method in ("reduce", "accumulate", "reduceat", "at") and ufunc.nin + ufunc.nout != 3):
        raise _no_derivative(name, (*inputs, *settings.values()), " with ".join([name, *settings]))
    if method == "__call__":
        return _call(name, function, inputs, settings)
    if method == "outer":
        a, b = tensor(inputs[0]), tensor(inputs[1])
        return _call(name, function, (a.reshape(a.shape + (1,) * b.ndim), b), settings)
    given = _given(dict(zip(_PARAMETERS[method], inputs, strict=False)) | settings)
    unknown = sorted(set(given) - set(_PARAMETERS[method]))
    if unknown:
        raise unsupported_arguments(name, unknown)
    if method == "at":
        return _at(ufunc.__name__, function, **given)
    out = given.pop("out", None)
    if isinstance(out, tuple):
        out = out[0]
    run: Any = {"reduce": _reduce, "accumulate": _accumulate, "reduceat": _reduceat}[method]
    found = run(ufunc.__name__, function, **given)
    return found if out is None else _written(found, out, name)


def _call(name: str, function: Callable[..., Any], inputs: tuple[Any, ...], settings: dict[str, Any]) -> Any:
    """Call a function with the settings of a ufunc: out, where, dtype, and the axis of vecdot."""
    if name == "vecdot" and "axis" in settings:
        inputs = tuple([w.movedim(tensor(operand(x)), settings["axis"], -1) for x in inputs])
        settings = {key: x for key, x in settings.items() if key != "axis"}
    unknown = sorted(set(settings) - {"out", "where", "dtype", "casting", "order", "subok"})
    if unknown:
        raise unsupported_arguments(name, unknown)
    inputs = tuple([operand(x) for x in inputs])
    dtype, where, outs = settings.get("dtype"), settings.get("where", True), settings.get("out") or ()
    if dtype is not None:
        inputs = tuple([tensor(x).to(dtype_of(dtype)) for x in inputs])
    found = function(*inputs)
    results = found if isinstance(found, tuple) else (found,)
    if where is not True:
        given = outs or (None,) * len(results)
        results = tuple([_where(where, result, out) for result, out in zip(results, given, strict=True)])
    if outs:
        results = tuple([r if out is None else _written(r, out, f"{name} with out") for r, out in zip(results, outs, strict=True)])
    return results if isinstance(found, tuple) else results[0]


def _run_on_elements(ufunc: np.ufunc, inputs: tuple[Any, ...]) -> Any:
    """Run a ufunc of Python objects, which np.frompyfunc makes, on the elements: tensors without dimensions."""
    found = ufunc(*[_elements(x) for x in inputs])
    results = [w.reshape(array(list(np.ravel(x))), np.shape(x)) for x in (found if isinstance(found, tuple) else (found,))]
    return tuple(results) if isinstance(found, tuple) else results[0]


def _elements(x: Any) -> Any:
    """Return a tensor as an array of objects, its elements. Anything else is returned as it is."""
    if not isinstance(x, TensorBase):
        return x
    flat: Any = w.reshape(x, (-1,))
    found = np.empty(len(flat), object)
    for i in range(len(flat)):
        found[i] = flat[i]
    return found.reshape(tuple(x.shape))  # type: ignore[attr-defined]


def _where(where: Any, result: Any, out: Any) -> Any:
    """Return the result in the chosen places, and out elsewhere. Without out, NumPy leaves these unset; here they are 0."""
    return w.where(condition_of(where), result, w.zeros_like(result) if out is None else tensor(out).to(result.dtype))


def _written(result: Any, target: Any, name: str) -> Any:
    """Write a result into the target, and return it. Raises RuntimeError for an array: it cannot hold a history."""
    out: Any = target[0] if isinstance(target, tuple) and len(target) == 1 else target
    if not _is_tensor(out):
        raise _no_derivative("out", (result,), name)
    if tuple(out.shape) != tuple(result.shape):
        raise ValueError(f"output array has shape {tuple(out.shape)}, the result {tuple(result.shape)}")
    out[...] = result
    return out


def _is_tensor(x: Any) -> bool:
    return isinstance(x, TensorBase)


def _fold(function: Callable[..., Any], parts: list[Any]) -> list[Any]:
    """Return the running results of a function of two arguments."""
    found = [condition_of(x) for x in parts[:1]] if function.__name__.startswith("logical") else parts[:1]
    for x in parts[1:]:
        found.append(function(found[-1], x))
    return found


def _reduce(name: str, function: Any, a: Any, axis: Any = 0, dtype: Any = None, keepdims: bool = False, **more: Any) -> Any:
    a = tensor(a)
    if dtype is not None:
        a = a.to(dtype_of(dtype))
    if name in REDUCTIONS:
        return run_function(REDUCTIONS[name], (a,), {"axis": axis, "keepdims": keepdims, **more})
    if "where" in more:
        raise unsupported_arguments(f"{name}.reduce", ["where"])
    axes = sorted({d % a.ndim for d in (range(a.ndim) if axis is None else (axis,) if np.ndim(axis) == 0 else axis)})
    for d in reversed(axes):
        parts = list(w.unbind(a, d))
        if d == axes[0] and more.get("initial") is not None:
            parts.insert(0, tensor(more["initial"]).to(a.dtype))
        if not parts:
            raise ValueError(f"zero-size array to reduction operation {name} which has no identity")
        a = w.logsumexp(a, d) if name == "logaddexp" and "initial" not in more else _fold(function, parts)[-1]
    for d in axes if keepdims else ():
        a = w.unsqueeze(a, d)
    return a


def _accumulate(name: str, function: Any, a: Any, axis: int = 0, dtype: Any = None) -> Any:
    if name in ACCUMULATIONS:
        return FUNCTIONS[ACCUMULATIONS[name]](a, axis, dtype)
    a = tensor(a) if dtype is None else tensor(a).to(dtype_of(dtype))
    running = _RUNNING.get(name)
    return w.stack(_fold(function, list(w.unbind(a, axis))), axis) if running is None or not a.numel() else running(a, axis)


def _reduceat(name: str, function: Any, a: Any, indices: Any, axis: int = 0, dtype: Any = None) -> Any:
    a, starts = tensor(a), [int(i) for i in np.ravel(detached(indices))]
    size = a.shape[axis]
    for i in starts:
        if not 0 <= i < size:
            raise IndexError(f"index {i} out-of-bounds in {name}.reduceat [0, {size})")
    found = []
    for start, end in zip(starts, [*starts[1:], size], strict=True):
        piece = part(a, axis, start, end if end > start else start + 1)
        found.append(_reduce(name, function, piece, axis, dtype))
    return w.stack(found, axis)


def _at(name: str, function: Any, a: Any, indices: Any, b: Any) -> None:
    """Write function(a[indices], b) into a. An element that indices name several times is changed several times."""
    if not _is_tensor(a):
        raise _no_derivative("out", (a, b), f"{name}.at")
    places = np.arange(a.numel()).reshape(tuple(a.shape))[detached(indices)]
    values = w.broadcast_to(tensor(b), places.shape).reshape(-1)
    flat = np.ravel(places)
    order = np.argsort(flat, kind="stable")
    first = np.r_[True, np.diff(flat[order]) != 0] if flat.size else np.zeros(0, bool)
    turn = np.empty(flat.size, int)  # how many times the element has been named before
    turn[order] = np.arange(flat.size) - np.maximum.accumulate(np.where(first, np.arange(flat.size), 0)) if flat.size else 0
    for k in range(int(turn.max(initial=-1)) + 1):
        chosen = np.flatnonzero(turn == k)
        where = np.unravel_index(flat[chosen], tuple(a.shape))
        a[where] = function(a[where], values[chosen])


def _tensor(x: Any) -> Any:
    """Return an array or NumPy scalar as a tensor if torch has its dtype. Anything else is returned as it is."""
    return w.as_tensor(x) if isinstance(x, (np.ndarray, np.generic)) and x.dtype.kind in "biufcV" else x


def _is_differentiated(values: Iterable[Any]) -> bool:
    """Whether a tensor among the values, or in a list of them, requires grad or is dual."""
    for x in values:
        if isinstance(x, TensorBase):
            if x.requires_grad or has_tangent(x):
                return True
        elif isinstance(x, (list, tuple)) and _is_differentiated(x):
            return True
    return False


def _no_derivative(name: str, values: Iterable[Any], call: str = "") -> Exception:
    """The error for a function of NumPy that has no derivative, and was called with these values.

    name: the function's. call: the function with its settings, if they are what has no derivative."""
    kind = "Tensor that requires grad" if _requires_grad(values) else "a dual Tensor, which has a tangent"
    return no_derivative(kind, name, f"numpy.{call or name}")


def _requires_grad(values: Iterable[Any]) -> bool:
    """Whether a tensor among the values, or in a list of them, requires grad."""
    return any(
        _requires_grad(x) if isinstance(x, (list, tuple)) else isinstance(x, TensorBase) and x.requires_grad for x in values
    )


# -- functions ---------------------------------------------------------------------------------------------------------

_NO_VALUE = np._NoValue  # NumPy's mark for an argument that is not given


def run_function(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Run a function of NumPy on arguments."""
    return array_function(None, function, (), args, kwargs)


def array_function(_: Any, function: Any, types: tuple[type, ...], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Tensor.__array_function__. See Note [NumPy's functions on tensors]."""
    if len(types) > 1 and not all(issubclass(t, (TensorBase, np.ndarray)) for t in types):
        return NotImplemented
    plan = _plan(function, len(args), *kwargs)
    if plan.takes_arguments_as_given and (plan.is_method or _is_differentiated(args) or _is_differentiated(kwargs.values())):
        if plan.may_be_missing:
            for x in (*args, *kwargs.values()):
                if x is None or x is _NO_VALUE:
                    return _run_by_names(function, plan, args, kwargs)
        return plan.ours(*args, **kwargs)
    return _run_by_names(function, plan, args, kwargs)


def _run_by_names(function: Any, plan: _Plan, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Run a function after its arguments have got the names of NumPy's parameters, and those that are None have been left out."""
    if function in PLAIN:
        with set_recording(False):
            return function(*detached(args), **{name: detached(x) for name, x in kwargs.items()})
    ours = plan.ours
    differentiated = _is_differentiated((*args, *kwargs.values()))
    if ours is not None:
        unnamed, named = args, kwargs
        if plan.names is not None:
            unnamed, named = (), dict(zip(plan.names, args, strict=True)) | kwargs
        named = _given(named)
        if differentiated and "out" in named and "out" not in _signature(ours).parameters:
            out = named.pop("out")
            if not _fits(ours, len(unnamed), *named):
                raise unsupported_arguments(_name_of(function), _unknown(ours, named))
            return _written(ours(*unnamed, **named), out, _name_of(function))
        fits = _fits(ours, len(unnamed), *named)
        if differentiated and not fits:
            raise unsupported_arguments(_name_of(function), _unknown(ours, named))
        if fits and (differentiated or plan.is_method):
            return ours(*unnamed, **named)
    elif differentiated:
        raise _no_derivative(_name_of(function), (*args, *kwargs.values()))
    return function(*memory(args), **{name: memory(x) for name, x in kwargs.items()})


class _Plan(NamedTuple):
    """How a function of NumPy is run, given the number of its positional arguments and the names of the others."""

    ours: Any  # the function that runs it, or None
    names: tuple[str, ...] | None  # NumPy's names of the positional arguments; None if they have none
    takes_arguments_as_given: bool  # whether ours can be called with the arguments as NumPy was
    may_be_missing: bool  # whether None, or NumPy's mark for a missing value, stands for a default of ours that is another
    is_method: bool  # whether arrays have the function as a method: then tensors without a gradient take ours, too


@cache
def _plan(function: Any, count: int, *named: str) -> _Plan:
    """Return the plan of a call. Raises TypeError if NumPy's function does not take such arguments."""
    ours = FUNCTIONS.get(function)
    if ours is None or function in PLAIN:
        return _Plan(None, None, False, False, False)
    names = None
    try:
        bound = _signature(function).bind(*range(count), **dict.fromkeys(named))
    except ValueError:  # a function in C without a signature
        pass
    else:
        if not any(p.kind is p.VAR_POSITIONAL for p in bound.signature.parameters.values()):
            names = tuple(list(bound.arguments)[:count])
    as_given = names is None or names == tuple(_signature(ours).parameters)[:count]
    as_given = as_given and _fits(ours, count, *named)
    return _Plan(ours, names, as_given, as_given and _may_be_missing(function, ours, count, named), function in METHODS)


def _may_be_missing(function: Any, ours: Callable[..., Any], count: int, named: tuple[str, ...]) -> bool:
    """Whether one of the given arguments, if it is None or NumPy's mark for a missing value, stands for a default of ours."""
    found = _signature(ours).parameters
    if any(p.kind is p.VAR_KEYWORD for p in found.values()):
        return True
    positional = [p for p in list(found.values())[:count] if p.kind is not p.KEYWORD_ONLY and p.kind is not p.VAR_POSITIONAL]
    given = [*positional, *[found[name] for name in named]]
    try:
        theirs = _signature(function).parameters
    except ValueError:
        theirs = {}
    marked = [p.name for p in given if p.name in theirs and theirs[p.name].default is _NO_VALUE]
    return bool(marked) or any(p.default is not None and p.default is not p.empty for p in given)


def _name_of(function: Any) -> str:
    """Name of a function as users write it after "numpy."."""
    return public_name(function.__module__, function.__name__)


@cache
def _signature(function: Any) -> Any:
    import inspect

    return inspect.signature(function)


def _given(settings: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments that are given: neither None nor NumPy's mark for a missing value. axis=None counts as given."""
    return {name: x for name, x in settings.items() if (x is not None and x is not _NO_VALUE) or name == "axis"}


@cache
def _fits(ours: Callable[..., Any], count: int, *named: str) -> bool:
    """Whether our function takes this number of positional arguments, and others with these names."""
    try:
        _signature(ours).bind(*range(count), **dict.fromkeys(named))
    except TypeError:
        return False
    return True


def _unknown(ours: Callable[..., Any], given: dict[str, Any]) -> list[str]:
    """Names of the arguments that our function does not take."""
    return [name for name in given if name not in _signature(ours).parameters]

