"""Custom Functions inside a dual level: forward computes the values, jvp the tangents."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wengert import dtypes, errors
from wengert.backends.selection import backend_of
from wengert.core.dual import DualLevel, every_level_set_aside, innermost_set_aside, levels_around, save_output_tangents
from wengert.core.tensor import TensorBase, is_differentiable, wrap

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
            raise errors.FunctionError(f"expected Variable or None (got {type(tangent).__name__}) for grad output {i}.")
    if len(results) != len(outputs):
        raise errors.FunctionError(
            f"Function's jvp returned an invalid number of forward gradients (expected {len(outputs)} but got "
            f"{len(results)})"
        )
    fixed = ctx._fixed or (False,) * len(outputs)
    for i, (output, tangent) in enumerate(zip(outputs, results, strict=True)):
        differentiable = isinstance(output, TensorBase) and is_differentiable(output._array) and not fixed[i]
        if differentiable and tangent is None:
            raise errors.FunctionError(
                f"Function's jvp returned None at position {i}, but the corresponding forward output is a differentiable "
                "Tensor. Hint: return zeros_like() of the output there, or name the output to ctx.mark_non_differentiable."
            )
        if not differentiable and tangent is not None:
            raise errors.FunctionError(
                f"Function's jvp returned a gradient at position {i}, but  the corresponding forward output is not a "
                "differentiable Tensor.You should return None at that position instead."
            )
        if differentiable:
            check_tangent(output, tangent, inputs, tangents)
            if any(output is x for x in inputs):
                if level.find(output) is None:
                    level.write(output, tangent)
            else:
                level.set(output, tangent)


def _zeros(x: Any) -> Any:
    """Return a zero tangent for an argument without one, or None if its dtype is not differentiable."""
    return wrap(backend_of(x._array).zeros_like(x._array)) if dtypes.is_differentiable(x._array.dtype) else None


def check_tangent(output: Any, tangent: Any, inputs: tuple[Any, ...], given: list[Any]) -> None:
    """Raise RuntimeError if a tangent has another shape than its output, no floating-point or complex dtype, or does not share
    memory as the output does.

    If forward wrote an input in place, jvp must write the input's tangent in place. If the output is a view of an input,
    its tangent must be a view of the input's tangent, if it has one.
    """
    if tangent._array.shape != output._array.shape:
        raise errors.tangent_shape(output._array.shape, tangent._array.shape)
    if not is_differentiable(tangent._array):
        raise errors.FunctionError(
            f"Function's jvp returned a tangent of dtype {errors.dtype_name(tangent._array.dtype)}, but a tangent is floating "
            f"point or complex. Hint: return it as {errors.dtype_name(output._array.dtype)}."
        )
    for x, t in zip(inputs, given, strict=True):
        if not isinstance(x, TensorBase) or t is None:
            continue
        if output is x:
            if tangent is not t:
                raise errors.FunctionError(
                    "An inplace custom Function is not modifying the forward mode gradients inplace. If the forward is "
                    "modifying an input inplace, then the jvp function must modify the corresponding gradient inplace."
                )
            return
        is_itself = output._array is x._array
        if is_itself or (output._view is not None and _base_of(output) is _base_of(x)):
            if tangent._view is None:
                raise errors.FunctionError(
                    "A custom Function's forward is returning a view (or an input as-is) but the jvp is not returning a "
                    "view."
                )
            if _base_of(tangent) is not _base_of(t):
                raise errors.FunctionError(
                    "A custom Function is returning a view but the jvp is not returning a view of the same base as the "
                    "given grad input."
                )
            return


def _base_of(x: Any) -> Any:
    """Return the base of a view, or the tensor itself if it is no view."""
    return x if x._view is None else x._view.base
