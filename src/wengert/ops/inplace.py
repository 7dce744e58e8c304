"""Writes into part of a tensor, without the copy of the tensor that an operation's forward would make.

The callers are operations whose result is their first input with some elements changed, such as those of index.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from wengert import dtypes, errors
from wengert.backends.selection import elsewhere, is_array, others, placed, run_in, together
from wengert.core.dispatch import aligned_to_target, observe, record, unwrap
from wengert.core.modes import DUAL, NO_GRAD, OBSERVED, flags, quiet_enter, quiet_exit
from wengert.core.op import Op
from wengert.core.tensor import IS_VOLATILE, TensorBase, counter_of, refresh_view, wrap
from wengert.core.views import bump, check_memory, check_write, rebase_history, write_volatile
from wengert.kernels import is_from_signal
from wengert.ops.indices import raw


def is_recorded(target: Any, *others: Any) -> bool:
    """Whether a write of others into target must be recorded, or may have to propagate a tangent."""
    mode = flags()
    if mode & DUAL:
        return True
    if mode & NO_GRAD:
        return False
    if target.requires_grad:
        return True
    for x in others:  # noqa: SIM110 (any() of a generator costs a tenth of a small write)
        if isinstance(x, TensorBase) and (x.requires_grad or x._flags & IS_VOLATILE):
            return True
    return False


def begin_write(target: Any, region: Any, one_value: bool = False) -> None:
    """Check that region, an array in target's memory, may be written without recording. one_value: see check_memory."""
    check_write(target, False)
    check_memory(target, region, one_value)


class unrecorded_write:
    """Context of a write into target's memory that is not recorded: `with unrecorded_write(target): ...`.

    region: the array that is written, if it is only a part of target. one_value: see check_memory."""

    def __init__(self, target: Any, region: Any = None, one_value: bool = False) -> None:
        self.target = target
        self.region = target._array if region is None else region
        self.one_value = one_value
        self.place = elsewhere(self.region) if others else None

    def __enter__(self) -> None:
        begin_write(self.target, self.region, self.one_value)
        quiet_enter()
        if self.place is not None:
            self.place.__enter__()

    def __exit__(self, kind: object, error: BaseException | None, _: object) -> None:
        if self.place is not None:
            self.place.__exit__(None, None, None)
        quiet_exit()
        if error is None or is_from_signal(error):
            bump(self.target)


def fill(region: Any, value: Any) -> None:
    """Write value, an array or a number, into region. Raises torch's error if value does not broadcast to region."""
    if is_array(value) and value.dtype.kind == "c" and region.dtype.kind != "c":
        value = value.real
    try:
        region[...] = placed(value, region) if others else value
    except ValueError:
        dtypes.from_numpy_dtype(value.dtype)  # raises for a dtype that no tensor has
        raise errors.expand_mismatch(value.shape, region.shape) from None


def write_inplace(
    op: Op, inputs: tuple, params: dict, write: Callable[..., None], one_value: bool = False
) -> Any:
    """Run write(*arrays, **params), which applies op to the first input's array in place, and record op.

    No rule of op may save the first input or the output, because the write changes both. one_value: see check_memory.
    """
    if flags() & OBSERVED:
        name = op.name.strip("_").removesuffix("_inplace") + "_"
        return observe(name, inputs, write_inplace, (op, inputs, params, write, one_value))
    if flags() & DUAL:
        from wengert.core.dual import write_dual

        return write_dual(op, inputs, params, lambda: write_inplace(op, inputs, params, write, one_value))
    if others:
        inputs = aligned_to_target(inputs)
        if (place := elsewhere(inputs[0]._array)) is not None:
            return run_in(place, write_inplace, op, inputs, params, write, one_value)
    target = inputs[0]
    refresh_view(target)
    if not is_recorded(*inputs):
        with unrecorded_write(target, one_value=one_value):
            write(*together([raw(x) for x in inputs]), **params)
        return target
    check_write(target)
    check_memory(target, target._array, one_value)
    arrays, needs = unwrap(op, inputs)
    arrays = together(arrays)
    quiet_enter()
    try:
        write(*arrays, **params)
    except BaseException as error:
        if is_from_signal(error):
            bump(target)
        raise
    finally:
        quiet_exit()
    bump(target)
    carrier = wrap(target._array)
    carrier._counter = counter_of(target)
    record(op, needs, inputs, arrays, params, (carrier,))
    if carrier._grad_fn is not None:
        rebase_history(target, carrier._grad_fn)
    elif carrier._flags & IS_VOLATILE:
        write_volatile(target)
    return target
