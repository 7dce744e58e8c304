"""Which kernel a device runs for a pointwise operation, a rule or a program, and its launch.

Forwards and rules of pointwise operations are traced into expressions (ops/fuse.py). An expression of several functions is one
kernel on a device, where the calls of its library would be several. A rule whose cotangent is summed to the shape of a smaller
input is one kernel with the sum. What cannot be traced, and operands of other dtypes, keep the calls of the library.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from wengert.backends import selection
from wengert.backends.kernels import Kernel, computed_in
from wengert.ops import fuse
from wengert.ops.deferred import Deferred, deferring, run, run_formula as run_formula
from wengert.ops.expressions import make_kernel
from wengert.ops.host import HOST_OPERATIONS as HOST_OPERATIONS
from wengert.ops.registry import OPS, Operation

_DTYPES = frozenset({"bfloat16", "float16", "float32", "float64"})


class Form(NamedTuple):
    """The kernel of a forward or rule. names: of its operands. See fuse.Trace."""

    kernel: Kernel
    names: tuple[str, ...]
    for_defaults: bool
    takes_numbers: bool
    is_one_call: bool  # of a function of the library


_forms: dict[str, dict[str, Form]] = {}  # by operation, and by the number of the target of a rule, "" for the forward


def forms_of(op: Any) -> dict[str, Form]:
    """Return the kernels of an operation, by the number of a rule's target, "" for the forward."""
    found = _forms.get(op.name)
    if found is None:
        found = _forms[op.name] = {}
        if OPS.get(op.name) is op and isinstance(op, Operation) and op.kind == "pointwise" and op.variadic < 0:
            for t in fuse.trace_operation(op):
                target = t.role.removeprefix(op.name).removeprefix(".")
                functions = [v.function for v in t.values if v.function is not None]
                kernel = make_kernel(t.role, t.values, [t.result], t.operands)
                place = str(op.input_names.index(target)) if target else ""
                found[place] = Form(kernel, tuple(t.operands), t.for_defaults, t.takes_numbers, len(functions) == 1)
    return found


def run_forward(backend: Any, op: Any, arrays: Sequence[Any], given: dict[str, Any]) -> Any:
    """Return what an operation gives for arrays of a backend, computed by one kernel; None if there is no such kernel."""
    if backend.ndarray is Deferred:
        return None
    form = forms_of(op).get("")
    if form is None or form.is_one_call:
        return None
    known = {**op.defaults, **given, **dict(zip(op.input_names, arrays, strict=True))}
    operands = _operands(backend, op, form, known)
    return None if operands is None else backend.run_kernel(form.kernel, operands[0], operands[1])[0]


def run_rule(backend: Any, op: Any, target: int, ct: Any, arguments: Sequence[Any], shape: tuple[int, ...]) -> Any:
    """Return what a rule makes of a cotangent on a device, summed to the shape of its target, by one kernel; None if there is none.

    arguments: what the rule asks for, in order."""
    form = forms_of(op).get(str(target))
    if form is None:
        return None
    names = next(rule.names for rule in op.rules if rule.targets == (target,))
    operands = _operands(backend, op, form, {"ct": ct, **dict(zip(names, arguments, strict=True))})
    if operands is None:
        return None
    arrays, dtype = operands
    whole = np.broadcast_shapes(*[getattr(x, "shape", ()) for x in arrays])
    if whole != shape:
        return sum_of(backend, form.kernel, arrays, dtype, whole, shape)
    return None if form.is_one_call else backend.run_kernel(form.kernel, arrays, dtype)[0]


# Operations whose forwards and rules run on deferred arrays: see ops/deferred.py. Others are one function already, compute with
# integers, or write into arrays of which they have views.
DEFERRED = frozenset({
    "softmax", "log_softmax", "_softmax_cotangent", "_log_softmax_cotangent", "logsumexp", "_var", "_std", "_var_mean", "_std_mean",
    "_vector_norm", "_standardize", "_rescale", "_layer_norm", "_mse_loss", "_smooth_l1_loss", "_huber_loss", "_bce_with_logits",
    "_binary_cross_entropy", "_cross_entropy", "_cross_entropy_cotangent", "_clamp_between",
})  # fmt: skip


def run_deferred(backend: Any, op: Any, arrays: Sequence[Any], given: dict[str, Any], forward: Callable[..., Any]) -> Any:
    """Return forward(op, arrays, given, backend), run on deferred arrays if the operation is listed."""
    if op.name not in DEFERRED or backend.ndarray is Deferred:
        return forward(op, arrays, given, backend)
    xp = deferring(backend)
    return run(xp, lambda _, *inputs, **params: forward(op, list(inputs), params, xp), None, arrays, given)


def run_rule_deferred(backend: Any, op: Any, rule: Any, ct: Any, arguments: Sequence[Any]) -> Any:
    """Return what a rule makes of a cotangent on a device, run as run_deferred runs forwards."""
    if op.name not in DEFERRED:
        return rule(selection.face_of(backend), ct, *arguments)
    xp = deferring(backend)
    return run(xp, rule, selection.face_of(xp), (ct, *arguments), {})


def sum_of(backend: Any, kernel: Kernel, arrays: Sequence[Any], dtype: Any, whole: tuple[int, ...], shape: tuple[int, ...]) -> Any:
    """Return the sum of a kernel's result, of the shape `whole`, over what broadcasting added to `shape`."""
    extra = len(whole) - len(shape)
    axes = tuple([i for i, n in enumerate(whole) if i < extra or shape[i - extra] != n])
    total = backend.run_sum(kernel, arrays, dtype, axes)
    return total if total.shape == shape else total.reshape(shape)


def _operands(backend: Any, op: Any, form: Form, known: dict[str, Any]) -> tuple[list[Any], Any] | None:
    """Return the operands of a kernel and the dtype of their elements; None if the kernel does not take them."""
    if form.for_defaults and any(
        name in known and name not in form.names and not _is_same(known[name], op.defaults[name]) for name in op.param_names
    ):
        return None
    operands = [known[name] for name in form.names]
    for name, x in zip(form.names, operands, strict=True):
        if type(x) is not backend.ndarray and (type(x) not in (int, float) or not (form.takes_numbers or name in op.param_names)):
            return None
    dtype = _dtype_of(backend, operands)
    return None if dtype is None else (operands, dtype)


def _is_same(x: Any, y: Any) -> bool:
    return x is y or (type(x) is type(y) and isinstance(x, (int, float, str, type(None))) and x == y)


def _dtype_of(backend: Any, operands: Sequence[Any]) -> Any:
    """Return the dtype of all arrays among the operands; None if they have several, or one that kernels do not take."""
    found = {x.dtype for x in operands if type(x) is backend.ndarray}
    dtype = found.pop() if len(found) == 1 else None
    return dtype if dtype is not None and dtype.name in _DTYPES else None


# -- programs ----------------------------------------------------------------------------------------------------------


def kernels_of(program: Any) -> tuple[Kernel, list[Kernel]] | None:
    """Return the kernel of a program of ops/program.py, and one for each of its outputs; None if it has no kernel."""
    if program.kernels is None:
        names = [f"x{i}" for i in range(len(program.inputs))]
        found = fuse.trace_program(names, program)
        if found is None:
            program.kernels = False
        else:
            values, results = found
            whole = make_kernel("program", values, results, names)
            parts = [make_kernel("program", values, [x], names) for x in results] if len(results) > 1 else [whole]
            program.kernels = whole, parts
    kernels: tuple[Kernel, list[Kernel]] | None = program.kernels or None
    return kernels


def run_program(backend: Any, program: Any, arrays: Sequence[Any], shapes: Sequence[Any] | None, outs: Sequence[Any] | None) -> Any:
    """Return the outputs of a program for arrays and numbers, each by one kernel for all; None if there is no kernel.

    shapes: of each output, to which it is summed, or None. outs: the arrays that the outputs are written into."""
    kernels = kernels_of(program)
    dtype = None if kernels is None else _dtype_of(backend, arrays)
    if kernels is None or dtype is None:
        return None
    whole = np.broadcast_shapes(*[getattr(x, "shape", ()) for x in arrays])
    if shapes is None or all(shape == whole for shape in shapes):
        return backend.run_kernel(kernels[0], arrays, dtype, outs)
    return tuple(
        [
            backend.run_kernel(kernel, arrays, dtype)[0] if shape == whole else sum_of(backend, kernel, arrays, dtype, whole, shape)
            for kernel, shape in zip(kernels[1], shapes, strict=True)
        ]
    )


def reference(kernel: Kernel, arrays: Sequence[Any], dtype: Any) -> list[Any]:
    """Return the results of a kernel for NumPy's arrays, computed by NumPy, in the dtype and the shape of the kernel's results."""
    shape = np.broadcast_shapes(*map(np.shape, arrays))
    with np.errstate(all="ignore"):
        return [np.broadcast_to(x, shape).astype(dtype) for x in kernel.evaluate(arrays, computed_in(dtype))]
