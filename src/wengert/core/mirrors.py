"""Conjugates and negations that are views: what their elements are computed from, and how writes reach the base.

Note [Mirrors]
In torch x.conj() shows the memory of x, and a bit on the tensor tells each operation to conjugate. Here operations, kernels and
NumPy read the array of a tensor as it is. So a conjugate has an array of its own, a mirror: the image of `physical`, an array in
the memory of the base, under `relation`. Both are fields of ViewInfo. An operation that makes a view of a mirror is applied to
`physical`, and the view gets its own image. So no two tensors share a mirror, and real(conj(x)) is an ordinary view again.
- A counted write into any tensor of the memory ends in views.bump. If the shared VersionCounter lists mirrors, bump calls
  write_through: a write into a mirror goes into `physical`, then the other mirrors are computed again.
- A mirror is computed again when an operation takes it (tensor.refresh_view) and before it is written. So it also shows writes that
  nobody counts: through .data and through NumPy.
Tensors without mirrors pay for one test a view and one a write.

Not compiled: only mirrors come here, and NumPy takes the time.
"""

from __future__ import annotations

from functools import partial
from typing import Any
from weakref import ref

import numpy as np

from wengert import errors
from wengert.backends.selection import backend_of, device_name, on_device
from wengert.core.tensor import TensorBase, ViewInfo, counter_of, set_mirror_renewer
from wengert.kernels.memory import offset_of, owner_of

# Values of ViewInfo.relation, bits, and with the others of Op.reflection.
CONJUGATE = 1
NEGATIVE = 2
REAL_PART = 4
IMAGINARY_PART = 8
REINTERPRETS = 16  # a view of the bytes, for which a mirror must be resolved first
BOTH_PARTS = 32  # a view of real and imaginary parts, for which a conjugate must be resolved first


def relation_after(op: Any, relation: int) -> int:
    """Return the relation of the view that op makes of a mirror, or of an ordinary tensor if relation is 0."""
    kind = op.reflection
    if kind in (CONJUGATE, NEGATIVE):
        return relation ^ kind  # type: ignore[no-any-return]
    if kind == REAL_PART:
        return relation & NEGATIVE
    if kind == IMAGINARY_PART:
        return NEGATIVE if relation in (CONJUGATE, NEGATIVE) else 0
    if (kind == REINTERPRETS and relation) or (kind == BOTH_PARTS and relation & CONJUGATE):
        what, resolve = ("conjugated", "resolve_conj()") if relation & CONJUGATE else ("negated", "resolve_neg()")
        raise errors.InplaceError(
            f"{op.name.strip('_')} doesn't work on unresolved {what} tensors. Hint: call {resolve} first, which makes a copy."
        )
    return relation


def image(array: Any, relation: int, out: Any = None) -> Any:
    """Return the image of an array under a relation, in the array `out` if it is given."""
    if relation == CONJUGATE:
        return backend_of(array).conjugate(array, out=out)
    result = array.conj() if relation & CONJUGATE else array
    if relation & NEGATIVE:
        result = -result  # not into out: NumPy 2.4 takes the wrong elements if both have certain strides
    if out is None:
        return result
    out[...] = result
    return out


def reflect(op: Any, params: Any, nr: int, source: TensorBase) -> tuple[Any, Any, int]:
    """Return the array of output nr of a view operation on source, what it is the image of, and the relation.

    The array shares memory with source's base, and physical is None, if the relation is 0."""
    parent = source._view
    physical, relation = source._array, 0
    if parent is not None and parent.physical is not None:
        physical, relation = parent.physical, parent.relation
    relation = relation_after(op, relation)
    if op.reflection not in (CONJUGATE, NEGATIVE):
        given = {"index": params} if op.is_read else params or {}
        physical = op.forward(backend_of(physical), physical, **given)
        if op.output_names is not None:
            physical = physical[nr]
    if not relation:
        return physical, None, 0
    with on_device(device_name(physical)):
        return image(physical, relation, _like(physical)), physical, relation


def _like(array: Any) -> Any:
    """Return a new array with the shape and the strides of `array`, so that it can be viewed in the same ways."""
    if array.flags.c_contiguous or min(array.strides) < 0 or not isinstance(array, np.ndarray):
        return backend_of(array).empty_like(array)
    nbytes = sum([(n - 1) * step for n, step in zip(array.shape, array.strides, strict=True)]) + array.itemsize
    return np.ndarray(array.shape, array.dtype, np.empty(max(nbytes, 0), np.uint8), 0, array.strides)


def layout_of(array: Any, operations: list[Any]) -> tuple[tuple[int, ...], int, int] | None:
    """Step, offset and size, in bytes, of an array in its memory, if one of the operations asks for them, else None.

    as_strided walks in memory: what it is replayed on has to lie there alike.
    """
    if not any(op.walks_memory for op, _, _ in operations):
        return None
    memory = owner_of(array)
    return array.strides, offset_of(array, memory), memory.nbytes


def lay_out(array: Any, layout: tuple[tuple[int, ...], int, int]) -> Any:
    """Return a copy of array in memory of the given layout."""
    steps, offset, nbytes = layout
    step, xp = array.itemsize, backend_of(array)
    elements = xp.zeros(nbytes // step, array.dtype)[offset // step :]
    copy = xp.lib.stride_tricks.as_strided(elements, array.shape, steps)
    copy[...] = array
    return copy


def adopt(view: TensorBase, info: ViewInfo, physical: Any, relation: int) -> None:
    """Make a new view a mirror: note what it is the image of, and list it at its version counter."""
    info.physical, info.relation = physical, relation
    counter = counter_of(view)
    if counter.mirrors is None:
        counter.mirrors = {}
    counter.mirrors[id(view)] = ref(view, partial(counter.mirrors.pop, id(view)))


def renew(tensor: TensorBase) -> None:
    """Compute a mirror again from the memory of its base."""
    info: Any = tensor._view
    if info.physical.shape == tensor._array.shape:
        with on_device(device_name(info.physical)):
            image(info.physical, info.relation, tensor._array)
    else:  # it was resized, and has left its base
        info.physical, info.relation = None, 0


set_mirror_renewer(renew)


def write_through(target: TensorBase) -> None:
    """Let all tensors of one memory see a write into target, whose version counter lists mirrors."""
    written = owner_of(target._array)
    mirrors = [tensor for reference in list(counter_of(target).mirrors.values()) if (tensor := reference()) is not None]
    for tensor in mirrors:
        info = tensor._view
        if info.physical is not None and owner_of(tensor._array) is written:
            if info.physical.shape == tensor._array.shape:
                with on_device(device_name(written)):
                    info.physical[...] = image(tensor._array, info.relation)
            else:
                info.physical, info.relation = None, 0
    for tensor in mirrors:
        if tensor._view.physical is not None and owner_of(tensor._array) is not written:
            renew(tensor)


def is_mirror(tensor: Any) -> bool:
    """Whether a tensor is a conjugate or a negation of its base's memory."""
    return tensor._view is not None and tensor._view.physical is not None


def relation_of(tensor: Any) -> int:
    """Return the relation of a mirror to its base's memory, or 0 for any other tensor."""
    return tensor._view.relation if is_mirror(tensor) else 0


def physical_of(tensor: Any) -> Any:
    """Return the array in the base's memory that a mirror is the image of, or the array of any other tensor."""
    return tensor._view.physical if is_mirror(tensor) else tensor._array


def refuse_mirror(tensor: Any, what: str) -> None:
    """Raise RuntimeError for a mirror, whose memory another library would take for its values."""
    if is_mirror(tensor):
        if tensor._view.relation & CONJUGATE:
            raise errors.ConversionError(
                f"Can't {what} on Tensor that has conjugate bit set. Use tensor.resolve_conj().numpy() instead."
            )
        raise errors.ConversionError(f"Can't {what} on Tensor that has negative bit set. Use tensor.resolve_neg().numpy() instead.")
