"""The functions of wengert.hips.numpy: NumPy's functions that take boxes without asking NumPy for its dispatch.

door(f) makes the function for f. Without boxes it is NumPy's function. With boxes it calls our function of the table of
array_functions, by the plans of array_protocol.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import Any

import numpy as np

from wengert.array_functions import FUNCTIONS, PLAIN
from wengert.array_functions.creation import array
from wengert.array_functions.table import holds_tensor
from wengert.array_protocol import UFUNCS, array_function, run_ufunc
from wengert.core.tensor import TensorBase
from wengert.hips.boxes import ArrayBox, Box, boxed, is_traced, value_of
from wengert.hips.traces import Traced, is_recorded, record
from wengert.tensor import Tensor

# Functions of which HIPS says that they are constant: their results are NumPy's, and have no history.
_CONSTANT = PLAIN | {
    np.all, np.any, np.argmax, np.argmin, np.argsort, np.around, np.ceil, np.equal, np.fix, np.floor, np.floor_divide, np.greater,
    np.greater_equal, np.iscomplex, np.isfinite, np.isinf, np.isnan, np.isreal, np.isscalar, np.less, np.less_equal, np.logical_and,
    np.logical_not, np.logical_or, np.logical_xor, np.not_equal, np.rint, np.round, np.sign, np.signbit, np.trunc,
}  # fmt: skip

# Functions that NumPy does not hand to tensors.
_OWN: dict[Any, Callable[[tuple[Any, ...], dict[str, Any]], Any]] = {
    np.array: lambda args, kwargs: array(*args, **{name: x for name, x in kwargs.items() if name not in ("order", "subok")}),
    np.asarray: lambda args, kwargs: array(*args, **{"copy": None} | {n: x for n, x in kwargs.items() if n in ("dtype", "copy")}),
}
_LIKE = (np.zeros_like, np.ones_like, np.empty_like, np.full_like)


@cache
def door(function: Any) -> Any:
    """Return the function of wengert.hips.numpy for a function of NumPy."""
    if function in _LIKE:
        run = _like(function)
    elif function in _CONSTANT:
        run = _constant(function)
    elif isinstance(function, np.ufunc):
        run = _ufunc(function)
    else:
        run = _function(function)
    run.__name__ = run.__qualname__ = function.__name__
    run.__doc__ = function.__doc__
    run.fun = function  # type: ignore[attr-defined]
    return run


def _constant(function: Any) -> Callable[..., Any]:
    def run(*args: Any, **kwargs: Any) -> Any:
        return function(*[value_of(x) for x in args], **{name: value_of(x) for name, x in kwargs.items()})

    return run


def _like(function: Any) -> Callable[..., Any]:
    """zeros_like and its kind give boxes for boxes, so that programs can write boxes into them."""

    def run(prototype: Any, *args: Any, **kwargs: Any) -> Any:
        found = function(value_of(prototype), *args, **kwargs)
        if is_traced(prototype) and isinstance(found, np.ndarray) and found.dtype.kind in "fc":
            found = Tensor.clone(_as_tensor(found))
            found.__class__ = ArrayBox
        return found

    return run


def _as_tensor(x: np.ndarray) -> Any:
    return array(x, copy=None)


# Operands that are neither boxes nor tensors, and that operations of wengert take as they are.
_OPERANDS = frozenset({np.ndarray, float, int, bool, complex, np.float64, np.float32, np.int64, np.bool_, np.complex128})


def _ufunc(ufunc: np.ufunc) -> Callable[..., Any]:
    ours = UFUNCS.get(ufunc.__name__)

    def run(*args: Any, **kwargs: Any) -> Any:
        if kwargs or ours is None:
            return _run_ufunc(run, ufunc, args, kwargs)
        has_box = False
        for x in args:
            kind = type(x)
            if kind is ArrayBox:
                has_box = True
            elif kind not in _OPERANDS:
                return _run_ufunc(run, ufunc, args, kwargs)
        if not has_box:
            return ufunc(*args)
        found = ours(*args)
        if type(found) is Tensor and found._requires_grad:
            found.__class__ = ArrayBox
            return found
        return boxed(found, args)

    for method in ("reduce", "accumulate", "outer", "reduceat", "at"):
        setattr(run, method, partial(_run_method, ufunc, method))
    run.nin, run.nout, run.nargs = ufunc.nin, ufunc.nout, ufunc.nargs  # type: ignore[attr-defined]
    return run


def _run_ufunc(run: Any, ufunc: np.ufunc, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    if is_recorded(args):
        return record(run, args, kwargs)
    if not _holds_box((*args, *kwargs.values())):
        return ufunc(*args, **kwargs)
    if ufunc.__name__ not in UFUNCS:
        raise not_defined("VJP", ufunc, args)
    args = tuple([array(x) if isinstance(x, (list, tuple)) else x for x in args])
    if not kwargs:
        return boxed(UFUNCS[ufunc.__name__](*args), args)
    if "out" in kwargs:
        out = kwargs["out"]
        kwargs = {**kwargs, "out": out if isinstance(out, tuple) else (out,)}
    return boxed(run_ufunc(ufunc, "__call__", args, kwargs), args)


def _run_method(ufunc: np.ufunc, method: str, *args: Any, **kwargs: Any) -> Any:
    if not _holds_box((*args, *kwargs.values())):
        return getattr(ufunc, method)(*args, **kwargs)
    return boxed(run_ufunc(ufunc, method, args, kwargs), args)


def _function(function: Any) -> Callable[..., Any]:
    if function not in _OWN and function not in FUNCTIONS:
        return _without_derivative(function)
    call = _OWN.get(function) or partial(array_function, None, function, ())

    def run(*args: Any, **kwargs: Any) -> Any:
        for x in args:
            if type(x) is ArrayBox:
                break
        else:
            if is_recorded(args):
                return record(run, args, kwargs)
            if not (holds_tensor(args) or _holds_box((*args, *kwargs.values()))):
                return function(*args, **kwargs)
        found = call(args, kwargs)
        if type(found) is Tensor and found._requires_grad and found is not args[0]:
            found.__class__ = ArrayBox
            return found
        return boxed(found, args)

    return run


def _without_derivative(function: Any) -> Callable[..., Any]:
    def run(*args: Any, **kwargs: Any) -> Any:
        if is_recorded(args):
            return record(run, args, kwargs)
        if is_traced((*args, *kwargs.values())):
            raise not_defined("VJP", function, args)
        found = function(*args, **kwargs)
        return boxed(found) if isinstance(found, TensorBase) else found

    return run


def not_defined(kind: str, function: Any, args: Any) -> NotImplementedError:
    """The error for a function that has no derivative. kind: "VJP" or "JVP"."""
    argnums = tuple([i for i, x in enumerate(args) if is_traced(x)])
    return NotImplementedError(f"{kind} of {getattr(function, '__name__', function)} wrt argnums {argnums} not defined")


def _holds_box(values: Any) -> bool:
    """Whether a tensor or a box is among the values, or in a list of them."""
    for x in values:  # any() of a generator takes three times as long
        if isinstance(x, Box):
            return True
    return holds_tensor(values)


# -- methods of boxes ----------------------------------------------------------------------------------------------------------

_METHODS = """
    all any argmax argmin argpartition argsort clip compress cumprod cumsum diagonal dot max mean min nonzero prod ptp ravel repeat
    round searchsorted squeeze std sum swapaxes take trace var
"""
_OPERATORS = {
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "truediv": np.true_divide, "pow": np.power, "mod": np.mod,
    "matmul": np.matmul, "floordiv": np.floor_divide,
}  # fmt: skip


def _reshape(self: Any, *shape: Any, order: str = "C") -> Any:
    """Return the elements in another shape, given as a tuple or as numbers."""
    return door(np.reshape)(self, shape[0] if len(shape) == 1 else shape, order=order)


def _transpose(self: Any, *axes: Any) -> Any:
    """Return the array with its axes in another order, given as a tuple or as numbers; reversed without any."""
    if not axes or axes == (None,):
        return self.T
    return door(np.transpose)(self, axes[0] if len(axes) == 1 else axes)


def _astype(self: Any, dtype: Any, *args: Any, **kwargs: Any) -> Any:
    """Return the array in another dtype. Integers and conditions have no derivative."""
    dtype = np.dtype(dtype)
    return boxed(Tensor.to(self, dtype)) if dtype.kind in "fc" else np.asarray(value_of(self)).astype(dtype, *args, **kwargs)


def _infix(ufunc: np.ufunc) -> Callable[..., Any]:
    """Return the method x.__op__(y) for a ufunc."""
    run = door(ufunc)
    return lambda self, other: run(self, other)


def _reflected(ufunc: np.ufunc) -> Callable[..., Any]:
    """Return the method x.__rop__(y) for a ufunc."""
    run = door(ufunc)
    return lambda self, other: run(other, self)


def _run_traced(self: Any, ufunc: np.ufunc, method: str, *inputs: Any, **settings: Any) -> Any:
    """Run a ufunc that NumPy hands to a value of a trace."""
    return NotImplemented if method != "__call__" else door(ufunc)(*inputs, **settings)


def _of_value(name: str) -> Callable[..., Any]:
    """Return the method that calls a method of the value."""
    return lambda self, *others: getattr(np.asarray(value_of(self)), name)(*[value_of(x) for x in others])


def _value_property(name: str) -> property:
    return property(lambda self: getattr(np.asarray(value_of(self)), name))


def _members_of_boxes() -> dict[str, Any]:
    found: dict[str, Any] = {name: door(getattr(np, name)) for name in _METHODS.split()}
    return found | {
        "reshape": _reshape, "transpose": _transpose, "astype": _astype, "flatten": door(np.ravel), "copy": door(np.copy),
        "conj": door(np.conj), "conjugate": door(np.conj), "__floordiv__": _infix(np.floor_divide),
        "__rfloordiv__": _reflected(np.floor_divide),
    }  # fmt: skip


def _members_of_traced() -> dict[str, Any]:
    found: dict[str, Any] = {f"__{name}__": _infix(ufunc) for name, ufunc in _OPERATORS.items()}
    found |= {f"__r{name}__": _reflected(ufunc) for name, ufunc in _OPERATORS.items()}
    found |= {f"__{name}__": _of_value(f"__{name}__") for name in ("eq", "ne", "lt", "le", "gt", "ge")}
    found |= {name: _value_property(name) for name in ("shape", "ndim", "size", "dtype")}
    return found | {
        "reshape": _reshape, "transpose": _transpose, "T": property(door(np.transpose)), "__neg__": door(np.negative),
        "__abs__": door(np.abs), "__hash__": object.__hash__, "__array_ufunc__": _run_traced,
    }  # fmt: skip


for _cls, _members in ((ArrayBox, _members_of_boxes()), (Traced, _members_of_traced())):
    for _name, _member in _members.items():
        setattr(_cls, _name, _member)
