"""Running an operation's forward: its operands, promoted; its compiled kernel, or NumPy where that does not take them."""

from __future__ import annotations

if False:
    import cython
from typing import Any

import numpy as np

from wengert import _shim as cython
from wengert import dtypes, errors
from wengert.backends import numpy as numpy_backend
from wengert.backends.selection import backend_among, backend_of, gather, is_array, others, to_device, to_host
from wengert.core.modes import quiet_enter, quiet_exit, state
from wengert.core.op import Op, public_name
from wengert.core.trace import find_kernel
from wengert.core.untaken import MOVES
from wengert.dtypes import NONE, SAME
from wengert.kernels import find_kernel as find_compiled

if not cython.compiled:
    from wengert.core.native import (
        as_array,
        is_complex,
        is_inexact,
        is_ndarray,
        wk_apply2,
        wk_apply_list,
        wk_init_native,
        wk_init_numpy,
        wk_is_whole,
    )

wk_init_numpy()
wk_init_native()

_NUMBERS: tuple[type, ...] = (int, float, complex, np.generic)


_load_explainers: Any = None


def set_explainers(load: Any) -> None:
    """Install the function that returns what explains errors: functions for operations and for other functions. It is called
    when a call first fails."""
    global _load_explainers
    _load_explainers = load


def set_kernel(op: Op) -> None:
    """Look for the operation's kernels, once. Only a ufunc's result is sure to be a new array, so no view has one."""
    makes_one = not op.is_view and op.output_names is None
    op.kernel = find_kernel(op.forward, len(op.input_names)) if makes_one else False
    op.is_direct = makes_one and op.node_chooser is None and op.variadic < 0
    compiled = find_compiled(op.name, True) if makes_one else None
    n = len(op.input_names)
    if compiled is not None and compiled[1][:n] == op.input_names:
        op.native, op.native_params = compiled[0], compiled[1][n:]
    op.is_direct_native = op.is_direct or (wk_is_whole(op.native) and op.variadic < 0)


def raise_explained(op: Op, args: tuple[Any, ...], kwargs: dict[str, Any], error: Exception) -> None:
    """Raise an error that names the wrong argument of a call, if this one comes from inside the operation."""
    if isinstance(error, MemoryError) or (isinstance(error, errors.WengertError) and not isinstance(error, errors.ArgumentError)):
        return
    found = _load_explainers()[0](op, args, kwargs, error)
    if found is not None:
        raise found


def raise_explained_function(
    name: str, fn: Any, skip: int, args: tuple[Any, ...], kwargs: dict[str, Any], error: Exception
) -> None:
    """Raise an error that names the wrong argument of a call, if this one comes from inside the function fn.

    skip: number of leading parameters of fn that are not the caller's."""
    if isinstance(error, MemoryError):
        return
    found = _load_explainers()[1](name, fn, skip, args, kwargs, error)
    if found is not None:
        raise found


_load_device_kernels: Any = None


def set_device_kernels(load: Any) -> None:
    """Install the function that returns the module of kernels for devices, which lists the operations that always run on NumPy."""
    global _load_device_kernels
    _load_device_kernels = load


def device_kernels() -> Any:
    """Return the module of kernels for devices."""
    return _load_device_kernels()


def fused(function: Any, *arrays: Any) -> Any:
    """Return function(*arrays), a formula of elements. If the arrays lie on a device, it is one kernel there."""
    backend = backend_of(arrays)
    return function(*arrays) if backend is numpy_backend else device_kernels().run_formula(backend, function, arrays)


def run_on_device(op: Op, arrays: list[Any], params: dict[str, Any] | None) -> Any:
    """Run the forward where its inputs lie, some of which are arrays of another library than NumPy.

    The operations of ops/host.py run on NumPy instead, on copies in main memory."""
    backend, index, arrays = gather(arrays)
    with backend.current(index):
        return run_on(backend, op, arrays, params or {})


def run_on(backend: Any, op: Op, arrays: Any, given: dict[str, Any]) -> Any:
    """Run the forward on arrays of a backend other than NumPy's, on its current device."""
    try:
        kernels: Any = device_kernels()
        if op.name not in kernels.HOST_OPERATIONS:
            found = kernels.run_forward(backend, op, arrays, given)
            if found is not None:
                return found
            given = {name: to_device(value, backend) for name, value in given.items()}
            return kernels.run_deferred(backend, op, arrays, given, run_narrow_or_not)
        arrays, given = to_host(list(arrays)), {name: to_host(value) for name, value in given.items()}
        quiet_enter()
        try:
            out = run_narrow_or_not(op, arrays, given, numpy_backend)
        finally:
            quiet_exit()
        return to_device(tuple(map(as_array, out)) if op.output_names is not None else as_array(out), backend)
    except Exception as error:
        if isinstance(error, ValueError):
            explain_broadcast(error, arrays)
        raise_explained(op, tuple(arrays), given, error)
        raise


def run_numpy1(op: Op, array: Any) -> Any:
    """Run the forward of one input on NumPy, or where the input lies."""
    if op.refuses_complex:
        refuse_complex(op, array)
    if others and type(array) in others:
        return run_on_device(op, [array], None)
    if not cython.compiled and op.kernel is not False and is_inexact(array):
        return state.quiet_context.run(op.kernel, array)
    quiet_enter()
    try:
        if not is_inexact(array) and is_narrow(op, array):
            return run_in_float32(op, [array], {})
        if op.kernel is not False:
            return op.kernel(array)
        return op.forward(numpy_backend, array)
    except Exception as error:
        raise_explained(op, (array,), {}, error)
        raise
    finally:
        quiet_exit()


def run_numpy2(op: Op, a: Any, b: Any) -> Any:
    """Run the forward of two inputs on NumPy, or where the inputs lie."""
    if op.refuses_complex:
        refuse_complex(op, a if is_array(a) else b)
    if others and (type(a) in others or type(b) in others):
        return run_on_device(op, [a, b], None)
    try:
        if not cython.compiled and op.kernel is not False and is_inexact(a):
            return state.quiet_context.run(op.kernel, a, b)  # a fraction of what quiet_enter and quiet_exit cost in Python
        quiet_enter()
        try:
            if not is_inexact(a) and is_narrow(op, a):
                return run_in_float32(op, [a, b], {})
            if op.kernel is not False:
                return op.kernel(a, b)
            return op.forward(numpy_backend, a, b)
        finally:
            quiet_exit()
    except Exception as error:
        if isinstance(error, ValueError):
            check_broadcast(a, b)
        raise_explained(op, (a, b), {}, error)
        raise


def run_whole(op: Op, x: Any, y: Any) -> Any:
    """Run the operation's compiled function of one or two whole arrays. None if it does not take them."""
    quiet_enter()  # a product may be NumPy's
    try:
        return wk_apply2(op.native, x, y)
    finally:
        quiet_exit()


def run_compiled(op: Op, arrays: list[Any], params: dict[str, Any] | None) -> Any:
    """Run the operation's compiled kernel on any inputs and parameters. None if it does not take them."""
    if len(arrays) != len(op.input_names):
        return None  # a kernel reads one operand for each input
    if params is None:
        params = op.defaults
    operands = arrays[:]
    for name in op.native_params:
        operands.append(params[name])
    if len(op.native_params) != len(params):
        for name, default in op.defaults.items():
            if name not in op.native_params and params[name] is not default:
                return None
    if not wk_is_whole(op.native):
        return wk_apply_list(op.native, operands)
    quiet_enter()
    try:
        return wk_apply_list(op.native, operands)
    finally:
        quiet_exit()


def run_numpy(op: Op, arrays: list[Any], params: dict[str, Any] | None) -> Any:
    """Run the forward on NumPy, or where the inputs lie."""
    if others and backend_among(arrays) is not numpy_backend:
        return run_on_device(op, arrays, params)
    quiet_enter()
    try:
        if len(arrays) != 0 and not is_inexact(arrays[0]) and is_narrow(op, arrays[0]):
            return run_in_float32(op, arrays, params or {})
        if params is None:
            return op.forward(numpy_backend, *arrays)
        return op.forward(numpy_backend, *arrays, **params)
    except ValueError as error:
        explain_broadcast(error, arrays)
        raise
    finally:
        quiet_exit()


def is_narrow(op: Op, array: Any) -> bool:
    """Whether an operand is of bfloat16, and the operation computes such in float32: all do that promote their operands,
    unless they ask for the dtype's own precision. On a device the others do too, unless they only move elements.
    """
    if op.is_view or op.own_precision or not is_array(array) or array.dtype.kind != "V":
        return False
    return op.promote != NONE or (op.carries != MOVES and type(array) in others)


def run_narrow_or_not(op: Op, arrays: Any, params: dict[str, Any], backend: Any) -> Any:
    """Run the forward on arrays of a backend, in float32 if one of them is of bfloat16 and the operation does not take it."""
    for x in arrays:
        if is_narrow(op, x):
            return run_in_float32(op, arrays, params, backend)
    return op.forward(backend, *arrays, **params)


def run_in_float32(op: Op, arrays: list[Any], params: dict[str, Any], backend: Any = numpy_backend) -> Any:
    """Run the forward for operands in bfloat16: compute in float32 and round once, as torch does.

    The arithmetic of ml_dtypes rounds at each step. It leaves bfloat16 if an operand is a Python float.
    """
    narrow = next(x.dtype for x in arrays if is_array(x) and x.dtype.kind == "V")
    wide = [x.astype(np.float32) if is_array(x) and x.dtype == narrow else x for x in arrays]
    out = op.forward(backend, *wide, **params)
    if params.get("dtype") is not None:
        return out
    if op.output_names is None:
        return backend.asarray(out).astype(narrow) if out.dtype.kind == "f" else out
    return tuple([backend.asarray(o).astype(narrow) if o.dtype.kind == "f" else o for o in out])


def constant(op: Op, x: Any, position: int) -> Any:
    """Return an input that is no tensor as a Python number or an array. A NumPy scalar becomes a Python number."""
    if type(x) is float or type(x) is int:
        return x
    if is_ndarray(x):
        if not is_inexact(x):
            dtypes.from_numpy_dtype(x.dtype)  # raises for object arrays, strings, dates and foreign byte orders
        return x.view()  # see Note [Own arrays] in ops/indices.py
    if isinstance(x, np.generic):
        return x.item()
    if isinstance(x, _NUMBERS) or type(x) in others:
        return x
    if isinstance(x, np.ndarray):
        return np.asarray(x)
    raise errors.wrong_argument_type(op.name, public_name(op.input_at(position)), position, type(x))


def promote(op: Op, arrays: list[Any]) -> list[Any]:
    """Cast the operands to the dtype that torch's promotion rules give for the operation."""
    if op.promote == NONE:
        return arrays
    if op.check is not None:
        op.check(arrays)
    elif len(arrays) == 2:
        quick = promote_pair(op, arrays[0], arrays[1])
        if quick is not None:
            return quick
    dtype = dtypes.resolve(op.promote, [x for x in arrays if x is not None])
    result: list[Any] = []
    for x in arrays:
        if is_array(x):
            result.append(x if x.dtype == dtype else cast_array(x, dtype))
        elif x is None:
            result.append(x)
        else:
            result.append(dtypes.scalar_to_array(x, dtype))
    return placed_operands(arrays, result) if others else result


def placed_operands(given: list[Any], promoted: list[Any]) -> list[Any]:
    """Return promoted operands, of which some may be on a device, where they can be computed with.

    A Python number of an operation of two inputs stays a number: making an array of it would cost a copy to the device."""
    if backend_among(promoted) is numpy_backend:
        return promoted
    if len(given) == 2:
        promoted = [y.item() if not is_array(x) and is_array(y) else y for x, y in zip(given, promoted, strict=True)]
    return gather(promoted)[2]


def promote_pair(op: Op, a: Any, b: Any) -> list[Any] | None:
    """Promote the most frequent pairs of two dtypes: floats and integers, integers and a number. None for any other pair."""
    if is_ndarray(b):
        if is_inexact(a) and a.ndim != 0 and a.itemsize >= 4 and b.dtype.kind in "biu":
            return [a, b.astype(a.dtype)]
        if is_inexact(b) and b.ndim != 0 and b.itemsize >= 4 and is_ndarray(a) and a.dtype.kind in "biu":
            return [a.astype(b.dtype), b]
    elif type(b) is int and op.promote == SAME and type(op.kernel) is np.ufunc and is_ndarray(a):
        if a.dtype.kind == "i" and a.itemsize >= 4 and -(2**31) <= b < 2**31:
            return [a, b]
    return None


def cast_array(x: Any, dtype: Any) -> Any:
    """Return x in another dtype, without NumPy's warnings of overflow and of a discarded imaginary part."""
    backend = backend_of(x)
    if backend is not numpy_backend:
        with backend.current(backend.device_of(x)):
            return backend.cast(x, dtype)
    quiet_enter()
    try:
        return numpy_backend.cast(x, dtype)
    finally:
        quiet_exit()


def refuse_complex(op: Op, array: Any) -> None:
    """Raise where an operation that has no meaning for complex numbers is given some: NumPy would order them in silence."""
    if is_complex(array) or (others and is_array(array) and array.dtype.kind == "c"):
        raise errors.unsupported_dtype(op.name, array.dtype)


def explain_broadcast(error: ValueError, arrays: list[Any]) -> None:
    """Raise torch's error in place of NumPy's own about operands that do not broadcast."""
    if type(error) is ValueError and "broadcast" in str(error):
        shapes = [x.shape for x in arrays if is_array(x)]
        try:
            np.broadcast_shapes(*shapes)
        except ValueError:
            raise errors.broadcast_shapes(*shapes) from None


def check_broadcast(a: Any, b: Any) -> None:
    """Raise torch's error where two operands do not broadcast."""
    shape_a, shape_b = getattr(a, "shape", ()), getattr(b, "shape", ())
    for m, n in zip(shape_a[::-1], shape_b[::-1], strict=False):
        if m != n and m != 1 and n != 1:
            raise errors.broadcast_shapes(shape_a, shape_b) from None
