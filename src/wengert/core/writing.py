"""In-place operations as users call them. An unrecorded write that a compiled kernel takes runs at once.

Optimisers make such writes: p -= rate * p.grad, p.add_(g, alpha=-rate), grad.zero_(). All others go to views.call_inplace.
"""

from __future__ import annotations

if False:
    import cython
from collections.abc import Callable
from typing import Any

from wengert import _shim as cython
from wengert.core.binding import bind
from wengert.core.forward import raise_explained, set_kernel
from wengert.core.modes import DUAL, NO_GRAD, OBSERVED, flags
from wengert.core.op import Op
from wengert.core.override import NOT_OVERRIDDEN, has_foreign, override, override_foreign, override_operator
from wengert.core.saved import is_watched
from wengert.core.tensor import IS_INFERENCE, IS_VOLATILE, TensorBase, refresh_view
from wengert.core.views import bump, call_inplace
from wengert.kernels import find_kernel, is_from_signal

if not cython.compiled:
    from wengert.core.native import (
        fill_floats,
        is_ndarray,
        wk_apply2,
        wk_apply_into,
        wk_init_native,
        wk_init_numpy,
        wk_is_whole,
        wk_overriding,
    )

wk_init_numpy()
wk_init_native()


def write(op: Op, inputs: tuple[Any, ...], params: dict[str, Any] | None) -> Any:
    """Run an operation, write the result into its first input, and return that input."""
    if write_at_once(op, inputs, params):
        return inputs[0]
    return call_inplace(op, inputs, params)


def make_inplace_operator(op: Op, shown: Any) -> Callable[..., Any]:
    """Return the operator x += y. shown: as in make_operator."""

    def operator(self: Any, other: Any) -> Any:
        if cython.compiled and wk_overriding():
            found = override_operator(shown(operator), (self, other))
            if found is not NOT_OVERRIDDEN:
                return found
        return write(op, (self, other), None)

    return operator


def make_inplace_method(op: Op) -> Callable[..., Any]:
    """Return the method x.add_(y)."""

    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        if cython.compiled and wk_overriding():
            found = override(method, (self, *args), kwargs)
            if found is not NOT_OVERRIDDEN:
                return found
        try:
            inputs, params = bind(op, (self, *args), kwargs)
            return write(op, inputs, params if params else None)
        except Exception as error:
            if has_foreign(args, kwargs):
                found = override_foreign(method, (self, *args), kwargs)
                if found is not NOT_OVERRIDDEN:
                    return found
            raise_explained(op, (self, *args), kwargs, error)
            raise

    return method


def write_at_once(op: Op, inputs: tuple[Any, ...], params: dict[str, Any] | None) -> bool:
    """Write at once if nothing can be wrong with it. Otherwise do nothing and return False."""
    if op.kernel is None:
        set_kernel(op)
    if op.native < 0 and op.adds_product is None:
        return False
    if not isinstance(inputs[0], TensorBase):
        return False
    target: TensorBase = inputs[0]
    if not is_writable(target):
        return False
    operands: list[Any] = [target._array]
    recording: bool = not flags() & NO_GRAD
    for i in range(1, len(inputs)):
        x = inputs[i]
        if isinstance(x, TensorBase):
            other: TensorBase = x
            if recording and (other._requires_grad or other._view is not None):
                return False
            if other._view is not None:
                refresh_view(other)
            operands.append(other._array)
        elif type(x) is float or type(x) is int:
            operands.append(x)
        else:
            return False
    try:
        if apply_into(op, operands, op.defaults if params is None else params, target._array):
            bump(target)
            return True
    except BaseException as error:
        if is_from_signal(error):
            bump(target)
        raise
    return False


def is_writable(target: TensorBase) -> bool:
    """Whether no rule of writing forbids a write into target's memory now, and nobody but target has to hear of it."""
    mode: int = flags()
    if mode & (OBSERVED | DUAL) or is_watched() or target._flags & (IS_INFERENCE | IS_VOLATILE):
        return False
    if target._view is not None and (mode & NO_GRAD == 0 or target._view.physical is not None):
        return False
    return (mode & NO_GRAD) != 0 or not target._requires_grad


def apply_into(op: Op, operands: list[Any], params: dict[str, Any], array: Any) -> bool:
    """Let a compiled kernel write the operation's result into array, which is operands[0]; False where none does."""
    if op.native >= 0 and not wk_is_whole(op.native):
        plain: bool = True
        for name in op.param_names:
            if name not in op.native_params and params[name] is not op.defaults[name]:
                plain = False
        if plain:
            if len(op.native_params) != 0:
                operands = operands + [params[name] for name in op.native_params]
            return wk_apply_into(op.native, operands, array)
    if op.adds_product is None:
        return False
    factor = params[op.adds_product[0]]
    product = operands[1]
    if not (type(factor) is float or type(factor) is int) or not is_ndarray(product):
        return False
    if op.adds_product[2]:
        product = wk_apply2(_kernel_of(op.adds_product[2]), product, operands[2]) if is_ndarray(operands[2]) else None
        if product is None:
            return False
    return wk_apply_into(_kernel_of(op.adds_product[3]), [operands[0], product, factor * op.adds_product[1]], array)


_kernels: dict[str, int] = {}


def _kernel_of(role: str) -> int:
    """Return the number of the kernel of a role, or -1."""
    kernel = _kernels.get(role)
    if kernel is None:
        found = find_kernel(role, True)
        kernel = _kernels[role] = -1 if found is None else found[0]
    return kernel


def fill_at_once(target: TensorBase, value: Any) -> bool:
    """Fill an ordinary tensor of floats with a Python number. Otherwise do nothing and return False."""
    if not is_writable(target) or not fill_floats(target._array, value):
        return False
    bump(target)
    return True
