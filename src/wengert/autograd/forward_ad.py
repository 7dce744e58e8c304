"""Forward mode: derivatives along a direction, computed together with the values, without a graph or a backward pass.

Inside a dual level a tensor can have a tangent. Results of operations on it have the derivative along the tangent:

>>> import wengert
>>> import wengert.autograd.forward_ad as forward_ad
>>> x, direction = wengert.tensor([1.0, 2.0, 3.0]), wengert.tensor([1.0, 0.0, 0.0])
>>> with forward_ad.dual_level():
...     y = (forward_ad.make_dual(x, direction) ** 2).sum()
...     forward_ad.unpack_dual(y)
UnpackedDualTensor(primal=tensor(14.), tangent=tensor(2.))

Every differentiable operation has a derivative in forward mode. Backward passes can differentiate tangents. Views and
in-place operations treat tangents as they treat values. For derivatives of functions, and for nested levels, see
wengert.func.jvp and jacfwd.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from wengert import dtypes, errors
from wengert.core.dual import close_level, innermost_set_aside, laid_out, opened_level
from wengert.core.modes import DUAL, flags, set_flags, state
from wengert.core.tensor import TensorBase

__all__ = ["UnpackedDualTensor", "dual_level", "enter_dual_level", "exit_dual_level", "make_dual", "unpack_dual"]


class UnpackedDualTensor(NamedTuple):
    """Result of unpack_dual: a tensor without its tangent, and the tangent or None."""

    primal: Any
    tangent: Any


UnpackedDualTensor.__module__ = "torch.autograd.forward_ad"


def _check_unnamed() -> None:
    """Raise RuntimeError if this module has opened a level on this thread."""
    if state.named_level is not None:
        raise errors.DualLevelError(
            "Nested forward mode AD is not supported at the moment. Hint: wengert.func.jvp can be called inside of itself."
        )


def enter_dual_level() -> int:
    """Open a dual level on this thread and return its number, 0. Raises RuntimeError if one is open; see func.jvp."""
    dual_level().__enter__()
    return 0


def exit_dual_level(*, level: int | None = None) -> None:
    """Close the dual level; all its tangents are dropped. Raises RuntimeError if no level, or another level, is open."""
    named = state.named_level
    if level is not None and level != (-1 if named is None else 0):
        raise errors.DualLevelError(
            "Trying to exit a forward AD level that was not the last one that was created. This is not supported."
        )
    if named is None:
        raise errors.DualLevelError("Dual level must be a positive number.")
    state.named_level = None
    close_level(named)


class dual_level(opened_level):
    """Context manager in whose block tensors can have tangents. See the docstring of the module."""

    def _changed(self) -> tuple[Any, tuple[Any, ...], tuple[Any, ...], Any]:
        _check_unnamed()
        level, levels, saved, _ = super()._changed()
        return 0, levels, saved, level


def make_dual(tensor: Any, tangent: Any, *, level: int | None = None) -> Any:
    """Return a view of tensor that has a tangent; operations on the view compute derivatives along the tangent.

    tensor, tangent: floating or complex, of one shape. If tangent has the strides of tensor, it is stored itself, and
    in-place operations on the dual tensor write into it; otherwise a copy is stored. Backward passes compute gradients in
    both tensor and tangent.

    Raises RuntimeError outside a dual level, for a tangent of another shape, and for a tensor that has a tangent already;
    ValueError for other dtypes.
    """
    if state.named_level is None:
        raise errors.DualLevelError(
            "Trying to create a dual Tensor for forward AD but no level exists, make sure to enter_dual_level() first."
        )
    for what, x in (("primal", tensor), ("tangent", tangent)):
        if not isinstance(x, TensorBase):
            raise errors.wrong_argument_type("_make_dual", what, int(what == "tangent"), type(x))
        if not dtypes.is_differentiable(x._array.dtype):
            raise errors.dual_dtype(what, x.dtype)  # type: ignore[attr-defined]  # a TensorBase is a Tensor
    if level is not None and level != 0:
        raise errors.DualLevelError("Invalid level given to _make_dual")
    return attach_tangent(tensor, tangent)


def attach_tangent(tensor: Any, tangent: Any) -> Any:
    """make_dual at the innermost level, for tensors whose types and dtypes were checked."""
    if tangent._array.shape != tensor._array.shape:
        raise errors.tangent_shape(tensor._array.shape, tangent._array.shape)
    with innermost_set_aside() as level:
        if level.find(tensor) is not None:
            raise errors.DualLevelError(
                "Making a dual Tensor based on a Tensor that already has a forward gradient at the same level 0 is not "
                "supported."
            )
        dual = tensor.view_as(tensor)
        if tangent._array.strides != tensor._array.strides:
            tangent = laid_out(tangent, tensor)
        level.set(dual, tangent)
    return dual


def unpack_dual(tensor: Any, *, level: int | None = None) -> UnpackedDualTensor:
    """Return (view of tensor without tangent, tangent). The tangent is None if there is none, or if no level is open."""
    if not isinstance(tensor, TensorBase):
        raise errors.wrong_argument_type("_unpack_dual", "dual", 0, type(tensor))
    if state.named_level is None or not flags() & DUAL:
        return UnpackedDualTensor(tensor, None)
    return UnpackedDualTensor(*detach_tangent(tensor))


def detach_tangent(tensor: Any) -> tuple[Any, Any]:
    """unpack_dual at the innermost level, as a plain tuple."""
    with innermost_set_aside() as level:
        tangent = level.find(tensor)
        if tangent is None:
            return tensor, None
        primal = tensor.view_as(tensor)
        level.set(primal, None)
        return primal, tangent


class _set_fwd_grad_enabled:
    """Switch forward mode on or off on this thread, as a function; or for a block, as a context manager.

    While it is off, unpack_dual returns no tangents and results get none; tensors keep the tangents that they have.
    """

    def __init__(self, mode: bool) -> None:
        self._before = flags()
        set_flags(self._before | DUAL if mode and state.dual_levels else self._before & ~DUAL)

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object = None, error: object = None, traceback: object = None) -> None:
        set_flags(self._before & DUAL | flags() & ~DUAL)


def __getattr__(name: str) -> int:
    """Return _current_level: the number of the level that is open on this thread, or -1."""
    if name == "_current_level":
        return -1 if state.named_level is None else 0
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
