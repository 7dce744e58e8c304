"""NumPy's functions on tensors: np.sin(x), np.sum(x, axis=0), array * x give tensors with a history.

Note [NumPy's functions on tensors]
NumPy calls __array_ufunc__ or __array_function__ of an operand, so that the operand runs NumPy's function itself. If the
function has a derivative, the operation of the same meaning runs it, under torch's rules: float32 stays float32, and
integers become the default dtype instead of float64. A ufunc returns a tensor, as it does for torch's tensors. A function
that arrays also have as a method returns a tensor too. Any other function (np.concatenate) returns a tensor if an argument
is differentiated, which torch refuses, and an array otherwise, as for torch's tensors. A function that is not listed here runs on
the memory of the tensors, and refuses those that are differentiated: tensors that require grad, and dual tensors.

UFUNCS, REDUCTIONS, ACCUMULATIONS, FUNCTIONS and PLAIN are the tables: one row a function of NumPy. PLAIN functions ask about
tensors, have no derivative, and take every tensor. tests/core/test_numpy_functions.py calls each public function of NumPy.

This module is loaded when NumPy first calls a tensor.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache
from typing import Any

import numpy as np

from wengert import dtypes, errors
from wengert.core.leaving import has_tangent
from wengert.core.modes import set_recording
from wengert.core.tensor import TensorBase
from wengert.core.views import bump
from wengert.ops import function


class _Namespace:
    """The public functions of a namespace, as attributes: w.sum is wengert.sum."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        found = function(self._name, name)
        if found is None:
            raise AttributeError(f"no function {name!r} in the namespace {self._name!r}")
        setattr(self, name, found)
        return found


w, fft, linalg, special = [_Namespace(name) for name in ("", "fft", "linalg", "special")]

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
# The functions in FUNCTIONS that reduce and accumulate by a ufunc.
REDUCTIONS = {"add": "sum", "logical_and": "all", "logical_or": "any", "maximum": "max", "minimum": "min", "multiply": "prod"}
ACCUMULATIONS = {"add": "cumsum", "multiply": "cumprod"}


def _ufuncs() -> dict[str, Callable[..., Any]]:
    found = {name: getattr(w, name) for name in _SAME_NAME.split()}
    found |= {name: getattr(w, ours) for name, ours in _OTHER_NAME.items()}
    for pair in _SCIPY.split():
        ours, _, name = pair.partition(":")
        found.setdefault(name or ours, getattr(special, ours))
    return found


UFUNCS = _ufuncs()
UFUNCS["matmul"] = lambda a, b: w.matmul(*_promoted(a, b))


def run_ufunc(ufunc: np.ufunc, method: str, inputs: tuple[Any, ...], settings: dict[str, Any]) -> Any:
    """Run a ufunc for Tensor.__array_ufunc__. See Note [NumPy's functions on tensors]."""
    if method == "__call__" and not settings:
        function = UFUNCS.get(ufunc.__name__)
        if function is not None:
            for x in inputs:
                if isinstance(x, (list, tuple)):
                    return function(*[_operand(x) for x in inputs])
            return function(*inputs)
    if _is_differentiated((*inputs, *settings.values())):
        return _run_ufunc_method(ufunc, method, inputs, settings)
    out = settings.pop("out", ())
    if out:
        settings["out"] = tuple([_memory(x) for x in out])
    found = getattr(ufunc, method)(*[_memory(x) for x in inputs], **settings)
    if out:
        for x in out:
            if isinstance(x, TensorBase):
                bump(x)
        return out[0] if len(out) == 1 else out
    return tuple([_tensor(x) for x in found]) if isinstance(found, tuple) else _tensor(found)


def _run_ufunc_method(ufunc: np.ufunc, method: str, inputs: tuple[Any, ...], settings: dict[str, Any]) -> Any:
    """Run a method of a ufunc, or a call with settings, on tensors that are differentiated. Raises if it has no derivative."""
    name = ufunc.__name__ if method == "__call__" else f"{ufunc.__name__}.{method}"
    table = {"reduce": REDUCTIONS, "accumulate": ACCUMULATIONS}.get(method, {})
    if ufunc.__name__ in table:
        function = FUNCTIONS[getattr(np, table[ufunc.__name__])]
        names = ("a", "axis", "dtype", "out", "keepdims")
        given = _given({"axis": 0} | dict(zip(names, inputs, strict=False)) | settings)
        if not _fits(function, (), given):
            raise _unsupported_arguments(name, _unknown(function, given))
        return function(**given)
    if method == "outer" and ufunc.__name__ in UFUNCS and not settings:
        a, b = _all(inputs)
        return UFUNCS[ufunc.__name__](a.reshape(a.shape + (1,) * b.ndim), b)
    raise _no_derivative(" with ".join([name, *settings]), (*inputs, *settings.values()))


def _operand(x: Any) -> Any:
    """Return x as an operand: lists and tuples become arrays."""
    return np.asarray(x) if isinstance(x, (list, tuple)) else x


def _tensor(x: Any) -> Any:
    """Return an array or NumPy scalar as a tensor if torch has its dtype. Anything else is returned as it is."""
    return w.as_tensor(x) if isinstance(x, (np.ndarray, np.generic)) and x.dtype.kind in "biufcV" else x


def _memory(x: Any) -> Any:
    """Return x with each tensor replaced by its memory. Raises RuntimeError if a tensor is differentiated."""
    if isinstance(x, TensorBase):
        return x.numpy()  # type: ignore[attr-defined]  # a TensorBase is a Tensor
    if isinstance(x, (list, tuple)):
        return type(x)([_memory(item) for item in x])
    return x


def _is_differentiated(values: Iterable[Any]) -> bool:
    """Whether a tensor among the values, or in a list of them, requires grad or is dual."""
    for x in values:
        if isinstance(x, TensorBase):
            if x.requires_grad or has_tangent(x):
                return True
        elif isinstance(x, (list, tuple)) and _is_differentiated(x):
            return True
    return False


def _no_derivative(function: str, values: Iterable[Any]) -> Exception:
    """The error for a function of NumPy that has no derivative, and was called with these arguments."""
    kind = "Tensor that requires grad" if _requires_grad(values) else "a dual Tensor, which has a tangent"
    return errors.no_array_of(kind, f"numpy.{function}" if hasattr(np, function.partition(" ")[0].partition(".")[0]) else function)


def _requires_grad(values: Iterable[Any]) -> bool:
    """Whether a tensor among the values, or in a list of them, requires grad."""
    return any(
        _requires_grad(x) if isinstance(x, (list, tuple)) else isinstance(x, TensorBase) and x.requires_grad for x in values
    )


# -- functions ---------------------------------------------------------------------------------------------------------

FUNCTIONS: dict[Any, Callable[..., Any]] = {}
METHODS: set[Any] = set()  # the functions in FUNCTIONS that arrays have as a method too


def _unsupported_arguments(function: str, given: list[str]) -> Exception:
    """The error for a call of a function of NumPy with arguments that the operation does not take. given: their names."""
    named = f" with {', '.join(given)}" if given else " in this way"
    return errors.ArgumentError(
        f"numpy.{function} cannot be called{named} on a Tensor that requires grad or has a tangent. Hint: call the "
        "operation of wengert, or detach the tensor first."
    )


def run_function(function: Any, types: Iterable[type], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Run a function for Tensor.__array_function__. See Note [NumPy's functions on tensors]."""
    if not all(issubclass(t, (TensorBase, np.ndarray)) for t in types):
        return NotImplemented
    if function in PLAIN:
        with set_recording(False):
            return function(*_detached(args), **{name: _detached(x) for name, x in kwargs.items()})
    ours = FUNCTIONS.get(function)
    differentiated = _is_differentiated((*args, *kwargs.values()))
    if ours is not None:
        if len(args) == 1 and not kwargs and function in METHODS:
            return ours(*args)
        unnamed, named = _named(function, args, kwargs)
        fits = _fits(ours, unnamed, named)
        if differentiated and not fits:
            raise _unsupported_arguments(_name_of(function), _unknown(ours, named))
        if fits and (differentiated or function in METHODS):
            return ours(*unnamed, **named)
    elif differentiated:
        raise _no_derivative(_name_of(function), (*args, *kwargs.values()))
    return function(*_memory(args), **{name: _memory(x) for name, x in kwargs.items()})


def _name_of(function: Any) -> str:
    """Name of a function as users write it after "numpy."."""
    module = function.__module__.removeprefix("numpy").lstrip(".")
    return f"{module}.{function.__name__}" if module in ("linalg", "fft") else function.__name__


@cache
def _signature(function: Any) -> Any:
    import inspect

    return inspect.signature(function)


def _named(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Return (args, kwargs) with the arguments under the names of NumPy's parameters, if NumPy has a signature.

    Raises TypeError if NumPy's function does not take them.
    """
    try:
        bound = _signature(function).bind(*args, **kwargs)
    except ValueError:
        return args, _given(kwargs)
    return (args, _given(kwargs)) if "operands" in bound.arguments else ((), _given(bound.arguments))


def _given(settings: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments that are given: neither None nor NumPy's mark for a missing value. axis=None counts as given."""
    return {name: x for name, x in settings.items() if (x is not None and x is not np._NoValue) or name == "axis"}


def _fits(ours: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Whether our function takes these arguments of NumPy's."""
    try:
        _signature(ours).bind(*args, **kwargs)
    except TypeError:
        return False
    return True


def _unknown(ours: Callable[..., Any], given: dict[str, Any]) -> list[str]:
    """Names of the arguments that our function does not take."""
    return [name for name in given if name not in _signature(ours).parameters]


def _detached(x: Any) -> Any:
    """Return x with each tensor replaced by its memory, whether it requires grad or not."""
    if isinstance(x, TensorBase):
        return x.numpy(force=True)  # type: ignore[attr-defined]
    return type(x)([_detached(item) for item in x]) if isinstance(x, (list, tuple)) else x


# Functions that ask about tensors. They have no derivative.
PLAIN = {
    np.allclose, np.array_equal, np.array_equiv, np.count_nonzero, np.iscomplexobj, np.isclose, np.isrealobj,
    np.may_share_memory, np.ndim, np.result_type, np.shape, np.shares_memory, np.size,
}  # fmt: skip


def _of(*functions: Any, method: bool = False) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register a function that runs these functions of NumPy. It has their parameters."""

    def register(ours: Callable[..., Any]) -> Callable[..., Any]:
        FUNCTIONS.update(dict.fromkeys(functions, ours))
        if method:
            METHODS.update(functions)
        return ours

    return register


def _ints(x: Any) -> tuple[int, ...]:
    """Return a shape or axes as a tuple. One number stands for a tuple of it."""
    return (int(x),) if isinstance(x, (int, np.integer)) else tuple(x)


def _t(x: Any) -> Any:
    """Return x as a tensor."""
    return x if isinstance(x, TensorBase) else w.as_tensor(np.asarray(_memory(x)) if isinstance(x, (list, tuple)) else x)


def _promoted(*values: Any) -> list[Any]:
    """Return the values as tensors of their promoted dtype. torch's products need one dtype, NumPy's do not."""
    tensors = _all(values)
    dtype = tensors[0].dtype
    for x in tensors[1:]:
        dtype = dtypes.promote_types(dtype, x.dtype)
    return [x.to(dtype) for x in tensors]


def _all(arrays: Iterable[Any]) -> list[Any]:
    return [_t(x) for x in arrays]


def _reduction(name: str) -> Callable[..., Any]:
    """Return a reduction over axes, or over all elements if axis is None."""
    over_all, over_dims = getattr(w, name), getattr(w, {"max": "amax", "min": "amin"}.get(name, name))

    def reduce(a, axis=None, dtype=None, keepdims=False):
        a = _t(a)
        options = {} if dtype is None else {"dtype": dtype}
        if name == "mean" and dtype is None and not (a.is_floating_point() or a.is_complex()):
            options = {"dtype": dtypes.get_default_dtype()}
        if axis is None and not keepdims:
            return over_all(a, **options)
        axes = tuple(range(a.ndim)) if axis is None else _ints(axis)
        if name != "prod":
            return over_dims(a, dim=axes, keepdim=keepdims, **options)
        for dim in sorted((d % a.ndim for d in axes), reverse=True):
            a = w.prod(a, dim, keepdim=keepdims, **options)
        return a

    return reduce


for _name in ("sum", "prod", "mean", "max", "min", "all", "any"):
    _of(getattr(np, _name), method=True)(_reduction(_name))
FUNCTIONS |= {np.amax: FUNCTIONS[np.max], np.amin: FUNCTIONS[np.min]}
METHODS |= {np.amax, np.amin}
_of(np.nansum)(_reduction("nansum"))
_of(np.nanmean)(_reduction("nanmean"))


@_of(np.std, method=True)
def _std(a, axis=None, ddof=0, keepdims=False):
    return w.std(_t(a), dim=axis, correction=ddof, keepdim=keepdims)


@_of(np.var, method=True)
def _var(a, axis=None, ddof=0, keepdims=False):
    return w.var(_t(a), dim=axis, correction=ddof, keepdim=keepdims)


@_of(np.median)
def _median(a, axis=None, keepdims=False):
    return _quantile(a, 0.5, axis, keepdims=keepdims)


@_of(np.quantile)
def _quantile(a, q, axis=None, *, method="linear", keepdims=False):
    a = _t(a)
    return w.quantile(a, q if isinstance(q, (int, float)) else w.as_tensor(q, dtype=a.dtype), axis, keepdims, interpolation=method)


@_of(np.percentile)
def _percentile(a, q, axis=None, *, method="linear", keepdims=False):
    return _quantile(a, np.true_divide(q, 100), axis, method=method, keepdims=keepdims)


@_of(np.argmax, method=True)
def _argmax(a, axis=None, keepdims=False):
    return w.argmax(_t(a), dim=axis, keepdim=keepdims)


@_of(np.argmin, method=True)
def _argmin(a, axis=None, keepdims=False):
    return w.argmin(_t(a), dim=axis, keepdim=keepdims)


@_of(np.cumsum, method=True)
def _cumsum(a, axis=None, dtype=None):
    return w.cumsum(w.ravel(_t(a)) if axis is None else _t(a), 0 if axis is None else axis, dtype=dtype)


@_of(np.cumprod, method=True)
def _cumprod(a, axis=None, dtype=None):
    return w.cumprod(w.ravel(_t(a)) if axis is None else _t(a), 0 if axis is None else axis, dtype=dtype)


# -- shapes


_of(np.ravel, method=True)(lambda a: w.ravel(_t(a)))
_of(np.copy)(lambda a: w.clone(_t(a)))
_of(np.swapaxes, method=True)(lambda a, axis1, axis2: w.swapaxes(_t(a), axis1, axis2))
_of(np.moveaxis)(lambda a, source, destination: w.moveaxis(_t(a), source, destination))
_of(np.broadcast_to)(lambda array, shape: w.broadcast_to(_t(array), _ints(shape)))
_of(np.fliplr)(lambda m: w.fliplr(_t(m)))
_of(np.flipud)(lambda m: w.flipud(_t(m)))
_of(np.rot90)(lambda m, k=1, axes=(0, 1): w.rot90(_t(m), k, list(axes)))
_of(np.roll)(lambda a, shift, axis=None: w.roll(_t(a), shift, axis))
_of(np.tile)(lambda A, reps: w.tile(_t(A), _ints(reps)))
_of(np.diagonal, method=True)(lambda a, offset=0, axis1=0, axis2=1: w.diagonal(_t(a), offset, axis1, axis2))
_of(np.diag)(lambda v, k=0: w.diag(_t(v), k))
_of(np.tril)(lambda m, k=0: w.tril(_t(m), k))
_of(np.triu)(lambda m, k=0: w.triu(_t(m), k))
_of(np.real)(lambda val: w.real(_t(val)) if _t(val).is_complex() else _t(val))
_of(np.imag)(lambda val: w.imag(_t(val)) if _t(val).is_complex() else w.zeros_like(_t(val)))
_of(np.angle)(lambda z: w.angle(_t(z)))


@_of(np.reshape, method=True)
def _reshape(a, shape):
    return w.reshape(_t(a), _ints(shape))


@_of(np.transpose, method=True)
def _transpose(a, axes=None):
    a = _t(a)
    return w.permute(a, tuple(reversed(range(a.ndim))) if axes is None else tuple(axes))


@_of(np.squeeze, method=True)
def _squeeze(a, axis=None):
    return w.squeeze(_t(a)) if axis is None else w.squeeze(_t(a), axis)


@_of(np.expand_dims)
def _expand_dims(a, axis):
    a = _t(a)
    axes = _ints(axis)
    for dim in sorted(d % (a.ndim + len(axes)) for d in axes):
        a = w.unsqueeze(a, dim)
    return a


@_of(np.flip)
def _flip(m, axis=None):
    m = _t(m)
    return w.flip(m, tuple(range(m.ndim)) if axis is None else _ints(axis))


@_of(np.repeat, method=True)
def _repeat(a, repeats, axis=None):
    return w.repeat_interleave(_t(a), repeats if isinstance(repeats, int) else w.as_tensor(repeats), axis)


@_of(np.take, method=True)
def _take(a, indices, axis=None):
    a = w.ravel(_t(a)) if axis is None else _t(a)
    place = 0 if axis is None else axis % a.ndim
    return a[(slice(None),) * place + (_detached(indices),)]


# -- joining


@_of(np.concatenate)
def _concatenate(arrays, axis=0):
    return w.cat([w.ravel(x) for x in _all(arrays)] if axis is None else _all(arrays), 0 if axis is None else axis)


_of(np.stack)(lambda arrays, axis=0: w.stack(_all(arrays), axis))
_of(np.vstack)(lambda tup: w.vstack(_all(tup)))
_of(np.hstack)(lambda tup: w.hstack(_all(tup)))
_of(np.dstack)(lambda tup: w.dstack(_all(tup)))
_of(np.column_stack)(lambda tup: w.column_stack(_all(tup)))


# -- elements


@_of(np.where)
def _where(condition, x, y):
    condition = _t(condition)
    return w.where(condition if condition.dtype is dtypes.bool_ else condition != 0, _operand(x), _operand(y))


@_of(np.clip, method=True)
def _clip(a, a_min=None, a_max=None, *, min=None, max=None):
    return w.clip(_t(a), a_min if min is None else min, a_max if max is None else max)


_of(np.round, np.around, method=True)(lambda a, decimals=0: w.round(_t(a), decimals=decimals))
_of(np.nan_to_num)(lambda x, nan=0.0, posinf=None, neginf=None: w.nan_to_num(_t(x), nan, posinf, neginf))
_of(np.sort)(lambda a, axis=-1: w.sort(w.ravel(_t(a)) if axis is None else _t(a), 0 if axis is None else axis)[0])
_of(np.argsort)(lambda a, axis=-1: w.argsort(w.ravel(_t(a)) if axis is None else _t(a), 0 if axis is None else axis))
_of(np.diff)(lambda a, n=1, axis=-1: w.diff(_t(a), n, axis))
_of(np.sinc)(lambda x: w.sinc(_t(x)))
_of(np.i0)(lambda x: w.i0(_t(x)))


# -- products


@_of(np.dot, method=True)
def _dot(a, b):
    a, b = _promoted(a, b)
    if a.ndim == 0 or b.ndim == 0:
        return a * b
    if b.ndim == 1 or (a.ndim <= 2 and b.ndim == 2):
        return w.matmul(a, b)
    return w.tensordot(a, b, dims=([a.ndim - 1], [b.ndim - 2]))


@_of(np.inner)
def _inner(a, b):
    return w.inner(*_promoted(a, b))


@_of(np.tensordot)
def _tensordot(a, b, axes=2):
    if not isinstance(axes, int):
        axes = tuple([[d] if isinstance(d, int) else list(d) for d in axes])
    a, b = _promoted(a, b)
    return w.tensordot(a, b, dims=axes)


_of(np.vdot)(lambda a, b: w.vdot(*[w.ravel(x) for x in _promoted(a, b)]))
_of(np.outer)(lambda a, b: w.outer(*[w.ravel(x) for x in _promoted(a, b)]))
_of(np.einsum)(lambda subscripts, *operands: w.einsum(subscripts, *_promoted(*operands)))
_of(np.kron)(lambda a, b: w.kron(_t(a), _t(b)))
_of(np.trace, method=True)(lambda a, offset=0: w.diagonal(_t(a), offset).sum(-1))


@_of(np.linalg.norm)
def _norm(x, ord=None, axis=None, keepdims=False):
    x = _t(x)
    if axis is None and ord is not None and x.ndim > 2:
        raise _unsupported_arguments("linalg.norm", ["ord of more than two dimensions, but no axis"])
    return linalg.norm(x, ord, axis, keepdims)


_of(np.linalg.cholesky)(lambda a: linalg.cholesky(_t(a)))
_of(np.linalg.det)(lambda a: linalg.det(_t(a)))
_of(np.linalg.eigh)(lambda a, UPLO="L": linalg.eigh(_t(a), UPLO))
_of(np.linalg.eigvalsh)(lambda a, UPLO="L": linalg.eigvalsh(_t(a), UPLO))
_of(np.linalg.inv)(lambda a: linalg.inv(_t(a)))
_of(np.linalg.matrix_power)(lambda a, n: linalg.matrix_power(_t(a), n))
_of(np.linalg.pinv)(lambda a: linalg.pinv(_t(a)))
_of(np.linalg.slogdet)(lambda a: linalg.slogdet(_t(a)))
_of(np.linalg.solve)(lambda a, b: linalg.solve(*_promoted(a, b)))


@_of(np.linalg.svd)
def _svd(a, full_matrices=True):
    return linalg.svd(_t(a), full_matrices)


@_of(np.linalg.qr)
def _qr(a, mode="reduced"):
    return linalg.qr(_t(a), mode)


def _transform(run: Callable[..., Any]) -> Callable[..., Any]:
    return lambda a, n=None, axis=-1, norm=None: run(_t(a), n, axis, norm)


for _name in ["fft", "ifft", "rfft", "irfft", "hfft", "ihfft"]:
    _of(getattr(np.fft, _name))(_transform(getattr(fft, _name)))
