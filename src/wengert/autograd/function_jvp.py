"""Custom Functions inside a dual level: forward computes the values, jvp the tangents."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from wengert import dtypes
from wengert.core.dual import DualLevel, every_level_set_aside, innermost_set_aside, levels_around, save_output_tangents
from wengert.core.tensor import TensorBase, is_differentiable, wrap
from wengert.errors import forward as errors

if TYPE_CHECKING:
    from wengert.autograd.function import BackwardCFunction, Function


def apply_dual(cls: type[Function], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Run Function.apply inside a dual level.

    forward runs with all levels set aside. Then jvp runs once for each level at which an argument has a tangent, from
    the outermost to the innermost. Each run sees only the levels around its own.
    """
    inputs = (*args, *kwargs.values())
    # The tangents are read before forward runs, because it may write into its arguments.
    tangents = [[_tangent(level, x) for x in inputs] for level in levels_around()]
    ctx = cls._backward_cls()
    with every_level_set_aside():
        result = cls._applied(ctx, args, kwargs)
    outputs = result if isinstance(result, tuple) else (result,)
    try:
        for depth, given in enumerate(tangents):
            if any(t is not None for t in given):
                with innermost_set_aside(down_to=depth) as level:
                    run_jvp(cls, ctx, level, inputs, given, outputs)
                save_output_tangents(level, ctx, [o for o in outputs if isinstance(o, TensorBase)])
    finally:
        ctx.__dict__.pop("saved_for_forward", None)
    return result


def _tangent(level: DualLevel, x: Any) -> Any:
    return level.find(x) if isinstance(x, TensorBase) else None


def run_jvp(
    cls: type[Function], ctx: BackwardCFunction, level: DualLevel, inputs: tuple[Any, ...], tangents: list[Any], outputs: Any
) -> None:
    """Call jvp and give its tangents to the outputs. Raises RuntimeError if their number or one of them is wrong."""
    if ctx.materialize_grads:
        given = [_zeros(x) if t is None and isinstance(x, TensorBase) else t for x, t in zip(inputs, tangents, strict=True)]
    else:
        given = tangents
    ctx._in_jvp = ctx.saved_for_forward or None
    try:
        result = cls.jvp(ctx, *given)
    finally:
        ctx._in_jvp = None
    results = result if isinstance(result, tuple) else (result,)
    for i, tangent in enumerate(results):
        if tangent is not None and not isinstance(tangent, TensorBase):
            raise errors.jvp_type(type(tangent), i)
    if len(results) != len(outputs):
        raise errors.jvp_number(len(outputs), len(results))
    fixed = ctx._fixed or (False,) * len(outputs)
    for i, (output, tangent) in enumerate(zip(outputs, results, strict=True)):
        differentiable = isinstance(output, TensorBase) and is_differentiable(output._array) and not fixed[i]
        if differentiable and tangent is None:
            raise errors.jvp_missing(i)
        if not differentiable and tangent is not None:
            raise errors.jvp_not_differentiable(i)
        if differentiable:
            check_tangent(output, tangent, inputs, given)
            if any(output is x for x in inputs):
                if level.find(output) is None:
                    level.write(output, tangent)
            else:
                level.set(output, tangent)


def _zeros(x: Any) -> Any:
    """Return a zero tangent for an argument without one, or None if its dtype is not differentiable."""
    return wrap(np.zeros_like(x._array)) if dtypes.is_differentiable(x._array.dtype) else None


def check_tangent(output: Any, tangent: Any, inputs: tuple[Any, ...], given: list[Any]) -> None:
    """Raise RuntimeError if a tangent has another shape than its output, or does not share memory as the output does.

    If forward wrote an input in place, jvp must write the input's tangent in place. If the output is a view of an input,
    its tangent must be a view of the input's tangent.
    """
    if tangent._array.shape != output._array.shape:
        raise errors.tangent_shape(output._array.shape, tangent._array.shape)
    for x, t in zip(inputs, given, strict=True):
        if not isinstance(x, TensorBase) or t is None:
            continue
        if output is x:
            if tangent is not t:
                raise errors.jvp_not_in_place()
            return
        is_itself = output._array is x._array
        if is_itself or (output._view is not None and _base_of(output) is _base_of(x)):
            if tangent._view is None:
                raise errors.jvp_no_view()
            if _base_of(tangent) is not _base_of(t):
                raise errors.jvp_other_base()
            return


def _base_of(x: Any) -> Any:
    """Return the base of a view, or the tensor itself if it is no view."""
    return x if x._view is None else x._view.base
