"""The callables that users see: how the arguments of a call become an operation's inputs and parameters."""

from __future__ import annotations

if False:
    import cython
from collections.abc import Callable
from typing import Any

import numpy as np

from wengert import _shim as cython
from wengert import errors
from wengert.backends.selection import device_name, on_device, others
from wengert.core.dispatch import call, call1, call2
from wengert.core.forward import raise_explained, raise_explained_function
from wengert.core.op import MISSING, Op, public_name
from wengert.core.override import NOT_OVERRIDDEN, has_foreign, is_foreign, override, override_foreign, override_operator
from wengert.core.tensor import TensorBase
from wengert.core.views import write_out

if not cython.compiled:
    from wengert.core.native import is_row_major, wk_init_numpy, wk_overriding

wk_init_numpy()

_MOST_BOUND = 256  # calls whose parameters an operation remembers
# Classes whose objects stand in for numbers while a function is recorded, and the types of these: see program/numbers.py.
stand_ins: dict[type, type] = {}
FACTORS = frozenset({"alpha", "beta", "value"})  # parameters that had a place among the operands

# -- public callables --------------------------------------------------------------------------------------------------


def make_function(op: Op) -> Callable[..., Any]:
    """Return the function that users call. In class Tensor's namespace it is a method."""
    simple: int = -1
    if op.variadic < 0 and op.varargs is None and len(op.input_names) <= 2 and op.simple:
        simple = len(op.input_names)
    plain: int = len(op.input_names) if op.variadic < 0 and op.varargs is None and op.param_names else -1

    def function(*args: Any, **kwargs: Any) -> Any:
        if cython.compiled and wk_overriding():  # uncompiled, the code of this function is exchanged: see Note [Overrides]
            found = override(function, args, kwargs)
            if found is not NOT_OVERRIDDEN:
                return found
        if len(args) == simple and not kwargs:  # without the cost of the try: these explain errors themselves
            if len(args) == 1:
                return call1(op, args[0])
            return call2(op, args[0], args[1])
        try:
            if len(args) == plain and are_complete(op, kwargs):
                return call(op, args, kwargs)
            out = kwargs.pop("out", None) if kwargs else None
            inputs, params = bind(op, args, kwargs)
            if out is not None:
                return write_out(op, out, inputs, params)
            return call(op, inputs, params)
        except Exception as error:
            if has_foreign(args, kwargs):
                found = override_foreign(function, args, kwargs)
                if found is not NOT_OVERRIDDEN:
                    return found
            raise_explained(op, args, kwargs, error)
            raise

    return function


def are_complete(op: Op, kwargs: dict[str, Any]) -> bool:
    """Whether these are all of the operation's parameters and nothing else, as rules and composites give them."""
    if len(kwargs) != len(op.param_names):
        return False
    for name in op.param_names:
        if name not in kwargs:
            return False
        if name in FACTORS and type(kwargs[name]) is not float and type(kwargs[name]) is not int:
            return False  # bind checks it
    return True


def make_sizes_function(op: Op, function: Callable[..., Any]) -> Callable[..., Any]:
    """Return function(x, *sizes). It calls op with {"shape": sizes} if x is a row-major tensor and the sizes fit."""

    def of_sizes(*args: Any, **kwargs: Any) -> Any:
        if cython.compiled and wk_overriding():
            found = override(of_sizes, args, kwargs)
            if found is not NOT_OVERRIDDEN:
                return found
        if not kwargs and len(args) > 1 and isinstance(args[0], TensorBase) and is_row_major(args[0]._array):
            sizes = tuple(args[1]) if len(args) == 2 and isinstance(args[1], tuple) else args[1:]
            if are_ints(sizes, 0):
                try:
                    return call(op, (args[0],), {"shape": sizes})
                except (errors.ShapeError, OverflowError):
                    pass  # function tells of it in its own words
        return function(*args, **kwargs)

    return of_sizes


def call_on_their_device(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Call a function with a device as the current one: that of the first tensor on one, among the arguments and in lists of them,
    or else that of the argument device."""
    for x in (*args, *kwargs.values()):
        for y in x if isinstance(x, (list, tuple)) else (x,):
            if isinstance(y, TensorBase) and type(y._array) in others:
                with on_device(device_name(y._array)):
                    return function(*args, **kwargs)
    where = str(kwargs.get("device"))
    if where.startswith("cuda:"):
        with on_device(where):
            return function(*args, **kwargs)
    return function(*args, **kwargs)


def make_explained_function(name: str, function: Callable[..., Any], fn: Any, respelled: Any) -> Callable[..., Any]:
    """Return a function that calls `function`, and explains its errors. fn: the Python function that has the parameters.

    respelled(kwargs) returns keyword arguments under the parameters' own names.
    """

    def explained(*args: Any, **kwargs: Any) -> Any:
        if cython.compiled and wk_overriding():
            found = override(explained, args, kwargs)
            if found is not NOT_OVERRIDDEN:
                return found
        if kwargs:
            kwargs = respelled(kwargs)
        try:
            return call_on_their_device(function, args, kwargs) if others else function(*args, **kwargs)
        except Exception as error:
            if has_foreign(args, kwargs):
                found = override_foreign(explained, args, kwargs)
                if found is not NOT_OVERRIDDEN:
                    return found
            raise_explained_function(name, fn, 0, args, kwargs, error)
            raise

    return explained


def make_respelled_function(function: Callable[..., Any], second: dict[str, str], respelled: Any) -> Callable[..., Any]:
    """Return a function that calls `function` with keyword arguments under the parameters' own names; see above.

    second: the keywords that are no parameter's name.
    """

    def with_own_names(*args: Any, **kwargs: Any) -> Any:
        if cython.compiled and wk_overriding():
            found = override(with_own_names, args, kwargs)
            if found is not NOT_OVERRIDDEN:
                return found
        if not kwargs:
            return function(*args)
        for name in kwargs:
            if name in second:
                return function(*args, **respelled(kwargs))
        return function(*args, **kwargs)

    return with_own_names


def make_operator(op: Op, shown: Any) -> Callable[..., Any]:
    """Return the operator x + y. It returns NotImplemented for an operand that the operation does not take.

    shown: returns the function that __torch_function__ gets, given the operator.
    """

    def operator(self: Any, other: Any) -> Any:
        if cython.compiled and wk_overriding():
            found = override_operator(shown(operator), (self, other))
            if found is not NOT_OVERRIDDEN:
                return found
        if isinstance(other, TensorBase) or type(other) is float or type(other) is int or is_operand(other):
            return call2(op, self, other)
        return override_other(shown(operator), self, other)

    return operator


def make_reflected(op: Op, shown: Any) -> Callable[..., Any]:
    """Return the reflected operator: y + x, if only x is a tensor. shown: as in make_operator."""

    def reflected(self: Any, other: Any) -> Any:
        if cython.compiled and wk_overriding():
            found = override_operator(shown(reflected), (self, other))
            if found is not NOT_OVERRIDDEN:
                return found
        if type(other) is float or type(other) is int or is_operand(other):
            return call2(op, other, self)
        return override_other(shown(reflected), self, other)

    return reflected


def override_other(function: Any, x: Any, other: Any) -> Any:
    """Return the result of an operator whose second operand is neither tensor nor number, or NotImplemented."""
    if wk_overriding() or not is_foreign(other):
        return NotImplemented
    try:
        found = override_foreign(function, (x, other), {})
    except TypeError:
        return NotImplemented
    return NotImplemented if found is NOT_OVERRIDDEN else found


def is_operand(x: Any) -> bool:
    """Whether an operator takes x beside a tensor: numbers and NumPy arrays."""
    known = isinstance(x, (int, float, complex, np.generic, np.ndarray, TensorBase))
    return known or type(x) in others or type(x) in stand_ins


def bind(op: Op, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Sort the arguments of a call into inputs and a complete dict of parameters."""
    names = op.input_names
    n_inputs = len(names)
    if not kwargs and len(args) > n_inputs and op.variadic < 0 and are_ints(args, n_inputs):
        known = op.bound.get(args[n_inputs:])
        if known is not None:
            return args[:n_inputs], known
    if len(args) > n_inputs + op.positional_params and op.varargs is None:
        args, kwargs = numbers_to_keywords(op, args, kwargs)
    n_args = len(args)
    inputs: list[Any] = []
    for i in range(n_inputs):
        name = names[i]
        if i < n_args:
            value = args[i]
        elif name in kwargs:
            value = kwargs.pop(name)
        else:
            value = pop_input(op, name, kwargs)
        if i == op.variadic:
            inputs.extend(value)
        else:
            inputs.append(value)
    params = dict(op.defaults)
    positional = args[n_inputs:]
    if op.varargs is not None and positional:
        first = positional[0]
        params[op.varargs] = tuple(first) if len(positional) == 1 and isinstance(first, (tuple, list)) else positional
        positional = ()
    if len(positional) > op.positional_params:
        raise errors.too_many_arguments(op.name, n_inputs + op.positional_params, n_args)
    for i in range(len(positional)):
        params[op.param_names[i]] = positional[i]
    for name, value in kwargs.items():
        target = name if name in params else op.spelled(name)
        if target not in params:
            if target in names and public_name(target) == name:
                raise errors.multiple_values(op.name, name)
            raise errors.unexpected_keyword(op.name, name)
        if target != name and target in kwargs:
            raise errors.unexpected_keyword(op.name, name)
        if target in op.param_names[: len(positional)]:
            raise errors.multiple_values(op.name, name)
        if target in FACTORS and type(value) is not float and type(value) is not int:
            check_factor(op, target, value)
        params[target] = value
    for name in op.required:
        if params[name] is MISSING:
            raise errors.missing_argument(op.name, name)
    if not kwargs and n_args > n_inputs and op.variadic < 0 and are_ints(args, n_inputs):
        if len(op.bound) >= _MOST_BOUND:
            op.bound.clear()
        op.bound[args[n_inputs:]] = params  # nobody changes parameters
    return tuple(inputs), params


def check_factor(op: Op, name: str, value: Any) -> None:
    """Raise TypeError unless value is a number or a 0-d tensor, or None if that is the default."""
    if not is_operand(value) or getattr(value, "ndim", 0) != 0:
        if value is not None or op.defaults[name] is not None:
            raise errors.wrong_argument_type(op.name, name, None, type(value), "Number")


def are_ints(args: tuple[Any, ...], first: int) -> bool:
    """Whether all arguments from the first one on are ints, and nothing that only equals one."""
    for i in range(first, len(args)):
        if type(args[i]) is not int:
            return False
    return True


def numbers_to_keywords(op: Op, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Return today's arguments for a call in the order before torch 1.5: add(x, alpha, y), addmm(beta, x, alpha, a, b).

    The numbers among them are the factors, in their order.
    """
    factors = [name for name in op.param_names if name in FACTORS]
    tensors = tuple([x for x in args if isinstance(x, TensorBase)])
    numbers = [x for x in args if not isinstance(x, TensorBase)]
    if len(tensors) != len(op.input_names) or not 0 < len(numbers) <= len(factors):
        raise errors.too_many_arguments(op.name, len(op.input_names) + op.positional_params, len(args))
    return tensors, {**dict(zip(factors, numbers, strict=False)), **kwargs}


def pop_input(op: Op, name: str, kwargs: dict[str, Any]) -> Any:
    """An input given by a public name (input=, other=, a=), or its default."""
    for keyword in kwargs:
        if op.spelled(keyword) == name:
            return kwargs.pop(keyword)
    if name in op.input_defaults:
        return op.input_defaults[name]
    raise errors.missing_argument(op.name, public_name(name))
